"""Rows of people for the kernels of a step: sorted by cell and number, so that each step reads memory in order.

Every loop over people writes to its own row alone and reads what the loop before it wrote; so the result is the same
with any number of threads. No function of the platform's mathematics library is called but the square root, which is
exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel

SmallInts = npt.NDArray[np.int32]

X, Y, VX, VY, FX, FY, WX, WY = range(8)
"""Columns of people: place [m], velocity [m/s], direction that the trunk faces, direction of the wish (0 for none)."""
PEOPLE = 8
SLOW, RANK, WISH, LANE_SIDE, LOOKS, NEW_X, NEW_Y, NEW_FX, NEW_FY = range(9)
"""Columns of the rest: time held up [s], rank of the person (0 to 1, 2 for who holds a goal), wished speed [m/s], side
to which one steers for lanes and whether one looks for lanes now; place [m] and direction of the trunk after the step.
"""
REST = 9
LOOK_FOR_LANES = 4
"""Number of steps between two looks of a person for lanes."""
(
    DT,
    RADIUS,
    HALF,
    HORIZON,
    HEADWAY,
    PATIENCE,
    SIGHT,
    COS_TURN,
    TURN_RATE,
    SOCIAL,
    CELL,
    LANE,
    CLOSE,
    SIDE,
    AGILITY,
) = range(15)
"""Entries of the parameters: time step [s], rounding and half length of bodies [m], horizon, headway and patience [s],
sight [m], cosine of the greatest turn of a trunk, rate of trunks [rad/s], 1 for social forces, side of a hash cell [m],
how strongly people steer for lanes, distance beyond which nobody is touched in a step [m],
strength of keeping to the right, greatest acceleration of people [m/s2] (0 for any).
"""
PARAMETERS = 15
MX, MY, UX, UY, LENGTH, ROUND = range(6)
"""Columns of walls: middle [m], direction, half length [m], rounding [m]."""

BLOCK = 128
"""People that one thread does in one go."""
PROGRESS = 0.25
"""Distance from the last place of rest beyond which a person has made progress [m]."""


@dataclass
class StepRows:
    """Memory of a step. This class is **mutable**: it is kept from step to step, since new memory is slow to touch."""

    people: FloatArray = field(default_factory=lambda: np.empty((0, PEOPLE)))
    """People in order; (A, `PEOPLE`)."""
    rest: FloatArray = field(default_factory=lambda: np.empty((0, REST)))
    """What else is known of them; (A, `REST`)."""
    moved: FloatArray = field(default_factory=lambda: np.empty((0, 2)))
    """Places while bodies are moved apart [m]; (A, 2)."""
    near: SmallInts = field(default_factory=lambda: np.empty((0, 0), np.int32))
    """Neighbours of each; (A, K)."""
    counts: SmallInts = field(default_factory=lambda: np.empty(0, np.int32))
    """Number of neighbours that may be touched; (A,)."""
    blockers: SmallInts = field(default_factory=lambda: np.empty(0, np.int32))
    """Who is in the way of each; (A,)."""
    flow: FloatArray = field(default_factory=lambda: np.empty((0, 3)))
    """Where the people of each cell want to go, see `sum_flow`; (cells, 3)."""

    def fit(self, count: int, neighbors: int, cells: int) -> StepRows:
        """Return memory for a number of people, as a part of this one, which is made larger if it is too small."""
        if len(self.people) < count or self.near.shape[1] != neighbors:
            self.people, self.rest, self.moved = (
                np.empty((count, PEOPLE)),
                np.empty((count, REST)),
                np.empty((count, 2)),
            )
            self.near = np.empty((count, neighbors), np.int32)
            self.counts, self.blockers = np.empty(count, np.int32), np.empty(count, np.int32)
        if len(self.flow) != cells:
            self.flow = np.empty((cells, 3))
        return StepRows(
            people=self.people[:count],
            rest=self.rest[:count],
            moved=self.moved[:count],
            near=self.near[:count],
            counts=self.counts[:count],
            blockers=self.blockers[:count],
            flow=self.flow,
        )


@kernel
def sort_people(
    positions: FloatArray,
    active: IntArray,
    place: FloatArray,
    columns: int,
    rows: int,
    cells: IntArray,
    starts: IntArray,
    order: IntArray,
) -> None:
    """Sort people by cell, and by number within a cell.

    Args:
        positions: places [m]; (N, 2).
        active: numbers of those who take part, rising; (A,).
        place: corner of the cells [m] and cells in a metre; (3,).
        columns: number of cells along x.
        rows: number of cells along y.
        cells: receives the cell of each; (A,).
        starts: receives the first place of each cell in the order; (columns x rows + 1,).
        order: receives the numbers in order; (A,).
    """
    count, total = len(active), columns * rows
    for k in range(total + 1):
        starts[k] = 0
    for n in range(count):
        i = min(max(int((positions[active[n], 0] - place[0]) * place[2]), 0), columns - 1)
        j = min(max(int((positions[active[n], 1] - place[1]) * place[2]), 0), rows - 1)
        cells[n] = i * rows + j
        starts[cells[n] + 1] += 1
    for k in range(total):
        starts[k + 1] += starts[k]
    for n in range(count - 1, -1, -1):
        after = cells[n] + 1
        starts[after] -= 1
        order[starts[after]] = active[n]
    for k in range(total):
        starts[k] = starts[k + 1]
    starts[total] = count


@kernel
def gather(
    order: IntArray,
    positions: FloatArray,
    velocities: FloatArray,
    faces: FloatArray,
    wishes: FloatArray,
    slow: FloatArray,
    ranks: FloatArray,
    lane_sides: FloatArray,
    tick: int,
    people: FloatArray,
    rest: FloatArray,
) -> None:
    """Copy the state of people, (N, 2) or (N,), into rows in order, (A, `PEOPLE`) and (A, `REST`)."""
    for k in range(len(order)):
        p = order[k]
        for c in range(2):
            people[k, X + c], people[k, VX + c] = positions[p, c], velocities[p, c]
            people[k, FX + c] = faces[p, c]
        wish = math.sqrt(wishes[p, 0] * wishes[p, 0] + wishes[p, 1] * wishes[p, 1])
        scale = 1.0 / wish if wish > 1e-6 else 0.0
        people[k, WX], people[k, WY], rest[k, WISH] = scale * wishes[p, 0], scale * wishes[p, 1], wish
        rest[k, SLOW], rest[k, RANK], rest[k, LANE_SIDE] = slow[p], ranks[p], lane_sides[p]
        rest[k, LOOKS] = 1.0 if (tick + p) % LOOK_FOR_LANES == 0 else 0.0


@kernel
def scatter(
    order: IntArray,
    people: FloatArray,
    blockers: SmallInts,
    walking: BoolArray,
    time: float,
    dt: float,
    longest: float,
    positions: FloatArray,
    velocities: FloatArray,
    faces: FloatArray,
    slow: FloatArray,
    lane_sides: FloatArray,
    marks: FloatArray,
    mark_times: FloatArray,
    who_blocks: IntArray,
    rest: FloatArray,
) -> None:
    """Copy rows back, and note who is held up, and since when nobody has made progress.

    Args:
        order: numbers of people in order; (A,).
        people: rows; (A, `PEOPLE`).
        blockers: rows of those in the way; (A,).
        walking: whether people walk to their goals; (N,).
        time: time after the step [s].
        dt: time step [s].
        longest: greatest time that is noted [s].
        positions: receives places [m]; (N, 2).
        velocities: receives velocities [m/s]; (N, 2).
        faces: receives directions of trunks; (N, 2).
        slow: times for which people are held up [s]; (N,).
        lane_sides: receives the sides to which people steer for lanes; (N,).
        marks: places of the last progress [m]; (N, 2).
        mark_times: times of the last progress [s]; (N,).
        who_blocks: receives the numbers of those in the way; (N,).
        rest: what else is known of people; (A, `REST`).
    """
    for k in range(len(order)):
        p = order[k]
        for c in range(2):
            positions[p, c], velocities[p, c], faces[p, c] = people[k, X + c], people[k, VX + c], people[k, FX + c]
        lane_sides[p] = rest[k, LANE_SIDE]
        wish, going = rest[k, WISH], people[k, VX] * people[k, WX] + people[k, VY] * people[k, WY]
        held = going < 0.25 * wish and wish > 0.1
        slow[p] = min(max(slow[p] + (dt if held else -3.0 * dt), 0.0), longest)
        dx, dy = positions[p, 0] - marks[p, 0], positions[p, 1] - marks[p, 1]
        # whoever is pushed back makes no progress
        if dx * dx + dy * dy > PROGRESS * PROGRESS and dx * people[k, WX] + dy * people[k, WY] > 0.4 * PROGRESS:
            marks[p, 0], marks[p, 1], mark_times[p] = positions[p, 0], positions[p, 1], time
        if not walking[p]:
            mark_times[p] = time
        who_blocks[p] = order[blockers[k]] if blockers[k] >= 0 else blockers[k]


@kernel
def sum_flow(people: FloatArray, starts: IntArray, flow: FloatArray) -> None:
    """Sum up where the people of each cell want to go.

    Args:
        people: people in order; (A, `PEOPLE`).
        starts: first person of each cell; (cells + 1,).
        flow: receives the sums of their directions, and how many want to go anywhere; (cells, 3).
    """
    for cell in range(len(starts) - 1):
        sum_x, sum_y, count = 0.0, 0.0, 0.0
        for i in range(starts[cell], starts[cell + 1]):
            sum_x += people[i, WX]
            sum_y += people[i, WY]
            count += people[i, WX] * people[i, WX] + people[i, WY] * people[i, WY]
        flow[cell, 0], flow[cell, 1], flow[cell, 2] = sum_x, sum_y, count
