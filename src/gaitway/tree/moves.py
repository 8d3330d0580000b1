"""Moves of a tree: some of a library's actions, and which may follow which.

Similar clips of a behaviour are one move, that of the first of them: otherwise a dozen variants would take the place of
paths that differ. Which clip is played is drawn when a plan is made (`space.clip_choice`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, owned, read_only
from gaitway.core.cache import digest
from gaitway.core.errors import TreeError
from gaitway.library.actions import ActionTable
from gaitway.scene.plan_options import TIME_WEIGHT
from gaitway.space.similar_clips import SimilarClips
from gaitway.tree.building.default_moves import usual_behaviors

MOST_MOVES = 255
"""Most moves: a node keeps its move in one byte."""
MOST_FOLLOWERS = 64
"""Most followers of a move: a growing node keeps which of them it has in one word."""


@dataclass(frozen=True, eq=False)
class Moves:
    """M actions of a table, for trees that begin in one state."""

    table: ActionTable
    actions: IntArray
    """Rows of the table; (M,)."""
    root: str
    """The state that a tree begins in."""
    costs: FloatArray
    """Cost of each move; (M,)."""
    follower_starts: IntArray
    """First entry of each move in `followers`, of the root as entry M, and their number at the end; (M + 2,)."""
    followers: IntArray
    """Moves that may follow each move."""

    def __len__(self) -> int:
        return len(self.actions)

    @cached_property
    def digest(self) -> str:
        """Hash of all that nodes depend on, so that a tree is never used with another library.

        Clips that are only played in place of a move do not count: a tree stays valid when a library gets variants that
        keep legs and paths, and is refused if they change the cost of a behaviour.
        """
        table, rows = self.table, self.actions
        kinds = [None if k < 0 else table.kinds[k] for k in table.kind[rows].tolist()]
        paths = [table.samples[table.sample_starts[a] : table.sample_starts[a + 1]] for a in rows.tolist()]
        names = [table.clips[a] for a in rows.tolist()]
        states = [table.states[s] for s in table.end_state[rows].tolist()]
        # costs are means over clips, which twins change by the last digit
        return digest(self.root, names, states, kinds, table.moves[rows], table.durations[rows], self.costs.round(9),
                      table.pass_times[rows], self.follower_starts, self.followers, paths)  # fmt: skip

    @property
    def clips(self) -> int:
        """Number of clips that may be played for all moves."""
        return int(np.isin(SimilarClips.of(self.table).representative, self.actions).sum())

    @cached_property
    def groups(self) -> IntArray:
        """Group of each move, the root last; moves with the same followers are in one group; (M + 1,)."""
        starts = self.follower_starts.tolist()
        lists = [tuple(self.followers[a:b].tolist()) for a, b in pairwise(starts)]
        kinds = list(dict.fromkeys(lists))
        return _whole([kinds.index(some) for some in lists])

    def points(self, spacing: float) -> tuple[IntArray, FloatArray]:
        """Return points along each move, at most `spacing` apart [m]: first of each, P at the end (M + 1,); (P, 2)."""
        return _dense([self._path(row) for row in self.actions.tolist()], spacing)

    def middles(self, parts: int = 2) -> FloatArray:
        """Return points of each move at equal times without its end [m]; of a special move the moments of passing.

        Args:
            parts: number of parts of a move; 2 gives the thesis's midtime.

        Returns:
            (M, parts - 1, 2).
        """
        if parts < 2:
            raise TreeError(f"moves cut into {parts} parts; 2 or more have something in between")
        table, out = self.table, np.empty((len(self), parts - 1, 2))
        for move, row in enumerate(self.actions.tolist()):
            part = slice(table.sample_starts[row], table.sample_starts[row + 1])
            share = np.arange(1, parts) / parts
            special = table.kind[row] >= 0
            times = np.full(parts - 1, table.pass_times[row]) if special else share * table.durations[row]
            for axis in range(2):
                out[move, :, axis] = np.interp(times, table.sample_times[part], table.samples[part, axis])
        return out

    def _path(self, row: int) -> FloatArray:
        starts = self.table.sample_starts
        path: FloatArray = self.table.samples[starts[row] : starts[row + 1], :2]
        return path


def choose_moves(
    table: ActionTable,
    root: str,
    behaviors: Collection[str] | None = None,
    time_weight: float = TIME_WEIGHT,
    kinds: Collection[str] = (),
) -> Moves:
    """Choose the moves of trees that begin in a state.

    Of similar clips the first one is taken; of behaviours with many different clips as many as there is room for.

    Args:
        table: actions of a library.
        root: the state that the character is in, such as "walk".
        behaviors: names of the behaviours to use; None for those of `default_moves.usual_behaviors`.
        time_weight: cost of a second [m/s], as the search has it.
        kinds: kinds of special obstacles that are to be passed, if no behaviours are named.

    Raises:
        LibraryError: if there is no such state or behaviour.
        TreeError: if nothing can be done in the state, no behaviour passes such obstacles, or there are too many moves.
    """
    first = table.state(root)
    names = usual_behaviors(table, (root,), kinds, time_weight) if behaviors is None else behaviors
    representatives = SimilarClips.of(table).representatives
    wanted = representatives[np.isin(table.behavior[representatives], [table.index(name) for name in names])]
    # clips of a behaviour are one after another; this is the number of each among them
    number = np.arange(len(wanted)) - np.searchsorted(table.behavior[wanted], table.behavior[wanted])
    for clips in range(int(number.max(initial=0)) + 1, 0, -1):
        rows = wanted[number < clips]
        lists = _followers(table, rows, first)
        if len(rows) <= MOST_MOVES and max(map(len, lists)) <= MOST_FOLLOWERS:
            break
    _check(root, rows, lists)
    costs = table.costs[rows] + time_weight * table.durations[rows]
    return Moves(
        table=table,
        actions=_whole(rows),
        root=root,
        costs=owned(costs, "costs", (len(rows),), error=TreeError),
        follower_starts=_whole(np.cumsum([0, *map(len, lists)])),
        followers=_whole([move for some in lists for move in some]),
    )


def _followers(table: ActionTable, rows: IntArray, first: int) -> list[list[int]]:
    """Return the followers of some actions, and the first moves in a state, as numbers among these actions."""
    number, starts = {int(row): move for move, row in enumerate(rows)}, table.follower_starts
    after = [table.followers[starts[b] : starts[b + 1]].tolist() for b in table.behavior[rows].tolist()]
    lists = [[number[a] for a in some if a in number] for some in after]
    return [*lists, [move for move, row in enumerate(rows) if table.start_state[row] == first]]


def _check(root: str, rows: IntArray, lists: list[list[int]]) -> None:
    if not lists[-1]:
        raise TreeError(f"no tree begins in state '{root}': none of the behaviours begins there; name others")
    if len(rows) > MOST_MOVES:
        raise TreeError(f"{len(rows)} moves for a tree; it can have {MOST_MOVES} at most: name fewer behaviours")
    if (most := max(map(len, lists))) > MOST_FOLLOWERS:
        raise TreeError(
            f"{most} moves may follow one another in a tree, {MOST_FOLLOWERS} at most: name fewer behaviours"
        )


def _dense(paths: list[FloatArray], spacing: float) -> tuple[IntArray, FloatArray]:
    """Return points along polylines, corners included."""
    out = []
    for path in paths:
        parts = [path[:1]]
        for a, b in pairwise(path):
            count = max(int(np.ceil(np.hypot(*(b - a)) / spacing)), 1)
            parts.append(a + np.arange(1, count + 1)[:, None] / count * (b - a))
        out.append(np.concatenate(parts))
    return _whole(np.cumsum([0, *map(len, out)])), read_only(np.concatenate(out))


def _whole(values: object) -> IntArray:
    return owned(values, "moves", (None,), np.int64, TreeError)  # type: ignore[arg-type]
