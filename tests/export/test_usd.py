"""USD files: valid by USD's own validators, and what UsdSkel computes from them is what the take says."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pxr import Sdf, Usd, UsdGeom, UsdShade, UsdSkel, UsdUtils, UsdValidation, Vt

from gaitway.core import rotations
from gaitway.core.errors import FormatError, GaitwayError, MissingExtraError
from gaitway.export import export_usd, usd_people, usd_stage
from gaitway.export.meshes import character_mesh
from gaitway.export.usd_parts import identifiers, quaternions
from gaitway.scene import scene_from_dict
from gaitway.take.model import Take
from gaitway.take.things import thing_facts, thing_poses, things_of
from gaitway.take.tracks import assemble, lay_track
from gaitway.world import Box, Cylinder, Mover, MoverPhase, Obstacle, Sphere, Terrain, World
from gaitway.world.lifts import Lift
from small_takes import odd_take, walkers
from strategies import clips, skeletons

PEOPLE = "/Take/Characters"


def full_world() -> World:
    """One thing of each kind that a world can have."""
    tree = Mover(
        (
            MoverPhase(0.0, Box((0, 0), (0.3, 0.3), 3.0), "passable"),
            MoverPhase(0.7, Box((0, 0), (0.5, 0.5), 2.0)),
            MoverPhase(1.5, Box((1, 0), (3.0, 0.3), 0.4), "jump"),
            MoverPhase(np.inf, Box((0, 0), (9.0, 9.0), 9.0), "never"),
        ),
        np.array([0.0, 1.25]),
        np.array([[4.0, 4.0, 0.0], [5.0, 3.0, 7.0]]),
        "old tree",
    )
    ball = Mover.of(Sphere((0.0, 0.0), 0.5), [0.0], [[1.0, 1.0, 0.0]])
    heights = 0.1 * np.add.outer(np.arange(6), np.sin(np.arange(6)))
    return World(
        (-5.0, -5.0, 8.0, 8.0),
        (
            Obstacle(Box((3, 3), (1, 2), 1.0, yaw=0.4)),
            Obstacle(Cylinder((2, 3), 0.4, 1.0)),
            Obstacle(Box((1, 3), (1, 0.2), 0.4), "jump", "log 1", "#112233"),
        ),
        (tree, ball),
        Terrain(heights, 2.0, (-5.0, -5.0)),
    )


def problems(stage: Usd.Stage) -> list[str]:
    """What all of USD's validators have to say."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) >= 20
    return [e.GetErrorAsString() for e in UsdValidation.ValidationContext(validators).Validate(stage)]


def exported(take: Take, folder: Path, world: World | None = None, suffix: str = ".usdc", **options) -> Usd.Stage:
    path = folder / f"out{suffix}"
    export_usd(take, path, world, **options)
    assert [p.name for p in folder.iterdir()] == [path.name], "nothing else is left in the folder"
    return Usd.Stage.Open(str(path))


def skeleton_query(stage: Usd.Stage, name: str) -> tuple[UsdSkel.SkeletonQuery, UsdSkel.SkinningQuery]:
    root = UsdSkel.Root(stage.GetPrimAtPath(f"{PEOPLE}/{name}"))
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    (binding,) = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)
    (target,) = binding.GetSkinningTargets()
    return cache.GetSkelQuery(binding.GetSkeleton()), target


def usd_joints(stage: Usd.Stage, name: str, code: float) -> np.ndarray:
    """World positions of joints by UsdSkel (J, 3)."""
    query, _ = skeleton_query(stage, name)
    to_world = UsdGeom.XformCache(code).GetLocalToWorldTransform(query.GetPrim())
    inside = query.ComputeJointSkelTransforms(code)
    return np.array([[*(m * to_world).ExtractTranslation()] for m in inside])


def usd_skin(stage: Usd.Stage, name: str, code: float) -> np.ndarray:
    """World positions of the body's vertices by UsdSkel (V, 3)."""
    query, target = skeleton_query(stage, name)
    mesh = UsdGeom.Mesh(target.GetPrim())
    points = Vt.Vec3fArray(mesh.GetPointsAttr().Get())
    assert target.ComputeSkinnedPoints(query.ComputeSkinningTransforms(code), points, code)
    to_world = UsdGeom.XformCache(code).GetLocalToWorldTransform(query.GetPrim())
    matrix = np.array(to_world)
    return np.array(points) @ matrix[:3, :3] + matrix[3, :3]


