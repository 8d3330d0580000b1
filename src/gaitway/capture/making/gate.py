"""Quality gate of clips.

The gate refuses a clip that pops, slides, sinks or bends joints too far, in relation to the capture itself. It also
refuses a special motion that passes no obstacle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from gaitway.capture.cutting.snapping import SnappedClip
from gaitway.capture.takes import PreparedTake
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.graphs.minima import first_least
from gaitway.library.behavior import Behavior
from gaitway.library.reach import clip_reach
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.quality import (
    greatest_limit_excess,
    greatest_slide,
    joint_velocity_changes,
    planted_height_error,
    root_velocity_changes,
    usual_velocity_changes,
)
from gaitway.motion.roles import mirror_twins
from gaitway.motion.skeleton import Skeleton
from gaitway.world.regions import Reach

_LEAST_TURN, _LEAST_SMALL_TURN, _LEAST_STEP = 1.0, 5.0, 0.05
"""Changes of velocity that are too small to be seen: of joints, of toes and hands [rad/s], of the root [m/s]."""
_OWN = 0.75
"""Factor of the capture's own change of velocity at the same moment; the bar of a frame is at least that high."""
_FRAME_S = 1.0 / 30.0
"""Time in which turns of joints are measured [s]."""
_FASTEST = {
    "hip": 45.0, "knee": 45.0, "ankle": 45.0, "shoulder": 50.0, "elbow": 50.0, "wrist": 75.0, "toe": 75.0,
}  # fmt: skip
_FASTEST_OTHER = 35.0
"""Largest turns in that time by role, and of all other joints [degrees]. In 200 sprints, jumps and turns nothing but
faults of the capture turns more."""
_SUDDEN = 57.0
"""Largest change of a joint's turn from one thirtieth of a second to the next [degrees]. The audit allows 60, whatever
the clip was made of; blends at joins and changes of rhythm need the rest."""
_SHORTEST = 0.6
"""Least distance that a special motion travels, for a leg of 0.85 m [m]."""
_OVER, _UNDER = 0.1, 0.84
"""Least height that a jump clears, for a leg of 0.85 m [m]; largest headroom of a duck, as a share of standing."""
_ABOUT = 0.1
"""Distance to each side of the place of passing in which heights are measured [m]."""
_LATER_S, _SAME_ROOM = 0.6, 0.005
"""Time around the lowest head in which a duck may pass its obstacle [s], and the headroom that makes no difference
[m]."""
_AHEAD = np.radians(40.0)
"""Largest angle between the facing direction and the direction in which an obstacle is passed [rad]."""


@dataclass(frozen=True)
class ClipGate:
    """Limits of the quality of a clip; clips of rare motions may be a little worse."""

    pops: float = 1.5
    """Largest change of angular velocity between frames, as a multiple of the capture's 99.9th percentile."""
    rare_pops: float = 2.2
    """The same for rare motions."""
    slide: float = 0.012
    """Largest slide of a planted point over the floor, for a leg of 0.85 m [m]."""
    rare_slide: float = 0.02
    """The same for rare motions [m]."""
    sink: float = 0.01
    """Largest distance of a planted point from the floor [m]."""
    strain_deg: float = 2.0
    """Largest violation of a joint limit [degrees]."""
    under: float = 0.03
    """Largest depth of a point of a foot under the floor, planted or not, for a leg of 0.85 m [m]."""


@dataclass(frozen=True)
class ClipQuality:
    """Measured quality of a clip."""

    pop: float
    """Largest change of velocity between frames, as a multiple of the capture's."""
    joint: str
    """Name of the joint with that change."""
    slide: float
    """Largest slide of a planted point [m]."""
    sink: float
    """Largest distance of a planted point from the floor [m]."""
    strain_deg: float
    """Largest violation of a joint limit [degrees]."""
    under: float = 0.0
    """Largest depth of a point of a foot under the floor [m]."""
    flip: float = 0.0
    """Largest turn of a joint in a thirtieth of a second, or change of that turn to the next, as a multiple of what a
    joint may do at all."""
    flipped: str = ""
    """Joint of that turn or change, and the angle in words."""

    @property
    def score(self) -> float:
        """Weighted sum of the measures; a lower score is better."""
        return self.pop + 50.0 * self.slide + 30.0 * self.sink


