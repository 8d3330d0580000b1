"""A search for those who get no nearer to their goals, where a tree knows no way: doors, fences, beams, dead ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.behavior._held import Held
from gaitway.behavior._traffic_kernels import SLOT
from gaitway.behavior.fields import WorldFields
from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.kits import Kit
from gaitway.behavior.plan import LaidSteps, Plan, Pose
from gaitway.behavior.search import Query, search
from gaitway.behavior.searcher import Searcher
from gaitway.behavior.traffic import Traffic, placed_discs
from gaitway.tree.live import _playing_kernels as playing
from gaitway.tree.live._crowd_kernels import APART, HEADING, TIME, BodyArrays, CrowdArrays, X, Y

EFFORTS = (((1.0, 1_000), (6.0, 2_000)), ((3.0, 3_000),))
"""Size of the bins (`Query.coarse`) and most nodes of one search after another, in the first attempt, the next, and so
on in turn. Small bins are for doors; with large ones many nodes before a fence, from where no jump begins, are one."""
RATE = 600
"""Nodes for each step of time on average: after a search nobody searches until these make up for it."""
_FEW = 50
"""For each so many characters it takes as long again: what a search costs must not matter to a large crowd."""
WEIGHT = 1.5
"""Of the estimate."""
IDLE = 3
"""Turns to plan that brought somebody no nearer to its goal before it searches."""
_LONGER, _LONGEST = 4, 6
"""So many turns more with each search that found nothing, and how often at most."""
_WIDER, _WIDEST = 0.5, 1.5
"""How much farther from the goal a way may end after each of them, and at most [m]."""
_AROUND, _MOST = 15.0, 32
"""Others within this distance of the line to a goal [m] are in the way, so many of the nearest at most."""
_FAR_OFF = 7200.0
"""Where things move, nobody searches after so long [s]: the search would have to remember all slots since 0."""


class Seeker:
    """Searches for live characters of one library in a world. This class is **mutable**.

    It has a searcher of its own, whose bodies have a disc about the root as those of live characters have; so what it
    finds is free for these too as a rule.
    """

    def __init__(self, kit: Kit, body: BodyArrays) -> None:
        """Prepare a library.

        Args:
            kit: the library.
            body: what its bodies take up.
        """
        self._kit, self._body = kit, body
        self._discs = replace(
            kit.discs, timed=body.discs, timed_starts=body.disc_starts, window_around=read_only(body.windows[:, 2:]),
            around=body.around,
        )  # fmt: skip
        self._searcher = Searcher(kit.table, self._discs, kit.searcher.reaches, kit.searcher.time_weight)
        self._heuristics: Heuristics | None = None
        self._movers: Traffic | None = None
        self._fields = kit.fields
        self._left, self._latest = 0, -1

    def enter(self, fields: WorldFields) -> None:
        """Take a world for the one to search in; what it takes is made when it is needed."""
        self._fields, self._heuristics, self._movers = fields, None, None

    def warm_up(self) -> None:
        """Have all compiled that a search needs, which must not take place while people are watching."""
        x0, y0, x1, y1 = self._fields.world.bounds
        x, y = 0.5 * (x0 + x1), 0.5 * (y0 + y1)
        traffic = Traffic(self._fields.kinds)
        traffic.add_standing(traffic.enroll("nobody"), [(x0, y0, 0.1)], 0.0, 1.0)
        search(self._searcher, self._fields, Query((x, y, 0.0), (x, y), max_nodes=1), traffic, explain=False)

    def waiting(self, crowd: CrowdArrays, most: int) -> IntArray:
        """So many at most of those who need a search now, in turn, if it is time for one."""
        self._left = min(self._left + RATE, 0)
        if self._left < 0 or most == 0:
            return np.empty(0, np.int64)
        counts = crowd.counts
        patience = IDLE + _LONGER * np.minimum(counts[:, playing.SOUGHT], _LONGEST)
        stuck: BoolArray = (counts[:, playing.STATUS] == playing.GOING) & (counts[:, playing.IDLE] >= patience)
        stuck &= np.isfinite(crowd.numbers[:, playing.READY])
        who = np.flatnonzero(stuck)
        first = int(np.searchsorted(who, self._latest, side="right"))
        return np.concatenate([who[first:], who[:first]])[:most]

    def find(self, crowd: CrowdArrays, me: int, now: float) -> IntArray | None:
        """Actions of a way for a character from the end of its fixed steps on; (N,), or None."""
        self._latest, fields, table = me, self._fields, self._kit.table
        movers = bool(fields.world.movers)
        if movers and now > _FAR_OFF:
            return None
        if self._heuristics is None:
            self._heuristics = self._kit.heuristics.moved(fields, self._kit.discs)
        pose, time, last = _fixed_end(crowd, self._body, me)
        x, y, tolerance = crowd.numbers[me, [playing.GOAL_X, playing.GOAL_Y, playing.TOLERANCE]].tolist()
        near = tolerance + min(_WIDER * int(crowd.counts[me, playing.SOUGHT]), _WIDEST)
        if _is_taken(crowd, me):
            near = tolerance + _WIDEST
        # a search remembers all slots from 0 on, but times of movers cannot be shifted
        since = 0.0 if movers else now - float(self._body.durations.max())
        traffic, owners = self._others(crowd, me, pose, now, since, movers)
        estimates = Held(self._heuristics.arrays((x, y), near, pose[:2], WEIGHT))
        plan: Plan | None = None
        for coarse, nodes in EFFORTS[int(crowd.counts[me, playing.SOUGHT]) % len(EFFORTS)]:
            query = Query(
                pose, (x, y), tolerance=near, weight=WEIGHT, start_time=time - since, max_nodes=nodes, coarse=coarse,
                start_behavior=table.behaviors[int(table.behavior[last])],
            )  # fmt: skip
            result = search(self._searcher, fields, query, traffic, estimates, explain=False)
            self._left -= max(result.expanded, RATE * (len(crowd.until) // _FEW))
            plan = result.plan
            if plan is not None:
                break
        for owner in owners if movers else ():
            traffic.remove(owner)
        if plan is None or not isinstance(plan.steps, LaidSteps):
            return None
        return read_only(plan.steps.rows[:, 4].astype(np.int64))

    def _others(
        self, crowd: CrowdArrays, me: int, pose: Pose, now: float, since: float, movers: bool
    ) -> tuple[Traffic, list[int]]:
        """Traffic of those around somebody, with times from another on, and their numbers in it."""
        traffic, owners = self._with_movers(now) if movers else Traffic(self._fields.kinds), []
        places = np.arange(len(crowd.until))
        goal, now_at = crowd.numbers[me, [playing.GOAL_X, playing.GOAL_Y]], crowd.counts[:, playing.FIRST]
        away = np.minimum(
            _from_line(crowd.steps[:, -1, :2], pose, goal), _from_line(crowd.steps[places, now_at, :2], pose, goal)
        )
        away[(places == me) | (crowd.counts[:, playing.STATUS] == playing.EMPTY)] = np.inf
        nearest = np.argsort(away, kind="stable")[:_MOST]
        for who in nearest[away[nearest] < _AROUND].tolist():
            owners.append(owner := traffic.enroll(str(who)))
            self._add(traffic, owner, crowd, who, now, since)
        return traffic, owners

    def _add(self, traffic: Traffic, owner: int, crowd: CrowdArrays, who: int, now: float, since: float) -> None:
        """Put somebody's plan and the place where it rests into traffic."""
        body, end = self._body, crowd.steps[who, -1]
        resting, start = int(crowd.actions[who, -1]), max(float(end[TIME]), now) - since
        x, y, heading = end[[X, Y, HEADING]].tolist()
        first, count = crowd.counts[who, [playing.FIRST, playing.COUNT]].tolist()
        rows = np.empty((count - first, 5))
        rows[:, :3], rows[:, 3] = crowd.steps[who, first:count][:, [X, Y, HEADING]], crowd.steps[who, first:count, TIME]
        rows[:, 3] -= since
        rows[:, 4] = crowd.actions[who, first:count]
        if end[TIME] > now:  # else it stands there already
            steps = LaidSteps(rows, self._searcher.names, self._kit.table.clips)
            traffic.add_plan(owner, Plan(steps, (x, y, heading), start, 0.0), self._kit.table, self._discs)
        discs = body.still[body.still_starts[resting] : body.still_starts[resting + 1]]
        traffic.add_standing(owner, placed_discs((x, y, heading), discs), start)

    def _with_movers(self, now: float) -> Traffic:
        """Traffic of movers, known for long enough."""
        if self._movers is None:
            world = self._fields.world
            self._movers = Traffic(self._fields.kinds, terrain=world.terrain, horizon=now + 240.0)
            for mover in world.movers:
                self._movers.add_mover(mover)
        if (now + 120.0) / SLOT > self._movers.horizon:
            self._movers.extend(now + 240.0)
        return self._movers


