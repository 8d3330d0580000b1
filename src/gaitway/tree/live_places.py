"""Memory for the plans of live characters, which grows with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.arrays import IntArray
from gaitway.tree._crowd_kernels import BodyArrays, CrowdArrays

STEPS = 24
"""That a plan may have, those included that are being played."""
_LEAST_CHAINS = 1024


def no_crowd(body: BodyArrays, used: IntArray) -> CrowdArrays:
    """Nobody, and no room for anybody, of those who do some actions."""
    extent = np.array([max(body.around[used, 2].max(), body.still_around[used, 2].max())])
    return CrowdArrays(
        steps=np.zeros((0, STEPS + 1, 6)), actions=np.zeros((0, STEPS + 1), np.int32), reach=np.zeros((0, 5)),
        links=np.zeros((0, 3), np.int32), heads=np.zeros(1, np.int32), extent=extent,
        counts=np.zeros((0, 8), np.int64), numbers=np.zeros((0, 4)), until=np.zeros(0),
    )  # fmt: skip


def roomier(crowd: CrowdArrays, places: int) -> CrowdArrays:
    """The same characters with room for more, and all chains empty (see `_live_kernels.relink`)."""
    rows, chains = crowd.steps.shape[1], _LEAST_CHAINS
    while chains < 4 * places:
        chains *= 2
    return CrowdArrays(
        steps=longer(crowd.steps, places), actions=longer(crowd.actions, places),
        reach=longer(crowd.reach, places * rows), links=longer(crowd.links, places * rows, -1),
        heads=np.full(chains, -1, np.int32), extent=crowd.extent, counts=longer(crowd.counts, places),
        numbers=longer(crowd.numbers, places), until=longer(crowd.until, places, np.inf),
    )  # fmt: skip


def longer(array: npt.NDArray[Any], count: int, fill: float = 0) -> npt.NDArray[Any]:
    """An array with more rows."""
    out = np.full((count, *array.shape[1:]), fill, array.dtype)
    out[: len(array)] = array
    return out
