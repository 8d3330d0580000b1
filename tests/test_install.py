"""Wheel and source distribution install from a file into a bare environment, without a network, and work there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HALL = """
gaitway: 1
bounds: [0, 0, 12, 6]
obstacles:
  - {name: crate, box: {center: [6, 2.6], size: [1, 1], height: 1.2}}
characters:
  - {name: ada, start: [1.5, 3, 0], goal: [10, 3]}
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="paths of POSIX systems")]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a program that knows nothing of this checkout, and return what it prints."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GAITWAY", "PIP"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**own, "GAITWAY_CACHE": str(cwd / "cache")},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel and the source distribution of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True, timeout=300)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "source": source}


def installed(file: Path, folder: Path, *, with_build_tools: bool) -> Path:
    """Install a file into a new environment, and return the folder of its programs.

    What gaitway depends on comes from the environment of the tests, by a path file, so that no network is needed.
    """
    venv.create(folder / "venv", with_pip=False)
    programs = folder / "venv" / "bin"
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    others = site / "others.pth"
    own = [path for path in map(Path, sys.path) if path.name == "site-packages"]
    if with_build_tools:
        others.write_text("\n".join(map(str, own)) + "\n")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        programs / "python",
        "install",
        "--no-index",
        "--no-deps",
        "--quiet",
    ]
    options = ["--no-build-isolation", "--ignore-installed", "--disable-pip-version-check"]
    run(*pip, *options, file, cwd=folder)
    others.write_text("\n".join(map(str, own)) + "\n")
    place = run(programs / "python", "-c", "import gaitway; print(gaitway.__file__)", cwd=folder).strip()
    assert Path(place) == site / "gaitway" / "__init__.py"
    return programs


def test_a_wheel_works_in_a_bare_environment(built: dict[str, Path], tmp_path: Path) -> None:
    programs = installed(built["wheel"], tmp_path, with_build_tools=False)
    listed = json.loads(run(programs / "gaitway", "scene", "list", "--json", cwd=tmp_path))
    assert {"market_square", "corridor"} <= {scene["name"] for scene in listed}
    (tmp_path / "hall.yaml").write_text(HALL)
    assert run(programs / "gaitway", "scene", "check", "hall.yaml", cwd=tmp_path) == "hall.yaml: ok\n"
    planned = json.loads(run(programs / "gaitway", "plan", "hall.yaml", "-o", "hall.npz", "--json", cwd=tmp_path))
    assert planned["arrived"] == 1
    run(programs / "gaitway", "audit", "hall.npz", "hall.yaml", cwd=tmp_path)
    run(programs / "gaitway", "export", "hall.npz", "-o", "hall.glb", cwd=tmp_path)
    assert (tmp_path / "hall.glb").read_bytes()[:4] == b"glTF"
    checked = run(sys.executable, "-m", "pip", "--python", programs / "python", "check", cwd=tmp_path)
    assert "No broken requirements" in checked


def test_a_source_distribution_gives_the_same_package(built: dict[str, Path], tmp_path: Path) -> None:
    programs = installed(built["source"], tmp_path, with_build_tools=True)
    assert run(programs / "gaitway", "--version", cwd=tmp_path).startswith("gaitway ")
    assert "corridor" in run(programs / "gaitway", "scene", "list", cwd=tmp_path)
    with zipfile.ZipFile(built["wheel"]) as wheel, tarfile.open(built["source"]) as source:
        packed = {name for name in wheel.namelist() if name.startswith("gaitway/")}
        top = built["source"].name.removesuffix(".tar.gz")
        sources = {name.removeprefix(f"{top}/") for name in source.getnames()}
    assert {f"src/{name}" for name in packed} <= sources
    assert {"LICENSE", "NOTICE", "README.md", "pyproject.toml", "tests/test_install.py"} <= sources
    assert {"gaitway/py.typed", "gaitway/cast/data/person.npz", "gaitway/core/kernels.json"} <= packed
    assert not [name for name in packed if "__pycache__" in name or name.endswith((".nbi", ".nbc"))]
