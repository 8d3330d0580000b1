"""Starts of characters: whether they can stand there, and places right beside that serve if not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from zlib import crc32

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Library
from gaitway.library.standing import standing_behaviors
from gaitway.motion.body import capsule_body, capsules
from gaitway.scene.characters import Character
from gaitway.space._traffic_kernels import first_slot, traffic_hit
from gaitway.space.movement_costs import HURRY_SPREAD, speed_of_age
from gaitway.space.plan import Plan, Pose, SearchResult, Status, lies_in
from gaitway.space.planner import Company
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import CLOSE
from gaitway.space.traffic import Traffic, placed_discs
from gaitway.world.exact import distance
from gaitway.world.occupancy import BODY_BAND
from gaitway.world.world import World

_CLOSE = 0.055
"""How much nearer to obstacles characters may stand at the start than plans allow [m]. Discs are larger than bodies by
about this, but a hand may be near the edge of one: who stands so near is checked exactly."""
_CLOSE_TO_OTHERS = (0.08, 0.1)
"""How much nearer to one another they may stand there [m], and where there is no such place. With the second, hands of
who sets off may touch those of who stands beside."""
_SAMPLES, _GRAIN, _DEEPEST = 5, 0.005, 0.004
"""Number of points along a limb that are checked, the grid on which they count as one, and how deep one may be in an
obstacle [m]."""
_BESIDE = tuple((r * math.cos(a), r * math.sin(a)) for r in (0.03, 0.06, 0.1) for a in np.arange(8) * math.pi / 4.0)
"""Offsets of places right beside a start, for characters that could not stand or step at the start itself [m]."""
_NEAR = tuple((r * math.cos(a), r * math.sin(a)) for r in (0.15, 0.2) for a in np.arange(8) * math.pi / 4.0)
"""The same a little farther away, for those that could not stand at all: starts are drawn with discs of the shoulders,
and the arms of two who stand side by side need more."""
_PACE = 0.07
"""How much more room than standing the first moments of an action may take on either side [m]."""
_MOST_CROWDED = 0.135
"""Most that a character may be nearer to others than usual while it leaves a dense group [m]; bodies do not touch."""
_TOGETHER = 1.0
"""Time after another character appears within which that one may not have left yet [s]."""

_GOLDEN = 0.618_033_988_75
"""Step of a sequence whose first members, however many, are spread evenly between 0 and 1."""
_SPEED_STEP = 0.05
"""Own speeds are multiples of this share, so that characters share what is prepared for a speed."""
_MEAN_SPEED = 1.07
"""Mean of own speeds: starts, turns and stops take time, so that people are a little faster than on the whole."""
_FARTHEST = 2.0
"""Greatest difference of an own speed from the mean, in standard deviations."""
_TICK = 1.0 / 30.0
"""Delays are multiples of this time [s], so that clips are shown at their own frames."""


@dataclass(eq=False)
class CrowdMember:
    """A character of a crowd, with its library and its place in the planning."""

    character: Character
    prepared: PreparedLibrary
    owner: int
    number: int
    crowded: float = 0.0
    """How much nearer than usual other characters are at the start [m]."""
    aside: bool = False
    """Whether it starts right beside its given start, where it could not move."""
    delay: float = 0.0
    """Time after its start time at which it sets off [s]."""
    after: str | None = None
    """The behaviour that has just ended, for one that goes on; None: it stands."""
    close: float = CLOSE
    """How much nearer to obstacles than during a plan it may be at the start [m]."""
    stop: tuple[float, float, float] | None = None
    """Pose at which it stops exactly, beside the goal and right before a thing such as a seat; None: at the goal."""
    leaves_by: str | None = None
    """The behaviour in which it is gone when it arrives, for one that leaves; None: it stays there."""
    company: Company | None = None
    """Where it would like to be beside companions; None for one that walks alone."""
    laden: float = 0.0
    """Room beside obstacles that it keeps for what it carries, but not where it starts and stops [m]."""
    given: Pose = field(init=False)
    """Its start as it was given."""

    def __post_init__(self) -> None:
        self.given = self.character.start

    @property
    def name(self) -> str:
        """Name of the character."""
        return self.character.name

    @property
    def start_discs(self) -> FloatArray:
        """Discs of the body that stands at the start; (D, 3)."""
        return placed_discs(self.character.start, self.prepared.standing_discs(self.after))

    @cached_property
    def reach(self) -> float:
        """How far these discs reach from the root [m]."""
        discs = self.prepared.standing_discs()
        return float((np.hypot(discs[:, 0], discs[:, 1]) + discs[:, 2]).max())

    @cached_property
    def core(self) -> float:
        """Radius around the root that the body covers at any heading [m]."""
        discs = self.prepared.standing_discs()
        return float((discs[:, 2] - np.hypot(discs[:, 0], discs[:, 1])).max())

    def end_discs(self, plan: Plan) -> FloatArray:
        """Return the discs of the body that stands at the end of a plan; (D, 3)."""
        last = plan.steps[-1].behavior if plan.steps else None
        return placed_discs(plan.end_pose, self.prepared.standing_discs(last))


def start_delays(names: Sequence[str], seed: int) -> FloatArray:
    """Return when characters that start together set off, as shares of the time within which all do; (N,).

    Shares are spread evenly, so that steps of a few characters do not fall together by chance. The order is drawn. A
    character that starts alone sets off at once.

    Args:
        names: names of the characters.
        seed: seed of the draw.
    """
    if len(names) < 2:
        return np.zeros(len(names))
    rng = np.random.default_rng([seed, crc32("\n".join(names).encode())])
    shares = (rng.permutation(len(names)) * _GOLDEN + rng.uniform()) % 1.0
    return np.asarray(shares, dtype=np.float64)


def start_delay(share: float, spread: float) -> float:
    """Return the delay of a character, in whole ticks [s]."""
    return round(share * spread / _TICK) * _TICK


def absentees(world: World, members: Sequence[CrowdMember], traffic: Traffic) -> dict[str, SearchResult]:
    """Find the members that can stand neither at their start nor right beside it, and why; move others if needed.

    Args:
        world: the place.
        members: all members; their starts may change.
        traffic: traffic of movers only.
    """
    absent, standing = dict[str, SearchResult](), list[CrowdMember]()
    for member in sorted(members, key=lambda m: -m.character.priority):
        written = member.character
        reason = _trouble(world, member, traffic, standing, _CLOSE_TO_OTHERS[0])
        tries = [(at, close) for close in _CLOSE_TO_OTHERS for at in (written, *_beside(member, _BESIDE + _NEAR))]
        for member.character, close in tries[1:] if reason else []:
            if not _trouble(world, member, traffic, standing, close):
                reason = ""
                break
        if reason:
            member.character = written
            who = reason.split("'")[1] if "'" in reason else "bounds"
            absent[member.name] = SearchResult(
                Status.NO_PATH, None, reason=reason, blockers={who: 1}, closest=written.start
            )
        else:
            standing.append(member)
    return absent


def own_speed(character: Character, seed: int) -> float:
    """Return a character's own speed over what its `speed` says, drawn by seed and name for people of its age.

    A speed in metres per second is kept.
    """
    usual = speed_of_age(character.age)
    if not isinstance(character.speed, str) or (character.plan.speed_spread == 0.0 and usual == 1.0):
        return 1.0
    draw = np.random.default_rng([seed, crc32(character.name.encode()), 11]).standard_normal()
    spread = character.plan.speed_spread * (HURRY_SPREAD if character.speed == "hurry" else 1.0)
    share = _MEAN_SPEED * usual * (1.0 + spread * float(np.clip(draw, -_FARTHEST, _FARTHEST)))
    return max(_SPEED_STEP * round(share / _SPEED_STEP), _SPEED_STEP)


def step_aside(member: CrowdMember, traffic: Traffic) -> bool:
    """Move a member right beside its start, once, to where there is most room; return whether that helped."""
    if member.aside:
        return False
    written, best, least = member.character, member.character, _shortage(member)
    places = _beside(member, _BESIDE)
    for member.character in places:
        short = _shortage(member)
        if short < least and not _met(member, traffic):
            best, least = member.character, short
    member.character, member.aside = best, best is not written
    return member.aside


def _beside(member: CrowdMember, offsets: Sequence[tuple[float, float]]) -> list[Character]:
    """Return the character of a member with starts beside the given one, in the order of the offsets [m]."""
    x, y, heading = member.given
    return [replace(member.character, start=(x + along, y + across, heading)) for along, across in offsets]


def _shortage(member: CrowdMember) -> float:
    """Return how much nearer to obstacles a member is at its start than plans allow [m]."""
    discs = member.start_discs
    return float((discs[:, 2] - member.prepared.fields.clearance(discs[:, :2])).max())


def _met(member: CrowdMember, traffic: Traffic) -> list[str]:
    """Return the names of those that are at a member's start when it appears."""
    arrays, slot = traffic.arrays, int(first_slot(member.character.start_time))
    met = [int(traffic_hit(arrays, slot, x, y, r, -1)) for x, y, r in member.start_discs.tolist()]
    return [traffic.names[owner] for owner in met if owner >= 0]


