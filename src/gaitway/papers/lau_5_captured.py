"""Captured motions for the results of chapter 5: cycles of subjects with several takes.

Cycles are cut where a motion recurs. Those that do not go with the others are left out (section 5.7). Models are learnt
from four cycles each, and cycles that no model has seen are held out. There are few takes of one person, so every
figure comes with its standard error, found by leaving out one clip after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError, VariationError
from gaitway.core.progress import Progress
from gaitway.motion.clip import Clip
from gaitway.motion.quality import foot_slide
from gaitway.papers.lau_5_sets import INPUTS, Sizes, Study, learn_from, study_of
from gaitway.variation.evaluation.features import Yardstick
from gaitway.variation.evaluation.measures import roughness, spread_of
from gaitway.variation.inputs.cycles import capture_of
from gaitway.variation.inputs.input_selection import select_takes
from gaitway.variation.inputs.repeats import RepeatOptions, captured_repeats
from gaitway.variation.sampling.constraints import constrained

_WALK = RepeatOptions(shortest_s=0.8, longest_s=1.8, straight=np.radians(10.0))
_FEMALE = tuple(
    f"Female1_{name}"
    for name in (
        "B03_Walk1", "B09_WalkTurnLeft90", "B10_WalkTurnLeft45", "B11_WalkTurnLeft135", "B12_WalkTurnRight90",
        "B13_WalkTurnRight45", "B14_WalkTurnRight135", "B16_WalkTurnChangeDirection",
    )
)  # fmt: skip


@dataclass(frozen=True)
class CapturedMotion:
    """A motion of one subject, and the captures that it is cut from."""

    name: str
    files: tuple[str, ...]
    options: RepeatOptions = field(default_factory=RepeatOptions)


MOTIONS = (
    CapturedMotion("walk of subject 35", ("35_01", "35_02", "35_03", "35_04"), _WALK),
    CapturedMotion("walk of subject 16", ("16_21", "16_22"), _WALK),
    CapturedMotion("walk of Female1", _FEMALE, _WALK),
    CapturedMotion("run of subject 09", ("09_01", "09_02", "09_03", "09_04", "09_05", "09_06")),
    CapturedMotion("run of subject 35", ("35_17", "35_18", "35_19", "35_20")),
    CapturedMotion("breast stroke of subject 126", ("126_04",)),
)
"""Motions of CMU's database, and of ACCAD's Female1. Neither has four similar takes of a subject who cheers or
jumps."""
MISSING = (
    "captures: no subject cheers, and none does one jump more than twice (118_03, 118_10); swimming 79_02 and waving "
    "111_37 do not recur within the take"
)
_WALKERS = {
    "35": ("35_01", "35_02", "35_03", "35_04"),
    "16": ("16_15", "16_21", "16_22", "16_58"),
    "39": ("39_01", "39_02", "39_11"),
    "07": ("07_01", "07_02", "07_03", "07_04", "07_12"),
}
"""Subjects with several takes of walking; section 5.7 selects the takes that go together."""
_MOST_MODELS, _FEW = 4, 6
"""Greatest number of models of one motion, and number of variants of each but the first."""


def captured_studies(folder: Path | None, sizes: Sizes, seed: int, progress: Progress) -> tuple[list[Study], list[str]]:
    """Return studies of all captured motions that a folder has enough takes of, and notes about them."""
    studies, notes = list[Study](), list[str]()
    for number, motion in enumerate(MOTIONS):
        files = found_files(folder, motion.files)
        if not files:
            continue
        progress(f"learning the {motion.name}", number, len(MOTIONS))
        try:
            study, said = captured_study(motion.name, files, sizes, seed, motion.options)
        except VariationError as error:
            notes.append(f"{motion.name}: {error}")
            continue
        studies.append(study)
        notes.append(said)
    return studies, [*notes, MISSING] if studies else notes


def captured_study(
    name: str,
    files: Sequence[Path],
    sizes: Sizes,
    seed: int,
    options: RepeatOptions = RepeatOptions(),  # noqa: B008
) -> tuple[Study, str]:
    """Study cycles of a captured subject: models learnt from four each are compared with cycles that none has seen."""
    cycles, rng = captured_repeats(files, options), np.random.default_rng([seed, 6])
    source_of = capture_of if len(files) > 1 else None
    selection = select_takes(cycles, rng=rng, source_of=source_of)
    kept = list(selection.kept or cycles)  # four that are not wholly alike are still all there is
    order = rng.permutation(len(kept))
    count = int(np.clip((len(kept) - INPUTS) // INPUTS, 1, min(sizes.models, _MOST_MODELS)))
    learnt = []
    for number in range(count):
        inputs = [kept[k] for k in order[INPUTS * number : INPUTS * (number + 1)]]
        few = sizes if number == 0 else replace(sizes, variants=min(sizes.variants, _FEW))
        learnt.append(learn_from(inputs, few, rng, _finished))
    held = [kept[k] for k in order[INPUTS * count :]]
    said = (
        f"{name}: {len(cycles)} cycles of {len(files)} captures, {len(cycles) - len(kept)} left out (5.7), "
        f"{count} model{'s' if count > 1 else ''} of {INPUTS}, {len(held)} held out"
    )
    return study_of(name, Yardstick.of(kept), held, learnt, rng), said


def _finished(clip: Clip, takes: Sequence[Clip]) -> Clip:
    """Return the clip with still feet where they rest; a swimmer has no contacts."""
    return constrained(clip) if clip.contacts is not None else clip


def captured_rows(studies: Sequence[Study]) -> list[dict[str, Any]]:
    """Return figures of real takes, of variants and of noise, each with its standard error."""
    out = []
    for study in studies:
        real = [*study.held, *(take for one in study.learnt for take in one.inputs)]
        sets = {"takes": real, "variants": study.sets["variants"]} | {
            name: study.sets[name] for name in ("strawman noise", "Perlin noise")
        }
        for name, clips in sets.items():
            out.append({"motion": study.name, "clips": name, "n": len(clips), **_figures(clips, study.stick)})
    return out


def _figures(clips: Sequence[Clip], stick: Yardstick) -> dict[str, str]:
    seconds = np.array([clip.duration for clip in clips])
    rough = np.array([roughness(clip, stick) for clip in clips])
    slides = [foot_slide(clip) for clip in clips if clip.contacts is not None]
    spread = _uncertain(lambda some: spread_of([clips[k] for k in some], stick), len(clips))
    deviation = _uncertain(lambda some: float(seconds[some].std(ddof=1)), len(clips))
    slide = np.array([1e3 * found.mean() for found in slides if len(found)])
    return {
        "seconds": _said(float(seconds.mean()), float(seconds.std(ddof=1)) / np.sqrt(len(clips)), 3),
        "their spread": _said(*deviation, 3),
        "spread": _said(*spread, 2),
        "rough": _said(float(np.exp(rough.mean())), float(rough.std(ddof=1)) / np.sqrt(len(clips)), 2),
        "slide mm": _said(float(slide.mean()), float(slide.std(ddof=1)) / np.sqrt(len(slide)), 1)
        if len(slide) > 1
        else "",
    }


def _uncertain(measure: Callable[[list[int]], float], count: int) -> tuple[float, float]:
    """Return a figure of some clips, and its standard error by leaving out one after another (jackknife)."""
    every = list(range(count))
    without: FloatArray = np.array([measure([k for k in every if k != gone]) for gone in every])
    return measure(every), float(np.sqrt((count - 1.0) * without.var()))


def _said(value: float, error: float, places: int) -> str:
    return f"{value:.{places}f} +- {error:.{places}f}"


def captured_walkers(folder: Path | None) -> dict[str, list[Path]]:
    """Return the capture files of walking subjects in a folder, if one is named; only subjects with enough takes.

    Raises:
        GaitwayError: if the path is not a folder.
    """
    found = {subject: found_files(folder, names) for subject, names in _WALKERS.items()}
    return {subject: files for subject, files in found.items() if len(files) > 1}


def found_files(folder: Path | None, names: Sequence[str]) -> list[Path]:
    """Return captures of these names in a folder, or in those below it; none if no folder is named.

    Raises:
        GaitwayError: if the path is not a folder.
    """
    if folder is None:
        return []
    if not folder.is_dir():
        raise GaitwayError(f"{folder} is no folder; name one with captures such as 35_01.bvh")
    return [file for name in names for file in sorted(folder.rglob(f"{name}.bvh"))[:1]]
