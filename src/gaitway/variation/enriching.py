"""Libraries with variants (Lau 2009, chapter 6): every behaviour gets more clips, which begin and end as its own do.

Where a behaviour has four takes or more, whole bodies vary: a network is learnt from them and sampled. Where it has
fewer, as many captures do, legs, path and timing stay those of a take, and a network learnt from all behaviours of the
same gait together draws the upper body that goes with them. The same is done where a special obstacle is passed: what
clears a fence is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import VariationError
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.motion.clip import Clip
from gaitway.motion.editing import with_name
from gaitway.variation.evaluation.gate import Gate, GateBars, unlike, usual_steps
from gaitway.variation.generators import Maker, Models, upper_maker, whole_maker
from gaitway.variation.inputs.training_takes import VARIANT
from gaitway.variation.network.options import LearnOptions
from gaitway.variation.network.transition import Search
from gaitway.variation.tasks import Progress, Task, Teller, tasks

_HOPELESS = 8
"""Where of so many variants, or of as many as are wanted, none is good enough, no more are drawn."""


@dataclass(frozen=True)
class EnrichOptions:
    """What is added to a library."""

    count: int = 12
    """Variants of each behaviour."""
    seed: int = 0
    """Of the variants; what is learnt does not depend on it."""
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
        return LearnOptions(search=Search(rounds=self.rounds))


@dataclass(frozen=True)
class Row:
    """What became of one behaviour."""

    behavior: str
    method: str
    """"whole", "upper", or "none"."""
    takes: int
    added: int = 0
    refused: tuple[tuple[str, int], ...] = ()
    """Faults of variants that were not good enough, and how often."""
    unlike_deg: float = 0.0
    """Median over variants of how much joints differ from the most alike take [degrees]."""
    why: str = ""
    """Why only the upper body, or nothing, in plain words."""
    notes: tuple[str, ...] = ()
    """What there was to say about the takes."""


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

    Networks that were learnt before are taken from disk (`gaitway.core.cache`).

    Args:
        library: with contacts in its clips.
        options: how many, and how good.
        behaviors: names of those that get variants, or patterns such as "walk_*"; None for all that can.
        progress: called with what is being done.

    Raises:
        LibraryError: if there is no such behaviour.
        VariationError: if no behaviour got any.
    """
    todo = tasks(library, behaviors, options.upper)
    if not todo:
        raise VariationError(f"library '{library.name}' has no behaviours, so there is nothing to vary")
    usual = usual_steps(list(library.clips.values()))
    made: dict[str, list[Clip]] = {}
    rows, models, teller = list[Row](), Models(options.learning), Teller(progress, todo, options.count)
    for number, task in enumerate(todo):
        teller.begin(number)
        row, clips = _done(task, models, usual, options, teller)
        rows.append(row)
        made[row.behavior] = clips
    if not any(made.values()):
        reasons = "; ".join(sorted({f"{row.behavior}: {_reason(row)}" for row in rows})[:3])
        raise VariationError(f"no variant for any of {len(rows)} behaviours ({reasons})")
    return Enriched(_with(library, made), tuple(rows))


def _done(
    task: Task, models: Models, usual: FloatArray, options: EnrichOptions, teller: Teller
) -> tuple[Row, list[Clip]]:
    """Variants of one behaviour, and what became of it."""
    row = Row(task.behavior.name, task.method, len(task.takes), why=task.why)
    if task.method == "none":
        return row, []
    try:
        found = models.of(task.learns_from, teller.learning)
    except VariationError as problem:
        return replace(row, method="none", why=str(problem)), []
    make = whole_maker if task.method == "whole" else upper_maker
    maker = make(task.learns_from, found, options.gain)
    clips, refused = _drawn(task, maker, Gate.of(task.takes, options.bars, usual), options, teller)
    away = [min(unlike(clip, take) for take in task.takes) for clip in clips]
    shown = float(np.degrees(np.median(away))) if away else 0.0
    faults = tuple(refused.most_common())
    return replace(row, added=len(clips), refused=faults, unlike_deg=shown, notes=maker.notes), clips


def _drawn(
    task: Task, maker: Maker, gate: Gate, options: EnrichOptions, teller: Teller
) -> tuple[list[Clip], Counter[str]]:
    """Variants that pass the gate, and the faults of others."""
    rng = np.random.default_rng([options.seed, *task.behavior.name.encode()])
    out, refused = list[Clip](), Counter[str]()
    drawn, most = 0, options.count * options.tries
    while len(out) < options.count and drawn < most and (out or drawn < max(options.count, _HOPELESS)):
        wanted = min(options.count - len(out), most - drawn)
        chosen = [task.takes[int(number)] for number in rng.integers(len(task.takes), size=wanted)]
        drawn += wanted
        for take, variant in zip(chosen, maker.draw(chosen, rng), strict=True):
            teller.drawing(len(out))
            faults = gate.faults(variant, out)
            if faults:
                refused.update([faults[0].kind])
                continue
            name = f"{task.behavior.name}_{VARIANT}_{len(out) + 1}"
            labels = tuple(dict.fromkeys((*take.labels, VARIANT)))
            out.append(with_name(replace(variant, labels=labels), name))
    return out, refused


def _with(library: Library, made: dict[str, list[Clip]]) -> Library:
    """The library with further clips; of variants that it had for the same behaviours nothing is kept."""
    stale = {
        name
        for behavior in library.graph.behaviors
        if made.get(behavior.name)
        for name in behavior.clips
        if VARIANT in library.clips[name].labels
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
    return row.refused[0][0] if row.refused else row.why
