"""Narrow slopes: live people go over them in turns, so that nobody meets others head-on where one cannot pass.

A slope with one lane for each direction has no room to walk around many who come the other way, and nobody turns round
on it. So who comes waits before it while others come off it at the same end. Those at the other end go on until
somebody has waited for a while; then they let the slope become empty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gaitway.levels.links import Link

PATIENCE = 25
"""Number of attempts that somebody waits for those who come the other way, before nobody follows them."""
_SAME_END = 2.0
"""Distance of two places on a slope below which they are at the same end of it [m]."""


class NextLink(NamedTuple):
    """The next link of a character."""

    who: int
    link: Link
    misses: int
    """How often it tried to get onto the link in vain."""


def one_lane(link: Link, links: Sequence[Link]) -> bool:
    """Return whether a link leads onto a slope that has one lane for each direction."""
    if link.fitted is not None or link.ride is not None or link.target.relief is None or link.target.mesh:
        return False
    beside = (one for one in links if one.source is link.source and one.target is link.target)
    return sum(math.dist(one.exit[:2], link.exit[:2]) < _SAME_END for one in beside) == 1


def must_wait(me: int, link: Link, misses: int, others: Iterable[NextLink]) -> bool:
    """Return whether a character lets others come off a slope, or lets those go first who wait at its other end.

    Args:
        me: the character.
        link: its link, which leads onto the slope.
        misses: how often it tried in vain.
        others: all characters that have links ahead of them.
    """
    ahead, waited = False, -1
    for other in others:
        if other.who == me:
            continue
        if other.link.source is link.target:  # it is on the slope
            if math.dist(other.link.entry[:2], link.exit[:2]) < _SAME_END:
                return True
            ahead = True
        elif other.link.target is link.target and math.dist(other.link.exit[:2], link.exit[:2]) >= _SAME_END:
            waited = max(waited, other.misses)
    return ahead and waited >= PATIENCE and waited > misses
