"""What becomes of every second of a capture: the behaviour that it is in, or why it is in none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from gaitway.capture.making.clip_builder import BehaviorDraft, UnusedPiece
from gaitway.capture.report import TimeUse
from gaitway.capture.takes import Manner, MotionPhase, PreparedTake

_NO_GAIT = "no gait and no stand"
_WHY_PHASE = {
    "carry": "kept apart: import it with --manner carry",
    "hold": "kept apart: import it with --manner carry",
    "crawl": "no piece from one upright pose that other takes share to another",
    "low walk": "no low pose that is repeated",
    "bent walk": "no bent pose that is repeated",
}
"""Why frames that are in no piece are not used, by what was recognised in them."""


def time_uses(
    take: PreparedTake,
    drafts: Sequence[BehaviorDraft],
    left_out: Sequence[tuple[BehaviorDraft, str]],
    unused: Sequence[UnusedPiece],
    manners: Collection[Manner],
) -> tuple[TimeUse, ...]:
    """Return the uses of a take, in order; together they cover it.

    Args:
        take: Original take.
        drafts: Behaviours of the library.
        left_out: Behaviours that are not in the library, with the reason.
        unused: Pieces that gave no clip, with the reason.
        manners: Manners of going that the library has states of.
    """
    uses = [(False, why) for why in _by_phase(take, manners)]
    for piece in reversed(unused):  # of several reasons, the first that was found is told
        if piece.take == take.name:
            uses[piece.first : piece.last] = [(False, piece.reason)] * (piece.last - piece.first)
    for draft, why in left_out:
        _mark(uses, take, draft, False, f"{draft.name}: {why}")
    for draft in reversed(drafts):
        _mark(uses, take, draft, True, draft.name)
    edges = [0, *(k for k in range(1, len(uses)) if uses[k] != uses[k - 1]), len(uses)]
    fps = take.clip.fps
    return tuple(TimeUse(round(a / fps, 3), round(b / fps, 3), *uses[a]) for a, b in pairwise(edges))


def _mark(uses: list[tuple[bool, str]], take: PreparedTake, draft: BehaviorDraft, used: bool, what: str) -> None:
    for clip in draft.clips:
        if not clip.made and clip.source.removesuffix(" mirrored") == take.name:
            first, last = clip.frames
            uses[first:last] = [(used, what)] * (last - first)


def _by_phase(take: PreparedTake, manners: Collection[Manner]) -> list[str]:
    """Return why a frame that is in no piece is not used, for every frame."""
    steps = sorted(event.frame for event in take.events if event.kind in ("step", "pause"))
    out: list[str] = []
    for phase in take.phases:
        for frame in range(phase.start, phase.stop):
            outside = not steps or frame < steps[0] or frame >= steps[-1]
            out.append(f"{phase.detail or phase.kind}: {_why(phase, outside, manners)}")
    return out


def _why(phase: MotionPhase, outside: bool, manners: Collection[Manner]) -> str:
    if "carry" in manners and phase.manner is not None and phase.manner != "carry":
        return "kept apart: import it with --manner plain"
    known = _WHY_PHASE.get(phase.detail or phase.kind)
    if known is not None and phase.manner not in manners:
        return known
    if phase.manner is None:
        return _NO_GAIT
    return "before the first step or pause, or after the last" if outside else "no pose here that other takes share"
