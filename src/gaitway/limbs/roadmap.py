"""Reaching roadmaps of a standing body (Kallmann et al. 2003): grown once, asked often, mended when things move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import LimbError
from gaitway.core.suggest import did_you_mean
from gaitway.limbs import _goal_kernels, _likely_kernels
from gaitway.limbs import _roadmap_kernels as kernels
from gaitway.limbs._goal_kernels import WAY_FRAME, WAY_MARK, WAY_TURNED
from gaitway.limbs._roadmap_kernels import BOTH, DRAWS
from gaitway.limbs._stance_kernels import MARKS, NUMBERS
from gaitway.limbs.stance import GRIP, HANDS, Stander
from gaitway.limbs.surroundings import OtherBody, inside
from gaitway.motion.clip import Clip
from gaitway.world.world import World

_CHUNK, _CHUNKS = 4096, 40
"""Samples that are drawn at once, and how often: growth that gets nowhere ends."""
_ATTACH, _DETOURS = 24, 80
"""Nodes to which a posture is tried to be linked, and ways that are tried through a roadmap."""
_SEEDS = 24
"""Nodes from which goals are looked for."""
_SCALES = (0.5, 1.0, 1.5)
"""Shares of a node's trunk that a goal may have."""
_SWIVELS = (0.35, 0.0, 0.7, 1.05, -0.35, 1.4, -0.7, 1.8)
"""Angles of an elbow outward from its lowest place, the most natural first [rad]."""
_SPACING, _POSTURES = 0.2, 32
"""Way of the farthest mark between postures of a path that is smoothed [m], and greatest number of these."""
_TRIES = 12
"""Random parts of a path that are tried to be made straight."""
_WIDTHS = (0.12, 0.08, 0.05, 0.03, 0.02)
"""Widths of the Gaussian that rounds a motion, the widest first [s]."""
_LED = 16
"""How many times as many nodes are led by least squares as by chance."""
_DRAWN = 256
"""Postures that probabilistic IK goes toward."""
_UNSEEN = 0.001
"""Way of a mark that nobody sees [m]."""
_SETTLE, _PACE = 0.45, 0.75
"""Time of a short reach [s], and seconds for each metre of the hand's way."""


@dataclass(frozen=True)
class RoadmapOptions:
    """Options of a roadmap."""

    nodes: int = 1500
    """Number of postures."""
    step: float = 0.04
    """Length of an edge of the tree: mean way of the marks [m]."""
    longest: float = 0.16
    """Greatest length of a shortcut [m]."""
    worth: float = 2.0
    """How many times as long as a shortcut the way without it must be."""
    resolution: float = 0.03
    """Greatest way of any mark between two checks of an edge [m]."""
    margin: float = 0.01
    """Gap to keep from all things [m]."""
    comfort: float = 0.5
    """Weight of edges at the resting posture; that of the farthest one is 1."""

    def __post_init__(self) -> None:
        for name in ("step", "longest", "resolution"):
            if not 0.0 < getattr(self, name) < 10.0:
                raise LimbError(f"{name} {getattr(self, name):g} m of a roadmap must be above 0 and below 10")
        if self.nodes < 1 or self.worth < 1.0 or not 0.0 < self.comfort <= 1.0 or not 0.0 <= self.margin < 1.0:
            raise LimbError("a roadmap needs 1 node or more, worth 1 or more, comfort above 0 and up to 1, and a "
                            "margin from 0 to 1 m")  # fmt: skip

    @property
    def numbers(self) -> FloatArray:
        """What kernels need; (3,)."""
        return read_only(np.array([self.step, self.resolution, self.margin]))


