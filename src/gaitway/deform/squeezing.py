"""Squeezing: a fragment is put into a place, and deformed until its core touches nothing (Choi et al. 2011, 3.2).

Each solid that the body lies in adds a pin that pushes its deepest point out (a repulser, equation 7). Each contact
adds one that pulls a body part into its region (an attractor, equation 8). Arms are no part of the core. They are
narrowed when the whole motion is known (`tucking`): a person then passes gaps that its swinging arms would not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.deform import _squeeze_kernels
from gaitway.deform._path_kernels import ComplexArray
from gaitway.deform._squeeze_kernels import DEEP, FRAME
from gaitway.deform.constraints import Contact, Continuity, MotionLimits, Pin
from gaitway.deform.elastic_path import DeformedPath
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.space.plan import Pose

TOLERANCE = 0.005
"""Depth that does not count [m]."""
_MORE = 0.004
"""What is added to a push, so that the next round does not find the same depth again [m]."""
_ROUNDS, _MERGED_S = 12, 1.0 / 3.0
"""Most rounds, and time within which two pins become one [s]: opposite solids would fight."""
_PINS = 24
"""Most pins of a fragment."""


@dataclass(frozen=True, eq=False)
class Squeezed:
    """A fragment in a place."""

    fragment: Fragment
    start: Pose
    points: ComplexArray
    """Its deformed path, as seen from the start; (F,)."""
    path: FloatArray
    """Planar poses of the root in the world, headings not wrapped; (F, 3)."""
    stretch: tuple[float, float]
    bend: float
    """Greatest bend that was added [rad/s]."""
    depth: float
    """How deep the core lies in what is in the way [m]; 0 if it is clear."""
    blocker: str | None
    """What is in the way, or would be passed on the other side."""
    reason: str
    """Why it does not fit, in words; empty if it does."""
    narrow: float = 0.0
    """How deep shoulders and arms lie in something, which have to be narrowed [m]."""
    rounds: int = 0
    pins: int = 0

    @property
    def fits(self) -> bool:
        """Whether nothing is touched, all is passed on the side on which the path did, and the limits are kept."""
        return not self.reason

    @property
    def end(self) -> Pose:
        """Pose of the root in the last frame."""
        x, y, heading = self.path[-1].tolist()
        return x, y, heading


def squeeze(
    fragment: Fragment, start: Continuity, place: SqueezePlace, *, time: float = 0.0, speed: float = 1.0,
    pins: Sequence[Pin] = (), contacts: Sequence[Contact] = (), limits: MotionLimits | None = None,
    tolerance: float = TOLERANCE, deform: bool = True,
) -> Squeezed:  # fmt: skip
    """Put a fragment into a place.

    Args:
        fragment: the fragment.
        start: where it begins.
        place: the place.
        time: time of its first frame [s].
        speed: seconds of the clip that pass in a second.
        pins: pins that it must meet besides, as seen from its first pose.
        contacts: regions into which body parts are pulled.
        limits: limits to keep; None takes those of the fragment.
        tolerance: depth that does not count [m].
        deform: whether it may be deformed at all.
    """
    x, y, heading = start.pose
    spin, at = complex(np.cos(heading), np.sin(heading)), complex(x, y)
    times = time + np.arange(len(fragment)) / (fragment.clip.fps * speed)
    moves, near = place.moves(times), place.near(at, fragment.extent + 0.2 * fragment.extent)
    path = fragment.path
    if path is None:
        return _told(fragment, start.pose, fragment.track, near, moves, place, tolerance, 0, 0, None)
    given = [*pins]
    for contact in contacts:
        given.append(_pull(fragment, start.pose, contact))
    frames, places = path.plain(given)
    count = len(frames)
    room_frames, room_places = np.zeros(count + _PINS, np.int64), np.zeros(count + _PINS, np.complex128)
    room_frames[:count], room_places[:count] = frames, at + spin * places
    rows = slice(fragment.first, fragment.first + len(path))
    world, out = at + spin * path.points, np.empty(len(path), np.complex128)
    numbers = np.array([tolerance, _MORE, _ROUNDS if deform else 1, max(_MERGED_S * path.fps, 1.0)])
    _, rounds, count, blocker = _squeeze_kernels.situate(
        world, path.lengths, path.shape, path.scale, fragment.capsules[rows], fragment.radii, fragment.reach[rows],
        spin, fragment.core, place.solids, near, np.ascontiguousarray(moves[rows]), room_frames, room_places, count,
        numbers, out,
    )  # fmt: skip
    points = (out - at) * spin.conjugate()
    done = path.finished(points, given)
    side = place.named[blocker] if blocker >= 0 else None
    return _told(fragment, start.pose, points, near, moves, place, tolerance, rounds, count, side, done, limits)


def _told(
    fragment: Fragment, start: Pose, points: ComplexArray, near: IntArray, moves: FloatArray, place: SqueezePlace,
    tolerance: float, rounds: int, pins: int, side: str | None, done: DeformedPath | None = None,
    limits: MotionLimits | None = None,
) -> Squeezed:  # fmt: skip
    """Return the result, with all that is wrong with it."""
    at, spin = complex(*start[:2]), complex(np.cos(start[2]), np.sin(start[2]))
    track, whole = at + spin * fragment.track, at + spin * fragment.whole(points)
    found = np.zeros((len(near), 2, 6))
    _squeeze_kernels.depths(
        fragment.capsules, fragment.radii, fragment.reach, track, whole, spin, place.solids, near, moves,
        np.array([0, fragment.core, len(fragment.radii)]), tolerance, found,
    )  # fmt: skip
    deep = np.where(found[:, 0, FRAME] >= 0.0, found[:, 0, DEEP], 0.0)
    arms = np.where(found[:, 1, FRAME] >= 0.0, found[:, 1, DEEP], 0.0)
    depth, narrow = float(deep.max(initial=0.0)), float(arms.max(initial=0.0))
    blocker, reason = None, ""
    stretch, bend = (1.0, 1.0) if done is None else done.stretch, 0.0 if done is None else done.bend
    if depth > 0.0:
        blocker = place.named[near[int(np.argmax(deep))]]
        reason = f"'{blocker}' is in the way by {100.0 * depth:.1f} cm"
    elif side is not None:
        blocker, reason = side, f"'{side}' would be passed on the other side"
    elif done is not None and done.missed:
        pin = done.missed[0]
        reason = f"the pin in frame {pin.frame} contradicts the others"
    elif done is not None and fragment.path is not None:
        kept = fragment.path.limits if limits is None else limits
        if not kept.within(stretch, bend):
            reason = (
                f"it would be stretched {stretch[0]:.2f} to {stretch[1]:.2f} times and bent by "
                f"{np.degrees(bend):.0f} degrees a second"
            )
    local = fragment.rooted(points)
    x, y = local[:, 0], local[:, 1]
    root = np.column_stack([
        at.real + spin.real * x - spin.imag * y, at.imag + spin.imag * x + spin.real * y, start[2] + local[:, 2]
    ])  # fmt: skip
    return Squeezed(fragment, start, points, root, stretch, bend, depth, blocker, reason, narrow, rounds, pins)


def _pull(fragment: Fragment, start: Pose, contact: Contact) -> Pin:
    """Return the pin by which a body part comes into its region (equation 8), as seen from the start.

    The root is moved and turned together with the body part, and by as little as is needed.
    """
    at, spin = complex(*start[:2]), complex(np.cos(start[2]), np.sin(start[2]))
    frame = min(max(contact.frame - fragment.first, 0), (1 if fragment.path is None else len(fragment.path)) - 1)
    clip, row = fragment.clip, fragment.first + frame
    pose = clip.planar_path()
    joint = clip.joint_positions()[row, contact.joint]
    seen = complex(joint[0] - pose[0, 0], joint[1] - pose[0, 1]) * np.exp(-1j * pose[0, 2])
    q, root = at + spin * seen, at + spin * fragment.track[row]
    turn = 0.0
    if contact.headings is not None:
        now = start[2] + float(fragment.root[row, 2])
        turn = float(np.clip(now, *contact.headings)) - now
    wanted = complex(
        float(np.clip(q.real, contact.low[0], contact.high[0])), float(np.clip(q.imag, contact.low[1], contact.high[1]))
    )
    if abs(wanted - q) > contact.reach:
        wanted = q
    moved = wanted + np.exp(1j * turn) * (root - q)
    local = (moved - at) * spin.conjugate()
    return Pin(frame, (float(local.real), float(local.imag)), None if contact.headings is None else turn)
