"""The check of who sits finds what is wrong, and only that."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import SittingError
from gaitway.motion.clip import Clip
from gaitway.sitting import Seat, Visit, figure_of, standing_place, visit
from gaitway.sitting.contacts import seat_contacts, sitting_problems, support_margin
from gaitway.sitting.seat import box_distance
from gaitway.take import assemble, lay_track
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

SEAT = Seat((2.0, 1.0), 0.8, 0.44, backrest=True)


@cache
def made() -> Visit:
    return visit(load_cast("person"), SEAT, 4.0)


def problems(clip: Clip, seat: Seat = SEAT) -> list[str]:
    span = made().spans[1]
    return sitting_problems(clip, seat, span.first, span.last)


def moved(x: float, y: float, z: float) -> Clip:
    clip = made().clip
    return replace(clip, root_positions=clip.root_positions + np.array([x, y, z]))


def test_a_visit_is_clean_and_what_floats_or_sinks_is_not() -> None:
    assert problems(made().clip) == []
    (floats,) = problems(moved(0.0, 0.0, 0.03))
    assert "mm above the seat" in floats
    (sinks,) = problems(moved(0.0, 0.0, -0.02))
    assert "inside the seat" in sinks
    assert any("the pelvis is not over the seat" in line for line in problems(moved(-1.0, 1.0, 0.0)))


def test_the_depth_is_that_of_a_move() -> None:
    before, after = (seat_contacts(clip, SEAT) for clip in (made().clip, moved(0.0, 0.0, -0.015)))
    sat = slice(made().spans[1].first, made().spans[1].last)
    assert np.allclose(after.gap[sat], before.gap[sat] - 0.015, atol=2e-3)
    assert set(after.part[sat]) <= {"pelvis", "left_hip", "right_hip"}


def test_feet_that_slide_are_found() -> None:
    clip, span = made().clip, made().spans[1]
    away = np.zeros((len(clip), 3))
    away[span.first :, 1] = np.minimum(np.arange(len(clip) - span.first) * 1e-4, 0.009)
    assert any(
        "a planted foot slides 9 mm" in line
        for line in problems(replace(clip, root_positions=clip.root_positions + away))
    )


def test_a_backrest_is_solid() -> None:
    near = replace(SEAT, depth=0.27)
    assert any("inside the seat" in line for line in problems(made().clip, near))


@pytest.mark.parametrize(
    ("manner", "side", "height"),
    [("upright", "left", 0.45), ("ankles crossed", "front", 0.40), ("forearms on thighs", "right", 0.52),
     ("feet apart", "front", 0.45)],
)  # fmt: skip
def test_the_audit_of_a_take_finds_nothing_with_the_seat_as_an_obstacle(manner: str, side: str, height: float) -> None:
    seat, person = Seat((4.0, 2.0), 1.57, height, width=1.5), load_cast("person")
    stand, clip = person.clips["stand"], visit(person, seat, 5.0, manner, 3, side).clip
    take = assemble([lay_track("ada", [stand, clip, stand], tuple(standing_place(person, seat, side)))])
    middle = seat.pose[:2] - 0.5 * seat.depth * np.array([np.cos(seat.yaw), np.sin(seat.yaw)])
    bench = Box((float(middle[0]), float(middle[1])), (seat.depth, seat.width), height, seat.yaw)
    report = audit_take(take, World((-5.0, -5.0, 10.0, 10.0), (Obstacle(bench, name="bench"),)))
    assert [row.violations[0] for row in report.rows if row.violations and row.decides] == []
    assert next(row for row in report.rows if row.name == "penetration").worst.obstacle == "bench"


@given(point=st.tuples(*[st.floats(-2.0, 2.0)] * 3))
def test_the_distance_from_a_box_is_that_of_its_nearest_point(point: tuple[float, float, float]) -> None:
    low, high = np.array([-0.4, -0.5, 0.0]), np.array([0.0, 0.5, 0.45])
    p = np.array(point)
    nearest = np.clip(p, low, high)
    outside = float(np.linalg.norm(p - nearest))
    inside = min(float(np.min(p - low)), float(np.min(high - p)))
    assert np.isclose(box_distance(p, low, high), outside if outside > 0.0 else -inside)


def test_the_margin_of_balance_is_known_for_who_stands() -> None:
    figure = figure_of(load_cast("person"))
    stand = figure.stand
    mass = figure.masses(stand.joint_positions())
    here = float(support_margin(stand, mass)[0])
    assert 0.05 < here < 0.15
    assert np.isclose(support_margin(stand, mass - np.array([1.0, 0.0, 0.0]))[0], here - 1.0, atol=0.1)
    assert 0.9 < mass[0, 2] < 1.1


def test_frames_and_bodies_that_do_not_fit_are_told() -> None:
    with pytest.raises(SittingError, match="frames 5 to 9000 of clip"):
        sitting_problems(made().clip, SEAT, 5, 9000)
    with pytest.raises(SittingError, match="no pelvis and thighs"):
        horse = load_cast("horse")
        seat_contacts(next(iter(horse.clips.values())), SEAT)
