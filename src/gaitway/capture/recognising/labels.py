"""Phases and specials as a person states them in the override file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from gaitway.capture.overrides import LabelItem
from gaitway.capture.recognising.measures import Measures
from gaitway.capture.recognising.phases import KINDS, make_phase
from gaitway.capture.recognising.specials import SPECIAL_KINDS, stated_special
from gaitway.capture.takes import Phase, PreparedTake, Special


def relabelled(take: PreparedTake, labels: Sequence[LabelItem], measures: Measures) -> PreparedTake:
    """The take with what was recognised replaced, from each label's start to its stop."""
    phases, specials = take.phases, list(take.specials)
    for label in labels:
        start = min(round(label.start_s * take.clip.fps), len(take.clip) - 1)
        stop = min(round(label.stop_s * take.clip.fps) + 1, len(take.clip))
        if label.kind in KINDS:
            phases = _with_phase(phases, start, stop, label.kind, measures)
        specials = [s for s in specials if not start <= s.pass_frame < stop]
        if label.kind in SPECIAL_KINDS:
            specials.append(stated_special(measures, label.kind, start, stop))
    ordered: tuple[Special, ...] = tuple(sorted(specials, key=lambda s: (s.start, s.stop)))
    return replace(take, phases=phases, specials=ordered)


def _with_phase(phases: Sequence[Phase], start: int, stop: int, kind: str, measures: Measures) -> tuple[Phase, ...]:
    """Phases with frames `start` to `stop` given to one kind; what remains of the others keeps theirs."""
    names = [""] * len(measures)
    for phase in phases:
        names[phase.start : phase.stop] = [f"{phase.kind}:{phase.detail}"] * (phase.stop - phase.start)
    names[start:stop] = [f"{kind}:"] * (stop - start)
    edges = [0, *(i for i in range(1, len(names)) if names[i] != names[i - 1]), len(names)]
    return tuple(make_phase(measures, a, b, names[a]) for a, b in pairwise(edges))
