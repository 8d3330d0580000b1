"""Bodies of the built-in cast that a skeleton's roles alone do not give: the horse, and the board under the skater."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.motion.skeleton import Skeleton
from gaitway.render.body import BodyPart, BodyShape, Vector
from gaitway.render.human import is_humanoid
from gaitway.render.look import person_look
from gaitway.render.palette import Palette, from_oklch, palette, person_palette, sided

_COATS = ((0.48, 0.075, 52.0), (0.55, 0.085, 58.0), (0.38, 0.045, 50.0), (0.74, 0.015, 80.0), (0.62, 0.055, 75.0))


def built_in_shape(skeleton: Skeleton) -> BodyShape | None:
    """The recipe of a built-in character's body, or None where bones and roles are enough."""
    if skeleton.name == "horse" and "Barrel" in skeleton.names:
        return BodyShape((*_horse_trunk(), *_horse_head(), *_horse_tail(), *_horse_legs()))
    if skeleton.name == "skateboarder" and "Board" in skeleton.names:
        return BodyShape(_board(), person=True)
    return None


def individual_shape(skeleton: Skeleton, seed: int) -> BodyShape | None:
    """The recipe of one individual of a crowd: people differ in build, clothes and hair.

    Args:
        skeleton: whose body.
        seed: which individual; its colours are those of `built_in_palette`.
    """
    shape = built_in_shape(skeleton)
    if shape is not None:
        return replace(shape, look=person_look(seed)) if shape.person else shape
    return BodyShape((), person=True, look=person_look(seed)) if is_humanoid(skeleton) else None


def built_in_palette(skeleton: Skeleton, seed: int = 0, side_tint: float = 0.0) -> Palette:
    """Colours of one individual: a coat for a horse, clothes for everybody else.

    Args:
        skeleton: whose body.
        seed: which individual.
        side_tint: 0..1, how far left limbs turn warm and right limbs cool.
    """
    if skeleton.name != "horse":
        return person_palette(seed, side_tint)
    coat = from_oklch(*_COATS[seed % len(_COATS)])
    plain = {"top": coat, "bottom": 0.45 * coat, "skin": 0.8 * coat, "shoe": from_oklch(0.33, 0.015, 60.0)}
    dark = from_oklch(0.24, 0.015, 50.0)
    return palette({**plain, "hair": dark, "accent": dark} | sided(plain, side_tint))


def _rod(
    joint: str,
    radii: tuple[float, ...],
    widths: tuple[float, ...],
    color: str,
    start: Vector = (0.0, 0.0, 0.0),
    end: Vector | None = None,
) -> BodyPart:
    return BodyPart(joint, start, end, radii, widths, color=color)  # fmt: skip


def _horse_trunk() -> list[BodyPart]:
    barrel = ((0.26, 0.30, 0.325, 0.325, 0.30), (0.23, 0.275, 0.29, 0.275, 0.22))
    return [
        _rod("Barrel", *barrel, "top", (-0.30, 0.0, 0.04), (0.30, 0.0, 0.0)),
        _rod("Loin", (0.26, 0.25), (0.24, 0.235), "top", (0.10, 0.0, -0.09), (-0.16, 0.0, -0.10)),
        _rod("Croup", (0.25, 0.27, 0.21), (0.23, 0.26, 0.19), "top", (0.14, 0.0, -0.08), (-0.20, 0.0, -0.07)),
        _rod("Chest", (0.29, 0.28, 0.22), (0.21, 0.22, 0.19), "top", (0.02, 0.0, -0.08), (0.25, 0.0, -0.10)),
        _rod("Neck", (0.215, 0.185, 0.16), (0.135, 0.11, 0.095), "top", (-0.04, 0.0, -0.03)),
        _rod("Neck1", (0.16, 0.145, 0.135), (0.095, 0.088, 0.082), "top"),
        _rod("Neck2", (0.135, 0.125, 0.12), (0.082, 0.08, 0.08), "top"),
        _mane("Neck", (0.19, 0.0, 0.19), 0.175, 0.145),
        _mane("Neck1", (0.17, 0.0, 0.20), 0.135, 0.118),
        _mane("Neck2", (0.13, 0.0, 0.17), 0.115, 0.10),
    ]


def _mane(joint: str, bone: Vector, low: float, high: float) -> BodyPart:
    """Hair along the crest, `low` and `high` metres behind the bone's ends."""
    along = np.array(bone) / np.linalg.norm(bone)
    back = np.array([-along[2], 0.0, along[0]])
    start, end = back * low, np.array(bone) + back * high
    return _rod(joint, (0.055, 0.05), (0.028, 0.028), "hair", tuple(start), tuple(end))


