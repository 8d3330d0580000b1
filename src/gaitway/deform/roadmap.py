"""Lazy probabilistic roadmaps whose edges are deformable fragments (Choi et al. 2011, section 4.2).

A node is a place and a direction in one state of a motion graph. A directed edge is a fragment of one or two clips that
is pinned at its end, so that it leads exactly from node to node. Every second node lies in the middle of a random
bridge between solids, headed through the gap: uniform nodes hardly ever meet narrow passages. Random nodes are added
only until what was asked for is there.
"""

from __future__ import annotations

import cmath
import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gaitway.deform.constraints import Continuity, MotionLimits, Pin
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.deform.search import within
from gaitway.deform.squeezing import Squeezed, end_pin, squeeze
from gaitway.motion.clip import Clip
from gaitway.motion.editing import joined
from gaitway.space.plan import Pose

_NEIGHBORS, _FAR = 12, 3.2
"""Most neighbours to which a node is joined, and how far away they may be [m]."""
_NEAR, _TRIES = 0.8, 10
"""How far the end of a fragment may be from a node at which it is pinned [m], and how many fragments are tried."""
_WIDEST = float(np.radians(80.0))
"""Greatest turn toward a node, and greatest turn on from there [rad]."""
_THIN = 0.2
"""Least clearance of a node [m]."""
_BRIDGES, _LONGEST = 400, 1.6
"""Random bridges that are tried for one node, and the longest of them [m]."""
_TURN_COST = 0.4
"""Distance that a radian between directions counts for [m]."""
_STEERS = tuple(float(np.radians(degrees)) for degrees in range(-45, 46, 15))
"""Angles by which the clips of an edge are steered [rad]."""


@dataclass(frozen=True, eq=False)
class RoadEdge:
    """A fragment that leads from node to node."""

    start: int
    end: int
    squeezed: Squeezed

    @property
    def length(self) -> float:
        """Length of its path [m]."""
        return float(np.hypot(*np.diff(self.squeezed.path[:, :2], axis=0).T).sum())


