"""The names that `import gaitway` gives besides those that other tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

import gaitway
from gaitway.core.errors import LibraryError
from gaitway.tree.building.recipe import open_tree


def test_a_world_of_a_scene_and_its_shapes() -> None:
    world = gaitway.load_world("market_square")
    assert isinstance(world, gaitway.World)
    more = world.with_obstacle(gaitway.Obstacle(gaitway.Box((1.0, 1.0), (1.0, 1.0), 1.0)))
    assert len(more.obstacles) == len(world.obstacles) + 1
    for shape in (gaitway.Cylinder, gaitway.Sphere, gaitway.Polygon, gaitway.Stairs, gaitway.Mover):
        assert shape.__module__.startswith("gaitway.world")


def test_a_tree_is_built_and_written(tmp_path: Path) -> None:
    path, told = tmp_path / "small.gwtree", []
    tree = gaitway.build_tree(
        "person", path, nodes=2_000, radius=4.0, progress=lambda what, done, total: told.append(what)
    )
    assert 100 < len(tree) <= 2_000
    assert len(open_tree(path)[0]) == len(tree)
    with pytest.raises(LibraryError, match="did you mean 'person'"):
        gaitway.build_tree("persom")


@pytest.mark.slow
def test_a_library_is_varied() -> None:
    person = gaitway.load_cast("person", takes=4, behaviors=["wave", "stand"])
    done = gaitway.vary(person, count=2, behaviors=["wave"], upper=True)
    assert done.added >= 1
    assert len(done.library.clips) == len(person.clips) + done.added


def test_the_studio_package_can_be_called() -> None:
    assert callable(gaitway.studio)
    from gaitway.studio import events

    assert events.Play
