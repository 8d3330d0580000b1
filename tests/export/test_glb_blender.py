"""Blender opens our GLB files and finds everybody where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy

from blender import ours, run_blender
from gaitway.export.glb import export_glb
from gaitway.export.meshes import INDIVIDUALS, character_mesh
from gaitway.motion.kinematics import forward_kinematics
from gaitway.render.bodies.hands import with_fingers
from gaitway.world.surface import surface
from glb_scene import everybody, place
from skinning import deformed

FRAMES = (0, 25, 40, 55)
SCRIPT = """
path, fps, frames = arguments[0], float(arguments[1]), [int(f) for f in arguments[2:]]
scene.render.fps = round(fps)
bpy.ops.import_scene.gltf(filepath=path)
figures = [o for o in bpy.data.objects if o.type == "ARMATURE"]
bodies = {o.find_armature().name: o for o in bpy.data.objects if o.type == "MESH" and o.find_armature()}
others = [o for o in bpy.data.objects if o.type == "MESH" and not o.find_armature()]
ranges = {f.name: list(f.animation_data.action.frame_range) for f in figures}
seen = {"ranges": ranges, "joints": {}, "vertices": {}, "things": {}}
for frame in frames:
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    for f in figures:
        spots = {b.name: list(f.matrix_world @ b.head) for b in f.pose.bones}
        seen["joints"].setdefault(f.name, []).append(spots)
    for name, body in bodies.items():
        shown = body.evaluated_get(graph)
        spots = [list(shown.matrix_world @ v.co) for v in shown.data.vertices]
        seen["vertices"].setdefault(name, []).append(spots)
    for o in others:
        spots = [list(o.matrix_world @ v.co) for v in o.data.vertices]
        box = [[min(s[k] for s in spots) for k in range(3)], [max(s[k] for s in spots) for k in range(3)]]
        seen["things"].setdefault(o.name, []).append(box)
answer(seen)
"""


@pytest.mark.slow
def test_everybody_and_everything_is_where_it_should_be(tmp_path: Path) -> None:
    take, world = everybody(), place()
    file = tmp_path / "take.glb"
    export_glb(take, file, world)
    seen = run_blender(SCRIPT, tmp_path, file, take.fps, *FRAMES)
    assert set(seen["joints"]) == set(take.names)
    for character, name in enumerate(take.names):
        first, last = seen["ranges"][name]
        assert first >= 0 and last == pytest.approx(take.ends[character] * take.fps, abs=1.01)
        for i, frame in enumerate(FRAMES):
            if take.start(character) <= frame / take.fps <= take.ends[character]:
                check_pose(take, character, frame, seen["joints"][name][i], seen["vertices"][name][i])
    for obstacle in world.obstacles:
        if obstacle.name:
            check_box(surface(obstacle.shape)[0], seen["things"][obstacle.name][0])
    for i, frame in enumerate(FRAMES):
        ball = world.movers[0].at(frame / take.fps).shape
        middle = ours(seen["things"]["ball_wall"][i]).mean(
            axis=0
        )  # its facets turn with it, so its box changes a little
        np.testing.assert_allclose(middle, [*ball.center, ball.radius], atol=1e-3)
        fallen = frame / take.fps >= 1.0
        for part, there in (("tree_passable", not fallen), ("tree_jump", fallen)):
            low, high = np.array(seen["things"][part][i])
            assert (np.linalg.norm(high - low) > 1.0) == there


def check_pose(take, character, frame, joints, vertices) -> None:
    poses = take.poses(frame / take.fps, [character])[0]
    positions, _ = (values[0] for values in poses.joint_transforms())
    skeleton = poses.skeleton
    rig = with_fingers(skeleton)
    assert set(joints) == set(rig.names)
    found = ours([joints[name] for name in skeleton.names])
    np.testing.assert_allclose(found, positions, atol=1e-3)
    mesh = character_mesh(rig, character % INDIVIDUALS)
    local = np.concatenate([poses.rotations[0], rig.rest_rotations[len(skeleton) :]])
    expected = deformed(mesh, rig, *forward_kinematics(rig, poses.root_positions[0], local))
    shown = ours(vertices)
    assert len(shown) == len(expected)
    assert scipy.spatial.cKDTree(expected).query(shown)[0].max() < 1e-3
    assert scipy.spatial.cKDTree(shown).query(expected)[0].max() < 1e-3


def check_box(points, box) -> None:
    corners = ours(box)
    np.testing.assert_allclose(corners.min(axis=0), points.min(axis=0), atol=1e-3)
    np.testing.assert_allclose(corners.max(axis=0), points.max(axis=0), atol=1e-3)
