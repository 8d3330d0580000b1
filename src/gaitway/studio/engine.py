"""The studio without a page: a scene that is lived or played, and what users do to it.

Nothing here knows of a browser, a clock or a file. What happens depends on the scene, the events and the ticks alone,
so that a recorded session plays again to the same bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gaitway.audit import CollisionWatch, Finding
from gaitway.core.errors import GaitwayError, StudioError
from gaitway.planning import Planned, plan_scene
from gaitway.scene.scene import Scene
from gaitway.studio import events
from gaitway.studio.deform_play import DeformPlay
from gaitway.studio.errand_play import live_play
from gaitway.studio.events import StudioEvent
from gaitway.studio.frames import StudioFigures, StudioFrame, StudioRoute, StudioTrouble
from gaitway.studio.live_play import LivePlay
from gaitway.studio.stage import StudioStage
from gaitway.studio.take_play import TakePlay, collision
from gaitway.studio.things import scene_things, take_things
from gaitway.take.model import Take
from gaitway.world.world import realised

FPS = 30.0
"""Number of ticks per second."""
_MOST_TOLD = 50
"""Number of the latest collisions that a frame has."""
Say = Callable[[str], None]
"""Called with what is being done while it takes long."""


class StudioEngine:
    """A session in the studio. This class is **mutable**.

    Attributes:
        stage: the scene, and its edits.
        playing: whether time goes on.
        speed: how many times as fast as in life.
    """

    def __init__(self, scene: Scene, say: Say | None = None) -> None:
        """Begin live.

        Args:
            scene: the place and who wants to be where.
            say: called with what is being done while it takes long.
        """
        self.stage, self.playing, self.speed = StudioStage(scene), True, 1.0
        self._say = say or (lambda text: None)
        self._number, self._edition, self._steps = 0, 0, 0
        self._message = ""
        self._watch = CollisionWatch()
        self._plans: deque[tuple[float, int]] = deque()
        self._live = live_play(scene, self._say)
        self._take: TakePlay | None = None
        self._stale = False
        self._offered: tuple[Scene, Planned] | None = None
        self._mode = "live"
        self._tell_of(self._live.left_out)

    @property
    def mode(self) -> str:
        """Whether the scene is lived ("live") or a take is played ("take")."""
        return self._mode

    @property
    def scene(self) -> Scene:
        """The scene as it is now."""
        return self.stage.scene

    @property
    def take(self) -> Take | None:
        """The take that was planned or opened last."""
        return None if self._take is None else self._take.take

    @property
    def stale(self) -> bool:
        """Whether there is no take of the scene as it is now."""
        return self._take is None or self._stale

    @property
    def collisions(self) -> int:
        """Number of collisions since the live scene began, each counted once."""
        return self._watch.count

    @property
    def _play(self) -> LivePlay | DeformPlay | TakePlay:
        return self._live if self._mode == "live" or self._take is None else self._take

    def apply(self, event: StudioEvent) -> None:
        """Carry out an event.

        Raises:
            StudioError: if its values are beyond their limits, or it cannot be done; nothing has changed then.
        """
        event = events.checked(event)
        self._message = ""
        if isinstance(event, events.Play | events.Pause):
            self.playing = isinstance(event, events.Play)
        elif isinstance(event, events.Step):
            self.playing, self._steps = False, min(self._steps + event.frames, events.MOST_FRAMES)
        elif isinstance(event, events.SetSpeed):
            self.speed = event.factor
        elif isinstance(event, events.SetMode):
            self._set_mode(event.mode)
        elif isinstance(event, events.Scrub):
            self._taken().scrub(event.time)
        elif isinstance(event, events.SetGoal):
            spot = self._lived().set_goal(event.character, event.x, event.y, event.floor)
            self.stage.order(event.character, spot)
        elif isinstance(event, events.Drive):
            place = self._lived().drive(event.character, event.forward, event.turn)
            if place is not None:
                self.stage.order(event.character, place)
        elif isinstance(event, events.LetHappen):
            self._lived().let_happen(event.event)
        elif isinstance(event, events.Restart):
            self.stage.begin_anew()
            self._restart()
        else:
            self._edit(event)

    def tick(self) -> None:
        """Go on by a frame, if time goes on.

        Raises:
            StudioError: if the speed is beyond its limits, so that no frame takes without end.
        """
        self._number += 1
        if self.playing or self._steps > 0:
            self._steps = max(self._steps - 1, 0)
            if not events.SPEEDS[0] <= self.speed <= events.SPEEDS[1]:
                raise StudioError(f"speed {self.speed}; write one from {events.SPEEDS[0]:g} to {events.SPEEDS[1]:g}")
            self._play.step(self.speed / FPS)
            if not isinstance(self._play, TakePlay):
                self._plans.append((self._live.time, self._live.counts.plans))
                while len(self._plans) > 2 and self._plans[0][0] < self._live.time - 1.0:
                    self._plans.popleft()

    def frame(self) -> StudioFrame:
        """Return what there is to be seen now."""
        play, world = self._play, self.scene.world
        joints, names = play.joints(), play.names
        if not isinstance(play, TakePlay):
            self._watch.look(play.time, joints, names, world)
        moving = realised(world, play.facts)
        movers = [mover.pose(play.time) for mover in moving.movers]
        return StudioFrame(
            number=self._number,
            mode=self._mode,
            playing=self.playing,
            time=play.time,
            length=play.length if isinstance(play, TakePlay) else 0.0,
            names=names,
            joints=joints,
            movers=np.array(movers, dtype=np.float64).reshape(-1, 3),
            figures=self._figures(),
            edition=self._edition,
            message=self._message,
            troubles=self._troubles(),
            errands=play.all_errands if isinstance(play, TakePlay) else {},
            happened=() if isinstance(play, TakePlay) else play.happened,
            things=take_things(play.take, moving, play.time)
            if isinstance(play, TakePlay)
            else scene_things(self.scene, play.time),
        )

    def ahead(self, character: str) -> StudioRoute:
        """Return where a character is about to go."""
        return self._play.ahead(character)

    def behavior(self, character: str) -> str:
        """Return the behaviour of a character."""
        return self._play.behavior(character)

    def plan_take(self) -> Take:
        """Plan the scene as it is now with its own planner, and show the take; `say` reports progress.

        A plan of this scene that was offered is taken instead.

        Raises:
            StudioError: if nobody can be planned; nothing has changed then.
        """
        offered, self._offered = self._offered, None
        try:
            if offered is not None and offered[0] is self.scene:
                planned = offered[1]
            else:
                planned = plan_scene(self.scene, progress=lambda *far: self._say(_progress(*far)))
        except StudioError:
            raise
        except GaitwayError as problem:
            raise StudioError(str(problem)) from None
        self.show_take(planned.take, planned.rows())
        return planned.take

    def offer(self, scene: Scene, planned: Planned) -> None:
        """Give what was planned for a scene elsewhere, so that it need not be planned again."""
        self._offered = (scene, planned)

    def show_take(self, take: Take, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        """Play a take; see `TakePlay` for the rows."""
        if self._take is not None:
            self._take.close()
        self._take, self._mode, self._stale = TakePlay(take, self.scene, rows), "take", False

    def checked(self) -> tuple[Finding, ...]:
        """Wait until the take is checked, and return its collisions in order of time.

        Raises:
            StudioError: if there is no take.
        """
        if self._take is None:
            raise StudioError("there is no take; plan one first")
        return self._take.check.wait()

    def live_take(self, seconds: float | None = None) -> Take:
        """Return the last seconds of the live scene as a take."""
        return self._live.take(seconds)

    def close(self) -> None:
        """End the threads that plan and look for collisions."""
        self._live.close()
        if self._take is not None:
            self._take.close()

    def _edit(self, event: StudioEvent) -> None:
        before = self.scene
        if isinstance(event, events.RemovePeople) and event.character:
            self.stage.take_away(event.character, self._lived().pose(event.character))
        else:
            words = self.stage.apply(event)
            if words is None:
                raise StudioError(f"'{events.name_of(type(event))}' is of no use here")
            if isinstance(event, events.Undo | events.Redo):
                self._message = words
        if self.scene is not before:
            self._edition, self._stale = self._edition + 1, True
        if isinstance(event, events.Choose) or _begins_anew(before, self.scene):
            self._restart()
        else:
            self._tell_of(self._enter())

    def _restart(self) -> None:
        self._live.close()
        self._live = live_play(self.scene, self._say)
        self._mode, self._watch = "live", CollisionWatch()
        self._plans.clear()
        self._tell_of(self._enter())

    def _enter(self) -> tuple[str, ...]:
        """Let the live scene be as it was edited and directed; return who has no room yet."""
        return self._live.enter(self.scene, self.stage.state.orders, self.stage.state.gone)

    def _troubles(self) -> tuple[StudioTrouble, ...]:
        if isinstance(self._play, TakePlay):
            return self._play.troubles()
        return (*self._live.troubles(), *map(collision, self._watch.findings[-_MOST_TOLD:]))

    def _set_mode(self, mode: str) -> None:
        if mode == "take" and self.stale:
            before = self._take.time if self._take is not None and self._mode == "take" else 0.0
            self.plan_take()
            self._taken().scrub(before)
        self._mode = mode

    def _lived(self) -> LivePlay | DeformPlay:
        if self._mode != "live":
            raise StudioError("this is a take, in which nobody changes its mind; go back to live")
        return self._live

    def _taken(self) -> TakePlay:
        if self._mode != "take" or self._take is None:
            raise StudioError("there is no take to scrub; plan one first")
        return self._take

    def _tell_of(self, left_out: tuple[str, ...]) -> None:
        if left_out:
            some = ", ".join(left_out[:3]) + (f" and {len(left_out) - 3} more" if len(left_out) > 3 else "")
            before = f"{self._message}; " if self._message else ""
            self._message = f"{before}no room yet for {some}"

    def _figures(self) -> StudioFigures:
        if self._mode != "live":
            assert self._take is not None
            arrived = len(self._take.take.names) - len(self._take.take.facts.get("failed") or {})
            found = self._take.check.found
            return StudioFigures(
                characters=len(self._play.names), arrived=max(arrived, 0), collisions=len(found or ()),
                checking=found is None,
            )  # fmt: skip
        counts, plans = self._live.counts, 0.0
        if len(self._plans) > 1 and self._plans[-1][0] > self._plans[0][0]:
            plans = (self._plans[-1][1] - self._plans[0][1]) / (self._plans[-1][0] - self._plans[0][0])
        return StudioFigures(
            counts.characters, counts.there, plans, counts.planning_ms, counts.evaluation_ms, self._watch.count
        )


def _begins_anew(before: Scene, scene: Scene) -> bool:
    """Return whether planner, seed or libraries have changed, with which a live scene begins anew.

    So it does where people begin to do errands, or the last who did any is taken away.
    """
    if before.busy != scene.busy:
        return True
    known = {c.name: c.library for c in before.characters}
    return (before.plan, before.seed, before.source.library) != (scene.plan, scene.seed, scene.source.library) or any(
        known.get(c.name, c.library) != c.library for c in scene.characters
    )


def _progress(what: str, done: int, total: int | None) -> str:
    return f"{what} {done} of {total}" if total else what
