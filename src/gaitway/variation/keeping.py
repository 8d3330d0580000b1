"""Models that were learnt before, from disk: another number of variants, or another gain, needs no learning."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gaitway.cache import cached
from gaitway.motion.clip import Clip
from gaitway.variation.checks import VariationWarning
from gaitway.variation.learning import learn
from gaitway.variation.network import VariationModel
from gaitway.variation.options import LearnOptions
from gaitway.variation.storage import pack_model, unpack_model
from gaitway.variation.transition import Progress

SOURCES = (
    "motion", *(f"variation/{name}.py" for name in (
        "_clock_kernels", "_neighbour_kernels", "_prior_kernels", "_score_kernels", "_unroll_kernels", "calibration",
        "checks", "clock", "degrees", "keeping", "learning", "network", "options", "prior", "regression", "spread",
        "storage", "streaming", "structure", "synthesis", "texture", "transition",
    )),
)  # fmt: skip
"""What models are learnt by."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """A model, and what there was to say about its takes."""

    model: VariationModel
    notes: tuple[str, ...] = ()
    """Warnings, one line each."""


def learnt(takes: Sequence[Clip], options: LearnOptions, progress: Progress | None = None) -> Learnt:
    """As `learn`, from disk if the same takes were learnt in the same way before (`gaitway.cache`).

    Warnings are returned and not raised, so that they are there the second time too.

    Raises:
        VariationError: as `learn`.
    """

    def make() -> Learnt:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", VariationWarning)
            model = learn(takes, options, progress)
        return Learnt(model, tuple(str(w.message) for w in caught if issubclass(w.category, VariationWarning)))

    def unpack(found: dict[str, Any]) -> Learnt:
        header, notes = found.pop("header"), tuple(found.pop("notes"))
        model = unpack_model(header, found)
        # variants are to be on the very skeleton of the takes
        return Learnt(replace(model, degrees=replace(model.degrees, skeleton=takes[0].skeleton)), notes)

    return cached("variation", SOURCES, (list(takes), options), make, _packed, unpack)


def _packed(found: Learnt) -> dict[str, Any]:
    header, arrays = pack_model(found.model)
    return {"header": header, "notes": list(found.notes), **arrays}
