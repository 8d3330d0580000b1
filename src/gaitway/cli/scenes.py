"""`gaitway scene`: places and who wants to be where."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gaitway.cli.show import Json, check_output, progress, remark, say, show_json, show_rows

scene_app = typer.Typer(help="Places and who wants to be where.", no_args_is_help=True)

NOT_ALL_ARRIVED = 3
"""Exit status when a character does not reach its goal."""
SceneName = Annotated[str, typer.Argument(help="A scene file, or the name of a ready scene.", metavar="SCENE")]
SceneSeed = Annotated[
    int | None,
    typer.Option("--scene-seed", min=0, max=2**32 - 1, help="Draw starts and goals in areas anew; the scene's own."),
]

FIXED = "note: --scene-seed moves nobody here: all starts and goals of this scene are fixed"


@scene_app.command("list")
def scene_list(as_json: Json = False) -> None:
    """List the scenes that ship with gaitway."""
    from gaitway.scene import ready_scenes, scene_summary

    facts: list[dict[str, object]] = []
    sizes: dict[object, str] = {}
    for name, path in ready_scenes().items():
        scene = scene_summary(path)
        x0, y0, x1, y1 = scene.bounds or (0.0, 0.0, 0.0, 0.0)
        sizes[name] = f"{x1 - x0:g} x {y1 - y0:g}"
        facts.append(
            {
                "name": name,
                "title": scene.title,
                "size_m": [x1 - x0, y1 - y0],
                "characters": scene.characters,
                "obstacles": scene.obstacles,
                "movers": scene.movers,
                "file": str(path),
            }
        )
    if as_json:
        show_json(facts)
        return
    rows = [
        {
            "scene": fact["name"],
            "what": fact["title"],
            "metres": sizes[fact["name"]],
            "people": fact["characters"],
            "obstacles": fact["obstacles"],
            "movers": fact["movers"],
        }
        for fact in facts
    ]
    show_rows(f"{len(rows)} ready scenes; any of these names can stand for a scene file", rows)


@scene_app.command("check")
def scene_check(
    scenes: Annotated[list[str], typer.Argument(help="Scene files, or names of ready scenes.", metavar="SCENE...")],
    as_json: Json = False,
) -> None:
    """Find all that is wrong with scene files, and who cannot get to the goal.

    Exit status 2 if a scene cannot be used, 3 if somebody is cut off from the goal. Other warnings do not count.
    """
    from gaitway.checking import check_scene

    found = {name: check_scene(name) for name in scenes}
    if as_json:
        show_json(
            [
                {
                    "scene": name,
                    "ok": check.ok,
                    "problems": [
                        {
                            "file": None if p.file is None else str(p.file),
                            "line": p.line,
                            "place": p.place,
                            "text": p.text,
                            "warning": p.warning,
                        }
                        for p in check.problems
                    ],
                    "unreachable": {
                        one.character.name: {"reason": one.reason(), "gaps": [asdict(gap) for gap in one.gaps]}
                        for one in check.unreachable
                    },
                }
                for name, check in found.items()
            ]
        )
    else:
        for name, check in found.items():
            for problem in check.problems:
                say(str(problem))
            if not check.problems:
                say(f"{name}: ok")
    if not all(check.usable for check in found.values()):
        raise typer.Exit(2)
    if not all(check.ok for check in found.values()):
        raise typer.Exit(NOT_ALL_ARRIVED)


@scene_app.command("draw")
def scene_draw(
    scene: SceneName,
    output: Annotated[Path, typer.Option("--out", "-o", help="A .png file.")],
    at: Annotated[
        list[float] | None, typer.Option("--time", help="Seconds; several make a sheet of moments.", min=0.0)
    ] = None,
    width: Annotated[int, typer.Option(min=200, max=8000, help="Picture width in pixels.")] = 1400,
    scene_seed: SceneSeed = None,
) -> None:
    """Draw a scene from above, as a plan."""
    from gaitway.render.plan.scene_plan import scene_plan
    from gaitway.scene import load_scene

    check_output(output, ".png")
    loaded = load_scene(scene, seed=scene_seed)
    for warning in loaded.warnings:
        remark(str(warning))
    with progress(f"drawing {output.name}"):
        scene_plan(loaded, output, size=width, time=at or 0.0)
    say(f"wrote {output}")


@scene_app.command("schema")
def scene_schema(
    output: Annotated[Path | None, typer.Option("--out", "-o", help="A .json file; printed if left out.")] = None,
) -> None:
    """Print the JSON Schema of scene files, for editors that complete and check as you type."""
    import json

    from gaitway.core.files import atomic_write
    from gaitway.scene import scene_schema as schema

    if output is None:
        show_json(schema())
        return
    check_output(output, ".json")
    with atomic_write(output) as file:
        file.write(json.dumps(schema(), indent=1).encode() + b"\n")
    say(f"wrote {output}")
