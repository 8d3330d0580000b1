"""glTF files in: small assets built by hand."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.errors import FormatError
from gaitway.motion.clip import Clip
from gaitway.motion.formats import gltf, load_clip, load_clip_with_report
from glb_builder import Asset

QUARTER = float(np.sqrt(0.5))
STILL, QUARTER_ABOUT_Z = [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, QUARTER, QUARTER]


def arm(interpolation: str | None = None, values: object = (STILL, QUARTER_ABOUT_Z)) -> Asset:
    """A root with one bone of 2 m along +Y; the root turns by a quarter about Z within a second."""
    asset = Asset()
    root = asset.node("hips", translation=[1.0, 2.0, 3.0])
    tip = asset.node("arm", root, translation=[0.0, 2.0, 0.0])
    asset.animate(root, "rotation", [0.0, 1.0], values, interpolation)
    asset.skin([root, tip])
    return asset


def file_positions(clip: Clip) -> np.ndarray:
    """Joint positions back in the file's axes, Y up."""
    return clip.joint_positions()[..., [1, 2, 0]]


def test_linear_keys_are_slerped(tmp_path: Path) -> None:
    clip, report = load_clip_with_report(arm().save_glb(tmp_path / "arm.glb"))
    assert (len(clip), clip.fps) == (31, 30.0)
    assert clip.skeleton.names == ("hips", "arm")
    angles = np.linspace(0.0, np.pi / 2, 31)
    wanted = np.column_stack([1 - 2 * np.sin(angles), 2 + 2 * np.cos(angles), np.full(31, 3.0)])
    np.testing.assert_allclose(file_positions(clip)[:, 1], wanted, atol=1e-6)
    np.testing.assert_allclose(file_positions(clip)[:, 0], [[1, 2, 3]] * 31, atol=1e-6)
    assert (report.unit, report.up) == ("m", "y")


def test_step_keys_are_held(tmp_path: Path) -> None:
    clip = load_clip(arm("STEP").save_glb(tmp_path / "arm.glb"))
    np.testing.assert_allclose(file_positions(clip)[:30, 1], [[1, 4, 3]] * 30, atol=1e-6)
    np.testing.assert_allclose(file_positions(clip)[30, 1], [-1, 2, 3], atol=1e-6)


def test_cubic_splines_follow_hermite(tmp_path: Path) -> None:
    asset = Asset()
    root = asset.node("hips")
    keys = [[[9, 9, 9], [0, 1, 2], [3, 0, -1]], [[-2, 1, 0], [4, 5, 6], [9, 9, 9]]]  # in, value, out
    asset.animate(root, "translation", [0.5, 2.5], np.reshape(keys, (6, 3)), "CUBICSPLINE")
    clip = load_clip(asset.save_glb(tmp_path / "spline.glb"))
    t = np.linspace(0.0, 1.0, 61)[:, None]
    p, m, q, n = np.array([0, 1, 2]), 2 * np.array([3, 0, -1]), np.array([4, 5, 6]), 2 * np.array([-2, 1, 0])
    wanted = (2 * t**3 - 3 * t**2 + 1) * p + (t**3 - 2 * t**2 + t) * m + (3 * t**2 - 2 * t**3) * q + (t**3 - t**2) * n
    np.testing.assert_allclose(file_positions(clip)[:, 0], wanted, atol=1e-5)


