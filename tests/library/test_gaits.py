"""Gaits: the states of one walk belong together, whichever foot is down; a jog and a rest do not."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.library.gaits import gaits
from gaitway.space.movement_costs import hurries, planning_table, speed_weights
from step_library import HALF, step_library


@pytest.fixture(scope="module")
def steps() -> Library:
    return step_library()


@pytest.mark.parametrize("name", ["person", "horse", "skateboarder"])
def test_each_state_of_the_cast_is_a_gait_of_its_own(name: str) -> None:
    library = load_cast(name)
    assert gaits(library) == {state: state for state in library.graph.states}


def test_both_halves_of_a_stride_are_one_gait(steps: Library) -> None:
    found = gaits(steps)
    assert found[HALF] == found["walk"]
    others = [state for state in found if state != HALF]
    assert [found[state] for state in others] == others, "a jog, a crawl and a rest stay what they are"


def test_states_that_lead_only_one_way_are_not_joined(steps: Library) -> None:
    """Who cannot come back has changed something that lasts."""
    there = tuple(b for b in steps.graph.behaviors if b.start != HALF)
    found = gaits(Library("there", steps.skeleton, steps.clips, BehaviorGraph(there)))
    assert found[HALF] == HALF


def test_a_step_costs_as_much_as_its_half_of_a_stride(steps: Library) -> None:
    """No half is a change of gait: neither the cost of one nor the weight of the faster of two states is added."""
    person = load_cast("person")
    strides, halves = planning_table(person, "normal"), planning_table(steps, "normal")

    def cost(table, behavior: str) -> float:
        return float(np.mean(table.costs[table.behavior == table.index(behavior)]))

    for name in ("walk_forward", "walk_left_45", "walk_right_15"):
        both = cost(halves, f"{name}_first") + cost(halves, f"{name}_second")
        assert both == pytest.approx(cost(strides, name), abs=0.25)


def test_who_walks_in_steps_does_not_break_into_a_jog(steps: Library) -> None:
    person = load_cast("person")
    assert hurries(steps, "normal") == hurries(person, "normal") != set()
    assert hurries(steps, "fast") == set()
    weights = speed_weights(steps, "normal")
    assert weights["jog_forward"] > 1.3 * weights["walk_forward_first"]
