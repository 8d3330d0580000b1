"""Layers that put a take made for a level floor onto the ground of a world; level ground needs none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton
from gaitway.performing.layers import layer_between
from gaitway.performing.terrain.footing import SIDES, on_ground
from gaitway.performing.terrain.terrain_tilt import carried
from gaitway.performing.terrain.underfoot import GroundSpan, Underfoot
from gaitway.take.data import Layer
from gaitway.take.model import Take
from gaitway.world.world import World

LAYER = "ground"
"""Name of the layers."""
_OFF = 0.002
"""Largest distance from the ground of points that need no correction [m]."""
_OVER = 0.04
"""Distance by which a foot may stand over the edge of a tread [m]."""
_SUNK = 0.004
"""Depth between frames to which feet may sink into sloping ground [m]."""
_ABOARD = 0.3
"""Largest height over the platform of a lift, or the treads of an escalator, of a point of somebody who rides [m]."""


def follow_ground(take: Take, world: World, spans: Mapping[str, Sequence[GroundSpan]] | None = None) -> Take:
    """Return the take with layers that put all characters onto the ground.

    Characters are placed on the floor plan, and their heights count from the terrain under them. A character that rests
    on the ground already (on a level floor, on stairs that fit the clips) gets no layer. Captured feet, and feet that
    other layers have moved, do not rest exactly where they should even on a level floor.

    Args:
        take: the take.
        world: the place.
        spans: ground that some characters walk on instead of the terrain, by name.
    """
    known = spans or {}
    plain = world.terrain is None and not any(obstacle.standable for obstacle in world.obstacles)
    level = plain and not world.lifts and not world.escalators
    if level and not take.layers and not known:
        return take
    layers = [
        layer for c in range(len(take)) if (layer := _layer(take, c, world, known.get(take.names[c], ()))) is not None
    ]
    return replace(take, layers=(*take.layers, *layers)) if layers else take


def _layer(take: Take, character: int, world: World, spans: Sequence[GroundSpan]) -> Layer | None:
    """Return the layer that a character needs, or None."""
    clip = take.clip(character)
    times = take.start(character) + np.arange(len(clip)) / clip.fps
    if clip.contacts is None or (not spans and _rests(clip, clip.contacts, world, times)):
        return None
    put = on_ground if _walks(clip.skeleton) else carried
    rides = _rides(clip, world, times)
    cuts = [0, *(np.flatnonzero(np.diff(rides)) + 1).tolist(), len(clip)]
    parts = [(a, b) for a, b in pairwise(cuts) if not rides[a]]  # whoever rides stands on what moves already
    roots, turns = np.array(clip.root_positions), np.array(clip.rotations)
    for a, b in parts:
        own = _frames(clip, a, b) if len(cuts) > 2 else clip
        changed = put(own, Underfoot(world, spans, times[a:b]))
        roots[a:b], turns[a:b] = changed.root_positions, changed.rotations
    after = replace(clip, root_positions=roots, rotations=turns)
    layer = layer_between(take, character, clip, after, LAYER)
    sunk = _sunk_between(take, character, layer, Underfoot(world, spans, times))
    if sunk.max(initial=0.0) <= _SUNK:
        return layer
    # the frames on either side of it rise, and those around them a little, so that nothing jerks
    lack = np.maximum(sunk - _SUNK, 0.0)
    most = scipy.ndimage.maximum_filter1d(np.maximum(np.append(lack, 0.0), np.append(0.0, lack)), 3)
    roots[:, 2] += scipy.ndimage.gaussian_filter1d(most, 1.0, mode="nearest")
    return layer_between(take, character, clip, replace(after, root_positions=roots), LAYER)


def _sunk_between(take: Take, character: int, layer: Layer, under: Underfoot) -> FloatArray:
    """Return how deep feet are in sloping ground in the middle between frames [m]; (F - 1,), 0 on level ground.

    Joints are interpolated between frames, and with them feet are not where those of the frames lead: where knees are
    bent much more than on a level floor, a foot that leaves the ground sinks into it first.
    """
    clip = replace(take, layers=(*take.layers, layer)).clip(character, 2.0 * take.fps)
    names = [point.name.rpartition("_")[2] for point in clip.skeleton.contact_points]
    points = clip.contact_positions()[:, np.array([name in ("ball", "toe") for name in names], dtype=bool)]
    frames = len(under.sloping)
    middle, deep = points[1 : 2 * frames - 2 : 2], np.zeros((2, frames - 1))
    for side, rows in enumerate((slice(0, frames - 1), slice(1, frames))):
        own = under.of_frames(rows)
        gap = middle[..., 2] - own.ground(middle[..., :2])
        deep[side] = np.where(own.sloping, np.maximum(-gap.min(axis=1, initial=0.0), 0.0), 0.0)
    return np.asarray(deep.min(axis=0))


def _rides(clip: Clip, world: World, times: FloatArray) -> BoolArray:
    """Return in which frames, at times (F,) [s], somebody goes up or down with a lift, or is on an escalator; (F,)."""
    out = np.zeros(len(clip), dtype=bool)
    if not world.lifts and not world.escalators:
        return out
    points = clip.contact_positions()
    lowest = points[..., 2].min(axis=1)
    for one in world.escalators:
        treads = one.height(points[..., :2], times[:, None], points[..., 2], _OVER)
        on = one.inside(points[..., :2], _OVER) & (np.abs(points[..., 2] - treads) < _ABOARD)
        out |= on.any(axis=1)
    for lift in world.lifts:
        top = lift.height(times)
        moves = np.abs(lift.height(times + 1.0 / clip.fps) - lift.height(times - 1.0 / clip.fps)) > 0.0
        out |= moves & lift.inside(clip.root_positions[:, :2]) & (np.abs(lowest - top) < _ABOARD)
    return out


def _frames(clip: Clip, first: int, stop: int) -> Clip:
    """Return some frames of a clip."""
    return replace(
        clip,
        root_positions=clip.root_positions[first:stop],
        rotations=clip.rotations[first:stop],
        contacts=None if clip.contacts is None else clip.contacts[first:stop],
    )


def _walks(skeleton: Skeleton) -> bool:
    """Return whether a clip is a biped's: both legs are known by role, and nothing rolls."""
    legs = all(f"{side}_{part}" in skeleton.roles for side in SIDES for part in ("hip", "knee", "ankle"))
    return legs and not any(point.rolls for point in skeleton.contact_points)


def _rests(clip: Clip, contacts: BoolArray, world: World, times: FloatArray) -> bool:
    """Return whether everything that rests at times (F,) [s] is on the ground already."""
    if world.terrain is not None:
        return False
    resting = clip.contact_positions()[contacts]
    when = np.repeat(times, contacts.sum(axis=1))
    tops = world.standing_height(resting[:, :2], resting[:, 2], when)
    return bool((np.abs(resting[:, 2] - tops) < _OFF).all())
