"""Arms and trunk are narrowed by compiled loops as by their twin in NumPy, and only where something is touched."""

from __future__ import annotations

import numpy as np
import pytest

import tuck_twin
from gaitway.bench.deform import gate
from gaitway.cast.catalog import load_cast
from gaitway.deform.branch import posed
from gaitway.deform.constraints import Continuity
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.deform.squeezing import squeeze
from gaitway.deform.tucking import own_depths, tuck


@pytest.fixture(scope="module")
def walk() -> Fragment:
    return Fragment.of(load_cast("person").clips["walk_forward"])


@pytest.mark.parametrize(("wide", "y"), [(0.5, 2.97), (0.5, 3.02), (0.45, 3.0), (0.42, 2.97), (0.4, 3.02)])
def test_the_kernel_narrows_as_its_twin_does(walk: Fragment, wide: float, y: float) -> None:
    place, times = SqueezePlace(gate(wide).world), np.arange(len(walk)) / walk.clip.fps
    clip = posed(squeeze(walk, Continuity((3.4, y, 0.0)), place))
    ours, twin = tuck(clip, place, times, tolerance=0.008), tuck_twin.tuck(clip, place, times, tolerance=0.008)
    np.testing.assert_allclose(ours.clip.rotations, twin.clip.rotations, atol=1e-5)
    np.testing.assert_allclose(ours.arms, twin.arms, atol=1e-5)
    np.testing.assert_allclose(ours.trunk, twin.trunk, atol=1e-5)
    assert (ours.frame, ours.blocker) == (twin.frame, twin.blocker)
    assert ours.depth == pytest.approx(twin.depth, abs=1e-5) and ours.own == pytest.approx(twin.own, abs=1e-5)
    assert np.abs(ours.arms).max() > 0.0, "the gate asks for no narrowing"


def test_nothing_changes_where_nothing_is_near(walk: Fragment) -> None:
    place, times = SqueezePlace(gate(0.5).world), np.arange(len(walk)) / walk.clip.fps
    clip = posed(squeeze(walk, Continuity((5.5, 3.0, 0.0)), place))
    found = tuck(clip, place, times)
    assert found.clip is clip and found.rounds == 1 and found.depth == 0.0 and not found.arms.any()


def test_a_body_without_arms_is_told_what_is_in_its_way() -> None:
    clips = load_cast("horse").clips.values()
    horse = Fragment.of(
        max(clips, key=lambda clip: float(np.hypot(*(clip.root_positions[-1] - clip.root_positions[0])[:2])))
    )
    place, times = SqueezePlace(gate(0.3).world), np.arange(len(horse)) / horse.clip.fps
    clip = posed(squeeze(horse, Continuity((3.4, 3.0, 0.0)), place, deform=False))
    found = tuck(clip, place, times)
    assert found.clip is clip and found.depth > 0.05 and found.blocker is not None and found.frame >= 0
    assert own_depths(clip).shape == (len(clip), 2)
