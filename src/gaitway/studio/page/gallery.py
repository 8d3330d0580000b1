"""Windows over the page: a gallery of the ready scenes, the keys, and questions."""

from __future__ import annotations

import base64
import html
import io
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

import viser
from viser._gui_handles import GuiModalHandle

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
| `L` | hide the highest floor, then the next; at last show all again |
| `G` | send the selected person: then click the ground |
| `1` to `5` | put a box, cylinder, fence, beam, mover: then click the ground |
| `R` | turn the selected thing by 15 degrees |
| `delete` | take the selected thing, or person, away |
| `Z` / `Y` | undo / redo |
| `escape` | put the tool down |

Drag a thing to move it, with shift to turn it; drag the green target to change a goal.
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


class PageWindows:
    """Windows over the page, one at a time for each viewer. This class is **mutable**, and any thread may use it.

    A viewer that opens windows without end, and reads nothing, has one waiting for it.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: dict[int, GuiModalHandle] = {}
        self._keys: set[int] = set()
        """Viewers whose window lists the keys."""
        self._drawing: set[int] = set()

    def show_gallery(self, client: viser.ClientHandle, opened: Callable[[str], None]) -> None:
        """Let a viewer choose among the ready scenes."""
        with self._lock:
            if client.client_id in self._drawing:  # the first time it takes seconds to draw all scenes
                return
            self._drawing.add(client.client_id)
        try:
            cards = [(name, *thumbnail(name)) for name in ready_scenes()]
            with self._window(client, "Ready scenes") as modal:
                client.gui.add_button("Close").on_click(lambda _: self._close(client, modal))
                for name, title, text, picture in cards:
                    short = text if len(text) <= 130 else f"{text[:127]}..."
                    card = _CARD.format(picture=picture, title=html.escape(title), text=html.escape(short))
                    client.gui.add_html(card)
                    chosen = partial(self._chosen, client, modal, partial(opened, name))
                    client.gui.add_button(f"Open {title}").on_click(chosen)
        finally:
            with self._lock:
                self._drawing.discard(client.client_id)

    def show_keys(self, client: viser.ClientHandle) -> None:
        """List the keys for a viewer, unless they are listed already."""
        with self._lock:  # to the end, for the key comes again in other threads
            modal = self._open.get(client.client_id)
            if modal is not None and not modal.closed and client.client_id in self._keys:
                return
            with self._window(client, "Keys and mouse") as modal:
                self._keys.add(client.client_id)
                client.gui.add_markdown(KEYS)
                client.gui.add_button("Close").on_click(lambda _: self._close(client, modal))

    def ask(self, client: viser.ClientHandle, question: str, answers: Mapping[str, Callable[[], None]]) -> None:
        """Ask a viewer; each answer has a function that is called if it is given."""
        with self._window(client, question) as modal:
            for words, answered in answers.items():
                client.gui.add_button(words).on_click(partial(self._chosen, client, modal, answered))

    def forget(self, client: viser.ClientHandle) -> None:
        """Forget the window of a viewer who has left."""
        with self._lock:
            self._open.pop(client.client_id, None)
            self._keys.discard(client.client_id)

    @contextmanager
    def _window(self, client: viser.ClientHandle, title: str) -> Iterator[GuiModalHandle]:
        """Open a window to be filled, in place of the one before."""
        with self._lock, sent_to(client):
            self._close(client, self._open.get(client.client_id))
            self._keys.discard(client.client_id)
            with client.gui.add_modal(title) as modal:
                if client.client_id in client._viser_server.get_clients():
                    self._open[client.client_id] = modal
                yield modal

    def _close(self, client: viser.ClientHandle, modal: GuiModalHandle | None) -> None:
        with self._lock, sent_to(client):
            if modal is not None and not modal.closed:
                modal.close()
            if self._open.get(client.client_id) is modal:
                self._open.pop(client.client_id, None)

    def _chosen(
        self, client: viser.ClientHandle, modal: GuiModalHandle, answered: Callable[[], None], event: Any
    ) -> None:
        """Close a window and do what was chosen in it, once."""
        del event
        with self._lock:
            again = modal.closed
            self._close(client, modal)
        if not again:
            answered()
