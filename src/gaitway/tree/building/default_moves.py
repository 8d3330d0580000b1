"""What a tree of a whole library is made of unless told otherwise: which behaviours, from where, and how far."""

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
"""How far the default region reaches: as far as one gets in so many seconds."""
_CELLS = 50
"""Most cells along the radius of a region, so that large ones take no longer."""
_DEARER = 2.0
"""How many times a metre of another gait may cost for it to be of use where the cheapest has no room."""
_LEAST_SPEED = 0.5
"""What is slower than this is no gait to measure a region by [m/s]."""


class TreeGait(NamedTuple):
    """A state in which one gets on, entered from and left to a state of rest."""

    state: int
    """Of the table."""
    per_metre: float
    """Least cost of a metre."""
    speed: float
    """At which that is [m/s]."""
    trip: float
    """Least way of entering and leaving it at once [m]."""


def gaits(table: ActionTable, time_weight: float = TIME_WEIGHT) -> tuple[TreeGait, ...]:
    """Ways of getting on forward from rest to rest, the one that one likes best first.

    That is the one whose metre costs least, so it depends on the table's weights for speed. Others follow if they need
    less room to start and stop, and a metre of them costs less than twice as much: whoever jogs walks for a short way.

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
    """States that somebody is in who asks for a plan: at rest, or on the way in one of its gaits."""
    moving = [gait.state for gait in gaits(table, time_weight)]
    return tuple(table.states[state] for state in [*np.flatnonzero(table.rest).tolist(), *moving])


def usual_behaviors(
    table: ActionTable, roots: Collection[str], kinds: Collection[str] = (), time_weight: float = TIME_WEIGHT
) -> tuple[str, ...]:
    """Names of behaviours for trees from some states.

    All that lead from one to another of: these states, the states of rest, the gaits if one begins at rest, and what
    the special behaviours begin and end in; but for those that stay where they are.

    Args:
        table: actions of a library, with the weights that plans are made with.
        roots: states that trees begin in.
        kinds: of special obstacles that are to be passed, such as "jump".
        time_weight: cost of a second [m/s].

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
    states[table.start_state[special]] = True
    states[table.end_state[special]] = True
    wanted: BoolArray = special | (~table.idle & (table.kind < 0))
    wanted &= states[table.start_state] & states[table.end_state]
    return tuple(table.behaviors[b] for b in np.unique(table.behavior[wanted]).tolist())


def usual_radius(table: ActionTable, time_weight: float = TIME_WEIGHT) -> float:
    """How far one gets in `HORIZON` seconds [m]."""
    found = gaits(table, time_weight)
    return HORIZON * max(found[0].speed if found else _fastest(table), _LEAST_SPEED)


def usual_cell(radius: float) -> float:
    """Side of the cells of a region so large: that of the thesis, and more where it would take too many [m]."""
    return max(CELL, radius / _CELLS)


def usual_region(table: ActionTable, time_weight: float = TIME_WEIGHT) -> Region:
    """All around, as far as one gets in `HORIZON` seconds: some 13 m for a person who walks, more for a horse."""
    radius = usual_radius(table, time_weight)
    return Region.disc(radius, cell=usual_cell(radius))


def _fastest(table: ActionTable) -> float:
    """Speed of the fastest action, where there is no gait [m/s]."""
    speeds: FloatArray = np.hypot(table.moves[:, 0], table.moves[:, 1]) / table.durations
    return float(speeds.max())


def _kind(table: ActionTable, name: str) -> int:
    if name not in table.kinds:
        passed = ", ".join(table.kinds) or "none"
        raise TreeError(f"no behaviour passes '{name}'; there are kinds {passed}")
    return table.kinds.index(name)
