"""Relaxed plans: runs of steps drawn straight, where that stays clear of obstacles and of all characters.

A run that cannot be drawn straight as a whole is cut where it would touch something, and its parts are tried. Steps
keep their times. Whole bodies are bent when all plans are known; until then the discs of a step are carried along with
the root, and grow by as much as a body may leave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import STILL, contact_slip
from gaitway.performing.arrival.bending import Bend, follow_path, path_moves
from gaitway.performing.arrival.bent_steps import bent_clips, pose_of
from gaitway.performing.arrival.footwork import Footwork, Footworks, laid
from gaitway.performing.relaxing.straight_path import straight_path, turning
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import Plan, PlanStep, Pose
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import Traffic, swept_step

_FEWEST = 2
"""Least number of steps that are drawn straight together."""
_MOST = 16
"""Most steps that are tried together; longer runs seldom stay free as a whole."""
_GAIN = float(np.radians(5.0))
"""Least turning that must be saved [rad]; less is not seen."""
_FARTHEST = 0.4
"""Least distance that a step of a run goes [m]."""
_STRAIN = 2.0
"""Largest strain (`Bend.strain`); the steps become more usual, not less, so that it may be more than at arrivals."""
_BODY = 0.02
"""How far limbs may leave the discs that are carried with the root, where legs follow their feet [m]."""


@dataclass(frozen=True, eq=False)
class RelaxedRun:
    """Steps that are drawn straight together."""

    first: int
    """Number of the first step in the plan."""
    sources: tuple[Clip, ...]
    """Clips as they were planned."""
    bend: Bend
    names: tuple[str, ...]
    """Names of the bent clips."""

    def clips(self) -> list[Clip]:
        """Bend the clips of the run."""
        return bent_clips(self.sources, self.bend, self.names)


@dataclass(frozen=True, eq=False)
class RelaxedPlan:
    """A plan with runs of steps drawn straight."""

    plan: Plan
    """The same steps at the same times; some of them play bent clips."""
    runs: tuple[RelaxedRun, ...]
    swept: Swept | None
    """What all its steps cover; None if there are none."""

    def clips(self) -> dict[str, Clip]:
        """Bend the clips of all runs; by name."""
        return {clip.name: clip for run in self.runs for clip in run.clips()}


def relaxed(
    prepared: PreparedLibrary, traffic: Traffic, plan: Plan, footworks: Footworks, *, name: str, goes_on: bool = False
) -> RelaxedPlan:
    """Draw the steps of a plan straight.

    Args:
        prepared: library, discs and world of the character.
        traffic: all others; the character itself must not be in it.
        plan: the plan.
        footworks: footwork of the library's clips.
        name: suffix of the names of bent clips; different for each character of a take.
        goes_on: whether further steps follow the plan, so that its last heading stays.
    """
    steps = list(plan.steps)
    swept = [swept_step(step, prepared.table, prepared.discs) for step in steps]
    relaxing = _Relaxing(prepared, traffic, footworks, name, steps, swept, plan.end_pose, goes_on)
    for first, end in relaxing.stretches():
        relaxing.relax(first, end)
    result = replace(plan, steps=tuple(steps), end_pose=relaxing.end_pose)
    return RelaxedPlan(result, tuple(relaxing.runs), Swept.joined(swept) if swept else None)


def feet_stay(prepared: PreparedLibrary) -> bool:
    """Return whether feet that are down stay exactly where they are in all clips of a library.

    Captured feet slide a little. Bent, they would slide by more than the audit allows.
    """
    clips = prepared.library.clips.values()
    return prepared.part("feet stay", lambda: all(contact_slip(clip) <= STILL for clip in clips))


def unrelaxed(prepared: PreparedLibrary, plan: Plan) -> RelaxedPlan:
    """Return a plan as it is."""
    swept = [swept_step(step, prepared.table, prepared.discs) for step in plan.steps]
    return RelaxedPlan(plan, (), Swept.joined(swept) if swept else None)


class _Relaxing:
    """State of the relaxing of one plan. `steps` and `swept` change."""

    def __init__(
        self, prepared: PreparedLibrary, traffic: Traffic, footworks: Footworks, name: str, steps: list[PlanStep],
        swept: list[Swept], end_pose: Pose, goes_on: bool,
    ) -> None:  # fmt: skip
        self.prepared, self.traffic, self.footworks, self.name = prepared, traffic, footworks, name
        self.steps, self.swept, self.end_pose, self.goes_on = steps, swept, end_pose, goes_on
        self.runs: list[RelaxedRun] = []
        table = prepared.table
        self.turns = prepared.part("turns", lambda: dict(zip(table.clips, table.moves[:, 2].tolist(), strict=True)))

    def _bends(self, behavior: str, clip: str) -> bool:
        """Return whether a clip goes somewhere on feet, and may be bent."""
        work = self.footworks.of(behavior, clip)
        return work is not None and work.rolled is None and bool(np.hypot(*work.path[-1, :2]) >= _FARTHEST)

    def stretches(self) -> list[tuple[int, int]]:
        """Return the first and end numbers of steps in a row that can be bent."""
        good = [False, *(self._bends(step.behavior, step.clip) for step in self.steps), False]
        edges = [k for k, (before, after) in enumerate(pairwise(good)) if before != after]
        found: list[tuple[int, int]] = []
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            parts = -(-(b - a) // _MOST)
            cuts = [a + (b - a) * k // parts for k in range(parts + 1)]
            found += pairwise(cuts)
        return found

    def relax(self, first: int, end: int) -> None:
        """Draw the steps from one number up to another straight, or parts of them."""
        if end - first < _FEWEST:
            return
        met = self._try(first, end)
        if met is not None:
            cut = max(met, first + 1)
            self.relax(first, cut)
            self.relax(cut, end)

    def _try(self, first: int, end: int) -> int | None:
        """Draw steps straight; return where to cut if that does not work, None if there is nothing more to do."""
        steps = self.steps[first:end]
        turns = [self.turns[step.clip] for step in steps]
        keep = self.goes_on or end < len(self.steps)
        if sum(map(abs, turns)) - (abs(sum(turns)) if keep else 0.0) < _GAIN:
            return None  # there is nothing to save
        here, knots = self._laid(steps)
        heading = float(here.path[-1, 2]) if keep else None
        place, middle = (float(here.path[-1, 0]), float(here.path[-1, 1])), (first + end) // 2
        path = straight_path(here.path, knots, place, heading)
        if path is None:
            return middle
        if turning(path, knots) > turning(here.path, knots) - _GAIN:
            return None
        fitting = self._fitting(steps, np.diff(path[knots, 2]))
        if fitting != steps:
            steps = fitting
            here, knots = self._laid(steps)
            path = straight_path(here.path, knots, place, heading)
        bend = None if path is None else follow_path(here, path)
        if bend is None or bend.strain > _STRAIN:
            return middle
        carried = []
        for k, (a, b) in enumerate(pairwise(knots.tolist())):
            carried.append(_carried(steps[k], self.prepared, here.path[a : b + 1], bend.path[a : b + 1]))
            if self._blocked(carried[-1]):
                return first + k
        self._keep(first, steps, knots, bend, carried)
        return None

    def _laid(self, steps: Sequence[PlanStep]) -> tuple[Footwork, IntArray]:
        """Return the footwork of steps, and the frames in which they begin, with the last frame."""
        works = [work for step in steps if (work := self.footworks.of(step.behavior, step.clip)) is not None]
        return laid(works, [step.pose for step in steps]), np.cumsum([0, *(len(work) - 1 for work in works)])

    def _fitting(self, steps: Sequence[PlanStep], turns: FloatArray) -> list[PlanStep]:
        """Return the steps with clips that turn about as far as wanted, each placed where the one before it ends.

        Only clips of the same states and of the same duration take the place of others.
        """
        table, out, pose = self.prepared.table, [], np.array(steps[0].pose)
        for step, turn in zip(steps, turns.tolist(), strict=True):
            own = table.clips.index(step.clip)
            choice = min(self._alike(own), key=lambda a: (abs(table.moves[a, 2] - turn), a != own, a))
            if abs(table.moves[own, 2] - turn) - abs(table.moves[choice, 2] - turn) < _GAIN:
                choice = own
            name = table.behaviors[table.behavior[choice]]
            out.append(PlanStep(name, table.clips[choice], pose_of(pose), step.time, step.speed))
            pose = planar.compose(pose, table.moves[choice])
        return out

    def _alike(self, action: int) -> list[int]:
        """Return the actions that may take the place of one, with itself."""
        return self.prepared.part(("alike", action), lambda: self._find_alike(action), paced=True)

    def _find_alike(self, action: int) -> list[int]:
        table = self.prepared.table
        same = (
            (table.start_state == table.start_state[action])
            & (table.end_state == table.end_state[action])
            & (table.frames == table.frames[action])
            & (table.kind < 0)
            & (self.prepared.speeds == self.prepared.speeds[action])
        )
        found = (int(a) for a in np.flatnonzero(same))
        return [a for a in found if a == action or self._bends(table.behaviors[table.behavior[a]], table.clips[a])]

    def _blocked(self, swept: Swept) -> bool:
        """Return whether something swept touches an obstacle or anybody else."""
        near = self.prepared.fields.clearance(swept.discs[:, :2]) < swept.discs[:, 2]
        return bool(near.any()) or self.traffic.met_by(swept) is not None

    def _keep(
        self, first: int, steps: Sequence[PlanStep], knots: IntArray, bend: Bend, carried: Sequence[Swept]
    ) -> None:
        sources = tuple(self.prepared.library.clips[step.clip] for step in steps)
        names = tuple(f"{step.clip}~{self.name}-{first + k}" for k, step in enumerate(steps))
        for k, (step, clip, at) in enumerate(zip(steps, names, knots.tolist(), strict=False)):
            self.steps[first + k] = replace(step, clip=clip, pose=pose_of(bend.path[at]))
            self.swept[first + k] = carried[k]
        if first + len(steps) == len(self.steps):
            self.end_pose = pose_of(bend.path[-1])
        self.runs.append(RelaxedRun(first, sources, bend, names))


def _carried(step: PlanStep, prepared: PreparedLibrary, before: FloatArray, after: FloatArray) -> Swept:
    """Return what a step covers when its root follows another path.

    Args:
        step: the step, as the library's clip is laid.
        prepared: the library.
        before: laid poses of its root; (F, 3).
        after: poses that it gets; (F, 3).
    """
    discs, swept = prepared.discs, swept_step(step, prepared.table, prepared.discs)
    action = prepared.table.clips.index(step.clip)
    windows = slice(int(discs.window_starts[action]), int(discs.window_starts[action + 1]))
    frames = discs.window_frames[windows]
    middle = frames.sum(axis=1) // 2
    moves = path_moves(before, after)
    slack = np.full(len(frames), _BODY)
    for at in frames.T:
        off = np.hypot(*(planar.transform_points(moves[middle], before[at, :2]) - after[at, :2]).T)
        slack = np.maximum(slack, _BODY + off + np.abs(moves[at, 2] - moves[middle, 2]) * discs.window_bounds[windows])
    counts = np.diff(swept.starts)
    return replace(
        swept,
        around=_grown(swept.around, moves[middle], slack),
        discs=_grown(swept.discs, np.repeat(moves[middle], counts, axis=0), np.repeat(slack, counts)),
    )


def _grown(discs: FloatArray, moves: FloatArray, slack: FloatArray) -> FloatArray:
    return np.column_stack([planar.transform_points(moves, discs[:, :2]), discs[:, 2] + slack])
