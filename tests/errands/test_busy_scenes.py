"""The ready scenes in which people do errands: all is done or named, lines keep their order, nobody is in anybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gaitway.audit import audit_take
from gaitway.planning import Planned, plan_scene
from gaitway.scene import load_scene

Rows = Mapping[str, list[list[object]]]


def checked(made: Planned) -> Rows:
    """Audit a take, check that all that was not done has a reason, and return its errands."""
    assert audit_take(made.take, made.scene.world).violations == ()
    rows: Rows = made.take.facts["errands"]
    assert all(reason or outcome == "done" for some in rows.values() for *_, outcome, reason in some)
    return rows


def done(rows: Rows, label: str) -> dict[str, tuple[float, float]]:
    """Return from when to when people did an errand, by name."""
    return {n: (float(str(a)), float(str(b))) for n, some in rows.items() for what, a, b, o, _ in some
            if what == label and o == "done"}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_everybody_of_the_cafe_is_served_in_turn_sits_and_leaves(seed: int) -> None:
    made = plan_scene(load_scene("cafe"), seed=seed)
    rows = checked(made)
    assert not made.failed
    served = done(rows, "queue counter")
    assert len(served) >= 5
    assert sorted(served, key=lambda n: served[n][0]) == sorted(served, key=lambda n: served[n][1])
    assert len(done(rows, "sit window seats") | done(rows, "sit wall seats")) >= 3
    together = done(rows, "meet plant")
    assert abs(together["ben"][1] - together["cy"][1]) < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_alarm_empties_the_office(seed: int) -> None:
    made = plan_scene(load_scene("office"), seed=seed)
    rows = checked(made)
    assert not made.failed
    left = done(rows, "leave west exit") | done(rows, "leave east exit")
    assert set(left) == {character.name for character in made.scene.characters}
    assert all(75.0 <= begin < 80.0 and end < 110.0 for begin, end in left.values())
    assert any(outcome == "given up" for some in rows.values() for *_, outcome, _ in some)


@pytest.mark.slow
def test_who_waits_for_the_train_gets_in() -> None:
    made = plan_scene(replace(load_scene("platform"), end=140.0), seed=0)
    rows = checked(made)
    in_train = {name: span for n in range(1, 9) for name, span in done(rows, f"leave door {n}").items()}
    waited = {
        name for name, some in rows.items() if any(what == "wait" and float(str(b)) < 102.0 for what, _, b, *_ in some)
    }
    assert len(waited) >= 8
    assert len(waited & set(in_train)) >= 0.9 * len(waited - {"guard"})
    assert all(101.0 < end < 131.0 for _, end in in_train.values())
