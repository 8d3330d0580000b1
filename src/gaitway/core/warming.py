"""Compile in a second process what a command needs later, while the command compiles what it needs now.

Numba's compiler runs on one core at a time in each process. So the first use of a command on a machine starts a helper
process, which compiles kernels of the same command from the last to the first and leaves them in Numba's cache, where
the command finds them. Which kernels a command needs, with which types, is recorded in `kernels.json` by
`tools/compile_times.py --record`. The record is a hint: what it lacks is compiled when it is called, as ever.

A lock on each kernel keeps both processes from compiling or writing the same kernel at the same time. The system
releases it when its process ends. Where there are no such locks, only one core, no cache or no folder for results,
no helper is started. Set GAITWAY_COMPILERS to the number of processes that may compile; 1 means no helper.

`compile_all` compiles the kernels of all commands. `compile_rest` has that done in the background: a process of lowest
priority, in a session of its own, without any stream of the command that started it. There is one at a time. While any
command compiles what it needs now, the background process lets go of its kernel and waits.

This module imports nothing slow, since every command imports it.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import subprocess

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

WORTH_HELP_S = 5.0
"""Less compiling than this is not worth the start of a helper [s]."""
PATIENCE_S = 60.0
"""Longest wait for a kernel that another process compiles [s]; after it the kernel is compiled here too."""
LARGE = 0.2
"""Share of all compiling from which on a single kernel is compiled by the helper first."""
HANDLE = "handle of"
"""What is written before the type that an array handle holds."""
COMPILE = "compile"
"""The command that needs the kernels of all commands."""
BACKGROUND_S = 1800.0
"""Longest life of a process that compiles in the background, waiting for commands included [s]."""
_COMMAND, _BACKGROUND = "a command compiles", "a background process compiles"
"""Names of locks that are no kernels."""
_POLL_S = 0.02
_CALM_POLL_S = 0.5
"""How often the background process looks whether a command compiles [s]."""
_RECORD = Path(__file__).with_name("kernels.json")


@dataclass(frozen=True)
class Recorded:
    """A kernel that a command calls."""

    name: str
    """Module and function, without the name of the package."""
    types: list[Any]
    """Types of its arguments, as `type_text` writes them."""
    seconds: float
    """CPU time to compile it with all that it calls, where it was recorded [s]."""
    inner: bool = False
    """Whether the command does not call it, but another kernel does. Long ones are recorded too: processes that wait
    for that kernel compile them meanwhile."""

    def dispatcher(self) -> Any:
        """Import the kernel.

        Raises:
            ImportError: if the module no longer exists.
            AttributeError: if the function no longer exists.
        """
        module, function = self.name.rsplit(".", 1)
        return getattr(importlib.import_module(f"gaitway.{module}"), function)

    @property
    def is_cached(self) -> bool:
        """Whether the kernel is in Numba's cache, for this processor, or cannot be put there."""
        try:
            dispatcher = self.dispatcher()
            stored = dispatcher._cache
            if stored.cache_path is None or not stored.holds_any:
                return stored.cache_path is None
            key = stored._index_key(tuple(map(read_type, self.types)), dispatcher.targetctx.codegen())
            return key in stored._cache_file._load_index()
        except (ImportError, AttributeError, ValueError):
            return True


@dataclass
class _State:
    """What this process knows of its command."""

    words: tuple[str, ...] = ()
    """Words of its command line."""
    missing: frozenset[str] = frozenset()
    """Names of recorded kernels that were not in the cache when compiling began."""
    ready: int = 0
    """How many of them are ready."""
    lock: int | None = None
    """Open file whose bytes are the locks."""
    helper: subprocess.Popen[bytes] | None = None
    background: subprocess.Popen[bytes] | None = None
    helping: bool = False
    """Whether this process is the helper of another one."""
    waited: float = 0.0
    """Time spent waiting for kernels of other processes [s]."""
    show: Callable[[int, int], None] | None = None
    spare: list[Recorded] | None = None
    """Inner kernels to compile while another process compiles what this one needs; None before it is known."""
    depth: int = 0
    """Number of kernels that are being compiled now, each inside the one before."""


_STATE = _State()


def expect(words: Sequence[str], *, unless_known: bool = False) -> None:
    """Say which command runs.

    Args:
        words: Arguments of the command line.
        unless_known: for functions of the library: only if no command was named before.
    """
    if not (unless_known and _STATE.words):
        _STATE.words = tuple(words)


