"""Behaviours that planners need and a capture lacks: they are made, and the same gate checks them.

Standing, starts, stops and turns on the spot are borrowed from the built-in person and led to the subject's own poses.
Changes of gait are blends of the subject's own steps, and turning steps are bent from its straight steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gaitway.capture.cutting.cuts import CutMark, TakePiece
from gaitway.capture.cutting.hub_poses import place_on_frame
from gaitway.capture.cutting.hubs import LOW_GAITS, CaptureHub, base_gait, other_side
from gaitway.capture.cutting.pose_index import mirrored_takes
from gaitway.capture.cutting.snapping import SnappedClip, snap_piece
from gaitway.capture.making.blended import bend_step, blend_gaits, snap_straight, straight_way
from gaitway.capture.making.borrowed import CAST
from gaitway.capture.making.candidates import STRAIGHT, mirrored_name, planar_move
from gaitway.capture.making.clip_builder import BehaviorDraft, ClipBuilder, ClipMaker
from gaitway.capture.takes import PreparedTake
from gaitway.motion.editing import resample

BORROWED = "borrowed from the built-in person, led to this subject's poses"
_WHOLE = 60.0
"""Time over which borrowed motions are bent to the subject's poses [s]; it is longer than any of them, so that they
have the subject's posture throughout."""
_PACES, _TEMPI = (0.5, 1.6), (0.75, 1.3)
"""Range of the factor of speed of borrowed motions, and the range of the part of it that changes their duration."""
_SHORTEST_S, _BRAKING = 0.8, 3.0
"""Least duration of starts and stops [s], and their largest mean acceleration [m/s^2]."""
_ATTEMPTS = 5
"""Number of borrowed motions that are tried for one transition, the most promising first."""
_SPEED_ORDER = ("stroll", "walk", "jog", "run")
_TURNS = {"stroll": (15.0, 30.0, 45.0), "walk": (15.0, 30.0, 45.0), "jog": (15.0, 30.0), "run": (15.0, 25.0)}
"""Turns within one step that each gait shall have [degrees]."""
_SAME_TURN = np.radians(7.6)
"""Largest difference at which a captured turn counts as the wanted one [rad]."""
_BENT_STRAIGHT = np.radians(32.0)
"""Largest turn of a start or stop that is made straight [rad]."""
_SPOT_TURNS = (45.0, 90.0, 180.0)
"""Turns on the spot that a library shall have [degrees]."""
IDLE_S = 1.2
"""Least duration of idle standing [s]; a shorter clip looks nervous when it is repeated."""


def idle_standing(builder: ClipBuilder, drafts: Sequence[BehaviorDraft]) -> list[BehaviorDraft]:
    """Make idle standing, unless a captured stand is long enough, and a short wait."""
    out: list[BehaviorDraft] = []
    stand = builder.hubs["stand"]
    long = [e for e in drafts if e.name == "stand" and e.clips[0].clip.duration >= IDLE_S]
    for name in (() if long else ("stand",)) + ("wait",):
        take = _borrowed(builder, name)
        if take is not None:
            last = len(take[0].clip) - 1
            out += builder.make_pair(name, [_borrowing(builder, take, (0, stand), (last, stand))], 1, rare=True)
    return out


def starts_and_stops(builder: ClipBuilder, drafts: Sequence[BehaviorDraft]) -> list[BehaviorDraft]:
    """Make starts and stops for every gait that has steps but no start or no stop, or none that goes straight on."""
    out: list[BehaviorDraft] = []
    for hub in _left_hubs(builder):
        plain = [e for e in drafts if not e.special and hub.gait in (e.start.gait, e.end.gait)]
        if not any(e.start.gait == e.end.gait for e in plain):
            continue
        if not any(e.start.kind == "stand" for e in plain):
            out += _start_or_stop(builder, hub, "start")
        if not any(e.end.kind == "stand" for e in plain):
            out += _start_or_stop(builder, hub, "stop")
        starts = [e for e in plain if e.start.kind == "stand" and e.end is hub]
        stops = [e for e in plain if e.end.kind == "stand" and e.start is hub]
        out += _made_straight(builder, f"start_{hub.gait}_l", starts, plain)
        out += _made_straight(builder, f"stop_{hub.gait}_l", stops, plain)
    return out


