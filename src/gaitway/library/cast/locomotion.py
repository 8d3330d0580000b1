"""Locomotion on demand: speed and turn curves in, planted clips out that begin and end exactly in a hub pose.

A hub is the one pose (and velocity) of a state: "stand", or "walk", "jog", "back" at a fixed phase of the left foot's
cycle, its mid-stance. Clips that share a state join by a plain cut: the last frame of one is the first of the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from gaitway import planar, rotations
from gaitway.arrays import FloatArray
from gaitway.errors import LibraryError
from gaitway.library.cast.gait import GAITS, GaitModel, moving_joints
from gaitway.library.cast.person import person_skeleton
from gaitway.library.cast.planting import SIDES, Motion, Pin, Planted, Stance, plant, smooth_step
from gaitway.library.cast.styles import Style
from gaitway.motion.clip import Clip

FPS = 30.0
STATES = ("stand", *GAITS)
SPEEDS = {"stand": 0.0, "walk": 1.35, "jog": 2.8, "back": -0.8}
"""Nominal speed of each state along the heading [m/s]."""
SLOWEST = 0.75
"""Below this speed [m/s] a gait fades into standing."""
NEUTRAL = Style()

Edit = Callable[[FloatArray, FloatArray, FloatArray], FloatArray | None]
"""`edit(rotations, time, phase)`: changes local rotations (F, J, 4) in place, may return a lift of the pelvis (F,) [m].
`time` is in seconds from the clip's first frame and negative before it; everything must fade out at both ends."""


@dataclass(frozen=True, eq=False)
class Controls:
    """What a body is asked to do, frame by frame; all arrays (F,)."""

    speed: FloatArray
    """Along the heading [m/s], negative backward."""
    turn: FloatArray
    """[rad/s], positive to the left; the rate from this frame to the next."""
    phase: FloatArray
    """Of the left foot's cycle [cycles]; never falls."""
    jog: FloatArray | None = None
    """Share of jog against walk, 0 to 1; None takes it from the speed."""


@dataclass(frozen=True, eq=False)
class Hub:
    """The pose of a state, in the frame of the centre line: x forward, heading 0."""

    state: str
    phase: float
    """[cycles]; 0 for "stand"."""
    speed: float
    """[m/s]."""
    rate: float
    """Cycles a second [Hz]; 0 for "stand"."""
    frames: int
    """Frames of one steady cycle at `FPS`; 0 for "stand"."""
    root: FloatArray
    """(3,) [m]: sway x, y and height."""
    rotations: FloatArray
    """Local, wxyz; (J, 4)."""
    velocity: FloatArray
    """Of the root [m/s]; (3,)."""
    footprints: tuple[tuple[float, float, float] | None, ...]
    """Left and right: where the sole stands (x, y, heading), None in the air."""
    pin: Pin
    """For the planter."""


def gait_weights(speed: FloatArray, jog: FloatArray | None = None) -> dict[str, FloatArray]:
    """Share of each gait in every frame (F,), by signed speed; they add up to 1, and standing is not among them."""
    backward = (speed < 0.0).astype(np.float64)
    running = smooth_step(speed, 1.9, 2.2) if jog is None else np.broadcast_to(jog, speed.shape)
    forward = 1.0 - backward
    return {"walk": forward * (1.0 - running), "jog": forward * running, "back": backward}


def cycle_rate(model: GaitModel, controls_speed: FloatArray, style: Style, jog: FloatArray | None = None) -> FloatArray:
    """Natural cycles a second [Hz] (F,) at signed speeds [m/s]; fades to 0 at rest."""
    own = style.vector(model)
    rate = np.zeros(len(controls_speed))
    for gait, weight in gait_weights(controls_speed, jog).items():
        rate += weight * model.timings(gait, np.abs(controls_speed), 0.0, own)[:, 0]
    size = np.abs(controls_speed)
    out: FloatArray = rate * (0.75 + 0.25 * smooth_step(size, 0.0, SLOWEST)) * smooth_step(size, 0.0, 0.12)
    return out


def stand_channels(model: GaitModel) -> FloatArray:
    """Channels (C,) of quiet standing: legs under the pelvis, arms hanging, the mean walk's trunk."""
    skeleton, moving = person_skeleton(), moving_joints()
    out = model.gaits["walk"].mean[0, 0].copy()
    pose = rotations.multiply(model.base, rotations.from_rotation_vector(out[3:].reshape(-1, 3)))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        back = 0.03 * sign
        angles = {
            "UpLeg": (0.02 * sign, -0.06 + back, (0.12 + back) * sign),
            "Leg": (0.0, 0.10 + back, 0.0),
            "Foot": (-0.02 * sign, -0.04 - 2.0 * back, 0.0),
            "ToeBase": (0.0, 0.0, 0.0),
        }
        for part, angle in angles.items():
            pose[moving.index(skeleton.index(side + part))] = rotations.from_rotation_vector(angle)
    pose[0] = rotations.from_rotation_vector((0.0, 0.02, 0.0))
    out[3:] = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(model.base), pose)).ravel()
    out[:3] = 0.0, 0.0, 0.996
    return out


