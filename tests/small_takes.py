"""Small takes for tests of what is done with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from figures import walking
from gaitway.motion.clip import Clip
from gaitway.motion.editing import slice_frames, with_name
from gaitway.motion.skeleton import Skeleton
from gaitway.take.model import Take
from gaitway.take.tracks import assemble, lay_track
from strategies import random_rotations


def walkers(count: int = 3, seconds: float = 2.0, starts: Sequence[float] = (), names: Sequence[str] = ()) -> Take:
    """People who walk two stretches, in different directions; `starts` [s] and `names` by number where given."""
    whole = walking(seconds, 30.0)
    half = len(whole) // 2
    clips = [with_name(slice_frames(whole, 0, half + 1), "walk"), with_name(slice_frames(whole, half), "stroll")]
    tracks = [
        lay_track(
            names[i] if i < len(names) else f"walker {i}",
            clips,
            (1.5 * i, -0.5 * i, 0.7 * i),
            starts[i] if i < len(starts) else 0.0,
        )
        for i in range(count)
    ]
    return assemble(tracks, fps=30.0)


def odd_take(seed: int = 0, joints: int = 6, frames: int = 20) -> Take:
    """A character of no known kind that turns all its joints at random, beside a walker."""
    rng = np.random.default_rng(seed)
    skeleton = Skeleton(
        tuple(f"bone:{j} a" for j in range(joints)),
        np.array([-1, *(int(rng.integers(0, j)) for j in range(1, joints))]),
        rng.normal(0.0, 0.4, (joints, 3)),
        rest_rotations=random_rotations(rng, joints),
        name="odd thing",
    )
    steps = np.cumsum(rng.normal(0.0, 0.02, (frames, 3)), axis=0)
    clip = Clip(skeleton, steps, random_rotations(rng, frames, joints), 30.0, "writhe")
    return assemble([lay_track("odd", [clip], (3.0, 4.0, 0.5)), lay_track("ada", [walking(1.0, 30.0)])], fps=30.0)
