"""Hubs: poses that a subject repeats often, found as the largest sets of similar frames.

In Gleicher et al. ("Snap-together motion", 2003) the largest set of frames that are similar to one frame becomes a hub.
Here only events (steps and pauses) count, and the allowed distance grows with speed, because runs vary more than walks.
A step on the right foot is a step on the left foot in the mirrored take, so one set gives a hub for each foot. The pose
of each is the average of steps on that foot alone: nobody swings both arms alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.cutting.hub_poses import mirrored_pose, standing_on_both, with_legs_between, within_limits
from gaitway.capture.cutting.pose_index import PoseIndex, mirrored_takes
from gaitway.capture.takes import Manner
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.graphs.minima import first_least
from gaitway.graphs.snap.common_pose import HubPose, common_pose
from gaitway.motion.clip import Clip

RADIUS, RADIUS_SPEED, STAND_RADIUS = 0.045, 0.02, 0.06
"""Radius of a set of steps [m], its growth for each m/s [s], and radius of a set of pauses [m]; for a leg of 0.85 m."""
_NEIGHBOURS = 1.5
"""Distance from a hub, in radii, within which no other hub begins."""
_FEWEST = 3
"""Least number of members of a set; a smaller set is a hub only if it is the first of its kind."""
_WIDER = (1.4, 1.4, 1.3)
"""Factors by which the radius of steps grows, one after another, while no set has enough members."""
_ANOTHER = 0.25
"""Least number of members of a second hub of a gait, as a share of the members of the first."""
_MEMBERS = 60
"""Largest number of frames that are averaged, the nearest first; more frames only cost time."""
_CYCLE_S = ((1.9, 0.5), (np.inf, 0.35))
"""Speeds [m/s], and half the duration of a gait cycle up to each speed [s]; travel is averaged over a cycle."""
_GAITS = ((0.95, "stroll"), (1.9, "walk"), (3.0, "jog"), (np.inf, "run"))
"""Speeds [m/s], and the name of the forward gait up to each speed."""
_LOW = 0.82
"""Height of the root, as a share of standing, below which a hub is crouched."""
_ASKEW = np.radians(50.0)
"""Largest angle between travel and facing direction of a forward gait; for a backward gait, from behind [rad]."""
_ALIKE = 1e-6
"""Difference in rank that is rounding: a pause and its mirror image are equally good, and the first is taken."""
_STEP, _PAUSE = 0, 1
"""Kinds of cuts: a step on the left foot, and a pause."""
_MOST = {"": {_STEP: 8, _PAUSE: 2}, "low": {_STEP: 3, _PAUSE: 0}, "carry": {_STEP: 8, _PAUSE: 2}}
"""Largest number of hubs of each kind, by manner."""
_MANNER_WORDS: dict[Manner, str] = {"": "", "low": "bent_", "carry": ""}
"""First words of gaits by manner; a library of somebody who carries holds nothing else."""
LOW_GAITS = ("crouch_", "bent_")
"""First words of gaits that are not gone upright."""
_OTHER_SIDE = {"left": "right", "right": "left"}
_LIMP = 0.015
"""Largest difference of the pelvis heights on the left and on the right foot [m]; a few steps may differ by more."""
_OWN_STEPS = 2
"""Least number of steps on a foot for a pose of their own; with fewer, the pose is that of the other foot, mirrored."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CaptureHub:
    """Pose in which clips begin and end."""

    name: str
    """Name of the library's state, such as "walk_left": a walk, on the left foot."""
    kind: str
    """"step" or "stand"."""
    pose: HubPose
    radius: float
    """Distance up to which frames belong to the hub [m]."""
    members: int
    """Number of frames in its set."""
    takes: tuple[str, ...]
    """Names of the takes that these frames come from."""
    spread: float
    """Mean distance of these frames to the middle one [m]."""
    speed: float
    """Speed over the ground [m/s]."""
    travel: float
    """Direction of travel over a gait cycle, relative to the facing direction of the pelvis [rad]."""
    centre: int
    """Number of the middle frame in the pose index; -1 for a pose that was made."""
    gait: str
    """Gait without the foot: "walk", "run", "stand" ..."""
    manner: Manner = ""
    """Manner of going of its frames."""
    made: str = ""
    """How the hub was made, if the capture does not have it."""

    @property
    def foot(self) -> str:
        """Foot that carries the body: "left", "right", or "" for both."""
        return self.name.rpartition("_")[2] if self.kind == "step" else ""


def find_hubs(pose_index: PoseIndex, manners: Sequence[Manner] = ("", "low")) -> tuple[CaptureHub, ...]:
    """Find the hubs of all takes, those with the most members first; the hub on the other foot follows each.

    Args:
        pose_index: All frames.
        manners: Manners of going whose steps and pauses become hubs; steps of different manners share no hub.
    """
    hubs: list[tuple[CaptureHub, CaptureHub]] = []
    for manner in manners:
        found = _hubs_of_manner(pose_index, manner, needed=manner == manners[0])
        hubs += [(replace(a, manner=manner), replace(b, manner=manner)) for a, b in found]
    return tuple(_named(hubs))


