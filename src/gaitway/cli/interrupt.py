"""Ctrl-C and SIGTERM end the command soon, whatever it is doing, and leave no unfinished file."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

from gaitway.core.files import remove_unfinished

PATIENCE_S = 5.0
"""How long the ordinary way out may take [s]."""


def handle_signals() -> None:
    """Let both signals raise an exception, so that work unwinds and files are removed; and insist after a while.

    Insisting is needed: an exception that arrives while a kernel is loaded leaves the compiler's lock taken, and
    threads that wait for it never end.
    """
    signal.signal(signal.SIGINT, _interrupted)
    signal.signal(signal.SIGTERM, _interrupted)


def _interrupted(number: int, _: FrameType | None) -> NoReturn:
    code = 130 if number == signal.SIGINT else 128 + number
    last_resort = threading.Timer(PATIENCE_S, _leave, [code])
    last_resort.daemon = True
    last_resort.start()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(code)


def _leave(code: int) -> None:
    remove_unfinished()
    if code == 130:
        os.write(2, b"interrupted\n")
    os._exit(code)
