"""Limited-horizon search: best-first over fragments that are squeezed into the place (Choi et al. 2011, section 4.1).

A node is a fragment, where and when it ends. Its cost (equation 9) counts how far its path is deformed, how much its
arms and trunk have to be narrowed, and the way that it goes. After as many nodes as the horizon allows, the search
commits itself to the first fragment of its best branch and goes on below it. A dead end gives the other branches back.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.deform.constraints import Continuity, MotionLimits, Pin
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.deform.squeezing import Squeezed, end_pin, squeeze
from gaitway.space.plan import Pose

PATH_COST, POSE_COST = 0.3, 2.0
"""Cost of a path that is deformed as far as it may be, over its own; and of a metre of depth of arms (c1 and c2)."""
_BINS = (0.12, float(np.radians(10.0)), 0.4)
"""Distance [m], turn [rad] and time [s] within which two nodes of the same state count as one."""
_FLAT_BEND = 2.0
"""How much more the path of side steps may be bent: they are short and slow."""
_STEER_STEP, _MOST_STEER = 2, 30
"""Steps in which fragments are steered, and the farthest [degrees]."""
_AHEAD, _TURNED = 0.4, 0.5
"""Distance at which the estimate is looked at ahead [m], and how much of the difference counts."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A fragment that a character may play."""

    action: int
    """Number of the action in the table of the library."""
    fragment: Fragment
    begins: int
    ends: int
    """States before and after it."""
    cost: float
    speed: float
    duration: float
    """Time that it takes [s]."""
    special: bool = False
    """Whether it is made for special obstacles: to jump over, to duck or to crawl under."""

    @property
    def flat(self) -> bool:
        """Whether it goes sideways through gaps that are too narrow for a walk."""
        return self.fragment.flat


@dataclass(eq=False)
class SearchNode:
    """A node of the search. **Mutable**: dead branches are marked."""

    pose: Pose
    state: int
    time: float
    cost: float
    estimate: float
    parent: SearchNode | None = None
    choice: Choice | None = None
    squeezed: Squeezed | None = None
    dead: bool = False
    awkward: float = 0.0
    """How much farther from the goal it counts, by the cost, for one who comes to rest there."""

    def branch(self) -> list[SearchNode]:
        """Return the nodes from the first fragment to this one."""
        out, node = [], self
        while node.parent is not None:
            out.append(node)
            node = node.parent
        return out[::-1]

    def lost(self) -> bool:
        """Return whether a fragment of its branch was given up."""
        return any(node.dead for node in self.branch())

    def below(self, other: SearchNode) -> bool:
        """Return whether it lies below another node, or is the same."""
        node: SearchNode | None = self
        while node is not None:
            if node is other:
                return True
            node = node.parent
        return False


