"""`gaitway studio`: the live studio in a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from gaitway.cli.scenes import FIXED, SceneSeed
from gaitway.cli.show import err, remark, say

DEFAULT = "market_square"


def studio(
    scene: Annotated[str, typer.Argument(help="A scene file, or the name of a ready scene.")] = DEFAULT,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The next free one is taken if it is in use.")] = 8080,
    host: Annotated[str, typer.Option(help="Another than 127.0.0.1 lets other machines in.")] = "127.0.0.1",
    folder: Annotated[Path | None, typer.Option(help="Where files are saved.", show_default="gaitway-studio")] = None,
    record: Annotated[Path | None, typer.Option(help="Write what is done while it is, to be played again.")] = None,
    scene_seed: SceneSeed = None,
    library: Annotated[str | None, typer.Option(help="For everybody: a built-in cast or a .gwlib file.")] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Direct a crowd in a browser: drag obstacles, send people, drive one of them; Ctrl-C ends it."""
    from gaitway.scene import library_ref, load_scene, with_library
    from gaitway.studio.serving import LOOPBACK, Studio

    loaded = load_scene(scene, seed=scene_seed)
    if scene_seed is not None and not loaded.drawn:
        remark(FIXED)
    if library is not None:
        loaded = with_library(loaded, library_ref(library))
    if host != LOOPBACK:
        err.print("warning", style="bold red", end=": ")
        err.print(
            f"other machines can reach {host}; whoever has the address below with its token, which travels in the "
            "clear, can direct the crowd and save files",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    made = Studio(loaded, host=host, port=port, folder=folder, record=record)
    try:
        if made.port != port:
            say(f"port {port} is in use; this is {made.port}")
        say(f"the studio is at {made.address}; Ctrl-C ends it")
        if browser and host == LOOPBACK:
            webbrowser.open(made.address)
        made.run()
    except KeyboardInterrupt:
        say("")
    finally:  # also where SIGTERM ends it
        made.close()
        for file in made.records:
            say(f"wrote {file}")
