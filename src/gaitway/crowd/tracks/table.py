"""A trajectory table as it was read: rows of people and moments, before units, rates and repairs are settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import FormatError
from gaitway.crowd.tracks.columns import Columns

MOST_BYTES = 1024 * 2**20
"""Largest file that is read [bytes]."""
MOST_ROWS = 10_000_000
"""Greatest number of rows of a table: about 400 MB once read."""
MOST_PEOPLE = 100_000
"""Greatest number of people in a table."""
CHUNK = 65_536
"""Rows that are turned into numbers at once."""
FARTHEST = 1e9
"""Largest coordinate in the units of the file; a larger one means a broken row."""
_LONGEST_NAME = 200
_UNREADABLE_SHARE = 0.1
"""Greatest share of rows that may be unreadable."""


@dataclass(frozen=True, eq=False)
class TrackTable:
    """Rows of a trajectory table in the order and units of the file. Only finite rows are in it."""

    path: Path
    kind: str
    """What the file is, for messages."""
    names: tuple[str, ...]
    person: IntArray
    """Index into the names; (N,)."""
    frame: FloatArray | None
    """Frames of the file; (N,)."""
    time: FloatArray | None
    """Times [s, or the unit of the file if it is not known]; (N,)."""
    positions: FloatArray
    """Places in the unit of the file; (N, 2)."""
    headings: FloatArray
    """Headings [rad], NaN where there is none; (N,)."""
    unit: str | None = None
    """Unit of the places as the file tells it: m, cm or mm."""
    unit_by: str = ""
    """Where it tells that."""
    fps: float | None = None
    """Rate as the file tells it [Hz]."""
    fps_by: str = ""
    time_known: bool = False
    """Whether times are known to be seconds."""
    tracked: bool = True
    """Whether it may be of tracked heads: no simulation wrote it."""
    remarks: tuple[str, ...] = ()
    """What was done about rows that could not be read; a line each."""

    def __len__(self) -> int:
        return len(self.person)

    @property
    def clock(self) -> FloatArray:
        """Frames, or times where there are none; (N,)."""
        clock = self.frame if self.frame is not None else self.time
        return np.zeros(len(self)) if clock is None else clock


@dataclass
class TableMaker:
    """Collects rows in chunks, and counts those that cannot be read."""

    path: Path
    kind: str
    columns: Columns
    lines: bool = True
    """Whether numbers of rows are lines of a text."""
    decimal_comma: bool = False
    _names: dict[str, int] = field(default_factory=dict)
    _known: dict[object, int] = field(default_factory=dict)
    _chunks: list[FloatArray] = field(default_factory=list)
    _people: list[IntArray] = field(default_factory=list)
    _count: int = 0
    _bad: int = 0
    _bad_words: str = ""
    _bad_row: int = 0

    def add(self, rows: Sequence[Sequence[object]], numbers: Sequence[int]) -> None:
        """Add rows of cells, given the number of each in the file.

        Raises:
            FormatError: for too many rows or people.
        """
        self._count += len(rows)
        if self._count > MOST_ROWS:
            raise FormatError(self.path, f"has more than {MOST_ROWS:,} rows; cut it into several files")
        order = [role for role in ("frame", "time", "x", "y", "heading", "ori_x", "ori_y") if role in self.places]
        need = 1 + max(self.places.values())
        fitting = [row for row in rows if len(row) >= need]
        kept = (
            numbers
            if len(fitting) == len(rows)
            else [n for n, row in zip(numbers, rows, strict=True) if len(row) >= need]
        )
        for row, number in zip(rows, numbers, strict=True) if len(fitting) < len(rows) else ():
            if len(row) < need:
                self._spoil(number, f"{len(row)} columns where {need} are needed")
        if not fitting:
            return
        values = np.empty((len(fitting), 7))
        values.fill(np.nan)
        for role in order:
            place = self.places[role]
            column = [row[place] for row in fitting]
            values[:, _SLOTS[role]] = self._numbers(column)
        people = np.array([self._person(row[self.places["id"]]) for row in fitting], dtype=np.int64)
        good = people >= 0
        for role in order:
            if role in ("frame", "time", "x", "y"):
                slot = values[:, _SLOTS[role]]
                good &= np.isfinite(slot) & (np.abs(slot) <= (FARTHEST if role in "xy" else 1e15))
        for spoilt in np.flatnonzero(~good).tolist():
            self._spoil(kept[spoilt], self._reason(fitting[spoilt]) if self._bad == 0 else "")
        self._chunks.append(values[good])
        self._people.append(people[good])

    @property
    def places(self) -> dict[str, int]:
        """Columns by meaning."""
        return self.columns.places

    def table(
        self,
        *,
        fps: float | None = None,
        fps_by: str = "",
        unit: str | None = None,
        unit_by: str = "",
        tracked: bool = True,
    ) -> TrackTable:
        """Return the table.

        Args:
            fps: rate as the file tells it [Hz].
            fps_by: where it tells it.
            unit: unit of places, if the file tells it elsewhere than in names of columns.
            unit_by: where it tells it.
            tracked: whether it may be of tracked heads.

        Raises:
            FormatError: if there are no rows, or a tenth of them cannot be read.
        """
        where = f"the first is {'line' if self.lines else 'row'} {self._bad_row}: {self._bad_words}"
        if self._count == 0:
            raise FormatError(self.path, "holds no rows; a trajectory table has a row for each person and frame")
        if self._bad > _UNREADABLE_SHARE * self._count:
            raise FormatError(self.path, f"{self._bad:,} of {self._count:,} rows cannot be read; {where}")
        remarks = (
            [f"{self._bad:,} of {self._count:,} rows cannot be read and are left out; {where}"] if self._bad else []
        )
        values = np.concatenate([*self._chunks, np.empty((0, 7))])
        headings, said = self._headings(values)
        second = self.columns.second
        times = None if "time" not in self.places else values[:, 1] * (second or 1.0)
        if unit is None and self.columns.length is not None:
            unit, unit_by = self.columns.length, "names of columns"
        return TrackTable(
            path=self.path,
            kind=self.kind,
            names=tuple(self._names),
            person=np.concatenate([*self._people, np.empty(0, dtype=np.int64)]),
            frame=values[:, 0].copy() if "frame" in self.places else None,
            time=times,
            positions=values[:, 2:4].copy(),
            headings=headings,
            unit=unit,
            unit_by=unit_by,
            fps=fps,
            fps_by=fps_by,
            time_known=second is not None,
            tracked=tracked,
            remarks=(*remarks, *said),
        )

    def _headings(self, values: FloatArray) -> tuple[FloatArray, list[str]]:
        """Return headings [rad] of rows, and what was taken for granted about them."""
        if {"ori_x", "ori_y"} <= self.places.keys():
            x, y = values[:, 5], values[:, 6]
            known = np.isfinite(x) & np.isfinite(y) & (np.hypot(x, y) > 1e-6)
            return np.where(known, np.arctan2(np.where(known, y, 0.0), np.where(known, x, 1.0)), np.nan), []
        headings = np.where(np.abs(values[:, 4]) <= 1e6, values[:, 4], np.nan)
        degrees, said = self.columns.degrees, list[str]()
        if degrees is None and np.isfinite(headings).any() and np.nanmax(np.abs(headings)) > 2.0 * np.pi + 0.01:
            degrees = True
            said = ["headings are taken for degrees: they exceed two pi"]
        return (np.radians(headings) if degrees else headings), said

    def _numbers(self, cells: Sequence[object]) -> FloatArray:
        """Return cells as numbers, NaN where a cell is none."""
        if self.decimal_comma:
            cells = [cell.replace(",", ".") if isinstance(cell, str) else cell for cell in cells]
        try:
            return np.array(cells, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            return np.array([_number(cell) for cell in cells])

    def _person(self, cell: object) -> int:
        """Return the index of the person that a cell names, -1 if it names none."""
        found = self._known.get(cell) if isinstance(cell, str | int | float) else -1
        if found is None:
            name = _name(cell)
            if name is None:
                found = -1
            else:
                found = self._names.setdefault(name, len(self._names))
                if len(self._names) > MOST_PEOPLE:
                    raise FormatError(
                        self.path, f"names more than {MOST_PEOPLE:,} people; is the column of the person another one?"
                    )
            if len(self._known) < 4 * MOST_PEOPLE:
                self._known[cell] = found
        return found

    def _reason(self, row: Sequence[object]) -> str:
        """Say what is wrong with a row that cannot be used."""
        if self._person(row[self.places["id"]]) < 0:
            return "no person is named"
        for role in ("frame", "time", "x", "y"):
            if role in self.places:
                cell = row[self.places[role]]
                value = float(self._numbers([cell])[0])
                if not np.isfinite(value) or abs(value) > (FARTHEST if role in "xy" else 1e15):
                    return f"{role} is '{shown(cell)}'"
        return "it holds no numbers"

    def _spoil(self, number: int, words: str) -> None:
        if self._bad == 0:
            self._bad_row, self._bad_words = number, words
        self._bad += 1


_SLOTS = {"frame": 0, "time": 1, "x": 2, "y": 3, "heading": 4, "ori_x": 5, "ori_y": 6}


def shown(cell: object) -> str:
    """Return a cell, or a name of a column, for a message of one line."""
    return " ".join(str(cell).split())[:40]


def _number(cell: object) -> float:
    """Return a cell as a number, NaN if it is none."""
    if not isinstance(cell, str | int | float):
        return np.nan
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return np.nan


def _name(cell: object) -> str | None:
    """Return the name of a person from a cell: whole numbers without decimals, words as they are."""
    if isinstance(cell, int):
        return str(cell)
    number = _number(cell)
    if np.isfinite(number) and number == round(number) and abs(number) < 2**53:
        return str(round(number))
    if isinstance(cell, float):
        return None if not np.isfinite(cell) else repr(cell)
    word = " ".join(str(cell).split()).strip("\"'")
    return word[:_LONGEST_NAME] or None
