"""Flights of stairs: one clip from the walk on one floor to the walk on the other, with every step under a foot.

The clip is made of the library's own stair clips (into the flight, treads, out of it), laid end to end and put on the
treads of the real flight. A flight with fewer risers than those clips have is left earlier: the last steps are level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior, Library
from gaitway.library.fitting.fitted_clip import FittedClip
from gaitway.library.fitting.footholds import Foothold, GroundProfile, footholds, moved_to
from gaitway.motion.blending import concatenate
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place

DIRECTIONS = ("up", "down")
RUNS = (0.24, 0.34)
"""Shallowest and deepest tread that clips are fitted to [m]."""
RISES = (0.13, 0.20)
"""Lowest and highest riser that clips are fitted to [m]."""
MOST_STEPS = 200
"""Greatest number of steps of one flight."""
_LEAST_RISER = 0.05
"""Stances differ in height by more than this if a riser is between them [m]."""
_LEVEL_STEP = 0.45
"""Least length of a step on the floor in place of a step up or down [m]."""
_TOE_ROOM = 0.03
"""Least distance of the toes from a riser that the person is about to climb [m]."""


@dataclass(frozen=True)
class Flight:
    """A straight flight of equal steps between two floors."""

    steps: int
    """Number of risers."""
    run: float
    """Depth of a tread [m]."""
    rise: float
    """Height of a riser [m]."""

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= MOST_STEPS or int(self.steps) != self.steps:
            raise LibraryError(f"a flight of {self.steps} steps; write a whole number from 1 to {MOST_STEPS}")
        for word, value, (low, high) in (("treads", self.run, RUNS), ("risers", self.rise, RISES)):
            if not low - 1e-9 <= value <= high + 1e-9:
                raise LibraryError(
                    f"stairs with {word} of {value:.4g} m; clips are fitted to {word} of {low:g} to {high:g} m"
                )

    @property
    def label(self) -> str:
        """Name of its measures, such as "12x290x170": steps, run and rise [mm]."""
        return f"{self.steps}x{1000.0 * self.run:.4g}x{1000.0 * self.rise:.4g}"


@dataclass(frozen=True)
class _StairClips:
    """Behaviours of a library that lead into a flight, along it and out of it."""

    start: Behavior
    cycle: Behavior
    stop: Behavior


def fitted_flight(library: Library, flight: Flight, direction: str) -> FittedClip:
    """Return the clip that climbs or descends a flight, from walking to walking.

    Args:
        library: library with behaviours of the kinds "stairs_up" or "stairs_down".
        flight: measures of the flight.
        direction: "up" or "down".

    Raises:
        LibraryError: if the library has no such behaviours.
    """
    if direction not in DIRECTIONS:
        raise LibraryError(f"direction '{direction}' of a flight; write 'up' or 'down'")
    kind = f"stairs_{direction}"
    parts = _stair_clips(library, kind)
    base, holds, levels = _composed(library, parts, flight.steps)
    sign = 1.0 if direction == "up" else -1.0
    levels = np.minimum(levels, flight.steps)
    moves, edge = _moves(holds, levels, flight, sign)
    ground = flight_profile(flight, direction, edge)
    name = f"{kind}_{flight.label}"
    clip = replace(moved_to(base, holds, moves, ground), name=name, labels=(kind,))
    last = edge + (flight.steps - 1) * flight.run
    lift, land = _level_until(holds, levels), _level_from(holds, levels)
    times = np.arange(len(clip)) / clip.fps
    return FittedClip(
        clip=clip,
        start=parts.start.start,
        end=parts.stop.end,
        kind=kind,
        edge=edge,
        last_edge=last,
        rise=sign * flight.steps * flight.rise,
        lift_s=lift / clip.fps,
        land_s=land / clip.fps,
        pass_time=float(np.interp(0.5 * (edge + last), clip.root_positions[:, 0], times)),
    )


def _level_until(holds: Sequence[Foothold], levels: FloatArray) -> int:
    """Return the frame in which the first foot leaves the floor for a tread."""
    first = holds[int(np.argmax(levels > 0.0))]
    return max(hold.stop for hold in holds if hold.side == first.side and hold.stop <= first.start)


def _level_from(holds: Sequence[Foothold], levels: FloatArray) -> int:
    """Return the first frame in which both feet have left the treads for the floor."""
    beyond = [hold for hold, level in zip(holds, levels, strict=True) if level == levels[-1]]
    return max(min(hold.start for hold in beyond if hold.side == side) for side in ("left", "right"))


def flight_profile(flight: Flight, direction: str, edge: float) -> GroundProfile:
    """Return the heights of a flight along +x, whose first riser is at `edge` [m]; 0 before it."""
    rise = flight.rise if direction == "up" else -flight.rise

    def heights(x: FloatArray) -> FloatArray:
        out: FloatArray = rise * np.clip(np.floor((x - edge) / flight.run) + 1.0, 0.0, float(flight.steps))
        return out

    return heights


def _stair_clips(library: Library, kind: str) -> _StairClips:
    own = [b for b in library.graph.behaviors if b.obstacle == kind]
    for cycle in own:
        if cycle.start == cycle.end:
            starts = [b for b in own if b.end == cycle.start and b.start != b.end]
            stops = [b for b in own if b.start == cycle.end and b.start != b.end]
            for start in starts:
                for stop in stops:
                    if start.start == stop.end:
                        return _StairClips(start, cycle, stop)
    raise LibraryError(
        f"library '{library.name}' has no clips of kind '{kind}' that lead into a flight, along it and out of it"
    )


def _composed(library: Library, parts: _StairClips, steps: int) -> tuple[Clip, list[Foothold], FloatArray]:
    """Return a clip with at least as many risers as asked for, its footholds, and the level of each (H,)."""
    cycles: list[Clip] = []
    start, stop = (library.clips[behavior.clips[0]] for behavior in (parts.start, parts.stop))
    while True:
        base = place(concatenate([start, *cycles, stop], 0.2, overlap=False), np.zeros(3))
        holds = footholds(base)
        levels = _levels(holds)
        if levels.max() >= steps:
            return base, holds, levels
        before = int(levels.max())
        lacking = steps - before
        cycle = [library.clips[name] for name in parts.cycle.clips]
        # every cycle gains as much as the first, which is found by trying
        gain = 1 if not cycles else max(before - _top(start, stop), 1) // len(cycles)
        cycles += [cycle[(len(cycles) + k) % len(cycle)] for k in range(max(-(-lacking // gain), 1) if cycles else 1)]


def _top(start: Clip, stop: Clip) -> int:
    return int(_levels(footholds(place(concatenate([start, stop], 0.2, overlap=False), np.zeros(3)))).max())


def _levels(holds: Sequence[Foothold]) -> FloatArray:
    """Return how many risers are before each foothold, whether they lead up or down; (H,)."""
    heights = np.array([hold.height for hold in holds])
    jumps = np.abs(np.diff(heights))
    risers = jumps[jumps > _LEAST_RISER]
    if not len(risers):
        raise LibraryError("stair clips that lead neither up nor down")
    return np.asarray(np.round(np.abs(heights - heights[0]) / float(np.median(risers))))


def _moves(holds: Sequence[Foothold], levels: FloatArray, flight: Flight, sign: float) -> tuple[FloatArray, float]:
    """Return how far each foothold is moved (H, 3), and the distance of the first riser [m].

    The approach stays. Every tread gets its foot where it has room, and on the floor beyond steps go on as they did.
    """
    moves = np.zeros((len(holds), 3))
    first = int(np.argmax(levels > 0.0))
    anchor = holds[first] if sign > 0.0 else holds[first - 1]
    edge = anchor.heel - _heel_from_edge(anchor, flight.run, sign) + (flight.run if sign < 0.0 else 0.0)
    placed = 0.0
    for k, (hold, level) in enumerate(zip(holds, levels, strict=True)):
        heel = hold.heel
        if level == 0.0:
            heel = min(heel, edge - _TOE_ROOM - hold.length) if sign > 0.0 and k == first - 1 else heel
        elif level > levels[k - 1]:
            heel = edge + (level - 1.0) * flight.run + _heel_from_edge(hold, flight.run, sign)
        else:
            base = hold.heel - holds[k - 1].heel
            heel = placed + (max(base, _LEVEL_STEP) if level == flight.steps else base)
        placed = heel
        moves[k] = heel - hold.heel, 0.0, sign * level * flight.rise - hold.height
    return moves, edge


def _heel_from_edge(hold: Foothold, run: float, sign: float) -> float:
    """Return how far the heel of a foot on a tread is from the edge or riser behind it [m].

    Up, toes keep away from the next riser, and heels may stand over on shallow treads. Down, heels keep away from the
    riser behind, and toes may stand over.
    """
    spare = run - hold.length
    if sign > 0.0:
        return spare - float(np.clip(0.5 * spare + 0.027, 0.027, 0.08))
    over = float(np.clip(0.04 - 0.5 * spare, -0.03, 0.3 * hold.length))
    return spare + over
