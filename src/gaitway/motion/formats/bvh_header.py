"""The hierarchy of a BVH file: joints, channels, and where the numbers begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import FormatError
from gaitway.motion.formats.source import MAX_DEPTH, decoded, line_of, parse_count, parse_number, quoted
from gaitway.motion.skeleton import MAX_JOINTS

_TOKEN = re.compile(rb"[{}]|[^\s{}]+")
_FRAMES = re.compile(rb"\s*Frames[ \t]*:[ \t]*([^\s]*)", re.IGNORECASE)
_FRAME_TIME = re.compile(rb"\s*Frame[ \t]*Time[ \t]*:[ \t]*([^\s]*)", re.IGNORECASE)
_AXES = {b"x": 0, b"y": 1, b"z": 2}
_CHANNEL = re.compile(rb"([xyz])(position|rotation)", re.IGNORECASE)


class Token(NamedTuple):
    """A word or brace of the header and where it stands."""

    text: bytes
    start: int
    end: int


@dataclass
class Joint:
    """One joint as the file declares it; positions and columns are -1 where a channel is missing."""

    name: str
    parent: int
    depth: int
    offset: tuple[float, float, float] | None = None
    position_columns: list[int] = field(default_factory=lambda: [-1, -1, -1])
    rotations: list[tuple[int, int]] = field(default_factory=list)
    """Column and axis of each rotation channel in file order."""
    has_channels: bool = False


@dataclass(frozen=True, eq=False)
class BvhHeader:
    """Everything before the numbers."""

    joints: list[Joint]
    tips: dict[int, tuple[float, float, float]]
    columns: int
    """Numbers in a frame."""
    declared_frames: int
    frame_time: float
    """Seconds a frame, as the file says; may be zero or negative in a file that lies."""
    data_start: int
    """First byte of the numbers."""
    ignored_tips: int
    """End sites beyond the first of a joint."""

    @property
    def parents(self) -> IntArray:
        """Parents of the joints; (J,)."""
        return np.array([joint.parent for joint in self.joints], dtype=np.int64)

    @property
    def offsets(self) -> FloatArray:
        """Offsets of the joints in file units; (J, 3)."""
        return np.array([joint.offset for joint in self.joints], dtype=np.float64)

    @property
    def position_columns(self) -> IntArray:
        """Columns of the x, y, z position channels, -1 where there is none; (J, 3)."""
        return np.array([joint.position_columns for joint in self.joints], dtype=np.int64)

    @property
    def rotation_channels(self) -> tuple[IntArray, IntArray]:
        """Columns and axes of the rotation channels in file order, -1 where there is none; (J, 3) each."""
        table = np.full((len(self.joints), 3, 2), -1, dtype=np.int64)
        for row, joint in zip(table, self.joints, strict=True):
            if joint.rotations:
                row[: len(joint.rotations)] = joint.rotations
        return np.ascontiguousarray(table[..., 0]), np.ascontiguousarray(table[..., 1])


def read_header(path: Path, data: bytes) -> BvhHeader:
    """Parse the hierarchy and the two lines that follow MOTION.

    Raises:
        FormatError: with the line of the first thing that is not as it must be.
    """
    return _HeaderParser(path, data).parse()


class _HeaderParser:
    """One pass over the tokens with an explicit stack, so that nesting costs no Python frames."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        self.tokens = self._tokenise()
        self.joints: list[Joint] = []
        self.tips: dict[int, tuple[float, float, float]] = {}
        self.columns = 0
        self.ignored_tips = 0

    def parse(self) -> BvhHeader:
        first = self.next("HIERARCHY")
        if first.text.upper() != b"HIERARCHY":
            self.fail(f"is not a BVH file: it begins with {quoted(first.text)}, not with HIERARCHY", first)
        root = self.next("ROOT")
        if root.text.upper() != b"ROOT":
            self.fail(f"expected ROOT, found {quoted(root.text)}", root)
        self.begin_joint(root, parent=-1)
        self.joint_bodies()
        motion = self.next("MOTION")
        if motion.text.upper() == b"ROOT":
            self.fail("has a second ROOT; one figure a file is read, so split the file", motion)
        if motion.text.upper() != b"MOTION":
            self.fail(f"expected MOTION after the hierarchy, found {quoted(motion.text)}", motion)
        if self.columns == 0:
            self.fail("no joint has a channel, so there is no motion to read", motion)
        return self.motion_lines(motion)

    def joint_bodies(self) -> None:
        """Parse everything between the root's braces."""
        open_joints = [0]
        while open_joints:
            joint = self.joints[open_joints[-1]]
            token = self.next("'}'")
            word = token.text.upper()
            if word == b"}":
                if joint.offset is None:
                    self.fail(f"joint {quoted(joint.name)} has no OFFSET", token)
                open_joints.pop()
            elif word == b"OFFSET":
                if joint.offset is not None:
                    self.fail(f"joint {quoted(joint.name)} has a second OFFSET", token)
                joint.offset = self.three_numbers(token)
            elif word == b"CHANNELS":
                self.channels(token, joint)
            elif word == b"JOINT":
                self.begin_joint(token, parent=open_joints[-1])
                open_joints.append(len(self.joints) - 1)
            elif word == b"END":
                self.end_site(token, open_joints[-1])
            else:
                self.fail(f"expected OFFSET, CHANNELS, JOINT, End Site or '}}', found {quoted(token.text)}", token)

    def begin_joint(self, keyword: Token, parent: int) -> None:
        """Parse a joint's name, which runs to the end of the line or to the brace, and the brace."""
        name, brace = self.words_to_brace(keyword)
        if not name:
            self.fail(f"{quoted(keyword.text)} needs a name", keyword)
        if len(self.joints) >= MAX_JOINTS:
            self.fail(f"has more than {MAX_JOINTS} joints", brace)
        depth = self.joints[parent].depth + 1 if parent >= 0 else 1
        if depth > MAX_DEPTH:
            self.fail(f"joints are nested more than {MAX_DEPTH} deep", brace)
        self.joints.append(Joint(name, parent, depth))

    def words_to_brace(self, keyword: Token) -> tuple[str, Token]:
        """Return the words between a keyword and the next opening brace, with the brace."""
        first = last = None
        token = self.next("'{'")
        while token.text != b"{":
            begin = keyword.end if last is None else last.end
            if token.text == b"}" or b"\n" in self.data[begin : token.start]:
                self.fail(f"expected '{{', found {quoted(token.text)}", token)
            first, last = first or token, token
            token = self.next("'{'")
        name = decoded(self.data[first.start : last.end]) if first and last else ""
        return name, token

    def channels(self, keyword: Token, joint: Joint) -> None:
        if joint.has_channels:
            self.fail(f"joint {quoted(joint.name)} has a second CHANNELS", keyword)
        joint.has_channels = True
        token = self.next("a number of channels")
        count = parse_count(token.text)
        if count is None or not 0 <= count <= 6:
            self.fail(f"CHANNELS {quoted(token.text)} must be a number from 0 to 6", token)
        for _ in range(count):
            token = self.next("a channel name")
            match = _CHANNEL.fullmatch(token.text)
            if match is None:
                self.fail(f"{quoted(token.text)} is no channel; expected such as Xposition or Zrotation", token)
            axis = _AXES[match.group(1).lower()]
            if match.group(2).lower() == b"position":
                if joint.position_columns[axis] >= 0:
                    self.fail(f"joint {quoted(joint.name)} has {quoted(token.text)} twice", token)
                joint.position_columns[axis] = self.columns
            else:
                if len(joint.rotations) == 3:
                    self.fail(f"joint {quoted(joint.name)} has more than three rotations", token)
                joint.rotations.append((self.columns, axis))
            self.columns += 1

    def end_site(self, keyword: Token, joint: int) -> None:
        self.words_to_brace(keyword)
        token = self.next("OFFSET")
        if token.text.upper() != b"OFFSET":
            self.fail(f"expected OFFSET in an End Site, found {quoted(token.text)}", token)
        tip = self.three_numbers(token)
        token = self.next("'}'")
        if token.text != b"}":
            self.fail(f"expected '}}' to end the End Site, found {quoted(token.text)}", token)
        if joint in self.tips:
            self.ignored_tips += 1
        else:
            self.tips[joint] = tip

    def three_numbers(self, keyword: Token) -> tuple[float, float, float]:
        values = []
        for _ in range(3):
            token = self.next("three numbers after OFFSET")
            value = parse_number(token.text)
            if value is None:
                self.fail(f"{quoted(keyword.text)} needs three finite numbers, found {quoted(token.text)}", token)
            values.append(value)
        return values[0], values[1], values[2]

    def motion_lines(self, motion: Token) -> BvhHeader:
        """Return the lines "Frames: n" and "Frame Time: t"."""
        frames_word, after = self.match_line(_FRAMES, motion.end, "Frames: NUMBER")
        frames = parse_count(frames_word)
        if frames is None or frames < 0:
            self.fail_at(f"Frames: {quoted(frames_word)} must be a whole number from 0", after)
        time_word, after = self.match_line(_FRAME_TIME, after, "Frame Time: SECONDS")
        frame_time = parse_number(time_word)
        if frame_time is None:
            self.fail_at(f"Frame Time: {quoted(time_word)} must be a number of seconds", after)
        return BvhHeader(self.joints, self.tips, self.columns, frames, frame_time, after, self.ignored_tips)

    def match_line(self, pattern: re.Pattern[bytes], start: int, wanted: str) -> tuple[bytes, int]:
        match = pattern.match(self.data, start)
        if match is None:
            token = _TOKEN.search(self.data, start)
            found = f"found {quoted(token.group())}" if token else "the file ends"
            self.fail_at(f"expected '{wanted}', {found}", token.start() if token else len(self.data.rstrip()))
        return match.group(1), match.end()

    def _tokenise(self) -> Iterator[Token]:
        for match in _TOKEN.finditer(self.data):
            yield Token(match.group(), match.start(), match.end())

    def next(self, wanted: str) -> Token:
        """Return the next token; `wanted` says what the file should go on with."""
        token = next(self.tokens, None)
        if token is None:
            self.fail_at(f"the file ends where {wanted} was expected", len(self.data.rstrip()))
        return token

    def fail(self, problem: str, token: Token) -> NoReturn:
        self.fail_at(problem, token.start)

    def fail_at(self, problem: str, position: int) -> NoReturn:
        raise FormatError(self.path, problem, line_of(self.data, position))
