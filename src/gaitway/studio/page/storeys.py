"""Storeys on the page: which floors of a place are shown, faded or hidden, so that one can look into a house."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.studio.frames import StudioFrame
from gaitway.world.levels.floors import Floors
from gaitway.world.obstacle import LEVEL_KINDS, Obstacle
from gaitway.world.world import World

SHOWN, FADED, HIDDEN = "shown", "faded", "hidden"
LOOKS = (SHOWN, FADED, HIDDEN)
"""How a storey can look."""
FADE = 0.16
"""Opacity of what is faded."""
_APART = 1.9
"""Least distance in height of storeys [m]: lower things, such as blocks, belong to the storey that they stand on."""
_STEP = 0.3
"""How much lower than a storey something may be that belongs to it [m]."""


@dataclass(frozen=True)
class Storey:
    """All floors of about one height."""

    name: str
    """Name of its lowest floor; of the largest one if several are as low."""
    height: float
    """Height of its lowest floor [m]."""


def storeys_of(floors: Floors | None) -> tuple[Storey, ...]:
    """Return the storeys of a place from the lowest to the highest; none if there is only one, or a walkable mesh.

    A mesh is one thing, whose floors cannot be hidden by themselves.
    """
    if floors is None or floors.meshes is not None:
        return ()
    level = sorted((f for f in floors.floors if f.relief is None), key=lambda f: (f.height, -f.region.area, f.number))
    out: list[Storey] = []
    for floor in level:
        if not out or floor.height >= out[-1].height + _APART:
            out.append(Storey(floor.name, floor.height))
    return tuple(out) if len(out) > 1 else ()


class PageStoreys:
    """How each storey of a place looks. This class is **mutable**."""

    def __init__(self) -> None:
        self.storeys: tuple[Storey, ...] = ()
        self._looks: dict[str, str] = {}

    def enter(self, floors: Floors | None) -> bool:
        """Take the storeys of a place, each with the look that it had; return whether they are others than before."""
        before, self.storeys = self.storeys, storeys_of(floors)
        self._looks = {storey.name: self._looks.get(storey.name, SHOWN) for storey in self.storeys}
        return before != self.storeys

    def look(self, name: str) -> str:
        """Return how a storey looks."""
        return self._looks.get(name, SHOWN)

    def set(self, name: str, look: str) -> bool:
        """Let a storey look so; return whether that is another look."""
        if name not in self._looks or look not in LOOKS or self._looks[name] == look:
            return False
        self._looks[name] = look
        return True

    def lower(self) -> None:
        """Hide the highest storey that is not hidden; show all again when there is nothing left but the lowest."""
        left = [storey.name for storey in self.storeys if self._looks[storey.name] != HIDDEN]
        if len(left) > 1:
            self._looks[left[-1]] = HIDDEN
        else:
            self._looks = dict.fromkeys(self._looks, SHOWN)

    def number(self, heights: FloatArray) -> IntArray:
        """Return the storey of things whose lowest points have these heights (N,) [m]; (N,)."""
        floors = np.array([storey.height for storey in self.storeys])
        out: IntArray = np.maximum(np.searchsorted(floors - _STEP, heights, side="right") - 1, 0)
        return out

    def look_of(self, obstacle: Obstacle) -> str:
        """Return how a thing looks: as the storey that it stands on, and a floor as the storey that it carries."""
        low, high = obstacle.shape.heights
        slab = obstacle.kind in LEVEL_KINDS and obstacle.kind != "ramp"
        return self.at(high if slab else low)

    def at(self, height: float) -> str:
        """Return how a thing looks whose lowest point is so high [m]."""
        if not self.storeys:
            return SHOWN
        return self._looks[self.storeys[int(self.number(np.array([height]))[0])].name]

    def solid(self, world: World) -> World:
        """Return a world with the things that look solid alone: clicks go through all others."""
        if SHOWN == min(self._looks.values(), default=SHOWN) == max(self._looks.values(), default=SHOWN):
            return world
        return replace(world, obstacles=tuple(o for o in world.obstacles if self.look_of(o) == SHOWN))

    def seen(self, frame: StudioFrame) -> StudioFrame:
        """Return a frame without those who are on hidden storeys."""
        if HIDDEN not in self._looks.values():
            return frame
        looks = np.array([self._looks[storey.name] == HIDDEN for storey in self.storeys])
        rows: list[BoolArray] = [~looks[self.number(j.positions[:, :, 2].min(axis=1))] for j in frame.joints]
        joints = tuple(
            replace(j, characters=j.characters[own], positions=j.positions[own], rotations=j.rotations[own])
            for j, own in zip(frame.joints, rows, strict=True)
        )
        there = np.concatenate([np.empty(0, dtype=bool), *rows]).tolist()
        names = tuple(name for name, own in zip(frame.names, there, strict=True) if own)
        gone = set(frame.names) - set(names)
        troubles = tuple(trouble for trouble in frame.troubles if gone.isdisjoint(trouble.names))
        return replace(frame, joints=joints, names=names, troubles=troubles)
