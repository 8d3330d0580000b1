"""Choice of the clip that is played for each step of a plan, among several.

The thesis draws a clip for each node while a tree is grown (Lau 2009, chapter 6). Then all characters that take the
same path play the same clips, side by side. Here a tree is grown of one clip for all similar ones (`similar_clips`),
and clips are drawn when a plan is made. Identical clips change nothing else in the plan: any that is free where the
step lies may be played. Similar clips of whole bodies end a little elsewhere, so later steps are laid where they then
begin and are tested there, a leg of a longer path begins where the one before really ended, and the last one must
still end at the goal. If that fails, identical clips are played. So nothing is played that was not tested as it is
played, and a tree loses no node to variants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray
from gaitway.core.jit import direct
from gaitway.space import _clip_choice_kernels as kernels
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import WorldFields
from gaitway.space.plan import LaidSteps, Plan
from gaitway.space.prepared_actions import PreparedActions
from gaitway.space.query import NO_TRAFFIC, Query, TrafficView
from gaitway.space.similar_clips import SimilarClips

ATTEMPTS = 3
"""Number of attempts to lay a path with similar clips that are free and end where the path should end."""


class ClipChoice:
    """Draws clips of a library for the steps of plans.

    Attributes:
        actions: the actions of the library.
        similar: which actions may replace one another.
    """

    def __init__(self, actions: PreparedActions) -> None:
        """Prepare a library."""
        self.actions, self.similar = actions, SimilarClips.of(actions.table)
        self._handle = ArrayHandle(self.similar.arrays)
        self._play_identical: Callable[..., None] = direct(kernels.play_identical)
        self._play_similar: Callable[..., bool] = direct(kernels.play_similar)

    def draw(
        self, fields: WorldFields, query: Query, rows: FloatArray, traffic: TrafficView | None, *,
        under_way: bool = False, arrives: bool = True, shift: bool = True,
    ) -> FloatArray:  # fmt: skip
        """Draw a clip for each step of a free path; the same seed gives the same clips.

        Args:
            fields: the world.
            query: the query that the path answers, which must be the last that `space.query.ask` wrote.
            rows: x, y [m], heading [rad], time [s] and action of each step, its speed if it is not the usual one, and
                the end as the last row; (N + 1, 5) or (N + 1, 6).
            traffic: other characters and movers; None for none.
            under_way: whether the character has left its start before.
            arrives: whether the end must be at the goal and free for ever.
            shift: whether steps may shift.

        Returns:
            The rows of the path that is played; (N + 1, 6).
        """
        if not self.similar.any or len(rows) < 2:
            return rows
        actions, (busy, handle) = self.actions, _handle(traffic)
        state, seed = actions.start_state(query.start_behavior), _seed(query)
        world = actions.handle, fields.handle, actions.passing(fields), handle, busy, actions.query, self._handle
        rows = np.column_stack([rows[:, :5], rows[:, 5] if rows.shape[1] > 5 else np.ones(len(rows))])
        out = np.array(rows)
        if shift and self.similar.shift:
            rest = self._rest(int(rows[-2, 4])) if arrives else -1
            for attempt in range(ATTEMPTS):
                if self._play_similar(*world, state, under_way, seed + attempt, rows, rest, out):
                    return out
            out = np.array(rows)
        self._play_identical(*world, state, under_way, seed, out)
        return out

    def with_identical_clips(self, fields: WorldFields, query: Query, plan: Plan, traffic: TrafficView | None) -> Plan:
        """Return the plan of a search with identical clips drawn for its steps.

        A search draws clips for what it does, but always takes the same one to wait.
        """
        if not (self.similar.any and isinstance(plan.steps, LaidSteps)):
            return plan
        rows = np.vstack([plan.steps.rows, (*plan.end_pose, plan.end_time, -1.0, 1.0)])
        rows = self.draw(fields, query, rows, traffic, shift=False)
        steps = LaidSteps(rows[:-1], self.actions.names, self.actions.table.clips, self.actions.speeds)
        return Plan(steps, plan.end_pose, plan.end_time, plan.cost)

    def cost(self, rows: FloatArray) -> float:
        """Return the cost of the steps of a path, given its rows with the end as the last one; (N + 1, 6)."""
        return float(self.actions.costs[rows[:-1, 4].astype(np.int64)].sum())

    def _rest(self, action: int) -> int:
        """Return the action that stands still after an action, or -1."""
        arrays, table = self.actions.arrays, self.actions.table
        return int(arrays.states[arrays.behaviors[table.behavior[action], 0], 1])


def _seed(query: Query) -> int:
    """Return a seed that differs between the legs of one path."""
    return (query.seed * 1_000_003 + round(1e3 * query.start_time) * 7919) & 0x3FFFFFFF


def _handle(traffic: TrafficView | None) -> tuple[bool, ArrayHandle[TrafficArrays]]:
    if traffic is not None and len((arrays := traffic.arrays).keys) > 0:
        return True, ArrayHandle(arrays)
    return False, NO_TRAFFIC
