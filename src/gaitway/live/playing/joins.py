"""Joins of live characters whose clips differ above the pelvis: an offset that decays after each join.

A state of a library is a family of poses. Where the legs of two clips agree at a join, what trunk, arms and head differ
by is added to the later clip and dies away within `JOIN`. The offset follows from what a character plays and played
before, so nothing is kept for it, and the frames of clips are held once, not once for each pair of clips. Where legs
differ too, blended frames are prepared for the pair (`bodies.frame_pool`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.live.playing._crowd_kernels import CrowdArrays
from gaitway.live.playing._join_kernels import NONE, UNKNOWN, count_channels, find_joins, write_channels
from gaitway.live.playing._playing_kernels import EARLIER, FIRST, LiveArrays
from gaitway.live.playing.arrays import LiveLibrary, library_of
from gaitway.live.playing.bodies import JOIN, SAME, Share, alone
from gaitway.live.playing.gaze import LiveLayers, Single
from gaitway.motion.anatomy import upper_joints

_NO_CHANNELS, _NO_SAMPLES = read_only(np.empty((0, 4))), read_only(np.empty((0, 4, 1), np.float32))


class _Ends(NamedTuple):
    """Upper bodies at the ends of the clips of a library."""

    joints: IntArray
    """Joints of the upper body; (U,)."""
    firsts: FloatArray
    """Their rotations in the first frame of each action's clip, wxyz; (A, U, 4)."""
    lasts: FloatArray
    """The same of the last frame; (A, U, 4)."""


class LiveJoins:
    """Offsets that lead the upper bodies of a crowd on from one clip to the next. This class is **mutable**.

    What two clips differ by is worked out when somebody first plays one after the other, and kept.
    """

    def __init__(self, libraries: Sequence[LiveLibrary]) -> None:
        """Prepare the libraries of a crowd."""
        self._libraries = tuple(libraries)
        self._ends = tuple(_ends(library) for library in libraries)
        nobody: IntArray = np.array([[-1, NONE]])
        self._pairs = [nobody for _ in libraries]  # a number for each pair of clips, ascending, and the row of its join
        width = max((len(ends.joints) for ends in self._ends), default=0)
        self._joints: IntArray = np.empty((0, width), np.int64)
        self._turns: FloatArray = np.empty((0, width, 4))
        self._room: tuple[FloatArray, Single] = np.empty((0, 4)), np.empty((0, 4, 1), np.float32)
        self.bases = np.arange(libraries[-1].end_action)

    @property
    def bases(self) -> IntArray:
        """For each action the one of a library that it was made from: itself, but for steps on flights; (A,)."""
        return self._bases

    @bases.setter
    def bases(self, bases: IntArray) -> None:
        self._bases = bases
        firsts = np.array([library.first_action for library in self._libraries])
        self._own: IntArray = read_only(bases - firsts[library_of(self._libraries, bases)])

    def layers(
        self, crowd: CrowdArrays, live: LiveArrays, now: float, others: LiveLayers | None, share: Share = alone
    ) -> LiveLayers | None:
        """Return the turns of all joints now, which hold until this is called again.

        Args:
            crowd: the characters.
            live: what they play.
            now: time [s].
            others: turns of other kinds, which stay; None for none.
            share: divides the work among threads.
        """
        counts = crowd.counts
        pairs, shares = np.full(len(counts), NONE), np.zeros(len(counts))
        for library, known in zip(self._libraries, self._pairs, strict=True):
            first, end = library.first_action, library.end_action
            missing = find_joins(
                counts, crowd.actions, live.table, live.rows, self._own, first, end, known, now, JOIN, pairs, shares
            )
            if missing:
                who = np.flatnonzero(pairs == UNKNOWN)
                before, after = counts[who, EARLIER], crowd.actions[who, counts[who, FIRST]]
                pairs[who] = self._known(library.number, self._own[before], self._own[after])
        if pairs.max(initial=NONE) == NONE:
            return others
        gaze, looks = (_NO_CHANNELS, _NO_SAMPLES) if others is None else (others.channels, others.samples)
        rows, turned = np.empty(len(counts) + 1, np.int64), (read_only(self._joints), read_only(self._turns))
        count_channels(gaze, pairs, turned[0], rows)
        if rows[-1] > len(self._room[0]):  # new memory in every frame would cost more than what is written there
            self._room = np.empty((2 * rows[-1], 4)), np.empty((2 * rows[-1], 4, 1), np.float32)
        channels, samples = self._room[0][: rows[-1]], self._room[1][: rows[-1]]

        def part(low: int, high: int) -> None:
            write_channels(gaze, looks, pairs, shares, *turned, now, rows, channels, samples, low, high)

        share(len(counts), part)
        return LiveLayers(read_only(rows), read_only(channels), read_only(samples))

    def _known(self, number: int, before: IntArray, after: IntArray) -> IntArray:
        """Return the rows of the turns from the ends of actions of a library to the begins of others, or -1; (N,)."""
        ends = self._ends[number]
        pairs = before * len(ends.firsts) + after
        known = self._pairs[number]
        rows = np.searchsorted(known[:, 0], pairs, side="right") - 1
        if (missing := known[rows, 0] != pairs).any():
            fresh = np.unique(pairs[missing])
            one, other = np.divmod(fresh, len(ends.firsts))
            apart = rotations.multiply(rotations.conjugate(ends.firsts[other]), ends.lasts[one])
            vectors = rotations.to_rotation_vector(apart)
            angles = np.linalg.norm(vectors, axis=-1)
            far = angles.max(axis=1, initial=0.0) > SAME
            new = np.column_stack([fresh, np.where(far, len(self._turns) + np.cumsum(far) - 1, NONE)])
            known = np.concatenate([known, new])
            known = self._pairs[number] = known[np.argsort(known[:, 0])]
            rows = np.searchsorted(known[:, 0], pairs)
            width, count = len(ends.joints), int(far.sum())
            joints, turns = np.full((count, self._joints.shape[1]), -1), np.zeros((count, *self._turns.shape[1:]))
            joints[:, :width] = np.where(angles[far] > SAME, ends.joints, -1)
            turns[:, :width, :3] = vectors[far] / np.maximum(angles[far], 1e-12)[..., None]
            turns[:, :width, 3] = 0.5 * angles[far]
            self._joints, self._turns = np.concatenate([self._joints, joints]), np.concatenate([self._turns, turns])
        return np.asarray(known[rows, 1])


def _ends(library: LiveLibrary) -> _Ends:
    own = library.prepared.library
    joints = np.flatnonzero(upper_joints(own.skeleton))
    clips = [own.clips[name] for name in library.prepared.table.clips]
    firsts, lasts = (np.array([clip.rotations[frame][joints] for clip in clips]) for frame in (0, -1))
    return _Ends(read_only(joints), read_only(firsts), read_only(lasts))
