"""Clips that are shipped as data: they are what the generators make, and reading them needs no generator."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from gaitway.cast import generating
from gaitway.cast.baked import baked_library, write_baked
from gaitway.cast.catalog import cast_names, load_cast, style_names
from gaitway.cast.generating import generate_cast
from gaitway.cast.horse.body import HorseStyle
from gaitway.demo import PORTRAIT
from gaitway.library import Library

TOOL = Path(__file__).resolve().parents[2] / "tools/bake_cast.py"


@cache
def bake_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bake_cast", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_near(one: Library, two: Library, tolerance: float = 0.0) -> None:
    """Numbers within a tolerance, all else equal; the second read-only."""
    assert one.name == two.name and one.skeleton is two.skeleton
    assert bake_tool().difference(one, two) <= tolerance
    for clip in two.clips.values():
        for array in (clip.root_positions, clip.rotations, clip.contacts):
            assert array is not None and array.flags.c_contiguous and not array.flags.writeable


def test_the_baked_clips_are_not_out_of_date() -> None:
    tool = bake_tool()
    assert tool.DIGEST.read_text().strip() == tool.source_digest(), "run tools/bake_cast.py"


def test_the_digest_is_of_code_alone() -> None:
    words = bake_tool().code_words
    one, same, other = (
        "".join(words(ast.parse(text)))
        for text in (
            '"""A."""\ndef f(a):\n    """B."""\n    return a + 1',
            "# c\ndef f( a ): return (a+1)",
            "def f(a): return a + 2",
        )
    )
    assert one == same != other


@pytest.mark.slow
@pytest.mark.parametrize("cast", cast_names())
def test_the_baked_clips_are_what_is_generated(cast: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within rounding: processors differ in the last bits."""
    monkeypatch.setenv("GAITWAY_CACHE", "off")
    tool = bake_tool()
    libraries, complete = tool.libraries_of(cast)
    for style, library in libraries.items():
        assert_near(library, tool.baked(cast, style, library, style in complete), tool.ROUNDING)


@pytest.mark.parametrize("cast", ["horse", "skateboarder"])
def test_what_is_read_is_what_was_written(cast: str, tmp_path: Path) -> None:
    made = generate_cast(cast, style="style-2")
    write_baked(cast, {"style-2": made}, ("style-2",), tmp_path)
    found = baked_library(cast, "style-2", made.skeleton, None, tmp_path)
    assert found is not None
    assert_near(made, found)
    assert baked_library(cast, "neutral", made.skeleton, None, tmp_path) is None


def test_a_part_is_what_is_generated_alone() -> None:
    names = ["stop_gallop", "start_gallop", "stand"]
    assert_near(generate_cast("horse", behaviors=names), load_cast("horse", behaviors=names), bake_tool().ROUNDING)
    assert not load_cast("horse", behaviors=[]).clips


@pytest.mark.slow
def test_only_what_is_not_baked_is_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(generating, "generate_cast", lambda name, **_: asked.append(name))
    for cast in cast_names():
        load_cast(cast)
        load_cast(cast, style="neutral", behaviors=["stand"] if cast != "skateboarder" else ["jump"])
    load_cast("horse", style=HorseStyle())
    for pose in PORTRAIT:
        for style in style_names() if pose.cast == "person" else (None,):
            load_cast(pose.cast, style=style, behaviors=[pose.behavior])
    assert not asked
    load_cast("person", style="style-1")
    load_cast("person", style=1, behaviors=["stand"])
    load_cast("person", behaviors=["stand"], seed=1)
    load_cast("person", behaviors=["stand"], takes=2)
    load_cast("person", behaviors=["stannd"])
    load_cast("horse", style=HorseStyle(nod=1.1))
    assert len(asked) == 6


def test_a_folder_without_baked_files(tmp_path: Path) -> None:
    skeleton = load_cast("horse", behaviors=[]).skeleton
    assert baked_library("horse", "neutral", skeleton, None, tmp_path) is None


def test_names_need_neither_numpy_nor_kernels() -> None:
    code = "import sys, gaitway.cast.catalog as c; c.cast_names(); print({'numpy', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
def test_reading_needs_no_generator() -> None:
    """Neither the generators' modules nor any of their kernels."""
    code = (
        "import sys, gaitway.cast.catalog as c\n"
        "for name in c.cast_names(): c.load_cast(name)\n"
        "c.load_cast('person', style='style-3', behaviors=['wave'])\n"
        "print(*[m for m in sys.modules if m.startswith('gaitway.cast.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    plain = {"baked", "catalog", *cast_names(), *(f"{name}.skeleton" for name in cast_names())}
    assert {name.removeprefix("gaitway.cast.") for name in done.stdout.split()} <= plain
