"""Raw captures become libraries: what was done in them is found again, joins cannot be seen, and plans can be made."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gaitway.audit import audit_take
from gaitway.capture.importing import Imported, ImportOptions, import_library
from gaitway.capture.making.gate import CaptureBaseline, measure_quality
from gaitway.capture.reading.prepared import prepare
from gaitway.capture.takes import PrepareOptions
from gaitway.cli import app
from gaitway.core.errors import LibraryError
from gaitway.library.actions import action_table, planning_problems
from gaitway.library.checks import check_joins
from gaitway.library.reach import reaches
from gaitway.library.storage import save_library
from gaitway.motion.clip import Clip
from gaitway.render.sheets.import_report import _page, unused_rows
from gaitway.take.tracks import assemble, lay_track
from import_folders import DUCK, JUMP, STRAIGHT, WALK, capture_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return capture_folder(tmp_path_factory.mktemp("raw"), {"walk": WALK, "jump": JUMP})


@pytest.fixture(scope="module")
def imported(folder: Path) -> Imported:
    return import_library(folder, name="somebody")


@pytest.mark.slow
def test_the_library_can_be_planned_with(imported: Imported) -> None:
    library = imported.library
    assert library.name == "somebody"
    assert planning_problems(library) == []
    table = action_table(library)
    assert table.rest[table.state("stand")]
    assert table.moves[:, 0].max() > 0.5
    assert table.moves[:, 2].max() > np.radians(15.0) and table.moves[:, 2].min() < -np.radians(15.0)


@pytest.mark.slow
def test_what_was_done_is_found(imported: Imported) -> None:
    behaviors = {b.name: b for b in imported.report.behaviors}
    assert {"walk_forward_l", "walk_forward_r", "stop_walk_l", "stand"} <= behaviors.keys()
    assert any(name.startswith("start_walk") and not b.made for name, b in behaviors.items())
    forward = behaviors["walk_forward_l"]
    assert not forward.made and forward.ahead == pytest.approx(0.74, abs=0.08)  # half of the cast's 1.48 m
    assert abs(forward.turn_deg) < 9.0 and forward.takes[0].startswith("walk")
    turning = [b for b in behaviors.values() if not b.made and b.turn_deg > 12.0 and b.start.startswith("walk")]
    assert turning and all(b.takes[0].startswith(("walk", "jump")) for b in turning)


@pytest.mark.slow
def test_names_and_turns_agree(imported: Imported) -> None:
    """The pelvis twists in every step; what counts is where the person goes."""
    for behavior in imported.report.behaviors:
        turned = re.search(r"_(left|right)_(\d\d+)", f"_{behavior.name}")
        named = 0.0 if turned is None else float(turned[2]) * (1.0 if turned[1] == "left" else -1.0)
        assert behavior.obstacle or abs(behavior.turn_deg - named) <= (9.05 if abs(named) <= 75.0 else 15.05), (
            behavior.name
        )


def test_a_library_shows_the_turns_of_travel(imported: Imported, tmp_path: Path) -> None:
    save_library(imported.library, tmp_path / "somebody.gwlib")
    shown = CliRunner().invoke(app, ["library", "show", str(tmp_path / "somebody.gwlib"), "--json"])
    turns = {fact["behavior"]: fact["turn_deg"] for fact in json.loads(shown.stdout)}
    assert turns == {b.name: pytest.approx(b.turn_deg, abs=0.11) for b in imported.report.behaviors}
    pelvis = {name: np.degrees(np.ptp(imported.library.clips[name].headings()[[0, -1]])) for name in turns}
    assert any(abs(abs(turns[name]) - pelvis[name]) > 1.0 for name in turns), "the pelvis twists otherwise"


def test_every_second_is_accounted_for(imported: Imported) -> None:
    for take in imported.report.takes:
        assert take.uses[0].start_s == 0.0 and take.uses[-1].stop_s == pytest.approx(take.seconds, abs=0.05)
        assert all(a.stop_s == b.start_s and a.what for a, b in pairwise(take.uses))
        assert sum(u.stop_s - u.start_s for u in take.uses if u.used) == pytest.approx(take.used_seconds, abs=0.05)
    page = _page(imported.report)
    assert page.count("<i class=") == sum(len(take.uses) for take in imported.report.takes)
    rows = unused_rows(imported.report)
    assert rows[0]["why"] == "used" and len(rows) > 1 and all(str(row["why"]) for row in rows)
    unused = sum(take.seconds - take.used_seconds for take in imported.report.takes)
    assert sum(imported.report.unused_seconds().values()) == pytest.approx(unused, abs=0.2)


def test_a_jump_is_found_with_when_it_passes(imported: Imported) -> None:
    jumps = [b for b in imported.library.graph.behaviors if b.obstacle == "jump"]
    assert jumps and {b.start for b in jumps} == {"jog_left", "jog_right"}
    over = [reach for reach in reaches(imported.library) if reach.kind == "jump"]
    for reach in over:
        places = reach.first + reach.cell * np.arange(len(reach.lowest))
        assert reach.lowest[np.abs(places - reach.passing) < 0.1].min() > 0.3
    heights = [b.gets_past for b in imported.report.behaviors if b.obstacle == "jump"]
    assert all(height is not None and height > 0.3 for height in heights)
    assert "the capture holds no usable duck" in imported.report.warnings
    assert "jump" not in imported.report.missing and "duck" in imported.report.missing


def test_hub_poses_are_shared_to_rounding(imported: Imported) -> None:
    worst = check_joins(imported.library)
    assert worst[0].angle < 1e-6
    assert max(join.height for join in worst) < 1e-9


def test_every_clip_and_its_joins_keep_the_bars(imported: Imported) -> None:
    library, rng = imported.library, np.random.default_rng(5)
    tracks = []
    for number in range(6):
        state, clips = "stand", list[Clip]()
        for _ in range(25):
            choices = [b for b in library.graph.behaviors if b.start == state]
            chosen = choices[rng.integers(len(choices))]
            clips.append(library.clips[chosen.clips[rng.integers(len(chosen.clips))]])
            state = chosen.end
        tracks.append(lay_track(f"walker-{number}", clips))
    report = audit_take(assemble(tracks))
    for row in ("skate", "skate_found", "continuity", "limits"):
        assert report[row].checked and not report[row].violations, report[row].cells()


def test_feet_are_on_the_floor_and_still(imported: Imported) -> None:
    for clip in imported.library.clips.values():
        assert clip.contacts is not None
        points = clip.contact_positions()
        assert np.abs(points[..., 2][clip.contacts]).max() < 0.01
        assert points[..., 2].min() > -0.02


def test_the_report_says_what_is_made(imported: Imported) -> None:
    report = imported.report
    assert 0 < len(report.made) < len(report.behaviors)
    for behavior in report.behaviors:
        labels = imported.library.clips[behavior.name].labels
        assert ("made" in labels) == bool(behavior.made)
    assert {take.take for take in report.takes} == {"walk", "jump"}
    assert 0.2 < report.coverage <= 1.0
    assert set(report.timings) == {"read", "hubs", "clips", "made", "checks"}
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["name"] == "somebody" and len(plain["behaviors"]) == len(report.behaviors)


def test_hubs_come_with_their_mirror_images(imported: Imported) -> None:
    hubs = {hub.name: hub for hub in imported.report.hubs}
    assert {"stand", "walk_left", "walk_right", "jog_left", "jog_right"} <= hubs.keys()
    assert hubs["walk_left"].members == hubs["walk_right"].members > 3
    moves = {b.name: b for b in imported.report.behaviors}
    left, right = moves["walk_forward_l"], moves["walk_forward_r"]
    assert left.ahead == pytest.approx(right.ahead, rel=0.1) and left.left == pytest.approx(-right.left, abs=0.05)
    assert not any("mirrored" in take for take in (*left.takes, *right.takes)), "both feet were captured"


def test_sizes_are_limited(imported: Imported) -> None:
    library = imported.library
    assert len(library.graph.behaviors) <= ImportOptions().behaviors
    assert all(len(b.clips) <= 2 * ImportOptions().clips for b in library.graph.behaviors)


@pytest.mark.slow
def test_the_same_folder_gives_the_same_bytes(folder: Path, imported: Imported) -> None:
    again = import_library(folder, name="somebody")
    assert again.library.clips.keys() == imported.library.clips.keys()
    assert again.library.graph == imported.library.graph
    for name, clip in imported.library.clips.items():
        assert np.array_equal(again.library.clips[name].rotations, clip.rotations)
        assert np.array_equal(again.library.clips[name].root_positions, clip.root_positions)


@pytest.mark.slow
def test_a_duck_is_found(tmp_path: Path) -> None:
    imported = import_library(capture_folder(tmp_path, {"walk": WALK, "duck": DUCK}))
    assert any(b.obstacle == "duck" for b in imported.library.graph.behaviors)


@pytest.mark.slow
def test_straight_walks_alone_are_enough(tmp_path: Path) -> None:
    imported = import_library(capture_folder(tmp_path, {"one": STRAIGHT, "two": STRAIGHT}))
    assert planning_problems(imported.library) == []
    assert {"standing", "a start", "a stop", "a turn to the left"} <= set(imported.report.missing)
    made = set(imported.report.made)
    assert {"stand", "start_walk_l", "stop_walk_l", "walk_left_30_l", "turn_left_90"} <= made
    assert next(hub for hub in imported.report.hubs if hub.name == "stand").made


@pytest.mark.slow
def test_nothing_is_made_if_that_is_not_wanted(tmp_path: Path) -> None:
    folder = capture_folder(tmp_path, {"one": STRAIGHT})
    with pytest.raises(LibraryError, match="no take stands still"):
        import_library(folder, options=ImportOptions(make=False))


@pytest.mark.slow
def test_without_mirror_images(folder: Path) -> None:
    imported = import_library(folder, options=ImportOptions(prepare=PrepareOptions(mirror=False)))
    captured = [b for b in imported.report.behaviors if not b.made]
    assert captured and not any("mirrored" in take for b in captured for take in b.takes)
    assert planning_problems(imported.library) == []


@pytest.mark.slow
def test_smaller_people_are_as_good(folder: Path, tmp_path: Path) -> None:
    """Every limit grows with the body: a person of two thirds the size gives the same states."""
    for file in folder.glob("*.bvh"):
        text = file.read_text()
        head, motion = text.split("MOTION")
        lines = [_scaled(line) if line.strip().startswith("OFFSET") else line for line in head.splitlines()]
        rows = motion.strip().splitlines()
        frames = [" ".join([*(f"{float(v) * 0.7:.6f}" for v in r.split()[:3]), *r.split()[3:]]) for r in rows[2:]]
        (tmp_path / file.name).write_text("\n".join([*lines, "MOTION", *rows[:2], *frames]) + "\n")
    imported = import_library(tmp_path)
    assert {"stand", "walk_left", "jog_left"} <= {hub.name for hub in imported.report.hubs}


def _scaled(line: str) -> str:
    words = line.split()
    return " ".join([words[0], *(f"{float(v) * 0.7:.6f}" for v in words[1:])])


def test_a_pop_is_measured(folder: Path) -> None:
    take = prepare(folder, PrepareOptions(only=("walk*",), mirror=False)).takes[0]
    bars = CaptureBaseline.of([take], 1.0)
    assert measure_quality(take.clip, bars, take.clip).pop <= 1.0 / 0.75 + 1e-6
    turned = np.array(take.clip.rotations)
    turned[40, 3] = turned[40, 3][[1, 0, 3, 2]]
    broken = Clip(take.clip.skeleton, take.clip.root_positions, turned, take.clip.fps, contacts=take.clip.contacts)
    assert measure_quality(broken, bars, take.clip).pop > 3.0


@pytest.mark.slow
def test_a_broken_file_is_named_and_the_rest_used(tmp_path: Path) -> None:
    folder = capture_folder(tmp_path, {"walk": WALK})
    (folder / "broken.bvh").write_text("HIERARCHY\nROOT nothing")
    report = import_library(folder).report
    assert [Path(file).name for file, _ in report.dropped] == ["broken.bvh"]
    assert report.behaviors


def test_nothing_but_one_line_for_a_folder_without_steps(tmp_path: Path) -> None:
    folder = capture_folder(tmp_path, {"still": ("stand", "wave", "stand")})
    with pytest.raises(LibraryError) as caught:
        import_library(folder)
    assert "\n" not in str(caught.value) and str(caught.value)
