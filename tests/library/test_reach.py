"""What the cast's bodies clear, checked by putting real blocks under and over them."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior
from gaitway.library.reach import CELL, _candidates, clip_reach, envelope, reaches
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.editing import resample
from gaitway.world import Box, Cylinder, Obstacle, Stairs
from gaitway.world.regions import MARGIN, near, obstruction, passable


@pytest.fixture(scope="module")
def person():
    return load_cast(
        "person", behaviors=["jump", "hurdle", "step_over_left", "duck", "crouch", "crawl_under", "climb_up"]
    )


@pytest.fixture(scope="module")
def person_reaches(person):
    clips = [name for behavior in person.graph.behaviors if behavior.obstacle for name in behavior.clips]
    return dict(zip(clips, reaches(person), strict=True))


@pytest.fixture(scope="module")
def skater():
    return load_cast("skateboarder", behaviors=["jump", "duck"])


def stations(reach, low, high):
    """The stations that an interval touches."""
    start = int(np.floor((low - reach.first) / reach.cell + 1e-9))
    stop = int(np.ceil((high - reach.first) / reach.cell - 1e-9))
    return slice(max(start, 0), max(stop, 0))


def cleared_over(reach, low, high):
    """Greatest height of a block between two stations that the body gets over [m]; margin kept."""
    return float(reach.lowest[stations(reach, low, high)].min(initial=np.inf)) - MARGIN


def cleared_under(reach, low, high):
    """Least height of the underside of a beam between two stations that the body gets under [m]; margin kept."""
    return float(reach.highest[stations(reach, low, high)].max(initial=-np.inf)) + MARGIN


def touches(clip, low, high, bottom, top):
    """Whether a body touches a block between two x, across all y, between two heights: by points along its bones."""
    fine = resample(clip, 240.0)
    segments, radii = capsules(fine), capsule_body(clip.skeleton).radii
    share = np.linspace(0.0, 1.0, 33)[:, None]
    points = segments[:, :, 0, None] + share * (segments[:, :, 1] - segments[:, :, 0])[:, :, None]
    x, z = points[..., 0] - clip.root_positions[0, 0], points[..., 2]
    off = np.hypot(x - np.clip(x, low, high), z - np.clip(z, bottom, top))
    return bool((off < radii[:, None]).any())


@pytest.mark.parametrize("behavior", ["jump", "hurdle"])
@pytest.mark.parametrize("depth", [0.02, 0.2, 0.6])
def test_a_fence_just_under_what_is_cleared_is_not_touched(person, person_reaches, behavior, depth):
    reach, clip = person_reaches[behavior], person.clips[behavior]
    low = round((reach.passing - 0.5 * depth) / CELL) * CELL  # at the ends of stations, so that the figure is exact
    high = low + depth
    limit = cleared_over(reach, low, high) + MARGIN
    assert 0.2 < limit < 1.0
    assert not touches(clip, low, high, -1.0, limit - 1e-4)
    assert touches(clip, low, high, -1.0, limit + 5e-3)


@pytest.mark.parametrize("name", ["crouch", "crouch.back", "crouch.guarded", "crawl_under"])
@pytest.mark.parametrize("depth", [0.02, 0.3, 0.8])
def test_a_beam_just_over_the_back_is_not_touched(person, person_reaches, name, depth):
    reach, clip = person_reaches[name], person.clips[name]
    low = round((reach.passing - 0.5 * depth) / CELL) * CELL  # at the ends of stations, so that the figure is exact
    high = low + depth
    limit = cleared_under(reach, low, high) - MARGIN
    assert 0.6 < limit < 1.3
    assert not touches(clip, low, high, limit + 1e-4, 5.0)
    assert touches(clip, low, high, limit - 5e-3, 5.0)


def test_figures_are_those_of_people(person_reaches):
    jumps = [person_reaches[name] for name in ("jump", "hurdle")]
    assert 0.6 < max(j.greatest_over(0.15) for j in jumps) < 0.9
    for jump in jumps:
        heights = [jump.greatest_over(depth) for depth in (0.1, 0.3, 0.6, 1.0, 1.6)]
        assert heights == sorted(heights, reverse=True)  # what is deeper must be lower
    assert person_reaches["step_over_left"].greatest_over(0.15) == pytest.approx(0.47, abs=0.03)
    assert person_reaches["duck"].least_under(0.25) == pytest.approx(1.16, abs=0.06)
    assert person_reaches["crouch"].least_under(0.25) == pytest.approx(1.02, abs=0.06)
    assert person_reaches["crawl_under"].least_under(0.25) < 0.85
    assert person_reaches["crawl_under"].least_under(2.0) > person_reaches["crawl_under"].least_under(0.5)
    assert person_reaches["duck"].greatest_over(0.2) < 0.03
    assert person_reaches["jump"].passing == pytest.approx(3.7, abs=0.3)
    assert person_reaches["jump"].move[0] == pytest.approx(5.84, abs=0.3)


def test_only_what_can_touch_a_fence_is_as_wide_as_the_way_over_it(person_reaches, person):
    hurdle = person_reaches["hurdle"]
    assert hurdle.width(0.0, 0.4) < 0.4
    assert hurdle.width(0.0, 1.2) > 0.7
    assert hurdle.width(0.0, 9.0) == hurdle.half_width
    radii = capsule_body(person.skeleton).radii
    for name, bottom, top in (("hurdle", 0.0, 0.4), ("duck", 1.25, 1.4)):
        segments = capsules(person.clips[name])
        low, high = segments[..., 2].min(axis=-1) - radii, segments[..., 2].max(axis=-1) + radii
        may_touch = (low < top + MARGIN) & (high > bottom - MARGIN)
        aside = np.abs(segments[..., 1]).max(axis=-1) + radii
        assert aside[may_touch].max() <= person_reaches[name].width(bottom, top) + 1e-3


def test_the_climber_knows_his_block(person_reaches):
    climb = person_reaches["climb_up"]
    assert climb.rise == pytest.approx(0.95, abs=0.01)
    assert climb.edge[0] - 0.05 <= 0.44 <= climb.edge[1]  # where the block of the clip really is


@pytest.mark.parametrize(
    ("shape", "kind", "message"),
    [
        (Box((0, 0), (6, 0.15), 0.5), "jump", None),
        (Cylinder((0, 0), 0.1, 0.5), "jump", None),
        (
            Box((0, 0), (6, 0.15), 1.4),
            "jump",
            r"1.40 m height over 0.15 m .* 'jump' of library 'person' \(0.6\d m at most\)",
        ),
        (Box((0, 0), (6, 2.0), 0.4), "jump", "0.40 m height over 2.00 m"),
        (Box((0, 0), (6, 0.3), 0.3, 0.0, 1.25), "duck", None),
        (Box((0, 0), (6, 0.3), 0.3, 0.0, 0.9), "duck", r"0.90 m clearance over 0.30 m .* \(0.9\d m at least\)"),
        (Box((0, 0), (6, 0.3), 0.3, 0.0, 0.9), "crawl", None),
        (Box((0, 0), (3, 2), 0.95), "climb", None),
        (Box((0, 0), (3, 2), 0.6), "climb", r"a top 0.60 m high .* \(made for 0.95 m\)"),
        (Box((0, 0), (3, 2), 0.6), "vault", "library 'person' has no behaviour that passes 'vault'"),
        (Box((0, 0), (3, 2), 9.0), "wall", None),
    ],
)
def test_what_can_be_passed(person_reaches, shape, kind, message):
    every, obstacle = list(person_reaches.values()), Obstacle(shape, kind)
    reason = obstruction(obstacle, every, "person")
    if message is None:
        assert reason is None
        assert kind == "wall" or passable(obstacle, every)
    else:
        assert not passable(obstacle, every)
        assert near(obstacle, every) is None
        assert re.search(message, reason), reason


def test_near_is_as_far_as_the_run_up(person_reaches):
    region = near(Obstacle(Box((0, 0), (0.15, 6), 0.5), "jump"), [person_reaches["jump"]], direction=0.0)
    run_up = person_reaches["jump"].passing - 0.075
    assert region.nearest < run_up < region.farthest
    assert region.farthest - region.nearest < 0.6
    raised = Obstacle(Box((0, 0), (0.15, 6), 0.5, bottom=3.0), "jump")
    assert near(raised, [person_reaches["jump"]], 0.0, ground=3.0).nearest == pytest.approx(region.nearest)


def test_every_placement_between_the_ends_is_clear(person, person_reaches):
    reach = person_reaches["jump"]
    low, high = reach.placements(0.15, 0.0, 0.5)
    for middle in np.linspace(low, high, 5):
        assert not touches(person.clips["jump"], middle - 0.075, middle + 0.075, 0.0, 0.5)
    assert touches(person.clips["jump"], high + 0.025, high + 0.175, 0.0, 0.5 + MARGIN)


def test_the_skateboarder_clears_less(skater):
    jump, duck = reaches(skater)
    assert 0.35 < jump.greatest_over(0.15) < 0.6
    assert 0.9 < duck.least_under(0.25) < 1.2
    assert not touches(skater.clips["jump"], 3.55, 3.7, -1.0, cleared_over(jump, 3.55, 3.7))


@pytest.mark.slow
def test_stairs_are_known_both_ways():
    every = reaches(load_cast("person"))
    assert passable(Obstacle(Stairs((0, 0), 2.0, 8), "stairs"), every)
    assert {round(abs(r.step[0]), 2) for r in every if r.kind.startswith("stairs")} == {0.17}
    assert not passable(Obstacle(Stairs((0, 0), 2.0, 8, 0.17, 0.4), "stairs"), every)
    reason = obstruction(Obstacle(Stairs((0, 0), 2.0, 8, 0.25), "stairs"), every, "person")
    assert (
        reason == "steps of 0.25 by 0.29 m cannot be passed by 'stairs' of library 'person' (made for 0.17 by 0.29 m)"
    )
    assert {r.behavior for r in every if not r.enters} == {
        "stairs_up",
        "stop_stairs_up",
        "stairs_down",
        "stop_stairs_down",
    }


coordinate = st.floats(-1.0, 1.0)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(coordinate, coordinate, coordinate, coordinate, st.floats(0.02, 0.4)), min_size=1, max_size=4)
)
def test_envelope_against_points(rows):
    segments = np.array([row[:4] for row in rows]).reshape(-1, 2, 2)
    radii = np.array([row[4] for row in rows])
    found = envelope(segments, radii, -1.5, 150)
    x = -1.5 + CELL * (np.arange(150 * 8) + 0.5) / 8.0
    lowest = np.full(len(x), np.inf)
    for (a, b), radius in zip(segments, radii, strict=True):
        middle = a + np.linspace(0.0, 1.0, 101)[:, None] * (b - a)
        inside = radius**2 - (x[:, None] - middle[:, 0]) ** 2
        rim = np.where(inside >= 0.0, middle[:, 1] - np.sqrt(np.maximum(inside, 0.0)), np.inf)
        lowest = np.minimum(lowest, rim.min(axis=1))
    sampled = lowest.reshape(150, 8)
    assert (found <= sampled.min(axis=1) + 1e-9).all()
    whole = np.isfinite(sampled).all(axis=1) & (len(rows) == 1)
    whole[1:-1] &= whole[:-2] & whole[2:]  # rims end steeply, where samples say little
    assert (found >= sampled.min(axis=1) - 0.1)[whole].all()


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_what_is_left_out_of_an_envelope_would_not_change_it(seed, count):
    rng = np.random.default_rng(seed)
    segments = rng.uniform(-2.0, 2.0, (count, 1, 2)) + rng.uniform(0.0, 0.6) * rng.normal(size=(count, 2, 2))
    radii = rng.uniform(0.01, 0.2, count)
    found = envelope(segments, radii, -1.5, 150)
    each = [envelope(segments[k : k + 1], radii[k : k + 1], -1.5, 150) for k in range(count)]
    np.testing.assert_array_equal(found, np.min(each, axis=0))


def test_an_envelope_looks_at_few_of_a_bodys_parts(person):
    clip = resample(person.clips["jump"], 240.0)
    ends = np.sort(capsules(clip)[..., [0, 2]], axis=2).reshape(-1, 2, 2)
    radii = np.tile(capsule_body(clip.skeleton).radii, len(clip))
    assert _candidates(ends, radii, -1.5, 500).mean() < 0.3


def test_what_passes_nothing_has_no_reach(person):
    clip = person.clips["jump"]
    with pytest.raises(LibraryError, match="passes no obstacle"):
        clip_reach(clip, Behavior("walk", ("walk",), "walk", "walk"))
