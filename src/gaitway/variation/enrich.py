"""Libraries with variants (Lau 2009, chapter 6): every behaviour gets more clips, which begin and end as its own do.

Where a behaviour has four takes or more, whole bodies vary: a network is learnt from them and sampled. Where it has
fewer, as many captures do, legs, path and timing stay those of a take, and a network learnt from all behaviours of the
same gait together draws the upper body that goes with them. The same is done where a special obstacle is passed: what
clears a fence is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gaitway.errors import VariationError
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.motion.clip import Clip
from gaitway.motion.editing import with_name
from gaitway.variation.ends import joined, likest_ends
from gaitway.variation.gate import Gate, GateBars, unlike, usual_steps
from gaitway.variation.making import Maker, Models, upper_maker, whole_maker
from gaitway.variation.options import LearnOptions
from gaitway.variation.transition import Search

LEAST_TAKES = 4
"""A network is learnt from no fewer takes."""
_SHORTEST = 12
"""Clips of fewer frames have no room between their ends."""

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class EnrichOptions:
    """What is added to a library."""

    count: int = 12
    """Variants of each behaviour."""
    seed: int = 0
    gain: float = 1.0
    """How far from the mean; 1 is as far as takes are."""
    upper: bool = False
    """Only upper bodies vary, in all behaviours."""
    tries: int = 3
    """How many are drawn for each that is wanted, before it is given up."""
    rounds: int = 4
    """Of the search for a network's structure; more takes longer and gains little where ends are held."""
    bars: GateBars = field(default_factory=GateBars)
    """What a variant must reach."""

    def __post_init__(self) -> None:
        if self.count < 1 or self.tries < 1 or self.seed < 0:
            raise VariationError(f"count {self.count}, tries {self.tries}, seed {self.seed}; write 1, 1 and 0 or more")
        if not 0.0 < self.gain <= 3.0:
            raise VariationError(f"gain {self.gain}; write a number above 0 and up to 3")

    @property
    def learning(self) -> LearnOptions:
        """How networks are learnt."""
        return LearnOptions(search=Search(rounds=self.rounds), seed=self.seed)


@dataclass(frozen=True)
class Row:
    """What became of one behaviour."""

    behavior: str
    method: str
    """"whole", "upper", or why nothing was made."""
    takes: int
    added: int = 0
    refused: tuple[tuple[str, int], ...] = ()
    """Faults of variants that were not good enough, and how often."""
    unlike_deg: float = 0.0
    """Median over variants of how much joints differ from the most alike take [degrees]."""


@dataclass(frozen=True, eq=False)
class Enriched:
    """A library with variants, and how they came about."""

    library: Library
    rows: tuple[Row, ...]

    @property
    def added(self) -> int:
        """How many clips are new."""
        return sum(row.added for row in self.rows)


