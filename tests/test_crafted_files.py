"""Libraries, trees, models and live crowds of which a kernel could not trust a number: refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaitway
from crafted import changed
from gaitway.bench._mutation import craft_tree, opened_tree
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import FormatError
from gaitway.library.storage import describe_library, load_library, save_library
from gaitway.live import LiveCrowd
from gaitway.scene.characters import LibraryRef, library_ref
from gaitway.tree.building.recipe import TreeRecipe, open_tree
from gaitway.tree.model import MOST_LEVELS, Tree, compact
from gaitway.tree.storage import describe_tree, load_tree, save_tree
from gaitway.variation.network.storage import load_model, save_model
from gaitway.world.world import World
from variation_takes import small_model

Change = Callable[[Any, Any], None]


def one_line(problem: str, call: Callable[..., Any], *arguments: Any) -> None:
    with pytest.raises(FormatError, match=problem) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 800


# libraries


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crafted") / "a.gwlib"
    save_library(load_cast("person", behaviors=("wait", "start_walk", "stop_walk", "walk_forward")), path)
    return path


LIBRARIES: dict[str, tuple[Change, str]] = {
    "half a role": (lambda h, a: h["skeleton"]["roles"].update(left_hip=0.5), "skeleton.roles.left_hip"),
    "contact point": (lambda h, a: h["skeleton"]["contact_points"][0].__setitem__(2, [0, 1]), "contact_points"),
    "contact joint": (lambda h, a: h["skeleton"]["contact_points"][0].__setitem__(1, 99), "is on joint 99"),
    "no clips": (lambda h, a: h["behaviors"][0].update(clips=[]), r"behaviors\[0\].clips"),
    "clips of numbers": (lambda h, a: h["behaviors"][0].update(clips=[1]), r"behaviors\[0\].clips\[0\]"),
    "weight": (lambda h, a: h["behaviors"][0].update(weight=-1.0), r"behaviors\[0\].weight"),
    "pass time": (lambda h, a: h["behaviors"][0].update(pass_time="soon"), r"behaviors\[0\].pass_time"),
    "more words": (lambda h, a: h["behaviors"][0].update(colour="red"), r"behaviors\[0\].colour"),
    "pairs": (lambda h, a: h.update(forbidden=[["a"]]), r"forbidden\[0\]"),
    "keys": (lambda h, a: h["keys"].__setitem__(0, h["keys"][1]), "needs clip|the same name"),
    "slow": (lambda h, a: h["clips"][0].update(fps=1e-9), "lasts .* s; at most"),
    "far": (lambda h, a: a["clip.0.roots"].__setitem__(0, 1e6), "leads more than 10000 m away"),
    "large": (lambda h, a: a["skeleton.offsets"].__setitem__(1, 1e6), "more than 10000 m from its parent"),
    "parent": (lambda h, a: a["skeleton.parents"].__setitem__(2, 5), "a parent listed before it"),
}  # fmt: skip


@pytest.mark.parametrize("what", LIBRARIES)
def test_libraries(library: Path, what: str) -> None:
    change, problem = LIBRARIES[what]
    one_line(problem, load_library, changed(library, change))


def test_headers_of_libraries_are_checked_alone(library: Path) -> None:
    path = changed(library, lambda h, a: h.update(behaviors=3))
    one_line("behaviors: input should be a valid list", describe_library, path)
    one_line("behaviors: input should be a valid list", library_ref, path)


def test_a_clip_may_have_another_name_than_its_key(library: Path) -> None:
    """Plans name clips by key."""
    loaded = load_library(changed(library, lambda h, a: h["clips"][1].update(name="other")))
    table = gaitway.library.actions.action_table(loaded)
    assert set(table.clips) == set(loaded.clips)


# trees


@pytest.fixture(scope="module")
def horse(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Tree]:
    path = tmp_path_factory.mktemp("crafted") / "horse.gwtree"
    recipe = TreeRecipe(library=LibraryRef("horse"), nodes=300, radius=40.0)
    tree = recipe.grow()
    recipe.save(tree, path)
    return path, tree


def links(node: int, parent: int, move: int) -> Change:
    return lambda h, a: a["links"].__setitem__(node, (parent << 8) | move)


TREES: dict[str, tuple[Change, str]] = {
    "parent": (links(5, 290, 0), "node 5"),
    "move": (links(5, 4, 254), "node 5"),
    "end": (lambda h, a: a["ends"].__setitem__(7, 10_000), "node 7"),
    "negative end": (lambda h, a: a["ends"].__setitem__(7, -1), "node 7"),
    "root": (lambda h, a: a["links"].__setitem__(0, 0), "node 0"),
    "place step": (lambda h, a: h.update(place_step=1000.0), "place_step 1000 is beyond"),
    "no place step": (lambda h, a: h.update(place_step=0.0), "place_step: input should be greater than 0"),
    "cost step": (lambda h, a: h.update(cost_step=1e5), "cost_step 100000 is beyond"),
    "nodes": (lambda h, a: h.update(nodes=10**12), "nodes: input should be less than"),
    "nodes as words": (lambda h, a: h.update(nodes="300"), "nodes: input should be a valid integer"),
    "cell": (lambda h, a: h["region"].update(cell=1e300), "region.cell"),
    "cells": (lambda h, a: h["region"].update(shape=[10**6, 10**6]), "grid of 1000000 x 1000000"),
    "negative cells": (lambda h, a: h["region"].update(shape=[-3, -3]), "at least one row"),
    "origin": (lambda h, a: h["region"].update(origin=[0.0]), "region.origin"),
    "no region": (lambda h, a: h.pop("region"), "region: field required"),
}


@pytest.mark.parametrize("what", TREES)
def test_trees(horse: tuple[Path, Tree], what: str, tmp_path: Path) -> None:
    header, arrays = opened_tree(horse[0])
    TREES[what][0](header, arrays)
    craft_tree(tmp_path / "bad.gwtree", header, arrays)
    one_line(f"damaged tree.*{TREES[what][1]}", load_tree, tmp_path / "bad.gwtree", horse[1].moves)


@pytest.mark.parametrize("text", [b"{", b"[]", b"3", b"NaN", b"[" * 10_000, b"\xff", b"{}"])
def test_headers_of_trees(horse: tuple[Path, Tree], text: bytes, tmp_path: Path) -> None:
    craft_tree(tmp_path / "bad.gwtree", *opened_tree(horse[0]), text)
    one_line("damaged tree|nested more than", describe_tree, tmp_path / "bad.gwtree")
    one_line("damaged tree|nested more than", open_tree, tmp_path / "bad.gwtree")


def test_trees_as_deep_as_kernels_climb(horse: tuple[Path, Tree], tmp_path: Path) -> None:
    _, tree = horse
    for levels in (MOST_LEVELS, MOST_LEVELS + 1):
        parents = np.arange(-1, levels, dtype=np.int32)
        deep = compact(tree.moves, tree.region, parents, np.zeros(levels + 1, np.uint8))
        save_tree(deep, tmp_path / "deep.gwtree")
        if levels == MOST_LEVELS:
            assert load_tree(tmp_path / "deep.gwtree", tree.moves).depths.max() == MOST_LEVELS
        else:
            one_line(rf"node {levels}\)", load_tree, tmp_path / "deep.gwtree", tree.moves)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"library": {"cast": "horse", "takes": 1_000_000}}, "library.takes: input should be less than"),
        ({"library": {"cast": "horse", "takes": "2"}}, "library.takes"),
        ({"library": "horse"}, "library: input should be a valid dictionary"),
        ({"kinds": "jump"}, "kinds: input should be a valid list"),
        ({"nodes": 10**10}, "nodes"),
        ({"radius": 1e300}, "radius"),
        ({"seed": -1}, "seed"),
        ({"speed": [3]}, "speed"),
        ({"time_weight": "x"}, "time_weight"),
        ({"library": {"file": "/etc/passwd"}}, "tree of the library file 'passwd', which a tree may not open"),
    ],
)
def test_recipes(horse: tuple[Path, Tree], change: dict[str, Any], problem: str, tmp_path: Path) -> None:
    path, tree = horse
    save_tree(tree, tmp_path / "bad.gwtree", describe_tree(path)["recipe"] | change)
    one_line(problem, open_tree, tmp_path / "bad.gwtree")


def test_a_recipe_never_opens_a_file(library: Path, tmp_path: Path) -> None:
    """Not even one that is there; the user names it."""
    recipe = TreeRecipe(library=library_ref(library), nodes=50, radius=5.0)
    tree = recipe.grow()
    recipe.save(tree, tmp_path / "a.gwtree")
    one_line(r"tree of the library file 'a.gwlib', which a tree may not open", open_tree, tmp_path / "a.gwtree")
    assert len(open_tree(tmp_path / "a.gwtree", library_ref(library))[0]) == len(tree)


# models


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crafted") / "a.gwvary"
    save_model(small_model(), path)
    return path


def put(name: str, value: float, place: Any = 0) -> Change:
    return lambda h, a: a[name].__setitem__(place, value)


MODELS: dict[str, tuple[Change, str]] = {
    "kept beyond": (put("kept", 10_000, -1), "kept columns must rise and be below"),
    "kept negative": (put("kept", -1), "kept columns must rise"),
    "kept twice": (lambda h, a: a["kept"].__setitem__(1, a["kept"][0]), "kept columns must rise"),
    "transition parent": (put("transition.parents", 10_000), "transition.parents names a node"),
    "transition counts": (put("transition.counts", 99), "99 parents"),
    "prior parent": (put("prior.parents", -1), "prior.parents names a node"),
    "prior counts": (lambda h, a: a.update({"prior.counts": a["prior.counts"][:-1]}), "degrees of freedom"),
    "prior takes": (put("prior.takes", 99, slice(None)), "prior.takes must name each"),
    "no phase": (put("take.0.phases", -1.0), "phases must rise from 0"),
    "phase falls": (lambda h, a: a["take.0.phases"].__setitem__(3, a["take.0.phases"][2]), "phases must rise"),
    "phase beyond": (put("take.0.phases", 1e5, -1), "phases must rise"),
    "large rows": (put("take.0.rows", 1e30), "take.0.rows has a number beyond"),
    "no spread": (put("spreads", 0.0), "spreads must be above 0"),
    "no scale": (put("scale", 0.0), "scale must be above 0"),
    "no number": (put("mean", np.nan), "not finite"),
    "reference": (put("reference", 9.0), "quaternions of length one"),
    "period": (lambda h, a: h.update(period=1e-300), "period: input should be greater"),
    "long period": (lambda h, a: h.update(period=5e6), "entries for a period"),
    "mode": (lambda h, a: h.update(mode="x"), "mode: input should be"),
    "memory": (lambda h, a: h.update(memory=1e12), "memory: input should be less"),
    "kernel": (lambda h, a: h["options"]["kernel"].update(neighbours="many"), "options.kernel.neighbours"),
    "scale of phases": (lambda h, a: h["options"]["kernel"].update(phase_scale=-1.0), "phase_scale"),
    "given": (lambda h, a: h["options"].update(given="arm"), "options.given"),
    "options": (lambda h, a: h.update(options=[]), "options: input should be"),
    "contacts": (lambda h, a: a.update({"take.0.contacts": a["take.0.contacts"][:-1]}), "contacts and takes"),
}


@pytest.mark.parametrize("what", MODELS)
def test_models(model: Path, what: str) -> None:
    change, problem = MODELS[what]
    one_line(problem, load_model, changed(model, change))


def test_a_prior_network_with_a_cycle(model: Path) -> None:
    def change(header: Any, arrays: Any) -> None:
        del header
        arrays["prior.parents"][:2, 0], arrays["prior.counts"][:2] = (1, 0), 1

    one_line("cycle", load_model, changed(model, change))


# live crowds


@pytest.fixture(scope="module")
def crowd_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    path, world = tmp_path_factory.mktemp("crafted") / "a.gwlive", World((-8.0, -8.0, 8.0, 8.0))
    with gaitway.live(world) as crowd:
        crowd.add((-3.0, 0.0, 0.0), (3.0, 0.0))
        crowd.add((3.0, 0.0, 0.0), (-3.0, 1.0))
        for _ in range(40):
            crowd.step(1.0 / 30.0)
        crowd.save(path)
    return path, world


def library_of_a_file(header: Any, arrays: Any) -> None:
    del arrays
    for row in (header["values"]["libraries"]["kinds"][0], header["values"]["libraries"]["names"][0][1]):
        row["file"] = "/dev/zero"


CROWDS: dict[str, tuple[Change, str]] = {
    "library file": (library_of_a_file, "library 'zero' is not known here; add it first"),
    "million takes": (lambda h, a: h["values"]["libraries"]["kinds"][0].update(takes=10**6), "takes"),
    "far step": (put("steps", 1e300, (0, slice(None), 0)), "steps too far away"),
    "late step": (put("steps", 1e9, (0, -1, 5)), "steps too far ahead"),
    "no heading": (put("steps", 0.0, (0, slice(None), slice(2, 4))), "headings that are none"),
    "far goal": (put("numbers", 1e300, (0, 0)), "a goal too far away|does not belong"),
    "time": (lambda h, a: h["values"]["engine"].update(time=1e300), "engine.time"),
    "planners": (lambda h, a: h["values"]["engine"].update(planners={}), "engine.planners"),
    "held": (lambda h, a: h["values"].update(held={"x": [0, 0, 0]}), "held"),
    "roster": (lambda h, a: h["values"]["roster"]["characters"][0].__setitem__(1, 1.5), "roster.characters"),
    "sizes": (lambda h, a: h.update(sizes={"until": ["many"]}), "sizes"),
    "no sizes": (lambda h, a: h.update(sizes={}), "lacks 'until'"),
    "record": (put("record", 1e300), "does not belong"),
    "record of nobody": (put("record", -5.0), "does not belong"),
    "movers": (lambda h, a: h["values"]["engine"]["planners"][0]["movers"].update(slots=60_000_000), "movers known"),
}


@pytest.fixture(scope="module")
def waiting(crowd_file: tuple[Path, World]) -> Any:
    with gaitway.live(crowd_file[1]) as crowd:
        crowd.add((0.0, 5.0, 0.0), (1.0, 5.0))
        crowd.step(1.0 / 30.0)
        yield crowd


@pytest.mark.slow
@pytest.mark.parametrize("what", CROWDS)
def test_live_crowds(crowd_file: tuple[Path, World], waiting: LiveCrowd, what: str) -> None:
    change, problem = CROWDS[what]
    one_line(problem, waiting.restore, changed(crowd_file[0], change))


@pytest.mark.slow
def test_the_crowd_itself_is_restored(crowd_file: tuple[Path, World]) -> None:
    path, world = crowd_file
    with gaitway.live(world) as crowd:
        crowd.restore(changed(path, lambda h, a: None))
        crowd.step(1.0 / 30.0)
        assert len(crowd.ids) == 2
        assert json.dumps(crowd.positions().tolist())
