"""What was learnt once is not learnt again, and is the same; what there was to say about it is said again."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from gaitway.variation.learning import model_cache
from gaitway.variation.learning.model_cache import learn_cached
from gaitway.variation.network.model import LearnOptions
from gaitway.variation.sampling.synthesis import sample
from variation_takes import SMALL, make_takes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GAITWAY_CACHE", str(tmp_path))
    monkeypatch.setattr("gaitway.core.cache.WORTH_KEEPING", 0.0)
    monkeypatch.setattr("gaitway.core.sources._BEGAN", np.inf)  # files may be edited while tests run
    return tmp_path


def never(*_: object) -> NoReturn:
    raise AssertionError("learnt again")


def test_a_model_comes_from_disk_the_same_to_the_last_bit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    takes = make_takes(4)
    first = learn_cached(takes, SMALL)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(model_cache, "learn", never)
    again = learn_cached(make_takes(4), SMALL)
    one, other = (sample(found.model, np.random.default_rng(3)) for found in (first, again))
    assert np.array_equal(one.rotations, other.rotations)
    assert np.array_equal(one.root_positions, other.root_positions)


def test_variants_are_on_the_very_skeleton_of_the_takes(folder: Path) -> None:
    learn_cached(make_takes(4), SMALL)
    takes = make_takes(4)
    assert learn_cached(takes, SMALL).model.dofs.skeleton is takes[0].skeleton


def test_other_takes_and_other_options_are_learnt_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn_cached(make_takes(4), SMALL)
    monkeypatch.setattr(model_cache, "learn", never)
    for takes, options in ((make_takes(4, seed=9), SMALL), (make_takes(4), LearnOptions())):
        with pytest.raises(AssertionError, match="learnt again"):
            learn_cached(takes, options)


def test_warnings_are_kept_with_the_model(folder: Path) -> None:
    for _ in range(2):
        (note,) = learn_cached(make_takes(3), SMALL).notes
        assert note.startswith("3 takes")
