"""Steps that are not all of one length in time."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.audit import audit_take, natural_report
from gaitway.cast.catalog import load_cast
from gaitway.library.behavior import Library
from gaitway.performing.synthesis import Performer, plans_to_take
from gaitway.take.model import Take
from gaitway.world import Cylinder, Mover, World
from hand_plans import plan_of

EMPTY = World((-30.0, -30.0, 30.0, 30.0))
WALK = ["start_walk", *["walk_forward"] * 12, "stop_walk"]


@pytest.fixture(scope="module")
def person() -> Library:
    return load_cast("person", behaviors=["stand", "wait", *dict.fromkeys(WALK)])


def walked(person: Library, rhythm: int | None, world: World = EMPTY, alive: list[str] | None = None) -> Take:
    plan = plan_of(person, WALK)
    return plans_to_take(world, [Performer("ada", person, (0.0, 0.0, 0.0), plan)], rhythm=rhythm, alive=alive)


def test_cycles_differ_and_nothing_else_does(person: Library) -> None:
    plain, own = walked(person, None), walked(person, 5)
    before, after = (natural_report(take)["step_time_change"].value for take in (plain, own))
    assert before < 0.8 < after < 5.0
    assert after > 1.5 * before
    assert own.ends[0] == plain.ends[0]
    assert not own.layers
    assert audit_take(own, EMPTY).ok
    a, b = plain.clip(0).root_positions, own.clip(0).root_positions
    assert 0.005 < np.linalg.norm(a - b, axis=1).max() < 0.04
    assert np.array_equal(a[-20:], b[-20:])


def test_each_seed_has_its_own_and_the_same_again(person: Library) -> None:
    one, same, other = (walked(person, seed).segments for seed in (5, 5, 6))
    assert one.start.tobytes() == same.start.tobytes() and one.speed.tobytes() == same.speed.tobytes()
    assert one.start.tobytes() != other.start.tobytes()


def test_who_is_left_out_and_who_meets_movers_is_on_time(person: Library) -> None:
    car = Mover.of(Cylinder((0.0, 0.0), 0.4, 2.0), [0.0, 30.0], [[-7.0, 5.0, 0.0], [7.0, 5.0, 0.0]])
    plain = walked(person, None).segments.start
    assert np.array_equal(walked(person, 5, World(EMPTY.bounds, (), (car,))).segments.start, plain)
    assert np.array_equal(walked(person, 5, alive=[]).segments.start, plain)
