"""Crowds with variants (Lau 2009, chapter 6): joggers from five clips, and from these and their variants.

The thesis takes one clip each of jogging straight ahead and of four turns, keeps their legs, learns how upper bodies go
with them, and makes twelve variants of the first and five of each turn. It shows two crowds side by side (figure 6.1).
The thesis plans them by trees, whose nodes get one clip or another when a tree is grown. In our trees, variants that
keep legs, path and timing are one move. The clip is drawn when a plan is made (`space.clip_choice`), so that characters
on the same path side by side differ too. The same crowds are planned by the search, which draws a clip for each step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.progress import Progress
from gaitway.library.behavior import Library
from gaitway.library.checks import check_joins
from gaitway.motion.anatomy import joint_parts
from gaitway.papers.tables import Claim, PaperOptions, PaperTable, kept
from gaitway.planning import Planned, plan_scene
from gaitway.render.film.shot import Shot
from gaitway.render.film.takes import take_still
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.labels import text_font
from gaitway.render.sheets.variation_picture import TakeGroup, overlay_picture
from gaitway.scene.characters import LibraryRef
from gaitway.scene.scene import Scene, scene_from_dict
from gaitway.take.model import Take
from gaitway.variation.enriching import Enriched, EnrichOptions, enrich

JOGS = ("jog_forward", "jog_left_30", "jog_right_30", "jog_left_45", "jog_right_45")
FORWARD, TURNS = 12, 5
"""Number of variants of the first behaviour and of each other one, as in the thesis."""
_OTHERS = ("stand", "wait", "start_jog", "stop_jog", "start_walk", "stop_walk", "walk_forward", "walk_short")
"""Further behaviours that a character needs to start and to arrive."""
_SIDE, _APART = 1.3, 9
"""Distance between neighbouring joggers at the start [m], and number of joggers."""
_SAME_DEG = 0.5
"""Joint difference below which two poses look the same [degrees]."""
PLANNERS = ("tree", "behavior")
"""Planners: that of the thesis, and the search beside it."""
NOTES = (
    "thesis: 5 clips against 5 and 32 variants, by trees; with five, the same jog is seen side by side; no numbers are "
    "given",
    "clips: different clips that the crowd plays of those five behaviours; clones: of pairs who jog in step, the "
    "moments in which upper bodies are the same too; unlike: how much their joints differ, median [degrees]",
)


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Grow, plan, audit and compare both crowds, by trees and by the search."""
    progress("learning how upper bodies go with legs", 0, 5)
    plain = load_cast("person", seed=options.seed, behaviors=[*JOGS, *_OTHERS])
    done = varied(plain, options)
    crowds, rows = list[Planned](), list[dict[str, Any]]()
    scene = joggers(options)
    for planner in PLANNERS:
        for name, library in (("5 clips", plain), ("5 clips + variants", done.library)):
            progress(f"a crowd of {name}", 1 + len(rows), 5)
            planned = plan_scene(scene, libraries={LibraryRef(): library}, seed=options.seed, planner=planner)
            crowds.append(planned)
            rows.append(_row(name, library, planned))
    claims = _claims(rows, plain, done, crowds)
    return PaperTable(
        "Lau 2009, chapter 6: crowds of five clips, and of their variants",
        tuple(rows),
        (*NOTES, *_made(done), *(claim.note for claim in claims)),
        kept(claims),
        pictures=(
            (
                "crowds",
                lambda: crowds_picture(
                    [each.take for each in crowds[:2]], [row["crowd"] for row in rows[:2]], _moments(crowds[0])
                ),
            ),
            ("variants", lambda: _variants_picture(done.library)),
        ),
    )


