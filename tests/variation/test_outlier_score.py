"""Takes are judged by what is seen of them; odd ones are found among good ones, by one scale for all sets."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import VariationError
from gaitway.motion import Clip, slice_frames
from gaitway.papers.lau_5_selection import higher_arms, known_answers, noisy, slower, turning
from gaitway.variation.inputs.cycles import capture_of, captured_cycles
from gaitway.variation.inputs.input_selection import SelectionMeasure, select_takes
from gaitway.variation.inputs.outlier_score import ASPECTS, OutlierScale, differences
from shared_data import MOCAP, needs_mocap

SOME = arrays(np.float64, (6, len(ASPECTS)), elements=st.floats(-2.0, 2.0))


@cache
def walks(count: int, seed: int, style: str | None = None) -> tuple[Clip, ...]:
    return tuple(load_cast("person", seed=seed, takes=count, style=style, behaviors=["walk_forward"]).clips.values())


@cache
def measure() -> SelectionMeasure:
    return SelectionMeasure.of([walks(8, 1), walks(8, 2)])


def aspect(takes: list[Clip], name: str) -> float:
    """Of the last take, by the others."""
    return float(differences(takes[:-1], takes[-1:])[0, ASPECTS.index(name)])


def test_each_aspect_answers_to_what_it_is_called_by() -> None:
    good = list(walks(7, 3))
    few = np.sqrt(len(good) / (len(good) + 1.0))
    take = walks(8, 2)[0]
    plain = dict(zip(ASPECTS, differences(good, [take])[0], strict=True))
    assert aspect([*good, turning(take, 0.3)], "turn") - plain["turn"] == pytest.approx(0.3 * few, abs=1e-9)
    assert aspect([*good, slower(take, 1.25)], "pace") - plain["pace"] == pytest.approx(few * np.log(1.25), abs=0.03)
    assert aspect([*good, slower(take, 1.25)], "speed") < plain["speed"] - 0.2
    higher = [*good, higher_arms(take)]
    assert aspect(higher, "swing") - plain["swing"] == pytest.approx(few * np.log(1.5), abs=0.12)
    assert aspect(higher, "left_arm") > plain["left_arm"]
    assert aspect(higher, "lower") == pytest.approx(plain["lower"], rel=0.25)
    rough = noisy([*good, take], len(good), np.random.default_rng(0))
    assert aspect([*good, rough], "roughness") > plain["roughness"] + 0.2


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["arms", "turn", "slow", "noise", "other"])
@pytest.mark.parametrize("held", [True, False])
def test_odd_takes_are_left_out_of_good_ones(odd: str, held: bool) -> None:
    good = list(walks(7, 5))
    odd_takes = {
        "arms": lambda: higher_arms(good[0], 1.8),
        "turn": lambda: turning(good[1]),
        "slow": lambda: slower(good[2]),
        "noise": lambda: noisy(good, 3, np.random.default_rng(0)),
        "other": lambda: replace(walks(1, 1, "style-3")[0], skeleton=good[0].skeleton),
    }
    one = odd_takes[odd]()
    selection = select_takes([*good, one], measure() if held else None)
    assert selection.left[0].clip is one  # the first to go
    assert len(selection.left) <= 3
    assert min(selection.likelihoods) >= selection.threshold


def test_several_odd_takes_do_not_hide_one_another() -> None:
    good = list(walks(6, 5))
    selection = select_takes([*good, turning(good[0]), slower(good[1])], measure())
    assert {one.clip.name for one in selection.left} >= {f"{good[0].name}, turning", f"{good[1].name}, slower"}
    assert len(selection.kept) >= 4


def test_a_loose_set_is_not_measured_by_itself() -> None:
    good = walks(8, 6)
    loose = [turning(take, angle) for take, angle in zip(good, np.linspace(-0.6, 0.6, 8), strict=True)]
    assert len(select_takes(loose).kept) >= 7  # by itself it is as it always is
    assert len(select_takes(loose, measure()).kept) <= 5


def test_a_tenth_of_what_is_known_lies_below_the_threshold() -> None:
    known = measure().known
    assert known.shape == (16,)
    assert np.mean(known < measure().threshold) == pytest.approx(0.1, abs=0.05)
    alone = SelectionMeasure.of([walks(8, 1)])
    takes = list(walks(8, 1))
    found = [differences([*takes[:k], *takes[k + 1 :]], takes[k : k + 1]) for k in range(8)]
    inside = alone.scale.log_likelihood(np.concatenate(found))
    assert np.abs(alone.known - inside).max() > 0.1  # nothing is measured by a scale that it has a part in


@given(SOME, st.floats(1.01, 3.0))
def test_what_differs_more_is_less_likely(found: np.ndarray, factor: float) -> None:
    scale = OutlierScale.of_known([found])
    assert (scale.log_likelihood(factor * found) <= scale.log_likelihood(found)).all()
    assert (scale.log_likelihood(found) <= 0.0).all()
    assert (OutlierScale.of_known([factor * found]).deviations >= scale.deviations).all()


@given(SOME, st.floats(0.1, 10.0))
def test_looser_people_are_allowed_half_as_much_again(found: np.ndarray, factor: float) -> None:
    scale = OutlierScale.of_known([found])
    allowed = scale.allowing(OutlierScale(factor * scale.deviations))
    assert np.allclose(allowed.deviations, np.clip(factor, 1.0, 1.5) * scale.deviations)


@given(SOME)
def test_one_wild_take_does_not_stretch_the_scale_of_most(found: np.ndarray) -> None:
    wild = np.concatenate([found, [np.full(len(ASPECTS), 1e3)]])
    twice = np.concatenate([found, [np.full(len(ASPECTS), 1e6)]])
    assert np.array_equal(OutlierScale.of_most(wild).deviations, OutlierScale.of_most(twice).deviations)


def test_what_cannot_be_judged_is_refused() -> None:
    good = list(walks(4, 5))
    with pytest.raises(VariationError, match="at least 4"):
        differences(good, [slice_frames(good[0], 0, 3)])
    with pytest.raises(VariationError, match="2 or more"):
        differences(good[:1], good[1:])
    horse = next(iter(load_cast("horse").clips.values()))
    with pytest.raises(VariationError, match="retarget"):
        differences(good, [horse])
    with pytest.raises(VariationError, match="nothing moves"):
        still = [replace(slice_frames(take, 0, 1), contacts=None) for take in good[:1]]
        frozen = [replace(good[0], root_positions=np.repeat(one.root_positions, 5, 0),
                          rotations=np.repeat(one.rotations, 5, 0), contacts=None) for one in still * 4]  # fmt: skip
        differences(frozen[:3], frozen[3:])
    with pytest.raises(VariationError, match="no set of takes"):
        SelectionMeasure.of([])


@pytest.mark.slow
def test_table_of_known_answers() -> None:
    rows, notes = known_answers(1, 0, lambda what, done, total: None)
    assert rows[0]["odd take"] == "none"
    assert {row["left out"] for row in rows if row["odd take"].startswith(("turning", "25"))} == {"1.00"}
    assert "a tenth" in notes[0]


@pytest.mark.slow
@needs_mocap
def test_cycles_of_a_take_that_turns_round_do_not_go_with_straight_ones() -> None:
    known = captured_cycles(sorted((MOCAP / "bvh").glob("35_0[1-4].bvh")))
    cycles = captured_cycles([MOCAP / "bvh" / f"39_{number}.bvh" for number in ("01", "02", "11")])
    selection = select_takes(cycles, SelectionMeasure.of([known], source_of=capture_of), source_of=capture_of)
    assert [capture_of(clip) for clip in selection.kept] == ["39_01"] * 2 + [
        "39_02"
    ] * 3  # five of eight, as the thesis
    assert {capture_of(one.clip) for one in selection.left} == {"39_11"}
