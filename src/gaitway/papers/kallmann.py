"""Reaching roadmaps (Kallmann, Aubel, Abaci and Thalmann 2003): table 1, and reaches in the same places.

The paper grows roadmaps of 1,500 nodes with steps of 4 cm and shortcuts of up to 16 cm on a PC of 1.7 GHz, and checks
triangles. Here bodies are capsules and things are solids, so the times are no race between equals.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import read_only
from gaitway.core.errors import GaitwayError, LimbError
from gaitway.core.progress import Progress
from gaitway.handling.stepping import SteppingOptions, grow_stepping
from gaitway.limbs.places import cubes, empty_place, kitchen, reachable_targets
from gaitway.limbs.roadmap import ReachRoadmap, RoadmapOptions, grip_mark, grow_roadmap
from gaitway.limbs.stance import Stander, stand
from gaitway.limbs.surroundings import inside
from gaitway.papers.tables import Claim, PaperOptions, PaperTable, kept
from gaitway.world.world import World

TITLE = "Kallmann 2003: reaching roadmaps"
NOTES = (
    "paper: 1,500 nodes on a PC of 1.7 GHz; solids: capsules of the body and things beside the paper's triangles; "
    "processor time",
    "reached: targets that the right hand has in drawn valid postures; query: goal by IK and way through the roadmap, "
    "smoothed: with smoothing, median",
    "steps: targets up to 1.4 m away on all sides of somebody who may step first; the paper shows this without figures",
)


class _Paper(NamedTuple):
    """A row of table 1."""

    triangles: int
    roadmap: float
    """[s], as `shortcuts`."""
    shortcuts: float
    made: int


TABLE = {
    "no obstacles": _Paper(0, 70.0, 6.0, 565),
    "only body parts": _Paper(10153, 78.0, 7.0, 559),
    "cubes": _Paper(10249, 78.0, 11.0, 508),
    "kitchen": _Paper(26088, 145.0, 18.0, 486),
}
"""Table 1 of the paper."""
_PLACES: dict[str, Callable[[], World]] = {
    "no obstacles": empty_place, "only body parts": empty_place, "cubes": cubes, "kitchen": kitchen,
}  # fmt: skip


class _Stepped(NamedTuple):
    """Targets around one place, with steps and without."""

    name: str
    places: int
    """Places to stand, the first one included."""
    steps: int
    grown: float
    """[s]."""
    targets: int
    standing: int
    """Targets that are reached without a step."""
    stepped: int
    """Targets that are reached at all."""
    most: int
    """Most steps in a row."""
    miss: float
    """Greatest distance of hand and target [m]."""


class _Row(NamedTuple):
    """One place."""

    name: str
    solids: int
    nodes: int
    valid: bool
    """Whether all nodes are there, each balanced, clear and on its feet."""
    roadmap: float
    """[s], as `shortcuts`."""
    shortcuts: float
    made: int
    targets: int
    reached: int
    query: float
    """[ms], as `smoothed`."""
    smoothed: float
    miss: float
    """Greatest distance of hand and target [m]."""


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Grow a roadmap in each place of table 1, and reach in it."""
    clip = load_cast(options.library).clips.get("stand")
    if clip is None:
        raise GaitwayError(f"library '{options.library}' has no clip 'stand'; use --library person")
    rows = list[_Row]()
    for number, name in enumerate(TABLE):
        progress(name, number, len(TABLE))
        world = _PLACES[name]()
        stander = stand(clip, world)
        if name == "no obstacles":
            stander = _ghost(stander)
        rows.append(_row(name, stander, world, options))
    walked = []
    for name in ("no obstacles", "kitchen"):
        progress(f"{name}, with steps", len(TABLE), len(TABLE))
        walked.append(_stepped(name, _PLACES[name](), options))
    claims = [*_claims(rows, judged=not options.quick), *_step_claims(walked)]
    return PaperTable(
        TITLE,
        (
            *(_shown(row) for row in rows),
            *(_shown_reaches(row) for row in rows),
            *(_shown_steps(one) for one in walked),
        ),
        (*NOTES, *(claim.note for claim in claims)),
        kept(claims),
        (
            ("table 1: roadmaps", len(rows)),
            ("reaches of the right hand", len(rows)),
            ("section 7: reaches with steps", len(walked)),
        ),
        tuple(
            {
                "place": row.name,
                "figure": figure,
                "ours": getattr(row, figure),
                "paper": getattr(TABLE[row.name], figure),
            }
            for row in rows
            for figure in ("roadmap", "shortcuts", "made")
        ),
    )


def _ghost(stander: Stander) -> Stander:
    """Return a body whose parts go through one another, as in the first row of the table."""
    none = stander.table.around._replace(pairs=read_only(np.empty((0, 2), dtype=np.int64)), ease=read_only(np.empty(0)))
    return replace(stander, table=stander.table._replace(around=none))


def _row(name: str, stander: Stander, world: World, options: PaperOptions) -> _Row:
    chosen = RoadmapOptions(nodes=300 if options.quick else 1500)
    grow_roadmap(stander, world, replace(chosen, nodes=20))  # compiles
    bare, whole = list[float](), list[float]()
    for _ in range(1 if options.quick else 3):
        began = time.process_time()
        grow_roadmap(stander, world, replace(chosen, longest=1e-9), seed=options.seed)
        bare.append(time.process_time() - began)
        began = time.process_time()
        roadmap = grow_roadmap(stander, world, chosen, seed=options.seed)
        whole.append(time.process_time() - began)
    targets = reachable_targets(stander, 15 if options.quick else 100, options.seed)
    query, smoothed, misses = _reaches(roadmap, targets)
    grown = statistics.median(bare)
    return _Row(
        name, len(stander.table.radii) + len(world.obstacles), len(roadmap.nodes),
        len(roadmap.nodes) == chosen.nodes and bool(stander.place(roadmap.nodes, chosen.margin).valid.all()), grown,
        max(statistics.median(whole) - grown, 0.0), roadmap.shortcuts, len(targets), len(misses),
        statistics.median(query) if query else np.inf, statistics.median(smoothed) if smoothed else np.inf,
        max(misses, default=np.inf),
    )  # fmt: skip


