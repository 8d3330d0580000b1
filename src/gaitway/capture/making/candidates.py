"""Candidates for behaviours: pieces get names by their motion over the ground, and are grouped by name.

The names describe the motion to a reader, and are the same in every library: "walk_left_30_l".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.cutting.cuts import TakePiece
from gaitway.capture.cutting.hubs import CaptureHub, base_gait
from gaitway.core import planar
from gaitway.core.arrays import FloatArray

STRAIGHT = np.radians(9.0)
"""Turn below which a piece is straight [rad]."""
_BIN = 15.0
"""Width of the bins that turns are named by [degrees]."""
_WIDE_BIN, _WIDE_FROM = 30.0, 75.0
"""Width of the bins of wide turns, and the turn from which they begin [degrees]."""
_STEP_LENGTH = 0.15
"""Least distance of a step from standing to standing, for a leg of 0.85 m [m]."""
_STEP_S = {"run": 0.36, "jog": 0.38}
"""Usual time from one foot to the other, by gait [s]."""
_USUAL_STEP_S = 0.6
"""Usual time from one foot to the other in all other gaits [s]."""
_CORE = ("stroll", "walk", "jog", "run")
"""Gaits whose straight steps come first."""
_OTHER = {"left": "right", "right": "left", "l": "r", "r": "l"}
_NEAR_MOVE, _NEAR_TURN, _NEAR_TIME = 0.12, np.radians(7.0), 0.25
"""Largest differences of clips of a behaviour: distance for a leg of 0.85 m [m], turn [rad], share of the duration."""
_SHORT, _LONG = 0.8, 1.2
"""Lengths of straight steps, as shares of the usual length, below and above which they are behaviours of their own."""
_LOOSE_TURN = np.radians(20.0)
"""Turn above which a piece whose ends are far from its hubs is kept [rad]; changes of gait are always kept."""
_WEIGHTS, _STRAIGHT_WEIGHTS = (1.0, 1.0, 0.5), (1.0, 3.0, 2.0)
"""Weights of differences from the usual motion, ahead, to the left [1/m], turned [1/rad]: in general, and of straight
steps. Straight steps make most of every way, and those that drift or turn make it wind."""
_STEPS, _LONGEST_S = 4, 3.5
"""Largest number of steps, and largest duration [s], of a turn that is useful to a planner."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Piece with its motion and the name of its behaviour."""

    piece: TakePiece
    mirror: TakePiece | None
    """Mirror image of the piece."""
    name: str
    """Name of the behaviour, which begins (or ends) on the left foot."""
    move: FloatArray
    """Motion relative to the direction of travel: ahead, to the left [m], turned [rad]; (3,)."""
    seconds: float
    """Duration [s]."""
    steps: int
    """Number of steps."""

    @property
    def fit(self) -> float:
        """Distance of the piece to its hubs, in radii."""
        return self.piece.fit

    @property
    def changes(self) -> bool:
        """Whether the piece leads from one gait to another, or to standing."""
        return self.piece.begin.hub.gait != self.piece.end.hub.gait and not _same_gait(self.piece)

    @property
    def straight(self) -> bool:
        """Whether the piece does not turn."""
        return bool(abs(self.move[2]) < STRAIGHT)

    @property
    def straightens(self) -> bool:
        """Whether its clip is made to go straight on: a step, start, stop or change of gait that does not turn."""
        steps = "step" in (self.piece.begin.hub.kind, self.piece.end.hub.kind)
        return self.piece.special is None and steps and self.straight


def mirrored_name(name: str) -> str:
    """Return the name of the mirror image of a behaviour: "walk_right_30_r" for "walk_left_30_l"."""
    return "_".join(_OTHER.get(word, word) for word in name.split("_"))


def make_candidate(piece: TakePiece, mirror: TakePiece | None, size: float) -> Candidate:
    """Return the candidate of a piece, or of its mirror image if that one begins on the left foot, or turns left.

    Args:
        piece: Piece of a take.
        mirror: Mirror image of the piece.
        size: Size of the subject, as `pose_index.body_size` gives it.
    """
    move = planar_move(piece)
    if _swapped(piece, move):
        if mirror is None:
            return _candidate(piece, None, move, size)
        piece, mirror = mirror, piece
        move = planar_move(piece)
    return _candidate(piece, mirror, move, size)


