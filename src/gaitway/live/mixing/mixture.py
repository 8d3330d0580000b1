"""Live characters who change between clips and local dynamics as it gets dense and opens again.

People in the dynamics keep their numbers in the engine. There they are neither played nor planned for; the place where
they are and will soon be is reserved anew in each step, so that planners of clips keep clear of it. To the dynamics,
characters on clips are neighbours whose velocity is known. Who comes too near to people in the dynamics joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numba
import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.archives import Arrays
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.crowd.locomotion.space import LocomotionSpace
from gaitway.crowd.throng.bodies import ThrongBodies, leg_distance, rows_in
from gaitway.crowd.throng.parting import NEAR, part_throng
from gaitway.crowd.throng.patience import BAR, allowed_depths, is_late, paces_on, waited_on
from gaitway.crowd.throng.walking import LOOK_EVERY, STOPPED, ahead, follow_dynamics, lowered_arms, moved_by_limbs
from gaitway.live.mixing import rules
from gaitway.live.mixing._mixing_kernels import keep_places
from gaitway.live.mixing.handover import HandOvers
from gaitway.live.mixing.holding import LastMoment
from gaitway.live.mixing.kinds import EngineParts, ThrongKind, clip_contacts, kind_of
from gaitway.live.mixing.recording import DenseRecord
from gaitway.live.mixing.retreat import Retreats, forget_all
from gaitway.live.mixing.simulation import MANY, LiveSimulation
from gaitway.live.options import Dynamics
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import COSINE, HEADING, SINE, TIME, BodyArrays, CrowdArrays, X, Y
from gaitway.live.playing.arrays import LiveLibrary, library_of, longer
from gaitway.motion.skeleton import Skeleton
from gaitway.world.world import World

_ShownRows = tuple[IntArray, FloatArray, FloatArray, BoolArray]
"""Numbers in the engine, root positions, local rotations, and what of the feet rests."""
ClipPoses = Callable[[IntArray], tuple[FloatArray, FloatArray]]
_SIGHT = 3.5
"""Characters on clips matter to the dynamics that are so near to somebody in it [m]."""
_SOON = 0.4
"""Time ahead of the place that slow people reserve [s]."""
_LEAST_STAY, _LEAST_AWAY = 2.0, 1.5
"""Least times that people stay in the dynamics, and on clips after that unless somebody is beside them [s]."""
_AT_PACE = 0.75
"""Share of the speed of a gait from which on people go back to clips, or reserve a move of it."""
_FAR_GOAL = 3.0
"""People whose goals are nearer than this stay in the dynamics [m]."""
_LIKE = 0.75
"""Largest distance of legs at which people go back to clips, see `leg_distance` [rad]."""
_STRAIGHT = 0.25
"""Largest angle between trunk and way at which people go back to clips [rad]."""
_DETOUR = 1.3
"""Where special obstacles are, nobody joins whose way on the floor is longer than the one it has by this factor."""
_STANDS = 0.12
"""Speed below which somebody stands [m/s]."""
_THREADS = 4
"""Most threads for bodies."""
(_X, _Y, _HEADING, _VX, _VY, _KNOWN, _OPEN_SINCE, _JOINED, _AWAY_UNTIL, _NO_FLOOR) = range(10)
"""Columns of `LiveMixture._numbers`: place [m], heading [rad] and velocity [m/s] at the latest step; 1 once these
are known; since when it has been open around [s]; when it joined the dynamics; until when it stays on clips
[s]; and whether there is no way to its goal on the floor."""
_SMOOTH = slice(10, 16)
"""Columns of the path that a body follows: x, y [m], velocity [m/s], heading [rad] and its rate [rad/s]."""
_PUSHED = slice(16, 18)
"""Columns of the velocity at which a body is moved out of the way of others [m/s]."""
_LOWERED = 18
"""Column of how far arms are held down, 0 to 1."""
_WAITED = 19
"""Column of the time for which somebody has waited since others were in the way of its limbs [s]."""
_PACE = 20
"""Column of the share of time for which feet go on, of those who hesitate."""
_CALM = 21
"""Column of how far trunks and arms keep still that else turn with what people look at, 0 to 1."""
_COLUMNS = 22
_MOMENT = (_X, _Y, _HEADING, *range(_SMOOTH.start, _SMOOTH.stop))
"""Columns that are put back for who waits."""
_WARM = 0.03
"""Time of the step that compiles what a throng needs [s]."""


class LiveMixture:
    """The throng of a live crowd. This class is **mutable**; results depend on the calls alone.

    Attributes:
        mode: "mixed": by density; "crowd": all who can.
        record: what was shown of people in the throng; None where nothing is recorded.
    """

    def __init__(self, mode: Dynamics, seed: int) -> None:
        """Make it for an engine without characters.

        Args:
            mode: see the attribute.
            seed: seed of what differs between people.
        """
        self.mode, self._seed = mode, seed
        self.record: DenseRecord | None = None
        self._simulation: LiveSimulation | None = None
        self._kinds: list[ThrongKind] = []
        self._spaces: dict[int, LocomotionSpace] = {}
        self._bodies: list[ThrongBodies] = []
        self._blends: list[HandOvers] = []
        self._retreats: list[Retreats] = []
        self._walks: BoolArray = np.zeros(0, np.bool_)
        self._numbers: FloatArray = np.zeros((0, _COLUMNS))
        self._next_look = -np.inf
        self._shown: list[_ShownRows] = []
        self._back: list[_ShownRows] = []

    # what one can ask

    @property
    def walkers(self) -> IntArray:
        """Numbers of the characters in the dynamics, ascending; (N,)."""
        return np.flatnonzero(self._walks)

    @property
    def shows_any(self) -> bool:
        """Whether poses of anybody are not those of clips."""
        return any(len(slots) for slots, _, _, _ in self._shown)

    def walks(self, slots: IntArray) -> BoolArray:
        """Return which characters are in the dynamics; (N,)."""
        out = np.zeros(len(slots), np.bool_)
        known = slots < len(self._walks)
        out[known] = self._walks[slots[known]]
        return out

    @property
    def skeletons(self) -> dict[int, Skeleton]:
        """Skeletons of those who can be in the throng, by number."""
        return {k: bodies.space.rig.skeleton for k, bodies in enumerate(self._bodies)}

    def in_the_way(self, slot: int) -> list[int] | None:
        """Return who is in the way of somebody in the dynamics, then of that one and so on; None for one on clips."""
        simulation = self._simulation
        if simulation is None or not self.walks(np.array([slot]))[0]:
            return None
        row = int(simulation.rows_of(np.array([slot]))[0])
        return [int(simulation.slots[k]) for k in simulation.chain_of(row)]

    def velocities(self, slots: IntArray) -> FloatArray:
        """Return the velocities of characters over the latest step [m/s]; (N, 2)."""
        out = np.zeros((len(slots), 2))
        known = slots < len(self._numbers)
        out[known] = self._numbers[slots[known]][:, [_VX, _VY]]
        return out

    def calmed(self, slots: IntArray, looks: FloatArray) -> FloatArray:
        """Return turns by gaze (N, P, 4) as far as there is room for them: in a throng only heads and necks turn."""
        share = np.zeros(len(slots))
        known = slots < len(self._numbers)
        share[known] = self._numbers[slots[known], _CALM]
        return rules.calmed(looks, share) if share.any() else looks

    def overlay(
        self, slots: IntArray, group: int, roots: FloatArray, turns: FloatArray, looks: FloatArray | None,
        joints: IntArray,
    ) -> IntArray:  # fmt: skip
        """Write what is shown of people in the throng over the poses of clips.

        Args:
            slots: characters, all of one skeleton; (N,).
            group: number of that skeleton, see `group_of`.
            roots: root positions [m]; (N, 3).
            turns: local rotations; (N, J, 4).
            looks: turns of joints by gaze; (N, P, 4); None for none.
            joints: these joints, or -1; (P,).

        Returns:
            The rows that were written.
        """
        if not 0 <= group < len(self._shown) or not len(self._shown[group][0]):
            return np.empty(0, np.int64)
        shown, own_roots, own_turns, _ = self._shown[group]
        rows = rows_in(shown, slots)
        out = np.flatnonzero(rows >= 0)
        roots[out], turns[out] = own_roots[rows[out]], own_turns[rows[out]]
        if looks is not None and len(out):
            for part, joint in enumerate(joints.tolist()):
                if joint >= 0:
                    turns[out, joint] = rotations.multiply(turns[out, joint], looks[out, part])
        return out

    def group_of(self, library: int) -> int:
        """Return the number of the skeleton of a library, or -1 if nobody of it can be in a throng."""
        return self._kinds[library].group if library < len(self._kinds) else -1

    # what one can change

    def add_libraries(self, libraries: Sequence[LiveLibrary]) -> None:
        """Learn of libraries that were added."""
        for library in libraries[len(self._kinds) :]:
            self._kinds.append(kind_of(library, self._bodies, self._blends))
        self._retreats += [Retreats() for _ in self._bodies[len(self._retreats) :]]

    def warm_up(self, body: ArrayHandle[BodyArrays], crowd: ArrayHandle[CrowdArrays]) -> None:
        """Compile what a throng needs, so that nothing stalls when the first one forms: two people take a step."""
        none, count = read_only(np.empty(0, np.int64)), 2
        keep_places(body, crowd, none, read_only(np.empty((0, 5))), none, none, 0.0)
        places, headings, still = np.array([[2.0, 3.0], [2.7, 3.0]]), np.zeros(count), np.zeros((count, 2))
        goals, reaches, there = places + 0.8, np.full(count, 0.3), np.zeros(count, np.bool_)
        for bodies in self._bodies:
            simulation, slots = LiveSimulation(World((0.0, 0.0, 6.0, 6.0)), 0, 0.0), np.arange(count)
            simulation.ways(places, goals, reaches)
            simulation.enter(slots, places, headings, np.ones(count), headings)
            simulation.guide(slots, places, headings, still)
            simulation.let_walk(slots, still, goals, reaches, there)
            simulation.step(_WARM)
            own = ThrongBodies(bodies.space)
            own.join(slots, places, headings, still, rotations.identity(count, len(bodies.space.rig.skeleton)), 0)
            own.follow(simulation.positions, headings, _WARM, headings, np.ones(count), 1)
            part_throng(
                [own], [(own.slots, (own.roots, own.turns))], [np.full(count, BAR)], [np.ones(count, np.bool_)],
                [(own.roots, own.turns)],
                lambda own=own: [(own.roots, own.turns)],  # type: ignore[misc]
                [(own.roots[:0], own.turns[:0])], lambda bodies, wishes: wishes, lambda slots: None,
                simulation.walls_now(), _WARM,
            )  # fmt: skip

    def reserve(self, places: int) -> None:
        """Make room for a number of characters."""
        if places > len(self._walks):
            self._walks = longer(self._walks, places)
            fresh = longer(self._numbers, places)
            fresh[len(self._numbers) :, _AWAY_UNTIL] = -np.inf
            self._numbers = fresh

    def begin(self, slots: IntArray) -> None:
        """Learn of new characters."""
        self._numbers[slots] = 0.0
        self._numbers[slots, _AWAY_UNTIL] = -np.inf
        self._numbers[slots, _KNOWN] = 0.0
        self._next_look = -np.inf

    def remove(self, slots: IntArray) -> None:
        """Forget characters that are taken out."""
        self._walks[slots] = False
        self._numbers[slots, _KNOWN] = 0.0
        for some in self._bodies:
            some.leave(slots)
        forget_all(self._retreats, slots)
        for blend in self._blends:
            blend.drop(slots)
        if self._simulation is not None:
            rows = np.flatnonzero(np.isin(self._simulation.slots, slots))
            if len(rows):
                self._simulation.leave(rows)

    def aim(self, parts: EngineParts, slots: IntArray) -> None:
        """Learn of new goals of characters."""
        self._numbers[slots, _AWAY_UNTIL] = -np.inf
        self._next_look = -np.inf
        own = slots[self.walks(slots)]
        simulation = self._simulation
        if simulation is None or not len(own):
            return
        rows, numbers = simulation.rows_of(own), parts.crowd.value.numbers[own]
        goals, reaches = numbers[:, [playing.GOAL_X, playing.GOAL_Y]], rules.reaches(numbers[:, playing.TOLERANCE])
        floor = np.isfinite(simulation.ways(simulation.positions[rows], goals, reaches))
        simulation.aim(rows[floor], goals[floor], reaches[floor])
        simulation.stop(rows[~floor])
        self._numbers[own, _NO_FLOOR] = ~floor
        self._keep(parts, own)

    def set_world(self, parts: EngineParts) -> None:
        """Learn of another world."""
        if self._simulation is not None:
            self._simulation.set_place(parts.world)
            self._numbers[:, _AWAY_UNTIL] = -np.inf
            self.aim(parts, self.walkers)

    def step(
        self, parts: EngineParts, dt: float, clip_roots: ClipPoses,
        clip_poses: ClipPoses, play: Callable[[], None],
    ) -> None:  # fmt: skip
        """Go on by a time that ends now.

        Args:
            parts: the engine, whose characters on clips are played up to now.
            dt: time since the last call [s].
            clip_roots: returns root positions (N, 3) and headings (N,) of characters on clips.
            clip_poses: returns root positions (N, 3) and local rotations (N, J, 4) of characters on clips that share a
                skeleton, without their gaze.
            play: plays the characters whose steps are over.
        """
        if parts.world.terrain is not None:
            return
        crowd = parts.crowd.value
        there = np.flatnonzero(crowd.counts[:, playing.STATUS] != playing.EMPTY)
        if not len(there):
            return
        calm = self._numbers[there, _CALM] + np.where(self._walks[there], dt, -dt) / rules.CALM_DOWN
        self._numbers[there, _CALM] = np.clip(calm, 0.0, 1.0)
        before = LastMoment(self._bodies, self._blends, self._shown, self._numbers, self._simulation)
        clips = there[~self._walks[there]]
        self._note_clips(clips, clip_roots, dt)
        walkers = self.walkers
        if self._simulation is not None and len(walkers):
            self._guide(parts, clips)
            self._simulation.step(dt)
            self._move(parts, walkers, dt)
        self._go_on(parts, dt)
        if self._simulation is not None and len(walkers):
            self._leave(parts, walkers, play, clip_poses)
        if parts.time >= self._next_look - 1e-9:
            self._next_look = parts.time + LOOK_EVERY
            self._look(parts, there, clip_poses)
        self._recall(parts, clip_poses)
        self._show()
        self._part(parts, there, clip_poses, dt, before)
        self._keep(parts, self.walkers)
        self._note(parts)

    # saving

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return values and arrays that `restore` needs."""
        values: dict[str, Any] = {"next_look": max(self._next_look, -1e9), "simulation": None}
        arrays: Arrays = {"walks": self._walks.copy(), "numbers": self._numbers.copy()}
        if self._simulation is not None:
            own, tables = self._simulation.state()
            values["simulation"] = own
            arrays |= {f"simulation_{name}": table for name, table in tables.items()}
        for k, bodies in enumerate(self._bodies):
            arrays |= {f"bodies{k}_{name}": table for name, table in bodies.state().items()}
        for k, blend in enumerate(self._blends):
            arrays |= {f"blend{k}_{name}": table for name, table in blend.state().items()}
        for k, retreats in enumerate(self._retreats):
            arrays |= {f"retreat{k}_{name}": table for name, table in retreats.state().items()}
        arrays = {name: table.astype(np.float64) for name, table in arrays.items()}
        if self.record is not None:
            arrays |= {f"record_{name}": table for name, table in self.record.state().items()}
        return values, arrays

    def restore(self, parts: EngineParts, values: Mapping[str, Any], arrays: Arrays, clip_poses: ClipPoses) -> None:
        """Go on from the state of a mixture of the same libraries and world.

        Raises:
            ValueError: if the state cannot be that of such a mixture.
        """

        def those(prefix: str) -> Arrays:
            return {name[len(prefix) :]: table for name, table in arrays.items() if name.startswith(prefix)}

        self.add_libraries(parts.libraries)
        places = len(parts.crowd.value.until)
        walks, numbers = np.array(arrays["walks"], np.bool_), np.array(arrays["numbers"], np.float64)
        if walks.shape != (places,) or numbers.shape != (places, _COLUMNS):
            raise ValueError("a throng of other characters")
        self._walks, self._numbers, self._simulation = walks, numbers, None
        self._next_look = float(values["next_look"])
        status = parts.crowd.value.counts[:, playing.STATUS]
        if (walks & (status == playing.EMPTY)).any():
            raise ValueError("people in a throng who are not there")
        if values["simulation"] is not None:
            self._simulation = LiveSimulation(parts.world, self._seed, parts.time)
            self._simulation.restore(dict(values["simulation"]), those("simulation_"), parts.time)
        inside = np.empty(0, np.int64)
        for k, (bodies, blend) in enumerate(zip(self._bodies, self._blends, strict=True)):
            bodies.restore(those(f"bodies{k}_"))
            blend.restore(those(f"blend{k}_"))
            self._retreats[k].restore(those(f"retreat{k}_"), bodies)
            inside = np.concatenate([inside, bodies.slots])
            if not np.isin(blend.slots, np.flatnonzero(status != playing.EMPTY)).all():
                raise ValueError("people in a throng who are not there")
        simulated = np.empty(0, np.int64) if self._simulation is None else self._simulation.slots
        own = simulated if self._simulation is None else simulated[~self._simulation.guided]
        if not (np.sort(inside).tolist() == np.sort(own).tolist() == np.flatnonzero(walks).tolist()):
            raise ValueError("bodies of a throng that belong to nobody")
        if not np.isin(simulated, np.flatnonzero(status != playing.EMPTY)).all():
            raise ValueError("people in a throng who are not there")
        if self.record is not None and any(name.startswith("record_") for name in arrays):
            joints = {k: len(bodies.space.rig.skeleton) for k, bodies in enumerate(self._bodies)}
            self.record.restore(those("record_"), joints)
        self._keep(parts, self.walkers)
        self._recall(parts, clip_poses)
        self._show()

    # inside

    def _note_clips(self, clips: IntArray, clip_roots: ClipPoses, dt: float) -> None:
        """Note where characters on clips are, and how fast they go."""
        if not len(clips):
            return
        points, headings = clip_roots(clips)
        numbers = self._numbers
        before = numbers[clips][:, [_X, _Y]]
        known = numbers[clips, _KNOWN] > 0.0
        speeds = np.where(known[:, None], (points[:, :2] - before) / dt, 0.0)
        size = np.hypot(*speeds.T)
        speeds[size > 8.0] = 0.0
        numbers[clips, _X], numbers[clips, _Y], numbers[clips, _HEADING] = points[:, 0], points[:, 1], headings
        numbers[clips, _VX], numbers[clips, _VY], numbers[clips, _KNOWN] = speeds[:, 0], speeds[:, 1], 1.0

    def _look(self, parts: EngineParts, there: IntArray, clip_poses: ClipPoses) -> None:
        """Let people join who are in a throng, and note where it is open."""
        crowd, numbers, time = parts.crowd.value, self._numbers, parts.time
        walks = self._walks[there]
        status, fails = crowd.counts[there, playing.STATUS], crowd.counts[there, playing.FAILS]
        seen = rules.look(numbers[there][:, [_X, _Y]], walks, status == playing.GOING)
        calm = walks & rules.is_open(seen)
        numbers[there, _OPEN_SINCE] = np.where(calm, np.minimum(numbers[there, _OPEN_SINCE], time), np.inf)
        owners = library_of(parts.libraries, crowd.actions[there, -1])
        can = np.array([kind.group >= 0 for kind in self._kinds])[owners] & ~walks
        going = can & (status == playing.GOING)
        if self.mode == "crowd":
            wanted = going & (time >= numbers[there, _AWAY_UNTIL])
        else:
            beside = seen.nearest_walker < rules.BESIDE
            wanted = going & rules.joins(seen, fails) & ((time >= numbers[there, _AWAY_UNTIL]) | (beside & (
                numbers[there, _NO_FLOOR] == 0.0)))  # fmt: skip
        simulation = self._simulation
        if simulation is not None:
            pressed = simulation.slots[simulation.pressed(rules.PRESSED)]
            wanted |= can & (status == playing.THERE) & np.isin(there, pressed)
        joining = there[wanted]
        special = parts.body.value.special
        busy = [bool(special[crowd.actions[me, f : max(x, f + 1)]].any()) for me, f, x in zip(
            joining.tolist(), crowd.counts[joining, playing.FIRST].tolist(),
            crowd.counts[joining, playing.FIXED].tolist(), strict=True)]  # fmt: skip
        joining = joining[~np.array(busy, np.bool_)]
        if len(joining):
            self._join(parts, joining, clip_poses)

    def _join(self, parts: EngineParts, slots: IntArray, clip_poses: ClipPoses) -> None:
        """Let characters on clips join the dynamics, if there is a way for them on the floor."""
        crowd, numbers, time = parts.crowd.value, self._numbers, parts.time
        if self._simulation is None:
            self._simulation = LiveSimulation(parts.world, self._seed, time)
        simulation = self._simulation
        simulation.time = time
        places, headings = numbers[slots][:, [_X, _Y]], numbers[slots, _HEADING]
        goals = crowd.numbers[slots][:, [playing.GOAL_X, playing.GOAL_Y]]
        reaches = rules.reaches(crowd.numbers[slots, playing.TOLERANCE])
        there = crowd.counts[slots, playing.STATUS] == playing.THERE
        ways = simulation.ways(places, goals, reaches)
        fine = np.isfinite(ways) | there
        if any(obstacle.kind not in ("solid", "passable") for obstacle in parts.world.obstacles):
            left = crowd.numbers[slots, playing.LEFT]
            straight = np.hypot(*(goals - places).T)
            # where it is not known yet which way leads there, nobody is sure to need none of the special moves
            known = np.where(np.isfinite(left), left, straight)
            fine &= (ways <= _DETOUR * known + 2.0) | there
        numbers[slots[~fine], _AWAY_UNTIL] = time + 3.0
        numbers[slots[~fine], _NO_FLOOR] = 1.0
        slots, places, headings, goals, reaches, there = (
            some[fine] for some in (slots, places, headings, goals, reaches, there)
        )
        if not len(slots):
            return
        owners = library_of(parts.libraries, crowd.actions[slots, -1])
        known = simulation.rows_of(slots)
        fresh = np.flatnonzero(known < 0)
        speeds = np.array([self._kinds[owner].speed for owner in owners.tolist()])
        along = np.array([self._kinds[owner].along[0] for owner in owners.tolist()])
        simulation.enter(slots[fresh], places[fresh], headings[fresh], speeds[fresh], along[fresh])
        rows = simulation.rows_of(slots)
        velocities = numbers[slots][:, [_VX, _VY]]
        middles = places + ahead(along, headings)
        simulation.guide(rows, middles, headings, velocities)
        simulation.let_walk(rows, velocities, goals, reaches, there)
        groups = np.array([self._kinds[owner].group for owner in owners.tolist()])
        for group in np.unique(groups).tolist():
            own = np.flatnonzero(groups == group)
            roots, turns = clip_poses(slots[own])
            shown = self._shown_of(slots[own], group, roots, turns)
            bodies = self._bodies[group]
            bodies.join(
                slots[own], places[own], headings[own], velocities[own], shown[1], self._seed + int(slots[own][0])
            )
            count = len(own)
            self._blends[group].begin(slots[own], *shown, bodies.roots[-count:], bodies.turns[-count:])
        self._walks[slots] = True
        still = np.zeros((len(slots), 1))
        numbers[slots, _SMOOTH] = np.column_stack([middles, velocities, headings, still])
        numbers[slots, _PUSHED], numbers[slots, _LOWERED], numbers[slots, _WAITED] = 0.0, 1.0, 0.0
        numbers[slots, _NO_FLOOR], numbers[slots, _JOINED], numbers[slots, _PACE] = 0.0, time, 1.0
        numbers[slots, _OPEN_SINCE] = np.inf
        for column in (playing.FAILS, playing.IDLE, playing.HELD, playing.ALARM):
            crowd.counts[slots, column] = 0
        self._keep(parts, slots)

    def _guide(self, parts: EngineParts, clips: IntArray) -> None:
        """Tell the dynamics where characters on clips are who are near."""
        simulation, numbers = self._simulation, self._numbers
        assert simulation is not None
        walkers = simulation.positions[simulation.walkers]
        tree = scipy.spatial.cKDTree(walkers)
        if len(clips):
            near = tree.query(numbers[clips][:, [_X, _Y]], distance_upper_bound=_SIGHT)[0] < np.inf
            close = clips[near]
            fresh = close[simulation.rows_of(close) < 0]
            if len(fresh):
                owners = library_of(parts.libraries, parts.crowd.value.actions[fresh, -1]).tolist()
                counts = np.array([len(self._kinds[owner].along) for owner in owners])
                slots = np.repeat(fresh, counts)
                along = np.concatenate([self._kinds[owner].along for owner in owners])
                speeds = np.repeat([self._kinds[owner].speed for owner in owners], counts)
                simulation.enter(slots, numbers[slots][:, [_X, _Y]], numbers[slots, _HEADING], speeds, along)
        rows = np.flatnonzero(simulation.guided)
        if not len(rows):
            return
        slots = simulation.slots[rows]
        headings = numbers[slots, _HEADING]
        places = numbers[slots][:, [_X, _Y]] + ahead(simulation.along[rows], headings)
        simulation.guide(rows, places, headings, numbers[slots][:, [_VX, _VY]])
        present = tree.query(places, distance_upper_bound=_SIGHT)[0] < np.inf
        there = parts.crowd.value.counts[slots, playing.STATUS] == playing.THERE
        simulation.show(rows, present, there)

    def _move(self, parts: EngineParts, walkers: IntArray, dt: float) -> None:
        """Let bodies follow the dynamics, and note who has arrived."""
        simulation, numbers, crowd = self._simulation, self._numbers, parts.crowd.value
        assert simulation is not None
        rows = simulation.rows_of(walkers)
        places, headings, velocities = simulation.positions, simulation.headings, simulation.velocities
        if parts.time >= self._next_look - 1e-9:
            here = np.flatnonzero(simulation.present)
            numbers[simulation.slots[here], _LOWERED] = lowered_arms(places[here], headings[here], simulation.walls)
        threads = min(numba.get_num_threads(), _THREADS) if len(walkers) >= MANY else 1
        for bodies, retreats in zip(self._bodies, self._retreats, strict=True):
            own, path = simulation.rows_of(bodies.slots), numbers[bodies.slots, _SMOOTH]
            headings[own] = follow_dynamics(
                bodies, simulation, own, headings[own], path, simulation.along[own], numbers[bodies.slots, _LOWERED],
                numbers[bodies.slots, _PACE], dt, threads,
            )  # fmt: skip
            numbers[bodies.slots, _SMOOTH] = path
            retreats.begin(bodies, numbers[bodies.slots, _WAITED], parts.time)
            retreats.go_back(bodies, simulation, numbers, _SMOOTH, dt)
            back = retreats.goes_back(bodies.slots)
            headings[own[back]] = numbers[bodies.slots[back], _SMOOTH.start + 4]
            paces = np.array([kind.speed for kind in self._kinds])[
                library_of(parts.libraries, crowd.actions[bodies.slots, -1])
            ]
            simulation.set_speeds(own, paces * retreats.shares(bodies.slots, parts.time))
        places = simulation.positions
        simulation.face(rows, headings[rows])
        numbers[walkers[:, None], [_X, _Y]] = places[rows] - ahead(simulation.along[rows], headings[rows])
        numbers[walkers, _VX], numbers[walkers, _VY] = velocities[rows, 0], velocities[rows, 1]
        numbers[walkers, _HEADING], numbers[walkers, _KNOWN] = headings[rows], 1.0
        crowd.numbers[walkers, playing.LEFT] = simulation.left(rows)
        going = crowd.counts[walkers, playing.STATUS] == playing.GOING
        enough = np.minimum(crowd.numbers[walkers, playing.TOLERANCE], rules.NEAR_ENOUGH)
        kept = simulation.kept_from_goals(rows, enough, rules.CONTENT)
        simulation.rest(rows[kept])
        arrived = going & (simulation.arrived[rows] | simulation.gathered[rows] | kept)
        arrived &= numbers[walkers, _NO_FLOOR] == 0.0
        crowd.counts[walkers[arrived], playing.STATUS] = playing.THERE
        parts.live.value.tally[playing.ARRIVALS] += int(arrived.sum())

    def _keep(self, parts: EngineParts, walkers: IntArray) -> None:
        """Reserve where people in the dynamics are and will soon be."""
        if not len(walkers):
            return
        numbers, crowd = self._numbers, parts.crowd.value
        owners = library_of(parts.libraries, crowd.actions[walkers, -1])
        of_kind = np.array([(k.speed, k.move, k.rest, k.walk) for k in self._kinds])[owners]
        speeds = np.hypot(numbers[walkers, _VX], numbers[walkers, _VY])
        fast = speeds >= _AT_PACE * of_kind[:, 0]
        stands = (speeds < _STANDS) & (crowd.counts[walkers, playing.STATUS] == playing.THERE)
        way = np.where(
            speeds > _STANDS, np.arctan2(numbers[walkers, _VY], numbers[walkers, _VX]), numbers[walkers, _HEADING]
        )
        ahead = np.where(fast, of_kind[:, 1], np.where(stands, 0.0, _SOON * speeds))
        state = np.where(fast, 1.0, np.where(stands, -1.0, 0.0))
        places = np.column_stack([numbers[walkers][:, [_X, _Y]], way, ahead, state])
        keep_places(
            parts.body, parts.crowd, read_only(np.ascontiguousarray(walkers)), read_only(places),
            read_only(of_kind[:, 2].astype(np.int64)), read_only(of_kind[:, 3].astype(np.int64)), parts.time,
        )  # fmt: skip
        for column in (playing.FAILS, playing.IDLE, playing.HELD, playing.ALARM):
            crowd.counts[walkers, column] = 0

    def _leave(
        self, parts: EngineParts, walkers: IntArray, play: Callable[[], None],
        clip_poses: ClipPoses,
    ) -> None:  # fmt: skip
        """Let people go back to clips who have room around them, in the stride in which the clips go on."""
        numbers, crowd, time = self._numbers, parts.crowd.value, parts.time
        cut_off = numbers[walkers, _NO_FLOOR] > 0.0
        stay = (time - numbers[walkers, _JOINED] < _LEAST_STAY) | (time - numbers[walkers, _OPEN_SINCE] < rules.CALM)
        speeds = np.hypot(numbers[walkers, _VX], numbers[walkers, _VY])
        going = crowd.counts[walkers, playing.STATUS] == playing.GOING
        rests = cut_off & (speeds < _STANDS) & going
        walks = going & ~stay & ~cut_off & (crowd.numbers[walkers, playing.LEFT] > _FAR_GOAL)
        if self.mode == "crowd":
            walks[:] = False
        owners = library_of(parts.libraries, crowd.actions[walkers, -1])
        gone = list[int]()
        for k in np.flatnonzero(rests | walks).tolist():
            kind, me = self._kinds[int(owners[k])], int(walkers[k])
            body, row = self._body_of(me, kind.group)
            heading = float(numbers[me, _HEADING])
            if rests[k]:
                self._stand(parts, me, kind, body.roots[row], heading)
            elif not self._in_stride(me, kind, body, row) or not self._set_out(
                parts, me, int(owners[k]), body.roots[row], heading
            ):
                continue
            gone.append(me)
        if not gone:
            return
        slots = np.array(gone, np.int64)
        handed = []
        for group, bodies in enumerate(self._bodies):
            rows = np.flatnonzero(np.isin(bodies.slots, slots))
            if len(rows):
                own = bodies.slots[rows]
                handed.append((group, own, *self._shown_of(own, group, bodies.roots[rows], bodies.turns[rows])))
                bodies.leave(own)
        forget_all(self._retreats, slots)
        self._walks[slots] = False
        numbers[slots, _AWAY_UNTIL] = time + _LEAST_AWAY
        assert self._simulation is not None
        self._simulation.let_guide(self._simulation.rows_of(slots))
        play()
        for group, own, roots, turns in handed:
            self._blends[group].begin(own, roots, turns, *clip_poses(own))

    def _in_stride(self, me: int, kind: ThrongKind, body: ThrongBodies, row: int) -> bool:
        """Return whether somebody walks straight on at its pace, with legs as the clips begin with."""
        numbers = self._numbers[me]
        speed = float(np.hypot(numbers[_VX], numbers[_VY]))
        if speed < _AT_PACE * kind.speed or kind.stop < 0:
            return False
        turn = np.arctan2(numbers[_VY], numbers[_VX]) - numbers[_HEADING]
        if abs(float(np.arctan2(np.sin(turn), np.cos(turn)))) > _STRAIGHT:
            return False
        return float(leg_distance(body.space, body.turns[row][None], kind.legs[None])[0]) < _LIKE

    def _stand(self, parts: EngineParts, me: int, kind: ThrongKind, root: FloatArray, heading: float) -> None:
        """Let somebody stand by a clip from now on."""
        self._put(parts, me, kind.rest, kind.rest, root, heading)
        parts.crowd.value.numbers[me, playing.READY] = parts.time

    def _set_out(self, parts: EngineParts, me: int, library: int, root: FloatArray, heading: float) -> bool:
        """Let somebody walk on by clips from now on, if the first moves are free up to a stop."""
        kind, crowd = self._kinds[library], parts.crowd.value
        self._put(parts, me, kind.walk, kind.rest, root, heading)
        taken = parts.planners[library].install_path(
            parts.body, parts.crowd, parts.own_live[library], me, np.array([kind.walk, kind.stop], np.int64)
        )
        if taken < 2:
            return False
        crowd.counts[me, playing.FIXED] = 2
        crowd.numbers[me, playing.READY], crowd.numbers[me, playing.LEFT] = parts.time, np.inf
        crowd.until[me] = parts.time
        return True

    def _put(self, parts: EngineParts, me: int, before: int, rest: int, root: FloatArray, heading: float) -> None:
        """Write down that an action of somebody ends now."""
        crowd = parts.crowd.value
        for row in (0, -1):
            crowd.steps[me, row, X], crowd.steps[me, row, Y] = root[0], root[1]
            crowd.steps[me, row, COSINE], crowd.steps[me, row, SINE] = np.cos(heading), np.sin(heading)
            crowd.steps[me, row, HEADING], crowd.steps[me, row, TIME] = heading, parts.time
        crowd.steps[me, 0, TIME] -= float(parts.body.value.durations[before])
        crowd.actions[me, 0], crowd.actions[me, -1] = before, rest
        crowd.counts[me, [playing.FIRST, playing.COUNT, playing.FIXED]] = 0, 1, 1
        crowd.until[me] = parts.time

    def _body_of(self, slot: int, group: int) -> tuple[ThrongBodies, int]:
        bodies = self._bodies[group]
        return bodies, int(np.flatnonzero(bodies.slots == slot)[0])

    def _go_on(self, parts: EngineParts, dt: float) -> None:
        """Let the differences of earlier hand-overs die away."""
        for bodies, blend in zip(self._bodies, self._blends, strict=True):
            if len(blend.slots):
                rows = rows_in(bodies.slots, blend.slots)
                inside = rows >= 0
                down = np.zeros((len(rows), 6), np.bool_)
                down[inside] = bodies.down[rows[inside]]
                down[~inside] = clip_contacts(parts, self._kinds, self._bodies, blend.slots[~inside])
                blend.go_on(dt, down)
                blend.over()

    def _recall(self, parts: EngineParts, clip_poses: ClipPoses) -> None:
        """Look up the clips of those who have left the throng lately."""
        self._back = []
        for bodies, blend in zip(self._bodies, self._blends, strict=True):
            back = blend.slots[~np.isin(blend.slots, bodies.slots)]
            joints = len(bodies.space.rig.skeleton)
            poses = clip_poses(back) if len(back) else (np.empty((0, 3)), np.empty((0, joints, 4)))
            self._back.append((back, *poses, clip_contacts(parts, self._kinds, self._bodies, back)))

    def _show(self) -> None:
        """Work out what is shown of people in the throng, and of those who have left it lately."""
        self._shown = []
        for bodies, blend, back in zip(self._bodies, self._blends, self._back, strict=True):
            slots, roots, turns, down = bodies.slots, bodies.roots, bodies.turns, bodies.down
            if len(back[0]):
                slots, roots, turns, down = (
                    np.concatenate(some) for some in zip((slots, roots, turns, down), back, strict=True)
                )
            if len(blend.slots):
                rows = rows_in(slots, blend.slots)
                some_roots, some_turns = blend.shown(roots[rows], turns[rows])
                roots, turns, down = roots.copy(), turns.copy(), down.copy()
                roots[rows], turns[rows] = some_roots, some_turns
                down[rows] = False  # heels and toes roll into another pose, so nothing is claimed to rest
            self._shown.append((slots, roots, turns, down))

    def _part(self, parts: EngineParts, there: IntArray, clip_poses: ClipPoses, dt: float, before: LastMoment) -> None:
        """Move bodies in the throng apart, limb by limb, and out of walls; characters on clips stay where they are."""
        simulation = self._simulation
        if simulation is None or not any(len(bodies) for bodies in self._bodies):
            return

        def shown() -> list[tuple[FloatArray, FloatArray]]:
            self._show()
            return [(roots, turns) for _, roots, turns, _ in self._shown]

        others, walls = self._clips_near(parts, there, clip_poses), simulation.walls_now()
        first = [(roots, turns) for _, roots, turns, _ in self._shown]
        numbers = self._numbers
        allowed = [allowed_depths(numbers[bodies.slots, _WAITED]) for bodies in self._bodies]
        late = [is_late(numbers[bodies.slots, _WAITED]) for bodies in self._bodies]
        moves, held = part_throng(
            self._bodies, before.shown, allowed, late, first, shown, others,
            lambda bodies, wishes: self._pushed(bodies, wishes, dt),
            lambda who: before.put_bodies_back(who, self._bodies, self._blends), walls, dt,
            tries=[rules.tries(numbers[bodies.slots, _WAITED]) for bodies in self._bodies],
            steady=[some.goes_back(bodies.slots) for some, bodies in zip(self._retreats, self._bodies, strict=True)],
        )  # fmt: skip
        slots = np.concatenate([bodies.slots[waits] for bodies, waits in zip(self._bodies, held, strict=True)])
        if len(slots):
            before.put_back(slots, numbers, _MOMENT, simulation)
            numbers[slots[:, None], [_VX, _VY]] = 0.0  # who is pushed is so ever faster, until it is out of the way
            numbers[slots, _SMOOTH.start + 2 : _SMOOTH.start + 4] *= STOPPED
        for bodies, roots, waits in zip(self._bodies, moves, held, strict=True):
            numbers[bodies.slots[:, None], [_X, _Y]] += roots
            numbers[bodies.slots[waits], _SMOOTH.start : _SMOOTH.start + 2] += roots[waits]
            simulation.nudge(simulation.rows_of(bodies.slots), roots)
            numbers[bodies.slots, _WAITED] = waited_on(numbers[bodies.slots, _WAITED], waits, dt)
            numbers[bodies.slots, _PACE] = paces_on(numbers[bodies.slots, _PACE], waits)
        for bodies, waits, retreats in zip(self._bodies, held, self._retreats, strict=True):
            lowered = numbers[bodies.slots, _LOWERED]
            done = retreats.note(bodies, simulation, numbers, _SMOOTH, lowered, waits, dt, parts.time)
            numbers[done, _WAITED] = 0.0

    def _pushed(self, bodies: ThrongBodies, wishes: FloatArray, dt: float) -> FloatArray:
        """Return how far bodies are moved now, who should be moved by so much (N, 2) [m]."""
        slots = bodies.slots
        path = self._numbers[slots, _SMOOTH]
        moves = moved_by_limbs(bodies, self._numbers[slots, _PUSHED], path, wishes, dt)
        self._numbers[slots, _PUSHED], self._numbers[slots, _SMOOTH] = moves / dt, path
        return moves

    def _clips_near(
        self, parts: EngineParts, there: IntArray, clip_poses: ClipPoses
    ) -> list[tuple[FloatArray, FloatArray]]:
        """Return characters on clips who are near people in the throng: roots and local rotations, by skeleton."""
        clips = there[~self._walks[there]]
        clips = clips[~np.isin(clips, np.concatenate([shown[0] for shown in self._shown]))]
        if len(clips):
            walkers = np.concatenate([bodies.roots[:, :2] for bodies in self._bodies])
            away = scipy.spatial.cKDTree(walkers).query(self._numbers[clips][:, [_X, _Y]])[0]
            clips = clips[away < NEAR]
        owners = library_of(parts.libraries, parts.crowd.value.actions[clips, -1])
        groups = np.array([kind.group for kind in self._kinds])[owners]
        out = []
        for group, bodies in enumerate(self._bodies):
            own, joints = clips[groups == group], len(bodies.space.rig.skeleton)
            out.append(clip_poses(own) if len(own) else (np.empty((0, 3)), np.empty((0, joints, 4))))
        return out

    def _shown_of(
        self, slots: IntArray, group: int, roots: FloatArray, turns: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what is shown of bodies whose poses are these, in the midst of a hand-over or not."""
        blend = self._blends[group]
        rows = np.flatnonzero(np.isin(blend.slots, slots))
        if not len(rows):
            return roots, turns
        at = rows_in(slots, blend.slots[rows])
        all_roots, all_turns = (
            np.tile(roots[at[0]], (len(blend.slots), 1)),
            np.tile(turns[at[0]], (len(blend.slots), 1, 1)),
        )
        all_roots[rows], all_turns[rows] = roots[at], turns[at]
        shown_roots, shown_turns = blend.shown(all_roots, all_turns)
        roots, turns = roots.copy(), turns.copy()
        roots[at], turns[at] = shown_roots[rows], shown_turns[rows]
        return roots, turns

    def _note(self, parts: EngineParts) -> None:
        """Keep what is shown of the throng."""
        if self.record is None or not self.record.due(parts.time):
            return
        lives = parts.crowd.value.counts[:, playing.LIFE]
        for group, (slots, roots, turns, down) in enumerate(self._shown):
            self.record.note(parts.time, group, np.column_stack([slots, lives[slots]]), roots, turns, down)
