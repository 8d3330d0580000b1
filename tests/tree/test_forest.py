"""Whole libraries: which behaviours trees are made of, from which states, how far, and trees kept on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gaitway.behavior.planner import prepared_search
from gaitway.behavior.search import search
from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import read_only
from gaitway.core.errors import LibraryError, TreeError
from gaitway.library.actions import ActionTable, action_table
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.movement_costs import planning_table
from gaitway.space.prepared import planning_context
from gaitway.space.query import Query
from gaitway.tree.building.default_moves import gaits, usual_behaviors, usual_region, usual_roots
from gaitway.tree.building.growing import Budget
from gaitway.tree.forest import Forest, grow_forest
from gaitway.tree.model import Tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.region import Region
from gaitway.world.world import World
from search_twin import JUMPER, LATTICE, WALKER, small_table


def table_of(cast: str, speed: str = "normal") -> ActionTable:
    library = load_cast(cast)
    return planning_table(library, speed)


@pytest.mark.parametrize(
    ("cast", "speed", "roots"),
    [
        ("person", "slow", {"stand", "walk"}),
        ("person", "normal", {"stand", "walk"}),
        ("person", "fast", {"stand", "walk", "jog"}),
        ("horse", "normal", {"stand", "gallop"}),
        ("skateboarder", "normal", {"wait", "ride"}),
    ],
)
def test_roots_of_the_cast(cast: str, speed: str, roots: set[str]) -> None:
    assert set(usual_roots(table_of(cast, speed))) == roots


def test_whoever_likes_to_jog_jogs_first_and_walks_for_short_ways() -> None:
    table = table_of("person", "fast")
    assert [table.states[gait.state] for gait in gaits(table)] == ["jog", "walk"]


def test_a_tree_that_begins_at_rest_walks() -> None:
    names = set(usual_behaviors(table_of("person"), ["stand"]))
    assert {"start_walk", "walk_forward", "stop_walk", "turn_left_90", "u_turn_left"} <= names
    assert not names & {"stand", "wave", "duck", "jump", "jog_forward", "start_jog", "crawl_start", "back_walk"}


def test_special_behaviours_come_with_what_leads_to_them() -> None:
    table = table_of("person")
    plain, jumping = (set(usual_behaviors(table, ["stand"], kinds)) for kinds in ((), ("jump",)))
    assert plain < jumping
    assert {"jump", "start_jog", "jog_forward", "jog_to_walk", "stop_jog"} <= jumping - plain
    assert not jumping & {"duck", "crawl_under", "stairs_up"}
    assert set(usual_behaviors(table, ["stand"], ("stairs_up",))) - plain == {
        "start_stairs_up",
        "stairs_up",
        "stop_stairs_up",
    }


def test_nobody_jogs_to_pass_what_is_passed_at_a_walk() -> None:
    table = table_of("person")
    over = {"step_over_left", "step_over_right"}
    walking = set(usual_behaviors(table, ["stand"], ("jump",), able=[*over, "jump", "hurdle"]))
    assert walking - set(usual_behaviors(table, ["stand"])) == over
    high = set(usual_behaviors(table, ["stand"], ("jump", "duck"), able=["jump", "duck"]))  # too high to step over
    assert {"jump", "start_jog", "duck"} <= high and "duck_jog" not in high
    assert set(usual_behaviors(table, ["stand"], ("jump",))) >= over | {"start_jog", "jump"}


def test_every_state_can_be_left_towards_rest() -> None:
    """No tree runs into a dead end: each of its moves is followed by one, and one comes to rest."""
    for cast, kinds in (("person", ("jump", "duck")), ("horse", ()), ("skateboarder", ("jump", "duck"))):
        table = table_of(cast)
        for root in usual_roots(table):
            moves = choose_moves(table, root, usual_behaviors(table, usual_roots(table), kinds))
            assert (np.diff(moves.follower_starts) > 0).all()
            assert table.rest[table.end_state[moves.actions]].any()


@pytest.mark.parametrize(("cast", "speed", "low", "high"), [("person", "normal", 12.0, 16.0),
                                                             ("person", "fast", 20.0, 32.0),
                                                             ("horse", "normal", 50.0, 90.0)])  # fmt: skip
def test_regions_reach_as_far_as_one_gets(cast: str, speed: str, low: float, high: float) -> None:
    region = usual_region(table_of(cast, speed))
    assert region.holds((low, 0.0))
    assert region.holds((-low, 0.0))
    assert not region.holds((high, 0.0))


def test_a_library_without_gaits_steps() -> None:
    table = small_table(LATTICE)
    assert usual_roots(table) == ("stand",)
    assert set(usual_behaviors(table, ["stand"])) == {"ahead", "left", "right"}
    assert len(grow_forest(table, budget=Budget(200)).tree("stand")) == 200


def test_costs_are_those_of_plans() -> None:
    table = table_of("person", "slow")
    tree = grow_forest(table, budget=Budget(500), time_weight=0.3).tree("walk")
    costs = table.costs + 0.3 * table.durations
    path = tree.path(int(np.argmax(tree.depths)))
    assert tree.unfold().costs[path[-1]] == pytest.approx(costs[tree.moves.actions[tree.actions[path]]].sum())


@pytest.mark.slow
def test_of_many_clips_some_are_taken() -> None:
    """A node keeps its followers in a word, and its move in a byte."""
    alike = action_table(load_cast("skateboarder", takes=12))
    spread = np.outer(np.arange(len(alike)) % 12, [0.2, 0.0, 0.0])
    table = replace(alike, moves=read_only(alike.moves + spread))
    moves = choose_moves(table, "ride", kinds=("jump", "duck"))
    assert np.diff(moves.follower_starts).max() <= 64
    behaviors, counts = np.unique(table.behavior[moves.actions], return_counts=True)
    assert len(behaviors) == 10
    assert (counts == counts[0]).all()
    assert counts[0] == 7
    assert all(table.clips[row].startswith(table.behaviors[table.behavior[row]]) for row in moves.actions.tolist())


@pytest.mark.slow
def test_takes_of_a_cast_are_one_move() -> None:
    table = action_table(load_cast("skateboarder", takes=12))
    moves = choose_moves(table, "ride", kinds=("jump", "duck"))
    assert len(moves) == 10 and moves.clips == 120
    alone = choose_moves(action_table(load_cast("skateboarder")), "ride", kinds=("jump", "duck"))
    assert len(alone) == alone.clips == 10


@pytest.mark.slow
def test_ways_cost_little_more_than_those_of_a_search() -> None:
    """In an empty place: the best end near a goal, beside what A* finds with all behaviours and the same costs."""
    world = World(bounds=(-16.0, -16.0, 16.0, 16.0))
    prepared = planning_context(world).prepared(
        Character(
            name="ada",
            start=(0.0, 0.0, 0.0),
            goal=(5.0, 0.0),
            goal_heading=None,
            library=LibraryRef(),
            plan=PlanOptions(),
        )
    )
    forest, rng = grow_forest(prepared.table), np.random.default_rng(5)
    for root, before in (("stand", None), ("walk", "walk_forward")):
        tree = forest.tree(root)
        ends, ratios = prepared.table.rest[tree.states], []
        for _ in range(60):
            away, angle = rng.uniform(3.0, 12.0), rng.uniform(-np.pi, np.pi)
            goal = (float(away * np.cos(angle)), float(away * np.sin(angle)))
            found = search(
                prepared_search(prepared).searcher, prepared.fields, Query((0.0, 0.0, 0.0), goal, start_behavior=before)
            ).plan
            near = ends & (np.hypot(*(tree.points - goal).T) <= 0.5)
            assert found is not None
            ratios.append(float(tree.costs[near].min()) / found.cost)
        assert 0.99 < np.mean(ratios) < 1.05  # the search itself is exact to a bin


def test_trees_of_a_forest_share_their_moves() -> None:
    forest = grow_forest(table_of("person"), budget=Budget(2000), kinds=("duck",))
    stand, walk = (forest.tree(state) for state in ("stand", "walk"))
    assert (stand.moves.actions == walk.moves.actions).all()
    assert stand.moves.digest != walk.moves.digest
    assert forest.roots == ("stand", "walk")
    assert "walk" in forest
    assert len(forest) == 2
    assert forest.nbytes == stand.nbytes + walk.nbytes


def test_a_second_process_loads_what_the_first_one_grew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAITWAY_CACHE", str(tmp_path))
    monkeypatch.setattr("gaitway.core.cache.WORTH_KEEPING", 0.0)
    monkeypatch.setattr("gaitway.core.sources._BEGAN", np.inf)
    table = small_table(WALKER)
    grown = grow_forest(table, ["walk"], Budget(400))
    assert len(list(tmp_path.glob("tree-*.npz"))) == 1

    def refused(*_: object, **__: object) -> Tree:
        raise AssertionError("grown again")

    monkeypatch.setattr("gaitway.tree.forest.diverse_tree", refused)
    again = grow_forest(table, ["walk"], Budget(400)).tree("walk")
    for name in ("links", "ends", "places", "headings", "prices", "place_step", "cost_step"):
        assert np.array_equal(getattr(again, name), getattr(grown.tree("walk"), name))
    for change in ({"seed": 1}, {"levels": 9}, {"stretch": 2.0}, {"time_weight": 0.1}, {"region": Region.disc(5.0)}):
        with pytest.raises(AssertionError, match="grown again"):
            grow_forest(table, ["walk"], Budget(400), **change)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda: grow_forest(small_table(WALKER), ["fly"]), "no state 'fly'; there are"),
        (lambda: grow_forest(small_table(JUMPER), kinds=["swim"]), "no behaviour passes 'swim'; there are kinds jump"),
        (lambda: grow_forest(small_table(WALKER), kinds=["swim"]), "there are kinds none"),
        (lambda: grow_forest(small_table(WALKER), [], Budget(9)), "forest without a tree"),
        (lambda: grow_forest(small_table(WALKER), ["walk"], Budget(9)).tree("fly"), "there are trees of walk"),
        (lambda: grow_forest(small_table(WALKER), ["walk"], Budget(9), Region.disc(0.3)), "no room for a single move"),
        (lambda: Forest({}), "forest without a tree"),
    ],
)  # fmt: skip
def test_refusals(how: object, words: str) -> None:
    with pytest.raises((TreeError, LibraryError), match=words):
        how()  # type: ignore[operator]
