"""Match sets: frames of a corpus that are alike, chosen so that all of them can be led to one pose (gleicher2003, 4.1).

Around a frame the best partners of each motion are the local minima of the distance to it. They are taken in order of
distance, and no two match frames of a motion may be nearer to one another than the least spacing, so that every
displacement map has room. The largest set over all frames is the hub that the corpus itself suggests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned
from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import Corpus
from gaitway.graphs.distance import distances


@dataclass(frozen=True, eq=False)
class MatchSet:
    """Frames, counted through all motions of a corpus, that shall become one pose."""

    seed: int
    """The frame that the others were compared with."""
    frames: IntArray
    """The match frames, ascending; (M,). The seed is one of them."""
    distances: FloatArray
    """Of each to the seed [m]; (M,)."""

    def __post_init__(self) -> None:
        count = len(self.frames)
        object.__setattr__(self, "frames", owned(self.frames, "match frames", (count,), np.int64, GraphError))
        object.__setattr__(self, "distances", owned(self.distances, "distances", (count,), error=GraphError))

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def mean(self) -> float:
        """Mean distance of match frames to the seed [m]."""
        return float(self.distances.mean())


@dataclass(frozen=True, eq=False)
class MatchSearch:
    """Distances of all frames of a corpus, and what a match set may be."""

    matrix: npt.NDArray[np.float32]
    """Distances of all frames to all frames [m]; (F, F)."""
    starts: IntArray
    """First frame of each motion, and the number of frames at the end; (motions + 1,)."""
    spacing: int
    """Least number of frames between match frames of one motion."""

    def __post_init__(self) -> None:
        matrix, starts = np.asarray(self.matrix, dtype=np.float32), np.asarray(self.starts, dtype=np.int64)
        frames = len(matrix)
        if matrix.shape != (frames, frames) or frames < 1:
            raise GraphError(
                f"distances have shape {matrix.shape}; a match set needs those of all frames to all frames"
            )
        if len(starts) < 2 or starts[0] != 0 or starts[-1] != frames or (np.diff(starts) < 1).any():
            raise GraphError(f"motions begin at frames {starts.tolist()}; write 0 first and {frames} last, ascending")
        if self.spacing < 1:
            raise GraphError(f"match frames {self.spacing} frames apart; write 1 or more")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "starts", starts)

    def around(self, frame: int, threshold: float, taken: Sequence[int] = ()) -> MatchSet:
        """The match set of one frame.

        Args:
            frame: the seed.
            threshold: match frames are nearer to it than this [m]; more gives more of them, and worse ones.
            taken: frames of match sets that are there already; new ones keep the spacing to these too.

        Raises:
            GraphError: if the seed is no frame, or too near to one that is taken.
        """
        self._check(frame)
        free = self._free(taken)
        if not free[frame]:
            raise GraphError(f"frame {frame} is within {self.spacing} frames of a match frame that is there already")
        low = self._minima(frame, threshold)
        # the seed is its own partner, whatever rounding makes of a distance of nothing
        low[frame] = True
        return self._spaced(frame, np.flatnonzero(low & free))

    def is_free(self, frame: int, taken: Sequence[int]) -> bool:
        """Whether a frame keeps the spacing to those that are taken."""
        self._check(frame)
        return bool(self._free(taken)[frame])

    def _check(self, frame: int) -> None:
        if not 0 <= frame < len(self.matrix):
            raise GraphError(f"frame {frame} of a corpus with frames 0 to {len(self.matrix) - 1}")

    def largest(self, thresholds: npt.ArrayLike, taken: Sequence[int] = ()) -> MatchSet | None:
        """The largest match set over all frames; of equally large ones that with the lowest mean distance.

        Args:
            thresholds: [m]; one for all seeds, or one for each (F,). A threshold of 0 keeps a frame from being a seed.
            taken: as of `around`.

        Returns:
            None if no frame is free.
        """
        limits = np.broadcast_to(np.asarray(thresholds, dtype=np.float64), (len(self.matrix),))
        free, best = self._free(taken), None
        for frame in np.flatnonzero(free & (limits > 0.0)).tolist():
            low = self._minima(frame, float(limits[frame])) & free
            low[frame] = True
            if best is not None and int(low.sum()) < len(best):  # spacing makes it smaller still
                continue
            found = self._spaced(frame, np.flatnonzero(low))
            if best is None or (-len(found), found.mean) < (-len(best), best.mean):
                best = found
        return best

    def _minima(self, frame: int, threshold: float) -> BoolArray:
        """Frames that are local minima of the distance to one frame within their motion, under a threshold; (F,)."""
        row = self.matrix[frame]
        before, after = np.empty_like(row), np.empty_like(row)
        before[1:], after[:-1] = row[:-1], row[1:]
        before[self.starts[:-1]], after[self.starts[1:] - 1] = np.inf, np.inf
        # of equal neighbours the first counts
        return np.asarray((row < threshold) & (row < before) & (row <= after))

    def _spaced(self, seed: int, candidates: IntArray) -> MatchSet:
        """Candidates in order of distance, without those too near to one that was taken before."""
        row, motion = self.matrix[seed], np.searchsorted(self.starts, candidates, side="right")
        order = np.lexsort((candidates, row[candidates], candidates != seed))
        chosen: list[int] = []
        for i in order.tolist():
            near = (abs(candidates[i] - candidates[j]) < self.spacing and motion[i] == motion[j] for j in chosen)
            if not any(near):
                chosen.append(i)
        frames = np.sort(candidates[chosen])
        return MatchSet(seed, frames, np.where(frames == seed, 0.0, row[frames]))

    def _free(self, taken: Sequence[int]) -> BoolArray:
        """Frames that keep the spacing to those that are taken; (F,)."""
        free = np.ones(len(self.matrix), dtype=bool)
        for frame in taken:
            motion = int(np.searchsorted(self.starts, frame, side="right"))
            low, high = self.starts[motion - 1], self.starts[motion]
            free[max(low, frame - self.spacing + 1) : min(high, frame + self.spacing)] = False
        return free


def speed_thresholds(corpus: Corpus, still: float = 0.045, per_speed: float = 0.02) -> FloatArray:
    """Thresholds that grow with speed [m]; (F,). One fixed threshold finds no hub in runs, or a loose one in walks.

    Args:
        corpus: the motions.
        still: threshold of a body that stands [m].
        per_speed: what is added for every m/s of the root.
    """
    speeds = []
    for clip in corpus.clips:
        half = max(round(corpus.half_window_s * clip.fps), 1)
        at = np.arange(len(clip))
        low, high = np.maximum(at - half, 0), np.minimum(at + half, len(clip) - 1)
        way = np.linalg.norm(clip.root_positions[high, :2] - clip.root_positions[low, :2], axis=-1)
        speeds.append(way * clip.fps / np.maximum(high - low, 1))
    return np.asarray(still + per_speed * np.concatenate(speeds))


def choose_match_sets(
    corpus: Corpus,
    most: int = 4,
    *,
    thresholds: npt.ArrayLike | None = None,
    spacing_s: float = 0.3,
    least: int = 3,
) -> list[MatchSet]:
    """The largest match sets of a corpus, one after another.

    Args:
        corpus: the motions.
        most: no more than so many.
        thresholds: [m]; one for all frames, or one for each (F,). None takes `speed_thresholds`.
        spacing_s: least time between match frames of one motion [s].
        least: smaller sets are none.
    """
    if most < 1 or least < 1:
        raise GraphError(f"at most {most} match sets of at least {least} frames; write 1 or more")
    search, limits = _search(corpus, spacing_s), _limits(corpus, thresholds)
    found: list[MatchSet] = []
    while len(found) < most:
        best = search.largest(limits, _taken(found))
        if best is None or len(best) < least:
            break
        found.append(best)
    return found


def match_sets_around(
    corpus: Corpus, seeds: Sequence[int], *, thresholds: npt.ArrayLike | None = None, spacing_s: float = 0.3
) -> list[MatchSet]:
    """The match sets of chosen frames, one after another; arguments as of `choose_match_sets`.

    Args:
        corpus: the motions.
        seeds: frames, counted through all motions. One that a set before has come too near to is left out.
        thresholds: [m]; one for all frames, or one for each (F,). None takes `speed_thresholds`.
        spacing_s: least time between match frames of one motion [s].
    """
    search, limits = _search(corpus, spacing_s), _limits(corpus, thresholds)
    found: list[MatchSet] = []
    for seed in seeds:
        if search.is_free(seed, _taken(found)):
            found.append(search.around(seed, float(limits[seed]), _taken(found)))
    return found


def _search(corpus: Corpus, spacing_s: float) -> MatchSearch:
    matrix = distances(corpus.clouds, corpus.clouds)
    return MatchSearch(matrix, corpus.starts, max(round(spacing_s * corpus.fps), 1))


def _limits(corpus: Corpus, thresholds: npt.ArrayLike | None) -> FloatArray:
    given = speed_thresholds(corpus) if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    return np.broadcast_to(given, (len(corpus),))


def _taken(sets: Sequence[MatchSet]) -> list[int]:
    return [int(frame) for one in sets for frame in one.frames]
