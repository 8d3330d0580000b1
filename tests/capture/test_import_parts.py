"""Parts of importing: names, what hangs together, mirror images on uneven legs, steps that are made of others."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.capture.cutting.hub_poses import align_points
from gaitway.capture.cutting.hubs import CaptureHub, other_side
from gaitway.capture.cutting.mirroring import level_tilt, mirrored_on_feet
from gaitway.capture.cutting.snapping import SnappedClip
from gaitway.capture.making.assembling import _unusable, with_distinct_names
from gaitway.capture.making.candidates import Candidate, CandidateGroup, mirrored_name, named_by_turn
from gaitway.capture.making.clip_builder import BehaviorDraft, RefusedClip
from gaitway.capture.making.gate import ClipQuality
from gaitway.capture.making.selection import keep_connected, keep_first, missing_motions, missing_specials, smooth_joins
from gaitway.capture.takes import MotionPhase
from gaitway.cast.catalog import load_cast
from gaitway.core import planar, rotations
from gaitway.graphs.snap.common_pose import HubPose
from gaitway.motion.clip import Clip
from gaitway.motion.editing import mirror, slice_frames

angles = st.floats(-3.0, 3.0)
lengths = st.floats(-5.0, 5.0)


@given(lengths, lengths, angles, st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_points_are_laid_where_they_came_from(x: float, y: float, turn: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(7, 2)), rng.uniform(0.1, 1.0, 7)
    move = align_points(points, planar.transform_points((x, y, turn), points), weights / weights.sum())
    assert move == pytest.approx([x, y, turn], abs=1e-8)


def test_names_in_the_mirror() -> None:
    assert mirrored_name("walk_left_30_l") == "walk_right_30_r"
    assert mirrored_name("stand_jump_2") == "stand_jump_2"
    assert other_side("side_left_right") == "side_right_left"
    assert mirrored_name(mirrored_name("start_jog_right_15_r")) == "start_jog_right_15_r"


def walk() -> Clip:
    person = load_cast("person", behaviors=["walk_forward"])
    return person.clips[person.graph["walk_forward"].clips[0]]


def uneven() -> Clip:
    """A walk of somebody whose right shank is longer by 2 cm, with a pelvis that is tilted so that both feet stand."""
    clip = walk()
    offsets = np.array(clip.skeleton.offsets)
    ankle = clip.skeleton.roles["right_ankle"]
    offsets[ankle] *= 1.0 + 0.02 / np.linalg.norm(offsets[ankle])
    return replace(clip, skeleton=replace(clip.skeleton, offsets=offsets))


def test_mirror_images_of_even_legs_are_plain_ones() -> None:
    clip = walk()
    assert level_tilt(clip.skeleton) == pytest.approx(0.0, abs=1e-3)
    assert mirrored_on_feet(clip).joint_positions() == pytest.approx(mirror(clip).joint_positions(), abs=2e-3)


def test_mirror_images_of_uneven_legs_stand_where_the_other_foot_stood() -> None:
    clip = uneven()
    tilt = level_tilt(clip.skeleton)
    assert 0.02 < abs(tilt) < 0.3
    flip, columns = np.array([1.0, -1.0, 1.0]), [3, 4, 5, 0, 1, 2]
    wanted = clip.contact_positions()[:, columns] * flip
    plain = np.abs(mirror(clip).contact_positions()[:, :6] - wanted).max()
    fitted = np.abs(mirrored_on_feet(clip).contact_positions()[:, :6] - wanted).max()
    assert plain > 0.015 and fitted < 0.5 * plain


def test_mirroring_twice_gives_the_clip_back() -> None:
    clip = uneven()
    again = mirrored_on_feet(mirrored_on_feet(clip))
    assert again.contact_positions()[:, :6] == pytest.approx(clip.contact_positions()[:, :6], abs=6e-3)


def hub(name: str) -> CaptureHub:
    clip = slice_frames(walk(), 0, 1)
    joints, points = len(clip.skeleton), len(clip.skeleton.contact_points)
    still = np.zeros(3), np.zeros((joints, 3)), np.zeros(points, dtype=bool)
    pose = HubPose(clip.skeleton, clip.root_positions[0], clip.rotations[0], *still)
    kind = "stand" if name == "stand" else "step"
    return CaptureHub(
        name=name,
        kind=kind,
        pose=pose,
        radius=0.05,
        members=3,
        takes=("a",),
        spread=0.03,
        speed=1.0,
        travel=0.0,
        centre=0,
        gait=name.rpartition("_")[0] or name,
    )


def test_only_what_leads_back_to_standing_stays() -> None:
    stand, walk_left, walk_right, run = (hub(name) for name in ("stand", "walk_left", "walk_right", "run_left"))
    ways = [(stand, walk_left), (walk_left, walk_right), (walk_right, stand), (walk_left, run), (run, run)]
    drafts = [BehaviorDraft(f"{a.name}>{b.name}", a, b, (), ()) for a, b in ways]
    kept, loose = keep_connected(drafts)
    assert [e.name for e in loose] == ["walk_left>run_left", "run_left>run_left"]
    assert len(kept) == 3
    assert keep_connected(drafts[:2])[0] == []  # nothing leads back


def gliding(name: str, speed: float, where: CaptureHub) -> BehaviorDraft:
    """A behaviour that glides ahead in one pose."""
    pose = where.pose
    roots = pose.root + np.arange(12)[:, None] / 30.0 * np.array([speed, 0.0, 0.0])
    clip = Clip(pose.skeleton, roots, np.repeat(pose.rotations[None], 12, axis=0), 30.0, name)
    snapped = SnappedClip(clip=clip, start=where, end=where, source="take", fit=0.5)
    return BehaviorDraft(name, where, where, (snapped,), (ClipQuality(0.1, "Hips", 0.0, 0.0, 0.0),))


def test_straight_steps_of_every_gait_outlast_the_cap() -> None:
    stand, left, right, jog = (hub(name) for name in ("stand", "walk_left", "walk_right", "jog_left"))
    ahead = gliding("ahead", 1.0, left)
    turned = rotations.multiply(rotations.from_yaw(np.linspace(0.0, 0.6, 12)), ahead.clips[0].clip.rotations[:, 0])
    turning = np.array(ahead.clips[0].clip.rotations)
    turning[:, 0] = turned
    bent = (replace(ahead.clips[0], clip=replace(ahead.clips[0].clip, rotations=turning)),)
    drafts = [
        *(replace(ahead, name=f"walk_{k}", end=right) for k in range(4)),
        replace(ahead, name="jog_left_35", start=jog, end=jog, clips=bent),
        replace(ahead, name="jog_forward", start=jog, end=jog),
        replace(ahead, name="start", start=stand), replace(ahead, name="walk_to_jog", start=right, end=jog),
    ]  # fmt: skip
    kept, beyond = keep_first(drafts, 4)
    assert [e.name for e in kept] == ["walk_0", "jog_forward", "start", "walk_to_jog"]
    assert [e.name for e in beyond] == ["walk_1", "walk_2", "walk_3", "jog_left_35"]
    assert [e.name for e in keep_first(drafts, 2)[0]] == ["walk_0", "jog_forward"], "before links"


def test_numbered_names_are_nobody_elses() -> None:
    draft = gliding("stop_jog_r", 1.0, hub("walk_left"))
    names = ["stop_jog_r", "stop_jog_r", "stop_jog_2_r", "stop_jog_2_r", "stop_jog_r", "stand"]
    distinct = [e.name for e in with_distinct_names([replace(draft, name=name) for name in names])]
    assert distinct == ["stop_jog_r", "stop_jog_3_r", "stop_jog_2_r", "stop_jog_2_2_r", "stop_jog_4_r", "stand"]


def test_core_gaits_are_made_first() -> None:
    """The number of behaviours is limited while they are made, so that what nobody can do without comes first."""

    def group(name: str, start: str, end: str, turn: float, special: str | None = None) -> CandidateGroup:
        a, b = (SimpleNamespace(gait=g, kind="stand" if g == "stand" else "step") for g in (start, end))
        piece = SimpleNamespace(begin=SimpleNamespace(hub=a), end=SimpleNamespace(hub=b), special=special, fit=1.3)
        candidate = Candidate(cast("Any", piece), None, name, np.array([0.6, 0.0, turn]), 0.6, 1)
        return CandidateGroup(name, (candidate,))

    groups = [
        group("walk_left_30_l", "walk", "walk", 0.5), group("back_forward_l", "back", "back", 0.0),
        group("run_jump_l", "run", "run", 0.0, "jump"), group("walk_to_jog_l", "walk", "jog", 0.0),
        group("jog_forward_l", "jog", "jog", 0.0), group("stand", "stand", "stand", 0.0),
    ]  # fmt: skip
    ordered = [g.name for g in sorted(groups, key=lambda g: (g.use, g.name))]
    assert ordered[:3] == ["jog_forward_l", "stand", "run_jump_l"]
    assert ordered.index("walk_to_jog_l") < ordered.index("walk_left_30_l")


def test_clips_that_join_badly_are_left_out() -> None:
    where = hub("walk_left")
    drafts = [gliding("one", 1.0, where), gliding("two", 1.01, where), gliding("fast", 3.0, where)]
    kept, lost = smooth_joins(drafts)
    assert [e.name for e in kept] == ["one", "two"] and [e.name for e in lost] == ["fast"]
    assert smooth_joins(kept) == (kept, [])
    assert smooth_joins([]) == ([], [])


def test_what_is_missing_is_said_in_words() -> None:
    stand, left, right = hub("stand"), hub("walk_left"), hub("walk_right")
    ahead = replace(gliding("walk_forward_l", 1.0, left), end=right)
    lacking = missing_motions([ahead])
    assert lacking == ["standing", "a start", "a stop", "a turn to the left", "a turn to the right"]
    drafts = [ahead, replace(ahead, start=stand, end=left), replace(ahead, start=right, end=stand)]
    assert missing_motions([*drafts, gliding("stand", 0.0, stand)]) == ["a turn to the left", "a turn to the right"]
    assert missing_specials(drafts) == ["jump", "duck", "crawl", "step"]


@pytest.mark.parametrize(
    ("name", "degrees", "named"),
    [
        ("walk_to_jog_l", 10.0, "walk_to_jog_left_15_l"),
        ("walk_to_jog_left_30_l", 3.0, "walk_to_jog_l"),
        ("start_run_r", -9.3, "start_run_right_15_r"),
        ("start_run_r", -8.0, "start_run_r"),
        ("walk_left_30_l", 36.0, "walk_left_30_l"),
        ("walk_left_30_x2_l", 44.0, "walk_left_45_x2_l"),
        ("side_left_2_forward_l", -20.0, "side_left_2_right_15_l"),
        ("walk_left_120_l", 133.0, "walk_left_120_l"),
        ("walk_left_15_l", -2.0, "walk_forward_l"),
        ("walk_short_l", -31.0, "walk_right_30_l"),
    ],
)
def test_names_say_the_turn_that_was_measured(name: str, degrees: float, named: str) -> None:
    assert named_by_turn(name, np.radians(degrees)) == named


def test_what_was_found_and_cannot_be_used_is_told_with_the_reason() -> None:
    def take(name: str, kind: str, seconds: float, *specials: str, mirrored: bool = False) -> SimpleNamespace:
        phase = MotionPhase(30, 30 + round(30 * seconds), kind, 0.5, 0.0, "")
        passing = [SimpleNamespace(kind=kind) for kind in specials]
        clip = SimpleNamespace(fps=30.0)
        return SimpleNamespace(name=name, mirrored=mirrored, specials=passing, phases=[phase], clip=clip)

    taken = [take("a", "crawl", 12.5), take("b", "crawl", 7.5), take("b mirrored", "crawl", 7.5, mirrored=True)]
    prepared = SimpleNamespace(takes=[*taken, take("c", "walk", 3.0, "jump")])
    slides = "a foot slides 4 cm"
    refused = [RefusedClip("crawl_forward_l", "a 30-60", slides), RefusedClip("start_walk_l", "c 3-9", "it pops"),
               RefusedClip("stop_walk_l", "", "cannot be made")]  # fmt: skip
    builder = SimpleNamespace(refused=[*refused, refused[0]], passed_over=[])
    left = [(gliding("walk_jump_l", 1.0, hub("walk_left")), "its joins would be visible")]

    def said(what: str, left_out: list[tuple[BehaviorDraft, str]]) -> tuple[str, str] | None:
        return _unusable(what, cast("Any", prepared), cast("Any", builder), left_out)

    assert said("crawl", []) == ("crawl (20.0 s in 2 takes)", slides)
    assert said("jump", left) == ("jump (1 time in 1 take)", "its joins would be visible")
    shared = "no piece of it begins and ends in a pose that other takes share"
    assert said("jump", []) == ("jump (1 time in 1 take)", shared)
    assert said("a start", []) == ("a start (1 piece)", "it pops")
    assert said("duck", []) is None and said("a stop", []) is None and said("a turn to the left", []) is None
