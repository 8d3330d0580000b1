"""Motions borrowed from the built-in person that captures rarely hold: starts, stops, standing, turns on the spot.

The motions are put on the subject's skeleton. Later they are led to the subject's own poses, like pieces of a capture.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from gaitway.capture.cutting.hub_poses import standing_on_both, trunk_joints
from gaitway.capture.cutting.mirroring import level_tilt, mirrored_on_feet, tilted
from gaitway.capture.cutting.pose_index import PoseIndex
from gaitway.capture.takes import Manner, PreparedTake
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
"""Source file that borrowed takes state."""
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
"""Names of borrowed takes, and the behaviours that they are concatenated from."""


def borrowed_takes(skeleton: Skeleton, fps: float) -> tuple[PreparedTake, ...]:
    """Return takes of the built-in person on a skeleton at a rate [Hz], and mirror images; they have no events."""
    wanted = sorted({name for chain in _CHAINS.values() for name in chain})
    person = load_cast("person", behaviors=wanted)
    takes = []
    for name, chain in _CHAINS.items():
        clips = [person.clips[person.graph[part].clips[0]] for part in chain]
        whole = concatenate(clips, overlap=False, name=name) if len(clips) > 1 else clips[0]
        moved = tilted(resample(retarget(whole, skeleton, floor=0.0), fps), level_tilt(skeleton))
        moved = _off_tiptoe(planted(moved))  # soles of rigs differ by centimetres
        clip = with_name(moved, name)
        takes.append(PreparedTake(name=name, clip=clip, mirrored=False, source=CAST, events=(), phases=(), specials=()))
    mirrored = [
        replace(
            t, name=f"{t.name} mirrored", clip=with_name(mirrored_on_feet(t.clip), f"{t.name} mirrored"), mirrored=True
        )
        for t in takes
    ]
    return (*takes, *mirrored)


def _off_tiptoe(clip: Clip) -> Clip:
    """Return the clip without contacts of toes alone: late in a stance these would hold back the swinging leg."""
    assert clip.contacts is not None
    contacts = np.array(clip.contacts)
    columns = {point.name: c for c, point in enumerate(clip.skeleton.contact_points)}
    for side in ("left", "right"):
        toe = columns.get(f"{side}_toe")
        others = [columns[f"{side}_{part}"] for part in ("heel", "ball") if f"{side}_{part}" in columns]
        if toe is not None and others:
            contacts[:, toe] &= contacts[:, others].any(axis=1)
    return replace(clip, contacts=contacts)


def standing_pose(stand: Clip, pose_index: PoseIndex, manner: Manner = "") -> HubPose:
    """Return a standing pose for a subject without a stand: borrowed legs under the subject's own mean trunk.

    Args:
        stand: Borrowed stand.
        pose_index: Takes of the subject.
        manner: Manner of going in which the trunk is observed.
    """
    still = place(stand, np.zeros(3))
    local = np.array(still.rotations[0])
    own = _mean_posture(pose_index, manner)
    for joint in trunk_joints(stand.skeleton):
        local[joint] = own[joint]
    pose = HubPose(
        stand.skeleton,
        np.array([0.0, 0.0, still.root_positions[0, 2]]),
        local,
        np.zeros(3),
        np.zeros((len(stand.skeleton), 3)),
        np.ones(len(stand.skeleton.contact_points), dtype=bool),
    )
    return standing_on_both(pose)


def _mean_posture(pose_index: PoseIndex, manner: Manner) -> FloatArray:
    """Return the mean local rotations of the subject's takes while walking, or in other gaits, or in all; (J, 4)."""
    first = ("other",) if manner else ("walk", "stand")
    for kinds in (first, ("jog", "run", "back", "side"), ()):
        rows = []
        for take in pose_index.takes:
            spans = [range(p.start, p.stop, 3) for p in take.phases if p.kind in kinds and p.manner == manner]
            frames = [f for span in spans for f in span] if kinds else list(range(len(take.clip)))
            if take.source != CAST and frames and not take.mirrored:
                rows.append(take.clip.rotations[frames])
        if rows:
            break
    return rotations.mean(np.concatenate(rows))
