"""Fit the person's gait model on captured cycles.

    python tools/fit_gait.py CAPTURE_FOLDER [OUT.npz]

Reads the takes that the folder's index names, cuts them into cycles of the left foot (every take also in the mirror),
and writes regression coefficients only: no captured frame and no single person's cycle is kept.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

from capture import Capture, captures, on_person, other_side
from gaitway.cast.person.gait.model import HARMONICS, TERMS, fourier_basis, moving_joints, regressors
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.styles import STYLE_COUNT
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.files import atomic_write
from gaitway.motion.clip import Clip
from gaitway.motion.editing import mirror

TARGET = Path(__file__).resolve().parents[1] / "src/gaitway/cast/data/person_gait.npz"
SAMPLES = 96
"""Phases at which a cycle is sampled."""
WOBBLES = 6
GAIT_SPEEDS = {"walk": (0.6, 1.3, 2.05), "jog": (1.9, 2.8, 4.2), "back": (0.35, 0.8, 1.4)}
"""Slowest, middle and fastest captured speed that a gait is fitted on [m/s]."""
USED_SPEEDS = {"walk": (0.75, 1.9), "jog": (2.0, 3.7), "back": (0.45, 1.1)}
"""Speeds between which the fit may be evaluated [m/s]."""
SKIPPED = ("08_07", "77_10", "91_36", "38_03", "127_04", "69_16", "69_18", "39_11")
"""Takes of odd gaits: exaggerated, careful, in circles, in place."""
ACCAD_TAKES = re.compile(r"_(B0[1-9]|B1[0-4]|C0[2-5]|C1[1-6])")
CMU_KINDS = ("walk", "run", "turn", "side/back")
ODD_IN_TURN = np.array([1.0, 1.0, 1.0, -1.0, -1.0, 1.0])
"""-1 for the regressors that change sign with the turn rate."""
CONTACT_HEIGHT = 0.05
"""Largest height of a contact over a point's own lowest level [m]."""
STYLE_SHARES = {"walk": 1.0, "jog": 0.65, "back": 1.0}
"""How much of the difference between people is kept; the few who jog also differ in speed and in how hard they turn."""
WOBBLE_SHARES = {"walk": 1.0, "jog": 0.55, "back": 0.7}
"""How much of what the regression leaves within a person is wobble; with few takes at a speed much of it is misfit."""
GAINED = {"walk": (2, 1.2), "jog": (2, 1.2), "back": (3, 1.4)}
"""Averaging people whose phases differ a little shrinks every harmonic; the first few get up to this factor back."""
LEAST_HEIGHT_GAIN = 1.18
"""For the pelvis height: the foot planter's floor takes a part of its rise and fall."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """One cycle of the left foot, sampled at equal steps of phase from its furthest reach to the next."""

    subject: str
    source: str
    gait: str
    speed: float
    turn: float
    rate: float
    root: FloatArray
    """Sway x, y about the centre line and height [m]; (SAMPLES, 3)."""
    pose: FloatArray
    """Rotations of the moving joints, the pelvis seen from the centre line; (SAMPLES, 22, 4)."""
    stance: tuple[float, float]
    """Phases at which the left foot lands and leaves."""


def cycles_of(clip: Clip, subject: str) -> Iterator[Cycle]:
    """Return all whole cycles of a clip that are steady enough."""
    skeleton, fps = clip.skeleton, clip.fps
    positions, world = clip.joint_transforms()
    root = clip.root_positions
    velocity = gaussian_filter1d(np.gradient(root[:, :2], axis=0) * fps, 0.25 * fps, axis=0, mode="nearest")
    going = velocity / np.maximum(np.linalg.norm(velocity, axis=1, keepdims=True), 1e-9)
    reach = ((positions[:, skeleton.index("left_ankle"), :2] - root[:, :2]) * going).sum(axis=1)
    peaks, _ = find_peaks(gaussian_filter1d(reach, 0.02 * fps), prominence=0.12, distance=0.4 * fps)
    ahead = rotations.rotate(world[:, 0], [1.0, 0.0, 0.0])[:, :2]
    contacts = _left_contact(clip, np.linalg.norm(velocity, axis=1))
    for a, b in itertools.pairwise(peaks):
        facing = float((ahead[a:b] * going[a:b]).sum(axis=1).mean())
        if abs(facing) < 0.75:
            continue
        cycle = _sampled(clip, world[:, 0], contacts, a, b, facing < 0.0)
        if cycle is not None:
            yield replace(cycle, subject=subject, source=clip.name)


def _left_contact(clip: Clip, going: FloatArray) -> FloatArray:
    """Return 1 where heel, ball or toe of the left foot is low and slow for the speed `going` [m/s] (F,), else 0."""
    points = gaussian_filter1d(clip.contact_positions()[:, :3], 0.01 * clip.fps, axis=0)
    speed = np.linalg.norm(np.gradient(points, axis=0), axis=-1) * clip.fps
    low = points[..., 2] - np.quantile(points[..., 2], 0.05, axis=0) < CONTACT_HEIGHT
    return (low & (speed < 0.3 + 0.2 * going[:, None])).any(axis=1).astype(float)


def _sampled(clip: Clip, pelvis: FloatArray, contacts: FloatArray, a: int, b: int, backward: bool) -> Cycle | None:
    root, fps = clip.root_positions, clip.fps
    share, period = np.linspace(0.0, 1.0, b - a + 1), (b - a) / fps
    centred = (share - 0.5) * period
    # path = parabola + sway of two harmonics in one least squares: separates the two in turns as well
    parabola = np.stack([np.ones_like(centred), centred, centred**2], axis=1)
    basis = np.concatenate([parabola, fourier_basis(share, 2)[:, 1:]], axis=1)
    fit = np.linalg.lstsq(basis, root[a : b + 1, :2], rcond=None)[0]
    velocity = fit[1] + 2.0 * centred[:, None] * fit[2]
    heading = np.unwrap(np.arctan2(velocity[:, 1], velocity[:, 0])) + (np.pi if backward else 0.0)
    away = root[a : b + 1, :2] - parabola @ fit[:3]
    turned = rotations.from_yaw(-heading)
    sway = rotations.rotate(turned, np.column_stack([away, root[a : b + 1, 2]]))
    pose = clip.rotations[a : b + 1][:, moving_joints()].copy()
    pose[:, 0] = rotations.multiply(turned, pelvis[a : b + 1])
    stance = _stance(contacts, a, b)
    speed = float(np.hypot(*velocity.T).mean())
    duty = stance[1] - stance[0]
    gait = "back" if backward else "walk" if duty > 0.5 else "jog"
    slowest, _, fastest = GAIT_SPEEDS[gait]
    turn, rate = float(heading[-1] - heading[0]) / period, 1.0 / period
    if not (slowest < speed < fastest and 0.7 < rate < 1.7 and abs(turn) < 1.3 and 0.2 < duty < 0.8):
        return None
    grid = np.arange(SAMPLES + 1) / SAMPLES
    columns = np.concatenate([sway, rotations.continuous(pose).reshape(len(pose), -1)], axis=1)
    sampled = np.stack([np.interp(grid, share, column) for column in columns.T], axis=1)
    pose = rotations.normalize(sampled[:, 3:].reshape(SAMPLES + 1, -1, 4))
    return Cycle("", "", gait, speed, turn, rate, sampled[:, :3], pose, stance)


def _stance(contacts: FloatArray, a: int, b: int) -> tuple[float, float]:
    """Return the phases of the longest contact that begins within 0.3 cycles of the foot's furthest reach."""
    frames = np.arange(a - 0.3 * (b - a), a + 0.95 * (b - a))
    on = np.interp(frames, np.arange(len(contacts)), contacts) > 0.5
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8))).reshape(-1, 2)
    if not len(edges):
        return 0.0, 0.0
    first, last = edges[np.argmax(edges[:, 1] - edges[:, 0])]
    return (frames[first] - a) / (b - a), (frames[min(last, len(frames) - 1)] - a) / (b - a)


