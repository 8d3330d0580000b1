"""Short walks: a few steps ahead from standing to standing, made of a library's start and stop.

Libraries have steps of a foot's length and walks of two metres and more. People who move up in a line go half a metre
or one. Such walks are the first and the last steps of a usual walk, each shorter in proportion and a little quicker.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.library.standing import standing_behaviors
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import STILL, detect_contacts, foot_points, stances
from gaitway.motion.editing import joined, place, resample
from gaitway.motion.footplants import FootPlan, bridge
from gaitway.motion.footskate import clean_footskate, reach_feet
from gaitway.motion.limits import violations

LENGTHS = (0.5, 0.7, 0.9, 1.15, 1.45)
"""Lengths of short walks [m]."""
BEHAVIOR = "short_walk"
"""Name of the behaviour; the clips add their lengths in centimetres."""
_QUICKER = 0.33
"""Power of the share of the length that is the share of the time."""
_SLOWEST, _FASTEST = 0.4, 2.2
"""Least and greatest mean speed of a start and a stop that count as walking [m/s]."""
_BEYOND = 0.5
"""Most that a joint may be beyond its limit, unless it is in the whole walk [degrees]. The audit allows 2, but walks
are bent a little where they end."""
_ABOVE = 0.008
"""Most that a planted point is above the ground of its stance [m]; the audit allows 1 cm."""
_TURN, _ASIDE = 0.22, 0.15
"""Greatest turn of a start and a stop together [rad], and greatest share of their length that they go sideways."""


def with_short_walks(library: Library) -> Library:
    """Return a library that has short walks too; the same library if its body or its clips do not allow them."""
    whole = _start_and_stop(library)
    if whole is None or any(behavior.name.startswith(BEHAVIOR) for behavior in library.graph.behaviors):
        return library
    state, clip = whole
    length = float(planar.relative(clip.planar_path()[0], clip.planar_path()[-1])[0])
    made = {
        f"{BEHAVIOR}_{round(100 * wish)}": shortened(clip, wish / length) for wish in LENGTHS if wish < 0.9 * length
    }
    beyond = max(_BEYOND, float(violations(clip).max(initial=0.0)))
    # legs of captures are quite straight: not each of them can take steps of any length
    clips = {name: replace(one, name=name) for name, one in made.items() if violations(one).max(initial=0.0) <= beyond}
    if not clips:
        return library
    behaviors = [Behavior(name, (name,), state, state) for name in clips]
    graph = BehaviorGraph((*library.graph.behaviors, *behaviors), library.graph.forbidden)
    return replace(library, clips={**library.clips, **clips}, graph=graph)


def shortened(clip: Clip, share: float) -> Clip:
    """Return a walk whose steps are all shorter by a factor, in less time; feet stay where they are put down.

    Args:
        clip: a walk of a humanoid from standing to standing, with contacts.
        share: length of the steps over what it was, less than 1.
    """
    clip = place(clip if clip.contacts is not None else detect_contacts(clip), (0.0, 0.0, 0.0))
    assert clip.contacts is not None
    ahead = clip.root_positions[:, 0] - clip.root_positions[0, 0]
    positions, turns = clip.joint_transforms()
    names = [point.name for point in clip.skeleton.contact_points]
    plans = {}
    for side in ("left", "right"):
        columns = [k for k, name in enumerate(names) if name in foot_points(side)]
        planted: BoolArray = np.array([row.any() for row in clip.contacts[:, columns]])
        ankle, toe = clip.skeleton.roles[f"{side}_ankle"], clip.skeleton.roles.get(f"{side}_toe")
        shift = np.zeros((len(clip), 3))
        for start, stop in stances(planted):
            # a foot turns about its ball while it rests; all of that is kept, and so is how feet stand at both ends
            far = float(positions[(start + stop) // 2, ankle, 0] - positions[0, ankle, 0])
            far = 0.0 if start == 0 else float(ahead[-1]) if stop == len(clip) else far
            shift[start:stop, 0] = (share - 1.0) * far
        moved = positions[:, ankle] + bridge(shift, planted, clip.fps, len(clip) / clip.fps)
        toes = turns[:, ankle] if toe is None else turns[:, toe]
        plans[side] = FootPlan(moved, turns[:, ankle], toes, planted)
    roots = np.array(clip.root_positions)
    roots[:, 0] += (share - 1.0) * ahead
    walked = reach_feet(replace(clip, root_positions=roots), plans)
    quick = resample(walked, clip.fps * share**_QUICKER)
    return _truly_planted(_ends_kept(clean_footskate(replace(quick, fps=clip.fps), hold=True), walked))


def _ends_kept(clip: Clip, ends: Clip) -> Clip:
    """Return a clip whose first and last pose are those of another one, so that it joins what that one joins."""
    turns = np.array(clip.rotations)
    turns[[0, -1]] = ends.rotations[[0, -1]]
    roots = np.array(clip.root_positions)
    roots[[0, -1]] = ends.root_positions[[0, -1]]
    return replace(clip, rotations=turns, root_positions=roots)


def _truly_planted(clip: Clip) -> Clip:
    """Return a clip whose contacts begin when a foot rests and end before it moves: other frames fall between both."""
    points, contacts = clip.contact_positions(), np.array(clip.contacts)
    moved = np.linalg.norm(np.diff(points, axis=0), axis=-1)
    for column in range(contacts.shape[1]):
        for start, stop in stances(contacts[:, column].copy()):
            first, last = start, stop - 1
            above = points[:, column, 2] > points[start:stop, column, 2].min() + _ABOVE
            while first < last and (moved[first, column] > 0.9 * STILL or above[first]):
                first += 1
            while last > first and (moved[last - 1, column] > 0.9 * STILL or above[last]):
                last -= 1
            contacts[start:first, column] = contacts[last + 1 : stop, column] = False
    return replace(clip, contacts=contacts)


def _on_feet(clip: Clip) -> bool:
    """Return whether nothing but feet touches the ground in a clip."""
    names, feet = [point.name for point in clip.skeleton.contact_points], foot_points("left") | foot_points("right")
    others = [k for k, name in enumerate(names) if name not in feet]
    return clip.contacts is not None and not clip.contacts[:, others].any()


def _start_and_stop(library: Library) -> tuple[str, Clip] | None:
    """Return a state to stand in, and the shortest, straightest walk from there back to it; None if there is none."""
    roles = library.skeleton.roles
    if not all(f"{side}_{part}" in roles for side in ("left", "right") for part in ("hip", "knee", "ankle")):
        return None
    stands = {library.graph[name].start for name in standing_behaviors(library)}
    found: list[tuple[float, str, Clip]] = []
    for first in library.graph.behaviors:
        for last in library.graph.behaviors:
            plain = first.obstacle is None and last.obstacle is None and first.end not in stands
            if plain and first.start in stands and first.start == last.end and first.end == last.start:
                clip = joined(library.clips[first.clips[0]], library.clips[last.clips[0]])
                x, y, turn = planar.relative(clip.planar_path()[0], clip.planar_path()[-1]).tolist()
                steady = abs(turn) < _TURN and abs(y) < _ASIDE * x and _on_feet(clip)
                if steady and _SLOWEST * clip.duration < x < _FASTEST * clip.duration:
                    found.append((round(x * (1.0 + abs(turn)), 4), first.start, clip))
    if not found:
        return None
    _, state, clip = min(found, key=lambda one: one[:2])
    return state, clip
