"""Goals met exactly: the last steps of a plan are bent so that it ends where, and facing where, it was asked to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gaitway import planar, rotations
from gaitway.arrays import FloatArray
from gaitway.behavior.bending import Bend, bent, plan_bend
from gaitway.behavior.footwork import Footwork, footwork, laid
from gaitway.behavior.plan import Plan, PlanStep, Pose
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip

HARDEST = 1.3
"""The greatest strain (`Bend.strain`) that a plan may have which has too few steps for a lesser one."""
MOST = 10
"""The last so many steps may be bent."""


@dataclass(frozen=True, eq=False)
class Arrival:
    """A plan that ends at its goal exactly."""

    plan: Plan
    """The same steps at the same times; the last ones play bent clips."""
    clips: Mapping[str, Clip]
    """The bent clips by name, in the order in which they are played."""
    strain: float
    """How much steps differ from what they were; up to 1 nobody notices."""


@dataclass(eq=False)
class Footworks:
    """Footwork of a library's clips, each found once; share one between calls with the same library. **Mutable**."""

    library: Library
    known: dict[str, Footwork | None] = field(default_factory=dict)

    def of(self, step: PlanStep) -> Footwork | None:
        """Of a step; None if it must not be bent: it passes something special, or rests on hands or knees."""
        if step.clip not in self.known:
            special = self.library.graph[step.behavior].obstacle is not None
            self.known[step.clip] = None if special else footwork(self.library.clips[step.clip])
        return self.known[step.clip]


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

    As few of them are bent as it takes to do so unnoticed, and no others change. Special behaviours, and what hands or
    knees rest in, are never bent.

    Args:
        library: whose clips the plan plays.
        plan: ends near the goal, at rest.
        goal: where the root shall be in the end [m].
        goal_heading: where it shall face then [rad]; None leaves it about as it is.
        name: what the names of bent clips end in; different for each character of a take.
        footworks: what is known of the library's clips from earlier calls.

    Returns:
        None if the plan has too few steps to bend for what it lacks.
    """
    known = footworks if footworks is not None else Footworks(library)
    best, begin = None, 0
    works: list[Footwork] = []
    for first in range(len(plan.steps) - 1, max(len(plan.steps) - MOST, 0) - 1, -1):
        work = known.of(plan.steps[first])
        if work is None:
            break
        works.insert(0, work)
        bend = plan_bend(laid(works, [step.pose for step in plan.steps[first:]]), goal, goal_heading)
        if bend is not None and (best is None or bend.strain < best.strain):
            best, begin = bend, first
        if best is not None and best.strain <= 1.0:
            break
    if best is None or best.strain > HARDEST:
        return None
    return _arrival(library, plan, begin, best, name)


def _arrival(library: Library, plan: Plan, first: int, bend: Bend, name: str) -> Arrival:
    """The plan with its steps from one on cut from a bent motion."""
    sources = [library.clips[step.clip] for step in plan.steps[first:]]
    motion, path = bent(_motion(sources), bend), bend.path
    steps, clips, start = list(plan.steps[:first]), {}, 0
    for number, (step, source) in enumerate(zip(plan.steps[first:], sources, strict=True), first):
        rows = slice(start, start + len(source))
        back = planar.compose(source.planar_path()[0], planar.inverse(path[start]))
        own = _cut(motion, source, rows, back, f"{step.clip}~{name}-{number}")
        clips[own.name] = own
        steps.append(replace(step, clip=own.name, pose=_pose(path[start])))
        start = rows.stop - 1
    end = replace(plan, steps=tuple(steps), end_pose=_pose(path[-1]))
    return Arrival(end, clips, bend.strain)


def _motion(sources: Sequence[Clip]) -> Clip:
    """Clips one after another as they are; the last frame of one stands for the first of the next."""
    return replace(
        sources[0],
        root_positions=np.concatenate([c.root_positions[min(k, 1) :] for k, c in enumerate(sources)]),
        rotations=np.concatenate([c.rotations[min(k, 1) :] for k, c in enumerate(sources)]),
        contacts=None,
    )


def _cut(motion: Clip, source: Clip, rows: slice, back: FloatArray, name: str) -> Clip:
    """Frames of a motion, moved in the plan, as a clip like its source."""
    roots, turns = np.array(motion.root_positions[rows]), np.array(motion.rotations[rows])
    roots[:, :2] = planar.transform_points(back, roots[:, :2])
    turns[:, 0] = rotations.multiply(rotations.from_yaw(back[2]), turns[:, 0])
    return replace(source, root_positions=roots, rotations=turns, name=name)


def _pose(values: FloatArray) -> Pose:
    x, y, heading = (float(v) for v in values)
    return x, y, float(planar.wrap_angle(heading))
