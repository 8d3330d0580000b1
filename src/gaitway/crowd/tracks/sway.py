"""Head sway: tracked heads swing from side to side with every stride, and the body's path does not.

In a window of two strides, a path is a parabola and the harmonics of the stride, fitted together by weighted least
squares. Seen across the parabolas, the sway is a plain oscillation, in turns too: what is left there is fitted once
more, and the harmonics are the sway. To and fro, heads swing twice a stride; a window of one stride tells that from a
stop. Strides follow from the speed; of the frequencies near that, the one counts that explains most nearby. A plain
low-pass that removes as much cuts corners by several centimetres, and drags stops out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.ndimage import convolve1d

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.crowd.trajectories import Trajectories

STRIDES = tuple(float(f) for f in np.geomspace(0.45, 1.4, 14))
"""Strides a second that are tried [Hz], from a shuffle in a jam to a run."""
MOST_SWAY = 0.1
"""Greatest distance from the head to the path without sway [m]."""
_SLOWEST = 5.0
"""Lowest rate at which sway can be told from the path [Hz]."""
_ENOUGH = 30.0
"""Rate that suffices to see sway [Hz]; of twice that, every second frame is looked at."""
_SMOOTH = 0.8
"""Width of the first, strong smoothing [s], which keeps parabolas and leaves a tenth of the slowest sway."""
_SEEN = 1.6
"""Time to either side of a moment in which the frequency is looked for [s]."""
_NODE = 0.25
"""Time between choices of the frequency [s]."""
_THINNED = 8.0
"""Rate that suffices for choices [Hz]."""
_STANDING, _FASTER = 0.35, 0.42
"""Strides a second of people who hardly move [Hz], and how many more with speed [1/m]: 0.9 Hz at 1.3 m/s."""
_ODD = 0.25
"""How far strides may be from those of that speed; a logarithm."""
_DOUBT = 3e-4
"""What strides unlike those of the speed must explain, by the square of how far they are from them [m^2]."""
_CALM = 1.0
"""Time to either side over which what is left unexplained is averaged for a choice [s]."""
_MOST_BOB = 0.03
"""Greatest sway to and fro [m]."""


@dataclass(frozen=True, eq=False)
class _StrideFilter:
    """Linear filters for one frequency of the stride."""

    half: int
    """Frames to either side of the middle of a window."""
    filters: FloatArray
    """Weights of a window's frames for the parabola at each of its frames; (L, L)."""


