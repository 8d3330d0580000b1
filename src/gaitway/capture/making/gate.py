"""The gate: a clip is refused that pops, slides, sinks or bends joints too far, held against the capture itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from gaitway.capture.cutting.snapping import SnappedClip
from gaitway.capture.takes import PreparedTake
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.library.behavior import Behavior
from gaitway.library.reach import clip_reach
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.limits import joint_limits, violations
from gaitway.motion.roles import mirror_twins
from gaitway.motion.skeleton import Skeleton
from gaitway.world.regions import Reach

_LEAST_TURN, _LEAST_SMALL_TURN, _LEAST_STEP = 1.0, 5.0, 0.05
"""Changes of speed that are too small to be seen: of joints, of toes and hands [rad/s], of the root [m/s]."""
_OWN = 0.75
"""What the capture does itself, at the same moment, counts as this many times the usual."""


@dataclass(frozen=True)
class ClipGate:
    """How good a clip must be; what is rare in the capture may be a little worse."""

    pops: float = 1.5
    """Changes of angular velocity from frame to frame, as a multiple of the capture's 99.9th percentile."""
    rare_pops: float = 2.2
    slide: float = 0.012
    """How far a planted point moves over the floor, for a leg of 0.85 m [m]."""
    rare_slide: float = 0.02
    sink: float = 0.01
    """How far a planted point may be off the floor [m]."""
    strain_deg: float = 2.0
    """Beyond a joint's limits [degrees]."""


@dataclass(frozen=True)
class ClipQuality:
    """What was measured of a clip."""

    pop: float
    joint: str
    slide: float
    sink: float
    strain_deg: float

    @property
    def score(self) -> float:
        """One number for all, the lower the better."""
        return self.pop + 50.0 * self.slide + 30.0 * self.sink


@dataclass(frozen=True, eq=False)
class CaptureBaseline:
    """What the capture itself does."""

    turns: FloatArray
    """99.9th percentile of each joint's changes of angular velocity [rad/s]; (J,)."""
    root: float
    """The same of the root's velocity [m/s]."""
    size: float
    """As of `sightings.body_size`."""

    @classmethod
    def of(cls, takes: Sequence[PreparedTake], size: float) -> CaptureBaseline:
        """Measure the originals; what one side does, the other may do, as it does in the mirror."""
        clips = [take.clip for take in takes if not take.mirrored and len(take.clip) > 2]
        turns = np.concatenate([turn_steps(clip) for clip in clips])
        roots = np.concatenate([root_steps(clip) for clip in clips])
        usual = np.maximum(np.percentile(turns, 99.9, axis=0), _least_turns(clips[0].skeleton))
        twins = mirror_twins(clips[0].skeleton.names, clips[0].skeleton.roles)
        return cls(np.maximum(usual, usual[twins]), max(float(np.percentile(roots, 99.9)), _LEAST_STEP), size)


def _least_turns(skeleton: Skeleton) -> FloatArray:
    """Changes of angular velocity that are too small to be seen [rad/s]; (J,). Small parts may flick."""
    small = {j for role, j in skeleton.roles.items() if role.endswith(("_toe", "_wrist"))}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in small:
            small.add(joint)
    return np.array([_LEAST_SMALL_TURN if j in small else _LEAST_TURN for j in range(len(skeleton))])


def turn_steps(clip: Clip) -> FloatArray:
    """Change of every joint's angular velocity from frame to frame [rad/s]; (F - 2, J)."""
    spins = rotations.to_rotation_vector(
        rotations.multiply(clip.rotations[1:], rotations.conjugate(clip.rotations[:-1]))
    )
    return np.asarray(np.linalg.norm(np.diff(spins, axis=0), axis=-1) * clip.fps)


def root_steps(clip: Clip) -> FloatArray:
    """Change of the root's velocity from frame to frame [m/s]; (F - 2,)."""
    return np.asarray(np.linalg.norm(np.diff(clip.root_positions, n=2, axis=0), axis=-1) * clip.fps)


def measure_quality(clip: Clip, bars: CaptureBaseline, raw: Clip | None = None) -> ClipQuality:
    """How good a clip is.

    Args:
        clip: the motion.
        bars: what the capture does.
        raw: the frames that it was made of; what they do themselves, at the same moment, is not held against it.
    """
    turns, roots = turn_steps(clip), root_steps(clip)
    turn_bars, root_bars = np.broadcast_to(bars.turns, turns.shape), np.full(len(roots), bars.root)
    if raw is not None and len(raw) == len(clip):
        turn_bars, root_bars = _forgiving(turn_bars, turn_steps(raw)), _forgiving(root_bars, root_steps(raw))
    turns, roots = turns / turn_bars, roots / root_bars
    joint = int(np.argmax(turns.max(axis=0))) if len(turns) else 0
    pop = max(float(turns.max(initial=0.0)), float(roots.max(initial=0.0)))
    name = clip.skeleton.names[joint] if turns.max(initial=0.0) >= roots.max(initial=0.0) else "root"
    slide, sink = _feet(clip)
    strain = float(violations(clip, joint_limits(clip.skeleton)).max(initial=0.0))
    return ClipQuality(pop, name, slide, sink, strain)


