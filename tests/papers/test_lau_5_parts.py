"""Trials of two samples and streams of chapter 5: what they count, and what they claim."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gaitway.papers.lau_5_sampling import OURS, stream_claims
from gaitway.papers.lau_5_sets import Study
from gaitway.papers.lau_5_two_sample import (
    COUNTS,
    NOISES,
    TrialResult,
    Verdicts,
    _drawn,
    two_sample_claims,
    two_sample_rows,
)


@given(st.integers(4, 40), st.integers(1, 12), st.integers(0, 1000))
def test_a_trial_draws_one_clip_of_each_model(available: int, models: int, seed: int) -> None:
    models = min(models, available)
    count = min(4, models)
    chosen = _drawn(available, models, count, np.random.default_rng(seed))
    assert len(set((chosen % models).tolist())) == count
    assert 0 <= chosen.min() <= chosen.max() < available


def study() -> Study:
    return Study("wave", None, (), (), {})  # type: ignore[arg-type]


def found(share: float) -> TrialResult:
    return TrialResult(share, 0.5, 0.5, ())


def results(noise: tuple[float, float, float], variants: tuple[float, float, float]) -> Verdicts:
    out: Verdicts = {("variants", n): found(share) for n, share in zip(COUNTS, variants, strict=True)}
    for name in NOISES:
        out |= {(name, n): found(share) for n, share in zip(COUNTS, noise, strict=True)}
    return out


def test_variants_are_judged_where_noise_first_differs() -> None:
    first, second = two_sample_claims(study(), results((0.2, 0.9, 1.0), (0.0, 0.1, 0.6)), quick=False)
    assert first.holds and "with 8 clips or more" in first.words
    assert second.holds and "8 variants do not (10% of trials)" in second.words
    _, worse = two_sample_claims(study(), results((0.9, 0.9, 1.0), (0.5, 0.1, 0.0)), quick=False)
    assert not worse.holds
    (alone,) = two_sample_claims(study(), results((0.0, 0.2, 0.5), (0.0, 0.0, 0.0)), quick=False)
    assert not alone.holds


def test_rows_have_a_column_for_every_number_of_clips() -> None:
    rows = two_sample_rows(study(), results((0.2, 0.9, 1.0), (0.0, 0.1, 0.6)))
    assert [row["clips"] for row in rows] == ["variants", *NOISES]
    assert rows[0]["differ, n=8"] == "10%" and rows[0]["by"] == "nothing"
    some = {key: value for key, value in results((0.2, 0.9, 1.0), (0.0, 0.1, 0.6)).items() if key[1] == 4}
    assert two_sample_rows(study(), some)[0]["differ, n=12"] == ""


def test_a_stream_that_freezes_or_dies_is_not_claimed() -> None:
    good = {"motion": "walk", "way": OURS, "cycles": 108, "expected": 110, "swing": 0.97}
    for change, holds in (({}, True), ({"cycles": 30}, False), ({"swing": 0.5}, False), ({"cycles": 150}, False)):
        (claim,) = stream_claims([{**good, **change}])
        assert claim.holds is holds
    assert stream_claims([{**good, "way": "as it is written", "cycles": 3}]) == []
