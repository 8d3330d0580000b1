"""Repairs of trajectory tables: order, doubles, jumps, gaps and odd clocks. What is done is told, a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import FormatError
from gaitway.crowd.tracks.scale import TrackScale
from gaitway.crowd.tracks.table import TrackTable
from gaitway.crowd.trajectories import Trajectories, joined

MOST_GAP = 1.0
"""Longest time without rows that is filled [s]; after a longer one a person counts as another."""
SHORTEST = 0.2
"""People who are seen for less are left out [s]."""
MOST_FRAMES = 20_000_000
"""Greatest number of frames of all people together, once gaps are filled."""
LONGEST = 172_800.0
"""Greatest time from the first row to the last [s], as of a take."""
INSIDE = 0.2
"""Distance of two people below which they are inside one another [m]."""
_JUMP = 0.15
_FASTEST = 8.0
"""A person jumps who is farther than 0.15 m from where one gets at 8 m/s."""
_MOST_AT_ONCE = 20
"""Greatest number of rows of one person in one frame."""
_OFF_CLOCK = 0.1
"""Share of a frame by which moments may be off whole frames."""
_CHECKED = 200
"""Frames at which distances between people are measured."""
_NAMED = 5
"""People that are named in a remark."""


@dataclass(frozen=True, eq=False)
class Repaired:
    """Trajectories, and what was done to get them."""

    trajectories: Trajectories
    first_frame: float
    """Frame of the file that is time 0."""
    repairs: tuple[str, ...]


def ordered(table: TrackTable) -> tuple[TrackTable, bool]:
    """Return a table whose rows are ordered by person and moment, and whether they were not."""
    clock = table.clock
    order = np.lexsort((clock, table.person))
    if (np.diff(order) == 1).all():
        return table, False
    within = np.argsort(table.person, kind="stable")  # by person only: files by frame are in order, too
    late = bool((np.diff(clock[within])[np.diff(table.person[within]) == 0] < 0).any())
    sorted_table = replace(
        table,
        person=table.person[order],
        frame=None if table.frame is None else table.frame[order],
        time=None if table.time is None else table.time[order],
        positions=table.positions[order],
        headings=table.headings[order],
    )
    return sorted_table, late


def repair(table: TrackTable, scale: TrackScale, most_gap: float = MOST_GAP) -> Repaired:
    """Return the trajectories of an ordered table at its own rate.

    Rows that are there twice are taken once. A person who is at two places at once, or jumps, becomes several. Gaps are
    filled along straight lines up to a length, and end a person beyond. Moments between frames are moved to frames.

    Args:
        table: rows, ordered by person and moment.
        scale: metres and frames of them.
        most_gap: longest gap that is filled [s].

    Raises:
        FormatError: if nobody is left, frames reach over more than two days, or ids do not tell people apart.
    """
    path, fps = table.path, scale.fps
    clock = scale.clock - np.floor(scale.clock.min() + 1e-6)
    if clock.max() / fps > LONGEST:
        raise FormatError(path, f"reaches over {clock.max() / fps / 86400.0:.3g} days; two are the most; cut it")
    said, far = list[str](), max(_FASTEST, 4.0 * scale.speed)
    positions = table.positions * scale.meters
    off = np.abs(clock - np.rint(clock))
    if (off > _OFF_CLOCK).mean() > 0.01:
        said.append(f"moments are not {fps:.4g} times a second; places at whole frames are interpolated")
    else:
        clock = np.rint(clock)
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(table.person)) + 1, [len(table)]])
    parts, counts = list[_Part](), Counter[str]()
    doubles, jumpers = 0, list[str]()
    for first, last in pairwise(bounds.tolist()):
        name = table.names[table.person[first]]
        rows = _Part(name, clock[first:last], positions[first:last], table.headings[first:last])
        rows, equal = rows.without_doubles()
        doubles += equal
        chains = [rows]
        if _is_torn(rows, far / fps):
            chains = _chains(path, rows, far / fps)
            jumpers.append(name)
        parts += chains
        counts[name] += len(chains)
    if doubles:
        said.append(f"{doubles:,} rows are there twice and count once")
    if jumpers:
        said.append(
            f"{_people(jumpers)} {_are(jumpers)} at two places at once or jump{'s' * (len(jumpers) == 1)}, and "
            f"became {sum(counts[name] for name in jumpers)} people"
        )
    return _filled(path, parts, scale, most_gap, float(np.floor(scale.clock.min() + 1e-6)), said)


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows of one person, ordered by moment."""

    name: str
    clock: FloatArray
    positions: FloatArray
    headings: FloatArray

    def rows(self, chosen: IntArray | BoolArray) -> _Part:
        return _Part(self.name, self.clock[chosen], self.positions[chosen], self.headings[chosen])

    def without_doubles(self) -> tuple[_Part, int]:
        """Return the rows without those that are there twice, and how many these are."""
        same = np.zeros(len(self.clock), dtype=np.bool_)
        if len(same) > 1:
            same[1:] = (np.diff(self.clock) == 0) & (np.abs(np.diff(self.positions, axis=0)).max(axis=1) < 1e-3)
        return (self.rows(~same), int(same.sum())) if same.any() else (self, 0)


