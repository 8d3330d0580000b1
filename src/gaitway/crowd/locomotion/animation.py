"""From trajectories to bodies: a take in which people walk along their tracks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import CrowdError
from gaitway.core.progress import Progress, silent
from gaitway.crowd.locomotion import _feet_kernels
from gaitway.crowd.locomotion.posing import posed
from gaitway.crowd.locomotion.space import LocomotionSpace, locomotion_space
from gaitway.crowd.locomotion.steering import ARM_HABITS, SMOOTHING_S, SteeredPaths, closeness, steered
from gaitway.crowd.trajectories import Trajectories
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.take.model import Take
from gaitway.take.tracks import take_of

MOST_BYTES = 12_000_000_000
"""Greatest size of the poses of a take in memory [bytes]."""
_DROP_S = 0.07
"""Standard deviation with which the pelvis is lowered before and after a leg needs it [s]."""


def animate(
    trajectories: Trajectories,
    library: Library | LocomotionSpace | str = "person",
    seed: int = 0,
    *,
    fps: float = 30.0,
    smoothing: float = SMOOTHING_S,
    close: FloatArray | None = None,
    facts: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> Take:
    """Return full bodies that walk along tracks.

    The root of each person is within 5 cm of its smoothed track. Planted feet stay where they stand. Who stands
    breathes and shifts its weight; a foot steps when the root has moved or turned so far that it must follow.

    Args:
        trajectories: where people are, and which way trunks face where that is known; else they face the way they go.
        library: a library of people, its space (`locomotion_space`), or "person" for the built-in one in all styles.
        seed: draws the style of each person and the foot that it begins with; each draws by its name.
        fps: rate of the take [Hz].
        smoothing: standard deviation of the smoothing of positions [s]. Tracks of heads should come without their sway.
        close: how near others are, for each row of the tracks, 0 (arms hang freely) to 1 (arms are tucked); None
            measures it.
        facts: further facts of the take, as plain JSON values.
        progress: called after each part of the people.

    Raises:
        CrowdError: if there is nobody, or the poses would not fit into memory.
    """
    if len(trajectories) == 0:
        raise CrowdError("trajectories of nobody; give at least one person")
    if not (np.isfinite(fps) and 1.0 <= fps <= 240.0):
        raise CrowdError(f"a take at {fps} Hz; write a rate of 1 to 240")
    space = library if isinstance(library, LocomotionSpace) else locomotion_space(library)
    frames = float(np.sum(trajectories.lengths)) / trajectories.fps * fps
    size = 8.0 * (4 * len(space.rig.skeleton) + 3) * frames
    if size > MOST_BYTES:
        raise CrowdError(
            f"{len(trajectories)} people for {frames / fps / 60.0:.0f} minutes in all are {size / 1e9:.1f} GB of poses "
            f"at {fps:g} Hz, more than {MOST_BYTES / 1e9:g}; animate fewer people, a shorter span or a lower rate"
        )
    paths = steered(trajectories, fps, smoothing)
    near = closeness(paths) if close is None else _at_rows(trajectories, paths, close)
    drawn = [_drawn(name, len(space.styles), seed) for name in trajectories.names]
    clips: list[Clip] = []
    clamped = 0
    for person in range(len(trajectories)):
        clip, beyond = _performed(space, paths, person, drawn[person], near, trajectories.names[person])
        clips.append(clip)
        clamped += int(np.count_nonzero(beyond > 1.0 + 1e-9))
        progress("people", person + 1, len(trajectories))
    told = {"locomotion": {"library": space.name, "seed": seed, "frames": int(paths.rows[-1]), "clamped": clamped}}
    return take_of(
        clips, trajectories.names, fps=fps, start_times=(paths.firsts / fps).tolist(), facts={**told, **(facts or {})}
    )


@dataclass(frozen=True)
class _Draw:
    """What is drawn for one person."""

    style: int
    phase: float
    """Phase at its first frame [cycles]."""
    arms: tuple[float, float]
    """How far it tucks its left and its right arm when somebody is near, 0 to 1."""


def _drawn(name: str, styles: int, seed: int) -> _Draw:
    """Return what is drawn for the person of a name."""
    rng = np.random.default_rng([seed, crc32(name.encode())])
    left, right = rng.uniform(*ARM_HABITS, 2)
    return _Draw(int(rng.integers(styles)), float(rng.random()), (float(left), float(right)))


def _at_rows(tracks: Trajectories, paths: SteeredPaths, values: FloatArray) -> FloatArray:
    """Return values of the rows of tracks (N,) at the rows of paths (R,)."""
    given = np.asarray(values, dtype=np.float64)
    if (
        given.shape != tracks.headings.shape
        or not np.isfinite(given).all()
        or (given < 0.0).any()
        or (given > 1.0).any()
    ):
        raise CrowdError(f"close has shape {given.shape}; give a number 0 to 1 for each of {len(tracks.headings)} rows")
    parts = [
        np.interp(
            (paths.firsts[c] + np.arange(paths.rows[c + 1] - paths.rows[c])) / paths.fps,
            tracks.times(c),
            given[tracks.rows(c)],
        )
        for c in range(len(tracks))
    ]
    return np.concatenate(parts)


def _performed(
    space: LocomotionSpace, paths: SteeredPaths, person: int, drawn: _Draw, near: FloatArray, name: str
) -> tuple[Clip, FloatArray]:
    """Return the clip of one person, and by which factors its velocities lie outside of the space (F,)."""
    rows = slice(int(paths.rows[person]), int(paths.rows[person + 1]))
    path = np.ascontiguousarray(paths.path[rows])
    frames = len(path)
    steps, corners = np.zeros((frames, _feet_kernels.STEP_COLUMNS)), np.zeros((frames, 4), dtype=np.int64)
    beyond = np.ones(frames)
    _feet_kernels.follow_paths(
        np.array([0, frames], dtype=np.int64), np.array([drawn.style], dtype=np.int64), np.array([drawn.phase]), path,
        np.ascontiguousarray(paths.velocity[rows]), paths.fps, space.simplices, space.neighbors, space.transforms,
        space.hull, space.traits, space.rig.leg, steps, corners, beyond,
    )  # fmt: skip
    steps[:, _feet_kernels.STEP_LEFT_ARM] = drawn.arms[0] * near[rows]
    steps[:, _feet_kernels.STEP_RIGHT_ARM] = drawn.arms[1] * near[rows]
    styles = np.full(frames, drawn.style, dtype=np.int64)
    drops = np.zeros(frames)
    needs = posed(space, styles, steps, corners, drops).needs
    drops = _eased(needs, paths.fps)
    poses = posed(space, styles, steps, corners, drops)
    contacts = np.zeros((frames, len(space.rig.skeleton.contact_points)), dtype=bool)
    for column, flags in zip(space.rig.columns.ravel(), poses.down.T, strict=True):
        if column >= 0:
            contacts[:, column] = flags
    turns = poses.rotations.astype(np.float64)
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    return Clip(space.rig.skeleton, poses.roots, turns, paths.fps, name, contacts), beyond


def _eased(needs: FloatArray, fps: float) -> FloatArray:
    """Return how much lower a pelvis is (F,): nowhere less than legs need, and without jerks."""
    reach = max(round(2.0 * _DROP_S * fps), 1)
    widest = scipy.ndimage.maximum_filter1d(needs, 2 * reach + 1, mode="nearest")
    out: FloatArray = np.maximum(scipy.ndimage.gaussian_filter1d(widest, _DROP_S * fps, mode="nearest"), 0.0)
    return out
