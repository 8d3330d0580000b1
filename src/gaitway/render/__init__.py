"""Pictures and film without a screen."""

from gaitway.render.body import BodyPart, BodyShape
from gaitway.render.camera import Camera
from gaitway.render.movies import contact_sheet, film
from gaitway.render.picture import Studio, render_frame
from gaitway.render.stills import still, top_view, turntable
from gaitway.render.strips import filmstrip
from gaitway.render.things import Figure, Label, Mark, Patch, Solid, Trail, figures_of

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
