"""Trajectory tables in text: CSV with names of columns, and the files of Juelich's archive, PeTrack and PedPy."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from gaitway.core.errors import FormatError
from gaitway.core.files import open_file
from gaitway.crowd.tracks.columns import JUELICH, Columns, columns_of
from gaitway.crowd.tracks.table import CHUNK, MOST_BYTES, TableMaker, TrackTable, shown

_LONGEST_LINE = 65_536
_MOST_COMMENTS = 10_000
"""Comment lines that are looked at for rates and names."""
_COMMENTS = ("#", "*", "%", "//", "$VISION")
_OURS = ("id", "frame", "x", "y", "heading", "behaviour", "time")
"""First line of what `gaitway export --to csv` writes."""
_RATE = re.compile(r"(?:frame[ _-]?rate|fps|frames per second)\W{0,3}(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)", re.IGNORECASE)
_UNIT = re.compile(r"\bunits?\W{1,3}(m|cm|mm)\b", re.IGNORECASE)


class _Lines:
    """Lines of a text that are neither blank nor comments; it keeps the comments, and the number of the last line."""

    def __init__(self, path: Path, file: io.TextIOBase) -> None:
        self.path, self.file = path, file
        self.number = 0
        self.comments = list[str]()

    def __iter__(self) -> Iterator[str]:
        while line := self.file.readline(_LONGEST_LINE):
            self.number += 1
            if len(line) >= _LONGEST_LINE:
                raise FormatError(self.path, f"a line is longer than {_LONGEST_LINE:,} characters", self.number)
            if "\0" in line:
                raise FormatError(self.path, "is no text; name a table of trajectories", self.number)
            words = line.strip()
            if words.startswith(_COMMENTS):
                if len(self.comments) < _MOST_COMMENTS:
                    self.comments.append(words.lstrip("#*%/ \t"))
            elif words:
                yield line


def read_text_table(path: Path) -> TrackTable:
    """Read a table of text, with any of comma, semicolon, tab and blanks between cells.

    Raises:
        FormatError: if the file cannot be read, is too large, or is no table of trajectories.
    """
    with open_file(path) as raw:
        size = raw.seek(0, io.SEEK_END)
        raw.seek(0)
        if size > MOST_BYTES:
            raise FormatError(path, f"is {size / 2**20:.0f} MiB; at most {MOST_BYTES / 2**20:.0f} MiB are read")
        if size == 0:
            raise FormatError(path, "is empty; a trajectory table has a row for each person and frame")
        start = raw.read(4)
        raw.seek(0)
        encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        with io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline=None) as file:
            return _read(path, file)


def _read(path: Path, file: io.TextIOBase) -> TrackTable:
    lines = _Lines(path, file)
    stream = iter(lines)
    first = next(stream, None)
    if first is None:
        raise FormatError(path, "holds no rows; a trajectory table has a row for each person and frame")
    delimiter = _delimiter(first)
    cells = _cells(first, delimiter)
    named = _is_header(cells)
    columns = columns_of(cells) if named else _columns_of_comments(path, lines.comments, len(cells))
    if columns.missing:
        _refuse(path, columns, cells, lines.number)
    maker = TableMaker(path, "CSV" if delimiter == "," else "text", columns, decimal_comma=delimiter == ";")
    rest = stream if named else _chained(first, stream)
    rows, numbers = list[list[str]](), list[int]()
    try:
        for row in csv.reader(rest, delimiter=delimiter) if delimiter is not None else map(str.split, rest):
            rows.append(row)
            numbers.append(lines.number)
            if len(rows) == CHUNK:
                maker.add(rows, numbers)
                rows, numbers = [], []
    except csv.Error as problem:
        raise FormatError(path, f"is no table: {problem}", lines.number) from None
    maker.add(rows, numbers)
    words = "\n".join(lines.comments)
    rate, unit = _RATE.search(words), _UNIT.search(words)
    fps = float(rate.group(1)) if rate else None
    ours = cells == list(_OURS)
    return maker.table(
        fps=fps if fps is not None and 0.0 < fps < 1e5 else None,
        fps_by="its header",
        unit="m" if ours else None if unit is None else unit.group(1).lower(),
        unit_by="gaitway's convention" if ours else "its header",
        tracked=not ours,
    )


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _delimiter(line: str) -> str | None:
    """Return what stands between cells; None for blanks."""
    for sign in ("\t", ";", ","):
        if line.count(sign) >= 2:
            return sign
    return None


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return next(csv.reader([line.strip("\r\n")], delimiter=delimiter), [])


def _is_header(cells: list[str]) -> bool:
    """Return whether a first line holds names: at least half of its cells are no numbers."""
    words = 0
    for cell in cells:
        try:
            float(cell.replace(",", "."))
        except ValueError:
            words += bool(cell.strip())
    return 2 * words >= max(len(cells), 1)


def _columns_of_comments(path: Path, comments: list[str], count: int) -> Columns:
    """Return the columns of a table without names: those of a comment, or those of Juelich's archive."""
    for comment in reversed(comments):
        columns = columns_of(re.split(r"[,;\t ]+", comment))
        if not columns.missing and max(columns.places.values()) < count:
            return columns
    if count < 4:
        raise FormatError(
            path, f"has {count} columns without names; write a first line such as 'id,frame,x,y', or these four columns"
        )
    return columns_of(JUELICH)


def _refuse(path: Path, columns: Columns, cells: list[str], line: int) -> None:
    known = ", ".join(f"'{shown(cell)}'" for cell in cells[:12])
    raise FormatError(
        path,
        f"no column for {' and '.join(columns.missing)} among {known}; a table needs id, frame or time, x and y",
        line,
    )
