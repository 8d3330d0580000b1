"""Neighbours and their weights: the compiled kernels beside plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.bench._plain_variation import regress
from gaitway.core.arrays import FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.variation.network import _neighbour_kernels as kernels
from gaitway.variation.network._score_kernels import nearest_first

RNG_SEEDS = st.integers(0, 10_000)


@kernel
def exponentials(x: SingleArray, out: SingleArray) -> None:
    for j in range(x.shape[0]):
        out[j] = kernels.exponential(x[j])


@kernel
def kth(values: SingleArray, count: int, k: int, gate: Any) -> float:
    bits = values.view(np.int32)
    found = kernels.within(bits, count, gate)
    return kernels.kth_smallest(bits, count, k, found, gate, kernels.smallest(bits, count))  # type: ignore[no-any-return]


@kernel
def regressed(
    values: SingleArray, steps: SingleArray, places: SingleArray, k: int, width: float, taper: bool, out: FloatArray
) -> None:
    bits, weights = values.view(np.int32), np.empty_like(values)
    count = values.shape[0]
    gate = kernels.FAR * np.float32(0.5)
    found = kernels.within(bits, count, gate)
    out[0], out[1], out[2], out[3] = kernels.regression(
        values, bits, count, found, gate, steps, places, k, np.float32(width), taper, weights
    )


@kernel
def listed(
    base: SingleArray, low: int, bound: float, values: SingleArray, near: SingleArray, index: IntArray,
    lists: SingleArray,
) -> int:  # fmt: skip
    return nearest_first(base, low, base.shape[0], bound, values, values, values, near, index, lists)


def test_exponentials_are_those_of_numpy() -> None:
    x = np.concatenate([np.linspace(-86.0, 0.0, 5001), [0.0, -1e-7, -0.5, -1.0]]).astype(np.float32)
    out = np.empty_like(x)
    exponentials(x, out)
    np.testing.assert_allclose(out, np.exp(x.astype(np.float64)), rtol=1e-5)
    near = x > -5.0
    np.testing.assert_allclose(out[near], np.exp(x[near].astype(np.float64)), rtol=1e-6)
    exponentials(np.full(4, -1e30, np.float32), out[:4])
    assert (out[:4] < 1e-37).all()


@given(RNG_SEEDS, st.integers(1, 60), st.booleans())
def test_the_kth_smallest_is_that_of_a_sort(seed: int, count: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    values = (rng.integers(0, 4, count) if ties else rng.random(count)).astype(np.float32)
    whole = np.concatenate([values, np.full(-count % kernels.LANES, kernels.FAR)]).astype(np.float32)
    order = np.sort(values)
    k = int(rng.integers(1, count + 1))
    for gate in (float(kernels.FAR), float(np.nextafter(order[k - 1], np.float32(9.0)))):
        assert kth(whole, len(whole), k, np.float32(gate)) == order[k - 1]


def test_nan_hangs_nothing() -> None:
    values = np.array([np.nan, -np.nan, 1.0, 2.0, 3.0, np.nan, 4.0, 5.0], np.float32)
    kth(values, 8, 3, np.float32(kernels.FAR))
    kth(np.full(8, -np.nan, np.float32), 8, 3, np.float32(kernels.FAR))


@pytest.mark.parametrize("taper", [True, False])
@pytest.mark.parametrize("width", [0.3, 0.7, 2.0])
@given(seed=RNG_SEEDS)
def test_regressions_are_as_numpy_has_them(taper: bool, width: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, k = int(rng.integers(13, 33)), 12
    values = np.full(40, kernels.FAR, np.float32)
    values[:count] = rng.random(count) * rng.uniform(0.1, 50.0)
    steps, places = rng.normal(0.3, 0.1, 40).astype(np.float32), rng.normal(size=40).astype(np.float32)
    got = np.empty(4)
    regressed(values, steps, places, k, width, taper, got)
    mean, variance, place = regress(
        values[None, :count].astype(float), steps[None, :count].astype(float), places[None, :count].astype(float), k,
        width, taper,
    )  # fmt: skip
    np.testing.assert_allclose(got[:3], [mean[0], variance[0], place[0]], rtol=1e-4, atol=1e-6)
    assert got[3] == np.sort(values)[k - 1]


@given(RNG_SEEDS, st.integers(1, 40))
def test_lists_hold_all_rows_within_the_bound_nearest_first(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    base, values = rng.random(count).astype(np.float32), rng.random(count + 5).astype(np.float32)
    base[rng.random(count) < 0.2] = kernels.FAR
    bound = float(rng.choice([0.5, float(kernels.FAR)]))
    room = count + kernels.LANES
    near, index, lists = np.zeros(room, np.float32), np.zeros(room, np.int64), np.zeros((3, room), np.float32)
    found = listed(base, 5, bound, values, near, index, lists)
    inside = np.flatnonzero(base <= min(bound, 1e20))
    assert sorted(index[:found] - 5) == inside.tolist()
    np.testing.assert_array_equal(near[:found], np.sort(base[inside]))
    np.testing.assert_array_equal(lists[0, :found], values[index[:found]])
    assert (near[found : found + kernels.LANES] == kernels.FAR).all()
