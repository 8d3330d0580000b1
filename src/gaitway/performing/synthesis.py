"""From plans to a take: every clip exactly where and when it was planned, and standing until the take ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

from gaitway._version import __version__
from gaitway.core import planar
from gaitway.core.errors import TakeError
from gaitway.library.actions import SAME_HEADING, SAME_PLACE, stays
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.performing.joins import mend_joins
from gaitway.performing.rhythm import with_own_rhythms
from gaitway.performing.standing import Repeat, Standing
from gaitway.performing.terrain.ground import follow_ground
from gaitway.performing.terrain.underfoot import GroundSpan
from gaitway.space.plan import Plan, Pose
from gaitway.take.model import Take
from gaitway.take.tracks import ClipEnds, Track, assemble, lay_track, planar_poses
from gaitway.world.world import World

AGREEMENT = 1e-6
"""Largest difference between planned poses and times and those of clips laid one after another [m, rad, s]."""
SWAY = 0.015
"""How far the root of a character may sway that has stopped exactly where it was to [m]."""
REST = 1.0
"""Default time by which a take goes on after the last arrival [s]."""


@dataclass(frozen=True, eq=False)
class Leg:
    """A later plan of a character, which begins where the one before ended, and how that one did."""

    plan: Plan
    clips: Mapping[str, Clip] = field(default_factory=dict)
    """Clips of its own that the plan plays, by name."""
    sway: float | None = None
    """Farthest that the character moves from where it stopped [m]; None for as far as its clips go."""


@dataclass(frozen=True, eq=False)
class Performer:
    """One character of a take, and its plan."""

    name: str
    library: Library
    start: Pose
    plan: Plan | None = None
    """None for a character that stays in place."""
    _: KW_ONLY
    start_time: float = 0.0
    """Time at which it appears [s]."""
    goal: tuple[float, float] | None = None
    """Goal that it was given [m]."""
    goal_heading: float | None = None
    """Wanted heading at the goal [rad]; None for any."""
    tolerance: float | None = None
    """Distance from the goal within which it counts as there [m]."""
    radius: float | None = None
    """Radius of the disc that was kept clear around its root [m]."""
    seed: int = 0
    """Seed of how it stands."""
    clips: Mapping[str, Clip] = field(default_factory=dict)
    """Clips of its own that its plan plays besides those of the library, by name, such as bent ones."""
    height: float | None = None
    """Height of the floor on which it starts, above the terrain [m]; None for the highest ground there."""
    ground: Sequence[GroundSpan] = ()
    """Ground that it walks on, in a place with slopes between floors; empty for the terrain."""
    sway: float | None = None
    """Farthest that it moves from where it stopped [m]; None for as far as its clips go."""
    later: Sequence[Leg] = ()
    """Plans after the first one; in between the character stands."""
    leaves: float | None = None
    """Time at which it is gone [s]; None: it stays until the take ends."""


def plans_to_take(
    world: World,
    performers: Sequence[Performer],
    *,
    fps: float = 30.0,
    facts: Mapping[str, Any] | None = None,
    hold_until: float | None = None,
    cut_at: float | None = None,
    rhythm: int | None = None,
    alive: Sequence[str] | None = None,
) -> Take:
    """Make a take of plans.

    Clips lie exactly where and when they were planned. A character stands before its first step and after its last one.
    All characters stay until the take ends. Layers join clips whose end poses differ, and put characters onto uneven
    ground; clips that were made to follow one another, on a level floor, play as they are.

    Args:
        world: the place.
        performers: the characters; their names must differ.
        fps: rate at which the take is meant to be viewed [Hz].
        facts: origin of the take, as plain JSON values, such as "seed" and "scene_hash"; "planner", "collision" and
            "versions" are filled in if they are missing.
        hold_until: time at which the take ends [s]; None for a second after the last arrival. It never ends before
            that.
        cut_at: time at which the take ends even if somebody is on the way [s]; None: it does not.
        rhythm: seed of small changes to the rhythm of steps; None plays every clip exactly when it was planned. With
            movers in the world it always is.
        alive: names of the characters whose rhythm changes; None for all.

    Raises:
        TakeError: if there are no performers, or a plan does not hold together.
    """
    if not performers:
        raise TakeError("a take needs at least one performer")
    arrived = max(_arrival(performer) for performer in performers)
    end = arrived + REST if hold_until is None else max(arrived, float(hold_until))
    end = end if cut_at is None else float(cut_at)
    known = _KnownClips()
    tracks = [
        _track(world, performer, end if performer.leaves is None else min(end, performer.leaves), known)
        for performer in performers
    ]
    told = {"planner": "behavior", "collision": "body", "versions": {"gaitway": __version__}, **(facts or {})}
    take = assemble(tracks, fps, told)
    if rhythm is not None and not world.movers and not world.lifts and not world.escalators:
        take = with_own_rhythms(take, seed=rhythm, who=alive)
    spans = {performer.name: performer.ground for performer in performers if performer.ground}
    return follow_ground(mend_joins(take), world, spans)


@dataclass(eq=False)
class _KnownClips:
    """Standing clips of libraries, shared by several characters."""

    ends: ClipEnds = field(default_factory=ClipEnds)
    standing: dict[tuple[int, str | None, float | None], Standing] = field(default_factory=dict)

    def stand(self, library: Library, state: str | None, sway: float | None = None) -> Standing:
        """Return the standing clips of a library in a state."""
        key = (id(library), state, sway)
        if key not in self.standing:
            found = Standing.of(library, state)
            self.standing[key] = found if sway is None else found.calmed(sway)
        return self.standing[key]


def _arrival(performer: Performer) -> float:
    """Return the time at which a performer has come to rest for good [s]."""
    plans = [leg.plan for leg in _legs(performer)]
    return max([plans[-1].end_time, performer.start_time]) if plans else performer.start_time


def _legs(performer: Performer) -> list[Leg]:
    """Return all plans of a performer, with their clips."""
    first = [] if performer.plan is None else [Leg(performer.plan, performer.clips, performer.sway)]
    return [*first, *performer.later]


def _track(world: World, performer: Performer, end: float, known: _KnownClips) -> Track:
    """Return one character's track: standing, its steps, and standing again until the end."""
    rng = np.random.default_rng([performer.seed, crc32(performer.name.encode())])
    graph, legs = performer.library.graph, _legs(performer)
    runs: list[Repeat] = []
    poses: list[Pose] = []
    here, state, sway = performer.start, None, performer.sway
    stands = performer.start_time
    for leg in legs:
        steps = leg.plan.steps
        if steps and steps[0].time > stands + AGREEMENT:
            if not runs:
                first = graph[steps[0].behavior].start if steps[0].behavior in graph else None
                wait = known.stand(performer.library, first).before(stands, steps[0].time, rng)
            else:
                wait = known.stand(performer.library, state, sway).between(stands, steps[0].time, rng)
            runs, poses = runs + wait, poses + [here] * len(wait)
        for step in steps:
            runs.append(Repeat(_clip(performer, leg, step.clip), step.behavior, step.time, 0.0, step.speed))
            poses.append(step.pose)
        _check_steps(performer, leg)
        if steps:
            state = graph[steps[-1].behavior].end if steps[-1].behavior in graph else state
        here, sway, stands = leg.plan.end_pose, leg.sway, max(stands, leg.plan.end_time)
    if stands < end - AGREEMENT or not runs:
        moved = any(leg.plan.steps for leg in legs)
        rest = known.stand(performer.library, state, sway).until(stands, max(end, stands), rng, afresh=not moved)
        runs, poses = runs + rest, poses + [here] * len(rest)
    kept = [k for k, run in enumerate(runs) if run.start < end - AGREEMENT] or [0]
    height = _ground_height(world, performer.start) if performer.height is None else performer.height
    return _laid(performer, [runs[k] for k in kept], [poses[k] for k in kept], end, height, known.ends)


