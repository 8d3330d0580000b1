"""Who sits down, sits and gets up: exact by contact, balanced, within limits, from and to the standing pose."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core import planar, rotations
from gaitway.core.errors import SittingError
from gaitway.library.behavior import Library
from gaitway.library.size import sized
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place, slice_frames
from gaitway.motion.formats import load_clip
from gaitway.motion.limits import violations
from gaitway.motion.quality import velocity_changes
from gaitway.sitting import (
    CALLED,
    MANNERS,
    Seat,
    down_seconds,
    figure_of,
    get_up,
    sit,
    sit_down,
    standing_place,
    up_seconds,
    visit,
)
from gaitway.sitting.contacts import seat_contacts, sitting_problems, support_margin
from gaitway.sitting.figure import stand_of
from gaitway.sitting.hands import closest_points
from gaitway.sitting.holding import hold
from gaitway.sitting.idling import life
from gaitway.sitting.manners import OnThigh
from gaitway.sitting.settling import settle
from shared_data import MOCAP, needs_mocap

seats = st.builds(
    Seat,
    position=st.tuples(st.floats(-50.0, 50.0), st.floats(-50.0, 50.0)),
    yaw=st.floats(-4.0, 4.0),
    height=st.floats(0.38, 0.55),
    depth=st.floats(0.36, 0.6),
    width=st.floats(0.4, 2.0),
    backrest=st.booleans(),
    open_below=st.booleans(),
    floor=st.floats(-3.0, 12.0),
)


@cache
def person(size: float = 1.0) -> Library:
    library = load_cast("person")
    return library if size == 1.0 else sized(library, size)


def self_overlap(clip: Clip) -> tuple[float, str]:
    """How much deeper than when it stands a part of the body is in another that does not hang on it [m], and which."""
    body, parents = capsule_body(clip.skeleton), clip.skeleton.parents
    ends, worst, who = capsules(clip, body), 0.0, ""
    for a, b in itertools.combinations(range(len(body)), 2):
        first, second = int(body.joints[a]), int(body.joints[b])
        if first == second or parents[first] == second or parents[second] == first:
            continue
        own, other = closest_points(ends[:, a, 0], ends[:, a, 1], ends[:, b, 0], ends[:, b, 1])
        deep = body.radii[a] + body.radii[b] - np.linalg.norm(own - other, axis=-1)
        deeper = float(deep.max() - max(deep[0], 0.0))
        if deeper > worst:
            worst, who = deeper, f"{body.names[a]} in {body.names[b]} in frame {int(deep.argmax())}"
    return worst, who


def lean(body: Library | Clip, clip: Clip) -> np.ndarray:
    """The angle of the trunk away from upright [deg]."""
    figure, places = figure_of(body), clip.joint_positions()
    low, high = (0.5 * (places[:, figure.joint(f"left_{p}")] + places[:, figure.joint(f"right_{p}")])
                 for p in ("hip", "shoulder"))  # fmt: skip
    return np.degrees(np.arctan2(np.linalg.norm((high - low)[:, :2], axis=1), (high - low)[:, 2]))


def check(body: Library | Clip, seat: Seat, manner: str, seed: int, side: str = "front") -> None:
    """Assert all that holds of every visit."""
    made = visit(body, seat, 5.5, manner, seed, side)
    clip, (down, sat, up), figure = made.clip, made.spans, figure_of(body)
    assert sitting_problems(clip, seat, sat.first, sat.last) == []
    assert (down.first, down.last, sat.last, up.last) == (0, sat.first, up.first, len(clip) - 1)
    assert down.last == round(30.0 * down_seconds(seat, side)) and up.last - up.first == round(30.0 * up_seconds(seat))
    stand = stand_of(body) if isinstance(body, Library) else body
    for frame, where in ((0, side), (-1, "front")):  # the very pose that the library stands in
        wanted = place(stand, standing_place(body, seat, where))
        assert rotations.angle_between(clip.rotations[frame], wanted.rotations[0]).max() < 1e-9
        away = clip.root_positions[frame] - wanted.root_positions[0]
        assert np.abs(away[:2]).max() < 1e-9
        # raw captures stand on floors of their own height
        assert abs(away[2] - seat.floor) < (1e-9 if isinstance(body, Library) else 0.1)
    own = violations(slice_frames(clip, 0, 1))
    assert (violations(clip) - own).max() < 1.0
    changes = velocity_changes(clip)
    assert changes[:, :-1].max() < 5.0 and changes[:, -1].max() < 0.12
    # no jump into the first step, nor out of the last; captured knees may be straight, which bend at once
    assert changes[[0, -1], :-1].max() < (0.4 if isinstance(body, Library) else 0.8)
    free = seat_contacts(clip, seat).gap > 0.003
    if side == "front":
        margin = support_margin(clip, figure.masses(clip.joint_positions()))
        assert margin[free].min() > 0.0
    assert 26.0 < lean(body, clip)[: down.last].max() < 45.0


@given(
    seat=seats,
    seed=st.integers(0, 1000),
    manner=st.sampled_from(list(MANNERS)),
    size=st.sampled_from((0.92, 0.97, 1.0, 1.03, 1.08)),
    side=st.sampled_from(("front", "front", "left", "right")),
)
@settings(max_examples=4)
def test_every_visit_is_exact_by_contact(seat: Seat, seed: int, manner: str, size: float, side: str) -> None:
    check(person(size), seat, manner, seed, side)


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("height", [0.40, 0.46, 0.53])
def test_no_part_of_the_body_goes_into_another(manner: str, height: float) -> None:
    made = visit(person(), Seat((0.0, 0.0), 0.0, height), 5.5, manner, 3)
    deepest, who = self_overlap(made.clip)
    assert deepest < 0.0105, who


@pytest.mark.parametrize("side", ["left", "right"])
def test_who_turns_does_not_stumble_over_its_own_feet(side: str) -> None:
    made = visit(person(), Seat((0.0, 0.0), 0.0, 0.45), 1.0, side=side)
    deepest, who = self_overlap(made.clip)
    assert deepest < 0.0105, who
    turn = planar.wrap_angle(np.diff(made.clip.headings())).sum()
    assert np.isclose(turn, {"left": -0.5 * np.pi, "right": 0.5 * np.pi}[side], atol=1e-6)
    assert sum((made.clip.contacts[:, c]).all() for c in range(6)) == 0  # both feet step


@pytest.mark.parametrize("height", [0.38, 0.46, 0.55])
def test_hands_lie_on_thighs_and_not_in_them(height: float) -> None:
    made, figure = visit(person(), Seat((0.0, 0.0), 0.0, height), 3.0), figure_of(person())
    ends = capsules(made.clip, figure.body)[made.spans[1].first : made.spans[1].last]
    for side in ("left", "right"):
        hand, thigh = (figure.body.names.index(f"{side}_{part}") for part in ("hand", "hip"))
        own, other = closest_points(ends[:, hand, 0], ends[:, hand, 1], ends[:, thigh, 0], ends[:, thigh, 1])
        gap = np.linalg.norm(own - other, axis=-1) - figure.body.radii[hand] - figure.body.radii[thigh]
        assert np.abs(gap).max() < 0.01


def test_manners_differ_and_only_feet_that_are_lifted_move() -> None:
    seat, frames = Seat((0.0, 0.0), 0.0, 0.42), {}
    for manner in MANNERS:
        made = visit(person(), seat, 6.0, manner, 1)
        assert made.manners[0][0] == made.manners[-1][0] == "upright"
        frames[manner] = made.clip.joint_positions()[made.spans[1].first + 70]
    for one, two in itertools.combinations(frames.values(), 2):
        assert np.linalg.norm(one - two, axis=-1).max() > 0.02
    assert isinstance(MANNERS["upright"].left, OnThigh)


@pytest.mark.parametrize("manner", ["upright", "ankles crossed", "arms crossed"])
def test_a_loop_has_no_seam(manner: str) -> None:
    loop = sit(person(), Seat((1.0, 2.0), 2.0, 0.44), 9.0, manner, 4)
    assert len(loop) == 271
    assert np.abs(rotations.to_matrix(loop.rotations[0]) - rotations.to_matrix(loop.rotations[-1])).max() < 1e-9
    assert np.abs(loop.root_positions[0] - loop.root_positions[-1]).max() < 1e-12
    twice = np.concatenate([loop.rotations[-4:-1], loop.rotations[:4]])
    seam = Clip(loop.skeleton, np.concatenate([loop.root_positions[-4:-1], loop.root_positions[:4]]), twice, loop.fps)
    assert velocity_changes(seam)[:, :-1].max() < 0.1
    moving = np.abs(np.diff(loop.joint_positions(), axis=0)).max(axis=(1, 2)) * loop.fps
    assert moving.max() > 0.02 and np.median(moving) > 0.002  # it lives
    assert sitting_problems(loop, Seat((1.0, 2.0), 2.0, 0.44), 0, len(loop) - 1) == []


@given(seconds=st.floats(4.0, 20.0), seed=st.integers(0, 1000))
@settings(max_examples=8)
def test_life_begins_and_ends_at_rest(seconds: float, seed: int) -> None:
    count = round(3000.0 * seconds)  # a fine rate, so that slopes are seen
    found = life(count, 3000.0, np.random.default_rng(seed))
    for part in (found.pelvis, found.chest, found.head):
        assert np.abs(part[[0, -1]]).max() < 1e-9
        assert np.abs(np.diff(part, axis=0)[[0, -1]]).max() * 3000.0 < np.radians(0.3)
    assert np.ptp(found.head[:, 0]) > np.radians(0.1)


def test_seats_of_one_shape_are_worked_out_once() -> None:
    here, there = (settle(figure_of(person()), Seat((x, 2.0), 0.1 * x, 0.45)) for x in (1.0, 30.0))
    assert hold(here, MANNERS["arms crossed"]) is hold(there, MANNERS["arms crossed"])
    assert here.seat != there.seat and here.way is there.way


def test_parts_are_those_of_a_visit_and_seeds_count() -> None:
    seat = Seat((0.0, 0.0), 0.0, 0.45)
    first, second, other = (visit(person(), seat, 9.0, None, seed) for seed in (5, 5, 6))
    assert np.array_equal(first.clip.rotations, second.clip.rotations)
    assert not np.array_equal(first.clip.rotations, other.clip.rotations[: len(first.clip)])
    down, up = sit_down(person(), seat, 5), get_up(person(), seat, 5)
    assert np.abs(down.rotations[-1] - up.rotations[0]).max() < 1e-6  # both are the rest between them
    assert len(down) == first.spans[0].last + 1


@pytest.mark.slow
@settings(max_examples=2)
@given(seed=st.integers(0, 1000))
def test_long_sits_change_their_manner(seed: int) -> None:
    seat = Seat((0.0, 0.0), 0.0, 0.45)
    made = visit(person(), seat, 120.0, None, seed)
    names = [name for name, _ in made.manners]
    assert len(names) >= 4 and all(a != b for a, b in itertools.pairwise(names))
    assert sitting_problems(made.clip, seat, made.spans[1].first, made.spans[1].last) == []
    assert violations(made.clip).max() < 1.0


def standing_frame(clip: Clip) -> Clip:
    """The stillest frame in which the hips are high."""
    places, roles = clip.joint_positions(), clip.skeleton.roles
    speed = np.abs(np.diff(places, axis=0)).max(axis=(1, 2))
    hips = 0.5 * (places[:-1, roles["left_hip"], 2] + places[:-1, roles["right_hip"], 2])
    frame = 2 + int(np.argmin(speed[2:] + 10.0 * (hips[2:] < hips.max() - 0.04)))
    return slice_frames(clip, frame, frame + 1)


@needs_mocap
@pytest.mark.parametrize("name", ["bvh/69_18.bvh", "bvh/79_69.bvh", "bvh_max/131_01.bvh",
                                  "bvh_accad/Female1_B01_StandToWalk.bvh"])  # fmt: skip
@pytest.mark.parametrize(
    ("height", "manner"), [(0.38, "upright"), (0.47, "forearms on thighs"), (0.55, "arms crossed")]
)
def test_captured_rigs_sit(name: str, height: float, manner: str) -> None:
    check(standing_frame(load_clip(MOCAP / name)), Seat((3.0, -1.0), 0.4, height), manner, 1)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: Seat((0.0, 0.0), height=0.3), "height 0.3 m; write 0.38 to 0.55"),
        (lambda: Seat((0.0, 0.0), height=0.6), "height 0.6 m; write 0.38 to 0.55"),
        (lambda: Seat((0.0, 0.0), depth=0.1), "depth 0.1 m; write 0.25 to 2"),
        (lambda: Seat((0.0, 0.0), width=0.1), "width 0.1 m; write 0.3 to 50"),
        (lambda: Seat((float("nan"), 0.0)), "x is nan; write a finite number"),
        (lambda: visit(person(), Seat((0.0, 0.0)), 0.2), "0.2 seconds to sit; write 1 to 3600"),
        (lambda: visit(person(), Seat((0.0, 0.0)), 5.0, "uprigth"), "did you mean 'upright'"),
        (lambda: visit(person(), Seat((0.0, 0.0)), 5.0, side="lift"), "did you mean 'left'"),
        (lambda: sit(person(), Seat((0.0, 0.0)), 1.0), "a loop of 1.0 seconds; write 4 to 3600"),
        (lambda: visit(load_cast("horse"), Seat((0.0, 0.0))), "cannot sit: it has no joint known as"),
        (lambda: visit(person(0.8), Seat((0.0, 0.0), height=0.55)), "too high for skeleton 'person'"),
        (lambda: figure_of(load_cast("person").clips["crawl_forward"]), "does not begin in a standing pose"),
    ],
)
def test_bad_input_is_told_in_one_line(act, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SittingError) as problem:
        act()
    assert words in str(problem.value) and "\n" not in str(problem.value)


@pytest.mark.parametrize("manner", ["upright", "arms crossed"])
def test_who_is_called_away_gets_up_sooner_and_does_the_same_before(manner: str) -> None:
    person, seat = load_cast("person"), Seat((0.0, 0.0), 0.3)
    whole = visit(person, seat, 20.0, manner, seed=5)
    called = visit(person, seat, 20.0, manner, seed=5, until=9.0)
    same = called.spans[1].last - round(CALLED * 30.0)
    assert called.clip.duration == pytest.approx(whole.clip.duration - 11.0)
    assert np.allclose(called.clip.rotations[:same], whole.clip.rotations[:same], atol=1e-9)
    assert np.allclose(called.clip.rotations[-1], whole.clip.rotations[-1], atol=1e-9)
    assert sitting_problems(called.clip, seat, called.spans[1].first, called.spans[1].last) == []
    sudden = [np.abs(np.diff(made.clip.joint_positions(), n=2, axis=0)).max() for made in (whole, called)]
    assert sudden[1] < 1.3 * sudden[0]
    later = visit(person, seat, 20.0, manner, seed=5, until=40.0)
    assert np.array_equal(later.clip.rotations, whole.clip.rotations)
