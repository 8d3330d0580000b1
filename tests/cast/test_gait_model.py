from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.cast.person.gait.model import GAITS, GaitModel, fourier_basis, moving_joints, regressors
from gaitway.cast.person.gait.stride import SPEEDS
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core.errors import LibraryError

PHASES = np.linspace(0.0, 1.0, 33)


def mirrored_channels(x: np.ndarray) -> np.ndarray:
    """What a mirror that swaps left and right makes of gait channels (F, C)."""
    names = [person_skeleton().names[j] for j in moving_joints()]
    twin = [
        names.index(n.replace("Left", "Right") if n.startswith("Left") else n.replace("Right", "Left")) for n in names
    ]
    turns = x[:, 3:].reshape(len(x), -1, 3)[:, twin] * [-1.0, 1.0, -1.0]
    return np.concatenate([x[:, :3] * [1.0, -1.0, 1.0], turns.reshape(len(x), -1)], axis=1)


def test_model_is_read_once_and_cannot_be_changed() -> None:
    model = GaitModel.load()
    assert GaitModel.load() is model
    with pytest.raises(ValueError, match="read-only"):
        model.gaits["walk"].mean[0, 0, 0] = 1.0


def test_file_without_a_gait_is_refused() -> None:
    file = io.BytesIO()
    np.savez(file, base=np.zeros((22, 4)), walk_mean=np.zeros(3))
    file.seek(0)
    with pytest.raises(LibraryError, match="jog_mean"):
        GaitModel.read(file)


@pytest.mark.parametrize("gait", GAITS)
@given(turn=st.floats(-1.0, 1.0))
def test_half_a_cycle_later_the_mirror_image_turns_the_other_way(gait: str, turn: float) -> None:
    model = GaitModel.load()
    speed = np.full(len(PHASES), abs(SPEEDS[gait]))
    here = model.channels(gait, PHASES, speed, np.full(len(PHASES), turn))
    later = model.channels(gait, PHASES + 0.5, speed, np.full(len(PHASES), -turn))
    np.testing.assert_allclose(here, mirrored_channels(later), atol=1e-5)


@pytest.mark.parametrize("gait", GAITS)
@given(speed=st.floats(-5.0, 50.0), turn=st.floats(-50.0, 50.0))
def test_controls_beyond_the_fit_are_held_inside_it(gait: str, speed: float, turn: float) -> None:
    model = GaitModel.load()
    x = model.channels(gait, PHASES, np.full(len(PHASES), speed), np.full(len(PHASES), turn))
    assert np.isfinite(x).all()
    assert 0.7 < x[:, 2].min() < x[:, 2].max() < 1.1
    rate, start, end = model.timings(gait, speed, turn)
    assert 0.6 < rate < 1.6
    assert -0.1 < start < 0.25
    assert 0.2 < end - start < 0.75


@pytest.mark.parametrize("gait", GAITS)
def test_no_joint_jerks_where_the_turn_rate_passes_what_was_fitted(gait: str) -> None:
    model, rates = GaitModel.load(), np.linspace(0.0, 2.0, 401)
    still = np.full(len(rates), abs(SPEEDS[gait]))
    for phase in PHASES[:-1:4]:
        slope = np.diff(model.channels(gait, np.full(len(rates), phase), still, rates), axis=0)
        corner = np.abs(np.diff(slope, axis=0)).max(axis=0)
        assert (corner < 0.05 * np.abs(slope).max(axis=0) + 1e-12).all()


def test_gain_scales_what_a_channel_does_about_its_mean() -> None:
    model = GaitModel.load()
    phase = np.arange(64) / 64
    speed, turn = np.full(64, 1.3), np.zeros(64)
    plain = model.channels("walk", phase, speed, turn)
    gain = np.ones(plain.shape[1])
    gain[2] = 2.0
    louder = model.channels("walk", phase, speed, turn, gain=gain)
    assert np.ptp(louder[:, 2]) == pytest.approx(2.0 * np.ptp(plain[:, 2]))
    assert louder[:, 2].mean() == pytest.approx(plain[:, 2].mean())
    np.testing.assert_allclose(np.delete(louder, 2, axis=1), np.delete(plain, 2, axis=1))


def test_walk_is_grounded_and_jog_flies() -> None:
    model = GaitModel.load()
    _, start, end = model.timings("walk", 1.35)
    assert end - start > 0.5
    _, start, end = model.timings("jog", 2.8)
    assert end - start < 0.5


def test_bases() -> None:
    np.testing.assert_allclose(fourier_basis(0.25, 2), [1.0, 0.0, -1.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(regressors(1.5, 0.5, 1.0), [1.0, 0.5, 0.25, 0.5, 0.25, 0.25])