def watch(show: Callable[[int, int], None] | None) -> None:
    """Have a function called with the number of kernels that are ready and with how many there will be."""
    _STATE.show = show


@cache
def recorded_commands() -> dict[str, list[Recorded]]:
    """Return the kernels of each recorded command in the order in which they are ready; none if there is no record.

    A kernel that others call comes before them.
    """
    try:
        record = json.loads(_RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    types = record["types"]
    return {
        command: [
            Recorded(name, [types[number] for number in numbers], seconds, bool(inner))
            for name, numbers, seconds, inner in rows
        ]
        for command, rows in record["commands"].items()
    }


def kernels_of(words: Sequence[str]) -> list[Recorded]:
    """Return the kernels that a command line needs: those of the recorded command that shares most words with it."""
    return [kernel for kernel in _all_kernels_of(tuple(words)) if not kernel.inner]


@cache
def _all_kernels_of(words: tuple[str, ...]) -> list[Recorded]:
    """Return the kernels that a command line needs, with those that only other kernels call."""
    plain = [word for word in words if not word.startswith("-")]
    if plain[:1] == [COMPILE]:
        return _every_kernel()
    found: list[Recorded] = []
    most = 0
    for command, kernels in recorded_commands().items():
        parts = command.split()
        if plain[:1] == parts[:1] and len(parts) > most and all(part in plain for part in parts):
            found, most = kernels, len(parts)
    return found


def _every_kernel() -> list[Recorded]:
    """Return the kernels of all recorded commands, the longest first, so that no process gets a long one at the end."""
    kernels: dict[str, Recorded] = {}
    for kernel in (kernel for rows in recorded_commands().values() for kernel in rows):
        if kernel.name not in kernels or kernels[kernel.name].inner:
            kernels[kernel.name] = kernel
    return sorted(kernels.values(), key=lambda kernel: -kernel.seconds)


def begin() -> str:
    """Start a helper if it is worth it, and return what to tell the user; called when compiling begins."""
    missing = [kernel for kernel in kernels_of(_STATE.words) if not kernel.is_cached]
    if not _STATE.helping:
        _stop_background()
    if not missing:
        return "compiling for this machine (first use; cached for later runs) ..."
    _STATE.missing = frozenset(kernel.name for kernel in missing)
    if _STATE.show is not None:
        _STATE.show(0, len(_STATE.missing))
    seconds = sum(kernel.seconds for kernel in missing)
    if seconds >= WORTH_HELP_S and _may_help():
        _STATE.helper = _start_helper(_STATE.words)
        seconds = max(seconds / 2.0, *(kernel.seconds for kernel in missing)) + 1.0
    return f"compiling {len(missing)} kernels for this machine, {_about(seconds)}, once (cached for later runs) ..."


def _about(seconds: float) -> str:
    return f"about {max(5 * round(seconds / 5.0), 5)} s" if seconds > 3.0 else "a few seconds"


def ready(name: str) -> None:
    """Count a kernel that was compiled or loaded."""
    if name.removeprefix("gaitway.") in _STATE.missing:
        _STATE.missing -= {name.removeprefix("gaitway.")}
        _STATE.ready += 1
        if not _STATE.missing and _STATE.lock is not None:
            _release(_place(_COMMAND))
        if _STATE.show is not None:
            _STATE.show(_STATE.ready, _STATE.ready + len(_STATE.missing))


def waited_seconds() -> float:
    """Seconds this process has waited for kernels that another process compiled."""
    return _STATE.waited


@contextmanager
def turn(name: str) -> Iterator[None]:
    """Hold the lock on a kernel, so that no other process compiles it; for a while wait for one that does."""
    place = None if _STATE.lock is None else _place(name)
    if place is None or _take(place):
        held = place is not None
    else:
        began = time.perf_counter()
        held = False
        while not held and time.perf_counter() - began < PATIENCE_S:
            # never inside another kernel: what would be compiled may call that one, which is not ready
            if _STATE.depth > 0 or not _help_meanwhile():
                idle = time.perf_counter()
                time.sleep(_POLL_S)
                _STATE.waited += time.perf_counter() - idle
            held = _take(place)
    _STATE.depth += 1
    try:
        yield
    finally:
        _STATE.depth -= 1
        if held and place is not None:
            _release(place)


def type_text(kind: Any) -> Any:
    """Write a type of Numba as text, or as a list: the class of a tuple, and the types in it.

    Raises:
        ValueError: if it is none of numbers, arrays and tuples of them.
    """
    from numba.core import types

    from gaitway.core.array_handle import ArrayHandleType

    text: Any
    if isinstance(kind, types.Array):
        text = f"{kind.dtype.name} {kind.ndim}{kind.layout}{'' if kind.mutable else ' read-only'}"
    elif isinstance(kind, types.BaseTuple):
        home = getattr(kind, "instance_class", None)
        text = [
            "" if home is None else f"{home.__module__}:{home.__qualname__}",
            *map(type_text, cast("Any", kind).types),
        ]
    elif isinstance(kind, ArrayHandleType):
        text = [HANDLE, type_text(kind.kind)]
    else:
        text = kind.name
    if read_type(text) != kind:
        raise ValueError(f"{kind} cannot be recorded")
    return text


def read_type(text: Any) -> Any:
    """Read what `type_text` wrote.

    Raises:
        ValueError: if it is no such text, or its class no longer exists.
    """
    from numba.core import types

    from gaitway.core.array_handle import ArrayHandleType

    try:
        if isinstance(text, list) and text[0] == HANDLE:
            return ArrayHandleType(read_type(text[1]))
        if isinstance(text, list):
            module, _, name = text[0].partition(":")
            home = getattr(importlib.import_module(module), name) if name else None
            return cast("Any", types.BaseTuple).from_types([read_type(part) for part in text[1:]], home)
        scalar, *rest = text.split(" ", 1)
        kind = types.boolean if scalar == "bool" else getattr(types, scalar)
        if not rest:
            return kind
        return types.Array(kind, int(rest[0][0]), rest[0][1], readonly=rest[0].endswith("read-only"))
    except (AttributeError, ImportError, IndexError, TypeError) as problem:
        raise ValueError(f"{text!r} is no type") from problem


def _may_help() -> bool:
    """Whether another process can and may compile beside this one."""
    if _STATE.helping:
        return False
    asked = os.environ.get("GAITWAY_COMPILERS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return (int(asked) if asked.isdigit() else cores) >= 2 and _open_lock()


def _start_helper(words: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Start a helper; it ends when its standard input does, and so with this process at the latest."""
    import subprocess

    quiet = subprocess.DEVNULL
    with suppress(OSError):
        helper = subprocess.Popen(_program("main", words), stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)
        atexit.register(_end_helper, helper)
        return helper
    return None


def _program(function: str, words: Sequence[str] = ()) -> list[str]:
    """Return the command line that runs a function of this module; no file of the current folder is imported by it."""
    home = str(Path(__file__).parents[2])
    code = f"import sys; sys.path.append({home!r}); from {__name__} import {function}; {function}()"
    return [sys.executable, "-P", "-c", code, *words]


def _end_helper(helper: subprocess.Popen[bytes]) -> None:
    helper.kill()
    helper.wait()


def _helping_order(kernels: Sequence[Recorded]) -> list[Recorded]:
    """Return the order of the helper: what is large, then from the last to the first, towards the command."""
    all_seconds = sum(kernel.seconds for kernel in kernels)
    large = [kernel for kernel in kernels if kernel.seconds > LARGE * all_seconds]
    return large + [kernel for kernel in reversed(kernels) if kernel not in large]


def _open_lock() -> bool:
    """Open the file of locks."""
    from gaitway.core.files import cache_folder

    folder = cache_folder()
    if fcntl is None or folder is None:
        return False
    if _STATE.lock is None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _STATE.lock = os.open(folder / "compiling.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
    return True


def _place(name: str) -> int:
    """The byte of the file that is the lock of a kernel."""
    import hashlib

    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "little")


def _take(place: int) -> bool:
    """Take a lock; False if another process holds it."""
    assert _STATE.lock is not None
    try:
        fcntl.lockf(_STATE.lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except OSError:
        return False
    return True


def _release(place: int) -> None:
    assert _STATE.lock is not None
    with suppress(OSError):
        fcntl.lockf(_STATE.lock, fcntl.LOCK_UN, 1, place)


def help_out(kernels: Sequence[Recorded]) -> None:
    """Compile kernels, but for those that another process compiles right now."""
    for kernel in kernels:
        _compiled(kernel)


def compile_all() -> tuple[int, list[str]]:
    """Compile all recorded kernels of all commands; processes that call this at the same time share the work.

    Returns:
        How many kernels were missing, and the names of those that could not be compiled: the record is out of date for
        them, and they are compiled when they are first called.
    """
    _open_lock()
    missing = [kernel for kernel in kernels_of([COMPILE]) if not kernel.is_cached]
    left: list[Recorded] = []
    for kernel in missing:
        if not kernel.is_cached and not _compiled(kernel):
            left.append(kernel)
        ready(kernel.name)
    for kernel in left:  # other processes compile these now
        with suppress(Exception):
            kernel.dispatcher().compile(tuple(map(read_type, kernel.types)))
    return len(missing), [kernel.name for kernel in missing if not kernel.is_cached]


def kernel_folder() -> Path | None:
    """Return the folder that holds all compiled kernels; None if there is none that can be written."""
    with suppress(ImportError, AttributeError, TypeError, ValueError):
        return Path(os.path.commonpath([kernel.dispatcher()._cache.cache_path for kernel in kernels_of([COMPILE])]))
    return None


def compile_rest() -> str:
    """Start a process that compiles the kernels of all other commands in the background, if that is worth it.

    Returns:
        What to tell the user; empty if no process was started.
    """
    import subprocess

    missing = [kernel for kernel in kernels_of([COMPILE]) if not kernel.is_cached]
    seconds = sum(kernel.seconds for kernel in missing)
    if seconds < WORTH_HELP_S or not _may_help() or not _is_free(_BACKGROUND):
        return ""
    quiet = subprocess.DEVNULL
    try:
        _STATE.background = subprocess.Popen(
            _program("background"), stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except OSError:
        return ""
    return (
        f"{len(missing)} kernels of other commands are compiled in the background now, {_about(seconds)}, once "
        "(GAITWAY_COMPILERS=1 turns this off)"
    )


def background() -> None:
    """Be the process that compiles in the background: have a helper do it while no command compiles."""
    os.nice(19)
    helper: subprocess.Popen[bytes] | None = None
    end = time.monotonic() + BACKGROUND_S
    if not (_open_lock() and _take(_place(_BACKGROUND))):
        return
    while (helper is None or helper.poll() is None) and time.monotonic() < end:
        wanted = _is_free(_COMMAND)
        if helper is not None and not wanted:
            _end_helper(helper)
            helper = None
        elif helper is None and wanted:
            helper = _start_helper((COMPILE,))
            if helper is None:
                return
        time.sleep(_CALM_POLL_S)


def _is_free(name: str) -> bool:
    """Whether no other process holds a lock."""
    if free := _take(_place(name)):
        _release(_place(name))
    return free


def _stop_background() -> None:
    """Have the process in the background wait until this one has compiled what it needs, or has ended."""
    if not _open_lock():
        return
    for _ in range(10):  # who looks whether the lock is free holds it for a moment
        with suppress(OSError):
            fcntl.lockf(cast("int", _STATE.lock), fcntl.LOCK_SH | fcntl.LOCK_NB, 1, _place(_COMMAND))
            return
        time.sleep(_POLL_S)


def _compiled(kernel: Recorded) -> bool:
    """Compile a kernel, unless another process does so right now; return whether it is done or cannot be done."""
    place = None if _STATE.lock is None else _place(f"gaitway.{kernel.name}")
    if place is not None and not _take(place):
        return False
    with suppress(Exception):  # the record is out of date; the command compiles what it needs, or says what is wrong
        kernel.dispatcher().compile(tuple(map(read_type, kernel.types)))
    if place is not None:
        _release(place)
    return True


def _help_meanwhile() -> bool:
    """Compile one inner kernel that no process has compiled yet, the last first; return whether there was one."""
    if _STATE.spare is None:
        kernels = reversed(_all_kernels_of(_STATE.words))
        _STATE.spare = [kernel for kernel in kernels if kernel.inner and not kernel.is_cached]
    for kernel in _STATE.spare:
        if _compiled(kernel):
            _STATE.spare.remove(kernel)
            return True
    return False


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Be the helper."""
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if _open_lock():
        expect(sys.argv[1:])
        _STATE.helping = True  # a helper that had helpers would take the cores from those who need them
        help_out(_helping_order(kernels_of(sys.argv[1:])))
    os._exit(0)
