"""Calibration of a model: gains and memory, found by trial, with which variants are as wide and as rough as takes.

The network's means react to what is drawn, so the effect of a residual of given size is not known beforehand. A few
dozen variants are drawn and compared with the takes at equal phases. Then the gain of every degree of freedom is
corrected. This is repeated several times, with the same draws each time. Streams, whose first frame is not drawn, have
gains of their own, and a memory: of several, the one with which the network's motion is as rough as that of the takes.
The gains of detail follow from the roughness with and without it. At last the root's velocities are shifted a little,
so that variants lead where takes do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gaitway.core.arrays import FloatArray, SingleArray
from gaitway.variation.network.dofs import ROOT_NAMES
from gaitway.variation.network.model import VariationModel
from gaitway.variation.network.phase import resampled
from gaitway.variation.network.spread import Drift, Variation, run_total
from gaitway.variation.network.texture import Texture, smoothed
from gaitway.variation.sampling.streaming import Stream
from gaitway.variation.sampling.synthesis import draw, end_frame

_COUNT = 24
"""Number of variants, or of cycles of streams, that are drawn each time."""
_STREAMS = 4
_ROUNDS = 5
_CAREFUL = 0.7
"""Exponent of a correction; 1 would be right if spread were proportional to gain."""
_FARTHEST = 2.0
"""Greatest factor by which a gain is corrected at a time."""
_GAINS = 0.1, 3.0
_LEAST = 0.01
"""Deviation between takes below which a column's own gain is not found, in deviations of the column."""
_MEMORIES = (0.25, 0.5, 1.0, 2.0)
"""Time constants that a stream may have, in cycles."""
_LEAST_FRAMES = 0.3
"""Deviation of lengths below which lengths count as equal; they are whole numbers [frames]."""
_FINEST = 1.5
"""Greatest gain of detail."""
_KEPT = 0.05, 1.25
"""Least and greatest share of the differences between variants in where they lead that is kept."""
Trials = Callable[[VariationModel], tuple[FloatArray, FloatArray]]


def calibrated(model: VariationModel) -> Variation:
    """Return the model's variation with gains by which variants, and streams, spread as the takes do."""
    variation = model.variation
    seed = model.options.seed
    gains = _gains(model, lambda tried: warped_variants(tried, _COUNT, np.random.default_rng(seed)))
    variation = replace(variation, gains=gains, stream_gains=gains)
    texture = _texture(replace(model, variation=variation))
    variation = replace(variation, texture=texture)
    variation = replace(variation, drift=_drift(replace(model, variation=variation)))
    if not model.cyclic:
        return variation
    found = replace(model, variation=replace(variation, memory=_memory(replace(model, variation=variation))))
    stream_gains = _gains(found, lambda tried: _stream_cycles(tried, np.random.default_rng(seed)))
    return replace(found.variation, stream_gains=stream_gains)


def _gains(model: VariationModel, trials: Trials) -> SingleArray:
    """Return gains by which sequences of `trials` spread as the takes do, in poses and in length."""
    wanted, wanted_length = _spread(warped_takes(model)), float(np.std(model.lengths, ddof=1))
    gains = np.array(model.variation.gains, dtype=np.float64)
    for _ in range(_ROUNDS):
        now = gains.astype(np.float32)
        values, lengths = trials(replace(model, variation=replace(model.variation, gains=now, stream_gains=now)))
        ratio = np.where(wanted > _LEAST, wanted / np.maximum(_spread(values), 1e-6), 1.0)
        timing = max(wanted_length, _LEAST_FRAMES) / max(float(np.std(lengths)), _LEAST_FRAMES)
        ratio = np.append(ratio, timing)
        gains = np.clip(gains * np.clip(ratio, 1.0 / _FARTHEST, _FARTHEST) ** _CAREFUL, *_GAINS)
    return gains.astype(np.float32)


def _memory(model: VariationModel) -> float:
    """Return the time constant of weights with which a stream is as rough as the takes [frames]."""
    fps = model.dofs.fps
    wanted = roughness(smoothed(take, fps, cyclic=True) for take in model.takes)
    best, chosen = np.inf, 1.0
    for cycles in _MEMORIES:
        tried = replace(model, variation=replace(model.variation, memory=cycles * model.alignment.period))
        frames = round(_COUNT * model.alignment.period)
        values, _ = Stream(tried, np.random.default_rng(model.options.seed)).next(frames)
        away = abs(float(np.median(np.log(roughness([smoothed(values, fps)]) / wanted))))
        if away < best:
            best, chosen = away, cycles
    return chosen * model.alignment.period


