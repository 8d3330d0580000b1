"""The built-in skateboarder: glide, four turns, push, jump, duck, stop, wait and start; a hand-built model.

In the state "ride" the rider stands still on a board that rolls at a steady speed, so clips join there without a seam.
In the state "wait" the right foot is on the ground beside the board.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gaitway.arrays import BoolArray, FloatArray
from gaitway.library.cast.curves import bump, hermite, plateau, smooth_step, travelled, wobble
from gaitway.library.cast.entry import CastClip
from gaitway.library.cast.skateboarder_rig import (
    DECK_HEIGHT,
    FEET,
    FPS,
    HALF_BASE,
    Foot,
    Ride,
    centre_of_mass,
    make_clip,
)
from gaitway.motion.clip import Clip

GRAVITY = 9.81
TURNS = {
    # behaviour: turn [deg], seconds
    "glide_left_25": (25.0, 1.2),
    "glide_left_50": (50.0, 1.6),
    "glide_right_25": (-25.0, 1.2),
    "glide_right_50": (-50.0, 1.6),
}
WAIT_FOOT = (-0.06, -0.33, float(np.radians(-38.0)))
"""Where the ball of the right foot stands in "wait", from the board's middle [m], and where it points [rad]."""
_DEG = np.pi / 180.0


@dataclass(frozen=True)
class SkaterStyle:
    """One skateboarder's manner."""

    name: str = "neutral"
    speed: float = 3.5
    """Metres a second on the flat."""
    crouch: float = 0.0
    """How much lower the hips ride [m]."""
    arms: float = 0.0
    """How much further the arms are spread [rad]."""
    open: float = 0.0
    """How much further hips and chest turn toward the ride [rad]."""

    @staticmethod
    def draw(seed: int) -> SkaterStyle:
        """A skateboarder at random; the same seed is the same one."""
        draw = np.clip(np.random.default_rng(seed).normal(size=4), -2.0, 2.0)
        return SkaterStyle(
            f"style-{seed}",
            float(3.5 + 0.12 * draw[0]),
            float(0.025 * draw[1]),
            float(0.16 * draw[2]),
            float(0.12 * draw[3]),
        )


@dataclass(frozen=True, eq=False)
class _Take:
    """What all clips of one take share."""

    style: SkaterStyle
    rng: np.random.Generator


def _times(duration: float) -> FloatArray:
    return np.arange(round(duration * FPS) + 1) / FPS


def _straight(times: FloatArray, speed: FloatArray | float) -> FloatArray:
    """Planar path (F, 3) straight ahead."""
    zero = np.zeros(len(times))
    return travelled(times, zero + speed, zero)


def _ride(path: FloatArray, take: _Take, life: float = 1.0) -> Ride:
    """Steady riding along a path, with small movements of balance that vanish at both ends."""
    count, style = len(path), take.style
    times = np.arange(count) / FPS
    noise = life * wobble(times, 12, take.rng, 0.8)

    def curve(value: float, size: float = 0.0, column: int = 0) -> FloatArray:
        out: FloatArray = value + size * noise[:, column]
        return out

    zero = np.zeros(count)
    return Ride(
        path=path,
        lean=zero,
        deck_roll=curve(0.0, 1.0 * _DEG, 0),
        deck_pitch=zero,
        deck_lift=zero,
        airborne=np.zeros(count, dtype=bool),
        hips_height=curve(0.94 - style.crouch, 0.012, 1),
        balance=np.column_stack([curve(-0.02, 0.012, 2), curve(0.0, 0.006, 3)]),
        hips_yaw=curve(-64.0 * _DEG + style.open, 2.0 * _DEG, 4),
        fold=curve(15.0 * _DEG + style.crouch, 1.5 * _DEG, 5),
        curl=curve(16.0 * _DEG + 2.0 * style.crouch, 1.5 * _DEG, 5),
        twist=curve(20.0 * _DEG + 0.5 * style.open, 3.0 * _DEG, 6),
        look=curve(-6.0 * _DEG, 5.0 * _DEG, 7),
        nod=curve(5.0 * _DEG, 2.5 * _DEG, 8),
        spread=np.column_stack(
            [curve(34.0 * _DEG + style.arms, 5.0 * _DEG, 9), curve(38.0 * _DEG + style.arms, 5.0 * _DEG, 10)]
        ),
        swing=np.column_stack([curve(12.0 * _DEG, 4.0 * _DEG, 10), curve(-6.0 * _DEG, 4.0 * _DEG, 11)]),
        elbow=np.column_stack([curve(34.0 * _DEG, 6.0 * _DEG, 11), curve(42.0 * _DEG, 6.0 * _DEG, 9)]),
        foot=_foot_on_board(count),
    )


