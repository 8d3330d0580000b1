"""The behaviour planner for one character: A* over the clips of a behaviour graph (Lau 2009, chapter 3.4)."""

from __future__ import annotations

import math
import struct
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gaitway import planar
from gaitway._jit import compile_seconds, direct
from gaitway.arrays import FloatArray, IntArray, read_only
from gaitway.behavior import _search_kernels as kernels
from gaitway.behavior._check_kernels import ActionArrays
from gaitway.behavior._episode_kernels import PLACES, TICK, Episodes, no_episodes
from gaitway.behavior._heuristic_kernels import HeuristicArrays, straight_line
from gaitway.behavior._search_kernels import Room
from gaitway.behavior._traffic_kernels import TrafficArrays, no_traffic
from gaitway.behavior.fields import WorldFields
from gaitway.behavior.plan import LaidSteps, Plan, Pose, SearchResult, Status, in_the_way
from gaitway.behavior.states import States
from gaitway.errors import GaitwayError, LibraryError
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.world.regions import MARGIN, Reach

SLICE = 20_000
"""Nodes expanded between looks at the clock."""
TIME_WEIGHT = 0.5
"""What a second costs unless told otherwise, in metres walked; at much less, people dawdle and step sideways."""
_NOTES = 256
"""Latest blockers that are remembered; a power of two."""
_UNREACHABLE = 1_000
"""Nodes expanded to learn what cuts a goal off that cannot be reached."""
_CLOSE = 0.08
"""How much nearer to things than a plan may come somebody may stand at the start [m]."""
_NUMBERS = struct.Struct(f"{kernels.TURNS + 1}d")
_PLACES_SEEN = 8192
"""Places whose episodes are known at a time."""
_NO_TRAFFIC, _NO_EPISODES = no_traffic(), no_episodes()
_MOST_TURNS = 32
"""Headings that a key of the closed set can tell apart."""
_ANYTIME = (3.0, 1.5, 1.0)
"""Weights of an anytime search, one after another."""


class Traffic(Protocol):
    """What a search needs of traffic."""

    @property
    def arrays(self) -> TrafficArrays:
        """For the kernel."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the owners."""


@dataclass(frozen=True)
class Query:
    """From where to where."""

    start: Pose
    goal: tuple[float, float]
    """x, y [m]."""
    goal_heading: float | None = None
    """[rad], or None for any."""
    tolerance: float = 0.5
    """How near to the goal is near enough [m]."""
    heading_tolerance: float = float(np.radians(15.0))
    """[rad]."""
    start_time: float = 0.0
    """[s]."""
    start_behavior: str | None = None
    """The behaviour that has just ended; None for somebody who stands."""
    seed: int = 0
    """Of the choice among clips of a behaviour."""
    weight: float = 1.0
    """Factor on the estimated cost to the goal; at 1 or more the plan costs at most so many times the least."""
    anytime: bool = False
    """Whether to look for better plans, with less and less weight, until nothing is left of the budget."""
    max_nodes: int = 1_000_000
    """Most nodes to expand."""
    max_seconds: float = 60.0
    """[s]."""
    crowded: float = 0.0
    """How much nearer than they may others may be near the start [m]."""

    def __post_init__(self) -> None:
        numbers = (*self.start, *self.goal, self.goal_heading or 0.0, self.start_time)
        if not np.isfinite(numbers).all():
            raise GaitwayError(f"start {self.start}, goal {self.goal} and times must be finite numbers")
        if not (self.tolerance >= 0.0 and self.heading_tolerance >= 0.0 and self.weight >= 1.0):
            raise GaitwayError(
                f"tolerance {self.tolerance}, heading tolerance {self.heading_tolerance} must be 0 or more, "
                f"weight {self.weight} 1 or more"
            )


