"""Feet and hands at given places (Lau 2009, section 5.5), all frames of a clip at once.

Equation 5.7 asks of every limb and frame: the point is where it shall be, and angles stay near those that were
predicted and near the straight continuation of the two frames before. The thesis solves it frame after frame. Here the
same three terms are summed over the clip and solved together, so that a limb begins to move before its place counts and
goes on after it, with no jump at either end. Both legs and the root are one problem, since a straight leg reaches
its place only if the root comes along.

It is sequential quadratic programming: in each round places are linearised and the quadratic programme that is left is
solved exactly. Angles of a frame meet those of two frames on either side and no others, so its matrix is banded and a
round takes time in proportion to the frames. Places are held by a stiff spring rather than by multipliers: heel, ball
and toe of one foot say more than a rigid foot can do, and what is out of reach is then approached instead of refused.
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
from gaitway.variation.sampling._band_kernels import solve_band
from gaitway.variation.sampling.limbs import Freedom, freedoms
from gaitway.variation.sampling.places import Place, contact_places, find_point

THESIS_FPS = 60.0
"""Rate of the thesis's motion, which its weights are for [Hz]."""
_SPRING = 1e6
"""Cost of a metre squared between a point and its place, where a radian squared away from the clip costs 1."""
_HELD = 1e12
"""Cost of any change in frames that are held."""
_CLOSE = 1e-5
"""Rounds end when nothing changes by more than this [rad, m]."""
_LONGEST_STEP = 0.5
"""A round turns no joint by more than this [rad]; farther the linear places mean nothing."""


@dataclass(frozen=True)
class ConstraintOptions:
    """Weights of equation 5.7, and what may move."""

    near: float = 1.0
    """Weight w1 of staying near the given angles."""
    smooth: float = 500.0
    """Weight w2 of second differences at 60 Hz; other rates are converted. The thesis has 5, which spreads a change
    over some 0.05 s: more is calmer, and reaches farther into frames without a place."""
    of_change: bool = True
    """Second differences of what is changed, so that nothing of the motion's own detail is smoothed away; those of the
    motion itself, as in the thesis, if false."""
    root: bool = True
    """Whether the root may move too; in the thesis it may not."""
    held: tuple[int, int] = (0, 0)
    """How many of the first and of the last frames stay as they are."""
    rounds: int = 30
    """Most quadratic programmes to solve."""

    def __post_init__(self) -> None:
        if not (self.near > 0.0 and self.smooth >= 0.0 and self.rounds >= 1 and min(self.held) >= 0):
            raise VariationError(f"constraint options {self}; near, smooth and rounds must be above 0, held 0 or more")


THESIS_OPTIONS = ConstraintOptions(smooth=5.0, of_change=False, root=False)
"""The weights of the thesis, a root that stays, and all frames at once."""


def constrained(
    clip: Clip,
    places: Sequence[Place] | None = None,
    options: ConstraintOptions = ConstraintOptions(),  # noqa: B008  (frozen)
) -> Clip:
    """The clip with points of its body at given places and everything else as near to what it was as that allows.

    Args:
        clip: motion; the angles that equation 5.7 stays near, such as a sample of a network.
        places: where points shall be; None takes the clip's own contacts (`contact_places`).
        options: weights, and what may move.

    Raises:
        VariationError: if a place has no such point or frames, or the clip has no contacts to take places from.
    """
    wanted = contact_places(clip) if places is None else list(places)
    if not wanted:
        return clip
    problem = _Problem.of(clip, wanted, options)
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


def misses(clip: Clip, places: Sequence[Place]) -> FloatArray:
    """How far each point is from its place, farthest frame of each [m]; (number of places,)."""
    positions, world = clip.joint_transforms()
    out = []
    for place in places:
        joint, offset = find_point(clip.skeleton, place.point)
        part = slice(place.start, place.stop)
        at = positions[part, joint] + rotations.rotate(world[part, joint], offset)
        out.append(float(np.linalg.norm(at - place.positions, axis=-1).max()))
    return np.array(out)


@dataclass(frozen=True, eq=False)
class _Pin:
    """One point of the body and where it shall be in which frames."""

    joint: int
    offset: FloatArray
    frames: BoolArray
    """(F,)."""
    targets: FloatArray
    """Anything where no frame counts [m]; (F, 3)."""
    moved_by: tuple[int, ...]
    """Numbers of the freedoms that move it."""


