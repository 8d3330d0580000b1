"""Corpus: clips of one skeleton at one frame rate, with a set of labels for every frame.

A corpus is made from clips, or from random takes of a library's character.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned
from gaitway.core.errors import GraphError
from gaitway.graphs.clouds import HALF_WINDOW_S, Clouds, joined, point_clouds
from gaitway.library.behavior import Behavior, Library
from gaitway.motion.blending import concatenate
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import mirror, root_path, with_name
from gaitway.motion.skeleton import Skeleton

LabelSet = frozenset[str]
ACTIONS = ("jump", "duck")
"""Labels of motions that pass an obstacle."""
SWAY_S = 0.25
"""Width of the filter that removes the sway of single steps from a path [s]."""


@dataclass(frozen=True)
class LabelSpan:
    """Frames of a clip that have other labels than the clip."""

    clip: str
    """Name of the clip; its mirror image has the same spans."""
    start: int
    """First frame."""
    stop: int
    """Frame after the last one."""
    labels: LabelSet

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", frozenset(self.labels))


@dataclass(frozen=True, eq=False)
class Corpus:
    """Clips in a row; frames are numbered through all clips."""

    clips: tuple[Clip, ...]
    """Clips of one skeleton at one frame rate, with contacts."""
    sets: tuple[LabelSet, ...]
    """The distinct sets of labels of frames."""
    set_of: IntArray
    """Number of the label set of each frame; (F,)."""
    half_window_s: float = HALF_WINDOW_S
    """Time before and after a frame that belongs to its window [s]; a transition lasts as long as a window."""

    def __post_init__(self) -> None:
        frames = sum(len(clip) for clip in self.clips)
        object.__setattr__(self, "set_of", owned(self.set_of, "set_of", (frames,), np.int64, GraphError))

    def __len__(self) -> int:
        return len(self.set_of)

    def __repr__(self) -> str:
        return f"Corpus({len(self.clips)} clips, {len(self)} frames at {self.fps:g} Hz, {len(self.sets)} label sets)"

    @property
    def skeleton(self) -> Skeleton:
        """Skeleton of all clips."""
        return self.clips[0].skeleton

    @property
    def fps(self) -> float:
        """Frame rate of all clips [Hz]."""
        return self.clips[0].fps

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels of frames, in alphabetical order."""
        return tuple(sorted(set().union(*self.sets)))

    @cached_property
    def starts(self) -> IntArray:
        """First frame of each clip, and the number of frames at the end; (C + 1,)."""
        return np.cumsum([0, *(len(clip) for clip in self.clips)])

    @cached_property
    def clip_of(self) -> IntArray:
        """Which clip each frame is from; (F,)."""
        return np.repeat(np.arange(len(self.clips)), np.diff(self.starts))

    @cached_property
    def roots(self) -> FloatArray:
        """Root positions of all frames [m]; (F, 3)."""
        return np.concatenate([clip.root_positions for clip in self.clips])

    @cached_property
    def rotations(self) -> FloatArray:
        """Local rotations of all frames; (F, J, 4)."""
        return np.concatenate([clip.rotations for clip in self.clips])

    @cached_property
    def contacts(self) -> BoolArray:
        """Contacts of all frames; (F, C)."""
        return np.concatenate([_contacts(clip) for clip in self.clips])

    @cached_property
    def paths(self) -> FloatArray:
        """Place of the body over the ground in each frame, without the sway of steps [m]; (F, 2)."""
        return np.concatenate([root_path(clip, SWAY_S)[:, :2] for clip in self.clips])

    @cached_property
    def clouds(self) -> Clouds:
        """Point clouds of all frames."""
        return joined([point_clouds(clip, self.half_window_s) for clip in self.clips])

    def having(self, *labels: str) -> BoolArray:
        """Return which label sets hold all of these labels; (S,).

        Raises:
            GraphError: If no frame has one of the labels.
        """
        for label in labels:
            if label not in self.labels:
                raise GraphError(f"no frame is labelled '{label}'; there are {', '.join(self.labels) or 'no labels'}")
        return np.array([set(labels) <= labels_of for labels_of in self.sets])


def build_corpus(
    clips: Sequence[Clip],
    *,
    mirrored: bool = False,
    spans: Sequence[LabelSpan] = (),
    half_window_s: float = HALF_WINDOW_S,
) -> Corpus:
    """Build a corpus. A frame has the labels of the spans that hold it, or else the labels of its clip.

    Args:
        clips: Clips of one skeleton at one frame rate. Contacts are detected if a clip has none.
        mirrored: Whether the mirror image of every clip is added, with "~" after its name.
        spans: Frames with other labels than their clip; where spans overlap, a frame has the labels of all.
        half_window_s: Time before and after a frame that belongs to its window [s].

    Raises:
        GraphError: If there are no clips, clips differ in skeleton or rate, a clip is shorter than a window, or a span
            names no frames.
    """
    if not clips:
        raise GraphError("a motion graph of no clips; give at least one")
    for clip in clips:
        _check(clips[0], clip, 2 * round(half_window_s * clip.fps) + 1)
    _check_spans(clips, spans)
    whole = [clip if clip.contacts is not None else detect_contacts(clip) for clip in clips]
    skeleton = whole[0].skeleton
    whole = [clip if clip.skeleton is skeleton else replace(clip, skeleton=skeleton) for clip in whole]
    rows = [_frame_labels(clip, spans) for clip in clips]
    if mirrored:
        whole += [with_name(mirror(clip), f"{clip.name}~") for clip in whole]
        rows += rows
    sets = tuple(dict.fromkeys(labels for row in rows for labels in row))
    number = {labels: k for k, labels in enumerate(sets)}
    return Corpus(tuple(whole), sets, np.array([number[labels] for row in rows for labels in row]), half_window_s)


