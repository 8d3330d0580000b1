"""How good a hub graph is: what its cuts, its feet and takes that are played from it look like in numbers."""

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
from gaitway.motion.footskate import foot_slide
from gaitway.take.tracks import assemble, lay_track

_PARTS = ("heel", "ball", "toe")
_LEAST_TURN, _LEAST_STEP = 0.2, 0.02
"""Changes of speed below these are never judged [rad/s, m/s]: sources that hardly move would make them large shares."""
_PERCENTILE = 99.9


@dataclass(frozen=True, eq=False)
class Cuts:
    """All transitions of a graph: every clip that enters a hub with every clip that leaves it."""

    pairs: tuple[tuple[int, int], ...]
    turns: FloatArray
    """Greatest change of a joint's speed at each, as a share of the source's own 99.9th percentile; (cuts,)."""
    roots: FloatArray
    """The same of the root's speed; (cuts,)."""
    gap: float
    """Greatest difference of a clip's end to its common pose, in metres or radians."""


def usual_steps(motions: tuple[Clip, ...]) -> tuple[FloatArray, float]:
    """99.9th percentile of changes of speed from frame to frame: of joints [rad/s] (J,) and of the root [m/s]."""
    turns = np.percentile(np.concatenate([turn_steps(c) for c in motions]), _PERCENTILE, axis=0)
    roots = np.percentile(np.concatenate([root_steps(c) for c in motions]), _PERCENTILE)
    return np.maximum(turns, _LEAST_TURN), max(float(roots), _LEAST_STEP)


def measure_cuts(graph: HubGraph) -> Cuts:
    """Measure every transition."""
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
    """Speeds of joints (J, 3) and root (3,) beside one end of a clip, seen from the root's heading at that end."""
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
    """Slide of planted points in every stance [m]: in the captured frames of the graph's clips, and in the clips."""
    sources = [slice_frames(graph.motions.clips[e.motion], e.first, e.last + 1) for e in graph.clips]
    before = np.concatenate([foot_slide(clip, _PARTS) for clip in sources])
    after = np.concatenate([foot_slide(edge.clip, _PARTS) for edge in graph.clips])
    return before, after


def sinks(graph: HubGraph) -> tuple[float, float]:
    """How far points of feet are under the floor at most [m]: in captured frames, and in the clips."""
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
    """The audit of a take in which some characters play clips at random."""
    rng, tracks = np.random.default_rng(seed), []
    hubs = sorted({graph.clips[i].start for i in np.flatnonzero(graph.connected)})
    for number in range(walkers):
        hub = int(rng.choice(hubs)) if hubs else graph.clips[0].start
        chosen = random_clips(graph, length, rng, hub)
        clips = [graph.clips[i].clip for i in chosen]
        tracks.append(lay_track(f"walker-{number + 1}", clips, (0.0, 8.0 * number, 0.0)))
    return audit_take(assemble(tracks, graph.motions.fps))
