"""Layers that give the characters of a take a gaze, a life while they stand, and arms and nods of their own.

Only joints above the hips turn. Roots, legs and contacts stay as they are, and so does what was planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy.ndimage import gaussian_filter1d, minimum_filter1d

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.performing.upper_body.crowd import Onlookers
from gaitway.performing.upper_body.gaze import Gaze, gaze_of
from gaitway.performing.upper_body.idling import TakenPlaces, arms, bowed, drawn_ways, sway
from gaitway.performing.upper_body.rig import UpperBody, missing_for_gaze, upper_body
from gaitway.performing.upper_body.surroundings import Surroundings
from gaitway.take.data import Layer
from gaitway.take.model import Take
from gaitway.world.world import World

LAYER = "upper body"
"""Name of the layers."""
_KEPT = 0.5
"""Share of the quick turning of a clip's own head, of each step, that is kept."""
_QUICK = 0.22
"""Standard deviation of the filter that tells quick from slow turning [s]."""
_UPRIGHT = (0.80, 0.93)
"""Cosines of the lean of a trunk between which the layer fades in."""
_STEP = np.round(2.0**-15, 12)
"""Step of the samples, so that they pack well."""
_NEAR_SPECIAL = 0.9
"""Time around a special obstacle in which arms and nods stay as the clips have them [s]."""


class UpperBodies(NamedTuple):
    """A take with upper bodies, and who has none."""

    take: Take
    remarks: tuple[str, ...]
    """One line for each skeleton that cannot look anywhere."""


def with_upper_bodies(
    take: Take, world: World, *, seed: int = 0, who: Sequence[str] | None = None
) -> UpperBodies:
    """Let the characters of a take look where people look, stand as people stand, and swing arms of their own.

    Any take will do. Layers that it has stay; layers of this function are made anew.

    Args:
        take: the take.
        world: its place.
        seed: seed of all that is drawn; each character draws by its name.
        who: names of the characters that get a layer; None for all.
    """
    take = replace(take, layers=tuple(layer for layer in take.layers if layer.name != LAYER))
    seen, places, around = Onlookers.of(take), TakenPlaces(), Surroundings.of(world)
    chosen = range(len(take)) if who is None else [take.index(name) for name in who]
    layers = [_layer(take, c, around, seen, places, seed) for c in chosen]
    found = tuple(layer for layer in layers if layer is not None)
    lacking = [s for k, s in enumerate(take.skeletons) if missing_for_gaze(s) and (take.bodies[list(chosen)] == k).any()]
    remarks = tuple(f"skeleton '{s.name}': {missing_for_gaze(s)}; its upper body stays as its clips have it"
                    for s in lacking)  # fmt: skip
    return UpperBodies(replace(take, layers=(*take.layers, *found)) if found else take, remarks)


def _layer(take: Take, character: int, around: Surroundings, seen: Onlookers, places: TakenPlaces, seed: int) -> Layer | None:
    body = upper_body(take.skeletons[int(take.bodies[character])])
    clip = take.clip(character)
    if body is None or len(clip) < 3:
        return None
    rng = np.random.default_rng([seed, crc32(take.names[character].encode()), 18])
    start = take.start(character)
    rotated = clip.joint_transforms()[1]
    gaze = gaze_of(clip, character, start, seen, around, take.goals[character], rng)
    upright = _upright(body, rotated, clip.fps)
    vectors = np.zeros((len(clip), len(body.joints), 3))
    _look(body, clip, rotated, gaze, vectors)
    calm = upright * (1.0 - _passing(around, clip))
    _swing(body, clip, rotated, gaze, calm, rng, vectors)
    vectors *= upright[:, None, None]
    turns = rotations.from_rotation_vector(vectors)
    _stand(body, clip, gaze, character, start, around, seen, places, rng, turns, upright)
    turns = _packed(np.concatenate([turns, turns[-1:]]))
    return Layer(character, start, body.joints, turns, name=LAYER)


