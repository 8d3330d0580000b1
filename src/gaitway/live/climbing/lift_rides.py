"""Rides of live characters in lifts: a stand on the platform from one height to another, made anew from a few numbers.

A lift comes and goes by a timetable. So a whole ride is known when somebody boards it: the steps onto the platform, the
stand until it has come to the other height, and the steps off it, all of which are reserved at once. The plane of the
floors has the platform once for each height, with the floor before its door, and whoever is on one of these is seen on
all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from gaitway.core.arrays import read_only
from gaitway.levels.links import LiftRide, Link
from gaitway.levels.riding import RIDE, rest_after, ridden_clip
from gaitway.live.climbing.flights import FlightOrder, FlightPart, LiveFlight
from gaitway.live.playing.bodies import led_on, root_disc
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import PlanStep, Pose
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import swept_step
from gaitway.world.lifts import Lift

ABOARD = 2.5
"""Least time in which somebody walks from the door of a lift onto its platform [s]."""
WAITS = 0.4
"""Distance from a place before the door that is near enough [m]."""
PLACE, FACING = 0.25, float(np.radians(70.0))
"""Distance from a place on the platform, and difference from the heading there, that are near enough [m, rad]."""
_LONGEST_STAND = 5.0
"""Time for which a clip of somebody who stands is too long to be used on a platform [s]."""
_BODY = 0.5
"""Distance from somebody who rides within which no other has room [m]."""


def stands(ride: LiftRide, time: float) -> tuple[float, float] | None:
    """Return from when until when a lift stands that somebody can board from a time on [s]; None if it is away."""
    come, leave = ride.lift.stand(ride.source, time + ABOARD)
    return (come, leave) if come <= time else None


def rounds_of(prepared: PreparedLibrary, ride: LiftRide, time: float, before: int) -> tuple[int, int] | None:
    """Return the action of somebody who stands on a platform from a time on [s], and how often it is played.

    Args:
        prepared: library of the character.
        ride: the ride.
        time: when it begins to stand there [s], before the lift leaves.
        before: action that ends then, by its number in the library; -1 for none.

    Returns:
        Both; None if nobody stands so.
    """
    rest = rest_after(prepared, None if before < 0 else prepared.actions.names[before])
    if rest is None:
        return None
    lasts = float(prepared.table.durations[rest] / prepared.speeds[rest])
    if lasts > _LONGEST_STAND:
        return None
    arrive, _ = ride.lift.stand(ride.target, ride.lift.stand(ride.source, time)[1])
    return rest, max(math.ceil((arrive - time) / lasts - 1e-9), 1)


def longest_ride(lift: Lift, fps: float) -> int:
    """Return the largest number of frames of a ride."""
    return math.ceil((lift.period + _LONGEST_STAND) * fps) + 1


def make_ride(prepared: PreparedLibrary, link: Link, order: FlightOrder, radius: float) -> LiveFlight | str:
    """Make the clip of somebody who rides a lift, and what it covers.

    Args:
        prepared: library of the character.
        link: the link of the ride.
        order: what it is made from; it begins on the platform.
        radius: radius of the disc that the character keeps clear [m].

    Returns:
        The ride; or why nobody rides.
    """
    ride, table, discs = link.ride, prepared.table, prepared.discs
    assert ride is not None
    found = rounds_of(prepared, ride, order.time, order.before)
    if found is None:
        return f"'{link.name}': nobody of this library stands still"
    rest, rounds = found
    source, speed = prepared.library.clips[table.clips[rest]], float(prepared.speeds[rest])
    clip = ridden_clip(source, ride, order.time, rounds, speed, f"{table.clips[rest]}{RIDE}{order.who}-{order.serial}")
    # live people are as high as the ground under them, which goes up and down by itself
    level = np.array(clip.root_positions)
    level[:, 2] += ride.lift.height(order.time) - ride.lift.height(order.time + np.arange(len(clip)) / clip.fps / speed)
    shown = replace(clip, root_positions=level)
    if order.before >= 0 and table.kind[order.before] < 0:
        shown = led_on(prepared.library.clips[table.clips[order.before]], shown)
    lasts, once = (
        float(table.durations[rest]) / speed,
        range(int(discs.window_starts[rest]), int(discs.window_starts[rest + 1])),
    )
    windows, groups, steps = [], [], []
    for k in range(rounds):
        windows += [discs.window_times[window] / speed + k * lasts for window in once]
        steps.append(
            PlanStep(prepared.actions.names[rest], table.clips[rest], order.start, order.time + k * lasts, speed)
        )
    own = [
        np.vstack(
            [
                root_disc(source, discs.window_frames[w], radius),
                discs.timed[discs.timed_starts[w] : discs.timed_starts[w + 1]],
            ]
        )
        for w in once
    ]
    groups = own * rounds
    swept = Swept.joined([swept_step(step, table, discs) for step in steps])
    part = FlightPart(
        clip, shown, rest, order.start, order.time, speed, read_only(np.array(windows)), tuple(groups), swept
    )
    return LiveFlight(order, link, 0, (), (part,))


def free_places(ride: LiftRide, leave: float, flights: Mapping[int, LiveFlight]) -> Iterator[Pose]:
    """Yield the places on a platform at which nobody rides when it leaves [s], in the plane."""
    dx, dy = ride.boarding.offset
    taken = [
        (flight.order.start[0] - other.boarding.offset[0], flight.order.start[1] - other.boarding.offset[1])
        for flight in flights.values()
        if (other := flight.link.ride) is not None
        and other.lift is ride.lift
        and flight.parts[-1].time <= leave < flight.end
    ]
    for place in ride.places:
        if all(math.dist((place[0] - dx, place[1] - dy), one) >= _BODY for one in taken):
            yield place
