"""Roles of the joints of a humanoid, found from its shape alone, for rigs with names that say nothing.

Legs are the two equal branches that go down farthest from where three or more branches meet; arms are the two equal
branches that leave the trunk higher up. Which leg is the left one is told by where the feet point. Where any of this is
in doubt, nothing is claimed.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray

_ALIKE = 0.15
"""Twin branches differ in length by less than this share."""


def roles_from_shape(parents: IntArray, positions: FloatArray) -> dict[str, int]:
    """Return the roles that the geometry tells: legs and hips, then arms and trunk where clear; {} if in doubt.

    Args:
        parents: parent of each joint, -1 for the root; (J,).
        positions: joint positions of a standing rest pose, Z up [m]; (J, 3).
    """
    following = _next_on_longest_way(parents, positions)
    for hips in np.flatnonzero(np.bincount(parents[1:], minlength=1) >= 3):
        branches = [_main_chain(int(c), following) for c in np.flatnonzero(parents == hips)]
        legs = _twins([b for b in branches if _goes_down(b, positions)], positions)
        if len(branches) >= 3 and legs is not None:
            limbs = [_limb(leg, positions) for leg in legs]
            sides = _sides(limbs, positions)
            if sides is None:
                return {}
            found = {"hips": int(hips)}
            for side, limb in zip(sides, limbs, strict=True):
                found.update(zip((f"{side}_hip", f"{side}_knee", f"{side}_ankle", f"{side}_toe"), limb, strict=False))
            _add_arms(found, int(hips), parents, positions, following)
            return found
    return {}


def _next_on_longest_way(parents: IntArray, positions: FloatArray) -> list[int]:
    """Return, for each joint, the child with the longest chain below it, or -1.

    One pass from the last joint to the first: a joint's own chain is known before its parent's, however deep the tree.
    """
    bones = np.linalg.norm(positions - positions[parents], axis=-1)
    ways, following = [0.0] * len(parents), [-1] * len(parents)
    for child in range(len(parents) - 1, 0, -1):
        parent, way = int(parents[child]), float(bones[child]) + ways[child]
        if following[parent] < 0 or way >= ways[parent]:
            following[parent], ways[parent] = child, way
    return following


def _main_chain(joint: int, following: list[int]) -> list[int]:
    """Return the joint and its descendants along the longest chain."""
    chain = [joint]
    while following[chain[-1]] >= 0:
        chain.append(following[chain[-1]])
    return chain


def _length(chain: list[int], positions: FloatArray) -> float:
    return float(np.linalg.norm(np.diff(positions[chain], axis=0), axis=-1).sum())


def _goes_down(chain: list[int], positions: FloatArray) -> bool:
    drop = positions[chain[0], 2] - positions[chain, 2].min()
    return len(chain) >= 3 and bool(drop > 0.6 * _length(chain, positions))


def _twins(chains: list[list[int]], positions: FloatArray) -> tuple[list[int], list[int]] | None:
    """Return the two longest chains of equal length on either side, or None."""
    ranked = sorted(chains, key=lambda c: -_length(c, positions))[:2]
    if len(ranked) < 2:
        return None
    a, b = (_length(c, positions) for c in ranked)
    apart = np.linalg.norm(positions[ranked[0], :2].mean(axis=0) - positions[ranked[1], :2].mean(axis=0))
    if a < 1e-6 or abs(a - b) > _ALIKE * a or apart < 0.02 * a:
        return None
    return ranked[0], ranked[1]


def _limb(chain: list[int], positions: FloatArray) -> list[int]:
    """Return the joints of a limb: its start, and the two neighbouring bones that are nearly the longest together."""
    bones = np.linalg.norm(np.diff(positions[chain], axis=0), axis=-1)
    pairs = bones[:-1] + bones[1:]
    return chain[int(np.flatnonzero(pairs > (1.0 - _ALIKE) * pairs.max())[-1]) :]


def _sides(legs: list[list[int]], positions: FloatArray) -> tuple[str, str] | None:
    """Return which of two legs is the left one, by where both feet point."""
    if any(len(leg) < 4 for leg in legs):
        return None
    ahead = np.sum([positions[leg[3], :2] - positions[leg[2], :2] for leg in legs], axis=0)
    across = positions[legs[0][0], :2] - positions[legs[1][0], :2]
    turn = float(ahead[0] * across[1] - ahead[1] * across[0])
    if abs(turn) < 0.3 * float(np.linalg.norm(ahead) * np.linalg.norm(across)) or turn == 0.0:
        return None
    return ("left", "right") if turn > 0.0 else ("right", "left")


def _add_arms(found: dict[str, int], hips: int, parents: IntArray, positions: FloatArray, following: list[int]) -> None:
    """Find arms, chest, spine, neck and head on the way up from the hips."""
    across = positions[found["left_hip"], :2] - positions[found["right_hip"], :2]
    legs = {found["left_hip"], found["right_hip"]}
    joint, trunk = hips, [hips]
    while True:
        children = [int(c) for c in np.flatnonzero(parents == joint)]
        branches = [_main_chain(c, following) for c in children]
        arms = _twins([b for b in branches if len(b) >= 3 and not legs & set(b)], positions) if joint != hips else None
        if arms is not None:
            break
        rising = [b for b in branches if not legs & set(b) and positions[b, 2].max() > positions[joint, 2] + 1e-6]
        if not rising:
            return
        joint = max(rising, key=lambda b: float(positions[b, 2].max()))[0]
        trunk.append(joint)
    side = [float((positions[a, :2].mean(axis=0) - positions[joint, :2]) @ across) for a in arms]
    if side[0] * side[1] >= 0.0:
        return
    found["chest"], found["spine"] = joint, trunk[1]
    for arm, out in zip(arms, side, strict=True):
        name, limb = ("left" if out > 0.0 else "right"), _limb(arm, positions)
        found.update(zip((f"{name}_shoulder", f"{name}_elbow", f"{name}_wrist"), limb, strict=False))
        before = arm[: arm.index(limb[0])]
        if before and np.linalg.norm(positions[limb[0]] - positions[before[-1]]) > 1e-6:
            found[f"{name}_clavicle"] = before[-1]
    above = [c for c in np.flatnonzero(parents == joint) if int(c) not in (arms[0][0], arms[1][0])]
    if above:
        neck = max((_main_chain(int(c), following) for c in above), key=lambda b: float(positions[b, 2].max()))
        neck = [j for j in neck if np.linalg.norm(positions[j] - positions[joint]) > 1e-6] or neck
        neck = neck[:-1] if len(neck) > 2 else neck  # the crown of the head is no joint of its own
        found["head"] = neck[-1]
        if len(neck) > 1:
            found["neck"] = neck[-2]
