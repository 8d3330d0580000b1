"""An import keeps its performer: arms that swing unlike, the bob of the pelvis, and what every second is used for."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from figures import standing, walking
from gaitway.capture.cutting.hub_poses import mirrored_pose, standing_on_both, trunk_joints
from gaitway.capture.cutting.hubs import CaptureHub, _called, _named, base_gait, find_hubs
from gaitway.capture.cutting.mirroring import with_mirror_images
from gaitway.capture.cutting.pose_index import PoseIndex
from gaitway.capture.importing import Imported, ImportOptions, import_library
from gaitway.capture.making.gate import CaptureBaseline, ClipGate, measure_quality, refusal
from gaitway.capture.reading.faults import mend
from gaitway.capture.reading.prepared import prepare
from gaitway.capture.reading.true_speed import judge_rate
from gaitway.capture.recognising.measures import measure
from gaitway.capture.recognising.phases import _hopping, handling, holding
from gaitway.capture.report import travel_turn_deg, turn_label
from gaitway.capture.takes import MotionPhase, PreparedTake, PrepareOptions
from gaitway.core import rotations
from gaitway.graphs.snap.common_pose import HubPose
from gaitway.motion.clip import Clip
from gaitway.motion.formats import load_clip, save_clip
from shared_data import MOCAP, needs_mocap


def one_armed(clip: Clip) -> Clip:
    """The walk with a left arm that swings by 25 degrees to each side and a right arm that hardly swings."""
    turned = np.array(clip.rotations)
    swing = np.sin(2.0 * np.pi * np.arange(len(clip)) / clip.fps / 1.1)
    for side, degrees in (("Left", 25.0), ("Right", -4.0)):
        joint = clip.skeleton.index(f"{side}Arm")
        turned[:, joint] = rotations.multiply(
            rotations.from_axis_angle([0, 1, 0], np.radians(degrees) * swing), turned[:, joint]
        )
    return replace(clip, rotations=turned)


@pytest.fixture(scope="module")
def one_armed_takes(tmp_path_factory: pytest.TempPathFactory) -> tuple[PreparedTake, ...]:
    folder = tmp_path_factory.mktemp("arms")
    save_clip(one_armed(walking(6.0, 60.0, 1.0)), folder / "walk.bvh")
    return prepare(folder, PrepareOptions(mirror=False)).takes


def test_each_foot_has_a_pose_of_its_own(one_armed_takes: tuple[PreparedTake, ...]) -> None:
    """A pose that is averaged with mirror images has half the swing of either arm on both sides."""
    takes, _ = with_mirror_images(one_armed_takes)
    hubs = {hub.name: hub for hub in find_hubs(PoseIndex.of(takes))}
    left, right = hubs["walk_left"].pose, hubs["walk_right"].pose
    arm = left.skeleton.index("LeftArm")
    other = left.skeleton.index("RightArm")
    spins = [np.degrees(np.linalg.norm(pose.angular_velocity[[arm, other]], axis=1)) for pose in (left, right)]
    for spin in spins:
        assert spin[0] > 4.0 * spin[1], "the left arm swings, the right one hardly does, on either foot"
    unlike = np.degrees(rotations.angle_between(mirrored_pose(left).rotations, right.rotations))
    assert unlike[[arm, other]].max() > 1.0 and abs(left.root[2] - right.root[2]) < 0.016


def test_who_stands_keeps_the_arms() -> None:
    clip = standing(2)
    local = np.array(clip.rotations[0])
    arm = clip.skeleton.index("LeftArm")
    local[arm] = rotations.multiply(rotations.from_axis_angle([0, 1, 0], 0.5), local[arm])
    still = np.zeros(3), np.zeros((len(clip.skeleton), 3)), np.ones(len(clip.skeleton.contact_points), dtype=bool)
    pose = HubPose(clip.skeleton, clip.root_positions[0] * [0.0, 0.0, 1.0], local, *still)
    stood = standing_on_both(pose)
    above = trunk_joints(clip.skeleton)
    assert arm in above
    assert rotations.angle_between(stood.rotations[above], local[above]).max() < 1e-9
    knees = [clip.skeleton.index(f"{side}Leg") for side in ("Left", "Right")]
    bent = rotations.angle_between(stood.rotations[knees], rotations.identity(2))
    assert bent[0] == pytest.approx(bent[1], abs=1e-3)


def flipped(clip: Clip, frame: int, degrees: float) -> Clip:
    """The clip whose left foot is turned from a frame on."""
    turned = np.array(clip.rotations)
    foot = clip.skeleton.index("LeftFoot")
    flip = rotations.from_axis_angle([1, 0, 0], np.radians(degrees))
    turned[frame:, foot] = rotations.multiply(turned[frame:, foot], flip)
    return replace(clip, rotations=turned)


@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_a_foot_that_flips_for_good_is_repaired_over_several_frames(fps: float) -> None:
    clip = flipped(walking(3.0, fps), int(1.5 * fps), 129.0)
    mended = mend(clip)
    assert "LeftFoot" in mended.notes[0]
    foot = clip.skeleton.index("LeftFoot")
    turns = np.degrees(rotations.angle_between(mended.clip.rotations[1:, foot], mended.clip.rotations[:-1, foot]))
    assert turns.max() * fps / 30.0 < 40.0, "129 degrees in one frame before"


def test_the_gate_refuses_flips_and_feet_under_the_floor(one_armed_takes: tuple[PreparedTake, ...]) -> None:
    """A fault of the capture is a fault of the clip, even where the capture does the same at that moment."""
    clip = one_armed_takes[0].clip
    bars = CaptureBaseline.of(one_armed_takes, 1.0)

    def why(bad: Clip) -> str:
        return refusal(measure_quality(bad, bars, bad), ClipGate(pops=1e9, rare_pops=1e9), bars, rare=True)

    assert "flips" not in why(clip) and "under the floor" not in why(clip)
    assert "LeftFoot flips by 129 degrees" in why(flipped(clip, 40, 129.0))
    jerked = flipped(flipped(clip, 40, 38.0), 41, -38.0)
    assert "LeftFoot changes its turn by" in why(jerked), "each turn is within its bar, and their change is not"
    sunk = np.array(clip.root_positions)
    sunk[40:44, 2] -= 0.08
    contacts = np.array(clip.contacts)
    contacts[38:46] = False
    assert "cm under the floor" in why(replace(clip, root_positions=sunk, contacts=contacts))


class FakeMeasures(SimpleNamespace):
    """Measures of 90 frames, of which a test states some."""

    def __len__(self) -> int:
        return 90


def hands(left: tuple[float, float, float], right: tuple[float, float, float], sway: float = 0.0) -> Any:
    """Measures of somebody whose hands are at places relative to the hips [m]; the left one moves by `sway`."""
    frames = 90
    track = np.tile(np.array([left, right]), (frames, 1, 1))
    track[:, 0, 1] += sway * np.sin(np.arange(frames) / 4.0)
    return FakeMeasures(hands=track, fps=30.0, stature=SimpleNamespace(size=1.0))


def test_a_box_is_held_by_level_hands_that_stay_apart() -> None:
    box = hands((0.30, 0.22, 0.20), (0.30, -0.22, 0.20))
    assert holding(box).all() and handling(box).all()
    assert not holding(hands((0.30, 0.22, 0.35), (0.30, -0.22, 0.15))).any(), "who sneaks has one hand higher"
    assert not holding(hands((0.30, 0.22, 0.2), (0.30, -0.22, 0.2), 0.1)).any(), "hands that move hold nothing"
    assert not holding(hands((0.02, 0.25, 0.0), (0.02, -0.25, 0.0))).any(), "hands that hang hold nothing"
    low = hands((0.45, 0.22, -0.3), (0.45, -0.22, -0.3))
    assert handling(low).all() and not holding(low).any()


@pytest.mark.parametrize(("rise", "hops"), [(0.075, False), (0.13, True)])
def test_a_bouncy_walk_is_not_hopping(rise: float, hops: bool) -> None:
    frames = 90
    mass, airborne = np.zeros((frames, 3)), np.zeros(frames, dtype=bool)
    airborne[40:45] = True
    mass[40:45, 2] = rise
    fake = FakeMeasures(
        airborne=airborne, mass=mass, fps=30.0, stature=SimpleNamespace(size=1.0), last_down=lambda *_: (True, False)
    )
    assert bool(_hopping(cast("Any", fake)).any()) == hops


def hub(gait: str, members: int = 5) -> CaptureHub:
    return cast(
        "CaptureHub",
        CaptureHub(
            name="", kind="step", pose=cast("Any", None), radius=0.1, members=members, takes=(), spread=0.0, speed=1.0,
            travel=0.0, centre=0, gait=gait,
        ),
    )  # fmt: skip


def test_a_side_step_is_one_gait_on_both_feet() -> None:
    """It is led by one foot and closed by the other; both hubs lie on the left foot, one of them in the mirror."""
    led, closed = (hub("side_left"), hub("side_right")), (hub("side_right"), hub("side_left"))
    assert [h.name for h in _named([led, closed])] == [
        "side_left_left", "side_right_right", "side_right_left", "side_left_right",
    ]  # fmt: skip
    again = _named([(hub("walk"), hub("walk")), (hub("walk"), hub("walk"))])
    assert [h.gait for h in again] == ["walk", "walk", "walk_2", "walk_2"]
    assert _called(hub("stroll"), "stroll", "walk").gait == "walk"


def test_gaits_without_manner_and_number() -> None:
    assert [base_gait(g) for g in ("walk", "crouch_walk_2", "bent_side_left", "side_left_2")] == [
        "walk", "walk", "side_left", "side_left",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "detail", "manner"),
    [("walk", "", ""), ("other", "low walk", "low"), ("other", "hold", "carry"), ("other", "gesture", None),
     ("crawl", "", None)],
)  # fmt: skip
def test_phases_have_a_manner(kind: Any, detail: str, manner: str | None) -> None:
    assert MotionPhase(0, 10, kind, 1.0, 0.0, detail).manner == manner


def test_a_clip_states_the_turn_of_travel() -> None:
    clip = walking(1.0, 30.0)
    assert travel_turn_deg(clip) == pytest.approx(0.0, abs=1e-6)
    assert travel_turn_deg(replace(clip, labels=("take a", turn_label(np.radians(-28.34))))) == -28.3
    assert travel_turn_deg(replace(clip, labels=("turn around",))) == pytest.approx(0.0, abs=1e-6)


# ----------------------------------------------------------------------------------------------------- real captures


@cache
def real(subject: str, manner: Any = "plain") -> Imported:
    folder, only = (MOCAP / "bvh_accad", ()) if subject == "accad" else (MOCAP / "bvh", (f"{subject}_*",))
    return import_library(folder, name=subject, options=ImportOptions(PrepareOptions(only=only), manner=manner))


def swings(clips: list[Clip]) -> tuple[float, float]:
    """How far the left and the right hand swing along the facing direction in steps one after another [m]."""
    track = np.concatenate([measure(clip).hands[..., 0] for clip in clips])
    left, right = np.ptp(track, axis=0).tolist()
    return left, right


@pytest.mark.slow
@needs_mocap
def test_the_arms_of_a_performer_stay_unlike() -> None:
    """Subject 38 swings the left hand by 0.31 m and the right one by 0.20 m; mirrored averages gave 0.24 m for both."""
    clips = real("38").library.clips
    left, right = swings([clips["walk_forward_l"], clips["walk_forward_r"]])
    assert left == pytest.approx(0.31, abs=0.04) and right == pytest.approx(0.20, abs=0.04)


@pytest.mark.slow
@needs_mocap
@pytest.mark.parametrize(("subject", "bob"), [("69", 0.026), ("09", 0.023), ("39", 0.034)])
def test_the_bob_is_not_flattened(subject: str, bob: float) -> None:
    """Mirrored averages took 14 to 36 percent of it."""
    clips = real(subject).library.clips
    heights = [
        [c.root_positions[:, 2] for n, c in clips.items() if n.startswith(f"walk_forward_{foot}")] for foot in "lr"
    ]
    bobs = [np.ptp(np.concatenate(both)) for both in zip(*heights, strict=False)]
    assert np.median(bobs) > 0.9 * bob


@pytest.mark.slow
@needs_mocap
@pytest.mark.parametrize(("subject", "used"), [("35", 0.45), ("69", 0.45), ("09", 0.72)])
def test_twice_as_much_is_used_and_every_second_accounted_for(subject: str, used: float) -> None:
    report = real(subject).report
    assert report.coverage > used
    for take in report.takes:
        edges = [take.uses[0].start_s, *(use.stop_s for use in take.uses)]
        assert edges[0] == 0.0 and edges[-1] == pytest.approx(take.seconds, abs=0.05)
        assert all(a.stop_s == b.start_s for a, b in zip(take.uses, take.uses[1:], strict=False))
        assert sum(u.stop_s - u.start_s for u in take.uses if u.used) == pytest.approx(take.used_seconds, abs=0.05)
        assert all(use.what for use in take.uses)
    assert sum(report.unused_seconds().values()) == pytest.approx(report.seconds * (1.0 - report.coverage), abs=1.0)


@pytest.mark.slow
@needs_mocap
def test_side_steps_core_gaits_and_boxes() -> None:
    """ACCAD has 13 s of side-steps, few jogs, and many boxes: nobody shall carry an invisible one."""
    imported = real("accad")
    names = {b.name: b for b in imported.report.behaviors}
    wanted = {"side_left_forward_l", "side_left_forward_r", "jog_forward_l", "walk_forward_r", "run_forward_l"}
    assert wanted <= names.keys()
    assert not any("Box" in take for b in names.values() if b.obstacle == "duck" for take in b.takes)
    assert any("--manner carry" in line for line in imported.report.warnings)
    for name, clip in imported.library.clips.items():
        assert holding(measure(clip)).mean() < 0.5, name
    carriers = real("accad", "carry").library.clips
    for name in ("walk_forward_l", "walk_forward_r", "walk_left_30_l", "stand"):
        ahead, _, up = measure(carriers[name]).hands.mean(axis=(0, 1))
        assert ahead > 0.15 and up > 0.1, name
        ahead, _, up = measure(imported.library.clips[name]).hands.mean(axis=(0, 1))
        assert ahead < 0.15, name


@pytest.mark.slow
@needs_mocap
@pytest.mark.parametrize("take", ["69_20", "69_50", "127_11", "91_62", "39_01", "08_02"])
def test_a_take_alone_tells_that_its_rate_is_twice_too_high(take: str) -> None:
    prepared = prepare(MOCAP / "bvh", PrepareOptions(mirror=False, only=(f"{take}.bvh",)))
    clip = prepared.takes[0].clip
    assert judge_rate(clip).factor <= 1
    assert judge_rate(replace(clip, fps=2.0 * clip.fps)).factor == 2


@pytest.mark.slow
@needs_mocap
@pytest.mark.parametrize("take", ["69_20", "127_11", "91_62", "39_01", "09_03", "16_05"])
def test_a_take_alone_tells_that_its_rate_is_half_the_true_one(take: str) -> None:
    """A walk, runs and a jump: nobody falls at a quarter of g, and no leg swings as slowly."""
    clip = prepare(MOCAP / "bvh", PrepareOptions(mirror=False, fps=120.0, only=(f"{take}.bvh",))).takes[0].clip
    assert judge_rate(clip).factor in (0, 1)
    assert judge_rate(replace(clip, fps=0.5 * clip.fps)).factor == 0.5


@pytest.mark.slow
@needs_mocap
@pytest.mark.parametrize("times", [0.5, 2.0])
def test_a_file_with_half_or_twice_the_rate_is_read_at_the_true_one(tmp_path: Path, times: float) -> None:
    clip = load_clip(MOCAP / "bvh" / "69_20.bvh")
    save_clip(replace(clip, fps=times * clip.fps), tmp_path / "alone.bvh")
    take = prepare(tmp_path, PrepareOptions(mirror=False)).takes[0]
    assert take.clip.duration == pytest.approx(clip.duration, abs=0.1)
