"""A bare A* over clips, the peer of the behaviour benchmark: one disc, no time, no traffic, no states, nothing special.

Free space is one grid of bytes and the closed set one table of all bins, so that a candidate costs a few looks into
small arrays. What the planner's search takes longer is the price of all that it checks more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core._heap_kernels import pop, push
from gaitway.core.jit import kernel

Single = npt.NDArray[np.float32]
Cells = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int32]

BIN, TURNS, SAMPLES = 0.56, 16, 8
"""Side of a bin of the closed set [m], number of headings in a full turn, and number of points of a clip that are
tested."""
TESTED = (8, 4, 6, 2, 7, 3, 5, 1)
"""Order in which the points are tested: the end first, then points as far apart as possible."""
_TURN = 2.0 * math.pi


class BareRoom(NamedTuple):
    """Memory for N nodes and B bins, used again by every search."""

    poses: Single
    """x, y [m] and heading [rad]; (N, 3)."""
    costs: Single
    """Cost of each node; (N,)."""
    links: Numbers
    """Parent and clip of each node; (N, 2)."""
    keys: Single
    """Keys of the nodes in the queue; (N,)."""
    heap: Numbers
    """Nodes in the queue, as a binary heap; (N,)."""
    best: Single
    """Least cost of a node in each bin; (B,)."""
    stamps: Numbers
    """Number of the search that wrote the cost of each bin; (B,)."""


class BareWorld(NamedTuple):
    """Free space as bytes."""

    blocked: Cells
    """1 in cells that the centre of the disc cannot be in, 0 in others; (rows x columns,). The border is as wide as the
    longest clip."""
    columns: int
    rate: float
    """Number of cells per metre."""
    origin: tuple[float, float]
    """Lower left corner of the grid: x, y [m]."""

    @staticmethod
    def of(clearance: Single, radius: float, cell: float, origin: tuple[float, float], longest: float) -> BareWorld:
        """Compute the cells in which a disc fits.

        The clearance of the cells is (rows, columns) [m]; `longest` is the length of the longest clip [m].
        """
        border = math.ceil(longest / cell) + 1
        blocked = np.pad((clearance < radius).astype(np.uint8), border, constant_values=1)
        corner = (origin[0] - border * cell, origin[1] - border * cell)
        return BareWorld(blocked.reshape(-1), blocked.shape[1], 1.0 / cell, corner)

    @property
    def bins(self) -> int:
        """Number of bins of the closed set along a side."""
        return math.ceil(self.columns / self.rate / BIN) + 1


def bare_clips(arcs: Sequence[tuple[float, float]]) -> tuple[Single, Single]:
    """Return points of arcs (A, 8, 2), and the length [m] and turn [rad] of each arc (A, 2).

    Arcs are given by length [m] and turn [degrees].
    """
    share, moves = np.array(TESTED) / SAMPLES, np.array([(length, math.radians(turn)) for length, turn in arcs])
    turn = np.where(moves[:, 1] == 0.0, 1e-9, moves[:, 1])[:, None]
    radius = moves[:, :1] / turn
    places = np.stack([radius * np.sin(turn * share), radius * (1.0 - np.cos(turn * share))], axis=-1)
    return places.astype(np.float32), moves.astype(np.float32)


def bare_room(nodes: int, bins: int) -> BareRoom:
    """Allocate memory for a number of nodes, and a number of bins along a side of the world."""
    real, whole = np.float32, np.int32
    return BareRoom(
        np.empty((nodes, 3), real), np.empty(nodes, real), np.empty((nodes, 2), whole), np.empty(nodes, real),
        np.empty(nodes, whole), np.empty(bins * bins * TURNS, real), np.zeros(bins * bins * TURNS, whole),
    )  # fmt: skip


class BareSearch:
    """Searches that share one memory."""

    def __init__(self, arcs: Sequence[tuple[float, float]], bins: int, nodes: int = 1_000_000) -> None:
        self.places, self.moves = bare_clips(arcs)
        self.room, self.bins, self.count = bare_room(nodes, bins), bins, 0

    def way(
        self, world: BareWorld, start: Sequence[float], goal: Sequence[float], tolerance: float, weight: float
    ) -> tuple[float, int, Single]:
        """Search for a path from a pose to within a tolerance of a goal.

        Returns the cost or -1, the number of expanded nodes, and the path as `_way` returns it.
        """
        self.count += 1
        x, y = world.origin
        cost, expanded, node = bare_search(
            world.blocked, world.columns, world.rate, start[0] - x, start[1] - y, start[2] % _TURN,
            goal[0] - x, goal[1] - y, tolerance, weight, self.places, self.moves, self.room, self.bins, self.count,
        )  # fmt: skip
        return cost, expanded, _way(self.room.poses, self.room.links, node)


@kernel
def _way(poses: Single, links: Numbers, node: int) -> Single:
    """Return the nodes on the path to a node, the last first: x, y, heading, and the clip that leads to it; (N, 4)."""
    count, at = 0, node
    while at >= 0:
        count, at = count + 1, links[at, 0]
    out = np.empty((count, 4), np.float32)
    for row in range(count):
        out[row, 0], out[row, 1], out[row, 2] = poses[node, 0], poses[node, 1], poses[node, 2]
        out[row, 3], node = links[node, 1], links[node, 0]
    return out


@kernel(borrows=True, inner=True, fastmath=True)
def _free(
    blocked: Cells, columns: int, rate: float, places: Single, a: int, x: float, y: float, c: float, s: float
) -> bool:
    """Return whether clip a is free."""
    for k in range(SAMPLES):
        u, v = places[a, k, 0], places[a, k, 1]
        if blocked[int((y + s * u + c * v) * rate) * columns + int((x + c * u - s * v) * rate)] != 0:
            return False
    return True


@kernel(borrows=True, fastmath=True)
def bare_search(
    blocked: Cells, columns: int, rate: float, start_x: float, start_y: float, start_heading: float, goal_x: float,
    goal_y: float, tolerance: float, weight: float, places: Single, moves: Single, room: BareRoom, bins: int,
    stamp: int,
) -> tuple[float, int, int]:  # fmt: skip
    """Search by A*, with the straight distance as estimate.

    Returns the cost of the path or -1, the number of expanded nodes, and the last node or -1.

    All positions are relative to the corner of the grid. The closed set keeps the cheapest node of each bin.
    """
    poses, costs, links, keys, heap, best, stamps = room
    poses[0, 0], poses[0, 1], poses[0, 2], costs[0] = start_x, start_y, start_heading, 0.0
    links[0, 0], links[0, 1], keys[0], heap[0] = -1, -1, 0.0, 0
    nodes, waiting, expanded = 1, 1, 0
    while waiting > 0 and nodes + len(moves) <= len(costs):
        waiting -= 1
        node = pop(keys, heap, waiting)
        x, y, heading, cost = poses[node, 0], poses[node, 1], poses[node, 2], costs[node]
        own = (int(y / BIN) * bins + int(x / BIN)) * TURNS + int(heading * (TURNS / _TURN)) % TURNS
        if stamps[own] == stamp and best[own] < cost - 1e-4:
            continue
        if (x - goal_x) ** 2 + (y - goal_y) ** 2 < tolerance * tolerance:
            return cost, expanded, node
        expanded += 1
        c, s = math.cos(heading), math.sin(heading)
        for a in range(len(moves)):
            u, v = places[a, 0, 0], places[a, 0, 1]
            x1, y1 = x + c * u - s * v, y + s * u + c * v
            if blocked[int(y1 * rate) * columns + int(x1 * rate)] != 0:
                continue
            total, turned = cost + moves[a, 0], heading + moves[a, 1]
            turned += _TURN if turned < 0.0 else -_TURN if turned >= _TURN else 0.0
            own = (int(y1 / BIN) * bins + int(x1 / BIN)) * TURNS + int(turned * (TURNS / _TURN)) % TURNS
            if stamps[own] == stamp and best[own] <= total:
                continue
            if not _free(blocked, columns, rate, places, a, x, y, c, s):
                continue
            away = max(math.sqrt((goal_x - x1) ** 2 + (goal_y - y1) ** 2) - tolerance, 0.0)
            stamps[own], best[own] = stamp, total
            poses[nodes, 0], poses[nodes, 1], poses[nodes, 2] = x1, y1, turned
            costs[nodes], links[nodes, 0], links[nodes, 1] = total, node, a
            push(keys, heap, waiting, total + weight * away, nodes)
            waiting, nodes = waiting + 1, nodes + 1
    return -1.0, expanded, -1
