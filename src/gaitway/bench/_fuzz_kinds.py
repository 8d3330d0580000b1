"""Kinds of files that are mutated: how valid ones are written, changed and used. Run as a process by `fuzz`.

The process writes a line before and after each file, so that its parent knows which file crashed it or took too long.
File `number` of a kind is the same in every run with the same seed.
"""

from __future__ import annotations

import base64
import json
import shutil
import sqlite3
import struct
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from PIL import Image

from gaitway.audit import audit_take
from gaitway.bench import _mutation as mutation
from gaitway.bench._timing import peak_memory
from gaitway.capture.importing import import_library
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import GaitwayError
from gaitway.crowd.tracks.reading import read_tracks
from gaitway.crowd.tracks.resampling import resampled
from gaitway.export.tables import export_trajectories
from gaitway.library.checks import check_graph, check_joins
from gaitway.library.storage import load_library, save_library
from gaitway.live.opening import live
from gaitway.motion.clip import Clip
from gaitway.motion.formats import load_clip, save_clip
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict, scene_problems
from gaitway.scene.catalog import ready_scenes
from gaitway.scene.scene import Scene, load_scene
from gaitway.take.storage import load_take, save_take
from gaitway.take.tracks import take_of
from gaitway.tree.building.coverage import coverage
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.building.recipe import TreeRecipe
from gaitway.tree.region import Region
from gaitway.tree.storage import describe_tree, load_tree, save_tree
from gaitway.variation.learning.model_cache import learn_cached
from gaitway.variation.network.model import LearnOptions
from gaitway.variation.network.prior import PriorSearch
from gaitway.variation.network.storage import load_model, save_model
from gaitway.variation.network.transition import TransitionSearch
from gaitway.variation.sampling.synthesis import sample
from gaitway.world.meshes import load_mesh
from gaitway.world.world import World

BEGIN, END, REFUSED, ACCEPTED, CRASHED = ">", "<", "refused", "accepted", "crashed"
"""Words of the lines that the process writes."""
MOST_MEGABYTES = 1000.0
"""Greatest memory of a process that reads files [MB]."""
_ASF = """:version 1.10
:name VICON
:units
  mass 1.0
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
{bones}:hierarchy
  begin
    root hips_left hips_right spine
    hips_left shin_left
    hips_right shin_right
    spine head
  end
"""
_BONE = """  begin
    id {number}
    name {name}
    direction {direction}
    length 7.5
    axis 0 0 20 XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-70.0 70.0)
           (-60.0 70.0)
  end
"""
_BONES = {
    "hips_left": "0.6 -0.7 0.2", "hips_right": "-0.6 -0.7 0.2", "spine": "0 1 0", "shin_left": "0.3 -0.9 0",
    "shin_right": "-0.3 -0.9 0", "head": "0 1 0.1",
}  # fmt: skip
_OVERRIDES = """name: walker
mirror: false
thresholds: {jump_flight_s: 0.35}
library: {behaviors: 60, leave_out: ["*duck*"]}
files:
  walk.bvh:
    fps: 30
    floor: 0.0
    labels:
      - {start_s: 1.2, stop_s: 2.4, kind: jump}
"""


@dataclass(frozen=True)
class FuzzKind:
    """A kind of file."""

    write: Callable[[Path], Sequence[Path]]
    """Writes valid files into an empty folder, and returns those that may be mutated."""
    use: Callable[[Path], None]
    """Reads the folder with one mutated file; its errors must be `GaitwayError`."""
    change: str = "text"
    """How a file is mutated: "text", "bytes", "archive" or "tree"."""
    chunk: int = 200
    """Number of files between those of other kinds."""
    seconds: float = 5.0
    """Longest time for one file [s]; an import of valid captures takes some seconds itself."""


def _clip() -> Clip:
    """Return a second of walking."""
    return _walks("neutral")[0]


def _walks(style: str) -> Sequence[Clip]:
    """Return the walking clips of a style."""
    library = _person(style)
    return [library.clips[name] for name in library.graph["walk_forward"].clips]


def _write_clip(ending: str) -> Callable[[Path], Sequence[Path]]:
    def write(folder: Path) -> Sequence[Path]:
        path = folder / f"walk{ending}"
        save_clip(_clip(), path)
        return [path]

    return write


