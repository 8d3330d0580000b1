"""Whole walks of live companions, planned as those of scenes are: beside the way of the first one, at two paces.

A search may let a move take longer, so that somebody waits for companions while walking. Live characters play each move
at the pace of their library or at that of a slower one of the same clips, whichever keeps the time better.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.live.climbing.own_actions import ClimbingParts
from gaitway.live.planning._company_kernels import install_paced
from gaitway.live.planning.sliced_search import SlicedQuery, SlicedSearch
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import HEADING, TIME, X, Y
from gaitway.live.playing.arrays import LiveLibrary, library_of
from gaitway.space.planner import Company

_TRIES, _TRIES_OF_FIRST = ((0.13, 0.0), (0.08, 0.8), (0.22, 0.8)), ((0.03, 0.0), (0.08, 1.0))
"""By how much discs of others are larger, and how much farther from a goal a way may end, in one search after another
until its path is free [m], for those who are led and for the first one. Searches let the led come 10 cm nearer to
others than live ones may; moves are played some hundredths of a second sooner or later; and others may stand at
the goal."""
_EFFORTS = ((1.6, 1_500), (2.5, 1_500), (4.0, 2_000))
"""Factors on the estimated cost to the goal, and numbers of nodes to try with each."""


class CompanyWalks:
    """Walks of live companions. This class is **mutable**: it keeps what it searches with."""

    def __init__(self, radius: float) -> None:
        """Begin; characters keep a disc of a radius about their roots clear [m]."""
        self._radius, self._searches = radius, dict[int, SlicedSearch]()

    def begin(self, parts: ClimbingParts, me: int, usual: int, slower: int, company: Company) -> bool:
        """Let a character walk to its goal in company, after the move that it is in; return whether there is a way.

        In a world with movers there is none.

        Args:
            parts: what there is.
            me: the character.
            usual: number of the library that it plays.
            slower: number of a library of the same clips at a slower pace.
            company: where it would like to be beside companions.
        """
        crowd, libraries, body = parts.crowd.value, parts.libraries, parts.body.value
        counts, numbers, steps = crowd.counts, crowd.numbers, crowd.steps
        library, other, planner = libraries[usual], libraries[slower], parts.planners[usual]
        fixed, count = counts[me, [playing.FIXED, playing.COUNT]].tolist()
        last = int(crowd.actions[me, fixed - 1])
        own = libraries[int(library_of(libraries, np.array([last]))[0])]
        if own.frames is not library.frames or other.frames is not library.frames or last >= libraries[-1].end_action:
            return False
        if planner.busy:  # a whole way is longer than movers are known ahead
            return False
        if counts[me, playing.STATUS] != playing.GOING or counts[me, playing.HELD] or counts[me, playing.ALARM]:
            return False
        if usual not in self._searches:
            self._searches[usual] = SlicedSearch(library)
        search = self._searches[usual]
        if search.fields is not planner.fields:
            search.enter(planner.fields, parts.time)
        search.look_ahead(parts.time)
        x, y, heading = steps[me, fixed if fixed < count else -1, [X, Y, HEADING]].tolist()
        time, before = float(steps[me, fixed - 1, TIME] + body.durations[last]), last - own.first_action
        goal_x, goal_y, near = numbers[me, [playing.GOAL_X, playing.GOAL_Y, playing.TOLERANCE]].tolist()
        name = library.prepared.actions.names[before]
        query = SlicedQuery((x, y, heading), time, name, (goal_x, goal_y), near, _EFFORTS)
        there = parts.planners[slower]
        for wider, farther in _TRIES if len(company.places) else _TRIES_OF_FIRST:
            wanted = query._replace(tolerance=query.tolerance + farther)
            found = search.in_company(crowd, me, wanted, company, parts.time, (self._radius, wider))
            if found is None:
                continue
            paced = _paced(found, library, other)
            end = int(body.rests[paced[-1]])
            if end >= 0 and len(paced) < install_paced(
                planner.actions, there.actions, planner.fields.handle, planner.passing, there.passing, planner.traffic,
                planner.busy, parts.body, parts.crowd, parts.live[usual], me, read_only(paced), end,
            ):  # fmt: skip
                break
        else:
            return False
        counts[me, playing.FAILS] = 0
        counts[me, playing.ROUTE] = int(planner.routes.numbers(np.array([[goal_x, goal_y]]))[0])
        numbers[me, playing.LEFT], numbers[me, playing.PLANNED] = np.inf, parts.time
        return True


def _paced(rows: FloatArray, library: LiveLibrary, other: LiveLibrary) -> IntArray:
    """Return the moves of a path by their numbers in the crowd, each at the pace that keeps the time better.

    Args:
        rows: time at which each move begins [s], and its number in the library; the last row is the end; (N + 1, 2).
        library: the library at the usual pace.
        other: the same at another pace.
    """
    time, out = float(rows[0, 0]), []
    usual, slow = library.body.durations, other.body.durations
    for wanted, action in zip(rows[1:, 0].tolist(), rows[:-1, 1].astype(np.int64).tolist(), strict=True):
        late, later = abs(time + usual[action] - wanted), abs(time + slow[action] - wanted)
        slowly = later < late - 1e-6
        time += float(slow[action] if slowly else usual[action])
        out.append(action + (other if slowly else library).first_action)
    out[-1] = int(rows[-2, 1]) + library.first_action  # in the end it stands at the usual pace
    return np.array(out, dtype=np.int64)
