"""The gate of the page: who is let in, what is passed on, and that nobody who sends rubbish or floods harms others."""

from __future__ import annotations

import contextlib
import hmac
import math
import select
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import viser
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from gaitway.core.errors import StudioError
from gaitway.scene import scene_from_dict
from gaitway.studio.page import gate as gates
from gaitway.studio.page import server as page_server
from gaitway.studio.page.gate import PageGate, input_allows
from gaitway.studio.serving import Studio
from wire_viewer import PATIENCE, WireViewer, until

SCENE: dict[str, object] = {
    "gaitway": 1, "bounds": [0, 0, 16, 12], "seed": 3,
    "characters": [
        {"name": "ada", "start": [2, 6, 0], "goal": [14, 6]},
        {"name": "ben", "start": [14, 4, 180], "goal": [2, 4]},
    ],
}  # fmt: skip
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (8.0, -6.0, 10.0), "fov": 0.9,
    "near": 0.1, "far": 1000.0, "image_height": 720, "image_width": 1280, "look_at": (8.0, 6.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
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


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with served(tmp_path_factory.mktemp("studio")) as made:
        yield made


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Studio]:
    """A studio for one test."""
    with served(tmp_path) as made:
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


# viewers who mean harm, over the wire


def handle(studio: Studio, label: str) -> Any:
    """An input of the panel by what is written beside it."""
    known = list(studio._server.gui._gui_input_handle_from_uuid.values())
    return next(one for one in known if getattr(one._impl.props, "label", "") == label)


def lives(studio: Studio) -> bool:
    """Whether somebody who comes now is shown how time goes on."""
    play = studio.session.engine._play
    viewer, before = WireViewer(studio.address), play.time
    try:
        return until(lambda: viewer.read(0.1) >= 0 and play.time > before + 0.3)
    finally:
        viewer.vanish()


@pytest.mark.parametrize("value", [math.nan, math.inf, 0, -5, 1e6, 1e12, 2**63, "fast", None, True, [], {}])
def test_no_value_of_the_panel_ends_or_freezes_the_studio(studio: Studio, value: object) -> None:
    engine, viewer = studio.session.engine, WireViewer(studio.address)
    assert until(studio.page.viewers)
    speed, count = handle(studio, "Speed"), handle(studio, "How many")
    remove = handle(studio, "Remove as many")
    people = engine.scene.characters
    for one in (speed, count):
        viewer.send("GuiUpdateMessage", uuid=one._impl.uuid, updates={"value": value})
        for key in ("props", "update_cb", "removed", "is_button"):
            viewer.send("GuiUpdateMessage", uuid=one._impl.uuid, updates={key: value})
    viewer.send("GuiUpdateMessage", uuid=remove._impl.uuid, updates={"removed": True})
    viewer.read(0.3)
    assert lives(studio)
    assert (engine.speed, speed.value, count.value) == (1.0, 1.0, 20)
    assert engine.scene.characters == people
    assert not remove._impl.removed
    assert studio.session.failures == 0
    viewer.vanish()


def test_values_that_are_meant_are_taken(own: Studio) -> None:
    viewer = WireViewer(own.address)
    assert until(own.page.viewers)
    viewer.send("GuiUpdateMessage", uuid=handle(own, "Speed")._impl.uuid, updates={"value": 2})
    assert until(lambda: viewer.read(0.05) >= 0 and own.session.engine.speed == 2.0)
    assert until(lambda: viewer.read(0.05) >= 0 and "pause" in handle(own, "Time").options)  # once a frame is shown
    viewer.send("GuiUpdateMessage", uuid=handle(own, "Time")._impl.uuid, updates={"value": "pause"})
    assert until(lambda: viewer.read(0.05) >= 0 and not own.session.engine.playing)
    viewer.vanish()


