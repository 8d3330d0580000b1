"""Hubs: poses that a subject comes through again and again, found as the densest sets of places to cut.

Gleicher and others ("Snap-together motion", 2003) let the largest set of frames that are like one frame become a hub.
Here only steps and pauses count, and what is alike grows with speed: runs vary more than walks. A step on the right
foot is a step on the left one in a mirrored take, so one set gives a hub and its mirror image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.cutting.hub_poses import mirrored_pose, symmetric_pose, within_limits
from gaitway.capture.cutting.pose_index import PoseIndex
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.graphs.snap.common_pose import HubPose, common_pose
from gaitway.motion.clip import Clip

RADIUS, RADIUS_SPEED, STAND_RADIUS = 0.045, 0.02, 0.06
"""Frames of steps are alike up to this distance [m], more for each m/s; and of pauses [m]. For a leg of 0.85 m."""
_NEIGHBOURS = 1.5
"""What is nearer to a hub than so many radii starts no other one."""
_FEWEST = 3
"""A set of fewer is a hub only where there is no larger one of its kind."""
_WIDER = (1.4, 1.4, 1.3)
"""By so much the radius of steps grows, time and again, while no set is large enough."""
_MOST = {"step": 8, "stand": 2}
"""Hubs of each kind."""
_ANOTHER = 0.25
"""A second hub of a gait must have this share of the first one's members."""
_MEMBERS = 60
"""So many of a set's frames, the nearest ones, are averaged; more only cost time."""
_CYCLE_S = ((1.9, 0.5), (np.inf, 0.35))
"""Half of a gait cycle by speed [m/s]: the time over which the direction of travel is taken [s]."""
_GAITS = ((0.95, "stroll"), (1.9, "walk"), (3.0, "jog"), (np.inf, "run"))
"""Words for forward gaits up to a speed [m/s]."""
_LOW = 0.82
"""A hub with its root lower than this share of standing is crouched."""
_ASKEW = np.radians(50.0)
"""Travel that is more off the facing than this is no walk ahead, or back."""


@dataclass(frozen=True, eq=False)
class CaptureHub:
    """One pose that clips begin and end in."""

    name: str
    """State of the library, such as "walk_left": a walk, on the left foot."""
    kind: str
    """"step" or "stand"."""
    pose: HubPose
    radius: float
    """Distance up to which frames are alike [m]."""
    members: int
    """Frames in its set."""
    takes: tuple[str, ...]
    """Takes that they come from."""
    spread: float
    """Their mean distance to the middle one [m]."""
    speed: float
    """Over the ground [m/s]."""
    travel: float
    """Direction of travel over a cycle, seen from where the pelvis faces [rad]."""
    centre: int
    """The middle frame among all sightings; -1 for a pose that was made."""
    gait: str
    """"walk", "run", "stand" ... without the foot."""
    made: str = ""
    """How it was made, where the capture does not have it."""

    @property
    def foot(self) -> str:
        """The foot that carries it: "left", "right", or "" for both."""
        return self.name.rpartition("_")[2] if self.kind == "step" else ""


def find_hubs(pose_index: PoseIndex) -> tuple[CaptureHub, ...]:
    """Hubs of all takes, each step with its mirror image next to it; those with most members first."""
    frames, kinds = _cuts(pose_index)
    hubs: list[CaptureHub] = []
    if len(frames):
        matrix, speeds = pose_index.distances(frames), pose_index.speeds[frames]
        radii = _radii(kinds, speeds, pose_index.size)
        sets = _densest(matrix, kinds, radii)
        for wider in _WIDER:  # of somebody whose steps are few, or all different
            if any(kinds[centre] == 0 and len(members) >= _FEWEST for centre, members in sets):
                break
            radii = np.where(kinds == 0, wider * radii, radii)
            sets = _densest(matrix, kinds, radii)
        for centre, members in sets:
            hubs.append(_hub(pose_index, frames, kinds[centre], centre, members, matrix[centre], float(radii[centre])))
    return tuple(_named(hubs))


