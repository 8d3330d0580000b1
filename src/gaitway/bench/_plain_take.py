"""Plain and slow evaluation of takes by NumPy alone, as `Segments` and `Layer` document it; used to test takes."""

from __future__ import annotations

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.blending import ease
from gaitway.motion.kinematics import forward_kinematics
from gaitway.take.model import Take

_SNAP = 1e-6


def plain_joints(take: Take, characters: IntArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return world positions (N, J, 3) and rotations (N, J, 4) of the joints of characters with one body at N times."""
    root, local = plain_poses(take, characters, times)
    return forward_kinematics(take.skeletons[take.bodies[characters[0]]], root, local)


def plain_poses(take: Take, characters: IntArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return root positions (N, 3) and local rotations (N, J, 4) of characters with one body at N times."""
    times = np.clip(times, take.starts[characters], take.ends[characters])
    segment = _segments(take, characters, times)
    root, local = _of_clips(take, segment, times)
    since = times - take.segments.start[segment]
    fading = np.flatnonzero(since < take.segments.blend[segment] - 1e-9)
    if len(fading):
        root[fading], local[fading] = _fading(take, segment[fading], times[fading])
    return _layered(take, characters, times, root, local)


def _segments(take: Take, characters: IntArray, times: FloatArray) -> IntArray:
    """Return the last segment of each character that has begun at its time."""
    begun = [
        take.rows[c] + np.searchsorted(take.segments.start[take.rows[c] : take.rows[c + 1]], t + 1e-9, "right") - 1
        for c, t in zip(characters, times, strict=True)
    ]
    return np.maximum(np.array(begun, dtype=np.int64), take.rows[characters])


def _of_clips(take: Take, segment: IntArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the poses of the segments' clips at these times, placed in the world, without fades."""
    table = take.segments
    joints = len(take.clips[table.clip[segment[0]]].skeleton)
    root, local = np.empty((len(segment), 3)), np.empty((len(segment), joints, 4))
    for number in np.unique(table.clip[segment]):
        clip, chosen = take.clips[number], np.flatnonzero(table.clip[segment] == number)
        s = segment[chosen]
        at = (table.offset[s] + table.speed[s] * (times[chosen] - table.start[s])) * clip.fps
        at = np.clip(np.where(np.abs(at - np.round(at)) < _SNAP, np.round(at), at), 0.0, len(clip) - 1.0)
        low = np.floor(at).astype(np.int64)
        high, t = np.minimum(low + 1, len(clip) - 1), (at - low)[:, None]
        local[chosen] = rotations.slerp(clip.rotations[low], clip.rotations[high], t)
        root[chosen] = clip.root_positions[low] + t * (clip.root_positions[high] - clip.root_positions[low])
    pose = table.pose[segment]
    root[:, :2] = planar.transform_points(pose, root[:, :2])
    root[:, 2] += table.height[segment]
    local[:, 0] = rotations.multiply(rotations.from_yaw(pose[:, 2]), local[:, 0])
    return root, local


def _fading(take: Take, segment: IntArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return poses in fades.

    The root is blended at the time itself. Joints are blended at the frames of the clip that fades in, and
    interpolated.
    """
    table = take.segments
    root, turned = _blended(take, segment, times)
    rate = np.array([clip.fps for clip in take.clips])[table.clip[segment]]
    at = (table.offset[segment] + table.speed[segment] * (times - table.start[segment])) * rate
    at = np.where(np.abs(at - np.round(at)) < _SNAP, np.round(at), at)
    low = np.floor(at)
    samples = []
    for frame in (low, low + 1.0):
        when = table.start[segment] + (frame / rate - table.offset[segment]) / table.speed[segment]
        samples.append(_blended(take, segment, when)[1])
    local = rotations.slerp(samples[0], samples[1], (at - low)[:, None])
    local[:, 0] = turned[:, 0]
    return root, local


def _blended(take: Take, segment: IntArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    table = take.segments
    weight = ease((times - table.start[segment]) / table.blend[segment])
    root_a, local_a = _of_clips(take, segment - 1, times)
    root_b, local_b = _of_clips(take, segment, times)
    return root_a + weight[:, None] * (root_b - root_a), rotations.slerp(local_a, local_b, weight[:, None])


def _layered(
    take: Take, characters: IntArray, times: FloatArray, root: FloatArray, local: FloatArray
) -> tuple[FloatArray, FloatArray]:
    for layer in take.layers:
        at = (times - layer.start) * take.fps
        at = np.where(np.abs(at - np.round(at)) < _SNAP, np.round(at), at)
        chosen = np.flatnonzero((characters == layer.character) & (at >= 0.0) & (at <= len(layer) - 1.0))
        if not len(chosen):
            continue
        low = np.floor(at[chosen]).astype(np.int64)
        high, t = np.minimum(low + 1, len(layer) - 1), at[chosen] - low
        for k, joint in enumerate(layer.joints):
            turn = rotations.slerp(layer.turns[low, k], layer.turns[high, k], t)
            local[chosen, joint] = rotations.multiply(local[chosen, joint], turn)
        if layer.root_turns is not None:
            turn = rotations.slerp(layer.root_turns[low], layer.root_turns[high], t)
            local[chosen, 0] = rotations.multiply(turn, local[chosen, 0])
        if layer.root_moves is not None:
            moves = layer.root_moves.astype(np.float64)
            root[chosen] += moves[low] + t[:, None] * (moves[high] - moves[low])
    return root, local
