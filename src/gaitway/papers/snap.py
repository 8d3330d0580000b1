"""Snap-together motion (Gleicher, Shin, Kovar and Jepsen 2003): graphs of the largest match sets, and their cuts.

The paper builds a graph of one hub from thirteen seconds of sneaking, of two from thirty seconds of martial arts, of
one from a hundred seconds of walking, and joins the last two. It reports 12 and 20 minutes of authoring, most of it
spent on mapping clips to a game controller, and shows transitions in pictures; it gives no other numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from PIL import Image

from gaitway.core.arrays import FloatArray
from gaitway.core.progress import Progress
from gaitway.graphs.snap.hub_graph import HubGraph, snap_together
from gaitway.graphs.snap.playing import play_clips
from gaitway.motion.clip import Clip
from gaitway.motion.editing import slice_frames
from gaitway.papers.snap_data import SnapSet, capture_sets, cast_sets
from gaitway.papers.snap_quality import Cuts, audited, measure_cuts, sinks, slides
from gaitway.papers.tables import Claim, PaperOptions, PaperTable, kept
from gaitway.render.sheets.hub_picture import hub_picture
from gaitway.render.sheets.strips import filmstrip

TITLE = "Gleicher 2003: snap-together motion"
GAP, JOIN, SLIDE, SINK = 1e-9, 1.5, 0.005, 0.01
"""Largest difference of poses at a cut; largest change of velocity, as a multiple of the source's; largest slide beyond
the source's, and largest depth under the floor [m]."""
_STRIP_S = 0.5
"""Time that is shown before and after a cut [s]."""
NOTES = (
    "paper: 12 minutes for martial arts and 20 for walking, from raw data to a controller; here: without an author",
    "build: distances, match sets, common poses and clips; cut, root: greatest change of a joint's and of the root's "
    "speed over all cuts, as a share of the source's own 99.9th percentile; slide: of planted points a stance, 95th "
    "percentile and most; sink: under the floor at most; audit: continuity and skate of random takes",
)


