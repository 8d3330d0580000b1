"""From a scene to a take: plans for all characters, and the motion that carries them out."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.behavior.crowd import CrowdPlan, plan_crowd
from gaitway.core.errors import PlanError
from gaitway.core.jit import compile_seconds
from gaitway.core.progress import Progress, silent
from gaitway.core.warming import expect
from gaitway.errands.arrivals import arrivals, strangers
from gaitway.errands.performing import (
    company_rows,
    door_rows,
    errand_performers,
    errand_rows,
    shown_until,
    thing_rows,
    with_arms_that_carry,
)
from gaitway.errands.planning import plan_errands
from gaitway.errands.running import LONGEST
from gaitway.levels.level_scene import LevelScene
from gaitway.library.behavior import Library
from gaitway.library.short_walks import with_short_walks
from gaitway.performing.synthesis import SWAY, Performer, plans_to_take
from gaitway.performing.terrain.underfoot import GroundSpan
from gaitway.performing.upper_body import with_upper_bodies
from gaitway.planners import planner_entry
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import with_planner
from gaitway.scene.scene import Scene, load_scene
from gaitway.space.plan import NOT_PASSED, Plan, Pose, SearchResult
from gaitway.space.planner import Planner, ScenePlanner
from gaitway.space.prepared import planning_context
from gaitway.space.reachability import unreachable
from gaitway.take.model import Take
from gaitway.take.tracks import assemble, tracks_of
from gaitway.world.areas import Area
from gaitway.world.levels.floors import has_levels
from gaitway.world.world import realised

KEEP, OUT = "keep", "out"
"""What becomes of characters that do not arrive."""
_FEW_STEPS = 2.0
"""Greatest distance between start and goal that asks for short walks [m]."""
_AGAIN = 4
"""How often a crowd is planned again because of characters that were left out."""
_SLOWEST, _STRETCH = 0.3, 1.4
"""Least speed of a gait [m/s], and the factor up to which a gait is near enough to a wished speed."""
EXACTLY = 0.02
"""Distance from the goal of a character that stops there exactly [m]."""


@dataclass(frozen=True, eq=False)
class Planned:
    """A take, with its plans and the times that they took."""

    take: Take
    scene: Scene
    crowd: CrowdPlan
    """Plans and how the search for each of them went."""
    synthesis_seconds: float
    """Time from plans to motion [s]."""
    compile_seconds: float
    """Part of the time that was spent on compiling [s]; it happens once on a machine."""
    remarks: tuple[str, ...] = ()
    """What could not be done for lack of something, one line each."""
    company: Mapping[str, float] = field(default_factory=dict)
    """Share of the way of everybody who has companions that is within 2 m of them [%], by name."""

    @property
    def failed(self) -> Mapping[str, SearchResult]:
        """Results of the characters that do not arrive, by name; they say why."""
        return {name: self.crowd.results[name] for name in self.crowd.failed}

    @property
    def found_by(self) -> dict[str, int]:
        """How many plans each method found, by name, such as "A*" and "tree"."""
        found = [result.found_by for result in self.crowd.results.values() if result.plan is not None]
        return dict(Counter(method for method in found if method))

    @property
    def motion_seconds(self) -> float:
        """Planned motion of all characters, one after another [s]; standing about after arrival does not count."""
        starts = {character.name: character.start_time for character in self.scene.characters}
        begins = {n: plan.steps[0].time if plan.steps else starts[n] for n, plan in self.crowd.plans.items()}
        return sum(max(plan.end_time - begins[name], 0.0) for name, plan in self.crowd.plans.items())

    @property
    def seconds(self) -> float:
        """Time that planning and synthesis took, libraries included and compiling left out [s]."""
        return self.crowd.seconds + self.synthesis_seconds - self.compile_seconds

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each character, with the result of its plan."""
        return [self._row(character) for character in self.scene.characters]

    def _row(self, character: Character) -> dict[str, Any]:
        result, plan = self.crowd.results[character.name], self.crowd.plans.get(character.name)
        return {
            "character": character.name,
            "status": str(result.status),
            "steps": len(plan.steps) if plan is not None else 0,
            "from_s": round(character.start_time, 3),
            "arrives_s": round(plan.end_time, 3) if plan is not None else None,
            "cost": round(plan.cost, 3) if plan is not None else None,
            "by": result.found_by,
            "expanded": result.expanded,
            "search_ms": round(1e3 * result.seconds, 3),
            "goal_m": round(result.remaining, 3),
            "reason": result.reason,
        }


