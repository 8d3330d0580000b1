"""Benchmark of walkable surfaces: a city of 100,000 triangles, beside plain NumPy and Recast.

Recast is measured where node has it: install `@recast-navigation/core` and `@recast-navigation/generators` by npm in a
folder, and name that folder in GAITWAY_RECAST. OBJ files in a folder that GAITWAY_MESHES names are measured too; lines
"pf x y z x y z" of a text file beside them, `NAME_queries.txt`, are queries (Y up).
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import tempfile
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine, measure
from gaitway.core.arrays import FloatArray
from gaitway.world.grid import GridSpec
from gaitway.world.levels.mesh_floors import mesh_floors
from gaitway.world.levels.sheets import WalkableSurface
from gaitway.world.levels.spans import Geometry, WalkLimits
from gaitway.world.meshes import MeshShape, load_mesh
from gaitway.world.obstacle import WALKABLE, Obstacle
from gaitway.world.shapes import Box, Stairs
from gaitway.world.surface import join, surface
from gaitway.world.world import World

LIMITS = WalkLimits(radius=0.6, headroom=2.0, step=0.9, slope=math.radians(45.0))
"""The character of Recast's own demo."""
CELL = 0.3
QUERIES = 60
NUMPY_TARGET = 20.0
_ROUNDS = 3
_FINER = 3
"""How many times as fine the cells are with which Recast is asked again where its answers differ."""
_SECONDS = 240.0
"""Longest time that Recast may take for one level [s]."""


@dataclass(frozen=True, eq=False)
class Level:
    """A place and queries on it."""

    name: str
    mesh: MeshShape
    queries: FloatArray
    """From and to, Z up [m]; (Q, 2, 3)."""


def run() -> BenchTable:
    """Find walkable surfaces, and routes over them."""
    rows: list[BenchRow] = []
    notes: list[str] = []
    for level in (_city(), *_levels_of_user()):
        place = Geometry.of_shapes([level.mesh])
        found = WalkableSurface.of(place, LIMITS, CELL)
        queries = level.queries if len(level.queries) else _queries(found)
        times = measure({"ours": lambda place=place: WalkableSurface.of(place, LIMITS, CELL)}, rounds=_ROUNDS)  # type: ignore[misc]
        peer = _recast(level, queries)
        task = f"surface of {level.name}, {len(place.corners):,} triangles"
        if level.name == "a city":
            plain = measure({"numpy": lambda place=place: _by_numpy(place)}, rounds=1)  # type: ignore[misc]
            label = "NumPy, heights in the middle of cells alone"
            rows.append(BenchRow(task, label, times["ours"], plain["numpy"], NUMPY_TARGET))
        rows.append(BenchRow(task, _label(peer), times["ours"], _timing(peer["build"]) if "build" in peer else None))
        _routes(found, queries[:1])  # the first one compiles
        ours, lengths = _routes(found, queries)
        theirs = _timing([a["ms"] for a in peer["answers"]]) if "answers" in peer else None
        rows.append(BenchRow(f"route on {level.name}", _label(peer), _timing(ours), theirs))
        if level.name != "a city":
            world = _world(level)
            made = measure({"floors": lambda world=world: mesh_floors.__wrapped__(world)}, rounds=_ROUNDS)  # type: ignore[misc]
            rows.append(BenchRow(f"floors of {level.name} for people", "", made["floors"], None))
            notes.append(_for_people(level, world))
        notes.append(_memory(level, place, found))
        if "answers" in peer:
            notes.append(_agreement(level, lengths, peer["answers"]))
            notes += _finer(level, queries, lengths, peer["answers"])
    title = f"levels: cells of {CELL:g} m, radius {LIMITS.radius:g} m, steps up to {LIMITS.step:g} m; median of rounds"
    return BenchTable(title, tuple(rows), machine(), tuple(notes))


def _world(level: Level) -> World:
    """Return a level as a world that its mesh is all the ground of."""
    x0, y0, x1, y1 = level.mesh.footprint().bounds
    return World((x0, y0, x1, y1), (Obstacle(level.mesh, WALKABLE, level.name),), grounded=False)


def _for_people(level: Level, world: World) -> str:
    """Say how many floors a level has for people, and how many of its queries they can walk."""
    floors = mesh_floors(world)
    lengths = _routes(floors.surface, level.queries)[1]
    reached = sum(not math.isnan(length) for length in lengths)
    told = f"; {reached} of {len(lengths)} queries reached" if lengths else ""
    return (
        f"{level.name} for people, cells of {floors.surface.open.spec.cell:.2g} m: {len(floors.parts)} floors, "
        f"{len(floors.seams)} seams{told}"
    )


