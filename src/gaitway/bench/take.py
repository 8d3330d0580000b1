"""Benchmark of the poses of ten thousand characters, beside bare forward kinematics and a plain NumPy evaluator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.bench._plain_take import plain_joints
from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine, measure
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, read_only
from gaitway.library.behavior import Library
from gaitway.motion import _kernels
from gaitway.take.data import Layer
from gaitway.take.model import Take
from gaitway.take.tracks import ClipEnds, assemble, lay_track

CHARACTERS = 10_000
SECONDS = 20.0
TARGET = 0.333
"""Target: at most three times the time of bare forward kinematics for everything."""
_BARE, _NUMPY = "FK kernel alone", "plain NumPy"
_BEHAVIORS = (
    "walk_forward", "walk_short", "walk_left_15", "walk_right_15", "walk_left_30", "walk_right_30", "walk_left_45",
    "walk_right_45", "walk_to_jog", "jog_to_walk", "jog_forward", "jog_left_15", "jog_right_15", "duck", "jump",
)  # fmt: skip


def run() -> BenchTable:
    """Evaluate one moment of a crowd: segment look-up, blending, placement and forward kinematics (one thread)."""
    library = load_cast("person", behaviors=_BEHAVIORS)
    cuts, fades = crowd(library, CHARACTERS, SECONDS), crowd(library, CHARACTERS, SECONDS, blend=0.3)
    on, off = 10.0, 10.0 + 0.4 / cuts.fps
    moments = {
        "cuts, on a frame": (cuts, on),
        "cuts, between frames": (cuts, off),
        f"fades ({fading_share(fades, on):.0%} fading), on a frame": (fades, on),
        "fades, between frames": (fades, off),
        "fades and a layer each, between frames": (with_layers(fades), off),
    }
    rows = []
    for name, (take, time) in moments.items():
        timings = _timed(take, time)
        rows.append(BenchRow(name, _BARE, timings["gaitway"], timings[_BARE], None if take.layers else TARGET))
    plain = _timed_plain(fades, off)
    rows.append(BenchRow("fades, between frames", _NUMPY, plain["gaitway"], plain[_NUMPY]))
    joints = len(library.skeleton)
    title = f"take: {CHARACTERS} characters x {joints} joints at one time; median, fastest and slowest of 7 rounds"
    return BenchTable(title, tuple(rows), machine())


def crowd(library: Library, count: int, seconds: float, blend: float = 0.0, seed: int = 0) -> Take:
    """Return a take in which all characters play random behaviours for a time [s]."""
    rng = np.random.default_rng(seed)
    graph, ends, tracks = library.graph, ClipEnds(), []
    following = {b.name: graph.followers(b.name) for b in graph.behaviors}
    for i in range(count):
        clips, length, name = [], -rng.uniform(0.0, 2.0), graph.behaviors[rng.integers(len(graph.behaviors))].name
        start = length
        while length < seconds:
            clips.append(library.clips[graph[name].clips[0]])
            length += clips[-1].duration - blend
            name = following[name][rng.integers(len(following[name]))]
        pose = (*rng.uniform(-100.0, 100.0, 2), rng.uniform(-np.pi, np.pi))
        tracks.append(lay_track(f"person-{i}", clips, pose, np.round(start * 30.0) / 30.0, blend, ends=ends))
    return assemble(tracks)


def fading_share(take: Take, time: float) -> float:
    """Return the share of the characters that are in a fade at a time [s]."""
    table = take.segments
    return float(((table.start <= time) & (time < table.start + table.blend)).sum() / len(take))


def with_layers(take: Take) -> Take:
    """Return the take with a layer of three joints and the root on every character."""
    turns = rotations.from_rotation_vector(np.full((30, 3, 3), 0.05)).astype(np.float32)
    moves = np.full((30, 3), 0.01, dtype=np.float32)
    layers = [Layer(c, 9.5, np.array([5, 6, 7]), turns, turns[:, 0], moves) for c in range(len(take))]
    return replace(take, layers=tuple(layers))


def _timed(take: Take, time: float) -> dict[str, Timing]:
    (poses,) = take.poses(time)
    skeleton, count = take.skeletons[0], len(poses)
    root, local = read_only(poses.root_positions), read_only(poses.rotations)
    positions: FloatArray = np.empty((count, len(skeleton), 3))
    world: FloatArray = np.empty((count, len(skeleton), 4))
    return measure({
        "gaitway": lambda: take.joints(time),
        _BARE: lambda: _kernels.forward_kinematics(
            skeleton.parents, skeleton.offsets, root, local, positions, world
        ),
    })  # fmt: skip


def _timed_plain(take: Take, time: float) -> dict[str, Timing]:
    present = take.present(time)
    times = np.full(len(present), time)
    return measure({"gaitway": lambda: take.joints(time), _NUMPY: lambda: plain_joints(take, present, times)}, rounds=3)
