"""Analytic inverse kinematics of limbs, over all frames at once.

`two_bone` finds the smallest change of the given pose: the limb is swung as a whole toward its target and then folds or
unfolds in the plane it bends in already. A limb that is almost straight has no such plane; there the middle joint eases
to its anatomical side (knees forward, elbows back), so it never flips. The last 0.4 % of the reach are softened: a
harder stop snaps the knee, and a softer one makes people walk crouched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import ClipError
from gaitway.motion import _kernels
from gaitway.motion.anatomy import pole_direction
from gaitway.motion.clip import Clip

SOFTNESS = 0.004
"""Share of a limb's length over which the approach to the straight limb is softened. More looks crouched."""
STRAIGHT = 0.012
"""Share of a limb's length: a middle joint nearer than this to the line from start to end counts as straight."""
_STIFFNESS = 1e-3
"""Resistance of a chain of many joints to being stretched straight, as a share of its own."""
LEFT_LEG = ("left_hip", "left_knee", "left_ankle")
RIGHT_LEG = ("right_hip", "right_knee", "right_ankle")
LEFT_ARM = ("left_shoulder", "left_elbow", "left_wrist")
RIGHT_ARM = ("right_shoulder", "right_elbow", "right_wrist")


def two_bone(
    start: npt.ArrayLike,
    middle: npt.ArrayLike,
    end: npt.ArrayLike,
    upper: npt.ArrayLike,
    lower: npt.ArrayLike,
    target: npt.ArrayLike,
    pole: npt.ArrayLike,
    *,
    softness: float = SOFTNESS,
) -> tuple[FloatArray, FloatArray]:
    """Solve for the world rotations of both bones that bring a limb's end to a target; batch axes broadcast.

    Args:
        start: hip or shoulder [m]; (..., 3).
        middle: knee or elbow in the given pose [m]; (..., 3).
        end: ankle or wrist in the given pose [m]; (..., 3).
        upper: world rotation of the first bone in the given pose; (..., 4). Its axes may lie anyhow to the bone.
        lower: world rotation of the second bone in the given pose; (..., 4).
        target: wanted position of the end [m]; (..., 3). If it is out of reach, the limb comes as near to it as it can.
        pole: world direction in which the middle joint bends when the limb is straight; (..., 3).
        softness: share of the limb's length over which the approach to the straight limb is softened.

    Returns:
        World rotations of the first and of the second bone; (..., 4) each.
    """
    vectors = [np.asarray(v, dtype=np.float64) for v in (start, middle, end, target, pole)]
    quaternions = [np.asarray(q, dtype=np.float64) for q in (upper, lower)]
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in vectors + quaternions))
    # copies, since a read-only view would be another type to Numba and compile the kernel once more
    flat = [np.array(np.broadcast_to(v, (*batch, 3)), order="C").reshape(-1, 3) for v in vectors]
    turns = [np.array(np.broadcast_to(q, (*batch, 4)), order="C").reshape(-1, 4) for q in quaternions]
    new_upper, new_lower = np.empty_like(turns[0]), np.empty_like(turns[1])
    points = np.stack(flat[:3], axis=1)
    _kernels.two_bone(points, turns[0], turns[1], flat[3], flat[4], softness, STRAIGHT, new_upper, new_lower)
    return new_upper.reshape(*batch, 4), new_lower.reshape(*batch, 4)


def two_bone_from_pole(
    start: FloatArray, target: FloatArray, pole: FloatArray, lengths: tuple[float, float], longest: float = 0.999
) -> tuple[FloatArray, FloatArray]:
    """Return world rotations of both bones of a limb that is placed anew, without a given pose.

    `two_bone` changes a given pose as little as possible. This function is for generated motion that has no such pose:
    the bones hang along -Z of their own axes, and the middle joint lies exactly toward the pole.

    Args:
        start: Hip or shoulder [m]; (F, 3).
        target: Wanted position of the end [m]; (F, 3).
        pole: World direction toward which the middle joint lies; (F, 3).
        lengths: Lengths of the first and of the second bone [m].
        longest: Greatest reach as a share of both lengths; a target that is farther away is approached.

    Returns:
        World rotations of the first and of the second bone; (F, 4) each.
    """
    first, second = lengths
    line = target - start
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    along = line / length
    reached = np.minimum(length, longest * (first + second))
    side = np.cross(pole, along)
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    ahead = np.cross(along, side)
    near = (reached**2 + first**2 - second**2) / (2.0 * reached)
    middle = start + near * along + np.sqrt(np.maximum(first**2 - near**2, 0.0)) * ahead
    end = start + reached * along
    out = []
    for top, bottom in ((start, middle), (middle, end)):
        up = (top - bottom) / np.linalg.norm(top - bottom, axis=-1, keepdims=True)
        out.append(rotations.from_matrix(np.stack([np.cross(side, up), side, up], axis=-1)))
    return out[0], out[1]


