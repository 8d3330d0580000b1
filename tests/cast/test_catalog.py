"""The cast by name, and the checks that a library holds together."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.catalog import cast_names, load_cast, style_names
from gaitway.cast.generating import library_of
from gaitway.cast.horse.body import HorseStyle
from gaitway.cast.recipes import CastClip
from gaitway.cast.skateboarder.ride import SkaterStyle
from gaitway.core import rotations
from gaitway.core.errors import LibraryError
from gaitway.library import Behavior, BehaviorGraph, Library, check_graph, check_joins
from gaitway.motion import Clip, Skeleton

SKELETON = Skeleton(("root", "tip"), np.array([-1, 0]), np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.5]]), name="stick")


def stick(name: str, frames: int = 5, bend: float = 0.0, speed: float = 0.0, yaw: float = 0.0) -> Clip:
    """A stick that bends by `bend` [rad] and moves at `speed` [m/s] toward `yaw`."""
    local = rotations.identity(frames, 2)
    local[:, 0] = rotations.from_yaw(yaw)
    local[:, 1] = rotations.from_axis_angle([0.0, 1.0, 0.0], np.linspace(0.0, bend, frames))
    t = np.arange(frames) / 30.0
    root = np.column_stack([speed * t * np.cos(yaw), speed * t * np.sin(yaw), np.ones(frames)])
    return Clip(SKELETON, root, local, 30.0, name)


def library(*behaviors: Behavior, **clips: Clip) -> Library:
    return Library("sticks", SKELETON, clips, BehaviorGraph(behaviors))


def test_cast_names() -> None:
    assert cast_names() == ("person", "horse", "skateboarder")


@pytest.mark.parametrize("name", ["horse", "skateboarder"])
def test_casts_hold_together(name: str) -> None:
    loaded = load_cast(name, takes=2)
    assert loaded.name == name
    assert check_graph(loaded) == []
    assert all(len(behavior.clips) == 2 for behavior in loaded.graph.behaviors)
    assert all(clip.skeleton is loaded.skeleton for clip in loaded.clips.values())


def test_person_holds_together() -> None:
    loaded = load_cast("person")
    assert check_graph(loaded) == []
    assert {"stand", "walk", "jog", "back", "crawl"} <= set(loaded.graph.states)
    joins = check_joins(loaded)
    assert max(join.angle for join in joins) < 1e-4
    assert max(join.height for join in joins) < 0.003
    assert max(join.speed for join in joins) < 0.6


def test_only_what_is_asked_for() -> None:
    loaded = load_cast("horse", behaviors=["gallop_forward", "stand"])
    assert set(loaded.clips) == {"gallop_forward", "stand"}


def test_special_behaviours_say_what_they_pass() -> None:
    graph = load_cast("skateboarder").graph
    assert {b.name: b.obstacle for b in graph.behaviors if b.obstacle} == {"jump": "jump", "duck": "duck"}
    assert graph["jump"].pass_time == pytest.approx(1.05)


def test_styles() -> None:
    def stand(style: object) -> np.ndarray:
        return load_cast("horse", style=style, behaviors=["stand"]).clips["stand"].rotations

    np.testing.assert_array_equal(stand(None), stand("neutral"))
    np.testing.assert_array_equal(stand(30), stand("drawn-30"))
    np.testing.assert_array_equal(stand("30"), stand(HorseStyle.draw(30)))
    looks = [stand(name) for name in style_names()]
    assert len(looks) == 9
    assert all(np.abs(a - b).max() > 1e-3 for i, a in enumerate(looks) for b in looks[:i])


@pytest.mark.parametrize("cast", ["horse", "skateboarder"])
def test_each_style_is_called_by_its_name(cast: str) -> None:
    kind = {"horse": HorseStyle, "skateboarder": SkaterStyle}[cast]
    assert [kind.named(name).name for name in style_names()] == list(style_names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "horze"}, "no cast 'horze'; there are person, horse, skateboarder; did you mean 'horse'"),
        ({"name": "horse", "style": "wild"}, "no style 'wild'; there are neutral, style-1, style-2"),
        ({"name": "horse", "takes": 0}, "takes=0"),
        ({"name": "horse", "seed": -1}, "seed=-1"),
        (
            {"name": "horse", "behaviors": ["galop_forward"]},
            "no behaviour 'galop_forward'; did you mean 'gallop_forward'",
        ),
    ],
)
def test_wrong_requests(arguments: dict, message: str) -> None:
    with pytest.raises(LibraryError, match=message):
        load_cast(**arguments)


def test_entries_must_agree() -> None:
    with pytest.raises(LibraryError, match="two clips 'a'"):
        library_of("x", SKELETON, [CastClip(stick("a"), "b", "s", "s"), CastClip(stick("a"), "b", "s", "s")])
    with pytest.raises(LibraryError, match="'a' and 'a2' are takes of 'b' but differ"):
        library_of("x", SKELETON, [CastClip(stick("a"), "b", "s", "s"), CastClip(stick("a2"), "b", "s", "t")])
    with pytest.raises(LibraryError, match="together, or neither"):
        CastClip(stick("a"), "b", "s", "s", obstacle="jump")
    with pytest.raises(LibraryError, match="outside its"):
        CastClip(stick("a"), "b", "s", "s", obstacle="jump", pass_time=9.0)


def test_check_graph_names_what_is_wrong() -> None:
    broken = library(
        Behavior("go", ("go",), "stand", "walk"),
        Behavior("fall", ("fall",), "walk", "floor"),
        Behavior("hop", ("hop",), "stand", "stand", "jump", 9.0),
        go=stick("go"), fall=stick("fall"), hop=stick("hop"), spare=stick("spare"),
    )  # fmt: skip
    problems = check_graph(broken)
    assert "clip 'spare' belongs to no behaviour" in problems
    assert "behaviour 'fall' is a dead end: nothing starts in state 'floor'" in problems
    assert "behaviour 'hop' cannot be reached: nothing else ends in 'stand'" in problems
    assert any("passes its obstacle at 9 s, but clip 'hop' lasts" in problem for problem in problems)
    assert "state 'stand' cannot be reached from state 'walk'" in problems


def test_check_joins_measures_pose_and_speed() -> None:
    """Heading and place do not matter; a bend, and a change of speed, do."""
    ends_bent = stick("bent", bend=0.3)
    pair = library(
        Behavior("a", ("a",), "s", "s"),
        Behavior("b", ("b",), "s", "s"),
        Behavior("c", ("c",), "s", "s"),
        a=stick("a", speed=1.0), b=stick("b", speed=1.0, yaw=2.0), c=ends_bent,
    )  # fmt: skip
    joins = {(join.before, join.after): join for join in check_joins(pair)}
    assert len(joins) == 9
    assert joins["a", "b"].angle < 1e-9 and joins["a", "b"].speed < 1e-9
    assert joins["c", "a"].angle == pytest.approx(0.3) and joins["c", "a"].joint == "tip"
    assert joins["a", "c"].speed == pytest.approx(1.0, abs=0.05)
    assert check_joins(pair)[0].before == "c"


def test_the_least_effort_costs_least() -> None:
    weights = {b.name: b.weight for b in load_cast("person").graph.behaviors}
    assert (
        weights["step_over_low_left"]
        < weights["step_over_left"]
        < weights["hurdle"]
        < weights["jump"]
        < weights["long_jump"]
    )
    assert weights["stoop"] < weights["dip"] < weights["duck"] == weights["duck_jog"] < weights["crouch"]
