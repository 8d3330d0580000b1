"""Relaxed plans: steps drawn straight, where that stays clear of obstacles and of all characters.

Steps keep their times. A path that would touch something is held away from it by contacts, as a string is by the things
that it is pulled around. Where that does not work it is cut, its parts are tried, and then runs of steps that overlap.
Starts, stops and waits move along with the steps about them. Stops in mid-way that wait for nobody become strides.
Single steps before the walk and after it are left out where it can do without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.library.actions import stays
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.bending import Bend, follow_path, path_moves
from gaitway.performing.arrival.bent_steps import bent_clips, pose_of
from gaitway.performing.arrival.footwork import Footwork, Footworks, laid, laid_path
from gaitway.performing.relaxing.bent_well import bent_well, feet_stay
from gaitway.performing.relaxing.carried_steps import CarriedSteps, HeldTraffic
from gaitway.performing.relaxing.straight_path import PathContact, StraightPath, turning
from gaitway.performing.relaxing.walked_turns import WalkedTurn, needless_stops, walked_turns
from gaitway.space._standing_kernels import body_hit
from gaitway.space._traffic_kernels import end_slot, first_slot
from gaitway.space.areas import limited_length, path_price
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import Plan, PlanStep, Pose
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import Traffic, placed_discs, swept_steps

_FEWEST, _MOST = 2, 16
"""Least and greatest number of steps that are drawn straight together."""
_RUN, _HOP = 12, 4
"""Number of steps of the overlapping runs that are drawn straight after that, and how many steps lie between the
beginnings of two of them. A second time spares hardly more turning, and bends add up."""
_GAIN = float(np.radians(5.0))
"""Least turning that must be saved [rad]; less is not seen."""
_BESIDE = 2
"""Number of steps beside those that are moved whose strain changes with them."""
_LAST = (12, 6, 4, 3)
"""Numbers of steps that lead to the goal together, the first that can."""
_WITHIN = 0.8
"""Share of the tolerance within which a place to end is looked for."""
_SPARED = float(np.radians(20.0))
"""Turning that is worth a stop before the goal and steps to the side from there [rad]."""
_SET_OFF = float(np.radians(60.0))
"""Turning that is worth a halt after a single step [rad]; what follows is drawn straight later."""
_BARELY = 0.99
"""Share of the tolerance within which a path that ends beyond it is drawn, if it cannot get nearer."""
_TRIED = 3
"""Number of places to end that are tried."""
_AROUND_GOAL = np.array([(np.cos(a), np.sin(a)) for a in np.arange(8) * np.pi / 4.0])
"""Directions from a goal in which there may be room to stand; (8, 2)."""
_ASIDE = 0.1
"""Least distance of a single step [m]; turns in place go less far."""
_FARTHEST = 0.4
"""Least distance that a step goes which may be stretched [m]."""
_STRAINS = (2.0, 1.0)
"""Largest strains (`Bend.strain`); the first that captured legs can follow is taken. Made ones always can. Steps
become more usual, not less, so that it may be more than at arrivals."""
_SUDDEN = 9.0
"""Acceleration above which a root jumps [m/s2], unless the steps do so as they are; walking roots reach 7."""
_BENT, _PASSED = float(np.radians(15.0)), float(np.radians(4.0))
"""How much more or less than its clips a step is to turn, and by how much more it may [rad]."""
_ROUNDS, _FAR = 10, 0.4
"""Number of rounds in which a path is drawn straighter, and how far each may move it [m]."""
_HOPELESS = 4
"""Number of rounds after which a path that still touches something is given up."""
_MISSES = 2
"""Number of rounds after which a path that does not end where it should is given up."""
_LITTLE = float(np.radians(2.0))
"""Turning that a round must save for another one to follow [rad]."""
_TIE = 1e-9
"""Difference of turning that is rounding alone, and differs between processors: the earlier round is taken [rad]."""
_GRAZED = 0.06
"""How near a planned step may be to a wall that steps drawn straight keep clear of [m]."""
_DEARER = 1.01
"""Share of what a path costs over areas of the ground that one drawn straight may cost."""
_MOVED = 1e-9
"""Least change of a path by which steps count as moved [m, rad]."""


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
    """The same steps at the same times, but for strides in place of stops; some of them play bent clips."""
    runs: tuple[RelaxedRun, ...]
    swept: Swept | None
    """What all its steps cover; None if there are none."""

    def clips(self) -> dict[str, Clip]:
        """Bend the clips of all runs, and return them with those of the plan's own steps; by name."""
        own = {name: step.clip for name, step in self.plan.own.items()}
        return own | {clip.name: clip for run in self.runs for clip in run.clips()}


