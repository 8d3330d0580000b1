"""BVH files in: held against a plain reading of the format, and against files written by hand."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from bvh_text import HEADER, MOTION, ROWS, SMALL
from gaitway.core import rotations
from gaitway.core.errors import FormatError, GaitwayError
from gaitway.motion.formats import load_clip, load_clip_with_report
from plain_readers import read_plain_bvh
from shared_data import MOCAP, needs_mocap

CMU = 0.0254 / 0.45
FAMILIES = {"bvh": (CMU, 1), "bvh_accad": (0.01, 0), "bvh_max": (CMU, 0)}
A_HANDFUL = [
    "bvh/02_01.bvh",
    "bvh/07_12.bvh",
    "bvh/49_06.bvh",
    "bvh_accad/Female1_C03_Run.bvh",
    "bvh_accad/Female1_A11_CrawlForward.bvh",
    "bvh_max/131_01.bvh",
]


def check_against_plain_reading(path: Path) -> None:
    factor, dropped = FAMILIES[path.parent.name]
    plain = read_plain_bvh(path)
    clip, report = load_clip_with_report(path)
    assert report.metres_per_unit == pytest.approx(factor)
    assert report.dropped_tpose == bool(dropped)
    assert report.up == "y"
    assert list(clip.skeleton.names) == plain.names
    wanted = plain.positions[dropped:][..., [2, 0, 1]] * factor
    np.testing.assert_allclose(clip.joint_positions(), wanted, atol=1e-6)
    positions, world = clip.joint_transforms()
    assert clip.skeleton.tips.keys() == plain.tips.keys()
    for joint, tip in clip.skeleton.tips.items():
        ends = positions[:, joint] + rotations.rotate(world[:, joint], np.array(tip))
        np.testing.assert_allclose(ends, plain.tips[joint][dropped:][:, [2, 0, 1]] * factor, atol=1e-6)


@needs_mocap
@pytest.mark.parametrize("name", A_HANDFUL)
def test_captures_agree_with_a_plain_reading(name: str) -> None:
    check_against_plain_reading(MOCAP / name)


@needs_mocap
@pytest.mark.slow
@pytest.mark.parametrize("folder", FAMILIES)
def test_every_capture_agrees_with_a_plain_reading(folder: str) -> None:
    paths = sorted((MOCAP / folder).glob("*.bvh"))
    assert len(paths) == {"bvh": 147, "bvh_accad": 64, "bvh_max": 1}[folder]
    for path in paths:
        check_against_plain_reading(path)


@needs_mocap
def test_a_converters_tpose_becomes_the_rest_pose() -> None:
    kept = load_clip(MOCAP / "bvh/02_01.bvh", keep_tpose=True)
    clip = load_clip(MOCAP / "bvh/02_01.bvh")
    assert len(kept) == len(clip) + 1 == 344
    np.testing.assert_allclose(clip.skeleton.rest_rotations, kept.rotations[0], atol=1e-12)
    np.testing.assert_array_equal(clip.rotations, kept.rotations[1:])
    hand, shoulder = (clip.skeleton.rest_positions[clip.skeleton.index(n)] for n in ("LeftHand", "LeftArm"))
    assert hand[1] - shoulder[1] > 0.4  # arms out to the side in a T
    assert hand[2] == pytest.approx(shoulder[2], abs=0.1)


@needs_mocap
def test_the_loaded_figure_faces_x_and_stands_on_the_ground() -> None:
    clip = load_clip(MOCAP / "bvh/02_01.bvh")
    np.testing.assert_allclose(clip.skeleton.forward, [1.0, 0.0, 0.0], atol=1e-4)
    assert clip.skeleton.rest_positions[:, 2].min() == pytest.approx(0.0, abs=0.03)
    assert {p.name for p in clip.skeleton.contact_points} >= {"left_heel", "left_ball", "left_toe", "right_heel"}


def write(folder: Path, text: str | bytes, name: str = "clip.bvh") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_worked_out_by_hand(tmp_path: Path) -> None:
    clip = load_clip(write(tmp_path, SMALL), unit="m")
    # frame 0: the root turns +Y of the file to -X; frame 1: the arm stands along +Z, its own turn moves only the tip
    in_file = np.array([[[1, 2, 3], [-1, 2, 3]], [[1, 2, 3], [1, 2, 5]]], dtype=float)
    np.testing.assert_allclose(clip.joint_positions(), in_file[..., [2, 0, 1]], atol=1e-12)
    assert clip.skeleton.names == ("Hips", "Arm")
    assert clip.skeleton.tips == {1: (0.0, 0.0, 1.0)}
    assert clip.fps == 30.0
    assert clip.name == "clip"


def test_axes_can_be_stated(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL)
    y_up = load_clip(path, unit="m").joint_positions()
    np.testing.assert_allclose(load_clip(path, unit="m", up="z").joint_positions()[..., [2, 0, 1]], y_up, atol=1e-12)
    np.testing.assert_allclose(load_clip(path, unit="m", up="x").joint_positions()[..., [1, 2, 0]], y_up, atol=1e-12)
    with pytest.raises(GaitwayError, match="up='w' must be one of x, y, z"):
        load_clip(path, up="w")


@pytest.mark.parametrize(
    ("unit", "factor"), [("m", 1.0), ("cm", 0.01), ("mm", 0.001), ("inch", 0.0254), ("cmu", CMU), (0.3, 0.3)]
)
def test_units_can_be_stated(tmp_path: Path, unit: str | float, factor: float) -> None:
    clip, report = load_clip_with_report(write(tmp_path, SMALL), unit=unit)
    assert clip.skeleton.offsets[1, 2] == pytest.approx(2 * factor)
    assert clip.root_positions[0] == pytest.approx(np.array([3, 1, 2]) * factor)
    assert report.unit == (unit if isinstance(unit, str) else "0.3 m")


@pytest.mark.parametrize("unit", ["feet", -1.0, float("nan"), 0.0])
def test_units_that_are_none(tmp_path: Path, unit: str | float) -> None:
    with pytest.raises(GaitwayError, match="unit"):
        load_clip(write(tmp_path, SMALL), unit=unit)


def person_text(scale: float, up: int = 1) -> str:
    """A walker of human shape whose leg is `scale` * 0.85 m long, standing along file axis `up`."""

    def along(height: float, across: float = 0.0) -> str:
        values = [0.0, 0.0, 0.0]
        values[up], values[(up + 2) % 3] = height * scale, across * scale
        return "OFFSET " + " ".join(f"{v:.6g}" for v in values)

    def joint(name: str, offset: str, inside: str) -> str:
        return f"JOINT {name} {{ {offset} CHANNELS 3 Zrotation Yrotation Xrotation {inside} }}\n"

    def leg(side: str, across: float) -> str:
        foot = joint(f"{side}Foot", along(-0.42), f"End Site {{ {along(-0.08)} }}")
        return joint(f"{side}UpLeg", along(0.0, across), joint(f"{side}Leg", along(-0.43), foot))

    head = joint("Spine", along(0.3), joint("Head", along(0.4), f"End Site {{ {along(0.2)} }}"))
    root = "ROOT Hips { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
    body = root + leg("Left", 0.1) + leg("Right", -0.1) + head + "}\n"
    return f"HIERARCHY\n{body}MOTION\nFrames: 2\nFrame Time: 0.04\n" + ("0 " * 30 + "\n") + ("0 " * 29 + "5\n")


@pytest.mark.parametrize(("name", "factor"), [("m", 1.0), ("cm", 0.01), ("mm", 0.001), ("inch", 0.0254), ("cmu", CMU)])
@pytest.mark.parametrize("size", [0.8, 1.0, 1.2])
def test_units_are_judged_by_the_legs(tmp_path: Path, name: str, factor: float, size: float) -> None:
    clip, report = load_clip_with_report(write(tmp_path, person_text(size / factor)))
    assert report.unit == name
    knee = clip.skeleton.index("left_knee")
    assert np.linalg.norm(clip.skeleton.offsets[knee]) == pytest.approx(0.43 * size, rel=1e-4)
    assert any(f"unit is {name}" in note for note in report.notes)


def test_a_thing_without_legs_is_judged_by_its_size_and_that_is_said(tmp_path: Path) -> None:
    _, report = load_clip_with_report(write(tmp_path, SMALL.replace("OFFSET 0 2 0", "OFFSET 0 200 0")))
    assert report.unit == "cm"
    assert any("no human legs" in note and "2.00 m" in note for note in report.notes)


def test_z_up_is_seen_in_the_rest_pose(tmp_path: Path) -> None:
    clip, report = load_clip_with_report(write(tmp_path, person_text(1.0, up=2)))
    assert report.up == "z"
    assert clip.skeleton.rest_positions[clip.skeleton.index("head"), 2] > 1.5
    assert load_clip_with_report(write(tmp_path, person_text(1.0)))[1].up == "y"


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("carriage returns", SMALL.replace("\n", "\r\n")),
        ("only carriage returns", SMALL.replace("\n", "\r")),
        ("a byte order mark", "\ufeff" + SMALL),
        ("tabs and trailing blanks", SMALL.replace(" ", "\t").replace("\n", " \t\n")),
        ("blank lines", SMALL.replace("\n", "\n\n")),
        ("no last newline", SMALL.rstrip("\n")),
        ("all in one line", HEADER.replace("\n", " ") + MOTION + ROWS),
        ("braces stuck to names", HEADER.replace("Hips\n{", "Hips{") + MOTION + ROWS),
        ("lower case", SMALL.replace("ROOT", "root").replace("Zrotation", "zrotation").replace("MOTION", "Motion")),
        ("scientific notation", SMALL.replace("90 0 0", "9.0e+1 0E0 -0.0e-12")),
        ("no leading zero", SMALL.replace("45", "+45.").replace("1 2 3", "1. 2.0 .3e1")),
        ("odd spacing of the counts", SMALL.replace("Frames: 2", "Frames :\t2").replace("Frame Time: ", "FrameTime:")),
    ],
)
def test_spelling_does_not_matter(tmp_path: Path, what: str, text: str) -> None:
    clip = load_clip(write(tmp_path, text), unit="m")
    wanted = load_clip(write(tmp_path, SMALL, "plain.bvh"), unit="m")
    np.testing.assert_allclose(clip.joint_positions(), wanted.joint_positions(), atol=1e-12, err_msg=what)


@pytest.mark.parametrize(
    "name", ["End", "MOTION", "MOTION_Leg", "End_Effector", "JOINT", "CHANNELS", "Left Arm", "Ärm"]
)
def test_any_word_can_be_a_joint_name(tmp_path: Path, name: str) -> None:
    clip = load_clip(write(tmp_path, SMALL.replace("JOINT Arm", f"JOINT {name}")), unit="m")
    assert clip.skeleton.names == ("Hips", name)


def test_names_in_latin_1(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL.replace("Arm", "Ärm").encode("latin-1"))
    assert load_clip(path).skeleton.names == ("Hips", "Ärm")


def test_repeated_names_are_made_different_and_that_is_said(tmp_path: Path) -> None:
    inner = "JOINT Arm { OFFSET 0 1 0 CHANNELS 1 Xrotation JOINT Arm_2 { OFFSET 0 1 0 } }"
    text = (
        SMALL.replace("    End Site", f"    {inner}\n    End Site")
        .replace("0 0 0\n1", "0 0 0 1\n1")
        .replace("45", "45 1")
    )
    clip, report = load_clip_with_report(write(tmp_path, text))
    assert clip.skeleton.names == ("Hips", "Arm", "Arm_3", "Arm_2")
    assert any("'Arm_3'" in note for note in report.notes)


@pytest.mark.parametrize("order", ["zyx", "xyz", "zxy", "yz", "x", "zxz", ""])
def test_any_euler_order(tmp_path: Path, order: str) -> None:
    names = " ".join(f"{axis}rotation" for axis in order.upper())
    text = SMALL.replace("CHANNELS 3 Zrotation Yrotation Xrotation", f"CHANNELS {len(order)} {names}")
    angles = [20.0, -130.0, 65.0][: len(order)]
    rows = "1 2 3 0 0 0 " + " ".join(map(str, angles)) + "\n"
    path = write(tmp_path, text.replace(ROWS, rows * 2))
    clip, plain = load_clip(path, unit="m"), read_plain_bvh(path)
    positions, world = clip.joint_transforms()
    np.testing.assert_allclose(positions, plain.positions[..., [2, 0, 1]], atol=1e-12)
    tip = positions[:, 1] + rotations.rotate(world[:, 1], np.array(clip.skeleton.tips[1]))
    np.testing.assert_allclose(tip, plain.tips[1][:, [2, 0, 1]], atol=1e-12)


def test_positions_and_rotations_mixed_in_any_order(tmp_path: Path) -> None:
    text = SMALL.replace(
        "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation",
        "6 Yrotation Zposition Xrotation Xposition Zrotation Yposition",
    )
    path = write(tmp_path, text)
    wanted = read_plain_bvh(path).positions[..., [2, 0, 1]]
    np.testing.assert_allclose(load_clip(path, unit="m").joint_positions(), wanted, atol=1e-12)


def test_root_channels_stand_in_place_of_its_offset(tmp_path: Path) -> None:
    text = SMALL.replace("OFFSET 0 0 0", "OFFSET 70 80 90", 1)
    clip = load_clip(write(tmp_path, text), unit="m")
    np.testing.assert_allclose(clip.root_positions, [[3, 1, 2], [3, 1, 2]])
    fewer = text.replace("6 Xposition Yposition Zposition", "4 Yposition").replace("1 2 3 ", "2 ")
    np.testing.assert_allclose(load_clip(write(tmp_path, fewer), unit="m").root_positions, [[90, 70, 2]] * 2)


SIX = SMALL.replace("CHANNELS 3 ", "CHANNELS 6 Xposition Yposition Zposition ")


def test_constant_positions_of_a_joint_become_its_offset(tmp_path: Path) -> None:
    text = SIX.replace(ROWS, "1 2 3 0 0 0 0 5 0 0 0 0\n1 2 3 0 0 0 0 5 0 0 0 0\n")
    clip, report = load_clip_with_report(write(tmp_path, text), unit="m")
    np.testing.assert_allclose(clip.skeleton.offsets[1], [0, 0, 5])
    assert report.notes == ()


def test_positions_that_move_are_averaged_and_that_is_said(tmp_path: Path) -> None:
    text = SIX.replace(ROWS, "1 2 3 0 0 0 0 5 0 0 0 0\n1 2 3 0 0 0 0 7 0 0 0 0\n")
    clip, report = load_clip_with_report(write(tmp_path, text), unit="m")
    np.testing.assert_allclose(clip.skeleton.offsets[1], [0, 0, 6])
    assert any("'Arm'" in note and "mean place" in note for note in report.notes)


def test_positions_that_are_all_zero_leave_the_offset(tmp_path: Path) -> None:
    text = SIX.replace(ROWS, "1 2 3 0 0 0 0 0 0 0 0 0\n1 2 3 0 0 0 0 0 0 9 0 0\n")
    clip, report = load_clip_with_report(write(tmp_path, text), unit="m")
    np.testing.assert_allclose(clip.skeleton.offsets[1], [0, 0, 2])
    assert any("all zero" in note for note in report.notes)


@pytest.mark.parametrize("said", ["1", "3", "0", "1000000000"])
def test_a_frame_count_that_lies_is_said(tmp_path: Path, said: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gaitway"):
        clip = load_clip(write(tmp_path, SMALL.replace("Frames: 2", f"Frames: {said}")))
    assert len(clip) == 2
    assert f"'Frames:' says {said}, but there are 2" in caplog.text
    assert "clip.bvh" in caplog.text


@pytest.mark.parametrize(
    ("time", "rate"),
    [(".0083333", 120.0), ("0.016667", 60.0), ("0.0333667", 29.97), ("0.041708", 23.976), ("0.04", 25.0)],
)
def test_rates_that_were_rounded_are_whole_again(tmp_path: Path, time: str, rate: float) -> None:
    clip = load_clip(write(tmp_path, SMALL.replace("0.0333333", time)))
    assert clip.fps == (rate if rate == int(rate) else pytest.approx(rate, rel=1e-4))
    assert (clip.fps == int(clip.fps)) == (rate == int(rate))


def test_rates_can_be_corrected_and_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + MOTION.replace("2", "61", 1) + "".join(f"{i} 2 3 0 0 0 0 0 0\n" for i in range(61)))
    assert load_clip(path, file_fps=60).duration == pytest.approx(1.0)
    half = load_clip(path, file_fps=60, fps=30, unit="m")
    assert (len(half), half.fps) == (31, 30.0)
    np.testing.assert_allclose(half.root_positions[:, 1], np.arange(0, 61, 2))
    for wrong in (0, -5, float("nan"), 1e9):
        with pytest.raises(GaitwayError, match="fps="):
            load_clip(path, fps=wrong)
        with pytest.raises(GaitwayError, match="fps="):
            load_clip(path, file_fps=wrong)


def test_a_rate_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL.replace("0.0333333", "9e8"))
    with pytest.raises(GaitwayError, match="ask for a lower rate"):
        load_clip(path, fps=1000)


def test_a_frame_time_of_zero_needs_a_stated_rate(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL.replace("0.0333333", "0"))
    with pytest.raises(FormatError, match=r"clip\.bvh:18: .*file_fps="):
        load_clip(path)
    assert load_clip(path, file_fps=50).fps == 50.0


def tpose_text(first: str, second: str, third: str) -> str:
    return SMALL.replace(ROWS, "\n".join((first, second, third)) + "\n")


def test_a_tpose_is_dropped_only_where_the_motion_jumps_from_it(tmp_path: Path) -> None:
    neutral, posed, next_one = "1 2 3 0 0 0 0 0 0", "1 2 3 9 8 7 6 5 30", "1 2 3 9 8 7 6 5 31"
    dropped = load_clip_with_report(write(tmp_path, tpose_text(neutral, posed, next_one)))[1]
    assert dropped.dropped_tpose
    assert any("T-pose" in note for note in dropped.notes)
    for kept in (
        (neutral, "1 2 3 0 0 0 0 0 1", "1 2 3 0 0 0 0 0 2"),  # moves out of it smoothly
        ("1 2 3 0 0 0 0 0 80", posed, next_one),  # far from neutral
        ("1 2 2 0 0 0 0 0 0", posed, next_one),  # elsewhere
        (neutral, "1 2 3 9 8 7 0 0 9", "1 2 3 18 16 14 0 0 18"),  # fast, but evenly so
    ):
        clip, report = load_clip_with_report(write(tmp_path, tpose_text(*kept)))
        assert (len(clip), report.dropped_tpose) == (3, False), kept
