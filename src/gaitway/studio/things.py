"""Things that people handle, as a frame of the studio shows them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.scene.scene import Scene
from gaitway.take.model import Take
from gaitway.take.things import COLOR, MOVER, ThingSpan, ThingTrack, thing_poses, things_of
from gaitway.world.world import World


class StudioThing(NamedTuple):
    """A thing at one moment."""

    track: ThingTrack
    place: FloatArray
    """Middle of its underside [m]; (3,)."""
    turn: FloatArray
    """wxyz; (4,)."""


def take_things(take: Take, world: World, time: float) -> tuple[StudioThing, ...]:
    """Return all things of a take at a time [s]."""
    out = []
    for track in things_of(take):
        (place,), (turn,) = thing_poses(take, track, time, world)
        out.append(StudioThing(track, place, turn))
    return tuple(out)


def scene_things(scene: Scene, time: float) -> tuple[StudioThing, ...]:
    """Return the things of a scene that nobody has at first, at a time [s]: live people do not handle any."""
    out = []
    for thing in scene.things:
        if thing.at is None:
            continue
        yaw, at = rotations.from_yaw(thing.yaw), np.array(thing.at)
        mover = next((one for one in scene.world.movers if one.name == thing.rides), None)
        if mover is not None:
            x, y, heading = mover.pose(time).tolist()
            turn = rotations.from_yaw(heading)
            at, yaw = np.array([x, y, 0.0]) + rotations.rotate(turn, at), rotations.multiply(turn, yaw)
        part = "" if thing.rides is None else MOVER
        span = ThingSpan(0.0, thing.rides, part, (*thing.at, *rotations.from_yaw(thing.yaw).tolist()))
        track = ThingTrack(thing.name, thing.shape, thing.size, thing.color or COLOR, (span,), thing.mesh)
        out.append(StudioThing(track, at, yaw))
    return tuple(out)