def locomote(
    controls: Controls,
    style: Style = NEUTRAL,
    *,
    wobble: FloatArray | None = None,
    edit: Edit | None = None,
    fps: float = FPS,
    start_frame: int = 0,
) -> Motion:
    """The body at given speeds, turn rates and phases, not planted yet.

    Args:
        controls: per frame.
        style: whose body.
        wobble: weights of the wobble directions; (F, W).
        edit: keys poses on top.
        fps: [Hz].
        start_frame: the frame that is time 0 and the origin of the path.

    Returns:
        Poses, path and stance schedule.
    """
    model = GaitModel.load()
    speed, turn, phase = controls.speed, controls.turn, controls.phase
    frames = len(speed)
    own = style.vector(model)
    stand = stand_channels(model)
    channels, timing = np.zeros((frames, len(stand))), np.zeros((frames, 2, 3))
    for gait, weight in gait_weights(speed, controls.jog).items():
        if weight.any():
            channels += weight[:, None] * model.channels(gait, phase, np.abs(speed), turn, own, wobble)
            for k, sign in enumerate((1.0, -1.0)):
                timing[:, k] += weight[:, None] * model.timings(gait, np.abs(speed), sign * turn, own)
    moving = smooth_step(np.abs(speed), 0.0, SLOWEST)[:, None]
    channels = stand + moving * (channels - stand)
    path = integrate_path(speed, turn, fps, start_frame)
    local = rotations.identity(frames, len(person_skeleton()))
    turns = rotations.from_rotation_vector(channels[:, 3:].reshape(frames, -1, 3))
    local[:, moving_joints()] = rotations.multiply(model.base, turns)
    time = (np.arange(frames) - start_frame) / fps
    lift = edit(local, time, phase) if edit is not None else None
    local[:, 0] = rotations.multiply(rotations.from_yaw(path[:, 2]), local[:, 0])
    root = np.column_stack([planar.transform_points(path, channels[:, :2]), channels[:, 2]])
    return Motion(
        root, local, stance_schedule(phase, timing), fps, np.zeros(frames) if lift is None else lift, path, phase
    )


def integrate_path(speed: FloatArray, turn: FloatArray, fps: float, origin: int = 0) -> FloatArray:
    """Planar poses (F, 3) of a point that moves along its heading; frame `origin` is at (0, 0, 0)."""
    heading = np.concatenate([[0.0], np.cumsum(turn[:-1])]) / fps
    between = 0.5 * (heading[:-1] + heading[1:])
    stride = 0.5 * (speed[:-1] + speed[1:]) / fps
    points = np.concatenate(
        [np.zeros((1, 2)), np.cumsum(stride[:, None] * np.stack([np.cos(between), np.sin(between)], 1), 0)]
    )
    path = np.column_stack([points, heading])
    moved = planar.relative(path[origin], path)
    moved[:, 2] = heading - heading[origin]
    return moved


def stance_schedule(phase: FloatArray, timing: FloatArray) -> tuple[Stance, ...]:
    """Stances of both feet from the cycle's phase (F,) and each foot's own stance start and end (F, 2, 3)."""
    stances = []
    for k, side in enumerate(SIDES):
        start, end = timing[:, k, 1], timing[:, k, 2]
        on = (phase - 0.5 * k - start) % 1.0 < end - start
        edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8))).reshape(-1, 2)
        stances += [Stance(side, int(a), int(b)) for a, b in edges]
    return tuple(stances)


@cache
def hub(state: str, style: Style = NEUTRAL) -> Hub:
    """The exact pose and velocity of a state ("stand", "walk", "jog" or "back") for a person."""
    if state not in STATES:
        raise LibraryError(f"no state '{state}'; there are {', '.join(STATES)}")
    if state == "stand":
        still = np.zeros(9)
        motion = locomote(Controls(still, still, np.full(9, _START_PHASE)), style, start_frame=4)
        motion = replace(motion, stances=(Stance("left", 0, 9), Stance("right", 0, 9)))
        return _hub_of(state, plant(motion), motion, 4, 0.0, 0)
    model = GaitModel.load()
    speed = SPEEDS[state]
    natural, start, end = model.timings(state, abs(speed), 0.0, style.vector(model))
    frames = round(FPS / float(natural))
    phase = _mid_stance(model, state, style, float(start), float(end))
    count = 5 * frames + 1
    middle = 2 * frames
    cycle = phase + (np.arange(count) - middle) / frames
    motion = locomote(Controls(np.full(count, speed), np.zeros(count), cycle), style, start_frame=middle)
    return _hub_of(state, plant(motion), motion, middle, phase, frames)