def _trouble(world: World, member: CrowdMember, traffic: Traffic, standing: Sequence[CrowdMember], close: float) -> str:
    """Return why a member cannot stand at its start, or nothing; it may be so much nearer to others than usual [m]."""
    (x, y, _), fields = member.character.start, member.prepared.fields
    x0, y0, x1, y1 = world.bounds
    if not (x0 <= x <= x1 and y0 <= y <= y1):
        return f"start ({x:g}, {y:g}) is out of bounds {world.bounds}"
    discs = member.start_discs
    if (short := discs[:, 2] - fields.clearance(discs[:, :2])).max() > _CLOSE:
        who = fields.blame(discs[[int(np.argmax(short))], :2])[0]
        return lies_in("start", (x, y), who)
    if short.max() > 0.0 and _touches(world, member.prepared, member.character.start, member.after):
        return lies_in("start", (x, y), fields.blame(discs[[int(np.argmax(short))], :2])[0])
    others = _met(member, traffic) or _too_near(member, standing, close)
    return f"start ({x:g}, {y:g}) is where '{others[0]}' is at that time" if others else ""


def is_hemmed(world: World, member: CrowdMember, plan: Plan) -> bool:
    """Return whether a member that moves as it stands would touch an obstacle at the end of its plan."""
    discs = member.end_discs(plan)
    if not plan.steps or (discs[:, 2] <= member.prepared.fields.clearance(discs[:, :2])).all():
        return False
    return _touches(world, member.prepared, plan.end_pose, plan.steps[-1].behavior)


