"""Fit the step model on captured steps and jumps: python tools/fit_steps.py CAPTURES OUT.npz.

Every step of every take becomes a left step seen from the standing right foot (right steps are mirrored). Pelvis, trunk
and arms are splines over the step whose coefficients are linear in where the foot comes from and goes to. A constant
for each subject takes up how people and their T-poses differ. Only coefficients are written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter1d

from capture import captures, on_person, other_side, world_headings
from gaitway.cast.person.skeleton import BALL, HEEL
from gaitway.cast.person.steps.model import (
    FIRST_PHASE,
    JOINTS,
    JUMP_KNOTS,
    KNOTS,
    LAST_PHASE,
    REGRESSORS,
    SHIFT_S,
    BodyStep,
    clamped_splines,
    regressors,
    spline_basis,
)
from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.editing import mirror

STEP_TAKES = frozenset(
    (
        *("02_01", "07_04", "08_04", "09_12", "13_35", "16_11", "16_12", "16_13", "16_17", "16_18", "16_19", "16_33"),
        *("16_34", "16_58", "35_01", "38_01", "39_11", "69_01", "69_02", "69_16", "69_18", "69_20", "69_24", "69_28"),
        *("69_29", "69_31", "69_50", "69_53", "69_73", "91_62", "111_29"),
        *(f"B{k:02d}" for k in (*range(1, 17), 22, 23)),
    )
)
JUMP_TAKES = frozenset(("13_11", "13_39", "16_01", "16_03", "16_05", "16_09", "91_39", "118_10"))
STILL = 0.28
"""A foot rests while its heel or its ball is slower than this [m/s]."""
PLAIN_WEIGHT = 0.35
"""Weight of a plain step forward; they would outnumber everything else."""
RIDGE = {"pelvis": 0.03, "body": 0.4}


@dataclass(frozen=True, eq=False)
class Rest:
    """A foot that rests from one time to another [s] at a place (x, y, heading, height of the middle of its sole)."""

    start: float
    end: float
    place: FloatArray


@dataclass(frozen=True, eq=False)
class Sample:
    """One captured step: its description, phases (F,) and channels (pelvis (F, 4), rotations (F, 14, 4))."""

    subject: str
    terms: FloatArray
    plain: bool
    phase: FloatArray
    pelvis: FloatArray
    rotations: FloatArray


def spans(flags: BoolArray) -> list[tuple[int, int]]:
    """Return half-open spans in which a flag is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def rests(clip: Clip, side: str) -> list[Rest]:
    """Return when and where a foot rests; rests without a real move in between count as one."""
    positions, world = clip.joint_transforms()
    foot = clip.skeleton.index(f"{side}_ankle")
    heel, ball = (positions[:, foot] + rotations.rotate(world[:, foot], p) for p in (HEEL, BALL))
    on = np.zeros(len(clip), dtype=bool)
    for point in (heel, ball):
        smooth = gaussian_filter1d(point, clip.fps / 60.0, axis=0)
        on |= np.linalg.norm(np.gradient(smooth, axis=0), axis=1) * clip.fps < STILL
    yaw, middle = world_headings(world[:, foot]), 0.5 * (heel + ball)
    merged: list[list[int]] = []
    for a, b in spans(on):
        if merged and a - merged[-1][1] < 0.06 * clip.fps:
            merged[-1][1] = b
        else:
            merged.append([a, b])
    found: list[Rest] = []
    for a, b in (m for m in merged if m[1] - m[0] > 0.1 * clip.fps):
        rows = slice(a + int(0.2 * (b - a)), a + max(int(0.7 * (b - a)), int(0.2 * (b - a)) + 1))
        x, y, z = np.median(middle[rows], axis=0)
        place = np.array([x, y, np.median(yaw[rows]), z])
        same = (
            found and np.hypot(*(found[-1].place[:2] - place[:2])) < 0.03 and abs(found[-1].place[2] - place[2]) < 0.09
        )
        if same:
            found[-1] = Rest(found[-1].start, b / clip.fps, found[-1].place)
        else:
            found.append(Rest(a / clip.fps, b / clip.fps, place))
    return found


def seen_from(support: FloatArray, place: FloatArray) -> FloatArray:
    """Return a place relative to a standing foot; (4,)."""
    return np.append(planar.relative(support[:3], place[:3]), place[3] - support[3])


