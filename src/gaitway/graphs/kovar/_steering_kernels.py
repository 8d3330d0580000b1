"""Compiled loops of steering tables: what edges cost by direction, and the best first edge of every node."""

from __future__ import annotations

import math

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel


@kernel(parallel=True)
def edge_costs(track_starts: IntArray, track: FloatArray, befores: FloatArray, least: float, out: SingleArray) -> None:
    """How far the steps of each edge miss steps of the same length in each direction, squared and added up.

    Args:
        track_starts: where each edge's places begin; (E + 1,).
        track: places of the frames of all edges [m]; (S, 2).
        befores: the place before the first frame of each edge [m]; (E, 2).
        least: steps are wanted to be at least so long [m].
        out: receives costs [m^2]; (E, K), directions evenly from 0 on.
    """
    for edge in numba.prange(len(track_starts) - 1):
        for k in range(out.shape[1]):
            angle = 2.0 * math.pi * k / out.shape[1]
            ux, uy, cost = math.cos(angle), math.sin(angle), 0.0
            x, y = befores[edge, 0], befores[edge, 1]
            for row in range(track_starts[edge], track_starts[edge + 1]):
                dx, dy = track[row, 0] - x, track[row, 1] - y
                wanted = max(math.sqrt(dx * dx + dy * dy), least)
                cost += (dx - wanted * ux) ** 2 + (dy - wanted * uy) ** 2
                x, y = track[row, 0], track[row, 1]
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
    """One edge more of the cheapest walks from every node in every direction; what comes later counts less.

    Args:
        out_starts: where each node's edges begin in `out_edges`; (N + 1,).
        out_edges: edges by the node that they leave; (E,).
        heads: node that each edge leads to; (E,).
        turns: by how many directions each edge turns what follows it; (E,).
        fades: share by which all that follows an edge counts; (E,).
        allowed: edges that may be taken; (E,).
        costs: of each edge by direction; (E, K).
        before: costs of walks known so far; (N, K).
        after: receives those of longer walks; (N, K).
        first: receives their first edges, or -1; (N, K).
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
