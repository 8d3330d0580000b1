"""Bodies of people who move while they are watched: plain arrays of state, all people at once.

The same kernels as in `animate` move the feet and solve the legs. What lies ahead is not known here: people are taken
to go on as they go now, and feet that were set down too far follow by a further step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import CrowdError
from gaitway.crowd.locomotion import _feet_kernels
from gaitway.crowd.locomotion.posing import BodyPoses, in_parts, posed
from gaitway.crowd.locomotion.space import LocomotionSpace
from gaitway.crowd.locomotion.steering import ARM_HABITS

_SPEED_S = 0.12
"""Time constant with which speeds follow what positions do [s]."""
_DROP_S = 0.08
"""Time constant with which a pelvis follows what the legs need [s]."""
_CLOSE_S = 0.4
"""Time constant with which arms are tucked [s]."""
_JUMP = 0.6
"""Who is farther [m] from where it was a moment ago than this, and its speed, did not walk there."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BodyState:
    """People of one space; the arrays are changed in place, a row a person."""

    space: LocomotionSpace
    styles: IntArray
    """Style of each; (N,)."""
    path: FloatArray
    """Planar poses x, y [m], heading [rad]; (N, 3)."""
    velocity: FloatArray
    """Forward, sideways [m/s] and turn [rad/s], smoothed; (N, 3)."""
    close: FloatArray
    """How near others are, 0 to 1, smoothed; (N,)."""
    lowered: FloatArray
    """How far arms are held down beside the thighs, 0 to 1, smoothed; (N,)."""
    habits: FloatArray
    """How far each tucks its left and its right arm when somebody is near, 0 to 1; (N, 2)."""
    feet: FloatArray
    """Phases and feet: `_feet_kernels`; (N, STATE_COLUMNS)."""
    drops: FloatArray
    """How much lower the pelvis is than in the blend [m]; (N,)."""
    steps: FloatArray
    """What bodies do: `_feet_kernels`; (N, STEP_COLUMNS)."""
    corners: IntArray
    """Cycles that are blended; (N, 4)."""

    def __len__(self) -> int:
        return len(self.styles)


def begin_bodies(
    space: LocomotionSpace,
    positions: npt.ArrayLike,
    headings: npt.ArrayLike,
    *,
    velocities: npt.ArrayLike | None = None,
    styles: IntArray | None = None,
    phases: npt.ArrayLike | None = None,
    seed: int = 0,
) -> BodyState:
    """Return bodies that stand, or have walked for a while.

    Args:
        space: their gaits.
        positions: where they are [m]; (N, 2).
        headings: which way trunks face [rad]; (N,).
        velocities: in the world [m/s]; (N, 2). None stands.
        styles: style of each (N,); None draws them.
        phases: where each is in its stride, 0 to 1, from one strike of the left foot to the next (N,); None draws them.
        seed: draws styles and phases.

    Raises:
        CrowdError: if the arrays do not fit together, or a style is not there.
    """
    place, facing = _checked(positions, headings, None)
    count, rng = len(place), np.random.default_rng(seed)
    drawn = rng.integers(len(space.styles), size=count)
    manner = drawn if styles is None else np.array(styles, dtype=np.int64)
    if manner.shape != (count,) or (manner < 0).any() or (manner >= len(space.styles)).any():
        raise CrowdError(f"styles {manner.shape} of {count} people; give a number below {len(space.styles)} for each")
    speed = np.zeros((count, 2)) if velocities is None else np.array(velocities, dtype=np.float64)
    if speed.shape != (count, 2) or not np.isfinite(speed).all():
        raise CrowdError(f"velocities {speed.shape} of {count} people; give two finite numbers for each")
    path = np.column_stack([place, facing])
    feet = np.zeros((count, _feet_kernels.STATE_COLUMNS))
    drawn_phases = rng.random(count)
    feet[:, _feet_kernels.PHASE] = drawn_phases if phases is None else np.asarray(phases, dtype=np.float64) % 1.0
    feet[:, _feet_kernels.IDLE] = 20.0 * rng.random(count)
    state = BodyState(
        space=space,
        styles=np.ascontiguousarray(manner, dtype=np.int64),
        path=path,
        velocity=np.column_stack([_turned(speed, facing), np.zeros(count)]),
        close=np.zeros(count),
        lowered=np.zeros(count),
        habits=rng.uniform(*ARM_HABITS, (count, 2)),
        feet=feet,
        drops=np.zeros(count),
        steps=np.zeros((count, _feet_kernels.STEP_COLUMNS)),
        corners=np.zeros((count, 4), dtype=np.int64),
    )
    _place(state, np.arange(count, dtype=np.int64))
    return state