def plain_skin(take: Take, character: int, frame: int, variant: int) -> np.ndarray:
    """The same by plain sums over joints."""
    clip = take.clip(character)
    skeleton, mesh = clip.skeleton, character_mesh(clip.skeleton, variant)
    places, turns = (a[frame] for a in clip.joint_transforms())
    rest = np.array(skeleton.rest_rotations)
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            rest[joint] = rotations.multiply(rest[parent], rest[joint])
    out = np.zeros_like(mesh.points)
    for k in range(4):
        j = mesh.joints[:, k]
        turn = rotations.multiply(turns[j], rotations.conjugate(rest[j]))
        out += mesh.weights[:, k : k + 1] * (
            rotations.rotate(turn, mesh.points - skeleton.rest_positions[j]) + places[j]
        )
    return out


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz", ".usd", ".USDC"])
def test_files_are_valid(tmp_path: Path, suffix: str) -> None:
    stage = exported(walkers(3, 0.5, (0.0, 0.2)), tmp_path, full_world(), suffix)
    assert problems(stage) == []
    assert [p.GetName() for p in stage.GetPrimAtPath(PEOPLE).GetChildren()] == ["walker_0", "walker_1", "walker_2"]


def test_foreign_skeletons_are_valid(tmp_path: Path) -> None:
    stage = exported(odd_take(), tmp_path)
    assert problems(stage) == []


def test_the_validators_can_fail(tmp_path: Path) -> None:
    stage = exported(walkers(1, 0.5), tmp_path)
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        bones = stage.GetPrimAtPath(f"{PEOPLE}/walker_0/Skeleton")
        bones.RemoveAPI(UsdSkel.BindingAPI)
        UsdGeom.Mesh.Define(stage, f"{PEOPLE}/walker_0/Body/Inner")
    found = " ".join(problems(stage))
    assert "SkelBindingAPI" in found
    assert "EncapsulationChecker" in found


def test_the_stage_says_what_it_is(tmp_path: Path) -> None:
    stage = exported(walkers(2, 1.0, (0.0, 0.5)), tmp_path)
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert (stage.GetTimeCodesPerSecond(), stage.GetFramesPerSecond()) == (30.0, 30.0)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, 45.0)
    assert stage.GetDefaultPrim().GetPath() == "/Take"
    assert "2 characters at 30 frames" in stage.GetRootLayer().documentation
    assert all(not p.GetPath().HasPrefix("/Prototypes") for p in stage.Traverse()), "prototypes are not seen"


@pytest.mark.parametrize("fps", [30.0, 24.0, 59.94])
def test_joints_are_where_the_take_has_them(tmp_path: Path, fps: float) -> None:
    take = walkers(3, 1.5, (0.0, 0.5))
    stage = exported(take, tmp_path, fps=fps)
    for character in range(3):
        start = int(np.ceil(take.start(character) * fps - 1e-6))
        for code in (start, start + 1, start + 17, start + 35):
            (pose,) = take.poses(code / fps, [character])
            got = usd_joints(stage, f"walker_{character}", code)
            np.testing.assert_allclose(got, pose.joint_transforms()[0][0], atol=2e-6)
    clip = take.clip(1, fps)
    if (take.start(1) * fps) % 1.0 == 0.0:
        got = usd_joints(stage, "walker_1", take.start(1) * fps + 9)
        np.testing.assert_allclose(got, clip.joint_positions()[9], atol=2e-6)


def test_between_frames_rotations_take_the_short_way(tmp_path: Path) -> None:
    take = walkers(2, 1.0)
    stage = exported(take, tmp_path)
    before, between, after = (usd_joints(stage, "walker_1", code) for code in (7.0, 7.5, 8.0))
    assert np.abs(between - 0.5 * (before + after)).max() < 5e-3


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(clip=clips())
def test_any_rig_comes_back(tmp_path: Path, clip) -> None:
    take = assemble([lay_track("it", [clip], (1.0, -2.0, 0.5))], fps=clip.fps)
    path = tmp_path / "any.usdc"
    export_usd(take, path)
    stage = Usd.Stage.Open(str(path))
    stage.Reload()  # the layer of the example before has the same name
    for frame in range(len(clip)):
        want = take.clip(0).joint_positions()[frame]
        np.testing.assert_allclose(usd_joints(stage, "it", frame), want, atol=1e-4)


@pytest.mark.parametrize("maker", [lambda: walkers(2, 1.0), odd_take], ids=["people", "odd"])
def test_skin_follows_as_by_plain_sums(tmp_path: Path, maker) -> None:
    take = maker()
    stage = exported(take, tmp_path)
    for character, name in enumerate(identifiers(take.names)):
        for frame in (0, 11, 19):
            got = usd_skin(stage, name, frame)
            np.testing.assert_allclose(got, plain_skin(take, character, frame, character), atol=1e-4)


