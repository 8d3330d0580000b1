"""Plans written down by hand, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.core import planar
from gaitway.library.behavior import Library
from gaitway.space.plan import Plan, PlanStep, Pose


def plan_of(library: Library, behaviors: Sequence[str], start: Pose = (0.0, 0.0, 0.0), time: float = 0.0) -> Plan:
    """The first clips of behaviours, one after another, as a planner composes them."""
    pose, steps = np.array(start), []
    for name in behaviors:
        clip = library.clips[library.graph[name].clips[0]]
        path = clip.planar_path()
        x, y, heading = (float(v) for v in pose)
        steps.append(PlanStep(name, clip.name, (x, y, heading), time))
        pose, time = planar.compose(pose, planar.relative(path[0], path[-1])), time + clip.duration
    x, y, heading = (float(v) for v in pose)
    return Plan(tuple(steps), (x, y, heading), time, 0.0)
