"""A small package named gaitway, with the real core: a kernel of it calls one of another file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import gaitway.core

PACKAGE = {
    "__init__.py": "",
    "below.py": "from gaitway.core.jit import kernel\n\nSTEP = 1.0\n",
    "inside.py": (
        "from gaitway.below import STEP\nfrom gaitway.core.jit import kernel\n\n\n"
        "@kernel(inner=True)\ndef add(x):\n    return x + STEP\n"
    ),
    "above.py": (
        "from gaitway.core.jit import kernel\nfrom gaitway.inside import add\n\n\n"
        "@kernel\ndef twice(x):\n    return add(x) + add(x)\n\n\n"
        "@kernel\ndef thrice(x):\n    return twice(x) + add(x)\n"
    ),
}
RECORD = {
    "commands": {
        "demo": [["above.twice", [0], 3.0, 0]],
        "vary": [["above.twice", [0], 3.0, 1], ["above.thrice", [0], 4.0, 0]],
    },
    "types": ["float64"],
}
"""Its kernels by command, as `core/kernels.json` has them."""


def make_package(folder: Path) -> Path:
    """Write the package into a folder, and return where it is."""
    place = folder / "code" / "gaitway"
    core = Path(gaitway.core.__file__).parent
    shutil.copytree(core, place / "core", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "core" / "kernels.json").write_text(json.dumps(RECORD))
    for name, text in PACKAGE.items():
        (place / name).write_text(text)
    return place