def plan(
    scene: Scene | str | Path,
    *,
    seed: int | None = None,
    libraries: Mapping[LibraryRef, Library] | None = None,
    fps: float = 30.0,
    planner: str | None = None,
    failed: str = KEEP,
    upper_body: bool | None = None,
    progress: Progress | None = None,
) -> Take:
    """Turn a scene into motion; as `plan_scene`, when only the take is wanted.

    Who does not arrive is in `take.facts["failed"]`, by name, with the reason.
    """
    options: dict[str, Any] = {"seed": seed, "libraries": libraries, "fps": fps, "planner": planner, "failed": failed}
    return plan_scene(scene, **options, upper_body=upper_body, progress=progress).take


def plan_scene(
    scene: Scene | str | Path,
    *,
    seed: int | None = None,
    libraries: Mapping[LibraryRef, Library] | None = None,
    fps: float = 30.0,
    planner: str | None = None,
    failed: str = KEEP,
    upper_body: bool | None = None,
    progress: Progress | None = None,
) -> Planned:
    """Plan all characters of a scene and make their motion.

    Args:
        scene: a scene, its file, or the name of a ready scene.
        seed: seed of the order in which characters are planned and of the choice among clips; None takes the scene's.
        libraries: libraries that are already loaded.
        fps: rate at which the take is meant to be looked at [Hz].
        planner: name of the planner of all characters, one of `gaitway.planners.planner_names()`; None takes those
            that the scene names.
        failed: what becomes of characters that do not arrive. "keep": they stay in the take, as near to their goals as
            they can, and out of the way of movers if they can. "out": they are left out, and the others are planned
            again without them.
        upper_body: whether characters look about, stand in ways of their own and differ from step to step; None takes
            what the scene says for each (`plan: {upper_body: false}`).
        progress: called with what is being done, how much of it is done and how much there is.

    Raises:
        PlanError: if the scene has no characters, none of them can stand where it is to start, or nobody is left.
        SceneError: if the scene does not hold together.
    """
    expect(["plan", planner or ""], unless_known=True)
    scene = scene if isinstance(scene, Scene) else load_scene(scene)
    if planner is not None:
        scene = _planned_by(scene, planner)
    progress = progress or silent
    if not scene.characters and not scene.sources:
        raise PlanError(f"{_name(scene)}: there is nobody to plan; add a group or characters")
    compiled = compile_seconds()
    if failed not in (KEEP, OUT):
        raise PlanError(f"failed '{failed}'; write {KEEP} or {OUT}")
    together = _scene_planner(scene)
    if scene.busy:
        return _busy(scene, None if together is None else together[0], libraries, seed, fps, upper_body, progress)
    if together is not None:
        name, at_once = together
        if has_levels(scene.world):
            raise PlanError(
                f"{_name(scene)}: planner '{name}' knows one floor, and the scene has several; write behavior or tree"
            )
        if any(character.plan.planner != name for character in scene.characters):
            return _mixed(name, at_once, scene, libraries, seed, fps, failed, upper_body, progress)
        return _performed(at_once, scene, libraries, seed, fps, failed, upper_body, progress)
    libraries = _for_short_ways(scene, libraries)
    levels = LevelScene.of(scene, libraries) if has_levels(scene.world) else None
    flat = scene if levels is None else levels.flat
    planners, libraries = (None, libraries) if levels is None else (levels.planners, levels.libraries)
    mirrors = () if levels is None else levels.floors.mirrors
    crowd = plan_crowd(
        flat, libraries, seed=seed, progress=progress, planners=planners, aside=failed == KEEP, mirrors=mirrors
    )
    crowd = replace(crowd, results={**crowd.results, **_explained(flat, crowd, libraries)})
    if failed == OUT and crowd.failed:
        crowd = _without_failed(flat, crowd, libraries, seed, progress, planners, mirrors)
    began = time.perf_counter()
    seed = scene.seed if seed is None else seed
    heights: dict[str, float] = {}
    grounds: dict[str, tuple[GroundSpan, ...]] = {}
    if levels is not None:
        there = [c for c in scene.characters if c.name in crowd.plans]
        grounds = {c.name: levels.ground(c, crowd.plans[c.name]) for c in there}
        heights = {name: levels.height(_first_pose(plan)) for name, plan in crowd.plans.items()}
        crowd = replace(crowd, plans={name: levels.in_place(plan) for name, plan in crowd.plans.items()})
    performers = [
        _performer(c, crowd, seed, heights.get(c.name), grounds.get(c.name, ()))
        for c in scene.characters
        if c.name in crowd.plans
    ]
    if not performers:
        name, result = next(iter(crowd.results.items()))
        what = "nobody can stand at its start" if failed == KEEP else "nobody arrives, so that nobody is left"
        raise PlanError(f"{_name(scene)}: {what}; '{name}': {result.reason}")
    progress("motion", 0, None)
    facts, alive = _facts(scene, crowd, seed, failed), _alive(scene, crowd, upper_body)
    take = plans_to_take(scene.world, performers, fps=fps, facts=facts, rhythm=seed, alive=alive)
    remarks = (*_closed_specials(flat, crowd, libraries), *_wished_speeds(scene, crowd))
    remarks += unheeded_areas(scene.world.areas, [c.plan.planner for c in scene.characters])
    remarks += () if levels is None else levels.troubles
    if alive:
        take, lacking = with_upper_bodies(take, scene.world, seed=seed, who=alive)
        remarks += lacking
    take, left = _corrected(take, scene, seed, progress)
    remarks += left
    return Planned(take, scene, crowd, time.perf_counter() - began, compile_seconds() - compiled, remarks)


