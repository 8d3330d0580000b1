"""Pose distance: laws of alignment, the matrix against the plain closed form, minima tile by tile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from figures import walking
from gaitway.core import planar
from gaitway.core.errors import GraphError
from gaitway.graphs import _distance_kernels as kernels
from gaitway.graphs.clouds import BodyPoints, body_points, joined, point_clouds
from gaitway.graphs.distance import DISTANCE_STEP, aligning_moves, distances, pair_distances
from gaitway.graphs.minima import corpus_minima, first_least, local_minima
from gaitway.motion.editing import mirror, move, resample, slice_frames
from strategies import planar_poses

WALK = resample(walking(3.0, noise=0.004), 30.0)
CLOUDS = point_clouds(WALK)
OTHER = point_clouds(mirror(slice_frames(WALK, 5, 60)))


def plain_distance(a, i, b, j) -> float:
    """The paper's equations 1 to 4, term by term (our y for its z)."""
    p, q, w = a.points(i)[0], b.points(j)[0], a.weights
    x, y, u, v = p[:, 0], p[:, 1], q[:, 0], q[:, 1]
    mx, my, mu, mv = (float(w @ c) for c in (x, y, u, v))
    turn = np.arctan2(w @ (y * u - x * v) - (my * mu - mx * mv), w @ (x * u + y * v) - (mx * mu + my * mv))
    shift = mx - np.cos(turn) * mu + np.sin(turn) * mv, my - np.sin(turn) * mu - np.cos(turn) * mv
    moved = planar.transform_points([*shift, turn], q[:, :2])
    gap = np.column_stack([moved, q[:, 2]]) - p
    return float(np.sqrt(w @ np.sum(gap**2, axis=1)))


def test_matrix_is_the_papers_closed_form() -> None:
    matrix = distances(CLOUDS, OTHER)
    assert matrix.dtype == np.float32
    for i, j in ((0, 0), (10, 3), (40, 50), (len(CLOUDS) - 1, len(OTHER) - 1)):
        assert matrix[i, j] == pytest.approx(plain_distance(CLOUDS, i, OTHER, j), abs=2e-6)
        assert pair_distances(CLOUDS, i, OTHER, j)[0] == pytest.approx(plain_distance(CLOUDS, i, OTHER, j), abs=1e-9)


@pytest.mark.slow
@given(planar_poses())
@settings(max_examples=20, deadline=None)
def test_moving_a_clip_changes_no_distance(pose: np.ndarray) -> None:
    moved = point_clouds(move(WALK, pose))
    assert (
        np.abs(distances(moved, OTHER) - distances(CLOUDS, OTHER)).max() < 4e-5
    )  # of the smallest; others agree better
    assert np.diag(distances(CLOUDS, moved)).max() < 1e-9 + 1e-12 * np.abs(pose).max()


def test_symmetric_and_zero_on_itself() -> None:
    matrix = distances(CLOUDS, CLOUDS)
    assert np.array_equal(matrix, matrix.T) or np.abs(matrix - matrix.T).max() < 1e-6
    assert np.diag(matrix).max() < 1e-9
    assert matrix[0, 15] > 0.01


@given(planar_poses())
@settings(max_examples=20, deadline=None)
def test_aligning_carries_one_onto_the_other(pose: np.ndarray) -> None:
    moved = point_clouds(move(WALK, pose))
    found = aligning_moves(moved, [7, 30], CLOUDS, [7, 30])
    error = planar.relative(np.broadcast_to(pose, (2, 3)), found)
    assert np.abs(error).max() < 1e-7
    assert aligning_moves(moved, 7, CLOUDS, 7).shape == (3,)


def test_clips_in_blocks_are_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """To a step of the distances, should one lie between two steps."""
    whole = distances(CLOUDS, OTHER)
    monkeypatch.setattr("gaitway.graphs.distance.BLOCK", 17)
    parts = distances(CLOUDS, OTHER)
    assert np.abs(parts - whole).max() <= DISTANCE_STEP
    assert (parts != whole).mean() < 1e-3
    assert np.abs(distances(CLOUDS, CLOUDS) - distances(CLOUDS, point_clouds(WALK))).max() <= DISTANCE_STEP


def test_distances_are_whole_steps_and_their_sums_exact() -> None:
    matrix = distances(CLOUDS, OTHER).astype(np.float64)
    steps = matrix / DISTANCE_STEP
    assert np.array_equal(steps, np.rint(steps))
    exact = np.array([pair_distances(CLOUDS, np.full(len(OTHER), i), OTHER, np.arange(len(OTHER))) for i in (0, 31)])
    assert np.abs(matrix[[0, 31]] - exact).max() <= 0.51 * DISTANCE_STEP
    assert np.array_equal(matrix.sum(axis=1), matrix[:, ::-1].cumsum(axis=1)[:, -1])


