"""Motion correction (Shapiro, Kallmann and Faloutsos 2007): the umbrella between posts, and arms that hit things.

The paper reports about one second for motions of average complexity, and two in a scene of 30,000 triangles, to plan
and smooth one motion on a PC of its time. It gives no other numbers, and shows results in pictures.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gaitway.audit import audit_take
from gaitway.audit._solid_kernels import capsule_depth
from gaitway.audit.solids import gather, stack_of
from gaitway.audit.sources import turn_steps
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import GaitwayError, LimbError
from gaitway.core.progress import Progress
from gaitway.correcting import correct
from gaitway.limbs.planner import LimbPlan
from gaitway.limbs.surroundings import Carried
from gaitway.limbs.umbrella import UmbrellaProblem, umbrella_problem
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import resample
from gaitway.motion.formats import load_clip
from gaitway.papers.tables import Claim, PaperOptions, PaperTable, kept
from gaitway.take import assemble, lay_track, take_of
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Cylinder
from gaitway.world.world import World

TITLE = "Shapiro 2007: motion correction"
PAPER_MS = 1000.0
"""Time of a plan in the paper's simpler scenes [ms]."""
NOTES = (
    "paper: planned and smoothed in about 1 s, and in 2 s in a scene of 30,000 triangles; here posts, processor time",
    "gap: least distance of arm and umbrella to posts by the audit's exact distances, at frames and half way between; "
    "end: change of an arm joint's angular velocity where the arm leaves its motion or comes back, at most, as a "
    "share of the greatest in the motion before, or of 0.5 rad/s, which nobody sees",
)
_WALKS = ("bvh/07_03.bvh", "bvh/07_01.bvh", "bvh/08_01.bvh", "bvh_accad/*Walk*.bvh")
"""Captured walks that are used if they are there."""
_FPS = 30.0
_UNSEEN = 0.5
"""Change of a joint's angular velocity from frame to frame that is too small to be seen [rad/s]."""


class _Umbrella(NamedTuple):
    """Plans for one walk."""

    name: str
    runs: int
    solved: int
    times: list[float]
    """Processor times of all runs [ms]."""
    gap: float
    """Least gap of all plans [m]."""
    ends: float
    held: int


class _Arms(NamedTuple):
    """Corrections of one walk."""

    name: str
    arms: int
    left: int
    milliseconds: float
    violations: int
    """Violations of the audit that the walk itself did not have."""


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Plan umbrellas and correct arms on walks of the cast, and of captures if a folder is given."""
    walks, umbrellas, arms, skipped = list(_walks(options)), list[_Umbrella](), list[_Arms](), list[str]()
    runs = 5 if options.quick else 50
    for number, walk in enumerate(walks):
        progress(f"umbrella, {walk.name}", number, len(walks))
        try:
            umbrellas.append(_umbrella(umbrella_problem(walk), runs, options.seed))
        except LimbError as problem:
            skipped.append(f"umbrella: {problem}")
        progress(f"arms, {walk.name}", number, len(walks))
        arms.append(_arms(walk, options.seed))
    claims = _claims(umbrellas, arms, judged=not options.quick)
    first, second = [_umbrella_row(one) for one in umbrellas], [_arms_row(one) for one in arms]
    return PaperTable(
        TITLE,
        (*first, *second),
        (*NOTES, *skipped, *(claim.note for claim in claims)),
        kept(claims) and bool(umbrellas),
        (("figures 1 and 4 (a, b): an umbrella between two posts", len(first)),
         ("figure 4 (c, d) and section 7: both arms, one after the other", len(second))),
        tuple(_data(umbrellas, arms)),
    )  # fmt: skip


def _walks(options: PaperOptions) -> Iterator[Clip]:
    """Yield walks of three seconds or more."""
    walk = load_cast(options.library).clips.get("walk_forward")
    if walk is None:
        raise GaitwayError(f"library '{options.library}' has no clip 'walk_forward'; use --library person")
    yield assemble([lay_track(options.library, [walk] * 6, (0.0, 0.0, 0.0))], _FPS).clip(0)
    if options.mocap is not None:
        for pattern in _WALKS[: 1 if options.quick else None]:
            for file in sorted(Path(options.mocap).glob(pattern))[:1]:
                clip = resample(load_clip(file), _FPS)
                if clip.duration >= 3.0:
                    yield detect_contacts(clip)


def _umbrella(problem: UmbrellaProblem, runs: int, seed: int) -> _Umbrella:
    problem.plan(seed)  # compiles
    times, plans = list[float](), list[LimbPlan]()
    for number in range(runs):
        began = time.process_time()
        plan = problem.plan(seed + number)
        times.append(1e3 * (time.process_time() - began))
        if plan is not None:
            plans.append(plan)
    kept_plans = plans[: max(runs // 5, 3)]
    gaps = [_exact_gap(problem, plan) for plan in kept_plans]
    ends = [_end_jump(problem, plan) for plan in kept_plans]
    held = sum(plan.held for plan in plans)
    return _Umbrella(
        problem.clip.name, runs, len(plans), times, min(gaps, default=-1.0), max(ends, default=np.inf), held
    )  # fmt: skip


def _exact_gap(problem: UmbrellaProblem, plan: LimbPlan) -> float:
    """Return the least distance of the umbrella to the posts by the audit's own kernels [m]."""
    clip = resample(problem.window.applied(plan), 2.0 * _FPS)
    positions, world = clip.joint_transforms()
    wrist, thing = int(problem.limb.joints[2]), problem.carried
    solids = gather([solid for obstacle in problem.world.obstacles for solid in obstacle.shape.solids()])
    stack, spans, deepest = stack_of(solids), np.empty((64, 4)), -1.0
    axes = _axes(thing, positions[:, wrist], world[:, wrist])
    for f in range(len(clip)):
        for k in range(len(thing.radii)):
            for s in range(len(solids.kinds)):
                depth, _ = capsule_depth(solids, s, axes[f, k], float(thing.radii[k]), -1.0, 0.0, stack, spans)
                deepest = max(deepest, float(depth))
    return -deepest


