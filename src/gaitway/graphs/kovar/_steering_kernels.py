"""Kernels of steering tables: the cost of each edge by direction, and the best first edge of every node."""

from __future__ import annotations

import math

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel

X, Y = range(2)
"""Columns of places over the ground."""


@kernel(parallel=True)
def edge_costs(track_starts: IntArray, track: FloatArray, befores: FloatArray, least: float, out: SingleArray) -> None:
    """Compute the costs of edges: squared differences of their steps to steps of equal length in a direction.

    Args:
        track_starts: Row of `track` at which each edge begins; (E + 1,).
        track: Places of the frames of all edges [m]; (S, 2).
        befores: Place before the first frame of each edge [m]; (E, 2).
        least: Least length of the wanted steps [m].
        out: Receives costs [m^2]; (E, K), for K evenly spaced directions from 0 on.
    """
    for edge in numba.prange(len(track_starts) - 1):
        for k in range(out.shape[1]):
            angle = 2.0 * math.pi * k / out.shape[1]
            ux, uy, cost = math.cos(angle), math.sin(angle), 0.0
            x, y = befores[edge, X], befores[edge, Y]
            for row in range(track_starts[edge], track_starts[edge + 1]):
                dx, dy = track[row, X] - x, track[row, Y] - y
                wanted = max(math.sqrt(dx * dx + dy * dy), least)
                cost += (dx - wanted * ux) ** 2 + (dy - wanted * uy) ** 2
                x, y = track[row, X], track[row, Y]
            out[edge, k] = cost


@kernel(parallel=True)
def improved(
    out_starts: IntArray,
    out_edges: IntArray,
    heads: IntArray,
    turns: IntArray,
    fades: FloatArray,
    allowed: BoolArray,
    costs: SingleArray,
    before: SingleArray,
    after: SingleArray,
    first: IntArray,
) -> None:
    """Extend the cheapest walks from every node in every direction by one edge; later edges count less.

    Args:
        out_starts: Entry of `out_edges` at which each node's edges begin; (N + 1,).
        out_edges: Edges, sorted by the node that they leave; (E,).
        heads: Node that each edge leads to; (E,).
        turns: Turn of each edge, as a number of directions; (E,).
        fades: Factor of the costs after each edge; (E,).
        allowed: Edges that may be taken; (E,).
        costs: Cost of each edge by direction [m^2]; (E, K).
        before: Costs of the walks so far [m^2]; (N, K).
        after: Receives the costs of the longer walks [m^2]; (N, K).
        first: Receives the first edges of the walks, or -1; (N, K).
    """
    count = costs.shape[1]
    for node in numba.prange(before.shape[0]):
        for k in range(count):
            best, chosen = np.inf, -1
            for at in range(out_starts[node], out_starts[node + 1]):
                edge = out_edges[at]
                if allowed[edge]:
                    cost = costs[edge, k] + fades[edge] * before[heads[edge], (k - turns[edge]) % count]
                    if cost < best:
                        best, chosen = cost, edge
            after[node, k] = best
            first[node, k] = chosen
