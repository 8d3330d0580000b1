"""Match sets: similar frames of a corpus, all of which can be led to one pose (gleicher2003, 4.1).

The candidates for the match set of a frame are the local minima of the distance to it, in each motion. They are taken
in order of distance. Two match frames of one motion keep a least spacing, so that displacement maps do not overlap. The
largest match set of all frames is the hub that the corpus suggests.
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
    """Frames of a corpus that shall become one pose."""

    seed: int
    """Frame that the others were compared with."""
    frames: IntArray
    """Match frames in ascending order, with the seed; (M,)."""
    distances: FloatArray
    """Distance of each match frame to the seed [m]; (M,)."""

    def __post_init__(self) -> None:
        count = len(self.frames)
        object.__setattr__(self, "frames", owned(self.frames, "match frames", (count,), np.int64, GraphError))
        object.__setattr__(self, "distances", owned(self.distances, "distances", (count,), error=GraphError))

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def mean(self) -> float:
        """Mean distance of the match frames to the seed [m]."""
        return float(self.distances.mean())


@dataclass(frozen=True, eq=False)
class MatchSearch:
    """Search for match sets in the distances of all frames of a corpus."""

    matrix: npt.NDArray[np.float32]
    """Distances of all frames to each other [m]; (F, F)."""
    starts: IntArray
    """First frame of each motion, and the number of all frames at the end; (motions + 1,)."""
    spacing: int
    """Least distance of two match frames of one motion, in frames."""

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
        """Return the match set of a frame.

        Args:
            frame: Seed.
            threshold: Largest distance of match frames to the seed [m]; a larger one gives more and worse match frames.
            taken: Frames of earlier match sets; new match frames keep the spacing to these too.

        Raises:
            GraphError: If the seed is not a frame of the corpus, or too near to a taken frame.
        """
        self._check(frame)
        free = self._free(taken)
        if not free[frame]:
            raise GraphError(f"frame {frame} is within {self.spacing} frames of a match frame that is there already")
        low = self._minima(frame, threshold)
        # the seed belongs to its set, even if rounding makes its distance to itself larger than 0
        low[frame] = True
        return self._spaced(frame, np.flatnonzero(low & free))

    def is_free(self, frame: int, taken: Sequence[int]) -> bool:
        """Return whether a frame keeps the spacing to the taken frames."""
        self._check(frame)
        return bool(self._free(taken)[frame])

    def _check(self, frame: int) -> None:
        if not 0 <= frame < len(self.matrix):
            raise GraphError(f"frame {frame} of a corpus with frames 0 to {len(self.matrix) - 1}")

    def largest(self, thresholds: npt.ArrayLike, taken: Sequence[int] = ()) -> MatchSet | None:
        """Find the largest match set of all seeds; of equally large sets, the one with the least mean distance.

        Args:
            thresholds: Threshold of all seeds, or of each seed (F,) [m]. A frame with threshold 0 is no seed.
            taken: Frames of earlier match sets.

        Returns:
            The match set, or None if no frame is free.
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
        """Return the frames that are local minima of the distance to a frame in their motion, below a limit; (F,)."""
        row = self.matrix[frame]
        before, after = np.empty_like(row), np.empty_like(row)
        before[1:], after[:-1] = row[:-1], row[1:]
        before[self.starts[:-1]], after[self.starts[1:] - 1] = np.inf, np.inf
        # of equal neighbours, the first counts
        return np.asarray((row < threshold) & (row < before) & (row <= after))

    def _spaced(self, seed: int, candidates: IntArray) -> MatchSet:
        """Return the match set of the candidates, in order of distance, without those too near to an earlier one."""
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
        """Return the frames that keep the spacing to the taken frames; (F,)."""
        free = np.ones(len(self.matrix), dtype=bool)
        for frame in taken:
            motion = int(np.searchsorted(self.starts, frame, side="right"))
            low, high = self.starts[motion - 1], self.starts[motion]
            free[max(low, frame - self.spacing + 1) : min(high, frame + self.spacing)] = False
        return free


def speed_thresholds(corpus: Corpus, still: float = 0.045, per_speed: float = 0.02) -> FloatArray:
    """Return thresholds that grow with speed [m]; (F,). A constant one is too small for runs or too large for walks.

    Args:
        corpus: Motions.
        still: Threshold of a standing body [m].
        per_speed: Growth of the threshold for each m/s of the root [s].
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
    """Find the largest match sets of a corpus, one after another.

    Args:
        corpus: Motions.
        most: Largest number of match sets.
        thresholds: Threshold of all frames, or of each frame (F,) [m]. None takes `speed_thresholds`.
        spacing_s: Least time between match frames of one motion [s].
        least: Least number of match frames of a set.
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
    """Return the match sets of given seeds, one after another.

    Args:
        corpus: Motions.
        seeds: Frames of the corpus. A seed that is too near to an earlier match set is left out.
        thresholds: Threshold of all frames, or of each frame (F,) [m]. None takes `speed_thresholds`.
        spacing_s: Least time between match frames of one motion [s].
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
