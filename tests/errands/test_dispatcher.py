"""The dispatcher tells everybody what to do next; here walks take a second and always succeed, unless said."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
import shapely

from gaitway.core.errors import SittingError
from gaitway.errands.dispatcher import DONE, GIVEN_UP, NOT_DONE, Dispatcher
from gaitway.errands.orders import Finished, Gone, Hold, Outcome, SitDown, Stand, Walk
from gaitway.scene.errands import Choose, Go, Leave, Look, Meet, Person, Place, Queue, Repeat, SeatPlace, Sit, Wait

KIOSK = Place(name="kiosk", point=(5.0, 5.0))
SQUARE = Place(name="square", point=(8.0, 2.0), area=shapely.box(6, 0, 10, 4))
COUNTER = Place(name="counter", point=(0.0, 0.0), heading=0.0, service=(2.0, 2.0))
DOOR = Place(name="door", point=(0.0, 9.0))


class Front:
    """Moves people at once: a walk takes a second; those in `barred` find no way."""

    def __init__(self, barred=(), hopeless=False):
        self.dispatcher = Dispatcher(lambda points: np.full(len(points), 9.0), seed=3)
        self.heap, self.number, self.turn, self.log, self.gone = [], 0, {}, [], {}
        self.barred, self.hopeless, self.poses = set(barred), hopeless, {}

    def enter(self, name, errands, at=(0.0, 5.0), time=0.0, companions=()):
        self.poses[name] = (*at, 0.0)
        self.turn[name] = 0
        self.dispatcher.enter(name, errands, self.poses[name], time, 0.3, companions)
        self.push(time, name, "")

    def push(self, time, name, reason=""):
        self.number += 1
        heapq.heappush(self.heap, (time, self.number, name, self.turn[name], reason))

    def run(self, until=1000.0):
        while self.heap and self.heap[0][0] <= until:
            time, _, name, turn, reason = heapq.heappop(self.heap)
            if turn != self.turn[name] or name in self.gone:
                continue
            self.turn[name] += 1
            order = self.dispatcher.next(name, Outcome(time, self.poses[name], reason, self.hopeless and bool(reason)))
            self.log.append((round(time, 3), name, order))
            match order:
                case Walk(goal, heading) if name not in self.barred:
                    self.poses[name] = (*goal, heading or 0.0)
                    self.push(time + 1.0, name)
                case Walk():
                    self.push(time, name, "others are in the way")
                case Stand(end) | Hold(end):
                    self.push(max(end, time), name)
                case SitDown(_, seconds):
                    self.push(time + seconds, name)
                case Gone():
                    self.gone[name] = time
                case Finished():
                    pass
            for when, other in self.dispatcher.awoken:
                self.push(when, other)
            self.dispatcher.awoken.clear()
        return self

    def spans(self, name):
        return [(span.label, span.outcome) for span in self.dispatcher.people[name].spans]


def test_errands_are_done_one_after_another_and_leaving_ends_them():
    front = Front()
    front.enter("ada", [Go(KIOSK), Wait(seconds=(4.0, 4.0)), Leave(DOOR)])
    front.run()
    assert front.spans("ada") == [("go kiosk", DONE), ("wait", DONE), ("leave door", DONE)]
    assert front.gone == {"ada": pytest.approx(6.0)}
    assert "ada" not in front.dispatcher.standing.taken


def test_who_does_not_leave_stands_for_good():
    front = Front()
    front.enter("ada", [Go(KIOSK)])
    assert isinstance(front.run().log[-1][2], Finished) and not front.gone


def test_two_with_one_place_stand_side_by_side():
    front = Front()
    front.enter("ada", [Go(KIOSK)])
    front.enter("bo", [Go(KIOSK)], at=(9.0, 9.0))
    front.run()
    places = [front.poses[name][:2] for name in ("ada", "bo")]
    assert places[0] == (5.0, 5.0) and 0.8 < math.dist(*places) < 1.2


def test_in_an_area_people_stand_apart():
    front = Front()
    for k in range(8):
        front.enter(f"p{k}", [Go(SQUARE)], at=(0.0, float(k)))
    front.run()
    points = np.array([pose[:2] for pose in front.poses.values()])
    assert all(SQUARE.area.covers(shapely.Point(p)) for p in points)
    gaps = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + 9.0 * np.eye(8)
    assert gaps.min() > 0.84


def test_who_was_served_makes_room_for_companions_in_the_same_line():
    kiosk = Place(name="kiosk", point=(5.0, 8.0), line=((5.0, 8.0), (5.0, 2.0)), service=(2.0, 2.0))
    desk = Dispatcher(lambda points: np.full(len(points), 9.0), seed=1)
    pair = ("ada", "bo")
    for name, x in zip(pair, (3.0, 4.0), strict=True):
        desk.enter(name, [Queue(kiosk), Wait((1.0, 1.0))], (x, 1.0, 0.0), 0.0, 0.3, pair)
    time, poses, due, aside = 0.0, {"ada": (3.0, 1.0, 0.0), "bo": (4.0, 1.0, 0.0)}, dict.fromkeys(pair, 0.0), {}
    for _ in range(60):
        for when, name in desk.awoken:
            due[name] = max(when, time)
        desk.awoken.clear()
        name = min(due, key=lambda one: (due[one], one))
        time = due[name]
        order = desk.next(name, Outcome(time, poses[name]))
        due[name] = math.inf
        if isinstance(order, Walk):
            if desk.people[name].current == ("queue kiosk", 0.0) and not order.exact:
                aside[name] = order.goal
            due[name], poses[name] = time + 3.0, (*order.goal, 0.0)
        elif isinstance(order, Stand):
            due[name] = order.until
        elif isinstance(order, Finished):
            break
    (who,) = aside  # the first of them; nobody is behind the second one
    assert abs(aside[who][0] - 5.0) >= 1.1 and time < 30.0


def test_seats_beside_others_come_last_where_people_need_room():
    bench = Place(
        name="b",
        point=(5, 5),
        seats=tuple(SeatPlace(pose=(x, 5.0, 0.0), height=0.45, depth=0.42) for x in (4.0, 4.8, 7.0)),
    )
    desk = Dispatcher(lambda points: np.full(len(points), 9.0), seed=1)
    desk.enter("ada", [Sit(bench, (5.0, 5.0))], (4.5, 3.0, 0.0), 0.0, 0.3)
    desk.standing.taken["bo"] = (4.0, 5.2)  # who sits on the first one
    desk._seats["b", 0] = "bo"
    assert [k for k, _ in desk._free_seats(desk.people["ada"], bench)][:2] == [1, 2]
    desk.seat_room = 1.1
    assert [k for k, _ in desk._free_seats(desk.people["ada"], bench)][:2] == [2, 1]


def test_a_queue_serves_in_order_one_at_a_time():
    front = Front()
    for k, name in enumerate("abcd"):
        front.enter(name, [Queue(COUNTER), Leave(DOOR)], time=0.1 * k)
    front.run()
    served = [
        (name, span.end) for name in "abcd" for span in front.dispatcher.people[name].spans if "queue" in span.label
    ]
    assert [name for name, _ in sorted(served, key=lambda one: one[1])] == list("abcd")
    assert (np.diff([end for _, end in served]) > 2.0).all()
    assert set(front.gone) == set("abcd")


def test_who_finds_no_way_tries_again_and_then_goes_on_with_the_next_errand():
    front = Front(barred={"ada"})
    front.enter("ada", [Go(KIOSK), Wait(seconds=(1.0, 1.0))])
    front.run()
    walks = [time for time, _, order in front.log if isinstance(order, Walk)]
    assert len(walks) == 6 and walks[-1] > 20.0
    span = front.dispatcher.people["ada"].spans[0]
    assert (span.outcome, span.reason) == (NOT_DONE, "others are in the way")
    assert front.spans("ada")[1] == ("wait", DONE)


def test_a_hopeless_way_is_tried_once():
    front = Front(barred={"ada"}, hopeless=True)
    front.enter("ada", [Go(KIOSK)])
    front.run()
    assert sum(isinstance(order, Walk) for _, _, order in front.log) == 1


def test_companions_wait_for_one_another():
    front = Front()
    front.enter("ada", [Meet(KIOSK, ("ada", "bo"), 60.0), Leave(DOOR)])
    front.enter("bo", [Wait(seconds=(20.0, 20.0)), Meet(KIOSK, ("ada", "bo"), 60.0), Leave(DOOR)])
    front.run()
    assert min(front.gone.values()) > 21.0
    assert front.spans("ada")[0] == ("meet kiosk", DONE)


def test_four_and_five_companions_stand_in_a_cluster():
    for count in (4, 5):
        names = tuple("abcde"[:count])
        front = Front()
        for number, name in enumerate(names):
            front.enter(name, [Go(KIOSK)], at=(0.0, float(number)), companions=names)
        front.run()
        stand = np.array([front.poses[name][:2] for name in names])
        gaps = np.hypot(*np.moveaxis(stand[:, None] - stand[None], -1, 0)) + 9.0 * np.eye(count)
        assert gaps.min() > 0.8
        assert np.hypot(*(stand - stand.mean(axis=0)).T).max() < 1.2


def test_patience_ends_and_says_who_did_not_come():
    front = Front()
    front.enter("ada", [Meet(KIOSK, ("ada", "bo"), 30.0)])
    front.enter("bo", [Wait(seconds=(500.0, 500.0))])
    front.run()
    span = front.dispatcher.people["ada"].spans[0]
    assert span.outcome == NOT_DONE and span.reason == "'bo' does not come within 30 s"
    assert span.end == pytest.approx(31.0)


def test_who_waits_for_an_event_goes_on_when_it_happens():
    front = Front()
    front.enter("ada", [Wait(event="train"), Leave(DOOR)])
    front.run(until=50.0)
    assert not front.gone
    front.dispatcher.happen("train", 60.0)
    for when, name in front.dispatcher.awoken:
        front.push(when, name)
    front.dispatcher.awoken.clear()
    front.run()
    assert 61.0 < front.gone["ada"] < 63.0


def test_who_is_sent_elsewhere_gives_up_and_frees_his_place_in_a_line():
    front = Front()
    for k, name in enumerate("ab"):
        front.enter(name, [Queue(COUNTER)], time=0.1 * k)
    front.run(until=1.5)
    front.dispatcher.send("a", [Leave(DOOR)], 1.5)
    front.turn["a"] += 1
    front.push(1.5, "a")
    front.run()
    assert front.spans("a") == [("queue counter", GIVEN_UP), ("leave door", DONE)]
    assert front.spans("b") == [("queue counter", DONE)]


def test_choices_by_distance_and_by_the_shortest_line():
    far = Place(name="far", point=(90.0, 0.0), heading=0.0, service=(2.0, 2.0))
    choose = Choose(((Queue(far),), (Queue(COUNTER),)), "distance", (1.0, 1.0))
    front = Front()
    front.enter("ada", [choose])
    assert front.run().spans("ada") == [("queue counter", DONE)]
    front = Front()
    for k in range(4):
        front.enter(f"p{k}", [Choose(((Queue(far),), (Queue(COUNTER),)), "queue", (1.0, 1.0))], time=0.01 * k)
    front.run(until=0.5)
    assert [len(line) for line in front.dispatcher.lines().values()] == [2, 2]


def test_chance_follows_the_weights():
    front = Front()
    choose = Choose(((Go(KIOSK),), (Go(DOOR),)), "chance", (0.0, 1.0))
    for k in range(10):
        front.enter(f"p{k}", [choose], at=(float(k), 0.0))
    front.run()
    assert {front.spans(f"p{k}")[0][0] for k in range(10)} == {"go door"}


def test_repeats_are_done_so_often():
    front = Front()
    front.enter("ada", [Repeat((Go(KIOSK), Go(DOOR)), 3)])
    assert len(front.run().spans("ada")) == 6


def test_seats_are_shared_out_and_who_finds_none_stands_and_says_so():
    seats = tuple(SeatPlace(pose=(float(k), 0.0, 0.0), height=0.45, depth=0.4) for k in range(2))
    bench = Place(name="bench", point=(0.5, 0.0), seats=seats)
    front = Front()
    for k in range(3):
        front.enter(f"p{k}", [Sit(bench, (30.0, 30.0))], at=(float(k), 5.0), time=0.01 * k)
    front.run()
    outcomes = [front.spans(f"p{k}")[0][1] for k in range(3)]
    assert outcomes == [DONE, DONE, NOT_DONE]
    assert front.dispatcher.people["p2"].spans[0].reason == "all 2 seats of 'bench' are taken; stands instead"


def test_looking_turns_towards_a_place_and_going_to_somebody_stops_before_him():
    front = Front()
    front.enter("ada", [Look(KIOSK, (2.0, 2.0))], at=(5.0, 0.0))
    front.enter("bo", [Go(Person("ada"))], at=(9.0, 0.0))
    front.run()
    assert front.poses["ada"] == pytest.approx((5.0, 0.0, math.pi / 2))
    assert math.dist(front.poses["bo"][:2], (5.0, 0.0)) == pytest.approx(1.1)


def test_the_same_seed_gives_the_same_orders():
    def log():
        front = Front()
        for k in range(6):
            front.enter(
                f"p{k}", [Go(SQUARE), Wait(seconds=(1.0, 9.0)), Queue(COUNTER), Leave(DOOR)], at=(0.0, float(k))
            )
        return front.run().log

    assert log() == log()


def test_who_lost_patience_is_not_met_by_who_comes_later():
    front = Front()
    front.enter("ada", [Meet(KIOSK, ("ada", "bo"), 10.0), Leave(DOOR)])
    front.enter("bo", [Wait(seconds=(40.0, 40.0)), Meet(KIOSK, ("ada", "bo"), 10.0)])
    front.run(until=30.0)
    assert "ada" in front.gone
    front.dispatcher.forget("ada")
    front.run()
    assert front.spans("bo")[1] == ("meet kiosk", NOT_DONE)


def test_places_are_moved_into_the_plane_once():
    seats = (SeatPlace(pose=(1.0, 2.0, 0.0), height=0.45, depth=0.4),)
    bench = Place(name="bench", point=(1.0, 2.0), seats=seats)
    dispatcher = Dispatcher(lambda points: np.full(len(points), 9.0), seed=3, shift=lambda place: (100.0, 0.0))
    for k, name in enumerate("ab"):
        dispatcher.enter(name, [Sit(bench, (30.0, 30.0))], (101.0, 5.0 + k, 0.0), 0.0, 0.3)
    first, second = (dispatcher.next(name, Outcome(0.0, dispatcher.people[name].pose)) for name in "ab")
    assert math.dist(first.goal, (101.0, 2.0)) < 0.3
    assert math.dist(second.goal, (101.0, 2.0)) < 3.0  # no seat is left, so that person stands near
    assert dispatcher.placed(dispatcher.placed(bench)) is dispatcher.placed(bench)


def test_who_cannot_sit_says_so_and_goes_on():
    def refuses(name, seat, side):
        raise SittingError("a horse cannot sit")

    bench = Place(name="bench", point=(1.0, 2.0), seats=(SeatPlace(pose=(1.0, 2.0, 0.0), height=0.45, depth=0.4),))
    front = Front()
    front.dispatcher.before_seat = refuses
    front.enter("star", [Sit(bench, (30.0, 30.0)), Leave(DOOR)])
    front.run()
    assert front.spans("star") == [("sit bench", NOT_DONE), ("leave door", DONE)]
    assert front.dispatcher.people["star"].spans[0].reason == "a horse cannot sit"


def test_what_companions_agreed_on_is_forgotten_with_the_last_of_them():
    both, front = ("ada", "bob"), Front()
    choice = Choose(((Go(SQUARE),), (Go(DOOR),)), "chance", (1.0, 1.0))
    for name in both:
        front.enter(name, (Go(KIOSK), choice, Leave(DOOR)), companions=both)
    front.run()
    known = front.dispatcher
    assert known.gathering.ready and known._agreed
    known.forget("ada")
    assert known.gathering.ready and known._agreed  # bob may still be asked
    known.forget("bob")
    assert not known.gathering.ready and not known._agreed
