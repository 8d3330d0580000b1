"""The planner `deform` of scenes: limited-horizon search over deformable fragments, refined to whole bodies."""

from __future__ import annotations

import cmath
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import shapely

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.jit import compile_seconds
from gaitway.deform.branch import RefinedBranch, core_clears, may_fit, refined
from gaitway.deform.fragment import Fragment
from gaitway.deform.gaps import NarrowGap, narrow_gaps
from gaitway.deform.options import DeformOptions
from gaitway.deform.place import SqueezePlace
from gaitway.deform.search import Choice, HorizonSearch, SearchNode
from gaitway.deform.side_steps import flattened, goes_sideways
from gaitway.deform.squeezing import Squeezed
from gaitway.library.standing import standing_behaviors
from gaitway.motion.clip import Clip
from gaitway.performing.relaxing.carried_steps import CarriedSteps, HeldTraffic
from gaitway.scene.characters import Character
from gaitway.space._query_kernels import NEVER
from gaitway.space.fields import WorldFields
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import OwnStep, Plan, PlanStep, Pose, SearchResult, Status, in_the_way
from gaitway.space.planner import Effort, PlanRequest
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query
from gaitway.space.routes import RouteMap
from gaitway.space.traffic import placed_discs, swept_step
from gaitway.world.footprint import core_geometry

FOUND_BY = "deform"
_THIN = 0.13
"""Radius of a disc around the root that a squeezed body covers [m]."""
_WALKS, _LONGER = 0.23, 0.3
"""Room on both sides that a walk passes for sure, and how much longer a way with that room has to be before side steps
are tried [m]."""
_NEAR = read_only(0.9 * np.column_stack([np.cos(np.arange(16) * np.pi / 8), np.sin(np.arange(16) * np.pi / 8)]))
"""Places around somebody at which a gap is near [m]; (16, 2)."""
_CELL = 0.1
"""Side of a cell of the estimate of the way [m]."""
_EFFORT = {
    Effort.USUAL: 1.0, Effort.LONG: 1.5, Effort.SHORT: 0.3, Effort.BRIEF: 0.2, Effort.PATIENT: 0.2, Effort.GLANCE: 0.2
}  # fmt: skip
"""Factor on the number of nodes."""
_DRAWN, _TURNED, _WELL_WITHIN = 0.25, float(np.radians(60.0)), 0.6
"""How far the end of a fragment is drawn to the goal, as a share of its extent; the greatest turn on the way there
[rad]; and share of the tolerance within which it is drawn."""
_STOPS_WITHIN, _OFF_AXIS, _BACK, _SEEN = 0.15, 0.3, 1.2, 6.0
"""How far from the place before a gap a fragment is led there, besides a share of its extent; how far from the axis of
a gap side steps are led onto it; how far before that place somebody turns sideways; and how far away walks are led
toward it [m]."""
_TURNED_TO_GAP, _FACES_GAP = float(np.radians(40.0)), float(np.radians(15.0))
"""Greatest turn of side steps onto the axis of a gap, and of somebody who stops before it, to face it [rad]."""
_CLOSE = 1.6
"""How far before a narrow gap nobody should come to rest who does not face it [m]."""
_TURNS = 0.3
"""Least turn of a fragment that turns on the spot [rad]."""
_AIMS = read_only(np.radians(np.arange(-48.0, 49.0, 8.0)))
"""Directions in which the way is looked for, against that of a fragment [rad]."""
_FINE_AIMS, _TURN_COST = read_only(np.radians(np.arange(-30.0, 31.0, 1.0))), 0.01
"""Directions in which the middle of a gap is looked for [rad], and what a turn costs of its room [m/rad]."""
_ALONG = read_only(np.array([-0.3, -0.15, 0.15, 0.3]))
"""Places before and behind the end of a fragment at which a gap is looked at [m]."""
_ONWARD, _ROOM, _CLEAR_COST = 0.5, 0.25, 2.0
"""Distance over which the way is looked at beyond the end of a fragment, the room that a squeezed body needs [m], and
what a metre less of it counts."""
_NODES_FOR = 8.0
"""Length of a way for which the number of nodes is meant [m]; a longer one has more."""
_FOR_GAP = 0.5
"""Share of the number of nodes that each gap adds that is too narrow for a walk: turning before it takes many."""
_A_SECOND = 1500
"""Number of fragments that are tried in what counts as a second."""
_LOOKED = 2
"""Number of fragments whose whole body is looked at before the search goes on behind them."""
_TRIES = 40
"""Most branches that are refined."""


