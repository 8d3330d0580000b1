"""The fitted curves behind the special motions: splines over the events of an action, and series over a cycle.

`tools/fit_actions.py` writes the coefficients; no captured frame is kept. A channel is one component of a joint's
rotation vector about a base pose, so a pose of all 22 moving joints has 66 channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BSpline, PchipInterpolator

from gaitway.cast.person.gait.model import fourier_basis, moving_joints
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray

LEAP_EVENTS: Mapping[str, float] = MappingProxyType(
    {
        "previous_touchdown": -0.33,
        "previous_takeoff": -0.08,
        "touchdown": 0.0,
        "takeoff": 0.22,
        "landing": 0.70,
        "push_off": 0.95,
        "next_touchdown": 1.0,
    }
)
"""Model time [s] of each event of a leap off the left foot onto the right one; about their real distances."""
LEAP_KNOT_SPACING = 0.07
LEAP_TYPICAL_FLIGHT_S = 0.42
"""Flight time that the leap's mean curve belongs to; its slope is per second of longer flight."""
CROUCH_HARMONICS = 2
STROKE_HARMONICS = 3


def stroke_joints() -> list[int]:
    """Return the joints of both arms, from the clavicles to the hands."""
    parts = ("Shoulder", "Arm", "ForeArm", "Hand")
    return [person_skeleton().index(side + part) for side in ("Left", "Right") for part in parts]


def spline_basis(times: npt.ArrayLike, first: float, last: float, spacing: float) -> FloatArray:
    """Return the clamped cubic B-spline basis at `times` (F,), which are clipped to [first, last]; (F, K)."""
    intervals = round((last - first) / spacing)
    inner = np.linspace(first, last, intervals + 1)
    knots = np.concatenate([[first] * 3, inner, [last] * 3])
    inside = np.clip(np.asarray(times, dtype=np.float64), first, last)
    out: FloatArray = BSpline.design_matrix(inside, knots, 3).toarray()
    return out


def leap_basis(times: npt.ArrayLike) -> FloatArray:
    """Return the spline basis of the leap at model times (F,); (F, K)."""
    events = list(LEAP_EVENTS.values())
    return spline_basis(times, events[0], events[-1], LEAP_KNOT_SPACING)


def event_clock(times: npt.ArrayLike, model_times: npt.ArrayLike) -> PchipInterpolator:
    """Return a smooth, monotone map from real times of events to their model times."""
    return PchipInterpolator(np.asarray(times, dtype=np.float64), np.asarray(model_times, dtype=np.float64))


def pose_from_channels(base: FloatArray, channels: FloatArray) -> FloatArray:
    """Return the local rotations (F, 25, 4) of rotation vectors (F, 66) about a base pose (22, 4)."""
    out = rotations.identity(len(channels), len(person_skeleton()))
    vectors = channels.reshape(len(channels), -1, 3)
    out[:, moving_joints()] = rotations.multiply(base, rotations.from_rotation_vector(vectors))
    return out


@dataclass(frozen=True)
class ActionModel:
    """Coefficients of all actions, as `tools/fit_actions.py` found them."""

    arrays: Mapping[str, FloatArray]

    def leap(self, times: FloatArray, flight_s: float, variation: FloatArray | None = None) -> FloatArray:
        """Return the poses (F, 25, 4) of a leap at model times (F,); the pelvis faces +X.

        Args:
            times: Model times, see `LEAP_EVENTS`.
            flight_s: Length of the flight; longer ones fold the legs more.
            variation: Weights of the residual directions, standard normal for a natural spread.
        """
        a = self.arrays
        weights = a["leap_mean"] + (flight_s - LEAP_TYPICAL_FLIGHT_S) * a["leap_slope"]
        if variation is not None:
            weights = weights + np.tensordot(variation[: len(a["leap_variation"])], a["leap_variation"], 1)
        return pose_from_channels(a["leap_base"], leap_basis(times) @ weights)

    def crouch(
        self, gait: str, phase: FloatArray, depth: FloatArray, variation: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the poses (F, 25, 4) and pelvis heights [m] (F,) of going low; the pelvis faces +X.

        Args:
            gait: "walk" or "jog".
            phase: Phase of the left foot's cycle [cycles]; (F,).
            depth: 0 upright (head at 1.6 m) to 1 (head at 0.9 m); (F,).
            variation: Weights of the residual directions; the first is a turn of the trunk, the second trades bent
                legs for a bent back.
        """
        a = self.arrays
        basis = fourier_basis(phase, CROUCH_HARMONICS)
        powers = depth[:, None] ** np.arange(len(a[f"crouch_{gait}"]))
        channels = np.einsum("fk,fp,pkc->fc", basis, powers, a[f"crouch_{gait}"])
        if variation is not None:
            directions = a[f"crouch_{gait}_variation"]
            channels = channels + depth[:, None] * (variation[: len(directions)] @ directions)
        return pose_from_channels(a[f"crouch_{gait}_base"], channels[:, :-1]), channels[:, -1]

    def stroke(self, phase: FloatArray, variation: FloatArray | None = None) -> FloatArray:
        """Return arms in a breast stroke at phases (F,) in cycles, 0 stretched out; local rotations (F, 8, 4).

        Args:
            phase: Phase of the stroke [cycles]; (F,).
            variation: Weights of the residual directions in every frame; (F, n).
        """
        a = self.arrays
        weights = a["stroke_mean"][None]
        if variation is not None:
            weights = weights + np.tensordot(variation[:, : len(a["stroke_variation"])], a["stroke_variation"], 1)
        vectors = np.einsum(
            "fk,fkc->fc",
            fourier_basis(phase, STROKE_HARMONICS),
            np.broadcast_to(weights, (len(phase), *weights.shape[1:])),
        )
        return rotations.multiply(a["stroke_base"], rotations.from_rotation_vector(vectors.reshape(len(phase), -1, 3)))


@cache
def action_model() -> ActionModel:
    """Return the model that ships with gaitway."""
    source = resources.files("gaitway.cast") / "data" / "person_actions.npz"
    with source.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        return ActionModel(MappingProxyType({name: stored[name].astype(np.float64) for name in stored.files}))
