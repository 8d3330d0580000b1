"""Trees of libraries with variants: no node is lost to them, all are played, and nothing is hit by any of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.behavior.planner import prepared_search
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import FormatError
from gaitway.library.actions import action_table
from gaitway.library.behavior import Library
from gaitway.live.engine import LiveEngine
from gaitway.live.options import LiveOptions
from gaitway.live.planning.forest import live_forest
from gaitway.live.playing.bodies import frame_pool, led_on
from gaitway.live.playing.check import overlaps
from gaitway.live.record import LiveRecord
from gaitway.motion.anatomy import upper_joints
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.space.query import Query
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.forest import grow_forest
from gaitway.tree.moves import choose_moves
from gaitway.tree.query.tree_search import TreeSearch
from gaitway.tree.region import Region
from gaitway.tree.storage import load_tree, save_tree
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from live_crowds import boxes
from similar_library import WALKS, armed, identical, people, similar, with_variants

LIBRARIES = {"identical": identical, "similar": similar}
FRAME = 1.0 / 30.0


def prepared_for(library: Library, world: World) -> PreparedLibrary:
    who = Character(
        name="ada", start=(0.0, 0.0, 0.0), goal=(1.0, 0.0), goal_heading=None, library=LibraryRef(), plan=PlanOptions()
    )
    return planning_context(world, {LibraryRef(): library}).prepared(who)


def walkers(library: Library, seed: int = 0, planner: str = "tree") -> Planned:
    """People side by side who walk the same way, past a few posts."""
    who = [{"name": f"p{k}", "start": [2, 3 + 1.5 * k, 0], "goal": [20, 3 + 1.5 * k]} for k in range(6)]
    posts = [{"cylinder": {"center": [9 + 2 * k, 4 + 3 * k], "radius": 0.4, "height": 2}} for k in range(3)]
    parts: dict[str, Any] = {
        "gaitway": 1, "bounds": [0, 0, 24, 14], "library": "person", "obstacles": posts, "characters": who,
        "plan": {"planner": planner, "nodes": 30_000} if planner == "tree" else {"planner": planner},
    }  # fmt: skip
    return plan_scene(scene_from_dict(parts), libraries={LibraryRef(): library}, seed=seed)


def played(planned: Planned) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(step.clip.partition("~")[0] for step in plan.steps) for name, plan in planned.crowd.plans.items()
    }


def test_a_tree_is_the_same_with_twins_and_its_file_stays_good(tmp_path: Path) -> None:
    region = Region.disc(6.0)
    trees = []
    for library in (people(), identical()):
        moves = choose_moves(action_table(library), "walk")
        trees.append(diverse_tree(moves, region, Budget(3000)))
    plain, more = trees
    assert np.array_equal(plain.links, more.links) and len(plain.moves) == len(more.moves)
    assert more.moves.clips == plain.moves.clips + 4 * len(WALKS)
    save_tree(plain, tmp_path / "plain.gwtree")
    assert len(load_tree(tmp_path / "plain.gwtree", more.moves)) == len(plain)
    with pytest.raises(FormatError, match="grow it anew"):
        load_tree(tmp_path / "plain.gwtree", choose_moves(action_table(similar()), "walk"))


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_variants_cost_no_answers(name: str) -> None:
    """As many goals are reached as without variants by trees of as many nodes, by ways that cost no more."""
    world = boxes(2, 6)
    rng = np.random.default_rng(5)
    ends = rng.uniform(-6.5, 6.5, (240, 4))
    queries = [
        Query((*e[:2].tolist(), float(h)), (float(e[2]), float(e[3])), seed=k)
        for k, (e, h) in enumerate(zip(ends, rng.uniform(-3.0, 3.0, 240), strict=True))
    ]
    found, costs = [], []
    for library in (people(), LIBRARIES[name]()):
        prepared = prepared_for(library, world)
        trees = TreeSearch(
            prepared_search(prepared).searcher, list(grow_forest(prepared.table, budget=Budget(15_000)).trees.values())
        )
        results = [trees.find(prepared.fields, query) for query in queries]
        plans = [None if r is None else r.plan for r in results]
        found.append([plan is not None for plan in plans])
        costs.append([np.inf if plan is None else plan.cost for plan in plans])
        for query, plan in zip(queries, plans, strict=True):
            if plan is not None:
                assert np.hypot(*np.subtract(plan.end_pose[:2], query.goal)) <= query.tolerance + 1e-6
    assert sum(found[0]) > 100 and sum(found[1]) >= 0.95 * sum(found[0])
    both = np.array(found).all(axis=0)
    assert np.array(costs)[1, both].sum() < 1.03 * np.array(costs)[0, both].sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_crowd_by_trees_plays_variants_and_hits_nothing(name: str) -> None:
    library = LIBRARIES[name]()
    first, again, other = walkers(library), walkers(library), walkers(library, seed=1)
    assert not first.failed and first.found_by.keys() <= {"tree", "A*"}
    assert first.found_by["tree"] >= 5  # who would halt on the way is planned again by A*
    assert played(first) == played(again) != played(other)
    for character in range(2):
        assert np.array_equal(first.take.clip(character).rotations, again.take.clip(character).rotations)
    assert audit_take(first.take, first.scene.world).violations == ()
    counts = Counter(clip for each in (first, other) for clips in played(each).values() for clip in clips)
    assert all(counts[clip] > 0 for clip in library.graph["walk_forward"].clips), counts
    assert len(set(played(first).values())) == 6, "nobody is a clone of another"


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_live_characters_play_variants_and_meet_nobody(name: str) -> None:
    library = LIBRARIES[name]()
    world = boxes(1, 4, 9.0)
    prepared = prepared_for(library, world)
    forest, logs = live_forest(prepared.table, budget=Budget(20_000)), []
    for seed in (3, 3, 4):
        crowd, log, rng = (
            LiveEngine(prepared, forest, LiveOptions(dynamics="clips"), seed=seed),
            list[Any](),
            np.random.default_rng(7),
        )
        crowd.watch(log.append)
        record = LiveRecord(crowd)
        starts = np.column_stack([rng.uniform(-8.0, 8.0, (24, 2)), rng.uniform(-3.0, 3.0, 24)])
        who = crowd.add(starts, rng.uniform(-8.0, 8.0, (24, 2)))
        who = who[who >= 0]
        for frame in range(300):
            if frame % 100 == 99:
                crowd.set_goals(who, rng.uniform(-8.0, 8.0, (len(who), 2)))
            crowd.step(FRAME)
            assert not len(overlaps(crowd.joints().positions[:, 0], crowd.options.radius))
        logs.append(np.concatenate(log))
        if seed == 4:
            assert audit_take(record.take(), world).violations == ()
        crowd.close()
    assert np.array_equal(logs[0], logs[1]) and not np.array_equal(logs[0], logs[2])
    actions = np.concatenate(logs)[:, 2].astype(int)
    counts = Counter(prepared.table.clips[a] for a in actions[actions >= 0].tolist())
    walks = [counts[clip] for clip in library.graph["walk_forward"].clips]
    assert min(walks) > 0, counts


def test_live_characters_rest_by_takes_of_their_own() -> None:
    library = load_cast("person", takes=3, behaviors=["wait", "start_walk", "stop_walk", "walk_forward", "walk_short"])
    prepared = prepared_for(library, World((-12.0, -12.0, 12.0, 12.0)))
    crowd, log = (
        LiveEngine(prepared, live_forest(prepared.table, budget=Budget(5_000)), LiveOptions(dynamics="clips"), seed=2),
        list[Any](),
    )
    crowd.watch(log.append)
    places = np.stack(np.meshgrid(np.arange(-9.0, 10.0, 3.0), [-6.0, 0.0, 6.0]), -1).reshape(-1, 2)
    crowd.add(np.column_stack([places, np.zeros(len(places))]), places + np.array([3.0, 0.0]))
    for _ in range(240):
        crowd.step(FRAME)
    crowd.close()
    rows = np.concatenate(log)
    waits = {prepared.table.clips[int(a)] for a in rows[:, 2]} & set(library.graph["wait"].clips)
    assert len(waits) == 3


@pytest.mark.parametrize("room", [0.55, 3.0])
def test_a_live_character_lifts_its_arms_only_where_there_is_room(room: float) -> None:
    wide = with_variants(people(), ["walk_forward"], lambda clip: [armed(clip, 0, 1.3)])
    sides = tuple(Obstacle(Box((0.0, side * (room + 0.5)), (24.0, 1.0), 2.5)) for side in (-1.0, 1.0))
    prepared = prepared_for(wide, World((-12.0, -6.0, 12.0, 6.0), sides))
    crowd, log = (
        LiveEngine(prepared, live_forest(prepared.table, budget=Budget(20_000)), LiveOptions(dynamics="clips"), seed=2),
        list[Any](),
    )
    crowd.watch(log.append)
    crowd.add([[-10.0, 0.0, 0.0]], [[9.0, 0.0]])
    for _ in range(500):
        crowd.step(FRAME)
    gone = float(crowd.poses().root_positions[0, 0])
    crowd.close()
    played = {prepared.table.clips[int(a)] for a in np.concatenate(log)[:, 2]}
    assert gone > 5.0 and "walk_forward" in played
    assert ("walk_forward_armed_0" in played) is (room > 1.0)


def test_frames_lead_on_from_whatever_came_before() -> None:
    """The pool beside `led_on` for each pair of clips whose legs differ; else upper bodies are led on while played."""
    stairs = ("start_stairs_up", "stairs_up", "stop_stairs_up")
    library = load_cast("person", takes=2, behaviors=["wait", "start_walk", "stop_walk", "walk_forward", *stairs])
    prepared = prepared_for(library, World((-12.0, -12.0, 12.0, 12.0)))
    table, (pool, rows, clips) = prepared.table, frame_pool(prepared)
    joined, legs = 0, np.flatnonzero(~upper_joints(library.skeleton))
    assert legs[0] == 0
    for before in range(len(table)):
        behavior = table.behavior[before]
        for after in table.followers[table.follower_starts[behavior] : table.follower_starts[behavior + 1]].tolist():
            last, plain = library.clips[table.clips[before]], library.clips[table.clips[after]]
            ends = (np.array(last.rotations[-1, legs]), np.array(plain.rotations[0, legs]))
            for turns, heading in zip(ends, (last.headings()[-1], plain.headings()[0]), strict=True):
                turns[0] = rotations.multiply(rotations.from_yaw(-heading), turns[0])
            apart = float(rotations.angle_between(*ends).max())
            level = abs(last.root_positions[-1, 2] - plain.root_positions[0, 2]) <= 0.002
            clip = plain if apart <= np.radians(0.2) and level else led_on(last, plain)
            joined += clip is not plain
            first, count = rows[before, after], int(clips[after, 3])
            assert np.allclose(pool[first : first + count, :, :-1], clip.rotations.transpose(0, 2, 1), atol=1e-6)
            assert np.allclose(pool[first : first + count, :3, -1], clip.root_positions, atol=1e-6)
    assert joined > 0
