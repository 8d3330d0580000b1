"""Layers that give the characters of a take a gaze, a life while they stand, and arms and nods of their own.

Only joints above the hips turn. Roots, legs and contacts stay as they are, and so does what was planned.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy.ndimage import gaussian_filter1d, minimum_filter1d

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.quality import USUAL_PERCENTILE
from gaitway.motion.skeleton import Skeleton
from gaitway.performing.upper_body import _limit_kernels, _turn_kernels
from gaitway.performing.upper_body.crowd import Onlookers
from gaitway.performing.upper_body.gaze import Gaze, gaze_of, smoothed
from gaitway.performing.upper_body.idling import Spot, TakenPlaces, bowed, drawn_ways, place_arms, sway
from gaitway.performing.upper_body.rig import UpperBody, missing_for_gaze, upper_body
from gaitway.performing.upper_body.surroundings import Surroundings
from gaitway.take.data import Layer, Single
from gaitway.take.model import Take
from gaitway.world.world import World

LAYER = "upper body"
"""Name of the layers."""
_KEPT = 0.5
"""Share of the quick turning of a clip's own head, of each step, that is kept."""
_QUICK = 0.22
"""Standard deviation of the filter that tells quick from slow turning [s]."""
_SOFT = 0.06
"""Standard deviation of the filter that lets a head begin and end its turns softly [s]."""
_UPRIGHT = (0.80, 0.93)
"""Cosines of the lean of a trunk between which the layer fades in."""
_STEP = 2.0**-15
"""Step of the samples, so that they pack well."""
_WALLS, _OTHERS = (0.5, 0.9), (0.8, 1.2)
"""Distances of the root from an obstacle, and from another root, between which trunk and arms become free [m]."""
_CORNERS = (0.5, 0.65)
"""The same of arms that swing less than in the clip, which may hit a corner that they would have passed [m]."""
_LEAN, _LEAN_SPREAD, _LEANS = 0.0, 0.035, (-0.05, 0.08)
"""Mean lean of a trunk beside its clip's own, its standard deviation, and its bounds [rad]; forward is positive."""
_STOOP_SPREAD, _STOOPS = 0.06, (-0.06, 0.14)
"""Standard deviation and bounds of how much rounder than its clip's a back is [rad]."""
_WORSE, _BEYOND = 0.3, 1.0
"""How much farther than its clip a turn may take a joint beyond its limit, and how far at least [degrees]."""
_LESS, _TRIES = 0.65, 7
"""Factor on a turn that is too far, and how often it is applied at most."""
_SUDDEN, _LEAST_SUDDEN = 1.4, 0.5
"""Greatest change of the speed at which head and neck turn from frame to frame, over what is usual in the clips of the
take (the audit's bar is 1.5), and the least that counts as usual [rad/s]."""
_BEFORE_HANDS, _HANDS_SOFT = 0.9, 0.28
"""Time before hands rest on something, and after, in which trunk and arms go over to the clip, and the standard
deviation of the filter by which they do [s]."""
_NEAR_SPECIAL = 0.9
"""Time around a special obstacle in which arms and nods stay as the clips have them [s]."""
_SAME = 1.0 - 1e-9
"""Factor above which a turn is not made less, but for what a filter leaves of 1."""


OWN_LIFE = ("sit", "handle")
"""Behaviours whose clips have a life of their own, which is left as it is."""


class UpperBodies(NamedTuple):
    """A take with upper bodies, and who has none."""

    take: Take
    remarks: tuple[str, ...]
    """One line for each skeleton that cannot look anywhere."""


def with_upper_bodies(
    take: Take, world: World, *, seed: int = 0, who: Sequence[str] | None = None, crowded: Collection[str] = ()
) -> UpperBodies:
    """Let the characters of a take look where people look, stand as people stand, and swing arms of their own.

    Any take will do. Layers that it has stay; layers of this function are made anew.

    Args:
        take: the take.
        world: its place.
        seed: seed of all that is drawn; each character draws by its name.
        who: names of the characters that get a layer; None for all.
        crowded: names of those whose arms swing as they do without a layer where others or walls are near: people of a
            throng, who hold them in there.
    """
    chosen = list(range(len(take))) if who is None else [take.index(name) for name in who]
    old = tuple(layer for layer in take.layers if layer.name != LAYER or layer.character not in chosen)
    take = replace(take, layers=old)
    crowd = _Crowd(take, Surroundings.of(world), Onlookers.of(take), TakenPlaces(), seed, frozenset(crowded))
    layers = tuple(_layers(crowd, chosen))
    lacking = [s for k, s in enumerate(take.skeletons) if missing_for_gaze(s) and (take.bodies[chosen] == k).any()]
    remarks = [
        f"skeleton '{s.name}': {missing_for_gaze(s)}; its upper body stays as its clips have it" for s in lacking
    ]
    return UpperBodies(replace(take, layers=(*take.layers, *layers)) if layers else take, tuple(remarks))


