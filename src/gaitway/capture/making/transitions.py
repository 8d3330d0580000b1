"""Behaviours that planners need and a capture does not have: made, judged by the same gate, and said so.

Standing, setting off, stopping and turning on the spot are borrowed from the built-in person and led to the subject's
own poses; changes of gait are blends of the subject's own steps, and turns are bent from straight ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gaitway.capture.cutting.cuts import Mark, Piece, twin_takes
from gaitway.capture.cutting.hub_poses import laid_onto
from gaitway.capture.cutting.hubs import Hub, other_side
from gaitway.capture.cutting.snapping import Snapped, snap
from gaitway.capture.making.blended import bent, led_over
from gaitway.capture.making.borrowed import CAST
from gaitway.capture.making.candidates import STRAIGHT
from gaitway.capture.making.clip_builder import Entry, Maker, Workshop
from gaitway.capture.takes import PreparedTake
from gaitway.motion.editing import resample

BORROWED = "borrowed from the built-in person, led to this subject's poses"
_WHOLE = 60.0
"""Borrowed motions give way to the subject's poses all the way, so that they have its posture throughout [s]."""
_PACES, _TEMPI = (0.5, 1.6), (0.75, 1.3)
"""Borrowed motions are made slower or faster within the first limits, in time within the second."""
_SHORTEST_S, _BRAKING = 0.8, 3.0
"""Starts and stops take at least the first [s], and change speed by no more than the second on average [m/s^2]."""
_ATTEMPTS = 5
"""So many ways to borrow one transition are tried, the likeliest first."""
_SPEED_ORDER = ("stroll", "walk", "jog", "run")
_TURNS = {"stroll": (15.0, 30.0, 45.0), "walk": (15.0, 30.0, 45.0), "jog": (15.0, 30.0), "run": (15.0, 25.0)}
"""Turns within one step that every gait shall have [degrees]."""
_SAME_TURN = np.radians(7.6)
"""A turn is there if one is captured that differs by less [rad]."""
_SPOT_TURNS = (45.0, 90.0, 180.0)
IDLE_S = 1.2
"""Standing that is shorter looks nervous when repeated [s]."""


def standing(workshop: Workshop, entries: Sequence[Entry]) -> list[Entry]:
    """Idle standing, where none was captured that is long enough, and a short wait."""
    out: list[Entry] = []
    stand = workshop.hubs["stand"]
    long = [e for e in entries if e.name == "stand" and e.clips[0].clip.duration >= IDLE_S]
    for name in (() if long else ("stand",)) + ("wait",):
        take = _borrowed(workshop, name)
        if take is not None:
            last = len(take[0].clip) - 1
            out += workshop.pair(name, [_borrowing(workshop, take, (0, stand), (last, stand))], 1, rare=True)
    return out


def setting_off(workshop: Workshop, entries: Sequence[Entry]) -> list[Entry]:
    """Starts and stops of every gait that has steps, and none of them."""
    out: list[Entry] = []
    for hub in _left_hubs(workshop):
        plain = [e for e in entries if not e.special and hub.gait in (e.start.gait, e.end.gait)]
        if not any(e.start.gait == e.end.gait for e in plain):
            continue
        if not any(e.start.kind == "stand" for e in plain):
            out += _start_or_stop(workshop, hub, "start")
        if not any(e.end.kind == "stand" for e in plain):
            out += _start_or_stop(workshop, hub, "stop")
    return out


def _start_or_stop(workshop: Workshop, hub: Hub, verb: str) -> list[Entry]:
    stand = workshop.hubs["stand"]
    choices: list[tuple[float, tuple[Maker, Maker]]] = []
    for word in _borrowable(hub):
        for name in (f"{verb}_{word}", f"{verb}_{word} mirrored"):
            take = _borrowed(workshop, name)
            if take is None:
                continue
            last = len(take[0].clip) - 1
            for frame, ratio in _near_frames(workshop, take[0], hub, late=verb == "start"):
                ends = ((0, stand), (frame, hub)) if verb == "start" else ((frame, hub), (last, stand))
                pace = _pace(workshop, take[0], *ends)
                if (ends[1][0] - ends[0][0]) / take[0].clip.fps / pace >= max(_SHORTEST_S, hub.speed / _BRAKING):
                    choices.append((ratio, _borrowing(workshop, take, *ends)))
    choices.sort(key=lambda choice: choice[0])
    makers = [maker for _, maker in choices[:_ATTEMPTS]]
    return workshop.pair(f"{verb}_{hub.gait}_l", makers, 1, rare=True)


