"""Bodies in a throng, moved apart: where limbs of two people meet, both are moved a little, smoothly in time.

Local dynamics keep outlines of trunks apart. Legs that stride and arms that swing reach farther. So paths are moved by
a few centimetres for about a second around each such moment, until whole bodies are out of one another and out of
walls; then the bodies walk along the new paths. Other paths have other footprints, so feet may meet anew. In the end
single footprints are moved, which changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.crowd import _separation_kernels as kernels
from gaitway.crowd.dynamics.walls import WallHash
from gaitway.crowd.locomotion.walking import Walk
from gaitway.crowd.trajectories import Trajectories
from gaitway.motion.body import CapsuleBody, capsule_body
from gaitway.motion.clip import Clip

BAR = 0.008
"""Depth from which on bodies count as being in one another [m]; the audit's is a little larger."""
_MARGINS = (0.02, 0.016, 0.013, 0.01, 0.008, 0.006, 0.005, 0.004, 0.003, 0.002)
"""Distances that bodies keep when paths are moved for the first time, the second time and so on [m]. They fall, so that
in the end only those move who still touch."""
_WITH_LEGS = 3
"""In so many of these times lower legs count; after that they are left to the footprints."""
_FOOT_ROUNDS = 10
"""Number of times that footprints are moved."""
_FOOT_MARGIN = 0.012
"""Distance that lower legs keep [m]."""
_FARTHEST_PRINT = 0.12
"""Greatest move of a footprint [m]."""
_LOWER_LEG = ("knee", "foot", "toes")
"""Names of the capsules of a lower leg, after the side."""
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
    moved: Sequence[int] = range(len(tracks))
    walks = walker(tracks, moved)
    crowd = _Crowd([walks[k].clip() for k in moved], tracks.starts)
    for number, margin in enumerate(_MARGINS):
        apart = _separated(crowd, walls, margin, legs=number < _WITH_LEGS)
        if not apart.touching:
            break
        moved = [k for k, shift in enumerate(apart.shifts) if shift.any()]
        tracks = replace(tracks, positions=tracks.positions + np.concatenate(apart.shifts))
        walks |= walker(tracks, moved)
        for k in moved:
            crowd.set(k, walks[k].clip())
    _part_feet(crowd, [walks[k] for k in range(len(tracks))], walls)
    return crowd.clips


def _part_feet(crowd: _Crowd, walks: Sequence[Walk], walls: WallHash | None) -> None:
    """Move footprints of walks where lower legs meet, or are in walls."""
    moves = [tuple(np.zeros((int(walk.footprints[-1, k]) + 2, 2)) for k in range(2)) for walk in walks]
    pushes = np.zeros((len(crowd.roots), 2, 2))
    for _ in range(_FOOT_ROUNDS):
        kernels.part_feet(
            crowd.frames, crowd.rows, crowd.roots, crowd.segments, crowd.bodies, crowd.radii, crowd.lower_legs,
            crowd.extents, crowd.lasts, _FOOT_MARGIN, pushes,
        )  # fmt: skip
        if walls is not None:
            for k in range(2):
                pushes[:, k] += _out_of_walls(crowd, crowd.radii_of(crowd.lower_legs[:, k]), walls, _FOOT_MARGIN)
        if not pushes.any():
            break
        for number, (walk, rows) in enumerate(zip(walks, crowd.parts, strict=True)):
            if pushes[rows].any():
                left, right = moves[number]
                _move_prints(walk, 0, pushes[rows, 0], left)
                _move_prints(walk, 1, pushes[rows, 1], right)
                crowd.set(number, walk.with_footprints_moved((left, right)).clip())


def _out_of_walls(crowd: _Crowd, radii: FloatArray, walls: WallHash, margin: float) -> FloatArray:
    """Return the way that capsules with radii (B, C) must go in every row to be out of walls [m]; (R, 2)."""
    pushes, depths = np.zeros_like(crowd.roots), np.zeros(len(crowd.roots))
    kernels.part_from_walls(
        crowd.roots, np.zeros_like(crowd.roots), crowd.segments, crowd.bodies, radii, walls.place,
        np.array(walls.shape), walls.edges, walls.starts, walls.entries, margin, pushes, depths,
    )  # fmt: skip
    return pushes


