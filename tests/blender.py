"""Debian's Blender as an outside client of what we write.

Its importers (3.4) predate its own Python and NumPy: the first lines of every script bridge that. Where Blender is
absent it is installed if this is allowed and possible (see `debian`).
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import debian

_RUN_SECONDS = 1200
_SHIMS = """
import builtins, json, sys
import numpy
numpy.bool = bool
_plain_open = builtins.open
builtins.open = lambda file, mode="r", *rest, **more: _plain_open(file, mode.replace("U", ""), *rest, **more)
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
arguments = sys.argv[sys.argv.index("--") + 1 :]
def answer(value):
    print("ANSWER" + json.dumps(value))
"""


def run_blender(script: str, folder: Path, *arguments: object, seconds: float = _RUN_SECONDS) -> Any:
    """Run a script in Blender without a window and return what it gave to `answer`.

    Args:
        script: Python; it has `bpy`, the `scene` (empty), the list `arguments` of words, and the function `answer`.
        folder: for the script itself.
        arguments: words for it.
        seconds: how long it may take.
    """
    program, reason = debian.program(("blender",), ("blender", "python3-numpy"), "Blender")
    if program is None:
        pytest.skip(reason)
    file = folder / "blender_script.py"
    file.write_text(_SHIMS + script)
    command = [program, "-b", "--factory-startup", "--python", str(file), "--", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    line = next((text for text in done.stdout.splitlines() if text.startswith("ANSWER")), None)
    assert line is not None, done.stdout + done.stderr
    return json.loads(line.removeprefix("ANSWER"))


def ours(points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Points (..., 3) of Blender after a glTF import in our axes: what faces +X here faces -Y there."""
    x, y, z = np.moveaxis(np.asarray(points, dtype=np.float64), -1, 0)
    return np.stack([-y, x, z], axis=-1)
