"""Stepping: somebody who reaches for what is too far away takes a step first (Kallmann et al. 2003, section 7).

There are several places to stand around the first one, each with a roadmap of its own. Steps lead from place to place
where nothing is in their way. A reach goes back to the resting posture, along the quickest steps to the place from
which the target is reached most easily, and from rest to the target.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LimbError
from gaitway.library.behavior import Library
from gaitway.limbs import _goal_kernels
from gaitway.limbs.roadmap import ReachPlan, ReachRoadmap, RoadmapOptions, grip_mark, grow_roadmap
from gaitway.limbs.stance import stand
from gaitway.limbs.surroundings import body_around, body_gaps
from gaitway.motion.clip import Clip
from gaitway.motion.editing import joined, place, resample
from gaitway.sitting.figure import stand_of
from gaitway.sitting.stepping import FARTHEST, step_aside
from gaitway.world.world import World

_SECOND = 0.15
"""What a second of steps counts beside how uneasy a posture is."""


@dataclass(frozen=True, kw_only=True)
class SteppingOptions:
    """Options of stepping."""

    lengths: tuple[float, ...] = (0.28, 0.56)
    """How far places are from the first one [m]; steps of 0.28 m are one with each foot."""
    directions: int = 8
    """Number of directions in which they lie, the first one ahead."""
    turns: tuple[float, ...] = (math.pi / 2, -math.pi / 2)
    """Turns on the spot that lead to more of them [rad]."""
    beside: float = 0.3
    """Greatest distance of two places with a step between them [m]; the first one is linked to all."""
    margin: float = 0.01
    """Gap that steps keep [m]."""
    roadmap: RoadmapOptions = field(default_factory=RoadmapOptions)
    """Options of the roadmap of each place."""

    def __post_init__(self) -> None:
        if not all(0.0 < length <= FARTHEST for length in self.lengths):
            raise LimbError(f"lengths of steps must be above 0 and at most {FARTHEST:g} m, got {self.lengths}")
        if not 1 <= self.directions <= 64:
            raise LimbError(f"{self.directions} directions of steps must be between 1 and 64")

    def poses(self) -> list[FloatArray]:
        """Return all places as seen from the first one: x, y [m] and heading [rad]."""
        out = [np.zeros(3)]
        for length in self.lengths:
            for number in range(self.directions):
                way = math.tau * number / self.directions
                out.append(np.array([length * math.cos(way), length * math.sin(way), 0.0]))
        return [*out, *(np.array([0.0, 0.0, turn]) for turn in self.turns)]


@dataclass(frozen=True, eq=False)
class SteppedReach:
    """A reach with the steps before it."""

    back: ReachPlan | None
    """From the posture at the start to rest; None if nobody steps, or the start is at rest."""
    steps: tuple[Clip, ...]
    """Steps from place to place, in the world; none if the target is within reach."""
    reach: ReachPlan
    """The reach from the last place."""
    place: int
    """Number of that place."""

    def clip(self, fps: float = 30.0) -> Clip:
        """Return all of it as motion."""
        parts = [] if self.back is None else [self.back.clip(fps)]
        parts += [step if step.fps == fps else resample(step, fps) for step in self.steps]
        return replace(joined(*parts, self.reach.clip(fps)), name=self.reach.clip(fps).name)


@dataclass(frozen=True, eq=False)
class SteppingRoadmaps:
    """Roadmaps of several places to stand, and the steps between these; made by `grow_stepping`."""

    poses: FloatArray
    """Places: x, y [m], heading [rad]; (P, 3). The first is where somebody stands at first."""
    roadmaps: tuple[ReachRoadmap, ...]
    """The roadmap of each; (P,)."""
    steps: Mapping[tuple[int, int], Clip]
    """Steps from one place to another, in the world."""

    def reach(
        self, hand: str, target: npt.ArrayLike, *, at: int = 0, start: FloatArray | None = None, smooth: bool = True
    ) -> SteppedReach:
        """Return a reach for a target, with steps where it is out of reach.

        Args:
            hand: "right" or "left".
            target: where the middle of the hand goes [m]; (3,).
            at: number of the place where somebody stands.
            start: the posture there; (22,). None is the resting one.
            smooth: whether paths are made straighter.

        Raises:
            LimbError: if it is out of reach from all places; it says how far it got.
        """
        if not 0 <= at < len(self.poses):
            raise LimbError(f"there is no place {at} to stand; there are {len(self.poses)}, from 0 on")
        try:
            return SteppedReach(None, (), self.roadmaps[at].reach(hand, target, start=start, smooth=smooth), at)
        except LimbError as problem:
            told = problem
        ways, ranked = self._quickest(at), list[tuple[float, int]]()
        for number, (seconds, _) in ways.items():
            if number != at:
                try:
                    goal = self.roadmaps[number].goal(hand, target)
                except LimbError:
                    continue
                strain = _goal_kernels.uneasy(goal, self.roadmaps[number].stander.table)
                ranked.append((round(strain + _SECOND * seconds, 6), number))
        for _, number in sorted(ranked):
            try:
                plan = self.roadmaps[number].reach(hand, target, smooth=smooth)
                back = None if start is None else self._back(at, hand, start, smooth)
            except LimbError:
                continue
            steps = tuple(self.steps[pair] for pair in pairwise(ways[number][1]))
            return SteppedReach(back, steps, plan, number)
        raise LimbError(f"{told}; nor do steps help, to {len(ways) - 1} places around")

    def _back(self, at: int, hand: str, start: FloatArray, smooth: bool) -> ReachPlan:
        """Return the way from a posture to rest."""
        roadmap = self.roadmaps[at]
        rest = roadmap.stander.rest
        path, detours = roadmap.path(start, rest)
        if smooth and len(path) > 2:
            path = roadmap.smoothed(path)
        target = roadmap.stander.place(rest[None]).marks[0, grip_mark(hand)]
        return ReachPlan(roadmap.stander, hand, target, path, roadmap.options, detours)

    def _quickest(self, at: int) -> dict[int, tuple[float, list[int]]]:
        """Return the time of the quickest steps to each place [s], and which places they lead through."""
        found: dict[int, tuple[float, list[int]]] = {}
        heap: list[tuple[float, list[int]]] = [(0.0, [at])]
        while heap:
            seconds, way = heappop(heap)
            if way[-1] in found:
                continue
            found[way[-1]] = seconds, way
            for (start, end), clip in self.steps.items():
                if start == way[-1] and end not in found:
                    heappush(heap, (round(seconds + clip.duration, 6), [*way, end]))
        return found


def grow_stepping(
    library: Library,
    pose: Sequence[float],
    world: World,
    options: SteppingOptions = SteppingOptions(),  # noqa: B008  (frozen)
    *,
    time: float = 0.0,
    seed: int = 0,
) -> SteppingRoadmaps:
    """Grow a roadmap for each place around somebody that steps lead to.

    Args:
        library: whose standing pose.
        pose: where somebody stands: x, y [m], heading [rad].
        world: what is around.
        options: options.
        time: when [s].
        seed: seed of all random choices.

    Raises:
        LimbError: if somebody cannot stand at the first place.
    """
    still, first = stand_of(library), np.asarray(pose, dtype=np.float64)
    poses, roadmaps = list[FloatArray](), list[ReachRoadmap]()
    for number, away in enumerate(options.poses()):
        there = planar.compose(first, away)
        try:
            stander = stand(place(still, there), world, time=time)
            roadmap = grow_roadmap(stander, world, options.roadmap, seed=seed + number)
        except LimbError:
            if number == 0:
                raise
            continue  # nobody can stand there
        poses.append(there)
        roadmaps.append(roadmap)
    steps: dict[tuple[int, int], Clip] = {}
    for one in range(len(poses)):
        for other in range(len(poses)):
            far = math.dist(poses[one][:2], poses[other][:2])
            turn = abs(float(planar.wrap_angle(poses[one][2] - poses[other][2])))
            if one == other or (0 not in (one, other) and (far > options.beside or turn > 1e-6)):
                continue
            clip = step_aside(library, poses[one], poses[other])
            if clip is not None and steps_clear(clip, world, time, options.margin):
                steps[one, other] = clip
    return SteppingRoadmaps(np.array(poses), tuple(roadmaps), steps)


def steps_clear(clip: Clip, world: World, time: float, margin: float) -> bool:
    """Return whether a body keeps a gap [m] all along a clip."""
    axes, radii, around = body_around(clip, time, world)
    times = time + np.arange(len(clip)) / clip.fps
    return bool((body_gaps(axes, radii, times, around, margin, stop=True) >= margin - 1e-9).all())
