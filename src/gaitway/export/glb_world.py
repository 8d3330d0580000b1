"""The place of a take in a GLB file: ground, obstacles, and movers that move."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.export.glb_meshes import add_thing
from gaitway.export.glb_tracks import Tracks
from gaitway.export.naming import different
from gaitway.export.scenery import ground_material, kind_material
from gaitway.export.skinned import Material
from gaitway.motion.formats.glb_asset import Asset, y_up, y_up_xyzw
from gaitway.world.obstacle import Mover
from gaitway.world.surface import Surface, surface, terrain_surface
from gaitway.world.world import World

_LARGEST_TURN = np.pi / 12.0
"""Between two keys a mover turns no further than this [rad]: over half a turn programs would take the short way round,
and some (Blender) mix the four numbers of two rotations evenly, which is not an even turn."""


def add_world(asset: Asset, tracks: Tracks, world: World, whole: tuple[float, float]) -> int:
    """Write a place.

    Args:
        asset: the file.
        tracks: its animation.
        world: the place.
        whole: when the animation begins and ends [s].

    Returns:
        The node that holds it all.
    """
    root = asset.add("nodes", {"name": "place"})
    ground = terrain_surface(world.terrain, world.bounds)
    children = [_thing(asset, "ground", ground, ground_material(), None)]
    for name, obstacle in zip(different(o.name or o.kind for o in world.obstacles), world.obstacles, strict=True):
        material = kind_material(obstacle.kind, obstacle.color)
        children.append(_thing(asset, name, surface(obstacle.shape), material, obstacle.kind))
    names = different(m.name or f"moving_{m.phases[0].kind}" for m in world.movers)
    for name, mover in zip(names, world.movers, strict=True):
        children.append(_mover(asset, tracks, name, mover, whole))
    asset.json["nodes"][root]["children"] = children
    return root


def _thing(asset: Asset, name: str, shape: Surface, material: Material, kind: str | None) -> int:
    """A node with one mesh."""
    node: dict[str, Any] = {"name": name}
    mesh = add_thing(asset, *shape, material, name)
    if mesh is not None:
        node["mesh"] = mesh
    if kind is not None:
        node["extras"] = {"kind": kind}
    return asset.add("nodes", node)


def _mover(asset: Asset, tracks: Tracks, name: str, mover: Mover, whole: tuple[float, float]) -> int:
    """A node that moves, with a child for everything that the mover is in turn."""
    times = _key_times(mover, whole)
    poses = mover.pose(times)
    places = np.column_stack([poses[:, :2], np.zeros(len(poses))])
    turns = rotations.continuous(rotations.from_yaw(poses[:, 2])[:, None])[:, 0]
    node = asset.add(
        "nodes",
        {"name": name, "translation": y_up(places[0]).tolist(), "rotation": y_up_xyzw(turns[0]).tolist()},
    )
    if np.ptp(poses[:, :2], axis=0).max() > 0.0:
        tracks.place(node, times, places)
    if np.ptp(poses[:, 2]) > 0.0:
        tracks.turn(node, times, turns, precise=True)
    spans = pairwise([-np.inf, *(phase.start for phase in mover.phases[1:]), np.inf])
    children = []
    names = different(f"{name}_{phase.kind}" for phase in mover.phases)
    for part, phase, (begin, end) in zip(names, mover.phases, spans, strict=True):
        material = kind_material(phase.kind, mover.color)
        child = _thing(asset, part, surface(phase.shape), material, phase.kind)
        tracks.show(child, begin, end, whole)
        children.append(child)
    asset.json["nodes"][node]["children"] = children
    return node


def _key_times(mover: Mover, whole: tuple[float, float]) -> FloatArray:
    """The mover's keys within the animation, its ends, and more where it turns far between two of them [s]."""
    first, last = whole
    inside = mover.times[(mover.times > first) & (mover.times < last)]
    times = np.unique(np.concatenate([[first], inside, [last]]))
    parts = np.ceil(np.abs(np.diff(mover.pose(times)[:, 2])) / _LARGEST_TURN).astype(np.int64)
    steps = [np.linspace(a, b, max(int(n), 1) + 1)[:-1] for (a, b), n in zip(pairwise(times), parts, strict=True)]
    return np.concatenate([*steps, times[-1:]])