def label_spans(clip: str, labels: list[str]) -> list[LabelSpan]:
    """Return the runs of equal labels of a clip, given one label for each frame; an empty string is no label."""
    starts = [0, *(k for k in range(1, len(labels)) if labels[k] != labels[k - 1]), len(labels)]
    return [LabelSpan(clip, start, stop, frozenset({labels[start]} - {""})) for start, stop in pairwise(starts)]


def library_corpus(
    library: Library,
    seconds: float,
    rng: np.random.Generator,
    *,
    states: Collection[str] = ("walk", "jog"),
    actions: Collection[str] = ACTIONS,
    takes: int = 4,
) -> Corpus:
    """Build a corpus of random takes of a library's character.

    Every label occurs about equally often, and so does every behaviour of a label: ten ways to duck are not ten times
    as many ducks. The label of a frame is the state of its behaviour, or the obstacle that the behaviour passes
    ("jump"). Frames of a behaviour that leads from one state to another have no label.

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
    times, used = Counter[str](), Counter[str]()
    clips, spans = [], list[LabelSpan]()
    for number in range(takes):
        name, state, frames = f"{library.name}-{number + 1}", known[0].start, 0
        pieces, labels = [], list[str]()
        while frames < seconds / takes * next(iter(library.clips.values())).fps:
            ways = [b for b in known if b.start == state and any(after.start == b.end for after in known)]
            if not ways:
                raise GraphError(f"library '{library.name}' has no behaviour that continues from '{state}'")
            behavior = min(ways, key=lambda b: (times[_label(b)], used[b.name], rng.random()))
            times[_label(behavior)] += 1
            used[behavior.name] += 1
            piece = library.clips[str(rng.choice(behavior.clips))]
            # The first frame of a clip takes the place of the last before it.
            labels[-1:] = [_label(behavior)] * len(piece)
            pieces.append(piece)
            frames += len(piece) - 1
            state = behavior.end
        clips.append(replace(concatenate(pieces, 0.0, overlap=False, name=name), labels=()))
        spans += label_spans(name, labels)
    return build_corpus(clips, spans=spans)


def _fits(behavior: Behavior, states: Collection[str], actions: Collection[str]) -> bool:
    through = behavior.start != behavior.end and (behavior.start in states or behavior.end in states)
    inside = behavior.start in states and behavior.end in states
    return (inside or through) and (behavior.obstacle is None or behavior.obstacle in actions)


def _label(behavior: Behavior) -> str:
    """Return the label of a behaviour's frames; that of a change between states is empty."""
    return behavior.obstacle or (behavior.start if behavior.start == behavior.end else "")


def _contacts(clip: Clip) -> BoolArray:
    none = np.zeros((len(clip), len(clip.skeleton.contact_points)), dtype=bool)
    return none if clip.contacts is None else clip.contacts


def _frame_labels(clip: Clip, spans: Sequence[LabelSpan]) -> list[LabelSet]:
    own: list[LabelSet | None] = [None] * len(clip)
    for span in spans:
        if span.clip == clip.name:
            for frame in range(span.start, span.stop):
                own[frame] = (own[frame] or frozenset()) | span.labels
    common = frozenset(clip.labels)
    return [common if labels is None else labels for labels in own]


def _check(first: Clip, clip: Clip, window: int) -> None:
    """Check that a clip has the skeleton and rate of the first one, and is as long as a window."""
    a, b = first.skeleton, clip.skeleton
    if a is not b and (a.names != b.names or not np.allclose(a.offsets, b.offsets, atol=1e-4)):
        raise GraphError(
            f"clips '{first.name}' and '{clip.name}' are of different skeletons ('{a.name}', '{b.name}'); "
            "retarget them to one first"
        )
    if first.fps != clip.fps:
        raise GraphError(
            f"clips '{first.name}' and '{clip.name}' run at {first.fps:g} and {clip.fps:g} Hz; resample one first"
        )
    if len(clip) < window:
        raise GraphError(
            f"clip '{clip.name}' has {len(clip)} frames, fewer than a window of {window}; leave it out, or take a "
            "shorter window"
        )


def _check_spans(clips: Sequence[Clip], spans: Sequence[LabelSpan]) -> None:
    lengths = {clip.name: len(clip) for clip in clips}
    for span in spans:
        if span.clip not in lengths:
            raise GraphError(f"labels {_words(span.labels)} are for a clip '{span.clip}', which is not there")
        if not 0 <= span.start < span.stop <= lengths[span.clip]:
            raise GraphError(
                f"labels {_words(span.labels)} are for frames {span.start} to {span.stop} of clip '{span.clip}', "
                f"which has {lengths[span.clip]}"
            )


def _words(labels: LabelSet) -> str:
    return " ".join(f"'{label}'" for label in sorted(labels)) or "(none)"