def _timing(times: list[float]) -> Timing:
    return Timing(median(times), min(times), max(times))


def _routes(found: WalkableSurface, queries: FloatArray) -> tuple[list[float], list[float]]:
    """Return times [ms] and lengths [m] of routes; NaN where there is none."""
    times, lengths = [], []
    for start, goal in queries:
        began = time.perf_counter()
        route = found.route(start, goal)
        times.append(1e3 * (time.perf_counter() - began))
        lengths.append(math.nan if route is None else float(np.linalg.norm(np.diff(route, axis=0), axis=1).sum()))
    return times, lengths


def _agreement(level: Level, lengths: list[float], answers: list[dict[str, Any]]) -> str:
    reached = [not math.isnan(length) for length in lengths]
    same = sum(ours == answer["reached"] for ours, answer in zip(reached, answers, strict=True))
    both = [
        ours / a["length"] for ours, a in zip(lengths, answers, strict=True) if not math.isnan(ours) and a["reached"]
    ]
    return (
        f"{level.name}: {same} of {len(lengths)} queries with the same answer, {len(both)} reached by both; length "
        f"over Recast's: median {median(both) if both else math.nan:.3f}, most {max(both, default=math.nan):.3f}"
    )


def _finer(level: Level, queries: FloatArray, lengths: list[float], answers: list[dict[str, Any]]) -> list[str]:
    """Ask Recast with finer cells where its answers differ; say with whom it agrees then, if any differ."""
    reached = [not math.isnan(length) for length in lengths]
    differ = [k for k, answer in enumerate(answers) if reached[k] != answer["reached"]]
    peer = _recast(level, queries[differ], CELL / _FINER) if differ else {}
    if "answers" not in peer:
        return []
    ours = sum(reached[k] == answer["reached"] for k, answer in zip(differ, peer["answers"], strict=True))
    return [
        f"{level.name}: Recast with cells of {CELL / _FINER:g} m answers {ours} of the other {len(differ)} as gaitway "
        f"does with cells of {CELL:g} m"
    ]


