"""Deformable fragments: a clip with its elastic path, and its body as seen from that path.

The path is the track of the root without its sway. Frames in which the root has not set off yet, or stands already, are
no part of it: they move as one with its ends. The body follows the path: it is moved and turned with it, each foot that
is down moves as one, and legs follow (`performing.arrival.bending`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from gaitway.core.arrays import ComplexArray, FloatArray, IntArray, read_only
from gaitway.deform._planting_kernels import PlantedFeet
from gaitway.deform._squeeze_kernels import FragmentArrays
from gaitway.deform.constraints import MotionLimits
from gaitway.deform.elastic_path import LEAST_LENGTH, ElasticPath, turns
from gaitway.deform.planting import planted_feet
from gaitway.motion.anatomy import leg_length
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.footwork import Footwork, footwork

_SWAY_S = 0.25
"""Standard deviation of the low-pass that removes sway from the track of the root [s]."""
_STILL = 0.03
"""Distance from its first and its last place within which a root stands still [m]."""
_ARMS = ("shoulder", "elbow", "hand")
"""Capsules of arms, by how their names end after the side."""
_SHOULDERS = "shoulders"
"""Capsule across the shoulders, which the trunk turns."""
_NARROW, _LEG = 0.195, 0.85
"""Half the width of the trunk with its arms when it is turned as far as it may be, for a leg of some length [m]."""
_NEAREST = 0.15
"""Least distance between the ends of a path [m]."""
_FEWEST = 6
"""Least number of frames of a path."""


@dataclass(frozen=True, eq=False)
class Fragment:
    """A clip that can be deformed; all places are as seen from the first pose of its root."""

    clip: Clip
    path: ElasticPath | None
    """Its path, from frame `first` on; None for a clip that stays where it is, which is only moved."""
    first: int
    """First frame of the path."""
    track: ComplexArray
    """x + iy in every frame, sway left out [m]; (F,)."""
    root: FloatArray
    """Planar poses of the root, headings not wrapped; (F, 3)."""
    capsules: FloatArray
    """Axes of the capsules, as seen from the track; those of shoulders and arms are the last ones [m]; (F, C, 2, 3)."""
    radii: FloatArray
    """Radii of the capsules [m]; the trunk is as wide as a trunk with arms that is turned sideways; (C,)."""
    core: int
    """Number of capsules that are neither shoulders nor arms."""
    order: IntArray
    """Number of each capsule in the body of the skeleton; (C,)."""
    work: Footwork | None
    """Footwork of the clip; None if it must not be bent."""

    @staticmethod
    def of(clip: Clip, limits: MotionLimits | None = None, *, flat: bool = False) -> Fragment:
        """Make a fragment of a clip.

        Args:
            clip: the clip.
            limits: how it may be deformed; None finds that: as the paper says, with flights where no foot is down.
            flat: whether its body is as narrow as it can be, so that all of it counts as the core.
        """
        pose = clip.planar_path()
        spin = np.exp(-1j * pose[0, 2])
        away = (clip.root_positions[:, 0] + 1j * clip.root_positions[:, 1] - complex(*pose[0, :2])) * spin
        track = _without_sway(away, clip.fps)
        work = footwork(clip)
        body = capsule_body(clip.skeleton)
        arms = [not flat and (name == _SHOULDERS or name.partition("_")[2] in _ARMS) for name in body.names]
        order: IntArray = np.argsort(np.array(arms), kind="stable")
        axes = body.segments(*clip.joint_transforms())[:, order]
        plan = (axes[..., 0] + 1j * axes[..., 1] - complex(*pose[0, :2])) * spin - track[:, None, None]
        seen = np.stack([plan.real, plan.imag, axes[..., 2]], axis=-1)
        root = np.column_stack([away.real, away.imag, pose[:, 2] - pose[0, 2]])
        first, last = _moving(track)
        path = None
        far, way = abs(track[last] - track[first]), float(np.abs(np.diff(track[first : last + 1])).sum())
        # what turns on the spot has no shape that could be kept
        if work is not None and work.rolled is None and last - first >= _FEWEST and far > max(_NEAREST, 0.5 * way):
            found = limits if limits is not None else MotionLimits(flight=_flights(work, first, last))
            path = ElasticPath(track[first : last + 1], clip.fps, found)
        trunk = [name.startswith(("trunk", "chest")) for name in np.array(body.names)[order].tolist()]
        narrow = _NARROW * leg_length(clip.skeleton) / _LEG if any(arms) else 0.0
        radii = np.where(trunk, np.maximum(body.radii[order], narrow), body.radii[order])
        return Fragment(
            clip, path, first, track, root, read_only(seen), read_only(radii), len(arms) - sum(arms), order, work,
            flat=flat,
        )  # fmt: skip

    flat: bool = False
    """Whether its clip was made flat (`side_steps`): it is no clip of the library, and all of its body is the core."""
    steered_by: float = 0.0
    """How far linear warping turned it, at most [rad]."""

    def __len__(self) -> int:
        return len(self.track)

    def steered(self, *angles: float) -> Fragment:
        """Return the fragment steered by angles [rad], each over its share of the time (linear warping).

        Every frame turns against the one before it by the same amount within a share.
        """
        knots = np.linspace(0.0, len(self) - 1.0, len(angles) + 1)
        turns = np.interp(np.arange(len(self)), knots, np.concatenate([[0.0], np.cumsum(angles)]))
        turn = np.exp(1j * turns)
        track = np.concatenate([[0.0j], np.cumsum(np.diff(self.track) * turn[1:])]) + self.track[0]
        away = (self.root[:, 0] + 1j * self.root[:, 1] - self.track) * turn
        flat = (self.capsules[..., 0] + 1j * self.capsules[..., 1]) * turn[:, None, None]
        path = self.path
        if path is not None:
            path = replace(path, points=track[self.first : self.first + len(path)])
        return replace(
            self,
            path=path,
            track=track,
            root=np.column_stack([(track + away).real, (track + away).imag, self.root[:, 2] + turns]),
            capsules=read_only(np.stack([flat.real, flat.imag, self.capsules[..., 2]], axis=-1)),
            steered_by=float(np.abs(turns).max()) + self.steered_by,
        )

    @cached_property
    def feet(self) -> PlantedFeet | None:
        """The clip made ready to follow paths with its feet planted; None if it does not walk on two feet."""
        return planted_feet(self.clip, self.work)

    @cached_property
    def reach(self) -> FloatArray:
        """Greatest distance of the core and of the whole body from the path in every frame [m]; (F, 2)."""
        far = (np.hypot(self.capsules[..., 0], self.capsules[..., 1]) + self.radii[:, None]).max(axis=2)
        return read_only(np.column_stack([far[:, : self.core].max(axis=1), far.max(axis=1)]))

    @cached_property
    def extent(self) -> float:
        """Greatest distance of the body from the first place [m]."""
        return float((np.abs(self.track) + self.reach[:, 1]).max())

    @cached_property
    def arrays(self) -> FragmentArrays:
        """All that kernels need."""
        path = self.path
        points = read_only(np.empty(0, np.complex128)) if path is None else path.points
        lengths = read_only(np.empty(0)) if path is None else path.lengths
        shape = read_only(np.empty((0, 0), np.complex128)) if path is None else path.shape
        scale = read_only(np.empty((0, 0))) if path is None else path.scale
        flat = self.capsules[..., :2]
        half = 0.5 * np.linalg.norm(flat[:, :, 1] - flat[:, :, 0], axis=2)
        discs = np.concatenate([flat.mean(axis=2), (half + self.radii)[..., None]], axis=2)
        return FragmentArrays(
            read_only(self.track), read_only(self.root), self.first, points, lengths, shape, scale,
            read_only(self.capsules), read_only(discs), read_only(self.radii), self.core, self.reach,
        )  # fmt: skip

    def whole(self, points: ComplexArray) -> ComplexArray:
        """Return the track (F,) whose part along the path was deformed; the rest moves with its ends."""
        if self.path is None:
            return self.track
        first, last = self.first, self.first + len(self.path) - 1
        out = np.array(self.track)
        out[first : last + 1] = points
        turn = np.exp(1j * turns(self.path.points, points)[-1])
        out[last + 1 :] = points[-1] + turn * (self.track[last + 1 :] - self.track[last])
        return out

    def rooted(self, points: ComplexArray) -> FloatArray:
        """Return planar poses (F, 3) of the root for a deformed path, as seen from the first pose."""
        turn = np.zeros(len(self))
        if self.path is not None:
            found = turns(self.path.points, points)
            turn[self.first : self.first + len(found)] = found
            turn[self.first + len(found) :] = found[-1]
        away = self.root[:, 0] + 1j * self.root[:, 1] - self.track
        at = self.whole(points) + np.exp(1j * turn) * away
        out = np.column_stack([at.real, at.imag, self.root[:, 2] + turn])
        out[0] = self.root[0]
        return out


def _without_sway(track: ComplexArray, fps: float) -> ComplexArray:
    """Return a track without sway; beyond its ends it goes on as it does there."""
    n, pad = len(track), max(round(fps), 2)
    if n < 3:
        return np.array(track)
    few = min(max(pad // 2, 2), n)
    parts = []
    for some, frames in ((slice(0, few), np.arange(-pad, 0)), (slice(n - few, n), np.arange(n, n + pad))):
        at = np.arange(n)[some]
        fits = [np.polyfit(at - at.mean(), values[some], 1) for values in (track.real, track.imag)]
        parts.append(sum(unit * np.polyval(fit, frames - at.mean()) for unit, fit in zip((1, 1j), fits, strict=True)))
    long = np.concatenate([parts[0], track, parts[1]])
    smooth = [scipy.ndimage.gaussian_filter1d(values, _SWAY_S * fps) for values in (long.real, long.imag)]
    return np.asarray((smooth[0] + 1j * smooth[1])[pad:-pad])


def _moving(track: ComplexArray) -> tuple[int, int]:
    """Return the first and last frame between which a track moves; equal if it stays where it is."""
    if np.abs(track[-1] - track[0]) < LEAST_LENGTH:
        return 0, 0
    off, on = np.abs(track - track[0]) > _STILL, np.abs(track - track[-1]) > _STILL
    return max(int(np.argmax(off)) - 1, 0), min(len(track) - int(np.argmax(on[::-1])), len(track) - 1)


def _flights(work: Footwork, first: int, last: int) -> tuple[tuple[int, int], ...]:
    """Return the spans of a path in which no foot is down."""
    up = np.concatenate([[False], ~work.down[first : last + 1].any(axis=1), [False]])
    edges = np.flatnonzero(np.diff(up.astype(np.int64))).reshape(-1, 2)
    return tuple((int(a), int(b) - 1) for a, b in edges if b - a >= 3 and a > 1)
