"""Timed occupancy against dense sampling of the movers themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import WorldError
from gaitway.world import PASSABLE, WALL, Box, Cylinder, Footprint, GridSpec, Mover, Phase, Polygon, Sphere, World
from gaitway.world._timed_kernels import timed_bits
from gaitway.world.raster import filled, rasterise
from gaitway.world.sweep import TimeSlots
from gaitway.world.timed import TimedOccupancy

SPEC = GridSpec((-4.0, -4.0), 0.25, (32, 32))
BOUNDS = SPEC.bounds
RADIUS = 0.3
SHAPES = (
    Cylinder((0.0, 0.0), 0.4, 2.0),
    Cylinder((0.7, -0.3), 0.2, 2.0),
    Box((0.0, 0.0), (1.5, 0.4), 2.0),
    Box((0.5, 0.5), (0.4, 0.8), 2.0, yaw=0.4),
    Polygon(((0.0, 0.0), (1.5, 0.0), (1.5, 1.5), (1.2, 0.3), (0.0, 0.3)), 2.0),
    Sphere((0.0, 0.0), 0.5),
)
coordinate = st.integers(-16, 16).map(lambda n: n / 4.0)


@st.composite
def movers(draw):
    """Movers that go, turn, stand and change, with keys and phases on and off the borders of slots."""
    count = draw(st.integers(1, 4))
    times = np.cumsum([draw(st.sampled_from([0.1, 0.25, 0.37, 0.5, 1.0])) for _ in range(count)])
    times += draw(st.sampled_from([-0.6, -0.1, 0.0, 0.03]))
    poses = [(draw(coordinate), draw(coordinate), draw(st.sampled_from([0.0, 0.5, -2.0]))) for _ in range(count)]
    for k in range(1, count):
        if draw(st.booleans()):
            poses[k] = poses[k - 1]
    starts = sorted(draw(st.sets(st.sampled_from([0.1, 0.2, 0.3, 0.55, 0.9, 1.7]), max_size=2)))
    kinds = st.sampled_from([WALL, "jump", PASSABLE])
    phases = [Phase(start, draw(st.sampled_from(SHAPES)), draw(kinds)) for start in (-np.inf, *starts)]
    return Mover(tuple(phases), times, np.array(poses))


def truth(mover: Mover, time: float, radius: float) -> tuple[str, np.ndarray]:
    """Kind and cells of a mover at one time, grown by a radius."""
    obstacle = mover.at(time)
    return obstacle.kind, filled(rasterise(obstacle.shape.footprint(0.05, 2.0), SPEC, radius), SPEC)


@settings(max_examples=30)
@given(movers(), st.sampled_from([0.1, 0.25, 0.3]))
def test_what_is_free_is_free_all_the_while(mover: Mover, step: float):
    timed = TimedOccupancy.of(World(BOUNDS, movers=(mover,)), SPEC, RADIUS, 0.0, 2.0, step)
    for time in np.concatenate([np.linspace(0.0, 3.5, 60), np.arange(0.0, 2.0, 0.1), mover.times[mover.times >= 0.0]]):
        kind, cells = truth(mover, float(time), RADIUS - 1e-6)
        if kind != PASSABLE:
            bit = 1 << timed.kinds.index(kind)
            assert (timed.grid_at(float(time))[cells] & bit).all(), f"something of it is left out at {time} s"


@settings(max_examples=20)
@given(movers(), st.sampled_from([0.2, 0.25]))
def test_what_is_covered_is_nearly_touched_at_some_time_of_the_slot(mover: Mover, step: float):
    timed = TimedOccupancy.of(World(BOUNDS, movers=(mover,)), SPEC, RADIUS, 0.0, 2.0, step)
    for slot in range(timed.slots.count):
        start = slot * step
        near = {kind: np.zeros(SPEC.shape, dtype=bool) for kind in timed.kinds}
        breaks = mover.breaks(start - 1e-9, start + step + 1e-9)
        for time in np.unique(np.concatenate([np.linspace(start, start + step, 24), breaks, breaks - 1e-9])):
            kind, cells = truth(mover, float(time), RADIUS + 0.5 * SPEC.cell + 0.26)  # the last: between two samples
            if kind != PASSABLE:
                near[kind] |= cells
        got = timed.grid_at(start + 0.5 * step)
        for number, kind in enumerate(timed.kinds):
            assert near[kind][(got >> number & 1) == 1].all(), f"'{kind}' is too large in slot {slot}"


@settings(max_examples=25)
@given(movers(), movers())
def test_every_way_to_ask_gives_the_same_answer(a: Mover, b: Mover):
    timed = TimedOccupancy.of(World(BOUNDS, movers=(a, b)), SPEC, RADIUS, 0.0, 2.0, 0.2)
    rows, columns = (v.ravel() for v in np.indices(SPEC.shape))
    arrays = timed.arrays
    for time in (0.0, 0.5, 1.99, 50.0):
        grid = timed.grid_at(time)
        points = SPEC.centers(np.stack([rows, columns], axis=-1))
        np.testing.assert_array_equal(timed.mask_at(points, time), grid.ravel())
        for row, column in ((0, 0), (16, 16), (20, 9)):
            assert timed_bits(arrays, row, column, time) == grid[row, column]
            assert getattr(timed_bits, "py_func", timed_bits)(arrays, row, column, time) == grid[row, column]


@settings(max_examples=25)
@given(st.lists(movers(), min_size=2, max_size=4), st.data())
def test_what_is_taken_out_leaves_no_trace(many: list[Mover], data: st.DataObject):
    kinds = (WALL, "jump")
    timed = TimedOccupancy.of(World(BOUNDS, movers=tuple(many)), SPEC, RADIUS, 0.0, 2.0, 0.2, kinds=kinds)
    before = timed.copy()
    gone = data.draw(st.sampled_from(range(len(many))))
    timed.remove(gone)
    assert gone not in timed.keys
    added = timed.add_mover(many[0])
    rest = [mover for number, mover in enumerate(many) if number != gone] + [many[0]]
    fresh = TimedOccupancy.of(World(BOUNDS, movers=tuple(rest)), SPEC, RADIUS, 0.0, 2.0, 0.2, kinds=kinds)
    assert timed.stored == fresh.stored
    for time in np.arange(0.0, 2.3, 0.2):
        np.testing.assert_array_equal(timed.grid_at(time), fresh.grid_at(time))
    timed.remove(added)
    assert before.stored == sum(
        TimedOccupancy.of(World(BOUNDS, movers=(m,)), SPEC, RADIUS, 0.0, 2.0, 0.2, kinds=kinds).stored for m in many
    )


def test_a_disc_on_its_way_is_exact():
    """What a disc sweeps in a slot is a rounded line, so it is known cell by cell."""
    timed = TimedOccupancy(SPEC, RADIUS, TimeSlots(0.0, 0.5, 4))
    key = timed.add_track([0.0, 1.0, 2.0], [(-3.0, -1.0), (0.0, 1.5), (0.0, -2.0)], 0.25)
    positions = ((-3.0, -1.0), (-1.5, 0.25), (0.0, 1.5), (0.0, -0.25), (0.0, -2.0))
    for slot in range(4):
        line = Footprint.of_rings([positions[slot : slot + 2]])
        expected = filled(rasterise(line, SPEC, RADIUS + 0.25), SPEC)
        np.testing.assert_array_equal(timed.grid_at(0.5 * slot + 0.2) == 1, expected)
    end = filled(rasterise(Footprint.of_rings([positions[-1:]]), SPEC, RADIUS + 0.25), SPEC)
    np.testing.assert_array_equal(timed.grid_at(1e6) == 1, end)
    timed.remove(key)
    assert timed.stored == 0
    assert not timed.grid_at(1.0).any()


def test_a_track_is_there_only_while_it_lasts():
    timed = TimedOccupancy(SPEC, RADIUS, TimeSlots(0.0, 0.1, 40))
    timed.add_track([1.02, 2.0], [(0.0, 0.0), (1.0, 0.0)], 0.2, after=False)
    there = np.array([timed.grid_at(0.1 * slot + 0.05).any() for slot in range(41)])
    assert np.flatnonzero(there).tolist() == list(range(10, 20))
    timed.add_track([1.0], [(2.0, 2.0)], 0.2, before=True)
    assert all(timed.mask_at((2.0, 2.0), 0.1 * slot) == 1 for slot in range(60))


def test_what_stands_still_is_stored_once():
    def stored(end: float, times: list[float], poses: list[tuple[float, float, float]]) -> int:
        mover = Mover.of(Box((0.0, 0.0), (1.0, 0.5), 2.0), times, poses)
        return TimedOccupancy.of(World(BOUNDS, movers=(mover,)), SPEC, RADIUS, 0.0, end, 0.1).stored

    still = stored(5.0, [0.0], [(0.0, 0.0, 0.3)])
    assert still == len(rasterise(Box((0.0, 0.0), (1.0, 0.5), 2.0, 0.3).outline, SPEC, RADIUS))
    assert stored(500.0, [0.0], [(0.0, 0.0, 0.3)]) == still
    goes = stored(5.0, [0.0, 1.0], [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    assert stored(500.0, [0.0, 1.0], [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]) == goes


def test_the_falling_tree():
    tree = Mover(
        (
            Phase(0.0, Cylinder((0.0, 0.0), 0.2, 5.0), PASSABLE),
            Phase(1.0, Box((1.5, 0.0), (3.0, 0.5), 2.0)),
            Phase(1.5, Box((1.5, 0.0), (3.0, 0.5), 0.4), "jump"),
        ),
        np.array([0.0]),
        np.zeros((1, 3)),
        "tree",
    )
    timed = TimedOccupancy.of(World(BOUNDS, movers=(tree,)), SPEC, RADIUS, 0.0, 4.0, 0.1)
    assert timed.kinds == (WALL, "jump")
    bits = timed.mask_at((1.5, 0.0), np.arange(0.05, 4.0, 0.1))
    assert bits[:9].tolist() == [0] * 9
    assert bits[10:14].tolist() == [1] * 4
    assert bits[15:].tolist() == [2] * 25
    assert bits[[9, 14]].tolist() == [1, 3]  # a slot that ends with a change has both


def test_what_passes_over_the_head_is_not_in_the_way():
    drone = Mover.of(Sphere((0.0, 0.0), 0.3, bottom=2.5), [0.0, 1.0], [(0, 0, 0), (2, 0, 0)])
    assert TimedOccupancy.of(World(BOUNDS, movers=(drone,)), SPEC, RADIUS, 0.0, 2.0).stored == 0
    world = World(BOUNDS, movers=(drone,))
    assert TimedOccupancy.of(world, SPEC, RADIUS, 0.0, 2.0, band=(0.0, 3.0)).stored > 0


def test_wrong_input():
    timed = TimedOccupancy(SPEC, RADIUS, TimeSlots(0.0, 0.1, 10))
    with pytest.raises(WorldError, match="times that rise"):
        timed.add_track([1.0, 1.0], [(0, 0), (1, 1)], 0.2)
    with pytest.raises(WorldError, match=r"positions \(F, 2\); got \(2,\) and \(1, 2\)"):
        timed.add_track([1.0, 2.0], [(0, 0)], 0.2)
    with pytest.raises(WorldError, match=r"no obstacle kind 'jump'.*there are wall"):
        timed.add_track([1.0], [(0, 0)], 0.2, kind="jump")
    with pytest.raises(WorldError, match="track radius -1"):
        timed.add_track([1.0], [(0, 0)], -1.0)
    with pytest.raises(WorldError, match="nothing with key 5"):
        timed.remove(5)
    with pytest.raises(WorldError, match="before the first slot, which begins at 0 s"):
        timed.mask_at((0.0, 0.0), -0.5)
    with pytest.raises(WorldError, match="a start before the end"):
        TimeSlots.covering(1.0, 1.0, 0.1)
    with pytest.raises(WorldError, match="write a larger cell"):
        far = Mover.of(Box((0.0, 0.0), (1.0, 0.5), 2.0), [0.0, 1.0], [(0, 0, 0), (1e9, 0, 0)])
        timed.add_mover(far)
    assert timed.mask_at((100.0, 0.0), 0.0) == 1
