"""Flow and density on the page: squares of the ground coloured by how many people there are, and arrows where they go.

Density is people a square metre, smoothed over a metre. Its colours reach from a place where everybody walks freely to
the density at which crowds jam. Where people go both ways there are two arrows, one for each stream: the mean of both
would point nowhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy
import viser

from gaitway.core.arrays import FloatArray
from gaitway.studio.page.people import Heights
from gaitway.studio.tones import copied_color

CELL = 1.0
"""Side of a square [m]."""
LEVELS = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Least densities of the colours [people/m2]."""
COLORS = ("#cfe3d4", "#f4e3a1", "#f3b562", "#e2703a", "#b3202c")
"""Colours from thin to jammed."""
_SPREAD = 0.7
"""Standard deviation of the smoothing [m]."""
_SINCE, _STEP = 0.8, 0.1
"""Time over which velocities are measured, and between two notes of places [s]."""
_SLOWEST, _LONGEST = 0.1, 0.8
"""Least speed of an arrow [m/s], and length of an arrow at 1.4 m/s [m]."""
_LIFT, _OVERHEAD = 0.03, 2.0
"""Height of squares over the ground, and of arrows: over heads, for people hide the ground where they are many [m]."""
_ASIDE = 0.2
"""How far the arrows of two streams are moved to their right, each out of the other's way [m]."""
_ARROW = (20, 40, 90)


class FlowGrid(NamedTuple):
    """Squares of the ground in which there are people."""

    places: FloatArray
    """Middles of the squares [m]; (K, 2)."""
    density: FloatArray
    """People a square metre; (K,)."""
    streams: FloatArray
    """Mean velocities of the people around who go one way and of those who go the other way [m/s]; (K, 2, 2)."""
    shares: FloatArray
    """People a square metre in each stream; (K, 2)."""


def flow_grid(points: FloatArray, velocities: FloatArray, bounds: Sequence[float]) -> FlowGrid:
    """Return density and flow of people.

    Args:
        points: where people are [m]; (N, 2).
        velocities: their velocities [m/s]; (N, 2).
        bounds: xmin, ymin, xmax, ymax of the place [m].
    """
    x0, y0, x1, y1 = bounds
    shape = max(int(np.ceil((x1 - x0) / CELL)), 1), max(int(np.ceil((y1 - y0) / CELL)), 1)
    sums = np.zeros((6, *shape))
    if len(points):
        i, j = (np.clip(((points[:, k] - (x0, y0)[k]) / CELL).astype(int), 0, shape[k] - 1) for k in range(2))
        stream = _stream_of(velocities, (i, j), shape)
        for layer, values in enumerate((np.ones(len(points)), velocities[:, 0], velocities[:, 1])):
            np.add.at(sums, (3 * stream + layer, i, j), values)
    sums = _smoothed(sums)
    density = (sums[0] + sums[3]) / CELL**2
    rows, columns = np.nonzero(density >= LEVELS[0])
    places = np.column_stack([x0 + (rows + 0.5) * CELL, y0 + (columns + 0.5) * CELL])
    found = sums[:, rows, columns].T.reshape(-1, 2, 3)  # square, stream, people and velocities
    means = found[..., 1:] / np.maximum(found[..., :1], 1e-9)
    return FlowGrid(places, density[rows, columns], means, found[..., 0] / CELL**2)


def _stream_of(
    velocities: FloatArray, squares: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]], shape: tuple[int, int]
) -> npt.NDArray[np.int64]:
    """Return 0 for people who go along the main axis of motion around them, and 1 for those who go against it; (N,).

    Args:
        velocities: their velocities [m/s]; (N, 2).
        squares: row and column of the square in which each one is; (N,) each.
        shape: number of rows and columns of squares.
    """
    across, along = velocities[:, 0] ** 2 - velocities[:, 1] ** 2, 2.0 * velocities[:, 0] * velocities[:, 1]
    moments = np.zeros((2, *shape))
    for layer, values in enumerate((across, along)):
        np.add.at(moments[layer], squares, values)
    moments = _smoothed(moments)
    angle = 0.5 * np.arctan2(moments[1][squares], moments[0][squares])
    main = 0.5 * np.arctan2(along.sum(), across.sum())
    # an axis has no sign: all are turned to the side of the axis of everybody
    angle = np.where(np.cos(angle - main) < 0.0, angle + np.pi, angle)
    against: npt.NDArray[np.int64] = np.where(
        velocities[:, 0] * np.cos(angle) + velocities[:, 1] * np.sin(angle) < 0.0, 1, 0
    )
    return against


def _smoothed(layers: FloatArray) -> FloatArray:
    """Return layers of squares (L, rows, columns), each smoothed."""
    spread = _SPREAD / CELL
    out: FloatArray = scipy.ndimage.gaussian_filter(layers, (0.0, spread, spread), mode="constant")
    return out


