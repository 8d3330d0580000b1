"""Hand-overs of bodies between clips and the dynamics: what differs at that moment dies away, and feet stay planted.

The difference of the two poses is added to the one that takes over, and decays. Feet are led apart from that: a foot
that rests keeps its place and its direction until it is lifted, and what it differs by decays while it swings.
"""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.core.archives import Arrays
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.crowd.throng.bodies import rows_in
from gaitway.motion.anatomy import pole_direction
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG, set_limb, two_bone
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.limits import clamp, joint_limits, violations
from gaitway.motion.skeleton import Skeleton

BLEND = 0.45
"""Time over which the difference of two poses dies away [s]."""
_SWING = 0.3
"""Time of a swing over which what a foot differs by dies away [s]."""
_UNDER = 0.002
"""Depth under the floor from which on a foot is lifted out of it [m]."""
_FAINT_MOVE, _FAINT_TURN = 0.0015, 0.01
"""What a foot may differ by where a hand-over is over: moves [m] and turns [rad]."""
_STRAINED = 0.5
"""How far ankles may be bent beyond their limits before they are bent back [degrees]."""
_LEGS = (LEFT_LEG, RIGHT_LEG)
_COLUMNS = ("slots", "ages", "roots", "turns", "feet", "foot_turns", "shares")


