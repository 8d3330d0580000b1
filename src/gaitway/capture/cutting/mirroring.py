"""Mirror images that stand on the same floor, though the legs of rigs differ from left to right.

Fitted skeletons have uneven legs and stand with a pelvis that is tilted against its own axes by some degrees; mirrored
about those axes it would tilt the other way, and the feet would be centimetres over and under the floor. So the pelvis
is mirrored about where it is level on both feet, and legs are led to where the feet are in the mirror.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from gaitway.capture.takes import FootSide, PreparedTake
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import t_pose, t_pose_positions
from gaitway.motion.clip import Clip
from gaitway.motion.editing import mirror
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG, reach
from gaitway.motion.skeleton import Skeleton

_LEGS = {"left": LEFT_LEG, "right": RIGHT_LEG}
_OTHER = {"left": "right", "right": "left"}
_OTHER_FOOT: dict[FootSide, FootSide] = {"left": "right", "right": "left", "": ""}
_ACROSS = np.array([1.0, -1.0, 1.0])
_LEVEL = 1e-3
"""A pelvis that is tilted by less is level [rad]."""
_SAME = 5e-4
"""Feet that are no farther off than this stay as they are [m]."""


def mirrored_on_feet(clip: Clip) -> Clip:
    """The clip in a mirror that stands along the X axis, with its soles where those of the other foot were."""
    seen = tilted(mirror(clip), 2.0 * level_tilt(clip.skeleton))
    for side, chain in _LEGS.items():
        wanted, here = _sole(clip, _OTHER[side]), _sole(seen, side)
        if wanted is None or here is None:
            continue
        shift = wanted * _ACROSS - here
        if np.abs(shift).max() > _SAME:
            ankle = seen.joint_positions()[:, seen.skeleton.roles[chain[2]]]
            seen = reach(seen, chain, ankle + shift)
    return seen


def tilted(clip: Clip, tilt: float) -> Clip:
    """The clip with its pelvis rolled by an angle [rad], left side up; trunk and legs keep their turns in the world."""
    if abs(tilt) < _LEVEL:
        return clip
    skeleton, world = clip.skeleton, clip.joint_transforms()[1]
    rest = t_pose(skeleton)[0]
    turn = rotations.multiply(world[:, 0], rotations.conjugate(rest))
    roll = rotations.from_axis_angle([1.0, 0.0, 0.0], tilt)
    root = rotations.multiply(rotations.multiply(turn, roll), rest)
    change = rotations.multiply(root, rotations.conjugate(world[:, 0]))
    local, pelvis = np.array(clip.rotations), _pelvis(skeleton)
    local[:, 0] = root
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in pelvis and joint not in pelvis:
            above = rotations.multiply(change, world[:, parent])
            local[:, joint] = rotations.multiply(rotations.conjugate(above), world[:, joint])
    return replace(clip, rotations=rotations.normalize(local))


def _pelvis(skeleton: Skeleton) -> set[int]:
    """The root, and joints between it and the thighs."""
    out = {0}
    for side in _LEGS:
        above = int(skeleton.parents[skeleton.roles[f"{side}_hip"]])
        while above > 0:
            out.add(above)
            above = int(skeleton.parents[above])
    return out


@lru_cache(maxsize=32)
def level_tilt(skeleton: Skeleton) -> float:
    """How far the pelvis of the T-pose must be rolled for both soles to be at one height [rad]; raises the left."""
    places, world = t_pose_positions(skeleton), t_pose(skeleton)
    soles = {}
    for side in _LEGS:
        points = [p for p in skeleton.contact_points if p.name.startswith(f"{side}_")]
        if not points:
            return 0.0
        soles[side] = np.mean([places[p.joint][2] + rotations.rotate(world[p.joint], p.offset)[2] for p in points])
    width = places[skeleton.roles["left_hip"]][1] - places[skeleton.roles["right_hip"]][1]
    return float(np.arctan2(soles["right"] - soles["left"], max(width, 1e-3)))


def _sole(clip: Clip, side: str) -> FloatArray | None:
    """Middle of a foot's contact points [m]; (F, 3)."""
    parts = [f"{side}_{part}" for part in ("heel", "ball", "toe")]
    columns = [c for c, point in enumerate(clip.skeleton.contact_points) if point.name in parts]
    return np.asarray(clip.contact_positions()[:, columns].mean(axis=1)) if columns else None


def with_mirror_images(takes: tuple[PreparedTake, ...]) -> tuple[tuple[PreparedTake, ...], frozenset[str]]:
    """Original takes with a mirror image of each on its feet; and names of those that had none.

    A step on the right foot is known as one on the left foot in the mirror, so that mirror images are needed even where
    they are not wanted in the end.
    """
    originals = tuple(take for take in takes if not take.mirrored)
    known = {take.name for take in takes if take.mirrored}
    images = tuple(_image(take) for take in originals)
    return (*originals, *images), frozenset(image.name for image in images if image.name not in known)


def _image(take: PreparedTake) -> PreparedTake:
    name = f"{take.name} mirrored"
    events = tuple(replace(e, foot=_OTHER_FOOT[e.foot]) for e in take.events)
    phases = tuple(replace(p, turn=-p.turn) for p in take.phases)
    clip = replace(mirrored_on_feet(take.clip), name=name)
    return replace(take, name=name, clip=clip, mirrored=True, events=events, phases=phases)
