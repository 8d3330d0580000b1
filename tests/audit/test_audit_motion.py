"""Defects of motion are planted into clean takes and clips: the audit finds exactly them, nothing under its bars."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audit_takes import (
    JOG,
    OPEN,
    STAIRS,
    STAND,
    WALK,
    clips,
    ramp,
    shift,
    take_with,
    track,
    turn,
    violated,
    world_of,
)
from gaitway.audit import AuditBars, audit_take
from gaitway.cast.catalog import cast_names, load_cast, style_names
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import t_pose
from gaitway.motion.clip import Clip
from gaitway.motion.limits import anatomical_angles, joint_limits
from gaitway.take.model import Take
from gaitway.take.tracks import lay_track
from gaitway.world import Box, Obstacle, Stairs, Terrain, World


@pytest.mark.parametrize("words", [WALK, JOG])
def test_a_clean_take_is_clean(words) -> None:
    report = audit_take(
        take_with(track(words=words, goal=(5.0, 0.0, 0.0, 6.0)), track("bob", words, (0.0, 3.0, 0.0))), OPEN
    )
    assert report.ok, report.table()
    assert not violated(report)
    assert report["presence"].checked == 2
    assert report["arrival"].checked == 1


class TestFeet:
    @pytest.mark.parametrize(("slide", "clean"), [(0.003, True), (0.0048, True), (0.008, False), (0.02, False)])
    def test_a_foot_that_slides(self, slide: float, clean: bool) -> None:
        take = take_with(track(words=STAND))
        seconds = float(take.ends[0]) - 1.0
        moves = ramp(seconds + 1.0, 1.0)[:, None] * [0.6 * slide, 0.8 * slide, 0.0]
        report = audit_take(shift(take, moves, 1.0), OPEN)
        assert violated(report) == (set() if clean else {"skate", "skate_found"})
        worst = report["skate"].worst
        assert worst.value == pytest.approx(slide, abs=1e-3)
        assert worst.time > 1.0
        assert worst.part.endswith(("heel", "ball", "toe"))

    def test_contacts_that_are_hidden(self) -> None:
        clip = clips()["stand"]
        hidden = replace(clip, contacts=np.zeros_like(clip.contacts))
        take = take_with(lay_track("ada", [hidden]))
        moves = ramp(float(take.ends[0]), 1.0)[:, None] * [0.0, 0.02, 0.0]
        report = audit_take(shift(take, moves, 1.0), OPEN)
        assert violated(report) == {"skate_found"}
        assert report["skate_found"].worst.value == pytest.approx(0.02, abs=2e-3)

    def test_a_slide_in_the_middle_of_a_walk(self) -> None:
        take = take_with(track())
        clip = take.clip(0)
        heel = [p.name for p in clip.skeleton.contact_points].index("left_ball")
        start = next(f for f in range(160, 260) if clip.contacts[f : f + 8, heel].all())
        bump = np.concatenate([ramp(0.25, 0.25), ramp(0.25, 0.25)[::-1]])[:, None] * [0.0, 0.03, 0.0]
        report = audit_take(shift(take, bump, start / 30.0), OPEN, bars=AuditBars(continuity=5.0))
        assert violated(report) == {"skate", "skate_found"}
        assert all(start / 30 - 0.5 < v.time < start / 30 + 1.0 for v in report.violations)

    def test_source_clips_may_slide_as_they_do(self) -> None:
        clip = clips()["stand"]
        moves = ramp(clip.duration, 1.0)[: len(clip), None] * [0.02, 0.0, 0.0]
        sliding = replace(clip, root_positions=clip.root_positions + moves)
        report = audit_take(take_with(lay_track("ada", [sliding], (3.0, 1.0, 2.0))), OPEN)
        assert report.ok
        more = shift(take_with(lay_track("ada", [sliding])), ramp(4.0, 1.0)[:, None] * [0.004, 0.0, 0.0], 0.0)
        assert audit_take(more, OPEN).ok, "4 mm more than the source"
        more = shift(take_with(lay_track("ada", [sliding])), ramp(4.0, 1.0)[:, None] * [0.008, 0.0, 0.0], 0.0)
        assert violated(audit_take(more, OPEN)) == {"skate", "skate_found"}

    @pytest.mark.parametrize(
        ("height", "rows"),
        [(0.008, set()), (-0.007, set()), (0.015, {"height"}), (-0.02, {"height", "under_ground"})],
    )
    def test_a_root_that_is_too_high_or_too_low(self, height: float, rows: set[str]) -> None:
        report = audit_take(take_with(track(height=height)), OPEN)
        assert violated(report) == rows
        worst = report["height"].worst
        assert worst.value == pytest.approx(abs(height), abs=1e-3)
        assert ("over" if height > 0 else "under") in worst.part

    def test_ground_that_is_not_level(self) -> None:
        def ground(height: float, slope: float = 0.0) -> World:
            x = np.arange(-10, 11) * 1.0
            return World(OPEN.bounds, terrain=Terrain(height + slope * np.tile(x, (21, 1)), 1.0, (-10.0, -10.0)))

        standing = take_with(track(words=STAND, height=0.7))
        assert audit_take(standing, ground(0.7)).ok
        assert violated(audit_take(standing, ground(0.68))) == {"height"}
        assert "under_ground" in violated(audit_take(standing, ground(0.75)))
        assert violated(audit_take(standing, ground(0.7, 0.2))) == {"height", "under_ground"}

    def test_what_is_made_to_be_stood_on(self) -> None:
        block = Obstacle(Box((0.0, 0.0), (2.0, 2.0), 0.45), "box", "block")
        on_top = take_with(track(words=STAND, height=0.45))
        assert audit_take(on_top, world_of(block)).ok
        assert violated(audit_take(on_top, OPEN)) == {"height"}
        assert violated(audit_take(on_top, world_of(replace(block, kind="wall")))) == {"height"}
        sunk = audit_take(take_with(track(words=STAND, height=0.42)), world_of(block))
        assert violated(sunk) == {"height", "penetration_special"}
        assert sunk["penetration_special"].worst.value == pytest.approx(0.03, abs=3e-3)


class TestStairs:
    def flight(self, ahead: float = 0.0, rise: float = 0.17) -> World:
        """A flight that fits `STAIRS`, with a landing, moved ahead and with another rise if asked for."""
        clip = take_with(track(words=STAIRS)).clip(0)
        points = clip.contact_positions()[clip.contacts]
        edge = float(points[np.abs(points[:, 2] - 0.17) < 0.01, 0].min()) + ahead
        steps = round(points[:, 2].max() / 0.17)
        end = edge + steps * 0.29
        flight = Obstacle(Stairs((0.5 * (edge + end), 0.0), 2.0, steps, rise), "stairs", "flight")
        return world_of(flight, Obstacle(Box((end + 2.0, 0.0), (4.0, 2.0), steps * rise), "stairs", "landing"))

    def test_stairs_that_fit(self) -> None:
        report = audit_take(take_with(track(words=STAIRS)), self.flight())
        assert report.ok, report.table()
        assert report["height"].worst.value < 0.002

    def test_stairs_in_another_place(self) -> None:
        report = audit_take(take_with(track(words=STAIRS)), self.flight(-0.05))
        assert violated(report) == {"penetration_special"}
        assert report["penetration_special"].worst.part.endswith("toes")
        assert report["penetration_special"].worst.obstacle == "flight"
        assert "height" in violated(audit_take(take_with(track(words=STAIRS)), self.flight(0.15)))

    def test_stairs_that_are_too_steep(self) -> None:
        assert audit_take(take_with(track(words=STAIRS)), self.flight(rise=0.171)).ok
        report = audit_take(take_with(track(words=STAIRS)), self.flight(rise=0.175))
        assert violated(report) == {"height", "penetration_special"}
        assert report["height"].worst.value == pytest.approx(0.025, abs=2e-3)


class TestMotion:
    def test_a_joint_that_pops_in_one_frame(self) -> None:
        take = take_with(track())
        report = audit_take(turn(take, "LeftForeArm", np.radians([0.0, 25.0, 0.0]), (0.0, 0.0, 1.0), 199 / 30), OPEN)
        assert violated(report) == {"continuity"}
        (found,) = report["continuity"].violations
        assert found.part == "LeftForeArm"
        assert abs(found.frame - 200) <= 1
        small = turn(take, "LeftForeArm", np.radians([0.0, 0.5, 0.0]), (0.0, 0.0, 1.0), 199 / 30)
        assert audit_take(small, OPEN).ok

    def test_a_root_that_jumps(self) -> None:
        take = take_with(track())
        moves = np.zeros((200, 3))
        moves[:, 0] = 0.05
        report = audit_take(shift(take, moves, 7.0), OPEN, bars=AuditBars(skate=1.0))
        assert violated(report) == {"continuity"}
        assert any(v.part == "root" and v.frame in (209, 210, 211) for v in report["continuity"].violations)

    def test_what_a_clip_does_itself_is_named_and_not_held_against_the_take(self) -> None:
        clip = clips()["stand"]
        turns = np.array(clip.rotations)
        arm = clip.skeleton.index("LeftForeArm")
        turns[60, arm] = rotations.multiply(turns[60, arm], rotations.from_axis_angle((0.0, 0.0, 1.0), 0.3))
        popping = replace(clip, rotations=turns, name="twitch")
        there_and_back = np.tile(np.concatenate([np.arange(120), np.arange(120, 0, -1)]), 8)
        calm = replace(
            clip,
            root_positions=clip.root_positions[there_and_back],
            rotations=clip.rotations[there_and_back],
            contacts=clip.contacts[there_and_back],
            name="calm",
        )  # long enough for a percentile that is not its greatest value
        report = audit_take(take_with(lay_track("ada", [calm, popping])), OPEN)
        assert report.ok
        assert "clip 'twitch' itself reaches" in report["continuity"].note
        assert "LeftForeArm" in report["continuity"].note

    def test_a_cut_between_clips_that_do_not_fit(self) -> None:
        take = take_with(track(words=("stand", "walk_forward")))
        report = audit_take(take, OPEN)
        assert "continuity" in violated(report)
        cut = take.segments.start[1] * 30
        assert all(abs(v.frame - cut) <= 2 for v in report["continuity"].violations)

    @pytest.mark.parametrize(("over", "clean"), [(1.0, True), (1.7, True), (3.0, False), (10.0, False)])
    def test_an_elbow_that_bends_backwards(self, over: float, clean: bool) -> None:
        take = take_with(track(words=STAND))
        report = audit_take(bent(take, "left_elbow", over), OPEN)
        assert violated(report) == (set() if clean else {"limits"})
        assert report["limits"].worst.value == pytest.approx(over, abs=0.5)  # arms of who stands move meanwhile
        assert report["limits"].worst.part == "LeftForeArm"

    def test_a_knee_that_bends_backwards(self) -> None:
        report = audit_take(bent(take_with(track(words=STAND)), "left_knee", 3.0), OPEN)
        assert report["limits"].worst.value == pytest.approx(3.0, abs=0.15)
        assert report["limits"].worst.part == "LeftLeg"
        assert "limits" in violated(report)
        assert "limits" not in violated(audit_take(bent(take_with(track(words=STAND)), "left_knee", 1.5), OPEN))


def bent(take: Take, role: str, over: float) -> Take:
    """The take with a joint held `over` degrees beyond the limit of its swing that is nearer to straight."""
    clip = take.clip(0)
    limits = joint_limits(clip.skeleton)
    index = clip.skeleton.roles[role]
    row = limits.joints.tolist().index(index)
    wanted = (limits.high if "elbow" in role else limits.low)[row, 0] + np.radians(over if "elbow" in role else -over)
    name = clip.skeleton.names[index]
    angles = np.zeros(len(clip))
    for _ in range(8):  # the axis is that of the joint at rest; correct until the swing is what is wanted
        now = turn(take, name, angles, _swing_axis(limits, row, clip), 0.0)
        swing = anatomical_angles(now.clip(0), limits)[:, row, 0]
        angles = angles + wanted - swing
    return turn(take, name, angles, _swing_axis(limits, row, clip), 0.0)


def _swing_axis(limits, row: int, clip) -> np.ndarray:
    return rotations.rotate(rotations.conjugate(t_pose(clip.skeleton)[limits.joints[row]]), limits.axes[row, 0])


class TestPlaces:
    @pytest.mark.parametrize(("off", "clean"), [(0.4, True), (0.499, True), (0.501, False), (0.6, False)])
    def test_a_goal_that_is_missed(self, off: float, clean: bool) -> None:
        end = take_with(track()).clip(0).root_positions[-1]
        report = audit_take(take_with(track(goal=(end[0] + 0.6 * off, end[1] + 0.8 * off, np.nan, 0.5))), OPEN)
        assert violated(report) == (set() if clean else {"arrival"})
        assert report["arrival"].worst.value == pytest.approx(off, abs=1e-3)

    def test_a_heading_that_is_missed(self) -> None:
        path = take_with(track()).clip(0).planar_path()[-1]
        for off, rows in ((10.0, set()), (20.0, {"arrival_heading"})):
            goal = (path[0], path[1], path[2] + np.radians(off), 0.5)
            report = audit_take(take_with(track(goal=goal)), OPEN)
            assert violated(report) == rows
            assert report["arrival_heading"].worst.value == pytest.approx(off, abs=0.1)

    def test_leaving_the_bounds(self) -> None:
        take = take_with(track())
        farthest = float(take.clip(0).root_positions[:, 0].max())
        assert audit_take(take, World((-1.0, -1.0, farthest + 0.001, 1.0))).ok
        report = audit_take(take, World((-1.0, -1.0, farthest - 0.02, 1.0)))
        assert violated(report) == {"bounds"}
        assert report["bounds"].worst.value == pytest.approx(0.02, abs=1e-6)


class TestLibraries:
    """What a source clip does itself is a violation too where it is beyond bars for clips, and the library's fault."""

    @staticmethod
    def edited(name: str = "stand", **changes: FloatArray) -> Clip:
        """A clip of the cast that was changed."""
        return replace(clips()[name], name="broken", **changes)

    @staticmethod
    def faults(clip: Clip, **bars: float) -> dict[str, str]:
        """The clip that is blamed in each row that is violated."""
        report = audit_take(take_with(lay_track("ada", [clip], (3.0, 1.0, 0.0))), OPEN, bars=AuditBars(**bars))
        return {finding.row: finding.clip for finding in report.violations}

    @pytest.mark.parametrize(("degrees", "clean"), [(20.0, True), (50.0, True), (129.0, False)])
    def test_a_joint_that_flips(self, degrees: float, clean: bool) -> None:
        turns = np.array(clips()["stand"].rotations)
        foot = clips()["stand"].skeleton.index("RightHand")
        flip = rotations.from_axis_angle((1.0, 0.0, 0.0), np.radians(degrees))
        turns[60:, foot] = rotations.multiply(turns[60:, foot], flip)
        found = self.faults(self.edited(rotations=turns), limit_deg=180.0)
        assert found == ({} if clean else {"continuity": "broken", "turn": "broken"})

    def test_a_library_that_flips_all_the_time(self) -> None:
        """Where it is usual, it is no less wrong."""
        turns = np.array(clips()["stand"].rotations)
        hand = clips()["stand"].skeleton.index("RightHand")
        flip = rotations.from_axis_angle((1.0, 0.0, 0.0), np.radians(80.0))
        turns[::2, hand] = rotations.multiply(turns[::2, hand], flip)
        found = self.faults(self.edited(rotations=turns), limit_deg=180.0)
        assert found == {"continuity": "broken", "turn": "broken"}

    @pytest.mark.parametrize(("depth", "clean"), [(0.02, True), (0.05, False)])
    def test_a_clip_in_the_floor(self, depth: float, clean: bool) -> None:
        sunk = np.subtract(clips()["stand"].root_positions, (0.0, 0.0, depth))
        found = self.faults(self.edited(root_positions=sunk, contacts=None), height=1.0)
        assert found == ({} if clean else {"under_ground": "broken"})

    def test_a_walk_downstairs_on_the_level_is_nobodys_clip(self) -> None:
        report = audit_take(
            take_with(lay_track("ada", [load_cast("person", behaviors=["stairs_down"]).clips["stairs_down"]])), OPEN
        )
        found = {finding.row: finding.clip for finding in report.violations}
        assert found["under_ground"] == ""

    @pytest.mark.parametrize(("slide", "rows"), [(0.03, set()), (0.05, {"skate"}), (0.08, {"skate", "skate_found"})])
    def test_a_clip_whose_feet_slide(self, slide: float, rows: set[str]) -> None:
        clip = clips()["stand"]
        moves = ramp(clip.duration, 1.0)[: len(clip), None] * [slide, 0.0, 0.0]
        found = self.faults(self.edited(root_positions=clip.root_positions + moves))
        assert found == dict.fromkeys(rows, "broken")

    def test_a_clip_that_is_too_fast(self) -> None:
        clip = clips()["stand"]
        moves = 0.45 * np.arange(len(clip))[:, None] * [0.1, 0.0, 0.0]  # 1.35 m/s
        still = self.edited(root_positions=clip.root_positions + moves, contacts=np.zeros_like(clip.contacts))
        assert "speed" not in self.faults(still)
        fast = replace(still, root_positions=clip.root_positions + 10.0 * moves)
        assert self.faults(fast, bounds=1e3)["speed"] == "broken"

    def test_what_the_take_does_is_not_the_librarys_fault(self) -> None:
        take = turn(take_with(track()), "LeftForeArm", np.radians([0.0, 90.0, 0.0]), (0.0, 0.0, 1.0), 199 / 30)
        found = audit_take(take, OPEN, bars=AuditBars(limit_deg=180.0)).violations
        assert {finding.row for finding in found} == {"continuity", "turn"}
        assert all(finding.clip == "" for finding in found)

    def test_the_report_says_whose_fault_it_is(self) -> None:
        sunk = np.subtract(clips()["stand"].root_positions, (0.0, 0.0, 0.08))
        take = take_with(lay_track("ada", [self.edited(root_positions=sunk, contacts=None)]))
        report = audit_take(take, OPEN)
        assert "the library's fault: clip 'broken' does it itself" in report["under_ground"].worst.words()
        row = next(row for row in report.as_dict()["rows"] if row["name"] == "under_ground")
        assert row["worst"]["clip"] == "broken"

    @pytest.mark.slow
    @pytest.mark.parametrize("style", style_names())
    @pytest.mark.parametrize("name", cast_names())
    def test_no_clip_of_the_cast_is_at_fault(self, name: str, style: str) -> None:
        library = load_cast(name, style=style)
        tracks = [lay_track(clip.name, [clip], (0.0, 30.0 * k, 0.0)) for k, clip in enumerate(library.clips.values())]
        report = audit_take(take_with(*tracks), World((-50.0, -50.0, 50.0, 30.0 * len(tracks) + 50.0)))
        found = {(finding.row, *finding.characters) for finding in report.violations if finding.clip}
        assert report["turn"].checked > 100 and len(report.characters) == len(library.clips)
        assert found == set()
        assert all(finding.clip for row in ("turn", "speed") for finding in report[row].violations)


def test_without_a_world_only_what_needs_none_is_checked() -> None:
    report = audit_take(take_with(track(height=0.3)))
    assert report.ok
    for name in ("penetration", "height", "bounds", "under_ground"):
        assert report[name].verdict == "not checked"
        assert report[name].note == "no world given"
    assert report["skate"].checked > 0
