"""Compare the cast's locomotion with captures, by the same figures for both.

    python tools/measure_gait.py CAPTURE_FOLDER

Prints the captures' ranges and then one line a clip of the cast. All at 30 Hz on the person skeleton.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from capture import captures, on_person
from gaitway.cast.person.gait.clips import locomotion_clips
from gaitway.cast.person.gait.stride import NEUTRAL
from gaitway.cast.person.styles import STYLES
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts, stances
from gaitway.motion.editing import place, resample

FPS = 30.0
KINDS = {
    "walk": r"^(02_0[12]|05_01|07_0[123]|08_0[12]|16_(15|21|22|58)|35_0[1-4]|38_0[12]|39_0[12]|93_07|Female1_B03)",
    "jog": r"^(02_03|09_0[1-6]|16_(35|36|55|56)|35_(17|18|19|20)|127_03)",
    "turn": r"^(16_(11|12|13|17|18|19|23|24|25|26|37|38|39|40)|127_(09|11|15)|Female1_(B09|B1[0-4]|C1[1-6]))",
    "start/stop": r"^(16_(08|33|34|57)|127_(05|17|19)|131_01|Female1_(B0[12]|C02))",
    "back": r"^(Female1_B05|69_53)",
}


@dataclass(frozen=True)
class Figures:
    """Measurements of a clip."""

    skate: float
    """Largest path of a contact point within one contact [mm]."""
    knee: float
    hip: float
    """Peak speed of the joint's rotation [rad/s]."""
    bounce: float
    """Rise and fall of the pelvis in a second or so, drift aside [cm]."""
    step: float
    """Mean distance of successive footfalls along the path [m]; NaN with fewer than two."""
    width: float
    """Mean distance of the feet across the path at mid-stance [m]."""
    cadence: float
    """Footfalls a second [Hz]."""
    jolt: float
    """Largest change of angular velocity from frame to frame, fingers and toes aside [rad/s^2]."""
    jolt_common: float
    """Its 99.9th percentile."""
    sink: float
    """Deepest point of a foot below the floor [mm]."""


def measure(clip: Clip) -> Figures:
    """Return all figures of one clip on the person skeleton."""
    skeleton = clip.skeleton
    spin = rotations.to_rotation_vector(
        rotations.multiply(clip.rotations[1:], rotations.conjugate(clip.rotations[:-1]))
    )
    speed = np.linalg.norm(spin, axis=-1) * clip.fps
    main = [j for j, n in enumerate(skeleton.names) if not n.endswith(("Hand", "ToeBase", "_End"))]
    jolt = np.linalg.norm(np.diff(spin, axis=0), axis=-1)[:, main] * clip.fps**2
    points = clip.contact_positions()
    contacts = clip.contacts if clip.contacts is not None else detect_contacts(clip).contacts
    steps, widths, cadence = _footfalls(clip, contacts, points)
    return Figures(
        skate=1000.0 * _skate(points, contacts),
        knee=float(speed[:, [skeleton.index("LeftLeg"), skeleton.index("RightLeg")]].max()),
        hip=float(speed[:, [skeleton.index("LeftUpLeg"), skeleton.index("RightUpLeg")]].max()),
        bounce=100.0 * _bounce(clip),
        step=steps,
        width=widths,
        cadence=cadence,
        jolt=float(jolt.max()),
        jolt_common=float(np.quantile(jolt, 0.999)),
        sink=-1000.0 * min(0.0, float(points[:, :6, 2].min())),
    )


def _bounce(clip: Clip) -> float:
    """Return the peak to peak of a sine with the pelvis height's spread about its trend, mean over windows [m]."""
    length = min(round(1.1 * clip.fps), len(clip))
    rows = [clip.root_positions[a : a + length, 2] for a in range(0, len(clip) - length + 1, max(length // 2, 1))]
    time = np.arange(length) - 0.5 * (length - 1)
    return float(np.mean([np.sqrt(8.0) * np.std(z - time * (time @ z) / (time @ time)) for z in rows]))


def repeated(clip: Clip, times: int) -> Clip:
    """Return a clip that ends as it begins, several times over."""
    whole = clip
    for _ in range(times - 1):
        following = place(clip, whole.planar_path()[-1])
        whole = replace(
            whole,
            root_positions=np.concatenate([whole.root_positions[:-1], following.root_positions]),
            rotations=np.concatenate([whole.rotations[:-1], following.rotations]),
            contacts=np.concatenate([whole.contacts[:-1], following.contacts]),
        )
    return whole


def _skate(points: FloatArray, contacts: FloatArray) -> float:
    worst = 0.0
    for k in range(6):
        for a, b in stances(contacts[:, k]):
            worst = max(worst, float(np.ptp(points[a:b, k, :2], axis=0).max()))
    return worst


def _footfalls(clip: Clip, contacts: FloatArray, points: FloatArray) -> tuple[float, float, float]:
    """Step length, step width [m] and footfalls a second, from the balls of both feet; NaN where there are too few."""
    falls = []
    for side in (0, 1):
        for a, b in stances(contacts[:, 3 * side : 3 * side + 3].any(axis=1)):
            if a > 0 and b - a > 2:
                middle = (a + b) // 2
                falls.append((a, side, *points[middle, 3 * side + 1, :2]))
    falls.sort()
    if len(falls) < 3:
        return float("nan"), float("nan"), float("nan")
    places, whose = np.array([f[2:] for f in falls]), [f[1] for f in falls]
    lengths, widths, times = [], [], []
    for i in range(1, len(falls) - 1):
        if whose[i - 1] == whose[i + 1] != whose[i]:
            way = places[i + 1] - places[i - 1]
            length = float(np.linalg.norm(way))
            if length < 0.2:
                continue
            mid = places[i] - places[i - 1]
            lengths.append(length / 2.0)
            times.append((falls[i + 1][0] - falls[i - 1][0]) / clip.fps / 2.0)
            widths.append(abs(float(way[0] * mid[1] - way[1] * mid[0])) / length)
    if not lengths:
        return float("nan"), float("nan"), float("nan")
    return float(np.mean(lengths)), float(np.mean(widths)), 1.0 / float(np.mean(times))


def _line(name: str, f: Figures) -> str:
    return (
        f"{name:24s} skate {f.skate:6.2f} mm  sink {f.sink:5.1f} mm  knee {f.knee:5.1f}  hip {f.hip:5.1f} rad/s  "
        f"bounce {f.bounce:5.1f} cm  step {f.step:5.2f} m  width {f.width:5.3f} m  cadence {f.cadence:4.2f} Hz  "
        f"jolt {f.jolt:6.0f} (99.9%: {f.jolt_common:4.0f}) rad/s2"
    )


def main(folder: Path) -> None:
    """Print both tables."""
    takes = captures(folder)
    for kind, pattern in KINDS.items():
        clips = [on_person(t.path, t.fps) for t in takes if re.search(pattern, t.path.stem)]
        rows = [measure(resample(detect_contacts(c), FPS)) for c in clips]
        for label, share in (("median", 0.5), ("90%", 0.9)):
            columns = [np.nanquantile([getattr(r, f) for r in rows], share) for f in Figures.__annotations__]
            print(_line(f"captured {kind} {label}", Figures(*map(float, columns))))
    for style in (NEUTRAL, *STYLES):
        print(style.name)
        for entry in locomotion_clips(style, seed=1, takes=1):
            loop = entry.start == entry.end != "stand"
            print(_line(entry.clip.name, measure(repeated(entry.clip, 4) if loop else entry.clip)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