def test_of_frames_that_are_equally_near_the_first_counts() -> None:
    """A motion and its copy elsewhere are equal but for rounding, which chooses nothing."""
    clouds = joined([CLOUDS, point_clouds(move(WALK, (37.0, -12.0, 2.0)))])
    assert np.abs(distances(clouds, clouds).diagonal(len(CLOUDS))).max() == 0.0
    found = corpus_minima(clouds, 0.01, 9)
    same = found.columns - found.rows == len(CLOUDS)
    assert found.rows[same].tolist() == [int(np.flatnonzero(CLOUDS.valid)[0])]
    assert first_least([3.0, 1.0 + 1e-12, 1.0], 1e-9) == 1
    assert first_least([np.inf, np.inf], 1e-9) == 0


def test_windows_count_speed() -> None:
    back = point_clouds(WALK)
    one = point_clouds(WALK, 0.0)
    assert one.window == 1
    assert one.valid.all()
    assert (~back.valid).sum() == 2 * back.half
    assert np.isinf(distances(back, back, ends=False)[0]).all()


def test_minima_against_a_plain_loop() -> None:
    rng = np.random.default_rng(3)
    matrix = np.round(rng.random((23, 31)), 1).astype(np.float32)  # many ties
    matrix[5:8] = np.inf
    found = local_minima(matrix, 0.5)
    wanted = []
    for i in range(23):
        for j in range(31):
            around = [
                (matrix[k, m], (k, m))
                for k in range(max(i - 1, 0), min(i + 2, 23))
                for m in range(max(j - 1, 0), min(j + 2, 31))
                if (k, m) != (i, j)
            ]
            least = all(v > matrix[i, j] or (v == matrix[i, j] and place > (i, j)) for v, place in around)
            if matrix[i, j] < 0.5 and least:
                wanted.append((i, j))
    assert list(zip(found.rows.tolist(), found.columns.tolist(), strict=True)) == wanted
    assert np.array_equal(found.distances, matrix[found.rows, found.columns])


@pytest.mark.parametrize("block", [13, 50, 4096])
def test_tiles_find_all_minima_of_the_whole(block: int) -> None:
    clouds = joined([CLOUDS, OTHER, point_clouds(move(WALK, (1.0, 2.0, 3.0)))])
    every = np.arange(len(clouds))
    exact = np.array([pair_distances(clouds, np.full(len(clouds), i), clouds, every) for i in every])
    exact[~clouds.valid] = exact[:, ~clouds.valid] = np.inf
    whole = local_minima(DISTANCE_STEP * np.rint(exact / DISTANCE_STEP), 0.08)
    wanted = {(i, j) for i, j in zip(whole.rows.tolist(), whole.columns.tolist(), strict=True) if i + 9 <= j}
    calls: list[tuple[int, int | None]] = []
    found = corpus_minima(clouds, 0.08, 9, block=block, progress=lambda what, done, total: calls.append((done, total)))
    places = list(zip(found.rows.tolist(), found.columns.tolist(), strict=True))
    assert len(wanted) > 10
    assert set(places) == wanted
    assert len(set(places)) == len(places)
    assert calls[-1][0] == calls[-1][1]


def test_kernels_against_numpy() -> None:
    rng = np.random.default_rng(0)
    re, im, h = (rng.normal(size=(5, 7)) for _ in range(3))
    own_a, own_b = 9.0 + rng.random(5), 9.0 + rng.random(7)
    valid = np.array([True, True, False, True, True])
    out = np.empty((5, 7), dtype=np.float32)
    kernels.to_distances(re, im, h, own_a, own_b, valid, np.ones(7, dtype=bool), 0.25, out)
    twin = 0.25 * np.rint(np.sqrt(own_a[:, None] + own_b - 2.0 * (np.hypot(re, im) + h)) / 0.25)
    twin[2] = np.inf
    assert np.array_equal(out, twin)
    rows, columns = np.empty((2, 2), dtype=np.int64)
    below = np.array([[0.5, 2.0, 0.1], [0.2, 3.0, 4.0]], dtype=np.float32)
    assert kernels.small_entries(below, 1.0, rows, columns) == 3
    assert (rows.tolist(), columns.tolist()) == ([0, 0], [0, 2])


def test_body_points_leave_out_fingers_and_double_feet() -> None:
    points = body_points(WALK.skeleton)
    assert (points.weights == 2.0).sum() >= 4
    names = [WALK.skeleton.names[j] for j in points.joints]
    assert "LeftFoot" in names
    assert not any("Finger" in name for name in names)


def test_bad_input() -> None:
    with pytest.raises(GraphError, match="has 3 frames; a window of 9 frames needs at least 5"):
        point_clouds(slice_frames(WALK, 0, 3))
    with pytest.raises(GraphError, match="must be 9 numbers above 0"):
        point_clouds(WALK, weights=[1.0, 2.0])
    with pytest.raises(GraphError, match="cannot be compared"):
        distances(CLOUDS, point_clouds(WALK, 0.05))
    with pytest.raises(GraphError, match="different weights"):
        distances(CLOUDS, point_clouds(WALK, weights=np.ones(9)))
    with pytest.raises(GraphError, match="at least one point"):
        BodyPoints(np.array([0]), np.zeros((1, 3)), np.array([0.0]))
    with pytest.raises(GraphError, match="no clips"):
        joined([])
