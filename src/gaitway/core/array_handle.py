"""Handles of tuples of arrays, by which kernels receive many arrays at the cost of one number.

Numba inspects every array of a tuple in every call from Python. For fifty arrays that takes longer than a short search.
An `ArrayHandle` is inspected once, when it is made: a kernel receives one number, the address where the addresses and
shapes of all arrays are stored, and reads the arrays by `handle.value`.
"""

# mypy: disable-error-code="no-untyped-call, untyped-decorator"
from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numba.core import types
from numba.core.pythonapi import NativeValue
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import populate_array

from gaitway.core.arrays import IntArray

Value = TypeVar("Value")


class ArrayHandle(int, Generic[Value]):
    """A named tuple of contiguous arrays, whole numbers, and further such tuples, or one array.

    It is the address of what is written down about it: nothing is taken from Python faster than a number. All that is
    held of one class must have the same types.

    Attributes:
        value: the tuple, in Python and in kernels. A kernel may write to all its arrays.
    """

    value: Value
    _words: IntArray
    _type: ArrayHandleType | None = None

    def __new__(cls, value: Value) -> ArrayHandle[Value]:
        """Store the addresses and shapes of the arrays of a value."""
        words = np.array(_words(value), dtype=np.int64)
        handle = super().__new__(cls, words.ctypes.data)
        handle.value, handle._words = value, words
        return handle

    def __reduce__(self) -> tuple[type[ArrayHandle[Value]], tuple[Value]]:
        return ArrayHandle, (self.value,)  # addresses are those of one process


def _words(value: Any) -> list[int]:
    """Return the address and shape of each array, and each number, in order."""
    if isinstance(value, tuple):
        return [word for part in value for word in _words(part)]
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError("an array that is held must be contiguous; pass it through arrays.read_only")
        return [value.__array_interface__["data"][0], *value.shape]
    return [value]


class ArrayHandleType(types.Type):
    """The Numba type of a handle; it knows the type of the tuple."""

    def __init__(self, kind: types.Type) -> None:
        self.kind = kind
        super().__init__(name=f"Held({kind})")


def _kind(value: Any) -> Any:
    """Return the Numba type of a value; all arrays count as writable, so that kernels are compiled once."""
    if isinstance(value, tuple):
        return types.BaseTuple.from_types([_kind(part) for part in value], type(value))
    kind = typeof_impl(value, None)
    return types.Array(kind.dtype, kind.ndim, "C") if isinstance(kind, types.Array) else types.int64


@typeof_impl.register(ArrayHandle)
def _type_of(handle: ArrayHandle[Any], context: Any) -> ArrayHandleType:
    del context
    if handle._type is None:  # to find it takes longer than most kernels
        handle._type = ArrayHandleType(_kind(handle.value))
    return handle._type


register_model(ArrayHandleType)(models.OpaqueModel)


@unbox(ArrayHandleType)
def _unbox(kind: ArrayHandleType, handle: Any, context: Any) -> NativeValue:
    del kind
    return NativeValue(context.pyapi.long_as_voidptr(handle))


@infer_getattr
class _ArrayHandleAttributes(AttributeTemplate):
    key = ArrayHandleType

    def resolve_value(self, handle: ArrayHandleType) -> types.Type:
        return handle.kind


@lower_getattr(ArrayHandleType, "value")
def _read_value(context: Any, builder: Any, kind: ArrayHandleType, pointer: Any) -> Any:
    words = builder.bitcast(pointer, context.get_value_type(types.int64).as_pointer())
    return _read(context, builder, words, 0, kind.kind)[0]


def _read(context: Any, builder: Any, words: Any, first: int, kind: Any) -> tuple[Any, int]:
    """Return the value that is stored from word `first` on, and the first word after it."""

    def word(number: int) -> Any:
        return builder.load(builder.gep(words, [context.get_constant(types.intp, number)]))

    if kind == types.int64:
        return word(first), first + 1
    if not isinstance(kind, types.Array):
        parts = []
        for part_kind in kind:
            part, first = _read(context, builder, words, first, part_kind)
            parts.append(part)
        return context.make_tuple(builder, kind, parts), first
    array = context.make_array(kind)(context, builder)
    shape = [word(first + 1 + axis) for axis in range(kind.ndim)]
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(word(first), array.data.type)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue(), first + 1 + kind.ndim
