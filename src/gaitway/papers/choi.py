"""Deformable motion (Choi, Kim, Hyun and Lee 2011): figure 9, a lazy roadmap, the course, cylinders, boxes.

Figure 9 grows random trees among larger and larger cylinders, once with deformable fragments and once with linear
warping. Both trees have the same fragments: one cycle of a walk, steered evenly to either side. The deformable ones may
be squeezed in besides. The paper averages six runs and draws a curve without numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray
from gaitway.deform.constraints import MotionLimits
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.deform.random_tree import RandomTree
from gaitway.deform.roadmap import LazyRoadmap, RoadEdge, road_fragments
from gaitway.deform.search import Choice
from gaitway.papers.charts import Chart, Series
from gaitway.papers.choi_boxes import box_rows
from gaitway.papers.choi_course import course_row, cylinder_rows
from gaitway.papers.tables import Claim, PaperOptions, PaperTable, Progress, kept
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Cylinder
from gaitway.world.world import World

TITLE = "Choi 2011: deformable motion"
SEEDS, QUICK_SEEDS, MOST = 24, 2, 3000
"""Runs of each density, in a quick run, and most fragments that a tree tries."""
RADII = (0.10, 0.15, 0.20, 0.25, 0.30, 0.33, 0.36)
"""Radii of the cylinders [m]; each is one environment of figure 9."""
SPARSE = 3
"""Number of environments that are sparse."""
FEWER = 4.0
"""How many times fewer fragments deformable motion shall need where linear warping breaks down."""
WALK, STEER_DEG, STEER_STEP_DEG = "walk_forward", 30, 2
"""Clip of the walk, how far it is steered to either side, and in which steps [degrees]."""
_SIDE, _SPACING, _JITTER, _HEIGHT = 9.6, 1.2, 0.12, 1.4
"""Side of the field, distance between cylinders, how far each is moved at random, and how high they are [m]."""
ROADMAPS, ROAD_NODES, ROAD_CLIPS = 3, 300, ("walk_forward", "walk_short")
"""Number of roadmaps, most nodes of each, and the clips of their edges."""
_PILLAR, _ROAD_GAP, _ROAD_ROWS = 0.25, 0.5, 3
"""Radius of the cylinders of a roadmap, gap between them [m], and number of their rows."""
BOX_SEEDS = 20
"""Rows of boxes whose heights change."""
NOTES = (
    "figure 9: mean number of fragments that were tried, over all runs; a run that finds no way counts as "
    f"{MOST:,}, also if none of its nodes has a fragment left. Density: share of the field that cylinders cover",
    "lazy roadmap: nodes and edges when start and goal are joined, through three rows of cylinders, 50 cm apart. "
    "The paper's 72 nodes and 192 edges lead through every passage of another place, of less than 30 cm, by side steps",
    "course and many cylinders: whole scenes by limited-horizon search, with whole bodies, audited; 'in a row' "
    "counts the clips of the plans. In the paper a user steers",
    "boxes (figure 8): each row has other heights and times; a person jumps from one box to the next while all of them "
    "rise and fall, and waits where the next one is not as high as the clip can be raised or lowered to",
)


@dataclass(frozen=True)
class TreeRuns:
    """Trees of one kind in one environment."""

    tried: FloatArray
    """Fragments that were tried in each run, the most there may be if no way was found; (N,)."""
    nodes: FloatArray
    """Nodes of each tree; (N,)."""
    found: int
    """Runs that found a way."""

    @property
    def works(self) -> bool:
        """Whether at least half of the runs found a way."""
        return 2 * self.found >= len(self.tried)


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Grow the trees of figure 9, and a few roadmaps."""
    seeds = QUICK_SEEDS if options.quick else SEEDS
    choices = steered_walks(options.library)
    pairs = []
    for number, radius in enumerate(RADII):
        runs = []
        for deform in (False, True):
            progress(f"figure 9, radius {radius:g} m", 2 * number + int(deform), 2 * len(RADII))
            runs.append(grown(choices, radius, deform, seeds, options.seed))
        pairs.append((runs[0], runs[1]))
    figure = [_figure_row(radius, *pair) for radius, pair in zip(RADII, pairs, strict=True)]
    roads = []
    for number in range(1 if options.quick else ROADMAPS):
        progress("lazy roadmap", number, ROADMAPS)
        roads.append(_road_row(options.library, options.seed + number, 20 if options.quick else ROAD_NODES))
    places = []
    if not options.quick:
        progress("course and cylinders", 0, 1)
        places = [course_row(), *cylinder_rows()]
    boxes = box_rows(2 if options.quick else BOX_SEEDS)
    claims = figure_claims(pairs, judged=not options.quick)
    return PaperTable(
        TITLE,
        (*figure, *roads, *places, *boxes),
        (*NOTES, *(claim.note for claim in claims)),
        kept(claims),
        (
            ("figure 9: fragments tried", len(figure)),
            ("lazy roadmap", len(roads)),
            ("course", len(places)),
            ("moving boxes", len(boxes)),
        ),
        tuple(figure),
        charts=(_chart(pairs),),
    )


