from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core.errors import SkeletonError
from gaitway.motion import Skeleton, missing_roles
from gaitway.motion.formats import load_clip
from gaitway.motion.roles import ALL_ROLES, bare_names, find_roles, mirror_twins, split_side
from gaitway.motion.shape_roles import roles_from_shape
from shared_data import MOCAP, needs_mocap

# One figure, told in the words of each naming family. Order: trunk, then one arm and one leg (left and right alike).
TRUNK_PLACES = {
    "hips": (0, 0, 1.0),
    "spine": (0, 0, 1.1),
    "spine2": (0, 0, 1.2),
    "chest": (0, 0, 1.3),
    "neck": (0, 0, 1.5),
    "head": (0, 0, 1.6),
}
SIDE_PLACES = {
    "clavicle": (0, 0.05, 1.45),
    "shoulder": (0, 0.18, 1.45),
    "elbow": (0, 0.45, 1.45),
    "wrist": (0, 0.70, 1.45),
    "hip": (0, 0.09, 0.95),
    "knee": (0, 0.09, 0.52),
    "ankle": (0, 0.09, 0.08),
    "toe": (0.13, 0.09, 0.02),
}
TREE = {"spine": "hips", "spine2": "spine", "chest": "spine2", "neck": "chest", "head": "neck", "clavicle": "chest"}
TREE |= {"shoulder": "clavicle", "elbow": "shoulder", "wrist": "elbow", "hip": "hips", "knee": "hip", "ankle": "knee"}
TREE |= {"toe": "ankle"}

MOTION_BUILDER = "Shoulder Arm ForeArm Hand UpLeg Leg Foot ToeBase"
JOINTS = "Collar Shoulder Elbow Wrist Hip Knee Ankle"
RIGIFY = "shoulder upper_arm forearm hand thigh shin foot toe"
FAMILIES = {
    # trunk from the hips up; a pattern for the names of one side; its words
    "MotionBuilder": ("Hips Spine Spine1 Spine2 Neck Head", "{side}{word}", MOTION_BUILDER),
    "Mixamo": (
        "mixamorig:Hips mixamorig:Spine mixamorig:Spine1 mixamorig:Spine2 mixamorig:Neck mixamorig:Head",
        "mixamorig:{side}{word}",
        MOTION_BUILDER,
    ),
    "Mixamo without colon": (
        "mixamorigHips mixamorigSpine mixamorigSpine1 mixamorigSpine2 mixamorigNeck mixamorigHead",
        "mixamorig{side}{word}",
        MOTION_BUILDER,
    ),
    "LaFAN": ("Hips Spine Spine1 Spine2 Neck Head", "{side}{word}", MOTION_BUILDER.replace("ToeBase", "Toe")),
    "3ds Max": ("Hips lowerback Chest Chest2 Neck Head", "{side}{word}", f"{JOINTS} Toe"),
    "Biped": (
        "Bip01_Pelvis Bip01_Spine Bip01_Spine1 Bip01_Spine2 Bip01_Neck Bip01_Head",
        "Bip01_{letter}_{word}",
        "Clavicle UpperArm Forearm Hand Thigh Calf Foot Toe0",
    ),
    "Acclaim": (
        "root lowerback upperback thorax upperneck head",
        "{small}{word}",
        "clavicle humerus radius wrist femur tibia foot toes",
    ),
    "Blender": ("pelvis spine spine.001 spine.002 neck head", "{word}.{letter}", RIGIFY),
    "Rigify": (
        "DEF-spine DEF-spine.001 DEF-spine.002 DEF-spine.003 DEF-spine.004 DEF-spine.005",
        "DEF-{word}.{letter}",
        RIGIFY,
    ),
    "Unreal": (
        "pelvis spine_01 spine_02 spine_03 neck_01 head",
        "{word}_{small}",
        "clavicle upperarm lowerarm hand thigh calf foot ball",
    ),
    "SMPL": ("pelvis spine1 spine2 spine3 neck head", "{low}_{word}", f"{JOINTS} Foot".lower()),
    "Kinect": ("SpineBase SpineMid SpineHigh SpineShoulder Neck Head", "{word}{side}", f"{JOINTS} Foot"),
    "VRM": (
        "J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_UpperChest J_Bip_C_Neck J_Bip_C_Head",
        "J_Bip_{letter}_{word}",
        "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot ToeBase",
    ),
    "numbers": ("b0 b1 b2 b3 b4 b5", "b{number}{word}", "1 2 3 4 5 6 7 8"),
}


def side_names(family: str, side: str) -> list[str]:
    _, pattern, words = FAMILIES[family]
    marks = {"side": side, "letter": side[0], "small": side[0].lower(), "low": side.lower()}
    number = "1" if side == "Left" else "2"
    return [pattern.format(word=word, number=number, **marks) for word in words.split()]


