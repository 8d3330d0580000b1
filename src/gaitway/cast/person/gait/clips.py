"""Everything the person does on the move: the clips that walk, jog, step back, start, stop and stand.

The parts are in `stride` (a body at given speed and phase), `hubs` (exact ends), `performing` (one clip) and `idling`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from gaitway.cast.curves import plateau, smooth_step
from gaitway.cast.person.gait.hubs import hub
from gaitway.cast.person.gait.idling import idle
from gaitway.cast.person.gait.model import GaitModel
from gaitway.cast.person.gait.performing import perform
from gaitway.cast.person.gait.stride import (
    FPS,
    NEUTRAL,
    SPEEDS,
    Edit,
    turn_joint,
)
from gaitway.cast.person.styles import Style
from gaitway.cast.recipes import CastClip, Recipe, cast_clips
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

TURNS_DEG = (15, 30, 45)
BACK_TURN_DEG = 15
IDLE_SECONDS = (5.0, 4.0, 6.0, 4.5)
"""Lengths of the takes of standing, in turn."""

STRIDE_SPREAD, MOST_SPREAD = 0.03, 0.05
"""Standard deviation of the time of a stride among further takes, and its bound, as shares."""

Make = Callable[[str, Style, int, bool], Clip]
"""Makes a take: name, whose body, seed, whether its ends are free."""


def locomotion_clips(
    style: Style = NEUTRAL, seed: int = 0, takes: int = 1, behaviors: Collection[str] | None = None
) -> list[CastClip]:
    """Return all locomotion of a person. Arguments as those of `cast_clips`.

    Takes differ by wobble. Further takes hold trunk, arms and head in their own way at both ends, and their cycles are
    longer or shorter.
    """
    return cast_clips(_recipes(), style, seed, takes, behaviors)


def _recipes() -> list[Recipe[Style]]:
    recipes = [
        _recipe("stand", "stand", "stand", _stand),
        _recipe("wait", "stand", "stand", _wait),
        _recipe("start_walk", "stand", "walk", _start_walk),
        _recipe("stop_walk", "walk", "stand", _stop_walk),
        _recipe("start_jog", "stand", "jog", _start_jog),
        _recipe("stop_jog", "jog", "stand", _stop_jog),
        _recipe("walk_to_jog", "walk", "jog", _change("walk", "jog")),
        _recipe("jog_to_walk", "jog", "walk", _change("jog", "walk")),
    ]
    for gait, short in (("walk", (1.0, 0.40)), ("jog", (0.88, 0.73))):
        recipes += [
            _recipe(f"{gait}_forward", gait, gait, _cycle(gait, 0.0)),
            _recipe(f"{gait}_short", gait, gait, _short(gait, *short)),
        ]
        for degrees in TURNS_DEG:
            recipes += [
                _recipe(f"{gait}_left_{degrees}", gait, gait, _cycle(gait, degrees)),
                _recipe(f"{gait}_right_{degrees}", gait, gait, _cycle(gait, -degrees)),
            ]
    return [
        *recipes,
        _recipe("start_back", "stand", "back", _start_back),
        _recipe("stop_back", "back", "stand", _stop_back),
        _recipe("back_walk", "back", "back", _cycle("back", 0.0)),
        _recipe(f"back_left_{BACK_TURN_DEG}", "back", "back", _cycle("back", BACK_TURN_DEG)),
        _recipe(f"back_right_{BACK_TURN_DEG}", "back", "back", _cycle("back", -BACK_TURN_DEG)),
    ]


def _recipe(behavior: str, start: str, end: str, make: Make) -> Recipe[Style]:
    """Return a recipe whose further takes have free ends."""
    return Recipe(
        behavior,
        start,
        end,
        lambda name, style, seed: make(name, style, seed, False),
        further=lambda name, style, seed: make(name, style, seed, True),
    )


def _pace(seed: int, free: bool) -> float:
    """Return the factor on the time of a cycle: people's strides differ by a few hundredths (Hausdorff 2005)."""
    if not free:
        return 1.0
    drawn = float(np.random.default_rng([seed, 7]).standard_normal())
    return 1.0 + float(np.clip(STRIDE_SPREAD * drawn, -MOST_SPREAD, MOST_SPREAD))