@dataclass(eq=False)
class HorizonSearch:
    """One search. **Mutable**."""

    place: SqueezePlace
    choices: dict[int, list[Choice]]
    """Choices by the state in which they begin."""
    estimate: Callable[[FloatArray], FloatArray]
    """Least length of the way from points (N, 2) to the goal [m]; (N,)."""
    arrived: Callable[[SearchNode], bool]
    per_metre: float
    """Least cost of a metre."""
    limits: MotionLimits
    bounds: tuple[float, float, float, float]
    weight: float = 1.5
    horizon: int = 60
    timed: bool = False
    """Whether nodes at different times differ."""
    blocked: Callable[[SearchNode], str | None] = lambda node: None
    """Name of whoever a node meets, or None."""
    deform: bool = True
    usable: Callable[[Choice, Pose], bool] = lambda choice, pose: True
    """Whether a special or flat fragment may begin at a pose."""
    serves: Callable[[SearchNode], bool] = lambda node: True
    """Whether a special fragment passes what it is made for."""
    aim: Callable[[Choice, Squeezed], Pose | None] = lambda choice, found: None
    """Pose at which a fragment shall end instead, as a second try; None for none."""
    steer: Callable[[Choice, Squeezed], float] = lambda choice, found: 0.0
    """Angle by which a fragment is turned evenly, as a third try [rad]; 0 for none."""
    awkward: Callable[[SearchNode], float] = lambda node: 0.0
    """How much farther from the goal a live character counts that comes to rest in a node, for it cannot go on well."""
    sound: Callable[[SearchNode], bool] = lambda node: True
    """Whether the whole body of a node may fit; asked once, before anything is tried below it."""
    rests: frozenset[int] = frozenset()
    """States in which a character may stay, for live ones."""
    expanded: int = 0
    checks: int = 0
    blockers: Counter[str] = field(default_factory=Counter)
    nearest: SearchNode | None = None
    closed: set[tuple[int, ...]] = field(default_factory=set)
    """Dead ends, as `place_key` tells them: no branch goes there."""
    steered: dict[tuple[int, int, int], Choice] = field(default_factory=dict)
    """Choices that were steered, by action, state and angle [degrees]."""

    def begin(self, pose: Pose, state: int, time: float) -> None:
        """Begin at a pose."""
        self.root = SearchNode(pose, state, time, 0.0, 0.0)
        self.root.estimate = self._estimate(self.root)
        self.root.awkward = self.per_metre * self.awkward(self.root) if state in self.rests else 0.0
        self.nearest, self.number = self.root, 0
        self.queue: list[tuple[float, int, SearchNode]] = []
        self.reserve: list[tuple[float, int, SearchNode]] = []
        self.seen: dict[tuple[int, ...], float] = {}
        self.since = 0
        self.going: Iterator[bool] | None = None
        self.ends: list[SearchNode] = []
        self.at_rest: list[SearchNode] = []
        self._push(self.root)

    def next(self, most: int, late: Callable[[], bool] = lambda: False) -> SearchNode | None:
        """Return the next node that has arrived.

        Args:
            most: most nodes to expand in all.
            late: whether it is time to give up; asked before each node.

        Returns:
            None if no other node arrives.
        """
        while self.expanded < most and not late():
            if not self.queue:
                if not self.reserve:
                    return None
                self.queue, self.reserve = self.reserve, []
                heapq.heapify(self.queue)
                self.root, self.since = self.queue[0][2].branch()[0].parent or self.root, 0
            _, _, node = heapq.heappop(self.queue)
            if node.lost():
                continue
            if node.parent is not None and not self.sound(node):
                node.dead = True
                continue
            if node.parent is not None and self.arrived(node):
                return node
            self._expand(node)
            self.since += 1
            if self.since >= self.horizon:
                self._commit()
        return None

    def _push(self, node: SearchNode) -> None:
        heapq.heappush(self.queue, (node.cost + self.weight * node.estimate, self.number, node))
        self.number += 1

    def _commit(self) -> None:
        """Go on below the first fragment of the branch that came nearest to the goal; others wait in reserve.

        What costs more than its length, such as a crawl, would never be chosen by cost: standing about is cheaper.
        """
        self.since = 0
        live = [entry for entry in self.queue if not entry[2].lost()]
        below = [entry for entry in live if entry[2] is not self.root and entry[2].below(self.root)]
        if not below:
            return
        node = min(below, key=lambda entry: (round(entry[2].estimate, 6), entry[:2]))[2]
        while node.parent is not None and node.parent is not self.root:
            node = node.parent
        self.root = node
        self.reserve += [entry for entry in live if not entry[2].below(node)]
        self.queue = [entry for entry in live if entry[2].below(node)]
        heapq.heapify(self.queue)

    def advance(self, checks: int) -> None:
        """Try a number of fragments, and leave off within a node if need be, to go on with the next call.

        Live characters search while they play, a few fragments in each frame (section 4.1, amortising computation).
        """
        stop = self.checks + checks
        while self.checks < stop:
            if self.going is None:
                while self.queue and (self.queue[0][2].lost() or self._done(self.queue[0][2])):
                    heapq.heappop(self.queue)
                if not self.queue:
                    return
                self.going = self._tries(heapq.heappop(self.queue)[2])
            if next(self.going, None) is None:
                self.going = None

    def choose(self, nearer: float = -math.inf) -> list[SearchNode]:
        """Return the best branch so far from where the character is; empty if there is none.

        The best is one that arrived, else that which came nearest to the goal.

        Args:
            nearer: how much nearer to the goal than where the character is it must come, by the estimate.
        """
        depth = len(self.root.branch())

        def first(node: SearchNode) -> SearchNode:
            return node.branch()[depth]

        known = (*self.ends, *self.at_rest, *(entry[2] for entry in self.queue))
        below = [node for node in known if node is not self.root and node.below(self.root) and not node.lost()]
        if not below:
            return []
        # who cannot come to rest any more would be stuck in the middle of a step
        safe = {id(first(node)) for node in below if node.state in self.rests}
        ends = {id(node) for node in self.ends}
        best = min(
            below,
            key=lambda node: (id(node) not in ends, id(first(node)) not in safe, self._outlook(node), node.cost),
        )
        if id(best) not in ends and self._outlook(best) > self._outlook(self.root) - nearer:
            return []
        return best.branch()[depth:]

    def _outlook(self, node: SearchNode) -> float:
        """Return what is still to come of a branch that ends in a node."""
        return round(node.estimate + node.awkward, 6)

    def take(self, node: SearchNode) -> None:
        """Go on below a fragment that is played now."""
        self.root, self.going = node, None
        self.queue = [entry for entry in self.queue if entry[2].below(node)]
        self.ends = [end for end in self.ends if end.below(node)]
        self.at_rest = [one for one in self.at_rest if one.below(node)]
        heapq.heapify(self.queue)
        # branches that were left behind must not hide those that come to the same places from here
        self.seen = {self._key(entry[2]): entry[2].cost for entry in self.queue}
        if not self.queue and not self.ends:
            self._push(node)

    def again(self) -> None:
        """Search anew from where the character is: what was given up may fit at another time."""
        self.going, self.ends, self.at_rest, self.queue, self.seen = None, [], [], [], {}
        self._push(self.root)

    def _done(self, node: SearchNode) -> bool:
        """Return whether a node has arrived, and keep it if so."""
        if node.parent is None or not self.arrived(node):
            return False
        self.ends.append(node)
        return True

    def _expand(self, node: SearchNode) -> None:
        for _ in self._tries(node):
            pass

    def _tries(self, node: SearchNode) -> Iterator[bool]:
        """Expand a node, one fragment after the other."""
        self.expanded += 1
        for choice in self.choices.get(node.state, ()):
            if (choice.special or choice.flat) and not self.usable(choice, node.pose):
                continue
            found = self.situated(node, choice)
            self._add(node, choice, found)
            yield True
            goal = self.aim(choice, found)
            if goal is not None and (pin := end_pin(choice.fragment, node.pose, goal)) is not None:
                self._add(node, choice, self.situated(node, choice, pin))
                yield True
            degrees = round(math.degrees(self.steer(choice, found)) / _STEER_STEP) * _STEER_STEP
            if 0 < abs(degrees) <= _MOST_STEER:
                led = self._steered(choice, degrees)
                self._add(node, led, self.situated(node, led))
                yield True

    def _steered(self, choice: Choice, degrees: int) -> Choice:
        """Return a choice whose fragment is turned evenly by an angle."""
        key = (choice.action, choice.begins, degrees)
        if key not in self.steered:
            fragment = choice.fragment.steered(math.radians(degrees))
            self.steered[key] = replace(choice, fragment=fragment)
        return self.steered[key]

    def situated(self, node: SearchNode, choice: Choice, *pins: Pin) -> Squeezed:
        """Return a fragment put behind a node."""
        self.checks += 1
        return squeeze(
            choice.fragment, Continuity(node.pose), self.place, time=node.time, speed=choice.speed, pins=pins,
            limits=self._limits(choice), deform=self.deform,
        )  # fmt: skip

    def _limits(self, choice: Choice) -> MotionLimits:
        return replace(self.limits, bend=_FLAT_BEND * self.limits.bend) if choice.flat else self.limits

    def _add(self, node: SearchNode, choice: Choice, found: Squeezed) -> None:
        """Add a node for a fragment that fits."""
        if not found.fits:
            if found.blocker is not None:
                self.blockers[found.blocker] += 1
            return
        if not within(found, self.bounds):
            self.blockers["bounds"] += 1
            return
        end = found.path[-1]
        pose = (float(end[0]), float(end[1]), float(planar.wrap_angle(end[2])))
        cost = node.cost + choice.cost * (1.0 + PATH_COST * self._strain(found)) + POSE_COST * found.narrow
        child = SearchNode(pose, choice.ends, node.time + choice.duration, cost, 0.0, node, choice, found)
        key = self._key(child)
        if self.seen.get(key, math.inf) <= cost + 1e-9 or (self.closed and self.place_key(child) in self.closed):
            return
        if (who := self.blocked(child)) is not None:
            self.blockers[who] += 1
            return
        if choice.special and not self.serves(child):
            return
        self.seen[key] = cost
        child.estimate = self._estimate(child)
        if not math.isfinite(child.estimate):
            return
        if self.nearest is None or child.estimate < self.nearest.estimate:
            self.nearest = child
        self._push(child)
        if child.state in self.rests:
            child.awkward = self.per_metre * self.awkward(child)
            self.at_rest.append(child)

    def _strain(self, found: Squeezed) -> float:
        low, high = self.limits.stretch
        return (
            ((1.0 - found.stretch[0]) / max(1.0 - low, 1e-6)) ** 2
            + ((found.stretch[1] - 1.0) / max(high - 1.0, 1e-6)) ** 2
            + (found.bend / max(self.limits.bend, 1e-6)) ** 2
        )

    def _estimate(self, node: SearchNode) -> float:
        x, y, heading = node.pose
        if node.choice is not None and node.choice.flat:  # it goes on sideways
            fragment = node.choice.fragment
            heading += float(np.angle(fragment.track[-1] - fragment.track[0]) - fragment.root[-1, 2])
        ahead = (x + _AHEAD * math.cos(heading), y + _AHEAD * math.sin(heading))
        here, there = (float(v) for v in self.estimate(np.array([(x, y), ahead])))
        if math.isinf(here):
            return math.inf
        away = min(max((there if math.isfinite(there) else here + _AHEAD) - here + _AHEAD, 0.0), 2.0 * _AHEAD)
        return self.per_metre * (here + _TURNED * away * min(here, 1.0))

    def place_key(self, node: SearchNode) -> tuple[int, ...]:
        """Return what is the same for all nodes of a state that lie near one another, whatever their time."""
        near, turn, _ = _BINS
        x, y, heading = node.pose
        return round(x / near), round(y / near), round(heading / turn), node.state

    def _key(self, node: SearchNode) -> tuple[int, ...]:
        return *self.place_key(node), round(node.time / _BINS[2]) if self.timed else 0


def within(found: Squeezed, bounds: tuple[float, float, float, float]) -> bool:
    """Return whether the root stays within bounds."""
    x0, y0, x1, y1 = bounds
    low, high = found.path[:, :2].min(axis=0), found.path[:, :2].max(axis=0)
    return bool(low[0] >= x0 and low[1] >= y0 and high[0] <= x1 and high[1] <= y1)
