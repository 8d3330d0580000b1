"""Streams (Lau 2009, section 5.4): cycle after cycle for minutes, by the method as it is written and by ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gaitway.motion.clip import Clip
from gaitway.papers.tables import Claim
from gaitway.variation.evaluation.measures import cycle_lengths
from gaitway.variation.network.learning import learn
from gaitway.variation.network.options import LearnOptions
from gaitway.variation.sampling.streaming import Stream

SECONDS = 120.0
OURS, LITERAL = "ours", "as it is written"
_NOTE = (
    "streams: cycles are counted by poses, not by the model's clock; one that freezes has few and long ones; swing: of "
    "the last third over that of the first"
)


def stream_rows(name: str, takes: Sequence[Clip], rounds: int, seed: int) -> list[dict[str, Any]]:
    """Two minutes of a cyclic motion by both methods, beside the takes, which are cycles of it."""
    ways = {OURS: LearnOptions(), LITERAL: LearnOptions.thesis()}
    rows = []
    for way, options in ways.items():
        model = learn(takes, replace(options, cyclic=True, search=replace(options.search, rounds=rounds)))
        frames = round(SECONDS * model.degrees.fps)
        values, _ = Stream(model, np.random.default_rng(seed)).next(frames)
        lengths = cycle_lengths(model, values) / model.degrees.fps
        real = (np.array(model.lengths) - 1) / model.degrees.fps
        third = len(values) // 3
        rows.append(
            {
                "motion": name, "way": way, "cycles": len(lengths), "expected": round(SECONDS / float(real.mean())),
                "seconds": _spread(lengths), "takes": _spread(real),
                "swing": round(float(values[-third:].std(axis=0).mean() / values[:third].std(axis=0).mean()), 2),
            }
        )  # fmt: skip
    return rows


def _spread(values: Any) -> str:
    return f"{np.mean(values):.2f} +- {np.std(values):.2f}" if len(values) else "none"


def stream_claims(rows: Sequence[dict[str, Any]]) -> list[Claim]:
    """Ours neither freeze nor drift."""
    return [
        Claim(
            f"{row['motion']}: {SECONDS:.0f} s of stream neither freeze nor drift",
            abs(row["cycles"] - row["expected"]) <= 0.05 * row["expected"] + 1 and 0.8 <= row["swing"] <= 1.25,
        )
        for row in rows
        if row["way"] == OURS
    ]


def stream_notes(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What the table means, if there is one."""
    return [_NOTE] if rows else []
