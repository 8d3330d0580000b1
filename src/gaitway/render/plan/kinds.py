"""What kinds of obstacle look like, in plans and in pictures alike."""

from __future__ import annotations

from collections.abc import Mapping

from gaitway.world.obstacle import PASSABLE, WALL, Obstacle

KIND_COLORS: Mapping[str, str] = {
    WALL: "#c6c1b7",
    PASSABLE: "#d9ddd3",
    "jump": "#c8794a",
    "duck": "#5f86b3",
    "crawl": "#8573ae",
    "climb": "#b08d3e",
    "box": "#b08d3e",
    "stairs": "#8f9b8a",
}
"""sRGB of each kind."""
MOVER_COLOR = "#6a7fb8"
"""Of walls that move."""
OTHER_COLOR = "#a9668a"
"""Of kinds that only some library knows."""


def kind_color(kind: str) -> str:
    """The sRGB colour of a kind."""
    return KIND_COLORS.get(kind, OTHER_COLOR)


def obstacle_color(obstacle: Obstacle, moves: bool = False) -> str:
    """The sRGB colour of an obstacle: its own, else that of its kind; walls that move are set off."""
    return obstacle.color or (MOVER_COLOR if moves and obstacle.kind == WALL else kind_color(obstacle.kind))
