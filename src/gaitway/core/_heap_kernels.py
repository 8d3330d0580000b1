"""A binary heap of numbered nodes by a key, the least first, in two arrays of any kind of number."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from gaitway.core.jit import kernel


@kernel(borrows=True, inner=True)
def push(keys: npt.NDArray[Any], nodes: npt.NDArray[Any], size: int, key: float, node: int) -> None:
    """Put a node into a heap of so many."""
    place = size
    while place > 0 and keys[(place - 1) >> 1] > key:
        keys[place], nodes[place] = keys[(place - 1) >> 1], nodes[(place - 1) >> 1]
        place = (place - 1) >> 1
    keys[place], nodes[place] = key, node


@kernel(borrows=True, inner=True)
def pop(keys: npt.NDArray[Any], nodes: npt.NDArray[Any], size: int) -> int:
    """Take the first node out; so many are left."""
    first, key, node, place, below = nodes[0], keys[size], nodes[size], 0, 1
    while below < size:
        if below + 1 < size and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[place], nodes[place] = keys[below], nodes[below]
        place, below = below, 2 * below + 1
    keys[place], nodes[place] = key, node
    return int(first)
