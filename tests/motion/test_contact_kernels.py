"""The kernels that find contacts, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from gaitway.motion import _contact_kernels, stances

LIMITS = np.array([[0.02, 0.03], [0.25, 0.32], [0.1, 0.12], [0.02, 0.015]])
UNEVEN = 0.04
FEET = [0, 1, 2, 3]


def plain_resting(points, speed, going, feet):
    frames, count = speed.shape
    still = speed < 0.3 + 0.1 * going[:, None]
    low = np.empty(count)
    for c in range(count):
        chosen = still[:, c] if still[:, c].sum() > 4 else slice(None)
        low[c] = np.percentile(points[chosen, c, 2], 20.0 if still[:, c].sum() > 4 else 3.0)
    low[feet] = np.minimum(low[feet], low[feet].min() + UNEVEN)
    flat = points[..., :2] - points[..., :2].reshape(-1, 2).mean(axis=0)
    slope, is_foot = np.zeros(2), np.isin(np.arange(count), feet)
    for _ in range(6):
        off = points[..., 2] - low - flat @ slope
        keep = still & (np.abs(off) < 0.03) & is_foot
        if keep.sum() < 12:
            break
        for c in range(count):
            if keep[:, c].sum() > 4:
                low[c] += np.median(off[keep[:, c], c])
        rows, rest = flat[keep], (points[..., 2] - low)[keep]
        slope = np.linalg.solve(rows.T @ rows + 0.02 * len(rows) * np.eye(2), rows.T @ rest).clip(-0.06, 0.06)
    low[~is_foot] = low[feet].mean()
    return np.broadcast_to(low, (frames, count)) + flat @ slope


def plain_without_blips(flags, gap, length):
    pad = gap + length
    padded = np.pad(flags, pad, mode="edge")
    closed = scipy.ndimage.binary_closing(padded, np.ones(gap + 1))
    return scipy.ndimage.binary_opening(closed, np.ones(length))[pad:-pad]


def plain_contacts(points, speed, going, resting, gap, length):
    height = points[..., 2] - resting
    begin, go_on = ((height < LIMITS[0, k]) & (speed < LIMITS[1, k] + LIMITS[2, k] * going[:, None]) for k in range(2))
    found = np.zeros(speed.shape, dtype=bool)
    for c in range(speed.shape[1]):
        for start, stop in stances(begin[:, c] | go_on[:, c]):
            first = np.flatnonzero(begin[start:stop, c])
            if len(first):
                found[start + first[0] : stop, c] = True
        flags = plain_without_blips(found[:, c], gap, length)
        for start, stop in stances(flags):
            away = points[start:stop, c] - np.median(points[start:stop, c], axis=0)
            settled = np.abs(away[:, 2]) < LIMITS[3, 1]
            settled &= (np.linalg.norm(away[:, :2], axis=-1) < LIMITS[3, 0]) | (speed[start:stop, c] < LIMITS[1, 0])
            inside = np.flatnonzero(settled)
            flags[start:stop] = False
            if len(inside):
                flags[start + inside[0] : start + inside[-1] + 1] = True
        found[:, c] = plain_without_blips(flags, gap, length)
    return found


def steps(seed: int, frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (F, 5, 3) that rest and swing by turns on a floor that slopes, their speeds, and the pelvis's."""
    rng = np.random.default_rng(seed)
    phase = 2 * np.pi * (np.arange(frames)[:, None] / rng.uniform(15, 40) + rng.random(5))
    lift = np.maximum(np.sin(phase), 0.0) * rng.uniform(0.02, 0.2)
    ahead = np.cumsum(0.15 * lift, axis=0) + rng.normal(0, 0.3, 5)
    points = np.stack([ahead, np.broadcast_to(rng.normal(0, 0.2, 5), lift.shape), lift + 0.03 * ahead], axis=-1)
    points += rng.normal(0, rng.choice([0.0, 0.002]), points.shape)
    points[:, 4, 2] += 1.0  # a hand
    speed = np.linalg.norm(np.gradient(points, axis=0) * 30.0, axis=-1) if frames > 1 else np.zeros((frames, 5))
    return points, speed, np.full(frames, rng.uniform(0, 2))


@given(st.integers(0, 10_000), st.integers(1, 150))
def test_resting_heights_and_contacts(seed: int, frames: int) -> None:
    points, speed, going = steps(seed, frames)
    resting, found = np.empty(speed.shape), np.empty(speed.shape, dtype=bool)
    _contact_kernels.resting_heights(points, speed, going, np.isin(np.arange(5), FEET), UNEVEN, resting)
    np.testing.assert_allclose(resting, plain_resting(points, speed, going, FEET), atol=1e-9)
    _contact_kernels.contacts(points, speed, going, resting, LIMITS, 1, 3, found)
    np.testing.assert_array_equal(found, plain_contacts(points, speed, going, resting, 1, 3))


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(1, 4), st.integers(1, 5))
def test_blips(flags: list[bool], gap: int, shortest: int) -> None:
    done = np.array(flags)
    _contact_kernels.drop_blips(done, gap, shortest)
    np.testing.assert_array_equal(done, plain_without_blips(np.array(flags), gap, shortest))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.floats(0, 1))
def test_percentiles(values: list[float], share: float) -> None:
    got = _contact_kernels.percentile(np.array(values), len(values), share)
    assert got == pytest.approx(np.percentile(values, 100 * share), rel=1e-9, abs=1e-9)
