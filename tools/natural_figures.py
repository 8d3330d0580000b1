"""Measure how naturally planned crowds move: in ready scenes, and in random scenes that nothing was tuned on.

    python tools/natural_figures.py ready                     # market_square, city_block, doorways at seeds 5, 6, 7
    python tools/natural_figures.py random --count 40 --seed 0
    python tools/natural_figures.py random --count 40 --json figures.json

Each scene is planned and audited, and its figures are compared with what people do (`gaitway audit --natural`). The
last table is of all people of all scenes together. The exit status is 1 if a figure of all people is outside its band,
or if an audit has found a violation.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.audit import audit_take, natural_report
from gaitway.audit.natural import BANDS, NaturalReport
from gaitway.planning import plan_scene
from gaitway.scene import Scene, load_scene, scene_from_dict

READY, SEEDS = ("market_square", "city_block", "doorways"), (5, 6, 7)
GAP = 0.9
"""Free width between things that are put down at random [m]."""


def random_scene(seed: int) -> Scene:
    """Return a place of one of five kinds with people who cross it: 8 to 20 of them, most both ways."""
    rng = np.random.default_rng(seed)
    kind = ("square", "hall", "street", "rooms", "crossing")[seed % 5]
    width, depth = rng.uniform(18.0, 30.0), rng.uniform(12.0, 20.0)
    if kind == "street":
        depth = rng.uniform(5.0, 8.0)
    people = int(rng.integers(8, 21)) if kind != "rooms" else int(rng.integers(6, 13))
    document: dict[str, Any] = {"gaitway": 1, "seed": seed, "library": "person", "bounds": [0.0, 0.0, width, depth]}
    document["obstacles"] = _things(rng, kind, width, depth)
    if kind in ("square", "hall") and rng.random() < 0.5:
        document["specials"] = [_special(rng, width, depth)]
    left, right = [0.8, 0.8, 4.0, depth - 0.8], [width - 4.0, 0.8, width - 0.8, depth - 0.8]
    there = people // 2 if kind != "rooms" else people
    groups = [{"name": "there", "count": there, "start_area": left, "goal_area": right}]
    if kind == "crossing":
        low, high = [0.3 * width, 0.6, 0.7 * width, 3.2], [0.3 * width, depth - 3.2, 0.7 * width, depth - 0.6]
        groups += [{"name": "up", "count": people - there, "start_area": low, "goal_area": high}]
    elif kind != "rooms":
        groups += [{"name": "back", "count": people - there, "start_area": right, "goal_area": left}]
    document["characters"] = groups
    return scene_from_dict(document)


def _things(rng: np.random.Generator, kind: str, width: float, depth: float) -> list[dict[str, Any]]:
    """Return boxes and pillars in the middle of a place, none near another one, and its walls with doors."""
    put: list[tuple[float, float, float]] = []
    things: list[dict[str, Any]] = []
    if kind == "rooms":
        for x in (0.4 * width, 0.65 * width):
            door, wide = rng.uniform(2.0, depth - 2.0), rng.uniform(1.0, 1.8)
            ends = ((0.0, door - wide / 2), (door + wide / 2, depth))
            for low, high in ends:
                things.append({"wall": {"points": [[x, low], [x, high]], "thickness": 0.2, "height": 2.5}})
            put.append((x, door, 1.6))
    wanted = {"square": 8, "hall": 12, "street": 4, "rooms": 4, "crossing": 3}[kind]
    for _ in range(20 * wanted):
        if len(put) >= wanted + 2 * (kind == "rooms"):
            break
        x, y, size = rng.uniform(6.0, width - 6.0), rng.uniform(1.5, depth - 1.5), rng.uniform(0.3, 1.6)
        radius = 0.75 * size
        walls = kind == "rooms" and min(abs(x - 0.4 * width), abs(x - 0.65 * width)) < radius + GAP
        if walls or any(np.hypot(x - a, y - b) < radius + r + GAP for a, b, r in put):
            continue
        put.append((x, y, radius))
        if rng.random() < 0.5:
            things.append({"cylinder": {"center": [x, y], "radius": size / 2, "height": 2.0}})
        else:
            turn, slim = rng.uniform(0.0, 180.0), rng.uniform(0.4, 1.0) * size
            things.append({"box": {"center": [x, y], "size": [size, slim], "yaw_deg": turn, "height": 1.5}})
    return things


def _special(rng: np.random.Generator, width: float, depth: float) -> dict[str, Any]:
    """Return a low fence or a beam right across the place, clear of the areas in which people start."""
    x = rng.choice([5.0, width - 5.0])
    if rng.random() < 0.5:
        return {"jump": {"center": [x, depth / 2], "size": [0.1, depth], "height": rng.uniform(0.2, 0.42)}}
    return {"duck": {"center": [x, depth / 2], "size": [0.2, depth], "clearance": rng.uniform(1.3, 1.6)}}


def scenes(arguments: argparse.Namespace) -> Iterator[tuple[str, Scene, int]]:
    """Yield the name, the scene and the seed of planning of everything that was asked for."""
    if arguments.which == "ready":
        for name in READY:
            for seed in SEEDS:
                yield f"{name} {seed}", load_scene(name), seed
        return
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        yield f"random {seed}", random_scene(seed), seed


def pooled(reports: list[NaturalReport]) -> list[tuple[str, float, int, bool]]:
    """Return name, value, number of people and verdict of each figure of all people of all scenes together."""
    rows = []
    for band in BANDS:
        key = "speed" if band.name == "speed_spread" else band.name
        values = np.array(
            [figures[key] for report in reports for figures in report.characters.values() if key in figures]
        )
        if band.name == "in_step":  # of scenes, as people of different scenes do not meet
            values = np.array([report["in_step"].value for report in reports if report["in_step"].measured])
        if len(values) < 2:
            continue
        value = float(np.median(values) if band.of_crowd == "median" else values.mean())
        if band.name == "speed_spread":
            value = float(values.std(ddof=1))
        rows.append((f"{band.title} [{band.unit}]", value, len(values), band.holds(value)))
    return rows


def main() -> None:
    """Plan, audit and measure; print a line a scene and the table of all people."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=("ready", "random"))
    parser.add_argument("--count", type=int, default=40, help="number of random scenes")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first random scene")
    parser.add_argument("--planner", default=None, help="behavior or tree; that of the scene")
    parser.add_argument("--json", type=Path, default=None, help="file for the figures of every scene")
    arguments = parser.parse_args()
    reports, lines, green, clean, lost, people = [], [], 0, 0, 0, 0
    for title, scene, seed in scenes(arguments):
        begun = time.process_time()
        planned = plan_scene(scene, seed=seed, planner=arguments.planner)
        seconds = time.process_time() - begun
        audit, report = audit_take(planned.take, scene.world), natural_report(planned.take, scene.world)
        reports.append(report)
        red = [f"{row.band.name} {row.value:.3g}" for row in report.outside]
        faults = [finding.words() for finding in audit.violations]
        green, clean = green + (not red), clean + (not faults)
        lost, people = lost + len(planned.failed), people + len(planned.take)
        words = "; ".join([*red, *faults[:3], *(f"{name} does not arrive" for name in planned.failed)]) or "green"
        print(f"{title}: {len(planned.take)} people, {seconds:.1f} s: {words}", flush=True)
        values = {row.band.name: row.value for row in report.rows if row.measured}
        lines.append({"scene": title, "red": red, "faults": faults, "lost": list(planned.failed), "figures": values})
    count = len(reports)
    print(f"{green} of {count} green, {clean} audits clean, {people - lost} of {people} people arrive; all together:")
    rows = pooled(reports)
    for title, value, measured, ok in rows:
        print(f"  {title}: {value:.3g} of {measured} {'' if ok else 'OUTSIDE'}".rstrip())
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(lines, indent=1), encoding="utf-8")
    sys.exit(0 if clean == count and all(row[3] for row in rows) else 1)


if __name__ == "__main__":
    main()