def _is_torn(rows: _Part, most: float) -> bool:
    """Return whether a person is at two places at once, or jumps; `most` is how far one gets in a frame [m]."""
    gone, took = np.linalg.norm(np.diff(rows.positions, axis=0), axis=1), np.diff(rows.clock)
    return bool((took == 0).any() or (gone > _JUMP + most * took).any())


def _chains(path: Path, rows: _Part, most: float) -> list[_Part]:
    """Return the people that rows of one name belong to: each row goes to the nearest whom it can belong to."""
    moments, x, y = rows.clock.tolist(), *(axis.tolist() for axis in rows.positions.T)
    chains, ends = list[list[int]](), list[int]()
    row = 0
    while row < len(moments):
        stop = row
        while stop < len(moments) and moments[stop] == moments[row]:
            stop += 1
        if stop - row > _MOST_AT_ONCE:
            raise FormatError(
                path,
                f"person '{rows.name}' is at {stop - row} places in one frame; the column of the person does not tell "
                "people apart",
            )
        free = set(range(row, stop))
        pairs = []
        for chain in range(max(len(chains) - 200, 0), len(chains)):
            end = ends[chain]
            room = _JUMP + most * (moments[row] - moments[end])
            for at in range(row, stop):
                apart = ((x[at] - x[end]) ** 2 + (y[at] - y[end]) ** 2) ** 0.5
                if apart <= room:
                    pairs.append((apart, chain, at))
        taken = set[int]()
        for _, chain, at in sorted(pairs):
            if chain not in taken and at in free:
                chains[chain].append(at)
                ends[chain] = at
                taken.add(chain)
                free.discard(at)
        for at in sorted(free):
            chains.append([at])
            ends.append(at)
        row = stop
    return [rows.rows(np.array(chain, dtype=np.int64)) for chain in chains]


def _filled(
    path: Path, parts: Sequence[_Part], scale: TrackScale, most_gap: float, first_frame: float, said: list[str]
) -> Repaired:
    """Return trajectories without gaps from the rows of people."""
    fps, most = scale.fps, most_gap * scale.fps
    usual = _usual_step(parts)
    if usual > 1.0:
        said.append(f"every {usual:.4g}th frame is there; those between are interpolated")
    limit = max(most, 1.5 * usual)
    names, starts, paths = list[str](), list[int](), list[FloatArray]()
    used, split, short = Counter[str](), Counter[str](), Counter[str]()
    filled, longest, gaps, frames = 0, 0.0, 0, 0
    for part in parts:
        steps = np.diff(part.clock)
        cuts = np.flatnonzero(steps > limit) + 1
        bounds = [0, *cuts.tolist(), len(part.clock)]
        split[part.name] += len(cuts)
        for first, last in pairwise(bounds):
            clock = part.clock[first:last]
            begin, end = int(np.ceil(clock[0] - 1e-6)), int(np.floor(clock[-1] + 1e-6))
            if end - begin < SHORTEST * fps - 1e-6 or end - begin < 1:
                short[part.name] += 1
                continue
            frames += end - begin + 1
            if frames > MOST_FRAMES:
                raise FormatError(path, f"is more than {MOST_FRAMES:,} frames with its gaps filled; cut it")
            holes = np.diff(clock)
            holes = holes[holes > 1.5 * usual]
            gaps, filled = gaps + len(holes), filled + round(float((holes - usual).sum()))
            longest = max(longest, float(holes.max(initial=0.0)))
            used[part.name] += 1
            number = used[part.name]
            names.append(part.name if number == 1 else f"{part.name}-{number}")
            starts.append(begin)
            paths.append(_at_frames(part.rows(np.arange(first, last)), np.arange(begin, end + 1)))
    if gaps:
        said.append(f"{gaps:,} gaps of up to {longest / fps:.2g} s are filled along straight lines ({filled:,} frames)")
    if torn := [name for name, count in split.items() if count]:
        total = sum(split.values())
        said.append(
            f"{_people(torn)} {_are(torn)} away for more than {limit / fps:.2g} s ({total} times in all); afterwards "
            "each counts as another person"
        )
    if short:
        said.append(f"{short.total()} pieces shorter than {SHORTEST:g} s are left out, of {_people(list(short))}")
    if not paths:
        raise FormatError(path, f"nobody is seen for {SHORTEST:g} s; {'; '.join(said) or 'the table is too short'}")
    trajectories = joined(fps, _unique(names), starts, paths)
    return Repaired(trajectories, first_frame, (*said, *_inside(trajectories)))


