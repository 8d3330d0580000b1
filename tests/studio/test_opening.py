"""A scene is shown at once, with everybody at its start, and lives when it is prepared."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gaitway.core.errors import LiveError
from gaitway.scene import load_scene, scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.studio import waiting
from gaitway.studio.engine import StudioEngine
from gaitway.studio.serving import Studio
from gaitway.studio.waiting import standing_frame
from wire_viewer import PATIENCE, WireViewer, until

SCENE: dict[str, object] = {
    "gaitway": 1, "bounds": [0, 0, 16, 12], "seed": 3,
    "obstacles": [{"box": {"center": [8, 2], "size": [1, 1], "height": 2}}],
    "characters": [
        {"name": "ada", "start": [2, 6, 90], "goal": [14, 6]},
        {"name": "ben", "start": [12, 3, 0], "goal": [2, 3]},
    ],
}  # fmt: skip
HORSE = {"name": "star", "start": [14, 9, 180], "goal": [2, 9], "library": "horse"}


class Gate:
    """Lets engines be made, or not yet."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.fails = False

    def engine(self, scene: Scene, say: object) -> StudioEngine:
        assert self.open.wait(2.0 * PATIENCE)
        if self.fails:
            raise LiveError("nobody can live here")
        return StudioEngine(scene, say)  # type: ignore[arg-type]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    made = Gate()
    monkeypatch.setattr(waiting, "StudioEngine", made.engine)
    return made


@pytest.fixture
def studio(gate: Gate, tmp_path: Path) -> Iterator[Studio]:
    made = Studio(scene_from_dict(SCENE), port=0, folder=tmp_path)
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    yield made
    gate.open.set()
    made.stop()
    thread.join(PATIENCE)
    made.close()


def test_everybody_stands_at_its_start() -> None:
    frame = standing_frame(scene_from_dict({**SCENE, "characters": [HORSE, *SCENE["characters"]]}))  # type: ignore[misc]
    assert frame.names == ("star", "ada", "ben") and frame.preparing
    assert [len(part) for part in frame.joints] == [1, 2]
    roots = np.concatenate([part.positions[:, 0] for part in frame.joints])
    assert np.abs(roots[:, :2] - [(14, 9), (2, 6), (12, 3)]).max() < 0.35
    for part in frame.joints:
        assert np.abs(part.positions[..., 2].min(axis=1)).max() < 0.12  # on the ground
    (_, people) = frame.joints
    left, right = (people.skeleton.roles[f"{side}_hip"] for side in ("left", "right"))
    assert (people.positions[0, left] - people.positions[0, right])[0] < -0.1  # who looks along y has its left at -x
    assert standing_frame(load_scene("hills")).names


@pytest.mark.slow
def test_place_and_people_are_there_before_anything_is_prepared(studio: Studio, gate: Gate) -> None:
    viewer, page = WireViewer(studio.address), studio.page
    nodes = studio._server.scene._handle_from_node_name
    assert until(lambda: viewer.read(0.05) >= 0 and {"/ground", "/place/0", "/people/0/0"} <= set(nodes))
    assert until(lambda: viewer.read(0.05) >= 0 and "PREPARING" in page.panel._line.content)
    assert not studio.ready
    assert page.panel._bar.visible
    page.panel.toggle()  # which is told, and does no harm
    assert "being prepared" in page.panel._message.content
    gate.open.set()
    assert until(lambda: viewer.read(0.05) >= 0 and studio.ready)
    assert until(lambda: viewer.read(0.05) >= 0 and "LIVE" in page.panel._line.content)
    assert studio.session.engine.playing
    viewer.vanish()


@pytest.mark.slow
def test_who_cannot_live_leads_back_to_the_scene_before(studio: Studio, gate: Gate) -> None:
    gate.open.set()
    first, page = studio.session, studio.page
    viewer = WireViewer(studio.address)
    assert until(page.viewers)
    gate.fails = True
    told: list[str] = []
    tell = page.tell
    page.tell = lambda message: (told.append(message), tell(message))[1]  # type: ignore[method-assign]
    page.panel._open("circle_swap")
    assert until(lambda: viewer.read(0.05) >= 0 and "nobody can live here" in told)
    assert until(lambda: studio.ready)
    assert studio.session is first
    number = first._ticks
    assert until(lambda: viewer.read(0.05) >= 0 and first._ticks > number + 3)
    gate.fails = False
    page.panel._open("circle_swap")
    assert until(lambda: viewer.read(0.05) >= 0 and studio.session is not first)
    viewer.vanish()


def test_the_first_scene_that_cannot_live_ends_the_studio_with_the_reason(gate: Gate, tmp_path: Path) -> None:
    gate.fails = True
    gate.open.set()
    made = Studio(scene_from_dict(SCENE), port=0, folder=tmp_path)
    try:
        with pytest.raises(LiveError, match="nobody can live here"):
            made.run(3, alone=True)
    finally:
        made.close()
