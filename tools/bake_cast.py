"""Write the files of baked clips of the built-in cast, `src/gaitway/cast/data/NAME.npz`.

    python tools/bake_cast.py [--anew]

Run it after a change of anything that the generators of the cast rest on; a test says when that is due. Baked are all
behaviours of every cast in its mean style, and of the person's other named styles those behaviours that the demo draws.
A file stays as it is if its clips differ from the new ones by rounding alone, as between processors. The file
`data/baked_from.txt` holds a digest of the source that they were made with, without comments and docstrings.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gaitway.cast.baked import FOLDER, SEED, TAKES, baked_facts, baked_library, write_baked
from gaitway.cast.catalog import cast_names, style_names
from gaitway.cast.generating import generate_cast
from gaitway.core.sources import source_files
from gaitway.demo import PORTRAIT
from gaitway.library import Behavior, Library

SOURCES = ("gaitway.cast",)
DIGEST = FOLDER / "baked_from.txt"
ROUNDING = 1e-9
"""Differences of coordinates [m, and of quaternions] that do not make a file be written anew."""


def source_digest() -> str:
    """Return the SHA-256 of the code and fitted coefficients that clips of the cast are generated from."""
    total = hashlib.sha256()
    baked = {FOLDER / f"{name}.npz" for name in cast_names()}
    package = FOLDER.parents[1]
    for file in source_files(SOURCES):
        if file in baked or file.suffix == ".pyi":
            continue
        total.update(f"{file.relative_to(package).as_posix()}\n".encode())
        if file.suffix == ".py":
            total.update("".join(code_words(ast.parse(file.read_bytes()))).encode())
        else:
            total.update(file.read_bytes())
    return total.hexdigest()


def code_words(node: ast.AST) -> Iterator[str]:
    """Yield the words of a syntax tree without docstrings, the same for all versions of Python."""
    yield f"({type(node).__name__}"
    for name, value in ast.iter_fields(node):
        for number, item in enumerate(value if isinstance(value, list) else [value]):
            if (
                isinstance(item, ast.Expr)
                and isinstance(item.value, ast.Constant)
                and isinstance(item.value.value, str)
            ):
                continue  # a docstring
            if isinstance(item, ast.AST):
                yield f" {name}"
                yield from code_words(item)
            elif item is not None:
                yield f" {name}.{number}={item!r}"
    yield ")"


def libraries_of(cast: str) -> tuple[dict[str, Library], tuple[str, ...]]:
    """Generate what is baked of a cast: libraries by style, and the styles that have all behaviours."""
    mean, *others = style_names()
    libraries = {mean: generate_cast(cast, seed=SEED, takes=TAKES)}
    if drawn := drawn_behaviors(cast):
        for style in others:
            libraries[style] = generate_cast(cast, style=style, seed=SEED, takes=TAKES, behaviors=drawn)
    return libraries, (mean,)


def drawn_behaviors(cast: str) -> list[str]:
    """Return the behaviours that the demo draws in any named style; it draws only people so."""
    return sorted({pose.behavior for pose in PORTRAIT if pose.cast == cast}) if cast == "person" else []


def difference(one: Library, two: Library | None) -> float:
    """Return the largest difference of a coordinate or time of two libraries; infinity if anything else differs."""
    if two is None or list(one.clips) != list(two.clips) or timeless(one) != timeless(two):
        return np.inf
    pairs = zip(one.graph.behaviors, two.graph.behaviors, strict=True)
    worst = max((abs((a.pass_time or 0.0) - (b.pass_time or 0.0)) for a, b in pairs), default=0.0)
    for a, b in zip(one.clips.values(), two.clips.values(), strict=True):
        if (a.name, a.fps, a.labels, len(a)) != (b.name, b.fps, b.labels, len(b)):
            return np.inf
        if a.contacts is None or b.contacts is None or (a.contacts != b.contacts).any():
            return np.inf
        worst = max(worst, np.abs(a.root_positions - b.root_positions).max(), np.abs(a.rotations - b.rotations).max())
    return worst


def timeless(library: Library) -> list[Behavior]:
    """Return the behaviours of a library with all times of passing set to 0."""
    return [b if b.pass_time is None else replace(b, pass_time=0.0) for b in library.graph.behaviors]


def baked(cast: str, style: str, like: Library, complete: bool) -> Library | None:
    """Return the baked library of a style, or None if there is none with these behaviours."""
    return baked_library(cast, style, like.skeleton, None if complete else [b.name for b in like.graph.behaviors])


def main() -> int:
    """Bake every cast and print the sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anew", action="store_true", help="write files whose clips differ by rounding alone, too")
    anew = parser.parse_args().anew
    os.environ["GAITWAY_CACHE"] = "off"
    for cast in cast_names():
        libraries, complete = libraries_of(cast)
        far = [difference(new, baked(cast, style, new, style in complete)) for style, new in libraries.items()]
        same = not anew and max(far) <= ROUNDING and set(baked_facts(cast)) == set(libraries)
        path = FOLDER / f"{cast}.npz" if same else write_baked(cast, libraries, complete)
        count = sum(len(library.clips) for library in libraries.values())
        verdict = f"stays: differs by {max(far):.0e}" if same else "written"
        print(f"{path.name:17} {path.stat().st_size / 1e6:5.2f} MB, {len(libraries)} styles, {count} clips; {verdict}")
    DIGEST.write_text(f"{source_digest()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
