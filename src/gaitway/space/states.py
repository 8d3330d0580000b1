"""States of a behaviour graph for planners: behaviours with the same followers end in one state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import BoolArray, IntArray, owned
from gaitway.core.errors import LibraryError
from gaitway.library.actions import ActionTable

MAX_STATES = 64
"""Most states of one library."""


@dataclass(frozen=True, eq=False)
class States:
    """The S states of the B behaviours of a table, numbered in the order of the first behaviour that ends in each."""

    after: IntArray
    """The state that each behaviour ends in; (B,)."""
    follower_starts: IntArray
    """First entry of each state in `followers`, and their number at the end; (S + 1,)."""
    followers: IntArray
    """Behaviours that may come in each state."""
    action_starts: IntArray
    """First action of each behaviour, and A at the end; the actions of a behaviour are interchangeable; (B + 1,)."""
    rest: IntArray
    """The shortest behaviour that waits quietly in each state, or -1; (S,)."""
    idle: BoolArray
    """Whether each behaviour goes nowhere and may be repeated; (B,)."""

    def __len__(self) -> int:
        return len(self.rest)

    @staticmethod
    def of(table: ActionTable) -> States:
        """Find the states of an action table.

        Raises:
            LibraryError: if there are more states than a planner can tell apart.
        """
        starts, count = table.follower_starts, len(table.behaviors)
        lists = [
            tuple(sorted({int(table.behavior[a]) for a in table.followers[starts[b] : starts[b + 1]]}))
            for b in range(count)
        ]
        found = list(dict.fromkeys(lists))
        if len(found) > MAX_STATES:
            raise LibraryError(f"behaviour graph with {len(found)} states; a planner can tell {MAX_STATES} apart")
        after = [found.index(followers) for followers in lists]
        clips = [np.flatnonzero(table.behavior == b) for b in range(count)]
        idle = [b in lists[b] and bool(table.idle[clips[b]].all()) for b in range(count)]
        quiet = [idle[b] and bool(table.quiet[clips[b]].all()) for b in range(count)]
        lengths = [float(table.durations[clips[b]].mean()) for b in range(count)]
        rest = [min((b for b in f if quiet[b] and after[b] == s), key=lengths.__getitem__, default=-1)
                for s, f in enumerate(found)]  # fmt: skip
        return States(
            after=_whole(after),
            follower_starts=_whole(np.cumsum([0, *map(len, found)])),
            followers=_whole([b for f in found for b in f]),
            action_starts=_whole(np.searchsorted(table.behavior, np.arange(count + 1))),
            rest=_whole(rest),
            idle=owned(idle, "idle", (count,), np.bool_),
        )


def _whole(values: object) -> IntArray:
    return owned(values, "states", (None,), np.int64, LibraryError)  # type: ignore[arg-type]
