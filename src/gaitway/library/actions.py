"""Actions: what a planner sees of clips, as plain arrays: planar moves, durations, costs and poses in between.

One action a clip. Its cost is the length of the root's planar path times the user's weight; all clips of a behaviour
cost the same, the mean of theirs (Lau 2009, chapter 3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned, read_only
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior, Library
from gaitway.library.checks import check_graph
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import STILL, contact_slip

SAME_PLACE = 0.002
"""Farthest distance of an idle clip's end from its start [m]; planners neglect it, and it is not visible."""
SAME_HEADING = float(np.radians(0.2))
"""Greatest turn of an idle clip from its start to its end [rad]."""
_NEAR_BY = 0.3
"""Farthest distance of an idle clip's root from its start, at any time [m]."""
_FASTEST_WALK = 1.7
"""Greatest speed of a walk [m/s]; what is faster, on wheels say, would be seen to brake at once."""
_GESTURE = 0.5
"""Mean joint speed above which an idle clip counts as a gesture [m/s]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ActionTable:
    """All actions of a behaviour graph; A actions, B behaviours, K obstacle kinds, N samples in all."""

    behaviors: tuple[str, ...]
    """Names of the behaviours; (B,)."""
    clips: tuple[str, ...]
    """Name of the clip behind each action; (A,)."""
    kinds: tuple[str, ...]
    """Kinds of obstacle that some behaviour passes; (K,)."""
    states: tuple[str, ...]
    """Names of the states that behaviours begin and end in; (S,)."""
    behavior: IntArray
    """The behaviour of each action; (A,)."""
    start_state: IntArray
    """The state that each action begins in; (A,)."""
    end_state: IntArray
    """The state that each action ends in; (A,)."""
    idle: BoolArray
    """Actions that stay where they are and end in the state they began in, such as standing; (A,)."""
    quiet: BoolArray
    """Idle actions without gestures, for waiting and for standing at the end. Each state of rest has at least one;
    (A,)."""
    on_foot: BoolArray
    """Actions that walk and always touch the ground, so that they can be played slower and faster; none where feet that
    are down slide, as captured ones do. How long a flight takes is up to gravity; (A,)."""
    rest: BoolArray
    """States in which some idle action begins, so that a character can stay there for any time; (S,)."""
    moves: FloatArray
    """Pose (x, y, heading) of the last frame seen from the first [m, rad]; (A, 3)."""
    frames: IntArray
    """Frames from the first to the last; (A,)."""
    durations: FloatArray
    """Duration of each action [s]; (A,)."""
    costs: FloatArray
    """Cost of each action; (A,)."""
    rises: FloatArray
    """How much higher the ground is at the end than at the start [m]; (A,)."""
    kind: IntArray
    """Index into `kinds` of the obstacle that it passes, or -1; (A,)."""
    pass_times: FloatArray
    """Time at which the action passes its obstacle [s]; NaN if it passes none; (A,)."""
    sample_starts: IntArray
    """First sample of each action, and N at the end; (A + 1,)."""
    samples: FloatArray
    """Poses along the path of each action, first and last frame included, relative to the first frame; (N, 3)."""
    sample_times: FloatArray
    """Time of each sample from the first frame [s]; (N,)."""
    follower_starts: IntArray
    """First entry of each behaviour in `followers`, and their number at the end; (B + 1,)."""
    followers: IntArray
    """Actions that may come after each behaviour."""
    spacing: float
    """Greatest distance of neighbouring samples along the path [m], unless one frame goes farther."""

    def __len__(self) -> int:
        return len(self.clips)

    def index(self, behavior: str) -> int:
        """Return the index of a behaviour."""
        if behavior not in self.behaviors:
            raise LibraryError(f"no behaviour '{behavior}'; there are {', '.join(self.behaviors)}")
        return self.behaviors.index(behavior)

    def state(self, name: str) -> int:
        """Return the index of a state."""
        if name not in self.states:
            raise LibraryError(f"no state '{name}'; there are {', '.join(self.states)}")
        return self.states.index(name)


def action_table(
    library: Library,
    spacing: float = 0.2,
    weights: Mapping[str, float] | None = None,
    extras: Mapping[str, float] | None = None,
) -> ActionTable:
    """Build the table of actions that a planner needs of a library.

    Args:
        library: clips and their behaviour graph.
        spacing: distance between samples along each path [m].
        weights: factor on the cost of behaviours, by name, over their own weight; 1 for those that are not named.
        extras: cost of behaviours beside that of their length, by name [m]; 0 for those that are not named.

    Raises:
        LibraryError: if the library has no behaviours, one has no clip or a clip of no duration, or a weight is
            negative or of no behaviour.
    """
    graph = library.graph
    if useless := _useless(library):
        raise LibraryError(useless[0])
    if not (np.isfinite(spacing) and spacing > 0.0):
        raise LibraryError(f"spacing {spacing} must be a length above 0")
    factors = _weights(library, weights or {})
    names, states = tuple(b.name for b in graph.behaviors), graph.states
    actions = [
        (b, behavior, library.clips[clip]) for b, behavior in enumerate(graph.behaviors) for clip in behavior.clips
    ]
    kinds = tuple(dict.fromkeys(b.obstacle for b in graph.behaviors if b.obstacle is not None))
    costs = [
        factors[b.name] * float(np.mean([path_length(library.clips[c]) for c in b.clips]))
        + (extras or {}).get(b.name, 0.0)
        for b in graph.behaviors
    ]
    sampled = [_samples(clip, spacing, _pass_frame(behavior, clip)) for _, behavior, clip in actions]
    after = [frozenset(graph.followers(name)) for name in names]
    followers = [[a for a, (_, behavior, _) in enumerate(actions) if behavior.name in allowed] for allowed in after]
    idle = [behavior.start == behavior.end and stays(clip) for _, behavior, clip in actions]
    quiet = _quiet([behavior.start for _, behavior, _ in actions], [clip for _, _, clip in actions], idle)
    steady = all(contact_slip(library.clips[clip]) <= STILL for b in graph.behaviors for clip in b.clips)
    on_foot = [steady and not still and _walks(clip) for still, (_, _, clip) in zip(idle, actions, strict=True)]
    resting = {behavior.start for still, (_, behavior, _) in zip(idle, actions, strict=True) if still}
    return ActionTable(
        behaviors=names,
        clips=tuple(clip for behavior in graph.behaviors for clip in behavior.clips),
        kinds=kinds,
        states=states,
        behavior=_whole([b for b, _, _ in actions], "behavior"),
        start_state=_whole([states.index(behavior.start) for _, behavior, _ in actions], "start_state"),
        end_state=_whole([states.index(behavior.end) for _, behavior, _ in actions], "end_state"),
        idle=owned(idle, "idle", (len(actions),), np.bool_, LibraryError),
        quiet=owned(quiet, "quiet", (len(actions),), np.bool_, LibraryError),
        on_foot=owned(on_foot, "on_foot", (len(actions),), np.bool_, LibraryError),
        rest=owned([state in resting for state in states], "rest", (len(states),), np.bool_, LibraryError),
        moves=owned([samples[-1] for samples, _ in sampled], "moves", (len(actions), 3)),
        frames=_whole([len(clip) - 1 for _, _, clip in actions], "frames"),
        durations=_real([clip.duration for _, _, clip in actions], "durations"),
        costs=_real([costs[b] for b, _, _ in actions], "costs"),
        rises=_real([_rise(clip) for _, _, clip in actions], "rises"),
        kind=_whole([-1 if b.obstacle is None else kinds.index(b.obstacle) for _, b, _ in actions], "kind"),
        pass_times=read_only(np.array([_pass_time(behavior, clip) for _, behavior, clip in actions])),
        sample_starts=_whole(np.cumsum([0, *(len(times) for _, times in sampled)]), "sample_starts"),
        samples=owned(np.concatenate([samples for samples, _ in sampled]), "samples", (None, 3)),
        sample_times=_real(np.concatenate([times for _, times in sampled]), "sample_times"),
        follower_starts=_whole(np.cumsum([0, *(len(f) for f in followers)]), "follower_starts"),
        followers=_whole(np.concatenate([np.array(f, np.int64) for f in followers]), "followers"),
        spacing=float(spacing),
    )


def planning_problems(library: Library) -> list[str]:
    """Return what prevents planning with a library, or plans from ending at rest; one line per problem.

    To those of `check_graph` come: nothing to plan with, nothing that goes anywhere, no state to stop in, and states
    from which no such state can be reached.
    """
    if useless := _useless(library):
        return useless
    graph, table = library.graph, action_table(library)
    problems = check_graph(library)
    if table.idle.all():
        problems.append(f"library '{library.name}' cannot go anywhere: all its behaviours stay where they are")
    resting = {state for state, rests in zip(table.states, table.rest, strict=True) if rests}
    if not resting:
        return [
            *problems,
            f"library '{library.name}' cannot stop: no behaviour stays where it is and ends in the state that it began "
            "in; add one, such as standing",
        ]
    stops = set(resting)
    while more := {b.start for b in graph.behaviors if b.end in stops} - stops:
        stops |= more
    stuck = [state for state in table.states if state not in stops]
    return problems + [f"cannot stop from state '{s}': nothing leads to {' or '.join(sorted(resting))}" for s in stuck]


def _useless(library: Library) -> list[str]:
    """Return why no table of a library's actions can be built."""
    behaviors, name = library.graph.behaviors, library.name
    if not behaviors:
        return [f"library '{name}' has no behaviours to plan with; give it a graph of them"]
    empty = [
        f"behaviour '{b.name}' of library '{name}' has no clip; add one or leave it out"
        for b in behaviors
        if not b.clips
    ]
    short = [
        f"clip '{clip}' of behaviour '{b.name}' is a single pose and takes no time; it needs two frames or more"
        for b in behaviors
        for clip in b.clips
        if len(library.clips[clip]) < 2
    ]
    return empty + short