class Searcher:
    """A library prepared for searches, with memory that each search uses again. Not for several threads at once.

    Attributes:
        table: actions of the library.
        states: states of its behaviour graph.
        reaches: what its special behaviours get past.
        arrays: what the kernel sees of it.
        per_metre: least cost of a metre as the crow flies.
        bins: of the closed set.
        room: memory of the latest search.
    """

    def __init__(
        self,
        table: ActionTable,
        discs: BodyDiscs,
        reaches: Sequence[Reach] = (),
        time_weight: float = TIME_WEIGHT,
        bins: tuple[float, int] = (0.25, 24),
    ) -> None:
        """Prepare a library.

        Args:
            table: its actions.
            discs: what their bodies take up, by action.
            reaches: what its special behaviours get past, one for each of their clips in the order of the table.
            time_weight: cost of a second [m/s]; 0 counts lengths alone, as the thesis does.
            bins: side [m] of the cells, and headings in a whole turn (32 at most), in which states count as the same.

        Raises:
            LibraryError: if the parts do not go together, or nothing in the library ever comes to rest.
        """
        if not (np.isfinite(time_weight) and time_weight >= 0.0):
            raise LibraryError(f"time_weight {time_weight} must be 0 or more")
        if not (bins[0] > 0.0 and 1 <= bins[1] <= _MOST_TURNS):
            raise LibraryError(f"bins {bins} must be a length above 0 and 1 to {_MOST_TURNS} headings")
        if len(discs) != len(table):
            raise LibraryError(f"discs of {len(discs)} actions for a table of {len(table)}")
        self.table, self.reaches, self.states = table, tuple(reaches), States.of(table)
        if not (self.states.rest >= 0).any():
            raise LibraryError("no behaviour of the library goes nowhere, so nobody can stop; add one like 'stand'")
        self.bins = bins
        self.costs: FloatArray = table.costs + time_weight * table.durations
        self.arrays = _action_arrays(table, self.states, discs, self.reaches, self.costs)
        travel = np.hypot(table.moves[:, 0], table.moves[:, 1])
        moving = travel > 1e-9
        self.per_metre = float((self.costs[moving] / travel[moving]).min()) if moving.any() else 0.0
        self.names = [table.behaviors[b] for b in table.behavior.tolist()]
        self.room = _room(1 << 13, len(table.behaviors))
        # these are called for every query, and always with the same types
        self.kernel: Callable[..., tuple[int, int]] = direct(kernels.search_slice)
        self.trace: Callable[..., tuple[FloatArray, FloatArray]] = direct(kernels.trace)
        self._goal, self._numbers = np.zeros(4), np.zeros(kernels.TURNS + 1)
        self._shown = read_only(self._numbers)
        self._straight = straight_line(0.0, 0.0, 0.0, 0.0)._replace(goal=read_only(self._goal))
        self._resting = int(np.flatnonzero(self.states.rest >= 0)[0])
        self._episodes = _NO_EPISODES
        self._passing: tuple[WorldFields, IntArray] | None = None

    def passing(self, fields: WorldFields) -> IntArray:
        """The kind of obstacle in a world that each action passes, or that it is an ordinary one or of no use; (A,)."""
        if self._passing is None or self._passing[0] is not fields:
            kinds = []
            for action, kind in enumerate(self.table.kind.tolist()):
                number = fields.passed_kind(self.table.kinds[kind]) if kind >= 0 else kernels.ORDINARY
                row = int(self.arrays.firsts[action, 2])
                useful = number >= 0 and row >= 0 and self.reaches[row].edge is None
                kinds.append(kernels.ORDINARY if kind < 0 else number if useful else kernels.NEVER)
            self._passing = fields, read_only(np.array(kinds, dtype=np.int64))
        return self._passing[1]

    def straight(self, query: Query) -> HeuristicArrays:
        """The distance to a goal as the only estimate."""
        self._goal[:] = (*query.goal, query.tolerance, self.per_metre)
        return self._straight

    def numbers(self, *values: float) -> FloatArray:
        """Numbers of a query, in memory that the next query uses again; read-only for the kernel."""
        _NUMBERS.pack_into(self._numbers.data, 0, *values)
        return self._shown

    def episodes(self, fields: WorldFields, traffic: TrafficArrays) -> Episodes:
        """Memory for the episodes of places in a world, as long as its traffic changes."""
        rows, columns = fields.arrays.labels.shape
        (x, y, rate), ticks = fields.arrays.place.tolist()[:3], traffic.last // TICK + 2
        shape = (math.ceil(PLACES * rows / rate), math.ceil(PLACES * columns / rate))
        known = self._episodes
        if known.rows.shape != shape or known.used[1] > 2**30:
            known = known._replace(rows=np.full(shape, -1, np.int32), used=np.zeros(2, np.int64))
        if known.numbers.shape[1] != ticks:
            known = known._replace(numbers=np.empty((_PLACES_SEEN, ticks), np.uint8))
        known.used[0] = known.used[1]
        self._episodes = known._replace(corner=_real([x, y]))
        return self._episodes

    def moments(self, episodes: Episodes) -> Episodes:
        """Memory that tells moments apart and no episodes, for a search that leaves nothing out."""
        episodes.used[0] = episodes.used[1]
        return episodes._replace(numbers=episodes.numbers[:0])

    def start_state(self, behavior: str | None) -> int:
        """The state after a behaviour; None is that in which the first of the behaviours that stand still is."""
        if behavior is not None:
            return int(self.states.after[self.table.index(behavior)])
        return self._resting


