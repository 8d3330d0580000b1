"""Who cannot get to the goal whatever the others do: a goal that is closed off, or a gap too narrow for the body.

Reachability is read from the distance fields that plans are searched in. A body gets through a gap if the gap is as
wide as its narrowest gait. So the widest way from start to goal is found: the one whose narrowest place is widest.
Special obstacles that the library passes are open. Others and movers are left out, since they may go away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.scene.characters import Character
from gaitway.space import _distance_kernels, distances
from gaitway.space._distance_kernels import Squares
from gaitway.space._route_kernels import BORDER, CLOSED, OPEN, STEPS
from gaitway.space.fields import OVERHANG, Labels, WorldFields
from gaitway.space.prepared import PlanningContext, PreparedLibrary
from gaitway.space.routes import RouteMap
from gaitway.world.exact import footprint_distance
from gaitway.world.footprint import Footprint, Outlines
from gaitway.world.obstacle import PASSABLE
from gaitway.world.occupancy import BODY_BAND, body_footprint

SLACK = 0.05
"""Width that a gap must have beyond that of the body [m]: steps do not end exactly in the middle of it."""
_STEPS = 0.1
"""Least length of a move that leads through a gap [m]."""
_TURNED = np.radians(10.0)
"""Greatest turn of a move that is repeated straight on [rad]."""
_AGREE = 0.005
"""Difference between a gap and the width that is needed below which the gap is wide enough [m]."""
_STRAIGHT = 3
"""Number of cells on either side of a place whose direction is that of the way there."""
_ASIDE, _POINTS = 1.5, 61
"""How far aside of a place the middle of the gap is looked for [cells], and the number of points."""
_NARROWER = 8
"""Number of halvings by which the width of the widest way is found: within 1 mm."""
_EXPLAINED = 40
"""Most starts and goals that are explained in one library; what is found about one holds for all in the same place."""
_KEPT = 12
"""Number of widths whose parts of space are kept, since most searches ask for the same ones."""
_NAMED = 3
"""Most obstacles that are named."""
_SIDES = 600
"""Number of places along the edge of a part of space at which it is asked what is there."""
_NEIGHBORS = read_only(np.array([(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]))
"""Row and column of the steps to the neighbours of a cell, anticlockwise from +x, as route fields have them."""


@dataclass(frozen=True)
class Gap:
    """A place that is too narrow."""

    place: tuple[float, float]
    """x, y [m]."""
    width: float
    """Its width [m]."""
    needed: float
    """Width that the body needs there [m]; less along the bounds, over which it may lean."""
    between: tuple[str, ...]
    """Names of the obstacles on its sides, or "bounds"."""

    def words(self, who: str) -> str:
        """Return the place, the sides and the widths in words, for a library of a name."""
        sides = ["the bounds" if name == "bounds" else f"'{name}'" for name in self.between]
        beside = f"between {' and '.join(sides)} " if len(sides) > 1 else f"beside {sides[0]} " if sides else ""
        where = f"the gap at ({self.place[0]:.1f}, {self.place[1]:.1f}) {beside}is"
        return f"{where} {self.width:.2f} m wide, and '{who}' needs {self.needed:.2f} m"


@dataclass(frozen=True)
class Unreachable:
    """A character that cannot get to its goal."""

    character: Character
    gaps: tuple[Gap, ...] = ()
    """Gaps that are too narrow on the widest way, the narrowest first; empty if there is no way at all."""
    closed_by: tuple[str, ...] = ()
    """What closes the start or the goal off if there is no way at all, in words."""
    inside: str = ""
    """"start" or "goal", where that lies in what closes it off."""
    why: str = ""
    """Why there is no way, in words, if nothing closes it off."""

    def reason(self) -> str:
        """Say why, in one line without the name."""
        if self.why:
            return self.why
        if self.gaps:
            more = len(self.gaps) - 1
            others = f" (and {more} more gap{'s are' if more > 1 else ' is'} too narrow)" if more else ""
            return self.gaps[0].words(self.character.library.name) + others
        who = self.closed_by
        if not who:
            return "no way that leads there is wide enough"
        listed = f"{', '.join(who[:-1])} and {who[-1]}" if len(who) > 1 else who[0]
        if self.inside:
            return f"the {self.inside} is in {listed}, or too near to it"
        return f"no way leads there; {listed} {'close' if len(who) > 1 else 'closes'} it off"


def unreachable(characters: Sequence[Character], context: PlanningContext) -> list[Unreachable]:
    """Find the characters that cannot get to their goals, whatever the others do.

    Args:
        characters: characters of a scene.
        context: the world, and libraries prepared for it.
    """
    groups: dict[int, tuple[PreparedLibrary, list[Character]]] = {}
    for character in characters:
        prepared = context.prepared(character)
        groups.setdefault(id(prepared.fields), (prepared, []))[1].append(character)
    found = [lost for prepared, members in groups.values() for lost in _Space(prepared).lost(members)]
    places = {character.name: number for number, character in enumerate(characters)}
    return sorted(found, key=lambda lost: places[lost.character.name])


def width_needed(table: ActionTable, discs: BodyDiscs) -> float:
    """Return the width of the narrowest gap that a library's bodies get through [m].

    A body gets through by a gait that follows itself and goes nearly straight, such as a walk or side steps, and needs
    the width of all that the gait sweeps, across its direction. A library without such gaits counts by its other moves.
    """
    lengths = np.hypot(table.moves[:, 0], table.moves[:, 1])
    going = (lengths > _STEPS) & (table.kind < 0)
    repeated = going & (table.start_state == table.end_state) & (np.abs(table.moves[:, 2]) < _TURNED)
    actions = np.flatnonzero(repeated if repeated.any() else going)
    return min((_swept_width(table, discs, action) for action in actions.tolist()), default=0.0) + SLACK


def _swept_width(table: ActionTable, discs: BodyDiscs, action: int) -> float:
    """Return the width of what an action sweeps, across its direction [m]."""
    x, y = table.moves[action, :2] / np.hypot(*table.moves[action, :2])
    part = discs.static[discs.static_starts[action] : discs.static_starts[action + 1]]
    across = part[:, 1] * x - part[:, 0] * y
    return float((across + part[:, 2]).max() - (across - part[:, 2]).min())


class _Space:
    """Free space for one library: how far each cell is from what the library cannot pass."""

    def __init__(self, prepared: PreparedLibrary) -> None:
        self.fields, self.spec = prepared.fields, prepared.fields.spec
        self.needs = width_needed(prepared.table, prepared.discs)
        self.thin = distances.half_diagonal(self.spec)
        """Clearance below which a cell may be met by a wall, so that no way leads through it [m]."""
        self.clear = _clearance(self.fields)
        self._known_parts: dict[float, Labels] = {}
        self.labels = self._parts(self._least)

    @property
    def _least(self) -> float:
        return max(0.5 * self.needs, self.thin)

    def lost(self, members: Sequence[Character]) -> list[Unreachable]:
        """Return the members that cannot get to their goals."""
        ends = np.array([(*member.start[:2], *member.goal) for member in members])
        start, goal = self._at(self.labels, ends[:, :2]), self._at(self.labels, ends[:, 2:])
        unsure = [members[k] for k in np.flatnonzero((start == 0) | (start != goal)).tolist()]
        known: dict[tuple[object, ...], Unreachable | None] = {}
        found = []
        for member in unsure:
            start_parts, goal_parts = self._sides(self.labels, member)
            if start_parts & goal_parts:
                continue
            key: tuple[object, ...] = (start_parts, goal_parts)
            if not (start_parts and goal_parts):  # in a narrow place of its own
                key = (*key, member.name)
            if key not in known:
                known[key] = self._explained(member) if len(known) < _EXPLAINED else Unreachable(member)
            why = known[key]
            if why is not None:
                found.append(replace(why, character=member))
        return found

    def _explained(self, member: Character) -> Unreachable | None:
        """Return why a member does not get to its goal; None if it does after all."""
        low, high = self.thin, self._least
        parts = self._parts(low)
        sides = self._sides(parts, member)
        for inside, point, side in zip(("start", "goal"), (member.start[:2], member.goal), sides, strict=True):
            if not side:
                return Unreachable(member, closed_by=self._covering(point), inside=inside)
        if not sides[0] & sides[1]:
            return Unreachable(member, closed_by=self._closers(parts, *sides))
        for _ in range(_NARROWER):
            middle = 0.5 * (low + high)
            start, goal = self._sides(self._parts(middle), member)
            if start & goal:
                low = middle
            else:
                high = middle
        gaps = [gap for gap in self._gaps(member, low) if gap.width < gap.needed - _AGREE]
        return Unreachable(member, tuple(sorted(gaps, key=lambda gap: gap.width))) if gaps else None

    def _parts(self, radius: float) -> Labels:
        """Return the parts of space in which a disc of a radius [m] can be, 0 where it cannot; (rows, columns)."""
        if radius not in self._known_parts:
            if len(self._known_parts) >= _KEPT:
                self._known_parts.pop(next(iter(self._known_parts)))
            self._known_parts[radius] = scipy.ndimage.label(self.clear > radius, structure=np.ones((3, 3)))[0]
        return self._known_parts[radius]

    def _at(self, labels: Labels, points: FloatArray) -> Labels:
        cells = self.spec.cells(points)
        inside = self.spec.contains(cells)
        row, column = np.where(inside[..., None], cells, 0).T
        return np.where(inside, labels[row, column], np.int32(0))

    def _sides(self, labels: Labels, member: Character) -> tuple[frozenset[int], frozenset[int]]:
        """Return the parts that a member gets to from its start, and those from which it gets to its goal."""
        return self._around(labels, member.start[:2], 0.0), self._around(labels, member.goal, _room(member))

    def _around(self, labels: Labels, point: tuple[float, float], tolerance: float) -> frozenset[int]:
        """Return the parts that a character gets to from a point, or from within a tolerance of it [m]."""
        window, own = self._vicinity(point, tolerance)
        return frozenset(np.unique(labels[window][own & (labels[window] > 0)]).tolist())

    def _vicinity(self, point: tuple[float, float], tolerance: float) -> tuple[tuple[slice, slice], BoolArray]:
        """Return a window about a point, and the cells in it to which a character gets, however narrow it is there.

        Right at a wall, where it may stand but not walk, a character gets as far away as its own width.
        """
        reach = tolerance + 0.5 * self.needs + 2.0 * self.spec.cell
        row, column = (int(v) for v in self.spec.cells(point))
        half, (rows, columns) = int(reach / self.spec.cell) + 1, self.spec.shape
        window = (slice(max(row - half, 0), min(row + half + 1, rows)),
                  slice(max(column - half, 0), min(column + half + 1, columns)))  # fmt: skip
        y, x = (np.arange(s.start, s.stop) - middle for s, middle in zip(window, (row, column), strict=True))
        away = np.hypot(y[:, None], x[None, :]) * self.spec.cell
        local = scipy.ndimage.label(self.clear[window] > self.thin, structure=np.ones((3, 3)))[0]
        near = away <= max(tolerance, 2.0 * self.spec.cell)
        return window, np.isin(local, np.unique(local[near & (local > 0)])) & (away <= reach) & (local > 0)

    def _closers(self, parts: Labels, start: frozenset[int], goal: frozenset[int]) -> tuple[str, ...]:
        """Return what lies between two parts of space: what both of them touch, or else what the smaller one does."""
        sides = [self._touched(np.isin(parts, list(labels))) for labels in (start, goal)]
        both = Counter({index: min(sides[0][index], sides[1][index]) for index in sides[0].keys() & sides[1].keys()})
        found = both or min(sides, key=lambda side: sum(side.values()))
        names = list(dict.fromkeys(self._name(index) for index, _ in found.most_common()))
        more = len(names) - _NAMED
        return (*names[:_NAMED], *([f"{more} more"] if more > 0 else [])) or ("steep ground",)

    def _covering(self, point: tuple[float, float]) -> tuple[str, ...]:
        """Return what a point lies in, or is nearest to."""
        (index,) = self._nearest(np.array([point], dtype=np.float64), np.full(1, np.inf)).tolist()
        return ("steep ground" if index < 0 else self._name(index),)

    def _touched(self, part: BoolArray) -> Counter[int]:
        """Return the obstacles along the edge of a part of space, with how often each is nearest."""
        edge = np.argwhere(part & ~scipy.ndimage.binary_erosion(part))
        edge = edge[:: max(len(edge) // _SIDES, 1)]
        reach = self.clear[edge[:, 0], edge[:, 1]].astype(np.float64) + self.spec.cell
        return Counter(index for index in self._nearest(self.spec.centers(edge), reach).tolist() if index >= 0)

    def _nearest(self, points: FloatArray, reach: FloatArray) -> IntArray:
        """Return the index of the solid that is nearest to each point (N, 2) within a reach (N,) [m], or -1; (N,)."""
        which, away = np.full(len(points), -1), np.array(reach, dtype=np.float64)
        _distance_kernels.nearest(*Outlines.of(list(self._solids.values())), read_only(points), which, away)
        return np.where(which >= 0, np.array([*self._solids, -1])[which], -1)

    def _gaps(self, member: Character, radius: float) -> list[Gap]:
        """Return the gaps on the shortest of the ways along which a disc of a radius [m] gets to a goal."""
        way = self._way(member, radius)
        labels = self.labels[way[:, 0], way[:, 1]]
        known, gaps = np.flatnonzero(labels), []
        for a, b in zip(known[:-1].tolist(), known[1:].tolist(), strict=True):
            if labels[a] != labels[b]:
                gaps.append(self._gap(way[a : b + 1]))
        if not gaps and len(way):  # the start or the goal itself is in a place that is too narrow
            gaps.append(self._gap(way))
        return gaps

    def _way(self, member: Character, radius: float) -> IntArray:
        """Return the cells from start to goal of the shortest way that keeps a clearance [m]; (N, 2)."""
        goal, room = member.goal, _room(member)
        open_cells = self.clear > radius
        for point, tolerance in ((member.start[:2], 0.0), (goal, room)):
            window, own = self._vicinity(point, tolerance)
            open_cells[window] |= own
        cells = np.pad(np.where(open_cells, OPEN, CLOSED).astype(np.uint8), BORDER)
        cells.setflags(write=False)
        found = RouteMap(self.spec, cells, self.fields, 0.0, False, len(_NEIGHBORS)).field(goal, room)
        at = self.spec.cells(member.start[:2])
        out = [at]
        while 0.0 < found.lengths[tuple(at)] < np.inf and len(out) < found.lengths.size:
            at = at - _NEIGHBORS[found.ways[tuple(at)] // (STEPS // len(_NEIGHBORS))]
            out.append(at)
        return np.array(out)

    def _gap(self, way: IntArray) -> Gap:
        """Return the narrowest place of a piece of a way that leads from one wide part of space to another."""
        low, high = way.min(axis=0), way.max(axis=0)
        margin = int(self.needs / self.spec.cell) + 2
        low, high = np.maximum(low - margin, 0), np.minimum(high + margin + 1, self.spec.shape)
        part = self.labels[low[0] : high[0], low[1] : high[1]]
        turn = len(way) // 2
        if part.any():  # what is nearest changes in the gap; along a wall before it the way may be as narrow
            rows, columns = scipy.ndimage.distance_transform_edt(part == 0, return_distances=False, return_indices=True)
            nearest = part[rows, columns][tuple((way - low).T)]
            changed = np.flatnonzero(nearest != nearest[0])
            turn = int(changed[0]) if len(changed) else turn
        clear = self.clear[way[:, 0], way[:, 1]]
        narrow = np.flatnonzero(clear <= clear.min() + 0.5 * self.spec.cell)
        at = int(narrow[np.argmin(np.abs(narrow - turn))])
        along = (way[min(at + _STRAIGHT, len(way) - 1)] - way[max(at - _STRAIGHT, 0)]).astype(np.float64)
        across = np.array([-along[0], along[1]]) / max(float(np.hypot(*along)), 1e-9)  # rows lie along y
        offsets = np.linspace(-_ASIDE, _ASIDE, _POINTS) * self.spec.cell
        points = self.spec.centers(way[at]) + offsets[:, None] * across
        near = self._near(points)
        away = self._distances(points, near)
        best = int(np.argmax(away.min(axis=0)))
        half = min(float(away[:, best].min()), float(clear[at]) + self.thin)  # steep ground is no obstacle
        sides = [k - 1 for k in np.argsort(away[:, best]).tolist() if away[k, best] <= half + self.spec.cell]
        names = sorted({self.fields.name(near[k]) for k in sides if k >= 0})
        lean = OVERHANG if -1 in sides else 0.0
        x, y = points[best].tolist()
        between = (*names, "bounds") if lean else tuple(names)
        return Gap((x, y), 2.0 * half - lean, self.needs - lean, between)

    def _near(self, points: FloatArray) -> list[int]:
        """Return the indices of the solids that may be on the sides of a gap."""
        reach = self.needs + self.spec.cell
        (x0, y0), (x1, y1) = points.min(axis=0) - reach, points.max(axis=0) + reach
        boxes = {index: solid.bounds for index, solid in self._solids.items()}
        return [i for i, (a0, b0, a1, b1) in boxes.items() if a1 >= x0 and b1 >= y0 and a0 <= x1 and b0 <= y1]

    def _distances(self, points: FloatArray, near: Sequence[int]) -> FloatArray:
        """Return the distances of points (N, 2) from bounds, over which one may lean, and from S solids; (1 + S, N)."""
        x0, y0, x1, y1 = self.fields.world.bounds
        x, y = points.T
        edges = np.minimum.reduce([x - x0, x1 - x, y - y0, y1 - y]) + OVERHANG
        return np.stack([edges, *(footprint_distance([self._solids[index]], points) for index in near)])

    def _name(self, index: int) -> str:
        """Return an obstacle in words."""
        name = f"'{self.fields.name(index)}'"
        kind = self.fields.world.obstacles[index].kind
        return f"{name} ({kind}, which no behaviour here passes)" if index in self.fields.troubles else name

    @cached_property
    def _solids(self) -> dict[int, Footprint]:
        """Footprints of all obstacles that the library cannot pass, by index."""
        fields, world = self.fields, self.fields.world
        blocking = [(i, o) for i, o in enumerate(world.obstacles)
                    if o.kind != PASSABLE and (not o.special or i in fields.troubles)]  # fmt: skip
        found = {i: body_footprint(o.shape, world.terrain, BODY_BAND, 0.0) for i, o in blocking}
        return {index: footprint for index, footprint in found.items() if not footprint.empty}


def _room(member: Character) -> float:
    """Return how far from its goal a member may stop [m]."""
    return member.plan.tolerance


def _clearance(fields: WorldFields) -> Squares:
    """Return how far each cell's middle is from all that the library cannot pass [m]; 0 out of bounds."""
    squares = fields.arrays.squares.max(axis=0)
    blocked = [fields.world.obstacles[index].shape.footprint() for index in fields.troubles]
    if blocked:
        squares = np.minimum(squares, distances.near_squares(Outlines.of(blocked), fields.spec))
    clear: Squares = np.sqrt(squares)
    x0, y0, x1, y1 = fields.world.bounds
    (x, y), (rows, columns), cell = fields.spec.origin, fields.spec.shape, fields.spec.cell
    along, across = x + cell * (np.arange(columns) + 0.5), y + cell * (np.arange(rows) + 0.5)
    clear[(across < y0) | (across > y1)] = 0.0
    clear[:, (along < x0) | (along > x1)] = 0.0
    return clear