def without_sway(trajectories: Trajectories) -> Trajectories:
    """Return trajectories of bodies for those of heads.

    Below 5 Hz, and for people who are seen for less than 1.5 s, nothing changes. Nobody is moved by more than 0.1 m.
    """
    if trajectories.fps < _SLOWEST:
        return trajectories
    step = max(1, int(trajectories.fps // _ENOUGH))
    fps = trajectories.fps / step
    bank, bobs = _banks(fps)
    out = trajectories.positions.copy()
    stops = np.cumsum(trajectories.lengths)
    for first, last in zip(stops - trajectories.lengths, stops, strict=True):
        seen = out[first:last:step]
        moved = _calmed(seen, bank, bobs, fps) - seen
        rows = np.arange(last - first) / step
        out[first:last] += np.column_stack([np.interp(rows, np.arange(len(seen)), axis) for axis in moved.T])
    return replace(trajectories, positions=out)


@lru_cache(maxsize=4)
def _banks(fps: float) -> tuple[list[_StrideFilter], list[_StrideFilter]]:
    """Return the filters from side to side and to and fro for all strides."""
    bank = [_stride_filter(stride, fps) for stride in STRIDES]
    return bank, [_stride_filter(stride, fps, 1.0, (2,)) for stride in STRIDES]


def _stride_filter(
    stride: float, fps: float, strides: float = 2.0, harmonics: tuple[int, ...] = (1, 2)
) -> _StrideFilter:
    """Return the filters for windows of so many strides, with these harmonics beside the parabola."""
    half = round(0.5 * strides * fps / stride)
    places = np.arange(2 * half + 1)
    filters = np.empty((len(places), len(places)))
    for middle in places:
        reach = max(middle, 2 * half - middle) + 1
        design = _design((places - middle) / fps, stride, fps, harmonics)
        weight = 0.5 + 0.5 * np.cos(np.pi * (places - middle) / reach)
        filters[middle] = np.linalg.solve(design.T @ (weight[:, None] * design), design.T * weight)[0]
    return _StrideFilter(half, filters)


def _design(times: FloatArray, stride: float, fps: float, harmonics: tuple[int, ...]) -> FloatArray:
    """Return what a path is made of, in a window: a parabola, and as many harmonics as the rate can tell; (L, B)."""
    scaled = times * stride
    columns = [np.ones_like(times), scaled, scaled**2]
    for harmonic in harmonics:
        if harmonic * stride * 3.0 <= fps:
            angle = 2.0 * np.pi * harmonic * scaled
            columns += [np.cos(angle), np.sin(angle)]
    return np.column_stack(columns)


def _calmed(path: FloatArray, bank: list[_StrideFilter], bobs: list[_StrideFilter], fps: float) -> FloatArray:
    """Return the path of a body, given that of its head [m]; (F, 2)."""
    fitting = [number for number, one in enumerate(bank) if 2 * one.half + 1 <= len(path)]
    if not fitting:
        return path
    filters = [bank[number] for number in fitting]
    nodes = np.arange(0, len(path) + round(_NODE * fps), max(1, round(_NODE * fps)))
    speeds = np.linalg.norm(np.gradient(_smoothed(path, fps), axis=0), axis=1)[np.minimum(nodes, len(path) - 1)] * fps
    expected = np.clip(_STANDING + _FASTER * speeds, STRIDES[0], STRIDES[-1])
    odd = np.abs(np.log(np.array([STRIDES[number] for number in fitting])[:, None] / expected))
    calm = _kept(path, filters, np.argmin(np.round(odd, 9), axis=0), nodes)
    across = ((path - calm) * _sideways(calm)).sum(axis=1)
    chosen = _choices(across, fitting, nodes, odd, fps)
    calm = _kept(path, filters, chosen, nodes)
    side = _sideways(calm)
    across = ((path - calm) * side).sum(axis=1)
    sway = across - _kept(across[:, None], filters, chosen, nodes)[:, 0]
    ahead = side[:, ::-1] * np.array([1.0, -1.0])
    bob = ((path - _kept(path, [bobs[number] for number in fitting], chosen, nodes)) * ahead).sum(axis=1)
    away = -sway[:, None] * side - np.clip(bob, -_MOST_BOB, _MOST_BOB)[:, None] * ahead
    far = np.linalg.norm(away, axis=1, keepdims=True)
    out: FloatArray = path + away * np.minimum(1.0, MOST_SWAY / np.maximum(far, 1e-9))
    return out


def _smoothed(path: FloatArray, fps: float) -> FloatArray:
    """Return a path without anything quick: a Gaussian that keeps parabolas."""
    reach = round(4.0 * _SMOOTH * fps)
    scaled = np.arange(-reach, reach + 1) / (_SMOOTH * fps)
    kernel = (1.5 - 0.5 * scaled**2) * np.exp(-0.5 * scaled**2)
    kernel /= kernel.sum()
    count = min(reach, len(path) - 1)  # beyond its ends a path goes on as it came, mirrored at them
    first, last = _end(path, fps), _end(path[::-1], fps)
    longer = np.concatenate([2.0 * first - path[count:0:-1], path, 2.0 * last - path[-2 : -count - 2 : -1]])
    out: FloatArray = convolve1d(longer, kernel, axis=0, mode="nearest")[count : count + len(path)]
    return out


def _end(path: FloatArray, fps: float) -> FloatArray:
    """Return where a path begins, sway aside: on a line through its first second."""
    some = path[: max(2, round(fps))]
    times = np.arange(len(some)) - 0.5 * (len(some) - 1)
    slope = times @ (some - some.mean(axis=0)) / (times @ times)
    out: FloatArray = some.mean(axis=0) + slope * times[0]
    return out


def _sideways(path: FloatArray) -> FloatArray:
    """Return the unit vectors to the left of a path; (F, 2)."""
    step = np.gradient(path, axis=0)
    far = np.linalg.norm(step, axis=1, keepdims=True)
    return np.where(far > 1e-9, step[:, ::-1] * np.array([-1.0, 1.0]) / np.maximum(far, 1e-9), np.array([0.0, 1.0]))


def _choices(across: FloatArray, fitting: list[int], nodes: IntArray, odd: FloatArray, fps: float) -> IntArray:
    """Return which of the fitting filters explains best what was taken from a path, around each node."""
    half = min(round(_SEEN * fps), (len(across) - 1) // 2)
    places, weights, bases = _bases(half, fps)
    windows = across[np.clip(nodes, half, len(across) - 1 - half)[:, None] + places] * weights
    whole = (windows**2).sum(axis=1)
    width = max(1, round(_CALM / _NODE))
    kernel = np.full(2 * width + 1, 1.0 / (2 * width + 1))
    left = np.empty((len(fitting), len(nodes)))
    for number, which in enumerate(fitting):
        rest = np.maximum(whole - ((windows @ bases[which]) ** 2).sum(axis=1), 0.0) / (weights**2).sum()
        left[number] = np.convolve(
            np.concatenate([np.full(width, rest[0]), rest, np.full(width, rest[-1])]), kernel, mode="valid"
        )
    left += _DOUBT * odd**2
    left = np.where(odd <= np.maximum(_ODD, odd.min(axis=0)), left, np.inf)
    # squares below a tenth of a millimetre say nothing: so rounding decides nothing
    out: IntArray = np.argmin(np.round(left, 8), axis=0)
    return out


@lru_cache(maxsize=256)
def _bases(half: int, fps: float) -> tuple[IntArray, FloatArray, list[FloatArray]]:
    """Return the frames of a window for choices, roots of their weights, and what each stride can explain."""
    step = max(1, int(fps // _THINNED))
    places = np.arange(half % step, 2 * half + 1, step) - half
    weights = np.sqrt(0.5 + 0.5 * np.cos(np.pi * places / (half + 1)))
    designs = [weights[:, None] * _design(places / fps, stride, fps, (1,)) for stride in STRIDES]
    return places, weights, [np.linalg.qr(design)[0] for design in designs]


def _kept(taken: FloatArray, bank: list[_StrideFilter], chosen: IntArray, nodes: IntArray) -> FloatArray:
    """Return what was taken from a path without the sway in it; between nodes filters fade into one another."""
    rows = np.arange(len(taken))
    left = np.searchsorted(nodes, rows, side="right") - 1
    share = (rows - nodes[left]) / (nodes[1] - nodes[0])
    out = np.zeros_like(taken)
    for number in np.unique(chosen):
        weight = np.where(chosen[left] == number, 1.0 - share, 0.0) + np.where(chosen[left + 1] == number, share, 0.0)
        used = np.flatnonzero(weight > 0.0)
        out[used] += weight[used, None] * _parabolas(taken, bank[number], used)
    return out


def _parabolas(taken: FloatArray, one: _StrideFilter, rows: IntArray) -> FloatArray:
    """Return the fitted parabolas at some rows."""
    first = np.clip(rows - one.half, 0, len(taken) - 1 - 2 * one.half)
    place = rows - first
    inner = place == one.half
    out = np.empty((len(rows), taken.shape[1]))
    for axis, values in enumerate(taken.T):
        middles = np.convolve(values, one.filters[one.half, ::-1], mode="valid")
        out[inner, axis] = middles[first[inner]]
    ends = np.flatnonzero(~inner)
    if len(ends):  # within half a window of an end, every row has a filter of its own
        windows = taken[first[ends, None] + np.arange(2 * one.half + 1)]
        out[ends] = (windows * one.filters[place[ends]][:, :, None]).sum(axis=1)
    return out
