"""One clip of locomotion from a hub to a hub, from a few curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

from gaitway.cast.curves import plateau, smooth_step
from gaitway.cast.person.gait.hubs import HubFrame, cut_between, hub, plant_between
from gaitway.cast.person.gait.model import GaitModel
from gaitway.cast.person.gait.planting import Planted
from gaitway.cast.person.gait.stride import FPS, NEUTRAL, SPEEDS, Controls, Edit, cycle_rate, locomote, wobble_weights
from gaitway.cast.person.styles import Style
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

Curve = Callable[[FloatArray], FloatArray]
"""A quantity over the clip, as a function of the share 0 to 1 of its duration."""
GAZE_LEAD = 0.06
"""How long before the body the head turns [s]."""
FADE = 0.3
"""How long wobble takes to grow at a clip's start and to die away at its end [s]."""


def perform(
    name: str,
    start: str,
    end: str,
    *,
    style: Style = NEUTRAL,
    seed: int | None = None,
    cycles: int = 1,
    seconds: float | None = None,
    turn: float = 0.0,
    speed: Curve | None = None,
    moving: Curve | None = None,
    beats: Sequence[tuple[float, float]] = (),
    gaze: Curve | None = None,
    sway: Curve | None = None,
    edit: Edit | None = None,
    wobble: float = 1.0,
    free_ends: bool = False,
    pace: float = 1.0,
) -> Clip:
    """Return a clip from one hub to another, `cycles` of the left foot apart.

    Args:
        name: Name of the clip.
        start: State it begins in.
        end: State it ends in.
        style: Style of the character.
        seed: Draws the wobble; None has none.
        cycles: Whole cycles between the two hubs' phases.
        seconds: How long; None lets the speed decide. Rounded to whole frames.
        turn: Total change of heading [rad].
        speed: Signed speed [m/s]; must meet the two hubs' speeds at the ends. None eases from one to the other.
        moving: Share of the gait against standing; None takes it from the speed.
        beats: Time [s] and phase of moments that the cycle passes through between the ends; if empty, the speed
            decides.
        gaze: Turn of the gaze away from the heading [rad]; None looks where the body will turn.
        sway: Further move of the pelvis forward and left [m], (N, 2) for N shares.
        edit: Keys poses on top.
        wobble: Strength of what `seed` draws.
        free_ends: Whether trunk, arms and head differ from the hubs at both ends, as far as they do in between.
        pace: Factor on the time that it takes.

    Returns:
        The clip, its centre line beginning at the origin with heading 0.
    """
    first, last = hub(start, style), hub(end, style)
    finish = cycles + last.phase
    curve = (
        speed if speed is not None else lambda s: first.speed + (last.speed - first.speed) * smooth_step(s, 0.1, 0.9)
    )
    share = np.linspace(0.0, 1.0, 241)
    natural = cycle_rate(GaitModel.load(), np.asarray(curve(share)), style)
    length = seconds if seconds is not None else (finish - first.phase) / max(float(natural.mean()), 0.2)
    count = max(round(FPS * length * pace), 2)
    rates = (first.rate, last.rate)
    if beats:
        knots = [(0.0, first.phase), *beats, (count / FPS, finish)]
        phase = beat_phases(knots, rates, np.arange(count + 1) / FPS)
    else:
        phase = rate_phases(natural, first.phase, finish, rates, count)
    lead_in, lead_out = max(first.frames, 20), max(last.frames, 20)
    inside = np.clip((np.arange(lead_in + count + lead_out + 1) - lead_in) / count, 0.0, 1.0)
    before = first.phase + first.rate * np.arange(-lead_in, 0) / FPS
    after = finish + last.rate * np.arange(1, lead_out + 1) / FPS
    rate = turn_rates(inside, turn, count)
    controls = Controls(
        np.asarray(curve(inside), dtype=np.float64),
        rate,
        np.concatenate([before, phase, after]),
        jog=_jog_share(start, end, np.asarray(curve(inside))),
        moving=None if moving is None else np.asarray(moving(inside)),
        gaze=leading_gaze(rate, inside, count) if gaze is None else np.asarray(gaze(inside)),
        sway=None if sway is None else np.asarray(sway(inside)),
    )
    fade = min(0.4, FADE * FPS / count)
    noise = wobble_weights(controls.phase, inside, fade, seed, wobble)
    free = wobble_weights(controls.phase, inside, fade, seed, wobble, free_ends=True) if free_ends else None
    motion = locomote(controls, style, wobble=noise, upper_wobble=free, edit=edit, start_frame=lead_in)
    ends = (HubFrame(lead_in, first), HubFrame(lead_in + count, last))
    planted: Planted = plant_between(motion, ends, name)
    return cut_between(planted.clip, motion.path, ends, name, free_ends=free_ends)


