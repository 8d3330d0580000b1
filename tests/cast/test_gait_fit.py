from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shared_data import MOCAP, needs_mocap

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "src/gaitway/cast/data/person_gait.npz"


@needs_mocap
@pytest.mark.slow
def test_shipped_coefficients_are_what_the_script_fits(tmp_path: Path) -> None:
    target = tmp_path / "fitted.npz"
    done = subprocess.run(
        [sys.executable, ROOT / "tools/fit_gait.py", MOCAP, target], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with np.load(SHIPPED) as shipped, np.load(target) as fitted:
        assert set(shipped.files) == set(fitted.files)
        for name in shipped.files:
            assert shipped[name].shape == fitted[name].shape
            if not name.endswith(("_style", "_wobble")):  # directions may flip
                np.testing.assert_allclose(shipped[name], fitted[name], atol=2e-3, err_msg=name)


def test_shipped_file_holds_coefficients_only() -> None:
    with np.load(SHIPPED) as shipped:
        assert sum(shipped[name].size for name in shipped.files) < 60_000
        assert all(shipped[name].ndim <= 3 for name in shipped.files)
