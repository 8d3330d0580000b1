"""Takes that kernels could not trust, or that ask for endless memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crafted import changed
from gaitway.core.errors import FormatError, TakeError
from gaitway.take import load_take, save_take
from small_takes import walkers
from take_makers import random_take


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("takes") / "a.npz"
    save_take(random_take(4), path)
    return path


def words(*place: Any, value: Any) -> Any:
    def change(header: dict[str, Any], arrays: Any) -> None:
        del arrays
        holder: Any = header
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = value

    return change


def numbers(name: str, value: float, place: Any = 0) -> Any:
    def change(header: dict[str, Any], arrays: Any) -> None:
        del header
        plain = name if name in arrays else f"{name}.values"
        arrays[plain][place] = value

    return change


def wrapped_rows(header: dict[str, Any], arrays: Any) -> None:
    """Rows whose differences are all positive, if whole numbers wrap."""
    arrays["rows"][1:4] = 2**63 - 1, -(2**63), -1


def far_pose(header: dict[str, Any], arrays: Any) -> None:
    arrays["segments.pose.x"] = arrays["segments.pose.x"].astype(np.int64)
    arrays["segments.pose.x"][0] = 2**62


BAD = {
    "names no list": (words("names", value={"a": 1}), "names: input should be a valid list"),
    "name no text": (words("names", 0, value=7), r"names\[0\]: input should be a valid string, found 7"),
    "fps no number": (words("fps", value="30"), "fps: input should be a valid number"),
    "facts no map": (words("facts", value=[]), "facts: input should be a valid dictionary"),
    "role of half a joint": (words("skeletons", 0, "roles", value={"hips": 0.5}), "roles.hips: input should be"),
    "role beyond": (words("skeletons", 0, "roles", value={"hips": 99}), "role 'hips' points at joint 99"),
    "contact point of two": (words("skeletons", 0, "contact_points", 0, 2, value=[1, 2]), r"contact_points\[0\]\[2\]"),
    "contact point of words": (words("skeletons", 0, "contact_points", 0, value="heel"), r"contact_points\[0\]"),
    "tip of nobody": (words("skeletons", 0, "tips", value={"-1": [0, 0, 0]}), "tips"),
    "clip of no skeleton": (words("clips", 0, "skeleton", value=7), "7 skeletons; at most"),
    "clip of a true skeleton": (words("clips", 0, "skeleton", value=True), r"clips\[0\].skeleton"),
    "labels of numbers": (words("clips", 0, "labels", value=[1]), r"clips\[0\].labels\[0\]"),
    "more words": (words("colour", value="red"), "colour: extra inputs are not permitted"),
    "late end": (numbers("ends", 1e9), "ends at 1e\\+09 s; at most 172800"),
    "early start": (numbers("segments.start", -1e9), "start 1e\\+09; at most 172800"),
    "far offset": (numbers("segments.offset", -1e300), "offset 1e\\+300; at most 172800"),
    "fast": (numbers("segments.speed", 1e9), "speed 1e\\+09; at most 1000"),
    "far pose": (far_pose, "pose 4.39805e\\+12; at most 1e\\+09"),
    "far root": (numbers("clip.0.roots", 1e30), "beyond 1e\\+09 m"),
    "no root": (numbers("clip.0.roots", np.nan), "not finite"),
    "rows that wrap": (wrapped_rows, "rows begin at 0"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_what_kernels_cannot_trust_is_refused(file: Path, what: str) -> None:
    change, problem = BAD[what]
    with pytest.raises(FormatError, match=problem) as caught:
        load_take(changed(file, change))
    assert "\n" not in str(caught.value)


def test_two_days_are_the_longest_take() -> None:
    take = walkers(1)
    assert replace(take, ends=np.array([172_800.0])).duration == 172_800.0
    with pytest.raises(TakeError, match="ends at 172801 s; at most 172800"):
        replace(take, ends=np.array([172_801.0]))
    with pytest.raises(TakeError, match="at most 2000 s"):
        replace(take, ends=np.array([2001.0]), fps=100_000.0)


def test_a_long_take_is_not_evaluated_at_once() -> None:
    take = replace(walkers(1), ends=np.array([80_000.0]))
    assert len(take.joints(70_000.0)[0]) == 1
    with pytest.raises(TakeError, match="at 1000 Hz is 80000001 frames of"):
        take.clip(0, 1000.0)
    with pytest.raises(TakeError, match="ask for a lower rate"):
        take.dense(1000.0)
    assert len(take.clip(0, 0.1)) == 8001
