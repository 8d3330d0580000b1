"""Places with several floors, as programs see them, and the plane of the floors, in which live crowds plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import shapely
import shapely.ops

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import LiveError, WorldError
from gaitway.levels.level_scene import StepGround
from gaitway.space.plan import Plan, Pose
from gaitway.world.levels.floors import GROUND, Floors, has_levels
from gaitway.world.obstacle import WALKABLE
from gaitway.world.shapes import Ramp, Shape, Stairs
from gaitway.world.world import World


class CrowdFloors:
    """The floors of a crowd's place. Things may come, go and move on them; floors and stairs stay. **Mutable**.

    Attributes:
        floors: floors of the place as it was at first.
        links: stairs of the first library of the crowd: poses in which they begin and end, in the plane.
    """

    def __init__(self, world: World) -> None:
        """Find the floors of a place."""
        self.floors, self.links = Floors.of(world), tuple[tuple[Pose, Pose], ...]()
        self._latest = self.floors
        bounds = np.array([floor.region.bounds for floor in self.floors.floors])
        self._offsets = np.array([(*floor.offset, 0.0) for floor in self.floors.floors])
        # heights of slopes are those of their ground, and a lift is where it is at each time
        self._heights = np.array(
            [floor.height if floor.relief is None and floor.lift is None else 0.0 for floor in self.floors.floors]
        )
        self._low = bounds[:, :2] + self._offsets[:, :2]
        self._high = bounds[:, 2:] + self._offsets[:, :2]

    def plane(self, world: World) -> World:
        """Return a changed place as a plane of its floors; the same one for the same place.

        Raises:
            LiveError: if a floor or a flight of stairs changed.
        """
        if world is not self._latest.world:
            found = Floors.of(world)
            if not self._same(found):
                raise LiveError("floors and stairs stay where they are while a crowd lives; make another crowd")
            self._latest = found
        return self._latest.plane

    def _same(self, other: Floors) -> bool:
        """Return whether another place has the same floors, and the same ways between them."""
        own, theirs = self.floors.floors, other.floors
        before, now = self.floors.world, other.world
        if len(own) != len(theirs) or _climbed(before) != _climbed(now) or before.escalators != now.escalators:
            return False
        if before.lifts != now.lifts:
            return False
        return all(
            (a.name, a.height, a.offset) == (b.name, b.height, b.offset) and a.region.equals(b.region)
            for a, b in zip(own, theirs, strict=True)
        )

    def thing(self, obstacle: int) -> int:
        """Return the number in the place of an obstacle of the plane; -1 for the edge of a floor."""
        return self._latest.origins[obstacle]

    def numbers(self, points: FloatArray) -> IntArray:
        """Return the floors on which points of the plane (N, 2) are, or those nearest to them; (N,)."""
        beyond = np.maximum(self._low - points[:, None, :2], points[:, None, :2] - self._high)
        out: IntArray = np.argmin(np.hypot(*np.moveaxis(np.maximum(beyond, 0.0), -1, 0)), axis=1)
        return out

    def back(self, points: FloatArray) -> FloatArray:
        """Return by how much those who stand at points of the plane (N, 2) are moved into the place [m]; (N, 3).

        They are moved up by the height of a level floor. What `ground` tells comes on top of it.
        """
        numbers = self.numbers(points)
        out: FloatArray = -self._offsets[numbers]
        out[:, 2] = self._heights[numbers]
        return out

    def ground(self, floors: IntArray, points: FloatArray, time: float) -> FloatArray:
        """Return the heights of slopes, of terrain and of lifts at a time [s] under points of the plane [m]; (N,).

        Args:
            floors: floors on which the points are; (N,).
            points: x, y [m]; (N, 2).
            time: time [s].
        """
        world, out = self.floors.world, np.zeros(len(points))
        for number in np.unique(floors).tolist():
            floor, rows = self.floors.floors[number], floors == number
            relief = world.terrain if floor.ground else floor.relief
            if floor.lift is not None:
                out[rows] = world.lifts[floor.lift].height(time)
            elif relief is not None:
                out[rows] = relief.height(points[rows, :2] - np.array(floor.offset))
        return out

    def in_place(self, points: FloatArray, time: float) -> FloatArray:
        """Return points of the plane (N, 2) on the ground of the place at a time [s]: x, y, z [m]; (N, 3)."""
        out: FloatArray = np.column_stack([points, self.ground(self.numbers(points), points, time)]) + self.back(points)
        return out

    def moves(self, steps: FloatArray, roots: FloatArray, time: float, plane: World) -> FloatArray:
        """Return by how much characters are moved from the plane into the place [m]; (N, 3).

        Somebody on a flight may be over the ground of another floor in the plane. So the floor is that of the step.

        Args:
            steps: where the steps that they are in began, in the plane: x, y [m]; (N, 2).
            roots: where their roots are in the plane, over its ground [m]; (N, 3).
            time: time [s].
            plane: the plane as a world.
        """
        out = self.back(steps)
        out[:, 2] += self.ground(self.numbers(steps), roots, time) - plane.ground(roots[:, :2])
        return out

    def grounds(self, times: FloatArray, points: FloatArray, rises: Sequence[float]) -> list[StepGround]:
        """Return what is under steps that begin at points of the plane.

        Args:
            times: when they begin [s]; (N,).
            points: x, y [m]; (N, 2).
            rises: how far up their clips lead [m].
        """
        floors = [self.floors.floors[number] for number in self.numbers(points).tolist()]
        return [
            StepGround(time, floor.relief, floor.height, rise)
            for time, floor, rise in zip(times.tolist(), floors, rises, strict=True)
        ]

    def spot(self, x: float, y: float, name: str | None) -> tuple[float, float, float]:
        """Return a point of the place with the height of a floor, or of the lowest one if that has no ground there."""
        floor = self.floors.named(name or GROUND)
        if not floor.covers(x, y):
            floor = self.floors.floors[0]
        return x, y, self.floors.height(floor, x, y)

    def place_of(self, x: float, y: float) -> tuple[float, float, float]:
        """Return the place of a point of the plane, or of the nearest ground of its floor: x, y, z [m]."""
        floor = self.floors.under(x, y)
        dx, dy = floor.offset
        point = shapely.Point(x - dx, y - dy)
        if not floor.covers(point.x, point.y):  # such as on a flight of stairs
            point = shapely.ops.nearest_points(floor.core, point)[0]
        return point.x, point.y, self.floors.height(floor, point.x, point.y)

    def plan_in_place(self, plan: Plan) -> Plan:
        """Return a plan of the plane in the place."""
        poses = np.array([*(step.pose for step in plan.steps), plan.end_pose])
        back = self.back(poses[:, :2])[:, :2]
        placed = [(x, y, heading) for x, y, heading in np.column_stack([poses[:, :2] + back, poses[:, 2]]).tolist()]
        steps = tuple(replace(step, pose=pose) for step, pose in zip(plan.steps, placed[:-1], strict=True))
        return replace(plan, steps=steps, end_pose=placed[-1])

    def into(self, points: FloatArray, heights: FloatArray | None, what: str) -> FloatArray:
        """Return points of the place in the plane; (N, 2).

        Args:
            points: x, y [m]; (N, 2).
            heights: heights, to which the floor nearest in height is taken [m] (N,); None for the lowest floor.
            what: name of the points in messages.

        Raises:
            LiveError: if a point is on no floor.
        """
        out = np.array(points)
        for k, (x, y) in enumerate(points.tolist()):
            try:
                floor = self.floors.at(x, y, None if heights is None else float(heights[k]), what=what)
            except WorldError as problem:
                raise LiveError(str(problem)) from None
            out[k] += floor.offset
        return out


def crowd_floors(world: World, dynamics: str) -> CrowdFloors | None:
    """Return the floors of a place for a crowd; None for a place with one floor, and for dynamics that know one."""
    return CrowdFloors(world) if dynamics == "clips" and has_levels(world) else None


def _climbed(world: World) -> list[Shape]:
    """Return what people climb or walk up."""
    return [o.shape for o in world.obstacles if isinstance(o.shape, Stairs | Ramp) or o.kind == WALKABLE]


def with_heights(table: FloatArray, width: int) -> tuple[FloatArray, FloatArray | None]:
    """Return a table without its last column, if it has one more than asked for, and that column or None."""
    if table.shape[1] == width:
        return table, None
    return np.ascontiguousarray(table[:, :width]), np.asarray(table[:, width])
