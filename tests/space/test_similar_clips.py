"""Clips that stand in for one another: who may, which are drawn, and that each is tested where it is played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.behavior.planner import prepared_search
from gaitway.behavior.search import search
from gaitway.cast.catalog import load_cast
from gaitway.core import planar
from gaitway.core.arrays import FloatArray, read_only
from gaitway.library.actions import ActionTable, action_table
from gaitway.library.behavior import Library
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.clip_choice import ClipChoice
from gaitway.space.plan import LaidSteps
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.space.query import Query, ask
from gaitway.space.similar_clips import NEAR, NEAR_TIME, NEAR_TURN, SAME, SimilarClips
from gaitway.space.traffic import Traffic
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from similar_library import WALKS, armed, identical, people, similar, with_variants

OPEN = World((-10.0, -10.0, 20.0, 10.0))


def prepared_for(library: Library, world: World = OPEN) -> PreparedLibrary:
    who = Character(
        name="ada", start=(0.0, 0.0, 0.0), goal=(1.0, 0.0), goal_heading=None, library=LibraryRef(), plan=PlanOptions()
    )
    return planning_context(world, {LibraryRef(): library}).prepared(who)


def straight(prepared: PreparedLibrary, count: int = 3) -> FloatArray:
    """Rows of somebody who sets out, walks so many steps straight ahead and stops."""
    names = ["start_walk", *["walk_forward"] * count, "stop_walk"]
    table, pose, time, rows = prepared.table, np.zeros(3), 0.0, []
    for name in names:
        action = int(np.flatnonzero(table.behavior == table.index(name))[0])
        rows.append((*pose, time, action))
        pose, time = planar.compose(pose, table.moves[action]), time + table.durations[action]
    return np.array([*rows, (*pose, time, -1.0)])


def drawn(prepared: PreparedLibrary, rows: FloatArray, seed: int, tolerance: float = 0.5, **more: bool) -> FloatArray:
    instances = ClipChoice(prepared_search(prepared).searcher)
    query = Query((0.0, 0.0, 0.0), (rows[-1, 0], rows[-1, 1]), tolerance=tolerance, seed=seed)
    ask(prepared_search(prepared).searcher, query)
    return instances.draw(prepared.fields, query, rows, None, **more)


def placed(prepared: PreparedLibrary, rows: FloatArray) -> list[FloatArray]:
    """What each step but the first takes up in the world: x, y and radius of discs [m]."""
    starts, out = prepared.discs.static_starts, []
    for x, y, heading, _, action in rows[1:-1, :5].tolist():
        discs = prepared.discs.static[starts[int(action)] : starts[int(action) + 1]]
        out.append(np.column_stack([planar.transform_points((x, y, heading), discs[:, :2]), discs[:, 2]]))
    return out


def clips_of(prepared: PreparedLibrary, rows: FloatArray) -> list[str]:
    return [prepared.table.clips[int(a)] for a in rows[:-1, 4]]


@cache
def pairs() -> ActionTable:
    """Of people with one twin of each walk."""
    return action_table(identical(1))


@given(st.lists(st.tuples(*[st.floats(-0.3, 0.3)] * 3, st.floats(-0.2, 0.2)), min_size=13, max_size=13))
@settings(max_examples=50, deadline=None)
def test_twins_and_kin_are_near_to_the_first_of_them(offsets: list[tuple[float, ...]]) -> None:
    alike = pairs()
    moved = np.resize(np.array(offsets), (len(alike), 4)) * (np.arange(len(alike)) % 3 > 0)[:, None]
    table = replace(
        alike, moves=read_only(alike.moves + moved[:, :3]), durations=read_only(alike.durations + moved[:, 3])
    )
    found = SimilarClips.of(table)
    ends = np.column_stack([table.moves, table.durations])
    for action in range(len(table)):
        first, representative = found.identical[action], found.representative[action]
        assert table.behavior[first] == table.behavior[representative] == table.behavior[action]
        assert (np.abs(ends[first] - ends[action]) <= SAME).all()
        apart = np.abs(ends[representative] - ends[first])
        longest = NEAR_TIME * table.durations[table.behavior == table.behavior[action]].min()
        assert (apart <= [NEAR, NEAR, NEAR_TURN, longest]).all()
        assert (
            found.representative[first] == representative
            and found.representative[representative] == representative
            and found.identical[first] == first
        )
        spans, members = found.arrays
        assert (
            sorted(members[spans[action, 0] : spans[action, 1]])
            == np.flatnonzero(found.representative == found.representative[action]).tolist()
        )
        assert sorted(members[spans[action, 2] : spans[action, 3]]) == found.of_action(action).tolist()
        assert action in found.of_action(action)
    assert sorted(members) == list(range(len(table)))


def test_who_is_a_twin() -> None:
    """Takes of a cast, and clips whose arms alone differ; those who end elsewhere are kin; other gaits are neither."""
    takes = SimilarClips.of(action_table(load_cast("person", takes=3, behaviors=["wait", "start_walk", "stop_walk"])))
    assert len(takes.representatives) == 3 and takes.any and not takes.shift
    table = action_table(identical())
    found = SimilarClips.of(table)
    assert len(found.representatives) == len(table.behaviors) and found.any and not found.shift
    table = action_table(similar())
    found = SimilarClips.of(table)
    first = int(np.flatnonzero(table.behavior == table.index("walk_forward"))[0])
    walks = np.flatnonzero(found.representative == found.representative[first])
    assert len(walks) == 5 and len(np.unique(found.identical[walks])) == 5 and found.shift
    assert not SimilarClips.of(action_table(people())).any


def test_the_same_seed_plays_the_same_clips_and_all_occur() -> None:
    prepared = prepared_for(identical())
    rows = straight(prepared)
    seen: Counter[str] = Counter()
    for seed in range(100):
        first, again = drawn(prepared, rows, seed), drawn(prepared, rows, seed)
        assert np.array_equal(first, again)
        assert np.array_equal(first[:, :4], rows[:, :4]), "twins shift nothing"
        seen.update(clips_of(prepared, first))
    walks = np.array([seen[name] for name in prepared.library.graph["walk_forward"].clips])
    assert walks.sum() == 300 and walks.min() > 30, walks
    assert len({tuple(clips_of(prepared, drawn(prepared, rows, seed))) for seed in range(20)}) > 12


def test_without_twins_a_plan_stays_as_it_is() -> None:
    prepared = prepared_for(people())
    rows = straight(prepared)
    assert drawn(prepared, rows, 1) is rows


def test_a_twin_that_does_not_fit_is_not_played() -> None:
    """Between walls there is room for arms that hang, and none for arms that are lifted."""
    wide = with_variants(people(), ["walk_forward"], lambda clip: [armed(clip, 0, 1.3)])
    side = [Obstacle(Box((4.0, sign * 1.02), (14.0, 1.0), 2.5)) for sign in (-1.0, 1.0)]
    for world, fits in ((OPEN, True), (World(OPEN.bounds, tuple(side)), False)):
        prepared = prepared_for(wide, world)
        rows = straight(prepared)
        played = {name for seed in range(20) for name in clips_of(prepared, drawn(prepared, rows, seed))}
        assert ("walk_forward_armed_0" in played) is fits
        assert "walk_forward" in played


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "room"), [(lambda: identical(4, 1.2), 0.15), (lambda: similar(8), 0.05)], ids=["identical", "similar"]
)
def test_all_that_is_played_keeps_clear(make: Callable[[], Library], room: float) -> None:
    """The discs of whatever is drawn, laid where it is played, by plain NumPy, where there is little more room [m]."""
    library = make()
    rows = straight(prepared_for(library))
    wide = max(float((np.abs(discs[:, 1]) + discs[:, 2]).max()) for discs in placed(prepared_for(library), rows))
    posts = [
        Obstacle(Box((x, side * (wide + 0.2 + room)), (0.4, 0.4), 2.0))
        for x in np.arange(-1.0, 8.0)
        for side in (-1, 1)
    ]
    prepared = prepared_for(library, World(OPEN.bounds, tuple(posts)))
    others = 0
    for seed in range(60):
        played = drawn(prepared, rows, seed)
        others += int((played[:, 4] != rows[:, 4]).sum())
        for discs in placed(prepared, played):
            assert (prepared.fields.clearance(discs[:, :2]) >= discs[:, 2] - 1e-9).all()
    assert others > 10


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [0.3, 0.05])
def test_kin_are_laid_one_after_another_and_end_at_the_goal(tolerance: float) -> None:
    prepared = prepared_for(similar(8))
    rows, table = straight(prepared, 5), prepared.table
    seen: Counter[str] = Counter()
    for seed in range(60):
        played = drawn(prepared, rows, seed, tolerance)
        actions = played[:-1, 4].astype(int)
        for k, action in enumerate(actions.tolist()):
            assert np.allclose(planar.compose(played[k, :3], table.moves[action]), played[k + 1, :3])
            assert played[k + 1, 3] == pytest.approx(played[k, 3] + table.durations[action])
        assert np.array_equal(table.behavior[actions], table.behavior[rows[:-1, 4].astype(int)])
        assert np.hypot(*(played[-1, :2] - rows[-1, :2])) <= tolerance + 1e-6
        seen.update(clips_of(prepared, played))
    walks = [seen[name] for name in prepared.library.graph["walk_forward"].clips]
    assert min(walks) > 0 or tolerance < 0.1
    exact = drawn(prepared, rows, 1, shift=False)
    assert np.array_equal(exact[:, :5], rows), "none of them is a twin of another"


@pytest.mark.slow
def test_a_search_draws_all_clips_evenly_and_waits_by_any() -> None:
    library = with_variants(people(), [*WALKS, "wait"], lambda clip: [armed(clip, k, 0.1 * (k + 1)) for k in range(3)])
    prepared, seen = prepared_for(library), Counter[str]()
    rng = np.random.default_rng(0)
    for seed in range(60):
        goal = (float(rng.uniform(6.0, 12.0)), float(rng.uniform(-5.0, 5.0)))
        query = Query((0.0, 0.0, 0.0), goal, seed=seed)
        found = search(prepared_search(prepared).searcher, prepared.fields, query).plan
        assert found is not None
        plan = prepared_search(prepared).clip_choice.with_identical_clips(prepared.fields, query, found, None)
        assert plan.cost == found.cost and plan.behaviors == found.behaviors
        seen.update(step.clip for step in plan.steps)
    walks = np.array([seen[name] for name in library.graph["walk_forward"].clips])
    assert walks.min() > 0.6 * walks.mean() and walks.max() < 1.5 * walks.mean(), walks
    waits = straight(prepared)[:1]
    wait = int(np.flatnonzero(prepared.table.behavior == prepared.table.index("wait"))[0])
    rows = np.vstack([np.concatenate([waits[0, :3], [k * prepared.table.durations[wait], wait]]) for k in range(20)])
    query = Query((0.0, 0.0, 0.0), (0.0, 0.0), seed=4)
    ask(prepared_search(prepared).searcher, query)
    resting = prepared_search(prepared).clip_choice.draw(
        prepared.fields, query, np.vstack([rows, rows[-1]]), Traffic(prepared.fields.kinds), shift=False
    )
    assert len(set(clips_of(prepared, resting))) == 4


def test_plans_of_others_are_left_alone() -> None:
    prepared = prepared_for(people())
    found = search(prepared_search(prepared).searcher, prepared.fields, Query((0.0, 0.0, 0.0), (6.0, 0.0))).plan
    assert found is not None and isinstance(found.steps, LaidSteps)
    assert (
        prepared_search(prepared).clip_choice.with_identical_clips(
            prepared.fields, Query((0.0, 0.0, 0.0), (6.0, 0.0)), found, None
        )
        is found
    )
