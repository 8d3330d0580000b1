"""The behaviour planner for one character: A* over the clips of a behaviour graph (Lau 2009, chapter 3.4)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gaitway import planar
from gaitway.arrays import FloatArray, IntArray, read_only
from gaitway.behavior import _search_kernels as kernels
from gaitway.behavior._heuristic_kernels import HeuristicArrays, straight_line
from gaitway.behavior._search_kernels import ActionArrays, Room
from gaitway.behavior._traffic_kernels import SLOT, TrafficArrays, no_traffic
from gaitway.behavior.fields import WorldFields
from gaitway.behavior.plan import Plan, PlanStep, Pose, SearchResult, Status
from gaitway.behavior.states import States
from gaitway.errors import GaitwayError, LibraryError
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.world.regions import MARGIN, Reach

SLICE = 20_000
"""Nodes expanded between looks at the clock."""
_NOTES = 256
"""Latest blockers that are remembered; a power of two."""
_UNREACHABLE = 2_000
"""Nodes expanded to learn what cuts a goal off that cannot be reached."""
_CLOSE = 0.2
"""How much nearer to things than a plan may come somebody may stand at the start [m]."""
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
    """

    def __init__(
        self, table: ActionTable, discs: BodyDiscs, reaches: Sequence[Reach] = (), time_weight: float = 0.1
    ) -> None:
        """Prepare a library.

        Args:
            table: its actions.
            discs: what their bodies take up, by action.
            reaches: what its special behaviours get past, one for each of their clips in the order of the table.
            time_weight: cost of a second, so that waiting is not free [m/s].

        Raises:
            LibraryError: if the parts do not go together, or nothing in the library ever comes to rest.
        """
        if not (np.isfinite(time_weight) and time_weight >= 0.0):
            raise LibraryError(f"time_weight {time_weight} must be 0 or more")
        if len(discs) != len(table):
            raise LibraryError(f"discs of {len(discs)} actions for a table of {len(table)}")
        self.table, self.reaches, self.states = table, tuple(reaches), States.of(table)
        if not (self.states.rest >= 0).any():
            raise LibraryError("no behaviour of the library goes nowhere, so nobody can stop; add one like 'stand'")
        self.costs: FloatArray = table.costs + time_weight * table.durations
        self.arrays = _action_arrays(table, self.states, discs, self.reaches, self.costs)
        travel = np.hypot(table.moves[:, 0], table.moves[:, 1])
        moving = travel > 1e-9
        self.per_metre = float((self.costs[moving] / travel[moving]).min()) if moving.any() else 0.0
        self._room = _room(1 << 13)
        self._passing: tuple[WorldFields, IntArray] | None = None

    def passing(self, fields: WorldFields) -> IntArray:
        """The kind of obstacle in a world that each action passes, or that it is an ordinary one or of no use; (A,)."""
        if self._passing is None or self._passing[0] is not fields:
            kinds = []
            for action, kind in enumerate(self.table.kind.tolist()):
                number = fields.passed_kind(self.table.kinds[kind]) if kind >= 0 else kernels.ORDINARY
                row = int(self.arrays.reach_of[action])
                useful = number >= 0 and row >= 0 and self.reaches[row].edge is None
                kinds.append(kernels.ORDINARY if kind < 0 else number if useful else kernels.NEVER)
            self._passing = fields, read_only(np.array(kinds, dtype=np.int64))
        return self._passing[1]

    def start_state(self, behavior: str | None) -> int:
        """The state after a behaviour; None is that in which the first of the behaviours that stand still is."""
        if behavior is not None:
            return int(self.states.after[self.table.index(behavior)])
        return int(np.flatnonzero(self.states.rest >= 0)[0])


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
    began = time.perf_counter()
    run = _Run.of(searcher, fields, query, traffic, heuristics)
    refused = run.refused()
    if refused is not None and not refused.look:
        return SearchResult(Status.NO_PATH, None, seconds=time.perf_counter() - began, reason=refused.reason,
                            blockers={refused.blocker: 1}, closest=query.start, remaining=run.away(query.start))  # fmt: skip
    nodes = min(query.max_nodes, _UNREACHABLE) if refused is not None else query.max_nodes
    weights = _weights(query) if refused is None else (query.weight,)
    outcome, best = kernels.NOTHING, None
    expanded = checks = 0
    for weight in weights:
        bound = np.inf if best is None else best.cost
        code, node = run.go(weight, bound, nodes - expanded, began + query.max_seconds)
        counts = searcher._room.counts
        expanded, checks = expanded + int(counts[kernels.EXPANDED]), checks + int(counts[kernels.CHECKS])
        if code == kernels.FOUND:
            best = run.plan(node)
        if best is None or code == kernels.GOING:
            outcome = code
            break
    found = dict(expanded=expanded, checks=checks, seconds=time.perf_counter() - began)
    if best is not None:
        return SearchResult(Status.FOUND, best, **found, closest=best.end_pose, remaining=run.away(best.end_pose))  # type: ignore[arg-type]
    return run.failed(outcome, refused.reason if refused else "", found)


