"""How unlike the other takes of its motion a take is, in few numbers that mean something, by one scale for all sets.

The thesis (section 5.7) compares likelihoods of re-synthesis: a network learnt from other takes goes on from a take's
first two frames, and the take is likely if that ends up near to it. As densities frame by frame and degree by degree
they tell hardly anything: a twist of the upper arm that the hand undoes counts as much as a step, what is wrong in one
arm drowns in sixty other columns, a take's variance is that of its own set, so that a loose set forgives itself, and a
slow take is as likely as any, for its phases are given. So re-synthesis is compared here as it is seen: how far the
joints of each part of the body are from where the network has them, and beside it how far the arms swing, how much the
take turns, its speed, its pace and its roughness. Each of these is in its own unit, and measured by how far takes that
are known to go together differ in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.network.dofs import PARTS, ROOT_NAMES, Degrees, joint_parts
from gaitway.variation.network.model import check_same
from gaitway.variation.network.phase import progress, set_clock
from gaitway.variation.network.regression import Kernel, make_rows, unroll
from gaitway.variation.network.structure import Structure
from gaitway.variation.network.transition import Search, Trial, find_transition

ASPECTS = (*PARTS, "swing", "turn", "speed", "pace", "roughness")
"""What a take is judged by: distance from its re-synthesis of each part of the body [m, root mean square]; logarithm of
how far its arms swing; how far it turns [rad]; its speed [m/s]; logarithms of its length and of its third differences.
All but the first four are differences from the median of the other takes."""
_UNSEEN = np.array([0.01, 0.01, 0.01, 0.01, 0.05, np.radians(2.0), 0.04, 0.02, 0.1])
"""Differences that nobody sees, in the same units: no scale is finer."""
_LEAST_SCALE = 0.1
"""Columns are scaled by their deviation in the other takes, but by no less than this share of that in all of them."""
_NORMAL_MEDIAN = 0.6745
"""Median of the size of a normal variable of deviation one."""
_LOOSER = 1.5
"""How many times as far as the takes of a scale somebody else's may differ."""
_LEAST_FRAMES = 4


@dataclass(frozen=True, eq=False)
class Scale:
    """How far takes that go together differ in each of `ASPECTS`."""

    deviations: FloatArray
    """(9,)."""

    def __post_init__(self) -> None:
        kept = owned(self.deviations, "deviations", (len(ASPECTS),), error=VariationError)
        object.__setattr__(self, "deviations", kept)

    @classmethod
    def of_known(cls, sets: Sequence[FloatArray]) -> Scale:
        """Of sets of takes that are known to go together, each set counting the same; (n, 9) each."""
        squares = np.mean([np.mean(np.reshape(one, (-1, len(ASPECTS))) ** 2, axis=0) for one in sets], axis=0)
        return cls(np.sqrt(squares + _UNSEEN**2))

    @classmethod
    def of_most(cls, found: FloatArray) -> Scale:
        """Of a set of which most go together (n, 9): what the median take differs by."""
        middle = np.median(np.abs(np.reshape(found, (-1, len(ASPECTS)))), axis=0)
        middle[len(PARTS) :] /= _NORMAL_MEDIAN
        return cls(np.sqrt(middle**2 + _UNSEEN**2))

    def allowing(self, own: Scale) -> Scale:
        """This scale for somebody whose takes differ by more, as of `of_most`: by half as much again at the most.

        People differ in how much they vary; a set that is looser than that does not go together.
        """
        return Scale(np.clip(own.deviations, self.deviations, _LOOSER * self.deviations))

    def log_likelihood(self, found: FloatArray) -> FloatArray:
        """Of takes that differ so (..., 9), over that of one that is just as the others would have it; (...)."""
        return np.asarray(-0.5 * ((found / self.deviations) ** 2).sum(axis=-1))


