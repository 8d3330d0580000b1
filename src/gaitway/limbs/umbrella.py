"""A walker with an umbrella between two posts: the example of Shapiro et al. 2007 (figures 1 and 4), on any walk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.errors import LimbError
from gaitway.limbs import _joint_kernels
from gaitway.limbs.linkage import Limb, fit_limb
from gaitway.limbs.planner import LimbPlan, LimbPlanOptions, LimbWindow
from gaitway.limbs.reaching import solve_limb
from gaitway.limbs.surroundings import Carried
from gaitway.motion.anatomy import leg_length
from gaitway.motion.clip import Clip
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Cylinder
from gaitway.world.world import World

_LEG = 0.85
"""Length of the leg that the lengths below belong to [m]."""
_HAND = (0.30, -0.02, -0.20)
"""Place of the hand that carries, as seen from its shoulder along the heading: ahead, to its own side, up [m]."""
_SHAFT, _CANOPY, _DROP, _RIBS, _THICK = 0.62, 0.45, 0.12, 8, 0.012
"""Length of the shaft above the hand, radius of the canopy, how far its rim is below its middle [m]; ribs; radius."""
GAP, POST = 0.84, 0.06
"""Distance between the posts' surfaces, and radius of a post [m]: narrower than the canopy."""
PAD = 0.45
"""Time before and after the collision in which the arm may leave its motion [s]."""


@dataclass(frozen=True, eq=False)
class UmbrellaProblem:
    """A walk with an umbrella that hits posts, ready to be planned."""

    clip: Clip
    limb: Limb
    carried: Carried
    world: World
    window: LimbWindow
    bad: tuple[float, float]
    """Span in which the umbrella touches a post or is nearer than the margin [s]."""

    def plan(self, seed: int, options: LimbPlanOptions | None = None) -> LimbPlan | None:
        """Return a plan for the arm that carries, or None."""
        begin, end = self.bad[0] - PAD, self.bad[1] + PAD
        return self.window.plan(begin, end, bad=self.bad, options=options or LimbPlanOptions(margin=0.01), seed=seed)


def umbrella_problem(walk: Clip, *, side: str = "right", gap: float = GAP) -> UmbrellaProblem:
    """Give a walker an umbrella and put two posts beside the middle of the way.

    Args:
        walk: a walk of three seconds or more along about a straight line, in the world.
        side: the hand that carries.
        gap: distance between the posts [m].

    Raises:
        LimbError: if the walk is too short, or the umbrella hits nothing.
    """
    if walk.duration < 3.0:
        raise LimbError(f"walk '{walk.name}' lasts {walk.duration:.1f} s; the umbrella needs 3 s or more")
    limb = fit_limb(walk.skeleton, f"{side}_arm", [walk])
    clip, carried = carrying(walk, limb)
    middle = len(clip) // 2
    path = clip.planar_path()
    x, y = path[middle, :2]
    ahead = path[min(middle + 15, len(path) - 1), :2] - path[max(middle - 15, 0), :2]
    across = np.array([-ahead[1], ahead[0]]) / np.linalg.norm(ahead)
    half = 0.5 * gap + POST
    posts = tuple(
        Obstacle(Cylinder((float(x + s * half * across[0]), float(y + s * half * across[1])), POST, 2.4), name=name)
        for s, name in ((1.0, "left post"), (-1.0, "right post"))
    )
    low, high = path[:, :2].min(axis=0) - 5.0, path[:, :2].max(axis=0) + 5.0
    world = World((float(low[0]), float(low[1]), float(high[0]), float(high[1])), posts)
    window = LimbWindow(limb, clip, 0.0, world, carried=carried)
    near = np.flatnonzero(window.gaps(bar=0.01) < 0.01)
    if len(near) == 0:
        raise LimbError(f"the umbrella of walk '{walk.name}' does not touch posts {gap:.2f} m apart")
    bad = (float(near[0]) / clip.fps, float(near[-1] + 1) / clip.fps)
    if bad[0] < PAD + 0.1 or bad[1] > clip.duration - PAD - 0.1:
        raise LimbError(f"walk '{walk.name}' is too short before or after the posts")
    return UmbrellaProblem(clip, limb, carried, world, window, bad)


def carrying(walk: Clip, limb: Limb) -> tuple[Clip, Carried]:
    """Return the walk with an arm that holds an umbrella upright before its shoulder, and the umbrella."""
    size = leg_length(walk.skeleton) / _LEG
    positions, world = walk.joint_transforms()
    starts, bases = limb.hanging(positions, world)
    heading = walk.headings()
    ahead = np.column_stack([np.cos(heading), np.sin(heading), np.zeros(len(walk))])
    out = np.column_stack([-ahead[:, 1], ahead[:, 0], np.zeros(len(walk))])
    out *= 1.0 if limb.name.startswith("left") else -1.0
    reach = size * (_HAND[0] * ahead + _HAND[1] * out + np.array([0.0, 0.0, _HAND[2]]))
    # the hand keeps one turn against the heading: along the forearm of the first frame
    fore = _level_hand(limb, starts[0], bases[0], starts[0] + reach[0])
    ends = rotations.multiply(rotations.from_yaw(heading - heading[0]), fore)
    posture, reached = solve_limb(limb, starts, bases, starts + reach, ends, 0.3)
    if not reached.all():
        raise LimbError(f"{limb.name} of '{walk.name}' is too short to carry an umbrella")
    held = np.array(limb.postures(walk))
    held[:, :7] = posture[:, :7]
    held[:, 7:] = 0.0
    return limb.applied(walk, held), _umbrella(fore, size)


def _level_hand(limb: Limb, start: FloatArray, base: FloatArray, target: FloatArray) -> FloatArray:
    """Return the world rotation of the wrist joint with which the hand goes on straight from the forearm; (4,)."""
    any_turn = rotations.multiply(rotations.from_matrix(base), rotations.conjugate(limb.turns[3]))
    posture, _ = solve_limb(limb, start[None], base[None], target[None], any_turn[None], 0.3)
    posture[0, 4:] = 0.0
    frames = np.empty((1, 3, 3, 3))
    points = np.empty((1, 3, 3))
    _joint_kernels.frames_of(
        read_only(base[None]), read_only(start[None]), limb.lengths, read_only(posture), frames, points
    )
    return rotations.multiply(rotations.from_matrix(frames[0, 2]), rotations.conjugate(limb.turns[3]))


def _umbrella(hand: FloatArray, size: float) -> Carried:
    """Return the capsules of an umbrella that is upright where the wrist has a world rotation: shaft, ribs and rim."""
    turn = 2.0 * np.pi * np.arange(_RIBS) / _RIBS
    top = np.array([0.0, 0.0, _SHAFT])
    rim = np.column_stack([_CANOPY * np.cos(turn), _CANOPY * np.sin(turn), np.full(_RIBS, _SHAFT - _DROP)])
    starts = np.concatenate([[[0.0, 0.0, -0.1]], np.tile(top, (_RIBS, 1)), rim])
    ends = np.concatenate([[top], rim, np.roll(rim, -1, axis=0)])
    back = rotations.conjugate(hand)
    radii = np.full(len(starts), _THICK * size)
    return Carried(rotations.rotate(back, size * starts), rotations.rotate(back, size * ends), radii)