def gather(folder: Path) -> list[Cycle]:
    """Return every usable cycle of the folder, each take also mirrored."""
    found: list[Cycle] = []
    for take in captures(folder):
        if _wanted(take):
            clip = on_person(take.path, take.fps)
            for version in (clip, mirror(clip)):
                found += cycles_of(version, take.subject)
    return found


def _wanted(take: Capture) -> bool:
    if take.subject == "accad":
        return ACCAD_TAKES.search(take.path.name) is not None
    return take.kind in CMU_KINDS and not any(skip in take.path.name for skip in SKIPPED)


def series_of(cycle: Cycle, base: FloatArray) -> FloatArray:
    """Return the channels (SAMPLES, 69) with the drift from start to end taken out."""
    turns = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(base), cycle.pose))
    series = np.concatenate([cycle.root, turns.reshape(SAMPLES + 1, -1)], axis=1)
    drift = np.outer(np.arange(SAMPLES + 1) / SAMPLES - 0.5, series[-1] - series[0])
    return (series - drift)[:-1]


def coefficients(series: FloatArray) -> FloatArray:
    """Return the Fourier coefficients (..., TERMS, C) of series (..., SAMPLES, C)."""
    basis = np.linalg.pinv(fourier_basis(np.arange(SAMPLES) / SAMPLES))
    return np.einsum("ks,...sc->...kc", basis, series)


