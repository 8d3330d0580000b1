"""How somebody stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.motion.quality import foot_slide
from gaitway.performing.standing import Standing, standing_behaviors, steps_in_place


@pytest.fixture(scope="module")
def person() -> Library:
    return load_cast("person", takes=2, behaviors=["stand", "wait", "wave", "start_walk", "stop_walk", "step_front"])


def test_who_stands_does_not_wave_or_step(person: Library) -> None:
    assert standing_behaviors(person) == standing_behaviors(person, "stand") == ("stand", "wait")
    assert standing_behaviors(person, "walk") == ()


@pytest.mark.parametrize(("cast", "name"), [("horse", "stand"), ("skateboarder", "wait")])
def test_other_casts_stand_too(cast: str, name: str) -> None:
    assert standing_behaviors(load_cast(cast)) == (name,)


def test_the_calmest_stands_where_all_of_them_move(person: Library) -> None:
    behaviors = tuple(b for b in person.graph.behaviors if b.name in ("wave", "start_walk", "stop_walk"))
    assert standing_behaviors(Library("loud", person.skeleton, person.clips, BehaviorGraph(behaviors))) == ("wave",)


def test_nowhere_to_stand_is_an_error(person: Library) -> None:
    with pytest.raises(LibraryError, match="no behaviour to stand with in state 'walk'"):
        Standing.of(person, "walk")
    with pytest.raises(LibraryError, match="in any state"):
        Standing.of(replace(person, graph=BehaviorGraph(())))


def test_a_run_covers_its_span_without_gaps(person: Library) -> None:
    standing = Standing.of(person)
    for seed in range(5):
        run = standing.until(2.0, 40.0, np.random.default_rng(seed), afresh=seed % 2 == 0)
        ends = [r.start + (r.clip.duration - r.offset) / r.speed for r in run]
        np.testing.assert_allclose([r.start for r in run[1:]], ends[:-1])
        assert run[0].start == 2.0
        assert run[-1].start < 40.0 <= ends[-1]
        assert all(r.offset == 0.0 for r in run[1:])
        assert (run[0].offset == 0.0) or seed % 2 == 0


def test_two_do_not_stand_in_step(person: Library) -> None:
    standing = Standing.of(person)
    a, b = (standing.until(0.0, 30.0, np.random.default_rng(seed), afresh=True) for seed in (1, 2))
    assert a[0].speed != b[0].speed
    assert [r.start for r in a[1:]] != [r.start for r in b[1:]]


def test_who_waits_to_set_off_stands_until_then_at_a_usual_pace(person: Library) -> None:
    standing = Standing.of(person)
    for span in (0.1, 0.9, 1.5, 7.3):
        run = standing.before(1.0, 1.0 + span, np.random.default_rng(0))
        last = run[-1]
        assert run[0].start == 1.0
        assert last.start + (last.clip.duration - last.offset) / last.speed == pytest.approx(1.0 + span)
        assert all(0.85 < r.speed < 1.15 and r.offset >= 0.0 for r in run)
        assert all(r.offset == 0.0 for r in run[1:])


def test_no_time_needs_no_clips(person: Library) -> None:
    assert Standing.of(person).until(3.0, 3.0, np.random.default_rng(0)) == []


@pytest.mark.parametrize(
    ("cast", "names"), [("person", ["stand", "wait"]), ("horse", ["stand"]), ("skateboarder", None)]
)
def test_who_is_calmed_hardly_sways_and_keeps_its_feet(cast: str, names: list[str] | None) -> None:
    standing = Standing.of(load_cast(cast, takes=2, behaviors=names))
    for loud, calm in zip(standing.clips, standing.calmed(0.015).clips, strict=True):
        away = [np.linalg.norm((c.root_positions - c.root_positions[0])[:, :2], axis=1).max() for c in (loud, calm)]
        assert away[1] == pytest.approx(min(away[0], 0.015))
        assert loud.contacts is not None and calm.contacts is not None
        points = calm.contact_positions()
        off = np.linalg.norm(points - points[0], axis=-1)[calm.contacts]
        own = np.linalg.norm(loud.contact_positions() - loud.contact_positions()[0], axis=-1)[loud.contacts]
        assert off.max() < max(0.003, own.max())
        np.testing.assert_allclose(calm.rotations[0], loud.rotations[0], atol=1e-12)


def test_all_clips_are_drawn_and_long_ones_more_often(person: Library) -> None:
    standing = Standing.of(person)
    run = standing.until(0.0, 4_000.0, np.random.default_rng(0))
    counts = np.array([sum(r.clip is clip for r in run) for clip in standing.clips])
    share = np.array([clip.duration for clip in standing.clips])
    assert len(counts) == 4 and counts.min() > 10
    np.testing.assert_allclose(counts / counts.sum(), share / share.sum(), atol=0.06)


def test_who_stands_for_long_shifts_the_feet_now_and_then() -> None:
    library = load_cast("person", behaviors=["stand", "wait", "shift_feet"])
    assert standing_behaviors(library) == ("stand", "wait", "shift_feet")
    standing = Standing.of(library)
    (shift,) = (clip for clip in standing.clips if clip.name == "shift_feet")
    assert steps_in_place(shift) and not steps_in_place(library.clips["stand"])
    begun = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        for run, end in (
            (standing.until(1.0, 16.0, rng, afresh=seed % 2 == 0), 16.0),
            (standing.before(1.0, 16.0, rng), 16.0),
        ):
            shifts = [r for r in run if r.clip is shift]
            assert all(r.offset < 1e-9 and r.start + shift.duration / r.speed <= end + 1e-9 for r in shifts), "whole"
            begun += [r.start - 1.0 for r in shifts]
    assert len(begun) > 30 and min(begun) > 3.0
    assert all(clip.name != "shift_feet~calm" for clip in standing.calmed(0.01).clips), "who stops exactly stays"


def test_feet_that_shift_come_down_where_they_were() -> None:
    clip = load_cast("person", behaviors=["shift_feet"]).clips["shift_feet"]
    points = clip.contact_positions()
    assert clip.contacts is not None
    for side in ("left", "right"):
        foot = [k for k, p in enumerate(clip.skeleton.contact_points) if p.name.startswith(side)][:3]
        assert points[:, foot, 2].min(axis=1).max() > 0.005, "a whole foot is up once"
    np.testing.assert_allclose(points[-1], points[0], atol=1e-4)
    assert foot_slide(clip).max() < 0.002
    assert 0.03 < np.ptp(clip.root_positions[:, 1]) < 0.15, "the weight goes over"


def test_clips_are_drawn_as_the_generator_chooses() -> None:
    standing = Standing.of(load_cast("person", behaviors=["stand", "wait"]))
    shares = np.where(standing._steps, 0.0, np.array(standing._durations))
    drawn, chosen = np.random.default_rng(7), np.random.default_rng(7)
    for _ in range(50):
        assert standing._drawn(drawn) == int(chosen.choice(len(shares), p=shares / shares.sum()))
    assert drawn.bit_generator.state == chosen.bit_generator.state
