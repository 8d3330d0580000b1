"""Near and within regions of special obstacles (Lau 2009, chapter 3.3), and whether a character can pass one.

*Within* is where a character may only be while it executes the special motion: the obstacle grown by the character's
radius. *Near* is where such a motion may begin: at the distance from the obstacle that the motion covers before it gets
there. Both follow from the `Reach` of the motion, which is all that a world has to know about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import shapely

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import WorldError
from gaitway.world.exact import footprint_distance
from gaitway.world.footprint import Footprint, core_geometry
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Stairs

MARGIN = 0.02
"""Clearance that a body must keep over or under an obstacle [m]."""
WIDTH_STEP = 0.05
"""Distance of the heights for which a motion knows its width [m]."""
STEP_TOLERANCE = 0.03
"""Greatest difference of a block or step from the height (or depth) that a motion was made for [m]."""
BEHAVIOR_KINDS = {"stairs": ("stairs_up", "stairs_down")}
"""Kinds of behaviour that pass a kind of obstacle, where they are not called the same."""
_ANGLES = np.radians(np.arange(0.0, 46.0, 5.0))
"""Angles off the straight line across an obstacle that are considered for `near` [rad]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reach:
    """Reach of one motion: the space that the body sweeps, seen from the side.

    Stations are metres along the straight line from the root's first to its last place. A thing that lies across the
    way between two stations is passed if it stays under `lowest`, or over `highest`, all the way between them.
    """

    behavior: str
    kind: str
    """Kind of the behaviour: "jump", "duck", "stairs_up" ..."""
    cell: float
    """Length of a station [m]."""
    first: float
    """Begin of the first station [m]; the root starts at 0."""
    lowest: FloatArray
    """Lowest point of the body [m] over each station at any time, from the floor it starts on; +inf where it never is;
    (N,)."""
    highest: FloatArray
    """Highest point of the body [m] over each station at any time; -inf where it never is; (N,)."""
    passing: float
    """Station of the root at the time of passing."""
    move: tuple[float, float, float]
    """Planar pose at its end, seen from its start; x, y [m] and heading [rad]."""
    heading: float
    """Direction of the line of stations, seen from its first pose [rad]."""
    half_width: float
    """Greatest distance of the body from that line [m]."""
    low_widths: FloatArray = field(default_factory=lambda: np.empty(0))
    """The same of those parts alone that are at any time lower than a height: k times `WIDTH_STEP`; (K,)."""
    high_widths: FloatArray = field(default_factory=lambda: np.empty(0))
    """The same of those parts alone that are at any time higher than that; (K,). Without these, all of the body."""
    duration: float
    """Duration of the motion [s]."""
    pass_time: float
    """Time of passing, from the start [s]."""
    rise: float = 0.0
    """Height of the floor at the end above that at the start [m]."""
    step: tuple[float, float] | None = None
    """Rise (below 0 on the way down) and run [m] of what it steps onto, where it steps up or down; the run is 0 where
    the clip does not tell, as of a single block."""
    edge: tuple[float, float] | None = None
    """Nearest and farthest position of the edge of the block or first step [m], for motions that go up or down."""
    enters: bool = True
    """Whether it begins before the obstacle, and not already on it like a further flight of stairs."""

    def __post_init__(self) -> None:
        for name in ("lowest", "highest", "low_widths", "high_widths"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.ndim != 1 or np.isnan(values).any():
                raise WorldError(f"reach of '{self.behavior}': {name} must be one number for each station")
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        if len(self.lowest) != len(self.highest) or not self.cell > 0.0:
            raise WorldError(f"reach of '{self.behavior}': lowest and highest must go together, over cells above 0")

    def width(self, bottom: float, top: float) -> float:
        """Return the greatest distance from the line of what may touch a thing between two heights over the floor [m].

        Who steps over a fence has arms that are wider than the legs, but they are far above it.
        """
        out = self.half_width
        for widths, at in ((self.low_widths, np.ceil((top + MARGIN) / WIDTH_STEP)),
                           (self.high_widths, np.floor((bottom - MARGIN) / WIDTH_STEP))):  # fmt: skip
            if 0 <= at < len(widths):
                out = min(out, float(widths[int(at)]))
        return out

    def greatest_over(self, depth: float) -> float:
        """Return the greatest height of an obstacle of a depth [m] that the motion passes over [m]; 0 if none."""
        return float(self._windows(depth)[1].max(initial=0.0))

    def least_under(self, depth: float) -> float:
        """Return the least clearance under an obstacle of a depth [m] that the motion passes under [m]; inf if none."""
        return float(self._windows(depth)[2].min(initial=np.inf))

    def placements(self, depth: float, bottom: float, top: float) -> tuple[float, float] | None:
        """Return the range for the middle of an obstacle of a depth [m] along the path; None if there is none.

        Of several stretches it is the one nearest to `passing`, so that a low thing is not stepped over by chance.
        """
        middles, over, under = self._windows(depth)
        good = (top <= over) | (bottom >= under)
        if not good.any():
            return None
        best = int(np.argmin(np.where(good, np.abs(middles - self.passing), np.inf)))
        before, after = np.flatnonzero(~good[:best]), np.flatnonzero(~good[best:])
        start = int(before[-1]) + 1 if len(before) else 0
        stop = best + int(after[0]) - 1 if len(after) else len(good) - 1
        return float(middles[start]), float(middles[stop])

    def _windows(self, depth: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return possible middles of an obstacle of a depth along the path, and what clears it there.

        Returns:
            Middles [m], heights that are cleared over, and under; (M,) each.
        """
        half = max(int(np.ceil(0.5 * depth / self.cell - 1e-9)), 1)
        if 2 * half > len(self.lowest):
            return np.empty(0), np.empty(0), np.empty(0)
        over = np.lib.stride_tricks.sliding_window_view(self.lowest, 2 * half).min(axis=1) - MARGIN
        under = np.lib.stride_tricks.sliding_window_view(self.highest, 2 * half).max(axis=1) + MARGIN
        middles = self.first + self.cell * (half + np.arange(len(over), dtype=np.float64))
        length = float(np.hypot(self.move[0], self.move[1]))
        inside = (middles > 0.5 * depth) & (middles < length - 0.5 * depth)
        return middles[inside], over[inside], under[inside]


@dataclass(frozen=True, eq=False)
class Near:
    """All places at a distance from `nearest` to `farthest` [m] of a footprint."""

    footprint: Footprint
    nearest: float
    farthest: float

    @property
    def outer(self) -> Footprint:
        """All within it, up to `farthest`."""
        return self.footprint.grown(self.farthest)

    def contains(self, points: npt.ArrayLike) -> BoolArray:
        """Return whether points (..., 2) are in the region; (...)."""
        away = footprint_distance([self.footprint], points)
        return np.asarray((away >= self.nearest) & (away <= self.farthest))


def reaches_for(obstacle: Obstacle, reaches: Iterable[Reach]) -> tuple[Reach, ...]:
    """Return the reaches whose kind fits the kind of an obstacle."""
    kinds = BEHAVIOR_KINDS.get(obstacle.kind, (obstacle.kind,))
    return tuple(reach for reach in reaches if reach.kind in kinds)


def within(obstacle: Obstacle, radius: float) -> Footprint:
    """Return the region that the root may only enter during the special motion: the obstacle grown by a radius [m]."""
    return obstacle.shape.footprint().grown(radius)


def near(
    obstacle: Obstacle, reaches: Iterable[Reach], direction: float | None = None, ground: float = 0.0
) -> Near | None:
    """Return the region where motions that pass an obstacle may begin; None if none of them can pass it.

    Args:
        obstacle: a special one.
        reaches: motions of a library that pass obstacles; those of other kinds are left out.
        direction: direction in which the obstacle is crossed [rad]; None is across its narrower side.
        ground: height of the floor in front of it [m].
    """
    own = reaches_for(obstacle, reaches)
    entering = [reach for reach in own if reach.enters] if passable(obstacle, own, direction, ground) else []
    spans = [_distances(obstacle, reach, direction, ground) for reach in entering]
    found = [span for span in spans if span is not None]
    if not found:
        return None
    return Near(obstacle.shape.footprint(), min(span[0] for span in found), max(span[1] for span in found))


def passable(obstacle: Obstacle, reaches: Iterable[Reach], direction: float | None = None, ground: float = 0.0) -> bool:
    """Return whether any of a library's motions passes an obstacle; arguments as in `near`."""
    own = reaches_for(obstacle, reaches)
    if isinstance(obstacle.shape, Stairs):  # the middle of a flight says what steps it is made for, not its ends
        own = tuple(reach for reach in own if reach.step and reach.step[1] > 0.0) or own
    return any(_distances(obstacle, reach, direction, ground) is not None for reach in own)


def obstruction(
    obstacle: Obstacle,
    reaches: Sequence[Reach],
    who: str,
    direction: float | None = None,
    ground: float = 0.0,
) -> str | None:
    """Return why an obstacle cannot be passed, in words, or None if it can; `who` is the library's name."""
    if not obstacle.special or passable(obstacle, reaches, direction, ground):
        return None
    kind, own, shape = obstacle.kind, reaches_for(obstacle, reaches), obstacle.shape
    if not own:
        return f"library '{who}' has no behaviour that passes '{kind}'"
    bottom, top = (height - ground for height in shape.heights)
    depth = depth_along(shape.footprint(), direction)
    if isinstance(shape, Stairs):
        made = sorted({(round(abs(r.step[0]), 2), round(r.step[1], 2)) for r in own if r.step and r.step[1]})
        thing, bar = (
            f"steps of {shape.rise:g} by {shape.run:g} m",
            "made for " + _listed(f"{a} by {b} m" for a, b in made),
        )
    elif any(reach.edge is not None for reach in own):
        heights = sorted({round(abs(r.rise), 2) for r in own})
        thing, bar = f"a top {top:.2f} m high", "made for " + _listed(f"{height} m" for height in heights)
    elif bottom > MARGIN:
        thing, bar = (
            f"{bottom:.2f} m clearance over {depth:.2f} m",
            f"{min(r.least_under(depth) for r in own):.2f} m at least",
        )
    else:
        thing, bar = (
            f"{top:.2f} m height over {depth:.2f} m",
            f"{max(r.greatest_over(depth) for r in own):.2f} m at most",
        )
    return f"{thing} cannot be passed by '{kind}' of library '{who}' ({bar})"


def depth_along(footprint: Footprint, direction: float | None = None) -> float:
    """Return the extent of a footprint along a direction [rad]; None takes the one in which it is narrowest."""
    if footprint.empty:
        return 0.0
    if direction is None:
        corners = shapely.get_coordinates(shapely.minimum_rotated_rectangle(core_geometry(footprint)))
        sides = np.linalg.norm(np.diff(corners[:3], axis=0), axis=1)
        return float(sides.min(initial=np.inf) if len(sides) == 2 else 0.0) + 2.0 * footprint.radius
    along = footprint.points @ [np.cos(direction), np.sin(direction)]
    return float(np.ptp(along)) + 2.0 * footprint.radius


def _listed(words: Iterable[str]) -> str:
    return " or ".join(words)


def _distances(obstacle: Obstacle, reach: Reach, direction: float | None, ground: float) -> tuple[float, float] | None:
    """Return nearest and farthest distance from the obstacle's edge to the root's first position [m], or None."""
    shape = obstacle.shape
    bottom, top = (height - ground for height in shape.heights)
    if reach.edge is not None:
        return _step_distances(obstacle, reach, top)
    depth, spans = depth_along(shape.footprint(), direction), []
    width = reach.width(bottom, top)
    for angle in _ANGLES if direction is None else _ANGLES[:1]:
        # What lies askew is met by one side of the body before the other.
        askew = depth / np.cos(angle) + 2.0 * width * np.tan(angle)
        span = reach.placements(askew, bottom, top)
        if span is not None:
            spans.append((span[0] * np.cos(angle) - 0.5 * depth, span[1] * np.cos(angle) - 0.5 * depth))
    if not spans:
        return None
    return max(float(min(span[0] for span in spans)), 0.0), float(max(span[1] for span in spans))


def _step_distances(obstacle: Obstacle, reach: Reach, top: float) -> tuple[float, float] | None:
    """Return the distances of `_distances` for motions that go up or down an obstacle.

    Motions that go down begin on top, at its edge.
    """
    if reach.edge is None:
        return None
    if isinstance(obstacle.shape, Stairs):
        rise, run = reach.step or (0.0, 0.0)
        if abs(abs(rise) - obstacle.shape.rise) > STEP_TOLERANCE:
            return None
        if run > 0.0 and abs(run - obstacle.shape.run) > STEP_TOLERANCE:
            return None
    elif abs(abs(reach.rise) - top) > STEP_TOLERANCE:
        return None
    if reach.rise < 0.0:  # on top, which is inside the footprint
        return -reach.edge[1], -reach.edge[0]
    return reach.edge
