"""The learnt model of how a motion varies, the options it is learnt with, and the likelihood of a clip under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.network.dofs import Dofs, Mode
from gaitway.variation.network.phase import PhaseAlignment, phase_shares, resampled
from gaitway.variation.network.prior import Prior, PriorSearch
from gaitway.variation.network.regression import MeanCourse, RegressionKernel, TrainingRows, make_rows, unroll
from gaitway.variation.network.spread import Drift, Variation, make_course
from gaitway.variation.network.structure import Structure
from gaitway.variation.network.transition import TransitionSearch


@dataclass(frozen=True)
class LearnOptions:
    """Options of `learn`; the defaults suit motion of people at 30 to 60 Hz."""

    mode: Mode = "exponential"
    """Representation of rotations: exponential maps about the mean, or Euler angles."""
    cyclic: bool | None = None
    """Whether the motion repeats; None: it does if every take ends as it began, and moves there."""
    kernel: RegressionKernel = field(default_factory=RegressionKernel)
    search: TransitionSearch = field(default_factory=TransitionSearch)
    prior: PriorSearch = field(default_factory=PriorSearch)
    literal: bool = False
    """Whether the method is that of the thesis: no phases, steps without a pull, independent draws, re-synthesis by
    means."""
    given: tuple[str, ...] = ()
    """Joints, or parts of the body, that are never generated and that the other joints follow (chapter 6)."""
    natural: float = 2.5
    """Greatest deviation of a part of the body from the mean in a frame, root mean square in deviations between takes.
    At a deviation d, the logarithm of the likelihood under the takes is lower by d**2 / 2 for each degree of
    freedom."""
    seed: int = 0

    @classmethod
    def thesis(cls, mode: Mode = "euler", seed: int = 0) -> LearnOptions:
        """Return the options of chapter 5 as it is written."""
        return cls(
            mode=mode,
            kernel=RegressionKernel(neighbours=20, width=0.5, pull=0.0, phase_scale=0.0, taper=False, span=0.15),
            search=TransitionSearch(floor=0.01, noise=0.0),
            prior=PriorSearch(steps=False, whole_takes=False, at_start=False),
            literal=True,
            seed=seed,
        )


_STRAIGHT = np.radians(2.0)
"""Turn of a cycle below which it counts as straight [rad]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class VariationModel:
    """The result of `learn`: the takes as rows, two networks, and how variants are drawn."""

    name: str
    dofs: Dofs
    options: LearnOptions
    centre: FloatArray
    """Mean of each column; (n,)."""
    scale: FloatArray
    """Deviation of each column; (n,)."""
    takes: tuple[FloatArray, ...]
    """Takes, less `centre` and divided by `scale`; (F, n) each. The last frame of a cycle is its first frame again."""
    contacts: tuple[BoolArray | None, ...]
    alignment: PhaseAlignment
    cyclic: bool
    prior: Prior
    transition: Structure
    score: float
    """Score of the transition network by re-synthesis (equation 5.4)."""
    variation: Variation

    @cached_property
    def rows(self) -> TrainingRows:
        """Training rows."""
        return make_rows(self.takes, self.alignment, self.cyclic, self.options.kernel, self.dofs.fps)

    @cached_property
    def course(self) -> MeanCourse:
        """Mean, deviation and pace by phase."""
        return make_course(self.takes, self.alignment, self.cyclic, self.variation.spreads)

    @cached_property
    def headings(self) -> FloatArray:
        """Mean heading of the takes by phase, relative to their start [rad]; (G,).

        Where takes turn to either side, or hardly at all, the heading at the end is zero: the motion goes straight on.
        """
        grid = np.linspace(0.0, self.alignment.period, len(self.alignment.mean))
        if "turning" not in self.dofs.names:
            return np.zeros(len(grid))
        column = self.dofs.names.index("turning")
        turned = []
        for take, phase in zip(self.takes, self.alignment.phases, strict=True):
            rates = take[1:, column] * self.scale[column] + self.centre[column]
            turned.append(np.interp(grid, phase, np.concatenate([[0.0], np.cumsum(rates) / self.dofs.fps])))
        mean, ends = np.mean(turned, axis=0), np.array([heading[-1] for heading in turned])
        sure = abs(ends.mean()) > max(2.0 * ends.std() / np.sqrt(len(ends)), _STRAIGHT)
        out: FloatArray = mean if sure else mean - ends.mean() * grid / grid[-1]
        return out

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Number of frames of each take."""
        return tuple(len(take) for take in self.takes)

    @cached_property
    def contact_table(self) -> FloatArray | None:
        """Share of takes that rest on each contact point, by phase; (G, C). None if contacts of a take are unknown."""
        grid = np.linspace(0.0, self.alignment.period, len(self.alignment.mean))
        known = [
            resampled(contacts.astype(np.float64), phase, grid)
            for contacts, phase in zip(self.contacts, self.alignment.phases, strict=True)
            if contacts is not None
        ]
        return np.mean(known, axis=0) if len(known) == len(self.contacts) else None

    def contacts_at(self, phases: FloatArray) -> BoolArray | None:
        """Return which contact points most takes rest on at phases (F,); (F, C)."""
        if self.contact_table is None:
            return None
        places = np.clip(np.rint(phases * self.alignment.grid), 0, len(self.alignment.mean) - 1).astype(np.int64)
        return self.contact_table[places] > 0.5

    def scaled(self, clip: Clip) -> FloatArray:
        """Return a clip as rows, scaled like `takes`; (F, n)."""
        check_same(self.dofs, clip)
        return (self.dofs.rows(clip) - self.centre) / self.scale

    def phases_of(self, rows: FloatArray, columns: BoolArray | None = None) -> FloatArray:
        """Return the phases of the frames of a whole clip, found by all columns or by these; (F,)."""
        chosen = np.ones(rows.shape[1], np.bool_) if columns is None else columns
        weights = self.alignment.weights[chosen]
        shares = phase_shares(rows[:, chosen], self.alignment.mean[:, chosen], weights / weights.mean())
        return self.alignment.period * shares

    def with_takes(self, takes: Sequence[Clip]) -> VariationModel:
        """Return a model with the same networks and variation about other takes, even a single one (figure 5.5)."""
        if not takes:
            raise VariationError("no take to vary; give at least one")
        rows = tuple(self.scaled(take) for take in takes)
        short = next((take for take, row in zip(takes, rows, strict=True) if len(row) < 4), None)
        if short is not None:
            raise VariationError(f"take '{short.name}' has {len(short)} frames; at least 4 are needed")
        phases = tuple(self.phases_of(row) for row in rows)
        alignment = replace(self.alignment, phases=phases)
        contacts = tuple(take.contacts for take in takes)
        variation = replace(self.variation, drift=Drift.none(len(self.dofs)))  # other takes may lead elsewhere
        return replace(
            self,
            takes=rows,
            contacts=contacts,
            alignment=alignment,
            prior=self.prior.moved_to(rows),
            variation=variation,
        )


def check_same(dofs: Dofs, clip: Clip) -> None:
    """Refuse a clip whose skeleton or frame rate is not that of `dofs`."""
    ours, theirs = dofs.skeleton, clip.skeleton
    if theirs is not ours and (theirs.names != ours.names or not np.array_equal(theirs.parents, ours.parents)):
        raise VariationError(
            f"clip '{clip.name}' is on skeleton '{theirs.name}', the model on '{ours.name}'; retarget it first"
        )
    if abs(clip.fps - dofs.fps) > 1e-6:
        raise VariationError(f"clip '{clip.name}' has {clip.fps:g} Hz, the model {dofs.fps:g} Hz; resample it first")


def log_likelihood(model: VariationModel, clip: Clip, propagated: bool = False) -> FloatArray:
    """Return the log density of each frame given the frames before it (equation 5.4), summed over degrees of freedom.

    Degrees of freedom are in their own deviations. The first two frames get the value of the third. The phases of the
    clip are given, so its pace has no influence. To ask whether takes go together, use `select_takes`.

    Args:
        model: Learnt model. The take that is judged should not be among those it was learnt from.
        clip: Clip on the same skeleton and at the same rate.
        propagated: Whether frames are predicted from predicted frames, as structures are scored, and not from the
            clip's own frames.

    Returns:
        Log densities; (F,).
    """
    rows = model.scaled(clip)
    if len(rows) < 3:
        raise VariationError(f"clip '{clip.name}' has {len(rows)} frames; a likelihood needs at least 3")
    phases = model.phases_of(rows)
    if model.rows.half_period < 1e20:
        phases = np.mod(phases, model.alignment.period)
    structure, floor = model.transition, model.options.search.floor**2
    if propagated:
        got = unroll(model.rows, structure, rows[None, :2], phases[None], len(rows))
        means, variances = got.values[0, 2:], got.variances[0, 2:]
    else:
        starts = np.stack([rows[:-2], rows[1:-1]], axis=1)
        when = np.stack([phases[:-2], phases[1:-1], phases[2:]], axis=1)
        got = unroll(model.rows, structure, starts, when, 3)
        means, variances = got.values[:, 2], got.variances[:, 2]
    held = np.maximum(variances, floor, dtype=np.float64)
    terms = -0.5 * ((rows[2:] - means) ** 2 / held + np.log(2.0 * np.pi * held))
    total = terms.sum(axis=1)
    return np.concatenate([[total[0], total[0]], total])