@dataclass(frozen=True, eq=False)
class CaptureBaseline:
    """Changes of velocity in the capture itself, which clips are compared with."""

    turns: FloatArray
    """99.9th percentile of the changes of each joint's angular velocity [rad/s]; (J,)."""
    root: float
    """99.9th percentile of the changes of the root's velocity [m/s]."""
    size: float
    """Size of the subject, as `pose_index.body_size` gives it."""

    @classmethod
    def of(cls, takes: Sequence[PreparedTake], size: float) -> CaptureBaseline:
        """Measure the original takes; both sides get the larger value, because mirror images swap them."""
        clips = [take.clip for take in takes if not take.mirrored and len(take.clip) > 2]
        skeleton = clips[0].skeleton
        usual = usual_velocity_changes(clips, least_joint=_least_turns(skeleton), least_root=_LEAST_STEP)
        turns, twins = usual[:-1], mirror_twins(skeleton.names, skeleton.roles)
        return cls(np.maximum(turns, turns[twins]), float(usual[-1]), size)


def _least_turns(skeleton: Skeleton) -> FloatArray:
    """Return changes of angular velocity that are too small to be seen [rad/s]; (J,). Toes and hands may flick."""
    small = {j for role, j in skeleton.roles.items() if role.endswith(("_toe", "_wrist"))}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in small:
            small.add(joint)
    return np.array([_LEAST_SMALL_TURN if j in small else _LEAST_TURN for j in range(len(skeleton))])


def measure_quality(clip: Clip, bars: CaptureBaseline, raw: Clip | None = None) -> ClipQuality:
    """Measure the quality of a clip.

    Args:
        clip: Motion.
        bars: Changes of velocity in the capture.
        raw: Frames that the clip was made from; a change of velocity that they have at the same moment is allowed.
    """
    turns, roots = joint_velocity_changes(clip), root_velocity_changes(clip)
    turn_bars, root_bars = np.broadcast_to(bars.turns, turns.shape), np.full(len(roots), bars.root)
    if raw is not None and len(raw) == len(clip):
        turn_bars = _forgiving(turn_bars, joint_velocity_changes(raw))
        root_bars = _forgiving(root_bars, root_velocity_changes(raw))
    turns, roots = turns / turn_bars, roots / root_bars
    joint = int(np.argmax(turns.max(axis=0))) if len(turns) else 0
    pop = max(float(turns.max(initial=0.0)), float(roots.max(initial=0.0)))
    name = clip.skeleton.names[joint] if turns.max(initial=0.0) >= roots.max(initial=0.0) else "root"
    under = -float(clip.contact_positions()[..., 2].min(initial=0.0))
    flip, flipped = _greatest_flip(clip)
    return ClipQuality(
        pop,
        name,
        greatest_slide(clip, None),
        planted_height_error(clip),
        greatest_limit_excess(clip),
        under,
        flip,
        flipped,
    )


def _greatest_flip(clip: Clip) -> tuple[float, str]:
    """Return the largest turn of a joint between two frames, or change of it, as a multiple of its bar, and in words.

    Unlike pops, these bars are absolute: a foot that flips in the capture itself flips in every film.
    """
    if len(clip) < 2:
        return 0.0, ""
    turns = np.degrees(rotations.angle_between(clip.rotations[1:], clip.rotations[:-1])) * clip.fps * _FRAME_S
    bars = np.full(len(clip.skeleton), _FASTEST_OTHER)
    for role, joint in clip.skeleton.roles.items():
        bars[joint] = _FASTEST.get(role.removeprefix("left_").removeprefix("right_"), _FASTEST_OTHER)
    for joint, parent in enumerate(clip.skeleton.parents.tolist()):  # fingers and toes turn with hands and feet
        if joint not in clip.skeleton.roles.values() and parent >= 0:
            bars[joint] = max(bars[joint], bars[parent])
    worst = int(np.argmax((turns / bars).max(axis=0)))
    turn = float(turns[:, worst].max())
    sudden = np.degrees(joint_velocity_changes(clip)) * _FRAME_S
    if sudden.max(initial=0.0) / _SUDDEN > turn / float(bars[worst]):
        joint = int(np.argmax(sudden.max(axis=0)))
        change = float(sudden[:, joint].max())
        return change / _SUDDEN, f"{clip.skeleton.names[joint]} changes its turn by {change:.0f} degrees"
    return turn / float(bars[worst]), f"{clip.skeleton.names[worst]} flips by {turn:.0f} degrees"


def _forgiving(bars: FloatArray, own: FloatArray) -> FloatArray:
    """Return the bars (F, ...), raised where the capture itself changes as much within one frame."""
    around = scipy.ndimage.maximum_filter1d(own, 3, axis=0, mode="nearest")
    return np.asarray(np.maximum(bars, _OWN * around))


