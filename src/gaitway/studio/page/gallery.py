"""Windows over the page: a gallery of the ready scenes, and the keys."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import viser

from gaitway.render.plan.scene_plan import scene_plan
from gaitway.scene import load_scene
from gaitway.scene.catalog import ready_scenes
from gaitway.studio.page.server import sent_to

KEYS = """| key | |
| --- | --- |
| `W` `A` `D` or arrows | hold to drive the selected person: ahead, left, right |
| `S` or down | stop it at once |
| `P` or space | play, pause |
| `N` | one frame |
| `F` | follow the selected person, or no longer |
| `T` / `H` | from above / the whole place |
| `G` | send the selected person: then click the ground |
| `1` to `5` | put a box, cylinder, fence, beam, mover: then click the ground |
| `R` | turn the selected thing by 15 degrees |
| `delete` | take the selected thing, or person, away |
| `Z` / `Y` | undo / redo |
| `escape` | put the tool down |

Drag a thing to move it, with shift to turn it; drag the green ball to change a goal.
Left button orbits, right button pans, wheel zooms.
"""
_WIDTH = 300
"""Width of a thumbnail [px]."""
_CARD = """<div style="display:flex;gap:12px;align-items:center;margin:6px 10px 2px 10px">
<img src="data:image/png;base64,{picture}" width="150" style="border-radius:4px;flex:none" alt="">
<div><b>{title}</b><div style="font-size:0.82em;color:#667;line-height:1.35">{text}</div></div></div>"""


@lru_cache(maxsize=64)
def thumbnail(name: str) -> tuple[str, str, str]:
    """Return title, description and picture (PNG in base64) of a ready scene."""
    scene = load_scene(name)
    picture = scene_plan(scene, size=_WIDTH, title="", legend=False)
    buffer = io.BytesIO()
    picture.convert("RGB").quantize(64).save(buffer, "PNG", optimize=True)
    text = " ".join((scene.source.description or "").split())
    return scene.title or name, text, base64.b64encode(buffer.getvalue()).decode()


def show_gallery(client: viser.ClientHandle, opened: Callable[[str], None]) -> None:
    """Let a viewer choose among the ready scenes."""
    cards = [(name, *thumbnail(name)) for name in ready_scenes()]
    with sent_to(client), client.gui.add_modal("Ready scenes") as modal:
        client.gui.add_button("Close").on_click(lambda _: modal.close())
        for name, title, text, picture in cards:
            short = text if len(text) <= 130 else f"{text[:127]}..."
            client.gui.add_html(_CARD.format(picture=picture, title=html.escape(title), text=html.escape(short)))
            client.gui.add_button(f"Open {title}").on_click(partial(_open, modal, opened, name))


def show_keys(client: viser.ClientHandle) -> None:
    """List the keys for a viewer."""
    with sent_to(client), client.gui.add_modal("Keys and mouse") as modal:
        client.gui.add_markdown(KEYS)
        client.gui.add_button("Close").on_click(lambda _: modal.close())


def _open(modal: Any, opened: Callable[[str], None], name: str, event: object) -> None:
    del event
    modal.close()
    opened(name)
