"""`gaitway tree`: grow search trees and look at them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gaitway.cli.show import Json, check_output, progress, say, show_facts
from gaitway.core.errors import GaitwayError

if TYPE_CHECKING:
    from gaitway.tree.building.recipe import TreeRecipe
    from gaitway.tree.model import Tree

tree_app = typer.Typer(help="Grow search trees, once for any place and goal, and look at them.", no_args_is_help=True)

LibraryName = Annotated[str, typer.Argument(metavar="LIBRARY", help="A built-in cast, or a .gwlib file.")]
Style = Annotated[str | None, typer.Option(help="Whose manner: neutral, style-1 to style-8, or a number.")]


@tree_app.command("build")
def tree_build(
    library: LibraryName,
    output: Annotated[Path, typer.Option("--out", "-o", help="The tree to write (.gwtree).")],
    root: Annotated[str | None, typer.Option(help="State that it begins in; one of rest if left out.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Most nodes; 250,000 if left out.")] = None,
    megabytes: Annotated[float | None, typer.Option(help="Most memory instead, at 16 bytes a node.")] = None,
    radius: Annotated[float | None, typer.Option(help="Of the region, in metres; 10 s of the way if left out.")] = None,
    region: Annotated[str, typer.Option(help="disc, or half-disc for what lies ahead.")] = "disc",
    cell: Annotated[float | None, typer.Option(help="Side of the region's cells, in metres.")] = None,
    levels: Annotated[int | None, typer.Option(help="Most moves one after another.")] = None,
    method: Annotated[
        str,
        typer.Option(
            help="diverse, pruned, exhaustive; or for comparison green-kelly, inner-product, inclusion-exclusion, "
            "survivable."
        ),
    ] = "diverse",
    stretch: Annotated[
        float | None, typer.Option(help="diverse: most cost, in costs of the cheapest way; 0 for no bound.")
    ] = None,
    per_cell: Annotated[int, typer.Option(help="pruned: most nodes in a cell.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of whatever is drawn.")] = 0,
    kinds: Annotated[str, typer.Option(help="Special obstacles to pass, such as jump,duck.")] = "",
    speed: Annotated[str, typer.Option(help="slow, normal, hurry, fast, or metres in a second.")] = "normal",
    style: Style = None,
    as_json: Json = False,
) -> None:
    """Grow a tree of a library's motion and write it; print how large and how even it is."""
    check_output(output, ".gwtree")
    from gaitway.core.jit import compile_seconds
    from gaitway.scene.characters import library_ref
    from gaitway.tree.building.growing import STRETCH, Budget
    from gaitway.tree.building.recipe import TreeRecipe

    if nodes is not None and megabytes is not None:
        raise GaitwayError("--nodes and --megabytes say the same; write one of them")
    if megabytes is not None:
        nodes = Budget.memory(megabytes).nodes
    recipe = TreeRecipe(
        library=library_ref(library, style), root=root, speed=_speed(speed), kinds=_words(kinds), method=method,
        nodes=nodes, levels=levels, region=region, radius=radius, cell=cell, per_cell=per_cell, seed=seed,
        stretch=STRETCH if stretch is None else stretch or None,
    )  # fmt: skip
    with progress(f"growing {output.name}") as show:
        moves = recipe.moves()
        began, compiling = time.perf_counter(), compile_seconds()
        tree = recipe.grow(lambda _, done, total: show(f"growing {output.name}", done, total), moves)
        seconds = time.perf_counter() - began - (compile_seconds() - compiling)
        recipe.save(tree, output)
    show_facts(_facts(output, tree, recipe) | {"seconds": round(seconds, 2)}, as_json)
    if not as_json:
        say(f"wrote {output}")


@tree_app.command("show")
def tree_show(
    tree: Annotated[Path, typer.Argument(help="A .gwtree file.")],
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="Draw to this PNG: paths by cell, and all paths.")
    ] = None,
    library: Annotated[
        str | None, typer.Option(help="Library that it was grown of; as the file says if left out.")
    ] = None,
    style: Style = None,
    width: Annotated[int, typer.Option(min=480, max=7680, help="Of the picture in pixels.")] = 1400,
    as_json: Json = False,
) -> None:
    """Print what a tree holds; with -o, draw how many paths reach each cell, and the paths."""
    if output is not None:
        check_output(output, ".png")
    from gaitway.scene.characters import library_ref
    from gaitway.tree.building.recipe import open_tree

    if style is not None and library is None:
        raise GaitwayError("--style goes with --library; write both or neither")
    found, recipe = open_tree(tree, None if library is None else library_ref(library, style))
    facts = _facts(tree, found, recipe)
    if output is not None:
        from gaitway.render.sheets.tree_picture import tree_picture

        with progress(f"drawing {output.name}"):
            tree_picture(found, output, title=_title(found, recipe), text=_text(facts), width=width)
    show_facts(facts, as_json)
    if output is not None and not as_json:
        say(f"wrote {output}")


def _facts(path: Path, tree: Tree, recipe: TreeRecipe) -> dict[str, object]:
    """What a tree holds, for people and programs."""
    from gaitway.tree.building.coverage import coverage

    counts, density = coverage(tree)
    own = counts[tree.region.inside]
    ends = tree.moves.table.rest[tree.states]
    area = len(tree.region) * tree.region.spec.cell**2
    return {
        "file": str(path),
        "library": recipe.library.name,
        "root": tree.moves.root,
        "method": recipe.method,
        "moves": len(tree.moves),
        "clips": tree.moves.clips,
        "nodes": len(tree),
        "levels": int(tree.depths.max()),
        "megabytes": round(tree.nbytes / 1e6, 3),
        "bytes_a_node": round(tree.nbytes / len(tree), 2),
        "region_m2": round(area, 2),
        "cell_m": round(tree.region.spec.cell, 4),
        "covered_percent": round(100.0 * float((own > 0).mean()), 1),
        "density": round(density, 1),
        "unevenness": round(float(own.std() / max(own.mean(), 1e-9)), 3),
        "ends_at_rest": int(ends.sum()),
        "ends_a_m2": round(float(ends.sum()) / area, 1),
        "dearest": round(float(tree.costs.max()), 2),
    }


def _title(tree: Tree, recipe: TreeRecipe) -> str:
    return f"{recipe.library.name} from '{tree.moves.root}', {recipe.method}"


def _text(facts: dict[str, Any]) -> str:
    return (
        f"{facts['nodes']:,} nodes of {facts['moves']} moves, {facts['levels']} levels, {facts['megabytes']:.2f} MB; "
        f"{facts['ends_at_rest']:,} end at rest; {facts['covered_percent']:g} % of the cells are reached"
    )


def _speed(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