def _write_gltf(folder: Path) -> Sequence[Path]:
    """Write a glTF file whose numbers are in a file of its own, and one that holds them."""
    save_clip(_clip(), folder / "walk.glb")
    content = (folder / "walk.glb").read_bytes()
    (length,) = struct.unpack("<I", content[12:16])
    scene, numbers = json.loads(content[20 : 20 + length]), content[28 + length :]
    (folder / "walk.glb").unlink()
    for name, uri in (
        ("walk.gltf", "walk.bin"),
        ("held.gltf", "data:application/octet-stream;base64," + base64.b64encode(numbers).decode()),
    ):
        scene["buffers"] = [{"byteLength": len(numbers), "uri": uri}]
        (folder / name).write_text(json.dumps(scene, indent=1), encoding="utf-8")
    (folder / "walk.bin").write_bytes(numbers)
    return [folder / "walk.gltf", folder / "held.gltf", folder / "walk.bin"]


def _use_clips(folder: Path) -> None:
    problem: GaitwayError | None = None
    for path in sorted(folder.iterdir()):
        if path.suffix in (".bvh", ".amc", ".glb", ".gltf"):
            try:
                load_clip(path)
            except GaitwayError as refusal:
                problem = refusal
    if problem is not None:
        raise problem


def _write_acclaim(folder: Path) -> Sequence[Path]:
    bones = "".join(
        _BONE.format(number=number, name=name, direction=direction)
        for number, (name, direction) in enumerate(_BONES.items(), 1)
    )
    (folder / "walk.asf").write_text(_ASF.format(bones=bones), encoding="ascii")
    rng = np.random.default_rng(0)
    lines = [":FULLY-SPECIFIED", ":DEGREES"]
    for frame in range(1, 9):
        lines += [str(frame), "root " + " ".join(f"{x:.4f}" for x in rng.normal(size=6))]
        lines += [f"{name} " + " ".join(f"{x:.4f}" for x in 20.0 * rng.normal(size=3)) for name in _BONES]
    (folder / "walk.amc").write_text("\n".join(lines) + "\n", encoding="ascii")
    return [folder / "walk.asf", folder / "walk.amc"]


def _write_meshes(folder: Path) -> Sequence[Path]:
    box = trimesh.creation.box((2.0, 1.0, 1.5))
    for ending in ("glb", "stl", "ply", "obj"):
        box.export(folder / f"box.{ending}")
    return sorted(folder.iterdir())


def _use_meshes(folder: Path) -> None:
    problem: GaitwayError | None = None
    for path in sorted(folder.glob("box.*")):
        try:
            load_mesh(path).footprint()
        except GaitwayError as refusal:
            problem = refusal
    if problem is not None:
        raise problem


def _write_terrain(folder: Path) -> Sequence[Path]:
    heights = np.random.default_rng(0).integers(0, 60000, (24, 32)).astype(np.uint16)
    Image.fromarray(heights).save(folder / "hill.png")
    np.save(folder / "hill.npy", heights / 1e4)
    for ending in ("png", "npy"):
        scene = f"gaitway: 1\nbounds: [0, 0, 30, 20]\nterrain: {{heights: hill.{ending}, cell: 1, scale: 2}}\n"
        (folder / f"{ending}.yaml").write_text(scene, encoding="ascii")
    return [folder / "hill.png", folder / "hill.npy"]


def _write_scenes(folder: Path) -> Sequence[Path]:
    shutil.copytree(next(iter(ready_scenes().values())).parent, folder, dirs_exist_ok=True)
    return sorted(folder.glob("*.yaml"))


def _use_scenes(folder: Path) -> None:
    mutated = folder / "mutated.txt"
    names = mutated.read_text(encoding="utf-8").split() if mutated.exists() else []
    for path in [folder / name for name in names if name.endswith(".yaml")] or sorted(folder.glob("*.yaml"))[:3]:
        scene_problems(path)
        load_scene(path)


def _write_take(folder: Path) -> Sequence[Path]:
    planned = plan_scene(_scene())
    save_take(planned.take, folder / "walk.npz")
    return [folder / "walk.npz"]


def _scene(goal: tuple[float, float] = (3.0, 0.0)) -> Scene:
    return scene_from_dict(
        {"gaitway": 1, "bounds": [-4, -4, 8, 4], "characters": [{"name": "a", "start": [-3, 0], "goal": list(goal)}],
         "plan": {"max_seconds": 2.0}}
    )  # fmt: skip


