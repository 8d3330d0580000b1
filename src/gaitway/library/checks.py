"""Checks of a library: whether every behaviour can be reached and left, and whether joins of clips are invisible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.clip import Clip


def check_graph(library: Library) -> list[str]:
    """Return what is wrong with a behaviour graph, one line per problem; an empty list if nothing is.

    Reported are clips that no behaviour uses, behaviours that nothing may follow (dead ends) or that nothing leads to,
    states that cannot be reached from some other state, and annotations that lie outside their clips.
    """
    graph = library.graph
    problems = []
    used = {clip for behavior in graph.behaviors for clip in behavior.clips}
    problems += [f"clip '{name}' belongs to no behaviour" for name in library.clips if name not in used]
    led_to = {follower for b in graph.behaviors for follower in graph.followers(b.name) if follower != b.name}
    for behavior in graph.behaviors:
        if not behavior.clips:
            problems.append(f"behaviour '{behavior.name}' has no clip")
        if not graph.followers(behavior.name):
            problems.append(f"behaviour '{behavior.name}' is a dead end: nothing starts in state '{behavior.end}'")
        if behavior.name not in led_to and len(graph.behaviors) > 1:
            problems.append(f"behaviour '{behavior.name}' cannot be reached: nothing else ends in '{behavior.start}'")
        for clip in behavior.clips:
            duration = library.clips[clip].duration
            if behavior.pass_time is not None and not 0.0 <= behavior.pass_time <= duration:
                problems.append(
                    f"behaviour '{behavior.name}' passes its obstacle at {behavior.pass_time:.3g} s, but clip '{clip}' "
                    f"lasts {duration:.3g} s"
                )
    return problems + _unreachable_states(graph)


def _unreachable_states(graph: BehaviorGraph) -> list[str]:
    """Return the states that cannot be reached from some other state."""
    steps: dict[str, set[str]] = {state: set() for state in graph.states}
    for behavior in graph.behaviors:
        steps[behavior.start].add(behavior.end)
    problems = []
    for origin in graph.states:
        reached, frontier = {origin}, [origin]
        while frontier:
            new = steps[frontier.pop()] - reached
            reached |= new
            frontier += new
        problems += [f"state '{s}' cannot be reached from state '{origin}'" for s in graph.states if s not in reached]
    return problems


@dataclass(frozen=True)
class ClipJoin:
    """Difference between the end of one clip and the start of another that may follow it, heading and place aligned."""

    before: str
    after: str
    angle: float
    """Largest difference of a joint's rotation [rad]."""
    joint: str
    """Joint with that difference."""
    height: float
    """Difference of the root's height over the ground that it stands on [m]."""
    speed: float
    """Largest change of a joint's velocity over the join [m/s] beyond the changes just before and after it."""
    speed_joint: str
    legs: float
    """Largest difference of the rotation of pelvis and legs [rad]. What differs above them is led on when it is played
    (`performing.joins`), and feet stay exactly where they are."""


@dataclass(frozen=True, eq=False)
class _End:
    """Pose at one end of a clip, turned to heading 0, and the velocities of its joints there."""

    local: FloatArray
    height: float
    velocity: FloatArray
    """Between the outermost two frames [m/s]; (J, 3)."""
    change: FloatArray
    """Change of the velocity at the second outermost frame [m/s]; (J,)."""


def check_joins(library: Library) -> list[ClipJoin]:
    """Measure every declared transition; the worst angle comes first."""
    starts = {name: _end(clip, first=True) for name, clip in library.clips.items()}
    ends = {name: _end(clip, first=False) for name, clip in library.clips.items()}
    joins = []
    for behavior in library.graph.behaviors:
        followers = [clip for name in library.graph.followers(behavior.name) for clip in library.graph[name].clips]
        joins += [_join(library, a, b, ends[a], starts[b]) for a in behavior.clips for b in followers]
    return sorted(joins, key=lambda join: -join.angle)


def _join(library: Library, before: str, after: str, end: _End, start: _End) -> ClipJoin:
    names = library.skeleton.names
    angles = rotations.angle_between(end.local, start.local)
    change = np.linalg.norm(end.velocity - start.velocity, axis=-1)
    speeds = np.maximum(change - np.maximum(end.change, start.change), 0.0)
    return ClipJoin(
        before=before,
        after=after,
        angle=float(angles.max()),
        joint=names[int(angles.argmax())],
        height=abs(end.height - start.height),
        speed=float(speeds.max()),
        speed_joint=names[int(speeds.argmax())],
        legs=float(angles[~upper_joints(library.skeleton)].max()),
    )


def _end(clip: Clip, first: bool) -> _End:
    at = 0 if first else -1
    heading = clip.headings()[at]
    turn = rotations.from_yaw(-heading)
    local = clip.rotations[at].copy()
    local[0] = rotations.multiply(turn, local[0])
    positions = clip.joint_positions()[: 3 if first else None]
    steps = rotations.rotate(turn, np.diff(positions[-3:], axis=0) * clip.fps)
    if not len(steps):
        steps = np.zeros((1, len(clip.skeleton), 3))
    change = np.linalg.norm(steps[-1] - steps[0], axis=-1)
    height = float(clip.root_positions[at, 2]) - _ground(clip, at)
    return _End(local, height, steps[0 if first else -1], change)


def _ground(clip: Clip, frame: int) -> float:
    """Return the height of the ground under the figure [m]; 0 if nothing is touched.

    A clip may end on top of a block.
    """
    if clip.contacts is None or not clip.contacts[frame].any():
        return 0.0
    return float(clip.contact_positions()[frame, clip.contacts[frame], 2].min())
