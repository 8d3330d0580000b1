"""Behaviours of a character, the order in which they may follow each other, and their clips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gaitway.core.errors import LibraryError
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton


@dataclass(frozen=True)
class Behavior:
    """A node of the behaviour graph: one or more similar clips that begin and end in the same states."""

    name: str
    clips: tuple[str, ...]
    """Names of its clips in the library; they are interchangeable."""
    start: str
    """The state (hub pose) it begins in, for example "stand", "walk" or "jog"."""
    end: str
    """The state it ends in. A behaviour may follow every behaviour that ends in its own start state."""
    obstacle: str | None = None
    """Kind of special obstacle that it passes ("jump", "duck" ...), or None."""
    pass_time: float | None = None
    """Seconds from its first frame to the middle of the passage over or under that obstacle."""
    weight: float = 1.0
    """Factor on the cost of a metre compared with walking; a planner uses heavier behaviours less often."""


@dataclass(frozen=True)
class BehaviorGraph:
    """Behaviours and the order they may be played in."""

    behaviors: tuple[Behavior, ...]
    forbidden: frozenset[tuple[str, str]] = frozenset()
    """Pairs (from, to) that share a state but must not follow one another."""

    def __post_init__(self) -> None:
        names = [b.name for b in self.behaviors]
        if len(set(names)) < len(names):
            twice = next(name for name, times in Counter(names).items() if times > 1)
            raise LibraryError(f"behaviour name '{twice}' occurs more than once")

    def __getitem__(self, name: str) -> Behavior:
        for behavior in self.behaviors:
            if behavior.name == name:
                return behavior
        raise LibraryError(f"no behaviour '{name}'; there are {', '.join(b.name for b in self.behaviors)}")

    def __contains__(self, name: object) -> bool:
        return any(behavior.name == name for behavior in self.behaviors)

    def followers(self, name: str) -> tuple[str, ...]:
        """Return the names of the behaviours that may follow `name`, in graph order."""
        end = self[name].end
        return tuple(b.name for b in self.behaviors if b.start == end and (name, b.name) not in self.forbidden)

    @property
    def states(self) -> tuple[str, ...]:
        """All states, in order of first mention."""
        return tuple(dict.fromkeys(s for b in self.behaviors for s in (b.start, b.end)))


@dataclass(frozen=True, eq=False)
class Library:
    """Everything one kind of character can do, on one skeleton."""

    name: str
    skeleton: Skeleton
    clips: Mapping[str, Clip]
    graph: BehaviorGraph = field(default_factory=lambda: BehaviorGraph(()))

    def __post_init__(self) -> None:
        for behavior in self.graph.behaviors:
            for clip in behavior.clips:
                if clip not in self.clips:
                    raise LibraryError(
                        f"behaviour '{behavior.name}' needs clip '{clip}', which library '{self.name}' lacks"
                    )
        object.__setattr__(self, "clips", MappingProxyType(dict(self.clips)))
