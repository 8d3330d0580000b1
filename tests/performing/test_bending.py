"""Bending a motion: it ends where it shall, feet stay where they are put, and both ends keep their poses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray, read_only
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts, stances
from gaitway.motion.editing import resample
from gaitway.motion.footskate import clean_footskate
from gaitway.motion.formats import load_clip
from gaitway.motion.quality import foot_slide
from gaitway.performing.arrival import _bending_kernels
from gaitway.performing.arrival.bending import bent, plan_bend
from gaitway.performing.arrival.bent_steps import HARDEST
from gaitway.performing.arrival.footwork import Footwork, footwork, laid
from knees import knee_speeds
from shared_data import MOCAP, needs_mocap

LACKS = st.tuples(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1), st.none() | st.floats(-0.15, 0.15))


@pytest.fixture(scope="module")
def person() -> Library:
    return load_cast("person", behaviors=["stand", "stop_walk", "stop_jog", "turn_left_45", "step_left", "crawl_stop"])


def bend_path_twin(
    path: FloatArray, shares: FloatArray, goal: FloatArray, ready: FloatArray, rounds: int
) -> FloatArray:
    """As the kernel, by whole arrays."""
    steps, grown, free = planar.relative(path[:-1], path[1:]), np.diff(shares)[:, None], 2 + int(goal[3])
    extra, out = np.zeros((len(steps), 3)), path
    for _ in range(rounds):
        lack = np.append(goal[:2] - out[-1, :2], planar.wrap_angle(goal[2] - out[-1, 2]))[:free]
        c, s, ahead = np.cos(out[:-1, 2]), np.sin(out[:-1, 2]), out[-1, :2] - out[:-1, :2]
        rows = [[c, -s, -ahead[:, 1]], [s, c, ahead[:, 0]], [0.0 * c, 0.0 * c, 0.0 * c + 1.0]]
        effect = np.array(rows).transpose(2, 0, 1)[:, :free]
        pull = np.einsum("fij,j,fkj->ik", effect * grown[..., None], ready, effect)
        extra += grown * ready * np.einsum("fij,i->fj", effect, np.linalg.solve(pull, lack))
        poses = [path[0]]
        for more, step in zip(extra, steps, strict=True):
            poses.append(planar.compose(planar.compose(poses[-1], more), step))
        out = np.array(poses)
    return out


@given(
    turns=st.lists(st.floats(-0.2, 0.2), min_size=4, max_size=20),
    lack=st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5)),
    asked=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_a_path_is_bent_as_by_its_twin(turns: list[float], lack: tuple[float, float, float], asked: bool) -> None:
    headings = np.cumsum([0.3, *turns])
    moved = 0.2 * np.column_stack([np.cos(headings[:-1]), np.sin(headings[:-1])])
    path = np.column_stack([np.vstack([[1.0, -2.0], np.array([1.0, -2.0]) + np.cumsum(moved, axis=0)]), headings])
    shares = np.linspace(0.0, 1.0, len(path)) ** 2
    goal = np.append(path[-1] + np.array(lack), float(asked))
    ready, out = np.array([1.0, 0.7, 0.4]), np.empty_like(path)
    left = _bending_kernels.bend_path(*map(read_only, (path, shares, goal, ready)), 12, out)
    assert left < 1e-8
    np.testing.assert_allclose(out[-1, :2], goal[:2], atol=1e-8)
    assert not asked or abs(planar.wrap_angle(out[-1, 2] - goal[2])) < 1e-8
    twin = bend_path_twin(path, shares, goal, ready, 12)
    twin[:, 2] = out[:, 2] + planar.wrap_angle(twin[:, 2] - out[:, 2])
    np.testing.assert_allclose(out, twin, atol=1e-6)


@pytest.mark.parametrize("name", ["stop_walk", "stop_jog", "turn_left_45", "step_left"])
@given(lack=LACKS)
@settings(max_examples=8, deadline=None)
def test_a_bent_motion_keeps_its_ends_and_its_feet(
    person: Library, name: str, lack: tuple[float, float, float | None]
) -> None:
    clip = person.clips[name]
    work = placed(clip)
    end = work.path[-1]
    heading = None if lack[2] is None else float(end[2] + lack[2])
    bend = plan_bend(work, (float(end[0] + lack[0]), float(end[1] + lack[1])), heading)
    assert bend is not None
    assume(bend.strain <= HARDEST)
    new = bent(clip, bend)
    np.testing.assert_allclose(new.planar_path()[-1, :2], end[:2] + lack[:2], atol=1e-6)
    assert heading is None or abs(new.planar_path()[-1, 2] - heading) < 1e-6
    for frame in (0, -1):
        np.testing.assert_allclose(
            rotations.angle_between(new.rotations[frame, 1:], clip.rotations[frame, 1:]), 0.0, atol=1e-6
        )
        assert new.root_positions[frame, 2] == pytest.approx(clip.root_positions[frame, 2])
    assert foot_slide(new).max() < foot_slide(clip).max() + 0.002
    assert np.abs(new.contact_positions()[..., 2] - clip.contact_positions()[..., 2])[clip.contacts].max() < 0.004


def test_feet_that_are_down_at_an_end_move_with_it(person: Library) -> None:
    clip = person.clips["stop_jog"]
    work = placed(clip)
    goal = work.path[-1] + [0.2, -0.1, 0.2]
    bend = plan_bend(work, (float(goal[0]), float(goal[1])), float(goal[2]))
    assert bend is not None
    whole = planar.compose(goal, planar.inverse(work.path[-1]))
    for stance, move in zip(bend.stances, bend.moves, strict=True):
        if stance.start == 0:
            np.testing.assert_allclose(move, 0.0, atol=1e-12)
        if stance.stop == len(work):
            np.testing.assert_allclose(move, whole, atol=1e-6)
    shares = [stance.share for stance in sorted(bend.stances, key=lambda s: s.start)]
    assert shares == sorted(shares), "later footfalls are moved no less"


def test_nothing_is_strained_that_is_not_bent(person: Library) -> None:
    work = placed(person.clips["stop_walk"])
    x, y, heading = work.path[-1].tolist()
    still, bend, far = (plan_bend(work, (x + d, y), heading) for d in (0.0, 0.1, 0.3))
    assert still is not None and bend is not None and far is not None
    assert still.strain < 1e-6 < bend.strain < far.strain


def test_what_does_not_step_cannot_be_bent(person: Library) -> None:
    assert plan_bend(placed(person.clips["stand"]), (0.1, 0.0)) is None
    assert footwork(person.clips["crawl_stop"]) is None, "hands and knees are no feet"


def test_motions_are_laid_one_after_another(person: Library) -> None:
    first, second = person.clips["turn_left_45"], person.clips["step_left"]
    works = [w for clip in (first, second) if (w := footwork(clip)) is not None]
    middle = planar.compose((1.0, 2.0, 3.0), works[0].path[-1])
    work = laid(works, [(1.0, 2.0, 3.0), tuple(middle.tolist())])
    assert len(work) == len(first) + len(second) - 1
    assert np.abs(np.diff(work.path, axis=0)).max() < 0.2, "no jump where they meet, in the heading neither"
    for leg in range(2):
        for start, stop in stances(work.down[:, leg]):
            track = work.ends[start:stop, leg]
            assert np.hypot(*(track - track[0]).T).max() < 0.15, "an ankle over a planted foot"


def test_wheels_are_steered_and_hooves_are_put() -> None:
    skater, horse = load_cast("skateboarder"), load_cast("horse", behaviors=["stop_gallop"])
    for clip, slack in ((skater.clips["stop"], 0.012), (horse.clips["stop_gallop"], 0.002)):
        work = placed(clip)
        x, y, heading = work.path[-1].tolist()
        bend = plan_bend(work, (x + 0.2, y + 0.1), heading + 0.05)
        assert bend is not None and bend.strain < 1.0
        new = bent(clip, bend)
        np.testing.assert_allclose(new.planar_path()[-1], [x + 0.2, y + 0.1, heading + 0.05], atol=1e-6)
        assert slides(new) < slides(clip) + slack


@needs_mocap
@pytest.mark.parametrize("name", ["Female1_B02_WalkToStand", "Female1_C02_RunToStand"])
def test_captured_motion_is_bent_without_slides_and_pops(name: str) -> None:
    clip = clean_footskate(detect_contacts(resample(load_clip(MOCAP / "bvh_accad" / f"{name}.bvh"), 30.0)))
    work = placed(clip)
    x, y, heading = work.path[-1].tolist()
    for dx, dy, turn in ((0.2, 0.0, 0.0), (-0.2, 0.1, 0.2), (0.1, -0.25, -0.2)):
        bend = plan_bend(work, (x + dx, y + dy), heading + turn)
        assert bend is not None
        new = bent(clip, bend)
        np.testing.assert_allclose(new.planar_path()[-1], [x + dx, y + dy, heading + turn], atol=1e-6)
        assert foot_slide(new).max() < 0.002
        assert knee_speeds(new).max() < 1.1 * knee_speeds(clip).max()


def placed(clip: Clip) -> Footwork:
    work = footwork(clip)
    assert work is not None
    return laid([work], [(3.0, 1.0, -2.0)])


def slides(clip: Clip) -> float:
    """The farthest that a contact point that does not roll moves while it is down [m]."""
    points, contacts = clip.contact_positions()[..., :2], clip.contacts
    assert contacts is not None
    tracks = [
        points[start:stop, column]
        for column, point in enumerate(clip.skeleton.contact_points)
        if not point.rolls
        for start, stop in stances(contacts[:, column])
    ]
    return max(float(np.hypot(*(track - track[0]).T).max()) for track in tracks)
