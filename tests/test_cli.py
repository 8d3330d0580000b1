"""The command line from end to end, as a process: output, exit codes, one-line errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from gaitway import __version__

BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 90 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT LeftUpLeg
  {
    OFFSET 9 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT LeftLeg
    {
      OFFSET 0 -43 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0 -42 0
      }
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0333333
0 90 0 0 0 0 0 0 0 0 0 0
1 90 0 0 0 0 0 5 0 0 0 0
"""


def gaitway(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "gaitway", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=None,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    return done


def test_version_and_help() -> None:
    assert gaitway("--version").stdout.strip() == f"gaitway {__version__}"
    text = gaitway("--help").stdout
    assert all(word in text for word in ("demo", "clip", "library", "bench"))


def test_no_arguments_shows_help() -> None:
    assert "Usage" in gaitway(code=2).stdout


def test_clip_info_json(tmp_path: Path) -> None:
    file = tmp_path / "two.bvh"
    file.write_text(BVH)
    facts = json.loads(gaitway("clip", "info", file, "--json").stdout)
    assert facts["frames"] == 2
    assert facts["joint_names"] == ["Hips", "LeftUpLeg", "LeftLeg"]
    assert "right_knee" in facts["roles_missing"]


def test_clip_convert_and_draw(tmp_path: Path) -> None:
    file = tmp_path / "two.bvh"
    file.write_text(BVH)
    gaitway("clip", "convert", file, tmp_path / "again.bvh", "--fps", "60")
    facts = json.loads(gaitway("clip", "info", tmp_path / "again.bvh", "--json").stdout)
    assert facts["fps"] == pytest.approx(60, abs=0.01)
    gaitway("clip", "draw", file, "-o", tmp_path / "strip.png")
    with Image.open(tmp_path / "strip.png") as strip:
        assert strip.width > 100


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["clip", "info", "absent.bvh"], "absent.bvh"),
        (["clip", "info", "notes.txt"], "notes.txt"),
        (["clip", "info", "broken.bvh"], "broken.bvh:"),
        (["clip", "info", "good.bvh", "--unit", "furlong"], "furlong"),
        (["clip", "convert", "good.bvh", "out.xyz"], "out.xyz"),
        (["clip", "draw", "good.bvh", "-o", "out.png", "--view", "sideways"], "sideways"),
        (["clip", "draw", "good.bvh", "-o", "out.tiff"], "out.tiff"),
        (["clip", "draw", "good.bvh", "-o", "no/such/folder/out.png"], "folder"),
        (["library", "show", "persn"], "person"),
        (["bench", "nothing"], "nothing"),
    ],
)
def test_wrong_input_is_one_line_and_leaves_nothing(arguments: list[str], words: str, tmp_path: Path) -> None:
    (tmp_path / "good.bvh").write_text(BVH)
    (tmp_path / "broken.bvh").write_text(BVH.replace("1 90 0", "1 ninety 0"))
    (tmp_path / "notes.txt").write_text("hello")
    before = sorted(p.name for p in tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, "-m", "gaitway", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert words in errors[0]
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_library_list() -> None:
    assert json.loads(gaitway("library", "list", "--json").stdout) == ["person", "horse", "skateboarder"]
