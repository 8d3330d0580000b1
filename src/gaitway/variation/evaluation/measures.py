"""Figures of a set of variants beside those of real takes: spread, repetition, roughness, feet and timing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion.anatomy import PARTS
from gaitway.motion.clip import Clip
from gaitway.motion.quality import foot_slide
from gaitway.variation.evaluation.features import GROUPS, TEXTURE, Yardstick
from gaitway.variation.evaluation.two_sample import PERMUTATIONS, Verdict, classifier_test, energy_test, nearest
from gaitway.variation.network.dofs import ROOT_NAMES
from gaitway.variation.network.model import VariationModel

_RIDGE = 0.05
"""Weight of the penalty when phases are regressed on poses, in variances of a column."""


@dataclass(frozen=True)
class MotionFigures:
    """Figures of a set of clips, relative to a yardstick of real takes; angles and velocities in their deviations."""

    spread: float
    """Deviation of poses about their own mean at equal phases, relative to that of the reference."""
    seconds: float
    """Mean duration [s]."""
    seconds_spread: float
    """Standard deviation of durations [s]."""
    repetition: float
    """Median distance of a clip to the most similar other clip of its set, in deviations a column; 0 is a copy."""
    novelty: float
    """Median distance of a clip to the most similar input; 0 is a copy."""
    roughness: float
    """Third differences relative to those of the reference; above 1 is rougher."""
    slide: float
    """Mean slide of a planted heel or ball over stances [m]."""
    slide_most: float
    """Greatest slide [m]."""


def figures(clips: Sequence[Clip], inputs: Sequence[Clip], stick: Yardstick) -> MotionFigures:
    """Measure a set of clips.

    Args:
        clips: Variants, or real takes.
        inputs: Takes that the clips were made from, which none of them should copy.
        stick: Yardstick of real takes.

    Raises:
        VariationError: if there are fewer than two clips.
    """
    if len(clips) < 2:
        raise VariationError(f"{len(clips)} clips; their spread needs 2 or more")
    poses = np.array([stick.poses(clip) for clip in clips])
    joints = stick.dofs.kept >= len(ROOT_NAMES)
    flat = poses[:, :, joints].reshape(len(clips), -1)
    given = np.array([stick.poses(clip) for clip in inputs])[:, :, joints].reshape(len(inputs), -1)
    share = 1.0 / float(np.sqrt(flat.shape[1]))
    seconds = np.array([clip.duration for clip in clips])
    slides = np.concatenate([foot_slide(clip) if clip.contacts is not None else np.empty(0) for clip in clips])
    return MotionFigures(
        spread=spread_of(clips, stick),
        seconds=float(seconds.mean()),
        seconds_spread=float(seconds.std(ddof=1)),
        repetition=float(np.median(nearest(flat)[0])) * share,
        novelty=float(np.median(nearest(flat, given)[0])) * share,
        roughness=float(np.exp(np.mean([roughness(clip, stick) for clip in clips]))),
        slide=float(slides.mean()) if len(slides) else 0.0,
        slide_most=float(slides.max(initial=0.0)),
    )


def cycle_lengths(model: VariationModel, rows: FloatArray) -> FloatArray:
    """Return the length of each cycle of a stream of scaled rows (F, n) [frames], found by its poses alone.

    The component of a pose that rotates once in a cycle is found by regression over the takes. A stream that stands
    still makes no cycle, whatever its phases are.
    """
    poses = np.concatenate(model.takes)
    hand = np.exp(2j * np.pi * np.concatenate(model.alignment.phases) / model.alignment.period)
    middle = poses.mean(axis=0)
    square = (poses - middle).T @ (poses - middle) + _RIDGE * len(poses) * np.eye(len(middle))
    weights = np.linalg.solve(square, (poses - middle).T @ hand)
    turns = np.unwrap(np.angle((rows - middle) @ weights)) / (2.0 * np.pi)
    onward = np.maximum.accumulate(turns if turns[-1] >= turns[0] else -turns)
    whole = np.arange(np.ceil(onward[0]), onward[-1])
    return np.diff(np.interp(whole, onward, np.arange(len(onward))))


def pooled_spread(sets: Sequence[Sequence[Clip]], stick: Yardstick) -> float:
    """Return `spread_of` several sets of clips, each about its own mean."""
    sizes = np.array([len(clips) - 1 for clips in sets])
    return float(np.sqrt(np.average([spread_of(clips, stick) ** 2 for clips in sets], weights=sizes)))


def spread_of(clips: Sequence[Clip], stick: Yardstick) -> float:
    """Return the deviation of poses about their own mean at equal phases, relative to that of the yardstick's takes."""
    poses = np.array([stick.poses(clip) for clip in clips])
    own = poses.var(axis=0, ddof=1).mean(axis=0)
    joints = stick.dofs.kept >= len(ROOT_NAMES)
    angles = stick.scale[joints] ** 2  # in radians, so that a joint that hardly moves does not dominate the sum
    return float(np.sqrt((own[joints] * angles).sum() / (stick.between[joints] ** 2 * angles).sum()))


def roughness(clip: Clip, stick: Yardstick) -> float:
    """Return the log of a clip's third differences relative to the yardstick's takes, mean over parts."""
    return float(np.mean(stick.roughness(clip) - stick.centre[TEXTURE][: len(PARTS)]))


@dataclass(frozen=True)
class Comparison:
    """Two-sample tests, one for each group of features."""

    energy: dict[str, Verdict]
    classifier: dict[str, Verdict]

    @property
    def least(self) -> float:
        """Smallest p of all tests, times their number (Bonferroni)."""
        verdicts = [*self.energy.values(), *self.classifier.values()]
        return min(1.0, len(verdicts) * min(v.p for v in verdicts))

    @property
    def significant(self) -> tuple[str, ...]:
        """Groups of features that distinguish the samples at the 5 % level, all tests together."""
        bar = 0.05 / (2 * len(self.energy))
        return tuple(g for g in self.energy if min(self.energy[g].p, self.classifier[g].p) <= bar)


def compare(
    first: dict[str, FloatArray],
    second: dict[str, FloatArray],
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
    groups: Sequence[str] = GROUPS,
) -> Comparison:
    """Test two sets of features (`Yardstick.features`) against one another."""
    return Comparison(
        {g: energy_test(first[g], second[g], rng, permutations) for g in groups},
        {g: classifier_test(first[g], second[g], rng, permutations) for g in groups},
    )
