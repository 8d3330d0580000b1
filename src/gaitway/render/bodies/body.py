"""Bodies: skinned meshes on a skeleton, built from its bones or from a recipe, and the recipes of the built-in cast.

A humanoid (a skeleton whose roles are known) gets a person's body, sized from its bones. Any other skeleton gets
tapered bones, or what its `BodyShape` says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.hands import fingers
from gaitway.render.bodies.horse import horse_pieces
from gaitway.render.bodies.human_frame import SIDES, BodyFrame, PersonLook, person_look
from gaitway.render.bodies.human_head import head_pieces
from gaitway.render.bodies.human_limbs import arm, leg, shoe, thumb
from gaitway.render.bodies.human_trunk import Trunk, drapes
from gaitway.render.bodies.palette import TONES, Palette, palette, person_palette, sided
from gaitway.render.bodies.pieces import BodyMesh, BodyPiece, SkinBuilder, bind, bone_end, rigid
from gaitway.render.raster.colors import from_oklch, linear_color
from gaitway.render.raster.mesh import SurfaceMesh, box, round_rod

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class BodyPart:
    """One rounded or box-shaped piece, fixed to one joint."""

    joint: str
    """Name or role of the joint that carries it."""
    start: Vector = (0.0, 0.0, 0.0)
    """First end, in the joint's frame [m]."""
    end: Vector | None = None
    """Other end, in the joint's frame [m]; None ends at the joint's first child, or at its tip."""
    radii: tuple[float, ...] = (0.05, 0.05)
    """Half thickness at places spread evenly from start to end [m]."""
    widths: tuple[float, ...] | None = None
    """Half width along `side` at the same places [m]; None makes the part round."""
    side: Vector = (0.0, 1.0, 0.0)
    """Direction of `widths` in the joint's frame."""
    color: str = "top"
    """One of `palette.TONES`, or a colour such as "#8a6f55"."""
    shape: str = "round"
    """"round" (rounded ends beyond both points) or "box" (ends flat at both points, first radius and width)."""


@dataclass(frozen=True)
class BodyShape:
    """A recipe: all parts of a body."""

    parts: tuple[BodyPart, ...] = ()
    person: bool = False
    """Whether the parts are added to a person's body, which the skeleton then must have the roles for."""
    look: PersonLook | None = None
    """Build and clothes of that person; None is the average one."""
    horse: bool = False
    """Whether the parts are added to a horse's body, for which the skeleton must be the built-in horse's."""


@lru_cache(maxsize=256)
def body_mesh(skeleton: Skeleton, shape: BodyShape | None = None, *, coarse: bool = False) -> BodyMesh:
    """Return the body of a skeleton: from the recipe if there is one, else a person's, else tapered bones.

    A coarse one is for small figures.
    """
    rest = forward_kinematics(skeleton, skeleton.offsets[0], skeleton.rest_rotations)
    pieces: list[BodyPiece] = []
    own: list[FloatArray] = []
    pose = rest
    if is_humanoid(skeleton) if shape is None else shape.person:
        pieces, pose = human_pieces(skeleton, shape.look if shape else None, coarse=coarse)
    elif shape is not None and shape.horse:
        pieces = horse_pieces(skeleton, rest[0], coarse=coarse)
    parts = bone_shape(skeleton).parts if shape is None and not pieces else (shape.parts if shape else ())
    pieces = pieces + [_part_piece(skeleton, part, *pose, own, 10 if coarse else 20) for part in parts]
    if not pieces:
        raise GaitwayError(f"body shape of skeleton '{skeleton.name}' has no parts; give at least one BodyPart")
    return bind(pieces, pose, rest, np.array(own).reshape(-1, 3))


def bone_shape(skeleton: Skeleton) -> BodyShape:
    """Return the recipe of tapered bones: one part for each, thick near the root and thin at the ends."""
    below = np.ones(len(skeleton))
    for j in range(len(skeleton) - 1, 0, -1):
        below[skeleton.parents[j]] += below[j]
    reach = np.ptp(skeleton.rest_positions, axis=0).max()
    thick = 0.075 * reach * (below / below[0]) ** 0.35
    parts = []
    for j, name in enumerate(skeleton.names):
        ends: list[Vector] = []
        for child in skeleton.children(j):
            if np.linalg.norm(skeleton.offsets[child]) > 1e-6:
                ends.append(tuple(skeleton.offsets[child]))
        if not ends and (end := bone_end(skeleton, j)) is not None:
            ends.append((float(end[0]), float(end[1]), float(end[2])))
        for end_point in ends:
            length = float(np.linalg.norm(end_point))
            radius = min(thick[j], 0.35 * length + 0.01 * reach)
            parts.append(BodyPart(name, end=end_point, radii=(radius, 0.9 * radius, 0.65 * radius), color="bottom"))
    if not parts:
        parts.append(BodyPart(skeleton.names[0], end=(0.0, 0.0, 1e-3), radii=(0.1, 0.1), color="bottom"))
    return BodyShape(tuple(parts))


