"""Side steps made flat: narrow, on feet that do not slide, and joined without a seam."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.deform.side_steps import flattened, goes_sideways
from gaitway.deform.tucking import own_depths
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import contact_slip
from gaitway.motion.limits import violations


def made(side: str) -> tuple[list[Clip], list[Clip]]:
    """Return the clips of a side as they are, and made flat: setting off, going on, ending."""
    clips = load_cast("person").clips
    few = [clips[name] for name in (f"start_side_{side}", f"side_{side}_walk", f"stop_side_{side}")]
    return few, [flattened(clip, few[1], k == 0, k == 2) for k, clip in enumerate(few)]


def sweep(clip: Clip) -> float:
    """Return how much room a clip takes along its heading [m]."""
    body, heading = capsule_body(clip.skeleton), clip.headings()[0]
    along = body.segments(*clip.joint_transforms())[..., :2] @ np.array([np.cos(heading), np.sin(heading)])
    return float((along.max(axis=2) + body.radii).max() - (along.min(axis=2) - body.radii).min())


@pytest.mark.parametrize("side", ["left", "right"])
def test_flat_side_steps_are_narrow_and_sound(side: str) -> None:
    before, after = made(side)
    assert sweep(before[1]) > 0.38 and sweep(after[1]) < 0.28
    for old, new in zip(before, after, strict=True):
        assert len(new) == len(old) and contact_slip(new) < 1e-4
        assert violations(new).max() == 0.0 and own_depths(new).max() < 0.01
        np.testing.assert_allclose(new.planar_path()[0], old.planar_path()[0], atol=1e-6)


@pytest.mark.parametrize("side", ["left", "right"])
def test_flat_side_steps_join_and_their_ends_stay_as_they_were(side: str) -> None:
    before, (start, cycle, stop) = made(side)
    for a, b in ((start, cycle), (cycle, cycle), (cycle, stop)):
        np.testing.assert_allclose(a.rotations[-1], b.rotations[0], atol=1e-3)
        assert abs(a.root_positions[-1, 2] - b.root_positions[0, 2]) < 1e-3
    np.testing.assert_allclose(start.rotations[0], before[0].rotations[0], atol=1e-6)
    np.testing.assert_allclose(stop.rotations[-1], before[2].rotations[-1], atol=1e-6)


def test_only_clips_that_go_sideways_count() -> None:
    clips = load_cast("person").clips
    found = {name for name in clips if goes_sideways(clips[name])}
    assert {"side_left_walk", "start_side_right", "stop_side_left"} <= found
    assert not found & {"walk_forward", "back_walk", "turn_left_90", "crawl_start", "stand"}
