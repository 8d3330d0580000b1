"""Behaviour planning (Lau 2009, chapter 3.6): its scenes planned, made and audited, for three kinds of character.

The thesis reports less than a second of search for about ten seconds of motion for each of three people who meet a
falling tree, twenty people among moving spheres, a hundred in a large environment, and a horse and a skateboarder that
use essentially the same graph.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gaitway.audit import audit_take
from gaitway.papers.tables import PaperOptions, PaperTable, Progress
from gaitway.planning import Planned, plan_scene
from gaitway.scene.characters import RADII, Character, LibraryRef
from gaitway.scene.scene import Scene, load_scene
from gaitway.space.plan import Pose
from gaitway.world.exact import footprint_distance

SCENES = (
    ("falling_tree", "person"),
    ("moving_spheres", "person"),
    ("fairground", "person"),
    ("fairground", "skateboarder"),
    ("falling_tree", "horse"),
    ("fairground", "horse"),
)
RUN_UP = 20.0
"""Free length that horses and skateboarders need ahead of their start [m]."""
NOTES = (
    "thesis: less than 1 s of search for about 10 s of motion a character",
    "motion, search: seconds of all together; most: of the slowest search; faster: motion by all time, libraries and "
    "synthesis included; faults: violations of the audit",
)
HERD = 10
"""Most horses or skateboarders in a scene that was made for a hundred people."""
STRIDE = {"skateboarder": 1.0, "horse": 1.5}
"""Tolerance of the goal for characters with long strides [m]."""
TREE_DOWN = 6.5
"""Time at which the tree lies on the ground in `falling_tree` [s]."""


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Plan and audit all pairs of a scene and a cast; only two small ones in a quick run."""
    scenes = SCENES[:2] if options.quick else SCENES
    rows, notes, ok = [], list(NOTES), True
    for number, (name, cast) in enumerate(scenes):
        progress(f"{name}, {cast}", number, len(scenes))
        planned = plan_scene(with_cast(load_scene(name), cast))
        report = audit_take(planned.take, planned.scene.world)
        rows.append(_row(name, cast, planned, len(report.violations)))
        most = max(result.seconds for result in planned.crowd.results.values())
        ok &= report.ok and not planned.failed and most < 1.0
        if (name, cast) == ("falling_tree", "person"):
            notes.append(_tree(planned))
        notes += [f"{name}, {cast}: {who} {result.reason}" for who, result in planned.failed.items()]
    return PaperTable("Lau 2009, chapter 3: behaviour planning", tuple(rows), tuple(notes), ok)


def with_cast(scene: Scene, cast: str) -> Scene:
    """Return the same scene with characters of another cast.

    Only characters that start far from one another, with free ground ahead, are kept.

    Horses and skateboarders cannot turn where they stand, and so cannot leave a place that faces a wall.
    """
    if cast == "person":
        return scene
    room, kept = 3.0 * RADII[cast], list[Character]()
    for character in scene.characters:
        if not _way_ahead(scene, character.start, RADII[cast]):
            continue
        spots = (character.start[:2], character.goal)
        apart = all(
            (x - u) ** 2 + (y - v) ** 2 > room**2
            for other in kept
            for (x, y), (u, v) in zip(spots, (other.start[:2], other.goal), strict=True)
        )
        if apart and len(kept) < HERD:
            plan = character.plan.model_copy(update={"tolerance": STRIDE[cast]})
            kept.append(replace(character, library=LibraryRef(cast), radius=RADII[cast], speed="normal", plan=plan))
    return replace(scene, characters=tuple(kept))


def _way_ahead(scene: Scene, start: Pose, radius: float) -> bool:
    """Return whether the ground straight ahead is free of obstacles that never move."""
    x, y, heading = start
    along = np.arange(0.0, RUN_UP, 0.5)[:, None]
    points = np.array([x, y]) + along * np.array([np.cos(heading), np.sin(heading)])
    x0, y0, x1, y1 = scene.world.bounds
    inside = ((points >= (x0 + radius, y0 + radius)) & (points <= (x1 - radius, y1 - radius))).all()
    footprints = [obstacle.shape.footprint() for obstacle in scene.world.obstacles]
    return bool(inside and (not footprints or (footprint_distance(footprints, points) > 2.0 * radius).all()))


def _row(name: str, cast: str, planned: Planned, violations: int) -> dict[str, Any]:
    count, searched = len(planned.scene.characters), [r.seconds for r in planned.crowd.results.values()]
    motion = planned.motion_seconds
    return {
        "scene": name,
        "cast": cast,
        "n": count,
        "arrive": count - len(planned.failed),
        "motion s": round(motion, 1),
        "search s": round(planned.crowd.search_seconds, 2),
        "most": round(max(searched), 3),
        "faster": round(motion / max(planned.seconds, 1e-9), 1),
        "faults": violations,
    }


def _tree(planned: Planned) -> str:
    """Say which characters pass the tree before it falls, and which go over it."""
    words = []
    for name, plan in planned.crowd.plans.items():
        graph = planned.crowd.libraries[name].graph
        over = [step.time for step in plan.steps if graph[step.behavior].obstacle == "jump"]
        words.append(f"{name} goes over it at {over[0]:.1f} s" if over else f"{name} passes before")
    return f"falling tree, which lies from {TREE_DOWN:g} s on: {', '.join(words)}"
