"""Everything the person does step by step: turns, side-walk, short steps, stairs, the box and the block."""

from __future__ import annotations

from collections.abc import Callable, Collection

from gaitway.cast.person.gait.idling import shift_feet
from gaitway.cast.person.gait.stride import NEUTRAL
from gaitway.cast.person.steps.box_jump import box_jump
from gaitway.cast.person.steps.climbing import climb_down, climb_up
from gaitway.cast.person.steps.level_steps import short_step, side_walk, turn_in_place, u_turn
from gaitway.cast.person.steps.stairs import stair_cycle, stair_end, stair_start
from gaitway.cast.person.steps.step_over import (
    AS_MOST,
    CROSSING_WAYS,
    LOW_CROSSING,
    LOW_CROSSING_WAYS,
    CrossingWay,
    step_over,
)
from gaitway.cast.person.styles import Style
from gaitway.cast.recipes import CastClip, Recipe, cast_clips
from gaitway.motion.clip import Clip

TURNS_DEG = (45, 90, 180)
"""Turns on the spot."""

Make = Callable[[str, Style, int], Clip | tuple[Clip, float]]


def stepping_clips(
    style: Style = NEUTRAL, seed: int = 0, takes: int = 1, behaviors: Collection[str] | None = None
) -> list[CastClip]:
    """Return all stepped motion of a person; takes differ in timing, feet and arms. Arguments as in `cast_clips`."""
    return cast_clips(_recipes(), style, seed, takes, behaviors)


def _recipes() -> list[Recipe[Style]]:
    recipes = []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        recipes.append(Recipe(f"u_turn_{side}", "walk", "walk", _u_turn(side == "left")))
        ways = {word: _step_over(side, way) for word, way in CROSSING_WAYS.items()}
        recipes.append(Recipe(f"step_over_{side}", "walk", "walk", _step_over(side), "jump", ways=ways))
        low = {word: _step_over(side, way) for word, way in LOW_CROSSING_WAYS.items()}
        usual = _step_over(side, LOW_CROSSING)
        recipes.append(Recipe(f"step_over_low_{side}", "walk", "walk", usual, "jump", ways=low))
        recipes += [Recipe(f"turn_{side}_{d}", "stand", "stand", _turn(sign * d)) for d in TURNS_DEG]
        state = f"side_{side}"
        recipes += [
            Recipe(f"start_{state}", "stand", state, _side_walk(side, "start")),
            Recipe(f"{state}_walk", state, state, _side_walk(side, "cycle")),
            Recipe(f"stop_{state}", state, "stand", _side_walk(side, "stop")),
        ]
    recipes += [Recipe(f"step_{way}", "stand", "stand", _short_step(way)) for way in ("front", "left", "right")]
    for way in ("up", "down"):
        kind = f"stairs_{way}"
        recipes += [
            Recipe(f"start_{kind}", "walk", kind, _stair_start(way), kind),
            Recipe(kind, kind, kind, _stair_cycle(way), kind),
            Recipe(f"stop_{kind}", kind, "walk", _stair_end(way), kind),
        ]
    return [
        *recipes,
        Recipe("jump_on_box", "stand", "stand", box_jump, "box"),
        Recipe("climb_up", "stand", "stand", climb_up, "climb"),
        Recipe("climb_down", "stand", "stand", climb_down, "climb"),
        Recipe("shift_feet", "stand", "stand", shift_feet),
    ]


def _u_turn(left: bool) -> Make:
    return lambda name, style, seed: u_turn(name, left, style, seed)


def _step_over(side: str, way: CrossingWay = AS_MOST) -> Make:
    return lambda name, style, seed: step_over(name, side, style, seed, way)


def _turn(degrees: float) -> Make:
    return lambda name, style, seed: turn_in_place(name, degrees, style, seed)


def _side_walk(side: str, part: str) -> Make:
    return lambda name, style, seed: side_walk(name, side, part, style, seed)


def _short_step(way: str) -> Make:
    return lambda name, style, seed: short_step(name, way, style, seed)


def _stair_start(way: str) -> Make:
    return lambda name, style, seed: stair_start(name, way, style, seed)


def _stair_end(way: str) -> Make:
    return lambda name, style, seed: stair_end(name, way, style, seed)


def _stair_cycle(way: str) -> Make:
    def make(name: str, style: Style, seed: int) -> tuple[Clip, float]:
        clip = stair_cycle(name, way, style, seed)
        return clip, 0.5 * clip.duration

    return make
