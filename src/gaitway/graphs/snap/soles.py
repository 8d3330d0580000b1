"""The sole of a foot: points that touch the ground, how high they are at rest, and turns that keep them over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip

OTHER_GROUND = 0.06
"""A stance farther than this from the height of rest is on other ground, such as a box, and stays there [m]."""
_HEEL_SWING, _BALL_SWING = 0.15, 0.35
"""A foot on its heel, or on its ball, turns by at most this so that its ankle stays on its track [rad].

More spares the knee, and shows: toes that point up at heel strike, heels that rise early.
"""
_LIFT_S = 0.2
"""Time that lifting a foot over the ground takes to come and to go [s]."""


@dataclass(frozen=True, eq=False)
class Sole:
    """Points of one foot that touch the ground, and how high they are when they rest."""

    heel: float
    """Height of the heel at rest [m]."""
    pivot: float
    """Height at rest of what the foot turns about over its toes [m]."""
    points: tuple[tuple[str, FloatArray, float], ...]
    """Part ("heel", "ball", "toe"), offset in the frame of the joint that carries it [m], and height at rest [m]."""
    on_toes: frozenset[str]
    """Parts that the toe joint carries."""

    def heights(self, ankle: FloatArray, foot: FloatArray, toes: FloatArray | None, pivot: FloatArray) -> FloatArray:
        """How high each point is over its rest [m]; (F, points)."""
        rows = []
        for part, offset, rest in self.points:
            if part in self.on_toes and toes is not None:
                place = ankle + rotations.rotate(foot, pivot) + rotations.rotate(toes, offset)
            else:
                place = ankle + rotations.rotate(foot, offset)
            rows.append(place[:, 2] - rest)
        return np.stack(rows, axis=1) if rows else np.zeros((len(ankle), 0))


def read_sole(clip: Clip, side: str, rest: FloatArray) -> Sole:
    """The sole of one foot.

    Args:
        clip: motion on a skeleton with contact points.
        side: "left" or "right".
        rest: height of each contact point at rest [m]; (C,).
    """
    skeleton = clip.skeleton
    ankle, toe = skeleton.roles[f"{side}_ankle"], skeleton.roles.get(f"{side}_toe")
    points, on_toes = [], set()
    for column, point in enumerate(skeleton.contact_points):
        part = point.name.removeprefix(f"{side}_")
        if part in ("heel", "ball", "toe") and point.joint in (ankle, toe):
            points.append((part, np.array(point.offset), float(rest[column])))
            if point.joint != ankle:
                on_toes.add(part)
    known = {part: (offset, height) for part, offset, height in points}
    heel, pivot = (known.get(part, (np.zeros(3), 0.0))[1] for part in ("heel", "ball"))
    if "ball" in on_toes:
        pivot += _over_sole(known["ball"][0], known.get("toe", known["ball"])[0])
    return Sole(heel, pivot, tuple(points), frozenset(on_toes))


def _over_sole(ball: FloatArray, tip: FloatArray) -> float:
    """How high the joint of toes that lie flat is over the line from ball to tip [m]."""
    line = tip - ball
    length = float(np.linalg.norm(line))
    along = line / length if length > 1e-6 else np.zeros(3)
    return float(np.linalg.norm(ball - along * (ball @ along)))


def tip_offset(sole: Sole) -> tuple[FloatArray, float] | None:
    """Offset of the toes' tip in the frame of their joint, and its height at rest [m]; None where there is none."""
    return next(((offset, rest) for part, offset, rest in sole.points if part == "toe" and part in sole.on_toes), None)


def tipped(lines: FloatArray, lowest: FloatArray | float) -> FloatArray:
    """The least turns (n, 4) that bring ends of lines (n, 3) up to a height over their beginnings [m]."""
    length = np.linalg.norm(lines, axis=-1)
    up = np.maximum(lines[:, 2], np.clip(lowest, -0.95 * length, 0.95 * length))
    level = np.linalg.norm(lines[:, :2], axis=-1)
    scale = np.sqrt(np.maximum(length**2 - up**2, 0.0)) / np.maximum(level, 1e-9)
    return rotations.between(lines, np.column_stack([lines[:, :2] * scale[:, None], up]))


def bounded(swing: FloatArray, heel: bool) -> FloatArray:
    """Turns (n, 4) of a foot about its one planted point, with large ones made smaller, smoothly."""
    most = _HEEL_SWING if heel else _BALL_SWING
    turn = rotations.to_rotation_vector(swing)
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    return rotations.from_rotation_vector(turn * most * np.tanh(angle / most) / np.maximum(angle, 1e-9))


def covering(need: FloatArray, fixed: BoolArray, fps: float) -> FloatArray:
    """A smooth curve that is nowhere under what is needed (F,), and 0 in fixed frames."""
    if not need.any():
        return need
    half = max(int(0.5 * _LIFT_S * fps), 1)
    spread = scipy.ndimage.maximum_filter1d(need, 2 * half + 1, mode="nearest")
    smooth = scipy.ndimage.gaussian_filter1d(spread, 0.5 * half, radius=half, mode="nearest")
    away = scipy.ndimage.distance_transform_edt(~fixed) if fixed.any() else np.full(len(need), np.inf)
    return np.where(fixed, 0.0, np.maximum(need, smooth * ease(np.minimum(away / (half + 1.0), 1.0))))
