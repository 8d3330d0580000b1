"""The clock of a run of errands: who is asked for an order when, who comes in when, and what happens when.

A planner and a live crowd carry out the same orders in different ways; both are runs.
"""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import replace
from itertools import count

import numpy as np

from gaitway.errands.arrivals import Arrival, arrivals
from gaitway.errands.dispatcher import Dispatcher
from gaitway.errands.doors import Doorkeeper
from gaitway.errands.orders import Order, Outcome, Pose
from gaitway.scene.characters import Character
from gaitway.scene.errands import Errand, Go, Place, Rule, target_of
from gaitway.scene.scene import Scene
from gaitway.world.world import World

TICK = 1.0 / 30.0
"""Times at which people set off are multiples of this [s], so that clips are shown at their own frames."""
LONGEST = 7200.0
"""Time at which a run ends that does not end by itself [s]: two hours."""
REACTS = (0.3, 1.2)
"""Time that people need to notice that they are sent elsewhere [s]."""
_LATER = 0.5
"""Time after which somebody tries again to come in where a source has no room [s]."""
_NO_ROOM = 60.0
"""Time after which somebody who finds no room at a source gives up [s]."""
_RULE = ""
"""Stands for the name of a person where something happens by a rule."""


class ErrandRun(ABC):
    """A run of errands. This class is **mutable**."""

    dispatcher: Dispatcher
    """Set by the class that carries out orders."""

    def __init__(self, scene: Scene, seed: int, flat: World | None = None) -> None:
        """Begin at time 0.

        Args:
            scene: the place and the people.
            seed: seed of all that is drawn.
            flat: the world in which people are moved; None for that of the scene.
        """
        self.scene, self.seed = scene, seed
        self.end = LONGEST if scene.end is None else scene.end
        self.coming: dict[str, Arrival] = {}
        """Everybody who comes out of a source, by name."""
        self.last = 0.0
        """Time at which somebody was last asked for an order [s]."""
        self._heap: list[tuple[float, int, str, int]] = []
        self._number = count()
        self._turn: dict[str, int] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._happened: set[int] = set()
        self._sent: list[Rule] = []
        self._opened: dict[str, float] = {}
        self._awaited: set[str] = set()
        self.keeper = Doorkeeper(flat or scene.world) if scene.world.doors else None
        """What doors do; None without any."""
        self.open_sources(0.0)
        for number, rule in enumerate(scene.rules):
            if rule.at is not None:
                self._push_rule(rule.at, number)

    @property
    def came(self) -> Collection[str]:
        """Names of all who have come in."""
        return self._turn.keys()

    @abstractmethod
    def carry_out(self, name: str, order: Order, time: float) -> None:
        """Begin to carry out an order; when it is carried out, `finish` is called, now or later."""

    @abstractmethod
    def come_in(self, arrival: Arrival, time: float) -> bool:
        """Let somebody come out of a source and `enter`; return whether there is room."""

    @abstractmethod
    def refuse(self, name: str, reason: str) -> None:
        """Note that somebody could not come in."""

    @abstractmethod
    def present(self) -> list[str]:
        """Return the names of all who are there."""

    @abstractmethod
    def redirect(self, name: str, errands: tuple[Errand, ...], time: float, reacts: float) -> None:
        """Send somebody on other errands at a time, who notices it a little later [s]."""

    @abstractmethod
    def doors_asked(self) -> None:
        """Let everybody know of doors that were asked to be open or shut."""

    @abstractmethod
    def move_doors(self, time: float) -> None:
        """Move the doors that wait, where nobody is in the way."""

    def go_on(self, until: float) -> None:
        """Ask everybody for orders whose turn comes until a time [s]."""
        while self._heap and self._heap[0][0] <= until:
            time, _, name, turn = heapq.heappop(self._heap)
            if name == _RULE:
                if self.present() or any(arrival.time >= time for arrival in self.coming.values()):
                    self.happen(self.scene.rules[turn], time)
            elif name not in self._turn:
                if name in self.coming:
                    self._let_in(self.coming[name], time)
            elif turn == self._turn[name]:
                self.last = max(self.last, time)
                self._turn[name] += 1
                order = self.dispatcher.next(name, replace(self._outcomes[name], time=time))
                self.carry_out(name, order, time)
            self._wake()
            self._check_reached(time)

    def open_sources(self, time: float) -> None:
        """Let people come out of the sources of the scene.

        A source that is new begins at this time [s], and its own times count from then. Who was to come out of a source
        that is gone comes no more.
        """
        for source in self.scene.sources:
            self._opened.setdefault(source.name, time)
        later = [
            replace(arrival, time=arrival.time + self._opened[arrival.source.name])
            for arrival in arrivals(self.scene.sources, self.seed, self.end)
        ]
        self.coming = {
            arrival.name: arrival
            for arrival in later
            if arrival.time <= self.end and (arrival.name in self.coming or arrival.time >= time)
        }
        for arrival in self.coming.values():
            if arrival.name not in self._awaited:
                self._awaited.add(arrival.name)
                self.push(arrival.time, arrival.name)

    def enter(self, character: Character, pose: Pose, time: float) -> None:
        """Let somebody begin with errands at a time [s]."""
        errands = character.errands or (_goal_errand(character),)
        self.dispatcher.enter(character.name, errands, pose, time, character.radius, character.companions)
        self._turn[character.name] = self._turn.get(character.name, -1) + 1
        self.finish(character.name, Outcome(time, pose))

    def finish(self, name: str, outcome: Outcome) -> None:
        """Note what came of somebody's order; when that time has come, the person is asked for the next one."""
        self._outcomes[name] = outcome
        self.push(outcome.time, name)

    def push(self, time: float, name: str) -> None:
        """Let somebody be asked for an order at a time [s]."""
        time = math.ceil(time / TICK - 1e-6) * TICK
        heapq.heappush(self._heap, (time, next(self._number), name, self._turn.get(name, 0)))

    def forget(self, name: str) -> None:
        """Ask somebody for no order that was due."""
        self._turn[name] += 1

    def towards(self, arrival: Arrival, x: float, y: float) -> float:
        """Return the heading of somebody who comes in at a point [m]: towards the first place of the errands [rad]."""
        targets = (target_of(errand) for errand in arrival.kind.errands)
        first = next((target for target in targets if isinstance(target, Place)), None)
        if first is None:
            return 0.0
        px, py = self.dispatcher.placed(first).point
        return math.atan2(py - y, px - x)

    def drawn(self) -> np.random.Generator:
        """Return a random generator that is another one each time."""
        return np.random.default_rng([self.seed, next(self._number)])

    def may_open(self, door: str) -> bool:
        """Return whether a door is open, or something may still open it."""
        later = (rule for number, rule in enumerate(self.scene.rules) if number not in self._happened)
        return door not in self.dispatcher.shut or any(door in rule.opens for rule in later)

    def _ask_doors(self, rule: Rule, time: float) -> None:
        """Ask the doors of a rule to open and to shut; `move_doors` moves them."""
        for name, to_open in (*((door, True) for door in rule.opens), *((door, False) for door in rule.closes)):
            self.ask_door(name, to_open, time)

    def ask_door(self, name: str, to_open: bool, time: float) -> None:
        """Ask a door to open or to shut; who waits for it tries again."""
        if self.keeper is None or not self.keeper.ask(name, to_open, time):
            return
        if to_open:
            self.dispatcher.open_door(name, time)
        else:
            self.dispatcher.shut.add(name)
        self._wake()
        self.doors_asked()

    def _push_rule(self, time: float, number: int) -> None:
        heapq.heappush(self._heap, (time, next(self._number), _RULE, number))

    def _let_in(self, arrival: Arrival, time: float) -> None:
        """Let somebody come in where there is room, or try again later."""
        if any(_concerns(rule, arrival.name) for rule in self._sent):
            return  # everybody is sent elsewhere, so that nobody comes any more
        if self.come_in(arrival, time):
            return
        if time + _LATER - arrival.time < _NO_ROOM:
            self.push(time + _LATER, arrival.name)
            return
        where = f"source '{arrival.source.name}' has no room for '{arrival.name}' within {_NO_ROOM:g} s"
        self.refuse(arrival.name, f"{where}; write a larger area")

    def _wake(self) -> None:
        for when, other in self.dispatcher.awoken:
            self.push(when, other)
        self.dispatcher.awoken.clear()

    def _check_reached(self, time: float) -> None:
        """Let happen what happens when enough people have come to a place."""
        for rule in self.scene.rules:
            came = 0 if rule.reach is None else len(self.dispatcher.visitors.get(rule.reach, ()))
            if rule.reach is not None and came >= rule.count:
                self.happen(rule, time)

    def happen(self, rule: Rule, time: float) -> None:
        """Let something happen: who waits for it goes on, and who is sent elsewhere goes there."""
        number = self.scene.rules.index(rule)
        if number in self._happened:
            return
        self._happened.add(number)
        self.dispatcher.happen(rule.event, time)
        self._ask_doors(rule, time)
        self._wake()
        for later, other in enumerate(self.scene.rules):
            if other.after == rule.event:
                self._push_rule(time + other.delay, later)
        if rule.errands:
            self._sent.append(rule)
            for name in [one for one in self.present() if _concerns(rule, one)]:
                reacts = time + float(self.dispatcher.people[name].rng.uniform(*REACTS))
                self.redirect(name, rule.errands, time, reacts)
                self._wake()
        if self.keeper is not None and self.keeper.waiting:
            self.move_doors(time)


def _concerns(rule: Rule, name: str) -> bool:
    """Return whether a rule sends somebody elsewhere: by name, or by that of the group or source."""
    return rule.who is None or name in rule.who or name.rpartition("-")[0] in rule.who


def _goal_errand(character: Character) -> Go:
    """Return the errand of a character that has a goal."""
    return Go(Place(name="the goal", point=character.goal, heading=character.goal_heading, laid_out=True))
