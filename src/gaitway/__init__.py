"""Plan and synthesise full-body motion for crowds of virtual people.

The names below are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gaitway._version import __version__

if TYPE_CHECKING:
    from gaitway.audit import audit_take
    from gaitway.errors import GaitwayError
    from gaitway.export import export_take
    from gaitway.graphs.intake.importing import import_library
    from gaitway.library import Library
    from gaitway.library.cast.catalog import cast_names, load_cast
    from gaitway.library.storage import load_library, save_library
    from gaitway.motion import Clip, Skeleton
    from gaitway.motion.formats import load_clip, save_clip
    from gaitway.planning import plan, plan_scene
    from gaitway.render import film, filmstrip
    from gaitway.scene import Scene, load_scene
    from gaitway.take import Take, load_take, save_take
    from gaitway.world import World

_HOME = {
    "Clip": "gaitway.motion",
    "GaitwayError": "gaitway.errors",
    "Library": "gaitway.library",
    "Scene": "gaitway.scene",
    "Skeleton": "gaitway.motion",
    "Take": "gaitway.take",
    "World": "gaitway.world",
    "audit_take": "gaitway.audit",
    "cast_names": "gaitway.library.cast.catalog",
    "export_take": "gaitway.export",
    "film": "gaitway.render",
    "filmstrip": "gaitway.render",
    "import_library": "gaitway.graphs.intake.importing",
    "load_cast": "gaitway.library.cast.catalog",
    "load_clip": "gaitway.motion.formats",
    "load_library": "gaitway.library.storage",
    "load_scene": "gaitway.scene",
    "load_take": "gaitway.take",
    "plan": "gaitway.planning",
    "plan_scene": "gaitway.planning",
    "save_clip": "gaitway.motion.formats",
    "save_library": "gaitway.library.storage",
    "save_take": "gaitway.take",
}

__all__ = [
    "Clip",
    "GaitwayError",
    "Library",
    "Scene",
    "Skeleton",
    "Take",
    "World",
    "__version__",
    "audit_take",
    "cast_names",
    "export_take",
    "film",
    "filmstrip",
    "import_library",
    "load_cast",
    "load_clip",
    "load_library",
    "load_scene",
    "load_take",
    "plan",
    "plan_scene",
    "save_clip",
    "save_library",
    "save_take",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gaitway' has no attribute '{name}'")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
