"""Reaching roadmaps: postures balanced, clear and on their feet, exact reaches, valid ways, mended when things move."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.cast.masses import centre_of_mass
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.errors import GaitwayError, LimbError
from gaitway.limbs import _roadmap_kernels as kernels
from gaitway.limbs._stance_kernels import DROP, FLEXION, LEAN, NUMBERS, TURN
from gaitway.limbs.roadmap import (
    ReachPlan,
    ReachRoadmap,
    RoadmapOptions,
    even_path,
    grip_mark,
    grow_roadmap,
    mark_distances,
)
from gaitway.limbs.stance import Stander, stand
from gaitway.limbs.surroundings import body_around, body_gaps
from gaitway.motion.body import capsule_body
from gaitway.papers import PaperOptions, kallmann, run_paper
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box, Cylinder
from gaitway.world.world import World

BOUNDS = (-9.0, -9.0, 9.0, 9.0)
POST = Obstacle(Cylinder((0.36, -0.22), 0.05, 1.7), name="post")
TABLE = Obstacle(Box((0.75, 0.2), (0.3, 1.6), 0.7), name="table")
WORLD = World(BOUNDS, (POST, TABLE))
BEHIND = np.array([0.6, -0.1, 1.3])
"""A place behind the post for the right hand: the straight way leads through the post."""
OPTIONS = RoadmapOptions()


@pytest.fixture(scope="module")
def stander() -> Stander:
    return stand(load_cast("person").clips["stand"], WORLD)


@pytest.fixture(scope="module")
def roadmap(stander: Stander) -> ReachRoadmap:
    return grow_roadmap(stander, WORLD, OPTIONS)


def some_postures(stander: Stander, count: int, seed: int = 0) -> FloatArray:
    out = np.empty((count, NUMBERS))
    kernels.draw_samples(stander.table, read_only(np.random.default_rng(seed).random((count, kernels.DRAWS))), out)
    return out


def test_the_resting_numbers_make_the_stance_and_feet_stay_in_every_posture(stander: Stander) -> None:
    still = stander.clip.joint_positions()[0]
    rest = stander.applied(stander.rest[None]).joint_positions()[0]
    assert rest == pytest.approx(still, abs=1e-6)
    x = some_postures(stander, 300)
    fine = stander.place(x).reached
    assert fine.mean() > 0.9
    clip = stander.applied(x[fine])
    feet = [stander.clip.skeleton.roles[f"{s}_{r}"] for s in ("left", "right") for r in ("ankle", "toe")]
    assert np.abs(clip.joint_positions()[:, feet] - still[feet]).max() < 1e-6
    turns = clip.joint_transforms()[1][:, feet]
    assert rotations.angle_between(turns, stander.clip.joint_transforms()[1][:, feet]).max() < 1e-5


def test_placed_joints_are_those_of_the_clip_and_checks_those_of_the_body(stander: Stander) -> None:
    x = some_postures(stander, 200, 1)
    x = x[stander.place(x).reached]
    placed, clip = stander.place(x, 0.01), stander.applied(x)
    order = stander.table.order
    assert placed.places[:, order] == pytest.approx(clip.joint_positions()[:, order], abs=1e-9)
    body = capsule_body(clip.skeleton)
    axes = np.ascontiguousarray(body.segments(*clip.joint_transforms()))
    around = body_around(stander.clip, 0.0, WORLD, reach=1.3)[2]
    gaps = body_gaps(axes, np.asarray(body.radii), np.zeros(len(x)), around, 0.01)
    clear = np.abs(gaps - 0.01) > 1e-6
    assert ((gaps >= 0.01) == placed.clear)[clear | (gaps == 0.01)].all()
    assert 0 < placed.clear.sum() < len(x)


def test_balance_is_that_of_the_mass_over_the_feet(stander: Stander) -> None:
    x = some_postures(stander, 400, 2)
    x = x[stander.place(x).reached]
    placed, clip, table = stander.place(x), stander.applied(x), stander.table
    body = capsule_body(clip.skeleton)
    twin = np.einsum("k,nki->ni", table.masses, body.segments(*clip.joint_transforms()).mean(axis=2))
    over = (table.support[:, :2] @ twin[:, :2].T <= table.support[:, 2:]).all(axis=0)
    assert np.array_equal(over, placed.balanced)
    assert 0 < over.sum() < len(x)
    # the person's own masses, which know no capsules, agree within 3 cm
    mass = centre_of_mass(clip.skeleton, clip.root_positions, clip.rotations)
    assert np.linalg.norm(twin[:, :2] - mass[:, :2], axis=1).max() < 0.03
    middle = stander.clip.joint_positions()[0, [14, 23], :2].mean(axis=0)
    assert (table.support[:, :2] @ middle < table.support[:, 2]).all()


def test_samples_are_sixty_to_forty_and_right_handed() -> None:
    free = stand(load_cast("person").clips["stand"], World(BOUNDS))
    x = some_postures(free, 4000, 3)
    regular = (x[:, 0] == 0.0) & (x[:, 1] == 0.0) & (x[:, 9] == 0.0) & (x[:, 10] == 0.0)
    assert regular.mean() == pytest.approx(0.60, abs=0.03)
    assert (x[~regular, 0] != 0.0).mean() == pytest.approx(0.66, abs=0.04)
    assert np.abs(x[regular][:, [FLEXION, LEAN, TURN]]).max() <= 0.15
    assert x[regular][:, DROP].max() <= 0.04 < x[~regular][:, DROP].max()
    assert free.place(x).within.mean() > 0.95


def test_every_node_and_edge_of_a_roadmap_is_valid_and_it_is_one_piece(roadmap: ReachRoadmap) -> None:
    placed = roadmap.stander.place(roadmap.nodes, OPTIONS.margin)
    assert len(roadmap.nodes) == OPTIONS.nodes
    assert placed.valid.all()
    assert np.array_equal(placed.marks, roadmap.marks)
    a, b = roadmap.edges.T
    for share in (0.25, 0.5, 0.75):
        between = roadmap.nodes[a] + share * (roadmap.nodes[b] - roadmap.nodes[a])
        assert roadmap.stander.place(between, 0.0).valid.all()
    lengths = mark_distances(roadmap.marks[a], roadmap.marks[b])
    tree = len(roadmap.edges) - roadmap.shortcuts
    assert roadmap.shortcuts > 50
    assert lengths[tree:].max() < OPTIONS.longest
    seen, new = {0}, {0}
    while new:
        new = {int(q) for e in roadmap.edges for p, q in (e, e[::-1]) if int(p) in new} - seen
        seen |= new
    assert len(seen) == OPTIONS.nodes


def test_distances_and_shortest_ways_are_those_of_their_twins(roadmap: ReachRoadmap) -> None:
    a, b = roadmap.marks[roadmap.edges[:, 0]], roadmap.marks[roadmap.edges[:, 1]]
    apart = np.linalg.norm(a - b, axis=2)
    assert mark_distances(a, b) == pytest.approx(apart.mean(axis=1))
    assert mark_distances(a, b, 0) == pytest.approx(apart[:, :7].mean(axis=1))
    assert mark_distances(a, b, 1) == pytest.approx(apart[:, [0, 1, *range(7, 12)]].mean(axis=1))
    count, costs = 40, roadmap.costs[2]
    inside = np.flatnonzero((roadmap.edges < count).all(axis=1))
    way = np.full((count, count), np.inf)
    way[np.arange(count), np.arange(count)] = 0.0
    for e in inside:
        p, q = roadmap.edges[e]
        way[p, q] = way[q, p] = min(way[p, q], costs[e])
    for k, i, j in itertools.product(range(count), repeat=3):  # Floyd and Warshall
        way[i, j] = min(way[i, j], way[i, k] + way[k, j])
    blocked = np.ones(len(costs), dtype=np.int64)
    blocked[inside] = 0
    path = np.empty(len(roadmap.nodes), dtype=np.int64)
    for goal in range(1, count):
        found = kernels.shortest(*roadmap._arcs, costs, read_only(blocked), 0, goal, path)
        assert costs[path[:found]].sum() == pytest.approx(way[0, goal])


def check_plan(plan: ReachPlan, target: FloatArray) -> None:
    rows = plan.postures(60.0)
    placed = plan.stander.place(rows, 0.0)
    assert placed.valid.all()
    assert np.linalg.norm(placed.marks[-1, grip_mark(plan.hand)] - target) < 0.005
    assert rows[0] == pytest.approx(plan.path[0])
    # nothing pops: marks are never faster than a quick hand, and begin and end slowly
    speed = np.linalg.norm(np.diff(placed.marks, axis=0), axis=2).max(axis=1) * 60.0
    assert speed.max() < 6.0
    assert speed[0] < 0.3
    assert speed[-1] < 0.3


def knows_a_way(roadmap: ReachRoadmap, place: FloatArray) -> bool:
    try:
        roadmap.reach("right", place)
    except LimbError:
        return False
    return True


@pytest.mark.slow
def test_reaches_come_to_their_target_around_the_post(stander: Stander) -> None:
    # one roadmap of ten has no way around the post, and which one it is hangs on the processor
    grown = (grow_roadmap(stander, WORLD, OPTIONS, seed=seed) for seed in range(4))
    roadmap = next(one for one in grown if knows_a_way(one, BEHIND))
    for hand, place in (
        ("right", BEHIND),
        ("left", np.array([0.45, 0.35, 1.2])),
        ("right", np.array([0.1, -0.7, 1.2])),
    ):
        check_plan(roadmap.reach(hand, place), place)
    rough, smooth = (roadmap.reach("right", BEHIND, smooth=s) for s in (False, True))
    assert len(rough.path) > 2  # the straight way is closed
    assert smooth.length < rough.length
    dense = even_path(roadmap.stander, smooth.path, 400)
    assert roadmap.stander.place(dense, 0.0).valid.all()


def test_a_wanted_turn_of_the_hand_is_kept(roadmap: ReachRoadmap) -> None:
    limb = roadmap.stander.limbs[1]
    wrist = int(limb.joints[2])
    target = np.array([0.4, 0.3, 1.2])
    free = roadmap.reach("left", target)
    turn = free.clip().joint_transforms()[1][-1, wrist]
    bent = rotations.multiply(rotations.from_axis_angle([0.0, 0.0, 1.0], 0.2), turn)
    plan = roadmap.reach("left", target, turn=bent)
    check_plan(plan, target)
    assert rotations.angle_between(plan.clip().joint_transforms()[1][-1, wrist], bent) < 1e-4


@pytest.mark.slow
def test_most_targets_that_postures_have_are_reached(roadmap: ReachRoadmap) -> None:
    x = some_postures(roadmap.stander, 600, 7)
    placed = roadmap.stander.place(x, 0.02)
    places = placed.marks[placed.valid, grip_mark("right")][:60]
    met = 0
    for place in places:
        try:
            plan = roadmap.reach("right", place)
        except LimbError:
            continue
        hand = plan.stander.place(plan.path[-1:]).marks[0, grip_mark("right")]
        assert np.linalg.norm(hand - place) < 0.005
        met += 1
    assert met >= 0.8 * len(places)


def test_probabilistic_ik_reaches_behind_the_back_through_valid_postures(roadmap: ReachRoadmap) -> None:
    stander, behind = roadmap.stander, np.array([-0.27, -0.1, 0.56])
    goal = roadmap.likely_goal("right", behind)
    placed = stander.place(goal[None], OPTIONS.margin)
    assert placed.valid[0]
    assert placed.marks[0, grip_mark("right")] == pytest.approx(behind, abs=2e-4)
    assert roadmap.likely_goal("right", behind) == pytest.approx(goal)  # the same for the same seed
    plan = roadmap.reach("right", behind)  # which analytic IK alone does not find
    assert stander.place(plan.path, 0.0).valid.all()
    assert stander.place(plan.path[-1:]).marks[0, grip_mark("right")] == pytest.approx(behind, abs=2e-4)


def test_probabilistic_ik_keeps_a_wanted_turn_and_says_how_near_it_came(roadmap: ReachRoadmap) -> None:
    stander = roadmap.stander
    known = roadmap.goal("right", BEHIND)
    wrist = stander.limbs[0].joints[2]
    turn = stander.applied(known[None]).joint_transforms()[1][0, wrist]
    goal = roadmap.likely_goal("right", BEHIND, turn=turn, tries=4000)
    found = stander.applied(goal[None]).joint_transforms()[1][0, wrist]
    assert rotations.angle_between(found, turn) < 0.01
    with pytest.raises(
        LimbError, match=r"right hand cannot reach \(0.60, -0.10, 1.30\): it came as near as \d+\.\d cm"
    ):
        roadmap.likely_goal("right", BEHIND, members=1, tries=1)


def test_the_same_seed_grows_the_same_roadmap_and_another_one_another(stander: Stander, roadmap: ReachRoadmap) -> None:
    again = grow_roadmap(stander, WORLD, OPTIONS)
    assert np.array_equal(again.nodes, roadmap.nodes)
    assert np.array_equal(again.edges, roadmap.edges)
    assert np.array_equal(again.reach("right", BEHIND).path, roadmap.reach("right", BEHIND).path)
    other = grow_roadmap(stander, WORLD, OPTIONS, seed=1)
    assert not np.array_equal(other.nodes, roadmap.nodes)


def test_a_roadmap_is_mended_when_the_post_moves(roadmap: ReachRoadmap) -> None:
    moved = World(BOUNDS, (replace(POST, shape=Cylinder((0.36, 0.0), 0.05, 1.7)), TABLE))
    stander = roadmap.stander.among(moved)
    lost = ~stander.place(roadmap.nodes, OPTIONS.margin).valid
    assert lost.any()  # it matters
    mended = roadmap.updated(moved)
    assert len(mended.nodes) == len(roadmap.nodes)
    assert stander.place(mended.nodes, OPTIONS.margin).valid.all()
    kept = roadmap.nodes[~lost]
    assert (mended.nodes[: len(kept) // 2, None] == kept[None]).all(axis=2).any(axis=1).all()  # most are still there
    a, b = mended.edges.T
    assert stander.place(0.5 * (mended.nodes[a] + mended.nodes[b]), 0.0).valid.all()
    aside = np.array([0.1, -0.7, 1.2])
    check_plan(mended.reach("right", aside), aside)


@pytest.mark.parametrize(
    ("hand", "target", "words"),
    [
        ("right", (1.6, 0.0, 1.2), r"right hand cannot reach \(1.60, 0.00, 1.20\): it is 0.\d\d m beyond the arm"),
        ("right", (0.7, 0.0, 0.5), "it is inside 'table'"),
        ("right", (-0.05, 0.0, 1.2), "every posture that reaches it"),
        ("tail", (0.5, 0.0, 1.2), "no hand 'tail'; there are right and left"),
        ("left", (0.5, 0.0), "three finite numbers"),
        ("left", (0.5, 0.0, np.nan), "three finite numbers"),
    ],
)
def test_targets_that_cannot_be_reached_are_told_in_one_line(
    roadmap: ReachRoadmap, hand: str, target: tuple[float, ...], words: str
) -> None:
    with pytest.raises(LimbError, match=words) as told:
        roadmap.reach(hand, target)
    assert "\n" not in str(told.value)


def test_wrong_bodies_places_and_options_are_told_in_one_line(stander: Stander, roadmap: ReachRoadmap) -> None:
    person = load_cast("person")
    with pytest.raises(GaitwayError, match="horse"):
        stand(load_cast("horse").clips["stand"], WORLD)
    with pytest.raises(LimbError, match="no frame 9999"):
        stand(person.clips["stand"], WORLD, frame=9999)
    pillar = World(BOUNDS, (Obstacle(Cylinder((0.0, 0.0), 0.3, 2.0), name="pillar"),))
    with pytest.raises(LimbError, match="cannot stand there"):
        grow_roadmap(stand(person.clips["stand"], pillar), pillar)
    with pytest.raises(LimbError, match="cannot stand there"):
        roadmap.updated(pillar)
    with pytest.raises(LimbError, match="step 0 m"):
        RoadmapOptions(step=0.0)
    with pytest.raises(LimbError, match="1 node or more"):
        RoadmapOptions(nodes=0)
    fallen = np.array(stander.rest)
    fallen[DROP] = 3.0
    with pytest.raises(LimbError, match="start of the reach is not valid: the body is beyond the limits"):
        roadmap.reach("right", BEHIND, start=fallen)
    with pytest.raises(LimbError, match="22 numbers"):
        stander.place(np.zeros((2, 5)))
    with pytest.raises(LimbError, match="quaternion"):
        roadmap.goal("right", BEHIND, turn=np.zeros(4))


def test_the_paper_is_run_again() -> None:
    table = run_paper("kallmann", options=PaperOptions(quick=True))
    assert table.ok
    assert [row["place"] for row in table.rows] == [*2 * list(kallmann.TABLE), "no obstacles", "kitchen"]
    good = kallmann._Row("cubes", 30, 1500, True, 0.2, 0.1, 900, 100, 97, 0.8, 1.2, 1e-5)
    assert all(claim.holds for claim in kallmann._claims([good], judged=True))
    bad = kallmann._Row("cubes", 30, 900, False, 99.0, 12.0, 900, 100, 50, 9.0, 9.0, 0.02)
    assert not any(claim.holds for claim in kallmann._claims([bad], judged=True))
    stepped = kallmann._Stepped("cubes", 19, 60, 2.0, 100, 40, 80, 1, 1e-5)
    assert all(claim.holds for claim in kallmann._step_claims([stepped]))
    assert not any(claim.holds for claim in kallmann._step_claims([stepped._replace(stepped=40, miss=0.1)]))
