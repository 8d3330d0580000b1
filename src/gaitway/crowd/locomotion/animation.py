"""From trajectories to bodies: a take in which people walk along their tracks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import CrowdError
from gaitway.core.progress import Progress, silent
from gaitway.crowd.locomotion.space import LocomotionSpace, locomotion_space
from gaitway.crowd.locomotion.steering import SMOOTHING_S, SteeredPaths, closeness, steered
from gaitway.crowd.locomotion.walking import walk_along
from gaitway.crowd.trajectories import Trajectories
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.take.model import Take
from gaitway.take.tracks import take_of

MOST_BYTES = 12_000_000_000
"""Greatest size of the poses of a take in memory [bytes]."""


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
    clips: list[Clip] = []
    clamped = 0
    for person in range(len(trajectories)):
        walk = walk_along(space, paths, person, near, trajectories.names[person], seed)
        clips.append(walk.clip())
        clamped += int(np.count_nonzero(walk.beyond > 1.0 + 1e-9))
        progress("people", person + 1, len(trajectories))
    told = {"locomotion": {"library": space.name, "seed": seed, "frames": int(paths.rows[-1]), "clamped": clamped}}
    return take_of(
        clips, trajectories.names, fps=fps, start_times=(paths.firsts / fps).tolist(), facts={**told, **(facts or {})}
    )


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