@dataclass(frozen=True, eq=False)
class ReachPlan:
    """A reach: a path of postures, valid all along."""

    stander: Stander
    hand: str
    target: FloatArray
    """Where the middle of the hand goes [m]; (3,)."""
    path: FloatArray
    """(N, 22)."""
    options: RoadmapOptions
    detours: int = 0
    """Ways through the roadmap that were tried in vain before."""

    @property
    def length(self) -> float:
        """Way of the middle of the hand [m]."""
        at = self.stander.place(self.path).marks[:, grip_mark(self.hand)]
        return float(np.linalg.norm(np.diff(at, axis=0), axis=1).sum())

    def postures(self, fps: float = 30.0) -> FloatArray:
        """Return the postures in time, from rest to rest, rounded as far as that stays valid; (F, 22)."""
        if not fps > 0.0:
            raise LimbError(f"{fps:g} frames a second must be above 0")
        numbers = np.array(self.options.numbers)
        numbers[kernels.MARGIN] *= 0.5  # rounded corners may be half as near as planned ones
        dense = even_path(self.stander, self.path, 257)
        count = max(round((_SETTLE + _PACE * self.length) * fps), 2)
        u = np.linspace(0.0, 1.0, count + 1)
        s = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)  # the calmest way from rest to rest
        at = s * (len(dense) - 1)
        low = np.minimum(at.astype(np.int64), len(dense) - 2)
        rows = dense[low] + (at - low)[:, None] * (dense[low + 1] - dense[low])
        for width in _WIDTHS:
            room = math.ceil(4.0 * width * fps)  # the Gaussian ends there, so that both ends are met exactly
            wide = np.concatenate([np.repeat(rows[:1], room, axis=0), rows, np.repeat(rows[-1:], room, axis=0)])
            soft = gaussian_filter1d(wide, width * fps, axis=0, mode="nearest", truncate=4.0)
            soft[0], soft[-1] = rows[0], rows[-1]
            if kernels.first_bad(self.stander.table, read_only(numbers), read_only(soft)) < 0:
                return self._begun(soft)
        return self._begun(rows)

    def _begun(self, rows: FloatArray) -> FloatArray:
        """Return postures without those at both ends in which nothing moves that can be seen."""
        marks = self.stander.place(rows).marks
        first, last = (np.linalg.norm(marks - marks[k], axis=2).max(axis=1) > _UNSEEN for k in (0, -1))
        if not first.any():
            return rows[[0, -1]]
        begin, end = max(int(np.argmax(first)) - 1, 0), len(rows) - max(int(np.argmax(last[::-1])) - 1, 0)
        out = np.array(rows[begin:end])
        out[0], out[-1] = rows[0], rows[-1]
        return out

    def clip(self, fps: float = 30.0) -> Clip:
        """Return the reach as motion."""
        return self.stander.applied(self.postures(fps), fps, f"reach_{self.hand}")


