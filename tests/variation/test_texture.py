"""Fine detail: parted from the motion, mixed anew, as loud as that of the takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.motion.clip import Clip
from gaitway.variation.learning.calibration import roughness
from gaitway.variation.learning.learn import LearnOptions, learn
from gaitway.variation.network.model import VariationModel
from gaitway.variation.network.texture import Texture, filter_reach, filtered, smoothed
from gaitway.variation.sampling.streaming import Stream
from gaitway.variation.sampling.synthesis import sample_many
from variation_takes import SMALL, make_takes


@given(st.integers(8, 60), st.floats(24.0, 120.0), st.integers(0, 100))
def test_what_is_straight_stays_and_ends_stay(frames: int, fps: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    line = rng.normal(size=3) + np.linspace(0.0, 1.0, frames)[:, None] * rng.normal(size=3)
    np.testing.assert_allclose(smoothed(line, fps), line, atol=1e-9)
    rough = rng.normal(size=(frames, 3))
    smooth = smoothed(rough, fps)
    assert smooth.shape == rough.shape
    np.testing.assert_allclose(smooth[[0, -1]], rough[[0, -1]], atol=1e-9)


def test_a_cycle_is_smoothed_across_its_seam() -> None:
    wave = np.sin(np.linspace(0.0, 2.0 * np.pi, 61))[:, None] + np.linspace(0.0, 3.0, 61)[:, None]
    twice = np.concatenate([wave, wave[1:] + 3.0])
    np.testing.assert_allclose(smoothed(wave, 60.0, cyclic=True)[0], smoothed(twice, 60.0)[60] - 3.0, atol=1e-12)


def test_filtering_loses_the_reach_of_the_filter_at_either_end() -> None:
    rows = np.random.default_rng(0).normal(size=(80, 2))
    reach = filter_reach(30.0)
    np.testing.assert_allclose(filtered(rows, 30.0), smoothed(rows, 30.0)[reach:-reach], atol=1e-12)


def test_mixes_vary_as_takes_do() -> None:
    rng = np.random.default_rng(3)
    details = rng.normal(size=(4, 12, 2)).astype(np.float32)
    texture, parts = Texture(details, np.ones(2, np.float32)), np.array([0, 3])
    places = np.repeat(5.0, 4000)
    mean, mixed = texture.at(places, rng.normal(size=(4000, 5, 4)).astype(np.float32), parts)
    np.testing.assert_allclose(mean[0], details[:, 5].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(mixed.std(axis=0), details[:, 5].std(axis=0, ddof=1), rtol=0.05)
    # every single mix is as large as one deviation of a take, never by chance nothing
    alike = Texture(
        np.array([1.0, -1.0, 1.0, -1.0], np.float32)[:, None, None] * np.ones((4, 12, 2), np.float32), texture.gains
    )
    _, sizes = alike.at(places, rng.normal(size=(4000, 5, 4)).astype(np.float32), parts)
    assert np.abs(sizes).max() <= 2.0 + 1e-6


def test_one_take_has_no_differences_to_mix() -> None:
    texture = Texture(np.ones((1, 9, 2), np.float32), np.ones(2, np.float32))
    mean, mixed = texture.at(np.arange(5.0), np.ones((5, 5, 1), np.float32), np.zeros(2, np.int64))
    np.testing.assert_array_equal(mixed, 0.0)
    np.testing.assert_allclose(mean, 1.0)


def trembling(takes: list[Clip], size: float) -> list[Clip]:
    """Takes whose roots rise and fall at random from frame to frame [m], as jitter of a capture."""
    rng = np.random.default_rng(5)
    up = np.array([0.0, 0.0, size])
    return [replace(take, root_positions=take.root_positions + rng.normal(size=(len(take), 1)) * up) for take in takes]


@pytest.fixture(scope="module")
def shaken() -> VariationModel:
    return learn(trembling(make_takes(4), 0.01), SMALL)


def test_variants_and_streams_tremble_as_takes_do(shaken: VariationModel) -> None:
    column = shaken.dofs.names.index("height")
    wanted = roughness(shaken.takes)[column]
    variants = [shaken.scaled(clip) for clip in sample_many(shaken, np.random.default_rng(1), 12)]
    assert 0.8 < roughness(variants)[column] / wanted < 1.25
    streamed, _ = Stream(shaken, np.random.default_rng(1)).next(600)
    assert 0.75 < roughness([streamed])[column] / wanted < 1.3


def test_the_dial_turns_the_tremor_down_but_not_up(shaken: VariationModel) -> None:
    column = shaken.dofs.names.index("height")

    def loud(gain: float) -> float:
        clips = sample_many(shaken, np.random.default_rng(1), 12, gain=gain)
        return float(roughness([shaken.scaled(clip) for clip in clips])[column])

    assert loud(0.0) < 0.8 * loud(1.0)
    assert loud(2.0) < 1.2 * loud(1.0)


def test_the_thesis_has_no_texture() -> None:
    """What it draws is what its network gives."""
    model = learn(make_takes(4), replace(LearnOptions.thesis(), search=SMALL.search, prior=SMALL.prior))
    louder = replace(model.variation.texture, gains=np.full_like(model.variation.texture.gains, 9.0))
    other = replace(model, variation=replace(model.variation, texture=louder))
    one, two = (sample_many(m, np.random.default_rng(0), 2) for m in (model, other))
    np.testing.assert_array_equal(one[0].rotations, two[0].rotations)
