"""Fingers: found on rigs that have some, they close toward the palm, less around what is wide, while they hold it."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway import load_cast
from gaitway.core import rotations
from gaitway.handling.fingers import LAYER, find_fingers, with_fingers
from gaitway.handling.grips import palm
from gaitway.limbs.linkage import find_limb
from gaitway.motion.clip import Clip
from gaitway.motion.formats import load_clip
from gaitway.motion.skeleton import Skeleton
from gaitway.take import take_of
from gaitway.take.things import ThingSpan, ThingTrack
from shared_data import MOCAP, needs_mocap


def cup(*spans: ThingSpan, width: float = 0.07) -> ThingTrack:
    return ThingTrack("cup", "cylinder", (width, width, 0.1), "#ffffff", spans)


def captured() -> Clip:
    return load_clip(MOCAP / "bvh" / "69_68.bvh")


def tips_toward_palm(clip: Clip, skeleton: Skeleton, hand: str) -> np.ndarray:
    """How far each last joint's tip is on the palm's side of the wrist, frame by frame [m]; (F, T)."""
    limb = find_limb(skeleton, f"{hand}_arm")
    places, turns = clip.joint_transforms()
    wrist = limb.joints[2]
    facing = rotations.rotate(rotations.multiply(turns[:, wrist], limb.turns[3]), palm(limb))
    fingers = find_fingers(skeleton, hand)
    assert fingers is not None
    last = [j for j in fingers.joints if j not in skeleton.parents]
    tips = places[:, last] + rotations.rotate(turns[:, last], np.array([skeleton.tips[j] for j in last]))
    return np.einsum("ftk,fk->ft", tips - places[:, [wrist]], facing)


def test_the_built_in_person_has_no_fingers_and_its_takes_stay() -> None:
    take = take_of([load_cast("person").clips["stand"]])
    assert find_fingers(take.skeletons[0], "right") is None
    held = cup(ThingSpan(0.0, take.names[0], "right_wrist", (0.0,) * 3 + (1.0, 0.0, 0.0, 0.0)))
    assert with_fingers(take, [held]) is take


@needs_mocap
@pytest.mark.parametrize("hand", ["left", "right"])
def test_captured_rigs_have_fingers_that_close_toward_the_palm_while_they_hold_something(hand: str) -> None:
    clip = captured()
    take = take_of([clip])
    who, pose = take.names[0], (0.0,) * 3 + (1.0, 0.0, 0.0, 0.0)
    spans = (ThingSpan(0.0, None, "", pose), ThingSpan(2.0, who, f"{hand}_wrist", pose), ThingSpan(4.0, None, "", pose))
    held = with_fingers(take, [cup(*spans)])
    assert [layer.name for layer in held.layers] == [LAYER]
    before, after = (tips_toward_palm(one.clip(0), clip.skeleton, hand) for one in (take, held))
    first, last = round(2.0 * take.fps), round(4.0 * take.fps)
    closer = (after - before)[first + 1 : last]
    assert (closer > 0.005).all()
    outside = np.r_[0 : first - round(0.3 * take.fps), last + round(0.3 * take.fps) : len(before)]
    assert np.abs((after - before)[outside]).max() < 1e-6
    other = "left" if hand == "right" else "right"
    assert tips_toward_palm(held.clip(0), clip.skeleton, other) == pytest.approx(
        tips_toward_palm(take.clip(0), clip.skeleton, other), abs=1e-9
    )


@needs_mocap
def test_fingers_bend_less_around_what_is_wide_and_never_beyond_a_fist() -> None:
    fingers = find_fingers(captured().skeleton, "right")
    assert fingers is not None
    thin, usual, wide = (fingers.bends(width) for width in (0.0, 0.06, 0.2))
    assert (thin >= usual).all()
    assert (usual > wide).all()
    assert thin.max() <= np.radians(85.0) + 1e-9
