"""A person's body, sized from the bones of any humanoid skeleton.

Lengths come from the joints. Girths come from the length of the legs (the one measure that every rig has right), and
the trunk's widths also from how far apart the hips and the shoulders are, so that a rig whose trunk is too short or
whose shoulders are narrow still looks like a person. Numbers below are metres for a leg of 0.85 m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway import rotations
from gaitway.arrays import FloatArray, IntArray
from gaitway.motion.anatomy import leg_length, t_pose, t_pose_positions
from gaitway.motion.skeleton import Skeleton
from gaitway.render.mesh import Mesh, loft, round_rod
from gaitway.render.palette import TONES
from gaitway.render.pieces import Piece, bone_end, rigid

_NEEDED = (
    "hips",
    "head",
    *(f"{s}_{r}" for s in ("left", "right") for r in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")),
)
_LEG = 0.85
_COARSE = 0.52
"""Share of the points around a limb that a small figure gets."""
_PELVIS = np.array(
    [
        # share of the way from the hip joints to the shoulder line, half width, half depth, forward shift
        [-0.135, 0.085, 0.065, 0.000],
        [-0.08, 0.138, 0.096, -0.006],
        [0.00, 0.164, 0.115, -0.012],
        [0.10, 0.164, 0.117, -0.014],
        [0.20, 0.150, 0.106, -0.006],
        [0.30, 0.125, 0.088, 0.000],
    ]
)
_SHIRT = np.array(
    [
        [0.185, 0.145, 0.103, -0.008],
        [0.190, 0.160, 0.114, -0.008],
        [0.24, 0.157, 0.111, -0.005],
        [0.36, 0.144, 0.101, 0.002],
        [0.50, 0.146, 0.103, 0.006],
        [0.66, 0.161, 0.114, 0.010],
        [0.80, 0.171, 0.118, 0.008],
        [0.90, 0.168, 0.108, 0.001],
        [0.98, 0.150, 0.092, -0.006],
        [1.05, 0.112, 0.078, -0.010],
        [1.11, 0.072, 0.066, -0.010],
    ]
)
_THIGH = ((0.0, 0.086, 0.092), (0.25, 0.082, 0.088), (0.6, 0.067, 0.072), (0.9, 0.055, 0.058), (1.0, 0.053, 0.055))
_SHANK = ((0.0, 0.053, 0.055), (0.12, 0.052, 0.054), (0.3, 0.056, 0.060), (0.55, 0.048, 0.051), (1.0, 0.035, 0.038))
_UPPER_ARM = ((0.0, 0.055, 0.055), (0.25, 0.051, 0.051), (0.75, 0.043, 0.043), (1.0, 0.040, 0.040))
_FOREARM = ((0.0, 0.040, 0.040), (0.2, 0.042, 0.042), (0.6, 0.036, 0.036), (1.0, 0.029, 0.029))
_SHOULDER = ((0.0, 0.046, 0.046), (0.5, 0.052, 0.052), (1.0, 0.046, 0.046))
_NECK = ((0.0, 0.058, 0.058), (0.5, 0.053, 0.053), (1.0, 0.050, 0.052))


@dataclass(frozen=True)
class _Frame:
    """The T-pose's joints; in it the body faces +X and stands upright."""

    skeleton: Skeleton
    places: FloatArray
    turns: FloatArray
    unit: float
    """Girths are this many times those of a person with a leg of 0.85 m."""
    coarse: bool
    forward = np.array([1.0, 0.0, 0.0])
    left = np.array([0.0, 1.0, 0.0])
    up = np.array([0.0, 0.0, 1.0])

    def at(self, role: str) -> FloatArray:
        here: FloatArray = self.places[self.skeleton.roles[role]]
        return here

    def around(self, fine: int) -> int:
        """Points in a ring."""
        return max(8, round(_COARSE * fine)) if self.coarse else fine

    @property
    def cap_rows(self) -> int:
        """Rings in the rounded end of a limb."""
        return 2 if self.coarse else 4


def is_humanoid(skeleton: Skeleton) -> bool:
    """Whether the roles that a person's body needs are known."""
    return all(role in skeleton.roles for role in _NEEDED)


