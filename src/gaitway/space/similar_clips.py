"""Clips that may be played in place of one another: twins, and those that are nearly so.

Planners choose ways by what behaviours do, and people never do a thing twice in the same way (Lau 2009, chapter 6).
Two clips of a behaviour are *twins* if they move alike and take as long: takes of a cast, and variants that keep legs.
One can stand in for the other, and the rest of a plan stays where it is. Variants of whole bodies end some centimetres
and degrees elsewhere; they are *kin* of the clip that they are near to. With one of them the rest of the plan shifts,
so what follows has to be laid and tested anew (`instances`).
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
"""Clips whose ends and durations differ by less are twins [m, rad, s]."""
NEAR, NEAR_TURN, NEAR_TIME = 0.12, float(np.radians(6.0)), 0.1
"""Clips are kin whose ends are no farther apart than this [m], face the same way within this [rad], and whose durations
differ by no more than this share: variants of a walk lie within it, and steps of another length or turn do not."""


@dataclass(frozen=True, eq=False)
class SimilarClips:
    """Which of the A actions of a table may stand in for one another."""

    twin: IntArray
    """The first of each action's twins, itself included; (A,)."""
    representative: IntArray
    """The first of each action's kin, which stands for all of them in a tree; (A,)."""

    @staticmethod
    def of(table: ActionTable) -> SimilarClips:
        """Of a library. Kin are near to their leader, and so never far from one another."""
        ends = np.column_stack([table.moves, table.durations])
        same = np.full(4, SAME)
        twin = np.arange(len(table))
        representative = np.arange(len(table))
        for behavior in range(len(table.behaviors)):
            rows = np.flatnonzero(table.behavior == behavior)
            twin[rows] = rows[_first_alike(ends[rows], table.idle[rows], same)]
            firsts = np.unique(twin[rows])
            near = np.array([NEAR, NEAR, NEAR_TURN, NEAR_TIME * float(table.durations[rows].min())])
            led = dict(zip(firsts.tolist(), firsts[_first_alike(ends[firsts], table.idle[firsts], near)], strict=True))
            representative[rows] = [led[first] for first in twin[rows].tolist()]
        return SimilarClips(_whole(twin), _whole(representative))

    @property
    def representatives(self) -> IntArray:
        """Actions that stand for all of their kin, ascending."""
        return np.unique(self.representative)

    @cached_property
    def any(self) -> bool:
        """Whether there are any that may stand in for others."""
        return bool((self.representative != np.arange(len(self.representative))).any())

    @cached_property
    def shift(self) -> bool:
        """Whether there are kin that are no twins, so that plans shift."""
        return bool((self.representative != self.twin).any())

    def of_action(self, action: int) -> IntArray:
        """Twins of an action, itself included, ascending."""
        return np.flatnonzero(self.twin == self.twin[action])

    def kin_of(self, action: int) -> IntArray:
        """Kin of an action, its twins and itself included, ascending."""
        return np.flatnonzero(self.representative == self.representative[action])

    @cached_property
    def arrays(self) -> SimilarClipArrays:
        """For kernels: kin side by side, twins among them side by side."""
        members = np.lexsort((np.arange(len(self.twin)), self.twin, self.representative))
        spans = np.column_stack([*_spans(self.representative, members), *_spans(self.twin, members)])
        return SimilarClipArrays(read_only(spans), read_only(members))


def _first_alike(ends: FloatArray, idle: BoolArray, most: FloatArray) -> IntArray:
    """For each of some clips the first that is no farther from it than `most`, of those that are first themselves.

    Args:
        ends: x, y, turn, duration; (N, 4).
        idle: whether each stays where it is; (N,).
        most: (4,).

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
    """Where the members of each action's group begin and end, in an order in which they are side by side."""
    order = group[members]
    change = np.flatnonzero(np.concatenate([[True], order[1:] != order[:-1], [True]]))
    number = np.repeat(np.arange(len(change) - 1), np.diff(change))
    place = np.empty(len(members), np.int64)
    place[members] = number
    return change[:-1][place], change[1:][place]


def _whole(values: IntArray) -> IntArray:
    return owned(values, "twins", (None,), np.int64, LibraryError)
