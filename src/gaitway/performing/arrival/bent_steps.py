"""Exact goals: the last steps of a plan are bent so that it ends at the goal, with the heading asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.bending import Bend, bent, plan_bend
from gaitway.performing.arrival.final_steps import nearer
from gaitway.performing.arrival.footwork import Footwork, Footworks, laid
from gaitway.space.plan import Plan, Pose

HARDEST = 1.3
"""Largest strain (`Bend.strain`) of a plan that has too few steps for a smaller one."""
MOST = 10
"""Number of last steps that may be bent."""
THERE = (0.002, float(np.radians(0.2)))
"""Distance from the goal [m] and from the heading [rad] at which a character counts as there."""


@dataclass(frozen=True, eq=False)
class Arrival:
    """A plan that ends at its goal exactly."""

    plan: Plan
    """The same steps at the same times, and perhaps one or two more at the end; the last ones play bent clips."""
    clips: Mapping[str, Clip]
    """The bent clips by name, in the order in which they are played."""
    strain: float
    """How much the bent steps differ from the planned ones; up to 1 it is not visible."""

    @property
    def first(self) -> int:
        """Number of the first step that is bent."""
        return len(self.plan.steps) - len(self.clips)


def meet_goal(
    library: Library,
    plan: Plan,
    goal: tuple[float, float],
    goal_heading: float | None = None,
    *,
    name: str = "exact",
    footworks: Footworks | None = None,
) -> Arrival | None:
    """Bend the last steps of a plan so that it ends at a goal.

    As few steps are bent as possible without being noticed, and no others change. Special behaviours, and those in
    which hands or knees rest, are never bent. If there is too little to bend, a step or turn in place may be added.

    Args:
        library: library of the clips in the plan.
        plan: plan that ends near the goal, at rest.
        goal: wanted root position at the end: x, y [m].
        goal_heading: wanted heading at the end [rad]; None leaves it about as it is.
        name: suffix of the names of bent clips; different for each character of a take.
        footworks: footwork of the library's clips that earlier calls have found.

    Returns:
        None if the library has no steps that could be bent to make up for what the plan lacks.
    """
    return next(arrivals(library, plan, goal, goal_heading, name=name, footworks=footworks), None)


def arrivals(
    library: Library,
    plan: Plan,
    goal: tuple[float, float],
    goal_heading: float | None = None,
    *,
    name: str = "exact",
    footworks: Footworks | None = None,
) -> Iterator[Arrival]:
    """Yield all solutions that `meet_goal` knows, the best first: the plan's own steps bent, and then further steps."""
    if _there(plan.end_pose, goal, goal_heading):
        yield Arrival(plan, {}, 0.0)
        return
    known = footworks if footworks is not None else Footworks(library)
    found = _least_bend(plan, goal, goal_heading, known)
    if found is not None:
        yield _arrival(library, plan, *found, name)
    for longer in nearer(library, plan, goal, goal_heading, known):
        found = _least_bend(longer, goal, goal_heading, known)
        if found is not None:
            yield _arrival(library, longer, *found, name)


def _there(pose: Pose, goal: tuple[float, float], heading: float | None) -> bool:
    turn = 0.0 if heading is None else abs(float(planar.wrap_angle(pose[2] - heading)))
    return float(np.hypot(goal[0] - pose[0], goal[1] - pose[1])) <= THERE[0] and turn <= THERE[1]


def _least_bend(
    plan: Plan, goal: tuple[float, float], heading: float | None, known: Footworks
) -> tuple[int, Bend] | None:
    """Return the first bent step, and how it is bent: as few steps as go unnoticed, or those with the least strain.

    None if even that is too much.
    """
    best: tuple[int, Bend] | None = None
    works: list[Footwork] = []
    for first in range(len(plan.steps) - 1, max(len(plan.steps) - MOST, 0) - 1, -1):
        step = plan.steps[first]
        work = None if step.clip in plan.own else known.of(step.behavior, step.clip)
        if work is None or (works and work.fps != works[0].fps):
            break
        works.insert(0, work)
        bend = plan_bend(laid(works, [step.pose for step in plan.steps[first:]]), goal, heading)
        if bend is not None and (best is None or bend.strain < best[1].strain):
            best = first, bend
        if best is not None and best[1].strain <= 1.0:
            break
    return best if best is not None and best[1].strain <= HARDEST else None


