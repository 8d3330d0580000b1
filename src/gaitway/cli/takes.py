"""`gaitway audit`, `gaitway correct`, `gaitway export` and `gaitway take`: what is done with a finished take."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gaitway.cli.show import Json, progress, remark, say, show_facts, show_json, show_rows
from gaitway.core.errors import GaitwayError, SkeletonError

if TYPE_CHECKING:
    from gaitway.audit import Report
    from gaitway.scene import Scene
    from gaitway.take import Take

take_app = typer.Typer(help="Look at takes.", no_args_is_help=True)

TakeFile = Annotated[
    Path, typer.Argument(help="A take (.npz), or a motion file (.bvh, .amc, .glb), which counts as a take of one.")
]
_FILMS: dict[str, Any] = {"rich_help_panel": "Films and pictures (mp4, webp, png)"}
SceneOption = Annotated[str | None, typer.Option("--scene", help="Scene file or ready scene: the place it plays in.")]


def audit(
    take: TakeFile,
    scene: Annotated[str | None, typer.Argument(help="The place it plays in: a scene file or a ready scene.")] = None,
    draw: Annotated[Path | None, typer.Option(help="Draw the worst frame of each violated row to this folder.")] = None,
    natural: Annotated[
        bool, typer.Option("--natural", help="Also measure whether characters move as people do.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check a take against its place: collisions, feet, continuity, joint limits, arrival; 1 on a violation."""
    from gaitway.audit import audit_take, draw_natural, draw_worst, natural_report

    performed, loaded = read_take(take), read_scene(scene)
    place = None if loaded is None else loaded.world
    doubts = other_place(performed, loaded)
    for doubt in doubts:
        remark(f"warning: {take.name}: {doubt}", "yellow")
    with progress("audit") as show:
        report = audit_take(performed, place, progress=show)
    measured = None
    if natural:
        with progress("naturalness") as show:
            told = () if loaded is None else [one.name for one in loaded.characters if one.speed != "normal"]
            measured = natural_report(performed, place, paced=told, progress=show)
    if as_json:
        natural_rows = {} if measured is None else {"natural": measured.as_dict()}
        show_json({**report.as_dict(), **natural_rows, "warnings": doubts})
    else:
        names = ("figure", "bar", "worst", "where", "verdict")
        rows: list[dict[str, object]] = [dict(zip(names, line, strict=True)) for line in report.table()]
        count = len(performed)
        show_rows(f"{take.name}: {count} character{'s' * (count != 1)}, {performed.duration:.4g} s", rows)
        say(counted_violations(report))
        if measured is not None:
            names = ("figure", "people", "here", "farthest from it", "verdict")
            rows = [dict(zip(names, line, strict=True)) for line in measured.table()]
            show_rows("as people move", rows)
            say(f"{len(measured.outside)} of {len(measured.rows)} figures are outside what people do")
    good = report.ok and (measured is None or measured.ok)
    if draw is not None and not good:
        with progress("drawing the worst frames"):
            pictures = draw_worst(report, performed, place, draw)
            pictures += [] if measured is None else draw_natural(measured, performed, place, draw)
        if not as_json:
            for picture in pictures:
                say(f"wrote {picture}")
    if not good:
        raise typer.Exit(1)


