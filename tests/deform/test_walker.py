"""A live character squeezes through gates while it searches on, a few fragments in each frame."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.bench.deform import gate
from gaitway.core.errors import GaitwayError
from gaitway.deform.place import SqueezePlace
from gaitway.deform.tucking import body_depths, capsule_groups
from gaitway.deform.walker import DeformCrowd, DeformWalker
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene


@pytest.mark.slow
def test_a_live_character_passes_a_gate_and_turns_back_when_it_is_sent_back() -> None:
    scene = gate(0.45)
    walker, place = DeformWalker(scene, "ada"), SqueezePlace(scene.world)
    groups = capsule_groups(walker.pose.skeleton)
    last, tried, goals = walker.root, walker._run.search.checks, [(1.2, 3.0)]
    for _ in range(1200):
        walker.step()
        assert walker._run.search.checks - tried <= 14, "no frame tries more than somebody who stands does"
        tried = walker._run.search.checks
        depths, _ = body_depths(walker.pose, place, np.array([walker.time]), groups, 0.01)
        assert depths.max() == 0.0 and np.linalg.norm(walker.root - last) < 0.12
        last = walker.root
        if walker.arrived and not goals:
            break
        if walker.arrived:
            assert walker.root[0] > 6.0
            walker.send(goals.pop())
            tried = walker._run.search.checks
    assert walker.arrived and np.hypot(*(walker.root[:2] - [1.2, 3.0])) < 0.6


def test_bad_input_is_told_in_one_line() -> None:
    with pytest.raises(GaitwayError, match="no character 'bo'"):
        DeformWalker(gate(0.5), "bo")
    with pytest.raises(GaitwayError, match="write 1 or more"):
        DeformWalker(gate(0.5), "ada", checks=0)


@pytest.mark.slow
def test_live_characters_keep_clear_of_one_another() -> None:
    people = [
        {"name": name, "start": start, "goal": goal}
        for name, start, goal in (("ada", [1, 2.5, 0], [7, 2.5]), ("bo", [7, 2.5, 180], [1, 2.5]))
    ]
    crowd = DeformCrowd(
        scene_from_dict({"gaitway": 1, "bounds": [0, 0, 8, 5], "characters": people, "plan": {"planner": "deform"}})
    )
    nearest = np.inf
    for _ in range(900):
        crowd.step()
        ada, bo = crowd.walkers
        nearest = min(nearest, float(np.hypot(*(ada.root - bo.root)[:2])))
        if crowd.walkers[1].arrived:
            break
    assert crowd.walkers[1].arrived and 0.4 < nearest < 2.0


def one_person(crate: tuple[float, float] | None, side: float = 0.4) -> Scene:
    things = [{"box": {"center": crate, "size": [side, side], "height": 2}, "name": "crate"}] if crate else []
    return scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 10, 6], "obstacles": things,
        "characters": [{"name": "ada", "start": [1, 3, 0], "goal": [9, 3]}], "plan": {"planner": "deform"},
    })  # fmt: skip


def walked(crowd: DeformCrowd, scene: Scene, seconds: float) -> tuple[float, float]:
    """Let one person walk on in a scene; return how deep it lies in anything, and how fast its root moves at most."""
    walker, place = crowd.walkers[0], SqueezePlace(scene.world)
    groups, last, deep, fast = capsule_groups(walker.pose.skeleton), walker.root, 0.0, 0.0
    for _ in range(round(seconds * walker.fps)):
        crowd.step()
        depths, _ = body_depths(walker.pose, place, np.array([walker.time]), groups, 0.01)
        deep, fast = max(deep, float(depths.max())), max(fast, float(np.linalg.norm(walker.root - last)) * walker.fps)
        last = walker.root
        if walker.arrived:
            break
    return deep, fast


def until_at(crowd: DeformCrowd, x: float) -> None:
    for _ in range(400):
        crowd.step()
        if crowd.walkers[0].root[0] > x:
            return


@pytest.mark.slow
def test_a_crate_beside_the_way_bends_the_step_that_is_played() -> None:
    bends = 0
    for ahead in (1.3, 1.6, 1.9):
        crowd = DeformCrowd(one_person(None))
        walker = crowd.walkers[0]
        until_at(crowd, 2.6)
        shown = walker.root
        after = one_person((float(shown[0]) + ahead, 2.68))
        crowd.change(after.world)
        assert np.array_equal(walker.root, shown), "the frame that is shown stays"
        bends += walker.bends
        deep, fast = walked(crowd, after, 25.0)
        assert walker.arrived and deep == 0.0 and fast < 2.0
    assert bends > 0


@pytest.mark.slow
def test_who_cannot_bend_around_a_crate_stops_goes_back_and_takes_another_way() -> None:
    crowd, after = DeformCrowd(one_person(None)), one_person((4.3, 3.0), 0.8)
    walker = crowd.walkers[0]
    until_at(crowd, 3.0)
    crowd.change(after.world)
    assert walker.bends == 0 and walker.caught == "crate" and "'crate' was put where it goes" in walker.hindered
    least = walker.root[0]
    for _ in range(30):
        crowd.step()
        least = min(least, walker.root[0])
    assert least < 2.95, "it goes back"
    deep, fast = walked(crowd, after, 25.0)
    assert walker.arrived and deep == 0.0 and fast < 2.0


@pytest.mark.slow
def test_a_crate_put_onto_somebody_holds_it_until_it_is_taken_away() -> None:
    crowd, free = DeformCrowd(one_person(None)), one_person(None)
    walker = crowd.walkers[0]
    until_at(crowd, 3.0)
    crowd.change(one_person((3.1, 3.0)).world)
    held = walker.root
    for _ in range(60):
        crowd.step()
    assert np.array_equal(walker.root, held) and walker.hindered == "'crate' was put where it goes"
    crowd.change(free.world)
    assert walker.hindered == ""
    deep, fast = walked(crowd, free, 15.0)
    assert walker.arrived and deep == 0.0 and fast < 2.0


@pytest.mark.slow
def test_nobody_comes_in_where_there_is_no_room_and_who_is_gone_is_forgotten() -> None:
    person = {"name": "bo", "start": [1.2, 3, 0], "goal": [9, 3]}
    scene = scene_from_dict(
        {"gaitway": 1, "bounds": [0, 0, 10, 6], "characters": [person], "plan": {"planner": "deform"}}
    )
    crowd = DeformCrowd(one_person(None))
    assert not crowd.add(scene, "bo")
    crowd.remove("ada")
    assert crowd.add(scene, "bo")
    assert [walker.name for walker in crowd.walkers] == ["bo"]
    walked(crowd, scene, 20.0)
    assert crowd.walkers[0].arrived
