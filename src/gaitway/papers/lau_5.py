"""Variation (Lau 2009, chapter 5): variants learnt from four takes beside true takes, noise and cycle animation.

The thesis asked fifteen people how natural and how repetitive motions look. Here two-sample tests replace the people.
The built-in person can generate hundreds of takes that no model has seen: tests should not distinguish variants from
these, but should distinguish noise of the same size. Captures are compared in the same way if the user names a folder
of them (CMU's subjects 35 and 16). There are few takes of one person, so their figures say less.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short
from PIL import Image

from gaitway.core.arrays import FloatArray
from gaitway.core.progress import Progress
from gaitway.motion.clip import Clip
from gaitway.motion.footskate import clean_footskate
from gaitway.motion.quality import foot_slide
from gaitway.papers.lau_5_captured import captured_rows, captured_studies, captured_walkers
from gaitway.papers.lau_5_figures import curves_of, noise_picture, poses_picture, single_picture, strip_clips
from gaitway.papers.lau_5_sampling import (
    DIAL_NOTE,
    dial_claims,
    dial_picture,
    dial_rows,
    stream_claims,
    stream_notes,
    stream_rows,
)
from gaitway.papers.lau_5_selection import known_answers, selection_rows
from gaitway.papers.lau_5_sets import (
    FULL,
    MOTIONS,
    QUICK,
    Study,
    generated_study,
)
from gaitway.papers.lau_5_two_sample import (
    TRIALS,
    Verdicts,
    two_sample_chart,
    two_sample_claims,
    two_sample_rows,
    verdicts,
)
from gaitway.papers.tables import Claim, PaperOptions, PaperTable, kept
from gaitway.render.sheets.strips import filmstrip
from gaitway.variation.evaluation.gate import joint_difference, velocity_change_limits
from gaitway.variation.evaluation.measures import figures, pooled_spread
from gaitway.variation.evaluation.two_sample import nearest
from gaitway.variation.sampling.constraints import THESIS_OPTIONS, constrained
from gaitway.variation.sampling.end_matching import velocity_changes
from gaitway.variation.sampling.synthesis import sample_many

_ODD_SETS = 8
"""Number of sets of takes, each with one that does not belong."""
_SEQUENCE = 15
"""Number of clips of a long sequence, as in the thesis."""
_SEQUENCES = 12
"""Number of long sequences of each kind."""
NOTES = (
    "thesis: 30 to 120 min to learn, 200 ms for a second of motion; p 0.930 (cheer) and 0.578 (walk) that variants are "
    "as natural as capture; p 1.0e-8 and 4.5e-8 that they are less repetitive than cycle animation (user studies)",
    "spread: deviation of poses about their mean, over that of takes; alike: distance to the most similar other clip "
    "of the set, in deviations; new: distance to the most similar input; rough: third differences over those of takes; "
    "slide: mean over stances",
    f"differ, n=4, 8, 12: share of {TRIALS} trials in which n clips, each of another model, differ from held-out takes "
    "by energy distance or by a classifier on poses, velocities, timing or correlations (least p of eight tests, times "
    "eight, up to 0.05); p: the median with the most clips; p texture: by roughness and by what lies off the "
    "directions in which takes differ; generated takes lie in few directions, so this test detects tiny differences",
)


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Learn, sample, constrain and compare; a quick run has one motion and fewer models."""
    sizes, motions = (QUICK, MOTIONS[:1]) if options.quick else (FULL, MOTIONS)
    walkers = {} if options.quick else captured_walkers(options.mocap)
    total, studies = len(motions), list[Study]()
    for number, motion in enumerate(motions):
        progress(f"learning {motion}", number, total)
        studies.append(generated_study(motion, sizes, options.seed))
    generated = len(studies)
    captured, captured_notes = captured_studies(None if options.quick else options.mocap, sizes, options.seed, progress)
    studies += captured
    rng = np.random.default_rng([options.seed, 55])
    looks = [row for study in studies for row in _figure_rows(study)]
    results = {study.name: verdicts(study, rng) for study in studies}
    tests = [row for study in studies for row in two_sample_rows(study, results[study.name])]
    progress("streams", len(studies), total)
    streams = [
        row
        for study in studies
        if study.name not in MOTIONS or study.name.startswith("walk")
        for row in stream_rows(study.name, study.learnt[0].inputs, sizes.rounds, options.seed)
    ]
    planted, repeats = _constraint_rows(studies[0]), [_repetition_row(study, rng) for study in studies]
    dial = dial_rows(studies[0], options.seed)
    chosen, selection_notes, charts = selection_rows(walkers, options, progress)
    odd, odd_notes = known_answers(1 if options.quick else _ODD_SETS, options.seed, progress)
    claims = [*_claims(studies[:generated], looks, results, repeats, options.quick), *stream_claims(streams)]
    claims += dial_claims(dial)
    notes = [*NOTES, *stream_notes(streams), DIAL_NOTE, *captured_notes, *odd_notes, *selection_notes]
    if not walkers:
        notes.append(
            "captures are not shipped: --mocap FOLDER with takes such as 35_01.bvh runs sections 5.6 and 5.7 on walks"
        )
    parts = (
        ("What clips are like", looks), ("Captured motions, with standard errors", captured_rows(captured)),
        ("Do clips differ from takes that no model has seen?", tests),
        ("Repetition in long sequences (experiment B)", repeats), ("Streams (5.4)", streams),
        ("Constraints (5.5)", planted), ("The dial", dial),
        ("Selection of inputs (5.7): odd takes among good ones", odd),
        ("Selection of inputs (5.7): captured cycles", chosen),
    )  # fmt: skip
    return PaperTable(
        "Lau 2009, chapter 5: variants of motion",
        tuple(row for _, rows in parts for row in rows),
        (*notes, *(claim.note for claim in claims)),
        kept(claims),
        tuple((title, len(rows)) for title, rows in parts if rows),
        data=tuple(_plain(studies, looks, tests)),
        charts=(*(chart for study in studies for chart in two_sample_chart(study, results[study.name])), *charts),
        pictures=tuple(_pictures(studies, options.seed)),
    )


