"""Playing a hub graph: clips one after another, each moved to where the last one ended, and nothing else (4.3)."""

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
    """A character that plays a hub graph: where it is, and which clips it may play next.

    The only state is the hub it has come to and the planar pose there.
    """

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
        """Numbers of the clips that can be played now; none at a dead end."""
        return self.graph.leaving(self.hub)

    def play(self, clip: int) -> Iterator[SnapFrame]:
        """Go along a clip: its frames but for the last, which is the first of whatever follows.

        The character is at the clip's end as soon as this is called, so frames may be drawn late, or never.

        Raises:
            GraphError: if that clip does not leave the hub.
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
        """Frames for ever, by clips chosen at random; up to a dead end if it comes to one."""
        while self.options:
            yield from self.play(int(rng.choice(self.options)))


def _frames(clip: Clip, pose: FloatArray) -> Iterator[SnapFrame]:
    turn = rotations.from_yaw(pose[2])
    for frame in range(len(clip) - 1):
        root, local = clip.root_positions[frame], np.array(clip.rotations[frame])
        local[0] = rotations.multiply(turn, local[0])
        yield np.append(planar.transform_points(pose, root[:2]), root[2]), local


def play_clips(graph: HubGraph, clips: Sequence[int], start: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Clip:
    """A sequence of clips as one motion, with contacts.

    Args:
        graph: what is played.
        clips: numbers of clips, each of which begins at the hub that the one before ends at.
        start: planar pose (x, y, heading) of the first frame's root; (3,).

    Raises:
        GraphError: if there is none, or two do not follow one another.
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
    """Numbers of clips that follow one another, chosen at random; fewer at a dead end."""
    at = int(rng.integers(len(graph.hubs))) if hub is None else hub
    out: list[int] = []
    while len(out) < count:
        options = graph.leaving(at)
        if not options:
            break
        out.append(int(rng.choice(options)))
        at = graph.clips[out[-1]].end
    return out
