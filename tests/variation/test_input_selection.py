"""Takes that do not go with the others are left out, the least likely first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gaitway.core.errors import VariationError
from gaitway.motion import Clip, Skeleton
from gaitway.variation.inputs.input_selection import judge_held_out, leave_out, threshold_of


def take(name: str, level: float) -> Clip:
    skeleton = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)))
    roots = np.full((4, 3), level)
    return Clip(skeleton, roots, np.tile([1.0, 0.0, 0.0, 0.0], (4, 1, 1)), 30.0, name)


def height_judge(others: Sequence[Clip], judged: Sequence[Clip]) -> list[float]:
    """A stand-in for a network: takes are unlikely by how far they are from the mean height of the others."""
    mean = np.mean([clip.root_positions[0, 2] for clip in others])
    return [-abs(float(clip.root_positions[0, 2] - mean)) for clip in judged]


def test_every_take_is_judged_once_a_partition_without_itself() -> None:
    takes, seen = [take(str(k), float(k)) for k in range(7)], list[str]()

    def judge(others: Sequence[Clip], judged: Sequence[Clip]) -> list[float]:
        assert not {clip.name for clip in others} & {clip.name for clip in judged}
        assert len(others) == 5
        seen.extend(clip.name for clip in judged)
        return [float(clip.name) for clip in judged]

    found = judge_held_out(takes, judge, np.random.default_rng(0), partitions=3)
    assert found.tolist() == [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]] * 3
    assert set(seen) == {str(k) for k in range(7)}
    assert len(seen) == 3 * 8  # with an odd number one take fills up the last pair


def test_those_that_do_not_fit_are_left_out_worst_first() -> None:
    takes = [take(f"good {k}", 0.02 * k) for k in range(6)] + [take("odd", 3.0), take("odder", 9.0)]
    selection = leave_out(takes, -0.5, height_judge, np.random.default_rng(1))
    assert [clip.name for clip in selection.kept] == [f"good {k}" for k in range(6)]
    assert [one.clip.name for one in selection.left] == ["odder", "odd"]
    assert min(selection.likelihoods) >= selection.threshold


def test_all_are_left_out_where_none_reaches_the_threshold() -> None:
    takes = [take(str(k), float(2**k)) for k in range(6)]
    selection = leave_out(takes, -1e-3, height_judge, np.random.default_rng(2))
    assert selection.kept == ()
    assert len(selection.left) == 6


def test_kin_are_left_out_together() -> None:
    takes = [take(f"{k // 2} cycle {k % 2}", float(k)) for k in range(8)]

    def judge(others: Sequence[Clip], judged: Sequence[Clip]) -> list[float]:
        assert len({clip.name[0] for clip in judged}) == 1
        assert judged[0].name[0] not in {clip.name[0] for clip in others}
        return [0.0] * len(judged)

    assert judge_held_out(takes, judge, np.random.default_rng(0), 1, source_of=lambda clip: clip.name[0]).shape == (
        1,
        8,
    )


def test_threshold_is_the_tenth_percentile() -> None:
    assert threshold_of(np.arange(101.0).reshape(1, -1)) == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("count", "judge", "said"),
    [
        (3, height_judge, "4 or more"),
        (6, lambda others, judged: [np.nan] * len(judged), "no finite likelihood"),
    ],
)
def test_bad_takes_are_refused(count: int, judge: object, said: str) -> None:
    takes = [take(str(k), 0.0) for k in range(count)]
    with pytest.raises(VariationError, match=said):
        judge_held_out(takes, judge, np.random.default_rng(0))  # type: ignore[arg-type]
