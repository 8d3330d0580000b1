"""The built-in horse: stand, start, gallop, four turns, stop; a hand-built model, no captured data.

Every gallop clip begins and ends in the middle of the flight between two strides, when no hoof is down, in one and the
same pose with the same speeds; so any two join without a seam.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np

from gaitway.cast.curves import plateau, smooth_step, wobble
from gaitway.cast.horse.body import STRIDE_TIME, GallopCourse, HorseStyle
from gaitway.cast.horse.legs import HoofStance
from gaitway.cast.horse.skeleton import LEGS
from gaitway.cast.horse.strides import (
    STEP,
    Ends,
    assemble,
    fine_times,
    foothold,
    make_course,
    stride_stances,
    timed_stance,
)
from gaitway.cast.recipes import CastClip, Recipe, cast_clips
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

TURNS = {
    # behaviour: total turn [deg], strides
    "gallop_left_20": (20.0, 2),
    "gallop_left_40": (40.0, 3),
    "gallop_right_20": (-20.0, 2),
    "gallop_right_40": (-40.0, 3),
}
START_STEPS: dict[str, tuple[Any, ...]] = {
    # when each hoof leaves its place, and the landing and lift of its steps before the even strides [s]
    "LeftHind": (0.88, (1.15, 1.37)),
    "RightHind": (0.97, (1.28, 1.46)),
    "LeftFore": (0.44, (0.85, 1.09)),
    "RightFore": (0.50, (0.94, 1.16)),
}
STOP_STEPS: dict[str, tuple[Any, ...]] = {
    # landing and lift of each hoof's steps after the even strides, and when it comes down to stay [s]
    "LeftHind": ((0.98, 1.24), 1.54),
    "RightHind": ((1.10, 1.40), 1.70),
    "LeftFore": (1.24,),
    "RightFore": (1.34,),
}


def _gallop(name: str, turn: float, strides: int, style: HorseStyle, rng: np.random.Generator | None) -> Clip:
    """Gallop for some strides while the heading turns by `turn` [rad] in all."""
    duration = strides * STRIDE_TIME
    times = fine_times(duration)
    s = times / duration
    if turn:
        rise = 0.32
        rate = plateau(s, 0.0, rise, 1.0 - rise, 1.0)
        heading = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]))])
        heading *= turn / heading[-1]
        slower = 1.0 - 0.003 * abs(np.degrees(turn)) * rate
    else:
        heading, slower = np.zeros(len(times)), np.ones(len(times))
    course = make_course(times, style.speed * slower, heading, times / STRIDE_TIME, np.ones(len(times)))
    jitter = np.zeros((strides, len(LEGS), 2))
    if rng is not None:
        course = replace(course, extra=_gallop_wobble(times, rng))
        jitter = np.clip(rng.normal(size=jitter.shape), -1.5, 1.5) * np.array([0.01, 0.008])
        jitter[0] = 0.0  # its first hooves are about to land when the clip begins
    stances = {}
    for column, leg in enumerate(LEGS):
        each = [stride_stances(course, [k], leg, jitter[k, column]) for k in range(strides)]
        stances[leg] = [replace(stance, lift=style.lift) for found in each for stance in found]
    return assemble(name, course, style, stances, Ends(True, True))


def _gallop_wobble(times: FloatArray, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Return small slow departures from the even stride, for one take."""
    sizes_deg = {
        "Barrel": 0.5,
        "Croup": 0.8,
        "Chest": 0.5,
        "Neck": 1.2,
        "Neck1": 1.0,
        "Head": 1.2,
        "Tail": 3,
        "Tail1": 4,
        "Tail2": 4,
    }
    return {joint: np.radians(size) * wobble(times, 3, rng) for joint, size in sizes_deg.items()}


def _planted(course: GallopCourse, sample: int, leg: str) -> tuple[float, float, float]:
    return foothold(course, sample, leg, 0.0)


def _stand(name: str, duration: float, style: HorseStyle, rng: np.random.Generator) -> Clip:
    """Stand square: breathe, shift the weight, look about, swish the tail."""
    times = fine_times(duration)
    zero = np.zeros(len(times))
    course = make_course(times, zero, zero, zero, zero)
    edge = plateau(times, 0.0, 0.5, duration - 0.5, duration)
    look = wobble(times, 3, rng, 0.35)
    shift = wobble(times, 3, rng, 0.3)
    swish = wobble(times, 2, rng, 0.5)
    axes = np.array([0.25, 0.5, 1.0])  # mostly to the sides, some nodding, little tilt
    extra = {
        "Neck": np.radians(9.0) * look * axes,
        "Neck1": np.radians(8.0) * look * axes,
        "Neck2": np.radians(7.0) * wobble(times, 3, rng, 0.4) * axes,
        "Head": np.radians(8.0) * wobble(times, 3, rng, 0.5) * np.array([0.6, 1.0, 0.6]),
        "Barrel": np.radians(1.0) * shift * np.array([1.0, 0.6, 0.6]),
        "Croup": np.radians(0.8) * wobble(times, 3, rng, 0.3),
    }
    for k, joint in enumerate(("Tail", "Tail1", "Tail2", "Tail3")):
        beat = edge * np.sin(2.0 * np.pi * 0.9 * times - 0.6 * k) * np.clip(swish[:, 0], 0.0, None)
        side = np.radians(9.0 + 5.0 * k) * beat
        extra[joint] = np.column_stack([side, np.radians(3.0) * swish[:, 1] + 0.5 * np.abs(side), zero])
    breath = 0.004 * edge * np.sin(2.0 * np.pi * 0.25 * times)
    sway = np.column_stack([0.015 * shift[:, 0], 0.02 * shift[:, 1], 0.0 * zero])
    course = replace(course, extra=extra, path=course.path + sway, crouch=-breath / 0.07)
    stances = {leg: [HoofStance(0, len(times) - 1, *_planted(course, 0, leg), 0.0, True, True)] for leg in LEGS}
    return assemble(name, course, style, stances, Ends(False, False))


