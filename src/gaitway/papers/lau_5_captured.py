"""Captured motions that chapter 5's results are run on: cycles of subjects who were taken several times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gaitway.errors import GaitwayError
from gaitway.papers.lau_5_sets import INPUTS, Sizes, Study, learn_from, study_of
from gaitway.variation.constraints import constrained
from gaitway.variation.cycles import captured_cycles
from gaitway.variation.features import Yardstick

_WALKERS = {
    "35": ("35_01", "35_02", "35_03", "35_04"),
    "16": ("16_15", "16_21", "16_22", "16_58"),
    "39": ("39_01", "39_02", "39_11"),
    "07": ("07_01", "07_02", "07_03", "07_04", "07_12"),
}
"""Subjects with several takes of walking straight ahead in one and the same database."""


def captured_study(subject: str, files: Sequence[Path], sizes: Sizes, seed: int) -> Study:
    """Walk cycles of a captured subject: learnt from four, compared with the others."""
    cycles, rng = captured_cycles(files), np.random.default_rng([seed, 6])
    order = rng.permutation(len(cycles))
    inputs, held = [cycles[k] for k in order[:INPUTS]], [cycles[k] for k in order[INPUTS:]]
    learnt = learn_from(inputs, sizes, rng, lambda clip, takes: constrained(clip))
    return study_of(f"walk of subject {subject}", Yardstick.of(cycles), held, [learnt], rng)


def captured_walkers(folder: Path | None) -> dict[str, list[Path]]:
    """Capture files of walking subjects in a folder, if one is named; those with enough takes only.

    Raises:
        GaitwayError: if what is named is no folder.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        raise GaitwayError(f"{folder} is no folder; name one with captures such as 35_01.bvh")
    found = {
        subject: [file for name in names for file in sorted(folder.rglob(f"{name}.bvh"))[:1]]
        for subject, names in _WALKERS.items()
    }
    return {subject: files for subject, files in found.items() if len(files) > 1}