def _usual_step(parts: Sequence[_Part]) -> float:
    """Return how many frames usually lie between rows of a person; 1 unless all tables leave out the same ones."""
    steps = np.concatenate([np.diff(part.clock) for part in parts] or [np.empty(0)])
    if not steps.size:
        return 1.0
    return max(1.0, float(np.rint(np.median(steps))))


def _at_frames(rows: _Part, frames: IntArray) -> FloatArray:
    """Return places and headings at whole frames; (F, 3)."""
    out = np.column_stack(
        [*(np.interp(frames, rows.clock, axis) for axis in rows.positions.T), np.full(len(frames), np.nan)]
    )
    known = np.isfinite(rows.headings)
    if known.sum() > 1:
        clock, turns = rows.clock[known], np.unwrap(rows.headings[known])
        inside = (frames >= clock[0] - 1e-6) & (frames <= clock[-1] + 1e-6)
        turned = np.interp(frames, clock, turns)
        out[:, 2] = np.where(inside, np.arctan2(np.sin(turned), np.cos(turned)), np.nan)
    return out


def _unique(names: Sequence[str]) -> list[str]:
    """Return names of which no two are equal."""
    taken, out = set[str](), list[str]()
    for name in names:
        number, free = 2, name
        while free in taken:
            free, number = f"{name}-{number}", number + 1
        taken.add(free)
        out.append(free)
    return out


def _inside(trajectories: Trajectories) -> list[str]:
    """Say how many people are inside one another, and who are the nearest."""
    starts, lengths = trajectories.starts, trajectories.lengths
    offsets = np.cumsum(lengths) - lengths
    ends = starts + lengths
    frames = np.unique(np.linspace(starts.min(), ends.max() - 1, _CHECKED).astype(np.int64))
    worst, pairs, where = INSIDE, 0, (0, 0, 0)
    for frame in frames:
        here = np.flatnonzero((starts <= frame) & (frame < ends))
        if len(here) < 2:
            continue
        places = trajectories.positions[offsets[here] + frame - starts[here]]
        tree = cKDTree(places)
        count = (int(tree.count_neighbors(tree, INSIDE)) - len(here)) // 2
        pairs = max(pairs, count)
        if count:
            apart, other = tree.query(places, k=2)
            row = int(np.argmin(np.round(apart[:, 1], 6)))
            if apart[row, 1] < worst:
                neighbor = int(other[row, 1]) if int(other[row, 1]) != row else int(other[row, 0])
                worst, where = float(apart[row, 1]), (int(here[row]), int(here[neighbor]), int(frame))
    if not pairs:
        return []
    a, b, frame = where
    names = trajectories.names
    return [
        f"people are inside one another: up to {pairs:,} pairs nearer than {INSIDE:g} m at once, the nearest "
        f"'{names[a]}' and '{names[b]}', {worst:.2f} m apart at {frame / trajectories.fps:.1f} s; so are their bodies"
    ]


def _people(names: Sequence[str]) -> str:
    """Return names of people in words: all of them if there are few."""
    if len(names) <= _NAMED:
        return ("person " if len(names) == 1 else "people ") + ", ".join(f"'{name}'" for name in names)
    return f"{len(names):,} people ('{names[0]}' first)"


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
