"""Libraries of real subjects, each alone and several as one: they plan ready scenes, and audits find nothing."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import pytest

from gaitway.audit import audit_take
from gaitway.audit.natural import NaturalReport, natural_report
from gaitway.capture.importing import Imported, ImportOptions, import_library
from gaitway.capture.takes import PrepareOptions
from gaitway.core.errors import LibraryError
from gaitway.library.actions import planning_problems
from gaitway.planning import plan_scene
from gaitway.scene import load_scene
from shared_data import MOCAP, needs_mocap

pytestmark = [pytest.mark.slow, needs_mocap]


@cache
def imported(*subjects: str) -> Imported:
    only = tuple(f"{subject}_*" for subject in subjects)
    options = ImportOptions(mixed=len(subjects) > 1, prepare=PrepareOptions(only=only))
    return import_library(MOCAP / "bvh", name="+".join(subjects), options=options)


def planned_well(library: Imported, scene_name: str, pops: Collection[str] = ()) -> NaturalReport:
    scene = load_scene(scene_name)
    planned = plan_scene(scene, libraries={c.library: library.library for c in scene.characters})
    assert not planned.failed
    report = audit_take(planned.take, scene.world)
    found = [v for v in report.violations if not (v.row == "continuity" and v.clip in pops)]
    assert not found, [row.cells() for row in report.rows if not row.ok]
    return natural_report(planned.take, scene.world)


@pytest.mark.parametrize("subject", ["16", "69", "35"])
def test_a_subject_crosses_a_square(subject: str) -> None:
    assert planning_problems(imported(subject).library) == []
    natural = planned_well(imported(subject), "market_square")
    # a state for either foot is no gait of its own: who thinks so jogs and stops to spare steps, 5.6 times each
    assert natural["jogging"].value < 0.1 and natural["short_stops"].value < 0.5


def test_a_runner_jumps_and_ducks_along_the_course() -> None:
    """Subject 127 runs, jumps and ducks."""
    kinds = {b.obstacle for b in imported("127").report.behaviors}
    assert {"jump", "duck"} <= kinds
    planned_well(imported("127"), "fence_and_beam")


def test_who_has_no_duck_is_told_so() -> None:
    report = imported("16").report
    assert "the capture holds no usable duck" in report.warnings
    assert any(b.obstacle == "jump" for b in report.behaviors)


def test_several_people_as_one() -> None:
    library = imported("127", "16", "69")
    sources = {take.partition("_")[0] for b in library.report.behaviors if not b.made for take in b.takes}
    assert {"127", "16", "69"} <= sources
    planned_well(library, "doorways")


@pytest.mark.parametrize("subject", ["05", "07", "08", "09", "02", "36", "38", "39"])
def test_few_takes_are_enough(subject: str) -> None:
    report = imported(subject).report
    assert report.made and planning_problems(imported(subject).library) == []
    assert all(b.slide_cm < 2.5 for b in report.behaviors)


@pytest.mark.parametrize("subject", ["115", "126", "118"])
def test_who_goes_nowhere_gives_one_line(subject: str) -> None:
    with pytest.raises(LibraryError) as caught:
        imported(subject)
    assert "\n" not in str(caught.value)
