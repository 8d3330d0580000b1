"""People who belong together: groups that walk side by side, and queues that move up."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.core.errors import CrowdError

SPACING = 0.6
"""Distance between people in a queue [m]."""
JOIN = 0.8
"""Distance from the end of a queue at which people line up [m]."""
SERVED = 0.35
"""Distance from the head of a queue within which somebody is served [m]."""


def kept_together(positions: FloatArray, wishes: FloatArray, speeds: FloatArray, groups: IntArray) -> FloatArray:
    """Return the wished velocities of people in groups [m/s]: who is ahead waits, who is behind hurries.

    Args:
        positions: places of people in groups [m]; (N, 2).
        wishes: velocities with which each alone would go to the goal [m/s]; (N, 2).
        speeds: speeds at which each walks alone [m/s]; (N,).
        groups: group of each; (N,).
    """
    _, member = np.unique(groups, return_inverse=True)
    member = member.reshape(-1)
    sizes = np.bincount(member)
    middles = np.stack([np.bincount(member, positions[:, c]) for c in range(2)], axis=-1) / sizes[:, None]
    slowest = np.full(len(sizes), np.inf)
    np.minimum.at(slowest, member, speeds)
    size = np.hypot(wishes[:, 0], wishes[:, 1])
    way = wishes / np.maximum(size, 1e-9)[:, None]
    away = middles[member] - positions
    along = (away * way).sum(axis=1)
    aside = away - along[:, None] * way
    width = np.hypot(aside[:, 0], aside[:, 1])
    # people walk abreast as long as they are not too far apart
    pull = 0.3 * np.maximum(width - 0.4 * np.sqrt(sizes[member]), 0.0) / np.maximum(width, 1e-9)
    pace = np.minimum(size, slowest[member]) * np.clip(1.0 + 0.5 * along, 0.2, 1.3)
    return np.where(size[:, None] > 1e-6, pace[:, None] * way + np.minimum(pull, 0.4)[:, None] * aside, wishes)


@dataclass
class CrowdQueue:
    """A queue. This class is **mutable**: people join at its end and leave from its head."""

    line: FloatArray
    """The line along which people stand, from the head on [m]; (K, 2)."""
    service: float
    """Time for which whoever is at the head is served [s]."""
    goals: dict[int, FloatArray] = field(default_factory=dict)
    """Where each member goes after the queue, by id; areas (4,)."""
    coming: list[int] = field(default_factory=list)
    """Ids of those who have not lined up yet."""
    waiting: list[int] = field(default_factory=list)
    """Ids of those in line, from the head on."""
    served: float = 0.0
    """Time for which the head has been served [s]."""

    @staticmethod
    def of(line: npt.ArrayLike, service: float) -> CrowdQueue:
        """Return an empty queue.

        Args:
            line: where people stand, from the head on [m]; (K, 2), at least two points; people beyond its end stand on
                in the direction of its last part.
            service: time for which whoever is at the head is served [s].

        Raises:
            CrowdError: if the line is not one.
        """
        points = owned(line, "line of a queue", (None, 2), error=CrowdError)
        if len(points) < 2 or (np.hypot(*np.diff(points, axis=0).T) < 1e-6).any():
            raise CrowdError(f"line of a queue has {len(points)} points; write at least two that differ, head first")
        if not (np.isfinite(service) and service >= 0.0):
            raise CrowdError(f"service of a queue takes {service} s; write 0 or more")
        return CrowdQueue(points, float(service))

    def spot(self, number: int) -> FloatArray:
        """Return where the person of a number in the line stands [m]; (2,)."""
        parts = np.hypot(*np.diff(self.line, axis=0).T)
        ends = np.concatenate([[0.0], np.cumsum(parts)])
        at = number * SPACING
        k = int(np.clip(np.searchsorted(ends, at, side="right") - 1, 0, len(parts) - 1))
        out: FloatArray = self.line[k] + (at - ends[k]) / parts[k] * (self.line[k + 1] - self.line[k])
        return out
