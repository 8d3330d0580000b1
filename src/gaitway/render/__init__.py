"""Pictures and films without a screen."""

from gaitway.render.bodies.body import BodyPart, BodyShape
from gaitway.render.bodies.figures import Figure, figures_of, render_frame
from gaitway.render.film.clips import film, still
from gaitway.render.film.shot import Shot
from gaitway.render.film.takes import take_film, take_still, take_strip
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.drawables import FloorMark, Label, Patch, Solid, Trail
from gaitway.render.raster.picture import Lighting
from gaitway.render.sheets.contact_sheet import contact_sheet, turntable
from gaitway.render.sheets.strips import filmstrip
from gaitway.render.sheets.top_view import top_view

__all__ = [
    "BodyPart",
    "BodyShape",
    "Camera",
    "Figure",
    "FloorMark",
    "Label",
    "Lighting",
    "Patch",
    "Shot",
    "Solid",
    "Trail",
    "contact_sheet",
    "figures_of",
    "film",
    "filmstrip",
    "render_frame",
    "still",
    "take_film",
    "take_still",
    "take_strip",
    "top_view",
    "turntable",
]