def _part_piece(
    skeleton: Skeleton, part: BodyPart, places: FloatArray, turns: FloatArray, own: list[FloatArray], around: int
) -> BodyPiece:
    """Return one part as a mesh in the world of a pose; a colour of its own is added to `own`."""
    joint = skeleton.index(part.joint)
    end = bone_end(skeleton, joint) if part.end is None else np.asarray(part.end, dtype=np.float64)
    if end is None:
        raise GaitwayError(f"body part on joint '{part.joint}' has no end: the joint has no child; write end=(x, y, z)")
    widths = part.radii if part.widths is None else part.widths
    if not part.radii or len(widths) != len(part.radii) or min(*part.radii, *widths) <= 0.0:
        raise GaitwayError(f"body part on joint '{part.joint}': radii and widths must be as many, and above 0")
    start = np.asarray(part.start, dtype=np.float64)
    if part.shape == "box":
        local = _box_between(start, end, part.radii[0], widths[0], np.asarray(part.side))
    elif part.shape == "round":
        radii, wide = (part.radii, widths) if len(widths) > 1 else (part.radii * 2, tuple(widths) * 2)
        shares = np.linspace(0.0, 1.0, len(radii))
        stations = [(float(s), w, r) for s, w, r in zip(shares, wide, radii, strict=True)]
        local = round_rod(start, end, stations, part.side, around, max(around // 4, 3))
    else:
        raise GaitwayError(f"body part on joint '{part.joint}' has shape '{part.shape}'; write 'round' or 'box'")
    world = SurfaceMesh(
        places[joint] + rotations.rotate(turns[joint], local.points),
        rotations.rotate(turns[joint], local.normals),
        local.triangles,
    )
    if part.color in TONES:
        return rigid(world, joint, TONES.index(part.color))
    own.append(linear_color(part.color))
    return rigid(world, joint, len(TONES) + len(own) - 1)


def _box_between(start: FloatArray, end: FloatArray, radius: float, width: float, side: FloatArray) -> SurfaceMesh:
    line = end - start
    length = float(np.linalg.norm(line))
    along = line / length if length > 1e-9 else np.array([1.0, 0.0, 0.0])
    wide = side - along * np.dot(side, along)
    wide = wide / max(float(np.linalg.norm(wide)), 1e-9)
    return box(0.5 * (start + end), np.stack([along, wide, np.cross(along, wide)]), [0.5 * length, width, radius])


_COATS = ((0.48, 0.075, 52.0), (0.55, 0.085, 58.0), (0.38, 0.045, 50.0), (0.74, 0.015, 80.0), (0.62, 0.055, 75.0))


def built_in_shape(skeleton: Skeleton) -> BodyShape | None:
    """Return the recipe of a built-in character's body, or None where bones and roles are enough."""
    if skeleton.name == "horse" and "Barrel" in skeleton.names:
        return BodyShape(horse=True)
    if skeleton.name == "skateboarder" and "Board" in skeleton.names:
        return BodyShape(_board(), person=True)
    return None


def individual_shape(skeleton: Skeleton, seed: int) -> BodyShape | None:
    """Return the recipe of one individual of a crowd: people differ in build, clothes and hair.

    Args:
        skeleton: skeleton of the body.
        seed: which individual; its colours are those of `built_in_palette`.
    """
    shape = built_in_shape(skeleton)
    if shape is not None:
        return replace(shape, look=person_look(seed)) if shape.person else shape
    return BodyShape((), person=True, look=person_look(seed)) if is_humanoid(skeleton) else None


def built_in_palette(skeleton: Skeleton, seed: int = 0, side_tint: float = 0.0) -> Palette:
    """Return the colours of one individual: a coat for a horse, clothes for all others.

    Args:
        skeleton: skeleton of the body.
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
    """Return a deck with raised ends, two trucks and four wheels; the board's joint is the middle of the deck's top."""
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


_NEEDED = (
    "hips",
    "head",
    *(f"{s}_{r}" for s in ("left", "right") for r in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")),
)


def is_humanoid(skeleton: Skeleton) -> bool:
    """Return whether the roles that a person's body needs are known."""
    return all(role in skeleton.roles for role in _NEEDED)


def human_pieces(
    skeleton: Skeleton, look: PersonLook | None = None, *, coarse: bool = False
) -> tuple[list[BodyPiece], tuple[FloatArray, FloatArray]]:
    """Return all parts of a person's body.

    Args:
        skeleton: a humanoid.
        look: build and clothes; None is the average person in a long-sleeved shirt and trousers.
        coarse: whether to make less than half as many triangles.

    Returns:
        The parts, the skin first, and the pose that they are modelled in: world positions [m] (J, 3), root at 0,
        and rotations (J, 4).
    """
    frame = BodyFrame(skeleton, PersonLook() if look is None else look, coarse)
    skin = SkinBuilder(len(skeleton))
    openings = Trunk(frame, skin).build()
    for side, _ in SIDES:
        arm(frame, skin, openings.arms[side], side)
        leg(frame, skin, openings.legs[side], side)
    pieces = [skin.piece(), *drapes(frame), *head_pieces(frame)]
    for side, _ in SIDES:
        pieces += [thumb(frame, side)] if coarse else fingers(frame, side)
        pieces.append(shoe(frame, side))
    return pieces, frame.pose
