"""Where a body sits on a seat, where it stands before, and the way of its hips in between.

The hips follow balance: at every height they are where the centre of mass stays over the feet, with the trunk leant
forward. How far the trunk leans is what brings the hips as far back on the seat as they shall be. Published leans of
people who sit down and get up are 30 to 45 degrees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.interpolate import CubicSpline

from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.errors import SittingError
from gaitway.motion.body import capsules
from gaitway.motion.clip import Clip
from gaitway.sitting.figure import Figure, Posture
from gaitway.sitting.seat import Seat, box_distance

SINK = 0.004
"""How far the buttocks sink into a seat [m]."""
_EDGE = 0.007
"""How far thighs may sink into the front edge of a seat [m]."""
_LEANS = np.radians([28.0, 44.0])
"""Least and greatest lean of the trunk while the hips leave the feet [rad]."""
_EASY, _LESS = 0.41, 1.9
"""Height of a seat below which the built-in person leans less [m], and how much less [rad/m]."""
_BACK = 0.25
"""How far behind the front edge the hips of the built-in person come to rest, where nothing forbids it [m]."""
_CALVES = 0.012
"""Room between the calves and the front of the seat [m]."""
_SCOOT = 0.09
"""How far the built-in person slides back on a seat at most [m]."""
_SUPPORT = 0.010
"""How far ahead of the heels the centre of mass is when the buttocks touch the seat [m]."""
_STEPS = 33
_PELVIS, _CHEST, _HEAD = 0.72, 1.15, 0.4
"""Pitch of pelvis, chest and head over the lean of the trunk."""


def leading(progress: FloatArray) -> FloatArray:
    """Return the lean of the trunk, as a share, for shares of the way from standing to the seat; it leads."""
    return np.asarray(1.0 - (1.0 - progress) ** 1.8)


def pitched(pitch: FloatArray | float, count: int) -> FloatArray:
    """Return bends (F, 3) of a pitch (F,) [rad] alone."""
    out = np.zeros((count, 3))
    out[:, 1] = pitch
    return out


@dataclass(frozen=True, eq=False)
class Settled:
    """How one body takes one seat; in the frame of the seat."""

    figure: Figure
    seat: Seat
    root: FloatArray
    """Where the root stands, x and y [m]; (2,)."""
    lean: float
    """Lean of the trunk when the buttocks touch the seat [rad]."""
    way: FloatArray
    """Middle between the hips at equal steps from standing to the touch of the seat [m]; (N, 3)."""
    scoot: float
    """How far the hips slide back on the seat when the trunk comes up [m]."""

    @property
    def hips(self) -> FloatArray:
        """Middle between the hips of who sits [m]; (3,)."""
        return np.asarray(self.way[-1] - np.array([self.scoot, 0.0, 0.0]))

    @property
    def ankles(self) -> FloatArray:
        """Both ankles, as they stand [m]; (2, 3)."""
        return np.asarray(self.figure.ankles + np.array([*self.root, 0.0]))

    def hips_at(self, progress: FloatArray) -> FloatArray:
        """Return the middle between the hips for shares of the way from standing to the seat (F,) [m]; (F, 3)."""
        return np.asarray(CubicSpline(np.linspace(0.0, 1.0, len(self.way)), self.way, axis=0)(progress))

    def posture(self, progress: FloatArray, lean: FloatArray, slid: FloatArray) -> Posture:
        """Return postures on the way from standing to the seat.

        Args:
            progress: share of the way to the touch of the seat; (F,).
            lean: lean of the trunk [rad]; (F,).
            slid: share of the way that the hips slide back on the seat; (F,).
        """
        hips = self.hips_at(progress)
        hips[:, 0] -= slid * self.scoot
        return _posture(self.figure, hips, progress, lean, self.root)


@lru_cache(maxsize=256)
def _settle(figure: Figure, seat: Seat) -> Settled:
    size, pelvis = figure.size, figure.radius("pelvis")
    height = seat.height + pelvis - SINK
    if height > 0.97 * float(figure.hips[2]):
        raise _too_high(figure, seat)
    behind = max(pelvis, *(figure.radius(n) for n in figure.body.names if n.startswith(("trunk", "chest"))))
    room = seat.depth - (behind + 0.05 if seat.backrest else 0.5 * pelvis)
    wanted = min(_BACK * size, room)
    nearest = figure.radius("left_knee") + _CALVES - float(figure.ankles[:, 0].min())  # of the root, before the edge
    # who sits down low bends the hips far anyway, and has thighs in the way of the trunk
    low = max(_EASY - seat.height / size, 0.0)
    leans = np.linspace(_LEANS[0], max(_LEANS[1] - _LESS * low, _LEANS[0] + 0.1), 19)
    backs = -(_balanced(figure, height, leans) + nearest)
    enough = np.flatnonzero(np.round(backs, 9) >= round(wanted - 0.6 * _SCOOT * size, 9))
    lean = float(leans[enough[0]] if len(enough) else leans[-1])
    hip = float(_balanced(figure, height, np.array([lean]))[0])
    touch, scoot = _clear_of_edge(figure, seat, (hip, height), min(-(hip + nearest), wanted), wanted)
    root = np.array([-touch - hip, -float(figure.ankles[:, 1].mean())])
    way = _way(figure, height, hip, lean) + np.array([*root, 0.0])
    return Settled(figure, seat, read_only(root), lean, read_only(way), scoot)


def settle(figure: Figure, seat: Seat) -> Settled:
    """Return how a body takes a seat.

    Raises:
        SittingError: if the seat is too high for the body.
    """
    return replace(_settle(figure, _shape(seat)), seat=seat)


def settled_shape(settled: Settled) -> Settled:
    """Return how the body takes a seat of the same shape at the origin: one object for all seats of that shape."""
    return _settle(settled.figure, _shape(settled.seat))


def _shape(seat: Seat) -> Seat:
    """Return the seat at the origin: a hall of equal seats is worked out once."""
    return replace(seat, position=(0.0, 0.0), yaw=0.0, floor=0.0)


def _posture(figure: Figure, hips: FloatArray, progress: FloatArray, lean: FloatArray, root: FloatArray) -> Posture:
    count = len(hips)
    ankles = np.repeat(figure.ankles[None] + np.array([*root, 0.0]), count, axis=0)
    seated = progress * progress * (3.0 - 2.0 * progress)
    return Posture(
        hips, pitched(_PELVIS * lean, count), pitched(_CHEST * lean, count), pitched(_HEAD * lean, count), seated,
        ankles, np.zeros((count, 2, 2)), np.zeros((count, 2)),
    )  # fmt: skip


def _balance_line(figure: Figure) -> tuple[float, float]:
    """Return x of the centre of mass in the standing pose, and over the heels where it may be at last [m]."""
    heels = float(figure.ankles[:, 0].mean()) - figure.radius("left_foot")
    return float(figure.masses(figure.positions)[0]), heels + _SUPPORT * figure.size


def _solve(figure: Figure, heights: FloatArray, progress: FloatArray, lean: FloatArray, mass: FloatArray) -> FloatArray:
    """Return where hips are, so that the centre of mass is at `mass` (F,) along x [m]; (F, 3)."""
    hips = np.repeat(figure.hips[None], len(heights), axis=0)
    hips[:, 1] += progress * (float(figure.ankles[:, 1].mean()) - hips[:, 1])
    hips[:, 2] = heights
    leaning = np.minimum(lean / _LEANS[0], 1.0)
    for _ in range(8):
        posed = figure.posed(_posture(figure, hips, progress, lean, np.zeros(2)), 30.0)
        off = mass - figure.masses(_with_arms_down(figure, posed.joint_positions(), leaning))[:, 0]
        hips[:, 0] += off / 0.85
    return hips


def _with_arms_down(figure: Figure, positions: FloatArray, weight: FloatArray) -> FloatArray:
    """Return joint positions (F, J, 3) with arms that hang down from a trunk that leans, by weights (F,)."""
    out = np.array(positions)
    for side in ("left", "right"):
        shoulder, elbow, wrist = (figure.joint(f"{side}_{part}") for part in ("shoulder", "elbow", "wrist"))
        for joint in (elbow, wrist):
            out[:, joint, 0] += weight * (positions[:, shoulder, 0] - positions[:, joint, 0])
    return out


def _balanced(figure: Figure, height: float, leans: FloatArray) -> FloatArray:
    """Return x of the hips (N,) [m] for leans of the trunk [rad], with hips at a height and the mass over the heels."""
    one = np.ones(len(leans))
    return _solve(figure, height * one, one, leans, _balance_line(figure)[1] * one)[:, 0]


def _way(figure: Figure, height: float, hip: float, lean: float) -> FloatArray:
    progress = np.linspace(0.0, 1.0, _STEPS)
    first, last = _balance_line(figure)
    heights = figure.hips[2] + progress * (height - figure.hips[2])
    way = _solve(figure, heights, progress, lean * leading(progress), first + progress * (last - first))
    way[0], way[-1, 0] = figure.hips, hip
    return way


def _clear_of_edge(
    figure: Figure, seat: Seat, hip: tuple[float, float], farthest: float, wanted: float
) -> tuple[float, float]:
    """Return how far behind the edge the hips touch the seat, and how far they slide back from there [m].

    They come as near to the wanted place as they can without thighs that sink into the front edge.

    Args:
        figure: the body.
        seat: the seat.
        hip: x of the hips when they touch the seat, as seen from the root of who stands, and their height [m].
        farthest: how far behind the edge they can touch it at most [m].
        wanted: how far behind the edge they shall be at last [m].
    """
    low, high = seat.boxes()[0]
    aside, radius = float(figure.ankles[:, 1].mean()), figure.radius("left_hip")
    slides = np.linspace(0.0, _SCOOT * figure.size, 10)
    hips = np.array([[hip[0] - slid, aside, hip[1]] for slid in slides])
    posed = figure.posed(_posture(figure, hips, np.ones(10), np.zeros(10), np.zeros(2)), 30.0)
    thighs = thigh_points(figure, posed) - np.array([hip[0], aside, 0.0])
    best: tuple[float, float] | None = None
    for least in (0.055 * figure.size, 0.012 * figure.size):  # who can do no better perches on the edge
        for touch in np.linspace(farthest, least, 40):
            sinks = (radius - box_distance(thighs - np.array([touch, 0.0, 0.0]), low, high)).max(axis=1) > _EDGE
            free = int(np.argmax(sinks)) if sinks.any() else len(slides)
            for slid in np.minimum(slides[:free], max(wanted - float(touch), 0.0)).tolist():
                if best is None or touch + slid > sum(best) + 1e-6:
                    best = (float(touch), slid)
        if best is not None:
            return best
    raise _too_high(figure, seat)


def _too_high(figure: Figure, seat: Seat) -> SittingError:
    return SittingError(
        f"a seat {seat.height:g} m high is too high for skeleton '{figure.stand.skeleton.name}', whose hips are at "
        f"{float(figure.hips[2]):.2f} m"
    )


def thigh_points(figure: Figure, clip: Clip, count: int = 65) -> FloatArray:
    """Return points along the axes of both thighs [m]; (F, 2 * count, 3)."""
    segments = capsules(clip, figure.body)[:, [figure.body.names.index(f"{s}_hip") for s in ("left", "right")]]
    share = np.linspace(0.0, 1.0, count)[:, None]
    points = segments[:, :, None, 0] + share * (segments[:, :, None, 1] - segments[:, :, None, 0])
    return np.asarray(points.reshape(len(clip), -1, 3))
