"""From speed, turn rate and phase to a whole body that moves so, its feet not planted yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from gaitway.cast.curves import smooth_step
from gaitway.cast.person.gait.model import GAITS, GaitModel, moving_joints
from gaitway.cast.person.gait.planting import SIDES, FootStance, Motion
from gaitway.cast.person.gait.standing import standing_pose
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.styles import Style
from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray, owned
from gaitway.motion.anatomy import upper_joints

FPS = 30.0
"""Rate of the built-in clips [Hz]."""
SPEEDS = {"stand": 0.0, "walk": 1.35, "jog": 2.8, "back": -0.8}
"""Nominal speed of each state along the heading [m/s]."""
SLOWEST = 0.75
"""Below this speed [m/s] a gait fades into standing."""
NEUTRAL = Style()
MANNER = 0.6
"""Share of what the whole of a take with free ends has in common, against what changes within it."""
WALK_WIDTH = 0.036
"""How much wider a walk is set than in the mean of captured people [m]; that mean crosses over where few people do."""
LIVELINESS: dict[str, dict[str, tuple[float, float, float]]] = {
    "walk": {
        "sway": (1.0, 1.35, 1.0),
        "Spine": (1.0, 2.6, 1.0),
        "Spine1": (1.0, 2.6, 1.0),
        "Spine2": (1.0, 2.6, 1.0),
        "Neck": (1.0, 1.8, 1.0),
        "Head": (1.0, 1.8, 1.0),
        **{f"Left{part}": (0.92, 0.92, 0.92) for part in ("Shoulder", "Arm", "ForeArm")},
        **{f"Right{part}": (1.06, 1.06, 1.06) for part in ("Shoulder", "Arm", "ForeArm")},
    },
    "jog": {"Hips": (1.0, 1.0, 4.4)},
}
"""Factors of `liveliness` by gait and joint, about x (roll), y (pitch) and z (turn); "sway" is along, aside and up."""
JOG_LIVELY = (2.4, 2.8)
"""Speeds between which the factors of a jog grow from 1 to what they are [m/s]."""

Edit = Callable[[FloatArray, FloatArray, FloatArray], FloatArray | None]
"""`edit(rotations, time, phase)`: changes local rotations (F, J, 4) in place, may return a lift of the pelvis (F,) [m].
`time` is in seconds from the clip's first frame and negative before it; everything must fade out at both ends."""


@dataclass(frozen=True, eq=False)
class Controls:
    """What a body is asked to do, frame by frame; all arrays (F,)."""

    speed: FloatArray
    """Along the heading [m/s], negative backward."""
    turn: FloatArray
    """Turn rate from this frame to the next, positive to the left [rad/s]; (F,)."""
    phase: FloatArray
    """Phase of the left foot's cycle [cycles]; it never falls."""
    jog: FloatArray | None = None
    """Share of jog against walk, 0 to 1; None takes it from the speed."""
    moving: FloatArray | None = None
    """Share of the gait against standing, 0 to 1; None takes it from the speed."""
    gaze: FloatArray | None = None
    """Turn of the gaze away from the heading [rad]; None looks ahead."""
    sway: FloatArray | None = None
    """What the pelvis moves forward and left beside the gait's own sway [m]; (F, 2)."""


def gait_weights(speed: FloatArray, jog: FloatArray | None = None) -> dict[str, FloatArray]:
    """Return the share of each gait in every frame (F,), by signed speed; shares add up to 1 without standing."""
    backward = (speed < 0.0).astype(np.float64)
    running = smooth_step(speed, 1.8, 2.3) if jog is None else np.broadcast_to(jog, speed.shape)
    forward = 1.0 - backward
    return {"walk": forward * (1.0 - running), "jog": forward * running, "back": backward}


