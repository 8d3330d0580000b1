"""Whatever is wrong with a scene file is one line: the file, the line, the place in it, the value, what to write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gaitway.core.errors import FormatError, GaitwayError, SceneError
from gaitway.scene import load_scene, scene_from_dict, scene_problems
from gaitway.scene.reading.nodes import MAX_BYTES

TABLE = (Path(__file__).parent / "bad_scenes.txt").read_text(encoding="utf-8").split("===== ")[1:]
CASES = [re.fullmatch(r"([^\n]*)\n(.*?)-> ([^\n]*)\n", block, flags=re.DOTALL).groups() for block in TABLE]
HEAD = "gaitway: 1\nbounds: [0, 0, 40, 30]\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_many_and_each_has_a_name_of_its_own():
    assert len(CASES) >= 130
    assert len({name for name, _, _ in CASES}) == len(CASES)


@pytest.mark.parametrize(("text", "message"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_message(here, text, message):
    Path("scene.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(GaitwayError) as caught:
        load_scene("scene.yaml")
    assert str(caught.value) == f"scene.yaml:{message}"
    problems = scene_problems("scene.yaml")
    assert re.sub(r" \(and \d+ more problems?\)$", "", str(caught.value)) == str(problems[0])
    assert not any(problem.warning for problem in problems)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"gaitway: 1\ntitle: \xff\n", "scene.yaml:2: is not UTF-8 text; save it as UTF-8"),
        (b"gaitway: 1\ntitle: \x07\n", "scene.yaml:2: has a character that YAML does not allow; remove it"),
    ],
)
def test_bytes_that_are_no_text(here, text, message):
    Path("scene.yaml").write_bytes(text)
    with pytest.raises(FormatError) as caught:
        load_scene("scene.yaml")
    assert str(caught.value) == message


def test_broken_yaml_names_line_and_column(here):
    Path("scene.yaml").write_text("gaitway: 1\nobstacles:\n\t- 1\n")
    with pytest.raises(FormatError, match=r"^scene.yaml:3: is not YAML at column \d+: [^\n]+$"):
        load_scene("scene.yaml")


def test_no_such_scene(here):
    with pytest.raises(FormatError, match=r"^nowhere.yaml: no such file$"):
        load_scene("nowhere.yaml")
    with pytest.raises(FormatError, match=r"no ready scene of that name; did you mean 'falling_tree'\?"):
        load_scene("faling_tree")
    with pytest.raises(FormatError, match="is a folder; name a file"):
        load_scene(here)
    assert str(scene_problems("nowhere.yaml")[0]) == "nowhere.yaml: no such file"


def test_a_device_is_no_scene():
    if Path("/dev/zero").exists():
        with pytest.raises(FormatError, match="is a device, which is not read; name a file"):
            load_scene("/dev/zero")


def test_size_of_the_file_is_limited(here):
    Path("scene.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(FormatError, match=f"has {MAX_BYTES + 1} bytes; a scene file may have {MAX_BYTES}"):
        load_scene("scene.yaml")


def test_lines_of_keys_and_values_in_blocks(here):
    Path("scene.yaml").write_text(
        HEAD + "obstacles:\n- box:\n    center:\n    - 1\n    - x\n    size: [1, 1]\n    tall: 2\n"
    )
    lines = [str(problem) for problem in scene_problems("scene.yaml")]
    assert lines == [
        "scene.yaml:4: obstacles[0].box.height: missing; write for example height: 2.5",
        "scene.yaml:6: obstacles[0].box.center: [1, 'x'] has something that is not a number; write [x, y] in metres",
        "scene.yaml:9: obstacles[0].box.tall: unknown key; write one of center, size, height, yaw_deg, bottom",
    ]


def test_all_problems_at_once_in_the_order_of_the_file(here):
    Path("scene.yaml").write_text(
        HEAD + "seed: -1\nobstacles: [{box: 3}]\ncharacters:\n- {start: [1, 1], goal: 7}\ntitle: 1\n"
    )
    problems = scene_problems("scene.yaml")
    assert [p.place for p in problems] == ["seed", "obstacles[0].box", "characters[0].goal", "title"]
    assert [p.line for p in problems] == [3, 4, 6, 7]
    with pytest.raises(SceneError, match=r"^scene.yaml:3: seed: .* \(and 3 more problems\)$"):
        load_scene("scene.yaml")


def test_messages_stay_on_one_line_whatever_the_file_says(here):
    Path("scene.yaml").write_text(HEAD + '"a\\nb\\u001b[31m": 1\nobstacles: [{box: "x\\ny"}]\n')
    lines = [str(problem) for problem in scene_problems("scene.yaml")]
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    Path("scene.yaml").write_text('gaitway: 1\n"a\\nb": 1\n"a\\nb": 2\n')
    assert str(scene_problems("scene.yaml")[0]).isprintable()
    Path("scene.yaml").write_text(HEAD + 'specials: [{"a\\nb": {center: [1, 1], size: [1, 1], height: 1}}]\n')
    assert str(scene_problems("scene.yaml")[0]).isprintable()


def test_dictionaries_have_places_but_no_lines():
    with pytest.raises(SceneError, match=r"^characters\[0\].goal: \[50, 3\] is outside bounds \[0, 0, 40, 30\]; write"):
        scene_from_dict({"gaitway": 1, "bounds": [0, 0, 40, 30], "characters": [{"start": [1, 1], "goal": [50, 3]}]})
    with pytest.raises(SceneError, match=r"^seed: a set cannot be part of a scene$"):
        scene_from_dict({"gaitway": 1, "bounds": [0, 0, 1, 1], "seed": {1}})
    with pytest.raises(SceneError, match=r"^scene: key 1 is not a text; write it in quotes$"):
        scene_from_dict({1: 2})
    with pytest.raises(SceneError, match="nested more than 32 deep"):
        nested: list = []
        nested.append(nested)
        scene_from_dict({"obstacles": nested})


def test_a_thousand_problems_are_enough(here):
    Path("scene.yaml").write_text(HEAD + "".join(f"key{number}: 1\n" for number in range(2000)))
    assert len(scene_problems("scene.yaml")) == 1000
