"""Families of behaviours: found from the clips alone, and any value in their range is met by a clean motion."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import LibraryError
from gaitway.library import Behavior, BehaviorGraph, Library, check_joins
from gaitway.library.families import Family, Move, families, with_families
from gaitway.motion import Clip, clean_footskate, detect_contacts, foot_slide, slice_frames, violations
from gaitway.motion.formats import load_clip
from gaitway.take.tracks import assemble, lay_track
from gaitway.world.world import World
from shared_data import MOCAP, needs_mocap

FOUND = {
    "person": [
        ("turn", "walk", -45, 45),
        ("length", "walk", 0.95, 1.49),
        ("turn", "jog", -45, 45),
        ("length", "jog", 1.56, 2.15),
        ("turn", "back", -15, 15),
        ("turn", "turn_left", 45, 90),
        ("turn", "turn_right", -90, -45),
        ("direction", "step", 0, 90),
    ],
    "horse": [("turn", "gallop", -20, 20), ("turn", "gallop", -40, 40)],
    "skateboarder": [("turn", "glide", -50, 50)],
}
SLIGHT, SLIGHT_ROOT = 0.5, 0.05
"""Changes of speed that nobody sees [rad/s, m/s]."""


@cache
def cast(name: str, style: str = "neutral") -> Library:
    return load_cast(name, style=style)


@cache
def known(name: str, style: str = "neutral") -> tuple[Family, ...]:
    return families(cast(name, style))


@cache
def blended(name: str, style: str = "neutral") -> Library:
    """A library with something between all neighbours of all its families."""
    turns = (5.0, 7.5, 10.0, 12.5, 20.0, 22.5, 30.0, 37.5, 60.0, 75.0)
    lengths = (1.0, 1.2, 1.4, 1.7, 2.0)
    return with_families(cast(name, style), turns_deg=turns, lengths=lengths, directions_deg=(30.0, 60.0))


@cache
def all_families() -> tuple[tuple[str, Family], ...]:
    return tuple((name, family) for name in FOUND for family in known(name))


def speed_changes(clip: Clip) -> np.ndarray:
    """Change from frame to frame of every joint's angular velocity [rad/s], and of the root's velocity; (F-2, J+1)."""
    turn = rotations.multiply(rotations.conjugate(clip.rotations[:-1]), clip.rotations[1:])
    joints = np.linalg.norm(np.diff(rotations.to_rotation_vector(turn), axis=0), axis=-1)
    return np.column_stack([joints, np.linalg.norm(np.diff(clip.root_positions, 2, axis=0), axis=-1)]) * clip.fps


def pose(clip: Clip, frame: int) -> np.ndarray:
    """Joint rotations without the heading; (J, 4)."""
    out = np.array(clip.rotations[frame])
    out[0] = rotations.multiply(rotations.from_yaw(-clip.headings()[frame]), out[0])
    return out


@pytest.mark.parametrize("name", FOUND)
def test_the_families_of_the_cast(name: str) -> None:
    found = [(f.parameter, f.stem, f.values[0], f.values[-1]) for f in known(name)]
    for (parameter, stem, low, high), wanted in zip(found, FOUND[name], strict=True):
        scale = 1.0 if parameter == "length" else 180.0 / np.pi
        assert (parameter, stem) == wanted[:2]
        assert (scale * low, scale * high) == pytest.approx(wanted[2:], abs=0.5 if scale > 1.0 else 0.01)


def test_families_do_not_depend_on_names() -> None:
    library = cast("person")
    called = {b.name: f"b{number}" for number, b in enumerate(library.graph.behaviors)}
    plain = tuple(replace(b, name=called[b.name]) for b in library.graph.behaviors)
    found = families(Library("x", library.skeleton, library.clips, BehaviorGraph(plain)))
    assert [f.names for f in found] == [tuple(called[n] for n in f.names) for f in known("person")]
    assert found[0].label(np.radians(22.5)) == "walk_left_22.5"  # after the state that they begin in


@pytest.mark.slow
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_any_value_in_range_is_met_by_a_clean_motion(data: st.DataObject) -> None:
    name, family = data.draw(st.sampled_from(all_families()))
    value = data.draw(st.floats(float(family.values[0]), float(family.values[-1])))
    clip = family.clip(value)
    error = abs(Move.of(clip.planar_path()).along(family.parameter) - value)
    assert error < (0.01 if family.parameter == "length" else np.radians(0.5))
    assert foot_slide(clip, ("heel", "ball", "toe", "hoof")).max(initial=0.0) < 0.002
    assert clip.contacts is not None
    assert np.abs(clip.contact_positions()[..., 2][clip.contacts]).max(initial=0.0) < 0.006
    if name != "horse":
        assert violations(clip).max() < 2.0
    for frame in (0, -1):
        hub = family.members[0].clips[0]
        assert rotations.angle_between(pose(clip, frame), pose(hub, frame)).max() < np.radians(0.01)
        assert clip.root_positions[frame, 2] == pytest.approx(hub.root_positions[frame, 2], abs=1e-4)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=15, deadline=None)
def test_more_is_more(data: st.DataObject) -> None:
    _, family = data.draw(st.sampled_from(all_families()))
    inside = st.floats(float(family.values[0]), float(family.values[-1]))
    low, high = sorted([data.draw(inside), data.draw(inside)])
    less, more = (Move.of(family.clip(value).planar_path()).along(family.parameter) for value in (low, high))
    assert less <= more + 2e-3
    if family.parameter == "length":
        assert len(family.clip(low)) <= len(family.clip(high))


@pytest.mark.parametrize("name", FOUND)
def test_members_are_given_back_as_they_are(name: str) -> None:
    for family in known(name):
        for value, member in zip(family.values, family.members, strict=True):
            clip = family.clip(float(value), "mine")
            assert clip.name == "mine"
            np.testing.assert_array_equal(clip.rotations, member.clips[0].rotations)
            np.testing.assert_array_equal(clip.root_positions, member.clips[0].root_positions)


@pytest.mark.parametrize("name", FOUND)
def test_what_is_just_beside_a_member_is_nearly_it(name: str) -> None:
    for family in known(name):
        for low, high in pairwise(range(len(family.values))):
            value = family.values[low] + 1e-4 * (family.values[high] - family.values[low])
            clip, source = family.clip(float(value)), family.members[low].clips[0]
            assert len(clip) == len(source)
            np.testing.assert_allclose(clip.joint_positions(), source.joint_positions(), atol=2e-3)


def test_a_value_out_of_range_is_refused() -> None:
    walk, length = known("person")[:2]
    with pytest.raises(LibraryError, match=r"turn 50.0 deg of 'walk' is out of range; ask for -45.0 deg to 45.0 deg"):
        walk.clip(np.radians(50.0))
    with pytest.raises(LibraryError, match=r"length 0.50 m of 'walk' .* ask for 0.9\d m to 1.4\d m"):
        length.clip(0.5)


CASES = [
    pytest.param(name, style, marks=[] if style == "neutral" else [pytest.mark.slow])
    for name, style in [("person", "neutral"), ("horse", "neutral"), ("skateboarder", "neutral"),
                        ("person", "style-1"), ("person", "style-4"), ("person", "17"), ("horse", "style-3")]
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "style"), CASES)
def test_nothing_pops_that_does_not_pop_in_the_library(name: str, style: str) -> None:
    library = cast(name, style)
    changes = np.concatenate([speed_changes(clip) for clip in library.clips.values()])
    usual = np.maximum(np.percentile(changes, 99.9, axis=0), [*[SLIGHT] * (changes.shape[1] - 1), SLIGHT_ROOT])
    rng = np.random.default_rng(3)
    for family in known(name, style):
        for value in (*rng.uniform(family.values[0], family.values[-1], 4), family.values[:2].mean()):
            share = speed_changes(family.clip(value)) / usual
            frame, joint = np.unravel_index(int(np.argmax(share)), share.shape)
            assert share.max() <= 1.5, f"{family.label(value)}: joint {joint} at frame {frame + 1}"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "style"), CASES)
def test_takes_of_blends_pass_the_audit(name: str, style: str) -> None:
    library = cast(name, style)
    old = {behavior.name for behavior in library.graph.behaviors}
    full = blended(name, style)
    tracks = []
    for number, new in enumerate(b for b in full.graph.behaviors if b.name not in old):
        walk = way_round(full, new.name)
        clips = [full.clips[full.graph[step].clips[0]] for step in walk]
        tracks.append(lay_track(new.name, clips, (0.0, 40.0 * number, 0.3 * number), behaviors=walk))
    report = audit_take(assemble(tracks), World((-1e3, -1e3, 1e3, 2e3)))
    assert len(tracks) >= 4
    for row in report.rows:
        assert row.ok, row.cells()


def way_round(library: Library, name: str) -> list[str]:
    """A behaviour between ones that lead to it from rest and back, twice in a row where it may follow itself."""
    graph = library.graph
    middle = [name, name] if name in graph.followers(name) else [name]
    into = next((b.name for b in graph.behaviors if b.end == graph[name].start != b.start and b.obstacle is None), None)
    away = next((b.name for b in graph.behaviors if b.start == graph[name].end != b.end and b.obstacle is None), None)
    return [*([into] if into else []), *middle, *([away] if away else [])]


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_blends_follow_one_another_without_a_seam(name: str) -> None:
    full = blended(name)
    new = {b.name for b in full.graph.behaviors} - {b.name for b in cast(name).graph.behaviors}
    joins = check_joins(full)
    blends = [join for join in joins if join.before in new or join.after in new]
    usual = max(join.speed for join in joins if join not in blends)
    assert len(blends) > 20
    for join in blends:
        assert join.angle < np.radians(0.01) and join.height < 1e-4, join
        assert join.speed < 1.1 * usual + 0.01, join


def test_more_behaviours_of_the_values_that_are_asked_for() -> None:
    library = cast("person")
    full = with_families(library, turns_deg=(7.5, 15.0, 60.0, 120.0), lengths=(1.2,), directions_deg=())
    names = [behavior.name for behavior in full.graph.behaviors[len(library.graph.behaviors) :]]
    assert sorted(names) == sorted(
        [f"{gait}_{side}_7.5" for gait in ("walk", "jog", "back") for side in ("left", "right")]
        + ["turn_left_60", "turn_right_60", "walk_1.20m"]
    )
    made = full.graph["walk_left_7.5"]
    assert (made.start, made.end, made.obstacle, made.weight) == ("walk", "walk", None, 1.0)
    assert full.graph["back_left_7.5"].weight == library.graph["back_left_15"].weight > 1.0
    assert full.clips["walk_left_7.5"].name == "walk_left_7.5"
    assert set(library.clips) <= set(full.clips)
    assert "walk_left_7.5" in full.graph.followers("start_walk")


def test_nothing_is_added_where_nothing_is_asked_for() -> None:
    library = cast("person")
    same = with_families(library, turns_deg=(), lengths=(), directions_deg=())
    assert same.graph == library.graph and list(same.clips) == list(library.clips)


def test_by_default_few_are_added_where_gaps_are_wide() -> None:
    def added(library: Library) -> set[str]:
        return {b.name for b in with_families(library).graph.behaviors} - {b.name for b in library.graph.behaviors}

    assert added(cast("person")) == {"walk_1.22m", "jog_1.86m"}
    assert added(load_cast("person", behaviors=["walk_forward", "walk_left_45"])) == {"walk_left_15", "walk_left_30"}
    assert added(cast("skateboarder")) == {
        f"glide_{side}_{turn}" for side in ("left", "right") for turn in (12.5, 37.5)
    }


@pytest.mark.parametrize("gait", ["walk", "jog"])
def test_a_blend_is_much_like_the_clip_that_was_made_for_it(gait: str) -> None:
    few = load_cast("person", behaviors=[f"{gait}_forward", f"{gait}_left_45", f"{gait}_right_45"])
    for degrees in (-30, -15, 15, 30):
        clip = families(few)[0].clip(np.radians(degrees))
        made = cast("person").clips[clip.name]
        away = np.linalg.norm(clip.joint_positions() - made.joint_positions(), axis=-1)
        assert away.mean() < 0.03 and away.max() < 0.15


def test_names_that_are_taken_get_another() -> None:
    full = with_families(cast("horse"))
    assert {"gallop_left_20", "gallop_left_20_1.5s"} <= set(full.clips)
    assert full.clips["gallop_left_20_1.5s"].duration == pytest.approx(1.5)


def test_two_families_of_one_name_do_not_get_in_each_others_way() -> None:
    library = load_cast("person", behaviors=["walk_forward", "walk_left_15"])
    twins = tuple(replace(b, name=f"{b.name}_{k}", start=k, end=k) for b in library.graph.behaviors for k in "abc")
    full = with_families(replace(library, graph=BehaviorGraph(twins)), turns_deg=(7.5,))
    names = [behavior.name for behavior in full.graph.behaviors[len(twins) :]]
    assert names == ["walk_left_7.5", "walk_left_7.5_1.1s", "walk_left_7.5_1.1s_2"]


def test_blends_may_not_follow_what_their_sources_may_not_follow() -> None:
    library = cast("person")
    forbidden = frozenset({("walk_left_45", "walk_right_45"), ("walk_short", "stop_walk")})
    strict = replace(library, graph=replace(library.graph, forbidden=forbidden))
    graph = with_families(strict, turns_deg=(37.5,), lengths=(1.2,), directions_deg=()).graph
    assert graph.forbidden == forbidden | {
        ("walk_left_37.5", "walk_right_45"), ("walk_left_45", "walk_right_37.5"), ("walk_left_37.5", "walk_right_37.5"),
        ("walk_1.20m", "stop_walk"),
    }  # fmt: skip


def test_every_take_of_the_neighbours_gives_one() -> None:
    library = load_cast("person", takes=3, behaviors=["walk_forward", "walk_left_15", "walk_short"])
    full = with_families(library, turns_deg=(7.5,))
    assert full.graph["walk_left_7.5"].clips == ("walk_left_7.5", "walk_left_7.5.1", "walk_left_7.5.2")
    takes = [full.clips[name] for name in full.graph["walk_left_7.5"].clips]
    assert [Move.of(clip.planar_path()).turn for clip in takes] == pytest.approx([np.radians(7.5)] * 3, abs=1e-3)
    assert not np.allclose(takes[0].rotations[:30], takes[1].rotations[:30], atol=1e-3)


def test_the_same_library_gives_the_same_bytes() -> None:
    first, second = (with_families(cast("skateboarder")) for _ in range(2))
    assert list(first.clips) == list(second.clips)
    for name, clip in first.clips.items():
        assert clip.rotations.tobytes() == second.clips[name].rotations.tobytes()


def test_a_library_without_contacts_has_no_families() -> None:
    library = load_cast("person", behaviors=["walk_forward", "walk_left_15"])
    blind = {name: replace(clip, contacts=None) for name, clip in library.clips.items()}
    assert families(Library("blind", library.skeleton, blind, library.graph)) == ()


@needs_mocap
def test_captured_strides_make_a_family() -> None:
    strides: dict[str, Clip] = {}
    for name in ("B03_Walk1", "B10_WalkTurnLeft45", "B09_WalkTurnLeft90", "B13_WalkTurnRight45"):
        clip = clean_footskate(detect_contacts(load_clip(MOCAP / "bvh_accad" / f"Female1_{name}.bvh")))
        assert clip.contacts is not None
        points = [p.name.startswith("left") for p in clip.skeleton.contact_points]
        landings = np.flatnonzero(np.diff(clip.contacts[:, points].any(axis=1).astype(int)) > 0)
        for start, stop in pairwise(landings):
            strides[f"{name}_{start}"] = slice_frames(replace(clip, name=f"{name}_{start}"), start + 5, stop + 6)
    graph = BehaviorGraph(tuple(Behavior(name, (name,), "walk", "walk") for name in strides))
    library = Library("captured", next(iter(strides.values())).skeleton, strides, graph)
    family = max(families(library), key=lambda f: len(f.names))
    assert family.parameter == "turn" and np.ptp(family.values) > np.radians(90.0)
    own = max(speed_changes(member.clips[0]).max() for member in family.members)
    for value in np.linspace(family.values[0], family.values[-1], 9)[1:-1]:
        clip = family.clip(float(value))
        assert Move.of(clip.planar_path()).turn == pytest.approx(value, abs=np.radians(0.5))
        assert foot_slide(clip).max() < 0.002 and violations(clip).max() < 2.0
        assert speed_changes(clip).max() < 1.1 * own
