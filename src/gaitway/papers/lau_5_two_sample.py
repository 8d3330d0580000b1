"""Whether tests distinguish variants, and noise of the same size, from takes that no model has seen (section 5.6).

Variants of one model resemble the same four takes, so only variants of different models are independent. A trial draws
some models and one clip of each, and compares them with held-out takes. The share of trials that distinguish them is a
fairer answer than the p of one trial. Takes that are compared with takes show the share of false alarms.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.papers.charts import Chart, Series
from gaitway.papers.lau_5_sets import Study
from gaitway.papers.tables import Claim
from gaitway.variation.evaluation.features import TEXTURE
from gaitway.variation.evaluation.measures import compare

COUNTS = (4, 8, 12)
"""Numbers of clips that are compared with takes."""
TRIALS = 16
_LEVEL = 0.05
NOISES = ("strawman noise", "Perlin noise")
TAKES = "takes, held out"
_PERMUTATIONS = 299
_MOST, _FEW = 0.75, 0.25
"""Shares of trials: noise is distinguished in at least the first, variants in at most the second."""


@dataclass(frozen=True)
class TrialResult:
    """Results of the trials of one set of clips at one number of them."""

    share: float
    """Share of trials in which they are distinguished from takes."""
    p: float
    """Median of the least p of all tests, times their number."""
    texture_p: float
    """Median p by roughness and by what lies off the directions in which takes differ."""
    by: tuple[str, ...]
    """Groups of features that distinguish them, the most frequent first."""


Verdicts = dict[tuple[str, int], TrialResult]
"""Results by the kind of the clips and their number."""


def verdicts(study: Study, rng: np.random.Generator) -> Verdicts:
    """Compare every set with held-out takes, for more and more clips."""
    third = len(study.held) // 3
    seen = {name: study.stick.features(clips) for name, clips in study.sets.items()}
    if third >= COUNTS[0]:
        seen = {TAKES: study.stick.features(study.held[:third]), **seen}
    others = study.stick.features(study.held[third:] if third >= COUNTS[0] else study.held)
    if len(others["poses"]) < 3:
        return {}
    models = max(len(study.learnt), COUNTS[0])  # the four of a single model are better than nothing
    out = Verdicts()
    for name, rows in seen.items():
        available = len(rows["poses"])
        for count in COUNTS:
            if count <= min(available, models):
                alone = available if name == TAKES else models
                out[name, count] = _trials(rows, others, count, alone, rng)
    return out


def _trials(
    rows: dict[str, FloatArray], others: dict[str, FloatArray], count: int, models: int, rng: np.random.Generator
) -> TrialResult:
    p, texture_p, by = list[float](), list[float](), Counter[str]()
    for _ in range(TRIALS):
        chosen = _drawn(len(rows["poses"]), models, count, rng)
        some = {group: values[chosen] for group, values in rows.items()}
        verdict = compare(some, others, rng, _PERMUTATIONS)
        p.append(verdict.least)
        by.update(verdict.significant)
        texture_p.append(compare(some, others, rng, _PERMUTATIONS, groups=[TEXTURE]).least)
    share = float(np.mean(np.array(p) <= _LEVEL))
    often = tuple(name for name, times in by.most_common() if times > _FEW * TRIALS)
    return TrialResult(share, float(np.median(p)), float(np.median(texture_p)), often)


def _drawn(available: int, models: int, count: int, rng: np.random.Generator) -> IntArray:
    """Draw one clip each of some models; clips are stored model by model, over and over."""
    chosen = rng.permutation(models)[:count]
    rounds = np.array([len(range(int(model), available, models)) for model in chosen])
    return np.asarray(chosen + models * rng.integers(0, rounds))


def two_sample_rows(study: Study, results: Verdicts) -> list[dict[str, Any]]:
    """Return a row for every set."""
    out = []
    for name in dict.fromkeys(name for name, _ in results):
        row: dict[str, Any] = {"motion": study.name, "clips": name}
        last = None
        for count in COUNTS:
            found = results.get((name, count))
            row[f"differ, n={count}"] = "" if found is None else f"{found.share:.0%}"
            last = found or last
        if last is not None:
            row |= {"p": f"{last.p:.2f}", "by": ", ".join(last.by) or "nothing", "p texture": f"{last.texture_p:.2f}"}
        out.append(row)
    return out


def two_sample_claims(study: Study, results: Verdicts, quick: bool) -> list[Claim]:
    """Claim that variants are not distinguished where noise is; a quick run has too few clips to show it."""
    counts = [n for n in COUNTS if all((name, n) in results and results[name, n].share >= _MOST for name in NOISES)]
    where = (
        f"{study.name}: noise differs from takes with {counts[0]} clips or more"
        if counts
        else f"{study.name}: noise differs"
    )
    claims = [Claim(where, bool(counts), ours=not quick)]
    if counts:
        share = results["variants", counts[0]].share
        words = f"{study.name}: {counts[0]} variants do not ({share:.0%} of trials)"
        claims.append(Claim(words, share <= _FEW, ours=not quick))
    return claims


def two_sample_chart(study: Study, results: Verdicts) -> list[Chart]:
    """Return a chart of how often each set is distinguished from takes, by the number of clips."""
    counts = [n for n in COUNTS if ("variants", n) in results]
    if len(counts) < 2:
        return []
    names = list(dict.fromkeys(name for name, _ in results))
    series = tuple(Series(name, tuple(_percent(results.get((name, n))) for n in counts)) for name in names)
    title = f"{study.name}: trials in which clips differ from takes"
    words = tuple(str(n) for n in counts)
    return [
        Chart(
            name=f"differ-{study.name.replace(' ', '-')}",
            title=title,
            places=words,
            across="clips",
            up="% of trials",
            series=series,
            bars=True,
        )
    ]


def _percent(found: TrialResult | None) -> float | None:
    return None if found is None else 100.0 * found.share