def steered_walks(library: str) -> list[Choice]:
    """Return one cycle of the walk of a cast, steered to either side."""
    clip = load_cast(library).clips[WALK]
    walk = Fragment.of(clip)
    return [
        Choice(0, walk.steered(float(np.radians(degrees))), 0, 0, 1.0, 1.0, clip.duration)
        for degrees in range(-STEER_DEG, STEER_DEG + 1, STEER_STEP_DEG)
    ]


def cylinder_field(radius: float, seed: int) -> World:
    """Return a square field of cylinders in staggered columns, each moved a little at random."""
    random = np.random.default_rng(seed)
    things = []
    for number, x in enumerate(np.arange(0.5 * _SPACING + 0.6, _SIDE - 0.3, _SPACING).tolist()):
        for y in np.arange(-0.6, _SIDE + 0.6, _SPACING).tolist():
            dx, dy = random.uniform(-_JITTER, _JITTER, 2).tolist()
            center = (x + dx, y + 0.5 * _SPACING * (number % 2) + dy)
            things.append(Obstacle(Cylinder(center, radius, _HEIGHT)))
    return World((-2.0, -1.0, _SIDE + 3.0, _SIDE + 1.0), tuple(things))


def grown(choices: list[Choice], radius: float, deform: bool, runs: int, seed: int) -> TreeRuns:
    """Grow trees from one side of a field to the other, each in a field of its own."""
    tried, nodes, found = [], [], 0
    for number in range(runs):
        place = SqueezePlace(cylinder_field(radius, 1000 * seed + 100 + number))
        tree = RandomTree(
            place, {0: choices}, (_SIDE + 0.5, 0.5 * _SIDE), lambda node: node.pose[0] > _SIDE - 0.2, MotionLimits(),
            (-1.5, -0.5, _SIDE + 2.0, _SIDE + 0.5), seed=1000 * seed + number, deform=deform,
        )  # fmt: skip
        tree.begin((-0.4, 0.5 * _SIDE, 0.0), 0, 0.0)
        arrived = tree.grow(MOST) is not None
        found += arrived
        tried.append(tree.checks if arrived else MOST)
        nodes.append(len(tree.nodes))
    return TreeRuns(np.array(tried, dtype=np.float64), np.array(nodes, dtype=np.float64), found)


def density(radius: float) -> float:
    """Return the share of a field that cylinders of a radius [m] cover."""
    return float(np.pi * radius**2 / _SPACING**2)


