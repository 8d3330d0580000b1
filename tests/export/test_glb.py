"""Takes as GLB, read back by a general library, by our own loader and judged by the format's validator."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pygltflib
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core.errors import FormatError, GaitwayError
from gaitway.export import glb
from gaitway.export.glb import export_glb
from gaitway.export.glb_parts import far_reaching
from gaitway.motion.formats import load_clip
from gaitway.render.bodies.hands import with_fingers
from gaitway.take.tracks import assemble, lay_track
from gaitway.world import Box, Mover, Obstacle, World
from gaitway.world.doors import Door
from gaitway.world.escalators import Escalator
from gaitway.world.lifts import Lift
from gaitway.world.surface import surface
from glb_scene import everybody, place
from gltf_validator import validated
from small_takes import odd_take, walkers

NUMBERS = {5121: "u1", 5122: "i2", 5123: "u2", 5125: "u4", 5126: "f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read(path: Path) -> tuple[dict, bytes]:
    """The two parts of a GLB file, taken apart by hand."""
    data = path.read_bytes()
    _, version, size = struct.unpack_from("<III", data)
    assert version == 2 and size == len(data)
    length, _ = struct.unpack_from("<II", data, 12)
    return json.loads(data[20 : 20 + length]), data[20 + length + 8 :]


def values(document: dict, blob: bytes, number: int) -> np.ndarray:
    accessor = document["accessors"][number]
    view = document["bufferViews"][accessor["bufferView"]]
    kind, width = NUMBERS[accessor["componentType"]], WIDTHS[accessor["type"]]
    found = np.frombuffer(blob, "<" + kind, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)
    return found / np.iinfo(found.dtype).max if accessor.get("normalized") else found


def tracks(document: dict, name: str) -> dict[str, tuple[dict, int]]:
    """Samplers of the named node by path, and the node's number."""
    animation = document["animations"][0]
    numbers = [i for i, n in enumerate(document["nodes"]) if n.get("name") == name]
    return {
        c["target"]["path"]: (animation["samplers"][c["sampler"]], numbers[0])
        for c in animation["channels"]
        if c["target"]["node"] in numbers
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("glb") / "take.glb"
    export_glb(everybody(), path, place())
    return path


@pytest.mark.slow
def test_the_validator_finds_nothing(written: Path, tmp_path: Path) -> None:
    report = validated(written)
    assert report["issues"]["numErrors"] == report["issues"]["numWarnings"] == 0, report["issues"]["messages"][:5]
    assert report["info"]["hasSkins"] and report["info"]["animationCount"] == 1
    assert report["info"]["maxInfluences"] == 4
    for name, take in (("odd", odd_take()), ("late", walkers(3, starts=(0.4, 0.0, 1.0)))):
        export_glb(take, tmp_path / f"{name}.glb")
        issues = validated(tmp_path / f"{name}.glb")["issues"]
        assert issues["numErrors"] == issues["numWarnings"] == 0, issues["messages"][:5]


def test_the_validator_would_find_something(written: Path, tmp_path: Path) -> None:
    document, blob = read(written)
    document["skins"][0]["joints"][0] = 99_999
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<IIIII", 0x46546C67, 2, 28 + len(text) + len(blob), len(text), 0x4E4F534A)
    bad = tmp_path / "bad.glb"
    bad.write_bytes(head + text + struct.pack("<II", len(blob), 0x004E4942) + blob)
    assert validated(bad)["issues"]["numErrors"] > 0


def test_a_general_reader_finds_everybody(written: Path) -> None:
    file, take = pygltflib.GLTF2().load(str(written)), everybody()
    names = [node.name for node in file.nodes]
    assert set(take.names) <= set(names)
    assert len(file.skins) == len(take)
    for skin, body in zip(file.skins, take.bodies, strict=True):
        assert [file.nodes[j].name for j in skin.joints] == list(with_fingers(take.skeletons[body]).names)
    facts = next(n.extras for n in file.nodes if n.name == "Cleo Späth")
    assert facts["character"] == "Cleo Späth" and facts["behaviors"][0][1] == "duck"
    assert facts["behaviors"][0][0] == pytest.approx(0.7)


@pytest.mark.parametrize("name", ["person", "horse", "skateboarder"])
def test_our_own_loader_gives_the_same_joints(name: str, tmp_path: Path) -> None:
    behavior = {"person": "crawl_under", "horse": "gallop_forward", "skateboarder": "jump"}[name]
    clip = load_cast(name, behaviors=[behavior]).clips[behavior]
    take = assemble([lay_track("one", [clip], (2.0, -1.0, 0.8))], fps=clip.fps)
    export_glb(take, tmp_path / "one.glb")
    back, expected = load_clip(tmp_path / "one.glb"), take.clip(0)
    assert back.fps == pytest.approx(expected.fps) and len(back) == len(expected)
    joints = [back.skeleton.names.index(n) for n in expected.skeleton.names]
    apart = np.linalg.norm(back.joint_positions()[:, joints] - expected.joint_positions(), axis=-1)
    assert apart.max() < 2e-4  # 0.1 mm and what single precision leaves
    assert np.sqrt((apart**2).mean()) < 5e-5


def test_two_who_do_the_same_share_their_data(tmp_path: Path) -> None:
    clip = load_cast("person", behaviors=["jump"]).clips["jump"]
    both = [lay_track(n, [clip], (0.0, y, 0.0)) for n, y in (("a", 0.0), ("b", 2.0))]
    samplers, channels = [], []
    for count in (1, 2):
        export_glb(assemble(both[:count], fps=30.0), tmp_path / f"{count}.glb")
        document, blob = read(tmp_path / f"{count}.glb")
        samplers.append(len(document["animations"][0]["samplers"]))
        channels.append(len(document["animations"][0]["channels"]))
        chunks = [blob[v["byteOffset"] : v["byteOffset"] + v["byteLength"]] for v in document["bufferViews"]]
        assert len(set(chunks)) == len(chunks)  # nothing is stored twice
    assert channels[1] == 2 * channels[0]
    assert samplers[1] == samplers[0] + 1  # the second one is in another place, and that is all


def test_what_stays_has_one_key_or_none(tmp_path: Path) -> None:
    clip = load_cast("person", behaviors=["wave"]).clips["wave"]
    export_glb(assemble([lay_track("a", [clip])], fps=30.0), tmp_path / "a.glb")
    document, blob = read(tmp_path / "a.glb")
    assert tracks(document, "HeadTop_End") == {}
    for channel in document["animations"][0]["channels"]:
        found = values(document, blob, document["animations"][0]["samplers"][channel["sampler"]]["output"])
        assert len(found) == 1 or np.ptp(found, axis=0).max() > 0.0


def test_rotations_near_the_ends_are_small_and_the_others_precise(tmp_path: Path) -> None:
    skeleton = person_skeleton()
    precise = far_reaching(skeleton)
    assert precise[0] and not precise[skeleton.index("LeftHand")]
    export_glb(walkers(1), tmp_path / "a.glb")
    document, _ = read(tmp_path / "a.glb")
    for name, kind in (("LeftUpLeg", 5126), ("LeftLeg", 5122)):
        sampler = tracks(document, name)["rotation"][0]
        assert document["accessors"][sampler["output"]]["componentType"] == kind


def test_hands_have_fingers_and_garments_one_material_with_a_plain_name(written: Path) -> None:
    document, blob = read(written)
    names = [n["name"] for n in document["nodes"]]
    assert {"LeftHandThumb1", "RightHandIndex3", "LeftHandPinky4"} <= set(names)
    curled = next(n for n in document["nodes"] if n["name"] == "LeftHandIndex2")
    assert 2.0 * np.degrees(np.arccos(curled["rotation"][3])) == pytest.approx(26.0, abs=1.0)
    materials = [m["name"] for m in document["materials"]]
    assert len(set(materials)) == len(materials) and not any("." in name for name in materials)
    assert {"shirt", "trousers", "skin", "hair", "shoes"} <= {name.split("_")[0] for name in materials}
    for mesh in document["meshes"]:
        if not any("JOINTS_0" in p["attributes"] for p in mesh["primitives"]):
            continue
        used = [p["material"] for p in mesh["primitives"]]
        garments = [document["materials"][m]["extras"]["garment"] for m in used]
        assert len(set(garments)) == len(garments)  # one material a garment
        for primitive in mesh["primitives"]:
            flat = values(document, blob, primitive["attributes"]["TEXCOORD_0"])
            assert flat.min() >= 0.0 and flat.max() <= 1.0 and np.ptp(flat, axis=0).min() > 0.05


def test_who_comes_late_has_no_size_before(tmp_path: Path) -> None:
    take = walkers(2, starts=(0.0, 0.5), names=("early", "late"))
    export_glb(take, tmp_path / "a.glb")
    document, blob = read(tmp_path / "a.glb")
    late = tracks(document, "late")["scale"][0]
    assert late["interpolation"] == "STEP"
    np.testing.assert_allclose(values(document, blob, late["input"])[:, 0], [0.0, 0.5], atol=1e-6)
    np.testing.assert_array_equal(values(document, blob, late["output"])[:, 0], [0.0, 1.0])
    early = tracks(document, "early")["scale"][0]
    np.testing.assert_array_equal(values(document, blob, early["output"])[:, 0], [1.0, 0.0])


def test_times_before_nought_are_moved(tmp_path: Path) -> None:
    export_glb(walkers(1, starts=(-1.0,)), tmp_path / "a.glb")
    document, blob = read(tmp_path / "a.glb")
    times = [values(document, blob, s["input"]) for s in document["animations"][0]["samplers"]]
    assert min(t.min() for t in times) == 0.0
    assert document["asset"]["extras"]["start"] == pytest.approx(-1.0)


def test_obstacles_lie_where_they_are(written: Path) -> None:
    document, blob = read(written)
    for obstacle in place().obstacles:
        if obstacle.name:
            node = next(n for n in document["nodes"] if n.get("name") == obstacle.name)
            part = document["meshes"][node["mesh"]]["primitives"][0]
            x, y, z = values(document, blob, part["attributes"]["POSITION"]).T
            np.testing.assert_allclose(np.stack([z, x, y], axis=1), surface(obstacle.shape)[0], atol=1e-5)
            assert node["extras"] == {"kind": obstacle.kind}


def test_treads_go_as_they_do(tmp_path: Path) -> None:
    belt = Escalator((0.0, 0.0), 2.0, name="way up")
    export_glb(walkers(1, 2.0), tmp_path / "a.glb", World((-9, -5, 9, 5), belt.panels(), escalators=(belt,)))
    document, blob = read(tmp_path / "a.glb")
    names = [node["name"] for node in document["nodes"] if "tread" in node.get("name", "")]
    assert names == [f"way up tread {number}" for number in range(belt.tread_count)]
    sampler, _ = tracks(document, "way up tread 5")["translation"]
    times = values(document, blob, sampler["input"])[:, 0].astype(np.float64)
    rises = values(document, blob, sampler["output"])[:, 1]
    assert rises == pytest.approx(belt.tread_places(5, times)[:, 2], abs=1e-3)
    assert np.ptp(rises) > 0.2


def test_lifts_go_up_as_they_do(tmp_path: Path) -> None:
    lift = Lift((2.0, 0.0), (2.0, 2.0), (0.0, 3.0), dwell=0.5, speed=4.5, name="lift")
    export_glb(walkers(1, 2.0), tmp_path / "a.glb", World((-5, -5, 5, 5), lifts=(lift,)))
    document, blob = read(tmp_path / "a.glb")
    sampler, _ = tracks(document, "lift")["translation"]
    times = values(document, blob, sampler["input"])[:, 0].astype(np.float64)
    rises = values(document, blob, sampler["output"])[:, 1]  # Y is up in such files
    assert rises == pytest.approx(lift.height(times), abs=1e-4)
    assert rises.max() > 2.9


def test_movers_turn_as_far_as_they_do(tmp_path: Path) -> None:
    mover = Mover.of(Box((0.0, 0.0), (1.0, 1.0), 1.0), [0.0, 1.0, 5.0], [(0, 0, 0), (1, 0, 7.0), (1, 3, 7.0)], name="m")
    export_glb(walkers(1, 2.0), tmp_path / "a.glb", World((-5, -5, 5, 5), movers=(mover,)))
    document, blob = read(tmp_path / "a.glb")
    turning = tracks(document, "m")["rotation"][0]
    times = values(document, blob, turning["input"])[:, 0]
    turned = values(document, blob, turning["output"])
    # programs go the short way between two keys: added up it must be the whole turn
    steps = 2.0 * np.arccos(np.clip(np.abs((turned[1:] * turned[:-1]).sum(axis=1)), 0.0, 1.0))
    assert steps.sum() == pytest.approx(7.0, abs=0.02) and steps.max() < 0.3
    assert times[0] == 0.0 and times[-1] == pytest.approx(take_end(walkers(1, 2.0)), abs=0.05)
    moving = tracks(document, "m")["translation"][0]
    places = values(document, blob, moving["output"])
    np.testing.assert_allclose(places[-1], [3.0 * (times[-1] - 1.0) / 4.0, 0.0, 1.0], atol=1e-5)


def test_doors_move_as_the_take_tells(tmp_path: Path) -> None:
    box = Box((0.0, 0.0), (1.0, 0.1), 2.0)
    gate = Door(
        name="gate",
        shape=box,
        middle=(0, 2),
        across=0.5 * np.pi,
        width=1.0,
        shut=(0, 2, 0),
        open=(1, 2, 0),
        seconds=1.0,
    )
    told = {"doors": {"gate": {"path": [[0.0, 0, 2, 0], [0.4, 0, 2, 0], [1.4, 1, 2, 0]], "moves": []}}}
    take = replace(walkers(1, 2.0), facts=told)
    export_glb(take, tmp_path / "a.glb", World((-5, -5, 5, 5), movers=(gate.mover(),), doors=(gate,)))
    document, blob = read(tmp_path / "a.glb")
    moving = tracks(document, "gate")["translation"][0]
    times, places = values(document, blob, moving["input"])[:, 0], values(document, blob, moving["output"])
    np.testing.assert_allclose(np.interp([0.2, 0.9, 1.6], times, places[:, 2]), [0.0, 0.5, 1.0], atol=0.02)


def take_end(take) -> float:
    return float(take.ends.max())


def test_an_empty_wall_is_left_out_and_names_stay_apart(tmp_path: Path) -> None:
    walls = tuple(Obstacle(Box((x, 0.0), (0.5, 0.5), 1.0)) for x in (0.0, 1.0, 2.0))
    export_glb(walkers(1), tmp_path / "a.glb", World((-5, -5, 5, 5), walls))
    names = [n.get("name") for n in read(tmp_path / "a.glb")[0]["nodes"]]
    assert [n for n in names if n.startswith("wall")] == ["wall", "wall_2", "wall_3"]


def test_other_rates_and_progress(tmp_path: Path) -> None:
    told = []
    export_glb(walkers(3), tmp_path / "a.glb", fps=12.0, progress=lambda what, done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    document, blob = read(tmp_path / "a.glb")
    times = values(document, blob, tracks(document, "Hips")["translation"][0]["input"])[:, 0]
    np.testing.assert_allclose(np.diff(times), 1.0 / 12.0, atol=1e-6)


def test_the_same_take_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        export_glb(walkers(3), tmp_path / f"{name}.glb")
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def test_what_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match=r"ends in \.glb"):
        export_glb(walkers(1), tmp_path / "a.gltf")
    with pytest.raises(FormatError, match="no folder"):
        export_glb(walkers(1), tmp_path / "nowhere" / "a.glb")
    with pytest.raises(GaitwayError, match="rate"):
        export_glb(walkers(1), tmp_path / "a.glb", fps=-3.0)
    monkeypatch.setattr(glb, "MAX_BYTES", 1000)
    with pytest.raises(FormatError, match="fewer frames"):
        export_glb(walkers(1), tmp_path / "a.glb")
    assert list(tmp_path.iterdir()) == []
