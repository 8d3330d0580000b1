"""The hash of a scene: the same for the same content, however it is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel

from gaitway.scene.documents import Merged

_NAMES: Mapping[str, Any] = {"file": True, "heights": True, "mesh": {"file": True}, "library": {"file": True}}
"""Where names of files may stand."""


def scene_hash(scene: Merged, files: Iterable[Path]) -> str:
    """SHA-256 in hexadecimal over a scene's values, defaults filled in, and over the bytes of the files it names."""
    values = {key: _content(entry.value) for key, entry in scene.singles.items() if key not in ("title", "description")}
    values.setdefault("seed", 0)
    lists = {key: [_content(entry.value) for entry in entries] for key, entries in scene.lists.items()}
    digests = [hashlib.sha256(part.read_bytes()).hexdigest() for path in files for part in _parts(path)]
    text = json.dumps({**values, **lists, "files": digests}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _parts(path: Path) -> list[Path]:
    """A file and, for glTF, the files with its numbers."""
    if path.suffix.lower() != ".gltf":
        return [path]
    buffers = json.loads(path.read_bytes()).get("buffers", [])
    names = [buffer.get("uri", "data:") for buffer in buffers]
    return [path, *(path.parent / unquote(name) for name in names if not name.startswith("data:"))]


def _content(value: Any) -> Any:
    """A value as JSON; names of files are left out, for their bytes count."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude=dict(_NAMES))
    return value
