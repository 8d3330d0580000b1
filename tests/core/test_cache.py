"""Results on disk: the same as computed ones, and never in the way."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaitway.core import cache, sources
from gaitway.core.cache import cached, digest
from gaitway.core.files import cache_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache in which everything is worth keeping, though somebody edits the sources meanwhile."""
    monkeypatch.setenv("GAITWAY_CACHE", str(tmp_path / "deep" / "cache"))
    monkeypatch.setattr(cache, "WORTH_KEEPING", 0.0)
    monkeypatch.setattr(sources, "_BEGAN", math.inf)
    return tmp_path / "deep" / "cache"


class Maker:
    """Computes a packed result, and counts how often."""

    def __init__(self, **result: Any) -> None:
        self.result = result or {"numbers": np.arange(1000) / 7.0, "words": ["a", None, 0.1]}
        self.calls = 0

    def __call__(self) -> dict[str, Any]:
        self.calls += 1
        return self.result

    def ask(self, *inputs: object) -> dict[str, Any]:
        return cached("test", (), inputs, self, lambda made: made, dict)


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*"))


def same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return one.keys() == two.keys() and all(np.array_equal(one[k], two[k]) for k in one)


def test_what_was_made_once_is_found_again(folder: Path) -> None:
    make = Maker(
        whole=np.arange(12).reshape(3, 4),
        columns=np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        tiny=np.array([5e-324, -0.0, np.inf, np.nan]),
        single=np.float32([0.1]),
        flags=np.array([True, False]),
        number=np.array(3.0),
        none=np.empty((0, 3)),
        words={"π": [1, 0.1, None, "x", True, float("inf")]},
    )
    made, found = make.ask(1), make.ask(1)
    assert make.calls == 1 and len(entries(folder)) == 1
    assert made is make.result and found.keys() == made.keys()
    assert found["words"] == made["words"]
    for name in made.keys() - {"words"}:
        assert found[name].dtype == made[name].dtype and found[name].shape == made[name].shape
        assert found[name].tobytes() == made[name].tobytes()
        assert not found[name].flags.writeable


def test_other_inputs_are_another_result(folder: Path) -> None:
    make = Maker()
    for inputs in ((1,), (2,), (1, 1), ("1",), (1.0,), (True,), (None,), ([1],), (np.ones(1),), (np.ones((1, 1)),)):
        make.ask(*inputs)
    assert make.calls == len(entries(folder)) == 10


@dataclass(frozen=True)
class Point:
    x: float
    others: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Place:
    x: float
    others: tuple[Any, ...] = ()


def test_digests_tell_values_apart() -> None:
    values: list[object] = [
        0, 0.0, -0.0, False, None, "", "0", "a\nb", [], [0], [[0]], {}, {"a": 1}, {"a": 2}, {"b": 1},
        frozenset(), frozenset("a"),
        np.zeros(2), np.zeros(2, np.float32), np.zeros((2, 1)), np.zeros(2, np.int64), np.array(0.0), np.zeros((0, 2)),
        Point(1.0), Point(2.0), Place(1.0), Point(1.0, (Point(1.0),)), Point(1.0, (Point(1.0), Point(1.0))),
    ]  # fmt: skip
    assert len({digest(value) for value in values}) == len(values) - 1, "only an empty list and an empty set are alike"
    assert digest("a", "b") != digest("ab") != digest(["a", "b"])


def test_digests_of_equal_values_are_equal() -> None:
    table = np.arange(6.0).reshape(2, 3)
    assert digest(table.T) == digest(np.ascontiguousarray(table.T)) != digest(table)
    assert digest(np.int64(3)) == digest(3)
    assert digest([Point(1.0)] * 2) == digest([Point(1.0)] * 2)
    with pytest.raises(TypeError, match="function cannot be part"):
        digest(lambda: None)


def test_an_input_that_nobody_knows_means_no_cache(folder: Path) -> None:
    make = Maker()
    assert same(make.ask(object()), make.ask(object()))
    assert make.calls == 2 and not folder.exists()


def test_a_result_that_cannot_be_packed_is_not_kept(folder: Path) -> None:
    for result in ({"x": object()}, {"x": np.array([object()])}):
        make = Maker(**result)
        assert make.ask() is make.result
        assert entries(folder) == []


