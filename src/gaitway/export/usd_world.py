"""A place in USD: ground, obstacles, and movers that move and change."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdShade

from gaitway.export import usd_parts
from gaitway.export.scenery import ground_material, kind_material, vertex_normals
from gaitway.export.skinned import Material
from gaitway.world.obstacle import Mover
from gaitway.world.surface import Surface, surface, terrain_surface
from gaitway.world.world import World


def add_world(stage: Usd.Stage, path: str, world: World, fps: float, first_code: float) -> None:
    """Write a place.

    Args:
        stage: the stage.
        path: of the prim that holds it all.
        world: the place.
        fps: time codes a second.
        first_code: the first time code of the stage.
    """
    UsdGeom.Xform.Define(stage, path)
    looks = _Looks(stage, f"{path}/Materials", world)
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


class _Looks:
    """The materials of a place, each written once, and meshes that have them."""

    def __init__(self, stage: Usd.Stage, scope: str, world: World) -> None:
        self.stage = stage
        wanted = [ground_material()]
        wanted += [kind_material(o.kind, o.color) for o in world.obstacles]
        wanted += [kind_material(phase.kind, m.color) for m in world.movers for phase in m.phases]
        different = {look.name: look for look in wanted}
        made = usd_parts.add_materials(stage, scope, list(different.values()))
        self.materials: Mapping[str, UsdShade.Material] = dict(zip(different, made, strict=True))

    def add_thing(self, path: str, shape: Surface, look: Material) -> Usd.Prim:
        """A mesh of one colour."""
        vertices, triangles = shape
        mesh = usd_parts.add_mesh(self.stage, path, vertices, triangles, vertex_normals(vertices, triangles))
        usd_parts.paint(mesh, np.array([look.color]))
        usd_parts.bind(mesh.GetPrim(), self.materials[look.name])
        return mesh.GetPrim()


def _add_mover(looks: _Looks, path: str, mover: Mover, fps: float, first_code: float) -> None:
    """A prim that moves from key to key, which USD joins by straight lines as a mover does, and one mesh a phase."""
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
