"""Live characters on several floors: which links lead them to their goals, and how they get onto them.

All floors lie side by side in one plane, in which the engine plans as on any floor. A character whose goal is on
another floor goes to a place before the next link on its way, and tries to board it from there on: a short search finds
steps that lead onto it, their last ones are bent so that the clip of the link lies exactly on the stairs, and all of
it is reserved at once, on both floors, with steps beyond it that come to rest. If others are in the way, it tries again
a little later. Once it has boarded, it plans on from the end of the link as everybody else. Who takes a lift waits
before its door until it stands there; the steps onto it, the ride and the steps off it are reserved in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import shapely

from gaitway.core import planar
from gaitway.core.archives import Arrays
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.levels.leading import AT_EDGE
from gaitway.levels.links import BLOCKS, Link
from gaitway.levels.routing import NEAR, LevelRoutes
from gaitway.live.climbing._boarding_kernels import board
from gaitway.live.climbing.flights import BENT, COLUMNS, LOGGED, PARTS, FlightOrder, LiveFlight, laid_steps, make_flight
from gaitway.live.climbing.lift_rides import (
    FACING,
    PLACE,
    WAITS,
    free_places,
    longest_ride,
    make_ride,
    rounds_of,
    stands,
)
from gaitway.live.climbing.narrow_slopes import NextLink, must_wait, one_lane
from gaitway.live.climbing.own_actions import ClimbingParts, OwnActions
from gaitway.live.planning.planner import LivePlanner
from gaitway.live.planning.sliced_search import SlicedQuery, SlicedSearch
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import HEADING, TIME, CrowdArrays, X, Y
from gaitway.live.playing.arrays import LiveLibrary, library_of, longer
from gaitway.live.playing.saving import LASTING
from gaitway.space.plan import PlanStep, Pose
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import swept_step
from gaitway.world.levels.floors import EDGE, Floors

# columns of `LiveClimbing.legs`
FINAL_X, FINAL_Y, FINAL_TOLERANCE, LINK, RETRY, MISSES = range(6)
"""Goal in the plane and the distance from it that is near enough [m], next link on the way or -1, time from which the
character tries to board it [s], and number of attempts that failed."""
_NEAR = 7.0
"""Distance from the entry of a link within which a character tries to board it [m]."""
_SOON = 5.0
"""Time within which its certain steps end then [s]."""
_TURNED = float(np.radians(25.0))
"""Greatest difference of the heading at the end of a path from that of the link [rad]."""
_WALKED = (0.7, float(np.radians(60.0)))
"""Greatest distance from the entry of a joint at which somebody goes over to the other floor, and greatest difference
of the heading of a path that ends there [m, rad]: all ground there belongs to both floors."""
_EFFORTS = ((1.0, 600), (2.0, 1_200))
"""Size of the bins and largest number of nodes of the searches for steps onto a link."""
_LONGEST = 5.0
"""Longest time that the steps onto a link may take at first, beyond a second for each metre [s]."""
_LONGER = 0.5
"""By how much that time grows with each attempt that fails [s]: who walks slowly, or has to turn, takes longer."""
_AGAIN = 0.6
"""Time after which a character tries to board again [s]."""
_ATTEMPTS, _SHARE = 2, 100
"""Number of attempts in a step of time, and number of characters for which there is one more."""
_STAGES = ((2.3, -0.7), (2.0, -1.2), (2.8, -0.3), (2.3, 0.0), (1.7, -0.5), (1.7, 0.0), (3.4, 0.0), (1.0, 0.0),
           (0.4, 0.0))  # fmt: skip
"""Places at which one waits for a link, seen from its entry [m]: how far behind it, and to the left. Those who come the
other way leave their lane on the left."""
_ON_IT = (0.0, 0.0)
"""Where one goes first to walk over a joint: onto the ground that belongs to both floors."""
_ROOM = 0.45
"""Least distance of such a place from obstacles [m]."""
_WAITS = 0.8
"""Distance from such a place that is near enough [m]."""
_ELSEWHERE = 6
"""Number of attempts that fail before a character waits at another place."""
_ANOTHER = 12
"""Number of attempts that fail before a character looks for a way over another link."""
_FAILS = 4
"""Number of plans that fail before a character who stands at the edge of a floor turns round there."""
_OVER = 0.15
"""How far a body may reach over the edge of a floor while it turns [m]."""
_STOPS = 10
"""Number of ways to come to rest beyond a link that are tried."""


class LiveClimbing:
    """Ways of live characters over floors. This class is **mutable**.

    Attributes:
        floors: floors of the place.
        own: clips of the flights that are played now.
        legs: goals and next links of characters, see `LINK` and the others; (C, 6).
        orders: flights by number: those that are played, and those of which a record tells.
        kept_since: flights that were over before this time are forgotten [s].
    """

    def __init__(self, floors: Floors, radius: float) -> None:
        """Make a crowd without characters.

        Args:
            floors: floors of the place.
            radius: radius of the disc that each character keeps clear [m].
        """
        self.floors, self.own, self._radius = floors, OwnActions(), radius
        self.legs: FloatArray = np.zeros((0, 6))
        self.orders: dict[int, FlightOrder] = {}
        self.kept_since = math.inf
        self._links: list[tuple[Link, ...]] = []
        self._routes: list[LevelRoutes] = []
        self._searches: list[SlicedSearch] = []
        self._next = 0

    def add_library(self, libraries: Sequence[LiveLibrary], links: tuple[Link, ...], planner: LivePlanner) -> None:
        """Prepare a library, the last one of the crowd, for its links."""
        library = libraries[-1]
        self._links.append(links)
        self._routes.append(LevelRoutes(library.prepared, links))
        search = SlicedSearch(library)
        search.enter(planner.fields, 0.0)
        self._searches.append(search)
        flights = [len(link.played.clip) for link in links if link.fitted]
        fps = max(clip.fps for clip in library.prepared.library.clips.values())
        rides = [longest_ride(link.ride.lift, fps) for link in links if link.ride]
        self.own.prepare(libraries, max([*flights, *rides], default=0))

    def enter(self, planners: Sequence[LivePlanner], now: float) -> None:
        """Go on in a changed world, with the same floors and stairs."""
        for number, (search, planner) in enumerate(zip(self._searches, planners, strict=True)):
            search.enter(planner.fields, now)
            prepared = replace(self._routes[number].prepared, fields=planner.fields)
            self._routes[number] = LevelRoutes(prepared, self._links[number])

    def reserve(self, places: int) -> None:
        """Make room for a number of characters."""
        if len(self.legs) < places:
            self.legs = longer(self.legs, places)

    def wanted(self, who: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the goals of characters in the plane (N, 2), and the distances from them that are near enough (N,)."""
        return self.legs[who][:, [FINAL_X, FINAL_Y]], self.legs[who, FINAL_TOLERANCE]

    def on_the_way(self) -> IntArray:
        """Return the characters that have links ahead of them."""
        return np.flatnonzero(self.legs[:, LINK] >= 0.0)

    def keep_boarded(self, libraries: Sequence[LiveLibrary], crowd: CrowdArrays, who: IntArray) -> None:
        """Let characters that have boarded a link play all steps up to its end, whatever becomes of their goals."""
        for me in who.tolist():
            first, count = crowd.counts[me, [playing.FIRST, playing.COUNT]].tolist()
            own = np.flatnonzero(crowd.actions[me, first:count] >= libraries[-1].end_action)
            fixed = int(crowd.counts[me, playing.FIXED])
            if len(own):
                fixed = max(fixed, first + int(own[-1]) + 1)
            while self.floors.lifts and fixed < count and self._in_lift(crowd.steps[me, fixed]):
                fixed += 1  # who has left a platform too late would be in the air
            crowd.counts[me, playing.FIXED] = fixed

    def _in_lift(self, step: FloatArray) -> bool:
        """Return whether a step begins on a platform, or before its door on the way off it."""
        return self.floors.under(float(step[X]), float(step[Y])).lift is not None

    def aim(
        self, parts: ClimbingParts, who: IntArray, goals: FloatArray, tolerances: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Give characters goals anywhere; return where each of them goes first, and how near (N, 2), (N,)."""
        first, near = np.array(goals), np.array(tolerances)
        for k, me in enumerate(who.tolist()):
            self.legs[me] = (goals[k, 0], goals[k, 1], tolerances[k], -1.0, parts.time, 0.0)
            first[k], near[k] = self._leg(parts, me)
        return first, near

    def _leg(self, parts: ClimbingParts, me: int, without: Collection[int] = ()) -> tuple[tuple[float, float], float]:
        """Choose the next link of a character, without some if there are others; return where it goes, and how near."""
        library = parts.library(me)
        (x, y, _), _, _ = self._fixed_end(parts, me)
        goal = float(self.legs[me, FINAL_X]), float(self.legs[me, FINAL_Y])
        near = float(self.legs[me, FINAL_TOLERANCE])
        way = self._routes[library.number].route((x, y), goal, near, without, roughly=True)
        if way is None and without:
            return self._stage(parts, me)
        self.legs[me, LINK] = way[0] if way else -1
        return self._stage(parts, me) if way else (goal, near)

    def _stage(self, parts: ClimbingParts, me: int) -> tuple[tuple[float, float], float]:
        """Return where a character waits for its next link, and how near."""
        library = parts.library(me)
        link = self._links[library.number][int(self.legs[me, LINK])]
        if link.ride is not None:  # people do not all wait at one place, which would hold only one
            waits = link.ride.waits
            x, y, _ = waits[(me + int(self.legs[me, MISSES]) // _ANOTHER) % len(waits)]
            return (x, y), WAITS
        fields, places = parts.planners[library.number].fields, list[tuple[float, float]]()
        for behind, left in _STAGES if link.fitted is not None else (_ON_IT, *_STAGES):
            x, y, _ = planar.compose(link.entry, (-behind, left, 0.0)).tolist()
            point = np.array([x, y])
            if float(fields.clearance(point)) >= _ROOM and bool(
                fields.parts.connected(point, np.array(link.entry[:2]), NEAR)
            ):
                places.append((x, y))
        if not places:
            return (link.entry[0], link.entry[1]), _WAITS
        return places[int(self.legs[me, MISSES]) // _ELSEWHERE % len(places)], _WAITS

    def step(self, parts: ClimbingParts, relay: Callable[[], ClimbingParts]) -> list[int]:
        """Let characters board links that they are near to; return those that did, or go to another place.

        Args:
            parts: the engine.
            relay: lays the arrays of the engine anew, with the flights of `own`, and returns its parts.
        """
        self._forget(parts)
        crowd, changed = parts.crowd.value, list[int]()
        self._turn_at_edges(parts)
        for me in self._waiting(parts)[: _ATTEMPTS + len(self.legs) // _SHARE]:
            boarded = self._board(parts, me, relay)
            parts = parts if boarded is None else boarded
            if boarded is not None:
                self.legs[me, RETRY], self.legs[me, MISSES] = parts.time, 0.0
                (x, y), near = self._leg(parts, me)
                parts.live[0].value.tally[playing.PLANS] += 1
            else:
                self.legs[me, MISSES] += 1.0
                self.legs[me, RETRY] = parts.time + _AGAIN
                if self.legs[me, MISSES] % _ELSEWHERE:
                    continue
                another = self.legs[me, MISSES] % _ANOTHER == 0.0
                (x, y), near = self._leg(parts, me, {int(self.legs[me, LINK])} if another else ())
            changed.append(me)
            self._redirect(parts, crowd, me, (x, y), near)
        return changed

    def _turn_at_edges(self, parts: ClimbingParts) -> None:
        """Let characters turn round who cannot go on, because they stand too near to the edge of a floor to turn.

        An edge is no wall: a shoulder or an arm may be beyond it.
        """
        crowd = parts.crowd.value
        counts = crowd.counts
        stuck = (counts[:, playing.STATUS] == playing.GOING) & (counts[:, playing.FAILS] >= _FAILS)
        stands = (counts[:, playing.COUNT] == 1) & (crowd.actions[:, 0] == crowd.actions[:, -1])
        for me in np.flatnonzero(stuck & stands & (counts[:, playing.HELD] == 0)).tolist():
            library, (pose, time, _) = parts.library(me), self._fixed_end(parts, me)
            if self.floors.under(pose[0], pose[1]).mesh:
                continue  # the edge may be a wall
            prepared, planner = library.prepared, parts.planners[library.number]
            goal = crowd.numbers[me, [playing.GOAL_X, playing.GOAL_Y]]
            ahead = math.atan2(goal[1] - pose[1], goal[0] - pose[0])
            for action in prepared.part("turns", lambda prepared=prepared: turns_on_the_spot(prepared)):  # type: ignore[misc]
                if abs(planar.wrap_angle(pose[2] + prepared.table.moves[action, 2] - ahead)) > 0.25 * math.pi:
                    continue
                (step,), end, then = laid_steps(prepared, [action], pose, time)
                discs = swept_step(step, prepared.table, prepared.discs).discs
                lack = discs[:, 2] - planner.fields.clearance(discs[:, :2])
                near = discs[lack > 0.0, :2]
                if lack.max() > _OVER or not all(n.startswith(EDGE) for n in planner.fields.blame(near)):
                    continue
                resting = int(parts.body.value.rests[action + library.first_action])
                blocked = board(
                    planner.actions, planner.fields.handle, planner.passing, planner.traffic, planner.busy, parts.body,
                    parts.crowd, parts.live[library.number], me, read_only(_rows([(pose, time), (end, then)])),
                    read_only(np.array([action + library.first_action, resting], np.int64)), 1, _OVER, False,
                )  # fmt: skip
                if blocked < 0:
                    counts[me, playing.FAILS] = 0
                    break

    def _redirect(
        self, parts: ClimbingParts, crowd: CrowdArrays, me: int, goal: tuple[float, float], near: float
    ) -> None:
        """Let a character plan towards a goal of the plane after its fixed steps."""
        counts, numbers = crowd.counts[me], crowd.numbers[me]
        numbers[[playing.GOAL_X, playing.GOAL_Y, playing.TOLERANCE]] = (*goal, near)
        numbers[playing.READY], numbers[playing.LEFT] = parts.time, np.inf
        routes = parts.planners[parts.library(me).number].routes
        counts[playing.ROUTE] = int(routes.numbers(np.array([goal]))[0])
        counts[[playing.FAILS, playing.IDLE, playing.HELD, playing.ALARM]] = 0
        counts[playing.STATUS], counts[playing.SOUGHT] = playing.GOING, 0

    def _waiting(self, parts: ClimbingParts) -> list[int]:
        """Return the characters that may try to board now, the nearest to their links first."""
        crowd, libraries, found = parts.crowd.value, parts.libraries, list[tuple[float, int]]()
        status = crowd.counts[:, playing.STATUS]
        ready = (self.legs[:, LINK] >= 0.0) & (self.legs[:, RETRY] <= parts.time)
        for me in np.flatnonzero(ready & (status != playing.EMPTY)).tolist():
            first, fixed = crowd.counts[me, [playing.FIRST, playing.FIXED]].tolist()
            if (crowd.actions[me, first:fixed] >= libraries[-1].end_action).any() or crowd.counts[me, playing.HELD]:
                continue
            link = self._links[parts.library(me).number][int(self.legs[me, LINK])]
            (x, y, _), end, _ = self._fixed_end(parts, me)
            away = math.dist((x, y), link.entry[:2])
            there = link.ride is None or stands(link.ride, end) is not None
            if there and away <= _NEAR and end <= parts.time + _SOON:
                found.append((away, me))
        return [me for _, me in sorted(found)]

    def _board(self, parts: ClimbingParts, me: int, relay: Callable[[], ClimbingParts]) -> ClimbingParts | None:
        """Let a character board its next link; return the engine's parts if it did."""
        library = parts.library(me)
        prepared, planner = library.prepared, parts.planners[library.number]
        link = self._links[library.number][int(self.legs[me, LINK])]
        pose, time, last = self._fixed_end(parts, me)
        if link.ride is not None:
            return self._ridden(parts, me, link, (pose, time, last), relay)
        if one_lane(link, self._links[library.number]) and must_wait(
            me, link, int(self.legs[me, MISSES]), self._next_links(parts)
        ):
            return None
        over = np.array(pose[:2]) + np.array(link.across)
        there = link.fitted is None and math.dist(pose[:2], link.entry[:2]) <= _WALKED[0]
        there = there and float(planner.fields.clearance(over)) >= _ROOM
        found = [] if there else self._path(parts, me, link, pose, time, last)
        if found is None:
            return None
        actions = [int(action) - library.first_action for action in found]
        longest = _LONGEST + _LONGER * float(self.legs[me, MISSES]) + math.dist(pose[:2], link.entry[:2])
        if laid_steps(prepared, actions, pose, time)[2] > time + longest:
            return None  # others are in the way; it is better to wait than to walk about
        if link.fitted is None:
            return parts if self._walked(parts, me, link, (pose, time, last), actions) else None
        ahead = actions[: max(len(actions) - BENT, 0)]
        plain, start, begin = laid_steps(prepared, ahead, pose, time)
        slot = self.own.free_slot()
        order = FlightOrder(
            self._next, me, int(parts.crowd.value.counts[me, playing.LIFE]), library.number, int(self.legs[me, LINK]),
            slot, ahead[-1] if ahead else last, begin, start, tuple(actions[len(ahead) :]),
        )  # fmt: skip
        flight = make_flight(prepared, link, order, self._radius)
        if isinstance(flight, str) or self._touched(planner, flight) or not self.own.put(parts.libraries, flight):
            return None
        parts = relay()
        if not self._taken(parts, me, flight, (*plain, *flight.steps[: flight.plain]), actions):
            del self.own.flights[slot]
            return None
        self.orders[self._next] = order
        self._next += 1
        return parts

    def _ridden(
        self,
        parts: ClimbingParts,
        me: int,
        link: Link,
        end: tuple[Pose, float, int],
        relay: Callable[[], ClimbingParts],
    ) -> ClimbingParts | None:
        """Let a character board a lift that stands before it, ride and leave; return the engine's parts if it does.

        Args:
            parts: the engine.
            me: the character.
            link: the link of the ride.
            end: where and when its fixed steps end, and their last action.
            relay: as in `step`.
        """
        (x, y, heading), time, last = end
        ride, library = link.ride, parts.library(me)
        assert ride is not None
        prepared, planner = library.prepared, parts.planners[library.number]
        standing = stands(ride, time)
        start = x + ride.boarding.offset[0] - link.source.offset[0], y + ride.boarding.offset[1] - link.source.offset[1]
        off = next((one for one in self._links[library.number] if one.source is link.target), None)
        place = shapely.Point(x - link.source.offset[0], y - link.source.offset[1])
        before_door = bool(shapely.dwithin(ride.boarding.region, place, 0.0))
        if standing is None or off is None or not before_door:
            return None
        for spot in free_places(ride, standing[1], self.own.flights):
            found = self._search(parts, me, ((*start, heading), time, last), spot, (PLACE, FACING), None)
            if found is None:
                continue
            onto = [int(action) - library.first_action for action in found]
            aboard, stop, begin = laid_steps(prepared, onto, (*start, heading), time)
            before = onto[-1] if onto else last
            known = rounds_of(prepared, ride, begin, before) if begin <= standing[1] else None
            if known is None:
                continue
            rest, rounds = known
            arrives = begin + rounds * float(prepared.table.durations[rest] / prepared.speeds[rest])
            leaves = ride.lift.stand(ride.target, standing[1])[1]
            above = stop[0] + ride.across[0], stop[1] + ride.across[1], stop[2]
            away = self._path(parts, me, off, above, arrives, rest)
            if away is None:
                continue
            out = [int(action) - library.first_action for action in away]
            steps, (px, py, facing), done = laid_steps(prepared, out, above, arrives)
            if done > leaves:
                continue
            slot = self.own.free_slot()
            order = FlightOrder(
                self._next, me, int(parts.crowd.value.counts[me, playing.LIFE]), library.number,
                int(self.legs[me, LINK]), slot, before, begin, stop, (),
            )  # fmt: skip
            flight = make_ride(prepared, link, order, self._radius)
            if isinstance(flight, str) or not self.own.put(parts.libraries, flight):
                return None
            parts = relay()
            rows = [(step.pose, step.time) for step in aboard]
            rows += [(stop, begin), *((step.pose, step.time) for step in steps)]
            numbers = [action + library.first_action for action in onto]
            numbers += [self.own.first(parts.libraries, slot), *(action + library.first_action for action in out)]
            over = px + off.across[0], py + off.across[1], facing
            meets = planner.busy and planner.movers.met_by(flight.parts[-1].swept) is not None
            if not meets and self._reserved(parts, me, rows, numbers, over, done, out[-1] if out else rest):
                self.orders[self._next] = order
                self._next += 1
                return parts
            del self.own.flights[slot]
        return None

    def _next_links(self, parts: ClimbingParts) -> Iterator[NextLink]:
        """Yield the next links of all characters that have any."""
        status = parts.crowd.value.counts[:, playing.STATUS]
        for me in self.on_the_way().tolist():
            if status[me] != playing.EMPTY:
                link = self._links[parts.library(me).number][int(self.legs[me, LINK])]
                yield NextLink(me, link, int(self.legs[me, MISSES]))

    def _path(self, parts: ClimbingParts, me: int, link: Link, pose: Pose, time: float, last: int) -> list[int] | None:
        """Return actions of the crowd that lead onto a link, or None."""
        close = _WALKED if link.fitted is None else (NEAR, _TURNED)
        return self._search(parts, me, (pose, time, last), link.entry, close, link.behavior)

    def _search(
        self, parts: ClimbingParts, me: int, start: tuple[Pose, float, int], goal: Pose, close: tuple[float, float],
        followed_by: str | None,
    ) -> list[int] | None:  # fmt: skip
        """Return actions of the crowd that lead to a pose, or None.

        Args:
            parts: the engine.
            me: the character.
            start: where and when it sets out, and the action that ends then.
            goal: the pose.
            close: how near to it [m], and to its heading [rad].
            followed_by: behaviour that must be able to follow; None: it rests there.
        """
        library, (pose, time, last) = parts.library(me), start
        table, (near, turned) = library.prepared.table, close
        wanted = SlicedQuery(
            pose, time, table.behaviors[int(table.behavior[last])], (goal[0], goal[1]), near, _EFFORTS,
            (goal[2], turned), followed_by,
        )  # fmt: skip
        search = self._searches[library.number]
        search.look_ahead(parts.time)
        work = search.work(parts.crowd.value, me, wanted, parts.time)
        while True:
            try:
                next(work)
            except StopIteration as end:
                found: IntArray | None = end.value.actions
                return None if found is None else [int(action) for action in found]

    def _touched(self, planner: LivePlanner, flight: LiveFlight) -> bool:
        """Return whether bent steps come too near to obstacles, or movers are on the way."""
        edge = f"{EDGE}{flight.link.source.name}" if flight.link.played.kind in BLOCKS else None
        for part in flight.parts[:-1]:
            discs = part.swept.discs
            lack = discs[:, 2] - planner.fields.clearance(discs[:, :2])
            near = discs[lack > 0.0, :2]
            if lack.max() > (0.0 if edge is None else AT_EDGE) or any(n != edge for n in planner.fields.blame(near)):
                return True
        if not planner.busy:
            return False
        return any(planner.movers.met_by(part.swept) is not None for part in flight.parts)

    def _taken(
        self, parts: ClimbingParts, me: int, flight: LiveFlight, plain: Sequence[PlanStep], actions: Sequence[int]
    ) -> bool:
        """Reserve a whole way over a link for a character, if it is free; return whether it is."""
        library, link = parts.library(me), flight.link
        first = self.own.first(parts.libraries, flight.order.slot)
        rows = [(step.pose, step.time) for step in plain] + [(part.pose, part.time) for part in flight.parts]
        numbers = [action + library.first_action for action in actions[: len(plain)]]
        numbers += [first + k for k in range(len(flight.parts))]
        (x, y, heading), begin = rows[-1]
        # the same ground on the other floor; a row that begins with the one before it is never played
        rows.append(((x + link.across[0], y + link.across[1], heading), begin))
        numbers.append(numbers[-1])
        last = library.prepared.table.clips.index(link.behavior)
        block = link.played.kind in BLOCKS
        return self._reserved(parts, me, rows, numbers, link.exit, flight.end, last, block)

    def _walked(
        self, parts: ClimbingParts, me: int, link: Link, end: tuple[Pose, float, int], actions: Sequence[int]
    ) -> bool:
        """Reserve a way over a joint for a character, if it is free; return whether it is.

        Args:
            parts: the engine.
            me: the character.
            link: the link at the joint: the same ground is on both of its floors.
            end: where and when its fixed steps end, and their last action.
            actions: actions that lead onto the ground of the joint.
        """
        library, (start, begin, last) = parts.library(me), end
        steps, (x, y, heading), time = laid_steps(library.prepared, actions, start, begin)
        rows = [(step.pose, step.time) for step in steps]
        numbers = [action + library.first_action for action in actions]
        over = x + link.across[0], y + link.across[1], heading
        return self._reserved(parts, me, rows, numbers, over, time, actions[-1] if actions else last)

    def _reserved(
        self, parts: ClimbingParts, me: int, rows: Sequence[tuple[Pose, float]], numbers: Sequence[int], over: Pose,
        time: float, last: int, anew: bool = False,
    ) -> bool:  # fmt: skip
        """Reserve steps for a character, and some beyond them that come to rest, if all are free; return whether so.

        Args:
            parts: the engine.
            me: the character.
            rows: poses and times [s] of the steps.
            numbers: their actions.
            over: pose in which it goes on, on the other floor.
            time: time at which it does [s].
            last: action that ends then, by its number in the library.
            anew: whether it is beside a block then, nearer than usual.
        """
        library = parts.library(me)
        prepared, planner = library.prepared, parts.planners[library.number]
        behavior = prepared.actions.names[last]
        for stop in prepared.part(("stops", behavior), lambda: stops_after(prepared, behavior)):
            steps, pose, end = laid_steps(prepared, stop, over, time)
            resting = int(parts.body.value.rests[(stop[-1] if stop else last) + library.first_action])
            table = _rows([*rows, *((step.pose, step.time) for step in steps), (pose, end)])
            whole = [*numbers, *(action + library.first_action for action in stop), resting]
            blocked = board(
                planner.actions, planner.fields.handle, planner.passing, planner.traffic, planner.busy, parts.body,
                parts.crowd, parts.live[library.number], me, read_only(table), read_only(np.array(whole, np.int64)),
                len(rows), 0.0, anew,
            )  # fmt: skip
            if blocked < 0:
                counts = parts.crowd.value.counts
                counts[me, playing.SOURCE], counts[me, playing.EFFORT] = playing.BY_SEARCH, len(whole)
                parts.crowd.value.numbers[me, playing.PLANNED] = parts.time
                return True
            if blocked < len(rows):
                return False
        return False

    def _fixed_end(self, parts: ClimbingParts, me: int) -> tuple[Pose, float, int]:
        """Return where and when a character's fixed steps end, and the number of their last action in its library."""
        crowd = parts.crowd.value
        fixed, count = crowd.counts[me, [playing.FIXED, playing.COUNT]].tolist()
        x, y, heading = crowd.steps[me, fixed if fixed < count else -1, [X, Y, HEADING]].tolist()
        last = int(crowd.actions[me, fixed - 1])
        end = float(crowd.steps[me, fixed - 1, TIME] + parts.body.value.durations[last])
        return (x, y, heading), end, int(parts.bases[last]) - parts.library(me).first_action

    def _forget(self, parts: ClimbingParts) -> None:
        """Free the slots of flights that are over, and forget those of which no record tells."""
        crowd = parts.crowd.value
        for slot, flight in list(self.own.flights.items()):
            me, first = flight.order.who, self.own.first(parts.libraries, slot)
            begin, count = crowd.counts[me, [playing.FIRST, playing.COUNT]].tolist()
            used = np.append(crowd.actions[me, begin:count], crowd.counts[me, playing.EARLIER])
            there = crowd.counts[me, playing.STATUS] != playing.EMPTY
            same = there and crowd.counts[me, playing.LIFE] == flight.order.life
            if not (same and ((used >= first) & (used < first + PARTS)).any()):
                del self.own.flights[slot]
                self.orders[flight.order.serial] = replace(flight.order, slot=-1)
        over = [k for k, order in self.orders.items() if order.slot < 0 and order.time < self.kept_since]
        for serial in over:
            del self.orders[serial]

    # records and states

    def logged(self, libraries: Sequence[LiveLibrary], rows: FloatArray) -> FloatArray:
        """Return steps that began (see `LiveEngine.watch`) with numbers of flights that are never used again."""
        count, out = libraries[-1].end_action, np.array(rows)
        for k in np.flatnonzero(out[:, playing.LOG_ACTION] >= count).tolist():
            slot, part = divmod(int(out[k, playing.LOG_ACTION]) - count, PARTS)
            out[k, playing.LOG_ACTION] = LOGGED + PARTS * self.own.flights[slot].order.serial + part
        return out

    def flight(self, libraries: Sequence[LiveLibrary], serial: int) -> LiveFlight:
        """Return a flight that was played, by its number.

        Raises:
            ValueError: if there was none.
        """
        order = self.orders.get(serial)
        if order is None:
            raise ValueError(f"no flight {serial}")
        if order.slot >= 0:
            return self.own.flights[order.slot]
        return self._made(libraries, order)

    def _made(self, libraries: Sequence[LiveLibrary], order: FlightOrder) -> LiveFlight:
        prepared, links = libraries[order.library].prepared, self._links[order.library]
        known = (-1 <= order.before < len(prepared.table)) and 0 <= order.link < len(links)
        if not known or not all(0 <= action < len(prepared.table) for action in order.actions):
            raise ValueError("a flight of actions that no library has")
        if links[order.link].fitted is None and links[order.link].ride is None:
            raise ValueError("a flight where people walk on")
        link = links[order.link]
        make = make_flight if link.ride is None else make_ride
        made = make(prepared, link, order, self._radius)
        if isinstance(made, str):
            raise ValueError(made)
        return made

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that `restore` needs, as plain values and arrays."""
        rows = np.array([order.row() for order in self.orders.values()]).reshape(-1, COLUMNS)
        searches = [search.state() for search in self._searches]
        return {"next": self._next, "slots": self.own.slots, "searches": searches}, {
            "legs": self.legs.copy(),
            "orders": rows,
        }

    def restore(self, libraries: Sequence[LiveLibrary], values: Mapping[str, Any], arrays: Arrays) -> None:
        """Go on from a saved state; the engine lays its arrays anew afterwards.

        Raises:
            ValueError: if the state cannot be that of such a crowd.
        """
        rows, legs = np.array(arrays["orders"]), np.array(arrays["legs"])
        slots = int(values["slots"])
        if not np.isfinite(rows).all() or not np.isfinite(legs).all() or not 0 < slots <= len(legs) + self.own.slots:
            raise ValueError("ways over floors that are not finite")
        self._next, self.own.flights, self.orders, self.legs = int(values["next"]), {}, {}, legs
        self.own.reserve(libraries, slots)
        for order in map(FlightOrder.of_row, rows.tolist()):
            if not (0 <= order.serial < self._next and 0 <= order.library < len(libraries) and order.slot < slots):
                raise ValueError("a flight that was never begun")
            self.orders[order.serial] = order
            if order.slot >= 0:
                self.own.put(libraries, self._made(libraries, order))
        for search, saved in zip(self._searches, values["searches"], strict=True):
            search.restore(saved)

    def checked(self, libraries: Sequence[LiveLibrary], arrays: Arrays, bases: IntArray) -> Arrays:
        """Return the arrays of saved characters with actions of libraries in place of those of flights, to be checked.

        Raises:
            ValueError: if somebody plays a flight of another, or goes to a link that there is not.
        """
        actions, counts = np.array(arrays["actions"]), np.array(arrays["counts"])
        count, lasting = libraries[-1].end_action, np.full(len(counts), np.nan)
        for table, column in ((actions, None), (counts, playing.EARLIER)):
            values = table if column is None else table[:, column : column + 1]
            for me, k in np.argwhere(values >= count).tolist():
                slot = (int(values[me, k]) - count) // PARTS
                used = column is not None or counts[me, playing.FIRST] <= k < counts[me, playing.COUNT]
                mine = slot in self.own.flights and self.own.flights[slot].order.who == me
                if used and not (mine and int(values[me, k]) < len(bases)):
                    raise ValueError("a character on the flight of another")
                part = (int(values[me, k]) - count) % PARTS
                if used and column is None and k == counts[me, playing.FIRST]:
                    lasting[me] = self.own.flights[slot].parts[part].duration
                values[me, k] = bases[int(values[me, k])] if mine else 0
        if len(self.legs) != len(counts):
            raise ValueError("ways over floors of other characters")
        here = np.flatnonzero(counts[:, playing.STATUS] != playing.EMPTY)
        most = np.array([len(links) for links in self._links])[library_of(libraries, actions[here, -1])]
        link = self.legs[here, LINK]
        if ((link < -1.0) | (link >= most) | (link != np.round(link))).any():
            raise ValueError("a character with a link that there is not")
        return {**arrays, "actions": actions, "counts": counts, LASTING: lasting}


def stops_after(prepared: PreparedLibrary, behavior: str) -> list[tuple[int, ...]]:
    """Return ways to come to rest after a behaviour, by numbers of actions, the straightest and shortest first."""
    table = prepared.table

    def followers(number: int) -> list[int]:
        own = table.followers[table.follower_starts[number] : table.follower_starts[number + 1]]
        return [int(action) for action in own if table.kind[action] < 0 and not table.idle[action]]

    def rests(action: int) -> bool:
        return bool(table.rest[table.end_state[action]])

    def price(way: tuple[int, ...]) -> tuple[float, float]:
        turn = sum(abs(float(table.moves[action, 2])) for action in way)
        return len(way) + round(2.0 * turn, 3), float(sum(np.hypot(*table.moves[action, :2]) for action in way))

    number = table.index(behavior)
    firsts = followers(number)
    none = [()] if bool(table.rest[table.end_state[np.flatnonzero(table.behavior == number)]].all()) else []
    short = [(action,) for action in firsts if rests(action)]
    long = [
        (action, after)
        for action in firsts
        if not rests(action)
        for after in followers(int(table.behavior[action]))
        if rests(after)
    ]
    return [*none, *sorted([*short, *long], key=price)][:_STOPS]


def turns_on_the_spot(prepared: PreparedLibrary) -> list[int]:
    """Return the actions that turn somebody who stands, the smallest turn first."""
    table = prepared.table
    turns = np.round(np.abs(table.moves[:, 2]), 3)
    still = table.rest[table.start_state] & table.rest[table.end_state] & (table.kind < 0)
    found = np.flatnonzero(still & (turns > 0.5) & (np.hypot(*table.moves[:, :2].T) < 0.1))
    return sorted(found.tolist(), key=lambda action: (float(turns[action]), action))


def _rows(poses: Sequence[tuple[Pose, float]]) -> FloatArray:
    """Return steps in the columns of `CrowdArrays.steps`; (N, 6)."""
    return np.array([(x, y, math.cos(h), math.sin(h), h, time) for (x, y, h), time in poses])