def cycle_rate(model: GaitModel, speed: FloatArray, style: Style, jog: FloatArray | None = None) -> FloatArray:
    """Return the natural cycles a second [Hz] (F,) at signed speeds [m/s]; fades to 0 at rest."""
    own, size = style.vector(model), np.abs(speed)
    rate = np.zeros(len(speed))
    for gait, weight in gait_weights(speed, jog).items():
        rate += weight * model.timings(gait, size, 0.0, own)[:, 0]
    return np.asarray(rate * (0.75 + 0.25 * smooth_step(size, 0.0, SLOWEST)) * smooth_step(size, 0.0, 0.12))


def hub_phase(gait: str, style: Style = NEUTRAL) -> float:
    """Return the middle of the left foot's stance [cycles] at the gait's nominal speed."""
    model = GaitModel.load()
    _, start, end = model.timings(gait, abs(SPEEDS[gait]), 0.0, style.vector(model))
    return float(0.5 * (start + end))


def locomote(
    controls: Controls,
    style: Style = NEUTRAL,
    *,
    wobble: FloatArray | None = None,
    upper_wobble: FloatArray | None = None,
    edit: Edit | None = None,
    fps: float = FPS,
    start_frame: int = 0,
) -> Motion:
    """Return the body at given speeds, turn rates and phases, not planted yet.

    Args:
        controls: Per frame.
        style: Style of the character.
        wobble: Weights of the wobble directions; (F, W).
        upper_wobble: Weights for trunk, arms and head, where they differ from those of pelvis and legs; (F, W).
        edit: Keys poses on top.
        fps: Frame rate [Hz].
        start_frame: The frame that is time 0 and the origin of the path.

    Returns:
        Poses, path and stance schedule.
    """
    speed, phase, frames = controls.speed, controls.phase, len(controls.speed)
    channels, timing, facing = _blend(controls, style, wobble, upper_wobble)
    path = integrate_path(speed, controls.turn, fps, start_frame)
    local = rotations.identity(frames, len(person_skeleton()))
    turns = rotations.from_rotation_vector(channels[:, 3:].reshape(frames, -1, 3))
    local[:, moving_joints()] = rotations.multiply(GaitModel.load().base, turns)
    if controls.gaze is not None:
        turn_gaze(local, controls.gaze)
    time = (np.arange(frames) - start_frame) / fps
    lift = edit(local, time, phase) if edit is not None else None
    local[:, 0] = rotations.multiply(rotations.from_yaw(path[:, 2] - facing), local[:, 0])
    sway = channels[:, :2] if controls.sway is None else channels[:, :2] + controls.sway
    root = np.column_stack([planar.transform_points(path, sway), channels[:, 2]])
    lift = np.zeros(frames) if lift is None else lift
    return Motion(root, local, stance_schedule(phase, timing), fps, lift, path, phase)


