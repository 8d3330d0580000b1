"""Tiny motions for tests of motion graphs: a rigid figure of three joints that slides along lines and bends."""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.graphs.corpus import Corpus, build_corpus
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton

TOY = Skeleton(
    names=("root", "arm", "tip"),
    parents=np.array([-1, 0, 1]),
    offsets=np.array([[0.0, 0.0, 1.0], [0.4, 0.0, 0.2], [0.3, 0.2, 0.1]]),
    name="toy",
)


def slide(
    name: str, frames: int = 40, bend: float = 0.0, speed: float = 1.0, wave: float = 0.0, label: str = ""
) -> Clip:
    """A clip that goes along an arc, facing along it; `bend` in radians a second, `wave` of the arm in radians."""
    fps = 30.0
    heading = bend * np.arange(frames) / fps
    step = speed / fps * np.column_stack([np.cos(heading), np.sin(heading)])
    places = np.concatenate([np.zeros((1, 2)), np.cumsum(step[:-1], axis=0)])
    turned = rotations.identity(frames, 3)
    turned[:, 0] = rotations.from_yaw(heading)
    turned[:, 1] = rotations.from_axis_angle([0.0, 1.0, 0.0], wave * np.sin(2.0 * np.pi * np.arange(frames) / 12.0))
    roots = np.column_stack([places, np.ones(frames)])
    labels = (label,) if label else ()
    return Clip(TOY, roots, turned, fps, name, np.zeros((frames, 0), dtype=bool), labels)


def toy_corpus(*labels: str) -> Corpus:
    """Straight on, to the left and to the right, with a waving arm; windows of three frames."""
    words = labels or ("", "", "")
    return build_corpus(
        [
            slide("straight", wave=0.3, label=words[0]),
            slide("left", bend=1.2, wave=0.3, label=words[1]),
            slide("right", bend=-1.2, wave=0.3, label=words[2]),
        ],
        half_window_s=1.0 / 30.0,
    )