def _foot_on_board(count: int) -> Foot:
    x, y, yaw = FEET["Right"]
    zero = np.zeros(count)
    ball = np.broadcast_to(np.array([x, y, DECK_HEIGHT]), (count, 3))
    return Foot(ball, zero + yaw, zero, zero, np.zeros(count, dtype=bool), zero + 1.0)


def _arms(ride: Ride, spread: FloatArray, swing: FloatArray, elbow: FloatArray) -> Ride:
    """Add to both arms' angles [rad]; (F, 2) or (F, 1) each."""
    return replace(ride, spread=ride.spread + spread, swing=ride.swing + swing, elbow=ride.elbow + elbow)


def _glide(name: str, take: _Take, turn: float = 0.0, duration: float = 1.2) -> Clip:
    """Roll on, and carve through `turn` [rad] with the whole body."""
    times = _times(duration)
    s = times / duration
    rate = plateau(s, 0.0, 0.42, 0.58, 1.0)
    heading = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]))])
    heading = heading * turn / heading[-1]
    ride = _ride(travelled(times, np.full(len(times), take.style.speed), heading), take)
    if not turn:
        return make_clip(ride, name, ("glide",))
    lean = np.arctan(take.style.speed * np.gradient(heading, times) / GRAVITY)
    lean[0] = lean[-1] = 0.0
    strength = np.abs(turn) / (50.0 * _DEG) * rate
    early = plateau(s, 0.0, 0.3, 0.4, 0.85)  # eyes and shoulders go first
    sign = np.sign(turn)
    heel = strength if turn > 0.0 else -strength  # to the left he leans on his heels, to the right on his toes
    ride = replace(
        ride,
        lean=lean,
        deck_roll=ride.deck_roll + 0.55 * lean,
        hips_height=ride.hips_height - 0.07 * strength,
        look=ride.look + 0.5 * turn * early,
        twist=ride.twist + sign * 9.0 * _DEG * strength,
        hips_yaw=ride.hips_yaw + sign * 8.0 * _DEG * strength,
        fold=ride.fold + 10.0 * _DEG * np.clip(heel, -0.3, 1.0),
        curl=ride.curl + 6.0 * _DEG * heel,
    )
    first, second = (16.0, 22.0) if turn > 0.0 else (20.0, 14.0)
    up = _DEG * np.column_stack([first * strength, second * strength])
    ahead = _DEG * np.column_stack([16.0 * heel, 10.0 * heel])
    ride = _arms(ride, up, ahead, -0.3 * up)
    return make_clip(ride, name, ("glide", "turn"))


def _duck(name: str, take: _Take) -> Clip:
    """Fold down under a bar and come up again."""
    times = _times(2.0)
    ride = _ride(_straight(times, take.style.speed), take, 0.5)
    low = plateau(times, 0.1, 0.75, 1.2, 1.85)
    fold = plateau(times, 0.05, 0.75, 1.2, 1.95)
    ride = replace(
        ride,
        hips_height=ride.hips_height - 0.39 * low,
        fold=ride.fold + 12.0 * _DEG * fold,
        curl=ride.curl + 34.0 * _DEG * fold,
        balance=ride.balance - low[:, None] * np.array([0.04, 0.0]),
        hips_yaw=ride.hips_yaw - 6.0 * _DEG * fold,
        twist=ride.twist + 8.0 * _DEG * fold,
        look=ride.look - 22.0 * _DEG * fold,
        nod=ride.nod + 24.0 * _DEG * low,
    )
    both = np.ones((1, 2))
    ride = _arms(
        ride,
        6.0 * _DEG * low[:, None] * both,
        _DEG * low[:, None] * np.array([[52.0, 30.0]]),
        22.0 * _DEG * low[:, None] * both,
    )
    return make_clip(ride, name, ("duck",))


LEAVE, LAND = 0.8, 1.3
"""When the jump leaves the ground and lands again [s]."""


