"""Learn from a few takes how a motion varies (Lau 2009, sections 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.network.calibration import calibrated
from gaitway.variation.network.checks import check_alike, check_takes
from gaitway.variation.network.dofs import Degrees
from gaitway.variation.network.model import VariationModel
from gaitway.variation.network.options import LearnOptions
from gaitway.variation.network.phase import cycle_ends, set_clock
from gaitway.variation.network.prior import find_prior
from gaitway.variation.network.regression import make_rows
from gaitway.variation.network.spread import Drift, Variation, residual_table, spread_table
from gaitway.variation.network.texture import texture_of
from gaitway.variation.network.transition import Progress, Trial, find_transition

__all__ = ["LearnOptions", "learn"]

_PRIOR_SHARE, _TRANSITION_SHARE = 0.15, 0.75
"""Of the time, for progress."""


def learn(
    takes: Sequence[Clip], options: LearnOptions | None = None, progress: Progress | None = None
) -> VariationModel:
    """Learn how a motion varies.

    Args:
        takes: of one motion, on one skeleton and at one rate; four or more. Lengths may differ.
        options: how; the default is made to give variants, `LearnOptions.thesis()` is the method as it was written.
        progress: told what is done and which share of it.

    Raises:
        VariationError: if the takes are too few or too short, or not of one motion and skeleton.
    """
    options = options or LearnOptions()
    check_takes(takes)
    degrees = Degrees.of(takes, options.mode)
    if len(degrees) == 0:
        raise VariationError(
            f"nothing moves in the takes of '{takes[0].name}': all joints are constant; there is nothing to vary"
        )
    plain = [degrees.rows(take) for take in takes]
    pool = np.concatenate(plain)
    centre, scale = pool.mean(axis=0), pool.std(axis=0)
    scaled = [(rows - centre) / scale for rows in plain]
    cyclic, scaled = _cycles(scaled, options)
    clock = set_clock(scaled)
    check_alike([take.name for take in takes], scaled, clock)
    rows = make_rows(scaled, clock, cyclic, options.kernel, degrees.fps)
    fixed = degrees.columns(options.given)
    prior = find_prior(scaled, options.prior, options.seed, _share(progress, 0.0, _PRIOR_SHARE))
    trial = Trial.of(rows, scaled, clock.phases, options.search, fixed, options.seed)
    found = find_transition(
        trial, options.search, options.seed, _share(progress, _PRIOR_SHARE, _PRIOR_SHARE + _TRANSITION_SHARE)
    )
    table = residual_table(rows, found.structure, scaled, clock, cyclic)
    even = np.ones(len(degrees) + 1, np.float32)
    texture = texture_of(scaled, clock, cyclic, degrees.fps)
    variation = Variation(
        table, spread_table(scaled, clock, cyclic), even, even, clock.period, options.natural, texture,
        Drift.none(len(degrees)),
    )  # fmt: skip
    contacts = tuple(
        None if take.contacts is None else take.contacts[: len(rows)] for take, rows in zip(takes, scaled, strict=True)
    )
    model = VariationModel(
        takes[0].name.split(".")[0], degrees, options, centre, scale, tuple(scaled), contacts, clock, cyclic, prior,
        found.structure, found.score, variation,
    )  # fmt: skip
    if not options.literal:
        model = replace(model, variation=calibrated(model))
    if progress is not None:
        progress("done", 1.0)
    return model


def _cycles(takes: list[FloatArray], options: LearnOptions) -> tuple[bool, list[FloatArray]]:
    """Whether takes are cycles, and the takes, which then end where they began."""
    if options.cyclic is False:
        return False, takes
    ends = cycle_ends(takes)
    if ends is None:
        return bool(options.cyclic), takes
    return True, [take[: end + 1] for take, end in zip(takes, ends, strict=True)]


def _share(progress: Progress | None, begin: float, end: float) -> Progress | None:
    return None if progress is None else lambda what, share: progress(what, begin + share * (end - begin))
