"""The gait model: how a person's whole body moves through one cycle, as a function of speed and turn rate.

A gait (walk, jog, walk backward) is a Fourier series in the phase of the left foot's cycle. Each coefficient is a small
polynomial in speed and turn rate, fitted on captured cycles by `tools/fit_gait.py`. People differ by a few directions
of style, and one person's cycles by a few directions of wobble.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import IO

import numpy as np
import numpy.typing as npt

from gaitway.cast.curves import soft_clip
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import LibraryError

HARMONICS = 6
TERMS = 2 * HARMONICS + 1
"""Fourier terms a channel: the mean, cosines, sines."""
REGRESSORS = 6
TIMINGS = 3
"""Cycles a second, and the phases at which the left foot's stance begins and ends."""
MOST_TURN = 1.0
"""Turn rate up to which the fit holds [rad/s]; beyond it the body looks as at this rate."""
TURN_EASE = 0.5
"""How far before and beyond that rate the body stops changing with it [rad/s]. If it stopped at once, joints would
jerk in the middle of a sharp turn, the shoulders of a jog most of all."""
GAITS = ("walk", "jog", "back")


def moving_joints() -> list[int]:
    """Return the indices of the joints that carry a rotation in the model, the pelvis first."""
    return [i for i, name in enumerate(person_skeleton().names) if not name.endswith("_End")]


def fourier_basis(phase: npt.ArrayLike, harmonics: int = HARMONICS) -> FloatArray:
    """Return 1, cosines and sines at phases [cycles] (...); (..., 2 harmonics + 1)."""
    angle = 2.0 * np.pi * np.asarray(phase, dtype=np.float64)[..., None] * np.arange(1, harmonics + 1)
    return np.concatenate([np.ones((*angle.shape[:-1], 1)), np.cos(angle), np.sin(angle)], axis=-1)