_START_PHASE = 0.10
"""Phase at rest: both feet on the ground, the right one about to leave it."""


def _mid_stance(model: GaitModel, gait: str, style: Style, start: float, end: float) -> float:
    """The phase in the left foot's stance at which the pelvis faces straight ahead, or the middle of the stance."""
    middle = 0.5 * (start + end)
    grid = middle + np.linspace(-0.12, 0.12, 49)
    speed = np.full(len(grid), abs(SPEEDS[gait]))
    yaw = model.channels(gait, grid, speed, 0.0 * grid, style.vector(model))[:, 5]
    crossings = np.flatnonzero(yaw[:-1] * yaw[1:] <= 0.0)
    if not len(crossings):
        return middle
    i = int(crossings[np.argmin(np.abs(grid[crossings] - middle))])
    return float(grid[i] - yaw[i] * (grid[i + 1] - grid[i]) / (yaw[i + 1] - yaw[i]))


def _hub_of(state: str, planted: Planted, motion: Motion, frame: int, phase: float, frames: int) -> Hub:
    clip = planted.clip
    prints: list[tuple[float, float, float] | None] = [None, None]
    for stance in motion.stances:
        if stance.start <= frame < stance.end:
            k = SIDES.index(stance.side)
            middle = (stance.start + stance.end) // 2
            flat = planted.feet[stance.start : stance.end, k]
            x, y, _, yaw, *_ = flat[np.argmin(np.abs(flat[:, 4]))] if flat.size else planted.feet[middle, k]
            prints[k] = (float(x), float(y), float(yaw))
    velocity = (clip.root_positions[frame + 1] - clip.root_positions[frame - 1]) * 0.5 * clip.fps
    return Hub(
        state,
        phase,
        SPEEDS[state],
        FPS / frames if frames else 0.0,
        frames,
        clip.root_positions[frame],
        clip.rotations[frame],
        velocity,
        (prints[0], prints[1]),
        Pin(frame, planted.feet[frame], float(planted.pelvis[frame])),
    )


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
    speed: Callable[[FloatArray], FloatArray] | None = None,
    tempo: Callable[[FloatArray], FloatArray] | None = None,
    edit: Edit | None = None,
    wobble: float = 1.0,
) -> Clip:
    """A clip from one hub to another, `cycles` of the left foot apart.

    Args:
        name: of the clip.
        start: state it begins in.
        end: state it ends in.
        style: whose body.
        seed: draws the wobble; None has none.
        cycles: whole cycles between the two hubs' phases.
        seconds: how long; None lets the speed decide. Rounded to whole frames.
        turn: total change of heading [rad].
        speed: signed speed [m/s] at shares 0 to 1 of the clip; must meet the two hubs' speeds at the ends.
        tempo: factor on the cycle rate as a function of phase, as to hold a pose in flight.
        edit: keys poses on top.
        wobble: strength of what `seed` draws.

    Returns:
        The clip, its path beginning at the origin with heading 0.
    """
    first, last = hub(start, style), hub(end, style)
    model = GaitModel.load()
    begin = first.phase if start != "stand" else _START_PHASE
    finish = cycles + (last.phase if end != "stand" else _START_PHASE)
    curve = (
        speed if speed is not None else lambda s: first.speed + (last.speed - first.speed) * smooth_step(s, 0.1, 0.9)
    )
    share = np.linspace(0.0, 1.0, 241)
    fine = cycle_rate(model, np.asarray(curve(share), dtype=np.float64), style)
    count = round(FPS * (seconds if seconds is not None else (finish - begin) / max(float(fine.mean()), 0.2)))
    phase = _phase_curve(count, share, fine, begin, finish, (first.rate, last.rate), tempo)
    lead_in, lead_out = max(first.frames, 15), max(last.frames, 15)
    total = lead_in + count + lead_out + 1
    inside = np.clip((np.arange(total) - lead_in) / count, 0.0, 1.0)
    before = begin + first.rate * np.arange(-lead_in, 0) / FPS
    after = finish + last.rate * np.arange(1, lead_out + 1) / FPS
    controls = Controls(
        np.asarray(curve(inside), dtype=np.float64),
        _turn_rate(inside, turn, count),
        np.concatenate([before, phase, after]),
    )
    noise = _wobble(controls.phase, inside, count, seed, wobble, model.wobble_count)
    motion = locomote(controls, style, wobble=noise, edit=edit, start_frame=lead_in)
    ends = ((lead_in, first), (lead_in + count, last))
    motion = replace(motion, stances=_hub_footprints(motion, ends))
    planted = plant(motion, [_placed_pin(frame, motion.path[frame], at) for frame, at in ends], name)
    return _cropped(planted.clip, motion, ends, name)


