"""Displacement maps: a clip is bent to pass through given poses at given velocities (gleicher2003, 4.2.1).

A map adds a curve of positions to the root, and turns each joint by a curve of rotation vectors. Each curve is a
Hermite cubic: at the anchor it has the value and slope that give the wanted pose and velocity, and at its far end value
and slope are 0. So the result is as smooth as the clip, and equal to it beyond the reach of the maps. Rotation vectors
are in the joint's own axes, so that the twist of a shank in one frame does not bend the knee sideways in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import ClipError
from gaitway.motion.clip import Clip

VELOCITY_WINDOW_S = 0.08
"""Time before and after a frame that is used for its velocity [s]; more gives less noise and smooths changes."""


@dataclass(frozen=True, eq=False)
class Anchor:
    """Pose and velocities that a clip shall have in a frame."""

    frame: int
    root: FloatArray
    """World position of the root [m]; (3,)."""
    rotations: FloatArray
    """Local rotations, wxyz; (J, 4)."""
    root_velocity: FloatArray
    """Velocity of the root [m/s]; (3,)."""
    angular_velocity: FloatArray
    """Angular velocity of each joint in its parent's frame [rad/s]; (J, 3)."""

    def __post_init__(self) -> None:
        set_field, joints = object.__setattr__, len(np.asarray(self.rotations))
        set_field(self, "root", owned(self.root, "anchor root", (3,), error=ClipError))
        set_field(self, "rotations", owned(self.rotations, "anchor rotations", (joints, 4), error=ClipError))
        set_field(self, "root_velocity", owned(self.root_velocity, "anchor root velocity", (3,), error=ClipError))
        spin = owned(self.angular_velocity, "anchor angular velocity", (joints, 3), error=ClipError)
        set_field(self, "angular_velocity", spin)


def velocities(clip: Clip, frame: int, window_s: float = VELOCITY_WINDOW_S) -> tuple[FloatArray, FloatArray]:
    """Return the velocity of the root [m/s] (3,) and of the joints in their parents' frames [rad/s] (J, 3) at a frame.

    It is the slope of a parabola that is fitted to the frames around. That works at the ends of a clip, too.
    """
    frames, weights = _slope_weights(clip, frame, window_s)
    turned = rotations.multiply(clip.rotations[frames], rotations.conjugate(clip.rotations[frame]))
    spins = np.einsum("w,wjk->jk", weights, rotations.to_rotation_vector(turned))
    return weights @ clip.root_positions[frames], spins


def displaced(clip: Clip, anchors: Sequence[Anchor], reach_s: float = 0.6) -> Clip:
    """Return the clip bent to pass exactly through the pose of every anchor, with its velocities.

    Args:
        clip: Motion; its contacts are kept, and its feet will slide (`planting.planted` holds them).
        anchors: Poses, each at a different frame.
        reach_s: Time after which each side of a map ends [s]; it ends earlier at the next anchor or at the clip's end.
            A longer time bends the clip less, but changes more of it.
    """
    ordered = _checked(clip, anchors, reach_s)
    shift, turn = np.zeros((len(clip), 3)), np.zeros((len(clip), len(clip.skeleton), 3))
    edges = [0, *(a.frame for a in ordered), len(clip) - 1]
    reach = max(reach_s * clip.fps, 1.0)
    for anchor, before, after in zip(ordered, edges[:-2], edges[2:], strict=True):
        values, slopes = _wanted(clip, anchor)
        for step, room in ((-1, anchor.frame - before), (1, after - anchor.frame)):
            span = min(int(reach), room)
            if span > 0:
                frames = anchor.frame + step * np.arange(1, span + 1)
                hold, lean = _fade(np.arange(1, span + 1) / span)
                for curve, value, slope in zip((shift, turn), values, slopes, strict=True):
                    axes = (slice(None), *([None] * value.ndim))
                    curve[frames] += hold[axes] * value + step * span * lean[axes] * slope
    roots = clip.root_positions + shift
    turned = rotations.multiply(clip.rotations, rotations.from_rotation_vector(turn))
    for anchor in ordered:
        roots[anchor.frame], turned[anchor.frame] = anchor.root, anchor.rotations
    return replace(clip, root_positions=roots, rotations=turned)