def _busy(
    scene: Scene,
    at_once: str | None,
    libraries: Mapping[LibraryRef, Library] | None,
    seed: int | None,
    fps: float,
    upper_body: bool | None,
    progress: Progress,
) -> Planned:
    """Return the take of a scene in which people do errands, see `plan_scene`."""
    if at_once is not None:
        raise PlanError(
            f"{_name(scene)}: planner '{at_once}' moves everybody at once to one goal each, and this scene has "
            "errands; write behavior, tree or deform"
        )
    compiled, began = compile_seconds(), time.perf_counter()
    drawn = scene.seed if seed is None else seed
    coming = arrivals(scene.sources, drawn, LONGEST if scene.end is None else scene.end)
    people, known = (*scene.characters, *strangers(coming)), dict(libraries or {})
    refs = dict.fromkeys(character.library for character in people)
    libraries = {ref: with_short_walks(known[ref] if ref in known else ref.load()) for ref in refs}
    levels = LevelScene.of(scene, libraries, people) if has_levels(scene.world) else None
    if levels is None:
        found = plan_errands(scene, libraries, seed=drawn, progress=progress)
    else:
        found = plan_errands(
            levels.flat, levels.libraries, seed=drawn, planners=levels.planners, shift=levels.offset,
            mirrors=levels.floors.mirrors, links=levels.links, floors=levels.floors, progress=progress,
        )  # fmt: skip
    searched = time.perf_counter()
    names = tuple(found.results)
    crowd = CrowdPlan(
        names=names,
        plans={busy.name: plan for busy in found.people if (plan := found.results[busy.name].plan) is not None},
        results=found.results,
        order=names,
        bent={},
        exact=frozenset(),
        libraries=found.libraries,
        rounds=1,
        seconds=searched - began,
        search_seconds=sum(result.seconds for result in found.searched),
        expanded=sum(result.expanded for result in found.searched),
    )
    if not found.people:
        name, result = next(iter(found.results.items()))
        raise PlanError(f"{_name(scene)}: nobody can stand at its start; '{name}': {result.reason}")
    scene = replace(scene, characters=tuple(busy.character for busy in found.people), sources=())
    progress("motion", 0, None)
    facts = {
        **_facts(scene, crowd, drawn, KEEP),
        "errands": errand_rows(found),
        **thing_rows(found),
        **door_rows(found),
    }
    scene = replace(scene, world=realised(scene.world, facts))
    if companies := company_rows(found):
        facts["companies"] = companies
    alive = _alive(scene, crowd, upper_body)
    take = plans_to_take(
        scene.world, errand_performers(found, drawn, levels), fps=fps, facts=facts, rhythm=drawn, alive=alive,
        hold_until=shown_until(found), cut_at=scene.end,
    )  # fmt: skip
    remarks = () if levels is None else levels.troubles
    remarks += unheeded_areas(scene.world.areas, [one.plan.planner for one in people], errands=True)
    if alive:
        take, lacking = with_upper_bodies(take, scene.world, seed=drawn, who=alive)
        remarks += lacking
    take = with_arms_that_carry(take, found)
    take, left = _corrected(take, scene, drawn, progress)
    remarks += left
    seconds = time.perf_counter() - searched
    return Planned(take, scene, crowd, seconds, compile_seconds() - compiled, remarks, _company(take, companies))


