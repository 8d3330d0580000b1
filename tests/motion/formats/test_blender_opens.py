"""Blender as an outside client of what we write. Skipped where Blender is not installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gaitway.library.cast.catalog import load_cast
from gaitway.motion.formats import save_clip

BLENDER = shutil.which("blender")
FRAME = 20

# Debian's Blender 3.4 ships importers that predate its own Python and NumPy; the first lines bridge that
SCRIPT = """
import builtins, json, sys
import numpy
numpy.bool = bool
plain_open = builtins.open
builtins.open = lambda file, mode="r", *rest, **more: plain_open(file, mode.replace("U", ""), *rest, **more)
import bpy
path, frame, fps = sys.argv[-3], int(sys.argv[-2]), float(sys.argv[-1])
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = round(fps)
if path.endswith(".glb"):
    bpy.ops.import_scene.gltf(filepath=path)
    bpy.context.scene.frame_set(frame)
else:
    bpy.ops.import_anim.bvh(filepath=path, global_scale=0.01)
    bpy.context.scene.frame_set(frame + 1)
armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
places = {b.name: list((armature.matrix_world @ b.head)) for b in armature.pose.bones}
print("PLACES" + json.dumps(places))
"""


@pytest.mark.skipif(BLENDER is None, reason="Blender is not installed")
@pytest.mark.parametrize("ending", ["bvh", "glb"])
def test_joints_stand_where_they_should(ending: str, tmp_path: Path) -> None:
    clip = load_cast("person", behaviors=["jump"]).clips["jump"]
    file, script = tmp_path / f"jump.{ending}", tmp_path / "read.py"
    save_clip(clip, file)
    script.write_text(SCRIPT)
    assert BLENDER is not None
    command = [BLENDER, "-b", "--factory-startup", "--python", str(script), "--", str(file), str(FRAME), str(clip.fps)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    line = next((text for text in done.stdout.splitlines() if text.startswith("PLACES")), None)
    assert line is not None, done.stdout + done.stderr
    places = json.loads(line.removeprefix("PLACES"))
    assert set(places) == set(clip.skeleton.names)
    for name, (x, y, z) in places.items():
        ours = clip.joint_positions()[FRAME, clip.skeleton.index(name)]
        # a figure that faces +X here faces -Y in Blender
        assert np.array([-y, x, z]) == pytest.approx(ours, abs=1e-4), name