@dataclass(frozen=True)
class _Refusal:
    """Why a search is not worth a try, and whether to look for what is in the way all the same."""

    reason: str
    blocker: str = ""
    look: bool = False


@dataclass(frozen=True, eq=False)
class _Run:
    """One search."""

    searcher: Searcher
    fields: WorldFields
    query: Query
    traffic: TrafficArrays
    names: Sequence[str]
    heuristic: HeuristicArrays
    start: FloatArray
    state: int
    goal: FloatArray
    last: float
    options: FloatArray = field(default_factory=lambda: np.empty(3))

    @staticmethod
    def of(
        searcher: Searcher, fields: WorldFields, query: Query, traffic: Traffic | None, heuristics: HeuristicArrays | None
    ) -> _Run:
        arrays = no_traffic() if traffic is None else traffic.arrays
        x, y, heading = query.start
        any_heading = query.goal_heading is None
        straight = straight_line(*query.goal, query.tolerance, searcher.per_metre)
        goal = (*query.goal, query.tolerance + 1e-9, query.goal_heading or 0.0,
                7.0 if any_heading else query.heading_tolerance + 1e-9)  # fmt: skip
        return _Run(
            searcher, fields, query, arrays, () if traffic is None else traffic.names,
            straight if heuristics is None else heuristics,
            read_only(np.array([x, y, float(planar.wrap_angle(heading)), query.start_time])),
            searcher.start_state(query.start_behavior), read_only(np.array(goal)),
            (arrays.last + 1) * SLOT if len(arrays.keys) else -1.0,
        )  # fmt: skip

    def away(self, pose: Pose) -> float:
        """Distance to the goal [m]."""
        return float(np.hypot(pose[0] - self.query.goal[0], pose[1] - self.query.goal[1]))

    def refused(self) -> _Refusal | None:
        """Why there can be no plan, if that is plain to see."""
        (x, y, _), goal, fields = self.query.start, self.query.goal, self.fields
        x0, y0, x1, y1 = fields.world.bounds
        for what, (px, py) in (("start", (x, y)), ("goal", goal)):
            if not (x0 <= px <= x1 and y0 <= py <= y1):
                return _Refusal(f"{what} ({px:g}, {py:g}) is out of bounds {fields.world.bounds}", "bounds")
        short, place = self._shortage()
        if short > _CLOSE:
            who = fields.blame(np.array([place]))[0]
            return _Refusal(f"start ({x:g}, {y:g}) is in '{who}', or too near to it", who)
        self.options[2] = short + 1e-6 if short > 0.0 else 0.0
        labels = fields.parts
        spread = fields.spec.cells(np.array([x, y])) + np.moveaxis(np.indices((9, 9)) - 4, 0, -1).reshape(-1, 2)
        here = {int(v) for v in labels.at(fields.spec.centers(spread))} - {0}
        there = _labels_within(fields, goal, self.query.tolerance)
        if not there:
            who = fields.blame(np.array([goal]))[0]
            return _Refusal(f"goal ({goal[0]:g}, {goal[1]:g}) is in '{who}', or too near to it", who)
        if not here & there:
            return _Refusal("the goal lies in another part of free space, which cannot be reached from the start", look=True)
        return None

    def _shortage(self) -> tuple[float, tuple[float, float]]:
        """How much nearer to something than it may be the body stands at the start [m], and where."""
        actions = self.searcher.arrays
        rest = int(actions.rest[self.state])
        if rest < 0:
            return 0.0, (0.0, 0.0)
        discs = actions.static[actions.static_starts[rest] : actions.static_starts[rest + 1]].astype(np.float64)
        points = planar.transform_points(self.start[:3], discs[:, :2])
        short = discs[:, 2] - self.fields.clearance(points)
        worst = int(np.argmax(short))
        return float(short[worst]), (float(points[worst, 0]), float(points[worst, 1]))

    def go(self, weight: float, bound: float, nodes: int, deadline: float) -> tuple[int, int]:
        """Search from the start; how it ended, and the node at the goal."""
        searcher = self.searcher
        kernels.sweep(searcher._room)
        self.options[0], self.options[1] = weight, bound
        options = read_only(self.options)
        passing, busy = searcher.passing(self.fields), len(self.traffic.keys) > 0
        kernels.begin(searcher._room, self.heuristic, self.start, self.state, self.last)
        until = 0
        while True:
            until = min(until + SLICE, nodes)
            code, node = kernels.search_slice(
                searcher.arrays, self.fields.arrays, passing, self.traffic, busy, self.heuristic, searcher._room,
                self.last, self.goal, options, self.query.seed, until,
            )  # fmt: skip
            if code == kernels.FULL:
                bigger = _room(2 * len(searcher._room.states), searcher._room)
                kernels.enlarge(searcher._room, bigger, self.last)
                searcher._room = bigger
                until = int(bigger.counts[kernels.EXPANDED])
            elif code != kernels.GOING or until >= nodes:
                return int(code), int(node)
            if time.perf_counter() > deadline:
                return kernels.GOING, -1

    def plan(self, node: int) -> Plan:
        """The way to a node."""
        states, links, table = self.searcher._room.states, self.searcher._room.links, self.searcher.table
        steps: list[PlanStep] = []
        at = node
        while links[at, 0] >= 0:
            action, before = int(links[at, 1]), int(links[at, 0])
            name = table.behaviors[int(table.behavior[action])]
            steps.append(PlanStep(name, table.clips[action], self.pose(before), float(states[before, 3])))
            at = before
        return Plan(tuple(reversed(steps)), self.pose(node), float(states[node, 3]), float(states[node, 4]))

    def pose(self, node: int) -> Pose:
        """Where a node is."""
        x, y, heading = (float(v) for v in self.searcher._room.states[node, :3])
        return x, y, heading

    def failed(self, code: int, reason: str, found: dict[str, float]) -> SearchResult:
        """What to say when the goal was not reached."""
        room = self.searcher._room
        closest = self.pose(int(room.counts[kernels.NEAREST]))
        blockers = self._blockers()
        remaining, resting = self.away(closest), int(room.counts[kernels.RESTING])
        who = f"; '{next(iter(blockers))}' is in the way" if blockers else ""
        status, plan = Status.NO_PATH, None
        where = f"the search got within {remaining:.1f} m, to ({closest[0]:.1f}, {closest[1]:.1f}){who}"
        if not reason and code == kernels.GOING:
            status, plan = (Status.PARTIAL, self.plan(resting)) if resting > 0 else (Status.BUDGET, None)
            reason = "the budget ran out"
        reason = f"{reason or 'all that can be reached was looked at'}; {where}"
        return SearchResult(status, plan, **found, closest=closest, remaining=remaining, blockers=blockers, reason=reason)  # type: ignore[arg-type]

    def _blockers(self) -> dict[str, int]:
        """What stood in the way of actions that would have led nearer, the most frequent first."""
        room, fields = self.searcher._room, self.fields
        notes = room.notes[: min(int(room.counts[kernels.NOTES]), len(room.notes))]
        names: list[str] = []
        static = notes[notes[:, 0] == kernels.STATIC]
        for kind in np.unique(static[:, 4]).astype(int).tolist():
            allowed = (fields.kinds[kind],) if kind >= 0 else ()
            names += fields.blame(static[static[:, 4] == kind, 1:3], allowed)
        for what, _, _, _, who in notes[notes[:, 0] != kernels.STATIC].tolist():
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


