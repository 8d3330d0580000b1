"""What a take refuses, and what it keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.core.errors import TakeError
from gaitway.take import Layer, Segments, Take
from take_makers import random_take


def changed(take: Take, column: str, row: int, value) -> Segments:
    columns = {name: np.array(getattr(take.segments, name)) for name in Segments.__dataclass_fields__}
    columns[column][row] = value
    return Segments(**columns)


def with_column(column: str, row: int, value):
    return lambda take: replace(take, segments=changed(take, column, row, value))


def turns(*shape: int) -> np.ndarray:
    out = np.zeros((*shape, 4), dtype=np.float32)
    out[..., 0] = 1.0
    return out


WRONG = {
    "clip index": (with_column("clip", 1, 99), "character 'person-0', segment 1: clip 99 of 6 does not exist"),
    "negative clip": (with_column("clip", 0, -1), "segment 0: clip -1 of 6"),
    "other skeleton": (
        lambda t: replace(t, bodies=1 - t.bodies),
        "character 'person-0', segment 0: clip . is on another skeleton",
    ),
    "behaviour": (with_column("behavior", 0, 2), "behaviour 2 of 2 does not exist; write -1"),
    "unsorted": (with_column("start", 1, -5.0), "segment 0: it begins at .* after what comes next"),
    "same start": (lambda t: with_column("start", 1, t.segments.start[0])(t), "segment 0: it begins .* when the next"),
    "past the end": (with_column("offset", 0, 50.0), "begins 50 s into clip ., past its end"),
    "first fade": (with_column("blend", 0, 0.1), "the first segment has nothing to fade from"),
    "long fade": (with_column("blend", 1, 9.0), "segment 1: its fade of 9 s from"),
    "negative fade": (with_column("blend", 1, -1.0), "negative blend"),
    "speed": (with_column("speed", 1, 0.0), "segment 1 has speed 0; it must be above 0"),
    "not finite": (with_column("pose", 1, np.nan), r"segments.pose has a value that is not finite"),
    "names": (lambda t: replace(t, names=("a",) * 6), "two characters are called 'a'"),
    "no names": (lambda t: replace(t, names=()), "between 1 and"),
    "bodies": (lambda t: replace(t, bodies=np.full(6, 3)), "character 'person-0' has body 3 of 2"),
    "rows end": (lambda t: replace(t, rows=t.rows - 1), "rows begin at -1"),
    "no segments": (lambda t: replace(t, rows=t.rows[[0, 1, 1, 3, 4, 5, 6]]), "character 'person-1' has no segments"),
    "rows shape": (lambda t: replace(t, rows=t.rows[:-1]), "rows has shape"),
    "end": (lambda t: replace(t, ends=t.ends - 50.0), "after what comes next"),
    "rate": (lambda t: replace(t, fps=0.0), "frame rate 0"),
    "foreign clip": (lambda t: replace(t, skeletons=(t.skeletons[0],) * 2), "not \\(the same object as\\) one"),
    "goals": (lambda t: replace(t, goals=np.zeros((2, 4))), r"goals has shape \(2, 4\), expected \(6, 4\)"),
    "infinite": (lambda t: replace(t, radii=np.full(6, np.inf)), "radii of character 0 is infinite"),
    "radius": (lambda t: replace(t, radii=np.full(6, -1.0)), "negative radius"),
    "facts": (lambda t: replace(t, facts={"a": {1, 2}}), "facts must be plain JSON values"),
    "facts nan": (lambda t: replace(t, facts={"a": np.nan}), "facts must be plain JSON values"),
    "layer character": (
        lambda t: replace(t, layers=(Layer(9, 0.0, np.array([0]), turns(2, 1)),)),
        "layer 0 \\('layer'\\) is on character 9 of 6",
    ),
    "layer joint": (
        lambda t: replace(t, layers=(Layer(0, 0.0, np.array([50]), turns(2, 1)),)),
        "turns joint 50 of character 'person-0'",
    ),
    "layer twice": (lambda t: Layer(0, 0.0, np.array([1, 1]), turns(2, 2)), "names a joint twice"),
    "layer length": (lambda t: Layer(0, 0.0, np.array([1]), 2 * turns(2, 1)), "quaternions of length one"),
    "layer empty": (lambda t: Layer(0, 0.0, np.array([1]), turns(0, 1)), "has no samples"),
    "layer time": (lambda t: Layer(0, np.nan, np.array([1]), turns(1, 1)), "starts at nan"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_does_not_fit_is_named(kind):
    build, message = WRONG[kind]
    with pytest.raises(TakeError, match=message) as caught:
        build(random_take(4, blend=True))
    assert "\n" not in str(caught.value)


def test_arrays_are_owned_and_read_only():
    take = random_take(4)
    for array in (
        take.rows,
        take.ends,
        take.bodies,
        take.goals,
        take.radii,
        take.segments.pose,
        take.clips[0].rotations,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    facts = {"list": [1]}
    kept = replace(take, facts=facts)
    facts["list"].append(2)
    assert kept.facts["list"] == [1]


def test_clips_are_kept_to_single_precision_and_once_rounded_are_the_same():
    take = random_take(4)
    for clip in take.clips:
        np.testing.assert_array_equal(clip.rotations, clip.rotations.astype(np.float32))
        np.testing.assert_array_equal(clip.root_positions, clip.root_positions.astype(np.float32))
        assert np.abs(np.linalg.norm(clip.rotations, axis=-1) - 1.0).max() < 1e-7
    again = replace(take)
    assert all(a is b for a, b in zip(take.clips, again.clips, strict=True))
    np.testing.assert_array_equal(take.segments.pose[:, :2] * 2**20 % 1.0, 0.0)


def test_what_it_says_of_itself():
    take = random_take(4)
    assert len(take) == 6
    assert repr(take).startswith("Take(6 characters, ")
    assert take.duration == take.ends.max()
    np.testing.assert_array_equal(take.starts, [take.start(c) for c in range(6)])
    assert take.index("person-3") == 3