def _crowded(scene: Scene) -> list[str]:
    """Return the names of those who are moved as a throng."""
    return [character.name for character in scene.characters if character.plan.planner == "crowd"]


def _company(take: Take, companies: Sequence[Sequence[str]]) -> Mapping[str, float]:
    """Return the share of the way of everybody who has companions that is within 2 m of them [%], by name."""
    if not companies:
        return {}
    from gaitway.audit.natural.company import in_company  # noqa: PLC0415  (few scenes need the audit)

    return {name: share for name, (share, *_) in in_company(take, companies).items()}


def _corrected(take: Take, scene: Scene, seed: int, progress: Progress) -> tuple[Take, tuple[str, ...]]:
    """Return a take in which arms give way, and what is left in one line.

    They are those of people whose plans ask for that, and of people who carry things that would be inside something.
    """
    who = {character.name for character in scene.characters if character.plan.correct} & set(take.names)
    if not who and not scene.things:
        return take, ()
    from gaitway.correcting import clumsy, correct  # noqa: PLC0415  (which loads the audit and the planner of limbs)

    who |= clumsy(take, scene.world)
    if not who:
        return take, ()
    result = correct(take, scene.world, seed=seed, who=who, progress=progress)
    if result.ok:
        return result.take, ()
    count = len(result.left)
    what = "one collision is left" if count == 1 else f"{count} collisions are left"
    return result.take, (f"{what} that no limb mends; {result.left[0].words()}",)


def _scene_planner(scene: Scene) -> tuple[str, ScenePlanner] | None:
    """Return the name and the planner that moves characters all at once; None if they are planned one by one.

    Raises:
        PlanError: if there are several of these.
    """
    names: dict[str, str] = {}
    for character in scene.characters:
        names.setdefault(character.plan.planner, character.name)
    made = {name: planner_entry(name).make() for name in names}
    together = {name: planner for name, planner in made.items() if isinstance(planner, ScenePlanner)}
    if len(together) > 1:
        one, other = list(together)[:2]
        raise PlanError(
            f"{_name(scene)}: '{names[one]}' is planned by '{one}' and '{names[other]}' by '{other}', which both move "
            f"everybody at once; write one of them for both"
        )
    return next(iter(together.items()), None)


