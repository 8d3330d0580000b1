from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.person.gait import _kernels
from gaitway.cast.person.gait.foot_roll import FOOT, TOE_JOINT, TOE_SHARE, TOES, TOES_FLAT, TRAILING_REACH, roll
from gaitway.cast.person.gait.model import GaitModel
from gaitway.cast.person.gait.planting import FootPin, FootStance, Motion, plant
from gaitway.cast.person.gait.stride import FPS, Controls, locomote
from gaitway.cast.person.skeleton import BALL, HEEL, LEG, TOE_TIP, person_skeleton
from gaitway.core import planar, rotations
from gaitway.core.errors import ClipError
from gaitway.motion.clip import Clip


def walking(speed: float = 1.3, cycles: float = 4.0) -> Motion:
    rate = float(GaitModel.load().timings("walk", speed)[0])
    frames = round(cycles / rate * FPS)
    return locomote(Controls(np.full(frames, speed), np.zeros(frames), np.arange(frames) * rate / FPS))


def slides(clip: Clip) -> float:
    """Largest way [m] a foot's contact point makes from a frame of contact to the next."""
    assert clip.contacts is not None
    both = clip.contacts[1:, :6] & clip.contacts[:-1, :6]
    steps = np.linalg.norm(np.diff(clip.contact_positions()[:, :6], axis=0), axis=-1)
    return float(np.where(both, steps, 0.0).max())


def rolled_by_rotations(ankle: np.ndarray, yaw: float, pitch: np.ndarray) -> np.ndarray:
    """The ankle of a rolling foot by quaternions: the twin of the planter's plane geometry."""
    out = []
    for p in pitch:
        foot = rotations.from_euler("zyx", [yaw, -p, 0.0])
        flat = rotations.from_yaw(yaw)
        if p > 0.0:
            out.append(ankle + rotations.rotate(flat, HEEL) - rotations.rotate(foot, HEEL))
            continue
        toes = rotations.from_euler("zyx", [yaw, TOE_SHARE * max(-p - TOES_FLAT, 0.0), 0.0])
        tip = ankle + rotations.rotate(flat, TOE_JOINT + TOES)
        out.append(tip - rotations.rotate(toes, TOES) - rotations.rotate(foot, TOE_JOINT))
    return np.array(out)


@given(yaw=st.floats(-4.0, 4.0), x=st.floats(-9.0, 9.0), pitch=st.lists(st.floats(-1.2, 0.6), min_size=1, max_size=8))
def test_roll_agrees_with_rotations(yaw: float, x: float, pitch: list[float]) -> None:
    ankle, angles = np.array([x, 1.0, 0.08]), np.array(pitch)
    np.testing.assert_allclose(roll(ankle, yaw, angles), rolled_by_rotations(ankle, yaw, angles), atol=1e-12)


@given(ahead=st.floats(-0.1, 0.9), yaw=st.floats(-2.0, 2.0), pitch=st.floats(-0.9, 0.2), late=st.floats(0.0, 1.0))
def test_heel_kernel_agrees_with_plain_steps(ahead: float, yaw: float, pitch: float, late: float) -> None:
    ankle, limit = np.array([0.2, -0.1, 0.08]), TRAILING_REACH * LEG
    hip = np.array([[0.2 + ahead * np.cos(yaw), -0.1 + ahead * np.sin(yaw), 0.9]])
    found = np.array([pitch])
    _kernels.raise_heel(ankle, yaw, hip, np.array([late]), FOOT, limit, found)
    wanted = pitch
    for _ in range(6):
        over = max(float(np.linalg.norm(roll(ankle, yaw, np.array([wanted]))[0] - hip[0])) - limit, 0.0)
        wanted = max(wanted - late * over**2 / (over + 0.01) / 0.14, -1.2)
    assert found[0] == pytest.approx(min(wanted, pitch), abs=1e-9)


def test_sole_is_flat_and_contact_points_are_on_it() -> None:
    assert HEEL[2] == BALL[2] == TOE_TIP[2]
    skeleton = person_skeleton()
    still = Motion(np.array([[0.0, 0.0, 1.0]] * 3), rotations.identity(3, len(skeleton)), (), FPS)
    points = Clip(skeleton, still.root, still.rotations, FPS).contact_positions()[:, :6]
    assert np.ptp(points[..., 2]) < 1e-12


