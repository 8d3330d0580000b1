"""Poses of many characters at one time."""

from __future__ import annotations

from dataclasses import dataclass

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of characters that share a skeleton, all at one time."""

    skeleton: Skeleton
    characters: IntArray
    """Indices of the characters; (N,)."""
    root_positions: FloatArray
    """World positions of the roots [m]; (N, 3)."""
    rotations: FloatArray
    """Local unit quaternions wxyz; (N, J, 4)."""
    contacts: BoolArray | None = None
    """Which of `skeleton.contact_points` rest; (N, P). None unless asked for, or where a clip does not know them."""

    def __len__(self) -> int:
        return len(self.characters)

    def joint_transforms(self) -> tuple[FloatArray, FloatArray]:
        """World positions [m] (N, J, 3) and world rotations (N, J, 4) of all joints."""
        return forward_kinematics(self.skeleton, self.root_positions, self.rotations)


@dataclass(frozen=True, eq=False)
class Joints:
    """World positions and rotations of all joints of characters that share a skeleton, all at one time."""

    skeleton: Skeleton
    characters: IntArray
    """Indices of the characters; (N,)."""
    positions: FloatArray
    """World positions [m]; (N, J, 3)."""
    rotations: FloatArray
    """World rotations, unit quaternions wxyz; (N, J, 4)."""

    def __len__(self) -> int:
        return len(self.characters)