def _phase_curve(
    count: int,
    share: FloatArray,
    rate: FloatArray,
    begin: float,
    finish: float,
    rates: tuple[float, float],
    tempo: Callable[[FloatArray], FloatArray] | None,
) -> FloatArray:
    """Phases of frames 0..count, from `begin` to `finish`, leaving and arriving at the two hubs' rates."""
    natural = rate.copy()
    edge = smooth_step(share, 0.0, 0.15) * (1.0 - smooth_step(share, 0.85, 1.0))
    natural += (1.0 - edge) * np.where(share < 0.5, rates[0] - rate[0], rates[1] - rate[-1])
    step = count / FPS / (len(share) - 1)
    if tempo is not None:
        phase = begin
        for i in range(len(natural)):
            natural[i] *= float(tempo(np.array([phase]))[0])
            phase += natural[i] * step
    window = np.sin(np.pi * share) ** 2 * np.maximum(natural, 0.05)
    between = lambda f: np.concatenate([[0.0], np.cumsum(0.5 * (f[1:] + f[:-1]))]) * step  # noqa: E731
    total, extra = between(natural), between(window)
    curve = begin + total + extra * (finish - begin - total[-1]) / extra[-1]
    out: FloatArray = np.interp(np.arange(count + 1) / count, share, curve)
    return out


def _turn_rate(inside: FloatArray, turn: float, count: int) -> FloatArray:
    """Turn rate of every frame [rad/s] whose sum is exactly the turn, zero at the clip's ends."""
    middle = inside + 0.5 / count
    rate = smooth_step(middle, 0.0, 0.4) * (1.0 - smooth_step(middle, 0.6, 1.0))
    rate[(inside >= 1.0)] = 0.0
    rate[: len(inside) - 1][np.diff(inside) == 0.0] = 0.0
    return rate * (turn * FPS / rate.sum())


def _wobble(
    phase: FloatArray, inside: FloatArray, count: int, seed: int | None, strength: float, size: int
) -> FloatArray | None:
    """Weights of the wobble directions (F, W): one draw a cycle, related to the last, nothing at the clip's ends."""
    if seed is None or strength == 0.0:
        return None
    knots = np.random.default_rng(seed).normal(size=(int(phase[-1] - phase[0]) + 4, size))
    for i in range(1, len(knots)):
        knots[i] = 0.6 * knots[i - 1] + 0.8 * knots[i]
    place = phase - phase[0]
    noise = np.stack([np.interp(place, np.arange(len(knots)), k) for k in knots.T], axis=1)
    fade = min(0.35, 0.25 * FPS / count)
    window = smooth_step(inside, 0.0, fade) * (1.0 - smooth_step(inside, 1.0 - fade, 1.0))
    out: FloatArray = strength * noise * window[:, None]
    return out


def _hub_footprints(motion: Motion, ends: tuple[tuple[int, Hub], ...]) -> tuple[Stance, ...]:
    """The stances, those that a hub frame falls into standing where the hub has them."""
    stances = []
    for stance in motion.stances:
        placed = stance
        for frame, at in ends:
            where = at.footprints[SIDES.index(stance.side)]
            if stance.start <= frame < stance.end and where is not None:
                x, y, heading = planar.compose(motion.path[frame], np.array(where))
                placed = replace(stance, footprint=(float(x), float(y), float(heading)))
        stances.append(placed)
    return tuple(stances)


def _placed_pin(frame: int, path: FloatArray, at: Hub) -> Pin:
    feet = at.pin.feet.copy()
    feet[:, :2] = planar.transform_points(path, feet[:, :2])
    feet[:, 3] += path[2]
    return Pin(frame, feet, at.pin.pelvis)


def _cropped(clip: Clip, motion: Motion, ends: tuple[tuple[int, Hub], ...], name: str) -> Clip:
    """The frames from the first hub to the last, these two set to the hub poses to the last bit."""
    (a, _), (b, _) = ends
    root, local = clip.root_positions[a : b + 1].copy(), clip.rotations[a : b + 1].copy()
    for i, (frame, at) in ((0, ends[0]), (-1, ends[1])):
        path = motion.path[frame]
        root[i, :2], root[i, 2] = planar.transform_points(path, at.root[:2]), at.root[2]
        local[i] = at.rotations
        local[i, 0] = rotations.multiply(rotations.from_yaw(path[2]), at.rotations[0])
    contacts = None if clip.contacts is None else clip.contacts[a : b + 1]
    return Clip(clip.skeleton, root, rotations.continuous(local), clip.fps, name, contacts)