def _look(body: UpperBody, clip: Clip, world: FloatArray, gaze: Gaze, vectors: FloatArray) -> None:
    """Turn trunk, neck and head to where the character looks (in place)."""
    head = body.column("head")
    ahead = rotations.rotate(world[:, body.joints[head]], body.axes[head, 0])
    own = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))
    slow = gaussian_filter1d(own, _QUICK * clip.fps, mode="nearest")
    wanted = gaze.yaw + _KEPT * (own - slow)
    chest = gaze.chest
    rest = (wanted - own + np.pi) % (2.0 * np.pi) - np.pi
    # nobody looks backward: there the clip's own head fades in
    rest = np.clip(rest, -1.2, 1.2) * np.clip((2.5 - np.abs(rest)) / 0.7, 0.0, 1.0) - chest
    neck = body.column("neck")
    spine = body.column("spine")
    shares = {"head": 0.6 if neck >= 0 else 1.0, "neck": 0.4}
    for role, share in shares.items():
        row = body.column(role)
        if row >= 0:
            vectors[:, row] += np.outer(share * rest, body.axes[row, 2]) + np.outer(share * gaze.pitch, body.axes[row, 1])
    for role, share in {"chest": 0.6 if spine >= 0 else 1.0, "spine": 0.4}.items():
        row = body.column(role)
        if row >= 0:
            vectors[:, row] += np.outer(share * chest, body.axes[row, 2])
    for row in (k for k, role in enumerate(body.roles) if role == "eye"):
        vectors[:, row] += np.outer(gaze.eye_yaw, body.axes[row, 2]) + np.outer(gaze.eye_pitch, body.axes[row, 1])


def _swing(
    body: UpperBody, clip: Clip, world: FloatArray, gaze: Gaze, calm: FloatArray, rng: np.random.Generator,
    vectors: FloatArray,
) -> None:  # fmt: skip
    """Make arms swing and the head nod by a person's own measure, which changes from cycle to cycle (in place)."""
    fps, count = clip.fps, len(clip)
    apart, freer = rng.uniform(0.10, 0.28), 1.0 if rng.uniform() < 0.5 else -1.0
    weight = calm * gaze.moving
    for side, sign in (("left", 1.0), ("right", -1.0)):
        # one arm swings less; none swings much farther than in the clip, which has room for that
        factor = np.clip((-apart if sign == freer else 0.0) + 0.06 * _noise(count, 0.6 * fps, rng), -0.4, 0.05)
        for part in ("shoulder", "elbow"):
            row = body.column(f"{side}_{part}")
            if row < 0:
                continue
            turns = rotations.continuous(clip.rotations[:, body.joints[row]])
            middle = rotations.normalize(gaussian_filter1d(turns, 0.75 * fps, axis=0, mode="nearest"))
            away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(middle), turns))
            vectors[:, row] += (weight * factor)[:, None] * away
    row = body.column("head")
    nose = rotations.rotate(world[:, body.joints[row]], body.axes[row, 0])
    pitch = -np.arcsin(np.clip(nose[:, 2], -1.0, 1.0))
    quick = pitch - gaussian_filter1d(pitch, 0.5 * fps, mode="nearest")
    own = rng.normal(0.0, 0.12) + 0.18 * _noise(count, 0.6 * fps, rng)
    vectors[:, row] += np.outer(weight * own * quick, body.axes[row, 1])


