"""Flights of live characters: the bent steps onto stairs and the clip that fits them, made anew from a few numbers.

A character that goes onto a flight of stairs plays clips of its own: its last steps before the flight, bent so that the
clip of the flight lies exactly on the steps (`gaitway.levels.leading`). All of that follows from where those steps
begin, which steps they are, and the link. So only these numbers are kept, in states and in records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.levels.leading import over_link
from gaitway.levels.links import Link
from gaitway.live.playing.bodies import led_on, root_disc
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.bent_steps import pose_of
from gaitway.performing.arrival.footwork import Footworks
from gaitway.performing.relaxing.carried_steps import HeldTraffic
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import Plan, PlanStep, Pose
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import Traffic

BENT = 5
"""Largest number of steps before a flight that are bent."""
PARTS = BENT + 1
"""Largest number of clips of a flight."""
LOGGED = 1_000_000
"""First action of flights in records: beyond those of all libraries, of which more may join while a record is kept."""
COLUMNS = 12 + BENT
"""Number of columns of an order as numbers."""


@dataclass(frozen=True)
class FlightOrder:
    """All that a flight of a live character is made from."""

    serial: int
    """Number of the flight; it is never used again."""
    who: int
    """Number of the character in the engine."""
    life: int
    """Number of characters that have had this number."""
    library: int
    link: int
    """Number of the link among those of the library."""
    slot: int
    """Place among the clips of flights that are played now; -1 if it is over."""
    before: int
    """Action before these steps, by its number in the library; -1 if there is none."""
    time: float
    """Time at which these steps begin [s]."""
    start: Pose
    """Pose in which they begin, in the plane of the floors."""
    actions: tuple[int, ...]
    """The last steps before the link, by their numbers in the library; `BENT` at most."""

    def row(self) -> list[float]:
        """Return the order as numbers; (COLUMNS,)."""
        padded = (*self.actions, *[-1] * (BENT - len(self.actions)))
        return [
            self.serial, self.who, self.life, self.library, self.link, self.slot, self.before, self.time, *self.start,
            len(self.actions), *padded,
        ]  # fmt: skip

    @staticmethod
    def of_row(row: Sequence[float]) -> FlightOrder:
        """Return an order from numbers."""
        serial, who, life, library, link, slot, before = (int(value) for value in row[:7])
        count = int(row[11])
        return FlightOrder(
            serial, who, life, library, link, slot, before, float(row[7]), (row[8], row[9], row[10]),
            tuple(int(value) for value in row[12 : 12 + count]),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class FlightPart:
    """One clip of a flight: a bent step, or the flight itself."""

    clip: Clip
    """The clip as takes play it."""
    shown: Clip
    """The clip as it is shown live: it begins in the pose in which the one before it ends."""
    action: int
    """Action that it was bent from, by its number in the library."""
    pose: Pose
    """Pose of the root in its first frame, in the plane."""
    time: float
    speed: float
    """Seconds of the clip that pass in a second."""
    windows: FloatArray
    """Begin and end of windows of time from its first frame on [s]; (W, 2)."""
    discs: tuple[FloatArray, ...]
    """Discs that cover the body in each window, seen from the first frame [m]; (D, 3) each."""
    swept: Swept
    """What it covers in the plane; the flight itself counts on both of its floors."""

    @property
    def duration(self) -> float:
        """Time that it takes [s]."""
        return self.clip.duration / self.speed


@dataclass(frozen=True, eq=False)
class LiveFlight:
    """A flight of a live character."""

    order: FlightOrder
    link: Link
    plain: int
    """Number of the order's steps that are played as they are, before those that are bent."""
    steps: tuple[PlanStep, ...]
    """The order's steps as they were before any was bent."""
    parts: tuple[FlightPart, ...]

    @property
    def end(self) -> float:
        """Time at which it is over [s]."""
        return self.parts[-1].time + self.parts[-1].duration

    @property
    def rise(self) -> float:
        """How far up its last clip leads [m]."""
        heights = self.parts[-1].clip.root_positions[[0, -1], 2]
        return self.link.fitted.rise if self.link.fitted is not None else float(heights[1] - heights[0])


def laid_steps(
    prepared: PreparedLibrary, actions: Sequence[int], start: Pose, time: float
) -> tuple[tuple[PlanStep, ...], Pose, float]:
    """Lay actions one after another; return the steps, and where and when they end."""
    table, steps, pose = prepared.table, [], start
    for action in actions:
        speed = float(prepared.speeds[action])
        steps.append(PlanStep(prepared.actions.names[action], table.clips[action], pose, time, speed))
        pose = pose_of(planar.compose(pose, table.moves[action]))
        time += float(table.durations[action]) / speed
    return tuple(steps), pose, time


def make_flight(prepared: PreparedLibrary, link: Link, order: FlightOrder, radius: float) -> LiveFlight | str:
    """Make the clips of a flight, and what they cover.

    Args:
        prepared: library of the character.
        link: the link.
        order: what it is made from.
        radius: radius of the disc that the character keeps clear [m].

    Returns:
        The flight; or why the link cannot be met.
    """
    table, discs = prepared.table, prepared.discs
    steps, pose, time = laid_steps(prepared, order.actions, order.start, order.time)
    footworks = prepared.part("footworks", lambda: Footworks(prepared.library))
    held = HeldTraffic(prepared.part("no traffic", lambda: Traffic(prepared.fields.kinds)))
    plan = Plan(steps, pose, time, 0.0)
    linked = over_link(prepared, held, footworks, plan, link, name=f"{order.who}-{order.serial}")
    if isinstance(linked, str):
        return linked
    parts = list[FlightPart]()
    earlier = order.actions[linked.first - 1] if linked.first > 0 else order.before
    # the clip of another flight ends in the pose of the walk, but at another height
    last = prepared.library.clips[table.clips[earlier]] if earlier >= 0 and table.kind[earlier] < 0 else None
    sources = (*order.actions[linked.first :], table.clips.index(link.behavior))
    for action, step in zip(sources, linked.plan.steps[linked.first :], strict=True):
        own = linked.plan.own[step.clip]
        windows = slice(int(discs.window_starts[action]), int(discs.window_starts[action + 1]))
        count, back = windows.stop - windows.start, planar.inverse(np.array(step.pose))
        parts.append(
            FlightPart(
                own.clip,
                own.clip if last is None else led_on(last, own.clip),
                action,
                step.pose,
                step.time,
                step.speed,
                read_only(discs.window_times[windows] / step.speed),
                tuple(
                    _disc_group(own.swept, k, back, own.clip, discs.window_frames[windows.start + k], radius)
                    for k in range(count)
                ),
                own.swept,
            )
        )
        last = own.clip
    return LiveFlight(order, linked.link, linked.first, steps, tuple(parts))


def _disc_group(swept: Swept, group: int, back: FloatArray, clip: Clip, frames: IntArray, radius: float) -> FloatArray:
    """Return the discs of a window in the frame of its clip's first pose, the one about the root first; (D, 3)."""
    discs = np.array(swept.discs[swept.starts[group] : swept.starts[group + 1]])
    discs[:, :2] = planar.transform_points(back, discs[:, :2])
    return np.vstack([root_disc(clip, frames, radius), discs])
