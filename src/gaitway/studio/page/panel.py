"""The panel of the page: buttons, sliders, text and plots."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
import viser
from viser import uplot

from gaitway.cast.catalog import cast_names
from gaitway.planners import planner_names
from gaitway.scene.scene import Scene
from gaitway.studio import events
from gaitway.studio.events import StudioEvent
from gaitway.studio.frames import StudioFrame, StudioRoute, StudioTrouble
from gaitway.studio.page.errands import ErrandLanes, PanelErrands, errand_list
from gaitway.studio.page.flow import legend
from gaitway.studio.page.gallery import PageWindows
from gaitway.studio.page.marks import plain_words
from gaitway.studio.page.storeys import LOOKS, PageStoreys
from gaitway.studio.page.troubles import PanelTroubles, TakeStrip, summary

_OWN = 0.5
"""Time for which a slider that a viewer holds is not moved by the page [s]."""


def _modes(now: str) -> tuple[str, str]:
    """Return the words on the buttons of the modes; the present one has a mark."""
    return "● live" if now == "live" else "live", "● take" if now == "take" else "take"


def state_line(frame: StudioFrame) -> str:
    """Return a line about a frame as HTML: whether it is live or a take, how many people, when, and troubles."""
    live = frame.mode == "live"
    badge = "PREPARING" if frame.preparing else "LIVE" if live else "TAKE"
    figures, troubles = frame.figures, summary(frame.troubles, frame.figures.collisions)
    when = f"{frame.time:.1f} s" if live else f"{frame.time:.1f} of {frame.length:.1f} s"
    if frame.preparing:
        return _line("#8a6d1f", badge, f"{figures.characters} people")
    words = f"{figures.characters} people · {when}{'' if frame.playing else ' · paused'} · "
    words += "checking" if figures.checking else ("" if troubles else "no collisions")
    red = f'<b style="color:#ce2018">{troubles}</b>' if troubles else ""
    return _line("#2f7d4f" if live else "#7a4fa0", badge, words + red)


def _line(color: str, badge: str, words: str) -> str:
    return (
        '<div style="margin:4px 10px 4px 10px;font-size:0.92em"><span style="color:#fff;padding:1px 8px;'
        f"border-radius:4px;margin-right:6px;font-weight:700;font-size:0.85em;"
        f'background:{color}">{badge}</span>{words}</div>'
    )


class PanelTime:
    """The part of the panel about time: play, pause, step, mode, moment and speed. This class is **mutable**."""

    def __init__(self, gui: viser.GuiApi, post: Callable[[StudioEvent], None]) -> None:
        self._post, self._playing, self._takes, self._touched = post, True, False, 0.0
        self._buttons = gui.add_button_group("Time", ("pause", "step", "restart"))
        self._buttons.on_click(self._pressed)
        self._mode = gui.add_button_group("Mode", _modes("live"), hint="a take is planned once, then scrubbed")
        self._mode.on_click(self._set_mode)
        self._slider = gui.add_slider("Moment", 0.0, 1.0, 0.01, 0.0, visible=False)
        self._slider.on_update(self._scrubbed)
        self._strip, self._lanes = TakeStrip(gui), ErrandLanes(gui)
        speed = gui.add_slider("Speed", 0.1, 4.0, 0.1, 1.0)
        speed.on_update(lambda _: self._post(events.SetSpeed(float(speed.value))))

    def show(self, frame: StudioFrame, selected: str) -> None:
        """Show what is played, and the time; the errands of the selected person come first."""
        self._playing, self._takes = frame.playing, frame.mode == "take"
        self._buttons.options = ("pause" if frame.playing else "play", "step", "restart")
        if self._mode.options != _modes(frame.mode):
            self._mode.options = _modes(frame.mode)
        self._slider.visible = self._takes
        self._strip.show(frame)
        self._lanes.show(frame, selected)
        if self._takes:
            self._slider.max = max(round(frame.length, 2), 0.1)
            if frame.playing or time.perf_counter() - self._touched > _OWN:
                self._slider.value = min(round(frame.time, 2), self._slider.max)  # type: ignore[misc]

    def toggle(self) -> None:
        """Play or pause."""
        self._post(events.Pause() if self._playing else events.Play())

    def _pressed(self, event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
        made = {"play": events.Play, "pause": events.Pause, "step": events.Step, "restart": events.Restart}
        self._post(made[event.target.value]())

    def _set_mode(self, event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
        self._post(events.SetMode("live" if event.target.value.endswith("live") else "take"))

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None and self._takes:
            self._touched = time.perf_counter()
            self._post(events.Scrub(float(self._slider.value)))


_KEPT = 120
"""Number of points of a plot."""
_EVERY = 0.25
"""Time between two points [s]."""
_PLOTS = (
    ("people", (("people", "#3c6e8c"), ("there", "#86a86b"))),
    ("plans a second", (("plans a second", "#b5533c"),)),
    ("milliseconds a frame", (("planning", "#b5533c"), ("poses", "#3c6e8c"), ("sending", "#b89b4a"))),
    ("collisions", (("collisions", "#c0392b"),)),
)
"""Titles, and names and colours of lines."""


class PanelPlots:
    """Figures of the crowd, as text and as plots of the last seconds. This class is **mutable**."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._text = gui.add_markdown("")
        self._rows: deque[tuple[float, ...]] = deque(maxlen=_KEPT)
        self._plots = [self._plot(gui, title, lines) for title, lines in _PLOTS]
        self._drawn = 0.0

    def show(self, now: float, frame: StudioFrame, sending_ms: float, dropped: int) -> None:
        """Take the figures of a frame and draw them a few times a second.

        Args:
            now: the clock [s].
            frame: what is shown.
            sending_ms: for one frame.
            dropped: frames that were left out so far.
        """
        figures = frame.figures
        if now - self._drawn < _EVERY:
            return
        self._drawn = now
        self._rows.append((
            now, figures.characters, figures.arrived, figures.plans_a_second, figures.planning_ms,
            figures.evaluation_ms, sending_ms, figures.collisions,
        ))  # fmt: skip
        self._text.content = (
            f"**{figures.characters}** people, {figures.arrived} there · **{figures.plans_a_second:.0f}** plans a "
            f"second · planning {figures.planning_ms:.1f}, poses {figures.evaluation_ms:.1f}, sending "
            f"{sending_ms:.1f} ms a frame · **{figures.collisions}** collisions · "
            f"{dropped} frames left out"
        )
        rows = np.array(self._rows)
        first = 1
        for plot, (_, lines) in zip(self._plots, _PLOTS, strict=True):
            columns = [rows[:, first + k].copy() for k in range(len(lines))]
            plot.data = (rows[:, 0] - now, *columns)
            first += len(lines)

    def _plot(self, gui: viser.GuiApi, title: str, lines: tuple[tuple[str, str], ...]) -> viser.GuiUplotHandle:
        ages = np.array([-1.0, 0.0])
        return gui.add_uplot(
            (ages, *(np.zeros(2) for _ in lines)),
            (uplot.Series(label="s"), *(uplot.Series(label=name, stroke=color, width=2) for name, color in lines)),
            title=title,
            scales={"x": uplot.Scale(time=False)},
            height=120,
            legend=uplot.Legend(show=len(lines) > 1),
        )


