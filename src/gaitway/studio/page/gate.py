"""The gate of the page: who may connect, and what a viewer may send.

A browser lets every website send requests to this machine, and only the server can tell them from the page of the
studio. The gate lets a request in if it names this server (`Host`), comes from this server's own page or from no page
at all (`Origin`), and knows the token of this run, which is in the address that the studio prints. Of what a viewer
sends, only the few kinds of messages that the page has are passed on, rebuilt from checked values, and not too many of
them.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs

import msgspec
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.typing import Data

MOST_VIEWERS = 16
"""Largest number of pages that look at once."""
MOST_WAITING = 64
"""Largest number of connections that have not said yet what they want."""
LARGEST_MESSAGE = 1 << 16
"""Largest message of a viewer [bytes]; those of a page have a few hundred."""
RATE, BURST = 500.0, 500.0
"""Number of messages a second that are taken from a viewer, and how many more at once."""
MOST_LATE = 1_000
"""A viewer that sends so many messages faster than that, and never pauses, is let go."""
_AT_ONCE = 10.0
"""Number of messages that are waited for together."""
_OPEN_S, _CLOSE_S, _PING_S = 5.0, 2.0, 20.0
"""Times for a handshake, for a goodbye, and between (and for) signs of life [s]."""
_WILD = ("0.0.0.0", "::", "")
"""Hosts that stand for all addresses of this machine."""
_LOCAL = ("127.0.0.1", "localhost", "[::1]")

Texts = Annotated[str, msgspec.Meta(max_length=200)]
Number = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
Pixels = Annotated[float, msgspec.Meta(ge=1.0, le=1e6)]
Point = tuple[Number, Number, Number]
Place = tuple[Number, Number]
Value = bool | Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)] | Texts
"""What an input of the panel may be set to."""


class _Message(msgspec.Struct, tag_field="type"):
    """A message of the page; the names and fields are those of viser."""


class CameraMoved(_Message, tag="ViewerCameraMessage"):
    """A viewer looks from elsewhere."""

    wxyz: tuple[Number, Number, Number, Number]
    position: Point
    fov: Number
    near: Number
    far: Number
    image_height: Pixels
    image_width: Pixels
    look_at: Point
    up_direction: Point


class InputChanged(_Message, tag="GuiUpdateMessage"):
    """A button was pressed, or an input was changed: nothing but its value, for viser would set any attribute."""

    uuid: Texts
    updates: dict[Literal["value"], Value]


class KeyPressed(_Message, tag="CommandTriggerMessage"):
    """A key was pressed."""

    uuid: Texts


class GroundClicked(_Message, tag="ScenePointerMessage"):
    """A click that met nothing."""

    event_type: Literal["click"]
    ray_origin: Point
    ray_direction: Point
    screen_pos: Annotated[tuple[Place, ...], msgspec.Meta(min_length=1, max_length=2)]
    modifier: Texts | None = None


class ThingClicked(_Message, tag="SceneNodeClickMessage"):
    """A click on a thing or a person."""

    name: Texts
    ray_origin: Point
    ray_direction: Point
    screen_pos: Place
    instance_index: Annotated[int, msgspec.Meta(ge=0, le=10**9)] | None = None
    modifier: Texts | None = None
    owner: Texts = ""


class ThingDragged(_Message, tag="SceneNodeDragMessage"):
    """A thing that is gripped, moved or released."""

    phase: Literal["start", "update", "end"]
    name: Texts
    start_position: Point
    start_screen_pos: Place
    end_position: Point
    end_screen_pos: Place
    button: Literal["left", "middle", "right"]
    instance_index: Annotated[int, msgspec.Meta(ge=0, le=10**9)] | None = None
    modifier: Texts | None = None
    owner: Texts = ""


_DECODER = msgspec.msgpack.Decoder(
    CameraMoved | InputChanged | KeyPressed | GroundClicked | ThingClicked | ThingDragged
)
Allowed = Callable[[str, Any], bool]
"""Whether an input, by its number, may be set to a value."""


class PageGate:
    """What is checked of everybody who connects. This class is **mutable**; connections use it on one thread.

    Attributes:
        token: what only those know who were given the address.
        port: port that is listened on; nobody is let in before it is known.
        allowed: whether an input may be set to a value.
        stands: whether a server goes through this gate.
    """

    def __init__(self, host: str) -> None:
        self._host = host.lower()
        self.token = secrets.token_urlsafe(24)
        self.port = 0
        self.allowed: Allowed = lambda number, value: False
        self.stands = False
        self.waiting: set[ServerConnection] = set()

    @property
    def address(self) -> str:
        """Address of the page, with the token."""
        name = socket.gethostname() if self._host in _WILD else _bracketed(self._host)
        return f"http://{name}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """Name of the cookie that holds the token; cookies know no ports, so the port is in its name."""
        return f"gaitway-studio-{self.port}"

    def serve(self, handler: Any, host: str, port: int, **options: Any) -> serve:
        """Start a server as `websockets.asyncio.server.serve` does, behind this gate."""
        self.stands = True
        options |= {
            "process_request": partial(self._answer, options.get("process_request")),
            "create_connection": partial(GatedConnection, self),
            "max_size": LARGEST_MESSAGE,
            "compression": None,  # nothing unpacks to more than it is
            "open_timeout": _OPEN_S,
            "close_timeout": _CLOSE_S,
            "ping_interval": _PING_S,
            "ping_timeout": _PING_S,
            "server_header": None,
        }
        return serve(handler, host, port, **options)

    def refusal(self, path: str, headers: Headers) -> str:
        """Return why a request is refused, or "" if it is let in."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if not self.port or len(hosts) != 1 or not self.is_own(hosts[0]):
            return "this is the studio of gaitway, and no other host; open the address that it printed"
        if len(origins) > 1 or any(not self._is_own_origin(origin) for origin in origins):
            return "pages of other origins have no business here"
        if not any(self._is_token(text) for text in (*_asked(path), *self._cookies(headers))):
            return "open the address that the studio printed; it ends in ?token=... and is another in every run"
        return ""

    def is_own(self, name: str) -> bool:
        """Return whether a name with a port, such as "localhost:8080", is one of this server."""
        host, colon, port = name.lower().rpartition(":")
        if not colon or port.endswith("]"):  # no port
            host, port = name.lower(), "80"
        if port != str(self.port):
            return False
        if self._host not in _WILD:
            return host in (*_LOCAL, _bracketed(self._host))
        machine = socket.gethostname().lower()
        return host in (*_LOCAL, machine, f"{machine}.local") or _is_numeric(host)

    def _is_own_origin(self, origin: str) -> bool:
        scheme, found, name = origin.partition("://")
        return bool(found) and scheme.lower() == "http" and self.is_own(name)

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "surrogateescape"), self.token.encode())

    def _cookies(self, headers: Headers) -> list[str]:
        pairs = [pair.strip().partition("=") for line in headers.get_all("Cookie") for pair in line.split(";")]
        return [value for name, _, value in pairs if name == self.cookie]

    def _answer(
        self,
        page: Callable[[ServerConnection, Request], Response | None] | None,
        connection: ServerConnection,
        request: Request,
    ) -> Response | None:
        """Return what is answered; None lets a viewer in."""
        reason = self.refusal(request.path, request.headers)
        if reason:
            return _protected(connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n"))
        try:
            response = page(connection, request) if page is not None else None
        except (OSError, ValueError):  # a path that no file could have
            response = connection.respond(HTTPStatus.NOT_FOUND, "there is no such file\n")
        if response is None:
            if len(connection.server.connections) < MOST_VIEWERS:
                return None
            return _protected(connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_VIEWERS} pages look on\n"))
        if any(self._is_token(text) for text in _asked(request.path)):
            response.headers["Set-Cookie"] = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        return _protected(response, request.headers.get_all("Host")[0])

    def checked(self, data: bytes) -> bytes | None:
        """Return a message rebuilt from its checked values, or None if it is none that the page sends.

        Raises:
            ValueError: if it is no message at all.
        """
        try:
            message = _DECODER.decode(data)
        except msgspec.ValidationError:
            return None
        except (msgspec.DecodeError, RecursionError):
            raise ValueError("no message") from None
        if isinstance(message, InputChanged) and not (
            "value" in message.updates and self.allowed(message.uuid, message.updates["value"])
        ):
            return None
        return msgspec.msgpack.encode(message)


class GatedConnection(ServerConnection):
    """A connection that is refused where too many wait, that passes checked messages only, and not too fast."""

    def __init__(self, gate: PageGate, protocol: ServerProtocol, server: Server, **options: Any) -> None:
        super().__init__(protocol, server, **options)
        self._gate = gate
        self._level, self._then, self._late = BURST, time.monotonic(), 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, unless too many others wait."""
        super().connection_made(transport)
        if len(self._gate.waiting) >= MOST_WAITING:
            self.transport.abort()
        else:
            self._gate.waiting.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._gate.waiting.discard(self)
        super().connection_lost(exc)

    async def handshake(self, *given: Any, **options: Any) -> None:
        """Perform the opening handshake; after it nobody waits for this connection."""
        try:
            await super().handshake(*given, **options)
        finally:
            self._gate.waiting.discard(self)

    async def recv(self, decode: bool | None = None) -> Data:  # type: ignore[override]
        """Return the next message that the page could have sent."""
        while True:
            data = await super().recv(decode)
            wait = self._wait()
            if self._late > MOST_LATE:
                await self.close(1008, "too many messages")
                continue  # which raises that it is closed
            if wait > 0.0:
                await asyncio.sleep(wait)
            try:
                message = self._gate.checked(data) if isinstance(data, bytes) else None
            except ValueError:
                await self.close(1007, "no message")
                continue
            if message is not None:
                return message

    def _wait(self) -> float:
        """Count a message, and return how long it has to wait [s]."""
        now = time.monotonic()
        self._level = min(self._level + RATE * (now - self._then), BURST) - 1.0
        self._then = now
        if self._level < 0.0:
            self._late += 1
        elif self._level > 0.5 * BURST:
            self._late = 0
        return -self._level / RATE if self._level < -_AT_ONCE else 0.0


def input_allows(properties: Any, now: Any, value: Any) -> bool:
    """Return whether an input may be set to a value.

    Args:
        properties: its options, or its least and greatest number; a number without limits is nobody's to set.
        now: its present value, whose type it keeps.
        value: bool, number or text.
    """
    options = getattr(properties, "options", None)
    if options is not None:
        return value in options
    if isinstance(now, bool) or isinstance(value, bool):
        return isinstance(now, bool) and isinstance(value, bool)
    if isinstance(now, str):
        return isinstance(value, str) and value.isprintable()
    if not isinstance(now, int | float) or not isinstance(value, int | float):
        return False
    low, high = getattr(properties, "min", None), getattr(properties, "max", None)
    return low is not None and high is not None and bool(low <= value <= high)


def _protected(response: Response, host: str = "") -> Response:
    """Let a browser load nothing from elsewhere, show it in no frame of others, keep no copy, and tell nobody."""
    sources = f"'self' ws://{host} data: blob: 'unsafe-inline' 'unsafe-eval'" if host else "'none'"
    response.headers.update({
        "Content-Security-Policy": f"default-src {sources}; frame-ancestors 'none'; form-action 'none'; "
        "base-uri 'none'",
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    })  # fmt: skip
    return response


def _asked(path: str) -> list[str]:
    """Return the tokens in the address of a request."""
    try:
        found: Mapping[str, list[str]] = parse_qs(path.partition("?")[2], max_num_fields=16)
    except ValueError:
        return []
    return found.get("token", [])


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_numeric(host: str) -> bool:
    """Return whether a host is an address and no name; only names can be made to lead here by others."""
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
