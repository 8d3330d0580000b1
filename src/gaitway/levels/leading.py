"""From a walk onto a link: the last steps before it are bent, so that the clip of the link lies exactly where it fits.

A plan ends near the entry of a link, and about in its direction. What is lacking is shared out over its last steps and
over the level steps with which the clip of the link begins. From the first riser on that clip plays as it is. All
people play it at one speed, so that nobody catches up with those ahead, whom one could not pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray, read_only
from gaitway.levels.links import Link
from gaitway.levels.riding import carried_by
from gaitway.library.fitting.fitted_clip import FittedClip
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.performing.arrival import _bending_kernels
from gaitway.performing.arrival.bending import Bend, follow_path
from gaitway.performing.arrival.bent_steps import bent_clips, pose_of
from gaitway.performing.arrival.footwork import Footwork, Footworks, footwork, laid
from gaitway.performing.relaxing.carried_steps import CarriedSteps, HeldTraffic
from gaitway.space._traffic_kernels import SLOT
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import OwnStep, Plan, PlanStep
from gaitway.space.prepared import PreparedLibrary

_MOST = 5
"""Number of last steps that may be bent."""
_HARDEST = 1.6
"""Largest strain (`Bend.strain`) of steps onto a link."""
_UNSEEN = 0.8
"""Strain below which no further steps are bent."""
_READY = read_only(np.array([1.0, 1.0, 0.25]))
"""How readily a path is stretched, shifted sideways [m^2 each] and turned [rad^2]."""
_ROUNDS = 12
_TALL = 2.2
"""Height within which bodies on a link and on a floor are beside one another [m]."""
_REACH = 0.6
"""Half the difference in height of two who can touch one another on stairs [m]."""
_SPARE = 6
"""Frames before and after a slot of time in which a body may be as high as in it."""
AT_EDGE = 0.3
"""How much nearer to the edge of a block than usual a character is who climbs over it [m]."""


@dataclass(frozen=True, eq=False)
class LinkedPlan:
    """A plan that leads over a link."""

    plan: Plan
    """The plan with the step of the link, from which its end pose is the exit of the link."""
    first: int
    """Number of the first bent step."""
    link: Link
    """The link as it lay at that time."""


def over_link(
    prepared: PreparedLibrary, traffic: HeldTraffic, footworks: Footworks, plan: Plan, link: Link, *, name: str
) -> LinkedPlan | str:
    """Let a plan lead over a link.

    Args:
        prepared: library, discs and world of the character.
        traffic: all others.
        footworks: footwork of the library's clips.
        plan: plan that ends near the entry of the link.
        link: the link.
        name: suffix of the names of bent clips; different for each character and link.

    Returns:
        The longer plan; or why the link cannot be met.
    """
    link = link.at(plan.end_time)
    found = _least_bend(prepared, footworks, plan, link)
    if found is None:
        return f"no steps lead onto '{link.name}' without a stumble"
    first, bend, approach, begun = found
    step = PlanStep(link.behavior, link.behavior, plan.end_pose, plan.end_time)
    steps = [*plan.steps[first:], step]
    sources = [*(_clip_of(prepared, plan, s) for s in steps[:-1]), approach]
    names = [f"{s.clip}~{name}-{first + k}" for k, s in enumerate(steps)]
    clips = bent_clips(sources, bend, names)
    clips[-1] = carried_by(link, _goes_on(clips[-1], link.played.clip, len(approach) - 1))
    made, frame = [], 0
    for old, clip, source in zip(steps, clips, sources, strict=True):
        made.append(replace(old, clip=clip.name, pose=pose_of(bend.path[frame])))
        frame += len(source) - 1
    frame = len(approach) - 1
    whole = prepared.part(("whole link", link.behavior), lambda: _whole(link.played.clip, begun))
    played = [*(replace(s, clip=_source(plan, s) or s.clip) for s in steps[:-1]), step]
    works = [work for s in played[:-1] if (work := footworks.of(s.behavior, s.clip)) is not None]
    rest = planar.compose(bend.path[-1], planar.compose(planar.inverse(whole.path[frame]), whole.path[frame + 1 :]))
    swept = _swept(prepared, traffic, played, [*works, whole], np.concatenate([bend.path, rest]), link)
    own = {clip.name: OwnStep(clip, part) for clip, part in zip(clips, swept, strict=True)}
    longer = Plan(
        (*plan.steps[:first], *made), link.exit, plan.end_time + clips[-1].duration,
        plan.cost + float(prepared.actions.costs[prepared.table.clips.index(link.behavior)]), {**plan.own, **own},
    )  # fmt: skip
    return LinkedPlan(longer, first, link)


def touched(prepared: PreparedLibrary, linked: LinkedPlan, edge: str | None = None) -> str | None:
    """Return the obstacle that the bent steps before a link come too near to, or None.

    Args:
        prepared: library, discs and world of the character.
        linked: the plan.
        edge: name of the edge of a block that is climbed down over, to which one comes near; None for no such edge.
    """
    for step in linked.plan.steps[linked.first : -1]:
        discs = linked.plan.own[step.clip].swept.discs
        lack = discs[:, 2] - prepared.fields.clearance(discs[:, :2])
        near = np.flatnonzero(lack > 0.0)
        for disc, name in zip(near.tolist(), prepared.fields.blame(discs[near, :2]) if len(near) else (), strict=True):
            if name != edge or lack[disc] > AT_EDGE:
                return name
    return None


def _least_bend(
    prepared: PreparedLibrary, footworks: Footworks, plan: Plan, link: Link
) -> tuple[int, Bend, Clip, Footwork] | None:
    """Return the first bent step, how it is bent with all after it, the level part of the link's clip, and its work."""
    clip = link.played.clip
    approach, work = prepared.part(("approach", clip.name), lambda: _approach(link.played))
    if work is None:
        return None
    frames = len(approach) - 1
    path = clip.planar_path()
    goal = planar.compose(link.entry, planar.relative(path[0], path[frames]))
    best: tuple[int, Bend] | None = None
    works, poses = [work], [plan.end_pose]
    for first in range(len(plan.steps), max(len(plan.steps) - _MOST, 0) - 1, -1):
        if first < len(plan.steps):
            step = plan.steps[first]
            source = _source(plan, step)
            own = None if source is None else footworks.of(step.behavior, source)
            if own is not None and source != step.clip:
                own = footwork(plan.own[step.clip].clip)
            if own is None or own.rolled is not None or own.fps != work.fps:
                break
            works.insert(0, own)
            poses.insert(0, step.pose)
        bend = _bend(laid(works, poses), goal)
        if bend is not None and (best is None or bend.strain < best[1].strain):
            best = first, bend
        if best is not None and best[1].strain <= _UNSEEN:
            break
    return (*best, approach, work) if best is not None and best[1].strain <= _HARDEST else None


