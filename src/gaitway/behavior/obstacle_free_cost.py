"""The cost of reaching a goal without obstacles: a table for each library and tolerance.

The goal is given in the character's frame, so that the table has two dimensions and not three. It holds the cost
*beyond* that of the straight line: turning, starting, stopping, and steps that do not add up. Near goals come from
Dijkstra's search over cells. For far goals only the direction matters: either the character never goes straight
towards it, which costs a part of the distance, or it once does, which costs the turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from gaitway.behavior import _obstacle_free_cost_kernels as _free_kernels
from gaitway.behavior._heuristic_kernels import Values
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.cache import cached
from gaitway.library.actions import ActionTable
from gaitway.space.states import States

RATES = (0.1, 0.3, 1.0)
"""Rates of excess over the straight line that are told apart."""
DIRECTIONS = 360
_STRAIGHT, _ABOUT = 1, 61
"""The rate that counts as straight for a path around obstacles, and the number of directions that count as the same."""
_STILL = 0.05
"""Least distance of an action that tells what a metre costs [m]."""
_STEPS, _LEAST, _MOST = 8.0, 10.0, 40.0
"""Reach of the table: a number of median steps, and its bounds [m]."""
_NODES, _FINEST = 250_000, 0.1
"""Most cells of the fine grids of all states together, and their least size [m]."""
_ROUNDED = 0.6
"""Error by rounding, in metres per metre of a fine cell; measured."""
_SURE = 0.8
"""Part of the reach within which paths that leave the table are hardly cheaper."""


def least_per_metre(table: ActionTable, costs: FloatArray) -> float:
    """Return the least cost of a metre in a straight line by any action [1/m].

    Args:
        table: the actions.
        costs: cost of each action; (A,).
    """
    length = np.hypot(table.moves[:, 0], table.moves[:, 1])
    going = length > _STILL
    return float((costs[going] / length[going]).min()) if going.any() else 0.0


@dataclass(frozen=True, eq=False)
class ObstacleFreeCost:
    """Costs beyond that of the straight line; S states, N x N cells, K rates, H directions. Arrays are read-only."""

    cell: float
    """Side of a cell [m]."""
    reach: float
    """Distance of the goal up to which `near` holds [m]."""
    near: Values
    """Cost by state, and by y and x of the goal in the character's frame; (S, N, N)."""
    rates: FloatArray
    """Rates of `far`: greatest excess of an almost straight move, as a share of the cost of its straight line; (K,)."""
    far: Values
    """Cost by state, rate and direction of the goal from -pi on; (S, K, H)."""
    turns: Values
    """Cost of turning to about a direction; (S, H)."""

    @staticmethod
    def of(table: ActionTable, states: States, costs: FloatArray, tolerance: float) -> ObstacleFreeCost:
        """Compute the table of a library, or take it from disk (`gaitway.core.cache`).

        Args:
            table: the actions.
            states: states of the same table.
            costs: cost of each action; (A,).
            tolerance: tolerance of the goal [m].
        """
        free: ObstacleFreeCost = cached(
            "obstacle_free_cost",
            (__name__,),
            (table.moves, table.kind, states, costs, float(tolerance)),
            lambda: ObstacleFreeCost._computed(table, states, costs, tolerance),
            vars,
            lambda packed: ObstacleFreeCost(**packed),
        )
        return free

    @staticmethod
    def _computed(table: ActionTable, states: States, costs: FloatArray, tolerance: float) -> ObstacleFreeCost:
        per_metre = least_per_metre(table, costs)
        starts, origins, moves = _backwards(table, states, costs)
        rest: BoolArray = read_only(states.rest >= 0)
        length = np.hypot(table.moves[:, 0], table.moves[:, 1])
        going = length[(length > _STILL) & (table.kind < 0)]
        reach = float(np.clip(_STEPS * np.median(going), _LEAST, _MOST)) if len(going) else _LEAST
        half = int(min(0.5 * np.sqrt(_NODES / len(states)), reach / _FINEST)) // 2 * 2
        fine = reach / half
        raw = _free_kernels.near_excess(starts, origins, moves, rest, per_metre, float(tolerance), fine, 2 * half)
        far = [_free_kernels.far_excess(starts, origins, moves, rest, per_metre, rate, DIRECTIONS) for rate in RATES]
        near = _smallest_around(raw, per_metre, reach, fine)
        around = scipy.ndimage.minimum_filter1d(np.stack(far, axis=1), 5, axis=-1, mode="wrap")
        turns = scipy.ndimage.minimum_filter1d(far[_STRAIGHT], _ABOUT, axis=-1, mode="wrap")
        rates = read_only(np.array(RATES))
        return ObstacleFreeCost(2.0 * fine, _SURE * reach, near, rates, _single(around), _single(turns))


def _backwards(table: ActionTable, states: States, costs: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return moves by the state that they lead to: first of each, state that they begin in, and x, y, heading, cost.

    What passes an obstacle and goes on as before is left out.
    """
    rows = []
    for state in range(len(states)):
        for behavior in states.followers[states.follower_starts[state] : states.follower_starts[state + 1]]:
            for action in range(states.action_starts[behavior], states.action_starts[behavior + 1]):
                if states.idle[behavior] or (table.kind[action] >= 0 and states.after[behavior] == state):
                    continue  # there is nothing to pass
                rows.append((int(states.after[behavior]), state, *table.moves[action], costs[action]))
    rows.sort(key=lambda row: row[0])
    entries = np.array(rows, dtype=np.float64).reshape(-1, 6)
    starts = np.searchsorted(entries[:, 0], np.arange(len(states) + 1))
    return (
        read_only(starts.astype(np.int64)),
        read_only(entries[:, 1].astype(np.int64)),
        read_only(entries[:, 2:].copy()),
    )


def _smallest_around(excess: FloatArray, per_metre: float, reach: float, fine: float) -> Values:
    """Return the least of four by four fine cells, two by two and their neighbours, less a part of a cell.

    This makes up for rounding. A path that leaves the table goes to its rim and back again, which bounds the error.
    """
    least = scipy.ndimage.minimum_filter(excess, size=(1, 3, 3), mode="nearest")
    states, count, _ = least.shape
    blocks = least.reshape(states, count // 2, 2, count // 2, 2).min(axis=(2, 4))
    middles = (np.arange(count // 2) + 0.5) * 2.0 * fine - reach
    farthest = np.hypot(middles[:, None], middles[None, :]) + np.sqrt(2.0) * fine
    bounded = np.minimum(blocks - _ROUNDED * fine * per_metre, 2.0 * per_metre * (reach - farthest))
    return _single(np.maximum(bounded, 0.0))


def _single(values: FloatArray) -> Values:
    """Round down to single precision."""
    out: Values = values.astype(np.float32)
    out = np.where(out > values, np.nextafter(out, np.float32(-np.inf)), out)
    out.setflags(write=False)
    return out
