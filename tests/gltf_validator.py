"""The Khronos glTF validator (npm package gltf-validator) as a judge of what we write.

It is installed once into a cache folder outside the project, if node, npm and its registry can be reached.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_VERSION = "2.0.0-dev.3.10"
_INSTALL_SECONDS, _RUN_SECONDS = 90, 1200
_SCRIPT = """
const fs = require("fs"), validator = require("gltf-validator");
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2])), {maxIssues: 50})
  .then(report => console.log(JSON.stringify(report)))
  .catch(problem => { console.error(problem); process.exit(1); });
"""


def validated(file: Path) -> dict[str, Any]:
    """The validator's report on a file; skips the test where there is no validator."""
    folder, reason = _validator()
    if folder is None:
        pytest.skip(reason)
    command = ["node", str(folder / "validate.js"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_RUN_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@cache
def _validator() -> tuple[Path | None, str]:
    """The folder that the validator is in, or why there is none."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None, "the glTF validator needs node and npm"
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "gaitway-tests" / f"gltf-validator-{_VERSION}"
    if not (folder / "node_modules" / "gltf-validator").is_dir():
        problem = _install(folder)
        if problem:
            return None, problem
    (folder / "validate.js").write_text(_SCRIPT)
    return folder, ""


def _install(folder: Path) -> str:
    """Install it beside its place, then move it there, so that a half-done one is never used; what went wrong."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        command = ["npm", "install", "--no-audit", "--no-fund", f"gltf-validator@{_VERSION}"]
        try:
            done = subprocess.run(
                command, cwd=temporary, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "the glTF validator could not be installed in time"
        if done.returncode != 0:
            return "the glTF validator could not be installed; is the registry of npm packages within reach?"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(temporary, folder)
    return ""
