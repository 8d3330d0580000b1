"""The space of velocities: gait cycles as points in (forward, sideways, turn) speed, and their Delaunay triangulation.

Any velocity lies in one tetrahedron, and its gait is the blend of the four cycles at the corners, whose weights are its
barycentric coordinates (Pettre and Laumond, as in Esteves et al. 2006, section 3.2.2). The paper has two speeds and
blends three cycles. People in a throng also step aside, and the trunk may face another way than the feet go, so there
are three speeds here and four cycles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.cast.catalog import STYLE_NAMES
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.styles import Style
from gaitway.core.arrays import FloatArray, IntArray, SingleArray, read_only
from gaitway.core.cache import cached
from gaitway.core.errors import CrowdError
from gaitway.crowd.locomotion.cycles import SHARES, GaitCycle
from gaitway.crowd.locomotion.rig import BodyRig, body_rig
from gaitway.crowd.locomotion.sources import Rest, library_cycles, person_cycles, style_of
from gaitway.library.behavior import Library

TURN_METRES = 0.4
"""How many m/s a turn of 1 rad/s counts for in the triangulation."""
MOST_SWAY = 0.038
"""Farthest that a root sways from the middle line [m]; what goes farther is scaled down."""
RATE, DUTY, PRINTS, STANCE, SWING, LIFT = 0, 1, 3, 9, 9 + 2 * SHARES, 9 + 4 * SHARES
TRAITS = 9 + 6 * SHARES
"""Columns of `LocomotionSpace.traits`: cycles a second, duty of both feet, both prints, then over shares of stance and
swing: pitch in the stance, pitch in the swing, lift in the swing, each of the left and then of the right foot."""
_THIN = 1e-4
"""Tetrahedra of less volume have no use: their corners lie in a plane."""

ARRAYS = (
    "velocities", "simplices", "neighbors", "transforms", "hull", "traits", "sources", "poses", "rest",
)  # fmt: skip
"""Fields of a space that are arrays."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LocomotionSpace:
    """Gait cycles over velocities, as arrays for the kernels. Several styles share one triangulation."""

    name: str
    rig: BodyRig
    names: tuple[str, ...]
    """Name of each cycle; the first one stands; (V,)."""
    styles: tuple[str, ...]
    """Names of the styles; (S,)."""
    velocities: FloatArray
    """Forward, sideways [m/s] and turn [rad/s] of each cycle; (V, 3)."""
    simplices: IntArray
    """Cycles at the corners of each tetrahedron; (T, 4)."""
    neighbors: IntArray
    """Tetrahedron opposite of each corner, -1 for none; (T, 4)."""
    transforms: FloatArray
    """Barycentric coordinates of the first three corners are `transforms[t, :3] @ (scaled - transforms[t, 3])`;
    (T, 4, 3)."""
    hull: FloatArray
    """Normals and distances of the faces of the convex hull: scaled velocities v with n . v > d are outside; (H, 4)."""
    traits: FloatArray
    """What else a cycle is: see the columns above; (S, V, TRAITS)."""
    sources: IntArray
    """Row of `poses` of each cycle; (V,)."""
    poses: SingleArray
    """Local rotations component by component, w of all joints first, then root x, y, z; (S, B, PHASES, 4 J + 3)."""
    rest: SingleArray
    """The same of somebody who stands, over time at `IDLE_FPS`; (S, I, 4 J + 3)."""

    def __post_init__(self) -> None:
        for name in ARRAYS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def clamped(self, velocities: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return velocities (N, 3) within the hull, and by which factor each was scaled down, 1 for none; (N,)."""
        scaled = np.asarray(velocities, dtype=np.float64) * [1.0, 1.0, TURN_METRES]
        beyond = (scaled @ self.hull[:, :3].T) / self.hull[:, 3]
        factors = 1.0 / np.maximum(beyond.max(axis=1), 1.0)
        return velocities * factors[:, None], factors

    def weights(self, velocity: FloatArray) -> dict[str, float]:
        """Return the cycles that are blended at a velocity (3,), and their shares; they add up to 1."""
        inside = self.clamped(np.asarray(velocity, dtype=np.float64)[None])[0][0] * [1.0, 1.0, TURN_METRES]
        shares = np.einsum("tij,tj->ti", self.transforms[:, :3], inside - self.transforms[:, 3])
        shares = np.column_stack([shares, 1.0 - shares.sum(axis=1)])
        best = int(np.argmax(shares.min(axis=1)))
        found = np.maximum(shares[best], 0.0) / np.maximum(shares[best], 0.0).sum()
        return {self.names[v]: float(w) for v, w in zip(self.simplices[best], found, strict=True) if w > 1e-9}


def locomotion_space(library: Library | str) -> LocomotionSpace:
    """Return the velocity space of a library.

    The cycles of the built-in person come from its gait generator: walks from 0.3 m/s, jogs, steps back, aside and on
    the spot, in its own style. The cycles of any other library are its clips that end in the pose in which they begin
    and take a whole stride; steps aside, on the spot and backward are made where it has none, and slower walks are
    blends of its walks with standing.

    Args:
        library: a library of people, or "person" for all styles of the built-in one.

    Raises:
        CrowdError: if it is no library of people, or has no clip that stands or none that walks.
    """
    if isinstance(library, str):
        if library != "person":
            raise CrowdError(f"no people '{library}'; write 'person', or give a library")
        return person_space(STYLE_NAMES)
    style = style_of(library)
    if style is not None:
        return person_space((style.name,))
    rig = body_rig(library.skeleton)
    rest, cycles = library_cycles(library, rig)
    return space_of(library.name, rig, [(rest, cycles)], (library.name,))


@lru_cache(maxsize=4)
def person_space(styles: tuple[str, ...]) -> LocomotionSpace:
    """Return the space of the built-in person in some of its styles."""
    rig = body_rig(person_skeleton())

    def make() -> LocomotionSpace:
        return space_of("person", rig, [person_cycles(Style.named(name), rig) for name in styles], styles)

    def pack(space: LocomotionSpace) -> dict[str, object]:
        return {"names": list(space.names), **{name: getattr(space, name) for name in ARRAYS}}

    def unpack(packed: dict[str, Any]) -> LocomotionSpace:
        arrays = {name: packed[name] for name in ARRAYS}
        return LocomotionSpace(name="person", rig=rig, names=tuple(packed["names"]), styles=styles, **arrays)

    return cached("locomotion", (__name__,), (list(styles),), make, pack, unpack)


def space_of(
    name: str, rig: BodyRig, people: Sequence[tuple[Rest, Sequence[GaitCycle]]], styles: Sequence[str]
) -> LocomotionSpace:
    """Return a space of cycles that several styles have alike.

    Args:
        name: of the space.
        rig: of the skeleton.
        people: how each style stands, and its cycles, of which the first stands.
        styles: their names.
    """
    common = [c.name for c in people[0][1] if all(any(o.name == c.name for o in cycles) for _, cycles in people[1:])]
    chosen = [[next(c for c in cycles if c.name == wanted) for wanted in common] for _, cycles in people]
    kept = _different([c.velocity for c in chosen[0]])
    chosen = [[cycles[i] for i in kept] for cycles in chosen]
    velocities = np.mean([[c.velocity for c in cycles] for cycles in chosen], axis=0)
    scaled = velocities * [1.0, 1.0, TURN_METRES]
    mesh = scipy.spatial.Delaunay(scaled)
    simplices, neighbors, transforms = _proper(mesh, scaled)
    faces = scipy.spatial.ConvexHull(scaled).equations
    equations = faces[np.abs(faces[:, 3]) > 1e-9]
    first = {id(c.poses): i for i, c in reversed(list(enumerate(chosen[0])))}  # drifts share the poses of a gait
    own = sorted(set(first.values()))
    sources = np.array([own.index(first[id(c.poses)]) for c in chosen[0]], dtype=np.int64)
    longest = max(len(rest.poses) for rest, _ in people)
    still = [_table(rest.poses, _calmed(rest.sway), rest.poses[0]) for rest, _ in people]
    return LocomotionSpace(
        name=name,
        rig=rig,
        names=tuple(c.name for c in chosen[0]),
        styles=tuple(styles),
        velocities=velocities,
        simplices=simplices,
        neighbors=neighbors,
        transforms=transforms,
        hull=np.column_stack([equations[:, :3], -equations[:, 3]]),
        traits=np.array([[_traits(c) for c in cycles] for cycles in chosen]),
        sources=sources,
        poses=np.stack(
            [
                np.stack([_table(cycles[i].poses, _calmed(cycles[i].sway), rest.poses[0]) for i in own])
                for (rest, _), cycles in zip(people, chosen, strict=True)
            ]
        ),
        rest=np.stack([np.resize(table, (longest, table.shape[1])) for table in still]),
    )


def _different(velocities: Sequence[FloatArray]) -> list[int]:
    """Return the indices of velocities that are not nearly the same as an earlier one."""
    kept: list[int] = []
    for i, velocity in enumerate(velocities):
        if all(np.linalg.norm((velocity - velocities[j]) * [1.0, 1.0, TURN_METRES]) > 0.06 for j in kept):
            kept.append(i)
    return kept


def _proper(mesh: scipy.spatial.Delaunay, points: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return corners, neighbours and barycentric transforms of a triangulation, computed by ourselves.

    Flat tetrahedra at the border have no neighbour beyond them, as if they were not there.
    """
    simplices, neighbors = mesh.simplices.astype(np.int64), mesh.neighbors.astype(np.int64)
    edges = points[simplices[:, :3]] - points[simplices[:, 3:]]
    flat = np.abs(np.linalg.det(edges)) < _THIN
    neighbors[np.isin(neighbors, np.flatnonzero(flat))] = -1
    transforms = np.zeros((len(simplices), 4, 3))
    transforms[~flat, :3] = np.linalg.inv(np.swapaxes(edges[~flat], 1, 2))
    transforms[:, 3] = points[simplices[:, 3]]
    keep = np.flatnonzero(~flat)
    number = np.full(len(simplices) + 1, -1, dtype=np.int64)
    number[keep] = np.arange(len(keep))
    return simplices[keep], number[neighbors[keep]], transforms[keep]


def _traits(cycle: GaitCycle) -> FloatArray:
    return np.concatenate(
        [
            [cycle.rate], cycle.duty, cycle.prints.ravel(), cycle.stance_pitch.ravel(), cycle.swing_pitch.ravel(),
            cycle.lift.ravel(),
        ]
    )  # fmt: skip


def _calmed(sway: FloatArray) -> FloatArray:
    """Return a sway (N, 3) that goes no farther than `MOST_SWAY` on the floor plan."""
    farthest = float(np.hypot(sway[:, 0], sway[:, 1]).max())
    return np.asarray(sway * [*([min(MOST_SWAY / max(farthest, 1e-9), 1.0)] * 2), 1.0])


def _table(poses: FloatArray, sway: FloatArray, near: FloatArray) -> SingleArray:
    """Return rows (N, 4 J + 3) for the kernels; rotations lie on the same side as those of one pose (J, 4)."""
    signed = poses * np.where(np.sum(poses * near, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    rows = np.swapaxes(signed, 1, 2).reshape(len(poses), -1)
    return np.ascontiguousarray(np.column_stack([rows, sway]), dtype=np.float32)
