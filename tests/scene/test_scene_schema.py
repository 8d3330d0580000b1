"""The JSON Schema says what the loader says, as far as a schema can."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from gaitway.core.errors import FormatError
from gaitway.scene import load_scene, ready_scenes, scene_schema, scene_to_yaml
from gaitway.scene.reading.nodes import parse_nodes, read_nodes
from schema_walk import valid

SCHEMA = scene_schema()
TABLE = (Path(__file__).parent / "bad_scenes.txt").read_text(encoding="utf-8").split("===== ")[1:]
BEYOND_A_SCHEMA = {
    "a source inside a wall",
    "a door between two floors",
    "a door outside",
    "a door that does not move",
    "a door that opens and closes at once",
    "a rule for a door that is not there",
    "a rule for a door where none is",
    "people wait for a door as for a train",
    "two doors of one name",
    "wait for a mover that is not there",
    "thing of an errand that there is not",
    "thing without a grasp",
    "two things in one hand",
    "errands after leaving",
    "line through a wall",
    "event that no rule makes",
    "place of an errand that there is not",
    "place outside",
    "queue where nobody is served",
    "repeats that never end",
    "sitting where there are no seats",
    "source outside",
    "times in the wrong order",
    "bounds too large",
    "an area on a floor that is not there",
    "an area on a floor where there is one",
    "rules outside",
    # what is known only by reading other files, by comparing numbers or by building the world
    *(
        "bounds flipped",
        "cast",
        "cast far",
        "style",
        "bow tie",
        "mesh missing",
        "mesh kind",
    ),
    *(
        "mover times",
        "mover before",
        "mover repeat",
        "mover phases",
        "terrain file",
        "library file",
        "terrain too many",
        "too many in all",
    ),
    *(
        "opposite alone",
        "area flipped",
        "area crossed",
        "goal outside",
        "start outside",
        "start in box",
        "goal near box",
    ),
    *("start in mover", "overlap", "names", "crowded", "area outside", "ring outside", "ring crowded", "several"),
    *("include missing", "include itself", "include folder", "a lift upside down"),
}


def documents():
    for block in TABLE:
        name, text = re.fullmatch(r"([^\n]*)\n(.*?)-> [^\n]*\n", block, flags=re.DOTALL).groups()
        try:
            data = parse_nodes(text.encode(), Path("scene.yaml")).plain()
        except FormatError:
            continue
        if "nan" not in name:  # JSON has no such numbers
            yield name, data


DOCUMENTS = dict(documents())
REFUSED = {name: data for name, data in DOCUMENTS.items() if name not in BEYOND_A_SCHEMA}


@pytest.mark.parametrize("name", sorted(ready_scenes()))
def test_ready_scenes_are_valid(name):
    assert valid(read_nodes(ready_scenes()[name]).plain(), SCHEMA, SCHEMA)
    text = scene_to_yaml(load_scene(name).source).encode()
    assert valid(parse_nodes(text, Path("again.yaml")).plain(), SCHEMA, SCHEMA)


def test_there_is_much_to_refuse():
    assert len(REFUSED) > 70


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_the_loader_refuses_the_schema_refuses(name):
    assert not valid(REFUSED[name], SCHEMA, SCHEMA)


@pytest.mark.parametrize("name", sorted(BEYOND_A_SCHEMA))
def test_what_no_schema_can_see_is_listed_rightly(name):
    assert valid(DOCUMENTS[name], SCHEMA, SCHEMA)


def test_short_and_long_forms_are_both_valid():
    base = {"gaitway": 1, "bounds": [0, 0, 40, 30]}
    for library in ("person", {"cast": "horse", "style": 3}, {"style": "style-1"}):
        assert valid({**base, "library": library}, SCHEMA, SCHEMA)
    for area in ([0, 0, 5, 5], {"rectangle": [0, 0, 5, 5]}, {"ring": {"center": [1, 1], "radius": 3}}):
        crowd = {"count": 3, "start_area": area, "goal": [1, 1], "plan": {"weight": 2}, "speed": 1.2}
        assert valid({**base, "characters": [crowd]}, SCHEMA, SCHEMA)
    for special in (
        {"vault": {"center": [1, 1], "size": [1, 1], "height": 1}, "name": "a", "color": "#102030"},
        {"duck": {"points": [[0, 0], [1, 0], [1, 1]], "clearance": 1.2}, "color": "#102030"},
        {"stairs": {"center": [1, 1], "width": 2, "steps": 4}},
    ):
        assert valid({**base, "specials": [special]}, SCHEMA, SCHEMA)
    assert valid({"gaitway": 1, "include": ["walls.yaml"]}, SCHEMA, SCHEMA)


def everything(schema, path=""):
    if isinstance(schema, dict):
        yield path, schema
        for key, value in schema.items():
            yield from everything(value, f"{path}/{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from everything(value, f"{path}/{index}")


def test_it_is_plain_json_of_the_draft_without_loose_ends():
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(json.dumps(SCHEMA, allow_nan=False)) == json.loads(json.dumps(scene_schema()))
    for path, part in everything(SCHEMA):
        if "$ref" in part:
            assert part["$ref"].removeprefix("#/$defs/") in SCHEMA["$defs"], path
        assert part.get("type") != "null", path


def test_every_key_is_described_and_every_number_has_bounds():
    objects = [(path, part) for path, part in everything(SCHEMA) if part.get("type") == "object"]
    assert len(objects) > 15
    for path, part in objects:
        for name, inner in part.get("properties", {}).items():
            assert "$ref" in inner or inner.get("description"), f"{path}: {name}"
    for path, part in everything(SCHEMA):
        if part.get("type") in ("number", "integer"):
            least = part.get("minimum", part.get("exclusiveMinimum", -math.inf))
            most = part.get("maximum", part.get("exclusiveMaximum", math.inf))
            assert math.isfinite(least) and math.isfinite(most), path
