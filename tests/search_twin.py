"""Small libraries made by hand, and the search again in plain Python."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.behavior.searcher import Searcher
from gaitway.core import planar
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.space.fields import WorldFields
from gaitway.space.query import Query
from gaitway.world.regions import Reach

RADIUS = 0.3
FRAME = 1.0 / 30.0


@dataclass(frozen=True)
class Act:
    """One behaviour with one clip: an arc of a length [m] and a turn [rad]."""

    name: str
    start: str
    end: str
    length: float
    turn: float
    seconds: float
    kind: str | None = None


LATTICE = (
    Act("wait", "stand", "stand", 0.0, 0.0, 1.0),
    Act("ahead", "stand", "stand", 1.0, 0.0, 1.0),
    Act("left", "stand", "stand", 0.0, math.pi / 2, 1.0),
    Act("right", "stand", "stand", 0.0, -math.pi / 2, 1.0),
)
"""Steps of a metre and quarter turns: no two states share a bin, so that a search is exact."""
WALKER = (
    Act("wait", "stand", "stand", 0.0, 0.0, 1.0),
    Act("start", "stand", "walk", 0.8, 0.0, 1.0),
    Act("stop", "walk", "stand", 0.5, 0.0, 0.8),
    Act("straight", "walk", "walk", 1.4, 0.0, 1.0),
    Act("left", "walk", "walk", 1.4, math.radians(30.0), 1.0),
    Act("right", "walk", "walk", 1.4, math.radians(-30.0), 1.0),
    Act("turn_left", "stand", "stand", 0.0, math.radians(90.0), 1.5),
    Act("turn_right", "stand", "stand", 0.0, math.radians(-90.0), 1.5),
)
JUMPER = (*WALKER, Act("jump", "walk", "walk", 3.0, 0.0, 1.5, "jump"))


def arc(act: Act, share: np.ndarray) -> np.ndarray:
    """Poses along an act (N, 3)."""
    turn = act.turn * share
    if act.turn == 0.0 or act.length == 0.0:
        return np.stack([act.length * share, 0.0 * share, turn], axis=-1)
    radius = act.length / act.turn
    return np.stack([radius * np.sin(turn), radius * (1.0 - np.cos(turn)), turn], axis=-1)


def small_table(acts: Sequence[Act]) -> ActionTable:
    states = tuple(dict.fromkeys(s for act in acts for s in (act.start, act.end)))
    kinds = tuple(dict.fromkeys(act.kind for act in acts if act.kind))
    samples = [arc(act, np.linspace(0.0, 1.0, 5)) for act in acts]
    followers = [[b for b, other in enumerate(acts) if other.start == act.end] for act in acts]
    idle = np.array([act.length == 0.0 and act.turn == 0.0 for act in acts])
    count = len(acts)
    return ActionTable(
        behaviors=tuple(act.name for act in acts),
        clips=tuple(f"{act.name}_clip" for act in acts),
        kinds=kinds,
        states=states,
        start_state=np.array([states.index(act.start) for act in acts]),
        end_state=np.array([states.index(act.end) for act in acts]),
        idle=idle,
        quiet=idle,
        on_foot=np.zeros(count, dtype=bool),
        rest=np.array([any(act.start == s and i for act, i in zip(acts, idle, strict=True)) for s in states]),
        behavior=np.arange(count),
        moves=np.array([poses[-1] for poses in samples]),
        frames=np.array([round(act.seconds / FRAME) for act in acts]),
        durations=np.array([act.seconds for act in acts]),
        costs=np.array([act.length for act in acts]),
        rises=np.zeros(count),
        kind=np.array([-1 if act.kind is None else kinds.index(act.kind) for act in acts]),
        pass_times=np.array([np.nan if act.kind is None else 0.5 * act.seconds for act in acts]),
        sample_starts=np.arange(0, 5 * count + 1, 5),
        samples=np.concatenate(samples),
        sample_times=np.concatenate([np.linspace(0.0, act.seconds, 5) for act in acts]),
        follower_starts=np.cumsum([0, *map(len, followers)]),
        followers=np.array([b for some in followers for b in some]),
        spacing=0.4,
    )


def small_discs(acts: Sequence[Act]) -> BodyDiscs:
    """A round body of `RADIUS`: discs along the way, and one in each tenth of a second."""
    static, windows, around = [], [], []
    for act in acts:
        poses = arc(act, np.linspace(0.0, 1.0, max(round(act.length / 0.2), 0) + 1 if act.length else 1))
        static.append(np.column_stack([poses[:, :2], np.full(len(poses), RADIUS + (0.02 if act.length else 0.0))]))
        middle = static[-1][:, :2].mean(axis=0)
        around.append([*middle, (np.hypot(*(static[-1][:, :2] - middle).T) + static[-1][:, 2]).max()])
        times = np.arange(0.0, act.seconds - 1e-9, 0.1)
        ends = np.minimum(times + 0.1, act.seconds)
        places = arc(act, 0.5 * (times + ends) / act.seconds)
        reach = RADIUS + 0.5 * act.length * 0.1 / act.seconds
        windows.append(np.column_stack([times, ends, places, np.full(len(times), reach)]))
    every = np.concatenate(windows)
    discs = every[:, [2, 3, 5]]
    return BodyDiscs(
        static_starts=np.cumsum([0, *map(len, static)]),
        static=np.concatenate(static),
        bounds=np.array([(np.hypot(*d[:, :2].T) + d[:, 2]).max() for d in static]),
        around=np.array(around),
        window_starts=np.cumsum([0, *map(len, windows)]),
        window_frames=np.round(every[:, :2] / FRAME).astype(np.int64),
        window_times=every[:, :2].copy(),
        window_poses=every[:, 2:5].copy(),
        window_bounds=every[:, 5].copy(),
        window_around=discs.copy(),
        timed_starts=np.arange(len(every) + 1),
        timed=discs.copy(),
        margin=0.05,
        timed_margin=0.05,
    )


def small_reaches(acts: Sequence[Act]) -> tuple[Reach, ...]:
    """What a jump clears: 0.5 m in its middle third, with the feet on the ground before and after."""
    made = []
    for act in acts:
        if act.kind is None:
            continue
        stations = -0.5 + 0.02 * (np.arange(round((act.length + 1.0) / 0.02)) + 0.5)
        there = (stations > -RADIUS) & (stations < act.length + RADIUS)
        high = (stations > act.length / 3.0) & (stations < 2.0 * act.length / 3.0)
        made.append(
            Reach(
                behavior=act.name, kind=act.kind, cell=0.02, first=-0.5,
                lowest=np.where(there, np.where(high, 0.5, 0.0), np.inf), highest=np.where(there, 1.8, -np.inf),
                passing=0.5 * act.length, move=(act.length, 0.0, 0.0), heading=0.0, half_width=RADIUS,
                duration=act.seconds, pass_time=0.5 * act.seconds,
            )
        )  # fmt: skip
    return tuple(made)


def small_searcher(acts: Sequence[Act], time_weight: float = 0.1) -> Searcher:
    table, discs = small_table(acts), small_discs(acts)
    for part in (table, discs):
        for value in vars(part).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
    return Searcher(table, discs, small_reaches(acts), time_weight)


def moved(pose: np.ndarray, move: np.ndarray) -> np.ndarray:
    """As `planar.compose`, but rounded as the kernel rounds, since equal costs are decided by the last bit."""
    c, s, turned = math.cos(pose[2]), math.sin(pose[2]), pose[2] + move[2]
    heading = turned - math.tau * math.floor((turned + math.pi) / math.tau)
    return np.array([pose[0] + c * move[0] - s * move[1], pose[1] + s * move[0] + c * move[1], heading])


def twin_cost(
    acts: Sequence[Act], fields: WorldFields, query: Query, time_weight: float = 0.1, blind: bool = False
) -> tuple[float, int] | None:
    """Cost of the plan that a search finds, and nodes expanded; None if there is none. Ordinary acts, no traffic.

    `blind` leaves the estimate out, so that the best plan is found whatever the estimate is.
    """
    discs = small_discs(acts)
    costs = [act.length + time_weight * act.seconds for act in acts]
    moves = [arc(act, np.array([1.0]))[0] for act in acts]
    rates = [cost / np.hypot(*move[:2]) for cost, move in zip(costs, moves, strict=True) if np.hypot(*move[:2]) > 0]
    resting = {act.start for act in acts if act.length == 0.0 and act.turn == 0.0}
    per_metre = 0.0 if blind else min(rates)

    def key(pose: np.ndarray, state: str) -> tuple[object, ...]:
        turn = math.floor((pose[2] + math.pi) / math.radians(15.0) + 0.5) % 24
        return math.floor(pose[0] * 4.0), math.floor(pose[1] * 4.0), turn, state

    def shortage(pose: np.ndarray, own: np.ndarray) -> np.ndarray:
        return own[:, 2] - fields.clearance(planar.transform_points(pose, own[:, :2]))

    def free(pose: np.ndarray, action: int) -> bool:
        own = discs.static[discs.static_starts[action] : discs.static_starts[action + 1]]
        near = math.hypot(pose[0] - start[0], pose[1] - start[1]) <= 0.4
        return bool((shortage(pose, own) <= (max(short, 0.0) + 0.01 if near else 0.0)).all())

    def guess(pose: np.ndarray) -> float:
        away = math.hypot(pose[0] - query.goal[0], pose[1] - query.goal[1])
        return max(away - query.tolerance, 0.0) * per_metre

    start = np.array(query.start)
    waiting = next(b for b, act in enumerate(acts) if act.length == 0.0 and act.turn == 0.0)
    short = float(shortage(start, discs.static[discs.static_starts[waiting] : discs.static_starts[waiting + 1]]).max())
    best, count, expanded = {key(start, "stand"): 0.0}, 0, 0
    queue = [(query.weight * guess(start), guess(start), 0, 0.0, tuple(start), "stand")]
    while queue:
        _, _, _, cost, place, state = heapq.heappop(queue)
        pose = np.array(place)
        if best[key(pose, state)] < cost:
            continue
        if math.hypot(pose[0] - query.goal[0], pose[1] - query.goal[1]) <= query.tolerance + 1e-9 and state in resting:
            return cost, expanded
        expanded += 1
        for action, act in enumerate(acts):
            if act.start != state:
                continue
            after, total = moved(pose, moves[action]), cost + costs[action]
            bin_of = key(after, act.end)
            if best.get(bin_of, math.inf) <= total or not free(pose, action):
                continue
            best[bin_of] = total
            count += 1
            h = guess(after)
            heapq.heappush(queue, (total + query.weight * h, h, count, total, tuple(after), act.end))
    return None