def _made_straight(
    builder: ClipBuilder, name: str, found: Sequence[BehaviorDraft], drafts: Sequence[BehaviorDraft]
) -> list[BehaviorDraft]:
    """Return the straightest of some starts or stops, and its mirror image, made straight; none if one is straight.

    Who cannot stop without turning turns at the end of every way.
    """
    if not found or min(abs(e.turn) for e in found) <= STRAIGHT:
        return []
    one = min(found, key=lambda e: abs(e.turn))
    mirrored = mirrored_name(one.name), other_side(one.start.name), other_side(one.end.name)
    other = next((e for e in drafts if (e.name, e.start.name, e.end.name) == mirrored), None)
    if other is None or abs(one.turn) > _BENT_STRAIGHT:
        return []
    a, b = one, other

    def make(draft: BehaviorDraft) -> SnappedClip:
        return straight_way(draft.clips[0], draft.turn, name)

    return builder.make_pair(name, [(lambda: make(a), lambda: make(b))], 1, rare=True)


def _start_or_stop(builder: ClipBuilder, hub: CaptureHub, verb: str) -> list[BehaviorDraft]:
    stand = builder.hubs["stand"]
    choices: list[tuple[float, tuple[ClipMaker, ClipMaker]]] = []
    for word in _borrowable(hub):
        for name in (f"{verb}_{word}", f"{verb}_{word} mirrored"):
            take = _borrowed(builder, name)
            if take is None:
                continue
            last = len(take[0].clip) - 1
            for frame, ratio in _near_frames(builder, take[0], hub, late=verb == "start"):
                ends = ((0, stand), (frame, hub)) if verb == "start" else ((frame, hub), (last, stand))
                pace = _pace(builder, take[0], *ends)
                if (ends[1][0] - ends[0][0]) / take[0].clip.fps / pace >= max(_SHORTEST_S, hub.speed / _BRAKING):
                    choices.append((ratio, _borrowing(builder, take, *ends, straight=True)))
    choices.sort(key=lambda choice: choice[0])
    makers = [maker for _, maker in choices[:_ATTEMPTS]]
    return builder.make_pair(f"{verb}_{hub.gait}_l", makers, 1, rare=True)


def _borrowable(hub: CaptureHub) -> tuple[str, ...]:
    """Return the gaits of the built-in person whose starts and stops fit a hub."""
    gait = base_gait(hub.gait)
    if gait in ("jog", "run"):
        return ("jog", "walk")
    words = {"back": "back", "back_jog": "back", "side_left": "side_left", "side_right": "side_left"}
    return (words.get(gait, "walk"),)


def spot_turns(builder: ClipBuilder, drafts: Sequence[BehaviorDraft]) -> list[BehaviorDraft]:
    """Make turns on the spot that the capture lacks."""
    stand, out = builder.hubs["stand"], list[BehaviorDraft]()
    for degrees in _SPOT_TURNS:
        wanted = np.radians(degrees)
        known = any(
            e.start is stand and e.end is stand and not e.special and abs(abs(e.turn) - wanted) < 0.25 * wanted
            for e in drafts
        )
        take = _borrowed(builder, f"turn_left_{degrees:.0f}")
        if not known and take is not None:
            last = len(take[0].clip) - 1
            out += builder.make_pair(
                f"turn_left_{degrees:.0f}", [_borrowing(builder, take, (0, stand), (last, stand))], 1, rare=True
            )
    return out


def gait_changes(builder: ClipBuilder, drafts: Sequence[BehaviorDraft]) -> list[BehaviorDraft]:
    """Make changes from each gait to the next faster and slower one, by blending a step of each."""
    hubs = {hub.gait: hub for hub in _left_hubs(builder)}
    forward = [gait for gait in _SPEED_ORDER if gait in hubs]
    pairs = list(pairwise(forward))
    low = [gait for gait in hubs if gait.startswith(LOW_GAITS)]
    pairs += [(base_gait(gait), gait) for gait in low]
    out: list[BehaviorDraft] = []
    for slow, fast in pairs:
        for a, b in ((slow, fast), (fast, slow)):
            known = any((e.start.gait, e.end.gait) == (a, b) and not e.special for e in drafts)
            ones, others = _straight(drafts, a), _straight(drafts, b)
            if known or ones is None or others is None:
                continue
            name = f"{a}_to_{b}_l"
            out += builder.make_pair(name, [_leading(ones, others, name)], 1, rare=True)
    return out