@dataclass(frozen=True, eq=False)
class _Crowd:
    """What all characters share."""

    take: Take
    around: Surroundings
    seen: Onlookers
    places: TakenPlaces
    seed: int
    crowded: frozenset[str]
    _usual: dict[int, FloatArray] = field(default_factory=dict)

    def usual(self, body: UpperBody) -> FloatArray:
        """Return how much the speed at which neck and head turn usually changes in a frame of clips [rad/s]; (G,)."""
        key = id(body.skeleton)
        if key not in self._usual:
            joints = body.joints[_gaze_rows(body)]
            own = [c for c in self.take.clips if c.skeleton is body.skeleton and c.fps == self.take.fps]
            # clips one after another, with what changes from one to the next left out
            turns = [rotations.identity(3, len(joints)), *(clip.rotations[:, joints] for clip in own)]
            ends = np.cumsum([len(part) for part in turns])
            within = np.ones(ends[-1], dtype=bool)
            within[[0, *ends[:-1], *(ends - 1)]] = False
            changes = _changes(np.concatenate(turns), self.take.fps)[within]
            self._usual[key] = np.maximum(np.percentile(changes, USUAL_PERCENTILE, axis=0), _LEAST_SUDDEN)
        return self._usual[key]


@dataclass(frozen=True, eq=False)
class _Person:
    """One character while its layer is made."""

    character: int
    body: UpperBody
    clip: Clip
    start: float
    """Time of the first frame [s]."""
    world: Mapping[str, FloatArray]
    """World rotations of chest and head, as the clips have them; (F, 4) each."""
    gaze: Gaze
    upright: FloatArray
    """How upright the trunk is, 0 to 1; (F,)."""
    free: FloatArray
    """How much room there is to turn the trunk and to move the arms, 0 to 1; (F,)."""
    from_movers: FloatArray
    """How far the next mover is [m]; (F,)."""
    rng: np.random.Generator


def _layers(crowd: _Crowd, characters: Sequence[int]) -> Iterator[Layer]:
    """Yield the layers of characters, several at a time.

    How people stand is drawn for one after another, since it depends on how those before them do.
    """
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, len(characters), 2 * threads):  # so that few whole motions are held at a time
            some = pool.map(partial(_begun, crowd), characters[first : first + 2 * threads])
            begun = [one for one in some if one is not None]
            for person, turns in begun:
                crowd.usual(person.body)
                for span in person.gaze.stands:
                    _stand(crowd, person, span, turns)
            yield from pool.map(lambda one: _finished(crowd, *one), begun)


def _begun(crowd: _Crowd, character: int) -> tuple[_Person, FloatArray] | None:
    """Return a character and the turns of its upper body (F, K, 4), but for how it stands; None without one."""
    take = crowd.take
    body, clip = upper_body(take.skeletons[int(take.bodies[character])]), take.clip(character)
    if body is None or len(clip) < 3:
        return None
    rng = np.random.default_rng([crowd.seed, crc32(take.names[character].encode()), 18])
    start, world = take.start(character), _world_rotations(body, clip)
    gaze = gaze_of(clip, character, start, crowd.seen, crowd.around, take.goals[character], rng)
    times = start + np.arange(len(clip)) / clip.fps
    movers = crowd.around.from_movers(clip.root_positions[:, :2], times)
    walls = np.minimum(crowd.around.clear(clip.root_positions[:, :2], _WALLS[1]), movers)
    upright, others = _upright(body, world, clip.fps), crowd.seen.apart(character, times)
    free = _room(np.minimum(_share(walls, _WALLS), _share(others, _OTHERS)), clip.fps)
    person = _Person(character, body, clip, start, world, gaze, upright, free, movers, rng)
    vectors = np.zeros((len(body.joints), len(clip), 3)).transpose(1, 0, 2)  # joints are written one by one
    _look(person, vectors)
    calm = 1.0 - _passing(crowd.around, clip)
    corners = calm * _room(_share(walls, _CORNERS), clip.fps)
    _swing(person, np.minimum(corners, calm * free) if take.names[character] in crowd.crowded else corners, vectors)
    _hold(person, calm * free, vectors)
    turns = rotations.identity(len(clip), len(body.joints))
    _turn_kernels.turn(turns, read_only(vectors), read_only(person.upright))
    return person, turns