def _source(plan: Plan, step: PlanStep) -> str | None:
    """Return the clip of the library that a step plays, bent or not; None if it must not be bent once more."""
    return plan.own[step.clip].source if step.clip in plan.own else step.clip


def _clip_of(prepared: PreparedLibrary, plan: Plan, step: PlanStep) -> Clip:
    return plan.own[step.clip].clip if step.clip in plan.own else prepared.library.clips[step.clip]


def _bend(work: Footwork, goal: FloatArray) -> Bend | None:
    """Return how to bend a motion that goes on after its end, so that it ends in a pose."""
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(work.path[:, :2], axis=0).T))])
    if length[-1] < 0.05:
        return None
    # the bend sets in and ends gently, so that speeds do not jump
    shares = ease(length / length[-1])
    out = np.empty_like(work.path)
    wanted = np.array([goal[0], goal[1], goal[2], 1.0])
    lack = _bending_kernels.bend_path(read_only(work.path), read_only(shares), read_only(wanted), _READY, _ROUNDS, out)
    return follow_path(work, out) if lack < 1e-6 else None


def _approach(fitted: FittedClip) -> tuple[Clip, Footwork | None]:
    """Return the beginning of a link's clip that may be bent, and its footwork: level steps, without hands."""
    frames = max(round(fitted.lift_s * fitted.clip.fps), 1)
    while True:
        approach = _part(fitted.clip, frames + 1)
        work = footwork(approach)
        if work is not None or frames == 1:
            return approach, work
        frames //= 2


