"""Choosing inputs (Lau 2009, section 5.7): walk cycles that go together, told by how likely a network holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.papers.charts import Chart, Series
from gaitway.papers.tables import PaperOptions, Progress
from gaitway.variation.inputs.cycles import capture_of, captured_cycles
from gaitway.variation.inputs.input_selection import Choice, Measure, choose

TRAINING, TESTING = "35", ("39", "16", "07")
"""Subjects: one walks alike in all takes; of the others some takes are slow, fast or turning."""
_BINS = 8


def choice_rows(
    walkers: Mapping[str, Sequence[Path]], options: PaperOptions, progress: Progress
) -> tuple[list[dict[str, Any]], list[str], list[Chart]]:
    """Which cycles of subjects are kept, what that means, and how likely training takes were (figure 5.9)."""
    testing = [subject for subject in TESTING if subject in walkers]
    if TRAINING not in walkers or not testing:
        return [], [], []
    rng = np.random.default_rng([options.seed, 57])
    training = captured_cycles(walkers[TRAINING])
    measure = Measure.of([training], rng, 1, progress, capture_of)
    rows, notes = list[dict[str, Any]](), list[str]()
    for subject in testing:
        cycles = captured_cycles(walkers[subject])
        choice = choose(cycles, measure, rng, 1, progress, capture_of)
        rows += _rows(subject, choice)
        notes.append(
            f"5.7: of subject {subject}'s {len(cycles)} cycles {len(choice.kept)} are kept"
            + (" (fewer than four would be left)" if not choice.kept else "")
        )
    notes.append(
        f"5.7: tenth percentile of subject {TRAINING}'s {len(training)} cycles {measure.threshold:.1f}; the thesis "
        "kept 5 of 8 cycles, and left out others by their speed, the height of arm swings and the angle of turning"
    )
    counts, edges = np.histogram(measure.known, bins=_BINS)
    places = tuple(f"{0.5 * (a + b):.2f}" for a, b in pairwise(edges))
    series = (Series("training takes", tuple(float(c) for c in counts)),)
    title = f"Likelihoods of subject {TRAINING}'s cycles; threshold {measure.threshold:.2f}"
    return rows, notes, [Chart("likelihoods", title, places, "log-likelihood", "takes", series, bars=True)]


def _rows(subject: str, choice: Choice) -> list[dict[str, Any]]:
    kept = [(clip, value, "kept") for clip, value in zip(choice.kept, choice.likelihoods, strict=True)]
    left = [(one.clip, one.likelihood, f"left out {number + 1}.") for number, one in enumerate(choice.left)]
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
