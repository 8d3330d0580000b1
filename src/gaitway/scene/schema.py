"""The scene format as JSON Schema, for editors that complete and check while the user types."""

from __future__ import annotations

from typing import Any

from gaitway.planners import DEFAULT_PLANNER, planner_entry, planner_names
from gaitway.scene.errand_models import OPTIONS, VERBS
from gaitway.scene.model import SceneModel
from gaitway.scene.object_models import FORMS
from gaitway.scene.world_models import MoverItem, ObstacleItem, PhaseItem

DRAFT = "https://json-schema.org/draft/2020-12/schema"
KINDS = ("jump", "duck", "crawl", "climb", "box", "passable")
"""Kinds of special obstacle that the schema lists; any other word is a kind as well."""

Schema = dict[str, Any]


def scene_schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of scene files.

    A schema cannot express everything (such as that a goal lies inside the bounds); `scene_problems` checks the rest.
    """
    schema = _tidy(SceneModel.model_json_schema(by_alias=True))
    parts = schema["$defs"]
    for model in (ObstacleItem, MoverItem):
        parts[model.__name__]["oneOf"] = [{"required": [key]} for key in model.SHAPES]
    parts["PhaseItem"]["allOf"] = [_at_most_one(PhaseItem.SHAPES)]
    _describe_specials(parts)
    _describe_mesh(parts["MeshItem"])
    _describe_terrain(parts["TerrainItem"])
    _describe_characters(parts["CharacterItem"])
    _describe_errands(parts)
    _describe_objects(parts["ObjectItem"])
    _describe_places(schema["properties"]["places"])
    parts["AreaItem"] = _area(parts["AreaItem"])
    parts["LibraryItem"] = _library(parts["LibraryItem"])
    parts["Plan"] = _plan(parts)
    for owner in (schema, parts["CharacterItem"], parts["SourceItem"]):
        owner["properties"]["plan"] = {**_texts(owner["properties"]["plan"]), "$ref": "#/$defs/Plan"}
    schema["required"] = ["gaitway"]
    schema["anyOf"] = [{"required": ["bounds"]}, {"required": ["include"]}]
    return {"$schema": DRAFT, **schema, "title": "gaitway scene"}


def _tidy(value: Any) -> Any:
    """Return a schema without the null that stands for a key that is left out."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {key: _tidy(item) for key, item in value.items()}
    if {"type": "null"} in out.get("anyOf", ()):
        rest = [choice for choice in out.pop("anyOf") if choice != {"type": "null"}]
        out = {**(rest[0] if len(rest) == 1 else {"anyOf": rest}), **out}
    if out.get("default", 0) is None:
        del out["default"]
    return out


def _texts(schema: Schema) -> Schema:
    return {key: schema[key] for key in ("title", "description", "examples") if key in schema}


def _at_most_one(keys: tuple[str, ...]) -> Schema:
    none = {"not": {"anyOf": [{"required": [key]} for key in keys]}}
    return {"oneOf": [none, *({"required": [key]} for key in keys)]}


def _describe_specials(parts: Schema) -> None:
    """Require exactly one kind: one key more than there are of name and color."""
    shape = {"$ref": "#/$defs/SpecialShapeItem"}
    item = parts["SpecialItem"]
    solid = {**shape, "anyOf": [{"required": ["height"]}, {"required": ["clearance"]}]}
    for kind in KINDS:
        under = kind in ("duck", "crawl")
        item["properties"][kind] = {**shape, "required": ["clearance"]} if under else solid
    item["additionalProperties"] = solid
    item["propertyNames"] = {"pattern": r"^[^\W\d]\w*$", "not": {"const": "wall"}}
    item["oneOf"] = [
        {
            "minProperties": 1 + name + color,
            "maxProperties": 1 + name + color,
            "required": ["name"] * name + ["color"] * color,
            "properties": {**({} if name else {"name": False}), **({} if color else {"color": False})},
        }
        for name in (0, 1)
        for color in (0, 1)
    ]
    parts["SpecialShapeItem"]["oneOf"] = [
        {"required": ["center", "size"], "properties": {"points": False}},
        {"required": ["points"], "properties": {"center": False, "size": False}},
    ]


def _describe_mesh(item: Schema) -> None:
    walkable = {"properties": {"walkable": {"const": True}}, "required": ["walkable"]}
    item["anyOf"] = [{"properties": {"ground": {"const": False}}}, walkable]


def _describe_terrain(item: Schema) -> None:
    alone = {"heights": False, "cell": False, "scale": False, "origin": False}
    item["oneOf"] = [
        {"required": ["heights", "cell"], "properties": {"hills": False}},
        {"required": ["hills"], "properties": alone},
    ]


