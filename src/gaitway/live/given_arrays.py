"""Arrays that programs give to live crowds: tables of places, tolerances, and memory that is written to."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LiveError, TreeError
from gaitway.world.world import World


def clipped(points: FloatArray, world: World) -> FloatArray:
    """Return points (N, 2) moved into the bounds of a world."""
    x0, y0, x1, y1 = world.bounds
    return np.clip(points, (x0, y0), (x1, y1))


def table_of(values: npt.ArrayLike, width: int, name: str, heights: bool = False) -> FloatArray:
    """Return a table of finite numbers, (N, width), or with one more column if heights may be given."""
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        return np.empty((0, width))
    fits = array.ndim == 2 and width <= array.shape[1] <= width + heights
    if not fits or not np.isfinite(array).all():
        raise LiveError(f"{name} of shape {array.shape} must be finite numbers, (N, {width})")
    return array


def checked_tolerance(value: float | None) -> float | None:
    """Return a distance from a goal that is near enough [m], or None.

    Raises:
        LiveError: if it is no distance.
    """
    if value is not None and not (np.isfinite(value) and value > 0.0):
        raise LiveError(f"tolerance of {value} m; write a distance above 0")
    return value


def memory_of(
    out: tuple[FloatArray, FloatArray], count: int, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> tuple[FloatArray, FloatArray]:
    """Return the first rows of a caller's memory.

    Raises:
        LiveError: if it is of another shape or type, or cannot be written to.
    """
    for array, shape in zip(out, shapes, strict=True):
        if array.dtype != np.float64 or array.shape[1:] != shape or len(array) < count:
            wanted = (count, *shape)
            raise LiveError(f"memory of {array.dtype} {array.shape}; give float64 of at least {wanted}")
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise LiveError("memory for joints must be contiguous and writable")
    return out[0][:count], out[1][:count]


def matrix_memory(out: npt.NDArray[Any], count: int, joints: int) -> npt.NDArray[Any]:
    """Return the first rows of a caller's memory for matrices.

    Raises:
        LiveError: if it is of another shape or type, or cannot be written to.
    """
    if out.dtype not in (np.float32, np.float64) or out.shape[1:] != (joints, 4, 4) or len(out) < count:
        wanted = f"at least ({count}, {joints}, 4, 4)"
        raise LiveError(f"memory of {out.dtype} {out.shape} for matrices; give float32 or float64 of {wanted}")
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise LiveError("memory for matrices must be contiguous and writable")
    return out[:count]


def finite(values: npt.ArrayLike, width: int, name: str) -> FloatArray:
    """Return a table of finite numbers; (N, width).

    Raises:
        TreeError: if it is none.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != width or not np.isfinite(array).all():
        raise TreeError(f"{name} of shape {array.shape} must be finite numbers, (N, {width})")
    return array
