"""Motion whose feet and hands are at given positions (Lau 2009, section 5.5), solved for all frames of a clip at once.

Equation 5.7 has three terms for every limb and frame: the point reaches its target, angles stay near the predicted
ones, and angles stay near the straight continuation of the two frames before. The thesis solves it frame by frame. Here
the same three terms are summed over the clip and solved together. So a limb begins to move before its target counts and
goes on after it, without a jump at either end. Both legs and the root are one problem, because a straight leg reaches
its target only if the root moves too.

The solver is sequential quadratic programming: each round linearises the positions and solves the remaining quadratic
programme exactly. Angles of a frame are coupled with those of two frames on either side and no others, so the matrix is
banded and a round takes time in proportion to the frames. Targets are held by a stiff spring and not by multipliers:
the targets of heel, ball and toe are more than a rigid foot can meet exactly, and a target that is out of reach is
approached instead of refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton
from gaitway.variation.sampling._band_kernels import solve_band
from gaitway.variation.sampling.point_constraints import PointConstraint, contact_constraints, find_point

THESIS_FPS = 60.0
"""Frame rate of the thesis's motion, which its weights are for [Hz]."""
_SPRING = 1e6
"""Cost of one square metre between a point and its target; one square radian away from the clip costs 1."""
_HELD = 1e12
"""Cost of any change in frames that are held."""
_CLOSE = 1e-5
"""Greatest change after which the rounds end [rad, m]."""
_LONGEST_STEP = 0.5
"""Greatest turn of a joint in a round; beyond it the linearised positions are useless [rad]."""
_TOPS = ("hip", "shoulder")
_HINGES = ("knee", "elbow", "toe")
_STIFF = ("toe",)
"""Hinges that stay as they are in a clip in which they hardly move; a foot is flat without their help."""
_LIMB = 5
"""Greatest number of joints of a limb that is not known by role."""
_HINGE_SHARE = 0.2
"""A hinge turns about the directions in which it moves at least this share of its greatest movement."""
_LEAST_BEND = 0.02
"""Movement of a hinge in the whole clip below which its axis is unknown [rad]."""
_ROOT_NEAR, _ROOT_CALM = 4.0, 20.0
"""Factors of the root: one metre counts like two radians of a joint, and it moves over about twice the time of
joints."""


@dataclass(frozen=True)
class ConstraintOptions:
    """Weights of equation 5.7, and what may move."""

    near: float = 1.0
    """Weight w1 of staying near the given angles."""
    smooth: float = 500.0
    """Weight w2 of second differences at 60 Hz; it is converted for other rates. The thesis has 5, which spreads a
    change over about 0.05 s. A greater weight gives calmer motion and changes more frames without a target."""
    of_change: bool = True
    """Whether second differences are those of the change, so that the motion's own detail is not smoothed away; False:
    those of the motion itself, as in the thesis."""
    root: bool = True
    """Whether the root may move too; in the thesis it may not."""
    held: tuple[int, int] = (0, 0)
    """Number of first and of last frames that stay as they are."""
    rounds: int = 30
    """Greatest number of quadratic programmes to solve."""

    def __post_init__(self) -> None:
        if not (self.near > 0.0 and self.smooth >= 0.0 and self.rounds >= 1 and min(self.held) >= 0):
            raise VariationError(f"constraint options {self}; near, smooth and rounds must be above 0, held 0 or more")


THESIS_OPTIONS = ConstraintOptions(smooth=5.0, of_change=False, root=False)
"""Options with the weights of the thesis and a root that stays; all frames are still solved at once."""


