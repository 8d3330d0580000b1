"""Builder of clips: pieces become clips, the gate checks them, and behaviours and their mirror images come out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gaitway.capture.cutting.cuts import HubDistances, TakePiece
from gaitway.capture.cutting.hubs import CaptureHub, other_side
from gaitway.capture.cutting.snapping import SnappedClip, snap_piece
from gaitway.capture.making.blended import snap_straight
from gaitway.capture.making.candidates import CandidateGroup, mirrored_name, planar_move, travel_offsets
from gaitway.capture.making.gate import (
    CaptureBaseline,
    ClipGate,
    ClipQuality,
    measure_quality,
    passing_problem,
    refusal,
    with_best_passing,
)
from gaitway.core.errors import GaitwayError

_MORE_TRIES = 2
"""Number of pieces that are tried beyond the largest number of clips."""
ClipMaker = Callable[[], SnappedClip]
"""Function that makes a clip; if it raises an error, there is no such clip."""


NUMERIC_ERRORS = (ArithmeticError, LookupError, ValueError, np.linalg.LinAlgError)
"""Errors that solvers raise for impossible motion."""


@dataclass(frozen=True, eq=False)
class BehaviorDraft:
    """Behaviour before it is part of a library."""

    name: str
    start: CaptureHub
    end: CaptureHub
    clips: tuple[SnappedClip, ...]
    qualities: tuple[ClipQuality, ...]

    @property
    def made(self) -> str:
        """How the behaviour was made; empty if one of its clips is a piece of the capture."""
        return self.clips[0].made if all(c.made for c in self.clips) else ""

    @property
    def special(self) -> str:
        """Kind of obstacle that the behaviour passes; empty if none."""
        return self.clips[0].special

    @property
    def turn(self) -> float:
        """Turn of the direction of travel in the first clip, from hub to hub [rad]; names are made of it.

        The pelvis twists with every step, by up to 20 degrees in a run, so that its turn is not that of the person.
        """
        return self.turn_of(self.clips[0])

    def turn_of(self, snapped: SnappedClip) -> float:
        """Return the turn of the direction of travel in one of the clips [rad]."""
        headings, (first, last) = snapped.clip.headings(), travel_offsets(self.start, self.end)
        return float(headings[-1] - headings[0]) + last - first


class RefusedClip(NamedTuple):
    """Clip that a gate refused."""

    behavior: str
    """Name of its behaviour."""
    where: str
    """Take and frames; empty if the clip could not be made."""
    reason: str


class UnusedPiece(NamedTuple):
    """Frames of a take that were cut as a piece and are not in the library."""

    take: str
    """Name of the take."""
    first: int
    last: int
    reason: str

    @classmethod
    def of(cls, piece: TakePiece, reason: str) -> UnusedPiece:
        """Return the frames of a piece."""
        return cls(piece.take.name.removesuffix(" mirrored"), piece.begin.frame, piece.end.frame, reason)


@dataclass(frozen=True, eq=False)
class CheckedClip:
    """Clip that passes the gate, at least the gate for rare motions."""

    snapped: SnappedClip
    quality: ClipQuality
    doubt: RefusedClip
    """Why the clip does not pass the strict gate; its reason is empty if it does."""

    def in_mirror(self) -> CheckedClip:
        """Return the clip, marked as a mirror image."""
        return replace(self, snapped=replace(self.snapped, mirrored=True))


@dataclass(eq=False)
class ClipBuilder:
    """Builder of the clips of one subject. **Mutable**: it records the clips that it refuses."""

    hub_distances: HubDistances
    bars: CaptureBaseline
    gate: ClipGate
    refused: list[RefusedClip] = field(default_factory=list)
    """Clips that did not pass the gate."""
    unwanted: frozenset[str] = frozenset()
    """Names of mirrored takes that give no clips."""
    unused: list[UnusedPiece] = field(default_factory=list)
    """Pieces of captured takes that are not used, with the reason."""
    passed_over: list[str] = field(default_factory=list)
    """Names of behaviours that were not made because there are enough."""

    @property
    def hubs(self) -> dict[str, CaptureHub]:
        """Hubs by name."""
        return {hub.name: hub for hub in self.hub_distances.hubs}

    def mirrored_hub(self, hub: CaptureHub) -> CaptureHub:
        """Return the mirror image of a hub."""
        return self.hubs[other_side(hub.name)] if hub.kind == "step" else hub

    def checked_clip(self, name: str, make: ClipMaker, *, rare: bool) -> CheckedClip | None:
        """Make and check a clip; None if it does not even pass the gate for rare motions (the reason is recorded)."""
        try:
            snapped = with_best_passing(make())
            quality = measure_quality(snapped.clip, self.bars, snapped.raw)
        except (GaitwayError, *NUMERIC_ERRORS) as problem:  # a piece without a solution does not end the import
            self.refused.append(RefusedClip(name, "", str(problem)))
            return None
        where = f"{snapped.source} {snapped.frames[0]}-{snapped.frames[1]}"
        why = refusal(quality, self.gate, self.bars, rare=True) or passing_problem(snapped, self.bars.size)
        if why:
            self.refused.append(RefusedClip(name, where, why))
            return None
        doubt = RefusedClip(name, where, refusal(quality, self.gate, self.bars, rare=rare))
        return CheckedClip(snapped, quality, doubt)

    def make_pair(
        self, name: str, makers: Sequence[tuple[ClipMaker, ClipMaker]], most: int, *, rare: bool
    ) -> list[BehaviorDraft]:
        """Make a behaviour and its mirror image. Both clips of a pair pass the gate, or neither is used.

        If no pair passes the strict gate, the best pair that passes the gate for rare motions is used.

        Args:
            name: Name of the behaviour.
            makers: Functions that make a clip and its mirror image, the most promising first.
            most: Largest number of clips.
            rare: Whether the motion is rare, so that the gate for rare motions is strict enough.
        """
        good: list[tuple[CheckedClip, CheckedClip]] = []
        spare: list[tuple[CheckedClip, CheckedClip]] = []
        for make, make_mirror in makers:
            if len(good) >= most:
                break
            one = self.checked_clip(name, make, rare=rare)
            other = self.checked_clip(mirrored_name(name), make_mirror, rare=rare) if one is not None else None
            if one is not None and other is not None:
                (spare if one.doubt.reason or other.doubt.reason else good).append((one, other))
        if not good and spare:
            good = [min(spare, key=lambda both: max(clip.quality.score for clip in both))]
        self.refused += [
            clip.doubt for both in spare if not any(both is used for used in good) for clip in both if clip.doubt.reason
        ]
        if not good:
            return []
        ones, others = [both[0] for both in good], [both[1].in_mirror() for both in good]
        if mirrored_name(name) == name and ones[0].snapped.start is others[0].snapped.start:
            return [_draft(name, [*ones, *others])]
        return [_draft(name, ones), _draft(mirrored_name(name), others)]

    def make_captured(self, groups: Sequence[CandidateGroup], most: int) -> list[BehaviorDraft]:
        """Make behaviours from pieces of the capture, and their mirror images; each has at most a number of clips.

        Clips of both are captured ones where there are any: a mirror image is made only of a motion that was not
        captured on the other side. So the person's left and right arm keep their own swing.
        """
        out: list[BehaviorDraft] = []
        for group in groups:
            count = 1 if group.candidates[0].piece.special else most
            pairs = [(c.piece, c.mirror) for c in group.candidates if c.mirror is not None]
            names = group.name, mirrored_name(group.name)
            sides = [[both[side] for both in pairs] for side in (0, 1)]
            if names[0] == names[1] and pairs and pairs[0][0].begin.hub is pairs[0][1].begin.hub:
                sides = [[piece for both in pairs for piece in both]]
            made = [
                (name, self._make_side(name, pieces, count, rare=group.rare, straight=group.candidates[0].straightens))
                for name, pieces in zip(names, sides, strict=False)
            ]
            if all(clips for _, clips in made):
                out += [_draft(name, clips) for name, clips in made]
        return [draft for draft in map(self._wanted, out) if draft is not None]

    def _make_side(
        self, name: str, pieces: Sequence[TakePiece], most: int, *, rare: bool, straight: bool = False
    ) -> list[CheckedClip]:
        """Return the clips of a behaviour: captured ones, else mirror images; the most promising pieces come first.

        If no clip passes the strict gate, the best that passes the gate for rare motions is used. If the behaviour goes
        straight on, so do its clips.
        """
        spare: list[CheckedClip] = []
        for mirrored in (False, True):
            good: list[CheckedClip] = []
            for k, piece in enumerate(p for p in pieces if p.take.mirrored == mirrored):
                if len(good) >= most or k >= most + _MORE_TRIES:
                    self.unused.append(UnusedPiece.of(piece, f"{name} has enough clips"))
                    continue
                known = len(self.refused)
                clip = self.checked_clip(name, _snapping(piece, straight=straight), rare=rare)
                if clip is None:
                    self.unused.append(UnusedPiece.of(piece, f"{name}: {self.refused[known].reason}"))
                else:
                    clip = replace(clip, snapped=replace(clip.snapped, mirrored=mirrored))
                    (spare if clip.doubt.reason else good).append(clip)
                    if clip.doubt.reason:
                        self.unused.append(UnusedPiece.of(piece, f"{name}: {clip.doubt.reason}"))
            if good:
                break
        if not good and spare:
            good = [min(spare, key=lambda clip: clip.quality.score)]
        self.refused += [clip.doubt for clip in spare if clip not in good]
        return good

    def _wanted(self, draft: BehaviorDraft) -> BehaviorDraft | None:
        """Return a behaviour without clips of unwanted takes; None if no clip is left."""
        kept = [k for k, clip in enumerate(draft.clips) if clip.source not in self.unwanted]
        clips, qualities = tuple(draft.clips[k] for k in kept), tuple(draft.qualities[k] for k in kept)
        return replace(draft, clips=clips, qualities=qualities) if kept else None


def _snapping(piece: TakePiece, *, straight: bool) -> ClipMaker:
    if straight:
        return lambda: snap_straight(piece, float(planar_move(piece)[2]))
    return lambda: snap_piece(piece)


def _draft(name: str, clips: Sequence[CheckedClip]) -> BehaviorDraft:
    first = clips[0].snapped
    return BehaviorDraft(name, first.start, first.end, tuple(c.snapped for c in clips), tuple(c.quality for c in clips))