def level_of(density: FloatArray) -> npt.NDArray[np.int64]:
    """Return the number of the colour of each density; (K,)."""
    return np.clip(np.searchsorted(LEVELS, density, side="right") - 1, 0, len(LEVELS) - 1).astype(np.int64)


def arrows(grid: FlowGrid) -> FloatArray:
    """Return the lines of the arrows of a flow: shafts and heads [m]; (3 K, 2, 2)."""
    speed = np.hypot(grid.streams[..., 0], grid.streams[..., 1])
    moving = (speed > _SLOWEST) & (grid.shares >= 0.5 * LEVELS[0])
    way = grid.streams[moving] / speed[moving][:, None]
    reach = np.clip(_LONGEST * speed[moving] / 1.4, 0.2, 0.95 * CELL)[:, None]
    side = np.stack([-way[:, 1], way[:, 0]], axis=-1)
    both = np.repeat(moving.all(axis=1), moving.sum(axis=1))[:, None]
    middle = np.repeat(grid.places, moving.sum(axis=1), axis=0) - np.where(both, _ASIDE, 0.0) * side
    tail, tip = middle - 0.5 * reach * way, middle + 0.5 * reach * way
    barbs = [tip - 0.18 * way + sign * 0.1 * side for sign in (1.0, -1.0)]
    return np.concatenate([np.stack([tail, tip], axis=1), *(np.stack([tip, barb], axis=1) for barb in barbs)])


def legend() -> str:
    """Return what the colours mean, as HTML."""
    names = [f"{low:g}" for low in LEVELS]
    parts = "".join(
        f'<span style="display:inline-block;width:18%;background:{color};padding:1px 0;text-align:center">{name}</span>'
        for color, name in zip(COLORS, names, strict=True)
    )
    return (
        '<div style="margin:0 12px 6px 12px;font-size:0.75em;color:#334" data-legend="density">people/m² from'
        f"<div>{parts}</div>arrows: mean velocity of each stream</div>"
    )


class PageFlow:
    """Flow and density of all characters. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._scene = server.scene
        self._past: deque[tuple[float, dict[str, tuple[float, float]]]] = deque()
        self._squares: viser.BatchedMeshHandle | None = None
        self._arrows: viser.LineSegmentsHandle | None = None

    def note(self, time: float, names: Sequence[str], roots: FloatArray) -> None:
        """Note the root positions (N, 2) of all characters [m]."""
        if self._past and not -1e-9 <= time - self._past[-1][0] < 2.0 * _SINCE:
            self._past.clear()  # another time altogether
        if not self._past or time - self._past[-1][0] >= _STEP - 1e-9:
            self._past.append((time, dict(zip(names, map(tuple, roots.tolist()), strict=True))))
        while len(self._past) > 1 and self._past[0][0] < time - _SINCE:
            self._past.popleft()

    def grid(self, bounds: Sequence[float]) -> FlowGrid:
        """Return density and flow now."""
        if not self._past:
            return flow_grid(np.empty((0, 2)), np.empty((0, 2)), bounds)
        (before, first), (now, last) = self._past[0], self._past[-1]
        points = np.array(list(last.values())).reshape(-1, 2)
        earlier = np.array([first.get(name, at) for name, at in last.items()]).reshape(-1, 2)
        return flow_grid(points, (points - earlier) / max(now - before, 1e-6), bounds)

    def show(self, on: bool, bounds: Sequence[float], heights: Heights) -> None:
        """Draw flow and density, or remove them."""
        for handle in (self._squares, self._arrows):
            if handle is not None:
                handle.remove()
        self._squares = self._arrows = None
        grid = self.grid(bounds) if on else None
        if grid is None or not len(grid.places):
            return
        palette = np.array([copied_color(color) for color in COLORS], dtype=np.uint8)
        half = 0.5 * CELL
        square = np.array([[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]], np.float32)
        self._squares = self._scene.add_batched_meshes_simple(
            "/flow/density", square, np.array([[0, 1, 2], [0, 2, 3]], np.uint32),
            np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (len(grid.places), 1)),
            np.column_stack([grid.places, heights(grid.places) + _LIFT]).astype(np.float32),
            batched_colors=palette[level_of(grid.density)], opacity=0.75, lod="off", cast_shadow=False,
            receive_shadow=False,
        )  # fmt: skip
        lines = arrows(grid)
        if len(lines):
            flat = lines.reshape(-1, 2)
            raised = np.column_stack([flat, heights(flat) + _OVERHEAD]).reshape(-1, 2, 3).astype(np.float32)
            colors = np.broadcast_to(np.array(_ARROW, np.uint8), raised.shape).copy()
            self._arrows = self._scene.add_line_segments(
                "/flow/arrows", raised, colors, thickness=2.5, thickness_units="screen"
            )
