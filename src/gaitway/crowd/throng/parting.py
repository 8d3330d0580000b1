"""Whole bodies in a live throng, kept apart: swinging feet make room first, then footprints, then whole bodies.

The dynamics keep outlines of trunks apart. Legs that stride, knees and hands reach farther. So bodies as they are shown
are looked at limb by limb in each step, and moved a little where limbs are about to meet, or to touch a wall. Whose
limbs would be in somebody, or in a wall, all the same waits for a moment in the pose that it had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.crowd._capsule_kernels import capsule_axes
from gaitway.crowd.dynamics.walls import WallHash
from gaitway.crowd.throng import _parting_kernels as kernels
from gaitway.crowd.throng.bodies import ThrongBodies, rows_in
from gaitway.motion.body import CapsuleBody, capsule_body
from gaitway.motion.skeleton import Skeleton

LOWER_LEG = ("knee", "foot", "toes")
"""Names of the capsules of a lower leg, after the side."""
LEG = ("hip", *LOWER_LEG)
"""Names of the capsules of a leg, after the side."""
NEAR = 1.7
"""People whose roots are farther apart than this do not touch [m]."""
_ROOM = 0.2
"""How much farther apart than two bodies reach people may be who are compared, for steps and margins [m]."""
MARGIN = 0.02
"""Distance that bodies keep [m]."""
_PRINT_MARGIN = 0.03
"""Distance that footprints keep [m]."""
_LOOKS = 3
"""Number of times that limbs are looked at in a step."""
MOMENTS = 9
"""Number of moments from one frame to the next at which it is found out who has to wait; motion is audited at as many.
"""
_FOOT_SPEED, _PRINT_SPEED = 3.0, 4.0
"""Greatest speeds at which swinging feet and coming footprints are moved out of the way of others [m/s]."""
_ROOT_SPEED, _ROOT_RISE = 0.5, 4.0
"""Greatest speed [m/s] and acceleration [m/s2] of bodies that are moved out of the way of others."""
_LEAN_SPEED, _DRAW_SPEED = 0.2, 1.0
"""Greatest speeds at which who waits leans away from others, and draws a swinging foot back [m/s]."""
_ATTEMPTS = ("lean", "stay", "set down")
"""What who waits tries, one after another, until nobody gets deeper into anybody by it: to lean away, to stay with its
root, and, after a while, to set a swinging foot down. In the first two feet make room, and shift after a while."""
_GOLDEN = 2.399963229728653
"""Angle between two ways that are tried one after the other: no two of them are ever alike [rad]."""
_SETTLED, _LATE_PRINT = 0.97, 0.01
"""Share of a swing after which its footprint is moved no more, and how far it is moved in a step just before [m]."""
_NOWHERE = 1e6
"""Where footprints are that are not known [m]."""
_HEEL, _TOES, _PRINT_RADIUS = -0.02, 0.165, 0.05
"""Where the axis of a footprint begins and ends, ahead of the ankle, and its radius [m]."""


class BodyShapes:
    """Capsules of all kinds of bodies of a throng, as the kernels want them.

    Attributes:
        radii: all radii [m]; (B, C).
        quick: radii of lower legs, all others are 0 [m]; (B, C).
        trunks: radii without those of lower legs, which are 0 [m]; (B, C).
        legs: radii of the left and of the right leg, all others are 0 [m]; (B, 2, C).
        feet: capsules of the left and of the right foot, -1 for none; (B, 2).
    """

    def __init__(self, skeletons: Sequence[Skeleton]) -> None:
        """Take the bodies of some skeletons."""
        self._skeletons, self._bodies = tuple(skeletons), tuple(capsule_body(skeleton) for skeleton in skeletons)
        most = max((len(body) for body in self._bodies), default=0)
        self.radii: FloatArray = np.zeros((len(self._bodies), most))
        self.legs: FloatArray = np.zeros((len(self._bodies), 2, most))
        for number, body in enumerate(self._bodies):
            self.radii[number, : len(body)] = body.radii
        self.trunks: FloatArray = self.radii.copy()
        for number, body in enumerate(self._bodies):
            for some in limb_capsules(body, LOWER_LEG):
                self.trunks[number, [capsule for capsule in some if capsule >= 0]] = 0.0
            for k, some in enumerate(limb_capsules(body, LEG)):  # a thigh is led aside by its foot, and by the body
                own = [capsule for capsule in some if capsule >= 0]
                self.legs[number, k, own] = body.radii[own]
        self.quick: FloatArray = self.radii - self.trunks
        feet = [[some[0] for some in limb_capsules(body, ("foot",))] for body in self._bodies]
        self.feet: IntArray = np.array(feet, np.int64).reshape(-1, 2)

    def posed(self, kinds: IntArray, poses: Sequence[tuple[FloatArray, FloatArray]]) -> BodyCapsules:
        """Return the capsules of people who are sorted by kind (N,), given roots and local rotations of each kind."""
        count = len(kinds)
        segments: SingleArray = np.zeros((count, self.trunks.shape[1], 2, 3), np.float32)
        out = BodyCapsules(kinds, segments, np.zeros((count, 2)), np.zeros(count))
        self.pose_again(out, poses, np.ones(count, np.bool_))
        return out

    def pose_again(
        self, bodies: BodyCapsules, poses: Sequence[tuple[FloatArray, FloatArray]], changed: BoolArray
    ) -> None:
        """Find the capsules of those anew whose poses were changed (N,); `bodies` is changed."""
        first = 0
        for skeleton, body, (roots, turns) in zip(self._skeletons, self._bodies, poses, strict=True):
            rows = first + np.flatnonzero(changed[first : first + len(roots)])
            first += len(roots)
            if not len(rows):
                continue
            own = rows - first + len(roots)
            axes: SingleArray = np.zeros((len(own), len(body), 2, 3), np.float32)
            places, extents = np.zeros((len(own), 2)), np.zeros(len(own))
            capsule_axes(
                np.arange(len(own)), np.ascontiguousarray(roots[own]), turns[own].astype(np.float32), skeleton.parents,
                skeleton.offsets, body.joints, body.starts, body.ends, body.radii, axes, places, extents,
            )  # fmt: skip
            bodies.segments[rows, : len(body)] = axes
            bodies.places[rows], bodies.extents[rows] = places, extents

    def footprints(self, bodies: BodyCapsules) -> FloatArray:
        """Return where feet are, far away if they are not known: x, y of the ankles [m], direction [rad]; (N, 2, 3)."""
        feet = self.feet[bodies.kinds]
        own = bodies.segments[np.arange(len(feet))[:, None], feet].astype(np.float64)
        way = own[:, :, 1, :2] - own[:, :, 0, :2]
        out = np.concatenate([own[:, :, 0, :2], np.arctan2(way[..., 1], way[..., 0])[..., None]], axis=-1)
        return np.where(feet[..., None] < 0, _NOWHERE, out)


@lru_cache(maxsize=8)
def _shapes_of(skeletons: tuple[Skeleton, ...]) -> BodyShapes:
    return BodyShapes(skeletons)


class BodyCapsules(NamedTuple):
    """Where bodies are, limb by limb."""

    kinds: IntArray
    """Kind of body; (N,)."""
    segments: SingleArray
    """Axes of capsules [m]; (N, C, 2, 3)."""
    places: FloatArray
    """Where roots are [m]; (N, 2)."""
    extents: FloatArray
    """How far bodies reach from there [m]; (N,)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pushes:
    """Where bodies must go to be out of one another and out of walls."""

    roots: FloatArray
    """How far each root has to go [m]; (N, 2)."""
    feet: FloatArray
    """How far each swinging foot has to go [m]; (N, 2, 2)."""
    depths: FloatArray
    """How deep each is in something, less the margin; negative for who is only near, and where nothing is; (N,)."""


