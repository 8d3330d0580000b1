"""Mutated files of each of gaitway's own formats, read in a process whose kernels check all indices.

    python fuzz_archives.py SEED FOLDER KIND=COUNT...

writes valid files, changes numbers, indices, shapes, types and words in them, reads them, and runs on what is accepted
the kernels that trust it. Whatever else happens than an error of ours ends the process with the number of the file.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import gaitway
from gaitway.audit import audit_take
from gaitway.bench._mutation import craft_archive, craft_tree, mutate_archive, opened_archive, opened_tree
from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import read_only
from gaitway.core.errors import GaitwayError
from gaitway.library.behavior import Library
from gaitway.library.checks import check_graph, check_joins
from gaitway.library.storage import load_library, save_library
from gaitway.live import LiveCrowd
from gaitway.planning import plan_scene
from gaitway.scene import library_ref, scene_from_dict, with_library
from gaitway.space.fields import WorldFields
from gaitway.take import load_take, save_take
from gaitway.tree.building.coverage import coverage
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.query.tree_search import TreeSearch
from gaitway.tree.region import Region
from gaitway.tree.storage import load_tree, save_tree
from gaitway.variation.network.model import log_likelihood
from gaitway.variation.network.storage import load_model, save_model
from gaitway.variation.sampling.synthesis import sample
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from search_twin import WALKER, small_searcher
from take_makers import random_take
from variation_takes import make_takes, small_model

# each kind: how a valid file is written, how it is taken apart and written again, and how it is read and used


def write_take(path: Path, number: int) -> None:
    save_take(random_take(number % 5), path)


def use_take(path: Path) -> None:
    take = load_take(path)
    for time in (0.0, 0.37 * take.duration, take.duration):
        take.poses(time, contacts=True)
        take.joints(time)
    take.planar([0.0, 0.5 * take.duration])
    if take.duration * take.fps < 2000.0 and len(take) < 50:
        take.clip(0)
        audit_take(take, World((-50.0, -50.0, 50.0, 50.0)))


def write_library(path: Path, number: int) -> None:
    del number
    save_library(
        load_cast("person", behaviors=("wait", "start_walk", "stop_walk", "walk_forward", "turn_left_90")), path
    )


def use_library(path: Path) -> None:
    library: Library = load_library(path)
    check_graph(library)
    check_joins(library)
    scene = scene_from_dict(
        {"gaitway": 1, "bounds": [-4, -4, 8, 4], "characters": [{"name": "a", "start": [0, 0], "goal": [3, 0]}],
         "plan": {"max_seconds": 2.0}}
    )  # fmt: skip
    ref = library_ref(path)
    plan_scene(with_library(scene, ref), libraries={ref: library})


SEARCHER = small_searcher(WALKER)
MOVES = choose_moves(SEARCHER.table, "stand", [act.name for act in WALKER if act.name != "wait"], time_weight=0.1)
FIELDS = WorldFields.of(World((-8.0, -8.0, 8.0, 8.0), (Obstacle(Box((2.0, 1.0), (0.5, 1.5), 2.0)),)))


def write_tree(path: Path, number: int) -> None:
    del number
    save_tree(diverse_tree(MOVES, Region.disc(5.0), Budget(400), stretch=None), path)


def use_tree(path: Path) -> None:
    tree = load_tree(path, MOVES)
    tree.unfold()
    assert tree.depths.max() <= 250
    coverage(tree)
    rng = np.random.default_rng(0)
    starts = np.column_stack([rng.uniform(-3.0, 3.0, (40, 2)), rng.uniform(-3.0, 3.0, 40)])
    search = TreeSearch(SEARCHER, [tree])
    answers = search.find_many(FIELDS, starts, read_only(rng.uniform(-4.0, 4.0, (40, 2))), 0.8)
    for node in answers.nodes[answers.nodes >= 0]:
        tree.path(int(node))


def write_model(path: Path, number: int) -> None:
    save_model(small_model(number % 2 == 0), path)


def use_model(path: Path) -> None:
    model = load_model(path)
    rng = np.random.default_rng(0)
    sample(model, rng)
    sample(model, rng, frames=40, gain=2.0)
    log_likelihood(model, make_takes(1)[0])


LIVE_WORLD = World((-8.0, -8.0, 8.0, 8.0), (Obstacle(Box((0.0, 3.0), (0.5, 1.5), 2.0)),))


def live_crowd() -> LiveCrowd:
    return gaitway.live(LIVE_WORLD, load_cast("person"))


def write_live(path: Path, number: int) -> None:
    with live_crowd() as crowd:
        rng = np.random.default_rng(number % 3)
        poses = np.column_stack([rng.uniform(-7.0, -1.0, (6, 2)), np.zeros(6)])
        crowd.add_many(poses, rng.uniform(1.0, 7.0, (6, 2)))
        for _ in range(40):
            crowd.step(1.0 / 30.0)
        crowd.save(path)


def use_live(path: Path) -> None:
    with live_crowd() as crowd:
        crowd.restore(path)
        for _ in range(15):
            crowd.step(1.0 / 30.0)
        crowd.joints()
        crowd.take()


KINDS: dict[str, tuple[Callable[[Path, int], None], Callable[[Path], None]]] = {
    "take": (write_take, use_take),
    "library": (write_library, use_library),
    "tree": (write_tree, use_tree),
    "model": (write_model, use_model),
    "live": (write_live, use_live),
}


def fuzz(kind: str, seed: int, count: int, folder: Path) -> tuple[int, int]:
    """Return how many mutated files were accepted and refused."""
    write, use = KINDS[kind]
    read, build = (opened_tree, craft_tree) if kind == "tree" else (opened_archive, craft_archive)
    sources = []
    for number in range(5 if kind == "take" else 2):
        write(folder / f"{number}", number)
        use(folder / f"{number}")
        sources.append(read(folder / f"{number}"))
    accepted = refused = 0
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        header, arrays = mutate_archive(sources[number % len(sources)], rng)
        path = folder / "mutated"
        build(path, header, arrays)
        try:
            use(path)
            accepted += 1
        except GaitwayError as problem:
            assert "\n" not in str(problem), str(problem)
            refused += 1
        except BaseException:
            print(f"{kind} {seed} {number}", file=sys.stderr)
            raise
    return accepted, refused


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    seed, place = int(sys.argv[1]), Path(sys.argv[2])
    for kind, _, count in (word.partition("=") for word in sys.argv[3:]):
        (place / kind).mkdir()
        print(kind, *fuzz(kind, seed, int(count), place / kind), flush=True)
