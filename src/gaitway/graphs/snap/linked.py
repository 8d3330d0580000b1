"""Linked footplants: feet that stay down from one hub to another must stand equally at both (gleicher2003, appendix).

If a foot is down during a whole clip, the common poses at both ends must put it at the same place. For one foot, this
depends only on where the poses are placed. For both feet, it also depends on their stand: the distance of their
middles, and the turn of each foot relative to the line between them. Poses that are linked by clips with both feet down
form a class, and all poses of a class get its average stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import GraphError
from gaitway.graphs.snap.common_pose import HubPose
from gaitway.graphs.snap.planting import stand_on
from gaitway.motion.anatomy import t_pose, t_pose_positions
from gaitway.motion.footplants import FootPlan
from gaitway.motion.skeleton import Skeleton

_SIDES = ("left", "right")
_STUBBORN = 0.001
"""Weight by which a pose keeps its heading [m^2]; the points of a foot have a weight of 0.02."""
Link = tuple[int, int, BoolArray]
"""Hubs at the start and end of a clip, and the contacts that hold during the whole clip (C,)."""


@dataclass(frozen=True)
class FootStand:
    """Stand of two feet relative to each other."""

    distance: float
    """Distance of the middles of the feet [m]."""
    left: float
    """Direction of the left foot, relative to the line from the left middle to the right one [rad]."""
    right: float
    """Direction of the right foot, relative to the same line [rad]."""


def linked_contacts(skeleton: Skeleton, contacts: BoolArray) -> BoolArray:
    """Return the contacts that link both ends of a clip with contacts (F, C), for feet that are always down; (C,).

    These are the contacts that both ends have. A foot is down while any of its points is. A foot that stands on its
    heel at the start and on its ball at the end links by all of these contacts.
    """
    contacts = np.asarray(contacts, dtype=bool)
    shared, either = contacts[0] & contacts[-1], contacts[0] | contacts[-1]
    sides = [_side(point.name) or point.name for point in skeleton.contact_points]
    held = np.zeros(len(sides), dtype=bool)
    for side in dict.fromkeys(sides):
        columns = np.array([other == side for other in sides])
        if contacts[:, columns].any(axis=1).all():
            held[columns] = (shared if shared[columns].any() else either)[columns]
    return held


def linked_feet(skeleton: Skeleton, held: BoolArray) -> tuple[str, ...]:
    """Return the sides, "left" and "right", of feet with a contact among those held (C,)."""
    sides = {_side(point.name) for point, on in zip(skeleton.contact_points, held, strict=True) if on}
    return tuple(side for side in _SIDES if side in sides)


def _side(name: str) -> str:
    """Return the side of a point of a foot, "left" or "right"; an empty string for hands, knees and wheels."""
    side, _, part = name.partition("_")
    return side if side in _SIDES and part in ("heel", "ball", "toe") else ""


def linked_classes(count: int, links: Sequence[Link], skeleton: Skeleton) -> list[tuple[int, ...]]:
    """Return the classes of two or more hubs that are linked by both feet, each in ascending order.

    Args:
        count: Number of hubs.
        links: Links, one for each clip.
        skeleton: Skeleton of the hubs.
    """
    owner = list(range(count))

    def root(hub: int) -> int:
        while owner[hub] != hub:
            hub = owner[hub]
        return hub

    for start, end, held in links:
        if len(linked_feet(skeleton, held)) == len(_SIDES):
            owner[root(start)] = root(end)
    groups: dict[int, list[int]] = {}
    for hub in range(count):
        groups.setdefault(root(hub), []).append(hub)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def foot_places(pose: HubPose) -> FloatArray:
    """Return the planar poses of both feet: middle of heel and ball [m], direction [rad]; (2, 3), left and right."""
    points = {p.name: i for i, p in enumerate(pose.skeleton.contact_points)}
    missing = [f"{s}_{part}" for s in _SIDES for part in ("heel", "ball") if f"{s}_{part}" not in points]
    if missing:
        raise GraphError(
            f"skeleton '{pose.skeleton.name}' has no contact point '{missing[0]}'; feet need heel and ball"
        )
    at = pose.clip().contact_positions()[0]
    rows = []
    for side in _SIDES:
        heel, ball = at[points[f"{side}_heel"]], at[points[f"{side}_ball"]]
        line = ball - heel
        rows.append([*(0.5 * (heel + ball))[:2], np.arctan2(line[1], line[0])])
    return np.array(rows)


def foot_stand(pose: HubPose) -> FootStand:
    """Return the stand of the feet of a pose."""
    left, right = foot_places(pose)
    line = right[:2] - left[:2]
    bearing = np.arctan2(line[1], line[0])
    turned = planar.wrap_angle(np.array([left[2], right[2]]) - bearing)
    return FootStand(float(np.linalg.norm(line)), float(turned[0]), float(turned[1]))


def average_stand(stands: Sequence[FootStand]) -> FootStand:
    """Return the stand with the mean distance and the mean directions."""
    if not stands:
        raise GraphError("an average of no foot stands; give at least one")
    means = [np.angle(np.mean(np.exp(1j * np.array([getattr(s, side) for s in stands])))) for side in _SIDES]
    return FootStand(float(np.mean([s.distance for s in stands])), float(means[0]), float(means[1]))


def with_stand(pose: HubPose, stand: FootStand) -> HubPose:
    """Return the pose with its feet moved over the floor to a stand; the middle and the line between them stay."""
    left, right = foot_places(pose)
    line = right[:2] - left[:2]
    bearing, middle = np.arctan2(line[1], line[0]), 0.5 * (left[:2] + right[:2])
    half = 0.5 * stand.distance * np.array([np.cos(bearing), np.sin(bearing)])
    wanted = {
        "left": np.array([*(middle - half), bearing + stand.left]),
        "right": np.array([*(middle + half), bearing + stand.right]),
    }
    clip = pose.clip()
    positions, world = clip.joint_transforms()
    plans = {}
    for side, now in zip(_SIDES, (left, right), strict=True):
        ankle, toe = pose.skeleton.roles[f"{side}_ankle"], pose.skeleton.roles.get(f"{side}_toe")
        by = planar.compose(wanted[side], planar.inverse(now))
        turn = rotations.from_yaw(by[2])
        at = np.append(planar.transform_points(by, positions[0, ankle, :2]), positions[0, ankle, 2])
        toes = None if toe is None else rotations.multiply(turn, world[:, toe])
        plans[side] = FootPlan(at[None], rotations.multiply(turn, world[:, ankle]), toes, np.ones(1, dtype=bool))
    stood = stand_on(clip, plans)
    # the root moves sideways a little; that is undone, so that the pose stays over the origin
    return replace(pose, root=stood.root_positions[0] * np.array([0.0, 0.0, 1.0]), rotations=stood.rotations[0])


def similar_poses(poses: Sequence[HubPose], links: Sequence[Link]) -> list[HubPose]:
    """Return the poses; the poses of each class of linked ones get the average stand of the class."""
    out = list(poses)
    if not out:
        return out
    for members in linked_classes(len(out), links, out[0].skeleton):
        stand = average_stand([foot_stand(out[hub]) for hub in members])
        for hub in members:
            out[hub] = with_stand(out[hub], stand)
    return out


def linked_place(
    place: FloatArray, before: HubPose, after: HubPose, held: BoolArray, own: FloatArray
) -> FloatArray | None:
    """Return the place of the pose at the end of a clip at which contacts that always hold do not move.

    Args:
        place: Planar pose (x, y, heading) of the first pose; (3,).
        before: Pose at the start of the clip.
        after: Pose at the end of the clip.
        held: Contacts that hold in every frame; (C,).
        own: Planar pose of the last pose without contacts; (3,). Its heading is kept if the points are close together,
            because such points hardly determine a heading.

    Returns:
        The planar pose (3,), or None if no contact holds.
    """
    if not linked_feet(before.skeleton, held):
        return None
    feet = [_linking_points(before, after, side, held) for side in linked_feet(before.skeleton, held)]
    here = planar.transform_points(place, np.concatenate([points[0] for points in feet]))
    there = planar.transform_points(own, np.concatenate([points[1] for points in feet]))
    centres = here.mean(axis=0), there.mean(axis=0)
    to, by = ((points - centre) @ np.array([1.0, 1.0j]) for points, centre in zip((here, there), centres, strict=True))
    turn = float(np.angle(np.sum(to * by.conj()) + _STUBBORN))
    about = np.array([*centres[0], turn])
    return planar.compose(planar.compose(about, [-centres[1][0], -centres[1][1], 0.0]), own)


def _linking_points(before: HubPose, after: HubPose, side: str, held: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the points of a foot that must not move between two poses [m]; (n, 2) in each pose's own frame.

    These are the contacts that both poses have; if there are none, heel and ball of the foot when it lies flat.
    """
    own = np.array([_side(point.name) == side for point in before.skeleton.contact_points])
    shared = held & own & before.contacts & after.contacts
    if shared.any():
        return before.clip().contact_positions()[0, shared, :2], after.clip().contact_positions()[0, shared, :2]
    return _laid_flat(before, side), _laid_flat(after, side)


