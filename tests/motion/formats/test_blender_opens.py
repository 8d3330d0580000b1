"""Blender as an outside client of the clips that we write. Skipped where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from blender import ours, run_blender
from gaitway.cast.catalog import load_cast
from gaitway.motion.formats import save_clip

FRAME = 20
SCRIPT = """
path, frame, fps = arguments[0], int(arguments[1]), float(arguments[2])
scene.render.fps = round(fps)
if path.endswith(".glb"):
    bpy.ops.import_scene.gltf(filepath=path)
    scene.frame_set(frame)
else:
    bpy.ops.import_anim.bvh(filepath=path, global_scale=0.01)
    scene.frame_set(frame + 1)
armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
answer({b.name: list(armature.matrix_world @ b.head) for b in armature.pose.bones})
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["bvh", "glb"])
def test_joints_stand_where_they_should(ending: str, tmp_path: Path) -> None:
    clip = load_cast("person", behaviors=["jump"]).clips["jump"]
    file = tmp_path / f"jump.{ending}"
    save_clip(clip, file)
    places = run_blender(SCRIPT, tmp_path, file, FRAME, clip.fps)
    assert set(places) == set(clip.skeleton.names)
    for name, place in places.items():
        expected = clip.joint_positions()[FRAME, clip.skeleton.index(name)]
        assert ours(place) == pytest.approx(expected, abs=1e-4), name