def _figure_rows(study: Study) -> list[dict[str, Any]]:
    one = study.learnt[0]
    inputs, drawn = one.inputs, list(one.raw)
    sets = {
        "takes, held out": list(study.held), "the inputs": list(inputs), "as drawn": drawn, **study.sets,
        "variants": list(one.variants),
    }  # fmt: skip
    out = []
    for name, clips in sets.items():
        if len(clips) < 2:
            continue
        f = figures(clips, inputs, study.stick)
        row = {
            "motion": study.name, "clips": name, "n": len(clips),
            "seconds": f"{f.seconds:.2f} +- {f.seconds_spread:.2f}",
            "spread": round(f.spread, 2), "alike": round(f.repetition, 2), "new": round(f.novelty, 2),
            "rough": round(f.roughness, 2), "slide mm": round(1e3 * f.slide, 1),
        }  # fmt: skip
        out.append(row)
    return out


def _repetition_row(study: Study, rng: np.random.Generator) -> dict[str, Any]:
    """Measure the similarity of the two most similar clips in long sequences of variants, and of inputs at random."""
    nearby: dict[str, list[float]] = {"variants": [], "cycle animation": []}
    for trial in range(_SEQUENCES):
        one = study.learnt[trial % len(study.learnt)]
        repeated = [one.inputs[k] for k in rng.integers(len(one.inputs), size=_SEQUENCE)]
        for name, clips in (("variants", sample_many(one.model, rng, _SEQUENCE)), ("cycle animation", repeated)):
            nearby[name].append(float(nearest(_shapes(study, clips))[0].min()))
    p = scipy.stats.mannwhitneyu(nearby["variants"], nearby["cycle animation"], alternative="greater").pvalue
    return {
        "motion": study.name,
        "variants": round(float(np.mean(nearby["variants"])), 3),
        "cycle animation": round(float(np.mean(nearby["cycle animation"])), 3),
        "p": f"{p:.1e}",
        "thesis p": {"cheer": "1.0e-8", "walk_forward": "4.5e-8"}.get(study.name, ""),
    }


def _shapes(study: Study, clips: list[Clip]) -> FloatArray:
    rows = np.array([study.stick.poses(clip).reshape(-1) for clip in clips])
    return np.asarray(rows / np.sqrt(rows.shape[1]))