@dataclass(frozen=True, eq=False)
class _Problem:
    """Equation 5.7 over all frames; a change is (F, n), an angle or metre for each freedom and frame."""

    clip: Clip
    moving: tuple[Freedom, ...]
    pins: tuple[_Pin, ...]
    near: FloatArray
    """Weight of each freedom's change; (n,)."""
    smooth: FloatArray
    """Weight of each freedom's second differences; (n,)."""
    motion: FloatArray
    """What is smoothed besides the change (F, n): the clip's own angles, or nothing."""
    held: BoolArray
    """Frames that stay; (F,)."""

    @staticmethod
    def of(clip: Clip, places: Sequence[Place], options: ConstraintOptions) -> _Problem:
        frames, skeleton = len(clip), clip.skeleton
        for place in places:
            if place.stop > frames:
                raise VariationError(
                    f"place of '{place.point}' ends at frame {place.stop}, but clip '{clip.name}' has {frames}"
                )
        points = {place.point: find_point(skeleton, place.point) for place in places}
        moving = freedoms(clip, [joint for joint, _ in points.values()], root=options.root)
        pins = []
        for name, (joint, offset) in points.items():
            flags, targets = np.zeros(frames, dtype=bool), np.zeros((frames, 3))
            for place in places:
                if place.point == name:
                    flags[place.start : place.stop] = True
                    targets[place.start : place.stop] = place.positions
            pins.append(_Pin(joint, offset, flags, targets, _movers(clip, moving, joint)))
        near = options.near * np.array([freedom.near for freedom in moving])
        rate = (clip.fps / THESIS_FPS) ** 4
        smooth = options.smooth * rate * near * np.array([freedom.calm for freedom in moving])
        own = np.zeros((frames, len(moving)))
        if not options.of_change:
            own = np.column_stack([freedom.angles(clip) for freedom in moving])
        held = np.zeros(frames, dtype=bool)
        first, last = options.held
        held[:first] = held[frames - last :] = True
        return _Problem(clip, moving, tuple(pins), near, smooth, own, held)

    def applied(self, change: FloatArray) -> Clip:
        """The clip with a change."""
        roots, local, _ = self._posed(change)
        return replace(self.clip, root_positions=roots, rotations=local)

    def _posed(self, change: FloatArray) -> tuple[FloatArray, FloatArray, dict[int, FloatArray]]:
        """Root positions, local rotations, and the rotation vectors (F, 3) that joints were turned by."""
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
        """The sum that is to be least."""
        roots, local, _ = self._posed(change)
        positions, world = forward_kinematics(self.clip.skeleton, roots, local)
        total = float((self.near * change**2).sum()) + _HELD * float((change[self.held] ** 2).sum())
        total += float((self.smooth * np.diff(change + self.motion, 2, axis=0) ** 2).sum())
        for pin in self.pins:
            total += _SPRING * float((self._gaps(pin, positions, world) ** 2).sum())
        return total

    @staticmethod
    def _gaps(pin: _Pin, positions: FloatArray, world: FloatArray) -> FloatArray:
        """From each point to its place [m]; (number of frames that count, 3)."""
        rows = pin.frames
        at = positions[rows, pin.joint] + rotations.rotate(world[rows, pin.joint], pin.offset)
        return np.asarray(pin.targets[rows] - at)

    def step(self, change: FloatArray) -> FloatArray:
        """What solves the quadratic programme about a change; (F, n)."""
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
        pin: _Pin,
        rows: IntArray,
        movers: IntArray,
        turns: dict[int, FloatArray],
        positions: FloatArray,
        world: FloatArray,
    ) -> FloatArray:
        """How each freedom moves a point, by radian or metre; (rows, movers, 3)."""
        at = positions[rows, pin.joint] + rotations.rotate(world[rows, pin.joint], pin.offset)
        axes = np.array([self.moving[number].axis for number in movers])
        joints = np.array([self.moving[number].joint for number in movers], dtype=np.int64)
        out = np.broadcast_to(axes, (len(rows), *axes.shape)).copy()
        turning = joints >= 0
        joints, axes = joints[turning], axes[turning]
        turned = np.stack([turns[joint][rows] for joint in joints.tolist()], axis=1)
        once = rotations.cross(turned, axes)
        # derivative of the exponential map, as far as turns of some tenths of a radian need it
        about = axes - once / 2.0 + rotations.cross(turned, once) / 6.0
        spins = rotations.rotate(world[np.ix_(rows, joints)], about)
        out[:, turning] = rotations.cross(spins, at[:, None] - positions[np.ix_(rows, joints)])
        return out


def _movers(clip: Clip, moving: Sequence[Freedom], joint: int) -> tuple[int, ...]:
    """Numbers of the freedoms that move what hangs on a joint."""
    above = [joint]
    while above[-1] > 0:
        above.append(int(clip.skeleton.parents[above[-1]]))
    return tuple(number for number, freedom in enumerate(moving) if freedom.joint < 0 or freedom.joint in above)


def _curbed(values: FloatArray) -> FloatArray:
    """Half the gradient of the sum of squared second differences of each column; (F, n)."""
    out = np.zeros_like(values)
    bend = np.diff(values, 2, axis=0)
    if len(bend):
        out[:-2] += bend
        out[1:-1] -= 2.0 * bend
        out[2:] += bend
    return out


def _solved(blocks: FloatArray, smooth: FloatArray, pull: FloatArray) -> FloatArray:
    """Solve for a step (F, n): blocks (F, n, n) on the diagonal, second differences weighed by (n,) across frames."""
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