def _reaches(roadmap: ReachRoadmap, targets: np.ndarray[Any, Any]) -> tuple[list[float], list[float], list[float]]:
    """Return times without and with smoothing [ms], and distances of hand and target [m], of all that is reached."""
    query, smoothed, misses = list[float](), list[float](), list[float]()
    for warm in (True, False):
        for target in targets[: 5 if warm else None]:
            try:
                began = time.perf_counter()
                roadmap.reach("right", target, smooth=False)
                middle = time.perf_counter()
                plan = roadmap.reach("right", target)
                end = time.perf_counter()
            except LimbError:
                continue
            if not warm:
                query.append(1e3 * (middle - began))
                smoothed.append(1e3 * (end - middle))
                hand = plan.stander.place(plan.path[-1:]).marks[0, grip_mark("right")]
                misses.append(float(np.linalg.norm(hand - target)))
    return query, smoothed, misses


def _stepped(name: str, world: World, options: PaperOptions) -> _Stepped:
    """Reach for places all around, up to two arms' lengths away, with a roadmap for each place that steps lead to."""
    chosen = SteppingOptions(
        roadmap=RoadmapOptions(nodes=40 if options.quick else 400), directions=4 if options.quick else 8
    )
    began = time.process_time()
    roadmaps = grow_stepping(load_cast(options.library), (0.0, 0.0, 0.0), world, chosen, seed=options.seed)
    grown = time.process_time() - began
    rng = np.random.default_rng([options.seed, 5])
    ways, far = rng.uniform(-np.pi, np.pi, 400), rng.uniform(0.4, 1.4, 400)
    spots = np.column_stack([far * np.cos(ways), far * np.sin(ways), rng.uniform(0.5, 1.7, 400)])
    free = [spot for spot in spots if inside(world, spot) is None][: 12 if options.quick else 100]
    standing, stepped, most, miss = 0, 0, 0, 0.0
    for target in free:
        try:
            plan = roadmaps.reach("right", target)
        except LimbError:
            continue
        standing, stepped, most = standing + (not plan.steps), stepped + 1, max(most, len(plan.steps))
        hand = plan.reach.stander.place(plan.reach.path[-1:]).marks[0, grip_mark("right")]
        miss = max(miss, float(np.linalg.norm(hand - target)))
    return _Stepped(
        name, len(roadmaps.poses), len(roadmaps.steps), grown, len(free), standing, stepped, most, miss
    )  # fmt: skip


def _step_claims(rows: list[_Stepped]) -> list[Claim]:
    return [
        Claim("steps enlarge what is reached", all(row.stepped > row.standing for row in rows)),
        Claim("hands are at their targets within 5 mm after steps", all(row.miss < 0.005 for row in rows)),
    ]


def _claims(rows: list[_Row], *, judged: bool) -> list[Claim]:
    share = min(row.reached / max(row.targets, 1) for row in rows)
    faster = all(
        row.roadmap < TABLE[row.name].roadmap and row.shortcuts < TABLE[row.name].shortcuts for row in rows
    )  # fmt: skip
    return [
        Claim("roadmaps grow to all their nodes, each balanced, clear and on its feet", all(row.valid for row in rows)),
        Claim("growth and shortcuts take less than the paper's times", faster),
        Claim(f"nine of ten targets that postures have are reached ({share:.0%} at least)", share >= 0.9, judged),
        Claim("hands are at their targets within 5 mm", all(row.miss < 0.005 for row in rows)),
        Claim("ways are found in a few milliseconds", all(row.query < 5.0 for row in rows), judged),
    ]


def _shown(row: _Row) -> dict[str, Any]:
    paper = TABLE[row.name]
    return {
        "place": row.name,
        "solids": f"{row.solids}",
        "paper": f"{paper.triangles}",
        "nodes": f"{row.nodes}",
        "grown s": f"{row.roadmap:.2f}",
        "paper s": f"{paper.roadmap:.0f}",
        "linked s": f"{row.shortcuts:.2f}",
        "paper s ": f"{paper.shortcuts:.0f}",
        "links": f"{row.made}",
        "paper ": f"{paper.made}",
    }


def _shown_reaches(row: _Row) -> dict[str, Any]:
    return {
        "place": row.name,
        "reached": f"{row.reached} of {row.targets}",
        "query ms": f"{row.query:.2f}",
        "smoothed ms": f"{row.smoothed:.2f}",
        "paper ms": "a few, smoothed 1000",
        "miss": f"{1e3 * row.miss:.2f} mm",
    }


def _shown_steps(row: _Stepped) -> dict[str, Any]:
    return {
        "place": row.name,
        "places to stand": f"{row.places}",
        "steps": f"{row.steps}",
        "grown s": f"{row.grown:.1f}",
        "reached without": f"{row.standing} of {row.targets}",
        "with steps": f"{row.stepped} of {row.targets}",
        "most steps": f"{row.most}",
    }
