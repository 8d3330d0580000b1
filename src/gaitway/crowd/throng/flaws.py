"""Flaws of motion in a throng that is planned: joints beyond their limits, limbs that jerk, and feet that are dragged.

Bodies that hold one another back are led from pose to pose by many small rules, and now and then the poses that come
out of them are none that people have. A plan can go back and try once more, see `gaitway.crowd.throng.locks`.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.limits import joint_limits, violations
from gaitway.motion.quality import greatest_slide, joint_velocity_changes
from gaitway.motion.skeleton import Skeleton

_BEYOND = 1.8
"""How far joints may be beyond their limits [degrees]."""
_SUDDEN = np.radians(55.0 * 30.0)
"""Greatest change of the speed at which a joint turns, from frame to frame [rad/s]."""
_DRAGGED = 0.045
"""How far a foot that is low and slow may be dragged over the ground [m]."""
_FEET = ("heel", "ball", "toe")
_LEGS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "ankle", "toe"))
"""Joints that are looked at: what others and walls do to somebody, legs have to bear."""


class FlawFinder:
    """Looks at bodies of one skeleton."""

    def __init__(self, skeleton: Skeleton, fps: float) -> None:
        """Look at bodies of a skeleton, at a rate [Hz]."""
        self._skeleton, self._fps = skeleton, fps
        whole = joint_limits(skeleton)
        legs = [skeleton.roles[role] for role in _LEGS if role in skeleton.roles]
        self._limits = whole.only([joint for joint in legs if joint in whole.joints])

    def flawed(self, roots: FloatArray, turns: FloatArray, fresh: int, held: BoolArray) -> BoolArray:
        """Return whose motion has a flaw (N,).

        Args:
            roots: root positions in successive frames [m]; (F, N, 3).
            turns: local rotations; (F, N, J, 4).
            fresh: number of frames at the end that were not looked at before; in all of them feet are looked at.
            held: who was held back by others, whose feet may be dragged; (N,).
        """
        frames, count = min(len(roots), fresh + 2), roots.shape[1]
        if frames < 3 or not count:
            return np.zeros(count, np.bool_)
        # one clip of all, person after person; where one person ends and the next begins nothing is looked at
        clip = Clip(
            skeleton=self._skeleton,
            fps=self._fps,
            root_positions=np.ascontiguousarray(roots[-frames:].swapaxes(0, 1).reshape(-1, 3)),
            rotations=np.ascontiguousarray(turns[-frames:].swapaxes(0, 1).reshape(frames * count, -1, 4)),
        )
        strained = (violations(clip, self._limits) > _BEYOND).any(axis=1).reshape(count, frames).any(axis=1)
        changes = np.zeros((frames * count, len(self._skeleton)))
        changes[1:-1] = joint_velocity_changes(clip, in_joint_frame=True)
        sudden = (changes.reshape(count, frames, -1)[:, 1:-1] > _SUDDEN).any(axis=(1, 2))
        out = np.asarray(strained | sudden)
        for row in np.flatnonzero(held & ~out).tolist():
            out[row] = self._drags(roots[:, row], turns[:, row])
        return out

    def _drags(self, roots: FloatArray, turns: FloatArray) -> bool:
        """Return whether somebody drags a foot over the ground, given roots (F, 3) and local rotations (F, J, 4)."""
        clip = Clip(skeleton=self._skeleton, fps=self._fps, root_positions=roots, rotations=turns)
        found = detect_contacts(clip, rest=np.zeros(len(self._skeleton.contact_points)))
        return greatest_slide(found, _FEET) > _DRAGGED
