"""What the columns of a trajectory table mean: their names in many programs, and units that stand in names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

METERS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
"""Units of length by name [m]."""
_SECONDS = {"s": 1.0, "ms": 0.001, "us": 1e-6, "ns": 1e-9}
_LENGTHS = {
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), "cm"),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), "mm"),
}
_TIMES = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "msec", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nanoseconds"), "ns"),
}
_ANGLES = {
    **dict.fromkeys(("deg", "degree", "degrees"), "deg"),
    **dict.fromkeys(("rad", "radian", "radians"), "rad"),
}
_UNITS = {"x": _LENGTHS, "y": _LENGTHS, "time": _TIMES, "heading": _ANGLES}

_WORDS = {
    "id": "id pid person personid ped pedid pedestrian pedestrianid agent agentid track trackid objectid object actor "
    "actorid character characterid subject subjectid human humanid walker no nr name",
    "frame": "frame frameid framenumber frameno framenr framenum fr fn step timestep",
    "time": "time t times timestamp simtime simsec seconds sec clock",
    "x": "x posx xpos positionx px xposition centerx centrex headx coordx coordcentx startx xcoord xcoordinate worldx "
    "xworld",
    "y": "y posy ypos positiony py yposition centery centrey heady coordy coordcenty starty ycoord ycoordinate worldy "
    "yworld",
    "heading": "heading yaw theta orientation direction facing angle",
    "ori_x": "orix orientationx directionx dirx headingx facingx",
    "ori_y": "oriy orientationy directiony diry headingy facingy",
}
_ROLES = {word: (role, rank) for role, words in _WORDS.items() for rank, word in enumerate(words.split())}
"""What a word means, and how sure that is: of two columns of one meaning, the first of the list counts."""
JUELICH = ("id", "frame", "x", "y", "z")
"""Columns of a table without names: those of Juelich's archive and of PedPy."""
_UNIT = re.compile(r"[\[({/]\s*([a-z]+)\s*[\])}]?\s*$")
_TAIL = re.compile(r"[ _.-]([a-z]+)$")


@dataclass(frozen=True)
class Columns:
    """Where in a row each thing stands, and the units that the names tell."""

    places: dict[str, int]
    """Column of each of id, frame, time, x, y, heading, ori_x and ori_y that there is."""
    length: str | None = None
    """Unit of x and y: m, cm, mm, or None if the names do not tell it."""
    second: float | None = None
    """Unit of the times [s], or None."""
    degrees: bool | None = None
    """Whether headings are degrees, or None if the names do not tell it."""

    @property
    def missing(self) -> tuple[str, ...]:
        """What a trajectory needs and this table lacks."""
        needed = [role for role in ("id", "x", "y") if role not in self.places]
        if not {"frame", "time"} & self.places.keys():
            needed.insert(min(1, len(needed)), "frame or time")
        return tuple(needed)


def columns_of(names: Sequence[str]) -> Columns:
    """Return what columns of these names mean; of several with one meaning the best known name counts."""
    best: dict[str, tuple[int, int, str | None]] = {}
    for column, name in enumerate(names):
        role, rank, unit = _meaning(name)
        if role is not None and (role not in best or rank < best[role][0]):
            best[role] = (rank, column, unit)
    units = {role: unit for role, (_, _, unit) in best.items()}
    second = units.get("time")
    angle = units.get("heading")
    return Columns(
        places={role: column for role, (_, column, _) in best.items()},
        length=units.get("x") or units.get("y"),
        second=None if second is None else _SECONDS[second],
        degrees=None if angle is None else angle == "deg",
    )


def _meaning(name: str) -> tuple[str | None, int, str | None]:
    """Return what a column of a name holds, how sure that is, and its unit if the name tells one."""
    word = name.strip().strip("\"'").lower().removeprefix("$pedestrian:")
    word = re.sub(r"-pid\d+$", "", word)
    found = _UNIT.search(word)
    bare = word[: found.start()] if found else word
    role, rank = _ROLES.get(re.sub(r"[^a-z]", "", bare), (None, 0))
    unit = found.group(1) if found else None
    if role is None and (tail := _TAIL.search(word)):  # x_cm, time_ms, heading_deg
        role, rank = _ROLES.get(re.sub(r"[^a-z]", "", word[: tail.start()]), (None, 0))
        unit = tail.group(1)
        if role is None or unit not in _UNITS.get(role, {}):
            return None, 0, None
    if role is None:
        return None, 0, None
    return role, rank, _UNITS.get(role, {}).get(unit or "")
