"""The panel of the page: time, tools, the selected character, people, files, what is shown, and figures."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import viser
from viser import uplot

from gaitway.scene.catalog import ready_scenes
from gaitway.scene.scene import Scene
from gaitway.studio import events
from gaitway.studio.events import Event
from gaitway.studio.frames import Ahead, Frame

if TYPE_CHECKING:
    from gaitway.studio.page import Page

HINT = """**Direct the crowd.** Click a person to select it, then *Send* and click the ground.
Drag a box into somebody's way. Add things and people below. Everything can be undone.

`P` play or pause · `N` step · `Z` undo · `T` top view · `F` follow · `W A S D` drive the selected person
"""
TOOLS = ("look", "send", "box", "cylinder", "fence", "beam", "mover")
_SIZES = {"box": (1.5, 1.5, 1.8), "cylinder": (1.0, 1.0, 1.8), "fence": (0.2, 5.0, 0.4), "beam": (0.3, 5.0, 0.4),
          "mover": (6.0, 0.8, 1.6)}  # fmt: skip
"""Length, width and height of new things [m]; of a mover how far it goes, and its width and height."""
_KEPT = 90
"""Figures that are drawn."""
_EVERY = 6
"""Frames between two drawings of figures."""


class Panel:
    """What can be pressed and read. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer, post: Callable[[Event], None], page: Page) -> None:
        self._server, self._post, self._page = server, post, page
        self._frames, self._playing, self._mode = 0, True, "live"
        self._history: deque[tuple[float, float, float]] = deque(maxlen=_KEPT)
        self._opened: Callable[[str], None] | None = None
        self._saved: Callable[[str, str], None] | None = None
        self._said = ""
        self._first: tuple[float, float] | None = None
        gui = server.gui
        gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=(60, 110, 140), control_width="medium"
        )
        gui.set_panel_label("gaitway studio")
        self._hint = gui.add_markdown(HINT)
        self._message = gui.add_markdown("")
        self._time_folder()
        self._tool_folder()
        self._selected_folder()
        self._people_folder()
        self._file_folder()
        self._show_folder()
        self._figure_folder()
        self._keys()

    def on_open(self, opened: Callable[[str], None]) -> None:
        """Call somebody with the name of a ready scene that is to be opened."""
        self._opened = opened

    def on_save(self, saved: Callable[[str, str], None]) -> None:
        """Call somebody with what is to be saved (scene, take, glb, mp4) and under which name."""
        self._saved = saved

    def shows(self, what: str) -> bool:
        """Whether something is to be shown."""
        return bool(self._shown[what].value)

    def tell(self, message: str) -> None:
        """Say something."""
        if message != self._said:
            self._said = message
            self._message.content = f"> {message}"

    def show_scene(self, scene: Scene) -> None:
        """Name the scene."""
        title = scene.title or (scene.path.stem if scene.path is not None else "scene")
        self._server.gui.set_panel_label(f"gaitway studio · {title}")

    def show_frame(self, frame: Frame) -> None:
        """Time and figures."""
        self._frames += 1
        if frame.playing != self._playing:
            self._playing = frame.playing
            self._play.label = "Pause" if frame.playing else "Play"
        if frame.mode != self._mode:
            self._mode = frame.mode
        if frame.mode == "take":
            self._slider.disabled, self._slider.max = False, max(frame.length, 0.1)
            if frame.playing:
                self._slider.value = min(frame.time, frame.length)  # type: ignore[misc]
        elif not self._slider.disabled:
            self._slider.disabled = True
        figures = frame.figures
        self._history.append((figures.planning_ms, figures.evaluation_ms, figures.plans_a_second))
        if self._frames % _EVERY:
            return
        self._text.content = (
            f"{figures.characters} people, {figures.arrived} there · {frame.time:.1f} s · "
            f"{figures.plans_a_second:.0f} plans a second · planning {figures.planning_ms:.2f} ms, "
            f"poses {figures.evaluation_ms:.2f} ms a frame · **{figures.collisions} collisions**"
        )
        history = np.array(self._history)
        ages = np.arange(len(history), dtype=np.float64)
        self._plot.data = (ages, history[:, 0].copy(), history[:, 1].copy())

    def show_selected(self, name: str, behavior: str, ahead: Ahead | None) -> None:
        """Who is selected."""
        text = "Nobody is selected." if not name else f"**{name}** · {behavior}"
        if name and ahead is not None and ahead.goal is not None:
            text += f" · to ({ahead.goal[0]:.1f}, {ahead.goal[1]:.1f})"
        if text != self._who.content:
            self._who.content = text

    def show_item(self, item: str) -> None:
        """Which thing is selected."""
        self._item.content = f"Thing: {item}" if item else ""

    def use_tool(self, tool: str, at: tuple[float, float]) -> None:
        """Do at a place on the ground what a tool is for."""
        x, y = at
        if tool == "send" and self._page.selected():
            self._post(events.SetGoal(self._page.selected(), x, y))
            self._tools.value = "look"  # type: ignore[misc]
            self._page.tool = "look"
        elif tool in _SIZES:
            length, width, height = _SIZES[tool]
            self._post(events.AddItem(tool, x, y, 0.0, length, width, height))  # type: ignore[arg-type]
        elif tool == "group" and self._first is None:
            self._first = at
            self.tell("click where they are to go")
        elif tool == "group" and self._first is not None:
            radius = max(1.0, 0.45 * float(self._count.value) ** 0.5)
            self._post(events.AddPeople(int(self._count.value), *self._first, x, y, radius))
            self._first, self._page.tool = None, "look"
            self.tell("")

    def _time_folder(self) -> None:
        gui = self._server.gui
        with gui.add_folder("Time"):
            self._play = gui.add_button("Pause")
            self._play.on_click(lambda _: self._toggle())
            gui.add_button("Step").on_click(lambda _: self._post(events.Step()))
            speed = gui.add_slider("Speed", 0.1, 4.0, 0.1, 1.0)
            speed.on_update(lambda _: self._post(events.SetSpeed(float(speed.value))))
            self._mode_group = gui.add_button_group("Mode", ("live", "take"))
            self._mode_group.on_click(
                lambda _: self._post(events.SetMode("take" if self._mode_group.value == "take" else "live"))
            )
            self._slider = gui.add_slider("Moment", 0.0, 1.0, 0.01, 0.0, disabled=True)
            self._slider.on_update(self._scrubbed)
            gui.add_button("Restart").on_click(lambda _: self._post(events.Restart()))

    def _tool_folder(self) -> None:
        gui = self._server.gui
        with gui.add_folder("Click the ground to"):
            self._tools = gui.add_dropdown("Tool", TOOLS, initial_value="look")
            self._tools.on_update(lambda _: self._hold(str(self._tools.value)))
            self._item = gui.add_markdown("")
            gui.add_button("Delete thing").on_click(lambda _: self._delete())
            gui.add_button("Undo").on_click(lambda _: self._post(events.Undo()))
            gui.add_button("Redo").on_click(lambda _: self._post(events.Redo()))

    def _selected_folder(self) -> None:
        gui = self._server.gui
        with gui.add_folder("Selected"):
            self._who = gui.add_markdown("Nobody is selected.")
            gui.add_button("Send (click the ground)").on_click(lambda _: self._hold("send"))
            follow = gui.add_checkbox("Follow", False)
            follow.on_update(lambda _: setattr(self._page, "follow", bool(follow.value)))
            self._follow = follow
            gui.add_button("Remove").on_click(lambda _: self._remove_selected())

    def _people_folder(self) -> None:
        gui = self._server.gui
        with gui.add_folder("People", expand_by_default=False):
            self._count = gui.add_slider("How many", 1, 200, 1, 20)
            gui.add_button("Add group (click start, then goal)").on_click(lambda _: self._hold("group"))
            gui.add_button("Remove as many").on_click(lambda _: self._post(events.RemovePeople(int(self._count.value))))

    def _file_folder(self) -> None:
        gui = self._server.gui
        with gui.add_folder("Scenes and files", expand_by_default=False):
            scenes = gui.add_dropdown("Ready scene", tuple(ready_scenes()))
            gui.add_button("Open").on_click(lambda _: self._open(str(scenes.value)))
            name = gui.add_text("Name", "scene")
            for label, what in (("Save scene", "scene"), ("Save last minutes as take", "take"), ("Export GLB", "glb"),
                                ("Export MP4", "mp4")):  # fmt: skip
                gui.add_button(label).on_click(partial(self._save, what, name))

    def _show_folder(self) -> None:
        gui = self._server.gui
        self._shown: dict[str, Any] = {}
        with gui.add_folder("Show", expand_by_default=False):
            for what, on in (("plans", True), ("labels", True)):
                self._shown[what] = gui.add_checkbox(what.capitalize(), on)
            gui.add_button("Top view").on_click(lambda _: self._top())
            gui.add_button("Whole place").on_click(lambda _: self._whole())

    def _figure_folder(self) -> None:
        gui = self._server.gui
        with gui.add_folder("Figures"):
            self._text = gui.add_markdown("")
            nothing = np.zeros(2)
            self._plot = gui.add_uplot(
                (np.arange(2.0), nothing, nothing.copy()),
                (uplot.Series(label="frame"), uplot.Series(label="planning ms", stroke="#b5533c"),
                 uplot.Series(label="poses ms", stroke="#3c6e8c")),
                aspect=2.6,
            )  # fmt: skip

    def _keys(self) -> None:
        gui = self._server.gui
        commands: tuple[tuple[str, str, Callable[[], object]], ...] = (
            ("Play or pause", "P", self._toggle),
            ("Step", "N", lambda: self._post(events.Step())),
            ("Undo", "Z", lambda: self._post(events.Undo())),
            ("Redo", "Y", lambda: self._post(events.Redo())),
            ("Top view", "T", self._top),
            ("Follow", "F", self._toggle_follow),
            ("Ahead", "W", lambda: self._drive(1.0, 0.0)),
            ("Left", "A", lambda: self._drive(0.6, 1.0)),
            ("Right", "D", lambda: self._drive(0.6, -1.0)),
            ("Stop", "S", lambda: self._drive(0.0, 0.0)),
        )
        for label, key, action in commands:
            command = gui.add_command(label, hotkey=key)  # type: ignore[arg-type]
            command.on_trigger(partial(_call, action))

    def _open(self, name: str) -> None:
        if self._opened is not None:
            self._opened(name)

    def _save(self, what: str, name: viser.GuiTextHandle, event: object) -> None:
        del event
        if self._saved is not None:
            self._saved(what, name.value)

    def _drive(self, forward: float, turn: float) -> None:
        if self._page.selected():
            self._post(events.Drive(self._page.selected(), forward, turn))
        else:
            self.tell("click somebody first, whom to drive")

    def _set_mode(self, mode: str) -> None:
        self._post(events.SetMode("take" if mode == "take" else "live"))

    def _toggle(self) -> None:
        self._post(events.Pause() if self._playing else events.Play())

    def _toggle_follow(self) -> None:
        self._follow.value = not self._follow.value  # type: ignore[misc]

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None and self._mode == "take":
            self._post(events.Scrub(float(self._slider.value)))

    def _hold(self, tool: str) -> None:
        self._page.tool, self._first = tool, None
        self.tell({"send": "click the ground where it is to go", "group": "click where they start"}.get(tool, ""))

    def _delete(self) -> None:
        if self._page.item:
            self._post(events.RemoveItem(self._page.item))
            self._page.item = ""
            self.show_item("")
        else:
            self.tell("click a thing first")

    def _remove_selected(self) -> None:
        if self._page.selected():
            self._post(events.RemovePeople(1, self._page.selected()))

    def _top(self) -> None:
        for client in self._page.viewers():
            self._page.look(client, top=True)

    def _whole(self) -> None:
        for client in self._page.viewers():
            self._page.look(client)


def _call(action: Callable[[], object], event: object) -> None:
    """Do what a key is for."""
    del event
    action()
