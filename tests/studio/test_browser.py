"""The page in a real browser: it loads from nowhere else, and mouse and keys do what they say."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest
import viser

from chromium import until
from gaitway.scene.model import SceneModel
from gaitway.studio import events
from gaitway.studio.edits import goal_area, goal_names, item_pose
from gaitway.studio.page.storeys import HIDDEN
from studio_stand import PATIENCE, Stand
from wire_viewer import whole_as

pytestmark = pytest.mark.slow


def scene_of_three() -> dict[str, object]:
    return {
        "gaitway": 1, "bounds": [0, 0, 14, 9], "seed": 3,
        "obstacles": [{"box": {"center": [7, 1.5], "size": [1.2, 1.2], "height": 1.2}}],
        "characters": [
            {"name": "ada", "start": [1.5, 5, 0], "goal": [12.5, 5]},
            {"name": "ben", "start": [12.5, 7.5, 180], "goal": [1.5, 7.5]},
            {"name": "cleo", "start": [2, 3, 0], "goal": [12, 3]},
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    made = Stand(tmp_path_factory.mktemp("studio"), scene_of_three())
    yield made
    made.close()


def test_a_click_selects(stand: Stand) -> None:
    x, y, z = stand.place("ben").tolist()
    stand.tab.click(stand.pixel((x, y, z + 0.2)))
    until(lambda: stand.session.selected == "ben", PATIENCE, "ben is selected")
    until(lambda: "ben" in stand.tab.run("document.body.innerText"), PATIENCE, "his name on the panel")


def test_a_drag_into_somebodys_way_changes_its_plan_and_nobody_is_hit(stand: Stand) -> None:
    engine = stand.session.engine
    stand.session.select("ada")
    until(
        lambda: stand.ahead is not None and math.dist(stand.ahead.goal[:2], (12.5, 5.0)) < 0.1,
        PATIENCE,
        "the way of ada",
    )
    straight = stand.ahead.points
    stand.tab.drag(stand.pixel((7.0, 1.5, 1.2)), stand.pixel((7.0, 5.0, 1.2)))
    until(lambda: near(item_pose(engine.scene.source, "obstacles/0"), (7.0, 5.0)), PATIENCE, "the box at (7, 5)")
    until(lambda: engine.stage.can_undo and stand.studio.page._place._grip is None, PATIENCE, "an edit that is done")
    x, y, _ = item_pose(engine.scene.source, "obstacles/0")
    seen: list[int] = []
    sides: list[float] = []
    stand.session.post(events.SetSpeed(4.0))
    stand.session.post(events.Play())

    def passed() -> bool:
        at = stand.place("ada")
        seen.append(stand.frame.figures.collisions)
        if abs(at[0] - x) < 0.6:
            sides.append(abs(float(at[1]) - y))
        return at[0] > x + 1.5

    until(passed, PATIENCE, "ada on the other side of the box")
    stand.session.post(events.Pause())
    stand.session.post(events.SetSpeed(1.0))
    assert np.abs(straight[:, 1] - 5.0).max() < 0.4  # before, the way led through where the box is now
    assert max(seen) == 0
    assert all(side > 0.6 for side in sides)


def test_a_group_goes_where_its_mark_is_dragged(stand: Stand) -> None:
    engine = stand.session.engine
    stand.session.post(events.AddPeople(2, 4.0, 7.0, 10.0, 7.0, 1.0))
    until(lambda: "group-1-01" in stand.frame.names, PATIENCE, "two more people")
    until(lambda: green(stand, (10.0, 7.0)), PATIENCE, "the mark of their goal", every=1.0)
    stand.tab.drag(stand.pixel((10.0, 7.0, 0.02)), stand.pixel((4.5, 2.5, 0.02)))
    until(lambda: goal_at(engine.scene.source, (4.5, 2.5)), PATIENCE, "their goal at (4.5, 2.5)")
    stand.session.post(events.RemovePeople(2))
    until(lambda: "group-1-01" not in stand.frame.names, PATIENCE, "they have gone")


def test_a_box_is_put_once_selected_and_dragged(stand: Stand) -> None:
    engine, page = stand.session.engine, stand.studio.page
    stand.tab.press_button("box")
    until(lambda: page.tool == "box", PATIENCE, "the tool")
    stand.tab.click(stand.pixel((9.5, 1.4, 0.0)))
    until(lambda: page.item == "obstacles/1", PATIENCE, "the new box is selected")
    until(lambda: page.tool == "", PATIENCE, "the tool is put down")
    before = np.array(page.viewers()[0].camera.position)
    x, y, _ = item_pose(engine.scene.source, "obstacles/1")
    until(lambda: ringed(stand, (x, y)), PATIENCE, "the box on the page", every=1.0)
    stand.tab.drag(stand.pixel((x, y, 1.8)), stand.pixel((x + 1.5, y, 1.8)))
    until(lambda: near(item_pose(engine.scene.source, "obstacles/1"), (x + 1.5, y)), PATIENCE, "the box elsewhere")
    assert np.allclose(page.viewers()[0].camera.position, before, atol=1e-3)  # which did not turn the camera
    for _ in range(2):
        stand.session.post(events.Undo())
    until(lambda: len(engine.scene.world.obstacles) == 1, PATIENCE, "it is undone")


def ringed(stand: Stand, at: tuple[float, float]) -> bool:
    """Whether the page has the orange ring of what is selected about a new box at a place."""
    x, y = stand.pixel((at[0] - 0.5 * math.hypot(1.5, 1.5) - 0.25, at[1], 0.04))
    red, _, blue = np.moveaxis(stand.tab.picture()[round(y) - 6 : round(y) + 7, round(x) - 6 : round(x) + 7], -1, 0)
    return bool((red - blue).max() > 60.0)


def test_keys_pressed_twice_show_one_window(stand: Stand) -> None:
    windows = "[...document.querySelectorAll('.mantine-Modal-content')].length"
    for _ in range(3):
        stand.tab.press_button("keys")
    until(lambda: stand.tab.run(windows) >= 1, PATIENCE, "a window")
    until(lambda: stand.tab.run(windows) == 1, PATIENCE, "one window and no more")
    stand.tab.press_button("Close")
    until(lambda: stand.tab.run(windows) == 0, PATIENCE, "no window")


def test_live_and_take_are_told_apart(stand: Stand) -> None:
    text = "document.body.innerText"
    until(lambda: {"LIVE", "● live"} <= {w for w in ("LIVE", "● live") if w in stand.tab.run(text)}, PATIENCE, "live")


def test_keys_drive(stand: Stand) -> None:
    stand.session.select("cleo")
    stand.session.post(events.Play())
    stand.tab.press("w")
    ends = ((12.0, 3.0), (2.0, 3.0))
    until(
        lambda: stand.ahead and min(math.dist(stand.ahead.goal[:2], end) for end in ends) > 0.1,
        PATIENCE,
        "cleo has another goal",
    )
    first = stand.place("cleo")

    def walked() -> bool:
        stand.tab.hold("w", 1.0)
        return bool(np.linalg.norm(stand.place("cleo") - first) > 1.0)

    until(walked, PATIENCE, "cleo walks")
    until(lambda: "wait" in stand.doing, PATIENCE, "cleo stands when the key is let go")
    stand.tab.press("p")
    until(lambda: not stand.session.engine.playing, PATIENCE, "a pause by the key P")


def test_the_slider_scrubs_to_the_right_frame(stand: Stand) -> None:
    engine = stand.session.engine
    stand.tab.press_button("take")
    until(lambda: engine.mode == "take", PATIENCE, "a take")
    until(lambda: "TAKE" in stand.tab.run("document.body.innerText"), PATIENCE, "the mode on the panel")
    until(lambda: stand.tab.run("!!document.querySelector('[data-strip]')"), PATIENCE, "a strip along the take")
    script = "(() => {const r = document.querySelector('.mantine-Slider-track').getBoundingClientRect();"
    box = until(lambda: stand.tab.run(script + "return [r.x, r.y, r.width, r.height]})()"), PATIENCE, "a slider")
    take = engine.take
    assert take is not None
    stand.tab.click((box[0] + 0.5 * box[2], box[1] + 0.5 * box[3]))
    until(lambda: abs(stand.frame.time - 0.5 * take.duration) < 0.1 * take.duration, PATIENCE, "half of the take")
    until(
        lambda: whole_as(stand.studio.page, engine.scene, take.names, take.joints(stand.frame.time)[0]), PATIENCE,
        "the people of that moment",
    )  # fmt: skip
    stand.tab.press_button("live")
    until(lambda: engine.mode == "live", PATIENCE, "live again")


def test_nothing_was_asked_of_any_other_host_and_nothing_went_wrong(stand: Stand) -> None:
    here = f"127.0.0.1:{stand.studio.port}"
    foreign = [
        url for url in stand.tab.requests() if here not in url and not url.startswith(("data:", "blob:", "about:"))
    ]
    assert foreign == []
    assert [url for url in stand.tab.requests() if here in url]
    assert stand.tab.errors() == []


def test_what_the_address_holds_stays_with_the_page(stand: Stand) -> None:
    assert stand.tab.run("document.cookie") == ""  # no script can read it
    assert stand.tab.run("document.referrer") == ""
    blocked = "fetch('http://127.0.0.1:9/x', {mode: 'no-cors'}).catch(() => {}).then(() => 'ended')"
    stand.tab.run(f"{blocked}.then(word => window.fetched = word)")
    until(lambda: stand.tab.run("window.fetched") == "ended", PATIENCE, "a request that is not sent")
    told = [str(e["params"]) for e in stand.tab.events if e["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled")]
    assert any("Content Security Policy" in text for text in told)
    stand.tab.events.clear()


def test_a_deck_is_hidden_by_a_key_and_who_is_sent_goes_below_it(tmp_path: Path) -> None:
    deck = {"center": [14, 4.5], "size": [9, 7], "clearance": 2.3, "height": 0.25}
    stand = Stand(tmp_path, {
        "gaitway": 1, "bounds": [0, 0, 20, 9], "seed": 1, "specials": [{"platform": deck, "name": "deck"}],
        "characters": [{"name": "finn", "start": [2, 2], "goal": [4, 7]}],
    })  # fmt: skip
    try:
        stand.session.select("finn")
        before = stand.tab.picture()
        x, y = (round(v) for v in stand.pixel((13.0, 4.5, 2.55)))
        stand.tab.press("l")
        until(lambda: stand.studio.page.storeys.look("deck") == HIDDEN, PATIENCE, "the deck is hidden")
        patch = np.s_[y - 5 : y + 6, x - 5 : x + 6]
        until(
            lambda: np.abs(stand.tab.picture()[patch] - before[patch]).mean() > 4.0, PATIENCE, "the ground", every=1.0
        )
        stand.studio.page.panel.hold("send")
        until(lambda: stand.studio.page.tool == "send", PATIENCE, "the tool")
        stand.tab.click(stand.pixel((13.0, 4.5, 0.0)))
        until(lambda: stand.ahead is not None and stand.ahead.goal[0] > 11.0, PATIENCE, "another goal")
        assert stand.ahead is not None
        assert stand.ahead.goal == pytest.approx((13.0, 4.5, 0.0), abs=0.2)
        assert stand.tab.errors() == []
    finally:
        stand.close()


class Elsewhere(BaseHTTPRequestHandler):
    """A website of somebody else."""

    def do_GET(self) -> None:
        """Answer anything."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body>free kittens</body>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


