"""Transitions: pieces in which one motion is blended into another (Kovar et al. 2002, sections 3.2 and 3.3).

The largest distance of two frames for a transition depends on the tempo of the motion: how far a body's cloud moves
relative to itself in a few hundredths of a second. Frames that are no farther apart look like one motion, a moment
early or late, and a blend between them looks natural. Fast motions change much from frame to frame and allow larger
distances, slow motions smaller ones. The limit of a pair of label sets is the mean of the limits of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned
from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import Corpus
from gaitway.graphs.distance import aligning_moves, pair_distances
from gaitway.graphs.minima import Minima, corpus_minima

SPACING_S = 0.1
"""Least time between two transitions in both motions [s]; of nearer minima only the best becomes a transition."""
TEMPO_S = 0.08
"""Time in which the motion of a cloud relative to itself is the limit of a transition [s]."""
_LEAST = 0.035
"""Least limit [m]; two stands of a character differ by that much, and little moves in such a blend."""
_MOST = 0.10
"""Largest limit [m]; beyond it postures differ, and a fast change of posture is visible in any motion."""
_STILL = 0.03
"""Speed of a cloud relative to itself below which a frame does not count for the tempo [m/s]."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """Blends of `window` frames of one motion with as many frames of another; one row for each transition."""

    leave: IntArray
    """First frame of the blend in the motion that is left, as a frame of the corpus; (T,)."""
    enter: IntArray
    """First frame of the blend in the motion that is entered; (T,)."""
    moves: FloatArray
    """Planar moves that bring the entered motion to the left one: x, y [m], heading [rad]; (T, 3)."""
    distances: FloatArray
    """Distances of both clouds [m]; (T,)."""
    window: int
    """Number of frames of each transition."""

    def __post_init__(self) -> None:
        count = len(self.leave)
        for name in ("leave", "enter"):
            object.__setattr__(self, name, owned(getattr(self, name), name, (count,), np.int64, GraphError))
        object.__setattr__(self, "moves", owned(self.moves, "moves", (count, 3), error=GraphError))
        object.__setattr__(self, "distances", owned(self.distances, "distances", (count,), error=GraphError))

    def __len__(self) -> int:
        return len(self.leave)

    def chosen(self, which: npt.ArrayLike) -> Transitions:
        """Return some of the transitions, by mask or index."""
        rows = np.asarray(which)
        return Transitions(self.leave[rows], self.enter[rows], self.moves[rows], self.distances[rows], self.window)


@dataclass(frozen=True, eq=False)
class BlendedFrames:
    """Frames of T transitions, at the places of the motions that are left."""

    roots: FloatArray
    """Root positions [m]; (T, W, 3)."""
    rotations: FloatArray
    """Local rotations; (T, W, J, 4)."""
    contacts: BoolArray
    """Contacts; (T, W, C)."""


def blend_weights(window: int) -> FloatArray:
    """Return the weight of the motion that is left in each frame of a transition; (W,).

    The weight is 1 one frame before the transition and 0 in its last frame, and changes smoothly.
    """
    s = (np.arange(window) + 1.0) / window
    return np.asarray(2.0 * s**3 - 3.0 * s**2 + 1.0)


def blended(corpus: Corpus, transitions: Transitions) -> BlendedFrames:
    """Return the frames of transitions: roots are blended linearly, joints by slerp.

    Contacts are those of the motion with the larger weight: first the left motion, then the entered one.
    """
    over = np.arange(transitions.window)
    a, b = transitions.leave[:, None] + over, transitions.enter[:, None] + over
    share = blend_weights(transitions.window)
    moves = transitions.moves[:, None]
    roots = np.array(corpus.roots[b])
    roots[..., :2] = planar.transform_points(moves, roots[..., :2])
    turned = np.array(corpus.rotations[b])
    turned[..., 0, :] = rotations.multiply(rotations.from_yaw(moves[..., 2]), turned[..., 0, :])
    mixed = rotations.slerp(turned, corpus.rotations[a], share[:, None])
    contacts = np.where(share[:, None] >= 0.5, corpus.contacts[a], corpus.contacts[b])
    return BlendedFrames(roots + share[:, None] * (corpus.roots[a] - roots), mixed, contacts)


def blended_paths(corpus: Corpus, transitions: Transitions) -> FloatArray:
    """Return the place of the body over the ground in each frame, without the sway of steps [m]; (T, W, 2)."""
    over = np.arange(transitions.window)
    a, b = corpus.paths[transitions.leave[:, None] + over], corpus.paths[transitions.enter[:, None] + over]
    moved = planar.transform_points(transitions.moves[:, None], b)
    return np.asarray(moved + blend_weights(transitions.window)[:, None] * (a - moved))


def find_transitions(corpus: Corpus, limits: FloatArray, *, spacing_s: float = SPACING_S) -> Transitions:
    """Find all transitions, in both directions, whose distance is a local minimum below the limit of their label sets.

    Args:
        corpus: Motions.
        limits: Limits for transitions from each label set to each label set [m]; (S, S).
        spacing_s: Least time between two transitions in both motions [s]; 0 keeps all minima.
    """
    clouds = corpus.clouds
    half, window = clouds.half, clouds.window
    found = corpus_minima(clouds, float(limits.max()), apart=window)
    sets = corpus.set_of
    allowed = np.maximum(limits, limits.T)[sets[found.rows], sets[found.columns]]
    found = thinned(_chosen(found, found.distances < allowed), round(spacing_s * corpus.fps))
    i, j = np.concatenate([[found.rows, found.columns], [found.columns, found.rows]], axis=1)
    distances = np.tile(found.distances, 2)
    good = distances < limits[sets[i], sets[j]]
    i, j, distances = i[good], j[good], distances[good]
    moves = [aligning_moves(clouds, i[k : k + 1024], clouds, j[k : k + 1024]) for k in range(0, len(i), 1024)]
    return Transitions(i - half, j - half, np.concatenate([np.empty((0, 3)), *moves]), distances, window)


def thinned(found: Minima, spacing: int) -> Minima:
    """Return the minima without those that are nearer than `spacing` rows and columns to a better one."""
    if spacing < 2:
        return found
    cells: dict[tuple[int, int], list[int]] = {}
    kept: list[int] = []
    rows, columns = found.rows.tolist(), found.columns.tolist()
    for k in np.argsort(found.distances, kind="stable").tolist():
        i, j = rows[k], columns[k]
        around = (cells.get((i // spacing + a, j // spacing + b), ()) for a in (-1, 0, 1) for b in (-1, 0, 1))
        if any(abs(rows[m] - i) < spacing and abs(columns[m] - j) < spacing for near in around for m in near):
            continue
        cells.setdefault((i // spacing, j // spacing), []).append(k)
        kept.append(k)
    return _chosen(found, np.sort(np.array(kept, dtype=np.int64)))


def _chosen(found: Minima, which: npt.NDArray[np.bool_] | IntArray) -> Minima:
    return Minima(found.rows[which], found.columns[which], found.distances[which])


@dataclass(frozen=True)
class TransitionThresholds:
    """Limits of the distances of transitions [m]."""

    common: float | None = None
    """Limit of all transitions [m]; None takes the tempo of each label set."""
    pairs: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Limits of transitions from frames with the first label to frames with the second [m]; they replace the others."""
    ease: float | None = None
    """Factor of all limits: a larger one gives more transitions, a smaller one better transitions. None takes the
    smallest factor that keeps nearly all motion that 1 keeps, and every connection of label sets; with `common` it is
    1."""

    def __post_init__(self) -> None:
        given = [*self.pairs.values(), *(value for value in (self.common, self.ease) if value is not None)]
        if not all(np.isfinite(value) and value > 0.0 for value in given):
            raise GraphError("thresholds of transitions must be above 0 m")
        object.__setattr__(self, "pairs", MappingProxyType(dict(self.pairs)))


