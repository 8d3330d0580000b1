"""The audit of things that people handle: hands at their targets, things that do not jump, things inside nothing.

Things are points all over their surface here, and planners know them as capsules: the audit shares no code with these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import shapely

from gaitway.audit import _solid_kernels
from gaitway.audit.report import AuditBars, Finding, ReportRow
from gaitway.audit.solids import gather, stack_of
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.motion.body import capsule_body
from gaitway.motion.kinematics import forward_kinematics
from gaitway.take.evaluation import sampled
from gaitway.take.model import Take
from gaitway.take.things import MOVER, ThingTrack, joint_path, thing_poses, things_of
from gaitway.world.footprint import core_geometry
from gaitway.world.obstacle import PASSABLE
from gaitway.world.shapes import Ball, Solid, TriangleMesh
from gaitway.world.thing_forms import BALL, CYLINDER
from gaitway.world.world import World

_RATE = 15.0
"""Rate at which things are looked at [Hz]."""
_EXCHANGE = 0.7
"""Time that a thing needs to go from one hand to another [s]."""
_NEAR = 1.5
"""Distance of a thing from a root within which that body matters [m]."""
_SIDES = 16
"""Points on the rim of a round thing."""
_SPREAD = 200
"""Points on the surface of a mesh, beside its corners."""


def thing_rows(bars: AuditBars) -> tuple[ReportRow, ...]:
    """Return the rows of a take with things, empty."""
    return (
        ReportRow(name="hand", title="hand at its target", unit="m", bar=bars.hand, note="nobody reaches"),
        ReportRow(name="thing_jump", title="thing that jumps", unit="m", bar=bars.thing, note="nothing is moved"),
        ReportRow(name="thing_inside", title="thing inside something", unit="m", bar=bars.thing, note="nothing moved"),
    )


def hand_findings(take: Take, bars: AuditBars) -> list[Finding]:
    """Return how far each hand is from its target at the moment of the reach."""
    out = []
    for who, hand, verb, thing, time, target, offset in take.facts.get("reaches", ()):
        if who not in take.names:
            continue
        (at,), (turn,) = joint_path(take, take.index(who), f"{hand}_wrist", np.array([float(time)]))
        miss = float(np.linalg.norm(at + rotations.rotate(turn, np.array(offset)) - np.array(target)))
        out.append(
            thing_finding(take, "hand", miss, bars.hand, float(time), (who,), f"{hand}_hand", f"{verb} {thing}", target)
        )
    return out


def jump_findings(take: Take, world: World | None, bars: AuditBars) -> list[Finding]:
    """Return how far each thing jumps where somebody takes it or lets it go."""
    out = []
    for track in things_of(take):
        for before, after in zip(track.spans, track.spans[1:], strict=False):
            alone = [replace(track, spans=(one,)) for one in (before, after)]
            (a,), (b,) = (thing_poses(take, one, after.start, world)[0] for one in alone)
            who = tuple(name for name in (before.who, after.who) if name in take.names)[:1]
            far = float(np.linalg.norm(a - b))
            out.append(thing_finding(take, "thing_jump", far, bars.thing, after.start, who, "", track.name, b))
    return out


def depth_findings(take: Take, world: World | None, bars: AuditBars) -> tuple[list[Finding], int]:
    """Return the greatest depth of each carried thing in an obstacle or a body, and how many moments were looked at."""
    out, count = [], 0
    for track in things_of(take):
        for times, who, part in held_times(take, track):
            places, turns = thing_poses(take, track, times, world)
            points = places[:, None] + rotations.rotate(turns[:, None], surface_points(track)[None])
            count += len(times)
            hollow = ("head",) if any(span.part == "head" for span in track.spans) else ()  # a hat
            for depth, frame, name, other in _deepest(take, world, points, times, who, part, hollow):
                at, people = points[frame].mean(axis=0), (who,) if not other else (who, other)
                out.append(
                    thing_finding(take, "thing_inside", depth, bars.thing, times[frame], people, track.name, name, at)
                )
    return out, count


def surface_points(track: ThingTrack) -> FloatArray:
    """Return points all over the surface of a thing, in its own frame [m]; (N, 3)."""
    length, width, height = track.size
    middle = np.array([0.0, 0.0, 0.5 * height])
    if track.shape == BALL:
        grid = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z])
        return np.asarray(middle + 0.5 * height * grid / np.linalg.norm(grid, axis=1)[:, None])
    if track.shape == CYLINDER:
        way = math.tau * np.arange(_SIDES) / _SIDES
        rim = 0.5 * length * np.stack([np.cos(way), np.sin(way)], axis=-1)
        levels = [np.column_stack([share * rim, np.full(_SIDES, z)]) for z in (0.0, 0.5 * height, height)
                  for share in (0.5, 1.0)]  # fmt: skip
        return np.concatenate(levels)
    if track.mesh is not None:
        return _spread(track.mesh)
    steps = [np.linspace(-0.5, 0.5, 4) * size for size in (length, width, height)]
    return np.asarray(middle + np.array([(x, y, z) for x in steps[0] for y in steps[1] for z in steps[2]]))


def _spread(mesh: TriangleMesh) -> FloatArray:
    """Return points all over a mesh [m]; (N, 3): its corners, or some of them, and points as dense everywhere."""
    corners = mesh.vertices[mesh.triangles]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    along = (np.arange(_SPREAD) + 0.5) / _SPREAD * areas.sum()
    which = np.minimum(np.searchsorted(np.cumsum(areas), along), len(areas) - 1)
    u, v = (np.modf(np.arange(_SPREAD) * step)[0] for step in (0.7548776662466927, 0.5698402909980532))  # plastic ratio
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    some = corners[which]
    points = some[:, 0] + u[:, None] * (some[:, 1] - some[:, 0]) + v[:, None] * (some[:, 2] - some[:, 0])
    every = max(len(mesh.vertices) // _SPREAD, 1)
    return np.concatenate([mesh.vertices[::every], points])


def held_times(take: Take, track: ThingTrack) -> Iterator[tuple[FloatArray, str, str]]:
    """Yield times at which somebody has a thing, who, and with which part.

    While it goes from hand to hand, two arms are at it; these moments are left out.
    """
    ends = [*(span.start for span in track.spans[1:]), take.duration]
    before = None
    for span, end in zip(track.spans, ends, strict=True):
        if span.who is not None and span.part != MOVER and span.who in take.names:
            last = min(end, float(take.ends[take.index(span.who)]))
            first = span.start + (_EXCHANGE if before is not None and before != span.who else 0.0)
            if last > first:
                yield np.arange(first, last, 1.0 / _RATE), span.who, span.part
        before = span.who


def _deepest(
    take: Take, world: World | None, points: FloatArray, times: FloatArray, who: str, part: str, hollow: tuple[str, ...]
) -> Iterator[tuple[float, int, str, str]]:
    """Yield depths of points (F, N, 3) [m], the frame, what they are in, and whose body it is."""
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    for number, obstacle in enumerate(() if world is None else world.obstacles):
        if obstacle.kind != PASSABLE:
            for solid in obstacle.shape.solids():
                depths = _solid_depths(solid, points, low, high)
                if depths is not None and (worst := float(depths.max())) > 0.0:
                    frame = int(np.argmax(depths.max(axis=1)))
                    yield worst, frame, obstacle.name or f"{obstacle.kind} {number}", ""
    for other, name in enumerate(take.names):
        found = _body_depth(take, other, points, times, part if name == who else "", hollow)
        if found is not None and found[0] > 0.0:
            yield found[0], found[1], found[2], "" if name == who else name


def _solid_depths(solid: Solid, points: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray | None:
    """Return how deep points (F, N, 3) are in a solid [m] (F, N), 0 outside; None if it is far away or empty."""
    if isinstance(solid, Ball):
        return np.asarray(np.maximum(solid.radius - np.linalg.norm(points - solid.center, axis=-1), 0.0))
    if isinstance(solid, TriangleMesh):
        return _mesh_depths(solid, points, low, high)
    if solid.footprint.empty:
        return None
    x0, y0, x1, y1 = solid.footprint.bounds
    if (low > (x1, y1, solid.top)).any() or (high < (x0, y0, solid.bottom)).any():
        return None
    core, rounding = core_geometry(solid.footprint), solid.footprint.radius
    flat = shapely.points(points[..., 0], points[..., 1])
    outside = shapely.distance(core, flat)
    within = np.where(outside > 0.0, rounding - outside, rounding + shapely.distance(shapely.boundary(core), flat))
    depth = np.minimum(within, np.minimum(solid.top - points[..., 2], points[..., 2] - solid.bottom))
    return np.asarray(np.maximum(depth, 0.0))


def _mesh_depths(mesh: TriangleMesh, points: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray | None:
    """Return how deep points (F, N, 3) are in a mesh [m]; None if it is far away or no solid."""
    if not mesh.closed or (low > mesh.vertices.max(axis=0)).any() or (high < mesh.vertices.min(axis=0)).any():
        return None
    solids, out = gather([mesh]), np.empty(points.shape[0] * points.shape[1])
    stack = stack_of(solids)
    if stack is not None:
        _solid_kernels.point_depths(solids, 0, read_only(np.ascontiguousarray(points.reshape(-1, 3))), stack, out)
    return out.reshape(points.shape[:2])


def _body_depth(
    take: Take, character: int, points: FloatArray, times: FloatArray, part: str, hollow: tuple[str, ...]
) -> tuple[float, int, str] | None:
    """Return how deep points (F, N, 3) are in a body [m], in which frame, and in which part.

    Hands may be inside things, and heads in things that are worn at some time (`hollow`). Of whoever has the thing, the
    arm or head that has it does not count.
    """
    body = int(take.bodies[character])
    skeleton = take.skeletons[body]
    roots = take.planar(times)[character, :, :2]
    there = (times >= take.start(character) - 1e-9) & (times <= float(take.ends[character]) + 1e-9)
    near = np.flatnonzero(there & (np.linalg.norm(points.mean(axis=1)[:, :2] - roots, axis=1) < _NEAR))
    if not len(near) or part == "head":
        return None
    shape = capsule_body(skeleton)
    side = part.removesuffix("_wrist")
    own = (f"{side}_shoulder", f"{side}_elbow") if part else ()
    rows = [k for k, name in enumerate(shape.names) if not name.endswith("_hand") and name not in (*own, *hollow)]
    who: IntArray = np.full(len(near), character, dtype=np.int64)
    axes = shape.segments(*forward_kinematics(skeleton, *sampled(take, body, who, times[near])))[:, rows]
    best = (0.0, 0, "")
    for k, row in enumerate(rows):
        start, way = axes[:, k, 0], axes[:, k, 1] - axes[:, k, 0]
        along = (
            np.einsum("fnd,fd->fn", points[near] - start[:, None], way)
            / np.maximum((way * way).sum(axis=1), 1e-12)[:, None]
        )
        nearest = start[:, None] + np.clip(along, 0.0, 1.0)[..., None] * way[:, None]
        depth = float(shape.radii[row]) - np.linalg.norm(points[near] - nearest, axis=-1)
        if (worst := float(depth.max())) > best[0]:
            best = (worst, int(near[int(np.argmax(depth.max(axis=1)))]), shape.names[row])
    return best


def thing_finding(
    take: Take,
    row: str,
    value: float,
    bar: float,
    time: float,
    who: tuple[str, ...],
    part: str,
    what: str,
    place: FloatArray,
) -> Finding:
    """Return one finding about a thing or a hand."""
    x, y, z = (float(v) for v in place)
    return Finding(
        row=row, value=value, bar=bar, time=float(time), frame=round(float(time) * take.fps), characters=who, part=part,
        obstacle=what, place=(x, y, z),
    )  # fmt: skip
