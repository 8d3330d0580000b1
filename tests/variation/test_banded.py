"""Banded systems are solved as dense ones are, and a root's correction is the least squares it claims to be."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from gaitway.variation.sampling._band_kernels import solve_band
from gaitway.variation.sampling.root_correction import _banded


def dense(band: np.ndarray) -> np.ndarray:
    """The whole matrix of a band (N, w + 1)."""
    count, width = band.shape[0], band.shape[1] - 1
    lower = np.zeros((count, count))
    for i in range(count):
        for j in range(max(0, i - width), i + 1):
            lower[i, j] = band[i, j - i + width]
    return lower + np.tril(lower, -1).T


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(0, 8))
def test_a_band_is_solved_as_the_whole_matrix(seed: int, count: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    band = rng.normal(size=(count, width + 1))
    band[:, width] = 2.0 * (width + 1) + np.abs(band).sum(axis=1)  # heavier than its row: positive definite
    right = rng.normal(size=count)
    wanted = np.linalg.solve(dense(band), right)
    for solve in (solve_band, solve_band.py_func):  # type: ignore[attr-defined]
        got = right.copy()
        solve(band.copy(), got)
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("frames", [3, 4, 11])
def test_a_roots_band_is_that_of_its_blocks_and_second_differences(frames: int) -> None:
    rng = np.random.default_rng(frames)
    rows = rng.normal(size=(frames - 1, 5, 6))
    still = np.zeros((frames, 6, 6))
    still[:-1] = np.einsum("tra,trb->tab", rows, rows)
    whole = np.zeros((3 * frames, 3 * frames))
    for t in range(frames - 1):
        whole[3 * t : 3 * t + 6, 3 * t : 3 * t + 6] += still[t]
    bend = scipy.sparse.diags_array([1.0, -2.0, 1.0], offsets=[0, 3, 6], shape=(3 * frames - 6, 3 * frames)).toarray()
    whole += 7.0 * bend.T @ bend + 1e-8 * np.eye(3 * frames)
    np.testing.assert_allclose(dense(_banded(still, 7.0).reshape(3 * frames, 7)), whole, atol=1e-12)
