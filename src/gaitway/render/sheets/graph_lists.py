"""A picture of a crowded behaviour graph: an overview with arrows, and below it a card with what begins in each state.

With a hundred behaviours between a dozen states, labels on arrows would cover each other. Here arrows have none: every
behaviour is listed on the card of the state that it begins in, under the state that it leads to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from gaitway.library.behavior import Behavior, BehaviorGraph
from gaitway.render.sheets.graph_drawing import (
    ACCENT,
    BACKDROP,
    CARD,
    FAINT,
    INK,
    LINE,
    PAD,
    SUPERSAMPLE,
    GraphBox,
    bow,
    corners,
    draw_arrow,
    text_width,
    words,
    write,
)

_MARGIN, _GAP = 24.0, 18.0
"""Pixels around the picture, and between cards."""
_PILL = 34.0
"""Height of a state in the overview [px]."""
_COLUMNS = 3
"""Columns of cards."""
_HEADER = 38.0
"""Height of the head of a card [px]."""


@dataclass(frozen=True)
class ListedLine:
    """Line of a card: the name of a behaviour, or of the state that the following ones lead to."""

    text: str
    color: str
    x: float
    y: float


@dataclass(frozen=True)
class ListedCard:
    """State with all behaviours that begin in it."""

    state: str
    box: GraphBox
    lines: tuple[ListedLine, ...]


def listed_picture(graph: BehaviorGraph, width: int) -> Image.Image:
    """Draw a crowded behaviour graph, `width` pixels wide."""
    pills = overview(graph, width)
    top = max(box.y + 0.5 * box.height for box in pills.values()) + 2 * _MARGIN
    cards = listed_cards(graph, width, top)
    height = max(card.box.y + 0.5 * card.box.height for card in cards) + _MARGIN + LINE
    size = (width, int(height))
    picture = Image.new("RGB", (size[0] * SUPERSAMPLE, size[1] * SUPERSAMPLE), BACKDROP)
    pen = ImageDraw.Draw(picture)
    _draw_overview(pen, graph, pills)
    for card in cards:
        _draw_card(pen, card)
    if any(behavior.obstacle is not None for behavior in graph.behaviors):
        write(pen, (_MARGIN, size[1] - 16), "passes a special obstacle", 13, ACCENT, "lm")
    return picture.resize(size, Image.Resampling.LANCZOS)


def overview(graph: BehaviorGraph, width: int) -> dict[str, GraphBox]:
    """Return a box for each state: that with the most ways in the middle, the others on an ellipse around it."""
    ways = {(b.start, b.end) for b in graph.behaviors if b.start != b.end}
    order = sorted(graph.states, key=lambda s: (-sum(s in way for way in ways), s))
    around = sorted(order[1:])  # names that begin alike are neighbours: both feet of a gait
    wide = {state: text_width(state, 15) + 2 * PAD for state in order}
    across = 0.5 * width - _MARGIN - 0.5 * max(wide.values())
    down = max(110.0, 22.0 * len(around))
    middle = (0.5 * width, _MARGIN + _PILL + down)
    out = {order[0]: GraphBox(*middle, wide[order[0]], _PILL)}
    for k, state in enumerate(around):
        angle = np.pi + 2.0 * np.pi * (k + 0.5) / len(around)
        x, y = middle[0] + across * np.cos(angle), middle[1] + down * np.sin(angle)
        out[state] = GraphBox(float(x), float(y), wide[state], _PILL)
    return out


def _draw_overview(pen: ImageDraw.ImageDraw, graph: BehaviorGraph, pills: dict[str, GraphBox]) -> None:
    counts: dict[tuple[str, str], int] = {}
    for b in graph.behaviors:
        if b.start != b.end:
            counts[b.start, b.end] = counts.get((b.start, b.end), 0) + 1
    for (start, end), count in counts.items():
        others = [box for state, box in pills.items() if state not in (start, end)]
        line = bow(pills[start], pills[end], others)
        if len(line) > 2:
            draw_arrow(pen, line, 1.2 + 0.5 * float(np.log2(count)))
    for state, box in pills.items():
        pen.rounded_rectangle(corners(box), 10 * SUPERSAMPLE, fill=CARD, outline=INK, width=2 * SUPERSAMPLE)
        write(pen, (box.x, box.y), state, 15, INK, "mm")


def listed_cards(graph: BehaviorGraph, width: int, top: float) -> list[ListedCard]:
    """Return the cards of all states, in columns below a height [px]; no card covers another, and no line another."""
    room = (width - 2 * _MARGIN - (_COLUMNS - 1) * _GAP) / _COLUMNS
    free = [top] * _COLUMNS
    out = []
    for state in sorted(graph.states):
        lines, height = _lines([b for b in graph.behaviors if b.start == state], state, room)
        column = int(np.argmin(free))
        left, upper = _MARGIN + column * (room + _GAP), free[column]
        placed = tuple(ListedLine(line.text, line.color, left + line.x, upper + line.y) for line in lines)
        box = GraphBox(left + 0.5 * room, upper + 0.5 * height, room, height)
        out.append(ListedCard(state, box, placed))
        free[column] += height + _GAP
    return out


def _lines(behaviors: Sequence[Behavior], state: str, room: float) -> tuple[list[ListedLine], float]:
    """Return the lines of a card of a width [px], from its upper left corner, and the height of the card [px]."""
    out: list[ListedLine] = []
    y = _HEADER
    for end in sorted({b.end for b in behaviors}, key=lambda end: (end != state, end)):
        names = [b for b in behaviors if b.end == end]
        y += 0.9 * LINE
        out.append(ListedLine("stays" if end == state else f"to {end}", FAINT, PAD, y))
        x = 2.0 * PAD
        y += LINE
        for behavior in names:
            text = words(behavior)
            long = text_width(text)
            if x > 2.0 * PAD and x + long > room - PAD:
                x, y = 2.0 * PAD, y + LINE
            out.append(ListedLine(text, INK if behavior.obstacle is None else ACCENT, x, y))
            x += long + 1.5 * PAD
    return out, y + LINE


def _draw_card(pen: ImageDraw.ImageDraw, card: ListedCard) -> None:
    box = card.box
    top = box.y - 0.5 * box.height
    pen.rounded_rectangle(corners(box), 10 * SUPERSAMPLE, fill=CARD, outline=INK, width=2 * SUPERSAMPLE)
    write(pen, (box.x, top + 20), card.state, 18, INK, "mm")
    for line in card.lines:
        write(pen, (line.x, line.y), line.text, 13 if line.color == FAINT else 14, line.color, "lm")
