"""Colours: conversions between sRGB, linear RGB and OKLCH, and the colours of kinds of obstacle."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.world.obstacle import PASSABLE, WALKABLE, WALL, Obstacle

KIND_COLORS: Mapping[str, str] = {
    WALL: "#c6c1b7",
    PASSABLE: "#d9ddd3",
    "jump": "#c8794a",
    "duck": "#5f86b3",
    "crawl": "#8573ae",
    "climb": "#b08d3e",
    "box": "#b08d3e",
    "stairs": "#8f9b8a",
    "platform": "#bdb8ad",
    "bridge": "#b4b9c2",
    "ramp": "#b9b2a0",
    WALKABLE: "#c3bdb0",
}
"""sRGB colour of each kind of obstacle."""
MOVER_COLOR = "#6a7fb8"
"""sRGB colour of walls that move."""
OTHER_COLOR = "#a9668a"
"""sRGB colour of kinds that only some libraries know."""


def kind_color(kind: str) -> str:
    """Return the sRGB colour of a kind of obstacle."""
    return KIND_COLORS.get(kind, OTHER_COLOR)


def obstacle_color(obstacle: Obstacle, moves: bool = False) -> str:
    """Return the sRGB colour of an obstacle: its own, or that of its kind; walls that move have another colour."""
    return obstacle.color or (MOVER_COLOR if moves and obstacle.kind == WALL else kind_color(obstacle.kind))


def from_hex(text: str) -> FloatArray:
    """Return linear RGB (3,) of an sRGB colour such as "#8fa3b0"."""
    digits = text.removeprefix("#")
    try:
        if len(digits) != 6:
            raise ValueError
        coded = np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)]) / 255.0
    except ValueError:
        raise GaitwayError(f"colour '{text}' is not known; write six hexadecimal digits such as '#8fa3b0'") from None
    linear: FloatArray = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    return linear


def linear_color(color: str | npt.ArrayLike) -> FloatArray:
    """Return linear RGB (3,) of a hexadecimal sRGB colour, or of three linear numbers 0..1."""
    if isinstance(color, str):
        return from_hex(color)
    numbers = np.asarray(color, dtype=np.float64)
    if numbers.shape != (3,) or not np.isfinite(numbers).all() or numbers.min() < 0.0 or numbers.max() > 1.0:
        raise GaitwayError(f"colour {color!r} is not known; write '#8fa3b0' or three numbers from 0 to 1")
    return numbers


def from_oklch(lightness: float, chroma: float, hue_deg: float) -> FloatArray:
    """Return linear RGB (3,) of an OKLCH colour (Ottosson 2020), clipped to what a screen can show."""
    hue = np.radians(hue_deg)
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    cones = (
        np.array(
            [
                lightness + 0.3963377774 * a + 0.2158037573 * b,
                lightness - 0.1055613458 * a - 0.0638541728 * b,
                lightness - 0.0894841775 * a - 1.2914855480 * b,
            ]
        )
        ** 3
    )
    to_rgb = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    linear: FloatArray = np.clip(to_rgb @ cones, 0.0, 1.0)
    return linear


def to_hex(linear: npt.ArrayLike) -> str:
    """Return the sRGB colour, such as "#8fa3b0", of linear RGB (3,)."""
    value = np.clip(np.asarray(linear, dtype=np.float64), 0.0, 1.0)
    coded = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1.0 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255.0 * c):02x}" for c in coded.tolist())
