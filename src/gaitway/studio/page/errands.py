"""Errands in the panel: the list of a person, lanes along the take, sources and events."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Sequence

import viser

from gaitway.scene.scene import Scene
from gaitway.studio import events
from gaitway.studio.edits import errand_givers
from gaitway.studio.events import StudioEvent
from gaitway.studio.frames import StudioErrand, StudioFrame

_COLORS = {
    "go": "#3c6e8c", "queue": "#7a4e98", "sit": "#2e8454", "wait": "#8a8f98", "look": "#b89b4a", "meet": "#b5633c",
    "leave": "#c0503c",
}  # fmt: skip
"""Colours of errands, by their verb."""
_OTHER = "#667"
_SIGNS = {"done": "✓", "now": "▶", "to come": "·", "not done": "✗", "given up": "✗", "going on": "…"}
_MOST_LISTED, _MOST_OVER = 14, 5
"""Largest number of errands that are listed, and of those that are over."""
_LANES = 9
"""Largest number of people in the lanes of a take."""
_OFTEN = 0.25
"""Time between two drawings of the lanes [s]."""
_LEAST = 0.6
"""Least width of a span that is drawn [% of the take]."""
_WRITTEN = 9.0
"""Least width of a span that has its label in it [% of the take]."""


def verb(label: str) -> str:
    """Return the first word of a label, such as "queue"."""
    return label.partition(" ")[0]


def color_of(label: str) -> str:
    """Return the colour of an errand."""
    return _COLORS.get(verb(label), _OTHER)


def errand_list(errands: Sequence[StudioErrand]) -> str:
    """Return the errands of a person as HTML: the last that are over, the one that is going on, and those to come."""
    if not errands:
        return ""
    first = next((k for k, one in enumerate(errands) if one.state in ("now", "to come")), len(errands))
    begin = max(first - _MOST_OVER, 0)
    shown = errands[begin : begin + _MOST_LISTED]
    before = f"{begin} earlier" if begin else ""
    later = len(errands) - begin - len(shown)
    rows = [_note(before), *map(_row, shown), _note(f"{later} more" if later else "")]
    return f'<div style="margin:0 12px 6px 12px;font-size:0.85em;line-height:1.45">{"".join(rows)}</div>'


def _note(words: str) -> str:
    return f'<div style="color:#889">{words}</div>' if words else ""


def _row(errand: StudioErrand) -> str:
    color = "#ce2018" if errand.state in ("not done", "given up") else color_of(errand.label)
    weight, faint = ("700", "") if errand.state == "now" else ("400", ";opacity:0.6" * (errand.state == "to come"))
    when = f" · {_times(errand)}" if errand.start is not None else ""
    why = f'<div style="padding-left:18px;color:#a33;line-height:1.25">{html.escape(errand.reason)}</div>'
    return (
        f'<div data-errand="{html.escape(errand.state, quote=True)}" style="font-weight:{weight}{faint}">'
        f'<span style="display:inline-block;width:18px;color:{color}">{_SIGNS.get(errand.state, "·")}</span>'
        f'{html.escape(errand.label)}<span style="color:#889;font-weight:400">{when}</span></div>'
        + (why if errand.reason else "")
    )


def _times(errand: StudioErrand) -> str:
    return f"{errand.start:.0f} s" if errand.end is None else f"{errand.start:.0f} to {errand.end:.0f} s"


def lanes(frame: StudioFrame, selected: str) -> str:
    """Return the errands of a take as HTML, a lane for each person: the selected one first, then who is there or comes.

    Args:
        frame: a moment of a take.
        selected: name of the selected person, or "".
    """
    spans = {name: own for name, own in frame.errands.items() if own}
    coming = sorted(
        (own[0].start or 0.0, name)
        for name, own in spans.items()
        if name != selected and (own[-1].end or 0.0) >= frame.time
    )
    names = [selected] * (selected in spans) + [name for _, name in coming]
    if not spans:
        return ""
    length, shown = max(frame.length, 1e-3), names[:_LANES]
    rows = [_lane(spans[name], length, name == selected) for name in shown]
    more = len(names) - len(shown)
    words = _note(f"and {more} more who are there or will come" if more else "")
    now = 100.0 * min(max(frame.time / length, 0.0), 1.0)
    cursor = f'<div style="position:absolute;left:{now:.2f}%;top:0;bottom:0;width:2px;background:#334"></div>'
    named = "".join(_name(name, name == selected) for name in shown)
    return (
        '<div style="margin:0 12px 6px 12px;font-size:0.72em"><div style="display:flex">'
        f'<div style="width:23%;padding:1px 4px 1px 0;box-sizing:border-box">{named}</div>'
        f'<div data-lanes="{len(shown)}" style="position:relative;flex:1;overflow:hidden;border-radius:3px;'
        f'background:#e9ebee;padding:1px 0">{"".join(rows)}{cursor}</div></div>{words}</div>'
    )


def _name(name: str, tall: bool) -> str:
    weight = "700" if tall else "400"
    return (
        f'<div style="{_height(tall)};overflow:hidden;white-space:nowrap;text-overflow:ellipsis;text-align:right;'
        f'color:#334;font-weight:{weight}">{html.escape(name)}</div>'
    )


def _lane(spans: Sequence[StudioErrand], length: float, tall: bool) -> str:
    bars = "".join(_bar(span, length) for span in spans)
    return f'<div style="position:relative;{_height(tall)}">{bars}</div>'


def _height(tall: bool) -> str:
    height = 17 if tall else 12
    return f"height:{height}px;line-height:{height}px;margin-top:1px"


def _bar(span: StudioErrand, length: float) -> str:
    begin = 100.0 * min((span.start or 0.0) / length, 1.0)
    end = 100.0 * min((length if span.end is None else span.end) / length, 1.0)
    width = max(end - begin, _LEAST)
    failed = span.state in ("not done", "given up")
    rim = "outline:1.5px solid #ce2018;outline-offset:-1.5px;" if failed else ""
    title = html.escape(
        f"{span.label}, {_times(span)}: {span.state}{' · ' * bool(span.reason)}{span.reason}", quote=True
    )
    words = html.escape(span.label) if width > _WRITTEN else ""
    return (
        f'<div title="{title}" data-span="{html.escape(span.label, quote=True)}" style="position:absolute;'
        f"left:{begin:.2f}%;width:{width:.2f}%;top:0;bottom:0;background:{color_of(span.label)};opacity:0.8;{rim}"
        f'border-right:1px solid #e9ebee;color:#fff;overflow:hidden;white-space:nowrap;padding-left:2px">{words}</div>'
    )


class ErrandLanes:
    """Lanes along the take that show who does what when. This class is **mutable**."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._html, self._drawn = gui.add_html("", visible=False), 0.0

    def show(self, frame: StudioFrame, selected: str) -> None:
        """Draw the lanes for a moment of a take, a few times a second; they are hidden where nobody does errands."""
        there = bool(frame.errands)
        if there != self._html.visible:
            self._html.visible = there
        now = time.perf_counter()
        if there and now - self._drawn > _OFTEN:
            self._drawn = now
            self._html.content = lanes(frame, selected)