def _describe_characters(item: Schema) -> None:
    item["allOf"] = [
        {"oneOf": [{"required": ["start"]}, {"required": ["start_area"]}]},
        {"oneOf": [{"required": ["goal"]}, {"required": ["goal_area"]}, {"required": ["errands"]}]},
        {"not": {"required": ["count", "start"]}},
        {"anyOf": [{"properties": {"companions": False}}, {"required": ["count", "errands"]}]},
    ]


def _describe_places(item: Schema) -> None:
    ((pattern, place),) = item.pop("patternProperties").items()
    item |= {"additionalProperties": place, "propertyNames": {"pattern": pattern}}


def _describe_errands(parts: Schema) -> None:
    """Require what the models require of places, areas, errands, sources and rules, and add their short forms."""
    parts["ErrandItem"]["oneOf"] = [_errand(verb) for verb in VERBS]
    parts["PlaceItem"]["allOf"] = [
        {"oneOf": [{"required": [key]} for key in ("at", "area", "line", "seats")]},
        {"anyOf": [{"properties": {"line": False}}, {"required": ["service"]}]},
        {
            "anyOf": [
                {"properties": {"service": False}},
                {"required": ["line"]},
                {"properties": {"at": {"minItems": 3}}},
            ]
        },
    ]
    rules = [{"required": [key]} for key in ("cost", "one_way", "speed_limit", "keep", "priority")]
    not_ring = {"properties": {"area": {"not": {"type": "object", "required": ["ring"]}}}}
    parts["GroundAreaItem"]["allOf"] = [{"anyOf": rules}, not_ring]
    parts["WaitItem"]["oneOf"] = [{"required": [key]} for key in ("seconds", "until", "event", "mover")]
    parts["SourceItem"]["allOf"] = [
        {"oneOf": [{"required": ["rate"]}, {"required": ["times"]}]},
        {"anyOf": [{"required": [key]} for key in ("times", "until", "count")]},
    ]
    parts["DoorItem"]["not"] = {"required": ["slide", "swing_deg"]}
    parts["RuleItem"]["allOf"] = [
        {"oneOf": [{"required": [key]} for key in ("at", "after", "reach", "press")]},
        {"oneOf": [{"properties": {"send": False, "errands": False}}, {"required": ["send", "errands"]}]},
    ]
    for name, short in (("PlaceItem", "at"), ("SeatItem", "at"), ("WaitItem", "seconds")):
        item = parts[name]
        form = {key: value for key, value in item["properties"][short].items() if key != "title"}
        parts[name] = {"title": item["title"].removesuffix("Item"), "anyOf": [form, item]}


def _describe_objects(item: Schema) -> None:
    item["allOf"] = [
        {"oneOf": [{"required": [key]} for key in FORMS]},
        {"oneOf": [{"required": [key]} for key in ("at", "held", "worn")]},
        {"anyOf": [{"properties": {"fixed": {"const": False}, "rides": False}}, {"required": ["at"]}]},
    ]


def _errand(verb: str) -> Schema:
    """Return what an errand with a verb requires: that key, no other verb, and the keys that belong to it."""
    others = [key for key in (*VERBS, *{k for keys in OPTIONS.values() for k in keys}) if key != verb]
    barred = sorted(key for key in others if key not in OPTIONS[verb])
    needed = {"give": [{"required": ["to"]}], "put": [{"required": ["at"]}, {"required": ["on"]}]}.get(verb)
    schema: Schema = {"required": [verb], "properties": dict.fromkeys(barred, False)}
    return schema if needed is None else {**schema, "oneOf": needed}


def _area(item: Schema) -> Schema:
    keys = ("rectangle", "circle", "polygon", "ring")
    shapes = {**item, "oneOf": [{"required": [key]} for key in keys]}
    short = {key: value for key, value in item["properties"]["rectangle"].items() if key != "title"}
    return {"title": "Area", "anyOf": [short, shapes]}


def _library(item: Schema) -> Schema:
    short = {"type": "string", "description": "The name of a built-in cast, or of a library file"}
    others = [{"not": {"required": ["file", key]}} for key in item["properties"] if key != "file"]
    return {"title": "Library", "anyOf": [short, {**item, "allOf": others}]}


def _plan(parts: Schema) -> Schema:
    """Return one schema for each planner; without the key `planner` that of the default planner applies."""
    choices = []
    for planner in planner_names():
        schema = _tidy(planner_entry(planner).options_model().model_json_schema(by_alias=True))
        parts |= schema.pop("$defs", {})
        schema["properties"]["planner"] = {**_texts(schema["properties"]["planner"]), "const": planner}
        schema["required"] = [] if planner == DEFAULT_PLANNER else ["planner"]
        choices.append(schema)
    return {"title": "Plan", "anyOf": choices}
