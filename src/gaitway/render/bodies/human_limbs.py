"""Arms with hands, legs, and shoes: tubes that begin at the openings of the trunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.render.bodies.hands import hand_axes
from gaitway.render.bodies.human_frame import BodyFrame, smooth, unit
from gaitway.render.bodies.palette import TONES
from gaitway.render.bodies.pieces import BodyPiece, SkinBuilder, bone_end, rigid, strongest
from gaitway.render.raster.mesh import loft, round_rod

Row = tuple[float, float, float, float]
"""Share of the way (0..1 from the first joint to the second, 1..2 on to the third), half width across (left-right for
legs, forward-back for arms), half width the other way, and shift forward [m]."""
_ARM: tuple[Row, ...] = (
    (-0.02, 0.064, 0.043, 0.0), (0.12, 0.060, 0.049, 0.0), (0.30, 0.052, 0.050, 0.0), (0.55, 0.048, 0.047, 0.0),
    (0.80, 0.043, 0.042, 0.0), (0.91, 0.041, 0.041, 0.0), (1.09, 0.041, 0.041, 0.0), (1.22, 0.043, 0.042, 0.0),
    (1.50, 0.039, 0.038, 0.0), (1.80, 0.031, 0.030, 0.0), (1.95, 0.029, 0.024, 0.0),
)  # fmt: skip
_LEG: tuple[Row, ...] = (
    (0.15, 0.088, 0.098, -0.008), (0.25, 0.085, 0.094, -0.004), (0.36, 0.081, 0.088, 0.0), (0.56, 0.072, 0.078, 0.004),
    (0.78, 0.061, 0.066, 0.004), (0.912, 0.054, 0.060, 0.005), (1.090, 0.052, 0.057, 0.003),
    (1.17, 0.052, 0.056, -0.006), (1.32, 0.056, 0.061, -0.012), (1.55, 0.048, 0.052, -0.010),
    (1.80, 0.036, 0.040, -0.006), (1.93, 0.033, 0.038, -0.004),
)  # fmt: skip
_KEPT = {"arm": (0, 2, 4, 5, 6, 8, 10), "leg": (0, 3, 5, 6, 8, 10, 11)}
"""Rows that a coarse limb has."""
_BETWEEN = 0.002
"""Half the gap between the thighs [m]."""
_SLEEVE_END = {"long": 1.93, "short": 0.62, "none": 0.0}
_LEG_END = {"trousers": 1.96, "shorts": 0.80, "skirt": 0.0}


@dataclass(frozen=True)
class _Cloth:
    """Cloth that covers the beginning of a limb."""

    tone: str
    end: float
    """Share of the way where it ends; 0 covers nothing."""
    off: float
    """How far it lies off the skin [m]."""
    least: float = 0.0
    """Least half width [m]: trousers and sleeves hang."""


def arm(frame: BodyFrame, skin: SkinBuilder, opening: IntArray, side: str) -> None:
    """Add an arm and its hand to the skin of the trunk."""
    chain = (f"{side}_shoulder", f"{side}_elbow", f"{side}_wrist")
    cloth = _Cloth(f"top_{side}", _SLEEVE_END[frame.look.sleeves], 0.006, 0.036)
    if cloth.end == 0.0:
        cloth = _Cloth(f"top_{side}", 0.09, 0.006)
    last = _tube(frame, skin, opening, chain, "arm", cloth, f"skin_{side}", (0.034, 0.035))
    _hand(frame, skin, last, side)


def leg(frame: BodyFrame, skin: SkinBuilder, opening: IntArray, side: str) -> None:
    """Add a leg to the skin of the trunk; it ends inside the shoe."""
    chain = (f"{side}_hip", f"{side}_knee", f"{side}_ankle")
    hang = 0.050 if frame.look.legs == "trousers" else 0.0
    cloth = _Cloth(f"bottom_{side}", _LEG_END[frame.look.legs], 0.006 if hang else 0.014, hang)
    if cloth.end == 0.0:
        cloth = _Cloth(f"bottom_{side}", 0.23, 0.004)
    last = _tube(frame, skin, opening, chain, "leg", cloth, f"skin_{side}", (0.042, 0.04))
    ankle = frame.at(chain[2])
    skin.close(last, skin.add(ankle, frame.only(frame.skeleton.roles[chain[2]])), f"skin_{side}")


def _tube(
    frame: BodyFrame,
    skin: SkinBuilder,
    opening: IntArray,
    chain: tuple[str, str, str],
    kind: str,
    cloth: _Cloth,
    bare_tone: str,
    widths: tuple[float, float],
) -> IntArray:
    """Add rings from an opening along two bones; returns the last one."""
    rows = np.array(_ARM if kind == "arm" else _LEG)
    if frame.coarse:
        rows = rows[list(_KEPT[kind])]
    way = rows[:, 0]
    before, after = [s for s in way if s < cloth.end - 0.04], [s for s in way if s > cloth.end + 0.03]
    # at its end the cloth has a hem: an outer ring, then one on the skin inside it
    plan = [(s, True) for s in before] + [(cloth.end, True), (cloth.end - 0.004, False)] + [(s, False) for s in after]
    last = opening
    for share, covered in plan:
        ring = _limb_ring(frame, skin.where(opening), chain, rows, share, cloth if covered else None)
        here = skin.add(ring, frame.limb_weights(ring, share, chain, widths))
        hem = not covered and share == cloth.end - 0.004
        skin.strip(last, here, cloth.tone if covered or hem else bare_tone)
        last = here
    return last


def _limb_ring(
    frame: BodyFrame,
    opening: FloatArray,
    chain: tuple[str, str, str],
    rows: FloatArray,
    share: float,
    cloth: _Cloth | None,
) -> FloatArray:
    """Return points of one ring (K, 3) [m], in step with those of the opening."""
    size, look = frame.unit, frame.look
    joints = [frame.at(role) for role in chain]
    bone = min(int(share), 1)
    centre = joints[bone] + (share - bone) * (joints[bone + 1] - joints[bone])
    along = unit(joints[2] - joints[0])
    is_leg = chain[0].endswith("hip")
    u = frame.left if is_leg else frame.forward
    u = unit(u - along * np.dot(u, along))
    axis = _tilted(frame, along, share, is_leg, float(np.sign(joints[0][1])))
    u = unit(u - axis * np.dot(u, axis))
    v = np.cross(axis, u)
    wide, deep, shift = (float(np.interp(share, rows[:, 0], rows[:, k])) for k in (1, 2, 3))
    build = look.girth * (1.0 + (look.hips - 1.0) * max(0.0, 1.0 - share)) if is_leg else look.girth
    wide, deep = wide * build, deep * build
    if cloth is not None:
        wide, deep = (max(r + cloth.off, cloth.least) for r in (wide, deep))
    centre = centre + size * shift * frame.forward
    if is_leg and share < 0.5:  # thighs of stout people move apart rather than into one another
        if share < 0.3:  # and begin no wider than the hips
            wide = min(wide, 0.5 * ((1.0 + 0.1 * share) * float(np.abs(opening[:, 1]).max()) / size - _BETWEEN))
        inner = abs(float(centre[1])) - size * wide
        centre = centre + frame.left * np.sign(centre[1]) * max(0.0, _BETWEEN * size - inner)
    flat = opening - opening.mean(axis=0)
    seen = np.arctan2(flat @ v, flat @ u)
    steps = 2.0 * np.pi * np.arange(len(opening)) / len(opening)
    turn = steps + np.angle(np.exp(1j * (seen - steps)).sum())
    ring: FloatArray = centre + size * (wide * np.cos(turn)[:, None] * u + deep * np.sin(turn)[:, None] * v)
    return ring


def _tilted(frame: BodyFrame, along: FloatArray, share: float, is_leg: bool, sign: float) -> FloatArray:
    """Return the axis of a ring: near the trunk it leans towards how the opening faces."""
    if is_leg:
        lean = np.interp(share, (0.15, 0.36), (0.45, 0.0))
        return unit(along + lean * sign * frame.left)
    return unit(along + float(np.interp(share, (-0.02, 0.30), (0.55, 0.0))) * sign * frame.left)


_PALM: tuple[tuple[float, float, float, float, float], ...] = (
    # way along the hand, half width, half thickness, shift to the thumb, shift to the palm [m]
    (0.018, 0.030, 0.019, 0.001, 0.0), (0.045, 0.039, 0.0175, 0.003, 0.001), (0.074, 0.043, 0.0155, 0.000, 0.002),
    (0.093, 0.0395, 0.0108, -0.001, 0.002),
)  # fmt: skip
_HAND: tuple[tuple[float, float, float, float, float], ...] = (
    # way along the hand, half width, half thickness, shift to the thumb, shift to the palm [m]
    (0.018, 0.030, 0.019, 0.001, 0.0), (0.050, 0.040, 0.017, 0.004, 0.001), (0.088, 0.043, 0.0145, 0.000, 0.002),
    (0.125, 0.040, 0.0125, -0.001, 0.005), (0.158, 0.031, 0.0105, -0.001, 0.011), (0.180, 0.018, 0.0075, 0.000, 0.017),
)  # fmt: skip


def _hand(frame: BodyFrame, skin: SkinBuilder, wrist_ring: IntArray, side: str) -> None:
    """Add a palm; on a coarse body also closed fingers in one, a little bent."""
    along, across, back = hand_axes(frame, side)
    size, wrist, tone = frame.unit, frame.at(f"{side}_wrist"), f"skin_{side}"
    joint = frame.skeleton.roles[f"{side}_wrist"]
    v = np.cross(along, across)
    flat = skin.where(wrist_ring) - skin.where(wrist_ring).mean(axis=0)
    turn = np.arctan2(flat @ v, flat @ across)
    lateral, rise = (np.sign(f(turn)) * np.abs(f(turn)) ** 0.8 for f in (np.cos, np.sin))
    last = wrist_ring
    rows = _HAND[1::2] if frame.coarse else _PALM
    for way, wide, thick, aside, sink in rows:
        centre = wrist + size * (way * along + aside * across - sink * back)
        ring = centre + size * (wide * lateral[:, None] * across + thick * rise[:, None] * v)
        here = skin.add(ring, frame.only(joint))
        skin.strip(last, here, tone)
        last = here
    tip = wrist + size * ((0.188 * along - 0.019 * back) if frame.coarse else (0.102 * along - 0.003 * back))
    skin.close(last, skin.add(tip, frame.only(joint)), tone)


def thumb(frame: BodyFrame, side: str) -> BodyPiece:
    """Return the thumb of a coarse hand, which comes out of the palm's edge."""
    along, across, back = hand_axes(frame, side)
    wrist, size = frame.at(f"{side}_wrist"), frame.unit
    start = wrist + size * (0.030 * along + 0.022 * across - 0.004 * back)
    end = wrist + size * (0.092 * along + 0.056 * across - 0.014 * back)
    stations = [(s, a * size, b * size) for s, a, b in ((0.0, 0.017, 0.015), (0.55, 0.013, 0.012), (1.0, 0.009, 0.009))]
    mesh = round_rod(start, end, stations, across, 5, 1)
    return rigid(mesh, frame.skeleton.roles[f"{side}_wrist"], TONES.index(f"skin_{side}"))


