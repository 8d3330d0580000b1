"""The picture of a library: graph, strips, contacts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import LibraryError
from gaitway.library import Behavior, BehaviorGraph, Library
from gaitway.render.sheets import graph_picture as graph_module
from gaitway.render.sheets.graph_drawing import FAINT, LINE, GraphBox, text_width, words
from gaitway.render.sheets.graph_lists import listed_cards, overview
from gaitway.render.sheets.graph_picture import graph_picture
from gaitway.render.sheets.library_sheet import WIDTH, library_sheet


def many_states(count: int) -> BehaviorGraph:
    """States in a ring around a hub that each can go to and come back from, each with some loops."""
    behaviors = []
    for k in range(count):
        behaviors += [Behavior(f"to_{k}", (), "hub", f"state {k}"), Behavior(f"from_{k}", (), f"state {k}", "hub")]
        behaviors += [Behavior(f"loop_{k}_{i}", (), f"state {k}", f"state {k}") for i in range(3 * k)]
        behaviors.append(Behavior(f"on_{k}", (), f"state {k}", f"state {(k + 1) % count}", "jump", 1.0))
    return BehaviorGraph(tuple(behaviors))


@pytest.mark.parametrize("count", [2, 4, 7])
def test_cards_do_not_cover_each_other(count: int) -> None:
    graph = many_states(count)
    cards = graph_module._place(graph_module._cards(graph), graph_module._neighbours(graph), 1800)
    boxes = [card.box for card in cards.values()]
    assert len(boxes) == count + 1
    assert not any(a.overlaps(b, 0.0) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


@pytest.mark.parametrize("count", [1, 3, 7])
def test_every_arrow_has_a_readable_label(count: int) -> None:
    graph = many_states(count)
    cards = graph_module._place(graph_module._cards(graph), graph_module._neighbours(graph), 1800)
    arrows = graph_module._route(graph_module._arrows(graph), cards)
    pairs = {(b.start, b.end) for b in graph.behaviors if b.start != b.end}
    assert {(a.start, a.end) for a in arrows} == pairs
    boxes = [card.box for card in cards.values()]
    for arrow in arrows:
        assert len(arrow.line) > 10
        assert not any(arrow.label.overlaps(box, 0.0) for box in boxes)
        boxes.append(arrow.label)


def test_graph_picture_is_drawn() -> None:
    picture = graph_picture(many_states(4), 1500)
    assert picture.width == 1500
    pixels = np.asarray(picture)
    assert (pixels == 255).all(axis=-1).mean() > 0.02, "white cards"
    red = (pixels[..., 0] > 150) & (pixels[..., 1] < 110)
    assert red.any(), "what passes an obstacle is coloured"


def crowded(count: int) -> BehaviorGraph:
    """As many states as an import of a large capture has, each with ways to all others."""
    states = [f"gait_{k}_left" for k in range(count)]
    pairs = [(a, b) for a in states for b in states]
    return BehaviorGraph(
        tuple(Behavior(f"{a}_to_{b}_{i}", (), a, b, "duck" if i else None, 1.0) for a, b in pairs for i in range(2))
    )


def test_crowded_graphs_are_lists_that_do_not_overlap() -> None:
    graph = crowded(9)
    cards = graph_module._place(graph_module._cards(graph), graph_module._neighbours(graph), 1800)
    arrows = graph_module._route(graph_module._arrows(graph), cards)
    assert graph_module._crowded(cards, arrows, 1800), "labels on arrows would cover each other"
    listed = listed_cards(graph, 1800, 500.0)
    boxes = [*(card.box for card in listed), *overview(graph, 1800).values()]
    assert not any(a.overlaps(b, 0.0) for i, a in enumerate(boxes) for b in boxes[i + 1 :] if a.y > 400 or b.y < 400)
    names = [line.text for card in listed for line in card.lines if line.color != FAINT]
    assert sorted(names) == sorted(words(b) for b in graph.behaviors)
    for card in listed:
        lines = [GraphBox(n.x + 0.5 * text_width(n.text), n.y, text_width(n.text), LINE - 3.0) for n in card.lines]
        assert not any(a.overlaps(b, 0.0) for i, a in enumerate(lines) for b in lines[i + 1 :])
        assert all(n.x + 0.5 * n.width < card.box.x + 0.5 * card.box.width for n in lines)
    assert graph_picture(graph, 1800).width == 1800


def test_sheet_of_a_cast(tmp_path: Path) -> None:
    cast = load_cast("skateboarder", behaviors=["glide_forward", "stop", "wait", "start"])
    path = tmp_path / "sheet.png"
    sheet = library_sheet(cast, path, columns=4, row_height=60)
    with Image.open(path) as written:
        assert written.size == sheet.size
    assert sheet.width == WIDTH
    assert sheet.height > 4 * 100
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_to_draw() -> None:
    cast = load_cast("horse", behaviors=["stand"])
    with pytest.raises(LibraryError, match="library 'empty' has no clips to draw"):
        library_sheet(Library("empty", cast.skeleton, {}))
