"""Errands in a real browser: marks that are dragged, the list of a person, events, and lanes along a take."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chromium import until
from gaitway.studio import events
from studio_stand import PATIENCE, Stand

pytestmark = pytest.mark.slow
SHOP: dict[str, object] = {
    "gaitway": 1, "bounds": [0, 0, 14, 10], "end": 40.0,
    "places": {
        "counter": {"line": [[8, 7.4], [8, 4]], "service": [1, 2]}, "door": {"area": [0.2, 0.2, 1.6, 4]},
        "ring": {"area": {"circle": {"center": [5, 2], "radius": 1}}}, "corner": [12, 2],
    },
    "characters": [
        {"name": "ada", "start": [11, 2], "errands": [{"wait": {"event": "bell"}}, {"go": "corner"}, {"leave": "door"}]}
    ],
    "sources": [
        {"name": "guests", "area": [0.2, 0.2, 3, 5], "times": [0, [1, 2]],
         "errands": [{"queue": "counter"}, {"leave": "door"}]}
    ],
    "rules": [{"event": "bell", "at": 30}],
}  # fmt: skip


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    made = Stand(tmp_path_factory.mktemp("errands"), SHOP)
    yield made
    made.close()


def test_a_place_and_a_source_are_dragged(stand: Stand) -> None:
    engine = stand.session.engine
    for mark, there, point in (
        ((5.0, 2.0), (7.0, 3.0), lambda: engine.scene.places["ring"].point),
        ((1.6, 4.5), (3.6, 5.5), lambda: engine.scene.sources[0].area.centroid.coords[0]),
    ):
        before = point()
        stand.tab.drag(stand.pixel((*mark, 0.02)), stand.pixel((*there, 0.02)))
        wanted = (before[0] + there[0] - mark[0], before[1] + there[1] - mark[1])

        def moved(point=point, wanted=wanted) -> bool:
            x, y = point()
            return abs(x - wanted[0]) < 0.3 and abs(y - wanted[1]) < 0.3

        until(moved, PATIENCE, f"the mark at {wanted}")
    stand.session.post(events.Undo())
    stand.session.post(events.Undo())
    until(lambda: abs(engine.scene.places["ring"].point[0] - 5.0) < 1e-6, PATIENCE, "it is undone")


def test_the_panel_lists_errands_and_lets_events_happen(stand: Stand) -> None:
    stand.session.select("ada")
    until(lambda: "go corner" in stand.tab.run("document.body.innerText"), PATIENCE, "the list of ada")
    assert stand.tab.run("document.querySelectorAll('[data-errand=\"to come\"]').length") == 3  # nobody has begun
    press_tab(stand, "Crowd")
    stand.tab.press_button("Let it happen")
    stand.session.post(events.Play())
    until(lambda: stand.frame.happened == ("bell",), PATIENCE, "the bell")
    until(lambda: "happened: bell" in stand.tab.run("document.body.innerText"), PATIENCE, "that it is told")
    stand.session.post(events.Pause())


def test_a_source_is_put_by_a_click(stand: Stand) -> None:
    engine = stand.session.engine
    press_tab(stand, "Crowd")
    stand.tab.press_button("Add a source: click the ground")
    until(lambda: stand.studio.page.tool == "source", PATIENCE, "the tool")
    stand.tab.click(stand.pixel((9.5, 3.0, 0.0)))
    until(lambda: len(engine.scene.sources) == 2, PATIENCE, "one more source")
    x, y = engine.scene.sources[1].area.centroid.coords[0]
    assert abs(x - 9.5) < 0.3 and abs(y - 3.0) < 0.3
    stand.session.post(events.Undo())
    until(lambda: len(engine.scene.sources) == 1, PATIENCE, "it is undone")


def test_a_take_shows_a_lane_for_everybody(stand: Stand) -> None:
    stand.session.post(events.SetMode("take"))
    until(lambda: stand.session.engine.mode == "take", PATIENCE, "the take")
    lanes = "document.querySelector('[data-lanes]') && document.querySelector('[data-lanes]').dataset.lanes"
    until(lambda: stand.tab.run(lanes) == "4", PATIENCE, "four lanes")
    assert stand.tab.run("document.querySelectorAll('[data-span=\"queue counter\"]').length") == 3
    assert stand.tab.errors() == []


def press_tab(stand: Stand, words: str) -> None:
    """Open a part of the panel."""
    script = f"[...document.querySelectorAll('[role=tab]')].find(b => b.textContent.trim() === '{words}')"
    until(lambda: stand.tab.run(f"!!{script}"), PATIENCE, f"a tab '{words}'")
    box = stand.tab.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({script}.getBoundingClientRect())")
    stand.tab.click((box[0], box[1]))
