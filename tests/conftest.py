"""Settings of the whole suite."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, settings

from gaitway.core import jit, warming

# the first example of a law may have to compile its kernels, which takes longer than any deadline
settings.register_profile("gaitway", deadline=None)
# where bugs are planted (tools/mutants.py), a law fails at once and in every run, or not at all
settings.register_profile("mutants", deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate))
settings.load_profile(os.environ.get("GAITWAY_TEST_PROFILE", "gaitway"))

# What takes long to compute is shared by all tests and worker processes of one run, and by no other run.
_SHARED = "GAITWAY_TEST_CACHE"
_CACHE = None if os.environ.get("PYTEST_XDIST_WORKER") else TemporaryDirectory(prefix="gaitway-tests-")
if _CACHE is not None:
    os.environ[_SHARED] = _CACHE.name
os.environ["GAITWAY_CACHE"] = os.environ[_SHARED]


# No command that a test runs leaves a process behind that compiles; tests of that ask for it.
os.environ["GAITWAY_COMPILERS"] = "1"


def pytest_sessionstart() -> None:
    # workers would all compile the same kernels, each for itself; so they share this work before the first test
    if os.environ.get("PYTEST_XDIST_WORKER") and jit.JIT_ENABLED:
        warming.compile_all()


def pytest_unconfigure() -> None:
    if _CACHE is not None:
        _CACHE.cleanup()


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that compare what is computed twice."""
    monkeypatch.setenv("GAITWAY_CACHE", "off")
