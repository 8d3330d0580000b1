"""Juelich's experiments: places, who comes when, what PedPy measures of them, and the table."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import shapely

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError, MissingExtraError
from gaitway.crowd.trajectories import Trajectories, joined
from gaitway.papers import juelich, juelich_measures, juelich_peers
from gaitway.papers.juelich_peers import simulated
from gaitway.papers.juelich_scenes import EXPERIMENTS, Experiment, crowd_before, door_room, inflow_of
from gaitway.papers.tables import PaperOptions

PEDESTRIANS = Path(__file__).parents[3] / "shared" / "pedestrians"


class Straight:
    """A simulation in which everybody walks straight to the goal, through everything."""

    def __init__(self, experiment: Experiment, seed: int = 0) -> None:
        self.goals = experiment.goals
        self.at, self.to, self.speed = np.empty((0, 2)), np.empty((0, 2)), np.empty(0)

    def add(self, position: FloatArray, goal: int, speed: float) -> bool:
        x0, y0, x1, y1 = self.goals[goal]
        self.at = np.vstack([self.at, position])
        self.to = np.vstack([self.to, [0.5 * (x0 + x1), 0.5 * (y0 + y1)]])
        self.speed = np.append(self.speed, speed)
        return True

    def advance(self, seconds: float) -> None:
        way = self.to - self.at
        far = np.linalg.norm(way, axis=1)
        self.at = self.at + way * (np.minimum(self.speed * seconds, far) / np.maximum(far, 1e-9))[:, None]

    def where(self) -> tuple[list[int], FloatArray]:
        here = np.flatnonzero(np.linalg.norm(self.to - self.at, axis=1) > 0.3)
        return here.tolist(), self.at[here]


def stream(experiment: Experiment, gap: float, speed: float, count: int = 60, x: float = 0.9) -> Trajectories:
    """People in single file through a corridor, at a speed and a time gap."""
    fps = 10.0
    path = np.column_stack([np.full(120, x), 7.0 - speed * np.arange(120) / fps])
    starts = [round(k * gap * fps) for k in range(count)]
    return joined(fps, [str(k) for k in range(count)], starts, [path] * count)


@pytest.mark.parametrize("experiment", [*EXPERIMENTS, door_room(1.0)], ids=lambda e: e.name)
def test_places_hold_together(experiment: Experiment) -> None:
    place = experiment.walkable
    assert place.is_valid and isinstance(place, shapely.Polygon)
    for goal in experiment.goals:
        assert place.contains(shapely.box(*goal))
    if experiment.area is not None:
        assert shapely.box(*experiment.area).intersection(place).area > 0.95 * shapely.box(*experiment.area).area
    if experiment.door is not None:
        assert shapely.LineString(experiment.door).length == pytest.approx(experiment.width)
        assert shapely.LineString(experiment.door).intersection(place).length == pytest.approx(experiment.width)
    assert len(experiment.gates) == len(experiment.goals)


def test_people_come_where_and_when_they_were_first_seen() -> None:
    two = EXPERIMENTS[-1]
    right = np.column_stack([np.linspace(-5.0, 4.0, 30), np.full(30, 1.0)])
    people = joined(10.0, ["a", "b"], [20, 5], [right, right[::-1]])
    inflow = inflow_of(people, two, seed=0)
    assert inflow.times.tolist() == [0.5, 2.0] and inflow.goals.tolist() == [1, 0]
    assert inflow.positions[0] == pytest.approx([4.0, 1.0]) and inflow.seconds == 5.0
    again = inflow_of(people, two, seed=0)
    assert np.array_equal(again.speeds, inflow.speeds)


def test_pedpy_finds_the_flow_gap_and_speed_that_were_made() -> None:
    pytest.importorskip("pedpy")
    corridor = EXPERIMENTS[2]
    people = stream(corridor, gap=0.8, speed=1.0)
    door = juelich_measures.at_door(people, corridor)
    assert door is not None and door.passed == 60
    assert door.flow == pytest.approx(1.25, rel=0.02) and door.gap == pytest.approx(0.8)
    density, speed = juelich_measures.density_and_speed(people, corridor)
    assert np.median(speed) == pytest.approx(1.0, abs=0.01)
    assert np.median(density) == pytest.approx(1.25 / 1.8, rel=0.15)
    assert juelich_measures.lanes(people, corridor) is None
    assert juelich_measures.at_door(stream(corridor, 1.0, 1.0, count=3), corridor) is None


def test_lanes_tell_sorted_streams_from_mixed_ones() -> None:
    two = EXPERIMENTS[-1]
    rng = np.random.default_rng(0)
    found = []
    for mixed in (False, True):
        paths, starts = [], []
        for k in range(120):
            way = 1.0 if k % 2 else -1.0
            y = rng.uniform(0.2, 3.8) if mixed else rng.uniform(0.2, 1.6) + (2.2 if way > 0 else 0.0)
            x = way * np.linspace(-5.0, 5.0, 80)
            paths.append(np.column_stack([x, np.full(80, y)]))
            starts.append(5 * (k // 2))
        found.append(juelich_measures.lanes(joined(10.0, [str(k) for k in range(120)], starts, paths), two))
    assert found[0] == pytest.approx(1.0) and found[1] is not None and found[1] < 0.6


def test_a_room_empties_and_who_does_not_fit_waits() -> None:
    room = door_room(1.2)
    people = simulated(Straight(room), crowd_before(room, 40, seed=0))
    assert len(people) == 40 and people.fps == 10.0
    late = crowd_before(room, 2, seed=0)
    late = type(late)(np.array([0.0, 0.1]), late.positions[:1].repeat(2, axis=0), late.goals, late.speeds, late.seconds)
    people = simulated(Straight(room), late)
    assert people.starts[1] > 1  # not before the first has gone on


def test_the_table_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pedpy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(juelich, "PEERS", {"straight": ("numpy", Straight), "absent": ("no.such.module", Straight)})
    monkeypatch.setattr(juelich, "_ROOMFUL", 30)
    table = juelich.run(lambda what, done, total: None, PaperOptions(quick=True))
    assert any("absent is not installed" in note for note in table.notes)
    assert any("no experiments" in note for note in table.notes)
    assert [title for title, _ in table.parts] == ["a room of a hundred people [1/s]"]
    assert "straight" in table.rows[0] and "absent" not in table.rows[0]
    with pytest.raises(GaitwayError, match="no such folder of experiments"):
        juelich.run(lambda *a: None, PaperOptions(quick=True, pedestrians=tmp_path / "none"))
    (tmp_path / "empty").mkdir()
    table = juelich.run(lambda *a: None, PaperOptions(quick=True, pedestrians=tmp_path / "empty"))
    assert any("corridor, exit 1.2 m is left out" in note for note in table.notes)


def test_without_pedpy_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pedpy", None)
    with pytest.raises(MissingExtraError, match=r"gaitway\[pedestrians\]"):
        juelich.run(lambda *a: None, PaperOptions(quick=True))


@pytest.mark.slow
def test_people_beside_a_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pedpy")
    if not PEDESTRIANS.is_dir():
        pytest.skip("no tracked people beside the clone")
    monkeypatch.setattr(juelich, "PEERS", {"straight": ("numpy", Straight)})
    table = juelich.run(lambda *a: None, PaperOptions(quick=True, pedestrians=PEDESTRIANS))
    assert [title for title, _ in table.parts] == [
        "speed at densities [m/s]", "doors and lanes", "a room of a hundred people [1/s]",
    ]  # fmt: skip
    (flow,) = [row for row in table.data if row["figure"] == "flow 1/s" and row["who"] == "people" and row["value"]]
    assert 1.8 < flow["value"] < 2.8
    assert table.charts


@pytest.mark.slow
@pytest.mark.parametrize("who", ["gaitway", "JuPedSim", "RVO2"])
def test_simulations_empty_a_room(who: str) -> None:
    pytest.importorskip("pedpy")
    module, maker = juelich_peers.PEERS[who]
    if not juelich_peers.installed(module):
        pytest.skip(f"{who} is not installed")
    room = door_room(1.8)
    people = simulated(maker(room, 0), crowd_before(room, 30, seed=0))
    door = juelich_measures.at_door(people, room)
    assert door is not None and door.passed == 30 and 1.0 < door.flow < 9.0
