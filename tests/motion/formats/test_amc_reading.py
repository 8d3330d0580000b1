"""ASF/AMC files in: against a plain reading, against the BVH of the same take, and wrong ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from gaitway.core.errors import FormatError
from gaitway.motion.formats import load_clip, load_clip_with_report
from gaitway.motion.formats.asf import read_asf
from plain_readers import read_plain_amc
from shared_data import MOCAP, needs_mocap

TAKES = ["02_01", "02_02", "02_03", "02_04", "16_15"]
BELOW_THE_CHEST = {
    "root": "Hips", "lhipjoint": "LHipJoint", "lfemur": "LeftUpLeg", "ltibia": "LeftLeg", "lfoot": "LeftFoot",
    "ltoes": "LeftToeBase", "rhipjoint": "RHipJoint", "rfemur": "RightUpLeg", "rtibia": "RightLeg",
    "rfoot": "RightFoot", "rtoes": "RightToeBase", "lowerback": "LowerBack", "upperback": "Spine", "thorax": "Spine1",
}  # fmt: skip
ABOVE = {
    "lowerneck": "Neck", "upperneck": "Neck1", "head": "Head", "lclavicle": "LeftShoulder", "lhumerus": "LeftArm",
    "lradius": "LeftForeArm", "lwrist": "LeftHand", "rclavicle": "RightShoulder", "rhumerus": "RightArm",
    "rradius": "RightForeArm", "rwrist": "RightHand",
}  # fmt: skip


@needs_mocap
@pytest.mark.parametrize("take", TAKES)
def test_takes_agree_with_a_plain_reading(take: str) -> None:
    amc = MOCAP / "asfamc" / f"{take}.amc"
    plain = read_plain_amc(amc.with_name(f"{take[:2]}.asf"), amc)
    clip, report = load_clip_with_report(amc)
    assert report.unit == "cmu"
    assert not report.dropped_tpose
    assert clip.fps == 120.0
    assert list(clip.skeleton.names) == plain.names
    np.testing.assert_allclose(clip.joint_positions(), plain.positions[..., [2, 0, 1]] * 0.0254 / 0.45, atol=1e-6)
    assert clip.skeleton.tips.keys() == plain.tips.keys()


@needs_mocap
@pytest.mark.parametrize("take", TAKES)
def test_takes_agree_with_the_bvh_of_the_same_take(take: str) -> None:
    amc, bvh = load_clip(MOCAP / "asfamc" / f"{take}.amc"), load_clip(MOCAP / "bvh" / f"{take}.bvh")
    assert len(amc) == len(bvh)
    ours, theirs = amc.joint_positions(), bvh.joint_positions()
    for a, b in BELOW_THE_CHEST.items():
        apart = np.linalg.norm(ours[:, amc.skeleton.index(a)] - theirs[:, bvh.skeleton.index(b)], axis=-1)
        assert apart.max() < 6e-6, a
    # the conversion to BVH lost the thorax bone; all above is lower by exactly that
    neck = amc.skeleton.index("lowerneck")
    thorax = ours[:, neck] - ours[:, amc.skeleton.index("thorax")]
    for a, b in ABOVE.items():
        apart = ours[:, amc.skeleton.index(a)] - theirs[:, bvh.skeleton.index(b)]
        np.testing.assert_allclose(apart, thorax, atol=1.5e-5, err_msg=a)


ASF = """# made for a test
:version 1.10
:name T
:units
  mass 1.0
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name thigh
    direction 0 -2 0
    length 8
    axis 0 0 20 XYZ
    dof rx rz
    limits (-160.0 20.0)
           (-inf 70.0)
  end
  begin
    id 2
    name shin
    direction 0 -1 0
    length 7
    axis 0 0 0 XYZ
    dof rx
    limits (-10 170)
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""
AMC = """#!OML:ASF
:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 0 0 0
thigh 0 0
shin 0
2
root 1 2 3 0 90 0
thigh 90 0
shin 90
"""


def write(folder: Path, asf: str = ASF, amc: str = AMC, name: str = "02") -> Path:
    (folder / f"{name}.asf").write_text(asf)
    (folder / "02_01.amc").write_text(amc)
    return folder / "02_01.amc"


