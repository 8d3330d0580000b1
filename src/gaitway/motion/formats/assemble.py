"""The border: from a file's units and axes to metres and Z up. Nothing is converted anywhere else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import humanoid_contact_points
from gaitway.motion.formats import _kernels
from gaitway.motion.formats.axes import UP_AXES
from gaitway.motion.formats.raw import RawMotion, pose
from gaitway.motion.formats.report import LoadReport
from gaitway.motion.formats.tpose import starts_with_tpose
from gaitway.motion.formats.units import detect_unit, metres_per_unit, stands_along_z, unit_name
from gaitway.motion.skeleton import Skeleton

_FEET = {f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "ankle")}
"""Roles without which a foot's contact points cannot be placed."""


@dataclass(frozen=True)
class LoadOptions:
    """What the caller knows better than the file."""

    unit: str | float | None = None
    up: str | None = None
    keep_tpose: bool = False


def assemble(path: Path, raw: RawMotion, options: LoadOptions) -> tuple[Clip, LoadReport]:
    """The clip that a file holds, and what was decided about it."""
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
    """The file's vertical axis, and what its joints are."""
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
    """Height of the root when the lowest joint or tip of the rest pose stands on the ground, file units."""
    positions, world = pose(raw.parents, raw.offsets, rest_rotations[None])
    up = order[2]
    lowest = float(positions[0, :, up].min())
    if raw.tips:
        joints = list(raw.tips)
        ends = positions[0, joints] + rotations.rotate(world[0, joints], np.array(list(raw.tips.values())))
        lowest = min(lowest, float(ends[:, up].min()))
    return -lowest
