"""A learnt model of how a motion varies, and how likely it holds a clip to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.network.dofs import Degrees
from gaitway.variation.network.options import LearnOptions
from gaitway.variation.network.phase import Clock, progress, resampled
from gaitway.variation.network.prior import Prior
from gaitway.variation.network.regression import Course, Rows, make_rows, unroll
from gaitway.variation.network.spread import Drift, Variation, make_course
from gaitway.variation.network.structure import Structure

_STRAIGHT = np.radians(2.0)
"""A cycle that turns by less goes straight on [rad]."""


@dataclass(frozen=True, eq=False)
class VariationModel:
    """What `learn` gives: the takes as rows, two networks, and how variants are drawn."""

    name: str
    degrees: Degrees
    options: LearnOptions
    centre: FloatArray
    """Mean of each column; (n,)."""
    scale: FloatArray
    """Deviation of each column; (n,)."""
    takes: tuple[FloatArray, ...]
    """Takes, less `centre` and divided by `scale`; (F, n) each. Of a cycle the last frame is where the first was."""
    contacts: tuple[BoolArray | None, ...]
    clock: Clock
    cyclic: bool
    prior: Prior
    transition: Structure
    score: float
    """Of the transition network, by re-synthesis (equation 5.4)."""
    variation: Variation

    @cached_property
    def rows(self) -> Rows:
        """Training triples."""
        return make_rows(self.takes, self.clock, self.cyclic, self.options.kernel, self.degrees.fps)

    @cached_property
    def course(self) -> Course:
        """Mean, deviation and speed by phase."""
        return make_course(self.takes, self.clock, self.cyclic, self.variation.spreads)

    @cached_property
    def headings(self) -> FloatArray:
        """How far the takes have turned on average, by phase [rad]; (G,).

        A motion whose takes turn to either side, or hardly at all, goes straight on in the long run.
        """
        grid = np.linspace(0.0, self.clock.period, len(self.clock.mean))
        if "turning" not in self.degrees.names:
            return np.zeros(len(grid))
        column = self.degrees.names.index("turning")
        turned = []
        for take, phase in zip(self.takes, self.clock.phases, strict=True):
            rates = take[1:, column] * self.scale[column] + self.centre[column]
            turned.append(np.interp(grid, phase, np.concatenate([[0.0], np.cumsum(rates) / self.degrees.fps])))
        mean, ends = np.mean(turned, axis=0), np.array([heading[-1] for heading in turned])
        sure = abs(ends.mean()) > max(2.0 * ends.std() / np.sqrt(len(ends)), _STRAIGHT)
        out: FloatArray = mean if sure else mean - ends.mean() * grid / grid[-1]
        return out

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Frames of the takes."""
        return tuple(len(take) for take in self.takes)

    @cached_property
    def contact_table(self) -> FloatArray | None:
        """Share of the takes that rest on each contact point, by phase; (G, C). None where a take does not tell."""
        grid = np.linspace(0.0, self.clock.period, len(self.clock.mean))
        known = [
            resampled(contacts.astype(np.float64), phase, grid)
            for contacts, phase in zip(self.contacts, self.clock.phases, strict=True)
            if contacts is not None
        ]
        return np.mean(known, axis=0) if len(known) == len(self.contacts) else None

    def contacts_at(self, phases: FloatArray) -> BoolArray | None:
        """Which contact points most takes rest on at phases (F,); (F, C)."""
        if self.contact_table is None:
            return None
        places = np.clip(np.rint(phases * self.clock.grid), 0, len(self.clock.mean) - 1).astype(np.int64)
        return self.contact_table[places] > 0.5

    def scaled(self, clip: Clip) -> FloatArray:
        """A clip as the takes are kept; (F, n)."""
        check_same(self.degrees, clip)
        return (self.degrees.rows(clip) - self.centre) / self.scale

    def phases_of(self, rows: FloatArray, columns: BoolArray | None = None) -> FloatArray:
        """Where in the motion the frames of a whole clip are, told by all columns or these; (F,)."""
        chosen = np.ones(rows.shape[1], np.bool_) if columns is None else columns
        weights = self.clock.weights[chosen]
        shares = progress(rows[:, chosen], self.clock.mean[:, chosen], weights / weights.mean())
        return self.clock.period * shares

    def with_takes(self, takes: Sequence[Clip]) -> VariationModel:
        """The same networks and variation about other takes, even a single one (figure 5.5)."""
        if not takes:
            raise VariationError("no take to vary; give at least one")
        rows = tuple(self.scaled(take) for take in takes)
        short = next((take for take, row in zip(takes, rows, strict=True) if len(row) < 4), None)
        if short is not None:
            raise VariationError(f"take '{short.name}' has {len(short)} frames; at least 4 are needed")
        phases = tuple(self.phases_of(row) for row in rows)
        clock = replace(self.clock, phases=phases)
        contacts = tuple(take.contacts for take in takes)
        variation = replace(self.variation, drift=Drift.none(len(self.degrees)))  # other takes may lead elsewhere
        return replace(
            self, takes=rows, contacts=contacts, clock=clock, prior=self.prior.moved_to(rows), variation=variation
        )


def check_same(degrees: Degrees, clip: Clip) -> None:
    """Refuse a clip that is not on the skeleton, or not at the rate, that degrees of freedom are of."""
    ours, theirs = degrees.skeleton, clip.skeleton
    if theirs is not ours and (theirs.names != ours.names or not np.array_equal(theirs.parents, ours.parents)):
        raise VariationError(
            f"clip '{clip.name}' is on skeleton '{theirs.name}', the model on '{ours.name}'; retarget it first"
        )
    if abs(clip.fps - degrees.fps) > 1e-6:
        raise VariationError(f"clip '{clip.name}' has {clip.fps:g} Hz, the model {degrees.fps:g} Hz; resample it first")


def log_likelihood(model: VariationModel, clip: Clip, propagated: bool = False) -> FloatArray:
    """Logarithm of the density of each frame given the ones before (equation 5.4), summed over degrees of freedom.

    Degrees of freedom are in their own deviations. The first two frames count as the third. The clip's own phases are
    given, so its pace plays no part; to ask whether takes go together, see `choosing.choose`.

    Args:
        model: all of whose takes are used; leave out the clip's own take when you learn, or it flatters itself.
        clip: on the same skeleton and at the same rate.
        propagated: predict from frames that were predicted themselves, as structures are scored, not from its own.

    Returns:
        (F,)
    """
    rows = model.scaled(clip)
    if len(rows) < 3:
        raise VariationError(f"clip '{clip.name}' has {len(rows)} frames; a likelihood needs at least 3")
    phases = model.phases_of(rows)
    if model.rows.half_period < 1e20:
        phases = np.mod(phases, model.clock.period)
    structure, floor = model.transition, model.options.search.floor**2
    if propagated:
        got = unroll(model.rows, structure.parents, structure.counts, rows[None, :2], phases[None], len(rows))
        means, variances = got.values[0, 2:], got.variances[0, 2:]
    else:
        starts = np.stack([rows[:-2], rows[1:-1]], axis=1)
        when = np.stack([phases[:-2], phases[1:-1], phases[2:]], axis=1)
        got = unroll(model.rows, structure.parents, structure.counts, starts, when, 3)
        means, variances = got.values[:, 2], got.variances[:, 2]
    held = np.maximum(variances, floor, dtype=np.float64)
    terms = -0.5 * ((rows[2:] - means) ** 2 / held + np.log(2.0 * np.pi * held))
    total = terms.sum(axis=1)
    return np.concatenate([[total[0], total[0]], total])
