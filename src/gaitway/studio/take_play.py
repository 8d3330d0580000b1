"""A finished take that is played, back and forth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gaitway.core.errors import StudioError
from gaitway.studio.frames import StudioRoute
from gaitway.take.evaluation import Joints
from gaitway.take.model import Take

_SPACING = 0.2
"""Time between the points of a route that is drawn [s]."""


class TakePlay:
    """A moment of a take. This class is **mutable**.

    Attributes:
        take: what is played.
        time: now [s].
    """

    def __init__(self, take: Take, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        """Begin at the beginning of a take.

        Args:
            take: what is played.
            rows: how each character fared when it was planned, as `planning.Planned.rows` tells.
        """
        self.take, self.time = take, 0.0
        self._planned = {str(row["character"]): row for row in rows}

    @property
    def length(self) -> float:
        """Time at which the last character ends [s]."""
        return self.take.duration

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the characters that are there now, in the order of `joints`."""
        return tuple(self.take.names[number] for joints in self.joints() for number in joints.characters.tolist())

    def scrub(self, time: float) -> None:
        """Go to a time [s], at most to the end."""
        self.time = min(max(time, 0.0), self.length)

    def step(self, dt: float) -> None:
        """Go on by some time [s], and begin again at the end."""
        self.time = self.time + dt if self.time + dt <= self.length else 0.0

    def joints(self) -> tuple[Joints, ...]:
        """Return world positions and rotations of all joints now, one part for each skeleton."""
        return self.take.joints(self.time)

    def behavior(self, name: str) -> str:
        """Return the behaviour of a character now."""
        rows = self._rows(name)
        begun = [row for row in rows if self.take.segments.start[row] <= self.time + 1e-9]
        return self._behavior((begun or rows)[-1 if begun else 0])

    def ahead(self, name: str) -> StudioRoute:
        """Return where a character goes from now on; cost and figures are those of its whole plan."""
        who, table = self._number(name), self.take.segments
        end = float(self.take.ends[who])
        times = np.append(np.arange(self.time, end, _SPACING), end)
        poses = self.take.planar(times, [who])[0]
        points = poses[np.isfinite(poses[:, 0]), :2]
        later = [row for row in self._rows(name) if table.start[row] > self.time]
        places = self.take.planar(table.start[later], [who])[0] if later else np.empty((0, 3))
        labels = tuple((self._behavior(row), *place[:2].tolist()) for row, place in zip(later, places, strict=True))
        x, y = self.take.goals[who, :2].tolist()
        goal = (x, y) if np.isfinite([x, y]).all() else None
        row = self._planned.get(name, {})
        return StudioRoute(
            points, labels, goal, max(end - self.time, 0.0), row.get("cost"), row.get("by", ""), row.get("expanded", 0),
            row.get("search_ms", 0.0),
        )  # fmt: skip

    def _number(self, name: str) -> int:
        if name not in self.take.names:
            raise StudioError(f"no character here is called '{name}'")
        return self.take.names.index(name)

    def _rows(self, name: str) -> range:
        who = self._number(name)
        return range(int(self.take.rows[who]), int(self.take.rows[who + 1]))

    def _behavior(self, row: int) -> str:
        number = int(self.take.segments.behavior[row])
        return self.take.behaviors[number] if number >= 0 else self.take.clips[int(self.take.segments.clip[row])].name
