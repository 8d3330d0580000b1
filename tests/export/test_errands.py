"""Errands as a table, and in the extras of a GLB."""

from __future__ import annotations

import csv
import json
import struct
from dataclasses import replace

import pytest

from gaitway.core.errors import FormatError
from gaitway.export import export_take
from small_takes import walkers

ROWS = {"ada": [["queue counter", 0.0, 1.5, "done", ""], ["leave door", 1.5, 2.0, "not done", 'a wall, "thick"']]}


def test_one_row_for_each_errand(tmp_path) -> None:
    take = walkers(2)
    take = replace(take, facts={**take.facts, "errands": {take.names[0]: ROWS["ada"]}})
    export_take(take, tmp_path / "e.csv", "errands")
    with (tmp_path / "e.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["character", "errand", "start", "end", "outcome", "reason"]
    assert rows[1:] == [[take.names[0], *map(str, row)] for row in ROWS["ada"]]


def test_a_take_without_errands_says_so(tmp_path) -> None:
    with pytest.raises(FormatError, match="nobody in this take does errands"):
        export_take(walkers(2), tmp_path / "e.csv", "errands")
    assert not (tmp_path / "e.csv").exists()


def test_a_glb_tells_errands(tmp_path) -> None:
    take = walkers(2)
    take = replace(take, facts={**take.facts, "errands": {take.names[0]: ROWS["ada"]}})
    export_take(take, tmp_path / "e.glb")
    data = (tmp_path / "e.glb").read_bytes()
    (length,) = struct.unpack("<I", data[12:16])
    nodes = [n for n in json.loads(data[20 : 20 + length])["nodes"] if "character" in n.get("extras", {})]
    told = {n["extras"]["character"]: n["extras"].get("errands") for n in nodes}
    rows = [["queue counter", 0.0, 1.5, "done"], ["leave door", 1.5, 2.0, "not done"]]
    assert told == {take.names[0]: rows, take.names[1]: None}
