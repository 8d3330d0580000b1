"""A corpus: clips of one skeleton at one rate, every frame with its set of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned
from gaitway.core.errors import GraphError
from gaitway.graphs.clouds import HALF_WINDOW_S, Clouds, joined, point_clouds
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import mirror, root_path, with_name
from gaitway.motion.skeleton import Skeleton

LabelSet = frozenset[str]
SWAY_S = 0.25
"""Width of the filter that takes the sway of single steps off a path [s]."""


@dataclass(frozen=True)
class LabelSpan:
    """Frames of a clip that have labels of their own, instead of the clip's."""

    clip: str
    """The clip's name; its mirror image has the same spans."""
    start: int
    """First frame."""
    stop: int
    """The frame after the last."""
    labels: LabelSet

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", frozenset(self.labels))


@dataclass(frozen=True, eq=False)
class Corpus:
    """Clips one after another; frames are counted through all of them."""

    clips: tuple[Clip, ...]
    """Of one skeleton and rate, with contacts."""
    sets: tuple[LabelSet, ...]
    """The different sets of labels that frames have."""
    set_of: IntArray
    """Which of these each frame has; (F,)."""
    half_window_s: float = HALF_WINDOW_S
    """Time that windows reach to either side of a frame [s]; transitions last as long as whole windows."""

    def __post_init__(self) -> None:
        frames = sum(len(clip) for clip in self.clips)
        object.__setattr__(self, "set_of", owned(self.set_of, "set_of", (frames,), np.int64, GraphError))

    def __len__(self) -> int:
        return len(self.set_of)

    def __repr__(self) -> str:
        return f"Corpus({len(self.clips)} clips, {len(self)} frames at {self.fps:g} Hz, {len(self.sets)} label sets)"

    @property
    def skeleton(self) -> Skeleton:
        """Of all clips."""
        return self.clips[0].skeleton

    @property
    def fps(self) -> float:
        """Frames a second of all clips [Hz]."""
        return self.clips[0].fps

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that occur, in order of the alphabet."""
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
        """Where each frame's body is over the ground, without the sway of single steps [m]; (F, 2)."""
        return np.concatenate([root_path(clip, SWAY_S)[:, :2] for clip in self.clips])

    @cached_property
    def clouds(self) -> Clouds:
        """Of all frames."""
        return joined([point_clouds(clip, self.half_window_s) for clip in self.clips])

    def having(self, *labels: str) -> BoolArray:
        """Which label sets hold all of these labels; (S,).

        Raises:
            GraphError: if no frame has one of them.
        """
        for label in labels:
            if label not in self.labels:
                raise GraphError(f"no frame is labelled '{label}'; there are {', '.join(self.labels) or 'no labels'}")
        return np.array([set(labels) <= labels_of for labels_of in self.sets])


def corpus(
    clips: Sequence[Clip],
    *,
    mirrored: bool = False,
    spans: Sequence[LabelSpan] = (),
    half_window_s: float = HALF_WINDOW_S,
) -> Corpus:
    """Clips as a corpus. Labels of a frame are those of its clip, or of the spans that it lies in.

    Args:
        clips: of one skeleton at one rate. Contacts are found where a clip has none.
        mirrored: whether to add the mirror image of every clip, with "~" after its name.
        spans: frames with other labels than their clip; where spans overlap, a frame has the labels of all.
        half_window_s: time that windows reach to either side of a frame [s].

    Raises:
        GraphError: if there are no clips, they do not go together, one is shorter than a window, or a span is of none.
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
    """A clip must go together with the first one, and have room for a window."""
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