def base_gait(gait: str) -> str:
    """Return a gait without the word for its manner and its number: "walk" for "crouch_walk_2"."""
    plain = next((gait.removeprefix(word) for word in LOW_GAITS if gait.startswith(word)), gait)
    return plain.rstrip("_0123456789")


def _hubs_of_manner(pose_index: PoseIndex, manner: Manner, *, needed: bool) -> list[tuple[CaptureHub, CaptureHub]]:
    """Return the hubs of steps and pauses of one manner; if they are `needed`, a wider set than usual will do."""
    frames, kinds = _cuts(pose_index, manner)
    hubs: list[tuple[CaptureHub, CaptureHub]] = []
    if len(frames):
        matrix, speeds = pose_index.distances(frames), pose_index.speeds[frames]
        radii = _radii(kinds, speeds, pose_index.size)
        sets = _densest(matrix, kinds, radii, _MOST[manner])
        for wider in _WIDER if needed else ():  # a subject with few steps, or with steps that all differ
            if any(kinds[centre] == _STEP and len(members) >= _FEWEST for centre, members in sets):
                break
            radii = np.where(kinds == _STEP, wider * radii, radii)
            sets = _densest(matrix, kinds, radii, _MOST[manner])
        for centre, members in sets:
            if needed or len(members) >= _FEWEST:
                of = pose_index, frames, int(kinds[centre]), centre, members, matrix[centre], float(radii[centre])
                hubs.append(_hubs(*of, np.flatnonzero(kinds == kinds[centre]), manner=manner))
    return _both_feet(pose_index, hubs)


def _both_feet(
    pose_index: PoseIndex, hubs: Sequence[tuple[CaptureHub, CaptureHub]]
) -> list[tuple[CaptureHub, CaptureHub]]:
    """Return the hubs with those of one gait joined that were each found on one foot only.

    Steps of somebody whose arms swing very unlike are not similar to the mirror images of the steps on the other foot.
    """
    twins, rest, out = mirrored_takes(pose_index.takes), list(hubs), list[tuple[CaptureHub, CaptureHub]]()
    while rest:
        pair = rest.pop(0)
        gait, foot = pair[0].gait, _only_foot(pair)
        other = {"left": "right", "right": "left"}.get(foot)
        match = next((p for p in rest if other and _only_foot(p) == other and p[0].gait == gait), None)
        if match is not None:
            rest = [p for p in rest if p is not match]
            left, right = (pair, match) if foot == "left" else (match, pair)
            take, frame = pose_index.place(right[0].centre)
            twin = twins[take]
            assert twin is not None  # steps on the right foot were found in mirrored takes
            members = left[0].members + right[0].members
            pair = (
                replace(left[0], members=members),
                replace(right[1], members=members, centre=pose_index.frame(twin, frame)),
            )
        out.append(pair)
    return out


def _only_foot(pair: tuple[CaptureHub, CaptureHub]) -> str:
    """Return the only foot on which the steps of a pair of hubs were captured; empty if both or neither."""
    mirrored = {name.endswith(" mirrored") for name in pair[0].takes}
    return "" if len(mirrored) != 1 or pair[0].kind != "step" else "right" if True in mirrored else "left"