def search(
    searcher: Searcher,
    fields: WorldFields,
    query: Query,
    traffic: Traffic | None = None,
    heuristics: HeuristicArrays | None = None,
) -> SearchResult:
    """Find a plan.

    Args:
        searcher: the library.
        fields: the world.
        query: from where to where.
        traffic: who is where and when; None for nobody.
        heuristics: estimates for the query's goal; None takes the distance.
    """
    return _Run(searcher, fields, query, traffic, heuristics).result()


class _Run:
    """One search."""

    def __init__(
        self,
        searcher: Searcher,
        fields: WorldFields,
        query: Query,
        traffic: Traffic | None,
        heuristics: HeuristicArrays | None,
    ) -> None:
        self.began, self.compiled = time.perf_counter(), compile_seconds()
        self.searcher, self.fields, self.query = searcher, fields, query
        self.traffic = _NO_TRAFFIC if traffic is None else traffic.arrays
        self.names = () if traffic is None else traffic.names
        self.busy = len(self.traffic.keys) > 0
        self.heuristics = searcher.straight(query) if heuristics is None else heuristics
        self.state = searcher.start_state(query.start_behavior)
        self.episodes = searcher.episodes(fields, self.traffic) if self.busy else _NO_EPISODES
        self.expanded = self.checks = 0

    def result(self) -> SearchResult:
        """Search, once or with less and less weight."""
        best: Plan | None = None
        code = kernels.NOTHING
        for weight in _weights(self.query):
            code, node = self.go(weight, math.inf if best is None else best.cost)
            if code == kernels.NOTHING and best is None and self.busy:
                # who cannot stop wherever it likes may have to set out later, which episodes do not tell apart
                self.episodes = self.searcher.moments(self.episodes)
                code, node = self.go(weight, math.inf)
            if code == kernels.FOUND:
                best = self.plan(node)
            if best is None or code == kernels.GOING:
                break
        if best is None:
            return self.failed(code)
        return SearchResult(
            Status.FOUND, best, self.expanded, self.checks, self.seconds, best.end_pose, self.away(best.end_pose)
        )

    @property
    def seconds(self) -> float:
        """Time that it took so far [s], compiling aside."""
        return time.perf_counter() - self.began - (compile_seconds() - self.compiled)

    def go(self, weight: float, bound: float, whole: bool = True) -> tuple[int, int]:
        """Search from the start; how it ended, and the node at the goal.

        Args:
            weight: of the estimate.
            bound: cost that a plan must be below.
            whole: whether to see first that start and goal hang together.
        """
        searcher, query = self.searcher, self._numbers(weight, bound)
        passing, limit = searcher.passing(self.fields), self.query.max_nodes - self.expanded
        if not whole:
            limit = min(limit, _UNREACHABLE)
        until, anew = min(SLICE, limit), True
        while True:
            code, node = searcher.kernel(
                searcher.arrays, self.fields.arrays, passing, self.traffic, self.busy, self.episodes, self.heuristics,
                searcher.room, query, self.state, self.query.seed, until, anew,
            )  # fmt: skip
            counts = searcher.room.counts
            anew = False
            if code == kernels.APART and not whole:
                continue
            if code == kernels.FULL:
                bigger = _room(2 * len(searcher.room.states), len(searcher.room.laid), searcher.room)
                kernels.enlarge(searcher.room, bigger)
                searcher.room = bigger
            elif code != kernels.GOING or until >= limit or self.seconds > self.query.max_seconds:
                self.expanded += int(counts[kernels.EXPANDED])
                self.checks += int(counts[kernels.CHECKS])
                return code, node
            until = min(int(counts[kernels.EXPANDED]) + SLICE, limit)

    def _numbers(self, weight: float, bound: float) -> FloatArray:
        """The query as the kernel takes it."""
        query, searcher = self.query, self.searcher
        (x, y, heading), (goal_x, goal_y), turned = query.start, query.goal, query.goal_heading
        leeway = math.tau if turned is None else query.heading_tolerance
        return searcher.numbers(
            x, y, heading - math.tau * math.floor((heading + math.pi) / math.tau), query.start_time, goal_x, goal_y,
            query.tolerance + 1e-9, turned or 0.0, leeway + 1e-9, weight, bound, _CLOSE, query.crowded,
            1.0 / searcher.bins[0], searcher.bins[1],
        )  # fmt: skip

    def plan(self, node: int) -> Plan:
        """The way to a node."""
        searcher, room = self.searcher, self.searcher.room
        rows, end = searcher.trace(searcher.arrays, room.states, room.links, node)
        x, y, heading, t, cost = end.tolist()
        return Plan(LaidSteps(rows, searcher.names, searcher.table.clips), (x, y, heading), t, cost)

    def pose(self, node: int) -> Pose:
        """Where a node is."""
        x, y, heading = self.searcher.room.states[node, :3].tolist()
        return x, y, heading

    def away(self, pose: Pose) -> float:
        """Distance to the goal [m]."""
        return math.hypot(pose[0] - self.query.goal[0], pose[1] - self.query.goal[1])

    def failed(self, code: int) -> SearchResult:
        """What to say when the goal was not reached."""
        (x, y, _), goal, bounds = self.query.start, self.query.goal, self.fields.world.bounds
        for what, (px, py) in (("start", (x, y)), ("goal", goal)):
            if not (bounds[0] <= px <= bounds[2] and bounds[1] <= py <= bounds[3]):
                return self._refused(f"{what} ({px:g}, {py:g}) is out of bounds {bounds}", "bounds")
        if code in (kernels.START_BLOCKED, kernels.GOAL_BLOCKED):
            what, place = ("start", self._worst_place()) if code == kernels.START_BLOCKED else ("goal", goal)
            px, py = (x, y) if code == kernels.START_BLOCKED else goal
            who = self.fields.blame(np.array([place]))[0]
            return self._refused(f"{what} ({px:g}, {py:g}) is in '{who}', or too near to it", who)
        reason = "all that can be reached was looked at"
        if code == kernels.APART:
            self.go(self.query.weight, math.inf, whole=False)
            reason = "the goal lies in another part of free space, which cannot be reached from the start"
        elif code == kernels.GOING:
            reason = "the budget ran out"
        return self._lost(code, reason)

    def _refused(self, reason: str, blocker: str) -> SearchResult:
        start, away = self.query.start, self.away(self.query.start)
        return SearchResult(
            Status.NO_PATH, None, self.expanded, self.checks, self.seconds, start, away, {blocker: 1}, reason
        )

    def _worst_place(self) -> tuple[float, float]:
        """Where the body stands nearest to something at the start."""
        arrays = self.searcher.arrays
        rest = int(arrays.states[self.state, 1])
        discs = arrays.static[arrays.firsts[rest, 0] : arrays.firsts[rest + 1, 0]]
        points = planar.transform_points(self.query.start, discs[:, :2])
        x, y = points[int(np.argmax(discs[:, 2] - self.fields.clearance(points)))].tolist()
        return x, y

    def _lost(self, code: int, reason: str) -> SearchResult:
        """After a search that found nothing."""
        counts, blockers = self.searcher.room.counts, self._blockers()
        coarse = code == kernels.NOTHING and not blockers
        nearest, resting = int(counts[kernels.NEAREST]), int(counts[kernels.RESTING])
        closest = self.pose(self._foremost() if coarse else nearest)
        remaining = self.away(closest)
        reason = f"{reason}; the search got within {remaining:.1f} m, to ({closest[0]:.1f}, {closest[1]:.1f})"
        if blockers:
            reason = f"{reason}; {in_the_way(list(blockers)[:1])}"
        elif coarse:
            reason = f"{reason}; nothing is in the way, but no steps end at the goal: allow more tolerance"
        status, plan = Status.NO_PATH, None
        if code == kernels.GOING:
            status, plan = (Status.PARTIAL, self.plan(resting)) if resting > 0 else (Status.BUDGET, None)
        return SearchResult(
            status, plan, self.expanded, self.checks, self.seconds, closest, remaining, blockers, reason
        )

    def _foremost(self) -> int:
        """The node nearest to the goal as the crow flies, whatever it still costs to stop there."""
        room = self.searcher.room
        away = room.states[: int(room.counts[kernels.NODES]), :2] - np.asarray(self.query.goal)
        return int(np.argmin(np.hypot(away[:, 0], away[:, 1])))

    def _blockers(self) -> dict[str, int]:
        """What stood in the way of actions that would have led nearer, the most frequent first."""
        room, fields = self.searcher.room, self.fields
        notes = room.notes[: min(int(room.counts[kernels.NOTES]), len(room.notes))]
        names: list[str] = []
        static = notes[notes[:, 0] == kernels.STATIC]
        for kind in np.unique(static[:, 3]).astype(int).tolist():
            allowed = (fields.kinds[kind],) if kind >= 0 else ()
            names += fields.blame(static[static[:, 3] == kind, 1:3], allowed)
        for what, _, _, who in notes[notes[:, 0] != kernels.STATIC].tolist():
            if what == kernels.TRAFFIC:
                names.append(self.names[int(who)])
            else:
                names.append(fields.specials[int(who)].name or fields.specials[int(who)].kind)
        return dict(sorted(Counter(names).items(), key=lambda entry: (-entry[1], entry[0])))


