"""Live crowds in throngs: who joins the dynamics and leaves it, bodies at hand-overs, records and saved states."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numba
import numpy as np
import pytest

import gaitway
from gaitway.cast.catalog import load_cast
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import TreeError
from gaitway.crowd.throng.bodies import smooth_paths
from gaitway.live import Arrived, LiveCrowd, LiveOptions, Stuck
from gaitway.live.mixing import rules
from gaitway.live.mixing.handover import BLEND, HandOvers
from gaitway.live.mixing.recording import DenseRecord
from gaitway.live.mixing.simulation import LiveSimulation
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.limits import joint_limits, violations
from gaitway.scene import scene_from_dict
from gaitway.take.model import Take
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from live_crowds import FRAME, OPEN, door, walker

PLAIN = LiveOptions(dynamics="mixed", upper_body=False, speed_spread=0.0)


def two_way(each: int, x: float = 4.0, far: float = 4.5) -> tuple[FloatArray, FloatArray]:
    """Starts and goals of people who come from both sides."""
    ys = 0.8 * (np.arange(each) - 0.5 * (each - 1))
    left = np.column_stack([np.full(each, -x), ys, np.zeros(each)])
    right = np.column_stack([np.full(each, x), ys, np.full(each, np.pi)])
    starts = np.concatenate([left, right])
    return starts, np.concatenate([right[:, :2] * [far / x, 1.0], left[:, :2] * [far / x, 1.0]])


class Played(NamedTuple):
    """What a crowd did."""

    joints: FloatArray
    """Positions of all joints in each frame; (F, N, J, 3)."""
    inside: list[int]
    """People in the throng in each frame."""
    events: list[object]
    take: Take
    seconds: float


@pytest.fixture(scope="module")
def throng() -> Iterator[Played]:
    """Four people against four at a door that one can pass at a time."""
    with gaitway.live(door(0.9), walker(), seed=1, options=PLAIN) as crowd:
        crowd.add_many(*two_way(4))
        shown, inside, events = [], [], list[object]()
        while crowd.time < 60.0 and not (inside and crowd.arrived().all()):
            crowd.step(FRAME)
            shown.append(crowd.joints().positions)
            inside.append(crowd.counts.in_throng)
            events += crowd.events()
        yield Played(np.array(shown), inside, events, crowd.take(), crowd.time)


@pytest.mark.slow
def test_people_join_where_it_is_dense_and_all_arrive(throng: Played) -> None:
    assert throng.inside[0] == 0
    assert max(throng.inside) >= 4
    assert sum(isinstance(event, Arrived) for event in throng.events) == 8
    assert throng.seconds < 40.0


@pytest.mark.slow
def test_bodies_go_on_at_hand_overs(throng: Played) -> None:
    speeds = np.linalg.norm(np.diff(throng.joints, axis=0), axis=-1) / FRAME
    assert speeds.max() < 12.0  # a foot that swings fast in a throng; feet that jumped would be twice as fast
    assert speeds[:, :, 0].max() < 3.0  # the pelvis


@pytest.mark.slow
def test_whole_bodies_stay_apart_in_a_throng(throng: Played) -> None:
    """Limb by limb, in every frame: trunks, arms and thighs, and feet; bodies that were not parted met by 15 cm."""
    deep = penetrations(throng.take)
    assert deep.max() < 0.07
    assert (deep > 0.01).mean() < 0.005  # of people and frames


def penetrations(take: Take) -> FloatArray:
    """How deep each character is in another at most, frame by frame [m]; (F, N)."""
    clips = [take.clip(number, 30.0) for number in range(len(take.names))]
    body, frames = capsule_body(clips[0].skeleton), min(len(clip) for clip in clips)
    axes = np.stack([capsules(clip, body)[:frames] for clip in clips], axis=1)  # (F, N, C, 2, 3)
    radii = body.radii[:, None] + body.radii[None]
    out = np.zeros((frames, len(clips)))
    t = np.linspace(0.0, 1.0, 5)[:, None]
    for frame, now in enumerate(axes):
        points = now[:, :, None, 0] + t * (now[:, :, None, 1] - now[:, :, None, 0])  # (N, C, 5, 3)
        for one, other in itertools.combinations(range(len(clips)), 2):
            if np.hypot(*(points[one, 0, 0] - points[other, 0, 0])[:2]) < 1.5:
                away = np.linalg.norm(points[one][:, None, :, None] - points[other][None, :, None], axis=-1)
                deep = float((radii - away.min(axis=(2, 3))).max())
                out[frame, [one, other]] = np.maximum(out[frame, [one, other]], deep)
    return out


@pytest.mark.slow
def test_the_take_is_what_was_shown(throng: Played) -> None:
    take = throng.take
    for number in (0, 5):
        clip = take.clip(number)
        count = min(len(clip) - 1, len(throng.joints))
        ours = clip.joint_positions()[1 : count + 1]
        apart = np.abs(ours - throng.joints[:count, number]).max(axis=(1, 2))
        assert np.quantile(apart, 0.97) < 0.002, number  # joins of clips are led on both sides of them in takes
        assert apart.max() < 0.15
    assert any("throng" in str(name) for name in take.behaviors)


@pytest.mark.slow
def test_the_same_calls_give_the_same_bytes_with_any_number_of_threads() -> None:
    seen, before = [], numba.get_num_threads()
    for threads in (1, min(2, before)):
        numba.set_num_threads(threads)
        with gaitway.live(door(0.9), walker(), seed=3, options=PLAIN, dynamics="crowd") as crowd:
            crowd.add_many(*two_way(3, x=2.0))
            for _ in range(60):
                crowd.step(FRAME)
            assert crowd.counts.in_throng == 6
            seen.append(crowd.joints().positions)
    numba.set_num_threads(before)
    assert np.array_equal(*seen)


@pytest.mark.slow
def test_a_restored_throng_goes_on_with_the_same_bytes(tmp_path: object) -> None:
    def made() -> LiveCrowd:
        crowd = gaitway.live(door(0.9), walker(), seed=3, options=PLAIN)
        crowd.add_many(*two_way(4, x=2.0))
        return crowd

    path = f"{tmp_path}/throng.gwlive"
    with made() as crowd, made() as other:
        for _ in range(45):
            crowd.step(FRAME)
        assert crowd.counts.in_throng > 2
        crowd.save(path)
        other.restore(path)
        assert np.array_equal(crowd.joints().positions, other.joints().positions)
        for _ in range(45):
            crowd.step(FRAME)
            other.step(FRAME)
        assert np.array_equal(crowd.joints().positions, other.joints().positions)
        assert crowd.take().clip(2).root_positions == pytest.approx(other.take().clip(2).root_positions)
    with gaitway.live(door(0.9), walker(), seed=3, dynamics="clips") as clips, pytest.raises(gaitway.GaitwayError):
        clips.restore(path)


def test_clips_alone_keep_everybody_on_clips() -> None:
    with gaitway.live(door(0.9), walker(), seed=1, dynamics="clips", options=PLAIN) as crowd:
        crowd.add_many(*two_way(4, x=1.5))
        for _ in range(20):
            crowd.step(FRAME)
        assert crowd.counts.in_throng == 0
    with pytest.raises(TreeError, match="dynamics 'flock' of live characters; write mixed, clips or crowd"):
        LiveOptions(dynamics="flock")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("planner", "dynamics"), [("crowd", "mixed"), ("behavior", "clips")])
def test_scenes_of_throngs_live_as_throngs_unless_told_otherwise(planner: str, dynamics: str) -> None:
    people = {"count": 2, "start_area": [1, 1, 3, 5], "goal_area": [7, 1, 9, 5]}
    scene = scene_from_dict(
        {"gaitway": 1, "bounds": [0, 0, 10, 6], "plan": {"planner": planner}, "characters": [people]}
    )
    with gaitway.live(scene) as crowd:
        assert crowd.options.dynamics == dynamics
    with gaitway.live(scene, dynamics="clips") as crowd:
        assert crowd.options.dynamics == "clips"


@pytest.mark.slow
def test_who_needs_a_skill_or_is_no_person_stays_on_clips() -> None:
    fence = World((-6.0, -3.0, 6.0, 3.0), (Obstacle(Box((0.0, 0.0), (0.2, 6.0), 0.4), kind="jump"),))
    with gaitway.live(fence, load_cast("person"), seed=1, dynamics="crowd") as crowd:
        crowd.add((-3.0, 0.0, 0.0), (3.0, 0.0))  # over the fence: there is no way on the floor
        crowd.add((-3.0, 2.0, 0.0), (-1.0, -2.0))
        for _ in range(20):
            crowd.step(FRAME)
        assert crowd.counts.in_throng == 1
        crowd.send(1, (3.0, 1.0))  # it stops, and goes on by clips
        while crowd.time < 8.0 and crowd.counts.in_throng:
            crowd.step(FRAME)
        assert crowd.counts.in_throng == 0


@pytest.mark.slow
def test_who_has_room_again_goes_back_to_clips_in_stride() -> None:
    with gaitway.live(World((-3.0, -6.0, 30.0, 6.0)), walker(), seed=1, options=PLAIN) as crowd:
        ys = 0.8 * np.arange(5) - 1.6
        crowd.add_many(np.column_stack([np.zeros(5), ys, np.zeros(5)]), np.column_stack([np.full(5, 28.0), 3.4 * ys]))
        before = crowd.joints().positions
        left, fastest = 0, 0.0
        inside = np.zeros(5, np.bool_)
        while crowd.time < 18.0 and left < 2:
            crowd.step(FRAME)
            now = crowd.joints().positions
            fastest = max(fastest, float(np.linalg.norm(now - before, axis=-1).max()) / FRAME)
            before, was = now, inside
            mixture = crowd._started().mixture
            assert mixture is not None
            inside = mixture.walks(np.arange(5))
            left += int((was & ~inside).sum())
        assert left >= 2
        assert fastest < 12.0


@pytest.mark.slow
def test_the_world_changes_around_a_throng_and_people_come_and_go() -> None:
    with gaitway.live(OPEN, walker(), seed=1, options=PLAIN, dynamics="crowd") as crowd:
        ids = crowd.add_many(*two_way(3, x=3.0))
        for _ in range(15):
            crowd.step(FRAME)
        crate = crowd.add_obstacle(Obstacle(Box((0.0, 0.0), (0.5, 2.0), 2.0)))
        crowd.remove(int(ids[0]))
        new = crowd.add((0.0, 6.0, 0.0), (0.0, 8.0))
        for _ in range(10):
            crowd.step(FRAME)
        crowd.move_obstacle(crate, 0.0, 1.0)
        crowd.hold(int(ids[1]))
        while crowd.time < 25.0 and not crowd.arrived().all():
            crowd.step(FRAME)
        assert crowd.arrived().all()
        assert new in crowd and int(ids[0]) not in crowd
        assert np.isfinite(crowd.joints().positions).all()
        crowd.release(int(ids[1]))
        crowd.step(FRAME)
        assert not crowd.arrived(int(ids[1]))[0]


@pytest.mark.slow
def test_who_meets_somebody_in_a_passage_is_told_by_whom_it_is_blocked_and_one_steps_back_out() -> None:
    walls = tuple(Obstacle(Box((0.0, side * 1.29), (8.0, 2.0), 2.0)) for side in (-1.0, 1.0))
    tube = World((-6.0, -2.2, 6.0, 2.2), walls)  # 0.58 m wide: nobody passes anybody in it
    with gaitway.live(tube, walker(), seed=1, options=PLAIN, dynamics="crowd") as crowd:
        crowd.add_many([[-5.0, 0.0, 0.0], [5.0, 0.0, np.pi]], [[5.0, 0.0], [-5.0, 0.0]], names=["ada", "ben"])
        while crowd.time < 30.0 and not crowd.hindered():
            crowd.step(FRAME)
        told = [event for event in crowd.hindered() if isinstance(event, Stuck)]
        assert told
        for event in told:
            other = {"ada": "ben", "ben": "ada"}[event.name]
            assert event.by == crowd.id(other) and event.reason == f"'{other}' is in the way"
            assert event.seconds >= 6.0
        while crowd.time < 60.0 and not crowd.arrived().all():
            crowd.step(FRAME)
        assert crowd.arrived().all()


@pytest.mark.slow
def test_a_passage_that_nobody_can_resolve_is_named_with_who_blocks_whom() -> None:
    walls = tuple(Obstacle(Box((0.0, side * 1.29), (8.0, 2.0), 2.0)) for side in (-1.0, 1.0))
    tube = World((-16.0, -2.2, 16.0, 2.2), walls)  # 0.58 m wide: nobody passes anybody in it
    each = 10  # together more than step back for one another
    away = 4.8 + 0.9 * np.arange(each)
    starts = [[-x, 0.0, 0.0] for x in away] + [[x, 0.0, np.pi] for x in away]
    goals = [[x, 0.0] for x in away] + [[-x, 0.0] for x in away]
    names = [f"{side}{k}" for side in ("west", "east") for k in range(each)]
    with gaitway.live(tube, walker(), seed=1, options=PLAIN, dynamics="crowd") as crowd:
        crowd.add_many(starts, goals, names=names)
        while crowd.time < 20.0:
            crowd.step(FRAME)
        told = {event.name: event for event in crowd.hindered() if isinstance(event, Stuck)}
        x, ids = crowd.positions()[:, 0], [crowd.id(name) for name in names]
        assert len(told) > each // 2
        ahead = list[bool]()
        for name, event in told.items():
            me, other = names.index(name), ids.index(event.by)
            ahead.append(bool(x[other] > x[me] if name.startswith("west") else x[other] < x[me]))
            assert event.reason.startswith(f"'{names[other]}' is in the way")
            assert 5.0 < event.time < 20.0
        # they are held up by somebody ahead, of their own side or of the other; one who steps back by who is behind
        assert ahead.count(False) <= 0.2 * len(ahead)
        assert (np.diff(x[:each]) < 0.0).all() and (np.diff(x[each:]) > 0.0).all() and x[0] < x[each]


@pytest.mark.slow
def test_two_in_a_gap_with_walls_behind_are_told_who_blocks_whom_and_since_when() -> None:
    """A corridor 0.58 m wide is closed behind both: who steps back has the wall at its back, and nobody ever passes."""
    walls = tuple(Obstacle(Box((0.0, side * 1.29), (8.0, 2.0), 2.0)) for side in (-1.0, 1.0))
    tube = World((-6.0, -2.2, 6.0, 2.2), walls)
    with gaitway.live(tube, walker(), seed=1, options=PLAIN, dynamics="crowd") as crowd:
        starts, goals = [[-5.0, 0.0, 0.0], [5.0, 0.0, np.pi]], [[2.0, 0.0], [-2.0, 0.0]]
        crowd.add_many(starts, goals, tolerance=0.2, names=["ada", "ben"])
        while crowd.time < 10.0 and np.abs(crowd.positions()[:, 0]).max() > 1.4:
            crowd.step(FRAME)
        assert crowd.time < 10.0
        closed, told = crowd.time, dict[str, Stuck]()
        for side in (-1.0, 1.0):
            crowd.add_obstacle(Obstacle(Box((side * 2.6, 0.0), (0.4, 4.4), 2.0)))
        while crowd.time < 40.0:
            crowd.step(FRAME)
            for event in crowd.events():
                assert not isinstance(event, Arrived)
                if isinstance(event, Stuck):
                    told.setdefault(event.name, event)
            assert crowd.positions()[0, 0] < crowd.positions()[1, 0]
        assert set(told) == {"ada", "ben"}
        for name, other in (("ada", "ben"), ("ben", "ada")):
            event = told[name]
            assert event.by == crowd.id(other) and event.reason.startswith(f"'{other}' ")
            assert event.seconds >= 6.0
            assert closed < event.time - event.seconds < 20.0  # since when


def test_density_has_two_bounds() -> None:
    ring = np.array([[1.2 * np.cos(a), 1.2 * np.sin(a)] for a in np.arange(4) * np.pi / 2])
    crowded = rules.look(np.concatenate([[[0.0, 0.0]], ring]), np.zeros(5, np.bool_), np.ones(5, np.bool_))
    assert crowded.density[0] == pytest.approx(5.0 / (np.pi * 4.0))
    assert rules.joins(crowded, np.zeros(5, np.int64))[0] and not rules.is_open(crowded)[0]
    between = rules.look(
        np.array([[0.0, 0.0], [1.9, 0.0], [0.0, 1.9], [-1.9, 0.0]]), np.zeros(4, np.bool_), np.ones(4, np.bool_)
    )
    assert not rules.joins(between, np.zeros(4, np.int64))[0] and not rules.is_open(between)[0]
    lone = rules.look(np.array([[0.0, 0.0], [2.5, 0.0]]), np.array([True, False]), np.array([True, False]))
    assert rules.is_open(lone).all() and lone.nearest_walker.tolist() == [np.inf, 2.5]
    assert rules.joins(lone, np.array([0, rules.FAILURES])).tolist() == [False, True]
    assert rules.joins(lone, np.array([rules.FAILURES, 0])).tolist() == [False, False]  # the other one stands
    assert rules.joins(lone, np.array([rules.MANY_FAILURES, 0])).tolist() == [True, False]


def test_who_waits_at_a_door_faces_it() -> None:
    """Sideways people shuffle, and their legs are in the way of one another."""
    walls = tuple(Obstacle(Box((6.0, y), (0.3, 3.5), 2.4)) for y in (1.75, 6.25))
    simulation = LiveSimulation(World((0.0, 0.0, 12.0, 8.0), walls), 1, 0.0)
    k = np.arange(40)
    places, ahead = np.column_stack([4.8 - 0.7 * (k // 8), 1.2 + 0.8 * (k % 8)]), np.zeros(40)
    simulation.enter(k, places, ahead, np.full(40, 1.3), ahead)
    goals = np.column_stack([np.full(40, 11.0), places[:, 1]])
    simulation.let_walk(k, np.zeros((40, 2)), goals, np.full(40, 0.3), np.zeros(40, np.bool_))
    turned = []
    for _ in range(180):
        simulation.step(FRAME)
        way = np.array([6.0, 4.0]) - simulation.positions
        waits = (way[:, 0] > 0.3) & (np.hypot(*way.T) < 2.0) & (simulation.time > 3.0)
        turned.append(planar.wrap_angle(simulation.headings - np.arctan2(way[:, 1], way[:, 0]))[waits])
    every = np.abs(np.concatenate(turned))
    assert len(every) > 500
    assert np.median(every) < 0.6


def test_a_path_that_goes_on_evenly_is_followed_without_lag() -> None:
    path = np.zeros((1, 6))
    path[0, 2] = 1.0
    for k in range(1, 90):
        smooth_paths(path, np.array([[k * FRAME * 1.0, 0.0]]), np.array([0.5]), FRAME)
    assert path[0, :2].tolist() == pytest.approx([89 * FRAME, 0.0], abs=1e-6)
    assert path[0, 4] == pytest.approx(0.5, abs=1e-3)


def test_feet_are_not_led_under_the_floor_by_a_hand_over() -> None:
    walk = walker().clips["walk_forward"]
    skeleton, deepest = walk.skeleton, 0.0
    for frame in range(0, len(walk) - 12, 3):  # from one part of a stride to another
        source = walk.root_positions[frame : frame + 1], walk.rotations[frame : frame + 1]
        target = walk.root_positions[frame + 12 : frame + 13], walk.rotations[frame + 12 : frame + 13]
        blend = HandOvers(skeleton)
        blend.begin(np.array([3]), *source, *target)
        for _ in range(12):
            blend.go_on(FRAME, np.zeros((1, 6), np.bool_))
            at, world = forward_kinematics(skeleton, *blend.shown(*target))
            for point in skeleton.contact_points:
                there = at[:, point.joint] + rotations.rotate(world[:, point.joint], point.offset)
                deepest = max(deepest, -float(there[0, 2]))
    assert deepest < 0.01


def test_a_hand_over_bends_no_ankle_beyond_its_limits() -> None:
    walk, worst = walker().clips["walk_forward"], 0.0
    skeleton = walk.skeleton
    ankles = joint_limits(skeleton).only([skeleton.roles["left_ankle"], skeleton.roles["right_ankle"]])
    for frame in range(0, len(walk), 2):  # feet that rest keep their directions below a body that is far ahead, and low
        source = walk.root_positions[frame : frame + 1], walk.rotations[frame : frame + 1]
        low = walk.root_positions[:1] * (0.0, 0.0, 1.0) + source[0] * (1.0, 1.0, 0.0) + (0.5, 0.0, -0.1)
        target = low, walk.rotations[:1]
        blend = HandOvers(skeleton)
        blend.begin(np.array([3]), *source, *target)
        for _ in range(12):
            blend.go_on(FRAME, np.ones((1, 6), np.bool_))
            roots, turns = blend.shown(*target)
            shown = Clip(skeleton=skeleton, fps=30.0, root_positions=roots, rotations=turns)
            worst = max(worst, float(violations(shown, ankles).max()))
    assert worst < 1.0


def test_a_hand_over_begins_as_shown_ends_as_wanted_and_keeps_feet() -> None:
    clip, other = walker().clips["walk_forward"], walker().clips["wait"]
    skeleton = clip.skeleton
    source = clip.root_positions[4:5], clip.rotations[4:5]
    moved = np.array([[0.05, 0.02, 0.0]])
    target = other.root_positions[:1] + moved, other.rotations[:1]
    blend = HandOvers(skeleton)
    blend.begin(np.array([3]), *source, *target)
    roots, turns = blend.shown(*target)
    at = forward_kinematics(skeleton, roots, turns)[0]
    wanted = forward_kinematics(skeleton, *source)[0]
    assert at == pytest.approx(wanted, abs=0.004)
    ankle = skeleton.roles["left_ankle"]
    for _ in range(20):
        blend.go_on(FRAME, np.array([[True] * 3 + [False] * 3]))  # the left foot rests
    held = forward_kinematics(skeleton, *blend.shown(*target))[0]
    assert held[0, ankle, :2] == pytest.approx(wanted[0, ankle, :2], abs=0.01)
    assert not len(blend.over())
    for _ in range(round((BLEND + 0.4) / FRAME)):
        blend.go_on(FRAME, np.zeros((1, 6), np.bool_))
    roots, turns = blend.shown(*target)
    assert roots == pytest.approx(target[0], abs=1e-9)
    assert rotations.angle_between(turns, target[1]).max() < 1e-4
    assert blend.over().tolist() == [3] and not len(blend.slots)


def test_each_body_is_handed_over_by_itself_and_the_same_poses_are_found_once() -> None:
    clip, other = walker().clips["walk_forward"], walker().clips["wait"]
    source = clip.root_positions[:6], clip.rotations[:6]
    target = np.repeat(other.root_positions[:1], 6, axis=0), np.repeat(other.rotations[:1], 6, axis=0)

    def blend(count: int) -> HandOvers:
        made = HandOvers(clip.skeleton)
        made.begin(np.arange(count), *(some[:count] for some in (*source, *target)))
        made.go_on(FRAME, np.zeros((count, 6), np.bool_))
        return made

    every, first = blend(6), blend(1)
    roots, turns = every.shown(*target)
    alone = first.shown(target[0][:1], target[1][:1])
    assert np.array_equal(roots[:1], alone[0]) and np.array_equal(turns[:1], alone[1])
    moved = target[0].copy()
    moved[2] += 0.1, 0.0, 0.0
    again, fresh = every.shown(moved, target[1]), blend(6).shown(moved, target[1])
    assert np.array_equal(again[0], fresh[0]) and np.array_equal(again[1], fresh[1])
    assert not np.array_equal(again[0][2], roots[2]) and np.array_equal(again[1][3:], turns[3:])
    for _ in range(3):
        every.go_on(FRAME, np.zeros((6, 6), np.bool_))
    assert not np.array_equal(every.shown(moved, target[1])[1], again[1])


def test_who_is_held_up_within_its_tolerance_has_arrived() -> None:
    simulation, k = LiveSimulation(World((0.0, 0.0, 9.0, 6.0)), 1, 0.0), np.arange(3)
    places, still = np.array([[2.0, 3.0], [2.0, 1.0], [7.0, 3.0]]), np.zeros(3)
    simulation.enter(k, places, still, np.full(3, 1.3), still)
    goals = np.array([[2.4, 3.0], [5.0, 1.0], [7.4, 3.0]])
    simulation.let_walk(k, np.zeros((3, 2)), goals, np.full(3, 0.3), np.zeros(3, np.bool_))
    simulation._slow[:] = 1.5, 1.5, 0.5
    kept = simulation.kept_from_goals(k, np.full(3, 0.5), rules.CONTENT)
    assert kept.tolist() == [True, False, False]  # the second is far away, the third has not been held up for long
    simulation.rest(k[kept])
    assert simulation.arrived.tolist() == [True, False, False]
    assert rules.tries(np.array([0.0, 0.9, 1.1, 1.5])).tolist() == [0, 0, 1, 2]


def test_a_record_of_poses_is_kept_small_and_read_back() -> None:
    clip = walker().clips["walk_forward"]
    record = DenseRecord(60.0)
    for k in range(20):
        if record.due(k * FRAME):
            record.note(k * FRAME, 0, np.array([[2, 1]]), clip.root_positions[k : k + 1], clip.rotations[k : k + 1],
                        np.ones((1, 6), np.bool_))  # fmt: skip
    ((start, found),) = record.clips({0: clip.skeleton}, 30.0)[2, 1]
    assert start == 0.0 and len(found) == 20
    assert found.joint_positions() == pytest.approx(clip.joint_positions()[:20], abs=5e-4)
    saved = record.state()
    other = DenseRecord(60.0)
    other.restore(saved, {0: len(clip.skeleton)})
    assert np.array_equal(other.clips({0: clip.skeleton}, 30.0)[2, 1][0][1].rotations, found.rotations)
    with pytest.raises(ValueError, match="record of a throng"):
        other.restore({**saved, "sizes": saved["sizes"] + 1}, {0: len(clip.skeleton)})