def _cuts(pose_index: PoseIndex, manner: Manner) -> tuple[IntArray, IntArray]:
    """Return the frames of a manner at which takes may be cut, and the kind of each: _STEP or _PAUSE; (N,) each."""
    rows = [
        (pose_index.frame(t, event.frame), _PAUSE if event.kind == "pause" else _STEP)
        for t, take in enumerate(pose_index.takes)
        for event in take.events
        if (event.kind == "pause" or (event.kind == "step" and event.foot == "left"))
        and take.manner_at(event.frame) == manner
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _radii(kinds: IntArray, speeds: FloatArray, size: float) -> FloatArray:
    steps = RADIUS + RADIUS_SPEED * speeds / np.sqrt(size)
    return np.asarray(np.where(kinds == _PAUSE, STAND_RADIUS, steps) * size)


def _densest(
    matrix: FloatArray, kinds: IntArray, radii: FloatArray, most: Mapping[int, int]
) -> list[tuple[int, IntArray]]:
    """Find the largest sets of similar frames, one after another; frames near a set are not used again.

    Args:
        matrix: Distances of all cuts [m]; (N, N).
        kinds: Kind of each cut; (N,).
        radii: Radius of the set around each cut [m]; (N,).
        most: Largest number of sets of each kind.

    Returns:
        The middle and the members of each set, as rows of the matrix.
    """
    same: BoolArray = kinds[:, None] == kinds[None, :]
    near = (matrix < radii[:, None]) & same
    pool, found = np.ones(len(kinds), dtype=bool), []
    counts = dict.fromkeys((_STEP, _PAUSE), 0)
    while pool.any():
        inside = near & pool & pool[:, None]
        sizes = inside.sum(axis=1)
        tightness = np.where(inside, matrix, 0.0).sum(axis=1) / np.maximum(sizes, 1) / radii
        order = np.where(pool, sizes - 0.5 * tightness, -np.inf)  # of equally large sets, the tighter one
        centre = first_least(-order, _ALIKE)
        kind = int(kinds[centre])
        if (counts[kind] and sizes[centre] < _FEWEST) or counts[kind] >= most[kind]:
            pool &= kinds != kind
            continue
        found.append((centre, np.flatnonzero(inside[centre])))
        counts[kind] += 1
        pool &= ~((matrix[centre] < _NEIGHBOURS * radii[centre]) & same[centre])
        pool[centre] = False
    return found


def _hubs(
    pose_index: PoseIndex,
    frames: IntArray,
    kind: int,
    centre: int,
    members: IntArray,
    near: FloatArray,
    radius: float,
    same: IntArray,
    *,
    manner: Manner,
) -> tuple[CaptureHub, CaptureHub]:
    """Build the hubs of a set of cuts, without names: on the left and on the right foot; twice the same for a pause.

    Args:
        pose_index: All frames.
        frames: Numbers of the frames of all cuts; (N,).
        kind: _STEP or _PAUSE.
        centre: Middle of the set, as a row of `frames`.
        members: Members of the set, as rows of `frames`.
        near: Distances of all cuts to the middle [m]; (N,).
        radius: Radius of the set [m].
        same: All cuts of this kind, as rows of `frames`.
        manner: Manner of going of the members.
    """
    chosen = members[np.argsort(near[members], kind="stable")][:_MEMBERS]
    feet = _by_foot(pose_index, frames[chosen])
    centres = int(frames[centre]), -1
    lacking = [k for k in (0, 1) if not feet[k] and len(feet[1 - k]) >= _OWN_STEPS]
    if kind == _STEP and len(lacking) == 1:  # arms that swing very unlike: the other foot is just outside of the set
        wide = same[np.argsort(near[same], kind="stable")]
        around = _by_foot(pose_index, frames[wide[near[wide] < _NEIGHBOURS * radius][:_MEMBERS]])[lacking[0]]
        if len(around) >= _OWN_STEPS:
            feet[lacking[0]] = around
            centres = feet[0][0], feet[1][0]
    left, right = ([_member(pose_index, number) for number in numbers] for numbers in feet)
    takes = tuple(dict.fromkeys(pose_index.takes[pose_index.place(int(frames[m]))[0]].name for m in members))
    hub = CaptureHub(
        name="",
        kind="stand" if kind == _PAUSE else "step",
        pose=_pose(left if len(left) >= len(right) else right),
        radius=radius,
        members=len(members),
        takes=takes,
        spread=float(near[members].mean()),
        speed=0.0,
        travel=0.0,
        centre=centres[0],
        gait="",
    )
    if kind == _PAUSE:
        hub = replace(hub, pose=standing_on_both(hub.pose), gait=_standing(hub.pose, pose_index))
        return hub, hub
    ways = [_travel(pairs) * [1.0, sign] for pairs, sign in ((left, 1.0), (right, -1.0)) if pairs]
    travel = np.average(ways, axis=0, weights=[len(pairs) for pairs in (left, right) if pairs])
    gait = _gait(travel, hub.pose, pose_index, manner)
    own = [_on_foot(hub, pairs) if len(pairs) >= _OWN_STEPS else None for pairs in (left, right)]
    if own == [None, None]:
        own = [_on_foot(hub, left) if left else None, _on_foot(hub, right) if right and not left else None]
    one = own[0] or in_mirror(own[1])  # type: ignore[arg-type]
    other = own[1] or in_mirror(one)
    one, other = _without_limp(one, other, _LIMP * pose_index.size)
    return replace(one, gait=gait), replace(other, gait=other_side(gait), centre=centres[1])


def _by_foot(pose_index: PoseIndex, numbers: IntArray) -> list[list[int]]:
    """Return frames of steps on the left foot as they were captured: on the left foot, and on the right foot.

    Args:
        pose_index: All frames.
        numbers: Numbers of frames; those of mirrored takes were captured on the right foot; (N,).
    """
    twins, out = mirrored_takes(pose_index.takes), [list[int](), list[int]()]
    for number in numbers.tolist():
        take, frame = pose_index.place(number)
        twin = twins[take] if pose_index.takes[take].mirrored else None
        out[twin is not None].append(number if twin is None else pose_index.frame(twin, frame))
    return out


def _member(pose_index: PoseIndex, number: int) -> tuple[Clip, int]:
    take, frame = pose_index.place(number)
    return pose_index.takes[take].clip, frame


def _pose(pairs: Sequence[tuple[Clip, int]]) -> HubPose:
    return within_limits(common_pose(pairs))


def _on_foot(hub: CaptureHub, pairs: Sequence[tuple[Clip, int]]) -> CaptureHub:
    """Return a hub of steps with the mean pose and travel of steps on one foot."""
    travel = _travel(pairs)
    speed = float(np.linalg.norm(travel))
    return replace(
        hub, pose=_pose(pairs), speed=speed, travel=float(np.arctan2(travel[1], travel[0])) if speed > 1e-6 else 0.0
    )


def _without_limp(one: CaptureHub, other: CaptureHub, most: float) -> tuple[CaptureHub, CaptureHub]:
    """Return two hubs whose pelvis heights differ by no more than a distance [m]; else both have the mean legs.

    A few steps on one foot may be slower or lower than those on the other; the person does not limp because of that.
    """
    if abs(float(one.pose.root[2] - other.pose.root[2])) <= most:
        return one, other
    return (
        replace(one, pose=with_legs_between(one.pose, mirrored_pose(other.pose))),
        replace(other, pose=with_legs_between(other.pose, mirrored_pose(one.pose))),
    )


def in_mirror(hub: CaptureHub) -> CaptureHub:
    """Return a hub of steps on the other foot, which is the mirror image of a hub."""
    return replace(hub, pose=mirrored_pose(hub.pose), travel=-hub.travel)


def _travel(pairs: Sequence[tuple[Clip, int]]) -> FloatArray:
    """Return the median velocity of the members over a gait cycle, relative to the facing direction [m/s]; (2,).

    Over a whole cycle the sway of steps cancels out.
    """
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


def _gait(travel: FloatArray, pose: HubPose, pose_index: PoseIndex, manner: Manner) -> str:
    """Return the name of a gait by its speed and direction of travel."""
    speed, direction = float(np.linalg.norm(travel)) / np.sqrt(pose_index.size), float(np.arctan2(travel[1], travel[0]))
    word = next(name for limit, name in _GAITS if speed < limit)
    if abs(direction) > np.pi - _ASKEW:
        word = "back" if speed < _GAITS[1][0] else "back_jog"
    elif abs(direction) > _ASKEW:
        word = "side_left" if direction > 0.0 else "side_right"
    low = pose.root[2] < _LOW * _tall(pose_index)
    return f"crouch_{word}" if low else f"{_MANNER_WORDS[manner]}{word}"


def _standing(pose: HubPose, pose_index: PoseIndex) -> str:
    return "crouch" if pose.root[2] < _LOW * _tall(pose_index) else "stand"


def _tall(pose_index: PoseIndex) -> float:
    """Return the height of the root of the upright subject [m]."""
    return float(np.percentile(np.concatenate([t.clip.root_positions[:, 2] for t in pose_index.takes]), 75.0))


def other_side(name: str) -> str:
    """Return the name of the mirror image: "walk_right" for "walk_left"."""
    return "_".join(_OTHER_SIDE.get(word, word) for word in name.split("_"))


def _called(hub: CaptureHub, gait: str, name: str) -> CaptureHub:
    return replace(hub, gait=name) if hub.gait == gait else hub


def _named(hubs: Sequence[tuple[CaptureHub, CaptureHub]]) -> list[CaptureHub]:
    """Return the hubs with names, that on the right foot after that on the left; a second of a gait gets a number."""
    out: list[CaptureHub] = []
    counts: dict[str, int] = {}
    first: dict[str, int] = {}
    for word in ("", *LOW_GAITS):  # the only walk of a slow subject is its walk
        walk, stroll = f"{word}walk", f"{word}stroll"
        if not any(hub.gait == walk for hub, _ in hubs):
            hubs = [(_called(a, stroll, walk), _called(b, stroll, walk)) for a, b in hubs]
    for hub, other in hubs:
        # a side-step to the left is led by the left foot and closed by the right one: two hubs of one gait
        key = hub.gait
        if hub.members < _ANOTHER * first.setdefault(key, hub.members) or (hub.kind == "stand" and key in counts):
            continue
        counts[key] = number = counts.get(key, 0) + 1
        gait = hub.gait if number == 1 else f"{hub.gait}_{number}"
        if hub.kind == "stand":
            out.append(replace(hub, name=gait, gait=gait))
            continue
        out.append(replace(hub, name=f"{gait}_left", gait=gait))
        out.append(replace(other, name=f"{other_side(gait)}_right", gait=other_side(gait)))
    return out
