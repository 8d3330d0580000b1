"""How far a take differs from the other takes of its motion, in a few meaningful numbers, on one scale for all sets.

The thesis (section 5.7) compares likelihoods of re-synthesis: a network learnt from other takes continues from a take's
first two frames, and the take is likely if the result stays near it. Densities frame by frame and degree by degree say
little, for four reasons. A twist of the upper arm that the hand undoes counts as much as a step. An error in one arm is
lost among sixty other columns. A take's variance is that of its own set, so that a loose set accepts everything. A slow
take is as likely as any, because its phases are given. So here re-synthesis is compared as an observer sees it: how far
the joints of each part of the body are from where the network puts them, and besides how far the arms swing, how much
the take turns, its speed, its pace and its roughness. Each of these has its own unit, and is measured by how far takes
that are known to go together differ in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.core.errors import VariationError
from gaitway.motion.anatomy import PARTS, joint_parts
from gaitway.motion.clip import Clip
from gaitway.variation.network.dofs import ROOT_NAMES, Dofs
from gaitway.variation.network.model import check_same
from gaitway.variation.network.phase import align_phases, phase_shares
from gaitway.variation.network.regression import RegressionKernel, make_rows, unroll
from gaitway.variation.network.structure import Structure
from gaitway.variation.network.transition import TransitionSearch, Trial, find_transition

ASPECTS = (*PARTS, "swing", "turn", "speed", "pace", "roughness")
"""Aspects by which a take is judged: distance of each part of the body from its re-synthesis [m, root mean square];
logarithm of the swing of its arms; its turn [rad]; its speed [m/s]; logarithms of its length and of its third
differences. All but the first four are differences from the median of the other takes."""
_UNSEEN = np.array([0.01, 0.01, 0.01, 0.01, 0.05, np.radians(2.0), 0.04, 0.02, 0.1])
"""Differences that are not visible, in the same units; no scale is finer."""
_LEAST_SCALE = 0.1
"""Least scale of a column, as a share of its deviation in all takes; the usual scale is its deviation in the other
takes."""
_NORMAL_MEDIAN = 0.6745
"""Median of the absolute value of a normal variable of deviation one."""
_LOOSER = 1.5
"""Factor by which takes of another person may differ more than the takes of a scale."""
_LEAST_FRAMES = 4


@dataclass(frozen=True, eq=False)
class OutlierScale:
    """How far takes that go together differ in each of `ASPECTS`."""

    deviations: FloatArray
    """Deviation of each aspect; (9,)."""

    def __post_init__(self) -> None:
        kept = owned(self.deviations, "deviations", (len(ASPECTS),), error=VariationError)
        object.__setattr__(self, "deviations", kept)

    @classmethod
    def of_known(cls, sets: Sequence[FloatArray]) -> OutlierScale:
        """Return the scale of sets of takes that go together, all sets with the same weight; (n, 9) each."""
        squares = np.mean([np.mean(np.reshape(one, (-1, len(ASPECTS))) ** 2, axis=0) for one in sets], axis=0)
        return cls(np.sqrt(squares + _UNSEEN**2))

    @classmethod
    def of_most(cls, found: FloatArray) -> OutlierScale:
        """Return the scale of a set of which most takes go together (n, 9), by the median difference."""
        middle = np.median(np.abs(np.reshape(found, (-1, len(ASPECTS)))), axis=0)
        middle[len(PARTS) :] /= _NORMAL_MEDIAN
        return cls(np.sqrt(middle**2 + _UNSEEN**2))

    def allowing(self, own: OutlierScale) -> OutlierScale:
        """Return this scale for a person whose takes differ by more (`of_most`), but by half as much again at most.

        People differ in how much they vary; a set that is looser than that does not go together.
        """
        return OutlierScale(np.clip(own.deviations, self.deviations, _LOOSER * self.deviations))

    def log_likelihood(self, found: FloatArray) -> FloatArray:
        """Return the log-likelihood of differences (..., 9), relative to no difference; (...)."""
        return np.asarray(-0.5 * ((found / self.deviations) ** 2).sum(axis=-1))


def differences(others: Sequence[Clip], judged: Sequence[Clip], rounds: int = 0) -> FloatArray:
    """Return how takes differ from what other takes predict.

    Args:
        others: Takes that the network is learnt from; three or more, on one skeleton and at one rate.
        judged: Takes of the same motion that are not among them.
        rounds: Rounds of the search for the network's edges. Edges from other degrees of freedom make no difference
            here (measured on captured walks), and cost seconds. With 0, each depends on its own past and the phase
            alone.

    Returns:
        One row for each take, one column for each of `ASPECTS`.

    Raises:
        VariationError: if a take is too short, or on another skeleton or at another rate.
    """
    every = [*others, *judged]
    short = next((take for take in every if len(take) < _LEAST_FRAMES), None)
    if short is not None:
        raise VariationError(f"take '{short.name}' has {len(short)} frames; at least {_LEAST_FRAMES} are needed")
    if len(others) < 2:
        raise VariationError(f"{len(others)} other takes to judge by; give 2 or more")
    first = Dofs.of(every[:1])
    for take in every[1:]:
        check_same(first, take)
    dofs = Dofs.of(every)
    if len(dofs) == 0:
        raise VariationError(f"nothing moves in '{every[0].name}' and the other takes; there is nothing to judge")
    plain = [dofs.rows(take) for take in every]
    pool = np.concatenate(plain[: len(others)])
    centre = pool.mean(axis=0)
    scale = np.maximum(pool.std(axis=0), _LEAST_SCALE * np.concatenate(plain).std(axis=0))
    made = _resynthesis([(rows - centre) / scale for rows in plain], len(others), dofs.fps, rounds)
    bodies = [_body(dofs, rows) for rows in plain]
    parts = joint_parts(dofs.skeleton)
    sums = np.array([_sums(take, body, parts) for take, body in zip(every, bodies, strict=True)])
    usual = np.median(sums[: len(others)], axis=0)
    out = np.zeros((len(judged), len(ASPECTS)))
    for row, rows in enumerate(made):
        number = len(others) + row
        apart = ((bodies[number] - _body(dofs, rows * scale + centre)) ** 2).sum(axis=-1)
        out[row, : len(PARTS)] = [
            np.sqrt(apart[:, parts == part].mean()) if (parts == part).any() else 0.0 for part in range(len(PARTS))
        ]
        out[row, len(PARTS) :] = sums[number] - usual
    # a prediction from few takes has an error of its own, that of a mean of them
    return np.asarray(out * np.sqrt(len(others) / (len(others) + 1.0)))


def _resynthesis(scaled: list[FloatArray], count: int, fps: float, rounds: int) -> list[FloatArray]:
    """Return takes from number `count` on, each re-synthesised from its first two frames; (F, n) each.

    The network is learnt from the takes before.
    """
    others, nodes = scaled[:count], scaled[0].shape[1]
    alignment = align_phases(others)
    rows = make_rows(others, alignment, False, RegressionKernel(), fps)
    structure = Structure.of(np.zeros((nodes, 2 * nodes), np.bool_))
    if rounds > 0:
        search = TransitionSearch(rounds=rounds)
        trial = Trial.of(rows, others, alignment.phases, search, np.zeros(nodes, np.bool_), 0)
        structure = find_transition(trial, search, 0).structure
    out = []
    for take in scaled[count:]:
        phases = alignment.period * phase_shares(take, alignment.mean, alignment.weights)
        got = unroll(rows, structure, take[None, :2], phases[None], len(take))
        out.append(got.values[0].astype(np.float64))
    return out


def _body(dofs: Dofs, rows: FloatArray) -> FloatArray:
    """Return joint positions of rows (F, n) as if on the spot and facing ahead, at their own height [m]; (F, J, 3)."""
    still = np.array(rows)
    still[:, [column for column, name in enumerate(dofs.names) if name in ROOT_NAMES[:3]]] = 0.0
    places = dofs.clip(still, "on the spot").joint_positions()
    return np.asarray(places - places[:, :1] * [1.0, 1.0, 0.0])


def _sums(take: Clip, body: FloatArray, parts: IntArray) -> FloatArray:
    """Return the aspects of a take as a whole, in the order of `ASPECTS` behind the parts."""
    path, seconds = take.planar_path(), take.duration
    arms = parts >= PARTS.index("left_arm")
    moving = body[:, arms] if arms.any() else body  # without arms, the whole body counts
    swing = np.sqrt(((moving - moving.mean(axis=0)) ** 2).sum(axis=-1).mean())
    jerk = np.sqrt(np.mean(np.diff(body, 3, axis=0) ** 2)) * take.fps**3
    gone = float(np.linalg.norm(path[-1, :2] - path[0, :2]))
    return np.array(
        [np.log(swing + 1e-6), path[-1, 2] - path[0, 2], gone / seconds, np.log(seconds), np.log(jerk + 1e-6)]
    )
