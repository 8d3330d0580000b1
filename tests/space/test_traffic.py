"""Traffic: nothing that meets is missed, and little is claimed beyond what is there."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core import planar
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.errors import GaitwayError, LibraryError
from gaitway.library.actions import ActionTable, action_table
from gaitway.library.behavior import Library
from gaitway.library.body_discs import BodyDiscs, body_discs
from gaitway.motion.body import capsule_body, capsules
from gaitway.space._standing_kernels import body_hit
from gaitway.space._traffic_kernels import FOREVER, end_slot, first_slot, stay_hit, step_window_slots, traffic_hit
from gaitway.space.mover_sweep import Swept, cover_footprint
from gaitway.space.plan import Plan, PlanStep
from gaitway.space.traffic import SLOT, Traffic, placed_discs, step_slots, swept_step, swept_steps
from gaitway.world.exact import footprint_distance
from gaitway.world.obstacle import Mover, MoverPhase
from gaitway.world.shapes import Box, Cylinder

PreparedLibrary = tuple[Library, ActionTable, BodyDiscs]


@pytest.fixture(scope="module")
def prepared() -> PreparedLibrary:
    library = load_cast("person", behaviors=["stand", "start_walk", "walk_forward", "walk_left_45", "stop_walk"])
    table = action_table(library)
    return library, table, body_discs(library, table)


def walk(prepared: PreparedLibrary, pose: tuple[float, float, float], time: float, behaviors: list[str]) -> Plan:
    _, table, _ = prepared
    steps, here = [], np.array(pose)
    for name in behaviors:
        action = int(np.flatnonzero(table.behavior == table.index(name))[0])
        steps.append(PlanStep(name, table.clips[action], (float(here[0]), float(here[1]), float(here[2])), time))
        here, time = planar.compose(here, table.moves[action]), time + float(table.durations[action])
    return Plan(tuple(steps), (float(here[0]), float(here[1]), float(here[2])), time, 0.0)


WALK = ["start_walk", "walk_forward", "walk_left_45", "walk_forward", "stop_walk"]


def test_slots_are_half_open() -> None:
    assert [first_slot(t) for t in (-1.0, 0.0, 0.0999999999, 0.1, 0.3, 0.15)] == [0, 0, 1, 1, 3, 1]
    assert [end_slot(t) for t in (0.1, 0.1000000001, 0.3, 0.31)] == [1, 1, 3, 4]


def test_nobody_is_nowhere() -> None:
    assert traffic_hit(Traffic().arrays, 3, 0.0, 0.0, 1.0, -1) == -1
    assert stay_hit(Traffic().arrays, 3, 0.0, 0.0, 1.0) == -1


def test_steps_cover_the_discs_of_their_windows(prepared: PreparedLibrary) -> None:
    _, table, discs = prepared
    first_step, *others = walk(prepared, (3.2, -1.1, 2.0), 0.37, WALK).steps
    steps = [replace(first_step, speed=0.8), *others]
    assert swept_steps([], table, discs) == []
    for step, swept in zip(steps, swept_steps(steps, table, discs), strict=True):
        action = table.clips.index(step.clip)
        first, end = discs.window_starts[action : action + 2]
        starts = discs.timed_starts[first : end + 1]
        for got in (swept, swept_step(step, table, discs)):
            assert (got.around == placed_discs(step.pose, discs.window_around[first:end])).all()
            assert (got.discs == placed_discs(step.pose, discs.timed[starts[0] : starts[-1]])).all()
            assert (got.starts == starts - starts[0]).all() and (got.kinds == -1).all()
            assert (got.slots == step_slots(step, discs, action)).all()


def test_a_planned_body_is_within_its_discs(prepared: PreparedLibrary) -> None:
    library, table, discs = prepared
    plan = walk(prepared, (3.2, -1.1, 2.0), 0.37, WALK)
    traffic = Traffic()
    owner = traffic.enroll("walker")
    traffic.add_plan(owner, plan, table, discs)
    arrays, radii = traffic.arrays, capsule_body(library.skeleton).radii
    for step in plan.steps:
        clip = library.clips[step.clip]
        move = planar.compose(step.pose, planar.inverse(clip.planar_path()[0]))
        places = planar.transform_points(move, capsules(clip)[..., :2])
        for frame in range(len(clip)):
            slot = first_slot(step.time + frame / clip.fps)
            for segment in places[frame]:
                for point in (segment[0], segment.mean(axis=0), segment[1]):
                    assert traffic_hit(arrays, slot, *point, 1e-3, -1) == owner
    late = first_slot(plan.end_time + 0.3)
    assert traffic_hit(arrays, late, *plan.end_pose[:2], 0.3, -1) == -1
    assert radii.max() < 0.5


@settings(max_examples=15, deadline=None)
@given(x=st.floats(-2.0, 4.0), y=st.floats(-3.0, 3.0), heading=st.floats(-3.1, 3.1), late=st.floats(0.0, 2.0))
def test_two_bodies_that_meet_are_noticed(
    prepared: PreparedLibrary, x: float, y: float, heading: float, late: float
) -> None:
    """Where the windows of one meet nothing of the other, capsules sampled densely never overlap."""
    library, table, discs = prepared
    a, b = walk(prepared, (0.0, 0.0, 0.0), 0.0, WALK), walk(prepared, (x, y, heading), late, WALK)
    traffic = Traffic()
    traffic.add_plan(traffic.enroll("a"), a, table, discs)
    assert free(prepared, traffic, b) <= (gap(library, a, b) > 0.0)


def free(prepared: PreparedLibrary, traffic: Traffic, plan: Plan) -> bool:
    """Whether a plan meets nobody, asked as the search does."""
    _, table, discs = prepared
    arrays = traffic.arrays
    for step in plan.steps:
        action = table.clips.index(step.clip)
        for w in range(discs.window_starts[action], discs.window_starts[action + 1]):
            begin, end = step.time + discs.window_times[w]
            for x, y, r in placed_discs(step.pose, discs.timed[discs.timed_starts[w] : discs.timed_starts[w + 1]]):
                for slot in range(first_slot(begin), end_slot(end)):
                    if traffic_hit(arrays, slot, x, y, r, -1) >= 0:
                        return False
    return True


def gap(library: Library, a: Plan, b: Plan) -> float:
    """Least distance in plan between two bodies, over ends and middles of capsules at the rate of clips [m]."""
    radii = capsule_body(library.skeleton).radii
    apart = radii[:, None] + radii[None, :]
    least = math.inf
    for time in np.arange(max(a.steps[0].time, b.steps[0].time), min(a.end_time, b.end_time), 1.0 / 30.0):
        points = [sample(library, plan, float(time)) for plan in (a, b)]
        away = np.linalg.norm(points[0][:, None, :, None] - points[1][None, :, None], axis=-1).min(axis=(2, 3))
        least = min(least, float((away - apart).min()))
    return least


def sample(library: Library, plan: Plan, time: float) -> np.ndarray:
    """Ends and middles of the capsules, (C, 3, 2), at the frame nearest to a time."""
    step = next(s for s in reversed(plan.steps) if s.time <= time + 1e-9)
    clip = library.clips[step.clip]
    frame = min(round((time - step.time) * clip.fps), len(clip) - 1)
    key = (id(clip),)
    if key not in _CAPSULES:
        _CAPSULES[key] = planar.transform_points(planar.inverse(clip.planar_path()[0]), capsules(clip)[..., :2])
    ends = planar.transform_points(step.pose, _CAPSULES[key][frame])
    return np.stack([ends[:, 0], ends.mean(axis=1), ends[:, 1]], axis=1)


_CAPSULES: dict[tuple[int], np.ndarray] = {}


def test_bodies_far_apart_do_not_meet(prepared: PreparedLibrary) -> None:
    _, table, discs = prepared
    traffic = Traffic()
    traffic.add_plan(traffic.enroll("a"), walk(prepared, (0.0, 0.0, 0.0), 0.0, WALK), table, discs)
    beside = walk(prepared, (0.0, 1.1, 0.0), 0.0, WALK)
    assert free(prepared, traffic, beside), "1.1 m to the side is room enough"
    assert not free(prepared, traffic, walk(prepared, (0.0, 0.2, 0.0), 0.0, WALK))
    assert free(prepared, traffic, walk(prepared, (0.0, 0.0, 0.0), 3.0, WALK)), "3 s later the place is free"


MOVER = Mover.of(Box((0.0, 0.0), (2.0, 0.6), 1.0), [1.0, 3.0, 4.0], [[0, 0, 0], [6, 2, 1.5], [6, 2, 4.0]], name="cart")


def test_movers_are_covered_at_all_times() -> None:
    traffic = Traffic()
    owner = traffic.add_mover(MOVER)
    arrays = traffic.arrays
    inside = np.random.default_rng(1).uniform((-1.0, -0.3), (1.0, 0.3), (40, 2))
    for time in np.linspace(0.0, 6.0, 173):
        for x, y in planar.transform_points(MOVER.pose(time), inside):
            assert traffic_hit(arrays, first_slot(time), x, y, 1e-6, -1) == owner


def test_movers_are_covered_tightly() -> None:
    traffic = Traffic()
    traffic.add_mover(MOVER)
    for time in np.linspace(0.0, 6.0, 61) + 0.05:
        points = np.random.default_rng(2).uniform((-3.0, -3.0), (9.0, 5.0), (200, 2))
        away = footprint_distance([MOVER.at(float(time)).shape.footprint()], points)
        for (x, y), distance in zip(points, away, strict=True):
            if traffic.hit(float(time), x, y, 1e-6) is not None:
                assert distance < 0.1 + 0.1 + 0.09 * 7.0, "discs, half a part, and where it is within the slot"
    assert traffic.hit(5.0, 6.0, 2.0, 0.1) == "cart"


def test_a_disc_is_one_disc() -> None:
    assert cover_footprint(Cylinder((1.0, 2.0), 0.7, 1.0).footprint()).tolist() == [[1.0, 2.0, 0.7]]


def test_phases_come_and_go() -> None:
    phases = (
        MoverPhase(0.0, Cylinder((0.0, 0.0), 0.2, 4.0), "passable"),
        MoverPhase(5.0, Box((2.0, 0.0), (4.0, 0.8), 3.0), "wall"),
        MoverPhase(6.5, Box((2.0, 0.0), (4.0, 0.3), 0.3), "jump"),
    )
    traffic = Traffic(("duck", "jump"))
    traffic.add_mover(Mover(phases, np.array([0.0]), np.array([[10.0, 5.0, 0.0]]), "tree"))
    assert [traffic.hit(t, 12.0, 5.0, 0.1) for t in (0.0, 4.9, 5.0, 6.5, 1000.0)] == [None, None, *["tree"] * 3]
    assert traffic.hit(6.0, 12.0, 5.0, 0.1, "jump") == "tree", "a wall still"
    assert traffic.hit(7.0, 12.0, 5.0, 0.1, "jump") is None
    assert traffic.hit(7.0, 12.0, 5.0, 0.1, "duck") == "tree"
    assert traffic.hit(7.0, 12.0, 5.35, 0.1) is None
    assert traffic.arrays.last < 100, "nothing changes after it has fallen"


def test_what_moves_beyond_the_horizon_comes_when_it_is_wanted() -> None:
    traffic = Traffic(horizon=10.0)
    traffic.add_mover(Mover.of(Cylinder((0.0, 0.0), 0.5, 1.0), [0.0, 100.0], [[0, 0, 0], [100, 0, 0]], name="ball"))
    assert traffic.hit(9.0, 9.0, 0.0, 0.1) == "ball" and traffic.hit(50.0, 50.0, 0.0, 0.1) is None
    traffic.extend(60.0)
    assert traffic.hit(9.0, 9.0, 0.0, 0.1) == "ball" and traffic.hit(50.0, 50.0, 0.0, 0.1) == "ball"
    traffic.extend(200.0)
    assert traffic.hit(10_000.0, 100.0, 0.0, 0.1) == "ball"


def test_who_stays_and_who_goes() -> None:
    traffic = Traffic()
    a, b = traffic.enroll("a"), traffic.enroll("b")
    traffic.add_standing(a, [[0.0, 0.0, 0.3]], 2.0)
    traffic.add_standing(b, [[5.0, 0.0, 0.3]], 0.0, 1.0)
    assert [traffic.hit(t, 0.0, 0.2, 0.1) for t in (1.9, 2.0, 1e5)] == [None, "a", "a"]
    assert [traffic.hit(t, 5.0, 0.2, 0.1) for t in (0.0, 0.95, 1.0)] == ["b", "b", None]
    assert stay_hit(traffic.arrays, 0, 0.0, 0.0, 0.1) == a, "it comes later"
    assert stay_hit(traffic.arrays, 10, 5.0, 0.0, 0.1) == -1
    traffic.remove(a)
    assert traffic.hit(3.0, 0.0, 0.0, 1.0) is None and traffic.hit(0.0, 5.0, 0.0, 0.1) == "b"


def test_plain_and_compiled_agree_after_many_changes() -> None:
    """Against a list of discs, with owners that come and go until chains are packed and grown."""
    rng = np.random.default_rng(3)
    traffic, kept = Traffic(), {}
    for owner in range(60):
        traffic.enroll(str(owner))
        discs = np.column_stack([rng.uniform(-8.0, 8.0, (50, 2)), rng.uniform(0.05, 0.6, 50)])
        for k, disc in enumerate(discs):
            traffic.add_standing(owner, disc, k * SLOT, (k + rng.integers(1, 9)) * SLOT)
        spans = traffic._groups_of[owner]
        ends = [(owner, *traffic._groups[a, 4:6]) for a, _ in spans]
        kept[owner] = np.column_stack([discs, ends])
        if owner % 3:
            gone = int(rng.choice(list(kept)))
            traffic.remove(gone)
            del kept[gone]
    arrays = traffic.arrays
    u, v, s, owners, first, end = np.concatenate(list(kept.values())).T
    for _ in range(3000):
        slot, (x, y), r = int(rng.integers(0, 60)), rng.uniform(-9.0, 9.0, 2), float(rng.uniform(0.0, 0.8))
        near = owners[(first <= slot) & (slot < end) & ((u - x) ** 2 + (v - y) ** 2 < (s + r) ** 2)]
        found = traffic_hit(arrays, slot, x, y, r, -1)
        assert found in near if len(near) else found == -1


def test_wrong_input_is_refused(prepared: PreparedLibrary) -> None:
    _, table, discs = prepared
    traffic = Traffic()
    owner = traffic.enroll("a")
    with pytest.raises(GaitwayError, match="stands from"):
        traffic.add_standing(owner, [[math.nan, 0.0, 1.0]], 0.0)
    with pytest.raises(LibraryError, match="no clip 'none'"):
        traffic.add_plan(
            owner, Plan((PlanStep("stand", "none", (0.0, 0.0, 0.0), 0.0),), (0.0, 0.0, 0.0), 1.0, 0.0), table, discs
        )
    assert FOREVER > 1e9


def test_who_was_cut_away_wholly_leaves_nothing_behind() -> None:
    """Who breaks off a walk at its start covers nothing any more, also when traffic is packed."""
    traffic = Traffic()
    gone, stays = traffic.enroll("gone"), traffic.enroll("stays")
    traffic.add_standing(gone, [[1.0, 1.0, 0.3]], 5.0, 9.0)
    traffic.cut(gone, 5.0)
    assert traffic.held(gone)[0].around.shape == (0, 3)
    for swept in traffic.held(gone):
        traffic.add_swept(gone, swept)
    for number in range(1200):
        traffic.add_standing(stays, [[number % 7, 3.0, 0.3]], float(number), number + 1.0)
    traffic.remove(stays)
    other = traffic.enroll("other")
    traffic.add_standing(other, [[4.0, 4.0, 0.3]], 0.0)
    assert traffic.hit(6.0, 1.0, 1.0, 0.3) is None
    assert traffic.hit(6.0, 4.0, 4.0, 0.3) == "other"


def test_who_breaks_off_is_not_in_its_own_way() -> None:
    traffic = Traffic()
    owner = traffic.enroll("ada")
    traffic.add_standing(owner, [[1.0, 1.0, 0.3]], 5.0, 5.3)
    traffic.add_standing(owner, [[2.0, 1.0, 0.3]], 5.3, 5.6)
    before = traffic.cut(owner, 5.17)
    assert traffic.hit(5.05, 1.0, 1.0, 0.1) == "ada"
    assert traffic.hit(5.17, 1.0, 1.0, 0.1) is None
    assert traffic.hit(5.4, 2.0, 1.0, 0.1) is None
    for swept in before:
        traffic.add_swept(owner, swept)
    assert traffic.hit(5.17, 1.0, 1.0, 0.1) == "ada"
    assert traffic.hit(5.25, 1.0, 1.0, 0.1) is None


def test_windows_have_the_slots_of_their_times() -> None:
    times = np.random.default_rng(1).uniform(-0.5, 9.0, (50, 1)) + np.array([0.0, 0.08])
    times[:3] = [[0.1, 0.2], [0.3, 0.3], [0.0999999999, 0.1]]
    slots = np.empty((50, 2), dtype=np.int64)
    step_window_slots(times, slots)
    assert slots.tolist() == [[first_slot(a), max(end_slot(b), first_slot(a) + 1)] for a, b in times.tolist()]


def test_groups_of_a_chunk_begin_one_after_another() -> None:
    traffic = Traffic()
    order = [4, 1, 7, 2, 2, 5]
    slots = np.array([[k, k + 1] for k in order])
    around = np.column_stack([np.arange(6.0), np.zeros(6), np.full(6, 0.2)])
    traffic.add_swept(traffic.enroll("ann"), Swept(around, around, np.arange(7), slots, np.full(6, -1)))
    arrays = traffic.arrays
    for first, end in arrays.chunks[: traffic._counts[2], :2].tolist():
        assert (np.diff(arrays.groups[first:end, 4]) >= 0).all()
    assert [stay_hit(arrays, 0, x, 0.0, 0.1) for x in range(6)] == [0] * 6
    assert [traffic_hit(arrays, slot, float(x), 0.0, 0.1, -1) for x, slot in enumerate(order)] == [0] * 6


@pytest.mark.parametrize("seed", range(4))
def test_who_comes_to_a_body_is_who_comes_to_the_first_of_its_discs_that_anybody_meets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    traffic = Traffic()
    for k in range(25):
        owner, count = traffic.enroll(f"p{k}"), int(rng.integers(1, 30))
        way = rng.uniform(0.0, 12.0, 2) + np.cumsum(rng.normal(0.0, 0.12, (count, 2)), axis=0)
        around = np.column_stack([way, np.full(count, 0.25)])
        first = int(rng.integers(0, 400))
        slots = first + np.arange(count)[:, None] + np.array([0, 1])
        traffic.add_swept(owner, Swept(around, around, np.arange(count + 1), slots, np.full(count, -1)))
        if k % 3 == 0:
            traffic.add_standing(owner, around[-1:], 0.1 * (first + count))
        elif k % 3 == 1:
            traffic.add_standing(owner, around[-1:], 0.1 * (first + count), 0.1 * (first + count) + rng.uniform(0.1, 9))
        if k % 5 == 0:
            traffic.cut(owner, 0.1 * (first + count // 2))
    arrays, met = traffic.arrays, 0
    for _ in range(300):
        slot, middle = int(rng.integers(-5, 480)), rng.uniform(0.0, 12.0, 2)
        discs = np.column_stack([middle + rng.normal(0.0, 0.2, (3, 2)), rng.uniform(0.05, 0.3, 3)])
        hits = [stay_hit(arrays, slot, x, y, r) for x, y, r in discs.tolist()]
        expected = next((owner for owner in hits if owner >= 0), -1)
        assert body_hit(ArrayHandle(arrays), slot, discs) == expected
        met += expected >= 0
    assert 30 < met < 270
    assert body_hit(ArrayHandle(arrays), 0, np.empty((0, 3))) == -1
    assert body_hit(ArrayHandle(Traffic().arrays), 0, np.ones((1, 3))) == -1
