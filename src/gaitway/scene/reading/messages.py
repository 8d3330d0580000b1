"""Messages for Pydantic's errors: the value, what is wrong with it, and what to write instead."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from gaitway.core.suggest import nearest
from gaitway.scene.problem import Place, shown

_TYPES = {
    "float_type": ("is not a number", "a number"),
    "finite_number": ("is not a finite number", "a number"),
    "int_type": ("is not a whole number", "a whole number"),
    "int_from_float": ("is not a whole number", "a whole number"),
    "int_parsing_size": ("is too large", "a smaller number"),
    "bool_type": ("is neither true nor false", "true or false"),
    "string_type": ("is not a text", "a text, in quotes if it looks like a number"),
    "tuple_type": ("is not a list", "a list: [...]"),
    "dict_type": ("is not a map", "a map: {key: value}"),
    "model_type": ("is not a map", "a map: {key: value}"),
    "model_attributes_type": ("is not a map", "a map: {key: value}"),
    "string_too_short": ("is empty", "a text"),
}
MOST_FINDINGS = 1000
"""Largest number of problems that are reported for one file; a hostile file could have millions."""
_BOUNDS = {"greater_than": "gt", "greater_than_equal": "ge", "less_than": "lt", "less_than_equal": "le"}
"""Names of the bounds, by Pydantic's kind of error."""


def findings(error: ValidationError, model: type[BaseModel]) -> list[tuple[Place, str, bool]]:
    """Return each problem: its place, its text, and whether it is about the key rather than the value.

    A key that is missing because it is misspelt is reported once.
    """
    entries = error.errors(include_url=False)[:MOST_FINDINGS]
    misspelt = set()
    for entry in entries:
        if entry["type"] == "extra_forbidden":
            *above, key = entry["loc"]
            near = nearest(str(key), _keys(_model_at(model, tuple(above))))
            misspelt.add((*above, near))
    return [
        (tuple(entry["loc"]), _text(entry, model), entry["type"] == "extra_forbidden")
        for entry in entries
        if not (entry["type"] == "missing" and tuple(entry["loc"]) in misspelt)
        and not (entry["type"] == "too_short" and _has_wrong_entries(tuple(entry["loc"]), entries))
    ]


def _has_wrong_entries(place: Place, entries: list[Any]) -> bool:
    """Return whether a list seems too short only because some of its entries are wrong."""
    return any(len(e["loc"]) > len(place) and tuple(e["loc"][: len(place)]) == place for e in entries)


def _text(entry: Any, model: type[BaseModel]) -> str:
    kind, value, place, context = entry["type"], entry["input"], tuple(entry["loc"]), entry.get("ctx", {})
    if kind == "extra_forbidden" and place[0] == "obstacles" and len(place) == 3 and place[-1] in _SPECIAL:
        return "special obstacles stand in a list of their own; write it under specials:"
    if kind == "extra_forbidden":
        return unknown_key(str(place[-1]), _keys(_model_at(model, place[:-1])))
    if kind == "missing":
        return f"missing; write {_form(_field_at(model, place), place)}"
    if kind == "scene":
        subject = "" if isinstance(value, dict) else f"{shown(value)} "  # a map is named by its place
        return f"{subject}{context['what']}; write {context['write']}"
    if kind in _BOUNDS:
        return f"{shown(value)} is out of range; write {_range(_field_at(model, place))}"
    if kind in ("too_long", "too_short"):
        bound = f"at most {context['max_length']}" if kind == "too_long" else f"at least {context['min_length']}"
        return f"has {len(value)} {'entry' if len(value) == 1 else 'entries'}; write {bound}"
    if kind in ("int_type", "int_from_float") and isinstance(value, float) and value.is_integer():
        return f"{value!r} is not written as a whole number; write {int(value)}"
    if kind == "string_too_long":
        return f"{shown(value)} has {len(value)} characters; write at most {context['max_length']}"
    if kind == "literal_error":
        return f"{shown(value)} is not one of the choices; write {context['expected'].replace(chr(39), '')}"
    if kind == "string_pattern_mismatch":
        return f"{shown(value)} cannot be used; write {_PATTERNS.get(context['pattern'], 'a plain text')}"
    what, write = _TYPES.get(kind, ("does not belong here", "what the format describes"))
    unit = _unit(_field_at(model, place))
    return f"{shown(value)} {what}; write {write}{unit if 'number' in write else ''}"