_PRINT_TRUNKS, _PRINT_LEGS = np.zeros((1, 2)), np.array([[[_PRINT_RADIUS, 0.0], [0.0, _PRINT_RADIUS]]])


Poses = tuple[FloatArray, FloatArray]
"""Root positions [m] (N, 3) and local rotations (N, J, 4)."""


class Parting(NamedTuple):
    """How bodies of a throng were moved apart, by skeleton."""

    moves: list[FloatArray]
    """How far roots were moved [m]; (N, 2) each."""
    held: list[BoolArray]
    """Who has to wait: in the pose that it had, but for what it gives way to others; (N,) each."""


def part_throng(
    throng: Sequence[ThrongBodies],
    before: Sequence[tuple[IntArray, Poses]],
    allowed: Sequence[FloatArray],
    late: Sequence[BoolArray],
    first: Sequence[Poses],
    shown: Callable[[], list[Poses]],
    others: Sequence[Poses],
    pushed: Callable[[ThrongBodies, FloatArray], FloatArray],
    put_back: Callable[[IntArray], None],
    walls: WallHash,
    dt: float,
    tries: Sequence[IntArray] | None = None,
    steady: Sequence[BoolArray] | None = None,
) -> Parting:
    """Move bodies apart, limb by limb, and out of walls; bodies are changed.

    Who has to wait is put back, and gives way from there if it can: it leans away and draws a swinging foot back. After
    a while it shifts its feet to below its root, too, or sets a swinging foot down where it is. Else two whose limbs
    are in one another's way would wait for ever.

    Args:
        throng: bodies, by skeleton.
        before: what was shown of them, or of some of them, a moment before: numbers in the engine, and poses.
        allowed: how deep each may be in others without having to wait [m]; (N,) by skeleton.
        late: who has waited for long; (N,) by skeleton.
        first: what is shown of them, and behind them of others who cannot be moved, by skeleton.
        shown: returns the same after bodies were changed.
        others: further people who cannot be moved, by skeleton.
        pushed: returns how far roots of some people are moved, given how far they should be (N, 2) [m].
        put_back: lets bodies of some people be as they were a moment before.
        walls: edges of walls.
        dt: time of the step [s].
        tries: how many ways to lean each has tried in vain; (N,) by skeleton. From the first on it leans another way
            than straight out, and its swinging foot is drawn that way. None is nobody.
        steady: whose pose is given: it is not moved apart from others, only held where it was; (N,) by skeleton. None
            is nobody.
    """
    shapes = _shapes_of(tuple(bodies.space.rig.skeleton for bodies in throng))
    poses = _joined(first, others)
    sizes = [len(roots) for roots, _ in poses]
    kinds, firsts = np.repeat(np.arange(len(sizes)), sizes), np.cumsum([0, *sizes[:-1]]).tolist()
    parts = [slice(low, low + len(bodies)) for low, bodies in zip(firsts, throng, strict=True)]
    fixed, swings = np.ones(len(kinds), np.bool_), np.full((len(kinds), 2), -1.0)
    capsules = shapes.posed(kinds, poses)
    prints = shapes.footprints(capsules)
    given = np.zeros(len(kinds), np.bool_)
    for rows, some in zip(parts, steady or (), strict=steady is not None):
        given[rows] = some
    for rows, bodies in zip(parts, throng, strict=True):
        fixed[rows], swings[rows] = False, bodies.swings
        prints[rows] = np.where((bodies.swings >= 0.0)[..., None], bodies.prints(), prints[rows])
    swings[given] = -1.0
    swinging, free = swings >= 0.0, (swings >= 0.0) & (swings < _SETTLED)
    pairs = pairs_of(capsules.places, min(2.0 * float(capsules.extents.max(initial=0.0)) + _ROOM, NEAR))
    wish = print_pushes(prints, capsules.places, pairs, free, fixed, walls)
    moves = bounded(np.where(free[..., None], wish, 0.0), np.maximum(_PRINT_SPEED * dt * (1.0 - swings), _LATE_PRINT))
    for rows, bodies in zip(parts, throng, strict=True):
        moves[rows] = bodies.uncrossed(moves[rows])
    aside = moves
    feet, out, fresh = np.zeros((len(kinds), 2, 2)), list[FloatArray](), np.ones(len(kinds), np.bool_)
    for number in range(_LOOKS):
        pushes = body_pushes(shapes, capsules, pairs, swinging, fixed, walls, fresh)
        more = bounded(feet + np.where(swinging[..., None], pushes.feet, 0.0), _FOOT_SPEED * dt) - feet
        feet = feet + more
        if number == 0:
            pushes.roots[given] = 0.0
            out = [pushed(bodies, pushes.roots[rows]) for rows, bodies in zip(parts, throng, strict=True)]
            for rows, moves_of in zip(parts, out, strict=True):
                moves_of[given[rows]] = 0.0
        fresh = np.zeros(len(kinds), np.bool_)
        for rows, bodies, roots in zip(parts, throng, out, strict=True):
            if len(bodies):
                fresh[rows] = bodies.push(roots if number == 0 else np.zeros_like(roots), more[rows], moves[rows])
        moves = np.zeros_like(moves)
        now = shown()
        if not fresh.any():
            break
        shapes.pose_again(capsules, _joined(now, others), fresh)
    bars, old = np.zeros(len(kinds)), [(roots.copy(), turns.copy()) for roots, turns in _joined(now, others)]
    for rows, bodies, most, (slots, (roots, turns)), (to_roots, to_turns) in zip(
        parts, throng, allowed, before, old, strict=True
    ):
        at = rows_in(slots, bodies.slots)
        known = at >= 0
        fixed[rows], bars[rows] = ~known, most
        to_roots[: len(at)][known], to_turns[: len(at)][known] = roots[at[known]], turns[at[known]]
    past = shapes.posed(kinds, old)
    held = waiting(shapes, past, capsules, pairs, fixed, bars, walls)
    if held.any():
        pairs = pairs[held[pairs].any(axis=1)]
        still, kept = held, np.zeros_like(held)
        for attempt in _ATTEMPTS:
            for rows, bodies, moves, some in zip(parts, throng, out, late, strict=True):
                moves[still[rows]] = 0.0
                put_back(bodies.slots[still[rows]])
                own = np.flatnonzero(still[rows] & some & ~given[rows])
                if attempt == "set down":
                    kept[rows] = still[rows]
                    kept[rows][bodies.set_down(own, dt)] = False
                else:
                    bodies.shift(own, dt)
            shapes.pose_again(capsules, _joined(shown(), others), still)
            if attempt != "set down":
                for rows, bodies in zip(parts, throng, strict=True):
                    swinging[rows] = bodies.swings >= 0.0
                pushes = body_pushes(shapes, capsules, pairs, swinging, ~still, walls, still)
                roots, feet = bounded(pushes.roots, _LEAN_SPEED * dt), bounded(pushes.feet, _DRAW_SPEED * dt)
                for rows, bodies, tried in zip(parts, throng, tries or (), strict=tries is not None):
                    locked = still[rows] & (tried > 0)
                    ways = _other_ways(roots[rows][locked], tried[locked] + bodies.slots[locked])
                    roots[rows][locked], feet[rows][locked] = _LEAN_SPEED * dt * ways, _DRAW_SPEED * dt * ways[:, None]
                feet[~swinging | given[:, None]] = roots[given] = 0.0
                if attempt != "lean":
                    roots[:] = 0.0
                for rows, bodies, moves in zip(parts, throng, out, strict=True):
                    if len(bodies):
                        roots[rows] += bodies.held_by_feet(bodies.places + roots[rows])
                        roots[rows][~still[rows]] = 0.0
                        moves[still[rows]] = roots[rows][still[rows]]
                        bodies.push(roots[rows], feet[rows], np.zeros_like(feet[rows]))
                shapes.pose_again(capsules, _joined(shown(), others), still)
            still = waiting(shapes, past, capsules, pairs, ~still, bars, walls)
            if not still.any():
                break
        if still.any():
            put_back(np.concatenate([bodies.slots[still[rows]] for rows, bodies in zip(parts, throng, strict=True)]))
            for rows, moves in zip(parts, out, strict=True):
                moves[still[rows]] = 0.0
            shown()
        # who tries in vain to move has another footprint the next time, or two would wait for one another for ever
        for rows, bodies, tried in zip(parts, throng, tries or (), strict=tries is not None):
            bodies.redirect(np.flatnonzero((still[rows] | kept[rows]) & (tried > 0) & ~given[rows]), aside[rows])
    return Parting(out, [held[rows] for rows in parts])


