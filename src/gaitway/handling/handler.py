"""Somebody who stands and reaches: which postures bring a hand where it is wanted, and how uneasy they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, read_only
from gaitway.core.errors import LimbError, SkeletonError
from gaitway.handling.grips import ThingPose, grasp_place, grip_point, palm
from gaitway.library.behavior import Library
from gaitway.limbs import _goal_kernels
from gaitway.limbs._collision_kernels import frame_gaps
from gaitway.limbs._goal_kernels import WAY_FRAME, WAY_MARK, WAY_TURNED
from gaitway.limbs._stance_kernels import ANGLE, ARM, DROP, FLEXION, LEAN, NUMBERS, TURN
from gaitway.limbs.linkage import Limb
from gaitway.limbs.stance import HANDS, Stander, stand
from gaitway.limbs.surroundings import OtherBody
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place
from gaitway.motion.limits import joint_limits, violations
from gaitway.scene.things import SIDE, Thing
from gaitway.sitting.figure import stand_of
from gaitway.world.world import World

_SWIVELS = (0.35, 0.15, 0.55, 0.0, 0.8, 1.1, -0.35, 1.5)
"""Angles of an elbow outward from its lowest place, the most natural first [rad]."""
_RESOLUTION, _STEP = 0.03, 0.04
"""Numbers of a roadmap that a goal does not need [m]."""
_EASY = np.array([math.radians(35.0), math.radians(15.0), math.radians(30.0), 0.1])
"""Flexion, lean, turn [rad] and drop [m] that are equally uneasy."""
_WRIST, _ARM = 0.35, 0.04
"""What a square of the wrist's bend and of the arm's way from its home count beside these [1/rad^2]."""
_WEIGHTS = read_only(np.array([*_EASY, _WRIST, _ARM]))
_LEG = 0.85
"""Length of the leg that the lengths below belong to [m]."""
_CARRIED = ((0.30, 0.17, 1.08), (0.34, 0.12, 1.12), (0.27, 0.22, 1.02), (0.30, 0.22, 0.98), (0.36, 0.17, 1.0),
            (0.34, 0.2, 0.95))  # fmt: skip
"""Where a carried thing's middle is: ahead, to the side of its hand, and above the floor [m]; the best first."""
_CARRIED_TILTS = ((0.0,), (0.5, -0.5), (1.0, -1.0), (1.5, -1.5))
"""How far a carried thing may be tilted [rad], one after another."""
_STRAIN, _SHAKEN = 0.5, 0.06
"""How far a joint of an arm that carries may be beyond what joints usually do [degrees], wherever a walk turns it by so
much [rad]."""
_ROLLS = (0.0, math.radians(45.0), math.radians(85.0))
_ASIDES = (0.0, math.radians(30.0), math.radians(-20.0))
_DOWNS = (math.radians(12.0), math.radians(35.0))
"""Ways in which a hand grasps: how far its palm is turned down, how far it points inward, and down [rad]."""
_LOW = 0.12
"""Greatest height of a thing that is grasped from above [m]."""
_PASSED_ROLLS = (0.0, math.radians(30.0), math.radians(60.0), math.radians(85.0))
_PASSED_ASIDES = (*_ASIDES, math.radians(60.0))
_PASSED_DOWNS = (0.0, *_DOWNS)
"""The same for who grasps a thing that another hand still has."""
_HIGHER = (0.0, 0.25, -0.25)
"""How far over the middle of such a thing its side is grasped, as a share of its height."""
_LOOSE = (0.0, 0.02)
"""How far the palm is off such a thing that is between the fingers [m]."""
_STEEP, _CLEAR = math.radians(25.0), 0.006
"""How far up a hand may point [rad], and how far above the underside of a thing it must be [m], to put it down."""
_TURNS = 16
"""Number of ways in which an upright thing may be turned."""


class UnreachedError(LimbError):
    """A target that no posture reaches."""

    def __init__(self, message: str, why: str) -> None:
        """Keep why alone, too: a target may be told in the frame of a body that stands elsewhere."""
        super().__init__(message)
        self.why = why


