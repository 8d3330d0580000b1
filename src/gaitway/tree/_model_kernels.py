"""Compiled loops over the nodes of a tree."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Links = npt.NDArray[np.uint32]
Ends = npt.NDArray[np.int32]
MOST_LEVELS = 250
"""Most moves from the root of a tree to a node."""
_TURN = 2.0 * math.pi


@kernel
def depth_first(parents: npt.NDArray[np.int32], actions: npt.NDArray[np.uint8]) -> tuple[Links, Ends]:
    """Return links and ends of nodes in depth-first order, children in the order in which they come.

    Args:
        parents: parent of each node, all before their children; the first node is the root, which has no parent; (N,).
        actions: move of each node; (N,).
    """
    count = len(parents)
    sizes, numbers, following = np.ones(count, np.int32), np.zeros(count, np.int32), np.ones(count, np.int32)
    for node in range(count - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    for node in range(1, count):
        parent = parents[node]
        numbers[node] = following[parent]
        following[node] = following[parent] + 1
        following[parent] += sizes[node]
    links, ends = np.zeros(count, np.uint32), np.zeros(count, np.int32)
    links[0], ends[0] = 255, count
    for node in range(1, count):
        number = numbers[node]
        links[number] = (numbers[parents[node]] << 8) | np.int64(actions[node])
        ends[number] = number + sizes[node]
    return links, ends


@kernel
def depths(links: Links) -> IntArray:
    """Return the number of moves from the root to each node; (N,)."""
    out = np.zeros(len(links), np.int64)
    for node in range(1, len(links)):
        out[node] = out[links[node] >> 8] + 1
    return out


@kernel
def unfold(links: Links, numbers: FloatArray) -> FloatArray:
    """Return x, y, heading, cost and time of each node in the frame of the root; (N, 5).

    Args:
        links: links of the nodes, parents before children; (N,).
        numbers: x, y, turn, cost and time of each move; (M, 5).
    """
    count = len(links)
    out = np.zeros((count, 5))
    for node in range(1, count):
        parent, move = links[node] >> 8, links[node] & 255
        cosine, sine = math.cos(out[parent, 2]), math.sin(out[parent, 2])
        x, y = numbers[move, 0], numbers[move, 1]
        out[node, 0] = out[parent, 0] + cosine * x - sine * y
        out[node, 1] = out[parent, 1] + sine * x + cosine * y
        for k in range(2, 5):
            out[node, k] = out[parent, k] + numbers[move, k]
    return out


@kernel
def rounded(
    full: FloatArray, place_step: float, cost_step: float
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16], npt.NDArray[np.uint16]]:
    """Return places (N, 2), headings (N,) and costs (N,) as integer numbers of steps, see `Tree`.

    Args:
        full: x, y, heading, cost of each node; (N, 4 or more).
        place_step: unit of x and y [m].
        cost_step: unit of cost.
    """
    count = len(full)
    places, headings = np.zeros((count, 2), np.int16), np.zeros(count, np.int16)
    costs = np.zeros(count, np.uint16)
    for node in range(count):
        places[node, 0] = np.int16(round(full[node, 0] / place_step))
        places[node, 1] = np.int16(round(full[node, 1] / place_step))
        steps = round(full[node, 2] / _TURN * 65536.0)
        headings[node] = np.int16(((steps + 32768) & 65535) - 32768)
        costs[node] = np.uint16(round(full[node, 3] / cost_step))
    return places, headings, costs


@kernel
def check_sum(words: npt.NDArray[np.uint64], parts: npt.NDArray[np.uint64]) -> None:
    """Add words to a sum, and the sums so far to another, so that the order counts; a few nanoseconds a word.

    Args:
        words: words to add; (W,).
        parts: both sums; (2,), written.
    """
    first, second = parts[0], parts[1]
    for k in range(len(words)):
        first += words[k]
        second += first
    parts[0], parts[1] = first, second


@kernel
def first_wrong(links: Links, ends: Ends, moves: int) -> int:
    """Return the first node that is not in depth-first order or too deep, or -1; loops over a checked tree end.

    Args:
        links: parent and move of each node, see `Tree`; (N,).
        ends: node after the last one of each subtree; (N,).
        moves: number of moves.
    """
    count = len(links)
    if count == 0 or links[0] != 255 or ends[0] != count:
        return 0
    levels = np.zeros(count, np.int16)
    for node in range(1, count):
        parent = np.int64(links[node] >> 8)
        if parent >= node or (links[node] & 255) >= moves or ends[node] <= node or ends[node] > ends[parent]:
            return node
        # depth-first: it lies below its parent, and the node before it is its parent or ends just before it
        if parent != node - 1 and ends[node - 1] != node:
            return node
        levels[node] = levels[parent] + 1
        if levels[node] > MOST_LEVELS:
            return node
    return -1
