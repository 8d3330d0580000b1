"""The USD stage of a take: characters, things, and the world with movers that move. Needs the extra `usd`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from pxr import Gf, Kind, Sdf, Tf, Usd, UsdGeom, UsdShade, UsdUtils, Vt

from gaitway._version import __version__
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import FormatError
from gaitway.core.files import atomic_path
from gaitway.core.progress import Progress
from gaitway.export import usd_parts, usd_people
from gaitway.export.characters import character_motion, frame_spans
from gaitway.export.meshes import INDIVIDUALS, Material, character_mesh, ground_material, kind_material, vertex_normals
from gaitway.export.usd_people import Prototype, UsdSpan
from gaitway.take.model import Take
from gaitway.take.things import ThingTrack, thing_poses, things_of
from gaitway.world.escalators import Escalator
from gaitway.world.lifts import Lift
from gaitway.world.obstacle import Mover
from gaitway.world.surface import Surface, surface, terrain_surface
from gaitway.world.world import World, realised

_ROOT, _PROTOTYPES = "/Take", "/Prototypes"
_SAVE_EVERY = 32_000_000
"""Size of the samples in memory before they go to disk [bytes], so that a crowd of any size can be written."""

_RIDE_S, _LIFTED = 0.1, 600.0
"""Time between two keys of a lift that moves, and time until which it goes on moving [s]."""

_STILL = 1e-7
"""Greatest change of a thing from frame to frame that needs no key [m, or parts of a unit quaternion]."""


def write_stage(take: Take, path: Path, world: World | None, fps: float, progress: Progress) -> None:
    """Write a take to `path`, whose ending picks the form; see `export_usd`."""
    form = path.suffix.lower()
    with (
        atomic_path(path) as temporary,
        tempfile.TemporaryDirectory(prefix=f".{path.stem}.", dir=path.parent) as folder,
    ):
        binary = Path(folder) / f"{Tf.MakeValidIdentifier(path.stem)}.usdc"
        try:
            layer = Sdf.Layer.CreateNew(str(binary))
            _write(layer, take, realised(world, take.facts), fps, path.name, progress)
            done = form != ".usda" or layer.Export(str(temporary))
            del layer  # closes the file, which some systems do not rename or read before
            if form == ".usdz":
                done = UsdUtils.CreateNewUsdzPackage(str(binary), str(temporary))
            elif form != ".usda":
                binary.replace(temporary)
            if not done:
                raise FormatError(path, "cannot be written: USD gives no reason")
        except Tf.ErrorException as problem:
            reason = problem.args[0]  # the first of several errors is the cause
            raise FormatError(path, f"cannot be written: {getattr(reason, 'commentary', reason)}") from None


def _write(layer: Sdf.Layer, take: Take, world: World | None, fps: float, name: str, progress: Progress) -> None:
    """Write the layer: first all that stands still, by a stage, then the characters directly into the layer."""
    first, last = frame_spans(take, fps)
    whole = UsdSpan(float(first.min()), float(last.max()))
    stage = Usd.Stage.Open(layer)
    _describe(stage, take, whole, fps)
    stage.CreateClassPrim(_PROTOTYPES)
    if world is not None:
        _add_world(stage, f"{_ROOT}/Place", world, fps, whole.first)
    _add_things(stage, f"{_ROOT}/Things", take, world, fps, whole)
    UsdGeom.Xform.Define(stage, f"{_ROOT}/Characters")
    prototypes = _add_prototypes(stage, take)
    del stage
    waiting = 0
    for character, identifier in enumerate(usd_parts.identifiers(take.names)):
        path = f"{_ROOT}/Characters/{identifier}"
        motion = character_motion(take, character, int(first[character]), int(last[character]), fps)
        span = UsdSpan(float(first[character]), float(last[character]))
        waiting += usd_people.add_character(layer, path, prototypes[character], motion, span, whole)
        if waiting > _SAVE_EVERY:
            layer.Save()
            waiting = 0
        progress(name, character + 1, len(take))
    layer.Save()


def _describe(stage: Usd.Stage, take: Take, whole: UsdSpan, fps: float) -> None:
    """Set the data of the stage: axes, units, times and a description."""
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(fps)
    stage.SetFramesPerSecond(fps)
    stage.SetStartTimeCode(whole.first)
    stage.SetEndTimeCode(whole.last)
    root = UsdGeom.Xform.Define(stage, _ROOT).GetPrim()
    Usd.ModelAPI(root).SetKind(Kind.Tokens.component)
    stage.SetDefaultPrim(root)
    stage.GetRootLayer().documentation = (
        f"A take of {len(take.names)} characters at {fps:g} frames a second. Metres, Z up, a figure at rest faces +X. "
        f"Bodies are below {_PROTOTYPES} and referenced by the characters."
    )
    stage.GetRootLayer().customLayerData = {"creator": f"gaitway {__version__}"}


def _add_prototypes(stage: Usd.Stage, take: Take) -> Sequence[Prototype]:
    """Add one prototype for each kind of body that occurs; returns the prototype of every character."""
    made: dict[tuple[int, int], Prototype] = {}
    names = usd_parts.identifiers(skeleton.name for skeleton in take.skeletons)
    for character, body in enumerate(take.bodies.tolist()):
        kind = (body, character % INDIVIDUALS)
        if kind not in made:
            skeleton = take.skeletons[body]
            path = f"{_PROTOTYPES}/{names[body]}_{kind[1]}"
            made[kind] = usd_people.add_prototype(stage, path, skeleton, character_mesh(skeleton, kind[1]))
    return [made[body, character % INDIVIDUALS] for character, body in enumerate(take.bodies.tolist())]


def _add_world(stage: Usd.Stage, path: str, world: World, fps: float, first_code: float) -> None:
    """Write a place.

    Args:
        stage: the stage.
        path: of the prim that holds it all.
        world: the place.
        fps: time codes a second.
        first_code: the first time code of the stage.
    """
    UsdGeom.Xform.Define(stage, path)
    looks = _Looks(stage, f"{path}/Materials", _world_materials(world))
    looks.add_thing(f"{path}/Ground", terrain_surface(world.terrain, world.bounds), ground_material())
    UsdGeom.Xform.Define(stage, f"{path}/Obstacles")
    names = usd_parts.identifiers(o.name or o.kind for o in world.obstacles)
    for name, obstacle in zip(names, world.obstacles, strict=True):
        material = kind_material(obstacle.kind, obstacle.color)
        prim = looks.add_thing(f"{path}/Obstacles/{name}", surface(obstacle.shape), material)
        prim.SetCustomDataByKey("gaitway:kind", obstacle.kind)
        if obstacle.name not in ("", name):
            prim.SetDisplayName(obstacle.name)
    UsdGeom.Xform.Define(stage, f"{path}/Movers")
    for name, mover in zip(
        usd_parts.identifiers(m.name or m.phases[0].kind for m in world.movers), world.movers, strict=True
    ):
        _add_mover(looks, f"{path}/Movers/{name}", mover, fps, first_code)
    for name, lift in zip(usd_parts.identifiers(f"{lift.name}_lift" for lift in world.lifts), world.lifts, strict=True):
        _add_lift(looks, f"{path}/Movers/{name}", lift, fps)
    for name, one in zip(usd_parts.identifiers(one.name for one in world.escalators), world.escalators, strict=True):
        for number in range(one.tread_count):
            _add_tread(looks, f"{path}/Movers/{name}_tread_{number}", one, number, fps)


def _world_materials(world: World) -> list[Material]:
    """Return the materials of everything in a world."""
    wanted = [ground_material()]
    wanted += [kind_material(o.kind, o.color) for o in world.obstacles]
    wanted += [kind_material("platform", lift.color) for lift in world.lifts]
    treads = [one.tread(number) for one in world.escalators for number in range(one.tread_count)]
    wanted += [kind_material(tread.kind, tread.color) for tread in treads]
    return wanted + [kind_material(phase.kind, m.color) for m in world.movers for phase in m.phases]


class _Looks:
    """Materials, each written once, and meshes that have them."""

    def __init__(self, stage: Usd.Stage, scope: str, wanted: Sequence[Material]) -> None:
        self.stage = stage
        different = {look.name: look for look in wanted}
        made = usd_parts.add_materials(stage, scope, list(different.values()))
        self.materials: Mapping[str, UsdShade.Material] = dict(zip(different, made, strict=True))

    def add_thing(self, path: str, shape: Surface, look: Material) -> Usd.Prim:
        """Add a mesh of one colour."""
        vertices, triangles = shape
        mesh = usd_parts.add_mesh(self.stage, path, vertices, triangles, vertex_normals(vertices, triangles))
        usd_parts.paint(mesh, np.array([look.color]))
        usd_parts.bind(mesh.GetPrim(), self.materials[look.name])
        return mesh.GetPrim()


def _add_mover(looks: _Looks, path: str, mover: Mover, fps: float, first_code: float) -> None:
    """Add a prim that moves from key to key along straight lines, as a mover does, and one mesh for each phase."""
    frame = UsdGeom.Xform.Define(looks.stage, path)
    move, turn = frame.AddTranslateOp(), frame.AddRotateZOp()
    for time, (x, y, heading) in zip(mover.times.tolist(), mover.poses.tolist(), strict=True):
        move.Set(Gf.Vec3d(x, y, 0.0), time * fps)
        turn.Set(float(np.degrees(heading)), time * fps)
    if mover.name not in ("", frame.GetPrim().GetName()):
        frame.GetPrim().SetDisplayName(mover.name)
    phases = [mover.phases[0], *(phase for phase in mover.phases[1:] if np.isfinite(phase.start))]
    spans = pairwise([-np.inf, *(phase.start * fps for phase in phases[1:]), np.inf])
    names = usd_parts.identifiers(phase.kind for phase in phases)
    for name, phase, (begin, end) in zip(names, phases, spans, strict=True):
        prim = looks.add_thing(f"{path}/{name}", surface(phase.shape), kind_material(phase.kind, mover.color))
        prim.SetCustomDataByKey("gaitway:kind", phase.kind)
        _show_between(prim, begin, end, first_code)


def _add_things(stage: Usd.Stage, path: str, take: Take, world: World | None, fps: float, whole: UsdSpan) -> None:
    """Write the things that people handle; a take without any has no such prim."""
    tracks = things_of(take)
    if not tracks:
        return
    UsdGeom.Xform.Define(stage, path)
    looks = _Looks(stage, f"{path}/Materials", [kind_material("thing", track.color) for track in tracks])
    for name, track in zip(usd_parts.identifiers(f"{track.name}_thing" for track in tracks), tracks, strict=True):
        _add_thing(looks, f"{path}/{name}", take, track, world, fps, whole)


def _add_thing(
    looks: _Looks, path: str, take: Take, track: ThingTrack, world: World | None, fps: float, whole: UsdSpan
) -> None:
    """Add a thing that follows whoever has it. Its custom data say who that is, from which time code on."""
    codes = np.arange(round(whole.first), round(whole.last) + 1)
    places, turns = thing_poses(take, track, codes / fps, world)
    turns = rotations.continuous(turns[:, None])[:, 0]
    prim = looks.add_thing(path, surface(track.solid()), kind_material("thing", track.color))
    prim.SetDisplayName(track.name)
    prim.SetCustomDataByKey("gaitway:kind", "thing")
    owners = [f"{span.start * fps:g} {span.who or '-'} {span.part or '-'}" for span in track.spans]
    prim.SetCustomDataByKey("gaitway:owners", Vt.StringArray(owners))
    frame = UsdGeom.Xformable(prim)
    move, turn = frame.AddTranslateOp(), frame.AddOrientOp()
    for k in _keys(np.concatenate([places, turns], axis=1)).tolist():
        move.Set(Gf.Vec3d(*places[k].tolist()), float(codes[k]))
        turn.Set(Gf.Quatf(*turns[k].tolist()), float(codes[k]))


def _keys(rows: FloatArray) -> IntArray:
    """Return the frames that rows (F, D) need as keys: all but those that are as the frame before and after."""
    still = np.abs(np.diff(rows, axis=0)).max(axis=1) < _STILL if len(rows) > 1 else np.empty(0, dtype=bool)
    kept = np.ones(len(rows), dtype=bool)
    kept[1:-1] = ~(still[:-1] & still[1:])
    return np.flatnonzero(kept)


def _add_lift(looks: _Looks, path: str, lift: Lift, fps: float) -> None:
    """Add a platform that goes up and down, for `_LIFTED` seconds."""
    first = lift.at(0.0)
    prim = looks.add_thing(path, surface(first.shape), kind_material(first.kind, lift.color))
    prim.SetCustomDataByKey("gaitway:kind", "lift")
    move, begin = UsdGeom.Xformable(prim).AddTranslateOp(), float(lift.height(0.0))
    for time in lift.moments(0.0, _LIFTED, _RIDE_S).tolist():
        move.Set(Gf.Vec3d(0.0, 0.0, float(lift.height(time)) - begin), time * fps)


def _add_tread(looks: _Looks, path: str, escalator: Escalator, number: int, fps: float) -> None:
    """Add a tread that goes from one end of its escalator to the other, for `_LIFTED` seconds."""
    drawn, times = escalator.tread(number), escalator.tread_moments(number, 0.0, _LIFTED)
    prim = looks.add_thing(path, surface(drawn.shape), kind_material(drawn.kind, drawn.color))
    prim.SetCustomDataByKey("gaitway:kind", "escalator")
    move = UsdGeom.Xformable(prim).AddTranslateOp()
    for time, place in zip(times.tolist(), escalator.tread_places(number, times).tolist(), strict=True):
        move.Set(Gf.Vec3d(*place), time * fps)


def _show_between(prim: Usd.Prim, begin: float, end: float, first_code: float) -> None:
    """Let something be seen from one time code up to another, either of which may be infinite."""
    if np.isinf(begin) and np.isinf(end):
        return
    visibility = UsdGeom.Imageable(prim).CreateVisibilityAttr()
    before = min([first_code] + [code - 1.0 for code in (begin, end) if np.isfinite(code)])
    visibility.Set(usd_parts.SEEN if np.isinf(begin) else usd_parts.UNSEEN, before)
    if np.isfinite(begin):
        visibility.Set(usd_parts.SEEN, begin)
    if np.isfinite(end):
        visibility.Set(usd_parts.UNSEEN, end)
