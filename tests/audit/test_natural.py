"""Naturalness: figures of made motion with known answers, faults planted one by one, captured people in the bands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from audit_takes import WALK, take_with, track
from gaitway.audit import draw_natural, natural_report
from gaitway.audit.natural import BANDS
from gaitway.audit.natural import way as ways
from gaitway.audit.natural.gait import gait_figures
from gaitway.audit.natural.report import in_step
from gaitway.audit.natural.shortest_way import ShortestWays
from gaitway.audit.natural.upper_body import head_figures, standing_life
from gaitway.audit.natural.way import RATE, way_of
from gaitway.cast.catalog import load_cast
from gaitway.cli import app
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.crowd.tracks.reading import read_trajectories
from gaitway.crowd.tracks.resampling import resampled
from gaitway.crowd.tracks.sway import without_sway
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample
from gaitway.motion.formats import load_clip
from gaitway.take.model import Take
from gaitway.take.tracks import take_of
from gaitway.world import Box, Obstacle, World

SHARED = Path(__file__).resolve().parents[3] / "shared"
MOCAP, PEDESTRIANS = SHARED / "mocap", SHARED / "pedestrians"
FRAMES = np.arange(360) / RATE


def walked(speed: float | FloatArray = 1.34, heading: float | FloatArray = 0.0) -> FloatArray:
    """Places of a root that goes with a speed [m/s] and a heading [deg] in every frame; (360, 2)."""
    turn = np.radians(np.broadcast_to(heading, FRAMES.shape))
    step = np.broadcast_to(speed, FRAMES.shape)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]) / RATE
    return np.cumsum(step, axis=0)


def pulses(begin: float, end: float, inside: float, outside: float = 1.34) -> FloatArray:
    return np.where((begin <= FRAMES) & (end > FRAMES), inside, outside)


# ways


def test_a_plain_walk() -> None:
    way = way_of(walked(1.34))
    assert ways.mean_speed(way) == pytest.approx(1.34, abs=1e-3)
    assert ways.jogging_share(way) == 0.0
    assert ways.gait_switches(way) == []
    assert ways.stops(way) == []
    assert ways.turning_per_metre(way) == pytest.approx(0.0, abs=1e-6)
    assert ways.hook(way) == pytest.approx(0.0, abs=1e-6)


def test_setting_off_and_arriving_are_no_free_walking() -> None:
    ramp = np.clip(np.minimum(FRAMES - 2.0, 10.0 - FRAMES) / 1.2, 0.0, 1.0)  # 1.2 s to the full speed, and to a stop
    assert ways.mean_speed(way_of(walked(1.34 * ramp))) == pytest.approx(1.34, abs=0.01)
    short = np.clip(np.minimum(FRAMES - 2.0, 4.4 - FRAMES) / 1.2, 0.0, 1.0)  # a way that is nothing else
    assert 0.4 < ways.mean_speed(way_of(walked(1.34 * short))) < 1.0


def test_nobody_walks_freely_behind_others() -> None:
    way = way_of(walked(pulses(4.0, 9.0, 0.7)))
    behind = (FRAMES >= 3.5) & (FRAMES < 9.5)
    assert ways.mean_speed(way, behind) == pytest.approx(1.34, abs=0.01)
    assert ways.mean_speed(way) < 1.15
    assert ways.mean_speed(way, np.ones(len(FRAMES), dtype=bool)) == ways.mean_speed(way)  # who is never free


def test_a_jog_in_between_is_a_share_and_two_switches() -> None:
    way = way_of(walked(pulses(4.0, 7.0, 2.8)))
    assert ways.jogging_share(way) == pytest.approx(3.0 / 12.0, abs=0.02)
    assert len(ways.gait_switches(way)) == 2


def test_setting_off_and_stopping_switch_no_gait() -> None:
    assert ways.gait_switches(way_of(walked(pulses(2.0, 9.0, 2.8, 0.0)))) == []


@pytest.mark.parametrize(("seconds", "short"), [(1.2, 1), (3.0, 0)])
def test_stops_are_counted_between_first_and_last_movement(seconds: float, short: int) -> None:
    speed = pulses(5.0, 5.0 + seconds, 0.0)
    speed[:30] = speed[-30:] = 0.0
    way = way_of(walked(speed))
    assert len(ways.stops(way)) == 1
    assert len(ways.short_stops(way)) == short


def test_turning_is_measured_and_a_hook_is_at_the_end() -> None:
    late = way_of(walked(1.0, np.clip((FRAMES - 10.2) * 60.0, 0.0, 60.0)))
    assert ways.turning(late)[0].sum() == pytest.approx(60.0, abs=3.0)
    assert ways.hook(late) == pytest.approx(60.0, abs=4.0)
    early = way_of(walked(1.0, np.clip((FRAMES - 3.0) * 60.0, 0.0, 60.0)))
    assert ways.turning_per_metre(early) == pytest.approx(60.0 / 12.0, rel=0.06)
    assert ways.hook(early) == pytest.approx(0.0, abs=0.5)


def test_who_stands_or_hardly_moves_is_not_measured() -> None:
    for way in (way_of(walked(0.0)), way_of(np.zeros((1, 2))), way_of(walked(pulses(1.0, 1.5, 1.0, 0.0)))):
        assert np.isnan(ways.mean_speed(way))
        assert np.isnan(ways.hook(way))
        assert ways.stops(way) == []


# the shortest way


def test_turning_that_a_way_needs() -> None:
    wall = Obstacle(Box((0.0, -1.0), (0.4, 8.0), 2.0))
    ways_ = ShortestWays(World((-8.0, -5.0, 8.0, 5.0), (wall,)))
    assert ways_.turning(np.array([-6.0, 4.0]), np.array([6.0, 4.0])) < 15.0
    corners = ways_.between(np.array([-4.0, -3.0]), np.array([4.0, -3.0]))
    assert corners is not None
    length = np.linalg.norm(np.diff(corners, axis=0), axis=1).sum()
    over = np.hypot(3.5, 6.3)  # up to the corner of the wall grown by the disc, and down again
    assert 2.0 * over < length + 1.0 < 2.0 * over + 3.0
    around = 2.0 * np.degrees(np.arctan2(6.3, 3.5))
    assert ways_.turning(np.array([-4.0, -3.0]), np.array([4.0, -3.0])) == pytest.approx(around, abs=16.0)


def test_no_way_and_no_room() -> None:
    wall = Obstacle(Box((0.0, 0.0), (0.4, 10.0), 2.0))
    closed = ShortestWays(World((-8.0, -5.0, 8.0, 5.0), (wall,)))
    assert closed.between(np.array([-4.0, 0.0]), np.array([4.0, 0.0])) is None
    assert np.isnan(closed.turning(np.array([-4.0, 0.0]), np.array([4.0, 0.0])))
    full = ShortestWays(World((-3.0, -3.0, 3.0, 3.0), (Obstacle(Box((0.0, 0.0), (6.0, 6.0), 2.0)),)))
    assert full.between(np.zeros(2), np.ones(2)) is None


# gaits


def made_gait(
    *, speed: float = 1.3, width: float = 0.09, sway: float = 0.04, pitch: float = 4.0, nod: float = 7.0,
    arms: tuple[float, float] = (0.4, 0.3), rhythm: float = 0.0, yaw: float = 12.0,
) -> tuple[Clip, FloatArray, FloatArray]:  # fmt: skip
    """A walk along x whose figures are known: the clip, joint positions (F, J, 3) and rotations (F, J, 4)."""
    skeleton = load_cast("person").skeleton
    roles, frames = skeleton.roles, len(FRAMES)
    cycle = 1.1 + rhythm * np.sin(FRAMES * 1.7)
    phase = 2.0 * np.pi * np.cumsum(1.0 / cycle) / RATE
    root = np.column_stack([speed * FRAMES, 0.5 * sway * np.sin(phase), np.full(frames, 0.95)])
    positions = np.repeat(root[:, None], len(skeleton), axis=1)
    turn = np.radians(0.5 * yaw) * np.sin(phase)
    lean = np.radians(0.5 * pitch) * np.sin(2.0 * phase)
    positions[:, roles["neck"]] += 0.5 * np.column_stack([np.sin(lean), np.zeros(frames), np.cos(lean)])
    for sign, side, arm in ((1.0, "left", arms[0]), (-1.0, "right", arms[1])):
        ahead = speed * FRAMES + sign * 0.3 * np.sin(phase)
        ankle = np.column_stack([ahead, np.full(frames, sign * 0.5 * width), np.full(frames, 0.1)])
        positions[:, roles[f"{side}_ankle"]] = ankle
        positions[:, roles[f"{side}_wrist"], 0] -= sign * 0.5 * arm * np.sin(phase)
        positions[:, roles[f"{side}_hip"]] += sign * 0.1 * np.column_stack([-np.sin(turn), np.cos(turn), 0.0 * turn])
    world = rotations.identity(frames, len(skeleton))
    up = np.radians(0.5 * nod) * np.sin(2.0 * phase)
    world[:, roles["head"]] = rotations.from_axis_angle(np.array([0.0, 1.0, 0.0]), up)
    facing = rotations.from_yaw(-np.arctan2(skeleton.forward[1], skeleton.forward[0]))
    local = rotations.identity(frames, len(skeleton))
    local[:, 0] = facing
    return Clip(skeleton, root, local, RATE), positions, world


def test_figures_of_a_made_gait() -> None:
    clip, positions, world = made_gait()
    figures = gait_figures(clip, way_of(positions[:, 0]), positions, world)
    assert figures["step_width"] == pytest.approx(0.09, rel=0.03)
    assert figures["sway"] == pytest.approx(0.04, rel=0.2)
    assert figures["trunk_pitch"] == pytest.approx(4.0, rel=0.05)
    assert figures["head_nod"] == pytest.approx(7.0, rel=0.05)
    assert figures["arm_difference"] == pytest.approx(0.25, abs=0.02)
    assert figures["step_time_change"] < 0.005
    assert "jog_pelvis_yaw" not in figures


@pytest.mark.parametrize(
    ("change", "name", "value", "rel"),
    [
        ({"width": 0.03}, "step_width", 0.03, 0.05),
        ({"sway": 0.08}, "sway", 0.08, 0.2),
        ({"pitch": 12.0}, "trunk_pitch", 12.0, 0.05),
        ({"nod": 1.0}, "head_nod", 1.0, 0.05),
        ({"arms": (0.3, 0.3)}, "arm_difference", 0.0, 0.02),
        ({"rhythm": 0.12}, "step_time_change", 0.06, 0.4),
        ({"speed": 2.6, "yaw": 4.0}, "jog_pelvis_yaw", 4.0, 0.2),
    ],
)
def test_faults_of_a_gait_are_measured(change: dict[str, float], name: str, value: float, rel: float) -> None:
    clip, positions, world = made_gait(**change)  # type: ignore[arg-type]
    figures = gait_figures(clip, way_of(positions[:, 0]), positions, world)
    assert figures[name] == pytest.approx(value, rel=rel, abs=0.01)


def test_who_walks_sideways_or_crouched_has_no_gait_of_a_walk() -> None:
    clip, positions, world = made_gait()
    turned = np.array(clip.rotations)
    turned[:, 0] = rotations.multiply(rotations.from_yaw(np.pi / 2.0), turned[:, 0])
    assert gait_figures(replace(clip, rotations=turned), way_of(positions[:, 0]), positions, world) == {}
    low = positions.copy()
    low[40:, :, 2] *= 0.5
    low[40:, [clip.skeleton.roles[r] for r in ("left_ankle", "right_ankle")], 2] = 0.1
    assert gait_figures(clip, way_of(low[:, 0]), low, world) == {}


# head and standing


def with_head(yaw: FloatArray, heading: float | FloatArray = 0.0) -> dict[str, float]:
    skeleton = load_cast("person").skeleton
    root = np.column_stack([walked(1.3, heading), np.full(len(FRAMES), 0.95)])
    clip = Clip(skeleton, root, rotations.identity(len(FRAMES), len(skeleton)), RATE)
    ahead = np.degrees(np.arctan2(skeleton.forward[1], skeleton.forward[0]))
    world = rotations.identity(len(FRAMES), len(skeleton))
    world[:, skeleton.roles["head"]] = rotations.from_yaw(np.radians(yaw - ahead))
    return dict(head_figures(clip, way_of(root), world))


def test_the_head_against_the_way() -> None:
    assert with_head(np.zeros(360))["head_speed"] == pytest.approx(0.0, abs=0.01)
    looking = with_head(10.0 * np.sin(2.0 * np.pi * FRAMES))
    assert looking["head_speed"] == pytest.approx(40.0, rel=0.1)  # four times the amplitude in a cycle
    turn = np.clip((FRAMES - 4.0) * 45.0, 0.0, 135.0)
    led = with_head(turn + np.where((FRAMES > 3.5) & (FRAMES < 7.5), 28.0, 0.0), turn)
    assert led["head_lead"] == pytest.approx(28.0, abs=4.0)
    assert abs(with_head(turn, turn)["head_lead"]) < 4.0


@pytest.mark.parametrize("speed", [0.0, 2.0, 12.0])
def test_the_life_of_who_stands(speed: float) -> None:
    skeleton = load_cast("person").skeleton
    turned = rotations.identity(len(FRAMES), len(skeleton))
    angle = np.radians(speed / 4.0) * 2.0 * np.abs((FRAMES % 4.0) - 2.0)
    turned[:] = rotations.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)[:, None]
    clip = Clip(skeleton, np.zeros((len(FRAMES), 3)), turned, RATE)
    assert standing_life(clip, way_of(clip.root_positions)) == pytest.approx(speed / 2.0, rel=0.02, abs=1e-6)
    assert np.isnan(standing_life(clip, way_of(walked(1.3))))


def test_steps_over_a_fence_are_no_cycles_of_a_walk() -> None:
    clip, positions, world = made_gait()
    plain = gait_figures(clip, way_of(positions[:, 0]), positions, world)
    over = positions.copy()
    left = clip.skeleton.roles["left_ankle"]
    middle = slice(len(FRAMES) // 2, len(FRAMES) // 2 + 24)
    over[middle, left, 2] += 0.5
    over[middle, left, 0] -= 0.4  # it passes the other one late
    figures = gait_figures(clip, way_of(over[:, 0]), over, world)
    assert figures["step_time_change"] == pytest.approx(plain["step_time_change"], abs=0.015)
    over[middle, left, 2] -= 0.5
    assert gait_figures(clip, way_of(over[:, 0]), over, world)["step_time_change"] > 0.03


# reports


@pytest.fixture(scope="module")
def walkers() -> Take:
    return take_with(*(track(f"w{k}", WALK, (0.0, 2.0 * k, 0.0)) for k in range(4)))


def test_a_crowd_that_walks_in_step_is_noticed(walkers: Take) -> None:
    report = natural_report(walkers)
    assert report["in_step"].characters == 4
    assert report["in_step"].value > 0.4
    assert not report["in_step"].ok
    assert report["jogging"].ok
    assert not report.ok
    assert report["in_step"] in report.outside
    assert set(report.characters) == {"w0", "w1", "w2", "w3"}


def test_who_was_told_how_fast_to_go_is_compared_with_nobody(walkers: Take) -> None:
    some, none = (natural_report(walkers, paced=names) for names in (["w1"], walkers.names))
    assert (some["speed"].characters, none["speed"].characters) == (3, 0)
    assert none["jogging"].verdict == none["speed_spread"].verdict == "not measured"
    assert none["step_width"].characters == 4


@pytest.mark.parametrize("people", [4, 16, 60])
def test_few_people_may_be_in_step_by_chance(people: int) -> None:
    """Independent walkers are hardly ever outside the band; those whose phases lie within a quarter of a turn are."""
    band, rng, walks = next(b for b in BANDS if b.name == "in_step"), np.random.default_rng(people), FRAMES > -1.0
    outside = {1.0: 0, 0.25: 0}
    for drawn in range(200):
        for turn in outside:
            rates = rng.normal(0.95, 0.1 if turn == 1.0 else 0.01, people)
            phases = 2.0 * np.pi * (rng.uniform(0.0, turn, people)[:, None] + rates[:, None] * FRAMES)
            value, count, slack = in_step([(0, phase, walks) for phase in phases])
            assert count == people, drawn
            outside[turn] += not band.holds(value, slack)
    assert outside[1.0] <= 2
    assert outside[0.25] >= 180


def test_every_band_is_a_row_and_can_fail(walkers: Take) -> None:
    report = natural_report(walkers)
    assert [row.band for row in report.rows] == list(BANDS)
    for row in report.rows:
        edge = row.band.high if np.isfinite(row.band.high) else row.band.low
        inside = replace(row, value=edge, characters=99, slack=0.0)
        beyond = replace(inside, value=edge + 0.01 * abs(edge) + 0.01)
        assert (inside.verdict, beyond.verdict) == ("ok", "outside"), row.band.name
        assert row.band.source
    assert not replace(report["speed_spread"], value=0.0, characters=9).measured


def test_who_meets_nobody_has_less_cause_to_turn() -> None:
    walk = (*WALK[:2], *["walk_forward"] * 4, *WALK[-2:])
    beside = natural_report(take_with(*(track(f"w{k}", walk, (0.0, 2.0 * k, 0.0)) for k in range(4))))
    assert (beside["turning"].characters, beside["turning_alone"].characters) == (4, 0)
    alone = natural_report(take_with(*(track(f"w{k}", walk, (0.0, 3.0 * k, 0.0)) for k in range(4))))
    assert (alone["turning"].characters, alone["turning_alone"].characters) == (0, 4)
    assert alone["turning_alone"].value == pytest.approx(beside["turning"].value)


def test_few_people_may_be_slower_on_the_whole(walkers: Take) -> None:
    row = natural_report(walkers)["speed"]
    assert row.slack == pytest.approx(0.26)
    assert row.worst is not None
    assert row.worst.character in walkers.names


@pytest.mark.parametrize("name", ["short_stops", "turning", "hook", "step_width", "speed"])
@pytest.mark.parametrize("people", [6, 16, 100])
def test_few_people_may_differ_from_all_by_chance_alone(name: str, people: int) -> None:
    """Drawn at the edge of a band, crowds are hardly ever outside; with a fault in each of its people, always."""
    band, rng = next(band for band in BANDS if band.name == name), np.random.default_rng(people)
    middle = np.median if band.of_crowd == "median" else np.mean
    drawn = rng.poisson(band.high, (400, people)) if band.counted else rng.normal(band.high, band.spread, (400, people))
    outside = sum(not band.holds(float(middle(crowd)), band.slack(people)) for crowd in drawn)
    assert outside <= 30  # one in forty, and Poisson's are skewed
    fault = band.high + (1.0 if band.counted else 2.0 * band.spread)
    assert not band.holds(fault, band.slack(people))


def test_a_band_is_wider_for_few_people_and_by_nothing_for_many() -> None:
    for band in BANDS:
        assert band.slack(4) == pytest.approx(2.0 * band.slack(16)), band.name
        assert band.slack(1_000_000) < 0.01 * abs(band.high)


def test_reports_are_plain_values_and_lines(walkers: Take, tmp_path: Path) -> None:
    report = natural_report(walkers)
    plain = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert plain["ok"] is False
    assert len(plain["rows"]) == len(BANDS)
    assert all(len(line) == 5 and all(isinstance(cell, str) for cell in line) for line in report.table())
    rows = [report["in_step"], replace(report["step_width"], value=0.3)]
    only = replace(report, rows=tuple(rows))
    drawn = draw_natural(only, walkers, None, tmp_path / "new")
    assert [path.name for path in drawn] == ["natural_step_width.png"]  # no one character is out of step


def test_a_body_without_legs_is_measured_by_its_way() -> None:
    clip, _, _ = made_gait()
    bare = replace(clip, skeleton=replace(clip.skeleton, roles={"hips": 0}))
    report = natural_report(take_of([bare]))
    assert report["speed"].value == pytest.approx(1.3, abs=0.01)
    assert {report[name].verdict for name in ("step_width", "head_speed", "in_step")} == {"not measured"}


@pytest.mark.slow
def test_the_command(walkers: Take, tmp_path: Path) -> None:
    from gaitway.take import save_take

    save_take(walkers, tmp_path / "w.npz")
    done = CliRunner().invoke(app, ["audit", str(tmp_path / "w.npz"), "--natural"])
    assert done.exit_code == 1
    assert "outside what people do" in done.output
    plain = CliRunner().invoke(app, ["audit", str(tmp_path / "w.npz"), "--json", "--natural"])
    assert json.loads(plain.output)["natural"]["ok"] is False
    assert "natural" not in json.loads(CliRunner().invoke(app, ["audit", str(tmp_path / "w.npz"), "--json"]).output)


# captures

CAPTURED = {
    "02": (1, 2, 3), "05": (1,), "07": (1, 2, 3, 12), "08": (1, 2, 4, 5, 7), "09": (1, 2),
    "16": (15, 21, 22, 35, 45, 55, 58), "35": (1, 2, 3, 4, 17, 18),
    "38": (1, 2), "39": (1, 2), "69": (1, 2), "77": (10,), "91": (36,), "127": (3,),
}  # fmt: skip
"""Takes of straight walks and runs, by subject."""
MEASURED = (
    "step_width", "sway", "trunk_pitch", "head_nod", "arm_difference", "step_time_change", "jog_pelvis_yaw",
    "head_speed", "short_stops",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not MOCAP.is_dir(), reason="no captures beside the project")
def test_captured_people_are_inside_the_bands() -> None:
    clips = []
    for name in (f"{subject}_{number:02d}" for subject, numbers in CAPTURED.items() for number in numbers):
        clip = load_clip(MOCAP / "bvh" / f"{name}.bvh")
        # the first frame is a pose of the converter
        clips.append(
            resample(replace(clip, root_positions=clip.root_positions[1:], rotations=clip.rotations[1:]), RATE)
        )
    clips.append(resample(load_clip(MOCAP / "bvh_accad" / "Female1_B03_Walk1.bvh"), RATE))
    report = natural_report(take_of(clips))
    for name in MEASURED:
        row = report[name]
        assert row.ok, row.cells()
        assert row.characters >= 3
        values = [figures[name] for figures in report.characters.values() if name in figures]
        assert row.band.holds(row.value), row.cells()  # without slack
        if row.band.spread > 0.0 and name != "head_speed":  # runners' heads are no part of its spread
            assert np.std(values, ddof=1) == pytest.approx(row.band.spread, rel=0.05), name


_SPREADS = {1.8: "turning_alone", 4.8: "turning"}
"""Bands whose spread is that of tracked people, by what these turn on the whole."""


@pytest.mark.skipif(not PEDESTRIANS.is_dir(), reason="no tracked people beside the project")
@pytest.mark.parametrize(
    ("file", "turn"), [("uo-060-180-180.txt", 1.8), ("uo-180-180-120.txt", 4.0), ("bi_corr_400_b_03.txt", 4.8)]
)
def test_tracked_people_turn_as_the_bands_say(file: str, turn: float) -> None:
    tracks = resampled(without_sway(read_trajectories(PEDESTRIANS / file)), RATE)
    turns = [ways.turning_per_metre(way_of(tracks.positions[tracks.rows(k)])) for k in range(len(tracks.names))]
    assert np.nanmean(turns) == pytest.approx(turn, abs=0.15)
    if turn in _SPREADS:
        band = next(band for band in BANDS if band.name == _SPREADS[turn])
        assert np.nanstd(turns) == pytest.approx(band.spread, rel=0.05)
    assert f"{turn:.1f}" in next(band.source for band in BANDS if band.name == "turning")
