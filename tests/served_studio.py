"""A studio that is served on this machine, and ways in."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import viser
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from gaitway.scene import scene_from_dict
from gaitway.studio.serving import Studio
from wire_viewer import PATIENCE

SCENE: dict[str, object] = {
    "gaitway": 1, "bounds": [0, 0, 16, 12], "seed": 3,
    "characters": [
        {"name": "ada", "start": [2, 6, 0], "goal": [14, 6]},
        {"name": "ben", "start": [14, 4, 180], "goal": [2, 4]},
    ],
}  # fmt: skip
PROTOCOL: Any = [f"viser-v{viser.__version__}"]


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Studio]:
    made = Studio(scene_from_dict(SCENE), port=0, folder=folder)
    made.session  # noqa: B018 - wait until it is prepared
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    try:
        yield made
        assert thread.is_alive()  # nothing that a test did has ended it
    finally:
        made.stop()
        thread.join(PATIENCE)
        made.close()


def secret(studio: Studio) -> str:
    return studio.address.partition("?token=")[2]


def enter(studio: Studio, host: str, path: str, **headers: str) -> int:
    """The status of a handshake for a WebSocket, whatever host it names."""
    plug = socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE)
    try:
        with connect(
            f"ws://{host}{path}", sock=plug, subprotocols=PROTOCOL, origin=headers.pop("Origin", None),  # type: ignore[arg-type]
            additional_headers=headers, ping_interval=None, open_timeout=PATIENCE,
        ):  # fmt: skip
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code
    finally:
        plug.close()