def _mixed(
    name: str,
    planner: ScenePlanner,
    scene: Scene,
    libraries: Mapping[LibraryRef, Library] | None,
    seed: int | None,
    fps: float,
    failed: str,
    upper_body: bool | None,
    progress: Progress,
) -> Planned:
    """Return the take of a scene of which one planner moves some characters at once, see `plan_scene`.

    The others are planned first, as if they were alone. Those who decide at every moment then walk around them.
    """
    compiled = compile_seconds()
    own = tuple(character for character in scene.characters if character.plan.planner == name)
    others = tuple(character for character in scene.characters if character.plan.planner != name)
    alone = plan_scene(
        replace(scene, characters=others), seed=seed, libraries=libraries, fps=fps, failed=failed, upper_body=False,
        progress=progress,
    )  # fmt: skip
    throng = replace(scene, characters=own)
    among = _performed(planner, throng, libraries, seed, fps, failed, False, progress, among=alone.take)
    names = tuple(character.name for character in scene.characters)
    first, second = alone.crowd, among.crowd
    crowd = CrowdPlan(
        names=names,
        plans={**first.plans, **second.plans},
        results={n: first.results[n] if n in first.results else second.results[n] for n in names},
        order=(*first.order, *second.order),
        bent=first.bent,
        exact=first.exact,
        libraries={**first.libraries, **second.libraries},
        rounds=first.rounds,
        seconds=first.seconds + second.seconds,
        search_seconds=first.search_seconds + second.search_seconds,
        expanded=first.expanded,
    )
    tracks = {track.name: track for track in (*tracks_of(alone.take), *tracks_of(among.take))}
    end = max(track.end for track in tracks.values())  # who has arrived stands there until all have
    drawn = scene.seed if seed is None else seed
    facts = {**among.take.facts, **_facts(scene, crowd, drawn, failed)}
    take = assemble([replace(tracks[n], end=end) for n in names if n in tracks], fps, facts)
    synthesis, remarks = alone.synthesis_seconds + among.synthesis_seconds, (*alone.remarks, *among.remarks)
    alive = _alive(scene, crowd, upper_body)
    if alive:
        began = time.perf_counter()
        take, lacking = with_upper_bodies(take, scene.world, seed=drawn, who=alive, crowded=_crowded(scene))
        synthesis, remarks = synthesis + time.perf_counter() - began, (*remarks, *lacking)
    return Planned(take, scene, crowd, synthesis, compile_seconds() - compiled, remarks)


def _performed(
    planner: ScenePlanner,
    scene: Scene,
    libraries: Mapping[LibraryRef, Library] | None,
    seed: int | None,
    fps: float,
    failed: str,
    upper_body: bool | None,
    progress: Progress,
    among: Take | None = None,
) -> Planned:
    """Return the take of a scene whose characters move all at once, among others if these are given."""
    compiled, began = compile_seconds(), time.perf_counter()
    drawn = scene.seed if seed is None else seed
    others: dict[str, Any] = {} if among is None else {"among": among}
    done = planner.perform(scene, libraries, seed=drawn, fps=fps, progress=progress, **others)
    results = dict(done.results)
    for _ in range(_AGAIN if failed == OUT else 0):
        left = tuple(c for c in scene.characters if results[c.name].found)
        if not left or len(left) == len(done.results):
            break
        some = replace(scene, characters=left)
        done = planner.perform(some, libraries, seed=drawn, fps=fps, progress=progress, **others)
        results.update(done.results)
    if failed == OUT and not any(result.found for result in results.values()):
        name, result = next(iter(results.items()))
        raise PlanError(f"{_name(scene)}: nobody arrives, so that nobody is left; '{name}': {result.reason}")
    names = tuple(character.name for character in scene.characters)
    crowd = CrowdPlan(
        names=names,
        plans={name: r.plan for name, r in results.items() if r.plan is not None and name in done.results},
        results={name: results[name] for name in names},
        order=names,
        bent={},
        exact=frozenset(),
        libraries=done.libraries,
        rounds=1,
        seconds=time.perf_counter() - began - done.motion_seconds,
        search_seconds=done.search_seconds,
        expanded=0,
    )
    facts = {**done.take.facts, **_facts(scene, crowd, drawn, failed)}
    take = replace(done.take, facts=facts)
    synthesis, remarks = done.motion_seconds, done.remarks
    remarks += unheeded_areas(scene.world.areas, [c.plan.planner for c in scene.characters])
    alive = _alive(scene, crowd, upper_body)
    if alive:
        began = time.perf_counter()
        take, lacking = with_upper_bodies(take, scene.world, seed=drawn, who=alive, crowded=_crowded(scene))
        synthesis, remarks = synthesis + time.perf_counter() - began, (*remarks, *lacking)
    return Planned(take, scene, crowd, synthesis, compile_seconds() - compiled, remarks)


