"""A skeleton: joints in a tree, what each one is, how far it may bend and how thick it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.core.errors import SkeletonError
from gaitway.core.suggest import did_you_mean
from gaitway.motion import _kernels
from gaitway.motion.roles import ALL_ROLES, find_roles

MAX_JOINTS = 10_000
"""More joints than any rig has; a file that asks for more is broken or hostile."""


@dataclass(frozen=True)
class ContactPoint:
    """A point of the body that can rest on the ground or hold on to something."""

    name: str
    """For example "left_heel" or "right_ball"."""
    joint: int
    """Index of the joint that carries it."""
    offset: tuple[float, float, float]
    """Position in that joint's frame [m]."""
    rolls: bool = False
    """It moves over the ground while it touches it, as a wheel does, so its contact is no stance to stand still in."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints of one figure; parents come before their children and joint 0 is the root.

    A pose is a root position and one local rotation a joint. The rest pose is `rest_rotations` (a T-pose where known).
    """

    names: tuple[str, ...]
    """Joint names as in the file they came from, all different."""
    parents: IntArray
    """Index of each joint's parent, -1 for the root; (J,)."""
    offsets: FloatArray
    """Position of each joint in its parent's frame [m]; (J, 3). The root's own row is its height at rest."""
    rest_rotations: FloatArray = field(default_factory=lambda: np.empty((0, 4)))
    """Local rotations of the rest pose, wxyz; (J, 4). Identity unless given."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """Joint index of each semantic role ("left_knee"); found from names and topology unless given."""
    contact_points: tuple[ContactPoint, ...] = ()
    """Points that may touch the ground; the columns of `Clip.contacts`."""
    tips: Mapping[int, tuple[float, float, float]] = field(default_factory=dict)
    """End of the bone of each joint without children, in that joint's frame [m] (a BVH "End Site")."""
    name: str = "skeleton"

    def __post_init__(self) -> None:
        count = len(self.names)
        if not 1 <= count <= MAX_JOINTS:
            raise SkeletonError(f"skeleton '{self.name}' has {count} joints; between 1 and {MAX_JOINTS} are possible")
        names = tuple(str(n) for n in self.names)
        repeated = {n for n, times in Counter(names).items() if times > 1} if len(set(names)) < count else set()
        if repeated:
            raise SkeletonError(f"skeleton '{self.name}': joint name '{sorted(repeated)[0]}' occurs more than once")
        parents = owned(self.parents, "parents", (count,), np.int64, SkeletonError)
        if parents[0] != -1 or (parents[1:] < 0).any() or (parents >= np.arange(count)).any():
            bad = next(i for i in range(count) if (parents[i] != -1 if i == 0 else not 0 <= parents[i] < i))
            raise SkeletonError(
                f"skeleton '{self.name}': joint '{names[bad]}' has parent {parents[bad]}; "
                "the root needs -1 and every other joint a parent listed before it"
            )
        rest = self.rest_rotations if len(self.rest_rotations) else rotations.identity(count)
        rest = rotations.normalize(owned(rest, "rest_rotations", (count, 4), error=SkeletonError))
        set_field = object.__setattr__
        set_field(self, "names", names)
        set_field(self, "parents", parents)
        set_field(self, "offsets", owned(self.offsets, "offsets", (count, 3), error=SkeletonError))
        set_field(self, "rest_rotations", owned(rest, "rest_rotations", (count, 4)))
        found = dict(self.roles) or find_roles(names, parents, self.rest_positions)
        for role, index in found.items():
            if role not in ALL_ROLES:
                raise SkeletonError(f"unknown role '{role}'{did_you_mean(role, ALL_ROLES)}")
            if not isinstance(index, int | np.integer) or not 0 <= index < count:
                raise SkeletonError(f"role '{role}' points at joint {index} of {count}")
        set_field(self, "roles", MappingProxyType(found))
        set_field(self, "tips", MappingProxyType({int(j): tuple(map(float, tip)) for j, tip in self.tips.items()}))
        if any(not 0 <= j < count or len(tip) != 3 or not np.isfinite(tip).all() for j, tip in self.tips.items()):
            raise SkeletonError(
                f"skeleton '{self.name}': every tip needs a joint below {count} and three finite numbers"
            )
        for point in self.contact_points:
            if not isinstance(point.joint, int | np.integer) or not 0 <= point.joint < count:
                raise SkeletonError(f"contact point '{point.name}' is on joint {point.joint} of {count}")
            owned(point.offset, f"offset of contact point '{point.name}'", (3,), error=SkeletonError)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Skeleton('{self.name}', {len(self)} joints, {len(self.roles)} roles)"

    def index(self, name: str) -> int:
        """Return the index of the joint with this name, or else with this role.

        Raises:
            SkeletonError: if there is neither; the message offers the nearest name.
        """
        if name in self._index_of_name:
            return self._index_of_name[name]
        if name in self.roles:
            return self.roles[name]
        raise SkeletonError(
            f"joint '{name}' not in skeleton '{self.name}' ({len(self)} joints)"
            f"{did_you_mean(name, [*self.names, *self.roles])}"
        )

    def require(self, *roles: str) -> list[int]:
        """Return the joint indices of roles that must be present.

        Raises:
            SkeletonError: naming every role that is missing and how to state it.
        """
        missing = [r for r in roles if r not in self.roles]
        if missing:
            raise SkeletonError(
                f"skeleton '{self.name}' has no joint known as {', '.join(missing)}; state them, for example "
                f"skeleton.with_roles({missing[0]}='NAME') with names from: {', '.join(self.names[:40])}"
            )
        return [self.roles[r] for r in roles]

    def with_roles(self, **joints: str) -> Skeleton:
        """Return the same skeleton with roles added or replaced: `with_roles(left_knee="shin_L")`."""
        return replace(self, roles={**self.roles, **{role: self.index(joint) for role, joint in joints.items()}})

    def children(self, joint: int) -> list[int]:
        """Return the indices of the joints whose parent is `joint`."""
        return [int(i) for i in np.flatnonzero(self.parents == joint)]

    @cached_property
    def _index_of_name(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def rest_positions(self) -> FloatArray:
        """Joint positions of the rest pose with the root at its own offset [m]; (J, 3)."""
        positions, world = np.empty((1, len(self), 3)), np.empty((1, len(self), 4))
        _kernels.forward_kinematics(
            self.parents, self.offsets, self.offsets[:1], self.rest_rotations[None], positions, world
        )
        return owned(positions[0], "rest_positions", (len(self), 3))

    @cached_property
    def forward(self) -> FloatArray:
        """Direction in the root's own frame that the figure faces; (3,). From the hips where known, else +X."""
        if "left_hip" in self.roles and "right_hip" in self.roles:
            across = self.rest_positions[self.roles["left_hip"]] - self.rest_positions[self.roles["right_hip"]]
            ahead = np.array([across[1], -across[0], 0.0])  # across x up
            if np.linalg.norm(ahead) > 1e-6:
                ahead /= np.linalg.norm(ahead)
                return rotations.rotate(rotations.conjugate(self.rest_rotations[0]), ahead)
        return rotations.rotate(rotations.conjugate(self.rest_rotations[0]), np.array([1.0, 0.0, 0.0]))
