"""Obstacles mapped into a tree's frame for each query, as the thesis does it (Lau 2009, chapter 4.4).

`gaitway.tree.query.tree_search` looks up cells in the world instead and maps nothing. This module exists so that the
tables of the thesis can be computed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, owned, read_only
from gaitway.core.errors import TreeError
from gaitway.tree.moves import Moves
from gaitway.tree.thesis import _mapping_kernels as kernels
from gaitway.tree.thesis._mapping_kernels import FIRST_KIND, FREE, OCCUPIED
from gaitway.world.footprint import Footprint, Outlines
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import PASSABLE
from gaitway.world.world import World

__all__ = ["FIRST_KIND", "FREE", "OCCUPIED", "MappedGrid", "MappedThings"]


class MappedThings(NamedTuple):
    """G obstacles of a world as plain arrays, with the walls at its border. Movers are left out."""

    outlines: Outlines
    """Outlines of the obstacles."""
    codes: npt.NDArray[np.uint8]
    """Code that each obstacle writes into its cells: OCCUPIED, or FIRST_KIND plus the number of its kind in the table;
    (G,)."""
    boxes: FloatArray
    """Bounding box of each obstacle, without rounding: xmin, ymin, xmax, ymax [m]; (G, 4)."""

    @staticmethod
    def of(world: World, moves: Moves) -> MappedThings:
        """Collect the obstacles of a world for characters that can do the given moves.

        The border of the world becomes four walls. They are so thick that no move can have samples on both sides of a
        wall. A special obstacle that none of the moves passes counts as an ordinary obstacle.
        """
        table = moves.table
        passed = {table.kinds[k] for k in table.kind[moves.actions].tolist() if k >= 0}
        own = [obstacle for obstacle in world.obstacles if obstacle.kind != PASSABLE]
        codes = [FIRST_KIND + table.kinds.index(o.kind) if o.kind in passed else OCCUPIED for o in own]
        longest = float(np.hypot(*moves.points(0.1)[1].T).max())
        border = _border(world.bounds, longest)
        outlines = Outlines.of([*(obstacle.shape.footprint() for obstacle in own), *border])
        boxes = kernels.boxes_of(outlines.points, outlines.ring_starts, outlines.group_starts)
        every: npt.NDArray[np.uint8] = np.array([*codes, *[OCCUPIED] * len(border)], np.uint8)
        every.setflags(write=False)
        return MappedThings(outlines, every, read_only(boxes))


class MappedGrid:
    """Grid of cells with their codes, in a tree's frame. **Mutable**: filled for a query, and reset after it.

    Attributes:
        spec: position and size of the cells; the same as that of an `EnvironmentMap`.
        cells: code of each cell: FREE, OCCUPIED, or FIRST_KIND plus the number of a kind; (rows * columns,).
    """

    def __init__(self, spec: GridSpec) -> None:
        rows, columns = spec.shape
        self.spec = spec
        self.cells = np.zeros(rows * columns, np.uint8)
        self._marked = np.zeros(rows * columns, np.int32)
        self._count = 0
        self._spans = np.zeros((256, 2))
        self._place: FloatArray = owned((*spec.origin, 1.0 / spec.cell), "place", (3,))

    @property
    def marked(self) -> npt.NDArray[np.int32]:
        """Cells that are not free, in the order in which they were marked; (count,)."""
        return self._marked[: self._count]

    def map(self, things: MappedThings, pose: npt.ArrayLike, radius: float) -> int:
        """Mark the cells that a character cannot enter, or can enter only while it passes a special obstacle.

        Cells that are already marked stay marked.

        Args:
            things: obstacles of the world.
            pose: x, y [m] and heading [rad] of the character, which stands at the tree's root; (3,).
            radius: radius of the character's body [m]; obstacles are enlarged by it.

        Returns:
            The number of marked cells.
        """
        if not (np.isfinite(radius) and radius >= 0.0):
            raise TreeError(f"body of radius {radius} m; it must be 0 or more")
        where = owned(pose, "pose", (3,), error=TreeError)
        if len(self._spans) < 4 * len(things.outlines.points):
            self._spans = np.zeros((8 * len(things.outlines.points), 2))
        self._count = kernels.mark(
            things.outlines, things.codes, things.boxes, where, float(radius), self._place, *self.spec.shape,
            self.cells, self._marked, self._count, self._spans,
        )  # fmt: skip
        return self._count

    def reset(self) -> None:
        """Make all cells free. Cells that were not marked are not visited."""
        kernels.unmark(self.cells, self._marked, self._count)
        self._count = 0


def _border(bounds: tuple[float, float, float, float], depth: float) -> list[Footprint]:
    """Return four walls around a box (xmin, ymin, xmax, ymax), `depth` thick [m]."""
    x0, y0, x1, y1 = bounds
    boxes = (
        (x0 - depth, y0 - depth, x0, y1 + depth),
        (x1, y0 - depth, x1 + depth, y1 + depth),
        (x0, y0 - depth, x1, y0),
        (x0, y1, x1, y1 + depth),
    )
    return [Footprint.of_rings([[(a, b), (c, b), (c, d), (a, d)]]) for a, b, c, d in boxes]
