"""Recipes of trees: all settings that are needed to grow a tree again, and to use its file on its own."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from gaitway.core.archives import Header, checked
from gaitway.core.errors import FormatError, GaitwayError, TreeError
from gaitway.core.progress import Progress, silent
from gaitway.library.actions import ActionTable
from gaitway.library.size import SIZES
from gaitway.scene.characters import LibraryRef
from gaitway.scene.plan_options import TIME_WEIGHT
from gaitway.space.movement_costs import SPEEDS, planning_table
from gaitway.tree.building.default_moves import usual_cell, usual_radius, usual_roots
from gaitway.tree.building.growing import LEVELS, STRETCH, Budget, diverse_tree, exhaustive_tree, pruned_tree
from gaitway.tree.forest import NODES
from gaitway.tree.model import MOST_LEVELS, MOST_NODES, Tree
from gaitway.tree.moves import Moves, choose_moves
from gaitway.tree.region import Region
from gaitway.tree.storage import describe_tree, load_tree, save_tree
from gaitway.tree.thesis.baselines import (
    Baseline,
    green_kelly_tree,
    inclusion_exclusion_tree,
    inner_product_tree,
    survivable_tree,
)

BASELINES: Mapping[str, Baseline] = {
    "green-kelly": green_kelly_tree,
    "inner-product": inner_product_tree,
    "inclusion-exclusion": inclusion_exclusion_tree,
    "survivable": survivable_tree,
}
METHODS = ("diverse", "pruned", "exhaustive", *BASELINES)
"""Ways to choose nodes, see `growing` and `baselines`."""
REGIONS = ("disc", "half-disc")
_FEW_LEVELS, _FEW_NODES = 4, 1000
"""Default levels and nodes of methods that choose among all sequences."""

MOST_TAKES = 16
"""Most takes of a cast that a file may ask for: each is generated when the file is opened."""


class LibraryHeader(Header):
    """The library of a recipe in a file."""

    cast: str = "person"
    style: str | int | None = None
    takes: Annotated[int, Field(ge=1, le=MOST_TAKES)] = 1
    size: Annotated[float, Field(ge=SIZES[0], le=SIZES[1])] = 1.0
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    file: str = ""


class RecipeHeader(Header):
    """A recipe in a file."""

    library: LibraryHeader
    kinds: Annotated[list[str], Field(max_length=100)]
    root: str | None = None
    speed: str | Annotated[float, Field(gt=0.0, le=1000.0)] = "normal"
    time_weight: Annotated[float, Field(ge=0.0, le=1000.0)] = TIME_WEIGHT
    method: str = "diverse"
    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)] | None = None
    levels: Annotated[int, Field(ge=1, le=MOST_LEVELS)] | None = None
    region: str = "disc"
    radius: Annotated[float, Field(gt=0.0, le=1e5)] | None = None
    cell: Annotated[float, Field(gt=0.0, le=1e4)] | None = None
    stretch: Annotated[float, Field(ge=1.0, le=1e6)] | None = STRETCH
    per_cell: Annotated[int, Field(ge=1, le=MOST_NODES)] = 100
    seed: Annotated[int, Field(ge=0, le=2**64)] = 0


@dataclass(frozen=True)
class TreeRecipe:
    """Settings of a tree. Settings that are None are chosen by the library and method."""

    library: LibraryRef = field(default_factory=LibraryRef)
    root: str | None = None
    """State that it begins in."""
    speed: str | float = "normal"
    """Preferred speed: a word, or metres per second."""
    kinds: tuple[str, ...] = ()
    """Kinds of special obstacles that are to be passed."""
    time_weight: float = TIME_WEIGHT
    """Cost of a second [m/s]."""
    method: str = "diverse"
    nodes: int | None = None
    levels: int | None = None
    region: str = "disc"
    radius: float | None = None
    """Radius of the region [m]."""
    cell: float | None = None
    """Side of the region's cells [m]."""
    stretch: float | None = STRETCH
    """Largest cost of a path of the diverse method, as a multiple of the cheapest path to the same cell; None for no
    limit."""
    per_cell: int = 100
    """Largest number of nodes in a cell of the pruned method."""
    seed: int = 0

    def __post_init__(self) -> None:
        _one_of("method", self.method, METHODS)
        _one_of("region", self.region, REGIONS)
        if isinstance(self.speed, str):
            _one_of("speed", self.speed, tuple(SPEEDS), " or metres in a second")
        elif not (math.isfinite(self.speed) and self.speed > 0.0):
            raise TreeError(f"speed {self.speed} m/s of a tree must be above 0")
        if self.seed < 0:
            raise TreeError(f"seed {self.seed} of a tree must be 0 or more")

    def table(self) -> ActionTable:
        """Return the actions of its library, with weights for its speed."""
        library = self.library.load()
        return planning_table(library, self.speed)

    def moves(self) -> Moves:
        """Return the moves of the tree."""
        table = self.table()
        root = usual_roots(table, self.time_weight)[0] if self.root is None else self.root
        return choose_moves(table, root, time_weight=self.time_weight, kinds=self.kinds)

    def grow(self, progress: Progress = silent, moves: Moves | None = None) -> Tree:
        """Grow the tree.

        Args:
            progress: called now and then with the task, the number of nodes, and of how many.
            moves: result of `moves`, if it was called before.

        Raises:
            LibraryError: if there is no such library or state.
            TreeError: if it cannot be grown.
        """
        moves = moves or self.moves()
        if self.method in ("diverse", "pruned"):
            budget = Budget(NODES if self.nodes is None else self.nodes)
            levels, where = LEVELS if self.levels is None else self.levels, self._region(moves)
            if self.method == "pruned":
                return pruned_tree(moves, where, budget, self.per_cell, levels, self.seed)
            return diverse_tree(
                moves, where, budget, levels=levels, stretch=self.stretch, seed=self.seed, progress=progress
            )
        levels = _FEW_LEVELS if self.levels is None else self.levels
        inside = None if self.radius is None else self._region(moves)
        most = None if self.nodes is None else Budget(self.nodes)
        if self.method == "exhaustive":
            return exhaustive_tree(moves, levels, inside, most)
        return BASELINES[self.method](exhaustive_tree(moves, levels, inside), most or Budget(_FEW_NODES), self.seed)

    def save(self, tree: Tree, path: str | Path) -> None:
        """Write the grown tree with its recipe."""
        save_tree(tree, path, dataclasses.asdict(self))

    def _region(self, moves: Moves) -> Region:
        radius = usual_radius(moves.table, self.time_weight) if self.radius is None else self.radius
        cell = usual_cell(radius) if self.cell is None else self.cell
        return Region.half_disc(radius, cell) if self.region == "half-disc" else Region.disc(radius, cell=cell)


