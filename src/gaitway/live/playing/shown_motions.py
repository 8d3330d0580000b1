"""Motions that are shown of live characters who stand, in place of their standing: such as sitting down and getting up.

The engine goes on with a character that stands; only its body is elsewhere. A motion ends where the character stands,
and goes over into its standing there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.clip import Clip
from gaitway.sitting.figure import smooth

HELD_S = 0.7
"""Time at the end of a motion in which the character stands still already, and its own standing comes back [s]."""
_CALM_S = 0.7
"""Time at the begin and at the end in which looks and gestures of who stands go and come back [s]."""
_JOINED_S = 0.35
"""Time in which the pose at the begin goes over into the motion [s]."""


_Seen = tuple[float, FloatArray, FloatArray]
"""Time [s], root position (3,) and local rotations (J, 4)."""


@dataclass(frozen=True, eq=False)
class ShownMotion:
    """A motion of one character."""

    who: int
    """Number of the character."""
    life: int
    """How many characters have had this number."""
    start: float
    """When it begins [s]."""
    clip: Clip
    """The motion in the world."""
    first: tuple[FloatArray, FloatArray]
    """Root position (3,) and local rotations (J, 4) in which the character stood."""

    @property
    def end(self) -> float:
        """When it ends [s]."""
        return self.start + self.clip.duration

    def weight(self, time: float) -> float:
        """Return how much of the motion is seen at a time [s], from 1 to 0 at its end."""
        return float(1.0 - smooth(np.array(time), self.end - HELD_S, self.end))

    def calm(self, time: float) -> float:
        """Return how far looks and gestures of who stands are gone at a time [s]: 0 at both ends, 1 between them."""
        return float(smooth(np.array(time), self.start, self.start + _CALM_S)) * self.weight(time)

    def pose(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Return root position (3,) and local rotations (J, 4) at a time [s]."""
        at = min(max((time - self.start) * self.clip.fps, 0.0), len(self.clip) - 1.0)
        k = min(int(at), len(self.clip) - 2)
        roots, turns = self.clip.root_positions[k : k + 2], self.clip.rotations[k : k + 2]
        return roots[0] + (at - k) * (roots[1] - roots[0]), rotations.slerp(turns[0], turns[1], at - k)