def _jump(name: str, take: _Take) -> Clip:
    """An ollie: crouch, pop the tail, tuck the board up under the feet, land and sink."""
    times = _times(2.2)
    ride = _ride(_straight(times, take.style.speed), take, 0.5)
    rest = float(ride.hips_height[0])
    high, rise = rest + 0.05, 0.5 * GRAVITY * (LAND - LEAVE)
    airborne = (times > LEAVE - 1e-9) & (times < LAND + 1e-9)
    knots = ((0.0, rest, 0.0), (0.47, rest - 0.27, 0.0), (LEAVE, high, rise), (LAND, high - 0.02, -rise))
    after = ((LAND, high - 0.02, -rise), (1.57, rest - 0.25, 0.0), (2.15, rest, 0.0), (2.3, rest, 0.0))
    height = np.where(times < LAND, _through(times, knots), _through(times, after))
    pitch = 27.0 * _DEG * (smooth_step(times, 0.70, 0.90) - smooth_step(times, 0.88, 1.16))
    pop = HALF_BASE * np.sin(27.0 * _DEG * smooth_step(times, 0.70, 0.90))  # the back wheels stay down at first
    in_air = np.clip((times - LEAVE) / (LAND - LEAVE), 0.0, 1.0)
    lift = np.where(times <= LEAVE, pop, 0.0)
    start = HALF_BASE * float(np.sin(27.0 * _DEG * smooth_step(LEAVE, 0.70, 0.90)))
    lift = np.where(airborne, _board_flight(in_air, start), lift)
    crouch = plateau(times, 0.0, 0.42, 0.5, 0.82) + plateau(times, LAND - 0.12, 1.55, 1.6, 2.2)
    tuck = plateau(times, LEAVE - 0.02, 1.04, 1.1, LAND + 0.08)
    ride = replace(
        ride,
        hips_height=height,
        deck_pitch=pitch,
        deck_lift=lift,
        airborne=airborne,
        fold=ride.fold + _DEG * (20.0 * crouch + 16.0 * tuck),
        curl=ride.curl + _DEG * (14.0 * crouch + 10.0 * tuck),
        twist=ride.twist + 6.0 * _DEG * tuck,
        nod=ride.nod + _DEG * (8.0 * tuck + 4.0 * crouch),
    )
    throw = plateau(times, 0.5, 0.95, 1.05, 1.6)
    up = _DEG * (throw[:, None] * np.array([[42.0, 56.0]]) - 12.0 * crouch[:, None])
    ahead = _DEG * (plateau(times, 0.05, 0.45, 0.5, 0.9)[:, None] * np.array([[-22.0, -18.0]]) + 14.0 * throw[:, None])
    ride = _arms(ride, up, ahead, 10.0 * _DEG * throw[:, None])
    return make_clip(_with_free_fall(ride, times), name, ("jump",))


def _through(times: FloatArray, knots: Sequence[tuple[float, float, float]]) -> FloatArray:
    """A smooth curve through (time, value, slope) knots; constant beyond them."""
    out = np.full(len(times), knots[0][1])
    for (t0, value0, slope0), (t1, value1, slope1) in pairwise(knots):
        inside = (times >= t0) & (times <= t1)
        s = (times[inside] - t0) / (t1 - t0)
        ends = [np.array([v]) for v in (value0, slope0 * (t1 - t0), value1, slope1 * (t1 - t0))]
        out[inside] = hermite(s, *ends)[:, 0]
    return np.where(times > knots[-1][0], knots[-1][1], out)


def _board_flight(s: FloatArray, start: float) -> FloatArray:
    """Height of the axles over their ride [m] in the air, by progress 0..1: up to the tucked feet, down flat."""
    return start * (1.0 - smooth_step(s, 0.1, 0.9)) + 0.43 * bump(s, 1.6, 1.7)


def _with_free_fall(ride: Ride, times: FloatArray) -> Ride:
    """Move the hips up or down in the air until the rider's centre of mass falls freely from leaving to landing."""
    inside = np.flatnonzero(ride.airborne)
    first, last = inside[0], inside[-1]
    t = times[first : last + 1]
    for _ in range(6):
        mass = centre_of_mass(make_clip(ride, "flight"))[first : last + 1, 2]
        line = mass[0] + (mass[-1] - mass[0]) * (t - t[0]) / (t[-1] - t[0])
        height = ride.hips_height.copy()
        height[first : last + 1] += line + 0.5 * GRAVITY * (t - t[0]) * (t[-1] - t) - mass
        ride = replace(ride, hips_height=height)
    return ride


