"""Which behaviours of a library a character stands with: those that go nowhere and hardly move."""

from __future__ import annotations

import numpy as np

from gaitway.library.behavior import Behavior, Library
from gaitway.motion.clip import Clip

_STILL = 0.05
"""Least root movement, from first to last frame, of a clip that goes somewhere [m, rad]."""
_CALM = 0.35
"""Farthest that a joint of a standing character moves from its first place [m]; a waving arm moves farther."""


def standing_behaviors(library: Library, state: str | None = None) -> tuple[str, ...]:
    """Return the behaviours that a standing character plays, by name in graph order.

    A planner must leave room for all of them.

    Args:
        library: the library.
        state: the state to stand in; None for the first state that has a standing behaviour.

    Returns:
        The behaviours that go nowhere and hardly move. If all that go nowhere do move, the calmest of them; if all go
        somewhere, none.
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
    """Return the farthest distance of any joint from its place in the first frame [m]."""
    places = clip.joint_positions()
    return float(np.linalg.norm(places - places[0], axis=-1).max())


def standing_sway(library: Library) -> float:
    """Return how far the root of a standing character moves from where it stopped, in any state [m]."""
    names = {name for state in library.graph.states for name in standing_behaviors(library, state)}
    return max((root_sway(library.clips[clip]) for name in names for clip in library.graph[name].clips), default=0.0)


def root_sway(clip: Clip) -> float:
    """Return the farthest horizontal distance of the root from its place in the first frame [m]."""
    return float(np.linalg.norm(clip.root_positions[:, :2] - clip.root_positions[0, :2], axis=1).max())
