"""Reading of trajectory tables: from a file of any known kind to trajectories, with all that was decided on the way."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.core.errors import FormatError
from gaitway.core.files import open_file
from gaitway.core.suggest import did_you_mean
from gaitway.crowd.tracks import parquet, sqlite
from gaitway.crowd.tracks.columns import METERS
from gaitway.crowd.tracks.repairing import MOST_GAP, ordered, repair
from gaitway.crowd.tracks.resampling import cut, resampled
from gaitway.crowd.tracks.scale import settle_scale
from gaitway.crowd.tracks.sway import without_sway
from gaitway.crowd.tracks.table import TrackTable
from gaitway.crowd.tracks.text import read_text_table
from gaitway.crowd.trajectories import Trajectories

_LOG = logging.getLogger(__name__)
_LONGEST_GAP = 60.0


@dataclass(frozen=True, eq=False)
class TracksRead:
    """Trajectories of a file, and what was found and decided while it was read."""

    trajectories: Trajectories
    path: Path
    kind: str
    """What the file is, in words."""
    rows: int
    """Rows of the table."""
    unit: str
    """Unit of the file: m, cm or mm."""
    unit_by: str
    """How that is known, in words."""
    fps: float
    """Rate of the file [Hz]; the trajectories may have another."""
    fps_by: str
    speed: float
    """Typical speed of people while they walk [m/s]."""
    first_frame: float
    """Frame of the file that is time 0."""
    repairs: tuple[str, ...]
    """What was mended; a line each."""
    doubts: tuple[str, ...]
    """What may be wrong about unit and rate; a line each."""
    sway: float | None
    """Distance from heads to paths without sway, root mean square [m]; None if sway was left."""

    @property
    def seconds(self) -> float:
        """Time from the first frame to the last [s]."""
        ends = self.trajectories.starts + self.trajectories.lengths - 1
        return float(ends.max() / self.trajectories.fps)

    def lines(self) -> Iterator[str]:
        """Yield what was read, in words: a line about the file, and one for each repair and doubt."""
        yield (
            f"{self.path.name}: {self.kind}, {len(self.trajectories):,} people for {self.seconds:.4g} s, "
            f"{self.unit} ({self.unit_by}), {self.fps:.4g} Hz ({self.fps_by})"
        )
        if self.first_frame != 0.0:
            yield f"{self.path.name}: its frame {self.first_frame:g} is time 0"
        for line in self.repairs:
            yield f"{self.path.name}: {line}"
        if self.sway is not None and self.sway > 5e-4:
            yield f"{self.path.name}: head sway of {100.0 * self.sway:.1f} cm (root mean square) is removed"
        for line in self.doubts:
            yield f"{self.path.name}: {line}"

    def facts(self) -> dict[str, Any]:
        """Return the same for programs."""
        return {
            "file": str(self.path),
            "kind": self.kind,
            "rows": self.rows,
            "people": len(self.trajectories),
            "seconds": round(self.seconds, 4),
            "unit": self.unit,
            "unit_by": self.unit_by,
            "fps": self.fps,
            "fps_by": self.fps_by,
            "speed_m_s": round(self.speed, 4),
            "first_frame": self.first_frame,
            "sway_m": None if self.sway is None else round(self.sway, 5),
            "repairs": list(self.repairs),
            "doubts": list(self.doubts),
        }


def read_tracks(
    path: str | Path,
    *,
    unit: str | None = None,
    fps: float | None = None,
    rate: float | None = None,
    heads: bool | None = None,
    most_gap: float = MOST_GAP,
    begin: float = 0.0,
    until: float | None = None,
    people: str | None = None,
) -> TracksRead:
    """Read a trajectory table: CSV, text of Juelich's archive or PedPy, JuPedSim's SQLite, or Parquet.

    Args:
        path: the file; its content tells its kind.
        unit: unit of places if it is known better than the file tells: m, cm or mm.
        fps: rate of the file if it is known better [Hz].
        rate: rate of the result [Hz]; that of the file if None.
        heads: whether heads were tracked, whose sway is removed; if None, yes, unless a simulation or gaitway wrote the
            file.
        most_gap: longest gap that is filled [s].
        begin: start of the part that is kept [s].
        until: end of it [s].
        people: names and ranges of numbers of those that are kept, such as "3,8-20".

    Raises:
        FormatError: if the file cannot be read, or what is in it cannot be the paths of people.
        CrowdError: if nobody is left in the part that is asked for.
        MissingExtraError: for Parquet, if pyarrow is not installed.
    """
    path = Path(path)
    if unit is not None and unit not in METERS:
        raise FormatError(path, f"unit '{unit}' is none of {', '.join(METERS)}{did_you_mean(unit, METERS)}")
    if fps is not None and not (np.isfinite(fps) and 0.0 < fps < 1e5):
        raise FormatError(path, f"a rate of {fps} Hz; write one above 0, such as 25")
    if not 0.0 <= most_gap <= _LONGEST_GAP:
        raise FormatError(path, f"gaps of up to {most_gap} s; write 0 to {_LONGEST_GAP:g}")
    table, late = ordered(_table(path))
    scale = settle_scale(table, unit, fps)
    mended = repair(table, scale, most_gap)
    seen = mended.trajectories
    swaying = table.tracked if heads is None else heads
    kept = without_sway(seen) if swaying else seen
    moved = float(np.sqrt(((kept.positions - seen.positions) ** 2).sum(axis=1).mean()))
    if begin > 0.0 or until is not None or people is not None:
        kept = cut(kept, begin, until, people)
    if rate is not None:
        kept = resampled(kept, rate)
    return TracksRead(
        trajectories=kept,
        path=path,
        kind=table.kind,
        rows=len(table),
        unit=scale.unit,
        unit_by=scale.unit_by,
        fps=scale.fps,
        fps_by=scale.fps_by,
        speed=scale.speed,
        first_frame=mended.first_frame,
        repairs=(
            *table.remarks,
            *(["rows of people are out of order and were sorted"] if late else []),
            *mended.repairs,
        ),
        doubts=scale.doubts,
        sway=moved if swaying else None,
    )


def read_trajectories(path: str | Path, **options: Any) -> Trajectories:
    """Read a trajectory table as `read_tracks`, and log what was decided, a line each.

    Args:
        path: the file.
        options: as of `read_tracks`: unit, fps, rate, heads, most_gap, begin, until and people.
    """
    read = read_tracks(path, **options)
    for line in read.lines():
        _LOG.info("%s", line)
    return read.trajectories


def _table(path: Path) -> TrackTable:
    """Read a table of the kind that the first bytes tell."""
    with open_file(path) as file:
        start = file.read(16)
    if start.startswith(sqlite.MAGIC):
        return sqlite.read_sqlite_table(path)
    if start.startswith(parquet.MAGIC):
        return parquet.read_parquet_table(path)
    if start.startswith((b"PK\3\4", b"\x89HDF", b"\x1f\x8b")):
        raise FormatError(path, "is no table of trajectories; write CSV, text, SQLite or Parquet (unpack it first)")
    return read_text_table(path)