def _cuts(pose_index: PoseIndex) -> tuple[IntArray, IntArray]:
    """Frames at which takes may be cut, and what each is: 0 a step on the left foot, 1 a pause."""
    rows = [
        (pose_index.frame(t, event.frame), 1 if event.kind == "pause" else 0)
        for t, take in enumerate(pose_index.takes)
        for event in take.events
        if event.kind == "pause" or (event.kind == "step" and event.foot == "left")
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _radii(kinds: IntArray, speeds: FloatArray, size: float) -> FloatArray:
    steps = RADIUS + RADIUS_SPEED * speeds / np.sqrt(size)
    return np.asarray(np.where(kinds == 1, STAND_RADIUS, steps) * size)


def _densest(matrix: FloatArray, kinds: IntArray, radii: FloatArray) -> list[tuple[int, IntArray]]:
    """The largest sets of alike frames, one after another; what is near to one is not used again."""
    same: BoolArray = kinds[:, None] == kinds[None, :]
    near = (matrix < radii[:, None]) & same
    pool, found = np.ones(len(kinds), dtype=bool), []
    counts = dict.fromkeys((0, 1), 0)
    most = {0: _MOST["step"], 1: _MOST["stand"]}
    while pool.any():
        inside = near & pool & pool[:, None]
        sizes = inside.sum(axis=1)
        tightness = np.where(inside, matrix, 0.0).sum(axis=1) / np.maximum(sizes, 1) / radii
        order = np.where(pool, sizes - 0.5 * tightness, -np.inf)  # of equal sets the tighter one
        centre = int(np.argmax(order))
        kind = int(kinds[centre])
        if counts[kind] and (sizes[centre] < _FEWEST or counts[kind] >= most[kind]):
            pool &= kinds != kind
            continue
        found.append((centre, np.flatnonzero(inside[centre])))
        counts[kind] += 1
        pool &= ~((matrix[centre] < _NEIGHBOURS * radii[centre]) & same[centre])
        pool[centre] = False
    return found


def _hub(
    pose_index: PoseIndex, frames: IntArray, kind: int, centre: int, members: IntArray, near: FloatArray, radius: float
) -> CaptureHub:
    """A hub of a set of cuts, not named yet."""
    chosen = members[np.argsort(near[members], kind="stable")][:_MEMBERS]
    places = [pose_index.place(int(frames[m])) for m in chosen]
    pairs = [(pose_index.takes[t].clip, f) for t, f in places]
    pose = within_limits(common_pose(pairs))
    if kind == 1:
        pose = symmetric_pose(pose)
    travel = _travel(pairs) if kind == 0 else np.zeros(2)
    takes = tuple(dict.fromkeys(pose_index.takes[pose_index.place(int(frames[m]))[0]].name for m in members))
    return CaptureHub(
        name="",
        kind="stand" if kind == 1 else "step",
        pose=pose,
        radius=radius,
        members=len(members),
        takes=takes,
        spread=float(near[members].mean()),
        speed=float(np.linalg.norm(travel)),
        travel=float(np.arctan2(travel[1], travel[0])) if np.linalg.norm(travel) > 1e-6 else 0.0,
        centre=int(frames[centre]),
        gait=_gait(travel, pose, pose_index) if kind == 0 else _standing(pose, pose_index),
    )


def _travel(pairs: Sequence[tuple[Clip, int]]) -> FloatArray:
    """Velocity over a whole cycle, seen from the facing [m/s]; (2,), the median of the members. It holds no sway."""
    ways = []
    for clip, frame in pairs:
        path = clip.planar_path()
        fps, last = clip.fps, len(clip) - 1
        speed = float(np.linalg.norm(path[min(frame + 3, last), :2] - path[max(frame - 3, 0), :2]) * fps / 6.0)
        half = round(next(s for limit, s in _CYCLE_S if speed < limit) * fps)
        before, after = max(frame - half, 0), min(frame + half, last)
        step = (path[after, :2] - path[before, :2]) * fps / max(after - before, 1)
        c, s = np.cos(path[frame, 2]), np.sin(path[frame, 2])
        ways.append([c * step[0] + s * step[1], c * step[1] - s * step[0]])
    return np.asarray(np.median(ways, axis=0))


def _gait(travel: FloatArray, pose: HubPose, pose_index: PoseIndex) -> str:
    """Word for a gait by speed and direction of travel."""
    speed, direction = float(np.linalg.norm(travel)) / np.sqrt(pose_index.size), float(np.arctan2(travel[1], travel[0]))
    word = next(name for limit, name in _GAITS if speed < limit)
    if abs(direction) > np.pi - _ASKEW:
        word = "back" if speed < _GAITS[1][0] else "back_jog"
    elif abs(direction) > _ASKEW:
        word = "side_left" if direction > 0.0 else "side_right"
    return f"crouch_{word}" if pose.root[2] < _LOW * _tall(pose_index) else word


def _standing(pose: HubPose, pose_index: PoseIndex) -> str:
    return "crouch" if pose.root[2] < _LOW * _tall(pose_index) else "stand"


def _tall(pose_index: PoseIndex) -> float:
    """Height of the root of somebody who stands or walks upright [m]."""
    return float(np.percentile(np.concatenate([t.clip.root_positions[:, 2] for t in pose_index.takes]), 75.0))


_OTHER_SIDE = {"left": "right", "right": "left"}


def other_side(name: str) -> str:
    """A name in the mirror: "walk_left" is "walk_right"."""
    return "_".join(_OTHER_SIDE.get(word, word) for word in name.split("_"))


def _named(hubs: Sequence[CaptureHub]) -> list[CaptureHub]:
    """Hubs with names, and the mirror image of each step; a second hub of a gait gets a number."""
    out: list[CaptureHub] = []
    counts: dict[str, int] = {}
    first: dict[str, int] = {}
    if not any(hub.gait == "walk" for hub in hubs):  # somebody who walks slowly, walks
        hubs = [replace(hub, gait="walk") if hub.gait == "stroll" else hub for hub in hubs]
    for hub in hubs:
        key = min(hub.gait, other_side(hub.gait))
        if hub.members < _ANOTHER * first.setdefault(key, hub.members) or (hub.kind == "stand" and key in counts):
            continue
        counts[key] = number = counts.get(key, 0) + 1
        gait = hub.gait if number == 1 else f"{hub.gait}_{number}"
        if hub.kind == "stand":
            out.append(replace(hub, name=gait, gait=gait))
            continue
        out.append(replace(hub, name=f"{gait}_left", gait=gait))
        mirrored = other_side(gait)
        out.append(
            replace(
                hub,
                name=f"{mirrored}_right",
                gait=mirrored,
                pose=mirrored_pose(hub.pose),
                travel=-hub.travel,
                centre=-1,
            )
        )
    return out
