"""Packages that can be called: `gaitway.live(...)` and `from gaitway.live import LiveCrowd` both work.

Python lets a module have a class of its own. A package that calls `make_callable` in its `__init__.py` gets a class
whose objects can be called; a call goes on to a function of one of its modules, which is imported at the first call.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package whose call is the call of one function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function that `make_callable` was given."""
        module, name = self.__dict__["_called"]
        return getattr(import_module(module), name)(*args, **kwargs)


def make_callable(package: str, module: str, function: str) -> None:
    """Let a package be called.

    The package gets an attribute with its own last name that is the package itself. So the lazy loader of a parent
    package, which looks for `live` in `gaitway.live`, finds the package and not a plain function.

    Args:
        package: full name of the package, `__name__` in its `__init__.py`.
        module: full name of the module that holds the function.
        function: name of the function; the package takes over its documentation when it is first called.
    """
    found = sys.modules[package]
    found.__class__ = CallablePackage
    found.__dict__["_called"] = (module, function)
    found.__dict__[package.rpartition(".")[2]] = found
