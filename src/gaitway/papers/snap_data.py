"""Motions for snap-together graphs, of the built-in cast or of a folder of captures.

The paper has four sets: thirteen seconds of sneaking, thirty of martial arts, a hundred of walking, and the last two
together. Ours have the same durations if there is enough motion: one walk of a single person, actions from a stand,
walks in several styles, and walks and actions together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from gaitway.capture.reading.prepared import prepare
from gaitway.capture.takes import PreparedTake
from gaitway.cast.catalog import load_cast, style_names
from gaitway.graphs.corpus import Corpus, build_corpus
from gaitway.graphs.snap.match_sets import MatchSet, choose_match_sets, match_sets_around
from gaitway.library.behavior import Library
from gaitway.motion.blending import concatenate
from gaitway.motion.clip import Clip
from gaitway.motion.editing import slice_frames, with_name

_SNEAKING, _ARTS = "13 s of sneaking: 1 hub, 7 clips", "30 s of martial arts: 2 hubs"
_WALKING, _BOTH = "100 s of walking: 1 hub", "the last two together"


@dataclass(frozen=True)
class SnapSet:
    """Set of motions, and the set of the paper that it corresponds to."""

    name: str
    paper: str
    """Description of the paper's set."""
    minutes: float | None
    """Time that the paper's authors took for its graph [min]."""
    motions: Callable[[], Corpus]
    """Function that makes the motions."""
    hubs: Callable[[Corpus], list[MatchSet]]
    """Function that chooses the match sets."""


def _largest(count: int) -> Callable[[Corpus], list[MatchSet]]:
    return partial(choose_match_sets, most=count, least=2)


def cast_sets(name: str, seed: int, quick: bool) -> list[SnapSet]:
    """Return sets of the built-in cast; with `quick` they are a quarter as long, in fewer styles."""
    scale = 0.25 if quick else 1.0
    people = [_styled(name, style) for style in (None, *style_names()[1 : 2 if quick else 5])]
    walking, acting = _moving(people[0]), _acting(people[0])
    actions = [_chain(people[0], acting, 30.0 * scale, seed + 1)]
    paces = [_chain(one, walking, 100.0 * scale / len(people), seed + 2 + i) for i, one in enumerate(people)]
    changes = _changes(people[0], walking, seed)

    def seeded(motions: Corpus) -> list[MatchSet]:
        """Return the hubs of both sets, searched again in both together."""
        own = [s.seed for s in choose_match_sets(build_corpus(actions), 2, least=2)]
        other = [s.seed + len(build_corpus(actions)) for s in choose_match_sets(build_corpus(paces), 1, least=2)]
        return match_sets_around(motions, [*own, *other])

    return [
        SnapSet(
            "one walk", _SNEAKING, None, lambda: build_corpus([_chain(people[1], walking, 13.0, seed)]), _largest(1)
        ),
        SnapSet("actions", _ARTS, 12.0, lambda: build_corpus(actions), _largest(2)),
        SnapSet("walks", _WALKING, 20.0, lambda: build_corpus(paces), _largest(1)),
        SnapSet("together", _BOTH, None, lambda: build_corpus([*actions, *paces, *changes]), seeded),
    ]


def capture_sets(folder: Path, quick: bool) -> list[SnapSet]:
    """Return sets of captures of one person."""
    takes = [take for take in prepare(folder).takes if not take.mirrored]
    walks, others = _walks(takes), _others(takes)
    longest = max(walks or [take.clip for take in takes], key=len)
    part = slice_frames(longest, 0, min(len(longest), round(13.0 * longest.fps)))
    seconds = 25.0 if quick else 100.0
    sets = [SnapSet("one take", _SNEAKING, None, lambda: build_corpus([part]), _largest(1))]
    if others:
        clips = _up_to(others, seconds)
        sets.append(SnapSet("actions", _ARTS, 12.0, lambda: build_corpus(clips), _largest(2)))
    if walks:
        paces = _up_to(walks, seconds)
        sets.append(SnapSet("walks", _WALKING, 20.0, lambda: build_corpus(paces), _largest(1)))
    whole = _up_to([take.clip for take in takes], 40.0 if quick else 400.0)
    sets.append(SnapSet("all", _BOTH, None, lambda: build_corpus(whole), _largest(4)))
    return sets


def _walks(takes: Sequence[PreparedTake]) -> list[Clip]:
    """Return the takes that are walks for the most part."""
    return [take.clip for take in takes if _share(take, ("walk",)) > 0.6]


def _others(takes: Sequence[PreparedTake]) -> list[Clip]:
    """Return the takes that are neither walks nor runs for the most part."""
    return [take.clip for take in takes if _share(take, ("walk", "jog", "run")) < 0.3]


def _share(take: PreparedTake, kinds: Sequence[str]) -> float:
    return sum(p.stop - p.start for p in take.phases if p.kind in kinds) / len(take.clip)


def _up_to(clips: Sequence[Clip], seconds: float) -> list[Clip]:
    """Return the first clips whose total duration is at most a time [s]."""
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
    """Return the behaviours of walking, or of the moving state with the most behaviours, on level ground."""
    plain = [
        b for b in library.graph.behaviors if b.start == b.end and b.obstacle is None and not _stays(library, b.name)
    ]
    states = [b.start for b in plain]
    state = "walk" if "walk" in states else max(sorted(set(states)), key=states.count)
    return [b.name for b in plain if b.start == state and "turn" not in b.name]


def _acting(library: Library) -> list[str]:
    """Return the behaviours that begin and end in a stand, on level ground."""
    chosen = [b.name for b in library.graph.behaviors if b.start == b.end == "stand" and b.obstacle is None]
    level = [n for n in chosen if np.ptp(library.clips[library.graph[n].clips[0]].root_positions[[0, -1], 2]) < 0.05]
    return level or _moving(library)


def _changes(library: Library, walking: Sequence[str], seed: int) -> list[Clip]:
    """Return motions from a stand to walking and back, which connect both in one graph."""
    graph = library.graph
    state = graph[walking[0]].start
    starts = [b.name for b in graph.behaviors if b.start == "stand" and b.end == state]
    stops = [b.name for b in graph.behaviors if b.start == state and b.end == "stand"]
    if not starts or not stops or state == "stand":
        return []
    rng, names = np.random.default_rng(seed), list[str]()
    for _ in range(4):
        names += ["stand", starts[0], *(str(n) for n in rng.choice(walking, 3)), stops[0]]
    clips = [library.clips[graph[name].clips[0]] for name in [*names, "stand"]]
    return [with_name(concatenate(clips, overlap=False), f"{library.name}-changes")]


def _stays(library: Library, behavior: str) -> bool:
    roots = library.clips[library.graph[behavior].clips[0]].root_positions
    return bool(np.linalg.norm(roots[-1, :2] - roots[0, :2]) < 0.3)


def _chain(library: Library, behaviors: Sequence[str], seconds: float, seed: int) -> Clip:
    """Return a motion of random behaviours of one state that lasts a time [s]."""
    rng, clips, total = np.random.default_rng(seed), list[Clip](), 0.0
    while total < seconds:
        clips.append(library.clips[library.graph[str(rng.choice(behaviors))].clips[0]])
        total += clips[-1].duration
    whole = concatenate(clips, overlap=False)
    return with_name(slice_frames(whole, 0, round(seconds * whole.fps) + 1), f"{library.name}-{seed}")
