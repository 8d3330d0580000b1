"""Places, errands and sources of a scene file, checked: every name that errands use must be there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely

from gaitway.core.errors import WorldError
from gaitway.scene.characters import RADII, DrawnTraits
from gaitway.scene.errand_models import ErrandItem, PlaceItem, RuleItem
from gaitway.scene.errands import (
    Choose,
    Errand,
    Go,
    Leave,
    Look,
    Meet,
    Person,
    Place,
    Queue,
    Repeat,
    Rule,
    SeatPlace,
    Sit,
    Target,
    Wait,
    every,
    length,
    middle_of,
    target_of,
)
from gaitway.scene.model import MAX_CHARACTERS, SourceItem
from gaitway.scene.placing.free_space import FreeSpace
from gaitway.scene.placing.groups import CharacterGroups, drawn_traits, inner
from gaitway.scene.placing.placement import CharacterGroup, area_geometry
from gaitway.scene.placing.thing_book import ThingBook
from gaitway.scene.placing.thing_book import unknown as _unknown
from gaitway.scene.problem import Problem, shown
from gaitway.scene.reading.documents import MergedScene, SceneEntry
from gaitway.scene.sources import Source, SourceKind
from gaitway.world import World
from gaitway.world.levels.floors import has_levels

LOOK_SECONDS, SIT_SECONDS = (3.0, 3.0), (30.0, 30.0)
"""Times for which people look and sit where nothing else is written [s]."""
PATIENCE = 120.0
"""Time for which people wait for companions where nothing else is written [s]."""
_STANDING = 0.3
"""Radius of somebody who stands in a line [m]."""
_NARROW, _GRID = 0.2, 24
"""Radius below which nobody stands anywhere [m], and rows and columns of the points at which a source is tested."""
MOST_DONE = 100_000
"""Largest number of errands of one person, repeats counted as often as they are done."""


class ErrandBook:
    """All places, errands and sources of a scene. It collects problems in `problems`."""

    def __init__(self, whole: MergedScene, groups: CharacterGroups, world: World) -> None:
        self.problems: list[Problem] = []
        self.groups, self.world = groups, world
        self.people = [name for group in groups.groups for name in group.names]
        self.known = set(self.people)
        self.places = {name: self._place(name, entry) for name, entry in whole.places.items()}
        self.things = ThingBook(whole, self.people, world, self.problems)
        self.errands = {group.first: self._errands_of(group) for group in groups.groups}
        self.sources = tuple(self._source(entry) for entry in whole.lists["sources"])
        self.rules = tuple(self._rule(entry) for entry in whole.lists["rules"])
        self._check_events(whole)

    def of(self, group: CharacterGroup) -> tuple[Errand, ...]:
        """Return the errands of a group; empty if it has a goal."""
        return self.errands[group.first]

    def _place(self, name: str, entry: SceneEntry) -> Place:
        item: PlaceItem = entry.value
        area, heading = None, None
        seats: tuple[SeatPlace, ...] = ()
        if item.area is not None:
            try:
                area = area_geometry(item.area)
                point = (float(area.centroid.x), float(area.centroid.y))
            except WorldError as problem:
                self.problems.append(entry.problem("area", text=str(problem)))
                point = (0.0, 0.0)
        elif item.line is not None:
            point = (item.line[0][0], item.line[0][1])
            heading = math.atan2(point[1] - item.line[1][1], point[0] - item.line[1][0])
        elif item.seats is not None:
            seats = tuple(
                SeatPlace(pose=(s.at[0], s.at[1], math.radians(s.at[2])), height=s.height, depth=s.depth)
                for s in item.seats
            )
            point = middle_of([seat.pose for seat in seats])
        else:
            point, heading = self._pose(item.at or (0.0, 0.0))
        made = Place(
            name=name,
            point=point,
            heading=heading,
            area=area,
            line=tuple((p[0], p[1]) for p in item.line or ()),
            service=item.service,
            spacing=item.spacing,
            seats=seats,
            floor=item.floor,
            height=_height(item.at),
        )
        self._check(entry, made)
        return made

    def _pose(self, value: Sequence[float]) -> tuple[tuple[float, float], float | None]:
        return (value[0], value[1]), math.radians(value[2]) if len(value) > 2 else None

    def _check(self, entry: SceneEntry, place: Place) -> None:
        """Report a place outside the bounds."""
        x0, y0, x1, y1 = self.world.bounds
        points = [place.point] if place.area is None else []
        for x, y in (*points, *place.line, *(seat.pose[:2] for seat in place.seats)):
            if not (x0 <= x <= x1 and y0 <= y <= y1):
                text = f"({x:g}, {y:g}) is outside bounds {shown(self.world.bounds)}; write a place inside"
                self.problems.append(entry.problem(text=text))
                return
        self._check_line(entry, place)
        if place.area is not None and not shapely.box(x0, y0, x1, y1).intersects(place.area):
            text = f"lies outside bounds {shown(self.world.bounds)}; write an area that overlaps them"
            self.problems.append(entry.problem("area", text=text))

    def _check_line(self, entry: SceneEntry, place: Place) -> None:
        """Report a line that is drawn through an obstacle."""
        if not place.line:
            return
        knots = shapely.LineString(place.line)
        away = np.append(np.arange(0.0, knots.length, 0.5 * _STANDING), knots.length)
        points = shapely.get_coordinates(shapely.line_interpolate_point(knots, away))
        space = FreeSpace(self.world, self.world.obstacles, _STANDING)
        blocked = np.flatnonzero(~space.free(points))
        if len(blocked) and place.floor is None and not has_levels(self.world):
            x, y = points[blocked[0]].tolist()
            thing = space.obstacles[space.blockers((x, y))[0][0]]
            text = f"nobody can stand at ({x:.3g}, {y:.3g}), where '{thing.name or thing.kind}' is"
            self.problems.append(entry.problem("line", text=f"{text}; draw the line {_STANDING:g} m away from it"))

    def _errands_of(self, group: CharacterGroup) -> tuple[Errand, ...]:
        items = group.item.errands
        return (
            ()
            if items is None
            else self._list(
                items, SceneEntry(items, group.entry.document, (*group.entry.place, "errands")), group.names
            )
        )

    def _list(self, items: Sequence[ErrandItem], entry: SceneEntry, group: Sequence[str]) -> tuple[Errand, ...]:
        """Return the errands of a list; `entry` is where it is written, `group` the names of those who do it."""
        made = tuple(self._errand(item, k, entry, group) for k, item in enumerate(items))
        for k, errand in enumerate(made[:-1]):
            if isinstance(errand, Leave):
                text = "nobody does this, since the errand before it leaves; write leave last"
                self.problems.append(entry.problem(k + 1, text=text))
        if (count := length(made)) > MOST_DONE:
            text = f"amounts to {count} errands; write at most {MOST_DONE}, with fewer repeats inside repeats"
            self.problems.append(entry.problem(text=text))
        return made

    def _errand(self, item: ErrandItem, number: int, entry: SceneEntry, group: Sequence[str]) -> Errand:
        if item.go is not None:
            return Go(self._target(item.go, entry, number, "go"))
        if item.wait is not None:
            return Wait(item.wait.seconds, item.wait.until, item.wait.event, item.wait.mover)
        if item.queue is not None:
            place = self._named(item.queue, entry, number, "queue")
            if place.service is None:
                text = f"nobody is served at '{place.name}'; write service: seconds for that place"
                self.problems.append(entry.problem(number, "queue", text=text))
            return Queue(place)
        if item.sit is not None:
            place = self._named(item.sit, entry, number, "sit")
            if not place.seats:
                text = f"'{place.name}' has no seats; write seats: [[x, y, yaw_deg], ...] for that place"
                self.problems.append(entry.problem(number, "sit", text=text))
            return Sit(place, item.seconds or SIT_SECONDS)
        if item.look is not None:
            return Look(self._target(item.look, entry, number, "look"), item.seconds or LOOK_SECONDS)
        if item.meet is not None:
            return self._meet(item, entry, number, group)
        if (handled := self.things.errand(item, number, entry)) is not None:
            return handled
        if item.choose is not None:
            return self._choose(item, entry, number, group)
        if item.repeat is not None:
            inside = SceneEntry(item.repeat, entry.document, (*entry.place, number, "repeat"))
            return Repeat(self._list(item.repeat, inside, group), item.times or 2)
        return Leave(self._target(item.leave or "", entry, number, "leave"))

    def _meet(self, item: ErrandItem, entry: SceneEntry, number: int, group: Sequence[str]) -> Meet:
        for k, name in enumerate(item.companions or ()):
            if name not in self.known:
                self.problems.append(
                    entry.problem(number, "companions", k, text=_unknown(name, "character", self.people))
                )
        companions = item.companions if item.companions is not None else tuple(group)
        patience = PATIENCE if item.patience is None else item.patience
        return Meet(self._target(item.meet or "", entry, number, "meet"), companions, patience)

    def _choose(self, item: ErrandItem, entry: SceneEntry, number: int, group: Sequence[str]) -> Choose:
        lists, by = item.choose or (), item.by or "chance"
        place = (*entry.place, number, "choose")
        among = tuple(
            self._list(items, SceneEntry(items, entry.document, (*place, k)), group) for k, items in enumerate(lists)
        )
        for k, errands in enumerate(among):
            first = next((e for e in errands if target_of(e) is not None), None)
            if by == "distance" and not (first is not None and isinstance(target_of(first), Place)):
                text = "leads to no place; write an errand that does, or by: chance"
                self.problems.append(entry.problem(number, "choose", k, text=text))
            if by == "queue" and not any(isinstance(errand, Queue) for errand in errands):
                text = "has no queue; write an errand with queue, or by: chance"
                self.problems.append(entry.problem(number, "choose", k, text=text))
        return Choose(among, by, item.weights or (1.0,) * len(lists))

    def _target(self, value: str | Sequence[float], entry: SceneEntry, number: int, key: str) -> Target:
        if not isinstance(value, str):
            point, heading = self._pose(value)
            name = f"({point[0]:g}, {point[1]:g})"
            made = Place(name=name, point=point, heading=heading, height=_height(value))
            self._check(SceneEntry(value, entry.document, (*entry.place, number, key)), made)
            return made
        if value not in self.places and value in self.known:
            return Person(value)
        return self._named(value, entry, number, key)

    def _named(self, name: str, entry: SceneEntry, number: int, key: str) -> Place:
        if name in self.places:
            return self.places[name]
        self.problems.append(entry.problem(number, key, text=_unknown(name, "place", list(self.places))))
        return Place(name=name, point=(0.0, 0.0))

    def _source(self, entry: SceneEntry) -> Source:
        item: SourceItem = entry.value
        library = self.groups.library_of(inner(entry, "library")) or self.groups.library
        draws = drawn_traits(inner(entry, "library") or self.groups.whole.singles.get("library"))
        errands = self._list(item.errands, _at(entry, item.errands, "errands"), ())
        kinds = [
            self._kind(SceneEntry(kind, entry.document, (*entry.place, "mix", k)), library, draws, errands, item)
            for k, kind in enumerate(item.mix)
        ]
        if not kinds:
            kinds = [
                SourceKind(share=1.0, library=library, draws=draws, speed=item.speed, age=item.age, errands=errands)
            ]
        area = shapely.Polygon()
        try:
            area = shapely.box(*self.world.bounds).intersection(area_geometry(item.area))
            if item.area.ring is not None:
                raise WorldError("a ring is no area to come in; write circle: ... or a rectangle")
            if area.area <= 0.0:
                raise WorldError(f"lies outside bounds {shown(self.world.bounds)}; write an area that overlaps them")
            self._check_room(entry, area, item.floor)
        except WorldError as problem:
            self.problems.append(entry.problem("area", text=str(problem)))
        clash = next((name for name in self.people if name.startswith(f"{item.name}-")), None)
        if clash is not None:
            text = f"people of '{item.name}' would have names such as that of '{clash}'; write another name"
            self.problems.append(entry.problem("name", text=text))
        return Source(
            name=item.name,
            area=area,
            floor=item.floor,
            rate=0.0 if item.rate is None else item.rate / 60.0,
            times=tuple((time, int(number)) for time, number in item.times or ()),
            start=item.start,
            until=math.inf if item.until is None else item.until,
            count=MAX_CHARACTERS if item.count is None else item.count,
            kinds=tuple(kinds),
            companions=item.companions or 1,
            plan=self.groups.options_of(inner(entry, "plan")),
            radius=max(kind.library.size * RADII.get(kind.library.cast, 0.3) for kind in kinds),
        )

    def _check_room(self, entry: SceneEntry, area: shapely.Polygon, floor: str | None) -> None:
        """Report a source in which nobody can stand, since all of it lies in an obstacle."""
        if floor is not None or has_levels(self.world):
            return
        x0, y0, x1, y1 = area.bounds
        grid = np.meshgrid(np.linspace(x0, x1, _GRID), np.linspace(y0, y1, _GRID))
        points = np.column_stack([axis.ravel() for axis in grid])
        middle = area.representative_point()
        points = np.vstack([[middle.x, middle.y], points[shapely.intersects_xy(area, points)]])
        space = FreeSpace(self.world, self.world.obstacles, _NARROW)
        if not space.free(points).any():
            thing = space.obstacles[space.blockers((middle.x, middle.y))[0][0]]
            text = f"nobody can come in there, where '{thing.name or thing.kind}' is; write an area to stand in"
            self.problems.append(entry.problem("area", text=text))

    def _kind(
        self, entry: SceneEntry, library: Any, draws: DrawnTraits, errands: tuple[Errand, ...], source: SourceItem
    ) -> SourceKind:
        item = entry.value
        own = self.groups.library_of(inner(entry, "library"))
        return SourceKind(
            share=item.share,
            library=library if own is None else own,
            draws=draws if own is None else drawn_traits(inner(entry, "library")),
            speed=source.speed if item.speed is None else item.speed,
            age=source.age if item.age is None else item.age,
            errands=errands
            if item.errands is None
            else self._list(item.errands, _at(entry, item.errands, "errands"), ()),
        )

    def _rule(self, entry: SceneEntry) -> Rule:
        item: RuleItem = entry.value
        if item.reach is not None and item.reach not in self.places:
            self.problems.append(entry.problem("reach", text=_unknown(item.reach, "place", list(self.places))))
        if item.press is not None:
            self.things.known(item.press, entry, "press")
        doors = [door.name for door in self.world.doors]
        for key, names in (("open", item.open or ()), ("close", item.close or ())):
            for k, name in enumerate(names):
                if name not in doors:
                    self.problems.append(entry.problem(key, k, text=_unknown(name, "door", doors)))
        groups = [group.name for group in self.groups.groups]
        known = [*groups, *self.people, *(source.name for source in self.sources)]
        for k, name in enumerate(item.send if isinstance(item.send, tuple) else ()):
            if name not in known:
                self.problems.append(entry.problem("send", k, text=_unknown(name, "character, group or source", known)))
        return Rule(
            event=item.event,
            at=item.at,
            after=item.after,
            delay=item.delay,
            reach=item.reach,
            count=item.count,
            press=item.press,
            who=item.send if isinstance(item.send, tuple) else None,
            errands=() if item.errands is None else self._list(item.errands, _at(entry, item.errands, "errands"), ()),
            opens=item.open or (),
            closes=item.close or (),
        )

    def _check_events(self, whole: MergedScene) -> None:
        """Report rules that wait for events that no rule makes, and waits for such events."""
        events = [rule.event for rule in self.rules]
        for rule, entry in zip(self.rules, whole.lists["rules"], strict=True):
            if rule.after is not None and rule.after not in events:
                self.problems.append(entry.problem("after", text=_unknown(rule.after, "event", events)))
        asked = [(group.entry, self.errands[group.first]) for group in self.groups.groups]
        asked += [(e, k.errands) for e, s in zip(whole.lists["sources"], self.sources, strict=True) for k in s.kinds]
        asked += [(entry, rule.errands) for rule, entry in zip(self.rules, whole.lists["rules"], strict=True)]
        doors = {door.name for door in self.world.doors}
        movers = list(dict.fromkeys(m.name for m in self.world.movers if m.name and m.name not in doors))
        said = set[str]()
        for entry, errands in asked:
            for errand in (one for one in every(errands) if isinstance(one, Wait)):
                if errand.event is not None and errand.event not in {*events, *said}:
                    said.add(errand.event)
                    text = f"waits for an event that no rule makes: {_unknown(errand.event, 'event', events)}"
                    self.problems.append(entry.problem("errands", text=text))
                if errand.mover is not None and errand.mover not in {*movers, *said}:
                    said.add(errand.mover)
                    self.problems.append(entry.problem("errands", text=_unknown(errand.mover, "mover", movers)))


def _at(entry: SceneEntry, value: Any, key: str) -> SceneEntry:
    return SceneEntry(value, entry.document, (*entry.place, key))


def _height(value: Sequence[float] | None) -> float | None:
    """Return the height of a pose of a scene file [m]; None if it has none."""
    return float(value[3]) if value is not None and len(value) > 3 else None
