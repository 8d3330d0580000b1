"""Plans made one clip or another at random: what is chosen is a way, and who goes it plays clips of its own.

The thesis draws a clip for each node while a tree is grown (Lau 2009, chapter 6). Then all who take the same way play
the same clips, side by side. Here a tree is grown of one clip for all that are nearly alike (`similar`), and clips are
drawn when a plan is made. Twins take nothing from the plan: whichever is free where the step lies is played. Kin of
whole bodies end a little elsewhere, so the steps after them are laid where they then begin, and tested there; a leg of
a longer way begins where the one before really ended; and the last one must still end at the goal. Where that fails
twins are played. So nothing is played that was not tested as it is played, and a tree loses no node to variants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gaitway.behavior.search import NO_TRAFFIC, Query, Traffic
from gaitway.behavior.searcher import Searcher
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray
from gaitway.core.jit import direct
from gaitway.space import _clip_choice_kernels as kernels
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import WorldFields
from gaitway.space.plan import LaidSteps, Plan
from gaitway.space.similar_clips import SimilarClips

ATTEMPTS = 3
"""How often a way is laid with kin, until it is free and ends where it is to."""


class ClipChoice:
    """Who may stand in for whom in a library, and what is played of it.

    Attributes:
        searcher: the library.
        similar: who may stand in.
    """

    def __init__(self, searcher: Searcher) -> None:
        """Prepare a library."""
        self.searcher, self.similar = searcher, SimilarClips.of(searcher.table)
        self._handle = ArrayHandle(self.similar.arrays)
        self._play_identical: Callable[..., None] = direct(kernels.play_identical)
        self._play_similar: Callable[..., bool] = direct(kernels.play_similar)

    def draw(
        self, fields: WorldFields, query: Query, rows: FloatArray, traffic: Traffic | None, *,
        under_way: bool = False, arrives: bool = True, shift: bool = True,
    ) -> FloatArray:  # fmt: skip
        """Make each step of a way that is free one or another clip that may stand in for it; the same for a seed.

        Args:
            fields: the world.
            query: that the way answers, and that was asked last (`search.ask`); its seed counts.
            rows: x, y [m], heading [rad], time [s] and action of each step, and the end as the last row; (N + 1, 5).
            traffic: who is where and when; None for nobody.
            under_way: whether the start has been left before.
            arrives: whether the end must be at the goal and free for ever.
            shift: whether steps may come to lie elsewhere.

        Returns:
            The same for what is played; (N + 1, 5).
        """
        if not self.similar.any or len(rows) < 2:
            return rows
        searcher, (busy, handle) = self.searcher, _handle(traffic)
        state, seed = searcher.start_state(query.start_behavior), _seed(query)
        world = searcher.handle, fields.handle, searcher.passing(fields), handle, busy, searcher.query, self._handle
        out = np.array(rows)
        if shift and self.similar.shift:
            rest = self._rest(int(rows[-2, 4])) if arrives else -1
            for attempt in range(ATTEMPTS):
                if self._play_similar(*world, state, under_way, seed + attempt, rows, rest, out):
                    return out
            out = np.array(rows)
        self._play_identical(*world, state, under_way, seed, out)
        return out

    def with_identical_clips(self, fields: WorldFields, query: Query, plan: Plan, traffic: Traffic | None) -> Plan:
        """A plan of a search, its steps made one or another of their twins.

        A search draws clips of what it does, but one is as good as another to it to wait by.
        """
        if not (self.similar.any and isinstance(plan.steps, LaidSteps)):
            return plan
        rows = np.vstack([plan.steps.rows, (*plan.end_pose, plan.end_time, -1.0)])
        rows = self.draw(fields, query, rows, traffic, shift=False)
        steps = LaidSteps(rows[:-1], self.searcher.names, self.searcher.table.clips)
        return Plan(steps, plan.end_pose, plan.end_time, plan.cost)

    def cost(self, rows: FloatArray) -> float:
        """Of the steps of a way, the end as the last row; (N + 1, 5)."""
        return float(self.searcher.costs[rows[:-1, 4].astype(np.int64)].sum())

    def _rest(self, action: int) -> int:
        """What stands still after an action, or -1."""
        arrays, table = self.searcher.arrays, self.searcher.table
        return int(arrays.states[arrays.behaviors[table.behavior[action], 0], 1])


def _seed(query: Query) -> int:
    """Of what begins at a time: legs of one way differ."""
    return (query.seed * 1_000_003 + round(1e3 * query.start_time) * 7919) & 0x3FFFFFFF


def _handle(traffic: Traffic | None) -> tuple[bool, ArrayHandle[TrafficArrays]]:
    if traffic is not None and len((arrays := traffic.arrays).keys) > 0:
        return True, ArrayHandle(arrays)
    return False, NO_TRAFFIC