_SHOE = np.array(
    [
        # share of the way from heel to ball (0..1) and ball to tip (1..2), half width, height over the sole [m]
        [0.02, 0.022, 0.055], [0.12, 0.033, 0.085], [0.30, 0.037, 0.104], [0.46, 0.038, 0.100], [0.64, 0.040, 0.080],
        [0.85, 0.046, 0.060], [1.0, 0.048, 0.052], [1.25, 0.047, 0.046], [1.6, 0.040, 0.039], [1.88, 0.025, 0.029],
    ]
)  # fmt: skip


def shoe(frame: BodyFrame, side: str) -> BodyPiece:
    """Return a shoe with a flat sole; the front bends with the toe joint."""
    skeleton, size = frame.skeleton, frame.unit
    ankle_joint = skeleton.roles[f"{side}_ankle"]
    toe_joint = skeleton.roles.get(f"{side}_toe", ankle_joint)
    ankle = frame.at(f"{side}_ankle")
    ahead, up, sole, ball = _sole(frame, side)
    share, wide, high = (_SHOE[::2] if frame.coarse else _SHOE).T
    heel, tip = -0.062 * size, ball + 0.085 * size
    place = np.where(share <= 1.0, heel + (ball - heel) * share, ball + (tip - ball) * (share - 1.0))
    turn = np.linspace(0.0, 2.0 * np.pi, 8 if frame.coarse else 12, endpoint=False)
    lateral, rise = np.cos(turn), np.sin(turn)
    # flat below: the lower half of each ring is pressed onto the sole
    rise = np.where(rise < 0.0, np.maximum(rise * 1.6, -1.0), rise)
    lateral = np.sign(lateral) * np.abs(lateral) ** 0.8
    middle = 0.42
    level = size * high[:, None] * np.where(rise < 0.0, middle * (1.0 + rise), middle + (1.0 - middle) * rise)
    sideways = np.cross(up, ahead)
    base = ankle - up * sole
    spread = size * wide[:, None] * lateral
    rings = base + place[:, None, None] * ahead + spread[..., None] * sideways + level[..., None] * up
    ends = [base + ahead * p + up * size * h for p, h in ((heel - 0.004 * size, 0.025), (tip, 0.014))]
    mesh = loft(rings, *ends)
    bend = smooth((mesh.points - base) @ ahead, ball - 0.02 * size, ball + 0.02 * size)
    weights = np.outer(1.0 - bend, frame.only(ankle_joint)) + np.outer(bend, frame.only(toe_joint))
    tones = np.full(len(mesh.points), TONES.index(f"shoe_{side}"))
    return BodyPiece(mesh.points, mesh.normals, mesh.triangles, *strongest(weights), tones)


def _sole(frame: BodyFrame, side: str) -> tuple[FloatArray, FloatArray, float, float]:
    """Return forward and up of the foot at rest, ankle height over the sole, distance to the ball [m]."""
    skeleton, size = frame.skeleton, frame.unit
    up = frame.up
    joint = skeleton.roles[f"{side}_ankle"]
    toe = bone_end(skeleton, joint)
    bone = frame.forward * 0.13 * size if toe is None else rotations.rotate(frame.turns[joint], toe)
    flat = bone - up * np.dot(bone, up)
    ahead = unit(flat) if np.linalg.norm(flat) > 0.02 * size else frame.forward
    ball = float(np.clip(np.dot(bone, ahead), 0.10 * size, 0.16 * size))
    heights = [p.offset for p in skeleton.contact_points if p.joint == joint]
    if heights:
        sole = max(-float(np.dot(rotations.rotate(frame.turns[joint], np.array(o)), up)) for o in heights)
    else:
        sole = -float(np.dot(bone, up)) + 0.02 * size
    return ahead, up, float(np.clip(sole, 0.05 * size, 0.11 * size)), ball
