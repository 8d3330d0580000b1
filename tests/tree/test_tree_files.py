"""Trees in memory and on disk: compact, in depth-first order, the same after loading, and refused when wrong."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core import planar
from gaitway.core.errors import FormatError, TreeError
from gaitway.tree import _model_kernels as kernels
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.model import NODE_BYTES, Tree, compact
from gaitway.tree.moves import choose_moves
from gaitway.tree.region import Region
from gaitway.tree.storage import describe_tree, load_tree, save_tree
from search_twin import JUMPER, WALKER, small_table

MOVES = choose_moves(small_table(WALKER), "walk")
REGION = Region.disc(6.0)


def small_tree(nodes: int = 300) -> Tree:
    return diverse_tree(MOVES, REGION, Budget(nodes))


def test_sixteen_bytes_a_node() -> None:
    tree = small_tree()
    assert tree.nbytes == NODE_BYTES * len(tree)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 100_000), count=st.integers(1, 60))
def test_depth_first(seed: int, count: int) -> None:
    """Below a node are the nodes up to its end, and they are its descendants."""
    rng = np.random.default_rng(seed)
    parents = np.array([-1, *(int(rng.integers(0, n)) for n in range(1, count))], np.int32)
    tree = compact(MOVES, REGION, parents, rng.integers(0, len(MOVES), count).astype(np.uint8))
    for node in range(count):
        below = {n for n in range(count) if n == node or node in [0, *tree.path(n).tolist()]}
        assert below == set(range(node, int(tree.ends[node])))
    assert kernels.first_wrong(tree.links, tree.ends, len(MOVES)) == -1
    assert sorted(np.bincount(tree.parents[1:], minlength=count)) == sorted(np.bincount(parents[1:], minlength=count))


def test_unfolded_and_rounded() -> None:
    """Composed one by one, the poses are those of the kernel, and stored ones within half a step."""
    tree = small_tree()
    full, rows = tree.unfold(), MOVES.actions
    for node in range(len(tree)):
        pose, cost, time = np.zeros(3), 0.0, 0.0
        for move in tree.actions[tree.path(node)].tolist():
            pose = planar.compose(pose, MOVES.table.moves[rows[move]])
            cost, time = cost + MOVES.costs[move], time + MOVES.table.durations[rows[move]]
        assert np.allclose(full.poses[node, :2], pose[:2], atol=1e-9)
        assert abs(planar.wrap_angle(full.poses[node, 2] - pose[2])) < 1e-9
        assert (full.costs[node], full.times[node]) == pytest.approx((cost, time))
    assert np.abs(tree.points - full.poses[:, :2]).max() <= 0.5 * tree.place_step + 1e-12
    assert np.abs(tree.costs - full.costs).max() <= 0.5 * tree.cost_step + 1e-12
    turned = planar.wrap_angle(tree.headings * (2.0 * np.pi / 65536.0) - full.poses[:, 2])
    assert np.abs(turned).max() <= np.pi / 65536.0 + 1e-9
    assert tree.place_step < 0.002


def test_paths_and_depths() -> None:
    tree = small_tree()
    assert tree.depths.tolist() == [len(tree.path(n)) for n in range(len(tree))]
    with pytest.raises(TreeError, match="no node 300"):
        tree.path(300)


def test_saved_and_mapped(tmp_path: Path) -> None:
    tree, path = small_tree(), tmp_path / "a.gwtree"
    save_tree(tree, path)
    again = load_tree(path, MOVES)
    for name in ("links", "ends", "places", "headings", "prices"):
        array = getattr(again, name)
        assert array.tobytes() == getattr(tree, name).tobytes()
        assert not array.flags.writeable
        assert not array.flags.owndata
    assert (again.region.inside == tree.region.inside).all()
    assert again.region.spec == tree.region.spec
    assert (again.place_step, again.cost_step) == (tree.place_step, tree.cost_step)
    assert describe_tree(path)["nodes"] == len(tree)
    save_tree(again, tmp_path / "b.gwtree")
    assert (tmp_path / "b.gwtree").read_bytes() == path.read_bytes()


def test_another_library_or_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.gwtree"
    save_tree(small_tree(), path)
    others = (
        choose_moves(small_table(JUMPER), "walk", ["straight", "jump"]),
        choose_moves(small_table(WALKER), "stand"),
        choose_moves(small_table(WALKER), "walk", time_weight=0.0),
    )
    for other in others:
        with pytest.raises(FormatError, match="another library"):
            load_tree(path, other)
    content = bytearray(path.read_bytes())
    content[16] = 9
    path.write_bytes(content)
    with pytest.raises(FormatError, match="version 9"):
        load_tree(path, MOVES)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_no_damage_goes_unseen(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("damaged") / "a.gwtree"
    save_tree(small_tree(64), path)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] ^= 1 << data.draw(st.integers(0, 7))
        header_end = 32 + int.from_bytes(path.read_bytes()[24:32], "little")
        if header_end <= at < header_end + -header_end % 64:
            return  # nothing lies between the header and the arrays
    else:
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    path.write_bytes(content)
    with pytest.raises(FormatError):
        load_tree(path, MOVES)


class Forged(SimpleNamespace):
    """The fields of a tree, unchecked: it is written with the right checksums, as an attacker would."""

    def __len__(self) -> int:
        return len(self.links)


def forged(tree: Tree, **changed: np.ndarray) -> Forged:
    names = ("links", "ends", "places", "headings", "prices", "region", "moves", "place_step", "cost_step")
    return Forged(**{name: getattr(tree, name) for name in names} | changed)


@pytest.mark.parametrize(
    ("name", "node", "value"),
    [
        ("links", 30, (40 << 8) | 0),  # a parent that comes later
        ("links", 30, (30 << 8) | 0),  # its own parent
        ("links", 30, (70_000 << 8) | 0),  # no such parent
        ("links", 30, (29 << 8) | 254),  # no such move
        ("links", 0, 0),  # a root with a move
        ("ends", 30, 10_000),  # beyond the last node
        ("ends", 30, 30),  # before itself
        ("ends", 30, -5),
        ("ends", 0, 20),  # a root that leaves nodes out
    ],
)
def test_broken_links_with_a_right_checksum_are_refused(tmp_path: Path, name: str, node: int, value: int) -> None:
    tree, path = small_tree(64), tmp_path / "forged.gwtree"
    save_tree(forged(tree), path)  # type: ignore[arg-type]
    assert load_tree(path, MOVES).links.tobytes() == tree.links.tobytes(), "what is not changed is read"
    array = getattr(tree, name).copy()
    array[node] = value
    save_tree(forged(tree, **{name: array}), path)  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="damaged tree"):
        load_tree(path, MOVES)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        load_tree(tmp_path / "none.gwtree", MOVES)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(FormatError, match="empty"):
        load_tree(tmp_path / "empty", MOVES)
    (tmp_path / "other").write_bytes(b"PK" + bytes(100))
    with pytest.raises(FormatError, match="no tree of gaitway"):
        describe_tree(tmp_path / "other")


def test_wrong_nodes_are_found() -> None:
    """Whatever a kernel would go astray with."""
    tree = small_tree(50)
    for change in ("links", "ends"):
        for node in range(50):
            wrong = {name: getattr(tree, name).copy() for name in ("links", "ends")}
            wrong[change][node] = wrong[change][node] + (60 << 8) if change == "links" else 51
            assert kernels.first_wrong(wrong["links"], wrong["ends"], len(MOVES)) >= 0


def test_regions() -> None:
    assert len(Region.disc(5.0, cell=0.1)) == pytest.approx(np.pi * 25 * 100, rel=0.01)
    assert len(Region.half_disc(5.0, cell=0.1)) == pytest.approx(np.pi * 12.5 * 100, rel=0.04)
    square = Region.polygon([(-1.0, -2.0), (3.0, -2.0), (3.0, 2.0), (-1.0, 2.0)], cell=0.5)
    assert len(square) == 64
    points = square.points(np.random.default_rng(0), 500)
    assert all(square.holds((x, y)) for x, y in points.tolist())
    assert not square.holds((3.1, 0.0))
    for wrong, words in (
        (lambda: Region.disc(0.0), "radius"),
        (lambda: Region.disc(2.0, (5.0, 0.0)), "where the character stands"),
        (lambda: Region.mask(np.zeros((3, 3)), (-0.3, -0.3)), "no cell"),
        (lambda: Region.polygon([(0.0, 0.0), (1.0, 0.0)]), "three"),
    ):
        with pytest.raises(TreeError, match=words):
            wrong()
