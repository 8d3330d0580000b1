"""Rides on escalators: one clip from the walk on one floor to the walk on the other, carried by a tread in between.

The clip is made of the library's own clips: a gait, a stop, somebody who stands, a start, and the gait again. The step
before the stop leads over the first edge of the escalator onto its level treads, and a step after the start leads over
the last edge. What rests on a tread moves with it, and what rests on a floor stays. The root goes over from one to the
other gently, and the legs are led to the feet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LibraryError
from gaitway.library.actions import action_table
from gaitway.library.behavior import Behavior, Library
from gaitway.library.fitting.fitted_clip import FittedClip
from gaitway.library.fitting.footholds import LEGS, Foothold, footholds, led_to
from gaitway.motion.blending import concatenate, ease
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place, resample
from gaitway.motion.footplants import FootPlan
from gaitway.world.escalators import DEPTH, Escalator

_LEAST_GAP = DEPTH + 0.05
"""Least distance of the last toe before an edge from the first heel beyond it [m]: people step onto the middle of a
tread, wherever it is, so the whole way is moved by up to half a tread."""
_GENTLE_S = 0.35
"""Time before and after a step onto a tread, or off it, in which the root comes to the speed of the treads [s]."""
_ASIDE, _FORWARD, _TURN = 0.1, 0.2, float(np.radians(6.0))
"""Farthest that straight clips lead aside [m], least that they lead ahead [m], and greatest turn of them [rad]."""


@dataclass(frozen=True)
class Ride:
    """What a clip must know of an escalator."""

    rise: float
    """Height of its upper end over its lower one [m]."""
    slope: float
    """How steep it is [rad]."""
    speed: float
    """Speed of its treads along the floor plan [m/s]."""
    down: bool
    """Whether it carries people down."""

    @staticmethod
    def of(escalator: Escalator) -> Ride:
        """Return the ride on an escalator."""
        return Ride(escalator.rise, escalator.slope, escalator.speed, escalator.down)

    @property
    def escalator(self) -> Escalator:
        """The escalator, at the origin."""
        return Escalator((0.0, 0.0), self.rise, down=self.down, speed=self.speed, slope=self.slope)

    @property
    def kind(self) -> str:
        """Kind of its clip."""
        return "escalator_down" if self.down else "escalator_up"

    @property
    def label(self) -> str:
        """Name of its measures: rise and length [mm], and speed [mm/s]."""
        return f"{1000.0 * self.rise:.5g}x{1000.0 * self.escalator.length:.5g}x{1000.0 * self.speed:.4g}"


@dataclass(frozen=True, eq=False)
class RideClips:
    """Clips of a library that lead to a stand and away from it, straight ahead."""

    gait: Behavior
    stop: Behavior
    still: Behavior
    start: Behavior

    def used(self) -> tuple[Behavior, ...]:
        """Return its behaviours, in order."""
        return self.gait, self.stop, self.still, self.start


def ride_clips(library: Library) -> RideClips:
    """Return the clips of a library that a ride is made of.

    Raises:
        LibraryError: if it has none.
    """
    table, own = action_table(library), [b for b in library.graph.behaviors if b.obstacle is None]
    quiet = {table.clips[k] for k in np.flatnonzero(table.quiet)}
    straight = [b for b in own if _straight(library.clips[b.clips[0]])]
    counts = Counter(b.start for b in own if b.start == b.end and b.clips[0] not in quiet)
    for state, _ in counts.most_common():
        gaits = [b for b in straight if b.start == b.end == state]
        for stop in (b for b in straight if b.start == state and b.end != state):
            starts = [b for b in straight if b.start == stop.end and b.end == state]
            still = [b for b in own if b.clips[0] in quiet and b.start == b.end == stop.end and _rests(library, b)]
            if gaits and starts and still:
                longest = max(gaits, key=lambda b: (round(_ahead(library.clips[b.clips[0]]), 6), b.name))
                calm = max(still, key=lambda b: (len(library.clips[b.clips[0]]), b.name))
                return RideClips(longest, stop, calm, starts[0])
    raise LibraryError(f"library '{library.name}' has no clips that stop, stand and set off straight ahead")


def _straight(clip: Clip) -> bool:
    path = place(clip, np.zeros(3)).planar_path()
    return bool(path[-1, 0] >= _FORWARD and abs(path[-1, 1]) <= _ASIDE and abs(path[-1, 2]) <= _TURN)


def _ahead(clip: Clip) -> float:
    return float(np.hypot(*(clip.root_positions[-1, :2] - clip.root_positions[0, :2])))


def _rests(library: Library, behavior: Behavior) -> bool:
    """Return whether both feet rest all the time."""
    try:
        holds = footholds(library.clips[behavior.clips[0]])
    except LibraryError:
        return False
    return len(holds) == len(LEGS)


def fitted_ride(library: Library, ride: Ride) -> FittedClip:
    """Return the clip that rides an escalator, from walking to walking.

    Raises:
        LibraryError: if the library has no clips for it, or only steps that are too short.
    """
    parts, belt = ride_clips(library), ride.escalator
    base, holds = _composed(library, parts, 1)
    on, off, first = _edges(library, holds, base.fps, ride.speed)
    per_frame = ride.speed / base.fps
    # the stand is as long as it takes from the first edge to the last; what is over is less than a frame's way
    last = _last_edge(holds, on, off, per_frame)
    frames = round((belt.length - (last - first)) / per_frame)
    if frames < 1:
        raise LibraryError(f"escalator of {belt.length:.1f} m at {ride.speed:g} m/s: too short to stand on")
    base, holds = _composed(library, parts, 1 + frames)
    clip, tread = _carried(base, holds, on, off, first, ride)
    kind = ride.kind
    rise = -ride.rise if ride.down else ride.rise
    lift = max(hold.stop for hold in holds[:on] if hold.side == holds[on].side)
    land = max(min(hold.start for hold in holds[off:] if hold.side == side) for side in LEGS)
    times = np.arange(len(clip)) / clip.fps
    return FittedClip(
        clip=replace(clip, name=f"{kind}_{ride.label}", labels=(kind,)),
        start=parts.stop.start,
        end=parts.start.end,
        kind=kind,
        edge=first,
        last_edge=first + belt.length,
        rise=rise,
        lift_s=lift / clip.fps,
        land_s=land / clip.fps,
        pass_time=float(np.interp(first + 0.5 * belt.length, clip.root_positions[:, 0], times)),
        tread=tread,
    )


def _composed(library: Library, parts: RideClips, frames: int) -> tuple[Clip, list[Foothold]]:
    """Return the clips of a ride end to end, with a stand of some frames, and their footholds."""
    gait, stop, still, start = (library.clips[behavior.clips[0]] for behavior in parts.used())
    rounds = max(round(frames / (len(still) - 1)), 1)
    stand = concatenate([still] * rounds, 0.2, overlap=False) if rounds > 1 else still
    stand = resample(replace(stand, fps=stand.fps * (len(stand) - 1) / frames), stand.fps)
    base = place(concatenate([gait, stop, stand, start, gait], 0.2, overlap=False), np.zeros(3))
    return base, footholds(base)


def _edges(library: Library, holds: Sequence[Foothold], fps: float, speed: float) -> tuple[int, int, float]:
    """Return the first foothold on a tread, the first beyond, and the distance of the first edge [m].

    Raises:
        LibraryError: if no step is long enough to lead over an edge.
    """
    standing = max(range(len(holds)), key=lambda k: (holds[k].stop - holds[k].start, -k))
    for on in range(standing, 0, -1):
        low = max(hold.toe for hold in holds[:on])
        high = min(hold.heel for hold in holds[on:])
        if high - low >= _LEAST_GAP:
            break
    else:
        raise LibraryError(f"library '{library.name}' stops by steps that are too short for an escalator")
    for off in range(standing + 2, len(holds)):
        low, high = _gap(holds, on, off, speed / fps)
        if high - low >= _LEAST_GAP and {hold.side for hold in holds[off:]} == set(LEGS):
            first = 0.5 * (max(h.toe for h in holds[:on]) + min(h.heel for h in holds[on:off]))
            return on, off, first
    raise LibraryError(f"library '{library.name}' sets off by steps that are too short for an escalator")


def _gap(holds: Sequence[Foothold], on: int, off: int, per_frame: float) -> tuple[float, float]:
    """Return the last toe before the last edge and the first heel beyond it, as far as the treads have carried [m]."""
    landed = holds[off].start
    low = max(hold.toe + per_frame * (hold.stop - 1 - landed) for hold in holds[on:off])
    return low, min(hold.heel for hold in holds[off:])


def _last_edge(holds: Sequence[Foothold], on: int, off: int, per_frame: float) -> float:
    """Return the distance of the last edge [m], with what the treads have carried until then."""
    return 0.5 * sum(_gap(holds, on, off, per_frame)) + per_frame * (holds[off].start - holds[on].start)


def _carried(base: Clip, holds: Sequence[Foothold], on: int, off: int, first: float, ride: Ride) -> tuple[Clip, float]:
    """Return the clip as treads carry it, and how far from the first edge the middle of its tread would be at 0 s [m].

    Args:
        base: the clip on a level floor.
        holds: its footholds.
        on: number of the first of them on a tread.
        off: number of the first of them beyond.
        first: distance of the first edge [m].
        ride: the ride.
    """
    belt, per_frame, frames = ride.escalator, ride.speed / base.fps, np.arange(float(len(base)))
    landed, left = holds[on].start, holds[off].start
    stand = [hold for hold in holds[on:off] if hold.start < left and 2 * (hold.stop - hold.start) > left - landed]
    middle = 0.5 * (min(hold.heel for hold in stand) + max(hold.toe for hold in stand))

    def carried(way: FloatArray, place: float) -> FloatArray:
        out = np.zeros((len(way), 3))
        out[:, 0], out[:, 2] = way, belt.climbed(place + way - first)
        return out

    way = per_frame * (frames - landed)
    moves = [np.zeros((len(base), 3)) for _ in holds]
    for k in range(on, len(holds)):
        if k >= off:
            moves[k] += [per_frame * (left - landed), 0.0, float(belt.climbed(belt.length))]
        elif holds[k] in stand:
            moves[k] = carried(way, middle)
        else:
            moves[k] = carried(way, 0.5 * (holds[k].heel + holds[k].toe))
    soft = _GENTLE_S * base.fps
    pace = ease((frames - landed + soft) / (2.0 * soft)) - ease((frames - left + soft) / (2.0 * soft))
    root = per_frame * np.concatenate([[0.0], np.cumsum(0.5 * (pace[1:] + pace[:-1]))])
    plans = {side: _plan(base, side, holds, moves) for side in LEGS}
    return led_to(base, plans, carried(root, middle)), middle - first - per_frame * landed


def _plan(clip: Clip, side: str, holds: Sequence[Foothold], moves: Sequence[FloatArray]) -> FootPlan:
    """Return the targets of one foot, whose stances move as given (F, 3) each."""
    positions, world = clip.joint_transforms()
    ankle = clip.skeleton.roles[f"{side}_ankle"]
    own = [(hold, move) for hold, move in zip(holds, moves, strict=True) if hold.side == side]
    target, planted = np.array(positions[:, ankle]), np.zeros(len(clip), bool)
    target[: own[0][0].start] += own[0][1][: own[0][0].start]
    target[own[-1][0].stop :] += own[-1][1][own[-1][0].stop :]
    for hold, move in own:
        target[hold.start : hold.stop] += move[hold.start : hold.stop]
        planted[hold.start : hold.stop] = True
    for (before, first), (after, second) in pairwise(own):
        rows = np.arange(before.stop, after.start)
        target[rows] += _between(first, second, before.stop - 1, after.start, rows)
    return FootPlan(target, world[:, ankle], None, planted)


def _between(first: FloatArray, second: FloatArray, begin: int, end: int, rows: np.ndarray) -> FloatArray:
    """Return moves (R, 3) in frames between two, which go on from one stance to another without a jolt.

    A cubic curve leads from the move (F, 3) of the first stance at its last frame to that of the second at its first
    frame, with their speeds.
    """
    span, t = float(end - begin), ((rows - begin) / (end - begin))[:, None]
    slow, fast = span * _pace(first, begin), span * _pace(second, end)
    return np.asarray(
        (2.0 * t**3 - 3.0 * t**2 + 1.0) * first[begin] + (t**3 - 2.0 * t**2 + t) * slow
        + (3.0 * t**2 - 2.0 * t**3) * second[end] + (t**3 - t**2) * fast
    )  # fmt: skip


def _pace(move: FloatArray, frame: int) -> FloatArray:
    """Return how much a move (F, 3) grows in a frame; (3,)."""
    low, high = max(frame - 1, 0), min(frame + 1, len(move) - 1)
    return np.asarray((move[high] - move[low]) / (high - low))
