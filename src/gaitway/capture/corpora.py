"""Corpora for motion graphs, made from prepared captures or from the clips of a library."""

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
"""Labels of motions that pass an obstacle."""
_SHORTEST = 1.0
"""Duration below which a take is left out [s]."""


def prepared_corpus(prepared: PreparedSubject) -> Corpus:
    """Build a corpus from captures of one person; the label of a frame is its motion: "walk", "stand", "jump" ...

    Mirrored takes are included. The label of a phase of kind "other" is its detail, such as "low walk".

    Raises:
        GraphError: If no take is long enough.
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
    """Build a corpus of random takes of a library's character; every behaviour occurs about equally often.

    The label of a frame is the state of its behaviour, or the obstacle that the behaviour passes ("jump"). Frames of a
    behaviour that leads from one state to another have no label.

    Args:
        library: Clips and the graph that says which may follow which.
        seconds: Least duration of all takes together [s].
        rng: Generator that draws the next behaviour.
        states: States in which the character may play behaviours; other states it only passes through.
        actions: Obstacles that the character may pass.
        takes: Number of takes.

    Raises:
        GraphError: If the library has no behaviour in these states.
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
    """Return the runs of equal labels; an empty word is no label."""
    starts = [0, *(k for k in range(1, len(labels)) if labels[k] != labels[k - 1]), len(labels)]
    return [LabelSpan(clip, start, stop, frozenset({labels[start]} - {""})) for start, stop in pairwise(starts)]
