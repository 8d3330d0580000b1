"""Quality of a hub graph: measures of its cuts, of its feet, and the audit of a take that plays it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.audit import Report, audit_take
from gaitway.audit.sources import root_steps, turn_steps
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.graphs.snap.hub_graph import HubGraph
from gaitway.graphs.snap.playing import random_clips
from gaitway.motion.clip import Clip
from gaitway.motion.editing import slice_frames
from gaitway.motion.quality import foot_slide
from gaitway.take.tracks import assemble, lay_track

_PARTS = ("heel", "ball", "toe")
_LEAST_TURN, _LEAST_STEP = 0.2, 0.02
"""Least changes of velocity that others are divided by, of joints [rad/s] and of the root [m/s]."""
_PERCENTILE = 99.9


@dataclass(frozen=True, eq=False)
class Cuts:
    """Measures of all cuts of a graph: every clip that enters a hub with every clip that leaves it."""

    pairs: tuple[tuple[int, int], ...]
    """Numbers of both clips of each cut."""
    turns: FloatArray
    """Largest change of a joint's velocity at each cut, as a multiple of the source's 99.9th percentile; (cuts,)."""
    roots: FloatArray
    """Change of the root's velocity at each cut, as a multiple of the source's 99.9th percentile; (cuts,)."""
    gap: float
    """Largest difference between the end of a clip and its common pose [m or rad]."""


def usual_steps(motions: tuple[Clip, ...]) -> tuple[FloatArray, float]:
    """Return the 99.9th percentile of changes of velocity between frames: of joints [rad/s] (J,), of the root [m/s]."""
    turns = np.percentile(np.concatenate([turn_steps(c) for c in motions]), _PERCENTILE, axis=0)
    roots = np.percentile(np.concatenate([root_steps(c) for c in motions]), _PERCENTILE)
    return np.maximum(turns, _LEAST_TURN), max(float(roots), _LEAST_STEP)


def measure_cuts(graph: HubGraph) -> Cuts:
    """Measure every cut."""
    usual, usual_root = usual_steps(graph.motions.clips)
    ends = [_velocities(edge.clip, last=True) for edge in graph.clips]
    starts = [_velocities(edge.clip, last=False) for edge in graph.clips]
    pairs, turns, roots = list[tuple[int, int]](), [], []
    for a, before in enumerate(graph.clips):
        for b in graph.leaving(before.end):
            pairs.append((a, b))
            turns.append(float((np.linalg.norm(starts[b][0] - ends[a][0], axis=-1) / usual).max()))
            roots.append(float(np.linalg.norm(starts[b][1] - ends[a][1])) / usual_root)
    return Cuts(tuple(pairs), np.array(turns), np.array(roots), _gap(graph))


def _velocities(clip: Clip, *, last: bool) -> tuple[FloatArray, FloatArray]:
    """Return the velocities of joints (J, 3) and root (3,) at one end of a clip, relative to the heading there."""
    rows = slice(-2, None) if last else slice(0, 2)
    heading = float(clip.headings()[-1 if last else 0])
    back = rotations.from_yaw(-heading)
    local = np.array(clip.rotations[rows])
    local[:, 0] = rotations.multiply(back, local[:, 0])
    turned = rotations.multiply(local[1], rotations.conjugate(local[0]))
    drift = np.diff(clip.root_positions[rows], axis=0)[0] * clip.fps
    return rotations.to_rotation_vector(turned) * clip.fps, rotations.rotate(back, drift)


def _gap(graph: HubGraph) -> float:
    worst = 0.0
    for edge in graph.clips:
        path = edge.clip.planar_path()
        for frame, hub in ((0, edge.start), (-1, edge.end)):
            anchor = graph.hubs[hub].pose.anchor(0, path[frame])
            away = np.abs(anchor.root - edge.clip.root_positions[frame]).max()
            turn = rotations.angle_between(anchor.rotations, edge.clip.rotations[frame]).max()
            worst = max(worst, float(away), float(turn))
    return worst


def slides(graph: HubGraph) -> tuple[FloatArray, FloatArray]:
    """Return the slides of planted points in every stance [m]: in the source frames of the clips, and in the clips."""
    sources = [slice_frames(graph.motions.clips[e.motion], e.first, e.last + 1) for e in graph.clips]
    before = np.concatenate([foot_slide(clip, _PARTS) for clip in sources])
    after = np.concatenate([foot_slide(edge.clip, _PARTS) for edge in graph.clips])
    return before, after


def sinks(graph: HubGraph) -> tuple[float, float]:
    """Return the largest depth of a foot under the floor [m]: in the source frames, and in the clips."""
    lowest = [
        (
            float(graph.motions.clips[e.motion].contact_positions()[e.first : e.last + 1, :, 2].min()),
            float(e.clip.contact_positions()[..., 2].min()),
        )
        for e in graph.clips
    ]
    source, result = np.maximum(-np.array(lowest), 0.0).max(axis=0)
    return float(source), float(result)


def audited(graph: HubGraph, seed: int, walkers: int = 6, length: int = 12) -> Report:
    """Return the audit of a take in which some characters play random clips."""
    rng, tracks = np.random.default_rng(seed), []
    hubs = sorted({graph.clips[i].start for i in np.flatnonzero(graph.connected)})
    for number in range(walkers):
        hub = int(rng.choice(hubs)) if hubs else graph.clips[0].start
        chosen = random_clips(graph, length, rng, hub)
        clips = [graph.clips[i].clip for i in chosen]
        tracks.append(lay_track(f"walker-{number + 1}", clips, (0.0, 8.0 * number, 0.0)))
    return audit_take(assemble(tracks, graph.motions.fps))
