"""Variants and streams: repeatable, new every time, within the natural range, and over when the motion is."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numba
import numpy as np
import pytest

from gaitway.core import rotations
from gaitway.core.errors import VariationError
from gaitway.motion.editing import resample
from gaitway.variation.learning.calibration import warped_cycles, warped_takes
from gaitway.variation.learning.learn import learn
from gaitway.variation.network.spread import Drift, run_total
from gaitway.variation.sampling.streaming import Stream, stream, stream_clip
from gaitway.variation.sampling.synthesis import KeptJoints, dials, sample, sample_many, upper_bodies, upper_body
from variation_takes import SMALL, make_takes, small_model


def test_the_same_seed_gives_the_same_variant_with_any_number_of_threads() -> None:
    model, before = small_model(), numba.get_num_threads()
    first = sample_many(model, np.random.default_rng(1), 5)
    try:
        numba.set_num_threads(1)
        again = sample_many(model, np.random.default_rng(1), 5)
    finally:
        numba.set_num_threads(before)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.rotations, b.rotations)
    assert not np.array_equal(first[0].rotations[:10], first[1].rotations[:10])


def test_variants_are_neither_copies_nor_far_from_the_takes() -> None:
    model = small_model(False)
    takes = np.concatenate(model.takes)
    for clip in sample_many(model, np.random.default_rng(2), 8):
        rows = model.scaled(clip)
        middle = rows[len(rows) // 3 : -len(rows) // 3]
        nearest = np.sqrt(((middle[:, None] - takes) ** 2).mean(axis=2)).min(axis=1)
        assert nearest.min() > 1e-4
        assert nearest.max() < 1.5


def test_a_motion_that_is_no_cycle_ends_by_itself() -> None:
    model = small_model(False)
    lengths = [len(clip) for clip in sample_many(model, np.random.default_rng(0), 20)]
    assert min(model.lengths) - 3 <= min(lengths)
    assert max(lengths) <= max(model.lengths) + 3
    assert len(set(lengths)) > 1
    end = sample(model, np.random.default_rng(0))
    still = model.dofs.rows(end)[-1] - model.dofs.rows(make_takes(1, cyclic=False)[0])[-1]
    assert np.abs(still[3:]).max() < 0.15
    assert len(sample(model, np.random.default_rng(0), frames=17)) == 17


def test_runs_lead_where_takes_do() -> None:
    model = small_model()
    rng = np.random.default_rng(0)
    ends = np.array([clip.planar_path()[-1] for clip in sample_many(model, rng, 40)])
    real = np.array([take.planar_path()[-1] - take.planar_path()[0] for take in make_takes()])
    assert np.abs(ends.mean(axis=0) - real.mean(axis=0)).max() < 0.03
    assert (ends.std(axis=0) < 1.5 * real.std(axis=0, ddof=1) + 0.01).all()


def test_drift_is_put_right_on_the_whole() -> None:
    rows = np.random.default_rng(1).normal(size=(20, 3))
    total = run_total(rows)
    np.testing.assert_allclose(Drift.none(3).shift(rows), 0.0, atol=1e-12)
    moved = rows + Drift(total, np.array([1.0, 2.0, 3.0]), np.full(3, 0.5)).shift(rows)
    np.testing.assert_allclose(run_total(moved), [1.0, 2.0, 3.0])
    half = rows + Drift(np.zeros(3), np.zeros(3), np.full(3, 0.5)).shift(rows)
    np.testing.assert_allclose(run_total(half), 0.5 * total)
    np.testing.assert_allclose(np.diff(half, axis=0), np.diff(rows, axis=0), atol=1e-12)


def test_contacts_come_from_the_takes() -> None:
    clip = sample(small_model(), np.random.default_rng(0))
    assert clip.contacts is not None
    assert clip.contacts[3:10].all()
    assert not clip.contacts[-10:-3].any()


def test_the_dial_goes_from_the_mean_outward_part_by_part() -> None:
    model = small_model(False)
    takes = warped_takes(model)

    def away(gain: float | dict[str, float]) -> np.ndarray:  # type: ignore[type-arg]
        rows = [model.scaled(clip) for clip in sample_many(model, np.random.default_rng(3), 24, frames=25, gain=gain)]
        return np.std(rows, axis=0).mean(axis=0) / takes.std(axis=0, ddof=1).mean(axis=0)

    none, half, whole, more = (away(gain) for gain in (0.0, 0.5, 1.0, 1.8))
    assert none.max() < 1e-3
    assert np.median(half) < np.median(whole) < np.median(more)
    left = model.dofs.columns(("left_arm",))
    only = away({"lower": 0.0, "trunk": 0.0, "right_arm": 0.0, "timing": 0.0})
    # what hangs on the left arm answers to it a little
    assert only[left].min() > 1.5 * only[model.dofs.columns(("trunk", "right_arm"))].max()


def test_however_far_the_dial_is_turned_it_stays_natural() -> None:
    model = small_model(False)
    course, parts = model.course, model.dofs.parts
    for clip in sample_many(model, np.random.default_rng(3), 6, gain=20.0):
        rows = model.scaled(clip)
        at = np.clip(np.rint(model.phases_of(rows) * course.grid), 0, len(course.means) - 1).astype(int)
        size = np.sqrt((((rows - course.means[at]) / course.spreads[at]) ** 2)[:, parts == 2].mean(axis=1))
        assert np.median(size) < 1.3 * model.variation.natural


def test_gains_that_make_no_sense() -> None:
    assert dials(2.0).tolist() == [2.0] * 5
    assert dials({"trunk": 0.5}).tolist() == [1.0, 0.5, 1.0, 1.0, 1.0]
    with pytest.raises(VariationError, match="no part 'tail' to dial; there are lower, trunk"):
        dials({"tail": 1.0})
    with pytest.raises(VariationError, match="must be 0"):
        dials(-1.0)
    with pytest.raises(VariationError, match="at least 3"):
        sample(small_model(), np.random.default_rng(0), frames=2)


def test_given_joints_are_kept_and_the_others_are_new() -> None:
    model = small_model()
    base = make_takes(1, seed=8)[0]
    clips = upper_bodies(model, base, np.random.default_rng(0), 4, joints=("lower", "trunk"))
    for clip in clips:
        assert len(clip) == len(base)
        np.testing.assert_array_equal(clip.root_positions, base.root_positions)
        np.testing.assert_allclose(clip.rotations[:, :2], base.rotations[:, :2], atol=1e-12)
        np.testing.assert_array_equal(clip.contacts, base.contacts)
    assert max(rotations.angle_between(clips[0].rotations[:, 2], c.rotations[:, 2]).max() for c in clips[1:]) > 0.02
    # the arms keep time with what is given
    swing = [model.scaled(clip)[:, model.dofs.names.index("LeftArm.y")] for clip in (base, clips[0])]
    assert np.corrcoef(*swing)[0, 1] > 0.9
    assert upper_body(model, base, np.random.default_rng(0), joints=("trunk",)).name == "take.0_variant"


def test_models_that_go_with_given_joints() -> None:
    model = learn(make_takes(), replace(SMALL, given=("lower", "trunk")))
    assert (model.transition.counts[model.dofs.columns(("lower", "trunk"))] == 0).all()
    base = make_takes(1, seed=8)[0]
    clip = sample(model, np.random.default_rng(0), keep=KeptJoints(base, ()))
    np.testing.assert_array_equal(clip.root_positions, base.root_positions)
    assert rotations.angle_between(clip.rotations[:, 2], base.rotations[:, 2]).max() > 0.01
    for refused in (sample, stream):
        with pytest.raises(VariationError, match="the model never generates lower, trunk"):
            refused(model, np.random.default_rng(0))


def test_what_cannot_be_kept() -> None:
    model, base = small_model(), make_takes(1)[0]
    with pytest.raises(VariationError, match="leaves nothing to generate"):
        sample(model, np.random.default_rng(0), keep=KeptJoints(base, ("lower", "trunk", "left_arm", "right_arm")))
    with pytest.raises(VariationError, match="leaves all to generate"):
        sample(model, np.random.default_rng(0), keep=KeptJoints(base, ("Antenna",)))
    with pytest.raises(VariationError, match="60 Hz, the model 30 Hz; resample"):
        sample(model, np.random.default_rng(0), keep=KeptJoints(resample(base, 60.0), ("lower",)))


def test_a_single_take_is_varied_with_what_was_learnt_of_others() -> None:
    model = small_model(False)
    base = make_takes(1, cyclic=False, seed=21)[0]
    single = model.with_takes([base])
    rows = single.scaled(base)
    variants = [single.scaled(clip) for clip in sample_many(single, np.random.default_rng(0), 16, frames=28)]
    others = [model.scaled(clip) for clip in sample_many(model, np.random.default_rng(0), 16, frames=28)]
    assert 0.6 < np.std(variants, axis=0).mean() / np.std(others, axis=0).mean() < 1.6
    near = np.mean(variants, axis=0) - rows[:28]
    assert np.sqrt((near**2).mean()) < 0.5
    with pytest.raises(VariationError, match="no take to vary"):
        model.with_takes([])


def test_streams_go_on_without_drifting_or_freezing() -> None:
    model = small_model()
    values, phases = Stream(model, np.random.default_rng(0)).next(round(120 * model.dofs.fps))
    cycles, lengths = warped_cycles(model, values, phases)
    takes = np.array(model.lengths) - 1
    assert abs(lengths.mean() - takes.mean()) < 1.0
    assert lengths.std() < 3.0 * takes.std(ddof=1) + 0.5
    early, late = cycles[:20], cycles[-20:]
    assert 0.6 < late.std(axis=0).mean() / early.std(axis=0).mean() < 1.6
    bias = np.sqrt(((late.mean(axis=0) - warped_takes(model).mean(axis=0)) ** 2).mean())
    assert bias < warped_takes(model).std(axis=0).mean()
    apart = np.sqrt(((cycles[:-1] - cycles[1:]) ** 2).mean(axis=(1, 2)))
    assert apart.min() > 1e-3  # no cycle is the one before


def test_streams_are_the_same_however_they_are_cut() -> None:
    model = small_model()
    whole = stream_clip(model, np.random.default_rng(7), 2.0)
    for chunk in (1, 7):
        frames = list(islice(stream(model, np.random.default_rng(7), chunk=chunk), len(whole)))
        local = np.array([frame.rotations for frame in frames])
        assert rotations.angle_between(local, whole.rotations).max() < 1e-3
        np.testing.assert_allclose([frame.root_position for frame in frames], whole.root_positions, atol=1e-3)
        assert all(0.0 <= frame.phase <= 1.0 for frame in frames)


def test_only_cycles_can_be_streamed() -> None:
    with pytest.raises(VariationError, match="does not repeat, so it cannot be streamed"):
        stream(small_model(False), np.random.default_rng(0))
