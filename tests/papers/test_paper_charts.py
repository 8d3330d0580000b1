"""Charts: colours that tell series apart, lines where the numbers are, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gaitway.core.errors import GaitwayError, MissingExtraError
from gaitway.papers.charts import Chart, Series, _colors, draw_chart
from gaitway.papers.tables import PaperTable


def chart(*series: Series, **options: object) -> Chart:
    return Chart(name="name", title="Title", places=("a", "b", "c"), across="across", up="up", series=series, **options)  # type: ignore[arg-type]


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


def test_without_matplotlib_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"gaitway\[plot\]"):
        draw_chart(chart(Series("line", (1.0, 2.0, 3.0))))


def test_parts_of_a_table_are_its_rows_in_order() -> None:
    rows = tuple({"row": number} for number in range(6))
    table = PaperTable("all", rows, parts=(("first", 2), ("second", 1), ("third", 3)))
    assert [(title, [row["row"] for row in part]) for title, part in table.sections] == [
        ("first", [0, 1]), ("second", [2]), ("third", [3, 4, 5]),
    ]  # fmt: skip
    ((title, every),) = PaperTable("all", rows).sections
    assert title == "all" and len(every) == 6