def _other_ways(pushes: FloatArray, numbers: IntArray) -> FloatArray:
    """Return unit vectors (N, 2) that are turned away from pushes (N, 2) by an angle for each number (N,)."""
    angles = _GOLDEN * numbers + np.arctan2(pushes[:, 1], pushes[:, 0])
    return np.column_stack([np.cos(angles), np.sin(angles)])


def waiting(
    shapes: BodyShapes, before: BodyCapsules, now: BodyCapsules, pairs: IntArray, fixed: BoolArray, allowed: FloatArray,
    walls: WallHash,
) -> BoolArray:  # fmt: skip
    """Return who has to stay as it was a moment before, so that nobody gets deeper in anybody, or in a wall; (N,).

    Args:
        shapes: kinds of bodies.
        before: bodies a moment before.
        now: bodies as they are to be now.
        pairs: who is near whom; (P, 2).
        fixed: who cannot stay as it was; (N,).
        allowed: depth that matters to nobody [m]; (N,).
        walls: edges of walls.
    """
    out, rows = np.zeros(len(fixed), np.bool_), _who_matters(pairs, ~fixed)
    if len(rows) < len(fixed):
        before, now, pairs = _some_of(before, rows), _some_of(now, rows), _renumbered(pairs, rows, len(fixed))
        fixed, allowed = fixed[rows], allowed[rows]
    held, depths, edges = np.zeros(len(fixed), np.bool_), np.zeros((2, len(fixed))), _arrays_of(walls)
    shares: SingleArray = np.linspace(0.0, 1.0, MOMENTS, dtype=np.float32)[:, None, None, None, None]
    ways = before.segments + shares * (now.segments - before.segments)
    gone = np.hypot(*(now.places - before.places).T)
    extents = np.maximum(before.extents, now.extents + gone)
    for moment in range(MOMENTS):
        number = min(moment, 1)
        radii = shapes.quick if moment % 2 else shapes.radii
        kernels.depths_in_walls(before.places, ways[moment], now.kinds, radii, extents, fixed, *edges, depths[number])
    moving = walls.moving()
    if moving is not None:  # who would be run over does not stay: others wait for it
        struck, edges = np.zeros((2, len(fixed))), _arrays_of(moving)
        for number, moment in enumerate((0, MOMENTS - 1)):
            kernels.depths_in_walls(
                before.places, ways[moment], now.kinds, shapes.radii, extents, fixed, *edges, struck[number]
            )
        fixed = fixed | ((struck[0] > allowed) & (struck[0] > struck[1]))
    kernels.who_waits(pairs, now.kinds, shapes.radii, shapes.quick, ways, before.places, fixed, allowed, depths, held)
    out[rows] = held
    return out


