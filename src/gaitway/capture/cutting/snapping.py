"""Pieces led to hub poses at both ends, with feet that stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.cutting.cuts import TakePiece
from gaitway.capture.cutting.hub_poses import align_points, pose_clip
from gaitway.capture.cutting.hubs import CaptureHub
from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.graphs.snap.displacement import Anchor, displaced, velocities
from gaitway.graphs.snap.planting import planted
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.editing import place, slice_frames
from gaitway.motion.limits import clamp, violations

REACH_S = 0.6
"""Time over which a piece gives way to the pose at its end [s]."""
_SWING_S = 0.35
"""Time over which differences in velocity die away, where poses take longer [s]."""
_STRAINED = 1.0
"""Joints that are farther beyond their limits than this are brought back [degrees]."""
_RISEN, _SLID = 0.008, 0.004
"""At its ends a contact is trimmed while its point is farther than this off the floor, or off its place [m]."""
_TRIM_S = 0.1
"""No more than this is trimmed from either end of a contact [s]."""


@dataclass(frozen=True, eq=False)
class SnappedClip:
    """A clip that begins and ends in hub poses."""

    clip: Clip
    start: CaptureHub
    end: CaptureHub
    source: str
    """The take that it comes from."""
    fit: float
    """As of its piece."""
    frames: tuple[int, int] = (0, 0)
    """Which frames of it."""
    special: str = ""
    """Kind of obstacle that it passes, or ""."""
    pass_frame: int = 0
    """When it does."""
    made: str = ""
    """How it was made, where it is not a piece of capture."""
    mirrored: bool = False
    """Whether it is the mirror image of another."""
    raw: Clip | None = None
    """The frames that it was made of, before they were led to hubs; None where there are none."""


def snap_piece(piece: TakePiece, made: str = "", reach_s: float = REACH_S) -> SnappedClip:
    """The piece as a clip from hub to hub, at the origin and facing ahead.

    Args:
        piece: frames of a take.
        made: how it is made, where it is no piece of the subject's own capture.
        reach_s: time over which it gives way to the poses at its ends [s].
    """
    first, last = piece.begin.frame, piece.end.frame
    clip = slice_frames(piece.take.clip, first, last + 1)
    special = piece.special
    return SnappedClip(
        clip=lead_to_hubs(clip, piece.begin.hub, piece.end.hub, piece.begin.pose, piece.end.pose, reach_s),
        start=piece.begin.hub,
        end=piece.end.hub,
        source=piece.take.name,
        fit=piece.fit,
        frames=(first, last),
        special=special.kind if special is not None else "",
        pass_frame=special.pass_frame - first if special is not None else 0,
        made=made,
        raw=None if made else clip,
    )


def lead_to_hubs(
    clip: Clip,
    start: CaptureHub,
    end: CaptureHub,
    begin_pose: FloatArray,
    end_pose: FloatArray,
    reach_s: float = REACH_S,
) -> Clip:
    """A clip that is led to hub poses which lie at given planar poses, its feet planted; placed at the origin.

    Args:
        clip: motion of the hubs' skeleton, with contacts.
        start: hub of its first frame.
        end: hub of its last frame.
        begin_pose: where the first hub's pose lies (x, y, heading); (3,).
        end_pose: where the last one's does; (3,).
        reach_s: time over which it gives way to them [s].
    """
    last = len(clip) - 1
    assert clip.contacts is not None
    contacts = np.array(clip.contacts)
    contacts[0], contacts[-1] = start.pose.contacts, end.pose.contacts
    end_pose = _on_held_feet(start, end, begin_pose, end_pose, contacts)
    anchors = [start.pose.anchor(0, begin_pose), end.pose.anchor(last, end_pose)]
    bent = replace(_through(clip, anchors, reach_s), contacts=contacts)
    if violations(bent).max() > _STRAINED:
        bent = _kept_ends(clamp(bent), bent)
    held = planted(bent, [0, last])
    if violations(held).max() > _STRAINED:  # toes that were held flat for longer than they bend
        held = _kept_ends(clamp(held), held)
    return place(replace(held, contacts=trimmed_contacts(held)), np.zeros(3))


def _through(clip: Clip, anchors: Sequence[Anchor], reach_s: float) -> Clip:
    """The clip led through anchors; where that takes long, poses at once and velocities only near the ends.

    A difference in velocity swings the farther out the longer it takes to die away.
    """
    if reach_s <= REACH_S:
        return displaced(clip, anchors, reach_s)
    posed = displaced(clip, [_as_fast(clip, anchor) for anchor in anchors], reach_s)
    return displaced(posed, anchors, _SWING_S)


def _as_fast(clip: Clip, anchor: Anchor) -> Anchor:
    """An anchor with the velocities that the clip has there itself."""
    drift, spin = velocities(clip, anchor.frame)
    change = rotations.multiply(anchor.rotations, rotations.conjugate(clip.rotations[anchor.frame]))
    return replace(anchor, root_velocity=drift, angular_velocity=rotations.rotate(change, spin))


def _kept_ends(clip: Clip, ends: Clip) -> Clip:
    """A clip with the first and last pose of another."""
    turned = np.array(clip.rotations)
    turned[[0, -1]] = ends.rotations[[0, -1]]
    return replace(clip, rotations=turned)


def _on_held_feet(
    start: CaptureHub, end: CaptureHub, begin_pose: FloatArray, end_pose: FloatArray, contacts: BoolArray
) -> FloatArray:
    """Where the last pose must lie for feet that are down from end to end not to move (gleicher2003, appendix)."""
    columns = np.flatnonzero(contacts.all(axis=0))
    if not len(columns):
        return end_pose
    there, here = (pose_clip(hub.pose).contact_positions()[0, columns, :2] for hub in (end, start))
    here = planar.transform_points(begin_pose, here)
    if len(columns) > 1:
        return align_points(there, here, np.full(len(columns), 1.0 / len(columns)))
    moved = np.array(end_pose)
    moved[:2] += here[0] - planar.transform_points(end_pose, there)[0]
    return moved


def trimmed_contacts(clip: Clip) -> BoolArray:
    """Contacts without the frames at their ends in which the point is still coming down or already leaving."""
    assert clip.contacts is not None
    points, out = clip.contact_positions(), np.array(clip.contacts)
    longest = max(round(_TRIM_S * clip.fps), 1)
    for column in range(out.shape[1]):
        for start, stop in stances(out[:, column]):
            track = points[start:stop, column]
            off = (np.abs(track[:, 2]) > _RISEN) | (
                np.linalg.norm(track[:, :2] - np.median(track[:, :2], axis=0), axis=1) > _SLID
            )
            inside = np.flatnonzero(~off)
            low, high = (int(inside[0]), int(inside[-1]) + 1) if len(inside) else (0, 0)
            low = min(low, longest) if start > 0 else 0
            high = max(high, stop - start - longest) if stop < len(clip) else stop - start
            out[start : start + low, column] = False
            out[start + high : stop, column] = False
    return out
