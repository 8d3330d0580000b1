"""Standing with life in it: breath, sway, shifts of weight from leg to leg, glances, and feet that shift."""

from __future__ import annotations

import numpy as np

from gaitway.cast.curves import plateau, wobble
from gaitway.cast.person.gait.model import GaitModel
from gaitway.cast.person.gait.performing import perform
from gaitway.cast.person.gait.standing import carrying_side
from gaitway.cast.person.gait.stride import NEUTRAL, SPEEDS, turn_joint
from gaitway.cast.person.styles import Style
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

BREATH_HZ = 0.27
_SHIFT = 0.055
"""Way of the pelvis from one leg to the other [m]."""


def idle(
    name: str, seconds: float, *, style: Style = NEUTRAL, seed: int = 0, lively: float = 1.0, free_ends: bool = False
) -> Clip:
    """Return a clip of standing that begins and ends in the hub "stand".

    Args:
        name: Name of the clip.
        seconds: How long.
        style: Style of the character.
        seed: Draws when and how far.
        lively: Strength of glances and shifts of weight; breath and sway stay.
        free_ends: Whether trunk, arms and head differ from the hub at both ends.
    """
    rng = np.random.default_rng(seed)
    times = np.linspace(0.0, seconds, 512)
    sway, limbs = (
        wobble(times, 2, rng, 0.35) * np.array([0.010, 0.008]),
        wobble(times, 12, rng, 0.6, free_ends=free_ends),
    )
    glance, nod = _glances(times, rng, lively)
    shift = _weight_shift(times, rng, lively) * -carrying_side(style)
    sway[:, 1] += _SHIFT * shift
    share = times / seconds

    def edit(local: FloatArray, time: FloatArray, phase: FloatArray) -> FloatArray:
        del phase
        at = np.clip(time / seconds, 0.0, 1.0)
        curves = np.stack([np.interp(at, share, c) for c in (shift, nod, *limbs.T)], axis=1)
        depth = plateau(at * seconds, 0.0, 0.6, seconds - 0.6, seconds)
        breath = depth * np.sin(2.0 * np.pi * round(BREATH_HZ * seconds) * at)
        _lean(local, curves[:, 0])
        _breathe(local, breath)
        _drift(local, curves[:, 1], curves[:, 2:])
        return np.asarray(0.004 * breath)

    return perform(
        name,
        "stand",
        "stand",
        style=style,
        cycles=0,
        seconds=seconds,
        sway=lambda s: np.stack([np.interp(s, share, c) for c in sway.T], axis=1),
        gaze=lambda s: np.interp(s, share, glance),
        edit=edit,
        free_ends=free_ends,
    )


def shift_feet(name: str, style: Style = NEUTRAL, seed: int = 0) -> Clip:
    """Return a clip of who has stood for long: the weight goes over, and each foot in turn steps in its place.

    It begins and ends in the hub "stand".

    Args:
        name: Name of the clip.
        style: Style of the character.
        seed: Draws how high, how far aside and how fast.
    """
    rng = np.random.default_rng(seed)
    seconds, lift, aside = rng.uniform(2.0, 2.7), rng.uniform(0.34, 0.48), rng.uniform(0.024, 0.034)
    model = GaitModel.load()
    _, land, leave = (float(v) for v in model.timings("walk", abs(SPEEDS["walk"]), 0.0, style.vector(model)))
    pace = seconds / 2.2
    over = (0.08, 0.42, 0.8, 1.02), (0.8, 1.14, 1.6, 1.98)  # onto the left foot, onto the right one [s]

    def sway(share: FloatArray) -> FloatArray:
        time = share * 2.2
        side = plateau(time, *over[0]) - plateau(time, *over[1])
        return np.stack([np.zeros_like(side), aside * side], axis=1)

    def edit(local: FloatArray, time: FloatArray, phase: FloatArray) -> FloatArray:
        del phase
        at = np.clip(time / pace, 0.0, 2.2)
        _lean(local, 0.3 * (plateau(at, *over[0]) - plateau(at, *over[1])))
        return np.zeros(len(time))

    return perform(
        name,
        "stand",
        "stand",
        style=style,
        cycles=1,
        seconds=seconds,
        speed=np.zeros_like,
        moving=lambda s: lift * plateau(s * 2.2, 0.0, 0.45, 1.6, 2.2),
        beats=tuple(
            (pace * when, phase)
            for when, phase in ((0.42, leave - 0.49), (0.85, land + 0.5), (1.15, leave), (1.6, land + 1.0))
        ),
        sway=sway,
        edit=edit,
    )


