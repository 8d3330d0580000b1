"""Snapping of pieces: both ends are led to hub poses, and planted feet stay in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.cutting.cuts import TakePiece
from gaitway.capture.cutting.hub_poses import align_points, pose_clip
from gaitway.capture.cutting.hubs import CaptureHub
from gaitway.capture.cutting.knees import with_bent_knees
from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.graphs.snap.displacement import Anchor, displaced, velocities
from gaitway.graphs.snap.planting import planted
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.editing import place, slice_frames
from gaitway.motion.limits import clamp, violations

REACH_S = 0.6
"""Time over which a piece is bent towards the pose at its end [s]."""
_SWING_S = 0.35
"""Time over which differences in velocity fade, if poses are blended over a longer time [s]."""
_STRAINED = 1.0
"""Violation of a joint limit above which the joint is clamped [degrees]."""
_RISEN, _SLID = 0.008, 0.004
"""Height over the floor, and distance from its place, above which frames at the ends of a contact are trimmed [m]."""
_TRIM_S = 0.1
"""Longest time that is trimmed from either end of a contact [s]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SnappedClip:
    """Clip that begins and ends in hub poses."""

    clip: Clip
    start: CaptureHub
    end: CaptureHub
    source: str
    """Name of the take that the clip comes from."""
    fit: float
    """Distance of its piece to the hubs, in radii."""
    frames: tuple[int, int] = (0, 0)
    """First and last frame in the take."""
    special: str = ""
    """Kind of obstacle that the clip passes; empty if none."""
    pass_frame: int = 0
    """Frame in which the clip passes it."""
    made: str = ""
    """How the clip was made, if it is not a piece of the capture."""
    mirrored: bool = False
    """Whether the clip is the mirror image of another clip."""
    raw: Clip | None = None
    """Frames that the clip was made from, before they were led to hubs; None if there are none."""


def snap_piece(piece: TakePiece, made: str = "", reach_s: float = REACH_S) -> SnappedClip:
    """Return a piece as a clip from hub to hub, which begins at the origin with heading 0.

    Args:
        piece: Frames of a take.
        made: How the clip is made, if the take is not a capture of the subject.
        reach_s: Time over which the clip is bent towards the poses at its ends [s].
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
    """Return a clip that is bent to begin and end in hub poses, with planted feet; it begins at the origin.

    Args:
        clip: Motion on the skeleton of the hubs, with contacts.
        start: Hub of the first frame.
        end: Hub of the last frame.
        begin_pose: Planar pose of the first hub in the clip: x, y [m], heading [rad]; (3,).
        end_pose: Planar pose of the last hub in the clip; (3,).
        reach_s: Time over which the clip is bent towards the hubs [s].
    """
    last = len(clip) - 1
    assert clip.contacts is not None
    contacts = np.array(clip.contacts)
    contacts[0], contacts[-1] = start.pose.contacts, end.pose.contacts
    end_pose = _on_held_feet(start, end, begin_pose, end_pose, contacts)
    anchors = [start.pose.anchor(0, begin_pose), end.pose.anchor(last, end_pose)]
    bent = replace(with_bent_knees(_through(clip, anchors, reach_s), clip), contacts=contacts)
    if violations(bent).max() > _STRAINED:
        bent = _kept_ends(clamp(bent), bent)
    held = planted(bent, [0, last])
    if violations(held).max() > _STRAINED:  # toes that are held flat bend too far
        held = _kept_ends(clamp(held), held)
    return place(replace(held, contacts=trimmed_contacts(held)), np.zeros(3))


def _through(clip: Clip, anchors: Sequence[Anchor], reach_s: float) -> Clip:
    """Return the clip led through anchors; if the reach is long, velocities are changed near the ends only.

    The longer a difference in velocity takes to fade, the farther the clip swings out.
    """
    if reach_s <= REACH_S:
        return displaced(clip, anchors, reach_s)
    posed = displaced(clip, [_as_fast(clip, anchor) for anchor in anchors], reach_s)
    return displaced(posed, anchors, _SWING_S)


def _as_fast(clip: Clip, anchor: Anchor) -> Anchor:
    """Return an anchor with the clip's own velocities at its frame."""
    drift, spin = velocities(clip, anchor.frame)
    change = rotations.multiply(anchor.rotations, rotations.conjugate(clip.rotations[anchor.frame]))
    return replace(anchor, root_velocity=drift, angular_velocity=rotations.rotate(change, spin))


def _kept_ends(clip: Clip, ends: Clip) -> Clip:
    """Return a clip with the first and last rotations of another."""
    turned = np.array(clip.rotations)
    turned[[0, -1]] = ends.rotations[[0, -1]]
    return replace(clip, rotations=turned)


def _on_held_feet(
    start: CaptureHub, end: CaptureHub, begin_pose: FloatArray, end_pose: FloatArray, contacts: BoolArray
) -> FloatArray:
    """Return the last planar pose at which feet that are down all the time do not move (gleicher2003, appendix)."""
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
    """Return the contacts without frames at their ends in which the point still comes down or already leaves."""
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
