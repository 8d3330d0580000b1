"""Benchmark of loading a capture and of forward kinematics, beside upc-pymotion and bvhio."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from gaitway.bench._timing import BenchRow, BenchTable, Timing, installed, machine, measure, peer_label
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.motion.clip import Clip
from gaitway.motion.formats import load_clip, save_clip
from gaitway.motion.skeleton import Skeleton

FRAMES, JOINTS = 3000, 31
LOAD_TARGET, KINEMATICS_TARGET = 8.0, 20.0
_PYMOTION, _BVHIO = "upc-pymotion", "bvhio"


def run() -> BenchTable:
    """Load a BVH file of 3,000 frames and 31 joints, and compute its joint positions (one thread)."""
    clip = _walk_like_noise()
    with tempfile.TemporaryDirectory() as folder, _quiet_logging():
        path = Path(folder) / "bench.bvh"
        save_clip(clip, path)
        loading = measure(_loaders(path))
    kinematics = measure(_kinematics(clip))
    load_name, forward_name = "load the BVH", "FK, one thread"
    rows = (
        _row(load_name, _PYMOTION, loading, LOAD_TARGET),
        _row(load_name, _BVHIO, loading, None),
        _row(forward_name, _PYMOTION, kinematics, KINEMATICS_TARGET),
    )
    title = f"motion: {FRAMES} frames x {JOINTS} joints; median, fastest and slowest of 7 interleaved rounds"
    return BenchTable(title, rows, machine((_PYMOTION, _BVHIO)))


def _row(name: str, peer: str, timings: dict[str, Timing], target: float | None) -> BenchRow:
    return BenchRow(name, peer_label(peer), timings["gaitway"], timings.get(peer), target)


def _walk_like_noise() -> Clip:
    """Return a clip of the right size: the built-in person with six more joints, all in smooth random motion."""
    person = person_skeleton()
    extra = JOINTS - len(person)
    hand = person.index("LeftHand")
    skeleton = Skeleton(
        names=(*person.names, *(f"Finger{i}" for i in range(extra))),
        parents=np.append(person.parents, np.full(extra, hand)),
        offsets=np.concatenate([person.offsets, np.full((extra, 3), 0.05)]),
        name="bench",
    )
    rng = np.random.default_rng(0)
    vectors = np.cumsum(rng.normal(0.0, 0.01, (FRAMES, JOINTS, 3)), axis=0)
    roots = np.cumsum(rng.normal(0.0, 0.01, (FRAMES, 3)), axis=0)
    return Clip(skeleton, roots, rotations.from_rotation_vector(vectors), 60.0, "bench")


def _loaders(path: Path) -> dict[str, Callable[[], object]]:
    tasks: dict[str, Callable[[], object]] = {"gaitway": lambda: load_clip(path)}
    if installed(_PYMOTION):
        from pymotion.io.bvh import BVH  # noqa: PLC0415  (an extra)

        tasks[_PYMOTION] = lambda: BVH().load(str(path))
    if installed(_BVHIO):
        import bvhio  # noqa: PLC0415  (an extra)

        tasks[_BVHIO] = lambda: bvhio.readAsBvh(str(path))
    return tasks


def _kinematics(clip: Clip) -> dict[str, Callable[[], object]]:
    tasks: dict[str, Callable[[], object]] = {"gaitway": clip.joint_positions}
    if installed(_PYMOTION):
        from pymotion.ops.skeleton import fk  # noqa: PLC0415  (an extra)

        parents = np.array(clip.skeleton.parents)
        parents[0] = 0  # its convention for the root
        local, roots, offsets = (np.array(a) for a in (clip.rotations, clip.root_positions, clip.skeleton.offsets))
        tasks[_PYMOTION] = lambda: fk(local, roots, offsets, parents)
    return tasks


@contextmanager
def _quiet_logging() -> Iterator[None]:
    """Switch off the log messages of peers and readers, so that only the table is printed."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
