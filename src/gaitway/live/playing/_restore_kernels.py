"""Compiled loops that rebuild a live crowd from plain arrays when it is restored."""

from __future__ import annotations

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray
from gaitway.core.jit import kernel
from gaitway.live.playing._crowd_kernels import BodyArrays, CrowdArrays, link
from gaitway.live.playing._playing_kernels import COUNT, EMPTY, FIRST, LOGGED, STATUS, LiveArrays, show


@kernel(borrows=True)
def rebuild(
    body_handle: ArrayHandle[BodyArrays],
    crowd_handle: ArrayHandle[CrowdArrays],
    live_handle: ArrayHandle[LiveArrays],
    planned: BoolArray,
) -> None:
    """Reserve all plans and show all characters, after the chains were emptied.

    Args:
        body_handle: discs of the actions.
        crowd_handle: the characters.
        live_handle: the actions that are played.
        planned: which characters have steps that are reserved, besides their places of rest; (C,).
    """
    body, crowd, live = body_handle.value, crowd_handle.value, live_handle.value
    counts, end = crowd.counts, crowd.steps.shape[1] - 1
    for me in range(len(counts)):
        if counts[me, STATUS] == EMPTY:
            continue
        if planned[me]:
            for k in range(counts[me, FIRST], counts[me, COUNT]):
                link(body, crowd, me, k)
        link(body, crowd, me, end)
        show(body, crowd, live, me)
        live.tally[LOGGED] = 0
