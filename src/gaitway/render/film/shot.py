"""Shots: how a still, a strip or a film shows clips or a take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.drawables import Label, Paint, Solid
from gaitway.render.raster.picture import Lighting

CAMERAS = ("auto", "overview", "top", "follow", "orbit")
"""Names of cameras: see `Shot.camera`."""
CUTAWAY = 1.2
"""Usual height above the ground at which obstacles are cut off in films [m]."""
VIEWS = {"side": -90.0, "front": 0.0, "three-quarter": -45.0, "back": 180.0, "top": -90.0}
"""Bearing of the camera [deg] seen from a character that faces +X."""
MOST_LABELS = 60
"""Largest number of characters that are labelled when all names are asked for; more could not be read."""
_HEAD_ROOM = 0.3
"""Distance of a name above the highest joint [m]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Shot:
    """How a picture or film is taken. Fields that are None take what suits the call."""

    camera: str | Camera | None = None
    """"auto" keeps everybody who moves in the picture, from eye level or above, where obstacles hide them least; it
    stands still if it can. "overview" stands still and sees the whole place or path, "top" looks straight down on it,
    "follow" moves with the characters, "orbit" circles them. Or your own camera, which stands still. None: an overview
    of a take in a world, else follow."""
    who: Sequence[str] | None = None
    """Names of the characters that the camera follows; None follows all."""
    view: str | float | None = None
    """Bearing of the camera seen from the characters: one of `VIEWS`, or a number [rad] (0 stands on +X)."""
    elevation: float | None = None
    """Angle of the camera above the horizon [rad]."""
    size: tuple[int, int] | None = None
    """Width and height of each picture [px]; an MP4 film rounds down to even numbers."""
    samples: int | None = None
    """Samples in each pixel: 1, 4, 8 or 16."""
    lighting: Lighting | None = None
    """Light, floor and backdrop."""
    trails: float | bool = 0.0
    """Length of the path that characters leave behind them on the ground [s]; inf (or True) draws all of it."""
    labels: bool | Sequence[str] = False
    """Whether names are written over heads: of all characters (if they are at most `MOST_LABELS`), or of these."""
    notes: Sequence[Label] = ()
    """Words at points of the world."""
    obstacles: Sequence[Solid] = ()
    """Solids that are there all the time, besides those of a world (see `scenery.solid_of`)."""
    paint: Sequence[Paint] = ()
    """Trails and marks that are on the floor all the time."""
    cutaway: float | None = None
    """Height above the ground at which obstacles of a world are cut off [m], to see into rooms; None cuts nothing.
    Special obstacles, which characters jump over or crawl under, and movers stay whole."""

    def __post_init__(self) -> None:
        if isinstance(self.camera, str) and self.camera not in CAMERAS:
            raise GaitwayError(f"camera '{self.camera}' is not known; write {', '.join(CAMERAS)}, or give a Camera")
        if self.view is not None:
            bearing(self.view)

    @property
    def trail_seconds(self) -> float:
        """Length of the trails [s]."""
        return np.inf if self.trails is True else float(self.trails)

    def names(self) -> Sequence[str] | None:
        """Return the names that are written over heads; None is all."""
        return None if self.labels is True else self.labels or ()


def named_camera(words: str, own: Camera | None = None) -> tuple[str | Camera, list[str] | None]:
    """Return the camera that words ask for, and whom it shows.

    Args:
        words: "auto", "overview", "top", "orbit", "follow", "follow NAME" or "scene".
        own: the scene's own camera, which "scene" is.

    Returns:
        `Shot.camera` and `Shot.who`.

    Raises:
        GaitwayError: for other words, or for "scene" if there is no such camera.
    """
    kind, _, name = words.strip().partition(" ")
    if kind == "scene" and not name:
        if own is None:
            raise GaitwayError("camera 'scene': the scene has no camera; write camera: {eye: ..., target: ...} into it")
        return own, None
    if kind not in CAMERAS or (name.strip() and kind != "follow"):
        raise GaitwayError(
            f"camera '{words}' is not known; write auto, overview, top, orbit, follow, 'follow NAME', or scene"
        )
    return kind, [name.strip()] if name.strip() else None


def bearing(view: str | float) -> float:
    """Return the bearing of the camera [rad] of a named view, or the number itself.

    Raises:
        GaitwayError: for an unknown name.
    """
    if isinstance(view, str):
        if view not in VIEWS:
            raise GaitwayError(f"view '{view}' is not known; write {', '.join(VIEWS)} or a bearing in radians")
        return float(np.radians(VIEWS[view]))
    return float(view)


def name_label(name: str, positions: FloatArray) -> Label:
    """Return a character's name over its head.

    Args:
        name: the name.
        positions: joints of the character, the root first [m]; (J, 3).
    """
    x, y = (float(v) for v in positions[0, :2])
    return Label(name, (x, y, float(positions[:, 2].max()) + _HEAD_ROOM), anchor="ms", halo="#f6f6f4")


def trail_color(shirt: FloatArray) -> tuple[float, float, float]:
    """Return the colour of a trail: a little deeper than the shirt; linear RGB."""
    red, green, blue = (float(v) for v in 0.8 * shirt)
    return red, green, blue


FILM_SHOT = Shot(camera="auto", cutaway=CUTAWAY)
"""How a film of a take is shot unless it is said otherwise."""
