"""The course of Choi et al. 2011 (section 5): a gate, things to step over and crawl under, pillars, blocks and stairs.

The paper's courses were modelled by hand and are not published. This one has the same kinds of obstacle, in a row, so
that there is no way around any of them.
"""

from __future__ import annotations

from typing import Any

from gaitway.audit import audit_take
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene

GATE, GAP = 0.45, 0.5
"""Width of the gate, and gap between pillars [m]."""
_WIDE = 6.0
"""Width of the lane [m]."""
_SECONDS = 40.0
"""Longest search for one plan [s]."""


def course(goal: float = 41.0, *, stairs: bool = True) -> Scene:
    """Return the course, and one person who goes along it.

    Args:
        goal: how far along it the goal lies [m]; the fence is at 7.5, the beam at 10.5, the low beam at 13.5, pillars
            at 17, a block to climb at 21.5, a block to jump onto at 29, and the tower from 38 on.
        stairs: whether there are blocks, stairs and a tower at the end, so that the course has several floors.
    """
    half, pillar = 0.5 * (_WIDE - GATE), 0.25
    things: list[dict[str, Any]] = [
        {"box": {"center": [4.0, y], "size": [0.3, half], "height": 2.0}, "name": name}
        for y, name in ((0.5 * half, "right of the gate"), (_WIDE - 0.5 * half, "left of the gate"))
    ]
    step = 2.0 * pillar + GAP
    things += [
        {"cylinder": {"center": [17.0, 0.5 * step + k * step], "radius": pillar, "height": 1.4}}
        for k in range(round(_WIDE / step))
    ]
    middle = 0.5 * _WIDE
    specials: list[dict[str, Any]] = [
        {"jump": {"center": [7.5, middle], "size": [0.15, _WIDE], "height": 0.4}, "name": "fence"},
        {"duck": {"center": [10.5, middle], "size": [0.25, _WIDE], "clearance": 1.25, "height": 0.2}, "name": "beam"},
        {
            "crawl": {"center": [13.5, middle], "size": [0.5, _WIDE], "clearance": 0.85, "height": 0.2},
            "name": "low beam",
        },
    ]
    member: dict[str, Any] = {"name": "ada", "start": [1.5, middle, 0], "goal": [goal, middle]}
    if stairs:
        specials += [
            {"climb": {"center": [21.5, middle], "size": [3.0, _WIDE], "height": 0.9}, "name": "block"},
            {"box": {"center": [29.0, middle], "size": [3.0, _WIDE], "height": 0.45}, "name": "low block"},
            {"platform": {"center": [41.0, middle], "size": [6.0, _WIDE], "height": 1.36}, "name": "tower"},
            {"stairs": {"center": [36.84, middle], "width": 2.4, "steps": 8}, "name": "stairs"},
        ]
        member["goal_floor"] = "tower"
    return scene_from_dict(
        {
            "gaitway": 1,
            "library": "person",
            "bounds": [0, 0, 45, _WIDE],
            "obstacles": things,
            "specials": specials,
            "characters": [member],
            "plan": {"planner": "deform", "start_spread": 0, "speed_spread": 0, "max_seconds": _SECONDS},
        }
    )


def course_row() -> dict[str, Any]:
    """Plan the course and audit it."""
    scene = course()
    planned = plan_scene(scene)
    result = planned.crowd.results["ada"]
    steps = [step.behavior for step in result.plan.steps] if result.plan is not None else []
    return {
        "place": "gate, fence, beam, crawl, pillars, blocks, stairs",
        "arrives": "yes" if not planned.failed else f"no: {planned.failed['ada'].reason}",
        "nodes": result.expanded,
        "fragments tried": result.checks,
        "in a row": len(steps),
        "violations": len(audit_take(planned.take, scene.world).violations),
        "seconds": round(result.seconds, 1),
    }


def cylinder_rows(gaps: tuple[float, ...] = (0.5, 0.45)) -> list[dict[str, Any]]:
    """Cross the world of many cylinders by limited-horizon search (section 5, figure 1)."""
    rows = []
    for gap in gaps:
        scene = many_cylinders(gap)
        planned = plan_scene(scene)
        results = planned.crowd.results.values()
        rows.append(
            {
                "place": f"many cylinders, gaps of {100.0 * gap:.0f} cm",
                "arrives": f"{len(scene.characters) - len(planned.failed)} of {len(scene.characters)}",
                "nodes": sum(result.expanded for result in results),
                "fragments tried": sum(result.checks for result in results),
                "in a row": sum(len(result.plan.steps) for result in results if result.plan is not None),
                "violations": len(audit_take(planned.take, scene.world).violations),
                "seconds": round(sum(result.seconds for result in results), 1),
            }
        )
    return rows


def many_cylinders(gap: float) -> Scene:
    """Return a field of cylinders in staggered rows with equal gaps [m], which two people cross."""
    step, things = 0.5 + gap, list[dict[str, Any]]()
    for row in range(5):
        first = 0.5 * step * (row % 2)
        things += [
            {"cylinder": {"center": [round(3.0 + 1.6 * row, 3), round(first + k * step, 3)], "radius": 0.25,
                          "height": 1.4}}
            for k in range(int((6.0 - first) / step) + 1)
        ]  # fmt: skip
    return scene_from_dict(
        {
            "gaitway": 1,
            "library": "person",
            "bounds": [0, 0, 12.5, 6],
            "obstacles": things,
            "characters": [
                {"name": "ada", "start": [1.0, 2.6, 0], "goal": [11.5, 3.0]},
                {"name": "bo", "start": [11.5, 4.5, 180], "goal": [1.0, 4.5]},
            ],
            "plan": {"planner": "deform", "start_spread": 0, "speed_spread": 0, "max_seconds": _SECONDS},
        }
    )