@dataclass(frozen=True, eq=False)
class HandTask:
    """Where a hand goes, and in which ways it may do so."""

    hand: str
    """"right" or "left"."""
    target: FloatArray
    """Where a point of it goes [m]; (3,)."""
    ways: tuple[HandWay, ...]
    """Ways, any of which will do."""

    def only(self, kept: BoolArray) -> HandTask:
        """Return the same with some of the ways alone; `kept` is (W,)."""
        return replace(self, ways=tuple(way for way, fine in zip(self.ways, kept.tolist(), strict=True) if fine))


@dataclass(frozen=True, eq=False)
class HandWay:
    """One way in which a hand may be at its target."""

    mark: FloatArray
    """The point of the hand that is there, in the frame of its last segment [m]; (3,)."""
    turn: FloatArray | None = None
    """World turn of the wrist joint, wxyz; (4,). None leaves it free: the hand goes on straight from the forearm."""


class HandGoal(NamedTuple):
    """A posture that fulfils a task."""

    posture: FloatArray
    """(22,)."""
    mark: FloatArray
    """The point of the hand that is at the target; (3,)."""
    way: int
    """Which of the ways of the task it is."""


@dataclass(frozen=True, eq=False)
class Handler:
    """Somebody on both feet, and what is around; made by `Handler.at`."""

    stander: Stander
    world: World
    time: float
    height: float = 0.0
    """Height of the ground [m]."""

    @staticmethod
    def at(
        library: Library, pose: Sequence[float], world: World, time: float = 0.0, others: Sequence[OtherBody] = (),
        *, height: float = 0.0,
    ) -> Handler:  # fmt: skip
        """Return somebody who stands at a pose.

        Args:
            library: whose standing pose.
            pose: x, y [m] and heading [rad].
            world: what is around.
            time: when [s].
            others: other bodies, with one frame each.
            height: height of the level ground there [m].

        Raises:
            LimbError: for a body that has no arms, or does not stand on two feet.
        """
        clip = raised(place(_standing(library), np.asarray(pose, dtype=np.float64)), height)
        try:
            stander = stand(clip, world, time=time, others=others, captures=_captures(library))
            return Handler(stander, world, time, height)
        except SkeletonError:
            raise LimbError(f"skeleton '{clip.skeleton.name}' has no arms of a person to handle things with") from None

    def among(self, others: Sequence[OtherBody]) -> Handler:
        """Return the same somebody among other bodies, with one frame each."""
        return replace(self, stander=self.stander.among(self.world, self.time, others))

    @property
    def rest(self) -> FloatArray:
        """The posture in which both arms hang; (22,)."""
        return self.stander.rest

    @property
    def clip(self) -> Clip:
        """The standing pose, one frame."""
        return self.stander.clip

    def limb(self, hand: str) -> Limb:
        """Return an arm."""
        return self.stander.limbs[HANDS.index(hand)]

    def wrist(self, posture: FloatArray, hand: str) -> ThingPose:
        """Return the wrist joint in a posture (22,)."""
        placed, joint = self.stander.place(posture[None]), int(self.limb(hand).joints[2])
        return ThingPose(placed.places[0, joint], rotations.from_matrix(placed.turns[0, joint]))

    def joint(self, posture: FloatArray, role: str) -> ThingPose:
        """Return the joint of a role in a posture (22,)."""
        clip = self.stander.applied(posture[None])
        joint = clip.skeleton.roles[role]
        positions, turns = clip.joint_transforms()
        return ThingPose(positions[0, joint], turns[0, joint])

    def goal(self, task: HandTask, home: FloatArray, margin: float, *, bends: bool = True) -> HandGoal:
        """Return the least uneasy posture found that fulfils a task, with the other arm as at home.

        Args:
            task: the hand and its target.
            home: the posture that the reach begins in; (22,).
            margin: gap to everything [m].
            bends: whether trunk and knees may move, too.

        Raises:
            LimbError: that says how far it got.
        """
        if not task.ways:
            raise LimbError(f"the {task.hand} hand has no way to turn")
        out, told = np.empty(NUMBERS), np.empty(2)
        swivels = np.array(_SWIVELS) * (1.0 if task.hand == "left" else -1.0)
        chosen = _goal_kernels.find_easiest(
            self.stander.table, read_only(np.array([_STEP, _RESOLUTION, float(margin)])), read_only(np.array(home)),
            HANDS.index(task.hand), read_only(_way_rows(self.limb(task.hand), task.ways)),
            read_only(np.array(task.target)), bends, read_only(swivels), _WEIGHTS, out, told,
        )  # fmt: skip
        if chosen >= 0:
            return HandGoal(out, task.ways[chosen].mark, chosen)
        where = "(" + ", ".join(f"{v:.2f}" for v in task.target) + ")"
        if told[0] > 0.0:
            why = f"it is {told[0]:.2f} m beyond the arm"
        elif told[1] > 0.0:
            why = "every posture that reaches it touches something or would fall over"
        else:
            why = "every posture that reaches it is beyond the limits of the joints"
        raise UnreachedError(f"the {task.hand} hand cannot reach {where}: {why}", why)

    def uneasiness(self, posture: FloatArray, home: FloatArray, hand: str) -> float:
        """Return how uneasy a posture (22,) is: trunk and knees first, then the wrist, then the arm's way from home."""
        begin = ARM * HANDS.index(hand) + ANGLE
        trunk = posture[[FLEXION, LEAN, TURN, DROP]] / _EASY
        wrist, arm = posture[begin + 5 : begin + 7], posture[begin : begin + 4] - home[begin : begin + 4]
        return float(trunk @ trunk + _WRIST * (wrist @ wrist) + _ARM * (arm @ arm))

    def carrying(self, thing: Thing, hand: str, inner: ThingPose, home: FloatArray) -> FloatArray:
        """Return the posture in which somebody stands who carries a thing: as at home, but for that arm; (22,).

        Args:
            thing: the thing.
            hand: the hand that has it.
            inner: its pose in the frame of the wrist.
            home: the posture of all else.
        """
        if thing.carry == SIDE:
            return home
        heading = float(self.clip.headings()[0])
        size = float(self.stander.table.size)
        floor = float(self.stander.table.ankles[:, 2].min()) - 0.08 * size
        c, s, out = math.cos(heading), math.sin(heading), 1.0 if hand == "left" else -1.0
        root = self.clip.root_positions[0]
        limits = joint_limits(self.clip.skeleton).only(self.limb(hand).joints)
        wide = max(0.5 * max(thing.size[:2]) - 0.05, 0.0)  # the other arm swings past it
        for tilts in _CARRIED_TILTS:  # upright if that is possible
            for ahead, near, high in _CARRIED:
                aside = near + 0.6 * wide
                spot = np.array([
                    root[0] + size * (c * ahead - s * out * aside), root[1] + size * (s * ahead + c * out * aside),
                    floor + size * high,
                ])  # fmt: skip
                task = self.placing(thing, hand, inner, spot - np.array(thing.middle), None, tilts)
                try:
                    found = self.goal(task, home, 0.0, bends=False).posture
                except LimbError:
                    continue
                begin, carried = ARM * HANDS.index(hand), np.array(home)
                carried[begin : begin + ARM] = found[begin : begin + ARM]
                if violations(self._shaken(carried, hand), limits).max() < _STRAIN:
                    return carried
        return home

    def _shaken(self, posture: FloatArray, hand: str) -> Clip:
        """Return a posture (22,) with the upper arm turned a little to all sides, as a walk does, one in each frame."""
        clip = self.stander.applied(np.repeat(posture[None], 7, axis=0))
        turns = _SHAKEN * np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])
        local, joint = np.array(clip.rotations), int(self.limb(hand).joints[0])
        local[:, joint] = rotations.multiply(local[:, joint], rotations.from_rotation_vector(turns))
        return replace(clip, rotations=local)

    def placing(
        self,
        thing: Thing,
        hand: str,
        inner: ThingPose,
        at: FloatArray,
        yaw: float | None,
        tilts: Sequence[float] = (0.0,),
    ) -> HandTask:
        """Return the task of bringing a thing in a hand to a place, upright.

        Args:
            thing: the thing.
            hand: the hand that has it.
            inner: its pose in the frame of the wrist.
            at: where its origin goes [m]; (3,).
            yaw: how it is turned there [rad]; None for any way.
            tilts: how far it may be tilted toward the body's back [rad]; upright by default.
        """
        limb, heading = self.limb(hand), float(self.clip.headings()[0])
        yaws = np.arange(_TURNS) * math.tau / _TURNS + heading if yaw is None else np.array([yaw])
        left = np.array([-math.sin(heading), math.cos(heading), 0.0])
        grip = rotations.rotate(rotations.conjugate(limb.turns[3]), inner.at)  # the thing's origin is what is aimed at
        ways = []
        for tilt in tilts:
            turns = rotations.multiply(rotations.from_axis_angle(left, -tilt), rotations.from_yaw(yaws))
            wrists = rotations.multiply(turns, rotations.conjugate(inner.turn))
            ways += [HandWay(grip, wrist) for wrist in wrists]
        return HandTask(hand, np.asarray(at, dtype=np.float64), tuple(ways))

    def grasping(self, thing: Thing, hand: str, pose: ThingPose, number: int = 0) -> HandTask:
        """Return the task of grasping a thing where it is: as the arm comes, from the side, or from above."""
        way = HandWay(grip_point(self.limb(hand), thing))
        ways = self._ways(thing, hand, pose, number, (_ROLLS, _ASIDES, _DOWNS))
        return HandTask(hand, pose.point(grasp_place(thing, number)), (way, *ways))

    def passed(self, thing: Thing, hand: str, pose: ThingPose, number: int = 0) -> HandTask:
        """Return the task of grasping a thing that another hand still has: also off its middle, and with fingers only.

        Args:
            thing: the thing.
            hand: the hand that gets it.
            pose: where the thing is.
            number: which of its grasps.
        """
        spots = ((0.0, 0.0),) if thing.grasps else tuple(product((k * thing.size[2] for k in _HIGHER), _LOOSE))
        ways = self._ways(thing, hand, pose, number, (_PASSED_ROLLS, _PASSED_ASIDES, _PASSED_DOWNS), spots)
        return HandTask(hand, pose.point(grasp_place(thing, number)), ways)

    def _ways(
        self, thing: Thing, hand: str, pose: ThingPose, number: int, angles: tuple[Sequence[float], ...],
        spots: Sequence[tuple[float, float]] = ((0.0, 0.0),),
    ) -> tuple[HandWay, ...]:  # fmt: skip
        """Return ways to grasp a thing.

        Args:
            thing: the thing.
            hand: the hand.
            pose: where the thing is.
            number: which of its grasps.
            angles: how far the palm is turned down, the hand points inward, and down [rad].
            spots: how far the hand is higher than where the thing is grasped, and off the thing [m]. A hand from above
                is not higher or lower.
        """
        limb, target, root = self.limb(hand), pose.point(grasp_place(thing, number)), self.clip.root_positions[0]
        bearing = math.atan2(target[1] - root[1], target[0] - root[0])
        inward = 1.0 if hand == "right" else -1.0
        marks, frames = [], []
        for roll, aside, down in product(*angles):
            over = roll > 0.25 * math.pi  # 0: the palm faces inward, a quarter turn: down
            if over and thing.size[2] > _LOW and not thing.grasps:
                continue
            mark = grip_point(limb, thing, from_above=over, number=number)
            frame = _hand_frame(limb, bearing + inward * aside, down, inward, roll)
            for higher, loose in spots:
                if higher == 0.0 or not over:
                    marks.append(mark + loose * palm(limb) - higher * frame[2])
                    frames.append(frame)
        turns = rotations.multiply(rotations.from_matrix(np.array(frames)), rotations.conjugate(limb.turns[3]))
        return tuple(HandWay(mark, turn) for mark, turn in zip(marks, turns, strict=True))

    def above(self, thing: Thing, hand: str, wrist: ThingPose, pose: ThingPose) -> bool:
        """Return whether a hand that has a thing is above its underside, and does not come from below.

        Who grasps it so can put it down again.

        Args:
            thing: the thing.
            hand: the hand.
            wrist: the wrist joint.
            pose: where the thing is, upright.
        """
        return bool(self._above(hand, wrist.at[None], wrist.turn[None], pose)[0])

    def from_above(self, thing: Thing, task: HandTask, pose: ThingPose) -> HandTask:
        """Return a task of grasping a thing with those ways alone after which it can be put down; see `above`."""
        turned = replace(task, ways=tuple(way for way in task.ways if way.turn is not None))
        kept = turned.only(self.above_ways(turned, pose))
        return next((one for one in (kept, turned) if one.ways), task)

    def above_ways(self, task: HandTask, pose: ThingPose) -> BoolArray:
        """Return for each way of a task of grasping a thing whether it can be put down then; (W,); see `above`.

        All ways say how the hand is turned.
        """
        return self._above(task.hand, *self._wrists(task), pose)

    def hand_gaps(self, task: HandTask, other: OtherBody) -> FloatArray:
        """Return the gap between the hand and another body of one frame in each way of a task [m]; (W,).

        All ways say how the hand is turned.
        """
        axes, radius = self._hands(task.hand, *self._wrists(task))
        around, out = np.repeat(other.segments, len(axes), axis=0), np.empty(len(axes))
        frame_gaps(axes[:, None], np.array([radius]), around, read_only(np.array(other.radii)), out)
        return out

    def _wrists(self, task: HandTask) -> tuple[FloatArray, FloatArray]:
        """Return where the wrist joint is in each way of a task (W, 3) [m], and how it is turned (W, 4)."""
        turns = np.array([way.turn for way in task.ways]).reshape(-1, 4)
        marks = np.array([way.mark for way in task.ways]).reshape(-1, 3)
        back = rotations.multiply(turns, self.limb(task.hand).turns[3])
        return np.asarray(task.target - rotations.rotate(back, marks)), turns

    def _hands(self, hand: str, at: FloatArray, turns: FloatArray) -> tuple[FloatArray, float]:
        """Return axes of a hand (N, 2, 3) and its radius [m], for places (N, 3) and turns (N, 4) of the wrist joint."""
        body = capsule_body(self.clip.skeleton)
        row = body.names.index(f"{hand}_hand")
        ends = [at + rotations.rotate(turns, end[row]) for end in (body.starts, body.ends)]
        return np.ascontiguousarray(np.stack(ends, axis=1)), float(body.radii[row])

    def _above(self, hand: str, at: FloatArray, turns: FloatArray, pose: ThingPose) -> BoolArray:
        axes, radius = self._hands(hand, at, turns)
        ahead = rotations.rotate(rotations.multiply(turns, self.limb(hand).turns[3]), np.array([0.0, 0.0, 1.0]))
        low = axes[..., 2].min(axis=1) - radius
        return np.asarray((low > pose.at[2] + _CLEAR) & (ahead[:, 2] < math.sin(_STEEP)))

    def touching(self, hand: str, target: FloatArray) -> HandTask:
        """Return the task of touching a point [m] with the fingertips."""
        return HandTask(hand, np.asarray(target, dtype=np.float64), (HandWay(np.array(self.limb(hand).tip)),))


