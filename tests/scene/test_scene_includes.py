"""Files included by files: whose entries come first, whose values win, and who is to blame for an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gaitway.core.errors import SceneError
from gaitway.scene import build_scene, load_scene, scene_from_dict, scene_problems

BALL = "{sphere: {center: [%s, 5], radius: 0.5}, name: %s}"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**texts: str) -> None:
        for name, text in texts.items():
            path = Path(name.replace("__", "/") + ".yaml")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    return write


def test_lists_come_before_ours_and_our_values_win(files):
    files(
        main=f"gaitway: 1\ntitle: main\ninclude: [walls.yaml, more.yaml]\nobstacles: [{BALL % (9, 'main')}]\n",
        walls=f"bounds: [0, 0, 20, 20]\ntitle: walls\nseed: 5\nobstacles: [{BALL % (1, 'walls')}]\n",
        more=f"include: [deep.yaml]\nseed: 6\nobstacles: [{BALL % (7, 'more')}]\n",
        deep=f"seed: 7\nobstacles: [{BALL % (5, 'deep')}]\ncharacters: [{{start: [1, 9], goal: [9, 9]}}]\n",
    )
    scene = load_scene("main.yaml")
    assert [o.name for o in scene.world.obstacles] == ["walls", "deep", "more", "main"]
    assert (scene.title, scene.seed, scene.world.bounds) == ("main", 6, (0.0, 0.0, 20.0, 20.0))
    assert [c.name for c in scene.characters] == ["character1"]


def test_names_are_relative_to_the_file_that_says_them(files):
    files(
        main="gaitway: 1\nbounds: [0, 0, 9, 9]\ninclude: [parts/walls.yaml]\n",
        parts__walls="include: [../balls.yaml]\nterrain: {heights: hills.npy, cell: 5}\n",
        balls=f"obstacles: [{BALL % (5, 'ball')}]\n",
    )
    np.save("parts/hills.npy", np.ones((2, 2)))
    scene = load_scene("main.yaml")
    assert scene.world.obstacles[0].name == "ball"
    assert scene.world.ground([1, 1]) == 1.0


def test_absolute_names_and_links_are_followed(files, tmp_path):
    files(
        main=f"gaitway: 1\nbounds: [0, 0, 9, 9]\ninclude: ['{tmp_path}/balls.yaml', link.yaml]\n",
        balls=f"obstacles: [{BALL % (5, 'ball')}]\n",
        target=f"obstacles: [{BALL % (7, 'linked')}]\n",
    )
    Path("link.yaml").symlink_to("target.yaml")
    assert [o.name for o in load_scene("main.yaml").world.obstacles] == ["ball", "linked"]


def test_errors_name_the_included_file(files):
    files(
        main="gaitway: 1\nbounds: [0, 0, 9, 9]\ninclude: [a.yaml, b.yaml, c.yaml]\nseed: -1\n",
        a="obstacles:\n- {box: 3}\n",
        b="x: [1\n",
        c="gaitway: 2\n",
    )
    assert [str(p) for p in scene_problems("main.yaml")] == [
        "main.yaml:4: seed: -1 is out of range; write a whole number from 0 to 4294967295",
    ]
    files(main="gaitway: 1\nbounds: [0, 0, 9, 9]\ninclude: [a.yaml, b.yaml, c.yaml]\n")
    first, second, third = (str(p) for p in scene_problems("main.yaml"))
    assert first == "a.yaml:2: obstacles[0].box: 3 is not a map; write a map: {key: value}"
    assert second.startswith("b.yaml:2: is not YAML at column")
    assert third == "c.yaml:1: gaitway: 2 is no version of the format that this gaitway reads; write gaitway: 1"


def test_what_does_not_fit_together_is_blamed_on_the_file_that_says_it(files):
    files(
        main="gaitway: 1\nbounds: [0, 0, 9, 9]\ninclude: [people.yaml]\ncharacters: [{start: [1, 1], goal: [3, 3]}]\n",
        people="characters:\n- {start: [2, 2], goal: [50, 3]}\n",
    )
    with pytest.raises(SceneError) as caught:
        load_scene("main.yaml")
    assert str(caught.value) == (
        "people.yaml:2: characters[0].goal: [50, 3] is outside bounds [0, 0, 9, 9]; write a point inside"
    )


def test_circles_are_refused(files):
    files(main="gaitway: 1\ninclude: [a.yaml]\n", a="include: [b.yaml]\n", b="include: [./a.yaml]\n")
    with pytest.raises(SceneError) as caught:
        load_scene("main.yaml")
    assert str(caught.value) == (
        "b.yaml:1: include[0]: './a.yaml' includes itself, directly or by way of others; leave it out"
    )


def test_one_file_may_be_included_twice_but_not_in_a_circle(files):
    files(
        main="gaitway: 1\nbounds: [0, 0, 9, 9]\ninclude: [a.yaml, b.yaml]\n",
        a="include: [ball.yaml]\n",
        b="include: [ball.yaml]\n",
        ball=f"obstacles: [{BALL % (5, 'ball')}]\n",
    )
    assert len(load_scene("main.yaml").world.obstacles) == 2


def test_depth_is_limited(files):
    files(main="gaitway: 1\nbounds: [0, 0, 9, 9]\ninclude: [f1.yaml]\n")
    files(**{f"f{n}": f"include: [f{n + 1}.yaml]\n" for n in range(1, 8)}, f8=f"obstacles: [{BALL % (5, 'ball')}]\n")
    assert len(load_scene("main.yaml").world.obstacles) == 1
    files(f8="include: [f9.yaml]\n", f9="{}\n")
    with pytest.raises(
        SceneError, match=r"^f8.yaml:1: include\[0\]: 'f9.yaml' is included more than 8 deep; write its"
    ):
        load_scene("main.yaml")


def test_number_of_files_is_limited(files):
    files(main="gaitway: 1\nbounds: [0, 0, 9, 9]\ninclude: [f1.yaml]\n")
    many = ", ".join(["f{}.yaml"] * 5)
    files(**{f"f{n}": f"include: [{many.replace('{}', str(n + 1))}]\n" for n in range(1, 8)}, f8="{}\n")
    with pytest.raises(SceneError, match="is one file too many; a scene may have 1000"):
        load_scene("main.yaml")


def test_dictionaries_and_models_include_too(files):
    files(walls=f"obstacles: [{BALL % (5, 'ball')}]\n")
    scene = scene_from_dict({"gaitway": 1, "bounds": [0, 0, 9, 9], "include": ["walls.yaml"]})
    assert scene.world.obstacles[0].name == "ball"
    assert build_scene(scene.source).world.obstacles[0].name == "ball"