def test_a_pair_worked_out_by_hand(tmp_path: Path) -> None:
    clip, report = load_clip_with_report(write(tmp_path, amc=AMC.replace("thigh 90 0", "thigh 0 0")), unit="m")
    # joints sit where their bones begin; in frame 1 the root's turn about Y leaves the hanging leg where it is
    in_file = np.array([[[1, 2, 3], [1, 2, 3], [1, -6, 3]]] * 2, dtype=float)
    np.testing.assert_allclose(clip.joint_positions(), in_file[..., [2, 0, 1]], atol=1e-12)
    assert clip.skeleton.tips == {2: (0.0, 0.0, -7.0)}
    assert any("120 Hz is assumed" in note for note in report.notes)


def test_angles_in_radians(tmp_path: Path) -> None:
    degrees = load_clip(write(tmp_path), unit="m").joint_positions()
    asf = ASF.replace("angle deg", "angle rad").replace("0 0 20", f"0 0 {np.radians(20)}")
    amc = AMC.replace(":DEGREES", ":RADIANS").replace("90", f"{np.pi / 2}")
    np.testing.assert_allclose(load_clip(write(tmp_path, asf, amc), unit="m").joint_positions(), degrees, atol=1e-9)


def test_dofs_limits_and_axes_are_kept(tmp_path: Path) -> None:
    bones = read_asf(write(tmp_path).with_name("02.asf")).bones
    assert [bone.name for bone in bones] == ["root", "thigh", "shin"]
    assert bones[1].dof == ("rx", "rz")
    assert bones[1].limits == ((-160.0, 20.0), (-np.inf, 70.0))
    assert bones[1].direction == (0.0, -1.0, 0.0)
    assert bones[1].axis == (0.0, 0.0, 20.0)


def test_a_stated_rate_is_used(tmp_path: Path) -> None:
    assert load_clip(write(tmp_path, amc=AMC.replace(":DEGREES", ":DEGREES\n:SAMPLES-PER-SECOND 60"))).fps == 60.0
    assert load_clip(write(tmp_path), file_fps=50).fps == 50.0


@needs_mocap
def test_a_unit_that_gives_no_human_legs_is_not_believed(tmp_path: Path) -> None:
    for name in ("02.asf", "02_03.amc"):
        shutil.copyfile(MOCAP / "asfamc" / name, tmp_path / name)
    text = (tmp_path / "02.asf").read_text()
    (tmp_path / "02.asf").write_text(text.replace("length 0.45", "length 10"))
    report = load_clip_with_report(tmp_path / "02_03.amc")[1]
    assert report.unit == "cmu"
    assert any("'length 10'" in note for note in report.notes)


def test_the_skeleton_is_found_beside_the_motion(tmp_path: Path) -> None:
    path = write(tmp_path, name="whatever")
    assert len(load_clip(path)) == 2
    (tmp_path / "other.asf").write_text(ASF.replace("shin", "knee"))
    with pytest.raises(FormatError, match=r"02_01\.amc: its \.asf skeleton was not found beside it; name it with asf="):
        load_clip(path)
    assert len(load_clip(path, asf=tmp_path / "whatever.asf")) == 2
    (tmp_path / "02.asf").write_text(ASF)
    assert len(load_clip(path)) == 2
    with pytest.raises(FormatError, match="is a skeleton without motion"):
        load_clip(tmp_path / "02.asf")


BAD_MOTION = {
    "no frames": ("# nothing\n:DEGREES\n", None, "no frames"),
    "binary": ("\x00\x01\x02", 1, "expected a frame number"),
    "bone before a frame": (AMC.replace("1\nroot", "root", 1), 4, "expected a frame number, found 'root'"),
    "unknown bone": (AMC.replace("shin 90", "shinn 90"), 11, "'shinn' is no bone"),
    "bone twice": (AMC.replace("shin 90", "thigh 1 2"), 11, "'thigh' occurs twice"),
    "too few values": (AMC.replace("thigh 90 0", "thigh 90"), 10, "'thigh' has 1 values; the skeleton has 2"),
    "too many values": (AMC.replace("shin 90", "shin 90 1"), 11, "'shin' has 2 values; the skeleton has 1"),
    "cut off": (AMC[: AMC.rindex("shin")], 8, "the frame lacks 'shin'"),
    "NaN": (AMC.replace("shin 90", "shin nan"), 11, "'nan' is not a finite number"),
    "infinity": (AMC.replace("shin 90", "shin -inf"), 11, "'-inf'"),
    "garbage": (AMC.replace("shin 90", "shin 9o"), 11, "'9o'"),
    "no rate": (":SAMPLES-PER-SECOND 0\n" + AMC, 1, "must be above 0"),
}


