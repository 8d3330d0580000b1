"""Costs of moving: nobody jogs who wants to walk, and what looks needless costs something."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.library.actions import ActionTable, action_table
from gaitway.library.behavior import Library
from gaitway.space.movement_costs import planning_table, sidesteps, speed_weights


@pytest.fixture(scope="module")
def person() -> Library:
    return load_cast("person")


def cost(table: ActionTable, behavior: str, time_weight: float = 0.5) -> float:
    """Return what a metre costs by a behaviour."""
    action = int(np.flatnonzero(table.behavior == table.index(behavior))[0])
    return float((table.costs[action] + time_weight * table.durations[action]) / np.hypot(*table.moves[action, :2]))


def test_setting_off_at_a_walk_is_cheaper_than_at_a_jog(person: Library) -> None:
    table = planning_table(person, "normal")
    assert cost(table, "start_walk") < cost(table, "start_jog")
    assert 1.3 * cost(table, "walk_forward") < cost(table, "jog_forward")
    hurried = planning_table(person, "fast")
    assert cost(hurried, "jog_forward") < cost(hurried, "walk_forward")


def test_who_walks_does_not_break_into_a_jog_to_pass_somebody() -> None:
    """Jogging for two steps and back costs more than to wait for some seconds; who hurries pays nothing for it."""
    into, others = ("walk_to_jog", "start_jog"), ("jog_to_walk", "stop_jog", "start_walk", "jog_forward")
    some = load_cast("person", behaviors=["stand", "wait", "stop_walk", "walk_forward", *into, *others])

    def extras(speed: str | float) -> dict[str, float]:
        plain, table = action_table(some, weights=speed_weights(some, speed)), planning_table(some, speed)
        names = [plain.behaviors[number] for number in plain.behavior]
        return dict(zip(names, (table.costs - plain.costs).tolist(), strict=True))

    fast = extras("fast")
    for speed in ("slow", "normal"):
        own = extras(speed)
        assert all(own[name] > fast[name] + 1.5 for name in into)
        assert all(own[name] == pytest.approx(fast[name], abs=1e-9) for name in others)


def test_turns_and_stops_cost_beside_their_length(person: Library) -> None:
    plain, table = action_table(person, weights=speed_weights(person, "normal")), planning_table(person, "normal")
    extra = dict(zip(plain.clips, (table.costs - plain.costs).tolist(), strict=True))
    by_name = {b.name: extra[b.clips[0]] for b in person.graph.behaviors}
    assert by_name["walk_forward"] == pytest.approx(0.0, abs=0.02)
    assert 0.0 < by_name["walk_left_15"] < by_name["walk_left_45"] < by_name["turn_left_180"]
    assert by_name["stop_walk"] + by_name["start_walk"] > 0.9, "people walk a detour rather than stop"
    assert by_name["step_front"] > 0.9 and by_name["crawl_start"] > 0.9, "people set off, or stay"
    assert by_name["turn_left_45"] < 0.5 and by_name["wait"] == pytest.approx(0.0, abs=0.02)


def test_steps_to_the_side_cost_more_than_a_turn_and_a_walk(person: Library) -> None:
    table = planning_table(person, "normal")
    for aside in ("step_left", "step_right", "start_side_left", "start_back"):
        assert cost(table, aside) > 2.0 * cost(table, "start_walk")
    assert cost(table, "step_front", 0.0) < cost(table, "step_left", 0.0) - 0.5


def test_further_factors_hold_for_lengths(person: Library) -> None:
    once, twice = planning_table(person, "normal"), planning_table(person, "normal", {"walk_forward": 2.0})
    assert cost(twice, "walk_forward", 0.0) == pytest.approx(2.0 * cost(once, "walk_forward", 0.0), rel=0.01)
    assert cost(twice, "walk_short") == cost(once, "walk_short")


def test_sidesteps_are_what_steps_to_stand_again_or_goes_aside() -> None:
    found = sidesteps(load_cast("person"))
    assert {"step_left", "step_front", "start_side_left"} <= found
    assert not found & {"walk_forward", "start_walk", "stop_walk", "turn_left_90", "stand", "walk_left_45"}
