"""Capture files in and out: the one border where units and axes change."""

from __future__ import annotations

from pathlib import Path

from gaitway.core.errors import FormatError, GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample
from gaitway.motion.formats.amc import read_amc
from gaitway.motion.formats.assemble import LoadOptions, LoadReport, assemble
from gaitway.motion.formats.bvh import read_bvh
from gaitway.motion.formats.bvh_writer import write_bvh
from gaitway.motion.formats.glb_writer import write_glb
from gaitway.motion.formats.gltf import read_gltf
from gaitway.motion.formats.raw import UP_AXES, RawMotion
from gaitway.motion.formats.source import MAX_FPS, MAX_VALUES
from gaitway.motion.formats.units import metres_per_unit

__all__ = ["LoadReport", "load_clip", "load_clip_with_report", "save_clip"]


def load_clip(
    path: str | Path,
    *,
    unit: str | float | None = None,
    fps: float | None = None,
    up: str | None = None,
    keep_tpose: bool = False,
    file_fps: float | None = None,
    asf: str | Path | None = None,
    animation: int | str = 0,
) -> Clip:
    """Return the motion from a capture file: BVH, Acclaim AMC with its ASF, or glTF.

    What was detected or repaired (unit, T-pose, counts that lie) is logged to the logger "gaitway" at level INFO;
    `load_clip_with_report` returns it.

    Args:
        path: the file; its ending picks the reader.
        unit: the file's unit of length: "m", "cm", "mm", "inch", "cmu" or metres per unit; None judges by body size.
        fps: rate that the clip shall have [Hz]; None keeps the file's own. Frames in between are interpolated (slerp)
            and nothing is filtered, so a lower rate keeps jitter that is faster than it can show; smooth that before.
        up: the file's vertical axis, "x", "y" or "z"; None judges by the format and the rest pose.
        keep_tpose: keep a first frame that is a converter's T-pose.
        file_fps: the file's true rate [Hz], where its header lies or is silent; for glTF the rate of sampling.
        asf: skeleton file of an AMC motion, where it does not lie beside it under a fitting name.
        animation: number or name of the animation in a glTF file.

    Raises:
        FormatError: for a file that cannot be read, with its line.
        GaitwayError: for an argument that makes no sense.
    """
    return load_clip_with_report(
        path, unit=unit, fps=fps, up=up, keep_tpose=keep_tpose, file_fps=file_fps, asf=asf, animation=animation
    )[0]


def load_clip_with_report(
    path: str | Path,
    *,
    unit: str | float | None = None,
    fps: float | None = None,
    up: str | None = None,
    keep_tpose: bool = False,
    file_fps: float | None = None,
    asf: str | Path | None = None,
    animation: int | str = 0,
) -> tuple[Clip, LoadReport]:
    """Load a clip as `load_clip` does, and return it with a report of what was decided about the file."""
    path = Path(path)
    for name, rate in (("fps", fps), ("file_fps", file_fps)):
        if rate is not None and not 0.0 < rate <= MAX_FPS:
            raise GaitwayError(f"{name}={rate} must be above 0 and at most {MAX_FPS:g} frames a second")
    raw = _read(path, file_fps, None if asf is None else Path(asf), animation)
    clip, report = assemble(path, raw, LoadOptions(unit, up, keep_tpose))
    report.log()
    if fps is None:
        return clip, report
    if clip.duration * fps * clip.rotations[0].size > MAX_VALUES:
        raise GaitwayError(f"fps={fps:g} makes more than {MAX_VALUES} numbers of {path}; ask for a lower rate")
    return resample(clip, fps), report


def _read(path: Path, file_fps: float | None, asf: Path | None, animation: int | str) -> RawMotion:
    match path.suffix.lower():
        case ".bvh":
            return read_bvh(path, file_fps)
        case ".amc":
            return read_amc(path, file_fps, asf)
        case ".glb" | ".gltf":
            return read_gltf(path, file_fps, animation)
        case ".asf":
            raise FormatError(path, "is a skeleton without motion; load the .amc file that goes with it")
        case other:
            kind = f"'{other}' is no known capture format" if other else "has no ending that names its format"
            raise FormatError(path, f"{kind}; expected .bvh, .amc, .glb or .gltf")


def save_clip(
    clip: Clip, path: str | Path, *, unit: str | float | None = None, up: str | None = None, euler_order: str = "zxy"
) -> None:
    """Write a clip to a file, whose ending picks the format: .bvh or .glb.

    The file appears under its name only when it is complete. A BVH has no rest pose, a GLB no tips of bones; neither
    has contacts or labels.

    Args:
        clip: the motion.
        path: the file; an existing one is replaced.
        unit: a BVH's unit of length: "m", "cm" (if None), "mm", "inch", "cmu" or metres per unit. A GLB is in metres.
        up: a BVH's vertical axis, "x", "y" (if None) or "z"; a figure that faces +X here faces +Z in a Y-up file.
            A GLB is Y up.
        euler_order: order in which a BVH's rotations multiply, three different axes. The middle one should turn
            least, since its angle is ambiguous at 90 degrees; "zxy" suits an upright body in a Y-up file.

    Raises:
        FormatError: for another ending, or if the file cannot be written.
        GaitwayError: for an argument that makes no sense.
    """
    path = Path(path)
    match path.suffix.lower():
        case ".bvh":
            if up is not None and up not in UP_AXES:
                raise GaitwayError(f"up='{up}' must be one of {', '.join(UP_AXES)}")
            if sorted(euler_order.lower()) != ["x", "y", "z"]:
                raise GaitwayError(f"euler_order='{euler_order}' must name each of x, y, z once")
            factor = metres_per_unit("cm" if unit is None else unit)
            write_bvh(clip, path, metres_per_unit=factor, up=up or "y", euler_order=euler_order.lower())
        case ".glb":
            if unit not in (None, "m", 1.0) or up not in (None, "y"):
                raise GaitwayError(f"a GLB is in metres and Y up; unit={unit!r} and up={up!r} are not possible")
            write_glb(clip, path)
        case other:
            raise FormatError(path, f"clips are written as .bvh or .glb, not '{other}'")