def figure_claims(pairs: list[tuple[TreeRuns, TreeRuns]], *, judged: bool) -> list[Claim]:
    """Return what figure 9 says, for linear and deformable trees from sparse to dense.

    Args:
        pairs: runs with linear warping and with deformable motion, for each density.
        judged: whether there are enough runs to judge it.
    """
    sparse = all(two.tried.mean() <= one.tried.mean() for one, two in pairs[:SPARSE])
    breaks = next((pair for pair in pairs if pair[0].found < len(pair[0].tried)), None)
    ratio = 0.0 if breaks is None else float(breaks[0].tried.mean() / breaks[1].tried.mean())
    ends = [next((k for k, pair in enumerate(pairs) if not pair[which].works), len(pairs)) for which in range(2)]
    return [
        Claim("deformable motion is no worse where it is sparse", sparse, judged),
        Claim(
            f"where linear warping begins to fail, {FEWER:g} times fewer fragments are tried ({ratio:.1f} times)",
            ratio >= FEWER,
            judged,
        ),
        Claim(
            f"deformable motion still finds ways in most runs {ends[1] - ends[0]} environments further",
            ends[1] > ends[0],
            judged,
        ),
    ]


def _figure_row(radius: float, linear: TreeRuns, soft: TreeRuns) -> dict[str, Any]:
    runs = len(linear.tried)
    return {
        "density": round(density(radius), 3),
        "mean gap cm": round(100.0 * (_SPACING - 2.0 * radius)),
        "linear": round(float(linear.tried.mean())),
        "found": f"{linear.found} of {runs}",
        "nodes": round(float(linear.nodes.mean())),
        "deformable": round(float(soft.tried.mean())),
        "found ": f"{soft.found} of {runs}",
        "nodes ": round(float(soft.nodes.mean())),
        "times fewer": round(float(linear.tried.mean() / soft.tried.mean()), 1),
    }


def _chart(pairs: list[tuple[TreeRuns, TreeRuns]]) -> Chart:
    linear, soft = (tuple(float(pair[k].tried.mean()) for pair in pairs) for k in range(2))
    return Chart(
        name="figure-9",
        title="Fragments that a random tree tries",
        places=tuple(f"{density(radius):.2f}" for radius in RADII),
        across="share of the field that cylinders cover",
        up="fragments tried",
        series=(Series("linear warping", linear), Series("deformable motion", soft)),
        log=True,
    )


def lazy_roadmap(library: str, seed: int, most: int) -> tuple[LazyRoadmap, list[RoadEdge] | None]:
    """Grow a roadmap until its first two nodes, start and goal, are joined; return it and the way, or None."""
    step = 2.0 * _PILLAR + _ROAD_GAP
    rows = [(2.0 + 1.8 * k, 0.5 * step * (k % 2)) for k in range(_ROAD_ROWS)]
    centers = np.array([(x, y) for x, first in rows for y in np.arange(first, 5.01, step).tolist()])
    wide = rows[-1][0] + 2.0
    world = World(
        (0.0, 0.0, wide, 5.0), tuple(Obstacle(Cylinder((x, y), _PILLAR, _HEIGHT)) for x, y in centers.tolist())
    )

    def clearance(place: tuple[float, float]) -> float:
        return float(np.hypot(*(centers - np.array(place)).T).min()) - _PILLAR

    clips = load_cast(library).clips
    fragments = road_fragments([clips[name] for name in ROAD_CLIPS])
    roadmap = LazyRoadmap(
        SqueezePlace(world), fragments, MotionLimits(), (0.2, 0.2, wide - 0.2, 4.8), clearance, seed=seed
    )
    start, goal = roadmap.add((0.6, 2.5, 0.0)), roadmap.add((wide - 0.6, 2.5, 0.0))
    roadmap.grow(lambda: roadmap.route(start, goal) is not None, most)
    return roadmap, roadmap.route(start, goal)


def _road_row(library: str, seed: int, most: int) -> dict[str, Any]:
    roadmap, way = lazy_roadmap(library, seed, most)
    return {
        "seed": seed,
        "joined": "no" if way is None else "yes",
        "nodes": len(roadmap.nodes),
        "edges": len(roadmap.edges),
        "paper's": "72 and 192",
        "fragments of the way": 0 if way is None else len(way),
        "tried": roadmap.checks,
    }