@pytest.mark.parametrize("maker", [lambda: walkers(2, 1.0), odd_take], ids=["people", "odd"])
def test_extents_hold_the_body_and_not_much_more(tmp_path: Path, maker) -> None:
    take = maker()
    stage = exported(take, tmp_path)
    for name in identifiers(take.names):
        prim = stage.GetPrimAtPath(f"{PEOPLE}/{name}")
        low, high = np.array(UsdSkel.Root(prim).GetExtentAttr().Get())
        inside = []
        for frame in range(0, 20, 2):
            to_world = UsdGeom.XformCache(frame).GetLocalToWorldTransform(prim)
            inside.append(usd_skin(stage, name, frame) - np.array(to_world.ExtractTranslation()))
        seen_low, seen_high = np.min(inside, axis=(0, 1)), np.max(inside, axis=(0, 1))
        assert (low <= seen_low + 1e-5).all()
        assert (high >= seen_high - 1e-5).all()
        assert (high - low < 1.5 * (seen_high - seen_low) + 0.8).all()
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"{PEOPLE}/{name}/Body"))
        points = np.array(mesh.GetPointsAttr().Get())
        np.testing.assert_allclose(mesh.GetExtentAttr().Get(), [points.min(axis=0), points.max(axis=0)])


def test_who_is_not_there_is_not_seen(tmp_path: Path) -> None:
    stage = exported(walkers(3, 1.0, (0.0, 0.5, 1.2)), tmp_path)

    def seen(character: int) -> list[int]:
        prim = UsdGeom.Imageable(stage.GetPrimAtPath(f"{PEOPLE}/walker_{character}/Body"))
        return [code for code in range(67) if prim.ComputeVisibility(code) != "invisible"]

    assert [seen(c) for c in range(3)] == [list(range(31)), list(range(15, 46)), list(range(36, 67))]
    export_usd(walkers(1, 1.0), tmp_path / "alone.usdc")
    alone = Usd.Stage.Open(str(tmp_path / "alone.usdc"))
    assert not alone.GetPrimAtPath(f"{PEOPLE}/walker_0").GetAttribute("visibility").IsAuthored()


def test_bodies_are_referenced_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usd_stage, "INDIVIDUALS", 4)
    sizes = {}
    for count in (8, 24):
        path = tmp_path / f"{count}.usdc"
        export_usd(walkers(count, 2.0), path)
        sizes[count] = path.stat().st_size
        layer = Sdf.Layer.FindOrOpen(str(path))
        meshes: list[str] = []
        layer.Traverse("/", lambda p, meshes=meshes: meshes.append(str(p)) if p.name == "points" else None)
        assert [m.split("/")[1] for m in meshes] == ["Prototypes"] * 4
        stage = Usd.Stage.Open(layer)
        for number, prim in enumerate(stage.GetPrimAtPath(PEOPLE).GetChildren()):
            own, body = prim.GetPrimStack()
            assert own.path == prim.GetPath()
            assert str(body.path) == f"/Prototypes/person_{number % 4}"
    animation = 16 * 61 * (25 * 16 + 24)
    assert animation < sizes[24] - sizes[8] < 1.15 * animation


def test_materials_are_on_faces(tmp_path: Path) -> None:
    take = walkers(1, 0.5)
    stage = exported(take, tmp_path)
    mesh = character_mesh(take.skeletons[0], 0)
    body = UsdGeom.Mesh(stage.GetPrimAtPath(f"{PEOPLE}/walker_0/Body"))
    subsets = UsdShade.MaterialBindingAPI(body).GetMaterialBindSubsets()
    faces = np.concatenate([np.array(s.GetIndicesAttr().Get()) for s in subsets])
    assert sorted(faces) == list(range(len(mesh.triangles)))
    for subset in subsets:
        bound, _ = UsdShade.MaterialBindingAPI(subset).ComputeBoundMaterial()
        color = bound.ComputeSurfaceSource()[0].GetInput("diffuseColor").Get()
        index = mesh.material_of[subset.GetIndicesAttr().Get()[0]]
        np.testing.assert_allclose(color, mesh.materials[index].color, atol=1e-6)
    np.testing.assert_allclose(body.GetPointsAttr().Get(), mesh.points, atol=1e-6)


def test_names_are_made_valid_and_shown_as_they_were(tmp_path: Path) -> None:
    names = ("ada", "Ada", "7 of 9", "José", "a/b", "a b", "_")
    stage = exported(walkers(len(names), 0.3, names=names), tmp_path)
    prims = stage.GetPrimAtPath(PEOPLE).GetChildren()
    assert [p.GetDisplayName() or p.GetName() for p in prims] == list(names)
    assert len({p.GetName().lower() for p in prims}) == len(names)


