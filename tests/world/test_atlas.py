"""Atlases: sheets side by side in one plane, and the way from there to the place and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import WorldError
from gaitway.world.levels.atlas import Atlas
from gaitway.world.levels.sheets import WalkableSurface
from level_places import PERSON, bridge, winding


@pytest.fixture(scope="module", params=["bridge", "winding"])
def atlas(request: pytest.FixtureRequest) -> Atlas:
    place = bridge() if request.param == "bridge" else winding(2.5, 2.6)
    return Atlas.of(WalkableSurface.of(place, PERSON, cell=0.1))


def test_every_sheet_is_there_once_and_apart(atlas: Atlas) -> None:
    for sheet in atlas.surface.sheets:
        rows, columns = np.nonzero(atlas.sheets == sheet.number)
        assert len(rows) == int((sheet.spans >= 0).sum())
        other = (atlas.sheets >= 0) & (atlas.sheets != sheet.number)
        around = other[max(rows.min() - 9, 0) : rows.max() + 10, max(columns.min() - 9, 0) : columns.max() + 10]
        assert not around.any()
    assert (atlas.offsets[0] == 0.0).all(), "the first sheet stays where it is"


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_to_the_place_and_back(atlas: Atlas, data: st.DataObject) -> None:
    owned = np.flatnonzero(atlas.surface.owners >= 0)
    span = int(owned[data.draw(st.integers(0, len(owned) - 1))])
    point = atlas.surface.open.points(span)
    flat = atlas.from_world(point)
    assert flat is not None
    assert np.allclose(atlas.to_world(flat)[:2], point[:2], atol=1e-9)
    assert atlas.to_world(flat)[2] == pytest.approx(point[2], abs=0.06)
    assert atlas.sheet_at(flat) == atlas.surface.owners[span]
    assert np.array_equal(atlas.homeward(flat), flat), "who is in a core stays"
    aliases = dict(atlas.aliases(flat))
    assert np.allclose(aliases[int(atlas.surface.owners[span])], flat)
    for where in aliases.values():
        assert np.allclose(atlas.homeward(where), flat, atol=1e-9), "all margins lead to the same core"
        assert np.allclose(atlas.to_world(where)[:2], point[:2], atol=1e-9)


def test_a_sheet_knows_the_ground_around_its_core(atlas: Atlas) -> None:
    spans = atlas.surface.open
    for sheet in atlas.surface.sheets:
        known = set(sheet.spans[sheet.spans >= 0].tolist())
        core = sheet.spans[sheet.core]
        for span in core[:: max(len(core) // 40, 1)].tolist():
            around, edge = {span}, [span]
            for _ in range(round(2.0 / spans.spec.cell)):  # as far as a long stride
                edge = [n for s in edge for n in spans.links[s].tolist() if n >= 0 and n not in around]
                around |= set(edge)
                edge = list(dict.fromkeys(edge))
            assert around <= known


def test_the_ground_is_that_of_the_sheets(atlas: Atlas) -> None:
    inside = ~atlas.closed
    rows, columns = np.nonzero(inside)
    pick = np.random.default_rng(0).integers(0, len(rows), 400)
    points = atlas.spec.centers(np.stack([rows[pick], columns[pick]], axis=-1))
    heights = atlas.surface.open.heights[atlas.spans[rows[pick], columns[pick]]]
    assert np.abs(atlas.ground.height(points) - heights).max() < 0.05


def test_points_beside_all_sheets(atlas: Atlas) -> None:
    nowhere = np.array(atlas.spec.origin) + 0.05
    assert atlas.sheet_at(nowhere) == -1 and atlas.aliases(nowhere) == []
    assert np.array_equal(atlas.homeward(nowhere), nowhere)
    with pytest.raises(WorldError, match="on no sheet"):
        atlas.to_world(nowhere)
    assert atlas.from_world((900.0, 0.0, 0.0)) is None
