"""Root paths of a take as a table, for pandas, PedPy, DuckDB and others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gaitway._version import __version__
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import FormatError, GaitwayError, MissingExtraError
from gaitway.core.files import atomic_path, atomic_write, check_writable
from gaitway.core.progress import Progress, silent
from gaitway.export import _kernels
from gaitway.export.characters import clock_blocks
from gaitway.take.data import checked_rate
from gaitway.take.evaluation import locate, planar_poses
from gaitway.take.model import Take
from gaitway.take.tables import clock_frames

COLUMNS = ("id", "frame", "x", "y", "heading", "behaviour", "time")
"""Index of the character, frame on the common clock, metres, metres, radians, name of the behaviour, seconds."""
SUFFIXES = (".csv", ".parquet")
_DECIMALS: IntArray = np.array([0, 0, 4, 4, 4, 6], dtype=np.int64)
"""Decimals of the numbers in a CSV: down to 0.1 mm, 0.1 mrad and 1 us."""
_LARGEST = 1e12
"""Largest number that fits into the text of one [m]."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some rows of the table."""

    id: IntArray
    frame: IntArray
    path: FloatArray
    """x, y, heading; (N, 3)."""
    word: IntArray
    """Index into the take's behaviours; the number of behaviours where there is none."""


def export_trajectories(take: Take, path: str | Path, fps: float | None = None, *, progress: Progress = silent) -> None:
    """Write where every root is in every frame: one row for each character and frame, by character, then frame.

    The columns are id, frame, x, y, heading, behaviour and time: the character's number in the take, the frame on one
    clock for all (time * fps), metres, metres, radians in -pi to pi, the name (empty where there is none), and seconds,
    which tells the frame rate in a CSV, where a comment would hinder readers. A Parquet file also has it, and the
    characters' names, in its metadata ("gaitway").

    Args:
        take: what to write.
        path: the file; .csv or .parquet.
        fps: frames a second [Hz]; the take's own if None.
        progress: called with the number of rows that are done.

    Raises:
        FormatError: for another ending, or if the file cannot be written.
        MissingExtraError: for Parquet, if the package pyarrow is not installed.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise FormatError(path, f"trajectories are written as {' or '.join(SUFFIXES)}, not '{path.suffix}'")
    check_writable(path)
    rate = take.fps if fps is None else checked_rate(fps)
    if path.suffix.lower() == ".csv":
        _write_csv(take, path, rate, progress)
    else:
        _write_parquet(take, path, rate, progress)


def _blocks(take: Take, path: Path, fps: float, progress: Progress) -> Iterator[_Rows]:
    """Yield the rows of the table in blocks."""
    done, total = 0, int(clock_frames(take, fps)[1].sum())
    for characters, frames in clock_blocks(take, fps, np.arange(len(take))):
        times = frames / fps
        behavior = take.segments.behavior[locate(take, characters, times)[0]].astype(np.int64)
        word = np.where(behavior < 0, len(take.behaviors), behavior)
        yield _Rows(characters, frames, planar_poses(take, characters, times), word)
        done += len(frames)
        progress(path.name, done, total)


def _write_csv(take: Take, path: Path, fps: float, progress: Progress) -> None:
    words = [_quoted(name).encode() for name in (*take.behaviors, "")]
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    starts: IntArray = read_only(np.cumsum([0, *map(len, words)], dtype=np.int64))
    scale, decimals = 10.0**_DECIMALS, read_only(_DECIMALS)
    with atomic_write(path) as file:
        file.write(f"{','.join(COLUMNS)}\n".encode())
        for rows in _blocks(take, path, fps, progress):
            values = np.column_stack([rows.id, rows.frame, rows.path, rows.frame / fps])
            if np.abs(values).max() > _LARGEST:
                raise GaitwayError(f"a root is further than {_LARGEST:g} m away; write Parquet instead of CSV")
            numbers = np.rint(values * scale).astype(np.int64)
            room = len(numbers) * (22 * len(COLUMNS) + max(map(len, words)))
            out = np.empty(room, dtype=np.uint8)
            used = _kernels.write_rows(read_only(numbers), decimals, read_only(rows.word), 5, text, starts, out)
            file.write(out[:used].data)


def _quoted(word: str) -> str:
    """Return a word for a CSV file: in quotes if it holds a comma, a quote or a line break."""
    plain = not any(c in word for c in ',"\r\n')
    return word if plain else '"' + word.replace('"', '""') + '"'


def _write_parquet(take: Take, path: Path, fps: float, progress: Progress) -> None:
    try:
        import pyarrow  # noqa: PLC0415  (an extra)
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError:
        raise MissingExtraError("writing Parquet", "parquet") from None
    words = pyarrow.array([*take.behaviors, ""], pyarrow.string())
    types: dict[str, Any] = dict.fromkeys(COLUMNS, pyarrow.float64())
    types |= {
        "id": pyarrow.int32(),
        "frame": pyarrow.int32(),
        "behaviour": pyarrow.dictionary(pyarrow.int32(), words.type),
    }
    about = {"fps": fps, "names": take.names, "version": __version__}
    schema = pyarrow.schema(list(types.items()), metadata={"gaitway": json.dumps(about), "fps": repr(fps)})
    with atomic_path(path) as temporary, pyarrow.parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for rows in _blocks(take, path, fps, progress):
            columns = [
                rows.id.astype(np.int32),
                rows.frame.astype(np.int32),
                *rows.path.T,
                pyarrow.DictionaryArray.from_arrays(rows.word.astype(np.int32), words),
                rows.frame / fps,
            ]
            arrays = [pyarrow.array(c, type=t) for c, t in zip(columns, types.values(), strict=True)]
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))