def raised(clip: Clip, height: float) -> Clip:
    """Return a motion as high as its ground [m]."""
    return clip if height == 0.0 else replace(clip, root_positions=clip.root_positions + np.array([0.0, 0.0, height]))


def _way_rows(limb: Limb, ways: Sequence[HandWay]) -> FloatArray:
    """Return ways in which a hand may be at its target as `find_easiest` reads them; (W, 13)."""
    rows = np.zeros((len(ways), _goal_kernels.WAY_COLUMNS))
    rows[:, WAY_MARK:WAY_FRAME] = [way.mark for way in ways]
    rows[:, WAY_FRAME:WAY_TURNED] = np.eye(3).ravel()
    turned = [k for k, way in enumerate(ways) if way.turn is not None]
    if turned:
        turns = np.array([ways[k].turn for k in turned])
        frames = rotations.to_matrix(rotations.multiply(turns, limb.turns[3]))
        rows[turned, WAY_FRAME:WAY_TURNED] = frames.reshape(-1, 9)
        rows[turned, WAY_TURNED] = 1.0
    return rows


def _hand_frame(limb: Limb, yaw: float, down: float, inward: float, roll: float) -> FloatArray:
    """Return the frame of a hand that points along a bearing, a little down, with its palm inward or down; (3, 3)."""
    ahead = np.array([math.cos(yaw) * math.cos(down), math.sin(yaw) * math.cos(down), -math.sin(down)])
    aside = inward * np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    below = np.cross(ahead, aside) * -inward
    facing = math.cos(roll) * aside + math.sin(roll) * below
    y = facing * palm(limb)[1]
    return np.stack([np.cross(y, ahead), y, ahead], axis=-1)


@lru_cache(maxsize=32)
def _standing(library: Library) -> Clip:
    return place(stand_of(library), np.zeros(3))


@lru_cache(maxsize=32)
def _captures(library: Library) -> tuple[Clip, ...]:
    """Return some clips that show on which axes elbows and knees bend: those that move most."""
    clips = sorted(library.clips.values(), key=lambda clip: (-round(clip.duration, 3), clip.name))
    return tuple(clips[:4])
