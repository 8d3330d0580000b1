"""The sole of a foot: points that touch the ground, their heights at rest, and turns that keep them over the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip

OTHER_GROUND = 0.06
"""Distance from the height at rest above which a stance is on other ground, such as a box, and stays there [m]."""
_HEEL_SWING, _BALL_SWING = 0.15, 0.35
"""Largest turn of a foot on its heel, and on its ball, that keeps the ankle on its track [rad].

A larger turn changes the knee less, but is visible: toes point up at heel strike, heels rise early.
"""
_LIFT_S = 0.2
"""Time in which the lift of a foot begins and ends [s]."""


@dataclass(frozen=True, eq=False)
class Sole:
    """Points of one foot that touch the ground, and their heights at rest."""

    heel: float
    """Height of the heel at rest [m]."""
    pivot: float
    """Height at rest of the point about which the foot turns over its toes [m]."""
    points: tuple[tuple[str, FloatArray, float], ...]
    """Part ("heel", "ball", "toe"), offset in the frame of the joint that carries it [m], and height at rest [m]."""
    on_toes: frozenset[str]
    """Parts that the toe joint carries."""

    def heights(self, ankle: FloatArray, foot: FloatArray, toes: FloatArray | None, pivot: FloatArray) -> FloatArray:
        """Return the height of each point over its height at rest [m]; (F, points).

        Args:
            ankle: Positions of the ankle [m]; (F, 3).
            foot: World rotations of the foot; (F, 4).
            toes: World rotations of the toes; (F, 4). None if there is no toe joint.
            pivot: Offset of the toe joint in the frame of the foot [m]; (3,).
        """
        rows = []
        for part, offset, rest in self.points:
            if part in self.on_toes and toes is not None:
                place = ankle + rotations.rotate(foot, pivot) + rotations.rotate(toes, offset)
            else:
                place = ankle + rotations.rotate(foot, offset)
            rows.append(place[:, 2] - rest)
        return np.stack(rows, axis=1) if rows else np.zeros((len(ankle), 0))


def read_sole(clip: Clip, side: str, rest: FloatArray) -> Sole:
    """Return the sole of one foot.

    Args:
        clip: Motion on a skeleton with contact points.
        side: "left" or "right".
        rest: Height of each contact point at rest [m]; (C,).
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
    """Return the height of the toe joint over the line from ball to tip, when toes lie flat [m]."""
    line = tip - ball
    length = float(np.linalg.norm(line))
    along = line / length if length > 1e-6 else np.zeros(3)
    return float(np.linalg.norm(ball - along * (ball @ along)))


def tip_offset(sole: Sole) -> tuple[FloatArray, float] | None:
    """Return the offset of the toes' tip in their joint's frame, and its height at rest [m]; None without a tip."""
    return next(((offset, rest) for part, offset, rest in sole.points if part == "toe" and part in sole.on_toes), None)


def tipped(lines: FloatArray, lowest: FloatArray | float) -> FloatArray:
    """Return the smallest turns (n, 4) that raise the ends of lines (n, 3) to a height over their beginnings [m]."""
    length = np.linalg.norm(lines, axis=-1)
    up = np.maximum(lines[:, 2], np.clip(lowest, -0.95 * length, 0.95 * length))
    level = np.linalg.norm(lines[:, :2], axis=-1)
    scale = np.sqrt(np.maximum(length**2 - up**2, 0.0)) / np.maximum(level, 1e-9)
    return rotations.between(lines, np.column_stack([lines[:, :2] * scale[:, None], up]))


def bounded(swing: FloatArray, heel: bool) -> FloatArray:
    """Return turns (n, 4) of a foot about its planted point, smoothly limited to the largest turn."""
    most = _HEEL_SWING if heel else _BALL_SWING
    turn = rotations.to_rotation_vector(swing)
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    return rotations.from_rotation_vector(turn * most * np.tanh(angle / most) / np.maximum(angle, 1e-9))


def covering(need: FloatArray, fixed: BoolArray, fps: float) -> FloatArray:
    """Return a smooth curve (F,) that is nowhere below what is needed (F,), and 0 in fixed frames."""
    if not need.any():
        return need
    half = max(int(0.5 * _LIFT_S * fps), 1)
    spread = scipy.ndimage.maximum_filter1d(need, 2 * half + 1, mode="nearest")
    smooth = scipy.ndimage.gaussian_filter1d(spread, 0.5 * half, radius=half, mode="nearest")
    away = scipy.ndimage.distance_transform_edt(~fixed) if fixed.any() else np.full(len(need), np.inf)
    return np.where(fixed, 0.0, np.maximum(need, smooth * ease(np.minimum(away / (half + 1.0), 1.0))))
