"""Motions between two others: of two clips that take the same steps, one that is partly each.

Clips are aligned in time by when their feet land and lift. At equal phases speed and turning rate of the root are
blended and then integrated, so two arcs give an arc in between; joints are blended as rotations, and feet as places
under the root as well, to which the legs are then led. What a planted foot still slides by is taken from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import bridge
from gaitway.motion.ik import bend_chain, set_limb, two_bone
from gaitway.motion.legs import Leg, all_legs, chain_of
from gaitway.motion.skeleton import Skeleton

_ORDER_S = 0.07
"""Landings and liftings of different feet that are no farther apart than this may come in either order [s]."""
_CLOSEST = 1.0
"""Distance of events below which they do not bend time [frames]."""
_STEEPEST = 2.9
"""Highest speed of time at an end, relative to its mean up to the next event; above 3 it could run backwards."""
_SOFTNESS = 0.0005
"""Legs are led by little, so those that are straight in the sources may stay so; see `gaitway.motion.ik.SOFTNESS`."""
_EASE_S = 0.3
"""Time over which corrections of a foot fade in the air [s]."""
_SURE = 0.45
"""Distance to landing and lifting, which are half way between frames, above which a point surely rests [frames]."""
_SHORTEST = 4
"""Least number of frames of a smooth curve through a clip."""
_FAR = 1e3
"""Stand-in for infinity, for contacts that never change [frames]."""


def step_sequence(clip: Clip) -> tuple[tuple[bool, int], ...] | None:
    """Return how each foot steps: whether it is down at first and how often that changes; None without contacts."""
    if clip.contacts is None:
        return None
    return tuple((bool(down[0]), int(np.count_nonzero(np.diff(down)))) for down in _support(clip))


def align(a: Clip, b: Clip) -> FloatArray | None:
    """Return the frames of two clips that belong together: ends, landings and liftings; (K, 2).

    None if the clips do not take the same steps in the same order.
    """
    if step_sequence(a) is None or step_sequence(a) != step_sequence(b):
        return None
    changes = [[np.flatnonzero(np.diff(down)) + 0.5 for down in _support(clip)] for clip in (a, b)]
    pairs = np.column_stack([np.concatenate([*one, []]) for one in changes])
    pairs = pairs[np.argsort(pairs.sum(axis=1), kind="stable")]
    if len(pairs) and np.diff(pairs, axis=0).min(initial=0.0) < -_ORDER_S * a.fps:
        return None
    last = np.array([len(a) - 1.0, len(b) - 1.0])
    knots = [np.zeros(2)]
    for pair in pairs:
        if (pair - knots[-1]).min() >= _CLOSEST and (last - pair).min() >= _CLOSEST:
            knots.append(pair)
    return np.array([*knots, last])


@dataclass(frozen=True, eq=False)
class _MorphSource:
    """A clip as smooth functions of its frame number, seen from its root."""

    clip: Clip
    curves: scipy.interpolate.CubicSpline
    """Channels: path (3), height (1), joints (4 each, the root's without its heading), feet (3 + 4 a leg)."""

    @classmethod
    def of(cls, clip: Clip, legs: tuple[Leg, ...]) -> _MorphSource:
        path = clip.planar_path()
        positions, world = clip.joint_transforms()
        back, under = rotations.from_yaw(-path[:, 2]), path * [1.0, 1.0, 0.0]
        joints = np.array(clip.rotations)
        joints[:, 0] = rotations.multiply(back, joints[:, 0])
        ends = [leg.joints[2] for leg in legs]
        places = rotations.rotate(back[:, None], positions[:, ends] - under[:, None])
        turns = rotations.multiply(back[:, None], world[:, ends])
        parts = [path, clip.root_positions[:, 2:], rotations.continuous(joints), places, rotations.continuous(turns)]
        channels = np.concatenate([part.reshape(len(clip), -1) for part in parts], axis=1)
        return cls(clip, scipy.interpolate.CubicSpline(np.arange(len(clip)), channels, axis=0))


@dataclass(frozen=True, eq=False)
class Morph:
    """All motions between two clips that take the same steps; made by `Morph.between`."""

    a: _MorphSource
    b: _MorphSource
    knots: FloatArray
    """Frames that belong together; (K, 2)."""
    legs: tuple[Leg, ...]

    @classmethod
    def between(cls, a: Clip, b: Clip) -> Morph | None:
        """Return the blends from `a` (share 0) to `b` (share 1); None if their steps or rates differ."""
        knots = align(a, b)
        if knots is None or a.fps != b.fps or min(len(a), len(b)) < _SHORTEST:
            return None
        legs = tuple(leg for leg in all_legs(a.skeleton) if _used(leg, a) or _used(leg, b))
        return cls(_MorphSource.of(a, legs), _MorphSource.of(b, legs), knots, legs)

    def path(self, share: float) -> FloatArray:
        """Return the root's planar path (x, y, heading) for a share of `b`, from where `a` begins; (F, 3)."""
        paths = [source.curves(at)[:, :3] for source, at in zip((self.a, self.b), self._times(share), strict=True)]
        steps = _mixed(_steps(paths[0]), _steps(paths[1]), share)
        return _travelled(self.a.clip.planar_path()[0], steps)

    def clip(self, share: float, name: str) -> Clip:
        """Return the motion with a share of `b`: 0 is `a`, 1 is `b`.

        The first and the last pose are blends of those of the sources, with nothing done to them: clips that begin and
        end in the same poses have these in between, too.
        """
        times = self._times(share)
        path, (joints, height, places, turns) = self.path(share), self._blended(times, share)
        yaw = rotations.from_yaw(path[:, 2])
        joints[:, 0] = rotations.multiply(yaw, joints[:, 0])
        plain = replace(
            self.a.clip,
            root_positions=np.column_stack([path[:, :2], height]),
            rotations=joints,
            name=name,
            contacts=self._contacts(times, share),
        )
        places = (path * [1.0, 1.0, 0.0])[:, None] + rotations.rotate(yaw[:, None], places)
        turns = rotations.multiply(yaw[:, None], turns)
        plain = _raised(plain, self.legs, places)
        led = _with_feet(plain, self.legs, places, turns)
        slides = _slides(led, self.legs)
        return _with_feet(plain, self.legs, places - slides, turns) if slides.any() else led

    def _times(self, share: float) -> tuple[FloatArray, FloatArray]:
        """Return, for each frame of the result, the frames of `a` and of `b` that it is made of; (F,) each."""
        when = _mixed(self.knots[:, 0], self.knots[:, 1], share)
        count = round(float(when[-1])) + 1
        when = when * ((count - 1) / when[-1])
        frames = np.arange(float(count))
        return _warped(frames, when, self.knots[:, 0]), _warped(frames, when, self.knots[:, 1])

    def _blended(
        self, times: tuple[FloatArray, FloatArray], share: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the rotations of joints, height of the root, and places and rotations of feet, seen from the root."""
        count, legs = len(self.a.clip.skeleton), len(self.legs)
        cuts = np.cumsum([3, 1, 4 * count, 3 * legs])
        one, other = (
            np.split(source.curves(at), cuts, axis=1) for source, at in zip((self.a, self.b), times, strict=True)
        )
        turned = [
            rotations.slerp(one[k].reshape(-1, n, 4), other[k].reshape(-1, n, 4), share)
            for k, n in ((2, count), (4, legs))
        ]
        places = _mixed(one[3], other[3], share).reshape(-1, legs, 3)
        return turned[0], _mixed(one[1], other[1], share), places, turned[1]

    def _contacts(self, times: tuple[FloatArray, FloatArray], share: float) -> BoolArray:
        """Return the contacts whose beginnings and ends lie between those of the sources; (F, C)."""
        inside = [_inside(source.clip, at) for source, at in zip((self.a, self.b), times, strict=True)]
        return np.asarray(_mixed(inside[0], inside[1], share) > _SURE)


def _used(leg: Leg, clip: Clip) -> bool:
    """Return whether a limb ever rests on the ground, or stands on something that does."""
    return clip.contacts is None or not leg.columns or bool(clip.contacts[:, list(leg.columns)].any())


def _support(clip: Clip) -> BoolArray:
    """Return whether each foot (or other single point) is down; (feet, F)."""
    assert clip.contacts is not None
    return np.array([clip.contacts[:, columns].any(axis=1) for columns in _feet(clip.skeleton)], dtype=bool)


def _feet(skeleton: Skeleton) -> list[list[int]]:
    """Return the columns of contact points that belong to one foot."""
    feet: dict[str, list[int]] = {}
    for column, point in enumerate(skeleton.contact_points):
        side, _, part = point.name.rpartition("_")
        feet.setdefault(side if part in ("heel", "ball", "toe") else point.name, []).append(column)
    return list(feet.values())


def _mixed(a: FloatArray, b: FloatArray, share: float) -> FloatArray:
    return np.asarray(a + share * (b - a))


def _warped(frames: FloatArray, when: FloatArray, source: FloatArray) -> FloatArray:
    """Return the source frames of given frames: smooth, rising, and in step with time at both ends."""
    slopes = scipy.interpolate.PchipInterpolator(when, source).derivative()(when) if len(when) > 2 else np.ones(2)
    mean = np.diff(source) / np.diff(when)
    slopes[0], slopes[-1] = min(1.0, _STEEPEST * mean[0]), min(1.0, _STEEPEST * mean[-1])
    warped = scipy.interpolate.CubicHermiteSpline(when, source, slopes)(frames)
    return np.asarray(np.clip(warped, 0.0, source[-1]))


def _steps(path: FloatArray) -> FloatArray:
    """Return motion ahead, to the left, and turn from frame to frame, relative to their mean heading; (F - 1, 3)."""
    step, middle = np.diff(path, axis=0), 0.5 * (path[1:, 2] + path[:-1, 2])
    c, s = np.cos(middle), np.sin(middle)
    return np.column_stack([c * step[:, 0] + s * step[:, 1], c * step[:, 1] - s * step[:, 0], step[:, 2]])


def _travelled(start: FloatArray, steps: FloatArray) -> FloatArray:
    """Return the path of such steps; (F, 3)."""
    heading = start[2] + np.concatenate([[0.0], np.cumsum(steps[:, 2])])
    middle = 0.5 * (heading[1:] + heading[:-1])
    c, s = np.cos(middle), np.sin(middle)
    moves = np.column_stack([c * steps[:, 0] - s * steps[:, 1], s * steps[:, 0] + c * steps[:, 1]])
    return np.column_stack([start[:2] + np.vstack([np.zeros(2), np.cumsum(moves, axis=0)]), heading])


def _inside(clip: Clip, at: FloatArray) -> FloatArray:
    """Return how many frames each contact is away from its nearest change, negative while it is off; (F, C)."""
    assert clip.contacts is not None
    out = np.full((len(at), clip.contacts.shape[1]), _FAR)
    for column, flags in enumerate(clip.contacts.T):
        edges = np.flatnonzero(np.diff(flags)) + 0.5
        if len(edges):
            out[:, column] = np.abs(at[:, None] - edges).min(axis=1)
    nearest = np.floor(at + 0.5).astype(np.int64)
    return np.where(clip.contacts[nearest], out, -out)


def _raised(clip: Clip, legs: tuple[Leg, ...], places: FloatArray) -> Clip:
    """Return the clip with its root raised so that the ends of its legs reach places (F, L, 3) on average.

    A body that leans half as far as another stands higher than half way between.
    """
    if not legs:
        return clip
    ends = clip.joint_positions()[:, [leg.joints[2] for leg in legs]]
    lift = (places - ends)[..., 2].mean(axis=1)
    return replace(clip, root_positions=clip.root_positions + lift[:, None] * [0.0, 0.0, 1.0])


def _with_feet(clip: Clip, legs: tuple[Leg, ...], places: FloatArray, turns: FloatArray) -> Clip:
    """Return the clip with the ends of its legs at places (F, L, 3) with rotations (F, L, 4).

    The first and the last frame stay.
    """
    positions, world = clip.joint_transforms()
    local = np.array(clip.rotations)
    for k, leg in enumerate(legs):
        chain = list(leg.joints) if leg.human else chain_of(clip.skeleton, leg)
        points, above = positions[:, chain], world[:, chain[:-1]]
        if leg.human:
            hip, knee, ankle = points.swapaxes(0, 1)
            pole = knee - 0.5 * (hip + ankle)
            pole /= np.maximum(np.linalg.norm(pole, axis=-1, keepdims=True), 1e-9)
            thigh, shank = above.swapaxes(0, 1)
            led = two_bone(hip, knee, ankle, thigh, shank, places[:, k], pole, softness=_SOFTNESS)
            bones = np.stack(led, axis=1)
        else:
            bones = bend_chain(points, above, places[:, k])
        set_limb(local, world, clip.skeleton.parents.tolist(), chain, [*bones.swapaxes(0, 1), turns[:, k]])
    local[[0, -1]] = clip.rotations[[0, -1]]
    return replace(clip, rotations=rotations.normalize(local))


def _slides(clip: Clip, legs: tuple[Leg, ...]) -> FloatArray:
    """Return what planted feet have moved by [m]; (F, L, 3). Nothing at both ends of the clip, and smooth in the air.

    From frame to frame a foot slides by the mean of its points that are down in both, so it may roll over them.
    """
    out = np.zeros((len(clip), len(legs), 3))
    points = clip.contact_positions()
    for k, leg in enumerate(legs):
        assert clip.contacts is not None
        columns = list(leg.columns)
        down = clip.contacts[:, columns]
        if not down.any():
            continue
        both = (down[1:] & down[:-1])[..., None]
        steps = (np.diff(points[:, columns], axis=0) * both).sum(axis=1) / np.maximum(both.sum(axis=1), 1)
        slid = np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])
        known = np.asarray(down.any(axis=1))
        for start, stop in stances(known):
            rows = slice(start, stop)
            at_end = start if start == 0 else stop - 1 if stop == len(clip) else None
            slid[rows] -= np.median(slid[rows], axis=0) if at_end is None else slid[at_end]
        slid[~known] = 0.0
        known[[0, -1]] = True
        out[:, k] = bridge(slid, known, clip.fps, _EASE_S)
    return out
