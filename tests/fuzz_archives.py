"""Mutated files of each of gaitway's own formats, read in a process whose kernels check all indices.

    python fuzz_archives.py KIND SEED COUNT FOLDER

writes valid files, changes numbers, indices, shapes, types and words in them, reads them, and runs on what is accepted
the kernels that trust it. Whatever else happens than an error of ours ends the process with the number of the file.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gaitway
from crafted import craft, craft_tree, opened, opened_tree
from gaitway.audit import audit_take
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

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 7, 255, 256, 2**31, 2**63, -(2**63), 0.5, -0.5, 1e-300, 1e9, -1e9, 1e300, "", "x",
    "\x1b[31m", [], {}, [1], [[1, 2]], {"a": 1},
)  # fmt: skip
ODD_FLOATS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 1e-9, -1.0, 0.5, 1e6, 1e9, -1e9, 1e30, 1e300, -1e300)
_FIXED = {"format", "version", "written_by", "sha256", "sums"}


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a tree of JSON values."""
    found = [place] if place else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if place or key not in _FIXED:
            found += places(inner, (*place, key))
    return found


def mutate_words(header: dict[str, Any], rng: np.random.Generator) -> None:
    """Change a value of a header."""
    known = places(header)
    place = known[int(rng.integers(len(known)))]
    holder: Any = header
    for step in place[:-1]:
        holder = holder[step]
    last, old = place[-1], holder[place[-1]]
    number = isinstance(old, int | float) and not isinstance(old, bool)
    match int(rng.integers(8)):
        case 0:
            holder.pop(last)
        case 1 if isinstance(holder, list):
            holder.append(copy.deepcopy(old))
        case 2 | 3 | 4 if number:
            holder[last] = old + [-1, 1, 1000, -0.5][int(rng.integers(4))]
        case 5 if number:
            holder[last] = old * [-1, 2, 1000, 0.001][int(rng.integers(4))]
        case _:
            holder[last] = copy.deepcopy(ODD_VALUES[int(rng.integers(len(ODD_VALUES)))])


def mutate_array(arrays: dict[str, npt.NDArray[Any]], rng: np.random.Generator) -> None:
    """Change numbers, the shape or the type of an array, or take it away."""
    name = list(arrays)[int(rng.integers(len(arrays)))]
    array = arrays[name] = np.array(arrays[name])
    match int(rng.integers(16)):
        case 0:
            arrays[name] = array[:-1]
        case 1:
            arrays[name] = np.concatenate([array, array[-1:]])
        case 2:
            arrays[name] = array[:0]
        case 3:
            arrays[name] = array.astype([np.float64, np.float32, np.int64, np.int32, np.uint8][int(rng.integers(5))])
        case 4:
            arrays.pop(name)
        case 5 if array.ndim > 1:
            arrays[name] = array[..., :-1]
        case _ if array.size:
            for place in rng.integers(array.size, size=int(rng.choice([1, 1, 2, 5]))):
                array.reshape(-1)[place] = odd_number(array, place, rng)


def odd_number(array: npt.NDArray[Any], place: int, rng: np.random.Generator) -> Any:
    """A number that does not belong where it is put."""
    old = array.reshape(-1)[place]
    if array.dtype.kind == "b":
        return not old
    with np.errstate(all="ignore"):
        if array.dtype.kind == "f":
            near = (old * -1, old * 2, old + 1, old * 1e-3, old * 1e3)
            return array.dtype.type([*ODD_FLOATS, *near][int(rng.integers(len(ODD_FLOATS) + len(near)))])
        ends = np.iinfo(array.dtype)
        odd = [ends.min, ends.max, 0, 1, len(array) % ends.max, int(old) + 1, int(old) - 1, int(rng.integers(100))]
        return np.clip(odd[int(rng.integers(len(odd)))], ends.min, ends.max)


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
    read, build = (opened_tree, craft_tree) if kind == "tree" else (opened, craft)
    sources = []
    for number in range(5 if kind == "take" else 2):
        write(folder / f"{number}", number)
        use(folder / f"{number}")
        sources.append(read(folder / f"{number}"))
    accepted = refused = 0
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        header, arrays = copy.deepcopy(sources[number % len(sources)])
        for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
            if arrays and rng.random() < 0.6:
                mutate_array(arrays, rng)
            else:
                mutate_words(header, rng)
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
    kind, seed, count, folder = sys.argv[1:]
    print(*fuzz(kind, int(seed), int(count), Path(folder)))
