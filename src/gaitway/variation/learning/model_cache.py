"""Caches of learnt models, on disk and in memory: another number of variants, or another gain, needs no learning."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gaitway.core.cache import cached
from gaitway.core.progress import Progress, silent
from gaitway.motion.clip import Clip
from gaitway.variation.inputs.training_takes import VariationWarning
from gaitway.variation.learning.learn import learn
from gaitway.variation.network.model import LearnOptions, VariationModel
from gaitway.variation.network.storage import pack_model, unpack_model


@dataclass(frozen=True, eq=False)
class LearntModel:
    """A model, and the warnings about its takes."""

    model: VariationModel
    notes: tuple[str, ...] = ()
    """Warnings, one line each."""


class ModelCache:
    """Models that were learnt in this process, so that behaviours with the same takes share one."""

    def __init__(self, options: LearnOptions) -> None:
        # a clip of a library leads from hub to hub; even one that closes must not be cut elsewhere, as a cycle may be
        self._options = replace(options, cyclic=False)
        self._known: dict[tuple[int, ...], tuple[Sequence[Clip], LearntModel]] = {}

    def of(self, takes: Sequence[Clip], progress: Progress = silent) -> LearntModel:
        """Return the model of some takes, from memory, from disk, or learnt now."""
        key = tuple(id(take) for take in takes)
        if key not in self._known:
            # the takes are stored too, so that no other object can get the same id
            self._known[key] = takes, learn_cached(takes, self._options, progress)
        return self._known[key][1]


def learn_cached(takes: Sequence[Clip], options: LearnOptions, progress: Progress = silent) -> LearntModel:
    """Learn as `learn` does, or load the model from disk if it was learnt before (`gaitway.core.cache`).

    Warnings are returned and not raised, so that the caller also gets them when the model comes from disk.

    Raises:
        VariationError: as `learn`.
    """

    def make() -> LearntModel:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", VariationWarning)
            model = learn(takes, options, progress)
        return LearntModel(model, tuple(str(w.message) for w in caught if issubclass(w.category, VariationWarning)))

    def unpack(found: dict[str, Any]) -> LearntModel:
        header, notes = found.pop("header"), tuple(found.pop("notes"))
        model = unpack_model(header, found)
        # variants must have the very skeleton object of the takes
        return LearntModel(replace(model, dofs=replace(model.dofs, skeleton=takes[0].skeleton)), notes)

    return cached("variation", (__name__,), (list(takes), options), make, _packed, unpack)


def _packed(found: LearntModel) -> dict[str, Any]:
    header, arrays = pack_model(found.model)
    return {"header": header, "notes": list(found.notes), **arrays}
