"""Characters in a plan: their starts, headings, goals and groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray
from gaitway.render.plan.canvas import Canvas, mixed
from gaitway.render.raster.colors import from_oklch, to_hex

if TYPE_CHECKING:
    from gaitway.scene import Character

_INK, _HALO = "#2f3338", "#fdfcfa"
_FEW = 16
"""Largest number of characters that have links, names and colours of their own."""
_MANY = 400
"""Number of characters above which starts are plain dots."""


def group_of(name: str) -> str:
    """Return the name without its number: "crowd-07" belongs to "crowd"."""
    return re.sub(r"[-_ .]*\d+$", "", name) or name


def group_colors(characters: Sequence[Character]) -> dict[str, str]:
    """Return colours by group, or by character if there are few; the same names give the same colours."""
    names = [character.name for character in characters]
    groups = list(dict.fromkeys(group_of(n) for n in names))
    if len(groups) == 1 and 1 < len(names) <= _FEW:
        groups = names
    hues = {group: (25.0 + 137.508 * i) % 360.0 for i, group in enumerate(groups)}
    return {group: to_hex(from_oklch(0.60, 0.13, hue)) for group, hue in hues.items()}


def draw_people(canvas: Canvas, characters: Sequence[Character]) -> dict[str, str]:
    """Draw links, goals and starts; returns the colour of each group or character."""
    colors = group_colors(characters)
    inks = [colors.get(c.name, colors.get(group_of(c.name), _INK)) for c in characters]
    few = len(characters) <= _FEW
    if few:
        for character, ink in zip(characters, inks, strict=True):
            canvas.line([character.start[:2], character.goal[:2]], (ink, 0.4), 1.0, 7.0)
    shared = _on_starts(characters)
    for character, ink, wide in zip(characters, inks, shared, strict=True):
        if not character.errands:
            _draw_goal(canvas, character, ink, len(characters), wide)
    for character, ink in zip(characters, inks, strict=True):
        _draw_start(canvas, character, ink, len(characters))
    if few:
        alone = [group_of(c.name) == c.name for c in characters]
        for character, ink in (
            pair for pair, named in zip(zip(characters, inks, strict=True), alone, strict=True) if named
        ):
            size, gap = 14.0, 4.0 + max(0.3 * canvas.scale, 4.0)
            canvas.wish(character.name, character.start[:2], size, mixed(ink, _INK, 0.45), gap, _HALO)
    return colors


def marker_radius(canvas: Canvas, radius: float, count: int) -> float:
    """Return the radius of a character's disc [px]: its true size, unless that is too small to see."""
    return max(radius * canvas.scale, 5.0 if count <= _FEW else 3.2 if count <= _MANY else 1.6)


def _draw_start(canvas: Canvas, character: Character, ink: str, count: int) -> None:
    """Draw a disc of the character's radius with a nose in the direction it faces."""
    radius = marker_radius(canvas, character.radius, count)
    place, heading = np.asarray(character.start[:2]), float(character.start[2])
    if count > _MANY:
        canvas.disc(place, radius, ink)
        return
    ahead = np.array([np.cos(heading), np.sin(heading)])
    canvas.arrow_head(place + ahead * 2.0 * radius / canvas.scale, heading, 1.5 * radius, ink)
    canvas.disc(place, radius, ink, _HALO, 1.0)


def _on_starts(characters: Sequence[Character]) -> BoolArray:
    """Return which characters have a goal where a character starts; (N,)."""
    if not characters:
        return np.zeros(0, dtype=np.bool_)
    starts = scipy.spatial.cKDTree([c.start[:2] for c in characters])
    nearest, _ = starts.query([c.goal[:2] for c in characters])
    return np.asarray(nearest < [c.radius for c in characters])


def _draw_goal(canvas: Canvas, character: Character, ink: str, count: int, wide: bool) -> None:
    """Draw a ring with a dot, and a tick in the direction asked for; wide enough to be seen around a start."""
    radius = marker_radius(canvas, character.radius, count) * (1.7 if wide else 1.0)
    place = np.asarray(character.goal[:2])
    if count > _MANY:
        canvas.disc(place, radius, None, (ink, 0.8), 0.6)
        return
    canvas.disc(place, radius, (_HALO, 0.8), ink, max(1.1, 0.16 * radius))
    if radius > 4.5:
        canvas.disc(place, 0.34 * radius, ink)
    if getattr(character, "goal_heading", None) is not None:
        heading = float(character.goal_heading)  # type: ignore[arg-type]
        ahead = np.array([np.cos(heading), np.sin(heading)])
        canvas.arrow_head(place + ahead * 1.9 * radius / canvas.scale, heading, 0.9 * radius, ink)
