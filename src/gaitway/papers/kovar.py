"""Motion graphs (Kovar, Gleicher and Pighin 2002): building graphs, following paths, changing labels, and steering.

The paper reports, on a 1.3 GHz Athlon: 25 minutes for all distances of 6,000 frames; 58.1 s of search for 54.9 s of
walking, and 15.0 s for 87.7 s of martial arts, along a word in cursive, both with graphs of about 3,000 frames.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from PIL import Image

from gaitway.audit.sources import root_steps, turn_steps
from gaitway.capture.reading.prepared import capture_corpus, prepare
from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray
from gaitway.core.progress import Progress
from gaitway.graphs.corpus import ACTIONS, Corpus, library_corpus
from gaitway.graphs.distance import distances
from gaitway.graphs.kovar.building import build_graph
from gaitway.graphs.kovar.extraction import GraphSearch
from gaitway.graphs.kovar.following import SLACK, FollowedPath, PathFollower
from gaitway.graphs.kovar.motion_graph import MotionGraph
from gaitway.graphs.kovar.path_task import PathPart
from gaitway.graphs.kovar.paths import GroundPath, polyline, sketched, spline
from gaitway.graphs.kovar.steering import SteeredCharacter, steering_table
from gaitway.graphs.kovar.transitions import TransitionThresholds, transition_limits
from gaitway.graphs.kovar.walks import walk_clip
from gaitway.graphs.minima import local_minima
from gaitway.motion.clip import Clip
from gaitway.motion.quality import foot_slide
from gaitway.papers.tables import Claim, PaperOptions, PaperTable, kept
from gaitway.render.sheets.motion_graph_pictures import error_picture, path_picture, transition_strips

_HELLO = (
    (0.0, 0.25), (0.35, 0.7), (0.62, 1.45), (0.5, 1.9), (0.3, 1.5), (0.28, 0.8), (0.3, 0.05), (0.42, 0.6), (0.7, 0.92),
    (0.9, 0.6), (0.95, 0.15), (1.25, 0.12), (1.55, 0.5), (1.6, 0.88), (1.4, 0.95), (1.3, 0.5), (1.5, 0.08), (1.85, 0.2),
    (2.15, 0.8), (2.32, 1.5), (2.2, 1.9), (2.05, 1.5), (2.05, 0.7), (2.15, 0.15), (2.45, 0.15), (2.75, 0.8),
    (2.92, 1.5), (2.8, 1.9), (2.65, 1.5), (2.65, 0.7), (2.75, 0.15), (3.05, 0.2), (3.3, 0.75), (3.6, 0.95),
    (3.35, 0.75), (3.3, 0.3), (3.6, 0.05), (3.9, 0.35), (3.85, 0.8), (3.65, 0.95), (3.95, 0.85), (4.4, 0.95),
)  # fmt: skip
"""Word of greeting in one line, with small letters one unit high; drawn for this table."""
FASTER = 20.0
"""Claimed ratio of the duration of a motion to that of its search."""
OFF_S = 0.35
"""Largest mean distance from the path, as the time in which the character covers that distance [s]."""
SKATE = 0.005
"""Largest slide of planted feet beyond that in the captures [m]."""
POP = 1.5
"""Largest change of velocity at transitions, as a multiple of the captures' 99.9th percentile."""
_GAITS, _LEAST_FRAMES = ("walk", "jog", "run"), 60
"""Gaits that are used before others, and the least number of frames that they must have after pruning."""
_PLENTY = 5000
"""Number of frames above which a corpus needs only the best transitions."""
_SECONDS = 100.0
"""Duration of corpora that are made from the cast [s]: 3,000 frames, as in the paper."""


@dataclass(frozen=True, eq=False)
class CorpusBaseline:
    """Changes of velocity and slides in the captures themselves."""

    turns: FloatArray
    """99.9th percentile of changes of angular velocity, by joint [rad/s]; (J,)."""
    root: float
    """99.9th percentile of changes of the root's velocity [m/s]."""
    slide: float
    """95th percentile of the slides of planted points in stances [m]."""


