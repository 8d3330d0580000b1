"""Takes as pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gaitway.core.errors import GaitwayError
from gaitway.core.files import check_writable
from gaitway.render.film.shot import FILM_SHOT, Shot
from gaitway.render.film.takes import checked_time, take_still, take_strip
from gaitway.take.model import Take
from gaitway.world.world import World


def export_picture(
    take: Take,
    path: str | Path,
    world: World | None = None,
    *,
    time: float | None = None,
    start: float = 0.0,
    end: float | None = None,
    shot: Shot | None = None,
) -> None:
    """Write one moment of a take as a PNG, or eight moments in rows.

    Args:
        take: the take.
        path: name of the file.
        world: the world of the take; None is an empty floor.
        time: the moment [s]; None draws eight moments.
        start: the first of the eight [s].
        end: the last of them [s]; None is the end of the take.
        shot: camera, size, light, trails, labels and more. None takes that of films: an automatic camera, and obstacles
            cut off at 1.2 m.
    """
    check_writable(path)
    shot = shot or FILM_SHOT
    if time is None:
        last = take.duration if end is None else end
        if not 0.0 <= start <= last:
            raise GaitwayError(f"pictures from {start:g} s to {last:g} s; the take lasts {take.duration:.2f} s")
        take_strip(take, np.linspace(checked_time(start), checked_time(last), 8), path, shot, world=world)
    else:
        take_still(take, time, path, shot, world=world)
