"""Measures of the source clips, with which a take is compared.

The changes of velocity are computed here once more, on purpose, and not with `gaitway.motion.quality`, which the makers
of motion use: a mistake there must not hide itself from the audit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.audit import _body_kernels
from gaitway.audit.bodies import has_legs, skin, with_points
from gaitway.core.arrays import BoolArray, FloatArray, read_only
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import resample
from gaitway.take.model import Take

_PERCENTILE = 99.9
TURN_HZ = 30.0
"""Turns are told as degrees in one frame of this rate, whatever the rate of a take [Hz]."""
_LEVEL = 0.03
"""Depth under the first floor of a clip below which a planted point stands on another floor [m]."""
_FASTER = 1.3
"""Greatest speed at which a clip may be played, as people walk faster and slower; what is played faster still is held
against the take."""
_LEAST_TURN, _LEAST_STEP = 0.5, 0.05
"""Changes of speed that are too small to be seen in a joint [rad/s] or root [m/s]; clips with hardly any motion do not
forbid them."""


class Source:
    """One clip of a take, measured as far as needed."""

    def __init__(self, clip: Clip, fps: float) -> None:
        self.clip, self.fps = with_points(clip), fps

    @cached_property
    def points(self) -> FloatArray:
        """Contact points in every frame [m]; (F, P, 3)."""
        return self.clip.contact_positions()

    @cached_property
    def found(self) -> BoolArray | None:
        """Contacts found by the audit itself, whatever the clip claims; (F, P), None for what is no humanoid."""
        return detect_contacts(self.clip).contacts if has_legs(self.clip.skeleton) else None

    @cached_property
    def at_rate(self) -> Clip:
        """The clip at the take's rate."""
        return self.clip if self.clip.fps == self.fps else resample(self.clip, self.fps)

    @cached_property
    def sudden(self) -> FloatArray:
        """Changes of speed, joints and then the root, the greatest of three frames; (F, J + 1)."""
        out = np.zeros((len(self.at_rate), len(self.clip.skeleton) + 1))
        if len(out) > 2:
            out[1:-1] = np.column_stack([turn_steps(self.at_rate), root_steps(self.at_rate)])
        return np.asarray(scipy.ndimage.maximum_filter1d(out, 3, axis=0, mode="nearest"))

    @cached_property
    def turned(self) -> FloatArray:
        """Turn of every joint in 1/30 s [deg], the greatest of three frames; (F, J)."""
        out = np.zeros((len(self.at_rate), len(self.clip.skeleton)))
        out[1:] = turns(self.at_rate)
        return np.asarray(scipy.ndimage.maximum_filter1d(out, 3, axis=0, mode="nearest"))

    @cached_property
    def speed(self) -> FloatArray:
        """Speed of the root [m/s], the greatest of three frames; (F, 1)."""
        out = np.zeros((len(self.at_rate), 1))
        out[1:, 0] = speeds(self.at_rate)
        return np.asarray(scipy.ndimage.maximum_filter1d(out, 3, axis=0, mode="nearest"))

    @cached_property
    def leaves_floor(self) -> bool:
        """Whether the clip leads below where it begins, as stairs do: what is under its floor is then no fault."""
        flags = self.clip.contacts
        return flags is not None and bool((self.points[..., 2][flags] < -_LEVEL).any())

    @cached_property
    def sunk(self) -> FloatArray:
        """How deep each capsule is under the clip's own floor [m], the deepest of three frames; (F, C)."""
        body = capsule_body(self.clip.skeleton)
        under = (skin(body, self.clip.skeleton) - capsules(self.at_rate, body)[..., 2]).max(axis=-1)
        return np.asarray(scipy.ndimage.maximum_filter1d(under, 3, axis=0, mode="nearest"))


