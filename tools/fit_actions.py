"""Fit the curves of the special motions: python tools/fit_actions.py MOCAP_FOLDER [OUT.npz].

Writes spline and Fourier coefficients only. Every curve is a joint fit over several takes or cycles; where there is
just one take (hands-and-knees crawling) only its mean pose is kept.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

from capture import Capture, captures, on_person
from gaitway.cast.person.actions.model import (
    CROUCH_HARMONICS,
    LEAP_EVENTS,
    LEAP_TYPICAL_FLIGHT_S,
    STROKE_HARMONICS,
    event_clock,
    leap_basis,
    stroke_joints,
)
from gaitway.cast.person.gait.model import fourier_basis, moving_joints
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.editing import mirror

DEFAULT_OUT = Path(__file__).resolve().parents[1] / "src/gaitway/cast/data/person_actions.npz"
RATE = 120.0
"""Takes count by their length in seconds: frames are weighed as if all had this rate [Hz]."""

# frames of each event, and the model times between which the take is like the others
LEAPS: Mapping[str, tuple[dict[str, int], float, float]] = {
    "127_25": (
        {"previous_takeoff": 24, "touchdown": 33, "takeoff": 62, "landing": 128, "push_off": 160},
        -0.30,
        0.80,
    ),
    "127_21": (
        {"previous_takeoff": 32, "touchdown": 42, "takeoff": 75, "landing": 123, "push_off": 166},
        -0.33,
        0.90,
    ),
    "49_04": (
        {
            "previous_touchdown": 92,
            "previous_takeoff": 124,
            "touchdown": 130,
            "takeoff": 155,
            "landing": 212,
            "push_off": 248,
        },
        -0.33,
        0.95,
    ),
    "Female1_C19": (
        {
            "previous_touchdown": 14,
            "previous_takeoff": 23,
            "touchdown": 24,
            "takeoff": 35,
            "landing": 42,
            "push_off": 52,
            "next_touchdown": 55,
        },
        -0.33,
        1.0,
    ),
}
# weight of each take, and the frames to use
CROUCHES: Mapping[str, dict[str, tuple[float, int, int]]] = {
    "walk": {
        "136_09": (1.0, 0, 100_000),
        "136_01": (0.6, 0, 100_000),
        "77_14": (0.7, 0, 100_000),
        "127_31": (1.2, 0, 400),
        "127_29": (0.5, 30, 150),
        "127_38": (0.4, 15, 150),
    },
    "jog": {"127_29": (1.0, 20, 175), "127_38": (1.0, 10, 150), "127_31": (0.35, 0, 100_000)},
}
STILL = 1e-3
"""Rigs whose clavicles turn by less than this in a whole take hold them still [rad]; those of CMU do."""
CLAVICLE_STIFFNESS = 0.3
"""Penalty on bends of the clavicles' curves in a leap. Only a take at 30 Hz shows them; its single frames are noise."""
CRAWL = ("111_03", 480, 1250)
STROKE = ("126_04", 60, 1600)


def take(folder: Path, name: str) -> Clip:
    """Return a capture on the person skeleton that travels along +X."""
    found = next((c for c in captures(folder) if c.path.stem.startswith(name)), None)
    if found is None:
        raise SystemExit(f"no take '{name}' in {folder}")
    return _along_x(found)


def _along_x(source: Capture) -> Clip:
    clip = on_person(source.path, source.fps)
    way = clip.root_positions[-1, :2] - clip.root_positions[0, :2]
    turn = rotations.from_yaw(-np.arctan2(way[1], way[0]))
    local = clip.rotations.copy()
    local[:, 0] = rotations.multiply(turn, local[:, 0])
    return Clip(clip.skeleton, rotations.rotate(turn, clip.root_positions), rotations.continuous(local), clip.fps)


def vectors(base: FloatArray, q: FloatArray) -> FloatArray:
    """Return rotation vectors about a base pose, flat; (F, 3 K)."""
    out: FloatArray = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(base), q)).reshape(len(q), -1)
    return out


