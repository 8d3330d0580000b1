"""Constraints on points of the body: where a point shall be, and in which frames (Lau 2009, section 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import FootPlan, plan_foot, resting_place
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG
from gaitway.motion.skeleton import Skeleton

_WINDOW_S = 0.3
"""Time that a plan of a foot looks beyond its stances [s]; only planted frames are taken from it."""
_PARTS = ("heel", "ball", "toe")


@dataclass(frozen=True, eq=False)
class PointConstraint:
    """A point of the body that shall be at given positions in frames `start` up to, not including, `stop`."""

    point: str
    """Name of a contact point ("left_heel"), a role ("left_wrist") or a joint."""
    start: int
    stop: int
    positions: FloatArray
    """World positions, one for each frame [m]; (stop - start, 3). One position (3,) counts for all frames."""

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise VariationError(
                f"constraint of '{self.point}' in frames {self.start} to {self.stop}; write 0 <= start < stop"
            )
        given = np.asarray(self.positions, dtype=np.float64)
        if given.shape == (3,):
            given = np.broadcast_to(given, (self.stop - self.start, 3))
        name = f"positions of '{self.point}'"
        object.__setattr__(self, "positions", owned(given, name, (self.stop - self.start, 3), error=VariationError))


def find_point(skeleton: Skeleton, name: str) -> tuple[int, FloatArray]:
    """Return the joint that carries a point, and the position of the point in the frame of the joint [m]; (3,).

    Raises:
        VariationError: if the skeleton has no contact point, role or joint of that name.
    """
    for point in skeleton.contact_points:
        if point.name == name:
            return point.joint, np.array(point.offset)
    if name in skeleton.roles:
        return skeleton.roles[name], np.zeros(3)
    if name in skeleton.names:
        return skeleton.names.index(name), np.zeros(3)
    points = ", ".join(p.name for p in skeleton.contact_points) or "none"
    raise VariationError(f"no point '{name}' on skeleton '{skeleton.name}'; contact points are {points}")


def contact_constraints(clip: Clip, parts: Sequence[str] = _PARTS) -> list[PointConstraint]:
    """Return constraints that hold the clip's own contacts where they are in the middle of their stances.

    Heel, ball and toe of a human foot are placed together, so that the distances between them are those of the foot.

    Args:
        clip: Motion with contacts.
        parts: Parts of human feet, by the last word of the contact point's name; other points are always included.

    Raises:
        VariationError: if the clip has no contacts.
    """
    if clip.contacts is None:
        raise VariationError(f"clip '{clip.name}' has no contacts; find them first with motion.detect_contacts")
    human = all(role in clip.skeleton.roles for role in (*LEFT_LEG, *RIGHT_LEG))
    targets = _foot_tracks(clip) if human else {}
    constraints, points = [], clip.contact_positions()
    for column, point in enumerate(clip.skeleton.contact_points):
        of_foot = point.name.rpartition("_")[2] in _PARTS
        if point.rolls or (of_foot and point.name.rpartition("_")[2] not in parts):
            continue
        for start, stop in stances(clip.contacts[:, column]):
            track = targets.get(point.name)
            still = resting_place(points[start:stop, column])
            constraints.append(PointConstraint(point.name, start, stop, still if track is None else track[start:stop]))
    return constraints


def _foot_tracks(clip: Clip) -> dict[str, FloatArray]:
    """Return the positions of both feet's contact points if planted feet did not slide [m]; (F, 3) each."""
    positions, world = clip.joint_transforms()
    tracks: dict[str, FloatArray] = {}
    for side in ("left", "right"):
        plan = plan_foot(clip, side, positions, world, _WINDOW_S)
        tracks |= _tracks(clip.skeleton, side, plan)
    return tracks


def _tracks(skeleton: Skeleton, side: str, plan: FootPlan) -> dict[str, FloatArray]:
    """Return positions (F, 3) of one foot's contact points by a plan; those of the toes follow the toe joint."""
    ankle, toe = skeleton.roles[f"{side}_ankle"], skeleton.roles.get(f"{side}_toe")
    out = {}
    for point in skeleton.contact_points:
        if not point.name.startswith(f"{side}_"):
            continue
        if point.joint == ankle:
            out[point.name] = plan.ankle + rotations.rotate(plan.foot, point.offset)
        elif point.joint == toe and plan.toes is not None and skeleton.parents[toe] == ankle:
            joint = plan.ankle + rotations.rotate(plan.foot, skeleton.offsets[toe])
            out[point.name] = joint + rotations.rotate(plan.toes, point.offset)
    return out
