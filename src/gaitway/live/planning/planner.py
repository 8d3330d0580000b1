"""Planning for live characters of one library: trees, the world, movers, and routes to far goals."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gaitway.core.archives import counted
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import TreeError
from gaitway.core.jit import direct
from gaitway.live.options import LiveOptions, PlanEffort
from gaitway.live.planning import _turn_kernels as kernels
from gaitway.live.planning._draft_kernels import TAKEN
from gaitway.live.planning._nearby_kernels import nearby_memory
from gaitway.live.planning._stuck_kernels import install
from gaitway.live.planning._subgoal_kernels import Lengths
from gaitway.live.planning.batches import BATCH, BLOCK, PlanningThreads, drafts_for
from gaitway.live.planning.forest import end_arrays, heap_for_ends
from gaitway.live.planning.movers import MoversAhead
from gaitway.live.planning.routes import RouteBook
from gaitway.live.planning.stuck_characters import StuckCharacters
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import BodyArrays, CrowdArrays
from gaitway.live.playing._playing_kernels import LiveArrays
from gaitway.live.playing.arrays import LiveLibrary, longer
from gaitway.live.playing.bodies import rest_actions
from gaitway.space._check_kernels import ActionArrays
from gaitway.space.fields import WorldFields
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import NO_TRAFFIC
from gaitway.space.similar_clips import SimilarClips
from gaitway.space.slopes import steepest_for
from gaitway.space.traffic import Traffic
from gaitway.tree.forest import Forest
from gaitway.tree.query.index import tree_arrays, work_for
from gaitway.world.world import World

SHARE = 40
"""One in this many characters has a turn to plan in a step of time; each needs one about every two seconds."""
_LEAST_TURNS = 8
"""Least number of turns to plan in a step of time."""
_SLICE = 8
"""Number of turns between looks at the clock, where time is limited."""
FIELDS = 6
"""Largest number of route fields that are computed in a step of time; each takes about a millisecond."""
_SOURCES = ("", "tree", "A*")
"""Names of the methods that find plans, by `_playing_kernels.NOTHING` and the others."""


class Spent(NamedTuple):
    """Time that something took."""

    wall: float
    """Time by the clock [ms]."""
    processor: float
    """Time of the processor, of all threads together [ms]."""
    serial: float = 0.0
    """Part of it that is not shared among threads [ms]."""


class LivePlanner:
    """Plans for characters of one library in turn. This class is **mutable**: worlds change, and movers go on.

    Attributes:
        fields: fields of the world.
        busy: whether the world has movers.
        traffic: the movers, for kernels.
        routes: routes to goals.
        used: actions that occur in plans, and those that may replace them, by their numbers in the library.
    """

    def __init__(
        self, library: LiveLibrary, forest: Forest, options: LiveOptions, time: float, threads: PlanningThreads,
        first_tree: int = 0,
    ) -> None:  # fmt: skip
        """Prepare trees, and the world of the prepared library.

        Args:
            library: a library of a crowd.
            forest: trees of the library, with the costs of the prepared library.
            options: options of the characters' planning.
            time: time now [s].
            threads: threads that plan side by side.
            first_tree: number of the first tree in the crowd, see `CURSOR`.

        Raises:
            TreeError: if a tree is of another library, or there is none for characters that stand.
        """
        prepared = library.prepared
        self._library, self._prepared, self._options, table = library, prepared, options, prepared.table
        self._actions, self._first_tree = library.actions(), first_tree
        states = {name: _state_of(prepared, name) for name in forest.roots}
        arrays = {name: tree_arrays(tree, prepared.actions) for name, tree in forest.trees.items()}
        resting = rest_actions(prepared)
        standing = int(prepared.actions.states.after[table.behavior[resting[0]]])
        if standing not in states.values():
            raise TreeError(f"no tree for those who stand; there are trees of {', '.join(forest.roots)}")
        # those on the way come before those who stand: they have less time
        order = sorted(arrays, key=lambda name: bool(table.rest[table.state(name)]))
        self._trees = [
            (
                ArrayHandle(library.tree(arrays[n])),
                *(ArrayHandle(end_arrays(forest.tree(n), arrays[n], thin=t)) for t in (True, False)),
                states[n] + library.first_state,
            )
            for n in order
        ]
        self._threads = threads
        self._memory = [
            (ArrayHandle(heap_for_ends()), ArrayHandle(work_for(list(arrays.values()))), ArrayHandle(nearby_memory()))
            for _ in range(threads.count)
        ]
        self._drafts, self._planned = drafts_for(_LEAST_TURNS), list[IntArray]()
        self._helped = self._shared = 0.0
        planned = np.concatenate([resting, *(some.actions for some in arrays.values())])
        representative = SimilarClips.of(table).representative
        self.used: IntArray = np.flatnonzero(np.isin(representative, representative[planned]))
        self._collect: Callable[..., int] = direct(kernels.collect_turns)
        self._draft: Callable[..., None] = direct(kernels.draft_turns)
        self._settle: Callable[..., int] = direct(kernels.settle_turns)
        self._hurried, self._seeker = 0, StuckCharacters(library)
        self._spent: FloatArray = np.zeros(0)
        self._book: RouteBook | None = None
        self.enter(prepared.fields, time)

    @property
    def tree_count(self) -> int:
        """Number of trees."""
        return len(self._trees)

    @property
    def actions(self) -> ArrayHandle[ActionArrays]:
        """The actions of the library for kernels, by their numbers in the crowd."""
        return self._actions

    @property
    def passing(self) -> ArrayHandle[IntArray]:
        """Kinds of obstacles that the actions pass in the world, for kernels."""
        return self._passing

    @property
    def movers(self) -> Traffic:
        """The movers, for as long as they are known."""
        return self._movers.traffic

    @property
    def nbytes(self) -> int:
        """Memory of routes and of what planning writes to [bytes]."""
        held = [*self._drafts.value, *(array for memory in self._memory for part in memory for array in part.value)]
        return self.routes.nbytes + sum(array.nbytes for array in held)

    def effort(self, crowd: CrowdArrays, me: int) -> PlanEffort:
        """Return what it took to find the latest plan of a character."""
        source, nodes = crowd.counts[me, [playing.SOURCE, playing.EFFORT]].tolist()
        spent = float(self._spent[me]) if me < len(self._spent) else 0.0
        return PlanEffort(_SOURCES[source], nodes, spent if source else 0.0)

    def warm_up(
        self, body: ArrayHandle[BodyArrays], crowd: ArrayHandle[CrowdArrays], live: ArrayHandle[LiveArrays]
    ) -> None:
        """Compile or load all that steps of time need; the crowd has a place, and no character in it."""
        self.routes.warm_up()
        self._turns(body, crowd, live, 0.0, 0.0, 1)
        self.hasten(body, crowd, live)
        if self._options.searches > 0:
            self._seeker.warm_up(self._options.tolerance, self.routes.handle)
            install(
                self._actions, self.fields.handle, self._passing, self.traffic, self.busy, body, crowd, live,
                0, read_only(np.empty(0, np.int64)),
            )  # fmt: skip

    def enter(self, world: World | WorldFields, time: float) -> None:
        """Plan in a world from a time on [s]."""
        prepared = self._prepared
        if isinstance(world, World):
            passing = [reach for reach in prepared.actions.reaches if reach.edge is None]
            world = WorldFields.of(world, passing, max_slope=steepest_for(prepared.library), who=prepared.library.name)
        self.fields, self._passing = world, self._library.passing(prepared.actions.passing(world))
        self.routes = self._book = RouteBook(world, self._options.route_bytes, self._book)
        self._seeker.enter(world, time)
        self._movers = MoversAhead(world, time)
        self.busy = bool(world.world.movers)
        self.traffic = ArrayHandle(self._movers.traffic.arrays) if self.busy else NO_TRAFFIC

    def look_ahead(self, time: float) -> None:
        """Compute the movers for long enough beyond a time [s]."""
        if self.busy and self._movers.look_ahead(time):
            self.traffic = ArrayHandle(self._movers.traffic.arrays)

    def hasten(
        self, body: ArrayHandle[BodyArrays], crowd: ArrayHandle[CrowdArrays], live: ArrayHandle[LiveArrays]
    ) -> None:
        """Let the characters plan first whose plans are not free any more in a new world."""
        self._hurried = kernels.hasten(
            self._actions, self.fields.handle, self._passing, self.traffic, self.busy, body, crowd, live,
            self._library.number,
        )  # fmt: skip

    def plan(
        self, body: ArrayHandle[BodyArrays], crowd: ArrayHandle[CrowdArrays], live: ArrayHandle[LiveArrays], time: float
    ) -> Spent:
        """Let characters plan in turn within the budget, at a time [s]; return what it took."""
        began, processor = clock.perf_counter(), clock.thread_time()
        most, limit = self._options.budget, self._options.budget_ms
        self._helped, self._shared, self._planned = 0.0, 0.0, []
        mine = self._library.owns(crowd.value)
        if self.routes.full:
            there = crowd.value.counts[:, playing.STATUS] != playing.EMPTY
            self.routes.release(crowd.value.counts[mine & there, playing.ROUTE])
        if made := self.routes.fill(FIELDS):
            # ways are of other lengths than they seemed to be
            crowd.value.numbers[np.isin(crowd.value.counts[:, playing.ROUTE], made) & mine, playing.LEFT] = np.inf
        if self._hurried:
            self._turns(body, crowd, live, kernels.AT_ONCE, time, self._hurried)
            self._hurried = int(((crowd.value.counts[:, playing.ALARM] != 0) & mine).sum())
        turns = left = int(mine.sum()) // SHARE + _LEAST_TURNS if most is None else most
        while left > 0 and (limit is None or 1e3 * (clock.perf_counter() - began) < limit):
            asked = left if limit is None else min(_SLICE * self._threads.count, left)
            taken = self._turns(body, crowd, live, time, time, asked)
            left -= taken
            if taken < asked:
                break
        who = np.concatenate(self._planned) if self._planned else np.empty(0, np.int64)
        self._note_spent(crowd.value, who, 1e3 * (clock.perf_counter() - began) / max(turns - left, len(who), 1))
        self._seek(body, crowd, live, time)
        wall, own = clock.perf_counter() - began, clock.thread_time() - processor
        return Spent(1e3 * wall, 1e3 * own + self._helped, 1e3 * own - self._shared)

    def install_path(
        self, body: ArrayHandle[BodyArrays], crowd: ArrayHandle[CrowdArrays], live: ArrayHandle[LiveArrays], me: int,
        actions: IntArray,
    ) -> int:  # fmt: skip
        """Let a character play some actions after its fixed steps, see `install`; return how many are free, or 0."""
        return int(
            install(
                self._actions, self.fields.handle, self._passing, self.traffic, self.busy, body, crowd, live, me,
                read_only(actions),
            )
        )  # fmt: skip

    def state(self, crowd: CrowdArrays) -> dict[str, Any]:
        """Return what `restore` needs besides `routes.lengths`, as plain values."""
        return {
            "hurried": self._hurried,
            "unchanged": self.fields is self._prepared.fields,
            "routes": self.routes.state(),
            "movers": self._movers.state(),
            "stuck": self._seeker.state(crowd),
        }

    def restore(self, state: Mapping[str, Any], lengths: Lengths) -> None:
        """Go on where an earlier planner stopped, in the same world.

        Raises:
            ValueError: if the values cannot be those of such a planner.
        """
        self._hurried = counted(state["hurried"], 1 << 30, "characters in a hurry")
        self.routes.restore(state["routes"], lengths)
        self._movers.restore(state["movers"])
        self.traffic = ArrayHandle(self._movers.traffic.arrays) if self.busy else NO_TRAFFIC
        self._seeker.restore(state["stuck"])

    def _seek(
        self, body: ArrayHandle[BodyArrays], crowd: ArrayHandle[CrowdArrays], live: ArrayHandle[LiveArrays], time: float
    ) -> None:
        """Go on searching for characters that get no nearer to their goals."""
        if not self._options.searches:
            return
        share = self._options.searches / len(self._library.crowd)
        outcome = self._seeker.go_on(crowd.value, self.routes.handle, time, share)
        if outcome is None:
            return
        me, counts, numbers = outcome.character, crowd.value.counts, crowd.value.numbers
        live.value.tally[playing.SEARCHES] += 1
        counts[me, playing.SOUGHT] += 1  # those who have not set out have searched for the first time, and yet not
        counts[me, playing.IDLE] = 0
        if outcome.actions is not None and install(
            self._actions, self.fields.handle, self._passing, self.traffic, self.busy, body, crowd, live,
            me, outcome.actions,
        ):  # fmt: skip
            counts[me, playing.FAILS] = 0
            counts[me, playing.SOURCE], counts[me, playing.EFFORT] = playing.BY_SEARCH, outcome.nodes
            numbers[me, playing.LEFT], numbers[me, playing.PLANNED] = np.inf, time
            live.value.tally[playing.PLANS] += 1
            self._note_spent(crowd.value, np.array([me]), outcome.milliseconds)

    def _note_spent(self, crowd: CrowdArrays, who: IntArray, milliseconds: float) -> None:
        """Note what a plan of each of some characters took; this is for display only."""
        if len(self._spent) < len(crowd.until):
            self._spent = longer(self._spent, len(crowd.until))
        self._spent[who] = milliseconds

    def _turns(
        self, body: ArrayHandle[BodyArrays], crowd: ArrayHandle[CrowdArrays], live: ArrayHandle[LiveArrays],
        ready: float, time: float,
        most: int,
    ) -> int:  # fmt: skip
        """Let characters that are ready by a time [s] plan, up to a number of them; return how many have planned."""
        taken = 0
        while taken < most:
            asked = min(most - taken, BATCH)
            planned = self._batch(body, crowd, live, ready, time, asked)
            taken += planned
            if planned < asked:
                break
        return taken

    def _batch(
        self, body: ArrayHandle[BodyArrays], crowd: ArrayHandle[CrowdArrays], live: ArrayHandle[LiveArrays],
        ready: float, time: float, most: int,
    ) -> int:  # fmt: skip
        """Let characters plan side by side, then take their plans over in order; return how many have planned."""
        if len(self._drafts.value.who) < most:
            self._drafts = drafts_for(most)
        drafts, end, blocks, spans = self._drafts, 0, [], []
        for number, (*trees, state) in enumerate(self._trees):
            first, tree = end, self._first_tree + number
            end = self._collect(body, crowd, live, self.routes.handle, drafts, state, tree, ready, first, most)
            spans.append((trees, first, end))
            blocks += [(trees, k, min(k + BLOCK, end)) for k in range(first, end, BLOCK)]

        def draft(thread: int, block: tuple[Any, int, int]) -> None:
            self._draft(
                self._actions, self.fields.handle, self._passing, self.traffic, self.busy, body, crowd, live,
                self.routes.handle, *block[0], *self._memory[thread], drafts, *block[1:],
            )  # fmt: skip

        began = clock.thread_time()
        self._helped += self._threads.share(blocks, draft)
        self._shared += 1e3 * (clock.thread_time() - began)
        for trees, first, last in spans:
            slot, sure = first, False
            while (slot := self._settle(body, crowd, live, drafts, slot, last, time, sure)) < last:
                draft(0, (trees, slot, slot + 1))  # it meets one that was taken over before it
                sure = True
        who, counts = drafts.value.who[:end], drafts.value.counts[:end]
        self._planned.append(who[counts[:, TAKEN] != 0])
        return end


def _state_of(prepared: PreparedLibrary, name: str) -> int:
    """Return the planner's state of a character at the root of a tree."""
    table, states = prepared.table, prepared.actions.states
    before = np.flatnonzero(table.end_state == table.state(name))
    return int(states.after[table.behavior[before[0]]]) if len(before) else prepared.actions.start_state(None)


class LibraryPart:
    """The parts of the engine for one library.

    Attributes:
        library: the library and its place in the crowd.
        planner: plans for its characters.
        resting: action that its characters first stand with, by its number in the library.
        ways_to_rest: actions of the crowd that are identical to it; (N,).
        options: numbers for kernels, see `LiveArrays.options`.
        live: the arrays of the crowd with these options, for kernels.
    """

    def __init__(self, library: LiveLibrary, planner: LivePlanner, options: FloatArray) -> None:
        prepared = library.prepared
        self.library, self.planner, self.options = library, planner, options
        self.resting = int(rest_actions(prepared)[0])
        self.ways_to_rest = SimilarClips.of(prepared.table).of_action(self.resting) + library.first_action
        self.shortest = float(library.body.durations[planner.used].min())
        self.live: ArrayHandle[LiveArrays]