def regressors(speed: npt.ArrayLike, turn: npt.ArrayLike, middle: float) -> FloatArray:
    """Return the terms 1, u, u^2, w, wu, w^2 of speed u about `middle` [m/s] and turn rate w [rad/s]; (..., 6)."""
    u = np.asarray(speed, dtype=np.float64) - middle
    w = np.broadcast_to(np.asarray(turn, dtype=np.float64), u.shape)
    return np.stack([np.ones_like(u), u, u * u, w, w * u, w * w], axis=-1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Gait:
    """Coefficients of one gait. Channels: sway x, y, height [m], then a rotation vector [rad] a moving joint."""

    middle: float
    """Speed about which the polynomials are written [m/s]."""
    slowest: float
    fastest: float
    """Speeds between which the fit holds [m/s]; beyond them the nearest is used."""
    mean: FloatArray
    """Coefficients of the mean person; (REGRESSORS, TERMS, channels)."""
    style: FloatArray
    """Directions in which people differ, one standard deviation each; (S, TERMS, channels)."""
    wobble: FloatArray
    """Directions in which one person's cycles differ; (W, TERMS, channels)."""
    timing: FloatArray
    """Coefficients of the timings of the mean person; (REGRESSORS, TIMINGS)."""
    style_timing: FloatArray
    """What each style direction adds to the timings; (S, TIMINGS)."""

    def terms(self, speed: npt.ArrayLike, turn: npt.ArrayLike) -> FloatArray:
        """Return the regressors at speeds and turn rates, held inside what was fitted; (..., REGRESSORS)."""
        held = soft_clip(turn, -MOST_TURN, MOST_TURN, TURN_EASE)
        return regressors(np.clip(speed, self.slowest, self.fastest), held, self.middle)


@dataclass(frozen=True, eq=False)
class GaitModel:
    """All gaits of the person, about one base pose."""

    base: FloatArray
    """Local rotation of each moving joint that the rotation vectors are relative to, wxyz; (22, 4)."""
    gaits: dict[str, Gait]

    @property
    def style_count(self) -> int:
        """Number of style directions."""
        return len(self.gaits["walk"].style)

    @property
    def wobble_count(self) -> int:
        """Number of wobble directions."""
        return len(self.gaits["walk"].wobble)

    @staticmethod
    def load() -> GaitModel:
        """Return the model that ships with gaitway."""
        return _packaged()

    @staticmethod
    def read(file: IO[bytes]) -> GaitModel:
        """Return a model from the npz file that `tools/fit_gait.py` writes."""
        with np.load(file, allow_pickle=False) as data:
            missing = [f"{g}_mean" for g in GAITS if f"{g}_mean" not in data]
            if missing:
                raise LibraryError(f"gait model file lacks {', '.join(missing)}; make it anew with tools/fit_gait.py")
            gaits = {name: _gait(data, name) for name in GAITS}
            return GaitModel(owned(data["base"], "base", (len(moving_joints()), 4)), gaits)

    def channels(
        self,
        gait: str,
        phase: FloatArray,
        speed: FloatArray,
        turn: FloatArray,
        style: FloatArray | None = None,
        wobble: FloatArray | None = None,
        gain: FloatArray | None = None,
    ) -> FloatArray:
        """Return the channels (F, C) of a gait at phases, speeds and turn rates (F,).

        Args:
            gait: "walk", "jog" or "back".
            phase: Phase of the left foot's cycle [cycles].
            speed: Along the heading [m/s], positive also for "back".
            turn: Turn rate [rad/s], positive to the left.
            style: Weights of the style directions; (S,).
            wobble: Weights of the wobble directions in every frame; (F, W).
            gain: Factor on what each channel does about its mean; (C,).
        """
        fit = self.gaits[gait]
        basis, terms = fourier_basis(phase), fit.terms(speed, turn)
        out = _weighted(terms, basis, fit.mean)
        if style is not None:
            out += _weighted(np.broadcast_to(style, (len(basis), len(style))), basis, fit.style)
        if gain is not None:
            mean = terms @ fit.mean[:, 0] + (0.0 if style is None else style @ fit.style[:, 0])
            out = mean + gain * (out - mean)
        if wobble is not None:
            out += _weighted(wobble, basis, fit.wobble)
        return out

    def timings(
        self, gait: str, speed: npt.ArrayLike, turn: npt.ArrayLike = 0.0, style: FloatArray | None = None
    ) -> FloatArray:
        """Return cycle rate [Hz] and phases of the left stance's start and end, (..., 3). The right foot has -turn."""
        fit = self.gaits[gait]
        out: FloatArray = fit.terms(speed, turn) @ fit.timing
        return out if style is None else out + style @ fit.style_timing


def _weighted(weights: FloatArray, basis: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the sum over directions and Fourier terms of weights (F, n), basis (F, TERMS), coefficients; (F, C).

    By einsum, not by the linear algebra library: too small for threads, and the same bits on any number of them.
    """
    products = (weights[:, :, None] * basis[:, None, :]).reshape(len(basis), -1)
    out: FloatArray = np.einsum("fk,kc->fc", products, coefficients.reshape(products.shape[1], -1))
    return out


@cache
def _packaged() -> GaitModel:
    with resources.files("gaitway.cast").joinpath("data/person_gait.npz").open("rb") as file:
        return GaitModel.read(file)


def _gait(data: np.lib.npyio.NpzFile, name: str) -> Gait:
    channels = 3 + 3 * len(moving_joints())
    low, middle, high = (float(v) for v in data[f"{name}_speeds"])
    return Gait(
        middle=middle,
        slowest=low,
        fastest=high,
        mean=owned(data[f"{name}_mean"], f"{name}_mean", (REGRESSORS, TERMS, channels)),
        style=owned(data[f"{name}_style"], f"{name}_style", (None, TERMS, channels)),
        wobble=owned(data[f"{name}_wobble"], f"{name}_wobble", (None, TERMS, channels)),
        timing=owned(data[f"{name}_timing"], f"{name}_timing", (REGRESSORS, TIMINGS)),
        style_timing=owned(data[f"{name}_style_timing"], f"{name}_style_timing", (None, TIMINGS)),
    )
