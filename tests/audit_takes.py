"""Clean takes of the built-in person, and plain (slow, unrelated) measures of them, for tests of the audit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from gaitway.audit import Report
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.motion.body import CapsuleBody, capsule_body
from gaitway.motion.clip import Clip
from gaitway.take.data import Layer
from gaitway.take.model import Take
from gaitway.take.tracks import Track, assemble, lay_track
from gaitway.world import Mover, Obstacle, World

OPEN = World((-50.0, -50.0, 50.0, 50.0))
WALK = ("stand", "start_walk", "walk_forward", "walk_forward", "stop_walk", "stand")
JOG = ("start_jog", "jog_forward", "jog_forward", "stop_jog")
STAND = ("stand",)
STAIRS = ("start_walk", "start_stairs_up", "stairs_up", "stop_stairs_up", "stop_walk")


@cache
def clips() -> dict[str, Clip]:
    return dict(load_cast("person", behaviors=sorted({*WALK, *JOG, *STAIRS})).clips)


def body() -> CapsuleBody:
    return capsule_body(clips()["stand"].skeleton)


def joint(name: str) -> int:
    return clips()["stand"].skeleton.index(name)


def track(name: str = "ada", words: tuple[str, ...] = WALK, pose=(0.0, 0.0, 0.0), start: float = 0.0, **more) -> Track:
    return lay_track(name, [clips()[w] for w in words], pose, start, **more)


def take_with(*tracks: Track, **facts: str) -> Take:
    return assemble(tracks, facts=facts)


def violated(report: Report) -> set[str]:
    """Names of the rows with a violation, whether it decides or not."""
    return {row.name for row in report.rows if row.violations}


def segments(take: Take, character: int = 0, fps: float | None = None) -> np.ndarray:
    """Axes of the capsules in every frame, by the body's own NumPy; (F, C, 2, 3)."""
    clip = take.clip(character, fps)
    return capsule_body(clip.skeleton).segments(*clip.joint_transforms())


def widest(take: Take, axis: int, sign: int, character: int = 0) -> tuple[float, int, int]:
    """How far a body reaches along an axis [m], in which frame and with which capsule."""
    reach = (sign * segments(take, character)[..., axis]).max(axis=-1) + body().radii
    frame, part = np.unravel_index(np.argmax(reach), reach.shape)
    return float(reach[frame, part]), int(frame), int(part)


def shift(take: Take, moves: np.ndarray, start: float, character: int = 0) -> Take:
    """The take with a root that is moved by (F, 3) [m] from a time on."""
    turns = np.empty((len(moves), 0, 4))
    layer = Layer(character, start, np.empty(0, np.int64), turns, root_moves=np.asarray(moves))
    return replace(take, layers=(*take.layers, layer))


def turn(take: Take, name: str, angles: np.ndarray, axis, start: float, character: int = 0) -> Take:
    """The take with a joint that is turned by (F,) [rad] about an axis of its own from a time on."""
    turns = rotations.from_axis_angle(np.asarray(axis), np.asarray(angles))[:, None]
    layer = Layer(character, start, np.array([joint(name)]), turns)
    return replace(take, layers=(*take.layers, layer))


def ramp(seconds: float, rise: float, fps: float = 30.0) -> np.ndarray:
    """From 0 to 1 over `rise` seconds, smoothly, then 1 up to `seconds`."""
    x = np.clip(np.arange(int(seconds * fps) + 1) / (rise * fps), 0.0, 1.0)
    return x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)


def segment_gap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distance of segments (..., 2, 3): the least of the four ends to the other one, and of lines that cross."""
    a, b = np.broadcast_arrays(a, b)
    gaps = [np.linalg.norm(_nearest(a[..., i, :], b) - a[..., i, :], axis=-1) for i in range(2)]
    gaps += [np.linalg.norm(_nearest(b[..., i, :], a) - b[..., i, :], axis=-1) for i in range(2)]
    u, v, w = a[..., 1, :] - a[..., 0, :], b[..., 1, :] - b[..., 0, :], a[..., 0, :] - b[..., 0, :]
    across = np.cross(u, v)
    square = np.sum(across**2, axis=-1)
    safe = np.maximum(square, 1e-30)
    s, t = np.sum(np.cross(v, w) * across, axis=-1) / safe, np.sum(np.cross(u, w) * across, axis=-1) / safe
    crossing = (square > 1e-16) & (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    line = np.abs(np.sum(w * across, axis=-1)) / np.sqrt(safe)
    return np.minimum(np.minimum.reduce(gaps), np.where(crossing, line, np.inf))


def _nearest(point: np.ndarray, segment: np.ndarray) -> np.ndarray:
    along = segment[..., 1, :] - segment[..., 0, :]
    square = np.maximum(np.sum(along**2, axis=-1), 1e-18)
    share = np.clip(np.sum((point - segment[..., 0, :]) * along, axis=-1) / square, 0.0, 1.0)
    return segment[..., 0, :] + share[..., None] * along


def deepest_meeting(a: np.ndarray, b: np.ndarray) -> float:
    """How deep bodies (F, C, 2, 3) with the person's radii lie in one another [m], at most over all frames."""
    radii = body().radii
    gap = segment_gap(a[:, :, None], b[:, None])
    return float((radii[:, None] + radii - gap).max())


def world_of(*obstacles: Obstacle, movers: tuple[Mover, ...] = ()) -> World:
    """The open place with obstacles and movers in it."""
    return World(OPEN.bounds, obstacles, movers)
