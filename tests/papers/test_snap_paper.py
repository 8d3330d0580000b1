"""Snap-together graphs, run again: what is measured of them, and the table."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from PIL import Image

from gaitway.graphs.corpus import build_corpus
from gaitway.graphs.snap.hub_graph import HubGraph, snap_together
from gaitway.graphs.snap.match_sets import choose_match_sets
from gaitway.papers import PaperOptions, run_paper
from gaitway.papers.snap_data import capture_sets
from gaitway.papers.snap_quality import audited, measure_cuts, sinks, slides
from shared_data import MOCAP, needs_mocap
from snap_walks import walk


@cache
def graph() -> HubGraph:
    motions = build_corpus([walk(), walk(1)])
    return snap_together(motions, choose_match_sets(motions, 1), rounds=0)


def test_all_cuts_are_measured_and_smooth():
    cuts = measure_cuts(graph())
    entering = sum(len(graph().leaving(edge.end)) for edge in graph().clips)
    assert len(cuts.pairs) == entering == len(cuts.turns) > 10
    assert cuts.gap < 1e-9
    assert 0.0 < cuts.turns.max() < 1.5 and 0.0 < cuts.roots.max() < 1.5


def test_feet_are_measured_in_the_source_and_in_the_clips():
    before, after = slides(graph())
    assert len(before) and len(after) and after.max() < 0.01
    source, result = sinks(graph())
    assert 0.0 <= result < 0.01 and source >= 0.0


def test_a_take_of_random_clips_passes_the_audit():
    report = audited(graph(), 3, walkers=2, length=6)
    assert report["continuity"].checked and report["continuity"].ok and report["skate"].ok


@needs_mocap
def test_captures_are_parted_into_sets():
    names = [one.name for one in capture_sets(MOCAP / "asfamc", quick=True)]
    assert names[0] == "one take" and names[-1] == "all"


@pytest.mark.slow
def test_the_paper_holds_on_the_built_in_cast():
    table = run_paper("snap", options=PaperOptions(quick=True))
    assert table.ok, table.notes
    assert [part for part, _ in table.parts] == ["graphs", "cuts and feet"]
    assert len(table.data) == 4 and {"hubs", "cut", "faults"} <= set(table.data[0])
    name, draw = table.pictures[1]
    picture = draw()
    assert name.endswith("-cuts") and isinstance(picture, Image.Image)
    assert np.asarray(picture).std() > 5.0
