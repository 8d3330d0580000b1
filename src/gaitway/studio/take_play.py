"""A finished take that is played, back and forth."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gaitway.audit import Finding, find_collisions
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import StudioError
from gaitway.scene.scene import Scene
from gaitway.studio.frames import HIPS, StudioErrand, StudioRoute, StudioTrouble
from gaitway.take.evaluation import Joints, sampled
from gaitway.take.model import Take

_SPACING = 0.2
"""Time between the points of a route that is drawn [s]."""
_LOG = logging.getLogger(__name__)


class _Closed(Exception):
    """Nobody wants to know any more."""


class TakeCheck:
    """The search for collisions of a take, on a thread of its own. This class is **mutable**."""

    def __init__(self, take: Take, scene: Scene) -> None:
        self._found: tuple[Finding, ...] | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._search, args=(take, scene), daemon=True, name="take check")
        self._thread.start()

    @property
    def found(self) -> tuple[Finding, ...] | None:
        """The collisions in order of time; None while they are looked for."""
        return self._found

    def wait(self) -> tuple[Finding, ...]:
        """Wait for the end of the search, and return the collisions."""
        self._thread.join()
        return self._found or ()

    def close(self) -> None:
        """Give the search up."""
        self._closed = True

    def _search(self, take: Take, scene: Scene) -> None:
        try:
            self._found = find_collisions(take, scene.world, progress=self._go_on)
        except _Closed:
            self._found = ()
        except Exception:  # the take itself can be played all the same
            _LOG.exception("studio: the take could not be checked")
            self._found = ()

    def _go_on(self, what: str, done: int, total: int | None) -> None:
        del what, done, total
        if self._closed:
            raise _Closed


class TakePlay:
    """A moment of a take. This class is **mutable**.

    Attributes:
        take: what is played.
        time: now [s].
        check: the search for its collisions.
        all_errands: what everybody does, by name, with what comes of it.
    """

    def __init__(self, take: Take, scene: Scene, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        """Begin at the beginning of a take, and look for its collisions meanwhile.

        Args:
            take: what is played.
            scene: the scene that it was planned for.
            rows: how each character fared when it was planned, as `planning.Planned.rows` tells.
        """
        self.take, self.time = take, 0.0
        self._planned = {str(row["character"]): row for row in rows}
        self._failed = self._not_arrived(scene)
        told: Mapping[str, Sequence[Sequence[Any]]] = take.facts.get("errands") or {}
        self.all_errands = {
            name: tuple(StudioErrand(label, state, start, end, reason) for label, start, end, state, reason in rows)
            for name, rows in told.items()
        }
        self.check = TakeCheck(take, scene)

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts of the take."""
        return self.take.facts

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

    def troubles(self) -> tuple[StudioTrouble, ...]:
        """Return who does not arrive, and why, and the collisions that were found so far."""
        return (*self._failed, *map(collision, self.check.found or ()))

    def close(self) -> None:
        """End the search for collisions."""
        self.check.close()

    def behavior(self, name: str) -> str:
        """Return the behaviour of a character now."""
        rows = self._rows(name)
        begun = [row for row in rows if self.take.segments.start[row] <= self.time + 1e-9]
        return self._behavior((begun or rows)[-1 if begun else 0])

    def errands(self, name: str) -> tuple[StudioErrand, ...]:
        """Return what somebody has done, does, and is about to do at this moment."""
        return tuple(self._seen(errand) for errand in self.all_errands.get(name, ()))

    def _seen(self, errand: StudioErrand) -> StudioErrand:
        """Return an errand as it is at this moment."""
        if errand.start is None or errand.end is None:
            return errand
        if errand.start > self.time:
            return StudioErrand(errand.label, "to come", errand.start, errand.end)
        if errand.end > self.time:
            return StudioErrand(errand.label, "now", errand.start, errand.end)
        return errand

    def ahead(self, name: str) -> StudioRoute:
        """Return where a character goes from now on; cost and figures are those of its whole plan."""
        who, table = self._number(name), self.take.segments
        end = float(self.take.ends[who])
        times = np.append(np.arange(self.time, end, _SPACING), end)
        points = self._ground(who, times)
        later = [row for row in self._rows(name) if table.start[row] > self.time]
        places = self._ground(who, table.start[later])
        labels = tuple((self._behavior(row), x, y, z) for row, (x, y, z) in zip(later, places.tolist(), strict=True))
        x, y = self.take.goals[who, :2].tolist()
        goal = (x, y, float(points[-1, 2])) if np.isfinite([x, y]).all() else None
        row = self._planned.get(name, {})
        return StudioRoute(
            points, labels, goal, max(end - self.time, 0.0), row.get("cost"), row.get("by", ""), row.get("expanded", 0),
            row.get("search_ms", 0.0), self.errands(name),
        )  # fmt: skip

    def _not_arrived(self, scene: Scene) -> tuple[StudioTrouble, ...]:
        """Return who does not arrive, with the reason that planning gave, and when and where it ends instead."""
        failed: Mapping[str, str] = self.take.facts.get("failed") or {}
        starts = {c.name: c.start for c in scene.characters}
        out = []
        for name, reason in failed.items():
            row = self._planned.get(name, {})
            if name in self.take.names:
                who = self._number(name)
                began = max(float(row.get("arrives_s") or 0.0), self.take.start(who))
                x, y = self.take.planar([self.take.ends[who]], [who])[0, 0, :2].tolist()
                out.append(StudioTrouble("not arrived", (name,), reason, began, place=(x, y, 0.0)))
            elif name in starts:
                out.append(StudioTrouble("not arrived", (name,), reason, 0.0, place=(*starts[name][:2], 0.0)))
        return tuple(sorted(out, key=lambda one: one.time))

    def _ground(self, who: int, times: FloatArray) -> FloatArray:
        """Return where a character is at times (K,), at about the height of the ground under it [m]; (K, 3)."""
        if not len(times):
            return np.empty((0, 3))
        body, people = int(self.take.bodies[who]), np.full(len(times), who)
        roots, _ = sampled(self.take, body, people, np.asarray(times, dtype=np.float64))
        return np.column_stack([roots[:, :2], roots[:, 2] - HIPS])

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


def collision(finding: Finding) -> StudioTrouble:
    """Return a finding of the audit as the studio shows it."""
    begin, end = finding.span or (finding.time, finding.time)
    what = finding.part if len(finding.characters) > 1 else f"{finding.part} in {finding.obstacle}"
    reason = f"{what.replace('_', ' ')}, {100.0 * finding.value:.0f} cm deep"
    return StudioTrouble("collision", finding.characters, reason, begin, end, finding.place)
