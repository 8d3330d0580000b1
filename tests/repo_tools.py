"""Scripts of `tools/` as modules, for tests of what they check."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def load_tool(name: str) -> ModuleType:
    """Load `tools/NAME.py`."""
    spec = util.spec_from_file_location(f"tools.{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where data classes look for their module
    spec.loader.exec_module(module)
    return module