def _jog_share(start: str, end: str, speed: FloatArray) -> FloatArray | None:
    """Return the share of jog against walk (F,): a slow jog is not a walk, and the arms need time to change."""
    if "jog" not in (start, end):
        return None
    if start == end:
        return np.ones(len(speed))
    walk = SPEEDS["walk"] if "walk" in (start, end) else 0.5
    return smooth_step(speed, walk + 0.05, SPEEDS["jog"] - 0.1)


def rate_phases(rate: FloatArray, begin: float, finish: float, ends: tuple[float, float], count: int) -> FloatArray:
    """Return the phases (count + 1,) from `begin` to `finish` at about the given rates.

    Args:
        rate: Cycles a second at equal shares of the clip [Hz]; (N,).
        begin: Phase of the first frame [cycles].
        finish: Phase of the last frame [cycles].
        ends: Exact rates at the two ends [Hz].
        count: Frames from the first to the last.
    """
    share = np.linspace(0.0, 1.0, len(rate))
    edges = 1.0 - plateau(share, 0.0, 0.15, 0.85, 1.0)
    rate = rate + edges * np.where(share < 0.5, ends[0] - rate[0], ends[1] - rate[-1])
    step = count / FPS / (len(share) - 1)
    natural = _integral(rate) * step
    extra = _integral(np.sin(np.pi * share) ** 2 * np.maximum(rate, 0.05)) * step
    curve = begin + natural + extra * (finish - begin - natural[-1]) / extra[-1]
    return np.asarray(np.interp(np.arange(count + 1) / count, share, curve))


def _integral(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(0.5 * (values[1:] + values[:-1]))])


def beat_phases(knots: Sequence[tuple[float, float]], ends: tuple[float, float], times: FloatArray) -> FloatArray:
    """Return phases (F,) at `times` [s] of a rising curve through (seconds, phase) knots with these end rates."""
    when, phase = np.array(knots).T
    slopes = PchipInterpolator(when, phase)(when, 1)
    slopes[0], slopes[-1] = ends
    return np.asarray(CubicHermiteSpline(when, phase, slopes)(times))


def turn_rates(inside: FloatArray, turn: float, count: int) -> FloatArray:
    """Return the turn rate from every frame to the next [rad/s], 0 at the clip's ends; its sum is exactly the turn."""
    rate = plateau(inside + 0.5 / count, 0.0, 0.45, 0.55, 1.0)
    rate[:-1][np.diff(inside) <= 0.0] = 0.0
    rate[-1] = 0.0
    return np.asarray(rate * (turn * FPS / rate.sum()))


def leading_gaze(rate: FloatArray, inside: FloatArray, count: int) -> FloatArray:
    """Return the turn of the gaze [rad] (F,): the direction that the body will face a moment later; 0 at the ends."""
    heading = np.concatenate([[0.0], np.cumsum(rate[:-1])]) / FPS
    frames = np.arange(len(rate))
    ahead = np.interp(frames + GAZE_LEAD * FPS, frames, heading) - heading
    fade = min(0.4, 0.3 * FPS / count)
    return np.asarray(ahead * plateau(inside, 0.0, fade, 1.0 - fade, 1.0))
