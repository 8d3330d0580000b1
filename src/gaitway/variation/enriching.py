"""Libraries with variants (Lau 2009, chapter 6): every behaviour gets more clips, which join as its own do.

Where a behaviour has four takes or more, whole bodies vary: a network is learnt from the takes and sampled. Where it
has fewer, as in many captured libraries, legs, path and timing stay those of a take. A network that is learnt from all
behaviours of the same gait then draws the upper body that goes with them. The same is done for behaviours that pass a
special obstacle, so that a jump still clears its fence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import VariationError
from gaitway.core.progress import Progress, silent
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.motion.clip import Clip
from gaitway.motion.editing import with_name
from gaitway.variation.evaluation.gate import GateBars, VariantGate, joint_difference, velocity_change_limits
from gaitway.variation.generators import VariantGenerator, upper_body_generator, whole_body_generator
from gaitway.variation.inputs.training_takes import VARIANT
from gaitway.variation.learning.model_cache import ModelCache
from gaitway.variation.network.model import LearnOptions
from gaitway.variation.network.transition import TransitionSearch
from gaitway.variation.tasks import TaskProgress, VariationTask, tasks

_HOPELESS = 8
"""Number of variants, all refused, after which no more are drawn (or the number that is wanted, if that is more)."""


@dataclass(frozen=True)
class EnrichOptions:
    """Options of `enrich`."""

    count: int = 12
    """Number of variants of each behaviour."""
    seed: int = 0
    """Seed of the variants; the learnt networks do not depend on it."""
    gain: float = 1.0
    """How far variants go from the mean; 1 is as far as takes go."""
    upper: bool = False
    """Whether only upper bodies vary, in all behaviours."""
    tries: int = 3
    """Number of variants that are drawn, at most, for each that is wanted."""
    rounds: int = 4
    """Rounds of the search for a network's structure; more rounds take longer and gain little, because feet and
    path at both ends of a variant are fixed."""
    bars: GateBars = field(default_factory=GateBars)
    """Limits that a variant must meet."""

    def __post_init__(self) -> None:
        if self.count < 1 or self.tries < 1 or self.seed < 0:
            raise VariationError(f"count {self.count}, tries {self.tries}, seed {self.seed}; write 1, 1 and 0 or more")
        if not 0.0 < self.gain <= 3.0:
            raise VariationError(f"gain {self.gain}; write a number above 0 and up to 3")

    @property
    def learning(self) -> LearnOptions:
        """Options with which networks are learnt."""
        return LearnOptions(search=TransitionSearch(rounds=self.rounds))


@dataclass(frozen=True)
class EnrichedBehavior:
    """Result of `enrich` for one behaviour."""

    behavior: str
    """Name of the behaviour."""
    method: str
    """What varies: "whole" (body), "upper" (body), or "none"."""
    takes: int
    """Number of takes that the behaviour has."""
    added: int = 0
    """Number of variants that were added."""
    refused: tuple[tuple[str, int], ...] = ()
    """Faults of refused variants, and the number of variants with each fault."""
    unlike_deg: float = 0.0
    """Joint difference from a variant to the most similar take, median over variants [degrees]."""
    why: str = ""
    """Reason why only the upper body varies, or nothing."""
    notes: tuple[str, ...] = ()
    """Warnings about the takes."""


@dataclass(frozen=True, eq=False)
class Enriched:
    """A library with variants, and a report about each behaviour."""

    library: Library
    rows: tuple[EnrichedBehavior, ...]

    @property
    def added(self) -> int:
        """Number of new clips."""
        return sum(row.added for row in self.rows)


def enrich(
    library: Library,
    options: EnrichOptions = EnrichOptions(),  # noqa: B008  (frozen)
    behaviors: Collection[str] | None = None,
    progress: Progress = silent,
) -> Enriched:
    """Add variants to a library.

    Networks that were learnt before are loaded from disk (`gaitway.core.cache`).

    Args:
        library: Library whose clips have contacts.
        options: Number of variants, and the limits that they must meet.
        behaviors: Names of the behaviours that get variants, or patterns such as "walk_*"; None for all that can.
        progress: Function that is told what is being done.

    Raises:
        LibraryError: if there is no such behaviour.
        VariationError: if no behaviour got a variant.
    """
    todo = tasks(library, behaviors, options.upper)
    if not todo:
        raise VariationError(f"library '{library.name}' has no behaviours, so there is nothing to vary")
    usual = velocity_change_limits(list(library.clips.values()))
    made: dict[str, list[Clip]] = {}
    rows, models = list[EnrichedBehavior](), ModelCache(options.learning)
    task_progress = TaskProgress(progress, todo, options.count)
    for number, task in enumerate(todo):
        task_progress.begin(number)
        row, clips = _done(task, models, usual, options, task_progress)
        rows.append(row)
        made[row.behavior] = clips
    if not any(made.values()):
        reasons = "; ".join(sorted({f"{row.behavior}: {_reason(row)}" for row in rows})[:3])
        raise VariationError(f"no variant for any of {len(rows)} behaviours ({reasons})")
    return Enriched(_with(library, made), tuple(rows))


def _done(
    task: VariationTask, models: ModelCache, usual: FloatArray, options: EnrichOptions, task_progress: TaskProgress
) -> tuple[EnrichedBehavior, list[Clip]]:
    """Return the report about one behaviour, and its variants."""
    row = EnrichedBehavior(task.behavior.name, task.method, len(task.takes), why=task.why)
    if task.method == "none":
        return row, []
    try:
        found = models.of(task.learns_from, task_progress.learning)
    except VariationError as problem:
        return replace(row, method="none", why=str(problem)), []
    make = whole_body_generator if task.method == "whole" else upper_body_generator
    generator = make(task.learns_from, found, options.gain)
    clips, refused = _drawn(task, generator, VariantGate.of(task.takes, options.bars, usual), options, task_progress)
    away = [min(joint_difference(clip, take) for take in task.takes) for clip in clips]
    shown = float(np.degrees(np.median(away))) if away else 0.0
    faults = tuple(refused.most_common())
    return replace(row, added=len(clips), refused=faults, unlike_deg=shown, notes=generator.notes), clips


def _drawn(
    task: VariationTask,
    generator: VariantGenerator,
    gate: VariantGate,
    options: EnrichOptions,
    task_progress: TaskProgress,
) -> tuple[list[Clip], Counter[str]]:
    """Return the variants that pass the gate, and the faults of the others."""
    rng = np.random.default_rng([options.seed, *task.behavior.name.encode()])
    out, refused = list[Clip](), Counter[str]()
    drawn, most = 0, options.count * options.tries
    while len(out) < options.count and drawn < most and (out or drawn < max(options.count, _HOPELESS)):
        wanted = min(options.count - len(out), most - drawn)
        chosen = [task.takes[int(number)] for number in rng.integers(len(task.takes), size=wanted)]
        drawn += wanted
        for take, variant in zip(chosen, generator.draw(chosen, rng), strict=True):
            task_progress.drawing(len(out))
            faults = gate.faults(variant, out)
            if faults:
                refused.update([faults[0].kind])
                continue
            name = f"{task.behavior.name}_{VARIANT}_{len(out) + 1}"
            labels = tuple(dict.fromkeys((*take.labels, VARIANT)))
            out.append(with_name(replace(variant, labels=labels), name))
    return out, refused


def _with(library: Library, made: dict[str, list[Clip]]) -> Library:
    """Return the library with further clips, which replace older variants of the same behaviours."""
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


def _reason(row: EnrichedBehavior) -> str:
    return row.refused[0][0] if row.refused else row.why