def turning_steps(builder: ClipBuilder, drafts: Sequence[BehaviorDraft]) -> list[BehaviorDraft]:
    """Make turning steps that the capture lacks by bending a straight step; also a straight step if all steps turn."""
    out: list[BehaviorDraft] = []
    for gait, turns in _TURNS.items():
        pair = _straight(drafts, gait)
        if pair is None:
            continue
        steps = [e for e in drafts if not e.special and e.start is pair[0].start and e.end is pair[0].end]
        own = [_travel_turn(e.clips[0]) for e in steps]
        sides = [(sign * degrees, side) for degrees in turns for sign, side in ((1.0, "left"), (-1.0, "right"))]
        wanted = [(0.0, "forward"), *((degrees, f"{side}_{abs(degrees):.0f}") for degrees, side in sides)]
        for degrees, word in wanted:
            turn, name = float(np.radians(degrees)), f"{gait}_{word}_l"
            if not any(abs(t - turn) < _SAME_TURN for t in own) and all(e.name != name for e in drafts):
                out += builder.make_pair(name, [_bending(pair, turn, name)], 1, rare=False)
    return out


def _travel_turn(snapped: SnappedClip) -> float:
    """Return the change of the direction of travel in a clip [rad]."""
    return _turned_by(snapped) + snapped.end.travel - snapped.start.travel


def _turned_by(snapped: SnappedClip) -> float:
    headings = snapped.clip.headings()
    return float(headings[-1] - headings[0])


def _straight(drafts: Sequence[BehaviorDraft], gait: str) -> tuple[SnappedClip, SnappedClip] | None:
    """Return the straightest single step of a gait from the left foot, and from the right; None if there is none."""
    steps = [
        e for e in drafts
        if not e.special and not e.made and e.start.gait == e.end.gait == gait and e.start.foot == "left"
        and e.end.foot == "right"
    ]  # fmt: skip
    steps = [e for e in steps if not any(w.startswith("x") and w[1:].isdigit() for w in e.name.split("_"))]
    if not steps:
        return None
    best = min(steps, key=lambda e: (abs(_travel_turn(e.clips[0])) > STRAIGHT, "_forward" not in e.name,
                                     abs(_travel_turn(e.clips[0]))))  # fmt: skip
    wanted = mirrored_name(best.name), other_side(best.start.name), other_side(best.end.name)
    mirrored = next((e for e in drafts if (e.name, e.start.name, e.end.name) == wanted), None)
    return None if mirrored is None else (best.clips[0], mirrored.clips[0])


def _left_hubs(builder: ClipBuilder) -> list[CaptureHub]:
    return [hub for hub in builder.hub_distances.hubs if hub.foot == "left"]


def _borrowed(builder: ClipBuilder, name: str) -> tuple[PreparedTake, PreparedTake] | None:
    """Return a borrowed take and its mirror image; None if there is none of that name."""
    takes = builder.hub_distances.pose_index.takes
    at = next((t for t, take in enumerate(takes) if take.source == CAST and take.name == name), None)
    twin = None if at is None else mirrored_takes(takes)[at]
    return None if at is None or twin is None else (takes[at], takes[twin])