ATTACK = """(() => {
  window.found = {};
  const address = %s, protocol = %s;
  const socket = new WebSocket(address.replace('http', 'ws'), protocol);
  socket.onopen = () => { window.found.socket = 'open'; };
  socket.onclose = () => { window.found.socket = window.found.socket || 'closed'; };
  fetch(address, {credentials: 'include'}).then(r => r.text()).then(
    text => { window.found.page = 'read ' + text.length; }, () => { window.found.page = 'refused'; });
  const frame = document.createElement('iframe');
  frame.onload = () => { window.found.frame = 'loaded'; };
  frame.src = address;
  document.body.appendChild(frame);
})()"""


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize("known", [False, True])
def test_a_page_of_another_origin_gets_nowhere(stand: Stand, name: str, known: bool) -> None:
    """In a browser that holds the cookie of the studio; even if the other page should know the token."""
    server = HTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        tab = stand.browser.tab()
        tab.open(f"http://{name}:{server.server_port}/")
        until(lambda: "kittens" in (tab.run("document.body.innerText") or ""), PATIENCE, "the other page")
        looking = len(stand.studio.page.viewers())
        address = stand.studio.address if known else stand.studio.address.partition("?")[0]
        tab.run(ATTACK % (json.dumps(address), json.dumps(f"viser-v{viser.__version__}")))
        found = until(lambda: done(tab.run("window.found")), PATIENCE, "an end of all attempts")
        assert (found["socket"], found["page"]) == ("closed", "refused")
        frames = "document.querySelector('iframe').contentDocument"
        assert tab.run(f"{frames} === null || {frames}.body.innerText === ''")
        assert len(stand.studio.page.viewers()) == looking
        tab.open("about:blank")
    finally:
        server.shutdown()
        server.server_close()


def done(found: dict[str, str] | None) -> dict[str, str] | None:
    """What another page found, if it has tried all it can."""
    return found if found is not None and {"socket", "page", "frame"} <= set(found) else None


def green(stand: Stand, at: tuple[float, float]) -> bool:
    """Whether the ground at a place is greener than it is red."""
    x, y = stand.pixel((*at, 0.0))
    red, shade, _ = stand.tab.picture()[round(y) - 3 : round(y) + 4, round(x) - 3 : round(x) + 4].mean(axis=(0, 1))
    return bool(shade > red + 4.0)


def goal_at(model: SceneModel, place: tuple[float, float]) -> bool:
    """Whether the group that came last goes to a place."""
    middle = goal_area(model, goal_names(model)[-1]).centroid
    return math.dist((middle.x, middle.y), place) < 0.5


def near(pose: tuple[float, float, float], place: tuple[float, float]) -> tuple[float, float, float] | None:
    """The pose if it is at a place."""
    return pose if math.dist(pose[:2], place) < 0.35 else None
