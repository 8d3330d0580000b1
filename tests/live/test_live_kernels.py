"""Kernels of live characters beside plain Python."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core import rotations
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.planning import _aim_kernels as aims
from gaitway.live.planning import _nearby_kernels as nearby_kernels
from gaitway.live.planning._aim_kernels import EndArrays, Heap
from gaitway.live.planning._nearby_kernels import Nearby, nearby_memory
from gaitway.live.planning._subgoal_kernels import RouteArrays, subgoal
from gaitway.live.planning.forest import cheapest_tree, end_arrays, heap_for_ends
from gaitway.live.playing import _crowd_kernels as kernels
from gaitway.live.playing._crowd_kernels import BodyArrays, CrowdArrays
from gaitway.live.playing.arrays import STEPS, body_extent, no_crowd, roomier
from gaitway.live.playing.bodies import body_arrays, led_on
from gaitway.motion.clip import Clip
from gaitway.tree.building.default_moves import usual_behaviors, usual_roots
from gaitway.tree.building.growing import Budget
from gaitway.tree.moves import choose_moves
from gaitway.tree.query.index import tree_arrays
from gaitway.tree.region import Region
from live_crowds import OPEN, forest, prepared_in, walker

RADIUS = 0.3


@kernel(borrows=True)
def reserve(body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], me: int, k: int) -> None:
    kernels.link(body_handle.value, crowd_handle.value, me, k)


@kernel(borrows=True)
def release(crowd_handle: ArrayHandle[CrowdArrays], entry: int) -> None:
    kernels.unlink(crowd_handle.value, entry)


@kernel(borrows=True)
def hits(
    body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], me: int, x: float, y: float,
    heading: float, t: float,
    a: int, rest: int,
) -> tuple[int, int]:  # fmt: skip
    body, crowd, c, s = body_handle.value, crowd_handle.value, math.cos(heading), math.sin(heading)
    return (
        kernels.move_hit(body, crowd, me, x, y, c, s, t, a),
        kernels.rest_hit(body, crowd, me, x, y, c, s, t, rest),
    )


@kernel(borrows=True)
def begin_near(nearby_handle: ArrayHandle[Nearby], me: int, since: float) -> None:
    nearby_kernels.look_around(nearby_handle.value, me, since)


@kernel(borrows=True)
def hits_near(
    body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], nearby_handle: ArrayHandle[Nearby],
    x: float, y: float, heading: float, t: float, a: int, rest: int, less: float,
) -> tuple[bool, bool, bool]:  # fmt: skip
    body, crowd, nearby = body_handle.value, crowd_handle.value, nearby_handle.value
    c, s = math.cos(heading), math.sin(heading)
    return (
        nearby_kernels.move_meets(body, crowd, nearby, x, y, c, s, t, a),
        nearby_kernels.rest_meets(body, crowd, nearby, x, y, c, s, t, rest),
        nearby_kernels.place_taken(body, crowd, nearby, x, y, less),
    )


@kernel(borrows=True)
def taken(
    body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], me: int, x: float, y: float,
    less: float,
) -> bool:  # fmt: skip
    return kernels.rest_taken(body_handle.value, crowd_handle.value, me, x, y, less)


@kernel(borrows=True)
def best_first(
    held_ends: ArrayHandle[EndArrays], heap_handle: ArrayHandle[Heap], x: float, y: float, reach: float, far_x: float,
    far_y: float,
    per_metre: float, slack: float, out: IntArray,
) -> int:  # fmt: skip
    aims.gather(held_ends.value, heap_handle.value, x, y, reach, far_x, far_y, per_metre, slack)
    aims.arrange(heap_handle.value)
    count = 0
    node = aims.pop(heap_handle.value)
    while node >= 0:
        out[count] = held_ends.value.nodes[node]
        count += 1
        node = aims.pop(heap_handle.value)
    return count


@kernel(borrows=True)
def next_goal(
    handle: ArrayHandle[RouteArrays], route: int, x: float, y: float, goal_x: float, goal_y: float, ahead: float
) -> tuple[float, float, bool]:
    return subgoal(handle.value, route, x, y, goal_x, goal_y, ahead)


@cache
def body() -> BodyArrays:
    return body_arrays(prepared_in(OPEN), RADIUS)


def placed(pose: FloatArray, discs: FloatArray) -> FloatArray:
    c, s = math.cos(pose[2]), math.sin(pose[2])
    out = discs.copy()
    out[:, 0], out[:, 1] = pose[0] + c * discs[:, 0] - s * discs[:, 1], pose[1] + s * discs[:, 0] + c * discs[:, 1]
    return out


def apart(some: FloatArray, others: FloatArray) -> bool:
    gaps = np.hypot(*(some[:, None, :2] - others[None, :, :2]).transpose(2, 0, 1))
    return bool((gaps >= some[:, None, 2] + others[None, :, 2]).all())


def spans(pose: FloatArray, time: float, action: int, rests: bool) -> list[tuple[float, float, FloatArray]]:
    """From when to when which discs are where, of a move, or of somebody who rests from a time on."""
    arrays = body()
    if rests:
        own = arrays.still[arrays.still_starts[action] : arrays.still_starts[action + 1]]
        return [(time, math.inf, placed(pose, own))]
    out = []
    for w in range(arrays.window_starts[action], arrays.window_starts[action + 1]):
        own = arrays.discs[arrays.disc_starts[w] : arrays.disc_starts[w + 1]]
        out.append((time + arrays.windows[w, 0], time + arrays.windows[w, 1], placed(pose, own)))
    return out


def meet(some: list[tuple[float, float, FloatArray]], others: list[tuple[float, float, FloatArray]]) -> bool:
    return any(
        min(end, stop) - max(begin, start) > kernels.TOUCH and not apart(discs, more)
        for begin, end, discs in some
        for start, stop, more in others
    )


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_hits_are_those_of_all_pairs_of_discs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, arrays, count = prepared_in(OPEN).table, body(), 12
    rest = int(np.flatnonzero(table.quiet)[0])
    extent = body_extent(arrays, np.arange(len(table)), np.empty(0, np.int64))
    crowd = roomier(no_crowd(np.array([extent.widest, 0.0, extent.off])), count)
    body_handle, handle = ArrayHandle(arrays), ArrayHandle(crowd)
    there: dict[int, list[tuple[float, float, FloatArray]]] = {}
    for who in range(count):
        for k in (0, 1, STEPS):
            pose, time = np.append(rng.uniform(-4.0, 4.0, 2), rng.uniform(-3.0, 3.0)), float(rng.uniform(0.0, 4.0))
            action = rest if k == STEPS else int(rng.integers(len(table)))
            crowd.steps[who, k] = (*pose[:2], math.cos(pose[2]), math.sin(pose[2]), pose[2], time)
            crowd.actions[who, k] = action
            reserve(body_handle, handle, who, k)
            there[who * (STEPS + 1) + k] = spans(pose, time, action, k == STEPS)
    for entry in rng.permutation(list(there))[: count // 2].tolist():
        release(handle, entry)
        del there[entry]
    for _ in range(20):
        pose, time = np.append(rng.uniform(-4.0, 4.0, 2), rng.uniform(-3.0, 3.0)), float(rng.uniform(0.0, 4.0))
        action, me = int(rng.integers(len(table))), int(rng.integers(count))
        others = {e: s for e, s in there.items() if e // (STEPS + 1) != me}
        move, stay = hits(body_handle, handle, me, *pose.tolist(), time, action, rest)
        mine, still = spans(pose, time, action, False), spans(pose, time, rest, True)
        assert (move >= 0) == any(meet(mine, other) for other in others.values())
        assert (stay >= 0) == any(meet(still, other) for other in others.values())
        assert move < 0 or meet(mine, others[move])
        assert stay < 0 or meet(still, others[stay])


@pytest.mark.slow
@pytest.mark.parametrize("room", [4096, 7])
@given(seed=st.integers(0, 10_000), mirrored=st.booleans())
@settings(max_examples=25)
def test_what_is_near_is_what_the_table_says(seed: int, mirrored: bool, room: int) -> None:
    rng = np.random.default_rng(seed)
    table, arrays, count = prepared_in(OPEN).table, body(), 30
    rest = int(np.flatnonzero(table.quiet)[0])
    arrays = arrays._replace(apart=np.array([[0.8]]))
    extent = body_extent(arrays, np.arange(len(table)), np.empty(0, np.int64))
    mirrors = np.array([[-2.0, -2.0, 2.0, 2.0, 40.0, 0.0]]) if mirrored else None
    crowd = roomier(no_crowd(np.array([extent.widest, 0.8, extent.off]), mirrors), count)
    memory = nearby_memory()._replace(entries=np.zeros((room, 9)))  # with little room the table itself is read
    body_handle, handle, nearby = ArrayHandle(arrays), ArrayHandle(crowd), ArrayHandle(memory)
    for who in range(count):
        aside = 40.0 if mirrored and who % 3 == 0 else 0.0
        for k in (0, 1, STEPS):
            pose, time = np.append(rng.uniform(-6.0, 6.0, 2), rng.uniform(-3.0, 3.0)), float(rng.uniform(0.0, 4.0))
            crowd.steps[who, k] = (pose[0] + aside, pose[1], math.cos(pose[2]), math.sin(pose[2]), pose[2], time)
            crowd.actions[who, k] = rest if k == STEPS else int(rng.integers(len(table)))
            reserve(body_handle, handle, who, k)
    found = np.zeros(3, np.int64)
    for me in range(4):
        since = float(rng.uniform(0.0, 3.0))
        begin_near(nearby, me, since)
        for _ in range(20):
            pose, time = (
                np.append(rng.uniform(-6.0, 6.0, 2), rng.uniform(-3.0, 3.0)),
                since + float(rng.uniform(0.0, 3.0)),
            )
            action, less = int(rng.integers(len(table))), float(rng.choice([0.0, 0.01]))
            near = hits_near(body_handle, handle, nearby, *pose.tolist(), time, action, rest, less)
            move, stay = hits(body_handle, handle, me, *pose.tolist(), time, action, rest)
            assert near == (move >= 0, stay >= 0, taken(body_handle, handle, me, *pose[:2].tolist(), less))
            found += near
    assert (found > 0).all()
    assert (found < 80).any()


def test_discs_hold_a_disc_about_the_root_at_all_times() -> None:
    prepared, arrays = prepared_in(OPEN), body()
    for action, name in enumerate(prepared.table.clips):
        path = walker().clips[name].planar_path()
        c, s = math.cos(path[0, 2]), math.sin(path[0, 2])
        away = path[:, :2] - path[0, :2]
        local = np.column_stack([c * away[:, 0] + s * away[:, 1], c * away[:, 1] - s * away[:, 0]])
        times = np.arange(len(path)) / walker().clips[name].fps
        for w in range(arrays.window_starts[action], arrays.window_starts[action + 1]):
            inside = (times >= arrays.windows[w, 0] - 1e-9) & (times <= arrays.windows[w, 1] + 1e-9)
            x, y, r = arrays.discs[arrays.disc_starts[w]]
            assert (np.hypot(*(local[inside] - (x, y)).T) + RADIUS <= r + 1e-9).all()


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_ends_come_by_what_their_ways_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = forest().tree("walk")
    ends = end_arrays(tree, tree_arrays(tree, prepared_in(OPEN).actions))
    x, y, reach = *rng.uniform(-5.0, 5.0, 2).tolist(), float(rng.uniform(0.2, 2.0))
    far, out = rng.uniform(-9.0, 9.0, 2), np.zeros(20_000, np.int64)
    count = best_first(ArrayHandle(ends), ArrayHandle(heap_for_ends()), x, y, reach, *far.tolist(), 1.4, 1.5, out)
    points = ends.ends.astype(np.float64)
    inside = np.hypot(points[:, 0] - x, points[:, 1] - y) <= reach
    values = points[:, 2] + 1.4 * np.hypot(*(far - points[:, :2]).T)
    wanted = {int(n): v for n, v in zip(ends.nodes[inside], values[inside], strict=True)}
    kept = {n: v for n, v in wanted.items() if v <= min(wanted.values()) + 1.5}
    found = out[:count].tolist()
    assert set(found) == set(kept)
    assert np.diff([kept[n] for n in found]).min(initial=0.0) >= 0.0


def test_a_tree_of_the_cheapest_ways_goes_straight_on_and_stops() -> None:
    table = prepared_in(OPEN).table
    moves = choose_moves(table, "walk", usual_behaviors(table, usual_roots(table)))
    tree = cheapest_tree(moves, Region.disc(9.0), Budget(20_000))
    names = [table.clips[a] for a in moves.actions.tolist()]
    children: dict[int, dict[str, int]] = {}
    for node, parent in enumerate(tree.parents.tolist()[1:], start=1):
        children.setdefault(parent, {})[names[tree.actions[node]]] = node
    node = 0
    for _ in range(4):
        assert "stop_walk" in children[node]
        node = children[node]["walk_forward"]
    stops = [n for n in range(1, len(tree)) if names[tree.actions[n]] == "stop_walk"]
    assert len(stops) > 0.45 * len(tree)
    assert not any(stop in children for stop in stops)


def test_of_two_ways_that_cost_the_same_the_tree_has_both_or_it_is_full() -> None:
    table = prepared_in(OPEN).table
    moves = choose_moves(table, "stand", usual_behaviors(table, usual_roots(table)))
    tree = cheapest_tree(moves, Region.disc(9.0), Budget(5_000))
    prices = np.zeros(len(tree))
    own = moves.costs + 0.2 * np.abs(table.moves[moves.actions, 2])
    for node in range(1, len(tree)):
        prices[node] = prices[tree.parents[node]] + own[tree.actions[node]]
    inner = np.unique(tree.parents[tree.states != table.state("stand")])
    walking = np.flatnonzero(tree.states == table.state("walk"))
    leaves = np.setdiff1d(walking, inner)
    # all that was gone on from costs no more than all that was not
    assert prices[np.intersect1d(walking, inner)].max() <= prices[leaves].min() + 1e-9


def test_subgoals_follow_a_field_down_to_the_goal() -> None:
    # a corridor in the shape of an L: along x, and then along y
    lengths = np.full((1, 20, 20), np.inf, np.float32)
    lengths[0, 1, :19] = 18.0 + 18.0 - np.arange(19)
    lengths[0, 1:19, 18] = np.arange(17, -1, -1)
    handle = ArrayHandle(RouteArrays(lengths, np.array([0.0, 0.0, 1.0])))
    x, y, final = next_goal(handle, 0, 1.5, 1.5, 18.5, 18.5, 6.5)
    assert (x, y, final) == (8.5, 1.5, False)
    x, y, final = next_goal(handle, 0, 15.5, 1.5, 18.5, 18.5, 6.5)
    assert (x, final) == (18.5, False)
    assert 4.0 < y < 6.0
    assert next_goal(handle, 0, 18.5, 14.0, 18.5, 18.5, 6.5) == (18.5, 18.5, True)


def test_without_a_field_subgoals_lie_on_the_straight_line() -> None:
    handle = ArrayHandle(RouteArrays(np.zeros((0, 1, 1), np.float32), np.array([0.0, 0.0, 1.0])))
    assert next_goal(handle, -1, 0.0, 0.0, 30.0, 40.0, 10.0) == (pytest.approx(6.0), pytest.approx(8.0), False)
    assert next_goal(handle, -1, 0.0, 0.0, 3.0, 4.0, 10.0) == (3.0, 4.0, True)


def test_a_clip_is_led_on_from_another_pose_and_then_itself() -> None:
    before, after = walker().clips["walk_forward"], walker().clips["turn_left_90"]
    joined = led_on(before, after)
    gap = rotations.angle_between(joined.rotations[0, 1:], before.rotations[-1, 1:])
    assert gap.max() < 1e-6
    assert joined.root_positions[0, 2] == pytest.approx(before.root_positions[-1, 2])
    assert np.allclose(joined.rotations[8:], after.rotations[8:])
    assert np.array_equal(joined.root_positions[:, :2], after.root_positions[:, :2])
    assert joined.headings()[0] == pytest.approx(after.headings()[0], abs=0.1)


def test_a_clip_that_begins_where_another_ends_is_left_as_it_is() -> None:
    clips = walker().clips
    assert led_on(clips["walk_forward"], clips["walk_left_30"]) is clips["walk_left_30"]
    assert isinstance(led_on(clips["walk_forward"], clips["wait"]), Clip)
