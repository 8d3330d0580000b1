"""Legs of people and animals: where each leg swings, bends and ends."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG
from gaitway.motion.skeleton import Skeleton

_LIMB = 5
"""Greatest number of joints by which a leg is led; a shoulder blade stays with the trunk."""


@dataclass(frozen=True)
class Leg:
    """A leg that ends in contact points."""

    joints: tuple[int, int, int]
    """Joint where it swings, joint where it bends, and joint that carries the contact points."""
    columns: tuple[int, ...]
    """Columns of its contact points."""
    human: bool = False
    """Whether it is known by its roles: a thigh, a shank and a foot."""


def legs_of(skeleton: Skeleton) -> tuple[Leg, ...]:
    """Return the legs, and arms, that carry contact points.

    A leg runs from the point's joint up to where the limb leaves the trunk.
    """
    legs: dict[int, Leg] = {}
    for column, point in enumerate(skeleton.contact_points):
        own = [leg for leg in _human_legs(skeleton) if _hangs_on(skeleton, point.joint, leg.joints[2])]
        leg = own[0] if own and not point.rolls else Leg(_chain(skeleton, point.joint), ())
        if len(set(leg.joints)) == 3:
            known = legs.get(leg.joints[0], leg)
            legs[leg.joints[0]] = replace(known, columns=(*known.columns, column))
    return tuple(legs.values())


def all_legs(skeleton: Skeleton) -> tuple[Leg, ...]:
    """Return the legs of `legs_of`, and legs without contact points known by role, such as one on a board."""
    legs = legs_of(skeleton)
    tops = {leg.joints[0] for leg in legs}
    return (*legs, *(leg for leg in _human_legs(skeleton) if leg.joints[0] not in tops))


def chain_of(skeleton: Skeleton, leg: Leg) -> list[int]:
    """Return all joints of a leg, from its top to its end."""
    chain = [leg.joints[2]]
    while chain[-1] != leg.joints[0]:
        chain.append(int(skeleton.parents[chain[-1]]))
    return chain[::-1]


def _human_legs(skeleton: Skeleton) -> list[Leg]:
    legs = [[skeleton.roles.get(role, -1) for role in chain] for chain in (LEFT_LEG, RIGHT_LEG)]
    return [Leg((hip, knee, ankle), (), human=True) for hip, knee, ankle in legs if min(hip, knee, ankle) >= 0]


def _hangs_on(skeleton: Skeleton, joint: int, above: int) -> bool:
    """Return whether a joint is another or one below it."""
    while joint > above:  # parents come before their children
        joint = int(skeleton.parents[joint])
    return joint == above


def _chain(skeleton: Skeleton, end: int) -> tuple[int, int, int]:
    """Return the top, middle and end of the limb that a joint is the end of; in the middle it is bent most at rest."""
    joints = [end]
    while len(joints) < _LIMB and skeleton.parents[joints[-1]] >= 0:
        above = int(skeleton.parents[joints[-1]])
        if len(skeleton.children(above)) > 1:
            break
        joints.append(above)
    rest = skeleton.rest_positions
    line = rest[joints[-1]] - rest[end]
    off = [float(np.linalg.norm(np.cross(rest[j] - rest[end], line))) for j in joints]
    return joints[-1], joints[int(np.argmax(off))], end
