"""Characters whose trees the papers' tables grow: their moves, and the scale of all lengths for them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import GaitwayError
from gaitway.library.actions import action_table
from gaitway.scene.characters import RADII
from gaitway.tree.building.growing import exhaustive_size
from gaitway.tree.moves import Moves, choose_moves

NODE = 50
"""Approximate number of bytes of a node in the thesis, to convert sizes of trees into numbers of nodes."""
_STRIDE = 1.3
"""Mean length of the moves of the built-in person [m]. Lengths in the tables are given for this person."""
_AHEAD = 0.5
"""Least distance ahead that a move must cover to be used [m]."""
_LARGEST = 60_000
"""Most nodes of an exhaustive tree; the thesis's has about 40,000."""


class Walker(NamedTuple):
    """A character that goes forward and turns a little, as in the thesis's trees (figure 4.10)."""

    name: str
    moves: Moves
    radius: float
    """Radius of the body [m]."""
    scale: float
    """Factor of lengths that are given for the built-in person; moves of other characters are longer."""
    levels: int
    """Number of levels of an exhaustive tree that is about as large as the thesis's tree of five levels."""

    @property
    def words(self) -> str:
        """Description of the moves in one line."""
        table = self.moves.table
        names = [table.behaviors[b] for b in table.behavior[self.moves.actions].tolist()]
        size = exhaustive_size(self.moves, self.levels)
        scaled = "" if self.scale == 1.0 else f"; all lengths below are to be taken times {self.scale:g}"
        return (
            f"{self.name}: {len(names)} moves ({', '.join(names)}); {self.levels} levels of all of them are {size:,} "
            f"nodes (thesis: 5 levels, about 2 MB or 40,000 nodes){scaled}"
        )


def walker(library: str) -> Walker:
    """Return the character of a cast. Its moves are those of the state in which most moves go ahead.

    Raises:
        GaitwayError: if there is no such cast, or it has no moves that go ahead one after another.
    """
    table = action_table(load_cast(library))
    ahead = (table.moves[:, 0] >= _AHEAD) & (np.abs(table.moves[:, 2]) < 0.5 * np.pi)
    within = (table.start_state == table.end_state) & ahead & ~table.idle & (table.kind < 0)
    state = int(np.argmax(np.bincount(table.start_state[within], minlength=len(table.states))))
    rows = np.flatnonzero(within & (table.start_state == state))
    if not len(rows):
        raise GaitwayError(f"library '{library}' has no move that goes ahead and on; it cannot grow a tree")
    names = sorted({table.behaviors[b] for b in table.behavior[rows].tolist()})
    moves = choose_moves(table, table.states[state], names)
    lengths = np.hypot(*table.moves[moves.actions, :2].T)
    levels = next((n for n in range(2, 40) if exhaustive_size(moves, n + 1) > _LARGEST), 40)
    scale = max(round(float(lengths.mean()) / _STRIDE, 1), 0.1)
    return Walker(library, moves, RADII.get(library, RADII["person"]), scale, levels)


def nodes_of(kilobytes: float) -> int:
    """Return the number of nodes of a tree of the thesis of a size [KB]."""
    return round(1000 * kilobytes / NODE)