def relaxed(
    prepared: PreparedLibrary, traffic: Traffic, plan: Plan, footworks: Footworks, *, name: str, goes_on: bool = False,
    goal: tuple[float, float] | None = None, tolerance: float = 0.0,
) -> RelaxedPlan:  # fmt: skip
    """Draw the steps of a plan straight.

    Args:
        prepared: library, discs and world of the character.
        traffic: all others; the character itself must not be in it.
        plan: the plan.
        footworks: footwork of the library's clips.
        name: suffix of the names of bent clips; different for each character of a take.
        goes_on: whether the last heading stays, because further steps follow or it was asked for.
        goal: place at which the plan is to end [m]; None leaves its last place where it is. Steps to the side, turns in
            place and waits at the end are left out if the walk before them can lead there.
        tolerance: how far from the goal the plan may end [m]; 0 asks for the goal itself.
    """
    steps, swept = list(plan.steps), _swept(prepared, plan)
    runs: list[RelaxedRun] = []
    held = HeldTraffic(traffic)
    gone = 0
    for planned_first, planned_end in _stretches(prepared, held, plan, swept, footworks):
        first, end = planned_first - gone, planned_end - gone
        keep = goes_on or end < len(steps)
        for strain in _STRAINS:
            stretch = _Stretch(prepared, held, footworks, steps[first:end], keep, plan.end_time, strain)
            if first == 0:
                stretch.begin()
            stretch.walk_on()
            stretch.relax()
            if not keep and goal is not None:
                stretch.end(np.array(goal), tolerance)
            if not stretch.changed:
                break
            made, runs_made = stretch.result(first, name)
            if feet_stay(prepared) or all(bent_well(run.sources, run.clips()) for run in runs_made):
                if end == len(steps):
                    plan = replace(plan, end_pose=pose_of(stretch.path[-1]), end_time=stretch.end_time)
                steps[first:end], swept[first:end] = made, [stretch.swept(), *[_NOTHING] * (len(made) - 1)]
                runs += runs_made
                gone += end - first - len(made)
                break
    parts = [part for part in swept if len(part.around)]
    return RelaxedPlan(replace(plan, steps=tuple(steps)), tuple(runs), Swept.joined(parts) if parts else None)


def unrelaxed(prepared: PreparedLibrary, plan: Plan) -> RelaxedPlan:
    """Return a plan as it is."""
    swept = _swept(prepared, plan)
    return RelaxedPlan(plan, (), Swept.joined(swept) if swept else None)


def _swept(prepared: PreparedLibrary, plan: Plan) -> list[Swept]:
    """Return what each step of a plan covers."""
    usual = swept_steps([step for step in plan.steps if step.clip not in plan.own], prepared.table, prepared.discs)
    parts = iter(usual)
    return [plan.own[step.clip].swept if step.clip in plan.own else next(parts) for step in plan.steps]


_NOTHING = Swept(np.empty((0, 3)), np.empty((0, 3)), np.zeros(1, int), np.empty((0, 2), int), np.empty(0, int))


def _stretches(
    prepared: PreparedLibrary, traffic: HeldTraffic, plan: Plan, swept: Sequence[Swept], footworks: Footworks
) -> Iterator[tuple[int, int]]:
    """Yield the first and end numbers of steps in a row that may be moved: on feet, and as clear as others must be.

    Who leaves a dense group may be nearer to others than usual, exactly where it was planned.
    """
    if not plan.steps:
        return
    every = Swept.joined(swept)
    near = prepared.fields.clearance(every.discs[:, :2]) < every.discs[:, 2] - _GRAZED
    touching = np.logical_or.reduceat(near, every.starts[:-1]) | traffic.meetings(every)[0]
    close = np.logical_or.reduceat(touching, np.cumsum([0, *(len(part.around) for part in swept[:-1])]))
    good = [False]
    for step, touches in zip(plan.steps, close.tolist(), strict=True):
        work = None if step.clip in plan.own else footworks.of(step.behavior, step.clip)
        good.append(not touches and work is not None and work.rolled is None)
    edges = [k for k, (before, after) in enumerate(pairwise([*good, False])) if before != after]
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        if end - first >= _FEWEST:
            yield first, end


_State = tuple[list[PlanStep], list[Footwork], FloatArray, IntArray, bool, float]
"""What changes when steps are drawn otherwise: steps, their footwork, path and knots, and when the last one ends."""


