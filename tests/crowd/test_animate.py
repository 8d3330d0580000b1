"""Bodies along trajectories: roots on their tracks, feet that stand still, and gaits that fit the speed."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shared_data import MOCAP

from gaitway.audit import audit_take
from gaitway.core import planar
from gaitway.core.errors import CrowdError
from gaitway.crowd.locomotion import animate
from gaitway.crowd.locomotion.space import person_space
from gaitway.crowd.locomotion.steering import smooth, steered
from gaitway.crowd.trajectories import Trajectories, joined
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import contact_slip, stances
from gaitway.take.model import Take

FPS = 25.0
PEDESTRIANS = MOCAP.parent / "pedestrians"


def line(velocity: tuple[float, float], seconds: float, heading: float | None = None) -> np.ndarray:
    times = np.arange(round(seconds * FPS) + 1) / FPS
    path = times[:, None] * np.array(velocity)
    return path if heading is None else np.column_stack([path, np.full(len(path), heading)])


def spot_turn(seconds: float) -> np.ndarray:
    times = np.arange(round(seconds * FPS) + 1) / FPS
    return np.column_stack([np.zeros((len(times), 2)), 1.2 * np.clip(times - 1.0, 0.0, 2.0)])


def start_and_stop() -> np.ndarray:
    times = np.arange(round(6.0 * FPS) + 1) / FPS
    speed = 1.3 * np.interp(times, [0.0, 1.0, 2.0, 3.5, 4.5, 6.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    return np.column_stack([np.cumsum(speed) / FPS, np.zeros(len(times))])


WAYS = {
    "walk": line((1.3, 0.0), 4.0),
    "slow": line((0.4, 0.0), 5.0),
    "shuffle": line((0.12, 0.0), 6.0),
    "aside": line((0.0, 0.45), 4.0, heading=0.0),
    "back": line((-0.6, 0.0), 4.0, heading=0.0),
    "jog": line((2.7, 0.0), 3.0),
    "turn": spot_turn(5.0),
    "start": start_and_stop(),
    "stand": line((0.0, 0.0), 5.0),
}


@pytest.fixture(scope="module")
def tracks() -> Trajectories:
    apart = [path + np.array([0.0, 5.0 * i, 0.0][: path.shape[1]]) for i, path in enumerate(WAYS.values())]
    return joined(FPS, list(WAYS), [10 * i for i in range(len(WAYS))], apart)


@pytest.fixture(scope="module")
def take(tracks: Trajectories) -> Take:
    return animate(tracks, person_space(("neutral", "style-6")), 1)


def clip_of(take: Take, name: str) -> Clip:
    return take.clips[take.segments.clip[take.rows[take.names.index(name)]]]


def swings(clip: Clip) -> list[tuple[int, int, int]]:
    """Return foot, first frame and end of every swing between two stances."""
    out = []
    for foot in range(2):
        on = clip.contacts[:, 3 * foot : 3 * foot + 3].any(axis=1)
        out += [(foot, a, b) for a, b in stances(~on) if a > 0 and b < len(clip)]
    return out


def test_roots_stay_within_five_centimetres_of_their_tracks(tracks: Trajectories, take: Take) -> None:
    paths = steered(tracks, take.fps)
    for person, name in enumerate(tracks.names):
        root = clip_of(take, name).root_positions[:, :2]
        wanted = paths.path[paths.rows[person] : paths.rows[person + 1], :2]
        assert np.linalg.norm(root - wanted, axis=1).max() < 0.05, name
        assert np.linalg.norm(wanted[5:-5] - _raw(tracks, person, paths, take.fps)[5:-5], axis=1).max() < 0.05, name


def _raw(tracks: Trajectories, person: int, paths: object, fps: float) -> np.ndarray:
    count = paths.rows[person + 1] - paths.rows[person]  # type: ignore[attr-defined]
    at = (paths.firsts[person] + np.arange(count)) / fps  # type: ignore[attr-defined]
    places = tracks.positions[tracks.rows(person)]
    return np.column_stack([np.interp(at, tracks.times(person), places[:, i]) for i in range(2)])


def test_resting_feet_do_not_move_and_somebody_always_stands_on_one(take: Take) -> None:
    for name in take.names:
        clip = clip_of(take, name)
        assert contact_slip(clip) < 1e-4, name
        if name != "jog":
            assert clip.contacts.any(axis=1).mean() > 0.98, name


def test_the_audit_finds_nothing(take: Take) -> None:
    report = audit_take(take)
    assert report.ok, [v.words() for v in report.violations]


def test_resting_points_lie_on_the_floor_and_nothing_below_it(take: Take) -> None:
    for name in take.names:
        clip = clip_of(take, name)
        heights = clip.contact_positions()[:, :6, 2]
        assert np.abs(heights[clip.contacts[:, :6]]).max() < 0.002, name
        assert heights.min() > -0.004, name


def test_legs_are_no_longer_than_they_are_and_knees_bend_forward_only(take: Take) -> None:
    for name in take.names:
        clip = clip_of(take, name)
        for side in ("left", "right"):
            knee = clip.rotations[:, clip.skeleton.roles[f"{side}_knee"]]
            flexion = planar.wrap_angle(2.0 * np.arctan2(knee[:, 2], knee[:, 0]))
            assert flexion.min() > 0.02 and np.abs(knee[:, [1, 3]]).max() < 1e-5, name


def test_knees_do_not_pop(take: Take) -> None:
    """Changes of the knees' speed stay near those of the person's own walk."""
    from gaitway.audit.sources import turn_steps
    from gaitway.cast.catalog import load_cast

    joints = [take.skeletons[0].roles[role] for role in ("left_knee", "right_knee", "left_hip", "right_hip")]
    own = load_cast("person", behaviors=("walk_forward", "start_walk", "stop_walk", "turn_left_90"))
    most = max(float(turn_steps(clip)[:, joints].max()) for clip in own.clips.values())
    for name in ("walk", "slow", "shuffle", "aside", "turn", "stand", "start"):
        assert turn_steps(clip_of(take, name))[:, joints].max() < 1.5 * most, name


def test_who_stands_moves_but_never_steps(take: Take) -> None:
    clip = clip_of(take, "stand")
    assert clip.contacts[:, :6].all()
    head = clip.joint_positions()[:, clip.skeleton.roles["head"]]
    assert 0.002 < np.linalg.norm(head - head[0], axis=1).max() < 0.12


def test_steps_are_quick_whatever_the_speed(take: Take) -> None:
    for name in ("walk", "slow", "shuffle", "aside", "back", "turn"):
        found = swings(clip_of(take, name))
        assert len(found) >= 4, name
        assert max(b - a for _, a, b in found) / take.fps < 0.62, name


@pytest.mark.parametrize(("name", "low", "high"), [("walk", 1.2, 1.6), ("slow", 0.4, 0.8), ("shuffle", 0.05, 0.35)])
def test_strides_fit_the_speed(take: Take, name: str, low: float, high: float) -> None:
    clip = clip_of(take, name)
    ankles = clip.joint_positions()[:, clip.skeleton.require("left_ankle", "right_ankle"), :2]
    strides = [float(np.linalg.norm(ankles[b, foot] - ankles[a - 1, foot])) for foot, a, b in swings(clip)]
    assert low < np.median(strides) < high


def test_feet_never_cross_when_one_goes_aside(take: Take) -> None:
    clip = clip_of(take, "aside")
    left, right = (clip.joint_positions()[:, clip.skeleton.roles[f"{s}_ankle"], 1] for s in ("left", "right"))
    assert (left - right).min() > 0.07


def test_trunks_face_where_they_are_told_to(take: Take) -> None:
    for name in ("aside", "back"):
        assert np.abs(planar.wrap_angle(clip_of(take, name).headings())).mean() < np.radians(12.0), name
    turned = clip_of(take, "turn").headings()
    assert turned[-1] - turned[0] == pytest.approx(2.4, abs=0.25)


def test_trunks_face_the_way_that_they_go_where_nobody_told_them() -> None:
    times = np.arange(0.0, 6.0, 1.0 / FPS)
    angle = 0.4 * times
    circle = 3.0 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])
    clip = animate(joined(FPS, ["round"], [0], [circle]), person_space(("neutral",))).clips[0]
    wanted = np.interp(np.arange(len(clip)) / 30.0, times, angle)
    off = planar.wrap_angle(clip.headings() - wanted)
    assert np.abs(off).mean() < np.radians(8.0)
    assert contact_slip(clip) < 1e-4


def test_who_sways_in_a_jam_does_not_turn_about() -> None:
    times = np.arange(0.0, 20.0, 1.0 / FPS)
    path = np.column_stack([0.08 * times + 0.06 * np.sin(2.0 * times), 0.05 * np.cos(1.7 * times)])
    heading = steered(joined(FPS, ["p"], [0], [path]), 30.0).path[:, 2]
    assert np.abs(planar.wrap_angle(heading)).max() < np.radians(60.0)


def test_the_same_seed_is_the_same_take_and_another_one_is_not() -> None:
    walk = joined(FPS, ["a", "b"], [0, 0], [line((1.2, 0.0), 2.0), line((1.2, 0.0), 2.0) + np.array([0.0, 3.0])])
    space = person_space(("neutral", "style-6"))
    one, two, other = (animate(walk, space, seed) for seed in (4, 4, 5))
    for a, b, c in zip(one.clips, two.clips, other.clips, strict=True):
        assert np.array_equal(a.rotations, b.rotations) and np.array_equal(a.root_positions, b.root_positions)
        assert not np.array_equal(a.rotations, c.rotations)
    assert not np.array_equal(one.clips[0].rotations, one.clips[1].rotations)


def test_arms_are_tucked_when_somebody_is_near() -> None:
    walk = joined(FPS, ["a"], [0], [line((0.8, 0.0), 3.0)])
    space = person_space(("neutral",))
    hands = []
    for close in (0.0, 1.0):
        clip = animate(walk, space, 0, close=np.full(len(walk.headings), close)).clips[0]
        places = clip.joint_positions()
        wrists = places[:, clip.skeleton.require("left_wrist", "right_wrist")] - places[:, :1]
        hands.append((np.ptp(wrists[..., 1].mean(axis=1)), np.abs(wrists[..., 1]).max(), np.ptp(wrists[:, 0, 0])))
    assert hands[1][1] < hands[0][1] - 0.03  # narrower
    assert hands[1][2] < 0.5 * hands[0][2]  # and they hardly swing
    near = joined(FPS, ["a", "b"], [0, 0], [line((0.8, 0.0), 3.0), line((0.8, 0.0), 3.0) + np.array([0.0, 0.45])])
    both = animate(near, space, 0).clips[0]
    alone = animate(walk, space, 0).clips[0]
    arm = both.skeleton.roles["left_elbow"]
    assert np.abs(both.rotations[30:, arm] - alone.rotations[30:, arm]).max() > 0.1


def test_a_track_of_one_frame_stands_there() -> None:
    take = animate(joined(FPS, ["p"], [7], [np.array([[1.0, 2.0]])]), person_space(("neutral",)))
    clip = take.clips[0]
    assert len(clip) == 2 and clip.contacts[:, :6].all()
    assert np.linalg.norm(clip.root_positions[:, :2] - [1.0, 2.0], axis=1).max() < 0.05


def test_speeds_beyond_the_library_are_counted_and_feet_still_stand() -> None:
    fast = joined(FPS, ["p"], [0], [line((5.5, 0.0), 2.0)])
    take = animate(fast, person_space(("neutral",)))
    assert take.facts["locomotion"]["clamped"] > 0.9 * len(take.clips[0])
    assert contact_slip(take.clips[0]) < 1e-4
    slow = animate(joined(FPS, ["p"], [0], [line((1.0, 0.0), 2.0)]), person_space(("neutral",)))
    assert slow.facts["locomotion"]["clamped"] == 0


def test_other_rates_show_the_same_walk() -> None:
    walk = joined(FPS, ["a"], [0], [line((1.2, 0.0), 3.0)])
    for fps in (24.0, 60.0):
        clip = animate(walk, person_space(("neutral",)), fps=fps).clips[0]
        assert clip.fps == fps and contact_slip(clip) < 1e-4
        assert 4 <= len(swings(clip)) <= 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fps": 0.0}, "write a rate of 1 to 240"),
        ({"close": np.zeros(3)}, "give a number 0 to 1 for each of 26 rows"),
        ({"close": np.full(26, 1.5)}, "give a number 0 to 1"),
        ({"library": "zebra"}, "write 'person'"),
    ],
)
def test_wrong_arguments_are_said(change: dict[str, object], words: str) -> None:
    walk = joined(FPS, ["a"], [0], [line((1.0, 0.0), 1.0)])
    with pytest.raises(CrowdError, match=words):
        animate(walk, **{"library": person_space(("neutral",)), **change})  # type: ignore[arg-type]


def test_nobody_and_too_many_are_said() -> None:
    with pytest.raises(CrowdError, match="nobody"):
        animate(joined(FPS, [], [], []), person_space(("neutral",)))
    hours = Trajectories(
        fps=0.01, names=("a",), starts=np.zeros(1, dtype=np.int64), lengths=np.array([6000]),
        positions=np.zeros((6000, 2)), headings=np.zeros(6000),
    )  # fmt: skip
    with pytest.raises(CrowdError, match="GB of poses at 30 Hz"):
        animate(hours, person_space(("neutral",)))


@pytest.mark.slow
@pytest.mark.skipif(not PEDESTRIANS.exists(), reason="needs tracked people")
def test_tracked_people_walk_as_bodies() -> None:
    """People of a bottleneck experiment: roots on the smoothed tracks, feet still, nothing jerks."""
    table = np.loadtxt(PEDESTRIANS / "040_c_56_h-.txt")
    names, starts, paths = [], [], []
    for who in np.unique(table[:, 0])[:20]:
        rows = table[(table[:, 0] == who) & (table[:, 1] < 25 * 25)]
        names.append(f"p{who:g}")
        starts.append(int(rows[0, 1]))
        paths.append(smooth(rows[:, 2:4], 0.45 * 25.0))
    tracks = joined(25.0, names, starts, paths)
    take = animate(tracks, "person", 0)
    steered_paths = steered(tracks, 30.0)
    for person, clip in enumerate(take.clips):
        wanted = steered_paths.path[steered_paths.rows[person] : steered_paths.rows[person + 1], :2]
        assert np.linalg.norm(clip.root_positions[:, :2] - wanted, axis=1).max() < 0.05
        assert contact_slip(clip) < 1e-4
    report = audit_take(take)
    assert all(row.ok for row in report.rows if row.name != "penetration_characters"), [
        (row.name, row.violations[0].words()) for row in report.rows if not row.ok
    ]
