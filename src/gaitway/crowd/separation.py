"""Bodies in a throng, moved apart: where limbs of two people meet, both are moved a little, smoothly in time.

Local dynamics keep outlines of trunks apart. Legs that stride reach farther. So paths are moved by some centimetres for
about a second around each such moment, and the bodies walk along the new paths, with other footprints. After a few
times walks are moved as they are: feet are lifted and set down when they were, so that nobody else is met anew. Single
footprints, and feet in the middle of a swing, are moved besides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.crowd import _separation_kernels as kernels
from gaitway.crowd.dynamics.walls import WallHash
from gaitway.crowd.locomotion.walking import Walk
from gaitway.crowd.throng_bodies import ThrongBodies
from gaitway.crowd.trajectories import Trajectories
from gaitway.motion.clip import Clip

BAR = 0.008
"""Depth from which on bodies count as being in one another [m]; the audit's is a little larger."""
_MARGINS = (0.02, 0.018, 0.016, 0.014)
"""Distances that bodies keep when paths are moved for the first time, the second time and so on [m]."""
_LAST_MARGINS = (0.012, 0.012, 0.01, 0.01, 0.008, 0.008, 0.007, 0.007, 0.006, 0.006, *(0.005,) * 6, *(0.004,) * 8)
"""The same when walks are moved as they are. They fall, so that in the end only those move who still touch."""
_FARTHEST = 0.12
"""Greatest move of a path [m]."""
_FARTHEST_SHIFT, _LAST_SHIFT = 0.05, 0.05
"""Greatest move of a walk as it is, and how much farther those go who touch until the last [m]."""
_WITH_LEGS = 2
"""In so many of these times lower legs count; after that they are left to the footprints."""
_FOOT_ROUNDS = 3
"""Number of times that footprints are moved after each of them."""
_FOOT_MARGIN = 0.012
"""Distance that lower legs keep [m]."""
_FOOT_BAR = 0.003
"""Depth from which on lower legs are moved further [m]."""
_FARTHEST_PRINT = 0.12
"""Greatest move of a footprint [m]."""
_ROUNDS = 12
"""Largest number of times that bodies are moved before they walk anew."""
_HOLD_S, _SOFT_S = 0.15, 0.13
"""Time for which a move is held before and after, and standard deviation of what then makes it smooth [s]."""
_STEP = 0.7
"""Share of a move that is made at once, so that a body between two others does not swing to and fro."""


Walker = Callable[[Trajectories, Sequence[int]], dict[int, Walk]]
"""Lets some people walk along trajectories; returns their walks by number."""


def walk_apart(tracks: Trajectories, walker: Walker, walls: WallHash | None = None) -> list[Clip]:
    """Let everybody walk along trajectories without touching others or walls, as far as small moves serve for it.

    Args:
        tracks: where people go; all of one rate, which is that of the walks.
        walker: lets people walk.
        walls: edges of walls, or None.

    Returns:
        The motion of each person.
    """
    walks = walker(tracks, range(len(tracks)))
    bodies = ThrongBodies([walks[k] for k in range(len(tracks))], tracks.starts)
    before = np.zeros_like(tracks.positions)
    for number, margin in enumerate(_MARGINS):
        apart = _separated(bodies, walls, margin, before, _FARTHEST, legs=number < _WITH_LEGS)
        if not apart.touching:
            break
        before = before + np.concatenate(apart.shifts)
        along = replace(tracks, positions=tracks.positions + before)
        bodies.walk_anew(walker(along, [k for k, shift in enumerate(apart.shifts) if shift.any()]))
    bodies.fresh[:] = True
    for number, margin in enumerate(_LAST_MARGINS):
        most = _FARTHEST_SHIFT + number / len(_LAST_MARGINS) * _LAST_SHIFT
        apart = _separated(bodies, walls, margin, bodies.shifts, most, legs=False)
        bodies.shifts += np.concatenate(apart.shifts)
        bodies.move([k for k, shift in enumerate(apart.shifts) if shift.any()])
        feet = 0
        for _ in range(_FOOT_ROUNDS):
            feet = _part_feet(bodies, walls, _FOOT_MARGIN)
            if not feet:
                break
        if not apart.touching and not feet:
            break
    return bodies.clips()


def _bounded(shifts: FloatArray, most: float) -> FloatArray:
    """Return moves (N, 2) that are brought under a length softly; short ones hardly change."""
    long = (shifts[:, 0] ** 2 + shifts[:, 1] ** 2) / most**2
    return np.asarray(shifts / np.sqrt(np.sqrt(1.0 + long * long))[:, None])


