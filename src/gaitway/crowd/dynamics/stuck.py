"""People who do not get on: since when, and who is in the way of whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray

MOST_IN_CHAIN = 20
"""Greatest number of people who are named as in the way of one another."""
WALL = -2
"""Entry in place of who is in the way, for a wall."""


@dataclass(frozen=True)
class StuckPerson:
    """Somebody who does not get on."""

    person: int
    """Id."""
    since: float
    """Time of the last progress [s]."""
    blocked_by: tuple[int, ...]
    """Ids of who is in the way, then of who is in the way of them, and so on; empty where a wall is."""
    reason: str
    """One line for a user."""


def blocking_chain(blockers: IntArray, row: int) -> tuple[list[int], int]:
    """Return who is in the way of a person, then who is in the way of them, and so on; and what ends that.

    Args:
        blockers: row of who is in the way of each; -1 for nobody, `WALL` for a wall; (N,).
        row: the person.

    Returns:
        The rows, and the next entry after them: the person itself for a ring.
    """
    chain: list[int] = []
    at = int(blockers[row])
    while at >= 0 and at not in chain and at != row and len(chain) < MOST_IN_CHAIN:
        chain.append(at)
        at = int(blockers[at])
    return chain, at


def stuck_person(
    person: int,
    since: float,
    goal: FloatArray,
    chain: list[int],
    end: int,
    *,
    ring: bool,
    no_way: bool,
    at_goal: bool,
    holder: int | None,
) -> StuckPerson:
    """Tell who is in the way of a person.

    Args:
        person: id.
        since: time of the last progress [s].
        goal: the goal [m]; (4,).
        chain: ids of who is in the way of whom, see `blocking_chain`.
        end: what ends the chain.
        ring: whether that is the person itself.
        no_way: whether no way leads to the goal.
        at_goal: whether the last of the chain stands at a goal.
        holder: id of who holds the goal around which the person stands, or None.
    """
    when = f"since {since:.1f} s"
    if holder is not None:
        return StuckPerson(
            person, since, (holder,), f"person {person}: stands around a goal that person {holder} holds"
        )
    if no_way:
        reason = f"person {person}: no way to the goal at {np.round(goal[:2], 2).tolist()}"
    elif not chain:
        reason = f"person {person}: {'a wall' if end == WALL else 'nobody'} in the way {when}"
    elif ring:
        reason = f"person {person}: in a ring of {len(chain) + 1} who block one another {when}: {chain}"
    elif at_goal:
        reason = f"person {person}: person {chain[-1]}, who stands at the goal, is in the way {when}"
    else:
        reason = f"person {person}: person {chain[0]} is in the way {when}"
    return StuckPerson(person, since, tuple(chain), reason)