def refusal(quality: ClipQuality, gate: ClipGate, bars: CaptureBaseline, *, rare: bool) -> str:
    """Return why a clip does not pass the gate; an empty string if it passes."""
    pops = gate.rare_pops if rare else gate.pops
    slide = (gate.rare_slide if rare else gate.slide) * bars.size
    if quality.pop > pops:
        return f"{quality.joint} pops: {quality.pop:.1f} times what the capture does"
    if quality.flip > 1.0:
        return f"{quality.flipped} in 1/30 s"
    if quality.under > gate.under * bars.size:
        return f"a foot is {100.0 * quality.under:.1f} cm under the floor"
    if quality.slide > slide:
        return f"a foot slides {100.0 * quality.slide:.1f} cm"
    if quality.sink > gate.sink:
        return f"a planted foot is {100.0 * quality.sink:.1f} cm off the floor"
    if quality.strain_deg > gate.strain_deg:
        return f"a joint is {quality.strain_deg:.0f} degrees beyond its limit"
    return ""


def passing_problem(snapped: SnappedClip, size: float) -> str:
    """Return why a special motion passes no obstacle; an empty string if it does, or if the clip is not special."""
    if not snapped.special:
        return ""
    path = snapped.clip.planar_path()
    if float(np.linalg.norm(path[-1, :2] - path[0, :2])) < _SHORTEST * size:
        return f"a {snapped.special} on the spot passes no obstacle"
    reach = _reach(snapped)
    if abs(reach.heading) > _AHEAD:
        return f"a {snapped.special} that does not go ahead"
    if snapped.special == "jump" and (height := clearance(reach)) < _OVER * size:
        return f"a jump that clears only {100.0 * height:.0f} cm"
    if snapped.special == "duck" and headroom(reach) > _UNDER * _standing(snapped):
        return f"a duck that needs {headroom(reach):.2f} m of headroom, hardly less than upright"
    return ""


def with_best_passing(snapped: SnappedClip) -> SnappedClip:
    """Return a duck that passes its obstacle where it needs least headroom.

    That is not where the head is lowest: the head of who ducks is far ahead of the hips, and it is lowest before the
    back is. All other clips are returned as they are.
    """
    if snapped.special != "duck":
        return snapped
    path = snapped.clip.planar_path()[:, :2]
    travel = path[-1] - path[0]
    length = float(np.linalg.norm(travel))
    if length < _ABOUT:
        return snapped
    reach = _reach(snapped)
    stations = (path - path[0]) @ (travel / length)
    near = np.flatnonzero(np.abs(np.arange(len(path)) - snapped.pass_frame) <= _LATER_S * snapped.clip.fps)
    rooms = np.array([headroom(replace(reach, passing=float(stations[frame]))) for frame in near])
    return replace(snapped, pass_frame=int(near[first_least(rooms, _SAME_ROOM)]))


def _reach(snapped: SnappedClip) -> Reach:
    return clip_reach(snapped.clip, Behavior("", (), "", "", snapped.special, snapped.pass_frame / snapped.clip.fps))


def passing_height(snapped: SnappedClip) -> float | None:
    """Return the height that a jump clears, or the headroom that a duck or crawl needs [m]; None for other clips."""
    if snapped.special not in ("jump", "duck", "crawl"):
        return None
    reach = _reach(snapped)
    return round(clearance(reach) if snapped.special == "jump" else headroom(reach), 3)


def clearance(reach: Reach) -> float:
    """Return the height of the lowest point of the body where it passes the obstacle [m]."""
    return float(reach.lowest[_near(reach)].min(initial=np.inf))


def headroom(reach: Reach) -> float:
    """Return the height of the highest point of the body where it passes the obstacle [m]."""
    return float(reach.highest[_near(reach)].max(initial=-np.inf))


def _near(reach: Reach) -> BoolArray:
    places = reach.first + reach.cell * (np.arange(len(reach.lowest)) + 0.5)
    return np.asarray(np.abs(places - reach.passing) <= _ABOUT)


def _standing(snapped: SnappedClip) -> float:
    """Return the height of the body at the begin or end of a clip, whichever is higher [m]."""
    body = capsule_body(snapped.clip.skeleton)
    tops = capsules(snapped.clip, body)[[0, -1], ..., 2].max(axis=-1) + body.radii
    return float(tops.max())
