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


_LONGEST = (
    "test_large_scene_plans.py", "test_scene_plans.py", "test_readme.py", "test_fuzz_archives.py", "test_fuzz.py",
    "test_stuck_characters.py", "test_install.py", "test_import_library.py", "test_performer.py",
)  # fmt: skip
"""Files that take longest. They come first, or one worker would be left alone with them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first = {name: number for number, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: first.get(item.path.name, len(first)))


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
