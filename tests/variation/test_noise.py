"""Noise baselines have the size that variants have, and tests tell them from takes, but not takes from takes."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import VariationError
from gaitway.motion import Clip
from gaitway.variation.evaluation.features import GROUPS, TEXTURE, Yardstick
from gaitway.variation.evaluation.measures import compare, figures
from gaitway.variation.evaluation.noise import AlignedTakes, noisy_takes, perlin_noise, strawman_noise


def takes_of(behavior: str, seed: int, count: int) -> list[Clip]:
    return list(load_cast("person", seed=seed, takes=count, behaviors=[behavior]).clips.values())


@pytest.fixture(scope="module")
def true() -> list[Clip]:
    return takes_of("cheer", 900, 60)


@pytest.fixture(scope="module")
def inputs() -> list[Clip]:
    return takes_of("cheer", 3, 4)


@pytest.mark.parametrize("draw", [strawman_noise, perlin_noise])
def test_noise_has_the_size_of_variants(true: list[Clip], inputs: list[Clip], draw) -> None:  # type: ignore[no-untyped-def]
    aligned, rng = AlignedTakes.of(inputs), np.random.default_rng(0)
    sizes = aligned.sizes(true[:15])
    made = noisy_takes(aligned, sizes, draw, 12, rng)
    for clip in made:
        source = next(i for i, take in enumerate(inputs) if clip.name.startswith(f"{take.name} noise"))
        size = aligned.size(aligned.dofs.rows(clip), source, aligned.joints)
        assert abs(size - sizes.mean()) <= 1.02 * sizes.std() + 0.02 * sizes.mean()
        assert len(clip) == len(inputs[source])
        assert clip.contacts is not None
    again = noisy_takes(aligned, sizes, draw, 12, np.random.default_rng(0))
    assert np.array_equal(again[3].rotations, made[3].rotations)


def test_noise_on_one_arm_leaves_the_other(true: list[Clip], inputs: list[Clip]) -> None:
    aligned = AlignedTakes.of(inputs)
    arm = ["left_arm"]
    sizes = aligned.sizes(true[:5], arm)
    (one,) = noisy_takes(aligned, sizes, strawman_noise, 1, np.random.default_rng(1), arm)
    number = next(i for i, take in enumerate(inputs) if one.name.startswith(f"{take.name} noise"))
    size = aligned.size(aligned.dofs.rows(one), number, aligned.columns(arm))
    assert abs(size - sizes.mean()) <= 1.02 * sizes.std() + 0.02 * sizes.mean()
    source = next(take for take in inputs if one.name.startswith(f"{take.name} noise"))
    skeleton = one.skeleton
    left, right = skeleton.roles["left_shoulder"], skeleton.roles["right_shoulder"]
    assert np.abs(one.rotations[:, right] - source.rotations[:, right]).max() < 2e-3
    assert np.abs(one.rotations[:, left] - source.rotations[:, left]).max() > 0.02


@pytest.mark.slow
def test_noise_is_told_from_takes_and_takes_are_not(true: list[Clip], inputs: list[Clip]) -> None:
    rng = np.random.default_rng(5)
    stick, aligned = Yardstick.of(true[:25]), AlignedTakes.of(inputs)
    held, others = stick.features(true[25:50]), stick.features(true[50:])
    assert compare(others, held, rng, 499).least > 0.05
    for draw in (strawman_noise, perlin_noise):
        noisy = noisy_takes(aligned, aligned.sizes(true[:10]), draw, 10, rng)
        verdict = compare(stick.features(noisy), held, rng, 499)
        assert verdict.least <= 0.05
        assert compare(stick.features(noisy), held, rng, 499, [TEXTURE]).least <= 0.01


@pytest.mark.slow
def test_figures_of_takes_and_of_copies(true: list[Clip], inputs: list[Clip]) -> None:
    stick = Yardstick.of(true[:25])
    real = figures(true[25:45], inputs, stick)
    assert 0.8 < real.spread < 1.25
    assert 0.8 < real.roughness < 1.25
    assert real.repetition > 0.1
    cycled = figures([inputs[i % 4] for i in range(15)], inputs, stick)
    assert max(cycled.repetition, cycled.novelty) < 1e-6  # copies, to rounding
    assert set(stick.features(inputs)) == {*GROUPS, TEXTURE}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda t: AlignedTakes.of(t[:1]), "2 or more"),
        (lambda t: Yardstick.of(t[:1]), "2 or more"),
        (
            lambda t: noisy_takes(AlignedTakes.of(t), np.zeros(1), perlin_noise, 1, np.random.default_rng(0)),
            "2 or more",
        ),
        (
            lambda t: noisy_takes(
                AlignedTakes.of(t), np.ones(4), perlin_noise, 1, np.random.default_rng(0), ["HeadTop_End"]
            ),
            "HeadTop_End moves",
        ),
    ],
)
def test_bad_input_is_refused(inputs: list[Clip], make: object, said: str) -> None:
    with pytest.raises(VariationError, match=said):
        make(inputs)  # type: ignore[operator]