def _arrival(library: Library, plan: Plan, first: int, bend: Bend, name: str) -> Arrival:
    """Return the plan with its steps from one on cut from a bent motion."""
    names = [f"{step.clip}~{name}-{first + k}" for k, step in enumerate(plan.steps[first:])]
    clips = bent_clips([library.clips[step.clip] for step in plan.steps[first:]], bend, names)
    steps, start = list(plan.steps[:first]), 0
    for step, own in zip(plan.steps[first:], clips, strict=True):
        steps.append(replace(step, clip=own.name, pose=pose_of(bend.path[start])))
        start += len(own) - 1
    end = replace(plan, steps=tuple(steps), end_pose=pose_of(bend.path[-1]))
    return Arrival(end, {clip.name: clip for clip in clips}, bend.strain)


def bent_clips(sources: Sequence[Clip], bend: Bend, names: Sequence[str]) -> list[Clip]:
    """Bend clips that are played one after another, and cut the result into clips again, each where its source lies.

    Args:
        sources: the clips; the last frame of one counts as the first of the next.
        bend: how they are bent together.
        names: names of the results.
    """
    motion, counts = bent(_motion(sources), bend), [len(source) for source in sources]
    lasts: IntArray = np.cumsum(counts)
    firsts: IntArray = lasts - counts  # in all clips
    begins = firsts - np.arange(len(counts))  # in the motion
    rows = np.arange(lasts[-1]) - np.repeat(np.arange(len(counts)), counts)
    placed = np.array([[*source.root_positions[0, :2], source.headings()[0]] for source in sources])
    back = planar.compose(placed, planar.inverse(bend.path[begins]))
    roots, turns = motion.root_positions[rows], motion.rotations[rows]
    roots[:, :2] = planar.transform_points(np.repeat(back, counts, axis=0), roots[:, :2])
    turned = np.repeat(rotations.from_yaw(back[:, 2]), counts, axis=0)
    turns[:, 0] = rotations.multiply(turned, turns[:, 0])
    _meet(sources, motion, begins[1:], firsts[1:], roots, turns)
    return [
        replace(source, root_positions=roots[a:b], rotations=turns[a:b], name=name)
        for source, name, a, b in zip(sources, names, firsts.tolist(), lasts.tolist(), strict=True)
    ]


def _meet(
    sources: Sequence[Clip], motion: Clip, begins: IntArray, firsts: IntArray, roots: FloatArray, turns: FloatArray
) -> None:
    """Change the first frames of all clips but the first: what was bent of the one before is bent of them.

    The motion has the last frame of one clip in place of the first of the next, and their poses need not be the same.

    Args:
        sources: the clips before they were bent; N.
        motion: the bent motion.
        begins: frame of the motion in which each begins; (N - 1,).
        firsts: first frame of each among those of all clips; (N - 1,).
        roots: places of the root in all clips [m], changed; (F, 3).
        turns: rotations of all joints in them, changed; (F, J, 4).
    """
    if not len(firsts):
        return
    before = np.array([source.rotations[-1, 1:] for source in sources[:-1]])
    after = np.array([source.rotations[0] for source in sources[1:]])
    change = rotations.multiply(rotations.conjugate(before), turns[firsts, 1:])
    turns[firsts, 1:] = rotations.multiply(after[:, 1:], change)
    turns[firsts, 0] = after[:, 0]
    roots[firsts] = [source.root_positions[0] for source in sources[1:]]
    roots[firsts, 2] += motion.root_positions[begins, 2] - [source.root_positions[-1, 2] for source in sources[:-1]]


def _motion(sources: Sequence[Clip]) -> Clip:
    """Join clips; the last frame of one counts as the first of the next."""
    return replace(
        sources[0],
        root_positions=np.concatenate([c.root_positions[min(k, 1) :] for k, c in enumerate(sources)]),
        rotations=np.concatenate([c.rotations[min(k, 1) :] for k, c in enumerate(sources)]),
        contacts=None,
    )


def pose_of(values: FloatArray) -> Pose:
    """Return a planar pose as plain numbers, its heading wrapped."""
    x, y, heading = values.tolist()
    return x, y, planar.wrapped(heading)
