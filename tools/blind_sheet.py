"""Mix people of a planned take and captured people on one unlabelled sheet, to see whether ours stand out.

    python tools/blind_sheet.py CAPTURE_FOLDER -o sheet.png --seed 3

Writes the sheet and, beside it, a text file with the key. Look at the sheet first, write down your guesses, then open
the key. Ours are people as users get them: planned, with looks, rhythm and ways to stand of their own. Captures are
retargeted to the same body, cut to about the same length and drawn alike.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.motion import Clip
from gaitway.motion.editing import slice_seconds
from gaitway.motion.formats import load_clip
from gaitway.motion.retarget import retarget
from gaitway.planning import plan_scene
from gaitway.render import filmstrip
from gaitway.scene import scene_from_dict
from gaitway.take.model import Take

CAPTURES = (
    # file, seconds to show
    ("bvh/35_01.bvh", (0.6, 2.2)),
    ("bvh/07_01.bvh", (0.4, 2.0)),
    ("bvh/08_01.bvh", (0.3, 1.9)),
    ("bvh/16_12.bvh", (1.0, 2.6)),
    ("bvh_accad/Female1_B03_Walk1.bvh", (2.0, 3.6)),
    ("bvh_accad/Female1_B10_WalkTurnLeft45.bvh", (3.0, 4.6)),
    ("bvh_accad/Female1_B01_StandToWalk.bvh", (0.2, 1.8)),  # stands
    ("bvh_accad/Female1_B01_StandToWalk.bvh", (2.2, 3.8)),
    ("bvh_accad/Female1_B02_WalkToStand.bvh", (3.6, 5.2)),  # stands
    ("bvh_accad/Female1_B02_WalkToStand.bvh", (2.0, 3.6)),
    ("bvh/111_29.bvh", (1.0, 2.6)),  # steps over
    ("bvh/77_09.bvh", (3.0, 4.6)),  # ducks
    ("bvh/127_29.bvh", (0.1, 1.7)),  # ducks at a run
)
GENERATED = (
    # words that begin the name of the behaviour, between which times in it the cut begins [s], how many people
    (("walk_forward",), (0.0, 0.6), 3),
    (("walk_left", "walk_right"), (-0.3, 0.3), 2),
    (("start_walk",), (-0.3, 0.3), 1),
    (("stop_walk",), (-0.6, 0.0), 1),
    (("stand", "wait", "shift_feet"), (0.8, 2.0), 3),
    (("step_over",), (0.0, 0.8), 3),
    (("duck", "dip", "stoop"), (0.0, 0.9), 3),
)
SECONDS = 1.6
"""Length of each cut [s]."""


def captured(folder: Path) -> list[tuple[str, Clip]]:
    """Return captures on the built-in body, cut to the seconds above."""
    skeleton = load_cast("person", behaviors=["stand"]).skeleton
    rows = []
    for file, (start, stop) in CAPTURES:
        clip = retarget(load_clip(folder / file, fps=30.0), skeleton, flat_feet=True, level_gaze=True)
        rows.append((f"captured  {file}", slice_seconds(clip, start, min(stop, clip.duration))))
    return rows


def planned(seed: int) -> Take:
    """Return a take of people who walk, turn around pillars, pass a low fence and a beam, and stand."""
    scene = scene_from_dict({
        "gaitway": 1,
        "bounds": [0, 0, 24, 18],
        "seed": seed,
        "library": {"cast": "person", "style": "drawn"},
        "obstacles": [
            *({"cylinder": {"center": [6 + 3 * k, 3 + (k % 2)], "radius": 0.4, "height": 2.0}} for k in range(4)),
        ],
        "specials": [
            {"jump": {"center": [12, 9], "size": [0.1, 6], "height": 0.3}},
            {"duck": {"center": [12, 15], "size": [0.3, 6], "clearance": 1.4}},
        ],
        "characters": [
            {"name": name, "count": 5, "start_area": [1, low, 5, high], "goal_area": [19, low, 23, high]}
            for name, low, high in (("a", 1, 5), ("b", 7, 11), ("c", 13, 17))
        ],
        "end": 30,
    })  # fmt: skip
    return plan_scene(scene, seed=seed).take


def generated(seed: int, rng: np.random.Generator) -> list[tuple[str, Clip]]:
    """Return cuts of people of a take, each behaviour by other people."""
    take, rows = planned(seed), []
    for words, between, count in GENERATED:
        found = []
        for who in rng.permutation(len(take)).tolist():
            part = take.segments
            for row in range(take.rows[who], take.rows[who + 1]):
                name = take.behaviors[part.behavior[row]]
                begin = float(part.start[row]) - take.start(who) + float(rng.uniform(*between))
                if name.startswith(words) and begin >= 0.0 and begin + SECONDS <= take.ends[who] - take.start(who):
                    found.append((who, name, begin))
                    break
        for who, name, begin in found[:count]:
            rows.append(
                (f"generated {name} by {take.names[who]}", slice_seconds(take.clip(who, 30.0), begin, begin + SECONDS))
            )
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
    rows = captured(options.folder) + generated(options.seed, rng)
    rows = [rows[i] for i in rng.permutation(len(rows))]
    letters = [chr(ord("A") + i) for i in range(len(rows))]
    filmstrip([clip for _, clip in rows], options.out, columns=14, labels=letters, view=options.view, times=False)
    key = options.out.with_suffix(".key.txt")
    key.write_text("".join(f"{a}  {what}\n" for a, (what, _) in zip(letters, rows, strict=True)), encoding="utf-8")
    print(f"wrote {options.out}; the key is {key}")


if __name__ == "__main__":
    main()
