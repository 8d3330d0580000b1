"""Colours of figures: muted, even in lightness, and different for every person of a crowd."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.render.raster.colors import from_oklch

TONES = (
    "top", "top_left", "top_right", "bottom", "bottom_left", "bottom_right",
    "skin", "skin_left", "skin_right", "hair", "shoe", "shoe_left", "shoe_right", "accent", "eye", "mouth",
)  # fmt: skip
"""Names of the colours that the parts of a body refer to."""

Palette = FloatArray
"""Linear RGB of every tone; (len(TONES), 3)."""

_EYE = 0.012
_LIPS = np.array([0.78, 0.52, 0.50])
"""How much darker lips are than skin."""
_GOLDEN = 0.6180339887498949
_SKINS = ((0.80, 0.055, 62.0), (0.74, 0.065, 60.0), (0.66, 0.07, 56.0), (0.55, 0.065, 52.0), (0.46, 0.05, 50.0))
_HAIRS = ((0.28, 0.02, 55.0), (0.36, 0.045, 58.0), (0.24, 0.01, 60.0), (0.50, 0.06, 75.0), (0.58, 0.015, 80.0))


def palette(tones: Mapping[str, npt.ArrayLike]) -> Palette:
    """Return a palette of linear RGB by tone name; a missing sided tone takes the plain one, others a mid grey."""
    unknown = sorted(set(tones) - set(TONES))
    if unknown:
        raise GaitwayError(f"unknown tone '{unknown[0]}'; the tones are {', '.join(TONES)}")
    rows = np.full((len(TONES), 3), 0.25)
    rows[TONES.index("eye")] = _EYE
    for i, name in enumerate(TONES):
        plain = name.split("_")[0]
        if name in tones or plain in tones:
            rows[i] = np.asarray(tones.get(name, tones.get(plain)))
    if "mouth" not in tones:
        rows[TONES.index("mouth")] = rows[TONES.index("skin")] * _LIPS
    return rows


def person_palette(seed: int = 0, side_tint: float = 0.0) -> Palette:
    """Return clothes, skin and hair of one person of a crowd.

    Args:
        seed: which person; neighbours in number get hues far apart.
        side_tint: 0..1, how far left limbs turn warm and right limbs cool.
    """
    rng = np.random.default_rng(seed)
    hue = 85.0 + 280.0 * ((0.58 + _GOLDEN * seed) % 1.0)  # shirts in the hue of skin look like none
    top = from_oklch(rng.uniform(0.52, 0.76), rng.uniform(0.055, 0.095), hue)
    bottom = from_oklch(rng.uniform(0.32, 0.48), rng.uniform(0.015, 0.04), rng.choice([255.0, 265.0, 70.0, 90.0]))
    skin = from_oklch(*_SKINS[rng.integers(len(_SKINS))])
    shoe = from_oklch(rng.uniform(0.26, 0.42), 0.015, 60.0)
    hair = from_oklch(*_HAIRS[rng.integers(len(_HAIRS))])
    plain = {"top": top, "bottom": bottom, "skin": skin, "hair": hair, "shoe": shoe}
    return palette({**plain, "accent": bottom} | sided(plain, side_tint))


def study_palette(lightness: float = 0.0) -> Palette:
    """Return a palette for reading poses: neutral trunk, left limbs terracotta, right limbs slate blue.

    Args:
        lightness: 0..1, how far all colours fade towards the backdrop (for figures early in time).
    """
    plain = {
        "top": from_oklch(0.80, 0.012, 80.0),
        "bottom": from_oklch(0.68, 0.014, 80.0),
        "skin": from_oklch(0.80, 0.035, 65.0),
        "hair": from_oklch(0.42, 0.02, 60.0),
        "accent": from_oklch(0.55, 0.02, 80.0),
    }
    left, right = (0.105, 40.0), (0.07, 248.0)
    tones = dict(plain)
    for side, (chroma, hue) in (("left", left), ("right", right)):
        tones[f"top_{side}"] = from_oklch(0.66, chroma, hue)
        tones[f"bottom_{side}"] = from_oklch(0.56, chroma, hue)
        tones[f"skin_{side}"] = from_oklch(0.74, 0.6 * chroma, hue)
        tones[f"shoe_{side}"] = from_oklch(0.40, 0.6 * chroma, hue)
    rows = palette(tones)
    return rows + (from_oklch(0.93, 0.005, 90.0) - rows) * lightness


def sided(plain: Mapping[str, FloatArray], amount: float) -> dict[str, FloatArray]:
    """Return left and right variants of tones: warm and cool by `amount` 0..1."""
    warm, cool = from_oklch(0.62, 0.14, 40.0), from_oklch(0.58, 0.10, 245.0)
    out = {}
    for name in ("top", "bottom", "skin", "shoe"):
        for side, goal in (("left", warm), ("right", cool)):
            share = amount * (0.35 if name == "skin" else 0.7)
            out[f"{name}_{side}"] = plain[name] + share * (goal * (0.4 + plain[name].mean()) - plain[name])
    return out
