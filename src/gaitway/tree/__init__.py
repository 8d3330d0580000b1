"""Precomputed search trees: motion grown once, for any place and goal (Lau 2009, chapter 4)."""

from gaitway.tree.building.coverage import coverage, density
from gaitway.tree.building.growing import Budget, diverse_tree, exhaustive_tree, pruned_tree
from gaitway.tree.forest import Forest, grow_forest
from gaitway.tree.model import Tree
from gaitway.tree.moves import Moves, choose_moves
from gaitway.tree.portfolio import Portfolio
from gaitway.tree.query.tree_search import TreeSearch
from gaitway.tree.region import Region
from gaitway.tree.storage import load_tree, save_tree

__all__ = [
    "Budget",
    "Forest",
    "Moves",
    "Portfolio",
    "Region",
    "Tree",
    "TreeSearch",
    "choose_moves",
    "coverage",
    "density",
    "diverse_tree",
    "exhaustive_tree",
    "grow_forest",
    "load_tree",
    "pruned_tree",
    "save_tree",
]
