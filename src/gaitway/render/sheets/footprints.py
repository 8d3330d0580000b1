"""Where feet rested: soles painted on the floor, from a clip's contacts."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.render.raster.things import Mark, Paint

_LEFT, _RIGHT = "#c4623f", "#4f86b5"
_SOLE = np.array(
    [
        # along the foot from heel to toe, aside: one half of a right-and-left alike sole, for a length of one
        [-0.50, 0.00], [-0.46, -0.11], [-0.34, -0.15], [-0.10, -0.135], [0.12, -0.17], [0.28, -0.185], [0.42, -0.14],
        [0.50, 0.00], [0.42, 0.14], [0.28, 0.185], [0.12, 0.17], [-0.10, 0.135], [-0.34, 0.15], [-0.46, 0.11],
    ]
)  # fmt: skip


def footprints(clip: Clip) -> list[Paint]:
    """One mark for every time a foot came to rest: a sole if heel and ball are known, else a round spot.

    Left feet are warm and right ones cool. A clip without contacts has none.
    """
    if clip.contacts is None:
        return []
    places = clip.contact_positions()
    columns = {p.name: i for i, p in enumerate(clip.skeleton.contact_points)}
    marks: list[Paint] = []
    for side, color in (("left", _LEFT), ("right", _RIGHT)):
        heel, ball = columns.get(f"{side}_heel"), columns.get(f"{side}_ball")
        if heel is not None and ball is not None:
            resting = clip.contacts[:, heel] | clip.contacts[:, ball]
            for start, stop in _runs(resting):
                marks.append(_sole(_rest(places[start:stop, heel]), _rest(places[start:stop, ball]), color))
            continue
        for name, column in columns.items():
            if name.startswith(side) and "hand" not in name and "knee" not in name:
                runs = _runs(clip.contacts[:, column])
                marks += [_spot(_rest(places[start:stop, column]), color) for start, stop in runs]
    return marks


def _runs(flags: BoolArray) -> list[tuple[int, int]]:
    """Start and stop of each stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _rest(track: FloatArray) -> FloatArray:
    """Where a point is while it hardly moves: the median of its lower half; (2,)."""
    low = track[:, 2] <= np.median(track[:, 2]) + 1e-9
    return np.median(track[low, :2], axis=0)


def _sole(heel: FloatArray, ball: FloatArray, color: str) -> Mark:
    way = ball - heel
    distance = max(float(np.linalg.norm(way)), 0.05)
    ahead = way / distance
    # the sole reaches a little behind the heel's point and well beyond the ball
    length = 1.75 * distance
    middle = heel + ahead * (0.5 * length - 0.22 * distance)
    return Mark(middle + length * (_SOLE[:, :1] * ahead + _SOLE[:, 1:] * np.array([-ahead[1], ahead[0]])), color, 0.75)


def _spot(place: FloatArray, color: str) -> Mark:
    turn = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    return Mark(place + 0.06 * np.stack([np.cos(turn), np.sin(turn)], axis=1), color, 0.75)
