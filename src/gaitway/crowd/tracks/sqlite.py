"""Trajectories in SQLite, as JuPedSim writes them. The file is not trusted: it is read from memory, by one query."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path

from gaitway.core.errors import FormatError
from gaitway.core.files import read_file
from gaitway.crowd.tracks.columns import columns_of
from gaitway.crowd.tracks.table import CHUNK, TableMaker, TrackTable, shown

MAGIC = b"SQLite format 3\0"
_MOST = 512 * 2**20
"""Largest database that is read [bytes]."""
_TABLE = "trajectory_data"
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
_INSTRUCTIONS = 2_000_000_000
"""Most instructions of SQLite's machine for one query: a thousand times what ten million rows take is never run."""
_STRIDE = 1_000_000


def read_sqlite_table(path: Path) -> TrackTable:
    """Read the trajectories of a JuPedSim recording.

    Nothing but plain selects of its tables is allowed: no view, no virtual table, no function, no other file.

    Raises:
        FormatError: if the file cannot be read, is too large, is damaged, or is no recording.
    """
    data = bytearray(read_file(path, _MOST))
    if not data.startswith(MAGIC) or len(data) < 512:
        raise FormatError(path, "is no SQLite database")
    if data[18:20] == b"\2\2":  # written with a log beside it, which memory cannot have
        data[18:20] = b"\1\1"
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(bytes(data))
            return _read(path, database)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, ValueError) as problem:
        if isinstance(problem, sqlite3.OperationalError) and "interrupted" in str(problem):
            raise FormatError(path, "asks for more work than a recording takes") from None
        words = " ".join(str(problem).split())[:120]
        raise FormatError(path, f"cannot be read as a recording of JuPedSim: {words}") from None


def _read(path: Path, database: sqlite3.Connection) -> TrackTable:
    left = [_INSTRUCTIONS // _STRIDE]

    def tired() -> int:
        left[0] -= 1
        return int(left[0] < 0)

    database.set_progress_handler(tired, _STRIDE)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 16 * 2**20)
    database.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.execute("PRAGMA trusted_schema=OFF")
    database.execute("PRAGMA cell_size_check=ON")
    database.set_authorizer(lambda action, *about: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY)
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
    tables = {str(name).lower(): str(sql) for name, sql in database.execute(query).fetchmany(1000)}
    if _TABLE not in tables or "virtual" in tables[_TABLE].lower().split():
        known = ", ".join(f"'{shown(name)}'" for name in list(tables)[:8]) or "none"
        raise FormatError(path, f"is no recording of JuPedSim: no table '{_TABLE}' among its tables ({known})")
    rows = database.execute(f"SELECT * FROM {_TABLE}")
    columns = columns_of([about[0] for about in rows.description])
    if columns.missing:
        listed = ", ".join(f"'{shown(about[0])}'" for about in rows.description[:12])
        raise FormatError(path, f"table '{_TABLE}' has no column for {' and '.join(columns.missing)} among {listed}")
    maker, number = TableMaker(path, "JuPedSim's SQLite", columns, lines=False), 0
    while chunk := rows.fetchmany(CHUNK):
        maker.add(chunk, range(number + 1, number + 1 + len(chunk)))
        number += len(chunk)
    fps = _rate(database) if "metadata" in tables else None
    return maker.table(fps=fps, fps_by="its metadata", unit="m", unit_by="JuPedSim's convention", tracked=False)


def _rate(database: sqlite3.Connection) -> float | None:
    """Return the rate that the metadata tell [Hz]; None if they tell none that can be."""
    for (value,) in database.execute("SELECT value FROM metadata WHERE key = 'fps'").fetchmany(1):
        try:
            fps = float(value)
        except (ValueError, TypeError):
            return None
        return fps if math.isfinite(fps) and 0.0 < fps < 1e5 else None
    return None
