"""Walk cycles of captures: two steps each, straight, closing on themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import GaitwayError, VariationError
from gaitway.motion import concatenate, place
from gaitway.variation.inputs.cycles import CycleOptions, captured_cycles, on_one_skeleton, walk_cycles
from shared_data import MOCAP, needs_mocap


def test_cycles_of_a_walk_that_is_known() -> None:
    library = load_cast("person", behaviors=["walk_forward", "walk_left_45"])
    walk, turn = (library.clips[library.graph[name].clips[0]] for name in ("walk_forward", "walk_left_45"))
    straight = concatenate([walk] * 5, 0.0, overlap=False)
    found = walk_cycles(straight, CycleOptions(tail=2))
    assert len(found) >= 3
    assert {len(cycle) - 2 for cycle in found} == {len(walk) - 1}
    for cycle in found:
        assert np.allclose(cycle.planar_path()[0], 0.0, atol=1e-9)
        assert cycle.contacts is not None
    assert walk_cycles(concatenate([turn] * 4, 0.0, overlap=False)) == []


@needs_mocap
def test_cycles_of_a_subject() -> None:
    files = sorted((MOCAP / "bvh").glob("35_0[1-4].bvh"))
    cycles = captured_cycles(files)
    assert len(cycles) == 7  # as cut by hand and eye before
    lengths = np.array([len(cycle) - 3 for cycle in cycles])
    assert abs(lengths.mean() - 67.7) < 1.0
    assert lengths.std() < 1.5
    assert len({id(cycle.skeleton) for cycle in cycles}) == 1
    for cycle in cycles:  # the tail repeats the beginning
        first, again = place(cycle, (0.0, 0.0, 0.0)), place(cycle, (0.0, 0.0, 0.0), len(cycle) - 3)
        apart = np.linalg.norm(first.joint_positions()[0] - again.joint_positions()[-3], axis=-1)
        assert apart.max() < 0.12


@needs_mocap
def test_captures_without_a_walk_are_refused() -> None:
    with pytest.raises(GaitwayError, match="hold no locomotion"):
        captured_cycles([MOCAP / "bvh" / "79_69.bvh"])


def test_other_skeletons_are_refused() -> None:
    person = next(iter(load_cast("person", behaviors=["walk_forward"]).clips.values()))
    horse = next(iter(load_cast("horse").clips.values()))
    with pytest.raises(VariationError, match="different skeletons"):
        on_one_skeleton([person, horse])
    twin = replace(person, skeleton=replace(person.skeleton))
    assert on_one_skeleton([person, twin])[1].skeleton is person.skeleton
