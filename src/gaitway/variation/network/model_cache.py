"""Models that were learnt before, from disk: another number of variants, or another gain, needs no learning."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gaitway.core.cache import cached
from gaitway.motion.clip import Clip
from gaitway.variation.network.checks import VariationWarning
from gaitway.variation.network.learning import learn
from gaitway.variation.network.model import VariationModel
from gaitway.variation.network.options import LearnOptions
from gaitway.variation.network.storage import pack_model, unpack_model
from gaitway.variation.network.transition import Progress


@dataclass(frozen=True, eq=False)
class Learnt:
    """A model, and what there was to say about its takes."""

    model: VariationModel
    notes: tuple[str, ...] = ()
    """Warnings, one line each."""


def learnt(takes: Sequence[Clip], options: LearnOptions, progress: Progress | None = None) -> Learnt:
    """As `learn`, from disk if the same takes were learnt in the same way before (`gaitway.core.cache`).

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

    return cached("variation", (__name__,), (list(takes), options), make, _packed, unpack)


def _packed(found: Learnt) -> dict[str, Any]:
    header, arrays = pack_model(found.model)
    return {"header": header, "notes": list(found.notes), **arrays}