def _stand(
    body: UpperBody, clip: Clip, gaze: Gaze, character: int, start: float, around: Surroundings, seen: Onlookers,
    places: TakenPlaces, rng: np.random.Generator, turns: FloatArray, upright: FloatArray,
) -> None:  # fmt: skip
    """Add the life of a body that stands (in place)."""
    fps = clip.fps
    for a, b in gaze.stands:
        span = (start + a / fps, start + b / fps)
        last = b >= len(clip) - 1
        fade = ease(np.clip((np.arange(b - a) + 1) / (0.6 * fps), 0.0, 1.0)) if a > 0 else np.ones(b - a)
        if not last:
            fade = fade * ease(np.clip((b - a - np.arange(b - a)) / (0.6 * fps), 0.0, 1.0))
        small = sway(body, start + np.arange(a, b) / fps, rng)
        place = clip.root_positions[a:b, :2].mean(axis=0)
        middle = np.array(clip.rotations[(a + b) // 2])
        held = drawn_ways(body, middle, place, span, fps, a == 0, last, around.room(place), character, seen, places, rng)
        small[:, body.column("head")] += np.outer(bowed(held, b - a), body.axes[body.column("head"), 1])
        _companions(body, clip, gaze, (a, b), character, start, seen, small)
        moved = rotations.from_rotation_vector((fade * upright[a:b])[:, None, None] * small)
        turns[a:b] = rotations.multiply(turns[a:b], rotations.multiply(arms(body, held, b - a), moved))


def _companions(
    body: UpperBody, clip: Clip, gaze: Gaze, span: tuple[int, int], character: int, start: float, seen: Onlookers,
    small: FloatArray,
) -> None:  # fmt: skip
    """Turn the trunk a little toward companions who stand near (in place)."""
    a, b = span
    others, own = seen.near(character, start + a / clip.fps, start + b / clip.fps, 2.5)
    if not own.any():
        return
    k = seen.index(start + 0.5 * (a + b) / clip.fps)
    away = seen.places[others[own], k, :2].mean(axis=0) - seen.places[character, k, :2]
    angle = np.arctan2(away[1], away[0]) - float(clip.headings()[(a + b) // 2])
    angle = float(np.clip((angle + np.pi) % (2.0 * np.pi) - np.pi, -0.9, 0.9))
    for role, share in (("spine", 0.12), ("chest", 0.16)):
        if (row := body.column(role)) >= 0:
            small[:, row] += share * angle * body.axes[row, 2]


def _passing(around: Surroundings, clip: Clip) -> FloatArray:
    """Return how much a character is busy with a special obstacle, 0 to 1; (F,)."""
    busy = np.zeros(len(clip))
    for _, near in around.special(clip.root_positions[:, :2], 0.4):
        busy = np.maximum(busy, near)
    out: FloatArray = np.clip(2.5 * gaussian_filter1d(busy, 0.5 * _NEAR_SPECIAL * clip.fps), 0.0, 1.0)
    return out


def _upright(body: UpperBody, world: FloatArray, fps: float) -> FloatArray:
    """Return how upright the trunk is, 0 to 1; (F,)."""
    up = np.ones(len(world))
    for row in (body.column("chest"), body.column("head")):
        up = np.minimum(up, rotations.rotate(world[:, body.joints[row]], body.axes[row, 2])[:, 2])
    share = ease(np.clip((up - _UPRIGHT[0]) / (_UPRIGHT[1] - _UPRIGHT[0]), 0.0, 1.0))
    lowest = minimum_filter1d(share, 2 * round(0.35 * fps) + 1, mode="nearest")
    return np.asarray(gaussian_filter1d(lowest, 0.15 * fps, mode="nearest"))


def _noise(count: int, sigma: float, rng: np.random.Generator) -> FloatArray:
    """Return smooth noise of standard deviation 1; (F,)."""
    white = rng.standard_normal(count + 1)[:count]
    smooth = gaussian_filter1d(white, sigma, mode="wrap")
    out: FloatArray = smooth * np.sqrt(2.0 * sigma * np.sqrt(np.pi))
    return np.clip(out, -2.0, 2.0)


def _packed(turns: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Return turns in single precision and few digits, so that files stay small."""
    coarse = np.round(turns[..., 1:] / _STEP) * _STEP
    real = np.sqrt(1.0 - (coarse * coarse).sum(axis=-1, keepdims=True))
    return np.concatenate([np.where(turns[..., :1] < 0.0, -real, real), coarse], axis=-1).astype(np.float32)