def _finished(crowd: _Crowd, person: _Person, turns: FloatArray) -> Layer:
    """Return the layer of a character whose upper body turns (F, K, 4), within what joints can do."""
    body = person.body
    turns = _with_resting_hands(person, _with_own_life(person, crowd.take, turns))
    turns = _within_limits(person.clip, body, turns, crowd.usual(body))
    packed = _packed(np.concatenate([turns, turns[-1:]]))
    return Layer(person.character, person.start, body.joints, packed, name=LAYER)


def _within_limits(clip: Clip, body: UpperBody, turns: FloatArray, usual: FloatArray) -> FloatArray:
    """Return turns (F, K, 4) that take no joint beyond its limits, or farther beyond them than its clip does.

    Neck and head do not turn more suddenly than is usual in the clips (G,) [rad/s], or than the clip itself does.
    Where a turn is too far, it is made less, with all that comes within half a second before and after it: a joint that
    is held at its limit would stop too suddenly. Neck and head are made less together.
    """
    gaze, fps = _gaze_rows(body), clip.fps
    own = clip.rotations[:, body.joints[gaze]]
    out, beyond = turns, np.empty(turns.shape[:2])
    vectors, weights = np.empty((0, 0, 3)), np.ones(turns.shape[:2])
    moved: IntArray | slice = slice(None)  # frames whose turns have been made less since they were looked at
    for _ in range(_TRIES):
        beyond[moved] = _beyond_limits(body, clip.rotations[moved], out[moved])
        far, sudden = beyond > _BEYOND, _changes(rotations.multiply(own, out[:, gaze]), fps)
        # the clip itself needs to be looked at only where something is too far without it
        if len(rows := np.flatnonzero(far.any(axis=1))):
            far[rows] &= beyond[rows] > _beyond_limits(body, clip.rotations[rows]) + _WORSE
        if (quick := sudden > _SUDDEN * usual).any():
            far[:, gaze] |= quick & (sudden > _changes(own, fps))
        far[:, gaze] = far[:, gaze].any(axis=1, keepdims=True)
        changed = np.flatnonzero(far.any(axis=0))
        if not len(changed):
            break
        vectors = vectors if len(vectors) else rotations.to_rotation_vector(turns)
        less = minimum_filter1d(np.where(far[:, changed], _LESS, 1.0), 2 * round(0.3 * fps) + 1, axis=0, mode="nearest")
        smooth = smoothed(less, 0.1 * fps)
        moved = np.flatnonzero((smooth < _SAME).any(axis=1))
        weights[:, changed] *= smooth
        lessened = rotations.from_rotation_vector(weights[:, changed, None] * vectors[:, changed])
        out = np.array(out)
        out[:, changed] = lessened
    return out


def _gaze_rows(body: UpperBody) -> list[int]:
    """Return the rows of neck and head among the joints of an upper body."""
    return [k for k, role in enumerate(body.roles) if role in ("neck", "head")]


def _changes(turns: FloatArray, fps: float) -> FloatArray:
    """Return the change of the speed at which joints with rotations (F, K, 4) turn about each frame [rad/s]; (F, K)."""
    out = np.zeros(turns.shape[:2])
    if len(turns) > 2:
        steps = _between(turns[:-1], turns[1:])
        out[1:-1] = np.linalg.norm(np.diff(steps, axis=0), axis=-1) * fps
    return out


def _between(first: FloatArray, last: FloatArray) -> FloatArray:
    """Return the turns from some rotations (..., 4) to others (..., 4), as rotation vectors [rad]; (..., 3)."""
    out = np.empty((*first.shape[:-1], 3))
    _turn_kernels.between(read_only(first.reshape(-1, 4)), read_only(last.reshape(-1, 4)), out.reshape(-1, 3))
    return out