def _touches(world: World, prepared: PreparedLibrary, pose: Pose, after: str | None) -> bool:
    """Return whether a body that stands after a behaviour touches an obstacle, in any moment of any clip."""
    limbs = prepared.part(("standing limbs", after), lambda: _standing_limbs(prepared.library, after))
    points = placed_discs(pose, limbs)
    low, high = np.array(BODY_BAND) + float(world.ground(pose[:2]))
    away = distance(world, points[:, :2], low=low, high=high)
    return bool((away < points[:, 2] - _DEEPEST).any())


def _standing_limbs(library: Library, behavior: str | None) -> FloatArray:
    """Return points along the limbs of who stands after a behaviour, in the frame of the pose, with radii; (N, 3)."""
    state = None if behavior is None else library.graph[behavior].end
    names = standing_behaviors(library, state) or standing_behaviors(library)
    body, rows = capsule_body(library.skeleton), []
    for clip in (library.clips[name] for behavior in names for name in library.graph[behavior].clips):
        ends = capsules(clip, body)[..., :2]  # (F, C, 2, 2)
        share = np.linspace(0.0, 1.0, _SAMPLES)[:, None]
        points = ends[:, :, None, 0] + share * (ends[:, :, None, 1] - ends[:, :, None, 0])
        x, y, heading = clip.planar_path()[0].tolist()
        turn = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
        places = ((points - (x, y)) @ turn).reshape(-1, 2)
        radii = np.broadcast_to(body.radii[:, None], points.shape[:-1]).reshape(-1, 1)
        rows.append(np.hstack([np.round(places / _GRAIN) * _GRAIN, radii]))
    return np.unique(np.concatenate(rows), axis=0)


def _too_near(member: CrowdMember, standing: Sequence[CrowdMember], close: float) -> list[str]:
    """Return the names of those whose discs overlap by more than some at the start [m]; note tight places."""
    if not standing:
        return []
    places = np.array([(*m.character.start[:2], m.character.start_time, m.reach) for m in standing])
    away = np.hypot(*(places[:, :2] - member.character.start[:2]).T) - places[:, 3] - member.reach
    later = np.abs(places[:, 2] - member.character.start_time)
    near = [standing[k] for k in np.flatnonzero((away < _PACE) & (later <= _TOGETHER)).tolist()]
    shares = [(other, _overlap(member.start_discs, other.start_discs)) for other in near]
    names = [other.name for other, share in shares if share > close]
    if not names:
        for other, share in shares:
            room = min(max(share + _PACE, 0.0), _MOST_CROWDED)
            member.crowded, other.crowded = max(member.crowded, room), max(other.crowded, room)
    return names


def _overlap(discs: FloatArray, others: FloatArray) -> float:
    """Return by how much two sets of discs overlap at most [m]; less than 0 if there is room between them."""
    away = np.hypot(discs[:, None, 0] - others[None, :, 0], discs[:, None, 1] - others[None, :, 1])
    return float((discs[:, None, 2] + others[None, :, 2] - away).max())


def crowding(member: CrowdMember, standing: Sequence[CrowdMember]) -> float:
    """Return how much nearer than usual those who stand are to a member that sets off [m]."""
    here = member.character.start[:2]
    near = [m for m in standing if math.dist(m.character.start[:2], here) < member.reach + m.reach + _PACE]
    shares = [_overlap(member.start_discs, other.start_discs) for other in near]
    return min(max([0.0, *(share + _PACE for share in shares)]), _MOST_CROWDED)
