"""Searches for characters that get no nearer to their goals, since trees know no path: doors, fences, beams, dead ends.

One search is under way at a time, a little of it in each step of time (`sliced_search`). The character that it is for
plays its plan to the end, and stands there until the search is over.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, IntArray
from gaitway.live.planning._subgoal_kernels import RouteArrays, passes_special, subgoal_of
from gaitway.live.planning.sliced_search import SlicedQuery, SlicedSearch, Work
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import HEADING, TIME, CrowdArrays, X, Y
from gaitway.live.playing.arrays import LiveLibrary
from gaitway.space.fields import WorldFields
from gaitway.space.plan import Pose

EFFORTS = (
    (12.0, ((1.0, 1_000), (6.0, 3_000))),
    (math.inf, ((6.0, 6_000),)),
    (8.0, ((3.0, 3_000),)),
)
AT_FIRST = ((math.inf, ((3.0, 1_500),)), (math.inf, ((6.0, 3_000),)))
"""Length of the route to the goal that a search shall cover [m], size of the bins (`Query.coarse`) and largest number
of nodes of one search after another: in the first attempt, the next, and so on in turn; and for a character with a new
goal in the first two attempts. Small bins are for doors. With large bins many nodes before a fence, where no jump
begins, count as one."""
RATE = 300
"""Number of nodes for each step of time; they take about five milliseconds."""
_MANY, _LEAST = 200, 20
"""Number of characters with which there are half as many nodes, and least number of nodes."""
IDLE = 3
"""Number of turns to plan that brought a character no nearer to its goal, before a search for it begins."""
_LONGER, _LONGEST = 2, 4
"""Number of additional turns with each search that found nothing, and how often they are added at most."""
_WIDER = 1.5
"""Additional distance from the goal at which a path may end, where the goal is taken or lies ahead on the route [m]."""
_LEAD = 0.8
"""Least time between now and the start of a path that is searched for; most searches are over by then [s]."""
_LOOKS = 8
"""Largest number of characters with new goals whose routes are looked at in a step of time."""
_FAR_OFF = 7200.0
"""Time after which no search begins in a world with movers [s]; it would have to remember all slots since time 0."""


class Outcome(NamedTuple):
    """The result of a search that is over."""

    character: int
    actions: IntArray | None
    """Actions of the path from the end of its fixed steps on, by their numbers in the crowd; (N,), or None."""
    nodes: int
    milliseconds: float
    """Time that it took in all steps of time together, for display only [ms]."""


class _StuckTask(NamedTuple):
    """A search that is under way."""

    character: int
    life: int
    """Number of characters that have had its number."""
    start: Pose
    """Pose in which the path begins."""
    work: Work


class StuckCharacters:
    """Searches for live characters of one library in a world. This class is **mutable**."""

    def __init__(self, library: LiveLibrary) -> None:
        """Prepare a library of a crowd."""
        self._library, self._fields = library, library.prepared.fields
        self._search = SlicedSearch(library)
        self._task: _StuckTask | None = None
        self._left, self._latest, self._looked, self._spent = 0, -1, 0, 0.0

    def enter(self, fields: WorldFields, now: float) -> None:
        """Search in a world from a time on [s]; a search in the earlier world is given up."""
        self._give_up()
        self._fields = fields
        self._search.enter(fields, now)

    def warm_up(self, tolerance: float, routes: ArrayHandle[RouteArrays]) -> None:
        """Compute and compile all that searches need, where goals have a tolerance [m]."""
        self._search.warm_up((tolerance, tolerance + _WIDER))
        subgoal_of(routes, -1, 0.0, 0.0, 0.0, 0.0, 1.0)
        passes_special(self._fields.handle, routes, -1, 0.0, 0.0)

    def go_on(self, crowd: CrowdArrays, routes: ArrayHandle[RouteArrays], now: float, share: float) -> Outcome | None:
        """Search for a step of time; return the result of a search that is over now.

        Args:
            crowd: the characters.
            routes: routes to their goals.
            now: time now [s].
            share: amount of search, as a multiple of `RATE`.
        """
        rate = round(share * max(RATE * _MANY / (_MANY + len(crowd.until)), _LEAST))
        self._left = min(self._left + rate, rate)
        if self._task is not None and not self._is_due(crowd, self._task):
            self._give_up()
        if self._task is None:
            self._search.look_ahead(now)
        began = clock.perf_counter()
        while self._left > 0 and (self._task is not None or self._begin(crowd, routes, now)):
            task = self._task
            assert task is not None
            try:
                self._left -= next(task.work)
            except StopIteration as end:
                self._task, crowd.counts[task.character, playing.HELD] = None, 0
                spent = self._spent + clock.perf_counter() - began
                return Outcome(task.character, end.value.actions, end.value.nodes, 1e3 * spent)
        self._spent += clock.perf_counter() - began
        return None

    def state(self, crowd: CrowdArrays) -> dict[str, Any]:
        """Return what `restore` needs, as plain values. A search that is under way is given up and begins again."""
        if self._task is not None:
            crowd.counts[self._task.character, playing.HELD] = 0
            self._give_up()
        return {"left": self._left, "latest": self._latest, "looked": self._looked, "search": self._search.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where an earlier object stopped, in the same world.

        Raises:
            ValueError: if the values cannot be those of such an object.
        """
        self._give_up()
        self._left, self._latest, self._looked = (int(state[name]) for name in ("left", "latest", "looked"))
        self._search.restore(state["search"])

    def _begin(self, crowd: CrowdArrays, routes: ArrayHandle[RouteArrays], now: float) -> bool:
        """Begin the next search, if a character needs one."""
        if self._fields.world.movers and now > _FAR_OFF:
            return False
        me = self._next(crowd, routes)
        if me is None:
            return False
        self._latest, self._spent = me, 0.0
        counts = crowd.counts
        counts[me, playing.HELD] = 1
        while (
            counts[me, playing.FIXED] < counts[me, playing.COUNT]
            and _fixed_end(crowd, self._library, me)[1] < now + _LEAD
        ):
            counts[me, playing.FIXED] += 1
        wanted = self._wanted(crowd, routes, me)
        self._task = _StuckTask(
            me, int(counts[me, playing.LIFE]), wanted.start, self._search.work(crowd, me, wanted, now)
        )
        return True

    def _next(self, crowd: CrowdArrays, routes: ArrayHandle[RouteArrays]) -> int | None:
        """Return the character whose search is next; characters with new goals and special obstacles come first."""
        counts = crowd.counts
        going: BoolArray = (counts[:, playing.STATUS] == playing.GOING) & np.isfinite(crowd.numbers[:, playing.READY])
        going &= self._library.owns(crowd)
        # who is about to climb stairs has nothing to search for, and who changes the pace does so first
        people = np.arange(len(counts))
        last = crowd.actions[people, counts[:, playing.FIXED] - 1]
        going &= (last >= self._library.first_action) & (last < self._library.end_action)
        if self._fields.arrays.near.size > 1:
            fresh = np.flatnonzero(going & (counts[:, playing.SOUGHT] < 0) & (counts[:, playing.ROUTE] >= 0))
            for me in np.roll(fresh, -int(np.searchsorted(fresh, self._looked)))[:_LOOKS].tolist():
                self._looked = me + 1
                (x, y, _), _, _ = _fixed_end(crowd, self._library, me)
                answer = passes_special(self._fields.handle, routes, int(counts[me, playing.ROUTE]), x, y)
                if answer == 1:
                    return int(me)
                if answer == 0:
                    counts[me, playing.SOUGHT] = 0
        patience = IDLE + _LONGER * np.clip(counts[:, playing.SOUGHT], 0, _LONGEST)
        stuck = np.flatnonzero(going & (counts[:, playing.IDLE] >= patience))
        if not len(stuck):
            return None
        return int(stuck[int(np.searchsorted(stuck, self._latest, side="right")) % len(stuck)])

    def _wanted(self, crowd: CrowdArrays, routes: ArrayHandle[RouteArrays], me: int) -> SlicedQuery:
        """Return the query of the next search for a character."""
        sought, table = int(crowd.counts[me, playing.SOUGHT]), self._library.prepared.table
        pose, time, last = _fixed_end(crowd, self._library, me)
        x, y, tolerance = crowd.numbers[me, [playing.GOAL_X, playing.GOAL_Y, playing.TOLERANCE]].tolist()
        ahead, efforts = AT_FIRST[sought + len(AT_FIRST)] if sought < 0 else EFFORTS[sought % len(EFFORTS)]
        goal, final = (x, y), True
        if math.isfinite(ahead):
            route = int(crowd.counts[me, playing.ROUTE])
            near_x, near_y, final = subgoal_of(routes, route, pose[0], pose[1], x, y, ahead)
            goal = (near_x, near_y)
        if not final or _is_taken(crowd, self._library, me):
            tolerance += _WIDER
        return SlicedQuery(pose, time, table.behaviors[int(table.behavior[last])], goal, tolerance, efforts)

    def _is_due(self, crowd: CrowdArrays, task: _StuckTask) -> bool:
        """Return whether the character of a search still waits for it where it begins."""
        counts = crowd.counts[task.character]
        waits = counts[playing.HELD] != 0 and counts[playing.STATUS] == playing.GOING
        if not waits or counts[playing.LIFE] != task.life:
            return False
        if _fixed_end(crowd, self._library, task.character)[0] != task.start:
            counts[playing.HELD] = 0
            return False
        return True

    def _give_up(self) -> None:
        """End the search that is under way."""
        if self._task is not None:
            self._task.work.close()
            self._task = None


def _is_taken(crowd: CrowdArrays, library: LiveLibrary, me: int) -> bool:
    """Return whether another character rests at a character's goal, or too near to it for both to turn."""
    away = np.hypot(*(crowd.steps[:, -1, :2] - crowd.numbers[me, [playing.GOAL_X, playing.GOAL_Y]]).T)
    away[crowd.counts[:, playing.STATUS] == playing.EMPTY] = np.inf
    away[me] = np.inf
    return any(bool((away[other.owns(crowd)] < library.apart(other)).any()) for other in library.crowd)


def _fixed_end(crowd: CrowdArrays, library: LiveLibrary, me: int) -> tuple[Pose, float, int]:
    """Return where and when a character's fixed steps end, and the number of their last action in the library."""
    fixed, count = crowd.counts[me, [playing.FIXED, playing.COUNT]].tolist()
    x, y, heading = crowd.steps[me, fixed if fixed < count else -1, [X, Y, HEADING]].tolist()
    last = int(crowd.actions[me, fixed - 1]) - library.first_action
    return (x, y, heading), float(crowd.steps[me, fixed - 1, TIME] + library.body.durations[last]), last
