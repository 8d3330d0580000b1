"""Routes to far goals for many live characters: a field of distances for each goal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gaitway.core.archives import counted
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.live.planning._subgoal_kernels import Lengths, RouteArrays
from gaitway.space.fields import WorldFields
from gaitway.space.routes import RouteMap

FINEST, COARSEST = 0.2, 0.7
"""Cell size of a field in small and in large worlds [m]; the thesis took 0.7."""
CELLS = 60_000
"""Number of cells of a field that is enough."""
BYTES = 256_000_000
"""Memory for fields unless told otherwise [bytes]."""
_ROOM = 0.3
"""Distance that routes keep from obstacles [m]."""
_NEIGHBORS = 8
"""Number of neighbours of a cell that a route can step to."""


class RouteBook:
    """Fields of distances, by goal. This class is **mutable**.

    Characters with the same goal share one field: a thousand characters that go through ten gates need ten. A world
    without obstacles needs none. Where there are more goals than fit into memory, new ones take the place of those that
    nobody goes to any more (`release`). If there are none, the last ones get no field; their characters go straight on,
    and around what the tree sees. So do characters whose fields are still to be computed (`fill`), unless the goal was
    known before the world changed: then the old field is used until the new one is there.

    Attributes:
        map: cells in which a character can be.
    """

    def __init__(self, fields: WorldFields, most_bytes: int = BYTES, before: RouteBook | None = None) -> None:
        """Begin without any goals.

        Args:
            fields: fields of the world.
            most_bytes: memory for route fields [bytes].
            before: book of the world as it was; its memory is taken over, so that it cannot be used any more.
        """
        x0, y0, x1, y1 = fields.world.bounds
        cell = min(max(math.sqrt((x1 - x0) * (y1 - y0) / CELLS), FINEST), COARSEST)
        self.map = RouteMap.of(fields, _ROOM, cell, neighbors=_NEIGHBORS)
        spec = self.map.spec
        rows, columns = spec.shape
        self._most = most_bytes // (4 * rows * columns) if fields.world.obstacles or fields.areas else 0
        self._numbers: dict[tuple[int, int], int] = {}
        self._waiting: dict[int, tuple[float, float]] = {}
        self._made: set[int] = set()
        self._spare: dict[int, tuple[int, int]] = {}
        self._lengths = np.empty((0, rows, columns), np.float32)
        self._place = read_only(np.array([*spec.origin, 1.0 / spec.cell]))
        if before is not None and self._most > 0 and before.map.spec == spec:
            self._numbers, self._lengths = before._numbers, before._lengths
        self._hold(len(self._lengths))

    @property
    def nbytes(self) -> int:
        """Memory of the fields [bytes]."""
        return int(self._lengths.nbytes)

    @property
    def waiting(self) -> int:
        """Number of fields that are still to be computed."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether there is no memory for another goal."""
        return 0 < self._most <= len(self._numbers)

    def release(self, used: IntArray) -> None:
        """Give up all fields but those of some numbers; each stays until another goal takes its place."""
        kept = set(used.tolist())
        self._spare = {number: key for key, number in self._numbers.items() if number not in kept}

    def numbers(self, goals: FloatArray) -> IntArray:
        """Return the number of the field for each goal, or -1; new fields are computed by `fill`.

        Args:
            goals: goals: x, y [m]; (N, 2).
        """
        cells = self.map.spec.cells(goals)
        out = np.full(len(goals), -1)
        for k, (key, (x, y)) in enumerate(zip(map(tuple, cells.tolist()), goals.tolist(), strict=True)):
            out[k] = number = self._numbers.pop(key) if key in self._numbers else self._next()
            if number < 0:
                continue
            self._numbers[key] = number  # the last that was asked for is the last to be given up
            self._spare.pop(number, None)
            if number not in self._made:
                self._waiting.setdefault(number, (x, y))
        if len(self._numbers) > len(self._lengths):
            self._hold(min(max(len(self._numbers), 2 * len(self._lengths)), self._most))
        return out

    def _next(self) -> int:
        """Return the number of a new field, or of one that was given up; -1 if there is none."""
        if not self.full:
            return len(self._numbers) if self._most > 0 else -1
        number = next(iter(self._spare), -1)
        if number >= 0:
            del self._numbers[self._spare.pop(number)]
            self._made.discard(number)
            self._waiting.pop(number, None)
            self._lengths[number] = np.inf
        return number

    def warm_up(self) -> None:
        """Compile or load what computes fields."""
        x0, y0, x1, y1 = self.map.spec.bounds
        self.map.field((0.5 * (x0 + x1), 0.5 * (y0 + y1)), 2.0 * self.map.spec.cell)

    def fill(self, most: int) -> list[int]:
        """Compute a number of the fields that wait, in their order, and return their numbers."""
        done = list(itertools.islice(self._waiting, most))
        for number in done:
            self._lengths[number] = self.map.field(self._waiting.pop(number), 2.0 * self.map.spec.cell).lengths
        self._made.update(done)
        return done

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs besides `lengths`, as plain values."""
        return {
            "cells": [[*key, number] for key, number in self._numbers.items()],
            "waiting": [[number, x, y] for number, (x, y) in self._waiting.items()],
            "made": sorted(self._made),
            "spare": list(self._spare),
        }

    @property
    def lengths(self) -> Lengths:
        """The fields: length of the route to each goal from each cell [m]; (R, rows, columns)."""
        return self._lengths

    def restore(self, state: Mapping[str, Any], lengths: Lengths) -> None:
        """Restore the goals of an earlier book, in the same world.

        Raises:
            ValueError: if the values cannot be those of such a book.
        """
        rows, columns = self.map.spec.shape
        count = len(state["cells"])
        if lengths.shape[1:] != (rows, columns) or not count <= len(lengths) <= max(self._most, count):
            raise ValueError(f"route fields of shape {lengths.shape} in a world of {rows} by {columns} cells")
        if count > self._most and count > 0:
            raise ValueError(f"{count} route fields; there is memory for {self._most}")
        if np.isnan(lengths).any() or (lengths < 0.0).any():
            raise ValueError("route fields with lengths that are no lengths")
        self._numbers = {(int(row), int(column)): int(number) for row, column, number in state["cells"]}
        if sorted(self._numbers.values()) != list(range(count)):
            raise ValueError("route fields that are not numbered one after another")
        keys = {number: key for key, number in self._numbers.items()}
        spare = [counted(number, count - 1, "route fields") for number in state.get("spare", ())]
        self._spare = {number: keys[number] for number in spare}
        self._waiting = {
            counted(number, count - 1, "route fields"): (float(x), float(y)) for number, x, y in state["waiting"]
        }
        if not all(math.isfinite(v) for goal in self._waiting.values() for v in goal):
            raise ValueError("route fields to goals that are not finite")
        self._made = {counted(number, count - 1, "route fields") for number in state["made"]}
        self._lengths = np.array(lengths)
        self._hold(len(self._lengths))

    def _hold(self, count: int) -> None:
        if count > len(self._lengths):
            lengths = np.full((count, *self._lengths.shape[1:]), np.inf, np.float32)
            lengths[: len(self._lengths)] = self._lengths
            self._lengths = lengths
        self.handle = ArrayHandle(RouteArrays(self._lengths, self._place))
