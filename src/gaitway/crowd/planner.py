"""A planner that simulates all characters of a scene as a throng, and gives them whole bodies.

Plans that are reserved in space and time up to their ends are right in open places and hopeless in a throng, where
nobody knows beforehand when a gate will be free. Here everybody decides at every moment, by local dynamics, and whole
bodies follow and hold them back where limbs would meet (`gaitway.crowd.throng`), as in live crowds.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from gaitway.behavior.starts import start_delay, start_delays
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.progress import Progress
from gaitway.crowd.dynamics.inputs import walls_of_goals
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.dynamics.stuck import StuckPerson
from gaitway.crowd.locomotion.posing import BodyPoses
from gaitway.crowd.locomotion.space import LocomotionSpace, locomotion_space
from gaitway.crowd.locomotion.walking import body_clip
from gaitway.crowd.plan_options import ThrongOptions
from gaitway.crowd.throng.flaws import FlawFinder
from gaitway.crowd.throng.locks import LockBreaker
from gaitway.crowd.throng.parting import Poses
from gaitway.crowd.throng.simulation import ThrongSimulation, throng_options
from gaitway.crowd.throng.walking import WalkingThrong
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.scene import Scene
from gaitway.space.movement_costs import HURRY_SPREAD, SPEEDS, speed_of_age
from gaitway.space.plan import Plan, SearchResult, Status
from gaitway.space.planner import ScenePerformance
from gaitway.take.model import Take
from gaitway.take.tracks import take_of

FOUND_BY = "crowd"
"""What results say of who found them."""
_WALKING_SPEED = 1.34
"""Mean of the speeds at which people walk when nobody is in the way (Weidmann 1993) [m/s]."""
_FARTHEST = 2.0
"""Greatest difference of an own speed from the mean, in standard deviations."""
_ARRIVAL = 0.6
"""Share of the tolerance within which people stop walking; they may be pushed a little after that."""
_NEAREST, _LARGEST = 0.1, 0.4
"""Least and greatest distance from the goal at which people stop walking [m]."""
_MANY = 400
"""Number of people from which on more than one thread is worth its trouble; results are the same."""
_AFTER = 2.0
"""Time that is shown after the last arrival [s]."""
_BACK = 20.0
"""Longest time after the last arrival for which those are waited for who stepped aside from their goals [s]."""
_HOPELESS = 30.0
"""Time without progress of all who still walk after which the simulation ends [s]."""
_LOOK_EVERY = 0.5
"""Time between two looks for flaws of motion [s]."""
_STRUCK = 0.007
"""Depth of limbs in something that moves that counts as a flaw [m]; less than the audit's bar, which looks at other
moments."""
_LEAST_RATE = 30.0
"""Bodies are looked at no less often than this [Hz], also where fewer frames are shown."""


@dataclass
class _Person:
    """A character of the throng. This class is **mutable**."""

    character: Character
    id: int = -1
    """Id in the simulation, or -1 before its start time."""
    first: int = 0
    """Frame in which it appears."""
    arrival: float | None = None
    """Time at which it arrived [s]."""
    lost: str = ""
    """Why it cannot arrive, known from the beginning."""
    group: int = 0
    """Number of the gaits that it has."""
    row: int = -1
    """Number among the people who have these gaits."""


class _Other:
    """A character that was planned before, and gives no way to anybody. This class is **mutable**."""

    def __init__(self, name: str, take: Take, number: int, fps: float) -> None:
        clip = take.clip(number, fps)
        self.name, self.id, self.skeleton, self._fps = name, -1, clip.skeleton, fps
        self._first = round(take.start(number) * fps)
        self._path, self._roots, self._turns = clip.planar_path(), clip.root_positions, clip.rotations

    def lead(self, simulation: CrowdSimulation, frame: int) -> None:
        """Put it where it is in a frame, from its first one on; it stays where it stops."""
        at = min(frame - self._first, len(self._path) - 1)
        if at < 0:
            return
        x, y, heading = self._path[at].tolist()
        if self.id < 0:
            self.id = int(simulation.add([[x, y]], [[x, y]], headings=[heading])[0])
        after = self._path[min(at + 1, len(self._path) - 1)]
        simulation.lead(self.id, (x, y), (after[:2] - (x, y)) * self._fps, heading)

    def pose(self, frame: int) -> tuple[FloatArray, FloatArray] | None:
        """Return root position [m] (3,) and local rotations (J, 4) in a frame; None before its first one."""
        at = min(frame - self._first, len(self._path) - 1)
        return None if at < 0 else (self._roots[at], self._turns[at])


class ThrongPlanner:
    """Simulates a scene. Made anew for each run."""

    def perform(
        self,
        scene: Scene,
        libraries: Mapping[LibraryRef, Library] | None,
        *,
        seed: int,
        fps: float,
        progress: Progress,
        among: Take | None = None,
    ) -> ScenePerformance:
        """Move all characters of a scene, see `gaitway.space.planner.ScenePlanner`."""
        began = clock.perf_counter()
        refs = list(dict.fromkeys(character.library for character in scene.characters))
        loaded = {ref: (libraries or {}).get(ref) or ref.load() for ref in refs}
        spaces = {ref: locomotion_space(library) for ref, library in loaded.items()}
        run = _ThrongRun(scene, seed, fps, spaces, among)
        run.play(progress)
        searched = clock.perf_counter() - began
        began = clock.perf_counter()
        progress("motion", 0, None)
        people = run.people
        clips = [run.clip(person) for person in people]
        take = take_of(
            clips,
            [person.character.name for person in people],
            fps=fps,
            start_times=[person.first / fps for person in people],
        )
        return ScenePerformance(
            take=take,
            results=run.results([clip.planar_path() for clip in clips]),
            libraries={person.character.name: loaded[person.character.library] for person in people},
            search_seconds=searched,
            motion_seconds=clock.perf_counter() - began,
            remarks=tuple(run.simulation.repairs),
        )


class _ThrongRun:
    """One run of a throng, frame by frame. This class is **mutable**.

    Attributes:
        people: the characters.
        simulation: the dynamics.
    """

    def __init__(
        self, scene: Scene, seed: int, fps: float, spaces: Mapping[LibraryRef, LocomotionSpace], among: Take | None
    ) -> None:
        """Prepare it.

        Args:
            scene: the scene.
            seed: seed of what differs between people.
            fps: rate of the take [Hz].
            spaces: gaits of all characters.
            among: motion of others, who give no way.
        """
        options = scene.characters[0].plan
        assert isinstance(options, ThrongOptions)
        threads = 1 if len(scene.characters) < _MANY else None
        self.simulation = ThrongSimulation(
            scene.world, throng_options(options.dynamics, options.keep_side, threads), seed
        )
        self.people = [
            _Person(character, first=round(character.start_time * fps), group=list(spaces).index(character.library))
            for character in scene.characters
        ]
        self._throng = WalkingThrong(self.simulation, list(spaces.values()))
        self._others = [] if among is None else [_Other(name, among, k, fps) for k, name in enumerate(among.names)]
        self._seed, self._fps, self._look_every = seed, fps, max(round(_LOOK_EVERY * fps), 2)
        self._finders = [FlawFinder(space.rig.skeleton, fps) for space in spaces.values()]
        self._until = max((person.character.start_time for person in self.people), default=0.0) + options.duration
        self._shown: list[list[tuple[FloatArray, SingleArray, BoolArray]]] = []
        _find_lost(self.people, self.simulation)
        names = [person.character.name for person in self.people]
        self._delays = dict(zip(names, start_delays(names, seed).tolist(), strict=True))

    def play(self, progress: Progress) -> None:
        """Let everybody walk until all have arrived, nobody gets on any more, or the time is over."""
        simulation, people, fps = self.simulation, self.people, self._fps
        parts = max(math.ceil(_LEAST_RATE / fps - 1e-9), 1)
        frame, last_arrival, moved, locks = 0, 0.0, 0.0, LockBreaker(self._throng, simulation)
        while True:
            if self._appear([person for person in people if person.first == frame and person.id < 0]):
                locks.forget()
            self._shown.append(
                [(b.roots.copy(), b.turns.astype(np.float32), b.down.copy()) for b in self._throng.bodies]
            )
            arrived, now = simulation.arrived, frame / fps
            for person in people:
                if person.id >= 0 and person.arrival is None and arrived[person.id]:
                    person.arrival, last_arrival = now, now
            left = [person for person in people if person.arrival is None and not person.lost]
            if frame % round(fps) == 0:
                idle = {one.person for one in simulation.stuck()}
                if any(person.id >= 0 and person.id not in idle for person in left):
                    moved = now
            waiting = any(person.id < 0 for person in left)
            done = not left and now >= last_arrival + _AFTER
            if now >= self._until or (done and (now >= last_arrival + _BACK or not self._displaced())):
                break
            if not waiting and now > moved + _HOPELESS:
                break
            if frame % 30 == 0:
                progress("characters", len(people) - len(left), len(people))
            for other in self._others:
                other.lead(simulation, frame)
            facing = np.full(len(simulation), np.nan)
            for person in people:
                if person.id >= 0 and person.character.goal_heading is not None:
                    facing[person.id] = person.character.goal_heading
            others = self._poses_of_others(frame)
            for _ in range(parts):
                self._throng.step(1.0 / (fps * parts), others, facing)
            frame += 1
            back = locks.watch()
            if back is None and frame % self._look_every == 0 and len(flawed := self._flawed()):
                back = locks.mend(flawed)
            if back is not None:
                frame = round(back * fps)
                del self._shown[frame:]
                for person in people:
                    person.arrival = None if person.arrival is None or person.arrival > back else person.arrival
                last_arrival = max((person.arrival for person in people if person.arrival is not None), default=0.0)

    def _displaced(self) -> bool:
        """Return whether anybody who arrived is farther from its goal now than it may be: it stepped aside."""
        there = [person for person in self.people if person.id >= 0 and person.arrival is not None]
        goals = np.array([person.character.goal[:2] for person in there]).reshape(-1, 2)
        most = np.array([max(_LARGEST, person.character.plan.tolerance) for person in there])
        away = self.simulation.positions[[person.id for person in there]] - goals
        return bool((np.hypot(*away.T) > most).any())

    def _flawed(self) -> IntArray:
        """Return the ids of those whose motion had a flaw since the look before the last one; (M,).

        That something that moves runs into somebody is such a flaw, too.
        """
        struck = np.flatnonzero(self._throng.struck() > _STRUCK)
        frames, out = self._shown[-2 * self._look_every :], [struck]
        for group, finder in enumerate(self._finders):
            count = len(frames[0][group][0])
            roots, turns = (np.array([shown[group][k][:count] for shown in frames], np.float64) for k in range(2))
            slots = self._throng.bodies[group].slots[:count]
            out.append(slots[finder.flawed(roots, turns, self._look_every, self._throng.waited[slots] > 0.0)])
        return np.unique(np.concatenate(out))

    def clip(self, person: _Person) -> Clip:
        """Return the motion of somebody."""
        frames = [shown[person.group] for shown in self._shown[person.first :]]
        poses = BodyPoses(
            roots=np.array([roots[person.row] for roots, _, _ in frames]),
            rotations=np.array([turns[person.row] for _, turns, _ in frames]),
            down=np.array([down[person.row] for _, _, down in frames]),
            needs=np.zeros(len(frames)),
        )
        space = self._throng.bodies[person.group].space
        return body_clip(space, poses, self._fps, person.character.name)

    def results(self, paths: Sequence[FloatArray]) -> dict[str, SearchResult]:
        """Return how each character fared, given their planar paths."""
        names = {person.id: person.character.name for person in self.people if person.id >= 0}
        names |= {other.id: other.name for other in self._others if other.id >= 0}
        stuck = {names[one.person]: _why(one, names) for one in self.simulation.stuck()}
        out = {}
        for person, path in zip(self.people, paths, strict=True):
            character = person.character
            x, y, heading = path[-1].tolist()
            walked = float(np.hypot(*np.diff(path[:, :2], axis=0).T).sum())
            end = person.arrival if person.arrival is not None else character.start_time
            missing = float(np.hypot(x - character.goal[0], y - character.goal[1]))
            plan = Plan((), (x, y, heading), end, walked)
            if person.arrival is not None and not person.lost:
                out[character.name] = SearchResult(Status.FOUND, plan, remaining=missing, found_by=FOUND_BY)
                continue
            why = person.lost or stuck.get(character.name, "on the way when time was up")
            out[character.name] = SearchResult(
                Status.NO_PATH if person.lost else Status.PARTIAL, plan, closest=(x, y, heading), remaining=missing,
                reason=f"{missing:.1f} m from the goal; {why}" if not person.lost else why, found_by=FOUND_BY,
            )  # fmt: skip
        return out

    def _appear(self, people: Sequence[_Person]) -> bool:
        """Add people who appear now; returns whether there are any."""
        if not people:
            return False
        _enter(people, self.simulation, self._delays, self._seed)
        for group, bodies in enumerate(self._throng.bodies):
            own = [person for person in people if person.group == group]
            if own:
                for number, person in enumerate(own, start=len(bodies)):
                    person.row = number
                draws = [crc32(person.character.name.encode()) for person in own]
                styles = [
                    int(np.random.default_rng([self._seed, draw]).integers(len(bodies.space.styles))) for draw in draws
                ]
                ids = np.array([person.id for person in own])
                self._throng.join(group, ids, np.array(styles), self._seed + draws[0])
        return True

    def _poses_of_others(self, frame: int) -> list[Poses]:
        """Return the others in a frame, by gaits; who has none of these skeletons is only an outline."""
        out = []
        for bodies in self._throng.bodies:
            skeleton = bodies.space.rig.skeleton
            found = [other.pose(frame) for other in self._others if other.skeleton == skeleton]
            known = [pose for pose in found if pose is not None]
            roots = np.array([root for root, _ in known]).reshape(-1, 3)
            out.append((roots, np.array([turns for _, turns in known]).reshape(-1, len(skeleton), 4)))
        return out


def _find_lost(people: Sequence[_Person], simulation: CrowdSimulation) -> None:
    """Note who goes to a place where nobody can stand; they stay where they are."""
    goals = np.array([person.character.goal for person in people])
    for number in walls_of_goals(simulation.walls, np.concatenate([goals, goals], axis=1)).tolist():
        x, y = people[number].character.goal
        people[number].lost = f"goal ({x:g}, {y:g}) is in an obstacle or out of bounds"


def _enter(people: Sequence[_Person], simulation: CrowdSimulation, shares: Mapping[str, float], seed: int) -> None:
    """Add people to the dynamics."""
    characters = [person.character for person in people]
    ids = simulation.add(
        [character.start[:2] for character in characters],
        [person.character.start[:2] if person.lost else person.character.goal for person in people],
        speeds=[_own_speed(character, seed) for character in characters],
        headings=[character.start[2] for character in characters],
        departs=[c.start_time + start_delay(shares[c.name], c.plan.start_spread) for c in characters],
        reach=[float(np.clip(_ARRIVAL * c.plan.tolerance, _NEAREST, _LARGEST)) for c in characters],
    )
    unreachable = simulation.unreachable
    for person, number in zip(people, ids.tolist(), strict=True):
        person.id = number
        if unreachable[number] and not person.lost:
            x, y = person.character.goal
            person.lost = f"there is no way to the goal ({x:g}, {y:g}) that is wide enough"


def _own_speed(character: Character, seed: int) -> float:
    """Return the speed at which a character walks when nobody is in the way [m/s], drawn by seed and name."""
    if not isinstance(character.speed, str):
        return float(character.speed)
    mean = _WALKING_SPEED if character.speed == "normal" else SPEEDS[character.speed]
    draw = np.random.default_rng([seed, crc32(character.name.encode()), 11]).standard_normal()
    spread = character.plan.speed_spread * (HURRY_SPREAD if character.speed == "hurry" else 1.0)
    return mean * speed_of_age(character.age) * (1.0 + spread * float(np.clip(draw, -_FARTHEST, _FARTHEST)))


def _why(one: StuckPerson, names: Mapping[int, str]) -> str:
    """Say why somebody does not get on."""
    since = f"since {one.since:.1f} s"
    if not one.blocked_by:
        return one.reason.partition(": ")[2]
    chain = [f"'{names[number]}'" for number in one.blocked_by]
    if len(chain) == 1:
        return f"{chain[0]} is in the way {since}"
    return f"{chain[0]} is in the way {since}, and {', '.join(chain[1:4])} in the way of that one"
