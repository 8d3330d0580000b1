"""Whose trees the papers' tables grow: the moves of a library, and how large everything is for them."""

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
"""Bytes that a node takes in the thesis, about; sizes of trees become numbers of nodes by it."""
_STRIDE = 1.3
"""Mean length of the moves that lengths are given for [m]: those of the built-in person."""
_AHEAD = 0.5
"""Moves that do not get on by so much are left out [m]."""
_LARGEST = 60_000
"""Most nodes of an exhaustive tree; the thesis's has about 40,000."""


class Walker(NamedTuple):
    """Somebody who goes forward and turns a little, as the thesis's trees do (figure 4.10)."""

    name: str
    moves: Moves
    radius: float
    """Of the body [m]."""
    scale: float
    """What lengths given for a person are multiplied by: moves of others are longer."""
    levels: int
    """Of the exhaustive tree that is about as large as the thesis's of five."""

    @property
    def words(self) -> str:
        """What moves there are, in a line."""
        table = self.moves.table
        names = [table.behaviors[b] for b in table.behavior[self.moves.actions].tolist()]
        size = exhaustive_size(self.moves, self.levels)
        scaled = "" if self.scale == 1.0 else f"; all lengths below are to be taken times {self.scale:g}"
        return (
            f"{self.name}: {len(names)} moves ({', '.join(names)}); {self.levels} levels of all of them are {size:,} "
            f"nodes (thesis: 5 levels, about 2 MB or 40,000 nodes){scaled}"
        )


def walker(library: str) -> Walker:
    """Of a cast: the state in which the most moves go ahead, and those moves.

    Raises:
        GaitwayError: if there is no such cast, or it never goes ahead twice.
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
    """Nodes of a tree of the thesis of so many thousand bytes."""
    return round(1000 * kilobytes / NODE)