def constrained(
    clip: Clip,
    constraints: Sequence[PointConstraint] | None = None,
    options: ConstraintOptions = ConstraintOptions(),  # noqa: B008  (frozen)
) -> Clip:
    """Return the clip with points of its body at given positions, and otherwise changed as little as possible.

    Args:
        clip: Motion whose angles equation 5.7 stays near, such as a sample of a network.
        constraints: Where points shall be; None takes the clip's own contacts (`contact_constraints`).
        options: Weights, and what may move.

    Raises:
        VariationError: if a constraint has no such point or frames, or the clip has no contacts.
    """
    wanted = contact_constraints(clip) if constraints is None else list(constraints)
    if not wanted:
        return clip
    problem = _ConstraintProblem.of(clip, wanted, options)
    change = np.zeros((len(clip), len(problem.moving)))
    cost = problem.cost(change)
    for _ in range(options.rounds):
        step = problem.step(change)
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        share = 1.0
        while (tried := problem.cost(change + share * step)) > cost and share > 1e-3:
            share *= 0.5
        if tried > cost:
            break
        change, cost = change + share * step, tried
        if share * float(np.abs(step).max()) < _CLOSE:
            break
    return problem.applied(change)


@dataclass(frozen=True, eq=False)
class Freedom:
    """One number for each frame that may change: an angle of a joint, or a coordinate of the root."""

    joint: int
    """Number of the joint that turns; -1 for the root's position."""
    axis: FloatArray
    """Axis of the turn, in the joint's own frame; or direction in which the root moves; (3,)."""
    near: float = 1.0
    """Factor on the weight of staying near."""
    calm: float = 1.0
    """Further factor on the weight of second differences."""

    def angles(self, clip: Clip) -> FloatArray:
        """Return the angles, or coordinates, of the clip itself [rad or m]; (F,)."""
        if self.joint < 0:
            return np.asarray(clip.root_positions @ self.axis)
        local = clip.rotations[:, self.joint]
        away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(rotations.mean(local)), local))
        return np.asarray(away @ self.axis)


def freedoms(clip: Clip, joints: Sequence[int], *, root: bool) -> tuple[Freedom, ...]:
    """Return what may move so that points on some joints reach their targets.

    Hips, shoulders, ankles and wrists turn freely. Knees, elbows and toes turn only as they do in the clip.

    Args:
        clip: Motion that shows how its hinges turn.
        joints: Numbers of the joints that carry the points.
        root: Whether the root may move.
    """
    chosen = sorted({above for joint in joints for above in _limb(clip.skeleton, joint)})
    out = [Freedom(-1, axis, _ROOT_NEAR, _ROOT_CALM) for axis in np.eye(3)] if root else []
    hinges = {index: role.rpartition("_")[2] for role, index in clip.skeleton.roles.items()}
    hinges = {index: part for index, part in hinges.items() if part in _HINGES}
    for joint in chosen:
        axes = _hinge_axes(clip, joint, hinges[joint] in _STIFF) if joint in hinges else np.eye(3)
        out += [Freedom(joint, axis) for axis in axes]
    return tuple(out)


def _limb(skeleton: Skeleton, joint: int) -> list[int]:
    """Return the joints from one up to where its limb leaves the trunk, without the root."""
    tops = {index for role, index in skeleton.roles.items() if role.rpartition("_")[2] in _TOPS}
    above = [joint]
    while above[-1] > 0 and above[-1] not in tops:
        above.append(int(skeleton.parents[above[-1]]))
    if above[-1] in tops:
        return above
    limb = [joint]
    while len(limb) < _LIMB:
        parent = int(skeleton.parents[limb[-1]])
        if parent <= 0 or len(skeleton.children(parent)) > 1:
            break
        limb.append(parent)
    return [j for j in limb if j > 0]


def _hinge_axes(clip: Clip, joint: int, stiff: bool) -> FloatArray:
    """Return the axes about which a hinge turns in the clip, as rows.

    Where it hardly moves these are all three, or none if it is stiff.
    """
    local = clip.rotations[:, joint]
    away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(rotations.mean(local)), local))
    _, sizes, axes = np.linalg.svd(away, full_matrices=False)
    spread = sizes / np.sqrt(len(away))
    if len(axes) < 3 or spread[0] < _LEAST_BEND:
        return np.eye(3)[: 0 if stiff else 3]
    return np.asarray(axes[spread > _HINGE_SHARE * spread[0]])


@dataclass(frozen=True, eq=False)
class _PinnedPoint:
    """One point of the body, and its targets."""

    joint: int
    offset: FloatArray
    frames: BoolArray
    """Frames in which the point has a target; (F,)."""
    targets: FloatArray
    """Targets [m]; (F, 3). Frames without a target may have any value."""
    moved_by: tuple[int, ...]
    """Numbers of the freedoms that move it."""


