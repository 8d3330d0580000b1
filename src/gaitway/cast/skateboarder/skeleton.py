"""The skeleton of `skateboarder`: a person, a root that faces the ride, and a board on the front foot.

A root joint "Ride" stands above the person's hips: it faces where the board goes, while the rider stands sideways on
it (left foot ahead, facing right). The board hangs on the front foot, which never leaves it; its two trucks keep the
wheels flat on the ground when the deck leans into a turn. The wheels are contact points that roll: they touch the
ground while they move over it, so only the right foot's points (it pushes and stops the board) have stances to stand
still in.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gaitway.cast.person.skeleton import BALL, person_skeleton
from gaitway.core import rotations
from gaitway.motion.skeleton import ContactPoint, Skeleton

AXLE_HEIGHT, DECK_RISE = 0.075, 0.045
"""Height of the axis that the deck leans about over the ground, and of the deck's top over that axis [m]."""
DECK_HEIGHT = AXLE_HEIGHT + DECK_RISE
HALF_BASE, HALF_AXLE = 0.21, 0.09
"""Half the distance between the two axles, and between the wheels of one axle [m]."""
FEET = {
    # where the ball of the foot stands on the deck, along and across [m], and where the foot points [rad]
    "Left": (0.185, -0.055, np.radians(-60.0)),
    "Right": (-0.235, -0.065, np.radians(-88.0)),
}
WHEELS = ("front_left_wheel", "front_right_wheel", "back_left_wheel", "back_right_wheel")


@cache
def skateboarder_skeleton() -> Skeleton:
    """Return a person (see `person_skeleton`) under a root that faces the ride, with a board on the left foot."""
    person = person_skeleton()
    names = ["Ride", *person.names, "Board", "FrontTruck", "BackTruck"]
    foot, board = names.index("LeftFoot"), names.index("Board")
    parents = [-1, 0, *(person.parents[1:] + 1), foot, board, board]
    x, y, yaw = FEET["Left"]
    centre = rotations.rotate(rotations.from_yaw(-yaw), np.array([-x, -y, 0.0])) + np.array(BALL)
    trucks = [(HALF_BASE, 0.0, -DECK_RISE), (-HALF_BASE, 0.0, -DECK_RISE)]
    offsets = np.vstack([person.offsets[0], np.zeros(3), person.offsets[1:], centre, *trucks])
    rest = rotations.identity(len(names))
    rest[board] = rotations.from_yaw(-yaw)
    points = []
    for end in ("front", "back"):
        for side, sign in (("left", 1.0), ("right", -1.0)):
            truck = names.index(end.title() + "Truck")
            points.append(ContactPoint(f"{end}_{side}_wheel", truck, (0.0, sign * HALF_AXLE, -AXLE_HEIGHT), rolls=True))
    for point in person.contact_points:
        if point.name in ("right_heel", "right_ball", "right_toe"):
            points.append(ContactPoint(point.name, point.joint + 1, point.offset))
    return Skeleton(
        names=tuple(names),
        parents=np.array(parents),
        offsets=offsets,
        rest_rotations=rest,
        roles={role: joint + 1 for role, joint in person.roles.items()},
        contact_points=tuple(points),
        tips={joint + 1: tip for joint, tip in person.tips.items()},
        name="skateboarder",
    )
