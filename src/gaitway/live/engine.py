"""Many full-body characters that plan while they are played (Lau 2009, section 4.7.1, algorithm 4).

Each character plays the moves of its plan. A plan is found in a search tree, ends at rest, and is reserved in space and
time up to its end, and its place of rest from then on. Only the first moves of a plan are certain to be played. While
they are played, the character plans again from their end. The new plan replaces the rest of the old one if it, too, is
free up to its end. If there is no new plan, the character plays the old one to its end and stops. So no two characters
collide, whatever fails.

Characters of several libraries share the table of reservations (`arrays`), so they keep clear of one another as
characters of one library do.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from gaitway.core.archives import Arrays
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import TreeError
from gaitway.core.jit import direct
from gaitway.levels.links import Link
from gaitway.live.climbing.climbing import LiveClimbing
from gaitway.live.climbing.own_actions import ClimbingParts
from gaitway.live.given_arrays import finite
from gaitway.live.mixing.kinds import EngineParts
from gaitway.live.mixing.mixture import LiveMixture
from gaitway.live.options import LiveCounts, LiveOptions, PlanEffort
from gaitway.live.planning.batches import PlanningThreads, threads_for
from gaitway.live.planning.company_walks import CompanyWalks
from gaitway.live.planning.planner import LibraryPart, LivePlanner, Spent
from gaitway.live.playing import _playing_kernels as kernels
from gaitway.live.playing._crowd_kernels import WIDEST, BodyArrays, CrowdArrays
from gaitway.live.playing._restore_kernels import rebuild
from gaitway.live.playing.arrays import (
    LEAST_TALLY,
    SEEDS,
    LiveLibrary,
    body_extent,
    crowd_extent,
    grouped,
    joined_bodies,
    joined_live,
    library_of,
    live_options,
    longer,
    no_crowd,
    no_live,
    roomier,
)
from gaitway.live.playing.bodies import LiveFrames, body_arrays, headings_of, same_clips
from gaitway.live.playing.gaze import LiveGaze, LiveLayers
from gaitway.live.playing.joins import LiveJoins
from gaitway.live.playing.planned_steps import planned_steps
from gaitway.live.playing.saving import LiveState, check_crowd, check_tally, crowd_arrays
from gaitway.live.playing.shown_motions import ShownMotions
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton
from gaitway.space.plan import Plan
from gaitway.space.planner import Company
from gaitway.space.prepared import PreparedLibrary
from gaitway.take.evaluation import Joints, Poses
from gaitway.tree.forest import Forest
from gaitway.world.levels.floors import Floors
from gaitway.world.world import World

_FIRST_PLACES = 64
"""Number of characters that memory is first allocated for."""
LONGEST_STEP = 600.0
"""Longest time that one call goes on by [s]; nothing can end a call before its time is up."""
_LONGEST_PART = 0.5
"""Longest step of time that is taken at once; longer steps are taken in parts [s]."""


class LiveEngine:
    """Characters of one or several libraries in a world. This class is **mutable**; results depend on the calls alone.

    Planning for a step of time runs beside what the caller does (drawing, or `poses`) until the caller calls again.
    `gaitway.live` makes crowds that are easier to use: with names, events and obstacles that come and go.

    Attributes:
        options: options of the characters' planning.
        time: time now [s].
        start_time: time at which the crowd began [s].
        libraries: the libraries, by number.
        mixture: people who follow local dynamics; None where all are on clips.
        climbing: ways over floors; None in a place with one floor.
        motions: what is shown of some who stand, in place of their standing.
    """

    def __init__(
        self,
        prepared: PreparedLibrary,
        forest: Forest,
        options: LiveOptions | None = None,
        *,
        seed: int = 0,
        start_time: float = 0.0,
        floors: Floors | None = None,
        links: tuple[Link, ...] = (),
    ) -> None:
        """Make a crowd without characters.

        Args:
            prepared: a library prepared for planning, and the world.
            forest: trees of the library, with the costs of the prepared library.
            options: options of the characters' planning.
            seed: seed of the poses in which characters stand, and of the choice among clips.
            start_time: time at which the crowd begins [s].
            floors: floors of the place, in whose plane the crowd is; None for a place with one floor.
            links: links between the floors for the library.

        Raises:
            TreeError: if a tree is of another library, or there is none for characters that stand.
        """
        self.options = options or LiveOptions()
        self.time = self.start_time = float(start_time)
        self.libraries: list[LiveLibrary] = []
        self._rng, self._seed, self._parts = np.random.default_rng(seed), seed, list[LibraryPart]()
        self._live, self._crowd = no_live(prepared), no_crowd(np.zeros(3), None if floors is None else floors.mirrors)
        self._crowd_handle, self._live_handle = ArrayHandle(self._crowd), ArrayHandle(self._live)
        self._thread = ThreadPoolExecutor(1, "gaitway-live")
        self._plan_threads = PlanningThreads(threads_for(self.options.threads))
        self._in_parts = self._plan_threads.in_parts
        self._pending: Future[Spent] | None = None
        self._planning = self._evaluation = Spent(0.0, 0.0)
        self._advancing = 0.0
        self._watchers: list[Callable[[FloatArray], None]] = []
        self._lookers: list[Callable[[float, IntArray, FloatArray], None]] = []
        self._advance: Callable[..., None] = direct(kernels.advance)
        self._gaze = LiveGaze(self.options.upper_body, seed)
        mode = self.options.dynamics
        self.mixture = None if mode == "clips" else LiveMixture(mode, seed % SEEDS)
        self.motions, self.kept_since, self._company = ShownMotions(), -np.inf, CompanyWalks(self.options.radius)
        self.climbing = None if floors is None else LiveClimbing(floors, self.options.radius)
        self.add_library(prepared, forest, links)

    def add_library(self, prepared: PreparedLibrary, forest: Forest, links: tuple[Link, ...] = ()) -> int:
        """Add a library whose characters share the world with those of the others.

        Args:
            prepared: the library, prepared for planning in the world of the crowd as it is or was.
            forest: trees of the library, with the costs of the prepared library.
            links: links between the floors for the library.

        Returns:
            The number of the library.

        Raises:
            TreeError: if a tree is of another library, or there is none for characters that stand.
        """
        self.settle()
        world = self.world if self._parts else prepared.fields.world
        shared = next((lib.frames for lib in self.libraries if same_clips(lib.prepared, prepared)), None)
        body = body_arrays(prepared, self.options.radius)
        library = LiveLibrary(prepared, shared or LiveFrames(prepared), body, self.libraries)
        self._crowd.actions[self._crowd.actions >= library.first_action] += len(prepared.table)  # flights come last
        earlier = self._crowd.counts[:, kernels.EARLIER]
        earlier[earlier >= library.first_action] += len(prepared.table)
        trees = sum(part.planner.tree_count for part in self._parts)
        planner = LivePlanner(library, forest, self.options, self.time, self._plan_threads, trees)
        if world is not prepared.fields.world:
            planner.enter(world, self.time)
        used, table = planner.used, prepared.table
        still = used[table.rest[table.start_state[used]] & table.rest[table.end_state[used]]]
        library.extent = body_extent(body, used, still)
        self.libraries.append(library)
        part = LibraryPart(library, planner, live_options(prepared, self.options, self._seed))
        self._parts.append(part)
        if self.climbing is not None:
            self.climbing.add_library(self.libraries, links, planner)
        self._join()
        planner.warm_up(self._body, self._crowd_handle, part.live)
        if self.mixture is not None:
            self.mixture.add_libraries(self.libraries)
            self.mixture.warm_up(self._body, self._crowd_handle)
        return library.number

    def __len__(self) -> int:
        """Return the number of characters."""
        return int((self._crowd.counts[:, kernels.STATUS] != kernels.EMPTY).sum())

    @property
    def prepared(self) -> PreparedLibrary:
        """The first library, prepared for planning."""
        return self.libraries[0].prepared

    @property
    def world(self) -> World:
        """The world as it is now."""
        return self._parts[0].planner.fields.world

    @property
    def characters(self) -> IntArray:
        """Numbers of the characters, ascending; (N,)."""
        return np.flatnonzero(self._crowd.counts[:, kernels.STATUS] != kernels.EMPTY)

    @property
    def arrived(self) -> IntArray:
        """Numbers of the characters that are at rest at their goals."""
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
            in_throng=0 if self.mixture is None else len(self.mixture.walkers),
            planning_ms=self._planning.wall,
            planning_cpu_ms=self._planning.processor,
            planning_serial_ms=self._planning.serial,
            advancing_ms=self._advancing,
            evaluation_ms=self._evaluation.wall,
            evaluation_cpu_ms=self._evaluation.processor,
        )

    @property
    def nbytes(self) -> int:
        """Memory of plans, frames and routes, the trees and the world aside [bytes]."""
        arrays = sum(array.nbytes for array in (*self._crowd, *self._live))
        frames = {id(library.frames): library.frames.nbytes for library in self.libraries}
        return arrays + sum(frames.values()) + sum(part.planner.nbytes for part in self._parts)

    def add(
        self, starts: npt.ArrayLike, goals: npt.ArrayLike, tolerance: float | None = None, library: int = 0
    ) -> IntArray:
        """Put characters in that stand, each if there is room for it, in their order.

        Args:
            starts: start poses: x, y [m], heading [rad]; (N, 3).
            goals: goals: x, y [m]; (N, 2).
            tolerance: distance from a goal that is near enough [m].
            library: number of their library.

        Returns:
            Their numbers, or -1 where an obstacle or another character is in the way; (N,). Numbers of characters that
            were removed are used again.
        """
        self.settle()
        poses, aims = finite(starts, 3, "starts"), finite(goals, 2, "goals")
        if len(poses) != len(aims):
            raise TreeError(f"{len(poses)} starts and {len(aims)} goals; give one goal for each")
        places = len(self._crowd.until)
        if places < len(self) + len(poses):
            self._reserve(max(2 * places, len(self) + len(poses)))
        part = self._parts[library]
        standing = float(part.library.body.durations[part.resting])
        since = self.time - self._rng.uniform(0.0, standing, len(poses))
        resting = self._rng.choice(part.ways_to_rest, len(poses))
        out = np.full(len(poses), -1)
        planner = part.planner
        kernels.place(
            self._body, self._crowd_handle, part.live, planner.actions, planner.fields.handle, planner.traffic,
            planner.busy, read_only(poses), read_only(since), self.time, read_only(resting), out,
        )  # fmt: skip
        self._drain()
        here = out >= 0
        self._gaze.begin(out[here])
        if self.mixture is not None:
            self.mixture.begin(out[here])
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
        self.motions.stop(who)
        if self.mixture is not None:
            self.mixture.remove(who)
        for watcher in self._watchers:
            watcher(rows)

    def perform(self, character: int, clip: Clip, end: FloatArray) -> bool:
        """Show a motion of a character who stands, from now on, and let it stand where the motion ends.

        Args:
            character: number of the character.
            clip: the motion in the world.
            end: where the character stands from now on for all others: x, y [m], heading [rad]; (3,).

        Returns whether there is room, and the character stands; otherwise nothing has changed.
        """
        self.settle()
        who = self._checked([character])
        part, ((root,), (turns,)) = self._parts[int(self.library_numbers(who)[0])], self._clip_poses(who)
        there = kernels.shift(
            self._body, self._crowd_handle, part.live, part.planner.actions, part.planner.fields.handle, int(who[0]),
            read_only(end), self.time, int(part.ways_to_rest[0]),
        )  # fmt: skip
        if there:
            self._drain()
            self.motions.put(
                character, int(self._crowd.counts[character, kernels.LIFE]), self.time, clip, (root, turns)
            )
        return bool(there)

    def walk_in_company(self, character: int, usual: int, slower: int, company: Company) -> bool:
        """Let a character walk to its goal beside companions; see `CompanyWalks.begin`."""
        self.settle()
        return self._company.begin(self._climbing_parts(), int(self._checked([character])[0]), usual, slower, company)

    def set_goals(
        self, characters: npt.ArrayLike, goals: npt.ArrayLike, tolerance: float | FloatArray | None = None
    ) -> None:
        """Give characters new goals; they plan again from the end of the move that they are in.

        Args:
            characters: numbers of the characters; (N,).
            goals: goals: x, y [m]; (N, 2).
            tolerance: distance from a goal that is near enough [m].
        """
        self.settle()
        who, aims = self._checked(characters), finite(goals, 2, "goals")
        if len(who) != len(aims):
            raise TreeError(f"{len(who)} characters and {len(aims)} goals; give one goal for each")
        self._aim(who, aims, tolerance)

    def set_world(self, world: World) -> None:
        """Change the obstacles and movers; all characters plan again from the end of the move that they are in.

        Characters whose plans lead into a new obstacle come first, all of them in the next step of time. They keep
        their plans only until they find others.
        """
        self.settle()
        for part in self._parts:
            part.planner.enter(world, self.time)
        if self.climbing is not None:
            self.climbing.enter([part.planner for part in self._parts], self.time)
        who = self.characters
        self._aim(who, *self.wanted(who))
        for part in self._parts:
            part.planner.hasten(self._body, self._crowd_handle, part.live)
        if self.mixture is not None:
            self.mixture.set_world(self._mixed_parts())

    def step(self, dt: float) -> None:
        """Go on by some time [s]: play all characters, and begin to plan for those that are ready.

        Raises:
            TreeError: if it is not above 0, or too long for one call.
        """
        if not 0.0 < dt <= LONGEST_STEP:
            raise TreeError(f"step of {dt} s; write a time above 0 and at most {LONGEST_STEP:g}")
        parts = max(int(np.ceil(dt / _LONGEST_PART - 1e-9)), 1)
        start = self.time
        for part in range(parts):
            self.settle()
            began = clock.perf_counter()
            self.time = start + dt * (part + 1) / parts
            self._play()
            if self.mixture is not None:
                self.mixture.step(self._mixed_parts(), dt / parts, self._clip_roots, self._clip_poses, self._play)
            self._gaze.step(self._body, self._crowd_handle, self.time, dt / parts, self._in_parts)
            self._drain()
            self.motions.step(self.time, self.kept_since, self._clip_poses)
            if self._lookers:
                who = self.characters
                turns = self._looks(who)
                lives = np.column_stack([who, self._crowd.counts[who, kernels.LIFE]])
                if turns is not None:
                    for looker in self._lookers:
                        looker(self.time, lives, turns)
            for some in self._parts:
                some.planner.look_ahead(self.time)
            if self.climbing is not None:
                self.climbing.step(self._climbing_parts(), self._relaid)
            self._advancing = 1e3 * (clock.perf_counter() - began)
            self._pending = self._thread.submit(self._plan)

    def settle(self) -> None:
        """Wait until the planning of the latest step is done."""
        if self._pending is not None:
            self._planning = self._pending.result()
            self._pending = None

    def roots(self, characters: npt.ArrayLike | None = None) -> tuple[FloatArray, FloatArray]:
        """Return root positions [m] (N, 3) and headings [rad] (N,) now, of characters of any libraries."""
        who = self._asked(characters)
        positions, headings = self._clip_roots(who)
        if self.mixture is not None:
            for group, (frames, rows) in self._mixed_groups(who):
                roots, turns = positions[rows], np.empty((len(rows), len(frames.skeleton), 4))
                shown = self.mixture.overlay(who[rows], group, roots, turns, None, np.empty(0, np.int64))
                positions[rows[shown]] = roots[shown]
                headings[rows[shown]] = headings_of(turns[shown, 0], frames.skeleton.forward)
        for row in self.motions.rows(who).tolist():
            positions[row], turns = (part[0] for part in self._moved(who[row : row + 1]))
            headings[row] = headings_of(turns[:1], self.skeleton_of(who[row : row + 1]).forward)[0]
        return positions, headings

    def _clip_roots(self, who: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return root positions and headings of characters as their clips have them."""
        positions, headings = np.empty((len(who), 3)), np.empty(len(who))
        numbers = self.library_numbers(who)
        for library in self.libraries:
            rows = np.flatnonzero(numbers == library.number)
            if len(rows):
                places, turns = library.frames.roots(who[rows], self._live.table, self.time, self.world)
                positions[rows] = places
                headings[rows] = headings_of(turns, library.frames.skeleton.forward)
        return positions, headings

    def poses(self, characters: npt.ArrayLike | None = None, out: tuple[FloatArray, FloatArray] | None = None) -> Poses:
        """Return root positions and local joint rotations now.

        Args:
            characters: numbers of characters that share a skeleton; None for all. Planning may go on meanwhile.
            out: memory for root positions (N, 3) and rotations (N, J, 4); None for new memory.
        """
        begun = self._spent()
        who = self._asked(characters)
        parts, joints, layers = self._groups(who), len(self.skeleton_of(who)), self._layers()
        first, second = out or (np.empty((len(who), 3)), np.empty((len(who), joints, 4)))
        for frames, rows in parts:
            whole = len(rows) == len(who)
            own = (first, second) if whole else None
            some = frames.poses(who[rows], self._live.table, self.time, self.world, own, layers, self._in_parts)
            if not whole:
                first[rows], second[rows] = some.root_positions, some.rotations
        if self.mixture is not None:
            for group, (_, rows) in self._mixed_groups(who):
                self._overlay(who, group, rows, first, second)
        if len(rows := self.motions.rows(who)):
            first[rows], second[rows] = self._moved(who[rows])
        out_ = Poses(self.skeleton_of(who), who, first, second)
        self._evaluation = Spent(*np.subtract(self._spent(), begun).tolist())
        return out_

    def _spent(self) -> Spent:
        """Return the time until now by the clock, and that of the processor for this thread and for its helpers."""
        return Spent(1e3 * clock.perf_counter(), 1e3 * clock.thread_time() + self._plan_threads.beside_ms)

    def _mixed_groups(self, who: IntArray) -> list[tuple[int, tuple[LiveFrames, IntArray]]]:
        """Return the groups of `_groups` of which some may be in the throng, by numbers of their skeletons there."""
        assert self.mixture is not None
        if not self.mixture.shows_any:
            return []
        numbers = self.library_numbers(who)
        found = [
            (self.mixture.group_of(int(numbers[rows[0]])), (f, rows)) for f, rows in self._groups(who) if len(rows)
        ]
        return [entry for entry in found if entry[0] >= 0]

    def _overlay(self, who: IntArray, group: int, rows: IntArray, roots: FloatArray, turns: FloatArray) -> IntArray:
        """Write root positions and local rotations of those in the throng; return their rows."""
        assert self.mixture is not None
        some_roots, some_turns = np.empty((len(rows), 3)), np.empty((len(rows), *turns.shape[1:]))
        looks = self._looks(who[rows])
        joints = self._gaze.joints(int(self.library_numbers(who[rows[:1]])[0]))
        shown = self.mixture.overlay(who[rows], group, some_roots, some_turns, looks, joints)
        roots[rows[shown]], turns[rows[shown]] = some_roots[shown], some_turns[shown]
        return rows[shown]

    def _looks(self, who: IntArray) -> FloatArray | None:
        """Return the turns of joints of characters by gaze, as they are shown (N, P, 4); None where nobody looks."""
        looks = self._gaze.turns(who)
        looks = looks if looks is None or self.mixture is None else self.mixture.calmed(who, looks)
        return self.motions.calmed(who, self.time, looks)

    def _clip_poses(self, who: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return root positions and local rotations of characters of one skeleton as their clips have them."""
        roots, turns = np.empty((len(who), 3)), np.empty((len(who), len(self.skeleton_of(who)), 4))
        layers = self._joins.layers(self._crowd, self._live, self.time, None)
        for frames, rows in self._groups(who):
            some = frames.poses(who[rows], self._live.table, self.time, self.world, None, layers)
            roots[rows], turns[rows] = some.root_positions, some.rotations
        return roots, turns

    def _moved(self, who: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return root positions and local rotations of characters of one skeleton who are in motions."""
        joints = self._gaze.joints(int(self.library_numbers(who[:1])[0]))
        return self.motions.posed(who, self.time, *self._clip_poses(who), self._looks(who), joints)

    def _play(self) -> None:
        """Play the characters up to now."""
        self._advance(self._body, self._crowd_handle, self._live_handle, self.time)

    def _mixed_parts(self) -> EngineParts:
        """Return what the throng sees of the engine."""
        return EngineParts(
            self._body, self._crowd_handle, self._live_handle, self.libraries,
            [part.planner for part in self._parts], [part.live for part in self._parts], self.world, self.time,
        )  # fmt: skip

    def _climbing_parts(self) -> ClimbingParts:
        """Return what those who climb see of the engine."""
        return ClimbingParts(
            self._body, self._crowd_handle, [part.live for part in self._parts], self.libraries,
            [part.planner for part in self._parts], self._joins.bases, self.time,
        )  # fmt: skip

    def _layers(self) -> LiveLayers | None:
        """Return what turns joints now besides clips: gaze and arms, and joins of clips."""
        looks = self._gaze.layers(self.time)
        return self._joins.layers(self._crowd, self._live, self.time, looks, self._in_parts)

    def joints(
        self, characters: npt.ArrayLike | None = None, out: tuple[FloatArray, FloatArray] | None = None
    ) -> Joints:
        """Return world positions (N, J, 3) and rotations (N, J, 4) of all joints now; see `poses`."""
        begun = self._spent()
        who = self._asked(characters)
        parts, joints, layers = self._groups(who), len(self.skeleton_of(who)), self._layers()
        first, second = out or (np.empty((len(who), joints, 3)), np.empty((len(who), joints, 4)))
        for frames, rows in parts:
            whole = len(rows) == len(who)
            own = (first, second) if whole else None
            some = frames.joints(who[rows], self._live.table, self.time, self.world, own, layers, self._in_parts)
            if not whole:
                first[rows], second[rows] = some.positions, some.rotations
        if self.mixture is not None:
            for group, (frames, rows) in self._mixed_groups(who):
                roots, turns = np.empty((len(who), 3)), np.empty((len(who), joints, 4))
                shown = self._overlay(who, group, rows, roots, turns)
                first[shown], second[shown] = forward_kinematics(frames.skeleton, roots[shown], turns[shown])
        if len(rows := self.motions.rows(who)):
            first[rows], second[rows] = forward_kinematics(self.skeleton_of(who), *self._moved(who[rows]))
        out_ = Joints(self.skeleton_of(who), who, first, second)
        self._evaluation = Spent(*np.subtract(self._spent(), begun).tolist())
        return out_

    def plan(self, character: int) -> Plan:
        """Return what a character is about to do, from the move that it is in, and what that costs."""
        self.settle()
        return planned_steps(self._crowd, self.libraries, self._joins.bases, int(self._checked([character])[0]))

    def effort(self, character: int) -> PlanEffort:
        """Return what it took to find a character's latest plan."""
        self.settle()
        who = self._checked([character])
        part = self._parts[int(self.library_numbers(who)[0])]
        return part.planner.effort(self._crowd, int(who[0]))

    def behaviors(self, characters: npt.ArrayLike | None = None) -> tuple[str, ...]:
        """Return the names of the behaviours that characters are in."""
        self.settle()
        who = self._asked(characters)
        actions = self._joins.bases[self._crowd.actions[who, self._crowd.counts[who, kernels.FIRST]]]
        owners = library_of(self.libraries, actions).tolist()
        libraries = [self.libraries[number] for number in owners]
        return tuple(
            library.prepared.actions.names[action - library.first_action]
            for library, action in zip(libraries, actions.tolist(), strict=True)
        )

    def goals(self, characters: npt.ArrayLike | None = None) -> FloatArray:
        """Return the goals of characters: x, y [m]; (N, 2)."""
        return self.wanted(self._asked(characters))[0]

    def wanted(self, who: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the goals of characters [m] (N, 2), and the distances from them that are near enough [m] (N,)."""
        if self.climbing is not None:
            return self.climbing.wanted(who)
        numbers = self._crowd.numbers[who]
        return numbers[:, [kernels.GOAL_X, kernels.GOAL_Y]], numbers[:, kernels.TOLERANCE]

    def library_numbers(self, characters: IntArray) -> IntArray:
        """Return the numbers of the libraries of characters; (N,)."""
        return library_of(self.libraries, self._crowd.actions[characters, -1])

    def watch(self, watcher: Callable[[FloatArray], None]) -> None:
        """Let a function be told of the steps of characters as they begin, for a record of what was played.

        Args:
            watcher: called with the character, the number of characters that have had this number, the action (or -1
                for a character that is removed), x, y [m], heading [rad], and the time [s] of each step; (N, 7).
        """
        self._watchers.append(watcher)

    def watch_looks(self, watcher: Callable[[float, IntArray, FloatArray], None]) -> None:
        """Let a function be told where characters look and how they stand, after each step.

        Args:
            watcher: called with the time [s], the numbers of characters and how many have had each number (N, 2), and
                the turns of their joints, wxyz (N, 7, 4); see `look_joints`.
        """
        self._lookers.append(watcher)

    def look_joints(self, library: int) -> IntArray:
        """Return the joints of a library that `watch_looks` tells of, or -1; (7,)."""
        return self._gaze.joints(library)

    @property
    def plans(self) -> CrowdArrays:
        """Plans and goals of all characters, as kernels see them; read only after `settle`."""
        return self._crowd

    def planner(self, library: int) -> LivePlanner:
        """Return the planner of a library."""
        return self._parts[library].planner

    def state(self) -> LiveState:
        """Return all that `restore` needs. A search that is under way is given up and begins again, here as well."""
        self.settle()
        planners = [part.planner.state(self._crowd) for part in self._parts]
        values = {
            "time": self.time,
            "start_time": self.start_time,
            "rng": self._rng.bit_generator.state,
            "libraries": [library.digest for library in self.libraries],
            "planners": planners,
        }
        mixed: Arrays = {}
        if self.mixture is not None:
            values["mixture"], arrays = self.mixture.state()
            mixed = {f"mixture_{name}": array for name, array in arrays.items()}
        if self.climbing is not None:
            values["climbing"], mixed = self.climbing.state()
        routes = {f"routes_{k}": part.planner.routes.lengths.copy() for k, part in enumerate(self._parts)}
        return LiveState(values, crowd_arrays(self._crowd) | routes | mixed
                         | {"tally": self._live.tally.copy(), "gaze": self._gaze.state.copy()})  # fmt: skip

    def restore(self, state: LiveState) -> None:
        """Go on from the state of an engine with the same libraries, options and world.

        Raises:
            ValueError: if the state does not belong to such an engine.
        """
        self.settle()
        values, arrays = state.values, state.arrays
        if list(values["libraries"]) != [library.digest for library in self.libraries]:
            raise ValueError("the state is of other libraries than this crowd's")
        time, start = float(values["time"]), float(values["start_time"])
        places = len(arrays["until"])
        check_tally(arrays["tally"], len(self._live.tally), places)
        if not (np.isfinite([time, start]).all() and start <= time):
            raise ValueError(f"the state is of time {time} s")
        world = self.world
        for k, (part, saved) in enumerate(zip(self._parts, values["planners"], strict=True)):
            unchanged = part.library.prepared.fields if saved["unchanged"] else world
            part.planner.enter(unchanged, time)
            part.planner.restore(saved, arrays[f"routes_{k}"])
        routes = [len(part.planner.routes.lengths) for part in self._parts]
        if (self.climbing is None) != ("climbing" not in values):
            raise ValueError("the state is of a place with other floors")
        checked = arrays
        if self.climbing is not None:
            self.climbing.restore(self.libraries, values["climbing"], arrays)
            self._relaid()
            checked = self.climbing.checked(self.libraries, arrays, self._joins.bases)
        check_crowd(checked, self.libraries, routes, time)
        self._rng.bit_generator.state = values["rng"]
        self.time, self.start_time, self.motions = time, start, ShownMotions()
        self._crowd = no_crowd(self._crowd.extent, self._crowd.mirrors)
        self._live = self._live._replace(table=np.zeros((0, 12)))
        self._reserve(places)
        for name in ("steps", "actions", "counts", "numbers", "until"):
            getattr(self._crowd, name)[:] = arrays[name]
        self._gaze.restore(arrays["gaze"])
        self._crowd.until[self._crowd.counts[:, kernels.STATUS] == kernels.EMPTY] = np.inf
        self._live.tally[:] = arrays["tally"]
        rebuild(self._body, self._crowd_handle, self._live_handle, read_only(arrays["planned"]))
        if (self.mixture is None) != ("mixture" not in values):
            raise ValueError("the state is of a crowd with other dynamics")
        if self.mixture is not None:
            mixed = {name[8:]: array for name, array in arrays.items() if name.startswith("mixture_")}
            self.mixture.restore(self._mixed_parts(), values["mixture"], mixed, self._clip_poses)

    def close(self) -> None:
        """End the threads that plan."""
        self.settle()
        self._thread.shutdown()
        self._plan_threads.close()

    def _plan(self) -> Spent:
        """Plan for the characters of one library after another."""
        spent = [part.planner.plan(self._body, self._crowd_handle, part.live, self.time) for part in self._parts]
        return Spent(sum(s.wall for s in spent), sum(s.processor for s in spent), sum(s.serial for s in spent))

    def _aim(self, who: IntArray, goals: FloatArray, tolerance: float | FloatArray | None) -> None:
        counts, numbers = self._crowd.counts, self._crowd.numbers
        counts[who, kernels.FIXED] = counts[who, kernels.FIRST] + 1
        if self.climbing is not None:
            self.climbing.keep_boarded(self.libraries, self._crowd, who)
            near = np.broadcast_to(self.options.tolerance if tolerance is None else tolerance, len(who))
            goals, tolerance = self.climbing.aim(self._climbing_parts(), who, goals, near)
        numbers[who, kernels.GOAL_X], numbers[who, kernels.GOAL_Y] = goals[:, 0], goals[:, 1]
        numbers[who, kernels.TOLERANCE] = self.options.tolerance if tolerance is None else tolerance
        numbers[who, kernels.READY] = self.time
        # who has changed the pace plans with the library of the move that goes on
        owners = library_of(self.libraries, self._joins.bases[self._crowd.actions[who, counts[who, kernels.FIRST]]])
        for part in self._parts:
            rows = np.flatnonzero(owners == part.library.number)
            if len(rows):
                counts[who[rows], kernels.ROUTE] = part.planner.routes.numbers(goals[rows])
        steps, actions = self._crowd.steps[who, -1, :2], self._crowd.actions
        stands = (counts[who, kernels.COUNT] == 1) & (actions[who, 0] == actions[who, -1])
        there = stands & (np.hypot(*(steps - goals).T) <= numbers[who, kernels.TOLERANCE])
        counts[who, kernels.STATUS] = np.where(there, kernels.THERE, kernels.GOING)
        for column in (kernels.FAILS, kernels.IDLE, kernels.HELD, kernels.ALARM):
            counts[who, column] = 0
        counts[who, kernels.SOUGHT] = kernels.FRESH
        numbers[who, kernels.LEFT] = np.inf
        if self.mixture is not None:
            self.mixture.aim(self._mixed_parts(), who)

    def _asked(self, characters: npt.ArrayLike | None) -> IntArray:
        return self.characters if characters is None else self._checked(characters)

    def _checked(self, characters: npt.ArrayLike) -> IntArray:
        who = np.atleast_1d(np.asarray(characters))
        status = self._crowd.counts[:, kernels.STATUS]
        if who.ndim == 1 and len(who) == 0:
            return np.empty(0, np.int64)
        if who.dtype.kind not in "iu" or who.ndim != 1:
            raise TreeError("characters must be whole numbers in one row")
        wrong: BoolArray = (who < 0) | (who >= len(status))
        wrong[~wrong] = status[who[~wrong]] == kernels.EMPTY
        if wrong.any():
            raise TreeError(f"no character {int(who[wrong][0])}; see `characters`")
        return who.astype(np.int64)

    def skeleton_of(self, characters: IntArray) -> Skeleton:
        """Return the skeleton that characters share.

        Raises:
            TreeError: if they have several skeletons.
        """
        if len(self.libraries) == 1 or len(characters) == 0:
            return self.libraries[0].frames.skeleton
        numbers = np.unique(self.library_numbers(characters)).tolist()
        skeletons: list[Skeleton] = [self.libraries[number].frames.skeleton for number in numbers]
        if any(skeleton != skeletons[0] for skeleton in skeletons):
            raise TreeError("characters of several libraries have no skeleton in common; ask for one library at a time")
        return skeletons[0]

    def _groups(self, who: IntArray) -> list[tuple[LiveFrames, IntArray]]:
        """Return the frames that characters play, and the rows of the characters that play them."""
        return grouped(self.libraries, self.library_numbers(who))

    def _drain(self) -> None:
        """Tell watchers of the steps that began."""
        count = int(self._live.tally[kernels.LOGGED])
        if count:
            log = self._live.log[:count].copy()
            log = log if self.climbing is None else self.climbing.logged(self.libraries, log)
            for watcher in self._watchers:
                watcher(log)
        self._live.tally[kernels.LOGGED] = 0

    def _join(self) -> None:
        """Lay out the arrays of all libraries anew, after one was added."""
        body: BodyArrays = joined_bodies(self.libraries)
        self._body, extent = ArrayHandle(body), crowd_extent(self.libraries)
        self._crowd = self._crowd._replace(extent=extent)
        trees = sum(part.planner.tree_count for part in self._parts)
        tally = longer(self._live.tally, max(LEAST_TALLY, kernels.CURSOR + trees))
        self._live = joined_live(self._live._replace(tally=tally), self.libraries)
        self._joins = LiveJoins(self.libraries)
        if self.climbing is not None:
            self._relaid()
        self._reserve(max(len(self._crowd.until), _FIRST_PLACES))

    def _relaid(self) -> ClimbingParts:
        """Lay the arrays anew with the flights that are played now; return what those who climb see of them."""
        assert self.climbing is not None
        body, live, bases = self.climbing.own.extended(self.libraries, self._body.value, self._live)
        self._live, self._joins.bases = live, bases
        self._body = ArrayHandle(body)
        own = body.around[self.libraries[-1].end_action :, 2].max(initial=0.0)
        self._crowd.extent[WIDEST] = max(crowd_extent(self.libraries)[WIDEST], own)
        self._live_handle = ArrayHandle(self._live)
        for part in self._parts:
            part.live = ArrayHandle(self._live._replace(options=part.options))
        return self._climbing_parts()

    def _reserve(self, places: int) -> None:
        """Allocate memory for a number of characters."""
        log = places * (int(_LONGEST_PART / min(part.shortest for part in self._parts)) + 2)
        self._crowd = roomier(self._crowd, places)
        self._live = self._live._replace(table=longer(self._live.table, places), log=np.zeros((log, 7)))
        self._live.table[:, 11] = -1.0
        self._crowd_handle, self._live_handle = ArrayHandle(self._crowd), ArrayHandle(self._live)
        self._gaze.reserve(places, self.libraries)
        if self.climbing is not None:
            self.climbing.reserve(places)
        if self.mixture is not None:
            self.mixture.reserve(places)
        for part in self._parts:
            part.live = ArrayHandle(self._live._replace(options=part.options))
        kernels.relink(self._body, self._crowd_handle)
