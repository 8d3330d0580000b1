"""Bodies of the built-in cast that a skeleton's roles alone do not give: the horse, and the board under the skater."""

from __future__ import annotations

from dataclasses import replace

from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.body import BodyPart, BodyShape
from gaitway.render.bodies.human import is_humanoid
from gaitway.render.bodies.look import person_look
from gaitway.render.bodies.palette import Palette, from_oklch, palette, person_palette, sided

_COATS = ((0.48, 0.075, 52.0), (0.55, 0.085, 58.0), (0.38, 0.045, 50.0), (0.74, 0.015, 80.0), (0.62, 0.055, 75.0))


def built_in_shape(skeleton: Skeleton) -> BodyShape | None:
    """The recipe of a built-in character's body, or None where bones and roles are enough."""
    if skeleton.name == "horse" and "Barrel" in skeleton.names:
        return BodyShape(horse=True)
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
