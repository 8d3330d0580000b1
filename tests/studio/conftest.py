"""Settings of the tests of the studio."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gaitway.studio.page import gate


@pytest.fixture(scope="session", autouse=True)
def patient_gate() -> Iterator[None]:
    """On a busy machine a handshake, or a sign of life, may take as long as it likes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "_OPEN_S", 600.0)
        patch.setattr(gate, "_PING_S", 600.0)
        yield
