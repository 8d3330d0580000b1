"""Search trees in 16 bytes a node (Lau 2009, section 4.2; the thesis took about 50).

Nodes are in depth-first order: a node comes before its children, and its subtree are the nodes from it up to its `end`.
Places, headings and costs are integer numbers of small steps; `unfold` computes them exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import TreeError
from gaitway.tree import _model_kernels as kernels
from gaitway.tree.moves import Moves
from gaitway.tree.region import Region

NODE_BYTES = 16
"""Bytes of a node: parent and move 4, end of the subtree 4, x and y 2 each, heading 2, cost 2."""
MOST_NODES = 1 << 24
"""Most nodes of a tree: a node keeps its parent in three bytes."""
MOST_LEVELS = kernels.MOST_LEVELS
"""Most moves from the root of a tree to a node."""
_STEPS = 32_767.0
_Number = TypeVar("_Number", bound=np.generic)


class Unfolded(NamedTuple):
    """Nodes in full precision; N nodes."""

    poses: FloatArray
    """End pose of each node in the frame of the root [m, rad]; headings count whole turns; (N, 3)."""
    costs: FloatArray
    """Costs of the paths from the root; (N,)."""
    times: FloatArray
    """Durations of the paths from the root [s]; (N,)."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A search tree of N nodes, the root first; arrays are read-only and may be mapped from a file."""

    moves: Moves
    region: Region
    links: npt.NDArray[np.uint32]
    """Parent in the upper 24 bits, move in the lower 8; the root has 255 there; (N,)."""
    ends: npt.NDArray[np.int32]
    """Node after the last one of each subtree; (N,)."""
    places: npt.NDArray[np.int16]
    """x and y in steps of `place_step`; (N, 2)."""
    headings: npt.NDArray[np.int16]
    """Headings in 65536ths of a turn; (N,)."""
    prices: npt.NDArray[np.uint16]
    """Costs in steps of `cost_step`; (N,)."""
    place_step: float
    """Unit of `places` [m]."""
    cost_step: float

    def __len__(self) -> int:
        return len(self.links)

    @property
    def nbytes(self) -> int:
        """Memory of the nodes."""
        return sum(a.nbytes for a in (self.links, self.ends, self.places, self.headings, self.prices))

    @property
    def parents(self) -> IntArray:
        """Parent of each node, the root's is 0; (N,)."""
        return (self.links >> 8).astype(np.int64)

    @property
    def actions(self) -> IntArray:
        """Move of each node, the root's is -1; (N,)."""
        out = (self.links & 255).astype(np.int64)
        out[0] = -1
        return out

    @property
    def points(self) -> FloatArray:
        """End of each node, to half a `place_step` [m]; (N, 2)."""
        return self.place_step * self.places.astype(np.float64)

    @property
    def costs(self) -> FloatArray:
        """Cost of the path to each node, to half a `cost_step`; (N,)."""
        return self.cost_step * self.prices.astype(np.float64)

    @property
    def depths(self) -> IntArray:
        """Number of moves from the root to each node; (N,)."""
        return kernels.depths(_shown(self.links))

    @property
    def states(self) -> IntArray:
        """State of the table that each node ends in; (N,)."""
        table, actions = self.moves.table, self.actions
        out = table.end_state[self.moves.actions[actions]]
        out[0] = table.state(self.moves.root)
        return out

    def path(self, node: int) -> IntArray:
        """Return the nodes on the path to a node, without the root; (depth,)."""
        if not 0 <= node < len(self):
            raise TreeError(f"no node {node} in a tree of {len(self)}")
        out = []
        while node > 0:
            out.append(node)
            node = int(self.links[node] >> 8)
        return np.array(out[::-1], dtype=np.int64)

    def unfold(self) -> Unfolded:
        """Return all nodes in full precision."""
        rows = self.moves.actions
        table = self.moves.table
        numbers = np.column_stack([table.moves[rows], self.moves.costs, table.durations[rows]])
        out = kernels.unfold(_shown(self.links), read_only(numbers))
        return Unfolded(out[:, :3], out[:, 3], out[:, 4])


def compact(moves: Moves, region: Region, parents: npt.NDArray[np.int32], actions: npt.NDArray[np.uint8]) -> Tree:
    """Make a tree of nodes in the order in which they were added.

    Args:
        moves: moves of the tree.
        region: region that it was grown in.
        parents: parent of each node, which comes before it; the root's is -1; (N,).
        actions: move of each node; the root's has no meaning; (N,).
    """
    if not 0 < len(parents) <= MOST_NODES:
        raise TreeError(f"tree of {len(parents)} nodes; it can have 1 to {MOST_NODES}")
    links, ends = kernels.depth_first(_shown(parents), _shown(actions))
    table, rows = moves.table, moves.actions
    numbers = np.column_stack([table.moves[rows], moves.costs, table.durations[rows]])
    full = kernels.unfold(_shown(links), read_only(numbers))
    place_step = max(float(np.abs(full[:, :2]).max()), 1.0) / _STEPS
    cost_step = max(float(full[:, 3].max()), 1.0) / (2.0 * _STEPS)
    places, headings, prices = kernels.rounded(full, place_step, cost_step)
    for array in (links, ends, places, headings, prices):
        array.setflags(write=False)
    return Tree(
        moves=moves,
        region=region,
        links=links,
        ends=ends,
        places=places,
        headings=headings,
        prices=prices,
        place_step=place_step,
        cost_step=cost_step,
    )


def _shown(array: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Return an array of any number type as read-only, for kernels."""
    out: npt.NDArray[_Number] = read_only(array)  # type: ignore[type-var]
    return out
