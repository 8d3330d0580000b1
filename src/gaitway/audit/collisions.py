"""Collisions alone, each once: of a whole take, or seen frame by frame while a crowd lives.

A collision is what `audit_take` calls one: a body more than a centimetre deep in an obstacle or in another body, from
its first moment to its last.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from gaitway.audit import _pair_kernels
from gaitway.audit._body_kernels import HIT_DEPTH, HIT_SHARE
from gaitway.audit.bodies import FINEST, Bodies, axes_of, bodies_of, walker
from gaitway.audit.character_checks import absence
from gaitway.audit.crowding import Crowd, Meetings, near_pairs
from gaitway.audit.discs import crossings, disc_groups, overlaps
from gaitway.audit.penetration import PenetrationSearch, SolidGroup, groups_of, incidents, run_scan
from gaitway.audit.report import AuditBars, Finding
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.errors import GaitwayError
from gaitway.core.progress import Progress, silent
from gaitway.motion.body import CapsuleBody, capsule_body
from gaitway.motion.skeleton import Skeleton
from gaitway.take.evaluation import Joints
from gaitway.take.model import Take
from gaitway.world.world import World, realised

MOST_KEPT = 1_000
"""Number of collisions that a watch keeps; older ones are only counted."""
_WALLS, _SPECIAL, _PEOPLE = "penetration", "penetration_special", "penetration_characters"
_GAP = 2
"""Largest number of frames between two moments of one collision."""


def find_collisions(
    take: Take,
    world: World | None = None,
    *,
    bars: AuditBars = AuditBars(),  # noqa: B008  (frozen)
    progress: Progress = silent,
) -> tuple[Finding, ...]:
    """Return the collisions of a take in order of time: exactly the violations that `audit_take` reports of them.

    Args:
        take: what the characters do.
        world: where; None leaves out obstacles.
        bars: what is still good enough.
        progress: called after each character and each part of the crowd.
    """
    bodies, disc = bodies_of(take), take.facts.get("collision", "body") == "disc"
    search = partial(_alone, take, realised(world, take.facts), bars, bodies, disc)
    found: list[Finding] = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # the kernels let other threads work
        for done, part in enumerate(pool.map(search, range(len(take.names)))):
            found += part
            progress("characters", done + 1, len(take.names))
    if disc:
        found += crossings(take, bars.disc, lambda done, total: progress("discs", done, total))
    else:
        meetings = Meetings(take, bodies, bars.penetration)
        meetings.look(lambda done, total: progress("characters against one another", done, total))
        found += meetings.findings(_PEOPLE)
    return tuple(sorted((one for one in found if one.violated), key=lambda one: (one.time, one.characters)))


def _alone(take: Take, world: World | None, bars: AuditBars, bodies: Bodies, disc: bool, index: int) -> list[Finding]:
    """Return the collisions of one character with obstacles."""
    if world is None or absence(take, index):
        return []
    try:
        figure = walker(take, index, bodies)
    except GaitwayError:  # the audit says so in another row
        return []
    search = PenetrationSearch(figure, bars.penetration)
    for group in groups_of(world):
        search.against(group)
    out = incidents(_SPECIAL, search, True)
    if not disc:
        return out + incidents(_WALLS, search, False)
    known = len(take.radii) > index and np.isfinite(take.radii[index])
    return out + (overlaps(figure, disc_groups(world), bars.disc) if known else [])


class CollisionWatch:
    """Collisions of a crowd that is seen frame by frame. This class is **mutable**.

    Frames are looked at as they come; what happens between them is not seen. A collision counts once, however long it
    lasts; one that ends and begins anew after more than two frames counts again.

    Attributes:
        count: number of collisions so far.
    """

    def __init__(self, bars: AuditBars = AuditBars()) -> None:  # noqa: B008  (frozen)
        self.count = 0
        self._bar, self._looks, self._time = bars.penetration, 0, -np.inf
        self._found: deque[Finding] = deque(maxlen=MOST_KEPT)
        self._open: dict[tuple[str, ...], tuple[int, Finding]] = {}
        """Collisions that may go on, by row, characters and obstacle: number of the look that saw them last."""
        self._world: World | None = None
        self._groups: tuple[SolidGroup, ...] = ()
        self._bodies: dict[int, tuple[Skeleton, CapsuleBody]] = {}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The latest collisions, in the order in which they began; `span` tells from when to when."""
        return tuple(self._found)

    def look(self, time: float, joints: Sequence[Joints], names: Sequence[str], world: World) -> None:
        """Look at a frame; one of the same time as the frame before is not looked at again.

        Args:
            time: time of the frame [s].
            joints: characters, one part for each skeleton.
            names: their names, in the order of all joints.
            world: world at that time.
        """
        if time == self._time:
            return
        if time < self._time:
            self._open = {}
        if world is not self._world:
            self._world, self._groups = world, groups_of(world)
        self._time, self._looks = time, self._looks + 1
        parts = [part for part in joints if len(part)]
        axes = [axes_of(self._body(part.skeleton), part.positions, part.rotations) for part in parts]
        first = 0
        for part, some in zip(parts, axes, strict=True):
            own = names[first : first + len(part)]
            for finding in self._in_obstacles(time, self._body(part.skeleton), some, own):
                self._note(finding)
            first += len(part)
        for finding in self._in_one_another(time, parts, axes, names):
            self._note(finding)
        self._open = {key: value for key, value in self._open.items() if self._looks - value[0] < _GAP}

    def _body(self, skeleton: Skeleton) -> CapsuleBody:
        if id(skeleton) not in self._bodies:
            self._bodies[id(skeleton)] = (skeleton, capsule_body(skeleton))
        return self._bodies[id(skeleton)][1]

    def _note(self, finding: Finding) -> None:
        """Begin a collision, or go on with the one that was there."""
        key = (finding.row, *sorted(finding.characters), finding.obstacle)
        known = self._open.get(key)
        if known is None:
            self.count += 1
            self._found.append(finding)
        else:
            worse = finding if finding.value > known[1].value else known[1]
            before = known[1].span or (finding.time, finding.time)
            finding = replace(worse, span=(before[0], finding.time))
            for place in range(len(self._found) - 1, -1, -1):
                if self._found[place] is known[1]:
                    self._found[place] = finding
                    break
        self._open[key] = (self._looks, finding)

    def _in_obstacles(
        self, time: float, body: CapsuleBody, axes: FloatArray, names: Sequence[str]
    ) -> Iterator[Finding]:
        """Return who is in an obstacle, for axes (N, C, 2, 3) of characters of one body."""
        still = np.zeros((max(len(axes) - 1, 0), len(body)))  # the kernel is for frames; here each is a character
        times = np.full(len(axes), time)
        for group in self._groups:
            if not group.start <= time < group.stop:
                continue
            hits, depths, _ = run_scan(
                group.seen(times, axes), read_only(body.radii), still, group.solids, self._bar
            )  # fmt: skip
            for (who, part, solid), depth in zip(hits[1:].tolist(), depths[1:], strict=True):
                axis = axes[who, part]
                x, y, z = (axis[0] + depth[HIT_SHARE] * (axis[1] - axis[0])).tolist()
                yield Finding(
                    row=_SPECIAL if group.specials[solid] else _WALLS, value=float(depth[HIT_DEPTH]), bar=self._bar,
                    time=time, frame=self._looks, characters=(names[who],), part=body.names[part],
                    obstacle=group.names[solid], place=(x, y, z), span=(time, time),
                )  # fmt: skip

    def _in_one_another(
        self, time: float, parts: Sequence[Joints], axes: Sequence[FloatArray], names: Sequence[str]
    ) -> Iterator[Finding]:
        """Return who is in whom."""
        if len(names) < 2:
            return
        bodies = [self._body(part.skeleton) for part in parts for _ in range(len(part))]
        starts = np.cumsum([0, *(len(body) for body in bodies)]).astype(np.int64)
        crowd = Crowd(
            time, np.arange(len(bodies), dtype=np.int64), starts,
            np.concatenate([some.reshape(-1, 2, 3) for some in axes]), np.concatenate([b.radii for b in bodies]),
        )  # fmt: skip
        still = np.zeros(len(crowd.segments))
        pairs = near_pairs(crowd, still)
        if not len(pairs):
            return
        which, depths = np.empty((len(pairs), 2), np.int64), np.empty(len(pairs))
        segments = read_only(crowd.segments)
        _pair_kernels.meet(
            segments, segments, read_only(crowd.radii), read_only(still), read_only(starts), read_only(pairs),
            self._bar, FINEST, which, depths, np.empty(len(pairs), np.int64),
        )  # fmt: skip
        for p in np.flatnonzero(depths > self._bar).tolist():
            a, b = pairs[p].tolist()
            words = [bodies[who].names[part - starts[who]] for who, part in zip((a, b), which[p].tolist(), strict=True)]
            x, y, z = segments[which[p]].mean(axis=(0, 1)).tolist()
            yield Finding(
                row=_PEOPLE, value=float(depths[p]), bar=self._bar, time=time, frame=self._looks,
                characters=(names[a], names[b]), part=" in ".join(words), place=(x, y, z), span=(time, time),
            )  # fmt: skip