def differences(others: Sequence[Clip], judged: Sequence[Clip], rounds: int = 0) -> FloatArray:
    """How takes differ from what others lead one to expect.

    Args:
        others: three or more, on one skeleton and at one rate; the network's rows.
        judged: takes of the same motion that are not among them.
        rounds: of the search for the network's edges. Edges from other degrees of freedom make no difference to what is
            told here (measured on captured walks), and cost seconds; 0 leaves each with its own past and the clock.

    Returns:
        One row a take, one column for each of `ASPECTS`.

    Raises:
        VariationError: if a take is too short, or on another skeleton or at another rate.
    """
    every = [*others, *judged]
    short = next((take for take in every if len(take) < _LEAST_FRAMES), None)
    if short is not None:
        raise VariationError(f"take '{short.name}' has {len(short)} frames; at least {_LEAST_FRAMES} are needed")
    if len(others) < 2:
        raise VariationError(f"{len(others)} other takes to judge by; give 2 or more")
    first = Degrees.of(every[:1])
    for take in every[1:]:
        check_same(first, take)
    degrees = Degrees.of(every)
    if len(degrees) == 0:
        raise VariationError(f"nothing moves in '{every[0].name}' and the other takes; there is nothing to judge")
    plain = [degrees.rows(take) for take in every]
    pool = np.concatenate(plain[: len(others)])
    centre = pool.mean(axis=0)
    scale = np.maximum(pool.std(axis=0), _LEAST_SCALE * np.concatenate(plain).std(axis=0))
    made = _resynthesis([(rows - centre) / scale for rows in plain], len(others), degrees.fps, rounds)
    bodies = [_body(degrees, rows) for rows in plain]
    parts = joint_parts(degrees.skeleton)
    sums = np.array([_sums(take, body, parts) for take, body in zip(every, bodies, strict=True)])
    usual = np.median(sums[: len(others)], axis=0)
    out = np.zeros((len(judged), len(ASPECTS)))
    for row, rows in enumerate(made):
        number = len(others) + row
        apart = ((bodies[number] - _body(degrees, rows * scale + centre)) ** 2).sum(axis=-1)
        out[row, : len(PARTS)] = [
            np.sqrt(apart[:, parts == part].mean()) if (parts == part).any() else 0.0 for part in range(len(PARTS))
        ]
        out[row, len(PARTS) :] = sums[number] - usual
    # what few others lead one to expect is itself off, by as much as a mean of them is
    return np.asarray(out * np.sqrt(len(others) / (len(others) + 1.0)))


def _resynthesis(scaled: list[FloatArray], count: int, fps: float, rounds: int) -> list[FloatArray]:
    """Takes from number `count` on, each from its own first two frames by a network of those before; (F, n) each."""
    others, nodes = scaled[:count], scaled[0].shape[1]
    clock = set_clock(others)
    rows = make_rows(others, clock, False, Kernel(), fps)
    structure = Structure.of(np.zeros((nodes, 2 * nodes), np.bool_))
    if rounds > 0:
        search = Search(rounds=rounds)
        trial = Trial.of(rows, others, clock.phases, search, np.zeros(nodes, np.bool_), 0)
        structure = find_transition(trial, search, 0).structure
    out = []
    for take in scaled[count:]:
        phases = clock.period * progress(take, clock.mean, clock.weights)
        got = unroll(rows, structure.parents, structure.counts, take[None, :2], phases[None], len(take))
        out.append(got.values[0].astype(np.float64))
    return out


def _body(degrees: Degrees, rows: FloatArray) -> FloatArray:
    """Joints of rows (F, n) as if on the spot and facing ahead, at the height they have [m]; (F, J, 3)."""
    still = np.array(rows)
    still[:, [column for column, name in enumerate(degrees.names) if name in ROOT_NAMES[:3]]] = 0.0
    places = degrees.clip(still, "on the spot").joint_positions()
    return np.asarray(places - places[:, :1] * [1.0, 1.0, 0.0])


def _sums(take: Clip, body: FloatArray, parts: IntArray) -> FloatArray:
    """What is told of a take as a whole, in the order of `ASPECTS` behind the parts."""
    path, seconds = take.planar_path(), take.duration
    arms = parts >= PARTS.index("left_arm")
    moving = body[:, arms] if arms.any() else body  # what has no arms swings as a whole
    swing = np.sqrt(((moving - moving.mean(axis=0)) ** 2).sum(axis=-1).mean())
    jerk = np.sqrt(np.mean(np.diff(body, 3, axis=0) ** 2)) * take.fps**3
    gone = float(np.linalg.norm(path[-1, :2] - path[0, :2]))
    return np.array(
        [np.log(swing + 1e-6), path[-1, 2] - path[0, 2], gone / seconds, np.log(seconds), np.log(jerk + 1e-6)]
    )