def open_tree(path: str | Path, library: LibraryRef | None = None) -> tuple[Tree, TreeRecipe]:
    """Read a tree and its recipe from a file.

    Args:
        path: file that `TreeRecipe.save` wrote.
        library: library to use instead of the one that the file names. A library file must be given: a tree never makes
            another file be read.

    Raises:
        FormatError: if there is none, it is damaged, of another version or library, or its file does not tell.
    """
    recipe = _told(Path(path), describe_tree(path).get("recipe"))
    if library is not None:
        recipe = dataclasses.replace(recipe, library=library)
    elif recipe.library.file:
        name = recipe.library.name
        raise FormatError(Path(path), f"tree of the library file '{name}', which a tree may not open; use --library")
    return load_tree(path, recipe.moves()), recipe


def _told(place: Path, facts: object) -> TreeRecipe:
    """Return the recipe in a header."""
    if not isinstance(facts, dict):
        raise FormatError(place, "the file does not tell how the tree was grown; use 'gaitway.tree.load_tree'")
    try:
        told = checked(RecipeHeader, facts).model_dump()
        return TreeRecipe(**{**told, "library": LibraryRef(**told["library"]), "kinds": tuple(told["kinds"])})
    except (ValueError, GaitwayError) as problem:
        raise FormatError(place, f"the file does not tell how the tree was grown ({problem}); grow it anew") from None


def _one_of(what: str, word: str, known: tuple[str, ...], more: str = "") -> None:
    if word not in known:
        raise TreeError(f"{what} '{word}' of a tree is not known; write {', '.join(known)}{more}")
