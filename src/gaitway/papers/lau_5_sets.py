"""Data of the results of chapter 5: takes, variants learnt from four of them, and baselines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.motion.clip import Clip
from gaitway.variation.evaluation.features import Yardstick
from gaitway.variation.evaluation.noise import AlignedTakes, noisy_takes, perlin_noise, strawman_noise
from gaitway.variation.learning.learn import learn
from gaitway.variation.network.model import LearnOptions, VariationModel
from gaitway.variation.network.transition import TransitionSearch
from gaitway.variation.sampling.end_matching import match_ends, most_similar_ends
from gaitway.variation.sampling.synthesis import sample_many

MOTIONS = ("cheer", "walk_forward", "breast_stroke", "jump")
"""The thesis's four kinds of motion, as the built-in person does them."""
INPUTS, OUTPUTS = 4, 15
"""Number of takes that a model is learnt from, and of variants that are shown, as in the thesis."""
_TRUE_SEED = 7000
_FEW = 6
"""Number of variants of each model but the first."""


@dataclass(frozen=True, eq=False)
class StudyModel:
    """One model, the takes it was learnt from, and its variants."""

    inputs: tuple[Clip, ...]
    model: VariationModel
    raw: tuple[Clip, ...]
    """Variants as they were drawn."""
    variants: tuple[Clip, ...]
    """Variants with the ends of their takes and still feet."""
    learn_s: float
    sample_s: float
    """Time to draw a second of motion [s]."""


@dataclass(frozen=True, eq=False)
class Study:
    """All clips of one motion that are compared."""

    name: str
    stick: Yardstick
    held: tuple[Clip, ...]
    """Takes that no model has seen and that are not part of the yardstick."""
    learnt: tuple[StudyModel, ...]
    sets: dict[str, list[Clip]]
    """Clips to be judged, by their kind; those of all models in turn."""


@dataclass(frozen=True)
class Sizes:
    """Numbers of models and clips of a study."""

    models: int
    """Number of models of each motion, each from four takes of its own."""
    variants: int
    """Number of variants of the first model; other models have a few."""
    reference: int
    """Number of takes of the yardstick."""
    held: int
    """Number of takes to compare with."""
    rounds: int
    """Rounds of the search for a structure."""


QUICK, FULL = Sizes(2, 4, 24, 24, 2), Sizes(12, 15, 100, 120, 4)


def generated_study(motion: str, sizes: Sizes, seed: int) -> Study:
    """Study a motion of the built-in person, whose true distribution is known: takes can be drawn without end."""
    count = sizes.reference + sizes.held
    true = _takes(motion, _TRUE_SEED + seed, count)
    skeleton, rng = true[0].skeleton, np.random.default_rng([seed, 5])
    learnt = []
    for number in range(sizes.models):
        inputs = [replace(take, skeleton=skeleton) for take in _takes(motion, seed + 100 * number, INPUTS)]
        few = sizes if number == 0 else replace(sizes, variants=min(sizes.variants, _FEW))
        learnt.append(
            learn_from(inputs, few, rng, lambda clip, takes: match_ends(clip, most_similar_ends(clip, takes)))
        )
    stick = Yardstick.of(true[: sizes.reference])
    return study_of(motion, stick, true[sizes.reference :], learnt, rng)


def learn_from(
    inputs: Sequence[Clip],
    sizes: Sizes,
    rng: np.random.Generator,
    finish: Callable[[Clip, Sequence[Clip]], Clip],
) -> StudyModel:
    """Learn from takes and draw variants; `finish` applies constraints to each."""
    began = time.perf_counter()
    model = learn(inputs, LearnOptions(cyclic=False, search=TransitionSearch(rounds=sizes.rounds)))
    learnt = time.perf_counter()
    drawn = [replace(clip, skeleton=inputs[0].skeleton) for clip in sample_many(model, rng, sizes.variants)]
    spent = (time.perf_counter() - learnt) / sum(clip.duration for clip in drawn)
    finished = [finish(clip, inputs) for clip in drawn]
    return StudyModel(tuple(inputs), model, tuple(drawn), tuple(finished), learnt - began, spent)


def study_of(
    name: str, stick: Yardstick, held: Sequence[Clip], learnt: Sequence[StudyModel], rng: np.random.Generator
) -> Study:
    """Return variants of all models in turn, and baselines of the same number and size.

    There are as many independent clips as models, because each model was learnt from takes of its own.
    """
    sets: dict[str, list[Clip]] = {"variants": [], "strawman noise": [], "Perlin noise": [], "cycle animation": []}
    grounds = [AlignedTakes.of(one.inputs) for one in learnt]
    sizes = [aligned.sizes(one.variants) for aligned, one in zip(grounds, learnt, strict=True)]
    for number in range(min(len(one.variants) for one in learnt)):
        for one, aligned, size in zip(learnt, grounds, sizes, strict=True):
            sets["variants"].append(one.variants[number])
            sets["strawman noise"] += noisy_takes(aligned, size, strawman_noise, 1, rng)
            sets["Perlin noise"] += noisy_takes(aligned, size, perlin_noise, 1, rng)
            sets["cycle animation"].append(one.inputs[int(rng.integers(len(one.inputs)))])
    return Study(name, stick, tuple(held), tuple(learnt), sets)


def _takes(motion: str, seed: int, count: int) -> list[Clip]:
    return list(load_cast("person", seed=seed, takes=count, behaviors=[motion]).clips.values())
