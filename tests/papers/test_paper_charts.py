"""Charts: ticks around all numbers, colours that tell series apart, lines where the numbers are."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.errors import GaitwayError
from gaitway.papers.charts import Chart, Series, _colors, _decades, _steps, draw_chart


def chart(*series: Series, **options: object) -> Chart:
    return Chart("name", "Title", ("a", "b", "c"), "across", "up", series, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [(3.0, 97.9), (0.2, 0.3), (104.0, 99.0), (-3.0, 5.0), (7.0,), (93.1, 97.9)])
@pytest.mark.parametrize("zoomed", [False, True])
def test_steps(values: tuple[float, ...], zoomed: bool) -> None:
    ticks = _steps(values, zoomed)
    assert ticks[0] <= min(values)
    assert ticks[-1] >= max(values)
    assert 2 <= len(ticks) <= 8
    assert zoomed or 0.0 in ticks


def test_decades() -> None:
    assert _decades((0.4, 250.0)) == pytest.approx((0.1, 1.0, 10.0, 100.0, 1000.0))
    assert _decades((1.0,)) == pytest.approx((1.0, 10.0))


def test_colors() -> None:
    names = _colors([Series("a", ()), Series("b", (), dashed=True), Series("c", ())])
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize("options", [{}, {"log": True}, {"bars": True}, {"log": True, "bars": True}, {"zoomed": True}])
def test_pictures(options: dict[str, bool]) -> None:
    first, second = Series("first", (1.0, 20.0, None)), Series("thesis", (5.0, None, 80.0), dashed=True)
    one, both = (np.asarray(draw_chart(chart(*series, **options))) for series in ((first,), (first, second)))
    assert one.shape == both.shape
    assert (one != both).any()


def test_higher_numbers_stand_higher() -> None:
    """The dots of a rising line rise."""
    picture = np.asarray(draw_chart(chart(Series("line", (10.0, 50.0, 90.0))))).astype(int)
    red = (picture[..., 0] - picture[..., 2] > 60) & (np.indices(picture.shape[:2])[1] < 900)
    columns = np.flatnonzero(red.any(axis=0))
    heights = [
        np.flatnonzero(red[:, column]).mean() for column in (columns[3], columns[len(columns) // 2], columns[-4])
    ]
    assert heights[0] > heights[1] > heights[2]


def test_nothing_to_draw() -> None:
    with pytest.raises(GaitwayError, match="no number"):
        draw_chart(chart(Series("none", (None, None, None))))