def bend_chain(points: FloatArray, turns: FloatArray, targets: FloatArray, rounds: int = 4) -> FloatArray:
    """Solve for world rotations that bring the end of a chain to targets, with the smallest turns of its joints.

    The result is as smooth as the targets for small displacements. A chain that is too short comes near the targets.

    Args:
        points: joints from the top of the chain, and its end last [m]; (F, K + 1, 3).
        turns: world rotations of the joints; (F, K, 4).
        targets: wanted positions of the end [m]; (F, 3).
        rounds: steps toward the targets; each leaves about the square of the error before.

    Returns:
        New world rotations of the joints; (F, K, 4).
    """
    points, turns = np.array(points), np.array(turns)
    for _ in range(rounds):
        arms = points[:, -1:] - points[:, :-1]
        # the least turns with sum(turn x arm) = gap are arm x pull, and the pull solves three equations
        weight = np.sum(arms**2, axis=(1, 2)) * (1.0 + _STIFFNESS)
        square = weight[:, None, None] * np.eye(3) - np.einsum("fki,fkj->fij", arms, arms)
        pull = np.linalg.solve(square, (targets - points[:, -1])[..., None])[..., 0]
        spins = rotations.from_rotation_vector(rotations.cross(arms, pull[:, None]))
        bones, carried = np.diff(points, axis=1), rotations.identity(len(points))
        for k in range(turns.shape[1]):
            carried = rotations.multiply(spins[:, k], carried)
            turns[:, k] = rotations.multiply(carried, turns[:, k])
            points[:, k + 1] = points[:, k] + rotations.rotate(carried, bones[:, k])
    return turns


def reach(
    clip: Clip,
    chain: tuple[str, str, str],
    targets: npt.ArrayLike,
    *,
    weights: npt.ArrayLike = 1.0,
    end_rotations: npt.ArrayLike | None = None,
    softness: float = SOFTNESS,
) -> Clip:
    """Return the clip with one limb led to targets; everything else, and the end's own world rotation, stay.

    Args:
        clip: the motion to change.
        chain: roles of the limb's start, middle and end, for example `LEFT_LEG`. Roll joints in between are allowed.
        targets: wanted world positions of the end joint [m]; (F, 3).
        weights: 0 (leave the frame) to 1 (reach the target); (F,) or a number. Ease them for a smooth start and end.
        end_rotations: wanted world rotations of the end joint; (F, 4). None keeps those of the clip.
        softness: share of the limb's length over which the approach to the straight limb is softened.
    """
    skeleton, frames = clip.skeleton, len(clip)
    first, second, last = skeleton.require(*chain)
    goal = np.asarray(targets, dtype=np.float64)
    if goal.shape != (frames, 3):
        raise ClipError(f"targets have shape {goal.shape}; clip '{clip.name}' needs ({frames}, 3)")
    positions, world = clip.joint_transforms()
    weight = np.broadcast_to(np.asarray(weights, dtype=np.float64), (frames,))
    goal = positions[:, last] + weight[:, None] * (goal - positions[:, last])
    pole = rotations.rotate(world[:, first], pole_direction(skeleton, chain))
    upper, lower = two_bone(
        positions[:, first],
        positions[:, second],
        positions[:, last],
        world[:, first],
        world[:, second],
        goal,
        pole,
        softness=softness,
    )
    # the two-bone solution moves only limbs that have somewhere to go; a weight of zero leaves the frame untouched
    idle = weight <= 0.0
    upper[idle], lower[idle] = world[idle, first], world[idle, second]
    tip = world[:, last] if end_rotations is None else rotations.slerp(world[:, last], end_rotations, weight)
    local = np.array(clip.rotations)
    set_limb(local, world, clip.skeleton.parents.tolist(), (first, second, last), (upper, lower, tip))
    return replace(clip, rotations=rotations.normalize(local))


def set_limb(
    local: FloatArray,
    world: FloatArray,
    parents: list[int],
    joints: Sequence[int],
    wanted: Sequence[FloatArray],
) -> None:
    """Write the local rotations that give the joints of a limb new world rotations, into `local` (..., J, 4).

    Args:
        local: local rotations; changed in place.
        world: world rotations before the change; (..., J, 4).
        parents: parent of each joint.
        joints: start, middle and end joint, or any others, each a descendant of the one before.
        wanted: their new world rotations; (..., 4) each.
    """
    carried = rotations.identity()
    for joint, new in zip(joints, wanted, strict=True):
        above = parents[joint]
        if above < 0:
            local[..., joint, :] = new
        else:  # joints between two of the limb's follow the upper one rigidly
            parent_now = rotations.multiply(carried, world[..., above, :])
            local[..., joint, :] = rotations.multiply(rotations.conjugate(parent_now), new)
        carried = rotations.multiply(new, rotations.conjugate(world[..., joint, :]))
