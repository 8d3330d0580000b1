"""Clips of a library that may be played in place of one another.

Planners choose paths by what behaviours do, and people never do a thing twice in the same manner (Lau 2009, chapter 6).
Two clips of a behaviour are *identical* to a planner if they move alike and take as long: takes of a cast, and variants
that keep the legs. Either can replace the other, and the rest of a plan stays where it is. Variants of whole bodies end
some centimetres and degrees elsewhere. They are *similar* to the clip that they are near to, their *representative*.
With a similar clip the rest of the plan shifts, so the later steps have to be laid and tested again (`clip_choice`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned, read_only
from gaitway.core.errors import LibraryError
from gaitway.library.actions import ActionTable
from gaitway.space._clip_choice_kernels import SimilarClipArrays

SAME = 1e-6
"""Largest difference between ends and durations of identical clips [m, rad, s]."""
NEAR, NEAR_TURN, NEAR_TIME = 0.12, float(np.radians(6.0)), 0.1
"""Largest differences between similar clips: distance of their ends [m], heading [rad], and share of the duration.
Variants of a walk lie within these, and steps of another length or turn do not."""


@dataclass(frozen=True, eq=False)
class SimilarClips:
    """Which of the A actions of a table may replace one another."""

    identical: IntArray
    """The first action that is identical to each action, or the action itself; (A,)."""
    representative: IntArray
    """The first action that is similar to each action; a tree holds it for all of them; (A,)."""

    @staticmethod
    def of(table: ActionTable) -> SimilarClips:
        """Compare the actions of a table. Similar actions are near to their representative, and so to one another."""
        ends = np.column_stack([table.moves, table.durations])
        same = np.full(4, SAME)
        identical = np.arange(len(table))
        representative = np.arange(len(table))
        for behavior in range(len(table.behaviors)):
            rows = np.flatnonzero(table.behavior == behavior)
            identical[rows] = rows[_first_alike(ends[rows], table.idle[rows], same)]
            firsts = np.unique(identical[rows])
            near = np.array([NEAR, NEAR, NEAR_TURN, NEAR_TIME * float(table.durations[rows].min())])
            led = dict(zip(firsts.tolist(), firsts[_first_alike(ends[firsts], table.idle[firsts], near)], strict=True))
            representative[rows] = [led[first] for first in identical[rows].tolist()]
        return SimilarClips(_whole(identical), _whole(representative))

    @property
    def representatives(self) -> IntArray:
        """Actions that represent all that are similar to them, ascending."""
        return np.unique(self.representative)

    @cached_property
    def any(self) -> bool:
        """Whether any action may replace another."""
        return bool((self.representative != np.arange(len(self.representative))).any())

    @cached_property
    def shift(self) -> bool:
        """Whether some similar actions are not identical, so that plans shift."""
        return bool((self.representative != self.identical).any())

    def of_action(self, action: int) -> IntArray:
        """Return all actions that are identical to an action, itself included, ascending."""
        return np.flatnonzero(self.identical == self.identical[action])

    @cached_property
    def arrays(self) -> SimilarClipArrays:
        """The same for kernels: similar actions side by side, and identical actions among them side by side."""
        members = np.lexsort((np.arange(len(self.identical)), self.identical, self.representative))
        spans = np.column_stack([*_spans(self.representative, members), *_spans(self.identical, members)])
        return SimilarClipArrays(read_only(spans), read_only(members))


def _first_alike(ends: FloatArray, idle: BoolArray, most: FloatArray) -> IntArray:
    """Return for each clip the first one that is no farther from it than `most`, among those that are first themselves.

    Args:
        ends: x, y [m], turn [rad], duration [s]; (N, 4).
        idle: whether each clip stays in place; (N,).
        most: largest differences; (4,).

    Returns:
        Rows; (N,).
    """
    firsts: list[int] = []
    out = np.empty(len(ends), np.int64)
    for k, end in enumerate(ends):
        found = next((f for f in firsts if idle[f] == idle[k] and (np.abs(ends[f] - end) <= most).all()), k)
        if found == k:
            firsts.append(k)
        out[k] = found
    return out


def _spans(group: IntArray, members: IntArray) -> tuple[IntArray, IntArray]:
    """Return where the members of each action's group begin and end, in an order that puts them side by side."""
    order = group[members]
    change = np.flatnonzero(np.concatenate([[True], order[1:] != order[:-1], [True]]))
    number = np.repeat(np.arange(len(change) - 1), np.diff(change))
    place = np.empty(len(members), np.int64)
    place[members] = number
    return change[:-1][place], change[1:][place]


def _whole(values: IntArray) -> IntArray:
    return owned(values, "similar clips", (None,), np.int64, LibraryError)
