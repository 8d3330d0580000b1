"""Footprints into cells, against shapely's distance of every single cell."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.world.footprint import Footprint, core_geometry
from gaitway.world.grid import GridSpec, filled, rasterise, rasterise_all, rasterise_rings, window_of

TOLERANCE = 1e-8
coordinate = st.integers(-24, 60).map(lambda n: n / 8.0) | st.floats(-3.0, 7.5).map(lambda v: round(v, 9))
point = st.tuples(coordinate, coordinate)
specs = st.builds(
    GridSpec,
    st.tuples(st.sampled_from([0.0, -1.0, 0.3]), st.sampled_from([0.0, 0.5, -0.7])),
    st.sampled_from([0.25, 0.5, 0.31, 1.0]),
    st.tuples(st.integers(1, 14), st.integers(1, 14)),
)
radii = st.sampled_from([0.0, 0.25, 0.3, 1.0])


@st.composite
def footprints(draw):
    """Points, lines, and rings of any form: convex, star-shaped with a hole, crossing themselves."""
    form = draw(st.sampled_from(["point", "line", "ring", "star", "many"]))
    if form == "star":
        count = draw(st.integers(3, 9))
        angles = 2.0 * np.pi * (np.arange(count) + draw(st.floats(0.0, 1.0))) / count
        lengths = np.array([draw(st.floats(0.5, 4.0)) for _ in range(count)])
        ring = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        middle = np.array(draw(point))
        rings = [middle + lengths[:, None] * ring, middle + 0.4 * lengths.min() * ring[::-1]]
    else:
        sizes = {"point": [1], "line": [2], "ring": [draw(st.integers(3, 7))], "many": [1, 2, 4]}[form]
        rings = [draw(st.lists(point, min_size=n, max_size=n)) for n in sizes]
    return Footprint.of_rings(rings, draw(radii))


def distances(footprint: Footprint, spec: GridSpec) -> np.ndarray:
    """Distance from every cell's closed square to the unrounded footprint [m]; boundaries count as part of it."""
    x = spec.origin[0] + spec.cell * np.arange(spec.shape[1])[None, :]
    y = spec.origin[1] + spec.cell * np.arange(spec.shape[0])[:, None]
    cells = shapely.box(x, y, x + spec.cell, y + spec.cell)
    outlines = [shapely.LinearRing(ring) for ring in footprint.rings if len(ring) > 2]
    return np.min([shapely.distance(cells, part) for part in (core_geometry(footprint), *outlines)], axis=0)


@settings(max_examples=120)
@given(footprints(), specs, radii)
def test_a_cell_counts_if_its_square_meets_the_grown_footprint(footprint: Footprint, spec: GridSpec, radius: float):
    covered = filled(rasterise(footprint, spec, radius), spec)
    away = distances(footprint, spec) - footprint.radius - radius
    assert covered[away <= -TOLERANCE].all(), "a cell is free that is not"
    assert not covered[away > TOLERANCE].any(), "a cell is covered that nothing touches"


@settings(max_examples=60)
@given(footprints(), specs)
def test_spans_are_in_order_and_name_each_cell_once(footprint: Footprint, spec: GridSpec):
    spans = rasterise(footprint, spec, 0.2)
    assert spans.dtype == np.int32
    assert (spans[:, 1] < spans[:, 2]).all()
    assert (spans >= 0).all() and (spans[:, 0] < spec.shape[0]).all() and (spans[:, 2] <= spec.shape[1]).all()
    same_row = spans[1:, 0] == spans[:-1, 0]
    assert ((spans[1:, 0] > spans[:-1, 0]) | same_row).all()
    assert (spans[1:, 1] > spans[:-1, 2])[same_row].all(), "spans that touch are one"
    window = window_of(spans)
    rows, columns = np.nonzero(filled(spans, spec))
    if len(rows):
        assert window == (rows.min(), columns.min(), rows.max() + 1, columns.max() + 1)
    else:
        assert window.empty


