"""Floors of a place: what is found, how it lies in the plane, and what is in the way on each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core.errors import WorldError
from gaitway.world import WALL, Box, Mover, Obstacle, Polygon, Stairs, Terrain, World
from gaitway.world.levels.floors import GROUND, Floors, has_levels

DECK = Obstacle(Box((15.0, 5.0), (10.0, 6.0), 0.3, bottom=2.7), "platform", "deck")


def place(*more: Obstacle, **others: object) -> World:
    return World((0.0, 0.0, 20.0, 10.0), (DECK, *more), **others)  # type: ignore[arg-type]


def test_a_place_with_a_platform_has_levels() -> None:
    assert has_levels(place())
    assert not has_levels(World((0.0, 0.0, 5.0, 5.0), (Obstacle(Stairs((2.0, 2.0), 1.0, 3), "stairs"),)))


def test_the_ground_comes_first_and_stays_where_it_is() -> None:
    floors = Floors.of(place())
    assert [(floor.name, floor.height) for floor in floors.floors] == [(GROUND, 0.0), ("deck", 3.0)]
    assert floors.floors[0].offset == (0.0, 0.0)


def test_tops_that_touch_at_one_height_are_one_floor() -> None:
    beside = Obstacle(Box((11.0, 9.0), (4.0, 2.0), 3.0), "platform", "beside")
    apart = Obstacle(Box((3.0, 3.0), (2.0, 2.0), 3.0), "platform", "apart")
    higher = Obstacle(Box((11.0, 1.0), (2.0, 2.0), 3.2), "platform", "higher")
    names = [floor.name for floor in Floors.of(place(beside, apart, higher)).floors]
    assert names == [GROUND, "apart", "deck", "higher"]


def test_equal_names_are_told_apart() -> None:
    other = Obstacle(Box((3.0, 3.0), (2.0, 2.0), 1.0), "platform", "deck")
    assert [floor.name for floor in Floors.of(place(other)).floors] == [GROUND, "deck", "deck (2)"]


def test_things_are_in_the_way_on_their_own_floor_only() -> None:
    bed = Obstacle(Box((15.0, 5.0), (2.0, 1.0), 0.5, bottom=3.0), WALL, "bed")
    table = Obstacle(Box((15.0, 5.0), (2.0, 1.0), 0.7), WALL, "table")
    floors = Floors.of(place(bed, table))
    ground, deck = floors.floors
    seen = {floor.name: {o.name for o in floors.seen_from(floor, floors.world.obstacles) if o.kind == WALL}
            for floor in (ground, deck)}  # fmt: skip
    assert seen["deck"] == {"bed"}
    assert "table" in seen[GROUND]
    (bed_there,) = [o for o in floors.plane.obstacles if o.name == "bed" and o.shape.heights[0] < 1.0]
    assert bed_there.shape.heights == pytest.approx((0.0, 0.5))
    x0, y0, _, _ = bed_there.shape.footprint().bounds
    assert (x0 - deck.offset[0], y0 - deck.offset[1]) == pytest.approx((14.0, 4.5))


def test_a_cart_upstairs_hits_nobody_below() -> None:
    cart = Mover.of(Box((0.0, 0.0), (1.0, 1.0), 1.0, bottom=3.0), [0.0, 5.0], [(12.0, 5.0, 0.0), (18.0, 5.0, 0.0)])
    floors = Floors.of(place(movers=(cart,)))
    (only,) = floors.plane.movers
    deck = floors.floors[1]
    assert only.poses[0, 0] == 12.0 + deck.offset[0]
    assert only.phases[0].shape.heights == (0.0, 1.0)


@given(x=st.floats(0.1, 19.9), y=st.floats(0.1, 9.9), z=st.floats(-1.0, 6.0))
def test_a_point_is_on_the_floor_nearest_in_height(x: float, y: float, z: float) -> None:
    floors = Floors.of(place())
    here = [floor for floor in floors.floors if floor.covers(x, y)]
    try:
        found = floors.at(x, y, z)
    except WorldError:
        assert abs(z - 1.5) < 0.01
        return
    assert abs(found.height - z) == min(abs(floor.height - z) for floor in here)


@given(x=st.floats(10.1, 19.9), y=st.floats(2.1, 7.9))
def test_points_of_the_plane_lead_back_to_their_floor(x: float, y: float) -> None:
    floors = Floors.of(place())
    for floor in floors.floors:
        assert floors.under(x + floor.offset[0], y + floor.offset[1]) is floor


def test_floors_do_not_overlap_in_the_plane() -> None:
    more = [Obstacle(Box((5.0, 5.0), (8.0, 8.0), 0.2, bottom=2.0 + 3.0 * k), "platform", f"f{k}") for k in range(7)]
    floors = Floors.of(place(*more))
    boxes = [(f.region.bounds, f.offset) for f in floors.floors]
    for k, ((a0, b0, a1, b1), (dx, dy)) in enumerate(boxes):
        for (c0, d0, c1, d1), (ex, ey) in boxes[:k]:
            beside = a0 + dx > c1 + ex + 2.0 or c0 + ex > a1 + dx + 2.0
            above = b0 + dy > d1 + ey + 2.0 or d0 + ey > b1 + dy + 2.0
            assert beside or above


def test_terrain_stays_under_the_ground_of_the_place() -> None:
    hills = Terrain.hills((0.0, 0.0, 20.0, 10.0), 1.0, 8.0, 3)
    floors = Floors.of(place(terrain=hills))
    plane = floors.plane.terrain
    assert plane is not None
    for point in [(3.3, 2.2), (9.1, 8.7)]:
        assert float(plane.height(point)) == pytest.approx(float(hills.height(point)), abs=1e-9)
    deck = floors.floors[1]
    assert float(plane.height((15.0 + deck.offset[0], 5.0 + deck.offset[1]))) == 0.0


def test_platforms_may_have_holes() -> None:
    ring = Polygon(
        ((2.0, 2.0), (8.0, 2.0), (8.0, 8.0), (2.0, 8.0)), 1.0, (((4.0, 4.0), (6.0, 4.0), (6.0, 6.0), (4.0, 6.0)),)
    )
    floors = Floors.of(World((0.0, 0.0, 10.0, 10.0), (Obstacle(ring, "platform", "gallery"),)))
    assert floors.floors[1].covers(3.0, 5.0)
    assert not floors.floors[1].covers(5.0, 5.0)


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ((25.0, 5.0, None), "on no floor; the floors are 'ground' (0 m), 'deck' (3 m)"),
        ((15.0, 5.0, 1.5), "as near to 'ground' (0 m) as to 'deck' (3 m); write the height"),
    ],
)
def test_points_that_are_nowhere(point: tuple[float, float, float | None], message: str) -> None:
    with pytest.raises(WorldError, match=message.replace("(", r"\(").replace(")", r"\)")):
        Floors.of(place()).at(*point)


def test_a_floor_that_is_not_there() -> None:
    with pytest.raises(WorldError, match="no floor 'roof'; the floors are"):
        Floors.of(place()).named("roof")
