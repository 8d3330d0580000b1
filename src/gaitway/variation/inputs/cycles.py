"""Walk cycles cut from raw captures: two steps each, from where one foot passes the other to where it does so again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from gaitway.capture.reading.prepared import prepare
from gaitway.capture.recognising.events import find_events
from gaitway.capture.recognising.measures import measure
from gaitway.capture.takes import PrepareOptions, RecognitionThresholds
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import place, slice_frames, with_name
from gaitway.motion.skeleton import Skeleton


@dataclass(frozen=True)
class CycleOptions:
    """Options that say which cycles are taken."""

    fps: float = 60.0
    """Frame rate of the cycles; 60 is that of the thesis [Hz]."""
    foot: str = "right"
    """Foot that stands where a cycle is cut; the other foot passes it."""
    shortest_s: float = 0.7
    longest_s: float = 1.8
    """Greatest duration of a cycle; `shortest_s` is the least [s]."""
    tail: int = 3
    """Number of frames behind the cycle that repeat its beginning, so that a network learns how it closes."""
    straight: float = np.radians(20.0)
    """Greatest turn of a cycle; cycles that turn more are another motion [rad]."""


def walk_cycles(clip: Clip, options: CycleOptions = CycleOptions()) -> list[Clip]:  # noqa: B008  (frozen)
    """Return all walk cycles of a clip, each beginning at the origin with heading 0.

    Args:
        clip: Clip of a humanoid on a level floor at z = 0; contacts are detected where it has none.
        options: Which cycles are taken; the frame rate stays that of the clip.
    """
    clip = clip if clip.contacts is not None else detect_contacts(clip)
    events = find_events(measure(clip), clip.skeleton, RecognitionThresholds())
    marks = [event.frame for event in events if event.kind == "step" and event.foot == options.foot]
    out: list[Clip] = []
    for first, last in pairwise(marks):
        seconds = (last - first) / clip.fps
        if not options.shortest_s <= seconds <= options.longest_s or last + options.tail > len(clip):
            continue
        cycle = slice_frames(clip, first, last + options.tail)
        heading = cycle.headings()
        if abs(heading[-1 - options.tail] - heading[0]) <= options.straight:
            name = f"{clip.name} cycle {len(out) + 1}"
            out.append(with_name(place(cycle, (0.0, 0.0, 0.0)), name))
    return out


def capture_of(cycle: Clip) -> str:
    """Return the name of the capture that a cycle was cut from; for any other clip its own name."""
    before, _, _ = cycle.name.rpartition(" cycle ")
    return before or cycle.name


def captured_cycles(
    files: str | Path | Iterable[str | Path],
    options: CycleOptions = CycleOptions(),  # noqa: B008  (frozen)
) -> list[Clip]:
    """Return all walk cycles of one subject's capture files, on one skeleton and a level floor.

    Raises:
        LibraryError: if no file can be used.
        VariationError: if the files have no cycle.
    """
    prepared = prepare(files, PrepareOptions(fps=options.fps, mirror=False))
    found = [cycle for take in prepared.takes for cycle in walk_cycles(take.clip, options)]
    if not found:
        names = ", ".join(take.name for take in prepared.takes)
        raise VariationError(f"no walk cycle in {names}; captures of two steps and more straight ahead have some")
    return on_one_skeleton(found)


def on_one_skeleton(clips: Sequence[Clip]) -> list[Clip]:
    """Return the clips, all with the very skeleton object of the first."""
    skeleton: Skeleton = clips[0].skeleton
    for clip in clips:
        if clip.skeleton.names != skeleton.names:
            raise VariationError(f"clips '{clips[0].name}' and '{clip.name}' are of different skeletons")
    return [
        clip if clip.skeleton is skeleton else Clip(
            skeleton, clip.root_positions, clip.rotations, clip.fps, clip.name, clip.contacts, clip.labels
        )
        for clip in clips
    ]  # fmt: skip