def planar_move(piece: TakePiece) -> FloatArray:
    """Return the motion of a piece, relative to the travel in its hubs: ahead, left [m], turned [rad]; (3,)."""
    a, b = piece.begin, piece.end
    headings = piece.take.clip.headings()
    whole = headings[b.frame] - headings[a.frame]
    turn = b.pose[2] - a.pose[2]
    turn += 2.0 * np.pi * np.round((whole - turn) / (2.0 * np.pi))  # a turn may be more than half a circle
    shift = planar.relative(a.pose, b.pose)[:2]
    ways = travel_offsets(a.hub, b.hub)
    c, s = np.cos(ways[0]), np.sin(ways[0])
    ahead = np.array([c * shift[0] + s * shift[1], c * shift[1] - s * shift[0]])
    return np.array([*ahead, turn + ways[1] - ways[0]])


def travel_offsets(start: CaptureHub, end: CaptureHub) -> tuple[float, float]:
    """Return the angles of the travel in two hubs from the usual directions of their gaits [rad].

    Who stops walking diagonally does not turn by that: from and to a stand, only gaits ahead are corrected.
    """
    aside = base_gait(start.gait).startswith("side") or base_gait(end.gait).startswith("side")
    if aside and "stand" in (start.kind, end.kind):
        return 0.0, 0.0
    return travel_offset(start), travel_offset(end)


def travel_offset(hub: CaptureHub) -> float:
    """Return the angle of the travel of a hub from the usual direction of its gait (ahead, back, sideways) [rad]."""
    if hub.kind != "step":
        return 0.0
    base = base_gait(hub.gait)
    usual = np.pi if base.startswith("back") else 0.0
    usual = {"side_left": 0.5 * np.pi, "side_right": -0.5 * np.pi}.get(base, usual)
    return float(planar.wrap_angle(hub.travel - usual))


def _swapped(piece: TakePiece, move: FloatArray) -> bool:
    """Return whether the mirror image of a piece gives the name."""
    foot = piece.begin.hub.foot or piece.end.hub.foot
    if foot:
        return foot == "right"
    return bool(move[2] < -STRAIGHT or (abs(move[2]) <= STRAIGHT and move[1] < -abs(move[0])))


def _candidate(piece: TakePiece, mirror: TakePiece | None, move: FloatArray, size: float) -> Candidate:
    seconds = (piece.end.frame - piece.begin.frame) / piece.take.clip.fps
    steps = _steps(piece, seconds)
    return Candidate(piece, mirror, _name(piece, move, steps, size), move, seconds, steps)


def _steps(piece: TakePiece, seconds: float) -> int:
    """Return the number of steps of a piece: odd from one foot to the other, even from a foot to itself."""
    a, b = piece.begin.hub, piece.end.hub
    if not (a.foot and b.foot):
        return 0
    usual = _STEP_S.get(a.gait.partition("_")[0], _USUAL_STEP_S)
    odd = a.foot != b.foot
    return max(2 * round((seconds / usual - odd) / 2) + odd, 1 if odd else 2)


def _name(piece: TakePiece, move: FloatArray, steps: int, size: float) -> str:
    a, b = piece.begin.hub, piece.end.hub
    foot = (a.foot or b.foot)[:1]
    ending = f"_{foot}" if foot else ""
    if piece.special is not None:
        words = [a.gait if _same_gait(piece) else f"{a.gait}_to_{b.gait}", piece.special.kind]
        return "_".join(words) + ending
    turned = _turned(move[2])
    if a.kind == "stand" and b.kind == "stand":
        return _on_the_spot(a.gait, b.gait, move, turned, size)
    if a.kind == "stand" or b.kind == "stand":
        verb, gait = ("start", b.gait) if a.kind == "stand" else ("stop", a.gait)
        return "_".join(filter(None, (verb, gait, turned))) + ending
    if not _same_gait(piece):
        return "_".join(filter(None, (a.gait, "to", b.gait, turned))) + ending
    many = f"x{steps}" if steps > 1 else ""
    return "_".join(filter(None, (a.gait, turned or "forward", many))) + ending


def _same_gait(piece: TakePiece) -> bool:
    """Return whether a piece stays in one gait."""
    a, b = piece.begin.hub, piece.end.hub
    return a.gait == b.gait


def _turned(turn: float) -> str:
    """Return the words for a turn, such as "left_30"; an empty string for a straight piece."""
    if abs(turn) < STRAIGHT:
        return ""
    degrees = float(np.degrees(abs(turn)))
    width = _WIDE_BIN if degrees > _WIDE_FROM else _BIN
    return f"{'left' if turn > 0.0 else 'right'}_{max(round(degrees / width) * width, _BIN):.0f}"


