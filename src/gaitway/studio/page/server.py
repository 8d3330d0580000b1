"""viser's server as the studio uses it: silent, on a port that was found free, behind a gate, never shared."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import viser
from viser.infra import _infra

from gaitway.core.errors import StudioError
from gaitway.studio.page.gate import PageGate, Value, input_allows

PORTS = 50
"""Number of ports that are tried, from the one that was asked for."""
_STARTING = threading.Lock()
"""Held while a server of viser is started behind a gate."""


class LocalServer(viser.ViserServer):
    """A server that says nothing on the terminal and never asks an outside relay to forward it.

    Attributes:
        gate: who is let in.
    """

    def __init__(self, host: str, port: int) -> None:
        """Listen.

        Args:
            host: address to listen on.
            port: the next free one is taken if it is in use; 0 takes any.

        Raises:
            OSError: if there is no such address, or none of many ports is free.
            StudioError: if this version of viser does not go through the gate.
        """
        found = free_port(host, port)
        logging.getLogger("websockets.server").setLevel(logging.CRITICAL)  # whoever sends rubbish is just let go
        self._mark = -1
        self.gate = PageGate(host)
        with contextlib.redirect_stdout(io.StringIO()), _behind(self.gate):  # it prints a banner
            super().__init__(host=host, port=found, verbose=False)
        if not self.gate.stands:
            self.stop()
            raise StudioError(f"viser {viser.__version__} cannot be guarded; install the version of requirements.lock")
        self.gate.allowed = self._allows
        self.gate.port = self.get_port()

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse to share the page."""
        del verbose
        return None

    def disconnect_share_url(self) -> None:
        """Do nothing, since there is no share."""

    def stop(self) -> None:
        """End the server and its threads."""
        with contextlib.redirect_stdout(io.StringIO()):
            super().stop()

    @property
    def ready(self) -> bool:
        """Whether a viewer has got the latest frame, or there is none; otherwise the next frame should be left out.

        viser keeps only the latest value of what has not gone out, so that a slow viewer misses frames and none pile
        up; where all are slow, making them is of no use either.
        """
        places = list(self._websock_server.get_message_buffer().generator_cursors.values())
        return not places or max(places) >= self._mark

    def mark(self) -> None:
        """Note that a frame is complete."""
        self._mark = self._websock_server.get_message_buffer().message_counter - 1

    def _allows(self, number: str, value: Value) -> bool:
        """Return whether an input may be set to a value; what belongs to one viewer alone are buttons of windows."""
        handle = self.gui._gui_input_handle_from_uuid.get(number)
        if handle is None:
            return value is True
        return input_allows(handle._impl.props, handle._impl.value, value)


@contextlib.contextmanager
def _behind(gate: PageGate) -> Iterator[None]:
    """Let the server that viser starts in this block go through a gate.

    viser has no option for it: it calls `websockets.asyncio.server.serve` itself. What it finds under that name is
    exchanged while it starts, in viser's own module alone.
    """
    with _STARTING:
        module: Any = _infra
        real = module.websockets
        server = SimpleNamespace(**{**vars(real.asyncio.server), "serve": gate.serve})
        module.websockets = SimpleNamespace(**{**vars(real), "asyncio": SimpleNamespace(server=server)})
        try:
            yield
        finally:
            module.websockets = real


@contextlib.contextmanager
def sent_to(client: viser.ClientHandle) -> Iterator[None]:
    """Send messages to one viewer together. The viewer may leave at any moment; errors then do no harm to others."""
    try:
        with client._websock_connection.get_message_buffer().sanctioned_dead_writes(), client.atomic():
            yield
    except Exception:
        if client.client_id in client._viser_server.get_clients():
            raise


def free_port(host: str, port: int) -> int:
    """Return the first free port from a given one on.

    Raises:
        OSError: if there is no such address, or none is free.
    """
    problem = OSError(f"no free port from {port} on")
    for number in range(port, min(port + PORTS, 65_536)):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            try:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, number))
                return int(probe.getsockname()[1])
            except PermissionError as refused:
                problem = refused
            except OSError as used:
                if isinstance(used, socket.gaierror) or used.errno != errno.EADDRINUSE:
                    raise
    raise problem
