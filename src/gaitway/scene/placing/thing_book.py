"""Things of a scene file, and errands with them, checked: every name that they use must be there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module

from gaitway.core.errors import GaitwayError
from gaitway.core.suggest import nearest
from gaitway.scene.errand_models import HANDLING, ErrandItem
from gaitway.scene.errands import Handle
from gaitway.scene.object_models import LARGEST, LEAST, ObjectItem
from gaitway.scene.problem import Problem, shown
from gaitway.scene.reading.documents import MergedScene, SceneEntry
from gaitway.scene.things import ANY, HEAD, Thing
from gaitway.world import World
from gaitway.world.shapes import TriangleMesh
from gaitway.world.thing_forms import MESH, hull_mesh, mesh_size, thing_mesh

HOLD_SECONDS = (3.0, 3.0)
"""Time for which people hold a thing where nothing else is written [s]."""
_PATIENCE = 120.0
"""Time for which people wait for somebody else's hands where nothing else is written [s]."""


class ThingBook:
    """All things of a scene. It adds problems to a list."""

    def __init__(self, whole: MergedScene, people: Sequence[str], world: World, problems: list[Problem]) -> None:
        self.people, self.world, self.problems = list(people), world, problems
        entries = whole.lists["objects"]
        self.things = tuple(self._thing(entry) for entry in entries)
        self.names = [thing.name for thing in self.things]
        self._by_name = {thing.name: thing for thing in self.things}
        for number, entry in enumerate(entries):
            if self.names[number] in self.names[:number]:
                problems.append(entry.problem("name", text=f"two things are called '{self.names[number]}'"))
        hands = [(thing.held, thing.hand) for thing in self.things]
        for number, entry in enumerate(entries):
            who, hand = hands[number]
            if who is not None and hands[number] in hands[:number]:
                other = self.names[hands.index((who, hand))]
                text = f"the {hand} hand of '{who}' holds '{other}' already; write the other hand"
                problems.append(entry.problem("held", text=text))

    def errand(self, item: ErrandItem, number: int, entry: SceneEntry) -> Handle | None:
        """Return the errand of an item that is about a thing; None if it is about none."""
        verb = next((word for word in HANDLING if getattr(item, word) is not None), None)
        if verb is None:
            return None
        name: str = getattr(item, verb)
        found = self.known(name, entry, number, verb)
        if found is not None and verb in ("take", "put", "give") and (why := found.problem()):
            self.problems.append(entry.problem(number, verb, text=f"'{name}' cannot be grasped: {why}"))
        for key, who in (("from", item.giver), ("to", item.to)):
            if who is not None and who not in self.people:
                self.problems.append(entry.problem(number, key, text=unknown(who, "character", self.people)))
        obstacles = [obstacle.name for obstacle in self.world.obstacles if obstacle.name]
        if item.on is not None and item.on != HEAD and item.on not in obstacles:
            self.problems.append(entry.problem(number, "on", text=unknown(item.on, "obstacle", [*obstacles, HEAD])))
        if item.at is not None and not self._inside(item.at):
            text = f"({item.at[0]:g}, {item.at[1]:g}) is outside bounds {shown(self.world.bounds)}"
            self.problems.append(entry.problem(number, "at", text=f"{text}; write a place inside"))
        return Handle(
            verb, name, item.hand or ANY,
            seconds=(item.seconds or HOLD_SECONDS) if verb == "hold" else (0.0, 0.0),
            other=item.giver if verb == "take" else item.to,
            at=None if item.at is None else (item.at[0], item.at[1], item.at[2]),
            yaw=math.radians(item.at[3]) if item.at is not None and len(item.at) > 3 else None,
            on=item.on,
            patience=_PATIENCE if item.patience is None else item.patience,
        )  # fmt: skip

    def known(self, name: str, entry: SceneEntry, *place: str | int) -> Thing | None:
        """Return the thing of a name; None, and a problem, if there is none."""
        if name not in self._by_name:
            self.problems.append(entry.problem(*place, text=unknown(name, "thing", self.names)))
        return self._by_name.get(name)

    def _thing(self, entry: SceneEntry) -> Thing:
        item: ObjectItem = entry.value
        mesh = self._mesh(entry)
        shape, size = (MESH, mesh_size(mesh)) if mesh is not None else item.measures
        for key, who in (("held", item.held), ("worn", item.worn)):
            if who is not None and who not in self.people:
                self.problems.append(entry.problem(key, text=unknown(who, "character", self.people)))
        movers = [mover.name for mover in self.world.movers if mover.name]
        if item.rides is not None and item.rides not in movers:
            self.problems.append(entry.problem("rides", text=unknown(item.rides, "mover", movers)))
        if item.at is not None and item.rides is None and not self._inside(item.at):
            text = f"({item.at[0]:g}, {item.at[1]:g}) is outside bounds {shown(self.world.bounds)}"
            self.problems.append(entry.problem("at", text=f"{text}; write a place inside"))
        made = Thing(
            name=item.name, shape=shape, size=size,
            at=None if item.at is None else (item.at[0], item.at[1], item.at[2]),
            yaw=math.radians(item.at[3]) if item.at is not None and len(item.at) > 3 else 0.0,
            grasps=tuple((p[0], p[1], p[2]) for p in item.grasps),
            touch=None if item.touch is None else (item.touch[0], item.touch[1], item.touch[2]),
            fixed=item.fixed, held=item.held, hand=item.hand, worn=item.worn, rides=item.rides, carry=item.carry,
            color=item.color, mesh=mesh,
        )  # fmt: skip
        for number, point in enumerate(made.grasps):
            if any(abs(c) > 0.5 * s + 0.05 for c, s in zip(point[:2], size[:2], strict=True)):
                text = f"{shown(point)} is beside the thing, which is {size[0]:g} by {size[1]:g} m; write a point on it"
                self.problems.append(entry.problem("grasps", number, text=text))
        if made.held is not None and (why := made.problem()):
            self.problems.append(entry.problem("held", text=f"'{made.name}' cannot be grasped: {why}"))
        return made

    def _mesh(self, entry: SceneEntry) -> TriangleMesh | None:
        """Return the triangles of a hull or a mesh; a small cube in place of one that cannot be."""
        item: ObjectItem = entry.value
        if item.hull is None and item.mesh is None:
            return None
        key: tuple[str, ...] = ("hull",)
        try:
            if item.hull is not None:
                made = hull_mesh(item.hull)
            else:
                key = ("mesh", "file")
                assert item.mesh is not None
                meshes = import_module("gaitway.world.meshes")  # loads trimesh, which few scenes need
                (solid,) = meshes.load_mesh(
                    entry.document.folder / item.mesh.file, scale=item.mesh.scale, up=item.mesh.up
                ).solids()  # fmt: skip
                made = thing_mesh(solid.vertices, solid.triangles)
            size = mesh_size(made)
            if max(size) <= LARGEST and min(size) >= LEAST:
                return made
            told = " x ".join(f"{one:.3g}" for one in size)
            self.problems.append(entry.problem(*key, text=f"is {told} m; write a thing of {LEAST:g} to {LARGEST:g} m"))
        except GaitwayError as problem:
            self.problems.append(entry.problem(*key, text=str(problem)))
        return hull_mesh([(x, y, z) for x in (0.0, 0.1) for y in (0.0, 0.1) for z in (0.0, 0.1)])

    def _inside(self, at: Sequence[float]) -> bool:
        x0, y0, x1, y1 = self.world.bounds
        return x0 <= at[0] <= x1 and y0 <= at[1] <= y1


def unknown(name: str, what: str, known: Sequence[str]) -> str:
    """Return that a name is not there, and the nearest one or some that are."""
    near = nearest(name, known)
    if near:
        return f"there is no {what} '{name}'; did you mean '{near}'?"
    more = " ..." if len(known) > 8 else ""
    some = f"write one of {', '.join(known[:8])}{more}" if known else f"there are no {what}s at all"
    return f"there is no {what} '{name}'; {some}"
