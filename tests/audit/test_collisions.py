"""Collisions are those of the audit, each counted once: in whole takes, and frame by frame."""

from __future__ import annotations

import numpy as np
import pytest

from audit_takes import OPEN, STAND, WALK, take_with, track
from gaitway.audit import CollisionWatch, audit_take, find_collisions
from gaitway.take.model import Take
from gaitway.world import Box, Cylinder, Mover, MoverPhase, Obstacle, World

ROWS = ("penetration", "penetration_special", "penetration_characters")


def world() -> World:
    wall = Obstacle(Box((2.0, 0.5), (0.4, 0.6), 2.0), name="post")
    fence = Obstacle(Box((1.0, -3.0), (0.2, 1.0), 0.4), kind="jump", name="fence")
    phases = (MoverPhase(0.0, Cylinder((0.0, 0.0), 0.5, 1.5)),)
    cart = Mover(phases, np.array([0.0]), np.array([[3.0, 6.0, 0.0]]), "cart")
    return World(OPEN.bounds, (wall, fence), (cart,))


def busy_take() -> Take:
    """Somebody grazes a post, one walks through a fence, one into a cart, and one into a person who stands."""
    return take_with(
        track("ada", WALK, (0.0, 0.1, 0.0)),
        track("ben", WALK, (0.0, -3.0, 0.0)),
        track("cleo", WALK, (1.2, 6.0, 0.0)),
        track("dan", (*STAND, *STAND, *STAND), (1.0, 12.0, 0.0)),
        track("eve", WALK, (0.0, 12.05, 0.0)),
        track("fay", WALK, (0.0, 20.0, 0.0)),
    )


def seen(take: Take, place: World) -> CollisionWatch:
    watch = CollisionWatch()
    for frame in range(round(take.duration * take.fps) + 1):
        joints = take.joints(frame / take.fps)
        names = [take.names[who] for part in joints for who in part.characters.tolist()]
        watch.look(frame / take.fps, joints, names, place)
    return watch


def test_collisions_of_a_take_are_the_violations_of_its_audit() -> None:
    take, place = busy_take(), world()
    report, found = audit_take(take, place), find_collisions(take, place)
    audited = [one for row in ROWS for one in report[row].violations]
    assert {one.characters for one in found} == {("ada",), ("ben",), ("cleo",), ("dan", "eve")}
    assert sorted(found, key=repr) == sorted(audited, key=repr)
    assert [one.time for one in found] == sorted(one.time for one in found)
    assert find_collisions(take_with(track("fay", WALK, (0.0, 20.0, 0.0))), place) == ()


def test_a_watch_sees_the_same_frame_by_frame_and_counts_each_once() -> None:
    take, place = busy_take(), world()
    watch, found = seen(take, place), find_collisions(take, place)
    key = lambda one: (one.row, one.characters, one.obstacle)  # noqa: E731
    assert watch.count == len(watch.findings) == len(found)
    for mine, audited in zip(sorted(watch.findings, key=key), sorted(found, key=key), strict=True):
        assert key(mine) == key(audited)
        assert mine.value == pytest.approx(audited.value, abs=5e-3)  # between frames it may be a little deeper
        assert mine.span == pytest.approx(audited.span, abs=2.5 / take.fps)
        assert np.linalg.norm(np.subtract(mine.place, audited.place)) < 0.3


def test_while_time_stands_still_nothing_is_counted() -> None:
    take, place = busy_take(), world()
    watch = CollisionWatch()
    for _ in range(100):
        watch.look(5.9, take.joints(5.9), take.names, place)
    once = CollisionWatch()
    once.look(5.9, take.joints(5.9), take.names, place)
    assert watch.count == once.count > 0


def test_what_ends_and_begins_anew_is_another_collision() -> None:
    take, place = take_with(track("ada", STAND, (2.0, 0.4, 0.0))), world()
    watch = CollisionWatch()
    for look in range(12):
        clear = 4 <= look < 8
        watch.look(0.02 * look, take.joints(0.02 * look), ("ada",), OPEN if clear else place)
    assert watch.count == 2
    first, second = watch.findings
    assert first.span == pytest.approx((0.0, 0.06))
    assert second.span == pytest.approx((0.16, 0.22))