@settings(max_examples=15, deadline=None)
@given(speed=st.floats(0.8, 1.8))
def test_contact_points_do_not_move_and_nothing_sinks(speed: float) -> None:
    planted = plant(walking(speed))
    points = planted.clip.contact_positions()[:, :6]
    assert slides(planted.clip) < 1e-4
    assert points[..., 2].min() > -1e-4
    assert planted.clip.contacts is not None
    assert planted.clip.contacts[:, :6].any(axis=1).all()  # walking never flies
    on_floor = points[planted.clip.contacts[:, :6]]
    assert np.abs(on_floor[:, 2]).max() < 1e-3


def test_heel_lands_first_and_toes_leave_last() -> None:
    planted = plant(walking())
    assert planted.clip.contacts is not None
    stance = sorted((s for s in walking().stances if s.side == "left"), key=lambda s: s.start)[1]
    heel, _, toe = planted.clip.contacts[stance.start : stance.end, :3].T
    assert heel[0]
    assert not toe[0]
    assert toe[-1]
    assert not heel[-1]
    assert (heel & toe).any()


def test_given_footprint_and_floor_height_are_kept() -> None:
    motion = walking()
    free = plant(motion)
    chosen = sorted((s for s in motion.stances if s.side == "left"), key=lambda s: s.start)[1]
    x, y, _, yaw, *_ = free.feet[(chosen.start + chosen.end) // 2, 0]
    moved = FootStance("left", chosen.start, chosen.end, (x + 0.03, y + 0.02, yaw + 0.2), height=0.05, clearance=0.04)
    stances = tuple(moved if s is chosen else s for s in motion.stances)
    clip = plant(Motion(motion.root, motion.rotations, stances, FPS, motion.lift, motion.path, motion.phase)).clip
    assert clip.contacts is not None
    flat = chosen.start + int(np.argmax(clip.contacts[chosen.start : chosen.end, :3].all(axis=1)))
    heel, ball = clip.contact_positions()[flat, :2]
    assert heel[2] == pytest.approx(0.05, abs=1e-6)
    assert ball[2] == pytest.approx(0.05, abs=1e-6)
    np.testing.assert_allclose(heel[:2], planar.transform_points([x + 0.03, y + 0.02, yaw + 0.2], HEEL[:2]), atol=1e-6)
    assert slides(clip) < 1e-3


def test_pin_is_met_in_swing_and_by_the_pelvis() -> None:
    motion = walking()
    free = plant(motion)
    frame = len(motion.root) // 2
    k = 0 if free.clip.contacts is not None and not free.clip.contacts[frame, :3].any() else 1
    feet = free.feet[frame].copy()
    feet[k, :3] += [0.01, 0.02, 0.015]
    planted = plant(motion, [FootPin(frame, feet, float(free.pelvis[frame]) + 0.004)])
    np.testing.assert_allclose(planted.feet[frame, k], feet[k], atol=2e-3 if feet[k, 2] < 0.1 else 1e-9)
    assert planted.pelvis[frame] == pytest.approx(float(free.pelvis[frame]) + 0.004)


def test_lift_lowers_the_body_and_not_the_feet() -> None:
    motion = walking()
    down = -0.12 * np.sin(np.linspace(0.0, np.pi, len(motion.root))) ** 2
    low = plant(Motion(motion.root, motion.rotations, motion.stances, FPS, down, motion.path, motion.phase)).clip
    middle = len(low) // 2
    assert low.root_positions[middle, 2] < plant(motion).clip.root_positions[middle, 2] - 0.1
    assert slides(low) < 1e-4


@pytest.mark.parametrize(
    ("stances", "words"),
    [
        ((FootStance("left", 0, 9), FootStance("left", 9, 20)), "no frame of swing"),
        ((FootStance("left", 5, 500),), "not within"),
        ((FootStance("right", 5, 5),), "not within"),
    ],
)
def test_impossible_schedules_are_refused(stances: tuple[FootStance, ...], words: str) -> None:
    motion = walking()
    with pytest.raises(ClipError, match=words):
        plant(Motion(motion.root, motion.rotations, stances, FPS))
