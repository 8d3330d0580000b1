"""Troubles on the page: who is listed and marked, what the strip of a take shows, and where a click leads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gaitway.scene import scene_from_dict
from gaitway.studio import events
from gaitway.studio.frames import StudioFigures, StudioFrame, StudioTrouble
from gaitway.studio.page.panel import state_line
from gaitway.studio.page.troubles import listed, marked, strip, summary, trouble_title
from gaitway.studio.serving import Studio
from wire_viewer import PATIENCE, WireViewer, until

STUCK = StudioTrouble("stuck", ("ada",), "the goal lies in another part", 4.0, place=(3.0, 3.0, 0.0))
FAILED = StudioTrouble("not arrived", ("zoe",), "no <way> there", 5.0, place=(7.0, 1.0, 0.0))
HIT = StudioTrouble("collision", ("ada", "ben"), "hand in hand, 3 cm deep", 2.0, 2.5, (1.0, 1.0, 1.0))


def frame(troubles: tuple[StudioTrouble, ...], time: float = 6.0, mode: str = "take") -> StudioFrame:
    return StudioFrame(
        1, mode, True, time, 10.0, ("ada", "ben"), (), np.empty((0, 3)), StudioFigures(2, 1, collisions=1), 0,
        troubles=troubles,
    )  # fmt: skip


def flat(points: np.ndarray) -> np.ndarray:
    return np.zeros(len(points))


def test_who_cannot_get_on_comes_first_and_all_are_named() -> None:
    assert listed((HIT, STUCK)) == [STUCK, HIT]
    assert trouble_title(STUCK) == "ada is stuck since 4 s"
    assert trouble_title(FAILED) == "zoe does not arrive"
    assert trouble_title(HIT) == "ada and ben collide · 2.0 s"
    assert summary((HIT, STUCK, FAILED), 3) == "1 stuck · 1 not arrived · 3 collisions"
    assert summary((), 0) == ""


def test_marks_are_over_those_in_trouble_now() -> None:
    roots, tops = np.array([[2.0, 2.0, 0.9], [5.0, 5.0, 0.9]]), np.array([1.7, 1.6])
    assert marked(frame((STUCK,)), roots, tops, flat).tolist() == [[2.0, 2.0, pytest.approx(1.92)]]
    assert len(marked(frame((STUCK,), time=3.0), roots, tops, flat)) == 0  # not yet
    assert len(marked(frame((HIT,), time=2.2), roots, tops, flat)) == 2
    assert len(marked(frame((HIT,), time=6.0), roots, tops, flat)) == 0  # no longer
    assert marked(frame((FAILED,)), roots, tops, flat)[0, :2].tolist() == [7.0, 1.0]  # who is not there at all


def test_the_strip_shows_when_and_escapes_what_it_is_told() -> None:
    text = strip(frame((FAILED, HIT)))
    assert 'data-strip="1,1"' in text
    assert "left:50.00%;width:50.00%" in text  # from 5 s to the end of 10 s
    assert "left:20.00%;width:5.00%" in text
    assert "left:60.00%" in text  # the moment
    assert "<way>" not in text and "&lt;way&gt;" in text
    assert "all arrive" in strip(frame(()))


def test_the_line_says_live_or_take() -> None:
    assert "TAKE" in state_line(frame((STUCK,)))
    assert "1 stuck · 1 collision" in state_line(frame((STUCK,)))
    assert "LIVE" in state_line(frame((), mode="live"))


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    walls = [([12, 6], [4, 0.3]), ([12, 2], [4, 0.3]), ([10, 4], [0.3, 4.3]), ([14, 4], [0.3, 4.3])]
    scene = scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 16, 12], "seed": 3,
        "obstacles": [{"box": {"center": at, "size": size, "height": 2}} for at, size in walls],
        "characters": [{"name": "ada", "start": [7, 4, 0], "goal": [12, 4]}],
    })  # fmt: skip
    made = Studio(scene, port=0, folder=tmp_path)
    made.session  # noqa: B018 - wait until it is prepared
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    yield made
    made.stop()
    thread.join(PATIENCE)
    made.close()


@pytest.mark.slow
def test_a_click_on_a_trouble_leads_there(studio: Studio) -> None:
    viewer, page = WireViewer(studio.address), studio.page
    assert until(page.viewers)
    nodes = studio._server.scene._handle_from_node_name
    studio.session.post(events.SetMode("take"))
    assert until(lambda: viewer.read(0.05) >= 0 and "/troubles/0" in nodes)
    rows = page.panel._troubles._rows
    assert until(lambda: viewer.read(0.05) >= 0 and rows[0][0].visible)
    assert until(lambda: viewer.read(0.05) >= 0 and rows[0][0].label == "ada does not arrive")
    assert until(lambda: viewer.read(0.05) >= 0 and "another part of free space" in rows[0][1].content)
    assert not rows[1][0].visible
    viewer.send("GuiUpdateMessage", uuid=rows[0][0]._impl.uuid, updates={"value": True})
    assert until(lambda: viewer.read(0.05) >= 0 and studio.session.selected == "ada")
    (client,) = page.viewers()
    (failed,) = studio.session.engine._troubles()
    assert failed.place is not None
    aim = lambda: np.array(client.camera.look_at)[:2]  # noqa: E731 - it is aside, for the panel covers a part
    assert until(lambda: np.hypot(*(aim() - failed.place[:2])) < 2.0)
    assert until(lambda: np.linalg.norm(np.array(client.camera.position)[:2] - failed.place[:2]) < 12.0)
    assert until(lambda: viewer.read(0.05) >= 0 and not studio.session.engine.playing)
    studio.session.post(events.SetMode("live"))
    assert until(lambda: viewer.read(0.05) >= 0 and "/troubles/0" not in nodes)
    viewer.vanish()