def _beyond_limits(body: UpperBody, local: FloatArray, turns: FloatArray | None = None) -> FloatArray:
    """Return by how much each joint of an upper body is beyond its limits [degrees]; (F, K).

    Args:
        body: the upper body.
        local: local rotations of all joints; (F, J, 4).
        turns: further turns of the upper body (F, K, 4); None for none.
    """
    limits, over = body.limits, np.empty((len(local), len(body.limited)))
    parents, columns = body.skeleton.parents, np.full(len(body.skeleton), -1)
    needed = np.isin(np.arange(len(parents)), [*limits.joints, *limits.bases])
    for joint in range(len(parents) - 1, 0, -1):
        needed[parents[joint]] |= needed[joint]
    if turns is not None:
        columns[body.joints] = np.arange(len(body.joints))
    _limit_kernels.beyond(
        parents, read_only(np.flatnonzero(needed)), read_only(local), read_only(columns),
        read_only(np.empty((0, 0, 4)) if turns is None else turns), limits.joints, limits.bases, body.t_pose,
        limits.axes, limits.low, limits.high, over,
    )  # fmt: skip
    out = np.zeros((len(local), len(body.joints)))
    out[:, body.limited] = over
    return out


def _look(person: _Person, vectors: FloatArray) -> None:
    """Turn trunk, neck and head to where the character looks (in place)."""
    body, gaze, fps = person.body, person.gaze, person.clip.fps
    head = body.column("head")
    ahead = rotations.rotate(person.world["head"], body.axes[head, 0])
    own = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))
    wanted = gaze.yaw + _KEPT * (own - smoothed(own, _QUICK * fps))
    rest = (wanted - own + np.pi) % (2.0 * np.pi) - np.pi
    # nobody looks backward: there the clip's own head fades in
    chest = person.free * gaze.chest
    rest = np.clip(rest, -1.2, 1.2) * np.clip((2.5 - np.abs(rest)) / 0.7, 0.0, 1.0) - chest
    for first, second, share, yaw, pitch in (
        ("neck", "head", 0.4, rest, gaze.pitch), ("spine", "chest", 0.4, chest, np.zeros(len(rest))),
    ):  # fmt: skip
        low, high = body.column(first), body.column(second)
        parts = [(low, share), (high, 1.0 - share)] if low >= 0 else [(high, 1.0)]
        for row, part in parts:
            vectors[:, row] += np.outer(part * yaw, body.axes[row, 2]) + np.outer(part * pitch, body.axes[row, 1])
    for row in _gaze_rows(body):
        vectors[:, row] = smoothed(vectors[:, row], _SOFT * fps)
    for row in (k for k, role in enumerate(body.roles) if role == "eye"):
        vectors[:, row] += np.outer(gaze.eye_yaw, body.axes[row, 2]) + np.outer(gaze.eye_pitch, body.axes[row, 1])


def _swing(person: _Person, calm: FloatArray, vectors: FloatArray) -> None:
    """Make arms swing and the head nod by a person's own measure, which changes from cycle to cycle (in place)."""
    body, rng, fps, count = person.body, person.rng, person.clip.fps, len(person.clip)
    apart, freer = rng.uniform(0.10, 0.28), 1.0 if rng.uniform() < 0.5 else -1.0
    less = rng.uniform(0.0, 0.2)
    weight = calm * person.gaze.moving
    for side, sign in (("left", 1.0), ("right", -1.0)):
        # one arm swings less; none swings much farther than in the clip, which has room for that
        factor = np.clip((-apart if sign == freer else 0.0) - less + 0.06 * _noise(count, 0.6 * fps, rng), -0.4, 0.05)
        for part in ("shoulder", "elbow"):
            if (row := body.column(f"{side}_{part}")) >= 0:
                turns = rotations.continuous(person.clip.rotations[:, body.joints[row]])
                vectors[:, row] += (weight * factor)[:, None] * _between(smoothed(turns, 0.75 * fps), turns)
    row = body.column("head")
    nose = rotations.rotate(person.world["head"], body.axes[row, 0])
    pitch = -np.arcsin(np.clip(nose[:, 2], -1.0, 1.0))
    quick = pitch - smoothed(pitch, 0.5 * fps)
    own = rng.normal(0.0, 0.12) + 0.18 * _noise(count, 0.6 * fps, rng)
    vectors[:, row] += np.outer(weight * own * quick, body.axes[row, 1])


