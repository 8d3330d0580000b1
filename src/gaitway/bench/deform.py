"""Benchmark of deformable motion: paths beside the same equations in NumPy, fragments, live steps, gates and pillars.

Figure 9 of the paper and relaxed plans follow. Each line tells its bar, and whether it is met.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.audit import audit_take
from gaitway.bench._relaxed import relaxed_figures
from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine, measure
from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.deform.branch import refined
from gaitway.deform.constraints import Continuity
from gaitway.deform.elastic_path import ElasticPath
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.deform.squeezing import squeeze
from gaitway.deform.tucking import body_depths, capsule_groups, own_depths
from gaitway.deform.walker import DeformWalker
from gaitway.papers.choi import RADII, figure_claims, grown, steered_walks
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene

FRAMES, PINS = 150, 4
PATH_TARGET = 30.0
"""Least ratio of the time of plain NumPy to ours."""
PATH_BAR_US = 12.0
FRAGMENT_BAR_MS, FRAGMENTS = 0.2, 300
"""Bar for the median time of a fragment, and number of places into which it is put."""
REFINED_BAR_MS = 3.0
"""Bar for the median time of a fragment with its whole body."""
LIVE_BAR_MS, LIVE_SECONDS = 1.0, 60.0
"""Bar for the mean time of a live frame, and the longest time that a live character is watched [s]."""
GATES = (0.50, 0.45, 0.42, 0.40, 0.36, 0.33, 0.30, 0.29, 0.28)
"""Widths of gates [m]."""
WALK_BAR, SIDE_BAR, SIDE_GOAL = 0.45, 0.36, 0.30
"""Gates that a walk, and side steps, shall pass, and that would be as good as the paper's [m]."""
RANDOM_GATES, RANDOM_SEEDS = (0.45, 0.40, 0.36, 0.30), 6
"""Widths of gates that lie anywhere in walls of any direction [m], and how many of each."""
OBLIQUE = ((0.6, 15.0), (0.6, 30.0), (1.0, 20.0), (1.0, -30.0))
"""Thickness [m] and turn [degrees] of walls with an oblique gate of 45 cm."""
FIGURE_SEEDS = 20
"""Runs of each density of figure 9."""
_GATE_SECONDS = 20.0
"""Longest search for a way through a gate [s]."""
GAPS = (0.55, 0.5)
"""Gaps between pillars [m]."""
_SMOOTH, _FAINT = 4.0, 0.02  # the weights of `gaitway.deform.elastic_path`


