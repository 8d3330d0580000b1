"""Arms that carry: while somebody walks or stands with a thing, that arm keeps it before the body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.handling.clearing import CarriedForm, cleared
from gaitway.limbs.linkage import find_limb
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.take.data import Layer
from gaitway.take.evaluation import sampled
from gaitway.take.model import Take

LAYER = "carrying"
"""Name of the layers."""
_SWING, _MOST = 0.15, 0.025
"""Share of an arm's own swing that is left to it while it carries, and how far it swings at most [rad]."""
_SOFT = 0.5
"""Time over which that swing comes and goes [s]."""
_HUNG = 0.5
"""Time over which arms begin and cease to hang at the ends of a motion [s]."""
_EDGE = 0.25
"""Time over which an arm goes over from its take to its own motion, and back [s]."""


@dataclass(frozen=True, eq=False)
class Carry:
    """An arm that carries a thing, from one time to another."""

    who: str
    hand: str
    start: float
    """When the motion begins by which it gets the thing [s], or the first moment of who has it already."""
    end: float
    """When the motion ends by which it is rid of it [s], or the last moment."""
    turns: FloatArray
    """Local turns of shoulder, elbow and wrist while nothing else is done; (3, 4)."""
    form: CarriedForm | None = None
    """The thing, which is kept clear of the rest of the body; None does not look."""


def with_carrying(take: Take, carries: Sequence[Carry], motions: Mapping[str, Sequence[tuple[float, Clip]]]) -> Take:
    """Return a take in which arms carry.

    Joins between clips are smoothed by the take, and its people sway; an arm that carries does neither.

    Args:
        take: the take.
        carries: which arms carry from when to when.
        motions: motion of everybody who handles things, and when each begins [s], by name.
    """
    layers = []
    for carry in carries:
        if carry.who in take.names and (layer := _layer(take, carry, motions.get(carry.who, ()))) is not None:
            layers.append(layer)
    return replace(take, layers=(*take.layers, *layers)) if layers else take


def hung(clip: Clip, stand: Clip) -> Clip:
    """Return a motion whose arms hang at both ends as somebody stands; arms that carry there are a layer's.

    Clips then join without a jump, whatever is carried, and at any time between two frames.

    Args:
        clip: the motion.
        stand: the standing pose, one frame.
    """
    local, times = np.array(clip.rotations), np.arange(len(clip)) / clip.fps
    share = np.minimum(ease(times / _HUNG), ease((clip.duration - times) / _HUNG))
    for hand in ("left", "right"):
        joints = find_limb(clip.skeleton, f"{hand}_arm").joints
        rest = np.broadcast_to(stand.rotations[0, joints], (len(clip), len(joints), 4))
        apart = rotations.angle_between(local[[0, -1]][:, joints], rest[[0, -1]]).max(axis=1)
        ramp = np.ones(len(clip))
        for far, begins in zip(apart, (True, False), strict=True):
            if far > 1e-4:
                half = times < 0.5 * clip.duration
                ramp = np.where(half == begins, share, ramp)
        if ramp.min() < 1.0:
            local[:, joints] = rotations.slerp(rest, local[:, joints], ramp[:, None])
    return replace(clip, rotations=rotations.continuous(rotations.normalize(local)))


def _layer(take: Take, carry: Carry, motions: Sequence[tuple[float, Clip]]) -> Layer | None:
    character = take.index(carry.who)
    body = int(take.bodies[character])
    first = np.ceil((max(carry.start, take.start(character))) * take.fps - 1e-6)
    ends = float(take.ends[character])
    last = np.floor(carry.end * take.fps + 1e-6) if carry.end < ends else np.ceil(ends * take.fps - 1e-6)
    if last < first:
        return None
    times = np.arange(int(first), int(last) + 1) / take.fps
    joints = find_limb(take.skeletons[body], f"{carry.hand}_arm").joints
    who: IntArray = np.full(len(times), character, dtype=np.int64)
    roots, whole = sampled(take, body, who, np.minimum(times, ends))
    local = whole[:, joints]
    wanted = np.tile(carry.turns, (len(times), 1, 1))
    busy = [(start, start + clip.duration) for start, clip in motions]
    loose = _loose(times, [*busy, (-np.inf, carry.start), (carry.end, np.inf)])
    walked = loose > 0.5
    if walked.any():
        swing = rotations.multiply(local[:, 0], rotations.conjugate(rotations.mean(local[walked, 0])))
        vectors = _SWING * rotations.to_rotation_vector(swing)
        far = np.linalg.norm(vectors, axis=1)
        vectors *= (loose * np.minimum(1.0, _MOST / np.maximum(far, 1e-9)))[:, None]
        swing = rotations.from_rotation_vector(vectors)
        wanted[:, 0] = rotations.multiply(swing, wanted[:, 0])
    if carry.form is not None:
        free = _loose(times, busy)
        wanted = cleared(take.skeletons[body], carry.hand, roots, whole, wanted, carry.form, free, take.fps)
    for start, clip in motions:
        some = np.flatnonzero((times >= start - 1e-6) & (times <= start + clip.duration + 1e-6))
        if len(some):
            wanted[some] = _shown(clip, joints, times[some] - start)
    edge = np.ones(len(times))
    if busy and any(abs(begin - carry.start) < 1e-6 for begin, _ in busy):
        edge = np.minimum(edge, ease((times - carry.start) / _EDGE))
    if busy and any(abs(end - carry.end) < 1e-6 for _, end in busy):
        edge = np.minimum(edge, ease((carry.end - times) / _EDGE))
    turns = rotations.multiply(rotations.conjugate(local), wanted)
    turns = rotations.slerp(rotations.identity(*turns.shape[:-1]), turns, edge[:, None])
    packed = rotations.normalize(rotations.continuous(turns)).astype(np.float32)
    return Layer(character, float(times[0]), joints, packed, name=LAYER)


def _shown(clip: Clip, joints: IntArray, times: FloatArray) -> FloatArray:
    """Return the local turns of joints (K,) of a clip at times (N,) [s]; (N, K, 4)."""
    at = np.clip(times * clip.fps, 0.0, len(clip) - 1.0)
    low = np.minimum(at.astype(np.int64), max(len(clip) - 2, 0))
    high = np.minimum(low + 1, len(clip) - 1)
    return rotations.slerp(clip.rotations[low][:, joints], clip.rotations[high][:, joints], (at - low)[:, None])


def _loose(times: FloatArray, busy: Sequence[tuple[float, float]]) -> FloatArray:
    """Return weights (F,) that are 0 while somebody is busy, and grow to 1 before and after that."""
    away = np.full(len(times), np.inf)
    for begin, end in busy:
        away = np.minimum(away, np.maximum(np.maximum(begin - times, times - end), 0.0))
    return np.asarray(ease(np.clip(away / _SOFT, 0.0, 1.0)))
