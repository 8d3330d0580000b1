"""Hand-keyed bodies: curves of least jerk through a few keys, and free fall while nothing touches the ground."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.cast.curves import fill_smoothly
from gaitway.cast.masses import GRAVITY, centre_of_mass
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.steps.footwork import StepPlan
from gaitway.cast.person.steps.leads import LeadJoin
from gaitway.cast.person.steps.stepping import PADDING, Performance, perform_plan
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

MASS_ROUNDS = 4
"""Number of rounds. The centre of mass depends on the legs, and the legs on the path of the centre of mass."""


@dataclass(frozen=True)
class Flight:
    """A time in the air: when [s], and where the pelvis is (x, z, [m]) when it begins and ends."""

    off: float
    land: float
    off_at: tuple[float, float]
    land_at: tuple[float, float]


Key = tuple[float, float, float]
"""Time [s], value, and how firmly the curve is drawn to it (1 is firm, 0.1 is a hint)."""


def keyed_curve(
    times: FloatArray, keys: Sequence[Key], ends: tuple[float, float], span: tuple[float, float]
) -> FloatArray:
    """Return the curve of least jerk through keys, at rest before and after a span of time.

    Args:
        times: Times of the frames [s]; (F,).
        keys: What it passes.
        ends: Values before and after the span.
        span: From when to when it moves [s].
    """
    resting = np.where(times <= span[0], ends[0], ends[1])
    soft = [(_frame(times, t), value, weight) for t, value, weight in keys]
    return fill_smoothly(resting, (times <= span[0]) | (times >= span[1]), soft)


def pelvis_path(
    times: FloatArray,
    keys: tuple[Sequence[Key], Sequence[Key]],
    stands: tuple[FloatArray, FloatArray],
    duration: float,
    flight: Flight | None = None,
    mass: FloatArray | None = None,
) -> FloatArray:
    """Return pelvis (F, 3) through keys of x and of height from one stand to another; in flight its mass falls freely.

    Args:
        times: Times of the frames [s]; (F,).
        keys: Keys of x and keys of z.
        stands: Pelvis before and after [m]; (3,) each.
        duration: Duration of the clip [s].
        flight: When it is in the air, if ever.
        mass: Centre of mass relative to the pelvis [m]; (F, 3). Needed with `flight`.
    """
    moved = np.where(times[:, None] <= 0.0, stands[0], stands[1])
    known = (times <= 0.0) | (times >= duration)
    air = np.zeros(len(times), dtype=bool)
    if flight is not None:
        air = (times > flight.off - 1e-9) & (times < flight.land + 1e-9)
    root = np.column_stack(
        [moved[:, 0], keyed_curve(times, (), (stands[0][1], stands[1][1]), (0.0, duration)), moved[:, 2]]
    )
    for axis, wanted, gravity in ((0, keys[0], 0.0), (2, keys[1], GRAVITY)):
        values = moved[:, axis].copy()
        if flight is not None and mass is not None:
            values[air] = _falling(times[air], flight, mass[air, axis], axis, gravity)
        soft = [(_frame(times, t), value, weight) for t, value, weight in wanted]
        root[:, axis] = fill_smoothly(values, known | air, soft)
    return root


def _falling(times: FloatArray, flight: Flight, mass: FloatArray, axis: int, gravity: float) -> FloatArray:
    """Return one coordinate of the pelvis in flight, such that the centre of mass is on a parabola; (n,)."""
    k = 0 if axis == 0 else 1
    since, span = times - flight.off, flight.land - flight.off
    begin, finish = flight.off_at[k] + mass[0], flight.land_at[k] + mass[-1]
    rate = (finish - begin) / span + 0.5 * gravity * span
    out: FloatArray = begin + rate * since - 0.5 * gravity * since**2 - mass
    return out


@dataclass(frozen=True, eq=False)
class Fall:
    """A body on the feet of a plan whose pelvis path depends on where its centre of mass is."""

    name: str
    """Name of the clip."""
    plan: StepPlan
    joins: Sequence[LeadJoin]
    path: Callable[[FloatArray], FloatArray]
    """Function from the centre of mass relative to the pelvis (F, 3) to the pelvis (F, 3) [m]."""
    feet: FloatArray
    """`both_feet` of the plan."""
    splay: FloatArray
    """Outward turn of the knees [rad]; (F,)."""

    def perform(self, local: FloatArray, mass: FloatArray | None = None, rounds: int = 1) -> tuple[Clip, FloatArray]:
        """Return the clip, and its centre of mass relative to the pelvis for a next round (F, 3).

        Args:
            local: Local rotations of the body (F, J, 4) over `plan_times(plan)`, without heading.
            mass: Centre of mass to begin with; None computes it from the given body.
            rounds: How often path and mass follow one another.
        """
        count = len(local)
        offset = centre_of_mass(person_skeleton(), np.zeros((count, 3)), local) if mass is None else mass
        for _ in range(rounds):
            body = Performance(self.path(offset), local, np.zeros(count), self.splay)
            clip = perform_plan(self.name, self.plan, body, self.joins, self.feet).clip
            inner = centre_of_mass(clip.skeleton, clip.root_positions, clip.rotations) - clip.root_positions
            offset = np.pad(inner, ((PADDING, PADDING), (0, 0)), mode="edge")
        return clip, offset


def _frame(times: FloatArray, time: float) -> int:
    return int(np.argmin(np.abs(times - time)))