def test_uploads_are_refused_where_nothing_uploads(studio: Studio) -> None:
    viewer = WireViewer(studio.address)
    assert until(studio.page.viewers)
    for k in range(20):
        viewer.send(
            "FileTransferStartUpload", source_component_uuid=handle(studio, "Name")._impl.uuid, transfer_uuid=f"{k}",
            filename="x", mime_type="text/plain", part_count=10**9, size_bytes=10**12,
        )  # fmt: skip
        viewer.send(
            "FileTransferPart", source_component_uuid="", transfer_uuid=f"{k}", part_index=k, content=b"x" * 999
        )
    viewer.read(0.3)
    assert lives(studio)
    assert studio._server.gui._current_file_upload_states == {}
    viewer.vanish()


FRAMES = (b"", b"\x00\xff rubbish", bytes(1000), b"\xdf\xff\xff\xff\xff", b"\x91" * 60_000, b"\xc1", "text")


@pytest.mark.parametrize("data", FRAMES, ids=range(len(FRAMES)))
def test_who_sends_rubbish_is_let_go_or_not_heard(studio: Studio, data: bytes | str) -> None:
    viewer = WireViewer(studio.address)
    viewer.send_rubbish(data)  # type: ignore[arg-type]
    with contextlib.suppress(ConnectionClosed):
        viewer.read(0.3)
    assert lives(studio)
    viewer.vanish()


def test_a_huge_message_is_not_read_to_its_end(studio: Studio) -> None:
    viewer = WireViewer(studio.address)
    with pytest.raises(ConnectionClosed) as closed:
        viewer.send_until_closed(bytes(gates.LARGEST_MESSAGE + 1))
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009
    assert lives(studio)


def test_a_frame_that_says_it_is_endless_takes_no_memory(studio: Studio) -> None:
    plug = socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE)
    with connect(
        f"ws://127.0.0.1:{studio.port}/?token={secret(studio)}", sock=plug, subprotocols=PROTOCOL,
        open_timeout=PATIENCE, close_timeout=1,
    ):  # fmt: skip
        plug.sendall(b"\x82\xff" + (1 << 62).to_bytes(8, "big") + b"\x00\x00\x00\x00" + bytes(1000))
        assert lives(studio)
    plug.close()


def test_nothing_that_is_packed_is_unpacked(studio: Studio) -> None:
    """A few bytes could stand for many."""
    plug = socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE)
    with connect(
        f"ws://127.0.0.1:{studio.port}/?token={secret(studio)}", sock=plug, subprotocols=PROTOCOL,
        compression="deflate", open_timeout=PATIENCE, close_timeout=1,
    ) as viewer:  # fmt: skip
        assert viewer.response is not None and "Sec-WebSocket-Extensions" not in viewer.response.headers
        packed_zeros = zlib.compress(bytes(1_000_000), 9)[2:-4]
        plug.sendall(b"\xc2\xfe" + len(packed_zeros).to_bytes(2, "big") + bytes(4) + packed_zeros)  # told as packed
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                viewer.recv(timeout=PATIENCE)
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1002
    assert lives(studio)


def test_a_message_in_many_parts_is_not_read_to_its_end(studio: Studio) -> None:
    viewer = WireViewer(studio.address)

    def parts() -> Iterator[bytes]:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            yield bytes(1000)

    with pytest.raises(ConnectionClosed):
        viewer._socket.send(parts())
        viewer.read(PATIENCE)
    assert lives(studio)


@pytest.mark.slow
def test_a_flood_ends_for_who_sends_it_and_nobody_else(own: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "RATE", 1e-3)  # so that it is a flood however slow this machine is
    monkeypatch.setattr(gates, "MOST_LATE", 5)
    other, flood = WireViewer(own.address), WireViewer(own.address)
    assert until(lambda: len(own.page.viewers()) == 2)
    message = packed(type="GuiUpdateMessage", uuid=handle(own, "Remove as many")._impl.uuid, updates={"value": "x"})
    with pytest.raises(ConnectionClosed):
        flood.send_until_closed(message)
    assert until(lambda: other.read(0.05) >= 0 and len(own.page.viewers()) == 1)
    assert until(lambda: other.read(0.05) > 0)
    assert lives(own)
    other.vanish()


