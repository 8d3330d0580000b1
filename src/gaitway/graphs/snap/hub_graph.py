"""Hub graphs: motions cut at their match frames into clips that join by a plain cut (gleicher2003, 4.2 and 4.3).

Every match set becomes a hub with a common pose. Each motion is led through the poses of its match frames, its
footplants are held with those frames locked, and what lies between two of them is an edge from hub to hub. Whatever
enters a hub can be followed by whatever leaves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import Corpus
from gaitway.graphs.kovar.pruning import Arcs, largest_component
from gaitway.graphs.snap.common_pose import HubPose, common_pose, hub_places, settled_pose, with_contacts
from gaitway.graphs.snap.displacement import displaced
from gaitway.graphs.snap.linked import Link, linked_contacts, linked_place, similar_poses
from gaitway.graphs.snap.match_sets import MatchSet
from gaitway.graphs.snap.planting import planted
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.editing import place, slice_frames
from gaitway.motion.limits import clamp, violations

_STILL = 0.12
"""A hub whose root is slower than this is a place to stay [m/s]."""
_STRAINED = 1.0
"""Joints that are farther beyond their limits than this are brought back [degrees]."""
_STAY_S = 0.5
"""How long the clip lasts that stays at such a hub [s]."""
_GAITS = ((0.3, "stand"), (1.9, "walk"), (3.0, "jog"), (np.inf, "run"))
"""Words for hubs by the speed of their root, up to [m/s]."""
MatchMark = tuple[int, int, FloatArray]
"""A match frame of a motion: the frame, its hub, and the planar pose at which the common pose lies there."""


@dataclass(frozen=True, eq=False)
class SnapHub:
    """A node: a common pose, and the match frames that became it."""

    name: str
    pose: HubPose
    matches: MatchSet


@dataclass(frozen=True, eq=False)
class HubClip:
    """An edge: a piece of a motion from one hub to another."""

    clip: Clip
    """Its first frame is the pose of `start` at heading 0 over the origin, its last that of `end`, moved."""
    start: int
    end: int
    motion: int
    """Which motion of the corpus it is from."""
    first: int
    """Its first frame in that motion."""
    last: int
    """Its last."""


@dataclass(frozen=True, eq=False)
class HubGraph:
    """Hubs and the clips between them."""

    motions: Corpus
    hubs: tuple[SnapHub, ...]
    clips: tuple[HubClip, ...]

    def __repr__(self) -> str:
        return f"HubGraph({len(self.hubs)} hubs, {len(self.clips)} clips, {self.seconds:.1f} s)"

    @property
    def seconds(self) -> float:
        """Duration of all clips [s]."""
        return sum(edge.clip.duration for edge in self.clips)

    @cached_property
    def arcs(self) -> Arcs:
        """The graph as plain arrays."""
        rows = np.array([(e.start, e.end, len(e.clip) - 1) for e in self.clips], dtype=np.int64).reshape(-1, 3)
        return Arcs(len(self.hubs), rows[:, 0], rows[:, 1], rows[:, 2])

    def leaving(self, hub: int) -> tuple[int, ...]:
        """Numbers of the clips that may follow at a hub."""
        return tuple(i for i, edge in enumerate(self.clips) if edge.start == hub)

    @cached_property
    def connected(self) -> BoolArray:
        """Which clips lie in the largest strongly connected part; (clips,)."""
        return largest_component(self.arcs)

    def dead_ends(self) -> tuple[int, ...]:
        """Hubs outside of the largest strongly connected part: motion that enters them cannot go on for ever."""
        inside = np.zeros(len(self.hubs), dtype=bool)
        inside[self.arcs.tail[self.connected]] = True
        return tuple(int(hub) for hub in np.flatnonzero(~inside))

    def to_library(self, name: str, *, connected: bool = True) -> Library:
        """A library whose states are the hubs, so that planners can play the clips.

        Args:
            name: of the library.
            connected: leave out clips that are not in the largest strongly connected part.

        Raises:
            GraphError: if no clip is left.
        """
        kept = [e for i, e in enumerate(self.clips) if self.connected[i] or not connected]
        if not kept:
            raise GraphError(
                f"hub graph of {len(self.clips)} clips has no cycle; add match sets, or raise the threshold"
            )
        names = [self.hubs[e.start].name for e in kept], [self.hubs[e.end].name for e in kept]
        behaviors = [Behavior(e.clip.name, (e.clip.name,), a, b) for e, a, b in zip(kept, *names, strict=True)]
        clips = {e.clip.name: e.clip for e in kept}
        for hub in self.hubs:
            if hub.name in names[0] and np.linalg.norm(hub.pose.root_velocity) < _STILL:
                stay = replace(_stay(hub, self.motions.fps), name=f"stay-{hub.name}")
                clips[stay.name] = stay
                behaviors.append(Behavior(stay.name, (stay.name,), hub.name, hub.name))
        return Library(name, self.motions.skeleton, clips, BehaviorGraph(tuple(behaviors)))


def snap_together(
    motions: Corpus,
    match_sets: Sequence[MatchSet],
    *,
    reach_s: float = 0.6,
    rounds: int = 3,
    rest: npt.ArrayLike | None = None,
) -> HubGraph:
    """A hub graph of motions.

    Args:
        motions: with contacts.
        match_sets: frames that shall become one pose, of each hub; no frame may be in two.
        reach_s: as of `displacement.displaced` [s].
        rounds: as of `common_pose.settled_pose`; 0 takes the plain average.
        rest: height of each contact point while it rests [m]; (C,). None is 0 for all.

    Raises:
        GraphError: if there is no match set, or a frame is in two.
    """
    _check_sets(motions, match_sets)
    members = [[_where(motions, frame) for frame in one.frames.tolist()] for one in match_sets]
    poses, places = [], []
    for one, rows in zip(match_sets, members, strict=True):
        found = [(motions.clips[m], f) for m, f in rows]
        base = int(np.flatnonzero(one.frames == one.seed)[0])
        poses.append(
            settled_pose(found, base, rounds=rounds, rest=rest) if rounds else common_pose(found, base, rest=rest)
        )
        places.append(hub_places(found, base))
    marks = _marks(members, places)
    poses = similar_poses(poses, _links(motions, marks, poses))
    names = _names(poses)
    hubs = tuple(SnapHub(n, p, s) for n, p, s in zip(names, poses, match_sets, strict=True))
    clips = [e for motion, row in marks.items() for e in _snapped(motions, motion, row, poses, reach_s, rest)]
    return HubGraph(motions, hubs, tuple(clips))


def _check_sets(motions: Corpus, match_sets: Sequence[MatchSet]) -> None:
    if not match_sets:
        raise GraphError("a hub graph of no match sets; raise the threshold, or give more motion")
    frames = np.concatenate([one.frames for one in match_sets])
    if len(np.unique(frames)) < len(frames):
        again = next(int(f) for f in frames if (frames == f).sum() > 1)
        motion, frame = _where(motions, again)
        raise GraphError(
            f"frame {frame} of '{motions.clips[motion].name}' is in two match sets; it can become one pose"
        )
    if frames.min() < 0 or frames.max() >= len(motions):
        raise GraphError(f"match frames {frames.min()} to {frames.max()} of motions with {len(motions)} frames")


def _where(motions: Corpus, frame: int) -> tuple[int, int]:
    """The motion of a frame that is counted through all of them, and its number in that motion."""
    motion = int(np.searchsorted(motions.starts, frame, side="right")) - 1
    return motion, frame - int(motions.starts[motion])


def _marks(members: Sequence[Sequence[tuple[int, int]]], places: Sequence[FloatArray]) -> dict[int, list[MatchMark]]:
    """Match frames of each motion, ascending."""
    marks: dict[int, list[MatchMark]] = {}
    for hub, (rows, poses) in enumerate(zip(members, places, strict=True)):
        for (motion, frame), pose in zip(rows, poses, strict=True):
            marks.setdefault(motion, []).append((frame, hub, pose))
    return {motion: sorted(marks[motion], key=lambda mark: mark[0]) for motion in sorted(marks)}


def _held(motions: Corpus, motion: int, a: MatchMark, b: MatchMark, poses: Sequence[HubPose]) -> BoolArray:
    """Contacts that hold from one match frame to the next, in the common poses too; (C,)."""
    contacts = motions.contacts[motions.starts[motion] + a[0] + 1 : motions.starts[motion] + b[0]]
    return linked_contacts(motions.skeleton, np.vstack([poses[a[1]].contacts, contacts, poses[b[1]].contacts]))


def _links(motions: Corpus, marks: dict[int, list[MatchMark]], poses: Sequence[HubPose]) -> list[Link]:
    return [
        (a[1], b[1], _held(motions, motion, a, b, poses)) for motion, row in marks.items() for a, b in pairwise(row)
    ]


def _snapped(
    motions: Corpus,
    motion: int,
    marks: Sequence[MatchMark],
    poses: Sequence[HubPose],
    reach_s: float,
    rest: npt.ArrayLike | None,
) -> list[HubClip]:
    """The clips of one motion."""
    clip, laid = motions.clips[motion], [marks[0][2]]
    for a, b in pairwise(marks):
        held = linked_place(laid[-1], poses[a[1]], poses[b[1]], _held(motions, motion, a, b, poses), b[2])
        # feet that move from here on are free again, and the motion goes on from where it is
        laid.append(b[2] if held is None else held)
    frames = [frame for frame, _, _ in marks]
    hubs = [poses[hub] for _, hub, _ in marks]
    bent = displaced(clip, [h.anchor(f, p) for f, h, p in zip(frames, hubs, laid, strict=True)], reach_s)
    whole = planted(with_contacts(_within_limits(bent, clip, frames), frames, hubs), frames, rest=rest)
    whole = _within_limits(whole, clip, frames, standing=True)
    out = []
    for a, b in pairwise(marks):
        part = place(slice_frames(whole, a[0], b[0] + 1), np.zeros(3))
        out.append(HubClip(replace(part, name=f"{clip.name}-{a[0]}"), a[1], b[1], motion, a[0], b[0]))
    return out


def _within_limits(clip: Clip, source: Clip, kept: Sequence[int], *, standing: bool = False) -> Clip:
    """The clip with joints brought back to their limits: speeds that differ much make maps overshoot.

    Args:
        clip: the motion.
        source: what it was made of. Where that is beyond a limit itself, the clip may be.
        kept: frames that stay.
        standing: whether legs with a foot on the ground stay too.
    """
    beyond = violations(clip)
    if beyond.max(initial=0.0) <= _STRAINED:
        return clip
    wrong, own = np.zeros(beyond.shape, dtype=bool), violations(source)
    for joint in np.flatnonzero((beyond > _STRAINED).any(axis=0)).tolist():
        for start, stop in stances(beyond[:, joint] > 0.0):  # whole spans, so that nothing jumps at their ends
            span = slice(start, stop)
            wrong[span, joint] = beyond[span, joint].max() > _STRAINED and own[span, joint].max() <= 0.0
    wrong[list(kept)] = False
    if standing and clip.contacts is not None:
        for side in ("left", "right"):
            points = [i for i, p in enumerate(clip.skeleton.contact_points) if p.name.startswith(f"{side}_")]
            roles = (f"{side}_{part}" for part in ("hip", "knee", "ankle", "toe"))
            down = clip.contacts[:, points].any(axis=1)
            for joint in (clip.skeleton.roles[role] for role in roles if role in clip.skeleton.roles):
                wrong[down, joint] = False
    return replace(clip, rotations=np.where(wrong[..., None], clamp(clip).rotations, clip.rotations))


def _stay(hub: SnapHub, fps: float) -> Clip:
    """A clip that keeps still at a hub."""
    pose, frames = hub.pose.clip(fps), np.zeros(max(round(_STAY_S * fps), 1) + 1, dtype=np.int64)
    return replace(
        pose,
        root_positions=pose.root_positions[frames],
        rotations=pose.rotations[frames],
        contacts=None if pose.contacts is None else pose.contacts[frames],
    )


def _names(poses: Sequence[HubPose]) -> list[str]:
    """A name for each hub: how fast it goes and on which foot, numbered where that is not enough."""
    words = []
    for pose in poses:
        speed = float(np.linalg.norm(pose.root_velocity[:2]))
        gait = next(word for top, word in _GAITS if speed < top)
        feet = [
            p.name.partition("_")[0] for p, on in zip(pose.skeleton.contact_points, pose.contacts, strict=True) if on
        ]
        sides = sorted({foot for foot in feet if foot in ("left", "right")})
        words.append(gait if len(sides) == 2 else f"{gait}-{sides[0] if sides else 'air'}")
    counts: IntArray = np.array([words[:i].count(word) for i, word in enumerate(words)])
    return [word if count == 0 else f"{word}-{count + 1}" for word, count in zip(words, counts, strict=True)]