HINT = """**Direct the crowd.** Click a person, press *send*, click the ground. Drag a thing into somebody's way. Every
edit and every order can be undone.
"""
SHOWN = (("goals", True), ("places", True), ("trails", False), ("plans", True), ("all plans", False), ("grid", False),
         ("clearance", False), ("flow and density", False),
         ("contacts", False), ("capsules", False), ("labels", True), ("names", False))  # fmt: skip
"""What can be shown, and whether it is shown at first."""
THINGS = ("box", "cylinder", "fence", "beam", "mover")
_SIZES = {"box": (1.5, 1.5, 1.8), "cylinder": (1.0, 1.0, 1.8), "fence": (0.2, 5.0, 0.4), "beam": (0.3, 5.0, 0.4),
          "mover": (6.0, 0.8, 1.6)}  # fmt: skip
"""Length, width and height of new obstacles [m]; for a mover the length of its path, its width and its height."""
_TOLD = {
    "send": "click the ground where it is to go",
    "group": "click where the group starts",
    "source": "click where people are to come in",
}
_PLANNERS = {"behavior": "behavior (A*)", "tree": "tree"}
_SECONDS = 9.0
"""Time for which a message stays [s]."""
_OFTEN = 0.2
"""Time between two texts about a character [s]."""
_SHARE = re.compile(r"(\d+) of (\d+)$")
"""Progress at the end of a message, such as "3 of 12"."""


Saved = Callable[[str, str, viser.ClientHandle | None], None]
"""Called with a kind of file, a name, and the viewer who wants it saved."""