@dataclass(frozen=True, eq=False)
class _ConstraintProblem:
    """Equation 5.7 over all frames; a change is (F, n), an angle or metre for each freedom and frame."""

    clip: Clip
    moving: tuple[Freedom, ...]
    pins: tuple[_PinnedPoint, ...]
    near: FloatArray
    """Weight of each freedom's change; (n,)."""
    smooth: FloatArray
    """Weight of each freedom's second differences; (n,)."""
    motion: FloatArray
    """Motion that is smoothed together with the change: the clip's own angles, or zero; (F, n)."""
    held: BoolArray
    """Frames that stay; (F,)."""

    @staticmethod
    def of(clip: Clip, constraints: Sequence[PointConstraint], options: ConstraintOptions) -> _ConstraintProblem:
        frames, skeleton = len(clip), clip.skeleton
        for constraint in constraints:
            if constraint.stop > frames:
                raise VariationError(
                    f"constraint of '{constraint.point}' ends at frame {constraint.stop}, "
                    f"but clip '{clip.name}' has {frames}"
                )
        points = {one.point: find_point(skeleton, one.point) for one in constraints}
        moving = freedoms(clip, [joint for joint, _ in points.values()], root=options.root)
        pins = []
        for name, (joint, offset) in points.items():
            flags, targets = np.zeros(frames, dtype=bool), np.zeros((frames, 3))
            for constraint in constraints:
                if constraint.point == name:
                    flags[constraint.start : constraint.stop] = True
                    targets[constraint.start : constraint.stop] = constraint.positions
            pins.append(_PinnedPoint(joint, offset, flags, targets, _movers(clip, moving, joint)))
        near = options.near * np.array([freedom.near for freedom in moving])
        rate = (clip.fps / THESIS_FPS) ** 4
        smooth = options.smooth * rate * near * np.array([freedom.calm for freedom in moving])
        own = np.zeros((frames, len(moving)))
        if not options.of_change:
            own = np.column_stack([freedom.angles(clip) for freedom in moving])
        held = np.zeros(frames, dtype=bool)
        first, last = options.held
        held[:first] = held[frames - last :] = True
        return _ConstraintProblem(clip, moving, tuple(pins), near, smooth, own, held)

    def applied(self, change: FloatArray) -> Clip:
        """Return the clip with a change."""
        roots, local, _ = self._posed(change)
        return replace(self.clip, root_positions=roots, rotations=local)

    def _posed(self, change: FloatArray) -> tuple[FloatArray, FloatArray, dict[int, FloatArray]]:
        """Return root positions, local rotations, and the rotation vectors (F, 3) that joints were turned by."""
        roots, local = np.array(self.clip.root_positions), np.array(self.clip.rotations)
        turns: dict[int, FloatArray] = {}
        for number, freedom in enumerate(self.moving):
            moved = change[:, number, None] * freedom.axis
            if freedom.joint < 0:
                roots += moved
            else:
                turns[freedom.joint] = turns.get(freedom.joint, np.zeros((len(self.clip), 3))) + moved
        for joint, turn in turns.items():
            local[:, joint] = rotations.multiply(local[:, joint], rotations.from_rotation_vector(turn))
        return roots, rotations.normalize(local), turns

    def cost(self, change: FloatArray) -> float:
        """Return the sum that is to be minimised."""
        roots, local, _ = self._posed(change)
        positions, world = forward_kinematics(self.clip.skeleton, roots, local)
        total = float((self.near * change**2).sum()) + _HELD * float((change[self.held] ** 2).sum())
        total += float((self.smooth * np.diff(change + self.motion, 2, axis=0) ** 2).sum())
        for pin in self.pins:
            total += _SPRING * float((self._gaps(pin, positions, world) ** 2).sum())
        return total

    @staticmethod
    def _gaps(pin: _PinnedPoint, positions: FloatArray, world: FloatArray) -> FloatArray:
        """Return vectors from a point to its targets [m]; (number of frames with a target, 3)."""
        rows = pin.frames
        at = positions[rows, pin.joint] + rotations.rotate(world[rows, pin.joint], pin.offset)
        return np.asarray(pin.targets[rows] - at)

    def step(self, change: FloatArray) -> FloatArray:
        """Return the solution of the quadratic programme about a change; (F, n)."""
        roots, local, turns = self._posed(change)
        positions, world = forward_kinematics(self.clip.skeleton, roots, local)
        frames, count = change.shape
        blocks = np.zeros((frames, count, count))
        pull = -self.near * change - self.smooth * _curbed(change + self.motion)
        diagonal = np.broadcast_to(self.near, change.shape) + _HELD * self.held[:, None]
        pull -= _HELD * self.held[:, None] * change
        for pin in self.pins:
            rows, movers = np.flatnonzero(pin.frames), np.array(pin.moved_by, dtype=np.int64)
            lever = self._levers(pin, rows, movers, turns, positions, world)
            blocks[np.ix_(rows, movers, movers)] += _SPRING * np.einsum("fna,fma->fnm", lever, lever)
            gaps = self._gaps(pin, positions, world)
            pull[np.ix_(rows, movers)] += _SPRING * np.einsum("fna,fa->fn", lever, gaps)
        blocks[:, np.arange(count), np.arange(count)] += diagonal
        return _solved(blocks, self.smooth, pull)

    def _levers(
        self,
        pin: _PinnedPoint,
        rows: IntArray,
        movers: IntArray,
        turns: dict[int, FloatArray],
        positions: FloatArray,
        world: FloatArray,
    ) -> FloatArray:
        """Return how far each freedom moves a point, by radian or metre; (rows, movers, 3)."""
        at = positions[rows, pin.joint] + rotations.rotate(world[rows, pin.joint], pin.offset)
        axes = np.array([self.moving[number].axis for number in movers])
        joints = np.array([self.moving[number].joint for number in movers], dtype=np.int64)
        out = np.broadcast_to(axes, (len(rows), *axes.shape)).copy()
        turning = joints >= 0
        joints, axes = joints[turning], axes[turning]
        turned = np.stack([turns[joint][rows] for joint in joints.tolist()], axis=1)
        once = rotations.cross(turned, axes)
        # derivative of the exponential map, exact enough for turns of some tenths of a radian
        about = axes - once / 2.0 + rotations.cross(turned, once) / 6.0
        spins = rotations.rotate(world[np.ix_(rows, joints)], about)
        out[:, turning] = rotations.cross(spins, at[:, None] - positions[np.ix_(rows, joints)])
        return out


