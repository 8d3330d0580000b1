"""Raw motion: what every reader of capture files produces, in the units and axes of the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.motion import _kernels
from gaitway.motion.roles import find_roles

UP_AXES: Mapping[str, tuple[int, int, int]] = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}
"""For each vertical axis of a file, which file axis becomes our x, y and z.

All three are turns, not mirrors. From Y up, (x, y, z) becomes (z, x, y): what faced +Z faces +X.
"""


_MOVING_OFFSET = 1e-3
"""Variation of a joint's distance from its parent, as a share of the longest bone, above which it stretches."""


@dataclass(eq=False)
class RawMotion:
    """What every reader produces and `assemble` turns into a Clip."""

    names: list[str]
    parents: IntArray
    """Parents of the joints, each before its children; (J,)."""
    offsets: FloatArray
    """Offsets of the joints in file units; (J, 3)."""
    tips: dict[int, tuple[float, float, float]]
    """End of the bone of a joint, file units."""
    roots: FloatArray
    """Root positions in file units; (F, 3)."""
    rotations: FloatArray
    """Local unit quaternions wxyz; (F, J, 4)."""
    fps: float
    metres_per_unit: float | None = None
    """Stated by the file, or None where the format has no unit."""
    up: str | None = None
    """Stated by the format, or None where it has to be judged."""
    rest_rotations: FloatArray | None = None
    """Local rotations of the rest pose, if the format has one other than the identity; (J, 4)."""
    may_have_tpose: bool = True
    """Whether files of this kind come from converters that put a T-pose first."""
    notes: list[str] = field(default_factory=list)

    @property
    def neutral(self) -> FloatArray:
        """Local rotations of the rest pose; (J, 4)."""
        return self.rest_rotations if self.rest_rotations is not None else rotations.identity(len(self.names))

    def rest_positions(self) -> FloatArray:
        """Return the joint positions of the rest pose with the root at the origin, file units and axes; (J, 3)."""
        positions, _ = pose(self.parents, self.offsets, self.neutral[None])
        return positions.reshape(-1, 3)

    def roles(self, up: str) -> dict[str, int]:
        """Return what each joint is, if `up` is the file's vertical axis."""
        return find_roles(self.names, self.parents, self.rest_positions()[:, UP_AXES[up]])


def pose(parents: IntArray, offsets: FloatArray, local: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return joint positions (N, J, 3) and world rotations (N, J, 4) of poses (N, J, 4), root at the origin."""
    positions, world = np.empty((*local.shape[:2], 3)), np.empty(local.shape)
    _kernels.forward_kinematics(
        read_only(parents), read_only(offsets), read_only(np.zeros((len(local), 3))), read_only(local), positions, world
    )
    return positions, world


def unique_names(names: Iterable[str], notes: list[str]) -> list[str]:
    """Return the same names, repeated ones with a suffix "_2", "_3" ...; says so in `notes`."""
    wanted = list(names)
    taken = set(wanted)
    seen: set[str] = set()
    counts: dict[str, int] = {}
    unique = []
    for name in wanted:
        fresh = name
        while fresh in seen:
            counts[name] = counts.get(name, 1) + 1
            fresh = f"{name}_{counts[name]}"
            if fresh in taken:
                fresh = name
        seen.add(fresh)
        unique.append(fresh)
    renamed = [f"'{new}'" for old, new in zip(wanted, unique, strict=True) if old != new]
    if renamed:
        more = f" and {len(renamed) - 3} more" if len(renamed) > 3 else ""
        notes.append(f"joint names that occur more than once were made different: {', '.join(renamed[:3])}{more}")
    return unique


def settle_offsets(
    names: Sequence[str], offsets: FloatArray, moving: Mapping[int, FloatArray], notes: list[str]
) -> None:
    """Put the mean of positions that a file gives frame by frame in place of the joints' offsets.

    A pose has rotations only, so what moves is lost; `notes` says it.

    Args:
        names: joint names.
        offsets: offsets of the joints; (J, 3), changed in place.
        moving: positions of some joints in the parent's frame, by joint; (F, 3) each.
        notes: notes about the file, to which a line is added.
    """
    for joint, positions in moving.items():
        offsets[joint] = positions.mean(axis=0)
    longest = float(np.linalg.norm(offsets[1:], axis=1).max(initial=0.0))
    stretching = [j for j, positions in moving.items() if np.ptp(positions, axis=0).max() > _MOVING_OFFSET * longest]
    if stretching:
        notes.append(
            f"{len(stretching)} joints ('{names[stretching[0]]}' ...) change their place against their parent; "
            "a clip has rotations only, so the mean place is used"
        )
