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
from gaitway.live.playing._join_kernels import count_channels, write_channels
from gaitway.live.playing._playing_kernels import EARLIER, EMPTY, FIRST, STATUS, LiveArrays
from gaitway.live.playing.arrays import LiveLibrary, library_of
from gaitway.live.playing.bodies import JOIN, SAME
from gaitway.live.playing.gaze import LiveLayers, Single
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.blending import ease
from gaitway.take._kernels import START

_NONE = -1
"""Instead of the row of a join: bodies do not differ."""
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

    Attributes:
        bases: for each action the one of a library that it was made from: itself, but for steps on flights; (A,).
    """

    def __init__(self, libraries: Sequence[LiveLibrary]) -> None:
        """Prepare the libraries of a crowd."""
        self._libraries = tuple(libraries)
        self._ends = tuple(_ends(library) for library in libraries)
        nobody: IntArray = np.array([[-1, _NONE]])
        self._pairs = [nobody for _ in libraries]  # a number for each pair of clips, ascending, and the row of its join
        width = max((len(ends.joints) for ends in self._ends), default=0)
        self._joints: IntArray = np.empty((0, width), np.int64)
        self._turns: FloatArray = np.empty((0, width, 4))
        self._room: tuple[FloatArray, Single] = np.empty((0, 4)), np.empty((0, 4, 1), np.float32)
        self.bases: IntArray = np.arange(libraries[-1].end_action)

    def layers(self, crowd: CrowdArrays, live: LiveArrays, now: float, others: LiveLayers | None) -> LiveLayers | None:
        """Return the turns of all joints now, which hold until this is called again.

        Args:
            crowd: the characters.
            live: what they play.
            now: time [s].
            others: turns of other kinds, which stay; None for none.
        """
        counts = crowd.counts
        people = np.arange(len(counts))
        action = crowd.actions[people, counts[:, FIRST]].astype(np.int64) if len(counts) else np.empty(0, np.int64)
        earlier, since = counts[:, EARLIER], now - live.table[: len(counts), START]
        plain = live.rows[earlier, action] == live.rows[-1, action]
        led = np.flatnonzero((counts[:, STATUS] != EMPTY) & (earlier >= 0) & plain & (since < JOIN) & (since >= 0.0))
        pairs, shares = np.full(len(counts), _NONE), np.zeros(len(counts))
        for library in self._libraries:
            own = led[(action[led] >= library.first_action) & (action[led] < library.end_action)]
            if len(own):
                before, after = self._own(self.bases[earlier[own]]), action[own] - library.first_action
                pairs[own] = self._known(library.number, before, after)
        if (pairs == _NONE).all():
            return others
        shares[led] = 1.0 - ease(since[led] / JOIN)
        gaze, looks = (_NO_CHANNELS, _NO_SAMPLES) if others is None else (others.channels, others.samples)
        rows, turned = np.empty(len(counts) + 1, np.int64), (read_only(self._joints), read_only(self._turns))
        count_channels(gaze, pairs, turned[0], rows)
        if rows[-1] > len(self._room[0]):  # new memory in every frame would cost more than what is written there
            self._room = np.empty((2 * rows[-1], 4)), np.empty((2 * rows[-1], 4, 1), np.float32)
        channels, samples = self._room[0][: rows[-1]], self._room[1][: rows[-1]]
        write_channels(gaze, looks, pairs, shares, *turned, now, rows, channels, samples)
        return LiveLayers(read_only(rows), read_only(channels), read_only(samples))

    def _own(self, actions: IntArray) -> IntArray:
        """Return the numbers of actions in their libraries, which have the same clips; (N,)."""
        firsts = np.array([library.first_action for library in self._libraries])
        out: IntArray = actions - firsts[library_of(self._libraries, actions)]
        return out

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
            new = np.column_stack([fresh, np.where(far, len(self._turns) + np.cumsum(far) - 1, _NONE)])
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