class HandOvers:
    """Bodies of one skeleton that were handed over lately. This class is **mutable**.

    Attributes:
        skeleton: their skeleton.
        slots: numbers in the engine; (M,).
    """

    def __init__(self, skeleton: Skeleton) -> None:
        """Make it without bodies."""
        count = len(skeleton)
        self.skeleton = skeleton
        self.slots: IntArray = np.empty(0, np.int64)
        self.ages: FloatArray = np.empty(0)
        self.roots: FloatArray = np.empty((0, 3))
        self.turns: FloatArray = np.empty((0, count, 3))
        self.feet: FloatArray = np.empty((0, 2, 3))
        self.foot_turns: FloatArray = np.empty((0, 2, 3))
        self.shares: FloatArray = np.empty((0, 2))
        self._ankles = np.array([skeleton.roles[chain[2]] for chain in _LEGS])
        self._poles = [pole_direction(skeleton, chain) for chain in _LEGS]
        limits = joint_limits(skeleton)
        self._limits = limits.only([joint for joint in self._ankles.tolist() if joint in limits.joints])
        self._parents: list[int] = skeleton.parents.tolist()
        self._last: tuple[list[FloatArray], tuple[FloatArray, FloatArray]] | None = None

    def begin(
        self, slots: IntArray, roots: FloatArray, turns: FloatArray, new_roots: FloatArray, new_turns: FloatArray
    ) -> None:
        """Hand bodies over from poses that are shown to others; (N, 3) root positions and (N, J, 4) rotations each."""
        self.drop(slots)
        at, world = forward_kinematics(self.skeleton, roots, turns)
        new_at, new_world = forward_kinematics(self.skeleton, new_roots, new_turns)
        ankles, count = self._ankles, len(slots)
        apart = rotations.multiply(world[:, ankles], rotations.conjugate(new_world[:, ankles]))
        rows = {
            "slots": slots,
            "ages": np.zeros(count),
            "roots": roots - new_roots,
            "turns": rotations.to_rotation_vector(rotations.multiply(turns, rotations.conjugate(new_turns))),
            "feet": at[:, ankles] - new_at[:, ankles],
            "foot_turns": rotations.to_rotation_vector(apart),
            "shares": np.ones((count, 2)),
        }
        for name in _COLUMNS:
            setattr(self, name, np.concatenate([getattr(self, name), rows[name]]))
        self._last = None

    def go_on(self, dt: float, down: BoolArray) -> None:
        """Go on by a time [s]; `down` says what of the feet rests in the poses that took over (M, 6)."""
        self.ages = self.ages + dt
        rests = down.reshape(-1, 2, 3).any(axis=2)
        self.shares = np.where(rests, self.shares, np.maximum(self.shares - dt / _SWING, 0.0))

    def over(self) -> IntArray:
        """Return the numbers of those whose difference has died away, and forget them."""
        share = ease(self.shares)
        gone = (share * np.linalg.norm(self.feet, axis=-1) < _FAINT_MOVE).all(axis=1)
        gone &= (share * np.linalg.norm(self.foot_turns, axis=-1) < _FAINT_TURN).all(axis=1)
        done = (self.ages >= BLEND) & gone
        out: IntArray = self.slots[done]
        if len(out):
            self.drop(out)
        return out

    def drop(self, slots: IntArray) -> None:
        """Forget bodies."""
        keep = ~np.isin(self.slots, slots)
        if not keep.all():
            for name in _COLUMNS:
                setattr(self, name, getattr(self, name)[keep])
            self._last = None

    def shown(self, roots: FloatArray, turns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what is shown now of poses that took over: root positions (M, 3) and local rotations (M, J, 4).

        What was found for the same poses at the last call is used again.
        """
        given = [self.ages, self.shares, roots, turns]
        if self._last is None:
            rows = np.arange(len(roots))
            found = np.empty_like(roots), np.empty_like(turns)
        else:
            before, found = self._last
            same = [(now == then).reshape(len(roots), -1).all(axis=1) for now, then in zip(given, before, strict=True)]
            rows = np.flatnonzero(~np.logical_and.reduce(same))
            found = found[0].copy(), found[1].copy()
        found[0][rows], found[1][rows] = self._shown_rows(rows, roots[rows], turns[rows])
        self._last = [some.copy() for some in given], found
        return found[0].copy(), found[1].copy()

    def _shown_rows(self, rows: IntArray, roots: FloatArray, turns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what is shown of some bodies (R,), each of which is worked out by itself."""
        left = 1.0 - ease(np.minimum(self.ages[rows] / BLEND, 1.0))
        new_roots = roots + left[:, None] * self.roots[rows]
        local = rotations.multiply(rotations.from_rotation_vector(left[:, None, None] * self.turns[rows]), turns)
        at, world = forward_kinematics(self.skeleton, roots, turns)
        moved, turned = forward_kinematics(self.skeleton, new_roots, local)
        share = ease(self.shares[rows])
        feet = share[..., None] * self.feet[rows]
        foot_turns = rotations.from_rotation_vector(share[..., None] * self.foot_turns[rows])
        some, lifts = np.arange(len(rows)), np.zeros((len(rows), 2))
        while len(some):
            part = local[some]
            self._set_feet(part, moved[some], turned[some], at[some], world[some], feet[some], foot_turns[some], lifts)
            local[some] = rotations.normalize(part)
            if lifts.any() or not len(some):
                break
            # two feet that roll in different ways may meet under the floor: they are lifted out of it
            moved, turned = forward_kinematics(self.skeleton, new_roots, local)
            lifts = np.maximum(-self._lowest(moved, turned), 0.0)
            some = np.flatnonzero(lifts.max(axis=1) >= _UNDER)
            lifts = lifts[some]
        # a foot that keeps its direction below a leg that comes from elsewhere may bend its ankle farther than one can
        if len(rows):
            clip = Clip(skeleton=self.skeleton, fps=30.0, root_positions=new_roots, rotations=local)
            strained = violations(clip, self._limits).max(axis=1) > _STRAINED
            if strained.any():
                local[strained] = clamp(clip, self._limits).rotations[strained]
        return new_roots, local

    def _set_feet(
        self, local: FloatArray, moved: FloatArray, turned: FloatArray, at: FloatArray, world: FloatArray,
        feet: FloatArray, foot_turns: FloatArray, lifts: FloatArray,
    ) -> None:  # fmt: skip
        """Bend legs so that feet are where they should be; `local` (R, J, 4) is changed.

        Args:
            local: local rotations.
            moved: joints in these poses [m]; (R, J, 3).
            turned: rotations of joints in the world; (R, J, 4).
            at: joints in the poses that took over [m]; (R, J, 3).
            world: their rotations in the world; (R, J, 4).
            feet: how far feet are away from there [m]; (R, 2, 3).
            foot_turns: how much they are turned; (R, 2, 4).
            lifts: how much higher they are [m]; (R, 2).
        """
        for k, chain in enumerate(_LEGS):
            hip, knee, ankle = (self.skeleton.roles[role] for role in chain)
            target = at[:, ankle] + feet[:, k]
            target[:, 2] += lifts[:, k]
            foot = rotations.multiply(foot_turns[:, k], world[:, ankle])
            pole = rotations.rotate(turned[:, hip], self._poles[k])
            upper, lower = two_bone(
                moved[:, hip], moved[:, knee], moved[:, ankle], turned[:, hip], turned[:, knee], target, pole
            )
            set_limb(local, turned, self._parents, (hip, knee, ankle), (upper, lower, foot))

    def _lowest(self, at: FloatArray, world: FloatArray) -> FloatArray:
        """Return how high the lowest point of the left and of the right foot is [m] (M, 2), given all joints."""
        out = np.full((len(at), 2), np.inf)
        for point in self.skeleton.contact_points:
            for k, side in enumerate(("left", "right")):
                if point.name.startswith(side):
                    there = at[:, point.joint] + rotations.rotate(world[:, point.joint], point.offset)
                    out[:, k] = np.minimum(out[:, k], there[:, 2])
        return out

    def state(self) -> Arrays:
        """Return what `restore` needs."""
        return {name: getattr(self, name).copy() for name in _COLUMNS}

    def put_back(self, arrays: Arrays, slots: IntArray) -> None:
        """Let some bodies be as they were when `state` was asked for, as far as they are still handed over."""
        now = np.flatnonzero(np.isin(self.slots, slots) & np.isin(self.slots, arrays["slots"]))
        then = rows_in(arrays["slots"], self.slots[now])
        self.ages[now], self.shares[now] = arrays["ages"][then], arrays["shares"][then]

    def restore(self, arrays: Arrays) -> None:
        """Go on from a saved state.

        Raises:
            ValueError: if it cannot be.
        """
        count = len(arrays["slots"])
        for name in _COLUMNS:
            now, found = getattr(self, name), np.array(arrays[name])
            if found.shape != (count, *now.shape[1:]) or not (np.abs(found.astype(np.float64)) < 1e7).all():
                raise ValueError("bodies of a throng that cannot be")
            setattr(self, name, found.astype(now.dtype))
        self._last = None
