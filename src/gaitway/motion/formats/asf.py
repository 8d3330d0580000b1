"""ASF files: the skeleton half of an Acclaim ASF/AMC pair."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from gaitway.core.errors import FormatError
from gaitway.motion.formats.source import MAX_DEPTH, decoded, parse_number, quoted, read_text
from gaitway.motion.skeleton import MAX_JOINTS

ROOT = "root"
_DOF_NAMES = ("rx", "ry", "rz", "tx", "ty", "tz", "l")
Vector = tuple[float, float, float]


@dataclass
class AsfBone:
    """One bone; the joint it turns about is where it begins. The root is a bone without length."""

    name: str
    line: int
    direction: Vector = (0.0, 0.0, 0.0)
    """Unit vector of the rest pose, world axes."""
    length: float = 0.0
    """File units."""
    axis: Vector = (0.0, 0.0, 0.0)
    """Angles of the bone's own axes against the world's, in the file's angle unit."""
    axis_order: str = "xyz"
    """Order in which those angles are applied."""
    dof: tuple[str, ...] = ()
    """Channels in the order of the AMC file, lower case: rx ry rz tx ty tz l."""
    limits: tuple[tuple[float, float], ...] = ()
    """Lowest and highest value of each of `dof`, the file's angle unit; infinite where the file has no bound."""
    children: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class AsfSkeleton:
    """A parsed ASF file."""

    path: Path
    bones: list[AsfBone]
    """The root first, every bone after its parent."""
    parents: list[int]
    position: Vector
    """Position of the root when its channels are zero, in file units."""
    length_unit: float
    """The file's `length`: a file unit is this part of an inch, upside down (CMU: 0.45, so 1/0.45 inch)."""
    radians: bool
    """Whether angles are radians (else degrees)."""


class _AsfLine:
    """Words of one line and its number."""

    __slots__ = ("number", "words")

    def __init__(self, number: int, words: list[str]) -> None:
        self.number = number
        self.words = words


def read_asf(path: Path) -> AsfSkeleton:
    """Parse an ASF file.

    Raises:
        FormatError: with the line of what is wrong.
    """
    return _AsfParser(path).parse()


