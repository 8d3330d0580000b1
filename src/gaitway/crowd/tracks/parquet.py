"""Trajectories in Parquet: what `gaitway export --to parquet` writes, and others with known names of columns."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from gaitway.core.errors import FormatError, MissingExtraError
from gaitway.core.files import read_file
from gaitway.crowd.tracks.columns import columns_of
from gaitway.crowd.tracks.table import CHUNK, MOST_ROWS, TableMaker, TrackTable, shown

MAGIC = b"PAR1"
_MOST = 512 * 2**20
"""Largest file that is read [bytes]."""
_MOST_UNPACKED = 2 * 2**30
"""Greatest size of what the columns unpack to, as the file tells it [bytes]."""


def read_parquet_table(path: Path) -> TrackTable:
    """Read a Parquet file.

    Raises:
        FormatError: if the file cannot be read, is too large, is damaged, or is no table of trajectories.
        MissingExtraError: if the package pyarrow is not installed.
    """
    try:
        import pyarrow  # noqa: PLC0415  (an extra)
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    data = read_file(path, _MOST)
    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(data))
        return _read(path, file)
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, OverflowError, KeyError, IndexError) as problem:
        words = " ".join(str(problem).split())[:120]
        raise FormatError(path, f"cannot be read as Parquet: {words}") from None


def _read(path: Path, file: Any) -> TrackTable:
    if file.metadata.num_rows > MOST_ROWS:
        raise FormatError(path, f"has more than {MOST_ROWS:,} rows; cut it into several files")
    groups = [file.metadata.row_group(group) for group in range(min(file.metadata.num_row_groups, MOST_ROWS))]
    if sum(max(group.total_byte_size, 0) for group in groups) > _MOST_UNPACKED:
        raise FormatError(path, f"unpacks to more than {_MOST_UNPACKED / 2**30:.0f} GiB; cut it into several files")
    names = list(file.schema_arrow.names)
    columns = columns_of(names)
    if columns.missing:
        known = ", ".join(f"'{shown(name)}'" for name in names[:12])
        raise FormatError(path, f"no column for {' and '.join(columns.missing)} among {known}")
    order = sorted(columns.places.items(), key=lambda item: item[1])
    read = replace(columns, places={role: at for at, (role, _) in enumerate(order)})
    maker, number = TableMaker(path, "Parquet", read, lines=False), 0
    for batch in file.iter_batches(batch_size=CHUNK, columns=[names[place] for _, place in order]):
        rows = list(zip(*(batch.column(at).to_pylist() for at in range(batch.num_columns)), strict=True))
        maker.add(rows, range(number + 1, number + 1 + len(rows)))
        number += len(rows)
    fps, ours = _about(file.schema_arrow.metadata or {})
    unit = "m" if ours else None
    return maker.table(fps=fps, fps_by="its metadata", unit=unit, unit_by="its metadata", tracked=not ours)


def _about(metadata: dict[bytes, bytes]) -> tuple[float | None, bool]:
    """Return the rate that a file of ours tells [Hz], and whether it is one of ours."""
    try:
        about = json.loads(metadata[b"gaitway"])
        fps = float(about["fps"])
    except (KeyError, ValueError, TypeError, RecursionError):
        return None, False
    return (fps, True) if math.isfinite(fps) and 0.0 < fps < 1e5 else (None, False)
