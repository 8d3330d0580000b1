"""The true speed of a take: whether the frame rate of its file is possible, and whether it was taken on a treadmill.

Some captures were taken at half the rate that their files state. Three kinds of evidence show that, also in a take
that is alone. A body in flight falls at g, whatever its size. A body on its feet falls with less than g from step to
step, as the legs under it swing like pendulums: only a run comes near g. And a walk (never both feet off the ground)
whose cadence, step length and speed no leg can reach is played too fast. A foot counts as planted if it is slow in
relation to the pelvis, whatever the rate.

Captures that were taken at twice the rate that their files state are found by the same evidence: bodies in flight fall
at a quarter of g, people leave the ground in every step and hardly fall, and legs swing far too slowly for the length
of their steps. At twice the rate all that is usual.

On a treadmill the planted feet move back under a body that stays in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.reading.smoothing import low_pass
from gaitway.capture.recognising.measures import GRAVITY, PERSON_LEG, centre_of_mass
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.anatomy import leg_length
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances

_OFF_GROUND = 0.05
"""Height of both soles over their lowest height above which the body is in the air [m]."""
_LEAST_RISE = 0.06
"""Least rise of the centre of mass in a flight that counts as evidence [m]."""
_BEST_FIT = 0.01
"""Largest deviation of a flight from a parabola, standard deviation [m]."""
_LARGEST_FACTOR = 4
"""Largest factor by which the rate of a file is divided."""
_WALK_FROUDE, _WALK_CADENCE = 0.3, 2.75
"""Froude number v^2 / (g leg) and cadence, for a leg of 0.85 m [Hz]; a walk above both is played too fast. Walking
turns into running at a Froude number of 0.5."""
_WALK_FLIGHT = 0.05
"""Largest share of the time with both feet off the ground in a walk, where a foot may be missed."""
_FASTEST_WALK_FALL, _FASTEST_RUN_FALL = 7.0, 21.0
"""Downward acceleration of the centre of mass between steps that no walk and no run reaches [m/s^2]. Of 200 takes,
walks have 1.5 to 5 and runs 8 to 14; at twice the rate it is four times that."""
_WALK_RATIO, _HASTY_FALL = 0.3, 4.5
"""Step length in legs divided by the cadence [s], below which steps are too short for their cadence (0.35 to 0.5 is
usual), and the acceleration between them [m/s^2] above which that is a matter of the rate: who sneaks glides."""
_USUAL_PULL, _USUAL_FALL = (6.5, 14.0), (6.5, 13.5)
"""Accelerations of bodies in flight, and of running ones between their steps [m/s^2]. At half the rate they are a
quarter of that, where no body that leaves the ground can be."""
_RUN_FLIGHT, _RUN_BOTH = (0.1, 0.6), 0.06
"""Range of the share of the time that runners have no foot on the ground, and the largest share with both on it."""
_SLOWEST_CADENCE, _SLOW_CADENCE = 1.2, 2.5
"""Cadences of walks, for a leg of 0.85 m [Hz]. The slowest of 150 captured walks has 1.3 Hz; at half the rate, they
have 0.7 to 1.2 Hz."""
_USUAL_RATIO = (0.325, 0.65)
"""Step length in legs divided by the cadence in usual walks [s]; at half the rate it is twice as much."""
_LONGEST_BOTH = 0.4
"""Share of the time with both feet on the ground above which somebody walks slowly on purpose."""
_BOB_S = 0.02
"""Width of the filter of the height of the body [s]."""
_LOW = 0.08
"""Height of a foot over its lowest height up to which it may be planted [m]; floors may have a slope."""
_USUAL_CADENCE = (1.2, 2.4)
"""Range of the cadence of ordinary walks [Hz]."""
_MOST_AGREE = 0.75
"""Share of the takes with evidence that must agree on a factor for the takes without evidence."""
_LEAST_SWING = 0.10
"""Least standard deviation of the distance between the feet along the facing direction for a walk [m]."""
_FASTEST_PELVIS = 0.25
"""Speed below which the pelvis stays in place [m/s]."""
_SLOWEST_BELT = 0.3
"""Least speed of a treadmill [m/s]."""
_ON_GROUND = 0.03
"""Height of a sole over its lowest height up to which it is on the ground [m]."""


@dataclass(frozen=True)
class RateEvidence:
    """Evidence of a take about its own frame rate."""

    factor: float
    """Factor by which the rate of the file is too high, 0.5 if it is half the true one; 0 without evidence."""
    reason: str = ""


def judge_rate(clip: Clip) -> RateEvidence:
    """Return the evidence of a take, given at the rate that its file states."""
    if len(clip) < 8:
        return RateEvidence(0)
    if slow := _too_slow(clip):
        return RateEvidence(0.5, slow)
    pulls = _flight_accelerations(clip)
    if pulls:
        pull = float(np.median(pulls))
        factor = int(np.clip(round(np.sqrt(pull / GRAVITY)), 0, _LARGEST_FACTOR))
        return RateEvidence(factor, f"a body in flight would fall at {pull:.0f} m/s2") if factor else RateEvidence(0)
    return _judge_gait(clip)


def _too_slow(clip: Clip) -> str:
    """Return why a take can only be played at half its speed; an empty string if it need not be.

    What it shows at the rate of its file is not only unusual: at twice that rate it must be usual in every way.
    """
    twice = replace(clip, fps=2.0 * clip.fps)
    gait, pulls = _gait_measures(twice), _flight_accelerations(twice)
    if pulls:
        pull = float(np.median(pulls))
        usual = _USUAL_PULL[0] < pull < _USUAL_PULL[1] and (gait is None or gait.fall < _USUAL_FALL[1])
        return f"a body in flight would fall at {0.25 * pull:.1f} m/s2" if usual else ""
    if gait is None or gait.steps < 2:
        return ""
    if _RUN_FLIGHT[0] < gait.none < _RUN_FLIGHT[1] and gait.both < _RUN_BOTH:
        usual = _USUAL_FALL[0] < gait.fall < _USUAL_FALL[1]
        return f"a running body would fall at {0.25 * gait.fall:.1f} m/s2 between its steps" if usual else ""
    usual = _SLOWEST_CADENCE < gait.frequency < _SLOW_CADENCE and _USUAL_RATIO[0] < gait.ratio < _USUAL_RATIO[1]
    calm = gait.steps >= 3 and gait.none < _WALK_FLIGHT and gait.both < _LONGEST_BOTH and gait.fall < _FASTEST_WALK_FALL
    why = f"it would walk at {0.5 * gait.pace:.1f} m/s with {0.5 * gait.cadence:.1f} steps a second"
    return why if usual and calm else ""


def agreed_factor(evidence: Sequence[RateEvidence]) -> float:
    """Return the factor for takes without evidence: the one that most takes with evidence agree on, else 1."""
    told = [e.factor for e in evidence if e.factor]
    usual = max(set(told), key=told.count, default=1)
    return usual if told.count(usual) >= _MOST_AGREE * len(told) else 1


def _flight_accelerations(clip: Clip) -> list[float]:
    """Return the downward acceleration of the centre of mass in each clear flight [m/s^2]."""
    height = centre_of_mass(clip.joint_positions(), clip.skeleton)[:, 2]
    soles = _sole_heights(clip)
    up = np.asarray((soles - np.percentile(soles, 5.0, axis=0) > _OFF_GROUND).all(axis=1))
    found = []
    for start, stop in stances(up):
        if stop - start < 6:
            continue
        time, track = np.arange(stop - start) / clip.fps, height[start:stop]
        curve = np.polyfit(time, track, 2)
        off = float(np.std(track - np.polyval(curve, time)))
        if off < _BEST_FIT and track.max() - max(track[0], track[-1]) > 0.0 and np.ptp(track) > _LEAST_RISE:
            found.append(float(-2.0 * curve[0]))
    return [pull for pull in found if pull > 0.5 * GRAVITY]


def _judge_gait(clip: Clip) -> RateEvidence:
    """Return the evidence of a gait: an impossible walk is played too fast, an ordinary walk confirms its rate."""
    gait = _gait_measures(clip)
    if gait is None or gait.steps < 3:
        return RateEvidence(0)
    if gait.none > _WALK_FLIGHT:
        if gait.fall > _FASTEST_RUN_FALL:
            return RateEvidence(2, f"the body would fall at {gait.fall:.0f} m/s2 between its steps")
        return RateEvidence(0)
    hasty = gait.froude > _WALK_FROUDE and gait.frequency > _WALK_CADENCE
    short = gait.frequency > _USUAL_CADENCE[1] and gait.ratio < _WALK_RATIO and gait.fall > _HASTY_FALL
    if gait.fall > _FASTEST_WALK_FALL or hasty or short:
        return RateEvidence(2, f"it would walk at {gait.pace:.1f} m/s with {gait.cadence:.1f} steps a second")
    usual = gait.both >= 0.1 and _USUAL_CADENCE[0] < gait.frequency < _USUAL_CADENCE[1]
    return RateEvidence(1 if usual else 0)


@dataclass(frozen=True)
class _GaitMeasures:
    """Measures of the moving part of a take at the rate that its file states."""

    pace: float
    """Median speed [m/s]."""
    cadence: float
    """Steps a second [Hz]."""
    frequency: float
    """Cadence for a leg of 0.85 m [Hz]."""
    ratio: float
    """Step length in legs divided by the frequency [s]."""
    froude: float
    """Froude number v^2 / (g leg)."""
    steps: int
    """Number of steps between which the time is known."""
    both: float
    """Share of the time with both feet on the ground."""
    none: float
    """Share of the time with both feet off the ground."""
    fall: float
    """Downward acceleration of the centre of mass that is often reached [m/s^2]."""


def _gait_measures(clip: Clip) -> _GaitMeasures | None:
    """Return the measures of a gait; None if the character hardly moves."""
    way = low_pass(clip.root_positions[:, :2], 0.15 * clip.fps)
    velocity = np.gradient(way, axis=0) * clip.fps
    speed = np.linalg.norm(velocity, axis=1)
    moving = speed > 0.6
    if moving.sum() < 10:
        return None
    left, right = _planted(clip, speed)[moving].T
    pace, (cadence, steps) = float(np.median(speed[moving])), _cadence(clip, velocity, speed)
    leg = leg_length(clip.skeleton)
    frequency = cadence * float(np.sqrt(leg / PERSON_LEG))
    return _GaitMeasures(
        pace=pace,
        cadence=cadence,
        frequency=frequency,
        ratio=pace / max(cadence, 1e-6) / leg / max(frequency, 1e-6),
        froude=pace**2 / (GRAVITY * leg),
        steps=steps,
        both=float((left & right).mean()),
        none=float((~left & ~right).mean()),
        fall=_falls(clip, moving),
    )


def _falls(clip: Clip, moving: BoolArray) -> float:
    """Return the downward acceleration of the centre of mass that a moving body (F,) often has [m/s^2]."""
    height = low_pass(centre_of_mass(clip.joint_positions(), clip.skeleton)[:, 2], _BOB_S * clip.fps)
    pull = -np.gradient(np.gradient(height)) * clip.fps**2
    return float(np.percentile(pull[moving], 95.0))


def _planted(clip: Clip, speed: FloatArray) -> BoolArray:
    """Return whether the left and right foot are low and slow in relation to the pelvis; (F, 2)."""
    points = clip.contact_positions()
    moves = np.linalg.norm(np.gradient(low_pass(points, 0.01 * clip.fps), axis=0), axis=-1) * clip.fps
    low = points[..., 2] - np.percentile(points[..., 2], 5.0, axis=0) < _LOW
    still = low & (moves < 0.35 * speed[:, None])
    return np.stack([still[:, columns].any(axis=1) for columns in _foot_columns(clip)], axis=1)


def _cadence(clip: Clip, velocity: FloatArray, speed: FloatArray) -> tuple[float, int]:
    """Return the cadence [Hz], from the moments at which the feet pass each other, and the number of steps."""
    roles = clip.skeleton.roles
    positions = clip.joint_positions()
    gap = positions[:, roles["left_ankle"], :2] - positions[:, roles["right_ankle"], :2]
    along = low_pass(np.sum(gap * velocity, axis=1) / np.maximum(speed, 1e-6), 0.03 * clip.fps)
    passings = np.flatnonzero(np.sign(along[1:]) != np.sign(along[:-1]))
    times = np.diff(passings[speed[passings] > 0.4]) / clip.fps
    return (1.0 / float(np.median(times)), len(times)) if len(times) else (0.0, 0)


def _sole_heights(clip: Clip) -> FloatArray:
    """Return the height of the lowest point of each foot [m]; (F, 2)."""
    heights = clip.contact_positions()[..., 2]
    return np.stack([heights[:, columns].min(axis=1) for columns in _foot_columns(clip)], axis=1)


def _foot_columns(clip: Clip) -> list[list[int]]:
    points = clip.skeleton.contact_points
    return [[i for i, p in enumerate(points) if p.name.startswith(side)] for side in ("left", "right")]


def belt_speed(clip: Clip) -> float:
    """Return the speed of the treadmill under a character that walks on the spot [m/s]; 0 for all other motion."""
    if clip.duration < 1.0:
        return 0.0
    size = leg_length(clip.skeleton) / PERSON_LEG
    positions, roles = clip.joint_positions(), clip.skeleton.roles
    hips = low_pass(positions[:, 0, :2], 0.25 * clip.fps)
    pelvis = np.linalg.norm(np.gradient(hips, axis=0), axis=1) * clip.fps
    if np.median(pelvis) > _FASTEST_PELVIS * np.sqrt(size):
        return 0.0
    way = facing(clip)
    joints = [roles.get(f"{side}_toe", roles[f"{side}_ankle"]) for side in ("left", "right")]
    balls = positions[:, joints]
    along = low_pass(np.einsum("fsk,fk->fs", balls[..., :2], way), 0.03 * clip.fps)
    if np.std(along[:, 0] - along[:, 1]) < _LEAST_SWING * size:
        return 0.0
    heights = balls[..., 2] - np.percentile(balls[..., 2], 5.0, axis=0)
    lower = np.argmin(heights, axis=1)
    frames = np.arange(len(clip))
    speeds = (np.gradient(along, axis=0) * clip.fps)[frames, lower]
    grounded = heights[frames, lower] < _ON_GROUND * size
    belt = -float(np.median(speeds[grounded])) if grounded.sum() > 5 else 0.0
    return belt if belt > _SLOWEST_BELT * np.sqrt(size) else 0.0


def facing(clip: Clip) -> FloatArray:
    """Return the unit vector of the facing direction, without the sway of steps; (F, 2)."""
    heading = low_pass(clip.headings(), 0.4 * clip.fps)
    return np.stack([np.cos(heading), np.sin(heading)], axis=1)


def travel_on_ground(clip: Clip, belt: float) -> Clip:
    """Return a clip from a treadmill with speed `belt` [m/s] as it would travel on solid ground."""
    way = np.cumsum(facing(clip) * (belt / clip.fps), axis=0)
    roots = np.array(clip.root_positions)
    roots[:, :2] += way - way[0]
    return replace(clip, root_positions=roots)