def _glances(times: FloatArray, rng: np.random.Generator, lively: float) -> tuple[FloatArray, FloatArray]:
    """Return the turn of the gaze and the nod of the head [rad]; (N,) each."""
    gaze, nod = np.zeros(len(times)), np.zeros(len(times))
    begin, end = 0.5, times[-1] - 0.9
    while begin + 0.8 < end:
        hold = float(rng.uniform(0.5, 1.6))
        stop = min(begin + 0.4 + hold, end)
        turn, tip = rng.uniform(0.12, 0.5) * rng.choice([-1.0, 1.0]), rng.uniform(-0.04, 0.10)
        look = plateau(times, begin, begin + 0.45, stop, stop + 0.55)
        gaze, nod = gaze + lively * turn * look, nod + lively * tip * look
        begin = stop + float(rng.uniform(0.7, 1.6))
    return gaze, nod


def _weight_shift(times: FloatArray, rng: np.random.Generator, lively: float) -> FloatArray:
    """Return 0 on the usual leg, 1 on the other; (N,). Short clips stay where they are."""
    length = times[-1]
    if length < 3.0:
        return np.zeros(len(times))
    go = rng.uniform(0.2, 0.9)
    back = rng.uniform(length - 2.2, length - 1.5)
    return np.asarray(min(lively, 1.0) * rng.uniform(0.35, 1.0) * plateau(times, go, go + 1.1, back, back + 1.3))


def _lean(local: FloatArray, shift: FloatArray) -> None:
    """Tip the pelvis the other way as the weight goes over, and bend the spine against it."""
    turn_joint(local, "Hips", 0.11 * shift, 0.0, 0.0)
    for joint, share in (("Spine", -0.075), ("Spine1", -0.05)):
        turn_joint(local, joint, share * shift, 0.0, 0.0)


def _breathe(local: FloatArray, breath: FloatArray) -> None:
    turn_joint(local, "Spine1", 0.0, -0.010 * breath, 0.0)
    turn_joint(local, "Spine2", 0.0, -0.016 * breath, 0.0)
    turn_joint(local, "Neck", 0.0, 0.016 * breath, 0.0)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        turn_joint(local, side + "Shoulder", 0.018 * sign * breath, 0.0, 0.0)
        turn_joint(local, side + "Arm", -0.014 * sign * breath, 0.0, 0.0)


def _drift(local: FloatArray, nod: FloatArray, limbs: FloatArray) -> None:
    """Add small slow motions of head, trunk and arms, as fast as captured people who stand have them."""
    turn_joint(local, "Head", 0.03 * limbs[:, 0], nod + 0.045 * limbs[:, 1], 0.03 * limbs[:, 8])
    turn_joint(local, "Neck", 0.0, 0.03 * limbs[:, 9], 0.03 * limbs[:, 8])
    turn_joint(local, "Spine1", 0.02 * limbs[:, 2], 0.02 * limbs[:, 9], 0.05 * limbs[:, 3])
    turn_joint(local, "Spine2", 0.015 * limbs[:, 2], 0.0, 0.04 * limbs[:, 3])
    for k, side in enumerate(("Left", "Right")):
        turn_joint(local, side + "Arm", 0.05 * limbs[:, 10 + k], 0.10 * limbs[:, 4 + k], 0.0)
        turn_joint(local, side + "ForeArm", 0.0, 0.05 * limbs[:, 10 + k], 0.14 * limbs[:, 6 + k])
        turn_joint(local, side + "Hand", 0.10 * limbs[:, 4 + k], 0.0, 0.10 * limbs[:, 10 + k])
