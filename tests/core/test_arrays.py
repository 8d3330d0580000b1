from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.arrays import owned, ranges
from gaitway.core.errors import ClipError, FormatError, GaitwayError, MissingExtraError


def test_owned_copies_and_freezes() -> None:
    source = np.zeros((2, 3))
    mine = owned(source, "offsets", (None, 3))
    source[0, 0] = 7.0
    assert mine[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        mine[0, 0] = 1.0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((2, 4)), r"offsets has shape \(2, 4\), expected \(any, 3\)"),
        (np.zeros(3), r"offsets has shape \(3,\), expected \(any, 3\)"),
        ([[0.0, np.nan, 0.0]], r"offsets has a value that is not finite at index \(0, 1\)"),
        ([[0.0, 0.0, -np.inf]], r"not finite at index \(0, 2\)"),
        ([["a", "b", "c"]], "offsets must be an array of float64"),
    ],
)
def test_owned_refuses(value: object, message: str) -> None:
    with pytest.raises(ClipError, match=message):
        owned(value, "offsets", (None, 3), error=ClipError)  # type: ignore[arg-type]


def test_format_error_names_file_and_line() -> None:
    assert str(FormatError("walk.bvh", "expected 69 values, got 66", 118)) == "walk.bvh:118: expected 69 values, got 66"
    assert str(FormatError("walk.bvh", "is empty")) == "walk.bvh: is empty"


def test_missing_extra_says_what_to_install() -> None:
    problem = MissingExtraError("writing MP4", "video")
    assert isinstance(problem, GaitwayError)
    assert "pip install 'gaitway[video]'" in str(problem)


def test_ranges_follow_one_another() -> None:
    assert ranges(np.array([3, 7, 7, 0]), np.array([5, 7, 10, 1])).tolist() == [3, 4, 7, 8, 9, 0]
    assert ranges(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
