"""Which pieces become behaviours: the best few of each name, alike in what they do, and no more than can be used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.recognising.naming import Candidate

_NEAR_MOVE, _NEAR_TURN, _NEAR_TIME = 0.12, np.radians(7.0), 0.25
"""Clips of one behaviour differ by no more: move for a leg of 0.85 m [m], turn [rad], share of the time."""
_SHORT, _LONG = 0.8, 1.2
"""Straight steps shorter or longer than this share of the usual one are behaviours of their own."""
_LOOSE_TURN = np.radians(20.0)
"""What is only loosely alike to its hubs is kept if it turns by more than this, or changes gait."""

_STEPS, _LONGEST_S = 4, 3.5
"""Turns of more steps, or that take longer [s], are of no use to a planner."""


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates for one behaviour, the best first."""

    name: str
    candidates: tuple[Candidate, ...]

    @property
    def rare(self) -> bool:
        """Whether the capture has hardly anything else of the kind, so that a little more is forgiven."""
        first = self.candidates[0]
        return first.changes or first.piece.special is not None or first.fit > 1.0 or first.steps > 1

    @property
    def use(self) -> tuple[int, int, float]:
        """The lower, the more useful: ways ahead, links between gaits, single steps, then what is odd or long."""
        first = self.candidates[0]
        gaits = {first.piece.begin.hub.gait, first.piece.end.hub.gait}
        odd = any(g.startswith(("back", "side", "crouch")) or g[-1:].isdigit() for g in gaits)
        links = first.changes and abs(first.move[2]) < _LOOSE_TURN
        rank = 0 if first.piece.special is not None else 1 if links or first.straight else 2 if first.steps <= 1 else 3
        return rank + (odd if rank < 2 else 3 * odd), -len(self.candidates), first.fit


def grouped(candidates: Sequence[Candidate], size: float) -> list[Group]:
    """Candidates by behaviour, in the order of names; within one the best first, all alike to that one."""
    by_name: dict[tuple[str, str, str], list[Candidate]] = defaultdict(list)
    for candidate in _by_length(_useful(candidates)):
        hubs = candidate.piece.begin.hub.name, candidate.piece.end.hub.name
        by_name[(candidate.name, *hubs)].append(candidate)
    groups = []
    for key in sorted(by_name):
        ordered = _best_first(by_name[key])
        alike = [c for c in ordered if _alike(c, ordered[0], size)]
        groups.append(Group(key[0], tuple(alike)))
        if ordered[0].piece.special is not None:  # every jump is another one
            groups[-1:] = [Group(c.name, (c,)) for c in ordered]
    return sorted(groups, key=lambda group: (group.use, group.name))


def _useful(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without what is loosely alike and yet nothing special, and long pieces that can be put together of short ones."""
    single = {c.name.rpartition("_")[0] for c in candidates if c.steps == 1 and c.fit <= 1.0}
    out = []
    for c in candidates:
        special = c.piece.special is not None
        standing = not c.piece.begin.hub.foot and not c.piece.end.hub.foot
        if not special and not standing and not c.changes:
            stem = c.name.rpartition("_")[0].rpartition("_x")[0]
            if c.fit > 1.0 and abs(c.move[2]) < _LOOSE_TURN and single:
                continue
            if c.steps > 1 and (stem in single or (c.straight and single)):
                continue
            if c.steps > _STEPS or c.seconds > _LONGEST_S:
                continue
        out.append(c)
    return out


def _by_length(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Straight steps that are unusually short or long under names of their own."""
    lengths: dict[tuple[str, str], list[float]] = defaultdict(list)
    for c in candidates:
        if "_forward" in c.name and c.piece.special is None:
            lengths[(c.name, c.piece.begin.hub.name)].append(float(np.hypot(*c.move[:2])))
    usual = {key: float(np.median(values)) for key, values in lengths.items()}
    out = []
    for c in candidates:
        key = (c.name, c.piece.begin.hub.name)
        share = float(np.hypot(*c.move[:2])) / usual[key] if key in usual and usual[key] > 1e-6 else 1.0
        word = "short" if share < _SHORT else "long" if share > _LONG else "forward"
        out.append(replace(c, name=c.name.replace("_forward", f"_{word}")) if key in usual else c)
    return out


def _best_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Nearest to the hubs and to what they all do on average, one take before a second piece of another."""
    middle = np.median([c.move for c in candidates], axis=0)
    off = [float(np.linalg.norm((c.move - middle) * [1.0, 1.0, 0.5])) for c in candidates]
    order = sorted(range(len(candidates)), key=lambda i: (candidates[i].fit > 1.0, candidates[i].fit + off[i]))
    seen: dict[str, int] = defaultdict(int)
    rank = {}
    for i in order:
        take = candidates[i].piece.take.source.name
        rank[i] = seen[take]
        seen[take] += 1
    return [candidates[i] for i in sorted(order, key=lambda i: (i != order[0], rank[i], order.index(i)))]


def _alike(one: Candidate, other: Candidate, size: float) -> bool:
    gap = one.move - other.move
    return bool(
        np.hypot(gap[0], gap[1]) <= _NEAR_MOVE * size
        and abs(gap[2]) <= _NEAR_TURN
        and abs(one.seconds / other.seconds - 1.0) <= _NEAR_TIME
    )
