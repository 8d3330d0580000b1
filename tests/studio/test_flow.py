"""Flow and density on the page: what is counted, in which colour, and where arrows point."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.studio.page.flow import COLORS, LEVELS, PageFlow, arrows, flow_grid, legend, level_of
from gaitway.studio.page.panel import SHOWN

BOUNDS = (0.0, 0.0, 12.0, 8.0)


class _Handle:
    def __init__(self, scene: _Scene, name: str) -> None:
        self._scene, self._name = scene, name

    def remove(self) -> None:
        del self._scene.there[self._name]


class _Scene:
    """What a page draws, without a browser."""

    def __init__(self) -> None:
        self.there: dict[str, tuple[object, ...]] = {}

    @property
    def scene(self) -> _Scene:
        return self

    def add_batched_meshes_simple(self, name: str, *what: object, **more: object) -> _Handle:
        self.there[name] = (*what, more["batched_colors"])
        return _Handle(self, name)

    def add_line_segments(self, name: str, *what: object, **more: object) -> _Handle:
        self.there[name] = what
        return _Handle(self, name)


def flat(points: np.ndarray) -> np.ndarray:
    return np.zeros(len(points))


def test_density_counts_everybody_once() -> None:
    points = np.random.default_rng(1).uniform((4.0, 3.0), (8.0, 5.0), (60, 2))
    grid = flow_grid(points, np.tile([1.0, 0.0], (60, 1)), BOUNDS)
    assert grid.density.sum() == pytest.approx(60.0, rel=0.05)  # squares of one square metre; thin ones are left out
    assert 5.0 < grid.density.max() < 11.0
    assert grid.streams[:, 0] == pytest.approx(np.tile([1.0, 0.0], (len(grid.places), 1)), abs=1e-6)
    assert grid.shares[:, 0] == pytest.approx(grid.density) and not grid.shares[:, 1].any()
    assert len(flow_grid(np.empty((0, 2)), np.empty((0, 2)), BOUNDS).places) == 0


def test_colours_follow_the_bounds_of_the_legend() -> None:
    assert level_of(np.array([*LEVELS, 50.0])).tolist() == [0, 1, 2, 3, 4, 4]
    assert all(color in legend() for color in COLORS) and ">4<" in legend()
    assert ("flow and density", False) in SHOWN


def test_arrows_point_where_people_go_and_none_are_drawn_of_who_stands() -> None:
    grid = flow_grid(np.array([[2.5, 2.5], [9.5, 5.5]]), np.array([[0.0, 1.2], [0.0, 0.0]]), BOUNDS)
    shafts = arrows(grid)[: len(arrows(grid)) // 3]
    assert len(shafts) > 0
    assert (shafts[:, 1, 1] > shafts[:, 0, 1]).all() and shafts[:, 1, 0] == pytest.approx(shafts[:, 0, 0])
    assert (np.hypot(*(shafts[:, 0] - [2.5, 2.5]).T) < 3.0).all()


@pytest.mark.parametrize("turn", [0.0, 0.5 * np.pi, 2.5])
def test_two_streams_have_an_arrow_each(turn: float) -> None:
    """People who pass one another do not cancel out; each arrow is on the right of its own way."""
    rng = np.random.default_rng(4)
    ahead = np.array([np.cos(turn), np.sin(turn)])
    points = rng.uniform((3.0, 1.0), (9.0, 7.0), (80, 2))
    velocities = np.where(np.arange(80)[:, None] % 2 == 0, 1.3 * ahead, -0.9 * ahead) + rng.normal(0.0, 0.05, (80, 2))
    grid = flow_grid(points, velocities, BOUNDS)
    dense = grid.density > 1.0
    along = np.sort(grid.streams[dense] @ ahead, axis=1)
    assert along == pytest.approx(np.tile([-0.9, 1.3], (dense.sum(), 1)), abs=0.15)
    shafts = arrows(grid)[: len(arrows(grid)) // 3]
    way = shafts[:, 1] - shafts[:, 0]
    assert ((way @ ahead > 0.3).sum() > 20) and ((way @ ahead < -0.3).sum() > 20)
    beside = shafts.mean(axis=1)[:, None] - grid.places
    beside = beside[np.arange(len(shafts)), np.hypot(*np.moveaxis(beside, -1, 0)).argmin(axis=1)]
    assert np.median(beside[:, 0] * way[:, 1] - beside[:, 1] * way[:, 0]) > 0.05


def test_the_page_shows_it_on_demand_and_takes_it_away() -> None:
    server = _Scene()
    flow = PageFlow(server)  # type: ignore[arg-type]
    for k in range(6):
        flow.note(0.1 * k, ("ada", "ben"), np.array([[2.0 + 0.13 * k, 2.0], [2.0 + 0.13 * k, 2.6]]))
    assert flow.grid(BOUNDS).streams[:, 0] == pytest.approx(
        np.tile([1.3, 0.0], (len(flow.grid(BOUNDS).places), 1)), abs=1e-6
    )
    flow.show(True, BOUNDS, flat)
    assert set(server.there) == {"/flow/density", "/flow/arrows"}
    flow.show(False, BOUNDS, flat)
    assert not server.there
