"""Selection of inputs (Lau 2009, section 5.7): generated takes with an odd one (figure 5.8), and captured cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.progress import Progress
from gaitway.motion.anatomy import PARTS, joint_parts
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample
from gaitway.papers.charts import Chart, Series
from gaitway.papers.tables import PaperOptions
from gaitway.variation.evaluation.noise import AlignedTakes, strawman_noise
from gaitway.variation.inputs.cycles import capture_of, captured_cycles
from gaitway.variation.inputs.input_selection import SelectionMeasure, TakeSelection, select_takes

HIGHER, TURN, SLOWER, NOISE = 1.5, np.radians(20.0), 1.25, 2.0
"""Changes that make a take odd: factor on the swing of the arms; turn over a take [rad]; factor on its length; noise in
deviations between takes."""
_GOOD = 7
"""Number of takes that belong together in each set."""
_STYLES = ("style-3", "style-5")
"""Styles of other people of the built-in cast."""
TRAINING, TESTING = "35", ("39", "16", "07")
"""Numbers of subjects. The first walks in the same way in all takes; others have slow, fast or turning takes."""
_BINS = 8
"""Number of bars of the histogram."""


def higher_arms(clip: Clip, factor: float = HIGHER) -> Clip:
    """Return a take whose arms swing farther about their mean, by a factor."""
    parts, turned = joint_parts(clip.skeleton), np.array(clip.rotations)
    for joint in np.flatnonzero(parts >= PARTS.index("left_arm")):
        mean = rotations.mean(turned[:, joint : joint + 1])[0]
        away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(mean), turned[:, joint]))
        turned[:, joint] = rotations.multiply(mean, rotations.from_rotation_vector(factor * away))
    return replace(clip, rotations=rotations.normalize(turned), name=f"{clip.name}, arms higher")


def turning(clip: Clip, angle: float = TURN) -> Clip:
    """Return a take that turns evenly to the left by a further angle [rad]."""
    along = np.linspace(0.0, angle, len(clip))
    roots, turned = np.array(clip.root_positions), np.array(clip.rotations)
    step, cosine, sine = np.diff(roots[:, :2], axis=0), np.cos(along[:-1]), np.sin(along[:-1])
    bent = np.column_stack([cosine * step[:, 0] - sine * step[:, 1], sine * step[:, 0] + cosine * step[:, 1]])
    roots[1:, :2] = roots[0, :2] + np.cumsum(bent, axis=0)
    turned[:, 0] = rotations.multiply(rotations.from_yaw(along), turned[:, 0])
    turned = rotations.normalize(turned)
    return replace(clip, root_positions=roots, rotations=turned, name=f"{clip.name}, turning")


def slower(clip: Clip, factor: float = SLOWER) -> Clip:
    """Return a take that lasts longer, by a factor."""
    return replace(resample(replace(clip, fps=clip.fps / factor), clip.fps), name=f"{clip.name}, slower")


def noisy(takes: Sequence[Clip], number: int, rng: np.random.Generator, size: float = NOISE) -> Clip:
    """Return one of the takes with smooth noise in every joint, of this many deviations between them."""
    aligned = AlignedTakes.of(takes)
    noise = np.where(aligned.joints, strawman_noise(aligned, number, rng), 0.0)
    name = f"{takes[number].name}, noisy"
    return aligned.dofs.clip(aligned.rows[number] + size * noise, name, contacts=takes[number].contacts)


def known_answers(sets: int, seed: int, progress: Progress) -> tuple[list[dict[str, Any]], list[str]]:
    """Count how many odd takes are left out of sets of generated walks, and how many good takes with them.

    Every set is seven takes of the mean person and an odd one, or eight good ones. The measure is that of other takes
    of the same person.
    """
    rng = np.random.default_rng([seed, 58])
    measure = SelectionMeasure.of([_walks(seed + 1000 + k, _GOOD + 1) for k in range(3)], rng)
    strangers = [_walks(seed + 7, sets, style) for style in _STYLES]
    tally: dict[str, list[tuple[bool, float]]] = {}
    for number in range(sets):
        progress("choosing among takes with an odd one", number, sets)
        good = _walks(seed + 2000 + number, _GOOD + 1)
        odd = _odd_takes(good[:_GOOD], strangers[number % len(strangers)][number], rng)
        for kind, one in {"none": good[_GOOD], **odd}.items():
            selection = select_takes([*good[:_GOOD], one], measure, rng)
            left = [gone.clip for gone in selection.left]
            wrong = sum(any(clip is take for clip in left) for take in good[:_GOOD])
            tally.setdefault(kind, []).append((any(clip is one for clip in left), wrong / _GOOD))
    rows = [
        {
            "odd take": kind, "sets": sets,
            "left out": "" if kind == "none" else f"{np.mean([found for found, _ in cases]):.2f}",
            "good ones left out": f"{np.mean([wrong for _, wrong in cases]):.2f}",
        }
        for kind, cases in tally.items()
    ]  # fmt: skip
    notes = [
        f"5.7: a tenth of {len(measure.known)} generated takes lie below the threshold {measure.threshold:.1f}; sets "
        "may be looser by half as much again, so that fewer good ones are left out"
    ]
    return rows, notes


def _odd_takes(good: Sequence[Clip], stranger: Clip, rng: np.random.Generator) -> dict[str, Clip]:
    picks = rng.permutation(len(good))
    return {
        f"arms {HIGHER:g} times as high": higher_arms(good[picks[0]]),
        f"turning {np.degrees(TURN):.0f} degrees": turning(good[picks[1]]),
        f"{100 * SLOWER - 100:.0f} % slower": slower(good[picks[2]]),
        "noise": noisy(good, int(picks[3]), rng),
        "another person's": replace(stranger, skeleton=good[0].skeleton),
    }


def _walks(seed: int, count: int, style: str | None = None) -> list[Clip]:
    made = load_cast("person", seed=seed, takes=count, style=style, behaviors=["walk_forward"]).clips.values()
    return list(made)


def selection_rows(
    walkers: Mapping[str, Sequence[Path]], options: PaperOptions, progress: Progress
) -> tuple[list[dict[str, Any]], list[str], list[Chart]]:
    """Select cycles of subjects; return rows, notes, and a histogram of the training likelihoods (figure 5.9)."""
    testing = [subject for subject in TESTING if subject in walkers]
    if TRAINING not in walkers or not testing:
        return [], [], []
    rng = np.random.default_rng([options.seed, 57])
    training = captured_cycles(walkers[TRAINING])
    measure = SelectionMeasure.of([training], rng, 1, progress, capture_of)
    rows, notes = list[dict[str, Any]](), list[str]()
    for subject in testing:
        cycles = captured_cycles(walkers[subject])
        selection = select_takes(cycles, measure, rng, 1, progress, capture_of)
        rows += _rows(subject, selection)
        notes.append(
            f"5.7: of subject {subject}'s {len(cycles)} cycles {len(selection.kept)} are kept"
            + (" (fewer than four would be left)" if not selection.kept else "")
        )
    notes.append(
        f"5.7: tenth percentile of subject {TRAINING}'s {len(training)} cycles {measure.threshold:.1f}; the thesis "
        "kept 5 of 8 cycles, and left out others by their speed, the height of arm swings and the angle of turning"
    )
    counts, edges = np.histogram(measure.known, bins=_BINS)
    places = tuple(f"{0.5 * (a + b):.2f}" for a, b in pairwise(edges))
    series = (Series("training takes", tuple(float(c) for c in counts)),)
    title = f"Likelihoods of subject {TRAINING}'s cycles; threshold {measure.threshold:.2f}"
    return (
        rows,
        notes,
        [
            Chart(
                name="likelihoods",
                title=title,
                places=places,
                across="log-likelihood",
                up="takes",
                series=series,
                bars=True,
            )
        ],
    )


def _rows(subject: str, selection: TakeSelection) -> list[dict[str, Any]]:
    kept = [(clip, value, "kept") for clip, value in zip(selection.kept, selection.likelihoods, strict=True)]
    left = [(one.clip, one.likelihood, f"left out {number + 1}.") for number, one in enumerate(selection.left)]
    out = []
    for clip, value, what in (*kept, *left):
        path = clip.planar_path()
        gone, turned = float(np.linalg.norm(path[-1, :2] - path[0, :2])), float(path[-1, 2] - path[0, 2])
        out.append(
            {
                "subject": subject, "cycle": clip.name, "seconds": round(clip.duration, 2),
                "m/s": round(gone / clip.duration, 2), "turns deg": round(float(np.degrees(turned)), 1),
                "likelihood": "" if np.isnan(value) else round(value, 1), "is": what,
            }
        )  # fmt: skip
    return out
