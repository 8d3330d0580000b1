"""Elastic paths: the path of a fragment as a string that is deformed as rigidly as its pins allow.

The two steps of planar editing (Choi et al. 2011, equations 1 to 4) are quadratic in the path, and their pins are hard
constraints. What pins do is known before they are: the response of every frame to a pull at any other one. These
responses are computed once for a fragment. Pins then only ask for a system as small as their number, and may change
their frames as well as their places. Rigid spans and flights are met exactly, since the responses know no other motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gaitway.core.arrays import ComplexArray, FloatArray, IntArray, read_only
from gaitway.core.errors import GaitwayError
from gaitway.deform import _path_kernels
from gaitway.deform.constraints import MotionLimits, Pin, Span

_SMOOTH = 4.0
"""Weight of the second differences of what the second step adds; without them pins leave kinks."""
_FAINT = 0.02
"""Least weight of a frame in the first step, as a share of the mean; where the path stands almost still."""
_SHORTEST = 1e-6
"""Length below which a chord has no direction [m]."""
_MET = 1e-6
"""Greatest distance of a path from a pin that it meets [m]."""
LEAST_LENGTH = 0.05
"""Least distance between the ends of a path that can be deformed [m]."""


@dataclass(frozen=True, eq=False)
class DeformedPath:
    """A path that was deformed."""

    points: ComplexArray
    """x + iy in every frame [m]; (F,)."""
    turns: FloatArray
    """How far it is turned against the path before, not wrapped [rad]; (F,)."""
    stretch: tuple[float, float]
    """Least and greatest factor on the length of five frames."""
    bend: float
    """Greatest bend that was added [rad/s]."""
    missed: tuple[Pin, ...] = ()
    """Pins that contradict the others, or the start; the path meets all but these."""


@dataclass(frozen=True, eq=False)
class ElasticPath:
    """The path of a fragment, with its responses to pulls; its first two points stay where they are."""

    points: ComplexArray
    """x + iy in every frame [m]; (F,)."""
    fps: float
    limits: MotionLimits = field(default_factory=MotionLimits)
    bends: FloatArray | None = None
    """How much each inner frame resists bending, against the usual resistance; (F - 2,); None for 1."""
    stretches: FloatArray | None = None
    """How much each edge resists stretching; (F - 1,); None for 1."""

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.complex128)
        if points.ndim != 1 or len(points) < 3 or not np.isfinite(points).all():
            raise GaitwayError(f"a path of shape {points.shape} cannot be deformed; write three finite points or more")
        if abs(points[-1] - points[0]) < LEAST_LENGTH:
            raise GaitwayError(
                f"a path whose ends are {abs(points[-1] - points[0]):.3g} m apart cannot be deformed; play it as it is"
            )
        spans = (*self.limits.rigid, *self.limits.flight)
        if any(stop >= len(points) or first < 0 for first, stop in spans):
            raise GaitwayError(f"spans {spans} lie beyond the {len(points)} frames of the path")
        points.setflags(write=False)
        object.__setattr__(self, "points", points)

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def lengths(self) -> FloatArray:
        """Lengths of the edges [m]; (F - 1,)."""
        return read_only(np.abs(np.diff(self.points)))

    @cached_property
    def shape(self) -> ComplexArray:
        """Responses of the first step, which keeps the shape: how frames move by a pull at another; (F, F)."""
        p, n = self.points, len(self.points)
        chord = p[2:] - p[:-2]
        chord = np.where(np.abs(chord) < _SHORTEST, _SHORTEST, chord)
        share = (p[1:-1] - p[:-2]) / chord  # does not change when the path is moved, turned and scaled
        weight = np.maximum(np.abs(chord) / np.abs(chord).mean(), _FAINT)
        weight *= 1.0 if self.bends is None else np.asarray(self.bends, dtype=np.float64)
        rows, system = np.arange(n - 2), np.zeros((n - 2, n), dtype=np.complex128)
        system[rows, rows], system[rows, rows + 1], system[rows, rows + 2] = (
            -weight * (1 - share),
            weight,
            -weight * share,
        )
        spans = [
            span for span in (*self.limits.rigid, *self.limits.flight) if abs(p[span[1]] - p[span[0]]) > LEAST_LENGTH
        ]
        return _responses(system, _similar(p, spans))

    @cached_property
    def scale(self) -> FloatArray:
        """Responses of the second step, which keeps the lengths; (F, F)."""
        n, p = len(self.points), self.points
        stiff = np.ones(n - 1) if self.stretches is None else np.asarray(self.stretches, dtype=np.float64)
        first, second = np.diff(np.eye(n), axis=0), np.diff(np.eye(n), 2, axis=0)
        system = np.vstack([np.sqrt(stiff)[:, None] * first, np.sqrt(_SMOOTH) * second])
        return read_only(_responses(system, _moved_alike(p, self.limits.rigid, self.limits.flight)).real.copy())

    def deform(self, pins: Sequence[Pin]) -> DeformedPath:
        """Deform the path so that it meets pins, in the frame of its own points.

        Raises:
            GaitwayError: if a pin has a frame that there is not.
        """
        for pin in pins:
            if not 0 <= pin.frame < len(self):
                raise GaitwayError(f"pin in frame {pin.frame}; the path has frames 0 to {len(self) - 1}")
        frames, places = self.plain(pins)
        return self.finished(self.solve(frames, places), pins)

    def solve(self, frames: IntArray, places: ComplexArray) -> ComplexArray:
        """Return the deformed points (F,) alone, for frames and places (x + iy) of pins (P,)."""
        out = np.empty(len(self), dtype=np.complex128)
        _path_kernels.deformed(self.points, self.lengths, self.shape, self.scale, frames, places, out)
        return out

    def finished(self, points: ComplexArray, pins: Sequence[Pin] = ()) -> DeformedPath:
        """Return deformed points (F,) with what was done to the path."""
        found = np.empty(3)
        _path_kernels.strain_of(self.points, points, min(_path_kernels.FEWEST, len(self) - 1), found)
        frames, places = self.plain(pins)
        away = np.abs(points[frames] - places) > _MET
        owners = [k for k, pin in enumerate(pins) for _ in range(1 if pin.turn is None else 2)]
        missed = dict.fromkeys(owner for owner, far in zip(owners, away.tolist(), strict=True) if far)
        return DeformedPath(
            points, turns(self.points, points), (float(found[0]), float(found[1])), float(found[2]) * self.fps,
            tuple(pins[k] for k in missed),
        )  # fmt: skip

    def plain(self, pins: Sequence[Pin]) -> tuple[IntArray, ComplexArray]:
        """Return frames and places of pins; a direction is the place of the next frame, or of the one before it."""
        frames, places = [], []
        for pin in pins:
            here = complex(*pin.place)
            frames.append(pin.frame)
            places.append(here)
            if pin.turn is not None:
                other = pin.frame + 1 if pin.frame + 1 < len(self) else pin.frame - 1
                frames.append(other)
                places.append(here + (self.points[other] - self.points[pin.frame]) * np.exp(1j * pin.turn))
        return np.array(frames, dtype=np.int64), np.array(places, dtype=np.complex128)


def turns(before: ComplexArray, after: ComplexArray) -> FloatArray:
    """Return how far a path is turned against another in every frame, not wrapped [rad]; (F,)."""
    i = np.arange(len(before))
    a, b = np.maximum(i - 1, 0), np.minimum(i + 1, len(before) - 1)
    return np.unwrap(np.angle((after[b] - after[a]) * np.conj(before[b] - before[a])))


def raised(
    path: ElasticPath, heights: FloatArray, frames: Sequence[int], ahead: Sequence[float], up: Sequence[float],
    limits: MotionLimits | None = None,
) -> tuple[ComplexArray, FloatArray]:  # fmt: skip
    """Deform a path in the sheet that stands on it (equations 5 and 6): the second, vertical phase.

    In flight only a linear function of time is added to heights, so that gravity stays as it is.

    Args:
        path: the path on the ground, deformed already.
        heights: height of the root in every frame [m]; (F,).
        frames: frames of pins.
        ahead: how far each is moved along the path [m].
        up: how far each is raised [m].
        limits: rigid spans and flights; None takes those of the path.

    Returns:
        New points on the ground (F,) and heights [m] (F,).
    """
    along = np.concatenate([[0.0], np.cumsum(path.lengths)])
    sheet = ElasticPath(
        along + 1j * heights, path.fps, MotionLimits(rigid=(path.limits if limits is None else limits).rigid)
    )
    pins = [Pin(f, (along[f] + a, heights[f] + u)) for f, a, u in zip(frames, ahead, up, strict=True)]
    found = sheet.deform(pins).points
    flown = found.imag - heights
    for first, stop in (path.limits if limits is None else limits).flight:
        flown[first : stop + 1] = np.linspace(flown[first], flown[stop], stop - first + 1)
    places = np.interp(found.real, along, path.points.real) + 1j * np.interp(found.real, along, path.points.imag)
    over = np.maximum(found.real - along[-1], 0.0)
    end = path.points[-1] - path.points[-2]
    return places + over * end / max(abs(end), _SHORTEST), heights + flown


def _similar(p: ComplexArray, spans: Sequence[Span]) -> ComplexArray:
    """Return the motions of a path in which spans are only moved, turned and scaled; (F, unknowns)."""
    return _free(len(p), spans, lambda a, b: np.stack([1 - (s := (p[a : b + 1] - p[a]) / (p[b] - p[a])), s], axis=1))


def _moved_alike(p: ComplexArray, rigid: Sequence[Span], flight: Sequence[Span]) -> ComplexArray:
    """Return the motions in which rigid spans move as one, and flights are stretched evenly; (F, unknowns)."""
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(p)))])

    def basis(a: int, b: int) -> npt.NDArray[np.float64]:
        if (a, b) in rigid:
            return np.ones((b - a + 1, 1))
        share = (way[a : b + 1] - way[a]) / max(way[b] - way[a], _SHORTEST)
        return np.stack([1.0 - share, share], axis=1)

    return _free(len(p), (*rigid, *flight), basis)


def _free(n: int, spans: Sequence[Span], basis: Callable[[int, int], npt.NDArray[np.inexact[Any]]]) -> ComplexArray:
    """Return one column for each frame outside spans, and the columns of a basis for each span; (n, unknowns)."""
    starts, columns, frame = dict(spans), [], 0
    while frame < n:
        stop = starts.get(frame, frame)
        part = np.ones((1, 1)) if stop == frame else basis(frame, stop)
        for k in range(part.shape[1]):
            column = np.zeros(n, dtype=np.complex128)
            column[frame : stop + 1] = part[:, k]
            columns.append(column)
        frame = stop + 1
    return np.stack(columns, axis=1)


def _responses(system: ComplexArray | FloatArray, motions: ComplexArray) -> ComplexArray:
    """Return how all frames answer to pulls, the first two held, with the least squares of a system; (F, F)."""
    n = system.shape[1]
    out = np.empty((n, n), dtype=np.complex128)
    _path_kernels.write_responses(
        np.ascontiguousarray(system, dtype=np.complex128), np.ascontiguousarray(_held(motions)), out
    )
    return read_only(out)


def _held(motions: ComplexArray) -> ComplexArray:
    """Return the motions that leave the first two frames where they are; (F, unknowns)."""
    moving = np.abs(motions[:2]).max(axis=0) > 0.0
    if np.linalg.matrix_rank(motions[:2]) == moving.sum():  # the usual case: each held unknown is a column of its own
        return motions[:, ~moving]
    return np.asarray(motions @ scipy.linalg.null_space(motions[:2]))
