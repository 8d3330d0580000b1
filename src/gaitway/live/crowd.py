"""The live crowd as a game or a simulation uses it: names, goals, obstacles, events, joints, takes and saved states.

    crowd = gaitway.live("market_square")
    crowd.step(1 / 60)
    joints = crowd.joints()

What a crowd does depends on the calls alone: the same calls with the same seed give the same motion, bit for bit, on
the same machine and versions of NumPy and Numba. `LiveOptions.budget_ms` is the one exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import FormatError, GaitwayError, LiveError
from gaitway.library.behavior import Library
from gaitway.live._matrix_kernels import fill_matrices
from gaitway.live.blocking import room_at
from gaitway.live.climbing.places import crowd_floors, with_heights
from gaitway.live.engine import LONGEST_STEP, LiveEngine
from gaitway.live.event_log import EventLog
from gaitway.live.events import Blocked, LiveEvent, LiveWatch, Stuck
from gaitway.live.given_arrays import checked_tolerance, clipped, matrix_memory, memory_of, table_of
from gaitway.live.libraries import AnyLibrary, CrowdLibraries, special_kinds
from gaitway.live.live_world import LiveWorld, pack_world, unpack_world
from gaitway.live.options import LiveCounts, LiveOptions, PlanEffort
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing.saving import LiveState, read_state, write_state
from gaitway.live.record import MINUTES, LiveRecord, TakeFacts
from gaitway.live.roster import Roster, Who
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton
from gaitway.scene.characters import LibraryRef
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.plan import Plan
from gaitway.space.planner import Company
from gaitway.take.evaluation import Joints, Poses
from gaitway.take.model import Take
from gaitway.world.obstacle import Mover, Obstacle
from gaitway.world.world import World

_HOLD = 1.0
"""Distance ahead at which a character that is told to stop comes to rest [m]."""


class LiveCrowd:
    """Characters that plan and move while the program runs. This class is **mutable**; see `gaitway.live`.

    Characters have ids that are never used again, and names. Methods take an id, a name, or several of them; None means
    all characters, by ascending id. Planning for a step runs on a thread beside the caller until the next call that
    needs its result. All calls must come from one thread.

    Attributes:
        options: options of the characters' planning.
        floors: floors of the place, and the plane in which they lie side by side; None in a place with one floor.
    """

    def __init__(
        self,
        world: World,
        *,
        plan: PlanOptions | None = None,
        libraries: Mapping[LibraryRef, Library] | None = None,
        seed: int = 0,
        options: LiveOptions | None = None,
        record_minutes: float = MINUTES,
        start_time: float = 0.0,
    ) -> None:
        """Make an empty crowd; `gaitway.live` is easier to use.

        Args:
            world: world in which the crowd lives.
            plan: options of planning: what a second costs.
            libraries: libraries that are loaded already.
            seed: seed of all that is drawn.
            options: options of the characters' planning.
            record_minutes: length of the record for `take` [min]; 0 for no record.
            start_time: time at which the crowd begins [s].
        """
        self.options = options or LiveOptions()
        self._plan, self._seed, self._minutes = plan or PlanOptions(), int(seed), float(record_minutes)
        self._world, self._roster = LiveWorld(world), Roster()
        self.floors = crowd_floors(world, self.options.dynamics)
        self._log = EventLog(self._roster, self._world, self.floors)
        self._record: LiveRecord | None = None
        self._libraries = CrowdLibraries(
            world, self._plan, self.options, self._seed, float(start_time), libraries or {}, self._begun, self.floors
        )
        self._held: dict[int, tuple[float, float, float]] = {}
        self._closed = False

    def __enter__(self) -> LiveCrowd:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of characters."""
        return len(self._roster)

    def __contains__(self, who: object) -> bool:
        """Return whether an id or a name is that of a character."""
        return who in self._roster

    # what there is

    @property
    def time(self) -> float:
        """Time now [s]."""
        engine = self._libraries.engine
        return self._libraries.start_time if engine is None else engine.time

    @property
    def world(self) -> World:
        """The world, with all changes so far."""
        return self._world.world

    @property
    def libraries(self) -> tuple[str, ...]:
        """Names of the libraries; the first is that of characters for which none is named."""
        return tuple(self._libraries.names)

    @property
    def ids(self) -> IntArray:
        """Ids of all characters, ascending; (N,)."""
        return self._roster.everyone()[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all characters, by ascending id."""
        return tuple(self._roster.names[number] for number in self._roster.ids(None))

    @property
    def counts(self) -> LiveCounts:
        """What has happened since the crowd was made, and what the latest step took."""
        return self._started().counts

    @property
    def obstacles(self) -> Mapping[int, Obstacle]:
        """Obstacles by id; those of the world that the crowd began in have the ids 0, 1, 2 and so on."""
        return dict(self._world.obstacles)

    @property
    def movers(self) -> Mapping[int, Mover]:
        """Movers by id."""
        return dict(self._world.movers)

    def id(self, name: str) -> int:
        """Return the id of the character with a name.

        Raises:
            LiveError: if there is none.
        """
        return self._roster.id(name)

    def name(self, id: int) -> str:
        """Return the name of a character."""
        return self._roster.names[self._roster.ids(id)[0]]

    def library(self, who: int | str) -> str:
        """Return the name of the library of a character."""
        return self._libraries.name_of(int(self._started().library_numbers(self._places(who))[0]))

    def skeleton(self, library: str | None = None) -> Skeleton:
        """Return the skeleton of a library, whose joints `joints`, `poses` and `matrices` are in the order of."""
        number = self._libraries.numbers(self._libraries.default() if library is None else library)[0]
        return self._started().libraries[number].frames.skeleton

    # characters

    def add_library(self, library: AnyLibrary, *, speed: str | float = "normal") -> str:
        """Prepare a library before the first of its characters comes, which otherwise does it.

        The first use of a library takes seconds. Its trees are kept on disk for later programs.

        Args:
            library: a built-in cast's name, a .gwlib file, a library, or a reference of a scene.
            speed: preferred speed of the characters: "slow", "normal", "hurry", "fast", or metres per second.

        Returns:
            The name of the library in this crowd.
        """
        self._check_open()
        name = self._libraries.named(library)
        self._libraries.number(name, speed)
        return name

    def add(
        self,
        start: npt.ArrayLike,
        goal: npt.ArrayLike,
        *,
        name: str | None = None,
        library: AnyLibrary | None = None,
        speed: str | float = "normal",
        tolerance: float | None = None,
    ) -> int:
        """Put a character in that stands, if there is room for it.

        Args:
            start: start pose: x, y [m], heading [rad]; (3,). In a place with several floors it is on the lowest there,
                or with a fourth number, a height [m], on the one nearest to that.
            goal: goal: x, y [m]; (2,), or with a height as the start.
            name: name of the character; its library's name and its id if left out.
            library: library of the character; the first of the crowd if left out.
            speed: preferred speed: "slow", "normal", "hurry", "fast", or metres per second.
            tolerance: distance from the goal that is near enough [m].

        Returns:
            Its id, or -1 if there is no room at the start; then a `Refused` event says why.
        """
        starts, goals = np.array(start, dtype=np.float64)[None], np.array(goal, dtype=np.float64)[None]
        names = None if name is None else [name]
        found = self.add_many(starts, goals, names=names, library=library, speed=speed, tolerance=tolerance)
        return int(found[0])

    def add_many(
        self,
        starts: npt.ArrayLike,
        goals: npt.ArrayLike,
        *,
        names: Sequence[str] | None = None,
        library: AnyLibrary | None = None,
        speed: str | float = "normal",
        tolerance: float | None = None,
    ) -> IntArray:
        """Put characters of one library in that stand, each if there is room for it, in their order.

        Args:
            starts: start poses: x, y [m], heading [rad]; (N, 3), or with heights as in `add` (N, 4).
            goals: goals: x, y [m]; (N, 2), or with heights (N, 3).
            names: names of the characters.
            library: their library; the first of the crowd if left out.
            speed: preferred speed: "slow", "normal", "hurry", "fast", or metres per second.
            tolerance: distance from a goal that is near enough [m].

        Returns:
            Their ids, or -1 where there is no room; (N,).

        Raises:
            LiveError: if a name is taken, or the arrays do not fit together.
        """
        poses, aims = self._in_plane(starts, 3, "starts"), self._in_plane(goals, 2, "goals")
        if len(poses) != len(aims) or (names is not None and len(names) != len(poses)):
            named = len(poses) if names is None else len(names)
            raise LiveError(f"{len(poses)} starts, {len(aims)} goals and {named} names; give as many of each")
        self._roster.check_names(names or ())
        self._check_open()
        known = self._libraries.default() if library is None else self._libraries.named(library)
        speeds = self._libraries.own_speeds(known, speed, self._roster.next_ids(len(poses)))
        numbers = np.array([self._libraries.number(known, own) for own in speeds], np.int64)
        engine = self._prepared_engine()
        self._look()
        runs = np.split(np.arange(len(poses)), np.flatnonzero(np.diff(numbers)) + 1) if len(poses) else []
        added = [engine.add(poses[run], aims[run], checked_tolerance(tolerance), int(numbers[run[0]])) for run in runs]
        slots = np.concatenate([np.empty(0, np.int64), *added])
        out = np.full(len(slots), -1, np.int64)
        lives = engine.plans.counts[:, playing.LIFE]
        for k, slot in enumerate(slots.tolist()):
            if slot >= 0:
                out[k] = self._roster.add(slot, int(lives[slot]), None if names is None else names[k], known)
        for k in np.flatnonzero(slots < 0).tolist():
            x, y = poses[k, :2].tolist()
            blocker = room_at(engine, x, y, int(numbers[k]))
            self._log.log_refused(self.time, known if names is None else names[k], poses[k, :2], blocker)
        self._log.watch.begin(slots[slots >= 0], len(engine.plans.until), self.time)
        return out

    def remove(self, who: Who | None = None) -> None:
        """Take characters out."""
        engine, ids = self._prepared_engine(), self._roster.ids(who)
        self._look()
        slots = self._roster.places(ids)
        points = engine.roots(slots)[0]
        engine.remove(slots)
        for number, point in zip(ids, points, strict=True):
            self._forget(number, point)

    def send(self, who: Who | None, goals: npt.ArrayLike, *, tolerance: float | None = None) -> None:
        """Give characters new goals; they change their plans at the end of the moves that they are in.

        Args:
            who: the characters; None for all.
            goals: goals: x, y [m]; (N, 2), or (2,) for one goal of all; with a height as in `add`: (N, 3) or (3,).
            tolerance: distance from a goal that is near enough [m].

        Raises:
            LiveError: if there is no such character, or a goal is out of bounds.
        """
        ids = self._roster.ids(who)
        aims = np.asarray(goals, dtype=np.float64)
        aims = np.tile(aims, (len(ids), 1)) if aims.ndim == 1 else aims
        self._check_inside(table_of(aims, 2, "goals", self.floors is not None)[:, :2])
        aims = self._in_plane(aims, 2, "goals")
        if len(ids) != len(aims):
            raise LiveError(f"{len(ids)} characters and {len(aims)} goals; give one goal for each")
        for character in ids:
            self._held.pop(character, None)
        self._aim(ids, aims, tolerance)

    def hold(self, who: Who | None = None) -> None:
        """Let characters stop about a metre ahead; `release` sends them on."""
        engine, ids = self._prepared_engine(), self._roster.ids(who)
        slots = self._roster.places(ids)
        engine.settle()
        points, headings = engine.roots(slots)
        goals, near = engine.wanted(slots)
        standing = engine.plans.counts[slots, playing.COUNT] == 1
        for character, (x, y), tolerance in zip(ids, goals.tolist(), near.tolist(), strict=True):
            self._held.setdefault(character, (x, y, tolerance))
        ahead = np.where(standing, 0.0, _HOLD)[:, None] * np.column_stack([np.cos(headings), np.sin(headings)])
        self._aim(ids, clipped(points[:, :2] + ahead, engine.world), _HOLD)

    def release(self, who: Who | None = None) -> None:
        """Send characters that hold on to the goals that they had."""
        ids = [number for number in self._roster.ids(who) if number in self._held]
        for character in ids:
            x, y, tolerance = self._held.pop(character)
            self._aim([character], np.array([[x, y]]), tolerance)

    def walk_in_company(self, who: int | str, company: Company, usual: str | float, slower: str | float) -> bool:
        """Let a character walk to its goal beside companions, at one of two speeds; return whether there is a way."""
        usually, slowly = (self._libraries.number(self.library(who), speed) for speed in (usual, slower))
        return self._prepared_engine().walk_in_company(int(self._places(who)[0]), usually, slowly, company)

    def perform(self, who: int | str, clip: Clip, end: npt.ArrayLike) -> bool:
        """Show a motion of who stands, from now on, who stands where it ends; return whether there is room there.

        Args:
            who: the character.
            clip: the motion in the world; it begins where the character stands.
            end: where it ends: x, y [m], heading [rad].
        """
        return self._prepared_engine().perform(int(self._places(who)[0]), clip, np.array(end, dtype=np.float64))

    def perform_on(self, who: int | str, clip: Clip) -> None:
        """Go on with a motion that was the same so far."""
        self._prepared_engine().motions.change(int(self._places(who)[0]), clip)

    def on_floor(self, x: float, y: float, floor: str | None = None) -> tuple[float, ...]:
        """Return a place with the height of a named floor (None: the ground), as `add` and `send` take it."""
        return (x, y) if self.floors is None else self.floors.spot(x, y, floor)

    def on_floor_of(self, who: int | str, x: float, y: float) -> tuple[float, ...]:
        """Return a place with the height of the floor of a character's goal, if it has ground there."""
        if self.floors is None:
            return x, y
        goal = self._started().goals(self._places(who))
        return self.floors.spot(x, y, self.floors.floors.floors[int(self.floors.numbers(goal)[0])].name)

    # the world

    def add_obstacle(self, obstacle: Obstacle) -> int:
        """Add an obstacle; characters find paths around it from the next step on.

        A character that has no room to stop goes on into it; put obstacles where no character is about to be.

        Returns:
            The id of the obstacle.
        """
        return self._world.add_obstacle(obstacle)

    def move_obstacle(self, id: int, x: float, y: float, yaw: float | None = None) -> None:
        """Move an obstacle.

        Args:
            id: id of the obstacle.
            x: new place of its middle [m].
            y: new place of its middle [m].
            yaw: new turn about the vertical of a shape that has one [rad]; None leaves it.
        """
        self._world.move_obstacle(id, x, y, yaw)

    def replace_obstacle(self, id: int, obstacle: Obstacle) -> None:
        """Put another obstacle in the place of one, under the same id."""
        self._world.replace_obstacle(id, obstacle)

    def remove_obstacle(self, id: int) -> None:
        """Take an obstacle away."""
        self._world.remove_obstacle(id)

    def add_mover(self, mover: Mover) -> int:
        """Add a mover, whose path is known beforehand in the time of the crowd; return its id."""
        return self._world.add_mover(mover)

    def remove_mover(self, id: int) -> None:
        """Take a mover away."""
        self._world.remove_mover(id)

    def set_world(self, world: World) -> None:
        """Take another world; obstacles and movers that are in both keep their ids."""
        self._world.replace_world(world)

    def step(self, dt: float) -> None:
        """Go on by some time [s]: play all characters, and begin to plan on another thread.

        Raises:
            LiveError: if the time is not above 0, or too long for one call.
        """
        if not 0.0 < dt <= LONGEST_STEP:
            raise LiveError(f"step of {dt} s; write a time above 0 and at most {LONGEST_STEP:g}")
        engine = self._prepared_engine()
        self._look()
        engine.step(dt)
        self._log.unseen = True

    def settle(self) -> None:
        """Wait until the planning of the latest step is done."""
        self._started().settle()

    def events(self) -> tuple[LiveEvent, ...]:
        """Return the events since this was last called, in order of time, and forget them.

        This waits for the planning of the latest step: call it after drawing, not before.
        """
        self._look()
        return self._log.drain()

    def hindered(self) -> tuple[Blocked | Stuck, ...]:
        """Return the latest event of each character that is blocked or stuck now, by id. It waits as `events` does."""
        self._look()
        return self._log.hindered(self.arrived(self._log.hindered_ids()))

    def positions(self, who: Who | None = None) -> FloatArray:
        """Return root positions [m]; (N, 3)."""
        slots = self._places(who)
        points = self._started().roots(slots)[0]
        return points if self.floors is None else points + self._back(slots, points)

    def headings(self, who: Who | None = None) -> FloatArray:
        """Return the directions that roots face [rad]; (N,)."""
        return self._started().roots(self._places(who))[1]

    def roots(self, who: Who | None = None) -> FloatArray:
        """Return planar root poses: x, y [m], heading [rad]; (N, 3)."""
        return np.column_stack([self.positions(who)[:, :2], self.headings(who)])

    def roots_in_plane(self, who: Who | None = None) -> FloatArray:
        """Return planar root poses as `roots`, where they are in the plane of the floors; (N, 3)."""
        points, headings = self._started().roots(self._places(who))
        return np.column_stack([points[:, :2], headings])

    def goals(self, who: Who | None = None) -> FloatArray:
        """Return goals: x, y [m]; (N, 2)."""
        goals = self._started().goals(self._places(who))
        return goals if self.floors is None else goals + self.floors.back(goals)[:, :2]

    def arrived(self, who: Who | None = None) -> BoolArray:
        """Return which characters are at rest at their goals; (N,)."""
        engine, slots = self._started(), self._places(who)
        engine.settle()
        out: BoolArray = engine.plans.counts[slots, playing.STATUS] == playing.THERE
        return out if engine.climbing is None else out & ~np.isin(slots, engine.climbing.on_the_way())

    def behaviors(self, who: Who | None = None) -> tuple[str, ...]:
        """Return the names of the behaviours that characters are in."""
        return self._started().behaviors(self._places(who))

    def plan(self, who: int | str) -> Plan:
        """Return what a character is about to do, from the move that it is in."""
        plan = self._started().plan(int(self._places(who)[0]))
        return plan if self.floors is None else self.floors.plan_in_place(plan)

    def way_ahead(self, who: int | str) -> tuple[FloatArray, FloatArray]:
        """Return where the steps of a character's plan begin and where it ends (K + 1, 3), and its goal (3,).

        All are x, y, z of the place, on the ground or on the floor that is meant [m].
        """
        slots = self._places(who)
        plan = self._started().plan(int(slots[0]))
        flat = np.array([*(step.pose[:2] for step in plan.steps), plan.end_pose[:2], self._started().goals(slots)[0]])
        if self.floors is None:
            out = np.column_stack([flat, self.world.ground(flat)])
        else:
            out = self.floors.in_place(flat, self.time)
        return out[:-1], out[-1]

    def effort(self, who: int | str) -> PlanEffort:
        """Return what it took to find a character's latest plan."""
        return self._started().effort(int(self._places(who)[0]))

    def joints(
        self,
        who: Who | None = None,
        *,
        library: str | None = None,
        out: tuple[FloatArray, FloatArray] | None = None,
    ) -> Joints:
        """Return world positions and rotations of all joints now. Planning may go on meanwhile.

        Args:
            who: characters of one library; None for all of the library.
            library: name of the library; may be left out where there is only one, or `who` is given.
            out: memory of the caller that is written to without a copy: positions [m] (N or more, J, 3) and unit
                quaternions wxyz (N or more, J, 4), both float64 and contiguous. The result is the first N rows of it.

        Returns:
            Joints; `joints.characters` are ids.
        """
        ids, slots = self._of_library(who, library)
        skeleton = self._started().skeleton_of(slots) if len(ids) else self.skeleton(library)
        count = len(skeleton)
        memory = None if out is None else memory_of(out, len(ids), ((count, 3), (count, 4)))
        if not len(ids):
            return Joints(skeleton, ids, np.empty((0, count, 3)), np.empty((0, count, 4)))
        found = replace(self._started().joints(slots, memory), characters=ids)
        if self.floors is not None:
            found.positions[:] += self._back(slots, found.positions[:, 0])[:, None]
        return found

    def poses(
        self,
        who: Who | None = None,
        *,
        library: str | None = None,
        out: tuple[FloatArray, FloatArray] | None = None,
    ) -> Poses:
        """Return root positions and local joint rotations now; see `joints`.

        Args:
            who: characters of one library; None for all of the library.
            library: name of the library.
            out: memory of the caller: root positions [m] (N or more, 3) and local unit quaternions wxyz
                (N or more, J, 4), both float64 and contiguous.
        """
        ids, slots = self._of_library(who, library)
        skeleton = self._started().skeleton_of(slots) if len(ids) else self.skeleton(library)
        count = len(skeleton)
        memory = None if out is None else memory_of(out, len(ids), ((3,), (count, 4)))
        if not len(ids):
            return Poses(skeleton, ids, np.empty((0, 3)), np.empty((0, count, 4)))
        found = replace(self._started().poses(slots, memory), characters=ids)
        if self.floors is not None:
            found.root_positions[:] += self._back(slots, found.root_positions)
        return found

    def matrices(
        self,
        who: Who | None = None,
        *,
        library: str | None = None,
        out: npt.NDArray[Any] | None = None,
        order: Literal["row", "column"] = "row",
    ) -> npt.NDArray[Any]:
        """Return the world transform of each joint as a 4x4 matrix.

        A matrix times a column vector (x, y, z, 1) of the joint's frame is the point in the world. With the order "row"
        (as NumPy and DirectX have it) the translation is in `m[:3, 3]`; with "column" (as OpenGL, Vulkan and glTF have
        it in memory) each matrix is transposed, and the translation is in `m[3, :3]`.

        Args:
            who: characters of one library; None for all of the library.
            library: name of the library.
            out: memory of the caller, (N or more, J, 4, 4), float32 or float64 and contiguous; None for new float32.
            order: "row" or "column".
        """
        if order not in ("row", "column"):
            raise LiveError(f"order '{order}' of matrices; write 'row' or 'column'")
        found = self.joints(who, library=library)
        count, joints = found.positions.shape[:2]
        part = matrix_memory(np.empty((count, joints, 4, 4), np.float32) if out is None else out, count, joints)
        fill_matrices(read_only(found.positions), read_only(found.rotations), part, order == "column")
        return part

    def take(self, seconds: float | None = None, *, fps: float = 30.0, facts: TakeFacts | None = None) -> Take:
        """Return what was played in the last seconds as a take; None for all that is recorded, see `LiveRecord.take`.

        Raises:
            TakeError: if nothing was played.
            LiveError: if nothing is recorded (`record_minutes=0`).
        """
        self._started()
        if self._record is None:
            raise LiveError("nothing is recorded; make the crowd with record_minutes above 0")
        return self._record.take(seconds, fps, facts)

    def state(self) -> LiveState:
        """Return the state of the crowd as plain values and arrays; see `save`."""
        engine = self._prepared_engine()
        self._look()
        saved = engine.state()
        values = {
            "engine": dict(saved.values),
            "libraries": self._libraries.state(),
            "base": pack_world(self._libraries.base, self._world.first),
            "world": self._world.state(),
            "roster": self._roster.state(),
            "held": {str(number): list(goal) for number, goal in self._held.items()},
        }
        rows = np.empty((0, 7)) if self._record is None else self._record.rows()
        return LiveState(values, saved.arrays | {"record": rows, "watched": self._log.watch.table.copy()})

    def save(self, path: str | Path) -> None:
        """Write the state of the crowd to a file without pickle, which `restore` reads.

        Saving ends a search that is under way for a stuck character; the search begins again. So a run in which a
        state was saved may differ from one without. From then on the crowd and a restored one do the same.

        Raises:
            FormatError: if the file cannot be written.
        """
        write_state(path, self.state())

    def restore(self, state: LiveState | str | Path) -> None:
        """Go on from a saved state: the same calls then give the same bytes.

        The crowd must be made as the saved one was: same scene or world, same libraries, options and seed. Events that
        were not asked for are not part of a state.

        Raises:
            FormatError: if a file is no saved state, or is damaged.
            LiveError: if the state does not belong to such a crowd.
        """
        self._check_open()
        found = state if isinstance(state, LiveState) else read_state(state)
        fresh = LiveCrowd(
            self._world.first,
            plan=self._plan,
            libraries=self._libraries.loaded,
            seed=self._seed,
            options=self.options,
            record_minutes=self._minutes,
        )
        try:
            fresh._restore(found, tuple(self._libraries.names.values()))
        except (
            KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError, MemoryError,
        ) as problem:  # fmt: skip
            fresh.close()
            text = f"the state does not belong to this crowd: {problem}"
            raise (LiveError(text) if isinstance(state, LiveState) else FormatError(state, text)) from None
        except GaitwayError:
            fresh.close()
            raise
        self.close()
        vars(self).update(vars(fresh))
        self._libraries.begun_by(self._begun)
        if self._record is not None:
            self._record.named_by(self._roster.name_in)

    def close(self) -> None:
        """End the thread that plans. The crowd cannot be used any more."""
        if self._libraries.engine is not None and not self._closed:
            self._libraries.engine.close()
        self._closed = True

    def _restore(self, state: LiveState, known: tuple[LibraryRef, ...]) -> None:
        values, arrays = state.values, state.arrays
        base = unpack_world(values["base"], self._world.first)
        self._world.restore(values["world"], base, values["base"])
        self._libraries.restore(values["libraries"], base, known)
        engine = self._started()
        if self.world is not base:
            engine.set_world(self._plane())
        engine.restore(LiveState(values["engine"], arrays))
        self._roster.restore(values["roster"], engine.characters)
        self._held = {int(number): (float(x), float(y), float(r)) for number, (x, y, r) in values["held"].items()}
        watched, places = np.array(arrays["watched"]), len(engine.plans.until)
        if watched.shape != (places, 5) or not set(self._held) <= set(self._roster.slots):
            raise ValueError("tables of characters that do not fit together")
        self._log.watch.table = watched
        if self._record is not None:
            self._record.restore(arrays["record"], engine.libraries[-1].end_action)

    def _begun(self, engine: LiveEngine) -> None:
        """Record what a new engine plays."""
        self._record = None
        if self._minutes > 0.0:
            self._record = LiveRecord(engine, self._minutes, self._roster.name_in, self.floors)

    def _check_open(self) -> None:
        if self._closed:
            raise LiveError("the crowd is closed; make another one")

    def _started(self) -> LiveEngine:
        """Return the engine; the first library is prepared where there is none yet."""
        self._check_open()
        if self._libraries.engine is None:
            self._libraries.number(self._libraries.default(), "normal")
        assert self._libraries.engine is not None
        return self._libraries.engine

    def _prepared_engine(self) -> LiveEngine:
        """Return the engine, with all changes of the world."""
        engine = self._started()
        world = self._plane()
        if world is engine.world:
            return engine
        self._look()
        if not set(special_kinds(self.world)) <= set(self._libraries.special):
            return self._renewed()
        engine.set_world(world)
        return engine

    def _plane(self) -> World:
        """Return the world as the engine sees it: the plane of its floors, if it has several."""
        return self.world if self.floors is None else self.floors.plane(self.world)

    def _in_plane(self, values: npt.ArrayLike, width: int, name: str) -> FloatArray:
        """Return a table of places, with heights or without, where the engine has them; (N, width)."""
        table = table_of(values, width, name, self.floors is not None)
        if self.floors is None or not len(table):
            return table[:, :width]
        out, heights = with_heights(table, width)
        return np.column_stack([self.floors.into(out[:, :2], heights, name), out[:, 2:]])

    def _back(self, slots: IntArray, roots: FloatArray) -> FloatArray:
        """Return by how much characters with roots (N, 3) in the plane of the floors are moved into the place [m]."""
        assert self.floors is not None
        engine = self._started()
        places = engine.plans.steps[slots, engine.plans.counts[slots, playing.FIRST], :2]
        return self.floors.moves(places, roots, self.time, engine.world)

    def _renewed(self) -> LiveEngine:
        """Return an engine whose trees pass what is new in the world; all characters stop where they are."""
        before, libraries, ids = self._started(), self._libraries, self._roster.ids(None)
        before.settle()
        slots = self._roster.places(ids)
        points, headings = before.roots(slots)
        roots, (goals, _) = np.column_stack([points[:, :2], headings]), before.wanted(slots)
        owners = before.library_numbers(slots)
        before.close()
        kinds = list(libraries.kinds)
        libraries.begin(self.world, special_kinds(self.world), before.time)
        for kind in kinds:
            libraries.open(kind)
        engine = self._started()
        self._roster.lift()
        self._log.watch = LiveWatch()
        for library in range(len(kinds)):
            rows = np.flatnonzero(owners == library)
            placed = engine.add(roots[rows], goals[rows], None, library)
            for row, slot in zip(rows.tolist(), placed.tolist(), strict=True):
                if slot >= 0:
                    self._roster.place(ids[row], slot, int(engine.plans.counts[slot, playing.LIFE]))
        for row, number in enumerate(ids):
            if number not in self._roster.slots:
                self._forget(number, roots[row])
        self._log.watch.begin(engine.characters, len(engine.plans.until), self.time)
        return engine

    def _places(self, who: Who | None) -> IntArray:
        """Return numbers of characters in the engine; (N,)."""
        return self._roster.everyone()[1] if who is None else self._roster.places(self._roster.ids(who))

    def _of_library(self, who: Who | None, library: str | None) -> tuple[IntArray, IntArray]:
        """Return ids and numbers in the engine of characters of one library."""
        engine = self._started()
        if who is None:
            ids, slots = self._roster.everyone()
        else:
            numbers = self._roster.ids(who)
            ids, slots = np.array(numbers, np.int64), self._roster.places(numbers)
        if library is not None:
            own = np.isin(engine.library_numbers(slots), self._libraries.numbers(library))
            if who is not None and not own.all():
                raise LiveError(f"character {int(ids[~own][0])} is not of library '{library}'")
            return ids[own], slots[own]
        if len(self._libraries.names) > 1:
            used = {self._libraries.name_of(number) for number in np.unique(engine.library_numbers(slots)).tolist()}
            if len(used) > 1:
                raise LiveError(f"characters of several libraries; ask for one at a time: {', '.join(sorted(used))}")
        return ids, slots

    def _aim(self, ids: Sequence[int], goals: FloatArray, tolerance: float | None) -> None:
        engine = self._prepared_engine()
        self._look()
        slots = self._roster.places(ids)
        if len(slots):
            engine.set_goals(slots, goals, checked_tolerance(tolerance))
            self._log.watch.begin(slots, len(engine.plans.until), self.time)

    def _forget(self, number: int, point: FloatArray) -> None:
        """Remove a character that is not in the engine any more, and tell of it."""
        name = self._roster.remove(number)
        self._held.pop(number, None)
        self._log.log_removed(self.time, number, name, point)

    def _look(self) -> None:
        """Find the events of the latest step, once it is planned."""
        if self._libraries.engine is not None:
            self._log.look(self._libraries.engine, self._held)

    def _check_inside(self, points: FloatArray) -> None:
        if (outside := (clipped(points, self.world) != points).any(axis=1)).any():
            x, y = points[outside][0].tolist()
            raise LiveError(f"({x:g}, {y:g}) is out of bounds {self.world.bounds}")