@dataclass(frozen=True, eq=False)
class ReachRoadmap:
    """Postures of a standing body, and the edges between them; made by `grow_roadmap`."""

    stander: Stander
    world: World
    options: RoadmapOptions
    seed: int
    nodes: FloatArray
    """(N, 22); the first is the resting posture."""
    marks: FloatArray
    """Points of each posture [m]; (N, 12, 3)."""
    edges: IntArray
    """(E, 2)."""
    shortcuts: int
    """How many of the edges, the last ones, are shortcuts."""

    @cached_property
    def costs(self) -> FloatArray:
        """Costs of edges for reaches of the right hand, the left, and both, weighted by comfort; (3, E)."""
        a, b = self.edges.T
        middle = self.stander.place(0.5 * (self.nodes[a] + self.nodes[b])).marks
        out = np.empty((3, len(self.edges)))
        for hand in range(3):
            strain = mark_distances(middle, np.broadcast_to(self.marks[0], middle.shape), hand)
            low, span = float(strain.min(initial=np.inf)), float(np.ptp(strain)) if len(strain) else 0.0
            share = (strain - low) / span if span > 0.0 else np.zeros(len(strain))
            weight = self.options.comfort + (1.0 - self.options.comfort) * share
            out[hand] = weight * mark_distances(self.marks[a], self.marks[b], hand)
        return read_only(out)

    @cached_property
    def _arcs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Where the arcs of each node begin (N + 1,), their other ends (2 E,) and edges (2 E,)."""
        ends = np.concatenate([self.edges, self.edges[:, ::-1]])
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        first = np.searchsorted(ends[order, 0], np.arange(len(self.nodes) + 1))
        numbers = np.tile(np.arange(len(self.edges)), 2)[order]
        return read_only(first), read_only(np.ascontiguousarray(ends[order, 1])), read_only(numbers)

    def goal(
        self, hand: str, target: npt.ArrayLike, *, turn: npt.ArrayLike | None = None, start: FloatArray | None = None
    ) -> FloatArray:
        """Return the most comfortable valid posture found that brings the middle of a hand to a target; (22,).

        Args:
            hand: "right" or "left".
            target: (3,) [m].
            turn: wanted world rotation of the wrist joint, wxyz; without it the hand goes on from the forearm, where
                such a posture is found.
            start: the posture whose other arm goes on to hang as it does; None is the resting one.

        Raises:
            LimbError: that says how far it got.
        """
        number, at, begin = hand_number(hand), _target(target), self._posture(start, "start")
        way = np.zeros((1, _goal_kernels.WAY_COLUMNS))
        way[0, WAY_MARK:WAY_FRAME] = GRIP * self.stander.limbs[number].tip
        way[0, WAY_FRAME:WAY_TURNED] = self._frame(number, turn).ravel()
        way[0, WAY_TURNED] = turn is not None
        out, told = np.empty(NUMBERS), np.empty(2)
        swivels = np.array(_SWIVELS) * (1.0 if hand == "left" else -1.0)
        found = _goal_kernels.find_goal(
            self.stander.table, self.options.numbers, self.nodes, self.marks, read_only(begin), number,
            read_only(way), read_only(at), _SEEDS, read_only(np.array(_SCALES)), read_only(swivels), out, told,
        )  # fmt: skip
        if found >= 0:
            return out
        if told[0] <= 0.0 and inside(self.world, at) is None:  # some arm is long enough
            with suppress(LimbError):
                return self.likely_goal(hand, at, turn=turn, start=begin)
        raise LimbError(f"{hand} hand cannot reach {_place(at)}: {self._why(at, float(told[0]), told[1] > 0.0)}")

    def likely_goal(
        self, hand: str, target: npt.ArrayLike, *, turn: npt.ArrayLike | None = None, start: FloatArray | None = None,
        members: int = 12, tries: int = 1500,
    ) -> FloatArray:  # fmt: skip
        """Return a valid posture that brings the middle of a hand to a target, by probabilistic IK (section 7); (22,).

        The nodes whose hand is nearest are led to the target. If the hand may turn as it likes, their arms go there by
        least squares, and the easiest posture that is valid is taken. Otherwise, and if there is none, they are led by
        chance, through valid postures alone. That takes some hundred times as long as analytic IK: `goal` asks for it
        last.

        Args:
            hand: "right" or "left".
            target: (3,) [m].
            turn: wanted world rotation of the wrist joint, wxyz; None for any.
            start: the posture whose other arm is taken over where that is possible; None is the resting one.
            members: number of nodes that are led by chance.
            tries: most tries with each.

        Raises:
            LimbError: that says how near the hand came.
        """
        number, at, begin = hand_number(hand), _target(target), self._posture(start, "start")
        out, grip = np.empty(NUMBERS), read_only(GRIP * self.stander.limbs[number].tip)
        if turn is None and _likely_kernels.find_led(
            self.stander.table, self.options.numbers, self.nodes, self.marks, read_only(begin), number, read_only(at),
            grip, _LED * members, out,
        ):  # fmt: skip
            return out
        rng, drawn = np.random.default_rng([self.seed, 3]), np.empty((_DRAWN, NUMBERS))
        kernels.draw_samples(self.stander.table, read_only(rng.random((_DRAWN, DRAWS))), drawn)
        missing = _likely_kernels.find_likely(
            self.stander.table, self.options.numbers, self.nodes, self.marks, read_only(begin), number, read_only(at),
            grip, read_only(self._frame(number, turn)), turn is not None,
            read_only(np.array(_SWIVELS) * (1.0 if hand == "left" else -1.0)), members, read_only(drawn),
            read_only(rng.random((members * tries, _likely_kernels.DRAWS))), out,
        )  # fmt: skip
        if missing > 0.0:
            raise LimbError(f"{hand} hand cannot reach {_place(at)}: it came as near as {100.0 * missing:.1f} cm")
        return out

    def _frame(self, number: int, turn: npt.ArrayLike | None) -> FloatArray:
        """Return the wanted frame of the last segment of a hand (3, 3) from the turn of its wrist joint."""
        if turn is None:
            return np.eye(3)
        wanted = np.asarray(turn, dtype=np.float64)
        if wanted.shape != (4,) or not np.isfinite(wanted).all() or not wanted.any():
            raise LimbError(f"the turn of a hand is a quaternion (w, x, y, z), got {turn!r}")
        own = self.stander.limbs[number].turns[3]
        return np.ascontiguousarray(rotations.to_matrix(rotations.multiply(rotations.normalize(wanted), own)))

    def path(self, start: FloatArray, goal: FloatArray, hand: str | None = None) -> tuple[FloatArray, int]:
        """Return a valid path (N, 22) between two postures, and the number of detours that were tried in vain.

        Args:
            start: a valid posture; (22,).
            goal: a valid posture; (22,).
            hand: the hand that moves; the other arm stays if that is possible. None moves both.

        Raises:
            LimbError: if there is none.
        """
        a, b = _numbers(start, "start"), _numbers(goal, "goal")
        table, numbers, states = self.stander.table, self.options.numbers, np.empty((2, 4))
        straight = np.stack([a, b])
        if kernels.straight_way(table, numbers, read_only(straight), states):
            return straight, 0
        for state, name in zip(states, ("start", "goal"), strict=True):
            _require_valid(state, name)
        detours = 0
        moves = BOTH if hand is None else hand_number(hand)
        for number, kept in ((moves, 1 - moves if moves != BOTH else -1), (BOTH, -1)):
            ends = [
                kernels.attach(table, numbers, self.nodes, self.marks, read_only(x), number, _ATTACH, kept)
                for x in (a, b)
            ]
            if min(ends) >= 0:
                found, tried = self._way(a, b, ends, number, kept)
                detours += tried
                if found is not None:
                    return found, detours
            if moves == BOTH:
                break
        raise LimbError("no way leads from the start to the goal: the roadmap does not come near one of them, or a "
                        "narrow place is between; more nodes may help")  # fmt: skip

    def reach(
        self, hand: str, target: npt.ArrayLike, *, turn: npt.ArrayLike | None = None, start: FloatArray | None = None,
        smooth: bool = True,
    ) -> ReachPlan:  # fmt: skip
        """Return a plan that brings the middle of a hand to a target; see `goal` and `path`.

        Raises:
            LimbError: if the target cannot be reached, or no way leads there; it says how far it got.
        """
        begin = self._posture(start, "start")
        goal = self.goal(hand, target, turn=turn, start=begin)
        try:
            path, detours = self.path(begin, goal, hand)
        except LimbError as problem:  # the easiest posture may be where no way leads; those of nodes are not
            try:
                goal = self.likely_goal(hand, target, turn=turn, start=begin)
            except LimbError:
                raise problem from None
            path, detours = self.path(begin, goal, hand)
        if smooth and len(path) > 2:
            path = self.smoothed(path)
        return ReachPlan(self.stander, hand, np.array(target, dtype=np.float64), path, self.options, detours)

    def smoothed(self, path: FloatArray) -> FloatArray:
        """Return a path (N, 22) made straighter wherever that is valid."""
        rows = np.empty((max(len(path), _POSTURES), NUMBERS))
        rows = rows[: kernels.refine(self.stander.table, read_only(np.ascontiguousarray(path)), _SPACING, rows)]
        draws = np.random.default_rng(self.seed).random((_TRIES, 2))
        kernels.smooth(self.stander.table, self.options.numbers, rows, read_only(draws))
        return rows

    def updated(self, world: World, *, time: float = 0.0, others: Sequence[OtherBody] = ()) -> ReachRoadmap:
        """Return the roadmap for a world in which things have moved: cut, linked again and grown again (section 7).

        Args:
            world: the world now.
            time: when [s].
            others: other bodies, with one frame each.

        Raises:
            LimbError: if the resting posture is not valid there.
        """
        stander = self.stander.among(world, time, others)
        _require_rest(stander, self.options)
        good = stander.place(self.nodes, self.options.margin).valid
        held = np.empty(len(self.edges), dtype=np.int64)
        kernels.edges_hold(
            stander.table, self.options.numbers, self.nodes, self.marks, self.edges,
            read_only(good.astype(np.int64)), held,
        )  # fmt: skip
        edges = _linked(stander, self.options, self.nodes, self.marks, self.edges[held > 0], good)
        kept = good & (_labels(len(self.nodes), edges) == _labels(len(self.nodes), edges)[0])
        number = np.cumsum(kept) - 1
        edges = number[edges[kept[edges[:, 0]]]]
        return _grown(stander, world, self.options, self.seed + 1, self.nodes[kept], self.marks[kept], edges)

    def _posture(self, x: FloatArray | None, name: str) -> FloatArray:
        posture = _numbers(self.stander.rest if x is None else x, name)
        placed = self.stander.place(posture[None], self.options.margin)
        _require_valid(np.concatenate([placed.within, placed.reached, placed.balanced, placed.clear]), name)
        return posture

    def _way(
        self, a: FloatArray, b: FloatArray, ends: list[int], number: int, kept: int
    ) -> tuple[FloatArray | None, int]:
        """Return the shortest way that is valid with one arm kept as it is, and how many were not."""
        blocked, edges = np.zeros(len(self.edges), dtype=np.int64), np.empty(len(self.nodes), dtype=np.int64)
        first, to, arcs = self._arcs
        for tried in range(_DETOURS):
            count = kernels.shortest(
                first, to, arcs, self.costs[number], read_only(blocked.copy()), ends[0], ends[1], edges
            )
            if count < 0:
                return None, tried
            chosen, at, rows = edges[:count][::-1], ends[0], [ends[0]]
            for edge in chosen:
                at = int(self.edges[edge].sum()) - at
                rows.append(at)
            path = np.concatenate([a[None], self.nodes[rows], b[None]])
            if kept >= 0:  # the other arm goes straight from where it is to where it will be
                u = np.linspace(0.0, 1.0, len(path))[:, None]
                columns = slice(9 * kept, 9 * kept + 9)
                path[:, columns] = (1.0 - u) * a[columns] + u * b[columns]
            bad = kernels.first_bad(self.stander.table, self.options.numbers, read_only(path))
            if bad < 0:
                return path, tried
            if count == 0:
                return None, tried
            blocked[chosen[min(max(bad - 1, 0), count - 1)]] = 1
        return None, _DETOURS

    def _why(self, target: FloatArray, short: float, tested: bool) -> str:
        if (name := inside(self.world, target)) is not None:
            return f"it is inside '{name}'"
        if short > 0.0:
            return f"it is {short:.2f} m beyond the arm of every posture tried"
        if tested:
            return "every posture that reaches it touches something or would fall over"
        return "every posture that reaches it is beyond the limits of its joints"


def _numbers(x: FloatArray, name: str) -> FloatArray:
    posture = np.ascontiguousarray(x, dtype=np.float64)
    if posture.shape != (NUMBERS,) or not np.isfinite(posture).all():
        raise LimbError(f"the {name} of a reach is a posture of {NUMBERS} finite numbers")
    return posture


def _require_valid(states: FloatArray | BoolArray, name: str) -> None:
    """Say what is wrong with a posture whose states (4,) are those of `place_all`."""
    whys = ("is beyond the limits of its joints", "is too high or too deep for its legs", "would fall over",
            "touches something")  # fmt: skip
    for fine, why in zip(states, whys, strict=True):
        if not fine:
            raise LimbError(f"the {name} of the reach is not valid: the body {why}")


def _target(target: npt.ArrayLike) -> FloatArray:
    at = np.array(target, dtype=np.float64)
    if at.shape != (3,) or not np.isfinite(at).all():
        raise LimbError(f"the target of a reach is three finite numbers, got {target!r}")
    return at


def grow_roadmap(
    stander: Stander, world: World, options: RoadmapOptions | None = None, *, seed: int = 0
) -> ReachRoadmap:
    """Grow a roadmap from the resting posture of a body, and add shortcuts.

    Where little room is left it may end with fewer nodes than asked for.

    Args:
        stander: the body, made by `stand` in the same world.
        world: the world.
        options: options.
        seed: seed of all random choices.

    Raises:
        LimbError: if the resting posture is not valid.
    """
    chosen = options or RoadmapOptions()
    _require_rest(stander, chosen)
    nodes = stander.rest[None]
    none = np.empty((0, 2), dtype=np.int64)
    return _grown(stander, world, chosen, seed, nodes, stander.place(nodes).marks, none)


def _grown(
    stander: Stander, world: World, options: RoadmapOptions, seed: int, nodes: FloatArray, marks: FloatArray,
    edges: IntArray,
) -> ReachRoadmap:  # fmt: skip
    """Grow from some nodes (N, 22) to the number asked for, and link leaves."""
    rng, count, total = np.random.default_rng(seed), len(nodes), max(options.nodes, len(nodes))
    all_nodes, all_marks = np.empty((total, NUMBERS)), np.empty((total, MARKS, 3))
    all_nodes[:count], all_marks[:count] = nodes, marks
    parents, begun = np.zeros(total, dtype=np.int64), count
    for _ in range(_CHUNKS):
        if count == total:
            break
        draws = read_only(rng.random((_CHUNK, DRAWS)))
        count = kernels.grow(stander.table, options.numbers, draws, all_nodes, all_marks, parents, count)
    tree = np.concatenate([edges, np.column_stack([parents, np.arange(total)])[begun:count]])
    all_nodes, all_marks = all_nodes[:count], all_marks[:count]
    leaves = np.flatnonzero(np.bincount(tree.ravel(), minlength=count) == 1)
    links = np.empty((3 * len(leaves), 2), dtype=np.int64)
    made = kernels.shortcuts(
        stander.table, options.numbers, read_only(all_nodes), read_only(all_marks), read_only(tree),
        read_only(leaves), options.longest, options.worth, links,
    )  # fmt: skip
    return ReachRoadmap(
        stander, world, options, seed, read_only(all_nodes), read_only(all_marks),
        read_only(np.concatenate([tree, links[:made]])), made,
    )  # fmt: skip


def _linked(
    stander: Stander, options: RoadmapOptions, nodes: FloatArray, marks: FloatArray, edges: IntArray, good: BoolArray
) -> IntArray:
    """Return edges with links between parts of a roadmap that were cut off and the part of the resting posture."""
    labels, pair = _labels(len(nodes), edges), np.empty(2, dtype=np.int64)
    parts = [np.flatnonzero(good & (labels == label)) for label in np.unique(labels[good]) if label != labels[0]]
    main, added = np.flatnonzero(good & (labels == labels[0])), list[IntArray]()
    for part in sorted(parts, key=lambda one: (-len(one), int(one[0]))):
        tries = math.ceil(0.2 * len(part))
        if kernels.bridge(
            stander.table, options.numbers, nodes, marks, read_only(part), read_only(main), tries, pair
        ):  # fmt: skip
            added.append(pair.copy())
            main = np.concatenate([main, part])
    return np.concatenate([edges, np.array(added, dtype=np.int64).reshape(-1, 2)])


def _labels(count: int, edges: IntArray) -> IntArray:
    """Return the number of the connected part of each node; (N,)."""
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _require_rest(stander: Stander, options: RoadmapOptions) -> None:
    if not stander.place(stander.rest[None], options.margin).valid[0]:
        raise LimbError(
            f"the body cannot stand there: something is nearer than {100.0 * options.margin:.0f} cm to its resting "
            "posture"
        )


def even_path(stander: Stander, path: FloatArray, count: int) -> FloatArray:
    """Return a path (N, 22) as `count` postures whose marks are about equally far apart; (count, 22)."""
    marks = stander.place(path).marks
    steps = np.linalg.norm(np.diff(marks, axis=0), axis=2).mean(axis=1)
    way = np.concatenate([[0.0], np.cumsum(np.maximum(steps, 1e-9))])
    at = np.linspace(0.0, way[-1], count)
    return np.column_stack([np.interp(at, way, path[:, k]) for k in range(NUMBERS)])


def mark_distances(a: FloatArray, b: FloatArray, hand: int = BOTH) -> FloatArray:
    """Return distances of marks (N, 12, 3), row by row [m]; (N,). See `_roadmap_kernels.mark_distance`."""
    out = np.empty(len(a))
    kernels.distances(read_only(np.ascontiguousarray(a)), read_only(np.ascontiguousarray(b)), hand, out)
    return out


def hand_number(hand: str) -> int:
    """Return the number of a hand in a posture."""
    if hand not in HANDS:
        raise LimbError(f"no hand '{hand}'; there are {' and '.join(HANDS)}{did_you_mean(hand, HANDS)}")
    return HANDS.index(hand)


def grip_mark(hand: str) -> int:
    """Return the mark of the middle of a hand."""
    return 5 + 5 * hand_number(hand)


def _place(at: FloatArray) -> str:
    return "(" + ", ".join(f"{v:.2f}" for v in at) + ")"
