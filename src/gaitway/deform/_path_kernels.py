"""Compiled loops that deform a path by its responses to pins. Points of the plane are complex numbers x + iy [m]."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, ComplexArray, FloatArray, IntArray
from gaitway.core.jit import kernel

FEWEST = 5
"""Number of frames over which stretch is measured."""
_SINGULAR = 1e-9
"""Share of its own response below which a pin is moved by others alone: it says the same as they do, or contradicts."""


@kernel
def write_responses(system: ComplexArray, held: ComplexArray, out: ComplexArray) -> None:
    """Write how all frames answer to a pull at any of them, with the least squares of a system.

    The normal matrix has few entries beside its diagonal, so only those within its envelope are touched.

    Args:
        system: rows of the least squares; (R, F).
        held: the motions that are allowed, as columns; (F, M).
        out: the responses: held (rows^H rows)^-1 held^H with rows = system held; (F, F).
    """
    count, n, m = len(system), held.shape[0], held.shape[1]
    square, row = np.zeros((m, m), np.complex128), np.zeros(m, np.complex128)
    for k in range(count):
        row[:] = 0.0
        for i in range(n):
            if system[k, i] != 0.0:
                for a in range(m):
                    row[a] += system[k, i] * held[i, a]
        for a in range(m):
            if row[a] != 0.0:
                for b in range(a + 1):
                    square[a, b] += row[a].conjugate() * row[b]
    mean, first = 0.0, np.zeros(m, np.int64)
    for a in range(m):
        mean += abs(square[a, a]) / m
        while square[a, first[a]] == 0.0 and first[a] < a:
            first[a] += 1
    # a path that may bend freely somewhere has a singular system; so little stiffness is never noticed
    for a in range(m):
        square[a, a] += 1e-12 * max(mean, 1e-300)
        for b in range(first[a], a + 1):
            s = square[a, b]
            for c in range(max(first[a], first[b]), b):
                s -= square[a, c] * square[b, c].conjugate()
            square[a, b] = np.sqrt(s.real) if a == b else s / square[b, b]
    for j in range(n):
        for a in range(m):
            s = held[j, a].conjugate()
            for c in range(first[a], a):
                s -= square[a, c] * row[c]
            row[a] = s / square[a, a]
        for a in range(m - 1, -1, -1):
            row[a] /= square[a, a]
            for c in range(first[a], a):
                row[c] -= square[a, c].conjugate() * row[a]
        for i in range(j + 1):
            s = 0.0j
            for a in range(m):
                s += held[i, a] * row[a]
            out[i, j] = s
            out[j, i] = s.conjugate()


@kernel(inner=True, shared=True, borrows=True)
def _factor(responses: ComplexArray, frames: IntArray, count: int, lower: ComplexArray, kept: BoolArray) -> None:
    """Write the Cholesky factor of the responses of pins to one another; a pin that depends on others is left out."""
    for a in range(count):
        fa = frames[a]
        for b in range(a):
            s = responses[frames[b], fa].conjugate()
            for c in range(b):
                s -= lower[a, c] * lower[b, c].conjugate()
            lower[a, b] = s / lower[b, b] if kept[b] else 0.0j
        own = responses[fa, fa].real
        left = own
        for c in range(a):
            x = lower[a, c]
            left -= x.real * x.real + x.imag * x.imag
        kept[a] = left > _SINGULAR * own and left > 0.0
        lower[a, a] = np.sqrt(left) if kept[a] else 1.0


@kernel(inner=True, shared=True, borrows=True)
def _respond(
    responses: ComplexArray, frames: IntArray, places: ComplexArray, count: int, lower: ComplexArray, kept: BoolArray,
    force: ComplexArray, path: ComplexArray,
) -> None:  # fmt: skip
    """Move a path by the least effort so that it meets its pins: the augmented system by its Schur complement."""
    _factor(responses, frames, count, lower, kept)
    for a in range(count):
        s = places[a] - path[frames[a]]
        for c in range(a):
            s -= lower[a, c] * force[c]
        force[a] = s / lower[a, a] if kept[a] else 0.0j
    for a in range(count - 1, -1, -1):
        s = force[a]
        for c in range(a + 1, count):
            s -= lower[c, a].conjugate() * force[c]
        force[a] = s / lower[a, a] if kept[a] else 0.0j
    for a in range(count):
        if kept[a]:
            row = responses[frames[a]]
            f = force[a]
            for i in range(len(path)):
                path[i] += row[i].conjugate() * f


@kernel(inner=True, shared=True, borrows=True)
def _respond_evenly(
    responses: FloatArray, frames: IntArray, places: ComplexArray, count: int, lower: FloatArray, kept: BoolArray,
    force: ComplexArray, path: ComplexArray,
) -> None:  # fmt: skip
    """As `_respond`, with responses that are the same in all directions."""
    for a in range(count):
        fa = frames[a]
        for b in range(a):
            s = responses[frames[b], fa]
            for c in range(b):
                s -= lower[a, c] * lower[b, c]
            lower[a, b] = s / lower[b, b] if kept[b] else 0.0
        own = responses[fa, fa]
        left = own
        for c in range(a):
            left -= lower[a, c] * lower[a, c]
        kept[a] = left > _SINGULAR * own and left > 0.0
        lower[a, a] = np.sqrt(left) if kept[a] else 1.0
    for a in range(count):
        z = places[a] - path[frames[a]]
        for c in range(a):
            z -= lower[a, c] * force[c]
        force[a] = z / lower[a, a] if kept[a] else 0.0j
    for a in range(count - 1, -1, -1):
        z = force[a]
        for c in range(a + 1, count):
            z -= lower[c, a] * force[c]
        force[a] = z / lower[a, a] if kept[a] else 0.0j
    for a in range(count):
        if kept[a]:
            row = responses[frames[a]]
            x, y = force[a].real, force[a].imag
            for i in range(len(path)):
                path[i] += complex(row[i] * x, row[i] * y)


@kernel(inner=True, shared=True, borrows=True)
def deform_path(
    path: ComplexArray, lengths: FloatArray, shape: ComplexArray, scale: FloatArray, frames: IntArray,
    places: ComplexArray, count: int, out: ComplexArray, lower: ComplexArray, lower_even: FloatArray,
    force: ComplexArray, kept: BoolArray,
) -> None:  # fmt: skip
    """Deform a path in two steps (equations 1 to 4): keep its shape, then its lengths.

    Args:
        path: the path; (F,).
        lengths: lengths of its edges [m]; (F - 1,).
        shape: responses of the first step; (F, F).
        scale: responses of the second step; (F, F).
        frames: frames of the pins; (P,) or more.
        places: places of the pins; as many.
        count: number of pins.
        out: the deformed path; (F,).
        lower: memory; (P, P).
        lower_even: memory; (P, P).
        force: memory; (P,).
        kept: which pins the second step could meet by itself; (P,).
    """
    n = len(path)
    for i in range(n):
        out[i] = path[i]
    _respond(shape, frames, places, count, lower, kept, force, out)
    before, x, y = out[0], path[0].real, path[0].imag
    out[0] = path[0]
    for i in range(n - 1):  # each edge has the direction that the first step gave it, and the length that it had
        after = out[i + 1]
        ex, ey = after.real - before.real, after.imag - before.imag
        long = np.sqrt(ex * ex + ey * ey)
        if long < 1e-12:
            e = path[i + 1] - path[i]
            ex, ey, long = e.real, e.imag, max(lengths[i], 1e-12)
        share = lengths[i] / long
        x += share * ex
        y += share * ey
        out[i + 1] = complex(x, y)
        before = after
    _respond_evenly(scale, frames, places, count, lower_even, kept, force, out)


@kernel
def deformed(
    path: ComplexArray, lengths: FloatArray, shape: ComplexArray, scale: FloatArray, frames: IntArray,
    places: ComplexArray, out: ComplexArray,
) -> None:  # fmt: skip
    """Write the deformed path; arguments as `deform_path`."""
    count = len(frames)
    lower, even = np.empty((count, count), np.complex128), np.empty((count, count))
    force, kept = np.empty(count, np.complex128), np.empty(count, np.bool_)
    deform_path(path, lengths, shape, scale, frames, places, count, out, lower, even, force, kept)


@kernel(inner=True, shared=True, borrows=True)
def turn_of(path: ComplexArray, deformed: ComplexArray, i: int) -> complex:
    """Return how far a deformed path is turned against the original one in a frame, as a complex number of length 1."""
    n = len(path)
    a, b = max(i - 1, 0), min(i + 1, n - 1)
    z = (deformed[b] - deformed[a]) * (path[b] - path[a]).conjugate()
    size = np.sqrt(z.real * z.real + z.imag * z.imag)
    if size < 1e-12:
        return complex(1.0, 0.0)
    return complex(z.real / size, z.imag / size)


@kernel(inner=True, shared=True, borrows=True)
def strain(path: ComplexArray, deformed: ComplexArray, fewest: int, out: FloatArray) -> None:
    """Write least and greatest stretch over `fewest` frames, and the greatest bend from frame to frame [rad]; (3,)."""
    n = len(path)
    low, high, bend = 1e9, 0.0, 0.0
    for i in range(n - fewest):
        o, d = path[i + fewest] - path[i], deformed[i + fewest] - deformed[i]
        before = np.sqrt(o.real * o.real + o.imag * o.imag)
        if before > 1e-3:
            s = np.sqrt(d.real * d.real + d.imag * d.imag) / before
            low, high = min(low, s), max(high, s)
    last = turn_of(path, deformed, 0)
    for i in range(1, n):
        now = turn_of(path, deformed, i)
        z = now * last.conjugate()
        bend = max(bend, abs(np.arctan2(z.imag, z.real)))
        last = now
    out[0], out[1], out[2] = (1.0 if high == 0.0 else low), (1.0 if high == 0.0 else high), bend


@kernel
def strain_of(path: ComplexArray, deformed: ComplexArray, fewest: int, out: FloatArray) -> None:
    """Write `strain`."""
    strain(path, deformed, fewest, out)