def _stand(name: str, style: Style, seed: int, free: bool) -> Clip:
    return idle(name, IDLE_SECONDS[seed % len(IDLE_SECONDS)], style=style, seed=seed, free_ends=free)


def _wait(name: str, style: Style, seed: int, free: bool) -> Clip:
    return idle(name, 1.0, style=style, seed=seed, free_ends=free)


def _cycle(gait: str, degrees: float) -> Make:
    """Return one cycle that turns; people slow down a little in sharp turns."""
    slower = 0.10 * min(abs(degrees) / 45.0, 1.0)

    def make(name: str, style: Style, seed: int, free: bool) -> Clip:
        return perform(
            name,
            gait,
            gait,
            style=style,
            seed=seed,
            free_ends=free,
            pace=_pace(seed, free),
            turn=float(np.radians(degrees)),
            speed=lambda s: SPEEDS[gait] * (1.0 - slower * plateau(s, 0.0, 0.35, 0.65, 1.0)),
            wobble=1.0 - 4.0 * slower if gait == "jog" else 1.0,  # the arms are busy enough in a sharp turn
        )

    return make


def _short(gait: str, time: float, slow: float) -> Make:
    """Return a cycle of short steps: share `time` of its duration, in the middle share `slow` of its speed.

    Who walks slower for a cycle does not step faster. In a jog, whose flight lasts as long as it must, short steps are
    quick, and no slower than the fit goes: arms that stop changing with the speed jerk.
    """

    def make(name: str, style: Style, seed: int, free: bool) -> Clip:
        at = hub(gait, style)
        return perform(
            name,
            gait,
            gait,
            style=style,
            seed=seed,
            free_ends=free,
            pace=_pace(seed, free),
            seconds=time * at.frames / FPS,
            speed=lambda s: at.speed * (1.0 - (1.0 - slow) * plateau(s, 0.0, 0.4, 0.6, 1.0)),
            wobble=0.5,
        )

    return make


def _change(start: str, end: str) -> Make:
    def make(name: str, style: Style, seed: int, free: bool) -> Clip:
        return perform(name, start, end, style=style, seed=seed, cycles=2, free_ends=free)

    return make


def _footfall(gait: str, style: Style) -> tuple[float, float]:
    """Return the phases at which the left foot lands and the right one lifts [cycles]."""
    model = GaitModel.load()
    _, land, leave = model.timings(gait, abs(SPEEDS[gait]), 0.0, style.vector(model))
    return float(land), float(leave) - 0.5


def _start_walk(name: str, style: Style, seed: int, free: bool) -> Clip:
    seconds = 1.6
    land, lift = _footfall("walk", style)
    return perform(
        name,
        "stand",
        "walk",
        style=style,
        seed=seed,
        free_ends=free,
        seconds=seconds,
        speed=lambda s: SPEEDS["walk"] * smooth_step(s * seconds, 0.0, 1.25),
        moving=lambda s: smooth_step(s * seconds, 0.0, 0.75),
        beats=((0.30, lift + 0.01), (0.74, land + 0.5), (1.25, land + 1.0)),
        edit=_lean_edit(0.05, (0.0, 0.35, 0.6, 1.3)),
    )


def _stop_walk(name: str, style: Style, seed: int, free: bool) -> Clip:
    seconds = 1.2
    land, lift = _footfall("walk", style)
    return perform(
        name,
        "walk",
        "stand",
        style=style,
        seed=seed,
        free_ends=free,
        seconds=seconds,
        speed=lambda s: SPEEDS["walk"] * (1.0 - smooth_step(s * seconds, 0.0, 0.95)),
        moving=lambda s: 1.0 - smooth_step(s * seconds, 0.4, 1.2),
        beats=((0.22, land + 0.5), (0.34, lift + 0.5), (0.78, land + 1.0)),
        edit=_lean_edit(-0.04, (0.0, 0.35, 0.5, 1.2)),
    )