def run() -> BenchTable:
    """Deform paths, and plan people through gaps that are narrower than their arms swing."""
    elastic = _path()
    frames = np.linspace(0, FRAMES - 1, PINS + 1)[1:].astype(np.int64)
    places = elastic.points[frames] + np.array([0.1j, 0.05 - 0.1j, 0.1 + 0.05j, -0.05j])
    away = float(np.abs(elastic.solve(frames, places) - _by_numpy(elastic, frames, places)).max())
    times = measure(
        {"ours": lambda: elastic.solve(frames, places), "numpy": lambda: _by_numpy(elastic, frames, places)}
    )
    label = "NumPy, both systems solved anew"
    rows = [BenchRow(f"path of {FRAMES} frames, {PINS} pins", label, times["ours"], times["numpy"], PATH_TARGET)]
    spent = 1e3 * times["ours"].median
    notes = [
        f"a path takes {spent:.1f} us (bar {PATH_BAR_US:g} us: {_met(spent <= PATH_BAR_US)}), within {away:.0e} m of "
        f"NumPy's; least times {1e3 * times['ours'].low:.1f} us and {times['numpy'].low:.1f} ms"
    ]
    notes += [_fragments(), _refinement(), *(_live(f"gate of {100.0 * w:.0f} cm", gate(w)) for w in (0.5, 0.45))]
    notes += [_live(f"pillars, gaps of {100.0 * gap:.0f} cm", pillars(gap, "deform")) for gap in GAPS]
    passed = {wide: _gate(gate(wide)) for wide in GATES}
    notes += [f"gate of {100.0 * wide:.0f} cm: {found.words}" for wide, found in passed.items()]
    walk, side = (
        min((w for w, found in passed.items() if found.clean and found.walked is how), default=9.9)
        for how in (True, False)
    )
    notes.append(
        f"gates: by walking down to {100.0 * walk:.0f} cm (bar {100.0 * WALK_BAR:.0f}: {_met(walk <= WALK_BAR)}), by "
        f"side steps down to {100.0 * side:.0f} cm (bar {100.0 * SIDE_BAR:.0f}: {_met(side <= SIDE_BAR)}; goal, below "
        f"{100.0 * SIDE_GOAL:.0f}: {_met(side < SIDE_GOAL)})"
    )
    for wide in RANDOM_GATES:
        found = [_gate(random_gate(wide, seed)) for seed in range(1, RANDOM_SEEDS + 1)]
        notes.append(_summed(f"random gates of {100.0 * wide:.0f} cm", found))
    notes.append(_summed("oblique gates of 45 cm in thick walls", [_gate(gate(0.45, *wall)) for wall in OBLIQUE]))
    for gap in GAPS:
        row, note = _planned(gap)
        rows.append(row)
        notes.append(note)
    walks = steered_walks("person")
    trees = [(grown(walks, r, False, FIGURE_SEEDS, 0), grown(walks, r, True, FIGURE_SEEDS, 0)) for r in RADII]
    notes += [f"figure 9, {FIGURE_SEEDS} runs a point: {claim.note}" for claim in figure_claims(trees, judged=True)]
    relaxed = relaxed_figures()
    falls = relaxed.longer[1] < relaxed.longer[0] and relaxed.turning[1] < relaxed.turning[0]
    new = relaxed.violations[1] > relaxed.violations[0]
    notes.append(f"{relaxed.words()} (both shall fall: {_met(falls)}; no new violation: {_met(not new)})")
    return BenchTable(
        "deform: elastic paths, fragments, gates and plans among pillars", tuple(rows), machine(), tuple(notes)
    )


def _met(holds: bool) -> str:
    return "met" if holds else "MISSED"


def _path() -> ElasticPath:
    """Return the path of a walk of five seconds that turns a little."""
    way = np.linspace(0.0, 1.0, FRAMES)
    return ElasticPath(np.concatenate([[0.0], np.cumsum(0.045 * np.exp(0.6j * way[1:]))]), 30.0)


def _by_numpy(elastic: ElasticPath, frames: IntArray, places: npt.NDArray[np.complex128]) -> npt.NDArray[Any]:
    """Return a deformed path by the systems of both steps with their pins (Choi et al. 2011, equations 3 and 4)."""
    p, n = elastic.points, len(elastic)
    chord = p[2:] - p[:-2]
    share = (p[1:-1] - p[:-2]) / chord
    weight = np.maximum(np.abs(chord) / np.abs(chord).mean(), _FAINT)
    rows, shape = np.arange(n - 2), np.zeros((n - 2, n), dtype=np.complex128)
    shape[rows, rows], shape[rows, rows + 1], shape[rows, rows + 2] = weight * (share - 1.0), weight, -weight * share
    held, wanted = np.concatenate([[0, 1], frames]), np.concatenate([p[:2], places])
    first = _least(shape, np.zeros(n - 2), held, wanted)
    edges = np.diff(first)
    drawn = np.concatenate([[p[0]], p[0] + np.cumsum(np.abs(np.diff(p)) * edges / np.abs(edges))])
    lengths = np.vstack([np.diff(np.eye(n), axis=0), np.sqrt(_SMOOTH) * np.diff(np.eye(n), 2, axis=0)])
    return _least(lengths, lengths @ drawn, held, wanted)


