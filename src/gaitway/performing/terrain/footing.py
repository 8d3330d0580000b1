"""Footing: where the feet of a biped go on uneven ground.

A motion made for a level floor is transferred: each foot follows the ground under it. A planted foot is moved rigidly
(turned to lie on the slope, raised to its height), so that parts that rested in the motion rest on the ground and do
not slide. In between, the change blends smoothly from one stance to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import FootPlan, bridge
from gaitway.motion.footskate import lowered, root_drop, with_legs
from gaitway.motion.limits import HUMAN_LIMITS, clamp, joint_limits
from gaitway.performing.terrain.heel_raise import raise_heel
from gaitway.performing.terrain.underfoot import Underfoot
from gaitway.world.world import World

SIDES = ("left", "right")
_PARTS = ("heel", "ball", "toe")
_HALF_FOOT = 0.08
"""Distance ahead of and behind the middle of a foot at which the ground is sampled, if it rests on one point [m]."""
_HALF_SOLE = 0.04
"""Distance left and right of it at which the ground is sampled [m]."""
_ROOT_S = 0.25
"""Time constant with which the root follows the ground under it [s]."""
_DEEPEST = 0.30
"""Farthest that the root comes down on a slope for a leg to reach its foot [m]."""
_DROP_S = 0.5
"""Time over which the root comes down and rises again [s]."""
_STRAIGHTEST = 0.96
"""Share of its length up to which a leg is stretched on a slope; beyond it knees would pop."""
_SETTLED_S, _SWING_S = 0.07, 0.15
"""Time before and after a stance in which the foot still moves with it, unless the swing is as short [s]."""
_LEAN, _LEAN_S = 0.35, 0.3
"""Share of a slope by which the trunk leans towards it, and the time constant of that [s]."""
_FELT = 0.5
"""Distance ahead and behind over which the slope is measured for that [m]."""
_CLEARANCE = 0.03
"""Clearance of a foot in the air above the ground, or that above a level floor if it is less [m]."""
_LITTLE = 0.03
"""Lack of clearance below which a foot has met no step [m]."""
_RIDE_S = 0.08
"""Time constant with which a foot in the air follows the ground under it [s]."""
_LIFT_S = 0.10
"""Time over which a foot is lifted above the ground and lowered again [s]."""
_TOES_S = 0.04
"""Time constant with which toes in the air come back from the push-off [s]."""
_BENT = 0.06
"""Lowering of the root beyond which knees and ankles are bent much [m]."""
_HEEL_UP = 0.035
"""Height above the floor at which a heel is seen to have left it [m]."""
_WITH_BODY = 0.10, 0.35
"""Heights over the floor between which a foot in the air goes over from riding on the ground to going with the body
[m]."""
_OWN_SLOPE, _TOE_LACK = 0.25, 0.03
"""A foot that rests in the motion may slope by this much, and its toes be this far [m] off the ground; more is no fault
of a capture."""
_MOVES = sorted(np.linspace(-0.20, 0.20, 21), key=abs)
"""Distances ahead at which a foot may be put down to find even ground, the least first [m]."""
_EVEN, _STEEPEST_FOOT = 0.004, 0.45
"""Ground is even if nothing of it is farther than this from a plane under the foot [m], which is no steeper than
that."""
_ROOM, _STATIONS = (0.035, 0.10), 12
"""Room behind and ahead of the points on which a foot rests, so that it gets away without a stumble [m], and at how
many places that is felt."""
_FOREVER = 1e4
"""Time that counts as for ever [s]."""


@dataclass(frozen=True, eq=False)
class TerrainStance:
    """How a planted foot is moved: turned about a point and raised."""

    start: int
    stop: int
    level: float
    """Height of the floor that it stands on in the motion [m]."""
    place: FloatArray
    """The middle of its footprint in the motion [m]; (3,)."""
    turn: FloatArray
    """How it is turned to lie on the ground, as a rotation vector [rad]; (3,)."""
    rise: float
    """How far that place is raised [m]."""
    move: FloatArray
    """How far it is moved level to where the ground is even [m]; (3,)."""
    toes: FloatArray
    """How the toes are turned beyond that to lie on the ground, as a rotation vector [rad]; (3,)."""


@dataclass(frozen=True, eq=False)
class _TerrainFoot:
    """One foot and its targets on the ground."""

    plan: FootPlan
    tilt: FloatArray
    """How it is turned to lie on the ground; (F, 4)."""
    arms: FloatArray
    """Vectors from its ankle to heel, ball and toe in the motion [m]; (F, P, 3)."""
    over: FloatArray
    """How high those are over the floor in the motion [m]; (F, P)."""
    rise: FloatArray
    """How far its ankle is raised [m]; (F,)."""
    extra: FloatArray
    """How far its floor is raised beyond the terrain [m]; (F,)."""
    rests: BoolArray
    """Frames in which something of it rests; (F,)."""


def on_ground(clip: Clip, world: World | Underfoot) -> Clip:
    """Put a motion made for a level floor onto the ground of a world.

    Args:
        clip: motion of a humanoid with contacts, placed in the world's plan; heights count from the terrain.
        world: world with the terrain, and with the obstacles that characters can stand on; or what the motion has
            underfoot.
    """
    world = Underfoot(world) if isinstance(world, World) else world
    positions, turned = clip.joint_transforms()
    feet = {side: _foot(clip, side, positions, turned, world) for side in SIDES}
    under = (
        world.ground(clip.root_positions[:, :2]) - world.level + np.mean([foot.extra for foot in feet.values()], axis=0)
    )
    rise = scipy.ndimage.gaussian_filter1d(under, _ROOT_S * clip.fps, mode="nearest")
    raised = lowered(clip, -rise)
    plans = {
        side: raise_heel(raised, side, foot.plan, np.asarray(foot.over[:, 0] < _HEEL_UP), _STRAIGHTEST)
        for side, foot in feet.items()
    }
    drop = root_drop(raised, plans, deepest=_DEEPEST, straightest=_STRAIGHTEST, drop_s=_DROP_S)
    plans = {side: _in_the_air(foot, plans[side], rise - drop, world, clip.fps) for side, foot in feet.items()}
    return _leaning(_loose(with_legs(lowered(raised, drop), plans), drop), world)


def _in_the_air(foot: _TerrainFoot, plan: FootPlan, rise: FloatArray, world: Underfoot, fps: float) -> FootPlan:
    """Return the plan of a foot that moves with the body where it is high, and clears the ground where it is low.

    Args:
        foot: the foot in the motion.
        plan: targets of the foot.
        rise: height by which the root is raised [m]; (F,).
        world: world with the ground.
        fps: frame rate [Hz].
    """
    low, high = _WITH_BODY
    share = np.clip((foot.over.min(axis=1) - low) / (high - low), 0.0, 1.0) * ~plan.planted
    ankle = np.array(plan.ankle)
    ankle[:, 2] += share * share * (3.0 - 2.0 * share) * (rise - foot.rise)
    sole = ankle[:, None] + rotations.rotate(foot.tilt[:, None], foot.arms)
    ankle[:, 2] += _lift(foot, sole, plan.planted, world, fps)
    return replace(plan, ankle=ankle)


def _loose(clip: Clip, drop: FloatArray) -> Clip:
    """Return the clip with feet in the air bent no farther than ankles allow, where the body has come down [m] (F,)."""
    roles, names = clip.skeleton.roles, [p.name for p in clip.skeleton.contact_points]
    low = np.flatnonzero(drop > _BENT)
    if clip.contacts is None or not len(low):
        return clip
    part = replace(clip, root_positions=clip.root_positions[low], rotations=clip.rotations[low], contacts=None)
    within = clamp(part, joint_limits(clip.skeleton, {"ankle": HUMAN_LIMITS["ankle"]})).rotations
    local = np.array(clip.rotations)
    for side in SIDES:
        columns = [names.index(f"{side}_{part}") for part in _PARTS if f"{side}_{part}" in names]
        free, ankle = ~clip.contacts[low][:, columns].any(axis=1), roles[f"{side}_ankle"]
        local[low[free], ankle] = within[free, ankle]
    return replace(clip, rotations=local)


def _leaning(clip: Clip, world: Underfoot) -> Clip:
    """Return the clip with its trunk leaning a little into a slope uphill, and back downhill."""
    spine, heading = clip.skeleton.roles.get("spine"), clip.headings()
    if spine is None or clip.contacts is None:
        return clip
    ahead = np.column_stack([np.cos(heading), np.sin(heading)])
    rise = [world.ground(clip.root_positions[:, :2] + sign * _FELT * ahead) for sign in (1.0, -1.0)]
    feet = [p.name.rpartition("_")[2] in _PARTS for p in clip.skeleton.contact_points]
    upright = ~clip.contacts[:, ~np.array(feet)].any(axis=1)  # no lean while hands or knees rest on something
    lean = _LEAN * np.arctan2(rise[0] - rise[1], 2.0 * _FELT) * upright
    lean = scipy.ndimage.gaussian_filter1d(lean, _LEAN_S * clip.fps, mode="nearest")
    left = np.column_stack([-ahead[:, 1], ahead[:, 0], np.zeros(len(clip))])
    world_turns = clip.joint_transforms()[1]
    below, own = world_turns[:, clip.skeleton.parents[spine]], world_turns[:, spine]
    local = np.array(clip.rotations)
    bent = rotations.multiply(rotations.from_axis_angle(left, lean), own)
    local[:, spine] = rotations.multiply(rotations.conjugate(below), bent)
    return replace(clip, rotations=rotations.normalize(local))


def _foot(clip: Clip, side: str, positions: FloatArray, world_turns: FloatArray, world: Underfoot) -> _TerrainFoot:
    """Return the targets of one foot; in the air they blend from one stance to the next."""
    roles, fps = clip.skeleton.roles, clip.fps
    ankle, toe = roles[f"{side}_ankle"], roles.get(f"{side}_toe")
    at, points, flags = positions[:, ankle], *_sole(clip, side)
    rests = np.asarray(flags.any(axis=1))
    planted = settled(rests, fps)
    ride = scipy.ndimage.gaussian_filter1d(world.ground(at[:, :2]) - world.level, _RIDE_S * fps, mode="nearest")
    shift, turn, level, extra, bend = (np.zeros((len(clip), n)) for n in (3, 3, 1, 1, 3))
    for start, stop in stances(planted):
        here = world.during(start, stop)
        stance = _stance(points, flags, world_turns[:, ankle], start, stop, here)
        rows = slice(start, stop)
        # what is still in the air comes straight down, so that it does not slide while it lands
        free = np.array([0.0, 0.0, 1.0]) * np.maximum(points[rows, :, 2].min(axis=1) - stance.level, 0.0)[:, None]
        turned = rotations.rotate(rotations.from_rotation_vector(stance.turn), at[rows] - free - stance.place)
        shift[rows] = turned + free + stance.place + stance.move - at[rows]
        shift[rows, 2] += stance.rise - ride[rows]
        turn[rows], level[rows], bend[rows] = stance.turn, stance.level, stance.toes
        extra[rows, 0] = stance.rise - float(here.ground((stance.place + stance.move)[:2]) - here.level)
    known = bridge(np.hstack([shift, turn, level, extra, bend]), planted, fps, _FOREVER)
    shift, turn, level, extra, bend = np.split(known, [3, 6, 7, 8], axis=1)
    shift[:, 2] += ride
    tilt = rotations.from_rotation_vector(turn)
    toe_tilt = rotations.multiply(rotations.from_rotation_vector(bend), tilt)
    toes = None if toe is None else rotations.multiply(toe_tilt, world_turns[:, toe])
    foot = rotations.multiply(tilt, world_turns[:, ankle])
    if toes is not None and not world.even:
        toes = _calm_toes(foot, toes, flags, fps)
    plan = FootPlan(at + shift, foot, toes, planted)
    return _TerrainFoot(plan, tilt, points - at[:, None], points[..., 2] - level, shift[:, 2], extra[:, 0], rests)


def _calm_toes(foot: FloatArray, toes: FloatArray, rests: BoolArray, fps: float) -> FloatArray:
    """Return the rotations of toes (F, 4), which come back more slowly once they are in the air.

    On a slope toes bend farther before they leave the ground. They would snap back as fast as on a level floor.

    Args:
        foot: rotations of the foot; (F, 4).
        toes: rotations of its toes; (F, 4).
        rests: which points of the sole rest; (F, P).
        fps: frames in a second.
    """
    own = rotations.multiply(rotations.conjugate(foot), toes)
    own *= np.where(own[:, :1] < 0.0, -1.0, 1.0)
    share = 1.0 - np.exp(-1.0 / (_TOES_S * fps))
    for start, stop in stances(np.asarray(~rests.any(axis=1))):
        first = max(start - 1, 0)
        part = own[first:stop]
        late = np.array(part)
        for k in range(1, len(part)):
            slow = late[k - 1] + share * (part[k] - late[k - 1])
            if np.abs(slow[1:]).max() > np.abs(part[k, 1:]).max():  # they come back, and do not bend any farther
                late[k] = slow
        left = ease((stop - np.arange(first, stop)) / (5.0 * _TOES_S * fps))[:, None]  # it lands as it did
        own[first:stop] = left * late + (1.0 - left) * part
    return rotations.multiply(foot, rotations.normalize(own))


def settled(planted: BoolArray, fps: float) -> BoolArray:
    """Return stances that begin a little earlier and end later, so that a slow foot does not seem to slide; (F,)."""
    reach = round(_SETTLED_S * fps)
    out = np.array(planted)
    for start, stop in stances(~planted):
        spare = min(reach, max((stop - start - round(_SWING_S * fps)) // 2, 0))
        out[start : start + spare if start > 0 else start] = True
        out[stop - spare if stop < len(planted) else stop : stop] = True
    return out


def _sole(clip: Clip, side: str) -> tuple[FloatArray, BoolArray]:
    """Return positions of heel, ball and toe of a foot [m] (F, P, 3), and whether they rest (F, P)."""
    names = [p.name for p in clip.skeleton.contact_points]
    columns = [names.index(f"{side}_{part}") for part in _PARTS if f"{side}_{part}" in names]
    contacts = np.zeros((len(clip), len(columns)), bool) if clip.contacts is None else clip.contacts[:, columns]
    return clip.contact_positions()[:, columns], contacts


def _stance(
    points: FloatArray, flags: BoolArray, foot: FloatArray, start: int, stop: int, world: Underfoot
) -> TerrainStance:
    """Return how one stance lies on the ground."""
    resting = flags[start:stop]
    used = np.flatnonzero(resting.any(axis=0))
    rest = np.array([points[start:stop, c][resting[:, c]].mean(axis=0) for c in used])
    place, level = rest.mean(axis=0), float(rest[:, 2].mean())
    terrain = float(world.ground(place[:2]))
    raised = level - float(world.level)
    over = float(world.standing_height(place[:2], terrain + raised)) - terrain
    if over > 0.0 and abs(raised - over) < abs(raised):  # it stands on a thing, whose upper side is level
        return TerrainStance(
            start=start,
            stop=stop,
            level=level,
            place=place,
            turn=np.zeros(3),
            rise=terrain + over - level,
            move=np.zeros(3),
            toes=np.zeros(3),
        )
    middle = foot[(start + stop) // 2]
    ahead = rotations.rotate(middle, np.array([1.0, 0.0, 0.0]))[:2]
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
    across = np.array([-ahead[1], ahead[0]])
    along, own = (rest[:, :2] - place[:2]) @ ahead, 0.0
    if np.ptp(along) < _HALF_FOOT:
        along = np.array([-_HALF_FOOT, _HALF_FOOT])
    else:  # a captured foot does not rest exactly level
        own = min(max(_line(along, rest[:, 2])[1], -_OWN_SLOPE), _OWN_SLOPE)
    move, height, pitch, roll = _footprint(place[:2], ahead, along, world)
    up, normal = np.append(-own * ahead, 1.0), np.append(-pitch * ahead - roll * across, 1.0)
    turn = rotations.to_rotation_vector(rotations.between(up, normal))
    stance = TerrainStance(
        start=start,
        stop=stop,
        level=level,
        place=place,
        turn=turn,
        rise=height - level,
        move=np.append(move * ahead, 0.0),
        toes=np.zeros(3),
    )
    return replace(stance, toes=_toe_turn(stance, rest, used, across, world))


def _footprint(
    place: FloatArray, ahead: FloatArray, along: FloatArray, world: Underfoot
) -> tuple[float, float, float, float]:
    """Find even ground for a foot: how far ahead of a point (2,) [m], its height there [m], and its slopes.

    Args:
        place: centre of the part that rests in the motion.
        ahead: unit direction in which the foot points; (2,).
        along: distances of the points that rest, ahead of the place [m].
        world: world with the ground.

    Returns:
        The least move to ground on which the foot lies even, or to the evenest within reach, the height of the foot
        there, and how much it rises ahead and to its left.
    """
    count, across = len(along), np.array([-ahead[1], ahead[0]])
    stations = np.append(along, np.linspace(along.min() - _ROOM[0], along.max() + _ROOM[1], _STATIONS))
    places = np.vstack([stations[:, None] * ahead, -_HALF_SOLE * across, _HALF_SOLE * across])
    best: tuple[float, tuple[float, float, float, float]] | None = None
    for move in _MOVES:
        middle = place + move * ahead
        heights = world.ground(middle + places)
        height, pitch = _line(along, heights[:count])
        roll = float(heights[-1] - heights[-2]) / (2.0 * _HALF_SOLE)
        gaps = heights[:-2] - height - pitch * stations
        uneven = max(float(np.abs(gaps[:count]).max()), float(gaps.max())) + max(abs(pitch) - _STEEPEST_FOOT, 0.0)
        if best is None or uneven < best[0] - _EVEN:
            best = uneven, (float(move), height, pitch, roll)
        if best[0] < _EVEN:
            break
    assert best is not None
    return best[1]


def _line(along: FloatArray, heights: FloatArray) -> tuple[float, float]:
    """Return height at 0 and slope of the line that fits heights (N,) at points (N,) best [m]."""
    middle, level = float(along.mean()), float(heights.mean())
    slope = float((along - middle) @ (heights - level)) / max(float((along - middle) @ (along - middle)), 1e-12)
    return level - slope * middle, slope


def _toe_turn(
    stance: TerrainStance, rest: FloatArray, used: IntArray, across: FloatArray, world: Underfoot
) -> FloatArray:
    """Return the turn of toes that rest beside the ball of a turned foot, as a rotation vector."""
    if not {1, 2} <= set(used.tolist()):
        return np.zeros(3)
    turn = rotations.from_rotation_vector(stance.turn)
    ball, toe = (stance.place + rotations.rotate(turn, rest[used == part][0] - stance.place) for part in (1, 2))
    lack = float(world.ground((toe + stance.move)[:2])) - toe[2] - stance.rise
    angle = np.arctan2(np.clip(lack, -_TOE_LACK, _TOE_LACK), np.linalg.norm(toe - ball))
    return np.asarray(-angle * np.append(across, 0.0))


def _lift(foot: _TerrainFoot, sole: FloatArray, planted: BoolArray, world: Underfoot, fps: float) -> FloatArray:
    """Return how much higher a foot in the air must be to keep clear of the ground [m]; (F,).

    Over steps that must begin as soon as nothing of it rests; else, when it has settled.
    """
    gaps = sole[..., 2] - world.ground(sole[..., :2])
    lack = np.maximum((np.minimum(foot.over, _CLEARANCE) - gaps).max(axis=1), 0.0)
    little = np.minimum(lack, _LITTLE)
    return _eased(little, planted, fps) + _eased(lack - little, foot.rests, fps)


def _eased(lack: FloatArray, rests: BoolArray, fps: float) -> FloatArray:
    """Return heights (F,) that change smoothly, are zero while a foot rests, and else what is lacking [m]."""
    half = max(int(0.5 * _LIFT_S * fps), 1)
    spread = scipy.ndimage.maximum_filter1d(np.where(rests, 0.0, lack), 2 * half + 1, mode="nearest")
    since = scipy.ndimage.distance_transform_edt(~rests) if rests.any() else np.full(len(rests), np.inf)
    smooth = scipy.ndimage.gaussian_filter1d(spread, 0.5 * half, mode="nearest")
    return np.asarray(smooth * np.minimum(since / (2.0 * half), 1.0) ** 2)