def _start_jog(name: str, style: Style, seed: int, free: bool) -> Clip:
    seconds = 1.9
    (land, lift), (jog_land, _) = _footfall("walk", style), _footfall("jog", style)
    return perform(
        name,
        "stand",
        "jog",
        style=style,
        seed=seed,
        free_ends=free,
        cycles=2,
        seconds=seconds,
        speed=lambda s: SPEEDS["jog"] * smooth_step(s * seconds, 0.0, 1.6),
        moving=lambda s: smooth_step(s * seconds, 0.0, 0.75),
        beats=(
            (0.30, lift + 0.01),
            (0.66, land + 0.5),
            (1.03, 0.6 * land + 0.4 * jog_land + 1.0),
            (1.37, jog_land + 1.5),
        ),
        edit=_lean_edit(0.16, (0.0, 0.5, 0.9, 1.7), 0.02),
    )


def _stop_jog(name: str, style: Style, seed: int, free: bool) -> Clip:
    seconds = 1.8
    land, jog_land = _footfall("walk", style)[0], _footfall("jog", style)[0]
    return perform(
        name,
        "jog",
        "stand",
        style=style,
        seed=seed,
        free_ends=free,
        cycles=2,
        seconds=seconds,
        speed=lambda s: SPEEDS["jog"] * (1.0 - smooth_step(s * seconds, 0.0, 1.4)),
        moving=lambda s: 1.0 - smooth_step(s * seconds, 0.8, 1.6),
        beats=((0.25, jog_land + 0.5), (0.63, jog_land + 1.0), (1.0, land + 1.51), (1.45, land + 2.0)),
        edit=_lean_edit(-0.12, (0.1, 0.6, 0.8, 1.5), 0.04),
    )


def _start_back(name: str, style: Style, seed: int, free: bool) -> Clip:
    seconds = 1.8
    land, lift = _footfall("back", style)
    return perform(
        name,
        "stand",
        "back",
        style=style,
        seed=seed,
        free_ends=free,
        seconds=seconds,
        speed=lambda s: SPEEDS["back"] * smooth_step(s * seconds, 0.0, 1.45),
        moving=lambda s: smooth_step(s * seconds, 0.0, 0.8),
        beats=((0.34, lift + 0.01), (0.84, land + 0.5), (1.42, land + 1.0)),
        wobble=0.4,
    )


def _stop_back(name: str, style: Style, seed: int, free: bool) -> Clip:
    seconds = 1.4
    land = _footfall("back", style)[0]
    return perform(
        name,
        "back",
        "stand",
        style=style,
        seed=seed,
        free_ends=free,
        seconds=seconds,
        speed=lambda s: SPEEDS["back"] * (1.0 - smooth_step(s * seconds, 0.0, 1.1)),
        moving=lambda s: 1.0 - smooth_step(s * seconds, 0.5, 1.25),
        beats=((0.24, land + 0.5), (0.9, land + 1.0)),
    )


def _lean_edit(lean: float, times: tuple[float, float, float, float], crouch: float = 0.0) -> Edit:
    """Lean the trunk forward by `lean` [rad] and sink by `crouch` [m] between these times [s]; the gaze stays level."""

    def edit(local: FloatArray, time: FloatArray, phase: FloatArray) -> FloatArray:
        del phase
        amount = plateau(time, *times)
        for joint, share in (("Hips", 0.4), ("Spine", 0.25), ("Spine1", 0.2), ("Spine2", 0.15), ("Neck", -0.4)):
            turn_joint(local, joint, 0.0, lean * share * amount, 0.0)
        turn_joint(local, "Head", 0.0, -0.4 * lean * amount, 0.0)
        return np.asarray(-crouch * amount)

    return edit
