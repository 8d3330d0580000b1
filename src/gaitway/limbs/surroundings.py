"""What is around a body over a span of time: the world with its movers, other bodies, and the body itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import shapely

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import LimbError
from gaitway.limbs import _collision_kernels
from gaitway.limbs._collision_kernels import BALL, CONCAVE, CONVEX, TRIANGLE, Around, WorldSolids
from gaitway.limbs.linkage import Limb, limb_subtree
from gaitway.motion.anatomy import t_pose, t_pose_positions
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton
from gaitway.world.footprint import Footprint, core_geometry
from gaitway.world.obstacle import PASSABLE
from gaitway.world.shapes import Ball, Prism, Shape, Solid
from gaitway.world.world import World

_TOUCHING = 0.01
"""Gap in the T-pose below which two parts of a body are neighbours, which always touch [m]."""
_SELF_SLACK = 0.005
"""What is added to the depth that the motion itself has between two parts of its body [m]."""
_OFF_GRASPED = 0.004
"""Gap that an arm keeps from a thing that its hand grasps [m]."""
_SUNK = 0.03
"""How far capsules may be under the lowest part of the body [m]."""
_AWAY = 1e6
"""Where bodies are that are not there [m]."""


@dataclass(frozen=True, eq=False)
class Carried:
    """A thing that a hand or foot holds, as capsules in the frame of the wrist or ankle joint."""

    starts: FloatArray
    """One end of each axis [m]; (N, 3)."""
    ends: FloatArray
    """The other end [m]; (N, 3)."""
    radii: FloatArray
    """(N,) [m]."""

    def __post_init__(self) -> None:
        count = len(self.radii)
        for name, shape in (("starts", (count, 3)), ("ends", (count, 3)), ("radii", (count,))):
            value = np.array(getattr(self, name), dtype=np.float64)
            if value.shape != shape or not np.isfinite(value).all():
                raise LimbError(f"carried thing: {name} must be finite numbers of shape {shape}, got {value.shape}")
            object.__setattr__(self, name, read_only(value))
        if (self.radii <= 0.0).any():
            raise LimbError(f"carried thing: capsule {int(np.argmin(self.radii))} has no thickness")


@dataclass(frozen=True, eq=False)
class OtherBody:
    """Another body over the same frames."""

    segments: FloatArray
    """Axes of its capsules [m]; (F, C, 2, 3)."""
    radii: FloatArray
    """(C,) [m]."""
    grasped: bool = False
    """Whether it is a thing that the hand of a limb goes to: only the rest of the limb keeps off it."""


def world_solids(world: World, low: FloatArray, high: FloatArray, begin: float, end: float) -> WorldSolids:
    """Return the solids of a world that meet a box of space (3,) to (3,) [m] and are there between two times [s].

    Movers are always kept. A mesh is its triangles; the inside of a closed one is not solid here.
    """
    rows: list[tuple[Solid, int, float, float]] = []
    for obstacle in world.obstacles:
        if obstacle.kind != PASSABLE:
            rows += [(solid, -1, -np.inf, np.inf) for solid in obstacle.shape.solids()]
    for number, mover in enumerate(world.movers):
        stops = [*(phase.start for phase in mover.phases[1:]), np.inf]
        for k, (phase, stop) in enumerate(zip(mover.phases, stops, strict=True)):
            start = -np.inf if k == 0 else phase.start
            if phase.kind != PASSABLE and start <= end and stop > begin:
                rows += [(solid, number, start, stop) for solid in phase.shape.solids()]
    build = _SolidRows()
    for solid, mover_row, start, stop in rows:
        build.add(solid, mover_row, start, stop, None if mover_row >= 0 else (low, high))
    return build.solids()


class _SolidRows:
    """Collector of solids."""

    def __init__(self) -> None:
        self.kinds: list[int] = []
        self.boxes: list[FloatArray] = []
        self.numbers: list[tuple[float, float, float, float]] = []
        self.spans: list[tuple[int, int]] = []
        self.edges: list[FloatArray] = [np.empty((0, 5))]
        self.corners: list[FloatArray] = [np.empty((0, 9))]
        self.movers: list[int] = []
        self.phases: list[tuple[float, float]] = []
        self.edge_count = self.corner_count = 0

    def add(
        self, solid: Solid, mover: int, start: float, stop: float, space: tuple[FloatArray, FloatArray] | None
    ) -> None:
        if isinstance(solid, Prism):
            if solid.footprint.empty:
                return
            x0, y0, x1, y1 = solid.footprint.bounds
            box = np.array([x0, y0, solid.bottom, x1, y1, solid.top])
            if _outside(box, space):
                return
            sides = _edges(solid.footprint)
            kind = CONVEX if _is_convex(solid.footprint) else CONCAVE
            span = (self.edge_count, self.edge_count + len(sides))
            self._row(kind, box, (solid.bottom, solid.top, solid.footprint.radius, 0.0), span, mover, start, stop)
            self.edges.append(sides)
            self.edge_count += len(sides)
        elif isinstance(solid, Ball):
            box = np.concatenate([solid.center - solid.radius, solid.center + solid.radius])
            if not _outside(box, space):
                x, y, z = solid.center.tolist()
                self._row(BALL, box, (x, y, z, solid.radius), (0, 0), mover, start, stop)
        else:
            corners = solid.vertices[solid.triangles]
            boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
            for box, triangle in zip(boxes, corners.reshape(-1, 9), strict=True):
                if not _outside(box, space):
                    span = (self.corner_count, self.corner_count + 1)
                    self._row(TRIANGLE, box, (0.0, 0.0, 0.0, 0.0), span, mover, start, stop)
                    self.corners.append(triangle[None])
                    self.corner_count += 1

    def _row(
        self, kind: int, box: FloatArray, numbers: tuple[float, float, float, float], span: tuple[int, int],
        mover: int, start: float, stop: float,
    ) -> None:  # fmt: skip
        self.kinds.append(kind)
        self.boxes.append(box)
        self.numbers.append(numbers)
        self.spans.append(span)
        self.movers.append(mover)
        self.phases.append((start, stop))

    def solids(self) -> WorldSolids:
        return WorldSolids(
            read_only(np.array(self.kinds, dtype=np.int64)),
            read_only(np.array(self.boxes, dtype=np.float64).reshape(-1, 6)),
            read_only(np.array(self.numbers, dtype=np.float64).reshape(-1, 4)),
            read_only(np.array(self.spans, dtype=np.int64).reshape(-1, 2)),
            read_only(np.concatenate(self.edges)),
            read_only(np.concatenate(self.corners)),
            read_only(np.array(self.movers, dtype=np.int64)),
            read_only(np.array(self.phases, dtype=np.float64).reshape(-1, 2)),
        )


def shape_solids(shape: Shape) -> WorldSolids:
    """Return the solids of one shape."""
    build = _SolidRows()
    for solid in shape.solids():
        build.add(solid, -1, -np.inf, np.inf, None)
    return build.solids()


def inside(world: World, point: FloatArray) -> str | None:
    """Return the name of an obstacle that a point (3,) [m] is inside of, or its kind; None if there is none."""
    for name, solids in _obstacle_solids(world):
        around = (solids.boxes[:, :3] <= point).all(axis=1) & (solids.boxes[:, 3:] >= point).all(axis=1)
        for s in np.flatnonzero(around).tolist():
            out = np.empty(1)
            _collision_kernels.axis_distances(solids, s, read_only(np.stack([point, point])[None]), 1.0, out)
            if out[0] < 0.0:
                return name
    return None


@lru_cache(maxsize=8)
def _obstacle_solids(world: World) -> tuple[tuple[str, WorldSolids], ...]:
    """Return the names, or kinds, and the solids of all obstacles that cannot be passed."""
    obstacles = [obstacle for obstacle in world.obstacles if obstacle.kind != PASSABLE]
    return tuple((obstacle.name or obstacle.kind, shape_solids(obstacle.shape)) for obstacle in obstacles)


@dataclass(frozen=True, eq=False)
class LimbCapsules:
    """Capsules that move with a limb, in the frames of its segments."""

    segments: IntArray
    """Segment of each; (K,)."""
    starts: FloatArray
    """One end of each axis [m]; (K, 3)."""
    ends: FloatArray
    """The other end [m]; (K, 3)."""
    radii: FloatArray
    """(K,) [m]."""

    @staticmethod
    def of(limb: Limb, carried: Carried | None = None) -> LimbCapsules:
        """Return the capsules of a limb and of what it carries. Fingers and toes are as in the T-pose."""
        own = _own_capsules(limb)
        if carried is None:
            return own
        back, count = rotations.conjugate(limb.turns[3]), len(carried.radii)
        return LimbCapsules(
            read_only(np.concatenate([own.segments, np.full(count, 2, dtype=np.int64)])),
            read_only(np.concatenate([own.starts, rotations.rotate(back, carried.starts)])),
            read_only(np.concatenate([own.ends, rotations.rotate(back, carried.ends)])),
            read_only(np.concatenate([own.radii, carried.radii])),
        )

    def trimmed(self, share: float, lengths: FloatArray) -> LimbCapsules:
        """Return the capsules without the part of the upper segment nearest to the body, a share of its bone.

        No posture moves the place where a limb begins. Along an axis the distance to a convex solid is convex: between
        that place and where the trimmed capsule begins, nothing is nearer than at one of the two.
        """
        starts, low = np.array(self.starts), share * float(lengths[0])
        for k in np.flatnonzero(self.segments == 0).tolist():
            way = self.ends[k] - self.starts[k]
            if way[2] > 1e-9:
                starts[k] += way * min(max((low - self.starts[k, 2]) / way[2], 0.0), 1.0)
        return LimbCapsules(self.segments, read_only(starts), self.ends, self.radii)

    def axes(self, frames: FloatArray, points: FloatArray) -> FloatArray:
        """Return world axes [m] (F, K, 2, 3) from `Limb.places`."""
        at = points[:, self.segments]
        turn = frames[:, self.segments]
        both = [at + np.einsum("fkij,kj->fki", turn, end) for end in (self.starts, self.ends)]
        return np.ascontiguousarray(np.stack(both, axis=2))


def body_around(
    clip: Clip, begin: float, world: World, others: Sequence[OtherBody] = (), *, reach: float = 0.5
) -> tuple[FloatArray, FloatArray, Around]:
    """Return the capsules of a whole body (F, C, 2, 3), their radii (C,) and what is around them over a clip.

    Args:
        clip: the motion, in the world.
        begin: time of its first frame [s].
        world: the world.
        others: other bodies, over the same frames.
        reach: greatest gap that will be asked for [m]; what is farther from the whole motion is left out.
    """
    body = capsule_body(clip.skeleton)
    axes, count = np.ascontiguousarray(body.segments(*clip.joint_transforms())), len(body)
    rest = _rest_gaps(clip.skeleton)
    pairs = np.array([(a, b) for a in range(count) for b in range(a) if rest[a, b] > _TOUCHING], dtype=np.int64)
    depths = np.zeros((count, count))
    _collision_kernels.pair_depths(axes, read_only(body.radii), axes, read_only(body.radii), depths)
    ease = depths[pairs[:, 0], pairs[:, 1]] + _SELF_SLACK if len(pairs) else np.empty(0)
    table, bodies = _Table(clip, begin, world, axes, body.radii), [one for one in others if not one.grasped]
    around = table.around(bodies, np.empty((len(clip), 0, 2, 3)), np.empty(0), np.empty((count, 0)), pairs, ease, reach)
    return axes, np.asarray(body.radii), around


def limb_around(
    limb: Limb, capsules: LimbCapsules, clip: Clip, begin: float, world: World, others: Sequence[OtherBody] = (),
    *, carried: int = 0, strict: bool = False,
) -> Around:  # fmt: skip
    """Return what is around a limb over a clip: the world, other bodies, and the rest of the body itself.

    Two parts of the body that touch in the T-pose are not compared. Others may be as deep in one another as the motion
    itself has them anywhere in the clip: people's arms rest at their sides.

    Args:
        limb: the limb.
        capsules: its capsules.
        clip: the motion, in the world.
        begin: time of its first frame [s].
        world: the world.
        others: other bodies, over the same frames.
        carried: number of capsules at the end of `capsules` that are carried; the hand may touch these.
        strict: whether what is carried must stay outside the body itself, even where the motion has it inside.
    """
    body, inside = capsule_body(limb.skeleton), limb_subtree(limb)
    axes = np.ascontiguousarray(body.segments(*clip.joint_transforms()))
    rest_rows = np.flatnonzero(~inside[body.joints])
    mine = np.ascontiguousarray(capsules.axes(*limb.places(clip, limb.postures(clip))))
    own_axes, own_radii = np.ascontiguousarray(axes[:, rest_rows]), body.radii[rest_rows]
    count, limb_rows = len(capsules.radii), np.flatnonzero(inside[body.joints])
    depths = np.zeros((count, len(rest_rows)))
    _collision_kernels.pair_depths(mine, capsules.radii, own_axes, read_only(own_radii), depths)
    slack = depths + _SELF_SLACK
    rest = _rest_gaps(limb.skeleton)
    if strict and carried:
        slack[-carried:] = _SELF_SLACK
    slack[: len(limb_rows)][rest[np.ix_(limb_rows, rest_rows)] <= _TOUCHING] = np.inf
    pairs = [(a, b) for a in range(len(limb_rows)) for b in range(a)
             if rest[limb_rows[a], limb_rows[b]] > _TOUCHING]  # fmt: skip
    pairs += [(a, b) for a in range(count - carried, count) for b in np.flatnonzero(capsules.segments == 0).tolist()]
    chosen = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    within = np.zeros((count, count))
    _collision_kernels.pair_depths(mine, capsules.radii, mine, capsules.radii, within)
    ease = within[chosen[:, 0], chosen[:, 1]] + _SELF_SLACK
    table = _Table(clip, begin, world, np.concatenate([axes, mine], axis=1), np.append(body.radii, capsules.radii))
    far = np.linalg.norm(np.concatenate([capsules.starts, capsules.ends]), axis=1)
    reach = float(limb.lengths.sum()) + float(far.max())
    return table.around(others, own_axes, own_radii, slack, chosen, ease, reach, hand=capsules.segments == 2)


class _Table:
    """Tables of what surrounds a body in every frame."""

    def __init__(self, clip: Clip, begin: float, world: World, axes: FloatArray, radii: FloatArray) -> None:
        self.clip, self.begin, self.world = clip, begin, world
        self.axes, self.radii = axes, radii

    def around(
        self, others: Sequence[OtherBody], own_axes: FloatArray, own_radii: FloatArray, slack: FloatArray,
        pairs: IntArray, ease: FloatArray, reach: float = 0.5, hand: BoolArray | None = None,
    ) -> Around:  # fmt: skip
        low = self.axes.min(axis=(0, 1, 2)) - reach - 0.2
        high = self.axes.max(axis=(0, 1, 2)) + reach + 0.2
        times = self.begin + np.arange(len(self.clip)) / self.clip.fps
        solids = world_solids(self.world, low, high, float(times[0]), float(times[-1]))
        moves = np.stack([mover.pose(times) for mover in self.world.movers], axis=1) if self.world.movers else None
        near = [other for other in others if _meets(other, low, high)]
        tables = [own_axes, *(o.segments for o in near)]
        thick = np.concatenate([own_radii, *(o.radii for o in near)])
        count, mine = len(slack), len(own_radii)
        wide = np.concatenate([slack, np.zeros((count, len(thick) - mine))], axis=1)
        grasped = np.repeat([False, *(o.grasped for o in near)], [mine, *(len(o.radii) for o in near)])
        wide[:, grasped] = -_OFF_GRASPED if hand is None else np.where(hand, np.inf, -_OFF_GRASPED)[:, None]
        own = ((np.arange(len(thick)) < mine) | grasped).astype(np.int64)
        runs, eases = _pair_runs(pairs.reshape(-1, 2), np.asarray(ease, dtype=np.float64))
        floor = (self.axes[..., 2].min(axis=2) - self.radii).min(axis=1) - _SUNK
        return Around(
            float(self.begin), float(self.clip.fps), solids,
            read_only(np.empty((len(times), 0, 3)) if moves is None else np.ascontiguousarray(moves)),
            read_only(np.ascontiguousarray(np.concatenate(tables, axis=1))), read_only(thick), read_only(wide),
            read_only(own), read_only(runs), read_only(eases),
            read_only(floor),
        )  # fmt: skip


def body_gaps(
    axes: FloatArray, radii: FloatArray, times: FloatArray, around: Around, bar: float = 0.1, *, stop: bool = False
) -> FloatArray:
    """Return the least gap of bodies to what is around them at some times [m]; (N,).

    Args:
        axes: capsules of the body at each time [m]; (N, C, 2, 3).
        radii: (C,) [m].
        times: when [s]; (N,).
        around: what is around, from `body_around`.
        bar: gap beyond which nothing matters [m]: the greatest result.
        stop: whether any gap below the bar will do, which is faster.
    """
    out = np.empty(len(times))
    _collision_kernels.body_gaps(
        read_only(axes), read_only(radii), read_only(times), around, float(bar), stop, out
    )  # fmt: skip
    return out


def _meets(other: OtherBody, low: FloatArray, high: FloatArray) -> bool:
    """Return whether another body is ever in a box of space."""
    least, most = other.segments.min(axis=(1, 2)), other.segments.max(axis=(1, 2))
    return bool(((least < high) & (most > low)).all(axis=1).any())


def absent(segments: FloatArray, there: BoolArray) -> FloatArray:
    """Return axes (F, C, 2, 3) that are far away where a body is not there (F,)."""
    return np.where(there[:, None, None, None], segments, _AWAY)


def _above(skeleton: Skeleton, ancestor: int, joint: int) -> bool:
    while joint > ancestor:
        joint = int(skeleton.parents[joint])
    return joint == ancestor


@lru_cache(maxsize=64)
def _own_capsules(limb: Limb) -> LimbCapsules:
    """Return the capsules of a limb without what it carries."""
    skeleton, body, inside = limb.skeleton, capsule_body(limb.skeleton), limb_subtree(limb)
    world, places = t_pose(skeleton), t_pose_positions(skeleton)
    rows: list[tuple[int, FloatArray, FloatArray, float]] = []
    for c in np.flatnonzero(inside[body.joints]).tolist():
        joint = int(body.joints[c])
        segment = max(k for k in range(3) if _above(skeleton, int(limb.joints[k]), joint))
        home = int(limb.joints[segment])
        back = rotations.conjugate(rotations.multiply(world[home], limb.turns[1 + segment]))
        ends = [
            rotations.rotate(back, places[joint] + rotations.rotate(world[joint], end[c]) - places[home])
            for end in (body.starts, body.ends)
        ]
        rows.append((segment, ends[0], ends[1], float(body.radii[c])))
    return LimbCapsules(
        read_only(np.array([row[0] for row in rows], dtype=np.int64)),
        read_only(np.array([row[1] for row in rows])),
        read_only(np.array([row[2] for row in rows])),
        read_only(np.array([row[3] for row in rows])),
    )


@lru_cache(maxsize=32)
def _rest_gaps(skeleton: Skeleton) -> FloatArray:
    """Return the gaps of all pairs of capsules in the T-pose [m]; (C, C)."""
    body = capsule_body(skeleton)
    axes = np.ascontiguousarray(body.segments(t_pose_positions(skeleton), t_pose(skeleton))[None])
    depths = np.full((len(body), len(body)), -np.inf)
    _collision_kernels.pair_depths(axes, read_only(body.radii), axes, read_only(body.radii), depths)
    return read_only(-depths)


def _pair_runs(pairs: IntArray, ease: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return pairs (P, 2) as runs (R, 4), and their ease in that order (P,); see `Around.pairs`."""
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    a, b = pairs[order].T
    breaks = np.flatnonzero((np.diff(a) != 0) | (np.diff(b) != 1)) + 1
    begins, ends = np.append(0, breaks)[: len(a)], np.append(breaks, len(a)) if len(a) else breaks
    runs = np.stack([a[begins], b[begins], b[ends - 1] + 1, begins], axis=1)
    return runs.astype(np.int64), ease[order]


def _outside(box: FloatArray, space: tuple[FloatArray, FloatArray] | None) -> bool:
    return space is not None and bool((box[:3] > space[1]).any() or (box[3:] < space[0]).any())


def _edges(footprint: Footprint) -> FloatArray:
    rows = [np.empty((0, 5))]
    for ring in footprint.rings:
        x, y = ring.T
        sides = np.column_stack([x, y, np.roll(x, -1), np.roll(y, -1), np.full(len(ring), float(len(ring) > 2))])
        rows.append(sides if len(ring) > 2 else sides[:1])
    return np.concatenate(rows)


def _is_convex(footprint: Footprint) -> bool:
    geometry = core_geometry(footprint)
    return bool(shapely.area(shapely.convex_hull(geometry)) - shapely.area(geometry) < 1e-9)
