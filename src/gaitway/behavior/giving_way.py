"""Giving way: two people who meet where it is narrow pass each other by shoulders and arms (Choi et al. 2011).

Each keeps to its own half of the narrow place. The other half is closed to it by a block, so that the planner of
deformable motion bends its path, turns its trunk and tucks its arms there as in any gap. Two bodies that stay on
either side of a line cannot touch, whenever they come. Whether they do is tested on the bodies that were planned.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.behavior.member_planner import MemberPlanner, MemberPlans
from gaitway.behavior.starts import CrowdMember
from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import Plan, SearchResult
from gaitway.space.prepared import PreparedLibrary, changed_fields
from gaitway.space.traffic import Traffic
from gaitway.world.exact import distance
from gaitway.world.obstacle import Obstacle
from gaitway.world.occupancy import BODY_BAND
from gaitway.world.shapes import Box
from gaitway.world.world import World

NARROWEST, WIDEST = 0.86, 2.4
"""Width of a place below which two people do not pass each other, and from which on they keep clear anyway [m]."""
_STANDS, _SPARED = 1.5, 1.0
"""Time that somebody stands in mid-way who is hindered, and time that both together have to spare by it [s]."""
_OPPOSITE = math.radians(120.0)
"""Least angle between the directions of two who meet [rad]."""
_NEAR = 2.0
"""Distance of two roots within which bodies may touch [m]."""
_LENGTHS, _MOVED = (2.4, 3.2, 4.2), 2
"""Lengths of the blocks that are tried [m], and how often each is put where both meet then."""
_SOON = 1.0
"""How much later than without the other both together may arrive for no more to be tried [s]."""
_APART = 0.01
"""Distance of a block from the middle [m]; bodies may lie in it by a little less."""
_TOUCH = 0.0
"""Least distance between two bodies along the axis that parts them [m]."""
_HEIGHT, _BEYOND = 2.2, 0.2
"""Height of a block, and how far it goes into the wall [m]."""
_RATE = 30.0
"""Rate at which two plans are compared [Hz]."""
_LONG, _FINE = 1.3, 0.02
"""How far before and after the meeting the narrowest place is looked for, and distance of points there [m]."""
_TURNS = np.radians(np.arange(-40.0, 41.0, 5.0))
"""Directions across the way, against its normal [rad]."""
_STEP = 0.1
"""Least distance of a step that goes somewhere [m]."""


@dataclass(frozen=True)
class NarrowPlace:
    """A place where it is narrow: two who meet share it by a line along its middle."""

    middle: complex
    """x + iy [m]."""
    along: complex
    """Unit direction of the line, in which the first of both goes."""
    width: float
    """Room across [m]."""

    def block(self, side: int, length: float, name: str) -> Obstacle:
        """Return the half on one side of the line, 1 for the left one, as an obstacle of a length [m]."""
        deep = 0.5 * self.width - _APART + _BEYOND
        at = self.middle + side * (_APART + 0.5 * deep) * 1j * self.along
        yaw = math.atan2(self.along.imag, self.along.real)
        return Obstacle(Box((at.real, at.imag), (length, deep), _HEIGHT, yaw), name=name)


def standing_time(plan: Plan) -> float:
    """Return how long a character stands between steps that go somewhere [s]."""
    times = np.array([*(step.time for step in plan.steps), plan.end_time])
    places = np.array([*(step.pose[:2] for step in plan.steps), plan.end_pose[:2]])
    stays = np.hypot(*np.diff(places, axis=0).T) < _STEP
    return float(np.diff(times)[stays].sum())


def give_way(
    world: World, one: MemberPlanner, members: Sequence[CrowdMember], traffic: Traffic, found: MemberPlans
) -> int:
    """Let those pass each other by shoulders and arms who wait for one another, or do not arrive; return how many do.

    Args:
        world: the place.
        one: searches.
        members: all members; those whose options say `give_way` may.
        traffic: where everybody is.
        found: plans of all; those of people who give way are replaced.
    """
    soft = [
        m for m in members if getattr(m.character.plan, "give_way", False) and m.name in found.plans and m.stop is None
    ]
    done = set[str]()
    for member in soft:
        for other in soft:
            if other is member or member.name in done or other.name in done:
                continue
            if _hindered(member, other, found) and _Pair(world, one, (member, other), traffic, found).pass_by():
                done |= {member.name, other.name}
    return len(done) // 2


def _hindered(member: CrowdMember, other: CrowdMember, found: MemberPlans) -> bool:
    """Return whether a member does not arrive, or stands about, and another may be why."""
    result = found.results[member.name]
    if not result.found:
        return other.name in result.blockers
    plan, along = found.plans[member.name], np.subtract(member.character.goal, member.character.start[:2])
    against = np.subtract(other.character.goal, other.character.start[:2])
    return standing_time(plan) >= _STANDS and float(along @ against) < 0.0


_Known = tuple[float, list[tuple[CrowdMember, MemberPlans, list[Swept]]]]
"""Sum of the ends of the plans of two [s], these plans, and what they cover."""
_Meeting = tuple[complex, complex]
"""Where two meet, and in which direction the first goes."""


class _Pair:
    """Two who may pass each other."""

    def __init__(
        self, world: World, one: MemberPlanner, pair: tuple[CrowdMember, CrowdMember], traffic: Traffic,
        found: MemberPlans,
    ) -> None:  # fmt: skip
        self.world, self.one, self.pair, self.traffic, self.found = world, one, pair, traffic, found

    def pass_by(self) -> bool:
        """Plan both anew so that they pass each other; return whether they do, else all is as it was."""
        before, lost = self._known(), not all(self.found.results[m.name].found for m in self.pair)
        best = self._best()
        if best is not None and (lost or best[0] < before[0] - _SPARED):
            self._restore(best)
            return True
        self._restore(before)
        return False

    def _known(self) -> _Known:
        """Return the plans of both as they are now, with the sum of their ends."""
        ends = sum(self.found.plans[m.name].end_time for m in self.pair)
        return ends, [(m, self.found.of(m.name), self.traffic.held(m.owner)) for m in self.pair]

    def _restore(self, known: _Known) -> None:
        for member, plans, held in known[1]:
            self.traffic.remove(member.owner)
            for swept in held:
                self.traffic.add_swept(member.owner, swept)
            self.found.take(plans)

    def _best(self) -> _Known | None:
        """Return the plans by which both arrive on their own halves and do not touch, the soonest that were found."""
        one, two = (self._alone(member) for member in self.pair)
        if one is None or two is None:
            return None
        first = _meeting(Motion(self.pair[0].prepared, one, {}), Motion(self.pair[1].prepared, two, {}))
        soon, best = one.end_time + two.end_time + _SOON, None
        for side in (1, -1):
            for length in _LENGTHS:
                at: _Meeting | None = first
                for _ in range(_MOVED):
                    place = None if at is None else narrow_place(self.world, *at)
                    if place is None:
                        break
                    motions = self._on_halves(place, side, length)
                    if motions is None:
                        break
                    if not touching(*motions, place.along):
                        known = self._known()
                        best = known if best is None or known[0] < best[0] - 1e-6 else best
                        if best[0] <= soon:
                            return best
                        break
                    at = _meeting(*motions)
        return best

    def _on_halves(self, place: NarrowPlace, side: int, length: float) -> tuple[Motion, Motion] | None:
        """Plan both on their halves of a place, and return how they move, or None if one does not arrive."""
        one, two = self.pair
        blocks = (place.block(side, length, f"way of '{two.name}'"), place.block(-side, length, f"way of '{one.name}'"))
        if not all(self._arrives(m, block) for m, block in zip(self.pair, blocks, strict=True)):
            return None
        first, second = (Motion(m.prepared, self.found.plans[m.name], self.found.clips(m.name)) for m in self.pair)
        return first, second

    def _alone(self, member: CrowdMember) -> Plan | None:
        """Return a plan of a member among all but the other one, or None."""
        result = self._searched(member, None)[1]
        return result.plan if result.found else None

    def _searched(self, member: CrowdMember, block: Obstacle | None) -> tuple[CrowdMember, SearchResult]:
        for each in self.pair:
            self.traffic.remove(each.owner)
        own = copy.copy(member)
        options = member.character.plan.model_copy(update={"relax": False})  # what was fitted closely stays as it is
        own.character = replace(member.character, plan=options)
        if block is not None:
            world = replace(self.world, obstacles=(*self.world.obstacles, block))
            own.prepared = member.prepared.in_world(changed_fields(member.prepared, world), {})
        return own, self.one.search(own, self.traffic, self.one.query(own))

    def _arrives(self, member: CrowdMember, block: Obstacle) -> bool:
        """Plan a member beside a block, and write its plan down; return whether it arrives."""
        own, result = self._searched(member, block)
        done = result.found and result.plan is not None
        if done and result.plan is not None:
            done = self.one.arrive(own, self.traffic, self.found, result.plan, result)
        return done


class Motion:
    """The body of a plan at any time."""

    def __init__(self, prepared: PreparedLibrary, plan: Plan, clips: Mapping[str, Clip]) -> None:
        """Take the plan, and those of its clips that are not the library's."""
        own = {name: step.clip for name, step in plan.own.items()} | dict(clips)
        self.plan, self.times = plan, np.array([step.time for step in plan.steps])
        self.clips = [own.get(step.clip) or prepared.library.clips[step.clip] for step in plan.steps]
        self.body = capsule_body(prepared.library.skeleton)
        self._known: dict[int, FloatArray] = {}

    def frame(self, time: float) -> tuple[int, int]:
        """Return number and frame of the step that is played at a time, which lies within the plan [s]."""
        k = max(int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1, 0)
        step, clip = self.plan.steps[k], self.clips[k]
        return k, min(round((time - step.time) * step.speed * clip.fps), len(clip) - 1)

    def root(self, time: float) -> complex:
        """Return where the root is, before the plan and after it as well, as x + iy [m]."""
        if not self.plan.steps or time >= self.plan.end_time:
            return complex(*self.plan.end_pose[:2])
        k, i = self.frame(max(time, float(self.times[0])))
        path = self.clips[k].planar_path()
        x, y, _ = planar.compose(self.plan.steps[k].pose, planar.compose(planar.inverse(path[0]), path[i]))
        return complex(x, y)

    def extents(self, time: float, axes: FloatArray) -> FloatArray:
        """Return from where to where the body reaches along axes (A, 2) [m]; (A, 2)."""
        k, i = self.frame(min(max(time, float(self.times[0])), self.plan.end_time))
        if k not in self._known:
            carry = planar.compose(self.plan.steps[k].pose, planar.inverse(self.clips[k].planar_path()[0]))
            self._known[k] = planar.transform_points(carry, capsules(self.clips[k], self.body)[..., :2])
        along = self._known[k][i] @ axes.T  # (C, 2, A)
        radii = self.body.radii[:, None, None]
        return np.stack([(along - radii).min(axis=(0, 1)), (along + radii).max(axis=(0, 1))], axis=-1)