def _memory(level: Level, place: Geometry, found: WalkableSurface) -> str:
    tracemalloc.start()
    WalkableSurface.of(place, LIMITS, CELL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (
        f"{level.name}: {len(found.open):,} open spans, {len(found.sheets)} sheets, {len(found.portals)} portals; "
        f"{peak / 1e6:.0f} MB at most while it is made"
    )


def _by_numpy(place: Geometry) -> int:
    """Find the heights of all triangles over the middles of cells, triangle by triangle; return how many there are.

    That is the first part of the work alone: nothing is known between the middles, and nothing is linked.
    """
    spec = GridSpec.covering(place.bounds, CELL)
    rows, columns = spec.shape
    found = 0
    for a, b, c in place.corners:
        low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        i0, j0 = np.maximum(spec.cells(low[:2]), 0)
        i1, j1 = np.minimum(spec.cells(high[:2]) + 1, (rows, columns))
        twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if abs(twice) < 1e-12 or i0 >= i1 or j0 >= j1:
            continue
        x = spec.origin[0] + (np.arange(j0, j1) + 0.5) * CELL - a[0]
        y = (spec.origin[1] + (np.arange(i0, i1) + 0.5) * CELL - a[1])[:, None]
        v, w = (x * (c[1] - a[1]) - y * (c[0] - a[0])) / twice, ((b[0] - a[0]) * y - (b[1] - a[1]) * x) / twice
        inside = (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
        found += len((a[2] + v * (b[2] - a[2]) + w * (c[2] - a[2]))[inside])
    return found


def _city() -> Level:
    """Return blocks with courts, bridges between roofs, stairs and ramps on rough ground: 100,000 triangles."""
    rng = np.random.default_rng(0)
    side, count = 120.0, 190
    x = np.linspace(0.0, side, count)
    heights = 0.4 * np.sin(0.11 * x[:, None]) * np.cos(0.13 * x) + 0.03 * rng.random((count, count))
    points = np.stack([*np.meshgrid(x, x), heights], axis=-1).reshape(-1, 3)
    corner = np.arange(count * count).reshape(count, count)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]
    ground = points, np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
    parts = [ground]
    for row in range(11):
        for column in range(11):
            at = 6.0 + 10.5 * column, 6.0 + 10.5 * row
            high = float(rng.choice([1.5, 2.4, 3.3]))
            parts.append(surface(Box(at, (5.0, 5.0), high + 1.0, bottom=-1.0)))
            steps = max(round(high / 0.18), 1)
            run = 0.3
            yaw = float(rng.choice([0.0, 0.5, 1.0, 1.5])) * math.pi
            off = 2.5 + 0.5 * steps * run - 0.05
            where = at[0] - off * math.cos(yaw), at[1] - off * math.sin(yaw)
            parts.append(surface(Stairs(where, 2.0, steps, (high + 0.5) / steps, run, yaw, bottom=-0.5)))
            if column and rng.random() < 0.6:
                parts.append(surface(Box((at[0] - 5.25, at[1]), (6.5, 2.0), 0.3, bottom=3.3)))
    vertices, triangles = join(parts)
    extra = 100_000 - len(triangles)
    pebbles = rng.uniform(1.0, side - 1.0, (max(extra // 2, 0), 2))
    small = [_pebble(p, rng) for p in pebbles]
    vertices, triangles = join([(vertices, triangles), *small])
    return Level("a city", MeshShape.of(vertices, triangles), np.empty((0, 2, 3)))


def _pebble(at: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, Any]:
    """Return a small flat stone of two triangles, lying about at any height and angle."""
    size = 0.2 * rng.random()
    corners = np.array([[0.0, 0.0, 0.0], [size, 0.0, 0.1 * size], [size, size, 0.0], [0.0, size, 0.1 * size]])
    return corners + np.array([*at, 0.5]), np.array([[0, 1, 2], [0, 2, 3]])


def _queries(found: WalkableSurface) -> FloatArray:
    """Return queries between random places of the largest part and, one in four, of any part."""
    rng = np.random.default_rng(1)
    large, anywhere = np.flatnonzero(found.parts == 0), np.flatnonzero(found.parts >= 0)
    picked = [
        rng.choice(anywhere if k % 4 == 3 else large, 2) for k in range(QUERIES)
    ]  # fmt: skip
    return found.open.points(np.array(picked))


def _levels_of_user() -> list[Level]:
    folder = os.environ.get("GAITWAY_MESHES")
    out = []
    for path in sorted(Path(folder).glob("*.obj")) if folder else []:
        asked = path.with_name(f"{path.stem}_queries.txt")
        lines = asked.read_text(encoding="utf-8").splitlines() if asked.exists() else []
        rows = [[float(word) for word in line.split()[1:7]] for line in lines if line.startswith("pf")]
        queries = np.array(rows).reshape(-1, 2, 3)[..., [2, 0, 1]]
        out.append(Level(path.name, load_mesh(path), queries))
    return out


def _recast(level: Level, queries: FloatArray, cell: float = CELL) -> dict[str, Any]:
    """Run Recast on a level with cells of a size [m]; return its times and answers, or what is missing."""
    node, folder = shutil.which("node"), os.environ.get("GAITWAY_RECAST", "")
    if node is None or not (Path(folder) / "node_modules" / "@recast-navigation").is_dir():
        return {"missing": "Recast: not installed, see gaitway.bench.levels"}
    limits = {"radius": LIMITS.radius, "headroom": LIMITS.headroom, "step": LIMITS.step, "slope": 45.0}
    asked = {
        "vertices": level.mesh.vertices[:, [1, 2, 0]].ravel().tolist(),
        "triangles": level.mesh.triangles.ravel().tolist(),
        "queries": queries[..., [1, 2, 0]].reshape(-1, 6).tolist(),
        "rounds": _ROUNDS,
        "cell": cell,
        "limits": limits,
    }
    script = Path(__file__).with_name("_recast_peer.mjs").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "level.json"
        file.write_text(json.dumps(asked), encoding="utf-8")
        try:
            done = subprocess.run(
                [node, "--input-type=module", "-"], input=script, capture_output=True, text=True, cwd=folder,
                env={**os.environ, "LEVEL": str(file)}, timeout=_SECONDS, check=True,
            )  # fmt: skip
        except (subprocess.SubprocessError, OSError) as problem:
            return {"missing": f"Recast: {type(problem).__name__}"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"missing": f"Recast: {found['error']}"} if "error" in found else found


def _label(peer: dict[str, Any]) -> str:
    return str(peer.get("missing", "Recast in WebAssembly"))
