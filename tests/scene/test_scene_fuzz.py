"""Whatever is in a scene file, only our own errors come out, on one line and soon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gaitway.core.errors import FormatError, SceneError
from gaitway.scene import load_scene, ready_scenes, scene_from_dict, scene_problems
from gaitway.scene.reading.nodes import read_nodes

SMALL = ("c_trap", "circle_swap", "corridor", "falling_tree", "fence_and_beam", "open_square")
TEXTS = [ready_scenes()[name].read_text(encoding="utf-8") for name in SMALL]
TREES = [read_nodes(ready_scenes()[name]).plain() for name in SMALL]
PIECES = [
    "[",
    "]",
    "{",
    "}",
    ":",
    "- ",
    "\n",
    "  ",
    "&a ",
    "*a",
    "!!map ",
    "? ",
    "|",
    ">",
    "'",
    '"',
    "#",
    "%",
    "\t",
    "---\n",
]
PIECES += [
    ".nan",
    "1e999",
    "-0",
    "99999999999999999999",
    "null",
    "true",
    "\x00",
    "\u2028",
    "gaitway: 1\n",
    "include: [s.yaml]\n",
]
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from([10**400, -(10**30), 1e-300, "opposite", "person", [], {}, [[]], [0, 0], [1, 2, 3], {"box": {}}]),
    st.lists(st.floats(), max_size=4),
    st.dictionaries(
        st.sampled_from(["center", "size", "height", "points", "start", "goal", "count"]), st.integers(), max_size=3
    ),
)
LAX = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def check(path: Path) -> None:
    began = time.process_time()
    problems = scene_problems(path, passing=False)
    assert time.process_time() - began < 60.0
    assert all(str(problem).isprintable() for problem in problems)
    if all(problem.warning for problem in problems):
        load_scene(path)
    else:
        with pytest.raises((SceneError, FormatError)):
            load_scene(path)


@pytest.mark.slow
@given(st.sampled_from(TEXTS), st.data())
@LAX
def test_edited_text(tmp_path, text, data):
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.sampled_from(["", *PIECES])) + text[at + cut :]
    path = tmp_path / "s.yaml"
    path.write_text(text, encoding="utf-8")
    check(path)


@given(st.binary(max_size=200))
@LAX
def test_any_bytes(tmp_path, raw):
    path = tmp_path / "s.yaml"
    path.write_bytes(raw)
    check(path)


@given(st.text(st.sampled_from("[]{}:,-&*!|>'\"#%@` \n\tab01.~?"), max_size=60))
@LAX
def test_any_yaml_like_text(tmp_path, text):
    path = tmp_path / "s.yaml"
    path.write_text("gaitway: 1\n" + text, encoding="utf-8")
    check(path)


def edited(tree, data):
    """A tree with something odd somewhere in it."""
    if isinstance(tree, dict) and tree and data.draw(st.integers(0, 9)):
        key = data.draw(st.sampled_from(sorted(tree)))
        return {**tree, key: edited(tree[key], data)}
    if isinstance(tree, tuple | list) and tree and data.draw(st.integers(0, 9)):
        index = data.draw(st.integers(0, len(tree) - 1))
        return [*tree[:index], edited(tree[index], data), *tree[index + 1 :]]
    return data.draw(ODD)


@given(st.sampled_from(TREES), st.data())
@settings(max_examples=300)
def test_odd_values_anywhere(tree, data):
    began = time.process_time()
    try:
        scene_from_dict(edited(edited(tree, data), data))
    except (SceneError, FormatError) as error:
        assert str(error).isprintable()
    assert time.process_time() - began < 60.0