def _hold(person: _Person, weight: FloatArray, vectors: FloatArray) -> None:
    """Give the trunk a posture of the person's own: a lean, and a rounded or straight back (in place).

    Neck and head make up for it, so that the gaze stays.
    """
    body, rng = person.body, person.rng
    lean, stoop = np.clip(rng.normal(_LEAN, _LEAN_SPREAD), *_LEANS), np.clip(rng.normal(0.0, _STOOP_SPREAD), *_STOOPS)
    for role, turn in (
        ("spine", 0.6 * lean), ("chest", 0.4 * lean + stoop), ("neck", -0.4 * (lean + stoop)),
        ("head", -0.6 * (lean + stoop)),
    ):  # fmt: skip
        if (row := body.column(role)) >= 0:
            vectors[:, row] += np.outer(turn * weight, body.axes[row, 1])


def _with_own_life(person: _Person, take: Take, turns: FloatArray) -> FloatArray:
    """Return turns (F, K, 4) that leave the whole body as clips have it that bring their own life: who sits, sits."""
    table, fps = take.segments, person.clip.fps
    rows = np.arange(take.rows[person.character], take.rows[person.character + 1])
    own = [row for row in rows.tolist() if take.behaviors[table.behavior[row]] in OWN_LIFE]
    if not own:
        return turns
    ends = np.append(table.start[rows[1:]], take.ends[person.character])
    times, loose = person.start + np.arange(len(turns)) / fps, np.ones(len(turns))
    for row in own:
        begin, end = table.start[row], ends[row - rows[0]]
        loose[(times >= begin - _BEFORE_HANDS) & (times <= end + _BEFORE_HANDS)] = 0.0
    loose = smoothed(loose, _HANDS_SOFT * fps)
    vectors = rotations.to_rotation_vector(rotations.continuous(turns))
    return rotations.from_rotation_vector(loose[:, None, None] * vectors)


def _with_resting_hands(person: _Person, turns: FloatArray) -> FloatArray:
    """Return turns (F, K, 4) that leave trunk and arms as the clips have them while hands rest on something."""
    clip, body, fps = person.clip, person.body, person.clip.fps
    arms = {int(body.joints[k]) for k, role in enumerate(body.roles) if role.endswith(("shoulder", "elbow", "wrist"))}
    hands = [c for c, point in enumerate(clip.skeleton.contact_points) if _hangs_on(clip.skeleton, point.joint, arms)]
    if clip.contacts is None or not clip.contacts[:, hands].any():
        return turns
    apart = 1.0 - clip.contacts[:, hands].any(axis=1)
    loose = minimum_filter1d(apart, 2 * round(_BEFORE_HANDS * fps) + 1, mode="nearest")
    loose = smoothed(loose, _HANDS_SOFT * fps)
    rows = [k for k, role in enumerate(body.roles) if role not in ("neck", "head", "eye")]
    out = np.array(turns)
    out[:, rows] = rotations.from_rotation_vector(
        loose[:, None, None] * rotations.to_rotation_vector(rotations.continuous(turns[:, rows]))
    )
    return out


def _hangs_on(skeleton: Skeleton, joint: int, some: set[int]) -> bool:
    """Return whether a joint is one of some, or hangs on one of them."""
    while joint >= 0 and joint not in some:
        joint = int(skeleton.parents[joint])
    return joint >= 0


