"""Live characters that squeeze through a place: their search goes on, a little in each frame, while they move.

Every frame tries the same small number of fragments (Choi et al. 2011, section 4.1: amortising computation). When a
fragment has been played, the character commits itself to the next one of the best branch so far.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.deform.branch import posed, refined
from gaitway.deform.planner import DeformPlanner, DeformRun
from gaitway.deform.search import SearchNode
from gaitway.deform.squeezing import Squeezed
from gaitway.motion.clip import Clip
from gaitway.scene.scene import Scene
from gaitway.space._traffic_kernels import FOREVER, first_slot
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import Pose
from gaitway.space.planner import PlanRequest
from gaitway.space.prepared import PlanningContext
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic, placed_discs

CHECKS = 3
"""Fragments that are tried in a frame."""
_PATIENT_S, _NEARER = 1.5, 0.3
"""How long somebody stands and searches before it takes a way that does not lead nearer to its goal [s], and what
counts as nearer, by the estimate of the cost."""
_EVERY = 4
"""Number of frames after which somebody who waits looks at what was found."""
_TOGETHER = 3
"""Most fragments that are refined to whole bodies together."""


class DeformWalker:
    """One live character of a scene. **Mutable**: it moves by `step`, a frame at a time.

    Attributes:
        time: time of the frame that is shown [s].
        waited: frames in a row in which it stood still because no fragment was known to fit.
        name: its name.
        covers: what it covers from the beginning of the fragments that it plays on, and then at their end.
        began: how many times it has begun to play fragments.
    """

    def __init__(self, scene: Scene, name: str, *, checks: int = CHECKS) -> None:
        """Put a character of a scene where it starts; it sets off for its goal.

        Args:
            scene: the scene. Other characters of it are there if they are told of (`meet`), as in `DeformCrowd`.
            name: name of the character.
            checks: fragments that are tried in a frame; more find better ways, and take longer.
        """
        found = [character for character in scene.characters if character.name == name]
        if not found:
            raise GaitwayError(f"the scene has no character '{name}'; write one of its names")
        if checks < 1:
            raise GaitwayError(f"{checks} fragments in a frame; write 1 or more")
        self._character, self._checks = found[0], checks
        self._prepared = PlanningContext(scene.world).prepared(self._character)
        self._movers = scene.world.movers
        self._parts = DeformPlanner.parts(self._prepared)
        self.time, self.waited = 0.0, 0
        self.name, self.began = name, 0
        self._traffic = Traffic(self._prepared.fields.kinds)
        for mover in self._movers:
            self._traffic.add_mover(mover)
        self._others: dict[str, int] = {}
        self.covers = self._standing(self._character.start, 0.0)
        self._frame = 0
        start = self._character.start
        self._run = self._aimed(Query(start, self._character.goal, tolerance=self._character.plan.tolerance))
        self._run.search.begin(start, self._run.first_state, 0.0)
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
        return search.root.parent is not None and search.arrived(search.root)

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
        old = self._run.search.root
        options = self._character.plan
        query = Query(old.pose, goal, goal_heading=heading, tolerance=options.tolerance, start_time=old.time)
        self._run = self._aimed(query)
        self._run.search.begin(old.pose, old.state, old.time)

    def meet(self, name: str, covers: Swept) -> None:
        """Tell it what another character covers from now on; that takes the place of what it was told before."""
        if name not in self._others:
            self._others[name] = self._traffic.enroll(name)
        self._traffic.remove(self._others[name])
        self._traffic.add_swept(self._others[name], covers)
        self._run.busy = self._run.search.timed = True

    def _standing(self, pose: Pose, time: float) -> Swept:
        """Return what it covers that stands at a pose from a time on [s]."""
        discs = placed_discs(pose, self._prepared.standing_discs())
        return Swept.standing(discs, int(first_slot(time)), FOREVER, -1)

    def step(self) -> None:
        """Show the next frame, and search on a little."""
        self.time += 1.0 / self.fps
        if not self._at_goal():  # there is nothing left to search for
            self._run.search.advance(self._checks)
        if self._frame < len(self._clip) - 1:
            self._frame += 1
            self.waited = 0
        elif not self.arrived:
            self._go_on()

    def _aimed(self, query: Query) -> DeformRun:
        request = PlanRequest(character=self._character, prepared=self._prepared, query=query, traffic=self._traffic)
        run = DeformRun(request, *self._parts)
        run.search.rests = frozenset(run.rest)
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
                search.take(some[-1])
                self._clip, self._frame, self.waited = _in_a_row(found.clips), 0, 0
                ends = some[-1]
                parts = [self._run.swept(node) for node in some]
                self.covers = Swept.joined([*parts, self._standing(ends.pose, ends.time)])
                self.began += 1
                return
        if branch and not branch[0].dead:
            branch[0].dead = len(branch) >= _TOGETHER or not patient
        self._wait()

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
    """

    def __init__(self, scene: Scene, *, checks: int = CHECKS) -> None:
        """Put all characters of a scene where they start; they set off for their goals.

        Args:
            scene: the scene.
            checks: fragments that each tries in a frame.
        """
        self.walkers = [DeformWalker(scene, character.name, checks=checks) for character in scene.characters]
        rates = {walker.fps for walker in self.walkers}
        if len(rates) > 1:
            raise GaitwayError(f"live characters with {sorted(rates)} frames a second; give all the same rate")
        for walker in self.walkers:
            self._tell(walker)

    @property
    def arrived(self) -> bool:
        """Whether all stand at their goals."""
        return all(walker.arrived for walker in self.walkers)

    def step(self) -> None:
        """Show the next frame of all, one after the other: who sets off is seen by those after it."""
        for walker in self.walkers:
            began = walker.began
            walker.step()
            if walker.began != began:
                self._tell(walker)

    def _tell(self, walker: DeformWalker) -> None:
        for other in self.walkers:
            if other is not walker:
                other.meet(walker.name, walker.covers)


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
