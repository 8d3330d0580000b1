"""Conversion from the units and axes of a file to metres and Z up. Nothing is converted anywhere else."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import humanoid_contact_points
from gaitway.motion.formats import _kernels
from gaitway.motion.formats.raw import UP_AXES, RawMotion, pose
from gaitway.motion.formats.units import detect_unit, metres_per_unit, stands_along_z, unit_name
from gaitway.motion.skeleton import Skeleton

LOGGER = logging.getLogger("gaitway")


@dataclass(frozen=True)
class LoadReport:
    """How a capture file was understood. Each note is also logged to the logger "gaitway" at level INFO."""

    path: Path
    unit: str
    """Name of the file's unit of length: "m", "cm", "mm", "inch", "cmu", or "0.3 m" for any other factor."""
    metres_per_unit: float
    up: str
    """The file's vertical axis: "x", "y" or "z"."""
    file_fps: float
    """The rate the file's frames were taken to have [Hz]."""
    dropped_tpose: bool
    """Whether frame 0 was a converter's T-pose and was left out."""
    notes: tuple[str, ...]
    """Everything that was detected, assumed or repaired, a sentence each."""

    def log(self) -> None:
        """Send the notes to the logger "gaitway"."""
        for note in self.notes:
            LOGGER.info("%s: %s", self.path, note)


_NEUTRAL = np.radians(0.01)
"""Rotation below which a joint counts as not rotated [rad]; only joints without markers are captured so."""
_NEUTRAL_SHARE = 0.6
"""Share of the moving joints that a T-pose leaves at exactly no rotation."""
_LARGEST_TURN = np.radians(60.0)
"""No joint of a T-pose is turned further than this (legs and arms are straightened by some 20 degrees)."""
_LEAST_JUMP = np.radians(2.0)
"""Mean turn of the moving joints from the T-pose to the first captured frame."""
_JUMP_RATIO = 3.0
"""Least ratio of that turn to the usual turn from frame to frame afterwards."""
_SAME_PLACE = 1e-4
"""Distance of the two roots, as a share of the longest bone."""
_FRAMES_SEEN = 8
"""Frames, spread over the motion, that tell which joints move at all."""


def starts_with_tpose(raw: RawMotion) -> bool:
    """Return whether frame 0 is a neutral pose that a converter added, rather than captured.

    Such a frame stands at the very root position of frame 1, most joints that move later have no rotation whatsoever,
    none is turned far, and the body jumps from it into the motion. A motion that begins in a T-pose leaves it smoothly
    and is kept.
    """
    if not raw.may_have_tpose or len(raw.roots) < 3 or len(raw.parents) < 2:
        return False
    longest = float(np.linalg.norm(raw.offsets[1:], axis=1).max())
    if np.linalg.norm(raw.roots[1] - raw.roots[0]) > _SAME_PLACE * longest:
        return False
    turns = rotations.angle_between(raw.neutral, raw.rotations[0])
    seen = np.unique(np.linspace(0, len(raw.roots) - 1, _FRAMES_SEEN).astype(int))
    moving = (rotations.angle_between(raw.neutral, raw.rotations[seen]) > _NEUTRAL).any(axis=0)
    if not moving.any() or turns.max() > _LARGEST_TURN or (turns[moving] <= _NEUTRAL).mean() < _NEUTRAL_SHARE:
        return False
    head = raw.rotations[: _FRAMES_SEEN + 1, moving]
    jumps = rotations.angle_between(head[1:], head[:-1]).mean(axis=1)
    return bool(jumps[0] > max(_LEAST_JUMP, _JUMP_RATIO * float(np.median(jumps[1:]))))


_FEET = {f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "ankle")}
"""Roles without which a foot's contact points cannot be placed."""


@dataclass(frozen=True)
class LoadOptions:
    """Facts about a file that the caller states."""

    unit: str | float | None = None
    up: str | None = None
    keep_tpose: bool = False


def assemble(path: Path, raw: RawMotion, options: LoadOptions) -> tuple[Clip, LoadReport]:
    """Build the clip that a file holds, and the report of what was decided about it."""
    notes = list(raw.notes)
    up, roles = _choose_up(raw, options.up, notes)
    rest_rotations = raw.neutral
    dropped = not options.keep_tpose and starts_with_tpose(raw)
    first = 0
    if dropped:
        first, rest_rotations = 1, raw.rotations[0].copy()
        notes.append("frame 0 is a T-pose that a converter added; it was left out (keep_tpose=True keeps it)")
    factor = _choose_unit(raw, roles, options.unit, notes)
    order = list(UP_AXES[up])
    quaternion_order = [0, *(1 + axis for axis in order)]
    offsets = raw.offsets[:, order] * factor
    tips = {joint: tuple(factor * tip[axis] for axis in order) for joint, tip in raw.tips.items()}
    offsets[0] = (0.0, 0.0, factor * _standing_height(raw, rest_rotations, order))
    skeleton = Skeleton(
        names=tuple(raw.names),
        parents=raw.parents,
        offsets=offsets,
        rest_rotations=rest_rotations[:, quaternion_order],
        roles=roles,
        tips=tips,  # type: ignore[arg-type]  # a tuple over three axes has three elements
        name=path.stem,
    )
    if roles.keys() >= _FEET:
        skeleton = replace(skeleton, contact_points=humanoid_contact_points(skeleton))
    turned = raw.rotations
    _kernels.reorder_axes(turned, *order)
    clip = Clip(
        skeleton=skeleton,
        root_positions=raw.roots[first:, order] * factor,
        rotations=turned[first:],
        fps=raw.fps,
        name=path.stem,
    )
    return clip, LoadReport(path, unit_name(factor), factor, up, raw.fps, dropped, tuple(notes))


def _choose_up(raw: RawMotion, stated: str | None, notes: list[str]) -> tuple[str, dict[str, int]]:
    """Return the file's vertical axis, and what its joints are."""
    if stated is not None and stated not in UP_AXES:
        raise GaitwayError(f"up='{stated}' must be one of {', '.join(UP_AXES)}")
    known = stated or raw.up
    roles = raw.roles(known or "y")
    if known is not None or not stands_along_z(raw, roles):
        return known or "y", roles
    notes.append("Z is up: the rest pose stands along Z")
    return "z", raw.roles("z")


def _choose_unit(raw: RawMotion, roles: dict[str, int], unit: str | float | None, notes: list[str]) -> float:
    if unit is not None:
        return metres_per_unit(unit)
    if raw.metres_per_unit is not None:
        notes.append(f"unit is {unit_name(raw.metres_per_unit)}, as the file says")
        return raw.metres_per_unit
    factor, note = detect_unit(raw, roles)
    notes.append(note)
    return factor


def _standing_height(raw: RawMotion, rest_rotations: FloatArray, order: list[int]) -> float:
    """Return the height of the root when the lowest joint or tip of the rest pose stands on the ground, file units."""
    positions, world = pose(raw.parents, raw.offsets, rest_rotations[None])
    up = order[2]
    lowest = float(positions[0, :, up].min())
    if raw.tips:
        joints = list(raw.tips)
        ends = positions[0, joints] + rotations.rotate(world[0, joints], np.array(list(raw.tips.values())))
        lowest = min(lowest, float(ends[:, up].min()))
    return -lowest
