"""Whether variants are told from takes that nobody has seen, and noise of the same size is (Lau 2009, section 5.6).

Variants of one model resemble the same four takes: only those of different models are independent witnesses. So a
trial draws some models and one clip of each, and compares them with held-out takes; how often they are told, of several
trials, is a fairer answer than one trial's p. Takes that are compared with takes show how many alarms are false.
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
"""How many clips are compared with takes."""
TRIALS = 16
TOLD = 0.05
NOISES = ("strawman noise", "Perlin noise")
TAKES = "takes, held out"
_PERMUTATIONS = 299
_MOST, _FEW = 0.75, 0.25
"""Shares of trials: noise is told in most, variants in no more than a few."""


@dataclass(frozen=True)
class Told:
    """What came of the trials of one set of clips at one number of them."""

    share: float
    """Of trials in which they are told from takes."""
    p: float
    """Median of the least p of all tests, times their number."""
    texture_p: float
    """Median p by roughness and by what lies off the directions in which takes differ."""
    by: tuple[str, ...]
    """What they are told by, the commonest first."""


Verdicts = dict[tuple[str, int], Told]
"""By what the clips are, and how many of them."""


def verdicts(study: Study, rng: np.random.Generator) -> Verdicts:
    """Every set against held-out takes, for more and more clips."""
    third = len(study.handle) // 3
    seen = {name: study.stick.features(clips) for name, clips in study.sets.items()}
    if third >= COUNTS[0]:
        seen = {TAKES: study.stick.features(study.handle[:third]), **seen}
    others = study.stick.features(study.handle[third:] if third >= COUNTS[0] else study.handle)
    if len(others["poses"]) < 3:
        return {}
    models = max(len(study.learnt), COUNTS[0])  # the four of a single model are better than nothing
    out = Verdicts()
    for name, rows in seen.items():
        available = len(rows["poses"])
        for count in COUNTS:
            if count <= min(available, models):
                alone = available if name == TAKES else models
                out[name, count] = _told(rows, others, count, alone, rng)
    return out


def _told(
    rows: dict[str, FloatArray], others: dict[str, FloatArray], count: int, models: int, rng: np.random.Generator
) -> Told:
    p, texture_p, by = list[float](), list[float](), Counter[str]()
    for _ in range(TRIALS):
        chosen = _drawn(len(rows["poses"]), models, count, rng)
        some = {group: values[chosen] for group, values in rows.items()}
        verdict = compare(some, others, rng, _PERMUTATIONS)
        p.append(verdict.least)
        by.update(verdict.told)
        texture_p.append(compare(some, others, rng, _PERMUTATIONS, groups=[TEXTURE]).least)
    share = float(np.mean(np.array(p) <= TOLD))
    often = tuple(name for name, times in by.most_common() if times > _FEW * TRIALS)
    return Told(share, float(np.median(p)), float(np.median(texture_p)), often)


def _drawn(available: int, models: int, count: int, rng: np.random.Generator) -> IntArray:
    """One clip each of some models; clips lie model by model, over and over."""
    chosen = rng.permutation(models)[:count]
    rounds = np.array([len(range(int(model), available, models)) for model in chosen])
    return np.asarray(chosen + models * rng.integers(0, rounds))


def told_rows(study: Study, told: Verdicts) -> list[dict[str, Any]]:
    """A row for every set."""
    out = []
    for name in dict.fromkeys(name for name, _ in told):
        row: dict[str, Any] = {"motion": study.name, "clips": name}
        last = None
        for count in COUNTS:
            found = told.get((name, count))
            row[f"told of {count}"] = "" if found is None else f"{found.share:.0%}"
            last = found or last
        if last is not None:
            row |= {"p": f"{last.p:.2f}", "by": ", ".join(last.by) or "nothing", "p texture": f"{last.texture_p:.2f}"}
        out.append(row)
    return out


def told_claims(study: Study, told: Verdicts, quick: bool) -> list[Claim]:
    """Where noise is told, variants are not; a handful of clips cannot show it where it is to be quick."""
    counts = [n for n in COUNTS if all((name, n) in told and told[name, n].share >= _MOST for name in NOISES)]
    where = f"{study.name}: noise is told from {counts[0]} clips on" if counts else f"{study.name}: noise is told"
    claims = [Claim(where, bool(counts), ours=not quick)]
    if counts:
        share = told["variants", counts[0]].share
        words = f"{study.name}: {counts[0]} variants are not ({share:.0%} of trials)"
        claims.append(Claim(words, share <= _FEW, ours=not quick))
    return claims


def told_chart(study: Study, told: Verdicts) -> list[Chart]:
    """How often each set is told from takes, by the number of clips."""
    counts = [n for n in COUNTS if ("variants", n) in told]
    if len(counts) < 2:
        return []
    names = list(dict.fromkeys(name for name, _ in told))
    series = tuple(Series(name, tuple(_percent(told.get((name, n))) for n in counts)) for name in names)
    title = f"{study.name}: trials in which clips are told from takes"
    words = tuple(str(n) for n in counts)
    return [Chart(f"told-{study.name.replace(' ', '-')}", title, words, "clips", "% of trials", series, bars=True)]


def _percent(found: Told | None) -> float | None:
    return None if found is None else 100.0 * found.share