def _part(clip: Clip, frames: int) -> Clip:
    """Return the first frames of a clip."""
    return replace(
        clip,
        root_positions=clip.root_positions[:frames],
        rotations=clip.rotations[:frames],
        contacts=None if clip.contacts is None else clip.contacts[:frames],
    )


def _whole(clip: Clip, approach: Footwork) -> Footwork:
    """Return the path of the clip of a link as footwork; what rests after its beginning does not count."""
    path = clip.planar_path()
    seen = planar.compose(planar.inverse(path[0]), path)
    seen[:, 2] = path[:, 2] - path[0, 2]
    more = len(path) - len(approach)
    ends = np.concatenate([approach.ends, np.repeat(approach.ends[-1:], more, axis=0)])
    down = np.concatenate([approach.down, np.zeros((more, approach.down.shape[1]), dtype=bool)])
    return replace(approach, path=seen, ends=ends, down=down)


def _goes_on(bent: Clip, clip: Clip, last: int) -> Clip:
    """Return a bent beginning with the rest of its clip, which follows where the beginning ends."""
    path, ends = clip.planar_path(), bent.planar_path()
    carry = planar.compose(ends[-1], planar.inverse(path[last]))
    roots, turns = np.array(clip.root_positions[last + 1 :]), np.array(clip.rotations[last + 1 :])
    roots[:, :2] = planar.transform_points(carry, roots[:, :2])
    turns[:, 0] = rotations.multiply(rotations.from_yaw(carry[2]), turns[:, 0])
    return replace(
        bent,
        root_positions=np.concatenate([bent.root_positions, roots]),
        rotations=np.concatenate([bent.rotations, turns]),
        contacts=clip.contacts,
    )


def _swept(
    prepared: PreparedLibrary, traffic: HeldTraffic, steps: Sequence[PlanStep], works: Sequence[Footwork],
    path: FloatArray, link: Link,
) -> list[Swept]:  # fmt: skip
    """Return what bent steps cover whose roots follow a path; that of the link counts on both of its floors."""
    out, frame = [], 0
    for step, work in zip(steps, works, strict=True):
        carried = CarriedSteps(prepared, traffic, [step], [work])
        out.append(carried.swept(path[frame : frame + len(work)]))
        frame += len(work) - 1
    out[-1] = on_both_floors(out[-1], link, steps[-1].time)
    return out


def on_both_floors(swept: Swept, link: Link, start: float) -> Swept:
    """Return what a link covers that begins at a time [s], on each of its floors where the body is beside people there.

    Who goes up to a bridge walks over the heads of those below it at the end, and is below those on it at first.
    """
    clip = link.played.clip
    heights = clip.root_positions[:, 2] - clip.root_positions[0, 2]
    # a window may begin a frame before its slot, and ends with it
    first = np.clip(np.floor((swept.slots[:, 0] * SLOT - start) * clip.fps).astype(np.int64) - _SPARE, 0, len(clip) - 1)
    last = np.clip(np.ceil((swept.slots[:, 1] * SLOT - start) * clip.fps).astype(np.int64) + _SPARE, 0, len(clip) - 1)
    low, high = (
        np.array([pick(heights[a : b + 1]) for a, b in zip(first.tolist(), last.tolist(), strict=True)])
        for pick in (np.min, np.max)
    )
    # all on it are seen on one of its floors, and those who could touch on the same one
    tall = max(_TALL, 0.5 * abs(float(heights[-1])) + _REACH)
    here = (low < tall) & (high > -tall)
    there = (low - heights[-1] < tall) & (high - heights[-1] > -tall)
    return Swept.joined([swept.of(here), _shifted(swept.of(there), link.across)])


def _shifted(swept: Swept, by: tuple[float, float]) -> Swept:
    move = np.array([*by, 0.0])
    return replace(swept, around=swept.around + move, discs=swept.discs + move)
