"""Where the real captures are, for tests that read them; a clone without them skips those tests."""

from __future__ import annotations

from pathlib import Path

import pytest

MOCAP = Path(__file__).resolve().parents[2] / "shared" / "mocap"
needs_mocap = pytest.mark.skipif(not MOCAP.is_dir(), reason=f"no capture data beside the project ({MOCAP.name}/)")
