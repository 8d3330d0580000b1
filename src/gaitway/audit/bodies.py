"""Positions of a character's capsules, in every frame and at any time between frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gaitway.audit import _body_kernels
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, read_only
from gaitway.motion.anatomy import t_pose, t_pose_positions
from gaitway.motion.body import CapsuleBody, capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import humanoid_contact_points, with_contact_points
from gaitway.motion.skeleton import Skeleton
from gaitway.take.model import Take

SLACK = 1.25
"""Factor by which a capsule's path from frame to frame may be longer than the straight line: it moves along arcs."""
_SAME = 1e-3
"""Distance below which two points are the same joint [m]."""
FINEST = 0.002
"""Motion between frames below which a capsule is not checked between them [m]."""


Bodies = Mapping[int, tuple[CapsuleBody, FloatArray]]
"""Capsules and their `skin`, for each skeleton of a take."""


@dataclass(frozen=True, eq=False)
class AuditedCharacter:
    """One character, evaluated at the take's rate."""

    take: Take
    index: int
    clip: Clip
    """Its whole track in the world, on a skeleton with contact points where possible."""
    body: CapsuleBody
    times: FloatArray
    """Times of its frames [s]; (F,)."""
    positions: FloatArray
    """World positions of its joints [m]; (F, J, 3)."""
    segments: FloatArray
    """Axes of its capsules [m]; (F, C, 2, 3)."""
    thick: FloatArray
    """Thickness of both ends of its capsules, see `skin` [m]; (C, 2)."""

    @property
    def name(self) -> str:
        """Name of the character."""
        return self.take.names[self.index]

    def frame(self, time: float) -> int:
        """Return the take's frame nearest to a time [s]."""
        return round(time * self.take.fps)

    def segments_at(self, time: float) -> FloatArray:
        """Return axes of its capsules at any time [m]; (C, 2, 3)."""
        (poses,) = self.take.poses(time, np.array([self.index]))
        return np.asarray(axes_of(self.body, *poses.joint_transforms())[0])


def walker(take: Take, index: int, bodies: Bodies) -> AuditedCharacter:
    """Return a character of a take, evaluated at all frames; `bodies` are those of the take's skeletons."""
    clip = take.clip(index)
    body, thick = bodies[int(take.bodies[index])]
    positions, world = clip.joint_transforms()
    times = take.start(index) + np.arange(len(clip)) / clip.fps
    clip = with_points(clip)
    axes = axes_of(body, positions, world)
    return AuditedCharacter(
        take=take, index=index, clip=clip, body=body, times=times, positions=positions, segments=axes, thick=thick
    )


def skin(body: CapsuleBody, skeleton: Skeleton) -> FloatArray:
    """Return the thickness of a body at both ends of each capsule where it meets the ground [m]; (C, 2).

    A thigh is as thick as its capsule, but not down to the knee on which characters crawl, and a hand is flatter than
    its capsule. Contact points are on the skin: where one lies inside a capsule of its joint, it says how thick that
    is, and so is what else ends at that joint.
    """
    world = t_pose(skeleton)
    places = t_pose_positions(skeleton, world)
    axes = body.segments(places, world)
    out = np.repeat(body.radii[:, None], 2, axis=1)
    for point in skeleton.contact_points:
        at = places[point.joint]
        place = at + rotations.rotate(world[point.joint], np.array(point.offset))
        mine = body.joints == point.joint
        away = [_off_axis(place, axis) for axis in axes[mine]] or [np.inf]
        ends = mine[:, None] | (np.linalg.norm(axes - at, axis=-1) < _SAME)
        out = np.where(ends, np.minimum(out, min(away)), out)
    return out


def _off_axis(point: FloatArray, axis: FloatArray) -> float:
    """Return the distance of a point from a segment (2, 3) [m]."""
    along = axis[1] - axis[0]
    share = np.clip((point - axis[0]) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return float(np.linalg.norm(point - axis[0] - share * along))


def bodies_of(take: Take) -> Bodies:
    """Return the capsules of every skeleton of a take, and their thickness at both ends."""
    bodies = [(capsule_body(skeleton), skeleton) for skeleton in take.skeletons]
    return {i: (body, skin(body, _pointed(skeleton))) for i, (body, skeleton) in enumerate(bodies)}


def axes_of(body: CapsuleBody, positions: FloatArray, world: FloatArray) -> FloatArray:
    """Return axes of capsules [m] (N, C, 2, 3) for joint positions (N, J, 3) and world rotations (N, J, 4)."""
    out = np.empty((len(positions), len(body), 2, 3))
    _body_kernels.axes(read_only(positions), read_only(world), body.joints, body.starts, body.ends, out)
    return out


def with_points(clip: Clip) -> Clip:
    """Return the clip on a skeleton with contact points, if it is a humanoid's or has some."""
    return with_contact_points(clip) if has_legs(clip.skeleton) else clip


def _pointed(skeleton: Skeleton) -> Skeleton:
    if skeleton.contact_points or not has_legs(skeleton):
        return skeleton
    return replace(skeleton, contact_points=humanoid_contact_points(skeleton))


def has_legs(skeleton: Skeleton) -> bool:
    """Return whether the roles of both legs are known."""
    return all(f"{s}_{r}" in skeleton.roles for s in ("left", "right") for r in ("hip", "knee", "ankle"))


def reach(segments: FloatArray) -> FloatArray:
    """Return how far each capsule may go from frame to frame [m] (F - 1, C), for axes (F, C, 2, 3).

    Motion may turn back between two frames, so the longest of a step and its neighbours counts.
    """
    frames, count = segments.shape[:2]
    ways = np.empty((max(frames - 1, 0), count))
    if frames > 1:
        flat = (frames - 1) * count
        before, after = segments[:-1].reshape(flat, 2, 3), segments[1:].reshape(flat, 2, 3)
        _body_kernels.steps(read_only(before), read_only(after), ways.reshape(flat))
    if len(ways) > 1:
        ways = np.maximum(
            ways, np.maximum(np.append(ways[1:], ways[-1:], axis=0), np.append(ways[:1], ways[:-1], axis=0))
        )
    return SLACK * ways


def hulls(segments: FloatArray, radii: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return low and high corners of a body's bounding boxes [m] (F, 3) each, for axes (F, C, 2, 3)."""
    frames, count = segments.shape[:2]
    low, high = np.empty((frames, 3)), np.empty((frames, 3))
    starts = np.arange(frames + 1) * count
    flat = read_only(segments.reshape(-1, 2, 3))
    _body_kernels.hulls(flat, read_only(np.tile(radii, frames)), read_only(starts), low, high)
    return low, high