def human_pieces(skeleton: Skeleton, *, coarse: bool = False) -> list[Piece]:
    """All parts of a person's body in the T-pose of `t_pose`; coarse ones have less than half as many triangles."""
    unit = leg_length(skeleton) / _LEG
    frame = _Frame(skeleton, t_pose_positions(skeleton), t_pose(skeleton), unit, coarse)
    pieces = [_trunk(frame, _PELVIS, "bottom"), _trunk(frame, _SHIRT, "top"), _neck(frame), _head(frame), _hair(frame)]
    for side in ("left", "right"):
        pieces += [*_arm(frame, side), _hand(frame, side), _thumb(frame, side), *_leg(frame, side), _shoe(frame, side)]
    return pieces


def _trunk(frame: _Frame, stations: FloatArray, tone: str) -> Piece:
    """A stretch of the trunk as one skin that bends with the spine."""
    hips = 0.5 * (frame.at("left_hip") + frame.at("right_hip"))
    shoulders = 0.5 * (frame.at("left_shoulder") + frame.at("right_shoulder"))
    across = [0.5 * np.dot(frame.at(f"left_{r}") - frame.at(f"right_{r}"), frame.left) for r in ("hip", "shoulder")]
    line = shoulders - hips
    share, wide, deep, shift = stations.T
    # hips and shoulders widen the trunk half as much as they differ from the usual
    blend = np.clip(share, 0.0, 1.0)
    relative = 0.5 + 0.5 * ((1.0 - blend) * across[0] / (0.09 * frame.unit) + blend * across[1] / (0.18 * frame.unit))
    half_wide, half_deep = frame.unit * wide * np.clip(relative, 0.75, 1.4), frame.unit * deep
    centres = hips + share[:, None] * line + (frame.unit * shift)[:, None] * frame.forward
    turn = np.linspace(0.0, 2.0 * np.pi, frame.around(28), endpoint=False)
    # a little squarer than an ellipse, as a ribcage is
    cosine, sine = (np.sign(f(turn)) * np.abs(f(turn)) ** 0.86 for f in (np.cos, np.sin))
    rings = (
        centres[:, None]
        + (half_deep[:, None] * cosine)[..., None] * frame.forward
        + (half_wide[:, None] * sine)[..., None] * frame.left
    )
    mesh = loft(rings, hips + (share[0] - 0.02) * line, hips + (share[-1] + 0.02) * line)
    return _bend(frame, mesh, hips, _unit(line), TONES.index(tone))


