"""Many full-body characters that find their ways while they are played (Lau 2009, 4.7.1, algorithm 4).

Each character plays the moves of its plan. A plan is found in a search tree, ends at rest, and is reserved in space and
time: to its end, and there for ever. Only its first moves are sure to be played. While they are, the character plans
anew from their end on, and the new way takes the place of the rest of the old one if it too is free to its end. If
there is none, the old one goes on, and stops. So whatever fails, nobody ever runs into anybody.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import TreeError
from gaitway.core.jit import direct
from gaitway.live import _playing_kernels as kernels
from gaitway.live._crowd_kernels import HEADING, TIME
from gaitway.live._playing_kernels import LiveArrays
from gaitway.live.bodies import body_arrays, rest_actions
from gaitway.live.frames import LiveFrames
from gaitway.live.memory import longer, no_crowd, roomier
from gaitway.live.options import LiveCounts, LiveOptions, PlanEffort
from gaitway.live.planner import LivePlanner, Spent
from gaitway.space.plan import LaidSteps, Plan
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query, ask
from gaitway.space.similar_clips import SimilarClips
from gaitway.take.evaluation import Joints, Poses
from gaitway.tree.building.default_moves import gaits
from gaitway.tree.forest import Forest
from gaitway.world.world import World

_FIRST_PLACES = 64
"""Characters that there is room for at first."""
_LONGEST_STEP = 0.5
"""Longer steps of time are taken in parts [s]."""
_SEEDS = 1 << 30
"""That kernels tell apart."""
_TURNS = ((1.0, -0.04), (1.0, 0.45), (1.0, -0.45), (0.5, 0.0), (0.5, 0.9), (0.5, -0.9), (1.0, 0.9), (1.0, -0.9),
          (0.3, 0.0), (0.3, 1.4), (0.3, -1.4), (0.5, 2.4), (0.5, -2.4))  # fmt: skip
"""Where characters try to go: share of the distance, and angle to the left [rad]. The first is straight on: so little
to the right that somebody alone goes straight, and two who meet pass one another on the right."""


class LiveEngine:
    """Characters of one library in a world. This class is **mutable**; what happens depends on the calls alone.

    Planning for a step of time runs beside what the caller does (drawing, or `poses`) until it calls again.

    Attributes:
        prepared: the library, prepared for planning.
        options: how characters plan.
        time: now [s].
        start_time: when it began [s].
    """

    def __init__(
        self,
        prepared: PreparedLibrary,
        forest: Forest,
        options: LiveOptions | None = None,
        *,
        seed: int = 0,
        start_time: float = 0.0,
    ) -> None:
        """Nobody yet.

        Args:
            prepared: a library prepared for planning, and the world.
            forest: its trees, with the costs of the kit.
            options: how characters plan.
            seed: of how they stand, and of which clips they play.
            start_time: [s].

        Raises:
            TreeError: if a tree is of another library, or there is none for those who stand.
        """
        self.prepared, self.options = prepared, options or LiveOptions()
        self.time = self.start_time = float(start_time)
        self._rng, self._resting = np.random.default_rng(seed), int(rest_actions(prepared)[0])
        self._ways_to_rest = SimilarClips.of(prepared.table).of_action(self._resting)
        self._frames, body = LiveFrames(prepared), body_arrays(prepared, self.options.radius)
        self._planner = LivePlanner(prepared, forest, self.options, body, self.time)
        used, table = self._planner.used, prepared.table
        still = used[table.rest[table.start_state[used]] & table.rest[table.end_state[used]]]
        self._body, self._crowd = ArrayHandle(body), no_crowd(body, used, still)
        self._live = _live_arrays(prepared, self.options, self._frames, seed)
        self._shortest = float(prepared.table.durations[self._planner.used].min())
        self._reserve(_FIRST_PLACES)
        self._planner.warm_up(self._body, self._crowd_handle, self._live_handle)
        self._thread = ThreadPoolExecutor(1, "gaitway-live")
        self._pending: Future[Spent] | None = None
        self._planning = self._evaluation = Spent(0.0, 0.0)
        self._advancing = 0.0
        self._watchers: list[Callable[[FloatArray], None]] = []
        self._advance: Callable[..., None] = direct(kernels.advance)

    def __len__(self) -> int:
        """How many characters there are."""
        return int((self._crowd.counts[:, kernels.STATUS] != kernels.EMPTY).sum())

    @property
    def world(self) -> World:
        """Where it takes place."""
        return self._planner.fields.world

    @property
    def characters(self) -> IntArray:
        """Numbers of the characters, ascending; (N,)."""
        return np.flatnonzero(self._crowd.counts[:, kernels.STATUS] != kernels.EMPTY)

    @property
    def arrived(self) -> IntArray:
        """Numbers of those that are at rest at their goals."""
        self.settle()
        return np.flatnonzero(self._crowd.counts[:, kernels.STATUS] == kernels.THERE)

    @property
    def counts(self) -> LiveCounts:
        """What has happened so far."""
        self.settle()
        tally, there = self._live.tally.tolist(), len(self.arrived)
        return LiveCounts(
            characters=len(self),
            there=there,
            plans=tally[kernels.PLANS],
            failures=tally[kernels.FAILURES],
            arrivals=tally[kernels.ARRIVALS],
            tries=tally[kernels.TRIES],
            tests=tally[kernels.TESTS],
            searches=tally[kernels.SEARCHES],
            planning_ms=self._planning.wall,
            planning_cpu_ms=self._planning.processor,
            advancing_ms=self._advancing,
            evaluation_ms=self._evaluation.wall,
            evaluation_cpu_ms=self._evaluation.processor,
        )

    @property
    def nbytes(self) -> int:
        """Memory of all that characters share and of their plans, the trees and the world aside."""
        arrays = sum(array.nbytes for array in (*self._crowd, *self._live))
        return arrays + self._frames.nbytes + self._planner.nbytes

    def add(self, starts: npt.ArrayLike, goals: npt.ArrayLike, tolerance: float | None = None) -> IntArray:
        """Put characters in that stand, each if there is room for it, in their order.

        Args:
            starts: x, y [m], heading [rad]; (N, 3).
            goals: x, y [m]; (N, 2).
            tolerance: how near to a goal is near enough [m].

        Returns:
            Their numbers, or -1 where something or somebody is in the way; (N,). Numbers of those who have left are
            used again.
        """
        self.settle()
        poses, aims = _finite(starts, 3, "starts"), _finite(goals, 2, "goals")
        if len(poses) != len(aims):
            raise TreeError(f"{len(poses)} starts and {len(aims)} goals; give one goal for each")
        places = len(self._crowd.until)
        if places < len(self) + len(poses):
            self._reserve(max(2 * places, len(self) + len(poses)))
        since = self.time - self._rng.uniform(0.0, float(self.prepared.table.durations[self._resting]), len(poses))
        resting = self._rng.choice(self._ways_to_rest, len(poses))
        out = np.full(len(poses), -1)
        planner = self._planner
        kernels.place(
            self._body, self._crowd_handle, self._live_handle, self.prepared.actions.handle, planner.fields.handle,
            planner.traffic,
            planner.busy, read_only(poses), read_only(since), self.time, read_only(resting), out,
        )  # fmt: skip
        self._drain()
        here = out >= 0
        self._aim(out[here], aims[here], tolerance)
        return out

    def remove(self, characters: npt.ArrayLike) -> None:
        """Take characters out."""
        self.settle()
        who = self._checked(characters)
        rows = np.full((len(who), 7), kernels.GONE)
        rows[:, kernels.LOG_WHO], rows[:, kernels.LOG_LIFE] = who, self._crowd.counts[who, kernels.LIFE]
        rows[:, kernels.LOG_TIME] = self.time
        kernels.take_away(self._crowd_handle, read_only(who))
        for watcher in self._watchers:
            watcher(rows)

    def set_goals(self, characters: npt.ArrayLike, goals: npt.ArrayLike, tolerance: float | None = None) -> None:
        """Give characters new goals; they plan anew from the end of the move that they are in.

        Args:
            characters: their numbers; (N,).
            goals: x, y [m]; (N, 2).
            tolerance: how near to a goal is near enough [m].
        """
        self.settle()
        who, aims = self._checked(characters), _finite(goals, 2, "goals")
        if len(who) != len(aims):
            raise TreeError(f"{len(who)} characters and {len(aims)} goals; give one goal for each")
        self._aim(who, aims, tolerance)

    def set_world(self, world: World) -> None:
        """Change what stands and moves there; everybody plans anew from the end of the move that it is in.

        Those whose plans lead into something new come first, all of them in the next step of time; their plans are
        kept only for as long as there are no others.
        """
        self.settle()
        self._planner.enter(world, self.time)
        who = self.characters
        numbers = self._crowd.numbers[who]
        self._aim(who, numbers[:, [kernels.GOAL_X, kernels.GOAL_Y]], numbers[:, kernels.TOLERANCE])
        self._planner.hasten(self._crowd_handle, self._live_handle)

    def step(self, dt: float) -> None:
        """Go on by some time [s]: play everybody, and begin to plan for those who are ready.

        Raises:
            TreeError: if it is not above 0.
        """
        if not (np.isfinite(dt) and dt > 0.0):
            raise TreeError(f"step of {dt} s; write a time above 0")
        parts = max(int(np.ceil(dt / _LONGEST_STEP - 1e-9)), 1)
        start = self.time
        for part in range(parts):
            self.settle()
            began = clock.perf_counter()
            self.time = start + dt * (part + 1) / parts
            self._advance(self._body, self._crowd_handle, self._live_handle, self.time)
            self._drain()
            self._planner.look_ahead(self.time)
            self._advancing = 1e3 * (clock.perf_counter() - began)
            self._pending = self._thread.submit(
                self._planner.plan, self._body, self._crowd_handle, self._live_handle, self.time
            )

    def settle(self) -> None:
        """Wait until the planning of the latest step is done."""
        if self._pending is not None:
            self._planning = self._pending.result()
            self._pending = None

    def poses(self, characters: npt.ArrayLike | None = None) -> Poses:
        """Root positions and local joint rotations now.

        Args:
            characters: whose; None for all. Planning may still go on meanwhile.
        """
        began, processor = clock.perf_counter(), clock.thread_time()
        out = self._frames.poses(self._asked(characters), self._live.table, self.time, self.world)
        self._evaluation = Spent(1e3 * (clock.perf_counter() - began), 1e3 * (clock.thread_time() - processor))
        return out

    def joints(self, characters: npt.ArrayLike | None = None) -> Joints:
        """World positions and rotations of all joints now; see `poses`."""
        began, processor = clock.perf_counter(), clock.thread_time()
        out = self._frames.joints(self._asked(characters), self._live.table, self.time, self.world)
        self._evaluation = Spent(1e3 * (clock.perf_counter() - began), 1e3 * (clock.thread_time() - processor))
        return out

    def plan(self, character: int) -> Plan:
        """What a character means to do, from the move on that it is in, and what that costs."""
        self.settle()
        (who,) = self._checked([character]).tolist()
        crowd = self._crowd
        first, count = crowd.counts[who, [kernels.FIRST, kernels.COUNT]].tolist()
        rows = np.empty((count - first, 5))
        rows[:, :2] = crowd.steps[who, first:count, :2]
        rows[:, 2], rows[:, 3] = crowd.steps[who, first:count, HEADING], crowd.steps[who, first:count, TIME]
        rows[:, 4] = crowd.actions[who, first:count]
        x, y, heading = crowd.steps[who, -1, [0, 1, HEADING]].tolist()
        end = rows[-1, 3] + float(self.prepared.table.durations[int(rows[-1, 4])])
        steps = LaidSteps(rows, self.prepared.actions.names, self.prepared.table.clips)
        return Plan(steps, (x, y, heading), end, float(self.prepared.actions.costs[rows[:, 4].astype(np.int64)].sum()))

    def effort(self, character: int) -> PlanEffort:
        """What it took to find a character's latest plan."""
        self.settle()
        (who,) = self._checked([character]).tolist()
        return self._planner.effort(self._crowd, who)

    def behaviors(self, characters: npt.ArrayLike | None = None) -> tuple[str, ...]:
        """Names of the behaviours that characters are in."""
        self.settle()
        who = self._asked(characters)
        actions = self._crowd.actions[who, self._crowd.counts[who, kernels.FIRST]]
        return tuple(self.prepared.actions.names[a] for a in actions.tolist())

    def goals(self, characters: npt.ArrayLike | None = None) -> FloatArray:
        """x, y [m] of goals; (N, 2)."""
        who = self._asked(characters)
        out: FloatArray = self._crowd.numbers[who][:, [kernels.GOAL_X, kernels.GOAL_Y]]
        return out

    def watch(self, watcher: Callable[[FloatArray], None]) -> None:
        """Have steps of characters told as they begin, for a record of what was played.

        Args:
            watcher: called with the character, how many have had its number, the action (or -1 for one that is taken
                out), x, y [m], heading [rad], and the time [s] of each step that began; (N, 7).
        """
        self._watchers.append(watcher)

    def close(self) -> None:
        """Let the thread go that plans."""
        self.settle()
        self._thread.shutdown()

    def _aim(self, who: IntArray, goals: FloatArray, tolerance: float | FloatArray | None) -> None:
        counts, numbers = self._crowd.counts, self._crowd.numbers
        numbers[who, kernels.GOAL_X], numbers[who, kernels.GOAL_Y] = goals[:, 0], goals[:, 1]
        numbers[who, kernels.TOLERANCE] = self.options.tolerance if tolerance is None else tolerance
        numbers[who, kernels.READY] = self.time
        counts[who, kernels.ROUTE] = self._planner.routes.numbers(goals)
        steps, actions = self._crowd.steps[who, -1, :2], self._crowd.actions
        stands = (counts[who, kernels.COUNT] == 1) & (actions[who, 0] == actions[who, -1])
        there = stands & (np.hypot(*(steps - goals).T) <= numbers[who, kernels.TOLERANCE])
        counts[who, kernels.STATUS] = np.where(there, kernels.THERE, kernels.GOING)
        for column in (kernels.FAILS, kernels.IDLE, kernels.HELD, kernels.ALARM):
            counts[who, column] = 0
        counts[who, kernels.SOUGHT] = kernels.FRESH
        numbers[who, kernels.LEFT] = np.inf
        counts[who, kernels.FIXED] = counts[who, kernels.FIRST] + 1

    def _asked(self, characters: npt.ArrayLike | None) -> IntArray:
        return self.characters if characters is None else self._checked(characters)

    def _checked(self, characters: npt.ArrayLike) -> IntArray:
        who = np.atleast_1d(np.asarray(characters))
        status = self._crowd.counts[:, kernels.STATUS]
        if who.dtype.kind not in "iu" or who.ndim != 1:
            raise TreeError("characters must be whole numbers in one row")
        wrong: BoolArray = (who < 0) | (who >= len(status))
        wrong[~wrong] = status[who[~wrong]] == kernels.EMPTY
        if wrong.any():
            raise TreeError(f"no character {int(who[wrong][0])}; see `characters`")
        return who.astype(np.int64)

    def _drain(self) -> None:
        """Tell watchers of the steps that began."""
        count = int(self._live.tally[kernels.LOGGED])
        if count:
            for watcher in self._watchers:
                watcher(self._live.log[:count].copy())
        self._live.tally[kernels.LOGGED] = 0

    def _reserve(self, places: int) -> None:
        """Have room for so many characters."""
        log = places * (int(_LONGEST_STEP / self._shortest) + 2)
        self._crowd = roomier(self._crowd, places)
        self._live = self._live._replace(table=longer(self._live.table, places), log=np.zeros((log, 7)))
        self._live.table[:, 11] = -1.0
        self._crowd_handle, self._live_handle = ArrayHandle(self._crowd), ArrayHandle(self._live)
        kernels.relink(self._body, self._crowd_handle)


def _live_arrays(prepared: PreparedLibrary, options: LiveOptions, frames: LiveFrames, seed: int) -> LiveArrays:
    """What kernels need to know, without any characters yet."""
    ways = gaits(prepared.table)
    per_metre = ways[0].per_metre if ways else prepared.actions.per_metre
    similar = SimilarClips.of(prepared.table)
    spans, members = similar.arrays
    numbers = (
        options.ahead, options.reach, options.keep, options.tests, options.retry, per_metre, seed % _SEEDS,
        similar.shift,
    )  # fmt: skip
    ask(prepared.actions, Query((0.0, 0.0, 0.0), (0.0, 0.0)))
    return LiveArrays(
        options=np.array(numbers, dtype=np.float64), query=prepared.actions.query.value.copy(), turns=np.array(_TURNS),
        tally=np.zeros(16, np.int64), table=np.zeros((0, 12)), rows=frames.rows, clips=frames.clips,
        spans=spans if similar.any else spans[:0], members=members, log=np.zeros((0, 7)),
    )  # fmt: skip


def _finite(values: npt.ArrayLike, width: int, name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != width or not np.isfinite(array).all():
        raise TreeError(f"{name} of shape {array.shape} must be finite numbers, (N, {width})")
    return array
