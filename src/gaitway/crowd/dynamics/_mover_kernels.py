"""Compiled loops over ways beside what moves."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.crowd.dynamics._people_kernels import LENGTH, MX, MY, ROUND, UX, UY


@kernel(inner=True)
def _away(x: float, y: float, edges: FloatArray, first: int, last: int) -> float:
    """Return how far a point is from an outline, some rows of `edges` [m]; negative inside.

    One edge alone has no inside: it is a piece of a wall.
    """
    least, inside = np.inf, False
    for e in range(first, last):
        px, py, ux, uy, half = x - edges[e, MX], y - edges[e, MY], edges[e, UX], edges[e, UY], edges[e, LENGTH]
        along = min(max(px * ux + py * uy, -half), half)
        dx, dy = px - along * ux, py - along * uy
        least = min(least, math.sqrt(dx * dx + dy * dy))
        # a ray along x from the point crosses the edge
        low, high = -half * uy, half * uy
        if last > first + 1 and (low <= py) != (high <= py) and py / uy * ux > px:
            inside = not inside
    return float((-least if inside else least) - edges[first, ROUND])


@kernel(inner=True)
def _gone(now: float, tried: float, full: float, seconds: float) -> float:
    """Return how far somebody gets whose velocity changes evenly within a time, and stays so [m]."""
    rises = min(full, seconds)
    share = rises / full if full > 0.0 else 1.0
    return float(now * rises + 0.5 * share * (tried - now) * rises + (seconds - rises) * tried)


@kernel
def lacking_room(
    places: FloatArray, now: FloatArray, velocities: FloatArray, agility: float, seconds: FloatArray,
    weights: FloatArray, room: float, edges: FloatArray, outlines: IntArray, looks: IntArray, worst: FloatArray,
) -> None:  # fmt: skip
    """Find how much room lacks on ways beside what moves, at the worst.

    Args:
        places: where people are [m]; (N, 2).
        now: velocities of people now [m/s]; (N, 2).
        velocities: velocities that each tries [m/s]; (N, K, 2).
        agility: how fast velocities change [m/s2]; 0 for at once.
        seconds: how much later each look is [s]; (T,).
        weights: how much each look counts; (T,).
        room: room that a person needs [m].
        edges: edges of all outlines at all looks, see `gaitway.crowd.dynamics.walls.edges_of`; (S, 6).
        outlines: first edge of each outline, and the number of edges; (O + 1,).
        looks: first outline of each look, and the number of outlines; (T + 1,).
        worst: receives the lacking room, 0 for none [m]; (N, K).
    """
    for n in range(len(places)):
        for k in range(velocities.shape[1]):
            worst[n, k] = 0.0
            x, y = velocities[n, k, 0] - now[n, 0], velocities[n, k, 1] - now[n, 1]
            full = math.sqrt(x * x + y * y) / agility if agility > 0.0 else 0.0
            for t in range(len(seconds)):
                x = places[n, 0] + _gone(now[n, 0], velocities[n, k, 0], full, seconds[t])
                y = places[n, 1] + _gone(now[n, 1], velocities[n, k, 1], full, seconds[t])
                for o in range(looks[t], looks[t + 1]):
                    away = _away(x, y, edges, outlines[o], outlines[o + 1])
                    worst[n, k] = max(worst[n, k], weights[t] * (room - away))
