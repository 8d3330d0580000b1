"""Takes as pictures."""

from __future__ import annotations

from pathlib import Path

from gaitway.core.files import check_writable
from gaitway.render.film.shot import Shot
from gaitway.render.film.takes import take_still, take_strip
from gaitway.take.model import Take
from gaitway.world.world import World


def export_picture(
    take: Take,
    path: str | Path,
    world: World | None = None,
    *,
    time: float | None = None,
    shot: Shot | None = None,
) -> None:
    """Write one moment of a take as a PNG, or eight moments from its beginning to its end.

    Args:
        take: the take.
        path: name of the file.
        world: the world of the take; None is an empty floor.
        time: the moment [s]; None draws eight moments in rows.
        shot: camera, size, light, trails, labels and more.
    """
    check_writable(path)
    if time is None:
        take_strip(take, 8, path, shot, world=world)
    else:
        take_still(take, time, path, shot, world=world)
