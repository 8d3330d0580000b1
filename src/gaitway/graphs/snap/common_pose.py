"""The common pose of a match set, in which all clips at a hub begin and end (gleicher2003, 4.2).

Match frames are aligned to one of them, the base, so that all alignments are consistent (equation 5). Then the root,
the joints and their velocities are averaged. A contact of most match frames is a contact of the common pose. Contacts
are satisfied before the pose is used, because an average of feet on the floor may lie below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import starmap

import numpy as np
import numpy.typing as npt

from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray, owned
from gaitway.core.errors import ClipError, GraphError
from gaitway.graphs.clouds import HALF_WINDOW_S, Clouds, joined, point_clouds
from gaitway.graphs.distance import aligning_moves, distances
from gaitway.graphs.snap.displacement import Anchor, displaced, velocities
from gaitway.graphs.snap.planting import planted
from gaitway.motion.clip import Clip
from gaitway.motion.editing import move, slice_frames
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG
from gaitway.motion.skeleton import Skeleton

MatchMember = tuple[Clip, int]
"""A motion and its match frame."""
_AROUND_S = 0.7
"""Time before and after a match frame that is used to settle a pose [s]."""
_SETTLING = 12
"""Largest number of match frames, the nearest to the base, that settle a pose; more frames change it little."""


@dataclass(frozen=True, eq=False)
class HubPose:
    """Pose and velocities at a hub, with the root at heading 0 over the origin."""

    skeleton: Skeleton
    root: FloatArray
    """World position of the root [m]; (3,), its x and y are 0."""
    rotations: FloatArray
    """Local rotations, wxyz; (J, 4)."""
    root_velocity: FloatArray
    """Velocity of the root [m/s]; (3,)."""
    angular_velocity: FloatArray
    """Angular velocity of each joint in its parent's frame [rad/s]; (J, 3)."""
    contacts: BoolArray
    """Whether each contact point is on the ground; (C,)."""

    def __post_init__(self) -> None:
        joints, points = len(self.skeleton), len(self.skeleton.contact_points)
        for name, shape in (("root", (3,)), ("root_velocity", (3,)), ("rotations", (joints, 4))):
            object.__setattr__(self, name, owned(getattr(self, name), name, shape, error=GraphError))
        spin = owned(self.angular_velocity, "angular_velocity", (joints, 3), error=GraphError)
        object.__setattr__(self, "angular_velocity", spin)
        object.__setattr__(self, "contacts", owned(self.contacts, "contacts", (points,), np.bool_, GraphError))

    def anchor(self, frame: int, pose: npt.ArrayLike) -> Anchor:
        """Return this pose as an anchor for a frame of a clip, with the root at a planar pose (x, y, heading); (3,)."""
        pose = np.asarray(pose, dtype=np.float64)
        turn = rotations.from_yaw(pose[2])
        local, spin = np.array(self.rotations), np.array(self.angular_velocity)
        local[0], spin[0] = rotations.multiply(turn, local[0]), rotations.rotate(turn, spin[0])
        root = np.append(planar.transform_points(pose, self.root[:2]), self.root[2])
        return Anchor(frame, root, local, rotations.rotate(turn, self.root_velocity), spin)

    def clip(self, fps: float = 30.0) -> Clip:
        """Return the pose as a clip of one frame."""
        return Clip(self.skeleton, self.root[None], self.rotations[None], fps, "hub", self.contacts[None])


def common_pose(
    clips_and_frames: Sequence[MatchMember], base: int | None = None, *, rest: npt.ArrayLike | None = None
) -> HubPose:
    """Return the average of match frames, with its contacts satisfied.

    Args:
        clips_and_frames: Motions of one skeleton at one rate, each with its match frame.
        base: Number of the motion that the others are aligned to; None takes the one with the least sum of distances.
        rest: Height of each contact point at rest [m]; (C,). None is 0 for all.
    """
    return satisfy_contacts(_average(align_members(clips_and_frames, base)[0]), rest)


def settled_pose(
    clips_and_frames: Sequence[MatchMember],
    base: int | None = None,
    *,
    rounds: int = 3,
    rest: npt.ArrayLike | None = None,
) -> HubPose:
    """Return a common pose that the enforcement of footplants changes little (the iteration of 4.2.2).

    In every round all motions are led through the pose, footplants are enforced with nothing locked, and the resulting
    match frames are averaged again.

    Args:
        clips_and_frames: As for `common_pose`.
        base: As for `common_pose`.
        rounds: Number of rounds; three to five are enough in the paper.
        rest: As for `common_pose`.
    """
    placed, away = align_members([_around(*member) for member in clips_and_frames], base)
    placed = [placed[i] for i in np.sort(np.argsort(away, kind="stable")[:_SETTLING])]
    pose = satisfy_contacts(_average(placed), rest)
    for _ in range(rounds):
        working = []
        for clip, frame in placed:
            anchor = pose.anchor(frame, _where(placed))
            bent = planted(with_contacts(displaced(clip, [anchor]), [frame], [pose]), rest=rest)
            working.append((bent, frame))
        pose = satisfy_contacts(_average(working, pose.contacts), rest)
    return pose


