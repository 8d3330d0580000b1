"""What an action meets among others: the same whether it is met whichever chunk of traffic is looked at first."""

from __future__ import annotations

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._check_kernels import ActionArrays, timed_hit
from gaitway.space._traffic_kernels import END_GROUP, FIRST_GROUP, TrafficArrays
from gaitway.space.traffic import Traffic
from search_twin import WALKER, small_searcher

SIDE, SECONDS = 6.0, 12.0


@kernel
def hits(
    library: ArrayHandle[ActionArrays], traffic: ArrayHandle[TrafficArrays], poses: FloatArray, actions: IntArray,
    likely: IntArray, out: IntArray,
) -> None:  # fmt: skip
    """Write group and chunk that each action meets, begun at x, y, heading and time of its row; (N, 2)."""
    for k in range(len(poses)):
        x, y, heading, t = poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3]
        c, s = np.cos(heading), np.sin(heading)
        group, chunk = timed_hit(library.value, traffic.value, x, y, c, s, t, actions[k], -1, 0.0, 1.0, likely[k])
        out[k, 0], out[k, 1] = group, chunk


def test_it_does_not_matter_what_is_looked_at_first() -> None:
    searcher, rng, traffic = small_searcher(WALKER), np.random.default_rng(3), Traffic()
    for owner in range(30):
        traffic.enroll(str(owner))
        (x, y), r, first = rng.uniform(0.0, SIDE, 2), float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.0, SECONDS))
        traffic.add_standing(owner, [[x, y, r]], first, np.inf if owner < 3 else first + float(rng.uniform(0.2, 4.0)))
    arrays = traffic.arrays
    count = 3000
    poses = np.column_stack(
        [rng.uniform(0.0, SIDE, (count, 2)), rng.uniform(-3.0, 3.0, count), rng.uniform(0.0, SECONDS, count)]
    )
    actions = rng.integers(0, len(searcher.table), count)
    handles = searcher.handle, ArrayHandle(arrays)
    plain, guessed = np.empty((count, 2), np.int64), np.empty((count, 2), np.int64)
    hits(*handles, poses, actions, np.full(count, -1), plain)
    met = plain[:, 0] >= 0
    hits(*handles, poses, actions, rng.choice(plain[met, 1], count), guessed)
    assert 0.1 < met.mean() < 0.9
    assert np.array_equal(met, guessed[:, 0] >= 0)
    for out in (plain, guessed):
        ranges = arrays.chunks[out[met, 1]]
        assert (ranges[:, FIRST_GROUP] <= out[met, 0]).all()
        assert (out[met, 0] < ranges[:, END_GROUP]).all()
        assert (out[~met, 1] == -1).all()
    again = np.empty((count, 2), np.int64)
    hits(*handles, poses, actions, plain[:, 1], again)  # what was met is met again, and at once
    assert np.array_equal(plain, again)
