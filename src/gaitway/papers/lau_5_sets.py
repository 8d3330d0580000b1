"""What chapter 5's results are run on: takes, variants learnt from four of them, and the baselines beside these."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.motion.clip import Clip
from gaitway.variation.evaluation.features import Yardstick
from gaitway.variation.evaluation.noise import Ground, noisy_takes, perlin_noise, strawman_noise
from gaitway.variation.network.learning import learn
from gaitway.variation.network.model import VariationModel
from gaitway.variation.network.options import LearnOptions
from gaitway.variation.network.transition import Search
from gaitway.variation.sampling.end_matching import joined, likest_ends
from gaitway.variation.sampling.synthesis import sample_many

MOTIONS = ("cheer", "walk_forward", "breast_stroke", "jump")
"""The thesis's four kinds of motion, as the built-in person does them."""
INPUTS, OUTPUTS = 4, 15
"""Takes that are learnt from, and variants that are shown, as in the thesis."""
_TRUE_SEED = 7000
_FEW = 6
"""Variants of each model but the first."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """One model, the takes it was learnt from, and variants of it."""

    inputs: tuple[Clip, ...]
    model: VariationModel
    raw: tuple[Clip, ...]
    """As they were drawn."""
    variants: tuple[Clip, ...]
    """With the ends of their takes and feet that stay."""
    learn_s: float
    sample_s: float
    """Time to draw a second of motion [s]."""


@dataclass(frozen=True, eq=False)
class Study:
    """All that is compared of one motion."""

    name: str
    stick: Yardstick
    handle: tuple[Clip, ...]
    """Takes that no model has seen and that are no part of the yardstick."""
    learnt: tuple[Learnt, ...]
    sets: dict[str, list[Clip]]
    """Clips to be judged, by what they are; those of all models in turn."""


@dataclass(frozen=True)
class Sizes:
    """How much is done."""

    models: int
    """Models of each motion, each from four takes of its own."""
    variants: int
    """Of the first model; of the others a few."""
    reference: int
    """Takes of the yardstick."""
    handle: int
    """Takes to be compared with."""
    rounds: int
    """Of the search for a structure."""


QUICK, FULL = Sizes(2, 4, 24, 24, 2), Sizes(12, 15, 100, 120, 4)


def generated_study(motion: str, sizes: Sizes, seed: int) -> Study:
    """A motion of the built-in person, whose true distribution is known: takes can be drawn without end."""
    count = sizes.reference + sizes.handle
    true = _takes(motion, _TRUE_SEED + seed, count)
    skeleton, rng = true[0].skeleton, np.random.default_rng([seed, 5])
    learnt = []
    for number in range(sizes.models):
        inputs = [replace(take, skeleton=skeleton) for take in _takes(motion, seed + 100 * number, INPUTS)]
        few = sizes if number == 0 else replace(sizes, variants=min(sizes.variants, _FEW))
        learnt.append(learn_from(inputs, few, rng, lambda clip, takes: joined(clip, likest_ends(clip, takes))))
    stick = Yardstick.of(true[: sizes.reference])
    return study_of(motion, stick, true[sizes.reference :], learnt, rng)


def learn_from(
    inputs: Sequence[Clip],
    sizes: Sizes,
    rng: np.random.Generator,
    finish: Callable[[Clip, Sequence[Clip]], Clip],
) -> Learnt:
    """Learn from takes and draw variants, each finished by its constraints."""
    began = time.perf_counter()
    model = learn(inputs, LearnOptions(cyclic=False, search=Search(rounds=sizes.rounds)))
    learnt = time.perf_counter()
    drawn = [replace(clip, skeleton=inputs[0].skeleton) for clip in sample_many(model, rng, sizes.variants)]
    spent = (time.perf_counter() - learnt) / sum(clip.duration for clip in drawn)
    finished = [finish(clip, inputs) for clip in drawn]
    return Learnt(tuple(inputs), model, tuple(drawn), tuple(finished), learnt - began, spent)


def study_of(
    name: str, stick: Yardstick, handle: Sequence[Clip], learnt: Sequence[Learnt], rng: np.random.Generator
) -> Study:
    """Variants of all models in turn, and baselines of the same number and size.

    As many clips as there are models are independent of one another: each was learnt from takes of its own.
    """
    sets: dict[str, list[Clip]] = {"variants": [], "strawman noise": [], "Perlin noise": [], "cycle animation": []}
    grounds = [Ground.of(one.inputs) for one in learnt]
    sizes = [ground.sizes(one.variants) for ground, one in zip(grounds, learnt, strict=True)]
    for number in range(min(len(one.variants) for one in learnt)):
        for one, ground, size in zip(learnt, grounds, sizes, strict=True):
            sets["variants"].append(one.variants[number])
            sets["strawman noise"] += noisy_takes(ground, size, strawman_noise, 1, rng)
            sets["Perlin noise"] += noisy_takes(ground, size, perlin_noise, 1, rng)
            sets["cycle animation"].append(one.inputs[int(rng.integers(len(one.inputs)))])
    return Study(name, stick, tuple(handle), tuple(learnt), sets)


def _takes(motion: str, seed: int, count: int) -> list[Clip]:
    return list(load_cast("person", seed=seed, takes=count, behaviors=[motion]).clips.values())