class Played:
    """The source frames that a character shows over time, from the take's segment table."""

    def __init__(self, take: Take, character: int) -> None:
        rows = slice(int(take.rows[character]), int(take.rows[character + 1]))
        table = take.segments
        self.take = take
        self.clips = table.clip[rows].tolist()
        self.starts, self.offsets, self.speeds = table.start[rows], table.offset[rows], table.speed[rows]
        self.blends = table.blend[rows]
        self.plain = not self.blends.any() and not any(layer.character == character for layer in take.layers)
        """Whether every frame is one of a source clip, moved as a whole."""
        self.stops: FloatArray = np.append(self.starts[1:], take.ends[character])

    def slide(self, sources: dict[int, Source], column: int, times: FloatArray) -> float:
        """Return how far a contact point slides in the source clips while these times play [m].

        Each clip counts from where its share begins, and in a fade both do.
        """
        total = 0.0
        fades = np.append(self.blends[1:], 0.0)
        for k in np.flatnonzero((self.starts <= times[-1]) & (self.stops + fades >= times[0])).tolist():
            mine = times[(times >= self.starts[k] - 1e-9) & (times <= self.stops[k] + fades[k] + 1e-9)]
            if len(mine) > 1:
                path = _sampled(sources[self.clips[k]], self._clip_times(k, mine), column)
                total += float(np.linalg.norm(path - path[0], axis=-1).max())
        return total

    def found(self, sources: dict[int, Source], times: FloatArray) -> BoolArray | None:
        """Return contacts that the audit finds in the source clips, at the take's frames; (F, P)."""
        columns = len(sources[self.clips[0]].clip.skeleton.contact_points)
        out = np.zeros((len(times), columns), dtype=bool)
        begins = self.starts + 0.5 * self.blends
        ends = np.append(begins[1:], np.inf)
        for k, clip in enumerate(self.clips):
            flags, source = sources[clip].found, sources[clip].clip
            if flags is None:
                return None
            rows = np.flatnonzero((times >= begins[k] - 1e-9) & (times < ends[k] - 1e-9))
            frames = np.round(self._clip_times(k, times[rows]) * source.fps).astype(np.int64)
            out[rows] = flags[np.clip(frames, 0, len(source) - 1)]
        return out

    def own(self, sources: dict[int, Source], times: FloatArray, measure: Callable[[Source], FloatArray]) -> FloatArray:
        """Return what the source clips do at the take's frames, by a measure (frames, ...) at the take's rate."""
        out = np.zeros((len(times), *measure(sources[self.clips[0]]).shape[1:]))
        fades = np.append(self.blends[1:], 0.0)
        for k, clip in enumerate(self.clips):
            rows = np.flatnonzero((times >= self.starts[k] - 1e-9) & (times <= self.stops[k] + fades[k] + 1e-9))
            values = measure(sources[clip])
            frames = np.round(self._clip_times(k, times[rows]) * sources[clip].fps).astype(np.int64)
            out[rows] = np.maximum(out[rows], values[np.clip(frames, 0, len(values) - 1)])
        return out

    def faster(self, times: FloatArray) -> FloatArray:
        """Return how many times as fast as its clip a character moves at the take's frames, from 1 to `_FASTER`."""
        rows = np.clip(np.searchsorted(self.starts, times + 1e-9) - 1, 0, len(self.starts) - 1)
        return np.asarray(scipy.ndimage.maximum_filter1d(np.clip(self.speeds[rows], 1.0, _FASTER), 3, mode="nearest"))

    def clip_at(self, time: float) -> int:
        """Number of the clip that plays at a time."""
        return int(self.clips[max(int(np.searchsorted(self.starts, time + 1e-9)) - 1, 0)])

    def clip_name(self, time: float) -> str:
        """Name of the clip that plays at a time."""
        return str(self.take.clips[self.clip_at(time)].name)

    def _clip_times(self, k: int, times: FloatArray) -> FloatArray:
        return np.asarray(self.offsets[k] + self.speeds[k] * (times - self.starts[k]))


def _sampled(source: Source, times: FloatArray, column: int) -> FloatArray:
    """Return x and y of a contact point at times of its clip [m]; (N, 2)."""
    frames = np.arange(len(source.clip)) / source.clip.fps
    return np.stack([np.interp(times, frames, source.points[:, column, i]) for i in range(2)], axis=-1)


def turns(clip: Clip) -> FloatArray:
    """Return the turn of every joint from frame to frame, as degrees in 1/30 s; (F - 1, J)."""
    cosines = np.abs(np.einsum("fjc,fjc->fj", clip.rotations[:-1], clip.rotations[1:]))
    return np.asarray(np.degrees(2.0 * np.arccos(np.minimum(cosines, 1.0))) * (clip.fps / TURN_HZ))


def speeds(clip: Clip) -> FloatArray:
    """Return the speed of the root from frame to frame [m/s]; (F - 1,)."""
    return np.asarray(np.linalg.norm(np.diff(clip.root_positions, axis=0), axis=-1) * clip.fps)


def turn_steps(clip: Clip) -> FloatArray:
    """Return the change of every joint's angular velocity from frame to frame [rad/s]; (F - 2, J)."""
    out = np.zeros((max(len(clip) - 2, 0), len(clip.skeleton)))
    _body_kernels.turn_steps(read_only(clip.rotations), clip.fps, out)
    return out


def root_steps(clip: Clip) -> FloatArray:
    """Return the change of the root's velocity from frame to frame [m/s]; (F - 2,)."""
    return np.asarray(np.linalg.norm(np.diff(clip.root_positions, n=2, axis=0), axis=-1) * clip.fps)


def usual_steps(take: Take, body: int) -> tuple[FloatArray, float]:
    """Return the 99.9th percentile of `turn_steps` (J,) and of `root_steps`, over all clips of a take on one skeleton.

    Clips are measured at the take's rate: changes from frame to frame grow with the time between frames.
    """
    skeleton = take.skeletons[body]
    clips = [c if c.fps == take.fps else resample(c, take.fps) for c in take.clips if c.skeleton is skeleton]
    turns = [turn_steps(c) for c in clips if len(c) > 2]
    roots = [root_steps(c) for c in clips if len(c) > 2]
    if not turns:
        return np.full(len(skeleton), _LEAST_TURN), _LEAST_STEP
    usual = np.percentile(np.concatenate(turns), _PERCENTILE, axis=0)
    usual_root = float(np.percentile(np.concatenate(roots), _PERCENTILE))
    return np.maximum(usual, _LEAST_TURN), max(usual_root, _LEAST_STEP)