def samples(clip: Clip, subject: str) -> Iterator[Sample]:
    """Return the left steps of a clip."""
    left, right = rests(clip, "left"), rests(clip, "right")
    _, world = clip.joint_transforms()
    for before, after in pairwise(left):
        lift, land = before.end, after.start
        standing = [r for r in right if r.start <= lift + 0.03 and r.end >= land - 0.08]
        if not 0.15 < land - lift < 1.3 or not standing:
            continue
        support = standing[-1]
        later = [r for r in right if r.start > support.start and r.start - land < 0.9]
        following = later[0] if later else support
        places = [seen_from(support.place, r.place) for r in (before, after, following)]
        shift = lift - float(np.clip(lift - support.start, *SHIFT_S))
        step = BodyStep(
            side="left",
            shift=shift,
            lift=lift,
            land=land,
            support=support.place,
            source=before.place,
            target=after.place,
            next_target=following.place,
        )
        phase = step.phase(np.arange(len(clip)) / clip.fps)
        rows = np.flatnonzero((phase >= FIRST_PHASE) & (phase <= LAST_PHASE))
        turn = rotations.multiply(rotations.from_yaw(-support.place[2]), world[rows, 0])
        heading = world_headings(turn)
        heading += planar.wrap_angle(heading[len(rows) // 2]) - heading[len(rows) // 2]
        local = clip.rotations[rows][:, [clip.skeleton.index(j) for j in JOINTS]].copy()
        local[:, 0] = rotations.multiply(rotations.from_yaw(-heading), turn)
        flat = planar.transform_points(planar.inverse(support.place[:3]), clip.root_positions[rows, :2])
        pelvis = np.column_stack([flat, clip.root_positions[rows, 2] - support.place[3], heading])
        a, b = places[0], places[1]
        plain = abs(a[2]) < 0.25 and abs(b[2]) < 0.25 and b[0] > 0.35 and a[0] < -0.35
        yield Sample(subject, regressors(*places, land - lift), bool(plain), phase[rows], pelvis, local)


def gather(folder: Path) -> list[Sample]:
    """Return all samples of the takes that are used, each take also in the mirror."""
    found: list[Sample] = []
    for capture in captures(folder):
        word = capture.path.stem.removeprefix("Female1_")
        if word in STEP_TAKES or (
            capture.subject == "accad" and word.split("_")[0] in STEP_TAKES and "Box" not in word
        ):
            clip = on_person(capture.path, capture.fps)
            for version in (clip, mirror(clip)):
                found += samples(version, capture.subject)
    return found


def base_pose(found: list[Sample]) -> FloatArray:
    """Return the mean local rotations of JOINTS, made symmetric; (14, 4)."""
    mean = rotations.mean(np.concatenate([s.rotations[:: max(1, len(s.phase) // 12)] for s in found]))
    twin = mean[other_side(JOINTS)] * np.array([1.0, -1.0, 1.0, -1.0])
    return rotations.mean(np.stack([mean, twin]))


def fit_steps(found: list[Sample], base: FloatArray) -> FloatArray:
    """Return the coefficients of a ridge regression of all channels; (KNOTS, REGRESSORS, channels)."""
    subjects = sorted({s.subject for s in found})
    rows, values, weights = [], [], []
    for s in found:
        own = np.tile(np.eye(len(subjects))[subjects.index(s.subject)], (len(s.phase), 1))
        terms = (spline_basis(s.phase)[:, :, None] * s.terms).reshape(len(s.phase), -1)
        rows.append(np.hstack([terms, own]))
        vectors = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(base), s.rotations))
        values.append(np.hstack([s.pelvis, vectors.reshape(len(s.phase), -1)]))
        weights.append(np.full(len(s.phase), (PLAIN_WEIGHT if s.plain else 1.0) / len(s.phase)))
    x, y, w = np.vstack(rows), np.vstack(values), np.concatenate(weights)[:, None]
    count = KNOTS * REGRESSORS
    out = np.empty((count, y.shape[1]))
    for part, columns in (("pelvis", slice(0, 4)), ("body", slice(4, None))):
        penalty = np.full(x.shape[1], RIDGE[part])
        penalty[:count].reshape(KNOTS, REGRESSORS)[:, 0] = 1e-3  # means are free
        penalty[count:] = 5.0
        normal = x.T @ (x * w) + np.diag(penalty)
        out[:, columns] = np.linalg.solve(normal, x.T @ (y[:, columns] * w))[:count]
    return out.reshape(KNOTS, REGRESSORS, -1)


def jump_samples(clip: Clip) -> tuple[FloatArray, FloatArray]:
    """Jump clock (n,) and local rotations (n, 14, 4) of a take with one standing jump."""
    positions, world = clip.joint_transforms()
    toes = positions[:, clip.skeleton.require("left_toe", "right_toe"), 2].min(axis=1)
    off, land = next(s for s in spans(toes > np.quantile(toes, 0.2) + 0.06) if s[1] - s[0] > 0.15 * clip.fps)
    height, second = clip.root_positions[:, 2], clip.fps
    begin = max(0, int(off - 1.2 * second))
    low = begin + int(np.argmin(height[begin:off]))
    deep = land + int(np.argmin(height[land : int(land + 0.83 * second)]))
    events = [min(off - second, low - 0.3 * second), low, off, land, deep, land + 0.9 * second]
    rows = np.arange(max(int(events[0]), 0), min(int(events[-1]), len(clip) - 1) + 1)
    local = clip.rotations[rows][:, [clip.skeleton.index(j) for j in JOINTS]].copy()
    local[:, 0] = rotations.multiply(rotations.from_yaw(-world_headings(world[rows, 0])), world[rows, 0])
    return np.interp(rows, events, np.arange(6.0)), local


def fit_jump(folder: Path, base: FloatArray) -> FloatArray:
    """Return the mean course of a standing jump, symmetric; (JUMP_KNOTS, 42)."""
    normal, right = 1e-3 * np.eye(JUMP_KNOTS), np.zeros((JUMP_KNOTS, 3 * len(JOINTS)))
    for capture in captures(folder):
        if capture.path.stem in JUMP_TAKES:
            clock, local = jump_samples(on_person(capture.path, capture.fps))
            basis = clamped_splines(clock, 0.0, 5.0, JUMP_KNOTS)
            for pose in (local, local[:, other_side(JOINTS)] * np.array([1.0, -1.0, 1.0, -1.0])):
                vectors = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(base), pose))
                normal += basis.T @ basis / len(clock)
                right += basis.T @ vectors.reshape(len(clock), -1) / len(clock)
    return np.linalg.solve(normal, right)


def main(folder: Path, target: Path) -> None:
    """Fit and write."""
    found = gather(folder)
    base = base_pose(found)
    np.savez_compressed(
        target,
        coefficients=fit_steps(found, base).astype(np.float32),
        base=base.astype(np.float32),
        jump=fit_jump(folder, base).astype(np.float32),
    )
    print(f"{len(found)} steps of {len({s.subject for s in found})} subjects -> {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
