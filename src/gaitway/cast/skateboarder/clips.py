"""The built-in skateboarder: glide, four turns, push, jump, duck, stop, wait and start; a hand-built model.

In the state "ride" the rider stands still on a board that rolls at a steady speed, so clips join there without a seam.
In the state "wait" the right foot is on the ground beside the board.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gaitway.cast.curves import bump, hermite, plateau, smooth_step, travelled, wobble
from gaitway.cast.masses import GRAVITY, centre_of_mass
from gaitway.cast.recipes import CastClip, Recipe, cast_clips
from gaitway.cast.skateboarder.foot import PushStep, walk_foot
from gaitway.cast.skateboarder.ride import (
    DEGREE,
    RideTake,
    SkaterStyle,
    frame_times,
    move_arms,
    pushing,
    steady_ride,
    straight_path,
    waiting,
)
from gaitway.cast.skateboarder.rig import FPS, Ride, make_clip
from gaitway.cast.skateboarder.skeleton import HALF_BASE
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

TURNS = {
    # behaviour: turn [deg], seconds
    "glide_left_25": (25.0, 1.2),
    "glide_left_50": (50.0, 1.6),
    "glide_right_25": (-25.0, 1.2),
    "glide_right_50": (-50.0, 1.6),
}
WAIT_FOOT = (-0.06, -0.33, float(np.radians(-38.0)))
"""Position of the ball of the right foot in "wait", relative to the board's middle [m], and its heading [rad]."""


def _glide(name: str, take: RideTake, turn: float = 0.0, duration: float = 1.2) -> Clip:
    """Roll on, and carve through `turn` [rad] with the whole body."""
    times = frame_times(duration)
    s = times / duration
    rate = plateau(s, 0.0, 0.42, 0.58, 1.0)
    heading = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]))])
    heading = heading * turn / heading[-1]
    ride = steady_ride(travelled(times, np.full(len(times), take.style.speed), heading), take)
    if not turn:
        return make_clip(ride, name, ("glide",))
    lean = np.arctan(take.style.speed * np.gradient(heading, times) / GRAVITY)
    lean[0] = lean[-1] = 0.0
    strength = np.abs(turn) / (50.0 * DEGREE) * rate
    early = plateau(s, 0.0, 0.3, 0.4, 0.85)  # eyes and shoulders go first
    sign = np.sign(turn)
    heel = strength if turn > 0.0 else -strength  # to the left he leans on his heels, to the right on his toes
    ride = replace(
        ride,
        lean=lean,
        deck_roll=ride.deck_roll + 0.55 * lean,
        hips_height=ride.hips_height - 0.07 * strength,
        look=ride.look + 0.5 * turn * early,
        twist=ride.twist + sign * 9.0 * DEGREE * strength,
        hips_yaw=ride.hips_yaw + sign * 8.0 * DEGREE * strength,
        fold=ride.fold + 10.0 * DEGREE * np.clip(heel, -0.3, 1.0),
        curl=ride.curl + 6.0 * DEGREE * heel,
    )
    first, second = (16.0, 22.0) if turn > 0.0 else (20.0, 14.0)
    up = DEGREE * np.column_stack([first * strength, second * strength])
    ahead = DEGREE * np.column_stack([16.0 * heel, 10.0 * heel])
    ride = move_arms(ride, up, ahead, -0.3 * up)
    return make_clip(ride, name, ("glide", "turn"))


def _duck(name: str, take: RideTake) -> Clip:
    """Fold down under a bar and come up again."""
    times = frame_times(2.0)
    ride = steady_ride(straight_path(times, take.style.speed), take, 0.5)
    low = plateau(times, 0.1, 0.75, 1.2, 1.85)
    fold = plateau(times, 0.05, 0.75, 1.2, 1.95)
    ride = replace(
        ride,
        hips_height=ride.hips_height - 0.39 * low,
        fold=ride.fold + 12.0 * DEGREE * fold,
        curl=ride.curl + 34.0 * DEGREE * fold,
        balance=ride.balance - low[:, None] * np.array([0.04, 0.0]),
        hips_yaw=ride.hips_yaw - 6.0 * DEGREE * fold,
        twist=ride.twist + 8.0 * DEGREE * fold,
        look=ride.look - 22.0 * DEGREE * fold,
        nod=ride.nod + 24.0 * DEGREE * low,
    )
    both = np.ones((1, 2))
    ride = move_arms(
        ride,
        6.0 * DEGREE * low[:, None] * both,
        DEGREE * low[:, None] * np.array([[52.0, 30.0]]),
        22.0 * DEGREE * low[:, None] * both,
    )
    return make_clip(ride, name, ("duck",))


LEAVE, LAND = 0.8, 1.3
"""When the jump leaves the ground and lands again [s]."""


