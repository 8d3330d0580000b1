"""A binary heap of numbered nodes by key, least key first, in two arrays of any number type.

Two searches keep heaps of their own, because their order among equal keys is part of their results: the A* search
(`behavior._search_memory_kernels`) breaks ties by estimate and then by age, the live crowd
(`live.planning._aim_kernels`) by number, and builds its heap in one pass.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from gaitway.core.jit import kernel


@kernel(borrows=True, inner=True)
def push(keys: npt.NDArray[Any], nodes: npt.NDArray[Any], size: int, key: float, node: int) -> None:
    """Add a node to a heap that has `size` nodes."""
    place = size
    while place > 0 and keys[(place - 1) >> 1] > key:
        keys[place], nodes[place] = keys[(place - 1) >> 1], nodes[(place - 1) >> 1]
        place = (place - 1) >> 1
    keys[place], nodes[place] = key, node


@kernel(borrows=True, inner=True)
def pop(keys: npt.NDArray[Any], nodes: npt.NDArray[Any], size: int) -> int:
    """Remove the node with the least key and return it; `size` nodes are left."""
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
