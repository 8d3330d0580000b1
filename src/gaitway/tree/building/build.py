"""`gaitway.build_tree`: a search tree in one call, as `gaitway tree build` grows it."""

from __future__ import annotations

from pathlib import Path

from gaitway.core.progress import Progress, silent
from gaitway.scene.characters import LibraryRef, library_ref
from gaitway.tree.building.growing import STRETCH
from gaitway.tree.building.recipe import TreeRecipe
from gaitway.tree.model import Tree


def build_tree(
    library: str | Path | LibraryRef = "person",
    path: str | Path | None = None,
    *,
    root: str | None = None,
    nodes: int | None = None,
    radius: float | None = None,
    region: str = "disc",
    cell: float | None = None,
    levels: int | None = None,
    method: str = "diverse",
    stretch: float | None = STRETCH,
    per_cell: int = 100,
    seed: int = 0,
    kinds: tuple[str, ...] = (),
    speed: str | float = "normal",
    progress: Progress = silent,
) -> Tree:
    """Build a search tree of a library's motion.

    Args:
        library: a built-in cast's name, a .gwlib file, or a reference of a scene.
        path: file to write the tree to (.gwtree), with all that is needed to read it again; None for no file.
        root: state that the tree begins in; None for one of rest.
        nodes: largest number of nodes; None for 250,000.
        radius: radius of the region [m]; None for about 10 s of walking.
        region: "disc", or "half-disc" for what lies ahead.
        cell: side of the region's cells [m]; None chooses it by the radius.
        levels: largest number of moves one after another; None for the method's own.
        method: method that chooses the nodes: "diverse", "pruned", "exhaustive", or a baseline of the thesis.
        stretch: diverse: largest cost, in costs of the cheapest path to the same cell; None for no bound.
        per_cell: pruned: largest number of nodes in a cell.
        seed: seed of all that is drawn.
        kinds: kinds of special obstacles that the tree shall pass, such as "jump".
        speed: preferred speed: "slow", "normal", "hurry", "fast", or metres per second.
        progress: called with how many nodes there are.

    Raises:
        LibraryError: if there is no such library or state.
        TreeError: if the tree cannot be grown.
        FormatError: if the file cannot be written.
    """
    recipe = TreeRecipe(
        library=library if isinstance(library, LibraryRef) else library_ref(library),
        root=root,
        speed=speed,
        kinds=tuple(kinds),
        method=method,
        nodes=nodes,
        levels=levels,
        region=region,
        radius=radius,
        cell=cell,
        stretch=stretch,
        per_cell=per_cell,
        seed=seed,
    )
    tree = recipe.grow(progress)
    if path is not None:
        recipe.save(tree, path)
    return tree
