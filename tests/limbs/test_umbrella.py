"""The umbrella between posts: the problem is real, every seed solves it, and the paper's table says so."""

from __future__ import annotations

import numpy as np
import pytest

from figures import walking
from gaitway.bench import limbs as bench
from gaitway.core import rotations
from gaitway.core.errors import LimbError
from gaitway.limbs import find_limb
from gaitway.limbs.umbrella import GAP, UmbrellaProblem, carrying, umbrella_problem
from gaitway.papers import PaperOptions, run_paper, shapiro
from gaitway.papers.tables import Claim

WALK = walking(5.0, 30.0)


@pytest.fixture(scope="module")
def problem() -> UmbrellaProblem:
    return umbrella_problem(WALK)


def test_the_umbrella_is_upright_and_wider_than_the_gap(problem: UmbrellaProblem) -> None:
    clip, carried = carrying(WALK, find_limb(WALK.skeleton, "right_arm"))
    positions, world = clip.joint_transforms()
    wrist = find_limb(WALK.skeleton, "right_arm").joints[2]
    shaft = rotations.rotate(world[:, wrist], carried.ends[0] - carried.starts[0])
    assert shaft[:, 2] / np.linalg.norm(shaft, axis=1) == pytest.approx(1.0, abs=1e-4)
    rim = carried.ends[1:9]
    assert np.linalg.norm(rim[0] - rim[4]) > GAP
    feet = [WALK.skeleton.roles[f"{side}_ankle"] for side in ("left", "right")]
    assert positions[:, feet] == pytest.approx(WALK.joint_positions()[:, feet], abs=1e-6)
    assert problem.window.gaps().min() < -0.02


def test_every_seed_finds_a_way(problem: UmbrellaProblem) -> None:
    for seed in range(8):
        plan = problem.plan(seed)
        assert plan is not None
        assert problem.window.gaps(plan.offsets).min() >= 0.0049
        assert shapiro._exact_gap(problem, plan) > 0.0  # by the audit's distances
        assert shapiro._end_jump(problem, plan) < 1.5


def test_walks_that_do_not_fit() -> None:
    with pytest.raises(LimbError, match=r"walk 'walking' lasts 1\.0 s; the umbrella needs 3 s or more"):
        umbrella_problem(walking(1.0, 30.0))
    with pytest.raises(LimbError, match=r"does not touch posts 2\.00 m apart"):
        umbrella_problem(WALK, gap=2.0)
    with pytest.raises(LimbError, match="too short before or after the posts"):
        umbrella_problem(walking(3.0, 30.0, speed=0.2))


def test_the_table_of_the_paper() -> None:
    table = run_paper("shapiro", options=PaperOptions(quick=True))
    assert table.ok
    assert [title.split(":")[0] for title, _ in table.sections] == [
        "figures 1 and 4 (a, b)", "figure 4 (c, d) and section 7"
    ]  # fmt: skip
    assert table.sections[0][1][0]["solved"] == "5 of 5"
    assert {row["figure"] for row in table.data} == {"solved", "median_ms", "gap_m", "arms", "left"}
    held = shapiro._Umbrella("walk", 5, 4, [10.0] * 5, 0.01, 0.5, 1)
    arm = shapiro._Arms("walk", 2, 0, 100.0, 0)
    claims: list[Claim] = shapiro._claims([held], [arm], judged=True)
    assert [claim.holds for claim in claims] == [False, True, True, True, True]
    broken = shapiro._Umbrella("walk", 5, 5, [9000.0] * 5, -0.05, 9.0, 1)
    left = shapiro._Arms("walk", 1, 1, 100.0, 2)
    assert not any(claim.holds for claim in shapiro._claims([broken], [left], judged=True)[1:])


def test_the_benchmark_counts_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "RUNS", 2)
    walk = bench._long_walk()
    (row, way), note = bench._umbrella(walk)
    assert "2 of 2 solved" in note
    assert row.ours.median > way.ours.median > 0.0
    row, note = bench._body(walk)
    assert "a body of 22 capsules among 50 solids" in note
