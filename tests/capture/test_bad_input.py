"""What is wrong with a folder is told by name in one line, and the rest is used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from capture_folders import good_folder, larger, moved, on_treadmill, tilted
from figures import standing, walking
from gaitway.capture.reading.prepared import prepare
from gaitway.capture.takes import PreparedSubject, PrepareOptions
from gaitway.core import rotations
from gaitway.core.errors import GaitwayError, LibraryError
from gaitway.motion.clip import Clip
from gaitway.motion.formats import save_clip
from gaitway.motion.skeleton import Skeleton


def originals(prepared: PreparedSubject) -> list[str]:
    return [take.name for take in prepared.takes if not take.mirrored]


def reasons(prepared: PreparedSubject) -> dict[str, str]:
    for entry in prepared.dropped:
        assert "\n" not in entry.reason and entry.reason
    return {entry.file.name: entry.reason for entry in prepared.dropped}


def resting(prepared: PreparedSubject) -> float:
    """Mean height of the balls of the feet while they rest [m]."""
    heights = []
    for take in prepared.takes:
        contacts = take.clip.contacts
        assert contacts is not None
        balls = [i for i, p in enumerate(take.clip.skeleton.contact_points) if p.name.endswith("ball")]
        heights.append(take.clip.contact_positions()[:, balls, 2][contacts[:, balls]])
    return float(np.mean(np.concatenate(heights)))


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="nowhere: no such folder"):
        prepare(tmp_path / "nowhere")


def test_a_file_instead_of_a_folder(tmp_path: Path) -> None:
    save_clip(walking(2.0), tmp_path / "walk.bvh")
    with pytest.raises(LibraryError, match=r"walk\.bvh: is a file; name the folder"):
        prepare(tmp_path / "walk.bvh")


def test_an_empty_folder_and_one_without_captures(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="no capture file there"):
        prepare(tmp_path)
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / ".hidden.bvh").write_text("nothing")
    with pytest.raises(LibraryError, match="no capture file there"):
        prepare(tmp_path)


def test_a_pattern_that_fits_nothing(tmp_path: Path) -> None:
    good_folder(tmp_path)
    with pytest.raises(LibraryError, match=r"no capture file that matches 16_\*"):
        prepare(tmp_path, PrepareOptions(only=("16_*",)))


def test_a_file_that_is_named_but_not_there(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match=r"gone\.bvh: no such file"):
        prepare([tmp_path / "gone.bvh"])


def test_broken_files_among_good_ones(tmp_path: Path) -> None:
    good_folder(tmp_path)
    (tmp_path / "broken.bvh").write_text("HIERARCHY\nROOT Hips\n{\n")
    (tmp_path / "lonely.amc").write_text(":FULLY-SPECIFIED\n1\nroot 0 0 0 0 0 0\n")
    (tmp_path / "empty.glb").write_bytes(b"")
    prepared = prepare(tmp_path)
    assert originals(prepared) == ["brisk", "calm", "stand"]
    told = reasons(prepared)
    assert set(told) == {"broken.bvh", "lonely.amc", "empty.glb"}
    assert "the file ends" in told["broken.bvh"] and ".asf" in told["lonely.amc"]


def test_only_broken_files(tmp_path: Path) -> None:
    (tmp_path / "broken.bvh").write_text("no capture")
    with pytest.raises(LibraryError, match=r"broken\.bvh: .*HIERARCHY.*\(none of 1 files can be used\)"):
        prepare(tmp_path)


def test_no_locomotion(tmp_path: Path) -> None:
    save_clip(standing(240), tmp_path / "stand.bvh")
    with pytest.raises(LibraryError, match=r"1 takes hold no locomotion \(stand"):
        prepare(tmp_path)


def test_a_single_clip(tmp_path: Path) -> None:
    save_clip(walking(3.0), tmp_path / "walk.bvh")
    prepared = prepare(tmp_path)
    assert [(take.name, take.mirrored) for take in prepared.takes] == [("walk", False), ("walk mirrored", True)]


def test_other_people_are_left_out_or_put_on_the_skeleton(tmp_path: Path) -> None:
    good_folder(tmp_path)
    save_clip(larger(walking(3.0), 1.2), tmp_path / "giant.bvh")
    prepared = prepare(tmp_path)
    assert originals(prepared) == ["brisk", "calm", "stand"]
    assert "another person's" in reasons(prepared)["giant.bvh"]
    mixed = prepare(tmp_path, PrepareOptions(mixed=True))
    assert originals(mixed) == ["brisk", "calm", "stand", "giant"]
    assert all(take.clip.skeleton is mixed.skeleton for take in mixed.takes)
    assert any("another person" in note for note in mixed.facts.notes)
    assert abs(resting(mixed)) < 0.01


def test_small_differences_of_bones_are_the_same_person(tmp_path: Path) -> None:
    good_folder(tmp_path)
    save_clip(larger(walking(3.0), 1.02), tmp_path / "again.bvh")
    prepared = prepare(tmp_path)
    assert "again" in originals(prepared)
    assert abs(resting(prepared)) < 0.005


def test_five_frames_a_second(tmp_path: Path) -> None:
    good_folder(tmp_path)
    save_clip(walking(4.0, 5.0), tmp_path / "coarse.bvh")
    prepared = prepare(tmp_path)
    assert "coarse" not in originals(prepared)
    assert reasons(prepared)["coarse.bvh"].startswith("5 frames a second show too little")


@pytest.mark.parametrize("height", [-0.9, 1.3])
def test_a_floor_anywhere(tmp_path: Path, height: float) -> None:
    for name, speed in (("brisk", 1.1), ("calm", 0.8)):
        save_clip(moved(walking(4.0, 60.0, speed), z=height), tmp_path / f"{name}.bvh")
    prepared = prepare(tmp_path)
    assert prepared.facts.floor_height == pytest.approx(height, abs=0.005)
    assert abs(resting(prepared)) < 0.003


def test_a_floor_that_leans(tmp_path: Path) -> None:
    for i, y in enumerate((-2.0, 0.0, 2.0)):
        save_clip(tilted(moved(walking(6.0, 60.0, 1.0), x=-3.0, y=y), 0.015), tmp_path / f"walk{i}.bvh")
    prepared = prepare(tmp_path)
    assert prepared.facts.floor_slope == pytest.approx(0.015, abs=0.002)
    assert abs(resting(prepared)) < 0.003
    assert prepared.facts.floor_residual < 0.004


def test_a_take_on_a_platform_does_not_move_the_floor(tmp_path: Path) -> None:
    good_folder(tmp_path)
    save_clip(moved(walking(4.0), z=0.3), tmp_path / "platform.bvh")
    prepared = prepare(tmp_path)
    assert abs(prepared.facts.floor_height) < 0.005
    take = next(t for t in prepared.takes if t.name == "platform")
    assert any("+0.30 m off this person's floor" in note for note in take.notes)
    assert abs(resting(prepared)) < 0.005


def test_walking_on_the_spot(tmp_path: Path) -> None:
    good_folder(tmp_path)
    save_clip(on_treadmill(walking(5.0, 60.0, 1.2), 1.2), tmp_path / "treadmill.bvh")
    prepared = prepare(tmp_path)
    assert "treadmill" not in originals(prepared)
    assert "walks on the spot: its feet slide back at 1.2 m/s" in reasons(prepared)["treadmill.bvh"]
    (tmp_path / "gaitway-import.yaml").write_text("files:\n  treadmill: {belt: 1.2}\n")
    take = next(t for t in prepare(tmp_path).takes if t.name == "treadmill")
    assert {phase.kind for phase in take.phases} == {"walk"}
    assert np.linalg.norm(np.ptp(take.clip.root_positions[:, :2], axis=0)) == pytest.approx(6.0, abs=0.3)


def test_only_somebody_on_the_spot(tmp_path: Path) -> None:
    save_clip(on_treadmill(walking(5.0, 60.0, 1.2), 1.2), tmp_path / "treadmill.bvh")
    with pytest.raises(LibraryError, match=r"treadmill\.bvh: walks on the spot"):
        prepare(tmp_path)


def test_a_take_that_is_too_short(tmp_path: Path) -> None:
    good_folder(tmp_path)
    save_clip(walking(0.3), tmp_path / "blink.bvh")
    assert "lasts 0.30 s" in reasons(prepare(tmp_path))["blink.bvh"]


def test_equal_names_in_several_folders(tmp_path: Path) -> None:
    for folder in ("monday", "tuesday"):
        (tmp_path / folder).mkdir()
        save_clip(walking(2.0), tmp_path / folder / "walk.bvh")
    assert originals(prepare(tmp_path)) == ["walk", "tuesday-walk"]
    assert originals(prepare(tmp_path / "monday", PrepareOptions(recursive=False))) == ["walk"]
    with pytest.raises(LibraryError, match="no capture file there"):
        prepare(tmp_path, PrepareOptions(recursive=False))


def test_a_rig_that_is_not_understood(tmp_path: Path) -> None:
    good_folder(tmp_path)
    rope = Skeleton(
        ("a", "b", "c"), np.array([-1, 0, 1]), np.array([[0.0, 0.0, 1.0], [0.4, 0.0, 0.0], [0.4, 0.0, 0.0]])
    )
    save_clip(Clip(rope, np.zeros((90, 3)), rotations.identity(90, 3), 30.0), tmp_path / "rope.bvh")
    prepared = prepare(tmp_path)
    assert originals(prepared) == ["brisk", "calm", "stand"]
    assert "no joint has the role" in reasons(prepared)["rope.bvh"]


def test_a_rig_whose_joints_have_to_be_named(tmp_path: Path) -> None:
    walk = walking(3.0)
    names = {name: f"bone{i:02d}" for i, name in enumerate(walk.skeleton.names)}
    strange = replace(walk.skeleton, names=tuple(names.values()), roles={"hips": 0})
    save_clip(replace(walk, skeleton=strange), tmp_path / "strange.bvh")
    said = ", ".join(f"{role}: {names[walk.skeleton.names[joint]]}" for role, joint in walk.skeleton.roles.items())
    (tmp_path / "gaitway-import.yaml").write_text(f"roles: {{{said}}}\n")
    prepared = prepare(tmp_path)
    found = {role: prepared.skeleton.names[joint] for role, joint in prepared.skeleton.roles.items()}
    assert found == {role: names[walk.skeleton.names[joint]] for role, joint in walk.skeleton.roles.items()}
    assert {phase.kind for phase in prepared.takes[0].phases} == {"walk"}


BAD_OVERRIDES = (
    ("- a\n", r":1: .*is not a map; write keys"),
    ("mirror: maybe\n", r":1: mirror: 'maybe' is neither true nor false; write true or false"),
    ("mirrored: true\n", r":1: mirrored: unknown key; did you mean 'mirror'\?"),
    ("files:\n  brisk.bvh: {skp: true}\n", r":2: files\.'brisk\.bvh'\.skp: unknown key; did you mean 'skip'\?"),
    ("files:\n  briks.bvh: {skip: true}\n", r":2: files\.'briks\.bvh': no such capture; did you mean 'brisk\.bvh'\?"),
    ("files:\n  brisk: {fps: 0}\n", r"fps: 0 is out of range; write a number above 0 and at most 1000 \[Hz\]"),
    (
        "files:\n  brisk:\n    labels: [{start_s: 2, stop_s: 1, kind: walk}]\n",
        r":3: .*labels\[0\]: ends before it begins",
    ),
    ("files:\n  brisk:\n    labels: [{start_s: 0, stop_s: 1, kind: fly}]\n", r"kind: 'fly' is not one of the choices"),
    ("thresholds: {jump_flight: 1}\n", r"jump_flight: unknown key; did you mean 'jump_flight_s'\?"),
    ("thresholds: {low_head: 7}\n", r"low_head: 7 is out of range"),
    ("roles: {left_kne: shin}\n", r":1: roles: has 'left_kne', which is no role; write 'left_knee'"),
    ("mirror:\n", r":1: mirror: nothing is written"),
    ("a: [\n", r"is not YAML"),
)


@pytest.mark.parametrize(("text", "message"), BAD_OVERRIDES, ids=[repr(text) for text, _ in BAD_OVERRIDES])
def test_wrong_override_files(tmp_path: Path, text: str, message: str) -> None:
    good_folder(tmp_path)
    (tmp_path / "gaitway-import.yaml").write_text(text)
    with pytest.raises(GaitwayError, match=message) as caught:
        prepare(tmp_path)
    assert "\n" not in str(caught.value)
    assert "gaitway-import.yaml" in str(caught.value)
