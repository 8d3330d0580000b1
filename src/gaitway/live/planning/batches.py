"""Batches of turns to plan: drafts that several threads make side by side, taken over in a fixed order."""

from __future__ import annotations

import os
import threading
import time as clock
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.live.planning._draft_kernels import DRAFT_COUNTS, PlanDrafts
from gaitway.live.playing.arrays import STEPS
from gaitway.space._query_kernels import NUMBERS

BATCH = 1024
"""Largest number of drafts that are made before they are taken over."""
BLOCK = 8
"""Number of drafts that a thread makes in one go."""
MOST_THREADS = 64
_PART = 1024
"""Number of rows that a thread works on in one go."""

Task = TypeVar("Task")


def threads_for(asked: int | None) -> int:
    """Return the number of threads for planning: what was asked for, or one for each core that this process may use."""
    if asked is not None:
        return min(asked, MOST_THREADS)
    affinity = getattr(os, "sched_getaffinity", None)
    return min(len(affinity(0)) if affinity else os.cpu_count() or 1, MOST_THREADS)


def drafts_for(count: int) -> ArrayHandle[PlanDrafts]:
    """Return memory for a number of drafts."""
    return ArrayHandle(
        PlanDrafts(
            who=np.zeros(count, np.int64),
            counts=np.zeros((count, DRAFT_COUNTS), np.int64),
            queries=np.zeros((count, NUMBERS)),
            steps=np.zeros((count, STEPS + 1, 6)),
            actions=np.zeros((count, STEPS + 1), np.int32),
            boxes=np.zeros((count, 4)),
        )
    )


class PlanningThreads:
    """Threads that share work whose result does not depend on who does it. This class is **mutable**.

    Attributes:
        count: number of threads, of which the caller is one.
        beside_ms: time of the processor that the others took for work in parts until now [ms].
    """

    def __init__(self, count: int) -> None:
        """Prepare a number of threads, of which the caller of `share` is one."""
        self.count, self.beside_ms = count, 0.0
        self._pool = ThreadPoolExecutor(count - 1, "gaitway-plan") if count > 1 else None

    def share(self, tasks: Sequence[Task], do: Callable[[int, Task], object]) -> float:
        """Do tasks, each by the thread that is free first; threads that are busy with other tasks are not waited for.

        Args:
            tasks: the tasks.
            do: does a task, by the number of its thread (0 to `count` - 1).

        Returns:
            Time of the processor that the other threads took [ms].
        """
        lock, waiting = threading.Lock(), iter(tasks)

        def work(thread: int) -> float:
            began = clock.thread_time()
            while True:
                with lock:
                    task = next(waiting, None)
                if task is None:
                    return 1e3 * (clock.thread_time() - began)
                do(thread, task)

        helpers = min(self.count, len(tasks)) - 1
        if self._pool is None or helpers < 1:
            work(0)
            return 0.0
        pending = [self._pool.submit(work, 1 + number) for number in range(helpers)]
        try:
            work(0)
        finally:
            spent = [some.result() for some in pending if not some.cancel()]
        return sum(spent)

    def in_parts(self, count: int, work: Callable[[int, int], object]) -> None:
        """Do the work of so many rows: `work(low, high)` for parts of them, by all threads that are free."""
        if count < 2 * _PART:
            work(0, count)
            return
        lows = range(0, count, _PART)
        self.beside_ms += self.share(lows, lambda _, low: work(low, min(low + _PART, count)))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