def _laid(
    performer: Performer, runs: Sequence[Repeat], poses: Sequence[Pose], end: float, height: float, ends: ClipEnds
) -> Track:
    """Return a track of clips at given poses; a clip that ends at another height raises or lowers the next one."""
    clips = [run.clip for run in runs]
    goal = None
    if performer.goal is not None:
        extra = (performer.goal_heading, performer.tolerance)
        goal = (*performer.goal, *(np.nan if value is None else float(value) for value in extra))
    names = [run.behavior for run in runs]
    chained = lay_track(
        performer.name, clips, poses[0], behaviors=names, goal=goal, radius=performer.radius, height=height, ends=ends
    )
    first = planar_poses((clip, 0) for clip in clips)
    return Track(
        name=chained.name,
        clips=chained.clips,
        starts=np.array([run.start for run in runs]),
        offsets=np.array([run.offset for run in runs]),
        speeds=np.array([run.speed for run in runs]),
        poses=planar.compose(np.array(poses), planar.inverse(first)),
        heights=chained.heights,
        blends=np.zeros(len(runs)),
        behaviors=chained.behaviors,
        end=end,
        goal=chained.goal,
        radius=chained.radius,
    )


def _check_steps(performer: Performer, leg: Leg) -> None:
    """Check that each step of a plan begins where and when the one before it ends."""
    plan = leg.plan
    if not plan.steps:
        return
    poses, times = np.array([step.pose for step in plan.steps]), np.array([step.time for step in plan.steps])
    clips = [_clip(performer, leg, step.clip) for step in plan.steps]
    first, last = (planar_poses((clip, frame) for clip in clips) for frame in (0, -1))
    reached = planar.compose(poses, planar.relative(first, last))
    following = np.vstack([poses[1:], plan.end_pose])
    gap = following - reached
    gap[:, 2] = planar.wrap_angle(gap[:, 2])
    waits = [k for k in np.flatnonzero((np.abs(gap) > AGREEMENT).any(axis=1)).tolist() if stays(clips[k])]
    gap[waits] -= np.clip(gap[waits], [-SAME_PLACE, -SAME_PLACE, -SAME_HEADING], [SAME_PLACE, SAME_PLACE, SAME_HEADING])
    lasts = np.array([clip.duration / step.speed for clip, step in zip(clips, plan.steps, strict=True)])
    late = np.append(times[1:], plan.end_time) - times - lasts
    worst = np.maximum(np.abs(gap).max(axis=1), np.abs(late))
    if not worst.max() <= AGREEMENT:
        k = int(np.argmax(~(worst <= AGREEMENT)))
        raise TakeError(
            f"plan of '{performer.name}': step {k} '{plan.steps[k].clip}' ends {worst[k]:.3g} (m, rad or s) away from "
            "where and when the next one begins"
        )


def _clip(performer: Performer, leg: Leg, name: str) -> Clip:
    if name in leg.clips:
        return leg.clips[name]
    if name not in performer.library.clips:
        raise TakeError(
            f"plan of '{performer.name}' plays clip '{name}', which library '{performer.library.name}' lacks"
        )
    return performer.library.clips[name]


def _ground_height(world: World, start: Pose) -> float:
    """Return the height of what a performer stands on at the start, above the terrain [m]."""
    place = np.array(start[:2])
    return float(world.standing_height(place) - world.ground(place))
