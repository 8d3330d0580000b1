"""The container of a glTF asset: its JSON, its buffers, and typed access to both."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError
from gaitway.motion.formats.source import (
    MAX_FILE_BYTES,
    MAX_FILLED,
    MAX_MAGNITUDE,
    MAX_VALUES,
    quoted,
    read_bytes,
)

_JSON_CHUNK, _BINARY_CHUNK = 0x4E4F534A, 0x004E4942
_COMPONENTS: dict[int, npt.DTypeLike] = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}

Json = Mapping[str, Any]


class GltfFile:
    """A parsed .glb or .gltf. Every access checks what it takes; a wrong file ends in a FormatError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._buffers: dict[int, bytes] = {}
        data = read_bytes(path)
        if data[:4] == b"glTF":
            text, self._binary = self._split_glb(data)
        else:
            text, self._binary = data, None
        self._root = self._parse_json(text)
        version = self._root.get("asset", {}).get("version") if isinstance(self._root.get("asset", {}), dict) else None
        if not (isinstance(version, str) and version.startswith("2.")):
            self.fail(f"is not glTF 2: its asset.version is {quoted(str(version))}")

    def fail(self, problem: str) -> NoReturn:
        """Raise the error for this file."""
        raise FormatError(self.path, problem)

    def count(self, kind: str) -> int:
        """Return the number of elements of a top-level list such as "nodes"."""
        found = self._root.get(kind, [])
        if not isinstance(found, list):
            self.fail(f"'{kind}' must be a list")
        return len(found)

    def item(self, kind: str, index: int) -> Json:
        """Return the element `index` of a top-level list."""
        if not 0 <= index < self.count(kind):
            self.fail(f"refers to {kind}[{index}], but there are {self.count(kind)}")
        found = self._root[kind][index]
        if not isinstance(found, dict):
            self.fail(f"{kind}[{index}] must be an object")
        return found

    def integer(self, place: Json, key: str, default: int | None = None) -> int:
        """Return a whole number from 0 that must be there unless there is a default."""
        value = place.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 2**53:
            self.fail(f"'{key}' must be a whole number from 0, found {quoted(str(value))}")
        return value

    def integers(self, place: Json, key: str) -> list[int]:
        """Return a list of whole numbers from 0, empty where it is missing."""
        values = place.get(key, [])
        if not isinstance(values, list):
            self.fail(f"'{key}' must be a list")
        return [self.integer({key: value}, key) for value in values]

    def objects(self, place: Json, key: str) -> list[Json]:
        """Return a list of objects, empty where it is missing."""
        values = place.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            self.fail(f"'{key}' must be a list of objects")
        return values

    def vector(self, place: Json, key: str, default: tuple[float, ...]) -> FloatArray:
        """Return a list of as many finite numbers as the default has."""
        values = place.get(key, default)
        good = isinstance(values, list | tuple) and len(values) == len(default)
        if not good or not all(
            isinstance(v, int | float) and not isinstance(v, bool) and abs(v) <= MAX_MAGNITUDE for v in values
        ):
            self.fail(f"'{key}' must be {len(default)} finite numbers")
        return np.array(values, dtype=np.float64)

    def accessor(self, index: int, kind: str) -> FloatArray:
        """Return the numbers of an accessor of a type ("SCALAR", "VEC3" ...), normalised if it says so; (n, width)."""
        accessor = self.item("accessors", index)
        if accessor.get("type") != kind:
            self.fail(f"accessors[{index}] must be of type {kind}, found {quoted(str(accessor.get('type')))}")
        if "sparse" in accessor:
            self.fail(f"accessors[{index}] is sparse, which is not read; export without sparse accessors")
        component = self.integer(accessor, "componentType")
        if component not in _COMPONENTS:
            self.fail(f"accessors[{index}] has unknown componentType {component}")
        dtype = np.dtype(_COMPONENTS[component])
        count, width = self.integer(accessor, "count"), _WIDTHS[kind]
        if count * width > MAX_VALUES:
            self.fail(f"accessors[{index}] has {count} elements; at most {MAX_VALUES} numbers are read")
        if "bufferView" not in accessor:
            if count * width > MAX_FILLED:
                self.fail(
                    f"accessors[{index}] has {count} elements and no buffer; at most {MAX_FILLED} numbers are read"
                )
            return np.zeros((count, width))
        data, stride = self._view(self.integer(accessor, "bufferView"), dtype.itemsize * width)
        start = self.integer(accessor, "byteOffset", 0)
        if count and start + stride * (count - 1) + dtype.itemsize * width > len(data):
            self.fail(f"accessors[{index}] reaches beyond its bufferView of {len(data)} bytes")
        if count == 0:
            return np.zeros((0, width))
        raw = np.ndarray((count, width), dtype, data, start, (stride, dtype.itemsize))
        return self._as_floats(raw, accessor.get("normalized") is True, index)

    def _as_floats(self, raw: npt.NDArray[Any], normalized: bool, index: int) -> FloatArray:
        values = raw.astype(np.float64)
        if normalized and raw.dtype.kind in "iu":
            values = np.maximum(values / np.iinfo(raw.dtype).max, -1.0)
        if not np.isfinite(values).all() or np.abs(values).max() > MAX_MAGNITUDE:
            self.fail(f"accessors[{index}] has a number that is not finite or beyond {MAX_MAGNITUDE:g}")
        return values

    def _view(self, index: int, element: int) -> tuple[memoryview, int]:
        """Return the bytes of a bufferView and the distance of its elements."""
        view = self.item("bufferViews", index)
        extensions = view.get("extensions")
        if isinstance(extensions, dict) and extensions:
            self.fail(f"bufferViews[{index}] is compressed ({quoted(next(iter(extensions)))}); export it uncompressed")
        data = self._buffer(self.integer(view, "buffer"))
        start, length = self.integer(view, "byteOffset", 0), self.integer(view, "byteLength")
        if start + length > len(data):
            self.fail(f"bufferViews[{index}] reaches beyond its buffer of {len(data)} bytes")
        stride = self.integer(view, "byteStride", element)
        if stride < element:
            self.fail(f"bufferViews[{index}] has byteStride {stride}, less than the {element} bytes of an element")
        return memoryview(data)[start : start + length], stride

    def _buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            self._buffers[index] = self._read_buffer(index)
        return self._buffers[index]

    def _read_buffer(self, index: int) -> bytes:
        buffer = self.item("buffers", index)
        uri = buffer.get("uri")
        if uri is None:
            if self._binary is None or index != 0:
                self.fail(f"buffers[{index}] has no 'uri' and there is no binary chunk for it")
            return self._binary
        if not isinstance(uri, str):
            self.fail(f"buffers[{index}].uri must be text")
        if uri.startswith("data:"):
            head, comma, body = uri.partition(",")
            if not comma or not head.endswith(";base64"):
                self.fail(f"buffers[{index}] has a data URI that is not base64")
            try:
                return base64.b64decode(body, validate=True)
            except (binascii.Error, ValueError):
                self.fail(f"buffers[{index}] has a data URI with broken base64")
        return self._read_beside(uri)

    def _read_beside(self, uri: str) -> bytes:
        """Return a file in the asset's own folder or below; anything else is refused."""
        name = unquote(uri)
        if ":" in name or "\\" in name or "\0" in name:
            self.fail(f"refers to {quoted(uri)}; only files beside it are read")
        folder = self.path.parent.resolve()
        try:
            target = (folder / name).resolve()
        except (OSError, RuntimeError):  # a loop of links
            self.fail(f"refers to {quoted(uri)}, which cannot be read")
        if not target.is_relative_to(folder):
            self.fail(f"refers to {quoted(uri)}, outside its own folder; only files beside it are read")
        held = sum(len(data) for data in self._buffers.values())
        data = read_bytes(target)
        if held + len(data) > MAX_FILE_BYTES:
            self.fail(f"has buffers of more than {MAX_FILE_BYTES // 2**20} MiB")
        return data

    def _split_glb(self, data: bytes) -> tuple[bytes, bytes | None]:
        """Return the JSON and binary chunks of a GLB."""
        if len(data) < 20:
            self.fail(f"is cut off: {len(data)} bytes are no GLB")
        _, version, length = struct.unpack_from("<III", data)
        if version != 2:
            self.fail(f"is GLB version {version}; only version 2 is read")
        if length > len(data):
            self.fail(f"is cut off: it says {length} bytes and has {len(data)}")
        text, binary, position = None, None, 12
        while position + 8 <= length:
            size, kind = struct.unpack_from("<II", data, position)
            start = position + 8
            if start + size > length:
                self.fail(f"is cut off: the chunk at byte {position} reaches beyond the file")
            if kind == _JSON_CHUNK and text is None:
                text = data[start : start + size]
            elif kind == _BINARY_CHUNK and binary is None:
                binary = data[start : start + size]
            position = start + size + (-size) % 4
        if text is None:
            self.fail("has no JSON chunk")
        return text, binary

    def _parse_json(self, text: bytes) -> dict[str, Any]:
        try:
            root = json.loads(text.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except json.JSONDecodeError as problem:
            raise FormatError(self.path, f"is not valid JSON: {problem.msg}", problem.lineno) from None
        except UnicodeDecodeError:
            raise FormatError(self.path, "is neither GLB (it does not begin with 'glTF') nor JSON text") from None
        except (ValueError, RecursionError) as problem:
            what = "it is nested too deep" if isinstance(problem, RecursionError) else str(problem)[:100]
            raise FormatError(self.path, f"is not valid JSON: {what}") from None
        if not isinstance(root, dict):
            self.fail("is not glTF: its JSON is not an object")
        return root


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")