def depths_in_movers(bodies: ThrongBodies, walls: WallHash) -> FloatArray:
    """Return how deep bodies of one skeleton are in what moves [m]; (N,)."""
    out, moving = np.zeros(len(bodies)), walls.moving()
    if moving is None or not len(bodies):
        return out
    shapes = _shapes_of((bodies.space.rig.skeleton,))
    found = shapes.posed(np.zeros(len(bodies), np.int64), [(bodies.roots, bodies.turns)])
    kernels.depths_in_walls(
        found.places, found.segments, found.kinds, shapes.radii, found.extents, np.zeros(len(bodies), np.bool_),
        *_arrays_of(moving), out,
    )  # fmt: skip
    return out


def _who_matters(pairs: IntArray, moves: BoolArray) -> IntArray:
    """Return who moves (N,), and who is near somebody, as rising numbers."""
    needed = moves.copy()
    needed[pairs.ravel()] = True
    return np.flatnonzero(needed)


def _renumbered(pairs: IntArray, rows: IntArray, count: int) -> IntArray:
    """Return pairs by their places among some rows, of so many."""
    numbers = np.zeros(count, np.int64)
    numbers[rows] = np.arange(len(rows))
    return np.ascontiguousarray(numbers[pairs])


def _some_of(bodies: BodyCapsules, rows: IntArray) -> BodyCapsules:
    return BodyCapsules(bodies.kinds[rows], bodies.segments[rows], bodies.places[rows], bodies.extents[rows])


