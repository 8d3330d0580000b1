"""A session that runs on neither slows down nor grows; the hour itself is `gaitway bench soak`."""

from __future__ import annotations

import pytest

from gaitway.bench.soak import come_and_go, soak


@pytest.mark.slow
def test_two_minutes_of_sixty_people() -> None:
    minutes: list[str] = []
    done = soak(60, 2.0, told=lambda so_far: minutes.append(str(so_far)))
    fifth = len(done.ticks) // 5
    assert (done.ticks > 0.0).all()  # how they compare is for the benchmark to say, on a machine that does nothing else
    assert done.megabytes[-1] < done.megabytes[2 * fifth] + 40.0
    assert done.collisions == 0
    assert len(minutes) == 2
    assert "60 people for 2 minutes" in minutes[1]


@pytest.mark.slow
def test_two_minutes_of_people_who_come_and_go() -> None:
    done = come_and_go(2.0)
    fifth = len(done.ticks) // 5
    assert done.people >= 8
    assert done.megabytes[-1] < done.megabytes[2 * fifth] + 40.0
    assert done.collisions == 0