def figure(family: str) -> tuple[Skeleton, dict[str, str]]:
    """The figure in a family's names, and the name of each role."""
    trunk = FAMILIES[family][0]
    rows = [(name, role, "") for name, role in zip(trunk.split(), TRUNK_PLACES, strict=True)]
    for word, prefix in (("Left", "left_"), ("Right", "right_")):
        rows += [(name, role, prefix) for name, role in zip(side_names(family, word), SIDE_PLACES, strict=True)]
    places, parents = [], []
    index = {prefix + role: i for i, (_, role, prefix) in enumerate(rows)}
    for _, role, prefix in rows:
        place = np.array({**TRUNK_PLACES, **SIDE_PLACES}[role], dtype=float)
        places.append(place * [1, -1 if prefix == "right_" else 1, 1])
        above = TREE.get(role)
        parents.append(-1 if above is None else index.get(prefix + above, index.get(above)))
    offsets = np.array([p - (places[q] if q >= 0 else 0) for p, q in zip(places, parents, strict=True)])
    skeleton = Skeleton(tuple(r[0] for r in rows), np.array(parents), offsets, name=family)
    return skeleton, {prefix + role: name for name, role, prefix in rows if role != "spine2"}


@pytest.mark.parametrize("family", FAMILIES)
def test_all_roles_of_every_naming_family(family):
    skeleton, wanted = figure(family)
    assert {role: skeleton.names[joint] for role, joint in skeleton.roles.items()} == wanted
    assert missing_roles(skeleton) == ()


@pytest.mark.parametrize("family", FAMILIES)
def test_twins_of_every_naming_family(family):
    skeleton, wanted = figure(family)
    twins = mirror_twins(skeleton.names, skeleton.roles)
    for role, name in wanted.items():
        other = wanted[role.replace("left_", "right_")] if role.startswith("left_") else None
        if other is not None:
            assert skeleton.names[twins[skeleton.index(name)]] == other
    np.testing.assert_array_equal(twins[twins], np.arange(len(skeleton)))


@needs_mocap
@pytest.mark.parametrize(
    ("file", "roles"),
    [
        ("bvh/16_15.bvh", {"hips": "Hips", "chest": "Spine1", "neck": "Neck1", "left_hip": "LeftUpLeg"}),
        ("bvh_accad/Female1_B03_Walk1.bvh", {"spine": "ToSpine", "chest": "Spine1", "left_toe": "LeftToeBase"}),
        ("bvh_max/131_01.bvh", {"chest": "Chest2", "left_clavicle": "LeftCollar", "right_shoulder": "RightShoulder"}),
        ("asfamc/02_01.amc", {"chest": "thorax", "left_hip": "lfemur", "right_elbow": "rradius"}),
    ],
)
def test_captured_rigs(file, roles):
    skeleton = load_clip(MOCAP / file).skeleton
    assert missing_roles(skeleton) == ()
    for role, name in roles.items():
        assert skeleton.names[skeleton.roles[role]] == name
    shape = roles_from_shape(skeleton.parents, skeleton.rest_positions)
    if file.endswith("amc"):  # which of three joints above the chest is the head cannot be seen
        shape |= {"neck": skeleton.roles["neck"], "head": skeleton.roles["head"]}
    assert shape == dict(skeleton.roles)


def test_shape_alone_agrees_with_the_names_of_the_person():
    skeleton = person_skeleton()
    assert roles_from_shape(skeleton.parents, skeleton.rest_positions) == dict(skeleton.roles)


def test_shape_claims_nothing_in_doubt():
    skeleton, _ = figure("numbers")
    places = np.array(skeleton.rest_positions)
    feetless = places.copy()
    feetless[[skeleton.roles["left_toe"], skeleton.roles["right_toe"]], 0] = 0.0
    assert roles_from_shape(skeleton.parents, feetless) == {}
    chain = np.arange(-1, 9)
    assert roles_from_shape(chain, np.cumsum(np.ones((10, 3)), axis=0)) == {}
    assert roles_from_shape(np.array([-1]), np.zeros((1, 3))) == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LeftUpLeg", ("left", "upleg")),
        ("mixamorig:RightHand", ("right", "hand")),
        ("thigh.L", ("left", "thigh")),
        ("upper_arm.R", ("right", "upperarm")),
        ("l_calf", ("left", "calf")),
        ("lfemur", ("left", "femur")),
        ("KneeRight", ("right", "knee")),
        ("LowerBack", ("", "lowerback")),
        ("root", ("", "root")),
        ("LThumb", ("left", "thumb")),
        ("ribcage", ("", "ribcage")),
        ("Left", ("", "left")),
    ],
)
def test_sides_of_names(name, expected):
    assert split_side(name) == expected


def test_shared_prefix_is_dropped_only_where_it_is_one():
    names = ["spine", "spine1", "spine2", "spine3", "spine4", "spine5"]
    assert bare_names(names) == names
    assert bare_names(["a:Hips", "a:Head"]) == ["Hips", "Head"]
    assert bare_names(["Bip01", "Bip01 Pelvis", "Bip01 L Foot", "Bip01 Head", "Bip01 Neck"])[1:3] == [
        "Pelvis",
        "L Foot",
    ]


def test_unknown_rig_gets_the_list_of_what_is_missing_and_how_to_state_it():
    skeleton = Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), np.eye(3))
    assert missing_roles(skeleton) == ALL_ROLES
    with pytest.raises(SkeletonError, match=r"left_knee, left_ankle; .*with_roles\(left_knee='NAME'\).*a, b, c"):
        skeleton.require("left_knee", "left_ankle")
    stated = skeleton.with_roles(left_knee="b")
    assert stated.require("left_knee") == [1]
    assert "left_knee" not in missing_roles(stated)


def test_find_roles_on_one_joint():
    assert find_roles(["Hips"], np.array([-1]), np.zeros((1, 3))) == {}
