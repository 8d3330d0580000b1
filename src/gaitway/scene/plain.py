"""Python values as a scene file would have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gaitway.core.errors import SceneError
from gaitway.scene.nodes import MAX_DEPTH
from gaitway.scene.problem import Place, place_text


def plain_data(value: Any, place: Place = ()) -> Any:
    """The same with lists and arrays as tuples, NumPy's numbers as Python's, and without keys that are None.

    Raises:
        SceneError: if something is of a kind that a scene file cannot have.
    """
    if len(place) > MAX_DEPTH:
        raise SceneError(f"{place_text(place[:3])}...: is nested more than {MAX_DEPTH} deep")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise SceneError(f"{place_text(place) or 'scene'}: key {key!r} is not a text; write it in quotes")
        return {key: plain_data(item, (*place, key)) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return tuple(plain_data(item, (*place, index)) for index, item in enumerate(value))
    if isinstance(value, str | int | float):
        return value
    raise SceneError(f"{place_text(place) or 'scene'}: a {type(value).__name__} cannot be part of a scene")