def _start(name: str, style: HorseStyle, rng: np.random.Generator | None) -> Clip:
    """Make the clip from standing into the gallop: sink on the haunches, lift the forehand, three growing strides."""
    duration, begin = 2.2, 0.2
    times = fine_times(duration)
    settle = duration - 0.3  # all is at full speed for the last part, which is the standard stride
    pace = smooth_step(times, begin, begin + 1.2)
    strides = np.concatenate([[0.0], np.cumsum(0.5 * (pace[1:] + pace[:-1])) * STEP / STRIDE_TIME])
    phase = strides - strides[-1]  # ends in flight, at phase 0
    gallop = smooth_step(times, begin + 0.1, settle - 0.2)
    speed = style.speed * smooth_step(times, begin + 0.1, settle)
    course = make_course(times, speed, np.zeros(len(times)), phase, gallop)
    course = replace(course, crouch=plateau(times, 0.05, 0.6, 0.75, 1.35))
    if rng is not None:
        course = replace(course, extra=_gallop_wobble(times, rng))
    stances = {}
    for leg, (leave, *steps) in START_STEPS.items():
        is_fore = leg.endswith("Fore")
        lift = 0.46 if is_fore else 0.7
        first = HoofStance(0, round(leave / STEP), *_planted(course, 0, leg), 0.15, starts_planted=True, lift=lift)
        own = [timed_stance(course, leg, land, leave) for land, leave in steps]
        even = stride_stances(course, [-2, -1] if is_fore else [-1], leg, np.zeros(2))
        stances[leg] = [first, *own, *even]
    return assemble(name, course, style, stances, Ends(False, True))


def _stop(name: str, style: HorseStyle, rng: np.random.Generator | None) -> Clip:
    """Make the clip from the gallop to a stand: shorter strides, haunches under, then the forelegs settle."""
    duration = 2.4
    times = fine_times(duration)
    pace = 1.0 - smooth_step(times, 0.5, 2.2)
    phase = np.concatenate([[0.0], np.cumsum(0.5 * (pace[1:] + pace[:-1])) * STEP / STRIDE_TIME])
    gallop = 1.0 - smooth_step(times, 0.35, 2.15)
    speed = style.speed * (1.0 - smooth_step(times, 0.08, 2.0))
    course = make_course(times, speed, np.zeros(len(times)), phase, gallop)
    course = replace(course, crouch=0.8 * plateau(times, 0.6, 1.2, 1.3, 2.1))
    if rng is not None:
        course = replace(course, extra=_gallop_wobble(times, rng))
    stances = {}
    for leg, (*steps, halt) in STOP_STEPS.items():
        own = [replace(timed_stance(course, leg, land, leave), lift=0.3) for land, leave in steps]
        last = HoofStance(round(halt / STEP), len(times) - 1, *_planted(course, -1, leg), 0.35, ends_planted=True)
        strides = stride_stances(course, [0, 1], leg, np.zeros(2))
        stances[leg] = [strides[0], replace(strides[1], lift=0.9 if leg.endswith("Fore") else 0.5), *own, last]
    return assemble(name, course, style, stances, Ends(True, False))


def horse_clips(
    style: HorseStyle | None = None, seed: int = 0, takes: int = 1, behaviors: Collection[str] | None = None
) -> list[CastClip]:
    """Return the clips of a horse, the mean one by default. Arguments as those of `cast_clips`."""
    return cast_clips(_recipes(), style or HorseStyle(), seed, takes, behaviors)


def _recipes() -> list[Recipe[HorseStyle]]:
    return [
        Recipe("stand", "stand", "stand", lambda name, style, seed: _stand(name, 4.0, style, _rng(seed))),
        Recipe("start_gallop", "stand", "gallop", lambda name, style, seed: _start(name, style, _rng(seed))),
        Recipe("gallop_forward", "gallop", "gallop", _galloping(0.0, 1)),
        *(Recipe(name, "gallop", "gallop", _galloping(*turn)) for name, turn in TURNS.items()),
        Recipe("stop_gallop", "gallop", "stand", lambda name, style, seed: _stop(name, style, _rng(seed))),
    ]


def _galloping(degrees: float, strides: int) -> Callable[[str, HorseStyle, int], Clip]:
    turn = float(np.radians(degrees))
    return lambda name, style, seed: _gallop(name, turn, strides, style, _rng(seed))


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
