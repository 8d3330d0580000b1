"""Light and colours of the page, so that it looks as gaitway's own pictures do.

The browser draws with a film curve (ACES, as three.js has it), which the software renderer does not have. Colours are
sent through the inverse of that curve, so that what is fully lit has the colour that the renderer gives it. The lights
are those of the renderer: a warm key, and a sky over a bounce from the ground.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import viser

from gaitway.core.arrays import FloatArray
from gaitway.render.raster.colors import from_hex

FLOOR, BACKDROP = "#d6d4cf", "#ecebe8"
"""sRGB colours of the floor where the sun shines, and of what is around it."""
SUN = (0.485, -0.62, 1.0)
"""Direction of the sun, seen from the ground: x and y for each metre of height; 52 degrees over the horizon."""
SHADE = 0.42
"""Share of the light that a shadow takes away."""
_KEY, _SKY, _BOUNCE = (0.86, 0.82, 0.76), (0.46, 0.49, 0.54), (0.24, 0.225, 0.21)
"""Linear light of the renderer: key, sky, and what the ground throws back."""
_FAR = 1_000.0
"""Distance of the sun [m]."""
# the curve of three.js (ACESFilmicToneMapping): a matrix, a ratio of two polynomials for each channel, a matrix
_EXPOSURE = 1.0 / 0.6
_INTO = np.array([[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]])
_OUT = np.array([[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]])
_A, _B, _C, _D, _E = 0.0245786, 0.000090537, 0.983729, 0.4329510, 0.238081


def film(light: npt.ArrayLike) -> FloatArray:
    """Return the linear RGB (..., 3) that a browser shows for some light (..., 3)."""
    v = np.asarray(light, dtype=np.float64) @ (_EXPOSURE * _INTO).T
    shown: FloatArray = ((v * (v + _A) - _B) / (v * (_C * v + _D) + _E)) @ _OUT.T
    return np.clip(shown, 0.0, 1.0)


def unfilmed(shown: npt.ArrayLike) -> FloatArray:
    """Return the light (..., 3) for which a browser shows linear RGB (..., 3), as far as there is such light."""
    y = np.asarray(shown, dtype=np.float64) @ np.linalg.inv(_OUT).T
    y = np.clip(y, 0.0, 0.98)  # the curve ends a little above
    a, b, c = 1.0 - _C * y, _A - _D * y, -(_B + _E * y)
    v = (-b + np.sqrt(b * b - 4.0 * a * c)) / (2.0 * a)
    light: FloatArray = v @ np.linalg.inv(_EXPOSURE * _INTO).T
    return np.maximum(light, 0.0)


def albedo(linear: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Return the colour (..., 3), sRGB bytes, of a surface that shows linear RGB (..., 3) where it is well lit."""
    light = np.clip(unfilmed(linear), 0.0, 1.0)
    return _bytes(light)


def surface_color(color: str, share: float = 1.0) -> tuple[int, int, int]:
    """Return the colour of a surface that shows an sRGB colour such as "#c6c1b7", or a share of its light."""
    r, g, b = albedo(share * from_hex(color)).tolist()
    return r, g, b


def copied_albedo(linear: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Return what `albedo` does for meshes that are drawn as copies (`batched_colors`).

    viser takes their bytes for linear light, and not for sRGB as everywhere else.
    """
    light = np.clip(unfilmed(linear), 0.0, 1.0)
    return np.round(255.0 * light).astype(np.uint8)


def copied_color(color: str, share: float = 1.0) -> tuple[int, int, int]:
    """Return what `surface_color` does, for meshes that are drawn as copies."""
    r, g, b = copied_albedo(share * from_hex(color)).tolist()
    return r, g, b


def add_lights(server: viser.ViserServer) -> None:
    """Light the page as the renderer lights its pictures."""
    scene = server.scene
    scene.configure_default_lights(False, cast_shadow=False)
    scene.configure_environment_map(None)
    sun = _FAR * np.array(SUN) / np.linalg.norm(SUN)
    x, y, z = sun.tolist()
    scene.add_light_directional("/light/sun", color=_color(_KEY), intensity=math.pi * max(_KEY), position=(x, y, z))
    scene.add_light_hemisphere(
        "/light/sky", sky_color=_color(_SKY, max(_SKY)), ground_color=_color(_BOUNCE, max(_SKY)),
        intensity=math.pi * max(_SKY), position=(0.0, 0.0, 1.0),
    )  # fmt: skip


def _color(linear: tuple[float, float, float], most: float | None = None) -> tuple[int, int, int]:
    r, g, b = _bytes(np.array(linear) / (max(linear) if most is None else most)).tolist()
    return r, g, b


def _bytes(linear: FloatArray) -> npt.NDArray[np.uint8]:
    coded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055)
    return np.clip(np.round(255.0 * coded), 0, 255).astype(np.uint8)
