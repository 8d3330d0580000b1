"""Obstacles mapped into a tree's frame for each query, as the thesis does it (Lau 2009, chapter 4.4).

`gaitway.tree.query.tree_search` looks cells up in the world instead and maps nothing. This is here so that the
thesis's tables can be run again.
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
    """What can be in the way in a world, as plain arrays; G things. Movers are left out."""

    outlines: Outlines
    codes: npt.NDArray[np.uint8]
    """What each makes of a cell: OCCUPIED, or FIRST_KIND and the number of its kind in the table; (G,)."""
    boxes: FloatArray
    """Around each, without rounding: xmin, ymin, xmax, ymax [m]; (G, 4)."""

    @staticmethod
    def of(world: World, moves: Moves) -> MappedThings:
        """Obstacles of a world, as those see them who can do some moves.

        The border of the world is four walls, so thick that no move can have a sample on each side. Special obstacles
        that none of the moves passes are walls.
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
    """Cells in a tree's frame, and what is in them. **Mutable**: filled for a query, and reset after it.

    Attributes:
        spec: of its cells; that of an `EnvironmentMap`.
        cells: FREE, OCCUPIED, or FIRST_KIND and the number of a kind; (rows * columns,).
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
        """Cells in which something is, in the order in which they were marked."""
        return self._marked[: self._count]

    def map(self, things: MappedThings, pose: npt.ArrayLike, radius: float) -> int:
        """Mark where somebody cannot be, or only passing something special. What is marked already stays.

        Args:
            things: of the world.
            pose: x, y [m] and heading [rad] of the character, which stands at the tree's root; (3,).
            radius: of its body [m]; things grow by it.

        Returns:
            How many cells are marked.
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
        """Make all cells free, and touch only those that were marked."""
        kernels.unmark(self.cells, self._marked, self._count)
        self._count = 0


def _border(bounds: tuple[float, float, float, float], depth: float) -> list[Footprint]:
    """Walls around a box, so many metres thick."""
    x0, y0, x1, y1 = bounds
    boxes = (
        (x0 - depth, y0 - depth, x0, y1 + depth),
        (x1, y0 - depth, x1 + depth, y1 + depth),
        (x0, y0 - depth, x1, y0),
        (x0, y1, x1, y1 + depth),
    )
    return [Footprint.of_rings([[(a, b), (c, b), (c, d), (a, d)]]) for a, b, c, d in boxes]