def _blend(
    controls: Controls, style: Style, wobble: FloatArray | None, upper_wobble: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return channels (F, C), both feet's timings (F, 2, 3) and the pelvis yaw to take away (F,) of the mixed gaits."""
    model = GaitModel.load()
    own, stand = style.vector(model), standing_pose(style).vector
    size, frames = np.abs(controls.speed), len(controls.speed)
    channels, timing, facing = np.zeros((frames, len(stand))), np.zeros((frames, 2, 3)), np.zeros(frames)
    weights = gait_weights(controls.speed, controls.jog)
    for gait, weight in weights.items():
        if weight.any():
            lively = _lively(gait, style, size)
            gain = style.gain() * lively
            moved = model.channels(gait, controls.phase, size, controls.turn, own, wobble, gain)
            if upper_wobble is not None:
                freely = model.channels(gait, controls.phase, size, controls.turn, own, upper_wobble, gain)
                moved[:, _upper_channels()] = freely[:, _upper_channels()]
            squaring = _squaring(gait, style, controls.phase)
            _square_chest(moved, lively[..., 5], squaring)
            channels += weight[:, None] * moved
            facing += weight * squaring
            for k, sign in enumerate((1.0, -1.0)):
                timing[:, k] += weight[:, None] * model.timings(gait, size, sign * controls.turn, own)
    channels += style.posture() + weights["walk"][:, None] * spread_legs(WALK_WIDTH)
    share = smooth_step(size, 0.0, SLOWEST) if controls.moving is None else controls.moving
    return stand + share[:, None] * (channels - stand), timing, share * facing


@cache
def _upper_channels() -> BoolArray:
    """Return which channels of the gait model move trunk, arms and head; (C,)."""
    joints = upper_joints(person_skeleton())[moving_joints()]
    return owned(np.concatenate([np.zeros(3, bool), np.repeat(joints, 3)]), "channels", (None,), np.bool_)


def _squaring(gait: str, style: Style, phase: FloatArray) -> FloatArray:
    """Return the yaw [rad] (F,) that the pelvis has at the hub, near the hub's phase and, mirrored, half a cycle later.

    Without it the pelvis faces straight ahead in a hub, so that a clip's planar move is that of its centre line.
    """
    model, at = GaitModel.load(), hub_phase(gait, style)
    speed = np.array([abs(SPEEDS[gait])])
    own = style.vector(model)
    gain = style.gain() * liveliness(gait, style)
    pelvis = model.channels(gait, np.array([at]), speed, np.zeros(1), own, gain=gain)[0, 3:6]
    ahead = rotations.rotate(
        rotations.multiply(model.base[0], rotations.from_rotation_vector(pelvis)), np.array([1.0, 0.0, 0.0])
    )
    away = (phase - at + 0.25) % 1.0 - 0.25
    near = np.where(away < 0.25, np.cos(np.pi * away / 0.5) ** 2, -(np.cos(np.pi * (away - 0.5) / 0.5) ** 2))
    return np.asarray(np.arctan2(ahead[1], ahead[0]) * near)


@cache
def liveliness(gait: str, style: Style = NEUTRAL) -> FloatArray:
    """Return the factor on what each channel of a gait does about its mean; (C,).

    The mean of many people moves less than any of them, since their phases and habits differ. These factors give back
    what the mean lost: sway, pitching, nodding and turning as far as those of one captured person, and unequal arms.
    In a jog, styles turn the pelvis more than the mean already.
    """
    names = [person_skeleton().names[j] for j in moving_joints()]
    out = np.ones(3 + 3 * len(names))
    for name, factors in LIVELINESS.get(gait, {}).items():
        first = 0 if name == "sway" else 3 + 3 * names.index(name)
        out[first : first + 3] = np.sqrt(factors) if gait == "jog" and style != NEUTRAL else factors
    return owned(out, "liveliness", (len(out),))


def _lively(gait: str, style: Style, speed: FloatArray) -> FloatArray:
    """Return the factors of `liveliness` at speeds [m/s] (F,); (C,) or (F, C).

    In a slow jog the fitted pelvis turns as far as captured ones do, and the other way about: nothing was lost there.
    """
    factors = liveliness(gait, style)
    if gait != "jog":
        return factors
    lost = smooth_step(speed, *JOG_LIVELY)
    return np.asarray(1.0 + lost[:, None] * (factors - 1.0))


def _square_chest(channels: FloatArray, lively: FloatArray, squaring: FloatArray) -> None:
    """Turn the spine against what the pelvis turns beyond the fitted gait (in place); the chest stays as it was.

    Args:
        channels: Channels of the gait; (F, C).
        lively: Factor on the turn of the pelvis; () or (F,).
        squaring: Turn of the pelvis that is taken away later [rad]; (F,).
    """
    names = [person_skeleton().names[j] for j in moving_joints()]
    extra = (channels[:, 5] - squaring) * (1.0 - 1.0 / lively)
    for name in ("Spine", "Spine1", "Spine2"):
        channels[:, 5 + 3 * names.index(name)] -= extra / 3.0


def spread_legs(width: float) -> FloatArray:
    """Return what sets the feet `width` [m] farther apart, as channels of the gait model; (C,)."""
    return replace(NEUTRAL, width=width).posture()


def blend_poses(a: FloatArray, b: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the local rotations (F, J, 4) between two motions; weight (F,) 0 is `a`, 1 is `b`."""
    return rotations.slerp(a, b, np.broadcast_to(weight[:, None], a.shape[:2]))


def turn_joint(local: FloatArray, joint: str, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike) -> None:
    """Turn a joint about its parent's axes by a rotation vector [rad]; changes local rotations (F, J, 4) in place."""
    j = person_skeleton().index(joint)
    vector = np.stack(np.broadcast_arrays(x, y, z), axis=-1)
    local[:, j] = rotations.multiply(rotations.from_rotation_vector(vector), local[:, j])


def turn_gaze(local: FloatArray, yaw: FloatArray) -> None:
    """Turn head, neck and upper trunk by `yaw` [rad] (F,) in all; changes local rotations (F, J, 4) in place."""
    for joint, share in (("Spine2", 0.2), ("Neck", 0.35), ("Head", 0.45)):
        turn_joint(local, joint, 0.0, 0.0, share * yaw)


def integrate_path(speed: FloatArray, turn: FloatArray, fps: float, origin: int = 0) -> FloatArray:
    """Return the planar poses (F, 3) of a point that moves along its heading; frame `origin` is at (0, 0, 0)."""
    heading = np.concatenate([[0.0], np.cumsum(turn[:-1])]) / fps
    between = 0.5 * (heading[:-1] + heading[1:])
    stride = 0.5 * (speed[:-1] + speed[1:]) / fps
    steps = stride[:, None] * np.stack([np.cos(between), np.sin(between)], axis=1)
    path = np.column_stack([np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)]), heading])
    moved = planar.relative(path[origin], path)
    moved[:, 2] = heading - heading[origin]
    return moved