def test_what_is_quickly_made_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "WORTH_KEEPING", math.inf)
    Maker().ask()
    assert not folder.exists()


def test_errors_of_the_maker_are_its_own(folder: Path) -> None:
    def fail() -> dict[str, Any]:
        raise ValueError("cannot be made")

    with pytest.raises(ValueError, match="cannot be made") as caught:
        cached("test", (), (), fail, lambda made: made, dict)
    assert caught.value.__context__ is None
    assert not folder.exists()


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda data: data[:-30],
    "half": lambda data: data[: len(data) // 2],
    "text": lambda _: b"What is this?\n",
    "pickle": lambda _: b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00",
    "an array": lambda _: written(np.save, np.arange(3)),
    "foreign": lambda _: written(np.savez, np.arange(3)),
    "no words": lambda _: written(np.savez, facts=np.frombuffer(b"[1, 2", np.uint8)),
    "other words": lambda _: written(np.savez, facts=np.frombuffer(b'["x", {}]', np.uint8)),
}


def written(save: Callable[..., None], *arrays: np.ndarray, **named: np.ndarray) -> bytes:
    file = BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


@pytest.mark.parametrize("how", SPOILED)
def test_damaged_and_foreign_entries_are_made_anew(folder: Path, how: str) -> None:
    make = Maker()
    made = make.ask()
    entry = entries(folder)[0]
    entry.write_bytes(SPOILED[how](entry.read_bytes()))
    assert same(make.ask(), made) and make.calls == 2
    assert same(make.ask(), made) and make.calls == 2, "the new one was kept"


def test_a_folder_in_place_of_an_entry(folder: Path) -> None:
    make = Maker()
    made = make.ask()
    entry = entries(folder)[0]
    entry.unlink()
    entry.mkdir()
    assert same(make.ask(), made) and same(make.ask(), made) and make.calls == 3


def test_any_byte_that_changed_is_noticed(folder: Path) -> None:
    make = Maker(numbers=np.arange(20.0), words=["one", "two"])
    made = make.ask()
    entry = entries(folder)[0]
    whole = entry.read_bytes()
    for place in range(0, len(whole), 3):
        entry.write_bytes(whole[:place] + bytes([whole[place] ^ 0x15]) + whole[place + 1 :])
        assert same(make.ask(), made), place


def test_an_entry_under_the_name_of_another_is_not_believed(folder: Path) -> None:
    Maker(x=1).ask("one")
    entry = entries(folder)[0]
    Maker(x=2).ask("two")
    other = next(e for e in entries(folder) if e != entry)
    entry.replace(other)
    assert Maker(x=2).ask("two") == {"x": 2}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is forbidden to the administrator")
def test_a_folder_that_cannot_be_written_means_no_cache(tmp_path: Path, folder: Path) -> None:
    tmp_path.chmod(0o500)
    make = Maker()
    assert same(make.ask(), make.ask()) and make.calls == 2
    tmp_path.chmod(0o700)


def test_a_file_in_place_of_the_folder_means_no_cache(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "deep").write_text("in the way")
    make = Maker()
    assert same(make.ask(), make.ask()) and make.calls == 2


@pytest.mark.parametrize("word", ["off", "OFF", "0"])
def test_it_can_be_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GAITWAY_CACHE", word)
    monkeypatch.setattr(cache, "WORTH_KEEPING", 0.0)
    make = Maker()
    make.ask(), make.ask()
    assert make.calls == 2 and cache_folder() is None and entries(tmp_path) == []