def fit_leap(folder: Path) -> dict[str, FloatArray]:
    """Return the mean curve, slope over flight time and two residual directions of a leap."""
    moving = moving_joints()
    samples = []
    for name, (events, first, last) in LEAPS.items():
        clip = take(folder, name)
        frames = np.array(list(events.values()), dtype=float)
        model = np.array([LEAP_EVENTS[key] for key in events])
        grid = np.arange(len(clip), dtype=float)
        inside = event_clock(frames, model)(np.clip(grid, frames[0], frames[-1]))
        times = np.where(grid < frames[0], model[0] + (grid - frames[0]) / clip.fps, inside)
        keep = (times >= first) & (times <= last) & (grid <= frames[-1])
        flight = (events["landing"] - events["takeoff"]) / clip.fps
        samples.append((times[keep], clip.rotations[keep][:, moving], flight, RATE / clip.fps))
    base = rotations.mean(np.concatenate([np.repeat(q, round(w), axis=0) for _, q, _, w in samples]))
    rows = [(leap_basis(t), vectors(base, q), w, f - LEAP_TYPICAL_FLIGHT_S) for t, q, f, w in samples]
    mean, slope = _line_of_splines(rows)
    rest = []
    for basis, x, _, flight in rows:
        size = len(basis[0])
        even = np.trace(basis.T @ basis) / size
        bend = np.diff(np.eye(size), 2, axis=0)
        damping = even * (0.05 * np.eye(size) + 0.05 * bend.T @ bend)
        rest.append(np.linalg.solve(basis.T @ basis + damping, basis.T @ (x - basis @ (mean + flight * slope))))
    variation = directions(np.stack(rest), 2)
    clavicles = _clavicle_channels()
    mean[:, clavicles] = _mean_of_splines([(basis, x[:, clavicles], weight) for basis, x, weight, _ in rows])
    slope[:, clavicles], variation[:, :, clavicles] = 0.0, 0.0
    return {"leap_base": base, "leap_mean": mean, "leap_slope": slope, "leap_variation": variation}


def _clavicle_channels() -> BoolArray:
    """Return which channels turn a clavicle; (C,)."""
    names = [person_skeleton().names[j] for j in moving_joints()]
    return np.repeat([name.endswith("Shoulder") for name in names], 3)