def _from_line(points: FloatArray, pose: Pose, goal: FloatArray) -> FloatArray:
    """Distances of points (N, 2) from the line between a pose and a goal [m]; (N,)."""
    start = np.array(pose[:2])
    along = goal - start
    share = np.clip((points - start) @ along / max(float(along @ along), 1e-9), 0.0, 1.0)
    out: FloatArray = np.hypot(*(points - start - share[:, None] * along).T)
    return out


def _is_taken(crowd: CrowdArrays, me: int) -> bool:
    """Whether somebody else rests at a character's goal, or so near to it that not both could turn."""
    away = np.hypot(*(crowd.steps[:, -1, :2] - crowd.numbers[me, [playing.GOAL_X, playing.GOAL_Y]]).T)
    away[crowd.counts[:, playing.STATUS] == playing.EMPTY] = np.inf
    away[me] = np.inf
    return bool((away < crowd.extent[APART]).any())


def _fixed_end(crowd: CrowdArrays, body: BodyArrays, me: int) -> tuple[Pose, float, int]:
    """Where and when a character's fixed steps end, and the last action of them."""
    fixed, count = crowd.counts[me, [playing.FIXED, playing.COUNT]].tolist()
    x, y, heading = crowd.steps[me, fixed if fixed < count else -1, [X, Y, HEADING]].tolist()
    last = int(crowd.actions[me, fixed - 1])
    return (x, y, heading), float(crowd.steps[me, fixed - 1, TIME] + body.durations[last]), last