@dataclass(frozen=True, eq=False)
class Fragments:
    """Fragments of a library, by the state in which they begin."""

    choices: dict[int, list[Choice]]
    per_metre: float
    """Least cost of a metre."""

    @staticmethod
    def of(prepared: PreparedLibrary) -> Fragments:
        """Make the fragments of all clips; of those that stay where they are, one of each state, to wait."""
        table, actions = prepared.table, prepared.actions
        choices: dict[int, list[Choice]] = {}
        waits: set[int] = set()
        per_metre = math.inf
        flat = _flat_fragments(prepared)
        for action in range(len(table)):
            if table.idle[action] and not table.quiet[action]:
                continue
            begins = int(table.start_state[action])
            if table.idle[action]:
                if begins in waits:
                    continue
                waits.add(begins)
            clip = prepared.library.clips[table.clips[action]]
            fragment = prepared.part(("fragment", clip.name), partial(Fragment.of, clip))
            speed, cost = float(prepared.speeds[action]), float(actions.costs[action])
            usual = (action, fragment, begins, int(table.end_state[action]))
            for number, some, before, after in (usual, *([flat[action]] if action in flat else [])):
                choices.setdefault(before, []).append(
                    Choice(
                        number, some, before, after, cost, speed, clip.duration / speed, bool(table.kind[action] >= 0)
                    )
                )
            way = float(np.hypot(*table.moves[action][:2]))
            if way > 0.1 and table.kind[action] < 0:
                per_metre = min(per_metre, cost / way)
        return Fragments(choices, per_metre if math.isfinite(per_metre) else 1.0)


def _flat_fragments(prepared: PreparedLibrary) -> dict[int, tuple[int, Fragment, int, int]]:
    """Return actions that go sideways with flat fragments, and the states before and after these, by their numbers.

    Who goes flat is in a state of its own: clips of the library do not follow.
    """
    table, clips = prepared.table, prepared.library.clips
    aside = [
        a for a in range(len(table)) if not table.idle[a] and table.kind[a] < 0 and goes_sideways(clips[table.clips[a]])
    ]
    rest = {int(table.start_state[a]) for a in np.flatnonzero(table.idle & table.quiet)}
    states = [(a, int(table.start_state[a]), int(table.end_state[a])) for a in aside]
    cycles = {b: clips[table.clips[a]] for a, b, c in states if b == c and b not in rest}
    out = {}
    for action, before, after in states:
        clip = clips[table.clips[action]]
        # steps that begin and end in a usual pose are never flat
        if before in cycles or after in cycles:
            begins, ends = before not in cycles, after not in cycles
            cycle = cycles[after if begins else before]

            def made(clip: Clip = clip, cycle: Clip = cycle, begins: bool = begins, ends: bool = ends) -> Fragment:
                return Fragment.of(flattened(clip, cycle, begins, ends), flat=True)

            fragment = prepared.part(("flat fragment", clip.name), made)
            count = len(table.states)
            first, last = (state + count if state in cycles else state for state in (before, after))
            out[action] = (action, fragment, first, last)
    return out


