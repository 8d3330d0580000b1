"""Straight paths: the root's path of some steps is turned and stretched, step by step, until it hardly turns.

Each step keeps its own shape. What is added to its heading goes over smoothly from one step to the next, so that the
path has no corners. The sum of all turns is made small, not the sum of their squares: that leaves a few turns where the
path must turn, and straight lines between them.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.blending import ease

_ROUNDS, _CLOSING = 7, 6
"""Number of rounds that straighten, and of rounds that only close what is left at the end."""
_STEP = 0.3
"""Most that a round adds to a heading [rad]; a turn is only linear for a short way."""
_SMALL = float(np.radians(3.0))
"""Turn of a step below which it counts by its square [rad]."""
_STIFF = 60.0
"""Cost of stretching all steps e times, as that of a turn [rad]."""
_CLOSED = 1e-6
"""Greatest distance of the end from where it should be [m]."""
SHORTEST, LONGEST = 0.88, 1.05
"""Least and greatest factor on the lengths of steps; what looks like the same walk."""


def straight_path(
    path: FloatArray, knots: IntArray, place: tuple[float, float], heading: float | None
) -> FloatArray | None:
    """Return the straightest path of the same steps from their start to a place; None if there is none.

    Args:
        path: planar poses (x, y, heading) of the root, headings not wrapped [m, rad]; (F, 3).
        knots: frame in which each step begins, and the last frame; (K + 1,).
        place: where the last frame is to be: x, y [m].
        heading: its heading, near that of the path and not wrapped [rad]; None for any.
    """
    count, ahead = len(knots) - 1, np.diff(path[:, :2], axis=0)
    turns = np.diff(path[knots, 2])
    share = _shares(len(path), knots)
    middle = 0.5 * (share[1:] + share[:-1])
    added, stretch, free, wanted = np.zeros(count), 1.0, count, np.asarray(place) - path[0, :2]
    if heading is not None:  # at the first knot nothing is added, and at the last one what is lacking
        free, added[-1] = count - 1, heading - path[-1, 2]
    steps = np.eye(count) - np.eye(count, k=-1)
    for number in range(_ROUNDS + _CLOSING):
        moved = stretch * _turned(ahead, middle @ added)
        lack = wanted - moved.sum(axis=0)
        now, system = turns + steps @ added, np.zeros((free + 3, free + 3))
        weight = 1.0 / np.maximum(np.abs(now), _SMALL)
        slope = np.append(((steps.T * weight) @ now)[:free], _STIFF * (stretch - 1.0))
        if number >= _ROUNDS:  # the rest closes what is left, by the smallest change
            slope[:] = 0.0
            if np.abs(lack).max() < 0.01 * _CLOSED:
                break
        system[:free, :free], system[free, free] = ((steps.T * weight) @ steps)[:free, :free], _STIFF
        pull = np.vstack([-moved[:, 1] @ middle, moved[:, 0] @ middle])[:, :free]
        system[free + 1 :, :free], system[free + 1 :, free] = pull, moved.sum(axis=0) / stretch
        system[: free + 1, free + 1 :] = system[free + 1 :, : free + 1].T
        change = np.linalg.solve(system, np.concatenate([-slope, lack]))
        added[:free] += np.clip(change[:free], -_STEP, _STEP)
        stretch = float(np.clip(stretch + change[free], SHORTEST, LONGEST))
    offset = share @ added
    moved = stretch * _turned(ahead, middle @ added)
    if not np.hypot(*(wanted - moved.sum(axis=0))) <= _CLOSED:
        return None
    places = path[0, :2] + np.concatenate([np.zeros((1, 2)), np.cumsum(moved, axis=0)])
    return np.column_stack([places, path[:, 2] + offset])


def turning(path: FloatArray, knots: IntArray) -> float:
    """Return the sum of the turns of steps, without signs [rad]."""
    return float(np.abs(np.diff(path[knots, 2])).sum())


def _shares(frames: int, knots: IntArray) -> FloatArray:
    """Return the share of what is added at each knot but the first, in each frame; (F, K)."""
    numbers = np.arange(frames)
    out = np.zeros((frames, len(knots) - 1))
    step = np.clip(np.searchsorted(knots, numbers, side="left") - 1, 0, len(knots) - 2)
    grown = ease((numbers - knots[step]) / np.maximum(knots[step + 1] - knots[step], 1))
    out[numbers, step] = grown
    later = step > 0
    out[numbers[later], step[later] - 1] = 1.0 - grown[later]
    return out


def _turned(moves: FloatArray, angles: FloatArray) -> FloatArray:
    c, s = np.cos(angles), np.sin(angles)
    return np.column_stack([c * moves[:, 0] - s * moves[:, 1], s * moves[:, 0] + c * moves[:, 1]])