def path_length(clip: Clip) -> float:
    """Return the length of the root's path on the floor plan [m]."""
    return float(np.linalg.norm(np.diff(clip.root_positions[:, :2], axis=0), axis=1).sum())


def stays(clip: Clip) -> bool:
    """Return whether a clip stays in place: it ends where it began with the same heading and never goes far."""
    path = clip.planar_path()
    away = np.linalg.norm(path[:, :2] - path[0, :2], axis=1)
    turned = np.abs(path[:, 2] - path[0, 2])
    ends = away[-1] <= SAME_PLACE and turned[-1] <= SAME_HEADING
    return bool(ends and away.max() <= _NEAR_BY and turned.max() <= 0.5 * np.pi)


def _walks(clip: Clip) -> bool:
    """Return whether some part of the body touches the ground in every frame, no faster than people walk."""
    slow = path_length(clip) <= _FASTEST_WALK * clip.duration
    return slow and clip.contacts is not None and bool(clip.contacts.any(axis=1).all())


def _quiet(starts: list[str], clips: list[Clip], idle: list[bool]) -> list[bool]:
    """Return the idle clips in which no joint moves much, or else the quietest idle clip of each state."""
    speeds = [_liveliness(clip) if still else np.inf for clip, still in zip(clips, idle, strict=True)]
    least = {state: min(v for v, s in zip(speeds, starts, strict=True) if s == state) for state in starts}
    return [still and v <= max(_GESTURE, least[s]) for still, v, s in zip(idle, speeds, starts, strict=True)]


