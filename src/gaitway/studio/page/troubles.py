"""Troubles on the page: a list to click, a strip along the take, and red marks over those who cannot get on."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import trimesh
import viser

from gaitway.core.arrays import FloatArray
from gaitway.studio.frames import StudioFrame, StudioTrouble
from gaitway.studio.page.marks import annulus
from gaitway.studio.page.people import Heights
from gaitway.studio.tones import copied_color

Visit = Callable[[StudioTrouble, viser.ClientHandle], None]
"""Called with a trouble that a viewer wants to see."""
_ROWS = 6
"""Number of troubles that are listed."""
_OFTEN = 0.25
"""Time between two updates of the list and the strip [s]."""
_RED = copied_color("#ce2018")
_OVER = 0.22
"""Height of a mark over the head [m]."""
_TALL = 1.8
"""Height of the head of a character that is not shown [m]."""
_COLORS = {"stuck": "red", "not arrived": "red", "no room": "orange", "collision": "orange"}
_HEX = {"red": "#ce2018", "orange": "#e08a1e"}


def trouble_title(trouble: StudioTrouble) -> str:
    """Return what happened to whom, in a few words."""
    who = " and ".join(trouble.names)
    if trouble.kind == "collision":
        return f"{who} collide{'s' * (len(trouble.names) == 1)} · {trouble.time:.1f} s"
    words = {
        "stuck": f"is stuck since {trouble.time:.0f} s",
        "not arrived": "does not arrive",
        "no room": "has no room to come in",
    }
    return f"{who} {words[trouble.kind]}"


def listed(troubles: Sequence[StudioTrouble]) -> list[StudioTrouble]:
    """Return troubles in the order of the list: who cannot get on, then collisions, the latest first."""
    calm = [one for one in troubles if one.kind != "collision"]
    return [*calm, *reversed([one for one in troubles if one.kind == "collision"])]


def summary(troubles: Sequence[StudioTrouble], collisions: int) -> str:
    """Return how many troubles there are of each kind, such as "1 stuck · 2 collisions"; "" for none."""
    parts = [(sum(one.kind == kind for one in troubles), kind) for kind in ("stuck", "not arrived", "no room")]
    words = [f"{count} {kind}" for count, kind in parts if count]
    if collisions:
        words.append(f"{collisions} collision{'s' * (collisions != 1)}")
    return " · ".join(words)


class PanelTroubles:
    """The list of troubles in the panel; it is hidden while there are none. This class is **mutable**."""

    def __init__(self, gui: viser.GuiApi, visit: Visit) -> None:
        self._visit, self._drawn = visit, 0.0
        self._shown: list[StudioTrouble] = []
        self._folder = gui.add_folder("Troubles", visible=False)
        self._rows: list[tuple[viser.GuiButtonHandle, viser.GuiHtmlHandle]] = []
        with self._folder:
            for number in range(_ROWS):
                button = gui.add_button("", visible=False, hint="fly there")
                button.on_click(partial(self._on_click, number))
                self._rows.append((button, gui.add_html("", visible=False)))
            self._more = gui.add_markdown("", visible=False)

    def show(self, now: float, frame: StudioFrame) -> None:
        """List the troubles of a frame, a few times a second."""
        if now - self._drawn < _OFTEN:
            return
        self._drawn = now
        troubles = listed(frame.troubles)
        shown = troubles[:_ROWS]
        if shown == self._shown and self._folder.visible == bool(troubles):
            return
        self._shown, self._folder.visible = shown, bool(troubles)
        self._folder.label = summary(frame.troubles, frame.figures.collisions) or "Troubles"
        for number, (button, text) in enumerate(self._rows):
            button.visible = text.visible = number < len(shown)
            if number < len(shown):
                button.label = trouble_title(shown[number])
                button.color = _COLORS[shown[number].kind]  # type: ignore[assignment]
                text.content = _reason(shown[number].reason)
        self._more.visible = len(troubles) > _ROWS
        self._more.content = f"and {len(troubles) - _ROWS} more"

    def _on_click(self, number: int, event: viser.GuiEvent[viser.GuiButtonHandle]) -> None:
        shown = self._shown
        if event.client is not None and number < len(shown):
            self._visit(shown[number], event.client)


def _reason(words: str) -> str:
    return (
        f'<div style="margin:-2px 12px 6px 12px;font-size:0.8em;line-height:1.3;color:#667">{html.escape(words)}</div>'
    )


class TakeStrip:
    """A strip along the take that shows who does not arrive, and collisions. This class is **mutable**."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._html, self._drawn = gui.add_html("", visible=False), 0.0

    def show(self, frame: StudioFrame) -> None:
        """Draw the strip for a moment of a take, a few times a second; it is hidden while the scene is lived."""
        now = time.perf_counter()
        takes = frame.mode == "take"
        if takes != self._html.visible:
            self._html.visible = takes
        if takes and now - self._drawn > _OFTEN:
            self._drawn = now
            self._html.content = strip(frame)