@dataclass(frozen=True)
class _Freedom:
    """How a clip may be changed."""

    turns: bool
    """Whether it may turn farther or less far."""
    stretches: bool
    """Whether it may be longer or shorter."""
    limits: tuple[float, float]
    """Least and greatest turn that can be made of it, or of those like it [rad]."""


class _Stretch:
    """State of the relaxing of steps in a row. Their clips and their path change."""

    def __init__(
        self, prepared: PreparedLibrary, traffic: HeldTraffic, footworks: Footworks, steps: Sequence[PlanStep],
        keep: bool, end_time: float, strain: float = _STRAINS[0],
    ) -> None:  # fmt: skip
        self.prepared, self.traffic, self.footworks, self.strain = prepared, traffic, footworks, strain
        self.keep, self.start, self.end_time, self.changed = keep, steps[0].pose, end_time, False
        self._use(list(steps))
        self.path = laid_path(self.works, [step.pose for step in steps])
        self.waiting: Swept | None = None
        self.tried: set[tuple[int, int]] = set()

    def _use(self, steps: list[PlanStep]) -> None:
        """Take steps with other clips of the same durations."""
        self.steps, self.works = steps, self._works(steps)
        self.knots: IntArray = np.cumsum([0, *(len(work) - 1 for work in self.works)])

    def _works(self, steps: Sequence[PlanStep]) -> list[Footwork]:
        return [work for step in steps if (work := self.footworks.of(step.behavior, step.clip)) is not None]

    def _still(self, clip: str) -> bool:
        """Return whether a clip stays in place, so that there is nothing to bend."""
        return self.prepared.part(("stays", clip), lambda: stays(self.prepared.library.clips[clip]))

    def relax(self) -> None:
        """Draw all steps straight, or parts of them, and then runs of them that overlap."""
        count = len(self.steps)
        parts = -(-count // _MOST)
        borders = [count * k // parts for k in range(parts + 1)]
        for first, end in pairwise(borders):
            self._relax(first, end)
        for first in range(0, max(count - _RUN, 0) + _HOP, _HOP):
            self._try(max(min(first, count - _RUN), 0), min(first + _RUN, count), 2.0 * _GAIN)

    def walk_on(self) -> None:
        """Walk on where steps stop in mid-way and wait for nobody, if that stays free."""
        for stop in reversed(needless_stops(self.prepared, self.steps)):  # the last first, so that numbers hold
            a, b = (int(knot) for knot in self.knots[list(stop)])
            way = float(np.hypot(*np.diff(self.path[a : b + 1, :2], axis=0).T).sum())
            any(self._walk_on(walked) for walked in walked_turns(self.prepared, self.steps, stop, way))

    def _walk_on(self, walked: WalkedTurn) -> bool:
        """Let steps without a stop take the place of others; return whether they can."""
        first, end = walked.first, walked.end
        old = self.path[int(self.knots[first]) : int(self.knots[end]) + 1]
        turn, count = old[-1, 2] - old[0, 2], len(walked.steps)
        steps = self._fitting(walked.steps, np.full(count, turn / count))
        works = self._works(steps)
        if len(works) < count:
            return False
        knots: IntArray = np.cumsum([0, *(len(work) - 1 for work in works)])
        shape = laid_path(works, _chained(pose_of(old[0]), works))
        shape[:, 2] += old[0, 2] - shape[0, 2]
        at = np.linspace(0.0, len(old) - 1.0, len(shape))
        now = np.column_stack([np.interp(at, np.arange(len(old)), column) for column in old.T])
        found = self._redrawn(first, end, now, knots, old[-1, :2], float(old[-1, 2]), shape, steps)
        before = turning(old, self.knots[first : end + 1] - self.knots[first])
        if isinstance(found, int) or turning(found[1], knots) > before + _SPARED:
            return False
        return self._keep(first, *found, replaced=end - first) is None

    def begin(self) -> None:
        """Set off at once, without single steps to where one stands again, if the walk after them can do without.

        Turns in place among them are kept, and take place just before the walk.

        The character stands where it starts until the walk begins.
        """
        count = 0
        while count < len(self.steps) - _FEWEST and self._stays_about(self.steps[count].clip):
            count += 1
        single = sum(self._shuffles(step.clip) for step in self.steps[:count])
        if single == 0:
            return
        state = self._state()
        if single < count:
            self._turn_last(count)
        waiting = self._waiting(single)
        ends = dict.fromkeys(min(count + number, len(self.steps)) for number in _LAST)
        if waiting is not None and any(self._set_off(single, end) for end in ends):
            self.waiting = waiting
        else:
            self._restore(state)

    def _turn_last(self, count: int) -> None:
        """Put the turns in place among the first steps after all single steps, where the walk begins."""
        steps, now = self.steps[:count], self.path[int(self.knots[count]) :]
        lasts = [after.time - step.time for step, after in pairwise(self.steps[: count + 1])]
        pose, time, turns, path = now[0], self.steps[count].time, list[PlanStep](), now
        for step, work, last in zip(steps[::-1], self.works[count - 1 :: -1], lasts[::-1], strict=True):
            if not self._shuffles(step.clip):
                heading = float(pose[2] - work.path[-1, 2])
                away = planar.compose((0.0, 0.0, heading), work.path[-1])
                pose, time = np.array([*(pose[:2] - away[:2]), heading]), time - last
                turn = planar.compose(pose, work.path)
                turn[:, 2] = heading + work.path[:, 2]
                turns, path = [replace(step, pose=pose_of(pose), time=time), *turns], np.concatenate([turn[:-1], path])
        single = [replace(step, time=steps[0].time) for step in steps if self._shuffles(step.clip)]
        self._use([*single, *turns, *self.steps[count:]])
        # what is left out stands still, so that it does not turn
        self.path = np.concatenate([np.repeat(path[:1], int(self.knots[len(single)]), axis=0), path])

    def _set_off(self, first: int, end: int) -> bool:
        """Let the steps from one number up to another lead from the start to where they end; leave out all before."""
        a, b, state = int(self.knots[first]), int(self.knots[end]), self._state()
        knots, now = self.knots[first : end + 1] - a, self.path[a : b + 1]
        keep = self.keep or end < len(self.steps)
        before, path = turning(self.path[: b + 1], self.knots[: end + 1]), self.path[a:]
        later = self.steps[first:]
        poses = _chained(self.start, self._works(later))
        self._use(_posed(later, poses))
        shape, self.path = laid_path(self.works[: end - first], poses[: end - first]), path
        shape[:, 2] += 2.0 * np.pi * np.round((now[0, 2] - shape[0, 2]) / (2.0 * np.pi))
        heading = float(now[-1, 2]) if keep else None
        found = self._redrawn(0, end - first, now, knots, now[-1, :2], heading, shape)
        if (
            not isinstance(found, int)
            and turning(found[1], knots) < before + _SET_OFF
            and (keep or self._stand_free(end - first, found[1][-1]))
            and self._keep(0, *found) is None
        ):
            return True
        self._restore(state)
        return False

    def _shuffles(self, clip: str) -> bool:
        """Return whether a clip is a step from where one stands to where one stands again; turns in place are none."""
        move = self.prepared.table.moves[self.prepared.table.clips.index(clip), :2]
        return self._stays_about(clip) and bool(np.hypot(*move) >= _ASIDE)

    def _stays_about(self, clip: str) -> bool:
        """Return whether a clip is a single step or a turn in place, from where one stands to where one stands."""
        table = self.prepared.table
        action = table.clips.index(clip)
        rests = table.start_state[action] == table.end_state[action] and table.rest[table.end_state[action]]
        near = np.hypot(*table.moves[action, :2]) < _FARTHEST and table.kind[action] < 0
        return bool(rests and near) and not self._still(clip)

    def _waiting(self, count: int) -> Swept | None:
        """Return what a character covers that stands at the start until a step begins; None if that is not free."""
        discs = placed_discs(self.start, self.prepared.standing_discs(self.steps[count - 1].behavior))
        slots = int(first_slot(self.steps[0].time)), int(end_slot(self.steps[count].time))
        standing = Swept.standing(discs, *slots, -1)
        near = self.prepared.fields.clearance(discs[:, :2]) < discs[:, 2]
        return None if near.any() or self.traffic.meetings(standing)[0].any() else standing

    def end(self, goal: FloatArray, tolerance: float) -> None:
        """Let the last steps lead straight to a goal, without steps to the side and turns at the end, if they can.

        Args:
            goal: the goal; (2,).
            tolerance: how far from it the last step may end [m].
        """
        count = len(self.steps)
        while count > 1 and not (self._strides(self.steps[count - 1]) and self._rests(count)):
            count -= 1
        if count < _FEWEST or not self._strides(self.steps[count - 1]):
            return
        single = [k for k in range(count + 1, len(self.steps)) if self._shuffles(self.steps[k - 1].clip)]
        for end in dict.fromkeys((count, *single, len(self.steps))):
            if not self._rests(end):
                continue
            for first in dict.fromkeys(self._going_on(end, last) for last in _LAST):
                if self._end(first, end, goal, tolerance):
                    return

    def _going_on(self, end: int, count: int) -> int:
        """Return the number of the step from which a number of them, waits aside, are left up to another one."""
        going = [k for k in range(end) if not self._still(self.steps[k].clip)]
        return going[-count] if count <= len(going) else 0

    def _end(self, first: int, end: int, goal: FloatArray, tolerance: float) -> bool:
        """Let the steps from one number up to another lead to a goal, and leave out all after them.

        Returns:
            Whether nothing more has to be tried.
        """
        a, b = int(self.knots[first]), int(self.knots[end])
        knots, now = self.knots[first : end + 1] - a, self.path[a : b + 1]
        hooked = turning(now, knots[-4:]) > _GAIN if len(knots) > 3 else True
        if end == len(self.steps) and not hooked and tolerance > 0.0:
            return True
        frame = int(knots[max(len(knots) - 4, 0)])
        places = [place for place in _places(now, frame, goal, tolerance) if self._stand_ahead(end, now[frame], place)]
        for place in places[:_TRIED]:
            state, before = self._state(), turning(now, knots)
            found = self._redrawn(first, end, now, knots, place)
            if (
                not isinstance(found, int)
                and turning(found[1], knots) < before + (_SPARED if end < len(self.steps) else -_GAIN)
                and self._stand_free(end, found[1][-1])
            ):
                self._use_only(end)
                if self._keep(first, *found) is None:
                    return True
            self._restore(state)
        return False

    def _stand_ahead(self, end: int, pose: FloatArray, place: FloatArray) -> bool:
        """Return whether a character that comes straight from a pose to a place can stand there for ever."""
        ahead = float(np.arctan2(*(place - pose[:2])[::-1]))
        return self._stand_free(end, np.array([*place, ahead]))

    def _strides(self, step: PlanStep) -> bool:
        """Return whether a step goes somewhere."""
        work = self.footworks.of(step.behavior, step.clip)
        return work is not None and bool(np.hypot(*work.path[-1, :2]) >= _FARTHEST and work.path[-1, 0] > 0.0)

    def _rests(self, count: int) -> bool:
        """Return whether a character can stand after the steps up to a number."""
        table, clip = self.prepared.table, self.steps[count - 1].clip
        return bool(table.rest[table.end_state[table.clips.index(clip)]])

    def _use_only(self, count: int) -> None:
        """Leave out all steps from a number on."""
        path = self.path[: int(self.knots[count]) + 1]
        self.end_time = self.steps[count].time if count < len(self.steps) else self.end_time
        self._use(self.steps[:count])
        self.path = path

    def _stand_free(self, end: int, pose: FloatArray) -> bool:
        """Return whether a character can stand at a pose for ever after the steps up to a number."""
        discs = placed_discs(pose_of(pose), self.prepared.standing_discs(self.steps[end - 1].behavior))
        if (self.prepared.fields.clearance(discs[:, :2]) < discs[:, 2]).any():
            return False
        time = self.steps[end].time if end < len(self.steps) else self.end_time
        return int(body_hit(self.traffic.handle, int(first_slot(time)), read_only(discs))) < 0

    def _state(self) -> _State:
        return self.steps, self.works, self.path, self.knots, self.changed, self.end_time

    def _restore(self, state: _State) -> None:
        self.steps, self.works, self.path, self.knots, self.changed, self.end_time = state

    def _relax(self, first: int, end: int) -> None:
        """Draw the steps from one number up to another straight, or parts of them."""
        if end - first < _FEWEST:
            return
        met = self._try(first, end)
        if met is not None:
            cut = min(max(met, first + 1), end - 1)
            self._relax(first, cut)
            self._relax(cut, end)

    def _try(self, first: int, end: int, gain: float = _GAIN) -> int | None:
        """Draw steps straight; return where to cut if that does not work, None if there is nothing more to do.

        Args:
            first: number of the first step.
            end: number of the step after the last.
            gain: least turning that they seem to spare [rad].
        """
        a, b = int(self.knots[first]), int(self.knots[end])
        knots, now = self.knots[first : end + 1] - a, self.path[a : b + 1]
        turns = np.diff(now[knots, 2])
        keep = self.keep or end < len(self.steps)
        if (first, end) in self.tried or np.abs(turns).sum() - (abs(turns.sum()) if keep else 0.0) < gain:
            return None  # there is nothing to save
        self.tried.add((first, end))
        found = self._redrawn(first, end, now, knots, now[-1, :2], float(now[-1, 2]) if keep else None)
        if isinstance(found, int):
            return found
        if turning(found[1], knots) > turning(now, knots) - _GAIN:
            return None
        if not keep and not self._stand_free(end, found[1][-1]):
            return (first + end) // 2
        return self._keep(first, *found)

    def _redrawn(
        self, first: int, end: int, now: FloatArray, knots: IntArray, place: FloatArray, heading: float | None = None,
        shape: FloatArray | None = None, others: Sequence[PlanStep] | None = None,
    ) -> tuple[list[PlanStep], FloatArray] | int:  # fmt: skip
        """Return steps with clips that fit, and their straightest path; or where to cut if there is none.

        Args:
            first: number of the first step.
            end: number of the step after the last.
            now: a path of them that touches nothing; (F, 3).
            knots: frame in which each step begins, and the last frame.
            place: where the last frame is to be; (2,).
            heading: its heading [rad]; None for any.
            shape: a path of them from where they are to begin, which may touch anything; (F, 3); None for `now`.
            others: steps that are to take their place; all paths are those of these; None for none.
        """
        steps, contacts = self.steps[first:end] if others is None else list(others), list[PathContact]()
        wanted = ((float(place[0]), float(place[1])), heading)
        path = self._drawn(steps, now if shape is None else shape, now, knots, wanted, contacts)
        if path is None:
            return (first + end) // 2
        fitting = self._fitting(steps, np.diff(path[knots, 2]))
        if fitting == steps:
            return steps, path
        works = self._works(fitting)
        base = laid_path(works, _chained(pose_of(path[0]), works))
        base[:, 2] += path[0, 2] - base[0, 2]
        fits = self._drawn(fitting, base, path, knots, wanted, contacts)
        if fits is None and not len(self._carried(fitting).blocked(path)):
            fits = path
        return (first + end) // 2 if fits is None else (fitting, fits)

    def _drawn(
        self, steps: Sequence[PlanStep], shape: FloatArray, free: FloatArray, knots: IntArray,
        wanted: tuple[tuple[float, float], float | None], contacts: list[PathContact],
    ) -> FloatArray | None:  # fmt: skip
        """Return the straightest path of steps that touches nothing; None if there is none.

        Args:
            steps: the steps; only their clips and times count.
            shape: a path of these steps from the same start; (F, 3).
            free: a path of such steps that touches nothing, or hardly; (F, 3).
            knots: frame in which each step begins, and the last frame.
            wanted: place and heading of the last frame; None for any heading.
            contacts: what holds the path; more are added.
        """
        carried = self._carried(steps)
        free_to = [self._freedom(step) for step in steps]
        turns, strides = np.array([free.turns for free in free_to]), np.array([free.stretches for free in free_to])
        limits = np.array([free.limits for free in free_to])
        drawing = StraightPath(shape, knots, turns=turns, strides=strides, limits=limits)
        farthest, best, least, missed = _FAR if shape is free else np.inf, None, np.inf, 0
        for number in range(_ROUNDS):
            drawing.next(*wanted, contacts, farthest)
            found = drawing.closed(*wanted)
            if found is None:
                missed += 1
                if missed == _MISSES:
                    break
                continue
            blocked = carried.blocked(found)
            if len(blocked):
                if best is None and number >= _HOPELESS:
                    break
                contacts += carried.contacts(found, free, blocked)
            if len(blocked) or drawing.excess() > _PASSED or self._dearer(found, free):
                continue
            turned, before = turning(found, knots), least
            if turned < least - _TIE:
                best, least, free = found, turned, found
            if turned > before - _LITTLE:
                break
        return best

    def _dearer(self, path: FloatArray, before: FloatArray) -> bool:
        """Return whether a path leads over ground that people avoid, or against its rules, more than one before it."""
        areas = self.prepared.fields.areas
        if not areas:
            return False
        longer = limited_length(areas, path) > _DEARER * limited_length(areas, before)  # in the same time
        return longer or path_price(areas, path) > _DEARER * path_price(areas, before)

    def _keep(self, first: int, steps: Sequence[PlanStep], part: FloatArray, replaced: int | None = None) -> int | None:
        """Take a path for some steps if it can be walked; return where to cut if not.

        Args:
            first: number of the first step.
            steps: the steps.
            part: their path; (F, 3).
            replaced: number of steps that they take the place of; None for as many as they are.
        """
        before, after = self._state(), first + (len(steps) if replaced is None else replaced)
        old, a, b = self.path, int(self.knots[first]), int(self.knots[after])
        if _acceleration(part, self.works[0].fps) > max(_SUDDEN, _acceleration(old[a : b + 1], self.works[0].fps)):
            return first + len(steps) // 2  # where steps of other clips meet, their sway need not
        everything = [*self.steps[:first], *steps, *self.steps[after:]]
        if everything != self.steps:
            self._use(_posed(everything, _chained(self.start, self._works(everything))))
        later = np.array(old[b + 1 :])
        later[:, 2] += part[-1, 2] - old[b, 2]
        self.path = np.concatenate([old[:a], part, later])
        for low, high, bend in self._bends(first, first + len(steps), _BESIDE):
            if bend is None or bend.strain > self.strain:
                self._restore(before)
                return (max(low, first) + min(high, first + len(steps))) // 2
        self.changed = True
        end = first + len(steps)
        self.tried = {(low, high) for low, high in self.tried if high <= first or end <= low}
        return None

    def _bends(self, first: int, end: int, beside: int | None = None) -> Iterator[tuple[int, int, Bend | None]]:
        """Yield the steps in a row that are bent, from one number up to another, if they reach into some.

        Args:
            first: number of the first step.
            end: number of the step after the last.
            beside: number of steps on either side that count as well; None for all that there are.
        """
        start, stop = (0, len(self.steps)) if beside is None else (max(first - beside, 0), end + beside)
        moves = [False, *(not self._still(step.clip) for step in self.steps[start:stop]), False]
        edges = [start + k for k, (before, after) in enumerate(pairwise(moves)) if before != after]
        for low, high in zip(edges[::2], edges[1::2], strict=True):
            if low < end and first < high:
                works, poses = self.works[low:high], [step.pose for step in self.steps[low:high]]
                yield low, high, follow_path(laid(works, poses), self._part(low, high, poses[0][2]))

    def _part(self, low: int, high: int, heading: float) -> FloatArray:
        """Return the path of some steps, its headings near one."""
        path = np.array(self.path[int(self.knots[low]) : int(self.knots[high]) + 1])
        path[:, 2] -= 2.0 * np.pi * np.round((path[0, 2] - heading) / (2.0 * np.pi))
        return path

    def _fitting(self, steps: Sequence[PlanStep], turns: FloatArray) -> list[PlanStep]:
        """Return the steps with clips that turn about as far as wanted.

        Only clips of the same states and of the same duration take the place of others.
        """
        table, out = self.prepared.table, []
        for step, turn in zip(steps, turns.tolist(), strict=True):
            own = table.clips.index(step.clip)
            alike = self._alike(own)
            if self.prepared.fields.areas:  # where there may be a limit, a short step does not become a long one
                most = _DEARER * np.hypot(*table.moves[own, :2])
                alike = {a: turned for a, turned in alike.items() if a == own or np.hypot(*table.moves[a, :2]) <= most}
            away, _, choice = min((abs(turned - turn), a != own, a) for a, turned in alike.items())
            if abs(alike[own] - turn) - away < _GAIN:
                choice = own
            name = table.behaviors[table.behavior[choice]]
            same = choice == own and name == step.behavior
            out.append(step if same else replace(step, behavior=name, clip=table.clips[choice]))
        return out

    def _freedom(self, step: PlanStep) -> _Freedom:
        """Return how the clip of a step may be changed."""
        return self.prepared.part(("freedom", step.clip), lambda: self._find_freedom(step), paced=True)

    def _find_freedom(self, step: PlanStep) -> _Freedom:
        turns = self._alike(self.prepared.table.clips.index(step.clip)).values()
        far = any(np.hypot(*work.path[-1, :2]) >= _FARTHEST for work in self._works([step]))
        return _Freedom(not self._still(step.clip), far, (min(turns) - _BENT, max(turns) + _BENT))

    def _alike(self, action: int) -> dict[int, float]:
        """Return the actions that may take the place of one, with itself, and how far each turns [rad]."""
        return self.prepared.part(("alike", action), lambda: self._find_alike(action), paced=True)

    def _find_alike(self, action: int) -> dict[int, float]:
        table = self.prepared.table
        same = (
            (table.start_state == table.start_state[action])
            & (table.end_state == table.end_state[action])
            & (table.frames == table.frames[action])
            & (table.kind < 0)
            & (self.prepared.speeds == self.prepared.speeds[action])
        )
        found = (int(a) for a in np.flatnonzero(same))
        alike = [a for a in found if a == action or (self._goes(a) and self._goes(action))]
        return {a: float(table.moves[a, 2]) for a in alike}

    def _goes(self, action: int) -> bool:
        """Return whether an action goes somewhere on feet."""
        table = self.prepared.table
        work = self.footworks.of(table.behaviors[table.behavior[action]], table.clips[action])
        return work is not None and work.rolled is None and bool(np.hypot(*work.path[-1, :2]) >= _FARTHEST)

    def _carried(self, steps: Sequence[PlanStep]) -> CarriedSteps:
        return CarriedSteps(self.prepared, self.traffic, steps, self._works(steps))

    def swept(self) -> Swept:
        """Return what all steps cover."""
        moving = self._carried(self.steps).swept(self.path)
        return moving if self.waiting is None else Swept.joined([self.waiting, moving])

    def result(self, first: int, name: str) -> tuple[list[PlanStep], list[RelaxedRun]]:
        """Return the steps on their path, and the runs of those that play bent clips.

        Args:
            first: number of the first step in the plan.
            name: suffix of the names of bent clips.
        """
        poses = [pose_of(self.path[knot]) for knot in self.knots.tolist()]
        steps = _posed(self.steps, poses[:-1])
        runs = []
        for low, high, bend in self._bends(0, len(steps)):
            if bend is None or np.ptp(path_moves(bend.work.path, bend.path), axis=0).max() < _MOVED:
                continue  # moved as a whole
            names = tuple(f"{step.clip}~{name}-{first + low + k}" for k, step in enumerate(steps[low:high]))
            sources = tuple(self.prepared.library.clips[step.clip] for step in steps[low:high])
            runs.append(RelaxedRun(first + low, sources, bend, names))
            steps[low:high] = [replace(step, clip=clip) for step, clip in zip(steps[low:high], names, strict=True)]
        return steps, runs


def _places(path: FloatArray, frame: int, goal: FloatArray, tolerance: float) -> list[FloatArray]:
    """Return places near a goal at which a path may end, the best first; (2,) each.

    The best is as far straight on as it is long, or next to that, then where it turns least, where it ends now, and
    places around the goal that ask for little turning.

    Args:
        path: the path; (F, 3).
        frame: frame from which it is to lead straight on.
        goal: the goal; (2,).
        tolerance: how far from it the path may end [m].
    """
    if tolerance == 0.0:
        return [goal]
    here, ends = path[frame, :2], path[-1, :2]
    back = path[max(frame - 1, 0), :2] - path[min(frame + 1, len(path) - 1), :2]
    ahead = -back / max(float(np.hypot(*back)), 1e-9)
    beside = here + ((goal - here) @ ahead) * ahead - goal
    nearest = goal + beside * min(1.0, _WITHIN * tolerance / max(float(np.hypot(*beside)), 1e-9))
    onward = here + float(np.hypot(*np.diff(path[frame:, :2], axis=0).T).sum()) * ahead - goal
    straight = goal + onward * min(1.0, _WITHIN * tolerance / max(float(np.hypot(*onward)), 1e-9))
    away = float(np.hypot(*(ends - goal)))
    if away <= tolerance:
        places = [straight, nearest, ends]
    else:  # no farther from where it ends now than it takes to be there
        shares = [share * tolerance / away for share in (_WITHIN, _BARELY)]
        places = [straight, nearest, *(goal + (ends - goal) * share for share in shares)]
    around = goal + _WITHIN * tolerance * _AROUND_GOAL
    off = around - here
    turned = np.abs(planar.wrap_angle(np.arctan2(off[:, 1], off[:, 0]) - np.arctan2(ahead[1], ahead[0])))
    return places + [around[k] for k in np.argsort(turned.round(6), kind="stable").tolist()]


def _acceleration(path: FloatArray, fps: float) -> float:
    """Return the greatest acceleration along a path (F, 3) [m/s2]."""
    if len(path) < 3:
        return 0.0
    return float(np.hypot(*np.diff(path[:, :2], 2, axis=0).T).max()) * fps * fps


def _chained(start: Pose, works: Sequence[Footwork]) -> list[Pose]:
    """Return the poses of steps that begin at a pose, each where the one before it ends."""
    poses = [start]
    for work in works[:-1]:
        x, y, heading = planar.composed(poses[-1], work.move)
        poses.append((x, y, planar.wrapped(heading)))
    return poses


def _posed(steps: Sequence[PlanStep], poses: Sequence[Pose]) -> list[PlanStep]:
    """Return steps at other poses."""
    return [
        step if step.pose == pose else PlanStep(step.behavior, step.clip, pose, step.time, step.speed)
        for step, pose in zip(steps, poses, strict=True)
    ]
