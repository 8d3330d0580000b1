"""Playback of a hub graph: clips in sequence, each moved to where the one before ended (gleicher2003, 4.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GraphError
from gaitway.graphs.snap.hub_graph import HubGraph
from gaitway.motion.clip import Clip

SnapFrame = tuple[FloatArray, FloatArray]
"""Root position (3,) [m] and local rotations (J, 4)."""


@dataclass
class HubPlayer:
    """Character that plays a hub graph. Its only state is its current hub and the planar pose there."""

    graph: HubGraph
    hub: int = 0
    pose: npt.ArrayLike = (0.0, 0.0, 0.0)
    """Planar pose (x, y, heading) of the root at the hub; (3,)."""

    def __post_init__(self) -> None:
        if not 0 <= self.hub < len(self.graph.hubs):
            raise GraphError(f"hub {self.hub} of a graph with {len(self.graph.hubs)}; write 0 or more, below that")
        self.pose = np.array(self.pose, dtype=np.float64)
        if self.pose.shape != (3,) or not np.isfinite(self.pose).all():
            raise GraphError(f"a planar pose is three finite numbers x, y, heading; got {self.pose!r}")

    @property
    def options(self) -> tuple[int, ...]:
        """Numbers of the clips that can be played next; empty at a dead end."""
        return self.graph.leaving(self.hub)

    def play(self, clip: int) -> Iterator[SnapFrame]:
        """Play a clip: yield its frames without the last one, which is the first frame of the next clip.

        The character is at the end of the clip as soon as this is called, even if no frame is used.

        Raises:
            GraphError: If the clip does not leave the current hub.
        """
        if clip not in self.options:
            raise GraphError(
                f"clip {clip} does not leave hub '{self.graph.hubs[self.hub].name}'; "
                f"there are {', '.join(map(str, self.options)) or 'none, it is a dead end'}"
            )
        edge, start = self.graph.clips[clip], np.asarray(self.pose)
        self.pose = planar.compose(start, edge.clip.planar_path()[-1])
        self.hub = edge.end
        return _frames(edge.clip, start)

    def wander(self, rng: np.random.Generator) -> Iterator[SnapFrame]:
        """Yield frames of random clips for ever, or up to a dead end."""
        while self.options:
            yield from self.play(int(rng.choice(self.options)))


def _frames(clip: Clip, pose: FloatArray) -> Iterator[SnapFrame]:
    turn = rotations.from_yaw(pose[2])
    for frame in range(len(clip) - 1):
        root, local = clip.root_positions[frame], np.array(clip.rotations[frame])
        local[0] = rotations.multiply(turn, local[0])
        yield np.append(planar.transform_points(pose, root[:2]), root[2]), local


def play_clips(graph: HubGraph, clips: Sequence[int], start: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Clip:
    """Return a sequence of clips as one motion, with contacts.

    Args:
        graph: Hub graph.
        clips: Numbers of clips; each begins at the hub at which the one before ends.
        start: Planar pose (x, y, heading) of the root in the first frame; (3,).

    Raises:
        GraphError: If there are no clips, or a clip does not follow the one before.
    """
    if not clips:
        raise GraphError("nothing to play; give the numbers of one or more clips")
    for clip in clips:
        if not 0 <= clip < len(graph.clips):
            raise GraphError(f"clip {clip} of a graph with {len(graph.clips)}; write 0 or more, below that")
    player = HubPlayer(graph, graph.clips[clips[0]].start, start)
    frames, flags = list[SnapFrame](), []
    for clip in clips:
        frames += player.play(clip)
        contacts = graph.clips[clip].clip.contacts
        assert contacts is not None  # clips of a hub graph have them
        flags.append(contacts[:-1])
    last = graph.hubs[player.hub].pose.anchor(0, player.pose)
    frames.append((last.root, last.rotations))
    roots, turns = zip(*frames, strict=True)
    known = np.vstack([*flags, graph.hubs[player.hub].pose.contacts])
    first = graph.clips[clips[0]].clip
    return replace(first, root_positions=np.array(roots), rotations=np.array(turns), contacts=known, name="played")


def random_clips(graph: HubGraph, count: int, rng: np.random.Generator, hub: int | None = None) -> list[int]:
    """Return the numbers of random clips that follow one another; fewer than `count` at a dead end."""
    at = int(rng.integers(len(graph.hubs))) if hub is None else hub
    out: list[int] = []
    while len(out) < count:
        options = graph.leaving(at)
        if not options:
            break
        out.append(int(rng.choice(options)))
        at = graph.clips[out[-1]].end
    return out