def _checked(clip: Clip, anchors: Sequence[Anchor], reach_s: float) -> list[Anchor]:
    """Check the anchors and return them sorted by frame.

    Raises:
        ClipError: If one is outside of the clip, two share a frame, or the number of joints is wrong.
    """
    if not (np.isfinite(reach_s) and reach_s > 0.0):
        raise ClipError(f"the reach of a displacement map is {reach_s}; write a time above 0 [s]")
    ordered = sorted(anchors, key=lambda a: a.frame)
    for anchor in ordered:
        if not 0 <= anchor.frame < len(clip):
            raise ClipError(
                f"anchor at frame {anchor.frame} of clip '{clip.name}', which has frames 0 to {len(clip) - 1}"
            )
        if len(anchor.rotations) != len(clip.skeleton):
            raise ClipError(
                f"anchor at frame {anchor.frame} has {len(anchor.rotations)} joints and clip '{clip.name}' has "
                f"{len(clip.skeleton)}; give it a pose of the clip's own skeleton"
            )
    for one, other in pairwise(ordered):
        if one.frame == other.frame:
            raise ClipError(f"two anchors at frame {one.frame} of clip '{clip.name}'; one frame has one pose")
    return ordered


def _wanted(clip: Clip, anchor: Anchor) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Return the values of the maps of root and joints at an anchor, and their slopes for each frame."""
    drift, spin = velocities(clip, anchor.frame)
    own, wanted = rotations.conjugate(clip.rotations[anchor.frame]), rotations.conjugate(anchor.rotations)
    change = rotations.multiply(own, anchor.rotations)
    turn = rotations.to_rotation_vector(change)
    # in its own axes q exp(turn) spins with (right Jacobian of turn) d(turn)/dt + exp(-turn) (spin of q in its axes);
    # solved for the derivative. The right Jacobian is the left one of the opposite turn
    spins = rotations.rotate(wanted, anchor.angular_velocity), rotations.rotate(own, spin)
    rest = spins[0] - rotations.rotate(rotations.conjugate(change), spins[1])
    slope = _inverse_jacobian(-turn, rest) / clip.fps
    return (anchor.root - clip.root_positions[anchor.frame], turn), ((anchor.root_velocity - drift) / clip.fps, slope)


def _inverse_jacobian(turn: FloatArray, spin: FloatArray) -> FloatArray:
    """Return the derivative of rotation vectors (..., 3) whose rotations have an angular velocity (..., 3) [rad/s]."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    half = 0.5 * np.maximum(angle, 1e-4)
    # (1 - (a/2) cot(a/2)) / a^2, by its limit 1/12 near zero
    factor = np.where(angle > 1e-4, (1.0 - half / np.tan(half)) / (4.0 * half * half), 1.0 / 12.0)
    across = rotations.cross(turn, spin)
    out: FloatArray = spin - 0.5 * across + factor * rotations.cross(turn, across)
    return out


def _fade(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Hermite cubics over 0..1 that end at 0 with slope 0: one begins with value 1, one with slope 1."""
    return (1.0 + 2.0 * t) * (1.0 - t) ** 2, t * (1.0 - t) ** 2


def _slope_weights(clip: Clip, frame: int, window_s: float) -> tuple[slice, FloatArray]:
    """Return the frames around a frame, and the weights of their values that give the slope at it [1/s]."""
    half = max(round(window_s * clip.fps), 1)
    low, high = max(frame - half, 0), min(frame + half, len(clip) - 1)
    if high == low:
        return slice(frame, frame + 1), np.zeros(1)
    steps = np.arange(low, high + 1) - frame
    powers = np.vander(steps, min(3, len(steps)), increasing=True).astype(np.float64)
    return slice(low, high + 1), np.linalg.pinv(powers)[1] * clip.fps
