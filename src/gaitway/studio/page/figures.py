"""Figures on the page: a line of text, and small plots of the last seconds."""

from __future__ import annotations

from collections import deque

import numpy as np
import viser
from viser import uplot

from gaitway.studio.frames import Frame

_KEPT = 120
"""Points of a plot."""
_EVERY = 0.25
"""Time between two points [s]."""
_PLOTS = (
    ("people", (("people", "#3c6e8c"), ("there", "#86a86b"))),
    ("plans a second", (("plans a second", "#b5533c"),)),
    ("milliseconds a frame", (("planning", "#b5533c"), ("poses", "#3c6e8c"), ("sending", "#b89b4a"))),
    ("collisions", (("collisions", "#c0392b"),)),
)
"""Titles, and names and colours of lines."""


class FigurePlots:
    """Numbers and their plots. This class is **mutable**."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._text = gui.add_markdown("")
        self._rows: deque[tuple[float, ...]] = deque(maxlen=_KEPT)
        self._plots = [self._plot(gui, title, lines) for title, lines in _PLOTS]
        self._drawn = 0.0

    def show(self, now: float, frame: Frame, sending_ms: float, dropped: int) -> str:
        """Take a frame's figures, and draw them now and then; the line that says the most of them.

        Args:
            now: the clock [s].
            frame: what is shown.
            sending_ms: for one frame.
            dropped: frames that were left out so far.
        """
        figures = frame.figures
        line = f"{figures.characters} people · {frame.time:.1f} s · {figures.collisions} collisions"
        if now - self._drawn < _EVERY:
            return line
        self._drawn = now
        self._rows.append((
            now, figures.characters, figures.arrived, figures.plans_a_second, figures.planning_ms,
            figures.evaluation_ms, sending_ms, figures.collisions,
        ))  # fmt: skip
        self._text.content = (
            f"**{figures.characters}** people, {figures.arrived} there · **{figures.plans_a_second:.0f}** plans a "
            f"second · planning {figures.planning_ms:.1f}, poses {figures.evaluation_ms:.1f}, sending "
            f"{sending_ms:.1f} ms a frame · **{figures.collisions}** collisions in the last seconds · "
            f"{dropped} frames left out"
        )
        rows = np.array(self._rows)
        first = 1
        for plot, (_, lines) in zip(self._plots, _PLOTS, strict=True):
            columns = [rows[:, first + k].copy() for k in range(len(lines))]
            plot.data = (rows[:, 0] - now, *columns)
            first += len(lines)
        return line

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