def test_who_floods_and_never_reads_has_one_window_waiting(own: Studio) -> None:
    viewer = WireViewer(own.address)
    assert until(own.page.viewers)
    (client,) = own.page.viewers()
    buffer = client._websock_connection.get_message_buffer()
    buffer.atomic_start()  # as if nothing more went out to it
    keys = next(c for c in list(own._server.gui._command_handle_from_uuid.values()) if c._impl.props.label == "Keys")
    opened: list[int] = []
    show = own.page.windows._window
    own.page.windows._window = lambda *given: (opened.append(1), show(*given))[1]  # type: ignore[method-assign]
    for _ in range(300):
        viewer.send("CommandTriggerMessage", uuid=keys._impl.uuid)
    assert until(lambda: len(opened) > 0)
    viewer.read(1.0)
    assert len(opened) == 1  # the others find it open
    for _ in range(20):  # what replaces it leaves one, too
        own.page.windows.ask(client, "really?", {"yes": lambda: None})
    modals = client.gui._modal_handle_from_uuid
    assert until(lambda: len([m for m in list(modals.values()) if not m.closed]) == 1)
    assert len(client.gui._gui_input_handle_from_uuid) <= 1
    heavy = [m for m in list(buffer.message_from_id.values()) if type(m).__name__ == "GuiMarkdownMessage"]
    assert len(heavy) <= 1
    viewer.vanish()


def test_more_viewers_than_places_are_told_to_wait(own: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "MOST_VIEWERS", 2)
    name, path = f"127.0.0.1:{own.port}", f"/?token={secret(own)}"
    viewers = [WireViewer(own.address) for _ in range(2)]
    assert until(lambda: len(own.page.viewers()) == 2)
    assert enter(own, name, path) == 503
    viewers[0].vanish()
    assert until(lambda: enter(own, name, path) == 101)
    viewers[1].vanish()


@pytest.mark.slow
def test_connections_that_say_nothing_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "MOST_WAITING", 4)
    with served(tmp_path) as own:
        silent = [socket.create_connection(("127.0.0.1", own.port), timeout=PATIENCE) for _ in range(12)]
        assert until(lambda: len(own._server.gate.waiting) == 4)
        assert until(lambda: len(select.select(silent, [], [], 0.1)[0]) == 8)  # what can be read is their end
        for plug in silent:
            plug.close()
        assert until(lambda: not own._server.gate.waiting)
        assert lives(own)


@pytest.mark.slow
def test_connections_that_say_nothing_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "_OPEN_S", 0.5)
    with served(tmp_path) as own, socket.create_connection(("127.0.0.1", own.port), timeout=PATIENCE) as silent:
        with contextlib.suppress(ConnectionResetError):
            assert silent.recv(1) == b""
        assert until(lambda: not own._server.gate.waiting)


def test_messages_wait_by_how_many_came_of_late(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(gates, "time", SimpleNamespace(monotonic=lambda: now[0]))
    viewer: Any = SimpleNamespace(_level=gates.BURST, _then=now[0], _late=0)
    waits = [gates.GatedConnection._wait(viewer) for _ in range(round(gates.BURST) + 60)]
    assert waits[: round(gates.BURST) + 10] == [0.0] * (round(gates.BURST) + 10)  # so many at once
    assert waits[-1] == pytest.approx(60.0 / gates.RATE)
    assert viewer._late == 60
    now[0] += 0.1
    assert gates.GatedConnection._wait(viewer) == pytest.approx(max(61.0 - 0.1 * gates.RATE, 0.0) / gates.RATE)
    now[0] += 10.0  # a pause
    assert gates.GatedConnection._wait(viewer) == 0.0 and viewer._late == 0
