"""What a plan of a live character cost and took is known, and no step of time searches for more than its share."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.live.planning import stuck_characters as seeking
from gaitway.live.planning.movers import HORIZON, MoversAhead
from gaitway.live.playing._playing_kernels import FRESH, SOUGHT
from gaitway.scene import scene_from_dict
from gaitway.studio.live_play import LivePlay
from gaitway.world.obstacle import WALL, Mover, MoverPhase
from gaitway.world.shapes import Cylinder
from gaitway.world.world import World
from live_crowds import FRAME, OPEN, crowd_in, door, prepared_in

NARROW = door(0.8)
START, GOAL = (-1.2, 4.5, 1.57), (4.0, 4.0)


def test_a_plan_of_a_tree_costs_what_its_moves_cost() -> None:
    crowd = crowd_in()
    crowd.add([(0.0, 0.0, 0.0)], [(8.0, 0.0)])
    assert crowd.effort(0).source == ""
    for _ in range(40):
        crowd.step(FRAME)
    plan, effort, table = crowd.plan(0), crowd.effort(0), crowd.prepared.table
    costs = [crowd.prepared.actions.costs[table.clips.index(step.clip)] for step in plan.steps]
    assert plan.cost == pytest.approx(sum(costs))
    assert effort.source == "tree"
    assert 0 < effort.nodes <= crowd.counts.tests
    assert effort.milliseconds > 0.0


def test_a_search_is_spread_over_steps_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = crowd_in(NARROW, searches=0.2)
    crowd.add([START], [GOAL])
    most = 0.2 * seeking.RATE
    spent: list[int] = []
    seeker = crowd._parts[0].planner._seeker
    go_on = seeker.go_on

    def counted(*arguments: object) -> object:
        before = seeker._left
        out = go_on(*arguments)  # type: ignore[arg-type]
        spent.append(round(before + most - seeker._left))
        return out

    monkeypatch.setattr(seeker, "go_on", counted)
    while crowd.counts.searches == 0:
        crowd.step(FRAME)
    assert sum(count > 0 for count in spent) > 5
    assert max(spent) <= most + 200  # what is begun is done
    assert crowd.effort(0).source == "A*"
    assert crowd.effort(0).nodes > 0


def test_somebody_who_waits_for_a_search_is_let_go_by_a_new_goal() -> None:
    crowd = crowd_in(NARROW, searches=0.05)
    crowd.add([START], [GOAL])
    seeker = crowd._parts[0].planner._seeker
    while seeker._task is None:
        crowd.step(FRAME)
        crowd.settle()
    crowd.set_goals([0], [(-4.0, -4.0)])
    for _ in range(round(20.0 / FRAME)):
        crowd.step(FRAME)
    assert seeker._task is None
    assert crowd.arrived.tolist() == [0]


@pytest.mark.slow
def test_movers_are_known_for_long_enough_and_made_one_at_a_time() -> None:
    times = np.arange(0.0, 6000.0, 5.0)
    forth = np.where(np.arange(len(times)) % 2, 3.0, 0.0)
    ball = MoverPhase(0.0, Cylinder((0.0, 0.0), 0.4, 2.0), WALL)
    movers = tuple(
        Mover((ball,), times, np.column_stack([forth, np.full(len(times), 2.0 * k), 0.0 * times]), f"mover {k}")
        for k in range(3)
    )
    ahead = MoversAhead(prepared_in(World(OPEN.bounds, movers=movers)).fields, 0.0, 2)
    changed = 0
    for time in np.arange(0.0, 1000.0, 1.0).tolist():
        changed += ahead.look_ahead(time)
        at = movers[1].pose(time + HORIZON - 1.0)
        assert ahead.traffic.hit(time + HORIZON - 1.0, at[0], at[1], 0.1) == "mover 1"
        assert len(ahead.owners) == 2
    assert changed > 2
    ahead.look_ahead(5000.0)  # somebody was in a hurry
    at = movers[2].pose(5000.0 + HORIZON - 1.0)
    assert ahead.traffic.hit(5000.0 + HORIZON - 1.0, at[0], at[1], 0.1) == "mover 2"


@pytest.mark.slow
def test_a_fence_is_passed_by_those_who_search_before_they_set_out() -> None:
    scene = scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 30, 10], "seed": 1,
        "specials": [{"jump": {"center": [15, 5], "size": [0.15, 10], "height": 0.4}}],
        "characters": [{"count": 3, "name": "east", "start_area": [1, 1, 4, 9], "goal_area": [26, 1, 29, 9]},
                       {"count": 3, "name": "west", "start_area": [26, 1, 29, 9], "goal_area": [1, 1, 4, 9]}],
    })  # fmt: skip
    play = LivePlay(scene)
    jumped: set[str] = set()
    for _ in range(round(60.0 / FRAME)):  # the last one arrives after 29 to 47 s at five seeds
        play.step(FRAME)
        jumped |= {name for name in play.names if play.behavior(name).startswith(("jump", "hurdle", "step_over"))}
        if play.crowd.counts.arrivals >= 6:
            break
    assert jumped == set(play.names)
    assert play.crowd.counts.arrivals >= 6
    assert play.crowd._started().plans.counts[:6, SOUGHT].min() >= FRESH
    play.close()
