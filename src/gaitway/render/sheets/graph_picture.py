"""A picture of a behaviour graph: states as cards, behaviours as labelled arrows between them.

Behaviours that end in the state they start in are listed on its card; those that lead from one state to another share
one arrow. Behaviours that pass a special obstacle are coloured, and their label names it if their own name does not.
Graphs in which a label finds no free place are drawn as `graph_lists` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from PIL import Image, ImageDraw

from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Behavior, BehaviorGraph
from gaitway.render.sheets.graph_drawing import (
    ACCENT,
    BACKDROP,
    CARD,
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
from gaitway.render.sheets.graph_lists import listed_picture

_COLUMN = 9
"""Lines in one column of a card."""


@dataclass(frozen=True)
class _Card:
    """A state with the behaviours that stay in it; `box` is around its middle."""

    state: str
    loops: tuple[Behavior, ...]
    box: GraphBox


@dataclass(frozen=True)
class _Arrow:
    """All behaviours that lead from one state to another."""

    start: str
    end: str
    behaviors: tuple[Behavior, ...]
    line: FloatArray = field(default_factory=lambda: np.empty((0, 2)))
    label: GraphBox = field(default_factory=lambda: GraphBox(0.0, 0.0, 0.0, 0.0))


def graph_picture(graph: BehaviorGraph, width: int = 1800) -> Image.Image:
    """Draw a behaviour graph, `width` pixels wide; its height follows from what there is to show."""
    cards = _place(_cards(graph), _neighbours(graph), width)
    arrows = _route(_arrows(graph), cards)
    if _crowded(cards, arrows, width):
        return listed_picture(graph, width)
    cards, arrows, size = _fit(cards, arrows, width)
    picture = Image.new("RGB", (size[0] * SUPERSAMPLE, size[1] * SUPERSAMPLE), BACKDROP)
    pen = ImageDraw.Draw(picture)
    for arrow in arrows:
        draw_arrow(pen, arrow.line)
    for card in cards.values():
        _draw_card(pen, card)
    for arrow in arrows:
        _draw_label(pen, arrow)
    if any(behavior.obstacle is not None for behavior in graph.behaviors):
        write(pen, (24, size[1] - 16), "passes a special obstacle", 13, ACCENT, "lm")
    return picture.resize(size, Image.Resampling.LANCZOS)


def _crowded(cards: dict[str, _Card], arrows: list[_Arrow], width: int) -> bool:
    """Return whether a label covers another or a card, or something does not fit into the width."""
    boxes = [*(card.box for card in cards.values()), *(arrow.label for arrow in arrows)]
    if any(abs(box.x) + 0.5 * box.width > 0.5 * width for box in boxes):
        return True
    return any(a.overlaps(b, 0.0) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def _cards(graph: BehaviorGraph) -> dict[str, _Card]:
    """Return a card for each state, sized by what it lists."""
    cards = {}
    for state in graph.states:
        loops = tuple(b for b in graph.behaviors if b.start == b.end == state)
        columns = [loops[i : i + _COLUMN] for i in range(0, len(loops), _COLUMN)]
        text = sum(max(text_width(words(b)) for b in column) + 2 * PAD for column in columns)
        width = max(text_width(state, 18) + 4 * PAD, text + PAD)
        lines = max((len(column) for column in columns), default=0)
        cards[state] = _Card(state, loops, GraphBox(0.0, 0.0, width, 38 + LINE * lines + (PAD if lines else 0)))
    return cards


def _neighbours(graph: BehaviorGraph) -> dict[str, set[str]]:
    out: dict[str, set[str]] = {state: set() for state in graph.states}
    for b in graph.behaviors:
        if b.start != b.end:
            out[b.start].add(b.end)
            out[b.end].add(b.start)
    return out


def _place(cards: dict[str, _Card], neighbours: dict[str, set[str]], width: int) -> dict[str, _Card]:
    """Place up to two states side by side, more in a circle around the one with most neighbours."""
    order = sorted(cards, key=lambda s: (-len(neighbours[s]), -len(cards[s].loops)))
    widest = max((card.box.width for card in cards.values()), default=0.0)
    across = 0.5 * (width - widest) - 24
    places = dict.fromkeys(order, (0.0, 0.0))
    if len(order) == 2:
        places = {order[0]: (-0.62 * across, 0.0), order[1]: (0.62 * across, 0.0)}
    elif len(order) > 2:
        down = 110 + 0.5 * cards[order[0]].box.height + 0.5 * max(cards[s].box.height for s in order[1:])
        for k, state in enumerate(_around(order[1:], neighbours)):
            angle = np.pi + 2.0 * np.pi * k / (len(order) - 1)
            places[state] = (across * float(np.cos(angle)), down * float(np.sin(angle)))
    placed = {s: replace(card, box=replace(card.box, x=places[s][0], y=places[s][1])) for s, card in cards.items()}
    return _apart(placed)


def _around(states: list[str], neighbours: dict[str, set[str]]) -> list[str]:
    """Return an order around the circle in which neighbours tend to be next to one another."""
    left = list(states)
    out: list[str] = []
    while left:
        following = next((s for s in left if out and s in neighbours[out[-1]]), left[0])
        left.remove(following)
        out.append(following)
    return out


def _apart(cards: dict[str, _Card], gap: float = 92.0) -> dict[str, _Card]:
    """Push cards that overlap away from each other, up and down."""
    boxes = {state: card.box for state, card in cards.items()}
    names = list(boxes)
    for _ in range(200):
        moved = False
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                if boxes[a].overlaps(boxes[b], gap):
                    upper, lower = (a, b) if boxes[a].y <= boxes[b].y else (b, a)
                    boxes[upper] = replace(boxes[upper], y=boxes[upper].y - 8)
                    boxes[lower] = replace(boxes[lower], y=boxes[lower].y + 8)
                    moved = True
        if not moved:
            break
    return {state: replace(card, box=boxes[state]) for state, card in cards.items()}


def _arrows(graph: BehaviorGraph) -> list[_Arrow]:
    pairs: dict[tuple[str, str], list[Behavior]] = {}
    for b in graph.behaviors:
        if b.start != b.end:
            pairs.setdefault((b.start, b.end), []).append(b)
    return [_Arrow(start, end, tuple(behaviors)) for (start, end), behaviors in pairs.items()]


def _route(arrows: list[_Arrow], cards: dict[str, _Card]) -> list[_Arrow]:
    """Bend every arrow to its right-hand side, around cards in its way, and find a free place for its label."""
    taken = [card.box for card in cards.values()]
    out = []
    for arrow in sorted(arrows, key=lambda a: -len(a.behaviors)):
        others = [card.box for state, card in cards.items() if state not in (arrow.start, arrow.end)]
        line = bow(cards[arrow.start].box, cards[arrow.end].box, others)
        width = max(text_width(words(b)) for b in arrow.behaviors) + PAD
        size = GraphBox(0.0, 0.0, width, LINE * len(arrow.behaviors) + 4)
        label = _free_place(line, size, taken)
        taken.append(label)
        out.append(replace(arrow, line=line, label=label))
    return out


def _free_place(line: FloatArray, size: GraphBox, taken: list[GraphBox]) -> GraphBox:
    """Return where along a line a label covers nothing; the middle is tried first."""
    shares = [0.5, *(0.5 + sign * step for step in np.arange(0.04, 0.46, 0.04) for sign in (1, -1))]
    for share in shares:
        x, y = line[int(share * (len(line) - 1))]
        for aside, shift in ((0.0, 0.0), (0.0, -0.6), (0.0, 0.6), (-0.45, 0.0), (0.45, 0.0)):
            box = replace(size, x=float(x) + aside * size.width, y=float(y) + shift * size.height)
            if not any(box.overlaps(other) for other in taken):
                return box
    x, y = line[len(line) // 2]
    return replace(size, x=float(x), y=float(y))


def _fit(
    cards: dict[str, _Card], arrows: list[_Arrow], width: int
) -> tuple[dict[str, _Card], list[_Arrow], tuple[int, int]]:
    """Move everything into a picture that just holds it."""
    boxes = [card.box for card in cards.values()] + [arrow.label for arrow in arrows]
    top = min([b.y - 0.5 * b.height for b in boxes] + [float(a.line[:, 1].min()) for a in arrows]) - 24
    bottom = max([b.y + 0.5 * b.height for b in boxes] + [float(a.line[:, 1].max()) for a in arrows]) + 24
    shift = np.array([0.5 * width, -top])

    def moved(box: GraphBox) -> GraphBox:
        return replace(box, x=box.x + float(shift[0]), y=box.y + float(shift[1]))

    cards = {state: replace(card, box=moved(card.box)) for state, card in cards.items()}
    arrows = [replace(a, line=a.line + shift, label=moved(a.label)) for a in arrows]
    return cards, arrows, (width, int(bottom - top))


def _draw_card(pen: ImageDraw.ImageDraw, card: _Card) -> None:
    box = card.box
    left, top = box.x - 0.5 * box.width, box.y - 0.5 * box.height
    pen.rounded_rectangle(corners(box), 10 * SUPERSAMPLE, fill=CARD, outline=INK, width=2 * SUPERSAMPLE)
    write(pen, (box.x, top + 20), card.state, 18, INK, "mm")
    if card.loops:
        pen.line(
            [SUPERSAMPLE * v for v in (left + 10, top + 37, left + box.width - 10, top + 37)], fill="#d8d8d4", width=2
        )
    x = left + PAD
    for i in range(0, len(card.loops), _COLUMN):
        column = card.loops[i : i + _COLUMN]
        for row, behavior in enumerate(column):
            color = INK if behavior.obstacle is None else ACCENT
            write(pen, (x, top + 50 + LINE * row), words(behavior), 14, color, "lm")
        x += max(text_width(words(b)) for b in column) + 2 * PAD


def _draw_label(pen: ImageDraw.ImageDraw, arrow: _Arrow) -> None:
    box = arrow.label
    pen.rounded_rectangle(corners(box), 5 * SUPERSAMPLE, fill=BACKDROP)
    for row, behavior in enumerate(arrow.behaviors):
        y = box.y - 0.5 * box.height + 2 + LINE * (row + 0.5)
        write(pen, (box.x, y), words(behavior), 14, INK if behavior.obstacle is None else ACCENT, "mm")