class DeformPlanner:
    """Plans by limited-horizon search over deformable fragments."""

    def prepare(self, character: Character, prepared: PreparedLibrary) -> None:
        """Make the fragments of the character's library."""
        self.parts(prepared)

    def find(self, request: PlanRequest) -> SearchResult:
        """Search for a branch to the goal whose whole body touches nothing."""
        run = DeformRun(request, *self.parts(request.prepared))
        known = request.prepared.part("deform failures", dict[object, SearchResult], placed=True)
        # a crowd asks several times, with other seeds, which nothing here hangs on; who is alone gets the same answer
        key = (replace(request.query, seed=0), run.most, run.options, request.prepared.speeds.tobytes())
        if not run.busy and key in known:
            return known[key]
        result = run.result()
        told = SearchResult(
            result.status, result.plan, sum(one.expanded for one in run.searches),
            sum(one.checks for one in run.searches), run.seconds, result.closest,
            result.remaining, dict(run.search.blockers.most_common(4)) if result.plan is None else {}, result.reason,
            FOUND_BY,
        )  # fmt: skip
        if not run.busy and result.plan is None:
            known[key] = told
        return told

    @staticmethod
    def parts(prepared: PreparedLibrary) -> tuple[Fragments, SqueezePlace, RouteMap, RouteMap]:
        """Return fragments, place, and ways that squeezed and walking bodies fit."""
        world = prepared.fields.world
        place = prepared.part("squeeze place", lambda: SqueezePlace(world), placed=True)
        fragments = prepared.part("fragments", lambda: Fragments.of(prepared), paced=True)

        def routes() -> RouteMap:
            return RouteMap.of(prepared.fields, _THIN, _CELL, hopeful=True)

        def wide() -> RouteMap:
            return RouteMap.of(prepared.fields, _WALKS, _CELL)

        thin = prepared.part("thin routes", routes, placed=True)
        return fragments, place, thin, prepared.part("walked routes", wide, placed=True)


