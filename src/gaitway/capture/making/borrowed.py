"""What nearly nobody is captured doing, borrowed from the built-in person: setting off, stopping, standing, turning.

The motions are put on the subject's skeleton, and later led to the subject's own poses like any piece of a capture.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from gaitway.capture.cutting.hub_poses import symmetric_pose
from gaitway.capture.cutting.mirroring import level_tilt, mirrored_on_feet, tilted
from gaitway.capture.cutting.pose_index import PoseIndex
from gaitway.capture.takes import PreparedTake
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.graphs.snap.common_pose import HubPose
from gaitway.graphs.snap.planting import planted
from gaitway.motion.blending import concatenate
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place, resample, with_name
from gaitway.motion.retarget import retarget
from gaitway.motion.skeleton import Skeleton

CAST = Path("built-in person")
"""What the borrowed takes are said to come from."""
_CHAINS = {
    "stand": ("stand",),
    "wait": ("wait",),
    "start_walk": ("start_walk", "walk_forward"),
    "stop_walk": ("walk_forward", "stop_walk"),
    "start_jog": ("start_jog", "jog_forward"),
    "stop_jog": ("jog_forward", "stop_jog"),
    "start_back": ("start_back", "back_walk"),
    "stop_back": ("back_walk", "stop_back"),
    "start_side_left": ("start_side_left", "side_left_walk"),
    "stop_side_left": ("side_left_walk", "stop_side_left"),
    "turn_left_45": ("turn_left_45",),
    "turn_left_90": ("turn_left_90",),
    "turn_left_180": ("turn_left_180",),
}
"""Borrowed takes and the behaviours that they are put together of."""


def borrowed_takes(skeleton: Skeleton, fps: float) -> tuple[PreparedTake, ...]:
    """Takes of the built-in person on another skeleton, at a rate, and their mirror images; without any events."""
    wanted = sorted({name for chain in _CHAINS.values() for name in chain})
    person = load_cast("person", behaviors=wanted)
    takes = []
    for name, chain in _CHAINS.items():
        clips = [person.clips[person.graph[part].clips[0]] for part in chain]
        whole = concatenate(clips, overlap=False, name=name) if len(clips) > 1 else clips[0]
        moved = tilted(resample(retarget(whole, skeleton, floor=0.0), fps), level_tilt(skeleton))
        moved = _off_tiptoe(planted(moved))  # soles of rigs differ by centimetres
        takes.append(PreparedTake(name, with_name(moved, name), False, CAST, (), (), ()))
    mirrored = [
        replace(
            t, name=f"{t.name} mirrored", clip=with_name(mirrored_on_feet(t.clip), f"{t.name} mirrored"), mirrored=True
        )
        for t in takes
    ]
    return (*takes, *mirrored)


def _off_tiptoe(clip: Clip) -> Clip:
    """The clip without contacts of toes alone: so late in a stance they would hold back a leg that swings already."""
    assert clip.contacts is not None
    contacts = np.array(clip.contacts)
    columns = {point.name: c for c, point in enumerate(clip.skeleton.contact_points)}
    for side in ("left", "right"):
        toe = columns.get(f"{side}_toe")
        others = [columns[f"{side}_{part}"] for part in ("heel", "ball") if f"{side}_{part}" in columns]
        if toe is not None and others:
            contacts[:, toe] &= contacts[:, others].any(axis=1)
    return replace(clip, contacts=contacts)


def standing_pose(stand: Clip, pose_index: PoseIndex) -> HubPose:
    """A standing pose for somebody who was never captured standing: borrowed legs under the trunk of its own steps.

    Args:
        stand: the borrowed stand.
        sightings: the subject's takes.
    """
    still = place(stand, np.zeros(3))
    local = np.array(still.rotations[0])
    own = _mean_posture(pose_index)
    for joint in _trunk_joints(stand.skeleton):
        local[joint] = own[joint]
    pose = HubPose(
        stand.skeleton,
        np.array([0.0, 0.0, still.root_positions[0, 2]]),
        local,
        np.zeros(3),
        np.zeros((len(stand.skeleton), 3)),
        np.ones(len(stand.skeleton.contact_points), dtype=bool),
    )
    return symmetric_pose(pose)


def _mean_posture(pose_index: PoseIndex) -> FloatArray:
    """Mean local rotations of the originals and their mirror images while they walk, or else while they go; (J, 4)."""
    for kinds in (("walk", "stand"), ("jog", "run", "back", "side"), ()):
        rows = []
        for take in pose_index.takes:
            spans = [range(p.start, p.stop, 3) for p in take.phases if p.kind in kinds]
            frames = [f for span in spans for f in span] if kinds else list(range(len(take.clip)))
            if take.source != CAST and frames:
                rows.append(take.clip.rotations[frames])
        if rows:
            break
    return rotations.mean(np.concatenate(rows))


def _trunk_joints(skeleton: Skeleton) -> list[int]:
    """Joints above the hips, and not of the legs."""
    tops = {skeleton.roles[f"{side}_hip"] for side in ("left", "right")}
    legs: set[int] = set(tops)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in legs:
            legs.add(joint)
    # joints between hips and thighs carry no posture of the trunk
    for top in tops:
        above = int(skeleton.parents[top])
        while above > 0:
            legs.add(above)
            above = int(skeleton.parents[above])
    return [j for j in range(1, len(skeleton)) if j not in legs]
