"""Whole bodies of people in a live throng, who come and go; and which stride leads on from a pose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core import planar, rotations
from gaitway.core.archives import Arrays
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.crowd.locomotion._feet_kernels import (
    ACROSS,
    CALM,
    CELL,
    FOOT,
    FOOT_WIDTH,
    FROM_X,
    HERE,
    STEP_FEET,
    STEP_WIDTH,
    STEP_X,
    STEP_Y,
    SWUNG,
    THERE,
    TO_X,
)
from gaitway.crowd.locomotion.live import BodyState, advance, begin_bodies, pose_bodies, set_down, shift_feet
from gaitway.crowd.locomotion.posing import posed
from gaitway.crowd.locomotion.space import LocomotionSpace
from gaitway.crowd.throng import _reach_kernels

_PHASES = 24
"""Phases of a stride that are compared with a pose."""
_STANDS = 0.25
"""Who is slower than this stands [m/s]."""
_ARRAYS = ("styles", "path", "velocity", "close", "lowered", "habits", "feet", "drops", "steps", "corners")
_LARGEST = 1e7
_FEET_APART, _BESIDE = 0.1, 0.3
"""Least distance aside between feet that are moved out of the way of others, and how far ahead they are beside [m]."""
_NEARLY_DOWN = 0.7
"""Share of a swing after which the footprint of somebody who waits stays where it is."""
_STRETCHED, _HURRY = 0.6, 0.6
"""Share of the farthest that a foot may be from which on feet hurry, and how much faster they go on at the farthest."""
_FOLLOW_S, _TURN_S = 0.09, 0.2
"""Times over which bodies smooth the places and the headings that the dynamics have [s]."""


class ThrongBodies:
    """Bodies of one velocity space. This class is **mutable**.

    Attributes:
        space: their gaits.
        slots: numbers in the engine; (N,).
        roots: positions of their roots now [m]; (N, 3).
        turns: local rotations now, wxyz; (N, J, 4).
        down: whether heel, ball and toe of the left and of the right foot rest; (N, 6).
    """

    def __init__(self, space: LocomotionSpace) -> None:
        """Make it without people."""
        self.space = space
        self.slots: IntArray = np.empty(0, np.int64)
        self._state = begin_bodies(space, np.empty((0, 2)), np.empty(0))
        self.roots: FloatArray
        self.turns: FloatArray
        self.down: BoolArray
        self._pose(0.0)

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def headings(self) -> FloatArray:
        """Which way trunks face [rad]; (N,)."""
        return self._state.path[:, 2]

    @property
    def places(self) -> FloatArray:
        """Where roots are, from above [m]; (N, 2)."""
        return self._state.path[:, :2]

    def join(
        self, slots: IntArray, places: FloatArray, headings: FloatArray, velocities: FloatArray, turns: FloatArray,
        seed: int,
    ) -> None:  # fmt: skip
        """Add people in the stride whose legs are most like those that they have.

        Args:
            slots: numbers in the engine; (N,).
            places: x, y [m]; (N, 2).
            headings: which way they face [rad]; (N,).
            velocities: in the world [m/s]; (N, 2).
            turns: local rotations that they have; (N, J, 4).
            seed: draws how they tuck their arms.
        """
        count = len(slots)
        going = np.hypot(*velocities.T) >= _STANDS
        speeds = np.where(going[:, None], velocities, 0.0)
        tried = begin_bodies(
            self.space, np.repeat(places, _PHASES, axis=0), np.repeat(headings, _PHASES),
            velocities=np.repeat(speeds, _PHASES, axis=0), phases=np.tile(np.arange(_PHASES) / _PHASES, count),
            styles=np.zeros(count * _PHASES, np.int64),
        )  # fmt: skip
        poses = pose_bodies(tried).rotations.astype(np.float64)
        apart = leg_distance(self.space, poses, np.repeat(turns, _PHASES, axis=0)).reshape(count, _PHASES)
        fresh = begin_bodies(
            self.space, places, headings, velocities=speeds, phases=apart.argmin(axis=1) / _PHASES,
            styles=np.zeros(count, np.int64), seed=seed,
        )  # fmt: skip
        self._state = _joined(self._state, fresh)
        self.slots = np.concatenate([self.slots, slots])
        self._pose(0.0)

    def stand(self, slots: IntArray, places: FloatArray, headings: FloatArray, styles: IntArray, seed: int) -> None:
        """Add people who stand.

        Args:
            slots: their numbers; (N,).
            places: x, y [m]; (N, 2).
            headings: which way they face [rad]; (N,).
            styles: their styles; (N,).
            seed: draws how they tuck their arms, and which foot they begin with.
        """
        self._state = _joined(self._state, begin_bodies(self.space, places, headings, styles=styles, seed=seed))
        self.slots = np.concatenate([self.slots, slots])
        self._pose(0.0)

    def leave(self, slots: IntArray) -> None:
        """Remove people."""
        keep = ~np.isin(self.slots, slots)
        if not keep.all():
            self._state = replace(self._state, **{name: getattr(self._state, name)[keep] for name in _ARRAYS})
            self.slots = self.slots[keep]
            self.roots, self.turns, self.down = self.roots[keep], self.turns[keep], self.down[keep]

    def follow(
        self, places: FloatArray, headings: FloatArray, dt: float, lowered: FloatArray, paces: FloatArray, threads: int
    ) -> None:
        """Let bodies follow to where people are now; see `gaitway.crowd.locomotion.advance`."""
        if len(self.slots):
            advance(self._state, places, headings, dt, lowered=lowered, paces=paces, threads=threads)
            self._pose(dt, threads)

    def turned_as_feet_allow(self, headings: FloatArray, dt: float | FloatArray) -> FloatArray:
        """Return headings [rad] (N,), held back where feet that stand would be twisted too far until they step.

        Args:
            headings: wished headings [rad]; (N,).
            dt: time since the bodies had their headings of now, or one for each (N,) [s].
        """
        state, out = self._state, np.array(headings, dtype=np.float64)
        seconds = np.broadcast_to(np.asarray(dt, dtype=np.float64), out.shape).copy()
        _reach_kernels.hold_headings(state.path, state.velocity, state.feet, seconds, out)
        return out

    def held_by_feet(self, places: FloatArray) -> FloatArray:
        """Return how far roots stay behind places that they should be at, since feet hold them back [m].

        Nobody leaves a foot behind: who is farther from a foot than a stride goes no farther from it until that foot
        has stepped.

        Args:
            places: where roots should be [m]; (N, 2).

        Returns:
            Moves to where they can be [m]; (N, 2).
        """
        state, at = self._state, np.array(places, dtype=np.float64)
        _reach_kernels.hold_roots(state.path, state.velocity, state.feet, at)
        return np.asarray(at - places)

    def hurried(self) -> FloatArray:
        """Return by which factor feet go on faster than time, since one is almost left behind; (N,)."""
        stretches = np.zeros(len(self))
        _reach_kernels.find_stretches(self._state.path, self._state.velocity, self._state.feet, stretches)
        return np.asarray(1.0 + _HURRY * np.clip((stretches - _STRETCHED) / (1.0 - _STRETCHED), 0.0, 1.0))

    def calm_down(self, shares: FloatArray) -> None:
        """Let feet of people who stand step only if they are farther from where they should be, by a share (N,)."""
        self._state.feet[:, CALM] = shares

    def set_down(self, rows: IntArray, dt: float) -> IntArray:
        """Let some people (M,) set their swinging feet down where these are, if one can stand so, for a time [s].

        Returns:
            Who could; (L,).
        """
        able: BoolArray = np.ones(len(self), np.bool_)
        if len(rows):
            _reach_kernels.could_stand(self._state.path, self._state.feet, able)
            rows = rows[able[rows]]
        if len(rows):
            set_down(self._state, rows, dt)
            self._pose_again(rows)
        return rows

    def shift(self, rows: IntArray, dt: float) -> None:
        """Let the feet of some people (M,) go on to where they stand well, below roots that stay, for a time [s]."""
        if len(rows):
            shift_feet(self._state, rows, dt)
            self._pose_again(rows)

    @property
    def swings(self) -> FloatArray:
        """Share of its swing that each foot has done, -1 for a foot that stands; (N, 2)."""
        return self._state.feet[:, [FOOT + SWUNG, FOOT + FOOT_WIDTH + SWUNG]]

    def prints(self) -> FloatArray:
        """Return where feet stand, or will be set down: x, y [m], direction [rad]; (N, 2, 3)."""
        feet = self._state.feet
        out = np.empty((len(feet), 2, 3))
        for k in range(2):
            foot = FOOT + k * FOOT_WIDTH
            stands = feet[:, foot + SWUNG] < 0.0
            there, here = feet[:, foot + TO_X : foot + TO_X + 3], feet[:, foot + FROM_X : foot + FROM_X + 3]
            out[:, k] = np.where(stands[:, None], here, there)
        return out

    def uncrossed(self, moves: FloatArray) -> FloatArray:
        """Return moves of coming footprints (N, 2, 2) [m] that set no foot down across the other one."""
        out, heading = moves.copy(), self._state.path[:, 2]
        prints, aside = self.prints()[..., :2], np.column_stack([-np.sin(heading), np.cos(heading)])
        for k, sign in enumerate((1.0, -1.0)):
            apart = prints[:, k] + out[:, k] - prints[:, 1 - k] - out[:, 1 - k]
            along = np.cos(heading) * apart[:, 0] + np.sin(heading) * apart[:, 1]
            lack = np.maximum(_FEET_APART - sign * (apart * aside).sum(axis=1), 0.0)
            lack[(np.abs(along) > _BESIDE) | (self.swings[:, k] < 0.0)] = 0.0
            out[:, k] += sign * lack[:, None] * aside
        return out

    def push(self, roots: FloatArray, feet: FloatArray, prints: FloatArray) -> BoolArray:
        """Move bodies as they are now; return who was moved (N,).

        Args:
            roots: how far each root goes, feet that stand stay [m]; (N, 2).
            feet: how far each foot goes that swings, and its next footprint with it [m]; (N, 2, 2).
            prints: how far the next footprint of each foot that swings goes besides [m]; (N, 2, 2).
        """
        state, moved = self._state, np.asarray(roots.any(axis=1))
        state.path[:, :2] += roots
        here, more = np.array(feet, dtype=np.float64), np.array(prints, dtype=np.float64)
        _reach_kernels.hold_feet(state.path, state.velocity, state.feet, here, more)
        there = here + more
        state.steps[:, STEP_X] += roots[:, 0]
        state.steps[:, STEP_Y] += roots[:, 1]
        for k in range(2):
            foot, step = FOOT + k * FOOT_WIDTH, STEP_FEET + k * STEP_WIDTH
            state.feet[:, foot + FROM_X : foot + FROM_X + 2] += here[:, k]
            state.feet[:, foot + TO_X : foot + TO_X + 2] += there[:, k]
            state.steps[:, step + HERE : step + HERE + 2] += here[:, k]
            state.steps[:, step + THERE : step + THERE + 2] += there[:, k]
        moved |= here.any(axis=(1, 2)) | there.any(axis=(1, 2))
        rows = np.flatnonzero(moved)
        if len(rows):
            self._pose_again(rows)
        return np.asarray(moved)

    def redirect(self, rows: IntArray, prints: FloatArray) -> None:
        """Let the coming footprints of some people (M,) be elsewhere; their feet stay where they are for now.

        Args:
            rows: who.
            prints: how far the next footprint of each foot that swings goes [m]; (N, 2, 2).
        """
        state, more = self._state, np.zeros_like(prints)
        more[rows] = prints[rows]
        _reach_kernels.hold_feet(state.path, state.velocity, state.feet, np.zeros_like(more), more)
        for k in range(2):
            foot, step = FOOT + k * FOOT_WIDTH, STEP_FEET + k * STEP_WIDTH
            own = rows[state.feet[rows, foot + SWUNG] < _NEARLY_DOWN]
            share = state.steps[own, step + ACROSS, None]
            back = -share / (1.0 - share) * more[own, k]
            for table, first, last in (
                (state.feet, foot + FROM_X, foot + TO_X),
                (state.steps, step + HERE, step + THERE),
            ):
                table[own, first : first + 2] += back
                table[own, last : last + 2] += more[own, k]

    def state(self) -> Arrays:
        """Return what `restore` needs."""
        poses: Arrays = {"slots": self.slots.copy(), "roots": self.roots.copy(), "turns": self.turns.copy()}
        poses["down"] = self.down.copy()
        return poses | {name: getattr(self._state, name).copy() for name in _ARRAYS}

    def put_back(self, arrays: Arrays, slots: IntArray) -> None:
        """Let some people be as they were when `state` was asked for."""
        now, then = rows_in(self.slots, slots), rows_in(arrays["slots"], slots)
        for name in _ARRAYS:
            getattr(self._state, name)[now] = arrays[name][then]
        self.roots[now], self.turns[now], self.down[now] = (arrays[name][then] for name in ("roots", "turns", "down"))

    @property
    def feet_now(self) -> FloatArray:
        """Return where ankles are now, from above [m]; (N, 2, 2)."""
        steps, out = self._state.steps, np.empty((len(self), 2, 2))
        for k in range(2):
            at = STEP_FEET + k * STEP_WIDTH
            here, there = steps[:, at + HERE : at + HERE + 2], steps[:, at + THERE : at + THERE + 2]
            out[:, k] = here + np.maximum(steps[:, at + ACROSS, None], 0.0) * (there - here)
        return out

    def snapshot(self, rows: IntArray) -> FloatArray:
        """Return all of some people (M,) that `show_again` needs; (M, W)."""
        tables = [getattr(self._state, name)[rows] for name in _ARRAYS]
        tables += [self.roots[rows], self.turns[rows], self.down[rows]]
        return np.concatenate([_flat(table) for table in tables], axis=1)

    def show_again(self, rows: IntArray, snapshots: FloatArray) -> None:
        """Let some people (M,) be as they were when `snapshot` was asked for (M, W)."""
        first = 0
        for table in (*(getattr(self._state, name) for name in _ARRAYS), self.roots, self.turns, self.down):
            width = int(np.prod(table.shape[1:], dtype=np.int64))
            table[rows] = snapshots[:, first : first + width].reshape(len(rows), *table.shape[1:])
            first += width

    def restore(self, arrays: Arrays) -> None:
        """Go on from a saved state.

        Raises:
            ValueError: if it cannot be.
        """
        count, changed = len(arrays["slots"]), dict[str, Any]()
        for name in _ARRAYS:
            now, found = getattr(self._state, name), np.array(arrays[name])
            if found.shape != (count, *now.shape[1:]) or not (np.abs(found.astype(np.float64)) <= _LARGEST).all():
                raise ValueError("bodies of a throng that cannot be")
            changed[name] = found.astype(now.dtype)
        if not self._can_be(changed["styles"], changed["feet"], changed["corners"]):
            raise ValueError("bodies of a throng that cannot be")
        self._state = replace(self._state, **changed)
        self.slots = np.array(arrays["slots"], np.int64)
        self._pose(0.0)
        for name in ("roots", "turns", "down"):
            now, found = getattr(self, name), np.array(arrays[name])
            if found.shape != now.shape or not (np.abs(found.astype(np.float64)) <= _LARGEST).all():
                raise ValueError("bodies of a throng that cannot be")
            setattr(self, name, found.astype(now.dtype))

    def can_show(self, snapshots: FloatArray) -> bool:
        """Return whether snapshots from elsewhere (M, W) are of bodies that can be."""
        first, parts = 0, dict[str, FloatArray]()
        for name in _ARRAYS:
            shape = getattr(self._state, name).shape[1:]
            width = int(np.prod(shape, dtype=np.int64))
            parts[name] = snapshots[:, first : first + width].reshape(len(snapshots), *shape)
            first += width
        return self._can_be(parts["styles"], parts["feet"], parts["corners"])

    def _can_be(self, styles: npt.NDArray[Any], feet: npt.NDArray[Any], corners: npt.NDArray[Any]) -> bool:
        """Return whether there are such styles (M,), states of feet (M, F) and cycles (M, 4)."""
        cells, swings = feet[:, CELL], feet[:, [FOOT + SWUNG, FOOT + FOOT_WIDTH + SWUNG]]
        return bool(
            ((corners >= 0) & (corners < len(self.space.names))).all()
            and (styles == 0).all()
            and ((cells >= 0) & (cells < len(self.space.simplices))).all()
            and (np.abs(swings) <= 2.0).all()
        )

    def _pose_again(self, rows: IntArray) -> None:
        """Pose some people (M,) anew, whose pelves stay as high as they are."""
        state = self._state
        poses = posed(state.space, state.styles[rows], state.steps[rows], state.corners[rows], state.drops[rows])
        self.roots[rows], self.turns[rows], self.down[rows] = poses.roots, _units(poses.rotations), poses.down

    def _pose(self, dt: float, threads: int = 1) -> None:
        poses = pose_bodies(self._state, dt, threads=threads)
        self.roots, self.turns, self.down = poses.roots, _units(poses.rotations), poses.down


def _units(turns: SingleArray) -> FloatArray:
    """Return rotations (N, J, 4) that are of length 1 in double precision, too."""
    out = turns.astype(np.float64)
    w, x, y, z = (out[..., k] for k in range(4))
    out /= np.sqrt(w * w + x * x + y * y + z * z)[..., None]
    return out


def leg_distance(space: LocomotionSpace, some: FloatArray, others: FloatArray) -> FloatArray:
    """Return how far the legs of poses differ: root of the summed squares of angles at hips, knees and ankles [rad].

    Args:
        space: space of the skeleton.
        some: local rotations; (N, J, 4).
        others: local rotations; (N, J, 4).
    """
    joints = space.rig.legs[:, :3].ravel()
    angles = rotations.angle_between(some[..., joints, :], others[..., joints, :])
    return np.asarray(np.sqrt((angles**2).sum(axis=-1)))


def smooth_paths(path: FloatArray, places: FloatArray, headings: FloatArray, dt: float) -> None:
    """Let paths follow places and headings without lag while these go on evenly (an alpha-beta filter); in place.

    Args:
        path: x, y [m], velocity [m/s], heading [rad] and its rate [rad/s]; (N, 6).
        places: x, y [m]; (N, 2).
        headings: headings [rad]; (N,).
        dt: time [s].
    """
    for at, rate, seconds in ((slice(0, 2), slice(2, 4), _FOLLOW_S), (slice(4, 5), slice(5, 6), _TURN_S)):
        keep = float(np.exp(-dt / seconds))
        ahead = path[:, at] + dt * path[:, rate]
        away = (places if at.start == 0 else headings[:, None]) - ahead
        if at.start:
            away = planar.wrap_angle(away)
        # a critically damped filter of second order: both of its poles are `keep`
        path[:, at] = ahead + (1.0 - keep * keep) * away
        path[:, rate] += (1.0 - keep) ** 2 / dt * away


def rows_in(slots: IntArray, wanted: IntArray) -> IntArray:
    """Return the rows of some numbers among others, -1 for those that are not there; (N,)."""
    if not len(slots):
        return np.full(len(wanted), -1)
    order = np.argsort(slots, kind="stable")
    rows = order[np.minimum(np.searchsorted(slots[order], wanted), len(slots) - 1)]
    return np.where(slots[rows] == wanted, rows, -1)


def _flat(table: npt.NDArray[Any]) -> FloatArray:
    """Return a table (N, ...) as rows of numbers (N, W)."""
    return table.reshape(len(table), int(np.prod(table.shape[1:], dtype=np.int64))).astype(np.float64)


def _joined(some: BodyState, more: BodyState) -> BodyState:
    rows: dict[str, Any] = {name: np.concatenate([getattr(some, name), getattr(more, name)]) for name in _ARRAYS}
    return replace(some, **rows)
