"""Hints for misspelt words."""

from __future__ import annotations

from gaitway.core.suggest import did_you_mean, nearest


def test_the_nearest_word_is_found_whatever_its_capitals() -> None:
    assert nearest("walk_forwrad", ["walk_forward", "walk_back"]) == "walk_forward"
    assert nearest("LeftUpLegg", ["Hips", "LeftUpLeg", "RightUpLeg"]) == "LeftUpLeg"
    assert nearest("leftupleg", ["Hips", "LeftUpLeg", "RightUpLeg"]) == "LeftUpLeg"
    assert nearest("WALL", ["wall", "jump"]) == "wall"
    assert nearest("zebra", ["wall", "jump"]) is None
    assert nearest("wall", []) is None


def test_a_hint_is_a_part_of_a_sentence_or_nothing() -> None:
    assert did_you_mean("jmup", ["wall", "jump"]) == "; did you mean 'jump'?"
    assert did_you_mean("zebra", ["wall", "jump"]) == ""
