"""A small JSON Schema validator (draft 2020-12): the keywords that our schemas use, and an error for any other."""

from __future__ import annotations

import re
from typing import Any

TEXTS = {"$schema", "$defs", "title", "description", "default", "examples", "unit"}
TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list | tuple),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
}


def valid(value: Any, schema: Any, root: Any) -> bool:
    """Whether a value (not NaN) is what a schema describes."""
    if isinstance(schema, bool):
        return schema
    return all(_keyword(value, key, schema, root) for key in schema)


def _keyword(value: Any, key: str, schema: Any, root: Any) -> bool:
    rule = schema[key]
    if key in TEXTS:
        return True
    if key == "$ref":
        return valid(value, root["$defs"][rule.removeprefix("#/$defs/")], root)
    if key in ("anyOf", "oneOf", "allOf"):
        count = sum(valid(value, choice, root) for choice in rule)
        return {"anyOf": count >= 1, "oneOf": count == 1, "allOf": count == len(rule)}[key]
    if key == "not":
        return not valid(value, rule, root)
    if key == "type":
        return TYPES[rule](value)
    if key == "const":
        return value == rule and type(value) is type(rule)
    if key == "enum":
        return value in rule
    for kind, check in ((dict, _object), (str, _string), ((list, tuple), _array)):
        if (result := check(value, key, schema, root) if isinstance(value, kind) else None) is not None:
            return result
    return _number(value, key, rule)


def _object(value: Any, key: str, schema: Any, root: Any) -> bool | None:
    rule = schema[key]
    if key == "properties":
        return all(valid(value[name], inner, root) for name, inner in rule.items() if name in value)
    if key == "additionalProperties":
        return all(valid(v, rule, root) for name, v in value.items() if name not in schema.get("properties", {}))
    if key == "propertyNames":
        return all(valid(name, rule, root) for name in value)
    counts = {"minProperties": lambda: len(value) >= rule, "maxProperties": lambda: len(value) <= rule}
    if key == "required":
        return set(rule) <= set(value)
    return counts[key]() if key in counts else None


def _string(value: Any, key: str, schema: Any, root: Any) -> bool | None:
    rule = schema[key]
    checks = {
        "pattern": lambda: re.search(rule, value) is not None,
        "minLength": lambda: len(value) >= rule,
        "maxLength": lambda: len(value) <= rule,
    }
    return checks[key]() if key in checks else None


def _array(value: Any, key: str, schema: Any, root: Any) -> bool | None:
    rule = schema[key]
    checks = {
        "items": lambda: all(valid(item, rule, root) for item in value),
        "prefixItems": lambda: all(valid(item, inner, root) for item, inner in zip(value, rule, strict=False)),
        "minItems": lambda: len(value) >= rule,
        "maxItems": lambda: len(value) <= rule,
        "uniqueItems": lambda: len({repr(item) for item in value}) == len(value),
    }
    return checks[key]() if key in checks else None


ELSEWHERE = {
    *("properties", "additionalProperties", "propertyNames", "minProperties", "maxProperties", "required"),
    *("pattern", "minLength", "maxLength", "items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
}


def _number(value: Any, key: str, rule: Any) -> bool:
    compare = {
        "minimum": lambda: value >= rule,
        "maximum": lambda: value <= rule,
        "exclusiveMinimum": lambda: value > rule,
        "exclusiveMaximum": lambda: value < rule,
    }
    if key not in compare:
        assert key in ELSEWHERE, f"the walk does not know the keyword '{key}'"
        return True  # a rule for values of another type
    return not TYPES["number"](value) or compare[key]()
