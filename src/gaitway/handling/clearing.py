"""Carried things kept clear of the body of whoever carries them: the arm gives way, whatever clip is played.

The shoulder is turned outward, ahead, or both, by as little as keeps the thing clear; the wrist turns back, so that the
thing stays as upright as it was. The turn comes and goes softly around the moments that need it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.limbs import _collision_kernels
from gaitway.limbs.linkage import find_limb, limb_subtree
from gaitway.motion.body import capsule_body
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton
from gaitway.world.shapes import TriangleMesh
from gaitway.world.thing_forms import thing_capsules, thing_edges

_SPARE = 0.012
"""Gap that is wanted between a thing and the body of its carrier [m]."""
_WAYS = ((1.0, 0.0), (0.87, 0.5), (0.5, 0.87), (0.0, 1.0), (0.87, -0.5))
"""Directions in which a shoulder gives way: shares of a turn outward and of one ahead."""
_STEP, _MOST = math.radians(2.0), math.radians(44.0)
"""Steps in which turns are tried, and the greatest [rad]."""
_SOFT, _DEVIATION = 0.45, 0.16
"""Time over which a turn comes and goes before and after it is needed, and the width of its rounding [s]."""


@dataclass(frozen=True, eq=False)
class CarriedForm:
    """A thing in a hand: capsules that fill it, and its edges, in the frame of the wrist joint."""

    starts: FloatArray
    """One end of each axis [m]; (N, 3)."""
    ends: FloatArray
    """The other end [m]; (N, 3)."""
    radii: FloatArray
    """0 for edges [m]; (N,)."""

    @staticmethod
    def of(
        shape: str, size: tuple[float, float, float], at: FloatArray, turn: FloatArray,
        mesh: TriangleMesh | None = None,
    ) -> CarriedForm:  # fmt: skip
        """Return the form of a thing whose pose in the frame of the wrist joint is `at` (3,) [m] and `turn` (4,)."""
        starts, ends, radii = thing_capsules(shape, size, mesh)
        edges = thing_edges(shape, size, mesh)
        low, high = (
            at + rotations.rotate(turn, np.concatenate([some, edges[:, k]])) for k, some in enumerate((starts, ends))
        )
        return CarriedForm(low, high, np.append(radii, np.zeros(len(edges))))


def cleared(
    skeleton: Skeleton, hand: str, roots: FloatArray, local: FloatArray, wanted: FloatArray, form: CarriedForm,
    loose: FloatArray, fps: float,
) -> FloatArray:  # fmt: skip
    """Return local turns of shoulder, elbow and wrist (F, 3, 4) that keep a carried thing clear of the body.

    Args:
        skeleton: the skeleton of the carrier.
        hand: "left" or "right".
        roots: root positions [m]; (F, 3).
        local: local turns of all joints; those of the carrying arm do not matter; (F, J, 4).
        wanted: local turns of the three joints of the arm as it would carry; (F, 3, 4).
        form: the thing.
        loose: 0 in frames whose motion is planned with the thing already, up to 1 in those that may change; (F,).
        fps: frames a second [Hz].
    """
    arm, every = _Arm(skeleton, hand, roots, local, form), np.arange(len(wanted))
    before = arm.gaps(wanted, every)
    bad = np.flatnonzero((before < _SPARE) & (loose > 0.0))
    if not len(bad):
        return wanted
    options = [(way, arm.needs(wanted[bad], bad, way)) for way in _WAYS]
    # the way that needs the least at its worst moment; of equal ones the first
    way, needs = min(options, key=lambda one: (round(float(one[1].max()), 4), round(float(one[1].mean()), 4)))
    amounts, reach = np.zeros(len(wanted)), round(_SOFT * fps)
    amounts[bad] = needs
    # rounding looks no farther than what was widened, so that no moment gets less than it needs
    wide = scipy.ndimage.maximum_filter1d(amounts, 2 * reach + 1, mode="nearest")
    soft = scipy.ndimage.gaussian_filter1d(wide, _DEVIATION * fps, mode="nearest", radius=reach) * loose
    turned = arm.turned(wanted, every, way, soft)
    return turned if arm.gaps(turned, every).min() > before.min() + 1e-4 else wanted


class _Arm:
    """An arm that carries, over the frames of a motion."""

    def __init__(self, skeleton: Skeleton, hand: str, roots: FloatArray, local: FloatArray, form: CarriedForm) -> None:
        limb = find_limb(skeleton, f"{hand}_arm")
        self.skeleton, self.joints, self.form, self.local = skeleton, limb.joints.tolist(), form, local
        positions, world = forward_kinematics(skeleton, roots, local)
        body = capsule_body(skeleton)
        rows = np.flatnonzero(~limb_subtree(limb)[body.joints])
        self.others = np.ascontiguousarray(body.segments(positions, world)[:, rows])
        self.thick = read_only(body.radii[rows])
        first, last = self.joints[0], self.joints[2]
        self.chain = [last]
        """Joints from the shoulder to the wrist."""
        while self.chain[0] != first:
            self.chain.insert(0, int(skeleton.parents[self.chain[0]]))
        self.starts, self.parents = positions[:, first], world[:, skeleton.parents[first]]
        # outward and ahead as the trunk has them: along the shoulders, and at right angles to these
        left, right = (positions[:, skeleton.roles[f"{side}_shoulder"]] for side in ("left", "right"))
        across = (left - right) * np.array([1.0, 1.0, 0.0])
        across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
        ahead = np.stack([across[:, 1], -across[:, 0], np.zeros(len(across))], axis=1)
        sign = 1.0 if hand == "left" else -1.0
        self.axes = np.stack([sign * ahead, -across], axis=1)
        """Turns about these raise a hanging arm outward and ahead; (F, 2, 3)."""

    def turned(self, arms: FloatArray, frames: IntArray, way: tuple[float, float], amounts: FloatArray) -> FloatArray:
        """Return arms (N, 3, 4) of some frames whose shoulders give way by amounts (N,) [rad]; hands turn back."""
        axis = way[0] * self.axes[frames, 0] + way[1] * self.axes[frames, 1]
        turn = rotations.from_rotation_vector(amounts[:, None] * axis)
        parent, out = self.parents[frames], np.array(arms)
        shoulder = rotations.multiply(turn, rotations.multiply(parent, arms[:, 0]))
        out[:, 0] = rotations.multiply(rotations.conjugate(parent), shoulder)
        before, above = self._wrists(arms, frames)[1], self._wrists(out, frames)[2]
        out[:, 2] = rotations.multiply(rotations.conjugate(above), before)
        return rotations.normalize(out)

    def needs(self, arms: FloatArray, frames: IntArray, way: tuple[float, float]) -> FloatArray:
        """Return the least turns with which a thing is clear (N,) [rad]; more than the greatest where none is."""
        out = np.full(len(frames), _MOST + _STEP)
        for amount in np.arange(_STEP, _MOST + 1e-9, _STEP)[::-1].tolist():
            clear = self.gaps(self.turned(arms, frames, way, np.full(len(frames), amount)), frames) >= _SPARE
            out[clear] = amount
        return out

    def gaps(self, arms: FloatArray, frames: IntArray) -> FloatArray:
        """Return the least gaps of the thing to the rest of the body, with arms (N, 3, 4) in some frames [m]; (N,)."""
        at, turn, _ = self._wrists(arms, frames)
        both = [at[:, None] + rotations.rotate(turn[:, None], end[None]) for end in (self.form.starts, self.form.ends)]
        axes, out = np.ascontiguousarray(np.stack(both, axis=2)), np.empty(len(frames))
        _collision_kernels.frame_gaps(
            read_only(axes), read_only(self.form.radii), read_only(self.others[frames]), self.thick, out
        )
        return out

    def _wrists(self, arms: FloatArray, frames: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return places (N, 3) and turns (N, 4) of the wrist, and turns of the joint that it hangs on (N, 4)."""
        at, above = self.starts[frames], self.parents[frames]
        turn = rotations.multiply(above, arms[:, 0])
        for joint in self.chain[1:]:
            above = turn
            at = at + rotations.rotate(above, self.skeleton.offsets[joint])
            own = arms[:, self.joints.index(joint)] if joint in self.joints else self.local[frames, joint]
            turn = rotations.multiply(above, own)
        return at, turn, above