def stance_schedule(phase: FloatArray, timing: FloatArray) -> tuple[FootStance, ...]:
    """Return stances of both feet from the cycle's phase (F,) and each foot's own stance start and end (F, 2, 3)."""
    stances = []
    for k, side in enumerate(SIDES):
        start, end = timing[:, k, 1], timing[:, k, 2]
        on = (phase - 0.5 * k - start) % 1.0 < end - start
        edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8))).reshape(-1, 2)
        stances += [FootStance(side, int(a), int(b)) for a, b in edges]
    return tuple(stances)


def wobble_weights(
    phase: FloatArray,
    inside: FloatArray,
    fade: float,
    seed: int | None,
    strength: float = 1.0,
    *,
    free_ends: bool = False,
) -> FloatArray | None:
    """Return weights of the wobble directions (F, W): a smooth random walk over the cycles, 0 at the clip's ends.

    Args:
        phase: Phase [cycles]; (F,).
        inside: 0 at and before the clip's first frame, 1 at and after its last; (F,).
        fade: Share of the clip over which it grows and dies away.
        seed: None for no wobble.
        strength: Factor.
        free_ends: Whether it goes on at the clip's ends instead, about a manner that the whole take has.
    """
    if seed is None or strength == 0.0:
        return None
    place = (phase - phase[0]) * 2.0
    knots = np.random.default_rng(seed).normal(size=(int(place[-1]) + 3, GaitModel.load().wobble_count))
    knots = np.clip(knots, -1.6, 1.6)
    for i in range(1, len(knots)):
        knots[i] = 0.8 * knots[i - 1] + 0.6 * knots[i]
    low = place.astype(int)
    ease = smooth_step(place - low)[:, None]
    noise = knots[low] * (1.0 - ease) + knots[low + 1] * ease
    if free_ends:
        manner = np.clip(np.random.default_rng([seed, 1]).normal(size=noise.shape[1]), -1.6, 1.6)
        return np.asarray(strength * (MANNER * manner + np.sqrt(1.0 - MANNER**2) * noise))
    window = smooth_step(inside, 0.0, fade) * (1.0 - smooth_step(inside, 1.0 - fade, 1.0))
    return np.asarray(strength * noise * window[:, None])


STATES = ("stand", *GAITS)
