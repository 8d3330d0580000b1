"""Carried things stay clear of the body of their carrier, whatever clip is played."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway import load_cast
from gaitway.audit.report import AuditBars
from gaitway.audit.things import depth_findings
from gaitway.core import rotations
from gaitway.handling.carrying import Carry, with_carrying
from gaitway.handling.clearing import CarriedForm
from gaitway.limbs import find_limb
from gaitway.take.evaluation import sampled
from gaitway.take.model import Take
from gaitway.take.things import thing_facts
from gaitway.take.tracks import assemble, lay_track

HAT = ("cylinder", (0.24, 0.24, 0.09))
BAG = ("box", (0.3, 0.12, 0.3))


def walker(hand: str, shape: str, size: tuple[float, float, float], hang: float, clear: bool) -> Take:
    """Somebody who walks with a thing that hangs from a hand, so far toward the body [m]."""
    walk = load_cast("person", behaviors=["walk_forward"]).clips["walk_forward"]
    joints = find_limb(walk.skeleton, f"{hand}_arm").joints
    world = walk.joint_transforms()[1]
    arm = walk.rotations[0, joints]
    inward = -1.0 if hand == "left" else 1.0
    turn = world[0, joints[2]]
    at = rotations.rotate(rotations.conjugate(turn), np.array([0.0, inward * hang, -size[2] - 0.02]))
    own = rotations.conjugate(turn)
    pose = [*at.tolist(), *own.tolist()]
    facts = {"things": {"thing": thing_facts(shape, size, None, [[0.0, "ada", f"{hand}_wrist", pose]])}}
    take = assemble([lay_track("ada", [walk] * 3, (0.0, 0.0, 0.4))], facts=facts)
    form = CarriedForm.of(shape, size, at, own) if clear else None
    return with_carrying(take, [Carry("ada", hand, 0.0, np.inf, arm, form)], {})


def deepest(take: Take) -> float:
    return max((one.value for one in depth_findings(take, None, AuditBars())[0]), default=0.0)


@pytest.mark.parametrize("hand, thing, hang", [("right", HAT, 0.08), ("left", HAT, 0.0), ("right", BAG, 0.1)])
def test_an_arm_gives_way_so_that_its_thing_is_not_in_the_body(hand, thing, hang) -> None:
    before, after = walker(hand, *thing, hang, clear=False), walker(hand, *thing, hang, clear=True)
    assert deepest(before) > 0.03
    assert deepest(after) <= 0.005


def test_an_arm_gives_way_softly_and_the_thing_stays_upright() -> None:
    take = walker("right", *HAT, 0.08, clear=True)
    times = np.arange(0.0, take.duration, 1.0 / take.fps)
    local = sampled(take, 0, np.zeros(len(times), dtype=np.int64), times)[1]
    joints = find_limb(take.skeletons[0], "right_arm").joints
    steps = rotations.angle_between(local[1:, joints], local[:-1, joints]) * take.fps
    assert steps.max() < 4.0
    bare = walker("right", *HAT, 0.08, clear=False)
    still = sampled(bare, 0, np.zeros(len(times), dtype=np.int64), times)[1]
    others = np.setdiff1d(np.arange(local.shape[1]), joints)
    assert np.array_equal(local[:, others], still[:, others])


def test_what_is_clear_stays_as_it_is() -> None:
    near, far = (walker("right", "ball", (0.06, 0.06, 0.06), -0.1, clear) for clear in (True, False))
    assert np.array_equal(near.layers[0].turns, far.layers[0].turns)