@dataclass(frozen=True)
class _Step:
    """The right foot on the ground between two times [s], its ball at (x, y) [m] in the clip, pointing to yaw [rad]."""

    start: float
    end: float
    x: float
    y: float
    yaw: float
    planted: bool = True


def _walk_foot(times: FloatArray, along: FloatArray, steps: Sequence[_Step], from_board: bool, to_board: bool) -> Foot:
    """The right foot from the deck (or the ground) through steps to the deck (or the ground), smooth in between.

    Args:
        times: [s]; (F,).
        along: how far the board has come [m]; (F,). The ride is straight.
        steps: where it stands on the ground.
        from_board: the clip begins with it on the deck.
        to_board: the clip ends with it on the deck.
    """
    x, y, yaw = FEET["Right"]
    state = np.tile(np.array([x, y, DECK_HEIGHT, yaw, 0.0, 0.0]), (len(times), 1))  # ball, yaw, pitch, toe
    planted: BoolArray = np.zeros(len(times), dtype=bool)
    grounded: BoolArray = np.zeros(len(times), dtype=bool)
    for step in steps:
        inside = (times >= step.start - 1e-9) & (times <= step.end + 1e-9)
        grounded |= inside
        planted |= inside & step.planted
        state[inside] = _on_ground(times[inside], along[inside], step, last=not to_board and step is steps[-1])
    free = ~grounded
    on_board = free.copy()
    gaps = _gaps(times, steps, from_board, to_board)
    for begin, end, kind in gaps:
        _swing(state, begin, end, kind)
        on_board[begin : end + 1] = False
    weight = on_board.astype(np.float64)
    return Foot(state[:, :3], state[:, 3], state[:, 4], state[:, 5], planted, weight)


def _on_ground(times: FloatArray, along: FloatArray, step: _Step, last: bool) -> FloatArray:
    """State of the foot in a step: it stays, the board moves on, the heel rises at the end."""
    s = (times - step.start) / (step.end - step.start)
    out = np.zeros((len(times), 6))
    out[:, 0], out[:, 1], out[:, 3] = step.x - along, step.y, step.yaw
    if step.planted and not last:
        out[:, 4] = 46.0 * _DEG * np.clip((s - 0.3) / 0.7, 0.0, 1.0) ** 2
        out[:, 5] = 1.0
    return out


def _frame(time: float) -> int:
    return round(time * FPS)


def _gaps(times: FloatArray, steps: Sequence[_Step], from_board: bool, to_board: bool) -> list[tuple[int, int, str]]:
    """First and last frame of each swing between the foot's places, and which kind it is."""
    out = []
    swing = 0.4  # seconds between deck and ground
    if from_board:
        out.append((max(_frame(steps[0].start - swing), 0), _frame(steps[0].start), "down"))
    out += [(_frame(a.end), _frame(b.start), "forward") for a, b in pairwise(steps)]
    if to_board:
        out.append((_frame(steps[-1].end), min(_frame(steps[-1].end + 0.55), len(times) - 1), "up"))
    return out


def _swing(state: FloatArray, begin: int, end: int, kind: str) -> None:
    """Fill frames between two places of the foot, in place, carrying on its speed over the ground at either end."""
    span = end - begin
    # only as much of the speed as does not throw the foot far past its place; the foot turns from rest to rest
    most = np.array([0.35, 0.1, 0.0, 0.0, 0.0, 0.0])
    leave, arrive = np.zeros(6), np.zeros(6)
    if kind != "down" and begin > 0:
        leave = np.clip((state[begin] - state[begin - 1]) * span, -most, most)
    if kind != "up" and end + 1 < len(state):
        arrive = np.clip((state[end + 1] - state[end]) * span, -most, most)
    s = np.linspace(0.0, 1.0, span + 1)
    path = hermite(s, state[begin].copy(), leave, state[end].copy(), arrive)
    path[:, 2] += {"down": 0.05, "forward": 0.10, "up": 0.07}[kind] * bump(s, 2.0, 2.5)
    path[:, 1] += {"down": -0.05, "forward": -0.02, "up": -0.10}[kind] * bump(s, 2.0, 2.0)
    path[:, 4] += {"down": -6.0, "forward": 10.0, "up": 4.0}[kind] * _DEG * bump(s, 2.0, 4.0)
    state[begin : end + 1] = path