def _labels_within(fields: WorldFields, goal: tuple[float, float], tolerance: float) -> set[int]:
    """Parts of free space that meet a disc."""
    spec, cell = fields.spec, fields.spec.cell
    (low_row, low_column), (high_row, high_column) = (
        np.clip(spec.cells(np.array(goal) + d), 0, np.array(spec.shape) - 1) for d in (-tolerance - cell, tolerance + cell)
    )
    labels = fields.parts.labels[low_row : high_row + 1, low_column : high_column + 1]
    cells = np.argwhere(labels > 0) + (low_row, low_column)
    off = np.maximum(np.abs(spec.centers(cells) - goal) - 0.5 * cell, 0.0)
    near = cells[np.hypot(off[:, 0], off[:, 1]) <= tolerance]
    return {int(v) for v in np.unique(fields.parts.labels[near[:, 0], near[:, 1]])}


def _room(nodes: int, before: Room | None = None) -> Room:
    """Memory for so many nodes; counters and notes are those of the room before, if there is one."""
    return Room(
        states=np.empty((nodes, 6)),
        links=np.empty((nodes, 4), dtype=np.int32),
        heap_costs=np.empty(nodes),
        heap_nodes=np.empty(nodes, dtype=np.int32),
        keys=np.full(2 * nodes, kernels.EMPTY, dtype=np.int64),
        best=np.empty(2 * nodes),
        counts=np.zeros(7, dtype=np.int64) if before is None else before.counts,
        nearest=np.zeros(2) if before is None else before.nearest,
        notes=np.zeros((_NOTES, 5)) if before is None else before.notes,
    )


