"""glTF assets built by hand for tests: JSON and one buffer, as .glb or .gltf."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
COMPONENTS = {"f4": 5126, "i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123}


class Asset:
    """Collects nodes, accessors and animation channels."""

    def __init__(self) -> None:
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "nodes": [],
            "accessors": [],
            "bufferViews": [],
            "animations": [{"name": "take", "samplers": [], "channels": []}],
        }
        self.data = b""

    def node(self, name: str, parent: int | None = None, **fields: Any) -> int:
        index = len(self.json["nodes"])
        self.json["nodes"].append({"name": name, **fields})
        if parent is not None:
            self.json["nodes"][parent].setdefault("children", []).append(index)
        return index

    def accessor(self, values: Any, dtype: str = "f4", **fields: Any) -> int:
        array = np.asarray(values)
        array = array.reshape(len(array), -1)
        if fields.get("normalized"):
            array = np.round(array * np.iinfo(dtype).max)
        packed = array.astype("<" + dtype)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": packed.nbytes}
        self.json["bufferViews"].append(view)
        self.data += packed.tobytes() + b"\0" * (-packed.nbytes % 4)
        self.json["accessors"].append(
            {
                "bufferView": len(self.json["bufferViews"]) - 1,
                "componentType": COMPONENTS[dtype],
                "count": len(array),
                "type": TYPES[array.shape[1]],
                **fields,
            }
        )
        return len(self.json["accessors"]) - 1

    def animate(
        self, node: int, path: str, times: Any, values: Any, interpolation: str | None = None, **fields: Any
    ) -> None:
        """Add a channel; rotations are given xyzw, as glTF has them."""
        animation = self.json["animations"][-1]
        sampler = {"input": self.accessor(times), "output": self.accessor(values, **fields)}
        if interpolation:
            sampler["interpolation"] = interpolation
        animation["samplers"].append(sampler)
        target = {"node": node, "path": path}
        animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})

    def skin(self, joints: list[int], inverse_bind: np.ndarray | None = None) -> None:
        skin: dict[str, Any] = {"joints": joints}
        if inverse_bind is not None:
            skin["inverseBindMatrices"] = self.accessor(inverse_bind.transpose(0, 2, 1).reshape(-1, 16))
        self.json.setdefault("skins", []).append(skin)

    def glb_bytes(self) -> bytes:
        document = {**self.json, "buffers": [{"byteLength": len(self.data)}]}
        text = json.dumps(document).encode()
        text += b" " * (-len(text) % 4)
        binary = self.data + b"\0" * (-len(self.data) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
        return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks

    def save_glb(self, path: Path) -> Path:
        path.write_bytes(self.glb_bytes())
        return path

    def save_gltf(self, path: Path, uri: str | None = None) -> Path:
        """With the buffer inside as a data URI, or under a name of one's own (which is not written)."""
        inside = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        document = {**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri or inside}]}
        path.write_text(json.dumps(document))
        return path
