"""Drafts of plans: what characters that plan side by side would do, and whether two of them get in each other's way.

All drafts of a batch are made against the same reservations, and nothing is reserved meanwhile; so the order in which
they are made makes no difference. Then they are taken over one after another, in the order of their slots. A draft that
meets one that was taken over before it is made again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.playing._crowd_kernels import (
    COSINE,
    SINE,
    TIME,
    BodyArrays,
    CrowdArrays,
    Small,
    X,
    Y,
    entry_meets,
    entry_meets_still,
    link,
    near,
    unlink,
)
from gaitway.live.playing._playing_kernels import COUNT, FIRST, FIXED

# columns of `PlanDrafts.counts`
FOUND, TAKEN, DRAWN, TRIED, MOVES, BEFORE, STEPS, KEEP, FINAL = range(9)
"""Whether there is a path; whether it was taken over; number that the clips are drawn by; sub-goals tried and moves
tested; number of fixed steps, of all steps, and of those that will certainly be played; and whether the path ends at
the goal itself."""
DRAFT_COUNTS = 9


class PlanDrafts(NamedTuple):
    """Drafts of B characters, in the order in which they are taken over; kernels write to all arrays."""

    who: IntArray
    """The characters; (B,)."""
    counts: IntArray
    """See `FOUND` and the others; (B, 9)."""
    queries: FloatArray
    """The query that each answers, see `space._query_kernels`; (B, NUMBERS)."""
    steps: FloatArray
    """Rows as those of `CrowdArrays.steps`; (B, K + 1, 6)."""
    actions: Small
    """Action of each step; (B, K + 1)."""
    boxes: FloatArray
    """xmin, ymin, xmax, ymax of all that the new steps take up [m]; (B, 4)."""


@kernel(borrows=True, inner=True)
def disc_of(body: BodyArrays, drafts: PlanDrafts, slot: int, k: int) -> tuple[float, float, float, float, float]:
    """Return the disc around a step of a draft (with the last row around its rest) [m], and its begin and end [s]."""
    steps, a, resting = drafts.steps, drafts.actions[slot, k], k == drafts.steps.shape[1] - 1
    around = body.still_around if resting else body.around
    c, s, u, v = steps[slot, k, COSINE], steps[slot, k, SINE], around[a, 0], around[a, 1]
    begin = steps[slot, k, TIME]
    end = np.inf if resting else begin + body.durations[a]
    return steps[slot, k, X] + c * u - s * v, steps[slot, k, Y] + s * u + c * v, around[a, 2], begin, end


@kernel(borrows=True, inner=True)
def enclose(body: BodyArrays, drafts: PlanDrafts, slot: int) -> None:
    """Write the box around all that the new steps of a draft take up, with the room that it keeps at rest."""
    counts, boxes, end = drafts.counts, drafts.boxes, drafts.steps.shape[1] - 1
    low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
    for k in range(counts[slot, BEFORE], counts[slot, STEPS] + 1):
        row = k if k < counts[slot, STEPS] else end
        x, y, r, _, _ = disc_of(body, drafts, slot, row)
        low_x, low_y, high_x, high_y = min(low_x, x - r), min(low_y, y - r), max(high_x, x + r), max(high_y, y + r)
    # two at rest keep apart by more than they take up: the box of each holds half of that
    x, y = drafts.steps[slot, end, X], drafts.steps[slot, end, Y]
    mine, room = body.libraries[drafts.actions[slot, end]], 0.0
    for other in range(len(body.apart)):
        room = max(room, body.apart[mine, other])
    boxes[slot, 0], boxes[slot, 1] = min(low_x, x - 0.5 * room), min(low_y, y - 0.5 * room)
    boxes[slot, 2], boxes[slot, 3] = max(high_x, x + 0.5 * room), max(high_y, y + 0.5 * room)


@kernel(borrows=True, inner=True, shared=True)
def meets_taken(body: BodyArrays, crowd: CrowdArrays, drafts: PlanDrafts, slot: int, other: int) -> bool:
    """Return whether the new steps of a draft meet those of one that was taken over."""
    steps, actions, counts, rows = drafts.steps, drafts.actions, drafts.counts, crowd.steps.shape[1]
    who, end = drafts.who[other], rows - 1
    rests, theirs = actions[slot, end], crowd.actions[who, end]
    dx, dy = steps[slot, end, X] - crowd.steps[who, end, X], steps[slot, end, Y] - crowd.steps[who, end, Y]
    room = body.apart[body.libraries[rests], body.libraries[theirs]]
    if dx * dx + dy * dy < room * room:
        return True
    for k in range(counts[slot, BEFORE], counts[slot, STEPS] + 1):
        row = k if k < counts[slot, STEPS] else end
        px, py, r, begin, stop = disc_of(body, drafts, slot, row)
        x, y, c, s = steps[slot, row, X], steps[slot, row, Y], steps[slot, row, COSINE], steps[slot, row, SINE]
        a = actions[slot, row]
        for j in range(counts[other, BEFORE], counts[other, STEPS] + 1):
            entry = who * rows + (j if j < counts[other, STEPS] else end)
            if not near(crowd.reach, entry, px, py, r, begin, stop):
                continue
            if row == end:
                if entry_meets_still(body, crowd, entry, x, y, c, s, begin, a):
                    return True
            elif entry_meets(body, crowd, entry, x, y, c, s, begin, a):
                return True
    return False


@kernel(borrows=True, inner=True, shared=True)
def meets_any(body: BodyArrays, crowd: CrowdArrays, drafts: PlanDrafts, slot: int) -> bool:
    """Return whether the new steps of a draft meet those of any that was taken over before it."""
    boxes, counts = drafts.boxes, drafts.counts
    x0, y0, x1, y1 = boxes[slot, 0], boxes[slot, 1], boxes[slot, 2], boxes[slot, 3]
    for other in range(slot):
        if boxes[other, 0] >= x1 or boxes[other, 2] <= x0 or boxes[other, 1] >= y1 or boxes[other, 3] <= y0:
            continue
        if counts[other, TAKEN] != 0 and meets_taken(body, crowd, drafts, slot, other):
            return True
    return False


@kernel(borrows=True, inner=True, shared=True)
def take_over(body: BodyArrays, crowd: CrowdArrays, drafts: PlanDrafts, slot: int) -> None:
    """Replace the steps after a character's fixed steps by those of a draft, and reserve them."""
    steps, actions, counts, rows = crowd.steps, crowd.actions, drafts.counts, crowd.steps.shape[1]
    me, number = drafts.who[slot], counts[slot, STEPS]
    for k in range(rows):
        unlink(crowd, me * rows + k)
    for k in range(number + 1):
        row = k if k < number else rows - 1
        for j in range(TIME + 1):
            steps[me, row, j] = drafts.steps[slot, row, j]
        actions[me, row] = drafts.actions[slot, row]
    crowd.counts[me, FIRST], crowd.counts[me, COUNT], crowd.counts[me, FIXED] = 0, number, counts[slot, KEEP]
    for k in range(number):
        link(body, crowd, me, k)
    link(body, crowd, me, rows - 1)
    counts[slot, TAKEN] = 1