def _axes(thing: Carried, at: np.ndarray[Any, Any], turn: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    ends = [at[:, None] + rotations.rotate(turn[:, None], end) for end in (thing.starts, thing.ends)]
    return np.ascontiguousarray(np.stack(ends, axis=2))


def _end_jump(problem: UmbrellaProblem, plan: LimbPlan) -> float:
    """Return the change of angular velocity near both ends of a plan, as a share of the motion's own greatest."""
    before, after = (turn_steps(clip)[:, problem.limb.joints] for clip in (problem.clip, problem.window.applied(plan)))
    usual = np.maximum(before.max(axis=0), _UNSEEN)
    worst = 0.0
    for at in plan.span:
        frame = round(at * problem.clip.fps)
        rows = slice(max(frame - 4, 0), frame + 3)
        worst = max(worst, float((after[rows] / usual).max()))
    return worst


def _arms(walk: Clip, seed: int) -> _Arms:
    """Put a post beside each hand, and correct both arms."""
    posts = []
    for side, share in (("left", 0.4), ("right", 0.6)):
        frame = int(share * len(walk))
        x, y, _ = walk.joint_positions()[frame, walk.skeleton.roles[f"{side}_wrist"]].tolist()
        heading = float(walk.headings()[frame]) + (0.5 if side == "left" else -0.5) * np.pi
        place = (float(x + 0.13 * np.cos(heading)), float(y + 0.13 * np.sin(heading)))
        posts.append(Obstacle(Cylinder(place, 0.1, 1.2), name=f"{side} post"))
    take, world = take_of([walk]), World((-50.0, -50.0, 50.0, 50.0), tuple(posts))
    correct(take, world, seed=seed)  # compiles
    began = time.process_time()
    result = correct(take, world, seed=seed)
    spent = 1e3 * (time.process_time() - began)
    before, after = (len(audit_take(one, World(world.bounds) if one is take else world).violations)
                     for one in (take, result.take))  # fmt: skip
    return _Arms(walk.name, len(result.corrections), len(result.left), spent, max(after - before, 0))


def _claims(umbrellas: list[_Umbrella], arms: list[_Arms], *, judged: bool) -> list[Claim]:
    every = all(one.solved == one.runs for one in umbrellas)
    late = max((float(np.quantile(one.times, 0.95)) for one in umbrellas), default=np.inf)
    return [
        Claim("a plan is found in every run with the umbrella", every, judged),
        Claim(f"95 % of plans take less than the paper's second ({late:.0f} ms)", late < PAPER_MS, judged),
        Claim("umbrella and posts stay apart, by the audit's distances", all(one.gap > -0.002 for one in umbrellas)),
        Claim("speeds do not jump where an arm leaves its motion", all(one.ends < 1.5 for one in umbrellas)),
        Claim("both arms are corrected, one after the other, and the audit finds nothing new",
              all(one.left == 0 and one.violations == 0 for one in arms)),
    ]  # fmt: skip


def _umbrella_row(one: _Umbrella) -> dict[str, Any]:
    return {
        "walk": one.name,
        "solved": f"{one.solved} of {one.runs}",
        "median ms": f"{statistics.median(one.times):.0f}",
        "95 % ms": f"{float(np.quantile(one.times, 0.95)):.0f}",
        "paper ms": "1000 to 2000",
        "gap": f"{100.0 * one.gap:.1f} cm",
        "end": f"{one.ends:.2f}",
        "hold one offset": f"{one.held}",
    }


def _arms_row(one: _Arms) -> dict[str, Any]:
    return {
        "walk": one.name,
        "arms": f"{one.arms}",
        "left": f"{one.left}",
        "ms with audits": f"{one.milliseconds:.0f}",
        "new violations": f"{one.violations}",
    }


def _data(umbrellas: list[_Umbrella], arms: list[_Arms]) -> Iterator[dict[str, Any]]:
    for one in umbrellas:
        numbers = {"solved": one.solved / one.runs, "median_ms": statistics.median(one.times), "gap_m": one.gap}
        papers = {"median_ms": PAPER_MS}
        for key, value in numbers.items():
            yield {"part": "umbrella", "walk": one.name, "figure": key, "ours": value, "paper": papers.get(key)}
    for pair in arms:
        yield {"part": "arms", "walk": pair.name, "figure": "arms", "ours": pair.arms, "paper": None}
        yield {"part": "arms", "walk": pair.name, "figure": "left", "ours": pair.left, "paper": None}
