"""Takes as GLB: skinned, animated people in their world, for Blender, game engines and browsers.

The project keeps its own writer: it writes the 30 people of the market square with their world (33,540 poses) in 0.5 s
and 11.5 MB, less than their rotations alone take as plain floats (13.4 MB).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError, GaitwayError
from gaitway.core.files import check_writable
from gaitway.core.progress import Progress, silent
from gaitway.export.characters import character_motion, different, frame_spans
from gaitway.export.glb_parts import Tracks, add_body, add_thing
from gaitway.export.meshes import INDIVIDUALS, Material, character_mesh, ground_material, kind_material
from gaitway.motion.formats.glb_asset import MAX_BYTES, Asset, add_joints, inverse_bind_matrices, y_up, y_up_xyzw
from gaitway.render.bodies.hands import with_fingers
from gaitway.take.data import checked_rate
from gaitway.take.model import Take
from gaitway.take.things import ThingTrack, thing_poses, things_of
from gaitway.world.escalators import Escalator
from gaitway.world.lifts import Lift
from gaitway.world.obstacle import Mover
from gaitway.world.surface import Surface, surface, terrain_surface
from gaitway.world.world import World, realised

_KEY_BYTES = 8
"""Least size of one rotation [bytes]."""


def export_glb(
    take: Take,
    path: str | Path,
    world: World | None = None,
    fps: float | None = None,
    *,
    progress: Progress = silent,
) -> None:
    """Write a take as GLB: metres, seconds, Y up; a figure that faces +X here faces +Z there.

    Every character is a node of its name with its joints below it, a skin, and one of `meshes.INDIVIDUALS` bodies,
    chosen by its number. Hands have joints for their fingers, which rest in a natural curl. Bodies have texture
    coordinates, and one material for each garment. Meshes, materials and tracks that are equal are stored once; joints
    that do not turn have one key or none. One animation moves all characters and movers. While a character is absent
    its scale is 0. The `extras` of its node say what it does and when.

    Args:
        take: what to write.
        path: the file, which ends in .glb.
        world: the place, if it is to be in the file: ground, obstacles and movers.
        fps: keys a second [Hz]; the take's own if None.
        progress: called with the number of characters that are done.

    Raises:
        FormatError: for another ending, a take too large for such a file, or if the file cannot be written.
        GaitwayError: if the take has no characters.
    """
    path = Path(path)
    if path.suffix.lower() != ".glb":
        raise FormatError(path, f"a GLB file ends in .glb, not in '{path.suffix}'")
    if len(take) == 0:
        raise GaitwayError("nothing to write: the take has no characters")
    check_writable(path)
    rate = take.fps if fps is None else checked_rate(fps)
    first, last = frame_spans(take, rate)
    _check_size(take, path, int((last - first + 1).sum()))
    start = min(int(first.min()), 0) / rate
    whole = (min(start, int(first.min()) / rate), (int(last.max()) + 1) / rate)
    writer = _Writer(take, rate, whole)
    for character in range(len(take)):
        writer.add_character(character, int(first[character]), int(last[character]))
        progress(path.name, character + 1, len(take))
    writer.save(path, realised(world, take.facts))


class _Writer:
    """A GLB file that is being written."""

    def __init__(self, take: Take, fps: float, whole: tuple[float, float]) -> None:
        self.take, self.fps, self.whole = take, fps, whole
        self.asset = Asset()
        self.tracks = Tracks(self.asset, whole[0])
        self.roots: list[int] = []
        self.names = different(take.names)
        self.meshes: dict[tuple[int, int], int] = {}
        self.rigs = [with_fingers(skeleton) for skeleton in take.skeletons]
        self.binds = [self.asset.accessor(inverse_bind_matrices(rig)) for rig in self.rigs]

    def add_character(self, character: int, first: int, last: int) -> None:
        """Add the joints, the body and the motion of a character from one frame to another."""
        asset, take, name = self.asset, self.take, self.names[character]
        body = int(take.bodies[character])
        node = asset.add("nodes", {"name": name, "extras": self._facts(character)})
        joints = add_joints(asset, self.rigs[body], node)
        skin = asset.add(
            "skins", {"name": name, "joints": joints, "skeleton": joints[0], "inverseBindMatrices": self.binds[body]}
        )
        mesh = self._mesh(body, character % INDIVIDUALS)
        # the format wants skinned meshes at the top: their own place counts for nothing
        self.roots += [node, asset.add("nodes", {"name": f"{name}_body", "mesh": mesh, "skin": skin})]
        self.tracks.perform(character_motion(take, character, first, last, self.fps), joints, first)
        # the last pose is shown as long as any other
        self.tracks.show(node, first / self.fps, (last + 1) / self.fps, self.whole)

    def _mesh(self, body: int, individual: int) -> int:
        if (body, individual) not in self.meshes:
            mesh = character_mesh(self.rigs[body], individual)
            self.meshes[body, individual] = add_body(self.asset, mesh)
        return self.meshes[body, individual]

    def _facts(self, character: int) -> dict[str, Any]:
        """Return facts about a character for programs that read the file."""
        take = self.take
        rows = slice(take.rows[character], take.rows[character + 1])
        numbers, starts = take.segments.behavior[rows].tolist(), take.segments.start[rows].tolist()
        done = [
            [round(t - self.whole[0], 4), take.behaviors[b]] for t, b in zip(starts, numbers, strict=True) if b >= 0
        ]
        facts = {
            "character": take.names[character],
            "skeleton": take.skeletons[int(take.bodies[character])].name,
            "behaviors": done,
        }
        told = take.facts.get("errands", {}).get(take.names[character], ())
        errands = [
            [label, round(a - self.whole[0], 4), round(b - self.whole[0], 4), out] for label, a, b, out, _ in told
        ]
        return {**facts, "errands": errands} if errands else facts

    def save(self, path: Path, world: World | None) -> None:
        """Add the place and write the file."""
        asset = self.asset
        for track in things_of(self.take):
            self.roots.append(self._thing(track, world))
        if world is not None:
            self.roots.append(_add_world(asset, self.tracks, world, self.whole))
        self.tracks.finish("take")
        asset.json["asset"]["extras"] = {"fps": self.fps, "start": self.whole[0], "seconds": np.ptp(self.whole).item()}
        asset.json["scenes"] = [{"name": "take", "nodes": self.roots}]
        asset.json["scene"] = 0
        asset.save(path)

    def _thing(self, track: ThingTrack, world: World | None) -> int:
        """Add a thing that people handle, with keys while it moves."""
        times = np.arange(round(self.whole[0] * self.fps), round(self.whole[1] * self.fps) + 1) / self.fps
        places, turns = thing_poses(self.take, track, times, world)
        turns = rotations.continuous(turns[:, None])[:, 0]
        node = _thing(self.asset, track.name, surface(track.solid()), kind_material("thing", track.color), "thing")
        self.asset.json["nodes"][node] |= {
            "translation": y_up(places[0]).tolist(), "rotation": y_up_xyzw(turns[0]).tolist(),
        }  # fmt: skip
        owners = [[round(span.start - self.whole[0], 4), span.who, span.part] for span in track.spans]
        self.asset.json["nodes"][node]["extras"] = {"kind": "thing", "owners": owners}
        if np.ptp(places, axis=0).max() > 0.0:
            self.tracks.place(node, times, places)
        if np.ptp(turns, axis=0).max() > 0.0:
            self.tracks.turn(node, times, turns, precise=True)
        return node


def _check_size(take: Take, path: Path, frames: int) -> None:
    """Refuse what cannot fit before it is computed."""
    joints = max(len(skeleton) for skeleton in take.skeletons)
    least = frames * joints * _KEY_BYTES // 2
    if least > MAX_BYTES:
        raise FormatError(
            path,
            f"{len(take)} characters with {frames} frames in all would have {least / 1e9:.0f} GB or more, and a GLB "
            "file has at most 4.2; write fewer frames a second, or USD",
        )


_RIDE_S = 0.1
"""Time between two keys of a lift that moves [s]."""
_LARGEST_TURN = np.pi / 12.0
"""Largest turn of a mover between two keys [rad]. Beyond half a turn, programs would turn the other way round,
and some (Blender) mix the four numbers of two rotations evenly, which is not an even turn."""


def _add_world(asset: Asset, tracks: Tracks, world: World, whole: tuple[float, float]) -> int:
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
    names = different(lift.name for lift in world.lifts)
    for name, lift in zip(names, world.lifts, strict=True):
        children.append(_lift(asset, tracks, name, lift, whole))
    for name, one in zip(different(one.name for one in world.escalators), world.escalators, strict=True):
        children += [_tread(asset, tracks, f"{name} tread {n}", one, n, whole) for n in range(one.tread_count)]
    asset.json["nodes"][root]["children"] = children
    return root


def _tread(
    asset: Asset, tracks: Tracks, name: str, escalator: Escalator, number: int, whole: tuple[float, float]
) -> int:
    """Add a tread that goes from one end of its escalator to the other, for ever."""
    drawn, times = escalator.tread(number), escalator.tread_moments(number, *whole)
    node = _thing(asset, name, surface(drawn.shape), kind_material(drawn.kind, drawn.color), "escalator")
    places = escalator.tread_places(number, times)
    asset.json["nodes"][node]["translation"] = y_up(places[0]).tolist()
    tracks.place(node, times, places)
    return node


def _lift(asset: Asset, tracks: Tracks, name: str, lift: Lift, whole: tuple[float, float]) -> int:
    """Add a platform that goes up and down."""
    first, times = lift.at(whole[0]), lift.moments(*whole, _RIDE_S)
    rises = np.zeros((len(times), 3))
    rises[:, 2] = lift.height(times) - float(lift.height(whole[0]))
    node = _thing(asset, name, surface(first.shape), kind_material(first.kind, lift.color), "lift")
    if np.ptp(rises[:, 2]) > 0.0:
        tracks.place(node, times, rises)
    return node


def _thing(asset: Asset, name: str, shape: Surface, material: Material, kind: str | None) -> int:
    """Add a node with one mesh."""
    node: dict[str, Any] = {"name": name}
    mesh = add_thing(asset, *shape, material, name)
    if mesh is not None:
        node["mesh"] = mesh
    if kind is not None:
        node["extras"] = {"kind": kind}
    return asset.add("nodes", node)


def _mover(asset: Asset, tracks: Tracks, name: str, mover: Mover, whole: tuple[float, float]) -> int:
    """Add a node that moves, with one child for each phase of the mover."""
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
    """Return times of keys [s]: those of the mover within the animation, its ends, and more where it turns far."""
    first, last = whole
    inside = mover.times[(mover.times > first) & (mover.times < last)]
    times = np.unique(np.concatenate([[first], inside, [last]]))
    parts = np.ceil(np.abs(np.diff(mover.pose(times)[:, 2])) / _LARGEST_TURN).astype(np.int64)
    steps = [np.linspace(a, b, max(int(n), 1) + 1)[:-1] for (a, b), n in zip(pairwise(times), parts, strict=True)]
    return np.concatenate([*steps, times[-1:]])
