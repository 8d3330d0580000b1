"""Pictures of variation: every take and curve is in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import GaitwayError
from gaitway.motion import Clip
from gaitway.render.sheets.variation_picture import Curves, TakeGroup, curves_picture, overlay_picture


@pytest.fixture(scope="module")
def takes() -> list[Clip]:
    return list(load_cast("person", seed=1, takes=4, behaviors=["wave"]).clips.values())


def inked(picture: Image.Image, color: tuple[int, int, int]) -> int:
    """Pixels of about a colour."""
    away = np.abs(np.asarray(picture.convert("RGB")).astype(int) - color).max(axis=-1)
    return int((away < 40).sum())


def test_groups_are_rows_of_poses(takes: list[Clip], tmp_path: Path) -> None:
    path = tmp_path / "over.png"
    groups = [TakeGroup("one", takes[:1], "#ff0000"), TakeGroup("three", takes[1:], "#0000ff")]
    picture = overlay_picture(groups, path, title="waves", moments=5, row_height=120)
    with Image.open(path) as kept:
        assert kept.size == picture.size
    upper, lower = picture.crop((0, 0, picture.width, 190)), picture.crop((0, 200, picture.width, picture.height))
    assert inked(upper, (255, 0, 0)) > 200
    assert inked(upper, (0, 0, 255)) == 0
    assert inked(lower, (0, 0, 255)) > 200
    # takes differ in the middle and not at the ends, where all stand alike
    own = overlay_picture([TakeGroup("three", takes[1:])], moments=3, row_height=160)
    assert len(own.getcolors(1 << 20) or []) > 50


def test_curves_are_drawn_in_their_colours() -> None:
    x = np.linspace(0.0, 6.0, 50)
    wave = np.column_stack([x, np.sin(x)])
    panel = Curves("sine", "time", "", [("#00aa00", [wave]), ("#ff0000", [wave + np.array([0.0, 0.5])])])
    picture = curves_picture([panel] * 4, columns=2, keys=[("sines", "#00aa00")], panel=(220, 180))
    assert picture.width == 2 * 220 + 22
    assert inked(picture, (0, 170, 0)) > 100
    assert inked(picture, (255, 0, 0)) > 100


def test_nothing_to_draw_is_refused(takes: list[Clip]) -> None:
    with pytest.raises(GaitwayError, match="one clip or more"):
        overlay_picture([TakeGroup("none", [])])
    with pytest.raises(GaitwayError, match="one panel or more"):
        curves_picture([])
