"""Plain tables out of takes, and PedPy reading them."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import TakeError
from gaitway.motion.clip import Clip
from gaitway.take import take_of
from take_makers import random_take


def test_dense_is_all_poses_in_runs():
    take = random_take(7, kinds=1)
    dense = take.dense()
    assert dense.names == take.names and dense.fps == take.fps
    assert len(dense.root) == dense.length.sum() == len(dense.rotations)
    begins = np.cumsum(dense.length) - dense.length
    for c in range(len(take)):
        frame = dense.start[c] + dense.length[c] // 2
        (pose,) = take.poses(frame / dense.fps, [c])
        row = begins[c] + dense.length[c] // 2
        np.testing.assert_allclose(dense.root[row], pose.root_positions[0], atol=1e-9)
        np.testing.assert_allclose(dense.rotations[row], pose.rotations[0], atol=1e-9)
        assert dense.start[c] / dense.fps >= take.start(c) - 1e-6
        assert (dense.start[c] + dense.length[c] - 1) / dense.fps <= take.ends[c] + 1e-6


def test_dense_of_several_skeletons_must_be_chosen():
    take = random_take(7)
    with pytest.raises(TakeError, match="2 different skeletons; choose one with skeleton=: 0 \\('kind-0'\\)"):
        take.dense()
    both = [take.dense(skeleton=i) for i in range(2)]
    assert {*both[0].names, *both[1].names} == set(take.names)
    assert both[1].rotations.shape[1] == len(take.skeletons[1])
    with pytest.raises(TakeError, match="no skeleton 5"):
        take.dense(skeleton=5)


def test_trajectories_are_the_root_paths():
    take = random_take(9)
    table = take.trajectories(15.0)
    assert len(table) == len(table.x) == len(table.behavior)
    for c in range(len(take)):
        mine = table.id == c
        assert (np.diff(table.frame[mine]) == 1).all()
        path = take.planar(table.frame[mine] / 15.0, [c])[0]
        np.testing.assert_allclose(np.column_stack([table.x, table.y, table.heading])[mine], path, atol=1e-9)
        names = [take.behavior_at(f / 15.0, [c])[0] or "" for f in table.frame[mine]]
        assert [b for b, chosen in zip(table.behavior, mine, strict=True) if chosen] == names


@pytest.mark.filterwarnings("ignore")
def test_pedpy_finds_the_speed(tmp_path):
    pedpy = pytest.importorskip("pedpy")
    import pandas as pd

    person = load_cast("person", behaviors=["stand"]).skeleton
    times, speed = np.arange(91) / 30.0, 1.25
    roots = np.column_stack([speed * times, np.zeros(91), np.ones(91)])
    slider = Clip(person, roots, rotations.identity(91, len(person)), 30.0, "slider")
    take = take_of([slider, slider], start_times=[0.0, 0.5])
    table = take.trajectories()
    with (tmp_path / "paths.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "frame", "x", "y", "heading", "behaviour"])
        writer.writerows(zip(table.id, table.frame, table.x, table.y, table.heading, table.behavior, strict=True))
    data = pedpy.TrajectoryData(pd.read_csv(tmp_path / "paths.csv"), frame_rate=table.fps)
    speeds = pedpy.compute_individual_speed(
        traj_data=data, frame_step=5, speed_calculation=pedpy.SpeedCalculation.BORDER_SINGLE_SIDED
    )
    assert set(speeds["id"]) == {0, 1}
    np.testing.assert_allclose(speeds["speed"], speed, atol=1e-4)
    assert speeds[speeds["id"] == 1]["frame"].min() == 15