def captured(corpus: Corpus) -> CorpusBaseline:
    """Measure the clips of a corpus."""
    turns = np.percentile(np.concatenate([turn_steps(clip) for clip in corpus.clips]), 99.9, axis=0)
    roots = np.percentile(np.concatenate([root_steps(clip) for clip in corpus.clips]), 99.9)
    slides = np.concatenate([foot_slide(clip) for clip in corpus.clips])
    usual = float(np.percentile(slides, 95.0)) if len(slides) else 0.0
    return CorpusBaseline(np.maximum(turns, 0.5), max(float(roots), 0.05), usual)


def transition_shares(followed: FollowedPath, clip: Clip, turns: FloatArray, root: float) -> FloatArray:
    """Return the largest change of velocity at each transition of a walk, as a multiple of the usual one; (T,)."""
    shares = np.column_stack([turn_steps(clip) / turns, root_steps(clip) / root]).max(axis=1)
    window = followed.walk.graph.transitions.window
    return np.array([shares[max(first - 2, 0) : first + window + 1].max() for first in followed.walk.transitions])


def slide(clip: Clip) -> float:
    """Return the 95th percentile of the slides of planted points in stances [cm]."""
    slides = foot_slide(clip)
    return round(100 * float(np.percentile(slides, 95.0)), 1) if len(slides) else 0.0


def hello(size: float) -> GroundPath:
    """Return a word of greeting in cursive; `size` is the height of its small letters [m]."""
    return spline(size * np.array(_HELLO) * (1.3, 1.0))


def circle(radius: float) -> GroundPath:
    """Return a circle of a radius [m]."""
    turn = np.linspace(-0.5 * np.pi, 1.5 * np.pi, 25)
    return spline(radius * np.column_stack([np.cos(turn), 1.0 + np.sin(turn)]), closed=True)


def zigzag(size: float) -> GroundPath:
    """Return a zigzag with rounded corners; `size` is the length of its lines [m]."""
    corners = size * np.array([(0.0, 0.0), (1.0, 0.0), (1.4, 0.8), (2.4, 0.8), (2.8, 0.0), (3.8, 0.0)])
    return sketched(polyline(corners).points, 0.22 * size)