def _push(name: str, take: _Take) -> Clip:
    """One push with the right foot while rolling."""
    times = _times(2.0)
    path = _straight(times, take.style.speed)
    ride = _ride(path, take, 0.5)
    start, end = 21 / FPS, 28 / FPS
    middle = float(np.interp(0.5 * (start + end), times, path[:, 0]))
    step = _Step(start, end, middle - 0.05, -0.24, -6.0 * _DEG)
    ride = replace(ride, foot=_walk_foot(times, path[:, 0], [step], True, True))
    return make_clip(_pushing(ride, times, 0.2, 0.7, 0.9, 1.75), name, ("push",))


def _pushing(
    ride: Ride, times: FloatArray, begin: float, full: float, fade: float, end: float, depth: float = 0.19
) -> Ride:
    """Body of a rider whose right foot is off the board: weight on the left leg, hips and chest turned ahead, low."""
    work = plateau(times, begin, full, fade, end)
    drive = plateau(times, full - 0.15, 0.5 * (full + fade), fade, fade + 0.35)
    return _arms(
        replace(
            ride,
            hips_height=ride.hips_height - depth * work - 0.02 * drive,
            balance=ride.balance + work[:, None] * np.array([0.12, -0.05]),
            hips_yaw=ride.hips_yaw + 24.0 * _DEG * work,
            twist=ride.twist + _DEG * (12.0 * work - 8.0 * drive),
            fold=ride.fold + 15.0 * _DEG * work + 8.0 * _DEG * drive,
            curl=ride.curl + 8.0 * _DEG * work,
            look=ride.look + 4.0 * _DEG * work,
        ),
        _DEG * work[:, None] * np.array([[-6.0, -4.0]]),
        _DEG * drive[:, None] * np.array([[-26.0, 34.0]]),
        _DEG * work[:, None] * np.array([[6.0, 10.0]]),
    )


def _waiting(ride: Ride, weight: FloatArray) -> Ride:
    """Move toward the pose of "wait" by `weight` (F,): right foot on the ground, most of the mass over it."""
    return _arms(
        replace(
            ride,
            hips_height=ride.hips_height - 0.07 * weight,
            balance=ride.balance + weight[:, None] * np.array([-0.01, -0.15]),
            hips_yaw=ride.hips_yaw + 30.0 * _DEG * weight,
            twist=ride.twist - 14.0 * _DEG * weight,
            fold=ride.fold - 8.0 * _DEG * weight,
            curl=ride.curl - 6.0 * _DEG * weight,
        ),
        _DEG * weight[:, None] * np.array([[-20.0, -24.0]]),
        _DEG * weight[:, None] * np.array([[-10.0, 10.0]]),
        _DEG * weight[:, None] * np.array([[-8.0, -14.0]]),
    )


def _stop(name: str, take: _Take) -> Clip:
    """Put the right foot down, drag it until the board stands, and rest on it."""
    times = _times(2.4)
    speed = take.style.speed * (1.0 - smooth_step(times, 0.45, 1.9))
    path = _straight(times, speed)
    ride = _ride(path, take, 0.4)
    x, y, yaw = WAIT_FOOT
    count = len(times)
    foot = _walk_foot(times, np.zeros(count), [_Step(18 / FPS, 2.4, x, y, yaw)], True, False)
    foot = replace(foot, planted=times >= 1.9 - 1e-9)
    ride = replace(_waiting(ride, smooth_step(times, 0.15, 1.9)), foot=foot)
    braking = plateau(times, 0.1, 0.6, 1.1, 2.0)
    ride = replace(
        ride,
        hips_height=ride.hips_height - 0.09 * braking,
        balance=ride.balance + braking[:, None] * np.array([-0.07, 0.06]),
        fold=ride.fold + 6.0 * _DEG * braking,
    )
    ride = _arms(ride, _DEG * braking[:, None] * np.array([[14.0, 18.0]]), 0.0 * ride.swing, 0.0 * ride.elbow)
    return make_clip(ride, name, ("stop",))


