"""A scene whose people do errands, lived: they come in, queue, sit, wait and leave, and go on after every edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from gaitway.core.errors import GaitwayError, StudioError
from gaitway.errands.orders import Pose
from gaitway.live.errands import LiveErrands
from gaitway.live.seated import SITTING
from gaitway.scene.errands import Place, label
from gaitway.scene.scene import Scene
from gaitway.studio.deform_play import DeformPlay, lives_by_deform
from gaitway.studio.frames import StudioErrand, StudioTrouble
from gaitway.studio.live_play import LivePlay
from gaitway.studio.stage import Place as Point
from gaitway.studio.stage import Spot

_AGAIN = 1.0
"""Time between attempts to put people back for whom there was no room [s]."""
_MOST_TOLD = 20
"""Number of people who found no room that are told of."""
_NOBODY: Mapping[str, Pose] = MappingProxyType({})
_NOTHING: Mapping[str, Spot] = MappingProxyType({})


class ErrandPlay(LivePlay):
    """The live people of a scene with errands, by name. This class is **mutable**.

    Who is sent elsewhere or driven by keys breaks off an errand, and begins it again afterwards.

    Attributes:
        run: the errands.
    """

    def __init__(self, scene: Scene, say: Callable[[str], None] | None = None) -> None:
        """Put everybody in who is there from the start; arguments are those of `LivePlay`."""
        (say or (lambda text: None))("preparing errands")
        self.run = LiveErrands(scene)
        self.crowd = self.run.crowd
        self.left_out: tuple[str, ...] = ()
        self._driven: dict[str, tuple[float, float, float]] = {}
        self._asked: dict[str, Spot] = {}
        self._gone: Mapping[str, Pose] = {}
        self._back: dict[str, Pose] = {}
        self._tried = 0.0

    @property
    def facts(self) -> Mapping[str, Any]:
        """How doors have moved, as a take tells it."""
        return {} if self.run.keeper is None else {"doors": self.run.keeper.facts()}

    @property
    def happened(self) -> tuple[str, ...]:
        """Names of the events that have happened."""
        return tuple(self.run.dispatcher.events)

    def enter(
        self, scene: Scene, orders: Mapping[str, Spot] = _NOTHING, gone: Mapping[str, Pose] = _NOBODY
    ) -> tuple[str, ...]:
        """Go on in a scene that was edited, with orders and without those who were taken away; see `LivePlay.enter`."""
        if scene is not self.run.scene:
            self.run.change(scene)
        people = self.run.dispatcher.people
        for name in [name for name in gone if name in people]:
            self.run.take_out(name)
            self._driven.pop(name, None)
        self._back = {name: pose for name, pose in self._back.items() if name not in gone}
        self._back |= {name: pose for name, pose in self._gone.items() if name not in gone}
        self._gone = gone
        self._let_back()
        for name in [name for name in self._asked if name not in orders and name in people]:
            self.run.recall(name)
        for name, spot in orders.items():
            if self._asked.get(name) != spot and name in people:
                self.run.send(name, _sent(spot))
        self._asked = dict(orders)
        return tuple(self._back)

    def remove(self, names: list[str]) -> None:
        """Take people out."""
        for name in names:
            self._check(name)
            self.run.take_out(name)
            self._driven.pop(name, None)

    def set_goal(self, name: str, x: float, y: float, floor: str = "") -> Spot:
        """Send somebody elsewhere, who goes on with the errands then; return where."""
        self._check(name)
        try:
            spot = self.crowd.on_floor(x, y, floor) if floor else self.crowd.on_floor_of(name, x, y)
            self.run.send(name, _sent(spot))
        except GaitwayError as problem:
            raise StudioError(str(problem)) from None
        self._driven.pop(name, None)
        self._asked[name] = spot
        return spot

    def drive(self, name: str, forward: float, turn: float) -> Point | None:
        """Let somebody be driven by keys, who goes on with the errands after it; see `LivePlay.drive`."""
        self._check(name)
        if (forward or turn) and name not in self._driven:
            if self.run.sits(name):
                raise StudioError(f"'{name}' sits; send it elsewhere, and it gets up first")
            self.run.interrupt(name)
        return super().drive(name, forward, turn)

    def let_happen(self, event: str) -> None:
        """Let an event of the scene's rules happen now."""
        try:
            self.run.let_happen(event)
        except GaitwayError as problem:
            raise StudioError(str(problem)) from None

    def errands(self, name: str) -> tuple[StudioErrand, ...]:
        """Return what somebody has done, does, and is about to do."""
        self._check(name)
        doer = self.run.dispatcher.people.get(name)
        if doer is None:
            return ()
        over = [StudioErrand(s.label, s.outcome, s.start, s.end, s.reason) for s in doer.spans]
        now = [] if doer.current is None else [StudioErrand(doer.current[0], "now", doer.current[1])]
        return (*over, *now, *(StudioErrand(label(errand), "to come") for errand in doer.todo))

    def behavior(self, name: str) -> str:
        """Return the behaviour that somebody is in."""
        return SITTING if self.run.sits(name) else super().behavior(name)

    def step(self, dt: float) -> None:
        """Go on by some time [s]."""
        if self._back and self.time - self._tried >= _AGAIN:
            self._let_back()
        self._driven = {name: keys for name, keys in self._driven.items() if name in self.crowd}
        self._steer()
        self.run.step(dt)
        self.run.events()

    def troubles(self) -> tuple[StudioTrouble, ...]:
        """Return who cannot get on, or found no room to come in, and why."""
        outside = [StudioTrouble("no room", (name,), reason, 0.0) for name, reason in self.run.refused.items()]
        outside += [
            StudioTrouble("no room", (name,), "somebody is where it was", self._tried, place=(*pose[:2], 0.0))
            for name, pose in self._back.items()
        ]
        return (*self._stuck(), *outside[-_MOST_TOLD:])

    def close(self) -> None:
        """End the thread that plans."""
        self.run.close()

    def _let_back(self) -> None:
        """Put those back who were taken away and are not any more, each if there is room."""
        self._tried = self.time
        self._back = {
            name: pose
            for name, pose in self._back.items()
            if self.run.is_away(name) and not self.run.put_back(name, pose)
        }


def _sent(spot: Spot) -> Place:
    """Return the place that somebody is sent to."""
    x, y = spot[:2]
    return Place(name=f"({x:.1f}, {y:.1f})", point=(x, y), height=spot[2] if len(spot) > 2 else None)


def live_play(scene: Scene, say: Callable[[str], None] | None = None) -> LivePlay | DeformPlay:
    """Return the live people of a scene: with errands if they do any, deforming if all are planned so."""
    if scene.busy:
        return ErrandPlay(scene, say)
    return DeformPlay(scene, say) if lives_by_deform(scene) else LivePlay(scene, say)
