"""Compiled loops of the obstacle-free cost: the cost of reaching a goal without obstacles.

Both go backwards from the goal. A move is (from state, to state) and (x, y, heading, cost); the goal's place in the
character's frame before it is that after it, turned and shifted by the move, so that no heading has to be kept.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core._heap_kernels import pop, push
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel

_TINY = 1e-9
_TURN = 2.0 * math.pi


@kernel
def near_excess(
    move_starts: IntArray,
    move_from: IntArray,
    moves: FloatArray,
    rest: BoolArray,
    per_metre: float,
    tolerance: float,
    cell: float,
    count: int,
) -> FloatArray:
    """Return the cost beyond the straight line to the goal, by state and place of the goal; (S, count, count).

    Dijkstra's search over cells, each of which keeps the place with the least excess. No move reduces the excess: a
    metre costs `per_metre` or more.

    Args:
        move_starts: first move that leads to each state, and M at the end; (S + 1,).
        move_from: state that each move begins in; (M,).
        moves: x, y [m], turn [rad] and cost of each move; (M, 4).
        rest: whether a plan may end in each state; (S,).
        per_metre: least cost of a metre [1/m].
        tolerance: tolerance of the goal [m].
        cell: side of a cell [m].
        count: number of cells on each side; the character is in the middle.
    """
    states, middle = len(rest), 0.5 * count
    most = middle * cell
    best = np.full(states * count * count, np.inf)
    place_x, place_y = np.zeros(len(best)), np.zeros(len(best))
    keys, nodes, size = np.empty(4096), np.empty(4096, np.int64), 0
    cosines, sines = np.cos(moves[:, 2]), np.sin(moves[:, 2])
    for state in range(states):
        for row in range(count if rest[state] else 0):
            for column in range(count):
                x, y = _nearest(column, middle) * cell, _nearest(row, middle) * cell
                if math.hypot(x, y) <= tolerance:
                    node = (state * count + row) * count + column
                    x, y = _within(x, (column + 0.5 - middle) * cell, y, (row + 0.5 - middle) * cell, tolerance)
                    best[node], place_x[node], place_y[node] = 0.0, x, y
                    if size == len(keys):
                        keys, nodes = _longer(keys, nodes)
                    push(keys, nodes, size, 0.0, node)
                    size += 1
    while size > 0:
        excess, node = keys[0], nodes[0]
        size -= 1
        pop(keys, nodes, size)
        if excess > best[node]:
            continue
        x, y, state = place_x[node], place_y[node], node // (count * count)
        away = max(math.hypot(x, y) - tolerance, 0.0)
        for k in range(move_starts[state], move_starts[state + 1]):
            before_x = moves[k, 0] + cosines[k] * x - sines[k] * y
            before_y = moves[k, 1] + sines[k] * x + cosines[k] * y
            before = math.sqrt(before_x * before_x + before_y * before_y)
            if before >= most:
                continue
            more = excess + max(moves[k, 3] - per_metre * (max(before - tolerance, 0.0) - away), 0.0)
            row, column = math.floor(before_y / cell + middle), math.floor(before_x / cell + middle)
            target = (move_from[k] * count + row) * count + column
            if more < best[target] - _TINY:
                best[target], place_x[target], place_y[target] = more, before_x, before_y
                if size == len(keys):
                    keys, nodes = _longer(keys, nodes)
                push(keys, nodes, size, more, target)
                size += 1
    return best.reshape(states, count, count)


@kernel
def far_excess(
    move_starts: IntArray,
    move_from: IntArray,
    moves: FloatArray,
    rest: BoolArray,
    per_metre: float,
    rate: float,
    count: int,
) -> FloatArray:
    """Return the cost beyond the straight line to a far goal, by state and direction from -pi on; (S, count).

    It holds for paths that end at rest and have at least one almost straight move: the cost of that move exceeds the
    cost of its straight line by less than `rate` times the latter.

    Args:
        move_starts: first move that leads to each state, and M at the end; (S + 1,).
        move_from: state that each move begins in; (M,).
        moves: x, y [m], turn [rad] and cost of each move; (M, 4).
        rest: whether a plan may end in each state; (S,).
        per_metre: least cost of a metre [1/m].
        rate: greatest excess of the almost straight move, as a share of the cost of its straight line.
        count: number of directions.
    """
    states = len(rest)
    best = np.full((2, states, count), np.inf)  # [1]: has gone straight already
    direction = np.zeros((2, states, count))
    for state in range(states):
        for bin_ in range(count if rest[state] else 0):
            best[1, state, bin_], direction[1, state, bin_] = 0.0, (bin_ + 0.5) / count * _TURN - math.pi
    changed = True
    while changed:
        changed = False
        for state in range(states):
            for bin_ in range(count):
                for done in range(2):
                    if best[done, state, bin_] < np.inf:
                        for k in range(move_starts[state], move_starts[state + 1]):
                            if _turn_back(k, done, state, bin_, move_from, moves, per_metre, rate, best, direction):
                                changed = True
    out: FloatArray = best[0]
    return out


@kernel(inner=True)
def _turn_back(
    k: int,
    done: int,
    state: int,
    bin_: int,
    move_from: IntArray,
    moves: FloatArray,
    per_metre: float,
    rate: float,
    best: FloatArray,
    direction: FloatArray,
) -> bool:
    """Note the cost of a state and direction by move k; return whether it is less than before."""
    count = best.shape[2]
    turns = (direction[done, state, bin_] + moves[k, 2]) / _TURN + 0.5
    before = (turns - math.floor(turns)) * _TURN - math.pi
    straight = per_metre * (math.cos(before) * moves[k, 0] + math.sin(before) * moves[k, 1])
    more = max(moves[k, 3] - straight, 0.0)
    total, target = best[done, state, bin_] + more, min(int((before + math.pi) / _TURN * count), count - 1)
    first = 0 if done == 1 and more < rate * straight else done
    news = False
    for layer in range(first, done + 1):
        if total < best[layer, move_from[k], target] - _TINY:
            best[layer, move_from[k], target], direction[layer, move_from[k], target] = total, before
            news = True
    return news


@kernel(inner=True)
def _nearest(index: int, middle: float) -> float:
    """Return the point of a cell that is nearest to the middle, along one axis [cells]."""
    low = index - middle
    return low if low > 0.0 else min(low + 1.0, 0.0)


@kernel(inner=True)
def _within(x: float, center_x: float, y: float, center_y: float, radius: float) -> tuple[float, float]:
    """Move (x, y) towards the middle of its cell, as far as it stays within a radius of the origin."""
    if math.hypot(center_x, center_y) <= radius:
        return center_x, center_y
    low, high = 0.0, 1.0
    for _ in range(20):
        part = 0.5 * (low + high)
        if math.hypot(x + part * (center_x - x), y + part * (center_y - y)) <= radius:
            low = part
        else:
            high = part
    return x + low * (center_x - x), y + low * (center_y - y)


@kernel(inner=True)
def _longer(keys: FloatArray, nodes: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the same entries in arrays of twice the length."""
    more_keys, more_nodes = np.empty(2 * len(keys)), np.empty(2 * len(keys), np.int64)
    for k in range(len(keys)):
        more_keys[k], more_nodes[k] = keys[k], nodes[k]
    return more_keys, more_nodes