class DeformRun:
    """One search for a plan."""

    def __init__(
        self, request: PlanRequest, fragments: Fragments, place: SqueezePlace, routes: RouteMap, wide: RouteMap
    ) -> None:
        self.began, self.compiled = time.perf_counter(), compile_seconds()
        self.request, self.place, self.prepared, self.query = request, place, request.prepared, request.query
        plan = request.character.plan
        self.options = plan if isinstance(plan, DeformOptions) else DeformOptions()
        self.held = HeldTraffic(request.traffic)
        self.busy = request.traffic.busy
        self.table = self.prepared.table
        self.passing = self.prepared.actions.passing(self.prepared.fields).value
        choices = {s: [c for c in few if self.passing[c.action] != NEVER] for s, few in fragments.choices.items()}
        self.outlines = self.prepared.part("special outlines", lambda: _outlines(self.prepared.fields), placed=True)
        self.tight_goal = float(place.clearances(np.array([self.query.goal]))[0]) < _WALKS
        self.left, self.around = _estimate(routes, self.query), _estimate(wide, self.query)
        far = float(self.left(np.array([self.query.start[:2]]))[0])
        longer = max(far / _NODES_FOR, 1.0) if math.isfinite(far) else 1.0
        longer += _FOR_GAP * len(self.gaps)
        self.most = round(_EFFORT[request.effort] * self.options.max_nodes * longer)
        self.fresh = HorizonSearch(
            place, choices, self.left, self._arrived, fragments.per_metre,
            self.options.limits(), self.prepared.fields.world.bounds, self.options.weight, self.options.horizon,
            self.busy, self.met, self.options.squeeze, self._usable, self._serves, self._aim, self._steer,
            sound=self._sound,
        )  # fmt: skip
        self.search = replace(self.fresh, blockers=Counter(), closed=set(), steered={})
        self.searches = [self.search]
        self.rest = {int(self.table.start_state[a]) for a in np.flatnonzero(self.table.idle & self.table.quiet)}
        followed = self.query.followed_by
        self.last = self.rest
        if followed is not None:
            self.last = {self.table.states.index(self.prepared.library.graph[followed].start)}

    @property
    def first_state(self) -> int:
        """Number of the state in which the plan begins."""
        library, before = self.prepared.library, self.query.start_behavior
        if before is None:
            return self.table.states.index(library.graph[standing_behaviors(library)[0]].start)
        return self.table.states.index(library.graph[before].end)

    @property
    def seconds(self) -> float:
        """Time so far, without compiling [s]."""
        return time.perf_counter() - self.began - (compile_seconds() - self.compiled)

    @property
    def late(self) -> bool:
        """Whether its effort is over: seconds are counted in fragments, as no clock is the same twice."""
        return self.search.checks > self.query.max_seconds * _A_SECOND

    def result(self) -> SearchResult:
        """Search, refine what is found, and go on if it does not fit."""
        found = self._result()
        if found.status is Status.BUDGET and self.busy and self.request.effort in (Effort.USUAL, Effort.LONG):
            # waits at every place used the effort up: once more as if nobody waited, for those who need not
            told = self.search.blockers
            self.search = replace(
                self.fresh, timed=False, blockers=Counter(), closed=set(), steered=self.search.steered
            )
            self.searches.append(self.search)
            again = self._result()
            self.search.blockers = self.search.blockers + told
            return again if again.found else found
        return found

    def _result(self) -> SearchResult:
        query = self.query
        self.search.begin(query.start, self.first_state, query.start_time)
        if not math.isfinite(self.search.root.estimate):
            return self._failed(Status.NO_PATH, "no gap on the way is wide enough, even for a squeezed body")
        if math.dist(query.start[:2], query.goal) <= query.tolerance and self._heads(query.start[2]):
            return SearchResult(Status.FOUND, Plan((), query.start, query.start_time, 0.0), closest=query.start)
        most = self.most
        blocker: str | None = None
        for _ in range(_TRIES):
            node = self.search.next(most, lambda: self.late)
            if node is None:
                break
            branch = node.branch()
            found = refined([_squeezed(one) for one in branch], [self.times(one) for one in branch], self.place)
            if found.failed < 0:
                away = math.dist(node.pose[:2], query.goal)
                return SearchResult(Status.FOUND, self._plan(node, found), closest=node.pose, remaining=away)
            branch[found.failed].dead = True
            blocker = found.blocker
            if blocker is not None:
                self.search.blockers[blocker] += 1
        out = self.search.expanded >= most or self.late
        why = [blocker] if blocker is not None else [name for name, _ in self.search.blockers.most_common(2)]
        return self._failed(Status.BUDGET if out else Status.NO_PATH, in_the_way(why))

    def _failed(self, status: Status, reason: str) -> SearchResult:
        near = self.search.nearest.pose if self.search.nearest is not None else self.query.start
        return SearchResult(status, None, closest=near, remaining=math.dist(near[:2], self.query.goal), reason=reason)

    def _heads(self, heading: float) -> bool:
        wanted = self.query.goal_heading
        return wanted is None or abs(float(planar.wrap_angle(heading - wanted))) <= self.query.heading_tolerance

    def _arrived(self, node: SearchNode) -> bool:
        query = self.query
        if math.dist(node.pose[:2], query.goal) > query.tolerance or not self._heads(node.pose[2]):
            return False
        if node.state not in self.last:
            return False
        if query.followed_by is not None:
            return True
        discs = placed_discs(node.pose, self.prepared.standing_discs())
        return not self.busy or self.request.traffic.comer(discs, node.time) is None

    def _sound(self, node: SearchNode) -> bool:
        """Return whether the whole body may fit where a fragment and the one before it were put."""
        few = node.branch()[-_LOOKED:]
        blocker = may_fit([_squeezed(one) for one in few], [self.times(one) for one in few], self.place)
        if blocker is not None:
            self.search.blockers[blocker] += 1
        return blocker is None

    def met(self, node: SearchNode) -> str | None:
        """Return the name of whoever a fragment meets, or None."""
        return self.request.traffic.met_by(self.swept(node)) if self.busy else None

    def swept(self, node: SearchNode) -> Swept:
        """Return what a fragment covers over time, arms as they are in the clip."""
        return self._swept(node, _step(self, node))

    def _usable(self, choice: Choice, pose: Pose) -> bool:
        """Return whether a fragment that is made for special obstacles may begin at a pose: there is one ahead."""
        if choice.flat:
            return choice.begins >= len(self.table.states) or self._narrow_ahead(pose)
        arrays, kind = self.prepared.fields.arrays, int(self.passing[choice.action])
        column, row = (math.floor((pose[k] - arrays.place[k]) * arrays.place[2]) for k in range(2))
        rows, columns = arrays.near.shape
        return 0 <= row < rows and 0 <= column < columns and bool(int(arrays.near[row, column]) >> kind & 1)

    def _narrow_ahead(self, pose: Pose) -> bool:
        """Return whether a gap lies near on the way that is too narrow for a walk: it would be farther around it."""
        at = np.array([pose[:2]])
        if self.tight_goal:  # no way with room leads there, and none is needed
            here = complex(*pose[:2])
            return any(gap.ahead_of(here) and abs(gap.middle - here) < _BACK for gap in self.gaps)
        left, around = float(self.left(at)[0]), float(self.around(at)[0])
        return around > left + _LONGER and bool(self._tight(at + _NEAR).max() > 0.0)

    def _serves(self, node: SearchNode) -> bool:
        """Return whether a fragment that is made for special obstacles passes one of them, its feet planted."""
        found, choice = _squeezed(node), node.choice
        assert choice is not None
        line = shapely.LineString(found.path[:, :2])
        near = self.outlines.get(int(self.passing[choice.action]), ())
        return any(shapely.intersects(line, outline) for outline in near) and core_clears(
            found, self.times(node), self.place
        )

    def _aim(self, choice: Choice, found: Squeezed) -> Pose | None:
        """Return the pose at which a fragment shall end: near the goal, or on the way where it does not fit."""
        query, end = self.query, found.end
        away = math.dist(end[:2], query.goal)
        if choice.ends in self.last and away < query.tolerance + _DRAWN * choice.fragment.extent:
            heading = end[2] if query.goal_heading is None else query.goal_heading
            if abs(math.remainder(heading - end[2], math.tau)) > _TURNED:
                return None
            if away <= query.tolerance and self._heads(end[2]):
                return None
            share = min(_WELL_WITHIN * query.tolerance / max(away, 1e-9), 1.0)
            x, y = (g + share * (e - g) for g, e in zip(query.goal, end[:2], strict=True))
            return x, y, heading
        if choice.flat:
            return self._through(found) or self._between(found)
        stop = self._before_gap(choice, found)
        if stop is not None:
            return stop
        if found.blocker is None or choice.special or choice.fragment.path is None:
            return None
        return self._along_route(found)

    @cached_property
    def gaps(self) -> tuple[NarrowGap, ...]:
        """Gaps on the way that are too narrow for a walk, if it is farther around them."""
        at = np.array([self.query.start[:2]])
        if not self.tight_goal and not float(self.around(at)[0]) > float(self.left(at)[0]) + _LONGER:
            return ()
        return self.all_gaps

    @cached_property
    def all_gaps(self) -> tuple[NarrowGap, ...]:
        """Gaps on the shortest way that are narrow, also if a walk may pass them."""
        return narrow_gaps(self.place, self.left, self.query.start)

    def _next_gap(self, place: complex) -> NarrowGap | None:
        """Return the first narrow gap of the way that lies ahead of a place."""
        return next((gap for gap in self.gaps if gap.ahead_of(place) and abs(gap.stop - place) < _SEEN), None)

    def awkward(self, node: SearchNode) -> float:
        """Return how much farther from the goal somebody counts who stands near a narrow gap and does not face it [m].

        Turning on the spot hardly ever ends on the axis of a gap: it is better begun from farther away.
        """
        place = complex(*node.pose[:2])
        gap = next((one for one in self.all_gaps if one.ahead_of(place) and abs(one.middle - place) < _CLOSE), None)
        if gap is None:
            return 0.0
        off = abs(math.remainder(cmath.phase(gap.along) - node.pose[2], 0.5 * math.pi))  # it may go sideways, too
        return 0.0 if abs(gap.on_axis(place) - place) < _STOPS_WITHIN and off < _FACES_GAP else _CLOSE

    def _before_gap(self, choice: Choice, found: Squeezed) -> Pose | None:
        """Return the pose on the axis of the next narrow gap to which a fragment is led that comes to rest near it."""
        end, own = complex(*found.end[:2]), found.end[2]
        gap = self._next_gap(end)
        if gap is None or choice.special or choice.ends not in self.rest:
            return None
        stop = gap.before(end)
        if abs(end - stop) > _STOPS_WITHIN + _DRAWN * choice.fragment.extent:
            return None
        off = math.remainder(cmath.phase(gap.along) - own, math.tau)
        return stop.real, stop.imag, own + (off if abs(off) < _FACES_GAP else 0.0)

    def _steer(self, choice: Choice, found: Squeezed) -> float:
        """Return the angle by which a fragment is turned for the sake of the next narrow gap [rad]; 0 for none.

        Who walks is led toward the place before it. Who turns on the spot turns toward that place, or sideways.
        """
        here, end = complex(*found.start[:2]), complex(*found.end[:2])
        gap = self._next_gap(end)
        if gap is None or choice.special or choice.flat or choice.fragment.work is None:
            return 0.0
        if choice.fragment.path is None:
            if abs(float(choice.fragment.root[-1, 2])) < _TURNS:
                return 0.0
            way = cmath.phase(gap.along if abs(gap.stop - end) < _OFF_AXIS else gap.stop - end)
            near = abs(end - gap.stop) < _BACK
            ways = (way + 0.5 * math.pi, way - 0.5 * math.pi) if near else (way,)
            return min((math.remainder(one - found.end[2], math.tau) for one in ways), key=abs)
        far, away = abs(complex(choice.fragment.track[-1])), abs(gap.stop - here)
        if choice.ends in self.rest or away < far:
            return 0.0
        off = math.remainder(
            cmath.phase(gap.stop - here) - found.start[2] - float(np.angle(choice.fragment.track[-1])), math.tau
        )
        # a fragment that is turned evenly goes half as far aside as it turns
        return off * away / (away - 0.5 * far) if abs(off) < _TURNED else 0.0

    def _through(self, found: Squeezed) -> Pose | None:
        """Return the pose on the axis of a gap that is nearest to the end of side steps, or None far from all."""
        fragment, end = found.fragment, complex(*found.end[:2])
        own = float(np.angle(fragment.track[-1] - fragment.track[0]))
        for gap in self.gaps:
            at = gap.on_axis(end)
            if abs(at - end) < _OFF_AXIS and abs(at - gap.middle) < abs(gap.stop - gap.middle) + _OFF_AXIS:
                heading = cmath.phase(gap.along) + float(fragment.root[-1, 2]) - own
                if abs(math.remainder(heading - found.end[2], math.tau)) < _TURNED_TO_GAP:
                    return at.real, at.imag, heading
        return None

    def _between(self, found: Squeezed) -> Pose | None:
        """Return the pose in the middle of a gap near the end of a flat fragment, turned so that it goes straight on.

        The estimate of the way has coarse cells, and flat bodies have to meet a gap within centimetres.
        """
        fragment = found.fragment
        x, y, heading = found.start
        ahead = heading + float(np.angle(fragment.track[-1])) + _FINE_AIMS
        far = abs(complex(fragment.track[-1]))
        points = np.column_stack([x + far * np.cos(ahead), y + far * np.sin(ahead)])
        left = self.left(points)
        room = np.where(left < left.min() + _ROOM, np.round(self.place.clearances(points), 4), -1.0)
        best = int(np.argmax(room - _TURN_COST * np.abs(_FINE_AIMS)))
        if not 0.0 < room[best] < _ROOM:
            return None
        way = np.stack([np.cos(ahead), np.sin(ahead)], axis=1)
        line = points[best] + _ALONG[:, None, None] * way
        straight = np.round(self.place.clearances(line).min(axis=0), 4) - _TURN_COST * np.abs(_FINE_AIMS)
        turn = float(ahead[int(np.argmax(straight))])
        own = float(np.angle(fragment.track[-1] - fragment.track[0]))
        return float(points[best, 0]), float(points[best, 1]), turn + float(fragment.root[-1, 2]) - own

    def _along_route(self, found: Squeezed) -> Pose | None:
        """Return the pose as far ahead as a fragment goes that is nearest to the goal, headed along the way."""
        x, y, heading = found.start
        far = abs(complex(found.fragment.track[-1]))
        ahead = heading + float(np.angle(found.fragment.track[-1])) + _AIMS
        points = np.column_stack([x + far * np.cos(ahead), y + far * np.sin(ahead)])
        left = np.round(self.left(points) + _CLEAR_COST * self._tight(points), 6)
        best = int(np.argmin(left))
        if not math.isfinite(left[best]):
            return None
        on = ahead[best] + _AIMS
        further = points[best] + _ONWARD * np.column_stack([np.cos(on), np.sin(on)])
        left = np.round(self.left(further) + _CLEAR_COST * self._tight(further), 6)
        way = ahead[best] if not np.isfinite(left).any() else on[int(np.argmin(left))]
        own = float(np.angle(found.fragment.track[-1] - found.fragment.track[-2]))
        return float(points[best, 0]), float(points[best, 1]), float(way + found.fragment.root[-1, 2] - own)

    def _tight(self, points: FloatArray) -> FloatArray:
        """Return how much nearer than a squeezed body needs points (N, 2) are to obstacles [m]; (N,)."""
        fields = self.prepared.fields
        cells = fields.spec.cells(points)
        row, column = np.where(fields.spec.contains(cells)[:, None], cells, 0).T
        away = np.sqrt(fields.arrays.squares[0, row, column].astype(np.float64) * fields.arrays.place[3])
        return np.asarray(np.maximum(_ROOM - away, 0.0))

    def times(self, node: SearchNode) -> FloatArray:
        """Return the times of the frames of a fragment [s]; (F,)."""
        squeezed, choice, parent = _squeezed(node), node.choice, node.parent
        assert choice is not None and parent is not None
        return parent.time + np.arange(len(squeezed.fragment)) / (squeezed.fragment.clip.fps * choice.speed)

    def _swept(self, node: SearchNode, step: PlanStep) -> Swept:
        """Return what a fragment covers, arms as they are in the clip."""
        squeezed = _squeezed(node)
        work = squeezed.fragment.work
        if work is None:
            return swept_step(step, self.table, self.prepared.discs)
        return CarriedSteps(self.prepared, self.held, [step], [work]).swept(squeezed.path)

    def _plan(self, node: SearchNode, found: RefinedBranch) -> Plan:
        steps, own = [], {}
        name = self.request.character.name
        for k, (one, clip, changed) in enumerate(zip(node.branch(), found.clips, found.changed, strict=True)):
            step = _step(self, one)
            if changed:
                swept = self._swept(one, step)
                made = replace(clip, name=f"{step.clip}~{name}-{k}")
                own[made.name] = OwnStep(made, swept, None if _squeezed(one).fragment.flat else step.clip)
                step = PlanStep(step.behavior, made.name, step.pose, step.time, step.speed)
            steps.append(step)
        return Plan(tuple(steps), node.pose, node.time, node.cost, own)