def _laid_flat(pose: HubPose, side: str) -> FloatArray:
    """Return heel and ball of a foot that is turned about its planted point until it lies flat [m]; (2, 2)."""
    points = {p.name: i for i, p in enumerate(pose.skeleton.contact_points)}
    heel, ball = points[f"{side}_heel"], points[f"{side}_ball"]
    at = pose.clip().contact_positions()[0, :, :2]
    x, y, heading = foot_places(pose)[_SIDES.index(side)]
    step = _foot_length(pose.skeleton, side) * np.array([np.cos(heading), np.sin(heading)])
    if pose.contacts[heel]:
        return np.stack([at[heel], at[heel] + step])
    if pose.contacts[ball]:
        return np.stack([at[ball] - step, at[ball]])
    return np.array([[x, y], [x, y]]) + 0.5 * np.stack([-step, step])


def _foot_length(skeleton: Skeleton, side: str) -> float:
    """Return the distance from heel to ball of a foot that lies flat [m]."""
    world = t_pose(skeleton)
    places, ends = t_pose_positions(skeleton, world), []
    for part in ("heel", "ball"):
        point = next(p for p in skeleton.contact_points if p.name == f"{side}_{part}")
        ends.append(places[point.joint] + rotations.rotate(world[point.joint], np.array(point.offset)))
    return float(np.linalg.norm((ends[1] - ends[0])[:2]))
