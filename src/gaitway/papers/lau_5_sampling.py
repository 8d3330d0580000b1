"""Streams (Lau 2009, section 5.4) and the dial (future work there).

A stream is cycle after cycle for minutes, by the method of the thesis and by ours. The dial is the gain that says how
far from the mean variants go, for the whole body or a part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from PIL import Image

from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import PARTS
from gaitway.motion.clip import Clip
from gaitway.papers.lau_5_sets import Study
from gaitway.papers.tables import Claim
from gaitway.render.sheets.variation_picture import TakeGroup, overlay_picture
from gaitway.variation.evaluation.features import Yardstick
from gaitway.variation.evaluation.measures import cycle_lengths
from gaitway.variation.learning.learn import learn
from gaitway.variation.network.model import LearnOptions, log_likelihood
from gaitway.variation.network.spread import TIMING
from gaitway.variation.sampling.streaming import Stream
from gaitway.variation.sampling.synthesis import Gain, sample_many

SECONDS = 120.0
OURS, LITERAL = "ours", "as it is written"
_STREAM_NOTE = (
    "streams: cycles are counted by poses, not by the model's phases; a stream that freezes has few and long ones; "
    "swing: of the last third over that of the first"
)
GAINS = (0.0, 0.5, 1.0, 2.0, 5.0)
PART = "left_arm"
_CLIPS = 16
DIAL_NOTE = (
    f"dial: spread of {_CLIPS} variants over that of the inputs, median over degrees of freedom, by part of the body; "
    "it levels off at the natural range; likelihood: mean logarithm of a frame and degree of freedom by the model, "
    "which has learnt from the takes"
)


def stream_rows(name: str, takes: Sequence[Clip], rounds: int, seed: int) -> list[dict[str, Any]]:
    """Compare two minutes of a cyclic motion by both methods with the takes, which are cycles of it."""
    ways = {OURS: LearnOptions(), LITERAL: LearnOptions.thesis()}
    rows = []
    for way, options in ways.items():
        model = learn(takes, replace(options, cyclic=True, search=replace(options.search, rounds=rounds)))
        frames = round(SECONDS * model.dofs.fps)
        values, _ = Stream(model, np.random.default_rng(seed)).next(frames)
        lengths = cycle_lengths(model, values) / model.dofs.fps
        real = (np.array(model.lengths) - 1) / model.dofs.fps
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
    """Claim that our streams neither freeze nor drift."""
    return [
        Claim(
            f"{row['motion']}: {SECONDS:.0f} s of stream neither freeze nor drift",
            abs(row["cycles"] - row["expected"]) <= 0.05 * row["expected"] + 1 and 0.8 <= row["swing"] <= 1.25,
        )
        for row in rows
        if row["way"] == OURS
    ]


def stream_notes(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the note about the table, if there is one."""
    return [_STREAM_NOTE] if rows else []


def dial_rows(study: Study, seed: int) -> list[dict[str, Any]]:
    """Measure variants of the first model at several gains, for all parts alike, then for one part alone."""
    one = study.learnt[0]
    stick = Yardstick.of(one.inputs)
    alone: dict[str, float] = {**dict.fromkeys((*PARTS, TIMING), 0.0), PART: GAINS[-2]}
    settings: dict[str, Gain] = {f"{gain:g}": gain for gain in GAINS} | {f"{PART} {alone[PART]:g}, else 0": alone}
    rows = []
    for words, gain in settings.items():
        clips = sample_many(one.model, np.random.default_rng(seed), _CLIPS, gain=gain)
        rows.append({"motion": study.name, "dial": words, **_figures(study, clips, stick)})
    rows.append({"motion": study.name, "dial": "takes", **_figures(study, one.inputs, stick)})
    return rows


def _figures(study: Study, clips: Sequence[Clip], stick: Yardstick) -> dict[str, Any]:
    model, parts = study.learnt[0].model, stick.dofs.parts
    wide = _spreads(clips, stick)
    likely = np.mean([log_likelihood(model, clip).mean() / len(model.dofs) for clip in clips])
    seconds = [clip.duration for clip in clips]
    return {
        **{name: round(float(np.median(wide[parts == k])), 2) for k, name in enumerate(PARTS) if (parts == k).any()},
        "seconds": f"{np.mean(seconds):.2f} +- {np.std(seconds):.2f}",
        "likelihood": round(float(likely), 2),
    }


def _spreads(clips: Sequence[Clip], stick: Yardstick) -> FloatArray:
    """Return the deviation between clips at equal phases, relative to that of the inputs; (D,)."""
    poses = np.array([stick.poses(clip) for clip in clips])
    return np.asarray(np.sqrt(poses.var(axis=0, ddof=1).mean(axis=0)) / stick.between)


def dial_claims(rows: Sequence[dict[str, Any]]) -> list[Claim]:
    """Claim that a greater gain goes farther, that 0 gives no variation, and that one part can vary alone."""
    name = rows[0]["motion"]
    turned = rows[: len(GAINS)]
    alone = rows[len(GAINS)]
    others = [part for part in PARTS if part != PART and part in alone]
    rising = all(a[part] < b[part] for a, b in pairwise(turned) for part in (PART, *others))
    return [
        Claim(f"{name}: every part goes farther as the dial is turned up", rising),
        Claim(f"{name}: at 0 all variants are the mean motion", all(turned[0][part] < 0.02 for part in others)),
        Claim(f"{name}: one part varies alone", all(alone[part] < 0.5 * alone[PART] for part in others)),
    ]


def dial_picture(study: Study, seed: int) -> Image.Image:
    """Draw variants over one another for three gains."""
    model = study.learnt[0].model
    groups = [
        TakeGroup(f"dial at {gain:g}", sample_many(model, np.random.default_rng(seed), 8, gain=gain))
        for gain in (0.5, 1.0, 2.0)
    ]
    return overlay_picture(groups, title=f"{study.name}: how far from the mean")