def _use_take(folder: Path) -> None:
    take = load_take(folder / "walk.npz")
    for time in (0.0, 0.37 * take.duration, take.duration):
        take.joints(time)
    if take.duration * take.fps < 2000.0 and len(take) < 50:
        audit_take(take, World((-50.0, -50.0, 50.0, 50.0)))


def _write_library(folder: Path) -> Sequence[Path]:
    behaviors = ("wait", "start_walk", "stop_walk", "walk_forward", "turn_left_90")
    save_library(load_cast("person", behaviors=behaviors), folder / "some.gwlib")
    return [folder / "some.gwlib"]


def _use_library(folder: Path) -> None:
    library = load_library(folder / "some.gwlib")
    check_graph(library)
    check_joins(library)


def _write_model(folder: Path) -> Sequence[Path]:
    small = LearnOptions(search=TransitionSearch(rounds=2, most_parents=3), prior=PriorSearch(most_parents=2))
    takes = [_walks(style)[0] for style in ("neutral", "style-1", "style-2", "style-3", "style-4")]
    save_model(learn_cached(takes, small).model, folder / "some.gwvary")
    return [folder / "some.gwvary"]


def _use_model(folder: Path) -> None:
    sample(load_model(folder / "some.gwvary"), np.random.default_rng(0), frames=40)


@cache
def _moves() -> Any:
    return TreeRecipe().moves()


def _write_tree(folder: Path) -> Sequence[Path]:
    save_tree(diverse_tree(_moves(), Region.disc(5.0), Budget(400), stretch=None), folder / "some.gwtree")
    return [folder / "some.gwtree"]


def _use_tree(folder: Path) -> None:
    describe_tree(folder / "some.gwtree")
    tree = load_tree(folder / "some.gwtree", _moves())
    tree.unfold()
    coverage(tree)
    for node in range(0, len(tree), 97):
        tree.path(node)


def _write_live(folder: Path) -> Sequence[Path]:
    crowd, rng = _crowd(), np.random.default_rng(0)
    poses = np.column_stack([rng.uniform(-7.0, -1.0, (6, 2)), np.zeros(6)])
    crowd.add_many(poses, rng.uniform(1.0, 7.0, (6, 2)))
    for _ in range(40):
        crowd.step(1.0 / 30.0)
    crowd.save(folder / "some.gwlive")
    return [folder / "some.gwlive"]


@cache
def _crowd() -> Any:
    return live(World((-8.0, -8.0, 8.0, 8.0)), _person())


@cache
def _person(style: str = "neutral") -> Any:
    return load_cast("person", style=style)


def _use_live(folder: Path) -> None:
    crowd = _crowd()
    crowd.restore(folder / "some.gwlive")
    for _ in range(15):
        crowd.step(1.0 / 30.0)
    crowd.joints()


def _write_tracks(folder: Path) -> Sequence[Path]:
    """Write trajectory tables of all kinds: ours, Juelich's, one with times and words, and a recording of JuPedSim."""
    rng = np.random.default_rng(0)
    rows = [(p, f, 0.05 * f + p, p + rng.normal(0.0, 0.02)) for p in range(4) for f in range(40)]
    juelich = ["# framerate: 25 fps", "# id frame x/cm y/cm z/cm"]
    juelich += [f"{p} {f} {100.0 * x:.3f} {100.0 * y:.3f} 170" for p, f, x, y in rows]
    (folder / "juelich.txt").write_text("\n".join(juelich) + "\n", encoding="ascii")
    timed = ["name;time/ms;x [m];y [m];heading_deg"]
    timed += [f"person {p};{40 * f};{x:.3f};{y:.3f};{f}" for p, f, x, y in rows]
    (folder / "timed.csv").write_text("\n".join(timed) + "\n", encoding="ascii")
    export_trajectories(take_of([_clip(), _clip()]), folder / "ours.csv")
    database = sqlite3.connect(folder / "jupedsim.sqlite")
    database.execute(
        "CREATE TABLE trajectory_data(frame INTEGER, id INTEGER, pos_x REAL, pos_y REAL, ori_x REAL, ori_y REAL)"
    )
    database.execute("CREATE TABLE metadata(key TEXT, value TEXT)")
    database.execute("INSERT INTO metadata VALUES('fps', '25.0')")
    database.executemany(
        "INSERT INTO trajectory_data VALUES(?, ?, ?, ?, 1.0, 0.0)", [(f, p, x, y) for p, f, x, y in rows]
    )
    database.commit()
    database.close()
    files = [folder / name for name in ("juelich.txt", "timed.csv", "ours.csv", "jupedsim.sqlite")]
    if find_spec("pyarrow") is not None:
        export_trajectories(take_of([_clip(), _clip()]), folder / "ours.parquet")
        files.append(folder / "ours.parquet")
    return files