def fit_gait(name: str, own: list[Cycle], base: FloatArray) -> dict[str, FloatArray]:
    """Return all coefficients of one gait."""
    _slowest, middle, _fastest = GAIT_SPEEDS[name]
    raw = np.stack([series_of(c, base) for c in own])
    terms = np.stack([regressors(np.array(c.speed), np.array(c.turn), middle) for c in own])
    subjects, group = np.unique([c.subject for c in own], return_inverse=True)
    weight = 1.0 / np.sqrt(np.bincount(group))[group]
    timing = np.array([[c.rate, *c.stance] for c in own])
    few = 10.0 if name == "back" else 1.0
    ridge = np.diag([0.0, 0.001, 0.015, 0.001, 0.1, 0.1]) * few

    def solve(y: FloatArray, w: FloatArray, hold: FloatArray) -> FloatArray:
        return np.linalg.solve(terms.T @ (terms * w[:, None]) + hold * w.sum(), terms.T @ (y * w[:, None]))

    flat = coefficients(raw).reshape(len(own), -1)
    for _ in range(3):
        mean_terms = solve(flat, weight, ridge)
        residual = flat - terms @ mean_terms
        size = np.abs(residual).sum(axis=1)
        weight = weight * np.minimum(1.0, 2.0 * np.median(size) / size)
    shape = (-1, TERMS, raw.shape[-1])
    gain = _gain(flat.reshape(shape), (terms @ mean_terms).reshape(shape), group, *GAINED[name])
    per_subject = np.stack([residual[group == s].mean(axis=0) for s in range(len(subjects))])
    within = (residual - per_subject[group]).reshape(-1, TERMS, raw.shape[-1])
    within[:, 0, :3] = 0.0  # how high a take's floor was found is no wobble of the gait
    within = within.reshape(len(own), -1)
    style = _directions(per_subject, STYLE_COUNT)
    timing_terms = solve(timing, weight, ridge + np.diag([0.0, 0.0, 0.1, 0.2, 0.5, 0.5]))
    late = timing - terms @ timing_terms
    subject_late = np.stack([late[group == s].mean(axis=0) for s in range(len(subjects))])
    scores = per_subject @ np.linalg.pinv(style)
    style_timing = np.linalg.solve(scores.T @ scores + 2.0 * np.eye(STYLE_COUNT), scores.T @ subject_late)
    _report(name, own, timing, gain)
    low, high = USED_SPEEDS[name]
    return {
        f"{name}_mean": symmetric(mean_terms.reshape(shape) * gain, ODD_IN_TURN),
        f"{name}_style": STYLE_SHARES[name] * symmetric(style.reshape(shape), np.ones(STYLE_COUNT)),
        f"{name}_wobble": WOBBLE_SHARES[name] * _directions(within, WOBBLES).reshape(shape),
        f"{name}_timing": timing_terms,
        f"{name}_style_timing": STYLE_SHARES[name] * style_timing,
        f"{name}_speeds": np.array([low, middle, high]),
    }


def symmetric(terms: FloatArray, signs: FloatArray) -> FloatArray:
    """Return coefficients (n, TERMS, C) made the same for both sides of the body.

    Half a cycle later everything happens in the mirror; rows with sign -1 change sign with it.
    """
    other = other_side([person_skeleton().names[j] for j in moving_joints()])
    channels = [0, 1, 2, *(3 + 3 * j + axis for j in other for axis in range(3))]
    flips = np.array([1.0, -1.0, 1.0, *[-1.0, 1.0, -1.0] * len(other)])
    half_cycle = (-1.0) ** np.array([0, *range(1, HARMONICS + 1), *range(1, HARMONICS + 1)])
    later = terms[..., channels] * flips * half_cycle[:, None] * signs[:, None, None]
    return 0.5 * (terms + later)