def _least(
    system: npt.NDArray[Any], target: npt.NDArray[Any], held: IntArray, wanted: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return the points of least squares that meet pins."""
    count, n = len(held), system.shape[1]
    pins = np.zeros((count, n))
    pins[np.arange(count), held] = 1.0
    square = np.block([[system.conj().T @ system, pins.T], [pins, np.zeros((count, count))]])
    return np.asarray(np.linalg.solve(square, np.concatenate([system.conj().T @ target, wanted]))[:n])


def _fragments() -> str:
    """Put a walk among pillars at random places, and tell how long that takes."""
    walk = Fragment.of(load_cast("person").clips["walk_forward"])
    place = SqueezePlace(pillars(0.5, "deform").world)
    random, times, fits = np.random.default_rng(0), list[float](), 0
    starts = random.uniform((2.5, 1.0, -np.pi), (9.0, 7.0, np.pi), (FRAGMENTS, 3)).tolist()
    squeeze(walk, Continuity((0.0, 0.0, 0.0)), place)
    for x, y, heading in starts:
        began = time.perf_counter()
        fits += squeeze(walk, Continuity((x, y, heading)), place).fits
        times.append(1e3 * (time.perf_counter() - began))
    middle = float(np.median(times))
    return (
        f"a fragment of {len(walk)} frames among pillars takes {middle:.3f} ms at the median (bar {FRAGMENT_BAR_MS:g} "
        f"ms: {_met(middle <= FRAGMENT_BAR_MS)}), {np.quantile(times, 0.95):.3f} ms at the 95th percentile; {fits} of "
        f"{FRAGMENTS} fit"
    )


def _refinement() -> str:
    """Put a walk into a gate and refine it to a whole body, and tell how long that takes."""
    walk = Fragment.of(load_cast("person").clips["walk_forward"])
    place = SqueezePlace(gate(0.5).world)
    moments, spent = np.arange(len(walk)) / walk.clip.fps, list[float]()
    for y in [3.0, *np.linspace(2.95, 3.05, 41).tolist()]:
        began = time.process_time()
        refined([squeeze(walk, Continuity((3.4, y, 0.0)), place)], [moments], place)
        spent.append(1e3 * (time.process_time() - began))
    middle = float(np.median(spent[1:]))  # the first compiles
    return (
        f"the same in a gate of 50 cm, refined to a whole body, takes {middle:.1f} ms of processor time at the median "
        f"(bar {REFINED_BAR_MS:g} ms: {_met(middle <= REFINED_BAR_MS)}), {np.quantile(spent[1:], 0.95):.1f} ms at the "
        "95th percentile"
    )


def _live(label: str, scene: Scene) -> str:
    """Let one person find its way live, and tell what a frame takes."""
    first = DeformWalker(scene, "ada")
    while first.began < 2 and first.time < LIVE_SECONDS:  # it compiles
        first.step()
    walker = DeformWalker(scene, "ada")
    spent, depth, waited = list[float](), 0.0, 0
    place = SqueezePlace(scene.world)
    while not walker.arrived and len(spent) < LIVE_SECONDS * walker.fps:
        began = time.process_time()
        walker.step()
        spent.append(1e3 * (time.process_time() - began))
        waited += walker.waited > 0
        pose = walker.pose
        now = np.array([walker.time])
        depth = max(depth, float(body_depths(pose, place, now, capsule_groups(pose.skeleton), 0.01)[0].max()))
    mean, how = float(np.mean(spent)), "arrives after" if walker.arrived else "does NOT arrive within"
    return (
        f"live, {label}: {how} {len(spent) / walker.fps:.0f} s, stands for "
        f"{waited / walker.fps:.1f} s, {mean:.2f} ms of processor time a frame (bar {LIVE_BAR_MS:g} ms: "
        f"{_met(mean <= LIVE_BAR_MS)}), at most {max(spent):.0f} ms; deeper than 1 cm in nothing: {_met(depth == 0.0)}"
    )


@dataclass(frozen=True)
class Passed:
    """How one person fared at a gate."""

    arrived: bool
    walked: bool
    """Whether it did without side steps."""
    faults: int
    inside: float
    """How deep arms lie in the own body at most [m]."""
    words: str

    @property
    def clean(self) -> bool:
        """Whether it passed, and the audit finds nothing."""
        return self.arrived and self.faults == 0


def _gate(scene: Scene) -> Passed:
    """Plan one person through a gate, and tell how its body fared."""
    planned = plan_scene(scene)
    result = planned.crowd.results["ada"]
    if planned.failed or result.plan is None:
        return Passed(False, False, 0, 0.0, f"no way ({planned.failed['ada'].reason})")
    faults = len(audit_take(planned.take, scene.world).violations)
    inside = max((float(own_depths(step.clip).max()) for step in result.plan.own.values()), default=0.0)
    walked = not any("side" in step.behavior for step in result.plan.steps)
    words = (
        f"passed {'by walking' if walked else 'by side steps'}, {faults} violations, arms at most {100.0 * inside:.1f} "
        "cm in the own body"
    )
    return Passed(True, walked, faults, inside, words)


def _summed(label: str, found: list[Passed]) -> str:
    through = [one for one in found if one.arrived]
    aside, faults = sum(not one.walked for one in through), sum(one.faults for one in through)
    deepest = 100.0 * max((one.inside for one in through), default=0.0)
    return (
        f"{label}: {len(through)} of {len(found)} pass, {aside} of them by side steps; {faults} violations, arms at "
        f"most {deepest:.1f} cm in the own body"
    )


def gate(wide: float, thick: float = 0.3, yaw_deg: float = 0.0, aside: float = 0.0) -> Scene:
    """Return a scene with a wall and a gate in it, which one person passes.

    Args:
        wide: width of the gate [m].
        thick: thickness of the wall [m].
        yaw_deg: how far the wall is turned about the gate.
        aside: how far the gate lies beside the straight line from start to goal [m].
    """
    along = np.array([-np.sin(np.radians(yaw_deg)), np.cos(np.radians(yaw_deg))])
    walls = []
    for side in (-1, 1):
        x, y = np.array([4.0, 3.0 + aside]) + side * (0.5 * wide + 1.75) * along
        shape = {"center": [float(x), float(y)], "size": [thick, 3.5], "yaw_deg": yaw_deg, "height": 2.0}
        walls.append({"box": shape})
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 8, 6],
            "obstacles": walls,
            "characters": [{"name": "ada", "start": [1.2, 3, 0], "goal": [6.8, 3]}],
            "plan": {"planner": "deform", "start_spread": 0, "speed_spread": 0, "max_seconds": _GATE_SECONDS},
        }
    )


def random_gate(wide: float, seed: int) -> Scene:
    """Return a scene with a gate of a width [m] somewhere in a wall that is turned a little."""
    thick, yaw, aside = np.random.default_rng(seed).uniform((0.1, -20.0, -0.8), (0.5, 20.0, 0.8)).tolist()
    return gate(wide, thick, yaw, aside)


def _planned(gap: float) -> tuple[BenchRow, str]:
    """Plan three people through pillars by both planners, with what the audit says; the first plan compiles."""
    spent: dict[str, float] = {}
    words = []
    for planner in ("deform", "behavior"):
        scene = pillars(gap, planner)
        plan_scene(scene)
        began = time.process_time()
        planned = plan_scene(scene)
        spent[planner] = 1e3 * (time.process_time() - began)
        faults = len(audit_take(planned.take, scene.world).violations)
        arrived = len(scene.characters) - len(planned.failed)
        words.append(f"{planner}: {arrived} of {len(scene.characters)} arrive, {faults} violations")
    ours, theirs = (Timing(ms, ms, ms) for ms in (spent["deform"], spent["behavior"]))
    task = f"plan among pillars, gaps of {100.0 * gap:.0f} cm"
    return BenchRow(task, "planner behavior, processor time", ours, theirs), f"{task}: {'; '.join(words)}"


def pillars(gap: float, planner: str) -> Scene:
    """Return a scene with four rows of pillars, which three people cross in both directions.

    Args:
        gap: distance between the pillars of a row [m].
        planner: name of the planner.
    """
    step, shapes = 0.5 + gap, list[dict[str, Any]]()
    for row in range(4):
        for y in _row(step, 0.5 * step * (row % 2)).tolist():
            shapes.append({"cylinder": {"center": [4.0 + 1.8 * row, round(y, 3)], "radius": 0.25, "height": 2.0}})
    ways = (("ada", [1.5, 4.0], [12.5, 4.0]), ("bo", [12.5, 2.2], [1.5, 2.2]), ("cy", [1.5, 6.2], [12.5, 6.0]))
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 14, 8],
            "obstacles": shapes,
            "characters": [{"name": name, "start": start, "goal": goal} for name, start, goal in ways],
            "plan": {"planner": planner},
        }
    )


def _row(step: float, first: float) -> FloatArray:
    return np.arange(first, 8.0, step)
