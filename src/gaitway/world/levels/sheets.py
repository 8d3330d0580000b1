"""Sheets: parts of a place with several levels, none of which lies over itself.

A sheet has one height over each cell, so that all that holds for a floor plan holds for it: clearance, routes, checks.
Sheets overlap: each knows some ground of its neighbours. Every open span belongs to the core of one sheet, the one that
knows most of the ground around it. So a step that begins in the core of a sheet is tested on that sheet alone, wherever
it ends. After the step, the character is on the sheet to whose core the ground under it belongs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import WorldError
from gaitway.world.grid import Bounds, Window
from gaitway.world.levels import _route_kernels, _sheet_kernels
from gaitway.world.levels.spans import Geometry, OpenSpans, WalkLimits
from gaitway.world.world import World

_LEVEL = 0.03
"""Greatest rise from one cell to the next on a plateau [m]."""
_DEPTH = 3.0
"""Distance around a character that the sheet under it shall know [m]; no clip is longer."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A part of a place with one height over each cell."""

    number: int
    window: Window
    """Cells of the whole grid that the arrays below cover."""
    spans: npt.NDArray[np.int32]
    """Open span of each cell, -1 where there is none; (rows, columns)."""
    core: BoolArray
    """Whether the open span belongs to this sheet, and not to a neighbour; (rows, columns)."""
    heights: FloatArray
    """Height of the ground [m]; NaN where there is none; (rows, columns)."""

    @property
    def area(self) -> int:
        """Number of cells of the core."""
        return int(self.core.sum())


@dataclass(frozen=True)
class Portal:
    """Where one can step from the core of one sheet to that of another."""

    sheets: tuple[int, int]
    """The sheets, the lower number first."""
    spans: IntArray
    """Open spans on both sides, one pair in each row; (K, 2)."""


@dataclass(frozen=True, eq=False)
class WalkableSurface:
    """Everything in a place that a character can walk on, in sheets."""

    open: OpenSpans
    owners: npt.NDArray[np.int32]
    """Sheet of each open span, -1 where the body has no room; (N,)."""
    sheets: tuple[Sheet, ...]
    portals: tuple[Portal, ...]

    @staticmethod
    def of(
        geometry: Geometry | World, limits: WalkLimits | None = None, cell: float = 0.1, bounds: Bounds | None = None,
        *, further: bool = True,
    ) -> WalkableSurface:  # fmt: skip
        """Find the walkable surface of a place.

        Args:
            geometry: what the place is made of.
            limits: what a character needs; None for a walking person.
            cell: side of a cell of the grid [m].
            bounds: xmin, ymin, xmax, ymax [m] of what counts; None for those of the world or of the geometry.
            further: whether more sheets are laid over places around which none knows enough, as few as possible if not.

        Raises:
            WorldError: if there is no ground to walk on.
        """
        if bounds is None and isinstance(geometry, World):
            bounds = geometry.bounds
        whole = Geometry.of_world(geometry) if isinstance(geometry, World) else geometry
        spans = OpenSpans.of(whole, limits or WalkLimits(), cell, bounds)
        wide = spans.wide
        if not wide.any():
            raise WorldError(_why_nowhere(spans, whole))
        owners, parts = _overlapping(spans, _first_owners(spans, wide), further)
        owners.setflags(write=False)
        sheets = tuple(_sheet(spans, owners, number, part) for number, part in enumerate(parts))
        return WalkableSurface(spans, owners, sheets, _portals(spans, owners))

    @cached_property
    def parts(self) -> npt.NDArray[np.int32]:
        """Part of each open span that hangs together, the largest first; -1 where the body has no room; (N,)."""
        labels, count = _sheet_kernels.connected(self.open.links, self.open.heights, self.open.wide, math.inf)
        sizes = np.bincount(labels[labels >= 0], minlength=count)
        rank = np.empty(count, np.int32)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(count)
        out: npt.NDArray[np.int32] = np.where(labels >= 0, rank[labels], np.int32(-1))
        out.setflags(write=False)
        return out

    def route(self, start: npt.ArrayLike, goal: npt.ArrayLike) -> FloatArray | None:
        """Return a short route between two points (3,): corners (K, 3) [m], or None if there is none.

        It begins and ends in the middle of the cells nearest to the points, and keeps the radius of the body from all
        edges.
        """
        spans = self.open
        first, last = spans.nearest(start), spans.nearest(goal)
        if first < 0 or last < 0 or self.parts[first] != self.parts[last]:
            return None
        count = len(spans)
        parents = np.empty(count, np.int64)
        reached = _route_kernels.find_route(
            first, last, spans.links, spans.wide, spans.heights, spans.cells, spans.spec.shape[1], spans.spec.cell,
            np.full(count, np.inf), parents, np.empty(count, np.int64),
        )  # fmt: skip
        if reached < 0:
            return None
        way = [last]
        while way[-1] != first:
            way.append(int(parents[way[-1]]))
        return spans.points(way[::-1])


