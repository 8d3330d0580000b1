"""Head sway is removed, real turns and stops are kept; resampling."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import CrowdError
from gaitway.crowd.tracks import read_tracks, resampled, without_sway
from gaitway.crowd.tracks.sway import MOST_SWAY
from gaitway.crowd.trajectories import joined

PEDESTRIANS = Path(__file__).parents[4] / "shared" / "pedestrians"


def walked(fps: float, speed: float, stride: float, turns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the path of a body and of its head, which sways by 4 cm to either side and 1 cm to and fro."""
    heading = np.cumsum(turns) / fps
    ahead = np.column_stack([np.cos(heading), np.sin(heading)])
    side = np.column_stack([-np.sin(heading), np.cos(heading)])
    path = np.cumsum(speed * ahead, axis=0) / fps
    phase = 2.0 * np.pi * stride * np.arange(len(turns)) / fps
    return path, path + 0.04 * np.sin(phase)[:, None] * side + 0.01 * np.sin(2.0 * phase + 0.4)[:, None] * ahead


def calm(path: FloatArray, fps: float) -> FloatArray:
    return without_sway(joined(fps, ["a"], [0], [path])).positions


@pytest.mark.parametrize("fps", [10.0, 16.0, 25.0, 60.0])
@pytest.mark.parametrize(("speed", "stride"), [(1.3, 0.9), (1.0, 0.75), (0.5, 0.53), (1.6, 1.05)])
def test_sway_is_removed_to_less_than_a_centimetre(fps: float, speed: float, stride: float) -> None:
    path, head = walked(fps, speed, stride, np.zeros(round(12 * fps)))
    assert np.linalg.norm(head - path, axis=1).max() > 0.04
    assert np.linalg.norm(calm(head, fps) - path, axis=1).max() < 0.008


@pytest.mark.parametrize("fps", [16.0, 25.0])
@pytest.mark.parametrize(("speed", "stride"), [(1.3, 0.9), (1.0, 0.75)])
def test_a_turn_is_kept(fps: float, speed: float, stride: float) -> None:
    """A quarter turn in 1.6 s, which a walker of 1.3 m/s makes on a curve of 0.8 m at its tightest."""
    times = np.arange(round(12 * fps)) / fps
    turns = np.where(np.abs(times - 6.0) < 1.0, 0.25 * np.pi * (1.0 + np.cos(np.pi * (times - 6.0))), 0.0)
    path, head = walked(fps, speed, stride, turns)
    away = np.linalg.norm(calm(head, fps) - path, axis=1)
    assert away.max() < 0.02 and np.sqrt((away**2).mean()) < 0.007
    flat = head.copy()  # a moving mean over a stride, which removes the sway too, cuts the corner
    half = round(0.5 * fps / stride)
    for axis in range(2):
        flat[half:-half, axis] = np.convolve(head[:, axis], np.full(2 * half + 1, 1.0 / (2 * half + 1)), mode="valid")
    assert np.linalg.norm(flat - path, axis=1)[half:-half].max() > 2.0 * away.max()


def test_a_stop_is_kept() -> None:
    fps = 25.0
    times = np.arange(300) / fps
    speed = 1.3 * (1.0 - np.clip((times - 5.0) / 0.8, 0.0, 1.0))
    path = np.column_stack([np.cumsum(speed) / fps, np.zeros(300)])
    assert np.linalg.norm(calm(path, fps) - path, axis=1).max() < 0.03


@given(st.integers(1, 120), st.integers(0, 2**31), st.sampled_from([1.0, 5.0, 25.0, 47.3]))
def test_nobody_is_moved_far_and_nothing_is_lost(count: int, seed: int, fps: float) -> None:
    path = np.cumsum(np.random.default_rng(seed).normal(size=(count, 2)) * 0.1, axis=0)
    out = calm(path, fps)
    assert out.shape == path.shape and np.isfinite(out).all()
    assert np.linalg.norm(out - path, axis=1).max() < MOST_SWAY + 1e-9


def test_real_heads_sway_across_their_way() -> None:
    if not PEDESTRIANS.is_dir():
        pytest.skip("no tracked people beside the clone")
    file = PEDESTRIANS / "uo-060-180-180.txt"
    heads, bodies = read_tracks(file, heads=False).trajectories, read_tracks(file).trajectories
    wobble = []
    for tracks in (heads, bodies):
        rows = [tracks.positions[tracks.rows(person)] for person in range(len(tracks))]
        wobble.append(np.mean([np.abs(np.diff(path[:, 0], n=2)).mean() for path in rows if len(path) > 50]))
    assert wobble[1] < 0.45 * wobble[0]  # they walk along y, so x is across
    assert np.linalg.norm(heads.positions - bodies.positions, axis=1).mean() < 0.05


def test_resampling_keeps_curves_times_and_headings() -> None:
    angle = np.linspace(0.0, np.pi, 51)
    circle = np.column_stack([np.cos(angle), np.sin(angle), angle + 0.5 * np.pi])
    tracks = joined(25.0, ["a", "b"], [10, 3], [circle, np.array([[1.0, 2.0]])])
    out = resampled(tracks, 60.0)
    assert out.names == ("a",)  # nobody is seen for a single frame that none of the new ones meets
    assert out.times(0)[0] == pytest.approx(0.4) and out.times(0)[-1] == pytest.approx(2.4)
    turned = np.pi * (out.times(0) - 0.4) / 2.0
    np.testing.assert_allclose(out.positions, np.column_stack([np.cos(turned), np.sin(turned)]), atol=2e-4)
    error = out.headings - turned - 0.5 * np.pi
    assert np.abs(np.sin(0.5 * error)).max() < 1e-9
    assert resampled(tracks, 25.0) is tracks
    assert resampled(tracks, 5.0).names == ("a",)
    for rate, words in ((0.0, "above 0"), (1e12, "lower rate")):
        with pytest.raises(CrowdError, match=words):
            resampled(tracks, rate)
