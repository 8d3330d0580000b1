"""The world of a live crowd: obstacles and movers by id, which come, go and move while the crowd lives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from gaitway.core.errors import LiveError
from gaitway.world.obstacle import Mover, MoverPhase, Obstacle
from gaitway.world.shapes import Box, Cylinder, Polygon, Shape, Sphere, Stairs
from gaitway.world.world import World

_SHAPES: Mapping[str, type[Shape]] = {shape.__name__: shape for shape in (Box, Cylinder, Polygon, Sphere, Stairs)}


class LiveWorld:
    """A world that changes. This class is **mutable**; ids are never used again.

    Attributes:
        first: the world that the crowd began in; its obstacles and movers have the ids 0, 1, 2 and so on.
        world: the world now.
        obstacles: obstacles by id.
        movers: movers by id.
    """

    def __init__(self, first: World) -> None:
        self.first = self.world = first
        self.obstacles = dict(enumerate(first.obstacles))
        self.movers = dict(enumerate(first.movers))
        self._next_obstacle, self._next_mover = len(first.obstacles), len(first.movers)

    def add_obstacle(self, obstacle: Obstacle) -> int:
        """Add an obstacle and return its id."""
        number, self._next_obstacle = self._next_obstacle, self._next_obstacle + 1
        self.obstacles[number] = obstacle
        self._change()
        return number

    def add_mover(self, mover: Mover) -> int:
        """Add a mover and return its id."""
        number, self._next_mover = self._next_mover, self._next_mover + 1
        self.movers[number] = mover
        self._change()
        return number

    def obstacle(self, number: int) -> Obstacle:
        """Return the obstacle with an id.

        Raises:
            LiveError: if there is none.
        """
        if number not in self.obstacles:
            raise LiveError(f"no obstacle {number}; see `obstacles`")
        return self.obstacles[number]

    def replace_obstacle(self, number: int, obstacle: Obstacle) -> None:
        """Put another obstacle under an id."""
        self.obstacle(number)
        self.obstacles[number] = obstacle
        self._change()

    def move_obstacle(self, number: int, x: float, y: float, yaw: float | None) -> None:
        """Move the middle of an obstacle to a place [m], and turn it to an angle [rad] where its shape has one."""
        obstacle = self.obstacle(number)
        shape: Any = obstacle.shape
        if hasattr(shape, "center"):
            changes: dict[str, Any] = {"center": (float(x), float(y))}
            if yaw is not None and hasattr(shape, "yaw"):
                changes["yaw"] = float(yaw)
            moved = replace(shape, **changes)
        else:
            x0, y0, x1, y1 = shape.footprint().bounds
            moved = shape.placed((x - 0.5 * (x0 + x1), y - 0.5 * (y0 + y1), 0.0))
        self.replace_obstacle(number, replace(obstacle, shape=moved))

    def remove_obstacle(self, number: int) -> None:
        """Take an obstacle away."""
        self.obstacle(number)
        del self.obstacles[number]
        self._change()

    def remove_mover(self, number: int) -> None:
        """Take a mover away.

        Raises:
            LiveError: if there is none.
        """
        if number not in self.movers:
            raise LiveError(f"no mover {number}; see `movers`")
        del self.movers[number]
        self._change()

    def replace_world(self, world: World) -> None:
        """Take another world; obstacles and movers that are in both keep their ids."""
        obstacles = {id(obstacle): number for number, obstacle in self.obstacles.items()}
        movers = {id(mover): number for number, mover in self.movers.items()}
        self.obstacles, self.movers = {}, {}
        for obstacle in world.obstacles:
            number = obstacles.get(id(obstacle), -1)
            if number < 0:
                number, self._next_obstacle = self._next_obstacle, self._next_obstacle + 1
            self.obstacles[number] = obstacle
        for mover in world.movers:
            number = movers.get(id(mover), -1)
            if number < 0:
                number, self._next_mover = self._next_mover, self._next_mover + 1
            self.movers[number] = mover
        self.world = world

    def state(self) -> dict[str, Any]:
        """Return all that `restore` needs, as plain values."""
        return {
            "world": pack_world(self.world, self.first),
            "obstacles": [list(self.obstacles), self._next_obstacle],
            "movers": [list(self.movers), self._next_mover],
        }

    def restore(self, state: Mapping[str, Any], base: World, base_state: Mapping[str, Any]) -> None:
        """Take a saved world; `base` itself where it is equal to that."""
        self.world = base if state["world"] == base_state else unpack_world(state["world"], self.first)
        (obstacles, next_obstacle), (movers, next_mover) = state["obstacles"], state["movers"]
        self.obstacles = dict(zip(map(int, obstacles), self.world.obstacles, strict=True))
        self.movers = dict(zip(map(int, movers), self.world.movers, strict=True))
        self._next_obstacle, self._next_mover = int(next_obstacle), int(next_mover)

    def _change(self) -> None:
        self.world = replace(self.world, obstacles=tuple(self.obstacles.values()), movers=tuple(self.movers.values()))


def pack_world(world: World, first: World) -> dict[str, Any]:
    """Return a world as plain values: numbers of what it shares with a first world, and whatever is new in full.

    Raises:
        LiveError: if its bounds or terrain are others, or something new has a shape of many triangles.
    """
    if world.bounds != first.bounds or world.terrain is not first.terrain:
        raise LiveError("a world with other bounds or terrain than at the beginning cannot be saved")
    obstacles = {id(obstacle): number for number, obstacle in enumerate(first.obstacles)}
    movers = {id(mover): number for number, mover in enumerate(first.movers)}
    return {
        "obstacles": [obstacles.get(id(o)) if id(o) in obstacles else _obstacle(o) for o in world.obstacles],
        "movers": [movers.get(id(m)) if id(m) in movers else _mover(m) for m in world.movers],
    }


def unpack_world(data: Mapping[str, Any], first: World) -> World:
    """Return a world from plain values; the first world itself where nothing is new.

    Raises:
        GaitwayError: if a shape cannot be.
        ValueError: if the values do not belong to the first world.
    """
    same = data == {"obstacles": [*range(len(first.obstacles))], "movers": [*range(len(first.movers))]}
    if same:
        return first
    obstacles = [_picked(first.obstacles, o) if isinstance(o, int) else _to_obstacle(o) for o in data["obstacles"]]
    movers = [_picked(first.movers, m) if isinstance(m, int) else _to_mover(m) for m in data["movers"]]
    return replace(first, obstacles=tuple(obstacles), movers=tuple(movers))


def _picked(things: tuple[Any, ...], number: int) -> Any:
    if not 0 <= number < len(things):
        raise ValueError(f"no obstacle {number} in the world that the crowd began in")
    return things[number]


def _shape(shape: Shape) -> dict[str, Any]:
    if type(shape).__name__ not in _SHAPES:
        raise LiveError(f"a new {type(shape).__name__} cannot be saved; put it into the scene instead")
    return {"shape": type(shape).__name__, **asdict(shape)}  # type: ignore[call-overload]


def _to_shape(data: Mapping[str, Any]) -> Shape:
    values = {name: _tuples(value) for name, value in data.items() if name != "shape"}
    made: Shape = _SHAPES[data["shape"]](**values)
    return made


def _obstacle(obstacle: Obstacle) -> dict[str, Any]:
    return {"of": _shape(obstacle.shape), "kind": obstacle.kind, "name": obstacle.name, "color": obstacle.color}


def _to_obstacle(data: Mapping[str, Any]) -> Obstacle:
    return Obstacle(_to_shape(data["of"]), str(data["kind"]), str(data["name"]), data["color"])


def _mover(mover: Mover) -> dict[str, Any]:
    phases = [{"start": _plain(p.start), "of": _shape(p.shape), "kind": p.kind} for p in mover.phases]
    return {"phases": phases, "times": mover.times.tolist(), "poses": mover.poses.tolist(), "name": mover.name,
            "color": mover.color}  # fmt: skip


def _to_mover(data: Mapping[str, Any]) -> Mover:
    phases = tuple(MoverPhase(float(p["start"]), _to_shape(p["of"]), str(p["kind"])) for p in data["phases"])
    return Mover(phases, np.array(data["times"]), np.array(data["poses"]), str(data["name"]), data["color"])


def _plain(value: float) -> float | str:
    """Return a number as JSON can hold it: infinity is a word."""
    return value if np.isfinite(value) else str(value)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(part) for part in value) if isinstance(value, list | tuple) else value
