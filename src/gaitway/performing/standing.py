"""How somebody stands: the clips that go nowhere and hardly move, and a run of them that fills a span of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior, Library
from gaitway.motion.blending import blend
from gaitway.motion.clip import Clip

_STILL = 0.05
"""A clip that moves and turns its root by less than this, end to end, goes nowhere [m, rad]."""
_CALM = 0.35
"""Somebody who stands moves no joint farther than this from where it was [m]; who waves does."""
_PACE = (0.88, 1.12)
"""How fast different people play the same standing clip."""


def standing_behaviors(library: Library, state: str | None = None) -> tuple[str, ...]:
    """What somebody who stands plays, by name in graph order; a planner must leave room for all of it.

    Args:
        library: whose.
        state: in which state; None for the first one that somebody can stand in.

    Returns:
        Those that go nowhere and hardly move; the calmest one where all of them move; none where all go somewhere.
    """
    if state is None:
        rest = [s for s in library.graph.states if standing_behaviors(library, s)]
        return standing_behaviors(library, rest[0]) if rest else ()
    still = [b for b in library.graph.behaviors if b.start == b.end == state and b.obstacle is None]
    ways = {b.name: max(_way(library.clips[clip]) for clip in b.clips) for b in still if _goes_nowhere(library, b)}
    calm = tuple(name for name, way in ways.items() if way <= _CALM)
    return calm or ((min(ways, key=ways.__getitem__),) if ways else ())


def _goes_nowhere(library: Library, behavior: Behavior) -> bool:
    for clip in (library.clips[name] for name in behavior.clips):
        path = clip.planar_path()
        if not (np.hypot(*(path[-1] - path[0])[:2]) < _STILL and abs(path[-1, 2] - path[0, 2]) < _STILL):
            return False
    return True


def _way(clip: Clip) -> float:
    """The farthest that any joint gets from where it is in the first frame [m]."""
    places = clip.joint_positions()
    return float(np.linalg.norm(places - places[0], axis=-1).max())


def standing_sway(library: Library) -> float:
    """How far the root of somebody who stands, in any state, gets from where it stopped [m]."""
    names = {name for state in library.graph.states for name in standing_behaviors(library, state)}
    return max((_sway(library.clips[clip]) for name in names for clip in library.graph[name].clips), default=0.0)


def _sway(clip: Clip) -> float:
    """The farthest that the root gets from where it is in the first frame, on the floor [m]."""
    return float(np.linalg.norm(clip.root_positions[:, :2] - clip.root_positions[0, :2], axis=1).max())


def _calmed(clip: Clip, sway: float) -> Clip:
    """A clip that does less of what it does, all in proportion; feet stay within a millimetre or two."""
    away = _sway(clip)
    if away <= sway:
        return clip
    still = replace(
        clip,
        root_positions=np.repeat(clip.root_positions[:1], len(clip), axis=0),
        rotations=np.repeat(clip.rotations[:1], len(clip), axis=0),
    )
    return replace(blend(still, clip, sway / away), name=f"{clip.name}~calm", contacts=clip.contacts)


@dataclass(frozen=True)
class Repeat:
    """One clip of a run."""

    clip: Clip
    behavior: str
    start: float
    """When it begins [s]."""
    offset: float
    """Where in the clip it begins [s]."""
    speed: float
    """Seconds of the clip that pass in a second."""


@dataclass(frozen=True, eq=False)
class Standing:
    """What somebody can stand with in one state."""

    clips: tuple[Clip, ...]
    behaviors: tuple[str, ...]
    """Which behaviour each is a take of."""

    @staticmethod
    def of(library: Library, state: str | None = None) -> Standing:
        """Of a library, in a state (None: the first one that somebody can stand in).

        Raises:
            LibraryError: if nobody can stand in that state.
        """
        names = standing_behaviors(library, state)
        if not names:
            where = "any state" if state is None else f"state '{state}'"
            raise LibraryError(f"library '{library.name}' has no behaviour to stand with in {where}")
        takes = [(library.clips[clip], name) for name in names for clip in library.graph[name].clips]
        return Standing(tuple(clip for clip, _ in takes), tuple(name for _, name in takes))

    def calmed(self, sway: float) -> Standing:
        """The same with roots that never get farther than this from where they are at first [m]."""
        return Standing(tuple(_calmed(clip, sway) for clip in self.clips), self.behaviors)

    @cached_property
    def _durations(self) -> Sequence[float]:
        return [clip.duration for clip in self.clips]

    def until(self, begin: float, end: float, rng: np.random.Generator, *, afresh: bool = False) -> list[Repeat]:
        """Clips from one time to another [s], the last one cut short; drawn so that no two people stand in step.

        Args:
            begin: when the first begins.
            end: when the last is cut off.
            rng: what draws them.
            afresh: whether nothing comes before, so that the first may begin anywhere.
        """
        share = np.array(self._durations) / sum(self._durations)
        speed = float(rng.uniform(*_PACE))
        run: list[Repeat] = []
        while begin < end - 1e-6:
            chosen = int(rng.choice(len(share), p=share))
            clip = self.clips[chosen]
            offset = float(rng.integers(len(clip) - 1)) / clip.fps if afresh and not run else 0.0
            run.append(Repeat(clip, self.behaviors[chosen], begin, offset, speed))
            begin += (clip.duration - offset) / speed
        return run

    def between(self, begin: float, end: float, rng: np.random.Generator) -> list[Repeat]:
        """Whole clips that fill a span of time [s] exactly, played a little faster or slower."""
        short = int(np.argmin(self._durations))
        chosen = int(rng.integers(len(self.clips)))
        chosen = chosen if self._durations[chosen] <= end - begin else short
        clip, span = self.clips[chosen], end - begin
        count = max(round(span / clip.duration), 1)
        speed = count * clip.duration / span
        return [Repeat(clip, self.behaviors[chosen], begin + i * span / count, 0.0, speed) for i in range(count)]
