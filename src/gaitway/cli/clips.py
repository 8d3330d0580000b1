"""`gaitway clip`: look at motion files and convert them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gaitway.cli.show import Json, check_output, progress, rounded, say, show_facts
from gaitway.core.errors import GaitwayError

if TYPE_CHECKING:
    from gaitway.motion import Clip
    from gaitway.motion.formats import LoadReport

clip_app = typer.Typer(help="Look at motion files and convert them.", no_args_is_help=True)

Unit = Annotated[str | None, typer.Option(help="The file's unit: m, cm, mm, inch, cmu, or metres; judged if left out.")]
Up = Annotated[str | None, typer.Option(help="The file's vertical axis: x, y or z; judged if left out.")]
KeepTpose = Annotated[bool, typer.Option("--keep-tpose", help="Keep a converter's T-pose in the first frame.")]
Asf = Annotated[Path | None, typer.Option(help="Skeleton of an .amc file, if it is not beside it.")]


@clip_app.command("info")
def clip_info(
    file: Annotated[Path, typer.Argument(help="A .bvh, .amc (with its .asf), .gltf or .glb file.")],
    unit: Unit = None,
    up: Up = None,
    keep_tpose: KeepTpose = False,
    asf: Asf = None,
    as_json: Json = False,
) -> None:
    """Print what a motion file holds: rate, length, joints, roles, size."""
    import numpy as np

    from gaitway.core import rotations
    from gaitway.motion.roles import ALL_ROLES

    clip, report = _load(file, unit, up, keep_tpose, asf)
    positions, turned = clip.joint_transforms()
    ends = [positions[:, j] + rotations.rotate(turned[:, j], np.array(tip)) for j, tip in clip.skeleton.tips.items()]
    heights = np.concatenate([positions[..., 2], *(end[:, 2:] for end in ends)], axis=1)
    path = clip.planar_path()
    facts: dict[str, object] = {
        "file": str(file),
        "frames": len(clip),
        "fps": round(clip.fps, 6),
        "duration_s": round(clip.duration, 4),
        "joints": len(clip.skeleton),
        "unit": report.unit,
        "up": report.up,
        "dropped_tpose": report.dropped_tpose,
        "height_m": round(float(np.median(np.ptp(heights, axis=1))), 3),
        "path_m": round(float(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).sum()), 3),
        "turn_deg": rounded(np.degrees(path[-1, 2] - path[0, 2]), 1),
        "roles_missing": [r for r in ALL_ROLES if r not in clip.skeleton.roles],
        "joint_names": list(clip.skeleton.names),
    }
    show_facts(facts, as_json)


@clip_app.command("draw")
def clip_draw(
    files: Annotated[list[Path], typer.Argument(help="Motion files, one row each.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="A .png strip, or a .mp4 or .webp film.")],
    unit: Unit = None,
    up: Up = None,
    keep_tpose: KeepTpose = False,
    asf: Asf = None,
    columns: Annotated[int, typer.Option(min=1, max=60, help="Figures in a row of the strip.")] = 12,
    view: Annotated[
        str | None,
        typer.Option(
            help="side, front, three-quarter, back, top, or degrees from the front; a strip is seen from the "
            "side and a film from three-quarter if left out."
        ),
    ] = None,
) -> None:
    """Draw motion files as a film strip or as a film."""
    from gaitway.render import Shot, film, filmstrip

    check_output(output, ".png", ".mp4", ".webp")
    strip = output.suffix.lower() == ".png"
    seen_from = _view(view or ("side" if strip else "three-quarter"))
    clips = [_load(file, unit, up, keep_tpose, asf)[0] for file in files]
    with progress(f"drawing {output.name}") as show:
        if strip:
            filmstrip(clips, output, columns=columns, view=seen_from)
        else:
            film(clips, output, Shot(view=seen_from), progress=show)
    say(f"wrote {output}")


@clip_app.command("convert")
def clip_convert(
    source: Annotated[Path, typer.Argument(help="File to read.")],
    target: Annotated[Path, typer.Argument(help="File to write; its ending chooses the format.")],
    unit: Unit = None,
    up: Up = None,
    keep_tpose: KeepTpose = False,
    asf: Asf = None,
    fps: Annotated[float | None, typer.Option(min=1.0, max=1000.0, help="Resample to this rate.")] = None,
) -> None:
    """Read one motion file and write it in another format."""
    from gaitway.motion.formats import save_clip

    check_output(target, ".bvh", ".glb")
    clip, _ = _load(source, unit, up, keep_tpose, asf, fps)
    save_clip(clip, target)
    say(f"wrote {target}: {len(clip)} frames at {clip.fps:g} Hz")


def _load(
    file: Path, unit: str | None, up: str | None, keep_tpose: bool, asf: Path | None, fps: float | None = None
) -> tuple[Clip, LoadReport]:
    from gaitway.motion.formats import load_clip_with_report

    wanted = _number_or_word(unit)
    return load_clip_with_report(file, unit=wanted, up=up, keep_tpose=keep_tpose, asf=asf, fps=fps)


def _number_or_word(text: str | None) -> str | float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _view(text: str) -> str | float:
    from gaitway.render.film.shot import VIEWS

    value = _number_or_word(text)
    if isinstance(value, float) and math.isfinite(value):
        return math.radians(value)
    if value in VIEWS:
        return text
    raise GaitwayError(f"--view '{text}': write {', '.join(VIEWS)} or degrees from the front")