def touching(one: Motion, two: Motion, along: complex) -> bool:
    """Return whether two bodies may touch at any time: they are parted neither along a line nor across it."""
    axes = np.array([[along.real, along.imag], [-along.imag, along.real]])
    for time in _times(one, two):
        if abs(one.root(time) - two.root(time)) < _NEAR:
            a, b = one.extents(time, axes), two.extents(time, axes)
            if float(np.maximum(a[:, 0] - b[:, 1], b[:, 0] - a[:, 1]).max()) < _TOUCH:
                return True
    return False


def _times(one: Motion, two: Motion) -> list[float]:
    """Return the times at which two plans are compared [s]."""
    first = min(m.times[0] for m in (one, two))
    last = max(m.plan.end_time for m in (one, two))
    return [frame / _RATE for frame in range(math.ceil(first * _RATE), math.floor(last * _RATE) + 1)]


def _meeting(one: Motion, two: Motion) -> _Meeting | None:
    """Return where two come nearest and in which direction the first goes there, or None if they do not meet."""
    if not one.plan.steps or not two.plan.steps:
        return None
    times = _times(one, two)
    roots = np.array([[motion.root(time) for time in times] for motion in (one, two)])
    k = int(np.argmin(np.round(np.abs(roots[0] - roots[1]), 6)))
    before, after = max(k - round(0.5 * _RATE), 0), min(k + round(0.5 * _RATE), len(times) - 1)
    moved = roots[:, after] - roots[:, before]
    if abs(roots[0, k] - roots[1, k]) > _NEAR or np.abs(moved).min() < _STEP:
        return None
    if abs(np.angle(moved[0] * moved[1].conjugate())) < _OPPOSITE:
        return None
    way = moved[0] - moved[1]
    return complex(roots[:, k].mean()), complex(way / abs(way))