def _part_feet(bodies: ThrongBodies, walls: WallHash | None, margin: float) -> int:
    """Move footprints where lower legs meet, or are in walls; returns how many people are not yet apart."""
    pushes = np.zeros((len(bodies.roots), 2, 2))
    kernels.part_feet(
        bodies.frames, bodies.rows, bodies.roots, bodies.segments, bodies.bodies, bodies.radii, bodies.lower_legs,
        bodies.extents, bodies.lasts, bodies.stepped, margin, pushes,
    )  # fmt: skip
    if walls is not None:
        rows = np.flatnonzero(bodies.stepped & _near_walls(bodies, walls))
        still, depths = np.zeros_like(bodies.roots), np.zeros(len(bodies.roots))
        for k in range(2):
            radii = bodies.radii_of(bodies.lower_legs[:, k])
            _push_out_of_walls(bodies, rows, still, radii, walls, margin, pushes[:, k], depths)
    bodies.stepped[:] = False  # who is apart now stays apart until it is moved
    people, deep = [], 0
    for number, (walk, part) in enumerate(zip(bodies.walks, bodies.parts, strict=True)):
        if pushes[part].any():
            people.append(number)
            deep += bool(np.hypot(pushes[part, :, 0], pushes[part, :, 1]).max() > 0.5 * (margin + _FOOT_BAR))
            for k, moves in enumerate(bodies.moves[number]):
                _move_prints(walk, k, pushes[part, k], moves)
    bodies.move(people)
    return deep


def _near_walls(crowd: ThrongBodies, walls: WallHash) -> BoolArray:
    """Return which rows are in cells that have walls; (R,)."""
    cells = ((crowd.roots - walls.place[:2]) * walls.place[2]).astype(np.int64)
    cells = np.clip(cells, 0, np.array(walls.shape) - 1)
    numbers = cells[:, 0] * walls.shape[1] + cells[:, 1]
    return np.asarray(walls.starts[numbers + 1] > walls.starts[numbers])


def _push_out_of_walls(
    crowd: ThrongBodies, rows: IntArray, shifts: FloatArray, radii: FloatArray, walls: WallHash, margin: float,
    pushes: FloatArray, depths: FloatArray,
) -> BoolArray:  # fmt: skip
    """Add the way that some rows must go to be out of walls [m] to `pushes` (R, 2), and raise `depths` (R,).

    Args:
        crowd: bodies.
        rows: which rows; (N,).
        shifts: how far people were moved [m]; (R, 2).
        radii: radii of capsules, 0 for those that do not count [m]; (B, C).
        walls: edges of walls.
        margin: distance that bodies keep [m].
        pushes: way to go [m]; (R, 2).
        depths: how deep each is in something [m]; (R,).

    Returns:
        Which rows are in walls; (R,).
    """
    own, deep = np.zeros((len(rows), 2)), np.zeros(len(rows))
    kernels.part_from_walls(
        crowd.roots[rows], shifts[rows], crowd.segments[rows], crowd.bodies[rows], radii, walls.place,
        np.array(walls.shape), walls.edges, walls.starts, walls.entries, margin, own, deep,
    )  # fmt: skip
    pushes[rows] += own
    depths[rows] = np.maximum(depths[rows], deep)
    inside = np.zeros(len(depths), dtype=np.bool_)
    inside[rows] = deep > 0.0
    return inside


def _move_prints(walk: Walk, foot: int, pushes: FloatArray, moves: FloatArray) -> None:
    """Add to the moves of footprints, and of the swings that follow (P, 4), what pushes of a foot (F, 2) ask for."""
    prints, across = walk.footprints[:, foot], walk.across()[:, foot]
    lengths = np.hypot(pushes[:, 0], pushes[:, 1])
    for column, numbers, shares in (
        (0, prints, 1.0 - across),
        (0, np.minimum(prints + 1, len(moves) - 1), across),
        (2, prints, 4.0 * across * (1.0 - across)),
    ):
        rows = np.flatnonzero(lengths * shares > 0.0)
        # the deepest moment decides: a foot that swings past another is pushed one way before and the other way after
        deepest = {int(numbers[row]): row for row in rows[np.argsort((lengths * shares)[rows], kind="stable")].tolist()}
        for number, row in deepest.items():
            wish = moves[number, column : column + 2] + pushes[row] * shares[row]
            scale = min(_FARTHEST_PRINT / max(float(np.hypot(*wish)), 1e-9), 1.0)
            moves[number, column : column + 2] = wish * scale