_SPECIAL = ("jump", "duck", "crawl", "climb", "stairs", "passable")
"""Kinds of special obstacles that a newcomer looks for among the others."""
_PATTERNS = {
    r"^#[0-9a-fA-F]{6}$": "a colour as '#rrggbb'",
    r"^[^\W\d]\w*$": "one word of letters, digits and _",
    r"^\w[\w .\-]*$": "letters, digits, spaces, dots, hyphens and _",
    r"^[^\x00-\x1f\x7f]+$": "a file name without control characters",
}


def unknown_key(key: str, choices: tuple[str, ...]) -> str:
    """Return the message for a key that is not among the choices."""
    near = nearest(key, choices)
    return f"unknown key; did you mean '{near}'?" if near else f"unknown key; write one of {', '.join(choices)}"


def _range(info: FieldInfo | None) -> str:
    bounds: dict[str, Any] = {}
    for item in info.metadata if info else ():
        bounds |= {name: getattr(item, name) for name in _BOUNDS.values() if getattr(item, name, None) is not None}
    whole = info is not None and int in (info.annotation, *typing.get_args(info.annotation))
    number = "a whole number" if whole else "a number"
    if "ge" in bounds and "le" in bounds:
        return f"{number} from {bounds['ge']:.12g} to {bounds['le']:.12g}{_unit(info)}"
    words = {"gt": "above", "ge": "of at least", "lt": "below", "le": "at most"}
    return f"{number} {' and '.join(f'{words[name]} {bound:.12g}' for name, bound in bounds.items())}{_unit(info)}"


def _unit(info: FieldInfo | None) -> str:
    extra = info.json_schema_extra if info else None
    return f" [{extra['unit']}]" if isinstance(extra, dict) and "unit" in extra else ""


def _form(info: FieldInfo | None, place: Place) -> str:
    """Return how to write a missing field: its example if it has one, else its meaning."""
    if info is None:
        return str(place[-1])
    if info.examples:
        return f"for example {place[-1]}: {shown(info.examples[0])}"
    return f"{place[-1]}: {info.description}"


def _keys(model: type[BaseModel] | None) -> tuple[str, ...]:
    return tuple(info.alias or name for name, info in model.model_fields.items()) if model else ()


def _field_at(model: type[BaseModel], place: Place) -> FieldInfo | None:
    """Return the field of the last key of a place (indices after that key belong to its list)."""
    while place and isinstance(place[-1], int):
        place = place[:-1]
    inner = _model_at(model, place[:-1]) if place else None
    return _fields(inner).get(str(place[-1])) if inner else None


def _fields(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    return {info.alias or name: info for name, info in model.model_fields.items()}


def _model_at(model: type[BaseModel], place: Place) -> type[BaseModel] | None:
    """Return the model of the map at a place."""
    current: type[BaseModel] | None = model
    named = False  # whether the next step is a name in a map of models
    for step in place:
        if isinstance(step, int) or named:
            named = False
            continue
        info = _fields(current).get(step) if current else None
        if info is not None:
            current, named = _model_in(info.annotation), typing.get_origin(info.annotation) is dict
        elif current is not None and current.model_config.get("extra") == "allow":
            current = _model_in(typing.get_type_hints(current)["__pydantic_extra__"])
        else:
            return None
    return current


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the one model in an annotation such as `tuple[BoxItem, ...] | None`."""
    if inspect.isclass(annotation) and not typing.get_args(annotation):
        return annotation if issubclass(annotation, BaseModel) else None
    found = (_model_in(argument) for argument in typing.get_args(annotation))
    return next((model for model in found if model is not None), None)