def _liveliness(clip: Clip) -> float:
    """Return the mean speed of the joint that moves farthest [m/s]."""
    ways = np.linalg.norm(np.diff(clip.joint_positions(), axis=0), axis=-1).sum(axis=0)
    return float(ways.max() / clip.duration)


def _samples(clip: Clip, spacing: float, pass_frame: int | None) -> tuple[FloatArray, FloatArray]:
    """Return poses in the frame of the first frame, and their times, at most `spacing` apart along the path.

    The moment of passing an obstacle is one of them.
    """
    path = clip.planar_path()
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1))])
    chosen = {0, len(clip) - 1}
    if pass_frame is not None:
        chosen.add(pass_frame)
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
    """Return how much higher the ground under the character is at the end than at the start [m]."""
    if clip.contacts is None:
        return 0.0
    points, touching = clip.contact_positions()[[0, -1], :, 2], clip.contacts[[0, -1]]
    if not touching.any(axis=1).all():
        return 0.0
    ground = np.where(touching, points, np.inf).min(axis=1)
    return float(ground[1] - ground[0])


def _weights(library: Library, weights: Mapping[str, float]) -> dict[str, float]:
    known = {b.name: b.weight for b in library.graph.behaviors}
    for name, weight in (*known.items(), *weights.items()):
        if name not in known:
            raise LibraryError(f"weight for behaviour '{name}', which library '{library.name}' does not have")
        if not (np.isfinite(weight) and weight >= 0.0):
            raise LibraryError(f"weight {weight} of behaviour '{name}' must be 0 or more")
    return {name: weight * weights.get(name, 1.0) for name, weight in known.items()}


def _pass_time(behavior: Behavior, clip: Clip) -> float:
    """Return when a clip passes its obstacle [s]; its middle if not annotated, NaN if it passes none."""
    if behavior.obstacle is None:
        return float("nan")
    return 0.5 * clip.duration if behavior.pass_time is None else min(max(behavior.pass_time, 0.0), clip.duration)


def _pass_frame(behavior: Behavior, clip: Clip) -> int | None:
    return None if behavior.obstacle is None else min(round(_pass_time(behavior, clip) * clip.fps), len(clip) - 1)


def _whole(values: object, name: str) -> IntArray:
    return owned(values, name, (None,), np.int64, LibraryError)  # type: ignore[arg-type]


def _real(values: object, name: str) -> FloatArray:
    return owned(values, name, (None,), error=LibraryError)  # type: ignore[arg-type]