def test_cubic_rotations_are_made_unit(tmp_path: Path) -> None:
    zero = [0.0] * 4
    values = [zero, STILL, zero, zero, QUARTER_ABOUT_Z, zero]
    clip = load_clip(arm("CUBICSPLINE", values).save_glb(tmp_path / "arm.glb"))
    np.testing.assert_allclose(np.linalg.norm(clip.rotations, axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(file_positions(clip)[15, 1], [1 - np.sqrt(2), 2 + np.sqrt(2), 3], atol=1e-6)


@pytest.mark.parametrize("dtype", ["i1", "i2"])
def test_rotations_as_whole_numbers(tmp_path: Path, dtype: str) -> None:
    asset = Asset()
    root = asset.node("hips")
    asset.node("arm", root, translation=[0.0, 2.0, 0.0])
    asset.animate(root, "rotation", [0.0, 1.0], [STILL, QUARTER_ABOUT_Z], dtype=dtype, normalized=True)
    asset.skin([0, 1])
    clip = load_clip(asset.save_glb(tmp_path / "arm.glb"))
    np.testing.assert_allclose(file_positions(clip)[-1, 1], [-2, 0, 0], atol=0.02 if dtype == "i1" else 1e-4)


def test_interleaved_accessors(tmp_path: Path) -> None:
    asset = arm()
    rows = np.zeros((2, 5), dtype="<f4")
    rows[:, 0], rows[:, 1:] = [0.0, 1.0], [STILL, QUARTER_ABOUT_Z]
    view = {"buffer": 0, "byteOffset": len(asset.data), "byteLength": rows.nbytes, "byteStride": 20}
    asset.data += rows.tobytes()
    asset.json["bufferViews"].append(view)
    for accessor, offset in zip(asset.json["accessors"], (0, 4), strict=True):
        accessor.update(bufferView=len(asset.json["bufferViews"]) - 1, byteOffset=offset)
    clip = load_clip(asset.save_glb(tmp_path / "arm.glb"))
    np.testing.assert_allclose(file_positions(clip)[-1, 1], [-1, 2, 3], atol=1e-6)


def test_buffers_inside_and_beside(tmp_path: Path) -> None:
    wanted = load_clip(arm().save_glb(tmp_path / "arm.glb")).joint_positions()
    inside = load_clip(arm().save_gltf(tmp_path / "inside.gltf"))
    np.testing.assert_array_equal(inside.joint_positions(), wanted)
    (tmp_path / "data folder").mkdir()
    (tmp_path / "data folder" / "arm.bin").write_bytes(arm().data)
    beside = load_clip(arm().save_gltf(tmp_path / "beside.gltf", "data%20folder/arm.bin"))
    np.testing.assert_array_equal(beside.joint_positions(), wanted)


@pytest.mark.parametrize(
    "uri", ["../secret.bin", "%2e%2e/secret.bin", "sub/../../secret.bin", "ABSOLUTE", "file:///etc/hostname",
            "http://example.org/a.bin", "C:\\secret.bin", "..\\secret.bin", "link.bin", "a\0b"],
)  # fmt: skip
def test_buffers_cannot_leave_the_folder(tmp_path: Path, uri: str) -> None:
    folder = tmp_path / "asset"
    folder.mkdir()
    secret = tmp_path / "secret.bin"
    secret.write_bytes(arm().data)
    if uri == "link.bin":
        (folder / uri).symlink_to(secret)
    path = arm().save_gltf(folder / "arm.gltf", str(secret) if uri == "ABSOLUTE" else uri)
    with pytest.raises(FormatError, match="only files beside it are read"):
        load_clip(path)


def test_what_is_above_the_root_is_folded_in(tmp_path: Path) -> None:
    # as exporters do: an armature that scales centimetres and stands a Z-up figure up
    asset = Asset()
    armature = asset.node("Armature", rotation=[-QUARTER, 0, 0, QUARTER], scale=[0.01] * 3, translation=[5.0, 0, 0])
    root = asset.node("Hips", armature, translation=[0.0, 0.0, 100.0])
    spine = asset.node("Spine", root, translation=[0.0, 0.0, 50.0])
    asset.animate(root, "rotation", [0.0, 1.0], [STILL, STILL])
    asset.skin([root, spine])
    clip, report = load_clip_with_report(asset.save_glb(tmp_path / "rig.glb"))
    np.testing.assert_allclose(file_positions(clip)[0], [[5, 1, 0], [5, 1.5, 0]], atol=1e-6)
    assert clip.skeleton.names == ("Hips", "Spine")
    assert not any("scale" in note for note in report.notes)


def test_an_animated_armature_moves_the_root(tmp_path: Path) -> None:
    asset = Asset()
    armature = asset.node("Armature")
    root = asset.node("Hips", armature, translation=[0.0, 1.0, 0.0])
    asset.animate(armature, "translation", [0.0, 1.0], [[0, 0, 0], [0, 0, 3]])
    asset.animate(root, "rotation", [0.0, 1.0], [STILL, STILL])
    asset.skin([root])
    clip = load_clip(asset.save_glb(tmp_path / "rig.glb"))
    np.testing.assert_allclose(file_positions(clip)[-1, 0], [0, 1, 3], atol=1e-6)


def test_a_node_given_as_a_matrix(tmp_path: Path) -> None:
    asset = arm()
    turn = np.eye(4)
    turn[:3, :3] = 2.0 * Rotation.from_euler("z", 90, degrees=True).as_matrix()
    turn[:3, 3] = [0.0, 2.0, 0.0]
    asset.json["nodes"][1] = {"name": "arm", "matrix": turn.T.ravel().tolist()}
    asset.node("hand", 1, translation=[0.0, 1.0, 0.0])
    asset.json["skins"][0]["joints"].append(2)
    clip = load_clip(asset.save_glb(tmp_path / "arm.glb"))
    np.testing.assert_allclose(file_positions(clip)[0], [[1, 2, 3], [1, 4, 3], [-1, 4, 3]], atol=1e-6)


def test_the_rest_pose_is_the_one_the_skin_was_bound_in(tmp_path: Path) -> None:
    asset = Asset()
    turn = Rotation.from_euler("x", 40, degrees=True)
    root = asset.node("hips")
    asset.node("arm", root, translation=[0.0, 1.0, 0.0], rotation=[0.6, 0.0, 0.8, 0.0])  # not the bound one
    asset.animate(root, "rotation", [0.0, 1.0], [STILL, STILL])
    bound = np.tile(np.eye(4), (2, 1, 1))
    bound[1, :3, :3], bound[1, :3, 3] = turn.as_matrix(), [0.0, 1.0, 0.0]
    asset.skin([0, 1], np.linalg.inv(bound))
    clip = load_clip(asset.save_glb(tmp_path / "arm.glb"))
    wanted = rotations.from_axis_angle([0.0, 1.0, 0.0], np.radians(40))  # the file's x is our y
    assert rotations.angle_between(clip.skeleton.rest_rotations[1], wanted) < 1e-5


def test_a_person_comes_back(tmp_path: Path) -> None:
    skeleton, frames = person_skeleton(), 20
    rng = np.random.default_rng(3)
    turns = np.cumsum(rng.normal(0.0, 0.05, (frames, len(skeleton), 3)), axis=0)
    roots = np.cumsum(rng.normal(0.0, 0.02, (frames, 3)), axis=0) + np.array([0.0, 0.0, 1.0])
    person = Clip(skeleton, roots, rotations.from_rotation_vector(turns), 60.0)
    asset = Asset()
    times = np.arange(frames) / 60.0
    for j, name in enumerate(skeleton.names):
        parent = int(skeleton.parents[j])
        asset.node(name, parent if j else None, translation=skeleton.offsets[j][[1, 2, 0]].tolist())
        asset.animate(j, "rotation", times, person.rotations[:, j][:, [2, 3, 1, 0]])
    asset.animate(0, "translation", times, roots[:, [1, 2, 0]])
    asset.skin(list(range(len(skeleton))))
    clip, report = load_clip_with_report(asset.save_glb(tmp_path / "person.glb"))
    assert (len(clip), clip.fps) == (frames, 60.0)
    places = [clip.skeleton.index(name) for name in skeleton.names]
    np.testing.assert_allclose(clip.joint_positions()[:, places], person.joint_positions(), atol=1e-5)
    assert "unit is m, as the file says" in report.notes
    assert clip.skeleton.roles.keys() == skeleton.roles.keys()
    assert clip.skeleton.contact_points


def test_a_person_in_centimetres_is_seen(tmp_path: Path) -> None:
    skeleton = person_skeleton()
    asset = Asset()
    for j, name in enumerate(skeleton.names):
        parent = int(skeleton.parents[j]) if j else None
        asset.node(name, parent, translation=(100 * skeleton.offsets[j][[1, 2, 0]]).tolist())
    asset.animate(0, "rotation", [0.0, 1.0], [STILL, STILL])
    asset.skin(list(range(len(skeleton))))
    clip, report = load_clip_with_report(asset.save_glb(tmp_path / "person.glb"))
    assert report.unit == "cm"
    assert any("glTF is in metres, but the leg would be 85 m" in note for note in report.notes)
    assert clip.skeleton.rest_positions[:, 2].max() == pytest.approx(1.75, abs=0.15)


def test_bones_that_move_are_averaged_and_that_is_said(tmp_path: Path) -> None:
    asset = arm()
    asset.animate(1, "translation", [0.0, 1.0], [[0, 1, 0], [0, 3, 0]])
    clip, report = load_clip_with_report(asset.save_glb(tmp_path / "arm.glb"))
    np.testing.assert_allclose(clip.skeleton.offsets[1], [0, 0, 2], atol=1e-6)
    assert any("'arm'" in note and "mean place" in note for note in report.notes)


def test_bones_that_are_scaled_unevenly_are_said(tmp_path: Path) -> None:
    asset = arm()
    asset.json["nodes"][0]["scale"] = [1.0, 2.0, 1.0]
    clip, report = load_clip_with_report(asset.save_glb(tmp_path / "arm.glb"))
    np.testing.assert_allclose(clip.skeleton.offsets[1], [0, 0, 4], atol=1e-6)
    assert any("'hips'" in note and "scale" in note for note in report.notes)
    asset.json["nodes"][0]["scale"] = [-1.0, 1.0, 1.0]
    with pytest.raises(FormatError, match="mirrors are not read"):
        load_clip(asset.save_glb(tmp_path / "arm.glb"))


def test_animations_are_chosen_by_number_or_name(tmp_path: Path) -> None:
    asset = arm()
    asset.json["animations"].append({"name": "still", "samplers": [], "channels": []})
    asset.animate(0, "rotation", [0.0, 2.0], [STILL, STILL])
    path = asset.save_glb(tmp_path / "two.glb")
    clip, report = load_clip_with_report(path)
    assert (len(clip), "animation 'take' of 2 was read (animation= chooses another)" in report.notes) == (31, True)
    assert len(load_clip(path, animation="still")) == len(load_clip(path, animation=1)) == 61
    with pytest.raises(FormatError, match="no animation 'run'; there are 'take', 'still'"):
        load_clip(path, animation="run")
    with pytest.raises(FormatError, match="no animation 2; there are 2"):
        load_clip(path, animation=2)


def test_without_a_skin_the_animated_nodes_are_the_joints(tmp_path: Path) -> None:
    asset = Asset()
    scene = asset.node("scene")
    asset.node("lamp", scene)
    body = asset.node("body", scene)
    left, right = asset.node("left", body), asset.node("right", body)
    for node in (left, right):
        asset.animate(node, "rotation", [0.0, 1.0], [STILL, QUARTER_ABOUT_Z])
    assert load_clip(asset.save_glb(tmp_path / "thing.glb")).skeleton.names == ("body", "left", "right")


@pytest.mark.parametrize(
    ("times", "rate"), [(np.arange(10) / 24, 24.0), (np.arange(10) / 29.97, 29.97), ([0, 1, 2], 30.0)]
)
def test_the_rate_is_that_of_the_keys(tmp_path: Path, times: np.ndarray, rate: float) -> None:
    asset = Asset()
    root = asset.node("hips")
    asset.animate(root, "rotation", times, [STILL] * len(times))
    path = asset.save_glb(tmp_path / "arm.glb")
    assert load_clip(path).fps == pytest.approx(rate, rel=1e-5)
    assert load_clip(path, file_fps=50).fps == 50.0
    assert load_clip(path, fps=12).fps == 12.0


def edited(change: Callable[[dict], object]) -> Asset:
    asset = arm()
    change(asset.json)
    return asset


def node(**fields: object) -> Callable[[dict], object]:
    return lambda root: root["nodes"][0].update(fields)


def accessor(index: int = 1, **fields: object) -> Callable[[dict], object]:
    return lambda root: root["accessors"][index].update(fields)


BAD = {
    "no animation": (lambda root: root.pop("animations"), "has no animation"),
    "no channels": (lambda root: root["animations"][0].update(channels=[]), "moves no node"),
    "version 1": (lambda root: root["asset"].update(version="1.0"), "is not glTF 2"),
    "no asset": (lambda root: root.pop("asset"), "is not glTF 2"),
    "nodes no list": (lambda root: root.update(nodes={}), "'nodes' must be a list"),
    "node no object": (lambda root: root["nodes"].__setitem__(1, 5), r"nodes\[1\] must be an object"),
    "child missing": (node(children=[7]), "has child 7, but there are 2 nodes"),
    "child negative": (node(children=[-1]), "'children' must be a whole number from 0"),
    "child of itself": (node(children=[0, 1]), "nested more than 500 deep, or in a circle"),
    "circle": (lambda root: root["nodes"][1].update(children=[0]), "in a circle"),
    "two parents": (lambda root: root["nodes"].append({"children": [1]}), r"nodes\[1\] has two parents"),
    "rotation of three": (node(rotation=[0, 0, 1]), "'rotation' must be 4 finite numbers"),
    "no rotation": (node(rotation=[0, 0, 0, 0]), r"the rotation of nodes\[0\] is \(0, 0, 0, 0\)"),
    "translation of words": (node(translation=["a", 0, 0]), "'translation' must be 3 finite numbers"),
    "translation too large": (node(translation=[1e30, 0, 0]), "'translation' must be 3 finite numbers"),
    "joint missing": (lambda root: root["skins"][0].update(joints=[0, 9]), r"nodes\[9\], but there are 2"),
    "joints apart": (
        lambda root: (root["nodes"].append({}), root["skins"][0]["joints"].append(2)), "hang on different roots"
    ),
    "accessor missing": (lambda root: root.pop("accessors"), r"accessors\[0\], but there are 0"),
    "accessor type": (accessor(type="VEC3"), "must be of type VEC4"),
    "component type": (accessor(componentType=9), "unknown componentType 9"),
    "sparse": (accessor(sparse={}), "is sparse"),
    "count too large": (accessor(count=10**15), "at most"),
    "count beyond the view": (accessor(count=3), "reaches beyond its bufferView"),
    "offset beyond the view": (accessor(byteOffset=4), "reaches beyond its bufferView"),
    "count differs": (accessor(count=1), "has 1 values for 2 key times"),
    "no keys": (accessor(0, count=0), "must rise"),
    "view beyond the buffer": (lambda root: root["bufferViews"][1].update(byteLength=10**9), "beyond its buffer"),
    "view compressed": (
        lambda root: root["bufferViews"][1].update(extensions={"EXT_meshopt_compression": {}}), "is compressed"
    ),
    "stride too small": (lambda root: root["bufferViews"][1].update(byteStride=4), "byteStride 4, less than"),
    "interpolation": (lambda root: root["animations"][0]["samplers"][0].update(interpolation="EASE"), "must be LINEAR"),
    "sampler missing": (lambda root: root["animations"][0]["channels"][0].update(sampler=3), "sampler 3"),
    "interpolation of a list": (
        lambda root: root["animations"][0]["samplers"][0].update(interpolation=["STEP"]), "must be LINEAR"
    ),
    "path of a list": (
        lambda root: root["animations"][0]["channels"][0]["target"].update(path=["rotation"]),
        "'path' of an animation channel must be text",
    ),
    "target missing": (lambda root: root["animations"][0]["channels"][0].pop("target"), "has no 'target'"),
    "node missing": (
        lambda root: root["animations"][0]["channels"][0]["target"].update(node=9), r"nodes\[9\], but there are 2"
    ),
    "channel twice": (lambda root: root["animations"][0].update(channels=root["animations"][0]["channels"] * 2), "two"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_assets_are_refused(tmp_path: Path, what: str) -> None:
    change, words = BAD[what]
    path = edited(change).save_glb(tmp_path / "bad.glb")
    with pytest.raises(FormatError, match=words) as caught:
        load_clip(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_key_times_that_fall_are_refused(tmp_path: Path) -> None:
    for times in ([1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [0.0, np.nan], [0.0, np.inf]):
        asset = Asset()
        asset.animate(asset.node("hips"), "rotation", times, [STILL, STILL])
        with pytest.raises(FormatError, match=r"must rise|not finite"):
            load_clip(asset.save_glb(tmp_path / "bad.glb"))


@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_keys_that_are_no_rotations_are_refused(tmp_path: Path, interpolation: str) -> None:
    asset, zero = Asset(), [0.0] * 4
    keys = [STILL, zero] if interpolation != "CUBICSPLINE" else [zero, STILL, zero, zero, zero, zero]
    asset.animate(asset.node("hips"), "rotation", [0.0, 1.0], keys, interpolation)
    with pytest.raises(FormatError, match=r"the rotation of nodes\[0\] is \(0, 0, 0, 0\) at key 1"):
        load_clip(asset.save_glb(tmp_path / "bad.glb"))


def test_a_very_long_animation_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    asset = Asset()
    asset.animate(asset.node("hips"), "rotation", [0.0, 9e8], [STILL, STILL])
    with pytest.raises(FormatError, match="frames of 1 joints; at most"):
        load_clip(asset.save_glb(tmp_path / "long.glb"))


BROKEN = {
    "cut header": (arm().glb_bytes()[:15], "is cut off"),
    "cut JSON": (arm().glb_bytes()[:100], "is cut off"),
    "cut buffer": (arm().glb_bytes()[:-8], "is cut off"),
    "version": (arm().glb_bytes()[:4] + struct.pack("<I", 1) + arm().glb_bytes()[8:], "GLB version 1"),
    "no JSON chunk": (struct.pack("<IIIII", 0x46546C67, 2, 20, 0, 0x004E4942), "no JSON chunk"),
    "not JSON": (b"hello", "is not valid JSON"),
    "binary": (b"\xff\xfe\x00" * 30, "neither GLB"),
    "a list": (b"[]", "its JSON is not an object"),
    "NaN": (b'{"asset": NaN}', "NaN is not a number"),
    "deep": (b"[" * 200_000, "nested too deep"),
    "long number": (b'{"a": ' + b"9" * 5000 + b"}", "is not valid JSON"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_containers_are_refused(tmp_path: Path, what: str) -> None:
    data, words = BROKEN[what]
    path = tmp_path / "bad.glb"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=words):
        load_clip(path)


def test_broken_json_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.gltf"
    path.write_text('{\n"asset": {"version": "2.0"},\n"nodes": [,]\n}')
    with pytest.raises(FormatError, match=r"bad\.gltf:3: is not valid JSON"):
        load_clip(path)


def test_buffers_that_are_wrong(tmp_path: Path) -> None:
    path = arm().save_gltf(tmp_path / "arm.gltf", "missing.bin")
    with pytest.raises(FormatError, match=r"missing\.bin: cannot be read"):
        load_clip(path)
    for uri in ("data:text/plain,abc", "data:;base64,%%%", "data:;base64"):
        with pytest.raises(FormatError, match="base64"):
            load_clip(arm().save_gltf(path, uri))
    document = json.loads(arm().save_gltf(path).read_text())
    del document["buffers"][0]["uri"]
    path.write_text(json.dumps(document))
    with pytest.raises(FormatError, match="no binary chunk"):
        load_clip(path)


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.bin").symlink_to("b.bin")
    (tmp_path / "b.bin").symlink_to("a.bin")
    with pytest.raises(FormatError, match="cannot be read"):
        load_clip(arm().save_gltf(tmp_path / "arm.gltf", "a.bin"))


def test_the_number_of_numbers_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gltf, "MAX_VALUES", 100)
    with pytest.raises(FormatError, match="31 frames of 2 joints; at most 100"):
        load_clip(arm().save_glb(tmp_path / "arm.glb"))
