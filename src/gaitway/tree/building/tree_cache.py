"""Cache of trees that were grown before on this machine (see `gaitway.core.cache`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gaitway.core.cache import cached
from gaitway.tree.model import Tree
from gaitway.tree.moves import Moves
from gaitway.tree.region import Region

_ARRAYS = ("links", "ends", "places", "headings", "prices")
_STEPS = ("place_step", "cost_step")


def kept(moves: Moves, region: Region, how: tuple[object, ...], grow: Callable[[], Tree]) -> Tree:
    """Return a tree, from disk if it was grown before.

    Args:
        moves: moves of the tree.
        region: region that it is grown in.
        how: all other settings that it depends on: method, budget, seed and so on.
        grow: function that grows it.
    """

    def unpack(found: dict[str, Any]) -> Tree:
        arrays, steps = [found[name] for name in _ARRAYS], [float(found[name]) for name in _STEPS]
        return Tree(moves, region, *arrays, *steps)

    inputs = (moves.digest, *region.spec.origin, region.spec.cell, region.inside, *how)
    return cached(
        "tree",
        ("gaitway.tree.building.growing",),
        inputs,
        grow,
        lambda tree: {name: getattr(tree, name) for name in (*_ARRAYS, *_STEPS)},
        unpack,
    )