def named_by_turn(name: str, turn: float) -> str:
    """Return the name of a step, or of a start, stop or change of gait, with the words for its measured turn [rad].

    Motions that are made are named before they are made, and may turn out otherwise. A name that is right stays.
    """
    words, now = name.split("_"), _turned(turn)
    at = next((k for k, word in enumerate(words[:-1]) if _says_turn(word, words[k + 1])), None)
    before = 0.0 if at is None else np.radians(float(words[at + 1])) * (1.0 if words[at] == "left" else -1.0)
    width = _WIDE_BIN if abs(np.degrees(before)) > _WIDE_FROM else _BIN
    if now == "_".join(words[at : at + 2] if at is not None else []) or (
        at is not None and abs(turn - before) <= np.radians(0.5 * width)
    ):
        return name
    straight = next((k for k, word in enumerate(words) if word in ("forward", "short", "long")), None)
    if at is not None:
        plain = [] if words[0] in ("start", "stop") or "to" in words else ["forward"]
        words[at : at + 2] = now.split("_") if now else plain
    elif straight is not None:
        words[straight : straight + 1] = now.split("_")
    else:
        foot = len(words) - (words[-1] in ("l", "r"))
        words[foot:foot] = now.split("_")
    return "_".join(words)


def _says_turn(side: str, degrees: str) -> bool:
    return side in ("left", "right") and degrees.isdigit() and float(degrees) >= _BIN


def _on_the_spot(start: str, end: str, move: FloatArray, turned: str, size: float) -> str:
    """Return the name of a piece from standing to standing."""
    if start != end:
        return f"{start}_to_{end}"
    word = "" if start == "stand" else f"{start}_"
    if np.hypot(move[0], move[1]) > _STEP_LENGTH * size:
        ahead = "forward" if move[0] > 0.0 else "back"
        way = ahead if abs(move[0]) >= abs(move[1]) else "left" if move[1] > 0.0 else "right"
        return f"{word}step_{way}" + (f"_turn_{turned}" if turned else "")
    return f"{word}turn_{turned}" if turned else start


@dataclass(frozen=True, eq=False)
class CandidateGroup:
    """Candidates for one behaviour; the best one is the first."""

    name: str
    candidates: tuple[Candidate, ...]

    @property
    def core(self) -> bool:
        """Whether this is a single straight step ahead in a plain gait, or a stand: without them nobody gets far."""
        first = self.candidates[0]
        a, b = first.piece.begin.hub, first.piece.end.hub
        if first.piece.special is not None or a.gait != b.gait:
            return False
        steps = a.gait in _CORE and first.steps == 1 and first.straight
        return steps or (a.kind == "stand" and first.name == a.gait)

    @property
    def rare(self) -> bool:
        """Whether the motion is rare in captures, so that the gate allows a little more."""
        first = self.candidates[0]
        return first.changes or first.piece.special is not None or first.fit > 1.0 or first.steps > 1

    @property
    def use(self) -> tuple[int, int, float]:
        """Sort key by use for planners: core gaits; special motions; other straight steps and links; steps; others."""
        first = self.candidates[0]
        if self.core:
            return -1, -len(self.candidates), first.fit
        gaits = {first.piece.begin.hub.gait, first.piece.end.hub.gait}
        odd = any(g.startswith(("back", "side", "crouch", "bent")) or g[-1:].isdigit() for g in gaits)
        links = first.changes and abs(first.move[2]) < _LOOSE_TURN
        rank = 0 if first.piece.special is not None else 1 if links or first.straight else 2 if first.steps <= 1 else 3
        return rank + (odd if rank < 2 else 3 * odd), -len(self.candidates), first.fit


