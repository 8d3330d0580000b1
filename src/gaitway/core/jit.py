"""The one way to compile: every Numba kernel of gaitway is made by `kernel`.

Set GAITWAY_NO_JIT=1 to run the kernels as plain Python (slow; for a debugger and for coverage). Set
GAITWAY_CHECK_BOUNDS=1 to have every index checked: one beyond an array is an IndexError (slow; nothing is cached).
Compiled code is cached beside the source, or in the user's cache folder; where neither can be written
the kernels are compiled anew in every process.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, overload

import numba
from numba.core import event, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import TargetConfig

from gaitway.core import linked_code, warming
from gaitway.core.kernel_cache import KernelCache

Function = TypeVar("Function", bound=Callable[..., Any])

BOUNDS_CHECKED = os.environ.get("GAITWAY_CHECK_BOUNDS", "") not in ("", "0")
JIT_ENABLED = os.environ.get("GAITWAY_NO_JIT", "") in ("", "0")


class _CompileListener(event.Listener):
    """Says once that compiling has begun, and adds up how long it took. A cache hit fires no event.

    Python's collector rests meanwhile: the compiler makes millions of objects that live until it is done.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.count = 0
        self._depth = 0
        self._began = 0.0
        self._waited = 0.0
        self._collects = False

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._began = time.perf_counter()
            self._waited = warming.waited_seconds()
            self._collects = gc.isenabled()
            gc.disable()
            if self.count == 0 and _is_ours(event):
                sys.stderr.write(f"gaitway: {warming.begin()}\n")
                sys.stderr.flush()
        self._depth += 1
        self.count += 1

    def on_end(self, event: Any) -> None:
        del event
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began - (warming.waited_seconds() - self._waited)
            if self._collects:
                gc.enable()


def _is_ours(compile_event: Any) -> bool:
    dispatcher = (compile_event.data or {}).get("dispatcher")
    return getattr(getattr(dispatcher, "py_func", None), "__module__", "").startswith("gaitway")


_LISTENER = _CompileListener()
if JIT_ENABLED:
    event.register("numba:compile", _LISTENER)


def compile_seconds() -> float:
    """Seconds that this process has compiled kernels or waited for them; 0.0 when all came from the cache."""
    return _LISTENER.seconds + warming.waited_seconds()


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(
    *,
    parallel: bool = ...,
    fastmath: bool = ...,
    inline: bool = ...,
    borrows: bool = ...,
    inner: bool = ...,
    shared: bool = ...,
) -> Callable[[Function], Function]: ...


def kernel(
    function: Function | None = None,
    *,
    parallel: bool = False,
    fastmath: bool = False,
    inline: bool = False,
    borrows: bool = False,
    inner: bool = False,
    shared: bool = False,
) -> Any:
    """Compile a function over plain arrays and scalars with Numba.

    Args:
        function: the function; it must raise nothing and draw no random numbers of its own. Division by zero gives
            infinity or NaN as in NumPy; so nothing can raise, and arrays need not be counted in every call.
        parallel: allow `numba.prange` (only over disjoint outputs).
        fastmath: allow re-ordering of sums; not where NaN or infinity carry meaning.
        inline: copy the body into each caller.
        borrows: for a function that makes no arrays: it only borrows those of its caller and does not count references
            to them. That is many times faster, and faster to compile, where arrays come in tuples.
        inner: for a function that only other kernels call: its machine code is copied into theirs, and it gets no door
            to Python, which takes long to compile where there are many arrays. Python can call its `py_func`.
        shared: for an inner function that is long and not called in the innermost loops: a kernel holds it once, and
            not once for each call, which compiles faster.

    Returns:
        The compiled function; its `py_func` is the original.
    """

    def decorate(plain: Function) -> Any:
        if not JIT_ENABLED:
            plain.py_func = plain  # type: ignore[attr-defined]
            return plain
        options: dict[str, Any] = {"nogil": True, "parallel": parallel, "fastmath": fastmath}
        # what cannot raise need not count references to arrays; no kernel is handed on as a C function
        options |= {"error_model": "numpy", "no_cfunc_wrapper": True}
        if borrows:
            options["_nrt"] = False
        if inner:
            options |= {"no_cpython_wrapper": True, "forceinline": not shared}
        if inline:
            options["inline"] = "always"
        if BOUNDS_CHECKED:
            return _prepared(numba.njit(boundscheck=True, **options)(plain))
        dispatcher = numba.njit(**options)(plain)
        with suppress(RuntimeError):  # no cache folder can be written
            dispatcher._cache = KernelCache(plain)
        return _prepared(dispatcher)

    return decorate if function is None else decorate(function)


class _InnerDispatcher(CPUDispatcher):
    """A kernel without a wrapper for Python: Python runs its plain function, as when it runs that of a caller."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.py_func(*args, **kwargs)


def direct(dispatcher: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose arguments have the same types in all calls, which are looked at in the first call alone.

    To look at the types of fifty arrays takes longer than a short search. A kernel that was called with other types too
    looks at them every time.
    """
    compiled: list[Callable[..., Any]] = []

    def call(*arguments: Any) -> Any:
        if compiled:
            return compiled[0](*arguments)
        out = dispatcher(*arguments)
        versions = list(getattr(dispatcher, "overloads", {}).values())
        compiled.append(versions[0].entry_point if len(versions) == 1 else dispatcher)
        return out

    return call


def _prepared(dispatcher: Any) -> Any:
    """Change how a kernel is compiled.

    Kernels that call it with different constants share one compiled version, instead of one for each constant, and so
    do those that call it with whole numbers of 32 and of 64 bits. Two processes do not compile it at the same time.
    """
    if dispatcher.targetoptions.get("no_cpython_wrapper"):
        dispatcher.__class__ = _InnerDispatcher
    template, compile_one = dispatcher.get_call_template, dispatcher.compile
    name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"

    def get_call_template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return template(tuple(map(_general, args)), {name: _general(kind) for name, kind in kws.items()})

    def compile_in_turn(signature: Any) -> Any:
        if isinstance(signature, tuple) and signature in dispatcher.overloads:
            return compile_one(signature)
        with global_compiler_lock, warming.turn(name):
            linked_code.compiling[0] += 1
            try:
                compiled = compile_one(signature)
            finally:
                linked_code.compiling[0] -= 1
        warming.ready(name)
        return compiled

    dispatcher.get_call_template = get_call_template
    dispatcher.compile = compile_in_turn
    return dispatcher


def _general(kind: Any) -> Any:
    """Return the type of an argument in a call from another kernel: no constant, and signed numbers of 64 bits."""
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind  # type: ignore[attr-defined]


def _compare_flags_faster() -> None:
    """Let the compiler compare its flags by what was set, before it compares each flag, and hash them once.

    Numba looks up each function of NumPy or Python by its flags, many times in each kernel, and hashes their names each
    time. That is 10 % of all compiling. The answers stay the same.
    """
    compare, hashes = TargetConfig.__eq__, {}

    def same(self: Any, other: Any) -> Any:
        if self.__class__ is other.__class__ and self._values == other._values:
            return True
        return compare(self, other)

    def hash_of_names(self: Any) -> int:
        kind = self.__class__
        if kind not in hashes:
            hashes[kind] = hash(tuple(sorted(self.values())))
        return hashes[kind]

    if hasattr(TargetConfig, "_values"):  # a slot; otherwise this is a version of Numba that works differently
        setattr(TargetConfig, "__eq__", same)  # noqa: B010
        setattr(TargetConfig, "__hash__", hash_of_names)  # noqa: B010


if JIT_ENABLED:
    _compare_flags_faster()
    linked_code.install()