def symmetric_base(base: FloatArray) -> FloatArray:
    """Return base rotations (22, 4) that are their own mirror image."""
    other = other_side([person_skeleton().names[j] for j in moving_joints()])
    return rotations.mean(np.stack([base, base[other] * np.array([1.0, -1.0, 1.0, -1.0])]))


def _directions(rows: FloatArray, count: int) -> FloatArray:
    """Return principal directions of rows about zero, each as long as one standard deviation; (count, ...)."""
    _, size, along = np.linalg.svd(rows, full_matrices=False)
    out = np.zeros((count, rows.shape[1]))
    have = min(count, len(size))
    upright = np.sign(along[np.arange(len(along)), np.abs(along).argmax(axis=1)])[:, None]  # no chance in the signs
    out[:have] = (along * upright)[:have] * size[:have, None] / np.sqrt(len(rows))
    return out


def _gain(single: FloatArray, mean: FloatArray, group: IntArray, harmonics: int, most: float) -> FloatArray:
    """Return the factor (TERMS, C) by which single cycles are larger than the mean curve at the same controls."""
    people = range(group.max() + 1)
    ratio = [_amplitudes(single[group == p]).mean(axis=0) / _amplitudes(mean[group == p]).mean(axis=0) for p in people]
    gain = np.clip(np.median(ratio, axis=0), 1.0, most)
    gain[harmonics:] = 1.0  # higher ones are noise as much as motion
    gain[1, 2] = max(gain[1, 2], LEAST_HEIGHT_GAIN)
    return np.concatenate([np.ones_like(gain[:1]), gain, gain])


def _report(name: str, own: list[Cycle], timing: FloatArray, gain: FloatArray) -> None:
    speeds = np.array([c.speed for c in own])
    print(
        f"{name}: {len(own)} cycles of {len({c.subject for c in own})} people, "
        f"{speeds.min():.2f}..{speeds.max():.2f} m/s, stance {timing[:, 1].mean():.3f}..{timing[:, 2].mean():.3f}, "
        f"rate {timing[:, 0].mean():.2f} Hz, gain of height {gain[2, 2]:.2f}, of all {np.median(gain[1:3, 3:]):.2f}"
    )


def _amplitudes(terms: FloatArray) -> FloatArray:
    """Return the size (..., HARMONICS, C) of each harmonic of Fourier terms (..., TERMS, C)."""
    return np.hypot(terms[..., 1 : HARMONICS + 1, :], terms[..., HARMONICS + 1 :, :])


def reversed_style(walk: dict[str, FloatArray], landing: float) -> dict[str, FloatArray]:
    """Return style directions of backward walking: those of walking, run backward in time from `landing` [cycles]."""
    angle = 2.0 * np.pi * np.arange(1, HARMONICS + 1)[:, None] * landing
    cosine, sine = walk["walk_style"][:, 1 : HARMONICS + 1], walk["walk_style"][:, HARMONICS + 1 :]
    back = walk["walk_style"].copy()
    back[:, 1 : HARMONICS + 1] = cosine * np.cos(angle) + sine * np.sin(angle)
    back[:, HARMONICS + 1 :] = cosine * np.sin(angle) - sine * np.cos(angle)
    rate_only = walk["walk_style_timing"] * np.array([1.0, 0.0, 0.0])
    return {"back_style": back, "back_style_timing": rate_only}


def main(folder: Path, target: Path) -> None:
    """Fit all gaits and write the file."""
    found = gather(folder)
    poses = np.concatenate([c.pose[::8] for c in found if c.gait != "back"])
    base = symmetric_base(rotations.mean(poses))
    model = {"base": base}
    for name in GAIT_SPEEDS:
        model |= fit_gait(name, [c for c in found if c.gait == name], base)
    model |= reversed_style(model, 0.61)
    half = {k: np.asarray(v, np.float16 if k.endswith(("_style", "_wobble")) else np.float32) for k, v in model.items()}
    with atomic_write(target) as file:
        np.savez_compressed(file, **half)
    print(f"{sum(v.size for v in half.values())} coefficients, {target.stat().st_size / 1024:.0f} KB: {target.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else TARGET)
