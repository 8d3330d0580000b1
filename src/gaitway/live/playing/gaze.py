"""Gaze and arms of live characters: arrays for `_gaze_kernels.look`, and the layers that poses are read with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.jit import direct
from gaitway.live.playing import _gaze_kernels as kernels
from gaitway.live.playing._crowd_kernels import BodyArrays, CrowdArrays
from gaitway.live.playing._gaze_kernels import COLUMNS, FIRST_ARM, PARTS, GazeArrays
from gaitway.live.playing.arrays import LiveLibrary, longer
from gaitway.live.playing.bodies import Share, rest_actions
from gaitway.performing.upper_body import WAYS, upper_body
from gaitway.performing.upper_body.ways import TakenWay, taken

Single = npt.NDArray[np.float32]

_ARMS = ("left_shoulder", "left_elbow", "right_shoulder", "right_elbow")
_PARTS = ("chest", "neck", "head", *_ARMS)
_WIDER = 0.02
"""How much farther than hanging arms a way to stand may reach [m]. Reservations leave room for no more."""
_MOST_WAYS = 32


class LiveLayers(NamedTuple):
    """Turns of joints at the time of the crowd, as `take._kernels.evaluate` reads them."""

    rows: IntArray
    channels: FloatArray
    samples: Single


class LiveGaze:
    """Where the characters of a live crowd look, and how they stand. This class is **mutable**."""

    def __init__(self, wanted: bool, seed: int) -> None:
        """Make it for a crowd without characters.

        Args:
            wanted: whether characters look anywhere at all.
            seed: seed of all that is drawn.
        """
        self._wanted, self._seed = wanted, seed
        self._arrays = _arrays(0, (), seed)
        self._handle = ArrayHandle(self._arrays)
        self._rows: IntArray = np.zeros(1, np.int64)
        self._look, self._draw_ways = direct(kernels.look), direct(kernels.draw_ways)

    @property
    def state(self) -> FloatArray:
        """The numbers of all characters, see `_gaze_kernels.YAW`; (C, 18)."""
        return self._arrays.state

    def reserve(self, places: int, libraries: Sequence[LiveLibrary]) -> None:
        """Make room for a number of characters of some libraries; what is known of characters stays."""
        state = longer(self._arrays.state, places) if places >= len(self._arrays.state) else np.zeros((places, COLUMNS))
        self._arrays = _arrays(places, libraries, self._seed)._replace(state=np.ascontiguousarray(state))
        self._handle = ArrayHandle(self._arrays)
        self._rows = read_only(np.arange(places + 1, dtype=np.int64) * PARTS)

    def begin(self, characters: IntArray) -> None:
        """Let new characters look ahead."""
        self._arrays.state[characters] = 0.0
        self._arrays.state[characters, kernels.AIM_WHO] = -1.0

    def restore(self, state: FloatArray) -> None:
        """Take the numbers of a saved crowd.

        Raises:
            ValueError: if they cannot be.
        """
        if state.shape != self._arrays.state.shape or not np.isfinite(state).all() or (np.abs(state) > 1e9).any():
            raise ValueError("a gaze that cannot be")
        way = state[:, kernels.WAY]
        if (way < 0).any() or (way >= self._arrays.placed.shape[1]).any() or (state[:, kernels.DRAWN] < 0).any():
            raise ValueError("a way to stand that there is not")
        self._arrays.state[:] = state

    def step(
        self,
        body: ArrayHandle[BodyArrays],
        crowd: ArrayHandle[CrowdArrays],
        now: float,
        dt: float,
        share: Share,
    ) -> None:
        """Go on by a time that ends now [s]."""
        if self._wanted:
            self._draw_ways(body, crowd, self._handle, now)
            share(len(self._arrays.state), partial(self._look, body, crowd, self._handle, now, dt))

    def turns(self, characters: IntArray) -> FloatArray | None:
        """Return the turns of the joints of some characters now, wxyz; (N, 7, 4). None where nobody looks anywhere."""
        if not self._wanted:
            return None
        count = len(self._arrays.state)
        shown = self._arrays.channels.reshape(count, PARTS, 4)[characters, :, 1, None] > 0.0
        turns = self._arrays.samples.reshape(count, PARTS, 4)[characters].astype(np.float64)
        return np.where(shown, turns, [1.0, 0.0, 0.0, 0.0])

    def joints(self, library: int) -> IntArray:
        """Return the joint of each part that turns in a library, or -1; (7,)."""
        out: IntArray = self._arrays.joints[library].astype(np.int64)
        return out

    def layers(self, now: float) -> LiveLayers | None:
        """Return the turns of all joints now [s]; None where nobody looks anywhere."""
        if not self._wanted or not len(self._arrays.state):
            return None
        self._arrays.channels[:, 0] = now
        return LiveLayers(self._rows, read_only(self._arrays.channels), read_only(self._arrays.samples))


def _arrays(places: int, libraries: Sequence[LiveLibrary], seed: int) -> GazeArrays:
    count = max(len(libraries), 1)
    arrays = GazeArrays(
        state=np.zeros((places, COLUMNS)),
        channels=np.zeros((places * PARTS, 4)),
        samples=np.zeros((places * PARTS, 4, 1), np.float32),
        joints=np.full((count, PARTS), -1.0),
        up=np.zeros((count, PARTS, 3)),
        left=np.zeros((count, PARTS, 3)),
        hanging=np.zeros((count, PARTS - FIRST_ARM, 3)),
        placed=np.zeros((count, _MOST_WAYS, PARTS - FIRST_ARM, 3)),
        ways=np.ones(count, np.int64),
        seed=np.array([seed % (1 << 30)]),
    )
    arrays.samples[:, 0] = 1.0
    for number, library in enumerate(libraries):
        _fill(arrays, number, library)
    return arrays


def _fill(arrays: GazeArrays, number: int, library: LiveLibrary) -> None:
    """Write down the joints of a library and the ways in which its characters stand."""
    prepared = library.prepared
    body = upper_body(prepared.library.skeleton)
    if body is None:
        return
    clip = prepared.library.clips[prepared.table.clips[int(rest_actions(prepared)[0])]]
    for k, role in enumerate(_PARTS):
        if (row := body.column(role)) >= 0:
            arrays.joints[number, k] = body.joints[row]
            arrays.up[number, k], arrays.left[number, k] = body.axes[row, 2], body.axes[row, 1]
    pose = np.array(clip.rotations[len(clip) // 2])
    own = taken(body, WAYS, pose)
    widest = own[0].reach + _WIDER
    fitting = [way for way in own if way.reach <= widest][:_MOST_WAYS]
    both = next((way for way in own if len(way.rows) == PARTS - FIRST_ARM), None)
    if both is None:
        arrays.joints[number, FIRST_ARM:] = -1.0
        return
    hanging = _vectors(both, both.hanging, [body.column(role) for role in _ARMS], None)
    arrays.hanging[number] = hanging
    for k, way in enumerate(fitting):
        arrays.placed[number, k] = _vectors(way, way.placed, [body.column(role) for role in _ARMS], hanging)
    arrays.ways[number] = len(fitting)


def _vectors(way: TakenWay, values: FloatArray, columns: Sequence[int], usual: FloatArray | None) -> FloatArray:
    """Return the vectors of a way in the order of arms; those of joints that it leaves alone are the usual ones."""
    out = np.zeros((len(columns), 3)) if usual is None else usual.copy()
    rows = way.rows.tolist()
    for k, column in enumerate(columns):
        if column in rows:
            out[k] = values[rows.index(column)]
    return out