def _constraint_rows(study: Study) -> list[dict[str, Any]]:
    """Measure feet as drawn, after the foot-skate clean-up, with the thesis's weights, and with ours."""
    one = study.learnt[0]
    raw, usual = one.raw[:6], velocity_change_limits(one.inputs)
    ways = {
        "as drawn": lambda clip: clip,
        "footskate clean-up": clean_footskate,
        "5.7, weights 1 and 5": partial(constrained, constraints=None, options=THESIS_OPTIONS),
        "5.7, all frames and the root": constrained,
    }
    out = []
    for name, way in ways.items():
        began = time.perf_counter()
        done = [way(clip) for clip in raw]  # type: ignore[operator]
        spent = (time.perf_counter() - began) / len(raw)
        slide = np.concatenate([foot_slide(clip) for clip in done])
        changed = np.degrees(np.mean([joint_difference(a, b) for a, b in zip(raw, done, strict=True)]))
        out.append(
            {
                "motion": study.name, "way": name, "slide mm": round(1e3 * float(slide.mean()), 2),
                "most mm": round(1e3 * float(slide.max(initial=0.0)), 2),
                "sudden": round(float(max((velocity_changes(clip) / usual).max() for clip in done)), 2),
                "changed deg": round(float(changed), 2),
                "s a clip": round(spent, 3),
            }
        )  # fmt: skip
    return out


def _claims(
    studies: list[Study], looks: list[dict[str, Any]], results: dict[str, Verdicts], repeats: list[dict[str, Any]],
    quick: bool,
) -> list[Claim]:  # fmt: skip
    """Return what must hold; in a quick run some claims are only reported, because a few clips cannot show them."""
    out = []
    for study, repeated in zip(studies, repeats, strict=False):
        of = {row["clips"]: row for row in looks if row["motion"] == study.name}
        ours, real = of["variants"], of["takes, held out"]
        given = pooled_spread([one.inputs for one in study.learnt], study.stick)
        wide = pooled_spread([one.variants for one in study.learnt], study.stick) / given
        out += two_sample_claims(study, results[study.name], quick)
        out += [
            Claim(
                f"{study.name}: spread {wide:.2f} times that of the inputs, all models (0.8 to 1.25)",
                0.8 <= wide <= 1.25,
                not quick,
            ),
            Claim(f"{study.name}: not rougher than takes", ours["rough"] <= 1.15 * real["rough"]),
            Claim(f"{study.name}: feet slide no more than takes'", ours["slide mm"] <= real["slide mm"] + 1.0),
            Claim(f"{study.name}: less repetitive than cycle animation", float(repeated["p"]) < 1e-3),
            Claim(f"{study.name}: no copy of an input", ours["new"] > 0.02),
        ]
    return out


def _pictures(studies: list[Study], seed: int) -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = []
    for study in studies:
        name = study.name.replace(" ", "-")
        out += [(f"{name}-poses", partial(poses_picture, study)), (f"{name}-curves", partial(curves_of, study))]
        out.append((f"{name}-strip", partial(_strip, study)))
    out.append((f"{studies[0].name}-noise", partial(noise_picture, studies[0], seed)))
    out.append((f"{studies[0].name}-dial", partial(dial_picture, studies[0], seed)))
    out.append((f"{studies[-1].name.replace(' ', '-')}-single", partial(single_picture, studies[-1], seed)))
    return out


def _strip(study: Study) -> Image.Image:
    return filmstrip(strip_clips(study.learnt[0]), columns=10, view="three-quarter", row_height=150)


def _plain(studies: list[Study], looks: list[dict[str, Any]], tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one number a row, for programs."""
    out = []
    for study in studies:
        for key, ours, thesis in (
            ("seconds to learn", np.mean([one.learn_s for one in study.learnt]), "1800 to 7200"),
            ("ms for a second of motion", 1e3 * np.mean([one.sample_s for one in study.learnt]), "200"),
        ):
            out.append(
                {
                    "motion": study.name,
                    "clips": "variants",
                    "what": key,
                    "ours": round(float(ours), 2),
                    "thesis": thesis,
                }
            )
    for row in [*looks, *tests]:
        for key, value in row.items():
            if key not in ("motion", "clips"):
                out.append({"motion": row["motion"], "clips": row["clips"], "what": key, "ours": value, "thesis": ""})
    return out
