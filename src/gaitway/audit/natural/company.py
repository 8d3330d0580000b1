"""Company: how much of their way those who go together are near one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.take.model import Take

_NEAR = 2.0
"""Distance from the nearest companion, and from the middle of all, within which somebody is in company [m]."""
_LOOK = 0.2
"""Time from one look to the next [s]."""
_MOVES = 0.3
"""Speed above which somebody is on the way [m/s]."""
Shown = tuple[float, float, tuple[float, float, float]]


def in_company(take: Take, companies: Sequence[Sequence[str]]) -> dict[str, Shown]:
    """Return the share of everybody's way that is in company [%], and the moment [s] and place [m] farthest from it.

    Only moments count at which a companion is there: who has left is not missed.

    Args:
        take: the take.
        companies: names of those who go together.
    """
    times = np.arange(0.0, take.duration, _LOOK)
    numbers = {name: k for k, name in enumerate(take.names)}
    found: dict[str, Shown] = {}
    if len(times) < 2:
        return found
    places = take.planar(times)[:, :, :2]
    for names in companies:
        who = [numbers[name] for name in names if name in numbers]
        for one in who:
            others = places[[k for k in who if k != one]]
            there = ~np.isnan(others[..., 0])
            own = places[one]
            step = np.hypot(*np.diff(own, axis=0, append=own[-1:]).T)
            counts = np.nan_to_num(step) / _LOOK > _MOVES
            counts &= there.any(axis=0)
            if not counts.any():
                continue
            away = np.where(there, np.hypot(*np.moveaxis(others - own, -1, 0)), np.inf).min(axis=0)
            whole = np.concatenate([own[None], others])
            present = np.concatenate([[np.ones(len(times), dtype=bool)], there])
            middle = np.where(present[..., None], whole, 0.0).sum(axis=0) / present.sum(axis=0)[:, None]
            far = np.where(counts, np.maximum(away, np.hypot(*(own - middle).T)), 0.0)
            worst = int(np.argmax(far.round(6)))
            way = step[counts]
            share = 100.0 * float((way * (far[counts] <= _NEAR)).sum() / way.sum())
            x, y = own[worst].tolist()
            found[take.names[one]] = (share, float(times[worst]), (x, y, 0.0))
    return found