def _bend(frame: _Frame, mesh: Mesh, hips: FloatArray, along: FloatArray, tone: int) -> Piece:
    """Let each height of the trunk follow the two spine joints whose bones it lies between."""
    heights = (mesh.points - hips) @ along
    chain = _spine(frame.skeleton)
    levels = np.array([np.dot(frame.places[j] - hips, along) for j in chain])
    keep = [i for i in range(len(chain)) if i == len(chain) - 1 or levels[i + 1] > levels[i] + 0.02]
    joints, levels = np.array(chain)[keep], levels[keep]
    if len(joints) == 1:
        return rigid(mesh, int(joints[0]), tone)
    top = float(np.dot(frame.at("left_shoulder") - hips, along))
    middles = 0.5 * (levels + np.append(levels[1:], top))  # the middle of each bone follows that bone alone
    upper = np.clip(np.searchsorted(middles, heights), 1, len(joints) - 1)
    share = np.clip((heights - middles[upper - 1]) / np.maximum(middles[upper] - middles[upper - 1], 1e-6), 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    return Piece(mesh, joints[upper - 1], joints[upper], 1.0 - share, np.full(len(heights), tone))


def _spine(skeleton: Skeleton) -> list[int]:
    """Joints from the hips up to where the arms branch off."""
    top = skeleton.roles.get("chest", skeleton.roles["hips"])
    chain = [top]
    while chain[-1] != skeleton.roles["hips"] and skeleton.parents[chain[-1]] >= 0:
        chain.append(int(skeleton.parents[chain[-1]]))
    return chain[::-1]


def _neck(frame: _Frame) -> Piece:
    joint = frame.skeleton.roles.get("neck", int(frame.skeleton.parents[frame.skeleton.roles["head"]]))
    shoulders = 0.5 * (frame.at("left_shoulder") + frame.at("right_shoulder"))
    start = frame.places[joint]
    rise = np.dot(start - shoulders, frame.up)
    start = start - frame.up * max(rise - 0.02 * frame.unit, 0.0)
    end = frame.at("head") + frame.unit * (0.03 * frame.up + 0.002 * frame.forward)
    return rigid(
        round_rod(start, end, _scaled(_NECK, frame.unit), frame.left, frame.around(16), frame.cap_rows),
        joint,
        TONES.index("skin"),
    )


def _head_centre(frame: _Frame) -> FloatArray:
    return frame.at("head") + frame.unit * (0.068 * frame.up + 0.018 * frame.forward)


def _ball(frame: _Frame, rows: int, around: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """x, y and z of a unit ball's rings from low to high, without its poles; (R, K) each."""
    rise = np.linspace(0.0, np.pi, frame.around(rows) + 2)[1:-1]
    turn = np.linspace(0.0, 2.0 * np.pi, frame.around(around), endpoint=False)
    z = np.broadcast_to(-np.cos(rise)[:, None], (len(rise), len(turn)))
    return np.sin(rise)[:, None] * np.cos(turn), np.sin(rise)[:, None] * np.sin(turn), z


def _head(frame: _Frame) -> Piece:
    """An egg with a jaw, a chin and a nose, which tells where it looks."""
    x, y, z = _ball(frame, 20, 28)
    low = np.clip(-z, 0.0, 1.0)
    jaw = 1.0 - 0.26 * low**1.4
    back = 0.100 * (1.0 - 0.42 * low**1.2)
    ahead = np.where(x > 0.0, (0.098 + 0.004 * low) * x, back * x) + 0.014 * low
    ahead = ahead + 0.024 * np.exp(-(((z + 0.16) / 0.15) ** 2) - (y / 0.16) ** 2) * (x > 0.0)
    ahead = ahead + 0.010 * np.exp(-(((z + 0.78) / 0.16) ** 2) - (y / 0.3) ** 2) * (x > 0.0)
    centre, size = _head_centre(frame), frame.unit
    rings = centre + size * np.stack([ahead, 0.077 * y * jaw, 0.116 * z], axis=-1)
    ends = centre + size * np.array([[0.018, 0.0, -0.116], [0.0, 0.0, 0.116]])
    return _worn(frame, loft(rings, *ends), "skin")


def _hair(frame: _Frame) -> Piece:
    """A ball set back and up: where it comes out of the head is the hairline."""
    x, y, z = _ball(frame, 14, 24)
    centre = _head_centre(frame) + frame.unit * np.array([-0.023, 0.0, 0.026])
    # flatter below, so that it does not cover the neck
    rings = centre + frame.unit * np.stack([0.097 * x, 0.086 * y, np.where(z > 0.0, 0.102, 0.090) * z], axis=-1)
    ends = centre + frame.unit * np.array([[0.0, 0.0, -0.090], [0.0, 0.0, 0.102]])
    return _worn(frame, loft(rings, *ends), "hair")


def _worn(frame: _Frame, mesh: Mesh, tone: str) -> Piece:
    """A part of the head, nodded as the T-pose nods it.

    The T-pose that the CMU conversion adds bows the head by 16 degrees under a straight chest; a level head on it would
    look up in every take.
    """
    joint = frame.skeleton.roles["head"]
    nod = frame.turns[joint]
    chest = frame.turns[frame.skeleton.roles.get("chest", joint)]
    level = rotations.identity()
    if rotations.angle_between(chest, level) < 0.02 and 0.05 < rotations.angle_between(nod, level) < 0.5:
        place = frame.places[joint]
        points = place + rotations.rotate(nod, mesh.points - place)
        mesh = Mesh(points, rotations.rotate(nod, mesh.normals), mesh.triangles)
    return rigid(mesh, joint, TONES.index(tone))


def _arm(frame: _Frame, side: str) -> list[Piece]:
    roles, tone = frame.skeleton.roles, TONES.index(f"top_{side}")
    shoulder, elbow, wrist = (frame.at(f"{side}_{r}") for r in ("shoulder", "elbow", "wrist"))
    sign = 1.0 if side == "left" else -1.0
    base = roles.get(f"{side}_clavicle", int(frame.skeleton.parents[roles[f"{side}_shoulder"]]))
    inner = 0.5 * (frame.at("left_shoulder") + frame.at("right_shoulder"))
    inner = inner + frame.unit * (0.055 * sign * frame.left + 0.030 * frame.up - 0.008 * frame.forward)
    return [
        rigid(
            round_rod(inner, shoulder, _scaled(_SHOULDER, frame.unit), frame.forward, frame.around(16), frame.cap_rows),
            base,
            TONES.index("top"),
        ),
        _limb(frame, shoulder, elbow, _UPPER_ARM, roles[f"{side}_shoulder"], tone),
        _limb(frame, elbow, wrist, _FOREARM, roles[f"{side}_elbow"], tone),
    ]


def _leg(frame: _Frame, side: str) -> list[Piece]:
    roles, tone = frame.skeleton.roles, TONES.index(f"bottom_{side}")
    hip, knee, ankle = (frame.at(f"{side}_{r}") for r in ("hip", "knee", "ankle"))
    return [
        _limb(frame, hip, knee, _THIGH, roles[f"{side}_hip"], tone),
        _limb(frame, knee, ankle, _SHANK, roles[f"{side}_knee"], tone),
    ]


def _limb(
    frame: _Frame,
    start: FloatArray,
    end: FloatArray,
    stations: tuple[tuple[float, float, float], ...],
    joint: int,
    tone: int,
) -> Piece:
    """A rounded limb; stations give half widths across (left-right) and deep (forward-back)."""
    return rigid(
        round_rod(start, end, _scaled(stations, frame.unit), frame.left, frame.around(16), frame.cap_rows), joint, tone
    )


def _hand_axes(frame: _Frame, side: str) -> tuple[FloatArray, FloatArray, float]:
    """Directions along the hand and across its palm (to the thumb) at rest, and the hand's length [m]."""
    joint = frame.skeleton.roles[f"{side}_wrist"]
    elbow, wrist = frame.at(f"{side}_elbow"), frame.at(f"{side}_wrist")
    along = _unit(wrist - elbow)
    end = bone_end(frame.skeleton, joint)
    if end is not None and np.dot(rotations.rotate(frame.turns[joint], end), along) > 0.5 * np.linalg.norm(end):
        along = _unit(rotations.rotate(frame.turns[joint], end))
    # in a T-pose palms face down and thumbs forward
    return along, _unit(frame.forward - along * np.dot(frame.forward, along)), 0.175 * frame.unit


def _hand(frame: _Frame, side: str) -> Piece:
    along, across, length = _hand_axes(frame, side)
    stations = (
        (0.0, 0.026, 0.021),
        (0.2, 0.036, 0.019),
        (0.45, 0.042, 0.017),
        (0.75, 0.036, 0.014),
        (0.93, 0.024, 0.011),
    )
    wrist = frame.at(f"{side}_wrist")
    mesh = round_rod(wrist, wrist + length * along, _scaled(stations, frame.unit), across, frame.around(14), 3)
    return rigid(mesh, frame.skeleton.roles[f"{side}_wrist"], TONES.index(f"skin_{side}"))


def _thumb(frame: _Frame, side: str) -> Piece:
    along, across, _ = _hand_axes(frame, side)
    wrist = frame.at(f"{side}_wrist")
    start = wrist + frame.unit * (0.035 * along + 0.025 * across)
    end = wrist + frame.unit * (0.085 * along + 0.052 * across)
    stations = ((0.0, 0.015, 0.015), (1.0, 0.010, 0.010))
    mesh = round_rod(start, end, _scaled(stations, frame.unit), across, frame.around(10), 3)
    return rigid(mesh, frame.skeleton.roles[f"{side}_wrist"], TONES.index(f"skin_{side}"))


def _shoe(frame: _Frame, side: str) -> Piece:
    """Heel to toe with a flat sole; the front bends with the toe joint."""
    skeleton, size = frame.skeleton, frame.unit
    ankle_joint = skeleton.roles[f"{side}_ankle"]
    toe_joint = skeleton.roles.get(f"{side}_toe", ankle_joint)
    ankle = frame.at(f"{side}_ankle")
    ahead, up, sole, ball = _sole(frame, side)
    # share of the way from heel to ball (0..1) and ball to tip (1..2), half width, height over the sole, width shift
    table = np.array(
        [
            [0.02, 0.022, 0.05], [0.10, 0.032, 0.078], [0.25, 0.036, 0.098], [0.42, 0.037, 0.100], [0.58, 0.038, 0.086],
            [0.75, 0.042, 0.068], [0.9, 0.047, 0.056], [1.0, 0.048, 0.050], [1.15, 0.048, 0.046], [1.45, 0.044, 0.040],
            [1.75, 0.035, 0.034], [1.92, 0.022, 0.026],
        ]
    )  # fmt: skip
    share, wide, high = table.T
    heel, tip = -0.062 * size, ball + 0.085 * size
    place = np.where(share <= 1.0, heel + (ball - heel) * share, ball + (tip - ball) * (share - 1.0))
    turn = np.linspace(0.0, 2.0 * np.pi, frame.around(20), endpoint=False)
    lateral, rise = np.cos(turn), np.sin(turn)
    # flat below: the lower half of each ring is pressed onto the sole
    rise = np.where(rise < 0.0, np.maximum(rise * 1.6, -1.0), rise)
    lateral = np.sign(lateral) * np.abs(lateral) ** 0.8
    middle = 0.42
    level = size * high[:, None] * np.where(rise < 0.0, middle * (1.0 + rise), middle + (1.0 - middle) * rise)
    sideways = np.cross(up, ahead)
    spread = size * wide[:, None] * lateral
    base = ankle - up * sole
    rings = base + place[:, None, None] * ahead + spread[..., None] * sideways + level[..., None] * up
    ends = [base + ahead * p + up * size * h for p, h in ((heel - 0.004 * size, 0.025), (tip, 0.014))]
    mesh = loft(rings, *ends)
    along = (mesh.points - base) @ ahead
    bend = np.clip((along - (ball - 0.02 * size)) / (0.04 * size), 0.0, 1.0)
    count = len(mesh.points)
    tones = np.full(count, TONES.index(f"shoe_{side}"))
    joints: IntArray = np.full(count, ankle_joint)
    return Piece(mesh, joints, np.full(count, toe_joint), 1.0 - bend, tones)


def _sole(frame: _Frame, side: str) -> tuple[FloatArray, FloatArray, float, float]:
    """Forward and up of the foot at rest, height of the ankle over the sole and distance ahead to the ball [m]."""
    skeleton, size = frame.skeleton, frame.unit
    up = frame.up
    joint = skeleton.roles[f"{side}_ankle"]
    toe = bone_end(skeleton, joint)
    bone = frame.forward * 0.13 * size if toe is None else rotations.rotate(frame.turns[joint], toe)
    flat = bone - up * np.dot(bone, up)
    ahead = _unit(flat) if np.linalg.norm(flat) > 0.02 * size else frame.forward
    ball = float(np.clip(np.dot(bone, ahead), 0.10 * size, 0.16 * size))
    heights = [p.offset for p in skeleton.contact_points if p.joint == joint]
    if heights:
        sole = max(-float(np.dot(rotations.rotate(frame.turns[joint], np.array(o)), up)) for o in heights)
    else:
        sole = -float(np.dot(bone, up)) + 0.02 * size
    return ahead, up, float(np.clip(sole, 0.05 * size, 0.11 * size)), ball


def _scaled(stations: tuple[tuple[float, float, float], ...], unit: float) -> list[tuple[float, float, float]]:
    return [(s, a * unit, b * unit) for s, a, b in stations]


def _unit(vector: FloatArray) -> FloatArray:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)