def _near_frames(builder: ClipBuilder, take: PreparedTake, hub: CaptureHub, *, late: bool) -> list[tuple[int, float]]:
    """Return the frames of a borrowed take that are nearest to a hub, and their distances in radii.

    Args:
        builder: Builder with the hubs.
        take: Borrowed take.
        hub: Hub to reach.
        late: Whether the last two thirds of the take are searched (for a start), else the first two (for a stop).
    """
    hub_distances = builder.hub_distances
    row = next(k for k, other in enumerate(hub_distances.hubs) if other is hub)
    number = next(t for t, other in enumerate(hub_distances.pose_index.takes) if other is take)
    first = int(hub_distances.pose_index.starts[number])
    ratios = hub_distances.ratios[row, first : first + len(take.clip)]
    third = len(ratios) // 3
    inside = np.arange(third, len(ratios) - 1) if late else np.arange(1, len(ratios) - third)
    lowest = [
        f for f in inside.tolist() if ratios[f] <= ratios[f - 1] and ratios[f] < ratios[min(f + 1, len(ratios) - 1)]
    ]
    return [(f, float(ratios[f])) for f in lowest]


def _borrowing(
    builder: ClipBuilder,
    takes: tuple[PreparedTake, PreparedTake],
    begin: tuple[int, CaptureHub],
    end: tuple[int, CaptureHub],
    *,
    straight: bool = False,
) -> tuple[ClipMaker, ClipMaker]:
    """Return the functions that make a clip from frames of a borrowed take, and its mirror image.

    Args:
        builder: Builder with the hubs.
        takes: Borrowed take and its mirror image.
        begin: Frame of the take in which the clip begins, and its hub.
        end: Frame in which it ends, and its hub.
        straight: Whether the clip goes straight on.
    """
    pace = _pace(builder, takes[0], begin, end)

    def make(take: PreparedTake, mirrored: bool) -> SnappedClip:
        take, frames = _paced(take, pace, (begin[0], end[0]))
        hubs = [builder.mirrored_hub(hub) if mirrored else hub for _, hub in (begin, end)]
        ends = list(zip(frames, hubs, strict=True))
        marks = [CutMark(frame, hub, place_on_frame(hub.pose, take.clip, frame), 1.0) for frame, hub in ends]
        piece = TakePiece(take, marks[0], marks[1])
        if straight:
            return snap_straight(piece, float(planar_move(piece)[2]), BORROWED, _WHOLE)
        return snap_piece(piece, BORROWED, _WHOLE)

    return lambda: make(takes[0], False), lambda: make(takes[1], True)


def _pace(
    builder: ClipBuilder, take: PreparedTake, begin: tuple[int, CaptureHub], end: tuple[int, CaptureHub]
) -> float:
    """Return the speed of the subject in its hub divided by that of the built-in person."""
    pose_index = builder.hub_distances.pose_index
    number = next(t for t, other in enumerate(pose_index.takes) if other is take)
    speeds = [(hub.speed, float(pose_index.speeds[pose_index.frame(number, frame)])) for frame, hub in (begin, end)]
    moving = [own / theirs for own, theirs in speeds if own > 0.3 and theirs > 0.3]
    return float(np.clip(moving[0], *_PACES)) if moving else 1.0


def _paced(take: PreparedTake, pace: float, frames: tuple[int, int]) -> tuple[PreparedTake, list[int]]:
    """Return a borrowed take at another speed: by its duration as far as that looks natural, else by its distances."""
    if abs(pace - 1.0) < 0.05:
        return take, list(frames)
    tempo = float(np.clip(pace, *_TEMPI))
    clip = resample(replace(take.clip, fps=take.clip.fps * tempo), take.clip.fps)
    roots = clip.root_positions * np.array([pace / tempo, pace / tempo, 1.0])
    last = len(clip) - 1
    return replace(take, clip=replace(clip, root_positions=roots)), [min(round(f / tempo), last) for f in frames]


def _leading(
    ones: tuple[SnappedClip, SnappedClip], others: tuple[SnappedClip, SnappedClip], name: str
) -> tuple[ClipMaker, ClipMaker]:
    """Return the functions that make a change of gait and its mirror image."""
    return lambda: blend_gaits(ones[0], others[0], name), lambda: blend_gaits(ones[1], others[1], name)


def _bending(pair: tuple[SnappedClip, SnappedClip], turn: float, name: str) -> tuple[ClipMaker, ClipMaker]:
    """Return the functions that make a step from the left foot that turns, and one from the right that turns back."""
    left, right = turn - _travel_turn(pair[0]), -turn - _travel_turn(pair[1])
    return lambda: bend_step(pair[0], left, name), lambda: bend_step(pair[1], right, name)
