"""Figure 9 of deformable motion: fields get denser, trees are compared, and claims are judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.papers.choi import (
    RADII,
    TreeRuns,
    cylinder_field,
    density,
    figure_claims,
    grown,
    lazy_roadmap,
    steered_walks,
)
from gaitway.papers.choi_boxes import BOXES, cross_boxes, moving_boxes
from gaitway.papers.choi_course import course, many_cylinders
from gaitway.world.exact import distance


def runs(tried: float, found: int) -> TreeRuns:
    return TreeRuns(np.full(4, tried), np.full(4, 9.0), found)


def test_the_density_is_the_share_that_cylinders_cover() -> None:
    world, random = cylinder_field(0.3, 5), np.random.default_rng(0)
    points = random.uniform((1.2, 1.2), (8.4, 8.4), (4000, 2))
    covered = float(np.mean(distance(world, points) < 0.0))
    assert covered == pytest.approx(density(0.3), abs=0.03)
    assert list(RADII) == sorted(RADII)


def test_claims_of_figure_9_are_judged() -> None:
    sparse = [(runs(90, 4), runs(80, 4))] * 3
    good = [*sparse, (runs(900, 3), runs(150, 4)), (runs(3000, 0), runs(800, 4)), (runs(3000, 0), runs(3000, 0))]
    assert [claim.holds for claim in figure_claims(good, judged=True)] == [True, True, True]
    bad = [(runs(80, 4), runs(90, 4))] * 3 + [(runs(900, 1), runs(300, 1))]
    assert [claim.holds for claim in figure_claims(bad, judged=True)] == [False, False, False]
    assert all("claimed" in claim.note for claim in figure_claims(bad, judged=False))


def test_trees_of_both_kinds_cross_a_sparse_field() -> None:
    choices = steered_walks("person")
    for deform in (False, True):
        found = grown(choices, RADII[0], deform, 1, 0)
        assert found.found == 1 and 5 < found.tried[0] < 500 and found.works


def test_a_roadmap_with_few_nodes_says_that_nothing_is_joined() -> None:
    roadmap, way = lazy_roadmap("person", 1, 8)
    assert way is None and len(roadmap.nodes) == 8
    assert all(edge.squeezed.fits for edge in roadmap.edges)


def test_the_course_has_no_way_around_anything() -> None:
    scene = course()
    _, low, _, high = scene.world.bounds
    across = [o for o in scene.world.obstacles if o.kind in ("jump", "duck", "crawl")]
    assert len(across) == 3
    for obstacle in across:
        _, y0, _, y1 = obstacle.shape.footprint().bounds
        assert y0 <= low and y1 >= high


def test_cylinders_leave_the_gaps_that_were_asked_for() -> None:
    for gap in (0.5, 0.45):
        centers = np.array([o.shape.footprint().points.mean(axis=0) for o in many_cylinders(gap).world.obstacles])
        row = np.sort(centers[np.abs(centers[:, 0] - 3.0) < 0.01][:, 1])
        assert np.diff(row) - 0.5 == pytest.approx(gap, abs=1e-3)


def test_the_course_has_blocks_that_are_climbed_and_jumped_onto() -> None:
    kinds = [o.kind for o in course().world.obstacles]
    assert "climb" in kinds and "box" in kinds and "climb" not in [o.kind for o in course(stairs=False).world.obstacles]


def test_jumps_follow_boxes_whose_heights_change() -> None:
    run = cross_boxes(moving_boxes(7))
    assert run.reason == "" and run.jumps == BOXES
    assert run.lift < 1e-9 and run.over == 0.0 and run.depth == 0.0
    clip, times = run.clips[1], run.times[1]
    source = load_cast("person").clips["jump_on_box"]
    # in flight, what was added to heights is a linear function of time: gravity stays as it is
    added = clip.root_positions[:, 2] - source.root_positions[:, 2]
    assert np.abs(np.diff(added[28:41], 2)).max() < 1e-9 < np.abs(np.diff(added, 2)).max()
    assert len(times) == len(clip)


def test_a_box_that_is_never_low_enough_is_waited_for_in_vain() -> None:
    floor, box, *_ = moving_boxes(7)
    run = cross_boxes((floor, replace(box, mean=0.9)))
    assert run.jumps == 0 and "never as high" in run.reason
