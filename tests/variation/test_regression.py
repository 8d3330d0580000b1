"""Kernel regression and unrolling: the compiled kernels beside plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.bench._plain_variation import unroll_plainly
from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import PARTS
from gaitway.variation.network._score_kernels import TakeArrays
from gaitway.variation.network.dofs import Dofs
from gaitway.variation.network.phase import PhaseAlignment, align_phases
from gaitway.variation.network.regression import Noise, RegressionKernel, TrainingRows, make_rows, score_changes, unroll
from gaitway.variation.network.spread import TakeWeights
from gaitway.variation.network.structure import Structure
from gaitway.variation.network.transition import TransitionSearch, Trial
from variation_takes import make_takes, small_model


def takes_and_alignment(cyclic: bool) -> tuple[list[FloatArray], PhaseAlignment]:
    clips = make_takes(cyclic=cyclic)
    dofs = Dofs.of(clips)
    plain = [dofs.rows(clip) for clip in clips]
    pool = np.concatenate(plain)
    scaled = [(rows - pool.mean(axis=0)) / pool.std(axis=0) for rows in plain]
    return scaled, align_phases(scaled)


def random_structure(nodes: int, seed: int) -> Structure:
    edges = np.random.default_rng(seed).random((nodes, 2 * nodes)) < 0.2
    edges[np.arange(nodes), np.arange(nodes)] = edges[np.arange(nodes), nodes + np.arange(nodes)] = False
    return Structure.of(edges)


KERNELS = (
    RegressionKernel(),
    RegressionKernel(phase_scale=0.0, pull=0.0, taper=False, neighbours=9, width=0.33, span=0.15),
    RegressionKernel(phase_scale=0.1, width=0.4),
)


@pytest.mark.parametrize("cyclic", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
def test_unrolling_is_as_numpy_has_it(cyclic: bool, kernel: RegressionKernel) -> None:
    takes, alignment = takes_and_alignment(cyclic)
    rows = make_rows(takes, alignment, cyclic, kernel, 30.0)
    structure = random_structure(rows.nodes, 1)
    rng = np.random.default_rng(0)
    draws = 0.3 * rng.standard_normal((2, 20, rows.nodes))
    phases = np.stack([alignment.phases[0][:20], alignment.phases[1][:20]])
    start = np.stack([takes[0][:2], takes[1][:2]])
    got = unroll(
        rows, structure, start, phases, 20, omitted=np.array([0, -1]), draws=draws
    )  # fmt: skip
    for s, omitted in enumerate((0, -1)):
        values, variances, _ = unroll_plainly(rows, structure, start[s], phases[s], 20, omitted=omitted, draws=draws[s])
        np.testing.assert_allclose(got.values[s], values, atol=2e-3)
        np.testing.assert_allclose(got.variances[s, 2:], variances[2:], atol=2e-3)


@pytest.mark.parametrize("cyclic", [True, False])
def test_residuals_and_clock_are_as_numpy_has_them(cyclic: bool) -> None:
    model = small_model(cyclic)
    mix = TakeWeights(np.random.default_rng(3), model.variation, np.inf).next(25, np.ones(len(PARTS) + 1))
    start, phases = model.takes[0][:2], np.array([0.0, 1.0])
    noise = Noise(mix[None], model.variation.table, model.variation.gains)
    structure, parts = model.transition, model.dofs.parts
    got = unroll(
        model.rows, structure, start[None], phases[None], 25, course=model.course,
        noise=noise, parts=parts,
    )  # fmt: skip
    values, _, when = unroll_plainly(
        model.rows, structure, start, phases, 25, course=model.course, noise=noise, parts=parts
    )
    np.testing.assert_allclose(got.phases[0], when, atol=1e-3)
    np.testing.assert_allclose(got.values[0], values, atol=5e-3)


def test_limits_hold_parts_within_their_range_and_leave_small_deviations_alone() -> None:
    model = small_model()
    structure, parts, course = model.transition, model.dofs.parts, model.course
    mix = np.full((1, 25, len(PARTS) + 1, len(model.takes)), 6.0, np.float32)
    mix[..., -1, :] = 0.0
    noise = Noise(mix, model.variation.table, model.variation.gains)
    start, phases = model.takes[0][None, :2], np.array([[0.0, 1.0]])

    def farthest(limits: FloatArray | None) -> float:
        got = unroll(
            model.rows, structure, start, phases, 25, course=course, noise=noise, parts=parts,
            limits=limits,
        )  # fmt: skip
        place = got.phases[0].astype(float) * course.grid
        lower = np.minimum(place.astype(int), len(course.means) - 2)
        share = (place - lower)[:, None]
        means, spreads = ((1 - share) * t[lower] + share * t[lower + 1] for t in (course.means, course.spreads))
        away = (got.values[0] - means) / spreads
        return max(float(np.sqrt((away[2:, parts == part] ** 2).mean(axis=1)).max()) for part in np.unique(parts))

    assert farthest(None) > 6.0
    assert farthest(np.full(len(PARTS) + 1, 2.5)) < 2.51
    quiet = Noise(0.05 * mix, noise.table, noise.gains)
    free, held = (
        unroll(
            model.rows, structure, start, phases, 25, course=course, noise=quiet, parts=parts,
            limits=limits,
        ).values
        for limits in (None, np.full(len(PARTS) + 1, 50.0))
    )  # fmt: skip
    np.testing.assert_array_equal(free, held)


@pytest.mark.parametrize("cyclic", [True, False])
def test_scores_of_changes_are_those_of_unrolling_one_node(cyclic: bool) -> None:
    takes, alignment = takes_and_alignment(cyclic)
    rows = make_rows(takes, alignment, cyclic, RegressionKernel(), 30.0)
    nodes = rows.nodes
    search = TransitionSearch()
    trial = Trial.of(rows, takes, alignment.phases, search, np.zeros(nodes, np.bool_), 0)
    structure = random_structure(nodes, 5)
    guess, _ = trial.resynthesis(structure)
    chosen = np.array([1, 3])
    allowed = np.ones((2, 2 * nodes), np.bool_)
    allowed[0, 4] = False
    table = score_changes(
        rows,
        structure,
        TakeArrays(trial.truth, guess, trial.lengths, trial.phases, trial.draws),
        chosen,
        allowed,
        trial.floor,
    )
    assert table[0, 4] == -np.inf
    for a, node in enumerate(chosen):
        for parent in (int(node), 0, 2, nodes + 5):
            edges = structure.edges(2 * nodes)
            if parent != node:
                edges[node, parent] ^= True
            others = np.arange(nodes) != node
            changed = Structure.of(edges)
            got = unroll(
                rows, changed, trial.truth[:, :2], trial.phases, trial.truth.shape[1],
                omitted=np.arange(len(takes)), given=guess, fixed=others, draws=trial.draws,
            )  # fmt: skip
            score = 0.0
            for s, length in enumerate(trial.lengths):
                error = trial.truth[s, 2:length, node] - got.values[s, 2:length, node]
                variance = np.maximum(got.variances[s, 2:length, node], trial.floor)
                score += float(-0.5 * (error**2 / variance + np.log(2 * np.pi * variance)).sum())
            assert table[a, parent] == pytest.approx(score, rel=2e-3)


def test_rows_of_cycles_go_round() -> None:
    takes, alignment = takes_and_alignment(True)
    ring: TrainingRows = make_rows(takes, alignment, True, RegressionKernel(), 30.0)
    line: TrainingRows = make_rows(takes, alignment, False, RegressionKernel(), 30.0)
    assert ring.count == sum(len(take) for take in takes)
    assert line.count == sum(len(take) - 2 for take in takes)
    assert ring.steps.shape[1] == 2 * ring.count
    assert (np.diff(ring.phases) >= 0.0).all()
    assert ring.phases[0] < 0.0
    assert ring.phases[-1] > alignment.period


def test_neighbours_are_those_of_a_tenth_of_a_second() -> None:
    takes, alignment = takes_and_alignment(False)
    assert make_rows(takes, alignment, False, RegressionKernel(), 30.0).neighbours == 15
    assert make_rows(takes, alignment, False, RegressionKernel(neighbours=4), 30.0).neighbours == 4
    assert make_rows(takes, alignment, False, RegressionKernel(neighbours=999), 30.0).neighbours < 999
