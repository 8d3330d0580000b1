"""Roles of the joints of a humanoid, found from their names and their places in the tree.

Known naming families: CMU / MotionBuilder, Acclaim ASF, ACCAD, 3ds Max, Mixamo, LaFAN, and rigs that use
anatomical words (thigh, shin, upper arm ...) with left/right, l/r or .L/.R marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.shape_roles import roles_from_shape

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
    "toe": ("toebase", "toe", "toes", "toe0", "ball"),
}
_SIDE_MARKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"[_.\- ](left|right|l|r)$",
        r"^(left|right)[_.\- ]?(?=[a-z0-9])",
        r"^(l|r)[_.\- ](?=[a-z0-9])",
        r"(?<=[a-z])(left|right)$",
    )
)
_BARE_SIDE = re.compile(r"^(l|r)(?=[a-z])", re.IGNORECASE)
_CENTRE_MARK = re.compile(r"^c[_.\- ](?=[a-z])|[_.\- ]c$", re.IGNORECASE)
_SPLITS_NAME = re.compile(r"[_.\-: ]$")


def bare_names(names: Sequence[str]) -> list[str]:
    """Return joint names without namespaces ("actor:Hips") and without a prefix that all share ("Bip01 L Foot")."""
    bare = [re.split(r"[:|]", name)[-1].strip() for name in names]
    shortest = min(bare, key=len)  # the root may be the prefix alone
    others = sorted(b for b in bare if b != shortest)
    if len(others) < 4:
        return bare
    shared = "".join(a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(others[0], others[-1], strict=False)))
    while shared and not _SPLITS_NAME.search(shared):
        if all(b[len(shared) : len(shared) + 1].isupper() for b in bare if len(b) > len(shared)):
            break  # "mixamorigHips", "mixamorigSpine"
        shared = shared[:-1]
    return [b[len(shared) :].strip(" _.-") if b.startswith(shared) and len(b) > len(shared) else b for b in bare]


def split_side(name: str) -> tuple[str, str]:
    """Return the side ("left", "right" or "") and the bare lower-case word of a joint name.

    Namespaces ("mixamorig:") and separators are dropped. A bare "l" or "r" counts as a side only with a
    separator or before a known limb word, so that "root" and "lowerback" have no side.
    """
    bare = _CENTRE_MARK.sub("", re.split(r"[:|]", name)[-1].strip())
    marks = [match for match in (pattern.search(bare) for pattern in _SIDE_MARKS) if match]
    bare_mark = _BARE_SIDE.search(bare)
    if not marks and bare_mark and _letters(bare[1:]) in _LIMB_WORDS:
        marks = [bare_mark]
    if marks:
        rest = _letters(bare[: marks[0].start()] + bare[marks[0].end() :])
        if rest:
            return ("left" if marks[0].group(1)[0] in "lL" else "right"), rest
    return "", _letters(bare)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


_LIMB_WORDS = {w for words in _SIDED_WORDS.values() for w in words} | {"hipjoint", "thumb", "fingers", "hand"}


def mirror_twins(names: Sequence[str], roles: Mapping[str, int]) -> IntArray:
    """Return, for each joint, the index of the joint on the other side of the body, or its own; (J,).

    Twins are joints with the same role, or else the same name but for its side mark ("LThumb" and "RThumb").
    """
    twins, bare = np.arange(len(names)), bare_names(names)
    places = {split_side(name): i for i, name in enumerate(bare)}
    for i, name in enumerate(bare):
        side, word = split_side(name)
        other = places.get(("right" if side == "left" else "left", word)) if side else None
        swapped = {"L": "R", "R": "L"}.get(name[:1], "") + name[1:]
        if other is None and swapped in bare:
            other = bare.index(swapped)
        if other is not None:
            twins[i], twins[other] = other, i
    for role, joint in roles.items():
        side, _, part = role.partition("_")
        if side == "left" and f"right_{part}" in roles:
            twin = roles[f"right_{part}"]
            twins[joint], twins[twin] = twin, joint
    return twins


def find_roles(names: Sequence[str], parents: IntArray, positions: FloatArray) -> dict[str, int]:
    """Return the roles found in a rig; those that cannot be told are left out.

    Names decide. A rig whose names say nothing of its legs is judged by its shape.

    Args:
        names: joint names, parents before children.
        parents: parent of each joint, -1 for the root; (J,).
        positions: joint positions of the rest pose, Z up [m]; (J, 3).
    """
    found: dict[str, int] = {}
    words = [split_side(n) for n in bare_names(names)]
    for side in ("left", "right"):
        here = {w: i for i, (s, w) in reversed(list(enumerate(words))) if s == side}
        for role, choices in _SIDED_WORDS.items():
            index = next((here[w] for w in choices if w in here), None)
            if index is not None:
                found[f"{side}_{role}"] = index
        if found.get(f"{side}_clavicle") == found.get(f"{side}_shoulder"):
            found.pop(f"{side}_clavicle", None)
        if "foot" in here and "ankle" in here and here["ankle"] in _ancestors(here["foot"], parents):
            # rigs with an ankle call the front of the foot "foot"
            found[f"{side}_ankle"] = here["ankle"]
            found.setdefault(f"{side}_toe", here["foot"])
    if not any(f"{side}_{part}" in found for side in ("left", "right") for part in ("hip", "knee", "ankle")):
        return roles_from_shape(parents, positions)
    _add_trunk(found, ["" if side else word for side, word in words], parents, positions)
    return found


def _add_trunk(found: dict[str, int], words: list[str], parents: IntArray, positions: FloatArray) -> None:
    """Find hips, spine, chest, neck and head: by where the limbs meet, then by name, then by position."""
    limbs = [found.get(f"{s}_{r}") for r in ("hip", "clavicle", "shoulder") for s in ("left", "right")]
    left_hip, right_hip = limbs[:2]
    arms = (limbs[2], limbs[3]) if None not in limbs[2:4] else (limbs[4], limbs[5])
    named_hips = next((i for i, w in enumerate(words) if w in ("hips", "pelvis", "hip")), None)
    if named_hips is not None:
        found["hips"] = named_hips
    elif left_hip is not None and right_hip is not None:
        found["hips"] = _common_ancestor(left_hip, right_hip, parents)
    if arms[0] is not None and arms[1] is not None:
        chest = _common_ancestor(arms[0], arms[1], parents)
        if chest != found.get("hips", -1):
            found["chest"] = chest
            chain = _ancestors(chest, parents)
            below = [j for j in chain if j != found.get("hips", 0) and found.get("hips", 0) in _ancestors(j, parents)]
            if below:
                found["spine"] = below[-1]
    head = next((i for i, w in enumerate(words) if w == "head"), None)
    necks = [i for i, w in enumerate(words) if w.rstrip("0123456789") in ("neck", "upperneck", "lowerneck")]
    if necks:  # the one nearest to the head; a lower one belongs to the chest
        found["neck"] = max(necks, key=lambda i: len(_ancestors(i, parents)))
    if head is not None:
        found["head"] = head
    elif "chest" in found:
        taken = {j for arm in arms if arm is not None for j in _ancestors(arm, parents)[:-1]}
        found.update(_neck_and_head(found["chest"], parents, positions, taken))


def _neck_and_head(chest: int, parents: IntArray, positions: FloatArray, taken: set[int]) -> dict[str, int]:
    """Find neck and head as the chain that rises from the chest beside the arms."""
    chain = [chest]
    while True:
        above = [
            int(j)
            for j in np.flatnonzero(parents == chain[-1])
            if j not in taken and positions[j, 2] >= positions[chain[-1], 2]
        ]
        if not above:
            break
        chain.append(max(above, key=lambda j: float(positions[j, 2])))
    rising = chain[1:]
    if len(rising) > 2 and not (parents == rising[-1]).any():
        rising = rising[:-1]  # the crown of the head, not a joint
    if not rising:
        return {}
    return {"head": rising[-1], **({"neck": rising[-2]} if len(rising) > 1 else {})}


def _ancestors(joint: int, parents: IntArray) -> list[int]:
    """Return the joint and its ancestors up to the root."""
    chain = []
    while joint >= 0:
        chain.append(joint)
        joint = int(parents[joint])
    return chain


def _common_ancestor(a: int, b: int, parents: IntArray) -> int:
    above = set(_ancestors(a, parents))
    return next(j for j in _ancestors(b, parents) if j in above)
