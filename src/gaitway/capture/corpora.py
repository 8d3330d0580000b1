"""Corpora to build motion graphs from: prepared captures, and made-up captures of a library's character."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gaitway.capture.takes import PreparedSubject
from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import Corpus, LabelSpan, corpus
from gaitway.library.behavior import Behavior, Library
from gaitway.motion.blending import concatenate

ACTIONS = ("jump", "duck")
"""Obstacles that a character gets past on its way: labels of motions that pass."""
_SHORTEST = 1.0
"""Takes shorter than this are left out [s]."""


def prepared_corpus(prepared: PreparedSubject) -> Corpus:
    """Captures of one person, each frame labelled with what is done in it: "walk", "stand", "jump" ...

    Mirrored takes come along. Motions that could not be told have their detail for a label ("low walk").

    Raises:
        GraphError: if no take is long enough.
    """
    clips, spans = [], list[LabelSpan]()
    for take in prepared.takes:
        if take.clip.duration < _SHORTEST:
            continue
        name = f"{take.name}~" if take.mirrored and not take.name.endswith("~") else take.name
        clips.append(replace(take.clip, name=name, skeleton=prepared.skeleton))
        words = [phase.detail or phase.kind if phase.kind == "other" else phase.kind for phase in take.phases]
        labels = [word for phase, word in zip(take.phases, words, strict=True) for _ in range(phase.stop - phase.start)]
        for special in take.specials:
            labels[special.start : special.stop] = [special.kind] * (special.stop - special.start)
        spans += _spans(name, labels)
    if not clips:
        raise GraphError(f"no take of {prepared.facts.name} lasts {_SHORTEST:g} s; give longer captures")
    return corpus(clips, spans=spans)


def rehearsed_corpus(
    library: Library,
    seconds: float,
    rng: np.random.Generator,
    *,
    states: Collection[str] = ("walk", "jog"),
    actions: Collection[str] = ACTIONS,
    takes: int = 4,
) -> Corpus:
    """Somebody of a library who does whatever comes to mind, as if captured: each behaviour about as often as others.

    Frames of a behaviour that stays in its state are labelled with that state, frames of one that gets past something
    with what that is ("jump"); frames from one state to another have no label.

    Args:
        library: clips and which may follow which.
        seconds: of all takes together, at least.
        rng: draws what comes next.
        states: that it may do things in; others it only passes through.
        actions: obstacles that it may get past.
        takes: how many clips.

    Raises:
        GraphError: if the library has no behaviour in these states.
    """
    known = [b for b in library.graph.behaviors if _fits(b, states, actions)]
    if not any(b.start in states for b in known):
        raise GraphError(f"library '{library.name}' has no behaviour in the states {', '.join(states)}")
    used = {behavior.name: 0 for behavior in known}
    clips, spans = [], list[LabelSpan]()
    for number in range(takes):
        name, state, frames = f"{library.name}-{number + 1}", known[0].start, 0
        pieces, labels = [], list[str]()
        while frames < seconds / takes * next(iter(library.clips.values())).fps:
            ways = [b for b in known if b.start == state and any(after.start == b.end for after in known)]
            if not ways:
                raise GraphError(f"library '{library.name}' cannot go on from '{state}'")
            behavior = min(ways, key=lambda b: (used[b.name], rng.random()))
            used[behavior.name] += 1
            piece = library.clips[str(rng.choice(behavior.clips))]
            word = behavior.obstacle or (behavior.start if behavior.start == behavior.end else "")
            labels[-1:] = [word] * len(piece)  # the first frame of a clip takes the place of the last before it
            pieces.append(piece)
            frames += len(piece) - 1
            state = behavior.end
        clips.append(replace(concatenate(pieces, 0.0, overlap=False, name=name), labels=()))
        spans += _spans(name, labels)
    return corpus(clips, spans=spans)


def _fits(behavior: Behavior, states: Collection[str], actions: Collection[str]) -> bool:
    through = behavior.start != behavior.end and (behavior.start in states or behavior.end in states)
    inside = behavior.start in states and behavior.end in states
    return (inside or through) and (behavior.obstacle is None or behavior.obstacle in actions)


def _spans(clip: str, labels: list[str]) -> list[LabelSpan]:
    """Runs of equal labels; an empty word is no label."""
    starts = [0, *(k for k in range(1, len(labels)) if labels[k] != labels[k - 1]), len(labels)]
    return [LabelSpan(clip, start, stop, frozenset({labels[start]} - {""})) for start, stop in pairwise(starts)]