def correct(
    take: TakeFile,
    scene: Annotated[str, typer.Argument(help="The place it plays in: a scene file or a ready scene.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="The corrected take (.npz).")],
    margin: Annotated[float, typer.Option(min=0.0, max=0.5, help="Gap that arms are planned with, in metres.")] = 0.02,
    seed: Annotated[int, typer.Option(min=0, help="Other seed, other ways of the arms.")] = 0,
    exact: Annotated[bool, typer.Option("--exact", help="Compare carried things by exact triangles, too.")] = False,
    as_json: Json = False,
) -> None:
    """Plan arms anew that touch something, in time with everything else; 1 if some collision is left."""
    from gaitway.core.files import check_writable
    from gaitway.correcting import correct as correct_take
    from gaitway.limbs.planner import LimbPlanOptions
    from gaitway.take import save_take

    if output.suffix.lower() != ".npz":
        raise GaitwayError(f"{output}: a take is written as .npz; give it that ending")
    check_writable(output)
    performed, loaded = read_take(take), read_scene(scene)
    assert loaded is not None
    doubts = other_place(performed, loaded)
    for doubt in doubts:
        remark(f"warning: {take.name}: {doubt}", "yellow")
    with progress("correct") as show:
        result = correct_take(
            performed, loaded.world, options=LimbPlanOptions(margin=margin), seed=seed, exact=exact, progress=show
        )  # fmt: skip
    save_take(result.take, output)
    rows: list[dict[str, object]] = [
        {
            "character": c.character,
            "limb": c.limb,
            "from_s": round(c.span[0], 2),
            "to_s": round(c.span[1], 2),
            "touched": c.obstacle,
            "depth_cm": round(100.0 * c.depth, 1),
            "gap_now_cm": round(100.0 * c.gap, 1),
        }
        for c in result.corrections
    ]
    if as_json:
        left = [one.words() for one in result.left]
        show_json({"ok": result.ok, "corrections": rows, "left": left, "warnings": doubts, "file": str(output)})
    else:
        if rows:
            show_rows(f"{take.name}: arms planned anew", rows)
        for one in result.left[:20]:
            say(f"left: {one.words()}")
        if len(result.left) > 20:
            say(f"... and {len(result.left) - 20} more")
        say(f"{len(rows)} corrected, {len(result.left)} left; wrote {output} ({_size(output)})")
    if not result.ok:
        raise typer.Exit(1)


def export(
    take: TakeFile,
    output: Annotated[Path, typer.Option("--out", "-o", help="The file to write, or the folder for bvh.")],
    to: Annotated[str | None, typer.Option(help="glb, usd, bvh, csv, parquet, errands, npz-dense, mp4 or png.")] = None,
    scene: SceneOption = None,
    fps: Annotated[float | None, typer.Option(min=1.0, max=1000.0, help="Frames a second; the take's own.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Fill a folder that is not empty.")] = False,
    width: Annotated[
        int | None, typer.Option(min=16, max=7680, help="Width of a film or picture in pixels; 1280.", **_FILMS)
    ] = None,
    begin: Annotated[
        float | None, typer.Option("--from", min=0.0, help="Time at which it begins, in seconds; 0.", **_FILMS)
    ] = None,
    until: Annotated[
        float | None, typer.Option(min=0.0, help="Time at which it ends, in seconds; the take's end.", **_FILMS)
    ] = None,
    camera: Annotated[
        str | None,
        typer.Option(
            help="auto (keeps everybody who moves in view), overview, top, orbit, follow, 'follow NAME', or scene (the "
            "camera of the scene file). By default that of the scene file, or auto.",
            **_FILMS,
        ),
    ] = None,
    cutaway: Annotated[
        bool | None,
        typer.Option(
            "--cutaway/--no-cutaway",
            help="Cut off obstacles at 1.2 m, so that people are seen; on, but off in a scene with things on shelves.",
            **_FILMS,
        ),
    ] = None,
    trails: Annotated[
        float | None, typer.Option(min=0.0, help="Length of the path behind each character in seconds; 0.", **_FILMS)
    ] = None,
    labels: Annotated[bool, typer.Option("--labels", help="Write names over heads.", **_FILMS)] = False,
) -> None:
    """Write a take for other programs; the ending of the file chooses the format if --to does not."""
    from gaitway.core.files import check_writable
    from gaitway.export import choose_format, export_take

    chosen = choose_format(output, to)
    if chosen.suffixes:
        check_writable(output)
    asked = {"width": width, "from": begin, "until": until, "camera": camera, "cutaway": cutaway, "trails": trails}
    asked |= {"labels": labels or None}
    given = {key: value for key, value in asked.items() if value is not None}
    if given and chosen.name not in ("mp4", "png"):
        raise GaitwayError(f"--{next(iter(given))} is for films and pictures, not for {chosen.name}; leave it out")
    performed, setting = read_take(take), read_scene(scene)
    for doubt in other_place(performed, setting):
        remark(f"warning: {take.name}: {doubt}", "yellow")
    if setting is None and chosen.name in _WITH_PLACE and performed.facts.get("scene"):
        where = _scene_name(str(performed.facts["scene"]))
        remark(f"note: without its place, on an empty floor; it was planned in '{where}': add --scene {where}")
    name = f"{chosen.name} {output.name}"
    options: dict[str, Any] = {} if chosen.suffixes else {"overwrite": overwrite}
    if chosen.name in ("mp4", "png"):
        options = _film_options(given, setting, sheet=chosen.name == "png")
    world = None if setting is None else setting.world
    with progress(name) as show:
        files = export_take(performed, output, to, world, fps, show, **options)
    for file in files[:10]:
        say(f"wrote {file} ({_size(file)})")
    if len(files) > 10:
        say(f"... and {len(files) - 10} more")


_WITH_PLACE = ("glb", "usd", "mp4", "png")
"""Formats that show the place if it is known."""


@take_app.command("info")
def take_info(take: TakeFile, as_json: Json = False) -> None:
    """Print what a take holds."""
    performed = read_take(take)
    facts: dict[str, object] = {
        "file": str(take),
        "characters": len(performed),
        "duration_s": round(performed.duration, 4),
        "fps": performed.fps,
        "segments": len(performed.segments),
        "clips": len(performed.clips),
        "layers": len(performed.layers),
        "bodies": [f"{s.name} ({len(s)} joints)" for s in performed.skeletons],
        "names": list(performed.names[:20]) + (["..."] if len(performed) > 20 and not as_json else []),
        "behaviors": list(performed.behaviors),
        **{f"made_with_{key}": value for key, value in performed.facts.items()},
    }
    if as_json:
        facts["names"] = list(performed.names)
    elif "made_with_errands" in facts:
        outcomes = Counter(row[3] for rows in performed.facts["errands"].values() for row in rows)
        facts["errands"] = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items())
        del facts["made_with_errands"]
    show_facts(facts, as_json)


def read_take(path: Path) -> Take:
    """A take from its file, or a motion file as a take of one character."""
    from gaitway.take import load_take, take_of

    if path.suffix.lower() in (".bvh", ".amc", ".glb", ".gltf"):
        from gaitway.motion.contacts import detect_contacts
        from gaitway.motion.formats import load_clip

        clip = load_clip(path)
        with suppress(SkeletonError):  # of a rig without known feet nothing is said about contacts
            clip = detect_contacts(clip)
        return take_of([clip])
    return load_take(path)


def read_scene(scene: str | None) -> Scene | None:
    """A scene by its file or name, if one is given."""
    from gaitway.scene import load_scene

    return None if scene is None else load_scene(scene)


def _scene_name(file: str) -> str:
    """Return how a scene is named in commands: a ready scene has no ending."""
    from gaitway.scene.catalog import ready_scenes

    stem = file.removesuffix(".yaml")
    return stem if stem in ready_scenes() and not Path(file).exists() else file


def other_place(take: Take, scene: Scene | None) -> list[str]:
    """What to know if a take was planned in another place than that of a scene; nothing if it was not."""
    known = take.facts.get("world_hash") or take.facts.get("scene_hash")
    if scene is None or known in (None, scene.world_hash, scene.hash):
        return []
    planned, given = take.facts.get("scene", "another scene"), scene.path.name if scene.path else scene.title
    why = f"or '{given}' was edited since" if planned == given else f"not in '{given}'"
    return [f"it was planned in '{planned}', {why}; the place may not be the one that it was made for"]


def _film_options(given: dict[str, Any], scene: Scene | None, *, sheet: bool) -> dict[str, Any]:
    """Options of the writer of films, or of a sheet of eight pictures, from those of the command."""
    from gaitway.render import Camera, Shot
    from gaitway.render.film.shot import CUTAWAY, named_camera

    own = None
    if scene is not None and scene.camera is not None:
        own = Camera.looking(scene.camera.eye, scene.camera.target, scene.camera.field)
    words = given.get("camera", "auto" if own is None else "scene")
    if words == "scene" and scene is None:
        raise GaitwayError("camera 'scene': no scene is given; add --scene FILE")
    camera, who = named_camera(words, own)
    wide = given.get("width", 1920 if sheet else 1280) // (4 if sheet else 1)
    shot = Shot(
        camera=camera,
        who=who,
        size=(max(wide, 2), max(round(wide * 0.5625), 2)),
        trails=given.get("trails", 0.0),
        labels=given.get("labels", False),
        cutaway=CUTAWAY if given.get("cutaway", scene is None or not scene.things) else None,
    )
    return {"shot": shot, "start": given.get("from", 0.0), "end": given.get("until")}


def counted_violations(report: Report) -> str:
    """In words."""
    count = len(report.violations)
    return f"{count or 'no'} violation{'s' * (count != 1)}"


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