def _arrays_of(walls: WallHash) -> tuple[FloatArray, IntArray, FloatArray, IntArray, IntArray]:
    return walls.place, np.array(walls.shape), walls.edges, walls.starts, walls.entries


def _joined(some: Sequence[Poses], more: Sequence[Poses]) -> list[Poses]:
    return [(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])) for a, b in zip(some, more, strict=True)]


def pairs_of(places: FloatArray, near: float = NEAR) -> IntArray:
    """Return who is nearer to whom than a distance [m], in a fixed order; (P, 2)."""
    if len(places) < 2:
        return np.empty((0, 2), np.int64)
    return kernels.near_pairs(places, near)


def body_pushes(
    shapes: BodyShapes, bodies: BodyCapsules, pairs: IntArray, swings: BoolArray, fixed: BoolArray, walls: WallHash,
    fresh: BoolArray | None = None,
) -> Pushes:  # fmt: skip
    """Return where bodies must go now.

    Args:
        shapes: kinds of bodies.
        bodies: the bodies.
        pairs: who is near whom; (P, 2).
        swings: whether the left and the right foot swing; (N, 2).
        fixed: who cannot be moved; (N,).
        walls: edges of walls.
        fresh: who was moved since it was last looked at; all others know already where they must go; (N,). None is all.
    """
    fresh = np.ones(len(fixed), np.bool_) if fresh is None else fresh
    return _pushes(shapes.trunks, shapes.legs, bodies, pairs, swings, fixed, walls, MARGIN, fresh)