def _action_arrays(
    table: ActionTable, states: States, discs: BodyDiscs, reaches: tuple[Reach, ...], costs: FloatArray
) -> ActionArrays:
    special = [action for action, kind in enumerate(table.kind.tolist()) if kind >= 0]
    if reaches and [reach.behavior for reach in reaches] != [table.behaviors[table.behavior[a]] for a in special]:
        raise LibraryError("reaches must be those of the table's special behaviours, one for each clip, in its order")
    reach_of = np.full(len(table), -1, dtype=np.int64)
    if reaches:
        reach_of[special] = np.arange(len(special))
    ways = [(r.heading, r.half_width, r.first, 1.0 / r.cell, r.cell) for r in reaches]
    profiles = [np.column_stack([r.lowest - MARGIN, r.highest + MARGIN]) for r in reaches]
    # of those that go nowhere, a search needs only the shortest; the others are for people to look at
    used = [b for s in range(len(states)) for b in _followers(states, s)]
    counts = [len(_followers(states, s)) for s in range(len(states))]
    rest = [int(states.action_starts[b]) if b >= 0 else -1 for b in states.rest]
    return ActionArrays(
        moves=_real(np.column_stack([table.moves, costs, table.durations])),
        behavior=table.behavior,
        after=states.after,
        follower_starts=_whole(np.cumsum([0, *counts])),
        followers=_whole(used),
        action_starts=states.action_starts,
        rest=_whole(rest),
        around=_discs(discs.around),
        static_starts=discs.static_starts,
        static=_discs(discs.static),
        window_starts=discs.window_starts,
        window_times=discs.window_times,
        window_around=_discs(discs.window_around),
        timed_starts=discs.timed_starts,
        timed=_discs(discs.timed),
        reach_of=_whole(reach_of),
        ways=_real(np.array(ways).reshape(-1, 5)),
        profile_starts=_whole(np.cumsum([0, *map(len, profiles)])),
        profiles=_real(np.concatenate([np.empty((0, 2)), *profiles])),
    )


def _followers(states: States, state: int) -> list[int]:
    """Behaviours to try in a state."""
    every = states.followers[states.follower_starts[state] : states.follower_starts[state + 1]].tolist()
    return [b for b in every if not states.idle[b] or b == states.rest[state]]


def _discs(discs: FloatArray) -> npt.NDArray[np.float32]:
    """In less memory; never smaller."""
    small = discs.astype(np.float32)
    small[:, 2] += np.float32(1e-5)
    return read_only(small)  # type: ignore[type-var]


def _whole(values: npt.ArrayLike) -> IntArray:
    return read_only(np.array(values, dtype=np.int64))


def _real(values: npt.ArrayLike) -> FloatArray:
    return read_only(np.array(values, dtype=np.float64))
