"""Checks of what a crowd is given: tables of numbers for people, and goals where somebody can stand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import CrowdError
from gaitway.crowd.dynamics.walls import Walls


def walls_of_goals(walls: Walls, areas: FloatArray) -> IntArray:
    """Return the numbers of goals (N, 4) that are points in walls or out of bounds."""
    middles = 0.5 * (areas[:, :2] + areas[:, 2:])
    point = (areas[:, 2:] - areas[:, :2]).max(axis=1, initial=0.0) < 0.5
    x0, y0, x1, y1 = walls.bounds
    outside = (areas[:, 2] < x0) | (areas[:, 0] > x1) | (areas[:, 3] < y0) | (areas[:, 1] > y1)
    return np.flatnonzero(outside | (point & (walls.depths(middles) < 0.0)))


def table_of(value: npt.ArrayLike, name: str, rows: int | None, columns: int) -> FloatArray:
    """Return numbers of people as a table, or complain of the first that is not finite."""
    try:
        table = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise CrowdError(f"{name} of people must be numbers in metres") from None
    if table.ndim == 1 and table.size == columns:
        table = table[None] if rows is None else np.tile(table, (rows, 1))
    if table.ndim != 2 or table.shape[1] != columns or (rows is not None and len(table) != rows):
        raise CrowdError(
            f"{name} of people have shape {table.shape}; write ({'N' if rows is None else rows}, {columns})"
        )
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(bad):
        raise CrowdError(f"{name} of person {int(bad[0])} are {table[bad[0]].tolist()}; write finite numbers in metres")
    return table


def areas_of(goals: npt.ArrayLike, count: int) -> FloatArray:
    """Return goals as areas; (N, 4)."""
    shape = np.shape(goals)
    if shape and shape[-1] == 4:
        areas = table_of(goals, "goals", count, 4)
        bad = np.flatnonzero((areas[:, 2:] < areas[:, :2]).any(axis=1))
        if len(bad):
            raise CrowdError(
                f"goal of person {int(bad[0])} is {areas[bad[0]].tolist()}; write xmin, ymin, xmax, ymax in metres"
            )
        return areas
    points = table_of(goals, "goals", count, 2)
    return np.concatenate([points, points], axis=1)


def row_of(value: npt.ArrayLike, name: str, count: int, low: float, high: float) -> FloatArray:
    """Return one number for each person, within bounds."""
    given = np.array(value, dtype=np.float64)
    row = np.full(count, float(given)) if given.ndim == 0 else given.reshape(-1)
    if len(row) != count:
        raise CrowdError(f"{name} of {len(row)} people for {count}; write one number for each")
    bad = np.flatnonzero(~((row >= low) & (row <= high)))
    if len(bad):
        raise CrowdError(f"{name} of person {int(bad[0])} is {row[bad[0]]}; write a number from {low:g} to {high:g}")
    return row
