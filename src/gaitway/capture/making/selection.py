"""Selection of behaviours for the library: smooth joins, connected states, and the motions that are missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.making.candidates import STRAIGHT
from gaitway.capture.making.clip_builder import BehaviorDraft
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.quality import end_velocities, usual_velocity_changes

_KINDS = ("jump", "duck", "crawl", "step")
"""Kinds of special motions that a capture may hold."""
BAR = 1.3
"""Largest change of velocity at a join, as a multiple of the clips' own 99.9th percentile."""
_LEAST_TURN, _LEAST_STEP = 0.5, 0.05
"""Changes of velocity that are too small to be seen: of joints [rad/s] and of the root [m/s]."""


def keep_connected(
    drafts: Sequence[BehaviorDraft], home: str = "stand"
) -> tuple[list[BehaviorDraft], list[BehaviorDraft]]:
    """Split behaviours by their states: states that can be reached from standing and lead back to it, and others.

    Args:
        drafts: Behaviours.
        home: Name of the standing state.

    Returns:
        The behaviours that are kept, and those that are left out.
    """
    ways = [(e.start.name, e.end.name) for e in drafts]
    ahead, back = _reached(ways, home), _reached([(b, a) for a, b in ways], home)
    inside = ahead & back
    kept = [e for e in drafts if {e.start.name, e.end.name} <= inside]
    return kept, [e for e in drafts if not {e.start.name, e.end.name} <= inside]


def _reached(ways: Collection[tuple[str, str]], start: str) -> set[str]:
    """Return the states that can be reached from a state."""
    found, edge = {start}, {start}
    while edge:
        edge = {b for a, b in ways if a in edge} - found
        found |= edge
    return found


def missing_motions(drafts: Sequence[BehaviorDraft]) -> list[str]:
    """Return the motions that a library lacks, a phrase each."""
    going = [e for e in drafts if e.start.kind == "step" or e.end.kind == "step"]
    out = []
    if not any(e.start.kind == "stand" and e.end.kind == "stand" and not e.special for e in drafts):
        out.append("standing")
    if not any(e.start.kind == "stand" and e.end.kind == "step" for e in drafts):
        out.append("a start")
    if not any(e.end.kind == "stand" and e.start.kind == "step" for e in drafts):
        out.append("a stop")
    if not any(e.start.kind == "step" and e.end.kind == "step" and not e.special for e in drafts):
        out.append("steps that follow one another")
    turns = [e.turn for e in drafts if not e.special]
    out += [f"a turn to the {side}" for side, sign in (("left", 1.0), ("right", -1.0))
            if not any(sign * t > STRAIGHT for t in turns)]  # fmt: skip
    if not going:
        out.append("locomotion")
    return out


def missing_specials(drafts: Sequence[BehaviorDraft]) -> list[str]:
    """Return the kinds of special motions that no behaviour has."""
    return [kind for kind in _KINDS if not any(e.special == kind for e in drafts)]


def keep_first(drafts: Sequence[BehaviorDraft], most: int) -> tuple[list[BehaviorDraft], list[BehaviorDraft]]:
    """Keep at most a number of behaviours; also return the behaviours left out.

    One straight step of each gait comes first, without which nobody gets far, then those that link states.
    """
    core = _core_steps(drafts)
    order = sorted(range(len(drafts)), key=lambda i: (0 if i in core else 1 if _links(drafts[i]) else 2, i))
    kept = set(order[:most])
    return [e for i, e in enumerate(drafts) if i in kept], [e for i, e in enumerate(drafts) if i not in kept]


def _core_steps(drafts: Sequence[BehaviorDraft]) -> set[int]:
    """Return the numbers of the straightest steps of each gait, one from each pose to each that follows."""
    best: dict[tuple[str, str], int] = {}
    for i, draft in enumerate(drafts):
        ends = draft.start.name, draft.end.name
        if draft.special or _links(draft) or draft.start.kind != "step" or draft.end.kind != "step":
            continue
        if ends not in best or abs(draft.turn) < abs(drafts[best[ends]].turn):
            best[ends] = i
    return set(best.values())


def _links(draft: BehaviorDraft) -> bool:
    return draft.start.gait != draft.end.gait or draft.start.kind == "stand"


@dataclass(frozen=True, eq=False)
class _Place:
    """Clip of a behaviour and its velocities at both ends."""

    draft: int
    """Number of the behaviour."""
    clip: int
    """Number of the clip in the behaviour."""
    first: FloatArray
    """Velocities at the begin, as multiples of the usual changes: joints, then the root; (J + 1, 3)."""
    last: FloatArray
    """Velocities at the end; (J + 1, 3)."""


def smooth_joins(drafts: Sequence[BehaviorDraft]) -> tuple[list[BehaviorDraft], list[BehaviorDraft]]:
    """Remove clips until all joins at hubs are smooth, in each step the clip with the most bad joins.

    Returns:
        The behaviours with the clips that stay, and the behaviours that have lost all clips.
    """
    clips = [c.clip for e in drafts for c in e.clips]
    if not clips:
        return list(drafts), []
    scale = usual_velocity_changes(clips, least_joint=_LEAST_TURN, least_root=_LEAST_STEP)
    places = [_place(e, c, s.clip, scale) for e, draft in enumerate(drafts) for c, s in enumerate(draft.clips)]
    bad = _bad(drafts, places)
    gone: set[int] = set()
    while bad.any():
        worst = int(np.argmax(bad.sum(axis=0) + bad.sum(axis=1)))
        bad[worst], bad[:, worst] = False, False
        gone.add(worst)
    kept, lost = [], []
    for number, draft in enumerate(drafts):
        good = [p.clip for k, p in enumerate(places) if p.draft == number and k not in gone]
        if len(good) == len(draft.clips):
            kept.append(draft)
        elif good:
            qualities = tuple(draft.qualities[c] for c in good)
            kept.append(replace(draft, clips=tuple(draft.clips[c] for c in good), qualities=qualities))
        else:
            lost.append(draft)
    return kept, lost


def _place(draft: int, number: int, clip: Clip, scale: FloatArray) -> _Place:
    headings = clip.headings()
    first, last = (
        end_velocities(clip, at, float(headings[at + side])) / scale[:, None]
        for at, side in ((0, 0), (len(clip) - 2, 1))
    )
    return _Place(draft, number, first, last)


def _bad(drafts: Sequence[BehaviorDraft], places: Sequence[_Place]) -> BoolArray:
    """Return which clip (row) must not be followed by which clip (column); (N, N)."""
    out = np.zeros((len(places), len(places)), dtype=bool)
    for hub in {e.start.name for e in drafts}:
        rows = [k for k, p in enumerate(places) if drafts[p.draft].end.name == hub]
        columns = [k for k, p in enumerate(places) if drafts[p.draft].start.name == hub]
        for row in rows:
            gaps = np.stack([places[c].first for c in columns]) - places[row].last
            out[row, columns] = np.linalg.norm(gaps, axis=-1).max(axis=-1) > BAR
    return out
