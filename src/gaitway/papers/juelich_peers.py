"""Simulations of pedestrians in the same places: gaitway, JuPedSim and RVO2 (for `papers.juelich`)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.crowd.dynamics.options import CrowdOptions
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.trajectories import Trajectories, joined
from gaitway.papers.juelich_scenes import Experiment, Inflow
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Polygon
from gaitway.world.world import World

FPS = 10.0
"""Rate of the recorded paths [Hz]."""
_ROOM = 0.34
"""Distance from others at which somebody comes in [m]."""
_LATE = 2.0
"""How many times longer than people a simulation may take."""
_JAMMED_S = 20.0
"""Time in which nobody comes in or leaves after which a simulation ends [s]: it will not go on."""
_RADIUS = 0.2
"""Radius of RVO2's discs [m]."""
_JUPEDSIM_RADIUS = 0.15
"""Radius of JuPedSim's discs [m]: with its usual 0.2 m an arch closes a door of 0.5 m."""


_JUPEDSIM_STEP = 0.05
"""Time step of JuPedSim [s], as long as that of the others; its usual 0.01 s takes five times as long."""


class Peer(Protocol):
    """A simulation."""

    def add(self, position: FloatArray, goal: int, speed: float) -> bool:
        """Let somebody in; return whether there was room."""

    def advance(self, seconds: float) -> None:
        """Move everybody on."""

    def where(self) -> tuple[list[int], FloatArray]:
        """Return who is there, by the order in which they came in, and where [m]; (N, 2)."""


class GaitwayPeer:
    """gaitway's own simulation."""

    def __init__(self, experiment: Experiment, seed: int, options: CrowdOptions | None = None) -> None:
        blocks = tuple(Obstacle(Polygon(block, 2.5)) for block in experiment.blocks)
        self.crowd = CrowdSimulation(World(experiment.bounds, blocks), options, seed)
        self.goals = experiment.goals

    def add(self, position: FloatArray, goal: int, speed: float) -> bool:
        """Let somebody in."""
        self.crowd.add(position[None], self.goals[goal], speeds=[speed])
        return True

    def advance(self, seconds: float) -> None:
        """Move everybody on."""
        if len(self.crowd):
            self.crowd.step(seconds)

    def where(self) -> tuple[list[int], FloatArray]:
        """Return who is there, and where."""
        here = np.flatnonzero(self.crowd.present)
        return self.crowd.ids[here].tolist(), self.crowd.positions[here]


