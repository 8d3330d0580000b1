"""Edits of a scene, as functions from one model of a scene file to the next.

Things are named by their list and number, such as "obstacles/3": removing one renumbers those after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import shapely
import shapely.affinity
from pydantic import ValidationError

from gaitway.core.errors import StudioError
from gaitway.scene.area_models import AreaItem
from gaitway.scene.errand_models import PlaceItem
from gaitway.scene.model import SceneModel, SourceItem
from gaitway.scene.reading.documents import plain_data
from gaitway.studio.events import AddItem, AddPeople, AddSource
from gaitway.world.levels.floors import Floor, Floors

LISTS = ("obstacles", "specials", "movers")
Data = dict[str, Any]
"""A scene, or a part of one, as plain values."""
_RIM = 0.4
"""Half the width of a ring as it is drawn [m]."""
_SEAT, _BEHIND = 0.45, 0.1
"""Height of a seat unless told otherwise, and how far behind its front edge a seat lies on its bench [m]; their heights
differ by no more than that either."""
MOVER_SECONDS = 8.0
"""Time that a new mover takes to go there and back [s]."""


def item_names(model: SceneModel) -> tuple[str, ...]:
    """Return the names of all obstacles and movers."""
    return tuple(f"{key}/{number}" for key in LISTS for number in range(len(getattr(model, key) or ())))


def item_pose(model: SceneModel, item: str) -> tuple[float, float, float]:
    """Return where an obstacle is: x, y [m] and yaw [degrees]; for a mover where its path begins."""
    key, number, data = _part(model, item)
    return _pose(key, data[key][number])


def move_item(model: SceneModel, item: str, x: float, y: float, yaw_deg: float) -> SceneModel:
    """Return the model with an obstacle or mover elsewhere; the seats on a bench move with it."""
    key, number, data = _part(model, item)
    old, new = _pose(key, data[key][number]), (x, y, yaw_deg)
    if data.get("places"):
        data["places"] = _with_seats(data["places"], key, data[key][number], old, new)
    data[key] = [*data[key]]
    data[key][number] = _moved(key, data[key][number], old, new)
    return _model(data)


def remove_item(model: SceneModel, item: str) -> SceneModel:
    """Return the model without an obstacle or mover."""
    key, number, data = _part(model, item)
    data[key] = [entry for k, entry in enumerate(data[key]) if k != number]
    return _model(data)


def add_item(model: SceneModel, new: AddItem) -> tuple[SceneModel, str]:
    """Return the model with one more obstacle or mover, and its name."""
    key, entry = _new_item(new)
    data = _data(model)
    data[key] = [*data.get(key, ()), entry]
    return _model(data), f"{key}/{len(data[key]) - 1}"


def add_people(model: SceneModel, new: AddPeople, name: str) -> SceneModel:
    """Return the model with one more group."""
    areas = [{"circle": {"center": at, "radius": new.radius}} for at in ((new.x, new.y), (new.goal_x, new.goal_y))]
    entry: Data = {"count": new.count, "name": name, "start_area": areas[0], "goal_area": areas[1]}
    floors = {"start_floor": new.floor, "goal_floor": new.goal_floor}
    entry |= {key: floor for key, floor in floors.items() if floor}
    data = _data(model)
    data["characters"] = [*data.get("characters", ()), entry]
    return _model(data)


def remove_people(model: SceneModel, count: int) -> SceneModel:
    """Return the model with fewer characters; the latest go first."""
    data = _data(model)
    entries = [dict(entry) for entry in data.get("characters", ())]
    left = count
    while entries and left > 0:
        here = int(entries[-1].get("count") or 1)
        if here > left:
            entries[-1]["count"] = here - left
            break
        entries.pop()
        left -= here
    data["characters"] = entries
    return _model(data)


def goal_names(model: SceneModel) -> tuple[str, ...]:
    """Return the names of all groups and single characters that go to an area."""
    return tuple(f"characters/{k}" for k, item in enumerate(model.characters or ()) if item.goal_area is not None)


def goal_area(model: SceneModel, group: str) -> shapely.Geometry:
    """Return the goal area of a group; for a ring what is near it."""
    return _geometry(_goal_area(model, group))


def _geometry(area: AreaItem) -> shapely.Geometry:
    if area.rectangle is not None:
        return shapely.box(*area.rectangle)
    if area.polygon is not None:
        return shapely.Polygon(area.polygon)
    round_ = area.circle or area.ring
    assert round_ is not None
    middle = shapely.Point(round_.center)
    if area.circle is not None:
        return middle.buffer(round_.radius)
    return middle.buffer(round_.radius + _RIM).difference(middle.buffer(max(round_.radius - _RIM, 0.0)))


def goal_floor(model: SceneModel, group: str, floors: Floors | None) -> Floor | None:
    """Return the floor of the goal area of a group; None in a place with one floor, or for a floor that is not there.

    Args:
        model: the scene.
        group: name of the group.
        floors: floors of the place; None if it has one.
    """
    if floors is None:
        return None
    item = (model.characters or ())[int(group.partition("/")[2])]
    if item.goal_floor is None:
        return floors.widest(goal_area(model, group))
    return next((floor for floor in floors.floors if floor.name == item.goal_floor), None)


def move_goal(model: SceneModel, group: str, x: float, y: float) -> SceneModel:
    """Return the model with the goal area of a group elsewhere; x, y [m] is its new middle."""
    middle, data = goal_area(model, group).centroid, _data(model)
    place = _carrier((middle.x, middle.y, 0.0), (x, y, 0.0))
    number = int(group.partition("/")[2])
    entries = [*data["characters"]]
    entries[number] = {**entries[number], "goal_area": _carried_area(entries[number]["goal_area"], place)}
    data["characters"] = entries
    return _model(data)


def place_area(model: SceneModel, place: str) -> shapely.Geometry:
    """Return where a place is: a point, an area, a line, or the front edges of seats as points."""
    item = _place(model, place)
    if item.area is not None:
        return _geometry(item.area)
    if item.line is not None:
        return shapely.LineString(item.line)
    if item.seats is not None:
        return shapely.MultiPoint([seat.at[:2] for seat in item.seats])
    return shapely.Point((item.at or (0.0, 0.0))[:2])


def source_area(model: SceneModel, source: str) -> shapely.Geometry:
    """Return where people of a source come in."""
    return _geometry(_source(model, source)[1].area)


def move_place(model: SceneModel, place: str, x: float, y: float) -> SceneModel:
    """Return the model with a place elsewhere; x, y [m] is its new middle, see `place_area`."""
    middle, data = place_area(model, place).centroid, _data(model)
    carry = _carrier((middle.x, middle.y, 0.0), (x, y, 0.0))
    entry = data["places"][place]
    if not isinstance(entry, Mapping):  # a point is written as one
        entry = (*carry(entry[:2]), *entry[2:])
    elif "at" in entry:
        entry = {**entry, "at": (*carry(entry["at"][:2]), *entry["at"][2:])}
    elif "area" in entry:
        entry = {**entry, "area": _carried_area(entry["area"], carry)}
    elif "line" in entry:
        entry = {**entry, "line": _carried(entry["line"], carry)}
    else:
        seats = [{**seat, "at": (*carry(seat["at"][:2]), *seat["at"][2:])} for seat in entry["seats"]]
        entry = {**entry, "seats": seats}
    data["places"] = {**data["places"], place: entry}
    return _model(data)


def move_source(model: SceneModel, source: str, x: float, y: float) -> SceneModel:
    """Return the model with the area of a source elsewhere; x, y [m] is its new middle."""
    (number, _), data = _source(model, source), _data(model)
    middle = source_area(model, source).centroid
    carry = _carrier((middle.x, middle.y, 0.0), (x, y, 0.0))
    entries = [*data["sources"]]
    entries[number] = {**entries[number], "area": _carried_area(entries[number]["area"], carry)}
    data["sources"] = entries
    return _model(data)


def errand_givers(model: SceneModel) -> tuple[str, ...]:
    """Return the names of all sources, groups and characters that do errands, which a new source may do too."""
    people = (item.name for item in model.characters or () if item.errands and item.name)
    return tuple(dict.fromkeys([*(item.name for item in model.sources or ()), *people]))


def add_source(model: SceneModel, new: AddSource, name: str) -> SceneModel:
    """Return the model with one more source, whose people are as those of another one, or of a group."""
    if new.like not in errand_givers(model):
        known = ", ".join(errand_givers(model)) or "none"
        raise StudioError(f"nobody called '{new.like}' does errands that a source could do; there are {known}")
    data = _data(model)
    entries = [*data.get("sources", ()), *data.get("characters", ())]
    like = next(entry for entry in entries if entry.get("name") == new.like)
    entry: Data = {"name": name, "area": {"circle": {"center": (new.x, new.y), "radius": new.radius}}}
    entry |= {"rate": new.rate, "count": new.count}
    entry |= {key: like[key] for key in ("errands", "mix", "library", "plan", "speed") if key in like}
    if new.floor:
        entry["floor"] = new.floor
    data["sources"] = [*data.get("sources", ()), entry]
    return _model(data)


def remove_source(model: SceneModel, source: str) -> SceneModel:
    """Return the model without a source."""
    (number, _), data = _source(model, source), _data(model)
    data["sources"] = [entry for k, entry in enumerate(data["sources"]) if k != number]
    return _model(data)


def choose(model: SceneModel, planner: str = "", library: str = "", seed: int | None = None) -> SceneModel:
    """Return the model with another planner, library or seed; empty ones stay as they are."""
    data = _data(model)
    if planner:
        data["plan"] = {**(data.get("plan") or {}), "planner": planner}
    if library:
        data["library"] = library
    if seed is not None:
        data["seed"] = seed
    return _model(data)


def _goal_area(model: SceneModel, group: str) -> AreaItem:
    names = goal_names(model)
    if group not in names:
        raise StudioError(f"no group '{group}' that goes to an area; there are {', '.join(names) or 'none'}")
    area = (model.characters or ())[int(group.partition("/")[2])].goal_area
    assert area is not None
    return area


def _place(model: SceneModel, place: str) -> PlaceItem:
    places = model.places or {}
    if place not in places:
        raise StudioError(f"no place '{place}'; there are {', '.join(places) or 'none'}")
    return places[place]


def _source(model: SceneModel, source: str) -> tuple[int, SourceItem]:
    """Return the number of a source, and what is written of it."""
    names = [item.name for item in model.sources or ()]
    if source not in names:
        raise StudioError(f"no source '{source}'; there are {', '.join(names) or 'none'}")
    return names.index(source), (model.sources or ())[names.index(source)]


def _data(model: SceneModel) -> Data:
    return model.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)


def _model(data: Mapping[str, Any]) -> SceneModel:
    try:
        return SceneModel.model_validate(plain_data(data))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise StudioError(f"{where}: {first['msg']}") from None


def _part(model: SceneModel, item: str) -> tuple[str, int, Data]:
    """Return the list and number of an obstacle or mover, and the scene as plain values."""
    key, _, text = item.partition("/")
    entries = getattr(model, key, None) or () if key in LISTS else ()
    if not text.isdecimal() or int(text) >= len(entries):
        raise StudioError(f"no thing '{item}'; there are {', '.join(item_names(model)) or 'none'}")
    return key, int(text), _data(model)


def _shape(key: str, entry: Data) -> tuple[str, Data]:
    """Return the shape of an obstacle, and its values."""
    names = [name for name, value in entry.items() if isinstance(value, dict)]
    if len(names) != 1:
        raise StudioError(f"{key} of an unknown shape cannot be moved")
    return names[0], entry[names[0]]


def _pose(key: str, entry: Data) -> tuple[float, float, float]:
    if key == "movers":
        first = entry["path"][0]
        return first[1], first[2], first[3] if len(first) > 3 else 0.0
    _, shape = _shape(key, entry)
    if "points" in shape:
        points = shape["points"]
        return sum(p[0] for p in points) / len(points), sum(p[1] for p in points) / len(points), 0.0
    middle = shape["center"] if "center" in shape else shape.get("position", (0.0, 0.0))
    return middle[0], middle[1], shape.get("yaw_deg", 0.0)


def _moved(key: str, entry: Data, old: tuple[float, float, float], new: tuple[float, float, float]) -> Data:
    turn, out = new[2] - old[2], dict(entry)
    place = _carrier(old, new)
    if key == "movers":
        out["path"] = [
            (t, *place((x, y)), *((more[0] + turn,) if more else (turn,) if turn else ()))
            for t, x, y, *more in entry["path"]
        ]
        return out
    name, shape = _shape(key, entry)
    shape = dict(shape)
    for points in ("points", "holes"):
        if points in shape:
            shape[points] = _carried(shape[points], place)
    if "points" not in shape:
        where = "position" if "position" in shape or name == "mesh" else "center"
        before = shape.get(where, (0.0, 0.0, 0.0))
        shape[where] = (*place((before[0], before[1])), *before[2:])
        if name not in ("cylinder", "sphere"):
            shape["yaw_deg"] = new[2]
    out[name] = shape
    return out


def _with_seats(
    places: Mapping[str, Any], key: str, entry: Data, old: tuple[float, float, float], new: tuple[float, float, float]
) -> Data:
    """Return places whose seats on a thing move with it from one pose to another."""
    floor_plan, carry, turn = _floor_plan(key, entry), _carrier(old, new), new[2] - old[2]
    if floor_plan is None:
        return dict(places)
    top = float(_shape(key, entry)[1].get("height", 0.0))

    def moved(seat: Data) -> Data:
        x, y, yaw = seat["at"]
        way = math.radians(yaw)
        inside = floor_plan.covers(shapely.Point(x - _BEHIND * math.cos(way), y - _BEHIND * math.sin(way)))
        if not inside or abs(float(seat.get("height", _SEAT)) - top) > _BEHIND:
            return seat
        return {**seat, "at": (*carry((x, y)), (yaw + turn + 180.0) % 360.0 - 180.0)}

    return {
        name: {**place, "seats": [moved(seat) for seat in place["seats"]]}
        if isinstance(place, Mapping) and "seats" in place
        else place
        for name, place in places.items()
    }


def _floor_plan(key: str, entry: Data) -> shapely.Geometry | None:
    """Return the floor plan of a thing that may be a bench: of a box, a cylinder or a polygon; None for all others."""
    if key != "obstacles":
        return None
    name, shape = _shape(key, entry)
    if name == "box":
        (x, y), (length, width) = shape["center"][:2], shape["size"][:2]
        flat = shapely.box(x - 0.5 * length, y - 0.5 * width, x + 0.5 * length, y + 0.5 * width)
        return shapely.affinity.rotate(flat, shape.get("yaw_deg", 0.0))
    if name == "cylinder":
        return shapely.Point(shape["center"][:2]).buffer(shape["radius"])
    return shapely.Polygon(shape["points"]) if name == "polygon" else None


def _carrier(
    old: tuple[float, float, float], new: tuple[float, float, float]
) -> Callable[[tuple[float, float]], tuple[float, float]]:
    """Return points that are fixed to a body which moves from one pose to another."""
    c, s = math.cos(math.radians(new[2] - old[2])), math.sin(math.radians(new[2] - old[2]))

    def place(point: tuple[float, float]) -> tuple[float, float]:
        u, v = point[0] - old[0], point[1] - old[1]
        return round(new[0] + c * u - s * v, 4), round(new[1] + s * u + c * v, 4)

    return place


def _carried_area(written: Any, place: Callable[[tuple[float, float]], tuple[float, float]]) -> Data:
    """Return an area of a scene file elsewhere."""
    area = dict(written) if isinstance(written, Mapping) else {"rectangle": written}
    if "rectangle" in area:
        x0, y0, x1, y1 = area["rectangle"]
        area["rectangle"] = (*place((x0, y0)), *place((x1, y1)))
    elif "polygon" in area:
        area["polygon"] = _carried(area["polygon"], place)
    else:
        key = "circle" if "circle" in area else "ring"
        area[key] = {**area[key], "center": place(area[key]["center"])}
    return area


def _carried(points: Any, place: Callable[[tuple[float, float]], tuple[float, float]]) -> list[Any]:
    """Return points, or lists of points, elsewhere."""
    return [place(p) if isinstance(p[0], int | float) else _carried(p, place) for p in points]


def _new_item(new: AddItem) -> tuple[str, Data]:
    """Return the list that a new obstacle or mover belongs to, and its entry."""
    at, box = (new.x, new.y), {"size": (new.length, new.width), "yaw_deg": new.yaw_deg}
    over = {"bottom": round(new.bottom, 4)} if new.bottom else {}
    if new.shape == "box":
        return "obstacles", {"box": {"center": at, **box, "height": new.height, **over}}
    if new.shape == "cylinder":
        return "obstacles", {"cylinder": {"center": at, "radius": 0.5 * new.width, "height": new.height, **over}}
    if new.shape == "fence":
        clear = {"clearance": over["bottom"]} if over else {}
        return "specials", {"jump": {"center": at, **box, **clear, "height": min(new.height, 0.5)}}
    if new.shape == "beam":
        return "specials", {"duck": {"center": at, **box, "clearance": round(new.bottom + 1.25, 4), "height": 0.15}}
    c, s = math.cos(math.radians(new.yaw_deg)), math.sin(math.radians(new.yaw_deg))
    there = (new.x + new.length * c, new.y + new.length * s)
    path = [(0.0, *at), (0.5 * MOVER_SECONDS, *there), (MOVER_SECONDS, *at)]
    shape = {"radius": 0.5 * new.width, "height": new.height, **over}
    return "movers", {"cylinder": shape, "path": path, "repeat": True}
