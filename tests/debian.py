"""Programs of Debian that tests use from outside, installed where that is allowed and possible.

It is allowed where `CI`, or a variable that names the program, is set, and possible for root with apt-get.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import gettempdir

_SECONDS = 600
"""That an installation may take [s]."""


@cache
def program(commands: Sequence[str], packages: Sequence[str], title: str) -> tuple[str | None, str]:
    """Where a program is, or why it is not.

    Args:
        commands: its names, the best first.
        packages: what Debian has it in.
        title: what people call it.
    """
    variable = f"GAITWAY_INSTALL_{title.upper()}"
    if (found := _found(commands)) is not None:
        return found, ""
    if not (os.environ.get("CI") or os.environ.get(variable)):
        return None, f"{title} is not installed (set {variable}=1 to let this test install it)"
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return None, f"{title} is not installed, and only root with apt-get could install it here"
    try:
        _install(packages)
    except (OSError, subprocess.CalledProcessError, subprocess.TimeoutExpired) as problem:
        return None, f"{title} could not be installed: {problem}"
    return _found(commands), f"{title} was installed but is not on the path"


def _install(packages: Sequence[str]) -> None:
    """Install packages; one of several processes after another, for apt-get works for one at a time."""
    import fcntl

    command = f"apt-get update -qq && apt-get install -qq -y --no-install-recommends {' '.join(packages)}"
    with (Path(gettempdir()) / "gaitway-apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["sh", "-c", command], capture_output=True, check=True, timeout=_SECONDS)


def _found(commands: Sequence[str]) -> str | None:
    return next((path for path in map(shutil.which, commands) if path is not None), None)
