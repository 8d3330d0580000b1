"""Takes as USD: UsdSkel characters in their world, for Houdini, Unreal, Omniverse, usdview and others."""

from __future__ import annotations

from pathlib import Path

from gaitway.core.errors import FormatError, MissingExtraError
from gaitway.core.files import check_writable
from gaitway.core.progress import Progress, silent
from gaitway.take.data import checked_rate
from gaitway.take.model import Take
from gaitway.world.world import World

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


def export_usd(
    take: Take,
    path: str | Path,
    world: World | None = None,
    fps: float | None = None,
    *,
    progress: Progress = silent,
) -> None:
    """Write a take as USD, in metres, Z up, with one time code a frame; time code 0 is time 0.

    Bodies, skeletons and materials are written once for each kind of body and referenced by the characters, so a
    crowd costs little more than its rotations. A character that comes late or leaves is invisible while it is not
    there. Where a character is, is on its prim (`xformOp:translate`), its pose is in its `SkelAnimation`.

    Args:
        take: what to write.
        path: the file: .usdc (or .usd) is binary, .usda text (some four times as large), .usdz one package for phones.
        world: the place, if it is to be in the file: ground, obstacles and movers.
        fps: frames a second [Hz]; the take's own if None.
        progress: called with the number of characters that are done.

    Raises:
        FormatError: for another ending, or if the file cannot be written.
        MissingExtraError: if the package usd-core is not installed.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise FormatError(path, f"a USD file ends in {', '.join(SUFFIXES)}, not in '{path.suffix}'")
    check_writable(path)
    try:
        from gaitway.export import usd_stage  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as problem:
        if problem.name != "pxr":
            raise
        raise MissingExtraError("writing USD", "usd") from None
    usd_stage.write_stage(take, path, world, take.fps if fps is None else checked_rate(fps), progress)
