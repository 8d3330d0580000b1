"""Figures 5.4 to 5.7 of Lau 2009, drawn with our own motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.papers.lau_5_sets import OUTPUTS, Study, StudyModel
from gaitway.render.sheets.variation_picture import Curves, TakeGroup, curves_picture, overlay_picture
from gaitway.variation.evaluation.noise import AlignedTakes, noisy_takes, strawman_noise
from gaitway.variation.network.dofs import ROOT_NAMES, Dofs
from gaitway.variation.sampling.synthesis import sample_many

INPUT, OUTPUT = "#2f6fd0", "#3b3f45"
"""Colours of inputs (blue) and outputs (dark), as in the thesis."""


def poses_picture(study: Study) -> Image.Image:
    """Draw inputs over one another, and outputs over one another (figure 5.4)."""
    one = study.learnt[0]
    outputs = one.variants[:OUTPUTS]
    groups = [TakeGroup(f"{len(one.inputs)} inputs", one.inputs), TakeGroup(f"{len(outputs)} outputs", outputs)]
    return overlay_picture(groups, title=f"{study.name}: takes, and variants learnt from them")


def curves_of(study: Study) -> Image.Image:
    """Draw DOF by time, DOF by DOF, PCA dimension by PCA dimension, of inputs and outputs (figure 5.6)."""
    one = study.learnt[0]
    dofs = Dofs.of(one.inputs)
    inputs = [dofs.rows(clip) for clip in one.inputs]
    outputs = [dofs.rows(clip) for clip in one.variants[:OUTPUTS]]
    first, second = _liveliest(dofs, np.concatenate(inputs))
    names, fps = dofs.names, dofs.fps
    panels = [_by_time(inputs, outputs, column, names[column], fps) for column in (first, second)]
    twins = [(first, _other_side(dofs, first)), (second, _other_side(dofs, second))]
    panels += [_by_other(inputs, outputs, a, b, names[a], names[b]) for a, b in twins]
    joints = dofs.kept >= len(ROOT_NAMES)
    main_in, main_out = _principal([rows[:, joints] for rows in inputs], [rows[:, joints] for rows in outputs])
    panels += [_by_other(main_in, main_out, a, b, f"PCA {a + 1}", f"PCA {b + 1}") for a, b in ((0, 1), (1, 2))]
    keys = [("inputs", INPUT), ("outputs", OUTPUT)]
    return curves_picture(panels, title=f"{study.name}: curves of inputs and outputs", keys=keys)


def single_picture(study: Study, seed: int) -> Image.Image:
    """Draw variants of one take alone, by a structure that was learnt from four (figure 5.5)."""
    one = study.learnt[0]
    alone = one.model.with_takes(one.inputs[:1])
    made = sample_many(alone, np.random.default_rng(seed), 4)
    groups = [TakeGroup("the take", one.inputs[:1]), TakeGroup("4 outputs", made)]
    return overlay_picture(groups, title=f"{study.name}: variants of a single take")


def noise_picture(study: Study, seed: int) -> Image.Image:
    """Draw noise on one arm beside variants (figure 5.7, left)."""
    one = study.learnt[0]
    aligned, rng = AlignedTakes.of(one.inputs), np.random.default_rng(seed)
    arm = ["left_arm"]
    noisy = noisy_takes(aligned, aligned.sizes(one.variants, arm), strawman_noise, 6, rng, arm)
    groups = [TakeGroup("variants", one.variants[:6]), TakeGroup("noise on the left arm", noisy)]
    return overlay_picture(groups, title=f"{study.name}: variants, and noise of the same size")


def strip_clips(one: StudyModel) -> list[Clip]:
    """Return two takes and four variants, for a film strip."""
    return [*one.inputs[:2], *one.variants[:4]]


def _liveliest(dofs: Dofs, rows: FloatArray) -> tuple[int, int]:
    """Return the two columns of joints that move most, of different joints."""
    spread = np.where(dofs.kept >= len(ROOT_NAMES), rows.std(axis=0), 0.0)
    order = np.argsort(-spread, kind="stable")
    first = int(order[0])
    second = next((int(k) for k in order if dofs.joints[k] != dofs.joints[first]), first)
    return first, second


def _other_side(dofs: Dofs, column: int) -> int:
    """Return the same component of the joint on the other side of the body, or the next column if there is none."""
    name = dofs.names[column]
    swapped = name.replace("Left", "\0").replace("Right", "Left").replace("\0", "Right")
    return dofs.names.index(swapped) if swapped != name and swapped in dofs.names else (column + 1) % len(dofs)


def _by_time(inputs: Sequence[FloatArray], outputs: Sequence[FloatArray], column: int, name: str, fps: float) -> Curves:
    def curve(rows: FloatArray) -> FloatArray:
        return np.column_stack([np.arange(len(rows)) / fps, rows[:, column]])

    groups = [(OUTPUT, [curve(rows) for rows in outputs]), (INPUT, [curve(rows) for rows in inputs])]
    return Curves(name, "time [s]", "[rad]", groups)


def _by_other(
    inputs: Sequence[FloatArray], outputs: Sequence[FloatArray], a: int, b: int, across: str, up: str
) -> Curves:
    groups = [(OUTPUT, [rows[:, [a, b]] for rows in outputs]), (INPUT, [rows[:, [a, b]] for rows in inputs])]
    return Curves(f"{up} by {across}", across, "", groups)


def _principal(
    inputs: Sequence[FloatArray], outputs: Sequence[FloatArray]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the first principal components of the joints of inputs and outputs."""
    pool = np.concatenate([*inputs, *outputs])
    mean = pool.mean(axis=0)
    axes = np.linalg.svd(pool - mean, full_matrices=False)[2][:3]
    return [(rows - mean) @ axes.T for rows in inputs], [(rows - mean) @ axes.T for rows in outputs]
