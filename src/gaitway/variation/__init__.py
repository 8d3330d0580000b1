"""How people vary: learnt from a few takes, sampled without end (Lau 2009, chapters 5 and 6).

The names below are loaded on first use, so that importing one part does not load the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gaitway.variation.checks import VariationWarning
    from gaitway.variation.choosing import Choice, Measure, choose
    from gaitway.variation.conditional import upper_bodies, upper_body
    from gaitway.variation.constraints import ConstraintOptions, constrained
    from gaitway.variation.cycles import CycleOptions, captured_cycles, walk_cycles
    from gaitway.variation.ends import joined, with_upper
    from gaitway.variation.enriching import Enriched, EnrichOptions, enrich
    from gaitway.variation.gate import GateBars
    from gaitway.variation.learning import learn
    from gaitway.variation.network import VariationModel, log_likelihood
    from gaitway.variation.options import LearnOptions
    from gaitway.variation.places import Place, contact_places
    from gaitway.variation.prior import PriorSearch
    from gaitway.variation.regression import Kernel
    from gaitway.variation.repeats import RepeatOptions, captured_repeats, captured_takes, cut_repeats
    from gaitway.variation.storage import load_model, save_model
    from gaitway.variation.streaming import StreamFrame, stream, stream_clip
    from gaitway.variation.synthesis import Gain, Given, sample, sample_many
    from gaitway.variation.transition import Search

_HOME = {
    "Choice": "choosing",
    "ConstraintOptions": "constraints",
    "CycleOptions": "cycles",
    "EnrichOptions": "enriching",
    "Enriched": "enriching",
    "Gain": "synthesis",
    "GateBars": "gate",
    "Given": "synthesis",
    "Kernel": "regression",
    "LearnOptions": "options",
    "Measure": "choosing",
    "Place": "places",
    "PriorSearch": "prior",
    "RepeatOptions": "repeats",
    "Search": "transition",
    "StreamFrame": "streaming",
    "VariationModel": "network",
    "VariationWarning": "checks",
    "captured_cycles": "cycles",
    "captured_repeats": "repeats",
    "captured_takes": "repeats",
    "choose": "choosing",
    "constrained": "constraints",
    "contact_places": "places",
    "cut_repeats": "repeats",
    "enrich": "enriching",
    "joined": "ends",
    "learn": "learning",
    "load_model": "storage",
    "log_likelihood": "network",
    "sample": "synthesis",
    "sample_many": "synthesis",
    "save_model": "storage",
    "stream": "streaming",
    "stream_clip": "streaming",
    "upper_bodies": "conditional",
    "upper_body": "conditional",
    "walk_cycles": "cycles",
    "with_upper": "ends",
}

__all__ = [
    "Choice",
    "ConstraintOptions",
    "CycleOptions",
    "EnrichOptions",
    "Enriched",
    "Gain",
    "GateBars",
    "Given",
    "Kernel",
    "LearnOptions",
    "Measure",
    "Place",
    "PriorSearch",
    "RepeatOptions",
    "Search",
    "StreamFrame",
    "VariationModel",
    "VariationWarning",
    "captured_cycles",
    "captured_repeats",
    "captured_takes",
    "choose",
    "constrained",
    "contact_places",
    "cut_repeats",
    "enrich",
    "joined",
    "learn",
    "load_model",
    "log_likelihood",
    "sample",
    "sample_many",
    "save_model",
    "stream",
    "stream_clip",
    "upper_bodies",
    "upper_body",
    "walk_cycles",
    "with_upper",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gaitway.variation' has no attribute '{name}'")
    value = getattr(import_module(f"gaitway.variation.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
