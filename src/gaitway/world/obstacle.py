"""Obstacles: a shape, and what it means to somebody on foot."""

from __future__ import annotations

from dataclasses import dataclass

from gaitway.core.errors import WorldError
from gaitway.world.shapes import Shape

WALL = "wall"
"""Nobody may touch it."""
PASSABLE = "passable"
"""It is there to be seen and is in nobody's way: paint, a carpet, a tree that has not fallen yet."""
STANDABLE = frozenset({"box", "climb", "stairs"})
"""Kinds whose upper side is ground to stand on once one has got up there."""


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A shape and its kind."""

    shape: Shape
    kind: str = WALL
    """`WALL`, `PASSABLE`, or the kind of special behaviour that alone gets past it: "jump", "duck", "crawl", "climb",
    "box", "stairs" (which the behaviours "stairs_up" and "stairs_down" pass), or any kind that a library has."""
    name: str = ""
    color: str | None = None
    """In pictures, as "#rrggbb"; None takes the colour of its kind."""

    def __post_init__(self) -> None:
        if not self.kind.isidentifier():
            raise WorldError(f"obstacle kind '{self.kind}' must be one word of letters, digits and _")

    @property
    def special(self) -> bool:
        """Whether it can be passed, but only by a behaviour of its kind."""
        return self.kind not in (WALL, PASSABLE)

    @property
    def standable(self) -> bool:
        """Whether its upper side is ground to stand on."""
        return self.kind in STANDABLE
