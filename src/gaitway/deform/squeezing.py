"""Squeezing: a fragment is put into a place, and deformed until its core touches nothing (Choi et al. 2011, 3.2).

Each solid that the body lies in adds a pin that pushes its deepest point out (a repulser, equation 7). Each contact
adds one that pulls a body part into its region (an attractor, equation 8). Arms are no part of the core. They are
narrowed when the whole motion is known (`tucking`): a person then passes gaps that its swinging arms would not.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import ComplexArray, FloatArray, read_only
from gaitway.deform import _squeeze_kernels
from gaitway.deform.constraints import Contact, Continuity, MotionLimits, Pin
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
"""Most pins that squeezing adds."""
_FRAMES, _PLACES = read_only(np.zeros(_PINS, np.int64)), read_only(np.zeros(_PINS, np.complex128))


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
    x, y, heading = (float(v) for v in start.pose)
    times = time + np.arange(len(fragment)) / (fragment.clip.fps * speed)
    path, body = fragment.path, fragment.arrays
    given = [*pins, *(_pull(fragment, start.pose, contact) for contact in contacts)] if path is not None else []
    frames, places, count = _FRAMES.copy(), _PLACES.copy(), 0
    if path is not None and given:
        own_frames, own_places = path.plain(given)
        count = len(own_frames)
        frames = np.concatenate([own_frames, frames])
        places = np.concatenate([complex(x, y) + np.exp(1j * heading) * own_places, places])
    settings = np.array(
        [tolerance, _MORE, _ROUNDS if deform else 1, max(_MERGED_S * fragment.clip.fps, 1.0), 0.2 * fragment.extent]
    )
    root, points, told = np.empty((len(fragment), 3)), np.empty(len(body.points), np.complex128), np.empty(9)
    _squeeze_kernels.situate(
        body, x, y, heading, place.solids, place.moves(times), frames, places, count, settings, root, points, told
    )
    depth, narrow, least, greatest, bend, rounds, pins_used, blocker, side = told.tolist()
    stretch, bend = (least, greatest), bend * fragment.clip.fps
    named, reason = None, ""
    if blocker >= 0:
        named = place.named[int(blocker)]
        reason = f"'{named}' is in the way by {100.0 * depth:.1f} cm"
    elif side >= 0:
        named = place.named[int(side)]
        reason = f"'{named}' would be passed on the other side"
    elif path is not None:
        missed = path.finished(points, given).missed if given else ()
        if missed:
            reason = f"the pin in frame {missed[0].frame} contradicts the others"
        elif not (path.limits if limits is None else limits).within(stretch, bend):
            reason = (
                f"it would be stretched {least:.2f} to {greatest:.2f} times and bent by "
                f"{np.degrees(bend):.0f} degrees a second"
            )
    if path is None:
        points = fragment.track
    return Squeezed(
        fragment, start.pose, points, root, stretch, bend, depth, named, reason, narrow, int(rounds), int(pins_used)
    )


def end_pin(fragment: Fragment, start: Pose, goal: Pose) -> Pin | None:
    """Return the pin that leads the end of a fragment to a pose, or None if it has no path."""
    path = fragment.path
    if path is None:
        return None
    x, y, heading = fragment.root[-1].tolist()
    turn = math.remainder(goal[2] - start[2] - heading, math.tau)
    seen = complex(goal[0] - start[0], goal[1] - start[1]) * cmath.exp(-1j * start[2])
    # the path has no sway, and what comes after it moves as one with its end
    at = seen - cmath.exp(1j * turn) * (complex(x, y) - complex(fragment.track[fragment.first + len(path) - 1]))
    return Pin(len(path) - 1, (at.real, at.imag), turn)


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
