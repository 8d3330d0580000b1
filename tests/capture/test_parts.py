"""The steps between a raw capture and a prepared take, each on its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from capture_folders import good_folder, larger, moved, on_treadmill
from figures import stance_truth, standing, walking
from gaitway.capture.reading.calibration import calibrate, calibrated, lift_toes, resting_heights
from gaitway.capture.reading.faults import mend
from gaitway.capture.reading.files import capture_files
from gaitway.capture.reading.floor import RestingPlaces, fit_floor, own_level, resting_balls
from gaitway.capture.reading.prepared import prepare
from gaitway.capture.reading.smoothing import at_rate, low_pass
from gaitway.capture.reading.subject import find_people
from gaitway.capture.reading.true_speed import RateEvidence, agreed_factor, belt_speed, judge_rate, travel_on_ground
from gaitway.capture.recognising.phases import _hysteresis, _settled
from gaitway.capture.takes import LibraryWishes, PrepareOptions, RecognitionThresholds
from gaitway.core import rotations
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import ContactLimits, detect_contacts, with_contact_points
from gaitway.motion.editing import move
from gaitway.motion.formats import save_clip


def jumping(fps: float = 120.0, speed: float = 2.5, told: float | None = None) -> Clip:
    """Somebody who stands, flies up at `speed` [m/s] in one pose, and stands again; `told` is what the file says."""
    frames = int(2.0 * fps)
    clip = standing(frames, fps, 0.93)
    t = np.arange(frames) / fps - 0.7
    roots = np.array(clip.root_positions)
    roots[:, 2] += np.maximum(speed * t - 0.5 * 9.81 * t**2, 0.0) * (t > 0.0)
    return replace(clip, root_positions=roots, fps=told or fps)


def test_captures_are_found_by_their_endings(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / ".cache").mkdir()
    for name in ("b.bvh", "A.BVH", "more/c.glb", "d.amc", "d.asf", "notes.txt", ".e.bvh", ".cache/f.bvh", "g.gltf"):
        (tmp_path / name).write_text("")
    names = [str(p.relative_to(tmp_path)) for p in capture_files(tmp_path)]
    assert names == ["A.BVH", "b.bvh", "d.amc", "g.gltf", "more/c.glb"]
    assert [p.name for p in capture_files(tmp_path, recursive=False, only=("?.bvh", "d"))] == ["b.bvh", "d.amc"]


def test_a_low_pass_keeps_ramps_and_takes_out_jitter() -> None:
    ramp = np.linspace(0.0, 5.0, 101)[:, None] * [1.0, -2.0]
    assert low_pass(ramp, 3.0) == pytest.approx(ramp, abs=1e-9)
    jitter = np.where(np.arange(101) % 2 == 0, 1.0, -1.0)
    assert np.abs(low_pass(jitter, 1.6)[8:-8]).max() < 0.01
    assert low_pass(ramp[:1], 3.0) == pytest.approx(ramp[:1])


def test_a_lower_rate_shows_the_same_motion() -> None:
    clip = walking(3.0, 120.0, noise=0.002)
    slow = at_rate(clip, 30.0)
    assert slow.fps == 30.0 and slow.duration == pytest.approx(clip.duration, abs=1.0 / 30.0)
    assert np.abs(slow.joint_positions()[:, 0] - clip.joint_positions()[::4][: len(slow), 0]).max() < 0.005


def test_a_joint_that_jumps_for_a_frame_is_bridged() -> None:
    clip = walking(3.0, 120.0)
    elbow = clip.skeleton.index("left_elbow")
    torn = np.array(clip.rotations)
    torn[100, elbow] = rotations.multiply(torn[100, elbow], rotations.from_axis_angle([0, 0, 1], 1.5))
    mended = mend(replace(clip, rotations=torn))
    assert mended.notes == ("bridged single-frame jumps of LeftForeArm",)
    assert len(mended.clip) == len(clip)
    assert rotations.angle_between(mended.clip.rotations, clip.rotations).max() < 0.1
    assert mend(clip).notes == () and mend(clip).clip is clip


def test_a_body_that_jumps_is_cut() -> None:
    clip = walking(3.0, 120.0)
    roots = np.array(clip.root_positions)
    roots[40:, 1] += 1.0
    mended = mend(replace(clip, root_positions=roots))
    assert len(mended.clip) == len(clip) - 40
    assert "cut off 0.33 s at its begin" in mended.notes[0]


def test_a_fall_tells_the_rate() -> None:
    assert judge_rate(with_contact_points(jumping())).factor == 1
    assert judge_rate(with_contact_points(jumping(60.0, told=120.0))).factor == 2
    assert judge_rate(with_contact_points(jumping(60.0, told=180.0))).factor == 3
    assert judge_rate(with_contact_points(jumping(120.0, told=60.0))).factor == 0.5
    assert judge_rate(with_contact_points(standing(240))).factor == 0


def test_an_impossible_walk_tells_the_rate() -> None:
    walk = with_contact_points(walking(5.0, 60.0, 1.2))
    assert judge_rate(walk).factor == 1
    assert judge_rate(replace(walk, fps=120.0)).factor == 2
    assert judge_rate(replace(walk, fps=30.0)).factor == 0.5


def test_takes_that_do_not_tell_follow_the_others() -> None:
    assert agreed_factor([RateEvidence(0), RateEvidence(2)]) == 2
    assert agreed_factor([RateEvidence(1), RateEvidence(2)]) == 1
    assert agreed_factor([RateEvidence(0)]) == 1


def test_a_file_that_lies_about_its_rate(tmp_path: Path) -> None:
    save_clip(replace(walking(5.0, 60.0, 1.2), fps=120.0), tmp_path / "fast.bvh")
    save_clip(replace(standing(240), fps=120.0), tmp_path / "stand.bvh")
    prepared = prepare(tmp_path, PrepareOptions(mirror=False))
    assert [round(take.clip.duration, 1) for take in prepared.takes] == [5.0, 4.0]
    assert "it would walk at 2.4 m/s" in prepared.takes[0].notes[-1]
    assert "as in the other takes" in prepared.takes[1].notes[-1]
    (tmp_path / "gaitway-import.yaml").write_text("files: {'*': {fps: 120}}\n")
    stated = prepare(tmp_path, PrepareOptions(mirror=False))
    assert [round(take.clip.duration, 1) for take in stated.takes] == [2.5, 2.0]


def test_a_floor_is_fitted_through_steps_and_noise() -> None:
    rng = np.random.default_rng(3)
    takes = []
    for _ in range(6):
        places = np.column_stack([rng.uniform(-4.0, 4.0, (300, 2)), np.zeros(300)])
        places[:, 2] = -0.9 + 0.012 * places[:, 0] - 0.006 * places[:, 1] + rng.normal(0.0, 0.006, 300)
        places[:60, 2] += 0.35  # on a box
        takes.append(RestingPlaces(places))
    floor = fit_floor(takes)
    assert floor.height == pytest.approx(-0.9, abs=0.002)
    assert floor.slope == pytest.approx([0.012, -0.006], abs=0.001)
    spot = RestingPlaces(np.column_stack([rng.normal(0.0, 0.05, (200, 2)), rng.normal(0.0, 0.01, 200)]))
    assert np.abs(fit_floor([spot]).slope).max() < 0.02
    assert fit_floor([RestingPlaces(np.zeros((0, 3)))]).height == 0.0


def test_a_point_that_never_rests_has_no_contact() -> None:
    clip = with_contact_points(walking(3.0, 60.0, noise=0.003))
    limits = ContactLimits(height=(1.0, 1.0), speed=(0.01, 10.0), settled=(1e-6, 1e-6))
    assert detect_contacts(clip, limits, np.zeros(len(clip.skeleton.contact_points))).contacts is not None


def test_a_take_of_several_levels_tells_one_of_them() -> None:
    """Four frames rest on one step and as many on another, far from the floor."""
    low, high = (with_contact_points(moved(standing(20), z=z)) for z in (0.3, 0.9))
    roots = np.concatenate([low.root_positions, high.root_positions])
    both = replace(low, root_positions=roots, rotations=np.concatenate([low.rotations, high.rotations]))
    level, share = own_level(both)
    assert level == pytest.approx(resting_balls(low).places[:, 2].mean(), abs=0.01)
    assert 0.3 < share < 0.7


def test_feet_come_to_rest_at_one_height() -> None:
    clip = with_contact_points(walking(5.0, 60.0))
    lame = np.array(clip.rotations)
    ankle = clip.skeleton.index("left_ankle")
    lame[:, ankle] = rotations.multiply(lame[:, ankle], rotations.from_axis_angle([0, 1, 0], -0.08))
    skewed = replace(clip, rotations=lame)
    names = [p.name for p in clip.skeleton.contact_points]
    left, right = names.index("left_ball"), names.index("right_ball")
    before = resting_heights([skewed])
    assert abs(before[left] - before[right]) > 0.008
    mended = calibrated(skewed, calibrate([skewed]))
    after = resting_heights([mended])
    assert abs(after[left] - after[right]) < 0.001
    assert np.abs(after).max() < 0.006


def test_toes_are_bent_out_of_the_floor() -> None:
    clip = with_contact_points(standing(10, height=0.95))
    toe = clip.skeleton.index("left_toe")
    sunk = np.array(clip.rotations)
    sunk[:, toe] = rotations.multiply(sunk[:, toe], rotations.from_axis_angle([0, 1, 0], 0.5))
    before, after = replace(clip, rotations=sunk), lift_toes(replace(clip, rotations=sunk))
    assert before.contact_positions()[..., 2].min() < -0.01
    assert after.contact_positions()[..., 2].min() > -0.004
    assert lift_toes(clip).rotations == pytest.approx(clip.rotations, abs=0.02)


def test_people_are_told_apart() -> None:
    clips = [walking(1.0), larger(walking(2.0), 1.15), walking(3.0), larger(walking(1.0), 1.01)]
    people = find_people([with_contact_points(clip) for clip in clips])
    assert people.main == (0, 2, 3) and people.others == ((1,),)


def test_a_treadmill_is_undone() -> None:
    walk = with_contact_points(walking(5.0, 60.0, 1.2))
    still = on_treadmill(walk, 1.2)
    assert belt_speed(walk) == 0.0 and belt_speed(standing(240)) == 0.0
    assert belt_speed(still) == pytest.approx(1.2, abs=0.1)
    assert travel_on_ground(still, 1.2).root_positions == pytest.approx(walk.root_positions, abs=0.02)


def test_contacts_of_a_known_walk(tmp_path: Path) -> None:
    clip = walking(5.0, 120.0, noise=0.001)
    save_clip(clip, tmp_path / "walk.bvh")
    take = prepare(tmp_path, PrepareOptions(mirror=False)).takes[0]
    truth = stance_truth(clip)[::4][: len(take.clip)]
    contacts = take.clip.contacts
    assert contacts is not None
    names = [p.name for p in take.clip.skeleton.contact_points]
    for foot, side in enumerate(("left", "right")):
        found = contacts[:, [i for i, name in enumerate(names) if name.startswith(side)]].any(axis=1)
        assert (found == truth[: len(found), foot]).mean() > 0.93
    steps = [e for e in take.events if e.kind == "step"]
    assert [e.foot for e in steps] == ["left", "right"] * 4 + ["left"]
    assert all(abs(e.speed - 1.0) < 0.05 for e in steps)


@pytest.mark.parametrize(("turn", "kind"), [(0.0, "walk"), (np.pi, "back"), (0.5 * np.pi, "side")])
def test_ways_of_going(tmp_path: Path, turn: float, kind: str) -> None:
    """The body of the walker is turned against the way it goes."""
    clip = walking(4.0, 60.0, 0.9)
    turned = move(clip, (0.0, 0.0, turn))
    save_clip(replace(turned, root_positions=clip.root_positions), tmp_path / "walk.bvh")
    (tmp_path / "gaitway-import.yaml").write_text("files: {walk: {floor: 0}}\n")
    take = prepare(tmp_path, PrepareOptions(mirror=False)).takes[0]
    assert [phase.kind for phase in take.phases] == [kind]


@pytest.mark.parametrize("size", [0.7, 1.25])
def test_people_of_any_size(tmp_path: Path, size: float) -> None:
    """A child's and a giant's walk, at the speed that goes with their legs."""
    slow = np.sqrt(size)
    for name, clip in {"walk": walking(4.0, 60.0, 1.0), "stand": standing(150)}.items():
        save_clip(replace(larger(clip, size), fps=60.0 / slow), tmp_path / f"{name}.bvh")
    prepared = prepare(tmp_path, PrepareOptions(mirror=False))
    assert [[phase.kind for phase in take.phases] for take in prepared.takes] == [["stand"], ["walk"]]
    assert len([e for e in prepared.takes[1].events if e.kind == "step"]) >= 6
    assert prepared.facts.pelvis_height == pytest.approx(0.93 * size, rel=0.02)


def test_marching_is_not_standing(tmp_path: Path) -> None:
    good_folder(tmp_path)
    save_clip(walking(4.0, 60.0, 0.0), tmp_path / "march.bvh")
    march, stand = (next(t for t in prepare(tmp_path).takes if t.name == name) for name in ("march", "stand"))
    assert {(phase.kind, phase.detail) for phase in march.phases} == {("other", "on the spot")}
    assert {(phase.kind, phase.detail) for phase in stand.phases} == {("stand", "")}
    assert [event.kind for event in stand.events] == ["pause", "pause"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_where_a_capture_was_taken_does_not_matter(tmp_path: Path, seed: int) -> None:
    """The same motion elsewhere, turned, and on a floor of another height is recognised as the same."""
    rng = np.random.default_rng(seed)
    pose, height = (*rng.uniform(-5.0, 5.0, 2), rng.uniform(-np.pi, np.pi)), rng.uniform(-2.0, 2.0)
    clips = {"walk": walking(4.0, 60.0, 0.9, noise=0.001), "jump": jumping(), "stand": standing(150)}
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        for name, clip in clips.items():
            moved_clip = clip if place == "here" else moved(move(clip, pose), z=height)
            save_clip(moved_clip, tmp_path / place / f"{name}.bvh")
    here, there = (prepare(tmp_path / place) for place in ("here", "there"))
    for a, b in zip(here.takes, there.takes, strict=True):
        assert [(p.kind, p.start, p.stop) for p in a.phases] == [(p.kind, p.start, p.stop) for p in b.phases]
        assert [(e.frame, e.kind, e.foot) for e in a.events] == [(e.frame, e.kind, e.foot) for e in b.events]
        assert [(s.kind, s.start, s.stop, s.pass_frame) for s in a.specials] == [
            (s.kind, s.start, s.stop, s.pass_frame) for s in b.specials
        ]
        assert a.clip.contacts is not None and b.clip.contacts is not None
        assert (a.clip.contacts == b.clip.contacts).mean() > 0.995
    assert there.facts.floor_height - here.facts.floor_height == pytest.approx(height, abs=0.005)


def test_a_jump_is_found_with_its_time_and_height(tmp_path: Path) -> None:
    good_folder(tmp_path)
    save_clip(jumping(), tmp_path / "jump.bvh")
    take = next(t for t in prepare(tmp_path).takes if t.name == "jump")
    (jump,) = take.specials
    assert jump.kind == "jump"
    assert jump.flight_s == pytest.approx(2 * 2.5 / 9.81, abs=0.08)
    assert jump.pass_frame / 30.0 == pytest.approx(0.7 + 2.5 / 9.81, abs=0.05)
    assert jump.height == pytest.approx(2.5**2 / (2 * 9.81), abs=0.03)
    assert jump.start < jump.pass_frame < jump.stop


def test_mirror_images(tmp_path: Path) -> None:
    good_folder(tmp_path)
    prepared = prepare(tmp_path)
    take, image = (next(t for t in prepared.takes if t.name == name) for name in ("brisk", "brisk mirrored"))
    assert image.mirrored and not take.mirrored and image.source == take.source
    assert image.clip.root_positions == pytest.approx(take.clip.root_positions * [1.0, -1.0, 1.0], abs=1e-9)
    swapped = {"left": "right", "right": "left", "": ""}
    assert [swapped[e.foot] for e in take.events] == [e.foot for e in image.events]
    assert image.clip.contacts is not None and take.clip.contacts is not None
    assert (image.clip.contacts == take.clip.contacts[:, [3, 4, 5, 0, 1, 2]]).all()
    assert not any(t.mirrored for t in prepare(tmp_path, PrepareOptions(mirror=False)).takes)


def test_what_a_person_says_wins(tmp_path: Path) -> None:
    good_folder(tmp_path)
    (tmp_path / "gaitway-import.yaml").write_text(
        "name: anna\n"
        "thresholds: {run_speed: 2.5}\n"
        "contacts: {height: [0.03, 0.04]}\n"
        "library: {behaviors: 40, leave_out: ['*duck*']}\n"
        "files:\n"
        "  stand.bvh: {skip: true}\n"
        "  calm: {mirror: false, start_s: 1.0, stop_s: 3.0}\n"
        "  'br*':\n"
        "    labels:\n"
        "      - {start_s: 1.0, stop_s: 2.0, kind: duck}\n"
        "      - {start_s: 2.0, stop_s: 3.0, kind: other}\n"
    )
    prepared = prepare(tmp_path, PrepareOptions(thresholds=RecognitionThresholds(walk_speed=2.0)))
    assert prepared.facts.name == "anna"
    assert prepared.wishes == LibraryWishes(behaviors=40, leave_out=("*duck*",))
    assert [take.name for take in prepared.takes] == ["brisk", "calm", "brisk mirrored"]
    assert [(d.file.name, d.reason) for d in prepared.dropped] == [("stand.bvh", "left out, as the override file says")]
    brisk, calm = prepared.takes[:2]
    assert calm.clip.duration == pytest.approx(2.0, abs=0.04)
    assert [(s.kind, s.start, s.stop) for s in brisk.specials] == [("duck", 30, 61)]
    assert [(p.kind, p.start, p.stop) for p in brisk.phases] == [("walk", 0, 60), ("other", 60, 91), ("walk", 91, 121)]


def test_other_formats(tmp_path: Path) -> None:
    save_clip(walking(3.0, 60.0, 1.1), tmp_path / "one.glb")
    save_clip(walking(4.0, 60.0, 0.8), tmp_path / "two.bvh")
    prepared = prepare(tmp_path, PrepareOptions(mirror=False))
    assert [take.name for take in prepared.takes] == ["one", "two"]
    assert all({p.kind for p in take.phases} == {"walk"} for take in prepared.takes)
    assert all(take.clip.skeleton is prepared.skeleton for take in prepared.takes)


@pytest.mark.parametrize(
    ("told", "factor"),
    [([2, 2, 2, 1], 2), ([2, 2, 1], 1), ([2, 0, 0, 0], 2), ([0, 0], 1), ([], 1), ([1, 1, 2, 2], 1), ([3] * 9 + [2], 3)],
)
def test_takes_without_evidence_follow_three_quarters_of_the_others(told: list[int], factor: int) -> None:
    assert agreed_factor([RateEvidence(one) for one in told]) == factor


@pytest.mark.parametrize(
    ("names", "settled"),
    [
        ("wwwwjrrr", "wwwwwrrr"),  # the shortest run joins its longer neighbour
        ("wwwjrrrr", "wwwrrrrr"),
        ("jwwww", "wwwww"),
        ("wwwwj", "wwwww"),
        ("wwwjjrrr", "wwwwwrrr"),  # of equal neighbours the first
        ("wwwrrr", "wwwrrr"),
        ("w", "w"),
    ],
)
def test_short_phases_join_their_longer_neighbours(names: str, settled: str) -> None:
    assert "".join(_settled(np.array(list(names)), 3)) == settled


def test_between_two_speeds_the_nearest_clear_frame_decides() -> None:
    speeds = np.array([0.0, 0.5, 0.5, 0.5, 0.5, 1.0, 0.6, 0.6, 0.6, 0.0])
    assert _hysteresis(speeds, 0.3, 0.7).tolist() == [False, False, False, True, True, True, True, True, False, False]
    assert _hysteresis(np.full(3, 0.45), 0.3, 0.7).tolist() == [False] * 3
    assert _hysteresis(np.full(3, 0.55), 0.3, 0.7).tolist() == [True] * 3
