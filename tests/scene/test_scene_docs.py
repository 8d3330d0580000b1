"""The page about scene files is true: its examples load, and its tables say what the models say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gaitway.behavior.options import BehaviorOptions
from gaitway.crowd.plan_options import ThrongOptions
from gaitway.scene import scene_from_dict
from gaitway.scene.area_models import AreaItem, CircleItem, GroundAreaItem
from gaitway.scene.door_model import DoorItem
from gaitway.scene.errand_models import ErrandItem, PlaceItem, RuleItem, SeatItem, WaitItem
from gaitway.scene.fields import SceneItem
from gaitway.scene.lift_model import EscalatorItem, LiftItem
from gaitway.scene.model import CameraItem, CharacterItem, LibraryItem, MixItem, SceneModel, SourceItem
from gaitway.scene.object_models import ObjectItem
from gaitway.scene.problem import shown
from gaitway.scene.reading.messages import _fields, _range
from gaitway.scene.reading.nodes import parse_nodes
from gaitway.scene.world_models import (
    BoxItem,
    CylinderItem,
    HillsItem,
    MeshItem,
    MoverItem,
    ObstacleItem,
    PhaseItem,
    PolygonItem,
    RampItem,
    SpecialItem,
    SpecialShapeItem,
    SphereItem,
    StairsItem,
    TerrainItem,
    WallItem,
)
from gaitway.tree.options import TreeOptions

PAGE = (Path(__file__).parents[2] / "docs" / "scene.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
MODELS: list[type[SceneItem]] = [
    *(SceneModel, BoxItem, CylinderItem, SphereItem, PolygonItem, WallItem, MeshItem, ObstacleItem, SpecialShapeItem),
    *(
        SpecialItem,
        StairsItem,
        RampItem,
        MoverItem,
        PhaseItem,
        DoorItem,
        LiftItem,
        EscalatorItem,
        TerrainItem,
        HillsItem,
        CharacterItem,
        AreaItem,
        CircleItem,
        GroundAreaItem,
    ),
    *(CircleItem, CameraItem, LibraryItem, BehaviorOptions, TreeOptions, ThrongOptions),
    *(PlaceItem, SeatItem, ErrandItem, WaitItem, SourceItem, MixItem, RuleItem, ObjectItem),
]
SHAPES = {"box", "cylinder", "sphere", "polygon", "wall", "mesh", "stairs", "ramp", "hills"}


def table(model: type[SceneItem]) -> list[str]:
    """Rows for the keys of a model: what it means, what it is where nothing is written, and its bounds."""
    rows = []
    for key, info in _fields(model).items():
        if key in SHAPES and info.description is None:
            continue
        default = "required" if info.is_required() else "" if info.default in (None, ()) else shown(info.default)
        default = default.strip("'")
        bounds = _range(info).removeprefix("a whole number").removeprefix("a number").split("[")[0].strip()
        rows.append(f"| `{key}` | {info.description} | {default} | {bounds} |")
    return rows


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_tables_say_what_the_models_say(model):
    missing = [row for row in table(model) if row not in PAGE]
    assert missing == []


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_load(text):
    data = dict(parse_nodes(text.encode(), Path("scene.md")).plain())
    scene_from_dict({"gaitway": 1, "bounds": (0, 0, 40, 30), **data})
