"""What a throng needs to know of a library: gaits by velocity, and the clips that people join from and go back to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import CrowdError
from gaitway.crowd.locomotion.space import LocomotionSpace, locomotion_space
from gaitway.crowd.throng.bodies import ThrongBodies
from gaitway.crowd.throng.walking import MIDDLE
from gaitway.live.mixing.handover import HandOvers
from gaitway.live.planning.planner import LivePlanner
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import TIME, BodyArrays, CrowdArrays
from gaitway.live.playing._playing_kernels import LiveArrays
from gaitway.live.playing.arrays import LiveLibrary, library_of
from gaitway.live.playing.bodies import rest_actions
from gaitway.tree.building.default_moves import gaits
from gaitway.world.world import World

_APART = 0.5
"""Distance between the parts of a long body [m]."""


@dataclass(frozen=True, eq=False)
class ThrongKind:
    """What a mixture needs to know of a library."""

    space: LocomotionSpace | None
    """Its gaits by velocity; None for a library that is not of people."""
    group: int
    """Number of its skeleton."""
    speed: float
    """Speed of its gait [m/s]."""
    rest: int
    """Action that stands, by its number in the crowd."""
    walk: int
    """Action that walks straight on."""
    stop: int
    """Action that stops; -1 where there is none."""
    move: float
    """Length of the move of `walk` [m]."""
    legs: FloatArray
    """Local rotations in the first frame of `walk`; (J, 4)."""
    along: FloatArray
    """How far ahead of the root the parts of a body are that the dynamics see [m]; (P,)."""


def kind_of(library: LiveLibrary, throng: list[ThrongBodies], blends: list[HandOvers]) -> ThrongKind:
    """Return what a mixture needs to know of a library; bodies of a skeleton that is new are added.

    Args:
        library: the library.
        throng: bodies of the throng, by number of skeleton.
        blends: their hand-overs.
    """
    table, first = library.prepared.table, library.first_action
    rest = int(rest_actions(library.prepared)[0]) + first
    try:
        space = locomotion_space(library.prepared.library)
    except CrowdError:
        space = None
    ways = gaits(table)
    if space is not None and space.rig.skeleton != library.prepared.library.skeleton:
        space = None
    long = max(library.extent.resting, 0.3)
    parts = max(int(np.ceil((2.0 * long - _APART) / _APART)), 1) if space is None else 1
    along: FloatArray = _APART * (np.arange(parts, dtype=np.float64) - 0.5 * (parts - 1))
    along += 0.0 if space is None else MIDDLE
    if not ways or space is None:
        return ThrongKind(None, -1, 1.0, rest, rest, -1, 0.0, np.empty((0, 4)), along)
    state = ways[0].state
    ordinary = (table.kind < 0) & (table.start_state == state)
    ahead, durations = table.moves[:, 0], library.body.durations
    loops = ordinary & (table.end_state == state) & (np.abs(table.moves[:, 2]) < 0.05) & (ahead > 0.3)
    stops = ordinary & table.rest[table.end_state]
    if not loops.any() or not stops.any():
        return ThrongKind(None, -1, 1.0, rest, rest, -1, 0.0, np.empty((0, 4)), along)
    costs = library.prepared.actions.costs
    walk = int(np.argmin(np.where(loops, costs / np.where(loops, ahead, 1.0), np.inf)))
    stop = int(np.argmin(np.where(stops, costs, np.inf)))
    group = next((k for k, b in enumerate(throng) if b.space is space or _alike(b.space, space)), -1)
    if group < 0:
        group = len(throng)
        throng.append(ThrongBodies(space))
        blends.append(HandOvers(space.rig.skeleton))
    speed, move = float(ahead[walk] / durations[walk]), float(np.hypot(*table.moves[walk, :2]))
    legs = library.prepared.library.clips[table.clips[walk]].rotations[0]
    return ThrongKind(throng[group].space, group, speed, rest, walk + first, stop + first, move, legs, along)


def _alike(some: LocomotionSpace, other: LocomotionSpace) -> bool:
    """Return whether two spaces are of the same skeleton and gaits."""
    return (
        some.rig.skeleton == other.rig.skeleton
        and some.names == other.names
        and np.array_equal(some.velocities, other.velocities)
        and np.array_equal(some.poses, other.poses)
    )


class EngineParts(NamedTuple):
    """What a mixture sees of the engine."""

    body: ArrayHandle[BodyArrays]
    crowd: ArrayHandle[CrowdArrays]
    live: ArrayHandle[LiveArrays]
    libraries: Sequence[LiveLibrary]
    planners: Sequence[LivePlanner]
    own_live: Sequence[ArrayHandle[LiveArrays]]
    """The arrays with the options of each library."""
    world: World
    time: float


def clip_contacts(
    parts: EngineParts, kinds: Sequence[ThrongKind], throng: Sequence[ThrongBodies], slots: IntArray
) -> BoolArray:
    """Return which parts of feet rest on the ground in the clips that characters play; (N, 6)."""
    crowd = parts.crowd.value
    out = np.zeros((len(slots), 6), np.bool_)
    for k, me in enumerate(slots.tolist()):
        first = int(crowd.counts[me, playing.FIRST])
        action, start = int(crowd.actions[me, first]), float(crowd.steps[me, first, TIME])
        library = parts.libraries[int(library_of(parts.libraries, np.array([action]))[0])]
        own = action - library.first_action
        clip = library.prepared.library.clips[library.prepared.table.clips[own]]
        columns = throng[kinds[library.number].group].space.rig.columns.ravel()
        if clip.contacts is not None:
            frame = round((parts.time - start) * clip.fps * float(library.prepared.speeds[own]))
            row = clip.contacts[min(max(frame, 0), len(clip) - 1)]
            out[k] = np.where(columns >= 0, row[np.maximum(columns, 0)], False)
    return out
