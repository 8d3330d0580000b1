"""Fields of a world: parts of space, special obstacles, movers that rest."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.space.fields import WorldFields, resting_phases
from gaitway.world.obstacle import Mover, MoverPhase, Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from search_twin import JUMPER, small_reaches

BOUNDS = (0.0, 0.0, 10.0, 8.0)


def test_parts_do_not_leak_around_walls_that_end_at_the_bounds() -> None:
    parted = World(BOUNDS, (Obstacle(Box((5.0, 4.0), (0.3, 8.0), 1.0)),))
    assert not WorldFields.of(parted, cell=0.05).parts.connected((2.0, 4.0), (8.0, 4.0), 0.1)
    open_end = World(BOUNDS, (Obstacle(Box((5.0, 3.5), (0.3, 7.0), 1.0)),))
    assert WorldFields.of(open_end, cell=0.05).parts.connected((2.0, 4.0), (8.0, 4.0), 0.1)


def test_parts_go_through_what_can_be_passed_only() -> None:
    def parts(height: float) -> bool:
        fence = Obstacle(Box((5.0, 4.0), (0.2, 8.0), height), "jump", "fence")
        fields = WorldFields.of(World(BOUNDS, (fence,)), small_reaches(JUMPER), cell=0.05)
        return fields.parts.connected((2.0, 4.0), (8.0, 4.0), 0.1)

    assert parts(0.4)
    assert not parts(0.7)


def test_near_is_where_a_jump_may_begin() -> None:
    fence = Obstacle(Box((5.0, 4.0), (0.2, 3.0), 0.4), "jump")
    fields = WorldFields.of(World(BOUNDS, (fence,)), small_reaches(JUMPER), cell=0.1)
    row, column = fields.spec.cells([[3.5, 4.0], [0.5, 0.5]]).T
    assert fields.arrays.near[row, column].tolist() == [1, 0]


def test_special_obstacles_are_counted_from_the_ground_and_by_kind() -> None:
    duck = Obstacle(Box((3.0, 4.0), (0.2, 3.0), 0.3, bottom=1.3), "duck", "beam")
    jump = Obstacle(Box((6.0, 4.0), (0.2, 3.0), 0.4), "jump", "fence")
    fields = WorldFields.of(World(BOUNDS, (jump, duck)))
    assert fields.kinds == ("duck", "jump")
    assert [o.name for o in fields.specials] == ["beam", "fence"]
    specials = fields.arrays.specials
    assert specials.kind_starts.tolist() == [0, 1, 2]
    np.testing.assert_allclose(specials.solids[:, 1:3], [[1.3, 1.6], [0.0, 0.4]])
    np.testing.assert_allclose(specials.circles[0], [3.0, 4.0, np.hypot(0.1, 1.5)])
    assert fields.passed_kind("jump") == 1
    assert fields.passed_kind("crawl") == -1


def test_blame() -> None:
    world = World(
        BOUNDS,
        (Obstacle(Box((5.0, 4.0), (1.0, 1.0), 1.0), name="block"), Obstacle(Box((2.0, 4.0), (0.2, 1.0), 0.4), "jump")),
    )
    fields = WorldFields.of(world)
    places = np.array([[5.8, 4.0], [9.8, 4.0], [1.8, 4.0]])
    assert fields.blame(places) == ["block", "bounds", "no behaviour passes a jump ('jump 1')"]
    assert fields.blame(places[2:], ("jump",)) == ["bounds"]


@pytest.mark.slow
def test_blame_looks_at_a_thousand_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    places = rng.uniform(0.0, 100.0, (1000, 2)).tolist()
    world = World((0.0, 0.0, 100.0, 100.0), tuple(Obstacle(Box((x, y), (1.0, 1.0), 1.0)) for x, y in places))
    fields = WorldFields.of(world, cell=0.5)
    points = rng.uniform(0.0, 100.0, (256, 2))
    seen: list[Box] = []
    footprint = Box.footprint
    monkeypatch.setattr(Box, "footprint", lambda box: (seen.append(box), footprint(box))[1])
    names = fields.blame(points)
    assert len(seen) == 1000  # and not once for each point
    assert names == [name for point in points for name in fields.blame(point)]


def test_movers_that_rest_are_special_for_their_time() -> None:
    trunk = Box((0.0, 0.0), (4.0, 0.3), 0.3)
    tree = Mover(
        (MoverPhase(-np.inf, trunk, "passable"), MoverPhase(5.0, trunk, "wall"), MoverPhase(6.5, trunk, "jump")),
        np.array([0.0]), np.array([[5.0, 4.0, np.pi / 2]]), "tree",
    )  # fmt: skip
    spans = [(begin, end, o.kind) for begin, end, o in resting_phases(tree)]
    assert spans == [(-np.inf, 5.0, "passable"), (5.0, 6.5, "wall"), (6.5, np.inf, "jump")]
    fields = WorldFields.of(World(BOUNDS, (), (tree,)), small_reaches(JUMPER))
    assert fields.arrays.specials.solids[:, 3:].tolist() == [[6.5, np.inf]]
    assert fields.clearance([5.0, 4.0]) > 3.0  # it is traffic, not a wall
    cart = Mover.of(trunk, [0.0, 2.0, 4.0, 6.0], [[1, 1, 0], [3, 1, 0], [3, 1, 0], [5, 1, 0]], "jump")
    assert [(b, e) for b, e, _ in resting_phases(cart)] == [(-np.inf, 0.0), (2.0, 4.0), (6.0, np.inf)]
    assert [o.shape.footprint().bounds[0] for _, _, o in resting_phases(cart)] == pytest.approx([-1.0, 1.0, 3.0])
