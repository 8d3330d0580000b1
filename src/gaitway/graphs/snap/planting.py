"""Enforcement of footplants while some frames stay exactly as they are (gleicher2003, 4.2.2).

`foot_tracks` gives the targets of the feet. Then the root follows smoothly, so that each leg keeps its length in the
clip. A knee bends when its leg gets shorter, so knees bend as captured and do not pop. The rest is solved by the legs
in closed form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import ClipError
from gaitway.graphs.snap.foot_tracks import foot_track, lift
from gaitway.graphs.snap.soles import read_sole
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.footplants import FootPlan
from gaitway.motion.footskate import with_legs
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG, SOFTNESS

_LEGS = {"left": LEFT_LEG, "right": RIGHT_LEG}
_FOLLOW_S = 0.08
"""Time constant with which the root follows its legs [s]; less is better for the knees but shakes the trunk."""
_FREE = 0.05
"""Weight of the length of a leg in the air; a standing leg has 1."""
_STAY = 0.003
"""Weight by which the root is drawn to its place in the clip; the length of a standing leg has 1."""
_LOCK = 1e4
"""Weight by which the root is held in locked frames."""
_LONGEST = 1.0 - 1.06 * SOFTNESS
"""Share of the leg length up to which the leg solver reaches its target exactly."""
_FREE_S = 0.1
"""Time before and after a locked frame in which contacts that the locked frame does not have are removed [s]."""
_SETTLE_S = 0.15
"""Time over which the difference between a locked pose and the solved pose fades [s]."""


def planted(clip: Clip, locked: Sequence[int] = (), *, rest: npt.ArrayLike | None = None) -> Clip:
    """Return the clip with its footplants held, and with some of its frames exactly unchanged.

    Args:
        clip: Motion of a humanoid over a floor at height 0. Contacts are detected if it has none.
        locked: Frames that stay as they are; their own contacts should be satisfied (`common_pose` does that).
        rest: Height of each contact point of the skeleton at rest [m]; (C,). None is 0 for all.

    Returns:
        The clip with new root positions and legs. Except in locked frames, no foot is below its height at rest. A foot
        that is planted from one locked frame to another slides by the difference of its places there. Contacts stay,
        except those that a locked frame does not have: they end a little before it and begin a little after it, so that
        the foot has time to move to its place in that frame.
    """
    clip = clip if clip.contacts is not None else detect_contacts(clip)
    clip.skeleton.require(*LEFT_LEG, *RIGHT_LEG)
    count = len(clip.skeleton.contact_points)
    heights = np.zeros(count) if rest is None else np.asarray(rest, dtype=np.float64)
    if heights.shape != (count,) or not np.isfinite(heights).all():
        raise ClipError(f"heights at rest have shape {heights.shape}; give one for each of {count} contact points")
    lock = _lock_flags(clip, locked)
    clip = replace(clip, contacts=_free_near_locks(clip, lock))
    transforms = clip.joint_transforms()
    plans = {side: foot_track(clip, side, transforms, lock, heights) for side in _LEGS}
    moved = replace(clip, root_positions=clip.root_positions + root_shift(clip, plans, lock))
    out = _legs(moved, plans, lock)
    for _ in range(2):  # the solution for the knee may lower a free foot again
        raised = {side: _raised(out, side, plan, lock, heights) for side, plan in plans.items()}
        if all(raised[side] is plans[side] for side in plans):
            break
        plans, out = raised, _legs(moved, raised, lock)
    return _with_locked(clip, out, lock)


def stand_on(clip: Clip, plans: Mapping[str, FootPlan]) -> Clip:
    """Return the clip with its root and legs solved for the targets of its feet, by side; no frame is locked."""
    free = np.zeros(len(clip), dtype=bool)
    moved = replace(clip, root_positions=clip.root_positions + root_shift(clip, plans, free))
    return _legs(moved, plans, free)


def root_shift(clip: Clip, plans: Mapping[str, FootPlan], locked: BoolArray, rounds: int = 4) -> FloatArray:
    """Compute the smoothest shift of the root that nearly keeps the lengths of the legs [m]; (F, 3).

    Least squares over the whole clip: second differences of the shift, and changes of the legs' lengths, weighted by
    the turn of the knee. Locked frames do not move.

    Args:
        clip: Motion of a humanoid.
        plans: Targets of the feet, by side.
        locked: Frames whose root stays; (F,).
        rounds: Number of Gauss-Newton steps.
    """
    frames, positions = len(clip), clip.joint_positions()
    legs = [_LegLengths(clip, positions, side, plan) for side, plan in plans.items()]
    fixed = _bending(locked) * (_FOLLOW_S * clip.fps) ** 4
    fixed[0] += np.where(locked, _LOCK, _STAY)
    shift, weights = np.zeros((frames, 3)), [leg.weights for leg in legs]
    for _ in range(rounds):
        squares, right = np.zeros((frames, 3, 3)), np.zeros((frames, 3))
        for leg, weight in zip(legs, weights, strict=True):
            gap, way = leg.residual(shift)
            # the length changes by minus the shift along the leg
            right += (weight * (gap + np.sum(way * shift, axis=-1)))[:, None] * way
            squares += weight[:, None, None] * way[:, :, None] * way[:, None, :]
        shift = scipy.linalg.solveh_banded(_banded(fixed, squares), right.ravel()).reshape(frames, 3)
        weights = [w * np.where(leg.overstretch(shift) > 1e-3, 4.0, 1.0) for leg, w in zip(legs, weights, strict=True)]
    shift[locked] = 0.0
    return np.asarray(shift)


class _LegLengths:
    """Length of a leg in every frame of a clip, and its weight."""

    def __init__(self, clip: Clip, positions: FloatArray, side: str, plan: FootPlan) -> None:
        hip, knee, ankle = clip.skeleton.require(*_LEGS[side])
        a, b = (float(np.linalg.norm(positions[0, j] - positions[0, i])) for i, j in ((hip, knee), (knee, ankle)))
        self.line = plan.ankle - positions[:, hip]
        self.longest = _LONGEST * (a + b)
        own = np.linalg.norm(positions[:, ankle] - positions[:, hip], axis=-1)
        self.wanted = np.minimum(own, self.longest)
        cosine = np.clip((self.wanted**2 - a * a - b * b) / (2.0 * a * b), -1.0, 1.0)
        turning = self.wanted / (
            a * b * np.sqrt(np.maximum(1.0 - cosine**2, 1e-3))
        )  # turn of the knee [rad] for each metre
        usual = np.sqrt(a * a + b * b + 2 * a * b * np.cos(0.5)) / (a * b * np.sin(0.5))
        self.weights = np.clip(turning / usual, 0.5, 3.0) ** 2 * np.where(plan.planted, 1.0, _FREE)

    def residual(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the excess of the leg's length [m] (F,), and its direction (F, 3), with the root shifted."""
        line = self.line - shift
        length = np.linalg.norm(line, axis=-1)
        return length - self.wanted, line / np.maximum(length, 1e-9)[:, None]

    def overstretch(self, shift: FloatArray) -> FloatArray:
        """Return by how much the leg fails to reach its target [m]; (F,)."""
        return np.asarray(np.linalg.norm(self.line - shift, axis=-1) - self.longest)


