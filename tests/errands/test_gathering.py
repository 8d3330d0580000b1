"""Companions come near one another before they go somewhere together, and take seats side by side."""

from __future__ import annotations

import math

from tests.errands.test_dispatcher import DOOR, KIOSK, Front

from gaitway.errands.dispatcher import DONE
from gaitway.errands.orders import Hold, Stand, Walk
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.errands import Go, Leave, Look, Place, SeatPlace, Sit

BOTH = ("ada", "bob")


def walks(front, name):
    return [(time, order.goal) for time, who, order in front.log if who == name and isinstance(order, Walk)]


def test_who_is_away_from_the_first_companion_comes_near_before_they_go():
    front = Front()
    front.enter("ada", [Go(KIOSK)], at=(0.0, 5.0), companions=BOTH)
    front.enter("bob", [Go(KIOSK)], at=(-4.0, 5.0), time=2.0, companions=BOTH)
    front.run()
    (came, beside), (follows, _) = walks(front, "bob")
    ((goes, _),) = walks(front, "ada")
    assert 0.8 < math.dist(beside, (0.0, 5.0)) < 1.1
    assert came + 1.0 - 1e-6 <= goes <= follows < goes + 0.5
    assert front.spans("ada") == front.spans("bob") == [("go kiosk", DONE)]
    assert not front.dispatcher.gathering.away


def test_nobody_comes_near_who_is_near_or_far_away_or_just_looks():
    for at, errand in (((-1.0, 5.0), Go(KIOSK)), ((-20.0, 5.0), Go(KIOSK)), ((-4.0, 5.0), Look(KIOSK, (2.0, 2.0)))):
        front = Front()
        for name, place in (("ada", (0.0, 5.0)), ("bob", at)):
            front.enter(name, [errand], at=place, companions=BOTH)
        front.run()
        assert len(walks(front, "bob")) == 1


def test_who_does_not_come_near_is_waited_for_no_longer_than_a_while():
    front = Front(barred=["bob"])
    for name, place in (("ada", (0.0, 5.0)), ("bob", (-4.0, 5.0))):
        front.enter(name, [Go(KIOSK)], at=place, companions=BOTH)
    front.run()
    assert front.spans("ada") == [("go kiosk", DONE)]
    assert walks(front, "ada")[0][0] < 16.0


def test_who_is_sent_elsewhere_on_the_way_is_not_waited_for():
    front = Front()
    for name, place in (("ada", (0.0, 5.0)), ("bob", (-4.0, 5.0))):
        front.enter(name, [Go(KIOSK)], at=place, companions=BOTH)
    front.run(until=0.5)
    assert isinstance(front.log[-1][2], Walk | Hold | Stand)
    front.dispatcher.send("bob", [Leave(DOOR)], 0.6)
    for when, other in front.dispatcher.awoken:
        front.push(when, other)
    front.dispatcher.awoken.clear()
    front.run(until=5.0)
    assert walks(front, "ada"), "nobody is away any more"


def test_companions_sit_side_by_side():
    xs = (0.0, 1.2, 2.4, 3.6, 8.0)
    seats = tuple(SeatPlace(pose=(x, 9.0, -math.pi / 2), height=0.45, depth=0.4) for x in xs)
    bench, front = Place(name="bench", point=(4.0, 9.0), seats=seats), Front()
    front.enter("ada", [Sit(bench, (30.0, 30.0))], at=(3.6, 2.0), companions=BOTH)
    front.enter("bob", [Sit(bench, (30.0, 30.0))], at=(8.0, 2.0), companions=BOTH)
    front.run()
    assert abs(front.poses["ada"][0] - front.poses["bob"][0]) < 1.5


def test_who_moves_up_in_a_line_with_companions_does_not_walk_about():
    scene = scene_from_dict(
        {
            "gaitway": 1,
            "end": 60,
            "bounds": [0, 0, 12, 10],
            "seed": 3,
            "places": {"counter": {"line": [[7, 7.6], [7, 5.4], [3.4, 5.4]], "service": 6}, "door": [1, 1]},
            "obstacles": [{"box": {"center": [7, 8.6], "size": [4.4, 0.8], "height": 1.0}}],
            "sources": [
                {
                    "name": "guests", "area": [0.3, 0.5, 2.2, 2.6], "times": [[0, 4]], "companions": 2,
                    "errands": [{"queue": "counter"}, {"leave": "door"}],
                }
            ],
        }
    )  # fmt: skip
    take = plan_scene(scene, upper_body=False).take
    queues = {
        name: next(row for row in rows if row[0] == "queue counter") for name, rows in take.facts["errands"].items()
    }
    for number, name in enumerate(take.names):
        _, start, end, outcome, _ = queues[name]
        assert outcome == DONE
        lowest = 99.0
        for k in range(round(10 * start), round(10 * end)):
            x, y, _ = take.planar([0.1 * k])[number, 0]
            in_line = abs(x - 7.0) < 0.6 and y > 5.0
            lowest = min(lowest, y) if in_line or lowest < 99.0 else lowest
        assert lowest > 4.6, f"{name} leaves the line and comes back"
