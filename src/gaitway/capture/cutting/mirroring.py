"""Mirror images of takes that stand on the same floor, although the left and right leg of a rig differ.

Fitted skeletons have uneven legs, and their pelvis is tilted against its own axes by some degrees. A plain mirror image
would tilt the other way, and its feet would be centimetres above and below the floor. So the pelvis is mirrored about
the tilt at which both soles are level, and the legs are solved so that the feet are at their mirrored places.
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
"""Tilt below which a pelvis is level [rad]."""
_SAME = 5e-4
"""Distance below which a foot is not corrected [m]."""


def mirrored_on_feet(clip: Clip) -> Clip:
    """Return the clip mirrored in the plane of the X and Z axes; each sole is where that of the other foot was."""
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
    """Return the clip with its pelvis rolled by an angle [rad], left side up; trunk and legs keep their rotation."""
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
    """Return the root and the joints between it and the thighs."""
    out = {0}
    for side in _LEGS:
        above = int(skeleton.parents[skeleton.roles[f"{side}_hip"]])
        while above > 0:
            out.add(above)
            above = int(skeleton.parents[above])
    return out


@lru_cache(maxsize=32)
def level_tilt(skeleton: Skeleton) -> float:
    """Return the roll of the T-pose's pelvis, left side up, at which both soles are at one height [rad]."""
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
    """Return the mean of a foot's contact points [m]; (F, 3). None if it has none."""
    parts = [f"{side}_{part}" for part in ("heel", "ball", "toe")]
    columns = [c for c, point in enumerate(clip.skeleton.contact_points) if point.name in parts]
    return np.asarray(clip.contact_positions()[:, columns].mean(axis=1)) if columns else None


def with_mirror_images(takes: tuple[PreparedTake, ...]) -> tuple[tuple[PreparedTake, ...], frozenset[str]]:
    """Return the original takes with a mirror image of each, and the names of the mirror images that are new.

    A step on the right foot is recognised as a step on the left foot in the mirror image. So mirror images are needed
    even for takes whose mirror images the library shall not contain.
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
