"""Array types, and the functions by which data classes own arrays and kernels receive them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gaitway.core.errors import GaitwayError

FloatArray = npt.NDArray[np.float64]
SingleArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
ComplexArray = npt.NDArray[np.complex128]
Array = TypeVar("Array", FloatArray, SingleArray, IntArray, BoolArray, ComplexArray)


def owned(
    value: npt.ArrayLike,
    name: str,
    shape: Sequence[int | None],
    dtype: npt.DTypeLike = np.float64,
    error: type[GaitwayError] = GaitwayError,
) -> npt.NDArray[Any]:
    """Return a contiguous read-only copy of `value` after checking its shape and that it is finite.

    Args:
        value: anything NumPy can turn into an array.
        name: how the message calls it.
        shape: expected lengths; None accepts any length on that axis.
        dtype: the type to store.
        error: the exception to raise.

    Raises:
        GaitwayError: (as `error`) if the shape differs or a float is not finite.
    """
    try:
        array = np.array(value, dtype=dtype, order="C", copy=True)
    except (TypeError, ValueError) as problem:
        raise error(f"{name} must be an array of {np.dtype(dtype)}: {problem}") from None
    wanted = ", ".join("any" if n is None else str(n) for n in shape)
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
        raise error(f"{name} has shape {array.shape}, expected ({wanted})")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise error(f"{name} has a value that is not finite at index {place}")
    array.setflags(write=False)
    return array


def ranges(first: IntArray, end: IntArray) -> IntArray:
    """Return the numbers from each first one up to each end (N,), one range after another."""
    counts = end - first
    return np.asarray(np.arange(counts.sum()) + np.repeat(end - np.cumsum(counts), counts))


def read_only(array: Array) -> Array:
    """Return a contiguous read-only view (a copy if the array is not contiguous).

    Numba compiles a kernel once more for each mix of writable and read-only arguments, so wrappers pass inputs
    through this.
    """
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
