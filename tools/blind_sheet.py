"""Mix generated and captured motion on one unlabelled sheet, to see whether the generated ones stand out.

    python tools/blind_sheet.py CAPTURE_FOLDER -o sheet.png --seed 3

Writes the sheet and, beside it, a text file with the key. Look at the sheet first, write down your guesses, then open
the key. Captures are retargeted to the same body, cut to about the same length and drawn alike.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.cast.person.styles import STYLES
from gaitway.motion import Clip
from gaitway.motion.blending import concatenate
from gaitway.motion.editing import slice_seconds
from gaitway.motion.formats import load_clip
from gaitway.motion.retarget import retarget
from gaitway.render import filmstrip

CAPTURES = (
    # file, true rate where the header lies, seconds to show
    ("bvh/35_01.bvh", None, (0.6, 2.2)),
    ("bvh/07_01.bvh", None, (0.4, 2.0)),
    ("bvh/08_01.bvh", None, (0.3, 1.9)),
    ("bvh/16_12.bvh", None, (1.0, 2.6)),
    ("bvh_accad/Female1_B03_Walk1.bvh", None, (2.0, 3.6)),
    ("bvh_accad/Female1_B10_WalkTurnLeft45.bvh", None, (3.0, 4.6)),
    ("bvh/35_17.bvh", None, (0.1, 1.3)),
    ("bvh/16_35.bvh", None, (0.1, 1.3)),
    ("bvh/127_25.bvh", None, (0.2, 1.8)),
    ("bvh/127_29.bvh", None, (0.0, 1.7)),
    ("bvh_accad/Female1_B05_WalkBackwards.bvh", None, (4.0, 5.6)),
    ("bvh_accad/Female1_B01_StandToWalk.bvh", None, (2.2, 4.2)),
)
GENERATED = (
    ("walk_forward", "walk_forward"),
    ("walk_left_30", "walk_forward"),
    ("walk_forward", "walk_right_15"),
    ("start_walk", "walk_forward"),
    ("jog_forward", "jog_forward"),
    ("jog_right_30", "jog_forward"),
    ("jog_forward", "jump"),
    ("walk_forward", "duck"),
    ("back_walk", "back_walk"),
)


def captured(folder: Path) -> list[tuple[str, Clip]]:
    """Return captures on the built-in body, cut to the seconds above."""
    skeleton = load_cast("person", behaviors=["stand"]).skeleton
    rows = []
    for file, rate, (start, stop) in CAPTURES:
        clip = retarget(load_clip(folder / file, file_fps=rate, fps=30.0), skeleton, flat_feet=True, level_gaze=True)
        rows.append((f"captured  {file}", slice_seconds(clip, start, min(stop, clip.duration))))
    return rows


def generated(rng: np.random.Generator) -> list[tuple[str, Clip]]:
    """Return pairs of built-in clips, each by another style."""
    rows = []
    for names in GENERATED:
        style = STYLES[int(rng.integers(len(STYLES)))].name
        cast = load_cast("person", style=style, seed=int(rng.integers(1000)), behaviors=list(dict.fromkeys(names)))
        clips = [cast.clips[n] for n in names]
        rows.append((f"generated {' + '.join(names)} by {style}", concatenate(clips, overlap=False)))
    return rows


def main() -> None:
    """Draw the sheet and write its key."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with bvh/ and bvh_accad/")
    parser.add_argument("-o", "--out", type=Path, default=Path("blind.png"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--view", default="side")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    rows = captured(options.folder) + generated(rng)
    rows = [rows[i] for i in rng.permutation(len(rows))]
    letters = [chr(ord("A") + i) for i in range(len(rows))]
    filmstrip([clip for _, clip in rows], options.out, columns=14, labels=letters, view=options.view, times=False)
    key = options.out.with_suffix(".key.txt")
    key.write_text("".join(f"{a}  {what}\n" for a, (what, _) in zip(letters, rows, strict=True)), encoding="utf-8")
    print(f"wrote {options.out}; the key is {key}")


if __name__ == "__main__":
    main()