def _borrowable(hub: Hub) -> tuple[str, ...]:
    """Which of the built-in person's gaits may lead into a hub."""
    gait = hub.gait.removeprefix("crouch_").rstrip("_0123456789")
    if gait in ("jog", "run"):
        return ("jog", "walk")
    words = {"back": "back", "back_jog": "back", "side_left": "side_left", "side_right": "side_left"}
    return (words.get(gait, "walk"),)


def spot_turns(workshop: Workshop, entries: Sequence[Entry]) -> list[Entry]:
    """Turns on the spot that were not captured."""
    stand, out = workshop.hubs["stand"], list[Entry]()
    for degrees in _SPOT_TURNS:
        wanted = np.radians(degrees)
        known = any(
            e.start is stand and e.end is stand and not e.special and abs(abs(e.turn) - wanted) < 0.25 * wanted
            for e in entries
        )
        take = _borrowed(workshop, f"turn_left_{degrees:.0f}")
        if not known and take is not None:
            last = len(take[0].clip) - 1
            out += workshop.pair(
                f"turn_left_{degrees:.0f}", [_borrowing(workshop, take, (0, stand), (last, stand))], 1, rare=True
            )
    return out


def gait_changes(workshop: Workshop, entries: Sequence[Entry]) -> list[Entry]:
    """Ways from each gait to the next faster and slower one, by blending a step of one with a step of the other."""
    hubs = {hub.gait: hub for hub in _left_hubs(workshop)}
    forward = [gait for gait in _SPEED_ORDER if gait in hubs]
    pairs = list(pairwise(forward))
    pairs += [(gait.removeprefix("crouch_"), gait) for gait in hubs if gait.startswith("crouch_")]
    out: list[Entry] = []
    for slow, fast in pairs:
        for a, b in ((slow, fast), (fast, slow)):
            known = any((e.start.gait, e.end.gait) == (a, b) and not e.special for e in entries)
            ones, others = _straight(entries, a), _straight(entries, b)
            if known or ones is None or others is None:
                continue
            name = f"{a}_to_{b}_l"
            out += workshop.pair(name, [_leading(ones, others, name)], 1, rare=True)
    return out


def moving_turns(workshop: Workshop, entries: Sequence[Entry]) -> list[Entry]:
    """Turns within a step that were not captured, bent from straight ones; and straight ones where all turn."""
    out: list[Entry] = []
    for gait, turns in _TURNS.items():
        pair = _straight(entries, gait)
        if pair is None:
            continue
        steps = [e for e in entries if not e.special and e.start is pair[0].start and e.end is pair[0].end]
        own = [_travel_turn(e.clips[0]) for e in steps]
        sides = [(sign * degrees, side) for degrees in turns for sign, side in ((1.0, "left"), (-1.0, "right"))]
        wanted = [(0.0, "forward"), *((degrees, f"{side}_{abs(degrees):.0f}") for degrees, side in sides)]
        for degrees, word in wanted:
            turn, name = float(np.radians(degrees)), f"{gait}_{word}_l"
            if not any(abs(t - turn) < _SAME_TURN for t in own) and all(e.name != name for e in entries):
                out += workshop.pair(name, [_bending(pair, turn, name)], 1, rare=False)
    return out


def _travel_turn(snapped: Snapped) -> float:
    """What a clip turns in its direction of travel [rad]."""
    return _turned_by(snapped) + snapped.end.travel - snapped.start.travel


def _turned_by(snapped: Snapped) -> float:
    headings = snapped.clip.headings()
    return float(headings[-1] - headings[0])


def _straight(entries: Sequence[Entry], gait: str) -> tuple[Snapped, Snapped] | None:
    """The straightest single step of a gait from the left foot, and its mirror image."""
    steps = [
        e for e in entries
        if not e.special and not e.made and e.start.gait == e.end.gait == gait and e.start.foot == "left"
        and e.end.foot == "right"
    ]  # fmt: skip
    steps = [e for e in steps if not any(w.startswith("x") and w[1:].isdigit() for w in e.name.split("_"))]
    if not steps:
        return None
    best = min(steps, key=lambda e: (abs(_travel_turn(e.clips[0])) > STRAIGHT, "_forward" not in e.name,
                                     abs(_travel_turn(e.clips[0]))))  # fmt: skip
    mirrored = next((e for e in entries if e.start.name == other_side(best.start.name)
                     and e.clips[0].frames == best.clips[0].frames and e.clips[0].mirrored), None)  # fmt: skip
    return None if mirrored is None else (best.clips[0], mirrored.clips[0])


