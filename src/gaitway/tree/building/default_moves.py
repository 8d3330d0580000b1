"""Default moves of a tree: which behaviours of a library it uses, where it begins, and how far it reaches."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import TreeError
from gaitway.library.actions import ActionTable
from gaitway.scene.plan_options import TIME_WEIGHT
from gaitway.tree.region import CELL, Region

HORIZON = 10.0
"""Reach of the default region, as the time that it takes to get there [s]."""
_CELLS = 50
"""Most cells along the radius of a region."""
_DEARER = 2.0
"""Largest cost of a metre by a further gait, as a multiple of the cheapest, for it to be useful in tight places."""
_LEAST_SPEED = 0.5
"""Least speed of a gait that a region is measured by [m/s]."""


class TreeGait(NamedTuple):
    """A state of locomotion that is entered from and left to a state of rest."""

    state: int
    """Number of the state in the table."""
    per_metre: float
    """Least cost of a metre."""
    speed: float
    """Speed at that cost [m/s]."""
    trip: float
    """Least distance of entering and leaving it at once [m]."""


def gaits(table: ActionTable, time_weight: float = TIME_WEIGHT) -> tuple[TreeGait, ...]:
    """Return the gaits that lead forward from rest to rest, the preferred one first.

    That is the one whose metre costs least, so it depends on the table's weights for speed. Others follow if they need
    less room to start and stop, and cost less than twice as much per metre: a jogger walks a short distance.

    Args:
        table: actions of a library, with the weights that plans are made with.
        time_weight: cost of a second [m/s].
    """
    costs, ahead = table.costs + time_weight * table.durations, table.moves[:, 0]
    ordinary = ~table.idle & (table.kind < 0)
    found = []
    for state in np.flatnonzero(~table.rest).tolist():
        starts, ends = table.start_state == state, table.end_state == state
        entries = ordinary & ends & table.rest[table.start_state]
        exits = ordinary & starts & table.rest[table.end_state]
        loops = ordinary & starts & ends & (ahead > np.abs(table.moves[:, 1])) & (ahead > 0.0)
        if entries.any() and exits.any() and loops.any():
            rates = np.where(loops, costs / np.where(loops, ahead, 1.0), np.inf)
            best = int(np.argmin(rates))
            trip = float(ahead[entries].min() + ahead[exits].min())
            found.append(TreeGait(state, float(rates[best]), float(ahead[best] / table.durations[best]), trip))
    found.sort(key=lambda gait: (gait.per_metre, gait.state))
    return tuple(
        gait
        for gait in found
        if gait is found[0] or (gait.trip < found[0].trip and gait.per_metre < _DEARER * found[0].per_metre)
    )


def usual_roots(table: ActionTable, time_weight: float = TIME_WEIGHT) -> tuple[str, ...]:
    """Return the states in which a character asks for a plan: at rest, or in one of its gaits."""
    moving = [gait.state for gait in gaits(table, time_weight)]
    return tuple(table.states[state] for state in [*np.flatnonzero(table.rest).tolist(), *moving])


def usual_behaviors(
    table: ActionTable, roots: Collection[str], kinds: Collection[str] = (), time_weight: float = TIME_WEIGHT,
    able: Collection[str] | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Return the names of behaviours for trees from some states.

    These are all behaviours between: the given states, the states of rest, the gaits if a tree begins at rest, and the
    states of special behaviours. Behaviours that stay in place are left out.

    Args:
        table: actions of a library, with the weights that plans are made with.
        roots: states that trees begin in.
        kinds: kinds of special obstacles that are to be passed, such as "jump".
        time_weight: cost of a second [m/s].
        able: names of the special behaviours that pass all obstacles of their kind; None if that is not known. Where
            one of them belongs to the states of the tree, nobody changes the gait to pass that kind in another way.

    Raises:
        LibraryError: if there is no such state.
        TreeError: if no behaviour passes such obstacles.
    """
    states = np.array(table.rest)
    first = [table.state(root) for root in roots]
    states[first] = True
    if table.rest[first].any():
        states[[gait.state for gait in gaits(table, time_weight)]] = True
    special = np.isin(table.kind, [_kind(table, name) for name in kinds])
    if able is not None:
        own = np.isin(table.behavior, [table.index(name) for name in able])
        own &= special & states[table.start_state] & states[table.end_state]
        special &= own | ~np.isin(table.kind, table.kind[own])
    states[table.start_state[special]] = True
    states[table.end_state[special]] = True
    wanted: BoolArray = special | (~table.idle & (table.kind < 0))
    wanted &= states[table.start_state] & states[table.end_state]
    return tuple(table.behaviors[b] for b in np.unique(table.behavior[wanted]).tolist())


def usual_radius(table: ActionTable, time_weight: float = TIME_WEIGHT) -> float:
    """Return how far a character gets in `HORIZON` seconds [m]."""
    found = gaits(table, time_weight)
    return HORIZON * max(found[0].speed if found else _fastest(table), _LEAST_SPEED)


def usual_cell(radius: float) -> float:
    """Return the cell size of a region: that of the thesis, or more if there would be too many cells [m]."""
    return max(CELL, radius / _CELLS)


def usual_region(table: ActionTable, time_weight: float = TIME_WEIGHT) -> Region:
    """Return a disc as far as a character gets in `HORIZON` seconds: about 13 m for a walking person."""
    radius = usual_radius(table, time_weight)
    return Region.disc(radius, cell=usual_cell(radius))


def _fastest(table: ActionTable) -> float:
    """Return the speed of the fastest action, for libraries without a gait [m/s]."""
    speeds: FloatArray = np.hypot(table.moves[:, 0], table.moves[:, 1]) / table.durations
    return float(speeds.max())


def _kind(table: ActionTable, name: str) -> int:
    if name not in table.kinds:
        passed = ", ".join(table.kinds) or "none"
        raise TreeError(f"no behaviour passes '{name}'; there are kinds {passed}")
    return table.kinds.index(name)