def _for_short_ways(
    scene: Scene, libraries: Mapping[LibraryRef, Library] | None
) -> Mapping[LibraryRef, Library] | None:
    """Return libraries with short walks for who has only a few steps to go: a start and a stop together go too far.

    Search trees are grown for a library as it is, so that others than the behaviour planner do without.
    """
    near = [one for one in scene.characters if math.dist(one.start[:2], one.goal[:2]) < _FEW_STEPS]
    refs = dict.fromkeys(one.library for one in near)
    others = {one.library for one in scene.characters if one.plan.planner != "behavior"}
    known = dict(libraries or {})
    made = {ref: with_short_walks(known[ref] if ref in known else ref.load()) for ref in refs if ref not in others}
    return {**known, **made} if made else libraries


def _facts(scene: Scene, crowd: CrowdPlan, seed: int, failed: str) -> dict[str, Any]:
    """Return what a take says about where it comes from."""
    facts: dict[str, Any] = {
        "scene_hash": scene.hash,
        "world_hash": scene.world_hash,
        "scene": _name(scene),
        "seed": seed,
        "planner": scene.plan.planner,
        "failed": {name: crowd.results[name].reason for name in crowd.failed},
    }
    if failed == OUT:
        facts["left_out"] = [name for name in crowd.failed if name not in crowd.plans]
    return facts


def _alive(scene: Scene, crowd: CrowdPlan, upper_body: bool | None) -> list[str]:
    """Return the names of characters that look about and stand in ways of their own."""
    there = [character for character in scene.characters if character.name in crowd.plans]
    return [c.name for c in there if (c.plan.upper_body if upper_body is None else upper_body)]


def _explained(
    scene: Scene, crowd: CrowdPlan, libraries: Mapping[LibraryRef, Library] | None
) -> dict[str, SearchResult]:
    """Return the results of characters for which a gap is too narrow, with reasons that say so."""
    failed = [character for character in scene.characters if character.name in crowd.failed]
    lost = unreachable(failed, planning_context(scene.world, libraries)) if failed else []
    reasons = {one.character.name: one.reason() for one in lost if one.gaps}
    old = {name: crowd.results[name] for name in reasons}
    return {name: replace(result, reason=f"{result.reason}; {reasons[name]}") for name, result in old.items()}


def _closed_specials(scene: Scene, crowd: CrowdPlan, libraries: Mapping[LibraryRef, Library] | None) -> tuple[str, ...]:
    """Return one line for each special obstacle that nobody passes who could not get to its goal because of it."""
    out: dict[str, None] = {}
    for character in (c for c in scene.characters if c.name in crowd.failed):
        if any(who.startswith(NOT_PASSED) for who in crowd.results[character.name].blockers):
            fields = planning_context(scene.world, libraries).prepared(character).fields
            out |= {f"{fields.name(k)}: {why}": None for k, why in fields.troubles.items()}
    return tuple(out)


def unheeded_areas(areas: Sequence[Area], planners: Sequence[str], errands: bool = False) -> tuple[str, ...]:
    """Return one line for each planner that does not heed the areas of a place, or not everywhere.

    Args:
        areas: the areas.
        planners: names of the planners of all characters.
        errands: whether people do errands.
    """
    lines = []
    for name in dict.fromkeys(planners) if areas else ():
        match planner_entry(name).areas:
            case "nowhere":
                lines.append(f"areas: planner '{name}' does not know them, and nobody heeds them; write behavior")
            case "routes":
                lines.append(
                    f"areas: planner '{name}' heeds cost, one_way and keep on its way from sub-goal to sub-goal, not "
                    "step by step, and no limits; write behavior where that matters"
                )
    if any(area.priority for area in areas) and (errands or set(planners) - {"behavior"}):
        why = "of people who do errands, who set out first goes first" if errands else "write behavior"
        lines.append(f"areas: priority counts among goals of planner 'behavior' alone; {why}")
    return tuple(lines)