def _claims(
    rows: Sequence[dict[str, Any]], plain: Library, done: Enriched, crowds: Sequence[Planned]
) -> tuple[Claim, ...]:
    """Return what must hold of crowds by trees and by the search; rows have five clips first, then variants."""
    pairs = list(zip(rows[::2], rows[1::2], strict=True))
    seams = [max(join.legs for join in check_joins(library)) for library in (plain, done.library)]
    return (
        Claim(f"{done.added} variants pass the gate", done.added == FORWARD + TURNS * (len(JOGS) - 1)),
        Claim(
            "trees find all ways",
            all(crowd.found_by == {"tree": row["n"]} for crowd, row in zip(crowds[:2], rows[:2], strict=True)),
        ),
        Claim("plans of both play variants", all(more["clips"] > five["clips"] for five, more in pairs)),
        Claim(
            "who jogs in step is a clone less than half as often",
            all(more["clones %"] < 0.5 * five["clones %"] for five, more in pairs),
        ),
        Claim("joins stay as seamless", seams[1] <= seams[0] + 1e-6),
        Claim("the audit finds nothing in any", not any(row["faults"] for row in rows)),
        Claim("all arrive", all(row["arrive"] == row["n"] for row in rows)),
    )


def _made(done: Enriched) -> list[str]:
    """Return one line for each behaviour."""
    return [
        f"{row.behavior}: {row.added} variants, {row.unlike_deg:.1f} degrees a joint from the take" for row in done.rows
    ]


def varied(library: Library, options: PaperOptions) -> Enriched:
    """Return the library with the thesis's variants: upper bodies of five jogs."""
    wanted = EnrichOptions(count=FORWARD, seed=options.seed, upper=True, rounds=2 if options.quick else 6)
    first = enrich(library, wanted, JOGS)
    kept_clips = {
        behavior.name: behavior.clips[: 1 + (FORWARD if behavior.name == JOGS[0] else TURNS)]
        for behavior in first.library.graph.behaviors
        if behavior.name in JOGS
    }
    behaviors = tuple(
        replace(behavior, clips=kept_clips.get(behavior.name, behavior.clips))
        for behavior in first.library.graph.behaviors
    )
    used = {name for behavior in behaviors for name in behavior.clips}
    clips = {name: clip for name, clip in first.library.clips.items() if name in used}
    rows = tuple(replace(row, added=len(kept_clips[row.behavior]) - 1) for row in first.rows)
    graph = replace(first.library.graph, behaviors=behaviors)
    return Enriched(replace(first.library, clips=clips, graph=graph), rows)