def _wait(name: str, take: _Take) -> Clip:
    """Stand with one foot on the board: look about, shift the weight, roll the board a little under the foot."""
    times = _times(3.0)
    count = len(times)
    ride = _waiting(_ride(np.zeros((count, 3)), take), np.ones(count))
    noise = wobble(times, 5, take.rng, 0.4)
    breath = 0.004 * plateau(times, 0.0, 0.5, 2.5, 3.0) * np.sin(2.0 * np.pi * 0.3 * times)
    ride = replace(
        ride,
        look=ride.look + 22.0 * _DEG * noise[:, 0],
        twist=ride.twist + 5.0 * _DEG * noise[:, 0] + 3.0 * _DEG * noise[:, 1],
        balance=ride.balance + np.column_stack([0.02 * noise[:, 2], 0.03 * noise[:, 3]]),
        hips_height=ride.hips_height + breath - 0.012 * np.abs(noise[:, 3]) * np.abs(noise[:, 3]),
        foot=_walk_foot(times, np.zeros(count), [_Step(0.0, 3.0, *WAIT_FOOT)], False, False),
    )
    return make_clip(ride, name, ("wait",))


def _start(name: str, take: _Take) -> Clip:
    """Push off twice from standing and step on to the board."""
    times = _times(2.8)
    speed = take.style.speed * (0.5 * smooth_step(times, 0.2, 0.95) + 0.5 * smooth_step(times, 1.25, 1.75))
    path = _straight(times, speed)
    ride = _ride(path, take, 0.4)
    x, y, yaw = WAIT_FOOT
    first = _Step(0.0, 24 / FPS, x, y, yaw)
    start, end = 41 / FPS, 50 / FPS
    middle = float(np.interp(0.5 * (start + end), times, path[:, 0]))
    second = _Step(start, end, middle - 0.05, -0.24, -6.0 * _DEG)
    ride = replace(
        _waiting(ride, 1.0 - smooth_step(times, 0.05, 0.8)),
        foot=_walk_foot(times, path[:, 0], [first, second], False, True),
    )
    ride = _pushing(ride, times, 0.1, 0.6, 0.75, 1.35, depth=0.13)
    return make_clip(_pushing(ride, times, 0.8, 1.35, 1.66, 2.6), name, ("start",))


SKATEBOARDER_BEHAVIORS: tuple[tuple[str, str, str, str | None, float | None], ...] = (
    # behaviour, state it starts in, state it ends in, obstacle it passes, when [s]
    ("glide_forward", "ride", "ride", None, None),
    *((name, "ride", "ride", None, None) for name in TURNS),
    ("push", "ride", "ride", None, None),
    ("jump", "ride", "ride", "jump", 0.5 * (LEAVE + LAND)),
    ("duck", "ride", "ride", "duck", 1.0),
    ("stop", "ride", "wait", None, None),
    ("wait", "wait", "wait", None, None),
    ("start", "wait", "ride", None, None),
)
_MAKERS: dict[str, Callable[[str, _Take], Clip]] = {
    "glide_forward": _glide,
    "push": _push,
    "jump": _jump,
    "duck": _duck,
    "stop": _stop,
    "wait": _wait,
    "start": _start,
}


def skateboarder_clips(
    style: SkaterStyle | None = None, seed: int = 0, takes: int = 1, behaviors: Sequence[str] | None = None
) -> list[CastClip]:
    """The clips of a skateboarder.

    Args:
        style: whose; the default is the mean rider.
        seed: of the small movements of balance, which differ from take to take.
        takes: clips for each behaviour.
        behaviors: only these; None for all.
    """
    out = []
    for index, (behavior, start, end, obstacle, pass_time) in enumerate(SKATEBOARDER_BEHAVIORS):
        if behaviors is not None and behavior not in behaviors:
            continue
        for number in range(takes):
            take = _Take(style or SkaterStyle(), np.random.default_rng([seed, number, index]))
            name = behavior if number == 0 else f"{behavior}.{number}"
            if behavior in TURNS:
                turn, duration = TURNS[behavior]
                clip = _glide(name, take, turn * _DEG, duration)
            else:
                clip = _MAKERS[behavior](name, take)
            out.append(CastClip(clip, behavior, start, end, obstacle, pass_time))
    return out
