"""Benchmark of learning and sampling variation, beside a vectorised NumPy version and our own limits.

Times and limits are wall time. The name of a row also gives CPU time, which is more reliable on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from gaitway.bench._plain_variation import unroll_plainly
from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine, measure
from gaitway.cast.catalog import load_cast
from gaitway.motion.anatomy import PARTS
from gaitway.motion.clip import Clip
from gaitway.variation.evaluation.measures import cycle_lengths
from gaitway.variation.learning.learn import learn
from gaitway.variation.network.dofs import Dofs
from gaitway.variation.network.model import LearnOptions, VariationModel
from gaitway.variation.network.phase import align_phases
from gaitway.variation.network.regression import Noise, make_rows, unroll
from gaitway.variation.network.spread import TakeWeights
from gaitway.variation.network.transition import TransitionSearch, Trial, find_transition
from gaitway.variation.sampling.streaming import Stream
from gaitway.variation.sampling.synthesis import first_frames, sample_many

MOTION, TAKES, FRAMES = "duck", 4, 60
"""Motion, number of takes and of frames: four takes of about 100 frames and 62 degrees of freedom; one second at the
thesis's 60 Hz."""
STREAM_S, VARIANTS = 600.0, 20
NUMPY_TARGET, SECOND_LIMIT_MS, LEARN_LIMIT_MS = 5.0, 10.0, 60_000.0
SMALL_NODES = 6
"""Number of degrees of freedom of an example that the exact search finishes."""
REPEATS = 20
"""Number of syntheses over which CPU time is measured."""
EXACT_ROUNDS = 8
"""Number of edges that the exact search changes in the whole example."""

Result = TypeVar("Result")


def run() -> BenchTable:
    """Learn, sample and stream."""
    clips = list(load_cast("person", takes=TAKES, behaviors=[MOTION]).clips.values())
    learn(clips, LearnOptions(search=TransitionSearch(rounds=1)))  # compiles
    model, learnt, cpu = _clocked(lambda: learn(clips))
    size = f"{TAKES} takes x {np.mean(model.lengths):.0f} frames x {len(model.dofs)} DOFs"
    rows = (
        BenchRow(f"learn {size}, {cpu:.1f} CPU s", "limit: a minute", learnt, _once(LEARN_LIMIT_MS), 1.0),
        *_synthesis(model),
        _variants(model),
        _stream(model),
        _small_searches(clips),
        _first_edges(model),
    )
    title = f"variation: {size}, {model.rows.count} rows, {_parents(model):.1f} parents a node besides its own"
    return BenchTable(title, rows, machine())


def _clocked(task: Callable[[], Result]) -> tuple[Result, Timing, float]:
    """Return the result of a task, its wall time, and the CPU time of all threads [s]."""
    began, worked = time.perf_counter(), time.process_time()
    result = task()
    worked = time.process_time() - worked
    return result, _once(1e3 * (time.perf_counter() - began)), worked


def _once(milliseconds: float) -> Timing:
    return Timing(milliseconds, milliseconds, milliseconds)


def _parents(model: VariationModel) -> float:
    return float(model.transition.counts.mean())


def _synthesis(model: VariationModel) -> tuple[BenchRow, BenchRow]:
    """Time a second of motion, by the kernel and by NumPy, one thread each."""
    rng = np.random.default_rng(0)
    dials = np.ones(len(PARTS) + 1)
    mix = TakeWeights(rng, model.variation, np.inf).next(FRAMES, dials)
    start = first_frames(model, rng, mix[1:2])[0]
    phases = np.array([0.0, 1.0 / float(model.course.paces[0, 0])])
    noise = Noise(mix[None], model.variation.table, model.variation.gains)
    structure, parts = model.transition, model.dofs.parts

    def ours() -> object:
        return unroll(
            model.rows, structure, start[None], phases[None], FRAMES,
            course=model.course, noise=noise, parts=parts,
        )  # fmt: skip

    def plainly() -> object:
        return unroll_plainly(
            model.rows, structure, start, phases, FRAMES, course=model.course, noise=noise, parts=parts
        )

    timings = measure({"ours": ours, "numpy": plainly}, rounds=5)
    _, _, cpu = _clocked(lambda: [ours() for _ in range(REPEATS)])
    name = f"synthesis of {FRAMES} frames, one thread, {1e3 * cpu / REPEATS:.1f} CPU ms"
    return (
        BenchRow(name, "NumPy, vectorised", timings["ours"], timings["numpy"], NUMPY_TARGET),
        BenchRow(name, "limit: 10 ms a second", timings["ours"], _once(SECOND_LIMIT_MS), 1.0),
    )