def _stand(crowd: _Crowd, person: _Person, span: tuple[int, int], turns: FloatArray) -> None:
    """Add the life of a body that stands in a span of frames (in place)."""
    a, b = span
    body, clip, fps = person.body, person.clip, person.clip.fps
    last, frames = b >= len(clip) - 1, np.arange(b - a)
    fade = np.asarray(ease(np.clip((frames + 1) / (0.6 * fps), 0.0, 1.0))) if a > 0 else np.ones(b - a)
    if not last:
        fade = fade * ease(np.clip((b - a - frames) / (0.6 * fps), 0.0, 1.0))
    roots, times = clip.root_positions[a:b, :2], person.start + (a + frames) / fps
    small = sway(body, times, person.rng)
    spot = Spot(
        person.character, roots.mean(axis=0), (person.start + a / fps, person.start + b / fps), fps, a == 0, last,
        min(crowd.around.room(roots), float(person.from_movers[a:b].min())),  # turns move the root
    )  # fmt: skip
    held = drawn_ways(body, np.array(clip.rotations[(a + b) // 2]), spot, crowd.seen, crowd.places, person.rng)
    head = body.column("head")
    for row in (k for k, role in enumerate(body.roles) if role not in ("neck", "head")):
        small[:, row] *= 0.2 + 0.8 * person.free[a:b, None]
    small[:, head] += np.outer(bowed(held, b - a), body.axes[head, 1])
    _face_companions(crowd.seen, person, span, small)
    place_arms(turns[a:b], held)
    _turn_kernels.turn(turns[a:b], read_only(small), read_only(fade * person.upright[a:b]))


def _face_companions(seen: Onlookers, person: _Person, span: tuple[int, int], small: FloatArray) -> None:
    """Turn the trunk a little toward companions who stand near (in place)."""
    (a, b), fps, me = span, person.clip.fps, person.character
    others, own = seen.near(me, person.start + a / fps, person.start + b / fps, 2.5)
    if not own.any():
        return
    k = seen.index(person.start + 0.5 * (a + b) / fps)
    beside = seen.places[others[own], k, :2]
    beside = beside[np.isfinite(beside[:, 0])]  # whoever leaves just then is not there any more
    if not len(beside):
        return
    away = beside.mean(axis=0) - seen.places[me, k, :2]
    angle = np.arctan2(away[1], away[0]) - float(person.clip.headings()[(a + b) // 2])
    angle = float(np.clip((angle + np.pi) % (2.0 * np.pi) - np.pi, -0.9, 0.9))
    for role, share in (("spine", 0.12), ("chest", 0.16)):
        if (row := person.body.column(role)) >= 0:
            small[:, row] += np.outer(share * angle * person.free[a:b], person.body.axes[row, 2])


def _passing(around: Surroundings, clip: Clip) -> FloatArray:
    """Return how much a character is busy with a special obstacle, 0 to 1; (F,)."""
    busy = np.zeros(len(clip))
    for _, near in around.special(clip.root_positions[:, :2], 0.4):
        busy = np.maximum(busy, near)
    out: FloatArray = np.clip(2.5 * gaussian_filter1d(busy, 0.5 * _NEAR_SPECIAL * clip.fps), 0.0, 1.0)
    return out


def _share(away: FloatArray, between: tuple[float, float]) -> FloatArray:
    """Return how far a distance has come from a lower to an upper bound, 0 to 1; (F,)."""
    share: FloatArray = np.clip((away - between[0]) / (between[1] - between[0]), 0.0, 1.0)
    return share


def _room(shares: FloatArray, fps: float) -> FloatArray:
    """Return how much room there is to turn the trunk and to move the arms, 0 to 1, in good time; (F,)."""
    least = minimum_filter1d(shares, 2 * round(0.3 * fps) + 1, mode="nearest")
    return smoothed(least, 0.15 * fps)


def _world_rotations(body: UpperBody, clip: Clip) -> dict[str, FloatArray]:
    """Return the world rotations of chest and head; (F, 4) each."""
    wanted = {role: int(body.joints[body.column(role)]) for role in ("chest", "head")}
    known = {-1: rotations.identity()}
    for joint in wanted.values():
        chain = [joint]
        while (parent := int(clip.skeleton.parents[chain[-1]])) not in known:
            chain.append(parent)
        for k in reversed(chain):
            known[k] = rotations.multiply(known[int(clip.skeleton.parents[k])], clip.rotations[:, k])
    return {role: known[joint] for role, joint in wanted.items()}


def _upright(body: UpperBody, world: Mapping[str, FloatArray], fps: float) -> FloatArray:
    """Return how upright the trunk is, 0 to 1; (F,)."""
    up = np.ones(len(world["head"]))
    for role, turns in world.items():
        up = np.minimum(up, rotations.rotate(turns, body.axes[body.column(role), 2])[:, 2])
    share = ease(np.clip((up - _UPRIGHT[0]) / (_UPRIGHT[1] - _UPRIGHT[0]), 0.0, 1.0))
    lowest = minimum_filter1d(share, 2 * round(0.35 * fps) + 1, mode="nearest")
    return smoothed(lowest, 0.15 * fps)


def _noise(count: int, sigma: float, rng: np.random.Generator) -> FloatArray:
    """Return smooth noise of standard deviation 1; (F,)."""
    smooth = smoothed(rng.standard_normal(count), sigma, cyclic=True)
    out: FloatArray = np.clip(smooth * np.sqrt(2.0 * sigma * np.sqrt(np.pi)), -2.0, 2.0)
    return out


def _packed(turns: FloatArray) -> Single:
    """Return turns in single precision and few digits, so that files stay small."""
    out = np.empty(turns.shape, dtype=np.float32)
    _turn_kernels.pack(read_only(turns), _STEP, out)
    return out
