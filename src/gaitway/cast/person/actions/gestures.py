"""Gestures on the spot: wave, cheer and the arms of a breast stroke, in takes that differ by known draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gaitway.cast.curves import plateau, smooth_step, wobble
from gaitway.cast.person.actions.model import action_model, stroke_joints
from gaitway.cast.person.gait.performing import perform
from gaitway.cast.person.gait.stride import NEUTRAL, turn_joint
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.styles import Style
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

_ELBOWS = 0.78
"""Share of the captured bend of the elbows in a breast stroke."""


@dataclass(frozen=True)
class Draw:
    """What one take differs in from another; standard normal numbers, all 0 in the mean take."""

    tempo: float = 0.0
    size: float = 0.0
    height: float = 0.0
    lean: float = 0.0
    side: float = 0.0
    """How much later and smaller the left arm is than the right one."""
    seed: int = 0
    """Seed of the slow drift of trunk and arms; 0 gives no drift."""

    @staticmethod
    def of(seed: int | None) -> Draw:
        """Return the draw of a seed; None is the mean take."""
        if seed is None:
            return Draw()
        values = np.clip(np.random.default_rng(seed).normal(size=5), -1.8, 1.8)
        tempo, size, height, lean, side = (float(v) for v in values)
        return Draw(tempo, size, height, lean, side, seed + 1)


def wave_clip(name: str, style: Style = NEUTRAL, seed: int | None = None) -> Clip:
    """Lift the right hand and wave, standing.

    Args:
        name: Name of the clip.
        style: Style of the character.
        seed: Seed of this take; None gives the mean take.
    """
    draw = Draw.of(seed)
    rate = 2.1 * (1.0 + 0.10 * draw.tempo)
    strokes = 3.5
    up, down = 0.55, 0.55 + strokes / rate
    seconds = down + 0.75

    def edit(local: FloatArray, time: FloatArray, phase: FloatArray) -> FloatArray:
        del phase
        lifted = plateau(time, 0.05, up, down, seconds - 0.1)
        swing = np.sin(2.0 * np.pi * rate * (time - up)) * plateau(time, up - 0.25, up + 0.1, down - 0.1, down + 0.25)
        late = np.sin(2.0 * np.pi * rate * (time - up - 0.06)) * plateau(
            time, up - 0.2, up + 0.2, down - 0.1, down + 0.3
        )
        size = 0.36 * (1.0 + 0.2 * draw.size)
        upper = np.array([0.32, -0.80, -0.30 + 0.20 * draw.height])
        fore = np.stack([np.full(len(time), 0.28), -0.15 - size * swing, np.full(len(time), 0.95)], axis=-1)
        _aim_arm(local, "Right", np.broadcast_to(upper, fore.shape), fore, lifted)
        turn_joint(local, "RightHand", 0.30 * late * lifted, 0.0, 0.0)
        turn_joint(local, "RightShoulder", -0.10 * lifted, 0.0, 0.05 * lifted)
        turn_joint(local, "Spine1", 0.05 * lifted + 0.015 * swing, 0.02 * draw.lean * lifted, -0.05 * lifted)
        turn_joint(local, "Neck", -0.05 * lifted, 0.0, 0.06 * lifted)
        _drift(local, time, seconds, draw)
        return np.asarray(-0.004 * lifted)

    return _stand(name, style, seconds, edit)


def cheer_clip(name: str, style: Style = NEUTRAL, seed: int | None = None) -> Clip:
    """Throw both arms up and pump them, knees and trunk going along, standing.

    Args:
        name: Name of the clip.
        style: Style of the character.
        seed: Seed of this take; None gives the mean take.
    """
    draw = Draw.of(seed)
    rate = 1.7 * (1.0 + 0.08 * draw.tempo)
    pumps = 3
    up = 0.62
    down = up + pumps / rate
    seconds = down + 0.85

    def edit(local: FloatArray, time: FloatArray, phase: FloatArray) -> FloatArray:
        del phase
        crouch = plateau(time, 0.0, 0.28, 0.30, 0.60)
        raised = plateau(time, 0.18, up, down, seconds - 0.1)
        going = plateau(time, up - 0.1, up + 0.15, down - 0.15, down + 0.2)
        beat = 0.5 - 0.5 * np.cos(2.0 * np.pi * rate * (time - up))
        size = 1.0 + 0.15 * draw.size
        for side, sign, lag in (("Left", 1.0, 0.03 * draw.side), ("Right", -1.0, -0.03 * draw.side)):
            own = 0.5 - 0.5 * np.cos(2.0 * np.pi * rate * (time - up - lag))
            pump = going * own * size
            upper = np.stack(
                [0.22 + 0.25 * pump, sign * (0.62 + 0.12 * pump), 0.75 + 0.12 * draw.height - 0.55 * pump], -1
            )
            fore = np.stack([0.10 + 0.18 * pump, sign * (0.10 - 0.08 * pump), np.ones(len(time))], axis=-1)
            _aim_arm(local, side, upper, fore, raised)
            turn_joint(local, f"{side}Shoulder", sign * 0.22 * raised * (1.0 - 0.6 * pump), 0.0, 0.0)
        bob = crouch + 0.55 * going * beat * size
        lean = 1.6 * bob - 0.8 * raised + 0.15 * draw.lean * raised
        _lean(local, lean, {"Hips": 0.10, "Spine": 0.07, "Spine1": 0.06, "Spine2": 0.04})
        turn_joint(local, "Neck", 0.0, -0.10 * bob - 0.16 * raised, 0.0)
        _drift(local, time, seconds, draw)
        return np.asarray(-0.075 * bob)

    return _stand(name, style, seconds, edit)


def breast_stroke_clip(name: str, style: Style = NEUTRAL, seed: int | None = None) -> Clip:
    """Make three breast strokes with the arms, standing, with the trunk leaning into them.

    Args:
        name: Name of the clip.
        style: Style of the character.
        seed: Seed of this take; None gives the mean take.
    """
    draw = Draw.of(seed)
    period = 1.55 * (1.0 - 0.06 * draw.tempo)
    strokes, lead = 3, 0.7
    seconds = 2.0 * lead + strokes * period
    spread = np.random.default_rng(draw.seed).normal(size=(strokes + 2, 3)) * (0.7 if draw.seed else 0.0)

    def edit(local: FloatArray, time: FloatArray, phase: FloatArray) -> FloatArray:
        del phase
        cycle = np.clip((time - lead) / period, -0.3, strokes + 0.3)
        spot = np.clip(cycle + 0.5, 0.0, strokes + 0.999)
        low = spot.astype(int)
        mix = smooth_step(spot - low)[:, None]
        arms = action_model().stroke(cycle, spread[low] * (1.0 - mix) + spread[low + 1] * mix)
        shown = plateau(time, 0.0, lead, seconds - lead, seconds)
        joints = stroke_joints()
        for elbow in (2, 6):  # the swimmer's shoulders are narrower: with these, the hands would cross
            arms[:, elbow] = rotations.slerp(rotations.identity(len(time)), arms[:, elbow], np.full(len(time), _ELBOWS))
        local[:, joints] = rotations.slerp(local[:, joints], arms, np.broadcast_to(shown[:, None], arms.shape[:2]))
        surge = np.cos(2.0 * np.pi * cycle) * shown
        lean = (0.30 + 0.06 * draw.lean) * shown + 0.10 * surge
        _lean(local, lean, {"Hips": 0.30, "Spine": 0.25, "Spine1": 0.25, "Spine2": 0.20})
        turn_joint(local, "Neck", 0.0, -0.55 * lean - 0.08 * surge, 0.0)
        turn_joint(local, "Head", 0.0, -0.25 * lean, 0.0)
        _drift(local, time, seconds, draw)
        return np.asarray(-0.03 * shown - 0.015 * surge)

    return _stand(name, style, seconds, edit)


def _stand(
    name: str, style: Style, seconds: float, edit: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
) -> Clip:
    """Return a clip of standing with something keyed on top."""
    return perform(name, "stand", "stand", style=style, cycles=0, seconds=seconds, edit=edit)


def _lean(local: FloatArray, lean: FloatArray, shares: dict[str, float]) -> None:
    """Lean pelvis and spine forward by shares of `lean` [rad] (F,), in place; the legs stay, so the soles rest flat."""
    for joint, share in shares.items():
        turn_joint(local, joint, 0.0, share * lean, 0.0)
    for thigh in ("LeftUpLeg", "RightUpLeg"):
        turn_joint(local, thigh, 0.0, -shares["Hips"] * lean, 0.0)


def _drift(local: FloatArray, time: FloatArray, seconds: float, draw: Draw) -> None:
    """Add slow random motion of trunk and arms, different in each take."""
    if not draw.seed:
        return
    grid = np.linspace(0.0, seconds, 256)
    curves = wobble(grid, 10, np.random.default_rng([draw.seed, 2]), 0.5)
    at = np.clip(time, 0.0, seconds)
    a = np.stack([np.interp(at, grid, c) for c in curves.T], axis=1)
    turn_joint(local, "Spine", 0.02 * a[:, 0], 0.02 * a[:, 1], 0.03 * a[:, 2])
    turn_joint(local, "Neck", 0.02 * a[:, 3], 0.03 * a[:, 4], 0.05 * a[:, 5])
    turn_joint(local, "LeftArm", 0.05 * a[:, 6], 0.03 * a[:, 7], 0.04 * a[:, 7])
    turn_joint(local, "RightArm", 0.05 * a[:, 8], 0.03 * a[:, 9], 0.04 * a[:, 9])


def _aim_arm(local: FloatArray, side: str, upper: FloatArray, fore: FloatArray, weight: FloatArray) -> None:
    """Point an arm along given directions, in place.

    Args:
        local: Local rotations; (F, J, 4).
        side: "Left" or "Right".
        upper: Direction of the upper arm in the chest's frame; (F, 3).
        fore: Direction of the forearm there, not along the upper arm; (F, 3).
        weight: 0 keeps the arm, 1 points it; (F,).
    """
    skeleton = person_skeleton()
    sign = 1.0 if side == "Left" else -1.0
    along = upper / np.linalg.norm(upper, axis=-1, keepdims=True)
    ahead = fore / np.linalg.norm(fore, axis=-1, keepdims=True)
    cosine = (along * ahead).sum(axis=-1, keepdims=True)
    across = ahead - cosine * along
    x = across / np.linalg.norm(across, axis=-1, keepdims=True)
    y = sign * along  # the T-pose arm lies along +y on the left, -y on the right
    frame = np.stack([x, y, np.cross(x, y)], axis=-1)
    bend = np.zeros((len(frame), 3))
    bend[:, 2] = -sign * np.arccos(np.clip(cosine[:, 0], -1.0, 1.0))
    for part, turned in (("Arm", rotations.from_matrix(frame)), ("ForeArm", rotations.from_rotation_vector(bend))):
        j = skeleton.index(side + part)
        local[:, j] = rotations.slerp(local[:, j], turned, weight)
