"""Footprints into the cells they cover, exactly: a cell counts if and only if its closed square meets the footprint.

So a free cell is truly free, every point of it, and nothing is grown by more than one cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.world import _kernels
from gaitway.world.footprint import Footprint, Outlines
from gaitway.world.grid import EMPTY_WINDOW, SLACK, GridSpec, Window

SpanArray = npt.NDArray[np.int32]
"""Rows of (row, first column, end column), in order; (S, 3)."""


def rasterise(footprint: Footprint, spec: GridSpec, radius: float = 0.0) -> SpanArray:
    """The cells that meet a footprint grown by a radius [m], as spans; each cell once, rows and columns rising."""
    return rasterise_all([footprint], spec, radius)[0]


def rasterise_all(footprints: Sequence[Footprint], spec: GridSpec, radius: float = 0.0) -> tuple[SpanArray, IntArray]:
    """As `rasterise`, for many footprints at once.

    Returns:
        The spans (S, 3) of one footprint after another, and where each begins, with S at the end (N + 1,).
    """
    if len(footprints) == 1:
        (only,) = footprints
        rings = len(only.ring_starts) - 1
        points, starts, group_starts = only.points, only.ring_starts, np.array([0, rings])
        radii = np.full(rings, only.radius + radius)
    else:
        points, starts, group_starts, rounding = Outlines.of(footprints)
        radii = np.repeat(rounding + radius, np.diff(group_starts))
    return rasterise_rings(points, starts, np.zeros(len(radii), dtype=np.int64), radii, group_starts, spec)


def rasterise_rings(
    points: FloatArray,
    ring_starts: IntArray,
    parts: IntArray,
    radii: FloatArray,
    group_starts: IntArray,
    spec: GridSpec,
) -> tuple[SpanArray, IntArray]:
    """As `rasterise`, for groups of rings; the arguments are those of the kernel `raster`, without the slack.

    All arrays become read-only, where they are not yet, so that the kernel is compiled for one kind of array alone.
    """
    radii = radii + SLACK
    for array in (points, ring_starts, parts, radii, group_starts):
        array.setflags(write=False)
    spans, span_starts = _kernels.raster(
        points, ring_starts, parts, radii, group_starts, *spec.origin, spec.cell, *spec.shape
    )
    spans.setflags(write=False)
    return spans, span_starts


def window_of(spans: SpanArray) -> Window:
    """The smallest window that holds some spans (S, 3)."""
    if len(spans) == 0:
        return EMPTY_WINDOW
    return Window(*_kernels.window_of_spans(spans))


def filled(spans: SpanArray, spec: GridSpec) -> npt.NDArray[np.bool_]:
    """The cells of spans as a grid, true where covered; (rows, columns)."""
    out = np.zeros(spec.shape, dtype=np.bool_)
    for row, first, end in spans:
        out[row, first:end] = True
    return out