def print_pushes(
    prints: FloatArray, places: FloatArray, pairs: IntArray, free: BoolArray, fixed: BoolArray, walls: WallHash
) -> FloatArray:
    """Return where footprints must go so that feet are not set down where others stand or will stand; (N, 2, 2).

    Args:
        prints: x, y [m] and direction [rad] of both feet; (N, 2, 3).
        places: where roots are [m]; (N, 2).
        pairs: who is near whom; (P, 2).
        free: which footprints can still be moved; (N, 2).
        fixed: who cannot be moved; (N,).
        walls: edges of walls.
    """
    count = len(prints)
    segments: SingleArray = np.zeros((count, 2, 2, 3), np.float32)
    ways = np.stack([np.cos(prints[..., 2]), np.sin(prints[..., 2])], axis=-1)
    for end, far in enumerate((_HEEL, _TOES)):
        segments[:, :, end, :2] = prints[..., :2] + far * ways
    feet = BodyCapsules(np.zeros(count, np.int64), segments, np.ascontiguousarray(places), np.full(count, 1.2))
    return _pushes(_PRINT_TRUNKS, _PRINT_LEGS, feet, pairs, free, fixed, walls, _PRINT_MARGIN, ~fixed).feet


def _pushes(
    trunks: FloatArray, legs: FloatArray, bodies: BodyCapsules, pairs: IntArray, swings: BoolArray, fixed: BoolArray,
    walls: WallHash, margin: float, fresh: BoolArray,
) -> Pushes:  # fmt: skip
    out = Pushes(
        roots=np.zeros((len(fixed), 2)), feet=np.zeros((len(fixed), 2, 2)), depths=np.full(len(fixed), -margin)
    )
    moves = fresh & ~fixed
    one, other = pairs[:, 0], pairs[:, 1]
    pairs = pairs[(fresh[one] | fresh[other]) & ~(fixed[one] & fixed[other])]
    rows = _who_matters(pairs, moves)
    if len(rows) < len(fixed):
        bodies, pairs = _some_of(bodies, rows), _renumbered(pairs, rows, len(fixed))
        swings, fixed, fresh, moves = swings[rows], fixed[rows], fresh[rows], moves[rows]
    kinds, segments, places, extents = bodies
    count = len(places)
    roots, feet, depths = np.zeros((count, 2)), np.zeros((count, 2, 2)), np.zeros(count)
    apart = np.zeros((count, 3, 2))
    kernels.part_bodies(
        pairs, places, segments, kinds, trunks, legs, np.ascontiguousarray(swings), fixed, fresh, margin,
        roots, feet, depths,
    )  # fmt: skip
    kernels.part_from_walls(
        places, segments, kinds, trunks, legs, extents, ~moves, *_arrays_of(walls), margin, apart, depths
    )
    roots += apart[:, 0]
    feet += apart[:, 1:]
    # a foot that stands in a wall stays there until it is lifted, and the body leans away from it
    roots += 0.5 * np.where(swings[..., None], 0.0, apart[:, 1:]).sum(axis=1)
    out.roots[rows[~fixed]], out.feet[rows[~fixed]] = roots[~fixed], feet[~fixed]
    out.depths[rows] = depths - margin
    return out


