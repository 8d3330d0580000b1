"""Learning, what it refuses, and models on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.archives import write_archive
from gaitway.core.errors import FormatError, VariationError
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample, slice_frames
from gaitway.variation.inputs.training_takes import VariationWarning, check_takes
from gaitway.variation.learning.calibration import roughness, warped_takes, warped_variants
from gaitway.variation.learning.learn import LearnOptions, learn
from gaitway.variation.network import storage
from gaitway.variation.network.model import VariationModel, log_likelihood
from gaitway.variation.network.storage import load_model, save_model
from gaitway.variation.network.transition import TransitionSearch
from gaitway.variation.sampling.synthesis import sample
from variation_takes import SMALL, make_take, make_takes, small_model


def test_fewer_than_two_takes_are_refused_and_fewer_than_four_warned_of() -> None:
    with pytest.raises(VariationError, match=r"1 take\(s\): .* model.with_takes"):
        learn(make_takes(1), SMALL)
    with pytest.raises(VariationError, match=r"0 take\(s\)"):
        learn([], SMALL)
    with pytest.warns(VariationWarning, match=r"3 takes: .* give more takes"):
        learn(make_takes(3), SMALL)


def test_takes_must_share_a_skeleton_and_a_rate() -> None:
    takes = make_takes(4)
    other = load_cast("person", behaviors=["wave"]).clips["wave"]
    with pytest.raises(VariationError, match=r"'wave' is on skeleton .* retarget all takes"):
        learn([*takes, other], SMALL)
    with pytest.raises(VariationError, match=r"has 60 Hz, 'take.0' 30 Hz; resample"):
        learn([*takes, resample(takes[0], 60.0)], SMALL)


def test_short_clips_and_other_motions_are_refused() -> None:
    takes = make_takes(5)
    with pytest.raises(VariationError, match=r"'take.0' has 2 frames; at least 8"):
        learn([*takes[1:], slice_frames(takes[0], 0, 2)], SMALL)
    rng = np.random.default_rng(0)
    with pytest.raises(VariationError, match=r"'long' .* times as long as .* cut them alike"):
        learn([*takes, make_take(0.0, 80, True, "long", rng)], SMALL)
    with pytest.raises(VariationError, match=r"'bump' is of another motion than the other 5.*leave it out"):
        learn([*takes, make_take(2.0, 31, False, "bump", rng)], SMALL)


def test_takes_of_two_motions_are_refused() -> None:
    waves, cheers = (list(load_cast("person", takes=2, behaviors=[name]).clips.values()) for name in ("wave", "cheer"))
    with pytest.raises(
        VariationError, match=r"two motions: 'wave', 'wave.1'; and 'cheer', 'cheer.1'; learn each alone"
    ):
        learn([*waves, *(replace(clip, skeleton=waves[0].skeleton) for clip in cheers)], SMALL)


def test_constant_takes_are_refused() -> None:
    still = make_takes(1)[0]
    clip = Clip(still.skeleton, np.ones((20, 3)), rotations.identity(20, len(still.skeleton)), 30.0, "still")
    with pytest.raises(VariationError, match=r"nothing moves in the takes of 'still'"):
        learn([clip] * 4, SMALL)


def test_values_that_are_not_finite_are_refused() -> None:
    takes = make_takes(4)
    broken = takes[2]
    roots = np.array(broken.root_positions)
    roots[5, 1] = np.nan
    object.__setattr__(broken, "root_positions", roots)  # no clip lets itself be made so
    with pytest.raises(VariationError, match=r"'take.2' has a root position in frame 5 that is not finite"):
        check_takes(takes)


def test_takes_that_do_not_vary_can_be_learnt() -> None:
    take = make_takes(1)[0]
    model = learn([take] * 4, SMALL)
    variant = sample(model, np.random.default_rng(0))
    assert np.isfinite(variant.root_positions).all()
    assert abs(len(variant) - len(take)) <= 1


def test_cycles_are_known_and_can_be_asked_for() -> None:
    assert small_model(True).cyclic
    assert not small_model(False).cyclic
    assert not learn(make_takes(4), replace(SMALL, cyclic=False)).cyclic
    assert learn(make_takes(4, cyclic=False), replace(SMALL, cyclic=True)).cyclic


def same(a: VariationModel, b: VariationModel) -> bool:
    return (
        np.array_equal(a.transition.edges(2 * len(a.dofs)), b.transition.edges(2 * len(b.dofs)))
        and np.array_equal(a.variation.table, b.variation.table)
        and np.array_equal(a.variation.gains, b.variation.gains)
        and a.score == b.score
    )


def test_learning_is_the_same_every_time_and_with_every_number_of_threads() -> None:
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert same(learn(make_takes(), SMALL), small_model())
    finally:
        numba.set_num_threads(before)
    assert same(learn(make_takes(), SMALL), small_model())


def test_variants_spread_as_the_takes_do_and_are_no_rougher() -> None:
    model = small_model(False)
    values, lengths = warped_variants(model, 64, np.random.default_rng(5))
    takes = warped_takes(model)
    spread = [np.sqrt(v.var(axis=0, ddof=1).mean(axis=0)) for v in (values, takes)]
    assert 0.75 < np.median(spread[0] / spread[1]) < 1.3
    assert 0.4 < lengths.std() / np.std(model.lengths, ddof=1) < 1.8
    columns = [model.dofs.names.index(name) for name in ("LeftArm.y", "RightArm.y")]
    left, right = ((values - values.mean(axis=0))[:, :, c].ravel() for c in columns)
    assert np.corrcoef(left, right)[0, 1] < -0.6  # as in the takes: both arms swing more, in opposite senses
    variants = [model.scaled(sample(model, np.random.default_rng(k))) for k in range(12)]
    # takes made of sines are smoother than anybody
    assert np.median(roughness(variants) / roughness(model.takes)) < 2.5


def test_likelihood_tells_takes_from_another_motion() -> None:
    model = small_model(False)
    like, other = make_takes(1, cyclic=False, seed=9)[0], make_takes(1, cyclic=True, seed=9)[0]
    for propagated in (False, True):
        assert log_likelihood(model, like, propagated).mean() > log_likelihood(model, other, propagated).mean()
    assert log_likelihood(model, like).shape == (len(like),)
    with pytest.raises(VariationError, match=r"needs at least 3"):
        log_likelihood(model, slice_frames(like, 0, 2))


def test_the_thesis_as_written_can_be_learnt() -> None:
    options = LearnOptions.thesis()
    model = learn(make_takes(), replace(options, search=replace(options.search, rounds=3)))
    assert model.dofs.mode == "euler"
    assert model.rows.phase_weight == 0.0
    variant = sample(model, np.random.default_rng(0), frames=40)
    assert len(variant) == 40
    assert sample(model, np.random.default_rng(0)).duration == pytest.approx(np.median(model.lengths) / 30.0, abs=0.1)


def test_models_come_back_from_disk(tmp_path: Path) -> None:
    model = small_model()
    save_model(model, tmp_path / "model.gwvary")
    again = load_model(tmp_path / "model.gwvary")
    assert again.options == model.options
    a, b = (sample(m, np.random.default_rng(4)) for m in (model, again))
    np.testing.assert_array_equal(a.rotations, b.rotations)
    np.testing.assert_array_equal(a.contacts, b.contacts)
    save_model(again, tmp_path / "again.gwvary")
    assert (tmp_path / "again.gwvary").read_bytes() == (tmp_path / "model.gwvary").read_bytes()


def test_damaged_models_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.gwvary"
    save_model(small_model(), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"is not a variation, or is damaged"):
        load_model(path)
    model = small_model()
    broken = replace(model, centre=model.centre[:-1])
    save_model(broken, path)
    with pytest.raises(FormatError, match=r"does not hold together.*degrees of freedom"):
        load_model(path)


@pytest.mark.parametrize("network", ["transition", "prior"])
@pytest.mark.parametrize(
    ("part", "value"), [("parents", "2n"), ("parents", 10**9), ("parents", -1), ("counts", 10**6), ("counts", -1)]
)
def test_parents_that_there_are_not_are_refused(tmp_path: Path, network: str, part: str, value: int | str) -> None:
    """With a right checksum too: kernels look parents up without asking."""
    model, path = small_model(), tmp_path / "model.gwvary"
    header, arrays = storage.pack_model(model)
    wrong = arrays[f"{network}.{part}"].copy()
    wrong.reshape(-1)[0] = 2 * len(model.dofs) if value == "2n" else value
    write_archive(path, storage.FORMAT, header, {**arrays, f"{network}.{part}": wrong})
    with pytest.raises(FormatError, match="does not hold together"):
        load_model(path)


def test_models_of_another_version_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, ours = tmp_path / "model.gwvary", storage.FORMAT
    for version, said in (
        (1, r"version 1, which tells too little; learn the model anew"),
        (99, r"version 99 .* update"),
    ):
        monkeypatch.setattr(storage, "FORMAT", replace(ours, version=version))
        save_model(small_model(), path)
        monkeypatch.setattr(storage, "FORMAT", ours)
        with pytest.raises(FormatError, match=said):
            load_model(path)


def test_files_with_an_older_name_of_an_option_are_read() -> None:
    model = small_model()
    header, arrays = storage.pack_model(model)
    kernel = dict(header["options"]["kernel"])
    kernel["clock"] = kernel.pop("phase_scale")
    header["options"] = header["options"] | {"kernel": kernel}
    assert storage.unpack_model(header, arrays).options == model.options


def test_progress_goes_up_to_the_end() -> None:
    told: list[int] = []
    totals: set[int | None] = set()

    def report(what: str, done: int, total: int | None) -> None:
        told.append(done)
        totals.add(total)

    learn(make_takes(4), replace(SMALL, search=TransitionSearch(rounds=1)), report)
    assert totals == {told[-1]}
    assert told == sorted(told)
