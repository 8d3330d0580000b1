"""Bad BVH files: one clear line with file and line number, no hang, no great memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from bvh_text import HEADER, MOTION, ROWS, SMALL
from gaitway.core.errors import FormatError
from gaitway.motion.formats import bvh as numbers
from gaitway.motion.formats import load_clip, source
from gaitway.motion.formats import source as limits
from gaitway.motion.skeleton import MAX_JOINTS


def chain(count: int) -> str:
    """A hierarchy of `count` joints, each in the one before."""
    opened = "".join(f"JOINT j{i}\n{{\nOFFSET 0 1 0\n" for i in range(1, count))
    return "HIERARCHY\nROOT j0\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n" + opened + "}\n" * count


def fan(count: int) -> str:
    """A root with `count` - 1 children."""
    children = "".join(f"JOINT j{i} {{ OFFSET 0 1 0 }}\n" for i in range(1, count))
    return "HIERARCHY\nROOT j0\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n" + children + "}\n"


BAD = {
    # what: (text, line, words of the message)
    "binary": (b"\x00\x01\x02\xff" * 50, 1, "not a BVH file: it begins with"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), 1, "not a BVH file"),
    "UTF-16": (SMALL.encode("utf-16"), 1, "UTF-16"),
    "another text": ("Hello World\n", 1, "begins with 'Hello', not with HIERARCHY"),
    "only the first word": ("HIERARCHY\n", 1, "the file ends where ROOT was expected"),
    "no root": (SMALL.replace("ROOT Hips", "JOINT Hips"), 2, "expected ROOT, found 'JOINT'"),
    "root without a name": (SMALL.replace("ROOT Hips", "ROOT"), 2, "needs a name"),
    "name in the next line": (SMALL.replace("JOINT Arm", "JOINT\n Arm"), 7, r"expected '\{', found 'Arm'"),
    "brace missing": (SMALL.replace("Arm\n  {", "Arm"), 7, r"expected '\{', found 'OFFSET'"),
    "two roots": (HEADER + HEADER[10:] + MOTION + ROWS, 16, "second ROOT"),
    "cut in the hierarchy": (HEADER[: HEADER.index("OFFSET 0 2")], 7, "the file ends where"),
    "cut after a name": (HEADER[: HEADER.index("Arm") + 3], 6, "the file ends where '{' was expected"),
    "one brace too few": (HEADER.rstrip()[:-1] + MOTION + ROWS, 15, "found 'MOTION'"),
    "one brace too many": (HEADER + "}\n" + MOTION + ROWS, 16, "expected MOTION after the hierarchy, found '}'"),
    "offset of two numbers": (
        SMALL.replace("OFFSET 0 2 0", "OFFSET 0 2"),
        9,
        "three finite numbers, found 'CHANNELS'",
    ),
    "offset not a number": (SMALL.replace("OFFSET 0 2 0", "OFFSET 0 nan 0"), 8, "finite numbers, found 'nan'"),
    "offset infinite": (SMALL.replace("OFFSET 0 2 0", "OFFSET 0 1e999 0"), 8, "found '1e999'"),
    "offset of another script": (SMALL.replace("OFFSET 0 2 0", "OFFSET 0 ٢ 0"), 8, "finite numbers"),
    "offset with underscores": (SMALL.replace("OFFSET 0 2 0", "OFFSET 0 1_0 0"), 8, "found '1_0'"),
    "no offset": (SMALL.replace("    OFFSET 0 2 0\n", ""), 13, "joint 'Arm' has no OFFSET"),
    "two offsets": (SMALL.replace("    OFFSET 0 2 0\n", "    OFFSET 0 2 0\n" * 2), 9, "second OFFSET"),
    "two channel lists": (SMALL.replace("    CHANNELS 3", "    CHANNELS 0\n    CHANNELS 3"), 10, "second CHANNELS"),
    "seven channels": (SMALL.replace("CHANNELS 6", "CHANNELS 7"), 5, "'7' must be a number from 0 to 6"),
    "negative channels": (SMALL.replace("CHANNELS 3", "CHANNELS -3"), 9, "must be a number from 0 to 6"),
    "fewer channels than named": (SMALL.replace("CHANNELS 3", "CHANNELS 2"), 9, "found 'Xrotation'"),
    "more channels than named": (SMALL.replace("CHANNELS 3", "CHANNELS 4"), 10, "'End' is no channel"),
    "unknown channel": (SMALL.replace("Yposition", "Wposition"), 5, "'Wposition' is no channel"),
    "position twice": (SMALL.replace("Yposition", "Xposition"), 5, "'Xposition' twice"),
    "four rotations": (SMALL.replace("3 Zrotation", "4 Xrotation Zrotation"), 9, "more than three rotations"),
    "no channels at all": (fan(3).replace("CHANNELS 1 Xrotation", "") + MOTION + "\n", 9, "no joint has a channel"),
    "joint in an end site": (SMALL.replace("OFFSET 0 1 0", "JOINT X"), 12, "expected OFFSET in an End Site"),
    "end site not ended": (SMALL.replace("OFFSET 0 1 0\n    }", "OFFSET 0 1 0"), 15, "found 'MOTION'"),
    "no MOTION": (HEADER + MOTION.replace("MOTION\n", "") + ROWS, 16, "expected MOTION"),
    "nothing after the hierarchy": (HEADER, 15, "the file ends where MOTION was expected"),
    "no Frames": (HEADER + MOTION.replace("Frames: 2\n", "") + ROWS, 17, "expected 'Frames: NUMBER', found 'Frame'"),
    "no Frame Time": (HEADER + MOTION.replace("Frame Time", "Rate") + ROWS, 18, "expected 'Frame Time: SECONDS'"),
    "Frames without a number": (SMALL.replace("Frames: 2", "Frames:"), 17, "'' must be a whole number from 0"),
    "negative frames": (SMALL.replace("Frames: 2", "Frames: -2"), 17, "'-2' must be a whole number from 0"),
    "fractional frames": (SMALL.replace("Frames: 2", "Frames: 2.5"), 17, "'2.5' must be a whole number"),
    "endless frames": (SMALL.replace("Frames: 2", "Frames: " + "9" * 5000), 17, "must be a whole number"),
    "negative frame time": (SMALL.replace("0.0333333", "-0.03"), 18, "must be above 0"),
    "frame time too small": (SMALL.replace("0.0333333", "1e-9"), 18, "frames a second"),
    "frame time no number": (SMALL.replace("0.0333333", "fast"), 18, "'fast' must be a number of seconds"),
    "no rows": (HEADER + MOTION, 19, "has no frames"),
    "cut in a row": (SMALL[: SMALL.rindex("0 45")], 20, "frame 1 has 7 numbers; 9 were expected"),
    "row too short": (SMALL.replace("90 0 0 0 0 0", "90 0 0 0 0"), 19, "frame 0 has 8 numbers; 9 were expected"),
    "row too long": (SMALL.replace("90 0 0 0 0 0", "90 0 0 0 0 0 7"), 19, "frame 0 has 10 numbers; 9 were expected"),
    "NaN": (SMALL.replace("90 0", "90 NaN"), 19, r"'NaN' \(value 4 of frame 0\) is not a number"),
    "infinity": (SMALL.replace("90 0", "90 -inf"), 19, "'-inf'"),
    "overflow": (SMALL.replace("90 0", "90 1e400"), 19, "'1e400' .* is beyond 1e"),
    "too large": (SMALL.replace("90 0", "90 1e10"), 19, "'1e10' .* is beyond 1e"),
    "Windows NaN": (SMALL.replace("90 0", "90 -1.#IND"), 19, "'-1.#IND'"),
    "decimal comma": (SMALL.replace("90 0", "90,5 0"), 19, "'90,5'"),
    "a word": (SMALL.replace("0 45", "0 END"), 20, "'END'"),
    "two points": (SMALL.replace("0 45", "0 4.5.1"), 20, "'4.5.1'"),
    "only a sign": (SMALL.replace("0 45", "0 -"), 20, "'-'"),
    "only a point": (SMALL.replace("0 45", "0 ."), 20, "'.'"),
    "half an exponent": (SMALL.replace("0 45", "0 1e"), 20, "'1e'"),
    "zero bytes": (SMALL.replace("0 45", "0 \x0045\x00"), 20, "'\\?45\\?' .* is not a number"),
    "many joints": (fan(MAX_JOINTS + 1) + MOTION, MAX_JOINTS + 5, "more than 10000 joints"),
    "deep nesting": (chain(limits.MAX_DEPTH + 1) + MOTION, 3 * limits.MAX_DEPTH + 4, "nested more than 500 deep"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_files_name_the_line(tmp_path: Path, what: str) -> None:
    text, line, words = BAD[what]
    path = tmp_path / "bad.bvh"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError, match=words) as caught:
        load_clip(path)
    assert caught.value.line == line, str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 200


@pytest.mark.parametrize("joints", [chain, fan])
def test_a_million_joints_end_small(tmp_path: Path, joints: object) -> None:
    path = tmp_path / "million.bvh"
    path.write_text(joints(1_000_000))  # type: ignore[operator]
    size = path.stat().st_size
    tracemalloc.start()
    with pytest.raises(FormatError, match="more than"):
        load_clip(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size + 32 * 2**20


def test_a_rig_at_the_limits_loads(tmp_path: Path) -> None:
    path = tmp_path / "large.bvh"
    for text in (fan(MAX_JOINTS), chain(limits.MAX_DEPTH)):
        path.write_text(text + "MOTION\nFrames: 1\nFrame Time: 0.1\n30\n")
        load_clip(path)


def test_too_many_numbers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "MAX_VALUES", 100)
    path = tmp_path / "long.bvh"
    path.write_text(HEADER + MOTION + "0 0 0 0 0 0 0 0 0\n" * 30)
    with pytest.raises(FormatError, match="more than 100 motion numbers"):
        load_clip(path)


def test_too_large_a_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_FILE_BYTES", 2**20)
    path = tmp_path / "huge.bvh"
    with path.open("wb") as file:
        file.truncate(2**21)
    with pytest.raises(FormatError, match="is 2 MiB; at most 1 MiB"):
        load_clip(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"none\.bvh: cannot be read: No such file"):
        load_clip(tmp_path / "none.bvh")
    (tmp_path / "folder.bvh").mkdir()
    with pytest.raises(FormatError, match="is a folder; name a file"):
        load_clip(tmp_path / "folder.bvh")
    (tmp_path / "empty.bvh").touch()
    with pytest.raises(FormatError, match="is empty"):
        load_clip(tmp_path / "empty.bvh")
    with pytest.raises(FormatError, match=r"'\.fbx' is no known capture format; expected \.bvh"):
        load_clip(tmp_path / "walk.fbx")