def _jump(name: str, take: RideTake) -> Clip:
    """Return an ollie: crouch, pop the tail, tuck the board up under the feet, land and sink."""
    times = frame_times(2.2)
    ride = steady_ride(straight_path(times, take.style.speed), take, 0.5)
    rest = float(ride.hips_height[0])
    high, rise = rest + 0.05, 0.5 * GRAVITY * (LAND - LEAVE)
    airborne = (times > LEAVE - 1e-9) & (times < LAND + 1e-9)
    knots = ((0.0, rest, 0.0), (0.47, rest - 0.27, 0.0), (LEAVE, high, rise), (LAND, high - 0.02, -rise))
    after = ((LAND, high - 0.02, -rise), (1.57, rest - 0.25, 0.0), (2.15, rest, 0.0), (2.3, rest, 0.0))
    height = np.where(times < LAND, _through(times, knots), _through(times, after))
    pitch = 27.0 * DEGREE * (smooth_step(times, 0.70, 0.90) - smooth_step(times, 0.88, 1.16))
    pop = HALF_BASE * np.sin(27.0 * DEGREE * smooth_step(times, 0.70, 0.90))  # the back wheels stay down at first
    in_air = np.clip((times - LEAVE) / (LAND - LEAVE), 0.0, 1.0)
    lift = np.where(times <= LEAVE, pop, 0.0)
    start = HALF_BASE * float(np.sin(27.0 * DEGREE * smooth_step(LEAVE, 0.70, 0.90)))
    lift = np.where(airborne, _board_flight(in_air, start), lift)
    crouch = plateau(times, 0.0, 0.42, 0.5, 0.82) + plateau(times, LAND - 0.12, 1.55, 1.6, 2.2)
    tuck = plateau(times, LEAVE - 0.02, 1.04, 1.1, LAND + 0.08)
    ride = replace(
        ride,
        hips_height=height,
        deck_pitch=pitch,
        deck_lift=lift,
        airborne=airborne,
        fold=ride.fold + DEGREE * (20.0 * crouch + 16.0 * tuck),
        curl=ride.curl + DEGREE * (14.0 * crouch + 10.0 * tuck),
        twist=ride.twist + 6.0 * DEGREE * tuck,
        nod=ride.nod + DEGREE * (8.0 * tuck + 4.0 * crouch),
    )
    throw = plateau(times, 0.5, 0.95, 1.05, 1.6)
    up = DEGREE * (throw[:, None] * np.array([[42.0, 56.0]]) - 12.0 * crouch[:, None])
    ahead = DEGREE * (
        plateau(times, 0.05, 0.45, 0.5, 0.9)[:, None] * np.array([[-22.0, -18.0]]) + 14.0 * throw[:, None]
    )
    ride = move_arms(ride, up, ahead, 10.0 * DEGREE * throw[:, None])
    return make_clip(_with_free_fall(ride, times), name, ("jump",))


def _through(times: FloatArray, knots: Sequence[tuple[float, float, float]]) -> FloatArray:
    """Return a smooth curve through (time, value, slope) knots; constant beyond them."""
    out = np.full(len(times), knots[0][1])
    for (t0, value0, slope0), (t1, value1, slope1) in pairwise(knots):
        inside = (times >= t0) & (times <= t1)
        s = (times[inside] - t0) / (t1 - t0)
        ends = [np.array([v]) for v in (value0, slope0 * (t1 - t0), value1, slope1 * (t1 - t0))]
        out[inside] = hermite(s, *ends)[:, 0]
    return np.where(times > knots[-1][0], knots[-1][1], out)


def _board_flight(s: FloatArray, start: float) -> FloatArray:
    """Return height of the axles over their ride [m] in the air, by progress 0..1: up to the tucked feet, down flat."""
    return start * (1.0 - smooth_step(s, 0.1, 0.9)) + 0.43 * bump(s, 1.6, 1.7)


def _with_free_fall(ride: Ride, times: FloatArray) -> Ride:
    """Move the hips up or down in the air until the rider's centre of mass falls freely from leaving to landing."""
    inside = np.flatnonzero(ride.airborne)
    first, last = inside[0], inside[-1]
    t = times[first : last + 1]
    for _ in range(6):
        clip = make_clip(ride, "flight")
        mass = centre_of_mass(clip.skeleton, clip.root_positions, clip.rotations)[first : last + 1, 2]
        line = mass[0] + (mass[-1] - mass[0]) * (t - t[0]) / (t[-1] - t[0])
        height = ride.hips_height.copy()
        height[first : last + 1] += line + 0.5 * GRAVITY * (t - t[0]) * (t[-1] - t) - mass
        ride = replace(ride, hips_height=height)
    return ride


def _push(name: str, take: RideTake) -> Clip:
    """Return one push with the right foot while rolling."""
    times = frame_times(2.0)
    path = straight_path(times, take.style.speed)
    ride = steady_ride(path, take, 0.5)
    start, end = 21 / FPS, 28 / FPS
    middle = float(np.interp(0.5 * (start + end), times, path[:, 0]))
    step = PushStep(start, end, middle - 0.05, -0.24, -6.0 * DEGREE)
    ride = replace(ride, foot=walk_foot(times, path[:, 0], [step], True, True))
    return make_clip(pushing(ride, times, 0.2, 0.7, 0.9, 1.75), name, ("push",))