def _movers(clip: Clip, moving: Sequence[Freedom], joint: int) -> tuple[int, ...]:
    """Return the numbers of the freedoms that move a joint."""
    above = [joint]
    while above[-1] > 0:
        above.append(int(clip.skeleton.parents[above[-1]]))
    return tuple(number for number, freedom in enumerate(moving) if freedom.joint < 0 or freedom.joint in above)


def _curbed(values: FloatArray) -> FloatArray:
    """Return half the gradient of the sum of squared second differences of each column; (F, n)."""
    out = np.zeros_like(values)
    bend = np.diff(values, 2, axis=0)
    if len(bend):
        out[:-2] += bend
        out[1:-1] -= 2.0 * bend
        out[2:] += bend
    return out


def _solved(blocks: FloatArray, smooth: FloatArray, pull: FloatArray) -> FloatArray:
    """Solve for a step (F, n): blocks (F, n, n) on the diagonal, second differences across frames with weights (n,)."""
    frames, count = pull.shape
    width = 2 * count
    band = np.zeros((frames, count, width + 1))
    for row in range(count):
        band[:, row, width - row : width + 1] = blocks[:, row, : row + 1]
    bend = np.zeros((3, frames))  # diagonals of the squared second differences
    for first, one in enumerate((1.0, -2.0, 1.0)):
        for second, other in list(enumerate((1.0, -2.0, 1.0)))[first:]:
            if frames > 2:
                bend[second - first, second : frames - 2 + second] += one * other
    for apart in range(3):
        band[:, :, width - apart * count] += bend[apart][:, None] * smooth
    step = pull.ravel()
    solve_band(band.reshape(frames * count, width + 1), step)
    return step.reshape(frames, count)