class ShownMotions:
    """Motions that are shown now, and those of which a record tells. This class is **mutable**."""

    def __init__(self) -> None:
        self._now: dict[int, ShownMotion] = {}
        self._past: list[ShownMotion] = []
        self._seen: dict[int, list[_Seen]] = {}
        """What was seen at the ends of motions that go on, by character."""

    def put(self, who: int, life: int, start: float, clip: Clip, pose: tuple[FloatArray, FloatArray]) -> None:
        """Show a motion.

        Args:
            who: number of the character.
            life: how many characters have had this number.
            start: when it begins [s].
            clip: the motion in the world.
            pose: root position (3,) and local rotations (J, 4) in which the character stands then.
        """
        self._now[who] = ShownMotion(who, life, start, begun_in(clip, *pose), pose)

    def change(self, who: int, clip: Clip) -> None:
        """Let the motion of a character, if it has one, go on in another way."""
        if who in self._now:
            motion = self._now[who]
            self._seen.pop(who, None)
            self._now[who] = replace(motion, clip=begun_in(clip, *motion.first))

    def step(
        self, time: float, kept_since: float, standing: Callable[[IntArray], tuple[FloatArray, FloatArray]]
    ) -> None:
        """Go on to a time [s].

        Args:
            time: time now [s].
            kept_since: what was over before this time is forgotten [s].
            standing: returns root positions (N, 3) and local rotations (N, J, 4) of characters (N,) as they stand now.
        """
        for who, motion in list(self._now.items()):
            if time > motion.end - HELD_S:
                (root,), (turns,) = standing(np.array([who]))
                place, pose = motion.pose(time)
                weight = motion.weight(time)
                blended = (root + weight * (place - root), rotations.slerp(turns, pose, weight))
                self._seen.setdefault(who, []).append((min(time, motion.end), *blended))
            if motion.end <= time:
                self._past.append(_ended(self._now.pop(who), self._seen.pop(who, [])))
        self._past = [motion for motion in self._past if motion.end >= kept_since]

    def stop(self, characters: IntArray) -> None:
        """Show no motion of characters any more, who are taken out."""
        for who in characters.tolist():
            self._seen.pop(who, None)
            if who in self._now:
                self._past.append(self._now.pop(who))

    def rows(self, who: IntArray) -> IntArray:
        """Return the rows of those characters who are in a motion; (M,)."""
        if not self._now:
            return np.empty(0, np.int64)
        return np.array([row for row, number in enumerate(who.tolist()) if number in self._now], np.int64)

    def posed(
        self, who: IntArray, time: float, roots: FloatArray, turns: FloatArray, looks: FloatArray | None,
        joints: IntArray,
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Return root positions (N, 3) and local rotations (N, J, 4) of characters in motions.

        Args:
            who: the characters; (N,).
            time: time [s].
            roots: root positions as they stand [m]; (N, 3).
            turns: local rotations as they stand, without looks; (N, J, 4).
            looks: turns of joints by looks, see `calmed`; (N, P, 4).
            joints: the joints that looks turn, or -1; (P,).
        """
        places, poses = np.array(roots), np.array(turns)
        for row, number in enumerate(who.tolist()):
            motion = self._now[number]
            place, pose = motion.pose(time)
            weight = motion.weight(time)
            places[row] += weight * (place - places[row])
            poses[row] = rotations.slerp(poses[row], pose, weight)
        if looks is not None:
            for part, joint in enumerate(joints.tolist()):
                if joint >= 0:
                    poses[:, joint] = rotations.multiply(poses[:, joint], looks[:, part])
        return places, poses

    def calmed(self, who: IntArray, time: float, looks: FloatArray | None) -> FloatArray | None:
        """Return looks (N, P, 4) without those of characters in a motion, who look as it has them."""
        rows = np.empty(0, np.int64) if looks is None or not self._now else self.rows(who)
        if looks is None or not len(rows):
            return looks
        out = np.array(looks)
        for row in rows.tolist():
            still = np.broadcast_to(rotations.identity(), out[row].shape)
            out[row] = rotations.slerp(out[row], still, self._now[int(who[row])].calm(time))
        return out

    def clips(self, end: float) -> dict[tuple[int, int], list[tuple[float, Clip]]]:
        """Return the motions that began before a time [s]: times [s] and clips in order, by number and life."""
        out: dict[tuple[int, int], list[tuple[float, Clip]]] = {}
        for motion in sorted([*self._past, *self._now.values()], key=lambda one: one.start):
            if motion.start < end:
                out.setdefault((motion.who, motion.life), []).append((motion.start, motion.clip))
        return out


def begun_in(clip: Clip, root: FloatArray, turns: FloatArray) -> Clip:
    """Return a motion that begins in another pose, which goes over into it.

    Args:
        clip: the motion.
        root: position of the root at first [m]; (3,).
        turns: local rotations at first; (J, 4).
    """
    count = min(round(_JOINED_S * clip.fps) + 1, len(clip))
    share = smooth(np.arange(count, dtype=np.float64), 0.0, count - 1.0)
    roots, own = np.array(clip.root_positions), np.array(clip.rotations)
    roots[:count] += (1.0 - share)[:, None] * (root - roots[0])
    off = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(own[0]), turns))
    lost = rotations.from_rotation_vector((1.0 - share)[:, None, None] * off)
    own[:count] = rotations.multiply(own[:count], lost)
    return replace(clip, root_positions=roots, rotations=own)


def _ended(motion: ShownMotion, seen: list[_Seen]) -> ShownMotion:
    """Return a motion whose end is as it was seen, when it went over into how the character stands."""
    clip = motion.clip
    first = len(clip) - round(HELD_S * clip.fps)
    known = [(motion.start + (first - 1) / clip.fps, clip.root_positions[first - 1], clip.rotations[first - 1]), *seen]
    times = np.array([time for time, _, _ in known])
    roots, turns = np.array(clip.root_positions), np.array(clip.rotations)
    for frame in range(first, len(clip)):
        now = motion.start + frame / clip.fps
        k = min(max(int(np.searchsorted(times, now, side="right")) - 1, 0), len(known) - 1)
        (begin, root, pose), (end, later, other) = known[k], known[min(k + 1, len(known) - 1)]
        share = 0.0 if end <= begin else (now - begin) / (end - begin)
        roots[frame] = root + share * (later - root)
        turns[frame] = rotations.slerp(pose, other, share)
    return replace(motion, clip=replace(clip, root_positions=roots, rotations=turns))