def _weights(query: Query) -> tuple[float, ...]:
    """Weights to search with, one after another."""
    if not query.anytime:
        return (query.weight,)
    first = max(query.weight, _ANYTIME[0])
    return (first, *(w for w in _ANYTIME[1:] if w < first))


def _room(nodes: int, branches: int, before: Room | None = None) -> Room:
    """Memory for so many nodes and behaviours; counters and notes are those of the room before, if there is one."""
    table = np.empty((2 * nodes, 2), dtype=np.int64)
    table[:, 0] = kernels.EMPTY
    return Room(
        states=np.empty((nodes, 6)),
        links=np.empty((nodes, 5), dtype=np.int32),
        keys=np.empty(nodes, dtype=np.int64),
        heap=np.empty((nodes, 2)),
        table=table,
        counts=np.zeros(8, dtype=np.int64) if before is None else before.counts,
        nearest=np.zeros(3) if before is None else before.nearest,
        laid=np.empty((branches, 3)),
        chosen=np.empty((branches, 4), dtype=np.int64),
        stood=np.zeros(2, dtype=np.int64),
        notes=np.zeros((_NOTES, 4)) if before is None else before.notes,
    )


def _action_arrays(
    table: ActionTable, states: States, discs: BodyDiscs, reaches: tuple[Reach, ...], costs: FloatArray
) -> ActionArrays:
    special = [action for action, kind in enumerate(table.kind.tolist()) if kind >= 0]
    if reaches and [reach.behavior for reach in reaches] != [table.behaviors[table.behavior[a]] for a in special]:
        raise LibraryError("reaches must be those of the table's special behaviours, one for each clip, in its order")
    row_of = np.full(len(table) + 1, -1)
    if reaches:
        row_of[special] = np.arange(len(special))
    followers = [_followers(states, s) for s in range(len(states))]
    rest = [int(states.action_starts[b]) if b >= 0 else -1 for b in states.rest]
    profiles = [np.column_stack([r.lowest - MARGIN, r.highest + MARGIN]) for r in reaches]
    return ActionArrays(
        actions=_real(np.column_stack([table.moves, costs, table.durations, discs.around])),
        firsts=_whole(np.column_stack([discs.static_starts, discs.window_starts, row_of])),
        behaviors=_whole(np.column_stack([[*states.after, 0], states.action_starts])),
        states=_whole(np.column_stack([np.cumsum([0, *map(len, followers)]), [*rest, -1]])),
        followers=_whole([b for some in followers for b in some]),
        static=discs.static,
        windows=_real(np.column_stack([discs.window_times, discs.window_around])),
        timed_starts=discs.timed_starts,
        timed=discs.timed,
        ways=_real(np.array([(r.heading, r.half_width, r.first, 1.0 / r.cell) for r in reaches]).reshape(-1, 4)),
        profile_starts=_whole(np.cumsum([0, *map(len, profiles)])),
        profiles=_real(np.concatenate([np.empty((0, 2)), *profiles])),
    )


def _followers(states: States, state: int) -> list[int]:
    """Behaviours to try in a state: all but those that go nowhere, since waiting comes with what is done after it."""
    every = states.followers[states.follower_starts[state] : states.follower_starts[state + 1]].tolist()
    return [b for b in every if not states.idle[b]]


def _whole(values: npt.ArrayLike) -> IntArray:
    return read_only(np.array(values, dtype=np.int64))


def _real(values: npt.ArrayLike) -> FloatArray:
    return read_only(np.array(values, dtype=np.float64))