@pytest.mark.parametrize(
    ("platform", "set_to", "expected"),
    [
        ("linux", {}, "home/.cache/gaitway"),
        ("darwin", {}, "home/Library/Caches/gaitway"),
        ("win32", {}, "home/AppData/Local/gaitway/cache"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/gaitway/cache"),
        ("linux", {"XDG_CACHE_HOME": "shared"}, "shared/gaitway"),
        ("linux", {"XDG_CACHE_HOME": "shared", "GAITWAY_CACHE": "mine"}, "mine"),
    ],
)
def test_where_entries_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, set_to: dict[str, str], expected: str
) -> None:
    for name in ("GAITWAY_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / set_to[name]) if name in set_to else "")
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert cache_folder() == tmp_path / expected


def test_nobodys_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("GAITWAY_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert cache_folder() is None


def test_what_was_not_used_for_longest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_ENTRIES", 3)
    make, names = Maker(), {}
    for age, name in ((30.0, "old"), (20.0, "used"), (10.0, "young")):
        make.ask(name)
        names[name] = next(e for e in entries(folder) if e not in names.values())
        os.utime(names[name], (time.time() - age,) * 2)
    mine = folder / "walks.npz"
    mine.write_bytes(b"0" * 100)
    os.utime(mine, (0, 0))
    left_behind = folder / f".{names['old'].stem}.abcd1234.part.npz"
    left_behind.write_bytes(b"half")
    os.utime(left_behind, (1, 1))
    make.ask("used")
    assert make.calls == 3
    make.ask("new")
    kept = entries(folder)
    assert len(kept) == 4 and mine in kept, "what is not of the cache stays"
    assert names["used"] in kept and names["young"] in kept and names["old"] not in kept and left_behind not in kept


def test_the_folder_does_not_grow_beyond_its_size(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 30_000)
    for number in range(10):
        Maker().ask(number)  # 8 kB each
    assert len(entries(folder)) == 3
    assert sum(e.stat().st_size for e in entries(folder)) <= 30_000


def test_sources_count(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "room" / "data").mkdir(parents=True)
    texts = {
        "planar.py": "",
        "arrays.py": "",
        "unused.py": "",
        "room/__init__.py": "",
        "room/a.py": "from gaitway.planar import one\n",
        "room/data/b.npz": "",
        "room/notes.txt": "",
        "hall/__init__.py": "from gaitway.room.a import (\n    one,\n    two,\n)\n",
        "hall/c.py": "import math\nfrom gaitway.room import a as kernels\n\ndef f():\n    from gaitway import arrays\n",
    }
    (package / "hall").mkdir()
    for name, text in texts.items():
        (package / name).write_text(text)
    monkeypatch.setattr(sources, "_PACKAGE", package)
    names = [file.relative_to(package).as_posix() for file in sources.source_files(("gaitway.hall.c",))]
    assert names == ["arrays.py", "hall/c.py", "planar.py", "room/a.py"]
    names = [file.relative_to(package).as_posix() for file in sources.source_files(("gaitway.room",))]
    assert names == ["planar.py", "room/__init__.py", "room/a.py", "room/data/b.npz"]

    def forget() -> None:
        for function in (sources.source_digest, sources._file_digest, sources._imported):
            function.cache_clear()

    def ask() -> None:
        forget()
        cached("test", ("gaitway.room",), (), make, lambda made: made, dict)

    make = Maker()
    ask(), ask()
    assert make.calls == 1
    changes = ((2, "room/a.py"), (3, "room/data/b.npz"), (4, "planar.py"), (4, "room/notes.txt"), (4, "unused.py"))
    for calls, changed in changes:
        (package / changed).write_text(texts[changed] + "# other")
        ask(), ask()
        assert make.calls == calls, changed
    (package / "room/a.py").rename(package / "room/c.py")
    ask()
    assert make.calls == 5
    monkeypatch.setattr(sources, "_BEGAN", 0.0)
    ask()
    assert make.calls == 6, "a source that was changed while the process runs is not that of the loaded code"
    monkeypatch.setattr(sources, "_BEGAN", math.inf)
    (package / "planar.py").unlink()
    ask(), ask()
    assert make.calls == 8, "no source, no key"
    forget()


WRITER = """
import numpy as np
from gaitway.core import cache
from gaitway.core.files import cache_folder
cache.WORTH_KEEPING = -1.0
for k in range(60):
    made = cache.cached("test", (), (k % 3,), lambda: {"x": np.full(20_000, k % 3)}, lambda m: m, dict)
    assert (made["x"] == k % 3).all() and made["x"].shape == (20_000,)
    if k % 5 == 0:
        for entry in cache_folder().glob("test*.npz"):
            entry.unlink(missing_ok=True)
"""


@pytest.mark.slow
def test_processes_do_not_disturb_one_another(folder: Path) -> None:
    folder.mkdir(parents=True)
    running = [subprocess.Popen([sys.executable, "-c", WRITER], stderr=subprocess.PIPE) for _ in range(2)]
    for process in running:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors.decode()
    assert all(entry.suffix == ".npz" and not entry.name.startswith(".") for entry in entries(folder))
