"""What was shown of people in a live throng, pose by pose and compactly, for a record of the last minutes."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.archives import Arrays
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton

RATE_HZ = 30.0
"""Poses are kept no more often than this [Hz]."""
MOST_BYTES = 512_000_000
"""Greatest memory of kept poses [bytes]; older ones are forgotten."""
_SCALE = 32767.0
_JOINED = 1.5 / RATE_HZ
"""Poses that are farther apart than this belong to different times in the throng [s]."""
_POINTS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("heel", "ball", "toe"))
Short = npt.NDArray[np.int16]


class ShownPoses(NamedTuple):
    """Poses of people of one skeleton at one time."""

    time: float
    who: IntArray
    """Numbers in the engine, and how many characters have had each; (N, 2)."""
    roots: npt.NDArray[np.float32]
    """Positions and rotations of roots; (N, 7)."""
    turns: Short
    """Vector parts of the local rotations of all other joints, in units of 1/32767; (N, J - 1, 3)."""
    down: npt.NDArray[np.bool_]
    """Whether heel, ball and toe of the left and of the right foot rest; (N, 6)."""
    group: int
    """Number of the skeleton."""

    @property
    def nbytes(self) -> int:
        """Memory [bytes]."""
        return self.who.nbytes + self.roots.nbytes + self.turns.nbytes + self.down.nbytes


class DenseRecord:
    """Poses of the last minutes. This class is **mutable**."""

    def __init__(self, seconds: float) -> None:
        """Keep poses for so long [s]."""
        self._seconds, self._kept, self._size = seconds, deque[ShownPoses](), 0
        self.since = -np.inf
        """Time before which poses were forgotten for want of memory [s]."""

    def due(self, time: float) -> bool:
        """Return whether poses of a time [s] are to be kept."""
        return not self._kept or time >= self._kept[-1].time + 1.0 / RATE_HZ - 1e-6 or time == self._kept[-1].time

    def note(
        self, time: float, group: int, who: IntArray, roots: FloatArray, turns: FloatArray, down: npt.NDArray[np.bool_]
    ) -> None:
        """Keep poses.

        Args:
            time: time [s].
            group: number of the skeleton.
            who: numbers in the engine and how many characters have had each; (N, 2).
            roots: root positions [m]; (N, 3).
            turns: local rotations; (N, J, 4).
            down: whether heel, ball and toe of the left and of the right foot rest; (N, 6).
        """
        if not len(who):
            return
        signed = np.where(turns[:, 1:, :1] < 0.0, -turns[:, 1:, 1:], turns[:, 1:, 1:])
        kept = ShownPoses(
            time, who.copy(), np.concatenate([roots, turns[:, 0]], axis=1).astype(np.float32),
            np.rint(signed * _SCALE).astype(np.int16), down.copy(), group,
        )  # fmt: skip
        self._kept.append(kept)
        self._size += kept.nbytes
        while self._kept[0].time < time - self._seconds - 1.0 or self._size > MOST_BYTES:
            gone = self._kept.popleft()
            self._size -= gone.nbytes
            self.since = max(self.since, gone.time)

    def clips(
        self, skeletons: Mapping[int, Skeleton], fps: float, begin: float = -np.inf
    ) -> dict[tuple[int, int], list[tuple[float, Clip]]]:
        """Return what is known of each character as clips with the times at which they begin [s].

        Args:
            skeletons: skeletons by number.
            fps: rate of the clips [Hz].
            begin: what was shown earlier than this is left out [s].
        """
        found: dict[tuple[int, int], list[tuple[float, ShownPoses, int]]] = {}
        for some in self._kept:
            if some.time < begin - 1e-6:
                continue
            for row, (who, life) in enumerate(some.who.tolist()):
                found.setdefault((who, life), []).append((some.time, some, row))
        out: dict[tuple[int, int], list[tuple[float, Clip]]] = {}
        for key, rows in found.items():
            times = np.array([time for time, _, _ in rows])
            cuts = np.flatnonzero(np.diff(times) > _JOINED) + 1
            for part in np.split(np.arange(len(rows)), cuts):
                if len(part) > 1:
                    made = _clip([rows[k] for k in part.tolist()], skeletons[rows[0][1].group], fps)
                    out.setdefault(key, []).append((float(times[part[0]]), made))
        return out

    def state(self) -> Arrays:
        """Return what `restore` needs, as arrays of all poses one after another."""
        groups = sorted({some.group for some in self._kept})
        out: Arrays = {
            "times": np.array([some.time for some in self._kept]),
            "groups": np.array([some.group for some in self._kept], np.int64),
            "sizes": np.array([len(some.who) for some in self._kept], np.int64),
            "who": np.concatenate([np.empty((0, 2), np.int64), *(some.who for some in self._kept)]),
            "roots": np.concatenate([np.empty((0, 7), np.float32), *(some.roots for some in self._kept)]),
            "down": np.concatenate([np.empty((0, 6), np.bool_), *(some.down for some in self._kept)]),
        }
        for group in groups:
            out[f"turns_{group}"] = np.concatenate([some.turns for some in self._kept if some.group == group])
        return out

    def restore(self, arrays: Arrays, joints: Mapping[int, int]) -> None:
        """Go on from a saved state, given the number of joints of each skeleton.

        Raises:
            ValueError: if it cannot be.
        """
        times, groups, sizes = arrays["times"], arrays["groups"].astype(np.int64), arrays["sizes"].astype(np.int64)
        ends, total = np.cumsum(sizes), int(sizes.sum())
        fine = (
            len(times) == len(groups) == len(sizes)
            and (sizes >= 0).all()
            and np.isfinite(times).all()
            and (np.diff(times) >= 0.0).all()
            and arrays["who"].shape == (total, 2)
            and arrays["roots"].shape == (total, 7)
            and arrays["down"].shape == (total, 6)
            and np.isfinite(arrays["roots"]).all()
            and set(groups.tolist()) <= set(joints)
        )
        if not fine:
            raise ValueError("a record of a throng that cannot be")
        self._kept.clear()
        self._size, used = 0, dict.fromkeys(joints, 0)
        for k, (time, group, size) in enumerate(zip(times.tolist(), groups.tolist(), sizes.tolist(), strict=True)):
            rows, first = slice(int(ends[k]) - size, int(ends[k])), used[group]
            turns = np.array(arrays[f"turns_{group}"][first : first + size], np.int16)
            if turns.shape != (size, joints[group] - 1, 3):
                raise ValueError("a record of a throng that cannot be")
            used[group] += size
            who, roots = np.array(arrays["who"][rows], np.int64), np.array(arrays["roots"][rows], np.float32)
            self._kept.append(ShownPoses(time, who, roots, turns, np.array(arrays["down"][rows], np.bool_), group))
            self._size += self._kept[-1].nbytes


def _clip(rows: list[tuple[float, ShownPoses, int]], skeleton: Skeleton, fps: float) -> Clip:
    """Return poses of one character as a clip that begins with the first of them."""
    times = np.array([time for time, _, _ in rows])
    roots = np.array([some.roots[row] for _, some, row in rows], dtype=np.float64)
    vector = np.array([some.turns[row] for _, some, row in rows], dtype=np.float64) / _SCALE
    real = np.sqrt(np.maximum(1.0 - (vector**2).sum(axis=-1, keepdims=True), 0.0))
    turns = np.concatenate([roots[:, None, 3:], np.concatenate([real, vector], axis=-1)], axis=1)
    turns = rotations.normalize(turns)
    down = np.array([some.down[row] for _, some, row in rows])
    count = max(int(np.ceil((times[-1] - times[0]) * fps - 1e-6)), 1) + 1
    at = np.minimum(times[0] + np.arange(count) / fps, times[-1])
    low = np.clip(np.searchsorted(times, at + 1e-9, side="right") - 1, 0, len(times) - 2)
    share = np.clip((at - times[low]) / (times[low + 1] - times[low]), 0.0, 1.0)
    share = np.where(share < 1e-6, 0.0, np.where(share > 1.0 - 1e-6, 1.0, share))
    mixed = rotations.slerp(turns[low], turns[low + 1], share[:, None])
    places = roots[low, :3] + share[:, None] * (roots[low + 1, :3] - roots[low, :3])
    contacts = np.zeros((count, len(skeleton.contact_points)), dtype=np.bool_)
    rests = down[low] & down[low + 1]
    for column, point in enumerate(skeleton.contact_points):
        if point.name in _POINTS:
            contacts[:, column] = rests[:, _POINTS.index(point.name)]
    return Clip(skeleton, places, rotations.normalize(mixed), fps, "throng", contacts)
