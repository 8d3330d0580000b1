"""The step model: how pelvis, trunk and arms move while one foot is put somewhere else.

One captured step is described by where the swinging foot comes from, where it goes and where the other foot goes next,
all seen from the standing foot. Every channel is a spline over the step (weight shift, then swing) whose coefficients
are linear in that description, fitted by `tools/fit_steps.py` on walks, turns, side and back steps and stairs.
Right-foot steps are the mirror image. Consecutive steps overlap and are faded into one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BSpline

from gaitway.cast.curves import smooth_step
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray, owned

JOINTS = (
    "Hips",
    *("Spine", "Spine1", "Spine2", "Neck", "Head"),
    *("LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand"),
    *("RightShoulder", "RightArm", "RightForeArm", "RightHand"),
)
"""Joints that the model moves. The pelvis turn is about its own heading, the others are local rotations."""
KNOTS = 9
"""Cubic B-splines a channel."""
JUMP_KNOTS = 14
"""Cubic B-splines of the standing jump."""
REGRESSORS = 18
LIFT_PHASE = 0.3
"""Phase of a step at which the foot lifts; 0 is the landing of the other foot and 1 its own."""
FIRST_PHASE, LAST_PHASE = -0.25, 1.25
"""The fit reaches over both ends by this much, for fading."""
EASE = 0.012
"""Captured soles are a little thicker than this body's; lower by that [m], its knees bend as theirs do."""
SHIFT_S = (0.12, 0.45)
"""Shortest and longest time of weight shift before a foot lifts that the model tells apart [s]."""


@dataclass(frozen=True, kw_only=True)
class BodyStep:
    """One step as the model sees it. Planar poses (x, y, heading) are of the middle of the sole, world frame."""

    side: str
    shift: float
    lift: float
    land: float
    """When the weight shift begins, the foot lifts and lands [s]."""
    support: FloatArray
    """Standing foot: planar pose and height; (4,)."""
    source: FloatArray
    """Position that the swinging foot leaves; (4,)."""
    target: FloatArray
    """Position at which it lands; (4,)."""
    next_target: FloatArray
    """Position at which the standing foot lands after that; (4,); its own position if it stays."""

    def phase(self, times: FloatArray) -> FloatArray:
        """Return the phase of the step at times [s] (F,), not limited."""
        begin = self.lift - np.clip(self.lift - self.shift, *SHIFT_S)
        before = LIFT_PHASE * (times - begin) / (self.lift - begin)
        after = LIFT_PHASE + (1.0 - LIFT_PHASE) * (times - self.lift) / (self.land - self.lift)
        return np.where(times < self.lift, before, after)


@dataclass(frozen=True, eq=False)
class BodyCurves:
    """What the model says of the body; the legs are solved elsewhere."""

    root: FloatArray
    """Pelvis [m]; (F, 3)."""
    heading: FloatArray
    """Heading of the pelvis [rad], continuous; (F,)."""
    rotations: FloatArray
    """Local rotations of JOINTS, the pelvis without its heading; (F, 14, 4)."""


def spline_basis(phase: npt.ArrayLike) -> FloatArray:
    """Return cubic B-splines of a step at phases (F,), which are held inside the fit; (F, KNOTS)."""
    return clamped_splines(phase, FIRST_PHASE, LAST_PHASE, KNOTS)


def clamped_splines(at: npt.ArrayLike, first: float, last: float, count: int) -> FloatArray:
    """Return `count` cubic B-splines over [first, last] at points (F,), which are held inside; (F, count)."""
    knots = np.concatenate([[first] * 3, np.linspace(first, last, count - 2), [last] * 3])
    inside = np.clip(np.asarray(at, dtype=np.float64), first, last)
    out: FloatArray = BSpline.design_matrix(inside, knots, 3).toarray()
    return out


def regressors(source: FloatArray, target: FloatArray, following: FloatArray, swing_s: float) -> FloatArray:
    """Return the description of a left step seen from the right foot; (REGRESSORS,).

    Args:
        source: X, y, heading, height of the left foot before, relative to the standing right foot; (4,).
        target: The same after the step.
        following: The same of the right foot after its next step.
        swing_s: How long the foot is in the air [s].
    """
    ax, ay, a_turn, a_height = source
    bx, by, b_turn, b_height = target
    nx, ny, n_turn, _ = following
    turn_on = float(planar.wrap_angle(n_turn - b_turn))
    linear = [ax, ay - 0.17, a_turn, bx, by - 0.17, b_turn, a_height, b_height, nx - bx, ny - by + 0.17, turn_on]
    squares = [bx**2 - 0.35, ax**2 - 0.35, b_turn**2, a_turn**2, (bx - ax) ** 2 - 1.3]
    return np.array([1.0, *linear, swing_s - 0.55, *squares])


