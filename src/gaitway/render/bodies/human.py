"""A person's body, sized from the bones of any humanoid skeleton: one skin from neck to hands and feet."""

from __future__ import annotations

from gaitway.core.arrays import FloatArray
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.human_drape import drapes
from gaitway.render.bodies.human_frame import SIDES, Frame
from gaitway.render.bodies.human_head import head_pieces
from gaitway.render.bodies.human_limbs import arm, leg, shoe, thumb
from gaitway.render.bodies.human_trunk import Trunk
from gaitway.render.bodies.look import Look
from gaitway.render.bodies.pieces import Piece
from gaitway.render.bodies.weave import Weave

_NEEDED = (
    "hips",
    "head",
    *(f"{s}_{r}" for s in ("left", "right") for r in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")),
)


def is_humanoid(skeleton: Skeleton) -> bool:
    """Whether the roles that a person's body needs are known."""
    return all(role in skeleton.roles for role in _NEEDED)


def human_pieces(
    skeleton: Skeleton, look: Look | None = None, *, coarse: bool = False
) -> tuple[list[Piece], tuple[FloatArray, FloatArray]]:
    """All parts of a person's body.

    Args:
        skeleton: a humanoid.
        look: build and clothes; None is the average person in a long-sleeved shirt and trousers.
        coarse: whether to make less than half as many triangles.

    Returns:
        The parts, the skin first, and the pose that they are modelled in: world positions [m] (J, 3), root at nought,
        and rotations (J, 4).
    """
    frame = Frame(skeleton, Look() if look is None else look, coarse)
    weave = Weave(len(skeleton))
    openings = Trunk(frame, weave).build()
    for side, _ in SIDES:
        arm(frame, weave, openings.arms[side], side)
        leg(frame, weave, openings.legs[side], side)
    pieces = [weave.piece(), *drapes(frame), *head_pieces(frame)]
    for side, _ in SIDES:
        pieces += [thumb(frame, side), shoe(frame, side)]
    return pieces, frame.pose
