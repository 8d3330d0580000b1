"""What is to be done for which behaviour, from which takes, and how far it has come."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.motion.clip import Clip
from gaitway.variation.inputs.training_takes import TrainingTakes, by_length
from gaitway.variation.tasks import TaskProgress, chosen_names, tasks
from variation_takes import make_take, small_skeleton

RNG = np.random.default_rng(0)
STATES = {"walk": ("walk", "walk"), "start": ("stand", "walk"), "wave": ("stand", "stand"), "turn": ("stand", "stand")}


def clips_of(lengths: list[int]) -> list[Clip]:
    return [make_take(0.0, length, True, f"take.{number}", RNG) for number, length in enumerate(lengths)]


def library(**lengths: list[int]) -> Library:
    """A library of behaviours whose clips have so many frames; names begin with those of `STATES`."""
    clips: dict[str, Clip] = {}
    behaviors = []
    for name, each in lengths.items():
        own = {f"{name}.{number}": clip for number, clip in enumerate(clips_of(each))}
        clips |= own
        start, end = STATES[name.partition("_")[0]]
        behaviors.append(Behavior(name, tuple(own), start, end))
    return Library("small", small_skeleton(), clips, BehaviorGraph(tuple(behaviors)))


@settings(max_examples=40)
@given(st.lists(st.integers(2, 200), max_size=12))
def test_groups_by_length_divide_the_clips_and_none_is_twice_as_long(lengths: list[int]) -> None:
    clips = clips_of(lengths)
    groups = by_length(clips)
    assert sorted(id(clip) for group in groups for clip in group) == sorted(map(id, clips))
    for group in groups:
        assert max(map(len, group)) < 2 * min(map(len, group))
        assert group == sorted(group, key=clips.index)


def test_takes_are_pooled_by_states_and_length_but_not_where_one_stands() -> None:
    small = library(walk_one=[20, 22], walk_two=[21, 60], walk_three=[64, 61, 58], wave=[40], turn=[41])
    training_takes = TrainingTakes(small)
    one, two, three = (training_takes.of(small.graph[f"walk_{number}"]) for number in ("one", "two", "three"))
    assert sorted(map(len, one)) == [20, 21, 22]
    assert sorted(map(len, three)) == [58, 60, 61, 64]
    assert two is three
    assert [len(clip) for clip in training_takes.of(small.graph["wave"])] == [40]


def test_who_gets_what_and_why() -> None:
    small = library(walk_a=[20, 21, 22, 23], walk_b=[22], start=[30, 31], walk_c=[8], wave=[40, 41, 42, 43])
    jump = replace(small.graph["walk_a"], name="walk_over", obstacle="jump", pass_time=0.3)
    small = replace(small, graph=BehaviorGraph((*small.graph.behaviors, jump)))
    found = {task.behavior.name: task for task in tasks(small, None, upper=False)}
    methods = {name: task.method for name, task in found.items()}
    assert methods == {
        "walk_a": "whole", "walk_b": "upper", "start": "none", "walk_c": "none", "wave": "whole", "walk_over": "upper",
    }  # fmt: skip
    assert "fewer than 4 takes do not show how legs vary" in found["walk_b"].why
    assert "fewer than 4 takes of its gait" in found["start"].why
    assert "obstacle" in found["walk_over"].why
    assert len(found["walk_b"].learns_from) == 5
    assert {task.method for task in tasks(small, ["walk_a", "wave"], upper=True)} == {"upper"}


def test_names_and_patterns() -> None:
    small = library(walk_a=[20], walk_b=[20], wave=[20])
    assert chosen_names(small, ["wave", "walk_*", "walk_a"]) == ["wave", "walk_a", "walk_b"]
    assert chosen_names(small, ["?a*"]) == ["walk_a", "walk_b", "wave"]
    with pytest.raises(LibraryError, match=r"no behaviour 'walk_aa' in library 'small'; did you mean 'walk_a'\?"):
        chosen_names(small, ["walk_aa"])
    with pytest.raises(LibraryError, match=r"no behaviour 'zz\*' in library 'small'; there are walk_a, walk_b, wave"):
        chosen_names(small, ["zz*"])


def test_progress_tells_which_of_how_many_and_never_goes_back() -> None:
    todo = tasks(library(walk_a=[20, 21], walk_b=[22, 23], start=[30], wave=[40, 41, 42, 43]), None, upper=False)
    told: list[tuple[str, int, int | None]] = []
    task_progress = TaskProgress(lambda *what: told.append(what), todo, 2)
    for number, task in enumerate(todo):
        task_progress.begin(number)
        if task.method != "none":
            task_progress.learning("prior network: 3 edges", 1, 2)
            for got in range(2):
                task_progress.drawing(got)
    words, done, totals = zip(*told, strict=True)
    assert words[0] == "walk_a, 1 of 3: learning"
    assert words[1] == "walk_a, 1 of 3: learning (prior network)"
    assert words[-1] == "wave, 3 of 3: variant 2 of 2"
    assert list(done) == sorted(done)
    assert len(set(totals)) == 1
    assert done[-1] < totals[0]
    # the second walk has the first one's network, so learning takes no time
    begins = [told[k][1] for k in range(len(told)) if told[k][0].startswith("walk_b") and "learning" in told[k][0]]
    assert begins[0] == begins[-1]
