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
from gaitway.live.playing._playing_kernels import EARLIER, EMPTY, FIRST, STATUS, LiveArrays
from gaitway.live.playing.arrays import LiveLibrary, library_of
from gaitway.live.playing.bodies import JOIN, SAME
from gaitway.live.playing.gaze import LiveLayers, Single
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.blending import ease
from gaitway.take._kernels import CHANNEL_JOINT, CHANNEL_LENGTH, CHANNEL_ROW, CHANNEL_START, START


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

    Attributes:
        bases: for each action the one of a library that it was made from: itself, but for steps on flights; (A,).
    """

    def __init__(self, libraries: Sequence[LiveLibrary]) -> None:
        """Prepare the libraries of a crowd."""
        self._libraries = tuple(libraries)
        self._ends = tuple(_ends(library) for library in libraries)
        self._width = max((len(ends.joints) for ends in self._ends), default=0)
        self.bases: IntArray = np.arange(libraries[-1].end_action)

    def layers(self, crowd: CrowdArrays, live: LiveArrays, now: float, others: LiveLayers | None) -> LiveLayers | None:
        """Return the turns of all joints now.

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
        turns = {}
        for library, ends in zip(self._libraries, self._ends, strict=True):
            own = led[(action[led] >= library.first_action) & (action[led] < library.end_action)]
            if len(own) and len(ends.joints):
                before, after = self._own(self.bases[earlier[own]]), action[own] - library.first_action
                apart = rotations.multiply(rotations.conjugate(ends.firsts[after]), ends.lasts[before])
                vectors = rotations.to_rotation_vector(apart)
                far = np.linalg.norm(vectors, axis=-1).max(axis=1) > SAME
                share = 1.0 - ease(since[own[far]] / JOIN)
                if far.any():
                    turns[library.number] = own[far], share[:, None, None] * vectors[far]
        return self._added(turns, len(counts), now, others) if turns else others

    def _own(self, actions: IntArray) -> IntArray:
        """Return the numbers of actions in their libraries, which have the same clips; (N,)."""
        firsts = np.array([library.first_action for library in self._libraries])
        out: IntArray = actions - firsts[library_of(self._libraries, actions)]
        return out

    def _added(
        self,
        turns: dict[int, tuple[IntArray, FloatArray]],
        count: int,
        now: float,
        others: LiveLayers | None,
    ) -> LiveLayers:
        """Return the layers of a crowd with further turns: who, and rotation vectors (N, U, 3), by library."""
        before = 0 if others is None else len(others.channels) // count
        width = before + self._width
        channels, samples = np.zeros((count, width, 4)), np.zeros((count, width, 4, 1), np.float32)
        samples[..., 0, 0] = 1.0
        channels[..., CHANNEL_START] = now
        channels[..., CHANNEL_ROW] = np.arange(count * width).reshape(count, width)
        if others is not None:
            own = others.channels.reshape(count, before, 4)
            channels[:, :before, CHANNEL_START : CHANNEL_JOINT + 1] = own[..., CHANNEL_START : CHANNEL_JOINT + 1]
            samples[:, :before] = others.samples[own[..., CHANNEL_ROW].astype(np.int64)]
        for number, (who, vectors) in turns.items():
            joints = self._ends[number].joints
            last = before + len(joints)
            channels[who, before:last, CHANNEL_LENGTH], channels[who, before:last, CHANNEL_JOINT] = 1.0, joints
            samples[who, before:last, :, 0] = rotations.from_rotation_vector(vectors)
        flat: Single = samples.reshape(-1, 4, 1)
        rows = np.arange(count + 1, dtype=np.int64) * width
        return LiveLayers(read_only(rows), read_only(channels.reshape(-1, 4)), read_only(flat))


def _ends(library: LiveLibrary) -> _Ends:
    own = library.prepared.library
    joints = np.flatnonzero(upper_joints(own.skeleton))
    clips = [own.clips[name] for name in library.prepared.table.clips]
    firsts, lasts = (np.array([clip.rotations[frame][joints] for clip in clips]) for frame in (0, -1))
    return _Ends(read_only(joints), read_only(firsts), read_only(lasts))
