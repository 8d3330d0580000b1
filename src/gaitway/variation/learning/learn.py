"""Learning of a model from a few takes (Lau 2009, sections 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import VariationError
from gaitway.core.progress import Progress, silent
from gaitway.motion.clip import Clip
from gaitway.variation.inputs.training_takes import check_alike, check_takes
from gaitway.variation.learning.calibration import calibrated
from gaitway.variation.network.dofs import Dofs
from gaitway.variation.network.model import LearnOptions, VariationModel
from gaitway.variation.network.phase import align_phases, cycle_ends
from gaitway.variation.network.prior import find_prior
from gaitway.variation.network.regression import make_rows
from gaitway.variation.network.spread import Drift, Variation, residual_table, spread_table
from gaitway.variation.network.texture import texture_of
from gaitway.variation.network.transition import Trial, find_transition

_PRIOR_SHARE, _TRANSITION_SHARE = 0.15, 0.75
"""Estimated shares of the time that the searches for both networks take."""
_WHOLE = 1000
"""Total of the progress that `learn` reports."""


def learn(takes: Sequence[Clip], options: LearnOptions | None = None, progress: Progress = silent) -> VariationModel:
    """Learn how a motion varies.

    Args:
        takes: Takes of one motion, on one skeleton and at one rate; four or more. Lengths may differ.
        options: Options of learning. The default gives the best variants; `LearnOptions.thesis()` is the method as the
            thesis describes it.
        progress: Function that is told what is being done.

    Raises:
        VariationError: if the takes are too few or too short, or not of one motion and skeleton.
    """
    options = options or LearnOptions()
    check_takes(takes)
    dofs = Dofs.of(takes, options.mode)
    if len(dofs) == 0:
        raise VariationError(
            f"nothing moves in the takes of '{takes[0].name}': all joints are constant; there is nothing to vary"
        )
    plain = [dofs.rows(take) for take in takes]
    pool = np.concatenate(plain)
    centre, scale = pool.mean(axis=0), pool.std(axis=0)
    scaled = [(rows - centre) / scale for rows in plain]
    cyclic, scaled = _cycles(scaled, options)
    alignment = align_phases(scaled)
    check_alike([take.name for take in takes], scaled, alignment)
    rows = make_rows(scaled, alignment, cyclic, options.kernel, dofs.fps)
    fixed = dofs.columns(options.given)
    prior = find_prior(scaled, options.prior, options.seed, _share(progress, 0.0, _PRIOR_SHARE))
    trial = Trial.of(rows, scaled, alignment.phases, options.search, fixed, options.seed)
    found = find_transition(
        trial, options.search, options.seed, _share(progress, _PRIOR_SHARE, _PRIOR_SHARE + _TRANSITION_SHARE)
    )
    table = residual_table(rows, found.structure, scaled, alignment, cyclic)
    even = np.ones(len(dofs) + 1, np.float32)
    texture = texture_of(scaled, alignment, cyclic, dofs.fps)
    variation = Variation(
        table=table,
        spreads=spread_table(scaled, alignment, cyclic),
        gains=even,
        stream_gains=even,
        memory=alignment.period,
        natural=options.natural,
        texture=texture,
        drift=Drift.none(len(dofs)),
    )
    contacts = tuple(
        None if take.contacts is None else take.contacts[: len(rows)] for take, rows in zip(takes, scaled, strict=True)
    )
    model = VariationModel(
        name=takes[0].name.split(".")[0],
        dofs=dofs,
        options=options,
        centre=centre,
        scale=scale,
        takes=tuple(scaled),
        contacts=contacts,
        alignment=alignment,
        cyclic=cyclic,
        prior=prior,
        transition=found.structure,
        score=found.score,
        variation=variation,
    )
    if not options.literal:
        model = replace(model, variation=calibrated(model))
    progress("done", _WHOLE, _WHOLE)
    return model


def _cycles(takes: list[FloatArray], options: LearnOptions) -> tuple[bool, list[FloatArray]]:
    """Return whether takes are cycles, and the takes; cycles are cut so that they end where they began."""
    if options.cyclic is False:
        return False, takes
    ends = cycle_ends(takes)
    if ends is None:
        return bool(options.cyclic), takes
    return True, [take[: end + 1] for take, end in zip(takes, ends, strict=True)]


def _share(progress: Progress, begin: float, end: float) -> Progress:
    """Return the progress of a part of the work, from one share of it to another."""

    def report(what: str, done: int, total: int | None) -> None:
        share = done / total if total else 0.0
        progress(what, round(_WHOLE * (begin + share * (end - begin))), _WHOLE)

    return report
