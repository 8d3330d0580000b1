"""What is shown while a scene is prepared: everybody stands at its start, and the engine is made on another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.errors import StudioError
from gaitway.core.warming import watch
from gaitway.library.standing import standing_behaviors
from gaitway.live.libraries import neutral
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.scene import Scene
from gaitway.studio.engine import Say, StudioEngine
from gaitway.studio.frames import StudioFigures, StudioFrame
from gaitway.studio.things import scene_things
from gaitway.take.evaluation import Joints
from gaitway.world.world import World


def standing_frame(scene: Scene) -> StudioFrame:
    """Return a frame in which all characters of a scene stand at their starts who are there from the beginning."""
    there = [c for c in scene.characters if not (scene.busy and c.start_time > 0.0)]
    names: list[str] = []
    joints: list[Joints] = []
    for library in dict.fromkeys(neutral(c.library) for c in there):
        some = [c for c in there if neutral(c.library) == library]
        joints.append(_standing(library, some, scene.world))
        names += [c.name for c in some]
    movers = [mover.pose(0.0) for mover in scene.world.movers]
    return StudioFrame(
        number=0, mode="live", playing=False, time=0.0, length=0.0, names=tuple(names), joints=tuple(joints),
        movers=np.array(movers, dtype=np.float64).reshape(-1, 3), figures=StudioFigures(characters=len(names)),
        edition=0, preparing=True, things=scene_things(scene, 0.0),
    )  # fmt: skip


def _standing(ref: LibraryRef, characters: list[Character], world: World) -> Joints:
    library = ref.load()
    behaviors = standing_behaviors(library) or (library.graph.behaviors[0].name,)
    clip = library.clips[library.graph[behaviors[0]].clips[0]]
    places, turns = (array[0] for array in clip.joint_transforms())
    starts = np.array([c.start for c in characters], dtype=np.float64)
    origin = planar.inverse(clip.planar_path()[:1])
    poses = planar.compose(starts, np.repeat(origin, len(starts), axis=0))
    yaws = rotations.from_yaw(poses[:, 2])
    positions = rotations.rotate(yaws[:, None], places[None])
    positions[..., :2] += poses[:, None, :2]
    positions[..., 2] += np.asarray(world.ground(starts[:, :2]))[:, None]
    return Joints(clip.skeleton, np.arange(len(starts)), positions, rotations.multiply(yaws[:, None], turns[None]))


class Opening:
    """An engine that is being made, on a thread of its own. This class is **mutable**."""

    def __init__(self, scene: Scene, say: Say, shown: Callable[[StudioFrame], None]) -> None:
        """Begin.

        Args:
            scene: the scene.
            say: called with what is being done.
            shown: called with the frame in which all stand, once it is known.
        """
        self.scene = scene
        self._say, self._shown = say, shown
        self._engine: StudioEngine | None = None
        self._problem: BaseException | None = None
        self._closed, self._lock = False, threading.Lock()
        self._thread = threading.Thread(target=self._make, daemon=True, name="opening")
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether the engine is ready, or cannot be made."""
        return not self._thread.is_alive()

    def engine(self) -> StudioEngine:
        """Wait for the engine, and return it.

        Raises:
            GaitwayError: if the scene cannot be lived.
        """
        self._thread.join()
        if self._problem is not None:
            raise self._problem
        if self._engine is None:
            raise StudioError("the studio is closed")
        return self._engine

    def close(self) -> None:
        """Let nobody have the engine; it is closed when it is ready."""
        with self._lock:
            self._closed = True
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _make(self) -> None:
        try:
            self._say("preparing the scene ...")
            self._shown(standing_frame(self.scene))
            watch(self._compiled)
            try:
                made = StudioEngine(self.scene, self._say)
                made.frame()  # which compiles what the first frame needs
            finally:
                watch(None)
        except BaseException as problem:
            self._problem = problem
            return
        with self._lock:
            if not self._closed:
                self._engine = made
                return
        made.close()

    def _compiled(self, ready: int, total: int) -> None:
        if not self._closed:
            self._say(f"compiling for this machine, once: {ready} of {total}")
