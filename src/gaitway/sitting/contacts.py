"""The independent check of who sits: thighs and buttocks against the seat, feet that stay, and balance.

Nothing here knows how the motion was made. It measures the capsules of the body, so any motion of any rig will do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import SittingError
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import with_contact_points
from gaitway.motion.quality import foot_slide
from gaitway.sitting.seat import Seat, box_distance

FLOAT, SINK, SLIDE = 0.010, 0.010, 0.005
"""Farthest that who sits may be above the seat, deepest that a body may be in it, and longest slide of a foot [m]."""
_SITS = ("pelvis", "left_hip", "right_hip")
_SAMPLES = 65


@dataclass(frozen=True, eq=False)
class SeatContacts:
    """How a body meets a seat in every frame."""

    gap: FloatArray
    """Distance of buttocks or thighs, whichever is nearer, from the seat [m]; negative inside; (F,)."""
    thigh_gap: FloatArray
    """The same of the thighs alone [m]; (F,)."""
    sink: FloatArray
    """How deep the whole body is in the seat and its backrest [m]; negative for a body that is clear of it; (F,)."""
    part: tuple[str, ...]
    """Which capsule is deepest; (F,)."""
    over_top: BoolArray
    """Whether the middle of the pelvis is over the top of the seat; (F,)."""
    slide: float
    """Longest way of a planted heel or ball in one stance [m]."""


def seat_contacts(clip: Clip, seat: Seat) -> SeatContacts:
    """Measure how a body meets a seat.

    Args:
        clip: motion in the world. Where it has contacts, they say which feet are planted.
        seat: the seat.

    Raises:
        SittingError: if the body has no pelvis and thighs that are known by role.
    """
    body = capsule_body(clip.skeleton)
    if any(name not in body.names for name in _SITS):
        raise SittingError(f"skeleton '{clip.skeleton.name}' has no pelvis and thighs that are known by role")
    segments = seat.local(capsules(clip, body))
    share = np.linspace(0.0, 1.0, _SAMPLES)[:, None]
    depth = np.full((len(clip), len(body)), -np.inf)
    top = np.full((len(clip), len(_SITS)), np.inf)
    for k, name in enumerate(body.names):
        points = segments[:, k, None, 0] + share * (segments[:, k, None, 1] - segments[:, k, None, 0])
        for low, high in seat.boxes():
            depth[:, k] = np.maximum(depth[:, k], (body.radii[k] - box_distance(points, low, high)).max(axis=1))
        if name in _SITS:
            low, high = seat.boxes()[0]
            top[:, _SITS.index(name)] = (box_distance(points, low, high) - body.radii[k]).min(axis=1)
    deepest = np.argmax(np.round(depth, 9), axis=1)
    middle = segments[:, body.names.index("pelvis")].mean(axis=1)
    return SeatContacts(
        top.min(axis=1), top[:, 1:].min(axis=1), depth.max(axis=1), tuple(body.names[k] for k in deepest),
        (middle[:, 0] <= 0.0) & (middle[:, 0] >= -seat.depth) & (np.abs(middle[:, 1]) <= 0.5 * seat.width),
        float(foot_slide(clip).max(initial=0.0)) if clip.contacts is not None else 0.0,
    )  # fmt: skip


def sitting_problems(clip: Clip, seat: Seat, first: int, last: int) -> list[str]:
    """Return what is wrong with who sits, one line each; nothing if all is well.

    Args:
        clip: motion in the world; frames before `first` and after `last` belong to sitting down and getting up.
        seat: the seat.
        first: first frame of sitting.
        last: last frame of sitting.
    """
    if not 0 <= first <= last < len(clip):
        raise SittingError(f"frames {first} to {last} of clip '{clip.name}', which has {len(clip)}")
    found, out = seat_contacts(clip, seat), list[str]()
    sat = slice(first, last + 1)
    frame = first + int(np.argmax(np.round(found.gap[sat], 9)))
    if found.gap[frame] > FLOAT:
        out.append(f"frame {frame}: buttocks and thighs are {1000.0 * found.gap[frame]:.0f} mm above the seat")
    away = np.flatnonzero(~found.over_top[sat])
    if len(away):
        out.append(f"frame {first + int(away[0])}: the pelvis is not over the seat")
    frame = int(np.argmax(np.round(found.sink, 9)))
    if found.sink[frame] > SINK:
        out.append(f"frame {frame}: {found.part[frame]} is {1000.0 * found.sink[frame]:.0f} mm inside the seat")
    if found.slide > SLIDE:
        out.append(f"a planted foot slides {1000.0 * found.slide:.0f} mm")
    return out


def support_margin(clip: Clip, masses: FloatArray) -> FloatArray:
    """Return how far the centre of mass is inside the edges of the planted feet, along the floor [m]; (F,).

    The feet are taken as the hull of the discs under both foot capsules. It is negative outside.

    Args:
        clip: motion in the world.
        masses: centre of mass [m]; (F, 3).
    """
    clip = with_contact_points(clip)
    body = capsule_body(clip.skeleton)
    feet = [k for k, name in enumerate(body.names) if name.endswith(("_foot", "_toes"))]
    segments = capsules(clip, body)[:, feet, :, :2].reshape(len(clip), -1, 2)
    radii = np.repeat(body.radii[feet], 2)
    # the least reach beyond the mass over all directions is its distance from the edge of a convex hull
    angles = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    ways = rotations.rotate(rotations.from_yaw(angles), np.array([1.0, 0.0, 0.0]))[:, :2]
    reach = (segments @ ways.T + radii[:, None]).max(axis=1) - masses[:, :2] @ ways.T
    return np.asarray(reach.min(axis=1))