def advance(
    state: BodyState,
    positions: npt.ArrayLike,
    headings: npt.ArrayLike,
    dt: float,
    *,
    close: FloatArray | None = None,
    lowered: FloatArray | None = None,
    paces: FloatArray | None = None,
    threads: int = 1,
) -> None:
    """Let bodies follow to where people are now; `state` is changed.

    Who jumps, by more than its speed explains, is set down anew there.

    Args:
        state: the bodies.
        positions: where people are now [m]; (N, 2).
        headings: which way trunks face now [rad]; (N,).
        dt: time since the last call [s].
        close: how near others are, 0 (far) to 1 (they touch); (N,). None is far.
        lowered: how far arms are held down beside the thighs, 0 to 1, which needs least room; (N,). None is not at all.
        paces: share of that time for which feet go on, for who hesitates, 0 to 1; (N,). None is all of it.
        threads: number of threads; the result is the same with any.

    Raises:
        CrowdError: if the arrays do not fit together, or the time is not above 0.
    """
    place, facing = _checked(positions, headings, len(state))
    if not (np.isfinite(dt) and 0.0 < dt <= 1.0):
        raise CrowdError(f"bodies that go on by {dt} s; write a time above 0 and up to 1")
    moved = place - state.path[:, :2]
    turned = planar.wrap_angle(facing - state.path[:, 2])
    way = _turned(moved, facing) / dt
    far = np.hypot(moved[:, 0], moved[:, 1]) > _JUMP + dt * (np.hypot(state.velocity[:, 0], state.velocity[:, 1]) + 1.0)
    gain = 1.0 - np.exp(-dt / _SPEED_S)
    # speeds are kept in the frame of the trunk, which has turned meanwhile
    cosine, sine = np.cos(turned), np.sin(turned)
    forward = cosine * state.velocity[:, 0] + sine * state.velocity[:, 1]
    aside = cosine * state.velocity[:, 1] - sine * state.velocity[:, 0]
    new = np.column_stack([way, turned / dt])
    state.velocity[:, 0] = forward + gain * (new[:, 0] - forward)
    state.velocity[:, 1] = aside + gain * (new[:, 1] - aside)
    state.velocity[:, 2] += gain * (new[:, 2] - state.velocity[:, 2])
    state.path[:, :2] = place
    state.path[:, 2] += turned
    for now, wish in ((state.close, close), (state.lowered, lowered)):
        wanted = np.zeros(len(state)) if wish is None else np.clip(wish, 0.0, 1.0)
        now[:] += (1.0 - np.exp(-dt / _CLOSE_S)) * (wanted - now)
    if far.any():
        state.velocity[far] = 0.0
        _place(state, np.flatnonzero(far))
    space, own_paces = state.space, np.ones(len(state)) if paces is None else np.ascontiguousarray(paces)

    def part(low: int, high: int) -> None:
        _feet_kernels.advance_all(
            low, high, float(dt), own_paces, state.styles, state.path, state.velocity, space.simplices, space.neighbors,
            space.transforms, space.hull, space.traits, space.rig.leg, state.feet, state.steps, state.corners,
        )  # fmt: skip

    in_parts(part, len(state), threads)
    arms = slice(_feet_kernels.STEP_LEFT_ARM, _feet_kernels.STEP_RIGHT_ARM + 1)
    free = state.close * (1.0 - state.lowered)
    state.steps[:, arms] = state.habits * free[:, None] - state.lowered[:, None]


def set_down(state: BodyState, rows: IntArray, dt: float) -> None:
    """Let some people (M,) set their swinging feet down where these are; they stay where they are; `state` is changed.

    Args:
        state: the bodies.
        rows: who; (M,).
        dt: time for which they do so [s]; it takes as long as what is left of their steps.
    """
    _feet_kernels.set_down_all(
        rows, float(dt), state.styles, state.space.traits, state.feet, state.steps, state.corners
    )


def shift_feet(state: BodyState, rows: IntArray, dt: float) -> None:
    """Let the feet of some people (M,) go on below bodies that stand still; `state` is changed.

    Feet that are far from where one stands well step there, as those of somebody who shifts from one to the other.

    Args:
        state: the bodies.
        rows: who; (M,).
        dt: time for which they do so [s].
    """
    space, velocity = state.space, np.zeros((len(rows), 3))
    styles, corners = state.styles[rows], state.corners[rows]
    path, feet, steps = state.path[rows], state.feet[rows], state.steps[rows]
    _feet_kernels.advance_all(
        0, len(rows), float(dt), np.ones(len(rows)), styles, path, velocity, space.simplices, space.neighbors,
        space.transforms, space.hull, space.traits, space.rig.leg, feet, steps, corners,
    )  # fmt: skip
    state.feet[rows], state.steps[rows], state.corners[rows] = feet, steps, corners
    state.velocity[rows] = velocity


def pose_bodies(state: BodyState, dt: float = 1.0 / 30.0, *, threads: int = 1) -> BodyPoses:
    """Return the poses of all people; the height of pelvises in `state` goes on by `dt` seconds.

    Args:
        state: the bodies.
        dt: time since the last call [s].
        threads: number of threads; the result is the same with any.
    """
    settle = 1.0 - float(np.exp(-dt / _DROP_S))
    return posed(state.space, state.styles, state.steps, state.corners, state.drops, settle=settle, threads=threads)


def _place(state: BodyState, who: IntArray) -> None:
    """Set the feet of some people where they walk or stand."""
    space = state.space
    state.drops[who] = 0.0
    _feet_kernels.begin_all(
        who, state.styles, state.path, state.velocity, space.simplices, space.neighbors, space.transforms, space.hull,
        space.traits, space.rig.leg, state.feet, state.steps, state.corners,
    )  # fmt: skip


def _turned(vectors: FloatArray, headings: FloatArray) -> FloatArray:
    """Return world vectors (N, 2) as forward and sideways."""
    cosine, sine = np.cos(headings), np.sin(headings)
    x, y = vectors[:, 0], vectors[:, 1]
    return np.column_stack([cosine * x + sine * y, cosine * y - sine * x])


def _checked(positions: npt.ArrayLike, headings: npt.ArrayLike, count: int | None) -> tuple[FloatArray, FloatArray]:
    place, facing = np.asarray(positions, dtype=np.float64), np.asarray(headings, dtype=np.float64)
    wanted = len(place) if count is None else count
    if place.shape != (wanted, 2) or facing.shape != (wanted,):
        raise CrowdError(f"positions {place.shape} and headings {facing.shape} of {wanted} people do not fit together")
    if not (np.isfinite(place).all() and np.isfinite(facing).all()):
        row = int(np.flatnonzero(~(np.isfinite(place).all(axis=1) & np.isfinite(facing)))[0])
        raise CrowdError(f"person {row} is at {place[row]}, heading {facing[row]}; give finite numbers")
    return place, facing
