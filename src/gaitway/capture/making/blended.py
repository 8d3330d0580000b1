"""Steps that are made from captured steps: changes of gait by blending, and turns by bending straight steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.capture.cutting.snapping import SnappedClip, lead_to_hubs
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip


@dataclass(frozen=True, eq=False)
class _BlendCurves:
    """Clip as smooth functions of its phase from 0 to 1; the root has no heading."""

    clip: Clip
    spline: scipy.interpolate.CubicSpline

    @classmethod
    def of(cls, clip: Clip) -> _BlendCurves:
        path = clip.planar_path()
        joints = np.array(clip.rotations)
        joints[:, 0] = rotations.multiply(rotations.from_yaw(-path[:, 2]), joints[:, 0])
        parts = [path, clip.root_positions[:, 2:], rotations.continuous(joints)]
        channels = np.concatenate([part.reshape(len(clip), -1) for part in parts], axis=1)
        return cls(clip, scipy.interpolate.CubicSpline(np.linspace(0.0, 1.0, len(clip)), channels, axis=0))

    def at(self, phases: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the planar path (F, 3), root height (F,) and local rotations (F, J, 4), the root without heading."""
        values = self.spline(phases)
        return values[:, :3], values[:, 3], rotations.normalize(values[:, 4:].reshape(len(phases), -1, 4))

    def contacts(self, phases: FloatArray) -> BoolArray:
        """Return the contacts of the nearest frames; (F, C)."""
        assert self.clip.contacts is not None
        return self.clip.contacts[np.round(phases * (len(self.clip) - 1)).astype(np.int64)]


def blend_gaits(one: SnappedClip, other: SnappedClip, name: str) -> SnappedClip:
    """Return a clip that begins as one clip and ends as another; both take the same steps, from the same foot."""
    a, b = _BlendCurves.of(one.clip), _BlendCurves.of(other.clip)
    fps, times = one.clip.fps, (one.clip.duration, other.clip.duration)
    # the duration changes from that of the one to that of the other with the weight of the blend
    phases = np.linspace(0.0, 1.0, 201)
    weight = ease(phases)
    passed = np.concatenate([[0.0], np.cumsum(np.diff(phases) * _middles((1 - weight) * times[0] + weight * times[1]))])
    count = max(round(passed[-1] * fps), 4) + 1
    at = np.interp(np.linspace(0.0, passed[-1], count), passed, phases)
    share = ease(at)
    (path_a, height_a, joints_a), (path_b, height_b, joints_b) = a.at(at), b.at(at)
    steps = _steps(path_a) * (1 - _middles(share))[:, None] + _steps(path_b) * _middles(share)[:, None]
    path = _travelled(steps)
    joints = rotations.slerp(joints_a, joints_b, share[:, None])
    contacts = np.where((share < 0.5)[:, None], a.contacts(at), b.contacts(at))
    clip = _clip(one.clip, path, (1 - share) * height_a + share * height_b, joints, contacts, name)
    return replace(
        one,
        clip=lead_to_hubs(clip, one.start, other.end, path[0], path[-1]),
        end=other.end,
        source=f"{one.source}, {other.source}",
        made=f"blend of {one.start.gait} and {other.end.gait}",
        special="",
        raw=None,
    )


def bend_step(straight: SnappedClip, turn: float, name: str) -> SnappedClip:
    """Return a step that turns more to the left than a given step.

    Args:
        straight: Step ahead.
        turn: Additional turn to the left [rad].
        name: Name of the new clip.
    """
    curves, clip = _BlendCurves.of(straight.clip), straight.clip
    phases = np.linspace(0.0, 1.0, len(clip))
    path, height, joints = curves.at(phases)
    steps = _steps(path)
    steps[:, 2] += turn * np.diff(ease(phases))
    path = _travelled(steps)
    turned = _clip(clip, path, height, joints, clip.contacts, name)
    return replace(
        straight,
        clip=lead_to_hubs(turned, straight.start, straight.end, path[0], path[-1]),
        made=f"bent by {np.degrees(turn):.0f} degrees",
        raw=clip,
    )


def _clip(
    like: Clip, path: FloatArray, height: FloatArray, joints: FloatArray, contacts: BoolArray | None, name: str
) -> Clip:
    local = np.array(joints)
    local[:, 0] = rotations.multiply(rotations.from_yaw(path[:, 2]), local[:, 0])
    roots = np.column_stack([path[:, :2], height])
    return replace(like, root_positions=roots, rotations=local, contacts=contacts, name=name)


def _middles(values: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (values[1:] + values[:-1]))


def _steps(path: FloatArray) -> FloatArray:
    """Return the moves between frames, relative to the mean heading: ahead, left [m], turned [rad]; (F - 1, 3)."""
    step, middle = np.diff(path, axis=0), _middles(path[:, 2])
    c, s = np.cos(middle), np.sin(middle)
    return np.column_stack([c * step[:, 0] + s * step[:, 1], c * step[:, 1] - s * step[:, 0], step[:, 2]])


def _travelled(steps: FloatArray) -> FloatArray:
    """Return the planar path (F, 3) of the moves between frames that `_steps` gives, from the origin."""
    heading = np.concatenate([[0.0], np.cumsum(steps[:, 2])])
    middle = _middles(heading)
    c, s = np.cos(middle), np.sin(middle)
    moves = np.column_stack([c * steps[:, 0] - s * steps[:, 1], s * steps[:, 0] + c * steps[:, 1]])
    return np.column_stack([np.vstack([np.zeros(2), np.cumsum(moves, axis=0)]), heading])