def _bending(locked: BoolArray) -> FloatArray:
    """Return the diagonals 0, 1 and 2 of the symmetric matrix of squared second differences over frames; (3, F).

    Beyond a locked first or last frame the shift is 0; at a free end it may continue straight.
    """
    frames = len(locked)
    rows = np.tile([1.0, -2.0, 1.0], (frames, 1))
    for end, outer in ((0, 0), (frames - 1, 2)):
        rows[end, outer] = 0.0
        if not locked[end]:
            rows[end] = 0.0
    out = np.zeros((3, frames))
    for apart in range(3):
        for first in range(3 - apart):
            # row r touches frames r - 1, r and r + 1
            product = rows[:, first] * rows[:, first + apart]
            at = np.arange(frames) + first - 1
            inside = (at >= 0) & (at + apart < frames)
            np.add.at(out[apart], at[inside], product[inside])
    return out


def _banded(diagonals: FloatArray, blocks: FloatArray) -> FloatArray:
    """Return a matrix over (frame, axis) for `solveh_banded`, from diagonals (3, F) of each axis, blocks (F, 3, 3)."""
    frames = len(blocks)
    bands = np.zeros((7, 3 * frames))  # bands[6 - k, j] is the entry k rows over (j, j)
    for apart in range(3):
        if apart < frames:
            bands[6 - 3 * apart, 3 * apart :] = np.repeat(diagonals[apart, : frames - apart], 3)
    for i in range(3):
        for j in range(i, 3):
            bands[6 - (j - i), j::3] += blocks[:, i, j]
    return bands


