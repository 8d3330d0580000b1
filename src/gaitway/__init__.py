"""Plan and synthesise full-body motion for crowds of virtual people.

The names below are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gaitway._version import __version__

if TYPE_CHECKING:
    from gaitway.errors import GaitwayError
    from gaitway.library import Library
    from gaitway.library.cast.catalog import cast_names, load_cast
    from gaitway.motion import Clip, Skeleton
    from gaitway.motion.formats import load_clip, save_clip
    from gaitway.render import film, filmstrip

_HOME = {
    "Clip": "gaitway.motion",
    "GaitwayError": "gaitway.errors",
    "Library": "gaitway.library",
    "Skeleton": "gaitway.motion",
    "cast_names": "gaitway.library.cast.catalog",
    "film": "gaitway.render",
    "filmstrip": "gaitway.render",
    "load_cast": "gaitway.library.cast.catalog",
    "load_clip": "gaitway.motion.formats",
    "save_clip": "gaitway.motion.formats",
}

__all__ = [
    "Clip",
    "GaitwayError",
    "Library",
    "Skeleton",
    "__version__",
    "cast_names",
    "film",
    "filmstrip",
    "load_cast",
    "load_clip",
    "save_clip",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gaitway' has no attribute '{name}'")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