def group_candidates(
    candidates: Sequence[Candidate], size: float
) -> tuple[list[CandidateGroup], list[tuple[Candidate, str]]]:
    """Group candidates by behaviour, the most useful first; all members of a group are similar to its best.

    Returns:
        The groups, and the candidates that are in none, with the reason.
    """
    by_name: dict[tuple[str, str, str], list[Candidate]] = defaultdict(list)
    useful, rest = _useful(candidates)
    for candidate in _by_length(useful):
        hubs = candidate.piece.begin.hub.name, candidate.piece.end.hub.name
        by_name[(candidate.name, *hubs)].append(candidate)
    groups = []
    for key in sorted(by_name):
        ordered = _best_first(by_name[key])
        best = {side: next((c for c in ordered if c.piece.take.mirrored == side), ordered[0]) for side in (False, True)}
        alike = [c for c in ordered if _alike(c, best[c.piece.take.mirrored], size)]  # left and right may differ
        rest += [(c, f"unlike the other clips of {key[0]}") for c in ordered if c not in alike]
        groups.append(CandidateGroup(key[0], tuple(alike)))
        if ordered[0].piece.special is not None:  # every jump is a behaviour of its own
            groups[-1:] = [CandidateGroup(c.name, (c,)) for c in ordered]
    return sorted(groups, key=lambda group: (group.use, group.name)), rest


def _useful(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
    """Leave out plain pieces that are far from their hubs, and long pieces that short ones can replace."""
    near = [c for c in candidates if c.steps == 1 and c.fit <= 1.0]
    single, gaits = {c.name.rpartition("_")[0] for c in near}, {c.piece.begin.hub.gait for c in near}
    out, rest = [], list[tuple[Candidate, str]]()
    for c in candidates:
        special = c.piece.special is not None
        standing = not c.piece.begin.hub.foot and not c.piece.end.hub.foot
        if not special and not standing and not c.changes:
            stem = c.name.rpartition("_")[0].rpartition("_x")[0]
            if c.fit > 1.0 and abs(c.move[2]) < _LOOSE_TURN and c.piece.begin.hub.gait in gaits:
                rest.append((c, "an end is far from the poses that other takes share, and it hardly turns"))
                continue
            if c.steps > 1 and (stem in single or (c.straight and c.piece.begin.hub.gait in gaits)):
                rest.append((c, "several steps that single steps of other takes replace"))
                continue
            if c.steps > _STEPS or c.seconds > _LONGEST_S:
                rest.append((c, "too long without a pose that other takes share"))
                continue
        out.append(c)
    return out, rest


def _by_length(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Give straight steps that are unusually short or long names of their own."""
    lengths: dict[tuple[str, str], list[float]] = defaultdict(list)
    for c in candidates:
        if "_forward" in c.name and c.piece.special is None:
            lengths[(c.name, c.piece.begin.hub.name)].append(float(np.hypot(*c.move[:2])))
    usual = {key: float(np.median(values)) for key, values in lengths.items()}
    out = []
    for c in candidates:
        key = (c.name, c.piece.begin.hub.name)
        share = float(np.hypot(*c.move[:2])) / usual[key] if key in usual and usual[key] > 1e-6 else 1.0
        word = "short" if share < _SHORT else "long" if share > _LONG else "forward"
        out.append(replace(c, name=c.name.replace("_forward", f"_{word}")) if key in usual else c)
    return out


def _best_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Sort candidates by their distance to the hubs and to the median motion, stands by duration; takes alternate."""
    straight = candidates[0].steps == 1 and all(c.straightens for c in candidates)
    middle = np.median([c.move for c in candidates], axis=0) * [1.0, 1.0, 0.0 if straight else 1.0]
    weights = _STRAIGHT_WEIGHTS if straight else _WEIGHTS
    off = [float(np.linalg.norm((c.move - middle) * weights)) for c in candidates]
    waits = candidates[0].name == candidates[0].piece.begin.hub.gait  # the longest stands show most of a person
    rank_of = [-c.seconds if waits else c.fit + gap for c, gap in zip(candidates, off, strict=True)]
    order = sorted(range(len(candidates)), key=lambda i: (candidates[i].fit > 1.0, rank_of[i]))
    seen: dict[str, int] = defaultdict(int)
    rank = {}
    for i in order:
        take = candidates[i].piece.take.source.name
        rank[i] = seen[take]
        seen[take] += 1
    return [candidates[i] for i in sorted(order, key=lambda i: (i != order[0], rank[i], order.index(i)))]


def _alike(one: Candidate, other: Candidate, size: float) -> bool:
    """Return whether two candidates can be clips of one behaviour; somebody who waits may do so for any time."""
    gap = one.move - other.move
    if one.straightens and other.straightens:
        gap[2] = 0.0
    waits = one.name == one.piece.begin.hub.gait
    return bool(
        np.hypot(gap[0], gap[1]) <= _NEAR_MOVE * size
        and abs(gap[2]) <= _NEAR_TURN
        and (waits or abs(one.seconds / other.seconds - 1.0) <= _NEAR_TIME)
    )