def _variants(model: VariationModel) -> BenchRow:
    """Time whole variants as clips: first frames, network, detail, poses."""
    sample_many(model, np.random.default_rng(0), 1)
    clips, took, cpu = _clocked(lambda: sample_many(model, np.random.default_rng(0), VARIANTS))
    frames = sum(map(len, clips))
    name = f"{VARIANTS} variants, {frames} frames, {cpu:.2f} CPU s"
    return BenchRow(name, "limit: 10 ms for 60 frames", took, _once(SECOND_LIMIT_MS * frames / FRAMES), 1.0)


def _stream(model: VariationModel) -> BenchRow:
    """Time ten minutes of stream, and count its cycles by poses beside those of the takes."""
    frames = round(STREAM_S * model.dofs.fps)
    (values, _), took, cpu = _clocked(lambda: Stream(model, np.random.default_rng(0)).next(frames))
    lengths = cycle_lengths(model, values)
    takes = np.array(model.lengths) - 1
    name = (
        f"stream of {STREAM_S:.0f} s: {len(lengths)} cycles of {lengths.mean():.1f} +- {lengths.std():.1f} frames "
        f"(takes {takes.mean():.1f} +- {takes.std(ddof=1):.1f}), {cpu:.1f} CPU s"
    )
    return BenchRow(name, "limit: 10 ms a second", took, _once(SECOND_LIMIT_MS * STREAM_S), 1.0)


def _small_searches(clips: list[Clip]) -> BenchRow:
    """Time both searches on a few degrees of freedom, each until nothing improves, with their scores."""
    trial, search = small_trial(clips, SMALL_NODES)
    fast, ours, _ = _clocked(lambda: find_transition(trial, search, 0))
    exact, theirs, _ = _clocked(lambda: find_transition(trial, replace(search, exact=True), 0))
    name = f"structure of {SMALL_NODES} DOFs: score {fast.score:.0f} with {fast.structure.edge_count} edges"
    return BenchRow(name, f"exact search to its end: {exact.score:.0f} with {exact.structure.edge_count}", ours, theirs)


def _first_edges(model: VariationModel) -> BenchRow:
    """Time the first edges of the exact search on all degrees of freedom, beside the whole fast search."""
    options = model.options
    fixed = model.dofs.columns(options.given)
    trial = Trial.of(model.rows, model.takes, model.alignment.phases, options.search, fixed, options.seed)
    exact, theirs, cpu = _clocked(
        lambda: find_transition(trial, replace(options.search, exact=True, rounds=EXACT_ROUNDS), 0)
    )
    fast, ours, _ = _clocked(lambda: find_transition(trial, options.search, 0))
    name = f"structure of {len(fixed)} DOFs: score {fast.score:.0f} with {fast.structure.edge_count} edges"
    peer = f"exact search, first {exact.structure.edge_count} edges: {exact.score:.0f}, {cpu:.1f} CPU s"
    return BenchRow(name, peer, ours, theirs)


def small_trial(clips: list[Clip], nodes: int) -> tuple[Trial, TransitionSearch]:
    """Return a search over the first few degrees of freedom of takes."""
    dofs, options = Dofs.of(clips), LearnOptions()
    plain = [dofs.rows(clip)[:, :nodes] for clip in clips]
    pool = np.concatenate(plain)
    takes = [(rows - pool.mean(axis=0)) / pool.std(axis=0) for rows in plain]
    alignment = align_phases(takes)
    rows = make_rows(takes, alignment, False, options.kernel, dofs.fps)
    fixed = np.zeros(nodes, np.bool_)
    return Trial.of(rows, takes, alignment.phases, options.search, fixed, 0), options.search
