"""Bodies that follow a path: the kernel against its twin of NumPy, which bends exact arrivals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.deform.constraints import Continuity, Pin
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.deform.planting import planted
from gaitway.deform.squeezing import Squeezed, squeeze
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.bending import bent, follow_path
from gaitway.performing.arrival.footwork import laid
from gaitway.world.world import World

EMPTY = SqueezePlace(World((-50.0, -50.0, 50.0, 50.0)))
CLIPS = ("walk_forward", "side_left_walk", "start_walk", "stop_walk", "jog_forward", "walk_left_45")


def _twin(squeezed: Squeezed) -> Clip:
    work = squeezed.fragment.work
    assert work is not None
    bend = follow_path(laid([work], [squeezed.start]), squeezed.path)
    assert bend is not None
    return bent(squeezed.fragment.clip, bend)


def _fragment(name: str) -> Fragment:
    return Fragment.of(load_cast("person").clips[name])


@pytest.mark.parametrize("name", CLIPS)
@settings(max_examples=12, deadline=None)
@given(aside=st.floats(-0.35, 0.35), ahead=st.floats(0.85, 1.15), at=st.floats(0.2, 1.0), heading=st.floats(-7.0, 7.0))
def test_it_agrees_with_the_twin(name: str, aside: float, ahead: float, at: float, heading: float) -> None:
    fragment = _fragment(name)
    assert fragment.path is not None and fragment.feet is not None
    frame = min(int(at * len(fragment.path)), len(fragment.path) - 1)
    place = complex(fragment.path.points[frame]) * ahead + 1j * aside
    squeezed = squeeze(fragment, Continuity((2.0, -3.0, heading)), EMPTY, pins=[Pin(frame, (place.real, place.imag))])
    roots, local = planted(fragment.clip, fragment.feet, squeezed.path)
    twin = _twin(squeezed)
    assert np.abs(roots - twin.root_positions).max() < 1e-9
    turned = rotations.multiply(rotations.conjugate(rotations.normalize(local)), twin.rotations)
    assert np.abs(turned[..., 1:]).max() < 1e-7


def test_feet_that_are_down_stay() -> None:
    fragment = _fragment("walk_forward")
    assert fragment.path is not None and fragment.feet is not None
    last = complex(fragment.path.points[-1]) + 0.2j
    pin = Pin(len(fragment.path) - 1, (last.real, last.imag))
    squeezed = squeeze(fragment, Continuity((0.0, 0.0, 0.5)), EMPTY, pins=[pin])
    roots, local = planted(fragment.clip, fragment.feet, squeezed.path)
    clip = Clip(fragment.clip.skeleton, roots, local, fragment.clip.fps)
    slides = []
    for side, row in (("left", 0), ("right", 1)):
        toe = clip.joint_positions()[:, clip.skeleton.roles[f"{side}_toe"], :2]
        own = fragment.clip.joint_positions()[:, clip.skeleton.roles[f"{side}_toe"], :2]
        down = fragment.feet.planted[row] & np.roll(fragment.feet.planted[row], -1)
        down[-1] = False
        moved, before = (np.linalg.norm(np.roll(p, -1, axis=0) - p, axis=1)[down] for p in (toe, own))
        slides.append(float((moved - before).max()))
    assert max(slides) < 2e-3
