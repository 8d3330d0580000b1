"""Whole bodies of people in a live throng, who come and go; and which stride leads on from a pose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gaitway.core import rotations
from gaitway.core.archives import Arrays
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.crowd.locomotion._feet_kernels import CELL, FOOT, FOOT_WIDTH, SWUNG
from gaitway.crowd.locomotion.live import BodyState, advance, begin_bodies, pose_bodies
from gaitway.crowd.locomotion.space import LocomotionSpace

_PHASES = 24
"""Phases of a stride that are compared with a pose."""
_STANDS = 0.25
"""Who is slower than this stands [m/s]."""
_ARRAYS = ("styles", "path", "velocity", "close", "habits", "feet", "drops", "steps", "corners")
_LARGEST = 1e7


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
        fresh.close[:] = 0.0
        self._state = _joined(self._state, fresh)
        self.slots = np.concatenate([self.slots, slots])
        self._pose(0.0)

    def leave(self, slots: IntArray) -> None:
        """Remove people."""
        keep = ~np.isin(self.slots, slots)
        if not keep.all():
            self._state = replace(self._state, **{name: getattr(self._state, name)[keep] for name in _ARRAYS})
            self.slots = self.slots[keep]
            self.roots, self.turns, self.down = self.roots[keep], self.turns[keep], self.down[keep]

    def follow(self, places: FloatArray, headings: FloatArray, dt: float, close: FloatArray, threads: int) -> None:
        """Let bodies follow to where people are now; see `gaitway.crowd.locomotion.advance`."""
        if len(self.slots):
            advance(self._state, places, headings, dt, close=close, threads=threads)
            self._pose(dt, threads)

    def state(self) -> Arrays:
        """Return what `restore` needs."""
        poses = {"slots": self.slots.copy(), "roots": self.roots.copy(), "turns": self.turns.copy(), "down": self.down}
        return poses | {name: getattr(self._state, name).copy() for name in _ARRAYS}

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
        feet, space = changed["feet"], self.space
        cells, swings = feet[:, CELL], feet[:, [FOOT + SWUNG, FOOT + FOOT_WIDTH + SWUNG]]
        inside = (changed["corners"] >= 0) & (changed["corners"] < len(space.names))
        if not (
            inside.all()
            and (changed["styles"] == 0).all()
            and ((cells >= 0) & (cells < len(space.simplices))).all()
            and (np.abs(swings) <= 2.0).all()
        ):
            raise ValueError("bodies of a throng that cannot be")
        self._state = replace(self._state, **changed)
        self.slots = np.array(arrays["slots"], np.int64)
        self._pose(0.0)
        for name in ("roots", "turns", "down"):
            now, found = getattr(self, name), np.array(arrays[name])
            if found.shape != now.shape or not (np.abs(found.astype(np.float64)) <= _LARGEST).all():
                raise ValueError("bodies of a throng that cannot be")
            setattr(self, name, found.astype(now.dtype))

    def _pose(self, dt: float, threads: int = 1) -> None:
        poses = pose_bodies(self._state, dt, threads=threads)
        self.roots = poses.roots
        turns = poses.rotations.astype(np.float64)
        self.turns = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
        self.down = poses.down


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


def _joined(some: BodyState, more: BodyState) -> BodyState:
    rows: dict[str, Any] = {name: np.concatenate([getattr(some, name), getattr(more, name)]) for name in _ARRAYS}
    return replace(some, **rows)
