"""Models of the ground."""

from __future__ import annotations

from pydantic import model_validator

from gaitway.scene.fields import HIGHEST, LONGEST, FileName, Point, SceneItem, field, height_field, wrong


class HillsItem(SceneItem):
    """Smooth random hills."""

    height: float = height_field("From the deepest valley to the highest top", example=1.5)
    wavelength: float = field("Typical distance from one hill to the next", unit="m", ge=0.5, le=LONGEST, example=12)
    seed: int = field("Which hills", 0, ge=0, le=2**32 - 1)
    cell: float = field("Distance between neighbouring heights", 0.5, unit="m", ge=0.01, le=100.0)


class TerrainItem(SceneItem):
    """Ground that is not level: heights from a file, or hills."""

    heights: FileName | None = field(
        "PNG (grey 0 to 1) or NPY (metres) file, relative to this file", None, example="hills.png"
    )
    cell: float | None = field(
        "Distance between neighbouring heights of the file", None, unit="m", ge=0.01, le=1000.0, example=0.25
    )
    scale: float | None = field(
        "Height of white [m] for PNG, factor for NPY; 1 where nothing is written",
        None,
        ge=-HIGHEST,
        le=HIGHEST,
        example=2.0,
    )
    origin: Point | None = field("Corner of least x and y; [0, 0] where nothing is written", None, unit="m")
    hills: HillsItem | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> TerrainItem:
        if (self.heights is None) == (self.hills is None):
            both = self.hills is not None
            raise wrong(
                "has both heights and hills" if both else "has no heights", "heights: FILE and cell, or hills: {...}"
            )
        if self.heights is not None and self.cell is None:
            raise wrong("has no cell", "cell: the distance between neighbouring heights in metres")
        if self.hills is not None and (self.cell, self.scale, self.origin) != (None, None, None):
            raise wrong("has cell, scale or origin beside hills", "hills: {height, wavelength, seed, cell} alone")
        return self
