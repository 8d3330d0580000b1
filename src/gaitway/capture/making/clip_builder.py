"""Where clips are made and judged: pieces in, behaviours out, with their mirror images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gaitway.capture.cutting.cuts import Nearness, Piece
from gaitway.capture.cutting.hubs import Hub, other_side
from gaitway.capture.cutting.snapping import Snapped, snap
from gaitway.capture.making.candidates import Group, mirrored_name
from gaitway.capture.making.gate import Bars, Gate, Quality, measured, passes_nothing, refusal
from gaitway.core.errors import GaitwayError

Maker = Callable[[], Snapped]
"""Makes a clip; what goes wrong in it is a reason not to have it."""


NUMERIC = (ArithmeticError, LookupError, ValueError, np.linalg.LinAlgError)
"""What solvers raise for motion that makes no sense."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A behaviour of the library to be."""

    name: str
    start: Hub
    end: Hub
    clips: tuple[Snapped, ...]
    qualities: tuple[Quality, ...]

    @property
    def made(self) -> str:
        """How it was made, where none of its clips is a piece of the capture."""
        return self.clips[0].made if all(c.made for c in self.clips) else ""

    @property
    def special(self) -> str:
        """Kind of obstacle that it passes, or ""."""
        return self.clips[0].special

    @property
    def turn(self) -> float:
        """How far its first clip turns, hub to hub [rad]."""
        headings = self.clips[0].clip.headings()
        return float(headings[-1] - headings[0])


@dataclass(frozen=True, eq=False)
class Judged:
    """A clip that is good enough."""

    snapped: Snapped
    quality: Quality
    doubt: tuple[str, str, str]
    """Name, place, and why it does not pass the strict gate but only that for what is rare; "" where it does."""

    def in_mirror(self) -> Judged:
        """The same, marked as a mirror image."""
        return replace(self, snapped=replace(self.snapped, mirrored=True))


@dataclass(eq=False)
class Workshop:
    """What is needed to make clips of one subject. **Mutable**: it notes what it refuses."""

    nearness: Nearness
    bars: Bars
    gate: Gate
    refused: list[tuple[str, str, str]] = field(default_factory=list)
    """Name of a behaviour, take and frames, and the reason."""
    unwanted: frozenset[str] = frozenset()
    """Mirrored takes that no clip shall come from."""
    passed_over: list[str] = field(default_factory=list)
    """Behaviours that were not tried, because there are enough."""

    @property
    def hubs(self) -> dict[str, Hub]:
        """By name."""
        return {hub.name: hub for hub in self.nearness.hubs}

    def twin(self, hub: Hub) -> Hub:
        """The hub in the mirror."""
        return self.hubs[other_side(hub.name)] if hub.kind == "step" else hub

    def judged(self, name: str, make: Maker, *, rare: bool) -> Judged | None:
        """A clip that passes the gate, at least that for what is rare; else None, with the reason noted."""
        try:
            snapped = make()
            quality = measured(snapped.clip, self.bars, snapped.raw)
        except (GaitwayError, *NUMERIC) as problem:  # one piece that cannot be solved does not end an import
            self.refused.append((name, "", str(problem)))
            return None
        where = f"{snapped.source} {snapped.frames[0]}-{snapped.frames[1]}"
        why = refusal(quality, self.gate, self.bars, rare=True) or passes_nothing(snapped, self.bars.size)
        if why:
            self.refused.append((name, where, why))
            return None
        return Judged(snapped, quality, (name, where, refusal(quality, self.gate, self.bars, rare=rare)))

    def pair(self, name: str, makers: Sequence[tuple[Maker, Maker]], most: int, *, rare: bool) -> list[Entry]:
        """Behaviours of clips and of their mirror images; of each pair both pass the gate, or neither is used.

        Where none passes the strict gate, the best that passes the one for what is rare is better than nothing.

        Args:
            name: of the first of both.
            makers: how to make each clip and its mirror image, the likeliest first.
            most: no more clips than this.
            rare: whether a little more is forgiven from the start.
        """
        good: list[tuple[Judged, Judged]] = []
        spare: list[tuple[Judged, Judged]] = []
        for make, make_mirror in makers:
            if len(good) >= most:
                break
            one = self.judged(name, make, rare=rare)
            other = self.judged(mirrored_name(name), make_mirror, rare=rare) if one is not None else None
            if one is not None and other is not None:
                (spare if one.doubt[2] or other.doubt[2] else good).append((one, other))
        if not good and spare:
            good = [min(spare, key=lambda both: max(judged.quality.score for judged in both))]
        self.refused += [
            j.doubt for both in spare if not any(both is used for used in good) for j in both if j.doubt[2]
        ]
        if not good:
            return []
        ones, others = [both[0] for both in good], [both[1].in_mirror() for both in good]
        if mirrored_name(name) == name and ones[0].snapped.start is others[0].snapped.start:
            return [_entry(name, [*ones, *others])]
        return [_entry(name, ones), _entry(mirrored_name(name), others)]

    def captured(self, groups: Sequence[Group], most: int) -> list[Entry]:
        """Behaviours of pieces of the capture."""
        out: list[Entry] = []
        for group in groups:
            makers = [
                (_snapping(c.piece), _snapping(c.mirror)) for c in group.candidates[: most + 2] if c.mirror is not None
            ]
            out += self.pair(group.name, makers, 1 if group.candidates[0].piece.special else most, rare=group.rare)
        return [entry for entry in map(self._wanted, out) if entry is not None]

    def _wanted(self, entry: Entry) -> Entry | None:
        """A behaviour without clips of takes that shall not be mirrored."""
        kept = [k for k, clip in enumerate(entry.clips) if clip.source not in self.unwanted]
        clips, qualities = tuple(entry.clips[k] for k in kept), tuple(entry.qualities[k] for k in kept)
        return replace(entry, clips=clips, qualities=qualities) if kept else None


def _snapping(piece: Piece) -> Maker:
    return lambda: snap(piece)


def _entry(name: str, clips: Sequence[Judged]) -> Entry:
    first = clips[0].snapped
    return Entry(name, first.start, first.end, tuple(c.snapped for c in clips), tuple(c.quality for c in clips))