@pytest.mark.slow
@given(st.lists(st.text(max_size=6), max_size=20))
def test_identifiers_are_valid_and_different(names: list[str]) -> None:
    found = identifiers(names)
    assert len({n.casefold() for n in found}) == len(found) == len(names)
    assert all(Sdf.Path.IsValidIdentifier(n) for n in found)


@given(skeletons())
def test_joint_paths_are_a_topology(skeleton) -> None:
    topology = UsdSkel.Topology(Vt.TokenArray(usd_people.joint_paths(skeleton)))
    assert topology.Validate()[0]
    assert list(topology.GetParentIndices()) == skeleton.parents.tolist()


def test_quaternions_keep_their_scalar() -> None:
    ((q,),) = quaternions(np.array([[[0.1, 0.2, 0.3, 0.4]]]))
    assert np.allclose([q.GetReal(), *q.GetImaginary()], [0.1, 0.2, 0.3, 0.4])


def test_the_place_is_in_the_file(tmp_path: Path) -> None:
    world = full_world()
    stage = exported(walkers(1, 2.0), tmp_path, world)
    boxes = UsdGeom.BBoxCache(0.0, ["default"])
    place = "/Take/Place"
    for name, obstacle in zip(("wall", "wall_2", "log_1"), world.obstacles, strict=True):
        prim = stage.GetPrimAtPath(f"{place}/Obstacles/{name}")
        box = boxes.ComputeWorldBound(prim).ComputeAlignedRange()
        x0, y0, x1, y1 = obstacle.shape.footprint().bounds
        want = [[x0, y0, obstacle.shape.heights[0]], [x1, y1, obstacle.shape.heights[1]]]
        np.testing.assert_allclose([box.GetMin(), box.GetMax()], want, atol=1e-2)
        assert prim.GetCustomDataByKey("gaitway:kind") == obstacle.kind
    assert stage.GetPrimAtPath(f"{place}/Obstacles/log_1").GetDisplayName() == "log 1"
    ground = np.array(UsdGeom.Mesh(stage.GetPrimAtPath(f"{place}/Ground")).GetPointsAttr().Get())
    np.testing.assert_allclose(ground[:, 2], world.ground(ground[:, :2]), atol=1e-5)


def test_movers_move_and_change_as_they_should(tmp_path: Path) -> None:
    world = full_world()
    stage = exported(walkers(1, 2.0), tmp_path, world)
    tree = world.movers[0]
    for time in (0.0, 0.4, 0.7, 1.1, 1.25, 1.5, 1.9):
        shown = []
        for prim in stage.GetPrimAtPath("/Take/Place/Movers/old_tree").GetChildren():
            if UsdGeom.Imageable(prim).ComputeVisibility(time * 30.0) != "invisible":
                shown.append(prim)
        assert [p.GetName() for p in shown] == [tree.phase(time).kind]
        box = UsdGeom.BBoxCache(time * 30.0, ["default"]).ComputeWorldBound(shown[0]).ComputeAlignedRange()
        obstacle = tree.at(time)
        x0, y0, x1, y1 = obstacle.shape.footprint().bounds
        center = [(x0 + x1) / 2, (y0 + y1) / 2, sum(obstacle.shape.heights) / 2]
        np.testing.assert_allclose(box.GetMidpoint(), center, atol=1e-5)


def test_a_door_moves_as_its_take_tells(tmp_path: Path) -> None:
    gate = {"name": "gate", "center": [2, 1], "size": [1.2, 0.1], "slide": [1.2, 0]}
    world = scene_from_dict({"gaitway": 1, "bounds": [0, 0, 6, 4], "doors": [gate]}).world
    path = [[0.0, 2.0, 1.0, 0.0], [0.5, 2.0, 1.0, 0.0], [1.5, 3.2, 1.0, 0.0]]
    told = {"doors": {"gate": {"path": path, "moves": [["opens", 0.5, 0.5, 1.5, ""]]}}}
    stage = exported(replace(walkers(1, 2.0), facts=told), tmp_path, world)
    prim = stage.GetPrimAtPath("/Take/Place/Movers/gate")
    for time, x in ((0.0, 2.0), (0.5, 2.0), (1.0, 2.6), (1.5, 3.2), (1.9, 3.2)):
        box = UsdGeom.BBoxCache(time * 30.0, ["default"]).ComputeWorldBound(prim).ComputeAlignedRange()
        np.testing.assert_allclose(box.GetMidpoint(), [x, 1.0, 1.05], atol=1e-4)


