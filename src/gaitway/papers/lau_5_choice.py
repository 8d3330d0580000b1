"""Choosing inputs (Lau 2009, section 5.7): walk cycles that go together, told by how likely a network holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.motion.clip import Clip
from gaitway.papers.charts import Chart, Series
from gaitway.papers.tables import PaperOptions, Progress
from gaitway.variation.choosing import choose, likelihoods, threshold_of
from gaitway.variation.cycles import captured_cycles
from gaitway.variation.learning import learn
from gaitway.variation.network import log_likelihood
from gaitway.variation.options import LearnOptions
from gaitway.variation.transition import Search

TRAINING, TESTING = "35", "16"
"""Subjects: one walks alike in all takes, the other at two speeds."""
_ROUNDS = 2
_BINS = 8


def network_likelihood(others: Sequence[Clip], judged: Sequence[Clip]) -> list[float]:
    """Mean log-likelihood of a frame and degree of freedom of some takes, by a network learnt from others."""
    model = learn(others, LearnOptions(cyclic=False, search=Search(rounds=_ROUNDS)))
    return [float(log_likelihood(model, clip).mean()) / len(model.degrees) for clip in judged]


def _capture(cycle: Clip) -> str:
    """The capture that a cycle was cut from."""
    return cycle.name.rpartition(" cycle ")[0]


def choice_rows(
    walkers: Mapping[str, Sequence[Path]], options: PaperOptions, progress: Progress
) -> tuple[list[dict[str, Any]], list[str], list[Chart]]:
    """Which cycles of a subject are kept, what that means, and how likely training takes were (figure 5.9)."""
    if TRAINING not in walkers or TESTING not in walkers:
        return [], [], []
    rng = np.random.default_rng([options.seed, 57])
    training, testing = captured_cycles(walkers[TRAINING]), captured_cycles(walkers[TESTING])
    known = likelihoods(training, network_likelihood, rng, 1, progress, _capture)
    threshold = threshold_of(known)
    choice = choose(testing, threshold, network_likelihood, rng, 1, progress, _capture)
    rows = [
        {"cycle": clip.name, "seconds": round(clip.duration, 2), "likelihood": round(value, 2), "is": "kept"}
        for clip, value in zip(choice.kept, choice.likelihoods, strict=True)
    ]
    rows += [
        {"cycle": one.clip.name, "seconds": round(one.clip.duration, 2), "likelihood": round(one.likelihood, 2),
         "is": f"left out {number + 1}."}
        for number, one in enumerate(choice.left)
    ]  # fmt: skip
    notes = [
        f"5.7: {known.size} likelihoods of subject {TRAINING}'s {len(training)} cycles, tenth percentile "
        f"{threshold:.2f}; of subject {TESTING}'s {len(testing)}, {len(choice.kept)} are kept (thesis: 5 of 8)"
    ]
    counts, edges = np.histogram(known, bins=_BINS)
    places = tuple(f"{0.5 * (a + b):.2f}" for a, b in pairwise(edges))
    series = (Series("training takes", tuple(float(c) for c in counts)),)
    title = f"Likelihoods of subject {TRAINING}'s cycles; threshold {threshold:.2f}"
    return rows, notes, [Chart("likelihoods", title, places, "log-likelihood", "takes", series, bars=True)]
