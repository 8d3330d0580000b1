"""Units, vertical axis and frame rate of a capture file, judged from the size and shape of the body."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.formats.raw import RawMotion, pose

_TOLERANCE = 5e-4
"""Relative tolerance of whole rates. Frame times have few digits (.0083333); 29.97 Hz is twice as far from whole."""


def whole_rate(rate: float) -> float:
    """Return the whole frame rate [Hz] that a rate stands for, or the rate itself if none is near."""
    whole = round(rate)
    return float(whole) if whole and abs(rate - whole) < _TOLERANCE * whole else rate


UNITS: Mapping[str, float] = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "cmu": 0.0254 / 0.45}
"""Metres in one unit. "cmu" is 1/0.45 inch, the unit of the CMU captures and of their conversions."""
_TYPICAL_LEG = 0.85
_PLAUSIBLE_LEG = (0.55, 1.2)
"""Typical length of thigh and shank of an adult [m], and the plausible range (from children of ten to very tall
people)."""
_TYPICAL_SIZE = 1.5
"""Greatest extent [m] of an animal or thing for which no leg is known."""


def metres_per_unit(unit: str | float) -> float:
    """Return the factor of a unit given by name or as metres.

    Raises:
        GaitwayError: for a name that is not in UNITS or a factor that is not above zero.
    """
    if isinstance(unit, str):
        if unit not in UNITS:
            raise GaitwayError(
                f"unit '{unit}' is not known; use one of {', '.join(UNITS)} or metres per unit as a number"
            )
        return UNITS[unit]
    if not (math.isfinite(unit) and 1e-9 <= unit <= 1e9):
        raise GaitwayError(f"unit={unit} must be the metres in one unit of the file, for example 0.01")
    return float(unit)


def unit_name(factor: float) -> str:
    """Return the name of a factor, or the factor itself with its unit."""
    return next((name for name, value in UNITS.items() if math.isclose(value, factor, rel_tol=1e-4)), f"{factor:g} m")


def leg_length(parents: IntArray, offsets: FloatArray, roles: Mapping[str, int]) -> float | None:
    """Return the thigh plus shank in file units, mean of both sides; None where hips, knees or ankles are not known."""
    lengths = []
    for side in ("left", "right"):
        try:
            hip, ankle = roles[f"{side}_hip"], roles[f"{side}_ankle"]
        except KeyError:
            continue
        length, joint = 0.0, ankle
        while joint not in (hip, -1):
            length += float(np.linalg.norm(offsets[joint]))
            joint = int(parents[joint])
        if joint == hip and length > 0.0:
            lengths.append(length)
    return sum(lengths) / len(lengths) if lengths else None


def state_unit(raw: RawMotion, factor: float, source: str) -> None:
    """Accept the file's own statement of its unit [m], unless the legs would then not be of human length."""
    leg = leg_length(raw.parents, raw.offsets, raw.roles(raw.up or "y"))
    if leg is None or _PLAUSIBLE_LEG[0] <= leg * factor <= _PLAUSIBLE_LEG[1]:
        raw.metres_per_unit = factor
    else:
        raw.notes.append(f"{source}, but the leg would be {leg * factor:.3g} m long; the unit is judged by body size")


def detect_unit(raw: RawMotion, roles: Mapping[str, int]) -> tuple[float, str]:
    """Return the metres per file unit, and a sentence that says why."""
    leg = leg_length(raw.parents, raw.offsets, roles)
    if leg is not None:
        name = _nearest(leg, _TYPICAL_LEG, tuple(UNITS))
        metres = leg * UNITS[name]
        doubt = (
            "" if _PLAUSIBLE_LEG[0] <= metres <= _PLAUSIBLE_LEG[1] else ", which is not human; say unit= if you know it"
        )
        return UNITS[name], f"unit is {name} ({UNITS[name]:.6g} m): the leg is then {metres:.2f} m long{doubt}"
    size = float(np.ptp(raw.rest_positions(), axis=0).max())
    if size <= 0.0:
        return 1.0, "unit is taken as m: the figure has no size to judge by; say unit= if it is another"
    name = _nearest(size, _TYPICAL_SIZE, ("m", "cm", "mm"))
    return UNITS[name], (
        f"unit is taken as {name}: no human legs were found, and the whole is then {size * UNITS[name]:.2f} m in size; "
        "say unit= if it is another"
    )


def _nearest(length: float, typical: float, names: tuple[str, ...]) -> str:
    return min(names, key=lambda name: abs(math.log(length * UNITS[name] / typical)))


def stands_along_z(raw: RawMotion, roles: Mapping[str, int]) -> bool:
    """Return whether a file has Z up: its rest pose stands along +Z, and the motion does not stand along +Y instead."""
    top, bottom = roles.get("head", roles.get("neck", roles.get("chest"))), roles.get("hips")
    if top is None or bottom is None or top == bottom:
        return False
    rest = raw.rest_positions()
    if not _points_along(rest[top] - rest[bottom], 2):
        return False
    frames = np.unique(np.linspace(0, len(raw.roots) - 1, 16).astype(int))
    positions = pose(raw.parents, raw.offsets, raw.rotations[frames])[0]
    return not _points_along((positions[:, top] - positions[:, bottom]).mean(axis=0), 1)


def _points_along(direction: FloatArray, axis: int) -> bool:
    length = float(np.linalg.norm(direction))
    return length > 0.0 and float(direction[axis]) > 0.8 * length