class JuPedSimPeer:
    """JuPedSim's collision-free speed model with its own parameters."""

    def __init__(self, experiment: Experiment, seed: int) -> None:
        del seed
        self.jps: Any = import_module("jupedsim")
        self.simulation = self.jps.Simulation(
            model=self.jps.CollisionFreeSpeedModel(), geometry=experiment.walkable, dt=_JUPEDSIM_STEP
        )
        self.routes = []
        for x0, y0, x1, y1 in experiment.goals:
            stage = self.simulation.add_exit_stage([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
            self.routes.append((self.simulation.add_journey(self.jps.JourneyDescription([stage])), stage))
        self.ids = list[int]()

    def add(self, position: FloatArray, goal: int, speed: float) -> bool:
        """Let somebody in, unless a wall or somebody else is touched."""
        journey, stage = self.routes[goal]
        about = self.jps.CollisionFreeSpeedModelAgentParameters(
            position=tuple(position.tolist()),
            desired_speed=speed,
            radius=_JUPEDSIM_RADIUS,
            journey_id=journey,
            stage_id=stage,
        )
        try:
            self.ids.append(int(self.simulation.add_agent(about)))
        except RuntimeError:
            return False
        return True

    def advance(self, seconds: float) -> None:
        """Move everybody on."""
        self.simulation.iterate(round(seconds / self.simulation.delta_time()))

    def where(self) -> tuple[list[int], FloatArray]:
        """Return who is there, and where."""
        agents = list(self.simulation.agents())
        order = {agent: number for number, agent in enumerate(self.ids)}
        return [order[a.id] for a in agents], np.array([a.position for a in agents]).reshape(-1, 2)


class RvoPeer:
    """RVO2 by pyrvo. It finds no ways, so that people aim at the gates of the experiment, one after another."""

    def __init__(self, experiment: Experiment, seed: int) -> None:
        self.rvo: Any = import_module("pyrvo")
        self.simulator = self.rvo.RVOSimulator(0.05, 3.0, 10, 1.0, 0.7, _RADIUS, 2.5)
        for block in experiment.blocks:
            self.simulator.add_obstacle([tuple(point) for point in _counter_clockwise(block)])
        x0, y0, x1, y1 = experiment.bounds
        self.simulator.add_obstacle([(x0, y0), (x0, y1), (x1, y1), (x1, y0)])
        self.simulator.process_obstacles()
        self.experiment, self.rng = experiment, np.random.default_rng([seed, 2])
        self.goals, self.speeds, self.gates = list[int](), list[float](), list[int]()
        self.gone = set[int]()

    def add(self, position: FloatArray, goal: int, speed: float) -> bool:
        """Let somebody in."""
        self.simulator.add_agent(tuple(position.tolist()))
        self.goals.append(goal)
        self.speeds.append(speed)
        self.gates.append(0)
        return True

    def advance(self, seconds: float) -> None:
        """Move everybody on."""
        for _ in range(round(seconds / 0.05)):
            for agent in range(len(self.goals)):
                if agent not in self.gone:
                    self._aim(agent)
            self.simulator.do_step()

    def where(self) -> tuple[list[int], FloatArray]:
        """Return who is there, and where."""
        here = [agent for agent in range(len(self.goals)) if agent not in self.gone]
        return here, np.array([self._at(agent) for agent in here]).reshape(-1, 2)

    def _at(self, agent: int) -> FloatArray:
        place = self.simulator.get_agent_position(agent)
        return np.array([place.x, place.y])

    def _aim(self, agent: int) -> None:
        goal, at = self.goals[agent], self._at(agent)
        gates, (x0, y0, x1, y1) = self.experiment.gates[goal], self.experiment.goals[goal]
        if x0 <= at[0] <= x1 and y0 <= at[1] <= y1:
            self.gone.add(agent)  # it has left: away from everybody, at rest
            self.simulator.set_agent_position(agent, (1000.0 + 5.0 * agent, 1000.0))
            self.simulator.set_agent_pref_velocity(agent, (0.0, 0.0))
            return
        target = np.clip(at, [x0, y0], [x1, y1])
        if self.gates[agent] < len(gates):
            a, b = np.array(gates[self.gates[agent]])
            share = np.clip((at - a) @ (b - a) / max(float((b - a) @ (b - a)), 1e-9), 0.0, 1.0)
            target = a + share * (b - a)
            if np.linalg.norm(target - at) < 0.25 or self._past(agent, at):
                self.gates[agent] += 1
        way = target - at
        velocity = way / max(float(np.linalg.norm(way)), 1e-9) * self.speeds[agent]
        velocity += self.rng.normal(0.0, 0.01, 2)  # as its authors do, against perfect symmetry
        self.simulator.set_agent_pref_velocity(agent, tuple(velocity.tolist()))

    def _past(self, agent: int, at: FloatArray) -> bool:
        """Return whether a gate lies behind somebody, seen along the way through the place."""
        gate = np.array(self.experiment.gates[self.goals[agent]][self.gates[agent]]).mean(axis=0)
        return float((at - gate) @ np.array(self.experiment.along)) > 0.1


def _counter_clockwise(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    x, y = np.array(points).T
    area = float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())
    return points if area > 0.0 else points[::-1]


PEERS: dict[str, tuple[str, Callable[[Experiment, int], Peer]]] = {
    "gaitway": ("gaitway.crowd.dynamics", GaitwayPeer),
    "JuPedSim": ("jupedsim", JuPedSimPeer),
    "RVO2": ("pyrvo", RvoPeer),
}
"""Package and maker of each simulation, by name."""


def installed(module: str) -> bool:
    """Return whether a module can be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def simulated(peer: Peer, inflow: Inflow) -> Trajectories:
    """Run a simulation until everybody has left, nobody gets on, or twice as long as people took.

    Who does not fit in waits outside.
    """
    waiting, paths, starts = list(range(len(inflow.times))), list[list[FloatArray]](), list[int]()
    frame, count, changed = 0, 0, 0
    while frame < _LATE * inflow.seconds * FPS:
        here, places = peer.where()
        due = [person for person in waiting if inflow.times[person] <= frame / FPS]
        for person in due:
            spot = inflow.positions[person]
            clear = len(places) == 0 or np.linalg.norm(places - spot, axis=1).min() >= _ROOM or frame == 0
            if clear and peer.add(spot, int(inflow.goals[person]), float(inflow.speeds[person])):
                waiting.remove(person)
                paths.append([])
                starts.append(frame)
                places = np.concatenate([places, spot[None]])
        here, places = peer.where()
        for number, place in zip(here, places, strict=True):
            paths[number].append(place)
        if len(here) != count:
            count, changed = len(here), frame
        if (not waiting and not here) or (here and frame - changed > _JAMMED_S * FPS):
            break
        peer.advance(1.0 / FPS)
        frame += 1
    seen = [number for number, path in enumerate(paths) if len(path) > 1]
    names, begins = [str(number) for number in seen], [starts[number] for number in seen]
    return joined(FPS, names, begins, [np.array(paths[number]) for number in seen])