def _step(run: DeformRun, node: SearchNode) -> PlanStep:
    choice, parent, table = node.choice, node.parent, run.table
    assert choice is not None and parent is not None
    behavior = table.behaviors[table.behavior[choice.action]]
    return PlanStep(behavior, table.clips[choice.action], parent.pose, parent.time, choice.speed)


def _squeezed(node: SearchNode) -> Squeezed:
    assert node.squeezed is not None
    return node.squeezed


def _outlines(fields: WorldFields) -> dict[int, list[shapely.Geometry]]:
    """Return the outlines of special obstacles, by the numbers of their kinds."""
    out: dict[int, list[shapely.Geometry]] = {}
    for obstacle in fields.specials:
        out.setdefault(fields.kinds.index(obstacle.kind), []).append(core_geometry(obstacle.shape.footprint()))
    return out


def _estimate(routes: RouteMap, query: Query) -> Callable[[FloatArray], FloatArray]:
    """Return the least length of the way from points to the goal [m]."""
    field = routes.field(query.goal, query.tolerance)

    def lengths(points: FloatArray) -> FloatArray:
        cells = routes.spec.cells(points)
        inside = routes.spec.contains(cells)
        row, column = np.where(inside[:, None], cells, 0).T
        straight = np.maximum(np.hypot(*(points - np.array(query.goal)).T) - query.tolerance, 0.0)
        return np.asarray(np.maximum(np.where(inside, field.lengths[row, column], np.inf), straight))

    return lengths