def transition_limits(corpus: Corpus, thresholds: TransitionThresholds) -> FloatArray:
    """Return the limits of transitions between label sets [m]; (S, S). An ease of None counts as 1."""
    if thresholds.common is None:
        own = tempos(corpus)
        table = 0.5 * (own[:, None] + own)
    else:
        table = np.full((len(corpus.sets), len(corpus.sets)), thresholds.common)
    for (before, after), limit in thresholds.pairs.items():
        table[np.ix_(corpus.having(before), corpus.having(after))] = limit
    return np.asarray(table * (1.0 if thresholds.ease is None else thresholds.ease))


def tempos(corpus: Corpus, tempo_s: float = TEMPO_S) -> FloatArray:
    """Return the median motion of moving clouds relative to themselves in a time, by label set [m]; (S,)."""
    clouds = corpus.clouds
    before = np.flatnonzero(clouds.valid[:-1] & clouds.valid[1:] & (np.diff(corpus.clip_of) == 0))
    step = pair_distances(clouds, before, clouds, before + 1)
    moving, set_of = step * corpus.fps > _STILL, corpus.set_of[before]
    out = np.full(len(corpus.sets), _LEAST)
    for number in range(len(out)):
        mine = step[moving & (set_of == number)]
        if len(mine):
            out[number] = float(np.clip(np.median(mine) * corpus.fps * tempo_s, _LEAST, _MOST))
    return out
