"""Trunk, head and arms of a stepping person: manner, restlessness, lean, and eyes that go ahead of a turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from gaitway.cast.curves import wobble
from gaitway.cast.person.gait.model import GaitModel, moving_joints
from gaitway.cast.person.gait.stride import FPS, turn_joint
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.steps.model import JOINTS, BodyCurves
from gaitway.cast.person.styles import Style
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray

GAZE_LEAD_S = 0.28
"""How long before the pelvis the eyes turn [s]."""
CHEST_LEAD_S = 0.12
"""How long before the pelvis the shoulders turn [s]."""
GAZE_LIMIT = 1.15
"""Farthest turn of the head against the chest [rad]."""


def style_offsets(style: Style) -> FloatArray:
    """Return what a style adds to the mean pose of trunk and arms: rotation vectors of JOINTS [rad]; (14, 3)."""
    model = GaitModel.load()
    mean: FloatArray = style.vector(model) @ model.gaits["walk"].style[:, 0, :]
    vectors = mean[3:].reshape(-1, 3)
    names, moving = person_skeleton().names, moving_joints()
    rows = {names[j]: vectors[i] for i, j in enumerate(moving)}
    out = np.stack([rows[name] for name in JOINTS])
    out[0, 2] = 0.0
    return out


def lead_with_eyes(body: BodyCurves, aside: FloatArray) -> BodyCurves:
    """Turn eyes, then shoulders, ahead of the pelvis; the eyes look `aside` of that to the left [rad] (F,)."""
    frames = np.arange(len(body.heading))

    def ahead(seconds: float) -> FloatArray:
        turned: FloatArray = np.interp(frames + seconds * FPS, frames, body.heading) - body.heading
        return turned

    local = body.rotations.copy()
    chest = gaussian_filter1d(0.4 * ahead(CHEST_LEAD_S), 0.05 * FPS, mode="nearest")
    spine = [JOINTS.index(n) for n in ("Spine", "Spine1", "Spine2")]
    twisted = sum(rotations.to_rotation_vector(local[:, j])[:, 2] for j in spine)
    look = gaussian_filter1d(ahead(GAZE_LEAD_S) + aside - 0.8 * twisted - chest, 0.05 * FPS, mode="nearest")
    look = GAZE_LIMIT * np.tanh(look / GAZE_LIMIT)
    for j in spine:
        local[:, j] = rotations.multiply(rotations.from_yaw(chest / 3.0), local[:, j])
    for name, share in (("Neck", 0.45), ("Head", 0.55)):
        j = JOINTS.index(name)
        vector = rotations.to_rotation_vector(local[:, j])
        vector[:, 2] = share * look
        local[:, j] = rotations.from_rotation_vector(vector)
    return replace(body, rotations=local)


def whole_pose(body: BodyCurves, times: FloatArray, style: Style, seed: int | None, duration: float) -> FloatArray:
    """Return the local rotations of the whole skeleton (F, J, 4), legs straight, pelvis in the world."""
    skeleton = person_skeleton()
    vectors = np.broadcast_to(style_offsets(style), (len(times), len(JOINTS), 3)).copy()
    if seed is not None:
        restless = np.array([0.006, *[0.012] * 3, 0.02, 0.02, *[0.01, 0.05, 0.06, 0.05] * 2])
        inside = np.clip(times, 0.0, duration)
        noise = wobble(inside, 3 * len(JOINTS), np.random.default_rng(seed), 0.7)
        vectors += restless[:, None] * noise.reshape(len(times), len(JOINTS), 3)
    moved = rotations.multiply(body.rotations, rotations.from_rotation_vector(vectors))
    local = rotations.identity(len(times), len(skeleton))
    for i, joint in enumerate(JOINTS):
        local[:, skeleton.index(joint)] = moved[:, i]
    local[:, 0] = rotations.multiply(rotations.from_yaw(body.heading), moved[:, 0])
    return local


def lean_forward(local: FloatArray, lean: FloatArray) -> None:
    """Lean the trunk forward by `lean` [rad] (F,), in place; the gaze stays level and the arms hang."""
    about_itself = rotations.from_axis_angle([0.0, 1.0, 0.0], 0.35 * lean)
    local[:, 0] = rotations.multiply(local[:, 0], about_itself)  # the pelvis is in the world and may face anywhere
    shares = {
        "Spine": 0.25,
        "Spine1": 0.2,
        "Spine2": 0.2,
        "Neck": -0.3,
        "Head": -0.5,
        "LeftArm": -0.6,
        "RightArm": -0.6,
    }
    for joint, share in shares.items():
        turn_joint(local, joint, 0.0, share * lean, 0.0)


def flare_arms(local: FloatArray, left: FloatArray, right: FloatArray, bend: float = 1.0) -> None:
    """Carry the arms out to the sides by these angles [rad] (F,), in place: elbows `bend`, the chest gives way."""
    for side, out, flare in (("Left", 1.0, left), ("Right", -1.0, right)):
        turn_joint(local, f"{side}Shoulder", 0.25 * out * flare, 0.0, 0.0)
        turn_joint(local, f"{side}Arm", out * flare, -0.5 * bend * flare, 0.0)
        turn_joint(local, f"{side}ForeArm", 0.0, 0.0, -1.1 * bend * out * flare)
    for joint in ("Spine1", "Spine2"):
        turn_joint(local, joint, 0.2 * (right - left), 0.0, 0.25 * bend * (right - left))
