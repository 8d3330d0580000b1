"""Clips made from a clip: another rate, a part, the mirror image, another place. Contacts are kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import ClipError
from gaitway.motion.anatomy import t_pose
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import local_rotations
from gaitway.motion.roles import mirror_twins
from gaitway.motion.skeleton import Skeleton

_MIRROR_POINT = np.array([1.0, -1.0, 1.0])
_MIRROR_QUATERNION = np.array([1.0, -1.0, 1.0, -1.0])
"""Factors that mirror a point and a rotation in the plane y = 0; rotation axes are mirrored the other way round."""


def with_name(clip: Clip, name: str) -> Clip:
    """Return the same motion under another name."""
    return replace(clip, name=name)


def resample(clip: Clip, fps: float) -> Clip:
    """Resample the clip at another rate: joints by slerp, the root linearly, contacts from the nearest frame.

    The first frame stays and the duration shrinks by less than one new frame.

    Args:
        clip: the motion.
        fps: wanted frames a second [Hz].
    """
    if not (np.isfinite(fps) and fps > 0.0):
        raise ClipError(f"cannot resample clip '{clip.name}' to {fps} Hz; write a rate above 0")
    if fps == clip.fps:
        return clip
    count = int(np.floor(clip.duration * fps + 1e-6)) + 1
    at = np.minimum(np.arange(count) * (clip.fps / fps), len(clip) - 1)
    low = np.minimum(at.astype(np.int64), max(len(clip) - 2, 0))
    high, t = np.minimum(low + 1, len(clip) - 1), at - low
    nearest = np.minimum(np.floor(at + 0.5).astype(np.int64), len(clip) - 1)
    roots = clip.root_positions
    return replace(
        clip,
        root_positions=roots[low] + t[:, None] * (roots[high] - roots[low]),
        rotations=rotations.slerp(clip.rotations[low], clip.rotations[high], t[:, None]),
        fps=fps,
        contacts=None if clip.contacts is None else clip.contacts[nearest],
    )


def slice_frames(clip: Clip, start: int = 0, stop: int | None = None) -> Clip:
    """Return the frames `start` up to, not including, `stop`; negative numbers count from the end as in Python."""
    chosen = slice(start, stop)
    if len(range(len(clip))[chosen]) == 0:
        raise ClipError(f"frames {start} to {stop} of clip '{clip.name}' are none; it has {len(clip)}")
    return replace(
        clip,
        root_positions=clip.root_positions[chosen],
        rotations=clip.rotations[chosen],
        contacts=None if clip.contacts is None else clip.contacts[chosen],
    )


def slice_seconds(clip: Clip, start: float = 0.0, stop: float | None = None) -> Clip:
    """Return the part from `start` to `stop` [s], both frames included, rounded to the nearest frame."""
    first = max(round(start * clip.fps), 0)
    last = len(clip) if stop is None else round(stop * clip.fps) + 1
    if first >= min(last, len(clip)):
        raise ClipError(f"seconds {start} to {stop} of clip '{clip.name}' are empty; it lasts {clip.duration:.3g} s")
    return slice_frames(clip, first, last)


def move(clip: Clip, pose: npt.ArrayLike) -> Clip:
    """Move the clip as a whole by a planar pose (x, y, heading): turn it about the origin, then shift it."""
    pose = np.asarray(pose, dtype=np.float64)
    if pose.shape != (3,) or not np.isfinite(pose).all():
        raise ClipError(f"a planar pose is three finite numbers x, y, heading; got {pose!r}")
    roots, turned = np.array(clip.root_positions), np.array(clip.rotations)
    roots[:, :2] = planar.transform_points(pose, roots[:, :2])
    turned[:, 0] = rotations.multiply(rotations.from_yaw(pose[2]), turned[:, 0])
    return replace(clip, root_positions=roots, rotations=turned)


def place(clip: Clip, pose: npt.ArrayLike, frame: int = 0) -> Clip:
    """Move the clip so that its root stands at the planar pose (x, y, heading) in one frame."""
    here = clip.planar_path()[frame]
    return move(clip, planar.compose(pose, planar.inverse(here)))


def joined(*clips: Clip) -> Clip:
    """Return clips in a row as one: each begins in the pose in which the one before it ends, and drops that frame."""
    parts, at = [clips[0]], clips[0].planar_path()[-1]
    for clip in clips[1:]:
        moved = place(clip, at)
        at = moved.planar_path()[-1]
        parts.append(slice_frames(moved, 1))
    contacts = [part.contacts for part in parts if part.contacts is not None]
    return replace(
        clips[0],
        name="+".join(clip.name for clip in clips),
        root_positions=np.concatenate([part.root_positions for part in parts]),
        rotations=np.concatenate([part.rotations for part in parts]),
        contacts=np.concatenate(contacts) if len(contacts) == len(parts) else None,
    )


def mirror(clip: Clip) -> Clip:
    """Mirror the clip at the X axis: left and right are exchanged, on the same skeleton.

    Turns away from the T-pose are mirrored, so a rig's own axes do not matter; where its left and right bones differ in
    length, positions are mirrored as well as the bones allow. Mirroring twice gives the clip back.
    """
    skeleton = clip.skeleton
    twins, rest = mirror_twins(skeleton.names, skeleton.roles), t_pose(skeleton)
    turns = rotations.multiply(clip.joint_transforms()[1], rotations.conjugate(rest))
    world = rotations.multiply(turns[:, twins] * _MIRROR_QUATERNION, rest)
    contacts = None if clip.contacts is None else clip.contacts[:, _contact_twins(skeleton)]
    return replace(
        clip,
        root_positions=clip.root_positions * _MIRROR_POINT,
        rotations=rotations.normalize(local_rotations(skeleton, world)),
        contacts=contacts,
    )


def _contact_twins(skeleton: Skeleton) -> list[int]:
    """Return the column of the mirror twin of each contact point."""
    swapped = {"left": "right", "right": "left"}
    columns = {p.name: i for i, p in enumerate(skeleton.contact_points)}
    twins = []
    for i, point in enumerate(skeleton.contact_points):
        side, _, part = point.name.partition("_")
        twins.append(columns.get(f"{swapped.get(side, side)}_{part}", i))
    return twins


def root_path(clip: Clip, smoothing_s: float = 0.0) -> FloatArray:
    """Return the planar path (x, y, heading) of the clip, optionally without the sway of single steps; (F, 3).

    Args:
        clip: the motion.
        smoothing_s: width of the filter along time [s]; about a whole gait cycle removes the sway.
    """
    path = clip.planar_path()
    if smoothing_s <= 0.0:
        return path
    # reflecting about the end points keeps both ends where they are
    pad = min(len(path) - 1, int(4.0 * smoothing_s * clip.fps))
    if pad < 1:
        return path
    before, after = 2 * path[0] - path[pad:0:-1], 2 * path[-1] - path[-2 : -pad - 2 : -1]
    filtered = scipy.ndimage.gaussian_filter1d(np.concatenate([before, path, after]), smoothing_s * clip.fps, axis=0)
    smooth: FloatArray = filtered[pad : pad + len(path)]
    return smooth