def _legs(clip: Clip, plans: Mapping[str, FootPlan], locked: BoolArray) -> Clip:
    """Return the clip with its legs solved for the targets of the feet; exact in locked frames too."""
    return with_legs(clip, {side: replace(plan, planted=plan.planted | locked) for side, plan in plans.items()})


def _raised(clip: Clip, side: str, plan: FootPlan, locked: BoolArray, rest: FloatArray) -> FootPlan:
    """Return the plan with its free foot lifted by the depth that it still sinks; the same plan if it does not sink."""
    positions, world = clip.joint_transforms()
    ankle, toe = clip.skeleton.roles[f"{side}_ankle"], clip.skeleton.roles.get(f"{side}_toe")
    pivot = np.zeros(3)
    if toe is not None:
        pivot = rotations.rotate(rotations.conjugate(world[0, ankle]), positions[0, toe] - positions[0, ankle])
    sole = read_sole(clip, side, rest)
    heights = sole.heights(positions[:, ankle], world[:, ankle], None if toe is None else world[:, toe], pivot)
    more = lift(heights, plan.planted | locked, clip.fps)
    if more.max() < 1e-3:
        return plan
    return replace(plan, ankle=plan.ankle + more[:, None] * np.array([0.0, 0.0, 1.0]))


def _free_near_locks(clip: Clip, locked: BoolArray) -> BoolArray:
    """Return the contacts (F, C) without those near locked frames that do not have them."""
    assert clip.contacts is not None
    contacts, near = np.array(clip.contacts), max(round(_FREE_S * clip.fps), 1)
    for frame in np.flatnonzero(locked):
        contacts[max(frame - near, 0) : frame + near + 1, ~clip.contacts[frame]] = False
    contacts[locked] = clip.contacts[locked]
    return contacts


def _with_locked(clip: Clip, out: Clip, locked: BoolArray) -> Clip:
    """Return the result with the locked frames restored; their difference to the solved poses fades around them."""
    if not locked.any():
        return out
    frames = np.arange(len(clip))
    locks = np.flatnonzero(locked)
    nearest = locks[np.abs(frames[:, None] - locks).argmin(axis=1)]
    share = 1.0 - ease(np.minimum(np.abs(frames - nearest) / (_SETTLE_S * clip.fps), 1.0))
    undone = rotations.multiply(rotations.conjugate(out.rotations[locks]), clip.rotations[locks])
    turn = np.zeros_like(clip.rotations[..., 1:])
    turn[locks] = rotations.to_rotation_vector(undone)
    turned = rotations.multiply(out.rotations, rotations.from_rotation_vector(share[:, None, None] * turn[nearest]))
    roots, local = np.array(out.root_positions), np.array(rotations.normalize(turned))
    roots[locked], local[locked] = clip.root_positions[locked], clip.rotations[locked]
    return replace(out, root_positions=roots, rotations=local)


def _lock_flags(clip: Clip, locked: Sequence[int]) -> BoolArray:
    flags = np.zeros(len(clip), dtype=bool)
    for frame in locked:
        if not -len(clip) <= frame < len(clip):
            raise ClipError(f"locked frame {frame} is not in clip '{clip.name}', which has frames 0 to {len(clip) - 1}")
        flags[frame] = True
    return flags
