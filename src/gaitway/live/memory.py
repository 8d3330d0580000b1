"""Memory for the plans of live characters, which grows with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.live._crowd_kernels import BodyArrays, CrowdArrays

STEPS = 48
"""That a plan may have, those included that are being played."""
_LEAST_CHAINS = 1024


def no_crowd(body: BodyArrays, used: IntArray, on_the_spot: IntArray) -> CrowdArrays:
    """Nobody, and no room for anybody.

    Args:
        body: what bodies take up.
        used: actions that occur.
        on_the_spot: those of them that begin and end at rest, such as turns.
    """
    widest = max(body.around[used, 2].max(), body.still_around[used, 2].max())
    turns, rests = _farthest(body.around[on_the_spot]), _farthest(body.still_around[body.rests[on_the_spot]])
    off = np.hypot(*body.still_around[body.rests[used], :2].T).max()
    extent = np.array([widest, turns + rests if len(on_the_spot) else 0.0, off])
    return CrowdArrays(
        steps=np.zeros((0, STEPS + 1, 6)), actions=np.zeros((0, STEPS + 1), np.int32), reach=np.zeros((0, 5)),
        links=np.zeros((0, 3), np.int32), heads=np.zeros(1, np.int32), extent=extent,
        counts=np.zeros((0, 14), np.int64), numbers=np.zeros((0, 6)), until=np.zeros(0),
    )  # fmt: skip


def roomier(crowd: CrowdArrays, places: int) -> CrowdArrays:
    """The same characters with room for more, and all chains empty (see `_playing_kernels.relink`)."""
    rows, chains = crowd.steps.shape[1], _LEAST_CHAINS
    while chains < 8 * places:
        chains *= 2
    return CrowdArrays(
        steps=longer(crowd.steps, places), actions=longer(crowd.actions, places),
        reach=longer(crowd.reach, places * rows), links=longer(crowd.links, places * rows, -1),
        heads=np.full(chains, -1, np.int32), extent=crowd.extent, counts=longer(crowd.counts, places),
        numbers=longer(crowd.numbers, places), until=longer(crowd.until, places, np.inf),
    )  # fmt: skip


def _farthest(discs: FloatArray) -> float:
    """How far discs (N, 3) reach from where their actions begin [m]."""
    return float((np.hypot(discs[:, 0], discs[:, 1]) + discs[:, 2]).max(initial=0.0))


def longer(array: npt.NDArray[Any], count: int, fill: float = 0) -> npt.NDArray[Any]:
    """An array with more rows."""
    out = np.full((count, *array.shape[1:]), fill, array.dtype)
    out[: len(array)] = array
    return out