def scribble(size: float, rng: np.random.Generator) -> GroundPath:
    """Return a wave as if drawn with a trembling hand; `size` is its length [m]."""
    along = np.linspace(0.0, 1.0, 160)
    points = size * np.column_stack([along, 0.14 * np.sin(2.6 * np.pi * along) + 0.03 * np.sin(7.0 * np.pi * along)])
    return sketched(points + rng.normal(0.0, 0.004 * size, points.shape), 0.035 * size)


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Build graphs, follow paths, change labels and steer; on captures if a folder is given, else on the cast."""
    progress("motions", 0, 5)
    corpus, mixed, size = _corpora(options)
    progress("graph", 1, 5)
    graph, graph_row = _graph("paths", corpus)
    mixed_graph, mixed_row = (graph, None) if mixed is None else _graph("changes", mixed)
    gait = _gaits(graph)[0]
    sources = captured(corpus)
    progress("paths", 2, 5)
    follower = PathFollower(graph, GraphSearch())
    follower.follow(polyline([(0.0, 0.0), (2.0, 0.0)]), gait)  # compiles
    followed = {name: _followed(follower, path, gait) for name, path in _paths(size, options).items()}
    progress("changes of manner", 3, 5)
    changed = _changes(mixed_graph)
    if changed is not None:
        followed["changes"] = changed
    clips = {name: walk_clip(one.walk, name=name) for name, one in followed.items()}
    rows = [
        _path_row(name, one, clips[name], sources if name != "changes" or mixed is None else captured(mixed))
        for name, one in followed.items()
    ]
    progress("steering", 4, 5)
    steer_row = _steering(graph, gait)
    change_rows = [] if changed is None else _change_rows(changed)
    graph_rows = [graph_row] if mixed_row is None else [graph_row, mixed_row]
    claims = _claims(rows, change_rows)
    return PaperTable(
        "Kovar, Gleicher and Pighin 2002: motion graphs",
        (*graph_rows, *rows, *change_rows, steer_row),
        (*_notes(graph, gait), *(claim.note for claim in claims)),
        kept(claims),
        parts=_titles(graph_rows, rows, change_rows),
        data=_data(graph_rows, rows, steer_row),
        pictures=_pictures(graph, followed, clips),
    )


def _corpora(options: PaperOptions) -> tuple[Corpus, Corpus | None, float]:
    """Return motions for paths, other motions for changes of labels if there are any, and the size of paths [m].

    Captured people turn more sharply than the built-in cast.
    """
    if options.mocap is not None:
        return capture_corpus(prepare(options.mocap)), None, 3.2
    rng = np.random.default_rng(options.seed)
    library, seconds = load_cast(options.library), 0.4 * _SECONDS if options.quick else _SECONDS
    if options.library == "person":
        walking = library_corpus(library, seconds, rng, states=("walk",), actions=())
        return walking, library_corpus(library, seconds, rng), 7.0
    moving = [state for state in library.graph.states if state != "stand"]
    return library_corpus(library, seconds, rng, states=moving), None, 30.0


def _graph(name: str, corpus: Corpus) -> tuple[MotionGraph, dict[str, Any]]:
    actions = [label for label in corpus.labels if label in ACTIONS]
    part = corpus.clouds.chosen(np.arange(min(len(corpus), 6000)))
    few = part.chosen(np.arange(20))
    distances(few, few)  # compiles
    began, matrix_frames = time.perf_counter(), len(part)
    distances(part, part, ends=False)
    matrix_s = time.perf_counter() - began
    began = time.perf_counter()
    # the more motion there is, the fewer of the possible transitions are needed
    graph = build_graph(corpus, TransitionThresholds(ease=1.0 if len(corpus) < _PLENTY else None), actions=actions)
    built_s = time.perf_counter() - began
    kept_frames = 0 if graph.pruning is None else sum(part.kept for part in graph.pruning.parts)
    limit = transition_limits(corpus, TransitionThresholds())
    row = {
        "graph": name,
        "frames": len(corpus),
        "matrix": matrix_frames,
        "in s": round(matrix_s, 2),
        "build s": round(built_s, 2),
        "limit cm": f"{100 * limit.min():.1f}-{100 * limit.max():.1f}",
        "nodes": len(graph.node_frames),
        "joins": len(graph.transitions),
        "mean cm": round(100 * float(graph.transitions.distances.mean()), 1),
        "kept": kept_frames,
    }
    return graph, row


def _gaits(graph: MotionGraph) -> list[str]:
    """Return the labels of gaits: walking, faster gaits, and then those with the most frames after pruning."""
    found = {}
    for part in graph.pruning.parts if graph.pruning is not None else ():
        if len(part.labels) == 1 and not part.labels & (graph.actions | {"stand", "turn"}):
            found[next(iter(part.labels))] = part.kept
    rank = {word: k for k, word in enumerate(_GAITS)}
    lasting = [word for word in found if found[word] >= _LEAST_FRAMES]
    return sorted(lasting, key=lambda word: (rank.get(word, len(rank)), -found[word])) or [""]


def _paths(size: float, options: PaperOptions) -> dict[str, GroundPath]:
    rng = np.random.default_rng(options.seed)
    out = {"circle": circle(0.6 * size + 0.9), "zigzag": zigzag(0.9 * size), "sketch": scribble(4.0 * size, rng)}
    return out if options.quick else {"hello": hello(size if options.mocap else 1.7 * size), **out}


def _changes(graph: MotionGraph) -> FollowedPath | None:
    """Follow a path with changes of labels: one gait, another gait, and an action if there is one."""
    gaits = _gaits(graph)
    first, second = gaits[0], gaits[min(1, len(gaits) - 1)]
    action = [label for label in ("duck", "jump") if label in graph.actions and label in graph.corpus.labels]
    parts = [PathPart((first,), 8.0)]
    if first != second:
        parts.append(PathPart((second,), 18.0))
    if action:
        parts += [PathPart((action[-1],), 18.0 if first != second else 8.0), PathPart((second,))]
    elif first == second:
        return None
    bend = np.linspace(0.0, 1.0, 60)
    path = polyline(np.column_stack([30.0 * bend, 2.0 * np.sin(2.0 * np.pi * bend)]))
    return _followed(PathFollower(graph), path, parts, slack=2.5)


def _followed(
    follower: PathFollower, path: GroundPath, parts: list[PathPart] | str, slack: float = SLACK
) -> FollowedPath:
    """Follow a path; the duration of the search is that of this thread alone, because others may be busy."""
    began = time.thread_time()
    found = follower.follow(path, parts, slack=slack)
    return replace(found, seconds=time.thread_time() - began)


def _path_row(name: str, one: FollowedPath, clip: Clip, sources: CorpusBaseline) -> dict[str, Any]:
    shares = transition_shares(one, clip, sources.turns, sources.root)
    return {
        "path": name,
        "m": round(one.path.length),
        "motion": round(one.walk.duration, 1),
        "search": round(one.seconds, 2),
        "faster": round(one.walk.duration / max(one.seconds, 1e-9), 1),
        "off": round(100 * one.error, 1),
        "joins": len(shares),
        "sudden": round(float(shares.max(initial=0.0)), 2),
        "over": int((shares > POP).sum()),
        "before": slide(walk_clip(one.walk, clean=False)),
        "after": slide(clip),
        "source": round(100 * sources.slide, 1),
    }


def _change_rows(changed: FollowedPath) -> list[dict[str, Any]]:
    return [
        {
            "change": f"{' '.join(before.labels)} to {' '.join(after.labels)}",
            "asked m": round(asked, 1),
            "made m": round(made, 1),
        }
        for before, after, (asked, made) in zip(changed.parts[:-1], changed.parts[1:], changed.changes, strict=True)
    ]


def _steering(graph: MotionGraph, gait: str) -> dict[str, Any]:
    """Measure how fast a steered character turns, and how long a frame takes."""
    labels = (gait,) if gait else ()
    steering_table(graph, labels)  # compiles
    began = time.perf_counter()
    table = steering_table(graph, labels)
    table_s = time.perf_counter() - began
    walker, fps = SteeredCharacter(table), graph.corpus.fps
    seconds, frames, spent = list[float](), 0, 0.0
    for wanted in np.radians([0.0, 90.0, 180.0, -90.0, 0.0, 60.0, -60.0, 0.0]):
        began = time.perf_counter()
        places = np.array([walker.step(float(wanted)).place for _ in range(round(4.0 * fps))])
        spent, frames = spent + time.perf_counter() - began, frames + len(places)
        ways = places[8:] - places[:-8]
        off = np.abs((np.arctan2(ways[:, 1], ways[:, 0]) - wanted + np.pi) % (2.0 * np.pi) - np.pi)
        wrong = np.flatnonzero(off > np.radians(25.0))
        seconds.append((int(wrong[-1]) + 1) / fps if len(wrong) else 0.0)
    return {
        "nodes": len(table.nodes),
        "table s": round(table_s, 2),
        "turned after s": f"{np.median(seconds[1:]):.1f}, {max(seconds[1:]):.1f}",
        "frame us": round(1e6 * spent / frames),
    }


def _claims(rows: list[dict[str, Any]], changes: list[dict[str, Any]]) -> list[Claim]:
    slowest = min(row["faster"] for row in rows)
    farthest = max(row["off"] / row["m"] * row["motion"] / 100 for row in rows if row["path"] != "changes")
    joins, over = sum(row["joins"] for row in rows), sum(row["over"] for row in rows)
    slid = max(row["after"] - row["source"] for row in rows)
    out = [
        Claim("motion is found in about the time that it lasts, or less", slowest >= 1.0),
        Claim(f"it is found {FASTER:g} times faster than it lasts (slowest {slowest:g})", slowest >= FASTER),
        Claim(f"it stays near its path (farthest by its way of {farthest:.2f} s, in the mean)", farthest <= OFF_S),
        Claim(f"feet slide no more than in the captures (by {max(slid, 0.0):.1f} cm)", slid <= 100 * SKATE),
        Claim(f"transitions are not seen ({over} of {joins} more sudden than {POP:g})", over <= 0.02 * joins),
    ]
    if changes:
        late = max(abs(row["made m"] - row["asked m"]) for row in changes)
        out.append(Claim(f"manners change near the places asked for (farthest {late:.1f} m)", late < 6.0, ours=False))
    return out


def _notes(graph: MotionGraph, gait: str) -> list[str]:
    report = graph.pruning
    out = [
        "paper: 25 min for the distances of 6,000 frames, 58.1 s for 54.9 s of walking, 15.0 s for 87.7 s of karate",
        "motion, search: seconds, of this thread; off: root mean square from the path, cm; sudden: change of speed at "
        f"transitions over 99.9 % of the captures', at most; over: transitions beyond {POP:g}; before, after, source: "
        "how far feet slide, cm, as blended, cleaned, and captured, but for a twentieth of stances",
        f"paths are followed by '{gait}'" if gait else "paths are followed by any motion",
    ]
    if report is not None:
        out.append(f"before pruning: {report.census.dead_ends} dead ends, {report.census.sinks} sinks")
        out += [f"warning: {words}" for words in report.warnings[:6]]
    return out


def _titles(
    graphs: list[dict[str, Any]], rows: list[dict[str, Any]], changes: list[dict[str, Any]]
) -> tuple[tuple[str, int], ...]:
    parts = [("graphs", len(graphs)), ("paths", len(rows))]
    return (*parts, *([("changes of manner", len(changes))] if changes else []), ("steering", 1))


def _data(
    graphs: list[dict[str, Any]], rows: list[dict[str, Any]], steer: dict[str, Any]
) -> tuple[dict[str, Any], ...]:
    """Return one number a row."""
    out = [
        {"what": f"graph of {graph['graph']}", "measure": key, "value": graph[key]}
        for graph in graphs
        for key in graph
        if key != "graph"
    ]
    out += [{"what": row["path"], "measure": key, "value": row[key]} for row in rows for key in row if key != "path"]
    return (*out, *({"what": "steering", "measure": key, "value": value} for key, value in steer.items()))


def _pictures(
    graph: MotionGraph, followed: dict[str, FollowedPath], clips: dict[str, Clip]
) -> tuple[tuple[str, Callable[[], Image.Image]], ...]:
    out: list[tuple[str, Callable[[], Image.Image]]] = [("errors", partial(_error_figure, graph))]
    out += [(name, partial(path_picture, one, title=name)) for name, one in followed.items()]
    for name, one in followed.items():
        if len(one.walk.transitions):
            out.append((f"{name}-strip", partial(_strip, one, clips[name])))
    return tuple(out)


def _strip(one: FollowedPath, clip: Clip) -> Image.Image:
    """Draw poses across the transitions with the largest distances."""
    walk = one.walk
    edges = walk.graph.edges.transition[walk.edges]
    distances_of = walk.graph.transitions.distances[edges[edges >= 0]]
    widest = np.sort(np.argsort(distances_of)[::-1][:6])
    return transition_strips(walk, clip, widest.tolist())


def _error_figure(graph: MotionGraph) -> Image.Image:
    """Draw the error function of the two longest clips."""
    corpus = graph.corpus
    order = np.argsort([-len(clip) for clip in corpus.clips], kind="stable")[:2].tolist()
    rows, columns = (np.arange(corpus.starts[k], min(corpus.starts[k + 1], corpus.starts[k] + 600)) for k in order[:2])
    matrix = distances(corpus.clouds.chosen(rows), corpus.clouds.chosen(columns), ends=False)
    below = float(graph.transitions.distances.max())
    names = (corpus.clips[order[0]].name, corpus.clips[order[-1]].name)
    return error_picture(matrix, local_minima(matrix), below, title="error function (figure 3)", names=names)
