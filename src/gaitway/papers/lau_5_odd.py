"""Takes that do not belong with others, made on purpose (Lau 2009, figure 5.8): whether choosing inputs finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample
from gaitway.variation.evaluation.noise import Ground, strawman_noise
from gaitway.variation.inputs.input_selection import Measure, choose
from gaitway.variation.network.dofs import PARTS, joint_parts

HIGHER, TURN, SLOWER, NOISE = 1.5, np.radians(20.0), 1.25, 2.0
"""Factor on the swing of the arms; turn over a take [rad]; factor on its length; noise in deviations between takes."""
_GOOD = 7
"""Takes that belong together in each set."""
_STYLES = ("style-3", "style-5")
"""Other people of the built-in cast."""


def higher_arms(clip: Clip, factor: float = HIGHER) -> Clip:
    """A take whose arms swing about their mean by so many times as much."""
    parts, turned = joint_parts(clip.skeleton), np.array(clip.rotations)
    for joint in np.flatnonzero(parts >= PARTS.index("left_arm")):
        mean = rotations.mean(turned[:, joint : joint + 1])[0]
        away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(mean), turned[:, joint]))
        turned[:, joint] = rotations.multiply(mean, rotations.from_rotation_vector(factor * away))
    return replace(clip, rotations=rotations.normalize(turned), name=f"{clip.name}, arms higher")


def turning(clip: Clip, angle: float = TURN) -> Clip:
    """A take that turns to the left by an angle [rad] more on its way, evenly."""
    along = np.linspace(0.0, angle, len(clip))
    roots, turned = np.array(clip.root_positions), np.array(clip.rotations)
    step, cosine, sine = np.diff(roots[:, :2], axis=0), np.cos(along[:-1]), np.sin(along[:-1])
    bent = np.column_stack([cosine * step[:, 0] - sine * step[:, 1], sine * step[:, 0] + cosine * step[:, 1]])
    roots[1:, :2] = roots[0, :2] + np.cumsum(bent, axis=0)
    turned[:, 0] = rotations.multiply(rotations.from_yaw(along), turned[:, 0])
    turned = rotations.normalize(turned)
    return replace(clip, root_positions=roots, rotations=turned, name=f"{clip.name}, turning")


def slower(clip: Clip, factor: float = SLOWER) -> Clip:
    """A take that lasts so many times as long."""
    return replace(resample(replace(clip, fps=clip.fps / factor), clip.fps), name=f"{clip.name}, slower")


def noisy(takes: Sequence[Clip], number: int, rng: np.random.Generator, size: float = NOISE) -> Clip:
    """One of the takes with smooth noise in every joint, so many times the deviation between them."""
    ground = Ground.of(takes)
    noise = np.where(ground.joints, strawman_noise(ground, number, rng), 0.0)
    name = f"{takes[number].name}, noisy"
    return ground.degrees.clip(ground.rows[number] + size * noise, name, contacts=takes[number].contacts)


def known_answers(
    sets: int, seed: int, progress: Callable[[str, int, int | None], None]
) -> tuple[list[dict[str, Any]], list[str]]:
    """How many odd takes are left out of sets of generated walks, and how many good ones along with them.

    Every set is seven takes of the mean person and an odd one, or eight good ones. The measure is of other takes of the
    same person.
    """
    rng = np.random.default_rng([seed, 58])
    measure = Measure.of([_walks(seed + 1000 + k, _GOOD + 1) for k in range(3)], rng)
    strangers = [_walks(seed + 7, sets, style) for style in _STYLES]
    tally: dict[str, list[tuple[bool, float]]] = {}
    for number in range(sets):
        progress("choosing among takes with an odd one", number, sets)
        good = _walks(seed + 2000 + number, _GOOD + 1)
        odd = _odd_takes(good[:_GOOD], strangers[number % len(strangers)][number], rng)
        for kind, one in {"none": good[_GOOD], **odd}.items():
            choice = choose([*good[:_GOOD], one], measure, rng)
            left = [gone.clip for gone in choice.left]
            wrong = sum(any(clip is take for clip in left) for take in good[:_GOOD])
            tally.setdefault(kind, []).append((any(clip is one for clip in left), wrong / _GOOD))
    rows = [
        {
            "odd take": kind, "sets": sets,
            "left out": "" if kind == "none" else f"{np.mean([found for found, _ in cases]):.2f}",
            "good ones left out": f"{np.mean([wrong for _, wrong in cases]):.2f}",
        }
        for kind, cases in tally.items()
    ]  # fmt: skip
    notes = [
        f"5.7: a tenth of {len(measure.known)} generated takes lie below the threshold {measure.threshold:.1f}; sets "
        "may be looser by half as much again, so that fewer good ones are left out"
    ]
    return rows, notes


def _odd_takes(good: Sequence[Clip], stranger: Clip, rng: np.random.Generator) -> dict[str, Clip]:
    picks = rng.permutation(len(good))
    return {
        f"arms {HIGHER:g} times as high": higher_arms(good[picks[0]]),
        f"turning {np.degrees(TURN):.0f} degrees": turning(good[picks[1]]),
        f"{100 * SLOWER - 100:.0f} % slower": slower(good[picks[2]]),
        "noise": noisy(good, int(picks[3]), rng),
        "another person's": replace(stranger, skeleton=good[0].skeleton),
    }


def _walks(seed: int, count: int, style: str | None = None) -> list[Clip]:
    made = load_cast("person", seed=seed, takes=count, style=style, behaviors=["walk_forward"]).clips.values()
    return list(made)
