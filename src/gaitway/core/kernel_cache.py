"""Compiled kernels on disk, known by the source that they were compiled from.

Numba's own cache looks at the file of a kernel alone: a kernel that calls one of another file stays as it was when that
file changes. Here a stored kernel is used only if its own file, and all files of this package that it imports directly
or indirectly, have the content that they had when it was compiled. Files of kernels that were moved within their module
are removed.

What is loaded from a cache is run. So a folder is used only if nobody else can write to it.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)

from gaitway.core.files import is_private
from gaitway.core.sources import source_digest


class _KernelLocator:
    """Mixed into a locator of Numba: where a kernel is stored, and what it was compiled from."""

    _module: str

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        """Return a locator, or None if this place cannot be used."""
        locator: Any = super().from_function(py_func, py_file)  # type: ignore[misc]
        if locator is not None:
            locator._module = py_func.__module__
        return locator

    def ensure_cache_path(self) -> None:
        """Make the folder if there is none.

        Raises:
            OSError: if it cannot be written, or others can write to it.
        """
        _ensure_folder(self.get_cache_path())  # type: ignore[attr-defined]

    def get_source_stamp(self) -> Any:
        """Return what changes when the source does."""
        if not self._module.startswith("gaitway."):
            return super().get_source_stamp()  # type: ignore[misc]
        try:
            return source_digest((self._module,))
        except OSError:  # edited while this process runs: what is compiled now is found by nobody
            return os.urandom(16).hex()


@cache
def _ensure_folder(folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    if not (os.access(folder, os.W_OK) and is_private(Path(folder))):
        raise PermissionError(f"'{folder}' cannot be written, or others can write to it")


class _InGivenFolder(_KernelLocator, UserProvidedCacheLocator):
    pass


class _InTree(_KernelLocator, InTreeCacheLocator):
    pass


class _InUserFolder(_KernelLocator, UserWideCacheLocator):
    pass


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_InGivenFolder, _InTree, _InUserFolder]  # noqa: RUF012


class KernelCache(FunctionCache):
    """The cache of one kernel."""

    _impl_class = _KernelCacheImpl

    @property
    def holds_any(self) -> bool:
        """Whether some version of the kernel is stored that was compiled from the source as it is."""
        with suppress(Exception):  # as good as none, whatever is wrong with the file
            return bool(self._cache_file._load_index())
        return False

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super()._load_overload(sig, target_context)
        except Exception:  # a damaged file, in one of many ways: it is written anew
            with suppress(OSError):
                self.flush()
            return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk, say: the kernel is compiled again in the next process
            super()._save_overload(sig, data)
            self._sweep()

    def _sweep(self) -> None:
        """Remove files of this kernel from when it began in another line."""
        base = self._impl.filename_base
        name, _, rest = base.rpartition("-")
        version = rest.partition(".")[2]
        for file in Path(self._cache_path).glob(f"{name}-*.{version}.*"):
            if not file.name.startswith(f"{base}."):
                with suppress(OSError):
                    file.unlink()
