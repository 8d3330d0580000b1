"""Who comes to where somebody stands, asked for a whole body at once."""

from __future__ import annotations

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.space._traffic_kernels import TrafficArrays, stay_hit


@kernel(borrows=True)
def body_hit(traffic_handle: ArrayHandle[TrafficArrays], slot: int, discs: FloatArray) -> int:
    """Return the owner that comes within one of some discs at any time from a slot on, or -1; see `stay_hit`.

    Args:
        traffic_handle: the traffic.
        slot: time in slots.
        discs: x, y and radius [m], asked one after another; (D, 3).
    """
    traffic, owner = traffic_handle.value, -1
    for k in range(len(discs)):
        if owner < 0:
            owner = stay_hit(traffic, slot, discs[k, 0], discs[k, 1], discs[k, 2])
    return int(owner)
