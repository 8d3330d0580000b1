"""Waiting for movers: a train that stands beyond the bounds has not come."""

from __future__ import annotations

import math

import pytest

from gaitway.errands.mover_stops import next_stop, stops
from gaitway.scene import scene_from_dict
from gaitway.world.obstacle import Mover
from gaitway.world.shapes import Cylinder
from gaitway.world.world import World

TRAIN = [[0, -20, 5], [10, -20, 5], [14, 5, 5], [44, 5, 5], [48, 30, 5], [60, 30, 5], [64, 5, 5]]


def mover(path: list[list[float]]) -> Mover:
    return Mover.of(
        Cylinder((0.0, 0.0), 1.0, 1.0), [t for t, _, _ in path], [(x, y, 0.0) for _, x, y in path], name="train"
    )


def test_stops_are_told_from_keys() -> None:
    assert stops(mover(TRAIN)) == [(14.0, 44.0), (48.0, 60.0), (64.0, math.inf)]
    assert stops(mover([[0, 3, 3]])) == []
    assert stops(mover([[0, 3, 3], [5, 4, 3], [5.5, 4, 3], [9, 9, 3]])) == [(9.0, math.inf)]  # half a second is no stop


@pytest.mark.parametrize(("time", "stands"), [(0.0, 14.0), (20.0, 20.0), (44.0, 64.0), (100.0, 100.0)])
def test_beyond_the_bounds_it_is_not_there(time: float, stands: float) -> None:
    world = World((0.0, 0.0, 20.0, 10.0), movers=(mover(TRAIN),))
    assert next_stop(world, "train", time) == stands
    assert next_stop(world, "tram", time) is None


def test_people_set_off_when_it_stands() -> None:
    from gaitway.errands.planning import plan_errands

    scene = scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 20, 10],
        "movers": [{"cylinder": {"radius": 0.5, "height": 1}, "name": "train", "path": [[0, -9, 8], [6, 10, 8]]}],
        "characters": [{"name": "ada", "start": [4, 3], "errands": [{"wait": {"mover": "train"}}, {"go": [9, 3]}]}],
    })  # fmt: skip
    ada = plan_errands(scene, seed=1).people[0]
    assert 6.0 < ada.spans[0].end < 7.5
    assert [span.outcome for span in ada.spans] == ["done", "done"]
    assert ada.walks[0].plan.steps[0].time > 6.0
