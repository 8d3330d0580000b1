"""Ways to far goals for many live characters: a field of distances for each goal, as many as memory is given for."""

from __future__ import annotations

import math

import numpy as np

from gaitway.arrays import FloatArray, IntArray, read_only
from gaitway.behavior._held import Held
from gaitway.behavior.fields import WorldFields
from gaitway.behavior.routes import RouteMap
from gaitway.tree.live._subgoal_kernels import RouteArrays

FINEST, COARSEST = 0.2, 0.7
"""Sides of the cells of a field in small worlds and in large ones [m]; the thesis took 0.7."""
CELLS = 200_000
"""How many are enough."""
BYTES = 256_000_000
"""Memory for fields."""
_ROOM = 0.3
"""Ways keep so far from things [m]."""


class RouteBook:
    """Fields by goal. This class is **mutable**.

    Characters that go to the same place share one: a thousand of them through ten gates need ten. Where nothing stands
    in the world there are none, and where there are more goals than fit into memory those who come last have none: they
    go straight on, and around what the tree sees.
    """

    def __init__(self, fields: WorldFields, most_bytes: int = BYTES) -> None:
        """No goals yet.

        Args:
            fields: the world.
            most_bytes: memory for fields.
        """
        x0, y0, x1, y1 = fields.world.bounds
        cell = min(max(math.sqrt((x1 - x0) * (y1 - y0) / CELLS), FINEST), COARSEST)
        self._map = RouteMap.of(fields, _ROOM, cell)
        spec = self._map.spec
        rows, columns = spec.shape
        self._most = most_bytes // (4 * rows * columns) if fields.world.obstacles else 0
        self._numbers: dict[tuple[int, int], int] = {}
        self._lengths = np.empty((0, rows, columns), np.float32)
        self._place = read_only(np.array([*spec.origin, 1.0 / spec.cell]))
        self._hold(0)

    @property
    def nbytes(self) -> int:
        """Memory of the fields."""
        return int(self._lengths.nbytes)

    def numbers(self, goals: FloatArray) -> IntArray:
        """The field for each of some goals (N, 2) [m], or -1; new ones are made (some milliseconds each)."""
        cells = self._map.spec.cells(goals)
        out = np.full(len(goals), -1)
        for k, (key, goal) in enumerate(zip(map(tuple, cells.tolist()), goals.tolist(), strict=True)):
            if key not in self._numbers and len(self._numbers) < self._most:
                self._add(key, (goal[0], goal[1]))
            out[k] = self._numbers.get(key, -1)
        return out

    def _add(self, key: tuple[int, int], goal: tuple[float, float]) -> None:
        number = len(self._numbers)
        if number == len(self._lengths):
            self._hold(min(max(2 * number, 4), self._most))
        self._lengths[number] = self._map.field(goal, 2.0 * self._map.spec.cell).lengths
        self._numbers[key] = number

    def _hold(self, count: int) -> None:
        lengths = np.full((count, *self._lengths.shape[1:]), np.inf, np.float32)
        lengths[: len(self._lengths)] = self._lengths
        self._lengths = lengths
        self.held = Held(RouteArrays(lengths, self._place))
