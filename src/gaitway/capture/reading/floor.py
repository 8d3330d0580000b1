"""One level floor for all takes of a subject.

Capture volumes lean by a percent or so, which lifts a foot by 8 cm over an 8 m walk, and floors lie anywhere. One take
shows too little of the floor to tell (a straight walk leaves the slope across its path free), so one plane is fitted to
the resting feet of all of them.
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
"""Resting feet farther from the plane stand on something, or hang [m]."""
_ROUNDS = 8
_RIDGE = 0.02
"""As if every resting foot had this variance of place on a level floor [m^2]; takes on one spot invent no slope."""
_STEEPEST = 0.06
_UPRIGHT = 0.6
"""Pelvis over a foot that carries, as a share of the leg; feet of those who crawl or lie rest on their backs."""
_FEW_S = 0.3
"""A foot has to rest for so long in a take to tell a height of its own [s]."""
_FEW = 10
"""Resting places that a plane needs."""


@dataclass(frozen=True, eq=False)
class RestingPlaces:
    """Where the balls of a take's feet are nearly still."""

    places: FloatArray
    """(N, 3) [m]."""


@dataclass(frozen=True, eq=False)
class FloorPlane:
    """A plane: height = `height` + `slope` . (x, y)."""

    height: float
    slope: FloatArray
    """(2,)."""
    residual: float
    """Standard deviation of resting feet that are near it [m]."""

    @property
    def turn(self) -> FloatArray:
        """The rotation that makes it level; (4,)."""
        return rotations.between(np.array([-self.slope[0], -self.slope[1], 1.0]), np.array([0.0, 0.0, 1.0]))


def resting_balls(clip: Clip) -> RestingPlaces:
    """Places of both balls of the feet in frames where they hardly move and somebody stands on them."""
    columns = [i for i, p in enumerate(clip.skeleton.contact_points) if p.name.endswith("_ball")]
    points = clip.contact_positions()[:, columns]
    speed = np.linalg.norm(steady_velocities(points, clip.fps), axis=-1)
    going = np.linalg.norm(steady_velocities(clip.root_positions[:, :2], clip.fps), axis=-1)[:, None]
    upright = clip.root_positions[:, 2, None] - points[..., 2] > _UPRIGHT * leg_length(clip.skeleton)
    return RestingPlaces(points[(speed < 0.25 + 0.08 * going) & upright])


def fit_floor(rests: Sequence[RestingPlaces]) -> FloorPlane:
    """The plane on which most resting feet of a subject lie; what stands higher is left out."""
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
    """Height on which feet rest in most takes [m]; a take on a platform is one voice."""
    levels = np.array([np.percentile(places[:, 2], 25.0) for places in takes])
    return float(np.median(levels))


def levelled(clip: Clip, floor: FloorPlane) -> Clip:
    """The clip turned and shifted so that the plane becomes z = 0."""
    turn = floor.turn
    roots = rotations.rotate(turn, clip.root_positions - np.array([0.0, 0.0, floor.height]))
    turned = np.array(clip.rotations)
    turned[:, 0] = rotations.multiply(turn, turned[:, 0])
    return replace(clip, root_positions=roots, rotations=turned)


def own_level(clip: Clip) -> tuple[float, float]:
    """Height on which a levelled take rests [m], and the share of its resting frames that do.

    The lowest level counts that is used for a quarter of the resting time; a take without rest has height 0, share 0.
    """
    heights, few = resting_balls(clip).places[:, 2], _FEW_S * clip.fps
    if len(heights) < few:
        return 0.0, 0.0
    near = heights[np.abs(heights) < _NEAR]
    if len(near) >= max(few, 0.15 * len(heights)):
        return float(np.median(near)) * len(near) / (len(near) + few), len(near) / len(heights)
    level = float(np.percentile(heights, 25.0, method="lower"))  # one that there is
    around = heights[np.abs(heights - level) < _NEAR]
    return float(np.median(around)), len(around) / len(heights)


def lifted(clip: Clip, height: float) -> Clip:
    """The clip moved up by `height` [m]."""
    return replace(clip, root_positions=clip.root_positions + np.array([0.0, 0.0, height]))


_RAISED = 0.05
"""A foot that rests higher than this stands on something [m]."""
_SHORTEST_S = 0.1
_FINE_RATE = 45.0
"""Captures with fewer frames a second show short stances badly [Hz]."""
_UNEVEN = 0.03
"""How much a foot may move up and down while it stands [m]."""
_LOADED_S = 0.07
"""A foot carries the body if for so long no other one can [s]."""
_OVER = 0.6
"""Pelvis over the thing, as a share of its height when standing, of a foot that carries."""


def with_contacts(clip: Clip, limits: ContactLimits, pelvis: float) -> Clip:
    """The clip with contacts, on a floor at z = 0 and on whatever its feet stand on above it.

    Args:
        clip: a levelled take whose contact points rest at height 0.
        limits: heights and speeds that count as resting.
        pelvis: height of the middle of the hips when standing [m].
    """
    if clip.fps < _FINE_RATE:  # a running foot is still for two or three frames only
        limits = replace(limits, shortest_s=min(limits.shortest_s, 2.0 / clip.fps))
    return detect_contacts(clip, limits, support_heights(clip, pelvis))


def support_heights(clip: Clip, pelvis: float) -> FloatArray:
    """Height of what each contact point would rest on [m]; (F, C). 0 but for feet that stand on something."""
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
