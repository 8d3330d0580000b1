"""Whether everything hangs together: what can be reached, what can be stopped from, and what is missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.making.candidates import STRAIGHT
from gaitway.capture.making.clip_builder import Entry
from gaitway.capture.making.gate import root_steps, turn_steps
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip

_KINDS = ("jump", "duck", "crawl", "step")
"""Special motions that somebody may be captured in."""


def connected(entries: Sequence[Entry], home: str = "stand") -> tuple[list[Entry], list[Entry]]:
    """Behaviours between states that can be reached from standing and lead back to it; and those that are left out."""
    ways = [(e.start.name, e.end.name) for e in entries]
    ahead, back = _reached(ways, home), _reached([(b, a) for a, b in ways], home)
    inside = ahead & back
    kept = [e for e in entries if {e.start.name, e.end.name} <= inside]
    return kept, [e for e in entries if not {e.start.name, e.end.name} <= inside]


def _reached(ways: Collection[tuple[str, str]], start: str) -> set[str]:
    """States that can be reached from one."""
    found, edge = {start}, {start}
    while edge:
        edge = {b for a, b in ways if a in edge} - found
        found |= edge
    return found


def missing(entries: Sequence[Entry]) -> list[str]:
    """What a library lacks, a phrase each; the first ones make it useless."""
    going = [e for e in entries if e.start.kind == "step" or e.end.kind == "step"]
    out = []
    if not any(e.start.kind == "stand" and e.end.kind == "stand" and not e.special for e in entries):
        out.append("standing")
    if not any(e.start.kind == "stand" and e.end.kind == "step" for e in entries):
        out.append("a way to set off")
    if not any(e.end.kind == "stand" and e.start.kind == "step" for e in entries):
        out.append("a way to stop")
    if not any(e.start.kind == "step" and e.end.kind == "step" and not e.special for e in entries):
        out.append("steps that go on")
    turns = [e.turn for e in entries if not e.special]
    out += [f"a turn to the {side}" for side, sign in (("left", 1.0), ("right", -1.0))
            if not any(sign * t > STRAIGHT for t in turns)]  # fmt: skip
    if not going:
        out.append("anything that goes somewhere")
    return out


def lacking_specials(entries: Sequence[Entry]) -> list[str]:
    """Kinds of obstacle that nothing gets past."""
    return [kind for kind in _KINDS if not any(e.special == kind for e in entries)]


def limited(entries: Sequence[Entry], most: int) -> tuple[list[Entry], list[Entry]]:
    """No more behaviours than a number, those that come last left out unless they link states; and those that are."""
    order = sorted(range(len(entries)), key=lambda i: (not _links(entries[i]), i))
    kept = set(order[:most])
    return [e for i, e in enumerate(entries) if i in kept], [e for i, e in enumerate(entries) if i not in kept]


def _links(entry: Entry) -> bool:
    return entry.start.gait != entry.end.gait or entry.start.kind == "stand"


BAR = 1.3
"""Changes of speed at a join, as a multiple of the clips' own 99.9th percentile."""
_LEAST_TURN, _LEAST_STEP = 0.5, 0.05
"""Changes of speed that are too small to be seen [rad/s, m/s]."""


@dataclass(frozen=True, eq=False)
class _Place:
    """A clip of a behaviour, and how fast it comes and goes: joints [rad/s], then the root [m/s]; (J + 1, 3)."""

    entry: int
    clip: int
    first: FloatArray
    last: FloatArray


def smooth_joins(entries: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """Behaviours without the clips that would be seen to join badly, the fewest that will do; and what was left out.

    A behaviour loses clips one by one, and goes with its last.
    """
    clips = [c.clip for e in entries for c in e.clips]
    if not clips:
        return list(entries), []
    scale = _usual(clips)
    places = [_place(e, c, s.clip, scale) for e, entry in enumerate(entries) for c, s in enumerate(entry.clips)]
    bad = _bad(entries, places)
    gone: set[int] = set()
    while bad.any():
        worst = int(np.argmax(bad.sum(axis=0) + bad.sum(axis=1)))
        bad[worst], bad[:, worst] = False, False
        gone.add(worst)
    kept, lost = [], []
    for number, entry in enumerate(entries):
        good = [p.clip for k, p in enumerate(places) if p.entry == number and k not in gone]
        if len(good) == len(entry.clips):
            kept.append(entry)
        elif good:
            qualities = tuple(entry.qualities[c] for c in good)
            kept.append(replace(entry, clips=tuple(entry.clips[c] for c in good), qualities=qualities))
        else:
            lost.append(entry)
    return kept, lost


def _usual(clips: Sequence[Clip]) -> FloatArray:
    """99.9th percentile of changes of speed from frame to frame: joints [rad/s], then the root [m/s]; (J + 1,)."""
    turns = np.percentile(np.concatenate([turn_steps(c) for c in clips]), 99.9, axis=0)
    root = float(np.percentile(np.concatenate([root_steps(c) for c in clips]), 99.9))
    return np.append(np.maximum(turns, _LEAST_TURN), max(root, _LEAST_STEP))


def _place(entry: int, number: int, clip: Clip, scale: FloatArray) -> _Place:
    headings = clip.headings()
    first, last = (
        _speeds(clip, at, float(headings[at + side])) / scale[:, None] for at, side in ((0, 0), (len(clip) - 2, 1))
    )
    return _Place(entry, number, first, last)


def _speeds(clip: Clip, frame: int, heading: float) -> FloatArray:
    """Speeds from a frame to the next, seen from a heading: joints [rad/s], then the root [m/s]; (J + 1, 3)."""
    back = rotations.from_yaw(-heading)
    turned = rotations.multiply(clip.rotations[frame + 1], rotations.conjugate(clip.rotations[frame]))
    spins = rotations.to_rotation_vector(turned) * clip.fps
    spins[0] = rotations.rotate(back, spins[0])
    drift = rotations.rotate(back, np.diff(clip.root_positions[frame : frame + 2], axis=0)[0] * clip.fps)
    return np.vstack([spins, drift])


def _bad(entries: Sequence[Entry], places: Sequence[_Place]) -> BoolArray:
    """Which clip (row) must not be followed by which (column); (N, N)."""
    out = np.zeros((len(places), len(places)), dtype=bool)
    for hub in {e.start.name for e in entries}:
        rows = [k for k, p in enumerate(places) if entries[p.entry].end.name == hub]
        columns = [k for k, p in enumerate(places) if entries[p.entry].start.name == hub]
        for row in rows:
            gaps = np.stack([places[c].first for c in columns]) - places[row].last
            out[row, columns] = np.linalg.norm(gaps, axis=-1).max(axis=-1) > BAR
    return out