class _AsfParser:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.bones: dict[str, AsfBone] = {ROOT: AsfBone(ROOT, 1)}
        self.position: Vector = (0.0, 0.0, 0.0)
        self.length_unit = 1.0
        self.radians = False
        self.has_hierarchy = False

    def parse(self) -> AsfSkeleton:
        readers: dict[str, Callable[[list[_AsfLine]], None]] = {
            ":units": self.units,
            ":root": self.root,
            ":bonedata": self.bonedata,
            ":hierarchy": self.hierarchy,
        }
        sections = list(self.sections())
        if not any(head.words[0].lower() == ":bonedata" for head, _ in sections):
            raise FormatError(self.path, "is not an ASF skeleton: it has no ':bonedata' section")
        for head, lines in sections:
            reader = readers.get(head.words[0].lower())
            if reader is not None:
                reader(lines)
        if not self.has_hierarchy:
            raise FormatError(self.path, "has no ':hierarchy' section")
        bones, parents = self.in_order()
        return AsfSkeleton(self.path, bones, parents, self.position, self.length_unit, self.radians)

    def sections(self) -> Iterator[tuple[_AsfLine, list[_AsfLine]]]:
        """Return each ":keyword" line with the lines up to the next."""
        head: _AsfLine | None = None
        body: list[_AsfLine] = []
        for number, text in enumerate(read_text(self.path).split(b"\n"), start=1):
            words = decoded(text.split(b"#", 1)[0]).split()
            if not words:
                continue
            if words[0].startswith(":"):
                if head is not None:
                    yield head, body
                head, body = _AsfLine(number, words), []
            elif head is not None:
                body.append(_AsfLine(number, words))
            else:
                self.fail(f"is not an ASF file: expected a line that starts with ':', found {quoted(words[0])}", number)
        if head is not None:
            yield head, body

    def units(self, lines: list[_AsfLine]) -> None:
        for line in lines:
            key = line.words[0].lower()
            if key == "length":
                (self.length_unit,) = self.numbers(line, 1)
                if self.length_unit <= 0.0:
                    self.fail("length must be above 0", line.number)
            elif key == "angle":
                word = line.words[1].lower() if len(line.words) > 1 else ""
                if word[:3] not in ("deg", "rad"):
                    self.fail(f"angle must be deg or rad, found {quoted(word)}", line.number)
                self.radians = word.startswith("rad")

    def root(self, lines: list[_AsfLine]) -> None:
        bone = self.bones[ROOT]
        for line in lines:
            key = line.words[0].lower()
            if key == "order":
                bone.dof = self.dof(line)
            elif key == "axis":
                bone.axis_order = self.axis_order(line, line.words[1:])
            elif key == "position":
                self.position = self.vector(line)
            elif key == "orientation":
                bone.axis = self.vector(line)

    def bonedata(self, lines: list[_AsfLine]) -> None:
        bone: AsfBone | None = None
        in_limits = False
        for line in lines:
            key = line.words[0].lower()
            if key == "begin":
                bone = AsfBone("", line.number)
            elif bone is None:
                self.fail(f"expected 'begin', found {quoted(line.words[0])}", line.number)
            elif key == "end":
                self.add_bone(bone, line)
                bone = None
            elif key.startswith("(") and in_limits:
                bone.limits += self.limit_pairs(line, " ".join(line.words))
                continue
            else:
                self.bone_line(bone, line, key)
            in_limits = key == "limits"
        if bone is not None:
            self.fail(f"the bone {quoted(bone.name)} has no 'end'", bone.line)

    def bone_line(self, bone: AsfBone, line: _AsfLine, key: str) -> None:
        if key == "name":
            bone.name = line.words[1] if len(line.words) > 1 else ""
        elif key == "direction":
            bone.direction = self.unit_vector(line)
        elif key == "length":
            (bone.length,) = self.numbers(line, 1)
        elif key == "axis":
            bone.axis = self.vector(line)
            bone.axis_order = self.axis_order(line, line.words[4:5])
        elif key == "dof":
            bone.dof = self.dof(line)
        elif key == "limits":
            bone.limits = self.limit_pairs(line, " ".join(line.words[1:]))
        elif key not in ("id", "bodymass", "cofmass"):
            self.fail(f"{quoted(line.words[0])} is not known in a bone", line.number)

    def add_bone(self, bone: AsfBone, line: _AsfLine) -> None:
        if not bone.name:
            self.fail("the bone has no name", bone.line)
        if bone.name in self.bones:
            self.fail(f"bone {quoted(bone.name)} occurs twice", bone.line)
        if len(self.bones) >= MAX_JOINTS:
            self.fail(f"has more than {MAX_JOINTS} bones", line.number)
        if bone.limits and len(bone.limits) != len(bone.dof):
            self.fail(f"bone {quoted(bone.name)} has {len(bone.limits)} limits for {len(bone.dof)} dof", bone.line)
        self.bones[bone.name] = bone

    def hierarchy(self, lines: list[_AsfLine]) -> None:
        self.has_hierarchy = True
        placed = {ROOT}
        for line in lines:
            if line.words[0].lower() in ("begin", "end") and len(line.words) == 1:
                continue
            for name in line.words:
                if name not in self.bones:
                    self.fail(f"the hierarchy names {quoted(name)}, which is no bone", line.number)
            for child in line.words[1:]:
                if child in placed:
                    self.fail(f"bone {quoted(child)} has two parents", line.number)
                placed.add(child)
            self.bones[line.words[0]].children += line.words[1:]

    def in_order(self) -> tuple[list[AsfBone], list[int]]:
        """Return the bones with parents first, and the parent of each."""
        bones: list[AsfBone] = []
        parents: list[int] = []
        stack = [(ROOT, -1, 1)]
        while stack:
            name, parent, depth = stack.pop()
            if depth > MAX_DEPTH:
                self.fail(f"bones are nested more than {MAX_DEPTH} deep", self.bones[name].line)
            stack.extend((child, len(bones), depth + 1) for child in reversed(self.bones[name].children))
            bones.append(self.bones[name])
            parents.append(parent)
        if len(bones) < len(self.bones):
            lost = next(bone for bone in self.bones.values() if all(bone is not b for b in bones))
            self.fail(f"bone {quoted(lost.name)} does not hang on the root in ':hierarchy'", lost.line)
        return bones, parents

    def dof(self, line: _AsfLine) -> tuple[str, ...]:
        names = tuple(word.lower() for word in line.words[1:])
        if len(set(names)) < len(names) or any(name not in _DOF_NAMES for name in names):
            self.fail(
                f"expected some of {', '.join(_DOF_NAMES)}, each once, after {quoted(line.words[0])}", line.number
            )
        return names

    def axis_order(self, line: _AsfLine, words: list[str]) -> str:
        order = words[0].lower() if words else "xyz"
        if sorted(order) != ["x", "y", "z"]:
            self.fail(f"axis order {quoted(order)} must name each of X, Y, Z once", line.number)
        return order

    def limit_pairs(self, line: _AsfLine, text: str) -> tuple[tuple[float, float], ...]:
        pairs = re.findall(r"\(([^()]*)\)", text)
        found = []
        for pair in pairs:
            bounds = [_bound(word) for word in pair.replace(",", " ").split()]
            if len(bounds) != 2 or bounds[0] is None or bounds[1] is None:
                self.fail(f"limits ({pair[:40]}) must be two numbers", line.number)
            found.append((bounds[0], bounds[1]))
        return tuple(found)

    def numbers(self, line: _AsfLine, count: int) -> list[float]:
        values = [parse_number(word) for word in line.words[1 : 1 + count]]
        good = [value for value in values if value is not None]
        if len(good) != count:
            self.fail(f"{quoted(line.words[0])} needs {count} finite numbers", line.number)
        return good

    def vector(self, line: _AsfLine) -> Vector:
        x, y, z = self.numbers(line, 3)
        return x, y, z

    def unit_vector(self, line: _AsfLine) -> Vector:
        x, y, z = self.vector(line)
        length = math.sqrt(x * x + y * y + z * z)
        if length < 1e-9:
            self.fail("direction must not be zero", line.number)
        return x / length, y / length, z / length

    def fail(self, problem: str, line: int) -> NoReturn:
        raise FormatError(self.path, problem, line)


def _bound(word: str) -> float | None:
    """Return a limit; "-inf" and "inf" are allowed there."""
    return float(word) if word.lower() in ("inf", "-inf", "+inf") else parse_number(word)
