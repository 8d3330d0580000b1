"""How good motion out of a motion graph is, beside the captures that it is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.audit.sources import root_steps, turn_steps
from gaitway.core.arrays import FloatArray
from gaitway.graphs.corpus import Corpus
from gaitway.graphs.kovar.following import Followed
from gaitway.motion.clip import Clip
from gaitway.motion.footskate import foot_slide


@dataclass(frozen=True, eq=False)
class Captured:
    """What the captures do themselves."""

    turns: FloatArray
    """99.9th percentile of changes of angular velocity, by joint [rad/s]; (J,)."""
    root: float
    """The same of the root [m/s]."""
    slide: float
    """Farthest slide of a planted point but for the worst twentieth of stances [m]."""


def captured(corpus: Corpus) -> Captured:
    """What the clips of a corpus do, before anything is blended."""
    turns = np.percentile(np.concatenate([turn_steps(clip) for clip in corpus.clips]), 99.9, axis=0)
    roots = np.percentile(np.concatenate([root_steps(clip) for clip in corpus.clips]), 99.9)
    slides = np.concatenate([foot_slide(clip) for clip in corpus.clips])
    usual = float(np.percentile(slides, 95.0)) if len(slides) else 0.0
    return Captured(np.maximum(turns, 0.5), max(float(roots), 0.05), usual)


def transition_shares(followed: Followed, clip: Clip, turns: FloatArray, root: float) -> FloatArray:
    """The audit's continuity of each transition of a walk: its most sudden change of speed over the usual one; (T,)."""
    shares = np.column_stack([turn_steps(clip) / turns, root_steps(clip) / root]).max(axis=1)
    window = followed.walk.graph.transitions.window
    return np.array([shares[max(first - 2, 0) : first + window + 1].max() for first in followed.walk.transitions])


def slide(clip: Clip) -> float:
    """How far planted points slide but in the worst twentieth of stances [cm]."""
    slides = foot_slide(clip)
    return round(100 * float(np.percentile(slides, 95.0)), 1) if len(slides) else 0.0