def narrow_place(world: World, at: complex, along: complex) -> NarrowPlace | None:
    """Return the narrowest place near one on a way in some direction, or None where two need no help or cannot pass."""
    reach = np.arange(_FINE, WIDEST, _FINE)
    best: tuple[float, float, NarrowPlace] | None = None
    low, high = np.array(BODY_BAND) + float(world.ground((at.real, at.imag)))
    for far in np.arange(-_LONG, _LONG + 0.01, 0.1).tolist():
        here = at + far * along
        normals = 1j * along * np.exp(1j * _TURNS)
        rays = here + np.concatenate([normals, -normals])[:, None] * reach
        away = distance(world, np.stack([rays.real, rays.imag], axis=-1), low=low, high=high)
        x0, y0, x1, y1 = world.bounds
        for edge in (rays.real - x0, x1 - rays.real, rays.imag - y0, y1 - rays.imag):
            away = np.minimum(away, edge)
        shut, rows = away <= 0.0, np.arange(len(rays))
        last = np.argmax(shut, axis=1)
        before = np.where(last > 0, away[rows, np.maximum(last - 1, 0)], _FINE)
        hits = reach[last] - _FINE * (1.0 - before / np.maximum(before - away[rows, last], 1e-9))
        free = np.where(shut.any(axis=1), np.maximum(hits, 0.0), WIDEST)
        left, right = free[: len(normals)], free[len(normals) :]
        k = int(np.argmin(np.round(left + right + 1e-3 * np.abs(_TURNS), 6)))
        width, middle = float(left[k] + right[k]), here + 0.5 * float(left[k] - right[k]) * normals[k]
        if best is None or (round(width, 3), round(abs(far), 3)) < best[:2]:
            place = NarrowPlace(complex(middle), complex(-1j * normals[k]), width)
            best = (round(width, 3), round(abs(far), 3), place)
    if best is None or not NARROWEST <= best[2].width <= WIDEST:
        return None
    return best[2]