def test_lifts_go_up_as_they_do(tmp_path: Path) -> None:
    lift = Lift((2.0, 0.0), (2.0, 2.0), (0.0, 3.0), dwell=0.5, speed=4.5, name="lift")
    stage = exported(walkers(1, 2.0), tmp_path, World((-5.0, -5.0, 5.0, 5.0), lifts=(lift,)))
    prim = stage.GetPrimAtPath("/Take/Place/Movers/lift_lift")
    for time in (0.0, 0.4, 1.0, 1.2, 1.9):
        box = UsdGeom.BBoxCache(time * 30.0, ["default"]).ComputeWorldBound(prim).ComputeAlignedRange()
        assert box.GetMax()[2] == pytest.approx(float(lift.height(time)), abs=0.03)


def test_things_follow_the_hands_that_have_them(tmp_path: Path) -> None:
    take = walkers(1, 2.0)
    spans = [[0.0, None, "", [3, 1, 0.75, 1, 0, 0, 0]], [1.0, take.names[0], "right_wrist", [0.1, 0, 0, 1, 0, 0, 0]]]
    take = replace(take, facts={"things": {"my cup": thing_facts("cylinder", (0.08, 0.08, 0.1), "#c04030", spans)}})
    stage = exported(take, tmp_path)
    assert not problems(stage)
    prim = stage.GetPrimAtPath("/Take/Things/my_cup_thing")
    assert prim.GetDisplayName() == "my cup"
    assert list(prim.GetCustomDataByKey("gaitway:owners")) == ["0 - -", f"30 {take.names[0]} right_wrist"]
    keys = prim.GetAttribute("xformOp:translate").GetTimeSamples()
    assert keys[:3] == [0.0, 29.0, 30.0], "no keys while it stands"
    for time in (0.3, 1.0, 1.4, 1.9):
        (at,), (turn,) = thing_poses(take, things_of(take)[0], time)
        matrix = UsdGeom.XformCache(time * 30.0).GetLocalToWorldTransform(prim)
        np.testing.assert_allclose(matrix.ExtractTranslation(), at, atol=2e-3)
        np.testing.assert_allclose(matrix.TransformDir((1.0, 0.0, 0.0)), rotations.rotate(turn, [1, 0, 0]), atol=2e-3)


def test_level_ground_and_no_world(tmp_path: Path) -> None:
    stage = exported(walkers(1, 0.3), tmp_path, World((0.0, 0.0, 4.0, 3.0)))
    extent = UsdGeom.Mesh(stage.GetPrimAtPath("/Take/Place/Ground")).GetExtentAttr().Get()
    np.testing.assert_allclose(extent, [[0, 0, 0], [4, 3, 0]])
    (tmp_path / "out.usdc").unlink()
    assert not exported(walkers(1, 0.3), tmp_path, suffix=".usda").GetPrimAtPath("/Take/Place")


def test_same_take_same_bytes(tmp_path: Path) -> None:
    texts = []
    for name in ("a.usda", "b.usda"):
        export_usd(walkers(3, 0.5), tmp_path / name, full_world())
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]


def test_a_package_holds_one_layer(tmp_path: Path) -> None:
    export_usd(walkers(1, 0.3), tmp_path / "my take.usdz")
    layers, assets, missing = UsdUtils.ComputeAllDependencies(str(tmp_path / "my take.usdz"))
    assert [layer.GetDisplayName() for layer in layers] == ["my take.usdz"]
    assert (list(assets), list(missing)) == ([], [])


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("x.obj", {}, r"x\.obj: a USD file ends in \.usd, \.usda, \.usdc, \.usdz, not in '\.obj'"),
        ("x", {}, "ends in"),
        ("no/x.usda", {}, "there is no folder"),
        ("x.usdc", {"fps": 0.0}, "frame rate 0"),
        ("x.usdc", {"fps": float("nan")}, "frame rate nan"),
    ],
)
def test_bad_input(tmp_path: Path, name: str, options: dict, words: str) -> None:
    with pytest.raises(GaitwayError, match=words):
        export_usd(walkers(1, 0.3), tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz"])
def test_a_failure_leaves_what_was_there(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"before")

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(usd_people, "add_character", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export_usd(walkers(1, 0.3), path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.startswith("gaitway.export.usd_")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("gaitway.export.usd_stage", raising=False)
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtraError, match=r"gaitway\[usd\]"):
        export_usd(walkers(1, 0.3), tmp_path / "x.usdc")
    with pytest.raises(FormatError, match="ends in"):
        export_usd(walkers(1, 0.3), tmp_path / "x.fbx")
