"""How a skateboarder rides: style, the steady pose with its small movements of balance, pushing and waiting."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.cast.catalog import STYLE_NAMES
from gaitway.cast.curves import plateau, travelled, wobble
from gaitway.cast.skateboarder.foot import foot_on_board
from gaitway.cast.skateboarder.rig import FPS, Ride
from gaitway.core.arrays import FloatArray

DEGREE = np.pi / 180.0


@dataclass(frozen=True)
class SkaterStyle:
    """One skateboarder's manner."""

    name: str = "neutral"
    speed: float = 3.5
    """Metres a second on the flat."""
    crouch: float = 0.0
    """How much lower the hips ride [m]."""
    arms: float = 0.0
    """How much further the arms are spread [rad]."""
    open: float = 0.0
    """How much further hips and chest turn toward the ride [rad]."""

    @staticmethod
    def named(name: str) -> SkaterStyle:
        """Return one of `STYLE_NAMES`."""
        number = STYLE_NAMES.index(name)
        return replace(SkaterStyle.draw(number), name=name) if number else SkaterStyle()

    @staticmethod
    def draw(seed: int) -> SkaterStyle:
        """Return a skateboarder at random; the same seed is the same one."""
        draw = np.clip(np.random.default_rng(seed).normal(size=4), -2.0, 2.0)
        return SkaterStyle(
            f"drawn-{seed}",
            float(3.5 + 0.12 * draw[0]),
            float(0.025 * draw[1]),
            float(0.16 * draw[2]),
            float(0.12 * draw[3]),
        )


@dataclass(frozen=True, eq=False)
class RideTake:
    """What all clips of one take share."""

    style: SkaterStyle
    rng: np.random.Generator


def frame_times(duration: float) -> FloatArray:
    """Return the times of the frames of a clip [s]."""
    return np.arange(round(duration * FPS) + 1) / FPS


def straight_path(times: FloatArray, speed: FloatArray | float) -> FloatArray:
    """Return the planar path (F, 3) straight ahead."""
    zero = np.zeros(len(times))
    return travelled(times, zero + speed, zero)


def steady_ride(path: FloatArray, take: RideTake, life: float = 1.0) -> Ride:
    """Return steady riding along a path, with small movements of balance that vanish at both ends."""
    count, style = len(path), take.style
    times = np.arange(count) / FPS
    noise = life * wobble(times, 12, take.rng, 0.8)

    def curve(value: float, size: float = 0.0, column: int = 0) -> FloatArray:
        out: FloatArray = value + size * noise[:, column]
        return out

    zero = np.zeros(count)
    return Ride(
        path=path,
        lean=zero,
        deck_roll=curve(0.0, 1.0 * DEGREE, 0),
        deck_pitch=zero,
        deck_lift=zero,
        airborne=np.zeros(count, dtype=bool),
        hips_height=curve(0.94 - style.crouch, 0.012, 1),
        balance=np.column_stack([curve(-0.02, 0.012, 2), curve(0.0, 0.006, 3)]),
        hips_yaw=curve(-64.0 * DEGREE + style.open, 2.0 * DEGREE, 4),
        fold=curve(15.0 * DEGREE + style.crouch, 1.5 * DEGREE, 5),
        curl=curve(16.0 * DEGREE + 2.0 * style.crouch, 1.5 * DEGREE, 5),
        twist=curve(20.0 * DEGREE + 0.5 * style.open, 3.0 * DEGREE, 6),
        look=curve(-6.0 * DEGREE, 5.0 * DEGREE, 7),
        nod=curve(5.0 * DEGREE, 2.5 * DEGREE, 8),
        spread=np.column_stack(
            [curve(34.0 * DEGREE + style.arms, 5.0 * DEGREE, 9), curve(38.0 * DEGREE + style.arms, 5.0 * DEGREE, 10)]
        ),
        swing=np.column_stack([curve(12.0 * DEGREE, 4.0 * DEGREE, 10), curve(-6.0 * DEGREE, 4.0 * DEGREE, 11)]),
        elbow=np.column_stack([curve(34.0 * DEGREE, 6.0 * DEGREE, 11), curve(42.0 * DEGREE, 6.0 * DEGREE, 9)]),
        foot=foot_on_board(count),
    )


def move_arms(ride: Ride, spread: FloatArray, swing: FloatArray, elbow: FloatArray) -> Ride:
    """Add to both arms' angles [rad]; (F, 2) or (F, 1) each."""
    return replace(ride, spread=ride.spread + spread, swing=ride.swing + swing, elbow=ride.elbow + elbow)


def pushing(
    ride: Ride, times: FloatArray, begin: float, full: float, fade: float, end: float, depth: float = 0.19
) -> Ride:
    """Return the body of a rider whose right foot is off the board: weight left, hips and chest turned ahead, low."""
    work = plateau(times, begin, full, fade, end)
    drive = plateau(times, full - 0.15, 0.5 * (full + fade), fade, fade + 0.35)
    return move_arms(
        replace(
            ride,
            hips_height=ride.hips_height - depth * work - 0.02 * drive,
            balance=ride.balance + work[:, None] * np.array([0.12, -0.05]),
            hips_yaw=ride.hips_yaw + 24.0 * DEGREE * work,
            twist=ride.twist + DEGREE * (12.0 * work - 8.0 * drive),
            fold=ride.fold + 15.0 * DEGREE * work + 8.0 * DEGREE * drive,
            curl=ride.curl + 8.0 * DEGREE * work,
            look=ride.look + 4.0 * DEGREE * work,
        ),
        DEGREE * work[:, None] * np.array([[-6.0, -4.0]]),
        DEGREE * drive[:, None] * np.array([[-26.0, 34.0]]),
        DEGREE * work[:, None] * np.array([[6.0, 10.0]]),
    )


def waiting(ride: Ride, weight: FloatArray) -> Ride:
    """Move toward the pose of "wait" by `weight` (F,): right foot on the ground, most of the mass over it."""
    return move_arms(
        replace(
            ride,
            hips_height=ride.hips_height - 0.07 * weight,
            balance=ride.balance + weight[:, None] * np.array([-0.01, -0.15]),
            hips_yaw=ride.hips_yaw + 30.0 * DEGREE * weight,
            twist=ride.twist - 14.0 * DEGREE * weight,
            fold=ride.fold - 8.0 * DEGREE * weight,
            curl=ride.curl - 6.0 * DEGREE * weight,
        ),
        DEGREE * weight[:, None] * np.array([[-20.0, -24.0]]),
        DEGREE * weight[:, None] * np.array([[-10.0, 10.0]]),
        DEGREE * weight[:, None] * np.array([[-8.0, -14.0]]),
    )
