"""Trees that were grown before on this machine, from disk (see `gaitway.cache`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gaitway.cache import cached
from gaitway.tree.model import Tree
from gaitway.tree.moves import Moves
from gaitway.tree.region import Region

SOURCES = (
    "tree/_density_kernels.py", "tree/_growing_kernels.py", "tree/_growth.py", "tree/_growth_kernels.py",
    "tree/_least_kernels.py", "tree/_model_kernels.py", "tree/coverage.py", "tree/growing.py", "tree/keeping.py",
    "tree/model.py", "tree/moves.py", "tree/region.py",
)  # fmt: skip
"""What the nodes of a tree depend on besides its moves, region and numbers."""
_ARRAYS = ("links", "ends", "places", "headings", "prices")
_STEPS = ("place_step", "cost_step")


def kept(moves: Moves, region: Region, how: tuple[object, ...], grow: Callable[[], Tree]) -> Tree:
    """A tree, from disk if it was grown before.

    Args:
        moves: that it is grown of.
        region: that it is grown in.
        how: what it depends on besides: method, budget, seed and so on.
        grow: grows it.
    """

    def unpack(found: dict[str, Any]) -> Tree:
        arrays, steps = [found[name] for name in _ARRAYS], [float(found[name]) for name in _STEPS]
        return Tree(moves, region, *arrays, *steps)

    inputs = (moves.digest, *region.spec.origin, region.spec.cell, region.inside, *how)
    return cached(
        "tree", SOURCES, inputs, grow, lambda tree: {name: getattr(tree, name) for name in (*_ARRAYS, *_STEPS)}, unpack
    )
