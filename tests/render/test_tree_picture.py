"""Pictures of trees show what is there: colours by how many paths reach a cell, lines where moves go, ahead is up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gaitway.core import planar
from gaitway.render.sheets import tree_picture as pictures
from gaitway.render.sheets._tree_kernels import draw_moves
from gaitway.render.sheets.tree_picture import FREQUENCY, tree_picture
from gaitway.tree.building.coverage import coverage
from gaitway.tree.building.growing import Budget, diverse_tree, exhaustive_tree
from gaitway.tree.model import Tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.region import Region
from search_twin import WALKER, small_table

MOVES = choose_moves(small_table(WALKER), "walk")
TREE = diverse_tree(MOVES, Region.disc(6.0, cell=0.31), Budget(200))


def test_moves_are_drawn_where_they_go() -> None:
    place, shape = np.array([-7.0, -7.0, 10.0]), (140, 140)
    amounts, least = np.zeros(shape), np.full(shape, np.inf)
    starts, points = MOVES.points(0.1)
    full = TREE.unfold()
    draw_moves(TREE.links, full.poses, full.costs, starts, points, place, 1, amounts, least)
    twin, cheapest = np.zeros(shape), np.full(shape, np.inf)
    for node in range(1, len(TREE)):
        move = int(TREE.actions[node])
        path = planar.transform_points(full.poses[TREE.parents[node]], points[starts[move] : starts[move + 1]])
        for ahead, left in path:
            cell = 139 - int(np.floor((ahead + 7.0) * 10.0)), int(np.floor((-left + 7.0) * 10.0))
            twin[cell] += 1
            cheapest[cell] = min(cheapest[cell], full.costs[node])
    assert np.abs(amounts - twin).sum() <= 0.01 * twin.sum()  # points on a border may fall to either side
    assert (np.isfinite(least) == (amounts > 0)).all()
    assert np.isclose(least, cheapest).mean() > 0.99


def test_ahead_is_up_and_left_is_left() -> None:
    """A tree of one move to the left and ahead fills no other quarter."""
    moves = choose_moves(small_table(WALKER), "walk", ["left"])
    tree = exhaustive_tree(moves, 2, Region.disc(5.0))
    frame = pictures._frame(tree.region, 900)
    drawn = np.asarray(pictures._path_map(tree, frame)[0]).astype(int)
    inked = (np.ptp(drawn, axis=2) > 60).nonzero()  # paper and the rim of the region are grey
    x, y = frame.pixel(0.0, 0.0)
    assert len(inked[0]) > 20
    assert (inked[0] + frame.top <= y + 2).all()
    assert (inked[1] + frame.left <= x + 2).all()
    cells = np.asarray(pictures._frequency_map(tree.region, *pictures._frequencies(tree), frame)).astype(int)
    dark = (cells.sum(axis=2) < 500).nonzero()
    assert (dark[0] + frame.top <= y + 0.3 * frame.scale).all()
    assert (dark[1] + frame.left <= x + 0.3 * frame.scale).all()


def test_colours_count_paths() -> None:
    counts, most = pictures._frequencies(TREE)
    assert (counts == coverage(TREE)[0]).all()
    frame = pictures._frame(TREE.region, 1400)
    cells = np.asarray(pictures._frequency_map(TREE.region, counts, most, frame))
    region = TREE.region
    for row, column in np.argwhere(region.inside)[::97]:
        ahead = region.spec.origin[0] + region.spec.cell * (column + 0.5)
        left = region.spec.origin[1] + region.spec.cell * (row + 0.5)
        x, y = frame.pixel(-left, ahead)
        found = cells[int(y - frame.top), int(x - frame.left)]
        share = min(counts[row, column] / most, 1.0)
        wanted = pictures._colors(FREQUENCY, share) if counts[row, column] else np.full(3, 255)
        assert np.abs(found.astype(int) - wanted).max() <= 1


@pytest.mark.parametrize(
    "tree",
    [
        TREE,
        diverse_tree(MOVES, Region.half_disc(5.0), Budget(50)),
        exhaustive_tree(MOVES, 3),
        diverse_tree(MOVES, Region.polygon([(-1, -1), (30, -1), (30, 1), (-1, 1)]), Budget(50)),
        diverse_tree(MOVES, Region.disc(5.0), Budget(1)),
    ],
)
def test_any_tree_can_be_drawn(tree: Tree, tmp_path: Path) -> None:
    image = tree_picture(tree, tmp_path / "a.png", title="A tree", text="of some kind", width=700)
    assert image.width == 700
    assert 150 < image.height < 1000
    with Image.open(tmp_path / "a.png") as again:
        assert again.size == image.size
    assert tree_picture(tree, title="A tree", text="of some kind", width=700).tobytes() == image.tobytes()
