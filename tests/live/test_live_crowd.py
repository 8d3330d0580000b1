"""The live crowd as a game uses it: names, goals, obstacles, events, joints, saved states, several libraries."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gaitway
from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError, LiveError
from gaitway.core.rotations import rotate
from gaitway.library.behavior import Library
from gaitway.live import Arrived, Blocked, LiveCrowd, LiveEngine, LiveOptions, Refused, Removed, Stuck, live_forest
from gaitway.live.libraries import special_kinds
from gaitway.live.playing.check import overlaps
from gaitway.live.playing.saving import LiveState, write_state
from gaitway.space.prepared import planning_context
from gaitway.space.query import OTHER_PART
from gaitway.world.obstacle import Mover, Obstacle
from gaitway.world.shapes import Box, Cylinder, Polygon
from gaitway.world.world import World
from live_crowds import FRAME, OPEN, door, ring, walker


@cache
def pony() -> Library:
    """A horse that walks and stands."""
    return load_cast("horse")


@pytest.fixture
def crowd() -> Iterator[LiveCrowd]:
    with gaitway.live(OPEN, walker(), seed=1) as made:
        yield made


def play(crowd: LiveCrowd, seconds: float) -> int:
    """Go on for some time; how many discs of characters of any libraries overlapped."""
    met = 0
    for _ in range(round(seconds / FRAME)):
        crowd.step(FRAME)
        met += len(overlaps(crowd.positions(), crowd.options.radius))
    return met


@pytest.mark.slow
def test_the_package_can_be_called_and_imported_from() -> None:
    code = (
        "import sys, gaitway; assert 'gaitway.live' not in sys.modules; f = gaitway.live; assert callable(f);"
        "from gaitway.live import LiveCrowd; assert gaitway.live.LiveCrowd is LiveCrowd and callable(gaitway.live)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_gaitway_loads_nothing_heavy() -> None:
    code = "import sys, gaitway; assert not {'numba', 'scipy', 'gaitway.live', 'gaitway.studio'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_a_scene_is_played_as_the_engine_plays_it() -> None:
    scene = gaitway.load_scene("open_square")
    prepared = planning_context(scene.world).prepared(scene.characters[0])
    engine = LiveEngine(prepared, live_forest(prepared.table, special_kinds(scene.world)), seed=scene.seed)
    engine.add([c.start for c in scene.characters], [c.goal for c in scene.characters])
    with gaitway.live(scene, options=LiveOptions(speed_spread=0.0)) as crowd:
        for _ in range(45):
            engine.step(FRAME)
            crowd.step(FRAME)
        assert crowd.names == tuple(c.name for c in scene.characters)
        assert crowd.joints().positions.tobytes() == engine.joints().positions.tobytes()
        assert crowd.joints().rotations.tobytes() == engine.joints().rotations.tobytes()
    engine.close()


@pytest.mark.slow
def test_people_walk_at_speeds_of_their_own() -> None:
    scene = gaitway.load_scene("open_square")
    with gaitway.live(scene) as crowd, gaitway.live(scene) as again:
        for _ in range(150):
            crowd.step(FRAME)
            again.step(FRAME)
        assert crowd.joints().positions.tobytes() == again.joints().positions.tobytes()
        take = crowd.take()
        walked = [take.clips[k].name.startswith("walk") for k in take.segments.clip.tolist()]
        speeds = take.segments.speed[walked]
        assert len(set(speeds.tolist())) == 3 and speeds.min() < 0.85 and speeds.max() > 1.15
        # what is shown is what is recorded: clips are played at those speeds
        shown = crowd.joints().positions[:, 0, :2]
        (poses,) = take.poses(take.duration - 1e-6)
        recorded = poses.joint_transforms()[0][:, 0, :2]
        assert np.abs(shown - recorded).max() < 1e-3


def test_characters_have_ids_that_are_never_used_again_and_names(crowd: LiveCrowd) -> None:
    ann = crowd.add((0.0, 0.0, 0.0), (5.0, 0.0), name="ann")
    more = crowd.add_many([(0.0, 3.0, 0.0), (0.0, 6.0, 0.0)], [(5.0, 3.0), (5.0, 6.0)])
    assert crowd.ids.tolist() == [ann, *more.tolist()]
    assert crowd.names[0] == "ann" == crowd.name(ann)
    assert crowd.id("ann") == ann
    assert "ann" in crowd and ann in crowd and len(crowd) == 3
    crowd.remove("ann")
    again = crowd.add((0.0, 0.0, 0.0), (5.0, 0.0))
    assert again == 3
    assert "ann" not in crowd
    assert crowd.ids.tolist() == [1, 2, 3]
    assert crowd.library(again) == "person"
    assert np.allclose(crowd.positions(again)[0, :2], 0.0, atol=0.1)
    assert crowd.goals([1, 3]).tolist() == [[5.0, 3.0], [5.0, 0.0]]
    assert crowd.headings().shape == (3,) and crowd.roots().shape == (3, 3)


def test_arrivals_refusals_and_removals_are_told_once(crowd: LiveCrowd) -> None:
    ann = crowd.add((0.0, 0.0, 0.0), (4.0, 0.0), name="ann")
    assert crowd.add((0.1, 0.0, 0.0), (4.0, 0.0), name="bob") == -1
    (refused,) = crowd.events()
    assert isinstance(refused, Refused)
    assert (refused.name, refused.by) == ("bob", ann) and "'ann'" in refused.reason
    play(crowd, 10.0)
    (arrived,) = crowd.events()
    assert isinstance(arrived, Arrived) and arrived.id == ann and 0.0 < arrived.time <= 10.0
    assert np.hypot(arrived.position[0] - 4.0, arrived.position[1]) < 0.6
    assert crowd.arrived().tolist() == [True]
    crowd.send("ann", (0.0, 0.0))
    play(crowd, 10.0)
    assert [type(event) for event in crowd.events()] == [Arrived]
    crowd.remove(ann)
    (removed,) = crowd.events()
    assert isinstance(removed, Removed) and removed.name == "ann"


def test_who_cannot_reach_its_goal_is_blocked_and_stuck_and_says_by_what() -> None:
    wall = Obstacle(Box((0.0, 0.0), (0.4, 12.0), 2.0), name="wall")
    with gaitway.live(World((-6.0, -6.0, 6.0, 6.0), (wall,)), walker()) as crowd:
        crowd.add((-4.0, 0.0, 0.0), (4.0, 0.0), name="ann")
        play(crowd, 16.0)
        events = crowd.events()
        stuck = [event for event in events if isinstance(event, Stuck)]
        assert stuck and stuck[0].name == "ann" and stuck[0].seconds >= 5.9
        assert all(event.obstacle in (-1, 0) for event in stuck)
        hindered = [event for event in events if isinstance(event, Stuck | Blocked)]
        assert any("wall" in event.reason for event in hindered)
        (now,) = crowd.hindered()
        assert now == stuck[-1] and now.reason.startswith(OTHER_PART)
        crowd.send("ann", (-4.5, 2.0))
        assert crowd.hindered() == ()


def test_whoever_stands_at_a_goal_is_named(crowd: LiveCrowd) -> None:
    ann = crowd.add((4.0, 0.0, 0.0), (4.0, 0.0), name="ann")
    crowd.add((-4.0, 0.0, 0.0), (4.0, 0.0), name="bob")
    play(crowd, 20.0)
    found = [event for event in crowd.events() if isinstance(event, Stuck | Blocked)]
    assert all(event.by == ann and "'ann'" in event.reason for event in found)
    assert np.hypot(*(crowd.positions("bob")[0, :2] - crowd.positions("ann")[0, :2])) > 0.6


def test_obstacles_come_move_and_go(crowd: LiveCrowd) -> None:
    who = crowd.add((-8.0, 0.0, 0.0), (8.0, 0.0))
    play(crowd, 1.0)
    wall = crowd.add_obstacle(Obstacle(Box((2.0, 0.0), (0.4, 5.0), 2.0), name="wall"))
    assert crowd.obstacles[wall].name == "wall" and len(crowd.world.obstacles) == 1
    play(crowd, 1.0)
    crowd.move_obstacle(wall, 1.0, 1.0, 0.3)
    shape = crowd.obstacles[wall].shape
    assert isinstance(shape, Box) and shape.center == (1.0, 1.0) and shape.yaw == 0.3
    pond = crowd.add_obstacle(Obstacle(Polygon(((5.0, 5.0), (6.0, 5.0), (6.0, 6.0), (5.0, 6.0)), 1.0)))
    crowd.move_obstacle(pond, 0.0, -9.0)
    bounds = crowd.obstacles[pond].shape.footprint().bounds
    assert np.allclose(bounds, (-0.5, -9.5, 0.5, -8.5))
    play(crowd, 16.0)
    assert crowd.arrived(who).all()
    assert not [r.name for r in audit_take(crowd.take(14.0), crowd.world).rows if r.violations and r.name == "obstacle"]
    crowd.remove_obstacle(wall)
    ball = crowd.add_mover(Mover.of(Cylinder((0.0, 0.0), 0.3, 2.0), [0.0, 100.0], [[9.0, -9.0, 0.0], [9.0, 9.0, 0.0]]))
    assert list(crowd.obstacles) == [pond] and list(crowd.movers) == [ball]
    play(crowd, 0.2)
    crowd.remove_mover(ball)
    crowd.set_world(OPEN)
    play(crowd, 0.2)
    assert not crowd.obstacles and crowd.world is OPEN


@pytest.mark.slow
def test_a_fence_that_comes_up_is_jumped() -> None:
    person = load_cast("person")
    with gaitway.live(World((-8.0, -4.0, 8.0, 4.0)), person) as crowd:
        who = crowd.add((-6.0, 0.0, 0.0), (6.0, 0.0), name="ann")
        play(crowd, 1.0)
        crowd.add_obstacle(Obstacle(Box((0.0, 0.0), (0.1, 8.0), 0.4), "jump"))
        play(crowd, 18.0)
        assert crowd.names == ("ann",) and crowd.ids.tolist() == [who]
        assert crowd.positions(who)[0, 0] > 1.0


def test_characters_hold_and_are_released(crowd: LiveCrowd) -> None:
    crowd.add((-8.0, 0.0, 0.0), (8.0, 0.0), name="ann")
    play(crowd, 3.0)
    crowd.hold("ann")
    play(crowd, 4.0)
    x = float(crowd.positions("ann")[0, 0])
    assert -8.0 < x < 2.0
    play(crowd, 1.0)
    assert abs(float(crowd.positions("ann")[0, 0]) - x) < 0.1
    assert crowd.events() == ()
    crowd.release()
    play(crowd, 14.0)
    assert crowd.arrived("ann").all()


def test_joints_go_into_memory_of_the_caller(crowd: LiveCrowd) -> None:
    starts, goals = ring(6, 4.0)
    crowd.add_many(starts, goals)
    play(crowd, 1.0)
    plain, count = crowd.joints(), len(crowd.skeleton())
    positions, rotations = np.zeros((10, count, 3)), np.zeros((10, count, 4))
    found = crowd.joints(out=(positions, rotations))
    assert np.shares_memory(found.positions, positions) and np.shares_memory(found.rotations, rotations)
    assert found.characters.tolist() == crowd.ids.tolist()
    assert np.array_equal(positions[:6], plain.positions) and np.array_equal(rotations[:6], plain.rotations)
    assert not positions[6:].any()
    roots, local = np.zeros((6, 3)), np.zeros((6, count, 4))
    poses = crowd.poses(out=(roots, local))
    assert np.shares_memory(poses.rotations, local)
    assert np.allclose(poses.joint_transforms()[0], plain.positions, atol=1e-9)
    assert np.allclose(crowd.positions(), plain.positions[:, 0])
    some = crowd.joints([4, 2])
    assert np.array_equal(some.positions, plain.positions[[4, 2]])
    with pytest.raises(LiveError, match="float64"):
        crowd.joints(out=(positions.astype(np.float32), rotations))
    with pytest.raises(LiveError, match="at least"):
        crowd.joints(out=(positions[:3], rotations[:3]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrices_are_the_same_transforms(crowd: LiveCrowd, dtype: type) -> None:
    starts, goals = ring(3, 3.0)
    crowd.add_many(starts, goals)
    play(crowd, 0.5)
    joints = crowd.joints()
    out = np.zeros((5, len(crowd.skeleton()), 4, 4), dtype)
    rows = crowd.matrices(out=out)
    columns = crowd.matrices(order="column")
    assert np.shares_memory(rows, out) and rows.shape[0] == 3
    assert np.allclose(rows, np.swapaxes(columns, -1, -2), atol=1e-6)
    assert np.allclose(rows[..., :3, 3], joints.positions, atol=1e-5)
    assert np.allclose(columns[..., 3, :3], joints.positions, atol=1e-5)
    point = np.array([0.1, 0.2, 0.3])
    moved = rotate(joints.rotations, point) + joints.positions
    found = rows @ np.append(point, 1.0).astype(dtype)
    assert np.allclose(found[..., :3], moved, atol=1e-5) and np.allclose(found[..., 3], 1.0)
    with pytest.raises(LiveError, match="order"):
        crowd.matrices(order="sideways")  # type: ignore[arg-type]


def mixed(world: World, seed: int = 2) -> LiveCrowd:
    crowd = gaitway.live(world, walker(), seed=seed, dynamics="clips")  # discs meet in throngs
    crowd.add_library(pony())
    return crowd


def errands(
    crowd: LiveCrowd, seconds: float, rng: np.random.Generator, halves: dict[str, float]
) -> tuple[int, dict[str, int]]:
    """Let characters run errands; discs that overlapped, and arrivals by library."""
    met, arrivals = 0, dict.fromkeys(crowd.libraries, 0)
    for _ in range(round(seconds / FRAME)):
        crowd.step(FRAME)
        met += len(overlaps(crowd.positions(), crowd.options.radius))
        for event in crowd.events():
            if isinstance(event, Arrived):
                library = crowd.library(event.id)
                arrivals[library] += 1
                crowd.send(event.id, rng.uniform(-halves[library], halves[library], 2))
    return met, arrivals


def settled(numbers: dict[str, int], halves: dict[str, float], seed: int) -> tuple[LiveCrowd, np.random.Generator]:
    side = max(halves.values()) + 2.0
    world = World((-side, -side, side, side), (Obstacle(Cylinder((0.0, 0.0), 0.8, 2.0)),))
    rng, crowd = np.random.default_rng(seed), mixed(world)
    for library, number in numbers.items():
        half = halves[library]
        poses = np.column_stack([rng.uniform(-half, half, (number, 2)), rng.uniform(-3.0, 3.0, number)])
        crowd.add_many(poses, rng.uniform(-half, half, (number, 2)), library=library)
    return crowd, rng


@pytest.mark.slow
def test_people_and_horses_keep_clear_of_one_another() -> None:
    halves = {"person": 10.0, "horse": 10.0}
    crowd, rng = settled({"horse": 5, "person": 25}, halves, 0)
    met, arrivals = errands(crowd, 12.0, rng, halves)
    assert met == 0
    assert arrivals["person"] > 3
    assert crowd.libraries == ("person", "horse")
    with pytest.raises(LiveError, match="one at a time"):
        crowd.joints()
    people, horses = crowd.joints(library="person"), crowd.joints(library="horse")
    assert crowd.joints([]).positions.shape == (0, people.positions.shape[1], 3)
    assert len(people) + len(horses) == len(crowd)
    assert people.positions.shape[1] != horses.positions.shape[1]
    report = audit_take(crowd.take(), crowd.world)
    assert not [row for row in report.rows if row.name in ("people", "bodies", "characters") and row.violations]
    crowd.close()


@pytest.mark.slow
def test_a_mixed_crowd_keeps_clear_for_a_minute() -> None:
    halves = {"person": 18.0, "horse": 90.0}  # horses gallop, so they need room; their routes cross that of the people
    crowd, rng = settled({"horse": 12, "person": 80}, halves, 3)
    met, arrivals = errands(crowd, 60.0, rng, halves)
    assert met == 0
    assert arrivals["person"] > 40 and arrivals["horse"] > 5, arrivals
    crowd.close()


@pytest.mark.slow
def test_speeds_are_libraries_of_their_own() -> None:
    with gaitway.live(World((-12.0, -6.0, 12.0, 6.0)), "person") as crowd:
        slow = crowd.add((-10.0, -3.0, 0.0), (10.0, -3.0), speed="slow")
        fast = crowd.add((-10.0, 3.0, 0.0), (10.0, 3.0), speed="fast")
        assert play(crowd, 5.0) == 0
        assert crowd.positions(fast)[0, 0] > crowd.positions(slow)[0, 0] + 1.0
        assert crowd.libraries == ("person",)
        both = crowd.joints()
        assert np.array_equal(both.positions[1], crowd.joints(fast).positions[0])
        with pytest.raises(LiveError, match="no speed 'quick'"):
            crowd.add((0.0, 0.0, 0.0), (1.0, 1.0), speed="quick")


def seen(crowd: LiveCrowd) -> tuple[bytes, ...]:
    parts = [crowd.joints(library=library) for library in crowd.libraries]
    return (*(p.positions.tobytes() + p.rotations.tobytes() for p in parts), repr(crowd.names).encode())


def moved(crowd: LiveCrowd, rng: np.random.Generator, half: float) -> FloatArray:
    """Some calls of a game."""
    for k in range(60):
        if k == 20:
            crowd.add_obstacle(Obstacle(Box((3.0, 3.0), (1.0, 1.0), 2.0)))
            crowd.send(crowd.ids[:3], rng.uniform(-half, half, (3, 2)))
        if k == 40:
            crowd.remove(crowd.ids[2])
            crowd.add((-half + 1.0, -half + 1.0, 0.0), (0.0, 3.0))
        crowd.step(FRAME)
    return crowd.positions()


@pytest.mark.slow
def test_a_restored_crowd_does_the_same(tmp_path: Path) -> None:
    mover = Mover.of(Cylinder((0.0, 0.0), 0.4, 2.0), [0.0, 30.0], [[-7.0, 5.0, 0.0], [7.0, 5.0, 0.0]])
    world = World((-8.0, -8.0, 8.0, 8.0), door(1.2).obstacles, (mover,))
    rng = np.random.default_rng(5)
    with mixed(world) as crowd, mixed(world) as other:
        crowd.add_many(
            np.column_stack([rng.uniform(-7.0, -1.0, (12, 2)), np.zeros(12)]), rng.uniform(1.0, 7.0, (12, 2))
        )
        crowd.add((5.0, -5.0, 0.0), (5.0, 5.0), name="shadow", library="horse")
        crowd.add_obstacle(Obstacle(Cylinder((4.0, 0.0), 0.5, 2.0), name="post"))
        play(crowd, 4.0)
        crowd.hold(crowd.ids[0])
        crowd.save(tmp_path / "crowd.gwlive")
        state = crowd.state()
        ends = []
        for one in (crowd, other):
            if one is other:
                one.restore(tmp_path / "crowd.gwlive")
            moved(one, np.random.default_rng(9), 6.0)
            ends.append((seen(one), one.time, one.counts.plans, len(one.take().names), list(one.obstacles)))
        assert ends[0] == ends[1]
        other.restore(state)
        moved(other, np.random.default_rng(9), 6.0)
        assert seen(other) == ends[0][0]
        assert other.world.obstacles[-2].name == "post"


@pytest.mark.slow
def test_damaged_states_are_refused(tmp_path: Path, crowd: LiveCrowd) -> None:
    starts, goals = ring(4, 3.0)
    crowd.add_many(starts, goals)
    play(crowd, 1.0)
    state, path = crowd.state(), tmp_path / "x.gwlive"
    before = seen(crowd)
    broken = {
        "actions": lambda a: a.__setitem__((0, -1), 10_000),
        "counts": lambda a: a.__setitem__((0, 0), 47),
        "steps": lambda a: a.__setitem__((0, slice(None), 5), -1e9),
        "numbers": lambda a: a.__setitem__((0, 0), np.nan),
        "tally": lambda a: a.__setitem__(7, 10**6),
        "watched": lambda a: a.resize((3, 5), refcheck=False),
    }
    for name, damage in broken.items():
        arrays = {key: value.copy() for key, value in state.arrays.items()}
        damage(arrays[name])
        with pytest.raises(LiveError, match="does not belong"):
            crowd.restore(LiveState(state.values, arrays))
        if name != "watched":
            write_state(path, LiveState(state.values, arrays))
            with pytest.raises(FormatError, match="does not belong"):
                crowd.restore(path)
    assert seen(crowd) == before
    path.write_bytes(b"nothing")
    with pytest.raises(FormatError):
        crowd.restore(path)
    with gaitway.live(OPEN, pony()) as other, pytest.raises(LiveError, match="not known here"):
        other.restore(state)


def test_bad_calls(crowd: LiveCrowd) -> None:
    crowd.add((0.0, 0.0, 0.0), (1.0, 0.0), name="ann")
    for call, words in (
        (lambda: crowd.send("anna", (0.0, 0.0)), "did you mean 'ann'"),
        (lambda: crowd.send(7, (0.0, 0.0)), "no character 7"),
        (lambda: crowd.send("ann", (99.0, 0.0)), "out of bounds"),
        (lambda: crowd.send("ann", (np.nan, 0.0)), "finite"),
        (lambda: crowd.add((5.0, 5.0, 0.0), (0.0, 0.0), name="ann"), "two characters"),
        (lambda: crowd.add_many([(5.0, 5.0, 0.0)], np.zeros((2, 2))), "as many of each"),
        (lambda: crowd.remove([0, 0]), "twice"),
        (lambda: crowd.remove([0.5]), "no id"),
        (lambda: crowd.remove_obstacle(3), "no obstacle 3"),
        (lambda: crowd.remove_mover(3), "no mover 3"),
        (lambda: crowd.step(0.0), "above 0"),
        (lambda: crowd.step(np.nan), "above 0"),
        (lambda: crowd.step(1e6), "at most 600"),
        (lambda: crowd.joints(library="horse"), "no library 'horse'"),
        (lambda: crowd.add((5.0, 5.0, 0.0), (0.0, 0.0), tolerance=-1.0), "tolerance"),
    ):
        with pytest.raises(LiveError, match=words):
            call()  # type: ignore[no-untyped-call]
    crowd.close()
    with pytest.raises(LiveError, match="closed"):
        crowd.step(FRAME)


def test_nothing_is_recorded_where_it_is_not_wanted() -> None:
    with gaitway.live(OPEN, walker(), record_minutes=0.0, options=LiveOptions(searches=0.0)) as crowd:
        crowd.add((0.0, 0.0, 0.0), (3.0, 0.0))
        play(crowd, 0.5)
        with pytest.raises(LiveError, match="record"):
            crowd.take()
