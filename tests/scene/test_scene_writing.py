"""What is written is read again, equal; the hash is that of the content and of nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import FormatError
from gaitway.scene import SceneModel, load_scene, ready_scenes, save_scene, scene_from_dict, scene_to_yaml
from gaitway.scene.errands import label
from gaitway.scene.reading.documents import Reader
from gaitway.scene.reading.nodes import parse_nodes, plain_scalar
from gaitway.scene.writing import _Dumper

BASE = {"gaitway": 1, "bounds": [0, 0, 40, 30]}
FULL = {
    **BASE,
    "title": "1e5",
    "description": "two\nlines: and # a colon",
    "seed": 3,
    "library": {"cast": "person", "style": 12},
    "obstacles": [{"box": {"center": [1, 2], "size": [0.1, 1e-5], "height": 2}, "name": "true", "color": "#102030"}],
    "specials": [
        {"yes": {"center": [9, 9], "size": [1, 1], "clearance": 1}},
        {"stairs": {"center": [9, 20], "width": 1, "steps": 3}},
    ],
    "movers": [{"sphere": {"radius": 1}, "path": [[0, 5, 5]], "phases": [{"from": 1, "kind": "passable"}]}],
    "terrain": {"hills": {"height": 1, "wavelength": 9}},
    "characters": [
        {"name": "007", "start": [20, 5], "goal": [20, 25, 90], "speed": "slow", "library": "horse"},
        {"count": 3, "start_area": {"circle": {"center": [30, 15], "radius": 4}}, "goal_area": [1, 20, 6, 28]},
    ],
    "plan": {"weight": 2.0, "heuristics": ["route"]},
    "camera": {"eye": [20, -8, 6], "target": [20, 15, 1]},
}


def read(text):
    reader = Reader()
    model = reader.document(parse_nodes(text.encode(), Path("scene.yaml")).plain(), Path())
    assert reader.problems == []
    return model.model


@pytest.mark.parametrize("name", sorted(ready_scenes()))
def test_ready_scenes_come_back_equal(name, tmp_path):
    scene = load_scene(name)
    save_scene(scene.source, tmp_path / "again.yaml")
    again = load_scene(tmp_path / "again.yaml")
    assert again.source == scene.source
    assert again.hash == scene.hash
    # places of errands are compared by their names alone
    assert [_plain(one) for one in again.characters] == [_plain(one) for one in scene.characters]


def test_everything_comes_back_equal():
    source = scene_from_dict(FULL).source
    text = scene_to_yaml(source)
    assert read(text) == source
    assert scene_to_yaml(read(text)) == text


def test_short_forms_and_one_entry_a_line():
    lines = scene_to_yaml(scene_from_dict(FULL).source).splitlines()
    assert "bounds: [0, 0, 40, 30]" in lines
    assert "- {box: {center: [1, 2], size: [0.1, 1.0e-05], height: 2}, name: \"true\", color: '#102030'}" in lines
    assert any("start_area: {circle:" in line and "goal_area: [1, 20, 6, 28]" in line for line in lines)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Co", "Cn"]), max_size=40))
@settings(max_examples=200)
def test_any_title_comes_back(title):
    model = SceneModel(gaitway=1, bounds=(0.0, 0.0, 1.0, 1.0), title=title)
    assert read(scene_to_yaml(model)).title == title


@given(
    st.sampled_from(
        ["1e5", "0x1", "010", "yes", "~", "", "null", ".inf", "-.5", "1_000", "1:30", "=", "<<", "- a", "a: b"]
    )
)
def test_words_that_look_like_something_else_come_back(title):
    model = SceneModel(gaitway=1, bounds=(0.0, 0.0, 1.0, 1.0), title=title)
    assert read(scene_to_yaml(model)).title == title


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=300)
def test_any_number_comes_back(number):
    text = yaml.dump(number, Dumper=_Dumper).split("\n")[0]
    assert plain_scalar(text) == number


def test_a_file_that_cannot_be_written_is_said_so(tmp_path):
    with pytest.raises(FormatError, match="cannot be written"):
        save_scene(SceneModel(gaitway=1), tmp_path / "no" / "scene.yaml")


def digest(data, folder="."):
    return scene_from_dict(data, folder).hash


def test_comments_spaces_order_titles_and_defaults_do_not_change_the_hash(tmp_path):
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("gaitway: 1\nbounds: [0, 0, 9, 9]\nobstacles: [{sphere: {center: [5, 5], radius: 1}}]\n")
    second.write_text(
        "# a comment\ntitle: other\ncamera: {eye: [1, 1, 2], target: [5, 5, 1]}\n"
        "obstacles:\n- sphere:\n    bottom: 0\n    radius: 1.0\n    center: [5.0, 5]\n"
        "seed: 0\nbounds: [0, 0, 9, 9]\ngaitway: 1\n"
    )
    assert load_scene(first).hash == load_scene(second).hash


def test_what_is_in_another_file_has_the_same_hash(tmp_path):
    (tmp_path / "walls.yaml").write_text("obstacles: [{sphere: {center: [5, 5], radius: 1}}]\n")
    ball = {"sphere": {"center": [5, 5], "radius": 1}}
    assert digest({**BASE, "include": ["walls.yaml"]}, tmp_path) == digest({**BASE, "obstacles": [ball]})


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 4},
        {"bounds": [0, 0, 40, 31]},
        {"obstacles": []},
        {"plan": {"weight": 3}},
        {"library": "horse"},
        {"terrain": {"hills": {"height": 1, "wavelength": 9, "seed": 1}}},
        {"characters": FULL["characters"][:1]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_content_changes_the_hash(change):
    assert digest({**FULL, **change}) != digest(FULL)


def test_bytes_of_files_count_and_their_names_do_not(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 2)))
    np.save(tmp_path / "b.npy", np.zeros((2, 2)))
    np.save(tmp_path / "c.npy", np.ones((2, 2)))
    a, b, c = (digest({**BASE, "terrain": {"heights": f"{name}.npy", "cell": 5}}, tmp_path) for name in ("a", "b", "c"))
    assert a == b != c


def test_numbers_beside_a_gltf_count(tmp_path):
    gltf = {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": "data.bin", "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [2, 2, 2]}
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
        "scene": 0,
    }
    (tmp_path / "roof.gltf").write_text(json.dumps(gltf))
    item = {"mesh": {"file": "roof.gltf", "position": [9, 9, 1]}}
    digests = set()
    for size in (1.0, 2.0):
        (tmp_path / "data.bin").write_bytes(np.array([0, 0, 0, size, 0, 0, 0, size, size], dtype="<f4").tobytes())
        digests.add(digest({**BASE, "obstacles": [item]}, tmp_path))
    assert len(digests) == 2


def _plain(character):
    """A character with words for errands: places are never equal."""
    return replace(character, errands=()), [label(errand) for errand in character.errands]
