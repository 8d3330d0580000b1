"""Who walks straight on goes straight on: steps, starts and stops of an import do not turn or drift by chance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from figures import walking
from gaitway.audit.natural.way import turning_per_metre, way_of
from gaitway.capture.cutting.cuts import HubDistances, TakePiece, cut_takes
from gaitway.capture.cutting.hubs import find_hubs
from gaitway.capture.cutting.knees import with_bent_knees
from gaitway.capture.cutting.mirroring import with_mirror_images
from gaitway.capture.cutting.pose_index import PoseIndex
from gaitway.capture.importing import ImportOptions, import_library
from gaitway.capture.making.blended import snap_straight
from gaitway.capture.making.candidates import planar_move
from gaitway.capture.reading.prepared import prepare
from gaitway.capture.takes import PrepareOptions
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.motion.formats import save_clip
from gaitway.motion.limits import anatomical_angles, joint_limits
from shared_data import MOCAP, needs_mocap


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> TakePiece:
    """A step from the left foot to the right one."""
    folder: Path = tmp_path_factory.mktemp("straight")
    save_clip(walking(6.0, 60.0, 1.0), folder / "walk.bvh")
    takes, _ = with_mirror_images(prepare(folder, PrepareOptions(mirror=False)).takes)
    index = PoseIndex.of(takes)
    pieces = cut_takes(HubDistances.of(index, find_hubs(index)))
    return next(p for p in pieces[2:] if p.begin.hub.name == "walk_left" and p.end.hub.name == "walk_right")


def travelled(clip: Clip) -> FloatArray:
    """How far a clip goes ahead and to the left [m], and how far the pelvis turns [rad]; (3,)."""
    path = clip.planar_path()
    return planar.relative(path[0], path[-1])


@pytest.mark.parametrize("degrees", [-8.0, 8.0])
def test_a_step_that_turns_a_little_goes_straight_on(step: TakePiece, degrees: float) -> None:
    plain = travelled(snap_straight(step, float(planar_move(step)[2])).clip)
    first, last = step.begin.frame, step.end.frame
    whole = step.take.clip
    # the step alone turns, and what the capture does before and after it with it
    share = np.clip((np.arange(len(whole)) - first) / (last - first), 0.0, 1.0)
    steer = rotations.from_yaw(np.radians(degrees) * share)
    local = np.array(whole.rotations)
    local[:, 0] = rotations.multiply(steer, local[:, 0])
    moves = np.diff(whole.root_positions, axis=0)
    roots = np.concatenate([whole.root_positions[:1], rotations.rotate(steer[1:], moves)]).cumsum(axis=0)
    curved = replace(step.take, clip=replace(whole, rotations=local, root_positions=roots))
    end = np.array(step.end.pose)
    end[:2] += roots[last, :2] - whole.root_positions[last, :2]
    end[2] += np.radians(degrees)
    piece = TakePiece(curved, step.begin, replace(step.end, pose=end))
    assert np.degrees(planar_move(piece)[2] - planar_move(step)[2]) == pytest.approx(degrees)
    clip = snap_straight(piece, float(planar_move(piece)[2])).clip
    assert np.degrees(abs(travelled(clip)[2] - plain[2])) < 1.0
    assert travelled(clip)[1] == pytest.approx(plain[1], abs=0.03)


def test_a_knee_that_is_led_to_a_straighter_pose_does_not_bend_backward() -> None:
    raw = walking(2.0, 30.0, 1.0)
    limits = joint_limits(raw.skeleton)
    knee = raw.skeleton.roles["left_knee"]
    row = limits.joints.tolist().index(knee)
    bends = np.degrees(anatomical_angles(raw, limits)[:, row, 0])
    low = int(np.argmin(bends[5:-5])) + 5
    less = np.radians(bends[low] + 6.0) * np.exp(-(((np.arange(len(raw)) - low) / 4.0) ** 2))
    turned = np.array(raw.rotations)
    turned[:, knee] = rotations.multiply(turned[:, knee], rotations.from_rotation_vector(less[:, None] * [0, -1, 0]))
    straight = replace(raw, rotations=turned)
    before = np.degrees(anatomical_angles(straight, limits)[:, row, 0])
    assert before.min() < -4.0, "the test bends the knee backward"
    mended = with_bent_knees(straight, raw)
    after = np.degrees(anatomical_angles(mended, limits)[:, row])
    assert after[:, 0].min() > 4.0 and np.abs(after[:, 1]).max() < 3.0
    ankle = raw.skeleton.roles["left_ankle"]
    away = np.linalg.norm(mended.joint_positions()[:, ankle] - straight.joint_positions()[:, ankle], axis=1)
    assert away.max() < 0.006
    assert with_bent_knees(raw, raw) is raw


def chained(library: Library, names: list[str]) -> FloatArray:
    """The root on the ground of clips that are played one after another [m]; (F, 3)."""
    pose, parts = np.zeros(3), []
    for name in names:
        path = library.clips[name].planar_path()
        part = planar.compose(pose, planar.relative(path[0], path))
        parts.append(part[:-1])
        pose = part[-1]
    return np.concatenate(parts)


@pytest.mark.slow
@needs_mocap
@pytest.mark.parametrize(("folder", "only", "most"), [("bvh_accad", (), 1.5), ("bvh", ("69_*",), 2.0)])
def test_a_way_of_straight_steps_does_not_wind(folder: str, only: tuple[str, ...], most: float) -> None:
    """In any order of the clips; they wound by 3 degrees on every metre, and turned by 26 degrees in 16 m."""
    library = import_library(MOCAP / folder, options=ImportOptions(PrepareOptions(only=only))).library
    rng = np.random.default_rng(0)
    feet = [[n for n in library.clips if n.startswith(f"walk_forward_{foot}")] for foot in "lr"]
    way = chained(library, [str(rng.choice(feet[k % 2])) for k in range(24)])
    assert turning_per_metre(way_of(way)) < most
    assert abs(np.degrees(way[-1, 2] - way[0, 2])) < 8.0
    names = {b.name for b in library.graph.behaviors}
    assert {"start_walk_l", "stop_walk_l", "stop_walk_r"} <= names, "who cannot stop straight turns at every goal"