@settings(max_examples=30)
@given(st.lists(footprints(), max_size=4), specs, radii)
def test_many_at_once_are_as_one_by_one(many: list[Footprint], spec: GridSpec, radius: float):
    spans, starts = rasterise_all(many, spec, radius)
    assert len(starts) == len(many) + 1 and starts[-1] == len(spans)
    for footprint, first, end in zip(many, starts[:-1], starts[1:], strict=True):
        np.testing.assert_array_equal(spans[first:end], rasterise(footprint, spec, radius))


@settings(max_examples=30)
@given(st.lists(footprints(), min_size=1, max_size=4), specs)
def test_parts_of_a_group_are_joined_and_do_not_cut_holes_into_one_another(many: list[Footprint], spec: GridSpec):
    rings = [ring for f in many for ring in f.rings]
    spans, _ = rasterise_rings(
        np.concatenate(rings),
        np.cumsum([0, *map(len, rings)]),
        np.repeat(np.arange(len(many)), [len(f.rings) for f in many]),
        np.repeat([f.radius for f in many], [len(f.rings) for f in many]),
        np.array([0, len(rings)]),
        spec,
    )
    expected = np.any([filled(rasterise(f, spec), spec) for f in many], axis=0)
    np.testing.assert_array_equal(filled(spans, spec), expected)


def test_known_cells():
    spec = GridSpec((0.0, 0.0), 1.0, (5, 6))
    square = Footprint.of_rings([[(1.5, 1.5), (3.5, 1.5), (3.5, 3.5), (1.5, 3.5)]])
    assert rasterise(square, spec).tolist() == [[1, 1, 4], [2, 1, 4], [3, 1, 4]]
    frame = Footprint.of_rings([[(0.5, 0.5), (4.5, 0.5), (4.5, 4.5), (0.5, 4.5)], [(2.0, 2.0), (3, 2), (3, 3), (2, 3)]])
    assert rasterise(frame, spec).tolist() == [[row, 0, 5] for row in range(5)]  # a hole of one cell, edges touch it
    assert rasterise(Footprint.of_rings([[(2.0, 2.0)]]), spec).tolist() == [[1, 1, 3], [2, 1, 3]]  # four cells touch
    assert rasterise(Footprint.of_rings([]), spec, 1.0).tolist() == []


def test_a_hole_stays_open():
    spec = GridSpec((0.0, 0.0), 0.1, (40, 40))
    ring = Footprint.of_rings([[(0, 0), (4, 0), (4, 4), (0, 4)], [(1, 1), (3, 1), (3, 3), (1, 3)]])
    free = ~filled(rasterise(ring, spec, 0.25), spec)
    assert free[13:27, 13:27].all()
    assert free.sum() == 14 * 14


@pytest.mark.parametrize("shift", [1e3, 1e5, -1e6])
def test_far_from_the_origin(shift: float):
    footprint = Footprint.of_rings([[(1.1, 1.2), (4.3, 2.2), (2.5, 4.4)]])
    near, far = GridSpec((0.0, 0.0), 0.25, (24, 24)), GridSpec((shift, shift), 0.25, (24, 24))
    moved = Footprint(footprint.points + shift, footprint.ring_starts)
    a, b = (filled(rasterise(f, spec, 0.3), spec) for f, spec in ((footprint, near), (moved, far)))
    assert (a != b).sum() <= 2


def test_a_large_outline_of_many_edges():
    rng = np.random.default_rng(0)
    angles = np.linspace(0.0, 2.0 * np.pi, 1200, endpoint=False)
    lengths = rng.uniform(2.0, 6.0, len(angles))
    star = Footprint.of_rings([np.stack([8 + lengths * np.cos(angles), 8 + lengths * np.sin(angles)], axis=-1)])
    spec = GridSpec((0.0, 0.0), 0.25, (64, 64))
    np.testing.assert_array_equal(filled(rasterise(star, spec, 0.1), spec), distances(star, spec) <= 0.1)
