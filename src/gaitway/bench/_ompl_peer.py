"""OMPL's RRT-Connect on the problem of one arm, with gaitway's own compiled checks: a peer of `gaitway bench limbs`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gaitway.core.arrays import read_only
from gaitway.limbs import _planner_kernels
from gaitway.limbs._joint_kernels import PLANNED
from gaitway.limbs.planner import LimbPlanOptions
from gaitway.limbs.umbrella import PAD, UmbrellaProblem

_WIDEST = 2.0
"""Greatest offset from the motion [rad]."""
_RANGE = 0.8
"""Length of an extension, in OMPL's metric over angles and seconds; its own choice solves fewer."""
_LIMIT_S = 2.0
"""Time after which a run counts as not solved [s]."""


def ompl_runs(problem: UmbrellaProblem, runs: int) -> tuple[list[float], int]:
    """Return the times of so many runs [ms], and how many were solved.

    A state is seven offsets and a time. An edge is valid where it goes forward in time, no angle is too fast and
    `_planner_kernels.motion_clear` finds it clear; nothing is smoothed.
    """
    from ompl import base, geometric, util  # noqa: PLC0415  (an extra)

    util.setLogLevel(util.LogLevel.LOG_NONE)
    numbers = read_only(LimbPlanOptions(margin=0.01).numbers())
    begin, end = problem.bad[0] - PAD, problem.bad[1] + PAD
    table = problem.window.table

    def row(state: Any) -> Any:
        return np.array([state[k] for k in range(PLANNED + 1)])

    class Directed(base.MotionValidator):  # type: ignore[misc]
        """Edges that go forward in time."""

        def checkMotion(self, a: Any, b: Any, *_: Any) -> bool:
            return bool(_planner_kernels.motion_clear(table, row(a), row(b), numbers))

    spent, solved = [], 0
    for seed in range(runs + 1):  # the first compiles
        util.RNG.setSeed(seed + 1)
        space, bounds = base.RealVectorStateSpace(PLANNED + 1), base.RealVectorBounds(PLANNED + 1)
        for k in range(PLANNED):
            bounds.setLow(k, -_WIDEST)
            bounds.setHigh(k, _WIDEST)
        bounds.setLow(PLANNED, begin)
        bounds.setHigh(PLANNED, end)
        space.setBounds(bounds)
        setup = geometric.SimpleSetup(space)
        information = setup.getSpaceInformation()
        setup.setStateValidityChecker(lambda state: True)  # edges look at both of their ends
        information.setMotionValidator(Directed(information))
        ends = [space.allocState() for _ in range(2)]
        for state, moment in zip(ends, (begin, end), strict=True):
            for k in range(PLANNED):
                state[k] = 0.0
            state[PLANNED] = moment
        setup.setStartAndGoalStates(*ends)
        planner = geometric.RRTConnect(information)
        planner.setRange(_RANGE)
        setup.setPlanner(planner)
        began = time.process_time()
        setup.solve(_LIMIT_S)
        if seed > 0:
            spent.append(1e3 * (time.process_time() - began))
            solved += bool(setup.haveExactSolutionPath())
    return spent, solved
