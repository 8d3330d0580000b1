"""Pictures and film without a screen."""

from gaitway.render.bodies.body import BodyPart, BodyShape
from gaitway.render.film.movies import contact_sheet, film
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.picture import Studio, render_frame
from gaitway.render.raster.things import Figure, Label, Mark, Patch, Solid, Trail, figures_of
from gaitway.render.sheets.stills import still, top_view, turntable
from gaitway.render.sheets.strips import filmstrip

__all__ = [
    "BodyPart",
    "BodyShape",
    "Camera",
    "Figure",
    "Label",
    "Mark",
    "Patch",
    "Solid",
    "Studio",
    "Trail",
    "contact_sheet",
    "figures_of",
    "film",
    "filmstrip",
    "render_frame",
    "still",
    "top_view",
    "turntable",
]