def bounded(moves: FloatArray, most: float | FloatArray) -> FloatArray:
    """Return moves (..., 2) none of which is longer than a length, or one for each (...) [m]."""
    size = np.hypot(moves[..., 0], moves[..., 1])
    return np.asarray(moves * np.minimum(most / np.maximum(size, 1e-12), 1.0)[..., None])


def pushed_softly(pushed: FloatArray, path: FloatArray, wishes: FloatArray, dt: float) -> FloatArray:
    """Return the velocities at which bodies are moved out of the way of others [m/s] (N, 2), without jerks.

    Args:
        pushed: velocities at which they were moved until now [m/s]; (N, 2).
        path: paths that bodies follow: x, y [m] and velocity [m/s] come first; (N, 4 or more). They are moved, and go
            no farther into what is in the way.
        wishes: how far bodies should be moved [m]; (N, 2).
        dt: time of the step [s].
    """
    now = pushed + bounded(bounded(wishes / dt, _ROOT_SPEED) - pushed, _ROOT_RISE * dt)
    out = wishes / np.maximum(np.hypot(wishes[:, 0], wishes[:, 1]), 1e-12)[:, None]
    against = np.clip(-(path[:, 2:4] * out).sum(axis=1), 0.0, _ROOT_RISE * dt)
    path[:, :2] += now * dt
    path[:, 2:4] += against[:, None] * out
    return np.asarray(now)


def limb_capsules(body: CapsuleBody, parts: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the capsules of both limbs, -1 for those that a body does not have.

    Args:
        body: a body.
        parts: names of the capsules of a limb, after the side.
    """
    names = [[f"{side}_{part}" for part in parts] for side in ("left", "right")]
    return [[body.names.index(name) if name in body.names else -1 for name in limb] for limb in names]
