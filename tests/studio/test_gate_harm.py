"""Viewers who mean harm, over the wire: nobody who sends rubbish or floods ends the studio or disturbs others."""

from __future__ import annotations

import contextlib
import math
import select
import socket
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from gaitway.studio.page import gate as gates
from gaitway.studio.serving import Studio
from served_studio import PROTOCOL, enter, secret, served
from wire_viewer import PATIENCE, WireViewer, until


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with served(tmp_path_factory.mktemp("studio")) as made:
        yield made


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Studio]:
    """A studio for one test."""
    with served(tmp_path) as made:
        yield made


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


@pytest.mark.slow
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
    uuid = handle(own, "Remove as many")._impl.uuid
    message = msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": "x"}})
    with pytest.raises(ConnectionClosed):
        flood.send_until_closed(message)
    assert until(lambda: other.read(0.05) >= 0 and len(own.page.viewers()) == 1)
    assert until(lambda: other.read(0.05) > 0)
    assert lives(own)
    other.vanish()


@pytest.mark.slow
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


@pytest.mark.slow
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
