"""Hub graphs: motions are cut at their match frames into clips that join by plain cuts (gleicher2003, 4.2 and 4.3).

Every match set becomes a hub with a common pose. Each motion is led through the common poses at its match frames, and
its footplants are held with these frames locked. The part between two match frames is an edge from hub to hub. Every
clip that enters a hub can be followed by every clip that leaves it.
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
"""Speed of the root below which a character can stay at a hub [m/s]."""
_STRAINED = 1.0
"""Violation of a joint limit above which the joint is clamped [degrees]."""
_STAY_S = 0.5
"""Duration of the clip that stays at such a hub [s]."""
_GAITS = ((0.3, "stand"), (1.9, "walk"), (3.0, "jog"), (np.inf, "run"))
"""Speeds of the root [m/s], and the names of hubs up to each speed."""
MatchMark = tuple[int, int, FloatArray]
"""Match frame of a motion: the frame, the number of its hub, and the planar pose of the common pose there (3,)."""


@dataclass(frozen=True, eq=False)
class SnapHub:
    """Node of a hub graph: a common pose and its match frames."""

    name: str
    pose: HubPose
    matches: MatchSet


@dataclass(frozen=True, eq=False)
class HubClip:
    """Edge of a hub graph: a piece of a motion from one hub to another."""

    clip: Clip
    """Motion; its first frame is the pose of `start` at heading 0 over the origin, its last frame the pose of `end`."""
    start: int
    """Number of the hub at the start."""
    end: int
    """Number of the hub at the end."""
    motion: int
    """Number of the motion in the corpus."""
    first: int
    """First frame in that motion."""
    last: int
    """Last frame in that motion."""


@dataclass(frozen=True, eq=False)
class HubGraph:
    """Graph of hubs and the clips between them."""

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
        """The graph without motion, as plain arrays."""
        rows = np.array([(e.start, e.end, len(e.clip) - 1) for e in self.clips], dtype=np.int64).reshape(-1, 3)
        return Arcs(len(self.hubs), rows[:, 0], rows[:, 1], rows[:, 2])

    def leaving(self, hub: int) -> tuple[int, ...]:
        """Return the numbers of the clips that leave a hub."""
        return tuple(i for i, edge in enumerate(self.clips) if edge.start == hub)

    @cached_property
    def connected(self) -> BoolArray:
        """Whether each clip is in the largest strongly connected component; (clips,)."""
        return largest_component(self.arcs)

    def dead_ends(self) -> tuple[int, ...]:
        """Return the hubs outside of the largest strongly connected component, where motion comes to an end."""
        inside = np.zeros(len(self.hubs), dtype=bool)
        inside[self.arcs.tail[self.connected]] = True
        return tuple(int(hub) for hub in np.flatnonzero(~inside))

    def to_library(self, name: str, *, connected: bool = True) -> Library:
        """Build a library whose states are the hubs, so that planners can play the clips.

        Args:
            name: Name of the library.
            connected: Whether clips outside of the largest strongly connected component are left out.

        Raises:
            GraphError: If no clip is left.
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
    """Build the hub graph of motions.

    Args:
        motions: Motions with contacts.
        match_sets: Match set of each hub; no frame may be in two sets.
        reach_s: Reach of displacement maps, as for `displacement.displaced` [s].
        rounds: Number of rounds, as for `common_pose.settled_pose`; 0 takes the plain average.
        rest: Height of each contact point at rest [m]; (C,). None is 0 for all.

    Raises:
        GraphError: If there is no match set, or a frame is in two sets.
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
    """Return the motion of a frame of the corpus, and the frame's number in that motion."""
    motion = int(np.searchsorted(motions.starts, frame, side="right")) - 1
    return motion, frame - int(motions.starts[motion])


def _marks(members: Sequence[Sequence[tuple[int, int]]], places: Sequence[FloatArray]) -> dict[int, list[MatchMark]]:
    """Return the match frames of each motion, in ascending order."""
    marks: dict[int, list[MatchMark]] = {}
    for hub, (rows, poses) in enumerate(zip(members, places, strict=True)):
        for (motion, frame), pose in zip(rows, poses, strict=True):
            marks.setdefault(motion, []).append((frame, hub, pose))
    return {motion: sorted(marks[motion], key=lambda mark: mark[0]) for motion in sorted(marks)}


def _held(motions: Corpus, motion: int, a: MatchMark, b: MatchMark, poses: Sequence[HubPose]) -> BoolArray:
    """Return the contacts that hold from one match frame to the next, and in both common poses; (C,)."""
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
    """Cut one motion into clips from hub to hub."""
    clip, laid = motions.clips[motion], [marks[0][2]]
    for a, b in pairwise(marks):
        held = linked_place(laid[-1], poses[a[1]], poses[b[1]], _held(motions, motion, a, b, poses), b[2])
        # after a step the feet are free again, and the motion continues from its own place
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
    """Return the clip with joints clamped to their limits; displacement maps overshoot if velocities differ much.

    Args:
        clip: Motion.
        source: Motion before the maps. Where it violates a limit itself, the clip may do so too.
        kept: Frames that stay.
        standing: Whether legs with a foot on the ground stay too.
    """
    beyond = violations(clip)
    if beyond.max(initial=0.0) <= _STRAINED:
        return clip
    wrong, own = np.zeros(beyond.shape, dtype=bool), violations(source)
    for joint in np.flatnonzero((beyond > _STRAINED).any(axis=0)).tolist():
        for start, stop in stances(beyond[:, joint] > 0.0):  # whole spans, so that there are no jumps at their ends
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
    """Return a clip that stays still at a hub."""
    pose, frames = hub.pose.clip(fps), np.zeros(max(round(_STAY_S * fps), 1) + 1, dtype=np.int64)
    return replace(
        pose,
        root_positions=pose.root_positions[frames],
        rotations=pose.rotations[frames],
        contacts=None if pose.contacts is None else pose.contacts[frames],
    )


def _names(poses: Sequence[HubPose]) -> list[str]:
    """Return a name for each hub by its speed and its foot, with a number if two are equal."""
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
