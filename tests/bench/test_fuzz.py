"""The fuzz of all readers: it must see crashes, hangs and memory, and make the same files again."""

from __future__ import annotations

import queue
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gaitway.bench import _fuzz_kinds, _mutation, fuzz
from gaitway.bench._fuzz_kinds import KINDS, FuzzKind
from gaitway.bench.fuzz import FuzzRow, _read_by_process

PLANTED = """
import pathlib, sys, time
first, count, place = int(sys.argv[3]), int(sys.argv[4]), pathlib.Path(sys.argv[5])
(place / "mutated").mkdir(parents=True, exist_ok=True)
def tell(*words):
    print(*words, flush=True)
tell("ready", 50)
for number in range(first, first + count):
    (place / "mutated" / "file.txt").write_text(str(number))
    tell(">", number)
    if number == 1:
        tell("<", number, 60, "crashed KeyError: 'x'")
        break
    elif number == 2:
        sys.exit("Killed by something")
    elif number == 4:
        (place / "hangs").touch()
        time.sleep(3600)
    elif number == 6:
        tell("<", number, 5000, "accepted")
        break
    else:
        tell("<", number, 60, "refused")
"""


def read_all(row: FuzzRow, folder: Path) -> None:
    at = 0
    while at < 8:
        at = _read_by_process(row, 0, at, 8 - at, folder / "place", folder / "kept", PLANTED)


def test_what_goes_wrong_is_seen_counted_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []

    class UntilItHangs(queue.Queue[str | None]):
        """Waits for as long as a busy machine takes, unless nothing will ever come."""

        def get(self, block: bool = True, timeout: float | None = None) -> str | None:
            while True:
                ended = (tmp_path / "place" / "hangs").exists()
                try:
                    return super().get(block, 0.1)
                except queue.Empty:
                    if ended:
                        (tmp_path / "place" / "hangs").unlink()
                        limits.append(timeout or 0.0)
                        raise

    monkeypatch.setattr(fuzz, "queue", SimpleNamespace(Queue=UntilItHangs, Empty=queue.Empty))
    monkeypatch.setitem(KINDS, "planted", FuzzKind(lambda folder: [], lambda folder: None, seconds=1.0))
    row = FuzzRow("planted")
    read_all(row, tmp_path)
    assert (row.files, row.refused, row.accepted, row.hangs, row.megabytes) == (8, 4, 1, 1, 5000.0)
    assert limits == [1.0]
    assert row.crashes.total() == 2
    assert row.crashes["KeyError: 'x'"] == 1
    assert any("Killed by something" in said for said in row.crashes)
    assert row.missed
    kept = {folder.name: (folder / "file.txt").read_text() for folder in (tmp_path / "kept").iterdir()}
    assert kept == {
        "planted-0-1-crash": "1", "planted-0-2-crash": "2", "planted-0-4-hang": "4", "planted-0-6-memory": "6",
    }  # fmt: skip
    assert row.as_dict()["hangs"] == "1"


def test_a_clean_run_misses_nothing() -> None:
    assert not FuzzRow("x", files=10, refused=10, megabytes=300.0).missed
    assert FuzzRow("x", hangs=1).missed
    assert FuzzRow("x", megabytes=1001.0).missed


@pytest.mark.parametrize("name", ["ASF and AMC", "terrain", "mesh", "scene", "library"])
def test_files_are_made_again_by_seed_and_number(name: str, tmp_path: Path) -> None:
    kind, seeds = KINDS[name], tmp_path / "valid"
    seeds.mkdir()
    files = kind.write(seeds)
    seen = set()
    for number in (3, 4, 3):
        _fuzz_kinds.write_mutated(kind, seeds, files, tmp_path / "mutated", 7, number)
        changed = (tmp_path / "mutated" / (tmp_path / "mutated" / "mutated.txt").read_text()).read_bytes()
        seen.add((number, changed))
    assert len(seen) == 2


@pytest.mark.slow
def test_a_process_reads_real_files(tmp_path: Path) -> None:
    row = FuzzRow("ASF and AMC")
    assert _read_by_process(row, 0, 0, 25, tmp_path / "place", tmp_path / "kept", patience=60.0) == 25
    assert row.files == 25
    assert row.refused > 0
    assert row.accepted > 0
    assert row.crashes.total() == 0
    assert not (tmp_path / "kept").exists()


def test_mutations_change_something() -> None:
    rng = np.random.default_rng(0)
    text = b"HIERARCHY\nROOT Hips\n{\n  OFFSET 0.0 1.0 2.0\n}\n"
    assert sum(_mutation.mutate_text(text, rng) != text for _ in range(100)) > 85
    assert sum(_mutation.mutate_bytes(text, rng) != text for _ in range(100)) > 60
    content = {"joints": ["a", "b"], "fps": 30.0}, {"roots": np.zeros((4, 3)), "parents": np.array([-1, 0])}
    assert sum(repr(_mutation.mutate_archive(content, rng)) != repr(content) for _ in range(100)) > 85
    assert content[0] == {"joints": ["a", "b"], "fps": 30.0}, "the original stays"


@pytest.mark.slow
def test_all_kinds_hold(tmp_path: Path) -> None:
    table = fuzz.run(minutes=0.0, seed=1, folder=tmp_path / "kept", patience=60.0)
    assert {row.kind for row in table.rows} == set(KINDS)
    assert [row.as_dict() | {"said": dict(row.crashes)} for row in table.rows if row.missed] == []
