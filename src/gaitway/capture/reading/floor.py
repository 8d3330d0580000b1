"""One level floor for all takes of a subject, and the contacts of feet with it.

The floors of capture volumes have a slope of about one percent, which lifts a foot by 8 cm over an 8 m walk, and lie at
any height. One take shows too little of the floor: a straight walk does not show the slope across its path. So one
plane is fitted to the resting feet of all takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.reading.smoothing import steady_velocities
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.anatomy import leg_length
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import ContactLimits, detect_contacts, stances

_NEAR = 0.03
"""Largest distance of a foot on the floor from the plane [m]; other resting feet stand on an object, or hang."""
_ROUNDS = 8
"""Number of rounds in which the plane is fitted."""
_RIDGE = 0.02
"""Weight by which the slope is drawn to 0, as a variance of the places of feet [m^2]. Without it, takes on one spot
would give an arbitrary slope."""
_STEEPEST = 0.06
"""Largest slope along each axis (rise over run)."""
_UPRIGHT = 0.6
"""Least height of the pelvis over a foot that carries the body, as a share of the leg length. A crawling or lying
character rests on the back of its feet."""
_FEW_S = 0.3
"""Least time that feet rest in a take for a height of its own [s]."""
_FEW = 10
"""Least number of resting places for a plane."""
_RAISED = 0.05
"""Height over the floor above which a resting foot stands on an object [m]."""
_SHORTEST_S = 0.1
"""Least duration of a stance on an object [s]."""
_FINE_RATE = 45.0
"""Frame rate below which short stances have only a few frames [Hz]."""
_UNEVEN = 0.03
"""Half of the largest vertical motion of a foot during a stance on an object [m]."""
_LOADED_S = 0.07
"""Least time in which the other foot is off the floor, so that the foot on the object carries the body [s]."""
_OVER = 0.6
"""Least height of the pelvis over the object, as a share of its height when standing."""


@dataclass(frozen=True, eq=False)
class RestingPlaces:
    """Places at which the balls of a take's feet rest."""

    places: FloatArray
    """World positions [m]; (N, 3)."""


@dataclass(frozen=True, eq=False)
class FloorPlane:
    """Plane of the floor: z = `height` + `slope` . (x, y)."""

    height: float
    """Height at the origin [m]."""
    slope: FloatArray
    """Rise over run along x and y; (2,)."""
    residual: float
    """Standard deviation of the resting feet near the plane [m]."""

    @property
    def turn(self) -> FloatArray:
        """The rotation that makes the plane level; (4,)."""
        return rotations.between(np.array([-self.slope[0], -self.slope[1], 1.0]), np.array([0.0, 0.0, 1.0]))


def resting_balls(clip: Clip) -> RestingPlaces:
    """Return the places of the balls of both feet in frames in which they hardly move and carry the body."""
    columns = [i for i, p in enumerate(clip.skeleton.contact_points) if p.name.endswith("_ball")]
    points = clip.contact_positions()[:, columns]
    speed = np.linalg.norm(steady_velocities(points, clip.fps), axis=-1)
    going = np.linalg.norm(steady_velocities(clip.root_positions[:, :2], clip.fps), axis=-1)[:, None]
    upright = clip.root_positions[:, 2, None] - points[..., 2] > _UPRIGHT * leg_length(clip.skeleton)
    return RestingPlaces(points[(speed < 0.25 + 0.08 * going) & upright])


def fit_floor(rests: Sequence[RestingPlaces]) -> FloorPlane:
    """Fit the plane on which most resting feet of a subject lie; feet on objects are left out."""
    filled = [r.places for r in rests if len(r.places)]
    if not filled:
        return FloorPlane(0.0, np.zeros(2), 0.0)
    places = np.concatenate(filled)
    height, slope = _main_level(filled), np.zeros(2)
    centre = places[:, :2].mean(axis=0)
    flat, keep = places[:, :2] - centre, np.ones(len(places), dtype=bool)
    wide = 3.0 * _NEAR
    for _ in range(_ROUNDS):
        off = places[:, 2] - height - flat @ slope
        keep = np.abs(off) < wide
        if keep.sum() < _FEW:
            break
        wide = max(_NEAR, 0.7 * wide)
        height += float(np.median(off[keep]))
        rows, rest = flat[keep], places[keep, 2] - height
        ridge = _RIDGE * len(rows) * np.eye(2)
        slope = np.clip(np.linalg.solve(rows.T @ rows + ridge, rows.T @ rest), -_STEEPEST, _STEEPEST)
    off = (places[:, 2] - height - flat @ slope)[keep]
    return FloorPlane(height - float(centre @ slope), slope, float(np.std(off)) if len(off) else 0.0)


