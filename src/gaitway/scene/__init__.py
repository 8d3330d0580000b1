"""Scenes: places and who wants to be where, read from files.

The names below are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gaitway.scene.catalog import find_scene, ready_scenes
    from gaitway.scene.characters import Character, LibraryRef
    from gaitway.scene.libraries import library_ref, with_library
    from gaitway.scene.model import SceneModel
    from gaitway.scene.plan_options import BehaviorOptions, PlanOptions, register_options
    from gaitway.scene.problem import Problem
    from gaitway.scene.scene import Scene, build_scene, load_scene, scene_from_dict, scene_problems
    from gaitway.scene.schema import scene_schema
    from gaitway.scene.writing import save_scene, scene_to_yaml

_HOME = {
    "BehaviorOptions": "plan_options",
    "Character": "characters",
    "LibraryRef": "characters",
    "PlanOptions": "plan_options",
    "Problem": "problem",
    "Scene": "scene",
    "SceneModel": "model",
    "build_scene": "scene",
    "find_scene": "catalog",
    "library_ref": "libraries",
    "load_scene": "scene",
    "register_options": "plan_options",
    "save_scene": "writing",
    "scene_schema": "schema",
    "scene_to_yaml": "writing",
    "ready_scenes": "catalog",
    "scene_from_dict": "scene",
    "scene_problems": "scene",
    "with_library": "libraries",
}

__all__ = [
    "BehaviorOptions",
    "Character",
    "LibraryRef",
    "PlanOptions",
    "Problem",
    "Scene",
    "SceneModel",
    "build_scene",
    "find_scene",
    "library_ref",
    "load_scene",
    "ready_scenes",
    "register_options",
    "save_scene",
    "scene_from_dict",
    "scene_problems",
    "scene_schema",
    "scene_to_yaml",
    "with_library",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gaitway.scene' has no attribute '{name}'")
    value = getattr(import_module(f"gaitway.scene.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
