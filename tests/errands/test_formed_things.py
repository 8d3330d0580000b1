"""Things with the form of a hull or a mesh, from a scene file to a take, an audit, files and a picture."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
import trimesh

from gaitway.audit import audit_take
from gaitway.core.errors import GaitwayError
from gaitway.handling import ThingPose, thing_carried
from gaitway.handling.grips import touch_place
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.take import load_take, save_take
from gaitway.take.things import things_of
from gaitway.world.surface import surface

WEDGE = [[x, y, z] for y in (0.0, 0.1) for x, z in ((0.0, 0.0), (0.2, 0.0), (0.0, 0.1))]
TABLE = {"box": {"center": [4.5, 3], "size": [0.8, 1.6], "height": 0.75}, "name": "table"}


def scene(objects: list[dict[str, Any]], errands: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "gaitway": 1, "seed": 2, "bounds": [0, 0, 7, 6], "obstacles": [TABLE], "objects": objects,
        "characters": [{"name": "ada", "start": [2.6, 3, 0], "errands": errands}],
    }  # fmt: skip


@cache
def planned() -> Planned:
    folder = Path(mkdtemp())
    body = trimesh.creation.cylinder(0.045, 0.12)
    spout = trimesh.creation.cylinder(0.012, 0.09, transform=trimesh.transformations.rotation_matrix(0.9, [0, 1, 0]))
    spout.apply_translation([0.07, 0.0, 0.03])
    trimesh.util.concatenate([body, spout]).export(folder / "pot.stl")
    objects = [
        {"name": "pot", "mesh": {"file": "pot.stl"}, "at": [4.28, 3.2, 0.75], "grasps": [[-0.045, 0, 0.06]]},
        {"name": "wedge", "hull": WEDGE, "at": [4.35, 2.5, 0.75, 180],
         "grasps": [[0, 0.045, 0.03], [0, -0.045, 0.03], [-0.09, 0, 0.05]]},
    ]  # fmt: skip
    errands = [{"take": "pot", "hand": "left"}, {"put": "pot", "at": [4.3, 3.5, 0.75]}, {"take": "wedge"},
               {"put": "wedge", "at": [4.3, 2.7, 0.75]}]  # fmt: skip
    return plan_scene(scene_from_dict(scene(objects, errands), folder))


@pytest.mark.slow
def test_hulls_and_meshes_are_taken_and_put_down() -> None:
    take, world = planned().take, planned().scene.world
    rows = [row for some in take.facts["errands"].values() for row in some]
    assert [row[3] for row in rows] == ["done"] * 4
    assert audit_take(take, world).ok
    pot, wedge = things_of(take)
    assert np.allclose(pot.spans[-1].pose[:3], (4.3, 3.5, 0.75), atol=0.005)
    assert np.allclose(wedge.spans[-1].pose[:3], (4.3, 2.7, 0.75), atol=0.005)


@pytest.mark.slow
def test_people_step_along_a_table_and_do_not_walk_around(tmp_path: Path) -> None:
    take = planned().take
    rows = take.facts["errands"]["ada"]
    assert rows[0][2] - rows[0][1] < 12.0  # 1.2 m away
    assert rows[1][2] - rows[1][1] < 8.0  # 0.3 m along the table
    save_take(take, tmp_path / "take.npz")
    assert things_of(load_take(tmp_path / "take.npz")) == things_of(take)
    vertices, triangles = surface(things_of(take)[0].solid())
    assert len(triangles) > 100 and np.ptp(vertices, axis=0) == pytest.approx((0.16, 0.09, 0.12), abs=0.02)


def test_a_hull_is_grasped_touched_and_in_a_hand() -> None:
    read = scene_from_dict(scene([{"name": "wedge", "hull": WEDGE, "at": [4.3, 3, 0.75]}], [{"touch": "wedge"}]))
    (wedge,) = read.things
    assert wedge.shape == "mesh" and wedge.size == pytest.approx((0.2, 0.1, 0.1))
    pose = ThingPose.upright((0.5, 0.0, 0.75), 0.0)
    assert touch_place(wedge, pose, (0.0, 0.0))[0] == pytest.approx(0.4, abs=0.02)  # its high side
    assert touch_place(wedge, pose, (1.5, 0.0))[0] > 0.5
    assert len(thing_carried(wedge, pose).radii) > 10


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        ({"hull": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}, "not in one plane"),
        ({"hull": [[0, 0, 0], [3, 0, 0], [0, 1, 0], [0, 0, 1]]}, "write a thing of 0.005 to 2 m"),
        ({"mesh": {"file": "no_such.stl"}}, "there is no such file"),
        ({"mesh": {"file": "x.txt"}}, "is not a mesh"),
        ({"hull": WEDGE, "ball": 0.1}, "has both ball and hull"),
    ],
)
def test_forms_that_cannot_be_are_one_line(thing: dict[str, Any], words: str) -> None:
    with pytest.raises(GaitwayError, match=words):
        scene_from_dict(scene([{"name": "thing", **thing, "at": [4.3, 3, 0.75]}], [{"touch": "thing"}]))
