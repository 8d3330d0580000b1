"""Plans that are made side by side: the same with any number of threads, and none in the way of another."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gaitway.core.errors import TreeError
from gaitway.live.engine import LiveEngine
from gaitway.live.options import LiveOptions
from gaitway.live.planning import _draft_kernels as drafts
from gaitway.live.planning import batches
from gaitway.live.planning.batches import MOST_THREADS, PlanningThreads, threads_for
from gaitway.live.playing._crowd_kernels import move_hit, rest_hit
from gaitway.live.playing.check import overlaps
from live_crowds import FRAME, crowd_in, ring


def packed(threads: int) -> LiveEngine:
    """People on a grid so dense that their plans meet, all of whom plan in the same step of time."""
    crowd = crowd_in(budget=200, threads=threads)
    x, y = (axis.ravel() for axis in np.meshgrid(*2 * (np.arange(-9.0, 10.0, 2.0),)))
    rng = np.random.default_rng(3)
    crowd.add(np.column_stack([x, y, rng.uniform(-np.pi, np.pi, len(x))]), rng.permutation(np.column_stack([-x, -y])))
    return crowd


def test_any_number_of_threads_gives_the_same_bytes() -> None:
    seen = []
    for threads in (1, 2, 4):
        crowd = packed(threads)
        assert len(crowd) > 90
        for _ in range(20):
            crowd.step(FRAME)
        counts = crowd.counts
        state = (counts.plans, counts.failures, counts.tries, counts.tests)
        seen.append((crowd.poses().root_positions.tobytes(), crowd.plans.steps.tobytes(), state))
        crowd.close()
    assert seen[0][2][0] > 30  # plans
    assert seen[1] == seen[0]
    assert seen[2] == seen[0]


def test_poses_and_looks_in_parts_are_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for rows, threads in ((100_000, 1), (7, 2), (7, 4)):
        monkeypatch.setattr(batches, "_PART", rows)
        crowd = packed(threads)
        for _ in range(20):
            crowd.step(FRAME)
        joints = crowd.joints()  # beside planning
        seen.append((joints.positions.tobytes(), joints.rotations.tobytes(), crowd.poses().rotations.tobytes()))
        crowd.close()
    assert seen[1] == seen[0]
    assert seen[2] == seen[0]


def test_threads_that_are_busy_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_PART", 10)
    threads, free, done, begun = PlanningThreads(2), threading.Event(), list[int](), threading.Barrier(3)

    def wait(thread: int, task: int) -> None:
        begun.wait(60.0)
        free.wait(60.0)

    held = threading.Thread(target=lambda: threads.share([0, 1], wait))
    held.start()
    begun.wait(60.0)  # until both threads are busy
    threads.in_parts(35, lambda low, high: done.extend(range(low, high)))
    assert done == list(range(35))
    assert threads.beside_ms == 0.0
    free.set()
    held.join(60.0)
    threads.close()


def hits(crowd: LiveEngine) -> int:
    """Number of steps and rests of drafts taken over in the latest batch that meet a plan of another character."""
    body, plans, batch, found = crowd._body.value, crowd.plans, crowd.planner(0)._drafts.value, 0
    for slot in np.flatnonzero(batch.counts[:, drafts.TAKEN] != 0).tolist():
        me, (first, last) = int(batch.who[slot]), batch.counts[slot, [drafts.BEFORE, drafts.STEPS]].tolist()
        for row in (*range(first, last), plans.steps.shape[1] - 1):
            x, y, c, s, _, t = plans.steps[me, row].tolist()
            meets = move_hit if row < last else rest_hit
            found += meets(body, plans, me, x, y, c, s, t, int(plans.actions[me, row])) >= 0
    return found


def test_plans_made_side_by_side_do_not_meet() -> None:
    crowd = packed(2)
    planner = crowd.planner(0)
    settle, again = planner._settle, []

    def counted(*arguments: object) -> int:
        slot = settle(*arguments)
        again.append(slot < int(str(arguments[5])))
        return slot

    planner._settle = counted
    crowd.step(FRAME)
    crowd.settle()
    assert sum(again) > 5  # some drafts did meet, and were made again
    assert hits(crowd) == 0
    met = 0
    for _ in range(60):
        crowd.step(FRAME)
        met += len(overlaps(crowd.poses().root_positions, crowd.options.radius))
    crowd.close()
    assert met == 0


def test_two_who_want_the_same_place_do_not_both_get_it() -> None:
    starts, _ = ring(2, 2.5)
    crowd = crowd_in(threads=1)
    crowd.add(starts, np.zeros((2, 2)))
    crowd.step(FRAME)
    crowd.settle()
    ends = crowd.plans.steps[:2, -1, :2]
    moved = np.hypot(*(ends - starts[:, :2]).T) > 0.5
    assert moved.any()
    assert np.hypot(*(ends[0] - ends[1])) >= crowd._body.value.apart[0, 0]
    crowd.close()


def test_drafts_that_cannot_meet_are_told_by_their_boxes() -> None:
    crowd = packed(1)
    crowd.step(FRAME)
    crowd.settle()
    batch = crowd.planner(0)._drafts.value
    taken = np.flatnonzero(batch.counts[:, drafts.TAKEN] != 0)
    assert len(taken) > 10
    for slot in taken.tolist():
        first, last = batch.counts[slot, [drafts.BEFORE, drafts.STEPS]].tolist()
        rows = [*range(first, last), -1]
        spots = batch.steps[slot, rows, :2]
        assert (spots.min(axis=0) > batch.boxes[slot, :2]).all()
        assert (spots.max(axis=0) < batch.boxes[slot, 2:]).all()
    crowd.close()


def test_every_task_is_done_once_by_one_of_the_threads() -> None:
    pool = PlanningThreads(3)
    done: list[tuple[int, int]] = []
    together = threading.Barrier(3, timeout=60.0)

    def do(thread: int, task: int) -> None:
        if task < 3:
            together.wait()  # so each thread has one of the first three
        done.append((thread, task))

    pool.share(range(20), do)
    assert sorted(task for _, task in done) == list(range(20))
    assert {thread for thread, _ in done} == {0, 1, 2}
    with pytest.raises(ZeroDivisionError):
        pool.share(range(5), lambda thread, task: 1 // (task - 4))
    pool.close()


def test_numbers_of_threads() -> None:
    assert threads_for(3) == 3
    assert threads_for(10_000) == MOST_THREADS
    assert threads_for(None) >= 1
    with pytest.raises(TreeError, match="threads 0"):
        LiveOptions(threads=0)