def _left_hubs(workshop: Workshop) -> list[Hub]:
    return [hub for hub in workshop.nearness.hubs if hub.foot == "left"]


def _borrowed(workshop: Workshop, name: str) -> tuple[PreparedTake, PreparedTake] | None:
    """A borrowed take and its mirror image."""
    takes = workshop.nearness.sightings.takes
    at = next((t for t, take in enumerate(takes) if take.source == CAST and take.name == name), None)
    twin = None if at is None else twin_takes(takes)[at]
    return None if at is None or twin is None else (takes[at], takes[twin])


def _near_frames(workshop: Workshop, take: PreparedTake, hub: Hub, *, late: bool) -> list[tuple[int, float]]:
    """Frames of a borrowed take that are nearest to a hub, and how near in radii: late in a start, early in a stop."""
    nearness = workshop.nearness
    row = next(k for k, other in enumerate(nearness.hubs) if other is hub)
    number = next(t for t, other in enumerate(nearness.sightings.takes) if other is take)
    first = int(nearness.sightings.starts[number])
    ratios = nearness.ratios[row, first : first + len(take.clip)]
    third = len(ratios) // 3
    inside = np.arange(third, len(ratios) - 1) if late else np.arange(1, len(ratios) - third)
    lowest = [
        f for f in inside.tolist() if ratios[f] <= ratios[f - 1] and ratios[f] < ratios[min(f + 1, len(ratios) - 1)]
    ]
    return [(f, float(ratios[f])) for f in lowest]


def _borrowing(
    workshop: Workshop, takes: tuple[PreparedTake, PreparedTake], begin: tuple[int, Hub], end: tuple[int, Hub]
) -> tuple[Maker, Maker]:
    """Makers of a clip from frames of a borrowed take, and of its mirror image."""
    pace = _pace(workshop, takes[0], begin, end)

    def make(take: PreparedTake, mirrored: bool) -> Snapped:
        take, frames = _paced(take, pace, (begin[0], end[0]))
        hubs = [workshop.twin(hub) if mirrored else hub for _, hub in (begin, end)]
        ends = list(zip(frames, hubs, strict=True))
        marks = [Mark(frame, hub, laid_onto(hub.pose, take.clip, frame), 1.0) for frame, hub in ends]
        return snap(Piece(take, marks[0], marks[1]), BORROWED, _WHOLE)

    return lambda: make(takes[0], False), lambda: make(takes[1], True)


def _pace(workshop: Workshop, take: PreparedTake, begin: tuple[int, Hub], end: tuple[int, Hub]) -> float:
    """How many times as fast as the built-in person the subject goes in its hub."""
    sightings = workshop.nearness.sightings
    number = next(t for t, other in enumerate(sightings.takes) if other is take)
    speeds = [(hub.speed, float(sightings.speeds[sightings.frame(number, frame)])) for frame, hub in (begin, end)]
    moving = [own / theirs for own, theirs in speeds if own > 0.3 and theirs > 0.3]
    return float(np.clip(moving[0], *_PACES)) if moving else 1.0


def _paced(take: PreparedTake, pace: float, frames: tuple[int, int]) -> tuple[PreparedTake, list[int]]:
    """A borrowed take at another pace: in time as far as it looks natural, the rest by shorter or longer ways."""
    if abs(pace - 1.0) < 0.05:
        return take, list(frames)
    tempo = float(np.clip(pace, *_TEMPI))
    clip = resample(replace(take.clip, fps=take.clip.fps * tempo), take.clip.fps)
    roots = clip.root_positions * np.array([pace / tempo, pace / tempo, 1.0])
    last = len(clip) - 1
    return replace(take, clip=replace(clip, root_positions=roots)), [min(round(f / tempo), last) for f in frames]


def _leading(ones: tuple[Snapped, Snapped], others: tuple[Snapped, Snapped], name: str) -> tuple[Maker, Maker]:
    """Makers of a change of gait, and of its mirror image."""
    return lambda: led_over(ones[0], others[0], name), lambda: led_over(ones[1], others[1], name)


def _bending(pair: tuple[Snapped, Snapped], turn: float, name: str) -> tuple[Maker, Maker]:
    """Makers of a turn, and of its mirror image."""
    more = turn - _travel_turn(pair[0])
    return lambda: bent(pair[0], more, name), lambda: bent(pair[1], -more, name)
