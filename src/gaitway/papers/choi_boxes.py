"""Boxes whose heights change all the time, and a person who jumps from one to the next (Choi et al. 2011, figure 8).

Each jump is one deformable fragment. Contacts draw both feet onto the box ahead, in the plan. In height, who stands on
a box rises and falls with it; from take-off to landing only a linear function of time is added, so that gravity stays
as it is. A jump begins as soon as the box ahead will be as high over the own one as the clip can be raised or lowered
to; what is more drastic is waited for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray
from gaitway.deform.branch import posed
from gaitway.deform.constraints import Contact, Continuity
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.deform.squeezing import squeeze
from gaitway.deform.tucking import body_depths
from gaitway.library.fitting.blocks import block_heights, fitted_block
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.space.plan import Pose
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

JUMP, KIND = "jump_on_box", "box"
BOXES = 5
_RISE, _SWING = 0.37, (0.04, 0.10)
"""Mean height of each box over the one before it, and how far each goes up and down [m]."""
_PERIODS = (2.5, 6.0)
"""Times in which boxes go up and down once [s]."""
_DEEP, _WIDE, _INSET = 0.9, 0.9, 0.02
"""Size of the tops, and how far within them toes land [m]."""
_LONGEST = 30.0
"""Longest time that a jump is waited for [s]."""
_TOLERANCE = 0.01


@dataclass(frozen=True)
class MovingBox:
    """A box whose height changes."""

    x: float
    """Where it begins, along the row [m]."""
    y: float
    """Its middle across the row [m]."""
    mean: float
    """Mean height of its top [m]."""
    swing: float
    """How far it goes up and down [m]."""
    period: float
    phase: float

    def height(self, times: FloatArray) -> FloatArray:
        """Return the height of its top at times [s]; (...) [m]."""
        return self.mean + self.swing * np.sin(2.0 * np.pi * times / self.period + self.phase)


@dataclass(frozen=True, eq=False)
class BoxRun:
    """How one person fared on a row of boxes."""

    jumps: int
    """Boxes that were reached."""
    clips: tuple[Clip, ...]
    """Motion of each jump, in the world."""
    times: tuple[FloatArray, ...]
    """Times of the frames of each [s]."""
    waited: float
    """Time for which it waited [s]."""
    lift: float
    """Greatest distance of a foot that is down from the top of its box, in height [m]."""
    over: float
    """How far toes that landed lie beyond the edge of their box [m]; 0 if they are on it."""
    depth: float
    """How deep the body, without feet that stand on it, lies in a box [m]; 0 if no deeper than 1 cm."""
    reason: str
    """Why it came no farther; empty if it reached the last box."""


def moving_boxes(seed: int) -> tuple[MovingBox, ...]:
    """Return a row of boxes, each higher than the one before it; the first stands for the floor."""
    random = np.random.default_rng(seed)
    boxes = [MovingBox(-5.0, 0.0, 0.0, 0.0, 1.0, 0.0)]
    x, y = 0.0, 0.0
    for number in range(BOXES):
        swing, period, phase = random.uniform((_SWING[0], _PERIODS[0], 0.0), (_SWING[1], _PERIODS[1], 2.0 * np.pi))
        boxes.append(MovingBox(x, y, _RISE * (number + 1), float(swing), float(period), float(phase)))
        x, y = x + float(random.uniform(0.66, 0.72)), y + float(random.uniform(-0.04, 0.04))
    return tuple(boxes)


def cross_boxes(boxes: tuple[MovingBox, ...], library: str = "person") -> BoxRun:
    """Let a person jump from box to box."""
    cast = load_cast(library)
    clip = cast.clips[JUMP]
    least, most = block_heights(cast, KIND, "up")
    fragment = Fragment.of(clip)
    assert fragment.work is not None
    up = np.flatnonzero(~fragment.work.down.any(axis=1))
    leaves, lands = int(up[0]) - 1, int(up[-1]) + 1
    own = float(clip.root_positions[-1, 2] - clip.root_positions[0, 2])
    toes = [clip.skeleton.roles[f"{side}_toe"] for side in ("left", "right")]
    edge = fitted_block(cast, KIND, min(max(own, least), most), "up").edge
    place, frames = SqueezePlace(World((-9.0, -9.0, 9.0, 9.0))), np.arange(len(clip)) / clip.fps
    pose: Pose = (boxes[1].x - edge, boxes[1].y, 0.0)
    clips, moments, now, waited = list[Clip](), list[FloatArray](), 0.0, 0.0
    lift, over, depth = 0.0, 0.0, 0.0
    for below, above in pairwise(boxes):
        began = now
        while not least <= _rise(below, above, now + frames, leaves, lands) <= most:
            now += 1.0 / clip.fps
            if now - began > _LONGEST:
                return _run(clips, moments, waited, lift, over, depth, "the next box is never as high as can be jumped")
        waited += now - began
        low = (above.x + _INSET, above.y - 0.5 * _WIDE + _INSET)
        high = (above.x + _DEEP - _INSET, above.y + 0.5 * _WIDE - _INSET)
        contacts = [Contact(lands, toe, low, high) for toe in toes]
        found = squeeze(fragment, Continuity(pose), place, time=now, contacts=contacts)
        if not found.fits:
            return _run(clips, moments, waited, lift, over, depth, found.reason)
        times = now + frames
        offset = _offset(below, above, times, leaves, lands, own)
        flat = posed(found)
        made = replace(flat, root_positions=flat.root_positions + offset[:, None] * np.array([0.0, 0.0, 1.0]))
        lift = max(lift, _lift(flat, made, fragment, below, above, times, lands, own))
        places = made.joint_positions()[lands:, toes, :2]
        beyond = np.maximum(np.array(low) - _INSET - places, places - np.array(high) - _INSET)
        over = max(over, float(beyond.max()), 0.0)
        depth = max(depth, _depth(made, (below, above), times, lands))
        clips.append(made)
        moments.append(times)
        now, pose = float(times[-1]), found.end
    return _run(clips, moments, waited, lift, over, depth, "")


def box_rows(seeds: int) -> list[dict[str, Any]]:
    """Cross rows of boxes, each with other heights and times, and sum up."""
    runs = [cross_boxes(moving_boxes(seed)) for seed in range(1, seeds + 1)]
    return [
        {
            "place": f"{BOXES} boxes of changing heights",
            "arrives": f"{sum(not run.reason for run in runs)} of {len(runs)}",
            "jumps": sum(run.jumps for run in runs),
            "waited s": round(sum(run.waited for run in runs) / len(runs), 1),
            "feet off the top mm": round(1e3 * max(run.lift for run in runs), 1),
            "toes over the edge mm": round(1e3 * max(run.over for run in runs), 1),
            "in a box mm": round(1e3 * max(run.depth for run in runs), 1),
        }
    ]


def _run(
    clips: list[Clip], times: list[FloatArray], waited: float, lift: float, over: float, depth: float, reason: str
) -> BoxRun:
    return BoxRun(len(clips), tuple(clips), tuple(times), waited, lift, over, depth, reason)


def _rise(below: MovingBox, above: MovingBox, times: FloatArray, leaves: int, lands: int) -> float:
    return float(above.height(times[lands]) - below.height(times[leaves]))


def _offset(
    below: MovingBox, above: MovingBox, times: FloatArray, leaves: int, lands: int, own: float
) -> FloatArray:  # fmt: skip
    """Return by how much a jump is raised in every frame [m]; (F,)."""
    out = np.where(np.arange(len(times)) <= leaves, below.height(times), above.height(times) - own)
    out[leaves : lands + 1] = np.linspace(out[leaves], out[lands], lands - leaves + 1)
    return np.asarray(out)


def _lift(
    flat: Clip, made: Clip, fragment: Fragment, below: MovingBox, above: MovingBox, times: FloatArray, lands: int,
    own: float,
) -> float:  # fmt: skip
    """Return the greatest distance of feet that are down from the top they stand on, against that in the clip [m]."""
    assert fragment.work is not None
    out = 0.0
    for leg, joint in enumerate(one.joints[2] for one in fragment.work.legs):
        down = fragment.work.down[:, leg]
        late = np.arange(len(times)) >= lands
        top = np.where(late, above.height(times), below.height(times))
        over = made.joint_positions()[:, joint, 2] - top
        usual = flat.joint_positions()[:, joint, 2] - np.where(late, own, 0.0)
        out = max(out, float(np.abs(over - usual)[down].max(initial=0.0)))
    return out


def _depth(made: Clip, boxes: tuple[MovingBox, MovingBox], times: FloatArray, lands: int) -> float:
    """Return how deep the body lies in either box, feet left out that stand on it [m]."""
    names = capsule_body(made.skeleton).names
    groups = np.array([-1 if "toe" in name or "ankle" in name or "foot" in name else 0 for name in names])
    worst = 0.0
    for frame in range(0, len(made), 2):
        shapes = []
        for box in boxes:
            top = float(box.height(times[frame]))
            if top > 0.05:
                middle = (box.x + 0.5 * _DEEP, box.y)
                shapes.append(Obstacle(Box(middle, (_DEEP, _WIDE), top - _TOLERANCE)))
        one = replace(
            made,
            root_positions=made.root_positions[frame : frame + 1],
            rotations=made.rotations[frame : frame + 1],
            contacts=None,
        )
        place = SqueezePlace(World((-9.0, -9.0, 9.0, 9.0), tuple(shapes)))
        depths, _ = body_depths(one, place, times[frame : frame + 1], groups, _TOLERANCE)
        worst = max(worst, float(depths.max()))
    return worst
