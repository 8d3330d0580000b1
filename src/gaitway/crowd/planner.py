"""A planner that simulates all characters of a scene as a throng, and gives them whole bodies.

Plans that are reserved in space and time up to their ends are right in open places and hopeless in a throng, where
nobody knows beforehand when a gate will be free. Here everybody decides at every moment, by local dynamics, and the
bodies follow (`gaitway.crowd.locomotion`).
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from gaitway.behavior.starts import start_delay, start_delays
from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.core.progress import Progress
from gaitway.crowd.dynamics.inputs import walls_of_goals
from gaitway.crowd.dynamics.options import CrowdBody, CrowdOptions
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.dynamics.stuck import StuckPerson
from gaitway.crowd.dynamics.walls import WallHash, Walls
from gaitway.crowd.locomotion.space import locomotion_space
from gaitway.crowd.locomotion.steering import closeness, narrowness, steered
from gaitway.crowd.locomotion.walking import Walk, walk_along
from gaitway.crowd.plan_options import ThrongOptions
from gaitway.crowd.separation import walk_apart
from gaitway.crowd.trajectories import Trajectories, joined
from gaitway.library.behavior import Library
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
_BODY = CrowdBody(0.48, 0.285)
"""Outline of people, with arms and a little room around the trunk."""
_AGILITY = 2.0
"""Greatest acceleration of people [m/s2]. Bodies have to follow."""
_ARRIVAL = 0.6
"""Share of the tolerance within which people stop walking; they may be pushed a little after that."""
_NEAREST, _LARGEST = 0.1, 0.4
"""Least and greatest distance from the goal at which people stop walking [m]."""
_MANY = 400
"""Number of people from which on more than one thread is worth its trouble; results are the same."""
_AFTER = 2.0
"""Time that is shown after the last arrival [s]."""
_HOPELESS = 30.0
"""Time without progress of all who still walk after which the simulation ends [s]."""
_WALL_REACH = 1.0
"""Greatest distance of a limb from the root [m]."""
_ARMS_NEED = (0.62, 0.95)
"""Distances of others at which arms are held down wholly, and swing freely [m]."""
_TURN_RATE = 1.5
"""Speed at which people turn to the heading of their goal [rad/s]."""


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
    path: list[tuple[float, float, float]] = field(default_factory=list)
    """x, y [m] and heading [rad] at each frame."""


class _Other:
    """A character that was planned before, and gives no way to anybody. This class is **mutable**."""

    def __init__(self, name: str, take: Take, number: int, fps: float) -> None:
        clip = take.clip(number, fps)
        self.name, self.id, self._fps = name, -1, fps
        self._first = round(take.start(number) * fps)
        self._path = clip.planar_path()

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
        people, stuck, remarks = _simulated(scene, seed, fps, progress, among)
        searched = clock.perf_counter() - began
        refs = list(dict.fromkeys(person.character.library for person in people))
        loaded = {ref: (libraries or {}).get(ref) or ref.load() for ref in refs}
        began = clock.perf_counter()
        progress("motion", 0, None)
        take = _take(people, loaded, seed, fps, Walls.of(scene.world))
        return ScenePerformance(
            take=take,
            results=_results(people, stuck),
            libraries={person.character.name: loaded[person.character.library] for person in people},
            search_seconds=searched,
            motion_seconds=clock.perf_counter() - began,
            remarks=remarks,
        )


def _simulated(
    scene: Scene, seed: int, fps: float, progress: Progress, among: Take | None
) -> tuple[list[_Person], dict[str, tuple[StuckPerson, str]], tuple[str, ...]]:
    """Simulate a scene; return its people, those who are stuck at the end and why, and remarks."""
    options = scene.characters[0].plan
    assert isinstance(options, ThrongOptions)
    crowd = CrowdOptions(
        model=options.dynamics,
        keep_side=options.keep_side,
        body=_BODY,
        agility=_AGILITY,
        at_goal="stand",
        threads=1 if len(scene.characters) < _MANY else None,
    )
    simulation = CrowdSimulation(scene.world, crowd, seed)
    people = [_Person(character, first=round(character.start_time * fps)) for character in scene.characters]
    _find_lost(people, simulation)
    shares = dict(
        zip(
            (p.character.name for p in people),
            start_delays([p.character.name for p in people], seed).tolist(),
            strict=True,
        )
    )
    duration = max((person.character.start_time for person in people), default=0.0) + options.duration
    others = [] if among is None else [_Other(name, among, k, fps) for k, name in enumerate(among.names)]
    frame, last_arrival, moved = 0, 0.0, 0.0
    while True:
        _appear([p for p in people if p.first == frame], simulation, shares, seed)
        here = [person for person in people if person.id >= 0]
        states = np.column_stack([simulation.positions, simulation.headings])
        for person in here:
            person.path.append(tuple(states[person.id].tolist()))
        arrived, now = simulation.arrived, frame / fps
        for person in here:
            if person.arrival is None and arrived[person.id]:
                person.arrival, last_arrival = now, now
        left = [person for person in people if person.arrival is None and not person.lost]
        if frame % round(fps) == 0:
            idle = {one.person for one in simulation.stuck()}
            if any(person.id >= 0 and person.id not in idle for person in left):
                moved = now
        waiting = any(person.id < 0 for person in left)
        if now >= duration or (not left and now >= last_arrival + _AFTER) or (not waiting and now > moved + _HOPELESS):
            break
        if frame % 30 == 0:
            progress("characters", len(people) - len(left), len(people))
        for other in others:
            other.lead(simulation, frame)
        simulation.step(1.0 / fps)
        frame += 1
    names = {person.id: person.character.name for person in people if person.id >= 0}
    names |= {other.id: other.name for other in others if other.id >= 0}
    stuck = {names[one.person]: (one, _why(one, names)) for one in simulation.stuck()}
    return people, stuck, tuple(simulation.repairs)


def _find_lost(people: Sequence[_Person], simulation: CrowdSimulation) -> None:
    """Note who goes to a place where nobody can stand; they stay where they are."""
    goals = np.array([person.character.goal for person in people])
    for number in walls_of_goals(simulation.walls, np.concatenate([goals, goals], axis=1)).tolist():
        x, y = people[number].character.goal
        people[number].lost = f"goal ({x:g}, {y:g}) is in an obstacle or out of bounds"


def _appear(people: Sequence[_Person], simulation: CrowdSimulation, shares: Mapping[str, float], seed: int) -> None:
    """Add people who appear now."""
    if not people:
        return
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


def _results(people: Sequence[_Person], stuck: Mapping[str, tuple[StuckPerson, str]]) -> dict[str, SearchResult]:
    """Return how each character fared."""
    out = {}
    for person in people:
        character, path = person.character, np.array(person.path)
        x, y, heading = path[-1].tolist()
        walked = float(np.hypot(*np.diff(path[:, :2], axis=0).T).sum())
        end = person.arrival if person.arrival is not None else character.start_time + 0.0
        missing = float(np.hypot(x - character.goal[0], y - character.goal[1]))
        plan = Plan((), (x, y, heading), end, walked)
        if person.arrival is not None and not person.lost:
            out[character.name] = SearchResult(Status.FOUND, plan, remaining=missing, found_by=FOUND_BY)
            continue
        why = person.lost or stuck.get(character.name, (None, "on the way when time was up"))[1]
        out[character.name] = SearchResult(
            Status.NO_PATH if person.lost else Status.PARTIAL, plan, closest=(x, y, heading), remaining=missing,
            reason=f"{missing:.1f} m from the goal; {why}" if not person.lost else why, found_by=FOUND_BY,
        )  # fmt: skip
    return out


def _trajectories(people: Sequence[_Person], fps: float) -> Trajectories:
    """Return where people were; who has arrived turns to the heading of the goal."""
    paths = [_turned(np.array(person.path), person, fps) for person in people]
    return joined(fps, [p.character.name for p in people], [p.first for p in people], paths)


def _turned(path: FloatArray, person: _Person, fps: float) -> FloatArray:
    wanted = person.character.goal_heading
    if wanted is None or person.arrival is None:
        return path
    after = np.arange(len(path)) - (round(person.arrival * fps) - person.first)
    turn = float(planar.wrap_angle(wanted - path[-1, 2]))
    share = np.clip(after / fps * _TURN_RATE / max(abs(turn), 1e-9), 0.0, 1.0)
    soft = share * share * (3.0 - 2.0 * share)
    return np.column_stack([path[:, :2], path[:, 2] + np.where(after >= 0, soft, 0.0) * turn])


def _take(
    people: Sequence[_Person], libraries: Mapping[LibraryRef, Library], seed: int, fps: float, walls: Walls
) -> Take:
    """Return the bodies of all people, moved apart where limbs would meet."""
    tracks = _trajectories(people, fps)
    spaces = {ref: locomotion_space(library) for ref, library in libraries.items()}
    refs = [person.character.library for person in people]

    first = steered(tracks, fps)
    lowered = np.maximum(closeness(first, *_ARMS_NEED), narrowness(first, walls))
    close = np.zeros_like(lowered)

    def walker(along: Trajectories, members: Sequence[int]) -> dict[int, Walk]:
        paths = steered(along, fps)
        return {k: walk_along(spaces[refs[k]], paths, k, close, along.names[k], seed, lowered) for k in members}

    clips = walk_apart(tracks, walker, WallHash.of(walls.segments(), walls.bounds, _WALL_REACH))
    return take_of(clips, tracks.names, fps=fps, start_times=(tracks.starts / fps).tolist())
