"""The planner `deform` of scenes: limited-horizon search over deformable fragments, refined to whole bodies."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.core.jit import compile_seconds
from gaitway.deform.branch import RefinedBranch, refined
from gaitway.deform.fragment import Fragment
from gaitway.deform.options import DeformOptions
from gaitway.deform.place import SqueezePlace
from gaitway.deform.search import Choice, HorizonSearch, SearchNode
from gaitway.deform.squeezing import Squeezed
from gaitway.library.standing import standing_behaviors
from gaitway.performing.relaxing.carried_steps import CarriedSteps, HeldTraffic
from gaitway.scene.characters import Character
from gaitway.space.fields import WorldFields
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import OwnStep, Plan, PlanStep, SearchResult, Status, in_the_way
from gaitway.space.planner import Effort, PlanRequest
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query
from gaitway.space.routes import RouteMap
from gaitway.space.traffic import placed_discs, swept_step

FOUND_BY = "deform"
_THIN = 0.14
"""Radius of a disc around the root that a squeezed body covers [m]."""
_CELL = 0.1
"""Side of a cell of the estimate of the way [m]."""
_EFFORT = {Effort.USUAL: 1.0, Effort.LONG: 1.5, Effort.SHORT: 0.3, Effort.BRIEF: 0.2}
"""Factor on the number of nodes."""
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
        """Make the fragments of all clips that pass no obstacles; clips that stay where they are only wait."""
        table, actions = prepared.table, prepared.actions
        choices: dict[int, list[Choice]] = {}
        waits: set[int] = set()
        per_metre = math.inf
        for action in range(len(table)):
            if table.kind[action] >= 0 or (table.idle[action] and not table.quiet[action]):
                continue
            begins = int(table.start_state[action])
            if table.idle[action]:
                if begins in waits:
                    continue
                waits.add(begins)
            clip = prepared.library.clips[table.clips[action]]
            fragment = prepared.part(("fragment", clip.name), partial(Fragment.of, clip))
            speed, cost = float(prepared.speeds[action]), float(actions.costs[action])
            choices.setdefault(begins, []).append(
                Choice(action, fragment, begins, int(table.end_state[action]), cost, speed, clip.duration / speed)
            )
            way = float(np.hypot(*table.moves[action][:2]))
            if way > 0.1:
                per_metre = min(per_metre, cost / way)
        return Fragments(choices, per_metre if math.isfinite(per_metre) else 1.0)


class DeformPlanner:
    """Plans by limited-horizon search over deformable fragments."""

    def prepare(self, character: Character, prepared: PreparedLibrary) -> None:
        """Make the fragments of the character's library."""
        self._parts(prepared)

    def find(self, request: PlanRequest) -> SearchResult:
        """Search for a branch to the goal whose whole body touches nothing."""
        run = _DeformRun(request, *self._parts(request.prepared))
        known = request.prepared.part("deform failures", dict[object, SearchResult], placed=True)
        # a crowd asks several times; alone in the same place, the answer is the same
        key = (request.query, run.most, run.options, request.prepared.speeds.tobytes())
        if not run.busy and key in known:
            return known[key]
        result = run.result()
        told = SearchResult(
            result.status, result.plan, run.search.expanded, run.search.checks, run.seconds, result.closest,
            result.remaining, dict(run.search.blockers.most_common(4)) if result.plan is None else {}, result.reason,
            FOUND_BY,
        )  # fmt: skip
        if not run.busy and result.plan is None:
            known[key] = told
        return told

    @staticmethod
    def _parts(prepared: PreparedLibrary) -> tuple[Fragments, SqueezePlace, RouteMap]:
        world = prepared.fields.world
        place = prepared.part("squeeze place", lambda: SqueezePlace(world), placed=True)
        fragments = prepared.part("fragments", lambda: Fragments.of(prepared), paced=True)

        def routes() -> RouteMap:
            return RouteMap.of(WorldFields.of(world), _THIN, _CELL, hopeful=True)

        return fragments, place, prepared.part("thin routes", routes, placed=True)


class _DeformRun:
    """One search for a plan."""

    def __init__(self, request: PlanRequest, fragments: Fragments, place: SqueezePlace, routes: RouteMap) -> None:
        self.began, self.compiled = time.perf_counter(), compile_seconds()
        self.request, self.place, self.prepared, self.query = request, place, request.prepared, request.query
        plan = request.character.plan
        self.options = plan if isinstance(plan, DeformOptions) else DeformOptions()
        self.most = round(_EFFORT[request.effort] * self.options.max_nodes)
        self.held = HeldTraffic(request.traffic)
        self.busy = len(request.traffic.arrays.keys) > 0
        self.table = self.prepared.table
        self.search = HorizonSearch(
            place, fragments.choices, _estimate(routes, self.query), self._arrived, fragments.per_metre,
            self.options.limits(), self.prepared.fields.world.bounds, self.options.weight, self.options.horizon,
            self.busy, self._met, self.options.squeeze,
        )  # fmt: skip
        self.rest = {int(self.table.start_state[a]) for a in np.flatnonzero(self.table.idle & self.table.quiet)}

    @property
    def seconds(self) -> float:
        """Time so far, without compiling [s]."""
        return time.perf_counter() - self.began - (compile_seconds() - self.compiled)

    @property
    def late(self) -> bool:
        """Whether the time that it may take is over."""
        return self.seconds > self.query.max_seconds

    def result(self) -> SearchResult:
        """Search, refine what is found, and go on if it does not fit."""
        query, library = self.query, self.prepared.library
        if query.start_behavior is None:
            state = library.graph[standing_behaviors(library)[0]].start
        else:
            state = library.graph[query.start_behavior].end
        self.search.begin(query.start, self.table.states.index(state), query.start_time)
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
            found = refined([_squeezed(one) for one in branch], [self._times(one) for one in branch], self.place)
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
        if query.followed_by is not None:
            wanted = self.prepared.library.graph[query.followed_by].start
            return self.table.states[node.state] == wanted
        if node.state not in self.rest:
            return False
        discs = placed_discs(node.pose, self.prepared.standing_discs())
        return not self.busy or self.request.traffic.comer(discs, node.time) is None

    def _met(self, node: SearchNode) -> str | None:
        return self.request.traffic.met_by(self._swept(node, _step(self, node))) if self.busy else None

    def _times(self, node: SearchNode) -> FloatArray:
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
                own[made.name] = OwnStep(made, swept)
                step = PlanStep(step.behavior, made.name, step.pose, step.time, step.speed)
            steps.append(step)
        return Plan(tuple(steps), node.pose, node.time, node.cost, own)


def _step(run: _DeformRun, node: SearchNode) -> PlanStep:
    choice, parent, table = node.choice, node.parent, run.table
    assert choice is not None and parent is not None
    behavior = table.behaviors[table.behavior[choice.action]]
    return PlanStep(behavior, table.clips[choice.action], parent.pose, parent.time, choice.speed)


def _squeezed(node: SearchNode) -> Squeezed:
    assert node.squeezed is not None
    return node.squeezed


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
