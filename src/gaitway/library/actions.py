"""What a planner sees of clips: planar moves, durations, costs and the places in between, as plain arrays.

One action a clip. Its cost is the length of the root's planar path times the user's weight; all clips of a behaviour
cost the same, the mean of theirs (Lau 2009, chapter 3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gaitway import planar
from gaitway.arrays import FloatArray, IntArray, owned
from gaitway.errors import LibraryError
from gaitway.library.behavior import Behavior, Library
from gaitway.motion.clip import Clip


@dataclass(frozen=True, eq=False)
class ActionTable:
    """All actions of a behaviour graph; A actions, B behaviours, K obstacle kinds, N samples in all."""

    behaviors: tuple[str, ...]
    """Names of the behaviours; (B,)."""
    clips: tuple[str, ...]
    """Name of the clip behind each action; (A,)."""
    kinds: tuple[str, ...]
    """Kinds of obstacle that some behaviour passes; (K,)."""
    behavior: IntArray
    """The behaviour of each action; (A,)."""
    moves: FloatArray
    """Pose (x, y, heading) of the last frame seen from the first [m, rad]; (A, 3)."""
    frames: IntArray
    """Frames from the first to the last; (A,)."""
    durations: FloatArray
    """[s]; (A,)."""
    costs: FloatArray
    """(A,)."""
    rises: FloatArray
    """How much higher the ground is at the end than at the start [m]; (A,)."""
    kind: IntArray
    """Index into `kinds` of the obstacle that it passes, or -1; (A,)."""
    pass_times: FloatArray
    """When it passes it [s]; NaN where it passes none; (A,)."""
    sample_starts: IntArray
    """First sample of each action, and N at the end; (A + 1,)."""
    samples: FloatArray
    """Poses along the way, first and last frame included, seen from the first frame; (N, 3)."""
    sample_times: FloatArray
    """Seconds from the first frame; (N,)."""
    follower_starts: IntArray
    """First entry of each behaviour in `followers`, and their number at the end; (B + 1,)."""
    followers: IntArray
    """Actions that may come after each behaviour."""
    spacing: float
    """Greatest distance between neighbouring samples along the path, unless one frame goes further [m]."""

    def __len__(self) -> int:
        return len(self.clips)

    def index(self, behavior: str) -> int:
        """Index of a behaviour."""
        if behavior not in self.behaviors:
            raise LibraryError(f"no behaviour '{behavior}'; there are {', '.join(self.behaviors)}")
        return self.behaviors.index(behavior)


def action_table(library: Library, spacing: float = 0.2, weights: Mapping[str, float] | None = None) -> ActionTable:
    """What a planner needs to know of a library.

    Args:
        library: clips and their behaviour graph.
        spacing: distance between samples along each path [m].
        weights: factor on the cost of behaviours, by name; 1 for those that are not named.

    Raises:
        LibraryError: if the library has no behaviours, or a weight is negative or of no behaviour.
    """
    graph = library.graph
    if not graph.behaviors:
        raise LibraryError(f"library '{library.name}' has no behaviours to plan with")
    if not (np.isfinite(spacing) and spacing > 0.0):
        raise LibraryError(f"spacing {spacing} must be a length above 0")
    factors = _weights(library, weights or {})
    names = tuple(b.name for b in graph.behaviors)
    actions = [
        (b, behavior, library.clips[clip]) for b, behavior in enumerate(graph.behaviors) for clip in behavior.clips
    ]
    kinds = tuple(dict.fromkeys(b.obstacle for b in graph.behaviors if b.obstacle is not None))
    costs = [
        factors[b.name] * float(np.mean([path_length(library.clips[c]) for c in b.clips])) for b in graph.behaviors
    ]
    sampled = [_samples(clip, spacing, behavior.pass_time) for _, behavior, clip in actions]
    followers = [[a for a, entry in enumerate(actions) if entry[1].name in graph.followers(name)] for name in names]
    return ActionTable(
        behaviors=names,
        clips=tuple(clip.name for _, _, clip in actions),
        kinds=kinds,
        behavior=_whole([b for b, _, _ in actions], "behavior"),
        moves=owned([samples[-1] for samples, _ in sampled], "moves", (len(actions), 3)),
        frames=_whole([len(clip) - 1 for _, _, clip in actions], "frames"),
        durations=_real([clip.duration for _, _, clip in actions], "durations"),
        costs=_real([costs[b] for b, _, _ in actions], "costs"),
        rises=_real([_rise(clip) for _, _, clip in actions], "rises"),
        kind=_whole([-1 if b.obstacle is None else kinds.index(b.obstacle) for _, b, _ in actions], "kind"),
        pass_times=_pass_times([behavior for _, behavior, _ in actions], [clip for _, _, clip in actions]),
        sample_starts=_whole(np.cumsum([0, *(len(times) for _, times in sampled)]), "sample_starts"),
        samples=owned(np.concatenate([samples for samples, _ in sampled]), "samples", (None, 3)),
        sample_times=_real(np.concatenate([times for _, times in sampled]), "sample_times"),
        follower_starts=_whole(np.cumsum([0, *(len(f) for f in followers)]), "follower_starts"),
        followers=_whole(np.concatenate([np.array(f, np.int64) for f in followers]), "followers"),
        spacing=float(spacing),
    )


def path_length(clip: Clip) -> float:
    """Length of the root's path on the floor plan [m]."""
    return float(np.linalg.norm(np.diff(clip.root_positions[:, :2], axis=0), axis=1).sum())


