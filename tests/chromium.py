"""A real browser for tests: Chromium without a window, over its own debugging protocol.

Where Chromium is absent it is installed if this is allowed and possible (see `debian`).
"""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image
from websockets.sync.client import connect

import debian

_COMMANDS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-quic", "--disable-default-apps", "--disable-extensions",
    "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
    "--remote-debugging-port=0", "--remote-allow-origins=*",
)  # fmt: skip
_PATIENCE = 300.0
"""How long to wait for what a busy machine takes long for [s]."""
_HARMLESS = "Unable to preventDefault inside passive event listener"
"""What the sliders of viser's page have Chromium say."""
_CODES = {"w": "KeyW", "a": "KeyA", "s": "KeyS", "d": "KeyD", "p": "KeyP", "t": "KeyT", "f": "KeyF", "l": "KeyL"}


def until(holds: Callable[[], Any], seconds: float, what: str, every: float = 0.1) -> Any:
    """Wait for something, and return it; an AssertionError says what did not happen in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(every)
    raise AssertionError(f"not within {seconds:g} s: {what}")


class Tab:
    """A page in the browser."""

    def __init__(self, address: str, size: tuple[int, int]) -> None:
        self._socket, self._number, self.events = (
            connect(address, max_size=None, ping_interval=None, open_timeout=_PATIENCE),
            0,
            [],
        )
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False
        )

    def call(self, method: str, **parameters: Any) -> Any:
        """Ask the browser; what it tells meanwhile is kept in `events`."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=_PATIENCE))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def open(self, address: str) -> None:
        """Go there."""
        self.call("Page.bringToFront")
        self.call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """The value of some JavaScript."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def mouse(self, kind: str, at: tuple[float, float], held: bool = False) -> None:
        """A mouse event at a pixel."""
        button = "none" if kind == "mouseMoved" and not held else "left"
        buttons = 1 if held or kind == "mousePressed" else 0
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button=button, buttons=buttons, clickCount=1)

    def click(self, at: tuple[float, float]) -> None:
        """Press and release."""
        self.mouse("mouseMoved", at)
        self.mouse("mousePressed", at)
        self.mouse("mouseReleased", at)

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        """Press, move and release."""
        self.mouse("mouseMoved", start)
        self.mouse("mousePressed", start)
        for share in np.linspace(0.0, 1.0, steps + 1)[1:].tolist():
            self.mouse(
                "mouseMoved", (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])), True
            )
            time.sleep(0.12)
        self.mouse("mouseReleased", end)

    def hold(self, key: str, seconds: float) -> None:
        """A key that is held down, with the repetitions that a browser gets, and then let go."""
        end, code = time.monotonic() + seconds, {"key": key, "code": _CODES[key]}
        number, first = ord(key.upper()), True
        while first or time.monotonic() < end:
            self.call(
                "Input.dispatchKeyEvent", type="keyDown", text=key, windowsVirtualKeyCode=number, autoRepeat=not first,
                **code,
            )  # fmt: skip
            time.sleep(0.5 if first else 0.05)
            first = False
        self.call("Input.dispatchKeyEvent", type="keyUp", windowsVirtualKeyCode=number, **code)

    def press(self, key: str) -> None:
        """A key, down and up."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=_CODES[key], text=key if kind == "keyDown" else "",
                windowsVirtualKeyCode=ord(key.upper()),
            )  # fmt: skip

    def press_button(self, words: str) -> None:
        """A button by what is written on it."""
        script = f"[...document.querySelectorAll('button')].find(b => b.textContent.trim() === {json.dumps(words)})"
        until(lambda: self.run(f"!!{script}"), _PATIENCE, f"a button '{words}'")
        self.run(f"{script}.click()")

    def picture(self) -> np.ndarray:
        """What is on the screen; (H, W, 3)."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(np.float64)

    def requests(self) -> list[str]:
        """Addresses that were asked for."""
        self.call("Runtime.evaluate", expression="0")
        urls = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return urls + [e["params"]["url"] for e in self.events if e["method"] == "Network.webSocketCreated"]

    def errors(self) -> list[str]:
        """What went wrong on the page."""
        out = [str(e["params"]) for e in self.events if e["method"] == "Runtime.exceptionThrown"]
        out += [
            str(e["params"])
            for e in self.events
            if (e["method"] == "Runtime.consoleAPICalled" and e["params"]["type"] in ("error", "assert"))
            or (e["method"] == "Log.entryAdded" and e["params"]["entry"]["level"] == "error")
        ]
        return [text for text in out if _HARMLESS not in text]

    def close(self) -> None:
        """Let it go."""
        self._socket.close()


class Browser:
    """A browser of one's own, that leaves nothing behind."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._size, self._tabs = size, []
        command, reason = debian.program(_COMMANDS, ("chromium",), "Chromium")
        if command is None:
            pytest.skip(reason)
        self._folder = tempfile.TemporaryDirectory(prefix="gaitway-chromium-", ignore_cleanup_errors=True)
        flags = (*_FLAGS, f"--window-size={size[0]},{size[1]}", f"--user-data-dir={self._folder.name}")
        self._process = subprocess.Popen([command, *flags, "about:blank"], stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if found := re.search(r"ws://127\.0\.0\.1:(\d+)/", line):
                self._port = found[1]
                break
        else:
            raise AssertionError("Chromium does not start")

    def tab(self) -> Tab:
        """Another page."""
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            made = Tab(json.load(answer)["webSocketDebuggerUrl"], self._size)
        self._tabs.append(made)
        return made

    def close(self) -> None:
        """End it."""
        for tab in self._tabs:
            tab.close()
        self._process.kill()
        self._process.wait(_PATIENCE)
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._folder.cleanup()
