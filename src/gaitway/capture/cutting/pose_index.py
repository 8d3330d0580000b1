"""Index of all poses of all takes, and the distances between them; hubs are searched for in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gaitway.capture.recognising.measures import PERSON_LEG
from gaitway.capture.takes import PreparedTake
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import GraphError
from gaitway.graphs.clouds import Clouds, joined, point_clouds
from gaitway.graphs.distance import feature_distances, features, reference_heights
from gaitway.motion.anatomy import leg_length


def body_size(takes: Sequence[PreparedTake]) -> float:
    """Return the leg length of a subject divided by that of the reference person, as `Stature.size`."""
    return leg_length(takes[0].clip.skeleton) / PERSON_LEG


@dataclass(frozen=True, eq=False)
class PoseIndex:
    """All frames of all takes, numbered through."""

    takes: tuple[PreparedTake, ...]
    clouds: Clouds
    """Point clouds of all frames."""
    starts: IntArray
    """Number of the first frame of each take, and the number of all frames at the end; (T + 1,)."""
    size: float
    """Size of the subject, as `body_size` gives it."""

    @classmethod
    def of(cls, takes: Sequence[PreparedTake]) -> PoseIndex:
        """Build the index of takes of one skeleton; takes that are too short for a window are left out."""
        clouds, kept = [], []
        for take in takes:
            try:
                clouds.append(point_clouds(take.clip))
                kept.append(take)
            except GraphError:
                continue
        if not kept:
            raise GraphError("no take is long enough to find steps; give clips of a second or more")
        starts = np.cumsum([0, *(len(take.clip) for take in kept)])
        return cls(tuple(kept), joined(clouds), starts, body_size(kept))

    @cached_property
    def speeds(self) -> FloatArray:
        """Speed of the root over the ground, over a window around each frame [m/s]; (F,)."""
        parts = []
        for take in self.takes:
            path, last = take.clip.root_positions[:, :2], len(take.clip) - 1
            reach = max(round(0.2 * take.clip.fps), 1)
            at = np.arange(last + 1)
            before, after = np.maximum(at - reach, 0), np.minimum(at + reach, last)
            way = np.linalg.norm(path[after] - path[before], axis=1)
            parts.append(way * take.clip.fps / np.maximum(after - before, 1))
        return np.concatenate(parts)

    def frame(self, take: int, frame: int) -> int:
        """Return the number of a take's frame in the index."""
        return int(self.starts[take]) + frame

    def place(self, frame: int) -> tuple[int, int]:
        """Return the take, and the frame in it, of a number in the index."""
        take = int(np.searchsorted(self.starts, frame, side="right")) - 1
        return take, frame - int(self.starts[take])

    def distances(self, rows: IntArray, columns: IntArray | None = None) -> FloatArray:
        """Return the distances of some frames (N,) to each other, or to other frames (M,) [m]; (N, N) or (N, M)."""
        reference = reference_heights(self.clouds)
        a = features(self.clouds, rows, reference)
        b = a if columns is None else features(self.clouds, columns, reference)
        out = feature_distances(a, b).astype(np.float64)
        if columns is None:
            np.fill_diagonal(out, 0.0)
        return out


def mirrored_takes(takes: Sequence[PreparedTake]) -> list[int | None]:
    """Return for each take the number of its mirror image, or of its original; None if there is none."""
    where = {(take.source, take.name.removesuffix(" mirrored"), take.mirrored): t for t, take in enumerate(takes)}
    twins = [where.get((t.source, t.name.removesuffix(" mirrored"), not t.mirrored)) for t in takes]
    alike = [twin is not None and len(takes[twin].clip) == len(t.clip) for twin, t in zip(twins, takes, strict=True)]
    return [twin if same else None for twin, same in zip(twins, alike, strict=True)]
