"""Libraries on disk: the same again, and nothing that is wrong is believed."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from gaitway import planning
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import FormatError, LibraryError
from gaitway.library import Library
from gaitway.library.storage import describe_library, load_library, save_library
from gaitway.motion.skeleton import Skeleton
from gaitway.scene import library_ref, scene_from_dict, with_library


@pytest.fixture(scope="module")
def library() -> Library:
    return load_cast("person")


@pytest.fixture(scope="module")
def file(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("library") / "people.gwlib"
    save_library(library, place, {"from": "tests"})
    return place


def test_a_library_comes_back(library: Library, file: Path) -> None:
    again = load_library(file)
    assert again.graph == library.graph
    assert again.name == library.name
    assert list(again.clips) == list(library.clips)
    assert again.skeleton.contact_points == library.skeleton.contact_points
    for key, clip in library.clips.items():
        back = again.clips[key]
        assert np.abs(back.root_positions - clip.root_positions).max() < 1e-6
        assert np.abs(back.rotations - clip.rotations).max() < 1e-6
        assert np.array_equal(back.contacts, clip.contacts)
        assert (back.fps, back.name, back.labels) == (clip.fps, clip.name, clip.labels)
        assert back.skeleton is again.skeleton


def test_saving_again_gives_the_same_bytes(file: Path, tmp_path: Path) -> None:
    second = tmp_path / "again.gwlib"
    save_library(load_library(file), second, {"from": "tests"})
    assert second.read_bytes() == file.read_bytes()


def test_the_header_can_be_read_alone(file: Path) -> None:
    header = describe_library(file)
    assert header["facts"] == {"from": "tests"}
    assert header["name"] == "person"


def altered(file: Path, folder: Path, **changes: object) -> Path:
    """The file with other words in its header, which its checksum then does not know."""
    out = folder / "altered.gwlib"
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(out, "w") as target:
        for member in source.infolist():
            data = source.read(member)
            if member.filename == "header.npy":
                words = json.loads(np.load(BytesIO(data)).tobytes()) | changes
                buffer = BytesIO()
                np.save(buffer, np.frombuffer(json.dumps(words).encode(), dtype=np.uint8))
                data = buffer.getvalue()
            target.writestr(member, data)
    return out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "other"}, "was edited"),
        ({"version": 99}, "update it"),
        ({"format": "gaitway take"}, "is not a library"),
        ({"clips": []}, "does not belong in a library"),
        ({"skeleton": {}}, "does not hold together"),
    ],
)
def test_what_was_edited_is_refused(file: Path, tmp_path: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(FormatError, match=words):
        load_library(altered(file, tmp_path, **changes))


@pytest.mark.parametrize("content", [b"", b"rubbish", b"PK\x03\x04" + bytes(40)])
def test_rubbish_is_one_line(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "rubbish.gwlib"
    place.write_bytes(content)
    with pytest.raises(FormatError, match=r"rubbish\.gwlib: is not a library"):
        load_library(place)


def test_clips_on_another_skeleton_are_refused(library: Library, tmp_path: Path) -> None:
    key, clip = next(iter(library.clips.items()))
    other: Skeleton = replace(library.skeleton)
    mixed = replace(library, clips={**library.clips, key: replace(clip, skeleton=other)})
    with pytest.raises(LibraryError, match=f"'{key}' is not on the skeleton"):
        save_library(mixed, tmp_path / "mixed.gwlib")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_scenes_name_libraries_by_file(file: Path) -> None:
    data = {
        "gaitway": 1, "bounds": [0, 0, 12, 8], "library": "people.gwlib",
        "characters": [{"name": "ada", "start": [2, 4, 0], "goal": [10, 4]}],
    }  # fmt: skip
    scene = scene_from_dict(data, file.parent)
    assert scene.characters[0].library.file == str(file)
    planned = planning.plan_scene(scene)
    assert not planned.failed
    usual = scene_from_dict({**data, "library": "person"})
    assert scene.hash != usual.hash
    assert planned.take.names == planning.plan(usual).names


def test_libraries_are_found_by_name(file: Path) -> None:
    assert library_ref("person", "style-3").style == "style-3"
    assert library_ref(file).load().name == "person"
    with pytest.raises(LibraryError, match="did you mean 'person'"):
        library_ref("persons")
    with pytest.raises(LibraryError, match="no styles"):
        library_ref(file, "style-3")
    with pytest.raises(FormatError, match=r"none\.gwlib: cannot be read"):
        library_ref("none.gwlib")


def test_a_scene_takes_another_library(file: Path) -> None:
    people = [{"start": [2, 4], "goal": [10, 4]}, {"start": [2, 6], "goal": [10, 6], "library": {"style": 3}}]
    scene = scene_from_dict({"gaitway": 1, "bounds": [0, 0, 12, 8], "characters": people})
    assert len({character.library for character in scene.characters}) == 2
    other = with_library(scene, library_ref(file))
    assert {character.library.file for character in other.characters} == {str(file)}


@pytest.mark.slow
def test_waits_that_creep_by_a_millimetre_are_planned_with(library: Library) -> None:
    clips = dict(library.clips)
    for name in ("stand", "wait"):
        roots = clips[name].root_positions.copy()
        roots[:, 0] += np.linspace(0.0, 0.001, len(roots))
        clips[name] = replace(clips[name], root_positions=roots)
    creeping = replace(library, clips=clips)
    data = {
        "gaitway": 1, "bounds": [0, 0, 16, 8],
        "obstacles": [{"box": {"center": [8, 2], "size": [1, 4], "height": 2}},
                      {"box": {"center": [8, 6.6], "size": [1, 2.8], "height": 2}}],
        "characters": [{"name": f"p{k}", "start": [2 + 12 * (k % 2), 2 + k], "goal": [14 - 12 * (k % 2), 2 + k]}
                       for k in range(6)],
    }  # fmt: skip
    scene = scene_from_dict(data)
    planned = planning.plan_scene(scene, libraries={scene.characters[0].library: creeping})
    steps = [step.clip for plan in planned.crowd.plans.values() for step in plan.steps]
    assert {"stand", "wait"} & set(steps)
    assert not planned.failed