def _move_prints(walk: Walk, foot: int, pushes: FloatArray, moves: FloatArray) -> None:
    """Add to the moves of footprints (P, 2) what pushes of a foot in every frame (F, 2) ask for."""
    prints, across = walk.footprints[:, foot], walk.across()[:, foot]
    lengths = np.hypot(pushes[:, 0], pushes[:, 1])
    for numbers, shares in ((prints, 1.0 - across), (np.minimum(prints + 1, len(moves) - 1), across)):
        rows = np.flatnonzero(lengths * shares > 0.0)
        # the deepest moment decides: a foot that swings past another is pushed one way before and the other way after
        deepest = {int(numbers[row]): row for row in rows[np.argsort((lengths * shares)[rows], kind="stable")].tolist()}
        for number, row in deepest.items():
            wish = moves[number] + pushes[row] * shares[row]
            moves[number] = wish * min(_FARTHEST_PRINT / max(float(np.hypot(*wish)), 1e-9), 1.0)


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


def separated(clips: Sequence[Clip], firsts: IntArray, walls: WallHash | None = None) -> Separation:
    """Find small moves that bring bodies out of one another and out of walls.

    Args:
        clips: motions of all people in the world, at one rate.
        firsts: first frame of each on the common clock; (C,).
        walls: edges of walls, or None.
    """
    return _separated(_Crowd(clips, firsts), walls, _MARGINS[0], legs=True)


def _separated(crowd: _Crowd, walls: WallHash | None, margin: float, *, legs: bool) -> Separation:
    """Find moves that bring bodies apart, see `separated`.

    Args:
        crowd: bodies.
        walls: edges of walls, or None.
        margin: distance that bodies keep [m].
        legs: whether lower legs count.
    """
    radii = crowd.radii if legs else crowd.radii - crowd.radii_of(crowd.lower_legs.reshape(len(crowd.radii), -1))
    shifts, pushes, depths = np.zeros_like(crowd.roots), np.zeros_like(crowd.roots), np.zeros(len(crowd.roots))
    changed = np.ones(len(crowd.roots), dtype=np.bool_)
    deepest, left, touching = 0.0, 0.0, 0
    for number in range(_ROUNDS + 1):
        kernels.part_people(
            crowd.frames, crowd.rows, crowd.roots, shifts, crowd.segments, crowd.bodies, radii, crowd.extents,
            changed, margin, pushes, depths,
        )  # fmt: skip
        if walls is not None:
            kernels.part_from_walls(
                crowd.roots, shifts, crowd.segments, crowd.bodies, radii, walls.place, np.array(walls.shape),
                walls.edges, walls.starts, walls.entries, margin, pushes, depths,
            )  # fmt: skip
        left = max(float(depths.max(initial=0.0)) - margin, 0.0)
        if number == 0:
            deepest, touching = left, int((depths > margin + BAR).sum())
        if number == _ROUNDS or not depths.any():
            break
        changed[:] = False
        for rows in crowd.parts:
            if depths[rows].any():
                move = _STEP * _held(pushes[rows], crowd.clips[0].fps)
                shifts[rows] += move
                changed[rows] = (np.abs(move) > 1e-6).any(axis=1)
    own = tuple(shifts[rows] for rows in crowd.parts)
    return Separation(shifts=own, deepest=deepest, touching=touching, left=left)


