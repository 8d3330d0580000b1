"""A session that runs on neither slows down nor grows; the hour itself is `gaitway bench soak`."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.bench.soak import soak


@pytest.mark.slow
def test_two_minutes_of_sixty_people() -> None:
    times, megabytes, collisions = soak(60, 2.0)
    fifth = len(times) // 5
    assert np.median(times[-fifth:]) < 2.0 * np.median(times[fifth : 2 * fifth]) + 1.0
    assert megabytes[-1] < megabytes[2 * fifth] + 40.0
    assert collisions == 0
