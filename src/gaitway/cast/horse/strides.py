"""From a course to a clip of the horse: where each hoof stands, legs on the body, frames."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from gaitway.cast.curves import travelled
from gaitway.cast.horse.body import (
    DUTY,
    MID_STANCE,
    STRIDE_TIME,
    GallopCourse,
    HorseStyle,
    body_pose,
    body_rotations,
    leg_mounts,
)
from gaitway.cast.horse.legs import HoofStance, SwingReference, leg_angles
from gaitway.cast.horse.skeleton import LEGS, STAND_HEIGHT, horse_skeleton, leg_geometry
from gaitway.cast.masses import GRAVITY
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

FPS = 30.0
FINE = 8
"""Samples of the fine time grid for each frame."""
STEP = 1.0 / (FPS * FINE)
REACH = {"Hind": 0.09, "Fore": 0.07}
"""How far ahead of its place at rest each kind of leg stands at mid-stance of a gallop [m]."""
TRACK = {"Hind": 0.10, "Fore": 0.09}
"""Distance of the hooves from the middle line in a gallop [m]; a horse that gallops treads close to it."""


@dataclass(frozen=True)
class Ends:
    """Which ends of a clip lie in the flight of the gallop."""

    at_start: bool
    at_end: bool


def fine_times(duration: float) -> FloatArray:
    """Return the times of the fine grid [s]."""
    return np.linspace(0.0, duration, round(duration / STEP) + 1)


def make_course(
    times: FloatArray, speed: FloatArray, heading: FloatArray, phase: FloatArray, gallop: FloatArray
) -> GallopCourse:
    """Return a course along a heading [rad] at a speed [m/s]; it leans and looks into its turns.

    Args:
        times: Times of the fine grid [s]; all are (N,).
        speed: Speed [m/s].
        heading: Heading [rad].
        phase: Strides since a flight.
        gallop: 0 where it stands, 1 where it gallops.
    """
    turning = np.gradient(heading, times)
    bank = 0.8 * np.arctan(speed * turning / GRAVITY)
    return GallopCourse(
        times=times,
        path=travelled(times, speed, heading),
        phase=phase,
        gallop=gallop,
        bank=bank,
        bend=0.35 * turning,
        crouch=np.zeros(len(times)),
        extra={},
    )


def stride_stances(course: GallopCourse, strides: Iterable[int], leg: str, jitter: FloatArray) -> list[HoofStance]:
    """Return the stances of a leg in these strides, each under the path at its middle."""
    out = []
    for stride in strides:
        middle = stride + MID_STANCE[leg]
        weight = float(np.interp(middle, course.phase, course.gallop))
        duty = DUTY + 0.2 * (1.0 - weight)
        first, centre, last = np.searchsorted(course.phase, [middle - 0.5 * duty, middle, middle + 0.5 * duty])
        if first > 0 and last < len(course.times):
            place = foothold(course, int(centre), leg, weight, jitter)
            out.append(HoofStance(int(first), int(last), *place, load=0.3 + 0.7 * weight, lift=0.55 + 0.45 * weight))
    return out


def timed_stance(course: GallopCourse, leg: str, land: float, leave: float) -> HoofStance:
    """Return a stance between two times [s]."""
    first, last = round(land / STEP), round(leave / STEP)
    middle = (first + last) // 2
    weight = float(course.gallop[middle])
    return HoofStance(first, last, *foothold(course, middle, leg, weight), load=0.3 + 0.7 * weight)


def foothold(
    course: GallopCourse, sample: int, leg: str, weight: float, jitter: FloatArray | None = None
) -> tuple[float, float, float]:
    """Return where the toe belongs when the root is at `sample`: x, y [m] and direction [rad]."""
    kind, geometry = leg[-4:], leg_geometry(leg)
    x, y, heading = course.path[sample]
    along = geometry.rest_toe[0] + weight * REACH[kind]
    side = 1.0 if leg.startswith("Left") else -1.0
    across = geometry.rest_toe[1] + weight * (side * TRACK[kind] - geometry.rest_toe[1])
    across -= STAND_HEIGHT * np.sin(course.bank[sample])
    if jitter is not None:
        along, across = along + jitter[0], across + jitter[1]
    c, s = np.cos(heading), np.sin(heading)
    return float(x + c * along - s * across), float(y + s * along + c * across), float(heading)


@cache
def _standard_stride(style: HorseStyle) -> dict[str, FloatArray]:
    """Return the leg angles (n, joints, 3) of one straight stride from flight to flight, without its last sample."""
    count = round(STRIDE_TIME / STEP)
    times = fine_times(3 * STRIDE_TIME)
    course = make_course(
        times, np.full(len(times), style.speed), np.zeros(len(times)), times / STRIDE_TIME, np.ones(len(times))
    )
    mounts = leg_mounts(course, style)
    out = {}
    for leg in LEGS:
        stances = [replace(s, lift=style.lift) for s in stride_stances(course, range(3), leg, np.zeros(2))]
        out[leg] = leg_angles(leg_geometry(leg), *mounts[leg], stances)[count : 2 * count]
    return out


def _reference(style: HorseStyle, leg: str, count: int, ends: Ends) -> SwingReference:
    stride = _standard_stride(style)[leg]
    indices = np.arange(count)
    if not ends.at_start:  # count back from the end, which is a flight
        indices = indices - (count - 1)
    return SwingReference(stride[indices % len(stride)], ends.at_start, ends.at_end)


def assemble(
    name: str, course: GallopCourse, style: HorseStyle, stances: dict[str, list[HoofStance]], ends: Ends
) -> Clip:
    """Return the clip of a course: body and legs together, in frames."""
    mounts = leg_mounts(course, style)
    roots, vectors = body_pose(course, style)
    contacts = np.zeros((len(course.times), len(LEGS)), dtype=bool)
    for column, leg in enumerate(LEGS):
        geometry = leg_geometry(leg)
        reference = _reference(style, leg, len(course.times), ends)
        vectors[:, geometry.joints] = leg_angles(geometry, *mounts[leg], stances[leg], reference)
        for stance in stances[leg]:
            contacts[stance.first : stance.last + 1, column] = True
    local = body_rotations(course, vectors)
    return Clip(horse_skeleton(), roots[::FINE], local[::FINE], FPS, name, contacts[::FINE], ("horse",))