def _samples(clip: Clip, spacing: float, pass_time: float | None) -> tuple[FloatArray, FloatArray]:
    """Poses seen from the first frame and their times, at most `spacing` apart along the path, with the passing."""
    path = clip.planar_path()
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1))])
    chosen = {0, len(clip) - 1}
    if pass_time is not None:
        chosen.add(int(np.clip(round(pass_time * clip.fps), 0, len(clip) - 1)))
    last = 0
    for frame in range(1, len(clip)):
        if gone[frame] - gone[last] > spacing:
            last = max(frame - 1, last + 1)
            chosen.add(last)
    frames = np.array(sorted(chosen))
    poses = planar.relative(path[0], path[frames])
    # the turn from frame to frame is small, so what a whole clip turns can be counted beyond half a turn
    poses[:, 2] = path[frames, 2] - path[0, 2]
    return poses, frames / clip.fps


def _rise(clip: Clip) -> float:
    """How much higher the ground under the figure is at the end than at the start [m]."""
    if clip.contacts is None:
        return 0.0
    points, touching = clip.contact_positions()[[0, -1], :, 2], clip.contacts[[0, -1]]
    if not touching.any(axis=1).all():
        return 0.0
    ground = np.where(touching, points, np.inf).min(axis=1)
    return float(ground[1] - ground[0])


def _weights(library: Library, weights: Mapping[str, float]) -> dict[str, float]:
    known = {b.name: 1.0 for b in library.graph.behaviors}
    for name, weight in weights.items():
        if name not in known:
            raise LibraryError(f"weight for behaviour '{name}', which library '{library.name}' does not have")
        if not (np.isfinite(weight) and weight >= 0.0):
            raise LibraryError(f"weight {weight} of behaviour '{name}' must be 0 or more")
    return {**known, **weights}


def _pass_times(behaviors: list[Behavior], clips: list[Clip]) -> FloatArray:
    """When each action passes its obstacle; the middle of the clip where nothing is annotated; (A,)."""
    times = []
    for behavior, clip in zip(behaviors, clips, strict=True):
        middle = 0.5 * clip.duration if behavior.pass_time is None else behavior.pass_time
        times.append(np.nan if behavior.obstacle is None else middle)
    array: FloatArray = np.array(times)
    array.setflags(write=False)
    return array


def _whole(values: object, name: str) -> IntArray:
    return owned(values, name, (None,), np.int64, LibraryError)  # type: ignore[arg-type]


def _real(values: object, name: str) -> FloatArray:
    return owned(values, name, (None,), error=LibraryError)  # type: ignore[arg-type]
