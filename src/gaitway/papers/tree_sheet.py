"""Pictures of several trees on one sheet (Lau 2009, figure 4.10)."""

from __future__ import annotations

from collections.abc import Mapping

from PIL import Image

from gaitway.core.errors import GaitwayError
from gaitway.render.sheets.graph_picture import BACKDROP
from gaitway.render.sheets.tree_picture import tree_picture
from gaitway.tree.model import Tree

NODES = 826
"""Of the trees of figure 4.10."""
_WIDTH, _COLUMNS = 900, 2


def tree_sheet(trees: Mapping[str, Tree]) -> Image.Image:
    """Trees by name, side by side in rows of two.

    Raises:
        GaitwayError: if there is none.
    """
    if not trees:
        raise GaitwayError("a sheet of no trees; give one or more")
    pictures = [
        tree_picture(tree, title=name, text=f"{len(tree):,} nodes, {int(tree.depths.max())} levels", width=_WIDTH)
        for name, tree in trees.items()
    ]
    height, rows = max(picture.size[1] for picture in pictures), -(-len(pictures) // _COLUMNS)
    sheet = Image.new("RGB", (_COLUMNS * _WIDTH, rows * height), BACKDROP)
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (number % _COLUMNS * _WIDTH, number // _COLUMNS * height))
    return sheet