def strip(frame: StudioFrame) -> str:
    """Return the strip as HTML: a lane for each trouble, from when to when it lasts, and where the moment is."""
    length = max(frame.length, 1e-3)
    failed = [one for one in frame.troubles if one.kind != "collision"]
    hits = [one for one in frame.troubles if one.kind == "collision"]
    lanes = [_lane(one, length) for one in failed[:4]]
    if hits:
        marks = "".join(_bar(one, length, least=0.8) for one in hits[:100])
        lanes.append(f'<div style="position:relative;height:7px;margin-top:2px">{marks}</div>')
    if not lanes:
        fine = "all errands are done" if frame.errands else "all arrive"
        words = "checking for collisions ..." if frame.figures.checking else f"{fine}, no collisions"
        lanes = [f'<div style="font-size:0.75em;color:#667;padding:1px 4px">{words}</div>']
    now = 100.0 * min(max(frame.time / length, 0.0), 1.0)
    cursor = f'<div style="position:absolute;left:{now:.2f}%;top:0;bottom:0;width:2px;background:#334"></div>'
    return (
        '<div style="position:relative;margin:2px 12px 6px 12px;padding:2px 0;background:#e9ebee;border-radius:3px;'
        f'overflow:hidden;min-height:10px" data-strip="{len(failed)},{len(hits)}">{"".join(lanes)}{cursor}</div>'
    )


def _lane(trouble: StudioTrouble, length: float) -> str:
    name = html.escape(" and ".join(trouble.names))
    words = f'<div style="position:relative;font-size:0.7em;line-height:13px;padding-left:4px;color:#511">{name}</div>'
    bar = _bar(trouble, length)
    return f'<div style="position:relative;height:13px;margin-top:1px">{bar}{words}</div>'


def _bar(trouble: StudioTrouble, length: float, least: float = 2.0) -> str:
    begin = 100.0 * min(trouble.time / length, 1.0)
    end = 100.0 * min((length if trouble.end is None else trouble.end) / length, 1.0)
    begin = min(begin, 100.0 - least)
    color = _HEX[_COLORS[trouble.kind]]
    opacity = 0.45 if trouble.end is None else 1.0
    title = html.escape(f"{trouble_title(trouble)}: {trouble.reason}", quote=True)
    return (
        f'<div title="{title}" style="position:absolute;left:{begin:.2f}%;width:{max(end - begin, least):.2f}%;'
        f'top:0;bottom:0;background:{color};opacity:{opacity}"></div>'
    )


class TroubleMarks:
    """Red marks over the heads of those in trouble, and rings around their feet. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._scene = server.scene
        self._handles: list[viser.BatchedMeshHandle] = []

    def show(self, frame: StudioFrame, roots: FloatArray, tops: FloatArray, heights: Heights) -> None:
        """Put the marks where those in trouble are.

        Args:
            frame: what is shown.
            roots: roots of all characters [m]; (N, 3).
            tops: height of the highest joint of each [m]; (N,).
            heights: heights of the ground.
        """
        places = marked(frame, roots, tops, heights)
        if not len(places):
            for handle in self._handles:
                handle.remove()
            self._handles = []
            return
        feet = np.column_stack([places[:, :2], heights(places - (0.0, 0.0, _TALL)) + 0.03])
        turns = np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (len(places), 1))
        if not self._handles:
            for number, (vertices, faces) in enumerate((_exclamation(), annulus(0.42, 0.5))):
                handle = self._scene.add_batched_meshes_simple(
                    f"/troubles/{number}", vertices, faces, turns, (places, feet)[number].astype(np.float32),
                    batched_colors=_RED, lod="off", cast_shadow=False, receive_shadow=False,
                )  # fmt: skip
                self._handles.append(handle)
        for handle, at in zip(self._handles, (places, feet), strict=True):
            if len(handle.batched_wxyzs) != len(turns):
                handle.batched_wxyzs = turns
            handle.batched_positions = at.astype(np.float32)


def marked(frame: StudioFrame, roots: FloatArray, tops: FloatArray, heights: Heights) -> FloatArray:
    """Return the places of the marks: over the heads of those in trouble now; (M, 3) [m]."""
    rows = {name: row for row, name in enumerate(frame.names)}
    out: dict[tuple[str, ...] | str, tuple[float, float, float]] = {}
    for trouble in frame.troubles:
        if trouble.time > frame.time + 1e-6 or (trouble.end is not None and trouble.end < frame.time - 0.5):
            continue
        known = [name for name in trouble.names if name in rows]
        for name in known:
            x, y = roots[rows[name], :2].tolist()
            out[name] = (x, y, float(tops[rows[name]]) + _OVER)
        if not known and trouble.place is not None:
            x, y = trouble.place[:2]
            out[trouble.names] = (x, y, float(heights(np.array([[x, y]]))[0]) + _TALL + _OVER)
    return np.array(list(out.values()), dtype=np.float64).reshape(-1, 3)


def _exclamation() -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Return an exclamation mark that stands on its dot: vertices (V, 3) [m] and faces (T, 3)."""
    dot = trimesh.creation.icosphere(2, 0.07)
    dot.apply_translation((0.0, 0.0, 0.07))
    stroke = trimesh.creation.revolve(np.array([[0.0, 0.19], [0.045, 0.21], [0.085, 0.52], [0.05, 0.57], [0.0, 0.58]]))
    vertices = np.concatenate([dot.vertices, stroke.vertices]).astype(np.float32)
    return vertices, np.concatenate([dot.faces, stroke.faces + len(dot.vertices)]).astype(np.uint32)
