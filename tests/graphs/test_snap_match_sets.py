"""Match sets of toy distances, and of a walk."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import build_corpus
from gaitway.graphs.snap.match_sets import MatchSearch, choose_match_sets, speed_thresholds
from snap_walks import walk


def toy(rows: dict[int, list[float]], starts=(0, 6, 12), far: float = 9.0) -> np.ndarray:
    """A matrix in which some rows are given, and everything else is far."""
    count = starts[-1]
    matrix = np.full((count, count), far, dtype=np.float32)
    np.fill_diagonal(matrix, 0.0)
    for row, values in rows.items():
        matrix[row] = values
    return matrix


def test_it_takes_local_minima_of_each_motion_under_the_threshold():
    row = [5, 3, 0, 2, 4, 1.5, 6, 2, 3, 1, 1, 7]
    search = MatchSearch(toy({2: row}), np.array([0, 6, 12]), 1)
    assert search.around(2, 2.5).frames.tolist() == [2, 5, 7, 9]
    assert search.around(2, 1.8).frames.tolist() == [2, 5, 9]
    assert search.around(2, 0.5).frames.tolist() == [2]


def test_minima_do_not_see_the_next_motion():
    row = [0, 3, 3, 3, 3, 1.0, 0.5, 3, 3, 3, 3, 3]
    search = MatchSearch(toy({0: row}), np.array([0, 6, 12]), 1)
    assert search.around(0, 2.0).frames.tolist() == [0, 5, 6]


def test_spacing_goes_by_distance_and_not_by_time():
    row = [0, 3, 2.0, 3, 1.0, 3, 1.2, 3, 1.1, 3, 0.5, 3]
    search = MatchSearch(toy({0: row}), np.array([0, 12]), 3)
    found = search.around(0, 2.5)
    assert found.frames.tolist() == [0, 4, 10]  # 8 is too near to 10, 6 to 4, and 2 to both 0 and 4
    assert np.allclose(found.distances, [0.0, 1.0, 0.5])


def test_frames_that_are_taken_keep_others_away():
    row = [0, 3, 3, 3, 1.0, 3, 3, 3, 1.1, 3, 3, 3]
    search = MatchSearch(toy({0: row}), np.array([0, 12]), 3)
    assert search.around(0, 2.0, taken=[6]).frames.tolist() == [0]
    assert search.around(0, 2.0, taken=[11]).frames.tolist() == [0, 4, 8]
    with pytest.raises(GraphError, match="within 3 frames of a match frame"):
        search.around(5, 2.0, taken=[6])


def test_the_largest_set_wins_and_ties_go_to_the_lowest_mean():
    good, same, small = np.full(12, 9.0), np.full(12, 9.0), np.full(12, 9.0)
    good[[1, 5, 9]], same[[2, 6, 10]], small[[3, 8]] = (0, 0.2, 0.4), (0.5, 0, 0.6), (0, 0.1)
    search = MatchSearch(toy({1: good.tolist(), 6: same.tolist(), 3: small.tolist()}), np.array([0, 12]), 2)
    best = search.largest(1.0)
    assert best is not None and best.seed == 1 and best.frames.tolist() == [1, 5, 9]
    assert best.mean == pytest.approx(0.2)
    per_frame = np.full(12, 1.0)
    per_frame[1] = 0.0  # no seed
    second = search.largest(per_frame)
    assert second is not None and second.seed == 6
    third = search.largest(1.0, taken=[1, 5, 9])
    assert third is not None and third.seed == 3 and third.frames.tolist() == [3]


def test_nothing_is_left():
    assert MatchSearch(np.zeros((3, 3)), np.array([0, 3]), 5).largest(1.0, taken=[1]) is None


def test_wrong_input_is_refused():
    with pytest.raises(GraphError, match=r"shape \(2, 3\)"):
        MatchSearch(np.zeros((2, 3)), np.array([0, 2]), 1)
    with pytest.raises(GraphError, match="write 0 first and 4 last"):
        MatchSearch(np.zeros((4, 4)), np.array([0, 3]), 1)
    with pytest.raises(GraphError, match="match frames 0 frames apart"):
        MatchSearch(np.zeros((4, 4)), np.array([0, 4]), 0)
    with pytest.raises(GraphError, match="frame 4 of a corpus with frames 0 to 3"):
        MatchSearch(np.zeros((4, 4)), np.array([0, 4]), 1).around(4, 1.0)
    with pytest.raises(GraphError, match="at most 0 match sets"):
        choose_match_sets(build_corpus([walk()]), 0)


def test_a_walk_gives_one_match_frame_a_cycle():
    motions = build_corpus([walk(), walk(1)])
    sets = choose_match_sets(motions, 2)
    steps = np.diff(sets[0].frames[sets[0].frames < motions.starts[1]])
    assert len(sets) == 2 and len(sets[0]) >= 8
    assert 25 <= np.median(steps) <= 40  # a whole cycle of about a second
    together = np.sort(np.concatenate([s.frames for s in sets]))
    same = np.searchsorted(motions.starts, together[1:], side="right") == np.searchsorted(
        motions.starts, together[:-1], side="right"
    )
    assert np.diff(together)[same].min() >= 9
    assert speed_thresholds(motions).min() > 0.05