def _texture(model: VariationModel) -> Texture:
    """Return the model's texture, with gains by which variants are as rough as takes in every degree of freedom."""
    texture = model.variation.texture
    sizes = []
    for gain in (0.0, 1.0):
        tried = replace(texture, gains=np.full_like(texture.gains, gain))
        varied = replace(model, variation=replace(model.variation, texture=tried))
        drawn = draw(varied, np.random.default_rng(model.options.seed), _COUNT)
        ends = [end_frame(model, phases.astype(np.float64)) for phases in drawn.phases]
        sizes.append(roughness(rows[:end] for rows, end in zip(drawn.values, ends, strict=True)) ** 2)
    missing = np.maximum(roughness(model.takes) ** 2 - sizes[0], 0.0)
    gains = np.sqrt(missing / np.maximum(sizes[1] - sizes[0], 1e-12))
    return replace(texture, gains=np.clip(gains, 0.0, _FINEST).astype(np.float32))


def _drift(model: VariationModel) -> Drift:
    """Return the correction with which variants move and turn as far as takes do, on average and in their spread."""
    drawn = draw(model, np.random.default_rng(model.options.seed), _COUNT)
    runs = [rows[: end_frame(model, phases)] for rows, phases in zip(drawn.values, drawn.phases, strict=True)]
    ours, real = (np.array([run_total(rows) for rows in some]) for some in (runs, model.takes))
    keeps = np.clip(real.std(axis=0, ddof=1) / np.maximum(ours.std(axis=0, ddof=1), 1e-9), *_KEPT)
    moves = np.isin(model.dofs.names, ROOT_NAMES[:3])
    found, wanted = (np.where(moves, some.mean(axis=0), 0.0) for some in (ours, real))
    return Drift(found, wanted, np.where(moves, keeps, 1.0))


def roughness(sequences: Iterable[FloatArray]) -> FloatArray:
    """Return the root mean square of third differences of sequences (F, n); (n,)."""
    thirds = np.concatenate([np.diff(sequence, 3, axis=0) for sequence in sequences])
    out: FloatArray = np.sqrt((thirds**2).mean(axis=0)) + 1e-9
    return out


def warped_takes(model: VariationModel) -> FloatArray:
    """Return the takes at equal phases; (takes, G, n)."""
    grid = np.linspace(0.0, model.alignment.period, len(model.alignment.mean))
    return np.array(
        [resampled(take, phase, grid) for take, phase in zip(model.takes, model.alignment.phases, strict=True)]
    )


def warped_variants(model: VariationModel, count: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return variants at equal phases (count, G, n), and the number of frames of each."""
    drawn, period = draw(model, rng, count), model.alignment.period
    grid = np.linspace(0.0, period, len(model.alignment.mean))
    values, lengths = [], []
    for variant, phases in zip(drawn.values.astype(np.float64), drawn.phases.astype(np.float64), strict=True):
        end = end_frame(model, phases)
        when = np.append(phases[: end - 1], period)  # the last frame may be past the end, or in the next cycle
        values.append(resampled(variant[:end], when, grid))
        lengths.append(end)
    return np.array(values), np.array(lengths, dtype=np.float64)


def warped_cycles(model: VariationModel, rows: FloatArray, phases: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the whole cycles of a stream of scaled rows (F, n), and their lengths [frames].

    Cycles are at equal phases; (cycles, G, n).
    """
    period = model.alignment.period
    grid = np.linspace(0.0, period, len(model.alignment.mean))
    starts = np.flatnonzero(np.diff(phases) < 0.0) + 1
    whole = phases + period * np.concatenate([[0], np.cumsum(np.diff(phases) < 0.0)])
    begins = np.interp(period * np.arange(1, len(starts) + 1), whole, np.arange(len(whole)))  # between frames
    values = []
    for number, (first, after) in enumerate(pairwise(starts)):
        part = slice(first - 1, after + 1)
        values.append(resampled(rows[part], whole[part] - period * (number + 1), grid))
    return np.array(values).reshape(-1, len(grid), rows.shape[1]), np.diff(begins)


def _stream_cycles(model: VariationModel, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return cycles of several streams, and their lengths."""
    frames = round((_COUNT / _STREAMS + 2) * model.alignment.period)
    parts = [warped_cycles(model, *Stream(model, rng).next(frames)) for _ in range(_STREAMS)]
    return np.concatenate([values for values, _ in parts]), np.concatenate([lengths for _, lengths in parts])


def _spread(values: FloatArray) -> FloatArray:
    """Return the root mean square deviation between sequences at equal phases; (n,)."""
    out: FloatArray = np.sqrt(values.var(axis=0, ddof=1).mean(axis=0))
    return out
