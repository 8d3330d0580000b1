"""`gaitway plan`: from a scene to a take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gaitway.cli.scenes import FIXED, NOT_ALL_ARRIVED, SceneName, SceneSeed
from gaitway.cli.show import Json, check_output, progress, remark, say, show_json, show_rows

if TYPE_CHECKING:
    from gaitway.planning import Planned


def plan(
    scene: SceneName,
    output: Annotated[Path, typer.Option("--out", "-o", help="The take to write (.npz).")],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the order of planning and of clips; the scene's own.")
    ] = None,
    scene_seed: SceneSeed = None,
    fps: Annotated[float, typer.Option(min=1.0, max=1000.0, help="Frames a second of the take.")] = 30.0,
    planner: Annotated[
        str | None, typer.Option(help="For everybody: behavior (A*) or tree; what the scene says.")
    ] = None,
    library: Annotated[
        str | None, typer.Option(help="For everybody: a built-in cast or a .gwlib file; what the scene says.")
    ] = None,
    failed: Annotated[
        str, typer.Option(help="Who does not arrive: keep, out of the way of movers if possible; or out of the take.")
    ] = "keep",
    upper_body: Annotated[
        bool | None,
        typer.Option(
            "--upper-body/--no-upper-body",
            help="Whether people look about, stand in ways of their own and differ from step to step; what the scene "
            "says, usually yes.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Plan a scene and write the motion of all its characters; exit status 3 if one does not arrive."""
    check_output(output, ".npz")
    from gaitway.planning import plan_scene
    from gaitway.scene import library_ref, load_scene, with_library
    from gaitway.take import save_take

    with progress("scene") as show:
        loaded = load_scene(scene, seed=scene_seed)
        if library is not None:
            loaded = with_library(loaded, library_ref(library))
        if scene_seed is not None and not loaded.drawn:
            remark(FIXED)
        options: dict[str, Any] = {"planner": planner, "failed": failed, "upper_body": upper_body}
        planned = plan_scene(loaded, seed=seed, fps=fps, **options, progress=show)
        save_take(planned.take, output)
    for line in planned.remarks:
        remark(f"note: {line}")
    if as_json:
        show_json(_facts(planned, output))
    else:
        _show(planned, planned.scene.title or Path(scene).name, output)
    if planned.failed:
        raise typer.Exit(NOT_ALL_ARRIVED)


def _show(planned: Planned, title: str, output: Path) -> None:
    left_out = {"reason"} if any(c.start_time > 0.0 for c in planned.scene.characters) else {"reason", "from_s"}
    rows = [
        {key: "-" if row[key] is None else row[key] for key in row if key not in left_out} for row in planned.rows()
    ]
    shown = rows if len(rows) <= 40 else rows[:20]
    show_rows(title, [dict(row) for row in shown])
    if len(shown) < len(rows):
        say(f"... and {len(rows) - len(shown)} more (--json lists them all)")
    say(summary(planned))
    if planned.company:
        say(together(planned))
    say(f"wrote {output}")
    for name, result in planned.failed.items():
        remark(f"{name} ({result.status}): {result.reason}", "red")


def summary(planned: Planned) -> str:
    """Who arrives, and how long it took, in a line."""
    count, faster = len(planned.scene.characters), planned.motion_seconds / max(planned.seconds, 1e-9)
    found = planned.found_by
    parts = [f"{number} by {name}" for name, number in sorted(found.items(), key=lambda part: -part[1])]
    shares = ", " + " and ".join(parts) if set(found) - {"A*"} else ""
    if planned.motion_seconds == 0.0:
        return f"{count - len(planned.failed)} of {count} arrive{shares}; nobody moves"
    return (
        f"{count - len(planned.failed)} of {count} arrive{shares}; "
        f"{planned.motion_seconds:.1f} s of motion were made in {planned.seconds:.2f} s "
        f"({planned.crowd.search_seconds:.2f} s of search), {faster:.3g} times as fast"
    )


def together(planned: Planned) -> str:
    """How much of their way companions are within 2 m of one another, in a line."""
    from gaitway.audit.natural.bands import COMPANY

    shares = planned.company
    apart = [name for name, share in shares.items() if share < COMPANY.low]
    least = min(shares, key=lambda name: shares[name])
    named = f"least '{least}' ({shares[least]:.0f} %)"
    line = f"companions are within 2 m of one another for {sum(shares.values()) / len(shares):.0f} % of their way"
    if not apart:
        return line
    return f"{line}; {len(apart)} of {len(shares)} for less than {COMPANY.low:g} %, {named}"


def _facts(planned: Planned, output: Path) -> dict[str, Any]:
    return {
        "take": str(output),
        "characters": planned.rows(),
        "found_by": planned.found_by,
        "arrived": len(planned.scene.characters) - len(planned.failed),
        "failed": {
            name: {"status": str(r.status), "reason": r.reason, "closest": r.closest, "blockers": r.blockers}
            for name, r in planned.failed.items()
        },
        "motion_s": planned.motion_seconds,
        "planning_s": planned.crowd.seconds,
        "search_s": planned.crowd.search_seconds,
        "synthesis_s": planned.synthesis_seconds,
        "rounds": planned.crowd.rounds,
        "remarks": list(planned.remarks),
        "company": {name: round(share, 1) for name, share in planned.company.items()},
    }