class _Crowd:
    """Bodies of all people in all frames, as kernels see them. This class is **mutable**.

    Attributes:
        clips: the motion of each person.
        parts: rows of each person.
        radii: radii of the capsules of each kind of body, 0 for those that it does not have [m]; (B, C).
        lower_legs: capsules of both lower legs of each kind of body, -1 for none; (B, 2, L).
        segments: axes of capsules [m]; (R, C, 2, 3).
        roots: where roots are [m]; (R, 2).
        extents: how far bodies reach from their roots [m]; (R,).
        bodies: kind of body; (R,).
        lasts: whether a row is the last of a person; (R,).
        rows: rows in the order of frames; (R,).
        frames: first entry of each frame in `rows`, and their number; (F + 1,).
    """

    def __init__(self, clips: Sequence[Clip], firsts: IntArray) -> None:
        self.clips = list(clips)
        ends = np.cumsum([0, *(len(clip) for clip in clips)]).tolist()
        self.parts = [slice(start, stop) for start, stop in pairwise(ends)]
        kinds = [capsule_body(kind) for kind in dict.fromkeys(clip.skeleton for clip in clips)]
        most, total = max(len(body) for body in kinds), ends[-1]
        self.radii: FloatArray = np.zeros((len(kinds), most))
        for number, body in enumerate(kinds):
            self.radii[number, : len(body)] = body.radii
        self.lower_legs: IntArray = np.array([_lower_legs(body) for body in kinds])
        self.segments: SingleArray = np.zeros((total, most, 2, 3), dtype=np.float32)
        self.roots: FloatArray = np.empty((total, 2))
        self.extents: FloatArray = np.empty(total)
        self.bodies: IntArray = np.empty(total, dtype=np.int64)
        for number, clip in enumerate(clips):
            self.bodies[self.parts[number]] = kinds.index(capsule_body(clip.skeleton))
            self.set(number, clip)
        self.lasts: BoolArray = np.zeros(total, dtype=np.bool_)
        self.lasts[[part.stop - 1 for part in self.parts]] = True
        clock = np.concatenate([np.arange(len(clip)) + first for clip, first in zip(clips, firsts, strict=True)])
        self.rows: IntArray = np.argsort(clock, kind="stable").astype(np.int64)
        cuts = np.flatnonzero(np.diff(clock[self.rows])) + 1
        self.frames: IntArray = np.concatenate([[0], cuts, [total]]).astype(np.int64)

    def set(self, number: int, clip: Clip) -> None:
        """Give a person another motion of the same length."""
        self.clips[number] = clip
        rows, body = self.parts[number], capsule_body(clip.skeleton)
        found, roots = body.segments(*clip.joint_transforms()), clip.root_positions[:, :2]
        self.segments[rows, : len(body)], self.roots[rows] = found, roots
        away = found[..., :2] - roots[:, None, None]
        self.extents[rows] = (np.hypot(away[..., 0], away[..., 1]).max(axis=2) + body.radii).max(axis=1)

    def radii_of(self, capsules: IntArray) -> FloatArray:
        """Return the radii of some capsules of each kind of body (B, L), and 0 for all others; (B, C)."""
        out = np.zeros_like(self.radii)
        for body, some in enumerate(capsules):
            own = some[some >= 0]
            out[body, own] = self.radii[body, own]
        return out


def _held(pushes: FloatArray, fps: float) -> FloatArray:
    """Return moves (F, 2) that are held for a while around each push, and are smooth."""
    out = np.zeros_like(pushes)
    for sign in (1.0, -1.0):
        one_way = np.maximum(sign * pushes, 0.0)
        longer = scipy.ndimage.maximum_filter1d(one_way, 2 * round(_HOLD_S * fps) + 1, axis=0, mode="nearest")
        out += sign * scipy.ndimage.gaussian_filter1d(longer, _SOFT_S * fps, axis=0, mode="nearest")
    return out


def _lower_legs(body: CapsuleBody) -> list[list[int]]:
    """Return the numbers of the capsules of both lower legs, -1 for those that a body does not have."""
    names = [[f"{side}_{part}" for part in _LOWER_LEG] for side in ("left", "right")]
    return [[body.names.index(name) if name in body.names else -1 for name in leg] for leg in names]
