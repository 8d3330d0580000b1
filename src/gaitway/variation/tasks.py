"""What is to be done for which behaviour of a library, before any of it is done, and how far it has come."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior, Library
from gaitway.motion.clip import Clip
from gaitway.scene.problem import nearest
from gaitway.variation.inputs.training_takes import Pools, takes_of
from gaitway.variation.network.dofs import PARTS, joint_parts

LEAST_TAKES = 4
"""A network is learnt from no fewer takes."""
_SHORTEST = 12
"""Clips of fewer frames have no room between their ends."""
_LEARNING, _DRAWING, _ENDS = 8, 1, 15
"""What a frame of the takes costs to learn from, and one of a variant to draw, and a variant besides [about 1 ms]."""

Progress = Callable[[str, int, int | None], None]
"""Told what is being done, how much is done already, and of how much."""


@dataclass(frozen=True, eq=False)
class Task:
    """One behaviour that is to get variants, or why it cannot."""

    behavior: Behavior
    takes: tuple[Clip, ...]
    method: str
    """"whole", "upper", or "none"."""
    why: str
    """Why not the whole body, or nothing at all, in plain words; empty for whole bodies."""
    learns_from: tuple[Clip, ...] = ()
    """Takes of the network."""

    @property
    def learning_cost(self) -> int:
        """About how long it takes to learn [about 1 ms]."""
        frames = sum(len(take) for take in self.learns_from)
        return _LEARNING * frames * max(len(self.learns_from), LEAST_TAKES) // LEAST_TAKES

    def drawing_cost(self, count: int) -> int:
        """About how long it takes to draw so many variants [about 1 ms]."""
        frames = max((len(take) for take in self.takes), default=0)
        return count * (_ENDS + _DRAWING * frames) if self.learns_from else 0


def tasks(library: Library, behaviors: Collection[str] | None, upper: bool) -> list[Task]:
    """What is to be done.

    Args:
        library: whose behaviours get variants.
        behaviors: names or patterns, such as "walk_*"; None for all.
        upper: only upper bodies vary.

    Raises:
        LibraryError: if there is no such behaviour.
    """
    names = [b.name for b in library.graph.behaviors] if behaviors is None else chosen_names(library, behaviors)
    pools = Pools(library)
    return [_task(library, library.graph[name], pools, upper) for name in names]


def chosen_names(library: Library, patterns: Collection[str]) -> list[str]:
    """Names of the behaviours that patterns mean, each once, in the order of the patterns.

    Raises:
        LibraryError: naming a pattern that nothing matches, and what may have been meant.
    """
    every = [behavior.name for behavior in library.graph.behaviors]
    out: dict[str, None] = {}
    for pattern in patterns:
        found = [pattern] if pattern in every else fnmatch.filter(every, pattern)
        if not found:
            near = nearest(pattern, every)
            hint = f"did you mean '{near}'?" if near else f"there are {_few(every)}"
            raise LibraryError(f"no behaviour '{pattern}' in library '{library.name}'; {hint}")
        out |= dict.fromkeys(found)
    return list(out)


def _few(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _task(library: Library, behavior: Behavior, pools: Pools, upper: bool) -> Task:
    takes = tuple(takes_of(library, behavior))
    if not takes:
        return Task(behavior, takes, "none", "all its clips are variants; vary the library that they were made of")
    if any(take.contacts is None for take in takes):
        return Task(behavior, takes, "none", "clips without contacts; find them with gaitway.motion.detect_contacts")
    if min(len(take) for take in takes) < _SHORTEST:
        return Task(behavior, takes, "none", f"clips of fewer than {_SHORTEST} frames have no room between their ends")
    if behavior.obstacle is None and not upper and len(takes) >= LEAST_TAKES:
        return Task(behavior, takes, "whole", "", takes)
    pool = tuple(pools.of(behavior))
    if len(pool) < LEAST_TAKES:
        why = f"fewer than {LEAST_TAKES} takes of its gait do not show how it varies"
        return Task(behavior, takes, "none", why)
    if (joint_parts(library.skeleton) == PARTS.index("lower")).all():
        return Task(
            behavior, takes, "none", "only legs and path could stay, and this body has no arms or trunk to vary"
        )
    if upper:
        why = "as was asked for"
    elif behavior.obstacle is not None:
        why = "legs and path stay, so that the obstacle is passed as before"
    else:
        why = f"fewer than {LEAST_TAKES} takes do not show how legs vary"
    return Task(behavior, takes, "upper", why, pool)


class Teller:
    """Tells how far the work has come: which behaviour of how many, and what is being done for it."""

    def __init__(self, tell: Progress | None, todo: Sequence[Task], count: int) -> None:
        self._tell = tell
        self._count = count
        self._number, self._of = 0, sum(task.method != "none" for task in todo)
        known = set[tuple[int, ...]]()
        self._learning = list[int]()
        for task in todo:
            key = tuple(id(take) for take in task.learns_from)
            self._learning.append(0 if key in known else task.learning_cost)
            known.add(key)
        self._drawing = [task.drawing_cost(count) for task in todo]
        self._todo = list(todo)
        self._done = 0
        self._total = sum(self._learning) + sum(self._drawing)

    def learning(self, what: str, share: float) -> None:
        """The network of the present behaviour is being learnt."""
        self._say(f"learning ({what.partition(':')[0]})", int(share * self._learning[self._at]))

    def begin(self, number: int) -> None:
        """Behaviour `number` of those to do is next."""
        self._at = number
        self._done = sum(self._learning[:number]) + sum(self._drawing[:number])
        if self._todo[number].method != "none":
            self._number += 1
            self._say("learning", 0)

    def drawing(self, got: int) -> None:
        """So many of its variants are there."""
        part = self._drawing[self._at] * got // self._count
        self._say(f"variant {got + 1} of {self._count}", self._learning[self._at] + part)

    def _say(self, what: str, here: int) -> None:
        if self._tell is not None:
            name = self._todo[self._at].behavior.name
            self._tell(f"{name}, {self._number} of {self._of}: {what}", self._done + here, self._total)