def _horse_head() -> list[BodyPart]:
    skull = ((0.115, 0.125, 0.10, 0.075, 0.068, 0.06), (0.082, 0.09, 0.07, 0.052, 0.052, 0.05))
    parts = [_rod("Head", *skull, "top", (-0.02, 0.0, 0.02), (0.27, 0.0, -0.41))]
    parts.append(_rod("Head", (0.05, 0.04), (0.035, 0.03), "hair", (0.03, 0.0, 0.11), (0.13, 0.0, 0.02)))
    for sign in (1.0, -1.0):
        ear = ((-0.03, 0.05 * sign, 0.09), (-0.02, 0.065 * sign, 0.19))
        parts.append(_rod("Head", (0.03, 0.028, 0.008), (0.026, 0.024, 0.008), "top", *ear))
    return parts


def _horse_tail() -> list[BodyPart]:
    sizes = {"Tail": (0.045, 0.055), "Tail1": (0.055, 0.065), "Tail2": (0.065, 0.06), "Tail3": (0.06, 0.03)}
    return [_rod(joint, size, tuple(0.8 * s for s in size), "hair") for joint, size in sizes.items()]


def _horse_legs() -> list[BodyPart]:
    fore = {
        "Scapula": ((0.10, 0.15, 0.13), (0.035, 0.06, 0.075), "top"),
        "Humerus": ((0.12, 0.115, 0.095), (0.075, 0.075, 0.068), "top"),
        "Radius": ((0.088, 0.07, 0.05, 0.048), (0.066, 0.055, 0.044, 0.044), "top"),
        "Cannon": ((0.046, 0.034, 0.034, 0.04), (0.042, 0.03, 0.03, 0.036), "bottom"),
    }
    hind = {
        "Femur": ((0.21, 0.20, 0.12), (0.11, 0.115, 0.085), "top"),
        "Tibia": ((0.125, 0.085, 0.058, 0.055), (0.08, 0.062, 0.045, 0.044), "top"),
        "Cannon": ((0.055, 0.038, 0.037, 0.042), (0.046, 0.033, 0.032, 0.036), "bottom"),
    }
    parts = []
    for side in ("Left", "Right"):
        for place, bones in (("Fore", fore), ("Hind", hind)):
            for bone, (radii, widths, tone) in bones.items():
                parts.append(_rod(side + place + bone, radii, widths, f"{tone}_{side.lower()}"))
            parts.append(_rod(f"{side}{place}Pastern", (0.038, 0.04), (0.034, 0.038), f"bottom_{side.lower()}"))
            hoof = ((0.005, 0.0, 0.01), (0.022, 0.0, -0.03))
            parts.append(_rod(f"{side}{place}Hoof", (0.044, 0.056), (0.042, 0.052), f"shoe_{side.lower()}", *hoof))
    return parts


def _board() -> tuple[BodyPart, ...]:
    """A deck with raised ends, two trucks and four wheels; the board's joint is the middle of the deck's top."""
    parts = [
        BodyPart("Board", (-0.29, 0.0, -0.008), (0.29, 0.0, -0.008), (0.007,), (0.102,), color="accent", shape="box")
    ]
    for sign in (1.0, -1.0):
        kick = ((0.285 * sign, 0.0, -0.008), (0.40 * sign, 0.0, 0.035))
        parts.append(BodyPart("Board", *kick, (0.007,), (0.09,), color="accent", shape="box"))
    for truck in ("FrontTruck", "BackTruck"):
        axle = ((0.0, -0.085, -0.045), (0.0, 0.085, -0.045))
        parts.append(BodyPart(truck, *axle, (0.012, 0.012), side=(1.0, 0.0, 0.0), color="#8d9094"))
        hanger = ((0.0, 0.0, 0.032), (0.0, 0.0, -0.052))  # from the underside of the deck down to the axle
        parts.append(BodyPart(truck, *hanger, (0.02,), (0.032,), color="#8d9094", shape="box"))
        for sign in (1.0, -1.0):
            wheel = ((0.0, 0.082 * sign, -0.047), (0.0, 0.098 * sign, -0.047))
            parts.append(BodyPart(truck, *wheel, (0.028, 0.028), side=(1.0, 0.0, 0.0), color="#d8d2c2"))
    return tuple(parts)
