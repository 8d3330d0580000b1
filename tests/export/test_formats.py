"""One door to all formats."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gaitway.core.errors import FormatError, GaitwayError
from gaitway.export import FORMATS, choose_format, export_take
from gaitway.world import World
from small_takes import odd_take, walkers

WORLD = World((-5.0, -5.0, 5.0, 5.0))


@pytest.mark.parametrize(
    ("name", "to", "found"),
    [
        ("x.glb", None, "glb"),
        ("x.USDZ", None, "usd"),
        ("x.csv", None, "csv"),
        ("x.parquet", None, "parquet"),
        ("x.npz", None, "npz-dense"),
        ("x.mp4", None, "mp4"),
        ("x.png", None, "png"),
        ("out", "bvh", "bvh"),
        ("out.v2", "bvh", "bvh"),
        ("x.usda", "usd", "usd"),
    ],
)
def test_formats_are_chosen(name: str, to: str | None, found: str) -> None:
    assert choose_format(name, to).name == found


@pytest.mark.parametrize(
    ("name", "to", "words"),
    [
        ("x.fbx", None, r"x\.fbx: '\.fbx' is no known ending; the formats are glb \(\.glb\), .*bvh \(a folder\).*png"),
        ("x", None, r"x: has no ending that names its format; the formats are"),
        ("x.glb", "fbx", "there is no format 'fbx'; the formats are"),
        ("x.glb", "usd", r"the name of a usd file must end in \.usd or \.usda or \.usdc or \.usdz"),
        ("x", "csv", r"the name of a csv file must end in \.csv"),
    ],
)
def test_unknown_formats_are_named(name: str, to: str | None, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        choose_format(name, to)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_writers_can_be_called_alike(name: str) -> None:
    """Every writer takes a take and a path, and a rate and a world where it says so."""
    parameters = inspect.signature(FORMATS[name].writer).parameters
    assert next(iter(parameters)) == "take"
    assert list(parameters)[1] in ("path", "folder")
    assert ("fps" in parameters) == FORMATS[name].has_rate
    assert ("world" in parameters) == FORMATS[name].shows_world


@pytest.mark.parametrize("name", ["x.csv", "x.glb", "x.npz", "x.parquet", "x.usdc"])
def test_a_file_is_written(tmp_path: Path, name: str) -> None:
    told: list[tuple[str, int, int | None]] = []
    progress = lambda *report: told.append(report)  # noqa: E731
    assert export_take(walkers(2, 0.3), tmp_path / name, world=WORLD, progress=progress) == [tmp_path / name]
    assert (tmp_path / name).stat().st_size > 500
    assert told[-1][0] == name and told[-1][1] == told[-1][2]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), [("x.png", {}), ("x.png", {"time": 0.2}), ("x.webp", {"fps": 5.0})])
def test_pictures_are_drawn(tmp_path: Path, name: str, options: dict) -> None:
    assert export_take(walkers(2, 0.5), tmp_path / name, world=WORLD, **options) == [tmp_path / name]
    assert (tmp_path / name).stat().st_size > 5000


def test_a_folder_is_filled(tmp_path: Path) -> None:
    files = export_take(walkers(2, 0.3), tmp_path / "out", "bvh", up="z")
    assert [f.name for f in files] == ["walker_0.bvh", "walker_1.bvh"]


def test_rate_and_options_are_passed_on(tmp_path: Path) -> None:
    export_take(walkers(1, 1.0), tmp_path / "x.csv", fps=10.0)
    assert len(pd.read_csv(tmp_path / "x.csv")) == 11
    export_take(odd_take(), tmp_path / "x.npz", skeleton=0)
    assert np.load(tmp_path / "x.npz")["parents"].shape == (6,)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("x.csv", {"colour": "red"}, "format csv has no option 'colour'; it has none"),
        ("x.npz", {"body": 1}, "format npz-dense has no option 'body'; its options are skeleton"),
    ],
)
def test_options_are_not_swallowed(tmp_path: Path, name: str, options: dict, words: str) -> None:
    with pytest.raises(GaitwayError, match=words):
        export_take(walkers(1, 0.3), tmp_path / name, **options)


FULL_DISK = """
import resource, signal, sys, tempfile
from pathlib import Path
from gaitway.core.errors import FormatError
from gaitway.export import export_take
from small_takes import walkers
names = ["x.csv", "x.parquet", "x.npz", "out", "x.usda", "x.usdc", "x.usdz"]
with tempfile.TemporaryDirectory() as folder:  # compiles what is not yet compiled
    for name in names:
        export_take(walkers(15, 0.3), Path(folder) / name, None if "." in name else "bvh")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, resource.RLIM_INFINITY))
folder = Path(sys.argv[1])
for name in names:
    try:
        export_take(walkers(15, 2.0), folder / name, None if "." in name else "bvh")
    except FormatError as problem:
        print(problem, sorted(p.name for p in folder.iterdir()))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes there")
def test_a_full_disk_is_one_line_and_nothing_stays(tmp_path: Path) -> None:
    """A limit on file sizes stands for a disk that is full."""
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) == 7
    for line in lines:
        assert re.fullmatch(r".*cannot be written: .*File too large \[\]", line), line
