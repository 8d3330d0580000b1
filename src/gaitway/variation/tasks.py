"""Tasks of `enrich`: what each behaviour of a library gets, decided before any work, and the progress of the work."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gaitway.core.errors import LibraryError
from gaitway.core.progress import Progress
from gaitway.core.suggest import did_you_mean
from gaitway.library.behavior import Behavior, Library
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.clip import Clip
from gaitway.variation.inputs.training_takes import TrainingTakes, takes_of

LEAST_TAKES = 4
"""Smallest number of takes that a network is learnt from."""
_SHORTEST = 12
"""Smallest number of frames of a clip that gets variants; shorter clips are all ends."""
_LEARNING_COST, _DRAWING_COST, _ENDS_COST = 8, 1, 15
"""Estimated cost of learning from one frame of a take, of drawing one frame of a variant, and of matching the ends of
one variant [about 1 ms]."""


@dataclass(frozen=True, eq=False)
class VariationTask:
    """A behaviour that is to get variants, or the reason why it gets none."""

    behavior: Behavior
    takes: tuple[Clip, ...]
    """Takes of the behaviour, without variants."""
    method: str
    """What varies: "whole" (body), "upper" (body), or "none"."""
    why: str
    """Reason why only the upper body varies, or nothing; empty for whole bodies."""
    learns_from: tuple[Clip, ...] = ()
    """Takes that the network is learnt from."""

    @property
    def learning_cost(self) -> int:
        """Estimated cost of learning the network [about 1 ms]."""
        frames = sum(len(take) for take in self.learns_from)
        return _LEARNING_COST * frames * max(len(self.learns_from), LEAST_TAKES) // LEAST_TAKES

    def drawing_cost(self, count: int) -> int:
        """Return the estimated cost of drawing `count` variants [about 1 ms]."""
        frames = max((len(take) for take in self.takes), default=0)
        return count * (_ENDS_COST + _DRAWING_COST * frames) if self.learns_from else 0


def tasks(library: Library, behaviors: Collection[str] | None, upper: bool) -> list[VariationTask]:
    """Return one task for each chosen behaviour.

    Args:
        library: Library whose behaviours get variants.
        behaviors: Names or patterns, such as "walk_*"; None for all behaviours.
        upper: Whether only upper bodies vary.

    Raises:
        LibraryError: if there is no such behaviour.
    """
    names = [b.name for b in library.graph.behaviors] if behaviors is None else chosen_names(library, behaviors)
    training_takes = TrainingTakes(library)
    return [_task(library, library.graph[name], training_takes, upper) for name in names]


def chosen_names(library: Library, patterns: Collection[str]) -> list[str]:
    """Return the names of the behaviours that match patterns, each once, in the order of the patterns.

    Raises:
        LibraryError: if a pattern matches no behaviour; the message names the pattern and the nearest behaviour.
    """
    every = [behavior.name for behavior in library.graph.behaviors]
    out: dict[str, None] = {}
    for pattern in patterns:
        found = [pattern] if pattern in every else fnmatch.filter(every, pattern)
        if not found:
            hint = did_you_mean(pattern, every) or f"; there are {_few(every)}"
            raise LibraryError(f"no behaviour '{pattern}' in library '{library.name}'{hint}")
        out |= dict.fromkeys(found)
    return list(out)


def _few(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _task(library: Library, behavior: Behavior, training_takes: TrainingTakes, upper: bool) -> VariationTask:
    takes = tuple(takes_of(library, behavior))

    def no_variants(why: str) -> VariationTask:
        return VariationTask(behavior, takes, "none", why)

    if not takes:
        return no_variants("all its clips are variants; vary the library that they were made of")
    if any(take.contacts is None for take in takes):
        return no_variants("clips without contacts; find them with gaitway.motion.detect_contacts")
    if min(len(take) for take in takes) < _SHORTEST:
        return no_variants(f"clips of fewer than {_SHORTEST} frames have no room between their ends")
    if behavior.obstacle is None and not upper and len(takes) >= LEAST_TAKES:
        return VariationTask(behavior, takes, "whole", "", takes)
    pool = tuple(training_takes.of(behavior))
    if len(pool) < LEAST_TAKES:
        return no_variants(f"fewer than {LEAST_TAKES} takes of its gait do not show how it varies")
    if not upper_joints(library.skeleton).any():
        return no_variants("only legs and path could stay, and this body has no arms or trunk to vary")
    if upper:
        why = "as was asked for"
    elif behavior.obstacle is not None:
        why = "legs and path stay, so that the obstacle is passed as before"
    else:
        why = f"fewer than {LEAST_TAKES} takes do not show how legs vary"
    return VariationTask(behavior, takes, "upper", why, pool)


class TaskProgress:
    """Reports the progress of tasks: which behaviour of how many is worked on, and what is done for it.

    Call `begin` first for each task.
    """

    def __init__(self, report: Progress, todo: Sequence[VariationTask], count: int) -> None:
        self._report = report
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

    def begin(self, number: int) -> None:
        """Report that task `number` begins."""
        self._at = number
        self._done = sum(self._learning[:number]) + sum(self._drawing[:number])
        if self._todo[number].method != "none":
            self._number += 1
            self._say("learning", 0)

    def learning(self, what: str, done: int, total: int | None) -> None:
        """Report how far the network of the present task is learnt; the `Progress` that `learn` is given."""
        share = done / total if total else 0.0
        self._say(f"learning ({what.partition(':')[0]})", int(share * self._learning[self._at]))

    def drawing(self, got: int) -> None:
        """Report that the present task has `got` variants."""
        part = self._drawing[self._at] * got // self._count
        self._say(f"variant {got + 1} of {self._count}", self._learning[self._at] + part)

    def _say(self, what: str, here: int) -> None:
        name = self._todo[self._at].behavior.name
        self._report(f"{name}, {self._number} of {self._of}: {what}", self._done + here, self._total)
