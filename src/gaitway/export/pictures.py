"""Takes as pictures, as the command line asks for them."""

from __future__ import annotations

from pathlib import Path

from gaitway.core.files import check_writable
from gaitway.render.film.take_film import take_still, take_strip
from gaitway.take.model import Take
from gaitway.world.world import World


def export_picture(
    take: Take,
    path: str | Path,
    world: World | None = None,
    *,
    time: float | None = None,
    camera: str | None = None,
    trails: float = 0.0,
    labels: bool = False,
    cutaway: float | None = None,
) -> None:
    """Write one moment of a take as a PNG, or eight moments from its beginning to its end.

    Args:
        take: what happens.
        path: the file.
        world: where it happens.
        time: the moment [s]; None for eight of them in rows.
        camera: "overview" or "follow"; None follows where there is no world.
        trails: seconds of their way that people leave behind them.
        labels: write names over heads.
        cutaway: height at which things are cut off [m]; None cuts nothing.
    """
    check_writable(path)
    if time is None:
        take_strip(take, 8, path, world=world, camera=camera, trails=trails, labels=labels, cutaway=cutaway)
    else:
        take_still(take, time, path, world=world, camera=camera, trails=trails, labels=labels, cutaway=cutaway)
