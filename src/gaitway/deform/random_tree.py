"""Rapidly-exploring random trees whose branches are deformable fragments (Choi et al. 2011, section 4.2).

A random place draws the node that is nearest to it. Of that node's fragments, the one whose end comes nearest to the
place is put into the world; if it fits, its end is a new node. Whether fragments are squeezed in or only looked at is
the whole difference between deformable motion and linear warping.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gaitway.core.arrays import BoolArray, ComplexArray, FloatArray, IntArray
from gaitway.deform.constraints import Continuity, MotionLimits
from gaitway.deform.place import SqueezePlace
from gaitway.deform.search import Choice, SearchNode, within
from gaitway.deform.squeezing import squeeze
from gaitway.space.plan import Pose

_ROOM = 256
"""Nodes for which memory is taken first."""
_TURN = 0.2
"""Distance that a radian between directions counts for, where the nearest node is looked for [m]."""


@dataclass(eq=False)
class RandomTree:
    """A tree that grows from one pose. **Mutable**."""

    place: SqueezePlace
    choices: dict[int, list[Choice]]
    """Choices by the state in which they begin."""
    goal: tuple[float, float]
    arrived: Callable[[SearchNode], bool]
    limits: MotionLimits
    bounds: tuple[float, float, float, float]
    """Bounds of all paths, and of random places."""
    seed: int = 0
    goal_share: float = 0.1
    """Share of the random places that are the goal."""
    deform: bool = True
    """Whether fragments are squeezed in."""
    checks: int = 0
    """Fragments that were tried."""
    nodes: list[SearchNode] = field(default_factory=list)
    blockers: Counter[str] = field(default_factory=Counter)

    def begin(self, pose: Pose, state: int, time: float) -> None:
        """Begin at a pose."""
        self.random = np.random.default_rng(self.seed)
        self.ends = {
            state: np.array([complex(*choice.fragment.root[-1, :2]) for choice in choices])
            for state, choices in self.choices.items()
        }
        self.at: ComplexArray = np.full(_ROOM, np.inf, dtype=np.complex128)
        self.headings: FloatArray = np.zeros(_ROOM)
        self.left: IntArray = np.zeros(_ROOM, dtype=np.int64)
        self.untried: list[BoolArray] = []
        self.nodes.clear()
        self._add(SearchNode(pose, state, time, 0.0, 0.0))

    def grow(self, most: int, late: Callable[[], bool] = lambda: False) -> SearchNode | None:
        """Grow until a node arrives.

        Args:
            most: most fragments to try in all.
            late: whether it is time to give up; asked before each fragment.

        Returns:
            None if no node arrives before; also if no node has a fragment left that was not tried.
        """
        while self.checks < most and not late():
            spot = self._pick()
            if spot is None:
                return None
            node = self._try(*spot)
            if node is not None and self.arrived(node):
                return node
        return None

    def _pick(self) -> tuple[int, int] | None:
        """Return a node and one of its choices, toward a random place."""
        x0, y0, x1, y1 = self.bounds
        share, x, y, heading = self.random.random(4).tolist()
        aim = complex(x0 + x * (x1 - x0), y0 + y * (y1 - y0))
        if share < self.goal_share:
            aim = complex(*self.goal)
        count = len(self.nodes)
        turned = np.abs(np.angle(np.exp(1j * (self.headings[:count] - math.tau * heading))))
        near = np.abs(self.at[:count] - aim) + (0.0 if share < self.goal_share else _TURN) * turned
        number = int(np.argmin(np.round(near, 9)))
        node = self.nodes[number]
        ends = complex(*node.pose[:2]) + np.exp(1j * node.pose[2]) * self.ends[node.state]
        choice = int(np.argmin(np.round(np.abs(ends - aim), 9)))
        if self.untried[number][choice]:
            return number, choice
        live = np.flatnonzero(self.left[:count])
        if not len(live):
            return None
        number = int(live[self.random.integers(len(live))])
        left = np.flatnonzero(self.untried[number])
        return number, int(left[self.random.integers(len(left))])

    def _try(self, number: int, which: int) -> SearchNode | None:
        """Put a fragment into the place, and return its node if it fits."""
        node = self.nodes[number]
        choice = self.choices[node.state][which]
        self.untried[number][which] = False
        self.left[number] -= 1
        self.checks += 1
        found = squeeze(
            choice.fragment, Continuity(node.pose), self.place, time=node.time, speed=choice.speed, limits=self.limits,
            deform=self.deform,
        )  # fmt: skip
        if not found.fits:
            if found.blocker is not None:
                self.blockers[found.blocker] += 1
            return None
        if not within(found, self.bounds):
            return None
        child = SearchNode(
            found.end, choice.ends, node.time + choice.duration, node.cost + choice.cost, 0.0, node, choice, found
        )
        if self.choices.get(choice.ends):
            self._add(child)
        return child

    def _add(self, node: SearchNode) -> None:
        count = len(self.nodes)
        if count == len(self.at):
            self.at = np.concatenate([self.at, np.full(count, np.inf, dtype=np.complex128)])
            self.headings = np.concatenate([self.headings, np.zeros(count)])
            self.left = np.concatenate([self.left, np.zeros(count, dtype=np.int64)])
        ways = len(self.choices[node.state])
        self.at[count], self.headings[count], self.left[count] = complex(*node.pose[:2]), node.pose[2], ways
        self.nodes.append(node)
        self.untried.append(np.ones(ways, dtype=np.bool_))