@dataclass(eq=False)
class LazyRoadmap:
    """A roadmap that grows until it is good enough. **Mutable**."""

    place: SqueezePlace
    fragments: Sequence[Fragment]
    """Fragments that begin and end in the state of the nodes, of many lengths and curves."""
    limits: MotionLimits
    bounds: tuple[float, float, float, float]
    """Bounds of nodes and paths."""
    clearance: Callable[[tuple[float, float]], float]
    """Signed distance of a place from the nearest solid [m]."""
    seed: int = 0
    nodes: list[Pose] = field(default_factory=list)
    edges: list[RoadEdge] = field(default_factory=list)
    checks: int = 0
    """Fragments that were tried."""

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        roots = np.array([fragment.root[-1] for fragment in self.fragments])
        self.ends, self.headings = roots[:, 0] + 1j * roots[:, 1], roots[:, 2]

    def add(self, pose: Pose) -> int:
        """Add a node, join it to its neighbours in both directions, and return its number."""
        number = len(self.nodes)
        self.nodes.append(pose)
        for forth in (False, True):
            pairs = [(k, number) if forth else (number, k) for k in range(number)]
            ways = [(_left(self.nodes[a], self.nodes[b]), a, b) for a, b in pairs if self._ahead(a, b)]
            for _, a, b in sorted(ways)[:_NEIGHBORS]:
                found = self.connect(self.nodes[a], self.nodes[b])
                if found is not None:
                    self.edges.append(RoadEdge(a, b, found))
        return number

    def _ahead(self, a: int, b: int) -> bool:
        """Return whether a node lies ahead of another, and is headed away from it, both roughly."""
        (x0, y0, before), (x1, y1, after) = self.nodes[a], self.nodes[b]
        bearing = math.atan2(y1 - y0, x1 - x0)
        turns = (_wrapped(bearing - before), _wrapped(after - bearing))
        return math.hypot(x1 - x0, y1 - y0) <= _FAR and max(map(abs, turns)) <= _WIDEST

    def grow(self, enough: Callable[[], bool], most: int) -> bool:
        """Add random nodes until it is enough, at most so many; return whether it is."""
        bridges = True
        while not enough():
            if len(self.nodes) >= most:
                return False
            found = self._bridge() if bridges else self._anywhere()
            if found is not None and any(self._situated(f, found, ()) for f in self._shortest):
                self.add(found)
            bridges = not bridges
        return True

    def _anywhere(self) -> Pose | None:
        """Return a random pose, or None if a body cannot be there."""
        x0, y0, x1, y1 = self.bounds
        x, y, turn = self.random.random(3).tolist()
        place = (x0 + x * (x1 - x0), y0 + y * (y1 - y0))
        return (*place, math.pi * (2.0 * turn - 1.0)) if self.clearance(place) > _THIN else None

    def _bridge(self) -> Pose | None:
        """Return a pose across a gap: in the middle of a random bridge whose ends lie in solids, or None."""
        x0, y0, x1, y1 = self.bounds
        for _ in range(_BRIDGES):
            x, y, turn, long, side = self.random.random(5).tolist()
            one = complex(x0 + x * (x1 - x0), y0 + y * (y1 - y0))
            other = one + long * _LONGEST * cmath.exp(1j * math.tau * turn)
            if self.clearance((one.real, one.imag)) < 0.0 and self.clearance((other.real, other.imag)) < 0.0:
                middle = 0.5 * (one + other)
                heading = cmath.phase(other - one) + math.copysign(0.5 * math.pi, side - 0.5)
                if self.clearance((middle.real, middle.imag)) > _THIN:
                    return middle.real, middle.imag, _wrapped(heading)
        return None

    def route(self, start: int, goal: int) -> list[RoadEdge] | None:
        """Return the edges of the shortest way between two nodes, or None."""
        out: dict[int, list[RoadEdge]] = {}
        for edge in self.edges:
            out.setdefault(edge.start, []).append(edge)
        best: dict[int, float] = {start: 0.0}
        by: dict[int, RoadEdge] = {}
        queue = [(0.0, start)]
        while queue:
            cost, node = heapq.heappop(queue)
            if node == goal:
                way: list[RoadEdge] = []
                while node != start:
                    way.append(by[node])
                    node = by[node].start
                return way[::-1]
            if cost > best[node]:
                continue
            for edge in out.get(node, ()):
                now = cost + edge.length
                if now < best.get(edge.end, math.inf):
                    best[edge.end], by[edge.end] = now, edge
                    heapq.heappush(queue, (now, edge.end))
        return None

    def connect(self, start: Pose, goal: Pose) -> Squeezed | None:
        """Return a fragment that leads from a pose exactly to another, or None if none of the nearest few does."""
        seen = complex(goal[0] - start[0], goal[1] - start[1]) * cmath.exp(-1j * start[2])
        turned = np.abs(np.angle(np.exp(1j * (goal[2] - start[2] - self.headings))))
        away = np.round(np.abs(self.ends - seen) + _TURN_COST * turned, 9)
        for number in np.argsort(away, kind="stable")[:_TRIES].tolist():
            if away[number] > _NEAR:
                break
            fragment = self.fragments[number]
            pin = end_pin(fragment, start, goal)
            found = None if pin is None else self._situated(fragment, start, (pin,))
            if found is not None:
                return found
        return None

    @property
    def _shortest(self) -> list[Fragment]:
        """The shortest fragments: where none of these fits, nobody can walk on."""
        fewest = min(map(len, self.fragments))
        return [fragment for fragment in self.fragments if len(fragment) == fewest]

    def _situated(self, fragment: Fragment, pose: Pose, pins: Sequence[Pin]) -> Squeezed | None:
        self.checks += 1
        found = squeeze(fragment, Continuity(pose), self.place, pins=pins, limits=self.limits)
        return found if found.fits and within(found, self.bounds) else None


def road_fragments(clips: Sequence[Clip]) -> list[Fragment]:
    """Return clips, alone and in pairs, each steered to either side; all must begin and end in the same pose."""
    out = [Fragment.of(clip).steered(angle) for clip in clips for angle in _STEERS]
    pairs = [(one, two) for k, one in enumerate(clips) for two in clips[k:]]
    for pair in pairs:
        whole = Fragment.of(joined(*pair))
        out += [whole.steered(first, second) for first in _STEERS for second in _STEERS]
    return out


def _left(pose: Pose, goal: Pose) -> float:
    """Return how far a pose is from another [m], rounded, so that no order hangs on the last bits."""
    return round(math.dist(pose[:2], goal[:2]) + _TURN_COST * abs(_wrapped(goal[2] - pose[2])), 9)


def _wrapped(angle: float) -> float:
    return math.remainder(angle, math.tau)
