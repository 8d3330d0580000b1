"""Motions that snap-together graphs are built from: of a built-in cast, or of a folder of captures.

The paper has four sets: thirteen seconds of sneaking, thirty of martial arts, a hundred of walking, and the last two
together. Ours are as long where there is as much: one walk of a single person, actions from a stand, walks of several
manners, and walks and actions together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gaitway.graphs.corpus import Corpus, corpus
from gaitway.graphs.intake.prepared import PreparedTake, prepare
from gaitway.library.behavior import Library
from gaitway.library.cast.catalog import load_cast, style_names
from gaitway.motion.blending import concatenate
from gaitway.motion.clip import Clip
from gaitway.motion.editing import slice_frames, with_name


@dataclass(frozen=True)
class SnapSet:
    """One set of motions and what the paper says of its own."""

    name: str
    hubs: int
    """How many hubs the paper built from such a set."""
    paper: str
    """What the paper has in its place."""
    minutes: float | None
    """How long its graph took to author [min]."""
    motions: Callable[[], Corpus]


def cast_sets(name: str, seed: int, quick: bool) -> list[SnapSet]:
    """Sets from a built-in cast; `quick` makes them a quarter as long."""
    scale = 0.25 if quick else 1.0
    walks = [_styled(name, style) for style in (None, *style_names()[1:5])]
    walking, acting = _moving(walks[0]), _acting(walks[0])

    def sneaking() -> Corpus:
        return corpus([_chain(walks[1], walking, 13.0, seed)])

    def actions() -> list[Clip]:
        return [_chain(walks[0], acting, 30.0 * scale, seed + 1)]

    def paces() -> list[Clip]:
        return [_chain(walks[i], walking, 20.0 * scale, seed + 2 + i) for i in range(len(walks))]

    return [
        SnapSet("one walk", 1, "13 s of sneaking: 1 hub, 7 clips", None, sneaking),
        SnapSet("actions", 2, "30 s of martial arts: 2 hubs", 12.0, lambda: corpus(actions())),
        SnapSet("walks", 1, "100 s of walking: 1 hub", 20.0, lambda: corpus(paces())),
        SnapSet("together", 3, "both: 3 hubs", None, lambda: corpus([*actions(), *paces()])),
    ]


def capture_sets(folder: Path, quick: bool) -> list[SnapSet]:
    """Sets from captures of one person."""
    takes = [take for take in prepare(folder).takes if not take.mirrored]
    walks, others = _walks(takes), _others(takes)
    longest = max(takes, key=lambda take: len(take.clip)).clip
    part = slice_frames(longest, 0, min(len(longest), round(13.0 * longest.fps)))
    seconds = 25.0 if quick else 100.0
    sets = [SnapSet("longest take", 1, "13 s of sneaking: 1 hub, 7 clips", None, lambda: corpus([part]))]
    if others:
        clips = _up_to(others, seconds)
        sets.append(SnapSet("actions", 2, "30 s of martial arts: 2 hubs", 12.0, lambda: corpus(clips)))
    if walks:
        paces = _up_to(walks, seconds)
        sets.append(SnapSet("walks", 1, "100 s of walking: 1 hub", 20.0, lambda: corpus(paces)))
    whole = _up_to([take.clip for take in takes], 40.0 if quick else 400.0)
    sets.append(SnapSet("all", 4, "both: 3 hubs", None, lambda: corpus(whole)))
    return sets


def _walks(takes: Sequence[PreparedTake]) -> list[Clip]:
    """Takes that are walked for the most part."""
    return [take.clip for take in takes if _share(take, ("walk",)) > 0.6]


def _others(takes: Sequence[PreparedTake]) -> list[Clip]:
    """Takes that are neither walked nor run for the most part."""
    return [take.clip for take in takes if _share(take, ("walk", "jog", "run")) < 0.3]


def _share(take: PreparedTake, kinds: Sequence[str]) -> float:
    return sum(p.stop - p.start for p in take.phases if p.kind in kinds) / len(take.clip)


def _up_to(clips: Sequence[Clip], seconds: float) -> list[Clip]:
    """Clips from the first on, until there is so much."""
    out, total = list[Clip](), 0.0
    for clip in clips:
        if out and total + clip.duration > seconds:
            continue
        out.append(clip)
        total += clip.duration
    return out


def _styled(name: str, style: str | None) -> Library:
    return load_cast(name, style=style if name == "person" else None)


def _moving(library: Library) -> list[str]:
    """Behaviours that stay in the state of travel with the most of them, on level ground."""
    plain = [
        b for b in library.graph.behaviors if b.start == b.end and b.obstacle is None and not _stays(library, b.name)
    ]
    states = [b.start for b in plain]
    state = "walk" if "walk" in states else max(sorted(set(states)), key=states.count)
    return [b.name for b in plain if b.start == state and "turn" not in b.name]


def _acting(library: Library) -> list[str]:
    """Behaviours that begin and end in a stand, on level ground."""
    chosen = [b.name for b in library.graph.behaviors if b.start == b.end == "stand" and b.obstacle is None]
    level = [n for n in chosen if np.ptp(library.clips[library.graph[n].clips[0]].root_positions[[0, -1], 2]) < 0.05]
    return level or _moving(library)


def _stays(library: Library, behavior: str) -> bool:
    roots = library.clips[library.graph[behavior].clips[0]].root_positions
    return bool(np.linalg.norm(roots[-1, :2] - roots[0, :2]) < 0.3)


def _chain(library: Library, behaviors: Sequence[str], seconds: float, seed: int) -> Clip:
    """A motion of random behaviours of one state, one after another, at least so long."""
    rng, clips, total = np.random.default_rng(seed), list[Clip](), 0.0
    while total < seconds:
        clips.append(library.clips[library.graph[str(rng.choice(behaviors))].clips[0]])
        total += clips[-1].duration
    whole = concatenate(clips, overlap=False)
    return with_name(slice_frames(whole, 0, round(seconds * whole.fps) + 1), f"{library.name}-{seed}")
