"""Bodies of all people of a throng in all frames, as capsules; who is moved a little is posed anew, and nobody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.crowd import _capsule_kernels as kernels
from gaitway.crowd.locomotion.posing import BodyPoses, posed
from gaitway.crowd.locomotion.space import LocomotionSpace
from gaitway.crowd.locomotion.walking import Walk, eased
from gaitway.motion.body import CapsuleBody, capsule_body
from gaitway.motion.clip import Clip

LOWER_LEG = ("knee", "foot", "toes")
"""Names of the capsules of a lower leg, after the side."""


class ThrongBodies:
    """Walks of all people, and their capsules. This class is **mutable**: `move` changes where people walk.

    Attributes:
        walks: the walk of each person, before it was moved.
        parts: rows of each person.
        radii: radii of the capsules of each kind of body, 0 for those that it does not have [m]; (B, C).
        lower_legs: capsules of both lower legs of each kind of body, -1 for none; (B, 2, L).
        segments: axes of capsules [m]; (R, C, 2, 3).
        roots: where roots are [m]; (R, 2).
        extents: how far bodies reach from their roots [m]; (R,).
        bodies: kind of body; (R,).
        lasts: whether a row is the last of a person; (R,).
        rows: rows in the order of frames; (R,).
        frames: first entry of each frame in `rows`, and their number; (F + 1,).
        shifts: how far the path of each person is moved [m]; (R, 2).
        moves: moves of the footprints of the left and of the right foot of each person, see `Walk.moved`; (P, 4) each.
        fresh: whether a row was posed since this was last set to False; (R,).
        stepped: the same, for those who look at feet alone; (R,).
    """

    def __init__(self, walks: Sequence[Walk], firsts: IntArray) -> None:
        """Pose everybody.

        Args:
            walks: all at one rate.
            firsts: first frame of each on the common clock; (C,).
        """
        self.walks = list(walks)
        self.fps = walks[0].fps
        ends = np.cumsum([0, *(len(walk.steps) for walk in walks)]).tolist()
        self.parts = [slice(start, stop) for start, stop in pairwise(ends)]
        self._spaces: list[LocomotionSpace] = list({id(walk.space): walk.space for walk in walks}.values())
        kinds = [capsule_body(space.rig.skeleton) for space in self._spaces]
        numbers = {id(space): number for number, space in enumerate(self._spaces)}
        most, joints, total = max(len(body) for body in kinds), max(len(s.rig.skeleton) for s in self._spaces), ends[-1]
        self.radii: FloatArray = np.zeros((len(kinds), most))
        for number, body in enumerate(kinds):
            self.radii[number, : len(body)] = body.radii
        self.lower_legs: IntArray = np.array([limb_capsules(body, LOWER_LEG) for body in kinds])
        self._kinds = kinds
        lengths = np.diff(ends)
        self.bodies: IntArray = np.repeat([numbers[id(walk.space)] for walk in walks], lengths).astype(np.int64)
        self._styles: IntArray = np.repeat([walk.style for walk in walks], lengths).astype(np.int64)
        self._steps: FloatArray = np.concatenate([walk.steps for walk in walks])
        self._corners: IntArray = np.concatenate([walk.corners for walk in walks])
        self._needs, self._drops = np.zeros(total), np.zeros(total)
        self._roots: FloatArray = np.zeros((total, 3))
        self._rotations: SingleArray = np.zeros((total, joints, 4), dtype=np.float32)
        self._down: BoolArray = np.zeros((total, 6), dtype=np.bool_)
        self.segments: SingleArray = np.zeros((total, most, 2, 3), dtype=np.float32)
        self.roots: FloatArray = np.empty((total, 2))
        self.extents: FloatArray = np.empty(total)
        self.shifts: FloatArray = np.zeros((total, 2))
        self.moves = [tuple(np.zeros((int(walk.footprints[-1, k]) + 2, 4)) for k in range(2)) for walk in walks]
        self.lasts: BoolArray = np.zeros(total, dtype=np.bool_)
        self.lasts[[part.stop - 1 for part in self.parts]] = True
        clock = np.concatenate([np.arange(len(walk.steps)) + first for walk, first in zip(walks, firsts, strict=True)])
        self.rows: IntArray = np.argsort(clock, kind="stable").astype(np.int64)
        cuts = np.flatnonzero(np.diff(clock[self.rows])) + 1
        self.frames: IntArray = np.concatenate([[0], cuts, [total]]).astype(np.int64)
        self.fresh: BoolArray = np.ones(total, dtype=np.bool_)
        self.stepped: BoolArray = np.ones(total, dtype=np.bool_)
        self._pose(range(len(walks)), np.ones(total, dtype=np.bool_))

    def move(self, people: Sequence[int]) -> None:
        """Pose people anew whose `shifts` or `moves` have changed; only the frames that differ."""
        different = np.zeros(len(self._steps), dtype=np.bool_)
        for number in people:
            rows, (left, right) = self.parts[number], self.moves[number]
            steps = self.walks[number].moved(self.shifts[rows], (left, right))
            different[rows] = ~(np.abs(steps - self._steps[rows]) <= 1e-7).all(axis=1)
            self._steps[rows] = np.where(different[rows, None], steps, self._steps[rows])
        self._pose(people, different)

    def walk_anew(self, walks: Mapping[int, Walk]) -> None:
        """Let people, by number, walk otherwise, for as many frames as before; what they were moved is forgotten."""
        for number, walk in walks.items():
            rows = self.parts[number]
            self.walks[number] = walk
            self.shifts[rows] = 0.0
            self.moves[number] = tuple(np.zeros((int(walk.footprints[-1, k]) + 2, 4)) for k in range(2))
            self._corners[rows] = walk.corners
            self._steps[rows] = np.nan
        self.move(list(walks))

    def clips(self) -> list[Clip]:
        """Return the motion of each person."""
        out = []
        for walk, rows in zip(self.walks, self.parts, strict=True):
            turns = self._rotations[rows, : len(walk.space.rig.skeleton)]
            poses = BodyPoses(
                roots=self._roots[rows], rotations=turns, down=self._down[rows], needs=self._needs[rows]
            )  # fmt: skip
            out.append(walk.clip_of(poses))
        return out

    def radii_of(self, capsules: IntArray) -> FloatArray:
        """Return the radii of some capsules of each kind of body (B, L), and 0 for all others; (B, C)."""
        out = np.zeros_like(self.radii)
        for body, some in enumerate(capsules):
            own = some[some >= 0]
            out[body, own] = self.radii[body, own]
        return out

    def _pose(self, people: Sequence[int], different: BoolArray) -> None:
        """Pose rows anew, and rows beside them whose pelvis is lowered otherwise because of them."""
        self._needs[different] = self._posed(different, np.zeros(len(different)))
        for number in people:
            rows = self.parts[number]
            drops = eased(self._needs[rows], self.fps)
            changed = np.abs(drops - self._drops[rows]) > 1e-7
            self._drops[rows] = np.where(changed, drops, self._drops[rows])
            different[rows] |= changed
        self._posed(different, self._drops)
        for number, (space, body) in enumerate(zip(self._spaces, self._kinds, strict=True)):
            skeleton = space.rig.skeleton
            kernels.capsule_axes(
                np.flatnonzero(different & (self.bodies == number)), self._roots, self._rotations, skeleton.parents,
                skeleton.offsets, body.joints, body.starts, body.ends, body.radii, self.segments, self.roots,
                self.extents,
            )  # fmt: skip
        self.fresh |= different
        self.stepped |= different

    def _posed(self, different: BoolArray, drops: FloatArray) -> FloatArray:
        """Pose rows with lowered pelves; returns how much lower these would have to be [m]; (D,)."""
        needs = np.zeros(len(different))
        for number, space in enumerate(self._spaces):
            rows = np.flatnonzero(different & (self.bodies == number))
            poses = posed(
                space, self._styles[rows], self._steps[rows], self._corners[rows], drops[rows],
                threads=numba.get_num_threads(),
            )  # fmt: skip
            needs[rows] = poses.needs
            self._roots[rows], self._down[rows] = poses.roots, poses.down
            self._rotations[rows, : len(space.rig.skeleton)] = poses.rotations
        return np.asarray(needs[different])


def limb_capsules(body: CapsuleBody, parts: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the capsules of both limbs, -1 for those that a body does not have.

    Args:
        body: a body.
        parts: names of the capsules of a limb, after the side.
    """
    names = [[f"{side}_{part}" for part in parts] for side in ("left", "right")]
    return [[body.names.index(name) if name in body.names else -1 for name in limb] for limb in names]