def _forgiving(bars: FloatArray, own: FloatArray) -> FloatArray:
    """Bars (F, ...) that what the capture does itself within a frame just does not reach."""
    around = scipy.ndimage.maximum_filter1d(own, 3, axis=0, mode="nearest")
    return np.asarray(np.maximum(bars, _OWN * around))


def _feet(clip: Clip) -> tuple[float, float]:
    """The farthest slide of a planted point [m], and the farthest that one is off the floor [m]."""
    if clip.contacts is None:
        return 0.0, 0.0
    points, slide = clip.contact_positions(), 0.0
    for column, point in enumerate(clip.skeleton.contact_points):
        if point.rolls:
            continue
        for start, stop in stances(clip.contacts[:, column]):
            track = points[start:stop, column, :2]
            slide = max(slide, float(np.linalg.norm(track - track[0], axis=-1).max()))
    off = np.abs(points[..., 2])[clip.contacts]
    return slide, float(off.max(initial=0.0))


def refusal(quality: ClipQuality, gate: ClipGate, bars: CaptureBaseline, *, rare: bool) -> str:
    """Why a clip is not good enough, in words; empty where it is."""
    pops = gate.rare_pops if rare else gate.pops
    slide = (gate.rare_slide if rare else gate.slide) * bars.size
    if quality.pop > pops:
        return f"{quality.joint} pops: {quality.pop:.1f} times what the capture does"
    if quality.slide > slide:
        return f"a foot slides {100.0 * quality.slide:.1f} cm"
    if quality.sink > gate.sink:
        return f"a planted foot is {100.0 * quality.sink:.1f} cm off the floor"
    if quality.strain_deg > gate.strain_deg:
        return f"a joint is {quality.strain_deg:.0f} degrees beyond its limit"
    return ""


_SHORTEST = 0.6
"""A special motion that goes less far gets past nothing, for a leg of 0.85 m [m]."""
_OVER, _UNDER = 0.1, 0.84
"""A jump clears at least this height, for a leg of 0.85 m [m]; a duck passes under this share of standing height."""
_ABOUT = 0.1
"""To each side of the place of passing [m]."""
_AHEAD = np.radians(40.0)
"""Obstacles are passed ahead, within this angle [rad]."""


def passing_problem(snapped: SnappedClip, size: float) -> str:
    """Why a special motion gets past nothing, in words; empty where it does, and for what is not special."""
    if not snapped.special:
        return ""
    path = snapped.clip.planar_path()
    if float(np.linalg.norm(path[-1, :2] - path[0, :2])) < _SHORTEST * size:
        return f"a {snapped.special} on the spot gets past nothing"
    clip = snapped.clip
    behavior = Behavior("", (), "", "", snapped.special, snapped.pass_frame / clip.fps)
    reach = clip_reach(clip, behavior)
    if abs(reach.heading) > _AHEAD:
        return f"a {snapped.special} that does not go ahead"
    if snapped.special == "jump" and (height := clearance(reach)) < _OVER * size:
        return f"a jump that clears only {100.0 * height:.0f} cm"
    if snapped.special == "duck" and headroom(reach) > _UNDER * _standing(snapped):
        return f"a duck that needs {headroom(reach):.2f} m of headroom, hardly less than upright"
    return ""


def passing_height(snapped: SnappedClip) -> float | None:
    """Height that a jump clears, or headroom that a duck or crawl needs, where it passes [m]; None for all else."""
    if snapped.special not in ("jump", "duck", "crawl"):
        return None
    behavior = Behavior("", (), "", "", snapped.special, snapped.pass_frame / snapped.clip.fps)
    reach = clip_reach(snapped.clip, behavior)
    return round(clearance(reach) if snapped.special == "jump" else headroom(reach), 3)


def clearance(reach: Reach) -> float:
    """How high the lowest point of the body is where it passes [m]."""
    return float(reach.lowest[_near(reach)].min(initial=np.inf))


def headroom(reach: Reach) -> float:
    """How high the highest point of the body is where it passes [m]."""
    return float(reach.highest[_near(reach)].max(initial=-np.inf))


def _near(reach: Reach) -> BoolArray:
    places = reach.first + reach.cell * (np.arange(len(reach.lowest)) + 0.5)
    return np.asarray(np.abs(places - reach.passing) <= _ABOUT)


def _standing(snapped: SnappedClip) -> float:
    """Height of the body at the end of a clip that is higher [m]."""
    body = capsule_body(snapped.clip.skeleton)
    tops = capsules(snapped.clip, body)[[0, -1], ..., 2].max(axis=-1) + body.radii
    return float(tops.max())