@dataclass(frozen=True, eq=False, kw_only=True)
class Separation:
    """How bodies were moved apart."""

    shifts: tuple[FloatArray, ...]
    """How far each person is moved in each frame [m]; (F, 2) each."""
    deepest: float
    """How deep bodies were in one another, or in walls, before [m]."""
    touching: int
    """In how many frames of how many people that was more than the bar, all added up."""
    left: float
    """How deep they are after it, if they are moved stiffly [m]."""


def separated(walks: Sequence[Walk], firsts: IntArray, walls: WallHash | None = None) -> Separation:
    """Find small moves that bring bodies out of one another and out of walls.

    Args:
        walks: how all people walk, at one rate.
        firsts: first frame of each on the common clock; (C,).
        walls: edges of walls, or None.
    """
    bodies = ThrongBodies(walks, firsts)
    return _separated(bodies, walls, _MARGINS[0], np.zeros_like(bodies.roots), _FARTHEST)


def _separated(
    crowd: ThrongBodies, walls: WallHash | None, margin: float, before: FloatArray, most: float, *, legs: bool = True
) -> Separation:
    """Find moves that bring bodies apart, see `separated`.

    Args:
        crowd: bodies.
        walls: edges of walls, or None.
        margin: distance that bodies keep [m].
        before: how far people were moved before [m]; (R, 2).
        most: greatest length of that and of the new moves together [m].
        legs: whether lower legs count.
    """
    radii = crowd.radii if legs else crowd.radii - crowd.radii_of(crowd.lower_legs.reshape(len(crowd.radii), -1))
    shifts, pushes, depths = np.zeros_like(crowd.roots), np.zeros_like(crowd.roots), np.zeros(len(crowd.roots))
    changed = crowd.fresh.copy()
    near = np.zeros_like(changed) if walls is None else _near_walls(crowd, walls)
    inside = np.zeros_like(changed)
    deepest, left, touching = 0.0, 0.0, 0
    for number in range(_ROUNDS + 1):
        kernels.part_people(
            crowd.frames, crowd.rows, crowd.roots, shifts, crowd.segments, crowd.bodies, radii, crowd.extents,
            changed, margin, pushes, depths,
        )  # fmt: skip
        if walls is not None:
            rows = np.flatnonzero(near & (changed | inside))
            inside = _push_out_of_walls(crowd, rows, shifts, radii, walls, margin, pushes, depths)
        left = max(float(depths.max(initial=0.0)) - margin, 0.0)
        if number == 0:
            deepest, touching = left, int((depths > margin + BAR).sum())
        if number == _ROUNDS or not depths.any():
            break
        changed[:] = False
        for part in crowd.parts:
            if depths[part].any():
                wish = shifts[part] + _STEP * _held(pushes[part], crowd.fps)
                moved = _bounded(before[part] + wish, most) - before[part]
                changed[part] = (np.abs(moved - shifts[part]) > 1e-6).any(axis=1)
                shifts[part] = np.where(changed[part, None], moved, shifts[part])
    crowd.fresh[:] = depths > 0.0  # all others are still apart the next time, unless they are moved until then
    own = tuple(shifts[part] for part in crowd.parts)
    return Separation(shifts=own, deepest=deepest, touching=touching, left=left)


def _held(pushes: FloatArray, fps: float) -> FloatArray:
    """Return moves (F, 2) that are held for a while around each push, and are smooth."""
    out = np.zeros_like(pushes)
    pushed = np.flatnonzero(pushes.any(axis=1))
    if not len(pushed):
        return out
    hold = round(_HOLD_S * fps)
    reach = hold + int(4.0 * _SOFT_S * fps + 0.5) + 1  # beyond this nothing is moved
    rows = slice(max(int(pushed[0]) - reach, 0), int(pushed[-1]) + reach + 1)
    for sign in (1.0, -1.0):
        one_way = np.maximum(sign * pushes[rows], 0.0)
        longer = scipy.ndimage.maximum_filter1d(one_way, 2 * hold + 1, axis=0, mode="nearest")
        out[rows] += sign * scipy.ndimage.gaussian_filter1d(longer, _SOFT_S * fps, axis=0, mode="nearest")
    return out
