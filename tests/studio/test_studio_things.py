"""Things that people handle, in the studio: where frames have them, and what the page sends of them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gaitway.core import rotations
from gaitway.scene import scene_from_dict
from gaitway.studio.page.storeys import HIDDEN, SHOWN
from gaitway.studio.page.things import PageThings
from gaitway.studio.things import scene_things, take_things
from gaitway.studio.waiting import standing_frame
from gaitway.take.things import joint_path, thing_facts
from gaitway.world.world import World
from small_takes import walkers

SCENE: dict[str, object] = {
    "gaitway": 1, "bounds": [0, 0, 8, 6],
    "movers": [{"name": "cart", "box": {"size": [1, 1], "height": 0.5}, "path": [[0, 2, 2, 0], [4, 6, 2, 90]]}],
    "objects": [
        {"name": "cup", "cylinder": [0.04, 0.1], "at": [4, 3, 0.75, 90], "color": "#102030"},
        {"name": "bag", "box": [0.1, 0.1, 0.1], "at": [0.2, 0, 0.5], "rides": "cart"},
        {"name": "hat", "cylinder": [0.1, 0.1], "worn": "ada", "grasps": [[0.1, 0, 0]]},
    ],
    "characters": [{"name": "ada", "start": [2, 5, 0], "errands": [{"wait": 1}]}],
}  # fmt: skip


def test_live_places_have_what_stands_and_what_rides() -> None:
    scene = scene_from_dict(SCENE)
    cup, bag = scene_things(scene, 4.0)
    assert (cup.track.name, cup.track.color, cup.place.tolist()) == ("cup", "#102030", [4.0, 3.0, 0.75])
    np.testing.assert_allclose(rotations.rotate(cup.turn, [1, 0, 0]), [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(bag.place, [6.0, 2.2, 0.5], atol=1e-12)
    assert [thing.track.name for thing in standing_frame(scene).things] == ["cup", "bag"]


def test_takes_have_things_in_the_hands_that_have_them() -> None:
    take = walkers(1, 2.0)
    spans = [[0.0, None, "", [3, 1, 0.75, 1, 0, 0, 0]], [1.0, take.names[0], "right_wrist", [0, 0, 0, 1, 0, 0, 0]]]
    take = replace(take, facts={"things": {"cup": thing_facts("ball", (0.08, 0.08, 0.08), None, spans)}})
    world = World((-5, -5, 5, 5))
    assert take_things(take, world, 0.5)[0].place.tolist() == [3.0, 1.0, 0.75]
    (wrist,), (turn,) = joint_path(take, 0, "right_wrist", np.array([1.5]))
    (cup,) = take_things(take, world, 1.5)
    np.testing.assert_allclose(cup.place, wrist)
    np.testing.assert_allclose(cup.turn, turn)


class _Handle:
    """A mesh that counts what is sent."""

    def __init__(self) -> None:
        self.sent, self.removed = {"visible": True}, False
        self.count = 0

    def remove(self) -> None:
        self.removed = True

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["sent"][name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("position", "wxyz", "visible"):
            self.sent[name] = value
            self.count += 1
        else:
            self.__dict__[name] = value


def test_the_page_sends_what_moves_draws_what_is_new_and_removes_what_has_gone() -> None:
    made: dict[str, _Handle] = {}

    def draw(name: str, *_: object, **__: object) -> _Handle:
        made[name] = _Handle()
        return made[name]

    low = [False]
    server: Any = SimpleNamespace(scene=SimpleNamespace(add_mesh_simple=draw))
    page = PageThings(server, lambda height: HIDDEN if low[0] and height > 0.6 else SHOWN)
    scene = scene_from_dict(SCENE)
    page.show(scene_things(scene, 0.0))
    cup, bag = made["/things/0"], made["/things/1"]
    assert cup.sent["position"].tolist() == [4.0, 3.0, 0.75]
    sent = cup.count, bag.count
    page.show(scene_things(scene, 1.0))
    assert (cup.count, bag.count) == (sent[0], sent[1] + 2), "only the cart has moved"
    low[0] = True
    page.show(scene_things(scene, 1.0))
    assert (cup.sent["visible"], bag.sent["visible"]) == (False, True)
    page.show(scene_things(scene, 1.0)[1:])
    assert cup.removed
    assert bag.removed, "it has another number now"
    assert made["/things/0"].sent["position"] == pytest.approx(np.array([3.2, 2.0, 0.5]), abs=0.3)
