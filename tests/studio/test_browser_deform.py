"""People of planner `deform` in a real browser: what the mouse drags into their way bends it, and they are not hit."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from chromium import until
from gaitway.studio import events
from gaitway.studio.deform_play import DeformPlay
from gaitway.studio.edits import item_pose
from studio_stand import PATIENCE, Stand

pytestmark = pytest.mark.slow


def scene_with_a_crate() -> dict[str, object]:
    return {
        "gaitway": 1, "bounds": [0, 0, 14, 9], "seed": 3,
        "obstacles": [
            {"box": {"center": [7, 1.5], "size": [0.8, 0.8], "height": 1.2}, "name": "crate"},
            {"box": {"center": [9.5, 7.1], "size": [0.3, 3.6], "height": 2}},
        ],
        "characters": [{"name": "ada", "start": [1.5, 5, 0], "goal": [12.5, 5]}],
        "plan": {"planner": "deform"},
    }  # fmt: skip


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    made = Stand(tmp_path_factory.mktemp("studio"), scene_with_a_crate())
    yield made
    made.close()


def test_a_crate_is_dragged_into_the_way_of_a_deforming_walker(stand: Stand) -> None:
    engine = stand.session.engine
    assert isinstance(engine._live, DeformPlay)
    stand.session.select("ada")
    stand.session.post(events.Play())
    until(lambda: stand.place("ada")[0] > 3.0, PATIENCE, "ada on her way")
    stand.session.post(events.Pause())
    until(lambda: not engine.playing, PATIENCE, "a pause")
    stand.tab.drag(stand.pixel((7.0, 1.5, 1.2)), stand.pixel((7.0, 4.9, 1.2)))
    until(lambda: math.dist(item_pose(engine.scene.source, "obstacles/0")[:2], (7.0, 4.9)) < 0.4, PATIENCE, "the crate")
    until(lambda: engine.stage.can_undo and stand.studio.page._place._grip is None, PATIENCE, "an edit that is done")
    seen: list[int] = []
    sides: list[float] = []
    x, y, _ = item_pose(engine.scene.source, "obstacles/0")
    stand.session.post(events.Play())

    def passed() -> bool:
        at = stand.place("ada")
        seen.append(stand.frame.figures.collisions)
        if abs(at[0] - x) < 0.4:
            sides.append(abs(float(at[1]) - y))
        return bool(at[0] > x + 1.5)

    until(passed, PATIENCE, "ada on the other side of the crate")
    stand.session.post(events.Pause())
    assert max(seen) == 0 and sides and min(sides) > 0.5
