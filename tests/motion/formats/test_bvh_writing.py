"""BVH files out: what is written comes back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.errors import FormatError, GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.formats import load_clip, save_clip
from gaitway.motion.skeleton import Skeleton
from plain_readers import read_plain_bvh

ORDERS = ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"]


@st.composite
def clips(draw: st.DrawFn) -> Clip:
    joints, frames = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    parents = [-1, *(draw(st.integers(0, j - 1)) for j in range(1, joints))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tips = {j: tuple(rng.normal(size=3)) for j in range(joints) if j not in parents}
    angles = rng.choice([0.0, 0.3, np.pi / 2, np.pi, 2.0], (frames, joints, 1))
    names = tuple(f"j{j}" for j in range(joints))
    return Clip(
        skeleton=Skeleton(names, np.array(parents), rng.normal(size=(joints, 3)), tips=tips),
        root_positions=rng.normal(0.0, 10.0, (frames, 3)),
        rotations=rotations.from_rotation_vector(angles * unit_vectors(rng, (frames, joints))),
        fps=draw(st.sampled_from([24.0, 29.97, 30.0, 60.0, 120.0, 1000.0])),
    )


def unit_vectors(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Random directions, among them the axes, where Euler angles meet their gimbal lock."""
    choices = np.concatenate([np.eye(3), -np.eye(3), rng.normal(size=(6, 3))])
    chosen = choices[rng.integers(0, len(choices), shape)]
    return chosen / np.linalg.norm(chosen, axis=-1, keepdims=True)


@given(clips(), st.sampled_from(ORDERS), st.sampled_from("xyz"), st.sampled_from(["m", "cm", "mm", "inch", 0.3]))
@settings(max_examples=60, deadline=None)
def test_what_is_written_comes_back(clip: Clip, order: str, up: str, unit: str | float) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "clip.bvh"
        save_clip(clip, path, unit=unit, up=up, euler_order=order)
        back = load_clip(path, unit=unit, up=up, keep_tpose=True)
    # a file nests its joints, so a joint's place in the list may differ
    places = [back.skeleton.index(name) for name in clip.skeleton.names]
    assert len(back) == len(clip)
    assert back.fps == pytest.approx(clip.fps)
    np.testing.assert_allclose(back.joint_positions()[:, places], clip.joint_positions(), atol=1e-5)
    np.testing.assert_allclose(rotations.angle_between(back.rotations[:, places], clip.rotations), 0.0, atol=1e-5)
    for joint, tip in clip.skeleton.tips.items():
        np.testing.assert_allclose(back.skeleton.tips[places[joint]], tip, atol=1e-6)


def walker(frames: int = 40) -> Clip:
    skeleton = person_skeleton()
    turns = np.zeros((frames, len(skeleton), 3))
    turns[:, 0, 2] = np.linspace(0.0, 9.0, frames)  # more than one whole turn
    roots = np.column_stack([np.linspace(0, 2, frames), np.zeros(frames), np.ones(frames)])
    return Clip(skeleton, roots, rotations.from_rotation_vector(turns), 30.0, "walker")


def test_another_reader_understands_it(tmp_path: Path) -> None:
    clip = walker()
    save_clip(clip, tmp_path / "walker.bvh")
    plain = read_plain_bvh(tmp_path / "walker.bvh")
    places = [plain.names.index(name) for name in clip.skeleton.names]
    np.testing.assert_allclose(plain.positions[:, places][..., [2, 0, 1]] * 0.01, clip.joint_positions(), atol=1e-6)


@pytest.mark.parametrize("order", ORDERS)
def test_angles_do_not_jump(tmp_path: Path, order: str) -> None:
    save_clip(walker(), tmp_path / "walker.bvh", euler_order=order)
    text = (tmp_path / "walker.bvh").read_text()
    rows = np.array([line.split() for line in text.split("Frame Time:")[1].splitlines()[1:]], dtype=float)
    assert np.abs(np.diff(rows[:, 3:], axis=0)).max() < 20.0


def test_the_size_of_a_person_is_found_again(tmp_path: Path) -> None:
    clip = walker()
    for unit in ("m", "cm", "mm", "inch", "cmu"):
        save_clip(clip, tmp_path / "walker.bvh", unit=unit)
        back = load_clip(tmp_path / "walker.bvh")
        np.testing.assert_allclose(back.root_positions, clip.root_positions, atol=1e-6)


def test_wrong_arguments_write_nothing(tmp_path: Path) -> None:
    clip = walker(2)
    with pytest.raises(FormatError, match=r"written as \.bvh or \.glb, not '\.fbx'"):
        save_clip(clip, tmp_path / "x.fbx")
    with pytest.raises(GaitwayError, match="euler_order='xxz'"):
        save_clip(clip, tmp_path / "x.bvh", euler_order="xxz")
    with pytest.raises(GaitwayError, match="up='up'"):
        save_clip(clip, tmp_path / "x.bvh", up="up")
    with pytest.raises(GaitwayError, match="unit 'yard'"):
        save_clip(clip, tmp_path / "x.bvh", unit="yard")
    odd = Clip(Skeleton(("a{b",), np.array([-1]), np.zeros((1, 3))), np.zeros((1, 3)), rotations.identity(1, 1), 30.0)
    with pytest.raises(FormatError, match="rename the joint"):
        save_clip(odd, tmp_path / "x.bvh")
    assert list(tmp_path.iterdir()) == []


def test_a_deep_skeleton_is_written_without_recursion(tmp_path: Path) -> None:
    count = 450
    skeleton = Skeleton(tuple(f"j{i}" for i in range(count)), np.arange(count) - 1, np.full((count, 3), 0.01))
    clip = Clip(skeleton, np.zeros((1, 3)), rotations.identity(1, count), 30.0)
    save_clip(clip, tmp_path / "deep.bvh", unit="m")
    np.testing.assert_allclose(
        load_clip(tmp_path / "deep.bvh", unit="m").joint_positions(), clip.joint_positions(), atol=1e-6
    )
