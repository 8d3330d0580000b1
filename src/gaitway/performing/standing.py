"""Standing: a run of standing clips that fills a span of time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Library
from gaitway.library.standing import root_sway, standing_behaviors
from gaitway.motion.blending import blend
from gaitway.motion.clip import Clip

_PACE = (0.88, 1.12)
"""Range of speeds at which characters play the same standing clip."""
_BRIEFLY, _DRAWS = 1.25, 12
"""Factor by which clips between two moves may be faster or slower than that, and how many runs of clips are drawn to
find one that fits."""
_TIRES = 3.0
"""Time after which who stands may shift the feet [s]."""
_FEET = tuple(tuple(f"{side}_{part}" for part in ("heel", "ball", "toe")) for side in ("left", "right"))
_SHIFTS = 0.3
"""How often a clip that shifts the feet is drawn, where it may be."""


def steps_in_place(clip: Clip) -> bool:
    """Return whether a whole foot leaves the ground in a clip."""
    if clip.contacts is None:
        return False
    names = [point.name for point in clip.skeleton.contact_points]
    feet = [[k for k, name in enumerate(names) if name in parts] for parts in _FEET]
    return any(len(foot) > 0 and not clip.contacts[:, foot].any(axis=1).all() for foot in feet)


def _calmed(clip: Clip, sway: float) -> Clip:
    """Return a clip with less motion, in proportion; feet stay within a millimetre or two."""
    away = root_sway(clip)
    if away <= sway:
        return clip
    still = replace(
        clip,
        root_positions=np.repeat(clip.root_positions[:1], len(clip), axis=0),
        rotations=np.repeat(clip.rotations[:1], len(clip), axis=0),
    )
    return replace(blend(still, clip, sway / away), name=f"{clip.name}~calm", contacts=clip.contacts)


def _still(clip: Clip) -> Clip:
    """Return a clip that stays in its first pose."""
    roots, turns = (np.repeat(values[:1], 2, axis=0) for values in (clip.root_positions, clip.rotations))
    contacts = None if clip.contacts is None else np.repeat(clip.contacts[:1], 2, axis=0)
    return replace(clip, name=f"{clip.name}~still", root_positions=roots, rotations=turns, contacts=contacts)


@dataclass(frozen=True)
class Repeat:
    """One clip of a run."""

    clip: Clip
    behavior: str
    start: float
    """Time at which it begins [s]."""
    offset: float
    """Time within the clip at which it begins [s]."""
    speed: float
    """Seconds of the clip per second."""


@dataclass(frozen=True, eq=False)
class Standing:
    """The clips that a character can stand with in one state."""

    clips: tuple[Clip, ...]
    behaviors: tuple[str, ...]
    """Behaviour of each clip."""

    @staticmethod
    def of(library: Library, state: str | None = None) -> Standing:
        """Find the standing clips of a library in a state (None: the first state to stand in).

        Raises:
            LibraryError: if no behaviour stands in that state.
        """
        names = standing_behaviors(library, state)
        if not names:
            where = "any state" if state is None else f"state '{state}'"
            raise LibraryError(f"library '{library.name}' has no behaviour to stand with in {where}")
        takes = [(library.clips[clip], name) for name in names for clip in library.graph[name].clips]
        return Standing(tuple(clip for clip, _ in takes), tuple(name for _, name in takes))

    def calmed(self, sway: float) -> Standing:
        """Return the same with roots that move no farther than this from their first places [m]; feet do not shift."""
        kept = [(c, b) for c, b in zip(self.clips, self.behaviors, strict=True) if not steps_in_place(c)]
        kept = kept or list(zip(self.clips, self.behaviors, strict=True))
        return Standing(tuple(_calmed(clip, sway) for clip, _ in kept), tuple(name for _, name in kept))

    @cached_property
    def _durations(self) -> Sequence[float]:
        return [clip.duration for clip in self.clips]

    @cached_property
    def _steps(self) -> BoolArray:
        """Which clips shift the feet; none if all do; (N,)."""
        found = np.array([steps_in_place(clip) for clip in self.clips])
        return found & ~found.all()

    @cached_property
    def _shares(self) -> FloatArray:
        """Sums of the chances of clips up to each of them; (N,)."""
        share = np.where(self._steps, 0.0, np.array(self._durations))
        sums = (share / share.sum()).cumsum()
        return np.asarray(sums / sums[-1])

    def _drawn(self, rng: np.random.Generator, room: float = 0.0) -> int:
        """Draw a clip, long ones more often; one that shifts the feet only if it is over within `room` [s]."""
        if room > 0.0:
            fitting = np.flatnonzero(self._steps & (np.array(self._durations) < room))
            if len(fitting) and rng.random() < _SHIFTS:
                return int(rng.choice(fitting))
        return int(self._shares.searchsorted(rng.random(), side="right"))  # as `rng.choice` draws, many times as fast

    def until(self, begin: float, end: float, rng: np.random.Generator, *, afresh: bool = False) -> list[Repeat]:
        """Draw clips from one time to another [s], the last one cut short, so that no two characters stand in step.

        Who has stood for a while may shift the feet; such a clip is played whole.

        Args:
            begin: begin of the first clip [s].
            end: time at which the last clip is cut off [s].
            rng: random number generator.
            afresh: whether nothing comes before, so that the first may begin anywhere.
        """
        speed = float(rng.uniform(*_PACE))
        run: list[Repeat] = []
        tired = begin + _TIRES
        while begin < end - 1e-6:
            chosen = self._drawn(rng, (end - begin) * speed if run and begin > tired else 0.0)
            clip = self.clips[chosen]
            offset = float(rng.integers(len(clip) - 1)) / clip.fps if afresh and not run else 0.0
            run.append(Repeat(clip, self.behaviors[chosen], begin, offset, speed))
            begin += (clip.duration - offset) / speed
        return run

    def before(self, begin: float, end: float, rng: np.random.Generator) -> list[Repeat]:
        """Draw clips up to a time at which the last one ends [s]; the first begins anywhere within its clip.

        Args:
            begin: time from which it stands, with nothing before [s].
            end: time at which the next move begins [s].
            rng: random number generator.
        """
        speed = float(rng.uniform(*_PACE))
        run: list[Repeat] = []
        last = end
        while end > begin + 1e-6:
            chosen = self._drawn(rng, (end - begin - _TIRES) * speed if end < last else 0.0)
            clip = self.clips[chosen]
            start = max(begin, end - clip.duration / speed)
            offset = max(clip.duration - (end - start) * speed, 0.0)
            run.insert(0, Repeat(clip, self.behaviors[chosen], start, offset, speed))
            end = start
        return run

    def between(self, begin: float, end: float, rng: np.random.Generator) -> list[Repeat]:
        """Draw clips from the end of one move to the begin of the next [s], whole ones where they fit.

        Args:
            begin: time at which the move before ends [s].
            end: time at which the next move begins [s].
            rng: random number generator.
        """
        gap = end - begin
        draws = [self._filling(gap, rng) for _ in range(_DRAWS)]
        paces = [sum(self._durations[k] for k in draw) / gap for draw in draws]
        best = min(range(_DRAWS), key=lambda k: abs(math.log(paces[k])))
        if not _PACE[0] / _BRIEFLY <= paces[best] <= _PACE[1] * _BRIEFLY:  # shorter than any clip
            clip = _still(self.clips[draws[best][0]])
            return [Repeat(clip, self.behaviors[draws[best][0]], begin, 0.0, clip.duration / gap)]
        run: list[Repeat] = []
        for number in draws[best]:
            run.append(Repeat(self.clips[number], self.behaviors[number], begin, 0.0, paces[best]))
            begin += self.clips[number].duration / paces[best]
        return run

    def _filling(self, gap: float, rng: np.random.Generator) -> list[int]:
        """Draw clips that together last about as long as a gap [s]."""
        chosen, total = list[int](), 0.0
        while total < _PACE[0] * gap:
            chosen.append(self._drawn(rng, gap - total if total > _TIRES else 0.0))
            total += self._durations[chosen[-1]]
        return chosen
