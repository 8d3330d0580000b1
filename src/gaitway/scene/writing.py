"""Scenes as YAML text; reading the text gives an equal scene."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from gaitway.core.files import atomic_write
from gaitway.scene.model import FORMAT_VERSION, SceneModel
from gaitway.scene.reading.documents import LISTS, plain_data
from gaitway.scene.reading.nodes import plain_scalar

_FILES = ("file", "heights", "include")
"""Keys whose texts are names of files."""


class _Dumper(yaml.SafeDumper):
    """A YAML writer with short forms for numbers, and with quotes wherever `nodes` would not read a text."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write all values in full, without YAML aliases."""
        return True


class _FlowMap(dict[str, Any]):
    """An entry that is written in one line."""


def _line(dumper: yaml.SafeDumper, value: _FlowMap) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)


def _float(dumper: yaml.SafeDumper, value: float) -> yaml.Node:
    text = str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")  # other readers of YAML take 1e-5 for a text
    return dumper.represent_scalar("tag:yaml.org,2002:float" if "." in text else "tag:yaml.org,2002:int", text)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    plain = isinstance(plain_scalar(value), str)
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')


_Dumper.add_representer(_FlowMap, _line)
_Dumper.add_representer(float, _float)
_Dumper.add_representer(str, _text)
_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)


def scene_to_yaml(model: SceneModel) -> str:
    """Return a model as the text of a scene file: the values that were set, in the order of the format, no comments."""
    data = {"gaitway": FORMAT_VERSION, **model.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)}
    for key in LISTS:
        if key in data:
            data[key] = [_FlowMap(entry) for entry in data[key]]
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True)


def save_scene(model: SceneModel, path: str | Path) -> None:
    """Write a scene file, such as that of an edited `scene.source`.

    File names in the model stay as they are: relative ones are relative to the new file.

    Raises:
        FormatError: If the file cannot be written.
    """
    with atomic_write(path) as file:
        file.write(scene_to_yaml(model).encode("utf-8"))


def relocated(model: SceneModel, folder: str | Path, other: str | Path) -> SceneModel:
    """Return a model whose file names lead from another folder to the same files.

    Args:
        model: Content of a scene file.
        folder: Folder that relative file names in it are relative to.
        other: Folder that they shall be relative to.
    """
    data = model.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
    moved = _relocated(data, Path(folder).resolve(), Path(other).resolve())
    return model if moved == data else SceneModel.model_validate(plain_data(moved))


def _relocated(value: Any, folder: Path, other: Path) -> Any:
    if isinstance(value, dict):
        return {
            key: _relocated_names(item, folder, other) if key in _FILES else _relocated(item, folder, other)
            for key, item in value.items()
        }
    return tuple(_relocated(item, folder, other) for item in value) if isinstance(value, tuple) else value


def _relocated_names(names: Any, folder: Path, other: Path) -> Any:
    if isinstance(names, tuple):
        return tuple(_relocated_names(name, folder, other) for name in names)
    if not isinstance(names, str) or Path(names).is_absolute() or folder == other:
        return names
    try:
        return Path(os.path.relpath(folder / names, other)).as_posix()
    except ValueError:  # on another drive
        return str(folder / names)
