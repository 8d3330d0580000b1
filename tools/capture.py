"""Captures on the person skeleton, as the fitting tools and the measurements read them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.formats import load_clip
from gaitway.motion.retarget import retarget

FIRST_FRAMES = 3
"""Number of frames that are left out at the start of every take: several takes jump there."""


@dataclass(frozen=True)
class Capture:
    """One file of the capture folder."""

    path: Path
    subject: str
    fps: float
    """The true frame rate [Hz]; some headers are wrong."""
    kind: str
    """Kind of motion in the index; "accad" for the ACCAD set, whose file names say more."""


def captures(folder: Path) -> list[Capture]:
    """Return all takes that the folder's two index files list."""
    with (folder / "index.csv").open(encoding="utf-8") as file:
        found = [
            Capture(folder / row["file"], row["subject"], float(row["true_fps"]), row["category"])
            for row in csv.DictReader(file)
        ]
    with (folder / "index_accad.csv").open(encoding="utf-8") as file:
        found += [
            Capture(folder / "bvh_accad" / row["file"], "accad", float(row["fps"]), "accad")
            for row in csv.DictReader(file)
        ]
    return found


def on_person(path: Path, fps: float | None = None) -> Clip:
    """Return a capture on the person skeleton: feet flat where they rest, mean gaze level, floor at height 0."""
    clip = retarget(load_clip(path, file_fps=fps), person_skeleton(), flat_feet=True, level_gaze=True)
    return replace(
        clip, root_positions=clip.root_positions[FIRST_FRAMES:], rotations=clip.rotations[FIRST_FRAMES:], name=path.stem
    )


def other_side(names: Sequence[str]) -> list[int]:
    """Return for each joint name the index of its counterpart on the other side, or its own."""
    swap = {"Left": "Right", "Right": "Left"}
    return [list(names).index(next((swap[s] + n[len(s) :] for s in swap if n.startswith(s)), n)) for n in names]


def world_headings(q: FloatArray) -> FloatArray:
    """Return where the x axis of world rotations (F, 4) points [rad], continuous; (F,)."""
    ahead = rotations.rotate(q, [1.0, 0.0, 0.0])
    return np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))