def align_members(
    clips_and_frames: Sequence[MatchMember], base: int | None = None
) -> tuple[list[MatchMember], FloatArray]:
    """Move motions over the ground so that their match frames lie on that of the base; also return their distances.

    Raises:
        GraphError: If there are no motions, a frame is outside of its clip, or clips differ in skeleton or rate.
    """
    if not clips_and_frames:
        raise GraphError("a common pose of no frames; give at least one motion and its match frame")
    first = clips_and_frames[0][0]
    for clip, frame in clips_and_frames:
        if not 0 <= frame < len(clip):
            raise GraphError(f"match frame {frame} of clip '{clip.name}', which has frames 0 to {len(clip) - 1}")
        if clip.skeleton.names != first.skeleton.names or clip.fps != first.fps:
            raise GraphError(
                f"clip '{clip.name}' ({len(clip.skeleton)} joints, {clip.fps:g} Hz) and clip '{first.name}' "
                f"({len(first.skeleton)} joints, {first.fps:g} Hz) cannot share a pose; retarget or resample one"
            )
    clouds = joined(list(starmap(_cloud, clips_and_frames)))
    matrix = distances(clouds, clouds)
    if base is None:
        base = int(matrix.sum(axis=1, dtype=np.float64).argmin())  # exact sums: distances are whole steps
    elif not 0 <= base < len(clips_and_frames):
        raise GraphError(f"base {base} of {len(clips_and_frames)} match frames; write 0 to {len(clips_and_frames) - 1}")
    moves = aligning_moves(clouds, np.full(len(clouds), base), clouds, np.arange(len(clouds)))
    placed = [(move(clip, by), frame) for (clip, frame), by in zip(clips_and_frames, moves, strict=True)]
    return placed, np.asarray(matrix[base], dtype=np.float64)


def satisfy_contacts(pose: HubPose, rest: npt.ArrayLike | None = None) -> HubPose:
    """Return the pose with its contacts satisfied: feet in contact are flat on the floor, and no foot is below it."""
    roles = pose.skeleton.roles
    if any(role not in roles for role in (*LEFT_LEG, *RIGHT_LEG)) or not pose.skeleton.contact_points:
        return pose
    stood = planted(pose.clip(), rest=rest)
    heading = stood.headings()[0]
    back = rotations.from_yaw(-heading)  # only legs were changed, so this is a rounding error
    local = np.array(stood.rotations[0])
    local[0] = rotations.multiply(back, local[0])
    shift = stood.root_positions[0] * np.array([0.0, 0.0, 1.0])
    return replace(pose, root=shift, rotations=local)


def with_contacts(clip: Clip, frames: Sequence[int], poses: Sequence[HubPose]) -> Clip:
    """Return the clip with the contacts of common poses in some frames; a match frame may gain and lose contacts."""
    if clip.contacts is None:
        raise ClipError(f"clip '{clip.name}' has no contacts; pass it through motion.contacts.detect_contacts first")
    contacts = np.array(clip.contacts)
    for frame, pose in zip(frames, poses, strict=True):
        contacts[frame] = pose.contacts
    return replace(clip, contacts=contacts)


def _average(placed: Sequence[MatchMember], contacts: BoolArray | None = None) -> HubPose:
    """Return the mean of aligned match frames, turned to heading 0 over the origin."""
    skeleton = placed[0][0].skeleton
    root = np.mean([clip.root_positions[frame] for clip, frame in placed], axis=0)
    local = rotations.mean(np.stack([clip.rotations[frame] for clip, frame in placed]))
    drifts, spins = zip(*(velocities(clip, frame) for clip, frame in placed), strict=True)
    if contacts is None:
        none = np.zeros(len(skeleton.contact_points), dtype=bool)
        flags = [none if clip.contacts is None else clip.contacts[frame] for clip, frame in placed]
        contacts = np.mean(flags, axis=0) > 0.5
    ahead = rotations.rotate(local[0], skeleton.forward)
    back = rotations.from_yaw(-np.arctan2(ahead[1], ahead[0]))
    spin = np.mean(spins, axis=0)
    local[0], spin[0] = rotations.multiply(back, local[0]), rotations.rotate(back, spin[0])
    height = np.array([0.0, 0.0, root[2]])
    return HubPose(skeleton, height, local, rotations.rotate(back, np.mean(drifts, axis=0)), spin, contacts)


def _where(placed: Sequence[MatchMember]) -> FloatArray:
    """Return the planar pose of the averaged root of aligned match frames; (3,)."""
    root = np.mean([clip.root_positions[frame] for clip, frame in placed], axis=0)
    turned = rotations.mean(np.stack([clip.rotations[frame, 0] for clip, frame in placed]))
    ahead = rotations.rotate(turned, placed[0][0].skeleton.forward)
    return np.array([root[0], root[1], np.arctan2(ahead[1], ahead[0])])


def hub_places(clips_and_frames: Sequence[MatchMember], base: int | None = None) -> FloatArray:
    """Return the planar pose (x, y, heading) of the common pose in each motion, for `HubPose.anchor`; (N, 3)."""
    placed, _ = align_members(clips_and_frames, base)
    centre = _where(placed)
    places = []
    for (clip, frame), (moved, _) in zip(clips_and_frames, placed, strict=True):
        own, there = clip.planar_path()[frame], moved.planar_path()[frame]
        places.append(planar.compose(own, planar.relative(there, centre)))
    return np.array(places)


def _cloud(clip: Clip, frame: int) -> Clouds:
    """Return the cloud of one frame."""
    half = max(round(HALF_WINDOW_S * clip.fps), 1)
    low = max(frame - half, 0)
    part = slice_frames(clip, low, frame + half + 1)
    clouds = point_clouds(part)
    at = np.array([frame - low])
    return replace(clouds, first=clouds.first[at], valid=clouds.valid[at])


def _around(clip: Clip, frame: int) -> MatchMember:
    """Return the part of a motion near its match frame."""
    half = max(round(_AROUND_S * clip.fps), 2)
    low = max(frame - half, 0)
    return slice_frames(clip, low, frame + half + 1), frame - low
