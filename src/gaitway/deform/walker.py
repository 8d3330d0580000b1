"""Live characters that squeeze through a place: their search goes on, a little in each frame, while they move.

Every frame tries the same small number of fragments (Choi et al. 2011, section 4.1: amortising computation). When a
fragment has been played, the character commits itself to the next one of the best branch so far. Where the place
changes, what is left of the fragment that is played is bent so that it touches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.deform.branch import DEEPEST, posed, refined
from gaitway.deform.constraints import Continuity
from gaitway.deform.fragment import Fragment
from gaitway.deform.planner import DeformPlanner, DeformRun
from gaitway.deform.search import SearchNode
from gaitway.deform.squeezing import Squeezed, squeeze
from gaitway.deform.tucking import body_depths, capsule_groups
from gaitway.library.standing import standing_behaviors
from gaitway.motion.clip import Clip
from gaitway.scene.characters import Character
from gaitway.scene.scene import Scene
from gaitway.space._traffic_kernels import FOREVER, end_slot, first_slot
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import Pose, in_the_way
from gaitway.space.planner import PlanRequest
from gaitway.space.prepared import PlanningContext, PreparedLibrary, changed_fields
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic, placed_discs
from gaitway.world.world import World

CHECKS = 3
"""Fragments that are tried in a frame."""
_PATIENT_S, _NEARER = 1.5, 0.3
"""How long somebody stands and searches before it takes a way that does not lead nearer to its goal [s], and what
counts as nearer, by the estimate of the cost."""
_STANDING, _FIRST = 4, 100
"""How many times as many fragments somebody tries who stands, for it has none to refine; and for how many times as
many it does so before it sets off on a way that does not lead to its goal yet."""
_EVERY = 4
"""Number of frames after which somebody who waits looks at what was found."""
_TOGETHER = 3
"""Most fragments that are refined to whole bodies together."""
_BACKWARD, _EASED, _CREEP, _LONGEST_BACK = 0.7, 0.12, 0.05, 600
"""Going back: the speed over that of the fragment, how much it changes in a frame, the least one, and most frames."""
_UNSTEADY_S, _MOST_PAST, _APART_S = 0.5, 12, 0.2
"""How long somebody stands in the middle of a step before it goes back [s], most fragments over which it can, and time
between poses in which others know it on the way [s]."""
_REST_FRAMES = 8
"""Least number of frames that are bent: what is shorter is over at once."""


@dataclass(frozen=True, eq=False)
class _Played:
    """A fragment that is played."""

    node: SearchNode
    clip: Clip
    """Its motion in the world."""
    first: int
    """Frame of what is played that comes after its first one."""

    @property
    def stop(self) -> int:
        """Frame of what is played after its last one."""
        return self.first + len(self.clip) - 1


class DeformWalker:
    """One live character of a scene. **Mutable**: it moves by `step`, a frame at a time.

    Attributes:
        time: time of the frame that is shown [s].
        waited: frames in a row in which it stood still because no fragment was known to fit.
        name: its name.
        covers: what it covers from the beginning of the fragments that it plays on, and then at their end.
        began: how many times it has begun to play fragments.
        bends: how many times what was left of a fragment was bent because the place had changed.
        caught: name of what was put so that what is left of a fragment touches it, however it is bent; None if nothing.
    """

    def __init__(
        self, scene: Scene, name: str, *, checks: int = CHECKS, context: PlanningContext | None = None,
        time: float = 0.0,
    ) -> None:  # fmt: skip
        """Put a character of a scene where it starts; it sets off for its goal.

        Args:
            scene: the scene. Other characters of it are there if they are told of (`meet`), as in `DeformCrowd`.
            name: name of the character.
            checks: fragments that are tried in a frame; more find better ways, and take longer.
            context: what others of the scene share; None makes it.
            time: time at which it begins [s].
        """
        found = [character for character in scene.characters if character.name == name]
        if not found:
            raise GaitwayError(f"the scene has no character '{name}'; write one of its names")
        if checks < 1:
            raise GaitwayError(f"{checks} fragments in a frame; write 1 or more")
        self._character, self._checks = found[0], checks
        self._prepared = (context or PlanningContext(scene.world)).prepared(self._character)
        self._parts = DeformPlanner.parts(self._prepared)
        self.time, self.waited = float(time), 0
        self.name, self.began, self.bends = name, 0, 0
        self.caught: str | None = None
        self._others: dict[str, Swept] = {}
        self._meet_all()
        start = self._character.start
        self.covers = self._standing(start, self.time)
        self._frame = 0
        self._played: list[_Played] = []
        self._closed: set[tuple[int, ...]] = set()
        """Dead ends that it came to on the way to its goal."""
        self._past: list[_Played] = []
        """What was played before since it stood."""
        self._held = False
        """Whether what it lies in keeps it where it is."""
        self._backward: Swept | None = None
        """What it covers while it goes back."""
        tolerance = self._character.plan.tolerance
        self._query = Query(start, self._character.goal, tolerance=tolerance, start_time=self.time)
        self._run = self._aimed(self._query)
        self._run.search.begin(start, self._run.first_state, self.time)
        wait = next(c for c in self._run.search.choices[self._run.first_state] if c.fragment.path is None)
        still = self._run.search.situated(self._run.search.root, wait)
        first = posed(still)
        self._clip = replace(
            first, root_positions=first.root_positions[:1], rotations=first.rotations[:1], contacts=None
        )

    @property
    def fps(self) -> float:
        """Frames a second [Hz]."""
        return self._clip.fps

    @property
    def arrived(self) -> bool:
        """Whether it stands at its goal."""
        return self._frame >= len(self._clip) - 1 and self._at_goal()

    def _at_goal(self) -> bool:
        """Return whether what it plays ends at its goal."""
        search = self._run.search
        return search.arrived(search.root)

    @property
    def character(self) -> Character:
        """The character, as the scene has it."""
        return self._character

    @property
    def goal(self) -> tuple[float, float]:
        """Where it is to go [m]."""
        return self._query.goal

    @property
    def prepared(self) -> PreparedLibrary:
        """Its library, prepared for the place."""
        return self._prepared

    @property
    def behavior(self) -> str:
        """Name of the behaviour that it is in."""
        now = next((part for part in self._played if self._frame < part.stop), None)
        if now is None:
            return standing_behaviors(self._prepared.library)[0]
        assert now.node.choice is not None
        table = self._prepared.table
        return str(table.behaviors[table.behavior[now.node.choice.action]])

    @property
    def hindered(self) -> str:
        """What keeps it from going on, in words; empty while it goes on."""
        if self.caught is not None:
            return f"'{self.caught}' was put where it goes"
        if self.waited < _PATIENT_S * self.fps:
            return ""
        if not self.has_way:
            return "no gap on the way is wide enough, even for a squeezed body"
        return in_the_way([name for name, _ in self._run.search.blockers.most_common(2)])

    @property
    def heads_from(self) -> Pose:
        """Where what it plays ends, from which it goes on: x, y [m] and heading [rad]."""
        return self._run.search.root.pose

    @property
    def has_way(self) -> bool:
        """Whether there is any way to its goal that a squeezed body fits."""
        return math.isfinite(self._run.search.root.estimate)

    @property
    def known_until(self) -> float:
        """Time at which what is known of its way ends [s]."""
        branch = self._run.search.choose()
        return branch[-1].time if branch else self._ends_at()

    @property
    def effort(self) -> tuple[int, int]:
        """How many nodes of its search were expanded, and how many fragments were tried."""
        return self._run.search.expanded, self._run.search.checks

    def way_ahead(self) -> list[tuple[str, Pose]]:
        """Return the behaviours of its way, as far as it is known, and where each begins; the last one has no name."""
        table, nodes = self._prepared.table, [part.node for part in self._played if self._frame < part.stop]
        nodes += self._run.search.choose()
        x, y = self.root[:2].tolist()
        out: list[tuple[str, Pose]] = []
        at: Pose = (x, y, float(self.pose.planar_path()[0, 2]))
        for node in nodes:
            assert node.choice is not None
            out.append((table.behaviors[table.behavior[node.choice.action]], at))
            at = node.pose
        return [*out, ("", at)]

    @property
    def root(self) -> FloatArray:
        """Position of the root now [m]; (3,)."""
        return np.asarray(self._clip.root_positions[self._frame])

    @property
    def rotations(self) -> FloatArray:
        """Local rotations of all joints now; (J, 4)."""
        return np.asarray(self._clip.rotations[self._frame])

    @property
    def pose(self) -> Clip:
        """The frame that is shown, as a clip of one frame."""
        one = slice(self._frame, self._frame + 1)
        return replace(
            self._clip,
            root_positions=self._clip.root_positions[one],
            rotations=self._clip.rotations[one],
            contacts=None,
        )

    def send(self, goal: tuple[float, float], heading: float | None = None) -> None:
        """Send it somewhere else [m]; it turns to there after the fragment that it plays."""
        self._closed.clear()
        self._query = replace(self._query, goal=goal, goal_heading=heading)
        self._begin_at(self._run.search.root)

    def _begin_at(self, old: SearchNode) -> None:
        """Search anew from where a node ends."""
        self._query = replace(self._query, start=old.pose, start_time=old.time)
        self._run = self._aimed(self._query)
        self._run.search.begin(old.pose, old.state, old.time)

    def meet(self, name: str, covers: Swept) -> None:
        """Tell it what another character covers from now on; that takes the place of what it was told before."""
        if name not in self._owners:
            self._owners[name] = self._traffic.enroll(name)
        self._others[name] = covers
        self._traffic.remove(self._owners[name])
        self._traffic.add_swept(self._owners[name], covers)
        self._run.busy = self._run.search.timed = True

    def forget(self, name: str) -> None:
        """Tell it that another character is gone."""
        if self._others.pop(name, None) is not None:
            self._traffic.remove(self._owners[name])

    def has_room(self) -> bool:
        """Return whether it touches nothing where it stands, and nobody else comes there."""
        pose = self.pose
        now = np.array([self.time])
        depths, _ = body_depths(pose, self._run.place, now, capsule_groups(pose.skeleton), DEEPEST)
        at = self._run.search.root
        discs = placed_discs(at.pose, self._prepared.standing_discs())
        return not bool(depths.any()) and (not self._traffic.busy or self._traffic.comer(discs, self.time) is None)

    def change(self, prepared: PreparedLibrary) -> None:
        """Take another place, and bend what is left of the fragment that is played where it would touch something.

        Args:
            prepared: its library, prepared for that place; see `changed_place`.
        """
        self._prepared, self._parts = prepared, DeformPlanner.parts(prepared)
        self._closed.clear()
        self.waited = 0
        self._meet_all()
        self._begin_at(self._kept())
        self.covers = Swept.joined([*self._covered(), self._standing(self._run.search.root.pose, self._ends_at())])
        self.began += 1  # what it covers has changed

    def _meet_all(self) -> None:
        """Make its traffic: the movers of the place, and all others."""
        self._traffic = Traffic(self._prepared.fields.kinds, terrain=self._prepared.fields.world.terrain)
        for mover in self._prepared.fields.world.movers:
            self._traffic.add_mover(mover)
        self._owners: dict[str, int] = {}
        for name, covers in self._others.items():
            self._owners[name] = self._traffic.enroll(name)
            self._traffic.add_swept(self._owners[name], covers)

    def _covered(self) -> list[Swept]:
        if not self._played:
            return [] if self._backward is None else [self._backward]
        return [self._run.swept(part.node) for part in self._played if self._frame < part.stop]

    def _ends_at(self) -> float:
        return self._run.search.root.time

    def _kept(self) -> SearchNode:
        """Keep what touches nothing of the fragments that are played, bend the rest, and return where that ends."""
        self.caught, self._held = None, False
        if not self._played and self._frame < len(self._clip) - 1:  # it is going back
            return self._kept_going_back()
        going = [part for part in self._played if self._frame < part.stop]
        if not going:
            return self._run.search.root
        place, kept = self._parts[1], list[_Played]()
        for number, part in enumerate(going):
            since = max(self._frame - part.first + 1, 0)
            clip = part.clip if since == 0 else _from(part.clip, since)
            times = self._time_of(part) + np.arange(since, len(part.clip)) / self.fps
            depths, which = body_depths(clip, place, times, capsule_groups(clip.skeleton), DEEPEST)
            if not depths.any():
                kept.append(part)
                continue
            if number > 0:  # it has not begun, and is left out
                break
            led = self._led(part, since, times)
            if led is not None:
                kept.append(led)
                break
            self.caught = place.named[int(which.flat[int(np.argmax(depths))])]
            self._past += [one for one in self._played if self._frame >= one.stop]
            node = self._goes_back(part, since, since + int(np.argmax(depths.any(axis=1))) - 1, 1.0)
            self._held = node is None  # once what is in the way is taken away, the fragment is played on
            return part.node if node is None else node
        self._played = kept
        self._clip = _until(self._clip, kept[-1].stop)
        return kept[-1].node

    def _kept_going_back(self) -> SearchNode:
        """Go on going back if nothing is in the way, else stop; return where that ends."""
        rest = _from(self._clip, self._frame)
        times = self.time + np.arange(len(rest)) / self.fps
        place = self._parts[1]
        depths, which = body_depths(rest, place, times, capsule_groups(rest.skeleton), DEEPEST)
        if depths.any():
            self._held, self.caught = True, place.named[int(which.flat[int(np.argmax(depths))])]
        return self._run.search.root

    def _goes_back(self, part: _Played, since: int, free: int, speed: float) -> SearchNode | None:
        """Stop before what is in the way, and go back to where a fragment began; return a node there.

        Args:
            part: the fragment.
            since: its frame that is shown.
            free: its last frame that may be shown.
            speed: at which it is played now, over its own.

        Returns:
            None if something is in the way there too.
        """
        choice, parent = part.node.choice, part.node.parent
        assert choice is not None and parent is not None
        clip = _at_frames(part.clip, since + _there_and_back(since, free, speed))
        times = self.time + np.arange(len(clip)) / self.fps
        depths, _ = body_depths(clip, self._parts[1], times, capsule_groups(clip.skeleton), DEEPEST)
        poses = clip.planar_path()[:: max(round(_APART_S * self.fps), 1)]
        discs = np.concatenate([placed_discs(pose, self._prepared.standing_discs()) for pose in poses.tolist()])
        end = float(times[-1])
        swept = Swept.standing(discs, int(first_slot(self.time)), int(end_slot(end)), -1)
        if depths[1:].any() or (self._traffic.busy and self._traffic.met_by(swept) is not None):
            return None
        self._clip, self._frame, self._played, self._backward = clip, 0, [], swept
        return replace(
            part.node, pose=parent.pose, state=choice.begins, time=end, parent=None, choice=None, squeezed=None
        )

    def _time_of(self, part: _Played) -> float:
        """Return the time of the first frame of a fragment that is played [s]."""
        return self.time + (part.first - 1 - self._frame) / self.fps

    def _led(self, part: _Played, since: int, times: FloatArray) -> _Played | None:
        """Return a fragment whose rest is bent so that it touches nothing, or None if that is not possible."""
        rest = _from(part.clip, since)
        choice, before = part.node.choice, _squeezed(part.node)
        assert choice is not None
        if len(rest) < _REST_FRAMES:
            return None
        fragment, path = Fragment.of(rest, flat=choice.flat), rest.planar_path()
        place, limits = self._parts[1], self._run.options.limits()
        x, y, heading = path[0].tolist()
        found = squeeze(fragment, Continuity((x, y, heading)), place, time=float(times[0]), limits=limits)
        if not found.fits:
            return None
        whole = refined([found], [times], place)
        if whole.failed >= 0:
            return None
        self.bends += 1
        roots = np.concatenate([part.clip.root_positions[:since], whole.clips[0].root_positions])
        turns = np.concatenate([part.clip.rotations[:since], whole.clips[0].rotations])
        clip = replace(part.clip, root_positions=roots, rotations=turns)
        shown = slice(part.first, part.stop)
        roots, turns = np.array(self._clip.root_positions), np.array(self._clip.rotations)
        roots[shown], turns[shown] = clip.root_positions[1:], clip.rotations[1:]
        self._clip = replace(self._clip, root_positions=roots, rotations=turns)
        squeezed = replace(before, path=np.concatenate([before.path[:since], found.path]))
        return _Played(replace(part.node, pose=found.end, squeezed=squeezed), clip, part.first)

    def _standing(self, pose: Pose, time: float) -> Swept:
        """Return what it covers that stands at a pose from a time on [s]."""
        discs = placed_discs(pose, self._prepared.standing_discs())
        return Swept.standing(discs, int(first_slot(time)), FOREVER, -1)

    def step(self) -> None:
        """Show the next frame, and search on a little.

        Where nothing fits, it stands still, and `hindered` says why.
        """
        self.time += 1.0 / self.fps
        if not self._at_goal():  # there is nothing left to search for
            self._run.search.advance(self._checks * (_STANDING if self._stands() else 1))
        if self._held:
            self._run.search.root.time += 1.0 / self.fps
            self.waited += 1
        elif self._frame < len(self._clip) - 1:
            self._frame += 1
            self.waited = 0
        elif not self.arrived:
            self._go_on()

    def _stands(self) -> bool:
        return self._frame >= len(self._clip) - 1 and not self._held

    def _aimed(self, query: Query) -> DeformRun:
        request = PlanRequest(character=self._character, prepared=self._prepared, query=query, traffic=self._traffic)
        run = DeformRun(request, *self._parts)
        run.search.rests, run.search.closed, run.search.awkward = frozenset(run.rest), self._closed, run.awkward
        return run

    def _go_on(self) -> None:
        """Begin the next fragments whose whole body touches nothing, or stand still.

        Arms come back to their own pose at the end of what is refined together. Where they cannot, in a gap, the next
        fragment of the branch is played with it.
        """
        search = self._run.search
        if self.waited % _EVERY:
            self._wait()
            return
        if search.root.state in search.rests and search.checks < _FIRST * self._checks and not search.ends:
            self._wait()
            return
        # who stands may think a while before it turns away from its goal
        patient = search.root.state in search.rests and self.waited < _PATIENT_S * self.fps
        branch = search.choose(_NEARER if patient else -math.inf)
        for count in range(1, min(len(branch), _TOGETHER) + 1):
            some = branch[:count]
            # others may have set off since a fragment was tried
            if any(self._run.met(node) is not None for node in some):
                some[-1].dead = True
                break
            found = refined(
                [_squeezed(node) for node in some], [self._run.times(node) for node in some], self._run.place
            )
            if found.failed < 0:
                if search.root.state in search.rests and not patient:
                    self._closed.add(search.place_key(search.root))  # it would come back, and be stuck as before
                search.take(some[-1])
                self._clip, self._frame, self.waited, self.caught = _in_a_row(found.clips), 0, 0, None
                begins = some[0].choice
                stood = begins is not None and begins.begins in search.rests
                self._past = [] if stood else [*self._past, *self._played][-_MOST_PAST:]
                self._backward = None
                firsts = 1 + np.cumsum([0, *(len(clip) - 1 for clip in found.clips[:-1])])
                self._played = [
                    _Played(node, clip, first)
                    for node, clip, first in zip(some, found.clips, (firsts - 1).tolist(), strict=True)
                ]
                ends = some[-1]
                parts = [self._run.swept(node) for node in some]
                self.covers = Swept.joined([*parts, self._standing(ends.pose, ends.time)])
                self.began += 1
                return
        if branch and not branch[0].dead:
            branch[0].dead = len(branch) >= _TOGETHER or not patient
        self._wait()
        if self.waited > _UNSTEADY_S * self.fps and search.root.state not in search.rests:
            self._step_back()

    def _step_back(self) -> None:
        """Go back to where the fragment that was played last began: nothing fits here, and it cannot stay in a step."""
        past = [*self._past, *self._played]
        if not past:
            return
        last = len(past[-1].clip) - 1
        node = self._goes_back(past[-1], last, last, 0.0)
        if node is not None:
            self._closed.add(self._run.search.place_key(self._run.search.root))
            self._past, self.waited = past[:-1], 0
            self._begin_at(node)
            self.covers = Swept.joined([*self._covered(), self._standing(node.pose, node.time)])
            self.began += 1

    def _wait(self) -> None:
        search = self._run.search
        self.waited += 1
        if not search.queue and search.going is None:
            search.again()
        search.root.time += 1.0 / self.fps  # what is tried from now on begins later


class DeformCrowd:
    """All characters of a scene, live. **Mutable**: they move by `step`, a frame at a time, and keep clear of another.

    Attributes:
        walkers: the characters, in the order of the scene.
        time: time of the frame that is shown [s].
        world: the place.
    """

    def __init__(self, scene: Scene, *, checks: int = CHECKS) -> None:
        """Put all characters of a scene where they start; they set off for their goals.

        Args:
            scene: the scene.
            checks: fragments that each tries in a frame.
        """
        self.walkers: list[DeformWalker] = []
        self.time, self.world, self._checks = 0.0, scene.world, checks
        self._context = PlanningContext(scene.world)
        for character in scene.characters:
            self._join(self._made(scene, character.name))

    @property
    def arrived(self) -> bool:
        """Whether all stand at their goals."""
        return all(walker.arrived for walker in self.walkers)

    def add(self, scene: Scene, name: str) -> bool:
        """Put another character of a scene where it starts; return whether there was room for it.

        Args:
            scene: the scene, in the same world.
            name: name of the character.
        """
        walker = self._made(scene, name)
        for other in self.walkers:
            walker.meet(other.name, other.covers)
        if not walker.has_room():
            return False
        self._join(walker)
        return True

    def remove(self, name: str) -> None:
        """Take a character out."""
        self.walkers = [walker for walker in self.walkers if walker.name != name]
        for walker in self.walkers:
            walker.forget(name)

    def change(self, world: World) -> None:
        """Let the place be another one: everybody bends what it plays, or searches anew from its end."""
        self.world, self._context = world, PlanningContext(world, self._context.libraries)
        made = dict[int, PreparedLibrary]()
        for walker in self.walkers:
            if id(walker.prepared) not in made:
                made[id(walker.prepared)] = changed_place(walker.prepared, world)
        for walker in self.walkers:
            walker.change(made[id(walker.prepared)])
            self._tell(walker)

    def step(self) -> None:
        """Show the next frame of all, one after the other: who sets off is seen by those after it."""
        for walker in self.walkers:
            began = walker.began
            walker.step()
            if walker.began != began:
                self._tell(walker)
        self.time = self.walkers[0].time if self.walkers else self.time + 1.0 / 30.0

    def _made(self, scene: Scene, name: str) -> DeformWalker:
        walker = DeformWalker(scene, name, checks=self._checks, context=self._context, time=self.time)
        if self.walkers and walker.fps != self.walkers[0].fps:
            rates = sorted({walker.fps, self.walkers[0].fps})
            raise GaitwayError(f"live characters with {rates} frames a second; give all the same rate")
        return walker

    def _join(self, walker: DeformWalker) -> None:
        for other in self.walkers:
            walker.meet(other.name, other.covers)
        self.walkers.append(walker)
        self._tell(walker)

    def _tell(self, walker: DeformWalker) -> None:
        for other in self.walkers:
            if other is not walker:
                other.meet(walker.name, walker.covers)


def changed_place(prepared: PreparedLibrary, world: World) -> PreparedLibrary:
    """Return a prepared library in a world that has changed; fragments are kept."""
    fragments = DeformPlanner.parts(prepared)[0]
    found = prepared.in_world(changed_fields(prepared, world), {})
    found.part("fragments", lambda: fragments, paced=True)
    return found


def _from(clip: Clip, first: int) -> Clip:
    """Return a clip from a frame on."""
    contacts = None if clip.contacts is None else clip.contacts[first:]
    return replace(
        clip, root_positions=clip.root_positions[first:], rotations=clip.rotations[first:], contacts=contacts
    )


def _there_and_back(since: int, farthest: int, speed: float) -> FloatArray:
    """Return how many frames after the shown one each next frame lies (N,): it slows down, and goes back to the first.

    Args:
        since: frame that is shown.
        farthest: last frame that may be shown.
        speed: frames that pass in a frame now.
    """
    at, out = float(since), [0.0]
    while at > 0.0 and len(out) < _LONGEST_BACK:
        room = farthest - at
        braked = 0.5 * speed * speed / room if room > 0.0 and speed > 0.0 else max(speed, 0.0)
        # it slows down before the end as it set off
        least = -min(_BACKWARD, math.sqrt(2.0 * _EASED * at) + _CREEP)
        speed = max(speed - max(_EASED, braked), least)
        at = min(max(at + speed, 0.0), float(farthest))
        out.append(at - since)
    return np.array(out)


def _at_frames(clip: Clip, frames: FloatArray) -> Clip:
    """Return a clip at frames (N,) that need not be whole."""
    first = np.clip(np.floor(frames).astype(np.int64), 0, max(len(clip) - 2, 0))
    share, after = frames - first, np.minimum(first + 1, len(clip) - 1)
    roots = clip.root_positions[first] + share[:, None] * (clip.root_positions[after] - clip.root_positions[first])
    turns = rotations.slerp(clip.rotations[first], clip.rotations[after], share[:, None])
    return replace(clip, root_positions=roots, rotations=turns, contacts=None)


def _until(clip: Clip, stop: int) -> Clip:
    """Return a clip without contacts up to a frame."""
    return replace(clip, root_positions=clip.root_positions[:stop], rotations=clip.rotations[:stop], contacts=None)


def _in_a_row(clips: Sequence[Clip]) -> Clip:
    """Return clips as one; the first frame of each is the last one of what was played before."""
    return replace(
        clips[0],
        root_positions=np.concatenate([clip.root_positions[1:] for clip in clips]),
        rotations=np.concatenate([clip.rotations[1:] for clip in clips]),
        contacts=None,
    )


def _squeezed(node: SearchNode) -> Squeezed:
    assert node.squeezed is not None
    return node.squeezed
