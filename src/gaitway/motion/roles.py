"""What each joint of a humanoid is, found from its name and its place in the tree.

Known naming families: CMU / MotionBuilder, Acclaim ASF, ACCAD, 3ds Max, Mixamo, LaFAN, and rigs that use
anatomical words (thigh, shin, upper arm ...) with left/right, l/r or .L/.R marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from gaitway.arrays import FloatArray, IntArray

_CENTRE = ("hips", "spine", "chest", "neck", "head")
_SIDED = ("clavicle", "shoulder", "elbow", "wrist", "hip", "knee", "ankle", "toe")
ALL_ROLES: tuple[str, ...] = (*_CENTRE, *(f"left_{r}" for r in _SIDED), *(f"right_{r}" for r in _SIDED))
"""Every role a humanoid skeleton can have. The shoulder is where the upper arm begins, the hip where the thigh does."""

_SIDED_WORDS: dict[str, tuple[str, ...]] = {
    # role: words for it, best first ("shoulder" is settled by whether the rig also has an "arm")
    "clavicle": ("clavicle", "collar", "collarbone", "shoulder"),
    "shoulder": ("arm", "upperarm", "uparm", "humerus", "shoulder"),
    "elbow": ("forearm", "elbow", "lowerarm", "lowarm", "radius"),
    "wrist": ("wrist", "hand"),
    "hip": ("upleg", "upperleg", "thigh", "femur", "hip"),
    "knee": ("knee", "leg", "lowerleg", "lowleg", "shin", "calf", "tibia"),
    "ankle": ("foot", "ankle"),
    "toe": ("toebase", "toe", "toes", "ball"),
}
_SIDE = re.compile(r"^(left|right|l|r)[_.\- ]?(?=[a-z0-9])|[_.\- ](left|right|l|r)$", re.IGNORECASE)


def split_side(name: str) -> tuple[str, str]:
    """The side ("left", "right" or "") and the bare lower-case word of a joint name.

    Namespaces ("mixamorig:") and separators are dropped. A bare "l" or "r" counts as a side only with a
    separator or before a known limb word, so that "root" and "lowerback" have no side.
    """
    bare = re.split(r"[:|]", name)[-1].strip()
    match = _SIDE.search(bare)
    if match:
        mark = (match.group(1) or match.group(2)).lower()
        rest = _letters(bare[: match.start()] + bare[match.end() :])
        separated = bool(match.group(2)) or match.group(0)[-1] in "_.- "
        if len(mark) > 1 or separated or rest in _LIMB_WORDS:
            return ("left" if mark[0] == "l" else "right"), rest
    return "", _letters(bare)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


_LIMB_WORDS = {w for words in _SIDED_WORDS.values() for w in words} | {"hipjoint", "thumb", "fingers", "hand"}


def mirror_twins(names: Sequence[str], roles: Mapping[str, int]) -> IntArray:
    """For each joint the index of the joint on the other side of the body, or its own; (J,).

    Twins are joints with the same role, or else the same name but for its side mark ("LThumb" and "RThumb").
    """
    twins = np.arange(len(names))
    places = {split_side(name): i for i, name in enumerate(names)}
    for i, name in enumerate(names):
        side, word = split_side(name)
        other = places.get(("right" if side == "left" else "left", word)) if side else None
        if other is None and name[:1] in "LR" and ("RL"["LR".index(name[0])] + name[1:]) in names:
            other = names.index("RL"["LR".index(name[0])] + name[1:])
        if other is not None:
            twins[i], twins[other] = other, i
    for role, joint in roles.items():
        side, _, part = role.partition("_")
        if side == "left" and f"right_{part}" in roles:
            twin = roles[f"right_{part}"]
            twins[joint], twins[twin] = twin, joint
    return twins


def find_roles(names: Sequence[str], parents: IntArray, offsets: FloatArray) -> dict[str, int]:
    """Roles found in a rig; those that cannot be told are left out.

    Args:
        names: joint names, parents before children.
        parents: parent of each joint, -1 for the root.
        offsets: joint offsets [m]; (J, 3).
    """
    del offsets
    found: dict[str, int] = {}
    words = [split_side(n) for n in names]
    for side in ("left", "right"):
        here = {w: i for i, (s, w) in reversed(list(enumerate(words))) if s == side}
        for role, choices in _SIDED_WORDS.items():
            index = next((here[w] for w in choices if w in here), None)
            if index is not None:
                found[f"{side}_{role}"] = index
        if found.get(f"{side}_clavicle") == found.get(f"{side}_shoulder"):
            found.pop(f"{side}_clavicle", None)
    _add_trunk(found, [w for _, w in words], parents)
    return found


def _add_trunk(found: dict[str, int], words: list[str], parents: IntArray) -> None:
    """Hips, spine, chest, neck and head: by where the limbs meet, then by name."""
    limbs = [found.get(f"{s}_{r}") for r in ("hip", "clavicle", "shoulder") for s in ("left", "right")]
    left_hip, right_hip = limbs[:2]
    arms = (limbs[2], limbs[3]) if None not in limbs[2:4] else (limbs[4], limbs[5])
    named_hips = next((i for i, w in enumerate(words) if w in ("hips", "pelvis", "hip")), None)
    if left_hip is not None and right_hip is not None:
        found["hips"] = named_hips if named_hips is not None else _common_ancestor(left_hip, right_hip, parents)
    elif named_hips is not None:
        found["hips"] = named_hips
    if arms[0] is not None and arms[1] is not None:
        chest = _common_ancestor(arms[0], arms[1], parents)
        if chest != found.get("hips", -1):
            found["chest"] = chest
            chain = _ancestors(chest, parents)
            below = [j for j in chain if j != found.get("hips", 0) and found.get("hips", 0) in _ancestors(j, parents)]
            if below:
                found["spine"] = below[-1]
    head = next((i for i, w in enumerate(words) if w == "head"), None)
    if head is not None:
        found["head"] = head
    necks = [i for i, w in enumerate(words) if w.rstrip("0123456789") in ("neck", "upperneck", "lowerneck")]
    if necks:  # the one nearest to the head; a lower one belongs to the chest
        found["neck"] = max(necks, key=lambda i: len(_ancestors(i, parents)))


def _ancestors(joint: int, parents: IntArray) -> list[int]:
    """The joint and its ancestors up to the root."""
    chain = []
    while joint >= 0:
        chain.append(joint)
        joint = int(parents[joint])
    return chain


def _common_ancestor(a: int, b: int, parents: IntArray) -> int:
    above = set(_ancestors(a, parents))
    return next(j for j in _ancestors(b, parents) if j in above)