def _wished_speeds(scene: Scene, crowd: CrowdPlan) -> tuple[str, ...]:
    """Return one line for each wish of a speed that a library cannot fulfil; it is fulfilled as far as it goes."""
    wishes: dict[tuple[float, str], list[str]] = {}
    speeds: dict[str, tuple[float, float]] = {}
    for character in scene.characters:
        library = crowd.libraries.get(character.name)
        if library is None or isinstance(character.speed, str):
            continue
        if library.name not in speeds:
            speeds[library.name] = _gait_speeds(library)
        slowest, fastest = speeds[library.name]
        if fastest > 0.0 and not slowest / _STRETCH <= character.speed <= fastest * _STRETCH:
            wishes.setdefault((float(character.speed), library.name), []).append(character.name)
    return tuple(
        f"{_several(names)}: speed {speed:g} m/s, but gaits of library '{library}' go {speeds[library][0]:.1f} to "
        f"{speeds[library][1]:.1f} m/s; the nearest is taken"
        for (speed, library), names in wishes.items()
    )


def _gait_speeds(library: Library) -> tuple[float, float]:
    """Return the speeds of the slowest and of the fastest gait of a library [m/s]; zeros if it has none."""
    gaits = [b for b in library.graph.behaviors if b.start == b.end and b.obstacle is None]
    clips = [library.clips[name] for behavior in gaits for name in behavior.clips]
    ways = [float(np.hypot(*(c.root_positions[-1, :2] - c.root_positions[0, :2]))) / max(c.duration, 1e-9)
            for c in clips]  # fmt: skip
    moving = [speed for speed in ways if speed > _SLOWEST]
    return (min(moving), max(moving)) if moving else (0.0, 0.0)


def _several(names: list[str]) -> str:
    return f"'{names[0]}'" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _without_failed(
    scene: Scene,
    crowd: CrowdPlan,
    libraries: Mapping[LibraryRef, Library] | None,
    seed: int | None,
    progress: Progress,
    planners: Mapping[str, Planner] | None = None,
    mirrors: npt.ArrayLike = (),
) -> CrowdPlan:
    """Return the plans of those that arrive, made anew without the others; the results of all stay."""
    results = dict(crowd.results)
    for _ in range(_AGAIN):
        left = tuple(c for c in scene.characters if results[c.name].found)
        if not left:
            break
        some = replace(scene, characters=left)
        again = plan_crowd(
            some, libraries, seed=seed, progress=progress, planners=planners, aside=False, mirrors=mirrors
        )
        results.update(again.results)
        crowd = replace(
            again,
            names=crowd.names,
            libraries={**crowd.libraries, **again.libraries},
            seconds=crowd.seconds + again.seconds,
            search_seconds=crowd.search_seconds + again.search_seconds,
            expanded=crowd.expanded + again.expanded,
        )
        if not again.failed:
            break
    arrived = {name: plan for name, plan in crowd.plans.items() if results[name].found}
    return replace(crowd, results={name: results[name] for name in crowd.names}, plans=arrived)


def _planned_by(scene: Scene, planner: str) -> Scene:
    characters = tuple(replace(c, plan=with_planner(c.plan, planner)) for c in scene.characters)
    return replace(scene, characters=characters, plan=with_planner(scene.plan, planner))


def _name(scene: Scene) -> str:
    return scene.path.name if scene.path is not None else scene.title or "scene"


def _first_pose(plan: Plan) -> Pose:
    return plan.steps[0].pose if plan.steps else plan.end_pose


def _performer(
    character: Character, crowd: CrowdPlan, seed: int, height: float | None = None, ground: tuple[GroundSpan, ...] = ()
) -> Performer:
    exact, plan = character.name in crowd.exact, crowd.plans[character.name]
    return Performer(
        character.name,
        crowd.libraries[character.name],
        _first_pose(plan),
        plan,
        start_time=character.start_time,
        goal=character.goal,
        goal_heading=character.goal_heading,
        tolerance=EXACTLY if exact else character.plan.tolerance,
        radius=character.radius,
        seed=seed,
        clips=crowd.bent.get(character.name, {}),
        height=height,
        ground=ground,
        sway=0.0 if character.name in crowd.hemmed else SWAY if exact else None,
    )
