"""Takes that variation is learnt from: those of a behaviour, or of all behaviours of the same gait together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.library.behavior import Behavior, Library
from gaitway.motion.clip import Clip
from gaitway.variation.network.checks import LONGEST_RATIO

VARIANT = "variant"
"""Label of clips that were made here; nothing is learnt from them."""
_RESTING = ("stand",)
"""States in which behaviours that begin and end there have nothing in common: a wave is no turn."""


def takes_of(library: Library, behavior: Behavior) -> list[Clip]:
    """Captured or generated takes of a behaviour, without variants that it has already."""
    return [library.clips[name] for name in behavior.clips if VARIANT not in library.clips[name].labels]


class Pools:
    """Takes that upper bodies are learnt from: of all behaviours from and to the same states, and about as long."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._groups: dict[tuple[str | None, ...], list[list[Clip]]] = {}

    def of(self, behavior: Behavior) -> list[Clip]:
        """The takes that go with those of a behaviour, always the same list for the same takes."""
        key = _kind(behavior)
        if key not in self._groups:
            alike = [b for b in self._library.graph.behaviors if _kind(b) == key]
            unique = {id(clip): clip for b in alike for clip in takes_of(self._library, b)}
            self._groups[key] = by_length(list(unique.values()))
        own = sorted(takes_of(self._library, behavior), key=len)
        middle = own[len(own) // 2]
        return next(group for group in self._groups[key] if any(clip is middle for clip in group))


def by_length(clips: Sequence[Clip]) -> list[list[Clip]]:
    """Clips in groups within which none is twice as long as another; the order of the clips is kept.

    One step and three steps between the same states are different motions. Groups are split where lengths jump most.
    """
    lengths = np.array(sorted(len(clip) for clip in clips), dtype=np.float64)
    if not len(lengths) or lengths[-1] < LONGEST_RATIO * lengths[0]:
        return [list(clips)] if clips else []
    jump = int(np.argmax(lengths[1:] / lengths[:-1]))
    shorter = [clip for clip in clips if len(clip) <= lengths[jump]]
    longer = [clip for clip in clips if len(clip) > lengths[jump]]
    return [*by_length(shorter), *by_length(longer)]


def _kind(behavior: Behavior) -> tuple[str | None, ...]:
    rests = behavior.start == behavior.end and behavior.start in _RESTING
    return behavior.start, behavior.end, behavior.obstacle, behavior.name if rests else None