def _main_level(takes: Sequence[FloatArray]) -> float:
    """Return the median over takes of the height on which feet rest [m]; every take counts once."""
    levels = np.array([np.percentile(places[:, 2], 25.0) for places in takes])
    return float(np.median(levels))


def levelled(clip: Clip, floor: FloorPlane) -> Clip:
    """Return the clip turned and shifted so that the plane becomes z = 0."""
    turn = floor.turn
    roots = rotations.rotate(turn, clip.root_positions - np.array([0.0, 0.0, floor.height]))
    turned = np.array(clip.rotations)
    turned[:, 0] = rotations.multiply(turn, turned[:, 0])
    return replace(clip, root_positions=roots, rotations=turned)


def own_level(clip: Clip) -> tuple[float, float]:
    """Return the height on which a levelled take rests [m], and the share of its resting frames at that height.

    The lowest level that holds a quarter of the resting time counts. A take without rest has height 0 and share 0.
    """
    heights, few = resting_balls(clip).places[:, 2], _FEW_S * clip.fps
    if len(heights) < few:
        return 0.0, 0.0
    near = heights[np.abs(heights) < _NEAR]
    if len(near) >= max(few, 0.15 * len(heights)):
        return float(np.median(near)) * len(near) / (len(near) + few), len(near) / len(heights)
    level = float(np.percentile(heights, 25.0, method="lower"))  # no interpolation between two levels
    around = heights[np.abs(heights - level) < _NEAR]
    return float(np.median(around)), len(around) / len(heights)


def lifted(clip: Clip, height: float) -> Clip:
    """Return the clip moved up by `height` [m]."""
    return replace(clip, root_positions=clip.root_positions + np.array([0.0, 0.0, height]))


def with_contacts(clip: Clip, limits: ContactLimits, pelvis: float) -> Clip:
    """Return the clip with contacts, on the floor at z = 0 and on objects above it.

    Args:
        clip: Levelled take whose contact points rest at height 0.
        limits: Heights and speeds that count as resting.
        pelvis: Height of the middle of the hips when standing [m].
    """
    if clip.fps < _FINE_RATE:  # a running foot is still for two or three frames only
        limits = replace(limits, shortest_s=min(limits.shortest_s, 2.0 / clip.fps))
    return detect_contacts(clip, limits, support_heights(clip, pelvis))


def support_heights(clip: Clip, pelvis: float) -> FloatArray:
    """Return the height of the ground under each contact point [m]; (F, C). 0 except for feet on objects."""
    points = clip.contact_positions()
    names = [p.name for p in clip.skeleton.contact_points]
    speeds = np.linalg.norm(steady_velocities(points, clip.fps), axis=-1)
    going = np.linalg.norm(steady_velocities(clip.root_positions[:, :2], clip.fps), axis=-1)
    columns = [[i for i, name in enumerate(names) if name.startswith(side)] for side in ("left", "right")]
    soles = np.stack([points[:, c, 2].min(axis=1) for c in columns], axis=1)
    slowest = np.stack([speeds[:, c].min(axis=1) for c in columns], axis=1)
    still = slowest < 0.2 + 0.1 * going[:, None]
    on_floor = still & (soles < _RAISED)
    out = np.zeros(points.shape[:2])
    hips = clip.root_positions[:, 2]
    for foot in (0, 1):
        for start, stop in stances(still[:, foot] & (soles[:, foot] > _RAISED)):
            track, other = soles[start:stop, foot], on_floor[start:stop, 1 - foot]
            if stop - start < _SHORTEST_S * clip.fps or np.ptp(track) > 2.0 * _UNEVEN:
                continue
            level = float(np.percentile(track, 30.0))
            if _longest(~other) >= _LOADED_S * clip.fps and hips[start:stop].max() - level > _OVER * pelvis:
                margin = int(_SHORTEST_S * clip.fps)
                out[max(start - margin, 0) : stop + margin, columns[foot]] = level
    return out


def _longest(flags: BoolArray) -> int:
    return max((stop - start for start, stop in stances(flags)), default=0)
