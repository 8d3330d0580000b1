"""The gate of the page: who is let in, and what is passed on."""

from __future__ import annotations

import contextlib
import hmac
import math
import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import msgspec
import pytest
import viser
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core.errors import StudioError
from gaitway.scene import scene_from_dict
from gaitway.studio.page import gate as gates
from gaitway.studio.page import server as page_server
from gaitway.studio.page.gate import PageGate, input_allows
from gaitway.studio.serving import Studio
from served_studio import SCENE, enter, secret, served
from wire_viewer import PATIENCE, until

CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (8.0, -6.0, 10.0), "fov": 0.9,
    "near": 0.1, "far": 1000.0, "image_height": 720, "image_width": 1280, "look_at": (8.0, 6.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with served(tmp_path_factory.mktemp("studio")) as made:
        yield made


def ask(studio: Studio, path: str, *headers: tuple[str, str]) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer."""
    connection = HTTPConnection("127.0.0.1", studio.port, timeout=PATIENCE)
    connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = (answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    connection.close()
    return found


def test_the_page_is_given_to_who_has_the_address(studio: Studio) -> None:
    token, name = secret(studio), f"127.0.0.1:{studio.port}"
    assert len(token) >= 32
    status, headers, body = ask(studio, f"/?token={token}", ("Host", name))
    assert (status, b"<html" in body) == (200, True)
    cookie = headers["set-cookie"]
    assert cookie.startswith(f"gaitway-studio-{studio.port}={token};")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert f"ws://{name}" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    again, headers, _ = ask(studio, "/", ("Host", name), ("Cookie", f"a=b; {cookie.partition(';')[0]}; c"))
    assert (again, "set-cookie" in headers) == (200, False)


@pytest.mark.parametrize("path", ["/", "/index.html", "/?token=", "/?token=wrong", "/?token=%ff", "/?" + "a=1&" * 40])
def test_without_the_token_nothing_is_given(studio: Studio, path: str) -> None:
    name = f"127.0.0.1:{studio.port}"
    for cookie in ("", f"gaitway-studio-{studio.port}=", "gaitway-studio-1=" + secret(studio), "\xff=;;="):
        status, headers, body = ask(studio, path, ("Host", name), ("Cookie", cookie))
        assert status == 403
        assert b"open the address that the studio printed" in body
        assert secret(studio) not in str(headers) + body.decode()
    assert enter(studio, name, path) == 403


PATHS = (
    "/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%00",
    "//etc/passwd", "/..%5c..%5cetc%5cpasswd", "/" + "a" * 3000, "/assets", "/index.html/", "/%ff%fe", "/.", "/~root",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_only_files_of_the_page_are_given(studio: Studio, path: str) -> None:
    status, headers, body = ask(studio, f"{path}?token={secret(studio)}", ("Host", f"127.0.0.1:{studio.port}"))
    assert status in (200, 404)
    assert (status == 200) == (b"<html" in body)  # its own page
    assert b"root:" not in body
    assert headers["referrer-policy"] == "no-referrer" and headers["x-content-type-options"] == "nosniff"


FOREIGN = (
    "evil.example:{port}", "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.1.evil.example:{port}",
    "localhost.evil.example:{port}", "192.168.1.7:{port}", "0.0.0.0:{port}", "a@127.0.0.1:{port}",
)  # fmt: skip


@pytest.mark.parametrize("host", FOREIGN)
def test_another_host_is_refused(studio: Studio, host: str) -> None:
    """A name of somebody else that leads to this machine (DNS rebinding) is in `Host`."""
    name, path = host.format(port=studio.port), f"/?token={secret(studio)}"
    assert ask(studio, path, ("Host", name))[0] == 403
    if "@" not in name:
        assert enter(studio, name, path) == 403


def test_one_host_must_be_named(studio: Studio) -> None:
    name, path = f"127.0.0.1:{studio.port}", f"/?token={secret(studio)}"
    for hosts in ((), (("Host", name), ("Host", "evil.example")), (("Host", name), ("Host", name))):
        with contextlib.suppress(HTTPException, OSError):
            assert ask(studio, path, *hosts)[0] in (400, 403)
    for own in (name, f"localhost:{studio.port}", f"LOCALHOST:{studio.port}", f"[::1]:{studio.port}"):
        assert ask(studio, path, ("Host", own))[0] == 200


@pytest.mark.parametrize(
    "origin",
    [*(f"http://{host}" for host in FOREIGN), "null", "https://127.0.0.1:{port}", "file://", "127.0.0.1:{port}"],
)
def test_pages_of_other_origins_are_refused(studio: Studio, origin: str) -> None:
    """Even with the token, and with the cookie that a browser would send along."""
    name, other = f"127.0.0.1:{studio.port}", origin.format(port=studio.port)
    path, cookie = f"/?token={secret(studio)}", f"gaitway-studio-{studio.port}={secret(studio)}"
    assert ask(studio, path, ("Host", name), ("Origin", other))[0] == 403
    assert enter(studio, name, path, Origin=other) == 403
    assert enter(studio, name, "/", Origin=other, Cookie=cookie) == 403


def test_the_own_page_is_let_in(studio: Studio) -> None:
    name, cookie = f"127.0.0.1:{studio.port}", f"gaitway-studio-{studio.port}={secret(studio)}"
    assert enter(studio, name, "/", Origin=f"http://{name}", Cookie=cookie) == 101
    assert (
        enter(studio, f"localhost:{studio.port}", "/", Origin=f"http://localhost:{studio.port}", Cookie=cookie) == 101
    )
    assert enter(studio, name, f"/?token={secret(studio)}") == 101  # no page at all


def test_tokens_are_compared_in_constant_time_and_differ(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def spy(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return hmac.compare_digest(a, b)

    monkeypatch.setattr(gates, "hmac", type("spy", (), {"compare_digest": staticmethod(spy)}))
    ask(studio, "/?token=guess", ("Host", f"127.0.0.1:{studio.port}"))
    assert compared == [(b"guess", secret(studio).encode())]
    assert len({PageGate("127.0.0.1").token for _ in range(20)}) == 20


@pytest.mark.parametrize(
    ("host", "names", "others"),
    [
        ("192.168.1.7", ["192.168.1.7:80", "localhost:80", "192.168.1.7"], ["192.168.1.8:80", "evil.example:80"]),
        ("Box.lan", ["box.lan:80", "BOX.LAN"], ["evil.box.lan:80", "box.lan:8080", "10.0.0.1:80"]),
        ("::1", ["[::1]:80", "[::1]", "localhost"], ["::1:80", "[::2]:80"]),
        (
            "0.0.0.0",
            ["10.1.2.3:80", "[fe80::1]:80", "127.0.0.1:80"],
            ["evil.example:80", "10.1.2.3.evil:80", ":80", ""],
        ),
    ],
)
def test_hosts_that_are_asked_for(host: str, names: list[str], others: list[str]) -> None:
    gate = PageGate(host)
    assert not any(gate.is_own(name) for name in names)  # nothing listens yet
    gate.port = 80
    assert all(gate.is_own(name) for name in names)
    assert not any(gate.is_own(name) for name in others)
    assert gate.address.endswith(f":80/?token={gate.token}")


def test_a_server_that_passes_the_gate_by_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[int] = []
    find = page_server.free_port
    monkeypatch.setattr(page_server, "free_port", lambda host, port: ports.append(find(host, port)) or ports[0])
    monkeypatch.setattr(page_server, "_behind", lambda gate: contextlib.nullcontext())
    with pytest.raises(StudioError, match="cannot be guarded"):
        Studio(scene_from_dict(SCENE), port=0, folder=tmp_path)

    def refused() -> bool:
        try:
            socket.create_connection(("127.0.0.1", ports[0]), timeout=PATIENCE).close()
        except ConnectionRefusedError:
            return True
        return False

    assert until(refused)


# what viewers send


def packed(**fields: Any) -> bytes:
    return msgspec.msgpack.encode(fields)


def test_what_the_page_sends_is_passed_on() -> None:
    gate = PageGate("127.0.0.1")
    gate.allowed = lambda number, value: (number, value) == ("a", True)
    ray = {"ray_origin": (0, 0, 1), "ray_direction": (0.0, 0.0, -1.0), "modifier": None}
    drag = {
        "phase": "start", "name": "/place/0", "instance_index": None, "start_position": (1, 2, 3), "modifier": None,
        "start_screen_pos": (0.5, 0.5), "end_position": (1.0, 2.0, 3.0), "end_screen_pos": (0.5, 0.5), "owner": "",
        "button": "left",
    }  # fmt: skip
    for message in (
        CAMERA,
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": {"value": True}},
        {"type": "CommandTriggerMessage", "uuid": "a"},
        {"type": "ScenePointerMessage", "event_type": "click", "screen_pos": ((0.5, 0.5),), **ray},
        {
            "type": "SceneNodeClickMessage",
            "name": "/a",
            "instance_index": 3,
            "screen_pos": (0.5, 0.5),
            "owner": "",
            **ray,
        },
        {"type": "SceneNodeDragMessage", **drag},
    ):
        out = gate.checked(packed(**message))
        assert out is not None
        assert viser._messages.Message.deserialize(out) == viser._messages.Message.deserialize(packed(**message))


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "FileTransferStartUpload", "source_component_uuid": "a", "transfer_uuid": "b", "filename": "c"},
        {"type": "FileTransferPart", "transfer_uuid": "b", "part_index": 0, "content": b"x"},
        {"type": "ShareUrlRequest"},
        {"type": "GetRenderResponseMessage", "payload": b"x"},
        {"type": "NoSuchMessage"},
        {"type": 3},
        {},
        {**CAMERA, "position": (math.nan, 0.0, 0.0)},
        {**CAMERA, "position": (math.inf, 0.0, 0.0)},
        {**CAMERA, "position": (1e30, 0.0, 0.0)},
        {**CAMERA, "position": "abc"},
        {**CAMERA, "position": (0.0, 0.0)},
        {**CAMERA, "image_height": 0},
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": {"value": math.nan}},
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": {"value": "a" * 300}},
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": {"value": [1, 2]}},
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": {"removed": True}},
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": {"value": True, "update_cb": []}},
        {"type": "GuiUpdateMessage", "uuid": "a", "updates": {}},
    ],
)
def test_nothing_else_is(fields: dict[str, Any]) -> None:
    gate = PageGate("127.0.0.1")
    gate.allowed = lambda number, value: True
    assert gate.checked(packed(**fields)) is None


def test_a_second_type_in_a_message_is_not_passed_on() -> None:
    """Of two keys of one name each reader may take another."""
    one, two = packed(**CAMERA)[1:], packed(type="ShareUrlRequest")[1:]
    for body in (one + two, two + one):
        out = PageGate("127.0.0.1").checked(bytes([0x80 | (len(CAMERA) + 1)]) + body)
        assert out is None or msgspec.msgpack.decode(out)["type"] == "ViewerCameraMessage"


@given(st.binary(max_size=200))
def test_any_bytes_are_survived(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert PageGate("127.0.0.1").checked(data) is None
    with contextlib.suppress(ValueError):
        assert PageGate("127.0.0.1").checked(b"\x91" * 5_000 + data) is None


@pytest.mark.parametrize(
    ("limits", "now", "value", "may"),
    [
        ({"options": ("live", "take")}, "live", "take", True),
        ({"options": ("live", "take")}, "live", "x", False),
        ({"options": ("live", "take")}, "live", True, False),
        ({"min": 0.1, "max": 4.0}, 1.0, 2.0, True),
        ({"min": 0.1, "max": 4.0}, 1.0, 0.0, False),
        ({"min": 0.1, "max": 4.0}, 1.0, 1e6, False),
        ({"min": 0.1, "max": 4.0}, 1.0, math.nan, False),
        ({"min": 0.1, "max": 4.0}, 1.0, True, False),
        ({"min": 0.1, "max": 4.0}, 1.0, "1", False),
        ({"min": None, "max": None}, 1.0, 1.0, False),
        ({}, 1.0, 1.0, False),
        ({}, False, True, True),
        ({}, False, 1.0, False),
        ({}, "a", "b c", True),
        ({}, "a", "b\n", False),
        ({}, "a", 1.0, False),
        ({}, None, 1.0, False),
    ],
)
def test_what_inputs_may_be_set_to(limits: dict[str, object], now: object, value: object, may: bool) -> None:
    assert input_allows(type("Properties", (), limits), now, value) is may