def _mean_of_splines(rows: Sequence[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    """Return the mean of the clavicles' splines of all takes; (K, channels).

    Most rigs hold the clavicles still. A line in the flight time would take that for what long flights are like: it
    would make clavicles twitch in shorter leaps more than any take does, and the other way about in longer ones. Where
    such a take ends before the others, its clavicles stay still.
    """
    total, weights = np.zeros((rows[0][0].shape[1], rows[0][1].shape[1])), 0.0
    for basis, x, weight in rows:
        size = basis.shape[1]
        if np.ptp(x, axis=0).max() < STILL:
            own = np.broadcast_to(x.mean(axis=0), total.shape)  # the splines add up to 1
        else:
            even, bend = np.trace(basis.T @ basis) / size, np.diff(np.eye(size), 2, axis=0)
            own = np.linalg.solve(basis.T @ basis + even * CLAVICLE_STIFFNESS * bend.T @ bend, basis.T @ x)
        total += weight * len(x) * own
        weights += weight * len(x)
    out: FloatArray = total / weights
    return out


def _line_of_splines(rows: Sequence[tuple[FloatArray, FloatArray, float, float]]) -> tuple[FloatArray, FloatArray]:
    """Return the spline weights that are a line in one regressor: (intercept, slope), each (K, channels)."""
    size = rows[0][0].shape[1]
    matrix, right = np.zeros((2 * size, 2 * size)), np.zeros((2 * size, rows[0][1].shape[1]))
    for basis, x, weight, regressor in rows:
        both = np.concatenate([basis, regressor * basis], axis=1)
        matrix += weight * both.T @ both
        right += weight * both.T @ x
    bend = np.diff(np.eye(size), 2, axis=0)
    smooth, even = bend.T @ bend, np.trace(matrix[:size, :size]) / size
    matrix[:size, :size] += even * (1e-2 * smooth + 1e-4 * np.eye(size))
    matrix[size:, size:] += even * (2e-4 * smooth + 3e-3 * np.eye(size))
    solved = np.linalg.solve(matrix, right)
    return solved[:size], solved[size:]


def directions(rest: FloatArray, count: int) -> FloatArray:
    """Return the main directions of residuals (n, ...), one standard deviation long; (count, ...)."""
    flat = (rest - rest.mean(axis=0)).reshape(len(rest), -1)
    _, sizes, rows = np.linalg.svd(flat, full_matrices=False)
    out: FloatArray = (rows[:count] * sizes[:count, None] / np.sqrt(len(rest))).reshape(count, *rest.shape[1:])
    return out


@dataclass(frozen=True)
class Low:
    """Frames of one take of going low."""

    weight: float
    phase: FloatArray
    depth: FloatArray
    pose: FloatArray
    height: FloatArray


def low_frames(clip: Clip, weight: float, first: int, last: int) -> Low:
    """Return phase, depth, pose and pelvis height of the frames of a crouched walk or run."""
    skeleton, fps = clip.skeleton, clip.fps
    positions = clip.joint_positions()
    velocity = gaussian_filter1d(np.gradient(clip.root_positions[:, :2], axis=0) * fps, 0.25 * fps, axis=0)
    heading = np.unwrap(np.arctan2(velocity[:, 1], velocity[:, 0]))
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=1)
    feet = positions[:, skeleton.require("left_ankle", "right_ankle"), :2]
    split = gaussian_filter1d(((feet[:, 0] - feet[:, 1]) * ahead).sum(axis=1), 0.03 * fps)
    steps = [
        (f, k) for k, s in enumerate((split, -split)) for f in find_peaks(s, prominence=0.2, distance=0.25 * fps)[0]
    ]
    steps.sort()
    kept = [step for i, step in enumerate(steps) if i == 0 or step[1] != steps[i - 1][1]]
    when = np.array([f for f, _ in kept])
    frames = np.arange(max(when[0], first), min(when[-1] + 1, last))
    phase = np.interp(frames, when, 0.5 * (np.arange(len(when)) + kept[0][1]))
    head = gaussian_filter1d(positions[:, skeleton.index("HeadTop_End"), 2], 0.12 * fps)[frames]
    pose = clip.rotations[frames].copy()
    yaw = gaussian_filter1d(heading, 0.2 * fps)[frames]
    pose[:, 0] = rotations.multiply(rotations.from_yaw(-yaw), pose[:, 0])
    depth = np.clip((1.6 - head) / 0.7, -0.1, 1.2)
    return Low(weight, phase, depth, pose[:, moving_joints()], clip.root_positions[frames, 2])


def fit_crouch(folder: Path, gait: str) -> dict[str, FloatArray]:
    """Return the Fourier series in the phase whose coefficients are parabolas in the depth."""
    rows = []
    for name, (weight, first, last) in CROUCHES[gait].items():
        clip = take(folder, name)
        rows += [low_frames(c, weight, first, last) for c in (clip, mirror(clip))]
    base = rotations.mean(np.concatenate([row.pose[::4] for row in rows]))
    designs = [
        np.einsum("fp,fk->fpk", row.depth[:, None] ** np.arange(3), fourier_basis(row.phase, CROUCH_HARMONICS))
        for row in rows
    ]
    design = np.concatenate([d.reshape(len(d), -1) for d in designs])
    x = np.concatenate([np.column_stack([vectors(base, row.pose), row.height]) for row in rows])
    weights = np.concatenate([np.full(len(row.phase), row.weight / len(row.phase)) for row in rows])[:, None]
    terms = 2 * CROUCH_HARMONICS + 1
    ridge = np.array([[1e-5] + [1e-5] * (terms - 1), [1e-4] + [1e-3] * (terms - 1), [1e-3] + [1e-2] * (terms - 1)])
    matrix = (design * weights).T @ design + np.diag(ridge.ravel()) * weights.sum()
    solved = np.linalg.solve(matrix, (design * weights).T @ x)
    error, rest, start = x - design @ solved, [], 0
    for row in rows:
        own = error[start : start + len(row.phase)]
        start += len(row.phase)
        if row.depth.max() > 0.6:
            rest.append((own * row.depth[:, None]).sum(axis=0) / (row.depth**2).sum())
    print(
        f"crouch {gait}: {np.degrees(np.sqrt((weights * error[:, :-1] ** 2).sum() / weights.sum() / 66)):.1f} deg rms"
    )
    return {
        f"crouch_{gait}_base": base,
        f"crouch_{gait}": solved.reshape(3, terms, -1),
        f"crouch_{gait}_variation": directions(np.stack(rest), 2),
    }


def fit_crawl(folder: Path) -> dict[str, FloatArray]:
    """Return the mean pose on hands and knees, made symmetric, and the height of the pelvis in it."""
    name, first, last = CRAWL
    clip = take(folder, name)
    pose = clip.rotations[first:last].copy()
    up = rotations.rotate(pose[:, 0], np.array([0.0, 0.0, 1.0]))  # prone: the pelvis's up points ahead
    pose[:, 0] = rotations.multiply(rotations.from_yaw(-np.arctan2(up[:, 1], up[:, 0])), pose[:, 0])
    turned = Clip(clip.skeleton, clip.root_positions[first:last], pose, clip.fps)
    both = np.concatenate([turned.rotations, mirror(turned).rotations])
    return {
        "crawl_pose": rotations.mean(both)[moving_joints()],
        "crawl_height": np.array(clip.root_positions[first:last, 2].mean()),
    }


def fit_stroke(folder: Path) -> dict[str, FloatArray]:
    """Return the Fourier series of the arms in a breast stroke over all its cycles, and how cycles differ."""
    name, first, last = STROKE
    clip = take(folder, name)
    skeleton = clip.skeleton
    positions, world = clip.joint_transforms()
    chest = skeleton.index("chest")
    reach = np.zeros(len(clip))
    for side in ("left", "right"):
        arm = positions[:, skeleton.index(f"{side}_wrist")] - positions[:, skeleton.index(f"{side}_shoulder")]
        reach += rotations.rotate(rotations.conjugate(world[:, chest]), arm)[:, 2]  # along the trunk, overhead
    peaks = find_peaks(gaussian_filter1d(reach, 0.05 * clip.fps)[first:last], prominence=0.3, distance=0.5 * clip.fps)[
        0
    ]
    peaks = peaks + first
    joints = stroke_joints()
    cycles = []
    for one in (clip, mirror(clip)):
        cycles += [one.rotations[a : b + 1][:, joints] for a, b in itertools.pairwise(peaks)]
    base = rotations.mean(np.concatenate(cycles))
    series = []
    for cycle in cycles:
        basis = fourier_basis(np.linspace(0.0, 1.0, len(cycle)), STROKE_HARMONICS)
        series.append(np.linalg.lstsq(basis, vectors(base, cycle), rcond=None)[0])
    periods = np.diff(peaks) / clip.fps
    print(f"breast stroke: {len(peaks) - 1} cycles of {periods.mean():.2f} +- {periods.std():.2f} s")
    stacked = np.stack(series)
    return {"stroke_base": base, "stroke_mean": stacked.mean(axis=0), "stroke_variation": directions(stacked, 3)}


def main(folder: Path, out: Path) -> None:
    """Fit everything and write the coefficients."""
    arrays = fit_leap(folder)
    for gait in CROUCHES:
        arrays |= fit_crouch(folder, gait)
    arrays |= fit_crawl(folder) | fit_stroke(folder)
    np.savez_compressed(out, **{name: np.asarray(value, np.float32) for name, value in arrays.items()})
    print(f"{sum(np.size(v) for v in arrays.values())} coefficients, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT_OUT)
