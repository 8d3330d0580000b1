"""Tuples of arrays that kernels take by their addresses."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.jit import kernel


class Inner(NamedTuple):
    """Some arrays."""

    bytes_: npt.NDArray[np.uint8]
    numbers: npt.NDArray[np.int32]


class Outer(NamedTuple):
    """Arrays of several axes, a number, and another tuple."""

    cube: npt.NDArray[np.float32]
    count: int
    inner: Inner
    out: FloatArray


def outer() -> Outer:
    cube = read_only(np.arange(24.0).reshape(2, 3, 4)).astype(np.float32)
    return Outer(cube, 7, Inner(np.arange(5, dtype=np.uint8), np.array([[1, 2], [3, 4]], np.int32)), np.zeros(6))


@kernel(borrows=True)
def looked_at(handle: ArrayHandle[Outer], row: int) -> int:
    """Write down what is in the tuple; its number."""
    cube, count, inner, out = handle.value
    out[0], out[1], out[2] = cube[1, row, 3], inner.bytes_[row], inner.numbers[1, 0]
    out[3], out[4], out[5] = cube.shape[2], len(inner.bytes_), cube.size
    return count


@pytest.mark.parametrize("copied", [False, True])
def test_a_kernel_sees_what_is_held(copied: bool) -> None:
    handle = ArrayHandle(outer())
    if copied:
        handle = pickle.loads(pickle.dumps(handle))
    for row in range(3):
        assert looked_at(handle, row) == 7
        assert handle.value.out.tolist() == [handle.value.cube[1, row, 3], row, 3.0, 4.0, 5.0, 24.0]


def test_what_is_not_contiguous_is_refused() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        ArrayHandle(outer()._replace(out=np.zeros(12)[::2]))
