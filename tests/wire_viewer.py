"""Somebody who looks at a page without a browser: messages as one would send and get them over the wire."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import viser
import zstandard
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from gaitway.render.bodies.figures import skinned_points
from gaitway.scene.scene import Scene
from gaitway.studio.page.page import StudioPage
from gaitway.studio.page.skinned import whole_body
from gaitway.take.evaluation import Joints

PATIENCE = 300.0
"""How long to wait for what a busy machine takes long for [s]; kernels may have to be compiled first."""


class WireViewer:
    """A connection to a page."""

    def __init__(self, address: str, eye: tuple[float, float, float] = (8.0, -6.0, 10.0)) -> None:
        self._socket = _connected(address)
        self.shown: dict[str, dict[str, np.ndarray]] = {}
        self.bytes = 0
        self.send(
            "ViewerCameraMessage", wxyz=(1.0, 0.0, 0.0, 0.0), position=eye, fov=0.9, near=0.1, far=1000.0,
            image_height=720, image_width=1280, look_at=(8.0, 6.0, 0.0), up_direction=(0.0, 0.0, 1.0),
        )  # fmt: skip

    def send(self, kind: str, **fields: Any) -> None:
        """A message as a browser would send it."""
        self._socket.send(msgspec.msgpack.encode({"type": kind, **fields}))

    def send_rubbish(self, data: bytes) -> None:
        """Anything at all."""
        self._socket.send(data)

    def drag(self, phase: str, name: str, start: tuple[float, float, float], end: tuple[float, float, float]) -> None:
        """Take hold of something, move it or let it go."""
        self.send(
            "SceneNodeDragMessage", phase=phase, name=name, instance_index=None, start_position=start,
            start_screen_pos=(0.5, 0.5), end_position=end, end_screen_pos=(0.5, 0.5), button="left", modifier=None,
            owner="",
        )  # fmt: skip

    def read(self, seconds: float) -> int:
        """Take what comes for some time; how many windows of messages came."""
        end, count = time.monotonic() + seconds, 0
        while (left := end - time.monotonic()) > 0.0:
            try:
                raw = self._socket.recv(timeout=left)
            except TimeoutError:
                break
            count += 1
            self.bytes += len(raw)
            self._note(bytes(raw) if isinstance(raw, bytes) else raw.encode())
        return count

    def send_until_closed(self, data: bytes) -> None:
        """Send the same again and again, until the other side has had enough: ConnectionClosed is raised then."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self._socket.send(data)
            self.read(0.001)

    def vanish(self) -> None:
        """Go without a word."""
        with contextlib.suppress(OSError):
            self._socket.socket.shutdown(socket.SHUT_RDWR)

    def _note(self, raw: bytes) -> None:
        whole, packed = int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:16], "little")
        data = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(raw[16 : 16 + packed], whole))
        starts, at = [], 16 + packed
        for length in data["binaryBufferLengths"]:
            at += -at % 8
            starts.append((at, length))
            at += length
        for message in data["messages"]:
            if message["type"] == "SceneNodeUpdateMessage":
                for key, value in message["updates"].items():
                    if key in ("batched_positions", "batched_wxyzs", "vertices"):
                        first, length = starts[value["__binary_index"]]
                        array = np.frombuffer(raw[first : first + length], dtype=np.float32)
                        self.shown.setdefault(message["name"], {})[key] = array


def _connected(address: str) -> ClientConnection:
    """Connect; where all places are taken, wait for those who vanished to be noticed."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return connect(
                address.replace("http://", "ws://"),
                subprotocols=[f"viser-v{viser.__version__}"],
                ping_interval=None,
                open_timeout=PATIENCE,
                max_size=None,
            )
        except InvalidStatus as refused:
            if refused.response.status_code != 503 or time.monotonic() > end:
                raise
            time.sleep(0.1)


def until(holds: Callable[[], Any], seconds: float = PATIENCE) -> bool:
    """Wait for something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


def whole_as(page: StudioPage, scene: Scene, names: Sequence[str], joints: Joints) -> bool:
    """Whether all people on a page have whole bodies, with their vertices where joints have them."""
    drawn, numbers = page.whole(), {c.name: number for number, c in enumerate(scene.characters)}
    if set(drawn) != set(names):
        return False

    def is_there(row: int, name: str, fine: bool) -> bool:
        body = whole_body(joints.skeleton, numbers[name], fine)
        points = skinned_points(body.mesh, joints.positions[row], joints.rotations[row])
        points = points[np.concatenate([used for used, _ in body.parts])]
        return len(points) == len(drawn[name]) and bool(np.abs(points - drawn[name]).max() < 1e-4)

    return all(is_there(row, name, True) or is_there(row, name, False) for row, name in enumerate(names))