def _why_nowhere(spans: OpenSpans, geometry: Geometry) -> str:
    """Return why nobody can walk anywhere, and what to do about it."""
    points = geometry.corners.reshape(-1, 3)
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
    size = high - low
    limits, what = spans.limits, f"{size[0]:.3g} x {size[1]:.3g} x {size[2]:.3g} m large"
    if size.max() < 2.0:
        return f"nobody can walk there: it is only {what}; is its unit another one (scale: 1000 for millimetres)?"
    if not len(spans):
        return (
            f"nobody can walk there: no surface of what is {what} has a slope below {math.degrees(limits.slope):.0f} "
            f"degrees and {limits.headroom:g} m of head-room; is another axis its up axis (up: y or up: z)?"
        )
    widest = 2.0 * float(spans.edges.max())
    return f"nobody can walk there: no ground is {2.0 * limits.radius:g} m wide; the widest is {widest:.2g} m"


def _first_owners(spans: OpenSpans, wide: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """Part open spans into sheets without overlaps; the largest plateau that is left begins the next one."""
    usable = np.where(wide[:, None] == 1, spans.links, -1)
    usable = np.where((usable >= 0) & (wide[usable] == 1), usable, -1)
    labels, count = _sheet_kernels.connected(usable, spans.heights, wide, _LEVEL)
    sizes = np.bincount(labels[labels >= 0], minlength=count)
    order = np.argsort(-sizes[labels], kind="stable")  # spans of the largest plateau first
    owners = np.full(len(spans), -1, np.int32)
    taken = np.zeros(spans.spec.shape[0] * spans.spec.shape[1], np.int64)
    keys, nodes = np.empty(4 * len(spans) + 1), np.empty(4 * len(spans) + 1, np.int64)
    number = 0
    for span in order[wide[order] == 1].tolist():
        if owners[span] < 0:
            _sheet_kernels.grow_sheet(span, number, usable, spans.heights, spans.cells, owners, taken, keys, nodes)
            number += 1
    return owners


def _overlapping(
    spans: OpenSpans, first: npt.NDArray[np.int32], further: bool
) -> tuple[npt.NDArray[np.int32], list[IntArray]]:
    """Let sheets overlap, and lay further ones over places around which no sheet knows enough.

    Args:
        spans: open spans.
        first: sheets without overlaps; (N,).
        further: whether further ones are laid.

    Returns:
        The sheet to whose core each open span belongs (N,), and the spans that each sheet knows.
    """
    steps = max(round(_DEPTH / spans.spec.cell), 1)
    taken, around = np.zeros(spans.spec.shape[0] * spans.spec.shape[1], np.int64), np.empty(len(spans), np.int64)
    inside, queue = np.zeros(len(spans), np.int64), np.empty(len(spans), np.int64)
    known, owners = np.full(len(spans), -1), np.full(len(spans), -1, np.int32)
    parts: list[IntArray] = []

    def lay(members: IntArray) -> None:
        number = len(parts)
        found = _sheet_kernels.grow_around(members, number, spans.links, spans.cells, 2 * steps, taken, around)
        part = np.concatenate([members, around[:found]])
        depths = _sheet_kernels.depths_within(part, spans.links, steps, inside, number, queue)
        better = depths > known[part]
        known[part[better]], owners[part[better]] = depths[better], number
        parts.append(part)

    order = np.argsort(first, kind="stable")
    starts = np.searchsorted(first[order], np.arange(int(first.max()) + 2))
    for begin, end in pairwise(starts.tolist()):
        lay(order[begin:end])
    tried = np.zeros(len(spans), np.bool_)
    little = np.flatnonzero((first >= 0) & (known < steps)) if further else np.empty(0, np.int64)
    for span in little[np.argsort(known[little], kind="stable")].tolist():
        if known[span] < steps and not tried[span]:
            lay(np.array([span]))
            tried[parts[-1][: steps * steps // 2]] = True  # the nearest ones; no other sheet would know more there
    owners[first < 0] = -1
    used = np.unique(owners[owners >= 0])
    new = np.full(len(parts) + 1, -1, np.int32)
    new[used] = np.arange(len(used))
    return new[owners], [parts[number] for number in used.tolist()]


def _sheet(spans: OpenSpans, owners: npt.NDArray[np.int32], number: int, part: IntArray) -> Sheet:
    rows, columns = np.divmod(spans.cells[part], spans.spec.shape[1])
    window = Window(int(rows.min()), int(columns.min()), int(rows.max()) + 1, int(columns.max()) + 1)
    shape = window.row_end - window.row, window.column_end - window.column
    grid, heights = np.full(shape, -1, np.int32), np.full(shape, np.nan)
    core = np.zeros(shape, np.bool_)
    at = rows - window.row, columns - window.column
    grid[at], heights[at], core[at] = part, spans.heights[part], owners[part] == number
    grid.setflags(write=False)
    return Sheet(number, window, grid, read_only(core), read_only(heights))


def _portals(spans: OpenSpans, owners: npt.NDArray[np.int32]) -> tuple[Portal, ...]:
    """Return the portals: all links between open spans of different sheets, by pairs of sheets."""
    here = np.repeat(np.arange(len(spans)), 2)
    there = spans.links[:, :2].reshape(-1)  # each link once
    crosses = (there >= 0) & (owners[here] >= 0)
    here, there = here[crosses], there[crosses]
    crosses = (owners[there] >= 0) & (owners[here] != owners[there])
    here, there = here[crosses], there[crosses]
    swap = owners[here] > owners[there]
    pairs = np.where(swap[:, None], np.stack([there, here], axis=1), np.stack([here, there], axis=1))
    sheets = owners[pairs]
    return tuple(
        Portal((int(low), int(high)), read_only(pairs[(sheets == (low, high)).all(axis=1)]))
        for low, high in np.unique(sheets, axis=0).tolist()
    )
