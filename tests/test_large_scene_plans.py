"""Large ready scenes by both planners, and the thesis's own table, which plans one of them too."""

from __future__ import annotations

from functools import cache

import pytest

from gaitway.papers import lau_3, run_paper
from gaitway.planning import Planned, plan_scene
from gaitway.scene import Scene, load_scene
from planned_scenes import LARGE, arrive_by_both_planners

SCENES = {name: load_scene(name) for name in (*LARGE, "falling_tree", "moving_spheres")}


@cache
def planned(name: str) -> Planned:
    """One plan of a scene, with its own seed, for both tests."""
    return plan_scene(SCENES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_scenes_pass_the_audit_by_both_planners(name: str) -> None:
    arrive_by_both_planners(SCENES[name], None, planned(name))


@pytest.mark.slow
def test_the_thesis_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def once(scene: Scene) -> Planned:
        return next((planned(name) for name, known in SCENES.items() if known.hash == scene.hash), None) or plan_scene(
            scene
        )

    monkeypatch.setattr(lau_3, "plan_scene", once)
    table = run_paper("lau-3")
    assert [row["faults"] for row in table.rows] == [0] * len(lau_3.SCENES)
    assert all(row["arrive"] == row["n"] for row in table.rows), table.notes
    people = {row["scene"]: row for row in table.rows if row["cast"] == "person"}
    assert people["fairground"]["n"] == 100
    tree = next(note for note in table.notes if note.startswith("falling tree"))
    assert "early passes before" in tree and tree.count("goes over it") == 2
