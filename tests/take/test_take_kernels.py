"""The kernels' slerp weights against the formula, on both sides of where the series ends."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.take import _kernels


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-6, 0.005, 0.999 * _kernels.NEAR, 1.001 * _kernels.NEAR, 0.5, 1.0])
def test_slerp_weights(gap):
    angle = 2.0 * np.arcsin(np.sqrt(0.5 * gap))
    for t in np.linspace(0.0, 1.0, 21):
        exact = t if angle < 1e-9 else np.sin(t * angle) / np.sin(angle)
        assert _kernels._share(t, gap) == pytest.approx(exact, abs=3e-8)
    assert _kernels._share(1.0, gap) == pytest.approx(1.0, abs=1e-12)
