"""Knots: people who press against one another from two sides of a narrow place, and who of them steps back.

Two clumps at a gate that lets one person through stand there for ever: everybody in front waits for somebody opposite,
and is pressed on from behind. People solve that by words and looks: one side steps back and aside, and comes again
when the others are through. Here the side of whoever has waited longest goes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.crowd.dynamics._route_kernels import MOST_CORNERS, SmallInts

LOOK_EVERY = 0.5
"""Time between two looks for knots [s]."""
_BESIDE = 0.95
"""People who get on no more belong to one knot if they are this near [m]."""
MOST = 14
"""Most people of a knot. In larger crowds streams pass one another if they are let alone: a side that steps back as one
holds up all the others."""
_AHEAD = 2.5
"""Where somebody wants to go is the place on its way that is so far ahead [m]."""
_AGAINST, _WITH = -0.2, 0.2
"""Cosines of the ways of two people below which one goes against the other, and above which both go the same way."""
_BACK_S, _PER_PERSON = 2.5, 0.8
"""Time for which people step back [s], and how much longer for each person whom they let through [s]."""
_LONGEST = 9.0
"""Longest time for which people step back [s]."""
_BACK, _ASIDE = 0.6, 0.8
"""How far people go back, and aside out of the way of the others, as parts of the direction in which they step."""
_PACE = 0.6
"""Speed at which people step back [m/s]."""
_CLEAR = 1.6
"""Those who are so far away from the knot wait there, and do not go back any farther [m]."""


class Yielding(NamedTuple):
    """Who steps back."""

    rows: IntArray
    """Who; (Y,)."""
    centers: FloatArray
    """Where whoever goes first is [m]; (Y, 2)."""
    lines: FloatArray
    """Which way that one wants to go, as unit vectors; (Y, 2)."""
    seconds: FloatArray
    """For how long they step back [s]; (Y,)."""


def ways_ahead(
    places: FloatArray, goals: FloatArray, corners: FloatArray, counts: SmallInts, numbers: SmallInts
) -> FloatArray:
    """Return the directions to the places on people's ways that are some metres ahead, as unit vectors; (N, 2).

    Args:
        places: where people are [m]; (N, 2).
        goals: where they go to [m]; (N, 2).
        corners: corners of their ways [m]; (N, `MOST_CORNERS`, 2).
        counts: numbers of corners; (N,).
        numbers: the next corner of each; (N,).
    """
    at, left, out = places.copy(), np.full(len(places), _AHEAD), places.copy()
    for k in range(MOST_CORNERS + 1):
        used = (k >= numbers) & (k < counts) if k < MOST_CORNERS else np.ones(len(places), np.bool_)
        to = corners[:, k] if k < MOST_CORNERS else goals
        way = to - at
        far = np.hypot(way[:, 0], way[:, 1])
        share = np.minimum(left / np.maximum(far, 1e-9), 1.0)
        out = np.where(used[:, None], at + share[:, None] * way, out)
        left = np.where(used, np.maximum(left - far, 0.0), left)
        at = np.where(used[:, None], to, at)
    way = out - places
    return np.asarray(way / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)[:, None])


def who_yields(rows: IntArray, places: FloatArray, ways: FloatArray, since: FloatArray) -> Yielding:
    """Return who steps back, among people who get on no more; nobody does in a crowd of more than `MOST`.

    Args:
        rows: their numbers, rising; (N,).
        places: where they are [m]; (N, 2).
        ways: which way they want to go, see `ways_ahead`; (N, 2).
        since: time of their last progress [s]; (N,).
    """
    count = len(rows)
    found: list[tuple[IntArray, int, float]] = []
    if count > 1:
        pairs = scipy.spatial.cKDTree(places).query_pairs(_BESIDE, output_type="ndarray")
        graph = scipy.sparse.coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
        labels = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
        against = (ways[pairs[:, 0]] * ways[pairs[:, 1]]).sum(axis=1) < _AGAINST
        for label in np.unique(labels[pairs[against, 0]]).tolist():
            own = np.flatnonzero(labels == label)
            if len(own) > MOST:
                continue
            facing = np.unique(pairs[against & (labels[pairs[:, 0]] == label)])
            first = int(facing[np.lexsort((rows[facing], since[facing]))[0]])
            along = ways[own] @ ways[first]
            back = own[along < _AGAINST]
            found.append((back, first, min(_BACK_S + _PER_PERSON * int((along > _WITH).sum()), _LONGEST)))
    if not found:
        return Yielding(np.empty(0, np.int64), np.empty((0, 2)), np.empty((0, 2)), np.empty(0))
    firsts = np.concatenate([np.full(len(back), first) for back, first, _ in found])
    seconds = np.concatenate([np.full(len(back), time) for back, _, time in found])
    who = np.concatenate([back for back, _, _ in found])
    return Yielding(rows[who], places[firsts], ways[firsts], seconds)


def who_follows(
    rows: IntArray, ways: FloatArray, blockers: IntArray, yields: BoolArray, all_ways: FloatArray
) -> IntArray:
    """Return who is in the way of somebody who steps back, and wants to go the same way; (F,).

    Args:
        rows: people who are held up; (N,).
        ways: which way they want to go; (N, 2).
        blockers: who is in the way of each, below 0 for nobody; (N,).
        yields: who of all people steps back; (M,).
        all_ways: which way these want to go, if they step back; (M, 2).
    """
    other = np.maximum(blockers, 0)
    same = (ways * all_ways[other]).sum(axis=1) > _WITH
    return np.asarray(rows[(blockers >= 0) & yields[other] & same])


def wishes_back(places: FloatArray, ways: FloatArray, centers: FloatArray, lines: FloatArray) -> FloatArray:
    """Return the velocities at which people want to step back [m/s]; (N, 2).

    Args:
        places: where they are [m]; (N, 2).
        ways: which way they want to go in the end, as unit vectors; (N, 2).
        centers: where the knot is [m]; (N, 2).
        lines: which way those go who are let through, as unit vectors; (N, 2).
    """
    away = places - centers
    across = np.column_stack([-lines[:, 1], lines[:, 0]])
    off = (away * across).sum(axis=1)
    # to the right of those who come where one is just before them
    side = np.where(
        off > 0.05, 1.0, np.where(off < -0.05, -1.0, np.where((ways * across).sum(axis=1) > 0.0, 1.0, -1.0))
    )
    step = _BACK * lines + _ASIDE * side[:, None] * across
    step = _PACE * step / np.hypot(step[:, 0], step[:, 1])[:, None]
    clear = np.hypot(away[:, 0], away[:, 1]) > _CLEAR
    return np.where(clear[:, None], 0.0, step)