class PanelPage(Protocol):
    """What a panel asks of the page that it belongs to."""

    tool: str
    item: str
    windows: PageWindows
    storeys: PageStoreys

    def selected(self) -> str:
        """Return the name of the selected character, or ""."""

    def select_item(self, item: str) -> None:
        """Select an obstacle or a mover, or none."""

    def turn_item(self) -> None:
        """Turn the selected obstacle or mover a little."""

    def visit(self, trouble: StudioTrouble, client: viser.ClientHandle) -> None:
        """Let a viewer see a trouble."""

    def await_item(self) -> None:
        """Select the thing that is put next."""

    def follow(self, client: viser.ClientHandle) -> None:
        """Let a viewer's camera follow the selected character, or no longer."""

    def look(self, client: viser.ClientHandle, top: bool = False) -> None:
        """Let a viewer see the whole world."""

    def show_what(self, what: str, on: bool) -> None:
        """Show something, or no longer."""

    def set_storey(self, name: str, look: str) -> None:
        """Let a storey be shown, faded or hidden."""


class PagePanel:
    """The buttons, sliders and texts beside the scene. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer, post: Callable[[StudioEvent], None], page: PanelPage) -> None:
        self._server, self._post, self._page = server, post, page
        self._said, self._told, self._written = "", 0.0, 0.0
        self._whom = ("", 0.0)
        self._opened: Callable[[str], None] | None = None
        self._saved: Saved | None = None
        self._first: tuple[tuple[float, float, float], str] | None = None
        self._floors: list[viser.GuiDropdownHandle[str]] = []
        self._shown: dict[str, viser.GuiCheckboxHandle] = {}
        gui = server.gui
        gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=(60, 110, 140), control_width="medium"
        )
        gui.set_panel_label("gaitway studio")
        self._hint = gui.add_markdown(HINT)
        self._help = gui.add_button_group("Help", ("scenes", "keys", "hint"))
        self._help.on_click(self._on_help)
        self._line = gui.add_html("")
        self._time = PanelTime(gui, post)
        self._message = gui.add_markdown("", visible=False)
        self._bar = gui.add_progress_bar(0.0, visible=False, animated=True)
        self._cancel = gui.add_button("Cancel planning", visible=False, hint="go on without a take")
        self._cancel.on_click(lambda _: self._post(events.CancelPlanning()))
        self._troubles = PanelTroubles(gui, page.visit)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Direct"):
            self._direct_tab(gui)
        with tabs.add_tab("Crowd"):
            self._crowd_tab(gui)
        with tabs.add_tab("Show"):
            self._show_tab(gui)
        with tabs.add_tab("Figures"):
            self._figures = PanelPlots(gui)
        with tabs.add_tab("Files"):
            self._file_tab(gui)

    def on_open(self, opened: Callable[[str], None]) -> None:
        """Let a function be called with the name of a ready scene that shall be opened."""
        self._opened = opened

    def on_save(self, saved: Saved) -> None:
        """Let a function be called with what shall be saved (scene, take, glb, mp4), under which name, and for whom."""
        self._saved = saved

    def shows(self, what: str) -> bool:
        """Return whether something is shown."""
        return bool(self._shown[what].value)

    def tell(self, message: str) -> None:
        """Show a message; one that ends with "3 of 12" moves a bar."""
        if message == self._said:
            return
        self._said, self._told = message, time.perf_counter()
        far = _SHARE.search(message)
        self._message.content, self._message.visible = f"*{message}*", bool(message)
        self._bar.visible = far is not None or message.endswith("...")
        self._bar.value = min(100.0 * int(far[1]) / max(int(far[2]), 1), 100.0) if far else 100.0  # type: ignore[misc]

    def show_scene(self, scene: Scene) -> None:
        """Show the name of the scene, its planner and its seed."""
        title = scene.title or (scene.path.stem if scene.path is not None else "scene")
        self._server.gui.set_panel_label(f"gaitway · {title}")
        planner = str((scene.source.plan or {}).get("planner", planner_names()[0]))
        self._planner.value = _PLANNERS.get(planner, planner)  # type: ignore[misc]
        self._seed.value = scene.seed  # type: ignore[misc]
        self._errands.enter(scene)

    def show_frame(self, now: float, frame: StudioFrame, sending_ms: float, dropped: int) -> None:
        """Show time and figures; see `PanelPlots.show`."""
        busy = frame.preparing or bool(frame.planning)
        if frame.planning:
            self.tell(frame.planning)
        if self._cancel.visible != bool(frame.planning):
            self._cancel.visible = bool(frame.planning)
        if (
            self._said
            and not busy
            and not self._page.tool
            and now - self._told > (_SECONDS if not self._bar.visible else 0.0)
        ):
            self.tell("")
        self._time.show(frame, self._page.selected())
        self._errands.show(frame)
        self._figures.show(now, frame, sending_ms, dropped)
        self._troubles.show(now, frame)
        line = state_line(frame)
        if line != self._line.content and int(4.0 * now) != int(4.0 * self._written):
            self._written, self._line.content = now, line

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Show the selected character, a few times a second at most."""
        now = time.perf_counter()
        if name == self._whom[0] and now - self._whom[1] < _OFTEN:
            return
        self._whom = (name, now)
        text = about(name, behavior, ahead)
        if text != self._who.content:
            self._who.content = text
        listed = errand_list(ahead.errands) if ahead is not None else ""
        if listed != self._list.content:
            self._list.content, self._list.visible = listed, bool(listed)

    def show_item(self, item: str, words: str) -> None:
        """Show the selected obstacle or mover."""
        self._item.content = f"**{words}** · {item}" if item else "Click or drag a thing to select it."

    def show_storeys(self) -> None:
        """List the storeys of the place, the highest first, and how each of them looks."""
        for box in self._floors:
            box.remove()
        self._floors = []
        self._floor_list.visible = bool(self._page.storeys.storeys)
        with self._floor_list:
            for storey in reversed(self._page.storeys.storeys):
                look = self._page.storeys.look(storey.name)
                box = self._server.gui.add_dropdown(f"{storey.name}, {storey.height:g} m", LOOKS, initial_value=look)
                box.on_update(partial(self._on_storey, storey.name))
                self._floors.append(box)

    def use_tool(self, tool: str, at: tuple[float, float, float], floor: str = "") -> None:
        """Use a tool at a place (x, y, z) on the ground, or on a floor."""
        x, y, z = at
        if tool == "send":
            if self._page.selected():
                self._post(events.SetGoal(self._page.selected(), x, y, floor))
            self.hold("")
        elif tool in _SIZES:
            length, width, height = _SIZES[tool]
            self._page.await_item()
            self.hold("")
            self._post(events.AddItem(tool, x, y, 0.0, length, width, height, round(z, 3) if floor else 0.0))  # type: ignore[arg-type]
            self.tell(f"drag the {tool} to move it, with shift to turn it; Z takes it away again")
        elif tool == "source":
            self._post(self._errands.source_at(x, y, floor))
            self.hold("")
        elif tool == "group" and self._first is None:
            self._first = at, floor
            self.tell("click where the group is to go")
        elif tool == "group" and self._first is not None:
            radius = max(1.0, 0.45 * float(self._count.value) ** 0.5)
            (start, first) = self._first
            self._post(events.AddPeople(int(self._count.value), *start[:2], x, y, radius, first, floor))
            self.hold("")

    def hold(self, tool: str) -> None:
        """Select a tool, or none."""
        if tool == "send" and not self._page.selected():
            self.tell("click a person first")
            return
        self._page.tool, self._first = tool, None
        self.tell(_TOLD.get(tool, f"click the ground to put a {tool}; escape to leave it" if tool else ""))

    def toggle(self) -> None:
        """Play or pause."""
        self._time.toggle()

    def delete(self) -> None:
        """Remove the selected obstacle or mover, or else the selected character."""
        if self._page.item:
            self._post(events.RemoveItem(self._page.item))
            self._page.select_item("")
        elif self._page.selected():
            self._post(events.RemovePeople(1, self._page.selected()))
        else:
            self.tell("click a thing or a person first")

    def _direct_tab(self, gui: viser.GuiApi) -> None:
        with gui.add_folder("Person"):
            self._who = gui.add_markdown("Click a person to select it.")
            self._list = gui.add_html("", visible=False)
            people = gui.add_button_group("", ("send", "follow", "remove"))
            people.on_click(self._on_person)
        with gui.add_folder("Things"):
            put = gui.add_button_group("Put", THINGS)
            put.on_click(lambda event: self.hold(str(event.target.value)))
            self._item = gui.add_markdown("Click or drag a thing to select it.")
            for buttons in (("turn", "delete"), ("undo", "redo")):
                gui.add_button_group("", buttons).on_click(self._on_thing)

    def _crowd_tab(self, gui: viser.GuiApi) -> None:
        self._count = gui.add_slider("How many", 1, 200, 1, 20)
        gui.add_button("Add a group: click start, then goal").on_click(lambda _: self.hold("group"))
        gui.add_button("Remove as many").on_click(lambda _: self._post(events.RemovePeople(int(self._count.value))))
        self._errands = PanelErrands(gui, self._post, self.hold)
        with gui.add_folder("Planned with"):
            names = tuple(_PLANNERS.get(name, name) for name in planner_names())
            self._planner = gui.add_dropdown(
                "Planner",
                names,
                hint="of takes; live people use search trees, with crowd also local dynamics in throngs",
            )
            self._library = gui.add_dropdown("Library", ("as it is", *cast_names()))
            self._seed = gui.add_number("Seed", 0, min=0, max=2**32 - 1, step=1)
            gui.add_button("Begin anew with these").on_click(lambda _: self._choose())

    def _show_tab(self, gui: viser.GuiApi) -> None:
        for what, on in SHOWN:
            box = gui.add_checkbox(what.capitalize(), on)
            box.on_update(partial(self._on_shown, what))
            self._shown[what] = box
            if what == "flow and density":
                self._legend = gui.add_html(legend(), visible=on)
        self._floor_list = gui.add_folder("Floors", visible=False)
        camera = gui.add_button_group("Camera", ("whole", "from above", "follow"))
        camera.on_click(self._on_camera)

    def _file_tab(self, gui: viser.GuiApi) -> None:
        name = gui.add_text("Name", "scene")
        for label, what in (("Save scene (YAML)", "scene"), ("Save last minutes as a take", "take"),
                            ("Export GLB", "glb"), ("Export MP4", "mp4")):  # fmt: skip
            gui.add_button(label).on_click(partial(self._save, what, name))

    def _on_help(self, event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
        if event.target.value == "hint":
            self._hint.visible = not self._hint.visible
        elif event.client is not None and event.target.value == "keys":
            self._page.windows.show_keys(event.client)
        elif event.client is not None:
            self._page.windows.show_gallery(event.client, self._open)

    def _on_person(self, event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
        if event.target.value == "send":
            self.hold("send")
        elif event.target.value == "follow" and event.client is not None:
            self._page.follow(event.client)
        elif event.target.value == "remove" and self._page.selected():
            self._post(events.RemovePeople(1, self._page.selected()))

    def _on_thing(self, event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
        if event.target.value == "turn":
            self._page.turn_item()
        elif event.target.value == "delete":
            self.delete()
        else:
            self._post(events.Undo() if event.target.value == "undo" else events.Redo())

    def _on_camera(self, event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
        if event.client is None:
            return
        if event.target.value == "follow":
            self._page.follow(event.client)
        else:
            self._page.look(event.client, top=event.target.value == "from above")

    def _on_shown(self, what: str, event: viser.GuiEvent[viser.GuiCheckboxHandle]) -> None:
        if what == "flow and density":
            self._legend.visible = bool(event.target.value)
        self._page.show_what(what, bool(event.target.value))

    def _on_storey(self, name: str, event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
        self._page.set_storey(name, str(event.target.value))

    def _choose(self) -> None:
        planner = next((name for name, words in _PLANNERS.items() if words == self._planner.value), self._planner.value)
        library = "" if self._library.value == "as it is" else self._library.value
        self._post(events.Choose(str(planner), str(library), int(self._seed.value)))

    def _open(self, name: str) -> None:
        if self._opened is not None:
            self._opened(name)

    def _save(self, what: str, name: viser.GuiInputHandle[str], event: viser.GuiEvent[viser.GuiButtonHandle]) -> None:
        if self._saved is not None:
            self._saved(what, name.value, event.client)


def about(name: str, behavior: str, ahead: StudioRoute | None) -> str:
    """Return a text about a character: its behaviour, its goal, its plan, and what it took to find that."""
    if not name:
        return "Click a person to select it."
    text = f"**{name}** · {plain_words(behavior)}"
    if ahead is None:
        return text
    if ahead.goal is not None:
        text += f" · to ({ahead.goal[0]:.1f}, {ahead.goal[1]:.1f})"
    if ahead.seconds > 0.0 and ahead.labels:
        steps = len(ahead.labels)
        text += f"\n\nplan: {steps} step{'s' * (steps != 1)}, {ahead.length:.1f} m, {ahead.seconds:.1f} s left"
    if ahead.cost is not None:
        text += f"\n\ncost {ahead.cost:.1f}"
        if ahead.found_by:
            what = "moves tested" if ahead.found_by == "tree" else "nodes"
            text += f" · {ahead.found_by}: {ahead.nodes:,} {what}, {ahead.milliseconds:.1f} ms"
    return text