def _use_tracks(folder: Path) -> None:
    mutated = folder / "mutated.txt"
    names = [mutated.read_text(encoding="utf-8")] if mutated.exists() else sorted(p.name for p in folder.iterdir())
    for name in names:
        resampled(read_tracks(folder / name, people=None).trajectories, 30.0)


def _write_import(folder: Path) -> Sequence[Path]:
    save_clip(plan_scene(_scene(goal=(7.0, 3.0))).take.clip(0), folder / "walk.bvh")
    (folder / "gaitway-import.yaml").write_text(_OVERRIDES, encoding="ascii")
    return sorted(folder.iterdir())


def _use_import(folder: Path) -> None:
    (folder / "mutated.txt").unlink(missing_ok=True)
    import_library(folder)


KINDS = {
    "BVH": FuzzKind(_write_clip(".bvh"), _use_clips),
    "ASF and AMC": FuzzKind(_write_acclaim, _use_clips),
    "GLB": FuzzKind(_write_clip(".glb"), _use_clips, "bytes"),
    "glTF": FuzzKind(_write_gltf, _use_clips, chunk=100),
    "mesh": FuzzKind(_write_meshes, _use_meshes, "bytes", chunk=100),
    "terrain": FuzzKind(_write_terrain, _use_scenes, "bytes"),
    "scene": FuzzKind(_write_scenes, _use_scenes, chunk=100),
    "take": FuzzKind(_write_take, _use_take, "archive", chunk=100),
    "library": FuzzKind(_write_library, _use_library, "archive", chunk=20),
    "tree": FuzzKind(_write_tree, _use_tree, "tree", chunk=100),
    "model": FuzzKind(_write_model, _use_model, "archive", chunk=100),
    "live state": FuzzKind(_write_live, _use_live, "archive", chunk=10),
    "tracks": FuzzKind(_write_tracks, _use_tracks),
    "import": FuzzKind(_write_import, _use_import, chunk=5, seconds=20.0),
}
"""All kinds, by name."""


def write_mutated(kind: FuzzKind, seeds: Path, files: Sequence[Path], folder: Path, seed: int, number: int) -> None:
    """Write one mutated file among copies of the valid ones."""
    rng = np.random.default_rng([seed, number])
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(seeds, folder)
    path = folder / files[int(rng.integers(len(files)))].relative_to(seeds)
    (folder / "mutated.txt").write_text(path.name, encoding="utf-8")
    if kind.change == "archive" and rng.random() < 0.8:
        mutation.craft_archive(path, *mutation.mutate_archive(mutation.opened_archive(path), rng))
    elif kind.change == "tree" and rng.random() < 0.8:
        mutation.craft_tree(path, *mutation.mutate_archive(mutation.opened_tree(path), rng))
    else:
        plain = kind.change == "text" and path.suffix not in (".bin", ".sqlite", ".parquet")
        change = mutation.mutate_text if plain else mutation.mutate_bytes
        path.write_bytes(change(path.read_bytes(), rng))


def _tell(*words: object) -> None:
    """Write a line to the parent."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(name: str, seed: int, first: int, count: int, folder: Path) -> None:
    """Mutate and use files of a kind, with a line before and after each."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    kind, seeds = KINDS[name], folder / "valid"
    shutil.rmtree(seeds, ignore_errors=True)
    seeds.mkdir(parents=True)
    files = kind.write(seeds)
    kind.use(seeds)  # compiles what is needed, and shows that the files are valid
    _tell("ready", f"{peak_memory():.0f}")
    for number in range(first, first + count):
        write_mutated(kind, seeds, files, folder / "mutated", seed, number)
        _tell(BEGIN, number)
        try:
            kind.use(folder / "mutated")
            outcome = ACCEPTED
        except GaitwayError as problem:
            outcome = REFUSED if "\n" not in str(problem) else f"{CRASHED} message of several lines"
        except Exception as problem:
            outcome = f"{CRASHED} {type(problem).__name__}: {' '.join(str(problem).split())[:120]}"
        _tell(END, number, f"{peak_memory():.0f}", outcome)
        if outcome.startswith(CRASHED) or peak_memory() > MOST_MEGABYTES:
            return  # the parent looks at the file, and starts another process
