"""GLB files out: what is written comes back, and keeps to the standard."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.formats import load_clip, load_clip_with_report, save_clip
from gaitway.motion.skeleton import Skeleton


def wandering(skeleton: Skeleton, frames: int = 25, seed: int = 1) -> Clip:
    rng = np.random.default_rng(seed)
    turns = np.cumsum(rng.normal(0.0, 0.1, (frames, len(skeleton), 3)), axis=0)
    roots = np.cumsum(rng.normal(0.0, 0.05, (frames, 3)), axis=0) + skeleton.offsets[0]
    return Clip(skeleton, roots, rotations.from_rotation_vector(turns), 60.0, "wandering")


def turned_rest() -> Skeleton:
    rng = np.random.default_rng(9)
    rest = rotations.normalize(rng.normal(size=(5, 4)))
    return Skeleton(
        tuple("abcde"), np.array([-1, 0, 1, 1, 0]), rng.normal(size=(5, 3)), rest, tips={2: (0.0, 0.5, 0.1)}
    )


@pytest.mark.parametrize("skeleton", [person_skeleton(), turned_rest()], ids=["person", "turned rest"])
def test_what_is_written_comes_back(tmp_path: Path, skeleton: Skeleton) -> None:
    clip = wandering(skeleton)
    save_clip(clip, tmp_path / "clip.glb")
    back, report = load_clip_with_report(tmp_path / "clip.glb", unit="m")
    places = [back.skeleton.index(name) for name in skeleton.names]
    assert (len(back), back.fps, report.up) == (len(clip), 60.0, "y")
    np.testing.assert_allclose(back.joint_positions()[:, places], clip.joint_positions(), atol=2e-6)
    apart = rotations.angle_between(back.skeleton.rest_rotations[places], skeleton.rest_rotations)
    np.testing.assert_allclose(apart, 0.0, atol=1e-5)


def test_a_single_joint_and_frame(tmp_path: Path) -> None:
    clip = wandering(Skeleton(("only",), np.array([-1]), np.zeros((1, 3))), frames=1)
    save_clip(clip, tmp_path / "one.glb")
    np.testing.assert_allclose(
        load_clip(tmp_path / "one.glb", unit="m").joint_positions(), clip.joint_positions(), atol=1e-6
    )


def contents(path: Path) -> tuple[dict, bytes]:
    data = path.read_bytes()
    assert struct.unpack_from("<III", data) == (0x46546C67, 2, len(data))
    size, kind = struct.unpack_from("<II", data, 12)
    assert (size % 4, kind) == (0, 0x4E4F534A)
    length, kind = struct.unpack_from("<II", data, 20 + size)
    assert (length % 4, kind) == (0, 0x004E4942)
    binary = data[28 + size :]
    assert len(binary) == length
    return json.loads(data[20 : 20 + size]), binary


def test_the_skin_moves_the_mesh_with_the_joints(tmp_path: Path) -> None:
    skeleton = person_skeleton()
    save_clip(wandering(skeleton), tmp_path / "clip.glb")
    root, binary = contents(tmp_path / "clip.glb")

    def array(index: int, dtype: str, width: int) -> np.ndarray:
        view = root["bufferViews"][root["accessors"][index]["bufferView"]]
        assert view["byteOffset"] % 4 == 0
        count = root["accessors"][index]["count"]
        return np.frombuffer(binary, dtype, count * width, view["byteOffset"]).reshape(count, width)

    primitive = root["meshes"][0]["primitives"][0]
    places = array(primitive["attributes"]["POSITION"], "<f4", 3)
    joints = array(primitive["attributes"]["JOINTS_0"], "<u2", 4)
    weights = array(primitive["attributes"]["WEIGHTS_0"], "<f4", 4)
    faces = array(primitive["indices"], "<u4", 1)[:, 0].reshape(-1, 3)
    matrices = array(root["skins"][0]["inverseBindMatrices"], "<f4", 16).reshape(-1, 4, 4).transpose(0, 2, 1)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert faces.max() < len(places)
    assert joints.max() < len(root["skins"][0]["joints"])
    accessor = root["accessors"][primitive["attributes"]["POSITION"]]
    np.testing.assert_allclose(accessor["min"], places.min(axis=0))
    # in the joint's own frame each bone begins at the joint
    local = np.einsum("vab,vb->va", matrices[joints[:, 0]], np.column_stack([places, np.ones(len(places))]))[:, :3]
    np.testing.assert_allclose(local[::6], 0.0, atol=1e-6)
    # closed surfaces that face outwards
    corners = places[faces].astype(float)
    volume = np.einsum("fa,fa->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).reshape(-1, 8).sum(axis=1)
    assert (volume > 0.0).all()


def test_units_other_than_metres_are_refused(tmp_path: Path) -> None:
    clip = wandering(person_skeleton(), 2)
    for wrong in ({"unit": "cm"}, {"up": "z"}):
        with pytest.raises(GaitwayError, match="a GLB is in metres and Y up"):
            save_clip(clip, tmp_path / "x.glb", **wrong)
    assert list(tmp_path.iterdir()) == []


def test_joints_keep_their_order(tmp_path: Path) -> None:
    clip = load_cast("person", behaviors=["walk_forward"]).clips["walk_forward"]
    save_clip(clip, tmp_path / "walk.glb")
    assert load_clip(tmp_path / "walk.glb").skeleton.names == clip.skeleton.names
