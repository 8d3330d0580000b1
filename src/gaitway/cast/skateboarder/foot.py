"""The skateboarder's right foot: on the deck, on the ground, and from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gaitway.cast.curves import bump, hermite
from gaitway.cast.skateboarder.rig import FPS, FreeFoot
from gaitway.cast.skateboarder.skeleton import DECK_HEIGHT, FEET
from gaitway.core.arrays import BoolArray, FloatArray

DEGREE = np.pi / 180.0


def foot_on_board(count: int) -> FreeFoot:
    """Return the foot in its place on the tail for `count` frames."""
    x, y, yaw = FEET["Right"]
    zero = np.zeros(count)
    ball = np.broadcast_to(np.array([x, y, DECK_HEIGHT]), (count, 3))
    return FreeFoot(ball, zero + yaw, zero, zero, np.zeros(count, dtype=bool), zero + 1.0)


@dataclass(frozen=True)
class PushStep:
    """The right foot on the ground between two times [s], its ball at (x, y) [m] in the clip, pointing to yaw [rad]."""

    start: float
    end: float
    x: float
    y: float
    yaw: float
    planted: bool = True


def walk_foot(
    times: FloatArray, along: FloatArray, steps: Sequence[PushStep], from_board: bool, to_board: bool
) -> FreeFoot:
    """Return the right foot from the deck (or the ground) through steps to the deck (or the ground), smooth in between.

    Args:
        times: Times of the frames [s]; (F,).
        along: How far the board has come [m]; (F,). The ride is straight.
        steps: Places and times at which the foot stands on the ground.
        from_board: The clip begins with it on the deck.
        to_board: The clip ends with it on the deck.
    """
    x, y, yaw = FEET["Right"]
    state = np.tile(np.array([x, y, DECK_HEIGHT, yaw, 0.0, 0.0]), (len(times), 1))  # ball, yaw, pitch, toe
    planted: BoolArray = np.zeros(len(times), dtype=bool)
    grounded: BoolArray = np.zeros(len(times), dtype=bool)
    for step in steps:
        inside = (times >= step.start - 1e-9) & (times <= step.end + 1e-9)
        grounded |= inside
        planted |= inside & step.planted
        state[inside] = _on_ground(times[inside], along[inside], step, last=not to_board and step is steps[-1])
    free = ~grounded
    on_board = free.copy()
    gaps = _gaps(times, steps, from_board, to_board)
    for begin, end, kind in gaps:
        _swing(state, begin, end, kind)
        on_board[begin : end + 1] = False
    weight = on_board.astype(np.float64)
    return FreeFoot(state[:, :3], state[:, 3], state[:, 4], state[:, 5], planted, weight)


def _on_ground(times: FloatArray, along: FloatArray, step: PushStep, last: bool) -> FloatArray:
    """Return the state of the foot in a step: it stays, the board moves on, the heel rises at the end."""
    s = (times - step.start) / (step.end - step.start)
    out = np.zeros((len(times), 6))
    out[:, 0], out[:, 1], out[:, 3] = step.x - along, step.y, step.yaw
    if step.planted and not last:
        out[:, 4] = 46.0 * DEGREE * np.clip((s - 0.3) / 0.7, 0.0, 1.0) ** 2
        out[:, 5] = 1.0
    return out


def _frame(time: float) -> int:
    return round(time * FPS)


def _gaps(times: FloatArray, steps: Sequence[PushStep], from_board: bool, to_board: bool) -> list[tuple[int, int, str]]:
    """Return first and last frame of each swing between the foot's places, and which kind it is."""
    out = []
    swing = 0.4  # seconds between deck and ground
    if from_board:
        out.append((max(_frame(steps[0].start - swing), 0), _frame(steps[0].start), "down"))
    out += [(_frame(a.end), _frame(b.start), "forward") for a, b in pairwise(steps)]
    if to_board:
        out.append((_frame(steps[-1].end), min(_frame(steps[-1].end + 0.55), len(times) - 1), "up"))
    return out


def _swing(state: FloatArray, begin: int, end: int, kind: str) -> None:
    """Fill frames between two places of the foot, in place, carrying on its speed over the ground at either end."""
    span = end - begin
    # only as much of the speed as does not throw the foot far past its place; the foot turns from rest to rest
    most = np.array([0.35, 0.1, 0.0, 0.0, 0.0, 0.0])
    leave, arrive = np.zeros(6), np.zeros(6)
    if kind != "down" and begin > 0:
        leave = np.clip((state[begin] - state[begin - 1]) * span, -most, most)
    if kind != "up" and end + 1 < len(state):
        arrive = np.clip((state[end + 1] - state[end]) * span, -most, most)
    s = np.linspace(0.0, 1.0, span + 1)
    path = hermite(s, state[begin].copy(), leave, state[end].copy(), arrive)
    path[:, 2] += {"down": 0.05, "forward": 0.10, "up": 0.07}[kind] * bump(s, 2.0, 2.5)
    path[:, 1] += {"down": -0.05, "forward": -0.02, "up": -0.10}[kind] * bump(s, 2.0, 2.0)
    path[:, 4] += {"down": -6.0, "forward": 10.0, "up": 4.0}[kind] * DEGREE * bump(s, 2.0, 4.0)
    state[begin : end + 1] = path
