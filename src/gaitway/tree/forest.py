"""Forests: trees of one library and speed, by the state that they begin in: at rest, and in a gait (multi-root)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from gaitway.core.errors import TreeError
from gaitway.core.progress import Progress, silent
from gaitway.library.actions import ActionTable
from gaitway.scene.plan_options import TIME_WEIGHT
from gaitway.tree.building.default_moves import usual_behaviors, usual_region, usual_roots
from gaitway.tree.building.growing import LEVELS, STRETCH, Budget, diverse_tree
from gaitway.tree.building.tree_cache import kept
from gaitway.tree.model import Tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.region import Region

NODES = 250_000
"""Default budget of each tree: 4 MB."""


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees by root; all are grown of the same moves in the same order, in the same region."""

    trees: Mapping[str, Tree]
    """Trees by the name of the state that each begins in."""

    def __post_init__(self) -> None:
        if not self.trees:
            raise TreeError("forest without a tree; name a state for one to begin in")
        object.__setattr__(self, "trees", MappingProxyType(dict(self.trees)))

    def __len__(self) -> int:
        return len(self.trees)

    def __contains__(self, state: str) -> bool:
        return state in self.trees

    @property
    def roots(self) -> tuple[str, ...]:
        """Names of the states that trees begin in."""
        return tuple(self.trees)

    @property
    def nbytes(self) -> int:
        """Memory of all nodes."""
        return sum(tree.nbytes for tree in self.trees.values())

    def tree(self, state: str) -> Tree:
        """Return the tree for a character in a state.

        Raises:
            TreeError: if none begins there.
        """
        if state not in self.trees:
            raise TreeError(f"no tree begins in state '{state}'; there are trees of {', '.join(self.trees)}")
        return self.trees[state]


def grow_forest(
    table: ActionTable,
    roots: Collection[str] | None = None,
    budget: Budget | None = None,
    region: Region | None = None,
    *,
    kinds: Collection[str] = (),
    able: Collection[str] | None = None,
    time_weight: float = TIME_WEIGHT,
    levels: int = LEVELS,
    stretch: float | None = STRETCH,
    seed: int = 0,
    progress: Progress = silent,
) -> Forest:
    """Grow scalable and diverse trees of a library, or take them from disk.

    Args:
        table: actions of the library, with the weights that plans are made with, so that costs are the same.
        roots: states that trees begin in; `default_moves.usual_roots` unless given.
        budget: size of each tree; `NODES` unless given.
        region: region that trees must not leave; `default_moves.usual_region` unless given.
        kinds: kinds of special obstacles that are to be passed, such as "jump".
        able: special behaviours that pass all obstacles of their kind, see `default_moves.usual_behaviors`.
        time_weight: cost of a second [m/s], as in plans.
        levels: largest number of moves one after another.
        stretch: largest cost of a path, see `diverse_tree`.
        seed: seed of all trees.
        progress: called with the root, how many trees are done, and of how many.

    Raises:
        LibraryError: if there is no such state.
        TreeError: if no behaviour passes such obstacles, or a tree has no room.
    """
    chosen = tuple(usual_roots(table, time_weight) if roots is None else roots)
    names = usual_behaviors(table, chosen, kinds, time_weight, able)
    where, most = region or usual_region(table, time_weight), budget or Budget(NODES)
    trees = {}
    for done, root in enumerate(chosen):
        progress(root, done, len(chosen))
        moves = choose_moves(table, root, names, time_weight)
        grow = partial(diverse_tree, moves, where, most, levels=levels, stretch=stretch, seed=seed)
        trees[root] = kept(moves, where, ("diverse", most.nodes, levels, stretch, seed), grow)
    return Forest(trees)