def _stop(name: str, take: RideTake) -> Clip:
    """Put the right foot down, drag it until the board stands, and rest on it."""
    times = frame_times(2.4)
    speed = take.style.speed * (1.0 - smooth_step(times, 0.45, 1.9))
    path = straight_path(times, speed)
    ride = steady_ride(path, take, 0.4)
    x, y, yaw = WAIT_FOOT
    count = len(times)
    foot = walk_foot(times, np.zeros(count), [PushStep(18 / FPS, 2.4, x, y, yaw)], True, False)
    foot = replace(foot, planted=times >= 1.9 - 1e-9)
    ride = replace(waiting(ride, smooth_step(times, 0.15, 1.9)), foot=foot)
    braking = plateau(times, 0.1, 0.6, 1.1, 2.0)
    ride = replace(
        ride,
        hips_height=ride.hips_height - 0.09 * braking,
        balance=ride.balance + braking[:, None] * np.array([-0.07, 0.06]),
        fold=ride.fold + 6.0 * DEGREE * braking,
    )
    ride = move_arms(ride, DEGREE * braking[:, None] * np.array([[14.0, 18.0]]), 0.0 * ride.swing, 0.0 * ride.elbow)
    return make_clip(ride, name, ("stop",))


def _wait(name: str, take: RideTake) -> Clip:
    """Stand with one foot on the board: look about, shift the weight, roll the board a little under the foot."""
    times = frame_times(3.0)
    count = len(times)
    ride = waiting(steady_ride(np.zeros((count, 3)), take), np.ones(count))
    noise = wobble(times, 5, take.rng, 0.4)
    breath = 0.004 * plateau(times, 0.0, 0.5, 2.5, 3.0) * np.sin(2.0 * np.pi * 0.3 * times)
    ride = replace(
        ride,
        look=ride.look + 22.0 * DEGREE * noise[:, 0],
        twist=ride.twist + 5.0 * DEGREE * noise[:, 0] + 3.0 * DEGREE * noise[:, 1],
        balance=ride.balance + np.column_stack([0.02 * noise[:, 2], 0.03 * noise[:, 3]]),
        hips_height=ride.hips_height + breath - 0.012 * np.abs(noise[:, 3]) * np.abs(noise[:, 3]),
        foot=walk_foot(times, np.zeros(count), [PushStep(0.0, 3.0, *WAIT_FOOT)], False, False),
    )
    return make_clip(ride, name, ("wait",))


def _start(name: str, take: RideTake) -> Clip:
    """Push off twice from standing and step on to the board."""
    times = frame_times(2.8)
    speed = take.style.speed * (0.5 * smooth_step(times, 0.2, 0.95) + 0.5 * smooth_step(times, 1.25, 1.75))
    path = straight_path(times, speed)
    ride = steady_ride(path, take, 0.4)
    x, y, yaw = WAIT_FOOT
    first = PushStep(0.0, 24 / FPS, x, y, yaw)
    start, end = 41 / FPS, 50 / FPS
    middle = float(np.interp(0.5 * (start + end), times, path[:, 0]))
    second = PushStep(start, end, middle - 0.05, -0.24, -6.0 * DEGREE)
    ride = replace(
        waiting(ride, 1.0 - smooth_step(times, 0.05, 0.8)),
        foot=walk_foot(times, path[:, 0], [first, second], False, True),
    )
    ride = pushing(ride, times, 0.1, 0.6, 0.75, 1.35, depth=0.13)
    return make_clip(pushing(ride, times, 0.8, 1.35, 1.66, 2.6), name, ("start",))


def skateboarder_clips(
    style: SkaterStyle | None = None, seed: int = 0, takes: int = 1, behaviors: Collection[str] | None = None
) -> list[CastClip]:
    """Return the clips of a skateboarder, the mean one by default. Arguments as those of `cast_clips`."""
    return cast_clips(_recipes(), style or SkaterStyle(), seed, takes, behaviors)


def _recipes() -> list[Recipe[SkaterStyle]]:
    return [
        Recipe("glide_forward", "ride", "ride", _plain(_glide)),
        *(Recipe(name, "ride", "ride", _turning(*turn)) for name, turn in TURNS.items()),
        Recipe("push", "ride", "ride", _plain(_push)),
        Recipe("jump", "ride", "ride", _passing(_jump, 0.5 * (LEAVE + LAND)), "jump"),
        Recipe("duck", "ride", "ride", _passing(_duck, 1.0), "duck"),
        Recipe("stop", "ride", "wait", _plain(_stop)),
        Recipe("wait", "wait", "wait", _plain(_wait)),
        Recipe("start", "wait", "ride", _plain(_start)),
    ]


def _plain(make: Callable[[str, RideTake], Clip]) -> Callable[[str, SkaterStyle, int], Clip]:
    return lambda name, style, seed: make(name, RideTake(style, np.random.default_rng(seed)))


def _turning(degrees: float, seconds: float) -> Callable[[str, SkaterStyle, int], Clip]:
    return _plain(lambda name, take: _glide(name, take, degrees * DEGREE, seconds))


def _passing(
    make: Callable[[str, RideTake], Clip], seconds: float
) -> Callable[[str, SkaterStyle, int], tuple[Clip, float]]:
    return lambda name, style, seed: (_plain(make)(name, style, seed), seconds)
