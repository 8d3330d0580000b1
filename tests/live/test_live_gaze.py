"""Where live characters look and how they stand: legs and ways stay, nobody beside stands alike, states are whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gaitway
from gaitway.core import rotations
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.errors import GaitwayError
from gaitway.live.playing import _gaze_kernels as kernels
from gaitway.live.playing._gaze_kernels import GazeArrays
from gaitway.world import World
from gaze_twin import looked
from live_crowds import FRAME, crowd_in, walker

PLACES = [[1.2 * k, 0.0, 0.0] for k in range(4)]


def test_only_what_is_above_the_hips_changes() -> None:
    crowds = [crowd_in(upper_body=wanted) for wanted in (True, False)]
    for crowd in crowds:
        crowd.add([[0.0, 0.0, 0.0], [8.0, 0.6, np.pi]], [[9.0, 2.0], [-3.0, 0.0]])
        for _ in range(150):
            crowd.step(FRAME)
    looking, plain = (crowd.poses() for crowd in crowds)
    assert looking.root_positions.tobytes() == plain.root_positions.tobytes()
    turned = rotations.angle_between(looking.rotations, plain.rotations).max(axis=0)
    roles = walker().skeleton.roles
    legs = [roles[f"{side}_{part}"] for side in ("left", "right") for part in ("hip", "knee", "ankle", "toe")]
    assert turned[[0, *legs]].max() == 0.0
    assert turned[roles["head"]] > np.radians(1.0)


def test_heads_follow_smoothly_and_not_too_far() -> None:
    crowd = crowd_in()
    crowd.add(PLACES, [[9.0, 5.0], [-9.0, 5.0], [9.0, -5.0], [0.0, 9.0]])
    seen = []
    for _ in range(240):
        crowd.step(FRAME)
        seen.append(crowd._gaze.state[crowd.characters, kernels.YAW].copy())
    yaw = np.degrees(seen)
    assert np.abs(yaw).max() < 51.0
    speed = np.abs(np.diff(yaw, axis=0)) / FRAME
    assert 2.0 < speed.mean() < 20.0
    assert speed.max() < 160.0


def test_no_two_beside_one_another_stand_alike_and_all_live() -> None:
    crowd = crowd_in()
    crowd.add(PLACES, [place[:2] for place in PLACES])
    ways, poses = [], []
    for _ in range(240):
        crowd.step(FRAME)
        state = crowd._gaze.state[crowd.characters]
        ways.append(np.where(state[:, kernels.WEIGHT] > 0.0, state[:, kernels.WAY], -1.0))
        poses.append(crowd.poses().rotations.copy())
    for row in ways:
        beside = (row[:-1] >= 0.0) & (row[1:] >= 0.0)
        assert (row[:-1] != row[1:])[beside].all()
    assert (np.array(ways) > 0.0).any()
    roles = walker().skeleton.roles
    upper = [roles[role] for role in ("chest", "neck", "head", "left_shoulder", "left_elbow", "right_elbow")]
    turns = np.array(poses)[60:, :, upper]
    speeds = np.degrees(rotations.angle_between(turns[:-1], turns[1:])) / FRAME
    assert 3.0 < speeds.mean() < 20.0


def test_those_who_leave_leave_no_gaze_behind() -> None:
    crowd = crowd_in()
    (first,) = crowd.add([[0.0, 0.0, 0.0]], [[0.0, 9.0]]).tolist()
    for _ in range(60):
        crowd.step(FRAME)
    assert crowd._gaze.state[first].any()
    crowd.remove([first])
    (again,) = crowd.add([[0.0, 0.0, 0.0]], [[5.0, 0.0]]).tolist()
    assert again == first
    assert crowd._gaze.state[again, kernels.YAW] == 0.0


@pytest.mark.slow
def test_a_state_holds_where_all_look(tmp_path: Path) -> None:
    world = World((-12.0, -12.0, 12.0, 12.0))
    file = tmp_path / "a.gwlive"
    with gaitway.live(world) as crowd, gaitway.live(world) as other:
        crowd.add_many(PLACES, [[9.0, 5.0], [-9.0, 5.0], [1.2 * 2, 0.0], [0.0, 9.0]])
        for _ in range(45):
            crowd.step(FRAME)
        crowd.save(file)
        other.restore(file)
        for one in (crowd, other):
            for _ in range(15):
                one.step(FRAME)
        assert crowd.joints().rotations.tobytes() == other.joints().rotations.tobytes()
        state = crowd.state()
        state.arrays["gaze"][0, kernels.WAY] = 99.0
        with pytest.raises(GaitwayError, match="way to stand"):
            other.restore(state)


def test_the_kernel_agrees_with_a_plain_twin() -> None:
    """Walkers who meet, pass and arrive, one who stands among others, and empty places."""
    crowd = crowd_in()
    lanes = [-9.0, -6.0, -3.0, 3.0, 6.0]
    starts = [[side * 8.0, lane + 0.8 * (side > 0), 0.0 if side < 0 else np.pi] for lane in lanes for side in (-1, 1)]
    goals = [[-x, y] for x, y, _ in starts]
    still = [[0.0, 0.0, 0.0], [1.1, 0.0, 0.0], [0.0, -11.0, 0.0]]
    crowd.add([*starts, *still], [*goals, *([x, y] for x, y, _ in still)])
    crowd.remove([12])
    aims, ways = set[int](), set[int]()
    for frame in range(360):
        crowd.step(FRAME)
        if frame % 3 and frame > 20:
            continue
        crowd.settle()
        arrays, now = crowd._gaze._arrays, crowd.time + FRAME
        mine = GazeArrays(*(np.array(one) for one in arrays))
        state, turns, shown = looked(crowd._body.value, crowd._crowd, mine, now, FRAME)
        handles = crowd._body, crowd._crowd_handle, ArrayHandle(mine)
        kernels.draw_ways(*handles, now)
        for low, high in ((2, len(state)), (0, 2)):  # in any order
            kernels.look(*handles, now, FRAME, low, high)
        np.testing.assert_allclose(mine.state, state, atol=1e-9)
        count = len(state)
        assert np.array_equal(mine.channels.reshape(count, 7, 4)[..., 1] > 0.0, shown)
        samples = mine.samples.reshape(count, 7, 4)
        assert rotations.angle_between(samples[shown], turns[shown]).max() < 1e-3
        aims.update(state[crowd.characters, kernels.AIM_WHO].astype(int).tolist())
        ways.update(state[crowd.characters, kernels.WAY].astype(int).tolist())
    assert max(aims) >= 0, "somebody was looked at"
    assert len(ways) > 2