def enrich(
    library: Library,
    options: EnrichOptions = EnrichOptions(),  # noqa: B008  (frozen)
    behaviors: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Enriched:
    """Add variants to a library.

    Args:
        library: with contacts in its clips.
        options: how many, and how good.
        behaviors: names of those that get variants; None for all that can.
        progress: called with what is being done.

    Raises:
        LibraryError: if there is no such behaviour.
        VariationError: if no behaviour got any.
    """
    chosen = [b.name for b in library.graph.behaviors] if behaviors is None else list(dict.fromkeys(behaviors))
    for name in chosen:
        _ = library.graph[name]  # says if there is none
    usual = usual_steps(list(library.clips.values()))
    made: dict[str, list[Clip]] = {}
    rows, pools = list[Row](), _Pools(library)
    for number, name in enumerate(chosen):
        if progress is not None:
            progress(name, number, len(chosen))
        behavior, takes = library.graph[name], _takes(library, library.graph[name])
        rng = np.random.default_rng([options.seed, *name.encode()])
        maker = _maker(behavior, takes, pools, options)
        if isinstance(maker, str):
            rows.append(Row(name, maker, len(takes)))
            continue
        clips, refused = _vary(behavior, takes, maker, Gate.of(takes, options.bars, usual), options, rng)
        made[name] = clips
        away = [min(unlike(clip, take) for take in takes) for clip in clips]
        shown = float(np.degrees(np.median(away))) if away else 0.0
        rows.append(Row(name, maker.method, len(takes), len(clips), tuple(refused.most_common()), shown))
    if not any(made.values()):
        reasons = "; ".join(sorted({f"{row.behavior}: {_reason(row)}" for row in rows})[:3])
        raise VariationError(f"no variant for any of {len(rows)} behaviours ({reasons})")
    return Enriched(_with(library, made), tuple(rows))


def _vary(
    behavior: Behavior, takes: Sequence[Clip], maker: Maker, gate: Gate, options: EnrichOptions,
    rng: np.random.Generator,
) -> tuple[list[Clip], Counter[str]]:  # fmt: skip
    """Variants that pass the gate, and the faults of others."""
    out, refused = list[Clip](), Counter[str]()
    for _ in range(options.count * options.tries):
        if len(out) == options.count:
            break
        take = takes[int(rng.integers(len(takes)))]
        variant = maker.draw(take, rng)
        if not maker.keeps_legs:
            variant = joined(variant, likest_ends(variant, takes))
        faults = gate.faults(variant)
        if faults:
            refused.update([_kind(fault) for fault in faults[:1]])
            continue
        name = f"{behavior.name}_variant_{len(out) + 1}"
        labels = tuple(dict.fromkeys((*take.labels, "variant")))
        out.append(with_name(replace(variant, labels=labels), name))
    return out, refused


def _kind(fault: str) -> str:
    """A fault without its numbers, so that equal ones can be counted."""
    return " ".join(word for word in fault.split() if not any(letter.isdigit() for letter in word))


def _maker(behavior: Behavior, takes: Sequence[Clip], pools: _Pools, options: EnrichOptions) -> Maker | str:
    """What draws variants of a behaviour, or why there is nothing."""
    if any(take.contacts is None for take in takes):
        return "its clips have no contacts"
    if min(len(take) for take in takes) < _SHORTEST:
        return f"too short: fewer than {_SHORTEST} frames"
    try:
        if behavior.obstacle is None and not options.upper and len(takes) >= LEAST_TAKES:
            return whole_maker(takes, options.gain, options.learning)
        pool = pools.of(behavior)
        if len(pool) < LEAST_TAKES:
            return f"too few takes of its gait: {len(pool)}; {LEAST_TAKES} or more show how it varies"
        return upper_maker(pool, options.gain, options.learning, pools.models)
    except VariationError as problem:
        return str(problem)


@dataclass(eq=False)
class _Pools:
    """Takes that an upper body is learnt from: of all behaviours from and to the same states."""

    library: Library

    def __post_init__(self) -> None:
        self.models: Models = {}

    def of(self, behavior: Behavior) -> list[Clip]:
        alike = [
            b
            for b in self.library.graph.behaviors
            if (b.start, b.end, b.obstacle) == (behavior.start, behavior.end, behavior.obstacle)
            and (b.start != b.end or b.name == behavior.name or b.start not in _RESTING)
        ]
        return list(_unique(clip for b in alike for clip in _takes(self.library, b)))


_RESTING = ("stand",)
"""States in which behaviours that begin and end there have nothing in common: a wave is no turn."""


def _takes(library: Library, behavior: Behavior) -> list[Clip]:
    """Captured or generated takes of a behaviour, without variants that it has already."""
    return [library.clips[name] for name in behavior.clips if "variant" not in library.clips[name].labels]


def _unique(clips: Iterable[Clip]) -> Iterable[Clip]:
    return {id(clip): clip for clip in clips}.values()


def _with(library: Library, made: dict[str, list[Clip]]) -> Library:
    """The library with further clips; of variants that it had for the same behaviours nothing is kept."""
    stale = {
        name
        for behavior in library.graph.behaviors
        if behavior.name in made
        for name in behavior.clips
        if "variant" in library.clips[name].labels
    }
    clips = {name: clip for name, clip in library.clips.items() if name not in stale}
    behaviors = []
    for behavior in library.graph.behaviors:
        names = [name for name in behavior.clips if name not in stale]
        for clip in made.get(behavior.name, ()):
            name = clip.name
            while name in clips:
                name += "_"
            clips[name] = with_name(clip, name)
            names.append(name)
        behaviors.append(replace(behavior, clips=tuple(names)))
    return replace(library, clips=clips, graph=BehaviorGraph(tuple(behaviors), library.graph.forbidden))


def _reason(row: Row) -> str:
    return row.refused[0][0] if row.refused else row.method