def joggers(options: PaperOptions) -> Scene:
    """Return a scene of joggers side by side on an open place; a few posts make them turn."""
    count = 4 if options.quick else _APART
    width = _SIDE * (count - 1)
    people = [
        {"name": f"jogger-{k + 1}", "start": [2.0, 6.0 + _SIDE * k, 0.0], "goal": [38.0, 6.0 + _SIDE * k],
         "speed": "fast"}
        for k in range(count)
    ]  # fmt: skip
    posts = [{"cylinder": {"center": [20.0 + 3.0 * (k % 2), 7.0 + 3.9 * k], "radius": 0.5, "height": 2.0}}
             for k in range(int(width // 3.9) + 1)]  # fmt: skip
    return scene_from_dict(
        {
            "gaitway": 1, "title": "Joggers", "seed": options.seed, "library": "person",
            "bounds": [0.0, 0.0, 42.0, 12.0 + width], "obstacles": posts, "characters": people,
            "plan": {"planner": "tree", "tolerance": 1.0, "relax": False, "speed_spread": 0.0, "upper_body": False},
        }
    )  # fmt: skip


def _row(name: str, library: Library, planned: Planned) -> dict[str, Any]:
    used = Counter(step.clip for plan in planned.crowd.plans.values() for step in plan.steps if step.behavior in JOGS)
    clones, joint_difference = likeness(planned)
    report = audit_take(planned.take, planned.scene.world)
    return {
        "crowd": name,
        "by": "tree" if "tree" in planned.found_by else "A*",
        "jog clips": sum(len(library.graph[jog].clips) for jog in JOGS),
        "n": len(planned.scene.characters),
        "arrive": len(planned.scene.characters) - len(planned.failed),
        "clips": len(used),
        "clones %": round(100.0 * clones, 1),
        "unlike": round(joint_difference, 1),
        "faults": len(report.violations),
    }


def likeness(planned: Planned, fps: float = 10.0) -> tuple[float, float]:
    """Compare pairs who jog in step: the share with the same upper body, and the median difference [degrees]."""
    parts = joint_parts(planned.take.skeletons[0])
    lower, upper = np.flatnonzero(parts == 0)[1:], np.flatnonzero(parts > 0)
    apart = []
    for poses in _jogging_poses(planned, fps):
        first, second = np.triu_indices(len(poses), 1)
        angles = rotations.angle_between(poses[first], poses[second])
        apart.append(_size(angles[:, upper])[_size(angles[:, lower]) < _SAME_DEG])
    joint_difference = np.concatenate([np.empty(0), *apart])
    if not len(joint_difference):
        return 0.0, 0.0
    return float(np.mean(joint_difference < _SAME_DEG)), float(np.median(joint_difference))


def _jogging_poses(planned: Planned, fps: float) -> list[FloatArray]:
    """Return the local rotations (N, J, 4) of all characters that play one of the five jogs, at every moment."""
    take, plans = planned.take, planned.crowd.plans
    end = max(plan.end_time for plan in plans.values())
    out = []
    for time in np.arange(0.0, end, 1.0 / fps):
        who = [take.names.index(name) for name, plan in plans.items() if _behavior_at(plan.steps, float(time)) in JOGS]
        if len(who) > 1:
            found = take.poses(float(time), who)
            out.append(np.concatenate([group.rotations for group in found]))
    return out


def _behavior_at(steps: Sequence[Any], time: float) -> str | None:
    playing = [step for step in steps if step.time <= time]
    return playing[-1].behavior if playing else None


def _size(angles: FloatArray) -> FloatArray:
    """Return the root mean square of angles (N, J) over joints [degrees]; (N,)."""
    out: FloatArray = np.degrees(np.sqrt(np.mean(angles**2, axis=1)))
    return out


def _moments(planned: Planned) -> list[float]:
    """Return middles of two jogs near the beginning [s]; where clips join, variants are in one pose."""
    steps = next(iter(planned.crowd.plans.values())).steps
    middles = [0.5 * (step.time + after.time) for step, after in pairwise(steps) if step.behavior in JOGS]
    return middles[1:5:2]


def crowds_picture(
    takes: Sequence[Take], names: Sequence[str], moments: Sequence[float], size: tuple[int, int] = (900, 560)
) -> Image.Image:
    """Draw crowds beside one another at the same moments [s], as in figure 6.1."""
    sheet = Image.new("RGB", (size[0] * len(takes), (size[1] + 40) * len(moments)), "#ffffff")
    pen = ImageDraw.Draw(sheet)
    for row, time in enumerate(moments):
        for column, (take, name) in enumerate(zip(takes, names, strict=True)):
            picture = take_still(take, time, shot=Shot(camera=_beside(take, time, size), size=size, samples=4))
            sheet.paste(picture, (column * size[0], row * (size[1] + 40) + 40))
            words = f"{name}, {time:.1f} s"
            pen.text((column * size[0] + 14, row * (size[1] + 40) + 10), words, "#2f3338", text_font(18.0))
    return sheet


def _beside(take: Take, time: float, size: tuple[int, int]) -> Camera:
    """Return a camera a little ahead of a crowd and at its side, with all characters near one another in view."""
    roots = np.concatenate([group.root_positions for group in take.poses(time)])
    near = roots[np.linalg.norm(roots - np.median(roots, axis=0), axis=1) < 8.0]
    room = np.array([0.6, 0.4, 0.9])
    points = np.concatenate([near + room, near - room])
    start = Camera.around(near.mean(axis=0), azimuth=np.radians(-48.0), elevation=np.radians(12.0), distance=12.0)
    return start.fit(points, size)


def _variants_picture(library: Library) -> Image.Image:
    clips = [library.clips[name] for name in library.graph[JOGS[0]].clips]
    groups = [TakeGroup("the take", clips[:1]), TakeGroup(f"{len(clips) - 1} variants", clips[1:])]
    return overlay_picture(groups, title="Jogging: legs kept, upper bodies drawn to go with them")
