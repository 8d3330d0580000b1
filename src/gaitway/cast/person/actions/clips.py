"""The special motions of the person: jumps, ducks, crawling and gestures, with what each passes and when."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from gaitway.cast.person.actions.crawl_transitions import crawl_start_clip, crawl_stop_clip
from gaitway.cast.person.actions.crawling import Manner, crawl_cycles
from gaitway.cast.person.actions.ducking import AS_MOST, Duck, DuckWay, best_pass_time, duck_clip
from gaitway.cast.person.actions.gestures import breast_stroke_clip, cheer_clip, wave_clip
from gaitway.cast.person.actions.jumps import Leap, leap_clip
from gaitway.cast.person.gait.stride import NEUTRAL
from gaitway.cast.person.styles import Style
from gaitway.cast.recipes import CastClip, Recipe, cast_clips
from gaitway.core import rotations
from gaitway.motion.clip import Clip

JUMP_HEIGHT, JUMP_DEPTH = 0.5, 0.4
"""A jump passes over a bar this high and this deep [m]."""
HURDLE_HEIGHT, HURDLE_DEPTH = 0.42, 0.3
"""A hurdle, which a jogger takes in stride, passes over a bar this high and this deep [m]."""
JUMPS = {
    "hurdle": Leap(0.40, tuck=0.5, leg_at_takeoff=0.945, lean=0.12, clears=0.455, depth=HURDLE_DEPTH),
    "jump": Leap(0.55, tuck=0.5, leg_at_takeoff=0.94, lean=0.15),
    "long_jump": Leap(0.56, cycles_before=2, top_speed=2.95, tuck=0.35, leg_at_takeoff=0.955, lean=0.1),
}
DUCK_CLEARANCE, DUCK_DEPTH = 1.22, 0.25
"""A duck is a dip at the beam: it passes under one this high and this deep [m]."""
STOOP_CLEARANCE = 1.5
"""A stoop is a dip of the trunk: it passes under a beam this high, as deep as that of a duck [m]."""
DIP_CLEARANCE = 1.36
"""A dip goes lower than a stoop and less low than a duck [m]."""
CROUCH_CLEARANCE, CROUCH_DEPTH = 1.1, 1.0
"""A crouch goes lower and on for longer: it passes under a beam this high and this deep [m]."""
DUCKS = {
    "duck": Duck("walk", depth=0.73, cycles=2, low_speed=1.15, keys=(0.12, 0.41, 0.54, 0.83)),
    "duck_jog": Duck(
        "jog", depth=0.72, cycles=2, low_speed=2.5, quickness=1.12, keys=(0.1, 0.45, 0.55, 0.9), longer_stance=0.08
    ),
    "crouch": Duck("walk"),
    "dip": Duck("walk", depth=0.5, cycles=2, low_speed=1.22, keys=(0.14, 0.40, 0.56, 0.83)),
    "stoop": Duck("walk", depth=0.3, cycles=2, low_speed=1.3, keys=(0.16, 0.39, 0.58, 0.83)),
}
DUCK_WAYS = {
    "knees": DuckWay(sink=0.12, bow=-0.23, early=0.015, left=(0.1, 0.25, 0.2), right=(0.0, 0.2, 0.35)),
    "back": DuckWay(sink=-0.17, bow=0.3, nod=0.4, early=-0.01, left=(-0.1, 0.0, -0.1), right=(-0.15, 0.05, -0.1)),
    "aside": DuckWay(turn=0.38, tilt=-0.2, nod=0.12, early=0.02, left=(0.25, 0.1, 0.5), right=(-0.35, 0.25, 0.0)),
    "guarded": DuckWay(turn=-0.15, tilt=0.12, nod=0.2, left=(-0.1, 0.15, 0.1), right=(0.6, 0.0, 0.65)),
}
"""Ways to go under, by name: with the knees, with the back, one shoulder first, and a hand before the face."""
CROUCH_WAYS = ("back", "guarded")
"""Those of them that go low enough for a crouch."""
CRAWL_CLEARANCE = 0.8
"""Crawling passes under a slab this high [m]; "crawl_under" as a whole under one 0.5 m deep."""
CRAWL_CYCLES = 3
"""Cycles of crawling in "crawl_under"."""


def action_clips(
    style: Style = NEUTRAL, seed: int = 0, takes: int = 1, behaviors: Collection[str] | None = None
) -> list[CastClip]:
    """Return all special motions of a person. Arguments as those of `cast_clips`."""
    return cast_clips(_recipes(), style, seed, takes, behaviors)


def _recipes() -> list[Recipe[Style]]:
    return [
        *(Recipe(name, "jog", "jog", _leaping(leap), "jump") for name, leap in JUMPS.items()),
        *(Recipe(name, duck.gait, duck.gait, _ducking(duck), "duck", ways=_ways(name)) for name, duck in DUCKS.items()),
        Recipe("crawl_start", "stand", "crawl", crawl_start_clip),
        Recipe("crawl_forward", "crawl", "crawl", _crawl_forward),
        Recipe("crawl_stop", "crawl", "stand", crawl_stop_clip),
        Recipe("crawl_under", "stand", "stand", _crawl_under, "crawl"),
        Recipe("wave", "stand", "stand", wave_clip),
        Recipe("cheer", "stand", "stand", cheer_clip),
        Recipe("breast_stroke", "stand", "stand", breast_stroke_clip),
    ]


def _leaping(leap: Leap) -> Callable[[str, Style, int], tuple[Clip, float]]:
    return lambda name, style, seed: leap_clip(name, leap, style, seed)


def _ways(name: str) -> dict[str, Callable[[str, Style, int], tuple[Clip, float]]]:
    words = CROUCH_WAYS if name == "crouch" else tuple(DUCK_WAYS)
    return {word: _ducking(DUCKS[name], DUCK_WAYS[word]) for word in words}


def _ducking(duck: Duck, way: DuckWay = AS_MOST) -> Callable[[str, Style, int], tuple[Clip, float]]:
    return lambda name, style, seed: duck_clip(name, duck, style, seed, way)


def _crawl_forward(name: str, style: Style, seed: int | None) -> Clip:
    del style  # people crawl by their takes' manner; the hub is everyone's
    return crawl_cycles(name, 1, Manner.draw(seed))


def _crawl_under(name: str, style: Style, seed: int | None) -> tuple[Clip, float]:
    """Make the clip that goes from standing under a low slab and up again."""
    parts = [
        crawl_start_clip(name, style, seed),
        crawl_cycles(name, CRAWL_CYCLES, Manner.draw(seed)),
        crawl_stop_clip(name, style, seed),
    ]
    clip = joined(parts, name)
    return clip, best_pass_time(clip)


def joined(parts: list[Clip], name: str) -> Clip:
    """Return clips along +X that share their end poses, joined; where two meet, the frame of the later one is kept."""
    root, local, contacts = [], [], []
    place = np.zeros(3)
    for i, part in enumerate(parts):
        end = len(part) if i == len(parts) - 1 else len(part) - 1
        shift = place - part.root_positions[0] * [1.0, 0.0, 0.0] if i else np.zeros(3)
        root.append(part.root_positions[:end] + shift)
        local.append(part.rotations[:end])
        contacts.append(
            np.zeros((end, len(part.skeleton.contact_points)), bool) if part.contacts is None else part.contacts[:end]
        )
        place = (part.root_positions[-1] + shift) * [1.0, 0.0, 0.0]
    return Clip(
        parts[0].skeleton,
        np.concatenate(root),
        rotations.continuous(np.concatenate(local)),
        parts[0].fps,
        name,
        np.concatenate(contacts),
    )
