"""Benchmark of pose distances beside plain NumPy, and of walks along paths beside their duration."""

from __future__ import annotations

import numpy as np

from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine, measure
from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray
from gaitway.graphs.clouds import Clouds
from gaitway.graphs.corpus import Corpus, library_corpus
from gaitway.graphs.distance import distances
from gaitway.graphs.kovar.building import build_graph
from gaitway.graphs.kovar.following import PathFollower
from gaitway.graphs.kovar.paths import spline
from gaitway.graphs.kovar.steering import steering_table
from gaitway.graphs.kovar.transitions import TransitionThresholds
from gaitway.graphs.minima import corpus_minima

FRAMES, FEW, SEARCHED = 6000, 700, 3000
"""Number of frames of the whole matrix, of the matrix that NumPy computes too, and of the graph that is searched."""
MATRIX_MS = 3000.0
"""Target: greatest time for the whole matrix [ms]."""
FASTER = 20.0
"""Target: ratio of the duration of a walk to the time of its search."""


def run() -> BenchTable:
    """Time pose distances of 700 and of 6,000 frames, and walks of a minute and steering in a graph of 3,000 frames."""
    motions = _walker(FRAMES / 30.0)
    clouds = motions.clouds
    whole, few = clouds.chosen(np.arange(min(FRAMES, len(clouds)))), clouds.chosen(np.arange(min(FEW, len(clouds))))
    small = measure({"gaitway": lambda: distances(few, few), "numpy": lambda: row_wise(few, few)}, rounds=3)
    large = measure(
        {"matrix": lambda: distances(whole, whole), "minima": lambda: corpus_minima(whole, 0.05, 9)}, rounds=3
    )
    rows = [
        BenchRow(f"distances, {len(few):,} frames", "NumPy, row by row", small["gaitway"], small["numpy"], 5.0),
        BenchRow(
            f"distances, {len(whole):,} frames", "meant: 3 s; paper: 25 min", large["matrix"], _lasts(MATRIX_MS), 1.0
        ),
        BenchRow(f"minima, {len(whole):,} frames", "meant: 3 s", large["minima"], _lasts(MATRIX_MS), 1.0),
        *_searches(_walker(SEARCHED / 30.0)),
    ]
    return BenchTable("graphs: the built-in person; median, fastest and slowest", tuple(rows), machine())


def row_wise(a: Clouds, b: Clouds) -> FloatArray:
    """Compute distances by the closed form, for one frame of `a` and all frames of `b` at a time; (A, B) [m]."""
    level_b, heights_b = b.centred(np.arange(len(b)))
    level_a, heights_a = a.centred(np.arange(len(a)))
    out = np.empty((len(a), len(b)))
    for i in range(len(a)):
        turn = np.exp(1j * np.angle(np.sum(level_a[i] * level_b.conj(), axis=1)))
        gap = level_a[i] - turn[:, None] * level_b
        out[i] = np.sum(gap.real**2 + gap.imag**2 + (heights_a[i] - heights_b) ** 2, axis=1)
    return np.sqrt(out)


def _walker(seconds: float) -> Corpus:
    return library_corpus(load_cast("person"), seconds, np.random.default_rng(0), states=("walk",), actions=())


def _searches(motions: Corpus) -> list[BenchRow]:
    graph = build_graph(motions, TransitionThresholds(ease=1.0))
    follower = PathFollower(graph)
    bends = spline([(0, 0), (8, 4), (16, -4), (24, 4), (32, -4), (40, 4), (48, -4), (56, 0)])
    walk = follower.follow(bends, "walk").walk
    found = measure({"gaitway": lambda: follower.follow(bends, "walk")}, rounds=3)["gaitway"]
    table = measure({"gaitway": lambda: steering_table(graph, ("walk",))}, rounds=3)["gaitway"]
    length = f"{walk.duration:.0f} s along a path, {len(motions):,} frames"
    return [
        BenchRow(length, "the motion's own time; paper: 1", found, _lasts(1e3 * walk.duration), FASTER),
        BenchRow(f"steering table, {len(graph.node_frames):,} nodes", "", table, None),
    ]


def _lasts(milliseconds: float) -> Timing:
    return Timing(milliseconds, milliseconds, milliseconds)