@dataclass(frozen=True, eq=False)
class StepModel:
    """Coefficients of the step model."""

    coefficients: FloatArray
    """Coefficients (KNOTS, REGRESSORS, channels): pelvis x, y, height [m], heading [rad], then rotation vectors."""
    base: FloatArray
    """Local rotations that the rotation vectors are relative to; (14, 4)."""
    jump_coefficients: FloatArray
    """Rotation vectors through a standing jump; (JUMP_KNOTS, 42)."""

    @staticmethod
    @cache
    def load() -> StepModel:
        """Return the model that ships with gaitway."""
        with (
            resources.files("gaitway.cast").joinpath("data/person_steps.npz").open("rb") as file,
            np.load(file, allow_pickle=False) as data,
        ):
            channels = 4 + 3 * len(JOINTS)
            return StepModel(
                owned(data["coefficients"], "coefficients", (KNOTS, REGRESSORS, channels)),
                owned(rotations.normalize(data["base"]), "base", (len(JOINTS), 4)),
                owned(data["jump"], "jump", (JUMP_KNOTS, 3 * len(JOINTS))),
            )

    def body(self, steps: Sequence[BodyStep], times: FloatArray) -> BodyCurves:
        """Return body curves over all steps at times [s] (F,); they stand still before the first and after the last."""
        phase = np.array([step.phase(times) for step in steps])
        roots, headings, vectors = self._each(steps, phase)
        inside = smooth_step(phase, FIRST_PHASE, 0.12) * (1.0 - smooth_step(phase, 0.88, LAST_PHASE))
        distance = np.maximum(np.maximum(FIRST_PHASE - phase, phase - LAST_PHASE), 0.0)
        weight = inside + 1e-5 / (1.0 + 50.0 * distance) ** 2  # the nearest step fills a pause
        weight /= weight.sum(axis=0)
        turns = np.unwrap(headings, axis=0)  # neighbouring steps agree to within half a turn
        vector = np.einsum("sf,sfc->fc", weight, vectors).reshape(len(times), len(JOINTS), 3)
        return BodyCurves(
            np.einsum("sf,sfc->fc", weight, roots),
            np.einsum("sf,sf->f", weight, turns),
            rotations.multiply(self.base, rotations.from_rotation_vector(vector)),
        )

    def _each(self, steps: Sequence[BodyStep], phase: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the pelvis (S, F, 3), heading (S, F) and rotation vectors (S, F, 42) that each step alone asks for."""
        sign = np.array([1.0 if step.side == "left" else -1.0 for step in steps])
        support = np.array([step.support for step in steps])
        feet = np.array([(step.source, step.target, step.next_target) for step in steps])
        seen = np.concatenate(
            [planar.relative(support[:, None, :3], feet[..., :3]), feet[..., 3:] - support[:, None, 3:]], axis=-1
        )
        seen[..., 1:3] *= sign[:, None, None]  # a right step is the mirror image of a left one
        terms = np.array(
            [regressors(a, b, c, step.land - step.lift) for (a, b, c), step in zip(seen, steps, strict=True)]
        )
        splines = spline_basis(phase.ravel()).reshape(*phase.shape, KNOTS)
        channels = splines @ np.einsum("krc,sr->skc", self.coefficients, terms)
        aside = np.stack([channels[..., 0], sign[:, None] * channels[..., 1]], axis=-1)
        height = support[:, None, 3] + channels[..., 2] - EASE
        root = np.concatenate([planar.transform_points(support[:, None, :3], aside), height[..., None]], axis=-1)
        heading = support[:, None, 2] + sign[:, None] * channels[..., 3]
        vector = channels[..., 4:].reshape(*phase.shape, len(JOINTS), 3)
        # a mirrored rotation vector keeps its part about Y and turns the others round
        vector[sign < 0.0] = vector[sign < 0.0][..., _MIRROR, :] * [-1.0, 1.0, -1.0]
        return root, heading, vector.reshape(*phase.shape, -1)

    def jump(self, clock: npt.ArrayLike) -> FloatArray:
        """Return the local rotations of JOINTS through a standing jump with both feet; (F, 14, 4).

        Args:
            clock: Moment of the jump in each frame: 0 stand, 1 deepest crouch, 2 take-off, 3 landing, 4 deepest
                landing, 5 stand; (F,).
        """
        vector = clamped_splines(clock, 0.0, 5.0, JUMP_KNOTS) @ self.jump_coefficients
        return rotations.multiply(self.base, rotations.from_rotation_vector(vector.reshape(-1, len(JOINTS), 3)))


_MIRROR = [
    JOINTS.index(n.replace("Left", "#").replace("Right", "Left").replace("#", "Right")) if n[0] in "LR" else i
    for i, n in enumerate(JOINTS)
]
