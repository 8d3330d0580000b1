"""Layers that put a take made for a level floor onto the ground of a world; level ground needs none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gaitway.core.arrays import BoolArray
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
    level = world.terrain is None and not any(obstacle.standable for obstacle in world.obstacles)
    if level and not take.layers and not known:
        return take
    layers = [
        layer for c in range(len(take)) if (layer := _layer(take, c, world, known.get(take.names[c], ()))) is not None
    ]
    return replace(take, layers=(*take.layers, *layers)) if layers else take


def _layer(take: Take, character: int, world: World, spans: Sequence[GroundSpan]) -> Layer | None:
    """Return the layer that a character needs, or None."""
    clip = take.clip(character)
    if clip.contacts is None or (not spans and _rests(clip, clip.contacts, world)):
        return None
    times = take.start(character) + np.arange(len(clip)) / clip.fps
    ground = Underfoot(world, spans, times)
    changed = on_ground(clip, ground) if _walks(clip.skeleton) else carried(clip, ground)
    return layer_between(take, character, clip, changed, LAYER)


def _walks(skeleton: Skeleton) -> bool:
    """Return whether a clip is a biped's: both legs are known by role, and nothing rolls."""
    legs = all(f"{side}_{part}" in skeleton.roles for side in SIDES for part in ("hip", "knee", "ankle"))
    return legs and not any(point.rolls for point in skeleton.contact_points)


def _rests(clip: Clip, contacts: BoolArray, world: World) -> bool:
    """Return whether everything that rests is on the ground already."""
    if world.terrain is not None:
        return False
    resting = clip.contact_positions()[contacts]
    tops = world.standing_height(resting[:, :2], resting[:, 2])
    return bool((np.abs(resting[:, 2] - tops) < _OFF).all())
