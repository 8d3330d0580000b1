"""Plans in random places, drawn straight and as they were found: how long they are, and how much they turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.audit import audit_take
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.space.fields import WorldFields
from gaitway.space.routes import RouteMap
from gaitway.take.model import Take

SCENES = 100
"""Number of random places."""
_SIDE, _THINGS = 12.0, 14
"""Side of a place [m], and number of things in it."""
_THIN, _CELL = 0.25, 0.1
"""Radius of the disc whose shortest way counts, and side of a cell [m]."""
_RATE, _SWAY_S = 10.0, 0.25
"""Samples of a path in a second [Hz], and standard deviation of the low-pass that takes the sway of steps out [s]."""
_START, _GOAL = (1.0, 1.0), (11.0, 11.0)


@dataclass(frozen=True)
class RelaxedFigures:
    """What drawing plans straight does to the same scenes; each pair is without it and with it."""

    scenes: int
    """Scenes in which both plans arrive."""
    longer: tuple[float, float]
    """Mean length over that of the shortest free path."""
    turning: tuple[float, float]
    """Mean change of direction for a metre [degrees/m]."""
    violations: tuple[int, int]
    """What the audits find in all scenes together."""

    def words(self) -> str:
        """Return one line."""
        return (
            f"relax, {self.scenes} scenes, without and with: {self.longer[0]:.3f} and {self.longer[1]:.3f} times "
            f"the shortest free path, {self.turning[0]:.1f} and {self.turning[1]:.1f} degrees a metre, "
            f"{self.violations[0]} and {self.violations[1]} violations"
        )


def relaxed_figures(scenes: int = SCENES) -> RelaxedFigures:
    """Plan random scenes twice, with and without drawing straight, and audit them."""
    longer, turned = np.empty((0, 2)), np.empty((0, 2))
    violations = [0, 0]
    for seed in range(scenes):
        rows = []
        for relax in (False, True):
            scene = random_scene(seed, relax)
            planned = plan_scene(scene)
            violations[relax] += len(audit_take(planned.take, scene.world).violations)
            if not planned.failed:
                rows.append(path_figures(planned.take, scene))
        if len(rows) == 2:
            longer = np.vstack([longer, [row[0] for row in rows]])
            turned = np.vstack([turned, [row[1] for row in rows]])
    means = [tuple(np.mean(pairs, axis=0).tolist()) for pairs in (longer, turned)]
    return RelaxedFigures(len(longer), means[0], means[1], (violations[0], violations[1]))


def random_scene(seed: int, relax: bool) -> Scene:
    """Return a place with boxes and cylinders at random, which one person crosses."""
    random, things = np.random.default_rng([seed, 21]), list[dict[str, Any]]()
    while len(things) < _THINGS:
        x, y = (round(float(v), 2) for v in random.uniform(1.5, _SIDE - 1.5, 2))
        wide, deep = (round(float(v), 2) for v in random.uniform(0.4, 1.8, 2))
        if min(np.hypot(x - _START[0], y - _START[1]), np.hypot(x - _GOAL[0], y - _GOAL[1])) < 2.2:
            continue
        if random.random() < 0.5:
            things.append({"box": {"center": [x, y], "size": [wide, deep], "height": 1.6}})
        else:
            things.append({"cylinder": {"center": [x, y], "radius": round(0.5 * wide, 2), "height": 1.6}})
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, _SIDE, _SIDE],
            "obstacles": things,
            "characters": [{"name": "ada", "start": [*_START, 45], "goal": list(_GOAL)}],
            "plan": {"planner": "behavior", "relax": relax},
        }
    )


def path_figures(take: Take, scene: Scene) -> tuple[float, float]:
    """Return the length of a path over that of the shortest free one, and its change of direction [degrees/m]."""
    times = np.arange(take.start(0), float(take.ends[0]), 1.0 / _RATE)
    points = np.nan_to_num(take.planar(times)[0, :, :2])
    smooth = scipy.ndimage.gaussian_filter1d(points, _SWAY_S * _RATE, axis=0, mode="nearest")
    steps = np.diff(smooth, axis=0)
    lengths = np.hypot(*steps.T)
    moving = lengths > 0.02  # who stands has no direction
    directions = np.unwrap(np.arctan2(steps[moving, 1], steps[moving, 0]))
    routes = RouteMap.of(WorldFields.of(scene.world), _THIN, _CELL, hopeful=True)
    x, y = points[-1].tolist()
    row, column = routes.spec.cells(points[:1])[0]
    shortest = float(routes.field((x, y), 0.0).lengths[row, column])
    length = float(lengths.sum())
    return length / shortest, float(np.degrees(np.abs(np.diff(directions)).sum())) / length
