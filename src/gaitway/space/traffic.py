"""Traffic: where bodies and movers are in each slot of time, for characters that are planned one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, ranges, read_only
from gaitway.core.errors import GaitwayError, LibraryError
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.space._standing_kernels import body_hit
from gaitway.space._traffic_kernels import (
    END_SLOT,
    ERA,
    FIRST_DISC,
    FIRST_SLOT,
    FOREVER,
    LAST_SLOT,
    OWNER,
    SLOT,
    TrafficArrays,
    count_links,
    end_slot,
    first_slot,
    link_chunks,
    no_traffic,
    step_window_slots,
    swept_hit,
    traffic_hit,
)
from gaitway.space.mover_sweep import Swept, last_slot, sweep_mover
from gaitway.space.plan import Plan, PlanStep, Pose
from gaitway.world.obstacle import Mover
from gaitway.world.occupancy import BODY_BAND, Band
from gaitway.world.terrain import Terrain

__all__ = ["FOREVER", "SLOT", "Traffic", "TrafficArrays", "traffic_hit"]

SHORT = 2
"""Most eras of a chunk that is kept in the chains of each era."""
_HORIZON = 120.0
"""Time until which the paths of movers are computed at first [s]."""


class Traffic:
    """Discs of movers and planned characters in slots of `SLOT` seconds. This class is **mutable**.

    The part of the floor that a body or mover covers at any time of a slot lies within its discs in that slot, so that
    no overlap of two bodies is missed. The discs of a character are those of its windows of about 0.1 s that overlap
    the slot. They hold for at most 0.1 s before and after the slot, and exceed the body by the margin of its
    `BodyDiscs`. Discs of movers exceed them by half the distance that they move within the slot, 0.1 m at most.

    Attributes:
        names: names of the owners, by number.
        kinds: special kinds of obstacle, by number, that `traffic_hit` can be told to let through.
        horizon: slots for which movers are known; beyond it those that still move are missing. See `extend`.
    """

    def __init__(
        self, kinds: Sequence[str] = (), *, terrain: Terrain | None = None, band: Band = BODY_BAND,
        horizon: float = _HORIZON, mirrors: npt.ArrayLike = (),
    ) -> None:  # fmt: skip
        """Begin without any owner.

        Args:
            kinds: special kinds of obstacle, as in `WorldFields.kinds`.
            terrain: the ground; None is level at height 0.
            band: heights over the ground [m] between which a mover blocks.
            horizon: time up to which the paths of movers are first computed [s].
            mirrors: ground that is in the plane twice: xmin, ymin, xmax, ymax, and how far the other lies from it [m];
                whoever is on one is on the other too; (M, 6).
        """
        self._mirrors = np.asarray(mirrors, dtype=np.float64).reshape(-1, 6)
        self.names: list[str] = []
        self.kinds = tuple(kinds)
        self.horizon = int(end_slot(horizon))
        self._terrain, self._band = terrain, band
        self._movers: dict[int, Mover] = {}
        self._groups_of: dict[int, list[tuple[int, int]]] = {}
        self._chunks_of: dict[int, list[tuple[int, int]]] = {}
        self._around: FloatArray = np.empty((256, 3))
        self._groups: npt.NDArray[np.int32] = np.empty((256, 6), np.int32)
        self._discs: FloatArray = np.empty((1024, 3))
        self._chunk_around: FloatArray = np.empty((64, 3))
        self._chunks: npt.NDArray[np.int32] = np.empty((64, 4), np.int32)
        self._counts = [0, 0, 0]  # groups, discs, chunks
        self._gone = 0
        self._last = 0
        self._held: ArrayHandle[TrafficArrays] | None = None
        self._links: npt.NDArray[np.int32] = np.empty((1024, 2), np.int32)
        self._clear_chains(1024)

    @property
    def arrays(self) -> TrafficArrays:
        """Arrays for kernels such as `traffic_hit`; made again after each change."""
        if self._counts[0] == 0:
            return no_traffic()
        return TrafficArrays(
            _view(self._keys),
            _view(self._heads),
            _view(self._links),
            _view(self._chunk_around),
            _view(self._chunks),
            _view(self._around),
            _view(self._groups),
            _view(self._discs),
            self._last,
        )

    @property
    def handle(self) -> ArrayHandle[TrafficArrays]:
        """The arrays as kernels hold them; kept until traffic changes."""
        if self._held is None:
            self._held = ArrayHandle(self.arrays)
        return self._held

    @property
    def busy(self) -> bool:
        """Whether anybody is, or anything moves."""
        return bool(self._movers) or any(self._chunks_of.values())

    def enroll(self, name: str) -> int:
        """Add an owner and return its number."""
        self.names.append(name)
        return len(self.names) - 1

    def hit(self, time: float, x: float, y: float, r: float, passing: str | None = None) -> str | None:
        """Return the name of an owner within a disc [m] in the slot of a time [s], or None; see `traffic_hit`."""
        kind = -1 if passing is None else self.kinds.index(passing)
        owner = traffic_hit(self.arrays, int(first_slot(time)), float(x), float(y), float(r), kind)
        return None if owner < 0 else self.names[owner]

    def comer(self, discs: npt.ArrayLike, time: float) -> str | None:
        """Return the name of an owner that comes to where discs (D, 3) stand, from a time on [s]; None if none does.

        Movers that still move at the horizon are not known beyond it.
        """
        slot = int(first_slot(time))
        owner = int(body_hit(self.handle, slot, read_only(np.asarray(discs, dtype=np.float64))))
        return self.names[owner] if owner >= 0 else None

    def add_mover(self, mover: Mover) -> int:
        """Add a mover, in all its phases but passable ones, and return its number."""
        owner = self.enroll(mover.name)
        self._movers[owner] = mover
        self._add_mover(owner)
        return owner

    def replace_mover(self, owner: int, mover: Mover) -> None:
        """Let a mover that was added have another path."""
        self._take_out(owner)
        self._movers[owner] = mover
        self._add_mover(owner)

    def add_plan(self, owner: int, plan: Plan, table: ActionTable, discs: BodyDiscs) -> None:
        """Add a character from the first to the last moment of its plan; see `add_standing` for the time after it."""
        if plan.steps:
            self.add_swept(owner, Swept.joined(swept_steps(plan.steps, table, discs)))

    def add_swept(self, owner: int, swept: Swept) -> None:
        """Add what an owner covers over time."""
        self._add(owner, swept)

    def met_by(self, swept: Swept) -> str | None:
        """Return the name of the owner that something swept meets first, or None."""
        around, discs = read_only(swept.around), read_only(swept.discs)
        starts, slots = read_only(swept.starts), read_only(swept.slots)
        owner = int(swept_hit(self.handle, around, discs, starts, slots, np.zeros(0, dtype=np.int64)))
        return self.names[owner] if owner >= 0 else None

    def meetings(self, swept: Swept, handle: ArrayHandle[TrafficArrays] | None = None) -> tuple[BoolArray, FloatArray]:
        """Return which groups of something swept meet anybody (G,), and the middle of what each meets [m] (G, 2).

        Args:
            swept: the groups.
            handle: `arrays` as kernels hold them, if traffic has not changed since they were asked for.
        """
        held = self.handle if handle is None else handle
        around, discs = read_only(swept.around), read_only(swept.discs)
        starts, slots = read_only(swept.starts), read_only(swept.slots)
        met = np.full(len(around), -1)
        swept_hit(held, around, discs, starts, slots, met)
        meets, middles = met >= 0, np.full((len(around), 2), np.nan)
        middles[meets] = held.value.around[met[meets], :2]
        return meets, middles

    def add_standing(
        self, owner: int, discs: npt.ArrayLike, start: float, end: float = math.inf, kind: str | None = None
    ) -> None:
        """Add something that stays in place from one time until another [s].

        Args:
            owner: number of the owner.
            discs: x, y and radius [m]; (D, 3).
            start: time from which it is there [s].
            end: time until which it is there [s]; infinity for ever.
            kind: a special kind that can be passed, or None.
        """
        discs = np.asarray(discs, dtype=np.float64).reshape(-1, 3)
        if not (np.isfinite(discs).all() and math.isfinite(start) and end > start):
            raise GaitwayError(
                f"'{self.names[owner]}' stands from {start} to {end} s in {len(discs)} discs; write finite ones"
            )
        number = self.kinds.index(kind) if kind in self.kinds else -1
        self._add(owner, Swept.standing(discs, int(first_slot(start)), last_slot(end), number))

    def remove(self, owner: int) -> None:
        """Remove everything of an owner; its number stays reserved."""
        self._movers.pop(owner, None)
        self._take_out(owner)

    def held(self, owner: int) -> list[Swept]:
        """Return all that an owner covers, so that it can be added again after it was removed."""
        return [self._copied(first, end) for first, end in self._groups_of.get(owner, [])]

    def cut(self, owner: int, time: float) -> list[Swept]:
        """Remove what an owner covers from the slot of a time on [s].

        Returns:
            What it covers in that slot just before that time, which is not in its own way, but in that of others.
        """
        slot, before = int(first_slot(time)), list[Swept]()
        self._held = None
        for first, end in self._groups_of.get(owner, []):
            slots = self._groups[first:end, FIRST_SLOT : END_SLOT + 1]
            self._around[first + np.flatnonzero(slots[:, 0] >= slot), 2] = -np.inf
            for k in (first + np.flatnonzero((slots[:, 0] < slot) & (slots[:, 1] > slot))).tolist():
                discs = self._discs[self._groups[k, FIRST_DISC] : self._groups[k, FIRST_DISC + 1]]
                before.append(Swept.standing(discs.copy(), slot, slot + 1, int(self._groups[k, OWNER + 1])))
            slots[:, 1] = np.minimum(slots[:, 1], np.maximum(slot, slots[:, 0]))
        return before

    def _copied(self, first: int, end: int) -> Swept:
        """Return groups as something swept; those that are gone are left out."""
        kept = first + np.flatnonzero(self._around[first:end, 2] > -np.inf)
        rows = self._groups[kept]
        parts = [self._discs[a:b] for a, b in rows[:, FIRST_DISC : FIRST_DISC + 2].tolist()]
        return Swept(
            around=self._around[kept].copy(),
            discs=np.concatenate(parts) if parts else np.empty((0, 3)),
            starts=np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)]),
            slots=rows[:, FIRST_SLOT : END_SLOT + 1].astype(np.int64),
            kinds=rows[:, OWNER + 1].astype(np.int64),
        )

    def extend(self, time: float) -> None:
        """Compute the paths of movers until a time at least, and twice as long as now [s]."""
        wanted = int(end_slot(time))
        if wanted <= self.horizon:
            return
        known = self.horizon
        self.horizon = min(max(wanted, 2 * known), LAST_SLOT)
        for owner, mover in self._movers.items():
            if first_slot(float(mover.times[-1])) >= known:
                self._take_out(owner)
                self._add_mover(owner)

    def _add_mover(self, owner: int) -> None:
        for swept in sweep_mover(self._movers[owner], self.kinds, self._terrain, self._band, self.horizon):
            self._add(owner, swept)

    def _add(self, owner: int, swept: Swept) -> None:
        if not len(swept.around):
            return
        self._held = None
        swept = swept if not len(self._mirrors) else _mirrored(swept, self._mirrors)
        groups, discs, chunks = self._counts
        new = (groups + len(swept.around), discs + len(swept.discs))
        self._around, self._groups = _roomy(self._around, new[0]), _roomy(self._groups, new[0])
        self._discs = _roomy(self._discs, new[1])
        self._around[groups : new[0]], self._discs[discs : new[1]] = swept.around, swept.discs
        rows = self._groups[groups : new[0]]
        rows[:, FIRST_DISC], rows[:, FIRST_DISC + 1] = discs + swept.starts[:-1], discs + swept.starts[1:]
        rows[:, OWNER], rows[:, OWNER + 1] = owner, swept.kinds
        rows[:, FIRST_SLOT : END_SLOT + 1] = swept.slots
        self._counts = [*new, chunks]
        self._last = max(self._last, _last_change(swept.slots))
        self._groups_of.setdefault(owner, []).append((groups, new[0]))
        self._chunks_of.setdefault(owner, []).append(self._add_chunks(groups, new[0]))
        self._link(chunks, self._counts[2])

    def _add_chunks(self, first: int, end: int) -> tuple[int, int]:
        """Gather groups of one owner into chunks; return the first chunk, and the one after the last."""
        slots = self._groups[first:end, FIRST_SLOT : END_SLOT + 1]
        eras, long = slots[:, 0] >> ERA, slots[:, 1] - slots[:, 0] > 1 << ERA
        back = np.diff(slots[:, 0]) < 0  # groups of a chunk begin one after another
        cuts = np.flatnonzero((np.diff(eras) != 0) | long[1:] | long[:-1] | back) + 1
        starts, count = np.concatenate([[0], cuts]), self._counts[2]
        done = count + len(starts)
        self._chunks, self._chunk_around = _roomy(self._chunks, done), _roomy(self._chunk_around, done)
        rows = self._chunks[count:done]
        rows[:, 0], rows[:, 1] = first + starts, first + np.append(cuts, end - first)
        rows[:, 2], rows[:, 3] = np.minimum.reduceat(slots[:, 0], starts), np.maximum.reduceat(slots[:, 1], starts)
        around = self._around[first:end]
        low = np.minimum.reduceat(around[:, :2] - around[:, 2:], starts)
        high = np.maximum.reduceat(around[:, :2] + around[:, 2:], starts)
        middle = 0.5 * (low + high)
        away = np.hypot(*(around[:, :2] - np.repeat(middle, np.diff(np.append(starts, end - first)), axis=0)).T)
        self._chunk_around[count:done, :2] = middle
        self._chunk_around[count:done, 2] = np.maximum.reduceat(away + around[:, 2], starts)
        self._counts[2] = done
        return count, done

    def _link(self, first: int, end: int) -> None:
        """Add new chunks to chains; if keys become crowded, all chains are built again."""
        needed = int(count_links(self._chunk_around, self._chunks, first, end, SHORT))
        wanted = int(self._state[1]) + needed
        if 2 * wanted > len(self._keys):
            self._clear_chains(2 ** math.ceil(math.log2(4 * wanted)))
            first, needed = 0, int(count_links(self._chunk_around, self._chunks, 0, end, SHORT))
        self._links = _roomy(self._links, int(self._state[0]) + needed)
        link_chunks(
            self._keys, self._heads, self._links, self._chunk_around, self._chunks, first, end, SHORT, self._state
        )

    def _take_out(self, owner: int) -> None:
        self._held = None
        for first, end in self._chunks_of.pop(owner, []):
            self._chunk_around[first:end, 2] = -np.inf
        for first, end in self._groups_of.pop(owner, []):
            self._around[first:end, 2] = -np.inf
            self._gone += end - first
        if self._gone > 1024 and 2 * self._gone > self._counts[0]:
            self._pack()

    def _pack(self) -> None:
        """Remove groups that are gone."""
        groups = self._counts[0]
        kept = np.flatnonzero(self._around[:groups, 2] > -np.inf)
        rows = self._groups[kept]
        sizes = rows[:, 1] - rows[:, 0]
        ends = np.cumsum(sizes)
        which = np.repeat(rows[:, 0] - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
        self._discs[: len(which)] = self._discs[which]
        rows[:, 0], rows[:, 1] = ends - sizes, ends
        self._groups[: len(kept)], self._around[: len(kept)] = rows, self._around[kept]
        before = np.searchsorted(kept, np.arange(groups + 1))
        self._groups_of = {
            owner: [(int(before[a]), int(before[b])) for a, b in spans if before[a] < before[b]]
            for owner, spans in self._groups_of.items()
        }
        self._counts, self._gone = [len(kept), len(which), 0], 0
        self._last = _last_change(rows[:, FIRST_SLOT : END_SLOT + 1])
        self._clear_chains(len(self._keys))
        self._chunks_of = {
            owner: [self._add_chunks(first, end) for first, end in spans] for owner, spans in self._groups_of.items()
        }
        self._link(0, self._counts[2])

    def _clear_chains(self, size: int) -> None:
        self._keys: IntArray = np.full(size, -1, dtype=np.int64)
        self._heads = np.full(size, -1, dtype=np.int32)
        self._state: IntArray = np.zeros(2, dtype=np.int64)


def _mirrored(swept: Swept, mirrors: FloatArray) -> Swept:
    """Return something swept, with what of it is on ground that is in the plane twice (M, 6) on both."""
    (x, y, r), parts = swept.around.T, [swept]
    for x0, y0, x1, y1, dx, dy in mirrors.tolist():
        near = np.flatnonzero((x + r >= x0) & (x - r <= x1) & (y + r >= y0) & (y - r <= y1))
        if len(near):
            sizes = np.diff(swept.starts)[near]
            ends = np.cumsum(sizes)
            which = np.repeat(swept.starts[near] - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
            move = np.array([dx, dy, 0.0])
            starts = np.concatenate([[0], ends])
            parts.append(
                Swept(
                    swept.around[near] + move, swept.discs[which] + move, starts, swept.slots[near], swept.kinds[near]
                )
            )
    return swept if len(parts) == 1 else Swept.joined(parts)


def _view(array: npt.NDArray[Any]) -> Any:
    view = array.view()
    view.setflags(write=False)
    return view


def placed_discs(pose: Pose, discs: npt.ArrayLike) -> FloatArray:
    """Return discs (D, 3) in the world, given in the frame of a pose."""
    return _moved(pose, np.asarray(discs, dtype=np.float64))


def _moved(pose: Pose, discs: FloatArray) -> FloatArray:
    c, s = math.cos(pose[2]), math.sin(pose[2])
    x, y = discs[:, 0], discs[:, 1]
    return np.column_stack([pose[0] + c * x - s * y, pose[1] + s * x + c * y, discs[:, 2]])


def swept_step(step: PlanStep, table: ActionTable, discs: BodyDiscs) -> Swept:
    """Return what one step of a plan covers, window by window."""
    return swept_steps([step], table, discs)[0]


def swept_steps(steps: Sequence[PlanStep], table: ActionTable, discs: BodyDiscs) -> list[Swept]:
    """Return what each of some steps of a plan covers, window by window."""
    if not steps:
        return []
    names = [(step.clip, step.behavior) for step in steps]
    known = {name: _action(table, *name) for name in dict.fromkeys(names)}
    actions = np.array([known[name] for name in names])
    first, end = discs.window_starts[actions], discs.window_starts[actions + 1]
    windows, counts = ranges(first, end), end - first
    starts, ends = discs.timed_starts[first], discs.timed_starts[end]
    x, y, _ = np.array([step.pose for step in steps]).T
    c, s = (np.array([turn(step.pose[2]) for step in steps]) for turn in (math.cos, math.sin))
    around = _carried(x, y, c, s, counts, discs.window_around[windows])
    carried = _carried(x, y, c, s, ends - starts, discs.timed[ranges(starts, ends)])
    times, speeds = (np.repeat([getattr(step, of) for step in steps], counts) for of in ("time", "speed"))
    slots = np.empty((len(windows), 2), dtype=np.int64)
    step_window_slots(read_only(times[:, None] + discs.window_times[windows] / speeds[:, None]), slots)
    kinds, out, window, disc = np.full(len(windows), -1, dtype=np.int64), list[Swept](), 0, 0
    for a, b, here, there in zip(first.tolist(), end.tolist(), starts.tolist(), ends.tolist(), strict=True):
        rows = slice(window, window + b - a)
        own, of_step = discs.timed_starts[a : b + 1] - here, carried[disc : disc + there - here]
        out.append(Swept(around[rows], of_step, own, slots[rows], kinds[rows]))
        window, disc = rows.stop, disc + there - here
    return out


def _carried(
    x: FloatArray, y: FloatArray, c: FloatArray, s: FloatArray, counts: IntArray, discs: FloatArray
) -> FloatArray:
    """Return discs in the world, some in the frame of each pose, of which the cosine and the sine are known."""
    x, y, c, s = (np.repeat(values, counts) for values in (x, y, c, s))
    u, v = discs[:, 0], discs[:, 1]
    return np.column_stack([x + c * u - s * v, y + s * u + c * v, discs[:, 2]])


def step_slots(step: PlanStep, discs: BodyDiscs, action: int) -> IntArray:
    """Return first and end slot of each window of a step that plays an action; (W, 2)."""
    windows = slice(int(discs.window_starts[action]), int(discs.window_starts[action + 1]))
    times = step.time + discs.window_times[windows] / step.speed
    slots = np.empty(times.shape, dtype=np.int64)
    step_window_slots(read_only(times), slots)
    return slots


def _action(table: ActionTable, clip: str, behavior: str) -> int:
    number = table.index(behavior)
    for action, name in enumerate(table.clips):
        if name == clip and table.behavior[action] == number:
            return action
    raise LibraryError(f"behaviour '{behavior}' has no clip '{clip}'; plan with the same library")


def _last_change(slots: npt.NDArray[Any]) -> int:
    """Return the last slot in which something comes or goes."""
    ends = slots[slots[:, 1] < FOREVER, 1]
    return int(max(slots[:, 0].max(initial=0), ends.max(initial=0)))


def _roomy(array: npt.NDArray[Any], needed: int) -> Any:
    """Return the array, or a copy of at least twice the length if it is too short."""
    if needed <= len(array):
        return array
    out = np.empty((max(needed, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