@pytest.mark.parametrize("what", BAD_MOTION)
def test_bad_motion_names_the_line(tmp_path: Path, what: str) -> None:
    amc, line, words = BAD_MOTION[what]
    path = write(tmp_path, amc=amc)
    with pytest.raises(FormatError, match=words) as caught:
        load_clip(path)
    assert (caught.value.path, caught.value.line) == (path, line), str(caught.value)


BAD_SKELETONS = {
    "binary": ("\x00\x01\x02", 1, "not an ASF file"),
    "no bones": (":version 1.10\n", None, "no ':bonedata' section"),
    "no hierarchy": (ASF.split(":hierarchy", maxsplit=1)[0], None, "no ':hierarchy' section"),
    "cut in a bone": (ASF.split("    dof rx\n", maxsplit=1)[0], 24, "the bone 'shin' has no 'end'"),
    "unknown word": (ASF.replace("length 8", "girth 8"), 18, "'girth' is not known in a bone"),
    "bone outside": (ASF.replace(":bonedata\n  begin", ":bonedata"), 14, "expected 'begin', found 'id'"),
    "bone twice": (ASF.replace("name shin", "name thigh"), 24, "bone 'thigh' occurs twice"),
    "no name": (ASF.replace("    name shin\n", ""), 24, "the bone has no name"),
    "NaN": (ASF.replace("length 8", "length nan"), 18, "'length' needs 1 finite numbers"),
    "zero direction": (ASF.replace("direction 0 -2 0", "direction 0 0 0"), 17, "direction must not be zero"),
    "two numbers": (ASF.replace("direction 0 -2 0", "direction 0 -2"), 17, "'direction' needs 3 finite numbers"),
    "unknown dof": (ASF.replace("dof rx rz", "dof rx rw"), 20, "expected some of rx, ry, rz"),
    "dof twice": (ASF.replace("dof rx rz", "dof rx rx"), 20, "each once"),
    "axis order": (ASF.replace("0 0 20 XYZ", "0 0 20 XXZ"), 19, "axis order 'xxz'"),
    "limits": (ASF.replace("(-10 170)", "(-10)"), 31, r"limits \(-10\) must be two numbers"),
    "limits missing": (ASF.replace("           (-inf 70.0)\n", ""), 14, "has 1 limits for 2 dof"),
    "unit": (ASF.replace("length 0.45", "length 0"), 6, "length must be above 0"),
    "angle": (ASF.replace("angle deg", "angle turns"), 7, "must be deg or rad"),
    "unknown child": (ASF.replace("thigh shin\n", "thigh foot\n"), 36, "names 'foot', which is no bone"),
    "two parents": (ASF.replace("root thigh\n", "root thigh shin\n"), 36, "'shin' has two parents"),
    "circle": (ASF.replace("    root thigh\n", "    shin thigh\n"), 14, "'thigh' does not hang on the root"),
    "root below": (ASF.replace("thigh shin\n", "thigh shin root\n"), 36, "'root' has two parents"),
    "bone left out": (ASF.replace("    thigh shin\n", ""), 24, "'shin' does not hang on the root"),
}


@pytest.mark.parametrize("what", BAD_SKELETONS)
def test_bad_skeletons_name_the_line(tmp_path: Path, what: str) -> None:
    asf, line, words = BAD_SKELETONS[what]
    path = write(tmp_path, asf)
    with pytest.raises(FormatError, match=words) as caught:
        load_clip(path)
    assert caught.value.path == path.with_name("02.asf")
    assert caught.value.line == line, str(caught.value)


def test_a_deep_skeleton_is_refused(tmp_path: Path) -> None:
    bones = "".join(f"begin\nid {i}\nname b{i}\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\nend\n" for i in range(600))
    tree = "root b0\n" + "".join(f"b{i} b{i + 1}\n" for i in range(599))
    with pytest.raises(FormatError, match="nested more than 500 deep"):
        load_clip(write(tmp_path, f":root\norder RX\n:bonedata\n{bones}:hierarchy\nbegin\n{tree}end\n"))


def test_bones_without_channels_have_no_motion(tmp_path: Path) -> None:
    asf = ASF.replace("order TX TY TZ RX RY RZ", "order").replace("dof rx rz", "").replace("dof rx", "")
    with pytest.raises(FormatError, match="no bone has a channel"):
        load_clip(write(tmp_path, "\n".join(line for line in asf.split("\n") if "(" not in line)))