@dataclass(frozen=True, eq=False)
class _Built:
    """Graph and its measures."""

    what: SnapSet
    graph: HubGraph
    seconds: float
    cuts: Cuts
    slides: tuple[FloatArray, FloatArray]
    sinks: tuple[float, float]
    audit: tuple[float, float]
    faults: int


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Build and measure every set of the cast, and of captures if a folder is given."""
    sets = [(f"cast {options.library}", s) for s in cast_sets(options.library, options.seed, options.quick)]
    if options.mocap is not None:
        progress("reading captures", 0, None)
        sets = [(options.mocap.name, s) for s in capture_sets(options.mocap, options.quick)] + sets
    built, skipped = list[tuple[str, _Built]](), list[str]()
    for number, (source, what) in enumerate(sets):
        progress(f"{source}, {what.name}", number, len(sets))
        one = _build(what, options.seed)
        if one is None:
            skipped.append(f"{source}, {what.name}: no pose occurs twice")
        else:
            built.append((source, one))
    claims = _claims([one for _, one in built])
    graphs, feet = [_graph_row(*pair) for pair in built], [_quality_row(*pair) for pair in built]
    return PaperTable(
        TITLE,
        (*graphs, *feet),
        (*NOTES, *skipped, *(claim.note for claim in claims)),
        kept(claims) and bool(built),
        (("graphs", len(graphs)), ("cuts and feet", len(feet))) if built else (),
        tuple({**one, **two} for one, two in zip(graphs, feet, strict=True)),
        pictures=tuple(picture for source, one in built for picture in _pictures(source, one)),
    )


def _build(what: SnapSet, seed: int) -> _Built | None:
    """Build the graph of a set; None if it has no match set of two frames."""
    motions = what.motions()
    begin = perf_counter()
    found = what.hubs(motions)
    if not found:
        return None
    graph = snap_together(motions, found)
    seconds = perf_counter() - begin
    if not graph.clips:
        return None
    report = audited(graph, seed)
    worst = [0.0 if found is None else found.value for found in (report[r].worst for r in ("continuity", "skate"))]
    faults = sum(f.row in ("continuity", "skate") for f in report.violations)
    return _Built(
        what=what,
        graph=graph,
        seconds=seconds,
        cuts=measure_cuts(graph),
        slides=slides(graph),
        sinks=sinks(graph),
        audit=(worst[0], worst[1]),
        faults=faults,
    )


def _graph_row(source: str, one: _Built) -> dict[str, Any]:
    graph = one.graph
    return {
        "motion": f"{source}, {one.what.name}",
        "s": round(len(graph.motions) / graph.motions.fps),
        "hubs": len(graph.hubs),
        "match frames": "+".join(str(len(h.matches)) for h in graph.hubs),
        "clips": len(graph.clips),
        "dead ends": len(graph.dead_ends()),
        "build s": round(one.seconds, 1),
        "paper min": one.what.minutes if one.what.minutes is not None else "",
        "the paper's": one.what.paper,
    }


def _quality_row(source: str, one: _Built) -> dict[str, Any]:
    before, after = one.slides
    return {
        "motion": f"{source}, {one.what.name}",
        "cuts": len(one.cuts.pairs),
        "cut": round(float(one.cuts.turns.max(initial=0.0)), 2),
        "root": round(float(one.cuts.roots.max(initial=0.0)), 2),
        "slide cm": _spread(after),
        "source's": _spread(before),
        "sink cm": round(100 * one.sinks[1], 1),
        "its source": round(100 * one.sinks[0], 1),
        "audit": f"{one.audit[0]:.2f}, {100 * one.audit[1]:.1f} cm",
        "faults": one.faults,
    }


def _spread(values: FloatArray) -> str:
    if not len(values):
        return "none"
    return f"{100 * float(np.percentile(values, 95)):.1f}, {100 * float(values.max()):.1f}"


def _claims(built: list[_Built]) -> list[Claim]:
    gaps = max((one.cuts.gap for one in built), default=np.inf)
    joins = max(
        (float(max(one.cuts.turns.max(initial=0), one.cuts.roots.max(initial=0))) for one in built), default=0.0
    )
    slow = max((one.seconds for one in built), default=np.inf)
    sink = max((one.sinks[1] for one in built), default=0.0)
    slide = max((_excess(one) for one in built), default=0.0)
    faults = sum(one.faults for one in built)
    said = {
        f"clips meet in their common pose: within {gaps:.0e} m or rad": gaps < GAP,
        f"no cut changes speeds by more than {JOIN:g} times the source's 99.9th percentile: {joins:.2f}": joins <= JOIN,
        f"planted feet slide no farther than in the source and 0.5 cm, 95th percentile: {100 * slide:+.1f} cm": slide
        <= SLIDE,
        f"no foot is more than 1 cm under the floor: {100 * sink:.1f} cm": sink <= SINK,
        f"the audit of random takes finds neither pops nor skating: {faults} faults": faults == 0,
        f"a graph is built in less time than the paper's authors took: {slow:.0f} s at most": slow < 720.0,
    }
    return [Claim(words, bool(holds)) for words, holds in said.items()]


def _excess(one: _Built) -> float:
    """Return the 95th percentile of slides minus that of the source [m]."""
    before, after = one.slides
    return float(np.percentile(after, 95) - np.percentile(before, 95)) if len(before) and len(after) else 0.0


def _pictures(source: str, one: _Built) -> list[tuple[str, Callable[[], Image.Image]]]:
    words = f"{source}-{one.what.name}".replace(" ", "-")
    title = f"{source}, {one.what.name}"
    return [
        (f"{words}-graph", partial(hub_picture, one.graph, title=title)),
        (f"{words}-cuts", partial(_strip, one)),
    ]


def _strip(one: _Built) -> Image.Image:
    """Draw figures before and after the worst cut, the median cut, and cuts between; the cut is in the middle."""
    order = np.argsort(one.cuts.turns)
    ranks = sorted({len(order) - 1, (3 * len(order)) // 4, len(order) // 2, len(order) // 4})
    chosen = [int(order[rank]) for rank in reversed(ranks)]
    words = [f"cut in the middle: {one.cuts.turns[k]:.2f} x" for k in chosen]
    rows = [_around_cut(one.graph, one.cuts.pairs[k]) for k in chosen]
    return filmstrip(rows, step=1.0 / 15.0, columns=15, row_height=190, labels=words)


def _around_cut(graph: HubGraph, pair: tuple[int, int]) -> Clip:
    whole, cut = play_clips(graph, pair), len(graph.clips[pair[0]].clip) - 1
    half = min(round(_STRIP_S * whole.fps), cut, len(whole) - 1 - cut)
    return slice_frames(whole, cut - half, cut + half + 1)