class PanelErrands:
    """The parts of the panel about sources and events; hidden where the scene has none. This class is **mutable**."""

    def __init__(self, gui: viser.GuiApi, post: Callable[[StudioEvent], None], hold: Callable[[str], None]) -> None:
        """Make the folders.

        Args:
            gui: where.
            post: called with events.
            hold: called with the name of a tool.
        """
        self._post = post
        self._sources = gui.add_folder("Sources", visible=False)
        with self._sources:
            self._like = gui.add_dropdown("Errands of", ("",), hint="the new people do what these do")
            self._rate = gui.add_slider("A minute", 1, 60, 1, 12)
            self._count = gui.add_slider("At most", 1, 100, 1, 10)
            gui.add_button("Add a source: click the ground").on_click(lambda _: hold("source"))
            self._remove = gui.add_button("Remove the latest source", visible=False)
            self._remove.on_click(lambda _: self._remove_latest())
        self._events = gui.add_folder("Events", visible=False)
        with self._events:
            self._event = gui.add_dropdown("Event", ("",))
            self._button = gui.add_button("Let it happen", hint="with all that the rules of the scene say of it")
            self._button.on_click(lambda _: self._post(events.LetHappen(str(self._event.value))))
            self._happened = gui.add_markdown("", visible=False)
        self._latest = ""
        self._told: tuple[str, ...] | None = None

    def enter(self, scene: Scene) -> None:
        """Offer what a scene has."""
        givers = errand_givers(scene.source)
        self._sources.visible = bool(givers)
        if givers and tuple(self._like.options) != givers:
            before = self._like.value
            self._like.options = givers
            self._like.value = before if before in givers else givers[0]  # type: ignore[misc]
        self._latest = scene.sources[-1].name if scene.sources else ""
        self._remove.visible = len(scene.sources) > 1
        named = tuple(dict.fromkeys(rule.event for rule in scene.rules))
        self._events.visible = bool(named)
        if named and tuple(self._event.options) != named:
            self._event.options, self._event.value = named, named[0]  # type: ignore[misc]

    def show(self, frame: StudioFrame) -> None:
        """Show what has happened."""
        if frame.happened != self._told:
            self._told = frame.happened
            self._happened.visible = bool(frame.happened)
            self._happened.content = f"happened: {', '.join(frame.happened)}"

    def source_at(self, x: float, y: float, floor: str) -> events.AddSource:
        """Return the new source that is chosen, at a place."""
        rate, count = float(self._rate.value), int(self._count.value)
        return events.AddSource(str(self._like.value), x, y, rate, count, floor=floor)

    def _remove_latest(self) -> None:
        if self._latest:
            self._post(events.RemoveSource(self._latest))
